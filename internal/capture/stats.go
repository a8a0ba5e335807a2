// SPDX-License-Identifier: Apache-2.0

package capture

import "github.com/txtrace/txtrace/internal/event"

// KindStats counts one record kind.
type KindStats struct {
	Kind    event.Kind
	Blocks  int64
	Records int64
	Raw     int64 // bytes of the records
	Stored  int64 // bytes in the file, block headers included
	Dropped int64 // writer: records that the output did not take
}

// Stats says what a Writer wrote so far. Records and bytes of a group count
// once its first byte is handed to the output without an error.
type WriterStats struct {
	Kinds   []KindStats // kinds that occurred, in kind order
	Written int64       // bytes the output took
	Dropped int64       // records that could not be written
	Refused int64       // Append calls with bytes that are no record
}

// Stats says what a Reader met so far. All of it is final at io.EOF.
type ReaderStats struct {
	Kinds     []KindStats // kinds that occurred, unknown ones too, in kind order
	Bytes     int64       // bytes of the file read
	Groups    int64
	Unknown   int64 // records of kinds this build does not know, skipped
	Corrupt   int64 // blocks whose checksum or content was wrong, skipped
	Gaps      int64
	Lost      uint64 // records missing in the gaps
	Late      int64  // records that came after their place had been given up, or twice: skipped
	Unordered int64  // records delivered with a time before one already delivered for another CPU
	Trailing  bool   // bytes follow the end marker
}
