// SPDX-License-Identifier: Apache-2.0

package capture

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"

	"github.com/klauspost/compress/s2"
	"github.com/txtrace/txtrace/internal/event"
)

// Reader reads a capture as a stream, in constant memory. It is not safe for
// concurrent use.
//
// Records come in the order of the merge: each CPU's by sequence number,
// always; across CPUs by time, where a time that goes back on its CPU counts
// as its predecessor's; equal times by CPU.
type Reader struct {
	in     *bufio.Reader
	off    int64 // bytes consumed
	header Header
	footer *Footer
	cut    *CutInfo
	err    error // of the input, delivered after the last record

	next    blockHead // header of a block whose data is not read yet
	has     bool
	end     bool // no more blocks
	o       order
	mark    uint64 // every record up to it has been read
	last    uint64 // highest key delivered
	groups  int64
	live    []*batch // groups with records not yet delivered
	free    []*batch
	given   *batch // of the record delivered last
	tail    []Gap  // at the end of the file
	tailed  bool
	stats   [256]KindStats
	total   ReaderStats
	data    []byte
	raw     []byte
	headBuf []byte
	gap     Gap
}

// Open reads the header. Its errors are ErrForeign, ErrNewer, ErrHeader,
// ErrTables, or the input's own; their text is one clause of cause and one of
// the next step, for the caller to put the file's name before.
func Open(in io.Reader) (*Reader, error) {
	if _, err := event.Decode(nil); errors.Is(err, event.ErrEndian) {
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

// Next returns the next record or gap, io.EOF after the last one, and any
// error of the input after all that could be read before it. See Item for how
// long a record is valid.
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
			due := r.end || l.force > 0
			if l.blocked && due {
				return Item{Gap: r.count(r.o.skip(r.mark, r.header.Clock.Monotonic))}, nil
			}
			if !l.blocked && (due || l.key <= r.mark) {
				if l.key < r.last {
					r.total.Unordered++
				}
				r.last = l.key
				f := r.o.pop(r.mark)
				r.given = f.b
				return Item{Record: record(f.h)}, nil
			}
		}
		if !r.end {
			r.readGroup()
			continue
		}
		return r.finish()
	}
}

func (r *Reader) count(g *Gap) *Gap {
	r.total.Gaps++
	r.total.Lost += uint64(g.Lost)
	return g
}

func (r *Reader) recycle(b *batch) {
	for i := range r.live {
		if r.live[i] == b {
			r.live = append(r.live[:i], r.live[i+1:]...)
			break
		}
	}
	r.free = append(r.free, b)
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
		return Item{Gap: r.count(&g)}, nil
	}
	if r.err != nil {
		return Item{}, r.err
	}
	return Item{}, io.EOF
}

// tail is what the footer's ledger says was taken after the last record.
func (o *order) tail(f *Footer, begin uint64) []Gap {
	if f == nil {
		return nil
	}
	taken := make(map[int]bool)
	for _, row := range f.Ledger {
		if row.Submitted+row.Lost > 0 || row.LastSeq > 0 {
			taken[row.CPU] = true
		}
	}
	var gs []Gap
	for _, row := range f.Ledger {
		if row.Program != 0 || !taken[row.CPU] || row.CPU < 0 || row.CPU > math.MaxUint16 {
			continue
		}
		l := o.lane(uint16(row.CPU))
		if n := row.LastSeq + 1 - l.next; n == 0 || int32(n) < 0 && l.seen {
			continue
		}
		g := l.gap(row.LastSeq+1, f.Clock.Monotonic, begin)
		g.End = true
		l.seen, l.next = true, row.LastSeq+1
		gs = append(gs, *g)
	}
	return gs
}

// readGroup reads the blocks of one group, or what is left of the file.
func (r *Reader) readGroup() {
	if !r.has && !r.readBlockHead() {
		r.stop()
		return
	}
	var b *batch
	if n := len(r.free); n > 0 {
		b, r.free = r.free[n-1], r.free[:n-1]
	} else {
		b = new(batch)
	}
	b.n, b.left = r.groups, 0
	var met [256]bool
	group := r.next.group
	mark := uint64(math.MaxUint64)
	for r.has && r.next.group == group && !met[r.next.kind] {
		met[r.next.kind] = true
		mark = min(mark, r.next.minTime)
		r.has = false
		if !r.readBlock(b) || !r.readBlockHead() {
			break
		}
	}
	r.groups++
	r.total.Groups++
	r.mark = mark
	if r.end {
		r.mark = math.MaxUint64
	}
	r.live = append(r.live, b)
	r.o.settle(r.mark, b.n-lookahead+1)
	if b.left == 0 {
		r.recycle(b)
	}
}

func (r *Reader) stop() {
	r.end = true
	r.mark = math.MaxUint64
	r.o.settle(r.mark, 0)
}

// fail ends the blocks: the file is cut, or the input has an error.
func (r *Reader) fail(err error, reason string) bool {
	r.end = true
	if err != nil && err != io.EOF && err != io.ErrUnexpectedEOF {
		r.err = fmt.Errorf("capture: %w", err)
	}
	r.cut = &CutInfo{Offset: r.off, Reason: reason}
	return false
}

// readBlockHead reads up to the data of the next block into r.next. It is
// false at the footer and at the end of what can be read.
func (r *Reader) readBlockHead() bool {
	m, err := r.in.Peek(4)
	switch {
	case len(m) == 0:
		return r.fail(err, "the file ends without a footer")
	case len(m) < 4:
		return r.fail(err, "the file ends inside a block header")
	case string(m) == footMagic:
		return r.readFooter()
	case string(m) != blockMagic:
		return r.fail(nil, "no block begins here")
	}
	r.headBuf = grow(r.headBuf, blockSize)
	if _, err := io.ReadFull(r.in, r.headBuf); err != nil {
		return r.fail(err, "the file ends inside a block header")
	}
	n := int(le.Uint32(r.headBuf[28:]))
	if n > maxRanges {
		return r.fail(nil, "a block header is damaged")
	}
	r.headBuf = grow(r.headBuf, blockSize+n*rangeSize+sumSize)
	if _, err := io.ReadFull(r.in, r.headBuf[blockSize:]); err != nil {
		return r.fail(err, "the file ends inside a block header")
	}
	end := len(r.headBuf) - sumSize
	if sum(r.headBuf[:end]) != le.Uint32(r.headBuf[end:]) {
		return r.fail(nil, "a block header is damaged")
	}
	h := parseBlockHead(r.headBuf)
	if h.size == 0 || h.count == 0 || h.raw > maxRaw || h.raw != h.count*h.size || h.stored > h.raw ||
		h.kind.Valid() && h.size != h.kind.Size() {
		return r.fail(nil, "a block header does not add up")
	}
	r.next, r.has = h, true
	return true
}

// grow makes b n bytes long, keeping what it holds.
func grow(b []byte, n int) []byte {
	if n <= cap(b) {
		return b[:n]
	}
	return append(make([]byte, 0, n), b...)[:n]
}

// readBlock reads the data of r.next into b. It is false when the file ends.
func (r *Reader) readBlock(b *batch) bool {
	h := &r.next
	r.data = grow(r.data, h.stored)
	if _, err := io.ReadFull(r.in, r.data); err != nil {
		return r.fail(err, "the file ends inside a block")
	}
	whole := int64(len(r.headBuf) + h.stored)
	r.off += whole
	s := &r.stats[h.kind]
	s.Blocks++
	s.Stored += whole
	s.Raw += int64(h.raw)
	if !h.kind.Valid() {
		s.Records += int64(h.count)
		r.total.Unknown += int64(h.count)
		return true
	}
	if !r.unpack(h, b) {
		r.total.Corrupt++
		return true
	}
	s.Records += int64(h.count)
	for off := 0; off < h.raw; off += h.size {
		r.o.add(b.head(h.kind, off), b)
	}
	b.left += h.count
	return true
}

// unpack turns r.data into records in b, false when they are not sound.
func (r *Reader) unpack(h *blockHead, b *batch) bool {
	if sum(r.data) != h.sum {
		return false
	}
	dst := b.bytes(h.kind, h.raw)
	switch h.codec {
	case codecPlain:
		if h.stored != h.raw {
			return false
		}
		copy(dst, r.data)
	case codecS2:
		if n, err := s2.DecodedLen(r.data); err != nil || n != h.raw {
			return false
		}
		r.raw = grow(r.raw, h.raw)
		if _, err := s2.Decode(r.raw, r.data); err != nil {
			return false
		}
		restore(dst, r.raw, h.size)
	default:
		return false
	}
	for off := 0; off < len(dst); off += h.size {
		if dst[off] != byte(h.kind) {
			return false
		}
	}
	return true
}

// readFooter reads the rest of the file. It is always false.
func (r *Reader) readFooter() bool {
	var p [footSize]byte
	if _, err := io.ReadFull(r.in, p[:]); err != nil {
		return r.fail(err, "the file ends inside its footer")
	}
	n := le.Uint32(p[4:])
	if sum(p[:12]) != le.Uint32(p[12:]) || n > maxJSON {
		return r.fail(nil, "the footer is damaged")
	}
	js, err := readN(r.in, int64(n)+int64(len(endMarker)))
	if err != nil {
		return r.fail(err, "the file ends inside its footer")
	}
	f := new(Footer)
	if string(js[n:]) != endMarker || sum(js[:n]) != le.Uint32(p[8:]) || json.Unmarshal(js[:n], f) != nil {
		return r.fail(nil, "the footer is damaged")
	}
	r.off += footSize + int64(len(js))
	r.footer, r.end = f, true
	_, err = r.in.Peek(1)
	r.total.Trailing = err == nil
	return false
}

// readN reads n bytes, asking for memory only as they come.
func readN(in io.Reader, n int64) ([]byte, error) {
	var b bytes.Buffer
	m, err := io.CopyN(&b, in, n)
	if err == nil && m < n {
		err = io.ErrUnexpectedEOF
	}
	return b.Bytes(), err
}

func (r *Reader) readHeader() error {
	p, err := r.in.Peek(prefixSize)
	if len(p) < len(fileMagic) || string(p[:len(fileMagic)]) != fileMagic {
		if err != nil && err != io.EOF {
			return err
		}
		return fmt.Errorf("%w: %s; name a file that txtrace record or txtrace run wrote", ErrForeign, guess(p))
	}
	if len(p) < 12 {
		return fmt.Errorf("%w: the file ends inside it; record again", ErrHeader)
	}
	if v := le.Uint32(p[8:]); v != Version {
		if v > Version {
			return fmt.Errorf("%w: file version %d, this build reads %d; use the txtrace that wrote it", ErrNewer, v, Version)
		}
		return fmt.Errorf("%w: file version %d is not valid, so the file is damaged; record again", ErrHeader, v)
	}
	if len(p) < prefixSize {
		return fmt.Errorf("%w: the file ends inside it; record again", ErrHeader)
	}
	n := le.Uint32(p[12:])
	if sum(p[:20]) != le.Uint32(p[20:]) || n > maxJSON {
		return fmt.Errorf("%w: its checksum is wrong, so the file is damaged; record again", ErrHeader)
	}
	want := le.Uint32(p[16:])
	if _, err := r.in.Discard(prefixSize); err != nil {
		return err
	}
	js, err := readN(r.in, int64(n))
	if err == io.EOF || err == io.ErrUnexpectedEOF {
		return fmt.Errorf("%w: the file ends inside it; record again", ErrHeader)
	}
	if err != nil {
		return err
	}
	if sum(js) != want {
		return fmt.Errorf("%w: its checksum is wrong, so the file is damaged; record again", ErrHeader)
	}
	if err := json.Unmarshal(js, &r.header); err != nil {
		return fmt.Errorf("%w: %v; record again", ErrHeader, err)
	}
	r.off = prefixSize + int64(n)
	return checkTables(r.header.Tables)
}

// guess says what a file that is no capture seems to be.
func guess(p []byte) string {
	if len(p) == 0 {
		return "the file is empty"
	}
	for _, f := range []struct{ magic, name string }{
		{"PERFILE2", "a perf.data file"},
		{"\x17\x08\x44tracing", "a trace-cmd trace.dat file"},
		{"\x0a\x0d\x0d\x0a", "a pcapng file"},
		{"\xd4\xc3\xb2\xa1", "a pcap file"},
		{"\xa1\xb2\xc3\xd4", "a pcap file"},
		{"\x4d\x3c\xb2\xa1", "a pcap file"},
		{"\x1f\x8b", "gzip data: unpack it first"},
		{"\x28\xb5\x2f\xfd", "zstd data: unpack it first"},
		{"\xfd7zXZ", "xz data: unpack it first"},
		{"\x7fELF", "an ELF file"},
		{"{", "JSON text"},
	} {
		if bytes.HasPrefix(p, []byte(f.magic)) {
			return "it begins like " + f.name
		}
	}
	return "its first bytes are not a capture's"
}

// checkTables compares the file's record layout with this build's.
func checkTables(ts []event.Table) error {
	byKind := make(map[event.Kind]event.Table)
	for _, t := range ts {
		byKind[t.Kind] = t
	}
	for _, want := range event.Tables() {
		got, ok := byKind[want.Kind]
		if !ok {
			continue // no such records then
		}
		if !sameTable(got, want) {
			return fmt.Errorf("%w: %s records differ from this build's; use the txtrace that wrote it", ErrTables, want.Name)
		}
	}
	return nil
}

func sameTable(a, b event.Table) bool {
	if a.Name != b.Name || a.Size != b.Size || len(a.Fields) != len(b.Fields) {
		return false
	}
	for i := range a.Fields {
		if a.Fields[i] != b.Fields[i] {
			return false
		}
	}
	return true
}

// Stats of the reader so far.
func (r *Reader) Stats() ReaderStats {
	s := r.total
	s.Bytes, s.Late = r.off, r.o.late
	for k := range r.stats {
		if ks := r.stats[k]; ks.Blocks > 0 {
			ks.Kind = event.Kind(k)
			s.Kinds = append(s.Kinds, ks)
		}
	}
	return s
}
