// SPDX-License-Identifier: Apache-2.0

package sim

import (
	"context"
	"io"
	"syscall"
	"testing"
	"time"

	"github.com/txtrace/txtrace/internal/model"
)

// Loads by how many records a packet makes: none (bypass sends are counted),
// some (batches of 65), two and a half (one packet at a time).
func BenchmarkSim(b *testing.B) {
	for _, c := range []struct {
		name   string
		change func(*Config)
	}{
		{"batches", func(c *Config) { c.Costs.Send = 100 }},
		{"bypass", func(c *Config) { c.Senders.Count, c.Device.Rate = 1, 100_000_000_000 }},
		{"singles", func(c *Config) {
			c.Costs.Send = 100
			c.Kernel = map[model.Switch]model.Variant{model.SwitchBulk: model.BulkNone}
		}},
	} {
		b.Run(c.name, func(b *testing.B) {
			cfg := Default()
			cfg.Duration, cfg.Packets = 0, 200_000
			c.change(&cfg)
			b.ReportAllocs()
			var sent uint64
			begin := cpuTime()
			for range b.N {
				sum, err := Run(context.Background(), cfg, io.Discard)
				if err != nil {
					b.Fatal(err)
				}
				sent += sum.Sent
			}
			b.ReportMetric(float64(sent)/b.Elapsed().Seconds(), "packets/s")
			b.ReportMetric(float64(sent)/(cpuTime()-begin).Seconds(), "packets/cpu-s")
			b.ReportMetric(0, "ns/op")
		})
	}
}

// cpuTime is what this process used so far: on a shared machine wall time says
// little.
func cpuTime() time.Duration {
	var u syscall.Rusage
	_ = syscall.Getrusage(syscall.RUSAGE_SELF, &u)
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
