// SPDX-License-Identifier: Apache-2.0

package sim

import (
	"maps"
	"slices"

	"github.com/txtrace/txtrace/internal/model"
)

// kernel is the variant at each switch that a simulation comes by.
type kernel struct {
	bulk, bulkGSO, validate, quota, resched, requeue, stop, doorbell, object, reset, tsqLimit, tsqExempt, pickCache, groBatch model.Variant
}

func newKernel(c *Config) kernel {
	return kernel{
		bulk: c.variant(model.SwitchBulk), bulkGSO: c.variant(model.SwitchBulkGSO), validate: c.variant(model.SwitchValidate),
		quota: c.variant(model.SwitchQuota), resched: c.variant(model.SwitchResched), requeue: c.variant(model.SwitchRequeue),
		stop: c.variant(model.SwitchXmitStop), doorbell: c.variant(model.SwitchDoorbell),
		object: c.variant(model.SwitchDQLObject), reset: c.variant(model.SwitchDQLReset),
		tsqLimit: c.variant(model.SwitchTSQLimit), tsqExempt: c.variant(model.SwitchTSQExempt),
		pickCache: c.variant(model.SwitchPickCache), groBatch: c.variant(model.SwitchGROBatch),
	}
}

// played are the switches that senders come by, and replayed those that a load
// comes by: it has no sockets, and no device is reset.
var (
	replayed = []model.Switch{
		model.SwitchBulk, model.SwitchBulkGSO, model.SwitchQuota, model.SwitchResched, model.SwitchRequeue,
		model.SwitchXmitStop, model.SwitchDoorbell,
	}
	played = append(slices.Clone(replayed),
		model.SwitchValidate, model.SwitchDQLReset, model.SwitchDQLObject, model.SwitchTSQLimit, model.SwitchTSQExempt)
)

// Plays says whether a simulation comes to the switch.
func Plays(s model.Switch) bool { return slices.Contains(played, s) }

// Replays says whether the replay of a load may differ by the switch.
func Replays(s model.Switch) bool { return slices.Contains(replayed, s) }

// Under is the same simulation of another kernel.
func (c Config) Under(p model.Proposal) Config {
	kernel := maps.Clone(c.Kernel)
	if kernel == nil {
		kernel = make(map[model.Switch]model.Variant)
	}
	maps.Copy(kernel, p.Set)
	c.Kernel, c.MoreLimit, c.ByteCap = kernel, p.MoreLimit, p.ByteCap
	return c
}
