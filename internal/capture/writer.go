// SPDX-License-Identifier: Apache-2.0

package capture

import (
	"encoding/json"
	"fmt"
	"io"
	"time"

	"github.com/klauspost/compress/s2"
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
	tabs    []event.Table
	open    [256]*openBlock // by kind
	kinds   []event.Kind    // kinds with an open block, in order of their first record
	n       int             // records in the open blocks
	first   uint64          // time of the group's first record
	seen    time.Time       // Tick that first met the open group
	group   uint32
	pending []byte     // of the last group: what the output did not take
	owed    [256]int64 // records in pending, by kind
	err     error      // of the last Write
	stats   [256]KindStats
	total   WriterStats
	closed  bool
	buf     []byte // a group under construction
	tmp     []byte
	scratch []byte // Put
}

type openBlock struct {
	size    int
	buf     []byte
	count   int
	minTime uint64
	maxTime uint64
	ranges  []cpuRange
	last    int // range that the last record fell into
}

// NewWriter writes the magic, the version and the header. h.Tables may be nil:
// the tables of this build are stored then. Tables of kinds this build does
// not know may follow them.
func NewWriter(out io.Writer, h *Header) (*Writer, error) {
	hh := *h
	if hh.Tables == nil {
		hh.Tables = event.Tables()
	}
	js, err := json.Marshal(&hh)
	if err != nil {
		return nil, fmt.Errorf("capture header: %w", err)
	}
	w := &Writer{out: out, tabs: hh.Tables}
	b := make([]byte, 0, prefixSize+len(js))
	b = append(b, fileMagic...)
	b = le.AppendUint32(b, Version)
	b = le.AppendUint32(b, uint32(len(js)))
	b = le.AppendUint32(b, sum(js))
	b = le.AppendUint32(b, sum(b))
	b = append(b, js...)
	n, err := out.Write(b)
	w.total.Written += int64(n)
	if err != nil {
		return nil, fmt.Errorf("capture header: %w", err)
	}
	return w, nil
}

// Append adds one record: exactly the bytes that a BPF program submitted,
// beginning with the kind. They are copied, not decoded.
//
// An error that is ErrRecord means that rec was refused and nothing else
// happened. Any other error comes from the output: the group that was due
// could not be written. What the output did take stays sound. The rest of that
// one group is kept and written first at the next attempt, so that the file is
// whole again when room comes back; groups that come due meanwhile are dropped
// and counted (Stats), which a reader sees as gaps. The caller may go on.
func (w *Writer) Append(rec []byte) error {
	if len(rec) == 0 || len(rec) != event.Kind(rec[0]).Size() || w.closed {
		w.total.Refused++
		if w.closed {
			return fmt.Errorf("%w: the capture is closed", ErrRecord)
		}
		if len(rec) == 0 {
			return fmt.Errorf("%w: no bytes", ErrRecord)
		}
		return fmt.Errorf("%w: %d bytes of kind %s, which has %d", ErrRecord, len(rec), event.Kind(rec[0]), event.Kind(rec[0]).Size())
	}
	t := le.Uint64(rec[offTime:])
	b := w.open[rec[0]]
	if b == nil {
		b = &openBlock{size: len(rec), buf: make([]byte, 0, maxRaw)}
		w.open[rec[0]] = b
	}
	var err error
	if w.n > 0 && (len(b.buf)+len(rec) > maxRaw || int64(t-w.first) >= int64(MaxAge)) {
		err = w.Flush()
	}
	if w.n == 0 {
		w.first = t
	}
	w.n++
	if b.count == 0 {
		w.kinds = append(w.kinds, event.Kind(rec[0]))
		b.minTime, b.maxTime = t, t
		b.ranges = b.ranges[:0]
		b.last = -1
	}
	b.count++
	b.buf = append(b.buf, rec...)
	b.note(t, le.Uint16(rec[offCPU:]), le.Uint32(rec[offSeq:]))
	return err
}

// note widens the block's ranges by one record.
func (b *openBlock) note(t uint64, cpu uint16, seq uint32) {
	b.minTime, b.maxTime = min(b.minTime, t), max(b.maxTime, t)
	if b.last < 0 || b.ranges[b.last].cpu != cpu {
		b.last = -1
		for i := range b.ranges {
			if b.ranges[i].cpu == cpu {
				b.last = i
			}
		}
		if b.last < 0 {
			b.last = len(b.ranges)
			b.ranges = append(b.ranges, cpuRange{cpu, seq, seq})
		}
	}
	r := &b.ranges[b.last]
	if int32(seq-r.last) > 0 {
		r.last = seq
	} else if int32(seq-r.first) < 0 {
		r.first = seq
	}
}

// Tick closes the open blocks when they are MaxAge old. The caller drives it
// with its clock, a few times per MaxAge; age counts from the first Tick that
// met the blocks. The error is that of Append.
func (w *Writer) Tick(now time.Time) error {
	switch {
	case w.n == 0:
		return nil
	case w.seen.IsZero():
		w.seen = now
		return nil
	case now.Sub(w.seen) < MaxAge:
		return nil
	}
	return w.Flush()
}

// Flush closes the open blocks now. The error is that of Append. With nothing
// open it still retries what an earlier error left behind.
func (w *Writer) Flush() error {
	if err := w.retry(); err != nil {
		for _, k := range w.kinds {
			b := w.open[k]
			w.stats[k].Dropped += int64(b.count)
			w.total.Dropped += int64(b.count)
		}
		w.reset()
		return err
	}
	if w.n == 0 {
		return nil
	}
	w.buf = w.buf[:0]
	for _, k := range w.kinds {
		b := w.open[k]
		at := len(w.buf)
		w.buf = w.appendBlock(w.buf, k, b)
		w.owed[k] = int64(b.count)
		s := &w.stats[k]
		s.Blocks++
		s.Raw += int64(len(b.buf))
		s.Stored += int64(len(w.buf) - at)
	}
	w.group++
	w.reset()
	w.pending = w.buf
	return w.retry()
}

func (w *Writer) reset() {
	for _, k := range w.kinds {
		b := w.open[k]
		b.buf, b.count = b.buf[:0], 0
	}
	w.kinds, w.n, w.seen = w.kinds[:0], 0, time.Time{}
}

// retry writes what is pending.
func (w *Writer) retry() error {
	if len(w.pending) == 0 {
		return nil
	}
	n, err := w.out.Write(w.pending)
	n = max(0, min(n, len(w.pending)))
	w.total.Written += int64(n)
	w.pending = w.pending[n:]
	if err == nil && len(w.pending) > 0 {
		err = io.ErrShortWrite
	}
	w.err = err
	if len(w.pending) > 0 {
		return fmt.Errorf("capture: %w", err)
	}
	for k := range w.owed {
		w.stats[k].Records += w.owed[k]
		w.owed[k] = 0
	}
	return nil
}

func (w *Writer) appendBlock(dst []byte, k event.Kind, b *openBlock) []byte {
	if w.tmp == nil {
		w.tmp = make([]byte, maxRaw+s2.MaxEncodedLen(maxRaw))
	}
	h := blockHead{
		kind: k, codec: codecS2, size: b.size, group: w.group, count: b.count, raw: len(b.buf),
		minTime: b.minTime, maxTime: b.maxTime, ranges: b.ranges,
	}
	raw := w.tmp[:len(b.buf)]
	transpose(raw, b.buf, b.size)
	data := s2.Encode(w.tmp[maxRaw:], raw)
	if len(data) >= len(b.buf) {
		h.codec, data = codecPlain, b.buf
	}
	h.stored, h.sum = len(data), sum(data)
	dst = appendBlockHead(dst, &h)
	return append(dst, data...)
}

// Err is the error of the last attempt to write, nil when all is well again.
func (w *Writer) Err() error { return w.err }

// Close writes what is open and then the footer, with f.Records filled in when
// it is nil. Without a sound write the file stays cut and Close says why.
// Close does not close the output.
func (w *Writer) Close(f *Footer) error {
	if w.closed {
		return nil
	}
	err := w.Flush()
	w.closed = true
	if err != nil {
		for k, n := range w.owed {
			w.stats[k].Dropped += n
			w.total.Dropped += n
		}
		return err
	}
	ff := *f
	if ff.Records == nil {
		ff.Records = make(map[string]int64)
		for k := range w.stats {
			if n := w.stats[k].Records; n > 0 {
				ff.Records[event.Kind(k).String()] = n
			}
		}
	}
	js, err := json.Marshal(&ff)
	if err != nil {
		return fmt.Errorf("capture footer: %w", err)
	}
	b := make([]byte, 0, footSize+len(js)+len(endMarker))
	b = append(b, footMagic...)
	b = le.AppendUint32(b, uint32(len(js)))
	b = le.AppendUint32(b, sum(js))
	b = le.AppendUint32(b, sum(b))
	b = append(b, js...)
	b = append(b, endMarker...)
	n, err := w.out.Write(b)
	w.total.Written += int64(n)
	if err == nil && n < len(b) {
		err = io.ErrShortWrite
	}
	if err != nil {
		w.err = err
		return fmt.Errorf("capture footer: %w", err)
	}
	return nil
}

// Stats of the writer so far.
func (w *Writer) Stats() WriterStats {
	s := w.total
	for k := range w.stats {
		if ks := w.stats[k]; ks.Blocks > 0 || ks.Dropped > 0 {
			ks.Kind = event.Kind(k)
			s.Kinds = append(s.Kinds, ks)
		}
	}
	return s
}
