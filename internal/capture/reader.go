// SPDX-License-Identifier: Apache-2.0

package capture

import (
	"bufio"
	"io"
	"math"
)

// Reader reads a capture as a stream, in constant memory. It is not safe for
// concurrent use.
//
// Records come merged: those of one CPU by sequence number, always; those of
// different CPUs by time, where a time that goes back on its CPU counts as
// that of the record before it, and equal times by CPU, event.UserCPU last.
type Reader struct {
	in     *bufio.Reader
	off    int64 // bytes that were good
	header Header
	told   [256]bool // kinds that the header has a table of
	footer *Footer
	cut    *CutInfo
	err    error // of the input

	next    blockHead // of a block whose data is not read yet
	has     bool      // next is set
	end     bool      // no more blocks
	headBuf []byte    // the bytes of next
	data    []byte    // of a block
	codecs  codecs
	list    addrs // of the group being read
	pk      packer

	o      order
	mark   uint64   // all records up to this time are read, as far as the last group tells
	now    uint64   // highest mark so far
	hard   bool     // a record waits for too long: the merge goes on whatever is missing
	last   uint64   // highest key delivered
	live   []*batch // groups with records not yet delivered
	free   []*batch
	given  *batch // of the record delivered last
	tail   []Gap  // at the end of the file
	tailed bool

	stats [256]KindStats
	total ReaderStats
}

// Open reads the header. Its errors are ErrForeign, ErrNewer, ErrHeader,
// ErrTables, or the input's own. Their text goes on with the cause and the
// next step, for the caller to put the file's name before.
func Open(in io.Reader) (*Reader, error) {
	if err := endian(); err != nil {
		return nil, err
	}
	r := &Reader{in: bufio.NewReaderSize(in, maxRaw)}
	if err := r.readHeader(); err != nil {
		return nil, err
	}
	return r, nil
}

// Header of the capture.
func (r *Reader) Header() *Header { return &r.header }

// Footer of the capture: nil before Next returned io.EOF, and nil then when
// the file is cut.
func (r *Reader) Footer() *Footer { return r.footer }

// Cut says that the file ends early, and where. It is nil before Next returned
// io.EOF and nil when the file is whole. A cut is no error: all records up to
// the last good block are delivered.
func (r *Reader) Cut() *CutInfo { return r.cut }

// Next returns the next record or gap, and io.EOF after the last one. When the
// input fails, its error comes after all that could be read before. See Item
// for how long a record is valid.
func (r *Reader) Next() (Item, error) {
	if b := r.given; b != nil {
		r.given = nil
		if b.left--; b.left == 0 {
			r.recycle(b)
		}
	}
	for {
		if len(r.o.heap) > 0 {
			l := r.o.heap[0]
			due := r.end || r.hard || l.force > 0
			if l.blocked && due {
				return r.gap(r.o.skip(r.header.Clock.Monotonic)), nil
			}
			if !l.blocked && (due || l.key <= r.mark) {
				if l.key < r.last {
					r.total.Unordered++
				}
				r.last = l.key
				f := r.o.pop()
				r.given = f.b
				return Item{Record: record(f.h)}, nil
			}
		}
		if r.end {
			return r.finish()
		}
		r.readGroup()
	}
}

func (r *Reader) gap(g Gap) Item {
	r.total.Gaps++
	r.total.Lost += uint64(g.Lost)
	return Item{Gap: &g}
}

// finish delivers the gaps at the end, then the end itself.
func (r *Reader) finish() (Item, error) {
	if !r.tailed {
		r.tailed = true
		r.tail = r.o.tail(r.footer, r.header.Clock.Monotonic)
	}
	if len(r.tail) > 0 {
		g := r.tail[0]
		r.tail = r.tail[1:]
		return r.gap(g), nil
	}
	if r.err != nil {
		return Item{}, r.err
	}
	return Item{}, io.EOF
}

// readGroup reads the blocks of one group and puts their records in order.
func (r *Reader) readGroup() {
	if !r.has && !r.readBlockHead() {
		r.mark, r.hard = math.MaxUint64, false
		r.o.settle(nil, r.now, 0)
		return
	}
	b := r.batch()
	r.live = append(r.live, b)
	r.list.vals = append(r.list.vals[:0], 0)
	r.mark = math.MaxUint64
	var met [256]bool
	for group := r.next.group; r.has && r.next.group == group && !met[r.next.kind]; {
		met[r.next.kind] = true
		if r.next.kind != kindAddrs {
			r.mark = min(r.mark, r.next.minTime)
		}
		r.has = false
		if !r.readBlock(b) || !r.readBlockHead() {
			break
		}
	}
	r.now = max(r.now, r.mark)
	if r.end {
		r.mark = math.MaxUint64
	}
	oldest := r.waiting(b.n - lookahead + 1)
	r.hard = r.waiting(b.n-2*lookahead+1) > 0
	r.o.settle(b, r.now, oldest)
	if b.left == 0 {
		r.recycle(b)
	}
}

// waiting is limit when records of groups before it wait, else 0.
func (r *Reader) waiting(limit int64) int64 {
	for _, b := range r.live {
		if b.n < limit {
			return limit
		}
	}
	return 0
}

// batch is room for the next group.
func (r *Reader) batch() *batch {
	b := new(batch)
	if n := len(r.free); n > 0 {
		b, r.free = r.free[n-1], r.free[:n-1]
	}
	b.n, b.left = r.total.Groups, 0
	r.total.Groups++
	return b
}

func (r *Reader) recycle(b *batch) {
	for i := range r.live {
		if r.live[i] == b {
			r.live = append(r.live[:i], r.live[i+1:]...)
			break
		}
	}
	r.free = append(r.free, b)
	r.hard = r.hard && r.waiting(r.total.Groups-2*lookahead) > 0
}

// Stats of the reader so far.
func (r *Reader) Stats() ReaderStats {
	s := r.total
	s.Kinds, s.Shared = kindStats(&r.stats)
	s.Bytes, s.Late = r.off, r.o.late
	return s
}
