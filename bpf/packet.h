/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * One record per call of a driver (--detail packet): from net_dev_start_xmit
 * to net_dev_xmit, always inside a hand-over. The skb may be freed by then, so
 * what it was is kept from the begin, in a place per CPU of its own: stacked
 * devices nest, and an interrupt may come in between.
 */
#define TX_PACKETS 8 /* nested calls, a power of two */

struct tx_giving {
	__u64 skb; /* 0: none */
	__u64 begin;
	__u64 jiffies;
	__u32 parent;
	__u32 slot;
	__u32 len;
	__u32 segs;
	__u32 num_queued;
	__u8 state;
	__u8 unlocked;
	__u8 pad[2];
};

struct tx_givings {
	struct tx_giving at[TX_PACKETS];
};

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct tx_givings);
} givings SEC(".maps");

/* The place of a skb, or, for 0, a free one; TX_PACKETS when there is none.
 * Global, so that the verifier sees the loop once.
 */
__noinline int giving_find(__u64 skb)
{
	struct tx_givings *all;
	__u32 zero = 0, i;

	all = bpf_map_lookup_elem(&givings, &zero);
	for (i = 0; i < TX_PACKETS && all; i++)
		if (all->at[i].skb == skb)
			return i;
	return TX_PACKETS;
}

/* The hand-over under way to dev, by what carries it; 0: none that is wanted. */
static __always_inline __u32 giving_slot(struct tx_cpu *c,
					 struct net_device *dev, __u32 *parent)
{
	struct tx_frame *f;

	if (c->send.first && c->send.stage == TX_STAGE_HANDED) {
		*parent = (__u32)c->send.begin ?: 1;
		return c->send.slot;
	}
	f = tx_frame_top(c);
	if (!f ||
	    (f->type != TX_FRAME_DIRECT && f->type != TX_FRAME_HANDOVER) ||
	    !f->at.first || f->at.dev != (__u64)dev)
		return 0;
	*parent = tx_frame_id(f);
	return f->slot;
}

static __always_inline void giving_now(__u64 txq, __u32 *num_queued,
				       __u8 *state)
{
	tx_read(*state, txq, netdev_queue, state);
	if (bpf_core_field_exists(struct netdev_queue, dql))
		tx_read(*num_queued, txq, netdev_queue, dql.num_queued);
}

SEC("tp_btf/net_dev_start_xmit")
int BPF_PROG(give, struct sk_buff *skb, struct net_device *dev)
{
	struct tx_cpu *c = tx_enter(TX_PROG_give);
	__u32 zero = 0, slot, parent = 0;
	struct tx_givings *all;
	struct tx_giving *g;
	int owner = -1;
	__u64 txq;

	if (!c)
		return 0;
	slot = giving_slot(c, dev, &parent);
	all = bpf_map_lookup_elem(&givings, &zero);
	if (!slot || !all)
		return tx_filtered(c, TX_PROG_give);
	/* Without a free one, ends were missed: the first is as good as any. */
	g = &all->at[giving_find(0) & (TX_PACKETS - 1)];
	g->begin = bpf_ktime_get_ns();
	g->jiffies = bpf_jiffies64();
	g->parent = parent;
	g->slot = slot;
	g->len = skb->len;
	g->segs = 1 + skb_more_segs(skb);
	g->num_queued = 0;
	txq = queue_at(slot)->txq;
	giving_now(txq, &g->num_queued, &g->state);
	tx_read(owner, txq, netdev_queue, xmit_lock_owner);
	g->unlocked =
		owner == (int)bpf_get_smp_processor_id() ? 0 : TX_FLAG_UNLOCKED;
	g->skb = tx_number(c, TX_PROG_give, skb);
	return tx_noted(c, TX_PROG_give);
}

SEC("tp_btf/net_dev_xmit")
int BPF_PROG(given, struct sk_buff *skb, int rc, struct net_device *dev)
{
	struct tx_cpu *c = tx_enter(TX_PROG_given);
	struct tx_givings *all;
	struct tx_giving *g;
	struct tx_packet *r;
	__u64 number, txq;
	__u32 zero = 0;
	int at;

	if (!c)
		return 0;
	all = bpf_map_lookup_elem(&givings, &zero);
	if (!all)
		return tx_filtered(c, TX_PROG_given);
	number = tx_number(c, TX_PROG_given, skb);
	at = giving_find(number);
	if (at == TX_PACKETS)
		return tx_filtered(c, TX_PROG_given);
	g = &all->at[at & (TX_PACKETS - 1)];
	g->skb = 0;
	at = tx_frame_push(c, TX_FRAME_RECORD, NULL, g->begin);
	r = &tx_frame_at(c, at)->packet;
	tx_clear(*r);
	tx_queue_name(&r->h, g->slot);
	r->h.parent = g->parent;
	r->h.flags = g->unlocked;
	r->skb = tx_hidden(number);
	r->jiffies_begin = g->jiffies;
	r->jiffies_end = bpf_jiffies64();
	r->len = g->len;
	r->segs = g->segs;
	r->rc = rc;
	r->num_queued_begin = g->num_queued;
	r->txq_state_begin = g->state;
	txq = queue_at(g->slot)->txq;
	giving_now(txq, &r->num_queued_end, &r->txq_state_end);
	tx_read(r->trans_start, txq, netdev_queue, trans_start);
	r->more = xmit_more(tx_base(c));
	return tx_emit(TX_PROG_given, at, TX_PACKET, sizeof(*r));
}
