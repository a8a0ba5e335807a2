// SPDX-License-Identifier: Apache-2.0

package event

// TSQ flag bits, the low byte of sk_tsq_flags.
const (
	TSQThrottled = 1 << 0
	TSQQueued    = 1 << 1
	TSQDeferred  = 1 << 2
)

// How many skbs wait in the retransmit queue (Throttle.Rtx*).
const (
	RtxEmpty = iota
	RtxOne
	RtxMore
)

// Throttle is a tcp_write_xmit in which TSQ_THROTTLED was newly set: absent at
// the begin, and it or TSQ_QUEUED present at the end. The skb that was held
// back is still the head of the write queue.
type Throttle struct {
	Header
	Sock         uint64 `unit:"addr"`
	Birth        uint64 `unit:"ns"`          // when the recorder first saw this socket: address and birth are its identity
	PacingRate   uint64 `unit:"bytes_per_s"` // sk_pacing_rate
	WmemBegin    uint32 `unit:"bytes"`       // sk_wmem_alloc, which starts at 1
	WmemEnd      uint32 `unit:"bytes"`
	Freed        uint32 `unit:"bytes"` // truesize handed to tcp_wfree for this socket during the call
	Truesize     uint32 `unit:"bytes"` // of the head of the write queue at the end
	LimitSysctl  uint32 `unit:"bytes"` // net.ipv4.tcp_limit_output_bytes of the socket's namespace
	TxDelay      uint32 `unit:"us"`    // tcp_tx_delay
	PacingStatus uint8  // SK_PACING_*
	PacingShift  uint8
	Rtx          uint8 // Rtx* at the end
	TSQBegin     uint8 // TSQ*
	TSQEnd       uint8
	Overlap      uint8 // 1: a tcp_wfree of this socket was under way at the begin, or LimitSysctl changed
	QueueEmpty   uint8 // 1: nothing left in the write queue at the end
	Factor       uint8 // log2 factor of the limit (0 in tcp_write_xmit)
}

// Wfree is a tcp_wfree that met TSQ_THROTTLED without TSQ_QUEUED and either
// changed the flags or had no excuse not to.
type Wfree struct {
	Header
	Sock      uint64 `unit:"addr"`
	Birth     uint64 `unit:"ns"`
	WmemBegin uint32 `unit:"bytes"` // before the subtraction
	WmemEnd   uint32 `unit:"bytes"` // at the end; 0 when it may not be read
	Truesize  uint32 `unit:"bytes"`
	TSQBegin  uint8
	TSQEnd    uint8
	Ksoftirqd uint8 // 1: current is this CPU's ksoftirqd
	Overlap   uint8 // 1: another tcp_wfree or tcp_write_xmit of the socket overlapped
}

// Who resumed a throttled socket (Resume.Source).
const (
	ResumeHandler = iota // TSQ tasklet or work
	ResumeRelease        // tcp_release_cb with TSQ_DEFERRED
)

// Resume is the TSQ handler, or tcp_release_cb doing its work, on one socket.
type Resume struct {
	Header
	Sock   uint64 `unit:"addr"`
	Birth  uint64 `unit:"ns"`
	Wmem   uint32 `unit:"bytes"`
	TSQ    uint8
	Source uint8 // Resume*
	Pad    [2]uint8
}

// Bits of Transmit.Sending.
const (
	SendingHead   = 1 << iota // the skb is the head of the write queue
	SendingProbes             // net.ipv4.tcp_mtu_probing is not 0: it may be a probe
	SendingRace               // a tcp_wfree was under way when Wmem was read
	SendingSummed             // Before, Sent and Freed are all that changed Wmem
)

// Transmit is one __tcp_transmit_skb of what tcp_write_xmit sends; before it
// charges the packet. Rtx is what waits in the retransmit queue.
type Transmit struct {
	Header
	Sock         uint64 `unit:"addr"`
	Birth        uint64 `unit:"ns"`
	PacingRate   uint64 `unit:"bytes_per_s"`
	Wmem         uint32 `unit:"bytes"` // sk_wmem_alloc
	Truesize     uint32 `unit:"bytes"` // of the skb
	LimitSysctl  uint32 `unit:"bytes"`
	TxDelay      uint32 `unit:"us"`
	Before       uint32 `unit:"bytes"` // sk_wmem_alloc at the Transmit before
	Sent         uint32 `unit:"bytes"` // truesize of what was sent from then on, that one included
	Freed        uint32 `unit:"bytes"` // and of what was given to tcp_wfree
	PacingStatus uint8
	PacingShift  uint8
	Rtx          uint8 // Rtx*
	Sending      uint8 // Sending*
}
