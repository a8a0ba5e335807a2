// SPDX-License-Identifier: Apache-2.0

package capture

import (
	"fmt"

	"github.com/txtrace/txtrace/internal/event"
)

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
	kind  string // name of the table, empty for all
	field string
	op    op
	terms []string // names of fields, "<" before those of the record before
}

// rules are part of the file format. A row may use fields of opBase, fields
// with the default prediction, and fields of rows above it.
var rules = []rule{
	{"", "dur", opBase, nil},
	{"", "ifindex", opBase, nil},
	{"", "netns", opBase, nil},
	{"", "pid", opBase, nil},
	{"", "packets", opBase, nil},
	{"", "qdisc_flags", opBase, nil},
	{"", "handle", opBase, nil},
	{"", "seq", opSeq, nil},
	{"", "time", opTime, nil},

	{"run", "directs", opSum, []string{"dequeues"}},
	{"run", "last_packets", opSum, []string{"packets"}},
	{"run", "num_queued_begin", opSum, []string{"<num_queued_end"}},
	{"run", "num_compl_begin", opSum, []string{"<num_compl_end"}},
	{"run", "adj_limit_end", opSum, []string{"<adj_limit_end", "num_compl_end", "<num_compl_end"}},
	{"run", "adj_limit_begin", opSum, []string{"<adj_limit_end", "num_compl_begin", "<num_compl_end"}},

	{"dequeue", "walked", opSum, []string{"packets"}},
	{"dequeue", "gso_segs", opSum, []string{"packets"}},
	{"dequeue", "bytes", opMean, []string{"packets", "<bytes", "<packets"}},
	{"dequeue", "pkt_len", opSum, []string{"bytes"}},
	{"dequeue", "last_len", opSum, []string{"first_len"}},
	{"dequeue", "num_queued", opSum, []string{"<num_queued", "<bytes"}},
	{"dequeue", "adj_limit", opSum, []string{"<adj_limit", "num_compl", "<num_compl"}},

	{"direct", "gso_segs", opSum, []string{"packets"}},
	{"direct", "bytes", opMean, []string{"packets", "<bytes", "<packets"}},
	{"direct", "pkt_len", opSum, []string{"bytes"}},
	{"direct", "requeues_begin", opSum, []string{"<requeues_end"}},
	{"direct", "gso_qlen_begin", opSum, []string{"<gso_qlen_end"}},
	{"direct", "hand_packets", opSum, []string{"packets"}},
	{"direct", "hand_bytes", opSum, []string{"bytes"}},
	{"direct", "hand_attempts", opSum, []string{"hand_packets"}},
	{"direct", "hand_num_queued_begin", opSum, []string{"<hand_num_queued_begin", "<hand_bytes"}},
	{"direct", "hand_num_queued_end", opSum, []string{"hand_num_queued_begin", "hand_bytes"}},
	{"direct", "hand_num_compl_end", opSum, []string{"hand_num_compl_begin"}},
	{"direct", "hand_adj_limit_begin", opSum, []string{"<hand_adj_limit_begin", "hand_num_compl_begin", "<hand_num_compl_begin"}},
	{"direct", "hand_adj_limit_end", opSum, []string{"hand_adj_limit_begin", "hand_num_compl_end", "hand_num_compl_begin"}},

	{"quiet", "bytes", opMean, []string{"packets", "<bytes", "<packets"}},
	{"handover", "bytes", opMean, []string{"packets", "<bytes", "<packets"}},
	{"handover", "attempts", opSum, []string{"packets"}},
	{"handover", "num_queued_begin", opSum, []string{"<num_queued_begin", "<bytes"}},
	{"handover", "num_queued_end", opSum, []string{"num_queued_begin", "bytes"}},
	{"handover", "num_compl_end", opSum, []string{"num_compl_begin"}},
	{"handover", "adj_limit_begin", opSum, []string{"<adj_limit_begin", "num_compl_begin", "<num_compl_begin"}},
	{"handover", "adj_limit_end", opSum, []string{"adj_limit_begin", "num_compl_end", "num_compl_begin"}},

	{"complete", "adj_limit", opSum, []string{"num_completed", "limit"}},
	{"complete", "prev_num_queued", opSum, []string{"num_queued"}},
	{"complete", "prev_last_obj_cnt", opSum, []string{"last_obj_cnt"}},
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

// packings are checksums of the layouts, by the names of the kinds. They differ
// when a rule does, so that no reader undoes what a writer did not do.
var packings = func() map[string]uint32 {
	sums := make(map[string]uint32)
	for _, t := range event.Tables() {
		l := layouts[t.Kind]
		sums[t.Name] = sum(fmt.Append(nil, l.size, l.addrs, l.columns)) // values, without the names of fields
	}
	return sums
}()

func newLayout(t event.Table) *layout {
	l := &layout{size: t.Size}
	fields := make(map[string]event.Field)
	masks := make([]uint64, t.Size/8)
	covered := make([]bool, t.Size+8) // by columns that are not opBase
	ruled := make(map[string]bool)
	for _, f := range t.Fields {
		fields[f.Name] = f
	}
	for _, r := range rules {
		if r.kind == "" || r.kind == t.Name {
			ruled[r.field] = true
		}
	}
	var rest []column
	for _, f := range t.Fields {
		switch {
		case listed(f):
			l.addrs = append(l.addrs, f.Offset)
		case f.Size <= 2, ruled[f.Name]:
		default:
			for i := range f.Count {
				rest = append(rest, prevColumn(f.Offset+i*f.Size, f.Size))
			}
		}
	}
	for _, r := range rules {
		f, ok := fields[r.field]
		if r.kind != "" && r.kind != t.Name || !ok || r.op == opBase {
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
	for _, c := range rest {
		for b := range 8 {
			covered[c.off+b] = covered[c.off+b] || c.bits>>b&1 != 0
		}
	}
	for i, c := range covered[:t.Size] {
		if !c { // fields of opBase, and what belongs to no field
			masks[i/8] |= 0xff << (8 * (i % 8))
		}
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
