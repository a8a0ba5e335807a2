// SPDX-License-Identifier: Apache-2.0

package probes

import (
	"slices"

	"github.com/txtrace/txtrace/internal/capture"
)

// Look reads the settings that rules go by and the devices of every namespace,
// as a recording that began now would. It changes nothing. What cannot be read
// is left out.
func Look() (capture.Settings, []capture.Device) {
	all, err := namespaces()
	if err != nil {
		return settings(), nil
	}
	defer closeAll(all)
	return settings(), lookAround(all, false).devices
}

// Completes says which source sees the completions of a driver's queues, empty
// where they show only when the queue is looked at next.
func (p *Plan) Completes(driver string) string {
	fact := "complete.hardirq"
	if slices.Contains(pollers, driver) {
		fact = "complete.napi"
	}
	for _, c := range p.Choices {
		if c.Fact == fact && c.State == "chosen" {
			return c.Source
		}
	}
	return ""
}
