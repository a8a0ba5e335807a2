// SPDX-License-Identifier: Apache-2.0

package rules

import (
	"testing"

	"github.com/txtrace/txtrace/internal/analysis"
	"github.com/txtrace/txtrace/internal/event"
	"github.com/txtrace/txtrace/internal/model"
)

// Negative controls: what looks wrong to a naive rule and is legal.
var controls = map[string]func() *trace{
	"NC1 one packet although BQL allows none": func() *trace {
		t := newTrace()
		t.dql.NumQueued = t.dql.AdjLimit + 5000
		r := t.run()
		r.dequeue(1, 1514, 20)
		r.send(sent{})
		r.end()
		return t
	},
	"NC2 a train goes over the limit": func() *trace {
		t := newTrace()
		r := t.run()
		r.dequeue(1, 64_000, 0)
		r.send(sent{n: 45})
		r.end()
		r = t.run()
		r.dequeue(2, 1_500, 0) // 1500 in hand < the 1536 that are left
		r.send(sent{n: 54})
		r.end()
		return t
	},
	"NC3 nine packets of a shared qdisc": func() *trace {
		t := newTrace()
		t.shared()
		return t
	},
	"NC7 the same skb is sent twice": func() *trace {
		t := newTrace()
		r := t.run()
		r.dequeue(1, 1514, 0)
		r.send(sent{n: 1, rest: 1, busy: true})
		r.end()
		r = t.run()
		r.fromGSO(1514)
		r.send(sent{n: 1, rest: 1, busy: true})
		r.end()
		t.drain(1)
		return t
	},
	"NC8 counters wrap": func() *trace {
		t := newTrace()
		t.dql.NumQueued, t.dql.NumCompleted, t.dql.PrevNumQueued = 0xfffff000, 0xfffff000, 0xfffff000
		t.dql.AdjLimit = t.dql.NumCompleted + t.dql.Limit
		for range 5 {
			r := t.run()
			r.dequeue(20, 142, 0)
			r.send(sent{})
			r.end()
			t.complete(t.dql.InFlight())
		}
		return t
	},
	"NC9 a driver without BQL": func() *trace {
		t := newTrace()
		t.dummy()
		return t
	},
	"NC10 a reset leaves adj_limit": func() *trace {
		t := newTrace()
		r := t.run()
		r.dequeue(20, 142, 0)
		r.send(sent{})
		r.end()
		t.complete(1000)
		t.dql.Reset(model.DQLResetMin, t.jiffies)
		t.state = 0
		t.snapshot()
		t.dql.AdjLimit = 400_000 // as after many bytes
		r = t.run()
		r.dequeue(64, 5000, 0) // far more than any limit
		r.send(sent{})
		r.end()
		t.complete(5000)
		return t
	},
	"NC10 a reset leaves adj_limit negative": func() *trace {
		t := newTrace()
		t.dql.Reset(model.DQLResetMin, t.jiffies)
		t.dql.AdjLimit = 3330803028
		r := t.run()
		r.dequeue(1, 1514, 5)
		_, h := r.send(sent{})
		h.TxqStateEnd |= event.StackXoff // on the first packet
		r.end()
		return t
	},
	"NC11 STACK set while a completion makes room": func() *trace {
		t := newTrace()
		r := t.run()
		r.dequeue(20, 142, 0)
		_, h := r.send(sent{})
		h.TxqStateEnd |= event.StackXoff // to be cleared by the recheck, or by the completion
		h.NumComplEnd, h.AdjLimitEnd = h.NumComplEnd+500, h.AdjLimitEnd+500
		r.end()
		return t
	},
	"NC12 others charge the queue": func() *trace {
		t := newTrace()
		for range 3 {
			r := t.run()
			r.dequeue(20, 142, 0)
			r.send(sent{})
			t.dql.NumQueued += 9000 // pktgen
			r.dequeue(5, 142, 0)
			r.send(sent{})
			r.end()
			t.dql.NumQueued += 9000
		}
		return t
	},
	"NC15 pure ACKs were freed unseen": func() *trace {
		t := newTrace()
		e := t.throttle()
		e.WmemEnd = 2*e.Truesize - 40
		return t
	},
	"NC20 MISSED instead of a schedule": func() *trace {
		t := newTrace()
		t.kind, t.qflags = "pfifo_fast", event.QdiscOneTxQueue|event.QdiscNoLock|event.QdiscCPUStats
		r := t.run()
		r.dequeue(65, 142, 0)
		r.send(sent{})
		rec := r.end()
		rec.Rescheduled, rec.QdiscStateEnd = 0, event.QdiscStateMissed
		return t
	},
	"a completion in the bracket": func() *trace {
		t := newTrace()
		r := t.run()
		r.dequeue(30, 1514, 0)
		r.send(sent{})
		t.complete(40_000)
		r.dequeue(30, 1514, 0)
		r.send(sent{})
		r.end()
		return t
	},
	"DRV set between the test and the hand-over": func() *trace {
		t := newTrace()
		r := t.run()
		r.dequeue(5, 142, 0)
		_, h := r.send(sent{})
		h.TxqStateBegin |= event.DrvXoff // e1000e_down stops without the lock
		r.end()
		return t
	},
	"stopped and started again around the test": func() *trace {
		t := newTrace()
		r := t.run()
		r.dequeue(5, 142, 0)
		r.send(sent{stopped: true})
		r.end()
		t.drain(5)
		return t
	},
	"validation drops the whole list": func() *trace {
		t := newTrace()
		r := t.run()
		r.dequeue(5, 142, 0)
		d := &event.Direct{Qdisc: r.rec.Qdisc, QdiscFlags: t.qflags, Handle: r.rec.Handle, First: r.last.First, Packets: 5, Bytes: 5 * 142, GsoSegs: 5, PktLen: 5 * 142, Validate: 1, Result: 1, From: event.FromDequeue}
		d.Parent = r.parent()
		r.rec.Directs++
		t.put(d, t.now)
		r.end()
		return t
	},
	"a stacked device writes xmit_more": func() *trace {
		t := newTrace()
		h := t.alone(142, sent{n: 1})
		h.Flags, h.More = event.FlagNested, 1
		return t
	},
	"the qdisc is reset while something is parked": func() *trace {
		t := newTrace()
		r := t.run()
		r.dequeue(5, 142, 0)
		r.send(sent{n: 5, rest: 3, stop: event.DrvXoff})
		r.end()
		t.parked, t.state = nil, 0
		r = t.run()
		r.dequeue(5, 142, 0)
		r.send(sent{})
		r.end()
		return t
	},
	"an administrator writes limit": func() *trace {
		t := bulk(5, 20, 0)
		t.dql.NumQueued += 9000
		t.dql.Limit = 1 << 20
		t.complete(3000)
		t.dql.Limit = 77
		t.complete(3000)
		return t
	},
}

func TestControls(t *testing.T) {
	for name, build := range controls {
		for _, variant := range []string{"auto", "latest"} {
			for _, r := range build().analyze(t, variant, nil).Verify.Rules {
				if r.Verdict == analysis.VerdictFail {
					t.Errorf("%s: %s fails under %s: %s", name, r.ID, variant, r.Evidence[0].Says)
				}
			}
		}
	}
}
