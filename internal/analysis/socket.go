// SPDX-License-Identifier: Apache-2.0

package analysis

import (
	"github.com/txtrace/txtrace/internal/event"
	"github.com/txtrace/txtrace/internal/model"
)

// Throttle is a tcp_write_xmit in which TSQ_THROTTLED was newly set.
type Throttle struct{ event.Throttle }

// First says that it is the first call that was seen of the socket: fq may
// have set its pacing status in the middle of it.
func (t *Throttle) First() bool { return t.Birth == t.Begin() }

// pacingFq is SK_PACING_FQ, the last of enum sk_pacing.
const pacingFq = 2

// PacedByFq is SK_PACING_FQ.
func (t *Throttle) PacedByFq() bool { return t.PacingStatus == pacingFq }

// Queued says that a free met the socket before the call was over.
func (t *Throttle) Queued() bool { return t.TSQEnd&event.TSQQueued != 0 }

// AsModel is what tcp_small_queue_check looked at, with wmem bytes below TCP.
func (t *Throttle) AsModel(wmem uint32) model.Socket {
	return model.Socket{
		Wmem: wmem, Truesize: t.Truesize, PacingRate: t.PacingRate, PacingShift: t.PacingShift,
		Paced: t.PacingStatus != 0, LimitOutput: int32(t.LimitSysctl), Factor: t.Factor, TxDelay: t.TxDelay,
		Unacked: int(t.Rtx), // RtxEmpty, RtxOne, RtxMore
	}
}

// Wfree is a tcp_wfree that met TSQ_THROTTLED without TSQ_QUEUED.
type Wfree struct {
	event.Wfree
	SkbTruesize uint32 // SKB_TRUESIZE(1) of this kernel, 0 when not known
}

// Moved says that another CPU changed sk_wmem_alloc meanwhile. The end may not
// be read when the last byte is gone, and the kernel keeps one byte back until
// the socket was handled.
func (w *Wfree) Moved() bool {
	left := w.WmemBegin - w.Truesize
	return w.WmemEnd != 0 && w.WmemEnd != left && w.WmemEnd != left+1
}

// Resume is a throttled socket that sends again.
type Resume struct{ event.Resume }

// SockID names a socket: its address, and when the recorder first saw it,
// because addresses are used again.
type SockID struct{ Sock, Birth uint64 }

// SockID is the socket's.
func (t *Throttle) SockID() SockID { return SockID{t.Sock, t.Birth} }
func (w *Wfree) SockID() SockID    { return SockID{w.Sock, w.Birth} }
func (r *Resume) SockID() SockID   { return SockID{r.Sock, r.Birth} }

// Transmit is a packet that tcp_write_xmit sends.
type Transmit struct{ event.Transmit }

// SockID is the socket's.
func (t *Transmit) SockID() SockID { return SockID{t.Sock, t.Birth} }

// MayProbe says that it may be a probe of the path's MTU.
func (t *Transmit) MayProbe() bool { return t.Sending&event.SendingProbes != 0 }

// Raced says that a free was under way when Wmem was read.
func (t *Transmit) Raced() bool { return t.Sending&event.SendingRace != 0 }

// Summed says that Before, Sent and Freed are all that changed Wmem.
func (t *Transmit) Summed() bool { return t.Sending&event.SendingSummed != 0 }

// AsModel is what tcp_small_queue_check looked at.
func (t *Transmit) AsModel() model.Socket {
	return model.Socket{
		Wmem: t.Wmem, Truesize: t.Truesize, PacingRate: t.PacingRate, PacingShift: t.PacingShift,
		Paced: t.PacingStatus != 0, LimitOutput: int32(t.LimitSysctl), TxDelay: t.TxDelay,
		Unacked: int(t.Rtx), // RtxEmpty, RtxOne, RtxMore
	}
}
