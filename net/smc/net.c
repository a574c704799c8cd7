// SPDX-License-Identifier: GPL-2.0
/*
 * The state of a network namespace is found by the number that main.c lets
 * the kernel choose when it registers the set-up and tear-down of namespaces.
 *
 * Context: any.  Test: selftests/vm/tests/netns.sh.
 */
#include <linux/cache.h>
#include <net/netns/generic.h>
#include "net.h"

unsigned int smc_net_id __read_mostly;

/**
 * smc_net() - our state of a network namespace
 * @net: the namespace, alive
 *
 * Context: any.
 * Return: the state, never NULL while the module is loaded.
 */
struct smc_net *smc_net(const struct net *net)
{
	return net_generic(net, smc_net_id);
}
