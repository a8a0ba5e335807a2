// SPDX-License-Identifier: Apache-2.0

package accept

import (
	"bufio"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// Registers of QEMU's e1000e, as its trace spells them. A driver rings the
// doorbell of its only queue by a write to TDT. Nothing but ethtool -d, which is
// one of the counters that a scenario reads, reads RDLEN.
const (
	writeTDT  = "e1000e_core_write Write to register 0x3818,"
	readRDLEN = "e1000e_core_read Read from register 0x2808,"
)

// TestDoorbells holds the doorbells that hand-overs owed to those that the device
// was rung by, which QEMU logs: all between the counters before a load and those
// after it. Its driver rings when no more is to follow, or the queue is stopped
// for whatever reason.
func TestDoorbells(t *testing.T) {
	g := newGuest(t)
	if err := os.MkdirAll(g.out, 0o755); err != nil {
		t.Fatal(err)
	}
	log := filepath.Join(g.out, "registers.log")
	names := []string{"bulk-udp", "tcp-gso", "tcp-small"}
	args := []string{"-seconds", "2", "-scenario", strings.Join(names, ",")}
	for _, a := range []string{"-trace", "enable=e1000e_core_write", "-trace", "enable=e1000e_core_read", "-D", log} {
		args = append(args, "-qemu-arg", a)
	}
	dir := g.boot(t, "boot", "6.12.95", args...)
	rung := doorbells(t, log)
	if len(rung) != len(names) {
		t.Fatalf("%d loads in %s, %d are wanted", len(rung), log, len(names))
	}
	for i, name := range names {
		t.Run(name, func(t *testing.T) {
			file := filepath.Join(dir, name, "capture.txtrace")
			r := g.report(t, file)
			clean(t, file, g.verify(t, file), r)
			owed, packets := uint64(0), uint64(0)
			for j := range r.Queues {
				h := r.Queues[j].Handovers
				owed += uint64(h.OwedAny)
				packets += uint64(h.Taken)
			}
			if packets < 1000 || owed == packets && name == "bulk-udp" {
				t.Errorf("%d doorbells for %d packets: that shows nothing", owed, packets)
			}
			same(t, fmt.Sprintf("doorbells for %d packets, and writes to TDT", packets), owed, rung[i])
		})
	}
}

// doorbells counts the writes to TDT of each load: of two devices, after the
// second of two reads of counters up to the next.
func doorbells(t *testing.T, log string) []uint64 {
	t.Helper()
	f, err := os.Open(log)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	var rung []uint64
	n, reads := uint64(0), 0
	lines := bufio.NewScanner(f)
	for lines.Scan() {
		switch line := lines.Text(); {
		case strings.Contains(line, writeTDT):
			n++
		case strings.Contains(line, readRDLEN):
			if reads++; reads%4 == 3 {
				rung = append(rung, n)
			}
			n = 0
		}
	}
	if err := lines.Err(); err != nil {
		t.Fatal(err)
	}
	if reads%4 != 0 {
		t.Fatalf("%s: %d reads of counters, two before and two after each load are wanted", log, reads)
	}
	return rung
}
