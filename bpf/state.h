/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * What the programs keep for each CPU: what is under way there, and the ledger of
 * what they saw.
 */
#ifndef TXTRACE_STATE_H
#define TXTRACE_STATE_H

/*
 * One row of the ledger per program, then one for each thing that several
 * programs write: their calls count in their own rows, these records here.
 * User space reads the names from this enum's BTF.
 */
enum tx_program {
	TX_PROG_run_begin,
	TX_PROG_run_end,
	TX_PROG_dequeue,
	TX_PROG_direct_begin,
	TX_PROG_direct_end,
	TX_PROG_handover_begin,
	TX_PROG_handover_end,
	TX_PROG_attempt,
	TX_PROG_woken,
	TX_PROG_restarted,
	TX_PROG_schedule,
	TX_PROG_action_begin,
	TX_PROG_action_end,
	TX_PROG_complete_napi,
	TX_PROG_complete_hardirq,
	TX_PROG_complete_e1000e,
	TX_PROG_write_begin,
	TX_PROG_write_end,
	TX_PROG_wfree_begin,
	TX_PROG_wfree_end,
	TX_PROG_resume_handler,
	TX_PROG_resume_release,
	TX_PROG_pace_begin,
	TX_PROG_pace_end,
	TX_PROG_watchdog,
	TX_PROG_weight_begin,
	TX_PROG_weight_end,
	TX_PROG_pick_begin,
	TX_PROG_pick_end,
	TX_PROG_gro_list,
	TX_PROG_gro_shared,
	TX_PROG_poll_begin,
	TX_PROG_poll_end,
	TX_PROG_done_begin,
	TX_PROG_done_end,
	TX_PROG_stamp,
	TX_PROG_waited,
	TX_PROG_put_back,
	TX_PROG_sample,
	TX_PROG_give,
	TX_PROG_given,
	TX_PROG_scheduled,
	TX_PROG_served,
	TX_PROG_reset_begin,
	TX_PROG_reset_end,
	TX_PROG_stall,
	TX_PROG_arrive,
	TX_PROG_arrive_node,
	TX_PROG_up_begin,
	TX_PROG_up_core,
	TX_PROG_up_end,
	TX_PROG_queued,
	TX_PROG_enqueued,
	TX_PROG_dropped,
	TX_PROG_released,
	TX_PROG_orphaned,
	TX_PROG_alone_begin,
	TX_PROG_alone_end,
	TX_PROG_transmit_begin,
	TX_PROG_transmit_end,
	TX_PROG_steer_set,
	TX_PROG_steer_queued,
	TX_PROG_steer_enqueued,
	TX_PROG_steer_run,
	TX_PROG_steer_direct,
	TX_PROG_steer_handed,
	TX_PROG_snapshot,
	TX_PROG_quiet,
	TX_PROG_sojourn,
	TX_PROG_unplaced,
	TX_PROG_MAX,
};

/* Writes of the sysctls that make the quota of a run, begun and ended. */
__u32 weight_begun;
__u32 weight_ended;

enum tx_frame_type {
	TX_FRAME_RECORD, /* a record that is no span, while it is made */
	TX_FRAME_RUN,
	TX_FRAME_DIRECT,
	TX_FRAME_HANDOVER,
	TX_FRAME_WFREE,
	TX_FRAME_PACE,
};

/* The batch a run dequeued last. */
struct tx_batch {
	__u64 first;
	__u32 packets;
	__u32 bytes;
	__u32 gso_segs;
	__u32 pkt_len;
};

/* What a run began with. Most runs end without a batch and need no frame. */
struct tx_begun {
	__u64 qdisc; /* 0: none */
	__u64 time;
	__u32 qlen;
	__u32 num_queued;
	__u32 num_compl;
	__u32 adj_limit;
	__u32 weight_ended;
	__u8 txq_state;
	__u8 qdisc_state;
	__u8 bypass; /* follows a bypass send */
	__u8 pad;
};

/* Bypass sends of a queue that went as they should, not yet recorded. */
struct tx_quiet_sum {
	__u64 begin;
	__u32 slot;
	__u32 handle;
	__u32 packets;
	__u32 bytes;
};

#define TX_QUIETS 8 /* queues per CPU at a time, a power of two */
#define TX_QUIET_MAX 64 /* sends per record */
#define TX_QUIET_NS 100000000ULL /* and their time */

/* What a hand-over remembers between the driver's attempts. */
struct tx_attempts {
	__u64 first; /* 0: no hand-over is under way */
	__u64 dev;
	__u64 txq;
	__u64 begin; /* 0: not seen, or no stack is taken of it */
	__u32 num_queued;
	__u32 woken; /* as tx_queue's, when the last one was over */
	__u32 restarted;
	__u32 pad;
};

/* The state of a queue at a moment. */
struct tx_now {
	__u32 num_queued;
	__u32 num_compl;
	__u32 adj_limit;
	__u8 state;
	__u8 pad[3];
};

/* How far a bypass send has come. */
enum tx_stage {
	TX_STAGE_BEGUN,
	TX_STAGE_HANDED, /* dev_hard_start_xmit began */
	TX_STAGE_TRIED, /* the driver answered */
	TX_STAGE_BACK, /* dev_hard_start_xmit ended, all as it should */
};

/* A bypass send of one plain packet, see bypass.h. */
struct tx_bypass {
	__u64 first; /* 0: none is under way */
	__u64 task;
	__u64 begin;
	__u64 handed; /* when, where its stack is taken */
	__u32 parent;
	__u32 slot;
	__u32 bytes;
	__u32 qdisc_flags;
	__u32 requeues;
	__u32 gso_qlen;
	__u32 foreign;
	__s32 rc;
	__u8 stage;
	__u8 txq_state;
	__u8 validate;
	__u8 unlocked;
	struct tx_now begun; /* the hand-over */
	struct tx_now ended;
};

struct tx_frame {
	__u64 task;
	__u64 key;
	__u64 begin; /* 0: no span */
	__u32 type;
	__u32 slot; /* of the queue, see queue.h; 0: none */
	union {
		struct tx_run run;
		struct tx_direct direct;
		struct tx_handover handover;
		struct tx_dequeue dequeue;
		struct tx_complete complete;
		struct tx_throttle throttle;
		struct tx_wfree wfree;
		struct tx_resume resume;
		struct tx_notice notice;
		struct tx_quiet quiet;
		struct tx_pick pick;
		struct tx_gro gro;
		struct tx_sample sample;
		struct tx_sojourn sojourn;
		struct tx_packet packet;
		struct tx_schedule schedule;
		struct tx_delivery delivery;
		struct tx_enqueue enqueue;
		struct tx_free free;
		struct tx_transmit transmit;
		struct tx_steer steer;
		struct tx_header h;
	};
	union {
		struct {
			struct tx_batch last;
			__u32 weight_ended; /* when it began */
		}; /* run */
		struct tx_attempts at; /* direct, hand-over */
		__u64 begun; /* wfree: calls begun on the socket */
	};
};

#define TX_RECORD_MAX sizeof(struct tx_direct) /* the largest */

/* In the address of a stray skb: of a run that is filtered, not one unseen. */
#define TX_STRAY_FILTERED 1ULL

#define TX_FRAMES 16
#define TX_PROGRAMS 128 /* a power of two */

_Static_assert(TX_PROG_MAX <= TX_PROGRAMS, "a row per program");

struct tx_count {
	__u64 seen;
	__u64 submitted;
	__u64 filtered;
	__u64 lost;
	__u64 nested; /* calls in the middle of one, before 5.12 */
	__u64 pointer; /* see tx_number */
};

struct tx_cpu {
	__u32 seq; /* records begun */
	__u32 top; /* open frames */
	__u32 gone; /* records lost, before 5.12 */
	__u32 pad;
	struct tx_begun begun; /* the run that has dequeued nothing yet */
	__u64 base; /* where this CPU's variables lie */
	__u64 bypass; /* qdisc whose bypass send ended last and said go on */
	__u64 action_task; /* on PREEMPT_RT */
	__u32 action; /* open frames when net_tx_action began, plus 1; 0: outside */
	__u64 stray; /* head dequeued outside any known run */
	struct tx_bypass send;
	__u32 hint; /* a slot that may be the queue's */
	__u64 orphans; /* ends without a begin */
	__u64 overflow; /* begins without room for a frame */
	struct tx_quiet_sum quiets[TX_QUIETS];
	struct tx_count count[TX_PROGRAMS];
	struct tx_frame frames[TX_FRAMES];
};

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct tx_cpu);
} cpus SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_RINGBUF);
	__uint(max_entries, 1 << 25);
} events SEC(".maps");

/* What a frame's record starts from; c->top may not move in between. */
#define tx_clear(what) __builtin_memset(&(what), 0, sizeof(what))

/*
 * Counts the call; NULL while not armed.
 *
 * A program that interrupts itself is skipped, and counted, by the kernel since
 * 5.12 (ca06f55b9002). Before, it is here: a call that has begun and is not
 * accounted for is under way. An interrupt may count between the two accesses to
 * seen, so they are one.
 */
static __always_inline struct tx_cpu *tx_enter(enum tx_program prog)
{
	struct tx_cpu *c = bpf_map_lookup_elem(&cpus, (void *)&gate);
	struct tx_count *n;

	if (!c)
		return NULL;
	n = &c->count[prog];
	if (!config.before_5_12) {
		n->seen++;
		return c;
	}
	if (n->seen != n->submitted + n->filtered + n->lost) {
		__sync_fetch_and_add(&n->nested, 1);
		return NULL;
	}
	__sync_fetch_and_add(&n->seen, 1);
	return c;
}

static __always_inline int tx_filtered(struct tx_cpu *c, enum tx_program prog)
{
	c->count[prog].filtered++;
	return 0;
}

static __always_inline int tx_noted(struct tx_cpu *c, enum tx_program prog)
{
	c->count[prog].submitted++;
	return 0;
}

/*
 * A pointer as a number: the verifier forbids arithmetic on pointers but not
 * on what was read back from a map. A program never nests on itself, so a
 * place per program is its own.
 */
static __always_inline __u64 tx_number(struct tx_cpu *c, enum tx_program prog,
				       const void *p)
{
	volatile __u64 *place = &c->count[prog].pointer;

	*place = (__u64)p;
	return *place;
}

/*
 * An address as the file shows it: a keyed bijection that one known pair does
 * not give away. 0 stays 0; the multiplier is odd, or 0 for raw addresses.
 */
static __always_inline __u64 tx_hidden(__u64 address)
{
	if (!address || !config.address_mul)
		return address;
	address = (address ^ config.address_xor) * config.address_mul;
	address ^= address >> 32;
	return address * config.address_mul;
}

static __always_inline __u64 tx_address(struct tx_cpu *c, enum tx_program prog,
					const void *p)
{
	return tx_hidden(tx_number(c, prog, p));
}

/* Of what is known by its address only. */
#define tx_read(to, base, type, field) \
	bpf_probe_read_kernel(         \
		&(to), sizeof(to),     \
		(void *)(base) + bpf_core_field_offset(struct type, field))

static __always_inline bool tx_ksoftirqd(void)
{
	struct task_struct *t;
	char name[16] = {};

	if (config.before_5_12) {
		bpf_get_current_comm(name, sizeof(name));
		return name[0] == 'k' && name[1] == 's' && name[2] == 'o' &&
		       name[3] == 'f' && name[4] == 't' && name[9] == '/';
	}
	t = bpf_get_current_task_btf();
	return t->comm[0] == 'k' && t->comm[1] == 's' && t->comm[2] == 'o' &&
	       t->comm[3] == 'f' && t->comm[4] == 't' && t->comm[9] == '/';
}

static __always_inline __u64 tx_base(struct tx_cpu *c)
{
	if (!c->base)
		c->base = cpu_base(bpf_get_smp_processor_id());
	return c->base;
}

static __always_inline __u8 tx_context_now(struct tx_cpu *c)
{
	int count = preempt_count_of(tx_base(c));

	if (count & HARDIRQ_MASK)
		return TX_CONTEXT_HARDIRQ;
	if (count & SOFTIRQ_OFFSET)
		return tx_ksoftirqd() ? TX_CONTEXT_KSOFTIRQD :
					TX_CONTEXT_SOFTIRQ;
	return TX_CONTEXT_TASK;
}

#endif
