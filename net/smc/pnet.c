// SPDX-License-Identifier: GPL-2.0
/*
 * The table of physical networks (PNETID).
 *
 * An operator gives interfaces and RDMA ports the name of the network they
 * are plugged into.  When the route of a connection leaves by an interface
 * that no RDMA port stands on (a tunnel, a port of another card), a port with
 * the interface's network name serves it.
 *
 * Rows for interfaces belong to a network namespace, rows for devices to the
 * initial one, because devices are named there.  Rows hold names and no
 * objects: a device may come after its row and go before it, and a renamed
 * one has the row of its new name.  An interface without a row has that of
 * the first device below it, in the same namespace, that has one (VLAN, bond,
 * bridge).
 *
 * Context: any unless a function says otherwise; pnet_lock (spinlock, BH) is a
 * leaf.  Tests: selftests/vm/tests/genl.sh, pnet.sh.
 */
#include <linux/ctype.h>
#include <linux/netdevice.h>
#include <linux/slab.h>
#include <linux/spinlock.h>
#include <linux/string.h>
#include "net.h"
#include "pnet.h"

/* protects the next, smc_net.pnet and smc_net.pnet_num of all namespaces */
static DEFINE_SPINLOCK(pnet_lock);
static unsigned long pnet_last_nr;

/**
 * smc_pnet_parse_id() - the name of a network as it is stored
 * @text: as the operator wrote it; blanks around it do not count
 * @id: filled in, small letters made capital
 *
 * Return: 0, or -EINVAL: not 1 to 16 letters and digits.
 */
int smc_pnet_parse_id(const char *text, char id[SMC_PNET_ID_LEN + 1])
{
	size_t len, i;

	text = skip_spaces(text);
	len = strlen(text);
	while (len && isspace(text[len - 1]))
		len--;
	if (!len || len > SMC_PNET_ID_LEN)
		return -EINVAL;
	memset(id, 0, SMC_PNET_ID_LEN + 1);
	for (i = 0; i < len; i++) {
		if (!isascii(text[i]) || !isalnum(text[i]))
			return -EINVAL;
		id[i] = toupper(text[i]);
	}
	return 0;
}

/* Has the table a row for the same interface or port? */
static bool is_taken(struct smc_net *sn, const struct smc_pnet_row *row)
{
	const struct smc_pnet_row *r;

	lockdep_assert_held(&pnet_lock);
	list_for_each_entry(r, &sn->pnet, node)
		if (!strcmp(r->eth, row->eth) && !strcmp(r->dev, row->dev) &&
		    r->port == row->port)
			return true;
	return false;
}

/* All or none; takes the rows of @list over. */
static int add_list(struct smc_net *sn, struct list_head *list, int num)
{
	struct smc_pnet_row *row;
	int rc = 0;

	spin_lock_bh(&pnet_lock);
	if (sn->pnet_num + num > SMC_PNET_MAX_ROWS)
		rc = -ENOSPC;
	list_for_each_entry(row, list, node) {
		row->nr = ++pnet_last_nr;
		if (!rc && is_taken(sn, row))
			rc = -EEXIST;
	}
	if (!rc) {
		list_splice_tail_init(list, &sn->pnet);
		WRITE_ONCE(sn->pnet_num, sn->pnet_num + num);
	}
	spin_unlock_bh(&pnet_lock);
	return rc;
}

static void free_list(struct list_head *list)
{
	struct smc_pnet_row *row, *next;

	list_for_each_entry_safe(row, next, list, node)
		kfree(row);
}

/**
 * smc_pnet_add() - add rows, all of them or none
 * @sn: namespace
 * @rows: what to add; copied
 * @num: how many, not about the same thing
 *
 * Context: process.
 * Return: 0; -EEXIST if there is a row for one of the things already; -ENOSPC;
 * -ENOMEM.
 */
int smc_pnet_add(struct smc_net *sn, const struct smc_pnet_row *rows, int num)
{
	struct smc_pnet_row *row;
	LIST_HEAD(list);
	int rc = 0;
	int i;

	for (i = 0; !rc && i < num; i++) {
		row = kmemdup(&rows[i], sizeof(*row), GFP_KERNEL_ACCOUNT);
		if (row)
			list_add_tail(&row->node, &list);
		else
			rc = -ENOMEM;
	}
	if (!rc)
		rc = add_list(sn, &list, num);
	free_list(&list);
	return rc;
}

/**
 * smc_pnet_del() - remove a network from the table
 * @sn: namespace
 * @id: its name, NULL: all
 *
 * Return: how many rows were removed.
 */
int smc_pnet_del(struct smc_net *sn, const char *id)
{
	struct smc_pnet_row *row, *next;
	LIST_HEAD(gone);
	int num = 0;

	spin_lock_bh(&pnet_lock);
	list_for_each_entry_safe(row, next, &sn->pnet, node) {
		if (id && strcmp(row->id, id))
			continue;
		list_move_tail(&row->node, &gone);
		num++;
	}
	WRITE_ONCE(sn->pnet_num, sn->pnet_num - num);
	spin_unlock_bh(&pnet_lock);
	free_list(&gone);
	return num;
}

/**
 * smc_pnet_walk() - call a function for every row
 * @sn: namespace
 * @fn: called under pnet_lock, must not sleep; != 0 ends the walk
 * @arg: for @fn
 *
 * Return: what @fn returned last, or 0.
 */
int smc_pnet_walk(struct smc_net *sn,
		  int (*fn)(const struct smc_pnet_row *row, void *arg),
		  void *arg)
{
	const struct smc_pnet_row *row;
	int rc = 0;

	spin_lock_bh(&pnet_lock);
	list_for_each_entry(row, &sn->pnet, node) {
		rc = fn(row, arg);
		if (rc)
			break;
	}
	spin_unlock_bh(&pnet_lock);
	return rc;
}

static bool of_name(struct smc_net *sn, const char *eth, char *id)
{
	const struct smc_pnet_row *row;

	lockdep_assert_held(&pnet_lock);
	list_for_each_entry(row, &sn->pnet, node) {
		if (!row->eth[0] || strcmp(row->eth, eth))
			continue;
		strscpy(id, row->id, SMC_PNET_ID_LEN + 1);
		return true;
	}
	return false;
}

struct below {
	struct smc_net *sn;
	char *id;
};

/* What a container's macvlan stands on may be in another namespace. */
static int of_lower(struct net_device *lower, struct netdev_nested_priv *priv)
{
	struct below *below = priv->data;

	return net_eq(dev_net(lower), below->sn->net) &&
	       of_name(below->sn, lower->name, below->id);
}

/**
 * smc_pnet_of_ndev() - which network is an interface in?
 * @net: namespace of the interface
 * @ndev: the interface, held by the caller
 * @id: filled in if there is a row
 *
 * Return: is there a row for it, or for a device below it?
 */
bool smc_pnet_of_ndev(const struct net *net, struct net_device *ndev,
		      char id[SMC_PNET_ID_LEN + 1])
{
	struct below below = { .sn = smc_net(net), .id = id };
	struct netdev_nested_priv priv = { .data = &below };
	bool found;

	/* the usual case; the list may only be looked at under the lock */
	if (!READ_ONCE(below.sn->pnet_num))
		return false;
	rcu_read_lock();
	spin_lock_bh(&pnet_lock);
	found = of_name(below.sn, ndev->name, id) ||
		netdev_walk_all_lower_dev_rcu(ndev, of_lower, &priv);
	spin_unlock_bh(&pnet_lock);
	rcu_read_unlock();
	return found;
}

/**
 * smc_pnet_of_port() - which network is a port of a device in?
 * @name: of the device
 * @parent: name of the device it stands on, or ""
 * @port: RDMA port, 0 for SMC-D
 * @id: filled in if there is a row
 *
 * Return: is there a row for it?
 */
bool smc_pnet_of_port(const char *name, const char *parent, u8 port,
		      char id[SMC_PNET_ID_LEN + 1])
{
	struct smc_net *sn = smc_net(&init_net);
	const struct smc_pnet_row *row;
	bool found = false;

	spin_lock_bh(&pnet_lock);
	list_for_each_entry(row, &sn->pnet, node) {
		if (!row->dev[0] || (port && row->port != port) ||
		    (strcmp(row->dev, name) && strcmp(row->dev, parent)))
			continue;
		strscpy(id, row->id, SMC_PNET_ID_LEN + 1);
		found = true;
		break;
	}
	spin_unlock_bh(&pnet_lock);
	return found;
}
