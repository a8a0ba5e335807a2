/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * A packet whose queue a filter set (tc's skbedit at egress): for it no queue
 * is chosen since 5.19 (2f1e85b1aee4), __dev_queue_xmit takes the one that the
 * packet names. That is looked at when the filters are done, and where the
 * packet goes from there: into the qdisc, past it, or to a device without one.
 *
 * All of that is in one section without bottom halves, so a place per CPU does.
 * __dev_queue_xmit clears skip_txqueue of each packet before its filters, but
 * only while some device has filters at egress: else what was set before stays.
 * At net_dev_queue it is clear again on 6.12 and 7.2, and not on 6.1. So the
 * filters' end must be that of filters at egress: those of ingress have
 * packets that say so, those of a qdisc have the packet that was queued last.
 *
 * Of those that went as they should, a CPU tells of one in a jiffy.
 */
struct tx_steering {
	__u64 set; /* the skb whose filters just set its queue; 0: none */
	__u64 last; /* the one that came out of the filters last, while it is on its way */
	__u64 queued; /* the one that is on its way, if a filter set its queue */
	__u64 dev;
	__u64 told; /* jiffies of the last record */
	__u32 queues; /* that its device had */
	__u16 mapping; /* of set */
	__u16 wanted; /* of queued */
};

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct tx_steering);
} steering SEC(".maps");

static __always_inline struct tx_steering *steering_of_cpu(void)
{
	__u32 zero = 0;

	return bpf_map_lookup_elem(&steering, &zero);
}

/* Whether a filter set the queue of the packet that is sent now. */
static __always_inline bool steered_now(struct tx_cpu *c)
{
	int needed = 0;

	if (!&egress_needed_key)
		return false;
	bpf_probe_read_kernel(&needed, sizeof(needed),
			      (void *)&egress_needed_key);
	return needed > 0 && xmit_skips(tx_base(c));
}

/* The packet is not dropped, stolen or sent elsewhere by its filters. */
static __always_inline bool steer_goes_on(int verdict)
{
	return verdict <= TC_ACT_RECLASSIFY || verdict == TC_ACT_PIPE;
}

SEC("fexit/tcf_classify")
int BPF_PROG(steer_set, struct sk_buff *skb, void *block, void *tp, void *res,
	     __u8 compat, int verdict)
{
	struct tx_cpu *c = tx_enter(TX_PROG_steer_set);
	struct tx_steering *s = steering_of_cpu();
	__u64 number;

	if (!c || !s)
		return 0;
	s->set = 0;
	number = tx_number(c, TX_PROG_steer_set, skb);
	if (!steered_now(c) || number == s->last || !steer_goes_on(verdict) ||
	    BPF_CORE_READ_BITFIELD(skb, tc_at_ingress))
		return tx_filtered(c, TX_PROG_steer_set);
	s->set = number;
	s->mapping = skb->queue_mapping;
	s->queues =
		skb->dev->real_num_tx_queues; /* before the queue is taken */
	return tx_noted(c, TX_PROG_steer_set);
}

SEC("tp_btf/net_dev_queue")
int BPF_PROG(steer_queued, struct sk_buff *skb)
{
	struct tx_cpu *c = tx_enter(TX_PROG_steer_queued);
	struct tx_steering *s = steering_of_cpu();
	__u64 set;

	if (!c || !s)
		return 0;
	set = s->set;
	s->set = s->queued = 0;
	s->last = tx_number(c, TX_PROG_steer_queued, skb);
	if (s->last != set || !pick_wanted(c, skb->sk))
		return tx_filtered(c, TX_PROG_steer_queued);
	s->queued = set;
	s->wanted = s->mapping;
	s->dev = tx_number(c, TX_PROG_steer_queued, skb->dev);
	return tx_noted(c, TX_PROG_steer_queued);
}

/* The packet was given this queue. */
static __always_inline int
steer_taken(enum tx_program prog, struct sk_buff *skb, struct netdev_queue *txq)
{
	struct tx_cpu *c = tx_enter(prog);
	struct tx_steering *s = steering_of_cpu();
	struct net_device *dev = txq->dev;
	__u32 slot, index, want;
	struct tx_steer *r;
	__u64 now;
	int at;

	if (!c || !s)
		return 0;
	s->set = s->last = 0;
	if (!s->queued || s->queued != tx_number(c, prog, skb) ||
	    s->dev != tx_number(c, prog, dev))
		return tx_filtered(c, prog);
	s->queued = 0;
	slot = queue_slot(c, prog, dev, txq);
	if (!slot)
		return tx_filtered(c, prog);
	index = txq_index(dev, txq);
	want = s->wanted < s->queues ? s->wanted : 0;
	now = bpf_jiffies64();
	if (index == want && now == s->told)
		return tx_noted(c, prog);
	s->told = now;
	at = tx_frame_push(c, TX_FRAME_RECORD, NULL, 0);
	r = &tx_frame_at(c, at)->steer;
	tx_clear(*r);
	tx_queue_name(&r->h, slot);
	r->index = index;
	r->queues_begin = s->queues;
	r->queues_end = dev->real_num_tx_queues;
	r->wanted = s->wanted;
	return tx_emit(prog, at, TX_STEER, sizeof(*r));
}

SEC("tp_btf/qdisc_enqueue")
int BPF_PROG(steer_enqueued, struct Qdisc *q, struct netdev_queue *txq,
	     struct sk_buff *skb)
{
	return steer_taken(TX_PROG_steer_enqueued, skb, txq);
}

/*
 * What a qdisc dropped is not on its way any more, and what a run takes out was
 * queued before: the skb of another packet may lie where that one lay.
 */
SEC("fentry/__qdisc_run")
int BPF_PROG(steer_run)
{
	struct tx_cpu *c = tx_enter(TX_PROG_steer_run);
	struct tx_steering *s = steering_of_cpu();

	if (!c || !s)
		return 0;
	s->set = s->last = s->queued = 0;
	return tx_filtered(c, TX_PROG_steer_run);
}

SEC("fentry/sch_direct_xmit")
int BPF_PROG(steer_direct, struct sk_buff *skb, struct Qdisc *q,
	     struct net_device *dev, struct netdev_queue *txq)
{
	return steer_taken(TX_PROG_steer_direct, skb, txq);
}

SEC("fentry/dev_hard_start_xmit")
int BPF_PROG(steer_handed, struct sk_buff *skb, struct net_device *dev,
	     struct netdev_queue *txq)
{
	return steer_taken(TX_PROG_steer_handed, skb, txq);
}
