// SPDX-License-Identifier: Apache-2.0

package rules

import (
	"fmt"
	"reflect"
	"strconv"
	"strings"
	"testing"

	"github.com/txtrace/txtrace/internal/analysis"
	"github.com/txtrace/txtrace/internal/capture"
	"github.com/txtrace/txtrace/internal/event"
	"github.com/txtrace/txtrace/internal/model"
)

// script plays a case of testdata/cases on a trace. A case is text, a line for
// each record or change of the world, "#" begins a comment:
//
//	queue NAME=V...          set the queue: kind, flags, limit, adj, min, max, counters, state, head (1: requeue there)
//	kernel NAME=V...         weight, truesize, cpus, lacks (a fact without a source)
//	on IFINDEX | txq N | cpu N | tick NS | seconds N
//	timeout                  the watchdog gives the queue up
//	run ... end              a run; between them:
//	  dequeue N LEN LEFT       a batch, LEFT stay in the qdisc
//	  gso LEN                  a packet out of gso_skb
//	  send [n=][rest=][busy][stop][nobql][stopped]   hand the batch over
//	forget                   gso_skb and the queue's state are emptied, as by a reset of the qdisc
//	bypass LEN [...]         a packet that never sat in the qdisc, sent as by send
//	alone BYTES [...]        a hand-over without a qdisc, of one packet or n=
//	charge N                 others charge the queue
//	complete N|all, snapshot, look, reset zero|min
//	pick, list SEGS..., throttle, wfree, resume
//	sysctl NAME BEFORE AFTER, removed, added, renamed
//	again N                  net_tx_action comes N times to the qdisc and lists it again
//	stall JIFFIES [link]     the kernel tells of a stall, with a link or without
//	misses PROGRAM N         the kernel skipped a program; no record may follow
//	ledger PROGRAM           the program's row of the footer; no record may follow
//	lost                     the record before is lost
//	repeat N ... done        the lines between, N times
//	want RULE VARIANT VERDICT [words that the first evidence or the reason has]
//
// Name=V after a record's own words sets a field of it (of a send, the
// hand-over's or, written Direct.Name, the direct's); +V and -V add to what it is. A number, or
// queue states and others by name, joined by "|".
//
// What no want names must not fail and not be suspect, under auto, latest and
// every variant that a want names.
type script struct {
	tb    testing.TB
	t     *trace
	r     *runB
	lost  map[int]bool
	wants []want
}

type want struct {
	rule, variant string
	verdict       analysis.Verdict
	words         string
}

func play(tb testing.TB, text string) *script {
	tb.Helper()
	s := &script{tb: tb, t: newTrace(), lost: make(map[int]bool)}
	s.lines(strings.Split(text, "\n"))
	return s
}

func (s *script) lines(lines []string) {
	for i := 0; i < len(lines); i++ {
		line, _, _ := strings.Cut(lines[i], "#")
		words := strings.Fields(line)
		if len(words) == 0 {
			continue
		}
		if words[0] != "repeat" {
			s.line(words)
			continue
		}
		body := block(lines[i+1:])
		for range s.number(words[1]) {
			s.lines(body)
		}
		i += len(body) + 1
	}
}

// block is what stands before the "done" of a repeat, all if there is none.
func block(lines []string) []string {
	for i, open := 0, 1; i < len(lines); i++ {
		switch word, _, _ := strings.Cut(strings.TrimSpace(lines[i]), " "); word {
		case "repeat":
			open++
		case "done":
			if open--; open == 0 {
				return lines[:i]
			}
		}
	}
	return lines
}

// symbols are values by name.
var symbols = map[string]uint64{
	"drv": event.DrvXoff, "stack": event.StackXoff, "frozen": event.Frozen, "no": 0,
	"onetxq": event.QdiscOneTxQueue, "nolock": event.QdiscNoLock, "cpustats": event.QdiscCPUStats,
	"sched": event.QdiscStateSched, "missed": event.QdiscStateMissed,
	"throttled": event.TSQThrottled, "queued": event.TSQQueued,
	"partial": event.FlagPartial, "nested": event.FlagNested, "torn": event.FlagTorn, "cut": event.FlagWalkCut, "reset": event.FlagReset,
	"hardirq": event.ContextHardirq, "noqueue": event.NoQueue, "cpus": event.MapsCPUs, "zero": 0,
	"empty": event.RtxEmpty, "one": event.RtxOne, "xmit": event.SourceXmit,
}

func (s *script) number(v string) uint64 {
	s.tb.Helper()
	var sum uint64
	for _, part := range strings.Split(v, "|") {
		n, known := symbols[part]
		if !known {
			var err error
			if n, err = strconv.ParseUint(part, 0, 64); err != nil {
				s.tb.Fatalf("%q is no value", v)
			}
		}
		sum |= n
	}
	return sum
}

// set changes fields of a record; the first record that has one is changed.
func (s *script) set(fields []string, records ...any) {
	s.tb.Helper()
	for _, f := range fields {
		name, v, _ := strings.Cut(f, "=")
		field := fieldOf(name, records)
		if !field.IsValid() {
			s.tb.Fatalf("%q names no field", f)
		}
		was := uint64(0)
		if field.CanUint() {
			was = field.Uint()
		}
		n := int64(0)
		switch {
		case v == "":
			s.tb.Fatalf("%q has no value", f)
		case v[0] == '+':
			n = int64(was + s.number(v[1:]))
		case v[0] == '-':
			n = int64(was - s.number(v[1:]))
		default:
			n = int64(s.number(v))
		}
		if field.CanInt() {
			field.SetInt(n)
		} else {
			field.Set(reflect.ValueOf(uint64(n)).Convert(field.Type()))
		}
	}
}

func fieldOf(name string, records []any) reflect.Value {
	of, field, qualified := strings.Cut(name, ".")
	for _, r := range records {
		v := reflect.ValueOf(r).Elem()
		if !qualified {
			field = name
		} else if v.Type().Name() != of {
			continue
		}
		if f := v.FieldByName(field); f.IsValid() {
			return f
		}
	}
	return reflect.Value{}
}

// split takes the words that are no Name=V from those that are.
func split(words []string) (args, fields []string) {
	for _, w := range words {
		if strings.Contains(w, "=") && w[0] >= 'A' && w[0] <= 'Z' {
			fields = append(fields, w)
		} else {
			args = append(args, w)
		}
	}
	return args, fields
}

func (s *script) sent(words []string) (o sent) {
	for _, w := range words {
		switch name, v, _ := strings.Cut(w, "="); name {
		case "n":
			o.n = uint32(s.number(v))
		case "rest":
			o.rest = uint32(s.number(v))
		case "busy":
			o.busy = true
		case "stop":
			o.stop = event.DrvXoff
		case "nobql":
			o.noBQL = true
		case "stopped":
			o.stopped = true
		default:
			s.tb.Fatalf("%q says nothing about a hand-over", w)
		}
	}
	return o
}

func (s *script) line(words []string) {
	s.tb.Helper()
	verb, rest := words[0], words[1:]
	args, fields := split(rest)
	arg := func(i int) uint32 {
		s.tb.Helper()
		if i >= len(args) {
			s.tb.Fatalf("%q wants more", strings.Join(words, " "))
		}
		return uint32(s.number(args[i]))
	}
	t := s.t
	switch verb {
	case "queue", "kernel":
		for _, a := range args {
			s.world(a)
		}
	case "on":
		t.ifindex, t.dql.AdjLimit, t.dql.NumQueued, t.dql.NumCompleted, t.state = arg(0), 0, 0, 0, 0
	case "txq":
		t.txq = uint16(arg(0))
	case "cpu":
		t.cpu = uint16(arg(0))
	case "tick":
		t.tick(uint64(arg(0)))
	case "seconds":
		t.second(uint64(arg(0)))
	case "timeout":
		t.put(&event.Notice{Subtype: event.NoticeWatchdog}, 0)
	case "run":
		s.r = t.run()
		s.set(fields, &s.r.rec)
	case "dequeue":
		s.set(fields, s.r.dequeue(arg(0), arg(1), arg(2)))
	case "gso":
		s.set(fields, s.r.fromGSO(arg(0)))
	case "send":
		d, h := s.r.send(s.sent(args))
		s.set(fields, h, d)
	case "end":
		s.r.end()
		s.set(fields, last[event.Run](t, 0))
	case "forget":
		t.parked, t.state = nil, 0
	case "bypass":
		d, h := t.bypass(arg(0), s.sent(args[1:]))
		s.set(fields, h, d)
	case "alone":
		o := s.sent(args[1:])
		o.n = max(o.n, 1)
		s.set(fields, t.alone(arg(0), o))
	case "charge":
		t.dql.NumQueued += arg(0)
	case "complete":
		n := t.dql.InFlight()
		if args[0] != "all" {
			n = arg(0)
		}
		s.set(fields, t.complete(n))
	case "snapshot":
		s.set(fields, t.snapshot())
	case "look":
		s.set(fields, t.look(event.Sample{}))
	case "again":
		for range arg(0) {
			t.putOnList(1)
			t.served()
		}
	case "stall":
		device := uint8(deviceUp | event.DeviceNoCarrier)
		if len(args) > 1 {
			device = deviceUp
		}
		t.stalled(uint64(arg(0)), t.state, device)
	case "reset":
		t.dql.Reset(map[string]model.Variant{"zero": model.DQLResetZero, "min": model.DQLResetMin}[args[0]], t.jiffies)
		t.state &^= event.StackXoff
	case "lost":
		s.lost[len(t.recs)-1] = true
	case "want":
		w := want{rest[0], rest[1], analysis.Verdict(rest[2]), strings.Join(rest[3:], " ")}
		s.wants = append(s.wants, w)
	default:
		s.other(verb, args, fields, arg)
	}
}

// other are the lines about sockets, lists and notices.
func (s *script) other(verb string, args, fields []string, arg func(int) uint32) {
	s.tb.Helper()
	t := s.t
	switch verb {
	case "pick":
		s.set(fields, t.pick(func(p *event.Pick) {
			for _, a := range args {
				switch name, v, _ := strings.Cut(a, "="); name {
				case "queue":
					choose(p, uint16(s.number(v)))
				case "forwarded":
					forwarded(p, uint16(s.number(v)))
				default:
					s.tb.Fatalf("%q says nothing about a pick", a)
				}
			}
		}))
	case "list":
		var segs []uint32
		for i := range args {
			segs = append(segs, arg(i))
		}
		s.set(fields, t.goUp(segs...))
	case "throttle":
		s.set(fields, t.throttle())
	case "wfree":
		s.set(fields, t.wfree())
	case "resume":
		t.resume()
		s.set(fields, last[event.Resume](t, 0))
	case "sysctl":
		t.own(notice(event.NoticeSysctl, args[0], uint64(arg(1)), uint64(arg(2))))
	case "removed", "added", "renamed":
		n := notice(map[string]uint8{"removed": event.NoticeDevRemoved, "added": event.NoticeDevAdded, "renamed": event.NoticeDevChanged}[verb], "eth0", 0, 0)
		t.own(n)
		n.Netns, n.Ifindex = 7, t.ifindex
		s.set(fields, n)
	case "misses":
		t.own(&event.Ledger{Program: arg(0), Missed: uint64(arg(1))})
		s.row(arg(0)).Missed = uint64(arg(1))
	case "ledger":
		s.set(fields, s.row(arg(0)))
	default:
		s.tb.Fatalf("%q is no verb", verb)
	}
}

// row is that of a program on CPU 0 in the footer, which is made now.
func (s *script) row(program uint32) *capture.LedgerRow {
	s.tb.Helper()
	s.t.footer = s.t.foot(nil)
	for i := range s.t.footer.Ledger {
		if row := &s.t.footer.Ledger[i]; row.Program == int(program) && row.CPU == 0 {
			return row
		}
	}
	s.tb.Fatalf("no program %d", program)
	return nil
}

// world sets a fact of the queue or the kernel.
func (s *script) world(setting string) {
	s.tb.Helper()
	t := s.t
	name, v, _ := strings.Cut(setting, "=")
	switch name {
	case "kind":
		t.kind = v
	case "flags":
		t.qflags = uint32(s.number(v))
	case "limit":
		t.dql.Limit = uint32(s.number(v))
		t.dql.AdjLimit = t.dql.Limit + t.dql.NumCompleted
	case "adj":
		t.dql.AdjLimit = uint32(s.number(v))
	case "min":
		t.dql.MinLimit = uint32(s.number(v))
	case "max":
		t.dql.MaxLimit = uint32(s.number(v))
	case "counters":
		n := uint32(s.number(v))
		t.dql.NumQueued, t.dql.NumCompleted, t.dql.PrevNumQueued, t.dql.AdjLimit = n, n, n, n+t.dql.Limit
	case "state":
		t.state = uint8(s.number(v))
	case "head":
		t.head = s.number(v) != 0
	case "weight":
		t.header.Settings.DevWeight = uint32(s.number(v))
	case "truesize":
		t.header.Kernel.SkbTruesize = uint32(s.number(v))
	case "cpus":
		t.header.Kernel.PossibleCPUs = uint32(s.number(v))
	case "lacks": // a fact that this kernel does not give
		t.header.Plan = append(t.header.Plan, capture.Choice{Fact: v, State: "absent", Reason: "no symbol of that name"})
	default:
		s.tb.Fatalf("%q is no setting", setting)
	}
}

// judge holds the case to what it wants.
func (s *script) judge() {
	s.tb.Helper()
	variants := []string{"auto", "latest"}
	named := make(map[string]bool)
	for _, w := range s.wants {
		named[w.rule+" "+w.variant] = true
		if w.variant != "auto" && w.variant != "latest" {
			variants = append(variants, w.variant)
		}
	}
	if len(s.wants) == 0 {
		s.tb.Error("wants nothing")
	}
	for _, v := range variants {
		res := s.t.analyze(s.tb, v, func(i int) bool { return s.lost[i] })
		for _, r := range res.Verify.Rules {
			bad := r.Verdict == analysis.VerdictFail || r.Verdict == analysis.VerdictSuspect
			if bad && !named[r.ID+" "+v] {
				s.tb.Errorf("%s under %s: %s: %s", r.ID, v, r.Verdict, r.Evidence[0].Says)
			}
		}
		for _, w := range s.wants {
			if w.variant == v {
				w.hold(s.tb, ruling(s.tb, res, w.rule))
			}
		}
	}
}

func (w want) hold(tb testing.TB, r analysis.RuleVerdict) {
	tb.Helper()
	says := r.Reason
	for _, e := range r.Evidence {
		says += "; " + e.Says
	}
	for _, u := range r.Undecided {
		says += "; " + u.Reason
	}
	if r.Verdict != w.verdict || !strings.Contains(says, w.words) {
		tb.Errorf("%s under %s: %s (%s), want %s (%s); counts %v", w.rule, w.variant, r.Verdict, says, w.verdict, w.words, fmt.Sprint(countsOf(r)))
	}
}
