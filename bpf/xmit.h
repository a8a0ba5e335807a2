/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The hand-over stage: dev_hard_start_xmit, and net_dev_xmit for each of the
 * driver's attempts inside it, which only updates the frame.
 */

static __always_inline void handover_now(struct tx_now *now,
					 struct tx_handover *h, bool end)
{
	if (end) {
		h->num_queued_end = now->num_queued;
		h->num_compl_end = now->num_compl;
		h->adj_limit_end = now->adj_limit;
		h->txq_state_end = now->state;
	} else {
		h->num_queued_begin = now->num_queued;
		h->num_compl_begin = now->num_compl;
		h->adj_limit_begin = now->adj_limit;
		h->txq_state_begin = now->state;
	}
}

static __always_inline bool handover_wanted(struct net_device *dev,
					    struct netdev_queue *txq)
{
	return device_wanted(dev) &&
	       (!config.nqdiscs || qdisc_wanted(txq->qdisc)) &&
	       (!config.nqueues || txq_wanted(txq_index(dev, txq)));
}

SEC("fentry/dev_hard_start_xmit")
int BPF_PROG(handover_begin, struct sk_buff *first, struct net_device *dev,
	     struct netdev_queue *txq)
{
	struct tx_cpu *c = tx_enter(TX_PROG_handover_begin);
	struct tx_frame *f, *outer;
	struct sk_buff *s = first;
	struct tx_handover *h;
	__u32 i, bytes = 0;
	struct tx_now now;

	if (!c)
		return 0;
	if (!handover_wanted(dev, txq))
		return tx_filtered(c, TX_PROG_handover_begin);
	outer = tx_frame_top(c);
	f = tx_frame_at(c, tx_frame_push(c, TX_FRAME_HANDOVER, first));
	h = &f->handover;
	if (outer) {
		h->h.parent = tx_frame_id(outer);
		if (outer->type == TX_FRAME_DIRECT)
			outer->direct.handovers++;
		if (outer->type == TX_FRAME_HANDOVER)
			outer->handover.h.flags |= TX_FLAG_NESTED;
	}
	tx_device(&h->h, dev);
	h->h.txq = txq_index(dev, txq);
	h->first = tx_address(c, TX_PROG_handover_begin, first);
	tx_now_read(&now, txq);
	handover_now(&now, h, false);
	h->txq_state_last = now.state;
	f->at.txq = (__u64)txq;
	f->at.dev = (__u64)dev;
	f->at.num_queued = now.num_queued;
	f->at.slot = 0;
	if (bpf_core_field_exists(txq->dql)) {
		f->at.slot = queue_slot(
			dev, tx_number(c, TX_PROG_handover_begin, txq),
			h->h.txq);
		if (f->at.slot) {
			struct tx_queue *e =
				&queues[(f->at.slot - 1) & (TX_QUEUES - 1)];

			/* A completion that no other source has noticed. */
			if (e->known ? e->completed != now.num_compl :
				       now.num_queued != 0)
				c->count[TX_PROG_handover_begin].seen +=
					queue_check(f->at.slot - 1,
						    TX_PROG_handover_begin,
						    TX_SOURCE_SNAPSHOT);
		}
	}
	for (i = 0; i < TX_WALK && s; i++) {
		bytes += s->len;
		s = s->next;
	}
	h->packets = i;
	h->bytes = bytes;
	if (s)
		h->h.flags |= TX_FLAG_WALK_CUT;
	return tx_noted(c, TX_PROG_handover_begin);
}

/*
 * One attempt of the driver is over. The skb may be freed by now: only its
 * address may be used. The queue pointer comes from the frame, so unless it is
 * the device's first queue its fields need probe reads.
 */
SEC("tp_btf/net_dev_xmit")
int BPF_PROG(attempt, struct sk_buff *skb, int rc, struct net_device *dev,
	     unsigned int len)
{
	struct tx_cpu *c = tx_enter(TX_PROG_attempt);
	struct tx_handover *h;
	struct tx_frame *f;
	struct tx_now now = {};
	__u32 charged;
	bool more;

	if (!c)
		return 0;
	f = tx_frame_top(c);
	if (!f || f->type != TX_FRAME_HANDOVER || f->at.dev != (__u64)dev)
		return tx_filtered(c, TX_PROG_attempt);
	h = &f->handover;
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
	charged = now.num_queued - f->at.num_queued;
	if ((__s32)charged < 0) {
		h->h.flags |= TX_FLAG_RESET;
		charged = 0;
	}
	f->at.num_queued = now.num_queued;
	h->attempts++;
	h->driver_rc = rc;
	h->txq_state_last = now.state;
	if (rc == NETDEV_TX_BUSY) {
		h->busy++;
		h->busy_charged += charged;
	} else {
		more = h->attempts < h->packets;
		if (!charged)
			h->uncharged++;
		if (!more || now.state & QUEUE_STATE_DRV_XOFF) {
			h->owed_drv++;
			h->owed_any++;
		} else if (now.state & QUEUE_STATE_STACK_XOFF) {
			h->owed_any++;
		}
	}
	/* virtio_net from 6.11 to 6.12 completes inside ndo_start_xmit. */
	if (f->at.slot) {
		struct tx_queue *e =
			&queues[(f->at.slot - 1) & (TX_QUEUES - 1)];

		if (e->known && e->completed != now.num_compl)
			c->count[TX_PROG_attempt].seen +=
				queue_check(f->at.slot - 1, TX_PROG_attempt,
					    TX_SOURCE_XMIT);
		e->active = now.num_queued != now.num_compl;
	}
	return tx_noted(c, TX_PROG_attempt);
}

SEC("fexit/dev_hard_start_xmit")
int BPF_PROG(handover_end, struct sk_buff *first, struct net_device *dev,
	     struct netdev_queue *txq, int *rcp, struct sk_buff *rest)
{
	struct tx_cpu *c = tx_enter(TX_PROG_handover_end);
	struct sk_buff *s = rest;
	struct tx_handover *h;
	struct tx_now now;
	__u32 i;
	int at;

	if (!c)
		return 0;
	at = tx_frame_find(TX_FRAME_HANDOVER,
			   tx_number(c, TX_PROG_handover_end, first));
	if (at < 0) {
		if (!handover_wanted(dev, txq))
			return tx_filtered(c, TX_PROG_handover_end);
		c->orphans++;
		at = tx_frame_push(c, TX_FRAME_RECORD, NULL);
		h = &tx_frame_at(c, at)->handover;
		tx_device(&h->h, dev);
		h->h.txq = txq_index(dev, txq);
		h->h.flags = TX_FLAG_PARTIAL;
	}
	h = &tx_frame_at(c, at)->handover;
	h->rest_first = tx_address(c, TX_PROG_handover_end, rest);
	bpf_probe_read_kernel(&h->rc, sizeof(h->rc), rcp);
	h->more = xmit_more(bpf_get_smp_processor_id());
	tx_now_read(&now, txq);
	handover_now(&now, h, true);
	if (!(h->h.flags & TX_FLAG_PARTIAL) &&
	    (__s32)(now.num_queued - h->num_queued_begin) < 0)
		h->h.flags |= TX_FLAG_RESET;
	for (i = 0; i < TX_WALK && s; i++)
		s = s->next;
	h->rest = i;
	if (s)
		h->h.flags |= TX_FLAG_WALK_CUT;
	return tx_emit(TX_PROG_handover_end, at, TX_HANDOVER, sizeof(*h));
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
	at = tx_frame_push(c, TX_FRAME_RECORD, NULL);
	n = &tx_frame_at(c, at)->notice;
	tx_device(&n->h, dev);
	n->h.txq = queue_index;
	n->subtype = TX_NOTICE_WATCHDOG;
	n->after = queue_index;
	return tx_emit(TX_PROG_watchdog, at, TX_NOTICE, sizeof(*n));
}
