// SPDX-License-Identifier: Apache-2.0

package capture

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/txtrace/txtrace/internal/event"
	"pgregory.net/rapid"
)

// Whatever the records are, in whatever order they left the ring and wherever
// blocks were closed: what was written is delivered, in order, with gaps
// exactly where records are missing.
func TestRoundTrip(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		r := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 0))
		cpus := rapid.SliceOfNDistinct(rapid.SampledFrom([]uint16{0, 1, 2, 63, 64, 65, 300, event.UserCPU}), 1, 5, rapid.ID).Draw(t, "cpus")
		n := rapid.IntRange(1, 400).Draw(t, "records")
		lost := rapid.SampledFrom([]int{0, 0, 3, 50}).Draw(t, "percent lost")
		late := rapid.SampledFrom([]int{0, 0, 1, 20}).Draw(t, "places late")
		kinds := allKinds()

		// What the CPUs took, in order of time, and what of it reached the file.
		seq := map[uint16]uint32{}
		var taken, kept [][]byte
		ns := uint64(1000)
		for range n {
			ns += uint64(r.IntN(3000))
			cpu := cpus[r.IntN(len(cpus))]
			b := rawRecord(r, kinds[r.IntN(len(kinds))], cpu, seq[cpu], ns)
			seq[cpu]++
			taken = append(taken, b)
		}
		for _, b := range taken {
			if r.IntN(100) >= lost {
				kept = append(kept, b)
			}
		}

		// Ring order: some records late, none by more than lookahead groups.
		ring := slices.Clone(kept)
		for i := range ring {
			if late > 0 && r.IntN(4) == 0 {
				j := min(len(ring)-1, i+r.IntN(late+1))
				b := ring[i]
				ring = slices.Insert(slices.Delete(ring, i, i+1), j, b)
			}
		}
		cuts := map[int]bool{}
		for i := 0; i < len(ring); i += max(1, late) + r.IntN(60) {
			cuts[i] = true
		}

		f := &Footer{Clock: Clock{Monotonic: ns + 500}}
		for cpu, s := range seq {
			f.Ledger = append(f.Ledger, LedgerRow{CPU: int(cpu), LastSeq: s - 1, Lost: 1})
		}
		d := readAll(t, write(t, ring, cuts, f))
		if err := sameRecords(d.recs, kept); err != nil {
			t.Fatal(err)
		}
		if late == 0 {
			if err := inOrder(d.recs); err != nil {
				t.Fatal(err)
			}
		}
		if got, want := d.gaps, gapsIn(taken, kept, seq, ns+500); !sameGaps(got, want) {
			t.Fatal(cmp.Diff(want, got))
		}
		for cpu := range seq {
			mine := slices.DeleteFunc(slices.Clone(d.recs), func(b []byte) bool { return cpuOf(b) != cpu })
			if err := inOrder(mine); err != nil {
				t.Fatal(err)
			}
		}
		s := d.r.Stats()
		if s.Late != 0 || s.Corrupt != 0 || s.Unknown != 0 || late == 0 && s.Unordered != 0 || d.r.Cut() != nil {
			t.Fatalf("%+v, cut %v", s, d.r.Cut())
		}
	})
}

// gapsIn is what should be reported when only kept of taken is in the file.
func gapsIn(taken, kept [][]byte, seq map[uint16]uint32, end uint64) []Gap {
	have := map[uint16]map[uint32]uint64{}
	for _, b := range kept {
		if have[cpuOf(b)] == nil {
			have[cpuOf(b)] = map[uint32]uint64{}
		}
		have[cpuOf(b)][seqOf(b)] = timeOf(b)
	}
	var gs []Gap
	for cpu, n := range seq {
		from, after := uint64(1), ^uint32(0)
		for s := range n + 1 {
			ns, ok := have[cpu][s]
			if s == n {
				ns, ok = end, true
			}
			if !ok {
				continue
			}
			if s != after+1 {
				gs = append(gs, Gap{CPU: cpu, AfterSeq: after, BeforeSeq: s, Lost: s - after - 1,
					FromNS: from, ToNS: ns, Start: after == ^uint32(0), End: s == n})
			}
			from, after = ns, s
		}
	}
	return gs
}

func sameGaps(a, b []Gap) bool {
	order := func(x, y Gap) int {
		return int(int64(x.CPU)<<32+int64(x.BeforeSeq)) - int(int64(y.CPU)<<32+int64(y.BeforeSeq))
	}
	a, b = slices.Clone(a), slices.Clone(b)
	slices.SortFunc(a, order)
	slices.SortFunc(b, order)
	return slices.Equal(a, b)
}

// The generated load comes back as it went in, over many groups.
func TestBulkUDP(t *testing.T) {
	for _, l := range loads {
		recs := genBulkUDP(7, 20000, l.every)
		d := readAll(t, write(t, recs, nil, &Footer{}))
		if err := sameRecords(d.recs, recs); err != nil {
			t.Error(l.name, err)
		}
		if err := inOrder(d.recs); err != nil {
			t.Error(l.name, err)
		}
		if len(d.gaps) > 0 || d.r.Stats().Groups < 5 {
			t.Errorf("%s: gaps %v, stats %+v", l.name, d.gaps, d.r.Stats())
		}
	}
}

// Sequence numbers go on after 2^32-1, and no loss may hide in that.
func TestSequenceWraps(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 1))
	var recs [][]byte
	cuts := map[int]bool{}
	add := func(seq uint32) { recs = append(recs, rawRecord(r, event.KindRun, 3, seq, uint64(len(recs)))) }
	for i := range uint32(4) {
		for j := range uint32(8) { // groups enough to give up what is missing
			cuts[len(recs)] = true
			add(i<<30 + j)
		}
	}
	cuts[len(recs)], cuts[len(recs)+90] = true, true
	for i := range uint32(200) {
		if s := i - 100; s != 5 && s != ^uint32(0) {
			add(s)
		}
	}
	d := readAll(t, write(t, recs, cuts, &Footer{Ledger: []LedgerRow{{CPU: 3, LastSeq: 101, Submitted: 1}}}))
	if len(d.recs) != len(recs) {
		t.Fatalf("%d of %d records", len(d.recs), len(recs))
	}
	if err := inOrder(d.recs); err != nil {
		t.Error(err)
	}
	var lost []uint32
	for _, g := range d.gaps {
		lost = append(lost, g.Lost)
	}
	const q = 1<<30 - 8
	if want := []uint32{q, q, q, q - 100, 1, 1, 2}; !slices.Equal(lost, want) {
		t.Errorf("lost %v, want %v", lost, want)
	}
}

// Put, PutAny and Write store what Append does.
func TestWrite(t *testing.T) {
	var recs []event.Any
	for i, k := range allKinds() {
		b := rawRecord(rand.New(rand.NewPCG(2, 2)), k, 0, uint32(i), uint64(5+i))
		rec, err := event.Decode(b)
		if err != nil {
			t.Fatal(err)
		}
		recs = append(recs, rec)
	}
	for _, f := range []*Footer{nil, {Ended: "child"}} {
		var file sink
		if err := Write(&file, &Header{}, recs, f); err != nil {
			t.Fatal(err)
		}
		d := readAll(t, file.Bytes())
		if len(d.recs) != len(recs) || len(d.gaps) != 0 || (d.r.Cut() == nil) != (f != nil) {
			t.Errorf("%d records, gaps %v, cut %v", len(d.recs), d.gaps, d.r.Cut())
		}
		for i, b := range d.recs {
			if event.Kind(b[0]) != event.Kind(i+1) {
				t.Errorf("record %d is a %s", i, event.Kind(b[0]))
			}
		}
		if f != nil && (d.r.Footer().Ended != "child" || d.r.Footer().Records["ledger"] != 1) {
			t.Errorf("footer %+v", d.r.Footer())
		}
	}
	if err := PutAny(&Writer{}, &event.Header{}); err == nil {
		t.Error("a bare header was taken")
	}
}
