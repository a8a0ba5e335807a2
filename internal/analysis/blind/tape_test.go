// SPDX-License-Identifier: Apache-2.0

// Package blind has no code but tests: of the rules as a whole, on captures of
// the simulator and of real kernels (testdata). They change captures without
// looking (blind_test.go) and lose records of them (loss_test.go).
package blind

import (
	"bytes"
	"context"
	"io"
	"os"
	"path/filepath"
	"reflect"
	"runtime/debug"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/txtrace/txtrace/internal/analysis"
	"github.com/txtrace/txtrace/internal/analysis/rules"
	"github.com/txtrace/txtrace/internal/capture"
	"github.com/txtrace/txtrace/internal/event"
	"github.com/txtrace/txtrace/internal/model"
	"github.com/txtrace/txtrace/internal/sim"
)

// The tests play captures again and again, each of which leaves little: rarer
// collections take a third less time.
func TestMain(m *testing.M) {
	debug.SetGCPercent(800)
	os.Exit(m.Run())
}

// tape is a capture in memory.
type tape struct {
	name    string
	variant string // that its kernel is judged under
	header  *capture.Header
	footer  *capture.Footer
	recs    []event.Any
	kinds   [][]int // the records of each kind, once it was asked for
}

// copyOf is a record of its own.
func copyOf(r event.Any) event.Any {
	v := reflect.New(reflect.TypeOf(r).Elem())
	v.Elem().Set(reflect.ValueOf(r).Elem())
	return v.Interface().(event.Any)
}

func read(tb testing.TB, name, variant string, in io.Reader) *tape {
	tb.Helper()
	r, err := capture.Open(in)
	if err != nil {
		tb.Fatal(name, err)
	}
	t := &tape{name: name, variant: variant, header: r.Header()}
	cut := false
	for {
		item, err := r.Next()
		if err == io.EOF {
			t.footer = r.Footer()
			t.ends(cut)
			return t
		}
		if err == nil && item.Gap != nil && item.Gap.End {
			cut = true // of a recording
			continue
		}
		if err != nil || item.Gap != nil {
			tb.Fatal(name, err, item.Gap)
		}
		t.recs = append(t.recs, copyOf(item.Record))
	}
}

// ends makes the ledger of a recording that was cut one of the records that are
// left: its last numbers are theirs, and no count is below what they tell. What
// runs the kernel skipped after them is not of it.
func (t *tape) ends(cut bool) {
	last := make(map[int]uint32)
	told := make(map[[2]int]*event.Ledger)
	for _, r := range t.recs {
		last[int(r.Head().CPU)] = r.Head().Seq
		if l, ok := r.(*event.Ledger); ok {
			told[[2]int{int(l.Program), int(l.OfCPU)}] = l
		}
	}
	for i := range t.footer.Ledger {
		row := &t.footer.Ledger[i]
		if row.Program == 0 {
			row.LastSeq = last[row.CPU]
		}
		l := told[[2]int{row.Program, row.CPU}]
		if l != nil && l.Seen > row.Seen {
			row.Seen, row.Filtered, row.Submitted = l.Seen, l.Filtered, l.Seen-l.Filtered
		}
		if cut {
			row.Missed = 0
			if l != nil {
				row.Missed = l.Missed
			}
		}
	}
}

// recorded are the captures of testdata: the first 400 records of real kernels,
// named by kernel and scenario of testenv, on e1000e.
func recorded(tb testing.TB) []*tape { return files(tb, "testdata/*.txtrace") }

// queues are the first 500 records or so of real kernels with the choice of
// queues and lists of received packets, on an igb of several queues or with TCP
// that is paced; in those named packets each call of the driver is recorded, too.
func queues(tb testing.TB) []*tape { return files(tb, "testdata/queues/*.txtrace") }

// all are those of which all is recorded that can be (--with all --detail packet):
// the first 700 records of the scenario everything on an igb and an e1000e, and
// small loads with what is rare in it. In lockless two TCP flows and datagrams go
// through a pfifo_fast that is exchanged for a pfifo and back, which empties it,
// and AF_PACKET sends past it; in stalls the device waits for 100 ms before it
// sends, and the queue has a stall_thrs of 20.
func all(tb testing.TB) []*tape { return files(tb, "testdata/all/*.txtrace") }

// real are the captures of real kernels.
func real(tb testing.TB) []*tape { return slices.Concat(recorded(tb), queues(tb), all(tb)) }

func files(tb testing.TB, pattern string) (list []*tape) {
	tb.Helper()
	files, _ := filepath.Glob(pattern)
	for _, f := range files {
		b, err := os.ReadFile(f)
		if err != nil {
			tb.Fatal(err)
		}
		list = append(list, read(tb, strings.TrimSuffix(filepath.Base(f), ".txtrace"), "auto", bytes.NewReader(b)))
	}
	if len(list) == 0 {
		tb.Fatal("no captures")
	}
	return list
}

// paths are simulated ones, by what they show.
var paths = []struct {
	name   string
	few    uint64 // packets at most, where each makes many records
	change func(*sim.Config)
}{
	{"bulk", 300, func(c *sim.Config) {}},
	{"weight 8", 300, func(c *sim.Config) { c.Weight = 8; c.Device.LimitMin = 381_528 }},
	{"small ring", 100, func(c *sim.Config) { c.Device.Ring, c.Device.LimitMin = 64, 100_000; c.Device.Rate /= 10 }},
	{"refuses", 100, func(c *sim.Config) {
		c.Device.Ring, c.Device.Busy, c.Device.LimitMin = 64, true, 100_000
		c.Device.Rate /= 10
	}},
	{"gso", 15, func(c *sim.Config) { c.Senders.Segments, c.Senders.Length = 20, 1514; c.Device.Ring = 80 }},
	{"no BQL", 60, func(c *sim.Config) { c.Device.BQL = false; c.Device.Completion = sim.CompleteNAPI }},
	{"shared", 150, func(c *sim.Config) { c.Qdisc.Kind = sim.QdiscShared; c.Device.Queues = 2 }},
	{"mq", 150, func(c *sim.Config) { c.Qdisc.Kind = sim.QdiscMq; c.Device.Queues, c.Device.Rate = 2, 100_000_000 }},
	{"noqueue", 60, func(c *sim.Config) { c.Qdisc.Kind = sim.QdiscNone; c.Senders.Rate = 50_000 }},
	{"tcp", 20, func(c *sim.Config) {
		c.Senders.Protocol, c.Senders.Length, c.Senders.Segments, c.Senders.Count = sim.TCP, 1514, 16, 4
		c.Senders.LimitOutput = 1 << 20
	}},
	{"picks, xps", 40, func(c *sim.Config) {
		choosing(c)
		c.Extras.Choice.XPS, c.Extras.Choice.Resize = true, 15
		c.Kernel = map[model.Switch]model.Variant{model.SwitchPickCache: model.PickCacheForever}
	}},
	{"picks, hash", 40, func(c *sim.Config) {
		choosing(c)
		c.Senders.Protocol, c.Senders.Length, c.Senders.Segments, c.Senders.LimitOutput = sim.TCP, 1514, 4, 1<<20
		c.Extras.Choice.Reroute = 8
	}},
	{"picks, forwarded", 40, func(c *sim.Config) { choosing(c); c.Extras.Choice.Forwarded, c.Extras.Choice.Loose = 6, true }},
	{"picks, driver", 40, func(c *sim.Config) { choosing(c); c.Extras.Choice.Select = true }},
	{"lists", 10, func(c *sim.Config) { receiving(c) }},
	{"lists of skbs, busy polled", 10, func(c *sim.Config) {
		receiving(c)
		c.Extras.Receive.Busy = true
		c.Kernel = map[model.Switch]model.Variant{model.SwitchGROBatch: model.GROBatchSkbs}
	}},
	{"packets", 100, func(c *sim.Config) { c.Extras.Packets = true }},
	{"packets, refused", 40, func(c *sim.Config) {
		c.Extras.Packets = true
		c.Device.Ring, c.Device.Busy, c.Device.LimitMin = 64, true, 100_000
		c.Device.Rate /= 10
	}},
	{"past", 300, func(c *sim.Config) { c.Senders.Past = 2 }},
	{"old", 100, func(c *sim.Config) {
		c.Kernel = map[model.Switch]model.Variant{
			model.SwitchBulk: model.BulkBytes, model.SwitchXmitStop: model.XmitStopAny, model.SwitchRequeue: model.RequeueTail,
		}
		c.Device.Ring, c.Device.LimitMin = 64, 100_000
		c.Device.Rate /= 10
	}},
}

// choosing is a device of four queues, and tasks that are moved.
func choosing(c *sim.Config) {
	c.CPUs, c.Device.Queues, c.Qdisc.Kind = 4, 4, sim.QdiscMq
	c.Extras.Choice = sim.Choice{On: true, Reselect: time.Second, Migrate: 3}
}

func receiving(c *sim.Config) {
	c.Extras.Receive = sim.Receive{On: true, Count: 150, Gap: 300, Batch: 8, Merge: 3, Budget: 16}
}

// simulated are short captures of all paths, of so much of their packets.
func simulated(tb testing.TB, seed, percent uint64) (list []*tape) {
	tb.Helper()
	for i, p := range paths {
		c := sim.Default()
		c.Seed, c.Duration, c.Packets = seed+uint64(i), 0, max(1, p.few*percent/100)
		c.Costs.Send, c.Costs.Enqueue = 100, 50
		p.change(&c)
		var b bytes.Buffer
		if _, err := sim.Run(context.Background(), c, &b); err != nil {
			tb.Fatal(p.name, err)
		}
		variant := "latest"
		for s, v := range c.Kernel {
			variant = strings.TrimPrefix(variant+","+string(s)+"="+string(v), "latest,")
		}
		list = append(list, read(tb, "simulated, "+p.name, variant, &b))
	}
	return list
}

// source plays records, with a gap where a number is missing.
type source struct {
	t       *tape
	recs    []event.Any
	footer  *capture.Footer
	next    map[uint16]uint32
	last    map[uint16]uint64
	end     map[uint16]uint32 // the number after the last of a CPU
	pending event.Any
	stats   capture.ReaderStats
}

// play gives all records but those that lost says; nil loses none.
func (t *tape) play(lost func(int) bool) *source {
	s := &source{t: t, recs: t.recs, footer: t.footer, next: map[uint16]uint32{}, last: map[uint16]uint64{}, end: map[uint16]uint32{}}
	for _, r := range t.recs {
		s.end[r.Head().CPU] = max(s.end[r.Head().CPU], r.Head().Seq+1)
	}
	for _, row := range t.footer.Ledger {
		if row.Program == 0 && row.LastSeq > 0 { // as internal/capture does
			s.end[uint16(row.CPU)] = max(s.end[uint16(row.CPU)], row.LastSeq+1)
		}
	}
	if lost == nil {
		return s
	}
	s.recs = nil
	missing := make(map[int]uint64)
	for i, r := range t.recs {
		if lost(i) {
			missing[int(r.Head().CPU)]++
		} else {
			s.recs = append(s.recs, r)
		}
	}
	s.footer = t.lacks(missing)
	return s
}

// lacks is the footer if so many records of each CPU are counted as lost.
func (t *tape) lacks(missing map[int]uint64) *capture.Footer {
	f := *t.footer
	f.Ledger = slices.Clone(f.Ledger)
	for i := range f.Ledger {
		row := &f.Ledger[i]
		n := min(missing[row.CPU], row.Submitted)
		row.Submitted -= n
		row.Lost += n
		missing[row.CPU] -= n
	}
	return &f
}

func (s *source) Header() *capture.Header    { return s.t.header }
func (s *source) Footer() *capture.Footer    { return s.footer }
func (s *source) Cut() *capture.CutInfo      { return nil }
func (s *source) Stats() capture.ReaderStats { return s.stats }

func (s *source) Next() (capture.Item, error) {
	if r := s.pending; r != nil {
		s.pending = nil
		return s.give(r), nil
	}
	if len(s.recs) == 0 {
		return s.tail()
	}
	r := s.recs[0]
	s.recs = s.recs[1:]
	h := r.Head()
	if want := s.next[h.CPU]; h.Seq > want {
		s.pending = r
		return s.gap(h.CPU, want, h.Seq, h.Time, false), nil
	}
	return s.give(r), nil
}

func (s *source) give(r event.Any) capture.Item {
	h := r.Head()
	s.next[h.CPU], s.last[h.CPU] = h.Seq+1, h.Time
	return capture.Item{Record: r}
}

func (s *source) gap(cpu uint16, want, seq uint32, to uint64, end bool) capture.Item {
	from, seen := s.last[cpu]
	if !seen {
		from = s.t.header.Clock.Monotonic
	}
	s.stats.Gaps++
	s.stats.Lost += uint64(seq - want)
	return capture.Item{Gap: &capture.Gap{CPU: cpu, AfterSeq: want - 1, BeforeSeq: seq, Lost: seq - want, FromNS: from, ToNS: to, Start: !seen, End: end}}
}

// tail tells of what is missing after the last record of a CPU.
func (s *source) tail() (capture.Item, error) {
	for cpu, end := range s.end {
		if want := s.next[cpu]; want < end {
			s.next[cpu] = end
			return s.gap(cpu, want, end, s.footer.Clock.Monotonic, true), nil
		}
	}
	return capture.Item{}, io.EOF
}

func variants(tb testing.TB, spec string) analysis.Variants {
	tb.Helper()
	v, err := analysis.ParseVariants(spec)
	if err != nil {
		tb.Fatal(err)
	}
	return v
}

// judge gives every rule's verdict.
func judge(tb testing.TB, s *source, v analysis.Variants) []analysis.RuleVerdict {
	tb.Helper()
	res, err := analysis.Analyze(s, analysis.Options{Rules: rules.All(), Variant: v})
	if err != nil {
		tb.Fatal(err)
	}
	return res.Verify.Rules
}

// failed are the rules that a source breaks, or of which it is suspect without
// good reason, and what the first evidence says.
func failed(tb testing.TB, s *source, v analysis.Variants) map[string]string {
	tb.Helper()
	ids := fails(tb, s.t.name, judge(tb, s, v))
	delete(ids, shows[s.t.name])
	return ids
}

func fails(tb testing.TB, name string, verdicts []analysis.RuleVerdict) map[string]string {
	tb.Helper()
	ids := make(map[string]string)
	for _, r := range verdicts {
		if r.Verdict == analysis.VerdictFail || r.Verdict == analysis.VerdictSuspect {
			if len(r.Evidence) == 0 {
				tb.Errorf("%s: %s is %s without evidence: %+v", name, r.ID, r.Verdict, r)
				continue
			}
			ids[r.ID] = r.Evidence[0].Says
		}
	}
	return ids
}

// amount is how many cases are tried: few by itself, more in make test
// (TXTRACE_CASES).
func amount(tb testing.TB, few int) int {
	tb.Helper()
	v := os.Getenv("TXTRACE_CASES")
	if v == "" {
		return few
	}
	n, err := strconv.Atoi(v)
	if err != nil {
		tb.Fatal(err)
	}
	return n
}

// shows are the rules that a capture is suspect of with good reason, by its name.
var shows = map[string]string{"7.2-virtio-stalls": "B14"}

// None of the captures fails as it is.
func TestWhole(t *testing.T) {
	for _, tape := range slices.Concat(real(t), simulated(t, 1, 100)) {
		for _, v := range []string{"auto", tape.variant} {
			for id, says := range failed(t, tape.play(nil), variants(t, v)) {
				t.Errorf("%s: %s under %s: %s", tape.name, id, v, says)
			}
		}
		t.Logf("%-25s %d records", tape.name, len(tape.recs))
	}
}
