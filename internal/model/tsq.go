// SPDX-License-Identifier: Apache-2.0

package model

// WmemBase is what sk_wmem_alloc holds when a socket has nothing below TCP.
const WmemBase = 1

// PacingShift is the usual sk_pacing_shift: 1/1024 s of bytes.
const PacingShift = 10

// Socket is what tcp_small_queue_check looks at before it lets a skb go (003;
// net/ipv4/tcp_output.c).
type Socket struct {
	Wmem        uint32 // sk_wmem_alloc: WmemBase + truesize of the skbs below TCP, in bytes
	Truesize    uint32 // of the skb to be sent, in bytes
	MSS         uint32 // payload bytes of a segment; read by what-ifs only
	PacingRate  uint64 // sk_pacing_rate, bytes per second
	PacingShift uint8  // sk_pacing_shift
	Paced       bool   // sk_pacing_status is not SK_PACING_NONE
	LimitOutput int32  // net.ipv4.tcp_limit_output_bytes
	Factor      uint8  // 1 for a retransmission, else 0
	TxDelay     uint32 // tcp_tx_delay, in microseconds
	Unacked     int    // skbs in the retransmit queue
}

// TSQLimit is the number of bytes that Wmem is held against.
func (s Socket) TSQLimit(limit Variant) uint64 {
	sysctl := uint64(int64(s.LimitOutput)) // a negative one bounds nothing
	byTime := s.PacingRate >> s.PacingShift
	l := max(uint64(2*s.Truesize), byTime)
	switch limit {
	case TSQLimitConstant:
		return uint64(max(s.LimitOutput, 0))
	case TSQLimitRate:
		return max(uint64(s.Truesize), byTime)
	case TSQLimitFloor:
		return max(sysctl, byTime)
	case TSQLimitMs:
		return max(s.PacingRate/1000, uint64(2*s.MSS))
	case TSQLimitShift8:
		return max(s.PacingRate>>8, uint64(2*s.MSS))
	case TSQLimitUnpaced:
		if !s.Paced {
			l = min(l, sysctl)
		}
	default:
		l = min(l, sysctl)
	}
	l <<= s.Factor
	return l + s.PacingRate*uint64(s.TxDelay)>>19
}

// OverTSQLimit says whether the socket has more below TCP than it may. The
// first limit, and the what-ifs, are reached where the others are exceeded. So
// the text of 003 and its code differ: a slow flow has one skb below TCP under
// TSQLimitRate, where the text says two; two take a limit of twice the
// truesize, as all later ones have.
func (s Socket) OverTSQLimit(limit Variant) bool {
	switch limit {
	case TSQLimitConstant, TSQLimitMs, TSQLimitShift8:
		return uint64(s.Wmem) >= s.TSQLimit(limit)
	}
	return uint64(s.Wmem) > s.TSQLimit(limit)
}

// CallsBack says whether the free of a skb that is sent calls back to TCP, as
// its destructor is tcp_wfree and not sock_wfree. Up to the patch of 003 a
// sysctl of 0 or less switched that off, though not the throttle, which then
// holds for every skb: such a socket waits for an ACK or its user.
func (s Socket) CallsBack(limit Variant) bool {
	return limit != TSQLimitConstant || s.LimitOutput > 0
}

// TSQExempt says whether the socket may send above the limit, because too
// little is on its way for a completion to be sure to call back.
func (s Socket) TSQExempt(exempt Variant) bool {
	if exempt == TSQExemptEmpty {
		return s.Unacked == 0
	}
	return s.Unacked <= 1
}

// TSQExempts says whether a kernel with that limit exempts anybody. The
// exemption is younger than the first three, and no part of the what-ifs.
func TSQExempts(limit Variant) bool {
	return limit == TSQLimitUnpaced || limit == TSQLimitAlways
}

// Throttled says whether the skb has to wait (rule T2).
func (s Socket) Throttled(limit, exempt Variant) bool {
	return s.OverTSQLimit(limit) && !(TSQExempts(limit) && s.TSQExempt(exempt))
}

// TSQFlags are the bits of sk_tsq_flags that matter here.
type TSQFlags uint8

// The bits of TSQFlags.
const (
	TSQThrottled TSQFlags = 1 << iota // output stopped by the limit
	TSQQueued                         // waits for the handler of this CPU
	TSQDeferred                       // the handler found the socket in use
)

// Wfree is tcp_wfree: a skb of truesize bytes was freed below TCP (rule T3). It
// returns wmem and flags afterwards; a throttled socket is queued for the
// handler. The kernel keeps one byte back until the handler is done with the
// socket; wmem is what it compares.
//
// If it runs in ksoftirqd, and more than the smallest skb is still below TCP,
// it waits for the queues to drain. oneByte is SKB_TRUESIZE(1) of the kernel.
func Wfree(flags TSQFlags, wmem, truesize, oneByte uint32, ksoftirqd bool) (uint32, TSQFlags) {
	wmem -= truesize - 1
	if ksoftirqd && wmem >= oneByte {
		return wmem, flags
	}
	if flags&TSQThrottled != 0 && flags&TSQQueued == 0 {
		flags = flags&^TSQThrottled | TSQQueued
	}
	return wmem, flags
}
