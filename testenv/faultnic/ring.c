// SPDX-License-Identifier: GPL-2.0-only
/*
 * The ring: the driver's side of sending, and the device that sends.
 *
 * The device is a timer. At each tick it takes from the ring what it was told
 * of by the doorbell and what fits the wire's rate, gives the peer a clone, as
 * a wire would, and leaves the packet to the completion.
 */
#include <linux/etherdevice.h>
#include <linux/math64.h>

#include "faultnic.h"

/* The wire sends nothing in advance: its time begins now. */
static void ring_tick_start(struct nic_ring *r)
{
	if (test_and_set_bit(0, &r->running))
		return;
	r->last = ktime_get_ns();
	hrtimer_start(&r->tick, ns_to_ktime(nic_tick_us * NSEC_PER_USEC),
		      HRTIMER_MODE_REL_SOFT);
}

/* Tells the device of all that is in the ring: the write of a tail register. */
void ring_bell(struct nic_ring *r)
{
	smp_store_release(&r->rung, r->next);
	ring_tick_start(r);
}

/* For faults that forget the doorbell or the interrupt: it comes in the end. */
void ring_bell_late(struct nic_ring *r, unsigned int ms)
{
	if (!hrtimer_active(&r->bell))
		hrtimer_start(&r->bell, ms_to_ktime(ms), HRTIMER_MODE_REL_SOFT);
}

static enum hrtimer_restart ring_late(struct hrtimer *timer)
{
	struct nic_ring *r = container_of(timer, struct nic_ring, bell);

	r->trick.hung = false;
	__netif_tx_lock(r->txq, smp_processor_id());
	ring_bell(r);
	__netif_tx_unlock(r->txq);
	ring_interrupt(r);
	return HRTIMER_NORESTART;
}

void ring_put(struct nic_ring *r, struct sk_buff *skb, u32 bytes, u32 charged)
{
	*nic_slot(r, r->next) = (struct nic_slot){
		.skb = skb,
		.bytes = bytes,
		.charged = charged,
		.txq = r->txq,
	};
	r->next++;
}

static void ring_stop(struct nic_ring *r)
{
	netif_tx_stop_queue(r->txq);
	if (fault_forgets(r))
		return;
	/* A completion that made room just now saw no stopped queue. */
	smp_mb();
	if (nic_room(r) >= NIC_WAKE)
		netif_tx_start_queue(r->txq);
}

netdev_tx_t nic_xmit(struct sk_buff *skb, struct net_device *dev)
{
	struct nic *nic = netdev_priv(dev);
	struct nic_ring *r = &nic->rings[skb_get_queue_mapping(skb)];
	netdev_tx_t rc;

	if (nic_complete == COMPLETE_XMIT)
		ring_clean(r, 0);
	if (!fault_takes(r, skb, &rc))
		return rc;
	if (!nic_room(r)) {
		netif_tx_stop_queue(r->txq);
		return NETDEV_TX_BUSY;
	}
	skb_tx_timestamp(skb);
	ring_put(r, skb, skb->len, skb->len);
	fault_charge(r, nic_slot(r, r->next - 1));
	if (nic_room(r) < NIC_STOP)
		ring_stop(r);
	if ((!netdev_xmit_more() || netif_xmit_stopped(r->txq)) &&
	    fault_rings(r))
		ring_bell(r);
	return NETDEV_TX_OK;
}

/* dev_forward_skb consumes the clone, whether or not the peer is up. */
static void ring_send(struct nic_ring *r, struct nic_slot *s)
{
	struct sk_buff *skb;

	r->packets++;
	r->bytes += s->bytes;
	fault_sent(r, s);
	if (!s->skb)
		return;
	skb = skb_clone(s->skb, GFP_ATOMIC);
	if (skb)
		dev_forward_skb(r->nic->peer, skb);
}

static void ring_wire(struct nic_ring *r)
{
	u64 now = ktime_get_ns();
	u32 rung = smp_load_acquire(&r->rung), done = r->done;
	bool moved;
	s64 most = max_t(s64, 2 * GSO_LEGACY_MAX_SIZE, (s64)nic_rate * 500);

	/* Mbit/s times ns, in bytes. */
	r->credit += div_u64((u64)nic_rate * (now - r->last), 8000);
	r->credit = min(r->credit, most);
	r->last = now;
	while (done != rung && r->credit > 0 && !r->trick.hung) {
		struct nic_slot *s = nic_slot(r, done);

		r->credit -= s->bytes;
		ring_send(r, s);
		done++;
	}
	if (done == rung && r->credit > 0)
		r->credit = 0;
	moved = done != r->done;
	smp_store_release(&r->done, done);
	ring_notify(r, moved);
}

static bool ring_idle(struct nic_ring *r)
{
	return READ_ONCE(r->rung) == r->done &&
	       (nic_complete != COMPLETE_XMIT ||
		READ_ONCE(r->clean) == r->done);
}

static enum hrtimer_restart ring_tick(struct hrtimer *timer)
{
	struct nic_ring *r = container_of(timer, struct nic_ring, tick);

	ring_wire(r);
	if (ring_idle(r)) {
		clear_bit(0, &r->running);
		smp_mb__after_atomic();
		if (ring_idle(r) || test_and_set_bit(0, &r->running))
			return HRTIMER_NORESTART;
	}
	hrtimer_forward_now(timer, ns_to_ktime(nic_tick_us * NSEC_PER_USEC));
	return HRTIMER_RESTART;
}

void ring_init(struct nic *nic, unsigned int index)
{
	struct nic_ring *r = &nic->rings[index];

	r->nic = nic;
	r->txq = netdev_get_tx_queue(nic->dev, index);
	spin_lock_init(&r->cleaning);
	spin_lock_init(&r->reporting);
	hrtimer_setup(&r->tick, ring_tick, CLOCK_MONOTONIC,
		      HRTIMER_MODE_REL_SOFT);
	hrtimer_setup(&r->bell, ring_late, CLOCK_MONOTONIC,
		      HRTIMER_MODE_REL_SOFT);
	ring_complete_init(r);
}

/* Nothing sends, rings or completes after it. The queues are stopped. */
void ring_quiet(struct nic_ring *r)
{
	hrtimer_cancel(&r->bell);
	hrtimer_cancel(&r->tick);
	clear_bit(0, &r->running);
	napi_disable(&r->napi);
	irq_work_sync(&r->work);
}

/* Frees what is in a quiet ring; BQL must forget it, too. */
void ring_purge(struct nic_ring *r, bool reset)
{
	for (; r->clean != r->next; r->clean++)
		dev_kfree_skb_any(nic_slot(r, r->clean)->skb);
	r->rung = r->done = r->clean;
	r->credit = 0;
	memset(&r->trick, 0, sizeof(r->trick));
	if (reset)
		netdev_tx_reset_queue(r->txq);
}
