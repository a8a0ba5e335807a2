// SPDX-License-Identifier: Apache-2.0

package sim

import (
	"slices"
	"time"

	"github.com/txtrace/txtrace/internal/capture"
	"github.com/txtrace/txtrace/internal/event"
	"github.com/txtrace/txtrace/internal/model"
)

// measure gives the arrivals their lengths, in the order of the dequeues.
func (t *trace) measure(list []Arrival) {
	var i, used uint32
	var sum, count uint64
	for k := range list {
		if list[k].Len != unknownLen {
			continue
		}
		for int(i) < len(t.lens) && used == t.lens[i].n {
			i, used = i+1, 0
		}
		if int(i) == len(t.lens) { // never dequeued while recording
			list[k].Len = uint32(sum / max(count, 1))
			list[k].Segs = 1
			continue
		}
		list[k].Len, list[k].Segs = t.lens[i].at(used)
		used++
		sum, count = sum+uint64(list[k].Len), count+1
	}
}

// at is the length and the segments of one of the packets.
func (l *lens) at(i uint32) (length uint32, segs uint16) {
	segs = uint16(l.segs / l.n)
	if i < l.segs%l.n {
		segs++
	}
	switch {
	case i == 0:
		return l.first, segs
	case i == l.n-1:
		return l.last, segs
	}
	return max((l.bytes-l.first-l.last)/(l.n-2), 1), segs
}

// Configure makes the simulation that comes closest to the recording: settings
// are the header's, costs are the medians of what steps took, the driver's
// thresholds follow from how many packets were in flight when it stopped the
// queue. Of the kernel's variants it knows the driver's alone: who rings its
// doorbell by __netdev_tx_sent_queue.
func (q *Recorded) Configure(h *capture.Header) Config {
	c := Default()
	c.Tool, c.Load = h.Tool, &q.Load
	c.Duration, c.Packets = 0, 0
	c.CPUs = max(int(h.Kernel.CPUs), 1)
	if h.Kernel.HZ > 0 {
		c.HZ = int(h.Kernel.HZ)
	}
	if w := h.Settings.TxWeight(); w > 0 {
		c.Weight = int(w)
	}
	c.Qdisc = Qdisc{Kind: QdiscPfifo, Limit: 1 << 30}
	if q.Kind == QdiscFqCodel {
		c.Qdisc.Kind = q.Kind
	}
	c.IRQ = q.irq(c.CPUs)
	q.device(h, &c.Device)
	c.Costs = q.trace.costs()
	for _, one := range c.Costs.All() {
		*one.Cost = min(*one.Cost, time.Second) // of a machine that stood still
	}
	c.Device.Delay = min(c.Device.Delay, time.Second)
	c.Kernel = map[model.Switch]model.Variant{model.SwitchDoorbell: model.DoorbellAnyStop}
	if d := c.Device.Driver; d == "virtio_net" || d == "mlx5_core" {
		c.Kernel[model.SwitchDoorbell] = model.DoorbellDrvStop
	}
	return c
}

func (q *Recorded) device(h *capture.Header, d *Device) {
	t := &q.trace
	d.Name, d.Driver, d.MTU = q.Device.Ifname, q.Device.Driver, q.Device.MTU
	d.TSO = q.Device.Offloads["tx-tcp-segmentation"]
	d.Rate = 0
	if !h.Kernel.Emulated {
		d.Rate = q.rate()
	}
	d.Completion = CompleteNAPI
	switch n := t.sources; {
	case n[event.SourceHardirq] > n[event.SourceNAPI]:
		d.Completion = CompleteHardirq
	case n[event.SourceNAPI] == 0 && n[event.SourceXmit] > 0:
		d.Completion = CompleteXmit
	}
	d.BQL = len(t.completions) > 0
	d.Delay = time.Duration(median(t.delays))
	for _, b := range q.Device.BQL {
		if b.Txq == uint32(q.Txq) {
			d.LimitMin, d.LimitMax, d.Limit = b.LimitMin, b.LimitMax, b.Limit
		}
	}
	q.ring(d)
}

// rate of the link in bits per second, by what it sent in times in which
// it was never idle; 0 when there were none.
func (q *Recorded) rate() uint64 {
	t := &q.trace
	var bytes uint64
	for i := range q.Load.Arrivals {
		bytes += uint64(q.Load.Arrivals[i].Len)
	}
	if t.busyNS == 0 || bytes == 0 {
		return 0
	}
	frames := t.busyBytes * uint64(len(q.Load.Arrivals)) / bytes
	return (t.busyBytes + frames*frameExtra) * 8 * 1_000_000_000 / t.busyNS
}

// ring fits descriptors and thresholds to how many packets were in flight when
// the driver stopped the queue.
func (q *Recorded) ring(d *Device) {
	if q.Device.TxRing > 0 {
		d.Ring = int(q.Device.TxRing)
	}
	longest := q.Load.longest(d.TSO)
	d.Ring = max(d.Ring, 4*d.descriptors(longest))
	if len(q.trace.stops) > 0 {
		fit := make([]uint64, len(q.trace.stops))
		for i, n := range q.trace.stops {
			fit[i] = uint64(n)
		}
		if n := int(median(fit)); n > 0 && n < d.Ring {
			d.PerPacket = max(1, d.Ring/n)
			d.Stop = d.Ring - d.PerPacket*n + 1
		}
	}
	d.Stop = max(d.Stop, d.descriptors(longest))
	d.Wake = min(d.Ring, d.Stop+12)
}

// irq is the CPU that took most completions.
func (q *Recorded) irq(cpus int) int {
	counts := make([]int, cpus)
	best := 0
	for _, i := range q.trace.completions {
		if int(i.cpu) < cpus {
			counts[i.cpu]++
			if counts[i.cpu] > counts[best] {
				best = int(i.cpu)
			}
		}
	}
	return best
}

// costs are the medians of what steps took, so that each takes the simulation
// as long as it usually took the kernel; see usual.
func (t *trace) costs() Costs {
	c := Costs{Softirq: time.Duration(median(t.waits))}
	u := t.usual()
	first, next, hand := u[stepFirst], u[stepNext], u[stepHand]
	c.First, c.Batch, c.Dequeue = time.Duration(first.base-next.base), time.Duration(next.base-next.each), time.Duration(next.each)
	c.Driver = time.Duration(hand.each)
	pass := t.passing()
	c.Doorbell = time.Duration(pass-min(pass, hand.each)) * 3 / 4
	c.Direct = time.Duration(hand.base-hand.each) - c.Doorbell
	c.Bypass = time.Duration(pass-min(pass, hand.each)) - c.Doorbell
	return c
}

// passing is what sending a packet past the qdisc takes, in ns: as long as
// another hand-over, if the time that the quickest sender took for each leaves
// that: a quarter of it is taken to be the sender's own.
func (t *trace) passing() uint64 {
	usual := t.fit(stepHand).base
	var cycles []uint64
	for i := range t.quiets {
		if q := &t.quiets[i]; q.Packets > 1 {
			cycles = append(cycles, uint64(q.Dur)/uint64(q.Packets-1))
		}
	}
	if len(cycles) == 0 {
		return usual
	}
	return min(usual, slices.Min(cycles)*3/4)
}

// fit is what a step of one packet takes, and what each further one adds, ns.
type fit struct{ base, each uint64 }

// usual are the fits of the kinds of steps.
func (t *trace) usual() (u [stepKinds]fit) {
	for k := range u {
		u[k] = t.fit(stepKind(k))
	}
	first, next := &u[stepFirst], &u[stepNext]
	first.each = next.each
	first.base = max(first.base, next.base)
	u[stepPass] = fit{t.passing(), 0}
	return u
}

// few is of how many steps nothing can be told.
const few = 8

// fit is of one kind of steps. Where few had one packet, what a step takes
// beside its packets is not known, and taken to be nothing.
func (t *trace) fit(k stepKind) fit {
	var one, more, each []uint64
	for _, s := range t.steps {
		switch {
		case s.kind != k:
		case s.n == 1:
			one = append(one, s.took)
			fallthrough
		default:
			each = append(each, s.took/uint64(s.n))
		}
	}
	if len(one) < few {
		n := max(median(each), 1)
		return fit{n, n}
	}
	base := median(one)
	for _, s := range t.steps {
		if s.kind == k && s.n >= 8 && s.took > base {
			more = append(more, (s.took-base)/uint64(s.n-1))
		}
	}
	n := max(median(more), 1)
	return fit{max(base, n), n}
}

// speeds are what was usual for each step against what it took.
func (t *trace) speeds(c Costs) []Speed {
	u := t.usual()
	var list []Speed
	add := func(at, took, work uint64) {
		v := Speed{at - min(at, t.begin), took, max(work, 1)}
		if n := len(list); took > 0 && (n == 0 || v.At >= list[n-1].At+list[n-1].Took) {
			list = append(list, v)
		}
	}
	for _, s := range t.steps {
		work := u[s.kind].base + u[s.kind].each*uint64(s.n-1)
		at, done := s.at, uint64(0) // of the work
		for _, r := range s.rung {
			by := min(uint64(c.Direct)+uint64(r.n)*uint64(c.Driver), work-1)
			if by > done && r.at > at {
				add(at, r.at-at, by-done)
				at, done = r.at, by
			}
		}
		add(at, s.at+s.took-at, work-done)
	}
	return list
}

func median(list []uint64) uint64 {
	if len(list) == 0 {
		return 0
	}
	s := slices.Clone(list)
	slices.Sort(s)
	return s[len(s)/2]
}
