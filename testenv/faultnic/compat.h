/* SPDX-License-Identifier: GPL-2.0-only */
/* What kernels from 6.1 on call differently. */
#ifndef FAULTNIC_COMPAT_H
#define FAULTNIC_COMPAT_H

#include <linux/hrtimer.h>
#include <linux/version.h>

/* b8c4f4bdfb3b made hrtimer_setup of hrtimer_init and an assignment. */
#if LINUX_VERSION_CODE < KERNEL_VERSION(6, 13, 0)
static inline void
hrtimer_setup(struct hrtimer *timer,
	      enum hrtimer_restart (*function)(struct hrtimer *),
	      clockid_t clock, enum hrtimer_mode mode)
{
	hrtimer_init(timer, clock, mode);
	timer->function = function;
}
#endif

#endif
