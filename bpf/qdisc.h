/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The qdisc stage: __qdisc_run, dequeue_skb (inlined everywhere, seen at its
 * tracepoint) and sch_direct_xmit.
 */

/* qlen of a NOLOCK qdisc is the sum of per-CPU counts: not available. */
static __always_inline __u32 qdisc_qlen(struct Qdisc *q, struct tx_header *h)
{
	if (q->flags & TCQ_F_NOLOCK) {
		h->flags |= TX_FLAG_PER_CPU;
		return 0;
	}
	return q->q.qlen;
}

/* The slot of the queue that a qdisc serves: queue 0 for a shared root. */
static __always_inline __u32 run_slot(struct tx_cpu *c, enum tx_program prog,
				      struct Qdisc *q)
{
	struct netdev_queue *txq = q->dev_queue;

	return queue_slot(c, prog, txq->dev, txq);
}

SEC("fentry/__qdisc_run")
int BPF_PROG(run_begin, struct Qdisc *q)
{
	struct tx_cpu *c = tx_enter(TX_PROG_run_begin);
	struct tx_now now;

	if (!c)
		return 0;
	c->begun.qdisc = (__u64)q;
	c->begun.time = 0;
	/* Under its lock an empty qdisc stays empty: a run for nothing. */
	if (!q->q.qlen && !(q->flags & (TCQ_F_NOLOCK | TCQ_F_CPUSTATS))) {
		c->bypass = 0;
		return tx_noted(c, TX_PROG_run_begin);
	}
	c->begun.time = bpf_ktime_get_ns();
	c->begun.bypass = c->bypass == (__u64)q;
	c->begun.qlen = q->q.qlen;
	c->begun.qdisc_state = q->state;
	c->begun.weight_ended = weight_ended;
	tx_now_read(&now, q->dev_queue);
	c->begun.txq_state = now.state;
	c->begun.num_queued = now.num_queued;
	c->begun.num_compl = now.num_compl;
	c->begun.adj_limit = now.adj_limit;
	c->bypass = 0;
	return tx_noted(c, TX_PROG_run_begin);
}

/* The open frame of a run of q, NULL when that is not what runs now. */
static __always_inline struct tx_frame *run_frame(struct tx_cpu *c,
						  struct Qdisc *q)
{
	struct tx_frame *f = tx_frame_top(c);

	return f && f->type == TX_FRAME_RUN && f->key == (__u64)q ? f : NULL;
}

/*
 * Opens the frame of a run that gives its first batch, or schedules itself.
 * NULL when its begin was not seen or the queue is not wanted.
 */
static __always_inline struct tx_frame *
run_open(struct tx_cpu *c, enum tx_program prog, struct Qdisc *q)
{
	struct tx_frame *f, *outer;
	__u32 slot, depth = c->top;
	struct tx_run *r;

	if (c->begun.qdisc != (__u64)q || !c->begun.time)
		return NULL;
	slot = run_slot(c, prog, q);
	if (!slot)
		return NULL;
	c->begun.qdisc = 0;
	outer = tx_frame_top(c);
	f = tx_frame_at(c, tx_frame_push(c, TX_FRAME_RUN, q, c->begun.time));
	tx_clear(f->run);
	tx_clear(f->last);
	f->slot = slot;
	f->weight_ended = c->begun.weight_ended;
	r = &f->run;
	r->who = c->begun.bypass ? TX_WHO_BYPASS : TX_WHO_ENQUEUE;
	if (outer)
		r->h.parent = tx_frame_id(outer);
	if (c->action == depth + 1 &&
	    (!config.rt || c->action_task == bpf_get_current_task()))
		r->who = TX_WHO_NET_TX_ACTION;
	r->qlen_begin = c->begun.qlen;
	r->qdisc_state_begin = c->begun.qdisc_state;
	r->txq_state_begin = c->begun.txq_state;
	r->num_queued_begin = c->begun.num_queued;
	r->num_compl_begin = c->begun.num_compl;
	r->adj_limit_begin = c->begun.adj_limit;
	return f;
}

/*
 * The quota of a run: dev_tx_weight, which __qdisc_run reads once when it
 * begins. What it is at the end is what it was then if all writes begun so far
 * had ended before the run began.
 */
static __always_inline __u16 run_weight(const struct tx_frame *f)
{
	int weight;

	if (!config.weighs)
		return 0;
	weight = tx_weight_now();
	if (weight_begun != f->weight_ended || weight <= 0 ||
	    weight >= TX_WEIGHT_UNSURE)
		return TX_WEIGHT_UNSURE;
	return weight;
}

/* A run that dequeued something. */
static __noinline int run_close(__u64 *ctx, struct tx_cpu *c)
{
	struct Qdisc *q = (void *)ctx[0];
	struct tx_stack_sum sum = {};
	struct tx_frame *f;
	struct tx_now now;
	struct tx_run *r;
	__u32 slot;
	int at;

	at = tx_frame_find(c, TX_PROG_run_end, TX_FRAME_RUN, q);
	if (at < 0) {
		slot = run_slot(c, TX_PROG_run_end, q);
		if (!slot)
			return tx_filtered(c, TX_PROG_run_end);
		c->orphans++;
		at = tx_frame_push(c, TX_FRAME_RECORD, q, 0);
		f = tx_frame_at(c, at);
		tx_clear(f->run);
		f->slot = slot;
		f->run.h.flags = TX_FLAG_PARTIAL;
	}
	f = tx_frame_at(c, at);
	r = &f->run;
	if (!(r->h.flags & TX_FLAG_PARTIAL))
		r->tx_weight = run_weight(f);
	tx_queue_name(&r->h, f->slot);
	r->qdisc = tx_address(c, TX_PROG_run_end, q);
	bpf_probe_read_kernel(r->qdisc_kind, sizeof(r->qdisc_kind),
			      &q->ops->id);
	r->qdisc_flags = q->flags;
	r->handle = q->handle;
	r->qlen_end = qdisc_qlen(q, &r->h);
	r->gso_qlen_end = q->gso_skb.qlen;
	r->qdisc_state_end = q->state;
	if (q->flags & TCQ_F_ONETXQUEUE) {
		tx_now_read(&now, q->dev_queue);
		r->txq_state_end = now.state;
		r->num_queued_end = now.num_queued;
		r->num_compl_end = now.num_compl;
		r->adj_limit_end = now.adj_limit;
	} else {
		/* A shared root has no queue of its own. */
		r->h.txq = TX_NO_QUEUE;
		r->txq_state_begin = 0;
		r->num_queued_begin = 0;
		r->num_compl_begin = 0;
		r->adj_limit_begin = 0;
	}
	if (stack_wanted(TX_MOMENT_quota) && r->rescheduled) {
		sum.packets = r->packets;
		sum.ns = bpf_ktime_get_ns() - f->begin;
		stack_add(ctx, TX_MOMENT_quota, &sum);
	}
	return tx_emit(TX_PROG_run_end, at, TX_RUN, sizeof(*r));
}

SEC("fexit/__qdisc_run")
int BPF_PROG(run_end, struct Qdisc *q)
{
	struct tx_cpu *c = tx_enter(TX_PROG_run_end);

	if (!c)
		return 0;
	if (c->begun.qdisc != (__u64)q)
		return run_close(ctx, c);
	/*
	 * A run that dequeued nothing decided nothing: one follows every bypass
	 * send. It is counted here, not recorded.
	 */
	c->begun.qdisc = 0;
	return tx_filtered(c, TX_PROG_run_end);
}

/*
 * Out of line as seen from __qdisc_run on every kernel tried, which calls it
 * when the quota is used up. Other callers of the same qdisc in the same
 * context are nested below the run, so the innermost frame tells them apart.
 * The watchdog of a qdisc that waits for a time calls it in the timer's hard
 * interrupt, which comes in the middle of the run, and of these programs.
 */
SEC("fentry/__netif_schedule")
int BPF_PROG(schedule, struct Qdisc *q)
{
	struct tx_cpu *c = tx_enter(TX_PROG_schedule);
	struct tx_stack_sum none = {};
	struct tx_frame *f;

	if (!c)
		return 0;
	if (stack_wanted(TX_MOMENT_schedule) &&
	    run_slot(c, TX_PROG_schedule, q))
		stack_add(ctx, TX_MOMENT_schedule, &none);
	if (tx_context_now(c) == TX_CONTEXT_HARDIRQ)
		return tx_filtered(c, TX_PROG_schedule);
	f = run_frame(c, q);
	if (!f)
		f = run_open(c, TX_PROG_schedule, q);
	if (!f)
		return tx_filtered(c, TX_PROG_schedule);
	f->run.rescheduled = 1;
	return tx_noted(c, TX_PROG_schedule);
}

/*
 * A write of net.core.dev_weight or of one of its biases. Counted from when
 * the programs are attached, armed or not: a write that has begun changes the
 * quota at some time before it ends. The end of one whose begin came before
 * the programs is none.
 */
SEC("fentry/proc_do_dev_weight")
int BPF_PROG(weight_begin, const void *table, int write)
{
	struct tx_cpu *c;

	if (write)
		__sync_fetch_and_add(&weight_begun, 1);
	c = tx_enter(TX_PROG_weight_begin);
	if (!c)
		return 0;
	return write ? tx_noted(c, TX_PROG_weight_begin) :
		       tx_filtered(c, TX_PROG_weight_begin);
}

SEC("fexit/proc_do_dev_weight")
int BPF_PROG(weight_end, const void *table, int write)
{
	struct tx_cpu *c;

	if (write && weight_ended != weight_begun)
		__sync_fetch_and_add(&weight_ended, 1);
	c = tx_enter(TX_PROG_weight_end);
	if (!c)
		return 0;
	return write ? tx_noted(c, TX_PROG_weight_end) :
		       tx_filtered(c, TX_PROG_weight_end);
}

SEC("fentry/net_tx_action")
int BPF_PROG(action_begin)
{
	struct tx_cpu *c = tx_enter(TX_PROG_action_begin);

	if (!c)
		return 0;
	c->action = c->top + 1;
	if (config.rt)
		c->action_task = bpf_get_current_task();
	return tx_noted(c, TX_PROG_action_begin);
}

SEC("fexit/net_tx_action")
int BPF_PROG(action_end)
{
	struct tx_cpu *c = tx_enter(TX_PROG_action_end);

	if (!c)
		return 0;
	c->action = 0;
	return tx_noted(c, TX_PROG_action_end);
}

static __noinline int dequeue_list(struct tx_cpu *c, struct Qdisc *q,
				   int packets, struct sk_buff *skb)
{
	struct tx_list l = {};
	struct tx_dequeue *d;
	struct tx_frame *f = run_frame(c, q);
	struct tx_now now;
	__u32 slot;
	int at;

	if (!f)
		f = run_open(c, TX_PROG_dequeue, q);
	slot = f ? f->slot : run_slot(c, TX_PROG_dequeue, q);
	if (!slot) {
		/* Of a qdisc that serves several queues, it may be for one that
		 * is wanted: it is sent by a run, although none is recorded.
		 */
		c->stray = tx_number(c, TX_PROG_dequeue, skb) |
			   TX_STRAY_FILTERED;
		return tx_filtered(c, TX_PROG_dequeue);
	}

	at = tx_frame_push(c, TX_FRAME_RECORD, NULL, 0);
	d = &tx_frame_at(c, at)->dequeue;
	tx_clear(*d);
	tx_queue_name(&d->h, slot);
	d->h.txq = skb->queue_mapping;
	d->qdisc = tx_address(c, TX_PROG_dequeue, q);
	d->first = tx_address(c, TX_PROG_dequeue, skb);
	d->packets = packets;
	d->first_len = skb->len;
	d->qlen = qdisc_qlen(q, &d->h);
	d->gso_qlen = q->gso_skb.qlen;
	d->bad_qlen = q->skb_bad_txq.qlen;
	d->qdisc_flags = q->flags;
	d->qdisc_state = q->state;
	if (q->flags & TCQ_F_ONETXQUEUE) {
		tx_now_read(&now, q->dev_queue);
		d->txq_state = now.state;
		d->num_queued = now.num_queued;
		d->num_compl = now.num_compl;
		d->adj_limit = now.adj_limit;
	}
	if (f) {
		d->h.parent = tx_frame_id(f);
		d->before = f->run.packets;
		d->order = f->run.dequeues + f->run.empty;
		f->run.packets += packets;
		f->run.dequeues++;
		f->run.last_packets = packets;
		f->last.first = (__u64)skb;
		f->last.packets = packets;
	} else {
		d->h.flags |= TX_FLAG_PARTIAL;
		c->stray = (__u64)skb;
	}

	tx_list_walk(&l, skb);
	d->last = tx_address(c, TX_PROG_dequeue, l.last);
	d->walked = l.packets;
	d->bytes = l.bytes;
	d->last_len = l.last_len;
	d->gso_segs = l.gso_segs;
	d->pkt_len = l.pkt_len;
	d->h.flags |= l.flags;
	if (f) {
		f->last.bytes = l.bytes;
		f->last.gso_segs = l.gso_segs;
		f->last.pkt_len = l.pkt_len;
	}
	return tx_emit(TX_PROG_dequeue, at, TX_DEQUEUE, sizeof(*d));
}

/*
 * Fires at the end of dequeue_skb, for an empty dequeue too: then skb is NULL
 * and packets, as passed, is 1. Its txq is q->dev_queue, which is queue 0 for
 * a shared root, so the head's own mapping names the queue.
 */
SEC("tp_btf/qdisc_dequeue")
int BPF_PROG(dequeue, struct Qdisc *q, const struct netdev_queue *txq,
	     int packets, struct sk_buff *skb)
{
	struct tx_cpu *c = tx_enter(TX_PROG_dequeue);
	struct tx_frame *f;

	if (!c)
		return 0;
	if (skb)
		return dequeue_list(c, q, packets, skb);
	f = run_frame(c, q);
	if (f)
		f->run.empty++;
	return tx_filtered(c, TX_PROG_dequeue);
}

/* What begins with other frames open, or is not plain. */
static __noinline int direct_open(__u64 *ctx, struct tx_cpu *c, __u32 slot)
{
	struct sk_buff *skb = (void *)ctx[0];
	struct Qdisc *q = (void *)ctx[1];
	struct netdev_queue *txq = (void *)ctx[3];
	bool validate = (__u8)ctx[5], in_run = false;
	struct tx_frame *f, *outer;
	struct tx_direct *d;
	__u32 parent = 0;

	if (c->send.first)
		bypass_open();
	outer = tx_frame_top(c);
	if (outer) {
		parent = tx_frame_id(outer);
		frame_nested(outer);
		in_run = outer->type == TX_FRAME_RUN && outer->key == (__u64)q;
	}
	if (!in_run && bypass_begin(c, slot, parent, skb, q, txq, validate))
		return tx_noted(c, TX_PROG_direct_begin);
	f = tx_frame_at(c, tx_frame_push(c, TX_FRAME_DIRECT, skb,
					 bpf_ktime_get_ns()));
	tx_clear(f->direct);
	tx_clear(f->at);
	f->slot = slot;
	d = &f->direct;
	d->h.parent = parent;
	d->first = tx_address(c, TX_PROG_direct_begin, skb);
	d->validate = validate;
	d->requeues_begin = qdisc_requeues(c, q, q->flags);
	d->gso_qlen_begin = q->gso_skb.qlen;
	d->txq_state_begin = txq->state;
	d->from = TX_FROM_BYPASS;
	if (in_run) {
		outer->run.directs++;
		d->from = TX_FROM_UNKNOWN;
		if (outer->last.first == (__u64)skb) {
			d->from = TX_FROM_DEQUEUE;
			d->packets = outer->last.packets;
			d->bytes = outer->last.bytes;
			d->gso_segs = outer->last.gso_segs;
			d->pkt_len = outer->last.pkt_len;
			outer->last.first = 0;
		}
	} else if ((c->stray & ~TX_STRAY_FILTERED) == (__u64)skb) {
		d->from = TX_FROM_UNKNOWN;
		if (!(c->stray & TX_STRAY_FILTERED))
			d->h.flags |= TX_FLAG_PARTIAL;
	}
	c->stray = 0;
	if (d->from != TX_FROM_DEQUEUE) {
		d->packets = 1;
		d->bytes = skb->len;
		d->gso_segs = 1;
		d->pkt_len = qdisc_pkt_len(skb);
		if (d->pkt_len != d->bytes)
			d->gso_segs += skb_more_segs(skb);
		if (skb->next)
			d->h.flags |= TX_FLAG_WALK_CUT;
	}
	return tx_noted(c, TX_PROG_direct_begin);
}

/* Of a bool argument and of a bool result only the lowest byte is written: what
 * the register holds above is left from before.
 */
SEC("fentry/sch_direct_xmit")
int BPF_PROG(direct_begin, struct sk_buff *skb, struct Qdisc *q,
	     struct net_device *dev, struct netdev_queue *txq, void *root_lock,
	     __u8 validate)
{
	struct tx_cpu *c = tx_enter(TX_PROG_direct_begin);
	__u32 slot;

	if (!c)
		return 0;
	slot = queue_slot(c, TX_PROG_direct_begin, dev, txq);
	if (!slot)
		return tx_filtered(c, TX_PROG_direct_begin);
	if (!c->top && !c->send.first &&
	    bypass_begin(c, slot, 0, skb, q, txq, validate))
		return tx_noted(c, TX_PROG_direct_begin);
	return direct_open(ctx, c, slot);
}

/* The run that follows a bypass of a locked qdisc follows it at once. */
static __always_inline void bypass_over(struct tx_cpu *c, struct Qdisc *q,
					__u32 flags, bool ret)
{
	if (ret && !(flags & TCQ_F_NOLOCK))
		c->bypass = (__u64)q;
}

/* What ends with a frame, and a record. */
static __noinline int direct_close(__u64 *ctx, struct tx_cpu *c)
{
	struct sk_buff *skb = (void *)ctx[0];
	struct Qdisc *q = (void *)ctx[1];
	struct net_device *dev = (void *)ctx[2];
	struct netdev_queue *txq = (void *)ctx[3];
	struct tx_direct *d;
	struct tx_frame *f;
	__u32 slot;
	int at;

	if (c->send.first == (__u64)skb)
		bypass_open();
	at = tx_frame_find(c, TX_PROG_direct_end, TX_FRAME_DIRECT, skb);
	if (at < 0) {
		slot = queue_slot(c, TX_PROG_direct_end, dev, txq);
		if (!slot)
			return tx_filtered(c, TX_PROG_direct_end);
		c->orphans++;
		at = tx_frame_push(c, TX_FRAME_RECORD, NULL, 0);
		f = tx_frame_at(c, at);
		tx_clear(f->direct);
		f->slot = slot;
		f->direct.validate = (__u8)ctx[5];
		f->direct.from = TX_FROM_UNKNOWN;
		f->direct.h.flags = TX_FLAG_PARTIAL;
	}
	f = tx_frame_at(c, at);
	d = &f->direct;
	d->requeues_end = qdisc_requeues(c, q, q->flags);
	if (stack_wanted(TX_MOMENT_requeue) &&
	    d->requeues_end != d->requeues_begin &&
	    !(d->h.flags & TX_FLAG_PARTIAL))
		stack_requeue(ctx, q, d->requeues_end - d->requeues_begin,
			      f->begin);
	d->gso_qlen_end = q->gso_skb.qlen;
	d->txq_state_end = txq->state;
	d->result = (__u8)ctx[6];
	if (d->from == TX_FROM_BYPASS)
		bypass_over(c, q, q->flags, d->result);
	tx_queue_name(&d->h, f->slot);
	d->qdisc = tx_address(c, TX_PROG_direct_end, q);
	d->qdisc_flags = q->flags;
	d->handle = q->handle;
	d->bad_qlen_end = q->skb_bad_txq.qlen;
	d->qdisc_state_end = q->state;
	return tx_emit(TX_PROG_direct_end, at, TX_DIRECT, sizeof(*d));
}

SEC("fexit/sch_direct_xmit")
int BPF_PROG(direct_end, struct sk_buff *skb, struct Qdisc *q,
	     struct net_device *dev, struct netdev_queue *txq, void *root_lock,
	     __u8 validate, __u8 ret)
{
	struct tx_cpu *c = tx_enter(TX_PROG_direct_end);

	if (!c)
		return 0;
	c->bypass = 0;
	if (!bypass_end(c, skb, q, txq, ret))
		return direct_close(ctx, c);
	bypass_over(c, q, c->send.qdisc_flags, ret);
	return tx_noted(c, TX_PROG_direct_end);
}
