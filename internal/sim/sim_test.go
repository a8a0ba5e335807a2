// SPDX-License-Identifier: Apache-2.0

package sim

import (
	"bytes"
	"context"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/txtrace/txtrace/internal/analysis"
	"github.com/txtrace/txtrace/internal/analysis/rules"
	"github.com/txtrace/txtrace/internal/capture"
	"github.com/txtrace/txtrace/internal/model"
)

// tb is what the helpers need of a test, and of rapid's.
type tb interface {
	Helper()
	Fatalf(format string, args ...any)
}

func simulate(t tb, c Config) (Summary, []byte) {
	t.Helper()
	var b bytes.Buffer
	sum, err := Run(context.Background(), c, &b)
	if err != nil {
		t.Fatalf("%v", err)
	}
	return sum, b.Bytes()
}

func analyze(t tb, b []byte, variant string) *analysis.Result {
	t.Helper()
	r, err := capture.Open(bytes.NewReader(b))
	if err != nil {
		t.Fatalf("%v", err)
	}
	v, err := analysis.ParseVariants(variant)
	if err != nil {
		t.Fatalf("%v", err)
	}
	res, err := analysis.Analyze(r, analysis.Options{Rules: rules.All(), Variant: v})
	if err != nil {
		t.Fatalf("%v", err)
	}
	return res
}

// variantArg spells a kernel as --variant takes it.
func variantArg(kernel map[model.Switch]model.Variant) string {
	var list []string
	for _, s := range model.Switches {
		if v, ok := kernel[s.Name]; ok {
			list = append(list, string(s.Name)+"="+string(v))
		}
	}
	if list == nil {
		return "latest"
	}
	return strings.Join(list, ",")
}

// healthy holds a simulated capture to all rules: nothing may fail, the
// counters must agree, nothing may be lost.
func healthy(t tb, c Config) (Summary, *analysis.Result) {
	t.Helper()
	sum, b := simulate(t, c)
	var res *analysis.Result
	for _, v := range []string{"auto", variantArg(c.Kernel)} {
		res = analyze(t, b, v)
		for _, r := range res.Verify.Rules {
			if v == "auto" && unprovable(c.Kernel, r.ID) {
				continue
			}
			if r.Verdict == analysis.VerdictFail || r.Verdict == analysis.VerdictSuspect {
				t.Fatalf("%s under %s: %s: %s\n%+v", r.ID, v, r.Verdict, r.Evidence[0].Says, c)
			}
			if r.Gate && r.Verdict != analysis.VerdictPass && r.Verdict != analysis.VerdictNotExercised {
				t.Fatalf("%s: %s %s", r.ID, r.Verdict, r.Reason)
			}
		}
	}
	if l := res.Verify.Lost; l.Records != 0 || l.Gaps != 0 || l.Late != 0 || l.Orphans != 0 || l.Cut != "" {
		t.Fatalf("lost: %+v", l)
	}
	for _, k := range res.Checks {
		if past := c.Senders.Past > 0 && k.Name == "tx_packets"; !k.Equal && !past {
			t.Fatalf("counters do not agree: %+v\n%+v", k, c)
		}
	}
	return sum, res
}

// unprovable says that a kernel lacks a check, which alone does not tell it from
// one of today that is wrong: see the Decision of internal/analysis.
func unprovable(kernel map[model.Switch]model.Variant, rule string) bool {
	switch rule {
	case "T2":
		limit := kernel[model.SwitchTSQLimit]
		return limit == model.TSQLimitConstant || limit == model.TSQLimitRate || limit == model.TSQLimitFloor
	case "D4":
		return kernel[model.SwitchQuota] == model.QuotaRestarts
	}
	return false
}

// short is Default for a few milliseconds.
func short(change func(*Config)) Config {
	c := Default()
	c.Duration = 5 * time.Millisecond
	change(&c)
	return c
}

// fill makes senders faster than the link.
func fill(c *Config) { c.Costs.Send = 100; c.Costs.Enqueue = 50 }

// table is kernels, drivers and loads, by what they show.
var table = map[string]func(*Config){
	"default":           func(c *Config) {},
	"full":              fill,
	"napi":              func(c *Config) { fill(c); c.Device.Completion = CompleteNAPI },
	"xmit":              func(c *Config) { fill(c); c.Device.Completion = CompleteXmit },
	"busy":              func(c *Config) { fill(c); c.Device.Busy = true; c.Device.Ring = 64 },
	"small ring":        func(c *Config) { fill(c); c.Device.Ring = 64; c.Device.Delay = 200 * time.Microsecond },
	"no BQL":            func(c *Config) { fill(c); c.Device.BQL = false },
	"limit_max":         func(c *Config) { fill(c); c.Device.LimitMax = 3000 },
	"limit_max 0":       func(c *Config) { fill(c); c.Device.LimitMax = 0 },
	"limit_min":         func(c *Config) { fill(c); c.Device.LimitMin = 381_528 },
	"pfifo, full":       func(c *Config) { fill(c); c.Qdisc = Qdisc{QdiscPfifo, 100}; c.Senders.Sndbuf = 0 },
	"mq":                func(c *Config) { fill(c); c.Qdisc.Kind = QdiscMq; c.Device.Queues, c.CPUs = 4, 4 },
	"shared":            func(c *Config) { fill(c); c.Qdisc.Kind = QdiscShared; c.Device.Queues = 4 },
	"noqueue":           func(c *Config) { fill(c); c.Qdisc.Kind = QdiscNone; c.Senders.Rate = 100_000 },
	"bursts":            func(c *Config) { fill(c); c.Senders.Pattern, c.Senders.Rate = PatternBursts, 50_000 },
	"one CPU":           func(c *Config) { fill(c); c.CPUs, c.IRQ = 1, 0 },
	"gso":               func(c *Config) { fill(c); c.Senders.Segments, c.Senders.Length = 20, 1514 },
	"tso":               func(c *Config) { fill(c); c.Senders.Segments, c.Senders.Length, c.Device.TSO = 20, 1514, true },
	"tcp":               func(c *Config) { c.Senders.Protocol, c.Senders.Length = TCP, 1514; c.Senders.Count = 2 },
	"tcp tso":           func(c *Config) { tcp(c); c.Device.TSO = true },
	"tcp gso":           tcp,
	"tcp paced":         func(c *Config) { tcp(c); c.Senders.Paced = true },
	"tcp small ring":    func(c *Config) { tcp(c); c.Device.Ring = 64; c.Device.Busy = true },
	"weight 8":          func(c *Config) { fill(c); c.Weight = 8 },
	"infinite link":     func(c *Config) { fill(c); c.Device.Rate = 0 },
	"slow link":         func(c *Config) { fill(c); c.Device.Rate = 10_000_000 },
	"picks, xps":        func(c *Config) { choosing(c); c.Extras.Choice.XPS = true },
	"picks, tcp":        func(c *Config) { choosing(c); tcp(c) },
	"picks, driver":     func(c *Config) { choosing(c); c.Extras.Choice.Select = true },
	"lists":             receiving,
	"lists, busy":       func(c *Config) { receiving(c); c.Extras.Receive.Busy = true },
	"packets":           func(c *Config) { fill(c); c.Extras.Packets = true },
	"schedules":         func(c *Config) { fill(c); c.Extras.Sched = true },
	"hz 1000, no noise": func(c *Config) { fill(c); c.HZ = 1000; c.Costs.Jitter = 0 },
}

// shows are rules that some of the table must have held for.
var shows = map[string][]string{
	"full": {"D1", "B16"}, "weight 8": {"D2", "D4"}, "infinite link": {"D2", "D4", "X5", "X6"}, "small ring": {"X5", "R5", "D5"},
	"busy": {"R6", "R5"}, "no BQL": {"D9"}, "shared": {"D3", "D5"}, "tcp tso": {"T2", "T3"}, "limit_max": {"D1", "B11"},
	"picks, xps": {"Q2", "Q3", "Q6", "Q8", "Q9"}, "picks, tcp": {"Q3", "Q4"}, "picks, driver": {"Q1"},
	"lists": {"G1", "G2", "M5"}, "lists, busy": {"G1", "M5"}, "packets": {"W3"}, "schedules": {"L2"},
}

// Each is healthy, and not for want of anything to judge.
func TestHealthy(t *testing.T) {
	for name, change := range table {
		t.Run(name, func(t *testing.T) {
			sum, res := healthy(t, short(change))
			if sum.Sent == 0 {
				t.Error("nothing was sent")
			}
			for _, r := range res.Verify.Rules {
				if slices.Contains(shows[name], r.ID) && r.Held == 0 {
					t.Errorf("%s was not held: %s %s", r.ID, r.Verdict, r.Reason)
				}
			}
		})
	}
}

// The header says of every fact that a rule needs whether it is there.
func TestFacts(t *testing.T) {
	c := Default()
	told := make(map[string]bool)
	for _, choice := range newSim(&c).header().Plan {
		told[choice.Fact] = true
	}
	for _, r := range rules.All() {
		for _, f := range r.Needs {
			if !told[f] {
				t.Errorf("%s needs %s, of which the header says nothing", r.ID, f)
			}
		}
	}
}

// choosing is a device of four queues, and tasks that are moved.
func choosing(c *Config) {
	fill(c)
	c.CPUs, c.Device.Queues, c.Qdisc.Kind = 4, 4, QdiscMq
	c.Extras.Choice = Choice{On: true, Reselect: time.Second, Migrate: 7, Resize: 50, Reroute: 20}
}

func receiving(c *Config) {
	c.Extras.Receive = Receive{On: true, Count: 2000, Gap: 300, Batch: 8, Merge: 3, Budget: 64}
}

// tcp is four sockets with GSO packets.
func tcp(c *Config) {
	c.Senders.Protocol, c.Senders.Length, c.Senders.Segments, c.Senders.Count = TCP, 1514, 16, 4
	c.Senders.LimitOutput = 1 << 20
}
