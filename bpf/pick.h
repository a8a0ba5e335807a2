/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The choice of a transmit queue, one netdev_core_pick_tx. Most leave things
 * as they are and are counted per queue; user space reads the counts. A record
 * is written when a socket is met, when what it has cached changes, and
 * whenever the choice is not the one that is expected here. What the kernel
 * should have chosen is judged by user space: here it only decides what may be
 * counted.
 *
 * What changes between the two hooks lies in a place per CPU of its own:
 * bottom halves are off, and netconsole, which may come in between, leaves
 * another skb there, which is noticed.
 */

/* A socket's own count of its picks, to know those that overlap. */
struct tx_flow {
	__u64 birth;
	__u64 begun;
	__u64 done;
	__u64 since; /* when its queue was chosen last, or it was met */
	__u64 told; /* when its last record was written */
	__u64 looked; /* jiffies at which its age was last looked at */
	__u64 dev; /* of its last pick */
	__u16 queue; /* that it gave */
	__u16 pad[3];
};

/*
 * Not a part of struct tx_sock: that begins with the first tcp_write_xmit, of
 * TCP sockets only.
 */
struct {
	__uint(type, BPF_MAP_TYPE_SK_STORAGE);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__type(key, int);
	__type(value, struct tx_flow);
} flows SEC(".maps");

/* A pick under way. */
struct tx_picking {
	__u64 skb; /* 0: none */
	__u64 begun; /* picks of the socket begun before */
	__u64 jiffies;
	__u64 stamp;
	__u64 route;
	__u64 maps[XPS_MAPS];
	__u32 queues;
	__u16 before;
	__u16 rx_mapping;
	__u8 ooo;
	__u8 overlap;
	__u8 met; /* the socket was not known before */
	__u8 mapped; /* maps is valid: it looked as if one would be asked */
	__u8 pad[4];
};

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct tx_picking);
} picking SEC(".maps");

/* Picks that are counted, by the slot of their queue. */
struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, TX_QUEUES);
	__type(key, __u32);
	__type(value, struct tx_pick_sum);
} pick_sums SEC(".maps");

volatile const __u32 possible_cpus = 0;

/* A socket whose queue was kept so long is told of again. */
#define TX_PICK_OLD_NS 1000000000ULL

static __always_inline __u64 xps_maps(struct net_device *dev, __u32 type)
{
	__u64 maps = 0;

	if (bpf_core_field_exists(dev->xps_maps))
		bpf_probe_read_kernel(&maps, sizeof(maps),
				      &dev->xps_maps[type]);
	return maps;
}

/*
 * Whether traffic classes have a part in the choice. A priority keeps its class
 * after the classes are gone, and then XPS has no answer for it. Before "net:
 * move the xps maps to an array" (5.13) they lay elsewhere: not looked at.
 */
static __always_inline bool
has_classes(struct net_device *dev, struct sk_buff *skb, struct tx_picking *p)
{
	__u8 class = 0;
	short n = 1, m = 1;

	if (!bpf_core_field_exists(dev->xps_maps) || dev->num_tc)
		return true;
	bpf_probe_read_kernel(&class, 1, &dev->prio_tc_map[skb->priority & 15]);
	if (p->maps[XPS_CPUS])
		bpf_probe_read_kernel(
			&n, sizeof(n),
			&((struct xps_dev_maps *)p->maps[XPS_CPUS])->num_tc);
	if (p->maps[XPS_RXQS])
		bpf_probe_read_kernel(
			&m, sizeof(m),
			&((struct xps_dev_maps *)p->maps[XPS_RXQS])->num_tc);
	return class || n != 1 || m != 1;
}

/* The queue that a map names for an index, whether the device has it or not. */
static __always_inline __u16 xps_entry(__u64 number, __u32 index, __u32 hash)
{
	struct xps_dev_maps *maps = (void *)number;
	struct xps_map *map = NULL;
	__u32 nr = 0, len = 0;
	__u16 queue = TX_NO_QUEUE;

	if (!maps)
		return queue;
	bpf_probe_read_kernel(&nr, sizeof(nr), &maps->nr_ids);
	if (index >= nr)
		return queue;
	bpf_probe_read_kernel(&map, sizeof(map),
			      (void *)maps +
				      bpf_core_field_offset(struct xps_dev_maps,
							    attr_map) +
				      (__u64)index * sizeof(map));
	if (!map)
		return queue;
	bpf_probe_read_kernel(&len, sizeof(len), &map->len);
	bpf_probe_read_kernel(
		&queue, sizeof(queue),
		(void *)map + bpf_core_field_offset(struct xps_map, queues) +
			((__u64)hash * len >> 32) * sizeof(queue));
	return queue;
}

/* Whether it looks as if XPS or the hash will be asked. */
static __always_inline bool pick_asks(struct tx_picking *p, struct sock *sk)
{
	if (p->before == TX_NO_QUEUE || p->before >= p->queues || p->ooo)
		return true;
	return sk && sk_full(sk) && sk_has_stamp(sk) &&
	       p->jiffies - p->stamp >= (__u64)sk_reselect(sk);
}

/* Where sockets are chosen, a packet without one is nobody's. */
static __always_inline bool pick_wanted(struct tx_cpu *c, struct sock *sk)
{
	if (!config.cgroup && !config.pid)
		return true;
	return sk && sk_full(sk) && sock_owned(c, sk);
}

SEC("fentry/netdev_core_pick_tx")
int BPF_PROG(pick_begin, struct net_device *dev, struct sk_buff *skb)
{
	struct tx_cpu *c = tx_enter(TX_PROG_pick_begin);
	struct sock *sk = skb->sk;
	struct tx_picking *p;
	struct tx_flow *f;
	__u32 zero = 0;

	if (!c)
		return 0;
	p = bpf_map_lookup_elem(&picking, &zero);
	if (!p || !pick_wanted(c, sk))
		return tx_filtered(c, TX_PROG_pick_begin);
	p->skb = tx_number(c, TX_PROG_pick_begin, skb);
	p->begun = p->stamp = p->route = 0;
	p->overlap = p->met = p->mapped = 0;
	p->before = TX_NO_QUEUE;
	p->queues = dev->real_num_tx_queues;
	p->rx_mapping = skb->queue_mapping;
	p->ooo = BPF_CORE_READ_BITFIELD(skb, ooo_okay);
	p->jiffies = bpf_jiffies64();
	if (sk) {
		p->before = sk->__sk_common.skc_tx_queue_mapping;
		if (sk_full(sk) && sk_has_stamp(sk))
			p->stamp = sk_stamp(sk);
	}
	if (p->queues != 1 && pick_asks(p, sk)) {
		p->maps[XPS_CPUS] = xps_maps(dev, XPS_CPUS);
		p->maps[XPS_RXQS] = xps_maps(dev, XPS_RXQS);
		p->mapped = 1;
	}
	if (!sk || !sk_full(sk))
		return tx_noted(c, TX_PROG_pick_begin);
	p->route = (__u64)sk->sk_dst_cache;
	f = bpf_sk_storage_get(&flows, sk, 0, BPF_SK_STORAGE_GET_F_CREATE);
	if (!f)
		return tx_noted(c, TX_PROG_pick_begin);
	if (!f->birth) {
		f->birth = f->since = bpf_ktime_get_ns();
		p->met = 1;
	}
	p->begun = __sync_fetch_and_add(&f->begun, 1);
	p->overlap = p->begun != f->done;
	return tx_noted(c, TX_PROG_pick_begin);
}

/* The queue that XPS and the hash give, TX_NO_QUEUE when that is not known. */
static __always_inline __u32 pick_by_flow(struct tx_pick *r)
{
	__u32 rx = r->rx_mapping;

	if (r->classes || r->sub || r->maps & TX_MAPS_CHANGED)
		return TX_NO_QUEUE;
	if (r->xps_rx < r->queues_end)
		return r->xps_rx;
	if (r->xps_cpu < r->queues_end)
		return r->xps_cpu;
	if (rx)
		return r->queues_end ? (rx - 1) % r->queues_end : 0;
	return (__u64)r->hash * r->queues_end >> 32;
}

/* Counts a pick that asked XPS and the hash, or the driver. */
static __always_inline void pick_count(struct tx_pick_sum *n, struct tx_pick *r)
{
	if (r->select) {
		n->driver++;
		return;
	}
	if (r->before == r->index)
		n->again++;
	else
		n->unkept++;
	if (pick_by_flow(r) == TX_NO_QUEUE) {
		/* not held against anything */
	} else if (r->maps & TX_MAPS_CPUS) {
		n->mapped++;
	} else if (!r->maps) {
		n->hashed++;
		n->hinted += r->rx_mapping != 0;
	}
}

/* Whether a steady pick that was not a socket's queue went as it should. */
static __always_inline bool pick_plain(struct tx_pick *r)
{
	__u32 want;

	if (r->select)
		return true;
	if (r->before != r->index &&
	    (r->before != TX_NO_QUEUE || (r->full && r->route)))
		return false;
	if (r->maps & TX_MAPS_CPUS && r->sender_cpu - 1 >= possible_cpus)
		return false;
	want = pick_by_flow(r);
	return want == TX_NO_QUEUE || want == r->index;
}

/* What is looked at of every pick. */
struct tx_picked {
	__u64 stamp;
	__u32 index;
	__u32 queues;
	__u16 mapping;
	__u16 after;
	bool exact;
	bool select;
	bool steady; /* a queue that the device has, and nothing changed */
	bool kept; /* the socket's */
};

static __always_inline void pick_look(struct tx_picked *l, struct tx_picking *p,
				      struct net_device *dev,
				      struct sk_buff *skb, struct sock *sk,
				      struct netdev_queue *txq)
{
	__u64 off = (__u64)txq - (__u64)dev->_tx;
	__u64 size = bpf_core_type_size(struct netdev_queue);

	l->index = off / size;
	l->exact = l->index * size == off;
	l->queues = dev->real_num_tx_queues;
	l->mapping = skb->queue_mapping;
	l->after = sk ? sk->__sk_common.skc_tx_queue_mapping : TX_NO_QUEUE;
	l->stamp = sk && sk_has_stamp(sk) && sk_full(sk) ? sk_stamp(sk) : 0;
	l->select = dev->netdev_ops->ndo_select_queue != NULL;
	l->steady = l->exact && l->index < l->queues &&
		    l->queues == p->queues && l->mapping == l->index &&
		    l->after == p->before && l->stamp == p->stamp;
	l->kept = p->before == l->index && !p->ooo && !l->select;
}

/* What the record says of the socket. */
static __always_inline void pick_socket(struct tx_cpu *c, struct tx_pick *r,
					struct tx_picking *p, struct sock *sk)
{
	__u64 route;

	if (bpf_core_field_exists(sk->__sk_common.skc_rx_queue_mapping))
		r->sk_rx = sk->__sk_common.skc_rx_queue_mapping;
	r->state = sk->__sk_common.skc_state;
	if (!sk_full(sk))
		return;
	r->full = 1;
	r->sock = tx_address(c, TX_PROG_pick_end, sk);
	route = (__u64)sk->sk_dst_cache;
	r->route = route != 0;
	r->rerouted = route != p->route;
	r->wmem = sk->sk_wmem_alloc.refs.counter;
	r->stamped = sk_has_stamp(sk);
	if (r->stamped)
		r->reselect = sk_reselect(sk);
}

/* And of the maps, whose entries are looked up as the kernel does. */
static __always_inline void pick_maps(struct tx_pick *r, struct tx_picking *p,
				      struct net_device *dev)
{
	__u64 cpus = xps_maps(dev, XPS_CPUS), rxqs = xps_maps(dev, XPS_RXQS);

	if (!p->mapped) {
		p->maps[XPS_CPUS] = cpus;
		p->maps[XPS_RXQS] = rxqs;
	} else if (p->maps[XPS_CPUS] != cpus || p->maps[XPS_RXQS] != rxqs) {
		r->maps |= TX_MAPS_CHANGED;
	}
	if (p->maps[XPS_CPUS]) {
		r->maps |= TX_MAPS_CPUS;
		r->xps_cpu = xps_entry(p->maps[XPS_CPUS], r->sender_cpu - 1,
				       r->hash);
	}
	if (p->maps[XPS_RXQS]) {
		r->maps |= TX_MAPS_RXQS;
		if (r->sk_rx != TX_NO_QUEUE)
			r->xps_rx =
				xps_entry(p->maps[XPS_RXQS], r->sk_rx, r->hash);
	}
}

/* What is known of the flow. */
struct tx_known {
	__u64 birth;
	__u64 since;
	__u16 last;
	bool overlap;
	bool tell; /* it is time for a record */
};

/* Follows the flow. The clock is read once in a jiffy, or when it matters. */
static __always_inline void pick_flow(struct tx_known *k, struct tx_picked *l,
				      struct tx_picking *p, struct sock *sk,
				      __u64 dev)
{
	bool chosen = !l->kept || l->stamp != p->stamp;
	struct tx_flow *f;
	__u64 now;

	f = bpf_sk_storage_get(&flows, sk, 0, 0);
	if (!f)
		return;
	__sync_fetch_and_add(&f->done, 1);
	k->overlap = p->overlap || f->begun != p->begun + 1;
	k->birth = f->birth;
	k->since = f->since;
	if (f->dev == dev)
		k->last = f->queue;
	f->dev = dev;
	f->queue = l->index;
	k->tell = p->met;
	if (!chosen && !p->met && f->looked == p->jiffies)
		return;
	f->looked = p->jiffies;
	now = bpf_ktime_get_ns();
	if (chosen)
		f->since = now;
	if (now - k->since >= TX_PICK_OLD_NS && now - f->told >= TX_PICK_OLD_NS)
		k->tell = true;
	if (k->tell)
		f->told = now;
}

SEC("fexit/netdev_core_pick_tx")
int BPF_PROG(pick_end, struct net_device *dev, struct sk_buff *skb,
	     struct net_device *sub, struct netdev_queue *txq)
{
	struct tx_cpu *c = tx_enter(TX_PROG_pick_end);
	struct tx_known k = { .last = TX_NO_QUEUE };
	struct sock *sk = skb->sk;
	struct tx_picked l = {};
	struct tx_pick_sum *n;
	struct tx_picking *p;
	struct tx_pick *r;
	__u32 zero = 0, slot;
	int at;

	if (!c)
		return 0;
	if (!pick_wanted(c, sk))
		return tx_filtered(c, TX_PROG_pick_end);
	p = bpf_map_lookup_elem(&picking, &zero);
	if (!p || p->skb != tx_number(c, TX_PROG_pick_end, skb)) {
		c->orphans++;
		return tx_filtered(c, TX_PROG_pick_end);
	}
	p->skb = 0;
	pick_look(&l, p, dev, skb, sk, txq);
	if (sk && sk_full(sk))
		pick_flow(&k, &l, p, sk, (__u64)dev);
	slot = queue_slot(c, TX_PROG_pick_end, dev, l.exact ? txq : dev->_tx);
	if (!slot)
		return tx_filtered(c, TX_PROG_pick_end);
	n = bpf_map_lookup_elem(&pick_sums, &slot);
	if (!n)
		return tx_filtered(c, TX_PROG_pick_end);
	if (l.steady && !k.tell && (l.kept || l.queues == 1)) {
		n->bytes += skb->len;
		if (l.queues == 1)
			n->only++;
		else
			n->kept++;
		return tx_noted(c, TX_PROG_pick_end);
	}
	at = tx_frame_push(c, TX_FRAME_RECORD, NULL, 0);
	r = &tx_frame_at(c, at)->pick;
	tx_clear(*r);
	r->birth = k.birth;
	r->since = k.since;
	r->last = k.last;
	r->overlap = k.overlap;
	r->jiffies_begin = p->jiffies;
	r->jiffies_end = bpf_jiffies64();
	r->stamp_begin = p->stamp;
	r->stamp_end = l.stamp;
	r->index = l.index;
	r->exact = l.exact;
	r->mapping = l.mapping;
	r->queues_begin = p->queues;
	r->queues_end = l.queues;
	r->before = p->before;
	r->after = l.after;
	r->ooo = p->ooo;
	r->rx_mapping = p->rx_mapping;
	r->select = l.select;
	r->sub = sub != NULL;
	r->len = skb->len;
	r->truesize = skb->truesize;
	r->hash = skb->hash;
	if (bpf_core_field_exists(skb->sender_cpu))
		r->sender_cpu = skb->sender_cpu;
	r->sk_rx = r->xps_rx = r->xps_cpu = TX_NO_QUEUE;
	if (sk)
		pick_socket(c, r, p, sk);
	pick_maps(r, p, dev);
	r->classes = has_classes(dev, skb, p);
	if (l.steady && !k.tell && pick_plain(r)) {
		n->bytes += r->len;
		pick_count(n, r);
		tx_frame_drop(c, at);
		return tx_noted(c, TX_PROG_pick_end);
	}
	tx_queue_name(&r->h, slot);
	r->h.txq = r->index;
	return tx_emit(TX_PROG_pick_end, at, TX_PICK, sizeof(*r));
}
