// SPDX-License-Identifier: Apache-2.0

package comparison

import (
	"errors"

	"github.com/txtrace/txtrace/internal/analysis"
	"github.com/txtrace/txtrace/internal/capture"
)

// Better says which way a metric should go.
type Better string

// The ways. A metric that has none describes what the kernel did.
const (
	More    Better = "more"
	Less    Better = "less"
	Neither Better = "neither"
)

// Metric is one row: what a capture has one value of.
type Metric struct {
	Name   string `json:"name"`
	Unit   string `json:"unit"`
	Better Better `json:"better"`
	How    string `json:"how"` // how it is taken

	timed bool                          // means nothing where time is emulated
	value func(*run) (float64, absence) // nil: no capture has it
	never absence                       // why
}

// absence is why there is no value, empty when there is one.
type absence string

const (
	notHanded = absence("no packet was handed over")
	noClock   = absence("the guest was emulated: its time means nothing")
)

// Metrics are all, in the order in which they are printed.
func Metrics() []Metric { return metrics }

var metrics = []Metric{
	{Name: "load", Unit: "Mbit/s", Better: More, timed: true, value: (*run).load,
		How: "what netperf or iperf3 said, which was the command"},
	{Name: "load.rate", Unit: "transactions/s", Better: More, timed: true, value: (*run).loadRate,
		How: "what netperf said, which was the command"},
	{Name: "tx.throughput", Unit: "Mbit/s", Better: More, timed: true, value: per((*run).handedBits, (*run).microseconds),
		How: "bytes handed over to drivers while the command ran, or the whole time"},
	{Name: "tx.packets", Unit: "packets/s", Better: More, timed: true, value: per((*run).taken, (*run).seconds),
		How: "packets that drivers took, after segmentation, over the same time"},
	{Name: "cpu", Unit: "% of one", Better: Less, timed: true, value: busy(capture.CPUTimes.Busy),
		How: "what all CPUs together worked while the command ran, recording included (/proc/stat)"},
	{Name: "cpu.user", Unit: "% of one", Better: Less, timed: true, value: busy(func(c capture.CPUTimes) uint64 { return c.User }),
		How: "of it, in user space"},
	{Name: "cpu.system", Unit: "% of one", Better: Less, timed: true, value: busy(func(c capture.CPUTimes) uint64 { return c.System }),
		How: "of it, in the kernel for tasks"},
	{Name: "cpu.softirq", Unit: "% of one", Better: Less, timed: true, value: busy(func(c capture.CPUTimes) uint64 { return c.SoftIRQ }),
		How: "of it, in soft interrupts"},
	{Name: "cpu.irq", Unit: "% of one", Better: Less, timed: true, value: busy(func(c capture.CPUTimes) uint64 { return c.IRQ }),
		How: "of it, in interrupts, where the kernel tells them apart"},
	{Name: "demand", Unit: "us/KiB", Better: Less, timed: true, value: withCPU(per((*run).busyMicroseconds, (*run).handedKiB)),
		How: "service demand: what CPUs worked per KiB handed over to drivers"},
	{Name: "per.cpu", Unit: "Mbit/s", Better: More, timed: true, value: withCPU(per((*run).handedBits, (*run).busyMicroseconds)),
		How: "bandwidth per CPU: what was handed over to drivers, over the CPUs that worked"},
	{Name: "batch.size", Unit: "packets", Better: More, value: (*run).batchSize,
		How: "packets per dequeue, of those that took fresh packets from the qdisc"},
	{Name: "handover.size", Unit: "packets", Better: More, value: (*run).handoverSize,
		How: "packets per call of dev_hard_start_xmit, after segmentation"},
	{Name: "requeues", Unit: "per million", Better: Less, value: million((*run).requeued),
		How: "packets put back, per million that drivers took"},
	{Name: "requeue.busy", Unit: "per million", Better: Less, value: million(cause(analysis.CauseBusy)),
		How: "requeues (each of one packet or more) because the driver said NETDEV_TX_BUSY"},
	{Name: "requeue.drv", Unit: "per million", Better: Less, value: million(cause(analysis.CauseDrv)),
		How: "requeues because the driver stopped its queue within the list"},
	{Name: "requeue.stack", Unit: "per million", Better: Less, value: million(cause(analysis.CauseStack)),
		How: "requeues because BQL stopped the queue within the list"},
	{Name: "requeue.stopped", Unit: "per million", Better: Less, value: million(cause(analysis.CauseStopped)),
		How: "requeues because the queue was stopped before the hand-over"},
	{Name: "requeue.other", Unit: "per million", Better: Less, value: million(cause(analysis.CauseOther)),
		How: "requeues for another reason, or none that was seen"},
	{Name: "doorbells.any", Unit: "per packet", Better: Less, value: per((*run).owedAny, (*run).taken),
		How: "doorbells that a driver owes which rings at any stop of its queue"},
	{Name: "doorbells.drv", Unit: "per packet", Better: Less, value: per((*run).owedDrv, (*run).taken),
		How: "doorbells that a driver owes which rings at its own stop only"},
	{Name: "bql.limit", Unit: "bytes", Better: Neither, value: (*run).bqlLimit,
		How: "the limit, over time, of all queues that charge"},
	{Name: "bql.inflight", Unit: "bytes", Better: Neither, value: (*run).bqlInflight,
		How: "the most that was in flight, over time, of all queues that charge"},
	{Name: "quota.ended", Unit: "%", Better: Neither, value: (*run).quotaEnded,
		How: "runs of the qdisc that their quota ended"},
	{Name: "run.mean", Unit: "us", Better: Neither, timed: true, value: mean((*run).runs),
		How: "how long a run of the qdisc took"},
	{Name: "run.p99", Unit: "us", Better: Less, timed: true, value: p99((*run).runs),
		How: "how long all but 1 % of the runs took at most"},
	{Name: "sojourn.mean", Unit: "us", Better: Less, timed: true, value: mean((*run).sojourn),
		How: "time in the qdisc of packets that were stamped (--with sojourn)"},
	{Name: "sojourn.p99", Unit: "us", Better: Less, timed: true, value: p99((*run).sojourn),
		How: "the same, all but 1 % of them"},
	{Name: "ring.mean", Unit: "us", Better: Less, timed: true, value: mean((*run).ring),
		How: "from a hand-over to the completion of its last byte"},
	{Name: "ring.p99", Unit: "us", Better: Less, timed: true, value: p99((*run).ring),
		How: "the same, all but 1 % of them"},
	{Name: "hol.mean", Unit: "us", Better: Less, timed: true, value: mean((*run).oldest),
		How: "head-of-line delay as observed: how long the oldest bytes had been with the driver when a completion came"},
	{Name: "hol.p99", Unit: "us", Better: Less, timed: true, value: p99((*run).oldest),
		How: "the same, all but 1 % of them"},
	{Name: "tsq.throttles", Unit: "per million", Better: Neither, value: million((*run).throttles),
		How: "times that a socket was throttled by TCP small queues, per million packets that drivers took"},
	{Name: "tsq.share", Unit: "%", Better: Neither, timed: true, value: (*run).throttledShare,
		How: "of the time that throttled sockets were followed, that in which they were throttled"},

	{Name: "hol.bound", never: "a capture does not hold the link's speed"},
	{Name: "instructions", never: "a capture does not hold counts of the CPU's own counters"},
	{Name: "lock.share", never: "this version does not record waiting for spinlocks"},
}

// byName is the metric of a name.
func byName(name string) (Metric, error) {
	for _, m := range metrics {
		if m.Name == name {
			if m.never != "" {
				return m, errors.New(string(m.never))
			}
			return m, nil
		}
	}
	return Metric{}, errors.New("no metric has that name")
}
