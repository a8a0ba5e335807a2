/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * What TCP sends (--detail packet): one record per __tcp_transmit_skb of the
 * head of the write queue, which is what tcp_write_xmit sends. Acknowledgements
 * and retransmissions are only counted.
 */

#pragma clang attribute push(__attribute__((preserve_access_index)), \
			     apply_to = record)

struct tcp_skb_cb {
	unsigned short tcp_gso_segs;
};

#pragma clang attribute pop

/*
 * How many segments TCP takes a packet for. What skb_shinfo counts is written
 * by __tcp_transmit_skb, too late for its begin.
 */
static __always_inline __u32 tcp_segs(struct sk_buff *skb)
{
	__u16 segs = 0;

	bpf_probe_read_kernel(
		&segs, sizeof(segs),
		(void *)skb + bpf_core_field_offset(struct sk_buff, cb) +
			bpf_core_field_offset(struct tcp_skb_cb, tcp_gso_segs));
	return segs;
}

/* What a socket has charged and got back since it was looked at last. */
struct tx_charge {
	__u64 sent; /* truesize, of all that __tcp_transmit_skb took */
	__u64 freed; /* tx_sock.freed at the last look */
	__u32 wmem; /* then */
	__u8 known; /* there was one that no free interfered with */
	__u8 unsure; /* something since then charged what was not seen */
	__u8 followed; /* since nothing of it was below TCP */
	__u8 gso; /* it sent what software may make segments of */
};

struct {
	__uint(type, BPF_MAP_TYPE_SK_STORAGE);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__type(key, int);
	__type(value, struct tx_charge);
} charges SEC(".maps");

/*
 * Looks at what is below TCP, and what was charged and freed since the last
 * look. A free that is under way has been counted, and may not have been taken
 * off yet. The segments of a GSO packet have another sum than the packet, from
 * some time on.
 */
static __always_inline void charge_look(struct tx_transmit *r,
					struct tx_charge *g, struct tx_sock *s,
					struct sock *sk)
{
	__u64 freed = s->freed;
	bool race;

	barrier();
	race = s->begun != s->done;
	barrier();
	r->wmem = sk->sk_wmem_alloc.refs.counter;
	barrier();
	race = race || s->begun != s->done || s->freed != freed;
	r->before = g->wmem;
	r->sent = g->sent;
	r->freed = freed - g->freed;
	if (g->known && g->followed && !g->unsure && !g->gso)
		r->sending |= TX_SENDING_SUMMED;
	if (race)
		r->sending |= TX_SENDING_RACE;
	if (r->wmem == 1) { /* what was GSO is gone, from here on */
		g->followed = 1;
		g->gso = 0;
	}
	g->wmem = r->wmem;
	g->freed = freed;
	g->sent = 0;
	g->unsure = 0;
	g->known = !race;
}

SEC("fentry/__tcp_transmit_skb")
int BPF_PROG(transmit_begin, struct sock *sk, struct sk_buff *skb, int clone)
{
	struct tx_cpu *c = tx_enter(TX_PROG_transmit_begin);
	struct sk_buff *head = sk->sk_write_queue.next;
	struct tx_transmit *r;
	struct tx_charge *g;
	struct tx_sock *s;
	int at;

	if (!c)
		return 0;
	s = bpf_sk_storage_get(&socks, sk, 0, 0);
	if (!s)
		return tx_filtered(c, TX_PROG_transmit_begin);
	g = bpf_sk_storage_get(&charges, sk, 0, BPF_SK_STORAGE_GET_F_CREATE);
	if (!g)
		return tx_filtered(c, TX_PROG_transmit_begin);
	if (!clone || head != skb || !s->writing) {
		/* A retransmission may be a copy, of another size. */
		g->unsure |= clone != 0;
		g->sent += skb->truesize;
		return tx_filtered(c, TX_PROG_transmit_begin);
	}
	at = tx_frame_push(c, TX_FRAME_RECORD, NULL, 0);
	r = &tx_frame_at(c, at)->transmit;
	tx_clear(*r);
	r->h.txq = TX_NO_QUEUE;
	r->h.netns = sk_netns(sk);
	r->sock = tx_address(c, TX_PROG_transmit_begin, sk);
	r->birth = s->birth;
	charge_look(r, g, s, sk);
	r->sending |= TX_SENDING_HEAD;
	r->truesize = skb->truesize;
	g->sent += r->truesize;
	g->gso |= tcp_segs(skb) > 1;
	tx_read_limit(r, sk);
	if (sk->__sk_common.skc_net.net->ipv4.sysctl_tcp_mtu_probing)
		r->sending |= TX_SENDING_PROBES;
	return tx_emit(TX_PROG_transmit_begin, at, TX_TRANSMIT, sizeof(*r));
}

/* One that gave no packet, for want of memory, charged nothing. */
SEC("fexit/__tcp_transmit_skb")
int BPF_PROG(transmit_end, struct sock *sk, struct sk_buff *skb, int clone,
	     unsigned int gfp, __u32 rcv_nxt, int ret)
{
	struct tx_cpu *c = tx_enter(TX_PROG_transmit_end);
	struct tx_charge *g;

	if (!c)
		return 0;
	if (!ret)
		return tx_filtered(c, TX_PROG_transmit_end);
	g = bpf_sk_storage_get(&charges, sk, 0, 0);
	if (g)
		g->unsure = 1;
	return tx_noted(c, TX_PROG_transmit_end);
}
