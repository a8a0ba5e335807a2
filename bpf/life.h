/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The lives of skbs (--detail packet): from net_dev_queue, or the first call of
 * a driver, to skb_release_head_state, which comes once before a skb's memory
 * is anything else's. A skb has an entry in a map as long as it lives; a skb for
 * which the map has no room is not followed, and its records say so.
 *
 * Decision: the end of a life is skb_release_head_state and not the tracepoints
 * consume_skb and kfree_skb. It comes once for each, and for those that have no
 * tracepoint: __kfree_skb, and napi_consume_skb of 7.2, where a skb of another
 * CPU waits on that CPU's list.
 */
#define TX_LIVES 65536

struct tx_living {
	__u32 slot; /* of the queue that had it last, 0: none yet */
	__u32 order; /* among the enqueues of that queue, 0: none */
	__u32 turn; /* among what its sender sent */
	__u32 defer_seen; /* defer is valid */
	__u64 defer; /* Qdisc.defer_count when it was dropped */
	__u16 sender; /* CPU */
	__u8 tries; /* calls of a driver since its sender sent it */
	__u8 how; /* enum tx_freed */
	__u8 deferred; /* another CPU enqueued it */
	__u8 pad[3];
};

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, TX_LIVES);
	__type(key, __u64);
	__type(value, struct tx_living);
} lives SEC(".maps");

/* What each CPU has sent, by net_dev_queue. */
struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, __u32);
} turns SEC(".maps");

extern void tcp_wfree __ksym __weak;

static __always_inline struct tx_living *life_of(__u64 skb)
{
	return bpf_map_lookup_elem(&lives, &skb);
}

static __always_inline void life_begin(__u64 skb, __u32 slot, __u32 turn)
{
	struct tx_living l = {};

	l.slot = slot;
	l.turn = turn;
	l.sender = bpf_get_smp_processor_id();
	bpf_map_update_elem(&lives, &skb, &l, BPF_ANY);
}

/* The slot of a queue that was met before, 0 when it was not or is filtered. */
static __always_inline __u32 queue_met(__u64 txq)
{
	__u32 hash = queue_hash(txq), k, slot;
	struct tx_queue *e;

	for (k = 0; k < 8; k++) {
		slot = queue_slots[(hash + k) & (TX_QUEUE_HASH - 1)];
		e = queue_at(slot);
		if (slot && e->txq == txq)
			return e->wanted ? slot : 0;
	}
	return 0;
}

/* The queue of a skb, of those of its device that begin at first. */
static __always_inline __u64 skb_queue(__u64 first, struct sk_buff *skb)
{
	return first +
	       skb->queue_mapping * bpf_core_type_size(struct netdev_queue);
}

/*
 * The calls of drivers under way, one place each: stacked devices nest, and
 * hand the same skb on.
 */
#define TX_PACKETS 8 /* nested calls, a power of two */

struct tx_giving {
	__u64 skb; /* 0: none */
	__u64 dev;
	__u64 begin;
	__u64 jiffies;
	__u32 parent;
	__u32 slot;
	__u32 len;
	__u32 segs;
	__u32 num_queued;
	__u32 priority;
	__u32 order;
	__u32 turn;
	__u16 sender;
	__u8 tries;
	__u8 life;
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

/* The innermost call with a skb under way, which is told of it: its life so
 * far. Global, so that the verifier sees the loop once.
 */
__noinline int giving_mark(__u64 skb, __u32 life)
{
	struct tx_givings *all;
	struct tx_giving *last = NULL;
	__u32 zero = 0, i;

	all = bpf_map_lookup_elem(&givings, &zero);
	for (i = 0; i < TX_PACKETS && all; i++)
		if (all->at[i].skb == skb &&
		    (!last || all->at[i].begin > last->begin))
			last = &all->at[i];
	if (!last)
		return 0;
	last->life |= life;
	return last->life;
}

/* A send to a device with or without a qdisc. A queue that is met here first
 * has no slot yet.
 */
SEC("tp_btf/net_dev_queue")
int BPF_PROG(queued, struct sk_buff *skb)
{
	struct tx_cpu *c = tx_enter(TX_PROG_queued);
	__u32 zero = 0, slot, *turn;
	__u64 first;

	if (!c)
		return 0;
	turn = bpf_map_lookup_elem(&turns, &zero);
	if (!turn || skb->dev->flags & IFF_LOOPBACK)
		return tx_filtered(c, TX_PROG_queued);
	first = tx_number(c, TX_PROG_queued, skb->dev->_tx);
	slot = queue_met(skb_queue(first, skb));
	life_begin(tx_number(c, TX_PROG_queued, skb), slot, ++*turn);
	return tx_noted(c, TX_PROG_queued);
}

/*
 * The packet is in the qdisc. A lockless one may have given it to another CPU
 * by then: only its address may be used, and what this CPU sent last it is.
 */
SEC("tp_btf/qdisc_enqueue")
int BPF_PROG(enqueued, struct Qdisc *q, struct netdev_queue *txq,
	     struct sk_buff *skb)
{
	struct tx_cpu *c = tx_enter(TX_PROG_enqueued);
	__u32 zero = 0, slot, *turn;
	struct tx_enqueue *r;
	struct tx_living *l;
	__u64 number;
	int at;

	if (!c)
		return 0;
	slot = queue_slot(c, TX_PROG_enqueued, txq->dev, txq);
	turn = bpf_map_lookup_elem(&turns, &zero);
	if (!slot || !turn)
		return tx_filtered(c, TX_PROG_enqueued);
	number = tx_number(c, TX_PROG_enqueued, skb);
	at = tx_frame_push(c, TX_FRAME_RECORD, NULL, 0);
	r = &tx_frame_at(c, at)->enqueue;
	tx_clear(*r);
	tx_queue_name(&r->h, slot);
	r->qdisc = tx_address(c, TX_PROG_enqueued, q);
	r->skb = tx_hidden(number);
	r->qdisc_flags = q->flags;
	r->qdisc_state = q->state;
	r->txq_state = txq->state;
	r->sender = TX_NO_QUEUE;
	l = life_of(number);
	if (q->flags & TCQ_F_NOLOCK) {
		/* Without a slot its end may have no record. */
		if (l && l->slot && l->turn == *turn) {
			r->sender = l->sender;
			r->turn = l->turn;
		}
		return tx_emit(TX_PROG_enqueued, at, TX_ENQUEUE, sizeof(*r));
	}
	r->order = __sync_fetch_and_add(&queue_at(slot)->enqueues, 1) + 1;
	if (l) {
		l->slot = slot;
		l->order = r->order;
		l->deferred = l->sender != bpf_get_smp_processor_id();
		r->sender = l->sender;
		r->turn = l->turn;
	}
	return tx_emit(TX_PROG_enqueued, at, TX_ENQUEUE, sizeof(*r));
}

/* How many wait to be enqueued, of the queue that a skb is sent to. */
static __always_inline void life_defer(struct tx_living *l, struct sk_buff *skb,
				       __u64 first)
{
	__u64 txq = skb_queue(first, skb);
	__u64 q = 0;

	l->slot = queue_met(txq);
	bpf_probe_read_kernel(&q, sizeof(q),
			      (void *)txq +
				      bpf_core_field_offset(struct netdev_queue,
							    qdisc));
	l->defer_seen = !bpf_probe_read_kernel(
		&l->defer, sizeof(l->defer),
		(void *)q + bpf_core_field_offset(struct Qdisc___v6_19,
						  defer_count));
}

SEC("tp_btf/kfree_skb")
int BPF_PROG(dropped, struct sk_buff *skb, void *location,
	     enum skb_drop_reason reason)
{
	struct tx_cpu *c = tx_enter(TX_PROG_dropped);
	struct tx_living *l;

	if (!c)
		return 0;
	l = life_of(tx_number(c, TX_PROG_dropped, skb));
	if (!l)
		return tx_filtered(c, TX_PROG_dropped);
	l->how = TX_FREED_DROPPED;
	if (bpf_core_enum_value_exists(enum skb_drop_reason,
				       SKB_DROP_REASON_QDISC_BURST_DROP) &&
	    reason == bpf_core_enum_value(enum skb_drop_reason,
					  SKB_DROP_REASON_QDISC_BURST_DROP)) {
		l->how = TX_FREED_BURST;
		if (skb->dev)
			life_defer(l, skb,
				   tx_number(c, TX_PROG_dropped,
					     skb->dev->_tx));
	}
	return tx_noted(c, TX_PROG_dropped);
}

/* net.core.qdisc_max_burst, 0 where there is none. */
static __always_inline __u32 max_burst_now(void)
{
	int max = 0;

	if (bpf_core_field_exists(struct net_hotdata, qdisc_max_burst))
		bpf_probe_read_kernel(
			&max, sizeof(max),
			(void *)&net_hotdata +
				bpf_core_field_offset(struct net_hotdata,
						      qdisc_max_burst));
	return max;
}

/* The end of a life, before the socket is told of it. */
SEC("fentry/skb_release_head_state")
int BPF_PROG(released, struct sk_buff *skb)
{
	struct tx_cpu *c = tx_enter(TX_PROG_released);
	struct tx_living *found, l;
	struct tx_free *r;
	__u64 number;
	int at;

	if (!c)
		return 0;
	number = tx_number(c, TX_PROG_released, skb);
	found = life_of(number);
	if (!found)
		return tx_filtered(c, TX_PROG_released);
	l = *found;
	bpf_map_delete_elem(&lives, &number);
	if (!l.slot)
		return tx_noted(c, TX_PROG_released);
	at = tx_frame_push(c, TX_FRAME_RECORD, NULL, 0);
	r = &tx_frame_at(c, at)->free;
	tx_clear(*r);
	tx_queue_name(&r->h, l.slot);
	r->skb = tx_hidden(number);
	r->life = giving_mark(number, TX_LIFE_FREED);
	r->how = l.how;
	r->turn = l.turn;
	r->sender = l.sender;
	r->tries = l.tries;
	r->tcp = skb->destructor == (void *)&tcp_wfree;
	if (l.how == TX_FREED_BURST) {
		r->defer = l.defer_seen ? l.defer : TX_DEFER_UNKNOWN;
		r->burst = max_burst_now();
	}
	return tx_emit(TX_PROG_released, at, TX_FREE, sizeof(*r));
}

/* The socket is told although the packet lives on: within its release it has
 * no entry any more.
 */
SEC("fentry/tcp_wfree")
int BPF_PROG(orphaned, struct sk_buff *skb)
{
	struct tx_cpu *c = tx_enter(TX_PROG_orphaned);
	__u64 number;

	if (!c)
		return 0;
	number = tx_number(c, TX_PROG_orphaned, skb);
	if (!life_of(number) || !giving_mark(number, TX_LIFE_ORPHANED))
		return tx_filtered(c, TX_PROG_orphaned);
	return tx_noted(c, TX_PROG_orphaned);
}
