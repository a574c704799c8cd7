// SPDX-License-Identifier: GPL-2.0
/*
 * The client of the RDMA core: devices are added and removed, their events.
 *
 * Context: process, events of a device, too.
 * Tests: selftests/vm/tests.
 */
#include <linux/device.h>
#include <linux/slab.h>
#include <rdma/ib_cache.h>
#include <rdma/ib_mad.h>

#include "init.h"
#include "rdma.h"

/* A driver that does not answer is asked again. */
#define ASK_AGAIN	HZ

/*
 * Ask the driver about the ports.  The driver may take RTNL, so handshakes do
 * not ask it.  The cache of the RDMA core is not reliable: the core queries in
 * one work for each event, these run concurrently, and an older answer may be
 * stored last.  This work does not run concurrently with itself, and runs again
 * after the last event.  A port without the P_Key of RoCE counts as down, and so
 * does one of which the driver cannot say how it is.
 */
static void query_ports(struct work_struct *work)
{
	struct smc_rdma_dev *rdev = container_of(to_delayed_work(work),
						 struct smc_rdma_dev,
						 ports_work);
	struct ib_port_attr attr;
	bool again = false;
	unsigned int port;
	u16 index;

	smc_rdma_for_each_port(rdev->ibdev, port) {
		if (!rdma_protocol_roce(rdev->ibdev, port))
			continue;
		if (ib_query_port(rdev->ibdev, port, &attr)) {
			WRITE_ONCE(rdev->ports[port].active, false);
			again = true;
			continue;
		}
		WRITE_ONCE(rdev->ports[port].max_mtu, attr.max_mtu);
		/* after max_mtu: pairs with smc_rdma_port_active() */
		smp_store_release(&rdev->ports[port].active,
				  attr.state == IB_PORT_ACTIVE &&
				  !ib_find_cached_pkey(rdev->ibdev, port,
						       IB_DEFAULT_PKEY_FULL,
						       &index));
	}
	if (again)
		queue_delayed_work(rdev->wq, &rdev->ports_work, ASK_AGAIN);
}

/**
 * smc_rdma_port_active() - did the driver last say that a port is active?
 * @rdev: device, registered
 * @port: number
 *
 * If not, the driver is asked again: not every one tells when a port has come up.
 *
 * Context: process, the registry of devices is locked.
 */
bool smc_rdma_port_active(struct smc_rdma_dev *rdev, u32 port)
{
	/* before max_mtu: pairs with query_ports() */
	if (smp_load_acquire(&rdev->ports[port].active))
		return true;
	queue_delayed_work(rdev->wq, &rdev->ports_work, ASK_AGAIN);
	return false;
}

/*
 * Raise smc_rdma_port.gids if a GID lies behind.  Each one that is added is told
 * of by an event, under the mutex of the table; only dev_add() runs beside it.
 */
static void count_gids(struct smc_rdma_dev *rdev, u32 port)
{
	int num = rdev->ibdev->port_data[port].immutable.gid_tbl_len;
	int *gids = &rdev->ports[port].gids;
	const struct ib_gid_attr *attr;
	int old = READ_ONCE(*gids);

	for (; num > old; num--) {
		attr = rdma_get_gid_attr(rdev->ibdev, port, num - 1);
		if (!IS_ERR(attr)) {
			rdma_put_gid_attr(attr);
			break;
		}
	}
	while (num > old && !try_cmpxchg(gids, &old, num))
		;
}

/*
 * The reason for which an event ends a link, or SMC_REASON_OK.  A port that
 * goes down ends no link: it may come back before the queue pair gives up.  The
 * next message, or TEST LINK, finds out.  No new link is made meanwhile.
 */
static enum smc_reason link_hit(const struct smc_lgr *lgr,
				const struct ib_event *event)
{
	if (event->event == IB_EVENT_DEVICE_FATAL)
		return SMC_REASON_LINK_FATAL;
	if (event->event == IB_EVENT_GID_CHANGE &&
	    lgr->path.port == event->element.port_num &&
	    smc_rdma_gid_lost(event->device, lgr))
		return SMC_REASON_LINK_GID;
	return SMC_REASON_OK;
}

/*
 * smc_lgr_each_user() calls this.  A group is published before its link is made:
 * a link that smc_lgr_up() is making cannot be used yet, but its group can end.
 */
static void look_at_link(struct smc_lgr *lgr, void *arg)
{
	enum smc_reason why = link_hit(lgr, arg);

	if (why == SMC_REASON_OK)
		return;
	/* pairs with smc_lgr_up() */
	if (smp_load_acquire(&lgr->up))
		smc_rdma_link_lost(smc_rdma_link(lgr), why);
	else
		smc_lgr_lost(lgr, SMC_REASON_DEVGONE);
}

/*
 * The RDMA core calls this in works, one for each event, but for a change of a
 * GID, of which it tells under the mutex of its GID table and maybe RTNL.
 */
static void dev_event(struct ib_event_handler *handler, struct ib_event *event)
{
	struct smc_rdma_dev *rdev = container_of(handler, struct smc_rdma_dev,
						 events);

	if (event->event == IB_EVENT_PORT_ACTIVE)
		atomic_inc(&rdev->ups);
	if (event->event == IB_EVENT_DEVICE_FATAL ||
	    event->event == IB_EVENT_PORT_ACTIVE ||
	    event->event == IB_EVENT_PORT_ERR ||
	    event->event == IB_EVENT_PKEY_CHANGE)
		mod_delayed_work(rdev->wq, &rdev->ports_work, 0);
	/* smc_path.port */
	if (event->event == IB_EVENT_GID_CHANGE &&
	    event->element.port_num <= U8_MAX)
		count_gids(rdev, event->element.port_num);
	if (event->event == IB_EVENT_DEVICE_FATAL ||
	    event->event == IB_EVENT_GID_CHANGE)
		smc_lgr_each_user(&rdev->dev, look_at_link, event);
}

/* A device whose send queues are deep enough has the receives, too. */
static_assert(SMC_RDMA_SQ_DEPTH > SMC_RDMA_RX_MIN);

static bool dev_usable(struct ib_device *ibdev)
{
	const struct ib_device_attr *attrs = &ibdev->attrs;
	unsigned int port;

	if (!(attrs->device_cap_flags & IB_DEVICE_MEM_MGT_EXTENSIONS) ||
	    /* mr_alloc(): a driver may take another size for its own */
	    !(attrs->page_size_cap & PAGE_SIZE) ||
	    attrs->max_qp_wr < SMC_RDMA_SQ_DEPTH)
		return false;
	smc_rdma_for_each_port(ibdev, port) {
		if (rdma_protocol_roce(ibdev, port))
			return true;
	}
	return false;
}

static struct ib_client client;

static int dev_add(struct ib_device *ibdev)
{
	struct smc_rdma_dev *rdev;
	unsigned int port;

	if (!dev_usable(ibdev))
		return -EOPNOTSUPP;
	rdev = kzalloc(sizeof(*rdev), GFP_KERNEL);
	if (!rdev)
		return -ENOMEM;
	rdev->wq = alloc_workqueue("smc_rdma", WQ_UNBOUND, 0);
	if (!rdev->wq) {
		kfree(rdev);
		return -ENOMEM;
	}
	rdev->ibdev = ibdev;
	/* what the RDMA core uses of them */
	rdev->dev.queues = min_t(unsigned int, ibdev->num_comp_vectors,
				 num_online_cpus());
	mutex_init(&rdev->cq_mutex);
	INIT_DELAYED_WORK(&rdev->ports_work, query_ports);
	INIT_IB_EVENT_HANDLER(&rdev->events, ibdev, dev_event);
	if (ibdev->dev.parent)
		strscpy(rdev->dev.parent, dev_name(ibdev->dev.parent),
			sizeof(rdev->dev.parent));
	ib_set_client_data(ibdev, &client, rdev);
	ib_register_event_handler(&rdev->events);
	smc_rdma_for_each_port(ibdev, port) {
		if (rdma_protocol_roce(ibdev, port))
			count_gids(rdev, port);
	}
	mod_delayed_work(rdev->wq, &rdev->ports_work, 0);
	flush_delayed_work(&rdev->ports_work);
	smc_dev_add(&rdev->dev, &smc_rdma_xport, dev_name(&ibdev->dev));
	return 0;
}

static void dev_remove(struct ib_device *ibdev, void *data)
{
	struct smc_rdma_dev *rdev = data;

	ib_unregister_event_handler(&rdev->events);
	smc_dev_del(&rdev->dev);
	/* a handshake queues it as long as it finds the device */
	cancel_delayed_work_sync(&rdev->ports_work);
	/* lgr_down has stopped the works of each link */
	destroy_workqueue(rdev->wq);
	kfree(rdev);
}

/* Traces and rdma_fill_info() read it without a lock, and may see half of each. */
static void rename_group(struct smc_lgr *lgr, void *dev)
{
	smc_dev_name(dev, lgr->dev);
}

static void dev_rename(struct ib_device *ibdev, void *data)
{
	struct smc_rdma_dev *rdev = data;

	smc_dev_rename(&rdev->dev, dev_name(&ibdev->dev));
	smc_lgr_each_user(&rdev->dev, rename_group, &rdev->dev);
}

static struct ib_client client = {
	.name = "smc",
	.add = dev_add,
	.remove = dev_remove,
	.rename = dev_rename,
};

/**
 * smc_rdma_init() - register the transport and the host's RDMA devices
 *
 * Context: process.
 * Return: 0 or -errno.
 */
int smc_rdma_init(void)
{
	smc_xport_register(&smc_rdma_xport);
	return ib_register_client(&client);
}

/**
 * smc_rdma_exit() - undo smc_rdma_init()
 *
 * Terminates every group.
 *
 * Context: process, sleeps until no group is left.
 */
void smc_rdma_exit(void)
{
	ib_unregister_client(&client);
}
