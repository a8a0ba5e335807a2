/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * What user space sets before the programs are loaded, and the gate by which it
 * starts and stops them.
 */
#ifndef TXTRACE_CONFIG_H
#define TXTRACE_CONFIG_H

#define TX_FILTER_DEVICES 16
#define TX_FILTER_NETNS 8
#define TX_FILTER_QDISCS 4
#define TX_FILTER_QUEUES 1024

struct tx_device_id {
	__u32 netns;
	__u32 ifindex;
};

/* A list of length 0 filters nothing. */
struct tx_config {
	__u64 address_xor;
	__u64 address_mul;
	__u64 wake_bytes; /* wake the reader when this much is waiting */
	__u64 cgroup; /* id of the one whose sockets are wanted, 0: of all */
	__u64 pidns_dev; /* the namespace that pid counts in */
	__u64 pidns_ino;
	__u32 skb_truesize; /* SKB_TRUESIZE(1) */
	__u32 ndevices;
	__u32 nnetns;
	__u32 nqdiscs;
	__u32 nqueues;
	__u32 weighs; /* the programs weight_begin and weight_end are there */
	__u32 rt; /* PREEMPT_RT: tasks interleave on a CPU */
	__u32 pid; /* of the process whose sockets are wanted, 0: of all */
	__u32 before_5_12; /* see tx_next */
	__u32 pad;
	struct tx_device_id devices[TX_FILTER_DEVICES];
	__u32 netns[TX_FILTER_NETNS];
	__u8 qdiscs[TX_FILTER_QDISCS][16];
	__u64 queues[TX_FILTER_QUEUES / 64]; /* a bit per queue */
};

volatile const struct tx_config config = {};

/*
 * The key of a CPU's state: 0 from when every program is attached until before
 * the first detaches, else 1, for which there is none.
 */
volatile __u32 gate = 1;

#endif
