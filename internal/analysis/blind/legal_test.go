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
// the values, may tells.
type argument struct {
	places string // Kind.Field, * for any kind
	reason string
	may    func(m *mutation) bool
}

// truthy: the kernel's answer is yes or no.
func truthy(m *mutation) bool { return (m.before != 0) == (m.after != 0) }

// still: the change is one of bits that say nothing of what the qdisc is.
func still(m *mutation) bool { const kin = 0x10 | 0x20 | 0x100; return (m.before^m.after)&kin == 0 }

// empty: the record says that there was no hand-over in it.
func empty(m *mutation) bool {
	d, ok := m.tape.recs[m.index].(*event.Direct)
	return ok && d.Handovers == 0
}

// bypassed: the record is of a send that no other record tells of.
func bypassed(m *mutation) bool {
	d, ok := m.tape.recs[m.index].(*event.Direct)
	return ok && d.From == event.FromBypass
}

// unended: the run that the record is of has no record: recording ended first.
func unended(m *mutation) bool {
	h := m.tape.recs[m.index].Head()
	return !slices.ContainsFunc(m.tape.recs, func(r event.Any) bool {
		run, ok := r.(*event.Run)
		return ok && run.CPU == h.CPU && run.ID() == h.Parent
	})
}

// to says that the new value is v.
func to(v uint64) func(*mutation) bool {
	return func(m *mutation) bool { return m.after == v }
}

var arguments = []argument{
	{"Direct.Hand.*", "a hand-over that is said not to have been is not looked at", empty},
	{"Direct.QdiscFlags", "another qdisc", bypassed},
	{"Dequeue.Before Dequeue.Order Dequeue.QdiscFlags Direct.QdiscFlags", "recording ended before the run did, which would tell", unended},
	{"*.Hand.More", "the recorder may have had no way to read it", to(event.MoreUnknown)},
	{"*.Hand.Attempts", "the driver's calls may not have been seen", to(0)},
	{"*.Hand.DriverRC", "a driver may answer with any code below 15 for a packet that it took", func(m *mutation) bool { return int64(m.before) < 15 && int64(m.after) < 15 }},
	{"Direct.Validate", "the qdisc may have been reset, and this be another packet", func(m *mutation) bool { return m.before == 0 }},
	{"*.Hand.Uncharged", "a driver may drop what it takes, and charge nothing for it", nil},
	{"*.Hand.OwedAny", "BQL may have stopped the queue after any packet", nil},

	// Who, where and when.
	{"*.Pid", "another thread may have done it", nil},
	{"*.Context", "it may have been done in another context", nil},
	{"*.Depth *.Parent", "other spans may have been open around it", nil},
	{"*.Time *.Dur", "it may have been, begun or ended at another time (M7, M8 and M11 see one that contradicts the others)", nil},
	{"*.Txq *.Ifindex *.Netns", "it may be of another queue or device; what its own then lacks may not have been", nil},
	{"*.Flags", "a record may say of itself what makes it worth less as evidence, or not", nil},
	{"Run.Who Complete.Source Resume.Source", "another part of the kernel may have begun it, or looked", nil},
	{"*.Handle *.Qdisc", "another qdisc", nil},
	{"*.First *.Last *.Hand.First *.RestFirst *.Hand.RestFirst *.Sock *.Birth", "a packet or socket may have any address", nil},

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
	{"Run.TxWeight Complete.Limit Complete.MinLimit Complete.MaxLimit Complete.SlackHoldTime Throttle.LimitSysctl Throttle.TxDelay",
		"an administrator may write it", nil},
	{"Complete.LastObjCnt Complete.PrevLastObjCnt Complete.PrevNumQueued Complete.PrevOvlimit Complete.LowestSlack Complete.SlackStartTime Complete.NumCompleted",
		"a history of completions, resets or writes ends there (model.Explain finds one)", nil},
	{"Complete.Jiffies", "more or less time may have passed (M11 sees jiffies run back)", nil},
	{"Throttle.* Wfree.* Resume.*", "a socket may be so (T2 and T3 play the kernel's own rule on it)", nil},

	// How a send may go.
	{"Run.Empty", "a run may end with an empty dequeue, or not", func(m *mutation) bool { return m.after <= 1 }},
	{"*.Result *.Validate *.Hand.More", "an answer of yes or no, whatever the number", truthy},
	{"Direct.Handovers", "validation may drop the list; a hand-over of the same queue may be nested (netpoll)", func(m *mutation) bool { return m.after != 1 }},

	// The recorder's own.
	{"Notice.*", "the world may have changed so", nil},
	{"Ledger.*", "totals on the way; those that are added up are the footer's", nil},
	{"Quiet.*", "other plain sends may have been", nil},
	{"*.drop *.twice *.swap", "no recorder writes it: a number is taken when the record is made, so that what is missing leaves a gap (TestLoss), none comes twice and each has its place", nil},
}

// legal is the argument for a change, empty if there is none.
func legal(m *mutation) string {
	for i := range arguments {
		a := &arguments[i]
		for _, place := range strings.Fields(a.places) {
			kind, what, _ := strings.Cut(place, ".")
			if (kind == "*" || kind == m.kind) && (what == "*" || what == m.what || what == "Hand.*" && strings.HasPrefix(m.what, "Hand.")) && (a.may == nil || a.may(m)) {
				return a.reason
			}
		}
	}
	return ""
}

// No argument is for nothing.
func TestArguments(t *testing.T) {
	for _, a := range arguments {
		if a.reason == "" || a.places == "" {
			t.Errorf("%+v", a)
		}
	}
}
