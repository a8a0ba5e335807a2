/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * One record per call of a driver (--detail packet): from net_dev_start_xmit
 * to net_dev_xmit, always inside a hand-over; or one __dev_direct_xmit, which
 * has neither. The skb may be freed by then, so what it was is kept from the
 * begin, in a place per CPU of its own, see life.h.
 */

/* The place of a call, or, for 0, a free one; TX_PACKETS when there is none.
 * Global, so that the verifier sees the loop once.
 */
__noinline int giving_find(__u64 skb, __u64 dev)
{
	struct tx_givings *all;
	__u32 zero = 0, i;

	all = bpf_map_lookup_elem(&givings, &zero);
	for (i = 0; i < TX_PACKETS && all; i++)
		if (all->at[i].skb == skb && (!skb || all->at[i].dev == dev))
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

/* What is known of the skb's life. An order is one of this queue's. */
static __always_inline void giving_life(struct tx_giving *g, __u64 skb,
					__u32 slot, bool shared)
{
	struct tx_living *l = life_of(skb);

	g->order = g->turn = 0;
	g->sender = TX_NO_QUEUE;
	g->tries = g->life = 0;
	if (shared)
		g->life |= TX_LIFE_SHARED;
	if (!l) {
		life_begin(skb, slot, 0);
		l = life_of(skb);
		if (!l)
			return;
	}
	g->life |= TX_LIFE_FOLLOWED;
	if (l->slot != slot) {
		l->slot = slot;
		l->order = 0;
		l->deferred = 0;
	}
	if (l->deferred)
		g->life |= TX_LIFE_DEFERRED;
	g->order = l->order;
	g->turn = l->turn;
	g->sender = l->sender;
	g->tries = l->tries;
	if (l->tries != 255)
		l->tries++;
}

static __always_inline bool giving_begin(struct sk_buff *skb, __u64 number,
					 const struct net_device *dev,
					 __u32 slot, __u32 parent, __u8 life)
{
	struct tx_givings *all;
	struct tx_giving *g;
	__u32 zero = 0;
	int owner = -1;
	__u64 txq;

	all = bpf_map_lookup_elem(&givings, &zero);
	if (!all)
		return false;
	/* Without a free one, ends were missed: the first is as good as any. */
	g = &all->at[giving_find(0, 0) & (TX_PACKETS - 1)];
	g->dev = (__u64)dev;
	g->begin = bpf_ktime_get_ns();
	g->jiffies = bpf_jiffies64();
	g->parent = parent;
	g->slot = slot;
	g->len = skb->len;
	g->segs = 1 + skb_more_segs(skb);
	g->priority = skb->priority;
	g->num_queued = 0;
	txq = queue_at(slot)->txq;
	giving_now(txq, &g->num_queued, &g->state);
	tx_read(owner, txq, netdev_queue, xmit_lock_owner);
	g->unlocked =
		owner == (int)bpf_get_smp_processor_id() ? 0 : TX_FLAG_UNLOCKED;
	giving_life(g, number, slot, skb->users.refs.counter != 1);
	g->life |= life;
	g->skb = number;
	return true;
}

SEC("tp_btf/net_dev_start_xmit")
int BPF_PROG(give, struct sk_buff *skb, struct net_device *dev)
{
	struct tx_cpu *c = tx_enter(TX_PROG_give);
	__u32 slot, parent = 0;

	if (!c)
		return 0;
	slot = giving_slot(c, dev, &parent);
	if (!slot || !giving_begin(skb, tx_number(c, TX_PROG_give, skb), dev,
				   slot, parent, 0))
		return tx_filtered(c, TX_PROG_give);
	return tx_noted(c, TX_PROG_give);
}

static __always_inline int giving_end(struct tx_cpu *c, enum tx_program prog,
				      __u64 number, struct net_device *dev,
				      int rc)
{
	struct tx_givings *all;
	struct tx_giving *g;
	struct tx_packet *r;
	__u32 zero = 0;
	__u64 txq;
	int at;

	all = bpf_map_lookup_elem(&givings, &zero);
	if (!all)
		return tx_filtered(c, prog);
	at = giving_find(number, tx_number(c, prog, dev));
	if (at == TX_PACKETS)
		return tx_filtered(c, prog);
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
	r->priority = g->priority;
	r->order = g->order;
	r->turn = g->turn;
	r->sender = g->sender;
	r->tries = g->tries;
	r->life = g->life;
	txq = queue_at(g->slot)->txq;
	giving_now(txq, &r->num_queued_end, &r->txq_state_end);
	tx_read(r->trans_start, txq, netdev_queue, trans_start);
	r->more = xmit_more(tx_base(c));
	return tx_emit(prog, at, TX_PACKET, sizeof(*r));
}

SEC("tp_btf/net_dev_xmit")
int BPF_PROG(given, struct sk_buff *skb, int rc, struct net_device *dev)
{
	struct tx_cpu *c = tx_enter(TX_PROG_given);

	if (!c)
		return 0;
	return giving_end(c, TX_PROG_given, tx_number(c, TX_PROG_given, skb),
			  dev, rc);
}

/*
 * Past qdisc and hand-over, to the queue of this index: by AF_PACKET with
 * PACKET_QDISC_BYPASS, and by AF_XDP in copy mode. One that is met here first
 * has no slot yet.
 */
SEC("fentry/__dev_direct_xmit")
int BPF_PROG(alone_begin, struct sk_buff *skb, __u16 queue)
{
	struct tx_cpu *c = tx_enter(TX_PROG_alone_begin);
	struct net_device *dev = skb->dev;
	__u64 first;
	__u32 slot;

	if (!c)
		return 0;
	if (!queue) {
		slot = queue_slot(c, TX_PROG_alone_begin, dev, dev->_tx);
	} else {
		first = tx_number(c, TX_PROG_alone_begin, dev->_tx);
		slot = queue_met(first + queue * bpf_core_type_size(
							 struct netdev_queue));
	}
	if (!slot || !giving_begin(skb, tx_number(c, TX_PROG_alone_begin, skb),
				   NULL, slot, 0, TX_LIFE_DIRECT))
		return tx_filtered(c, TX_PROG_alone_begin);
	return tx_noted(c, TX_PROG_alone_begin);
}

/* The skb may be gone: nothing but its address may be used. */
SEC("fexit/__dev_direct_xmit")
int BPF_PROG(alone_end, struct sk_buff *skb, __u16 queue, int rc)
{
	struct tx_cpu *c = tx_enter(TX_PROG_alone_end);

	if (!c)
		return 0;
	return giving_end(c, TX_PROG_alone_end,
			  tx_number(c, TX_PROG_alone_end, skb), NULL, rc);
}
