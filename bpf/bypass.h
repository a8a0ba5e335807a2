/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Bypass sends, from fentry to fexit of sch_direct_xmit. Most that an idle
 * queue sees are of one packet and go as they should: such a send is followed
 * in one small place per CPU, costs no frame, and ends as a count. At the
 * first thing that is not as it should be it gets a frame, with all that a
 * frame would know by then.
 */
#ifndef TXTRACE_BYPASS_H
#define TXTRACE_BYPASS_H

/* Whether skb is the send that is under way here, at this stage. */
static __always_inline bool bypass_is(const struct tx_bypass *b,
				      enum tx_stage stage,
				      const struct sk_buff *skb)
{
	return b->first == (__u64)skb && b->stage == stage &&
	       (!config.rt || b->task == bpf_get_current_task());
}

/* Takes the send that begins; false when it is not of one plain packet. */
static __always_inline bool
bypass_begin(struct tx_cpu *c, __u32 slot, __u32 parent, struct sk_buff *skb,
	     struct Qdisc *q, struct netdev_queue *txq, bool validate)
{
	struct tx_bypass *b = &c->send;
	__u32 len = skb->len;

	if (c->stray || skb->next || qdisc_pkt_len(skb) != len)
		return false;
	b->task = config.rt ? bpf_get_current_task() : 0;
	b->begin = bpf_ktime_get_ns();
	b->parent = parent;
	b->slot = slot;
	b->bytes = len;
	b->qdisc_flags = q->flags;
	b->requeues = qdisc_requeues(c, q, b->qdisc_flags);
	b->gso_qlen = q->gso_skb.qlen;
	b->txq_state = txq->state;
	b->validate = validate;
	b->stage = TX_STAGE_BEGUN;
	barrier();
	b->first = (__u64)skb; /* from here on an interrupt may open it */
	return true;
}

/*
 * Gives the send that is under way its frame. Global, so that the verifier
 * sees it once.
 */
__noinline int bypass_open(void)
{
	struct tx_bypass *b;
	struct tx_direct *d;
	struct tx_frame *f;
	struct tx_hand *h;
	struct tx_queue *e;
	struct tx_cpu *c;
	__u32 zero = 0;
	__u64 first;

	c = bpf_map_lookup_elem(&cpus, &zero);
	if (!c)
		return 0;
	b = &c->send;
	first = b->first;
	if (!first) /* an interrupt was first */
		return 0;
	b->first = 0;
	barrier();
	f = tx_frame_at(c, tx_frame_push(c, TX_FRAME_DIRECT, (void *)first,
					 b->begin));
	tx_clear(f->direct);
	tx_clear(f->at);
	if (config.rt)
		f->task = b->task;
	f->slot = b->slot;
	d = &f->direct;
	d->h.parent = b->parent;
	d->first = tx_hidden(first);
	d->packets = 1;
	d->bytes = b->bytes;
	d->gso_segs = 1;
	d->pkt_len = b->bytes;
	d->requeues_begin = b->requeues;
	d->gso_qlen_begin = b->gso_qlen;
	d->txq_state_begin = b->txq_state;
	d->validate = b->validate;
	d->from = TX_FROM_BYPASS;
	if (b->stage >= TX_STAGE_HANDED) {
		e = queue_at(b->slot);
		d->handovers = 1;
		h = &d->hand;
		h->first = d->first;
		h->packets = 1;
		h->bytes = b->bytes;
		h->num_queued_begin = b->begun.num_queued;
		h->num_compl_begin = b->begun.num_compl;
		h->adj_limit_begin = b->begun.adj_limit;
		h->txq_state_begin = b->begun.state;
		h->txq_state_last = b->begun.state;
		h->foreign = b->foreign;
		f->at.first = first;
		f->at.dev = e->dev;
		f->at.txq = e->txq;
		f->at.begin = b->handed;
		f->at.num_queued = b->begun.num_queued;
		f->h.flags |= b->unlocked;
	}
	if (b->stage >= TX_STAGE_TRIED) {
		h = &d->hand;
		h->attempts = 1;
		h->driver_rc = b->rc;
	}
	if (b->stage == TX_STAGE_BACK) {
		h = &d->hand;
		h->num_queued_end = b->ended.num_queued;
		h->num_compl_end = b->ended.num_compl;
		h->adj_limit_end = b->ended.adj_limit;
		h->txq_state_last = b->ended.state;
		h->txq_state_end = b->ended.state;
		h->charged = b->ended.num_queued - b->begun.num_queued;
		h->uncharged = !h->charged;
		h->owed_any = 1;
		h->owed_drv = 1;
		f->at.first = 0;
	}
	return 0;
}

/* The send is handed over; false when that needs a frame. */
static __always_inline bool bypass_hand(struct tx_cpu *c, struct sk_buff *first,
					struct netdev_queue *txq)
{
	struct tx_bypass *b = &c->send;
	struct tx_queue *e = queue_at(b->slot);

	if (!bypass_is(b, TX_STAGE_BEGUN, first) || first->next ||
	    first->len != b->bytes)
		return false;
	tx_now_read(&b->begun, txq);
	b->foreign = hand_foreign(e, b->begun.num_queued);
	b->unlocked = txq_unlocked(txq);
	if (stack_moments)
		b->handed = bpf_ktime_get_ns();
	b->stage = TX_STAGE_HANDED;
	queue_look(b->slot, &b->begun);
	return true;
}

/*
 * The hand-over is done; false when it did not go as it should. The queue is
 * as it was but for what was charged, and the driver was told so: more = 0.
 */
static __always_inline bool bypass_back(struct tx_cpu *c, struct sk_buff *first,
					struct netdev_queue *txq,
					struct sk_buff *rest)
{
	struct tx_bypass *b = &c->send;
	struct tx_queue *e;

	if (!bypass_is(b, TX_STAGE_TRIED, first) || rest || b->rc || b->foreign)
		return false;
	tx_now_read(&b->ended, txq);
	if (b->begun.state | b->ended.state ||
	    (b->ended.num_queued - b->begun.num_queued != b->bytes &&
	     b->ended.num_queued) ||
	    xmit_more(tx_base(c)))
		return false;
	b->stage = TX_STAGE_BACK;
	e = queue_at(b->slot);
	e->num_queued = b->ended.num_queued;
	e->sent = 1;
	queue_tried(b->slot, &b->ended);
	return true;
}

/* Writes the bypass sends that were counted in q. */
static __noinline int quiet_flush(struct tx_cpu *c, struct tx_quiet_sum *q)
{
	struct tx_quiet *r;
	int at;

	at = tx_frame_push(c, TX_FRAME_RECORD, NULL, 0);
	r = &tx_frame_at(c, at)->quiet;
	tx_clear(*r);
	tx_queue_name(&r->h, q->slot);
	r->packets = q->packets;
	r->bytes = q->bytes;
	r->handle = q->handle;
	tx_frame_at(c, at)->begin = q->begin;
	q->packets = 0;
	c->count[TX_PROG_quiet].seen++;
	return tx_emit(TX_PROG_quiet, at, TX_QUIET, sizeof(*r));
}

static __always_inline void quiet_add(struct tx_cpu *c, __u32 handle)
{
	const struct tx_bypass *b = &c->send;
	struct tx_quiet_sum *q = &c->quiets[b->slot & (TX_QUIETS - 1)];

	if (q->packets &&
	    (q->slot != b->slot || q->handle != handle ||
	     q->packets >= TX_QUIET_MAX || b->begin - q->begin > TX_QUIET_NS))
		quiet_flush(c, q);
	if (!q->packets) {
		q->slot = b->slot;
		q->handle = handle;
		q->begin = b->begin;
		q->bytes = 0;
	}
	q->packets++;
	q->bytes += b->bytes;
}

/* The send is over and is counted; false when that needs a frame. */
static __always_inline bool bypass_end(struct tx_cpu *c, struct sk_buff *skb,
				       struct Qdisc *q,
				       struct netdev_queue *txq, bool ret)
{
	struct tx_bypass *b = &c->send;

	if (!bypass_is(b, TX_STAGE_BACK, skb) || !ret || b->txq_state ||
	    txq->state || q->gso_skb.qlen ||
	    b->requeues != qdisc_requeues(c, q, b->qdisc_flags))
		return false;
	quiet_add(c, q->handle);
	b->first = 0;
	return true;
}

#endif
