// SPDX-License-Identifier: Apache-2.0

package accept

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/txtrace/txtrace/internal/analysis"
	"github.com/txtrace/txtrace/internal/capture"
	"github.com/txtrace/txtrace/internal/event"
	"github.com/txtrace/txtrace/internal/model"
	"github.com/txtrace/txtrace/internal/report"
)

// queueFloors are as floors: how often the rules of the extras are exercised.
var queueFloors = map[string]analysis.U64{
	"Q2": 1000, "Q3": 1000, "Q4": 300, "Q6": 1000, "Q7": 50, "Q8": 100, "Q9": 100, "G1": 1000, "G2": 1000,
	"G3": 1000, "G4": 1000, "L1": 300, "L2": 20,
}

// TestQueues holds what txtrace says of the choice of queues and of batched
// receive to what perf, kprobe_profile and softnet_stat count of the same run:
// two igb with two queues each, XPS, and senders that are moved; and a filter
// that sets queues.
func TestQueues(t *testing.T) {
	g := newGuest(t)
	dirs := g.scenarios(t, "6.1", []string{"queues", "lives"}, "-nic", "igb")
	dir := dirs["queues"]
	file := filepath.Join(dir, "capture.txtrace")
	v, r := g.verify(t, file), g.report(t, file)
	clean(t, file, v, r)
	compare(t, dir, "queues", r)
	exercised(t, v, queueFloors)

	seen := eventsOf(t, dir)
	picks, lists, received := uint64(0), uint64(0), uint64(0)
	for i := range r.Picks {
		comparePicks(t, dir, &r.Picks[i], seen, r, uint64(v.Lost.Missed))
		picks += uint64(r.Picks[i].Picks)
	}
	for i := range r.GRO {
		l := &r.GRO[i]
		same(t, l.Ifname+": skbs of lists and netif_receive_skb by perf", sum{uint64(l.Skbs), uint64(l.Bytes)}, seen.received[l.Ifname])
		lists += uint64(l.Lists)
		received += uint64(l.Skbs)
	}
	called := func(what string, ours, theirs uint64) {
		if missed := uint64(v.Lost.Missed); max(ours, theirs)-min(ours, theirs) > missed {
			t.Errorf("%s: %d, %d calls, %d runs skipped", what, ours, theirs, missed)
		}
	}
	called("picks and netdev_core_pick_tx", picks+seen.queued["lo"].n, calls(t, dir, "picks"))
	called("lists and netif_receive_skb_list_internal", lists, calls(t, dir, "lists"))
	listed, delivered := extrasOf(t, file)
	called("lists and those that came to the protocols", lists, delivered.n)
	called("skbs that came to the protocols and softnet_stat", delivered.bytes, received)
	called("schedules and __netif_reschedule", listed, calls(t, dir, "listed"))
	if cores := calls(t, dir, "cores"); cores < delivered.n {
		t.Errorf("%d lists came to the protocols in %d parts", delivered.n, cores)
	}
	same(t, "skbs of lists and softnet_stat", received, softnet(t, dir, "after")-softnet(t, dir, "before"))
	t.Run("lives", func(t *testing.T) { lived(t, g, dirs["lives"]) })
	if len(r.Picks) != 2 || len(r.GRO) != 2 {
		t.Errorf("%d devices with picks, %d with lists", len(r.Picks), len(r.GRO))
	}
	if batch := variant(t, v, "gro-batch"); batch.State != analysis.StateProven || batch.Variant != string(model.GROBatchSegs) {
		t.Errorf("%+v", batch)
	}
	if cache := variant(t, v, "pick-cache"); cache.State != analysis.StateProven || cache.Variant != string(model.PickCacheForever) {
		t.Errorf("%+v", cache)
	}
}

// extrasOf counts a capture's schedules, and its deliveries with the skbs that came
// to the protocols.
func extrasOf(t *testing.T, file string) (listed uint64, delivered sum) {
	t.Helper()
	f, err := os.Open(file)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	r, err := capture.Open(f)
	if err != nil {
		t.Fatal(err)
	}
	for {
		it, err := r.Next()
		if errors.Is(err, io.EOF) {
			return listed, delivered
		}
		if err != nil {
			t.Fatal(err)
		}
		switch rec := it.Record.(type) {
		case *event.Schedule:
			if rec.What == event.ScheduleListed {
				listed++
			}
		case *event.Delivery:
			delivered.n++
			delivered.bytes += uint64(rec.Passed)
		}
	}
}

// comparePicks holds one device's picks to perf: each is queued once, and each
// but those that the qdisc dropped is given to the driver by its queue.
// A pick in an interrupt that came while a program of a pick ran on that CPU is
// skipped by the kernel, for txtrace and for kprobes: so many may be missing.
func comparePicks(t *testing.T, dir string, p *analysis.PickReport, seen *events, r *report.Report, missed uint64) {
	t.Helper()
	queued := seen.queued[p.Ifname]
	if missed == 0 {
		same(t, p.Ifname+": picks and net_dev_queue by perf", sum{uint64(p.Picks), uint64(p.Bytes)}, queued)
	} else if n := uint64(p.Picks); n > queued.n || queued.n-n > missed {
		t.Errorf("%s: %d picks, %d net_dev_queue by perf, %d runs skipped", p.Ifname, n, queued.n, missed)
	}
	ours := make(map[int]uint64)
	for _, q := range p.Queues {
		ours[int(q.Txq)] = uint64(q.Picks)
	}
	theirs := make(map[int]uint64)
	for txq, n := range seen.started[p.Ifname] {
		theirs[txq] = n + drops(t, dir, p.Ifname, txq)
	}
	for _, q := range r.Queues {
		if q.Ifindex == p.Ifindex && q.Netns == p.Netns && q.Handovers.Busy > 0 {
			theirs[int(q.Txq)] -= uint64(q.Handovers.Busy) // those are started again
		}
	}
	few := func(ours, theirs uint64) bool { return ours <= theirs && theirs-ours <= missed }
	if !maps.EqualFunc(ours, theirs, few) {
		t.Errorf("%s: picks by queue %v, net_dev_start_xmit by perf %v", p.Ifname, ours, theirs)
	}
	t.Logf("%s: %d picks, %v; %d moves, %d with bytes in flight; by queue %v", p.Ifname, p.Picks, p.Why, p.Moves, p.MovesInFlight, ours)
}

// drops is what the child of mq dropped that serves the queue.
func drops(t *testing.T, dir, ifname string, txq int) (n uint64) {
	t.Helper()
	for _, side := range []string{"tx", "rx"} {
		for _, when := range []string{"before", "after"} {
			if device(t, filepath.Join(dir, when, side)).Ifname != ifname {
				continue
			}
			var qs []struct {
				Parent string
				Drops  uint64
			}
			readJSON(t, filepath.Join(dir, when, side, "qdisc.json"), &qs)
			for _, q := range qs {
				switch {
				case q.Parent != fmt.Sprintf(":%x", txq+1):
				case when == "before":
					n -= q.Drops
				default:
					n += q.Drops
				}
			}
		}
	}
	return n
}

func same[T comparable](t *testing.T, what string, ours, theirs T) {
	t.Helper()
	if ours != theirs {
		t.Errorf("%s: %v, %v", what, ours, theirs)
		return
	}
	t.Logf("%s: %v", what, ours)
}

// sum is a number of packets and their bytes.
type sum struct{ n, bytes uint64 }

// events are what perf saw, by device.
type events struct {
	queued, received map[string]sum
	started          map[string]map[int]uint64 // by queue
}

var (
	packetLine = regexp.MustCompile(`net:(net_dev_queue|netif_receive_skb):\s.*\bdev=(\S+) skbaddr=\S+ len=(\d+)`)
	startLine  = regexp.MustCompile(`net:net_dev_start_xmit:\s.*\bdev=(\S+) queue_mapping=(\d+)`)
)

func eventsOf(t *testing.T, dir string) *events {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), "perf", "script", "-i", filepath.Join(dir, "perf.data"), "-F", "event,trace")
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("%s: %v\n%s", cmd, err, &stderr)
	}
	e := &events{make(map[string]sum), make(map[string]sum), make(map[string]map[int]uint64)}
	for line := range strings.Lines(string(out)) {
		if m := packetLine.FindStringSubmatch(line); m != nil {
			to := map[string]map[string]sum{"net_dev_queue": e.queued, "netif_receive_skb": e.received}[m[1]]
			s := to[m[2]]
			to[m[2]] = sum{s.n + 1, s.bytes + number(t, m[3])}
		}
		if m := startLine.FindStringSubmatch(line); m != nil {
			if e.started[m[1]] == nil {
				e.started[m[1]] = make(map[int]uint64)
			}
			e.started[m[1]][int(number(t, m[2]))]++
		}
	}
	return e
}

// calls is what kprobe_profile counted of one probe: its hits. It must not
// have missed any.
func calls(t *testing.T, dir, name string) uint64 {
	t.Helper()
	b, err := os.ReadFile(filepath.Join(dir, "kprobe_profile.txt"))
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(b)) {
		f := strings.Fields(line)
		if len(f) == 3 && f[0] == name {
			if f[2] != "0" {
				t.Errorf("kprobe_profile missed %s calls of %s", f[2], name)
			}
			return number(t, f[1])
		}
	}
	t.Fatalf("no %s in kprobe_profile", name)
	return 0
}

// softnet is how many packets all CPUs gave to the protocols.
func softnet(t *testing.T, dir, when string) (n uint64) {
	t.Helper()
	b, err := os.ReadFile(filepath.Join(dir, when, "tx", "softnet_stat.txt"))
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(b)) {
		processed, err := strconv.ParseUint(strings.Fields(line)[0], 16, 32)
		if err != nil {
			t.Fatal(err)
		}
		n += processed
	}
	return n
}
