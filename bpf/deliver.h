/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * What GRO does with the order of packets, and what becomes of a list on its
 * way up. Of a packet of a flow it is kept when it came to GRO, by its address;
 * of a flow, when the packet came that went up last. Both maps forget what is
 * old, which leaves nothing to compare.
 */
#define TX_WALK_UP 128 /* skbs of a list whose arrival is looked up */

struct tx_flow_key {
	__u64 napi;
	__u32 source[4];
	__u32 dest[4];
	__u32 ports;
	__u32 hash; /* GRO knows flows by it, too */
	__u16 vlan;
	__u16 proto;
	__u32 pad;
};

struct tx_arrival {
	__u64 time;
	struct tx_flow_key key;
};

struct {
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__uint(max_entries, 16384);
	__type(key, __u64); /* skb */
	__type(value, struct tx_arrival);
} arrivals SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__uint(max_entries, 16384);
	__type(key, struct tx_flow_key);
	__type(value, __u64); /* when the skb came that went up last */
} delivered SEC(".maps");

/* The list that is on its way up on this CPU, and a place to make a key. */
struct tx_up {
	__u64 head; /* 0: none */
	__u64 begin;
	__u64 early;
	__u64 late;
	__u32 skbs;
	__u32 passed;
	__u32 followed;
	__u32 overtaken;
	__u32 ifindex;
	__u32 netns;
	struct tx_arrival arrival;
};

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct tx_up);
} ups SEC(".maps");

static __always_inline struct tx_up *up_of_cpu(void)
{
	__u32 zero = 0;

	return bpf_map_lookup_elem(&ups, &zero);
}

#define TX_SKB_CHECKED 1 /* CHECKSUM_UNNECESSARY */
#define TX_ETH_IP 0x0008 /* as they lie in memory */
#define TX_ETH_IPV6 0xdd86

/*
 * The flow of a packet, false where GRO may not know it as one of that flow:
 * options, fragments, a checksum that nobody verified.
 */
static __always_inline bool flow_of(struct tx_flow_key *k, struct sk_buff *skb)
{
	__u8 ip[40] = {};
	void *data = skb->data;

	if (BPF_CORE_READ_BITFIELD(skb, ip_summed) != TX_SKB_CHECKED)
		return false;
	k->hash = skb->hash;
	k->vlan = skb->vlan_tci;
	if (skb->protocol == TX_ETH_IP) {
		if (bpf_probe_read_kernel(ip, 24, data) || ip[0] != 0x45 ||
		    ip[6] & 0xbf || ip[7])
			return false;
		k->proto = ip[9];
		__builtin_memcpy(&k->source[0], ip + 12, 4);
		__builtin_memcpy(&k->dest[0], ip + 16, 4);
		__builtin_memcpy(&k->ports, ip + 20, 4);
	} else if (skb->protocol == TX_ETH_IPV6) {
		if (bpf_probe_read_kernel(ip, 40, data) ||
		    bpf_probe_read_kernel(&k->ports, 4, data + 40))
			return false;
		k->proto = ip[6];
		__builtin_memcpy(k->source, ip + 8, 16);
		__builtin_memcpy(k->dest, ip + 24, 16);
	} else {
		return false;
	}
	return k->proto == 6 || k->proto == 17;
}

static __always_inline int arrived(struct tx_cpu *c, enum tx_program prog,
				   __u64 list, struct sk_buff *skb)
{
	struct tx_up *u = up_of_cpu();
	__u64 number;

	if (!c || !u)
		return 0;
	number = tx_number(c, prog, skb);
	tx_clear(u->arrival);
	u->arrival.key.napi = list;
	if (!device_wanted(skb->dev) || !flow_of(&u->arrival.key, skb)) {
		bpf_map_delete_elem(&arrivals, &number);
		return tx_filtered(c, prog);
	}
	u->arrival.time = bpf_ktime_get_ns();
	bpf_map_update_elem(&arrivals, &number, &u->arrival, BPF_ANY);
	return tx_noted(c, prog);
}

SEC("fentry/napi_gro_receive")
int BPF_PROG(arrive, struct napi_struct *napi, struct sk_buff *skb)
{
	struct tx_cpu *c = tx_enter(TX_PROG_arrive);

	if (!c)
		return 0;
	return arrived(c, TX_PROG_arrive,
		       tx_number(c, TX_PROG_arrive, napi) + rx_list_offset(),
		       skb);
}

/* 6.15 made the other one a wrapper of this. */
SEC("fentry/gro_receive_skb")
int BPF_PROG(arrive_node, struct gro_node *gro, struct sk_buff *skb)
{
	struct tx_cpu *c = tx_enter(TX_PROG_arrive_node);

	if (!c)
		return 0;
	return arrived(c, TX_PROG_arrive_node,
		       tx_number(c, TX_PROG_arrive_node, gro) +
			       bpf_core_field_offset(struct gro_node, rx_list),
		       skb);
}

/* Compares when a skb came with what went up last of its flow. */
static __always_inline void up_look(struct tx_up *u, __u64 skb)
{
	struct tx_arrival *a = bpf_map_lookup_elem(&arrivals, &skb);
	__u64 *last;

	if (!a || a->key.napi != u->head)
		return;
	last = bpf_map_lookup_elem(&delivered, &a->key);
	if (!last) {
		bpf_map_update_elem(&delivered, &a->key, &a->time, BPF_ANY);
	} else if (*last <= a->time) {
		*last = a->time;
		u->followed++;
	} else {
		u->overtaken++;
		u->early = a->time;
		u->late = *last;
	}
	bpf_map_delete_elem(&arrivals, &skb);
}

SEC("fentry/netif_receive_skb_list_internal")
int BPF_PROG(up_begin, struct list_head *head)
{
	struct tx_cpu *c = tx_enter(TX_PROG_up_begin);
	struct tx_up *u = up_of_cpu();
	__u64 p, dev = 0, net = 0;
	__u32 i, flags = 0;

	if (!c || !u)
		return 0;
	u->head = tx_number(c, TX_PROG_up_begin, head);
	u->skbs = u->passed = u->followed = u->overtaken = 0;
	u->early = u->late = 0;
	p = u->head;
	tx_read(p, p, list_head, next);
	if (!p || p == u->head)
		goto none;
	tx_read(dev, p, sk_buff, dev);
	tx_read(flags, dev, net_device, flags);
	tx_read(u->ifindex, dev, net_device, ifindex);
	tx_read(net, dev, net_device, nd_net.net);
	tx_read(u->netns, net, net, ns.inum);
	if (flags & IFF_LOOPBACK || !device_named(u->netns, u->ifindex))
		goto none;
	for (i = 0; i < TX_WALK_UP && p && p != u->head; i++) {
		up_look(u, p);
		tx_read(p, p, list_head, next);
	}
	u->skbs = i;
	if (p != u->head)
		goto none; /* too long to be followed */
	u->begin = bpf_ktime_get_ns();
	return tx_noted(c, TX_PROG_up_begin);
none:
	u->head = 0;
	return tx_filtered(c, TX_PROG_up_begin);
}

/*
 * What is left of it when packets were put off (timestamps) or went to other
 * CPUs (RPS), in parts where some may use reserved memory.
 */
SEC("fentry/__netif_receive_skb_list_core")
int BPF_PROG(up_core, struct list_head *head)
{
	struct tx_cpu *c = tx_enter(TX_PROG_up_core);
	struct tx_up *u = up_of_cpu();
	__u64 first, p;
	__u32 i;

	if (!c || !u)
		return 0;
	if (!u->head)
		return tx_filtered(c, TX_PROG_up_core);
	first = p = tx_number(c, TX_PROG_up_core, head);
	for (i = 0; i <= TX_WALK_UP; i++) {
		tx_read(p, p, list_head, next);
		if (!p || p == first)
			break;
	}
	u->passed += i;
	return tx_noted(c, TX_PROG_up_core);
}

SEC("fexit/netif_receive_skb_list_internal")
int BPF_PROG(up_end, struct list_head *head)
{
	struct tx_cpu *c = tx_enter(TX_PROG_up_end);
	struct tx_up *u = up_of_cpu();
	struct tx_delivery *r;
	__u64 number;
	int at;

	if (!c || !u)
		return 0;
	number = tx_number(c, TX_PROG_up_end, head);
	if (u->head != number)
		return tx_filtered(c, TX_PROG_up_end);
	u->head = 0;
	at = tx_frame_push(c, TX_FRAME_RECORD, NULL, u->begin);
	r = &tx_frame_at(c, at)->delivery;
	tx_clear(*r);
	r->h.ifindex = u->ifindex;
	r->h.netns = u->netns;
	r->h.txq = TX_NO_QUEUE;
	r->napi = tx_hidden(number - rx_list_offset());
	r->skbs = u->skbs;
	r->passed = u->passed;
	r->followed = u->followed;
	r->overtaken = u->overtaken;
	r->early = u->early;
	r->late = u->late;
	return tx_emit(TX_PROG_up_end, at, TX_DELIVERY, sizeof(*r));
}
