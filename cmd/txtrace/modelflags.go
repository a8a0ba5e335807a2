// SPDX-License-Identifier: Apache-2.0

package main

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/pflag"

	"github.com/txtrace/txtrace/internal/model"
	"github.com/txtrace/txtrace/internal/sim"
)

// modelFlags say what is simulated.
type modelFlags struct {
	conf     sim.Config
	link     bitRate
	variants kernelVariants
	whatIf   string
	ifname   string
	queue    int
	fs       *pflag.FlagSet
}

func newModelFlags() *modelFlags {
	m := &modelFlags{conf: sim.Default(), queue: -1, variants: kernelVariants{}}
	m.conf.Tool = version()
	m.link = bitRate(m.conf.Device.Rate)
	return m
}

// add puts the flags in the order of help: what is asked, the kernel, the
// device, the senders, what steps cost.
func (m *modelFlags) add(fs *pflag.FlagSet) {
	m.fs = fs
	fs.StringVar(&m.whatIf, "what-if", "", "replay CAPTURE under `SWITCH=NAME`,...")
	fs.StringVar(&m.ifname, "filter-ifname", "", "of CAPTURE: the device of this `NAME`")
	fs.IntVar(&m.queue, "filter-queue", -1, "and this `NUMBER`, else the busiest")
	fs.Var(m.variants, "variant", "what the kernel does: `SWITCH=NAME`,...")
	bindModel(fs, &m.conf, &m.link)
	for _, name := range []string{"filter-queue", "cost"} {
		fs.Lookup(name).DefValue = "" // help has no room for it, or it says nothing
	}
}

// bindModel binds the parameters of a simulation.
func bindModel(fs *pflag.FlagSet, c *sim.Config, link *bitRate) {
	d, s := &c.Device, &c.Senders
	fs.Uint64Var(&c.Seed, "seed", c.Seed, "`NUMBER` that all chance follows from")
	fs.Var(duration{&c.Duration}, "duration", "virtual `TIME` for which senders send")
	fs.Uint64Var(&c.Packets, "packets", c.Packets, "`NUMBER` of packets, 0: no bound")
	fs.IntVar(&c.CPUs, "cpus", c.CPUs, "`NUMBER` of CPUs")
	fs.IntVar(&c.IRQ, "irq-cpu", c.IRQ, "`CPU` that takes the interrupts")
	fs.IntVar(&c.HZ, "hz", c.HZ, "`NUMBER` of clock ticks a second")
	fs.IntVar(&c.Weight, "weight", c.Weight, "quota of a run, in `PACKETS`")
	fs.Var(duration{&c.Slice}, "slice", "`TIME` of a run under quota=time")
	fs.StringVar(&c.Qdisc.Kind, "qdisc", c.Qdisc.Kind, "`KIND`; pfifo mq prio noqueue too")
	fs.IntVar(&c.Qdisc.Limit, "qdisc-limit", c.Qdisc.Limit, "`PACKETS` that a qdisc holds")
	fs.Var(link, "link-rate", "of the link, as 100Mbit; 0: no time")
	fs.IntVar(&d.Queues, "queues", d.Queues, "`NUMBER` of transmit queues")
	fs.IntVar(&d.Ring, "ring", d.Ring, "`NUMBER` of descriptors of a ring")
	fs.IntVar(&d.PerPacket, "descriptors", d.PerPacket, "`NUMBER` a packet up to 4 KiB takes")
	fs.IntVar(&d.Stop, "stop", d.Stop, "stop the queue below so many `FREE`")
	fs.IntVar(&d.Wake, "wake", d.Wake, "start it again at so many `FREE`")
	fs.BoolVar(&d.Busy, "busy", d.Busy, "refuse a packet instead of stopping before")
	fs.StringVar((*string)(&d.Completion), "completion", string(d.Completion), "`WHERE`: napi, hardirq or xmit")
	fs.Var(duration{&d.Delay}, "delay", "`TIME` from sent to the interrupt")
	fs.Var(invertedFlag{&d.BQL}, "no-bql", "the driver charges no bytes")
	fs.Lookup("no-bql").NoOptDefVal = "true"
	fs.Uint32Var(&d.LimitMin, "limit-min", d.LimitMin, "of BQL, in `BYTES`")
	fs.Uint32Var(&d.LimitMax, "limit-max", d.LimitMax, "of BQL, in `BYTES`")
	fs.BoolVar(&d.TSO, "tso", d.TSO, "the device makes the segments of GSO")
	fs.IntVar(&s.Count, "senders", s.Count, "`NUMBER` of sockets that send")
	fs.StringVar(&s.Protocol, "protocol", s.Protocol, "`NAME`: udp or tcp")
	fs.Uint32Var(&s.Length, "length", s.Length, "of a frame, in `BYTES`")
	fs.IntVar(&s.Segments, "segments", s.Segments, "`NUMBER` of them in a GSO packet")
	fs.Uint64Var(&s.Rate, "rate", s.Rate, "`PACKETS` a second of each; 0: all it can")
	fs.StringVar(&s.Pattern, "pattern", s.Pattern, "`NAME`: constant or bursts")
	fs.IntVar(&s.Burst, "burst", s.Burst, "`PACKETS` of a burst")
	fs.Uint32Var(&s.Sndbuf, "sndbuf", s.Sndbuf, "`BYTES` of a UDP socket; 0: no bound")
	fs.IntVar(&s.Window, "window", s.Window, "of TCP, in `PACKETS`")
	fs.Var(duration{&s.RTT}, "rtt", "`TIME` from sent to acknowledged")
	fs.Uint64Var(&s.PacingRate, "pacing-rate", s.PacingRate, "of TCP, in `BYTES` per second")
	fs.BoolVar(&s.Paced, "paced", s.Paced, "TCP keeps to that rate itself")
	fs.Int32Var(&s.LimitOutput, "limit-output", s.LimitOutput, "tcp_limit_output_bytes, in `BYTES`")
	fs.Var(costsFlag{&c.Costs}, "cost", "what steps take, `STEP=TIME`,...")
	fs.IntVar(&c.Costs.Jitter, "jitter", c.Costs.Jitter, "by how many `PERCENT` that varies")
}

// check refuses what no simulation can be.
func (m *modelFlags) check(c *sim.Config) error {
	if c.Load == nil || m.fs.Changed("link-rate") { // else it was measured
		c.Device.Rate = uint64(m.link)
	}
	for s := range m.variants {
		if !sim.Plays(s) {
			return usage("--variant", string(s), "no simulation comes to it", "choose from "+switchesThat(sim.Plays))
		}
	}
	return modelFailure(c.Validate())
}

// switchesThat are those of the model of which something is true.
func switchesThat(is func(model.Switch) bool) string {
	var list []string
	for _, s := range model.Switches {
		if is(s.Name) {
			list = append(list, string(s.Name))
		}
	}
	return strings.Join(list, ", ")
}

// override sets again what was typed, over what a recording says.
func (m *modelFlags) override(c *sim.Config) error {
	fs := pflag.NewFlagSet("model", pflag.ContinueOnError)
	link := m.link
	bindModel(fs, c, &link)
	var errs []error
	m.fs.Visit(func(f *pflag.Flag) {
		if fs.Lookup(f.Name) != nil {
			errs = append(errs, fs.Set(f.Name, f.Value.String()))
		}
	})
	return errors.Join(errs...)
}

// wants says whether a queue of a recording is the one that was asked for.
func (m *modelFlags) wants(q *sim.Recorded) bool {
	return (m.ifname == "" || m.ifname == q.Device.Ifname) && (m.queue < 0 || m.queue == int(q.Txq))
}

// whatIfFailure words an error of model.ParseWhatIf.
func whatIfFailure(err error) error {
	f, ok := variantFailure(err).(*failure)
	if !ok {
		return err
	}
	f.object = "--what-if"
	return f
}

// kernelVariants is a flag that sets switches.
type kernelVariants map[model.Switch]model.Variant

func (k kernelVariants) String() string {
	var list []string
	for _, s := range model.Switches {
		if v, ok := k[s.Name]; ok {
			list = append(list, string(s.Name)+"="+string(v))
		}
	}
	return strings.Join(list, ",")
}

func (k kernelVariants) Type() string { return "VARIANTS" }

func (k kernelVariants) Set(text string) error {
	set, err := model.Parse(text)
	for s, v := range set {
		k[s] = v
	}
	return err
}

// bitRate is a number of bits per second, typed as 1Gbit.
type bitRate uint64

var rateUnits = []unit{{"Gbit", 1_000_000_000}, {"Mbit", 1_000_000}, {"Kbit", 1000}, {"bit", 1}, {"", 1}}

func (r bitRate) String() string {
	for _, u := range rateUnits {
		if r != 0 && uint64(r)%u.size == 0 {
			return strconv.FormatUint(uint64(r)/u.size, 10) + u.name
		}
	}
	return strconv.FormatUint(uint64(r), 10)
}

func (r *bitRate) Type() string { return "RATE" }

func (r *bitRate) Set(text string) error {
	n, ok := scaled(text, rateUnits, 10_000_000_000_000)
	if !ok {
		return errors.New("a rate is a number with Kbit, Mbit or Gbit behind it, up to 10000Gbit")
	}
	*r = bitRate(n)
	return nil
}

// duration is a time, printed in ASCII.
type duration struct{ d *time.Duration }

func (f duration) String() string {
	if f.d == nil {
		return ""
	}
	return strings.Replace(f.d.String(), "µ", "u", 1)
}

func (f duration) Type() string { return "TIME" }

func (f duration) Set(text string) error {
	d, err := time.ParseDuration(text)
	if err := lacksUnit(text, err); err != nil {
		return err
	}
	if err != nil {
		return errors.New("a time is as 100ms, 20us or 1s")
	}
	*f.d = d
	return nil
}

// invertedFlag is true when what it stands for is not.
type invertedFlag struct{ not *bool }

func (f invertedFlag) String() string {
	return strconv.FormatBool(f.not != nil && !*f.not)
}

func (f invertedFlag) Type() string { return "bool" }

func (f invertedFlag) Set(text string) error {
	v, err := strconv.ParseBool(text)
	*f.not = !v
	return err
}

// costsFlag sets what steps take.
type costsFlag struct{ costs *sim.Costs }

func (f costsFlag) String() string {
	if f.costs == nil {
		return ""
	}
	var list []string
	for _, c := range f.costs.All() {
		list = append(list, c.Name+"="+duration{c.Cost}.String())
	}
	return strings.Join(list, ",")
}

func (f costsFlag) Type() string { return "COSTS" }

func (f costsFlag) Set(text string) error {
	for part := range strings.SplitSeq(text, ",") {
		name, value, _ := strings.Cut(part, "=")
		var names []string
		found := false
		for _, c := range f.costs.All() {
			names = append(names, c.Name)
			if c.Name != name {
				continue
			}
			d, err := time.ParseDuration(value)
			if err != nil {
				return fmt.Errorf("%s takes a time, as in %s=120ns", name, name)
			}
			*c.Cost, found = d, true
		}
		if !found {
			return fmt.Errorf("%q is no step; the steps are %s", name, strings.Join(names, ", "))
		}
	}
	return nil
}
