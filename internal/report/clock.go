// SPDX-License-Identifier: Apache-2.0

package report

import (
	"time"

	"github.com/txtrace/txtrace/internal/capture"
)

// at prints a time of the records, which is CLOCK_MONOTONIC in ns, by the
// clock that was asked for.
func (t Text) at(start capture.Clock, ns uint64) string {
	since := int64(ns - start.Monotonic)
	switch t.Time {
	case "boot":
		return signedSeconds(int64(start.Boot) + since)
	case "wall":
		return time.Unix(0, int64(start.Real)+since).UTC().Format("2006-01-02T15:04:05.000000Z")
	}
	return signedSeconds(since)
}

// signedSeconds prints ns with a sign only when it is negative: a record may
// be older than the clocks that were read at the start.
func signedSeconds(ns int64) string {
	if ns < 0 {
		return "-" + seconds(uint64(-ns))
	}
	return seconds(uint64(ns))
}

// clockName says which clock the times are of.
func (t Text) clockName() string {
	switch t.Time {
	case "boot":
		return "seconds since boot"
	case "wall":
		return "UTC"
	}
	return "seconds since the start"
}
