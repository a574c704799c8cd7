// SPDX-License-Identifier: GPL-2.0
/*
 * Registering receive rings, on a queue pair of its own.
 *
 * A REG_MR is a local operation and needs a queue pair of the ring's protection
 * domain that is in RTS, but not the one that carries the data.  Each link has
 * a small one for it, connected to itself, on which nothing is sent or
 * received: registrations and data do not wait for each other.  A device needs
 * two queue pairs for each link.
 *
 * It is in RTS when the group has been made: on a first contact, too, a ring is
 * registered before the peer gets its key.
 *
 * Soft-RoCE: a queue pair connected to itself reaches RTS and completes REG_MR
 * there.  If a message in front of a REG_MR in the same queue has to be sent
 * again, it executes the REG_MR again, which breaks the queue pair: here there
 * are no messages.
 *
 * One work request is posted at a time, the others wait in link->regs.  The
 * core keeps connection, ring and group until smc_conn_described().
 *
 * Context: post_lock as in rdma.h; up-calls with no lock held.
 * Tests: selftests/vm/tests (fault_verbs, link_down, rdma_busy).
 */
#include "rdma.h"

static struct smc_rdma_buf *first_reg(struct smc_rdma_link *link)
{
	lockdep_assert_held(&link->post_lock);
	return list_first_entry_or_null(&link->regs, struct smc_rdma_buf,
					reg_node);
}

/* Post the first one; the peer may write when it has completed. */
static int post_first(struct smc_rdma_link *link)
{
	struct smc_rdma_buf *rbuf = first_reg(link);
	struct ib_reg_wr reg = {
		.wr.wr_cqe = &rbuf->reg_cqe,
		.wr.opcode = IB_WR_REG_MR,
		.wr.send_flags = IB_SEND_SIGNALED,
		.mr = rbuf->mr,
		.key = rbuf->mr->rkey,
		.access = IB_ACCESS_LOCAL_WRITE | IB_ACCESS_REMOTE_WRITE,
	};
	int rc;

	rc = ib_post_send(link->reg_qp, &reg.wr, NULL);
	if (rc)
		return rc;
	link->reg_posted = true;
	link->reg_looks = 0;
	smc_stats_inc(link->lgr->sn, SMC_STAT_WR_POSTED);
	return 0;
}

/* The first one has ended: the caller passes @ended to tell_ended(). */
static void end_first(struct smc_rdma_link *link, enum smc_rdma_reg how,
		      struct list_head *ended)
{
	struct smc_rdma_buf *rbuf = first_reg(link);

	WRITE_ONCE(rbuf->reg, how);
	list_move_tail(&rbuf->reg_node, ended);
}

/* Each call may free the connection and the ring. */
static void tell_ended(struct list_head *ended)
{
	struct smc_rdma_buf *rbuf, *next;

	list_for_each_entry_safe(rbuf, next, ended, reg_node) {
		list_del_init(&rbuf->reg_node);
		smc_conn_described(rbuf->reg_conn);
	}
}

/* Completion of a REG_MR.  Softirq. */
static void reg_done(struct ib_cq *cq, struct ib_wc *wc)
{
	struct smc_rdma_buf *rbuf = container_of(wc->wr_cqe,
						 struct smc_rdma_buf, reg_cqe);
	struct smc_rdma_link *link = smc_rdma_link(rbuf->reg_conn->lgr);
	bool ok = wc->status == IB_WC_SUCCESS;
	LIST_HEAD(ended);

	smc_stats_inc(link->lgr->sn, SMC_STAT_WR_COMPLETED);
	/* this queue pair is broken; the other one tells the peer */
	if (!ok)
		smc_rdma_link_end(link, SMC_REASON_LINK_REG);
	spin_lock(&link->post_lock);
	link->reg_posted = false;
	end_first(link, ok ? SMC_RDMA_REG_DONE : SMC_RDMA_REG_FAILED, &ended);
	/* if the link is dead smc_rdma_reg_flush() ends the rest */
	while (!link->dead && first_reg(link) && post_first(link))
		end_first(link, SMC_RDMA_REG_FAILED, &ended);
	spin_unlock(&link->post_lock);
	tell_ended(&ended);
}

static int reg_begin(struct smc_rdma_link *link, struct smc_rdma_buf *rbuf,
		     struct smc_conn *conn)
{
	int rc = 0;

	lockdep_assert_held(&link->post_lock);
	/* before it is posted: reg_done() may run at once */
	rbuf->reg_conn = conn;
	rbuf->reg_cqe.done = reg_done;
	WRITE_ONCE(rbuf->reg, SMC_RDMA_REG_BEGUN);
	list_add_tail(&rbuf->reg_node, &link->regs);
	if (!link->reg_posted)
		rc = post_first(link);
	if (!rc)
		return -EINPROGRESS;
	list_del_init(&rbuf->reg_node);
	WRITE_ONCE(rbuf->reg, SMC_RDMA_REG_NONE);
	return rc;
}

/**
 * smc_rdma_reg_key() - the key for the peer to write into a ring
 * @link: link
 * @conn: connection of the ring
 * @rkey: the key
 *
 * Context: process.
 * Return: 0: the key is valid; -EINPROGRESS: it is being registered, call again
 * after smc_conn_described(); another -errno.
 */
int smc_rdma_reg_key(struct smc_rdma_link *link, struct smc_conn *conn,
		     u32 *rkey)
{
	struct smc_rdma_buf *rbuf = smc_rdma_buf(conn->rmb);
	int rc = -ENOLINK;

	spin_lock_bh(&link->post_lock);
	/* smc_rdma_mem_down() frees the region of a dead link */
	if (link->dead)
		goto out;
	switch (rbuf->reg) {
	case SMC_RDMA_REG_NONE:
		rc = reg_begin(link, rbuf, conn);
		break;
	case SMC_RDMA_REG_BEGUN:
		rc = -EINPROGRESS;
		break;
	case SMC_RDMA_REG_DONE:
		*rkey = rbuf->mr->rkey;
		rc = 0;
		break;
	case SMC_RDMA_REG_FAILED:
		rc = -EIO;
		break;
	}
out:
	spin_unlock_bh(&link->post_lock);
	return rc;
}

/**
 * smc_rdma_reg_tick() - end the link if a registration is stuck
 * @link: link; called every SMC_RDMA_LOOK_MS
 *
 * Context: process.
 */
void smc_rdma_reg_tick(struct smc_rdma_link *link)
{
	bool stuck;

	spin_lock_bh(&link->post_lock);
	stuck = link->reg_posted &&
		++link->reg_looks > SMC_RDMA_LOOKS(SMC_RDMA_STUCK_MS);
	spin_unlock_bh(&link->post_lock);
	if (stuck)
		smc_rdma_link_end(link, SMC_REASON_LINK_REG);
}

/**
 * smc_rdma_reg_init() - make the queue pair for registrations
 * @link: protection domain and completion queue are there
 *
 * Context: process.
 * Return: 0 or -errno.
 */
int smc_rdma_reg_init(struct smc_rdma_link *link)
{
	struct ib_qp_cap cap = {
		.max_send_wr = SMC_RDMA_REG_DEPTH,
		.max_recv_wr = 1,
	};
	struct ib_qp *qp;
	int rc;

	qp = smc_rdma_qp_create(link, &cap);
	if (IS_ERR(qp))
		return PTR_ERR(qp);
	rc = link->bringup->loop(link, qp);
	if (rc)
		ib_destroy_qp(qp);
	else
		link->reg_qp = qp;
	return rc;
}

/**
 * smc_rdma_reg_stop() - drain the queue pair for registrations and destroy it
 * @link: dead: none begins
 *
 * Context: process, waits for the device.
 * Return: false if the device has not drained it.
 */
bool smc_rdma_reg_stop(struct smc_rdma_link *link)
{
	bool drained = smc_rdma_qp_stop(link->reg_qp);

	if (drained)
		ib_drain_sq(link->reg_qp);
	smc_rdma_reg_exit(link);
	return drained && !READ_ONCE(link->reg_posted);
}

/**
 * smc_rdma_reg_flush() - all registrations end
 * @link: dead, without queue pairs; no completion is being served
 *
 * Context: process.
 */
void smc_rdma_reg_flush(struct smc_rdma_link *link)
{
	LIST_HEAD(ended);

	spin_lock_bh(&link->post_lock);
	if (link->reg_posted)
		smc_stats_inc(link->lgr->sn, SMC_STAT_WR_COMPLETED);
	link->reg_posted = false;
	while (first_reg(link))
		end_first(link, SMC_RDMA_REG_FAILED, &ended);
	spin_unlock_bh(&link->post_lock);
	tell_ended(&ended);
}

/**
 * smc_rdma_reg_exit() - undo smc_rdma_reg_init()
 * @link: link
 *
 * Context: process.
 */
void smc_rdma_reg_exit(struct smc_rdma_link *link)
{
	ib_destroy_qp(link->reg_qp);
	link->reg_qp = NULL;
}
