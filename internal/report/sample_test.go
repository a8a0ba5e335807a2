// SPDX-License-Identifier: Apache-2.0

package report

import (
	"github.com/txtrace/txtrace/internal/analysis"
	"github.com/txtrace/txtrace/internal/capture"
	"github.com/txtrace/txtrace/internal/event"
)

func queueNumber(n uint16) *uint16 { return &n }

// start is the clock of the sample's first moment.
var start = capture.Clock{Monotonic: 1_000_000_000, Boot: 2_000_000_000, Real: 1_790_000_000_000_000_000}

// sample is the result of a capture that has some of everything.
func sample() *analysis.Result {
	h := &capture.Header{
		Tool: "v0.1",
		Kernel: capture.Kernel{
			Release: "6.1.0-50-amd64", Version: "#1 SMP PREEMPT_DYNAMIC Debian 6.1.176-1 (2026-10-01)",
			Machine: "x86_64", CPUs: 2, HZ: 250, Preemption: "voluntary", SkbTruesize: 577,
		},
		Clock:    start,
		Programs: []capture.Program{{Name: "run_begin"}, {Name: "dequeue"}},
		Settings: capture.Settings{DevWeight: 64, DevWeightTxBias: 1, Sysctls: map[string]string{"net.core.default_qdisc": "fq_codel"}},
		Devices: []capture.Device{
			{Netns: 4026532200, NetnsName: "tx", Ifindex: 2, Ifname: "eth0", Driver: "e1000e", MTU: 1500, TxQueues: 1, TxRing: 256,
				Offloads:   map[string]bool{"tx-tcp-segmentation": true, "tx-generic-segmentation": true, "tx-checksum-ip-generic": false},
				GsoMaxSize: 65536, GsoMaxSegs: 65535,
				Qdiscs: []capture.Qdisc{{Kind: "fq_codel", Handle: 0x80010000, Parent: 0xffffffff}},
				BQL:    []capture.QueueBQL{{Txq: 0, Limit: 1000, LimitMax: 1879048192, HoldMS: 1000}}},
			{Netns: 4026531840, Ifindex: 7, Ifname: "dummy0", MTU: 1500, TxQueues: 1},
		},
		Filters:   []string{"netns tx"},
		RingBytes: 32 << 20,
	}
	f := &capture.Footer{
		Ended: "child",
		Child: &capture.Child{Command: []string{"netperf", "-H", "10.0.0.2", "-t", "UDP_STREAM"}, BeginNS: 1_100_000_000, EndNS: 5_100_000_000,
			CPU: &capture.CPUTimes{User: 1_000_000_000, System: 2_000_000_000, Idle: 4_000_000_000, SoftIRQ: 500_000_000}},
		Self: capture.Self{UserNS: 50_000_000, SysNS: 70_000_000, MaxRSS: 40 << 20, Written: 123456,
			BPF: []capture.ProgramRun{{Program: 1, Runs: 4046, NS: 900_000}}},
		Ledger: []capture.LedgerRow{{Program: 0, Seen: 10, Submitted: 10}, {Program: 1, Seen: 4046, Submitted: 4046}},
	}
	return &analysis.Result{
		Header: h, Footer: f,
		Verify: sampleVerify(),
		Queues: []analysis.QueueReport{sampleQueue(), {
			Netns: 4026532200, Ifindex: 2, Ifname: "eth0", Txq: 1, Qdisc: "noqueue",
			Handovers: analysis.HandoverReport{Count: 1, Packets: 1, Bytes: 60, Size: counts(1, 1), Taken: 1, OwedAny: 1, OwedDrv: 1},
		}},
		Picks: []analysis.PickReport{{
			DeviceRef: analysis.DeviceRef{Netns: 4026532200, Ifindex: 2, Ifname: "eth0"}, Picks: 8043, Bytes: 123456789,
			Why:   map[string]analysis.U64{"hit": 2836, "ooo": 5181, "new": 26},
			By:    map[string]analysis.U64{"xps": 3000, "hash": 2200, "hint": 7},
			Moves: 552, MovesInFlight: 3, InFlight: analysis.Dist{Count: 3, Sum: 9000, Min: 2000, Max: 4000, Mean: 3000},
			Flows: analysis.Spread{Sum: 4, Max: 3, Mean: 2}, QueueBytes: analysis.Spread{Sum: 123456789, Max: 100000000, Mean: 61728394.5},
			Queues: []analysis.PickQueue{{Txq: 0, Picks: 8000, Bytes: 100000000, Flows: 3}, {Txq: 1, Picks: 43, Bytes: 23456789, Flows: 1}},
		}},
		GRO: []analysis.GROReport{{
			DeviceRef: analysis.DeviceRef{Netns: 4026532200, Ifindex: 2, Ifname: "eth0"}, Lists: 5112, Skbs: 9000, Segs: 40000, Bytes: 56000000, BatchMin: 8, BatchMax: 8,
			Why:  map[string]analysis.U64{"threshold": 3095, "complete": 1505, "poll": 512},
			Size: counts(1, 4000, 2, 600, 8, 512), Count: counts(1, 1505, 7, 512, 8, 1000, 52, 2095),
			Queues: []analysis.GROPart{{N: 1, Lists: 5000, Skbs: 8888, Bytes: 55000000}, {N: noQueue, Lists: 112, Skbs: 112, Bytes: 1000000}},
			CPUs:   []analysis.GROPart{{N: 0, Lists: 5112, Skbs: 9000, Bytes: 56000000}},
		}},
		TSQ: []analysis.TSQReport{{
			Netns: 4026532200, Throttles: 12, Sockets: 2, Resumed: 11, Deferred: 1,
			DurationNS:  sampleTimes(50_000, 6, 100_000, 4, 300_000, 1),
			ThrottledNS: 1_000_000, FollowedNS: 2_400_000, CompletionNS: sampleTimes(60_000, 2000, 120_000, 1800),
			LimitBytes: analysis.Dist{Count: 12, Sum: 1_572_864, Min: 4608, Max: 262144, Mean: 131072},
			LimitBy:    map[string]analysis.U64{"rate": 10, "truesize": 2},
		}},
		Checks: []analysis.Comparison{
			{Netns: 4026532200, Ifindex: 2, Ifname: "eth0", Qdisc: "fq_codel", Name: "qdisc_packets", Unit: "packets", Ours: 23456, Kernel: 23456, Equal: true},
			{Netns: 4026532200, Ifindex: 2, Ifname: "eth0", Txq: queueNumber(0), Name: "bql_limit", Unit: "bytes", Ours: 15854, Kernel: 15900, Note: "it moved after the last completion"},
		},
	}
}

// sampleTimes has some times, each with its number.
func sampleTimes(pairs ...analysis.U64) analysis.Times {
	t := analysis.Times{Dist: analysis.Dist{Min: pairs[0], Max: pairs[len(pairs)-2]}, P50: pairs[0], P99: pairs[2], P999: pairs[len(pairs)-2]}
	for i := 0; i < len(pairs); i += 2 {
		t.Bins = append(t.Bins, analysis.Bin{NS: pairs[i], Count: pairs[i+1]})
		t.Count += pairs[i+1]
		t.Sum += pairs[i] * pairs[i+1]
	}
	t.Mean = float64(t.Sum) / float64(t.Count)
	return t
}

func sampleQueue() analysis.QueueReport {
	return analysis.QueueReport{
		Netns: 4026532200, Ifindex: 2, Ifname: "eth0", Qdisc: "fq_codel", Handle: 0x80010000,
		Qdiscs: []analysis.QdiscReport{
			{Kind: "pfifo_fast", Batches: 46, Packets: 410, Bytes: 30000, Requeues: 2},
			{Kind: "fq_codel", Handle: 0x80010000, Batches: 3954, Packets: 23123, Bytes: 3287466, Requeues: 48},
		},
		Batches: analysis.BatchReport{
			Count: 4046, Packets: 23457, Bytes: 3330894,
			Size:      counts(1, 1500, 2, 1000, 3, 700, 17, 5, 64, 40, 65, 800, 131, 1),
			Stop:      map[string]analysis.U64{"qdisc": 3000, "bytes": 1045, "budget": 1},
			Origin:    map[string]analysis.U64{"fresh": 4000, "gso_skb": 46},
			AvailUsed: counts(0, 3000, 90, 46, 100, 1000),
			Avail:     analysis.Dist{Count: 4046, Sum: 40460000, Min: 0, Max: 15854, Mean: 10000},
			GsoSegs:   23410, PktLenBytes: 3300000,
		},
		Runs: analysis.RunReport{
			Count: 1200, Partial: 1, Packets: counts(1, 1000, 64, 100, 65, 100), Restarts: counts(1, 1100, 2, 100),
			QuotaEnded: 12, Who: map[string]analysis.U64{"enqueue": 700, "net_tx_action": 500},
			DurationNS: sampleTimes(900, 600, 10_000, 598, 450_000, 1),
		},
		Handovers: analysis.HandoverReport{
			Count: 4050, Packets: 23461, Bytes: 3331000, Size: counts(1, 1500, 2, 1000, 65, 800),
			Rest: 4, Taken: 23457, Busy: 1, Uncharged: 2, OwedAny: 4900, OwedDrv: 4050, Calls: 23462, Elsewhere: 17,
		},
		Requeues: analysis.RequeueReport{Events: 46, Packets: 50, Cause: map[string]analysis.U64{"drv": 45, "busy": 1}},
		Bypass:   analysis.BypassReport{Count: 123, Packets: 123, Bytes: 17466, GsoSegs: 123, PktLenBytes: 17466},
		BQL: analysis.BQLReport{
			Used: true, Completions: 3900, LimitFirst: 1000, LimitLast: 15854, LimitMin: 1000, LimitMax: 15990,
			Series: []analysis.Point{
				{BeginNS: 1_000_000_000, EndNS: 2_000_000_000, LimitMin: 1000, LimitMax: 15990, LimitLast: 15990, InflightMax: 15900},
				{BeginNS: 2_000_000_000, EndNS: 3_000_000_000, LimitMin: 15854, LimitMax: 15854, LimitLast: 15854, InflightMin: 142, InflightMax: 15854},
			},
			MeanLen: 141.98, LimitPackets: 111.7, Quota: 64, ForeignBytes: 84, Foreign: 2,
			AdvancedBytes: 3330894, DecidedBytes: 3330000,
		},
		Latency: analysis.LatencyReport{
			SojournNS: sampleTimes(1000, 200, 9_000, 150, 700_000, 2),
			DriverNS:  sampleTimes(200, 20000, 3000, 3462),
			Stamps:    analysis.StampReport{OneIn: 64, Given: 360, Replaced: 3, Gone: 1},
			RingNS:    sampleTimes(0, 1, 60_000, 2000, 120_000, 1800), OldestNS: sampleTimes(120_000, 1900, 5_000_000_000, 1),
			Late: 7, Left: 1,
		},
	}
}

func sampleVerify() analysis.Verify {
	at := func(kind event.Kind, seq uint32, ns analysis.U64) analysis.RecordRef {
		return analysis.RecordRef{Kind: kind.String(), CPU: 1, Seq: seq, TimeNS: ns}
	}
	batch := analysis.Evidence{
		TimeNS: 1_234_567_890, Netns: 4026532200, Ifindex: 2, Ifname: "eth0", Txq: queueNumber(0),
		Says:    "a batch of 131 packets, at most 65 are left of the quota and one more",
		Values:  []analysis.Value{{Name: "packets", Unit: "packets", Value: 131}, {Name: "quota_left", Unit: "packets", Value: 64}},
		Records: []analysis.RecordRef{at(event.KindRun, 4710, 1_234_600_000), at(event.KindDequeue, 4711, 1_234_567_890)}, Function: "try_bulk_dequeue_skb", Document: "0345552a653c (6.18)",
	}
	return analysis.Verify{
		V: 1, Type: "verify",
		Capture: analysis.CaptureInfo{
			Tool: "v0.1", Release: "6.1.0-50-amd64", Version: "#1 SMP PREEMPT_DYNAMIC Debian 6.1.176-1 (2026-10-01)", Machine: "x86_64",
			BeginNS: 1_000_000_000, EndNS: 5_200_000_000, Records: 12345, Variant: "auto",
		},
		Rules: []analysis.RuleVerdict{
			{ID: "M1", Verdict: analysis.VerdictPass, Exercised: 2, Held: 2, Sentence: "On each CPU, every record is submitted or counted as lost."},
			{ID: "D1", Verdict: analysis.VerdictPass, Exercised: 4046, Held: 4045, Inconclusive: 1,
				Undecided: []analysis.ReasonCount{{Reason: analysis.Torn, Count: 1}}, Sentence: "A batch ends with the packet that uses up what BQL allowed."},
			{ID: "D2", Verdict: analysis.VerdictExpected, Exercised: 10, Held: 9, Expected: 1, Variant: "bulk=bytes",
				Reason: "no bound on the count: mended by 0345552a653c", Sentence: "A batch takes no more than the quota left and one packet.", Evidence: []analysis.Evidence{batch}},
			{ID: "D4", Verdict: analysis.VerdictFail, Exercised: 12, Held: 11, Fails: 1,
				Sentence: "A run that the quota ended schedules its qdisc again.", Evidence: []analysis.Evidence{batch}},
			{ID: "X7", Verdict: analysis.VerdictSuspect, Exercised: 1, Suspects: 1, Reason: "the doorbell cannot be seen", Sentence: "A doorbell is owed after BUSY."},
			{ID: "B13", Verdict: analysis.VerdictInconclusive, Exercised: 3900, Held: 1000, Inconclusive: 2900,
				Undecided: []analysis.ReasonCount{{Reason: analysis.Lost, Count: 2800}, {Reason: analysis.Race, Count: 100}},
				Reason:    "decided 25.6 %, floor 99 %", Sentence: "A completion moves the limit as dql_completed does."},
			{ID: "T2", Verdict: analysis.VerdictNotExercised, Reason: "no socket was throttled", Sentence: "x"},
			{ID: "D9", Verdict: analysis.VerdictNotApplicable, Reason: "every device has BQL", Sentence: "x"},
		},
		Variants: []analysis.VariantState{
			{Switch: "bulk", State: analysis.StateProven, Variant: "bytes", Left: []string{"bytes"}, MendedBy: "0345552a653c", By: &batch, Rule: "D2"},
			{Switch: "requeue", State: analysis.StateUndecided, JudgedAs: "head", Left: []string{"tail", "head"}},
			{Switch: "tsq-limit", State: analysis.StateForced, Variant: "always"},
			{Switch: "quota", State: analysis.StateContradicted},
		},
		Lost: analysis.LostInfo{Records: 20, Gaps: 2, Missed: 1},
		Exit: 1,
	}
}
