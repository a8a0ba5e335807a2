// SPDX-License-Identifier: Apache-2.0

// Package capture writes and reads the capture file (.txtrace): the records as
// the BPF programs submitted them, with what is known when recording begins
// (Header) and when it ends (Footer). Both sides work on streams, in constant
// memory. A reader trusts no byte of a file.
//
// # The file, version 1
//
// All numbers are little-endian, all checksums CRC-32C (Castagnoli).
//
//	file   = header block* footer
//	header = 89 "TXTRC" 0d 0a, version u32 (1), sheet of the JSON of Header
//	footer = "TF", sheet of the JSON of Footer, "TxEnd" 0d 0a 1a
//	sheet  = raw length u32, stored length u32, checksum of the stored bytes u32,
//	         checksum of all of the header or footer up to here u32, stored bytes
//
// A sheet's stored bytes are the JSON itself when both lengths are equal, else
// s2. Its raw length is 16 MiB at most, and 255 times the stored length at
// most. A member of Header or Footer without omitempty must be there. A file
// without a whole footer is cut.
//
// # Blocks
//
// A block holds records of one kind. Its header is
//
//	"TB", length of what follows but the last checksum u16
//	kind u8 (0: an address list), codec u8 (0: packed, 1: and then s2, 2: and
//	  then zstd)
//	size of a record, group, count of records (at least 1), stored length
//	checksum of the stored bytes u32, held before they are unpacked
//	lowest Time, highest Time minus lowest
//	count of CPUs, and for each: CPU, lowest Seq, highest Seq minus lowest,
//	  modulo 2^32, in order of appearance
//	checksum of the header up to here u32
//
// in which numbers without a width are varints of 7 bits per byte, lowest
// first. The stored bytes follow. The raw length, count times size, is 64 KiB
// at most (address list: 128 KiB); what stored bytes unpack to, and they
// themselves, are not longer than that plus size / 4. Kinds a reader does not
// know are skipped and counted; every kind begins with an event.Header, so has
// 40 bytes or more, 1024 at most, and a multiple of 8.
//
// Decision: a group is all blocks that were open at one moment, closed
// together when one of them holds 64 KiB, when the records' times span 200 ms,
// or 200 ms after the first of them was seen. All of a group left the ring
// before all of the next. That is what lets a reader merge the kinds again
// with a bounded window, and costs some 100 bytes for kinds that are rare. A
// group is one Write; its blocks have the same group number, and each kind
// occurs once.
//
// Decision: within a block records have no order that means anything. The
// writer sorts them by device and queue when there are several, because they
// pack better; the reader sorts them anyway.
//
// # Packing
//
// The design's "all first bytes, then all second bytes" holds for what is left
// when each field's prediction is taken off. Packed bytes are
//
//	two maps of size / 8 bytes, bit b of byte i for byte 8i+b of a record
//	for each bit set in the first map: that byte of the first record, the
//	  others are 0
//	for each bit set in the second, in the order of the columns: a plane, the
//	  bytes at that place of all other records' residues, count - 1 bytes
//
// A record is cut into columns. The order of columns is: first, word by word,
// those of opBase, then those with the default prediction in the order of
// their fields, then those of the table rules in its order, general rows and
// rows of the kind alike. A column's prediction is, for record i of a block,
//
//	opBase  the first record's bytes, the residue is their XOR: fields of one
//	        and two bytes, listed fields, those that rules name, and bytes of
//	        no field
//	opPrev  record i-1's value: other fields of eight bytes
//	opSum   record i-1's value: other fields of four bytes; or the sum of the
//	        terms that a rule names, the third of which is subtracted
//	opMean  packets times the mean length of record i-1, bytes / packets as
//	        whole numbers, packets taken as 1 when 0
//	opSeq   Seq of the last record before i with the same CPU modulo 64, or 0
//	opTime  Time of record i-1 plus Dur of record i
//
// modulo 2^32 or 2^64. Except for opBase the residue d is value minus
// prediction, stored as 2d, or as -2d-1 when d is negative: small ones have no
// high bytes.
//
// Decision: addresses (unit "addr", and Birth, a socket's other name) are
// listed: the group's first block, of kind 0, is the list of the different
// ones, packed like records of one 8-byte field, and records hold indexes into
// it. Entry 0 is 0. Addresses do not compress, each is met three times and more
// in a batch's life, and they were a third of the file and more.
//
// Decision: the rules follow what the fields mean: a list's count is what was
// walked, what was queued is what was queued before plus what was sent, the
// limit moves with what completed. They take a sixth off bulk-udp captures at
// full speed, and pay for themselves: planes of zeros are neither stored nor
// compressed. They belong to the format. The header has a checksum of each
// kind's columns (Packing), so a reader with other rules refuses the file; a
// change of what a prediction means is a new codec or a new version.
//
// Decision: s2's fastest encoder when records come fast, that is when a group
// fills within half its age limit: recording shares the CPU with the load, and
// zstd takes twice the instructions of all else. When they come slowly, the
// address list is sorted and blocks of 512 packed bytes or more go to zstd: a
// sixth less, where what each group and kind costs weighs most.
//
// # Reading
//
// Decision: each CPU's records come in order of Seq, always, and those of
// different CPUs in order of Time as far as one group tells: the reader is a
// group ahead of what it delivers. BPF programs can be interrupted and, in
// tasks, preempted between taking a number and submitting, so a record may
// follow, in the ring, records with higher numbers. The merge waits for a
// missing number for 8 further groups, which are 1.6 s, or at full speed some
// hundredths of a second; after that it is a Gap. A record that comes later
// still is dropped and counted (Late): it stays part of the loss that was
// reported, and no record is ever out of order. Records wait for 16 groups at
// most, so memory is bound whatever a file holds.
//
// Decision: a Gap is delivered where it begins in time, so that a consumer
// knows of it before anything it may have missed. At the end of the file the
// footer's ledger tells what was taken after the last record.
//
// Decision: damage. A block whose stored bytes are damaged is skipped by its
// length, which its header's own checksum vouches for; the records show as
// gaps, those of other kinds in the group are delivered. A damaged address
// list takes with it the blocks that use it. Where a header is damaged nothing
// after it can be trusted: the file counts as cut there. So damage takes
// records away and never makes one. A file that goes on after its end is none
// that a writer made, two in one for example: what follows is not read, and it
// counts as cut at its end, without its footer, which may tell of too little.
//
// Decision: disk full. A group that the output took in part is kept, and its
// rest is written before anything else at the next attempt. The file goes on
// whole when room comes back, without seeking, on a pipe too; what came due
// meanwhile is dropped, counted, and a gap by its numbers.
package capture
