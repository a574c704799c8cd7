// SPDX-License-Identifier: GPL-2.0
/*
 * Steps whose rings, or receives of a new link group, are charged to a control
 * group above memory.high.
 *
 * The kernel has the task that charges such a group sleep, for up to 2 s: here
 * that is a worker, on which handshakes of others wait.  So one step of a group at
 * a time charges it, and the others are tried again later: it has one of a few
 * lanes, by the group.  A small excess, as where page cache fills the group, does
 * not count: nothing sleeps for that.
 *
 * Context: process.
 * Test: selftests/smc/cgroups.py
 */
#include <linux/bitops.h>
#include <linux/hash.h>
#include <linux/memcontrol.h>
#include <linux/minmax.h>
#include <linux/sizes.h>
#include "priv.h"

#define LANE_BITS	4
#define RINGS_MAX	SZ_8M
#define IN_ADVANCE	SZ_512K		/* the kernel charges batches of pages */
#define SLACK		128		/* an excess below this part of the limit is small */

static unsigned long lanes;

/* Would the rings of a handshake make its group exceed memory.high? */
static bool charge_is_short(const struct smc_hs *hs)
{
#ifdef CONFIG_MEMCG
	struct mem_cgroup *memcg = hs->setup.memcg;
	unsigned long high, pages;
	u32 rings;

	rings = min_t(u64, (u64)hs->setup.snd_len + hs->setup.rcv_len, RINGS_MAX);
	pages = (rings + IN_ADVANCE) / PAGE_SIZE;
	for (; memcg; memcg = parent_mem_cgroup(memcg)) {
		high = READ_ONCE(memcg->memory.high);
		if (page_counter_read(&memcg->memory) + pages >
		    high + high / SLACK)
			return true;
	}
#endif
	return false;
}

static u32 lane_of(const struct smc_hs *hs)
{
	return hash_ptr(hs->setup.memcg, LANE_BITS);
}

/**
 * smc_hs_charge_begin() - may a step charge its control group now?
 * @hs: handshake
 *
 * Return: false: try again later; true: smc_hs_charge_end() follows.
 */
bool smc_hs_charge_begin(struct smc_hs *hs)
{
	if (likely(!charge_is_short(hs)))
		return true;
	hs->has_lane = !test_and_set_bit_lock(lane_of(hs), &lanes);
	return hs->has_lane;
}

/**
 * smc_hs_charge_end() - the step has been run
 * @hs: handshake
 */
void smc_hs_charge_end(struct smc_hs *hs)
{
	if (hs->has_lane)
		clear_bit_unlock(lane_of(hs), &lanes);
	hs->has_lane = false;
}

/**
 * smc_hs_may_charge() - may a step charge its control group still?
 * @hs: handshake
 *
 * Other steps have charged it since smc_hs_charge_begin().
 */
bool smc_hs_may_charge(const struct smc_hs *hs)
{
	return !hs->no_room && (hs->has_lane || !charge_is_short(hs));
}
