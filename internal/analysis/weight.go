// SPDX-License-Identifier: Apache-2.0

package analysis

import (
	"github.com/txtrace/txtrace/internal/capture"
	"github.com/txtrace/txtrace/internal/event"
)

// weight follows dev_tx_weight, the quota of a run.
type weight struct {
	dev, bias uint32
	unknown   bool // a notice may be missing
}

func newWeight(s capture.Settings) weight { return weight{dev: s.DevWeight, bias: s.DevWeightTxBias} }

// quota is the weight, 0 when it is not known.
func (w weight) quota() uint32 {
	if w.unknown {
		return 0
	}
	return w.dev * w.bias
}

// notice follows a change. It says whether the quota changed: then what was
// judged by the old one within the time that a look takes is in doubt.
func (w *weight) notice(n *event.Notice, name string) bool {
	if n.Subtype != event.NoticeSysctl {
		return false
	}
	old := w.quota()
	switch name {
	case "net.core.dev_weight":
		w.dev = uint32(n.After)
	case "net.core.dev_weight_tx_bias":
		w.bias = uint32(n.After)
	}
	return w.quota() != old
}
