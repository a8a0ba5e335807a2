// SPDX-License-Identifier: Apache-2.0

package sim

import (
	"bytes"
	"testing"
	"time"

	"github.com/txtrace/txtrace/internal/analysis"
	"github.com/txtrace/txtrace/internal/capture"
	"github.com/txtrace/txtrace/internal/event"
	"github.com/txtrace/txtrace/internal/model"
)

// shape analyzes a simulation.
func shape(t tb, b []byte) (*analysis.Shape, *analysis.Result) {
	t.Helper()
	return shapeOf(t, b, Netns, Ifindex)
}

// shapeOf analyzes a capture, and a device's first queue.
func shapeOf(t tb, b []byte, netns, ifindex uint32) (*analysis.Shape, *analysis.Result) {
	t.Helper()
	r, err := capture.Open(bytes.NewReader(b))
	if err != nil {
		t.Fatalf("%v", err)
	}
	s := &analysis.Shape{Netns: netns, Ifindex: ifindex}
	res, err := analysis.Analyze(r, analysis.Options{Watch: []analysis.Checks{s.Checks()}})
	if err != nil {
		t.Fatalf("%v", err)
	}
	return s, res
}

// recorded is what Read makes of a capture's busiest queue.
func recorded(t tb, b []byte) (*Recorded, *capture.Header) {
	t.Helper()
	r, err := capture.Open(bytes.NewReader(b))
	if err != nil {
		t.Fatalf("%v", err)
	}
	list, err := Read(r)
	if err != nil {
		t.Fatalf("%v", err)
	}
	if len(list) == 0 {
		t.Fatalf("no queue")
	}
	return list[0], r.Header()
}

// busy is a load that fills the ring now and then and lets the qdisc run empty
// as often.
func busy(c *Config) {
	c.Duration = 50 * time.Millisecond
	c.Costs.Send = 300
	c.Device.Delay = 150 * time.Microsecond
	c.Senders.Pattern, c.Senders.Rate, c.Senders.Burst = PatternBursts, 60_000, 100
}

// What a simulation was given is found again in its capture, and replayed it
// gives nearly the same batches and limits, under every variant.
func TestReplay(t *testing.T) {
	for name, change := range map[string]func(*Config){
		"today":      func(c *Config) {},
		"6.12.43":    func(c *Config) { c.Kernel = map[model.Switch]model.Variant{model.SwitchBulk: model.BulkBytes} },
		"napi":       func(c *Config) { c.Device.Completion = CompleteNAPI },
		"before BQL": func(c *Config) { c.Device.BQL = false },
		"small ring": func(c *Config) { c.Device.Ring = 64 },
		"lengths":    func(c *Config) { c.Senders.Length = 700 },
	} {
		t.Run(name, func(t *testing.T) {
			c := short(busy)
			change(&c)
			sum, b := simulate(t, c)
			q, h := recorded(t, b)
			if n := uint64(len(q.Load.Arrivals)); n < sum.Sent*99/100 || n > sum.Sent*101/100 {
				t.Errorf("%d arrivals of %d packets", n, sum.Sent)
			}
			var bytes uint64
			for _, a := range q.Load.Arrivals {
				bytes += uint64(a.Len)
			}
			if mean := bytes / uint64(len(q.Load.Arrivals)); mean != uint64(c.Senders.Length) {
				t.Errorf("mean length %d, want %d", mean, c.Senders.Length)
			}
			again := q.Configure(h)
			if c.Device.BQL && again.Device.Completion != c.Device.Completion { // without, nothing tells
				t.Errorf("completions in %s, were in %s", again.Device.Completion, c.Device.Completion)
			}
			if again.Device.BQL != c.Device.BQL || again.Weight != c.Weight {
				t.Errorf("%+v", again.Device)
			}
			for k, v := range c.Kernel {
				again.Kernel[k] = v
			}
			_, b2 := simulate(t, again)
			was, res := shape(t, b)
			is, res2 := shape(t, b2)
			if d := was.BatchPackets.Variation(&is.BatchPackets); d > 0.1 {
				t.Errorf("batch sizes differ by %.2f", d)
			}
			// What a run takes that finds nothing is in no record.
			if d := was.BatchPackets.Mean() / is.BatchPackets.Mean(); d < 0.93 || d > 1.07 {
				t.Errorf("mean batch %.1f, was %.1f", is.BatchPackets.Mean(), was.BatchPackets.Mean())
			}
			if a, b := res.Queues[0].Handovers.Taken, res2.Queues[0].Handovers.Taken; b != analysis.U64(len(q.Load.Arrivals)) {
				t.Errorf("sent %d of %d, the recording %d", b, len(q.Load.Arrivals), a)
			}
		})
	}
}

// Between runs packets come while the queue is stopped, or make a run.
func TestEnqueued(t *testing.T) {
	var tr trace
	tr.points = []point{
		{at: 100, total: 1, begins: true, who: 1, cpu: 3},
		{at: 150, total: 6},
		{at: 200, total: 6},
		{at: 300, total: 11, begins: true, who: 1},
		{at: 310, total: 11},
		{at: 400, total: 13, begins: true, who: 3},
	}
	tr.states = []state{{200, 1}, {220, 0}, {310, 0}}
	var at []uint64
	for _, a := range tr.enqueued(nil) {
		at = append(at, a.At)
	}
	want := []uint64{100, 105, 115, 125, 135, 145, 300, 202, 207, 212, 217, 400, 400}
	if len(at) != len(want) {
		t.Fatalf("%v", at)
	}
	for i := range at {
		if at[i] != want[i] {
			t.Errorf("%v, want %v", at, want)
			break
		}
	}
}

// A qdisc that counts on each CPU has packets in gso_skb that its count lacks:
// they are no packets to come.
func TestCountWithoutRequeued(t *testing.T) {
	l := &list{records: []event.Any{&event.Dequeue{
		Header:  event.Header{Kind: event.KindDequeue, Time: 1, Ifindex: 2, Flags: event.FlagPerCPU},
		Packets: 1, Walked: 1, Bytes: 142, FirstLen: 142, LastLen: 142, GsoSegs: 1, GsoQlen: 2,
	}}}
	queues, err := Read(l)
	if err != nil {
		t.Fatal(err)
	}
	if len(queues) != 1 || len(queues[0].Load.Arrivals) != 0 {
		t.Errorf("%d queues, arrivals %v", len(queues), queues[0].Load.Arrivals)
	}
}

// A CPU that was slow is slow for other work too, and as long.
func TestFinish(t *testing.T) {
	for _, c := range []struct{ now, cost, want uint64 }{
		{0, 100, 100},         // before
		{950, 100, 1500},      // 50 at the usual speed, then 50 at a tenth
		{1000, 100, 2000},     // all of the slow time
		{1000, 150, 2050},     // and beyond
		{1500, 50, 2000},      // half of it
		{2500, 100, 2600},     // after
		{2900, 200, 3050},     // 100, then 100 at twice the speed
		{3000, 400, 3200 + 0}, // all of the quick time
	} {
		l := loadState{load: &Load{Speeds: []Speed{{1000, 1000, 100}, {3000, 200, 400}}}}
		if got := l.finish(c.now+beginNS, c.cost) - beginNS; got != c.want {
			t.Errorf("%d of work from %d: done at %d, want %d", c.cost, c.now, got, c.want)
		}
	}
}
