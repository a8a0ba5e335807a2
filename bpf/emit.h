/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * How a record leaves: its number, its place in the ring, and what is lost.
 */
#ifndef TXTRACE_EMIT_H
#define TXTRACE_EMIT_H

/*
 * By hand, since a copy of constant size is a few loads and stores, and
 * bpf_ringbuf_output copies byte by byte where rep movsb is slow.
 */
#define TX_SUBMIT(type)                                                    \
	case sizeof(struct type):                                          \
		to = bpf_ringbuf_reserve(&events, sizeof(struct type), 0); \
		if (!to)                                                   \
			return false;                                      \
		__builtin_memcpy(to, from, sizeof(struct type));           \
		bpf_ringbuf_submit(to, flags);                             \
		return true

static __always_inline bool tx_submit(const void *from, __u32 size, __u64 flags)
{
	void *to;

	switch (size) {
		TX_SUBMIT(tx_direct);
		TX_SUBMIT(tx_complete);
		TX_SUBMIT(tx_dequeue);
	}
	barrier_var(size); /* the bound must be the last thing known of it */
	if (size > TX_RECORD_MAX)
		size = TX_RECORD_MAX;
	return !bpf_ringbuf_output(&events, (void *)from, size, flags);
}

/*
 * The number of a record on its CPU, taken before the ring is asked for room,
 * so a lost record leaves a gap. Before 5.12 (5ca419f2864a) no program can add
 * and see the sum in one step: a record says how many were lost before it, and
 * the reader, who gets them in their order, counts.
 */
static __always_inline __u32 tx_next(struct tx_cpu *c)
{
	if (!config.before_5_12)
		return __sync_fetch_and_add(&c->seq, 1);
	__sync_fetch_and_add(&c->seq, 1);
	return c->gone;
}

static __always_inline void tx_lost(struct tx_cpu *c, struct tx_count *n)
{
	n->lost++;
	if (config.before_5_12)
		__sync_fetch_and_add(&c->gone, 1);
}

/* Whether the reader is woken for the record of this number. */
static __always_inline __u64 tx_wake(__u32 seq)
{
	if ((seq & 63) == 0 &&
	    bpf_ringbuf_query(&events, BPF_RB_AVAIL_DATA) >= config.wake_bytes)
		return BPF_RB_FORCE_WAKEUP;
	return BPF_RB_NO_WAKEUP;
}

/*
 * How a record leaves: the one in the frame at this place, which is
 * closed. Until then the frame stays on the stack, out of reach of interrupts.
 * Global for the verifier's sake.
 */
__noinline int tx_emit(__u32 prog, __u32 at, __u32 kind, __u32 size)
{
	__u32 zero = 0;
	__u64 dur;
	struct tx_count *n;
	struct tx_header *h;
	struct tx_frame *f;
	struct tx_cpu *c;

	c = bpf_map_lookup_elem(&cpus, &zero);
	if (!c)
		return 0;
	n = &c->count[prog & (TX_PROGRAMS - 1)];
	f = tx_frame_at(c, at);
	h = &f->h;
	h->kind = kind;
	h->cpu = bpf_get_smp_processor_id();
	h->context = tx_context_now(c);
	h->depth = at;
	h->pid = bpf_get_current_pid_tgid();
	h->time = bpf_ktime_get_ns();
	if (f->begin) {
		dur = h->time - f->begin;
		if (dur >= 0xffffffff) {
			dur = 0xffffffff;
			h->flags |= TX_FLAG_DUR_LONG;
		}
		h->dur = dur;
	}
	h->seq = tx_next(c);
	if (tx_submit(h, size, tx_wake(c->seq)))
		n->submitted++;
	else
		tx_lost(c, n);
	c->top = at;
	return 0;
}

#endif
