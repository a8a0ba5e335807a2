/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * How a qdisc comes to be run, or is emptied: whoever sets SCHED puts it on
 * this CPU's list (__netif_reschedule, which all callers reach, where
 * __netif_schedule is inlined into most), net_tx_action takes that list, and
 * qdisc_reset throws away what is in it.
 */

/* Qdiscs that this CPU has on its list, as far as was seen. */
struct tx_listed {
	__u64 reset; /* of which a reset is under way; 0: none */
	__u64 begin;
	__u32 waiting;
	__u8 state; /* of the qdisc that is reset, when that began */
	__u8 held;
	__u8 pad[2];
};

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct tx_listed);
} listed SEC(".maps");

static __always_inline struct tx_listed *listed_of_cpu(void)
{
	__u32 zero = 0;

	return bpf_map_lookup_elem(&listed, &zero);
}

/* Begins the record of a qdisc that is listed or emptied. */
static __always_inline struct tx_schedule *
schedule_open(struct tx_cpu *c, enum tx_program prog, int at, struct Qdisc *q,
	      __u32 slot)
{
	struct tx_schedule *r = &tx_frame_at(c, at)->schedule;

	tx_clear(*r);
	tx_queue_name(&r->h, slot);
	r->qdisc = tx_address(c, prog, q);
	r->qdisc_flags = q->flags;
	r->handle = q->handle;
	return r;
}

SEC("fentry/__netif_reschedule")
int BPF_PROG(scheduled, struct Qdisc *q)
{
	struct tx_cpu *c = tx_enter(TX_PROG_scheduled);
	struct tx_listed *l = listed_of_cpu();
	struct tx_schedule *r;
	__u32 slot;
	int at;

	if (!c || !l)
		return 0;
	slot = run_slot(c, TX_PROG_scheduled, q);
	if (!slot)
		return tx_filtered(c, TX_PROG_scheduled);
	l->waiting++;
	at = tx_frame_push(c, TX_FRAME_RECORD, NULL, 0);
	r = schedule_open(c, TX_PROG_scheduled, at, q, slot);
	if (q->flags & TCQ_F_ONETXQUEUE)
		r->txq_state = q->dev_queue->state;
	else
		r->h.txq = TX_NO_QUEUE;
	r->what = TX_SCHEDULE_LISTED;
	r->waiting = l->waiting;
	r->qdisc_state = q->state;
	r->in_action = c->action != 0;
	return tx_emit(TX_PROG_scheduled, at, TX_SCHEDULE, sizeof(*r));
}

/* It takes the whole list, so one record stands for all that were on it. */
SEC("fentry/net_tx_action")
int BPF_PROG(served)
{
	struct tx_cpu *c = tx_enter(TX_PROG_served);
	struct tx_listed *l = listed_of_cpu();
	struct tx_schedule *r;
	int at;

	if (!c || !l)
		return 0;
	if (!l->waiting)
		return tx_filtered(c, TX_PROG_served);
	at = tx_frame_push(c, TX_FRAME_RECORD, NULL, 0);
	r = &tx_frame_at(c, at)->schedule;
	tx_clear(*r);
	r->h.txq = TX_NO_QUEUE;
	r->what = TX_SCHEDULE_SERVED;
	r->waiting = l->waiting;
	l->waiting = 0;
	return tx_emit(TX_PROG_served, at, TX_SCHEDULE, sizeof(*r));
}

/* Only lockless ones: what others are emptied under their lock. */
SEC("fentry/qdisc_reset")
int BPF_PROG(reset_begin, struct Qdisc *q)
{
	struct tx_cpu *c = tx_enter(TX_PROG_reset_begin);
	struct tx_listed *l = listed_of_cpu();
	__u32 lock = 0;

	if (!c || !l)
		return 0;
	l->reset = 0;
	if (!(q->flags & TCQ_F_NOLOCK))
		return tx_filtered(c, TX_PROG_reset_begin);
	l->reset = tx_number(c, TX_PROG_reset_begin, q);
	l->begin = bpf_ktime_get_ns();
	l->state = q->state;
	tx_read(lock, l->reset, Qdisc, seqlock);
	if (config.rt)
		l->held = TX_HELD_BY_UNKNOWN; /* a lock is no word there */
	else
		l->held = lock ? TX_HELD_RUN : 0;
	return tx_noted(c, TX_PROG_reset_begin);
}

SEC("fexit/qdisc_reset")
int BPF_PROG(reset_end, struct Qdisc *q)
{
	struct tx_cpu *c = tx_enter(TX_PROG_reset_end);
	struct tx_listed *l = listed_of_cpu();
	struct tx_schedule *r;
	__u32 slot;
	int at;

	if (!c || !l)
		return 0;
	slot = run_slot(c, TX_PROG_reset_end, q);
	if (!slot || l->reset != tx_number(c, TX_PROG_reset_end, q))
		return tx_filtered(c, TX_PROG_reset_end);
	l->reset = 0;
	at = tx_frame_push(c, TX_FRAME_RECORD, NULL, l->begin);
	r = schedule_open(c, TX_PROG_reset_end, at, q, slot);
	r->what = TX_SCHEDULE_RESET;
	r->qdisc_state = l->state;
	r->held = l->held;
	return tx_emit(TX_PROG_reset_end, at, TX_SCHEDULE, sizeof(*r));
}
