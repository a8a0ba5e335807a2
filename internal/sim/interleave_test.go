// SPDX-License-Identifier: Apache-2.0

package sim

import (
	"context"
	"io"
	"os"
	"strconv"
	"testing"

	"pgregory.net/rapid"

	"github.com/txtrace/txtrace/internal/analysis"
	"github.com/txtrace/txtrace/internal/analysis/rules"
	"github.com/txtrace/txtrace/internal/capture"
	"github.com/txtrace/txtrace/internal/event"
)

// tape keeps the records of a simulation, and gives them to the analysis as a
// capture would: most of the time of a short one goes into a file's header.
type tape struct {
	header *capture.Header
	footer *capture.Footer
	recs   []event.Any
}

func (t *tape) Append(rec []byte) error {
	r, err := event.Decode(append([]byte(nil), rec...))
	t.recs = append(t.recs, r)
	return err
}

func (t *tape) Header() *capture.Header    { return t.header }
func (t *tape) Footer() *capture.Footer    { return t.footer }
func (t *tape) Cut() *capture.CutInfo      { return nil }
func (t *tape) Stats() capture.ReaderStats { return capture.ReaderStats{} }

func (t *tape) Next() (capture.Item, error) {
	if len(t.recs) == 0 {
		return capture.Item{}, io.EOF
	}
	r := t.recs[0]
	t.recs = t.recs[1:]
	return capture.Item{Record: r}, nil
}

func tapeOf(t tb, c Config) *tape {
	t.Helper()
	s := newSim(&c)
	out := &tape{header: s.header()}
	s.out = newRecorder(s, out)
	defer s.close()
	if err := s.play(context.Background()); err != nil {
		t.Fatalf("%v\n%+v", err, c)
	}
	out.footer = s.footer()
	return out
}

// interleavings is how many short simulations are played: some by themselves,
// 10^5 in make test, which sets TXTRACE_CASES.
func interleavings(t *testing.T) int {
	t.Helper()
	v := os.Getenv("TXTRACE_CASES")
	if v == "" {
		return 5000
	}
	n, err := strconv.Atoi(v)
	if err != nil {
		t.Fatal(err)
	}
	return n
}

// Short simulations, and many: whatever comes in the middle of what, on one CPU
// or on others, under any kernel nothing fails, nothing is suspect, and no gate
// is in doubt.
func TestInterleavings(t *testing.T) {
	const each = 50 // of one draw of rapid's, which alone takes as long as they
	n := interleavings(t)
	var saw seen
	for range max(1, n/each/100) {
		rapid.Check(t, func(t *rapid.T) {
			c := anyConfig(t)
			if err := c.Validate(); err != nil {
				t.Skip(err)
			}
			list, err := analysis.ParseVariants(variantArg(c.Kernel))
			if err != nil {
				t.Fatalf("%v", err)
			}
			for seed := range uint64(each) {
				one := c
				one.Seed += seed
				one.Packets = 1 + (c.Packets+seed)%24
				one.Extras.Receive.Count = int(1 + (uint64(c.Extras.Receive.Count)+seed)%24)
				source := tapeOf(t, one)
				saw.look(source.recs)
				res, err := analysis.Analyze(source, analysis.Options{Rules: rules.All(), Variant: list})
				if err != nil {
					t.Fatalf("%v", err)
				}
				for _, r := range res.Verify.Rules {
					if r.Verdict == analysis.VerdictFail || r.Verdict == analysis.VerdictSuspect {
						t.Fatalf("%s: %s: %s\n%+v", r.ID, r.Verdict, r.Evidence[0].Says, one)
					}
					if r.Gate && r.Verdict != analysis.VerdictPass && r.Verdict != analysis.VerdictNotExercised {
						t.Fatalf("%s: %s %s\n%+v", r.ID, r.Verdict, r.Reason, one)
					}
				}
			}
		})
	}
	t.Logf("%+v", saw)
	// Foreign sends come some 2000 times in 10^5, but not in every 5000.
	if n >= 100000 && (saw.Nested == 0 || saw.Foreign == 0 || saw.Middle == 0 || saw.Moved == 0) || saw.Picks == 0 || saw.Lists == 0 || saw.Calls == 0 {
		t.Error("something was never played")
	}
}

// seen counts what was played: simulations, their records, hand-overs with
// another device's inside, or after others had charged the queue, completions
// by an interrupt in the middle of a span, directs on another CPU than the
// one before, choices of a queue, those among them during which the device or
// the route changed, lists of received packets, and calls of the driver.
type seen struct{ Simulations, Records, Nested, Foreign, Middle, Moved, Picks, Changed, Lists, Calls int }

func (s *seen) look(recs []event.Any) {
	s.Simulations++
	s.Records += len(recs)
	cpu := -1
	hand := func(h *event.Header, foreign uint32) {
		if h.Flags&event.FlagNested != 0 {
			s.Nested++
		}
		if foreign != 0 && foreign != event.ForeignUnknown {
			s.Foreign++
		}
	}
	for _, r := range recs {
		switch r := r.(type) {
		case *event.Direct:
			hand(&r.Header, r.Hand.Foreign)
			if cpu >= 0 && cpu != int(r.CPU) {
				s.Moved++
			}
			cpu = int(r.CPU)
		case *event.Handover:
			hand(&r.Header, r.Foreign)
		case *event.Pick:
			s.Picks++
			if r.QueuesBegin != r.QueuesEnd || r.Rerouted != 0 {
				s.Changed++
			}
		case *event.GRO:
			s.Lists++
		case *event.Packet:
			s.Calls++
		case *event.Complete:
			if r.Context == event.ContextHardirq && r.Depth > 0 {
				s.Middle++
			}
		}
	}
}
