// SPDX-License-Identifier: Apache-2.0

package sim

import (
	"fmt"
	"time"

	"github.com/txtrace/txtrace/internal/model"
)

// Config is one simulation. Default is a sound one to start from.
type Config struct {
	Tool   string // version, for the capture's header
	Seed   uint64
	Kernel map[model.Switch]model.Variant // a switch that is not in here is at its latest

	Duration time.Duration // senders send that long; what is queued is sent to its end
	Packets  uint64        // senders send that many together at most; 0 is no bound

	CPUs int
	IRQ  int // CPU that takes the device's interrupts
	HZ   int

	Weight int // dev_tx_weight: the quota of a run, in packets

	Device  Device
	Qdisc   Qdisc
	Costs   Costs
	Senders Senders

	// Bounds of a batch that were only proposed, see model.Proposal; 0 is none.
	MoreLimit int           // packets
	ByteCap   int32         // bytes
	Slice     time.Duration // that a run may last under quota=time

	// Load, when set, takes the place of the senders.
	Load *Load

	Extras Extras
}

// Extras are what a recording has only if it is asked for.
type Extras struct {
	Choice  Choice
	Receive Receive
	Packets bool // each call of the driver is recorded (--detail packet)
	Sched   bool // how qdiscs come to be run is (--with sched)
}

// Completion says where a driver reports packets as sent.
type Completion string

// The places of completions.
const (
	CompleteNAPI    Completion = "napi"    // in a NAPI poll (igb, e1000)
	CompleteHardirq Completion = "hardirq" // in the hard interrupt (e1000e with MSI-X)
	CompleteXmit    Completion = "xmit"    // inside ndo_start_xmit (virtio_net 6.11 to 6.12), and in NAPI when the queue waits
)

// Device is the driver, its ring and the link.
type Device struct {
	Name       string
	Driver     string
	Rate       uint64 // of the link, bits per second; 0 sends at once
	Queues     int
	Ring       int  // descriptors of each queue
	PerPacket  int  // descriptors of a packet up to 4 KiB; one more for each further 4 KiB
	Stop       int  // the driver stops a queue with fewer free descriptors than this
	Wake       int  // and starts it again with as many
	Busy       bool // it does not look ahead, and refuses a packet that finds no room
	Completion Completion
	Delay      time.Duration // from the first packet sent to the interrupt that reports it
	BQL        bool
	Limit      uint32 // of BQL at the begin, bytes
	LimitMin   uint32 // bytes
	LimitMax   uint32 // bytes
	TSO        bool
	MTU        uint32
	Stacked    int // devices on top of it, each handing down to the next (vlan, bond)
}

// Kinds of Qdisc.
const (
	QdiscPfifo   = "pfifo"
	QdiscFqCodel = "fq_codel"
	QdiscMq      = "mq"   // an fq_codel for each queue
	QdiscShared  = "prio" // one for all queues: no TCQ_F_ONETXQUEUE, no bypass
	QdiscNone    = "noqueue"
)

// Qdisc of the device.
type Qdisc struct {
	Kind  string
	Limit int // packets; more are dropped
}

// Costs are what the kernel's steps take, each within Jitter percent of it.
type Costs struct {
	Send     time.Duration // a sender's own work for a packet, down to the qdisc
	Enqueue  time.Duration
	Run      time.Duration // entering __qdisc_run
	First    time.Duration // the first batch of a run, besides
	Batch    time.Duration // a batch, besides its packets
	Dequeue  time.Duration // a packet
	Direct   time.Duration // sch_direct_xmit, besides the driver
	Bypass   time.Duration // the same of a packet that passes the qdisc by
	Segment  time.Duration // making one segment of a GSO packet
	Driver   time.Duration // a packet in the driver
	Doorbell time.Duration
	Softirq  time.Duration // from raising one to its work
	Complete time.Duration // an interrupt or poll, besides
	Free     time.Duration // a packet in a completion
	Jitter   int           // percent
}

// Protocols and patterns of Senders.
const (
	UDP             = "udp"
	TCP             = "tcp"
	PatternConstant = "constant"
	PatternBursts   = "bursts"
)

// Senders are alike, and spread over the CPUs and queues.
type Senders struct {
	Count    int
	Past     int // of them, the first ones pass the qdisc by, as AF_PACKET and AF_XDP can
	Protocol string
	Length   uint32 // bytes of a frame on the wire, without FCS
	Segments int    // of a GSO packet; 1 is no GSO

	// UDP: open loop. A sender that is late sends at once.
	Rate    uint64 // packets per second of each; 0 as fast as its CPU lets it
	Pattern string
	Burst   int    // packets of a burst
	Sndbuf  uint32 // bytes of truesize it may have below it; 0 is no bound

	// TCP: a window of packets always full, acknowledged after RTT.
	Window      int
	RTT         time.Duration
	PacingRate  uint64 // bytes per second; what the limit of small queues goes by
	Paced       bool   // and what the sender keeps to
	LimitOutput int32  // net.ipv4.tcp_limit_output_bytes
}

// Default is an e1000e at 1 Gbit/s under eight senders of small datagrams.
func Default() Config {
	return Config{
		Tool: "model", Seed: 1, Duration: 100 * time.Millisecond,
		CPUs: 2, IRQ: 1, HZ: 250, Weight: 64, Slice: time.Millisecond,
		Device: Device{
			Name: "eth0", Driver: "e1000e", Rate: 1_000_000_000, Queues: 1, Ring: 256, PerPacket: 2, Stop: 20, Wake: 32,
			Completion: CompleteHardirq, Delay: 20 * time.Microsecond, BQL: true, LimitMax: model.DQLMaxLimit, MTU: 1500,
		},
		Qdisc: Qdisc{Kind: QdiscFqCodel, Limit: 10240},
		Costs: Costs{
			Send: 1200, Enqueue: 150, Run: 60, Dequeue: 60, Direct: 80, Bypass: 80, Segment: 250, Driver: 120, Doorbell: 300,
			Softirq: 500, Complete: 1000, Free: 60, Jitter: 20,
		},
		Senders: Senders{
			Count: 8, Protocol: UDP, Length: 142, Segments: 1, Pattern: PatternConstant, Burst: 32, Sndbuf: 212_992,
			Window: 64, RTT: 200 * time.Microsecond, PacingRate: 125_000_000, LimitOutput: 4 << 20,
		},
	}
}

// variant of the kernel at a switch.
func (c *Config) variant(s model.Switch) model.Variant {
	if v, ok := c.Kernel[s]; ok {
		return v
	}
	info, err := model.Lookup(s)
	if err != nil {
		return "" // not a switch of this model
	}
	return info.Latest().Name
}

// Error is a parameter that no simulation can have.
type Error struct {
	Parameter string // as a flag spells it
	What      string // what is wrong with it
	Next      string // what would do
}

func (e *Error) Error() string { return fmt.Sprintf("%s: %s; %s", e.Parameter, e.What, e.Next) }

// Validate says what makes the simulation impossible, as an *Error.
func (c *Config) Validate() error {
	for _, v := range c.checks() {
		if v.wrong {
			return &Error{v.parameter, v.what, v.next}
		}
	}
	return nil
}

type check struct {
	wrong                 bool
	parameter, what, next string
}

func (c *Config) checks() []check {
	d, q, s := &c.Device, &c.Qdisc, &c.Senders
	most := d.descriptors(uint32(max(s.Segments, 1)) * s.Length)
	if !d.TSO {
		most = d.descriptors(s.Length)
	}
	if c.Load != nil {
		most = d.descriptors(c.Load.longest(d.TSO))
	}
	list := []check{
		{c.CPUs < 1 || c.CPUs > 1024, "cpus", fmt.Sprintf("%d CPUs", c.CPUs), "use 1 to 1024"},
		{c.IRQ < 0 || c.IRQ >= c.CPUs, "irq-cpu", fmt.Sprintf("there is no CPU %d", c.IRQ), "CPUs are counted from 0"},
		{c.HZ < 1 || c.HZ > 10_000, "hz", fmt.Sprintf("%d ticks a second", c.HZ), "use 100, 250 or 1000"},
		{c.Weight < 1 || c.Weight > 1<<20, "weight", fmt.Sprintf("a quota of %d packets", c.Weight), "use 1 or more; the kernel's is 64"},
		{c.Slice <= 0, "slice", fmt.Sprintf("runs of %v", c.Slice), "use more than 0"},
		{c.MoreLimit < 0 || c.ByteCap < 0, "what-if", "a bound below 0", "use 1 or more"},
		{c.Duration <= 0 && c.Packets == 0 && c.Load == nil, "duration", "the simulation has no end", "give a duration, or a number of packets"},
		{c.Duration < 0 || c.Duration > 24*time.Hour, "duration", fmt.Sprintf("%v", c.Duration), "use up to 24 hours of virtual time"},
		{d.Queues < 1 || d.Queues > 4096, "queues", fmt.Sprintf("%d queues", d.Queues), "use 1 to 4096"},
		{d.Stacked < 0 || d.Stacked > 8, "stacked", fmt.Sprintf("%d devices on top", d.Stacked), "use up to 8"},
		{d.PerPacket < 1 || d.PerPacket > 64, "descriptors", fmt.Sprintf("%d descriptors for a packet", d.PerPacket), "use 1 to 64"},
		{d.Ring < 1 || d.Ring > 1<<20, "ring", fmt.Sprintf("a ring of %d descriptors", d.Ring), "use 1 to 1048576"},
		{d.Ring < most, "ring", fmt.Sprintf("a packet takes %d descriptors and the ring has %d", most, d.Ring), "use a larger ring"},
		{d.Stop < 0 || d.Stop > d.Ring, "stop", fmt.Sprintf("a queue cannot be stopped below %d free descriptors of %d", d.Stop, d.Ring), "use less than the ring"},
		{!d.Busy && d.Stop < most, "stop", fmt.Sprintf("a packet takes up to %d descriptors, and the queue is stopped below %d", most, d.Stop), "use as many at least, or let the driver refuse packets"},
		{d.Wake < 1 || d.Wake > d.Ring, "wake", fmt.Sprintf("a queue is never started at %d free descriptors of %d", d.Wake, d.Ring), "use 1 to the size of the ring"},
		{!d.Completion.known(), "completion", fmt.Sprintf("%q is unknown", d.Completion), "use napi, hardirq or xmit"},
		{d.Delay < 0 || d.Delay > time.Second, "delay", fmt.Sprintf("%v", d.Delay), "use up to 1s"},
		{d.LimitMin > model.DQLMaxLimit || d.LimitMax > model.DQLMaxLimit, "limit-max", "a limit of BQL above what sysfs takes", fmt.Sprintf("use %d at most", model.DQLMaxLimit)},
		{!knownQdisc(q.Kind), "qdisc", fmt.Sprintf("%q is unknown", q.Kind), "use pfifo, fq_codel, mq, prio or noqueue"},
		{q.Limit < 1, "qdisc-limit", fmt.Sprintf("a qdisc of %d packets", q.Limit), "use 1 or more"},
		{d.Queues > 1 && (q.Kind == QdiscPfifo || q.Kind == QdiscFqCodel), "qdisc", fmt.Sprintf("%s serves one queue and there are %d", q.Kind, d.Queues), "use mq, or prio for a shared root"},
		{c.Costs.Jitter < 0 || c.Costs.Jitter > 100, "jitter", fmt.Sprintf("%d percent", c.Costs.Jitter), "use 0 to 100"},
	}
	for _, v := range c.Costs.All() {
		list = append(list, check{*v.Cost < 0 || *v.Cost > time.Second, "cost", fmt.Sprintf("%s=%v", v.Name, *v.Cost), "use up to 1s"})
	}
	if c.Load == nil {
		list = append(list, s.checks()...)
	}
	return append(list, c.Extras.checks()...)
}

func (s *Senders) checks() []check {
	return []check{
		{s.Count < 1 || s.Count > 1<<16, "senders", fmt.Sprintf("%d senders", s.Count), "use 1 to 65536"},
		{s.Past < 0 || s.Past > 0 && s.Protocol != UDP, "past", fmt.Sprintf("%d of the senders pass the qdisc by", s.Past), "use 0 or more, with udp"},
		{s.Protocol != UDP && s.Protocol != TCP, "protocol", fmt.Sprintf("%q is unknown", s.Protocol), "use udp or tcp"},
		{s.Length <= s.headers() || s.Length > 1<<16, "length", fmt.Sprintf("a frame of %d bytes", s.Length), fmt.Sprintf("use more than the headers (%d bytes), up to 65536", s.headers())},
		{s.Segments < 1 || uint32(s.Segments)*s.Length > 1<<18, "segments", fmt.Sprintf("%d segments of %d bytes", s.Segments, s.Length), "use 1 or more, up to 262144 bytes together"},
		{s.Pattern != PatternConstant && s.Pattern != PatternBursts, "pattern", fmt.Sprintf("%q is unknown", s.Pattern), "use constant or bursts"},
		{s.Burst < 1, "burst", fmt.Sprintf("a burst of %d packets", s.Burst), "use 1 or more"},
		{s.Pattern == PatternBursts && s.Rate == 0, "rate", "bursts without a rate never pause", "give packets per second"},
		{s.Rate > 1_000_000_000, "rate", fmt.Sprintf("%d packets per second", s.Rate), "use up to 10^9"},
		{s.Sndbuf > 0 && s.Sndbuf < s.truesize(), "sndbuf", fmt.Sprintf("a packet takes %d bytes of it, and it has %d", s.truesize(), s.Sndbuf), "use more, or 0 for no bound"},
		{s.Window < 1 || s.Window > 1<<20, "window", fmt.Sprintf("a window of %d packets", s.Window), "use 1 or more"},
		{s.RTT < 0 || s.RTT > 10*time.Second, "rtt", fmt.Sprintf("%v", s.RTT), "use up to 10s"},
		{s.LimitOutput < 0, "limit-output", fmt.Sprintf("%d bytes", s.LimitOutput), "use 0 or more"},
		{s.Paced && s.PacingRate == 0, "pacing-rate", "a paced socket without a rate never sends", "give bytes per second"},
	}
}

func (c Completion) known() bool {
	return c == CompleteNAPI || c == CompleteHardirq || c == CompleteXmit
}

func knownQdisc(kind string) bool {
	switch kind {
	case QdiscPfifo, QdiscFqCodel, QdiscMq, QdiscShared, QdiscNone:
		return true
	}
	return false
}

// descriptors that a packet takes.
func (d *Device) descriptors(length uint32) int {
	if length == 0 {
		return d.PerPacket
	}
	return d.PerPacket + int((length-1)>>12)
}

// headers of a frame, in bytes: Ethernet, IPv4, and UDP or TCP with timestamps.
func (s *Senders) headers() uint32 {
	if s.Protocol == TCP {
		return tcpHeaders
	}
	return 14 + 20 + 8
}

const (
	ethernet   = 14
	tcpHeaders = ethernet + 20 + 32
)

// skbOverhead is SKB_TRUESIZE(0): what a skb counts beside its data, on x86-64.
const skbOverhead = 576

// packetLen is skb->len of what a sender sends: a GSO packet has its headers
// once.
func (s *Senders) packetLen() uint32 {
	return s.Length + uint32(s.Segments-1)*(s.Length-s.headers())
}

func (s *Senders) truesize() uint32 { return s.packetLen() + skbOverhead }

// Cost is one of Costs and its name.
type Cost struct {
	Name string
	Cost *time.Duration
}

// All are the costs by name.
func (c *Costs) All() []Cost {
	return []Cost{
		{"send", &c.Send}, {"enqueue", &c.Enqueue}, {"run", &c.Run}, {"first", &c.First}, {"batch", &c.Batch}, {"dequeue", &c.Dequeue}, {"direct", &c.Direct}, {"bypass", &c.Bypass},
		{"segment", &c.Segment}, {"driver", &c.Driver}, {"doorbell", &c.Doorbell}, {"softirq", &c.Softirq},
		{"complete", &c.Complete}, {"free", &c.Free},
	}
}
