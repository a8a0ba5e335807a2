// SPDX-License-Identifier: Apache-2.0

package capture

import (
	"fmt"
	"io"
	"time"

	"github.com/txtrace/txtrace/internal/event"
)

// MaxAge is how long a record waits in an open block before it is written.
const MaxAge = 200 * time.Millisecond

// Writer writes a capture. It holds one open block per record kind and closes
// all of them together, as one group, with one Write of the output: when one
// of them is full (64 KiB), when the records in them span MaxAge, when Tick
// finds them MaxAge old, and on Flush and Close.
//
// A Writer starts no goroutine and is not safe for concurrent use. When the
// output fails it stays usable: see Append.
type Writer struct {
	out     io.Writer
	open    [256]*openBlock // by kind
	kinds   []event.Kind    // kinds with records in their open block, in order of the first
	first   uint64          // time of the group's first record
	seen    time.Time       // Tick that first met the open group
	group   uint32
	pending []byte         // what the output did not take of the last group, or of the footer
	owed    [256]KindStats // of that group
	err     error          // of the last Write
	ended   bool           // the footer is made, and pending if not written
	closed  bool
	busy    bool // the open group filled up fast: instructions count more than bytes
	stats   [256]KindStats
	total   WriterStats

	list    addrs
	pk      packer
	codecs  codecs
	buf     []byte // a group under construction
	packed  []byte // a block under construction
	spare   words  // for sorting a block
	scratch []byte // Put
}

// NewWriter writes the magic, the version and the header. h.Tables may be nil:
// those of this build are stored then. Given ones must agree with this build
// on every kind it knows (else ErrTables) and may have more kinds.
func NewWriter(out io.Writer, h *Header) (*Writer, error) {
	if err := endian(); err != nil {
		return nil, err
	}
	hh := *h
	if hh.Tables == nil {
		hh.Tables = event.Tables()
	}
	if err := checkTables(hh.Tables); err != nil {
		return nil, err
	}
	hh.Packing = packings
	b, err := appendSheet(le.AppendUint32([]byte(fileMagic), Version), "capture header", &hh)
	if err != nil {
		return nil, err
	}
	w := &Writer{out: out, pending: b}
	if err := w.write(); err != nil {
		return nil, fmt.Errorf("capture header: %w", err)
	}
	return w, nil
}

// Append adds one record: exactly the bytes that a BPF program submitted,
// beginning with the kind. They are copied, not decoded.
//
// An error that is ErrRecord means that rec was refused and nothing else
// happened. Any other error comes from the output: the group that was due
// could not be written whole. What the output did take stays sound. The rest
// of that one group is kept and written first at the next attempt, so that the
// file goes on without a tear when room comes back; groups that come due
// meanwhile are dropped and counted (WriterStats.Dropped), which a reader sees
// as gaps. The caller may go on appending; rec itself is taken.
func (w *Writer) Append(rec []byte) error {
	if len(rec) >= minRecord {
		b := w.open[rec[0]]
		t := le.Uint64(rec[offTime:])
		if b != nil && len(rec) == b.size && b.used > 0 && b.used+len(rec) <= maxRaw && int64(t-w.first) < int64(MaxAge) {
			b.used += copy(b.buf[b.used:], rec)
			return nil
		}
	}
	return w.appendFirst(rec)
}

// appendFirst is Append when a block is empty or must be closed, or rec is no
// record.
func (w *Writer) appendFirst(rec []byte) error {
	if err := w.refuse(rec); err != nil {
		w.total.Refused++
		return err
	}
	k, t := event.Kind(rec[0]), le.Uint64(rec[offTime:])
	b := w.open[k]
	if b == nil {
		b = newOpenBlock(len(rec))
		w.open[k] = b
	}
	var err error
	if len(w.kinds) > 0 && (b.used+len(rec) > maxRaw || int64(t-w.first) >= int64(MaxAge)) {
		w.busy = int64(t-w.first) < int64(MaxAge/2)
		err = w.Flush()
		w.busy = false
	}
	if len(w.kinds) == 0 {
		w.first = t
	}
	if b.used == 0 {
		w.kinds = append(w.kinds, k)
	}
	b.used += copy(b.buf[b.used:], rec)
	return err
}

// refuse says why rec cannot be appended, if so.
func (w *Writer) refuse(rec []byte) error {
	switch {
	case w.ended:
		return fmt.Errorf("%w: the capture is closed", ErrRecord)
	case len(rec) == 0:
		return fmt.Errorf("%w: no bytes", ErrRecord)
	case !event.Kind(rec[0]).Valid():
		return fmt.Errorf("%w: kind %d is unknown", ErrRecord, rec[0])
	}
	if k := event.Kind(rec[0]); len(rec) != k.Size() {
		return fmt.Errorf("%w: %d bytes, a %s has %d", ErrRecord, len(rec), k, k.Size())
	}
	return nil
}

// Tick closes the open blocks when they are MaxAge old. The caller drives it
// with its clock, a few times per MaxAge; age counts from the first Tick that
// met the blocks. The error is that of Append.
func (w *Writer) Tick(now time.Time) error {
	switch {
	case len(w.kinds) == 0:
		return w.write()
	case w.seen.IsZero():
		w.seen = now
		return nil
	case now.Sub(w.seen) < MaxAge:
		return nil
	}
	return w.Flush()
}

// Flush closes the open blocks now, after what an earlier error left behind.
// The error is that of Append.
func (w *Writer) Flush() error {
	if err := w.write(); err != nil {
		for _, k := range w.kinds {
			n := int64(w.open[k].count())
			w.stats[k].Dropped += n
			w.total.Dropped += n
		}
		w.reset()
		return err
	}
	if len(w.kinds) == 0 {
		return nil
	}
	w.build()
	w.group++
	w.reset()
	w.pending = w.buf
	return w.write()
}

// reset empties the open blocks.
func (w *Writer) reset() {
	for _, k := range w.kinds {
		w.open[k].used = 0
	}
	w.kinds, w.seen = w.kinds[:0], time.Time{}
}

// write gives the output what is pending.
func (w *Writer) write() error {
	if len(w.pending) == 0 {
		return nil
	}
	n, err := w.out.Write(w.pending)
	n = max(0, min(n, len(w.pending)))
	w.total.Written += int64(n)
	w.pending = w.pending[n:]
	if len(w.pending) > 0 {
		if err == nil {
			err = io.ErrShortWrite
		}
		w.err = fmt.Errorf("capture: %w", err)
		return w.err
	}
	w.err = nil
	for k := range w.owed {
		w.stats[k].add(w.owed[k])
	}
	w.owed = [256]KindStats{}
	return nil
}

// build makes the group's blocks in w.buf.
func (w *Writer) build() {
	w.buf = w.buf[:0]
	w.list.reset()
	for _, k := range w.kinds {
		b := w.open[k]
		if b.survey() {
			w.sort(b)
		}
		w.list.fold(b.mem, b.count(), layouts[k])
	}
	if n := len(w.list.vals); n > 1 {
		if !w.busy {
			w.list.sort()
			for _, k := range w.kinds {
				w.list.move(w.open[k].mem, w.open[k].count(), layouts[k])
			}
		}
		w.block(&blockHead{kind: kindAddrs, size: 8, count: n, raw: 8 * n}, w.list.vals)
	}
	for _, k := range w.kinds {
		b := w.open[k]
		w.block(&blockHead{
			kind: k, size: b.size, count: b.count(), raw: b.used,
			minTime: b.minTime, maxTime: b.maxTime, ranges: b.ranges,
		}, b.mem)
	}
}

// block adds one block to w.buf.
func (w *Writer) block(h *blockHead, m words) {
	w.packed = w.pk.pack(w.packed[:0], m, h.count, layouts[h.kind])
	var data []byte
	h.codec, data = w.codecs.squeeze(w.packed, w.busy)
	h.group, h.stored, h.sum = w.group, len(data), sum(data)
	at := len(w.buf)
	w.buf = append(appendBlockHead(w.buf, h), data...)
	w.owed[h.kind] = KindStats{Blocks: 1, Records: int64(h.count), Raw: int64(h.raw), Stored: int64(len(w.buf) - at)}
}

// Err is the error of the last attempt to write, nil when all is well again.
func (w *Writer) Err() error { return w.err }

// Close writes what is open and then the footer, with f.Records filled in when
// it is nil. After an error it may be called again; as long as it fails the
// file is cut. Close does not close the output.
func (w *Writer) Close(f *Footer) error {
	if w.closed {
		return nil
	}
	if !w.ended {
		if err := w.Flush(); err != nil {
			return err
		}
		b, err := w.footer(*f)
		if err != nil {
			return err
		}
		w.pending, w.ended = b, true
	}
	if err := w.write(); err != nil {
		return fmt.Errorf("capture footer: %w", err)
	}
	w.closed = true
	return nil
}

func (w *Writer) footer(f Footer) ([]byte, error) {
	if f.Records == nil {
		f.Records = make(map[string]int64)
		for _, s := range w.Stats().Kinds {
			f.Records[s.Kind.String()] = s.Records
		}
	}
	b, err := appendSheet([]byte(footMagic), "capture footer", &f)
	if err != nil {
		return nil, err
	}
	return append(b, endMarker...), nil
}

// Stats of the writer so far.
func (w *Writer) Stats() WriterStats {
	s := w.total
	s.Kinds, s.Shared = kindStats(&w.stats)
	for k := range w.owed {
		if event.Kind(k) != kindAddrs {
			s.Pending += w.owed[k].Records
		}
	}
	return s
}
