// SPDX-License-Identifier: Apache-2.0

package report

import (
	"bytes"
	"io"
	"maps"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/txtrace/txtrace/internal/analysis"
	"github.com/txtrace/txtrace/internal/capture"
	"github.com/txtrace/txtrace/internal/model"
)

// pages are all texts of the sample, by the name of their golden file.
func pages() map[string]func(io.Writer) error {
	relative := Text{Time: "relative"}
	emulated := sample()
	emulated.Header.Kernel.Emulated, emulated.Verify.Capture.Emulated = true, true
	cut := sample()
	cut.Footer = nil
	cut.Verify.Lost = analysis.LostInfo{Cut: "the file ends inside a block"}
	empty := &analysis.Result{Header: &capture.Header{}, Verify: analysis.Verify{Exit: analysis.ExitInconclusive}}
	hostile := sample()
	hostile.Header.Kernel.Version = "\x1b]0;owned\a" + strings.Repeat("long", 40)
	hostile.Header.Devices[0].Ifname = "e\x1b[31mth\n0"
	hostile.Footer.Child.Command = []string{"sh", "-c", "echo \x1b[2J\r\u202e"}
	hostile.Queues[0].Ifname, hostile.Queues[0].Qdisc = "e\x1b[31mth\n0", "\x00\xff"
	hostile.Queues[0].Qdiscs[0].Kind = "q\x1b[31m\n"
	hostile.Checks[1].Ifname = "\x1b[8m"
	hostile.Verify.Rules[3].Evidence[0].Ifname = "e\x1b[31mth\n0"
	text := func(r *analysis.Result, by By, t Text) func(io.Writer) error {
		return func(w io.Writer) error { return New(r, by).Text(w, t) }
	}
	verdict := func(r *analysis.Result, t Text) func(io.Writer) error {
		return func(w io.Writer) error { return Verdict(w, t, &r.Verify, r.Header.Clock) }
	}
	all := map[string]func(io.Writer) error{
		"report":          text(sample(), ByQueue, relative),
		"report-device":   text(sample(), ByDevice, relative),
		"report-human":    text(sample(), ByQueue, Text{Human: true, Time: "wall"}),
		"report-more":     text(sample(), ByQueue, Text{More: true}),
		"report-emulated": text(emulated, ByQueue, relative),
		"report-cut":      text(cut, ByQueue, relative),
		"report-empty":    text(empty, ByQueue, relative),
		"report-hostile":  text(hostile, ByQueue, relative),
		"verify":          verdict(sample(), relative),
		"verify-boot":     verdict(sample(), Text{Time: "boot"}),
		"verify-emulated": verdict(emulated, relative),
		"verify-empty":    verdict(empty, relative),
		"verify-hostile":  verdict(hostile, relative),
		"rules":           sampleRules(2).page(),
		"rule":            func(w io.Writer) error { return sampleRules(1).Rules[0].Text(w, relative) },
		"doctor":          sampleDoctor(true).page(),
		"doctor-not":      sampleDoctor(false).page(),
	}
	maps.Copy(all, comparePages())
	return all
}

func (d *Rules) page() func(io.Writer) error {
	return func(w io.Writer) error { return d.Text(w, Text{}) }
}

func (d *Doctor) page() func(io.Writer) error {
	return func(w io.Writer) error { return d.Text(w, Text{}) }
}

func sampleRules(n int) *Rules {
	rules := []analysis.Rule{{
		ID: "D2", Sentence: "A batch takes no more packets than the quota left and one.", Why: "A turn ends some time.", Hooks: []string{"__qdisc_run"}, Documents: []string{"000", "0345552a653c (6.18)"},
		Kernel: "try_bulk_dequeue_skb", Needs: []string{"run", "dequeue"}, Switches: []model.Switch{"bulk"},
		Strength: analysis.Exact, Antecedent: "batches that ended with bytes and packets left",
	}, {
		ID: "M1", Sentence: "On each CPU, every record is submitted or counted as lost.", Kernel: "bpf_ringbuf_reserve",
		Strength: analysis.Exact, Antecedent: "CPUs", Gate: true,
	}}
	others := []analysis.Other{
		{ID: "B1", Sentence: "A completion reports no more than is in flight.", Fate: analysis.NotObservable, Reason: "dql_completed cannot be hooked"},
		{ID: "O2", Sentence: "What goes back goes back in front.", Fate: analysis.Checked, By: []string{"X6"}, Reason: "by the first packet that comes out next"},
	}
	return NewRules(Registry{
		Rules: rules[:n], Others: others[:2*(n-1)],
		Switch: func(name string) Switch {
			return Switch{Name: name, Says: "how many packets one dequeue takes", Variants: []Variant{
				{Name: "bytes", Says: "as many as BQL allows", Source: "5772e9a3463b (3.18)", MendedBy: "0345552a653c"},
				{Name: "budget", Says: "and no more than 1 + the quota left", Source: "0345552a653c (6.18, 6.12.59, 6.1.159)"},
			}}
		},
		Shown: func(id string) analysis.Shown {
			if id != "D2" {
				return analysis.Shown{}
			}
			return analysis.Shown{Undecided: []string{"setting changed"}, Fail: analysis.ShowAt(exampleBegin+1500, "a batch of 66 packets with a quota of 64 left").With("packets", "packets", 66)}
		},
	})
}

func sampleDoctor(ready bool) *Doctor {
	d := NewDoctor(sample().Header.Kernel, []capture.Choice{
		{Fact: "run", Source: "fentry+fexit __qdisc_run", State: "chosen"},
		{Fact: "handover.more", State: "absent", Reason: "softnet_data is not visible", Disables: []string{"X1"}},
	})
	d.Capabilities = map[string]bool{"CAP_BPF": ready, "CAP_PERFMON": true}
	d.BTF = "/sys/kernel/btf/vmlinux"
	h := sample().Header
	d.Settings = h.Settings
	for i, dev := range h.Devices {
		d.Devices = append(d.Devices, DoctorDevice{Device: dev, Completions: []string{"tp_btf napi_poll", ""}[i%2]})
	}
	if !ready {
		d.Ready, d.Problem, d.Next = false, "recording: not permitted: CAP_BPF is missing", "run as root"
	}
	return d
}

func TestGolden(t *testing.T) {
	all := pages()
	maps.Copy(all, compareTables())
	for name, print := range all {
		t.Run(name, func(t *testing.T) {
			var b bytes.Buffer
			if err := print(&b); err != nil {
				t.Fatal(err)
			}
			path := filepath.Join("testdata", name+".txt")
			if os.Getenv("UPDATE") != "" {
				if err := os.WriteFile(path, b.Bytes(), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			want, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			if d := cmp.Diff(string(want), b.String()); d != "" {
				t.Errorf("-want +got\n%s", d)
			}
		})
	}
}

// Every line of every page is ASCII and fits into a mail.
func TestWidth(t *testing.T) {
	for name, print := range pages() {
		var b bytes.Buffer
		if err := print(&b); err != nil {
			t.Fatal(err)
		}
		for l := range strings.Lines(b.String()) {
			l = strings.TrimSuffix(l, "\n")
			if len(l) > Width {
				t.Errorf("%s: %d columns: %s", name, len(l), l)
			}
			if strings.HasSuffix(l, " ") {
				t.Errorf("%s: blank at the end: %q", name, l)
			}
			if Clean(l) != l {
				t.Errorf("%s: not clean: %q", name, l)
			}
		}
	}
}

// No words that net CI's parser takes for a result of its own.
func TestNoWordsOfTheParser(t *testing.T) {
	for name, print := range pages() {
		var b bytes.Buffer
		if err := print(&b); err != nil {
			t.Fatal(err)
		}
		for _, word := range []string{"SKIP:", " FAIL:", "[FAIL]", "# SKIP", "\n# not ok"} {
			if strings.Contains(b.String(), word) {
				t.Errorf("%s: holds %q", name, word)
			}
		}
	}
}

// Colour adds escapes and nothing else.
func TestColour(t *testing.T) {
	r := sample()
	var plainText, coloured bytes.Buffer
	if err := Verdict(&plainText, Text{}, &r.Verify, start); err != nil {
		t.Fatal(err)
	}
	if err := Verdict(&coloured, Text{Color: true}, &r.Verify, start); err != nil {
		t.Fatal(err)
	}
	s := coloured.String()
	for _, c := range []string{red, green, yellow} {
		if !strings.Contains(s, c) {
			t.Errorf("no %q", c)
		}
	}
	for _, c := range []string{red, green, yellow, plain} {
		s = strings.ReplaceAll(s, c, "")
	}
	if d := cmp.Diff(plainText.String(), s); d != "" {
		t.Errorf("-plain +coloured\n%s", d)
	}
}

// What an emulated guest took is in no form printed.
func TestEmulatedHasNoDurations(t *testing.T) {
	r := sample()
	r.Header.Kernel.Emulated = true
	var b bytes.Buffer
	if err := JSON(&b, New(r, ByQueue)); err != nil {
		t.Fatal(err)
	}
	for _, key := range []string{"duration_ns", "user_ns", "sys_ns", `"ns"`, "sojourn_ns", "driver_ns", "ring_ns", "oldest_ns", "throttled_ns", "followed_ns", "completion_ns", "p50"} {
		if strings.Contains(b.String(), key) {
			t.Errorf("holds %s", key)
		}
	}
}
