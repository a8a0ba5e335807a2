// SPDX-License-Identifier: Apache-2.0

package analysis

import (
	"slices"

	"github.com/txtrace/txtrace/internal/capture"
	"github.com/txtrace/txtrace/internal/event"
)

// qdisc is what the header and the notices tell of a device's qdisc.
//
// Decision: what was sent counts for the qdisc that its own record names, by
// handle and, where it has it, kind. A notice comes later than the first batch
// of a new qdisc, and only names what records do not, and says which of the
// kernel's counters began at zero.
type qdisc struct {
	kind    string
	changes int // how often one of this handle was made or went, while recording
}

// holdsOthers are kinds whose packets all sit in qdiscs below, which have
// counters of their own.
func holdsOthers(kind string) bool { return kind == "mq" || kind == "mqprio" || kind == "noqueue" }

// qdisc takes a notice; an empty kind says that the qdisc is gone. Its last
// batches may come later.
func (d *Device) qdisc(n *event.Notice, kind string) {
	if holdsOthers(kind) {
		return
	}
	if d.qdiscs == nil {
		d.qdiscs = make(map[uint32]qdisc)
	}
	handle := uint32(n.After)
	q, ok := d.qdiscs[handle]
	if !ok && (kind == "" || len(d.qdiscs) >= maxQdiscs) {
		return
	}
	if kind != "" {
		q.kind = kind
	}
	q.changes++
	d.qdiscs[handle] = q
}

// maxQdiscs bounds the qdiscs of a device that are known by name.
const maxQdiscs = 1 << 12

// describeQdiscs takes those of the header.
func (d *Device) describeQdiscs(all []capture.Qdisc) {
	d.qdiscs = make(map[uint32]qdisc)
	for _, q := range all {
		if !holdsOthers(q.Kind) && len(d.qdiscs) < maxQdiscs {
			d.qdiscs[q.Handle] = qdisc{kind: q.Kind}
		}
	}
}

// qdiscSums are ours of what the kernel counts for the qdiscs of one queue, in
// the order in which they were met.
type qdiscSums []QdiscReport

// maxQdiscSums bounds the qdiscs of one queue; later ones count as the last.
const maxQdiscSums = 64

// of is the sums of a qdisc. One whose kind is not known yet is any of its
// handle, the last one first.
func (s *qdiscSums) of(handle uint32, kind string) *QdiscReport {
	for i := len(*s) - 1; i >= 0; i-- {
		q := &(*s)[i]
		if q.Handle != handle || q.Kind != kind && q.Kind != "" && kind != "" {
			continue
		}
		if q.Kind == "" {
			q.Kind = kind
		}
		return q
	}
	if len(*s) < maxQdiscSums {
		*s = append(*s, QdiscReport{Kind: kind, Handle: handle})
	}
	return &(*s)[len(*s)-1]
}

// MergeQdiscs sums up the qdiscs of two queues.
func MergeQdiscs(to, from []QdiscReport) []QdiscReport {
	all := qdiscSums(slices.Clone(to))
	for _, q := range from {
		of := all.of(q.Handle, q.Kind)
		of.Batches += q.Batches
		of.Packets += q.Packets
		of.Bytes += q.Bytes
		of.Requeues += q.Requeues
	}
	return all
}
