// SPDX-License-Identifier: Apache-2.0

// Package export writes the records of a capture for other tools.
//
// JSON Lines: one object per line, each with v and type. The first is meta, the
// capture's header; the last is summary, what is known of its end; between them
// are the records, each CPU's in their own order and the CPUs merged by time, and
// a line gap wherever records are missing. schema/export.json holds for every line.
//
// Parquet: a table for each kind of record, with the same fields and no others,
// and one of the gaps. Columns are of 32 or 64 bits.
//
// Decision: fields have the names, units and numbers of the capture's own tables
// (bpf/event.h, txtrace export --schema); addresses are strings in hex in JSON, since
// they exceed what JSON readers take for a whole number. Fields may be added to a
// v of 1, and not taken away or changed.
package export
