// SPDX-License-Identifier: Apache-2.0

package report

import (
	"bytes"
	"strings"
	"testing"

	"github.com/txtrace/txtrace/internal/analysis"
	"github.com/txtrace/txtrace/internal/capture"
	"github.com/txtrace/txtrace/internal/event"
)

// shapeOf is the shape of batches of those sizes, 100 bytes a packet, each a
// run of its own.
func shapeOf(sizes ...uint32) *analysis.Shape {
	s := &analysis.Shape{Netns: 7, Ifindex: 2}
	q := &analysis.Queue{Device: &analysis.Device{Netns: 7, Ifindex: 2}}
	c := s.Checks()
	for _, n := range sizes {
		b := &analysis.Batch{Dequeue: event.Dequeue{Packets: n, Walked: n, PktLen: 100 * n}, Queue: q, Origin: analysis.OriginFresh}
		c.Batch(b)
		r := &analysis.Run{Run: event.Run{Packets: n, Dequeues: 1}, Queue: q, Restarts: []analysis.Restart{{Batch: b}}}
		c.Run(r)
		c.Completion(&analysis.Completion{Complete: event.Complete{Limit: 1000 * n}, Queue: q})
	}
	return s
}

func sampleModel() *Model {
	res := &analysis.Result{Header: &capture.Header{}, Queues: []analysis.QueueReport{{
		Netns: 7, Ifindex: 2,
		Handovers: analysis.HandoverReport{Taken: 1000, OwedAny: 300, OwedDrv: 250},
		Requeues:  analysis.RequeueReport{Packets: 20},
		Runs:      analysis.RunReport{QuotaEnded: 3},
	}}}
	return NewModel("quota=stop", ModelQueue{Netns: 7, Ifindex: 2, Ifname: "eth0", Qdisc: "fq_codel"}, 1_000_000_000, []ModelInput{
		{Name: "recorded", Result: res, Shape: shapeOf(65, 65, 1, 1), OwedByStop: true},
		{Name: "as recorded", Result: res, Shape: shapeOf(65, 1, 1, 1)},
		{Name: "quota=stop", Result: res, Shape: shapeOf(64, 1, 1, 2)},
	})
}

func TestModel(t *testing.T) {
	d := sampleModel()
	c := &d.Columns[0]
	if c.Batch != (Spread{33, 1, 65, 65}) || c.Requeues != 20_000 || c.Doorbells != 0.3 || c.Distance != nil {
		t.Errorf("%+v", c)
	}
	// 65 packets of 100 bytes at 1 Gbit/s are 52 us.
	if w := c.BehindBatch; w.Bytes.P99 != 6500 || w.Time.P99 != 52_000 || w.Time.Mean != 26_400 || c.BehindRun != w {
		t.Errorf("%+v", w)
	}
	c = &d.Columns[1]
	if c.Doorbells != 0.25 || c.Distance.Batch != 0.25 || *c.Distance.Limit != 16_000/33_000. {
		t.Errorf("%+v %+v", c, c.Distance)
	}
	if d.Columns[2].Distance.Batch != 0.5 {
		t.Errorf("%+v", d.Columns[2].Distance)
	}
	var b bytes.Buffer
	if err := d.Text(&b, Text{}, &capture.Header{}); err != nil {
		t.Fatal(err)
	}
	text := b.String()
	for _, want := range []string{
		"dequeues                               4               4               4",
		"  us, p99  max                52.0  52.0      52.0  52.0      51.2  51.2",
		"none proven",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("%q is not in\n%s", want, text)
		}
	}
	if strings.Contains(text, "far from this recording") {
		t.Error("a distance of 0.25 is not far")
	}
	if strings.Contains(text, emulated) || strings.Contains(text, "already") {
		t.Errorf("neither of a guest nor done already:\n%s", text)
	}
	d.Columns[1].Distance.Batch = 0.26
	d.Capture.Emulated = true
	b.Reset()
	if err := d.Text(&b, Text{}, &capture.Header{}); err != nil || !strings.Contains(b.String(), "far from this recording (0.26)") || !strings.HasPrefix(b.String(), emulated+"\n") {
		t.Errorf("%v\n%s", err, b.String())
	}
	for line := range strings.Lines(text) {
		if len(strings.TrimRight(line, "\n")) > Width {
			t.Errorf("%d columns: %s", len(line)-1, line)
		}
	}
}
