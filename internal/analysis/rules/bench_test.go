// SPDX-License-Identifier: Apache-2.0

package rules

import (
	"io"
	"runtime"
	"syscall"
	"testing"
	"time"

	"github.com/txtrace/txtrace/internal/analysis"
	"github.com/txtrace/txtrace/internal/capture"
	"github.com/txtrace/txtrace/internal/event"
)

// loaded is the trace of a busy queue, as 6.1 with e1000e shows it under small
// UDP packets: the quota ends half of the runs, the ring fills now and then, and
// a completion comes for each run.
func loaded(rounds int) *trace {
	t := newTrace()
	for i := range rounds {
		r := t.run()
		r.dequeue(65, 142, 300)
		s := sent{}
		if i%4 == 0 {
			s = sent{n: 65, rest: 15, stop: event.DrvXoff}
		}
		r.send(s)
		r.end()
		t.state &^= event.DrvXoff
		t.complete(t.dql.InFlight())
		t.drain(64)
		r = t.run()
		r.dequeue(20, 142, 0)
		r.send(sent{})
		r.end()
		t.complete(t.dql.InFlight())
	}
	return t
}

// detailed is a trace of what is recorded on demand: choices of a queue, lists of
// received packets, and sends in which each call of the driver has a record.
func detailed(rounds int) *trace {
	t := newTrace()
	for range rounds {
		t.pick(nil)
		t.receiving()
		t.list3()
		t.list3()
	}
	return t
}

// endless repeats a trace, shifted in time, sequence and bytes.
type endless struct {
	t     *trace
	left  int // records to come
	i     int
	loop  uint32
	span  uint64
	bytes uint32
	item  capture.Item

	run      event.Run
	dequeue  event.Dequeue
	direct   event.Direct
	complete event.Complete
	packet   event.Packet
	pick     event.Pick
	list     event.GRO
}

func newEndless(t *trace, records int) *endless {
	return &endless{t: t, left: records, span: t.now - t.header.Clock.Monotonic, bytes: t.dql.NumQueued}
}

func (e *endless) Header() *capture.Header    { return &e.t.header }
func (e *endless) Footer() *capture.Footer    { return nil }
func (e *endless) Cut() *capture.CutInfo      { return &capture.CutInfo{Reason: "it has no end"} }
func (e *endless) Stats() capture.ReaderStats { return capture.ReaderStats{} }

func (e *endless) Next() (capture.Item, error) {
	if e.left == 0 {
		return capture.Item{}, io.EOF
	}
	e.left--
	if e.i == len(e.t.recs) {
		e.i, e.loop = 1, e.loop+1 // the first is the notice that recording began
	}
	e.item.Record = e.shift(e.t.recs[e.i])
	e.i++
	return e.item, nil
}

func (e *endless) shift(r event.Any) event.Any {
	by := e.loop * e.bytes
	switch r := r.(type) {
	case *event.Run:
		e.run = *r
		e.run.NumQueuedBegin += by
		e.run.NumComplBegin += by
		e.run.AdjLimitBegin += by
		return e.head(&e.run)
	case *event.Dequeue:
		e.dequeue = *r
		e.dequeue.NumQueued += by
		e.dequeue.NumCompl += by
		e.dequeue.AdjLimit += by
		return e.head(&e.dequeue)
	case *event.Direct:
		e.direct = *r
		h := &e.direct.Hand
		h.NumQueuedBegin, h.NumComplBegin, h.AdjLimitBegin = h.NumQueuedBegin+by, h.NumComplBegin+by, h.AdjLimitBegin+by
		h.NumQueuedEnd, h.NumComplEnd, h.AdjLimitEnd = h.NumQueuedEnd+by, h.NumComplEnd+by, h.AdjLimitEnd+by
		return e.head(&e.direct)
	case *event.Complete:
		e.complete = *r
		c := &e.complete
		c.NumQueued, c.NumCompleted, c.AdjLimit, c.PrevNumQueued = c.NumQueued+by, c.NumCompleted+by, c.AdjLimit+by, c.PrevNumQueued+by
		c.Jiffies, c.SlackStartTime = c.Jiffies+e.jiffies(), c.SlackStartTime+e.jiffies()
		return e.head(c)
	case *event.Packet:
		e.packet = *r
		p := &e.packet
		p.NumQueuedBegin, p.NumQueuedEnd = p.NumQueuedBegin+by, p.NumQueuedEnd+by
		p.JiffiesBegin, p.JiffiesEnd, p.TransStart = p.JiffiesBegin+e.jiffies(), p.JiffiesEnd+e.jiffies(), p.TransStart+e.jiffies()
		return e.head(p)
	case *event.Pick:
		e.pick = *r
		p := &e.pick
		p.JiffiesBegin, p.JiffiesEnd = p.JiffiesBegin+e.jiffies(), p.JiffiesEnd+e.jiffies()
		p.Birth, p.Since = p.Birth+uint64(e.loop)*e.span, p.Since+uint64(e.loop)*e.span
		return e.head(p)
	case *event.GRO:
		e.list = *r
		return e.head(&e.list)
	}
	return r
}

// jiffies that passed in the rounds before.
func (e *endless) jiffies() uint64 { return uint64(e.loop) * e.span / nsPerJiffy }

func (e *endless) head(r event.Any) event.Any {
	h := r.Head()
	h.Time += uint64(e.loop) * e.span
	h.Seq += e.loop * uint32(len(e.t.recs)-1)
	if h.Parent != 0 {
		h.Parent += uint32(uint64(e.loop) * e.span)
	}
	return r
}

func analyze(b *testing.B, t *trace, opt analysis.Options, records int) {
	b.ReportAllocs()
	b.ResetTimer()
	begin := cpuTime()
	for range b.N {
		if _, err := analysis.Analyze(newEndless(t, records), opt); err != nil {
			b.Fatal(err)
		}
	}
	used := cpuTime() - begin
	b.ReportMetric(float64(records)*float64(b.N)/b.Elapsed().Seconds(), "records/s")
	b.ReportMetric(float64(records)*float64(b.N)/used.Seconds(), "records/cpu-s")
}

// cpuTime is what this process used so far, the garbage collector included: on
// a shared machine wall time says little.
func cpuTime() time.Duration {
	var u syscall.Rusage
	_ = syscall.Getrusage(syscall.RUSAGE_SELF, &u)
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// One op is 100000 records: rebuild and all rules.
func BenchmarkRules(b *testing.B) {
	analyze(b, loaded(2000), analysis.Options{Rules: All(), NoReport: true}, 100_000)
}

// The same, where all that can be recorded is.
func BenchmarkDetail(b *testing.B) {
	analyze(b, detailed(2000), analysis.Options{Rules: All(), NoReport: true}, 100_000)
}

// The rebuild and the report's numbers, no rules.
func BenchmarkReport(b *testing.B) { analyze(b, loaded(2000), analysis.Options{}, 100_000) }

// Rebuild, all rules and the report's numbers.
func BenchmarkAll(b *testing.B) { analyze(b, loaded(2000), analysis.Options{Rules: All()}, 100_000) }

// One op is a record: heap stays flat however many there are.
func BenchmarkFlat(b *testing.B) {
	t := loaded(2000)
	var before, after runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&before)
	b.ReportAllocs()
	b.ResetTimer()
	res, err := analysis.Analyze(newEndless(t, b.N), analysis.Options{Rules: All()})
	if err != nil {
		b.Fatal(err)
	}
	b.StopTimer()
	runtime.GC()
	runtime.ReadMemStats(&after)
	b.ReportMetric(float64(after.HeapAlloc)-float64(before.HeapAlloc), "heap-bytes")
	runtime.KeepAlive(res)
}

// The endless traces are as legal as their first round.
func TestEndless(t *testing.T) {
	for name, tr := range map[string]*trace{"loaded": loaded(50), "detailed": detailed(50)} {
		res, err := analysis.Analyze(newEndless(tr, 5*len(tr.recs)), analysis.Options{Rules: All()})
		if err != nil {
			t.Fatal(err)
		}
		for _, r := range res.Verify.Rules {
			if r.Verdict == analysis.VerdictFail || r.Verdict == analysis.VerdictSuspect {
				t.Errorf("%s: %s: %s %s", name, r.ID, r.Verdict, r.Evidence[0].Says)
			}
		}
	}
}
