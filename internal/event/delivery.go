// SPDX-License-Identifier: Apache-2.0

package event

// Delivery is a list of received skbs that went up to the protocols together
// (netif_receive_skb_list_internal), and what became of it. Dur is how long the
// protocols took. The device is that of its first skb.
//
// The times of arrival are looked at of TCP and UDP packets whose checksum the
// device or its driver has verified, which GRO does not hand on past those
// that it holds. A skb that others were merged into came when its first did.
type Delivery struct {
	Header
	NAPI      uint64 `unit:"addr"`    // to whose list it belongs; another address for a list that a driver made by itself
	Skbs      uint32 `unit:"packets"` // of the list
	Passed    uint32 `unit:"packets"` // came to the protocols: not put off (timestamps), and not given to other CPUs (RPS)
	Followed  uint32 `unit:"packets"` // that came after what went up last of their flow
	Overtaken uint32 `unit:"packets"` // that came before it
	Early     uint64 `unit:"ns"`      // when the last of these came
	Late      uint64 `unit:"ns"`      // and when what overtook it came
}
