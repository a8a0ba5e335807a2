// SPDX-License-Identifier: Apache-2.0

package capture

import "github.com/txtrace/txtrace/internal/event"

// op is how a column's values are predicted from what comes before them.
type op uint8

const (
	opBase op = iota // 8 bytes at once, those of the mask: the base record's, by XOR
	opSum            // 4 bytes: the sum of one to three terms, the third subtracted
	opMean           // 4 bytes: t[0] of this record * t[1] / t[2] of the one before
	opSeq            // 4 bytes: the last sequence number of the same CPU in the block
	opPrev           // 8 bytes: the record before
	opTime           // 8 bytes: the time before plus this record's Dur
)

// term is a 4-byte field of this record or of the one before it in the block.
type term struct {
	off  int // bytes from the record's first byte
	prev bool
}

// column is a piece of a record that is predicted as one.
type column struct {
	op   op
	off  int    // bytes from the record's first byte
	bits byte   // one per byte of it, from off on
	mask uint64 // opBase: the same in full bytes
	n    int    // terms in use
	t    [3]term
}

// wide says that the column has 8 bytes, not 4.
func (c *column) wide() bool { return c.op == opBase || c.op == opPrev || c.op == opTime }

// self says that the column is predicted from its own past alone, so that it
// is constant when there is nothing to add.
func (c *column) self() bool {
	return c.op == opBase || c.op == opPrev || c.op == opSum && c.n == 1 && c.t[0] == term{c.off, true}
}

// terms is where the terms lie for the second record of a block, when a record
// has step halves of words.
func (c *column) terms(step int) (at [3]int) {
	for i, t := range c.t {
		at[i] = t.off / 4
		if !t.prev {
			at[i] += step
		}
	}
	return at
}

// layout is how records of one kind are packed.
type layout struct {
	size    int
	addrs   []int // offsets of the fields stored through the group's address list
	columns []column
}

// rule replaces the default prediction of a field: the base record's value for
// fields of one or two bytes, the value before for the others.
type rule struct {
	kind  event.Kind // KindInvalid: all kinds
	field string
	op    op
	terms []string // names of fields, "<" before those of the record before
}

// rules are part of the file format. A column may only depend on columns of fields
// with the default, or on rows above its own.
var rules = []rule{
	{0, "dur", opBase, nil},
	{0, "ifindex", opBase, nil},
	{0, "netns", opBase, nil},
	{0, "pid", opBase, nil},
	{0, "packets", opBase, nil},
	{0, "qdisc_flags", opBase, nil},
	{0, "handle", opBase, nil},
	{0, "seq", opSeq, nil},
	{0, "time", opTime, nil},

	{event.KindRun, "directs", opSum, []string{"dequeues"}},
	{event.KindRun, "last_packets", opSum, []string{"packets"}},
	{event.KindRun, "num_queued_begin", opSum, []string{"<num_queued_end"}},
	{event.KindRun, "num_compl_begin", opSum, []string{"<num_compl_end"}},
	{event.KindRun, "adj_limit_end", opSum, []string{"<adj_limit_end", "num_compl_end", "<num_compl_end"}},
	{event.KindRun, "adj_limit_begin", opSum, []string{"<adj_limit_end", "num_compl_begin", "<num_compl_end"}},

	{event.KindDequeue, "walked", opSum, []string{"packets"}},
	{event.KindDequeue, "gso_segs", opSum, []string{"packets"}},
	{event.KindDequeue, "bytes", opMean, []string{"packets", "<bytes", "<packets"}},
	{event.KindDequeue, "pkt_len", opSum, []string{"bytes"}},
	{event.KindDequeue, "last_len", opSum, []string{"first_len"}},
	{event.KindDequeue, "num_queued", opSum, []string{"<num_queued", "<bytes"}},
	{event.KindDequeue, "adj_limit", opSum, []string{"<adj_limit", "num_compl", "<num_compl"}},

	{event.KindDirect, "gso_segs", opSum, []string{"packets"}},
	{event.KindDirect, "bytes", opMean, []string{"packets", "<bytes", "<packets"}},
	{event.KindDirect, "pkt_len", opSum, []string{"bytes"}},
	{event.KindDirect, "requeues_begin", opSum, []string{"<requeues_end"}},
	{event.KindDirect, "gso_qlen_begin", opSum, []string{"<gso_qlen_end"}},
	{event.KindDirect, "hand_packets", opSum, []string{"packets"}},
	{event.KindDirect, "hand_bytes", opSum, []string{"bytes"}},
	{event.KindDirect, "hand_attempts", opSum, []string{"hand_packets"}},
	{event.KindDirect, "hand_num_queued_begin", opSum, []string{"<hand_num_queued_begin", "<hand_bytes"}},
	{event.KindDirect, "hand_num_queued_end", opSum, []string{"hand_num_queued_begin", "hand_bytes"}},
	{event.KindDirect, "hand_num_compl_end", opSum, []string{"hand_num_compl_begin"}},
	{event.KindDirect, "hand_adj_limit_begin", opSum, []string{"<hand_adj_limit_begin", "hand_num_compl_begin", "<hand_num_compl_begin"}},
	{event.KindDirect, "hand_adj_limit_end", opSum, []string{"hand_adj_limit_begin", "hand_num_compl_end", "hand_num_compl_begin"}},

	{event.KindHandover, "bytes", opMean, []string{"packets", "<bytes", "<packets"}},
	{event.KindHandover, "attempts", opSum, []string{"packets"}},
	{event.KindHandover, "num_queued_begin", opSum, []string{"<num_queued_begin", "<bytes"}},
	{event.KindHandover, "num_queued_end", opSum, []string{"num_queued_begin", "bytes"}},
	{event.KindHandover, "num_compl_end", opSum, []string{"num_compl_begin"}},
	{event.KindHandover, "adj_limit_begin", opSum, []string{"<adj_limit_begin", "num_compl_begin", "<num_compl_begin"}},
	{event.KindHandover, "adj_limit_end", opSum, []string{"adj_limit_begin", "num_compl_end", "num_compl_begin"}},

	{event.KindComplete, "adj_limit", opSum, []string{"num_completed", "limit"}},
	{event.KindComplete, "prev_num_queued", opSum, []string{"num_queued"}},
	{event.KindComplete, "prev_last_obj_cnt", opSum, []string{"last_obj_cnt"}},
}

// listed says which fields hold addresses or other 64-bit names of things:
// few values, each seen often, without any order.
func listed(f event.Field) bool {
	return f.Size == 8 && f.Count == 1 && (f.Unit == "addr" || f.Name == "birth")
}

// layouts by kind, nil for unknown kinds.
var layouts = func() (ls [256]*layout) {
	ls[kindAddrs] = &layout{size: 8, columns: []column{prevColumn(0, 8)}}
	for _, t := range event.Tables() {
		ls[t.Kind] = newLayout(t)
	}
	return ls
}()

func newLayout(t event.Table) *layout {
	l := &layout{size: t.Size}
	fields := make(map[string]event.Field)
	masks := make([]uint64, t.Size/8)
	ruled := make(map[string]bool)
	for _, f := range t.Fields {
		fields[f.Name] = f
	}
	for _, r := range rules {
		if r.kind == 0 || r.kind == t.Kind {
			ruled[r.field] = true
		}
	}
	base := func(f event.Field) {
		for i := f.Offset; i < f.Offset+f.Size*f.Count; i++ {
			masks[i/8] |= 0xff << (8 * (i % 8))
		}
	}
	var rest []column
	for _, f := range t.Fields {
		switch {
		case listed(f):
			l.addrs = append(l.addrs, f.Offset)
			base(f)
		case f.Size <= 2:
			base(f)
		case ruled[f.Name]:
		default:
			for i := range f.Count {
				rest = append(rest, prevColumn(f.Offset+i*f.Size, f.Size))
			}
		}
	}
	for _, r := range rules {
		f, ok := fields[r.field]
		if r.kind != 0 && r.kind != t.Kind || !ok {
			continue
		}
		if r.op == opBase {
			base(f)
			continue
		}
		c := column{op: r.op, off: f.Offset, bits: 1<<f.Size - 1, n: len(r.terms)}
		for i, name := range r.terms {
			if name[0] == '<' {
				c.t[i].prev, name = true, name[1:]
			}
			c.t[i].off = fields[name].Offset
		}
		rest = append(rest, c)
	}
	for i, m := range masks {
		if m != 0 {
			l.columns = append(l.columns, column{op: opBase, off: 8 * i, bits: byteBits(m), mask: m})
		}
	}
	l.columns = append(l.columns, rest...)
	return l
}

func prevColumn(off, size int) column {
	if size == 8 {
		return column{op: opPrev, off: off, bits: 0xff}
	}
	return column{op: opSum, off: off, bits: 0xf, n: 1, t: [3]term{{off: off, prev: true}}}
}

// byteBits has one bit for each byte of mask that is set.
func byteBits(mask uint64) (bits byte) {
	for b := range 8 {
		bits |= byte(mask>>(8*b)&1) << b
	}
	return bits
}
