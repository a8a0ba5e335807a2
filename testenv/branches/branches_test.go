// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/txtrace/txtrace/internal/sim"
)

// simulated writes a capture of a simulation and returns its path.
func simulated(t *testing.T, change func(*sim.Config)) string {
	c := sim.Default()
	change(&c)
	var b bytes.Buffer
	if _, err := sim.Run(context.Background(), c, &b); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "capture.txtrace")
	if err := os.WriteFile(path, b.Bytes(), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// Each capture shows what its path was made for, and together more than each.
func TestBranches(t *testing.T) {
	udp := simulated(t, func(c *sim.Config) { c.Device.LimitMax = 3000 })
	tcp := simulated(t, func(c *sim.Config) {
		c.Duration = 300 * time.Millisecond
		c.Senders.Protocol, c.Senders.Count, c.Senders.Length, c.Senders.Segments = sim.TCP, 4, 1514, 4
		c.Senders.Window, c.Senders.RTT, c.Senders.LimitOutput = 200, time.Millisecond, 16384
	})
	shared := simulated(t, func(c *sim.Config) { c.Device.Queues, c.Qdisc.Kind = 4, sim.QdiscShared })
	all := newTable()
	for _, c := range []struct {
		path string
		sees []string
	}{
		{udp, []string{"DQL.completed: clamped by limit_max", "DQL.completed: over-limit kept", "DQL.Charge: stopped by BQL", "DQL.Complete: started again", "Dequeue.Take: ended by bytes"}},
		{tcp, []string{"Validate: segmented", "Socket.Throttled: limit by sysctl", "Wfree: queued for the handler", "resume: resumed"}},
		{shared, []string{"Dequeue.Take: ended by slow"}},
	} {
		one := newTable()
		for _, into := range []*table{one, all} {
			if err := count(into, c.path); err != nil {
				t.Fatal(err)
			}
		}
		for _, name := range c.sees {
			if one.by[name].n == 0 {
				t.Errorf("%s: not seen", name)
			}
		}
	}
	for _, b := range all.rows {
		if b.function == "DQL.completed" && b.name == "grow" && b.n == 0 {
			t.Error("no limit grew in all three")
		}
	}
}

func TestRun(t *testing.T) {
	var out, errs strings.Builder
	if code := run(nil, &out, &errs); code != 2 || !strings.HasPrefix(errs.String(), "usage: ") {
		t.Errorf("no capture: exit %d, %q", code, errs.String())
	}
	errs.Reset()
	if code := run([]string{"/nowhere"}, &out, &errs); code != 2 || !strings.Contains(errs.String(), "/nowhere") {
		t.Errorf("a capture that is not there: exit %d, %q", code, errs.String())
	}
	// One load takes not all of the branches that must be seen.
	path := simulated(t, func(c *sim.Config) { c.Duration = 20 * time.Millisecond })
	if code := run([]string{path}, &out, &errs); code != 1 || !strings.Contains(out.String(), "must be seen") {
		t.Errorf("a short simulation: exit %d\n%s", code, out.String())
	}
	if lines := strings.Count(out.String(), "\n"); lines != len(newTable().rows)+1 {
		t.Errorf("%d lines for %d branches", lines, len(newTable().rows))
	}
}
