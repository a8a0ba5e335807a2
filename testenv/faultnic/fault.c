// SPDX-License-Identifier: GPL-2.0-only
/*
 * The faults. Each is one that drivers had, and each leaves the machine
 * alive: what is reported as completed is bounded by what is queued, BUSY is
 * not said for ever, and what hangs is restarted by ndo_tx_timeout.
 */
#include <linux/moduleparam.h>
#include <linux/netdevice.h>

#include "faultnic.h"

int nic_fault;

static unsigned int every = 64;
module_param(every, uint, 0644);
MODULE_PARM_DESC(every, "every so many packets of a ring are hit");

static unsigned int late_ms = 40;
module_param(late_ms, uint, 0644);
MODULE_PARM_DESC(
	late_ms,
	"after how long a doorbell or interrupt comes that was forgotten");

static bool guard = true;
module_param(guard, bool, 0644);
MODULE_PARM_DESC(
	guard,
	"report no more than is queued; without it the kernel stops with BUG_ON");

static const char *const words[FAULTS] = {
	[FAULT_NONE] = "none",
	[NO_RESET_ON_PURGE] = "no-reset-on-purge",
	[RESET_ONE_QUEUE] = "reset-one-queue",
	[RESET_IN_FLIGHT] = "reset-in-flight",
	[STOP_NO_RECHECK] = "stop-no-recheck",
	[DROP_LAST_NO_DOORBELL] = "drop-last-no-doorbell",
	[BUSY_AFTER_DEFERRED] = "busy-after-deferred",
	[BUSY_AFTER_ACCEPT] = "busy-after-accept",
	[BUSY_MID_LIST] = "busy-mid-list",
	[CHARGE_AFTER_DOORBELL] = "charge-after-doorbell",
	[CHARGE_WRONG_QUEUE] = "charge-wrong-queue",
	[SENT_TWICE] = "sent-twice",
	[SENT_NEVER] = "sent-never",
	[COMPLETE_MISSING] = "complete-missing",
	[COMPLETE_LATE] = "complete-late",
	[DOORBELL_WITHHELD] = "doorbell-withheld",
	[COMPLETE_PER_PACKET] = "complete-per-packet",
	[XDP_SHARES_QUEUE] = "xdp-shares-queue",
	[ORPHAN] = "orphan",
	[SELECT_OUT_OF_RANGE] = "select-out-of-range",
	[HANG] = "hang",
	[REQUEUE_REORDER] = "requeue-reorder",
};

static int fault_set(const char *val, const struct kernel_param *kp)
{
	int word = sysfs_match_string(words, val);

	if (word < 0)
		return word;
	WRITE_ONCE(nic_fault, word);
	nic_fault_set();
	return 0;
}

static int fault_get(char *buffer, const struct kernel_param *kp)
{
	return sysfs_emit(buffer, "%s\n", words[nic_fault]);
}

static const struct kernel_param_ops fault_ops = { .set = fault_set,
						   .get = fault_get };
module_param_cb(fault, &fault_ops, NULL, 0644);
MODULE_PARM_DESC(fault, "the fault, by its word");

static bool hit(u32 seen)
{
	return every && seen % every == 0;
}

static u32 in_flight(const struct netdev_queue *txq)
{
	return READ_ONCE(txq->dql.num_queued) -
	       READ_ONCE(txq->dql.num_completed);
}

/* More than the device may be sending just now. */
static bool has_unsent(const struct nic_ring *r)
{
	return READ_ONCE(r->next) - READ_ONCE(r->done) > 1;
}

/*
 * A ring that is purged for no reason: bytes must be in it, so nothing is sent
 * until then.
 */
static void purge_soon(struct nic_ring *r)
{
	struct nic *nic = r->nic;
	unsigned int i;

	if (nic->purge || r->trick.seen < every || !has_unsent(r))
		return;
	for (i = 0; nic_fault == RESET_ONE_QUEUE && i < nic->nrings; i++)
		if (!has_unsent(&nic->rings[i]))
			return;
	for (i = 0; i < nic->nrings; i++)
		nic->rings[i].trick.hung = true;
	nic->purge = true;
	schedule_work(&nic->restart);
}

static netdev_tx_t busy_after_accept(struct nic_ring *r, struct sk_buff *skb)
{
	ring_put(r, NULL, skb->len, skb->len);
	netdev_tx_sent_queue(r->txq, skb->len);
	ring_bell(r);
	return NETDEV_TX_BUSY;
}

/*
 * As a device in the middle that lets the socket go; the one below is under0.
 */
static bool hand_on(struct nic_ring *r, struct sk_buff *skb)
{
	struct net_device *under =
		dev_get_by_name_rcu(dev_net(r->nic->dev), "under0");

	if (!under)
		return false;
	skb_orphan(skb);
	skb->dev = under;
	dev_queue_xmit(skb);
	return true;
}

/*
 * Whether the driver takes the packet; if not, what it answers. Frames that
 * wait for their doorbell tell that the packet is not the first of its list.
 */
bool fault_takes(struct nic_ring *r, struct sk_buff *skb, netdev_tx_t *rc)
{
	struct nic_trick *t = &r->trick;
	bool waiting = r->next != r->rung, due = hit(++t->seen);

	*rc = NETDEV_TX_BUSY;
	switch (nic_fault) {
	case NO_RESET_ON_PURGE:
	case RESET_ONE_QUEUE:
		purge_soon(r);
		break;
	case DROP_LAST_NO_DOORBELL:
		if (!waiting || netdev_xmit_more())
			break;
		dev_kfree_skb_any(skb);
		ring_bell_late(r, late_ms);
		*rc = NETDEV_TX_OK;
		return false;
	case BUSY_AFTER_DEFERRED:
		if (!waiting || t->refuse == t->seen / every)
			break;
		t->refuse = t->seen / every;
		netif_tx_stop_queue(r->txq);
		ring_bell_late(r, late_ms);
		return false;
	case BUSY_AFTER_ACCEPT:
		if (!due || nic_room(r) < NIC_WAKE)
			break;
		*rc = busy_after_accept(r, skb);
		return false;
	case BUSY_MID_LIST:
		if (!waiting || t->refuse == t->seen / every)
			break;
		t->refuse = t->seen / every;
		ring_bell(r);
		return false;
	case REQUEUE_REORDER:
		if (t->refuse) {
			t->refuse--;
			return false;
		}
		if (!waiting || t->seen < every)
			break;
		t->seen = 0;
		t->refuse = 2;
		ring_bell(r);
		return false;
	case ORPHAN:
		if (!due || !hand_on(r, skb))
			break;
		*rc = NETDEV_TX_OK;
		return false;
	case HANG:
		t->hung |= t->seen > every;
		break;
	}
	return true;
}

static struct netdev_queue *other_queue(struct nic_ring *r)
{
	unsigned int i = r - r->nic->rings;

	return netdev_get_tx_queue(r->nic->dev, (i + 1) % r->nic->nrings);
}

/* Tells BQL of a packet that is in the ring. */
void fault_charge(struct nic_ring *r, struct nic_slot *s)
{
	bool due = hit(r->trick.seen);

	if (due && nic_fault == CHARGE_AFTER_DOORBELL) {
		s->txq = NULL;
		return;
	}
	if (due && nic_fault == SENT_NEVER) {
		s->charged = 0;
		return;
	}
	if (due && nic_fault == CHARGE_WRONG_QUEUE &&
	    __netif_tx_trylock(other_queue(r))) {
		s->txq = other_queue(r);
		netdev_tx_sent_queue(s->txq, s->charged);
		__netif_tx_unlock(s->txq);
		return;
	}
	netdev_tx_sent_queue(s->txq, s->charged);
	if (due && nic_fault == SENT_TWICE) {
		netdev_tx_sent_queue(s->txq, s->charged);
		s->charged *= 2;
	}
}

/* Whether the driver rings where it should, which it does once in eight times. */
bool fault_rings(struct nic_ring *r)
{
	if (nic_fault != DOORBELL_WITHHELD || netif_xmit_stopped(r->txq) ||
	    ++r->trick.refuse % 8 == 0)
		return true;
	ring_bell_late(r, late_ms);
	return false;
}

/*
 * Whether the driver that stops its queue forgets to look again. That the last
 * completion came just before takes luck; here it never starts the queue.
 */
bool fault_forgets(struct nic_ring *r)
{
	r->trick.lost_wake = nic_fault == STOP_NO_RECHECK;
	return r->trick.lost_wake;
}

/* The device has sent it: high time that it is charged. */
void fault_sent(struct nic_ring *r, struct nic_slot *s)
{
	if (s->txq)
		return;
	__netif_tx_lock(r->txq, smp_processor_id());
	netdev_tx_sent_queue(r->txq, s->charged);
	__netif_tx_unlock(r->txq);
	s->txq = r->txq;
}

/* Whether the device keeps the interrupt for the last few packets back. */
bool fault_keeps(struct nic_ring *r)
{
	if (nic_fault != COMPLETE_LATE || r->done - r->clean >= NIC_RING / 16 ||
	    netif_xmit_stopped(r->txq))
		return false;
	ring_bell_late(r, late_ms);
	return true;
}

/*
 * Before a completion: where nothing else completes, BQL can be reset. Without
 * the guard the device then pauses, as one does whose link partner says so, and
 * what was in flight is reported when it goes on. Whether it goes on now.
 */
bool fault_cleans(struct nic_ring *r)
{
	struct nic_trick *t = &r->trick;

	if (t->hung)
		return false;
	if (nic_fault != RESET_IN_FLIGHT || t->missed == t->seen / every ||
	    !in_flight(r->txq))
		return true;
	t->missed = t->seen / every;
	netdev_tx_reset_queue(r->txq);
	t->hung = !guard;
	if (t->hung)
		ring_bell_late(r, late_ms);
	return guard;
}

/* What is reported of a packet. */
u32 fault_completes(struct nic_ring *r, const struct nic_slot *s)
{
	return nic_fault == COMPLETE_MISSING && hit(++r->trick.missed) ?
		       0 :
		       s->charged;
}

u32 fault_guard(struct netdev_queue *txq, u32 bytes)
{
	return nic_fault && guard ? min(bytes, in_flight(txq)) : bytes;
}

/* After a poll: XDP sends from there, to the same ring, while packets come. */
void fault_polled(struct nic_ring *r)
{
	unsigned int i;

	if (nic_fault != XDP_SHARES_QUEUE ||
	    r->trick.sent == r->trick.seen / every)
		return;
	__netif_tx_lock(r->txq, smp_processor_id());
	r->trick.sent = r->trick.seen / every;
	for (i = 0; i < 4 && nic_room(r) > NIC_WAKE; i++) {
		ring_put(r, NULL, 100, 100);
		netdev_tx_sent_queue(r->txq, 100);
	}
	ring_bell(r);
	__netif_tx_unlock(r->txq);
}

/* Whether a purge of this ring resets its BQL. */
bool fault_resets(const struct nic_ring *r)
{
	if (!r->nic->purge)
		return true;
	return nic_fault == RESET_ONE_QUEUE && r == r->nic->rings;
}

/* The watchdog's patience in s: short where it is what is wanted. */
unsigned int fault_watchdog(void)
{
	return nic_fault == HANG || nic_fault == STOP_NO_RECHECK ? 3 : 30;
}
