// SPDX-License-Identifier: GPL-2.0-only
/*
 * faultnic: two network devices with a wire between them, whose driver keeps
 * BQL's rules, or breaks one that is chosen by the parameter fault.
 */
#include <linux/etherdevice.h>
#include <linux/module.h>
#include <linux/rtnetlink.h>
#include <linux/slab.h>

#include "faultnic.h"

static unsigned int queues = 2;
module_param(queues, uint, 0444);
MODULE_PARM_DESC(queues, "transmit queues of each device");

unsigned int nic_rate = 1000;
module_param_named(rate, nic_rate, uint, 0644);
MODULE_PARM_DESC(rate, "Mbit/s that the wire takes from each queue");

unsigned int nic_tick_us = 200;
module_param_named(tick_us, nic_tick_us, uint, 0444);
MODULE_PARM_DESC(tick_us, "how often the device looks at its rings");

module_param_named(per_packet, nic_per_packet, bool, 0644);
MODULE_PARM_DESC(per_packet,
		 "report each packet by itself, and not all of a round");

static const char *const modes[] = {
	[COMPLETE_NAPI] = "napi",
	[COMPLETE_HARDIRQ] = "hardirq",
	[COMPLETE_XMIT] = "xmit",
};

static int complete_set(const char *val, const struct kernel_param *kp)
{
	int mode = sysfs_match_string(modes, val);

	if (mode < 0)
		return mode;
	WRITE_ONCE(nic_complete, mode);
	return 0;
}

static int complete_get(char *buffer, const struct kernel_param *kp)
{
	return sysfs_emit(buffer, "%s\n", modes[nic_complete]);
}

static const struct kernel_param_ops complete_ops = { .set = complete_set,
						      .get = complete_get };
module_param_cb(complete, &complete_ops, NULL, 0644);
MODULE_PARM_DESC(complete,
		 "where packets are completed: napi, hardirq or xmit");

static struct net_device *ends[2];

static void nic_up(struct nic *nic)
{
	unsigned int i;

	for (i = 0; i < nic->nrings; i++)
		napi_enable(&nic->rings[i].napi);
	nic->dev->watchdog_timeo = fault_watchdog() * HZ;
	netif_tx_wake_all_queues(nic->dev);
}

static void nic_down(struct nic *nic)
{
	unsigned int i;

	netif_tx_disable(nic->dev);
	for (i = 0; i < nic->nrings; i++)
		ring_quiet(&nic->rings[i]);
	for (i = 0; i < nic->nrings; i++)
		ring_purge(&nic->rings[i], fault_resets(&nic->rings[i]));
}

static int nic_open(struct net_device *dev)
{
	nic_up(netdev_priv(dev));
	netif_carrier_on(dev);
	return 0;
}

static int nic_stop(struct net_device *dev)
{
	struct nic *nic = netdev_priv(dev);

	netif_carrier_off(dev);
	nic->purge = false;
	nic_down(nic);
	return 0;
}

static void nic_restart(struct work_struct *work)
{
	struct nic *nic = container_of(work, struct nic, restart);

	rtnl_lock();
	if (netif_running(nic->dev)) {
		nic_down(nic);
		netif_trans_update(nic->dev);
		nic_up(nic);
	}
	rtnl_unlock();
}

/* What was broken on purpose is mended. */
static void nic_timeout(struct net_device *dev, unsigned int txqueue)
{
	struct nic *nic = netdev_priv(dev);

	nic->purge = false;
	schedule_work(&nic->restart);
}

static void nic_stats(struct net_device *dev, struct rtnl_link_stats64 *s)
{
	struct nic *nic = netdev_priv(dev);
	unsigned int i;

	for (i = 0; i < nic->nrings; i++) {
		s->tx_packets += READ_ONCE(nic->rings[i].packets);
		s->tx_bytes += READ_ONCE(nic->rings[i].bytes);
	}
}

static u16 nic_select(struct net_device *dev, struct sk_buff *skb,
		      struct net_device *sb_dev)
{
	return dev->real_num_tx_queues + 1;
}

static const struct net_device_ops nic_ops = {
	.ndo_open = nic_open,
	.ndo_stop = nic_stop,
	.ndo_start_xmit = nic_xmit,
	.ndo_tx_timeout = nic_timeout,
	.ndo_get_stats64 = nic_stats,
	.ndo_set_mac_address = eth_mac_addr,
	.ndo_validate_addr = eth_validate_addr,
};

static struct net_device_ops lying_ops; /* those, and ndo_select_queue */

/* Another fault is set: everything that the last one left is forgotten. */
void nic_fault_set(void)
{
	unsigned int i, k;

	for (i = 0; i < ARRAY_SIZE(ends); i++) {
		struct nic *nic;

		if (!ends[i])
			continue;
		nic = netdev_priv(ends[i]);
		nic->purge = false;
		for (k = 0; k < nic->nrings; k++)
			memset(&nic->rings[k].trick, 0,
			       sizeof(nic->rings[k].trick));
		ends[i]->netdev_ops = nic_fault == SELECT_OUT_OF_RANGE ?
					      &lying_ops :
					      &nic_ops;
	}
}

static void nic_setup(struct net_device *dev)
{
	ether_setup(dev);
	dev->netdev_ops = nic_fault == SELECT_OUT_OF_RANGE ? &lying_ops :
							     &nic_ops;
	dev->hw_features = NETIF_F_SG | NETIF_F_HW_CSUM | NETIF_F_TSO |
			   NETIF_F_TSO6 | NETIF_F_HIGHDMA;
	dev->features = dev->hw_features;
	dev->vlan_features = dev->hw_features;
}

static void nic_free(struct net_device *dev)
{
	struct nic *nic = netdev_priv(dev);
	unsigned int i;

	for (i = 0; i < nic->nrings; i++)
		netif_napi_del(&nic->rings[i].napi);
	cancel_work_sync(&nic->restart);
	kvfree(nic->rings);
	free_netdev(dev);
}

static struct net_device *nic_new(u8 number)
{
	u8 address[ETH_ALEN] = { 0x52, 0x54, 0, 0, 0, number };
	struct net_device *dev;
	struct nic *nic;
	unsigned int i;

	dev = alloc_netdev_mqs(sizeof(*nic), "faultnic%d", NET_NAME_ENUM,
			       nic_setup, queues, 1);
	if (!dev)
		return NULL;
	nic = netdev_priv(dev);
	nic->dev = dev;
	INIT_WORK(&nic->restart, nic_restart);
	nic->rings = kvcalloc(queues, sizeof(*nic->rings), GFP_KERNEL);
	if (!nic->rings) {
		free_netdev(dev);
		return NULL;
	}
	nic->nrings = queues;
	for (i = 0; i < queues; i++)
		ring_init(nic, i);
	eth_hw_addr_set(dev, address);
	netif_carrier_off(dev);
	return dev;
}

static void nic_exit(void)
{
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(ends); i++)
		if (ends[i] && ends[i]->reg_state == NETREG_REGISTERED)
			unregister_netdev(ends[i]);
	for (i = 0; i < ARRAY_SIZE(ends); i++)
		if (ends[i])
			nic_free(ends[i]);
}

static int __init nic_init(void)
{
	unsigned int i;
	int err = 0;

	if (!queues || queues > 64)
		return -EINVAL;
	lying_ops = nic_ops;
	lying_ops.ndo_select_queue = nic_select;
	for (i = 0; i < ARRAY_SIZE(ends); i++)
		ends[i] = nic_new(i + 1);
	for (i = 0; i < ARRAY_SIZE(ends) && !err; i++) {
		struct nic *nic;

		if (!ends[i]) {
			err = -ENOMEM;
			break;
		}
		nic = netdev_priv(ends[i]);
		nic->peer = ends[!i];
	}
	for (i = 0; i < ARRAY_SIZE(ends) && !err; i++)
		err = register_netdev(ends[i]);
	if (err)
		nic_exit();
	return err;
}

module_init(nic_init);
module_exit(nic_exit);
MODULE_DESCRIPTION(
	"Two network devices that break a chosen rule of the transmit path");
MODULE_LICENSE("GPL");
