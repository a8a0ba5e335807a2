// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bufio"
	"io"
	"os"
	"strconv"
	"strings"

	"github.com/txtrace/txtrace/internal/capture"
)

// tickNS is a clock tick of user space, which is 10 ms on all that is built
// (USER_HZ; proc_stat(5)).
const tickNS = 10_000_000

// cpuTimes are the machine's so far, nil when they cannot be read.
func cpuTimes() *capture.CPUTimes {
	f, err := os.Open("/proc/stat")
	if err != nil {
		return nil
	}
	defer f.Close()
	return parseCPUTimes(f)
}

// parseCPUTimes reads the line of all CPUs: user nice system idle iowait irq
// softirq steal, and guests, which are in user and nice.
func parseCPUTimes(r io.Reader) *capture.CPUTimes {
	lines := bufio.NewScanner(r)
	for lines.Scan() {
		fields := strings.Fields(lines.Text())
		if len(fields) < 9 || fields[0] != "cpu" {
			continue
		}
		var ns [8]uint64
		for i := range ns {
			ticks, err := strconv.ParseUint(fields[1+i], 10, 64)
			if err != nil {
				return nil
			}
			ns[i] = ticks * tickNS
		}
		return &capture.CPUTimes{User: ns[0] + ns[1], System: ns[2], Idle: ns[3] + ns[4], IRQ: ns[5], SoftIRQ: ns[6], Steal: ns[7]}
	}
	return nil
}

// cpuSince is what was spent since then. A count of the kernel's that falls, as
// those of idle and iowait may, is taken as not moved.
func cpuSince(then, now *capture.CPUTimes) *capture.CPUTimes {
	if then == nil || now == nil {
		return nil
	}
	less := func(a, b uint64) uint64 { return a - min(a, b) }
	return &capture.CPUTimes{
		User: less(now.User, then.User), System: less(now.System, then.System), Idle: less(now.Idle, then.Idle),
		IRQ: less(now.IRQ, then.IRQ), SoftIRQ: less(now.SoftIRQ, then.SoftIRQ), Steal: less(now.Steal, then.Steal),
	}
}
