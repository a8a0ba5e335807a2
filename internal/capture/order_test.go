// SPDX-License-Identifier: Apache-2.0

package capture

import (
	"math/rand/v2"
	"testing"

	"github.com/txtrace/txtrace/internal/event"
)

// A record that a preempted program submits late finds its place as long as it
// is at most lookahead groups late. One that is later is part of the gap.
func TestLate(t *testing.T) {
	for late := range lookahead + 3 {
		r := rand.New(rand.NewPCG(8, 8))
		var recs [][]byte
		cuts := map[int]bool{}
		for i := range uint32(80) { // four of each CPU make a group
			if i%4 == 0 {
				cuts[len(recs)] = true
			}
			ns := 1000 + 100*uint64(i)
			if i != 21 {
				recs = append(recs, rawRecord(r, event.KindRun, 0, i, ns))
			}
			recs = append(recs, rawRecord(r, event.KindRun, 1, i, ns+50))
			if int(i) == 23+4*late {
				recs = append(recs, rawRecord(r, event.KindNotice, 0, 21, 3100))
			}
		}
		d := readAll(t, write(t, recs, cuts, nil))
		if err := inOrder(d.recs); err != nil {
			t.Errorf("%d groups late: %v", late, err)
		}
		want := 160
		if late > lookahead {
			want = 159
		}
		if s := d.r.Stats(); len(d.recs) != want || s.Late != int64(160-want) || len(d.gaps) != 160-want || s.Unordered != 0 {
			t.Errorf("%d groups late: %d records, gaps %+v, %+v", late, len(d.recs), d.gaps, s)
		}
	}
}

// A gap is delivered where it begins: before records of other CPUs that are
// later than that.
func TestGapPlace(t *testing.T) {
	r := rand.New(rand.NewPCG(9, 9))
	var recs [][]byte
	for i := range uint32(10) {
		if i < 3 || i > 6 {
			recs = append(recs, rawRecord(r, event.KindRun, 0, i, uint64(1000+100*i)))
		}
		recs = append(recs, rawRecord(r, event.KindRun, 1, i, uint64(1050+100*i)))
	}
	rd := readAll(t, write(t, recs, nil, nil))
	if len(rd.gaps) != 1 || rd.gaps[0] != (Gap{CPU: 0, AfterSeq: 2, BeforeSeq: 7, Lost: 4, FromNS: 1200, ToNS: 1700}) {
		t.Fatalf("gaps %+v", rd.gaps)
	}
	d := reopen(t, recs)
	var before []byte
	for {
		it, err := d.Next()
		if err != nil {
			t.Fatal(err)
		}
		if it.Gap != nil {
			break
		}
		before = bytesOf(t, it.Record)
	}
	if cpuOf(before) != 0 || seqOf(before) != 2 {
		t.Errorf("the gap follows seq %d of CPU %d", seqOf(before), cpuOf(before))
	}
}

// Memory is bound and the reader goes on whatever the times and numbers are:
// clocks that jump, holes in every group, CPUs that stall one another.
func TestBoundedMemory(t *testing.T) {
	for seed := range uint64(30) {
		r := rand.New(rand.NewPCG(seed, 10))
		var recs [][]byte
		cuts := map[int]bool{}
		var seq [4]uint32
		for i := range 3000 {
			cpu := r.IntN(4)
			ns := uint64(1000 + i*10)
			switch r.IntN(40) {
			case 0:
				ns = r.Uint64()
			case 1:
				ns = 0
			}
			if cpu == 3 {
				ns = uint64(i) // always behind the others
			}
			if r.IntN(10) == 0 {
				seq[cpu] += uint32(r.IntN(3))
			}
			recs = append(recs, rawRecord(r, event.KindResume, uint16(cpu), seq[cpu], ns))
			seq[cpu]++
			if r.IntN(20) == 0 {
				cuts[i] = true
			}
		}
		rd := reopen(t, recs, cuts)
		d, err := drain(t, rd)
		if err != nil {
			t.Fatal(err)
		}
		if n := len(rd.live) + len(rd.free); n > 2*lookahead+2 {
			t.Errorf("seed %d: %d groups in memory", seed, n)
		}
		if len(d.recs) != len(recs) || d.r.Stats().Late != 0 {
			t.Errorf("seed %d: %d of %d records, %+v", seed, len(d.recs), len(recs), d.r.Stats())
		}
	}
}

// The same number twice is delivered once.
func TestDuplicates(t *testing.T) {
	r := rand.New(rand.NewPCG(11, 11))
	var recs [][]byte
	for i := range uint32(300) {
		recs = append(recs, rawRecord(r, event.KindRun, 0, i, uint64(i)))
		if i%3 == 0 {
			recs = append(recs, rawRecord(r, event.KindDirect, 0, i, uint64(i)))
		}
		if i%50 == 0 { // far ahead: the lane cannot be placed, only sorted
			recs = append(recs, rawRecord(r, event.KindRun, 0, 1<<20+i, uint64(1000+i)))
		}
	}
	d := readAll(t, write(t, recs, map[int]bool{200: true}, nil))
	if s := d.r.Stats(); len(d.recs) != 306 || s.Late != 100 || s.Gaps != 6 {
		t.Errorf("%d records, %+v", len(d.recs), s)
	}
}

// Loss at the end is known from the ledger alone; a CPU that took nothing has
// none.
func TestTail(t *testing.T) {
	r := rand.New(rand.NewPCG(12, 12))
	recs := [][]byte{rawRecord(r, event.KindRun, 0, 0, 100), rawRecord(r, event.KindRun, 1, 0, 110)}
	f := &Footer{Clock: Clock{Monotonic: 900}, Ledger: []LedgerRow{
		{CPU: 0, LastSeq: 0, Submitted: 1},
		{CPU: 1, LastSeq: 5, Submitted: 1, Lost: 5},
		{CPU: 2, LastSeq: 3},
		{CPU: 3, Submitted: 4},
		{CPU: 4}, {CPU: 4, Program: 2, Lost: 1},
		{CPU: -1, LastSeq: 3}, {CPU: 1 << 20, LastSeq: 3},
	}}
	d := readAll(t, write(t, recs, nil, f))
	want := []Gap{
		{CPU: 1, AfterSeq: 0, BeforeSeq: 6, Lost: 5, FromNS: 110, ToNS: 900, End: true},
		{CPU: 2, AfterSeq: 1<<32 - 1, BeforeSeq: 4, Lost: 4, FromNS: 1, ToNS: 900, Start: true, End: true},
		{CPU: 4, AfterSeq: 1<<32 - 1, BeforeSeq: 1, Lost: 1, FromNS: 1, ToNS: 900, Start: true, End: true},
	}
	if !sameGaps(d.gaps, want) || d.r.Stats().Lost != 10 {
		t.Errorf("gaps %+v", d.gaps)
	}
}
