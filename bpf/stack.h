/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Which calls of the kernel lead to a moment of the path: stacks, each with how
 * often, and with packets, bytes and time where the moment has them. They are
 * added up here and read once, at the end. A stack that finds no room, or whose
 * place another one has, is counted as lost.
 */
#ifndef TXTRACE_STACK_H
#define TXTRACE_STACK_H

/* Names are read from this enum's BTF. */
enum tx_moment {
	TX_MOMENT_handover, /* the end of dev_hard_start_xmit */
	TX_MOMENT_doorbell, /* of one that rang for one packet */
	TX_MOMENT_requeue, /* the end of a sch_direct_xmit that put back */
	TX_MOMENT_quota, /* the end of a __qdisc_run that scheduled itself */
	TX_MOMENT_schedule, /* the begin of __netif_schedule */
	TX_MOMENT_throttle, /* the end of tcp_write_xmit of a socket held back */
	TX_MOMENT_MAX,
};

#define TX_STACKS 16384 /* of all moments: places of a hash */
#define TX_STACK_DEPTH 127

struct tx_stack_key {
	__u32 moment;
	__u32 stack;
};

struct tx_stack_sum {
	__u64 count;
	__u64 packets;
	__u64 bytes;
	__u64 ns;
};

/* Of all stacks of a moment, found or not. */
struct tx_stack_seen {
	__u64 seen;
	__u64 lost;
};

struct {
	__uint(type, BPF_MAP_TYPE_STACK_TRACE);
	__uint(max_entries, TX_STACKS);
	__uint(key_size, sizeof(__u32));
	__uint(value_size, TX_STACK_DEPTH * sizeof(__u64));
} stacks SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_HASH);
	__uint(max_entries, TX_STACKS);
	__type(key, struct tx_stack_key);
	__type(value, struct tx_stack_sum);
} stack_sums SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, TX_MOMENT_MAX);
	__type(key, __u32);
	__type(value, struct tx_stack_seen);
} stack_seen SEC(".maps");

/* The moments that are wanted, a bit each. */
volatile const __u32 stack_moments = 0;

static __always_inline bool stack_wanted(enum tx_moment moment)
{
	return stack_moments & 1U << moment;
}

static __noinline int stack_add(void *ctx, __u32 moment,
				const struct tx_stack_sum *of)
{
	struct tx_stack_key key = { .moment = moment };
	struct tx_stack_sum *sum, none = {};
	struct tx_stack_seen *n;
	long id;

	n = bpf_map_lookup_elem(&stack_seen, &moment);
	if (!n)
		return 0;
	/* Added in one step: an interrupt may add, too. */
	__sync_fetch_and_add(&n->seen, 1);
	id = bpf_get_stackid(ctx, &stacks, 0);
	if (id < 0)
		goto lost;
	key.stack = id;
	sum = bpf_map_lookup_elem(&stack_sums, &key);
	if (!sum) {
		bpf_map_update_elem(&stack_sums, &key, &none, BPF_NOEXIST);
		sum = bpf_map_lookup_elem(&stack_sums, &key);
		if (!sum)
			goto lost;
	}
	__sync_fetch_and_add(&sum->count, 1);
	__sync_fetch_and_add(&sum->packets, of->packets);
	__sync_fetch_and_add(&sum->bytes, of->bytes);
	__sync_fetch_and_add(&sum->ns, of->ns);
	return 0;
lost:
	__sync_fetch_and_add(&n->lost, 1);
	return 0;
}

/* A hand-over that ends, which rang for one packet or for none or more. */
static __always_inline void stack_handover(void *ctx, __u32 packets,
					   __u32 bytes, __u64 begin, bool lone)
{
	struct tx_stack_sum sum = {
		.packets = packets,
		.bytes = bytes,
		.ns = bpf_ktime_get_ns() - begin,
	};

	if (stack_wanted(TX_MOMENT_handover))
		stack_add(ctx, TX_MOMENT_handover, &sum);
	if (lone && stack_wanted(TX_MOMENT_doorbell))
		stack_add(ctx, TX_MOMENT_doorbell, &sum);
}

/* What was put back is what gso_skb holds. */
static __always_inline void stack_requeue(void *ctx, struct Qdisc *q,
					  __u32 packets, __u64 begin)
{
	struct sk_buff *skb = q->gso_skb.next;
	struct tx_stack_sum sum = { .packets = packets };
	__u32 i, n = q->gso_skb.qlen;

	for (i = 0; i < TX_WALK_BATCH && i < n && skb; i++) {
		sum.bytes += skb->len;
		skb = skb->next;
	}
	if (begin)
		sum.ns = bpf_ktime_get_ns() - begin;
	stack_add(ctx, TX_MOMENT_requeue, &sum);
}

#endif
