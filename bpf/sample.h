/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * A look at a queue that nothing asks for but the time: user space runs this
 * for each queue that was met, once a second. What does not move between two
 * looks is what rules about liveness need. Nothing is locked, so what moved
 * meanwhile makes the sample torn.
 */
#define TX_CPUS 1024

/* What is known of a qdisc only by adding up. */
struct tx_sums {
	__u32 qlen;
	__u32 backlog;
	__u32 requeues;
	__u32 pad;
	__u64 dequeued;
};

/* The packets that were dequeued, or that went past a qdisc that was empty. */
static __always_inline __u64 packets_of(__u64 stats)
{
	__u64 n = 0;

	bpf_probe_read_kernel(
		&n, sizeof(n),
		(void *)stats + bpf_core_field_offset(
					struct gnet_stats_basic_sync, packets));
	return n;
}

static __always_inline void queue_stats(struct tx_sums *s, __u64 stats)
{
	__u32 n = 0;

	tx_read(n, stats, gnet_stats_queue, qlen);
	s->qlen += n;
	tx_read(n, stats, gnet_stats_queue, backlog);
	s->backlog += n;
	tx_read(n, stats, gnet_stats_queue, requeues);
	s->requeues += n;
}

/* A function of its own, so that it is there once; static, for a global one
 * may be given no memory by old kernels (e5069b9c23b3).
 */
static __noinline int qdisc_sum(__u64 q, struct tx_sums *s)
{
	__u64 cpu_queue = 0, cpu_basic = 0, base;
	__u32 flags = 0, cpu;

	if (!s)
		return 0;
	__builtin_memset(s, 0, sizeof(*s));
	tx_read(flags, q, Qdisc, flags);
	tx_read(s->qlen, q, Qdisc, q.qlen);
	queue_stats(s, q + bpf_core_field_offset(struct Qdisc, qstats));
	if (bpf_core_type_exists(struct gnet_stats_basic_sync))
		s->dequeued = packets_of(
			q +
			bpf_core_field_offset(struct Qdisc___v5_16, bstats));
	else
		s->dequeued = TX_DEQUEUED_UNKNOWN;
	if (!(flags & TCQ_F_CPUSTATS))
		return 0;
	tx_read(cpu_queue, q, Qdisc, cpu_qstats);
	if (bpf_core_type_exists(struct gnet_stats_basic_sync))
		tx_read(cpu_basic, q, Qdisc___v5_16, cpu_bstats);
	for (cpu = 0; cpu < TX_CPUS && cpu < possible_cpus; cpu++) {
		base = cpu_base(cpu);
		queue_stats(s, cpu_queue + base);
		if (cpu_basic)
			s->dequeued += packets_of(cpu_basic + base);
	}
	return 0;
}

/* The first skb of a pfifo_fast that its dequeue would take. */
static __always_inline __u64 pfifo_fast_head(__u64 q)
{
	__u64 ring, queue, skb = 0;
	int at, band;

	if (!bpf_core_type_exists(struct pfifo_fast_priv) ||
	    !bpf_core_field_exists(struct Qdisc___priv, privdata))
		return 0;
	for (band = 0; band < 3 && !skb; band++) {
		ring = q +
		       bpf_core_field_offset(struct Qdisc___priv, privdata) +
		       bpf_core_field_offset(struct pfifo_fast_priv, q) +
		       band * bpf_core_type_size(struct skb_array) +
		       bpf_core_field_offset(struct skb_array, ring);
		queue = at = 0;
		tx_read(at, ring, ptr_ring, consumer_head);
		tx_read(queue, ring, ptr_ring, queue);
		if (queue && at >= 0)
			bpf_probe_read_kernel(&skb, sizeof(skb),
					      (void *)queue +
						      (__u64)at * sizeof(skb));
	}
	return skb;
}

/* The skb that would go next, where that can be told. */
static __always_inline __u64 qdisc_head(__u64 q, const struct tx_sample *r)
{
	char id[16] = {};
	__u64 skb = 0, ops = 0;

	if (r->gso_qlen) {
		tx_read(skb, q, Qdisc, gso_skb.next);
		return skb;
	}
	if (r->bad_qlen) {
		tx_read(skb, q, Qdisc, skb_bad_txq.next);
		return skb;
	}
	if (!(r->qdisc_flags & TCQ_F_NOLOCK)) {
		tx_read(skb, q, Qdisc, q.head);
		return skb;
	}
	tx_read(ops, q, Qdisc, ops);
	tx_read(id, ops, Qdisc_ops, id);
	if (id[0] == 'p' && id[5] == '_' && id[6] == 'f' && id[9] == 't')
		return pfifo_fast_head(q);
	return 0;
}

/* Who has it now: the qdisc's lock is held, or it is run. */
static __always_inline __u8 qdisc_held(__u64 q, __u32 flags)
{
	__u32 lock = 0, size;
	__u64 state = 0;
	__u8 held = 0;

	if (config.rt)
		return TX_HELD_BY_UNKNOWN; /* a lock is no word there */
	if (flags & TCQ_F_NOLOCK) {
		tx_read(lock, q, Qdisc, seqlock);
		return lock ? TX_HELD_RUN : 0;
	}
	tx_read(lock, q, Qdisc, q.lock);
	if (lock)
		held |= TX_HELD_LOCK;
	/* 5.16 (29cbcd858283) made the sequence count a bit of state2. */
	if (bpf_core_field_exists(struct Qdisc___v5_16, state2)) {
		tx_read(state, q, Qdisc___v5_16, state2);
	} else if (bpf_core_field_exists(struct Qdisc___running, running)) {
		size = bpf_core_field_size(struct Qdisc___running, running);
		bpf_probe_read_kernel(
			&state, size == 1 ? 1 : 4,
			(void *)q + bpf_core_field_offset(
					    struct Qdisc___running, running));
	} else {
		return TX_HELD_BY_UNKNOWN;
	}
	if (state & 1)
		held |= TX_HELD_RUN;
	return held;
}

static __always_inline void sample_qdisc(struct tx_cpu *c, struct tx_sample *r,
					 __u64 q)
{
	struct tx_sums before = {}, after = {};

	r->qdisc = tx_hidden(q);
	tx_read(r->qdisc_flags, q, Qdisc, flags);
	tx_read(r->handle, q, Qdisc, handle);
	tx_read(r->qdisc_state, q, Qdisc, state);
	r->held = qdisc_held(q, r->qdisc_flags);
	qdisc_sum(q, &before);
	tx_read(r->gso_qlen, q, Qdisc, gso_skb.qlen);
	tx_read(r->bad_qlen, q, Qdisc, skb_bad_txq.qlen);
	r->first = tx_hidden(qdisc_head(q, r));
	qdisc_sum(q, &after);
	r->qlen = after.qlen;
	r->backlog = after.backlog;
	r->requeues = after.requeues;
	r->dequeued = after.dequeued;
	r->held |= qdisc_held(q, r->qdisc_flags);
	if (before.qlen != after.qlen || before.backlog != after.backlog ||
	    before.requeues != after.requeues ||
	    before.dequeued != after.dequeued)
		r->h.flags |= TX_FLAG_TORN;
}

static __always_inline void sample_dql(struct tx_sample *r, __u64 txq)
{
	__u32 completed = 0;

	if (!bpf_core_field_exists(struct netdev_queue, dql))
		return;
	tx_read(r->num_compl, txq, netdev_queue, dql.num_completed);
	tx_read(r->num_queued, txq, netdev_queue, dql.num_queued);
	tx_read(r->adj_limit, txq, netdev_queue, dql.adj_limit);
	tx_read(completed, txq, netdev_queue, dql.num_completed);
	if (completed != r->num_compl)
		r->h.flags |= TX_FLAG_TORN;
}

SEC("raw_tp")
int sample(struct bpf_raw_tracepoint_args *ctx)
{
	struct tx_cpu *c = tx_enter(TX_PROG_sample);
	__u32 slot = ctx->args[0] & (TX_QUEUES - 1);
	struct tx_queue *e = queue_at(slot);
	__u64 txq = e->txq, dev = 0, q = 0, again = 0;
	struct tx_sample *r;
	int at;

	if (!c)
		return 0;
	/* The memory may be another's by now: a queue names its device. */
	tx_read(dev, txq, netdev_queue, dev);
	if (!txq || !e->wanted || dev != e->dev)
		return tx_filtered(c, TX_PROG_sample);
	at = tx_frame_push(c, TX_FRAME_RECORD, NULL, 0);
	r = &tx_frame_at(c, at)->sample;
	tx_clear(*r);
	tx_queue_name(&r->h, slot);
	r->jiffies = bpf_jiffies64();
	tx_read(r->txq_state, txq, netdev_queue, state);
	tx_read(r->trans_start, txq, netdev_queue, trans_start);
	tx_read(r->device, dev, net_device, state);
	tx_read(r->watchdog, dev, net_device, watchdog_timeo);
	tx_read(q, txq, netdev_queue, qdisc);
	if (q)
		sample_qdisc(c, r, q);
	sample_dql(r, txq);
	tx_read(again, txq, netdev_queue, qdisc);
	if (again != q)
		r->h.flags |= TX_FLAG_TORN;
	return tx_emit(TX_PROG_sample, at, TX_SAMPLE, sizeof(*r));
}
