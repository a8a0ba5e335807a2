/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The records, as internal/event declares them: same names, same order, no
 * padding. internal/probes tests this file's BTF against those structs.
 */
#ifndef TXTRACE_EVENT_H
#define TXTRACE_EVENT_H

enum tx_kind {
	TX_RUN = 1,
	TX_DEQUEUE,
	TX_DIRECT,
	TX_HANDOVER,
	TX_COMPLETE,
	TX_THROTTLE,
	TX_WFREE,
	TX_RESUME,
	TX_NOTICE,
	TX_LEDGER,
	TX_QUIET,
	TX_PICK,
	TX_PICKS,
	TX_GRO,
	TX_SAMPLE,
	TX_SOJOURN,
	TX_PACKET,
	TX_SCHEDULE,
	TX_DELIVERY,
	TX_ENQUEUE,
	TX_FREE,
	TX_TRANSMIT,
	TX_STEER,
};

enum tx_context {
	TX_CONTEXT_TASK,
	TX_CONTEXT_SOFTIRQ,
	TX_CONTEXT_HARDIRQ,
	TX_CONTEXT_KSOFTIRQD,
};

enum tx_flag {
	TX_FLAG_PARTIAL = 1 << 0,
	TX_FLAG_WALK_CUT = 1 << 1,
	TX_FLAG_NESTED = 1 << 2,
	TX_FLAG_DUR_LONG = 1 << 3,
	TX_FLAG_TORN = 1 << 4,
	TX_FLAG_MIXED = 1 << 5,
	TX_FLAG_RESET = 1 << 6,
	TX_FLAG_PER_CPU = 1 << 7,
	/* Of a hand-over or a packet; those are never torn. */
	TX_FLAG_UNLOCKED = TX_FLAG_TORN,
};

enum tx_who {
	TX_WHO_UNKNOWN,
	TX_WHO_ENQUEUE,
	TX_WHO_BYPASS,
	TX_WHO_NET_TX_ACTION,
};

enum tx_from {
	TX_FROM_BYPASS,
	TX_FROM_DEQUEUE,
	TX_FROM_UNKNOWN,
};

enum tx_source {
	TX_SOURCE_SNAPSHOT,
	TX_SOURCE_NAPI,
	TX_SOURCE_HARDIRQ,
	TX_SOURCE_XMIT,
};

enum tx_rtx {
	TX_RTX_EMPTY,
	TX_RTX_ONE,
	TX_RTX_MORE,
};

enum tx_resume_source {
	TX_RESUME_HANDLER,
	TX_RESUME_RELEASE,
};

enum tx_maps {
	TX_MAPS_CPUS = 1 << 0,
	TX_MAPS_RXQS = 1 << 1,
	TX_MAPS_CHANGED = 1 << 2,
};

enum tx_held {
	TX_HELD_LOCK = 1 << 0,
	TX_HELD_RUN = 1 << 1,
	TX_HELD_BY_UNKNOWN = 1 << 7,
};

enum tx_life {
	TX_LIFE_FOLLOWED = 1 << 0,
	TX_LIFE_SHARED = 1 << 1,
	TX_LIFE_DEFERRED = 1 << 2,
	TX_LIFE_FREED = 1 << 3,
	TX_LIFE_ORPHANED = 1 << 4,
	TX_LIFE_DIRECT = 1 << 5,
};

enum tx_freed {
	TX_FREED_CONSUMED,
	TX_FREED_DROPPED,
	TX_FREED_BURST,
};

enum tx_sending {
	TX_SENDING_HEAD = 1 << 0,
	TX_SENDING_PROBES = 1 << 1,
	TX_SENDING_RACE = 1 << 2,
	TX_SENDING_SUMMED = 1 << 3,
};

enum tx_within {
	TX_WITHIN_POLL = 1 << 0,
	TX_WITHIN_DONE = 1 << 1,
};

enum tx_schedule_what {
	TX_SCHEDULE_LISTED,
	TX_SCHEDULE_SERVED,
	TX_SCHEDULE_RESET,
};

#define TX_NOTICE_WATCHDOG 3
#define TX_NOTICE_STALL 11
#define TX_NO_QUEUE 0xffff
#define TX_MORE_UNKNOWN 0xff
#define TX_FOREIGN_UNKNOWN 0xffffffff
#define TX_WEIGHT_UNSURE 0xffff
#define TX_HELD_UNKNOWN 0xffffffff
#define TX_DEFER_UNKNOWN 0xffffffffffffffff
#define TX_DEQUEUED_UNKNOWN 0xffffffffffffffff

struct tx_header {
	__u8 kind;
	__u8 context;
	__u8 depth;
	__u8 flags;
	__u16 cpu;
	__u16 txq;
	__u32 seq;
	__u32 dur;
	__u64 time;
	__u32 ifindex;
	__u32 netns;
	__u32 parent;
	__u32 pid;
};

struct tx_run {
	struct tx_header h;
	__u64 qdisc;
	__u8 qdisc_kind[16];
	__u32 qdisc_flags;
	__u32 handle;
	__u32 qlen_begin;
	__u32 qlen_end;
	__u32 packets;
	__u32 dequeues;
	__u32 empty;
	__u32 directs;
	__u32 last_packets;
	__u32 gso_qlen_end;
	__u32 num_queued_begin;
	__u32 num_compl_begin;
	__u32 adj_limit_begin;
	__u32 num_queued_end;
	__u32 num_compl_end;
	__u32 adj_limit_end;
	__u8 qdisc_state_begin;
	__u8 qdisc_state_end;
	__u8 txq_state_begin;
	__u8 txq_state_end;
	__u8 rescheduled;
	__u8 who;
	__u16 tx_weight;
};

struct tx_dequeue {
	struct tx_header h;
	__u64 qdisc;
	__u64 first;
	__u64 last;
	__u32 packets;
	__u32 walked;
	__u32 bytes;
	__u32 first_len;
	__u32 last_len;
	__u32 gso_segs;
	__u32 pkt_len;
	__u32 num_queued;
	__u32 num_compl;
	__u32 adj_limit;
	__u32 qlen;
	__u32 gso_qlen;
	__u32 bad_qlen;
	__u32 qdisc_flags;
	__u32 before;
	__u32 order;
	__u8 qdisc_state;
	__u8 txq_state;
	__u8 pad[6];
};

struct tx_hand {
	__u64 first;
	__u64 rest_first;
	__u32 packets;
	__u32 bytes;
	__u32 rest;
	__s32 rc;
	__s32 driver_rc;
	__u32 attempts;
	__u32 uncharged;
	__u32 busy;
	__u32 busy_charged;
	__u32 charged;
	__u32 owed_any;
	__u32 owed_drv;
	__u32 num_queued_begin;
	__u32 num_compl_begin;
	__u32 adj_limit_begin;
	__u32 num_queued_end;
	__u32 num_compl_end;
	__u32 adj_limit_end;
	__u32 foreign;
	__u8 txq_state_begin;
	__u8 txq_state_last;
	__u8 txq_state_end;
	__u8 more;
};

struct tx_handover {
	struct tx_header h;
	struct tx_hand hand;
};

struct tx_direct {
	struct tx_header h;
	__u64 qdisc;
	__u64 first;
	__u32 packets;
	__u32 bytes;
	__u32 gso_segs;
	__u32 pkt_len;
	__u32 qdisc_flags;
	__u32 handle;
	__u32 requeues_begin;
	__u32 requeues_end;
	__u32 gso_qlen_begin;
	__u32 gso_qlen_end;
	__u32 bad_qlen_end;
	__u32 handovers;
	__u8 validate;
	__u8 result;
	__u8 from;
	__u8 txq_state_begin;
	__u8 txq_state_end;
	__u8 qdisc_state_end;
	__u8 pad[2];
	struct tx_hand hand;
};

struct tx_complete {
	struct tx_header h;
	__u64 slack_start_time;
	__u64 jiffies;
	__u32 num_queued;
	__u32 adj_limit;
	__u32 last_obj_cnt;
	__u32 limit;
	__u32 num_completed;
	__u32 prev_ovlimit;
	__u32 prev_num_queued;
	__u32 prev_last_obj_cnt;
	__u32 lowest_slack;
	__u32 max_limit;
	__u32 min_limit;
	__u32 slack_hold_time;
	__u8 txq_state;
	__u8 source;
	__u8 pad[6];
};

struct tx_throttle {
	struct tx_header h;
	__u64 sock;
	__u64 birth;
	__u64 pacing_rate;
	__u32 wmem_begin;
	__u32 wmem_end;
	__u32 freed;
	__u32 truesize;
	__u32 limit_sysctl;
	__u32 tx_delay;
	__u8 pacing_status;
	__u8 pacing_shift;
	__u8 rtx;
	__u8 tsq_begin;
	__u8 tsq_end;
	__u8 overlap;
	__u8 queue_empty;
	__u8 factor;
};

struct tx_wfree {
	struct tx_header h;
	__u64 sock;
	__u64 birth;
	__u32 wmem_begin;
	__u32 wmem_end;
	__u32 truesize;
	__u8 tsq_begin;
	__u8 tsq_end;
	__u8 ksoftirqd;
	__u8 overlap;
};

struct tx_resume {
	struct tx_header h;
	__u64 sock;
	__u64 birth;
	__u32 wmem;
	__u8 tsq;
	__u8 source;
	__u8 pad[2];
};

struct tx_notice {
	struct tx_header h;
	__u64 before;
	__u64 after;
	__u8 name[32];
	__u8 subtype;
	__u8 pad[7];
};

struct tx_quiet {
	struct tx_header h;
	__u32 packets;
	__u32 bytes;
	__u32 handle;
	__u8 pad[4];
};

struct tx_pick {
	struct tx_header h;
	__u64 sock;
	__u64 birth;
	__u64 since;
	__u64 jiffies_begin;
	__u64 jiffies_end;
	__u64 stamp_begin;
	__u64 stamp_end;
	__u32 index;
	__u32 len;
	__u32 wmem;
	__u32 truesize;
	__u32 hash;
	__u32 sender_cpu;
	__u32 reselect;
	__u32 queues_begin;
	__u32 queues_end;
	__u16 before;
	__u16 after;
	__u16 mapping;
	__u16 rx_mapping;
	__u16 sk_rx;
	__u16 xps_rx;
	__u16 xps_cpu;
	__u16 last;
	__u8 ooo;
	__u8 full;
	__u8 route;
	__u8 rerouted;
	__u8 select;
	__u8 overlap;
	__u8 maps;
	__u8 classes;
	__u8 sub;
	__u8 stamped;
	__u8 exact;
	__u8 state;
};

/* Sums in a map of bpf/pick.h, too. */
struct tx_pick_sum {
	__u64 bytes;
	__u32 only;
	__u32 kept;
	__u32 driver;
	__u32 again;
	__u32 unkept;
	__u32 hashed;
	__u32 mapped;
	__u32 hinted;
};

struct tx_picks {
	struct tx_header h;
	struct tx_pick_sum sum;
};

struct tx_gro {
	struct tx_header h;
	__u64 napi;
	__u32 batch;
	__u32 rx_count;
	__u32 skbs;
	__u32 segs;
	__u32 last_segs;
	__u32 bytes;
	__u32 napi_id;
	__u32 held;
	__u16 rx_queue;
	__u8 within;
	__u8 pad[5];
};

struct tx_sample {
	struct tx_header h;
	__u64 qdisc;
	__u64 first;
	__u64 jiffies;
	__u64 trans_start;
	__u64 dequeued;
	__u32 qdisc_flags;
	__u32 handle;
	__u32 qlen;
	__u32 backlog;
	__u32 gso_qlen;
	__u32 bad_qlen;
	__u32 requeues;
	__u32 num_queued;
	__u32 num_compl;
	__u32 adj_limit;
	__u32 watchdog;
	__u8 txq_state;
	__u8 qdisc_state;
	__u8 held;
	__u8 device;
};

struct tx_sojourn {
	struct tx_header h;
	__u64 qdisc;
	__u32 len;
	__u32 one_in;
	__u32 given;
	__u32 replaced;
	__u32 gone;
	__u32 pad;
};

struct tx_packet {
	struct tx_header h;
	__u64 skb;
	__u64 jiffies_begin;
	__u64 jiffies_end;
	__u64 trans_start;
	__u32 len;
	__u32 segs;
	__s32 rc;
	__u32 num_queued_begin;
	__u32 num_queued_end;
	__u32 priority;
	__u32 order;
	__u32 turn;
	__u16 sender;
	__u8 tries;
	__u8 life;
	__u8 txq_state_begin;
	__u8 txq_state_end;
	__u8 more;
	__u8 pad;
};

struct tx_schedule {
	struct tx_header h;
	__u64 qdisc;
	__u32 qdisc_flags;
	__u32 handle;
	__u32 waiting;
	__u8 what;
	__u8 qdisc_state;
	__u8 txq_state;
	__u8 in_action;
	__u8 held;
	__u8 pad[7];
};

struct tx_delivery {
	struct tx_header h;
	__u64 napi;
	__u32 skbs;
	__u32 passed;
	__u32 followed;
	__u32 overtaken;
	__u64 early;
	__u64 late;
};

struct tx_enqueue {
	struct tx_header h;
	__u64 qdisc;
	__u64 skb;
	__u32 qdisc_flags;
	__u32 order;
	__u32 turn;
	__u16 sender;
	__u8 qdisc_state;
	__u8 txq_state;
};

struct tx_free {
	struct tx_header h;
	__u64 skb;
	__u64 defer;
	__u32 burst;
	__u32 turn;
	__u16 sender;
	__u8 how;
	__u8 life;
	__u8 tries;
	__u8 tcp;
	__u8 pad[2];
};

struct tx_transmit {
	struct tx_header h;
	__u64 sock;
	__u64 birth;
	__u64 pacing_rate;
	__u32 wmem;
	__u32 truesize;
	__u32 limit_sysctl;
	__u32 tx_delay;
	__u32 before;
	__u32 sent;
	__u32 freed;
	__u8 pacing_status;
	__u8 pacing_shift;
	__u8 rtx;
	__u8 sending;
};

struct tx_steer {
	struct tx_header h;
	__u32 index;
	__u32 queues_begin;
	__u32 queues_end;
	__u16 wanted;
	__u8 pad[2];
};

#endif
