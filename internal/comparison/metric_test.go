// SPDX-License-Identifier: Apache-2.0

package comparison

import (
	"math"
	"strings"
	"testing"

	"github.com/txtrace/txtrace/internal/analysis"
	"github.com/txtrace/txtrace/internal/capture"
)

// sample is a capture with a value of every metric.
func sample() *analysis.Result {
	times := func(mean float64, p99 uint64) analysis.Times {
		return analysis.Times{Dist: analysis.Dist{Count: 2, Sum: analysis.U64(2 * mean), Mean: mean, Max: analysis.U64(p99)}, P99: analysis.U64(p99),
			Bins: []analysis.Bin{{NS: analysis.U64(p99), Count: 2}}}
	}
	eth := analysis.QueueReport{
		Ifname: "eth0", Ifindex: 2,
		Batches: analysis.BatchReport{Count: 30, Packets: 210, Origin: map[string]analysis.U64{"fresh": 20, "gso_skb": 10}},
		Runs:    analysis.RunReport{Count: 8, QuotaEnded: 2, DurationNS: times(1500, 3000)},
		Handovers: analysis.HandoverReport{Count: 50, Packets: 200, Taken: 100, Bytes: 1_000_000,
			OwedAny: 25, OwedDrv: 20},
		Requeues: analysis.RequeueReport{Events: 4, Packets: 7, Cause: map[string]analysis.U64{"busy": 1, "drv": 2, "stopped": 3}},
		BQL: analysis.BQLReport{Used: true, Series: []analysis.Point{
			{LimitLast: 1000, InflightMax: 500}, {LimitLast: 3000, InflightMax: 700}}},
		Latency: analysis.LatencyReport{SojournNS: times(2500, 5000), RingNS: times(3500, 7000), OldestNS: times(4500, 9000)},
	}
	other := analysis.QueueReport{Ifname: "eth1", Ifindex: 3, Handovers: analysis.HandoverReport{Count: 1, Packets: 1, Taken: 900}}
	return &analysis.Result{
		Header: &capture.Header{
			Kernel:  capture.Kernel{Release: "6.1", Version: "#1", Machine: "x86_64", CPUs: 2},
			Devices: []capture.Device{{Ifname: "eth0", Ifindex: 2, Driver: "e1000e", MTU: 1500}, {Ifname: "eth1", Ifindex: 3}},
		},
		Footer: &capture.Footer{Ended: "child", Child: &capture.Child{Command: []string{"load"}, BeginNS: 1e9, EndNS: 3e9,
			CPU:    &capture.CPUTimes{User: 1e9, System: 1.2e9, Idle: 9e9, SoftIRQ: 0.6e9, IRQ: 0.2e9, Steal: 7e9},
			Output: "THROUGHPUT=941.5\nTHROUGHPUT_UNITS=10^6bits/s\n"}},
		Queues: []analysis.QueueReport{eth, other},
		TSQ:    []analysis.TSQReport{{Throttles: 5, ThrottledNS: 30, FollowedNS: 120}},
	}
}

func TestMetrics(t *testing.T) {
	want := map[string]float64{
		"load": 941.5, "tx.throughput": 4, "tx.packets": 50,
		"cpu": 150, "cpu.user": 50, "cpu.system": 60, "cpu.softirq": 30, "cpu.irq": 10,
		"demand": 3_000_000 / (1_000_000 / 1024.0), "per.cpu": 8. / 3,
		"batch.size": 10, "handover.size": 4,
		"requeues": 70_000, "requeue.busy": 10_000, "requeue.drv": 20_000, "requeue.stack": 0, "requeue.stopped": 30_000, "requeue.other": 0,
		"doorbells.any": 0.25, "doorbells.drv": 0.2, "bql.limit": 2000, "bql.inflight": 600, "quota.ended": 25,
		"run.mean": 1.5, "sojourn.mean": 2.5, "ring.mean": 3.5, "hol.mean": 4.5,
		"tsq.throttles": 50_000, "tsq.share": 25,
	}
	r := run{Result: sample(), path: "x", queues: only(sample().Queues, []string{"eth0"})}
	s := set{runs: []run{r}}
	for _, m := range Metrics() {
		v, why := s.values(m)
		if m.never != "" {
			if why != m.never || m.value != nil || m.How != "" {
				t.Errorf("%s: %v %q", m.Name, v, why)
			}
			continue
		}
		if m.Unit == "" || m.How == "" || m.Better == "" {
			t.Errorf("%s: incomplete", m.Name)
		}
		w, known := want[m.Name]
		switch {
		case m.Name == "load.rate":
			if !strings.HasPrefix(string(why), "x: ") {
				t.Errorf("load.rate: %v %q", v, why)
			}
		case strings.HasSuffix(m.Name, ".p99"): // of bins, which analysis tests
			if why != "" || v[0] <= want[strings.TrimSuffix(m.Name, "p99")+"mean"] {
				t.Errorf("%s: %v %q", m.Name, v, why)
			}
		case !known || why != "" || math.Abs(v[0]-w) > 1e-9:
			t.Errorf("%s: %v %q, want %v", m.Name, v, why, w)
		}
		delete(want, m.Name)
	}
	for name := range want {
		t.Errorf("%s: no such metric", name)
	}
}

// What a capture does not hold is not a value, and an emulated guest has no
// times.
func TestAbsent(t *testing.T) {
	empty := &analysis.Result{Header: &capture.Header{}}
	emulated := sample()
	emulated.Header.Kernel.Emulated = true
	for _, m := range Metrics() {
		if m.never != "" {
			continue
		}
		s := set{runs: []run{{Result: empty, path: "empty"}}}
		if v, why := s.values(m); !strings.HasPrefix(string(why), "empty: ") {
			t.Errorf("%s of nothing: %v %q", m.Name, v, why)
		}
		s = set{runs: []run{{Result: emulated, path: "x", queues: emulated.Queues}}}
		if v, why := s.values(m); m.timed != (why == noClock) || m.timed != (v == nil) {
			t.Errorf("%s of a guest: %v %q", m.Name, v, why)
		}
	}
	odd := Metric{Name: "odd", value: func(*run) (float64, absence) { return math.NaN(), "" }}
	s := set{runs: []run{{Result: empty, path: "x"}}}
	if _, why := s.values(odd); why != "x: its value is no number" {
		t.Errorf("NaN: %q", why)
	}
}

// What netperf and iperf3 print, as their own versions do.
func TestLoad(t *testing.T) {
	for _, c := range []struct {
		what, output string
		mbit, rate   float64
	}{
		{"iperf3 --json", `{"end":{"sum_sent":{"bits_per_second":9.5e9},"sum_received":{"bits_per_second":9.41e9}}}`, 9410, 0},
		{"iperf3 --json of UDP", `{"end":{"sum":{"bits_per_second":8e8}}}`, 800, 0},
		{"iperf3", "[ ID] Interval           Transfer     Bitrate         Retr\n" +
			"[  5]   0.00-10.00  sec  11.0 GBytes  9.42 Gbits/sec    0             sender\n" +
			"[  5]   0.00-10.04  sec  11.0 GBytes  9.40 Gbits/sec                  receiver\n\niperf Done.\n", 9400, 0},
		{"iperf3 -P 2", "[  5]   0.00-10.00  sec  5 GBytes  4.00 Gbits/sec                  receiver\n" +
			"[SUM]   0.00-10.00  sec  10 GBytes  8.00 Gbits/sec    3             sender\n" +
			"[SUM]   0.00-10.04  sec  10 GBytes  7.90 Gbits/sec                  receiver\n", 7900, 0},
		{"netperf TCP_STREAM", "MIGRATED TCP STREAM TEST from 0.0.0.0 () port 0 AF_INET to 10.0.0.2 () port 0 AF_INET\n" +
			"Recv   Send    Send\nSocket Socket  Message  Elapsed\nSize   Size    Size     Time     Throughput\n" +
			"bytes  bytes   bytes    secs.    10^6bits/sec\n\n 87380  16384  16384    10.00    9410.50\n", 9410.5, 0},
		{"netperf UDP_STREAM", "Socket  Message  Elapsed      Messages\nSize    Size     Time         Okay Errors   Throughput\n" +
			"bytes   bytes    secs            #      #   10^6bits/sec\n\n212992   65507   10.00      112345      0    5887.32\n" +
			"212992           10.00      112000           5869.20\n", 5869.2, 0},
		{"netperf TCP_RR", "Local /Remote\nSocket Size   Request  Resp.   Elapsed  Trans.\nSend   Recv   Size     Size    Time     Rate\n" +
			"bytes  Bytes  bytes    bytes   secs.    per sec\n\n16384  87380  1        1       10.00    38123.45\n16384  87380\n", 0, 38123.45},
		{"netperf -k", "THROUGHPUT=38123.45\nTHROUGHPUT_UNITS=Trans/s\n", 0, 38123.45},
		{"netperf -k of a stream", "THROUGHPUT_UNITS=10^6bits/s\nTHROUGHPUT=941.5\n", 941.5, 0},
		{"ping", "64 bytes from 10.0.0.2: icmp_seq=1 ttl=64 time=0.05 ms\n", 0, 0},
		{"another JSON", `{"end":3}`, 0, 0},
		{"nothing", "", 0, 0},
	} {
		mbit, rate := loadOf(c.output)
		for _, v := range []struct {
			got  *float64
			want float64
		}{{mbit, c.mbit}, {rate, c.rate}} {
			if (v.got != nil) != (v.want != 0) || v.got != nil && math.Abs(*v.got-v.want) > 1e-9 {
				t.Errorf("%s: %v, want %v", c.what, v.got, v.want)
			}
		}
	}
}
