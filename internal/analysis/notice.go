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
	Queue  *Queue  // that the watchdog gave up, or that stalled, else nil
	Text   string  // Name of the record

	header *capture.Header
}

// OfStall says that the kernel told of a queue that completed nothing.
func (n *Notice) OfStall() bool { return n.Subtype == event.NoticeStall }

// Stalled is how long the queue had completed nothing, of a notice of that, in
// ns; 0 where the kernel's clock tick is not known.
func (n *Notice) Stalled() uint64 {
	if n.header.Kernel.HZ == 0 {
		return 0
	}
	return n.Before * 1e9 / uint64(n.header.Kernel.HZ)
}

// QueueState is the queue's state when a stall was noticed.
func (n *Notice) QueueState() uint8 { return uint8(n.After >> 32) }

// DeviceUp says that the device was started and had a carrier then.
func (n *Notice) DeviceUp() bool { return deviceUp(uint8(n.After >> 40)) }

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
