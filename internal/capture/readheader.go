// SPDX-License-Identifier: Apache-2.0

package capture

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"slices"

	"github.com/txtrace/txtrace/internal/event"
)

const prefixSize = len(fileMagic) + 4 + leadSize // all before the header's sheet

// readHeader reads up to the first block.
func (r *Reader) readHeader() error {
	p, err := r.in.Peek(prefixSize)
	if err != nil && err != io.EOF {
		return err
	}
	if len(p) < len(fileMagic) || string(p[:len(fileMagic)]) != fileMagic {
		return fmt.Errorf("%w: %s; name a file that txtrace record or txtrace run wrote", ErrForeign, guess(p))
	}
	if len(p) < prefixSize {
		return fmt.Errorf("%w: it ends before its header does; record again", ErrHeader)
	}
	switch v := le.Uint32(p[len(fileMagic):]); {
	case v > Version:
		return fmt.Errorf("%w: its file version is %d, the newest known here is %d; use a txtrace as new as the one that wrote it", ErrNewer, v, Version)
	case v != Version:
		return fmt.Errorf("%w: there is no file version %d, so it is damaged; record again", ErrHeader, v)
	}
	lead, ok := parseLead(p)
	if !ok {
		return fmt.Errorf("%w: its checksum is wrong, so it is damaged; record again", ErrHeader)
	}
	if _, err := r.in.Discard(prefixSize); err != nil {
		return err
	}
	b, err := readN(r.in, lead.stored)
	switch {
	case errors.Is(err, io.EOF):
		return fmt.Errorf("%w: it ends before its header does; record again", ErrHeader)
	case err != nil:
		return err
	}
	if ok, err := lead.decode(b, &r.header); err != nil {
		return fmt.Errorf("%w: %v", ErrHeader, err)
	} else if !ok {
		return fmt.Errorf("%w: its checksum is wrong, so it is damaged; record again", ErrHeader)
	}
	r.off = int64(prefixSize + len(b))
	for _, t := range r.header.Tables {
		r.told[t.Kind] = true
	}
	if err := checkTables(r.header.Tables); err != nil {
		return err
	}
	return checkPacking(&r.header)
}

// foreign are beginnings of files that people have at hand.
var foreign = []struct{ magic, what string }{
	{"PERFILE2", "begins like a perf.data file"},
	{"\x17\x08\x44tracing", "begins like a trace-cmd trace.dat file"},
	{"\x0a\x0d\x0d\x0a", "begins like a pcapng file"},
	{"\xd4\xc3\xb2\xa1", "begins like a pcap file"},
	{"\xa1\xb2\xc3\xd4", "begins like a pcap file"},
	{"\x4d\x3c\xb2\xa1", "begins like a pcap file"},
	{"\x1f\x8b", "is compressed by gzip"},
	{"\x28\xb5\x2f\xfd", "is compressed by zstd"},
	{"\xfd7zXZ", "is compressed by xz"},
	{"{", "begins like JSON"},
}

// guess says what a file that is no capture seems to be.
func guess(p []byte) string {
	if len(p) == 0 {
		return "it is empty"
	}
	for _, f := range foreign {
		if bytes.HasPrefix(p, []byte(f.magic)) {
			return "it " + f.what
		}
	}
	return "it begins with other bytes than a capture"
}

// checkTables compares a file's record layout with this build's. Kinds that
// either side does not know are no matter: their records are skipped, or do
// not occur.
func checkTables(ts []event.Table) error {
	own := event.Tables()
	for _, t := range ts {
		i := slices.IndexFunc(own, func(o event.Table) bool { return o.Kind == t.Kind })
		if i < 0 {
			continue
		}
		if o := own[i]; t.Name != o.Name || t.Size != o.Size || !slices.Equal(t.Fields, o.Fields) {
			return fmt.Errorf("%w: its %s records are not laid out like this build's; use the txtrace that wrote it", ErrTables, o.Name)
		}
	}
	return nil
}

// checkPacking compares how the kinds of a file are packed with how this build
// packs them.
func checkPacking(h *Header) error {
	for _, t := range h.Tables {
		if sum, ok := packings[t.Name]; ok && h.Packing[t.Name] != sum {
			return fmt.Errorf("%w: its %s records are packed otherwise than this build's; use the txtrace that wrote it", ErrTables, t.Name)
		}
	}
	return nil
}
