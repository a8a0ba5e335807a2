/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Which sockets are wanted: by their namespace, by the cgroup they were made
 * in, or by a process that sends on them.
 */
#ifndef TXTRACE_SOCK_H
#define TXTRACE_SOCK_H

#pragma clang attribute push(__attribute__((preserve_access_index)), \
			     apply_to = record)

struct kernfs_node {
	__u64 id;
};

struct cgroup {
	int level;
	struct kernfs_node *kn;
	struct cgroup *ancestors[]; /* the first is the root, the last itself */
};

/* 6.1 (7f203bc89eb6) made pointers of them. */
struct cgroup___v4_20 {
	int level;
	__u64 ancestor_ids[];
};

struct sock_cgroup_data {
	struct cgroup *cgroup;
};

struct sock___cgroup {
	struct sock_cgroup_data sk_cgrp_data;
};

#pragma clang attribute pop

/* Sockets that the process of --filter-pid has sent on. */
struct {
	__uint(type, BPF_MAP_TYPE_SK_STORAGE);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__type(key, int);
	__type(value, __u8);
} owned SEC(".maps");

static __always_inline __u32 sk_netns(struct sock *sk)
{
	return sk->__sk_common.skc_net.net->ns.inum;
}

/* No request and no TIME_WAIT socket: those end with their sock_common. */
static __always_inline bool sk_full(struct sock *sk)
{
	__u8 state = sk->__sk_common.skc_state;

	return state != TCP_TIME_WAIT && state != TCP_NEW_SYN_RECV;
}

#define TX_CGROUPS 32 /* levels that are looked at */

/* The id of the group's ancestor at a level that it has. */
static __always_inline __u64 ancestor_id(struct cgroup *group, __u64 level)
{
	struct cgroup *at = NULL;
	__u64 id = 0;

	if (bpf_core_field_exists(group->ancestors)) {
		bpf_probe_read_kernel(
			&at, sizeof(at),
			(void *)group +
				bpf_core_field_offset(struct cgroup,
						      ancestors) +
				level * sizeof(at));
		return BPF_CORE_READ(at, kn, id);
	}
	bpf_probe_read_kernel(
		&id, sizeof(id),
		(void *)group +
			bpf_core_field_offset(struct cgroup___v4_20,
					      ancestor_ids) +
			level * sizeof(id));
	return id;
}

/*
 * Whether the cgroup of config is the socket's, or one above it. From a cgroup
 * namespace user space cannot tell at which level it is.
 */
static __always_inline bool sock_grouped(struct sock *sk)
{
	struct sock___cgroup *s = (struct sock___cgroup *)sk;
	struct cgroup *group;
	__u64 level;

	if (!bpf_core_field_exists(s->sk_cgrp_data))
		return false;
	group = s->sk_cgrp_data.cgroup;
	if (!group)
		return false;
	for (level = 0; level < TX_CGROUPS && level <= group->level; level++)
		if (ancestor_id(group, level) == config.cgroup)
			return true;
	return false;
}

/* Whether the process of config has sent on it, now or before. */
static __always_inline bool sock_sent_on(struct tx_cpu *c, struct sock *sk)
{
	struct bpf_pidns_info me = {};

	if (tx_context_now(c) == TX_CONTEXT_TASK &&
	    !bpf_get_ns_current_pid_tgid(config.pidns_dev, config.pidns_ino,
					 &me, sizeof(me)) &&
	    me.tgid == config.pid)
		return bpf_sk_storage_get(&owned, sk, 0,
					  BPF_SK_STORAGE_GET_F_CREATE);
	return bpf_sk_storage_get(&owned, sk, 0, 0);
}

/* Whether its owner is wanted. Full sockets only. */
static __always_inline bool sock_owned(struct tx_cpu *c, struct sock *sk)
{
	return (!config.cgroup || sock_grouped(sk)) &&
	       (!config.pid || sock_sent_on(c, sk));
}

static __always_inline bool sock_wanted(struct tx_cpu *c, struct sock *sk)
{
	return (!config.nnetns || netns_wanted(sk_netns(sk))) &&
	       sock_owned(c, sk);
}

#endif
