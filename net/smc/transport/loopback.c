// SPDX-License-Identifier: GPL-2.0
/*
 * The shared-memory transport: SMC-D between two sockets of this kernel.  It is
 * the smallest complete transport; read it before the others.
 *
 * It announces itself as an emulated ISM device (SMC-D version 2.1): channel
 * 0xFFFF and a GID of 128 random bits, chosen when the module is loaded: only a
 * peer on this kernel has the same.  A token of 64 random bits identifies one
 * receive ring.
 *
 * conn_attach finds the peer's ring by that token and makes it the send ring:
 * sendmsg makes the only copy, and a push only passes positions.  A struct pair
 * joins the two ends.  The client's conn_attach makes it and joins both ends, if
 * they have the same TCP connection: to know a token is no right to its ring.
 * The server's accepts only the token of the end that it was joined to.
 *
 * push runs under tx_lock and calls the peer's smc_conn_rx().  If that requests
 * a push in the other direction, pushed() does it without a lock: one caller at
 * a time loops there for both ends, so the two ends do not recurse.
 *
 * A group has nothing here, so there is no link: a namespace has one group for
 * each role and EID (struct smc_xport).
 *
 * Lifetime: the end that leaves last frees the pair.  The memory of a ring has
 * two references, of its connection and of the peer that writes to it.  A ring
 * goes into the pool if the peer has dropped its reference, which it does when
 * its program closes; else the peer frees the memory later.  An end
 * that has left is NULL in the pair.  A connection found there under RCU stays
 * valid in the read section; smc_conn_rx() ignores one that is leaving.
 *
 * Locks: lo.lock (spinlock, BH) protects tokens and the making and breaking of
 * pairs; a leaf.
 * Tests: selftests/vm/tests.
 */
#include <linux/hashtable.h>
#include <linux/random.h>
#include <linux/rcupdate.h>
#include <linux/slab.h>
#include <linux/unaligned.h>
#include "core/buf.h"
#include "core/conn.h"
#include "core/lgr.h"
#include "loopback.h"
#include "core/xport.h"

#define MAX_SIZE_CODE	6		/* 1 MiB, as ISM devices have it */
#define TOKEN_BITS	10

enum end {
	CLIENT,
	SERVER,
	ENDS,
};

/* Bits of pair->todo: an end has something to push; pushed() is running. */
#define TODO_PUSH(end)	(end)
#define TODO_BUSY	ENDS

/**
 * struct pair - two connections that have found each other
 * @conn: the two ends, read under RCU; NULL: has left
 * @todo: TODO_* bits
 * @rcu: frees it
 */
struct pair {
	struct smc_conn __rcu *conn[ENDS];
	unsigned long todo;
	struct rcu_head rcu;
};

/**
 * struct lo_buf - memory of a ring
 * @buf: what the core sees
 * @refs: its connection or the pool, and the peer that writes to it
 * @written: ring offset behind the last byte of that peer, once it has gone
 */
struct lo_buf {
	struct smc_buf buf;
	refcount_t refs;
	u32 written;
};

/**
 * struct lo_conn - a connection's private area
 * @node: in the table of tokens until the peer has used it, once
 * @conn: back pointer
 * @token: names the receive ring
 * @peer_token: names the peer's
 * @pair: joins the two ends, NULL until then; set under lo.lock
 * @end: which of the two this is
 * @ring: the peer's ring, referenced
 */
struct lo_conn {
	struct hlist_node node;
	struct smc_conn *conn;
	u64 token;
	u64 peer_token;
	struct pair *pair;
	enum end end;
	struct lo_buf *ring;
};

static struct {
	struct smc_dev dev;
	/* both: see choose_gid() */
	u64 gid;
	u64 gid_ext;
	spinlock_t lock;	/* tokens, lo_conn.pair, pair.conn */
	DECLARE_HASHTABLE(tokens, TOKEN_BITS);
} lo = {
	.lock = __SPIN_LOCK_UNLOCKED(lo.lock),
};

static void lo_get_gid(u64 *gid, u64 *gid_ext)
{
	*gid = READ_ONCE(lo.gid);
	*gid_ext = READ_ONCE(lo.gid_ext);
}

static struct lo_buf *lo_buf(struct smc_buf *buf)
{
	return container_of(buf, struct lo_buf, buf);
}

static enum smc_reason lo_find_path(const struct smc_route *route,
				    struct smc_path *path)
{
	if (!smc_dev_get(&lo.dev))
		return SMC_REASON_NOSMCDDEV;
	memset(path, 0, sizeof(*path));
	path->dev = &lo.dev;
	path->v2 = true;
	lo_get_gid(&path->ism_gid, &path->ism_gid_ext);
	path->chid = SMC_CHID_LOOPBACK;
	return SMC_REASON_OK;
}

static int buf_alloc(struct smc_lgr *lgr, struct smc_buf *buf)
{
	buf->cpu = kvzalloc(buf->size, SMC_BUF_GFP);
	if (!buf->cpu)
		return -ENOMEM;
	refcount_set(&lo_buf(buf)->refs, 1);
	return 0;
}

static void buf_put(struct lo_buf *lbuf)
{
	if (!refcount_dec_and_test(&lbuf->refs))
		return;
	kvfree(lbuf->buf.cpu);
	smc_buf_freed(&lbuf->buf);
	kfree(lbuf);
}

static void buf_free(struct smc_lgr *lgr, struct smc_buf *buf)
{
	buf_put(lo_buf(buf));
}

static struct lo_conn *find_token(u64 token)
{
	struct lo_conn *lc;

	lockdep_assert_held(&lo.lock);
	hash_for_each_possible(lo.tokens, lc, node, token)
		if (lc->token == token)
			return lc;
	return NULL;
}

static int lo_describe(struct smc_conn *conn, struct smc_clc_accept *acc)
{
	struct lo_conn *lc = conn->xp;

	spin_lock_bh(&lo.lock);
	if (!lc->conn) {
		lc->conn = conn;
		do {
			lc->token = get_random_u64();
		} while (!lc->token || find_token(lc->token));
		hash_add(lo.tokens, &lc->node, lc->token);
	}
	spin_unlock_bh(&lo.lock);
	lo_get_gid(&acc->d.gid, &acc->d.gid_ext);
	acc->d.token = lc->token;
	acc->d.chid = SMC_CHID_LOOPBACK;
	acc->d.size_code = smc_size_code(conn->rmb->size);
	put_unaligned_be32(conn->lgr->id, acc->d.link_id);
	return 0;
}

/*
 * Make the peer's ring our send ring: its token is used up.  lo.lock keeps the
 * peer from leaving.
 */
static void map_ring(struct smc_conn *conn, struct lo_conn *peer)
{
	struct lo_conn *lc = conn->xp;

	lockdep_assert_held(&lo.lock);
	lc->ring = lo_buf(peer->conn->rmb);
	refcount_inc(&lc->ring->refs);
	lc->peer_token = peer->token;
	conn->peer_token = peer->conn->token;
	conn->peer_size = peer->conn->rcv_size;
	conn->snd_base = peer->conn->rcv_base;
	conn->snd_size = peer->conn->rcv_size;
	conn->merged = true;
	hash_del(&peer->node);
}

/* The client attaches first: join both ends, of one TCP connection. */
static int join_client(struct smc_conn *conn, struct lo_conn *peer,
		       struct pair *pair)
{
	struct lo_conn *lc = conn->xp;

	lockdep_assert_held(&lo.lock);
	if (!peer || peer->pair || peer->conn->lgr->role != SMC_SERV ||
	    peer->conn->stream != conn->stream)
		return -EPROTO;
	rcu_assign_pointer(pair->conn[CLIENT], conn);
	rcu_assign_pointer(pair->conn[SERVER], peer->conn);
	lc->end = CLIENT;
	peer->end = SERVER;
	WRITE_ONCE(peer->pair, pair);
	WRITE_ONCE(lc->pair, pair);
	map_ring(conn, peer);
	return 0;
}

/* The token must be that of the client which joined this end. */
static int join_server(struct smc_conn *conn, struct lo_conn *peer)
{
	struct lo_conn *lc = conn->xp;

	lockdep_assert_held(&lo.lock);
	if (!peer || !lc->pair || lc->end != SERVER || peer->pair != lc->pair)
		return -EPROTO;
	map_ring(conn, peer);
	return 0;
}

static int lo_conn_attach(struct smc_conn *conn,
			  const struct smc_clc_accept *acc)
{
	bool is_client = conn->lgr->role == SMC_CLNT;
	struct pair *pair = NULL;
	struct lo_conn *peer;
	u64 gid, gid_ext;
	int rc;

	lo_get_gid(&gid, &gid_ext);
	if (acc->d.gid != gid || acc->d.gid_ext != gid_ext)
		return -EPROTO;
	if (is_client) {
		pair = kzalloc(sizeof(*pair), GFP_KERNEL);
		if (!pair)
			return -ENOMEM;
	}
	spin_lock_bh(&lo.lock);
	peer = find_token(acc->d.token);
	rc = is_client ? join_client(conn, peer, pair) :
			 join_server(conn, peer);
	spin_unlock_bh(&lo.lock);
	if (rc)
		kfree(pair);
	return rc;
}

/* Unmap the peer's ring, which the program has written to. */
static void writer_gone(struct smc_conn *conn)
{
	struct lo_conn *lc = conn->xp;

	if (!lc->ring)
		return;
	/* also bytes that were never pushed; pairs with unmapped() */
	lc->ring->written = min_t(u64, smc_conn_dirty(conn),
				  lc->ring->buf.size);
	buf_put(lc->ring);
	lc->ring = NULL;
	conn->snd_base = NULL;
}

/*
 * Has the peer unmapped our ring?  Without a token and a pair it cannot be
 * mapped any more.
 */
static bool unmapped(struct lo_buf *lbuf)
{
	if (refcount_read(&lbuf->refs) > 1)
		return false;
	/* its last bytes, and how far they reach: pairs with buf_put() */
	smp_mb();
	lbuf->buf.used = lbuf->written;
	return true;
}

static bool lo_conn_detach(struct smc_conn *conn)
{
	struct lo_conn *lc = conn->xp;
	struct pair *pair;
	bool last = false;

	spin_lock_bh(&lo.lock);
	if (lc->conn)
		hash_del(&lc->node);
	lc->conn = NULL;
	pair = lc->pair;
	WRITE_ONCE(lc->pair, NULL);
	if (pair) {
		RCU_INIT_POINTER(pair->conn[lc->end], NULL);
		last = !rcu_access_pointer(pair->conn[!lc->end]);
	}
	spin_unlock_bh(&lo.lock);
	if (last)
		kfree_rcu(pair, rcu);
	writer_gone(conn);
	conn->rmb->peer_may_write = !unmapped(lo_buf(conn->rmb));
	return true;
}

/*
 * The bytes are in the peer's ring already.  tx_lock disables BH, which is an
 * RCU read section.
 */
static int lo_push(struct smc_conn *conn, const struct smc_push *p)
{
	struct lo_conn *lc = conn->xp;
	struct smc_conn *peer;
	struct pair *pair;

	lockdep_assert_held(&conn->tx_lock);
	pair = READ_ONCE(lc->pair);
	peer = pair ? rcu_dereference_bh(pair->conn[!lc->end]) : NULL;
	/* NULL: the peer has left */
	if (!peer || !smc_conn_rx(peer, &p->up))
		return 0;
	/* what there is to push before the bit: pairs with push_end() */
	smp_mb__before_atomic();
	set_bit(TODO_PUSH(!lc->end), &pair->todo);
	return 1;
}

static void push_end(struct pair *pair, enum end end)
{
	struct smc_conn *conn;

	/* a full barrier: pairs with lo_push() */
	if (!test_and_clear_bit(TODO_PUSH(end), &pair->todo))
		return;
	conn = rcu_dereference(pair->conn[end]);
	if (conn)
		smc_conn_push_rcu(conn);
}

/* Push for both ends until neither has a TODO_PUSH bit. */
static void pushed(struct smc_conn *conn)
{
	struct lo_conn *lc;
	struct pair *pair;

	rcu_read_lock();
	/* without tx_lock: the connection may be leaving */
	lc = READ_ONCE(conn->xp);
	pair = lc ? READ_ONCE(lc->pair) : NULL;
	/* if another caller has TODO_BUSY, it sees the bit set by lo_push() */
	while (pair && READ_ONCE(pair->todo) & ~BIT(TODO_BUSY) &&
	       !test_and_set_bit(TODO_BUSY, &pair->todo)) {
		push_end(pair, CLIENT);
		push_end(pair, SERVER);
		clear_bit(TODO_BUSY, &pair->todo);
		/* pairs with the full barrier of test_and_set_bit() */
		smp_mb__after_atomic();
	}
	rcu_read_unlock();
}

static void lo_fill_info(const struct smc_lgr *lgr, const struct smc_conn *conn,
			 struct smc_xport_info *info)
{
	const struct lo_conn *lc = conn ? READ_ONCE(conn->xp) : NULL;

	strscpy(info->dev, "lo", sizeof(info->dev));
	lo_get_gid(&info->ism_gid, &info->ism_gid_ext);
	lo_get_gid(&info->peer_ism_gid, &info->peer_ism_gid_ext);
	if (!lc)
		return;
	info->token = lc->token;
	info->peer_token = lc->peer_token;
}

static bool fill_dev(struct smc_dev *dev, struct net *net,
		     struct smc_dev_info *info)
{
	info->chid = SMC_CHID_LOOPBACK;
	return true;
}

static const struct smc_xport xport = {
	.id		= SMC_XPORT_D,
	.lgr_size	= sizeof(struct smc_lgr),
	.buf_size	= sizeof(struct lo_buf),
	.conn_size	= sizeof(struct lo_conn),
	.merges		= true,
	.max_size_code	= MAX_SIZE_CODE,
	.find_path	= lo_find_path,
	.buf_alloc	= buf_alloc,
	.buf_free	= buf_free,
	.describe	= lo_describe,
	.conn_attach	= lo_conn_attach,
	.conn_detach	= lo_conn_detach,
	.writer_gone	= writer_gone,
	.push		= lo_push,
	.pushed		= pushed,
	.fill_info	= lo_fill_info,
	.fill_dev	= fill_dev,
};

static void choose_gid(void)
{
	WRITE_ONCE(lo.gid, get_random_u64());
	WRITE_ONCE(lo.gid_ext, get_random_u64());
}

/*
 * A virtual machine goes on from a snapshot, perhaps more than one of them: a
 * peer with the old GID may be another machine, which has none of our rings.
 * Connections do not look at the GID, and a handshake falls back.
 */
static int vm_forked(struct notifier_block *nb, unsigned long action,
		     void *data)
{
	choose_gid();
	return NOTIFY_DONE;
}

static struct notifier_block fork_nb = { .notifier_call = vm_forked };

/**
 * smc_lo_init() - register the transport and its device
 *
 * Context: process.
 * Return: 0.
 */
int smc_lo_init(void)
{
	choose_gid();
	hash_init(lo.tokens);
	smc_xport_register(&xport);
	smc_dev_add(&lo.dev, &xport, "lo");
	/* fails only for a block that is registered */
	register_random_vmfork_notifier(&fork_nb);
	return 0;
}

/**
 * smc_lo_exit() - undo smc_lo_init()
 *
 * Terminates every group.
 *
 * Context: process, sleeps until no group is left.
 */
void smc_lo_exit(void)
{
	unregister_random_vmfork_notifier(&fork_nb);
	smc_dev_del(&lo.dev);
}
