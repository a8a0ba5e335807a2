// SPDX-License-Identifier: Apache-2.0

package accept

import (
	"bytes"
	"io"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/txtrace/txtrace/internal/analysis"
	"github.com/txtrace/txtrace/internal/capture"
	"github.com/txtrace/txtrace/internal/report"
)

// clean holds what is true of every whole recording of a stock kernel: no
// rule fails, nothing is lost, and the exit code is the one that goes with
// the verdicts.
func clean(t *testing.T, file string, v *analysis.Verify, r *report.Report, doubted ...string) {
	t.Helper()
	skipped(t, file)
	want := analysis.ExitOK
	for _, rule := range v.Rules {
		switch rule.Verdict {
		case analysis.VerdictFail, analysis.VerdictSuspect:
			if rule.Verdict == analysis.VerdictSuspect && slices.Contains(doubted, rule.ID) {
				t.Logf("%s: %d suspect: %+v", rule.ID, rule.Suspects, rule.Evidence)
				continue
			}
			t.Errorf("%s: %s: %d broken, %d suspect: %+v", rule.ID, rule.Verdict, rule.Fails, rule.Suspects, rule.Evidence)
		case analysis.VerdictInconclusive:
			t.Logf("%s: inconclusive: %s", rule.ID, rule.Reason)
			want = analysis.ExitInconclusive
		}
	}
	if v.Exit != want {
		t.Errorf("exit %d, its verdicts say %d", v.Exit, want)
	}
	lost := v.Lost
	lost.Missed = 0 // skipped looked at it
	if lost != (analysis.LostInfo{}) || r.Self == nil || r.Self.Lost != 0 {
		t.Errorf("lost: %+v, %+v", lost, r.Self)
	}
	for _, c := range r.Counters.Checks {
		if !c.Equal {
			t.Errorf("the report: %s %s: %d, the kernel's %d", c.Ifname, c.Name, c.Ours, c.Kernel)
		}
	}
}

// interruptible are functions whose callers leave softirqs on.
var interruptible = []string{":tcp_write_xmit", ":__tcp_transmit_skb", ":skb_release_head_state"}

// skipped holds how often the kernel skipped a program that an interrupt met
// under way on its CPU: those of interruptible functions in up to 1.6 % of their
// calls, as was measured of programs like these, and in up to 2.1 % where each
// call of a driver is recorded; others hardly ever.
func skipped(t *testing.T, file string) {
	t.Helper()
	f, err := os.Open(file)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	c, err := capture.Open(f)
	if err != nil {
		t.Fatal(err)
	}
	for err == nil {
		_, err = c.Next()
	}
	if err != io.EOF || c.Footer() == nil {
		t.Fatalf("%s: no footer: %v", file, err)
	}
	rows := make(map[int]capture.LedgerRow)
	for _, row := range c.Footer().Ledger {
		sum := rows[row.Program]
		sum.Seen, sum.Missed = sum.Seen+row.Seen, sum.Missed+row.Missed
		rows[row.Program] = sum
	}
	others, most := uint64(0), uint64(16)
	if c.Header().Detail == "packet" {
		most = 50
	}
	for i, row := range rows {
		switch p := c.Header().Programs[i]; {
		case row.Missed == 0:
		case slices.ContainsFunc(interruptible, func(name string) bool { return strings.HasSuffix(p.Hook, name) }):
			t.Logf("%s: %d runs were skipped, %d were not", p.Hook, row.Missed, row.Seen)
			if row.Missed*1000 > row.Seen*most {
				t.Errorf("%s: %d runs were skipped, %d were not", p.Hook, row.Missed, row.Seen)
			}
		default:
			t.Logf("%s: %d runs were skipped, %d were not", p.Hook, row.Missed, row.Seen)
			others += row.Missed
		}
	}
	if others > 10 {
		t.Errorf("%d runs of programs were skipped", others)
	}
}

// compare holds the report to what perf, tc, ip and sysfs say of the same
// scenario, on both devices.
func compare(t *testing.T, dir, scenario string, r *report.Report) {
	t.Helper()
	sizes, _ := dequeues(t, dir)
	for _, side := range []string{"tx", "rx"} {
		before, after := filepath.Join(dir, "before", side), filepath.Join(dir, "after", side)
		if _, err := os.Stat(before); os.IsNotExist(err) && side == "rx" {
			continue // dummy: nobody is there
		}
		d := ours(r, device(t, after).Ifindex)
		d.hold(t, "packets per dequeue by perf", sizes[d.ifindex])
		b, a := qdiscs(t, before), qdiscs(t, after)
		d.equal(t, "packets by tc", d.packets, a.Packets-b.Packets)
		d.equal(t, "bytes by tc", d.bytes, a.Bytes-b.Bytes)
		d.equal(t, "requeues by tc", d.requeues, a.Requeues-b.Requeues)
		for txq, last := range d.limits {
			d.equal(t, "BQL limit of queue "+strconv.Itoa(txq)+" by sysfs", last, limit(t, after, txq))
		}
		link := device(t, after).Stats.Tx.since(device(t, before).Stats.Tx)
		taken := d.taken // QEMU's e1000e counts a packet with TSO once, as it is handed over
		if scenario == "queues" {
			taken = d.packets // igb's driver counts segments
		}
		d.equal(t, "tx_packets by ip", taken, link.Packets)
		charged := d.bytes
		if scenario == "tcp-tso" {
			// BQL is charged without the headers of the segments that the device
			// makes, which tc counts; the device counts frames with their
			// checksums, of 4 bytes each.
			charged = link.Bytes - 4*link.Packets
		}
		if side == "tx" && len(d.limits) > 0 {
			d.covered(t, charged)
		}
		t.Logf("%s: %d packets, %d bytes, %d requeues, %d handed over; %d dequeues, largest %d; BQL limits %v, %d of %d bytes decided",
			d.ifname, d.packets, d.bytes, d.requeues, d.taken, total(d.sizes), largest(d.sizes), d.limits, d.decided, d.advanced)
	}
}

// sums are those of the report over a device's queues.
type sums struct {
	ifname                   string
	ifindex                  uint32
	sizes                    map[uint32]uint64
	packets, bytes, requeues uint64 // as the qdisc counts them
	taken                    uint64 // handed over, less what came back
	limits                   map[int]uint64
	advanced, decided        uint64
}

func ours(r *report.Report, ifindex uint32) *sums {
	s := &sums{ifindex: ifindex, sizes: make(map[uint32]uint64), limits: make(map[int]uint64)}
	for _, q := range r.Queues {
		if q.Ifindex != ifindex {
			continue
		}
		s.ifname = q.Ifname
		for _, c := range q.Batches.Size {
			s.sizes[c.N] += uint64(c.Count)
		}
		s.packets += uint64(q.Batches.GsoSegs + q.Bypass.GsoSegs)
		s.bytes += uint64(q.Batches.PktLenBytes + q.Bypass.PktLenBytes)
		s.requeues += uint64(q.Requeues.Packets)
		s.taken += uint64(q.Handovers.Packets - q.Handovers.Rest)
		if q.BQL.Completions > 0 {
			s.limits[int(q.Txq)] = uint64(q.BQL.LimitLast)
		}
		s.advanced += uint64(q.BQL.AdvancedBytes)
		s.decided += uint64(q.BQL.DecidedBytes)
	}
	return s
}

func (s *sums) equal(t *testing.T, what string, ours, theirs uint64) {
	t.Helper()
	if ours != theirs {
		t.Errorf("%s: %s: %d, the report has %d", s.ifname, what, theirs, ours)
	}
}

func (s *sums) hold(t *testing.T, what string, theirs map[uint32]uint64) {
	t.Helper()
	if maps.Equal(s.sizes, theirs) {
		return
	}
	for _, n := range slices.Sorted(maps.Keys(s.sizes)) {
		s.equal(t, what+", of size "+strconv.Itoa(int(n)), s.sizes[n], theirs[n])
	}
	for _, n := range slices.Sorted(maps.Keys(theirs)) {
		if s.sizes[n] == 0 {
			s.equal(t, what+", of size "+strconv.Itoa(int(n)), 0, theirs[n])
		}
	}
}

// covered holds that B13 decided at least 99 % of what was completed, which is
// all that was charged but what led to the first snapshot.
func (s *sums) covered(t *testing.T, charged uint64) {
	t.Helper()
	if s.decided*100 < s.advanced*99 || s.decided*100 < charged*99 || s.advanced > charged {
		t.Errorf("%s: %d bytes were charged, num_completed advanced by %d, of which B13 decided %d", s.ifname, charged, s.advanced, s.decided)
	}
}

func total(sizes map[uint32]uint64) (n uint64) {
	for _, c := range sizes {
		n += c
	}
	return n
}

func largest(sizes map[uint32]uint64) (n uint32) {
	for size := range sizes {
		n = max(n, size)
	}
	return n
}

// --- the others ----------------------------------------------------------

var dequeueLine = regexp.MustCompile(`ifindex=(\d+) .* packets=(\d+) skbaddr=(\S+)`)

// dequeues is perf's count of dequeues by device and packets, and whether it
// lost events.
func dequeues(t *testing.T, dir string) (sizes map[uint32]map[uint32]uint64, lost bool) {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), "perf", "script", "-i", filepath.Join(dir, "perf.data"), "-F", "trace", "--show-lost-events")
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("%s: %v\n%s", cmd, err, &stderr)
	}
	// Of chunks that were lost perf script speaks on stderr.
	lost = bytes.Contains(out, []byte("PERF_RECORD_LOST")) || bytes.Contains(stderr.Bytes(), []byte("lost"))
	sizes = make(map[uint32]map[uint32]uint64)
	for line := range strings.Lines(string(out)) {
		m := dequeueLine.FindStringSubmatch(line)
		if m == nil {
			continue
		}
		// A dequeue that gave nothing has no skb, and may have packets=1.
		if strings.Trim(m[3], "0x") == "" || m[3] == "(nil)" {
			continue
		}
		ifindex, packets := number(t, m[1]), number(t, m[2])
		of := sizes[uint32(ifindex)]
		if of == nil {
			of = make(map[uint32]uint64)
			sizes[uint32(ifindex)] = of
		}
		of[uint32(packets)]++
	}
	return sizes, lost
}

func number(t *testing.T, s string) uint64 {
	t.Helper()
	n, err := strconv.ParseUint(s, 10, 64)
	if err != nil {
		t.Fatal(err)
	}
	return n
}

// qdiscCounters are tc's.
type qdiscCounters struct {
	Root                     bool
	Packets, Bytes, Requeues uint64
}

// qdiscs is what the device's qdiscs counted: a root such as mq sums up its
// children.
func qdiscs(t *testing.T, dir string) (sum qdiscCounters) {
	t.Helper()
	var qs []qdiscCounters
	readJSON(t, filepath.Join(dir, "qdisc.json"), &qs)
	for _, q := range qs {
		if q.Root {
			sum.Packets += q.Packets
			sum.Bytes += q.Bytes
			sum.Requeues += q.Requeues
		}
	}
	return sum
}

// link is a device as ip shows it.
type link struct {
	Ifindex uint32
	Ifname  string
	Stats   struct{ Tx sent } `json:"stats64"`
}

type sent struct{ Packets, Bytes uint64 }

func (s sent) since(before sent) sent {
	return sent{s.Packets - before.Packets, s.Bytes - before.Bytes}
}

func device(t *testing.T, dir string) link {
	t.Helper()
	var ls []link
	readJSON(t, filepath.Join(dir, "link.json"), &ls)
	if len(ls) != 1 {
		t.Fatalf("%s: %d devices", dir, len(ls))
	}
	return ls[0]
}

// limit of a queue as sysfs has it.
func limit(t *testing.T, dir string, txq int) uint64 {
	t.Helper()
	b, err := os.ReadFile(filepath.Join(dir, "bql.txt"))
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(b)) {
		if v, ok := strings.CutPrefix(line, "tx-"+strconv.Itoa(txq)+"/byte_queue_limits/limit:"); ok {
			return number(t, strings.TrimSpace(v))
		}
	}
	t.Fatalf("%s: no limit of queue %d", dir, txq)
	return 0
}
