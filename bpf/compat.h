/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * One getter per difference between kernels, each with the change it follows.
 * Per-CPU variables are reached by their symbol plus __per_cpu_offset; a weak
 * symbol is 0 where the kernel has none.
 */
#ifndef TXTRACE_COMPAT_H
#define TXTRACE_COMPAT_H

extern void __per_cpu_offset __ksym __weak;
extern void __preempt_count __ksym __weak;
extern void pcpu_hot __ksym __weak;
extern void softnet_data __ksym __weak;
extern void dev_tx_weight __ksym __weak;
extern void net_hotdata __ksym __weak;
extern void gro_normal_batch __ksym __weak;
extern void egress_needed_key __ksym __weak;

/*
 * Per-CPU variables by their BTF, which internal/probes puts in where the
 * kernel has it: their loads cost a tenth of a probe read.
 */
extern void __preempt_count___btf __ksym __weak;
extern void pcpu_hot___btf __ksym __weak;
extern void softnet_data___btf __ksym __weak;
volatile const bool count_typed = false;
volatile const bool softnet_typed = false;

static __always_inline __u64 cpu_base(__u32 cpu)
{
	__u64 off = 0;

	bpf_probe_read_kernel(&off, sizeof(off),
			      (void *)&__per_cpu_offset + (__u64)cpu * 8);
	return off;
}

#pragma clang attribute push(__attribute__((preserve_access_index)), \
			     apply_to = record)

/* 6.2 (d7b6d709a76a) moved the count into one hot cache line, 6.15 out again. */
struct pcpu_hot {
	int preempt_count;
};

/* 5.2 (97cdcf37b57e): xmit_more left the skb for softnet_data. */
struct softnet_data___v5_2 {
	struct {
		unsigned short recursion;
		unsigned char more;
	} xmit;
};

/* 5.19 (2f1e85b1aee4): a filter's choice of a queue is respected. */
struct softnet_data___v5_19 {
	struct {
		unsigned char skip_txqueue;
	} xmit;
};

/* 6.11 (ecefbc09e8ee) named the struct so that task_struct can have one too. */
struct netdev_xmit {
	unsigned short recursion;
	unsigned char more;
	unsigned char skip_txqueue;
};

struct softnet_data___v6_11 {
	struct netdev_xmit xmit;
};

struct task_struct___rt {
	struct netdev_xmit net_xmit;
};

/* 6.9 (26722dc74bf0) moved dev_tx_weight into it. */
struct net_hotdata {
	int gro_normal_batch; /* moved at the same time */
	int dev_tx_weight;
	int qdisc_max_burst; /* 6.19 (100dfa74cad9) */
};

/* 5.16 (50dc9a8572aa) gave both counts of a qdisc one type, and (29cbcd858283)
 * whether it is run a bit of state2.
 */
typedef struct {
	long v;
} tx_u64_stats;

struct gnet_stats_basic_sync {
	tx_u64_stats packets;
};

struct Qdisc___v5_16 {
	struct gnet_stats_basic_sync bstats;
	struct gnet_stats_basic_sync *cpu_bstats;
	unsigned long state2;
};

/* 6.9 (6025b9135f7a): BQL notices that nothing is completed for long. */
struct dql___v6_9 {
	unsigned long history[4];
};

/* 6.19 (100dfa74cad9) sends packets to a list before a qdisc's lock. */
typedef struct {
	long counter;
} tx_atomic_long;

struct Qdisc___v6_19 {
	tx_atomic_long defer_count;
};

/* Why a skb is dropped has a number since 5.17 (c504e5c2f964). */
enum skb_drop_reason {
	SKB_DROP_REASON_QDISC_BURST_DROP = 1,
};

/* What lies behind a qdisc has a name since its size may vary. */
struct Qdisc___priv {
	long privdata[0];
};

struct Qdisc___running {
	bool running;
};

/* 6.15 ("net: gro: decouple GRO from the NAPI layer") gave GRO a struct. */
struct napi_struct___before {
	struct list_head rx_list;
	int rx_count;
	unsigned int napi_id;
};

struct gro_node {
	struct list_head rx_list;
	unsigned int rx_count;
	unsigned int cached_napi_id;
};

struct napi_struct___v6_15 {
	struct gro_node gro;
};

/* 6.19: the queue that a socket keeps grows old
 * (net.core.txq_reselection_ms).
 */
struct netns_core___v6_19 {
	int sysctl_txq_reselection;
};

struct net___v6_19 {
	struct netns_core___v6_19 core;
};

struct sock___v6_19 {
	unsigned long sk_tx_queue_mapping_jiffies;
};

#pragma clang attribute pop

/* Whether sockets hold the time at which they were given their queue. */
static __always_inline bool sk_has_stamp(struct sock *sk)
{
	return bpf_core_field_exists(struct sock___v6_19,
				     sk_tx_queue_mapping_jiffies);
}

static __always_inline __u64 sk_stamp(struct sock *sk)
{
	return ((struct sock___v6_19 *)sk)->sk_tx_queue_mapping_jiffies;
}

/* After how many jiffies it is given another one, 0: never. */
static __always_inline int sk_reselect(struct sock *sk)
{
	return ((struct net___v6_19 *)sk->__sk_common.skc_net.net)
		->core.sysctl_txq_reselection;
}

static __always_inline int preempt_count_of(__u64 base)
{
	int count = 0;

	if (count_typed && bpf_core_type_exists(struct pcpu_hot)) {
		const struct pcpu_hot *hot = bpf_this_cpu_ptr(&pcpu_hot___btf);

		return hot->preempt_count;
	}
	if (count_typed)
		return *(int *)bpf_this_cpu_ptr(&__preempt_count___btf);
	if (bpf_core_type_exists(struct pcpu_hot))
		bpf_probe_read_kernel(
			&count, sizeof(count),
			(void *)&pcpu_hot + base +
				bpf_core_field_offset(struct pcpu_hot,
						      preempt_count));
	else
		bpf_probe_read_kernel(&count, sizeof(count),
				      (void *)&__preempt_count + base);
	return count;
}

/* The quota of a run that would begin now, 0 when it cannot be read. */
static __always_inline int tx_weight_now(void)
{
	void *p = (void *)&dev_tx_weight;
	int weight = 0;

	if (bpf_core_type_exists(struct net_hotdata))
		p = (void *)&net_hotdata +
		    bpf_core_field_offset(struct net_hotdata, dev_tx_weight);
	bpf_probe_read_kernel(&weight, sizeof(weight), p);
	return weight;
}

/* When a list of received skbs is full (net.core.gro_normal_batch). */
static __always_inline int rx_batch_now(void)
{
	void *p = (void *)&gro_normal_batch;
	int batch = 0;

	if (bpf_core_field_exists(struct net_hotdata, gro_normal_batch))
		p = (void *)&net_hotdata +
		    bpf_core_field_offset(struct net_hotdata, gro_normal_batch);
	bpf_probe_read_kernel(&batch, sizeof(batch), p);
	return batch;
}

/* Where in a NAPI the head of its list of received skbs lies. */
static __always_inline __u64 rx_list_offset(void)
{
	if (bpf_core_type_exists(struct gro_node))
		return bpf_core_field_offset(struct napi_struct___v6_15, gro) +
		       bpf_core_field_offset(struct gro_node, rx_list);
	return bpf_core_field_offset(struct napi_struct___before, rx_list);
}

/* What the kernel counts of the list with this head. */
static __always_inline __u32 rx_count_of(__u64 head)
{
	__u32 count = 0;

	if (bpf_core_type_exists(struct gro_node))
		head += bpf_core_field_offset(struct gro_node, rx_count) -
			bpf_core_field_offset(struct gro_node, rx_list);
	else
		head += bpf_core_field_offset(struct napi_struct___before,
					      rx_count) -
			bpf_core_field_offset(struct napi_struct___before,
					      rx_list);
	bpf_probe_read_kernel(&count, sizeof(count), (void *)head);
	return count;
}

static __always_inline __u32 rx_napi_id(__u64 head)
{
	__u32 id = 0;

	if (bpf_core_type_exists(struct gro_node))
		head += bpf_core_field_offset(struct gro_node, cached_napi_id) -
			bpf_core_field_offset(struct gro_node, rx_list);
	else
		head += bpf_core_field_offset(struct napi_struct___before,
					      napi_id) -
			bpf_core_field_offset(struct napi_struct___before,
					      rx_list);
	bpf_probe_read_kernel(&id, sizeof(id), (void *)head);
	return id;
}

/* What the kernel last told a driver: 0, 1 or TX_MORE_UNKNOWN. */
static __always_inline __u8 xmit_more(__u64 base)
{
	__u8 more = TX_MORE_UNKNOWN;
	__u64 off;

	/* PREEMPT_RT keeps it per task since 6.11 (ecefbc09e8ee). */
	if (bpf_core_field_exists(struct task_struct___rt, net_xmit)) {
		off = bpf_core_field_offset(struct task_struct___rt, net_xmit) +
		      bpf_core_field_offset(struct netdev_xmit, more);
		bpf_probe_read_kernel(&more, 1,
				      (void *)bpf_get_current_task() + off);
		return more;
	}
	if (softnet_typed && bpf_core_type_exists(struct netdev_xmit)) {
		const struct softnet_data___v6_11 *sd =
			bpf_this_cpu_ptr(&softnet_data___btf);

		return sd->xmit.more;
	}
	if (softnet_typed) {
		const struct softnet_data___v5_2 *sd =
			bpf_this_cpu_ptr(&softnet_data___btf);

		return sd->xmit.more;
	}
	if (!&softnet_data)
		return more;
	if (bpf_core_type_exists(struct netdev_xmit))
		off = bpf_core_field_offset(struct softnet_data___v6_11, xmit) +
		      bpf_core_field_offset(struct netdev_xmit, more);
	else
		off = bpf_core_field_offset(struct softnet_data___v5_2,
					    xmit.more);
	bpf_probe_read_kernel(&more, 1, (void *)&softnet_data + base + off);
	return more;
}

/* Whether a filter set the queue of what this CPU sends. Not on PREEMPT_RT
 * since 6.11, which keeps that per task.
 */
static __always_inline bool xmit_skips(__u64 base)
{
	__u8 skip = 0;
	__u64 off;

	if (!&softnet_data)
		return false;
	if (bpf_core_type_exists(struct netdev_xmit))
		off = bpf_core_field_offset(struct softnet_data___v6_11, xmit) +
		      bpf_core_field_offset(struct netdev_xmit, skip_txqueue);
	else
		off = bpf_core_field_offset(struct softnet_data___v5_19,
					    xmit.skip_txqueue);
	bpf_probe_read_kernel(&skip, 1, (void *)&softnet_data + base + off);
	return skip;
}

#endif
