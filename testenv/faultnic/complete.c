// SPDX-License-Identifier: GPL-2.0-only
/*
 * Completions: in a NAPI poll, in a hard interrupt, or in ndo_start_xmit, as
 * virtio_net does it up to 6.12; all at once or packet by packet.
 */
#include "faultnic.h"

int nic_complete = COMPLETE_NAPI;
bool nic_per_packet;

/* Of a fault that charges another queue, two may report to one at once. */
static void ring_report(struct nic *nic, struct netdev_queue *txq, u32 packets,
			u32 bytes)
{
	struct nic_ring *of = &nic->rings[txq - nic->dev->_tx];
	unsigned long flags;

	spin_lock_irqsave(&of->reporting, flags);
	bytes = fault_guard(txq, bytes);
	if (bytes)
		netdev_tx_completed_queue(txq, packets, bytes);
	spin_unlock_irqrestore(&of->reporting, flags);
}

static bool ring_wants_wake(struct nic_ring *r)
{
	return netif_tx_queue_stopped(r->txq) && nic_room(r) >= NIC_WAKE &&
	       !r->trick.lost_wake;
}

/*
 * Takes back what the device is done with. One caller at a time: NAPI, the
 * interrupt, or who has the transmit lock.
 */
void ring_clean(struct nic_ring *r, int budget)
{
	u32 done = smp_load_acquire(&r->done), packets = 0, bytes = 0, at;

	if (!fault_cleans(r))
		return;
	for (at = r->clean; at != done; at++) {
		struct nic_slot *s = nic_slot(r, at);
		u32 charged = fault_completes(r, s);

		if (in_hardirq())
			dev_consume_skb_irq(s->skb);
		else
			napi_consume_skb(s->skb, budget);
		if (nic_per_packet || nic_fault == COMPLETE_PER_PACKET ||
		    s->txq != r->txq) {
			ring_report(r->nic, s->txq, 1, charged);
			continue;
		}
		packets++;
		bytes += charged;
	}
	WRITE_ONCE(r->clean, at);
	ring_report(r->nic, r->txq, packets, bytes);
	/* Pairs with the barrier in ring_stop. */
	smp_mb();
	if (ring_wants_wake(r))
		netif_tx_wake_queue(r->txq);
}

void ring_interrupt(struct nic_ring *r)
{
	if (nic_complete == COMPLETE_HARDIRQ)
		irq_work_queue(&r->work);
	else
		napi_schedule(&r->napi);
}

/*
 * The device moved, or not. In mode xmit the next packet's xmit completes; an
 * interrupt is taken only where none comes: the queue is stopped, or nothing
 * was taken back since the tick before.
 */
void ring_notify(struct nic_ring *r, bool moved)
{
	if (nic_complete == COMPLETE_XMIT)
		moved = READ_ONCE(r->clean) != r->done &&
			(!moved || netif_xmit_stopped(r->txq));
	if (moved && !fault_keeps(r))
		ring_interrupt(r);
}

static int ring_poll(struct napi_struct *napi, int budget)
{
	struct nic_ring *r = container_of(napi, struct nic_ring, napi);

	/* Two may not be in ndo_start_xmit's completion and in this one. */
	if (nic_complete == COMPLETE_XMIT) {
		__netif_tx_lock(r->txq, smp_processor_id());
		ring_clean(r, budget);
		__netif_tx_unlock(r->txq);
	} else {
		ring_clean(r, budget);
	}
	fault_polled(r);
	napi_complete_done(napi, 0);
	return 0;
}

/* The work may be queued on a CPU while it runs on another. */
static void ring_work(struct irq_work *work)
{
	struct nic_ring *r = container_of(work, struct nic_ring, work);

	spin_lock(&r->cleaning);
	ring_clean(r, 0);
	spin_unlock(&r->cleaning);
}

void ring_complete_init(struct nic_ring *r)
{
	init_irq_work(&r->work, ring_work);
	netif_napi_add(r->nic->dev, &r->napi, ring_poll);
}
