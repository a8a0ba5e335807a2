// SPDX-License-Identifier: Apache-2.0

package blind

import (
	"slices"
	"strings"
	"testing"

	"github.com/txtrace/txtrace/internal/event"
)

// argument says of places why a change there that no rule catches is legal: a
// right kernel and its recorder may leave such a trace. Where that depends on
// the values, may tells (may_test.go).
type argument struct {
	places string // Kind.Field, * for any kind
	reason string
	may    func(m *mutation) bool
}

var arguments = []argument{
	{"Direct.QdiscFlags", "another qdisc", bypassed},
	{"Dequeue.Before Dequeue.Order Dequeue.Walked Dequeue.Qdisc Dequeue.QdiscFlags Direct.Qdisc Direct.QdiscFlags Direct.Handle Direct.From", "recording ended before the run did, which would tell", unended},
	{"*.Hand.More *.More", "the recorder may have had no way to read it", to(event.MoreUnknown)},
	{"*.Hand.DriverRC", "a driver may answer with any code below 15 for a packet that it took (M11 sees the last answer that is not the kernel's)", below15},
	{"Direct.Validate", "the qdisc may have been reset, and this be another packet", func(m *mutation) bool { return m.before == 0 }},
	{"*.Hand.Uncharged", "a driver may drop what it takes, and charge nothing for it", some},
	{"*.Hand.OwedAny", "BQL may have stopped the queue after any packet", stopping},

	// Who, where and when.
	{"*.Pid *.Context", "another thread, in another context, may have done it (M11 sees the parts of a run)", outside},
	{"*.Depth *.Parent", "other spans may have been open around it (M11 sees the parts of a run)", outside},
	{"*.Time *.Dur", "it may have been, begun or ended at another time (M7, M8 and M11 see one that contradicts the others)", nil},
	{"*.Txq *.Ifindex *.Netns", "it may be of another queue or device; what its own then lacks may not have been", nil},
	{"*.Flags", "a record may say of itself what makes it worth less as evidence", func(m *mutation) bool { return m.before&^m.after == 0 }},
	{"*.Flags", "the record is not one that is judged by them, or has nothing that they put in doubt", nil},
	{"Run.Who", "another part of the kernel may have begun it", upTo(event.WhoNetTxAction)},
	{"Complete.Source", "another program may have looked", upTo(event.SourceXmit)},
	{"Resume.Source", "the other one may have handled it", upTo(event.ResumeRelease)},
	{"Run.Handle Direct.Handle Quiet.Handle", "another qdisc", nil},
	{"Direct.Qdisc", "another qdisc", bypassed},
	{"Run.Qdisc", "another qdisc: nothing that it did was recorded", childless},
	{"Direct.Validate", "gso_skb may have been filled by another CPU, whose clock hides which was first", contended},
	{"Sojourn.Qdisc Enqueue.Qdisc Schedule.Qdisc Schedule.Handle Schedule.QdiscFlags Sample.Qdisc Sample.Handle", "another qdisc", nil},
	{"*.First *.Last *.Hand.First *.RestFirst *.Hand.RestFirst *.Sock *.Birth", "a packet or socket may have any address", nil},
	{"Packet.Skb", "a packet may have any address, but the first of a list that is told of", notFirst},

	// What others change at any time.
	{"*.NumQueued *.NumCompl *.AdjLimit *.NumQueuedBegin *.NumQueuedEnd *.NumComplBegin *.NumComplEnd *.AdjLimitBegin *.AdjLimitEnd " +
		"*.Hand.NumComplBegin *.Hand.NumComplEnd *.Hand.AdjLimitBegin *.Hand.AdjLimitEnd *.Hand.Foreign",
		"completions, senders past the qdisc and resets move BQL's counters at any time", nil},
	{"*.TxqState *.TxqStateBegin *.TxqStateEnd *.Hand.TxqStateBegin *.Hand.TxqStateEnd *.Hand.TxqStateLast",
		"drivers and completions on other CPUs stop and start a queue at any time", nil},
	{"*.QdiscState *.QdiscStateBegin *.QdiscStateEnd Run.Rescheduled", "whoever wants a qdisc run schedules it, at any time", nil},
	{"*.Qlen *.QlenBegin *.QlenEnd *.GsoQlen *.GsoQlenBegin *.GsoQlenEnd *.BadQlen *.BadQlenEnd",
		"others enqueue, and a qdisc drops or is emptied, at any time", nil},
	{"*.QdiscFlags", "bits of a qdisc that no rule goes by", still},

	// What packets, sockets and administrators may be.
	{"*.Bytes *.FirstLen *.LastLen *.PktLen *.GsoSegs *.Walked *.Packets *.Hand.Bytes",
		"other packets (M11 sees it where two records tell of the same)", nil},
	{"Packet.Len Packet.Segs Packet.RC Packet.NumQueuedBegin Packet.NumQueuedEnd",
		"another packet, of a hand-over that no other record tells of or that is told of in part", untold},
	{"Packet.Len Packet.Segs", "another packet, of a list that was left in part or came merged", nil},
	{"Packet.RC", "a driver may answer with any code below 15 for a packet that it took", below15},
	{"Packet.JiffiesBegin Packet.JiffiesEnd Packet.TransStart", "the call may have taken longer, or the tick have come at another time in it", func(m *mutation) bool { return inCall(m) }},
	{"Packet.TransStart Packet.JiffiesBegin Packet.JiffiesEnd", "a packet that the driver did not take, or a driver that keeps the time itself", func(m *mutation) bool { return !timed(m) }},
	{"Run.TxWeight Complete.Limit Complete.MinLimit Complete.MaxLimit Complete.SlackHoldTime Throttle.LimitSysctl Throttle.TxDelay GRO.Batch",
		"an administrator may write it", nil},
	{"Complete.LastObjCnt Complete.PrevLastObjCnt Complete.PrevNumQueued Complete.PrevOvlimit Complete.LowestSlack Complete.SlackStartTime Complete.NumCompleted",
		"a history of completions, resets or writes ends there (model.Explain finds one)", nil},
	{"Complete.Jiffies", "more or less time may have passed (M11 sees jiffies run back)", nil},
	{"Throttle.PacingRate Throttle.PacingStatus Throttle.PacingShift Throttle.Truesize Throttle.Rtx Throttle.Factor Throttle.WmemBegin Throttle.WmemEnd Throttle.Freed Throttle.QueueEmpty Throttle.Overlap Throttle.TSQBegin Throttle.TSQEnd",
		"a socket may be so: the model holds it back, too, or a free was under way", nil},
	{"Wfree.WmemBegin Wfree.WmemEnd Wfree.Truesize Wfree.Ksoftirqd Wfree.Overlap Wfree.TSQBegin Wfree.TSQEnd Resume.Wmem Resume.TSQ",
		"a socket may be so: the model leaves it the same flags, or another free was under way", nil},
	{"Pick.*", "the model gives that queue for it, too", possiblePick},
	{"Pick.*", "what changes in a device, its maps or a socket meanwhile leaves the choice in doubt", doubtful},
	{"Picks.*", "as many may have been chosen so", nil},
	{"Transmit.PacingRate Transmit.PacingStatus Transmit.PacingShift Transmit.Truesize Transmit.LimitSysctl Transmit.TxDelay Transmit.Rtx Transmit.Wmem Transmit.Sending",
		"a socket may be so: the model lets it send, and T7 does not add up what it has below it, or within the size of acknowledgements", nil},
	{"Transmit.Before Transmit.Sent Transmit.Freed", "what a socket charged that is not added up, or within the size of acknowledgements", unsummed},
	{"Enqueue.QdiscFlags", "another qdisc, which counts its enqueues or not, too", nil},
	{"Schedule.Waiting", "other qdiscs may be on the list", nil},
	{"Schedule.InAction", "net_tx_action may have been under way", upTo(1)},
	{"Schedule.Held", "somebody may have had the qdisc", nil},
	{"Sample.*", "a queue may be so at any moment: rules hold looks that are seconds apart to each other", nil},
	{"Delivery.Followed", "others of the list may be of flows that went up before", nil},
	{"Delivery.Skbs Delivery.Passed", "packets may have been put off (timestamps) or given to other CPUs (RPS)", nil},
	{"GRO.NAPI GRO.NapiID GRO.RxQueue Delivery.NAPI", "another NAPI", nil},
	{"GRO.Skbs GRO.Segs GRO.LastSegs GRO.RxCount", "the model lets that list go up, too", possibleList},
	{"GRO.Within", "a driver may be done or not (M11 ties the poll to what it began with)", nil},
	{"Sojourn.*", "a packet may wait for any time, and of the stamps any number be lost", nil},

	{"*.Hand.NumQueuedEnd", "BQL may have been reset meanwhile", to(0)},

	// The lives of packets.
	{"Packet.Order Packet.Turn Packet.Sender Packet.Tries Packet.Life Packet.Priority",
		"the capture does not follow packets from their senders to their ends", unfollowed},
	{"Enqueue.Sender Enqueue.Turn Enqueue.Skb Enqueue.Order", "a lockless qdisc, or no driver was seen to be called with what went in", unsent},
	{"Free.Sender Free.Turn Free.Skb", "the end of one that was sent anew by a device below, or never got there; the other lives on (M6 sees what has its address next)", nil},
	{"Free.Tries Free.Life", "another call may have been under way, or none was told of", nil},
	{"Free.How Free.Defer Free.Burst", "it may have ended so", nil},
	{"Free.TCP", "the packet may be one of TCP or not", upTo(1)},
	{"Packet.Sender Packet.Turn", "another one, of which neither an enqueue nor an earlier call is told", unqueued},
	{"Packet.Order", "no enqueue is told of on its queue", unqueued},
	{"Packet.Order", "none is known of a packet that came to its queue from another", to(0)},
	{"Packet.Tries", "no earlier call with it is told of, nor its end", nil},
	{"Packet.Life", "its users and its socket may be so", nil},
	{"Packet.Priority", "a packet may have any priority", nil},

	// How a send may go.
	{"Run.Empty", "a run may end with an empty dequeue, or not", upTo(1)},
	{"*.Result *.Validate *.Hand.More *.More", "an answer of yes or no, whatever the number", truthy},
	{"Packet.More", "a hand-over that no other record tells of", untold},
	{"Direct.Handovers", "a hand-over of the same queue may be nested (netpoll)", func(m *mutation) bool { return m.after > 1 }},

	// The recorder's own.
	{"Notice.*", "the world may have changed so", nil},
	{"Ledger.*", "totals on the way, below those at the end", nil},
	{"Quiet.*", "other plain sends may have been", nil},
	{"*.drop", "what the recorder itself would have told may not have been", own},
	{"*.drop", "a CPU's only record: a last number of 0 may mean that none was taken", only},
	{"*.twice", "another like it may have been: the ledger may be read before the last record is made", nil},
	{"*.swap", "an interrupt, or another task, came between the clock and the number, or both have the same time", interrupted},
	{"*.swap", "the recorder's own are not numbered in the order of time", own},
}

// legal is the argument for a change, nil if there is none.
func legal(m *mutation) *argument {
	for i := range arguments {
		a := &arguments[i]
		for _, place := range strings.Fields(a.places) {
			kind, what, _ := strings.Cut(place, ".")
			if (kind == "*" || kind == m.kind) && (what == m.what || what == "*" && m.changed != nil) && (a.may == nil || a.may(m)) {
				return a
			}
		}
	}
	return nil
}

// No argument is for nothing, and none is said twice of a place.
func TestArguments(t *testing.T) {
	for i := range arguments {
		a := &arguments[i]
		if a.reason == "" || a.places == "" {
			t.Errorf("%+v", a)
		}
		for k := range arguments[:i] {
			b := &arguments[k]
			if b.may == nil && slices.ContainsFunc(strings.Fields(a.places), func(p string) bool { return slices.Contains(strings.Fields(b.places), p) }) {
				t.Errorf("%q is said after %q, which needs no more", a.reason, b.reason)
			}
		}
	}
}
