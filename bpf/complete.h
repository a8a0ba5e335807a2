/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Completions. dql_completed cannot be hooked (lib/ is built without ftrace),
 * so a snapshot of the queue's whole dql is taken wherever completions run,
 * when num_completed moved since the last one.
 */

/*
 * Takes the snapshot of slot i when its num_completed moved, by what is known
 * of its address. Global, so that the verifier sees it once and not per step
 * of a loop.
 */
__noinline int queue_check(__u32 i, __u32 source)
{
	struct tx_dql_half a = {}, b = {};
	struct tx_complete *r;
	struct tx_queue *e = queue_at(i);
	struct tx_cpu *c;
	__u64 base = e->txq, dev = 0;
	__u32 zero = 0, completed = 0;
	int at;

	if (!base || !bpf_core_field_exists(struct netdev_queue, dql))
		return 0;
	base += bpf_core_field_offset(struct netdev_queue, dql);
	bpf_probe_read_kernel(&completed, sizeof(completed),
			      (void *)base +
				      bpf_core_field_offset(struct dql,
							    num_completed));
	if (e->known && completed == e->completed)
		return 0;
	/* The memory may be another's by now: a queue names its device. */
	bpf_probe_read_kernel(&dev, sizeof(dev),
			      (void *)e->txq +
				      bpf_core_field_offset(struct netdev_queue,
							    dev));
	if (dev != e->dev) {
		e->active = 0;
		return 0;
	}
	c = bpf_map_lookup_elem(&cpus, &zero);
	if (!c)
		return 0;
	at = tx_frame_push(c, TX_FRAME_RECORD, NULL, 0);
	r = &tx_frame_at(c, at)->complete;
	tx_clear(*r);
	bpf_probe_read_kernel(&a, sizeof(a),
			      (void *)base +
				      bpf_core_field_offset(struct dql, limit));
	bpf_probe_read_kernel(&r->num_queued, sizeof(r->num_queued),
			      (void *)base + bpf_core_field_offset(struct dql,
								   num_queued));
	bpf_probe_read_kernel(&r->adj_limit, sizeof(r->adj_limit),
			      (void *)base + bpf_core_field_offset(struct dql,
								   adj_limit));
	bpf_probe_read_kernel(
		&r->last_obj_cnt, sizeof(r->last_obj_cnt),
		(void *)base + bpf_core_field_offset(struct dql, last_obj_cnt));
	bpf_probe_read_kernel(&r->txq_state, sizeof(r->txq_state),
			      (void *)e->txq +
				      bpf_core_field_offset(struct netdev_queue,
							    state));
	bpf_probe_read_kernel(&b, sizeof(b),
			      (void *)base +
				      bpf_core_field_offset(struct dql, limit));
	if (a.limit != b.limit || a.num_completed != b.num_completed ||
	    a.prev_ovlimit != b.prev_ovlimit ||
	    a.prev_num_queued != b.prev_num_queued ||
	    a.prev_last_obj_cnt != b.prev_last_obj_cnt ||
	    a.lowest_slack != b.lowest_slack ||
	    a.slack_start_time != b.slack_start_time)
		r->h.flags |= TX_FLAG_TORN;
	r->limit = a.limit;
	r->num_completed = a.num_completed;
	r->prev_ovlimit = a.prev_ovlimit;
	r->prev_num_queued = a.prev_num_queued;
	r->prev_last_obj_cnt = a.prev_last_obj_cnt;
	r->lowest_slack = a.lowest_slack;
	r->slack_start_time = a.slack_start_time;
	r->max_limit = a.max_limit;
	r->min_limit = a.min_limit;
	r->slack_hold_time = a.slack_hold_time;
	r->jiffies = bpf_jiffies64();
	r->source = source;
	e->completed = r->num_completed;
	e->known = 1;
	e->active = r->num_queued != r->num_completed;
	tx_queue_name(&r->h, i);
	c->count[TX_PROG_snapshot].seen++;
	tx_emit(TX_PROG_snapshot, at, TX_COMPLETE, sizeof(*r));
	return 1;
}

/*
 * The same by a typed pointer, whose loads cost far less, and from inside what
 * completes the queue, where no other completion can tear it. It is most of
 * what a queue has to say, so it is written where it leaves from.
 */
static __always_inline bool queue_snap(struct tx_cpu *c, __u32 slot,
				       struct netdev_queue *txq)
{
	struct tx_queue *e = queue_at(slot);
	struct dql *q = &txq->dql;
	struct tx_complete *r;
	__u8 context;
	__u64 time;
	__u32 seq;

	if (!bpf_core_field_exists(txq->dql) ||
	    (e->known && q->num_completed == e->completed))
		return false;
	c->count[TX_PROG_snapshot].seen++;
	context = tx_context_now(c);
	time = bpf_ktime_get_ns();
	seq = tx_next(c);
	r = bpf_ringbuf_reserve(&events, sizeof(*r), 0);
	if (!r) {
		e->completed = q->num_completed;
		e->known = 1;
		tx_lost(c, &c->count[TX_PROG_snapshot]);
		return true;
	}
	r->limit = q->limit;
	r->num_completed = q->num_completed;
	r->prev_ovlimit = q->prev_ovlimit;
	r->prev_num_queued = q->prev_num_queued;
	r->prev_last_obj_cnt = q->prev_last_obj_cnt;
	r->lowest_slack = q->lowest_slack;
	r->slack_start_time = q->slack_start_time;
	r->max_limit = q->max_limit;
	r->min_limit = q->min_limit;
	r->slack_hold_time = q->slack_hold_time;
	r->num_queued = q->num_queued;
	r->adj_limit = q->adj_limit;
	r->last_obj_cnt = q->last_obj_cnt;
	*(__u64 *)&r->txq_state = (__u8)txq->state;
	r->source = context == TX_CONTEXT_HARDIRQ ? TX_SOURCE_HARDIRQ :
						    TX_SOURCE_NAPI;
	r->h.flags = 0;
	r->jiffies = bpf_jiffies64();
	e->completed = r->num_completed;
	e->known = 1;
	e->active = r->num_queued != r->num_completed;
	r->h.kind = TX_COMPLETE;
	r->h.context = context;
	r->h.depth = c->top;
	r->h.cpu = bpf_get_smp_processor_id();
	r->h.seq = seq;
	r->h.dur = 0;
	r->h.time = time;
	r->h.parent = 0;
	r->h.pid = bpf_get_current_pid_tgid();
	tx_queue_name(&r->h, slot);
	bpf_ringbuf_submit(r, tx_wake(seq));
	c->count[TX_PROG_snapshot].submitted++;
	return true;
}

/* Takes it of a queue that was looked at before a hand-over, when it moved. */
static __always_inline void queue_look(__u32 slot, const struct tx_now *now)
{
	struct tx_queue *e = queue_at(slot);

	if (e->known ? e->completed != now->num_compl : now->num_queued != 0)
		queue_check(slot, TX_SOURCE_SNAPSHOT);
}

/*
 * Takes it of a queue that was looked at after an attempt of its driver:
 * virtio_net from 6.11 to 6.12 completes inside ndo_start_xmit.
 */
static __always_inline void queue_tried(__u32 slot, const struct tx_now *now)
{
	struct tx_queue *e = queue_at(slot);

	if (e->known && e->completed != now->num_compl)
		queue_check(slot, TX_SOURCE_XMIT);
	e->active = now->num_queued != now->num_compl;
}

/* Looks at every queue with bytes in flight, of one device when dev is set. */
static __always_inline __u32 queues_check(__u64 dev, __u32 source)
{
	__u32 i, n = nqueues, found = 0;

	for (i = 1; i < TX_QUEUES && i <= n; i++) {
		const struct tx_queue *e = queue_at(i);

		if (!e->active || (dev && e->dev != dev))
			continue;
		found += queue_check(i, source);
	}
	return found;
}

SEC("tp_btf/napi_poll")
int BPF_PROG(complete_napi, struct napi_struct *napi, int work, int budget)
{
	struct tx_cpu *c = tx_enter(TX_PROG_complete_napi);

	if (!c)
		return 0;
	if (!queues_check((__u64)napi->dev, TX_SOURCE_NAPI))
		return tx_filtered(c, TX_PROG_complete_napi);
	return tx_noted(c, TX_PROG_complete_napi);
}

SEC("fexit/__handle_irq_event_percpu")
int BPF_PROG(complete_hardirq)
{
	struct tx_cpu *c = tx_enter(TX_PROG_complete_hardirq);

	if (!c)
		return 0;
	if (!queues_check(0, TX_SOURCE_HARDIRQ))
		return tx_filtered(c, TX_PROG_complete_hardirq);
	return tx_noted(c, TX_PROG_complete_hardirq);
}

/*
 * The end of a driver's own function, in a hard interrupt or in a poll. What
 * e1000e has in common with no other driver is in its module's BTF.
 */
SEC("fexit/e1000_clean_tx_irq")
int BPF_PROG(complete_e1000e, struct e1000_ring *ring)
{
	struct tx_cpu *c = tx_enter(TX_PROG_complete_e1000e);
	struct net_device *dev;
	__u32 slot;

	if (!c)
		return 0;
	dev = ring->adapter->netdev;
	slot = queue_slot(c, TX_PROG_complete_e1000e, dev, dev->_tx);
	if (!slot || !queue_snap(c, slot, dev->_tx))
		return tx_filtered(c, TX_PROG_complete_e1000e);
	return tx_noted(c, TX_PROG_complete_e1000e);
}

/*
 * The kernel noticed, at a completion, that there was none for as long as the
 * queue's stall_thrs. It names no queue, but its history is a part of one.
 */
SEC("tp_btf/dql_stall_detected")
int BPF_PROG(stall, __u16 thrs, __u32 len, unsigned long last_reap,
	     unsigned long hist_head, unsigned long now, unsigned long *hist)
{
	struct tx_cpu *c = tx_enter(TX_PROG_stall);
	__u64 txq, dev = 0, first = 0, net = 0;
	__u8 txq_state = 0, device = 0;
	struct tx_notice *n;
	__u32 index;
	int at;

	if (!c || !bpf_core_field_exists(struct netdev_queue, dql) ||
	    !bpf_core_field_exists(struct dql___v6_9, history))
		return 0;
	txq = tx_number(c, TX_PROG_stall, hist) -
	      bpf_core_field_offset(struct dql___v6_9, history) -
	      bpf_core_field_offset(struct netdev_queue, dql);
	at = tx_frame_push(c, TX_FRAME_RECORD, NULL, 0);
	n = &tx_frame_at(c, at)->notice;
	tx_clear(*n);
	tx_read(txq_state, txq, netdev_queue, state);
	tx_read(dev, txq, netdev_queue, dev);
	tx_read(device, dev, net_device, state);
	tx_read(first, dev, net_device, _tx);
	tx_read(n->h.ifindex, dev, net_device, ifindex);
	tx_read(net, dev, net_device, nd_net.net);
	tx_read(n->h.netns, net, net, ns.inum);
	index = (txq - first) / bpf_core_type_size(struct netdev_queue);
	if (!device_named(n->h.netns, n->h.ifindex) || !txq_wanted(index)) {
		tx_frame_drop(c, at);
		return tx_filtered(c, TX_PROG_stall);
	}
	n->h.txq = index;
	n->subtype = TX_NOTICE_STALL;
	n->before = len;
	n->after = thrs | (__u64)txq_state << 32 | (__u64)device << 40;
	return tx_emit(TX_PROG_stall, at, TX_NOTICE, sizeof(*n));
}
