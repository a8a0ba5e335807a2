/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The kernel's types, cut down to the fields that are used. Offsets come from
 * the running kernel's BTF; order and neighbours here mean nothing.
 */
#ifndef TXTRACE_KERNEL_H
#define TXTRACE_KERNEL_H

#define TCQ_F_ONETXQUEUE 0x10
#define TCQ_F_CPUSTATS 0x20
#define TCQ_F_NOLOCK 0x100

#define QUEUE_STATE_DRV_XOFF (1 << 0)
#define QUEUE_STATE_STACK_XOFF (1 << 1)

#define NETDEV_TX_BUSY 0x10

#define TC_ACT_RECLASSIFY 1
#define TC_ACT_PIPE 3

#define IFF_LOOPBACK 0x8

#define XPS_CPUS 0
#define XPS_RXQS 1
#define XPS_MAPS 2

#define TCP_TIME_WAIT 6
#define TCP_NEW_SYN_RECV 12

#define TSQ_THROTTLED (1 << 0)
#define TSQ_QUEUED (1 << 1)
#define TCP_TSQ_DEFERRED (1 << 2)

#define HARDIRQ_MASK 0x000f0000
#define SOFTIRQ_OFFSET 0x00000100

#pragma clang attribute push(__attribute__((preserve_access_index)), \
			     apply_to = record)

typedef struct {
	int counter;
} atomic_t;

struct refcount_struct {
	atomic_t refs;
};

struct task_struct {
	char comm[16];
};

struct ns_common {
	unsigned int inum;
};

struct netns_ipv4 {
	unsigned char sysctl_tcp_mtu_probing;
	int sysctl_tcp_limit_output_bytes;
};

struct net {
	struct ns_common ns;
	struct netns_ipv4 ipv4;
};

typedef struct {
	struct net *net;
} possible_net_t;

struct dql {
	unsigned int num_queued;
	unsigned int adj_limit;
	unsigned int last_obj_cnt;
	unsigned int limit;
	unsigned int num_completed;
	unsigned int prev_ovlimit;
	unsigned int prev_num_queued;
	unsigned int prev_last_obj_cnt;
	unsigned int lowest_slack;
	unsigned long slack_start_time;
	unsigned int max_limit;
	unsigned int min_limit;
	unsigned int slack_hold_time;
};

struct net_device;
struct Qdisc;

struct net_device_ops {
	void *ndo_select_queue;
};

struct xps_map {
	unsigned int len;
	unsigned short queues[];
};

struct xps_dev_maps {
	unsigned int nr_ids;
	short num_tc;
	struct xps_map *attr_map[];
};

struct netdev_queue {
	struct net_device *dev;
	struct Qdisc *qdisc;
	int xmit_lock_owner;
	unsigned long trans_start;
	unsigned long state;
	struct dql dql;
};

struct net_device {
	unsigned long state;
	int watchdog_timeo;
	int ifindex;
	unsigned int flags;
	struct netdev_queue *_tx;
	unsigned int real_num_tx_queues;
	short num_tc;
	const struct net_device_ops *netdev_ops;
	unsigned char prio_tc_map[16];
	struct xps_dev_maps *xps_maps[XPS_MAPS];
	possible_net_t nd_net;
};

struct list_head {
	struct list_head *next;
};

struct napi_struct {
	struct net_device *dev;
};

struct napi_gro_cb {
	unsigned short count;
};

/* Of the module e1000e. */
struct e1000_adapter {
	struct net_device *netdev;
};

struct e1000_ring {
	struct e1000_adapter *adapter;
};

struct sk_buff;

struct rb_node {
	struct rb_node *rb_right;
	struct rb_node *rb_left;
};

struct rb_root {
	struct rb_node *rb_node;
};

struct sk_buff_head {
	struct sk_buff *next;
	unsigned int qlen;
};

struct sock_common {
	possible_net_t skc_net;
	unsigned char skc_state;
	unsigned short skc_tx_queue_mapping;
	unsigned short skc_rx_queue_mapping;
};

struct dst_entry;

struct sock {
	struct sock_common __sk_common;
	struct refcount_struct sk_wmem_alloc;
	struct dst_entry *sk_dst_cache;
	unsigned long sk_tsq_flags;
	struct rb_root tcp_rtx_queue;
	struct sk_buff_head sk_write_queue;
	unsigned long sk_pacing_rate;
	unsigned int sk_pacing_status;
	unsigned char sk_pacing_shift;
};

struct tcp_sock {
	unsigned int tcp_tx_delay;
};

struct skb_shared_info {
	unsigned short gso_segs;
};

struct sk_buff {
	struct sk_buff *next; /* first, as is the list_head in its place */
	struct sock *sk;
	struct net_device *dev;
	unsigned int len;
	unsigned short queue_mapping;
	unsigned char ip_summed : 2;
	unsigned char ooo_okay : 1;
	unsigned char tc_at_ingress : 1;
	unsigned short protocol;
	unsigned char *data;
	unsigned short vlan_tci;
	unsigned int hash;
	unsigned int sender_cpu;
	unsigned int priority;
	char cb[48];
	unsigned int end;
	unsigned char *head;
	unsigned int truesize;
	struct refcount_struct users;
	void (*destructor)(struct sk_buff *skb);
};

struct Qdisc_ops {
	char id[16];
};

struct gnet_stats_queue {
	unsigned int qlen;
	unsigned int backlog;
	unsigned int requeues;
};

/* The first word says whether it is held: 0 is free. Not on PREEMPT_RT. */
struct spinlock {
	unsigned int word;
};

struct qdisc_skb_head {
	struct sk_buff *head;
	unsigned int qlen;
	struct spinlock lock;
};

struct Qdisc {
	unsigned int flags;
	unsigned int handle;
	const struct Qdisc_ops *ops;
	struct netdev_queue *dev_queue;
	struct gnet_stats_queue *cpu_qstats;
	struct sk_buff_head gso_skb;
	struct qdisc_skb_head q;
	struct gnet_stats_queue qstats;
	unsigned long state;
	struct sk_buff_head skb_bad_txq;
	struct spinlock seqlock;
};

struct ptr_ring {
	int consumer_head;
	void **queue;
};

struct skb_array {
	struct ptr_ring ring;
};

struct pfifo_fast_priv {
	struct skb_array q[3];
};

#pragma clang attribute pop

/*
 * The second half of struct dql as it lies in memory since 3.3, so that it can
 * be copied at once. internal/probes checks the order against the kernel's
 * BTF before it offers the fact dql.snapshot. Not relocated on purpose.
 */
struct tx_dql_half {
	__u32 limit;
	__u32 num_completed;
	__u32 prev_ovlimit;
	__u32 prev_num_queued;
	__u32 prev_last_obj_cnt;
	__u32 lowest_slack;
	__u64 slack_start_time;
	__u32 max_limit;
	__u32 min_limit;
	__u32 slack_hold_time;
	__u32 pad;
};

#endif
