// SPDX-License-Identifier: Apache-2.0

package blind

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/txtrace/txtrace/internal/analysis"
	"github.com/txtrace/txtrace/internal/event"
)

// clockError is by how much clocks of two CPUs may differ, in ns, as rules.N6
// takes it.
const clockError = 50_000

// skewed is the tape as CPUs would have recorded it whose clocks are ahead by
// that much: each CPU's records in their order, those of others where their
// times put them.
func (t *tape) skewed(ahead map[uint16]uint64) *tape {
	lanes := make(map[uint16][]event.Any)
	var cpus []uint16
	for _, r := range t.recs {
		c := copyOf(r)
		h := c.Head()
		h.Time += ahead[h.CPU]
		if h.Parent != 0 {
			if h.Parent += uint32(ahead[h.CPU]); h.Parent == 0 {
				h.Parent = 1 // as ID
			}
		}
		if lanes[h.CPU] == nil {
			cpus = append(cpus, h.CPU)
		}
		lanes[h.CPU] = append(lanes[h.CPU], c)
	}
	s := *t
	s.recs = make([]event.Any, 0, len(t.recs))
	for len(s.recs) < len(t.recs) {
		first := slices.MinFunc(cpus, func(a, b uint16) int {
			switch {
			case len(lanes[a]) == 0 && len(lanes[b]) == 0:
				return 0
			case len(lanes[a]) == 0:
				return 1
			case len(lanes[b]) == 0:
				return -1
			}
			return int(int64(lanes[a][0].Head().Time - lanes[b][0].Head().Time))
		})
		s.recs = append(s.recs, lanes[first][0])
		lanes[first] = lanes[first][1:]
	}
	return &s
}

// Records of two CPUs may come in another order than what they tell of, within
// the error of their clocks: of a right kernel none makes a rule fail.
func TestClocks(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 5))
	tapes := slices.Concat(real(t), simulated(t, 1, 100), simulated(t, 100, 30))
	moved := 0
	for i := range amount(t, 5_000) / 10 {
		tape := tapes[i%len(tapes)]
		ahead := make(map[uint16]uint64)
		for _, rec := range tape.recs {
			cpu := rec.Head().CPU
			if _, drawn := ahead[cpu]; !drawn && cpu != event.UserCPU {
				ahead[cpu] = r.Uint64N(clockError + 1)
			}
		}
		s := tape.skewed(ahead)
		for k := range s.recs {
			if s.recs[k].Head().CPU != tape.recs[k].Head().CPU {
				moved++
			}
		}
		for _, v := range []analysis.Variants{variants(t, "auto"), variants(t, tape.variant)} {
			for id, says := range failed(t, s.play(nil), v) {
				t.Errorf("%s, case %d, clocks ahead by %v: %s: %s", tape.name, i, ahead, id, says)
			}
		}
	}
	if moved == 0 {
		t.Error("no record came at another place")
	}
	t.Logf("%d records came at another place", moved)
}
