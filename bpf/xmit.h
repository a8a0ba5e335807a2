/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The hand-over stage: dev_hard_start_xmit, and net_dev_xmit for each of the
 * driver's attempts inside it. A hand-over inside the sch_direct_xmit of its
 * queue is part of that frame and its record; another one is its own.
 */

/* Where a frame keeps its hand-over; both are the tail of their record. */
static __always_inline struct tx_hand *frame_hand(struct tx_frame *f)
{
	return f->type == TX_FRAME_DIRECT ? &f->direct.hand : &f->handover.hand;
}

/* One that a frame keeps. */
static __noinline int handover_open(struct tx_cpu *c, struct sk_buff *first,
				    struct net_device *dev,
				    struct netdev_queue *txq)
{
	struct sk_buff *s = first;
	__u32 i, slot, bytes = 0;
	struct tx_hand *h;
	struct tx_frame *f;
	struct tx_now now;

	if (c->send.first)
		bypass_open();
	f = tx_frame_top(c);
	slot = queue_slot(c, TX_PROG_handover_begin, dev, txq);
	if (!slot) {
		if (f)
			frame_nested(f);
		return tx_filtered(c, TX_PROG_handover_begin);
	}
	if (f && f->type == TX_FRAME_DIRECT && f->slot == slot &&
	    !f->direct.handovers) {
		f->direct.handovers = 1;
	} else {
		__u32 parent = 0;

		if (f) {
			parent = tx_frame_id(f);
			if (f->type == TX_FRAME_DIRECT && f->slot == slot)
				f->direct.handovers++;
			frame_nested(f);
		}
		f = tx_frame_at(c, tx_frame_push(c, TX_FRAME_HANDOVER, first,
						 bpf_ktime_get_ns()));
		tx_clear(f->handover);
		f->slot = slot;
		f->h.parent = parent;
	}
	h = frame_hand(f);
	h->first = tx_address(c, TX_PROG_handover_begin, first);
	tx_now_read(&now, txq);
	h->num_queued_begin = now.num_queued;
	h->num_compl_begin = now.num_compl;
	h->adj_limit_begin = now.adj_limit;
	h->txq_state_begin = now.state;
	h->txq_state_last = now.state;
	f->at.first = (__u64)first;
	f->at.dev = (__u64)dev;
	f->at.txq = (__u64)txq;
	f->at.begin = stack_moments ? bpf_ktime_get_ns() : 0;
	f->at.num_queued = now.num_queued;
	f->at.woken = queue_at(slot)->woken;
	f->at.restarted = queue_at(slot)->restarted;
	h->foreign = hand_foreign(queue_at(slot), now.num_queued);
	queue_look(slot, &now);
	for (i = 0; i < TX_WALK && s; i++) {
		bytes += s->len;
		s = s->next;
	}
	h->packets = i;
	h->bytes = bytes;
	if (s)
		f->h.flags |= TX_FLAG_WALK_CUT;
	f->h.flags |= txq_unlocked(txq);
	return tx_noted(c, TX_PROG_handover_begin);
}

SEC("fentry/dev_hard_start_xmit")
int BPF_PROG(handover_begin, struct sk_buff *first, struct net_device *dev,
	     struct netdev_queue *txq)
{
	struct tx_cpu *c = tx_enter(TX_PROG_handover_begin);

	if (!c)
		return 0;
	if (!bypass_hand(c, first, txq))
		return handover_open(c, first, dev, txq);
	return tx_noted(c, TX_PROG_handover_begin);
}

/*
 * The queue's state as the driver left it, or may have seen it: a completion, in
 * an interrupt that the doorbell raised or on another CPU, may have undone a
 * stop before the attempt was over. BQL's may stand from an earlier attempt;
 * the driver's may not, which begins none.
 */
static __always_inline __u8 attempt_state(struct tx_frame *f,
					  const struct tx_hand *h,
					  const struct tx_now *now)
{
	const struct tx_queue *e = queue_at(f->slot);
	__u32 restarted = e->restarted - f->at.restarted;
	__u8 state = now->state;

	if (e->woken != f->at.woken)
		state |= QUEUE_STATE_DRV_XOFF;
	if (restarted &&
	    (restarted > 1 || !(h->txq_state_last & QUEUE_STATE_STACK_XOFF)))
		state |= QUEUE_STATE_STACK_XOFF;
	f->at.woken = e->woken;
	f->at.restarted = e->restarted;
	return state;
}

/* Accounts an attempt of the driver; now is the queue after it. */
static __always_inline void attempt_done(struct tx_frame *f, struct tx_hand *h,
					 const struct tx_now *now)
{
	__u32 charged = now->num_queued - f->at.num_queued;
	__u8 state = attempt_state(f, h, now);

	if ((__s32)charged < 0) {
		f->h.flags |= TX_FLAG_RESET;
		charged = 0;
	}
	f->at.num_queued = now->num_queued;
	h->txq_state_last = now->state;
	if (h->driver_rc == NETDEV_TX_BUSY) {
		h->busy++;
		h->busy_charged += charged;
	} else {
		h->charged += charged;
		if (!charged)
			h->uncharged++;
		if (h->attempts >= h->packets || state & QUEUE_STATE_DRV_XOFF) {
			h->owed_drv++;
			h->owed_any++;
		} else if (state & QUEUE_STATE_STACK_XOFF) {
			h->owed_any++;
		}
	}
	queue_tried(f->slot, now);
}

/*
 * One attempt of the driver is over. The skb may be freed by now: only its
 * address may be used. The queue pointer comes from the frame, so unless it is
 * the device's first queue its fields need probe reads.
 */
static __noinline int attempt_framed(struct tx_cpu *c, int rc,
				     struct net_device *dev)
{
	struct tx_now now = {};
	struct tx_hand *h;
	struct tx_frame *f;

	f = tx_frame_top(c);
	if (!f ||
	    (f->type != TX_FRAME_DIRECT && f->type != TX_FRAME_HANDOVER) ||
	    !f->at.first || f->at.dev != (__u64)dev)
		return tx_filtered(c, TX_PROG_attempt);
	h = frame_hand(f);
	/* One packet: the end of the hand-over tells the rest. */
	if (h->packets == 1) {
		h->attempts = 1;
		h->driver_rc = rc;
		return tx_noted(c, TX_PROG_attempt);
	}
	if (f->at.txq == (__u64)dev->_tx) {
		tx_now_read(&now, dev->_tx);
	} else {
		void *txq = (void *)f->at.txq;

		bpf_probe_read_kernel(
			&now.state, sizeof(now.state),
			txq + bpf_core_field_offset(struct netdev_queue,
						    state));
		if (bpf_core_field_exists(struct netdev_queue, dql)) {
			txq += bpf_core_field_offset(struct netdev_queue, dql);
			bpf_probe_read_kernel(
				&now.num_queued, sizeof(now.num_queued),
				txq + bpf_core_field_offset(struct dql,
							    num_queued));
			bpf_probe_read_kernel(
				&now.num_compl, sizeof(now.num_compl),
				txq + bpf_core_field_offset(struct dql,
							    num_completed));
		}
	}
	h->attempts++;
	h->driver_rc = rc;
	attempt_done(f, h, &now);
	return tx_noted(c, TX_PROG_attempt);
}

SEC("tp_btf/net_dev_xmit")
int BPF_PROG(attempt, struct sk_buff *skb, int rc, struct net_device *dev,
	     unsigned int len)
{
	struct tx_cpu *c = tx_enter(TX_PROG_attempt);

	if (!c)
		return 0;
	if (!bypass_is(&c->send, TX_STAGE_HANDED, skb))
		return attempt_framed(c, rc, dev);
	c->send.rc = rc;
	c->send.stage = TX_STAGE_TRIED;
	return tx_noted(c, TX_PROG_attempt);
}

/* A queue that is let go: its driver has room again, or BQL. */
SEC("fentry/netif_tx_wake_queue")
int BPF_PROG(woken, struct netdev_queue *txq)
{
	struct tx_cpu *c = tx_enter(TX_PROG_woken);
	__u32 slot;

	if (!c)
		return 0;
	slot = txq->state & QUEUE_STATE_DRV_XOFF ?
		       queue_slot(c, TX_PROG_woken, txq->dev, txq) :
		       0;
	if (!slot)
		return tx_filtered(c, TX_PROG_woken);
	__sync_fetch_and_add(&queue_at(slot)->woken, 1);
	return tx_noted(c, TX_PROG_woken);
}

SEC("fentry/netif_schedule_queue")
int BPF_PROG(restarted, struct netdev_queue *txq)
{
	struct tx_cpu *c = tx_enter(TX_PROG_restarted);
	__u32 slot;

	if (!c)
		return 0;
	slot = queue_slot(c, TX_PROG_restarted, txq->dev, txq);
	if (!slot)
		return tx_filtered(c, TX_PROG_restarted);
	__sync_fetch_and_add(&queue_at(slot)->restarted, 1);
	return tx_noted(c, TX_PROG_restarted);
}

static __noinline int handover_close(__u64 *ctx, struct tx_cpu *c)
{
	struct sk_buff *first = (void *)ctx[0];
	struct net_device *dev = (void *)ctx[1];
	struct netdev_queue *txq = (void *)ctx[2];
	void *rcp = NULL;
	struct sk_buff *rest = (void *)ctx[4], *s = rest;
	struct tx_hand *h;
	struct tx_frame *f;
	struct tx_now now;
	__u32 i, slot;
	int at;

	if (c->send.first == (__u64)first)
		bypass_open();
	f = tx_frame_top(c);
	if (f && f->type == TX_FRAME_DIRECT && f->at.first == (__u64)first) {
		at = c->top - 1;
	} else {
		at = tx_frame_find(c, TX_PROG_handover_end, TX_FRAME_HANDOVER,
				   first);
		if (at < 0) {
			slot = queue_slot(c, TX_PROG_handover_end, dev, txq);
			if (!slot)
				return tx_filtered(c, TX_PROG_handover_end);
			c->orphans++;
			at = tx_frame_push(c, TX_FRAME_RECORD, NULL, 0);
			f = tx_frame_at(c, at);
			tx_clear(f->handover);
			f->at.begin = 0;
			f->slot = slot;
			f->h.flags = TX_FLAG_PARTIAL;
		}
	}
	f = tx_frame_at(c, at);
	h = frame_hand(f);
	h->more = xmit_more(tx_base(c));
	tx_now_read(&now, txq);
	h->num_queued_end = now.num_queued;
	h->num_compl_end = now.num_compl;
	h->adj_limit_end = now.adj_limit;
	h->txq_state_end = now.state;
	queue_at(f->slot)->num_queued = now.num_queued;
	queue_at(f->slot)->sent = 1;
	if (h->packets == 1 && h->attempts)
		attempt_done(f, h, &now);
	if (!(f->h.flags & TX_FLAG_PARTIAL) &&
	    (__s32)(now.num_queued - h->num_queued_begin) < 0)
		f->h.flags |= TX_FLAG_RESET;
	if (f->at.begin)
		stack_handover(ctx, h->packets, h->bytes, f->at.begin,
			       h->packets == 1 && h->owed_drv);
	if (!rest && h->attempts) {
		/* All was taken, so *ret is what the driver said last. */
		h->rc = h->driver_rc;
	} else {
		/* As memory: before 5.18 ("bpf: Allow access to int pointer
		 * arguments in tracing programs") the verifier refuses it.
		 */
		bpf_probe_read_kernel(&rcp, sizeof(rcp), &ctx[3]);
		bpf_probe_read_kernel(&h->rc, sizeof(h->rc), rcp);
		h->rest_first = tx_address(c, TX_PROG_handover_end, rest);
		for (i = 0; i < TX_WALK && s; i++)
			s = s->next;
		h->rest = i;
		if (s)
			f->h.flags |= TX_FLAG_WALK_CUT;
	}
	if (f->type == TX_FRAME_DIRECT) {
		f->at.first = 0;
		return tx_noted(c, TX_PROG_handover_end);
	}
	tx_queue_name(&f->h, f->slot);
	return tx_emit(TX_PROG_handover_end, at, TX_HANDOVER,
		       sizeof(f->handover));
}

SEC("fexit/dev_hard_start_xmit")
int BPF_PROG(handover_end, struct sk_buff *first, struct net_device *dev,
	     struct netdev_queue *txq, int *rcp, struct sk_buff *rest)
{
	struct tx_cpu *c = tx_enter(TX_PROG_handover_end);

	if (!c)
		return 0;
	if (!bypass_back(c, first, txq, rest))
		return handover_close(ctx, c);
	if (stack_moments)
		stack_handover(ctx, 1, c->send.bytes, c->send.handed, true);
	return tx_noted(c, TX_PROG_handover_end);
}

SEC("tp_btf/net_dev_xmit_timeout")
int BPF_PROG(watchdog, struct net_device *dev, int queue_index)
{
	struct tx_cpu *c = tx_enter(TX_PROG_watchdog);
	struct tx_notice *n;
	int at;

	if (!c)
		return 0;
	if (!device_wanted(dev) || !txq_wanted(queue_index))
		return tx_filtered(c, TX_PROG_watchdog);
	at = tx_frame_push(c, TX_FRAME_RECORD, NULL, 0);
	n = &tx_frame_at(c, at)->notice;
	tx_clear(*n);
	n->h.ifindex = dev->ifindex;
	n->h.netns = dev->nd_net.net->ns.inum;
	n->h.txq = queue_index;
	n->subtype = TX_NOTICE_WATCHDOG;
	n->after = queue_index;
	return tx_emit(TX_PROG_watchdog, at, TX_NOTICE, sizeof(*n));
}
