// SPDX-License-Identifier: Apache-2.0

package comparison

import "github.com/txtrace/txtrace/internal/capture"

const noCPU = absence("it holds no CPU times, which are taken while a command runs under run or record")

// cpu is what the machine's CPUs did while the command ran, nil when that is
// not in the capture.
func (r *run) cpu() *capture.CPUTimes {
	if r.Footer == nil || r.Footer.Child == nil {
		return nil
	}
	return r.Footer.Child.CPU
}

// busy is one kind of work, in percent of one CPU.
func busy(of func(capture.CPUTimes) uint64) func(*run) (float64, absence) {
	return func(r *run) (float64, absence) {
		c := r.cpu()
		switch {
		case c == nil:
			return 0, noCPU
		case r.seconds() == 0:
			return 0, "its command took no time"
		}
		return float64(of(*c)) / 1e7 / r.seconds(), ""
	}
}

// withCPU is a metric that needs CPU times.
func withCPU(of func(*run) (float64, absence)) func(*run) (float64, absence) {
	return func(r *run) (float64, absence) {
		if r.cpu() == nil {
			return 0, noCPU
		}
		return of(r)
	}
}

// busyMicroseconds and handedKiB are for netperf's service demand, whose KB has
// 1024 bytes.
func (r *run) busyMicroseconds() float64 { return float64(r.cpu().Busy()) / 1e3 }

func (r *run) handedKiB() float64 { return r.handedBits() / 8 / 1024 }
