// SPDX-License-Identifier: Apache-2.0

package probes

import (
	"encoding/binary"

	"github.com/vishvananda/netlink/nl"
	"golang.org/x/sys/unix"

	"github.com/txtrace/txtrace/internal/capture"
)

// qdiscCounters dumps the qdiscs of the thread's network namespace, by
// ifindex. netlink.QdiscList lets the old TCA_STATS win over TCA_STATS2 and so
// loses the requeues, hence the attributes are read here.
func qdiscCounters() (map[uint32][]capture.QdiscCounters, error) {
	req := nl.NewNetlinkRequest(unix.RTM_GETQDISC, unix.NLM_F_DUMP)
	req.AddData(&nl.TcMsg{Family: nl.FAMILY_ALL})
	msgs, err := req.Execute(unix.NETLINK_ROUTE, unix.RTM_NEWQDISC)
	if err != nil {
		return nil, err
	}
	all := map[uint32][]capture.QdiscCounters{}
	for _, m := range msgs {
		q, ifindex, err := qdisc(m)
		if err != nil {
			return nil, err
		}
		all[ifindex] = append(all[ifindex], q)
	}
	return all, nil
}

// qdisc reads the body of a message about one, and the device's ifindex.
func qdisc(m []byte) (q capture.QdiscCounters, ifindex uint32, err error) {
	if len(m) < nl.SizeofTcMsg {
		return q, 0, unix.EINVAL
	}
	tc := nl.DeserializeTcMsg(m)
	attrs, err := nl.ParseRouteAttr(m[tc.Len():])
	if err != nil {
		return q, 0, err
	}
	q.Qdisc = capture.Qdisc{Handle: tc.Handle, Parent: tc.Parent}
	for _, a := range attrs {
		switch a.Attr.Type {
		case nl.TCA_KIND:
			q.Kind = unix.ByteSliceToString(a.Value)
		case nl.TCA_STATS2:
			addStats(&q, a.Value)
		}
	}
	return q, uint32(tc.Ifindex), nil
}

// addStats reads the nested attributes of TCA_STATS2 (linux/gen_stats.h).
func addStats(q *capture.QdiscCounters, b []byte) {
	attrs, err := nl.ParseRouteAttr(b)
	if err != nil {
		return
	}
	le := binary.NativeEndian
	for _, a := range attrs {
		v := a.Value
		switch {
		case a.Attr.Type == nl.TCA_STATS_BASIC && len(v) >= 12: // bytes, packets
			q.Bytes = le.Uint64(v)
			if q.Packets>>32 == 0 {
				q.Packets = uint64(le.Uint32(v[8:]))
			}
		case a.Attr.Type == nl.TCA_STATS_PKT64 && len(v) >= 8: // only where packets is too small
			q.Packets = le.Uint64(v)
		case a.Attr.Type == nl.TCA_STATS_QUEUE && len(v) >= 20: // qlen, backlog, drops, requeues, overlimits
			q.Qlen, q.Backlog = le.Uint32(v), le.Uint32(v[4:])
			q.Drops, q.Requeues, q.Overlimits = uint64(le.Uint32(v[8:])), uint64(le.Uint32(v[12:])), uint64(le.Uint32(v[16:]))
		}
	}
}
