// SPDX-License-Identifier: GPL-2.0
/*
 * The number by which the state of a network namespace is found: the kernel
 * chooses it when main.c registers the set-up and tear-down of namespaces.
 *
 * Context: any.  Test: selftests/vm/tests/netns.sh.
 */
#include <linux/cache.h>
#include "net.h"

unsigned int smc_net_id __read_mostly;
