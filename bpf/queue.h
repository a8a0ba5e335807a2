/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Facts of a transmit queue, of a list of skbs, and the filters. All of it on
 * typed pointers: a direct load costs a tenth of a probe read.
 */
#ifndef TXTRACE_QUEUE_H
#define TXTRACE_QUEUE_H

static __always_inline void tx_now_read(struct tx_now *n,
					struct netdev_queue *txq)
{
	n->state = txq->state;
	/* CONFIG_BQL=n: no dql, everything stays 0, as a driver without it. */
	n->num_queued = n->num_compl = n->adj_limit = 0;
	if (bpf_core_field_exists(txq->dql)) {
		n->num_queued = txq->dql.num_queued;
		n->num_compl = txq->dql.num_completed;
		n->adj_limit = txq->dql.adj_limit;
	}
}

/*
 * The transmit lock is taken around each hand-over unless the driver does
 * without (NETIF_F_LLTX, from 6.12 dev->lltx).
 */
static __always_inline __u8 txq_unlocked(struct netdev_queue *txq)
{
	return txq->xmit_lock_owner == (int)bpf_get_smp_processor_id() ?
		       0 :
		       TX_FLAG_UNLOCKED;
}

static __always_inline __u32 txq_index(struct net_device *dev,
				       struct netdev_queue *txq)
{
	__u64 off = (__u64)txq - (__u64)dev->_tx;

	return off ? off / bpf_core_type_size(struct netdev_queue) : 0;
}

static __always_inline bool netns_wanted(__u32 netns)
{
	__u32 i;

	for (i = 0; i < TX_FILTER_NETNS && i < config.nnetns; i++)
		if (config.netns[i] == netns)
			return true;
	return !config.nnetns;
}

static __always_inline bool device_named(__u32 netns, __u32 ifindex)
{
	__u32 i;

	if (!netns_wanted(netns))
		return false;
	for (i = 0; i < TX_FILTER_DEVICES && i < config.ndevices; i++)
		if (config.devices[i].ifindex == ifindex &&
		    config.devices[i].netns == netns)
			return true;
	return !config.ndevices;
}

static __always_inline bool device_wanted(struct net_device *dev)
{
	if (dev->flags & IFF_LOOPBACK)
		return false;
	if (!config.nnetns && !config.ndevices)
		return true;
	return device_named(dev->nd_net.net->ns.inum, dev->ifindex);
}

static __always_inline bool qdisc_wanted(struct Qdisc *q)
{
	__u8 id[16] = {};
	__u32 i, k;

	if (!config.nqdiscs)
		return true;
	bpf_probe_read_kernel_str(id, sizeof(id), &q->ops->id);
	for (i = 0; i < TX_FILTER_QDISCS && i < config.nqdiscs; i++) {
		for (k = 0; k < sizeof(id); k++)
			if (id[k] != config.qdiscs[i][k])
				break;
		if (k == sizeof(id))
			return true;
	}
	return false;
}

static __always_inline bool txq_wanted(__u32 txq)
{
	__u32 word = txq / 64;

	if (!config.nqueues)
		return true;
	if (txq >= TX_FILTER_QUEUES)
		return false;
	barrier_var(
		word); /* or clang leaves the mask away, which the verifier needs */
	word &= TX_FILTER_QUEUES / 64 - 1;
	return config.queues[word] >> (txq & 63) & 1;
}

/*
 * Queues in the order they were met. A slot keeps what does not change from
 * one send to the next: the identity, and whether the filters want the queue.
 * It is learned again when user space saw devices or qdiscs change.
 */
struct tx_queue {
	__u64 txq;
	__u64 dev;
	__u32 ifindex;
	__u32 netns;
	__u32 completed; /* num_completed of the last snapshot */
	__u32 num_queued; /* at the end of the last hand-over */
	__u32 generation;
	__u16 index;
	__u8 wanted;
	__u8 active; /* bytes in flight when last looked at */
	__u8 known; /* completed is valid */
	__u8 sent; /* num_queued is valid */
	__u8 pad[2];
	__u32 enqueues; /* to a qdisc with a lock, by the packet's queue */
	__u32 woken; /* how often DRV_XOFF was taken away */
	__u32 restarted; /* how often a completion took STACK_XOFF away */
};

#define TX_QUEUES 512 /* slot 0 is no queue */
#define TX_QUEUE_BITS 11
#define TX_QUEUE_HASH (1 << TX_QUEUE_BITS)
#define TX_QUEUE_TRIES 32

struct tx_queue queues[TX_QUEUES];
__u32 queue_slots[TX_QUEUE_HASH];
__u32 nqueues;
__u32 generation = 1; /* counted up by user space */

static __always_inline struct tx_queue *queue_at(__u32 slot)
{
	barrier_var(slot); /* or clang walks a pointer without bounds */
	return &queues[slot & (TX_QUEUES - 1)];
}

/* Arrays of queues often lie at equal distances, which a product's highest bits
 * spread and others need not.
 */
static __always_inline __u32 queue_hash(__u64 txq)
{
	return txq * 0x9e3779b97f4a7c15ULL >> (64 - TX_QUEUE_BITS);
}

static __always_inline bool queue_wanted(struct net_device *dev,
					 struct netdev_queue *txq, __u32 index)
{
	return device_wanted(dev) && txq_wanted(index) &&
	       (!config.nqdiscs || qdisc_wanted(txq->qdisc));
}

/*
 * A queue that finds no room in the table. What happens to it makes no record:
 * it counts as lost, or a recording that saw nothing of it would pass.
 */
static __always_inline __u32 queue_unplaced(struct net_device *dev,
					    struct netdev_queue *txq)
{
	__u32 zero = 0;
	struct tx_cpu *c = bpf_map_lookup_elem(&cpus, &zero);

	if (c && queue_wanted(dev, txq, txq_index(dev, txq))) {
		c->count[TX_PROG_unplaced].seen++;
		c->count[TX_PROG_unplaced].lost++;
	}
	return 0;
}

/*
 * Who may have a slot, and an empty place of the hash: whoever is the first to
 * write its key here, for a lock may not be had and before 5.12 (5ffa25502b5a)
 * nothing is compared and exchanged in one step.
 */
#define TX_PLACE_TAKEN 0x10000 /* with the place; slots are below */
#define TX_SLOT_TRIES 16 /* CPUs that meet a new queue in one moment */

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, TX_QUEUES + TX_QUEUE_HASH);
	__type(key, __u32);
	__type(value, __u32);
} queues_taken SEC(".maps");

static __always_inline bool queue_takes(__u32 key, __u32 slot)
{
	return !bpf_map_update_elem(&queues_taken, &key, &slot, BPF_NOEXIST);
}

/*
 * A slot for a queue that is new to an empty place of the hash, 0 when there is
 * none. Another CPU may meet the same queue now: one slot is taken for good
 * then, and the other never used again.
 */
static __always_inline __u32 queue_place(__u32 at, __u64 number)
{
	__u32 key = TX_PLACE_TAKEN + at, slot, i, *other;

	for (i = 0; i < TX_SLOT_TRIES; i++) {
		slot = nqueues + 1;
		if (slot >= TX_QUEUES)
			return 0;
		nqueues = slot;
		if (queue_takes(slot, slot))
			break;
	}
	if (i == TX_SLOT_TRIES)
		return 0;
	queue_at(slot)->txq = number;
	if (queue_takes(key, slot)) {
		queue_slots[at & (TX_QUEUE_HASH - 1)] = slot;
		return slot;
	}
	queue_at(slot)->txq = 0;
	other = bpf_map_lookup_elem(&queues_taken, &key);
	return other ? *other : 0;
}

/* The slot of a queue, met before or not; 0 when there is no room. Global, so
 * that the verifier walks it once.
 */
__noinline int queue_seek(__u64 number)
{
	__u32 hash = queue_hash(number), k, slot, at;

	for (k = 0; k < TX_QUEUE_TRIES; k++) {
		at = (hash + k) & (TX_QUEUE_HASH - 1);
		slot = queue_slots[at] ?: queue_place(at, number);
		if (!slot)
			return 0;
		if (queue_at(slot)->txq == number)
			return slot;
	}
	return 0;
}

static __always_inline __u32 queue_learn(__u64 number, struct net_device *dev,
					 struct netdev_queue *txq)
{
	__u32 slot = queue_seek(number);
	struct tx_queue *e = queue_at(slot);

	if (!slot)
		return queue_unplaced(dev, txq);
	/* Its memory was another device's, or the same one's under another
	 * name: what was counted of that is nothing to this one.
	 */
	if (e->dev != (__u64)dev || e->ifindex != dev->ifindex ||
	    e->netns != dev->nd_net.net->ns.inum) {
		e->known = e->active = e->sent = 0;
		e->enqueues = 0;
	}
	e->dev = (__u64)dev;
	e->ifindex = dev->ifindex;
	e->netns = dev->nd_net.net->ns.inum;
	e->index = txq_index(dev, txq);
	e->wanted = queue_wanted(dev, txq, e->index);
	e->generation = generation;
	return slot;
}

static __noinline __u32 queue_find(__u64 number, struct net_device *dev,
				   struct netdev_queue *txq)
{
	__u32 slot = queue_slots[queue_hash(number)];
	struct tx_queue *e = queue_at(slot);

	if (e->txq != number || e->generation != generation)
		slot = queue_learn(number, dev, txq);
	return slot;
}

/*
 * The queue's slot, 0 when it is not wanted or the table is full. The last one
 * that was asked for on this CPU is tried first.
 */
static __always_inline __u32 queue_slot(struct tx_cpu *c, enum tx_program prog,
					struct net_device *dev,
					struct netdev_queue *txq)
{
	__u32 slot = c->hint;
	struct tx_queue *e = queue_at(slot);

	if (e->txq != (__u64)txq || e->generation != generation) {
		slot = queue_find(tx_number(c, prog, txq), dev, txq);
		c->hint = slot;
		e = queue_at(slot);
	}
	return e->wanted ? slot : 0;
}

/* Names the queue in a record. */
static __always_inline void tx_queue_name(struct tx_header *h, __u32 slot)
{
	struct tx_queue *e = queue_at(slot);

	h->ifindex = e->ifindex;
	h->netns = e->netns;
	h->txq = e->index;
}

static __always_inline __u32 qdisc_requeues(struct tx_cpu *c, struct Qdisc *q,
					    __u32 flags)
{
	__u32 n = q->qstats.requeues;
	__u64 stats = 0;

	if (!(flags & TCQ_F_CPUSTATS))
		return n;
	/* As a number: a per-CPU pointer takes arithmetic. */
	bpf_probe_read_kernel(&stats, sizeof(stats), &q->cpu_qstats);
	stats += tx_base(c) +
		 bpf_core_field_offset(struct gnet_stats_queue, requeues);
	bpf_probe_read_kernel(&n, sizeof(n), (void *)stats);
	return n;
}

/*
 * What others charged to a queue since the last hand-over. Hand-overs of a
 * queue exclude each other by its transmit lock.
 */
static __always_inline __u32 hand_foreign(const struct tx_queue *e,
					  __u32 num_queued)
{
	__u32 foreign = num_queued - e->num_queued;

	if (!e->sent)
		return TX_FOREIGN_UNKNOWN;
	/* num_queued fell: a reset, not a send */
	return foreign > 0x7fffffff ? 0 : foreign;
}

/* Bounds of the walks; a longer list sets TX_FLAG_WALK_CUT. What they cost is
 * the verifier's time, at every start.
 */
#define TX_WALK 4096 /* hand-overs: 65 skbs of 45 segments, and more */
#define TX_WALK_BATCH 2048 /* dequeues: 1367 were seen */
#define TX_WALK_GSO 128 /* dequeues with GSO skbs: 65 where they are bounded */

/* Sums over a list of skbs before validation. */
struct tx_list {
	struct sk_buff *last;
	__u32 packets;
	__u32 bytes;
	__u32 last_len;
	__u32 gso_segs;
	__u32 pkt_len;
	__u8 flags;
};

/* What the qdisc layer charges: qdisc_skb_cb(skb)->pkt_len, read bytewise
 * because cb is an array of char to the verifier.
 */
static __always_inline __u32 qdisc_pkt_len(struct sk_buff *skb)
{
	return (__u32)(__u8)skb->cb[0] | (__u32)(__u8)skb->cb[1] << 8 |
	       (__u32)(__u8)skb->cb[2] << 16 | (__u32)(__u8)skb->cb[3] << 24;
}

/* What skb_shinfo(skb)->gso_segs counts beyond one. */
static __always_inline __u32 skb_more_segs(struct sk_buff *skb)
{
	__u16 segs = 1;

	bpf_probe_read_kernel(
		&segs, sizeof(segs),
		skb->head + skb->end +
			bpf_core_field_offset(struct skb_shared_info,
					      gso_segs));
	return segs - !!segs;
}

/*
 * The kernel writes qdisc_pkt_len before it enqueues: it is the length but for
 * a GSO skb, which is charged the headers of its later segments too, and for a
 * size table. So segments are looked at only when the sums differ. The loops
 * have no branches: the verifier follows each of them at every step.
 */
static __always_inline void tx_list_walk(struct tx_list *l,
					 struct sk_buff *first)
{
	__u32 i, mixed = 0, mapping = first->queue_mapping;
	struct sk_buff *s = first;

	for (i = 0; i < TX_WALK_BATCH && s; i++) {
		l->last = s;
		l->last_len = s->len;
		l->bytes += s->len;
		l->pkt_len += qdisc_pkt_len(s);
		mixed |= s->queue_mapping ^ mapping;
		s = s->next;
	}
	if (s)
		l->flags |= TX_FLAG_WALK_CUT;
	if (mixed)
		l->flags |= TX_FLAG_MIXED;
	l->packets = l->gso_segs = i;
	if (l->pkt_len == l->bytes)
		return;
	for (i = 0, s = first; i < TX_WALK_GSO && s; i++) {
		l->gso_segs += skb_more_segs(s);
		s = s->next;
	}
	if (s)
		l->flags |= TX_FLAG_WALK_CUT;
}

#endif
