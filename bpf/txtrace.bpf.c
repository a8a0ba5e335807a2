// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * The programs, in the order of the transmit path. One translation unit, one
 * object that loads on every kernel.
 */
#include <linux/bpf.h>
#include <linux/types.h>
#include <stdbool.h>
#include <stddef.h>
#include <bpf/bpf_helpers.h>
#include <bpf/bpf_core_read.h>
#include <bpf/bpf_tracing.h>

#include "event.h"
#include "kernel.h"
#include "compat.h"
#include "config.h"
#include "state.h"
#include "frame.h"
#include "emit.h"
#include "queue.h"
#include "sock.h"
#include "stack.h"
#include "complete.h"
#include "bypass.h"
#include "qdisc.h"
#include "xmit.h"
#include "tcp.h"
#include "pick.h"
#include "gro.h"
#include "sojourn.h"
#include "sample.h"
#include "life.h"
#include "packet.h"
#include "schedule.h"
#include "deliver.h"
#include "transmit.h"
#include "steer.h"

char LICENSE[] SEC("license") = "Dual BSD/GPL";

/* Only to have these types in the object's BTF, where user space looks. */
struct tx_types {
	enum tx_program program;
	enum tx_moment moment;
	struct tx_run run;
	struct tx_dequeue dequeue;
	struct tx_direct direct;
	struct tx_handover handover;
	struct tx_complete complete;
	struct tx_throttle throttle;
	struct tx_wfree wfree;
	struct tx_resume resume;
	struct tx_notice notice;
	struct tx_quiet quiet;
	struct tx_pick pick;
	struct tx_picks picks;
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
};

const struct tx_types *tx_types_in_btf __attribute__((unused));
