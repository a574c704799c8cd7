// SPDX-License-Identifier: GPL-2.0
/*
 * The registry of transports and of their devices.
 *
 * References of a device: the registry, each path of a handshake, each link
 * group.  smc_dev_del() takes it out of the list, ends its groups and waits for
 * the last reference.  Handshakes and groups have deadlines, but for what the
 * driver does for them: if it does not return, nor does smc_dev_del().
 *
 * Context: process unless a function says otherwise; registry.lock (rwsem)
 * protects the list of devices.  It is not held while a peer or a driver is
 * waited for, but a walk may sleep.  Handshakes only read the list, and so do not
 * wait for each other.  names_lock
 * (spinlock, BH; a leaf) protects the names of devices.
 * Tests: selftests/vm/tests.
 */
#include <linux/rwsem.h>
#include <linux/spinlock.h>
#include <linux/string.h>
#include "xport.h"

static struct {
	struct rw_semaphore lock;	/* devs, seq */
	struct list_head devs;
	u64 seq;
	const struct smc_xport *xports[SMC_XPORT_NUM];
} registry = {
	.lock = __RWSEM_INITIALIZER(registry.lock),
	.devs = LIST_HEAD_INIT(registry.devs),
};

static DEFINE_SPINLOCK(names_lock);	/* smc_dev.name */

/**
 * smc_xport_register() - make a transport known
 * @xport: complete table; one for each id
 *
 * Context: process, while the module is loaded, before there is a socket.
 */
void smc_xport_register(const struct smc_xport *xport)
{
	WRITE_ONCE(registry.xports[xport->id], xport);
}

/**
 * smc_xport_get() - transport by number
 * @id: which, registered
 *
 * Context: any.
 * Return: its table.
 */
const struct smc_xport *smc_xport_get(enum smc_xport_id id)
{
	return READ_ONCE(registry.xports[id]);
}

/**
 * smc_dev_get() - take a reference of a device
 * @dev: device that the caller knows to exist
 *
 * Context: any.
 * Return: false if it is being removed.
 */
bool smc_dev_get(struct smc_dev *dev)
{
	return !READ_ONCE(dev->removing) && refcount_inc_not_zero(&dev->refs);
}

/* Drop a reference of a device.  Any context. */
static void smc_dev_put(struct smc_dev *dev)
{
	if (refcount_dec_and_test(&dev->refs))
		complete(&dev->gone);
}

/**
 * smc_dev_name() - copy the name of a device
 * @dev: device that the caller knows to exist
 * @name: filled in
 *
 * Context: any.
 */
void smc_dev_name(const struct smc_dev *dev, char name[SMC_DEV_NAME_LEN])
{
	spin_lock_bh(&names_lock);
	strscpy(name, dev->name, SMC_DEV_NAME_LEN);
	spin_unlock_bh(&names_lock);
}

/**
 * smc_path_put() - drop the device reference of a path
 * @path: filled by xport->find_path(), or empty
 *
 * Context: any.
 */
void smc_path_put(struct smc_path *path)
{
	if (path->dev)
		smc_dev_put(path->dev);
	path->dev = NULL;
}

/**
 * smc_dev_walk() - call a function for every device
 * @xport: of this transport
 * @fn: called with the registry locked for reading; != 0 ends the walk
 * @arg: for @fn
 *
 * Context: process.
 * Return: what @fn returned last, or 0.
 */
int smc_dev_walk(const struct smc_xport *xport,
		 int (*fn)(struct smc_dev *dev, void *arg), void *arg)
{
	struct smc_dev *dev;
	int rc = 0;

	down_read(&registry.lock);
	list_for_each_entry(dev, &registry.devs, node) {
		if (dev->xport != xport)
			continue;
		rc = fn(dev, arg);
		if (rc)
			break;
	}
	up_read(&registry.lock);
	return rc;
}

/**
 * smc_dev_add() - a device is usable from now on
 * @dev: the transport's object
 * @xport: its transport
 * @name: for traces and tools, cut to fit
 *
 * Initialises everything but @dev->parent and @dev->queues.
 *
 * Context: process.
 */
void smc_dev_add(struct smc_dev *dev, const struct smc_xport *xport,
		 const char *name)
{
	dev->xport = xport;
	dev->removing = false;
	refcount_set(&dev->refs, 1);
	init_completion(&dev->gone);
	strscpy(dev->name, name, sizeof(dev->name));
	down_write(&registry.lock);
	dev->seq = ++registry.seq;
	list_add_tail(&dev->node, &registry.devs);
	up_write(&registry.lock);
}

/**
 * smc_dev_rename() - the device has another name now
 * @dev: added before
 * @name: cut to fit
 *
 * Context: any.
 */
void smc_dev_rename(struct smc_dev *dev, const char *name)
{
	spin_lock_bh(&names_lock);
	strscpy(dev->name, name, sizeof(dev->name));
	spin_unlock_bh(&names_lock);
}

/**
 * smc_dev_del() - the device goes away
 * @dev: added before
 *
 * Refuses new users, terminates the device's groups and waits for the last
 * reference.  A group that is being created meanwhile either sees the mark,
 * which is set first, or is found by smc_lgr_kill_dev().
 *
 * Context: process, sleeps.
 */
void smc_dev_del(struct smc_dev *dev)
{
	WRITE_ONCE(dev->removing, true);
	down_write(&registry.lock);
	list_del(&dev->node);
	up_write(&registry.lock);
	smc_lgr_kill_dev(dev);
	smc_dev_put(dev);
	wait_for_completion(&dev->gone);
}
