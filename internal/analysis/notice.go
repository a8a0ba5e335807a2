// SPDX-License-Identifier: Apache-2.0

package analysis

import (
	"github.com/txtrace/txtrace/internal/capture"
	"github.com/txtrace/txtrace/internal/event"
)

// Notice is a change of the world.
type Notice struct {
	event.Notice
	Device *Device // nil when it names none
	Queue  *Queue  // that the watchdog gave up, else nil
	Text   string  // Name of the record

	header *capture.Header
}

// OfSetting says that the notice tells of a sysctl or of a queue's bounds.
func (n *Notice) OfSetting() bool {
	return n.Subtype == event.NoticeSysctl || n.Subtype == event.NoticeQueueLimit
}

// InHeader is what the capture's header says of the setting.
func (n *Notice) InHeader() (value uint64, known bool) {
	if n.Subtype == event.NoticeSysctl {
		switch n.Text {
		case "net.core.dev_weight":
			return uint64(n.header.Settings.DevWeight), true
		case "net.core.dev_weight_tx_bias":
			return uint64(n.header.Settings.DevWeightTxBias), true
		}
		return 0, false
	}
	for _, d := range n.header.Devices {
		if d.Netns != n.Netns || d.Ifindex != n.Ifindex {
			continue
		}
		for _, q := range d.BQL {
			switch {
			case q.Txq != uint32(n.Txq):
			case n.Text == "limit_min":
				return uint64(q.LimitMin), true
			case n.Text == "limit_max":
				return uint64(q.LimitMax), true
			}
		}
	}
	return 0, false
}
