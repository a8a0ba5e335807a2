// SPDX-License-Identifier: Apache-2.0

package analysis

import (
	"github.com/txtrace/txtrace/internal/capture"
	"github.com/txtrace/txtrace/internal/event"
)

// weight follows dev_tx_weight, the quota of a run.
//
// Decision: a run carries the weight it began with, and that alone counts for
// it. The header's sysctls and the notices of their change, up to a second
// late and blind to what was changed back meanwhile, serve only captures whose
// runs carry none.
type weight struct {
	dev, bias uint32
	unknown   bool // a notice may be missing
	carried   bool // runs carry theirs
}

func newWeight(s capture.Settings) weight { return weight{dev: s.DevWeight, bias: s.DevWeightTxBias} }

// quota is the weight of now, 0 when it is not known.
func (w *weight) quota() uint32 {
	if w.unknown || w.carried {
		return 0
	}
	return w.dev * w.bias
}

// of a run, 0 when it is not known. It is noticed when a change of it may be
// told of later.
func (w *weight) of(r *event.Run) (quota uint32, noticed bool) {
	switch r.TxWeight {
	case 0:
		return w.quota(), !w.carried
	case event.WeightUnsure:
		w.carried = true
		return 0, false
	}
	w.carried = true
	return uint32(r.TxWeight), false
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
