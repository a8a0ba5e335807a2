/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef FAULTNIC_H
#define FAULTNIC_H

#include <linux/irq_work.h>
#include <linux/netdevice.h>
#include <linux/skbuff.h>
#include <linux/workqueue.h>

#include "compat.h"

/*
 * A ring has four positions that follow each other, each written by one side:
 * next by ndo_start_xmit under the transmit lock, rung by the doorbell, done
 * by the tick, which is the device, and clean by the completion. They count
 * up for ever and are taken modulo the ring's size.
 */
#define NIC_RING 256
#define NIC_STOP 2 /* free slots at which the queue is stopped */
#define NIC_WAKE 32 /* and at which it goes on */

struct nic_slot {
	struct sk_buff *skb; /* NULL for a frame that no stack handed over */
	u32 bytes; /* on the wire */
	u32 charged; /* that the completion reports */
	struct netdev_queue *txq; /* that it is charged to; NULL: not yet */
};

/* What fault.c remembers of a ring. */
struct nic_trick {
	u32 seen; /* packets since the fault was set */
	u32 refuse; /* BUSY still to be said */
	u32 sent; /* seen when frames were last put in beside the stack */
	u32 missed; /* completions */
	bool lost_wake;
	bool hung;
};

struct nic_ring {
	struct nic *nic;
	struct netdev_queue *txq;
	struct nic_slot slot[NIC_RING];
	u32 next, rung, done, clean;

	struct hrtimer tick, bell;
	unsigned long running; /* bit 0: tick is armed */
	u64 last; /* of the tick, ns */
	s64 credit; /* bytes that the wire may take */

	struct napi_struct napi;
	struct irq_work work;
	spinlock_t cleaning, reporting;

	struct nic_trick trick;
	u64 packets, bytes;
} ____cacheline_aligned;

struct nic {
	struct net_device *dev, *peer;
	struct work_struct restart;
	bool purge; /* the restart is the fault, not the remedy */
	unsigned int nrings;
	struct nic_ring *rings;
};

static inline u32 nic_room(const struct nic_ring *r)
{
	return NIC_RING - (r->next - READ_ONCE(r->clean));
}

static inline struct nic_slot *nic_slot(struct nic_ring *r, u32 at)
{
	return &r->slot[at % NIC_RING];
}

/* ring.c */
void ring_init(struct nic *nic, unsigned int index);
netdev_tx_t nic_xmit(struct sk_buff *skb, struct net_device *dev);
void ring_put(struct nic_ring *r, struct sk_buff *skb, u32 bytes, u32 charged);
void ring_bell(struct nic_ring *r);
void ring_bell_late(struct nic_ring *r, unsigned int ms);
void ring_quiet(struct nic_ring *r);
void ring_purge(struct nic_ring *r, bool reset);

/* complete.c */
enum nic_complete {
	COMPLETE_NAPI,
	COMPLETE_HARDIRQ,
	COMPLETE_XMIT
};

extern int nic_complete;
extern bool nic_per_packet;
void ring_complete_init(struct nic_ring *r);
void ring_notify(struct nic_ring *r, bool moved);
void ring_interrupt(struct nic_ring *r);
void ring_clean(struct nic_ring *r, int budget);

/* main.c */
extern unsigned int nic_rate, nic_tick_us;
void nic_fault_set(void);

/* fault.c */
enum nic_fault {
	FAULT_NONE,
	NO_RESET_ON_PURGE,
	RESET_ONE_QUEUE,
	RESET_IN_FLIGHT,
	STOP_NO_RECHECK,
	DROP_LAST_NO_DOORBELL,
	BUSY_AFTER_DEFERRED,
	BUSY_AFTER_ACCEPT,
	BUSY_MID_LIST,
	CHARGE_AFTER_DOORBELL,
	CHARGE_WRONG_QUEUE,
	SENT_TWICE,
	SENT_NEVER,
	COMPLETE_MISSING,
	COMPLETE_LATE,
	DOORBELL_WITHHELD,
	COMPLETE_PER_PACKET,
	XDP_SHARES_QUEUE,
	ORPHAN,
	SELECT_OUT_OF_RANGE,
	HANG,
	REQUEUE_REORDER,
	FAULTS,
};

extern int nic_fault;
bool fault_takes(struct nic_ring *r, struct sk_buff *skb, netdev_tx_t *rc);
void fault_charge(struct nic_ring *r, struct nic_slot *s);
bool fault_rings(struct nic_ring *r);
bool fault_forgets(struct nic_ring *r);
void fault_sent(struct nic_ring *r, struct nic_slot *s);
bool fault_keeps(struct nic_ring *r);
bool fault_cleans(struct nic_ring *r);
u32 fault_completes(struct nic_ring *r, const struct nic_slot *s);
u32 fault_guard(struct netdev_queue *txq, u32 bytes);
void fault_polled(struct nic_ring *r);
bool fault_resets(const struct nic_ring *r);
unsigned int fault_watchdog(void);

#endif
