// SPDX-License-Identifier: Apache-2.0

package rules

import (
	"bytes"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// fate is what became of a published case: the tests that hold it, or why there
// is none. A test is a file of testdata/cases, or package.Test.
type fate struct {
	id, about string
	tests     []string
	reason    string
}

func by(tests ...string) []string { return tests }

// fates are the public faults that the rules were written after, by family and
// number (A is BQL, X hand-over, Q qdisc, V veth and tun, T TSQ, S queue
// choice, G GRO, P tracing tools), the negative controls (NC), and what may
// happen to a trace.
var fates = []fate{
	{"C-A1", "virtio_net resets BQL with completions outstanding", by("C-A1", "model.TestDQLBug"), ""},
	{"C-A2", "bytes leak when a ring is resized", by("C-A2"), ""},
	{"C-A3", "ibmvnic resets BQL and keeps its batch", by("C-A1", "model.TestDQLBug"), ""},
	{"C-A4", "octeon_ep charges after the doorbell", by("C-A4"), ""},
	{"C-A5", "airoha charges another queue", by("C-A5"), ""},
	{"C-A6", "mtk_eth_soc resets queue 0 only", by("C-A6"), ""},
	{"C-A7", "hns3 publishes its index after the doorbell", by("C-A7"), ""},
	{"C-A8", "veth indexes its peer's queues", by("C-A8"), ""},
	{"C-A9", "dql_reset forgets limit_min", by("C-A9"), ""},
	{"C-A12", "an object larger than BQL takes", by("C-A12", "model.TestDQLObjectVariants"), ""},
	{"C-A13", "BQL ends a list in its middle", by("C-A13"), ""},
	{"C-A14", "a limit that has to grow does not", by("C-A14"), ""},
	{"C-A15", "a stall that is not the NIC's", by("C-A15", "C-A15-device"), ""},
	{"C-A16", "BQL is reset with nothing in flight", by("C-A16"), ""},
	{"C-A17", "XDP shares the queue, the watchdog blames the slow path", by("C-A17"), ""},
	{"C-A18", "r8152's URBs do not feed the watchdog", by("C-A18"), ""},
	{"C-A19", "gve's watchdog handler kicks no queue", nil, "polls that complete nothing are not recorded"},
	{"C-A20", "a counter passes 2^32", by("C-A20"), ""},
	{"C-A21", "ENA's completions come late", by("C-A7"), ""},
	{"C-A22", "stmmac raises no interrupt at the end of a burst", by("C-A22"), ""},
	{"C-A25", "a skb is sent again while the driver has it", by("C-A25"), ""},

	{"C-X1", "bnxt drops the last of a burst and rings no bell", by("C-X1"), ""},
	{"C-X3", "mlx5e fails to map with a doorbell owed", by("C-X1"), ""},
	{"C-X5", "AF_XDP sends past the qdisc and BQL", by("C-X5"), ""},
	{"C-X6", "barriers before a doorbell", nil, "the order of DMA and device writes leaves no record anywhere; no rule claims it"},
	{"C-X7", "what was put back goes one by one", by("C-X7", "C-X7-more"), ""},
	{"C-X8", "a stacked device writes xmit_more", by("C-X8"), ""},

	{"C-Q1", "the last packet waits in a lockless qdisc", by("C-Q2", "model.TestNolockVariants"), ""},
	{"C-Q2", "the same by weak memory order", by("C-Q2"), ""},
	{"C-Q3", "a stopped lockless qdisc is scheduled again and again", by("C-Q3", "model.TestNolockStopped"), ""},
	{"C-Q5", "a dequeue after deactivation", by("C-Q5"), ""},
	{"C-Q7", "batches bounded by bytes alone", by("C-Q7"), ""},
	{"C-Q8", "the quota counts batches", by("C-Q8"), ""},
	{"C-Q9", "what is refused goes behind what is parked", by("C-Q9", "C-Q9-mended"), ""},
	{"C-Q10", "gso_skb is emptied with the qdisc", by("C-Q10"), ""},
	{"C-Q11", "deferred enqueues are dropped by an empty limit", by("model.TestEnqueueVariants"), ""},
	{"C-Q13", "CoDel drops inside the qdisc", by("C-Q13"), ""},
	{"C-Q14", "a device without a qdisc is busy", by("C-Q14"), ""},

	{"C-V1", "veth loses a wake-up", by("C-V1"), ""},
	{"C-V4", "veth leaves trans_start", nil, "such a device keeps the time by itself or not at all; W3 leaves those without the core's transmit lock alone"},
	{"C-V5", "tun drops instead of stopping", by("C-V5"), ""},

	{"C-T2", "the limit of small queues, by kernel", by("C-T2", "C-T2-below"), ""},
	{"C-T3", "Wi-Fi lowers the pacing shift", by("C-T3", "C-T3-below"), ""},
	{"C-T4", "a skb is orphaned on its way", nil, "which hand-over a free ran inside of is not recorded with tcp_wfree"},
	{"C-T5", "virtio_net orphans every skb", nil, "as C-T4; such a socket is never held back, so there is no instance"},
	{"C-T7", "ksoftirqd leaves a socket throttled", by("C-T7", "C-T7-task"), ""},
	{"C-T8", "a leak above the transmit path", by("C-T8"), ""},

	{"C-S1", "closing a socket clears its queue", by("C-S1"), ""},
	{"C-S2", "veth's receive queue hint", by("C-S2"), ""},
	{"C-S6", "sender_cpu is a NAPI's number", by("C-S6"), ""},
	{"C-S7", "tracepoints that mix up the union", by("C-S7"), ""},
	{"C-S9", "a socket keeps what tc chose", by("C-S9"), ""},
	{"C-G2", "a list counts skbs, not segments", by("C-G2"), ""},

	{"C-P1", "events are lost and nobody says so", by("C-P1"), ""},
	{"C-P2", "the buffer is full", by("C-P2"), ""},
	{"C-P3", "a program is skipped under another", by("C-P3"), ""},
	{"C-P5", "returns are missing", by("C-P5"), ""},
	{"C-P6", "a function is inlined or renamed", by("C-P6", "probes.TestPlanOfKernels"), ""},
	{"C-P7", "an address is used again", by("C-P7"), ""},
	{"C-P8", "a freed skb is read", nil, "the program of net_dev_xmit reads the arguments alone; nothing in a capture could show otherwise"},
	{"C-P9", "probes are attached one by one", by("C-P9"), ""},
	{"C-P10", "order between CPUs", by("C-P10"), ""},
	{"C-P13", "a tracepoint that stops the kernel", by("probes.TestHooksNoneThatHurt"), ""},
	{"C-P14", "a lock's slow path is traced", by("probes.TestHooksNoneThatHurt"), ""},
	{"C-P15", "half of a pair is missing", by("C-P15"), ""},

	{"NC1", "one packet although BQL allows none", by("NC1"), ""},
	{"NC2", "in flight above the limit by a train", by("NC2"), ""},
	{"NC3", "nine packets of a shared qdisc", by("NC3"), ""},
	{"NC4", "65 packets with a quota of 64", by("NC4"), ""},
	{"NC5", "sent without enqueue and dequeue", by("NC5"), ""},
	{"NC6", "put back, and nothing was refused", by("NC6"), ""},
	{"NC7", "one skb, sent three times", by("NC7"), ""},
	{"NC8", "num_queued and num_completed wrap", by("NC8"), ""},
	{"NC9", "a driver without BQL", by("NC9"), ""},
	{"NC10", "adj_limit survives a reset", by("NC10", "NC10-negative"), ""},
	{"NC11", "STACK set and cleared in one charge", by("NC11"), ""},
	{"NC12", "others ignore STACK", by("NC12"), ""},
	{"NC13", "above the limit, nothing to be acknowledged", by("NC13"), ""},
	{"NC15", "pure ACKs are freed by another function", by("NC15"), ""},
	{"NC17", "RPS takes packets out of a list", by("NC17"), ""},
	{"NC18", "success without an enqueue", by("NC18"), ""},
	{"NC19", "empty dequeues, and none at all", by("NC19"), ""},
	{"NC20", "MISSED instead of a schedule", by("NC20"), ""},

	{"torn", "a snapshot that is half written", by("torn"), ""},
	{"reordered", "two CPUs within the error of their clocks", by("C-P10", "analysis/blind.TestClocks"), ""},
	{"wrapped", "counters pass 2^32", by("NC8", "C-A20"), ""},
	{"renamed", "a device gets another name", by("renamed", "analysis.TestCountersOfALaterDevice"), ""},
	{"moved", "another device of the same number", by("moved", "analysis.TestMoved"), ""},
	{"reused", "the address of a skb is used again", by("C-P7"), ""},
	{"removed", "an interface is removed under recording", by("removed"), ""},
}

// published are the ids that must have a fate: cases by family, controls.
var published = strings.Fields(`
	C-A1 C-A2 C-A3 C-A4 C-A5 C-A6 C-A7 C-A8 C-A9 C-A12 C-A13 C-A14 C-A15 C-A16 C-A17 C-A18 C-A19 C-A20 C-A21 C-A22 C-A25
	C-X1 C-X3 C-X5 C-X6 C-X7 C-X8
	C-Q1 C-Q2 C-Q3 C-Q5 C-Q7 C-Q8 C-Q9 C-Q10 C-Q11 C-Q13 C-Q14
	C-V1 C-V4 C-V5
	C-T2 C-T3 C-T4 C-T5 C-T7 C-T8
	C-S1 C-S2 C-S6 C-S7 C-S9
	C-G2
	C-P1 C-P2 C-P3 C-P5 C-P6 C-P7 C-P8 C-P9 C-P10 C-P13 C-P14 C-P15
	NC1 NC2 NC3 NC4 NC5 NC6 NC7 NC8 NC9 NC10 NC11 NC12 NC13 NC15 NC17 NC18 NC19 NC20
	torn reordered wrapped renamed moved reused removed`)

// Every case has one fate, which is a test that exists or a reason; most of them
// and every control are tests. With -v the table is printed.
func TestFate(t *testing.T) {
	unnamed := make(map[string]bool) // files of testdata/cases
	files, _ := filepath.Glob("testdata/cases/*.txt")
	for _, f := range files {
		unnamed[strings.TrimSuffix(filepath.Base(f), ".txt")] = true
	}
	told := make(map[string]bool)
	tested := 0
	for _, f := range fates {
		what := strings.Join(f.tests, ", ")
		switch {
		case told[f.id] || !slices.Contains(published, f.id):
			t.Errorf("%s: told twice, or no case", f.id)
		case (f.reason == "") != (len(f.tests) > 0):
			t.Errorf("%s: wants tests, or else a reason", f.id)
		case f.reason == "" && !strings.HasPrefix(f.id, "C-"): // a control, or a hazard
		case f.reason == "":
			tested++
		case !strings.HasPrefix(f.id, "C-"):
			t.Errorf("%s: every control is a test", f.id)
		default:
			what = "no test: " + f.reason
		}
		told[f.id] = true
		for _, name := range f.tests {
			delete(unnamed, name)
			if !testExists(t, name) {
				t.Errorf("%s: there is no test %s", f.id, name)
			}
		}
		t.Logf("%-9s %-55s %s", f.id, f.about, what)
	}
	for _, id := range published {
		if !told[id] {
			t.Errorf("%s has no fate", id)
		}
	}
	for f := range unnamed {
		t.Errorf("testdata/cases/%s.txt is no one's fate", f)
	}
	t.Logf("%d of the cases are tests, and all controls", tested)
	if tested < 56 {
		t.Errorf("%d of the cases are tests", tested)
	}
}

// testExists finds a file of testdata/cases, or package.Test in its folder.
func testExists(t *testing.T, name string) bool {
	t.Helper()
	pkg, test, ok := strings.Cut(name, ".")
	if !ok {
		_, err := os.Stat("testdata/cases/" + name + ".txt")
		return err == nil
	}
	files, _ := filepath.Glob("../../" + pkg + "/*_test.go")
	for _, f := range files {
		text, err := os.ReadFile(f)
		if err != nil {
			t.Fatal(err)
		}
		if bytes.Contains(text, []byte("\nfunc "+test+"(t *testing.T) {")) {
			return true
		}
	}
	return false
}
