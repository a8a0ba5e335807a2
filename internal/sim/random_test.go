// SPDX-License-Identifier: Apache-2.0

package sim

import (
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/txtrace/txtrace/internal/model"
)

// anyKernel draws a variant for every switch. The bound of packets is one of
// the quota that is left, so it is younger than a quota that counts restarts.
// The RFC's quota, which no kernel ever had, makes batches that D2 does not know.
func anyKernel(t *rapid.T) map[model.Switch]model.Variant {
	kernel := make(map[model.Switch]model.Variant)
	for _, s := range model.Switches {
		names := make([]model.Variant, len(s.Variants))
		for i, v := range s.Variants {
			names[i] = v.Name
		}
		kernel[s.Name] = rapid.SampledFrom(names).Draw(t, string(s.Name))
	}
	quota := kernel[model.SwitchQuota]
	if quota == model.QuotaStop || quota == model.QuotaRestarts && kernel[model.SwitchBulk] == model.BulkBudget {
		kernel[model.SwitchQuota] = model.QuotaAfter
	}
	return kernel
}

func upTo(t *rapid.T, name string, d time.Duration) time.Duration {
	return time.Duration(rapid.Int64Range(0, int64(d)).Draw(t, name))
}

// anyConfig draws a simulation that is possible.
func anyConfig(t *rapid.T) Config {
	c := Default()
	c.Seed = rapid.Uint64().Draw(t, "seed")
	c.Duration = time.Millisecond
	c.Packets = uint64(rapid.IntRange(1, 600).Draw(t, "packets"))
	c.CPUs = rapid.IntRange(1, 4).Draw(t, "cpus")
	c.IRQ = rapid.IntRange(0, c.CPUs-1).Draw(t, "irq")
	c.HZ = rapid.SampledFrom([]int{100, 250, 1000}).Draw(t, "hz")
	c.Weight = rapid.IntRange(1, 100).Draw(t, "weight")
	c.Kernel = anyKernel(t)

	c.Qdisc.Kind = rapid.SampledFrom([]string{QdiscPfifo, QdiscFqCodel, QdiscMq, QdiscShared, QdiscNone}).Draw(t, "qdisc")
	c.Qdisc.Limit = rapid.IntRange(1, 300).Draw(t, "limit")
	d := &c.Device
	if c.Qdisc.Kind == QdiscMq || c.Qdisc.Kind == QdiscShared || c.Qdisc.Kind == QdiscNone {
		d.Queues = rapid.IntRange(1, 4).Draw(t, "queues")
	}
	d.Rate = rapid.SampledFrom([]uint64{0, 10_000_000, 1_000_000_000, 100_000_000_000}).Draw(t, "rate")
	d.Completion = rapid.SampledFrom([]Completion{CompleteNAPI, CompleteHardirq, CompleteXmit}).Draw(t, "completion")
	d.Delay = upTo(t, "delay", 100*time.Microsecond)
	d.BQL = rapid.Bool().Draw(t, "bql")
	d.LimitMax = rapid.SampledFrom([]uint32{0, 3000, model.DQLMaxLimit}).Draw(t, "limit_max")
	d.LimitMin = min(d.LimitMax, rapid.SampledFrom([]uint32{0, 3000, 400_000}).Draw(t, "limit_min"))
	d.TSO = rapid.Bool().Draw(t, "tso")
	d.Busy = rapid.Bool().Draw(t, "busy")
	d.PerPacket = rapid.IntRange(1, 3).Draw(t, "descriptors")
	d.Ring = rapid.IntRange(40, 300).Draw(t, "ring")
	d.Stop = rapid.IntRange(20, d.Ring).Draw(t, "stop")
	d.Stacked = max(0, rapid.IntRange(-4, 3).Draw(t, "stacked"))
	d.Wake = rapid.IntRange(1, d.Ring).Draw(t, "wake")

	k := &c.Costs
	k.Send, k.Enqueue, k.Dequeue = upTo(t, "send", 2000), upTo(t, "enqueue", 500), upTo(t, "dequeue", 300)
	k.Driver, k.Doorbell, k.Softirq = upTo(t, "driver", 1000), upTo(t, "doorbell", 1000), upTo(t, "softirq", 5000)
	k.Run, k.Direct, k.Segment = upTo(t, "run", 200), upTo(t, "direct", 200), upTo(t, "segment", 500)
	k.Complete, k.Free = upTo(t, "complete", 2000), upTo(t, "free", 100)
	k.Jitter = rapid.IntRange(0, 100).Draw(t, "jitter")

	s := &c.Senders
	s.Count = rapid.IntRange(1, 9).Draw(t, "senders")
	s.Protocol = rapid.SampledFrom([]string{UDP, TCP}).Draw(t, "protocol")
	if s.Protocol == UDP {
		s.Past = max(0, rapid.IntRange(-4, 2).Draw(t, "past"))
	}
	s.Length = uint32(rapid.IntRange(80, 1514).Draw(t, "length"))
	s.Segments = rapid.SampledFrom([]int{1, 1, 2, 17, 40}).Draw(t, "segments")
	if c.Kernel[model.SwitchBulkGSO] == model.BulkGSOStop {
		s.Segments = 1 // D2 does not know this reason of a short batch
	}
	s.Sndbuf = rapid.SampledFrom([]uint32{0, 212_992}).Draw(t, "sndbuf")
	if rapid.Bool().Draw(t, "paced load") {
		s.Rate = uint64(rapid.IntRange(1000, 1_000_000).Draw(t, "packets per second"))
		s.Pattern = rapid.SampledFrom([]string{PatternConstant, PatternBursts}).Draw(t, "pattern")
		s.Burst = rapid.IntRange(1, 64).Draw(t, "burst")
	}
	s.Window = rapid.IntRange(1, 100).Draw(t, "window")
	s.RTT = upTo(t, "rtt", 300*time.Microsecond)
	s.PacingRate = rapid.Uint64Range(1_000_000, 1_000_000_000).Draw(t, "pacing rate")
	s.Paced = rapid.Bool().Draw(t, "paced")
	s.LimitOutput = rapid.SampledFrom([]int32{0, 4096, 131_072, 4 << 20}).Draw(t, "limit_output")
	c.Extras = anyExtras(t, &c)
	return c
}

// anyExtras draws what is recorded beside. Before XPS no device had more or
// fewer queues than at first, and no packet said that its queue may change: the
// rules of queues are younger. So is X1 than more that is told inside of a
// segmented packet only.
func anyExtras(t *rapid.T, c *Config) (e Extras) {
	e.Packets = rapid.Bool().Draw(t, "packets recorded") && c.Kernel[model.SwitchDoorbell] != model.DoorbellSegments
	e.Sched = rapid.Bool().Draw(t, "schedules recorded")
	old := c.Kernel[model.SwitchPickCache] == model.PickCacheUnchecked
	if rapid.Bool().Draw(t, "picks") && !(old && c.Senders.Protocol == TCP) {
		e.Choice = Choice{
			On: true, Select: rapid.IntRange(0, 4).Draw(t, "select") == 0, XPS: !old && rapid.Bool().Draw(t, "xps"),
			RxQueues: !old && rapid.Bool().Draw(t, "xps by receive queue"), Loose: rapid.IntRange(0, 2).Draw(t, "loose") == 0,
			Reselect: rapid.SampledFrom([]time.Duration{0, 10 * time.Millisecond, time.Second}).Draw(t, "reselect"),
			Migrate:  rapid.IntRange(0, 4).Draw(t, "migrate"), Reroute: rapid.SampledFrom([]int{0, 0, 5}).Draw(t, "reroute"),
		}
		if !old {
			e.Choice.Resize = rapid.SampledFrom([]int{0, 0, 1, 7}).Draw(t, "resize")
		}
		if c.Senders.Protocol == UDP {
			e.Choice.Forwarded = rapid.IntRange(0, 2).Draw(t, "forwarded")
		}
	}
	if rapid.Bool().Draw(t, "receive") {
		e.Receive = Receive{
			On: true, Count: rapid.IntRange(1, 200).Draw(t, "received"), Gap: upTo(t, "gap", 3000),
			Batch: rapid.SampledFrom([]int{1, 8, 64}).Draw(t, "batch"), Merge: rapid.SampledFrom([]int{0, 1, 3, 44}).Draw(t, "merge"),
			Budget: rapid.SampledFrom([]int{1, 8, 64}).Draw(t, "budget"), Frags: rapid.Bool().Draw(t, "frags"), Busy: rapid.Bool().Draw(t, "busy polling"),
		}
	}
	return e
}

// Whatever the kernel, the driver and the load: the rules hold, the counters
// agree, every packet is sent or was dropped, and nothing is stuck.
func TestRandomHealthy(t *testing.T) {
	for range 3 { // of 100 each
		rapid.Check(t, func(t *rapid.T) {
			c := anyConfig(t)
			if err := c.Validate(); err != nil {
				t.Skip(err)
			}
			healthy(t, c)
		})
	}
}
