/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * How long packets wait in a qdisc. One enqueue in so many is stamped with its
 * time, at a place that the skb's address chooses: all others cost a look at
 * that place, here and when they are dequeued. A stamp whose skb was dropped
 * stays; so whoever enters the qdisc with its address takes it away, and so
 * does what is put back into gso_skb, which is dequeued without an enqueue.
 * The tracepoint comes when the skb is in the qdisc, and a lockless one may
 * have given it to another CPU by then: only its address may be used.
 */
#define TX_STAMPS 4096 /* a power of two */

struct tx_stamp {
	__u64 skb; /* 0: none */
	__u64 time;
};

struct tx_stamps {
	struct tx_stamp at[TX_STAMPS];
};

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct tx_stamps);
} stamps SEC(".maps");

/* What became of the stamps that this CPU gave, since its last record. */
struct tx_stamping {
	__u32 enqueues; /* since the last stamp */
	__u32 given;
	__u32 replaced;
	__u32 gone;
};

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct tx_stamping);
} stamping SEC(".maps");

volatile const __u32 sojourn_every = 64;

static __always_inline struct tx_stamp *stamp_of(struct tx_stamps *all,
						 __u64 skb)
{
	__u64 hash = (skb >> 6) * 0x9e3779b97f4a7c15ULL >> 32;

	return &all->at[hash & (TX_STAMPS - 1)];
}

SEC("tp_btf/qdisc_enqueue")
int BPF_PROG(stamp, struct Qdisc *q, struct netdev_queue *txq,
	     struct sk_buff *skb)
{
	struct tx_cpu *c = tx_enter(TX_PROG_stamp);
	struct tx_stamping *n;
	struct tx_stamps *all;
	struct tx_stamp *s;
	__u32 zero = 0;
	__u64 number;

	if (!c)
		return 0;
	all = bpf_map_lookup_elem(&stamps, &zero);
	n = bpf_map_lookup_elem(&stamping, &zero);
	if (!all || !n || !queue_slot(c, TX_PROG_stamp, txq->dev, txq))
		return tx_filtered(c, TX_PROG_stamp);
	number = tx_number(c, TX_PROG_stamp, skb);
	s = stamp_of(all, number);
	if (s->skb == number) {
		s->skb = 0;
		n->gone++;
	}
	if (++n->enqueues < sojourn_every)
		return tx_filtered(c, TX_PROG_stamp);
	n->enqueues = 0;
	n->given++;
	n->replaced += s->skb != 0;
	s->time = bpf_ktime_get_ns();
	s->skb = number;
	return tx_noted(c, TX_PROG_stamp);
}

/* Tells of a skb that has a stamp. Global, so that the verifier sees it once. */
__noinline int sojourn_tell(__u64 qdisc, __u64 time, __u32 slot, __u32 len)
{
	struct tx_stamping *n;
	struct tx_sojourn *r;
	__u32 zero = 0;
	struct tx_cpu *c;
	int at;

	c = bpf_map_lookup_elem(&cpus, &zero);
	n = bpf_map_lookup_elem(&stamping, &zero);
	if (!c || !n)
		return 0;
	at = tx_frame_push(c, TX_FRAME_RECORD, NULL, time);
	r = &tx_frame_at(c, at)->sojourn;
	tx_clear(*r);
	tx_queue_name(&r->h, slot & 0xffff);
	r->h.txq = slot >> 16;
	r->qdisc = tx_hidden(qdisc);
	r->len = len;
	r->one_in = sojourn_every;
	r->given = n->given;
	r->replaced = n->replaced;
	r->gone = n->gone;
	n->given = n->replaced = n->gone = 0;
	c->count[TX_PROG_sojourn].seen++;
	tx_emit(TX_PROG_sojourn, at, TX_SOJOURN, sizeof(*r));
	return 0;
}

SEC("tp_btf/qdisc_dequeue")
int BPF_PROG(waited, struct Qdisc *q, const struct netdev_queue *txq,
	     int packets, struct sk_buff *skb)
{
	struct tx_cpu *c = tx_enter(TX_PROG_waited);
	__u32 zero = 0, i, slot;
	struct tx_stamps *all;
	__u64 number, qdisc;

	if (!c)
		return 0;
	all = bpf_map_lookup_elem(&stamps, &zero);
	if (!skb || !all)
		return tx_filtered(c, TX_PROG_waited);
	slot = run_slot(c, TX_PROG_waited, q);
	if (!slot)
		return tx_filtered(c, TX_PROG_waited);
	qdisc = tx_number(c, TX_PROG_waited, q);
	/* Counts nothing: the verifier would follow each count by itself. */
	for (i = 0; i < TX_WALK_BATCH && skb; i++) {
		struct tx_stamp *s;

		number = tx_number(c, TX_PROG_waited, skb);
		s = stamp_of(all, number);
		if (s->skb == number) {
			s->skb = 0;
			sojourn_tell(qdisc, s->time,
				     slot | (__u32)skb->queue_mapping << 16,
				     skb->len);
		}
		skb = skb->next;
	}
	return tx_noted(c, TX_PROG_waited);
}

/* Only who runs the qdisc puts into gso_skb, and takes from it. */
SEC("fexit/sch_direct_xmit")
int BPF_PROG(put_back, struct sk_buff *first, struct Qdisc *q,
	     struct net_device *dev, struct netdev_queue *txq, void *root_lock,
	     __u8 validate, __u8 ret)
{
	struct tx_cpu *c = tx_enter(TX_PROG_put_back);
	__u32 zero = 0, i, n;
	struct tx_stamps *all;
	struct sk_buff *skb;
	__u64 number;

	if (!c)
		return 0;
	n = q->gso_skb.qlen;
	all = bpf_map_lookup_elem(&stamps, &zero);
	if (!n || !all)
		return tx_filtered(c, TX_PROG_put_back);
	skb = q->gso_skb.next;
	for (i = 0; i < TX_WALK_BATCH && i < n && skb; i++) {
		struct tx_stamp *s;

		number = tx_number(c, TX_PROG_put_back, skb);
		s = stamp_of(all, number);
		if (s->skb == number)
			s->skb = 0;
		skb = skb->next;
	}
	return tx_noted(c, TX_PROG_put_back);
}
