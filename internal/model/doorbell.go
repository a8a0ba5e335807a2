// SPDX-License-Identifier: Apache-2.0

package model

// More says what a driver is told with a packet: that more follow it. next says
// that one follows in the list, and segment that it is a segment of the same
// skb. Before bulking a list was never more than the segments of one skb (004:
// "nothing yet in qdisc layer sets xmit_more").
func More(doorbell Variant, next, segment bool) bool {
	return next && (segment || doorbell != DoorbellSegments)
}

// Rings says whether a driver must ring its doorbell for a packet, given what
// it was told and the queue's state after it (004; 3e59020abf0f).
func Rings(doorbell Variant, more bool, s QueueState) bool {
	mask := QueueDrv | QueueStack
	if doorbell == DoorbellDrvStop {
		mask = QueueDrv
	}
	return !more || s&mask != 0
}
