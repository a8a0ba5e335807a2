// SPDX-License-Identifier: Apache-2.0

package capture

import "github.com/txtrace/txtrace/internal/event"

// KindStats counts one record kind.
type KindStats struct {
	Kind    event.Kind
	Blocks  int64
	Records int64
	Raw     int64 // bytes of the records as BPF submitted them
	Stored  int64 // bytes in the file, block headers included
	Dropped int64 // writer: records that the output did not take
}

func (s *KindStats) add(t KindStats) {
	s.Blocks += t.Blocks
	s.Records += t.Records
	s.Raw += t.Raw
	s.Stored += t.Stored
	s.Dropped += t.Dropped
}

// kindStats lists the kinds that occurred, and the bytes of address lists.
func kindStats(all *[256]KindStats) (list []KindStats, shared int64) {
	for k := range all {
		s := all[k]
		s.Kind = event.Kind(k)
		if s.Kind != kindAddrs && (s.Blocks > 0 || s.Dropped > 0) {
			list = append(list, s)
		}
	}
	return list, all[kindAddrs].Stored
}

// WriterStats says what a Writer wrote so far. Records of a group count once
// the output took all of it.
type WriterStats struct {
	Kinds   []KindStats // kinds that occurred, in kind order
	Shared  int64       // bytes in the file of the groups' address lists
	Written int64       // bytes the output took, header and footer too
	Pending int64       // records of a group that the output took in part so far
	Dropped int64       // records that could not be written
	Refused int64       // Append calls with bytes that are no record
}

// ReaderStats says what a Reader met so far. All of it is final at io.EOF.
type ReaderStats struct {
	Kinds     []KindStats // kinds that occurred, unknown ones too, in kind order
	Shared    int64       // bytes in the file of the groups' address lists
	Bytes     int64       // bytes of the file that were good
	Groups    int64
	Unknown   int64 // records of kinds that this build does not know, or the header does not tell of, skipped
	Corrupt   int64 // blocks whose checksum or content was wrong, skipped
	Gaps      int64
	Lost      uint64 // records missing in the gaps
	Late      int64  // records that came after their place had been given up, or twice: skipped
	Unordered int64  // records delivered with a time before one already delivered of another CPU
}
