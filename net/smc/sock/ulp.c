// SPDX-License-Identifier: GPL-2.0
/*
 * What TCP tells us of a socket that is ours: what happens to its connection, a
 * child that it gets as a listener, and its end.
 *
 * A child whose SYN had no offer never has a context: it is TCP's from birth.
 *
 * Context: per function.  Tests: selftests/smc.
 */
#include <linux/module.h>
#include <linux/smc_diag.h>
#include <net/netlink.h>
#include <net/sock.h>

#include "sock.h"
#include "stats.h"

/* Bit 0: a child without a context has a callback of ours. */
static unsigned long pinned;

/*
 * -- TCP's callbacks; the socket is locked, as a rule: the core tells of errors
 * without a lock, and so does TCP of a child, of which the listener may have let
 * go and be a client by now --
 */

static void tcp_event(struct smc_sock *smc)
{
	if (rcu_access_pointer(smc->conn))
		smc_close_tcp_event(smc);
	else if (rcu_access_pointer(smc->hs))
		smc_attempt_wake(smc);
	else if (smc_sock_rules(smc)->tells)
		smc_defer_event(smc);
}

static void data_ready(struct sock *sk)
{
	struct smc_sock *smc = smc_sock_get(sk);

	if (!smc)
		return;
	tcp_event(smc);
	smc_sock_put(smc);
}

static void state_change(struct sock *sk)
{
	struct smc_sock *smc = smc_sock_get(sk);

	if (!smc)
		return;
	/* not by error_report(): our own disconnect() calls that, too */
	if (smc_sock_rules(smc)->attempt && !rcu_access_pointer(smc->hs))
		smc_attempt_event(smc);
	else
		tcp_event(smc);
	if (smc_sock_rules(smc)->tells)
		smc->state_change(sk);
	smc_sock_put(smc);
}

/*
 * An error; or something for the program in the error queue, of which the core
 * tells without a lock.
 */
static void error_report(struct sock *sk)
{
	struct smc_sock *smc = smc_sock_get(sk);
	void (*own)(struct sock *sk);

	if (!smc) {
		/* it fell back meanwhile: the news is TCP's to tell */
		own = READ_ONCE(sk->sk_error_report);
		if (own != error_report)
			own(sk);
		return;
	}
	tcp_event(smc);
	if (smc_sock_rules(smc)->tells ||
	    !skb_queue_empty_lockless(&sk->sk_error_queue))
		smc->error_report(sk);
	smc_sock_put(smc);
}

/*
 * TCP has a child for a listener, which is not locked, or a child is settled.
 * The child may come from another listener.
 */
static void listener_ready(struct sock *sk)
{
	bool listens = inet_sk_state_load(sk) == TCP_LISTEN;

	if (listens)
		smc_acceptq_adopt(sk);
	if (!listens || smc_acceptq_settle(sk))
		smc_core_ready(sk);
}

/* No memory for a context: reset the child, whose first bytes are CLC. */
static void no_memory(struct sock *sk)
{
	sk->sk_prot->disconnect(sk, O_NONBLOCK);
	WRITE_ONCE(sk->sk_err, ENOMEM);
}

/* A child that is TCP's from birth; @from: its listener's context. */
static void plain_child(const struct request_sock *req, struct sock *sk,
			const struct smc_sock *from)
{
	struct smc_net *sn = smc_net(sock_net(sk));
	enum smc_reason why;

	if (test_bit(SMC_SK_CORK, &from->bits))
		tcp_sk(sk)->nonagle |= TCP_NAGLE_CORK;
	/* a listener that is disabled did not answer the offer */
	why = smc_sock_want(from);
	if (why == SMC_REASON_OK)
		why = SMC_REASON_PEERNOSMC;
	smc_stats_inc(sn, SMC_STAT_HS_SRV_TCP);
	smc_stats_fallback(sn, true, why);
	smc_row_plain_child(sn, req, sk, from->row.family, why);
}

/*
 * A child that will have a handshake; @from: the listener's context, or NULL;
 * @taken: another part of the kernel has the listener, and will put its callbacks
 * into the child, where a connection of ours would not call them
 */
static void offered_child(struct sock *sk, const struct smc_sock *from,
			  bool taken, gfp_t gfp)
{
	struct smc_sock *smc;

	smc = from ? smc_sock_attach_child(sk, from, gfp) : NULL;
	if (!smc) {
		/* the child's end is not seen: its callback pins the module */
		if (!test_and_set_bit(0, &pinned))
			__module_get(THIS_MODULE);
		WRITE_ONCE(sk->sk_rcvlowat, 1);
		sk->sk_data_ready = no_memory;
		return;
	}
	smc->bits = READ_ONCE(from->bits) &
		    (BIT(SMC_SK_CORK) | BIT(SMC_SK_LIMIT_HS));
	set_bit(SMC_SK_SERVER, &smc->bits);
	WRITE_ONCE(smc->row.family, from->row.family);
	/* not the request's listener: the request may have migrated */
	if (refcount_inc_not_zero(&from->sk->sk_refcnt))
		smc->listener = from->sk;
	/* its handshake begins when TCP has established it */
	smc->refuse = taken ? SMC_REASON_APPTCP : smc_sock_want(from);
	smc_sock_set_phase(smc, SMC_PHASE_HS);
	smc_sock_hook(smc);
}

/*
 * Softirq or process, under RCU; the child's spinlock is held, and it is in no
 * table.
 */
static void ulp_clone(const struct request_sock *req, struct sock *sk,
		      const gfp_t gfp)
{
	struct inet_connection_sock *icsk = inet_csk(sk);
	bool taken = sk->sk_data_ready != listener_ready;
	struct smc_sock *from;

	/*
	 * TCP copied the listener without its lock.  If that is closing, @from
	 * is NULL or by now another socket's, and the child dies with the
	 * listener: what it takes from @from does not matter.
	 */
	from = rcu_dereference_raw(icsk->icsk_ulp_data);
	icsk->icsk_ulp_ops = NULL;
	RCU_INIT_POINTER(icsk->icsk_ulp_data, NULL);
	if (!taken)
		sk->sk_data_ready = smc_core_ready;
	if (from && !smc_sock_tryget(from))
		from = NULL;
	if (smc_synopt_req_has(req, sk))
		offered_child(sk, from, taken, gfp);
	else if (from)
		plain_child(req, sk, from);
	if (from)
		smc_sock_put(from);
}

/*
 * TCP destroys the socket.  It is locked, except a child that TCP gives up
 * while making it: that has neither handshake nor connection (waits_for_hs() in
 * attempt.c).  Softirq or process.
 */
static void ulp_release(struct sock *sk)
{
	struct smc_sock *smc;
	struct smc_conn *conn;

	smc = rcu_dereference_raw(inet_csk(sk)->icsk_ulp_data);
	smc_sock_set_phase(smc, SMC_PHASE_DEAD);
	if (rcu_access_pointer(smc->hs))
		(void)smc_attempt_stop(smc);
	smc_sock_stop_timer(smc);
	conn = smc_sock_conn_get(smc);
	if (conn) {
		smc_sock_drop_conn(smc, conn, 0);
		smc_conn_put(conn);
	}
	smc_sock_detach(smc);
	/* tcp_cleanup_ulp() looks at the owner */
	WRITE_ONCE(inet_csk(sk)->icsk_ulp_ops, &smc_ulp_ops);
	smc_row_del(smc->sn, &smc->row);
	smc_sock_put(smc);
}

/* For sock_diag, process or BH, no lock. */
static int ulp_get_info(struct sock *sk, struct sk_buff *skb, bool net_admin)
{
	struct smc_conn *conn = smc_sock_conn(sk);
	struct nlattr *nest;
	int rc = 0;

	if (!conn)
		return 0;
	nest = nla_nest_start(skb, SMC_ULP_INFO);
	if (!nest ||
	    nla_put_u8(skb, SMC_ULP_INFO_MODE, smc_conn_diag_mode(conn)) ||
	    nla_put_u32(skb, SMC_ULP_INFO_LGR, conn->lgr->id)) {
		nla_nest_cancel(skb, nest);
		rc = -EMSGSIZE;
	} else {
		nla_nest_end(skb, nest);
	}
	smc_conn_put(conn);
	return rc;
}

static size_t ulp_get_info_size(const struct sock *sk, bool net_admin)
{
	return nla_total_size(0) + nla_total_size(sizeof(u8)) +
	       nla_total_size(sizeof(u32));
}

/**
 * smc_ulp_init() - have the contexts call us
 *
 * Context: module init.
 */
void smc_ulp_init(void)
{
	smc_ulp_ops.clone = ulp_clone;
	smc_ulp_ops.release = ulp_release;
	smc_ulp_ops.get_info = ulp_get_info;
	smc_ulp_ops.get_info_size = ulp_get_info_size;
	smc_callbacks.data_ready = data_ready;
	smc_callbacks.state_change = state_change;
	smc_callbacks.error_report = error_report;
	smc_callbacks.listener_ready = listener_ready;
	smc_callbacks.work = smc_sock_work;
	smc_callbacks.timer = smc_defer_timer;
}
