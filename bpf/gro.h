/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Batched receive: a list of skbs that GRO is done with goes up to the
 * protocols (netif_receive_skb_list_internal). What the kernel counted of it
 * lies behind the list's head and is not reset yet.
 */

/* What this CPU is in the middle of, by address; 0: nothing. */
struct tx_rx {
	__u64 shared; /* list of a caller of netif_receive_skb_list */
	__u64 polled; /* NAPI in __napi_poll */
	__u64 done; /* NAPI in napi_complete_done */
	__u32 held; /* rx_count of the polled NAPI when that began */
	__u32 pad;
};

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct tx_rx);
} rx_now SEC(".maps");

#define TX_WALK_RX 512 /* skbs of a list; the batch is 8 by default */

static __always_inline struct tx_rx *rx_of_cpu(void)
{
	__u32 zero = 0;

	return bpf_map_lookup_elem(&rx_now, &zero);
}

/* A list that is no NAPI's: nothing counts it. The same call hands it on. */
SEC("fentry/netif_receive_skb_list")
int BPF_PROG(gro_shared, struct list_head *head)
{
	struct tx_cpu *c = tx_enter(TX_PROG_gro_shared);
	struct tx_rx *rx = rx_of_cpu();

	if (!c || !rx)
		return 0;
	rx->shared = tx_number(c, TX_PROG_gro_shared, head);
	return tx_noted(c, TX_PROG_gro_shared);
}

SEC("fentry/__napi_poll")
int BPF_PROG(poll_begin, struct napi_struct *napi)
{
	struct tx_cpu *c = tx_enter(TX_PROG_poll_begin);
	struct tx_rx *rx = rx_of_cpu();

	if (!c || !rx)
		return 0;
	rx->polled = tx_number(c, TX_PROG_poll_begin, napi);
	rx->held = rx_count_of(rx->polled + rx_list_offset());
	return tx_noted(c, TX_PROG_poll_begin);
}

SEC("fexit/__napi_poll")
int BPF_PROG(poll_end)
{
	struct tx_cpu *c = tx_enter(TX_PROG_poll_end);
	struct tx_rx *rx = rx_of_cpu();

	if (!c || !rx)
		return 0;
	rx->polled = 0;
	return tx_noted(c, TX_PROG_poll_end);
}

SEC("fentry/napi_complete_done")
int BPF_PROG(done_begin, struct napi_struct *napi)
{
	struct tx_cpu *c = tx_enter(TX_PROG_done_begin);
	struct tx_rx *rx = rx_of_cpu();

	if (!c || !rx)
		return 0;
	rx->done = tx_number(c, TX_PROG_done_begin, napi);
	return tx_noted(c, TX_PROG_done_begin);
}

SEC("fexit/napi_complete_done")
int BPF_PROG(done_end)
{
	struct tx_cpu *c = tx_enter(TX_PROG_done_end);
	struct tx_rx *rx = rx_of_cpu();

	if (!c || !rx)
		return 0;
	rx->done = 0;
	return tx_noted(c, TX_PROG_done_end);
}

/* The skbs of a list, into its record; false when they are of no device that
 * is wanted. The first one names the device.
 */
static __always_inline bool rx_walk(struct tx_gro *r, struct list_head *head)
{
	struct list_head *p = head->next;
	struct net_device *dev = NULL;
	struct net *net = NULL;
	__u32 i, len, flags = 0;
	struct sk_buff *s;
	__u16 segs, mapping = 0;

	s = (void *)p;
	bpf_probe_read_kernel(&dev, sizeof(dev), &s->dev);
	bpf_probe_read_kernel(&mapping, sizeof(mapping), &s->queue_mapping);
	bpf_probe_read_kernel(&flags, sizeof(flags), &dev->flags);
	bpf_probe_read_kernel(&r->h.ifindex, sizeof(r->h.ifindex),
			      &dev->ifindex);
	bpf_probe_read_kernel(&net, sizeof(net), &dev->nd_net.net);
	bpf_probe_read_kernel(&r->h.netns, sizeof(r->h.netns), &net->ns.inum);
	if (flags & IFF_LOOPBACK || !device_named(r->h.netns, r->h.ifindex))
		return false;
	r->rx_queue = mapping - 1; /* 0 is none, and so is TX_NO_QUEUE */
	for (i = 0; i < TX_WALK_RX && p != head; i++) {
		s = (void *)p;
		len = segs = 0;
		bpf_probe_read_kernel(&len, sizeof(len), &s->len);
		bpf_probe_read_kernel(
			&segs, sizeof(segs),
			(void *)s->cb + bpf_core_field_offset(
						struct napi_gro_cb, count));
		segs += !segs; /* without GRO none are counted */
		r->bytes += len;
		r->segs += segs;
		r->last_segs = segs;
		p = p->next;
	}
	r->skbs = i;
	if (p != head)
		r->h.flags |= TX_FLAG_WALK_CUT;
	return true;
}

SEC("fentry/netif_receive_skb_list_internal")
int BPF_PROG(gro_list, struct list_head *head)
{
	struct tx_cpu *c = tx_enter(TX_PROG_gro_list);
	struct tx_rx *rx = rx_of_cpu();
	__u64 number, napi;
	struct tx_gro *r;
	int at;

	if (!c || !rx)
		return 0;
	number = tx_number(c, TX_PROG_gro_list, head);
	if (rx->shared == number) {
		rx->shared = 0;
		return tx_filtered(c, TX_PROG_gro_list);
	}
	at = tx_frame_push(c, TX_FRAME_RECORD, NULL, 0);
	r = &tx_frame_at(c, at)->gro;
	tx_clear(*r);
	r->h.txq = TX_NO_QUEUE;
	r->batch = rx_batch_now();
	r->rx_count = rx_count_of(number);
	if (!rx_walk(r, head)) {
		tx_frame_drop(c, at);
		return tx_filtered(c, TX_PROG_gro_list);
	}
	napi = number - rx_list_offset();
	r->napi_id = rx_napi_id(number);
	r->held = TX_HELD_UNKNOWN;
	if (rx->polled == napi) {
		r->within |= TX_WITHIN_POLL;
		r->held = rx->held;
	}
	if (rx->done == napi)
		r->within |= TX_WITHIN_DONE;
	r->napi = tx_address(c, TX_PROG_gro_list, (void *)napi);
	return tx_emit(TX_PROG_gro_list, at, TX_GRO, sizeof(*r));
}
