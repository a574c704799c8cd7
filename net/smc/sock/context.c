// SPDX-License-Identifier: GPL-2.0
/*
 * The context of a TCP socket that is ours: attached, found, taken away.
 *
 * TCP keeps the pointer for us as it does for any upper layer (icsk_ulp_data).
 * What it tells us then is in ulp.c.
 *
 * Fallback takes everything away again.  A thread that is inside one of our
 * operations then goes on with what it has: it holds a reference of the
 * context, sees the phase and calls TCP's operation.  A socket goes from ours
 * to TCP's and never back, so there is nothing to wait for.
 *
 * A context pins the module.  A call that finds none, since the socket became
 * TCP's while it was on its way, pins the module itself before it can sleep
 * (smc_sock_as_tcp() in sock.h) or is counted; until then smc_context_exit()
 * waits for it.  So nothing of ours is left in a socket that is TCP's, whatever
 * becomes of it.
 *
 * Context: per function; "locked": see smc_sock_assert_locked().
 * Tests: selftests/smc.
 */
#include <linux/capability.h>
#include <linux/cred.h>
#include <linux/delay.h>
#include <linux/memcontrol.h>
#include <linux/mempool.h>
#include <linux/module.h>
#include <linux/security.h>
#include <linux/uidgid.h>
#include <linux/user_namespace.h>
#include <net/inet_common.h>
#include <net/sock.h>

#include "account.h"
#include "sock.h"
#include "stats.h"

/* Children that can be had when memory is short. */
#define RESERVE		64

/* How often smc_context_exit() looks whether calls have ended. */
#define CALLS_LOOK_MS	20

static mempool_t *pool;
/* A TCP socket from which the LSM takes the class. */
static struct socket *model;
static struct kmem_cache *cache;

/* Running calls of TCP's operations that cannot be begun anew. */
static atomic_t tcp_calls;

const struct proto_ops *smc_base6 __ro_after_init;
void (*smc_core_ready)(struct sock *sk) __ro_after_init;
struct smc_sock_callbacks smc_callbacks __ro_after_init;

/* Not registered: no program can ask for it by name, nor is init() called. */
struct tcp_ulp_ops smc_ulp_ops __ro_after_init = {
	.name	= "smc",
};

/* Is an AF_SMC socket that smc_sock_begin() has not seen yet one of IPv6? */
static bool is_new6(const struct sock *sk)
{
#if IS_ENABLED(CONFIG_IPV6)
	return inet_sk(sk)->pinet6;
#else
	return false;
#endif
}

/**
 * smc_sock_base() - TCP's operations for a socket
 * @sk: socket
 *
 * Context: any.
 */
const struct proto_ops *smc_sock_base(const struct sock *sk)
{
	u16 family = READ_ONCE(sk->sk_family);

	if (family == AF_INET6 || (family == AF_SMC && is_new6(sk)))
		return smc_base6;
	return &inet_stream_ops;
}

/**
 * smc_sock_get() - the context of a socket
 * @sk: socket
 *
 * Reads the data before the operations: if the operations are ours, so are the
 * data.  Looks again when it has the reference: the context may have been freed
 * and be another socket's by then.
 *
 * Context: any.
 * Return: context with a reference, or NULL: this is a TCP socket.
 */
struct smc_sock *smc_sock_get(struct sock *sk)
{
	struct inet_connection_sock *icsk = inet_csk(sk);
	struct smc_sock *smc;

	rcu_read_lock();
	smc = rcu_dereference(icsk->icsk_ulp_data);
	/* pairs with smc_sock_detach() */
	smp_rmb();
	if (!smc_sock_has_context(sk) || !smc || !smc_sock_tryget(smc)) {
		smc = NULL;
	} else if (unlikely(rcu_access_pointer(icsk->icsk_ulp_data) != smc)) {
		smc_sock_put(smc);
		smc = NULL;
	}
	rcu_read_unlock();
	return smc;
}

/**
 * smc_sock_locked() - the context of a locked socket
 * @sk: socket
 *
 * Context: any; the socket is locked.
 * Return: context that stays until the lock is dropped, or NULL.
 */
struct smc_sock *smc_sock_locked(const struct sock *sk)
{
	if (!smc_sock_has_context(sk))
		return NULL;
	return rcu_dereference_protected(inet_csk(sk)->icsk_ulp_data,
					 lockdep_sock_is_held(sk));
}

static void become_inet(struct sock *sk)
{
	WRITE_ONCE(sk->sk_family, is_new6(sk) ? AF_INET6 : AF_INET);
	write_lock_bh(&sk->sk_callback_lock);
	rcu_assign_sk_user_data(sk, NULL);
	write_unlock_bh(&sk->sk_callback_lock);
}

/**
 * smc_sock_set_class() - to the LSM a socket is one of TCP from now on
 * @sk: socket
 *
 * Context: process.
 */
void smc_sock_set_class(struct sock *sk)
{
	security_sock_graft(sk, model);
}

/**
 * smc_sock_begin_locked() - a system call begins to use a socket
 * @smc: context of a socket that the caller owns
 *
 * The core has told the LSM that the socket is of AF_SMC, or a raw one: SELinux
 * would not ask for the permissions of TCP sockets, and for an IPv4 or IPv6
 * socket would ask for one that the class of AF_SMC does not have.  So a socket
 * of AF_SMC has that family, and each has the class that the core gave it,
 * until the first call; from then on they are those of a TCP socket.
 *
 * Context: process.
 */
void smc_sock_begin_locked(struct smc_sock *smc)
{
	struct sock *sk = smc->sk;

	smc_sock_assert_locked(sk);
	if (!test_and_clear_bit(SMC_SK_NEW, &smc->bits))
		return;
	if (sk->sk_family == AF_SMC)
		become_inet(sk);
	smc_sock_set_class(sk);
}

/**
 * smc_sock_begin() - the same for a socket that is not owned
 * @smc: context
 *
 * Context: process, no lock held.
 */
void smc_sock_begin(struct smc_sock *smc)
{
	if (likely(!test_bit(SMC_SK_NEW, &smc->bits)))
		return;
	lock_sock(smc->sk);
	smc_sock_begin_locked(smc);
	release_sock(smc->sk);
}

/**
 * smc_sock_hold() - take another reference
 * @smc: context the caller has a reference of
 *
 * Context: any.
 */
void smc_sock_hold(struct smc_sock *smc)
{
	refcount_inc(&smc->refs);
}

/**
 * smc_sock_put() - drop a reference
 * @smc: context
 *
 * Context: any.
 */
void smc_sock_put(struct smc_sock *smc)
{
	if (!refcount_dec_and_test(&smc->refs))
		return;
	if (smc->listener)
		sock_put(smc->listener);
	smc_stats_inc(smc->sn, SMC_STAT_SOCK_DESTROYED);
	smc_account_put(smc->user);
	mem_cgroup_put(smc->memcg);
	mempool_free(smc, pool);
	/* smc_context_exit() waits for the instructions that follow */
	module_put(THIS_MODULE);
}

/* -- attach and detach -- */

/*
 * What a socket's context is at first.  A look-up that found it as another
 * socket's may still try to get a reference: there is none before attach().
 */
static void setup(struct smc_sock *smc, struct sock *sk)
{
	/* the rest is initialised below; smc_sock_conn() may see NULL now */
	data_race(memset(smc, 0, offsetof(struct smc_sock, state_lock)));
	smc->sk = sk;
	smc->sn = smc_net(sock_net(sk));
	spin_lock_init(&smc->state_lock);
	INIT_DELAYED_WORK(&smc->work, smc_callbacks.work);
	timer_setup(&smc->timer, smc_callbacks.timer, 0);
	smc->data_ready = sk->sk_data_ready;
	smc->state_change = sk->sk_state_change;
	smc->error_report = sk->sk_error_report;
	mutex_init(&smc->accept_mutex);
}

/* Publish a complete context: look-ups and sock_diag find it from now on. */
static void attach(struct smc_sock *smc)
{
	struct inet_connection_sock *icsk = inet_csk(smc->sk);

	__module_get(THIS_MODULE);
	smc_stats_inc(smc->sn, SMC_STAT_SOCK_CREATED);
	smc_row_add(smc->sn, &smc->row, smc->sk);
	/* pairs with smc_sock_tryget() */
	smp_wmb();
	refcount_set(&smc->refs, 1);
	rcu_assign_pointer(icsk->icsk_ulp_data, (__force void __rcu *)smc);
	/* last: the operations mark the data as ours */
	smp_store_release(&icsk->icsk_ulp_ops, &smc_ulp_ops);
}

/*
 * The user that pays for the rings of this program.  In a user namespace that
 * is the one that made it, as with what the core counts (ucounts): a user may
 * have thousands of IDs there.  Root may be any user anyhow, so what root makes
 * for others (containers) has users of its own.
 */
static kuid_t payer(void)
{
	const struct user_namespace *ns = current_user_ns();
	kuid_t uid = current_uid();

	for (; ns != &init_user_ns && !uid_eq(ns->owner, GLOBAL_ROOT_UID);
	     ns = ns->parent)
		uid = ns->owner;
	return uid;
}

/*
 * Rings are locked memory, which is limited for a user without CAP_IPC_LOCK.
 * User and capability are those of the caller, as with other locked memory: the
 * socket's user is the file system's user ID, or another one after fchown().
 * @user: the user's account, or NULL.  Returns 0 or -ENOMEM.
 */
static int user_account(struct smc_account **user)
{
	*user = NULL;
	/* not ns_capable(): each socket would ask the security modules */
	if (cap_raised(current_cap(), CAP_IPC_LOCK) &&
	    current_user_ns() == &init_user_ns)
		return 0;
	*user = smc_account_user(payer());
	return *user ? 0 : -ENOMEM;
}

/**
 * smc_sock_attach() - a TCP socket becomes ours
 * @sk: socket that has just been made, and is in no table yet; or locked
 * @bits: of 1 << enum smc_sock_bits
 *
 * Its rings are charged to the caller.  With cgroup v1 TCP does not remember
 * whose control group that is (sk_memcg).
 *
 * Context: process.
 * Return: 0 or -ENOMEM.
 */
int smc_sock_attach(struct sock *sk, unsigned long bits)
{
	struct smc_account *user;
	struct smc_sock *smc;

	if (smc_net_begin(smc_net(sock_net(sk))) || user_account(&user))
		return -ENOMEM;
	smc = kmem_cache_alloc(cache, GFP_KERNEL);
	if (!smc) {
		smc_account_put(user);
		return -ENOMEM;
	}
	setup(smc, sk);
	smc->bits = bits;
	smc->user = user;
	smc->memcg = get_mem_cgroup_from_mm(current->mm);
	attach(smc);
	return 0;
}

/**
 * smc_sock_attach_child() - attach a context to a listener's new child
 * @sk: child that is being made
 * @from: its listener's context, referenced by the caller; its owner pays
 * @gfp: how memory may be had
 *
 * Context: any, the child's spinlock is held.
 * Return: its context, or NULL.
 */
struct smc_sock *smc_sock_attach_child(struct sock *sk,
				       const struct smc_sock *from, gfp_t gfp)
{
	struct smc_sock *smc;

	smc_sock_assert_locked(sk);
	smc = mempool_alloc(pool, gfp & ~__GFP_DIRECT_RECLAIM);
	if (!smc)
		return NULL;
	setup(smc, sk);
	smc->user = smc_account_get(from->user);
	/* cannot fail: the listener has a reference */
	mem_cgroup_tryget(from->memcg);
	smc->memcg = from->memcg;
	attach(smc);
	return smc;
}

/**
 * smc_sock_detach() - the socket has no context any more
 * @smc: context of a locked socket, or of one that TCP destroys; the caller
 *	drops the socket's reference
 *
 * Context: any.
 */
void smc_sock_detach(struct smc_sock *smc)
{
	struct inet_connection_sock *icsk = inet_csk(smc->sk);

	/* first: while the context is there the module cannot go */
	smc_synopt_off(smc->sk);
	WRITE_ONCE(icsk->icsk_ulp_ops, NULL);
	/* pairs with smc_sock_get(): not another layer's data with our ops */
	smp_wmb();
	RCU_INIT_POINTER(icsk->icsk_ulp_data, NULL);
}

/**
 * smc_sock_start_timer() - start the timer, which holds references while armed
 * @smc: context, the caller has a reference of it and of the socket
 * @expires: in jiffies
 *
 * Not sk_reset_timer(): that takes the reference when the timer may have
 * fired already and have dropped the last one, the caller's.
 *
 * Context: any.
 */
void smc_sock_start_timer(struct smc_sock *smc, unsigned long expires)
{
	sock_hold(smc->sk);
	smc_sock_hold(smc);
	if (!mod_timer(&smc->timer, expires))
		return;
	smc_sock_put(smc);
	__sock_put(smc->sk);
}

/**
 * smc_sock_stop_timer() - undo smc_sock_start_timer()
 * @smc: context, the caller has a reference of it and of the socket
 *
 * Context: any.
 */
void smc_sock_stop_timer(struct smc_sock *smc)
{
	struct sock *sk = smc->sk;

	if (!timer_delete(&smc->timer))
		return;
	smc_sock_put(smc);
	__sock_put(sk);
}

/**
 * smc_sock_hook_listener() - TCP tells us when it has a child
 * @smc: context of a locked socket that is to listen
 *
 * Another module's callback is not replaced.
 *
 * Context: any; the socket is locked.
 */
void smc_sock_hook_listener(struct smc_sock *smc)
{
	struct sock *sk = smc->sk;

	smc_sock_assert_locked(sk);
	write_lock_bh(&sk->sk_callback_lock);
	if (sk->sk_data_ready == smc_core_ready)
		WRITE_ONCE(sk->sk_data_ready, smc_callbacks.listener_ready);
	write_unlock_bh(&sk->sk_callback_lock);
}

/**
 * smc_sock_hook() - TCP tells us from now on what happens
 * @smc: context of a locked socket
 *
 * A low-water mark would keep TCP from telling us of a short message.  A kernel
 * connection multiplexer would keep our callbacks, and put them back when there
 * may be no context to pin the module: user data keeps it out.
 *
 * Context: any; the socket is locked.
 */
void smc_sock_hook(struct smc_sock *smc)
{
	struct sock *sk = smc->sk;

	smc_sock_assert_locked(sk);
	write_lock_bh(&sk->sk_callback_lock);
	/* TCP reads two of them without the lock: of a listener, of errors */
	WRITE_ONCE(sk->sk_data_ready, smc_callbacks.data_ready);
	sk->sk_state_change = smc_callbacks.state_change;
	WRITE_ONCE(sk->sk_error_report, smc_callbacks.error_report);
	if (!sk->sk_user_data)
		rcu_assign_sk_user_data(sk, sk);
	write_unlock_bh(&sk->sk_callback_lock);
	smc->lowat = 1;
	smc_sock_take_lowat(smc);
}

/**
 * smc_sock_take_lowat() - a low-water mark is ours while the callbacks are
 * @smc: context of a locked socket; nothing happens without callbacks of ours
 *
 * setsockopt() comes to smc_rx_set_lowat().  A BPF program of TCP's (sock_ops)
 * stores the mark of a child itself: that has no struct socket before accept().
 *
 * Context: any; the socket is locked.
 */
void smc_sock_take_lowat(struct smc_sock *smc)
{
	struct sock *sk = smc->sk;

	smc_sock_assert_locked(sk);
	if (!smc->lowat || likely(sk->sk_rcvlowat == 1))
		return;
	smc->lowat = sk->sk_rcvlowat;
	WRITE_ONCE(sk->sk_rcvlowat, 1);
}

/**
 * smc_sock_unhook() - TCP's callbacks are its own again
 * @smc: context of a locked socket; nothing happens without callbacks of ours
 *
 * Context: any; the socket is locked.
 */
void smc_sock_unhook(struct smc_sock *smc)
{
	struct sock *sk = smc->sk;

	smc_sock_assert_locked(sk);
	/* each for itself: another part of the kernel may have taken some */
	write_lock_bh(&sk->sk_callback_lock);
	if (sk->sk_data_ready == smc_callbacks.data_ready ||
	    sk->sk_data_ready == smc_callbacks.listener_ready)
		WRITE_ONCE(sk->sk_data_ready, smc->data_ready);
	if (sk->sk_state_change == smc_callbacks.state_change)
		sk->sk_state_change = smc->state_change;
	if (sk->sk_error_report == smc_callbacks.error_report)
		WRITE_ONCE(sk->sk_error_report, smc->error_report);
	if (sk->sk_user_data == sk)
		rcu_assign_sk_user_data(sk, NULL);
	write_unlock_bh(&sk->sk_callback_lock);
	if (smc->lowat)
		WRITE_ONCE(sk->sk_rcvlowat, smc->lowat);
	smc->lowat = 0;
}

/**
 * smc_sock_reset() - the socket is as before connect()
 * @smc: context of a locked socket that has neither handshake nor connection
 *
 * Context: any; the socket is locked.
 */
void smc_sock_reset(struct smc_sock *smc)
{
	smc_sock_unhook(smc);
	smc_sock_set_phase(smc, SMC_PHASE_INIT);
}

/**
 * smc_sock_cork_tcp() - TCP_CORK is TCP's from now on
 * @smc: context of a locked socket
 *
 * Context: any; the socket is locked.
 */
void smc_sock_cork_tcp(struct smc_sock *smc)
{
	smc_sock_assert_locked(smc->sk);
	if (test_and_clear_bit(SMC_SK_CORK, &smc->bits))
		tcp_sk(smc->sk)->nonagle |= TCP_NAGLE_CORK;
}

/**
 * smc_sock_fallback() - from now on this is a TCP socket
 * @smc: context of a locked socket; its reference is dropped
 *
 * What TCP would do with a low-water mark or a cork is done now.
 *
 * Context: any; the socket is locked.
 */
void smc_sock_fallback(struct smc_sock *smc)
{
	struct sock *sk = smc->sk;
	int lowat;

	smc_sock_take_lowat(smc);
	lowat = smc->lowat;
	smc_sock_unhook(smc);
	if (lowat > 1)
		smc_sock_base(sk)->set_rcvlowat(sk, lowat);
	smc_sock_cork_tcp(smc);
	smc_sock_stop_timer(smc);
	smc_sock_set_phase(smc, SMC_PHASE_TCP);
	smc_sock_detach(smc);
	if (sk->sk_socket) {
		clear_bit(SOCK_CUSTOM_SOCKOPT, &sk->sk_socket->flags);
		WRITE_ONCE(sk->sk_socket->ops, smc_sock_base(sk));
	}
	smc_row_past(smc->sn, &smc->row);
	smc_sock_put(smc);
}

/**
 * smc_sock_end() - the program has closed the socket, what is left is TCP's
 * @smc: context of a locked socket that has neither handshake nor connection;
 *	its reference is dropped
 *
 * TCP may need minutes to end its connection.
 *
 * Context: any; the socket is locked.
 */
void smc_sock_end(struct smc_sock *smc)
{
	smc_sock_unhook(smc);
	smc_sock_stop_timer(smc);
	smc_sock_set_phase(smc, SMC_PHASE_DEAD);
	smc_sock_detach(smc);
	smc_row_del(smc->sn, &smc->row);
	smc_sock_put(smc);
}

/**
 * smc_tcp_call_begin() - have the module's end wait for a call of TCP's
 *
 * For one that cannot be begun anew (smc_sock_pinned()).
 *
 * Context: any.
 */
void smc_tcp_call_begin(void)
{
	atomic_inc(&tcp_calls);
}

/**
 * smc_tcp_call_end() - undo smc_tcp_call_begin()
 *
 * Context: any.
 */
void smc_tcp_call_end(void)
{
	/*
	 * Last: on PREEMPT_RT a thread that wakes another one may sleep, and the
	 * module's end does not wait for that.
	 */
	atomic_dec(&tcp_calls);
}

/*
 * Not mempool_alloc_slab() and mempool_free_slab(): for these KASAN poisons
 * what is in reserve, which look-ups may still read.
 */
static void *pool_alloc(gfp_t gfp, void *unused)
{
	return kmem_cache_alloc(cache, gfp);
}

static void pool_free(void *smc, void *unused)
{
	kmem_cache_free(cache, smc);
}

/**
 * smc_context_init() - memory for contexts
 *
 * Context: process.
 * Return: 0 or -errno.
 */
int smc_context_init(void)
{
	int rc = -ENOMEM;

	cache = KMEM_CACHE(smc_sock, SLAB_ACCOUNT | SLAB_TYPESAFE_BY_RCU);
	if (!cache)
		return rc;
	pool = mempool_create(RESERVE, pool_alloc, pool_free, NULL);
	if (!pool)
		goto err_cache;
	rc = sock_create_lite(PF_INET, SOCK_STREAM, IPPROTO_TCP, &model);
	if (rc)
		goto err_pool;
	/* a thread that is preempted behind module_put() could not be waited for */
	if (IS_ENABLED(CONFIG_PREEMPTION) && !IS_ENABLED(CONFIG_TASKS_RCU))
		__module_get(THIS_MODULE);
	return 0;

err_pool:
	mempool_destroy(pool);
err_cache:
	kmem_cache_destroy(cache);
	return rc;
}

/**
 * smc_context_exit() - undo smc_context_init()
 *
 * No context exists any more.  smc_sock_put() may still have to return, and a
 * thread may have read sock->ops when they were ours.  Before such a thread
 * sleeps it fails to pin the module (smc_sock_pinned()), or is counted
 * (smc_tcp_call_begin()).
 *
 * Context: process.
 */
void smc_context_exit(void)
{
	synchronize_rcu();
	/* see smc_context_init() for kernels that do not have it */
	synchronize_rcu_tasks();
	while (atomic_read(&tcp_calls))
		msleep(CALLS_LOOK_MS);
	synchronize_rcu_tasks();
	sock_release(model);
	mempool_destroy(pool);
	kmem_cache_destroy(cache);
}
