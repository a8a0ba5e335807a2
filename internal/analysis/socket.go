// SPDX-License-Identifier: Apache-2.0

package analysis

import (
	"github.com/txtrace/txtrace/internal/event"
)

// Throttle is a tcp_write_xmit in which TSQ_THROTTLED was newly set.
type Throttle struct{ event.Throttle }

// Wfree is a tcp_wfree that met TSQ_THROTTLED without TSQ_QUEUED.
type Wfree struct {
	event.Wfree
	SkbTruesize uint32 // SKB_TRUESIZE(1) of this kernel, 0 when not known
}

// Resume is a throttled socket that sends again.
type Resume struct{ event.Resume }

// SockID names a socket: its address, and when the recorder first saw it,
// because addresses are used again.
type SockID struct{ Sock, Birth uint64 }
