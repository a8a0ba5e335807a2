// SPDX-License-Identifier: Apache-2.0

package sim

import "github.com/txtrace/txtrace/internal/model"

// kernel is the variant at each switch that a simulation comes by.
type kernel struct {
	bulk, bulkGSO, validate, quota, resched, requeue, stop, doorbell, object, reset, tsqLimit, tsqExempt model.Variant
}

func newKernel(c *Config) kernel {
	return kernel{
		bulk: c.variant(model.SwitchBulk), bulkGSO: c.variant(model.SwitchBulkGSO), validate: c.variant(model.SwitchValidate),
		quota: c.variant(model.SwitchQuota), resched: c.variant(model.SwitchResched), requeue: c.variant(model.SwitchRequeue),
		stop: c.variant(model.SwitchXmitStop), doorbell: c.variant(model.SwitchDoorbell),
		object: c.variant(model.SwitchDQLObject), reset: c.variant(model.SwitchDQLReset),
		tsqLimit: c.variant(model.SwitchTSQLimit), tsqExempt: c.variant(model.SwitchTSQExempt),
	}
}
