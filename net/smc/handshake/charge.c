// SPDX-License-Identifier: GPL-2.0
/*
 * Steps whose rings are charged to a control group that has no room.
 *
 * The kernel looks for memory in such a group, or has the task that charges it
 * sleep for seconds (memory.high): here that is a worker, on which handshakes of
 * others wait.  So one step of a group at a time charges it, and the others are
 * tried again later.  Groups share LANES places.
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

/* What a step charges, and what the kernel charges in advance */
#define MARGIN		((SZ_1M + SZ_256K) / PAGE_SIZE)

static unsigned long lanes;

static bool is_short(struct mem_cgroup *memcg)
{
#ifdef CONFIG_MEMCG
	for (; memcg; memcg = parent_mem_cgroup(memcg))
		if (page_counter_read(&memcg->memory) + MARGIN >
		    min(READ_ONCE(memcg->memory.max),
			READ_ONCE(memcg->memory.high)))
			return true;
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
	if (likely(!is_short(hs->setup.memcg)))
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
