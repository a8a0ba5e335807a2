/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The stack of open frames. A frame is a kernel function under way: pushed at its
 * begin, matched at its end by (task, type, key). Tasks, softirqs and hard
 * interrupts of a CPU nest, so a stack per CPU serves all; the task is part of the
 * match because PREEMPT_RT interleaves tasks.
 */
#ifndef TXTRACE_FRAME_H
#define TXTRACE_FRAME_H

/* The identity that children of a frame carry as their parent. */
static __always_inline __u32 tx_frame_id(const struct tx_frame *f)
{
	return (__u32)f->begin ?: 1;
}

/* Another device's hand-over comes: marks the frame it interrupts, if any. */
static __always_inline void frame_nested(struct tx_frame *f)
{
	if ((f->type == TX_FRAME_DIRECT || f->type == TX_FRAME_HANDOVER) &&
	    f->at.first)
		f->h.flags |= TX_FLAG_NESTED;
}

static __always_inline struct tx_frame *tx_frame_at(struct tx_cpu *c, int at)
{
	return &c->frames[at & (TX_FRAMES - 1)];
}

/* The innermost open frame of the current task, NULL when there is none. */
static __always_inline struct tx_frame *tx_frame_top(struct tx_cpu *c)
{
	struct tx_frame *f;

	if (!c->top)
		return NULL;
	f = tx_frame_at(c, c->top - 1);
	return f->task == bpf_get_current_task() ? f : NULL;
}

/*
 * Opens a frame, of a span that began at begin unless that is 0, and returns
 * its place. An interrupt between the two accesses
 * to top has closed its own frames again before it returns.
 */
static __always_inline int tx_frame_push(struct tx_cpu *c,
					 enum tx_frame_type type,
					 const void *key, __u64 begin)
{
	struct tx_frame *f;
	__u32 at = c->top;

	if (at >= TX_FRAMES) {
		/* Ends were missed: start over rather than stay blind. */
		c->overflow++;
		at = 0;
	}
	c->top = at + 1;
	f = tx_frame_at(c, at);
	f->task = bpf_get_current_task();
	f->key = (__u64)key;
	f->type = type;
	f->slot = 0;
	f->begin = begin;
	return at;
}

/*
 * Where on the stack the frame lies, -1 when it is not there. Global, so that
 * the verifier walks the stack once and not on every path of every program.
 */
__noinline int tx_frame_search(__u32 type, __u64 key)
{
	__u64 task = bpf_get_current_task();
	const struct tx_frame *f;
	__u32 zero = 0, i, at;
	struct tx_cpu *c;

	c = bpf_map_lookup_elem(&cpus, &zero);
	if (!c)
		return -1;
	at = c->top;
	for (i = 0; i < TX_FRAMES; i++) {
		if (--at >= TX_FRAMES)
			return -1;
		f = tx_frame_at(c, at);
		if (f->type == type && f->key == key && f->task == task)
			return at;
	}
	return -1;
}

/* Where the frame lies that ends now, -1 when its begin was not seen. */
static __always_inline int tx_frame_find(struct tx_cpu *c, enum tx_program prog,
					 enum tx_frame_type type,
					 const void *key)
{
	__u64 number = tx_number(c, prog, key);
	struct tx_frame *f = tx_frame_top(c);

	if (f && f->type == type && f->key == number)
		return c->top - 1;
	return tx_frame_search(type, number);
}

/* Closes a frame, and all that was left open above it, without a record. */
static __always_inline int tx_frame_drop(struct tx_cpu *c, int at)
{
	c->top = at;
	return 0;
}

#endif
