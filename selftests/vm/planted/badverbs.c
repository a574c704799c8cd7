// SPDX-License-Identifier: GPL-2.0
/*
 * insmod badverbs.ko dev=NAME [recv_sge=N] - an RDMA device that fails its duty
 *
 * The functions of the device are replaced by others that call the originals,
 * but for those calls that the rule names.  rmmod puts the originals back; the
 * device cannot be removed before that.  What is written to the parameter
 * "rule" is the only rule from then on, and counts from 1:
 *
 *   VERB ACTION [nth=N] [count=N] [op=OP] [arg=N]
 *   off
 *
 *   VERB    post_send post_recv poll_cq create_qp modify_qp create_cq alloc_pd
 *           alloc_mr map_mr_sg dereg_mr query_port
 *   ACTION  fail     the call fails, with the error arg (default ENOMEM); of a
 *                    chain of work requests those before are posted
 *           swallow  the chain of work requests is taken and nothing happens to
 *                    it, nor to what is posted after it, until the queue pair
 *                    stops: then all is flushed.  modify_qp fails as with
 *                    "fail", and the queue pair gives back no receive that is
 *                    posted after that
 *           hold     poll_cq finds nothing until a queue pair stops or the rule
 *                    goes; query_port has its answer and returns when the rule
 *                    goes; all others but post_send and post_recv wait for that
 *                    and then begin
 *           status   a completion without an error gets the status arg
 *   nth     the first call to be treated like that (1)
 *   count   how many calls (1), 0: all from then on
 *   op      only these: send write reg_mr recv; for modify_qp init rtr rts err
 *
 * Only op=err keeps a queue pair that was ready to receive from being stopped and
 * drained.  "seen" are the calls that a rule has looked at, "hits" those that it
 * was applied to, "stops" those that stopped a queue pair since it was set.
 * Written to the parameter "event": "fatal" is the event of a device that failed,
 * "queue" one of the last queue pair made, "port_down" and "port_up" are of port
 * 1, whose state it changes; "quiet_up" changes it and tells nothing.
 * From "v1_on" to "v1_off" addresses get GIDs of RoCE version 1, too; no queue
 * pair can use these.  "pkey" is where the default P_Key is among two, 2:
 * nowhere; no queue pair can have the other one.  A receive has at most recv_sge
 * pieces of memory.
 */
#define pr_fmt(fmt) "badverbs: " fmt

#include <linux/delay.h>
#include <linux/irq_work.h>
#include <linux/module.h>
#include <linux/mutex.h>
#include <linux/slab.h>
#include <linux/spinlock.h>
#include <linux/wait_bit.h>
#include <linux/xarray.h>
#include <rdma/ib_mad.h>
#include <rdma/ib_verbs.h>

#define VERBS(X)							\
	X(post_send) X(post_recv) X(poll_cq) X(create_qp)		\
	X(modify_qp) X(create_cq) X(alloc_pd) X(alloc_mr) X(map_mr_sg)	\
	X(dereg_mr) X(query_port)

#define ACTIONS(X)	X(fail) X(swallow) X(hold) X(status)

#define VERB_ENUM(name)		VERB_##name,
#define ACTION_ENUM(name)	DO_##name,
#define NAME(name)		#name,

enum verb { VERBS(VERB_ENUM) VERB_NONE };
enum action { ACTIONS(ACTION_ENUM) DO_NUM };

static const char * const verb_names[] = { VERBS(NAME) };
static const char * const action_names[] = { ACTIONS(NAME) };

#define OP_ANY	(-1)
#define WR_OP(wr)	((wr)->opcode & ~1)	/* less "with immediate" */

#define PKEYS		2	/* if the default one is not the first */
#define PKEY_OTHER	0x8001

static const struct {
	const char *name;
	enum verb verb;
	int op;
} ops[] = {
	{ "send",	VERB_post_send,	IB_WR_SEND },
	{ "write",	VERB_post_send,	IB_WR_RDMA_WRITE },
	{ "reg_mr",	VERB_post_send,	IB_WR_REG_MR },
	{ "send",	VERB_poll_cq,	IB_WC_SEND },
	{ "write",	VERB_poll_cq,	IB_WC_RDMA_WRITE },
	{ "reg_mr",	VERB_poll_cq,	IB_WC_REG_MR },
	{ "recv",	VERB_poll_cq,	IB_WC_RECV },
	{ "init",	VERB_modify_qp,	IB_QPS_INIT },
	{ "rtr",	VERB_modify_qp,	IB_QPS_RTR },
	{ "rts",	VERB_modify_qp,	IB_QPS_RTS },
	{ "err",	VERB_modify_qp,	IB_QPS_ERR },
};

/**
 * struct rule - what is done
 * @verb: to which calls, VERB_NONE: to none
 * @action: and what
 * @nth: from this call on
 * @count: so many, 0: all
 * @op: only to those, OP_ANY: to all
 * @arg: error or status
 */
struct rule {
	enum verb verb;
	enum action action;
	unsigned int nth;
	unsigned int count;
	int op;
	int arg;
};

/* A work request that the device never got */
struct swallowed {
	struct list_head node;
	struct ib_qp *qp;
	struct ib_cqe *cqe;
	bool recv;
};

#define HELD_MAX	16

/*
 * @orig: the originals
 * @inside: calls that run in this module
 * @rules: how many there have been
 * @lock: protects what follows
 * @held: completion queues that were not served
 * @swallowed: of all queue pairs
 * @stopped: queue pairs that were stopped, by number
 * @mute: the last queue pair that gives back no receive
 * @qp_lock: protects @last_qp, which is not destroyed meanwhile
 * @port_down: what the port says of itself
 * @pkey_at: where it has the default P_Key
 */
static struct {
	struct ib_device *dev;
	const struct ib_device_ops *orig;
	atomic_t inside;
	unsigned int rules;
	spinlock_t lock;
	struct rule rule;
	unsigned int seen;
	unsigned int hits;
	unsigned int stops;
	struct ib_cq *held[HELD_MAX];
	struct list_head swallowed;
	struct xarray stopped;
	struct ib_qp *mute;
	struct mutex qp_lock;
	struct ib_qp *last_qp;
	bool port_down;
	u16 pkey_at;
} bad = {
	.inside = ATOMIC_INIT(0),
	.lock = __SPIN_LOCK_UNLOCKED(bad.lock),
	.rule.verb = VERB_NONE,
	.swallowed = LIST_HEAD_INIT(bad.swallowed),
	.stopped = XARRAY_INIT(bad.stopped, XA_FLAGS_LOCK_IRQ),
	.qp_lock = __MUTEX_INITIALIZER(bad.qp_lock),
};

static char *dev = "rxe0";
module_param(dev, charp, 0444);
static int recv_sge;
module_param(recv_sge, int, 0444);
module_param_named(seen, bad.seen, uint, 0444);
module_param_named(hits, bad.hits, uint, 0444);
module_param_named(stops, bad.stops, uint, 0444);

/* Does the rule apply to this call?  @rule gets it. */
static bool hit(enum verb verb, int op, struct rule *rule)
{
	bool applies = false;

	guard(spinlock_irqsave)(&bad.lock);
	*rule = bad.rule;
	if (rule->verb == verb && (rule->op == OP_ANY || rule->op == op)) {
		bad.seen++;
		applies = bad.seen >= rule->nth &&
			  (!rule->count || bad.seen < rule->nth + rule->count);
		bad.hits += applies;
	}
	return applies;
}

static void await_rule(unsigned int old)
{
	wait_var_event(&bad.rules, READ_ONCE(bad.rules) != old);
}

/* Does this call fail, with *@rc?  It may have to wait first. */
static bool fails(enum verb verb, int op, int *rc)
{
	unsigned int rules = READ_ONCE(bad.rules);
	struct rule rule;

	if (!hit(verb, op, &rule))
		return false;
	if (rule.action == DO_hold) {
		await_rule(rules);
		return false;
	}
	*rc = -rule.arg;
	return true;
}

static bool is_stopped(const struct ib_qp *qp)
{
	return xa_load(&bad.stopped, qp->qp_num);
}

static int swallow(struct ib_qp *qp, struct ib_cqe *cqe, bool recv)
{
	struct swallowed *s = kmalloc(sizeof(*s), GFP_ATOMIC);

	if (!s)
		return -ENOMEM;
	s->qp = qp;
	s->cqe = cqe;
	s->recv = recv;
	guard(spinlock_irqsave)(&bad.lock);
	list_add_tail(&s->node, &bad.swallowed);
	return 0;
}

/* Work requests are executed in order: is @qp stuck at one? */
static bool is_stuck(struct ib_qp *qp)
{
	struct swallowed *s;

	guard(spinlock_irqsave)(&bad.lock);
	list_for_each_entry(s, &bad.swallowed, node) {
		if (s->qp == qp && !s->recv)
			return true;
	}
	return false;
}

/* The queue pair is in the state of errors, where the device flushes them */
static void flush(struct ib_qp *qp, struct swallowed *s)
{
	const struct ib_send_wr *bad_send;
	const struct ib_recv_wr *bad_recv;
	struct ib_rdma_wr write = {
		.wr.wr_cqe = s->cqe,
		.wr.opcode = IB_WR_RDMA_WRITE,
		.wr.send_flags = IB_SEND_SIGNALED,
	};
	struct ib_recv_wr recv = { .wr_cqe = s->cqe };
	int rc;

	if (s->recv)
		rc = bad.orig->post_recv(qp, &recv, &bad_recv);
	else
		rc = bad.orig->post_send(qp, &write.wr, &bad_send);
	if (rc)
		pr_err("cannot flush: %d\n", rc);
}

/* Flush those of @qp; NULL: drop all, without a completion */
static void flush_all(struct ib_qp *qp)
{
	struct swallowed *s, *next;
	unsigned long flags;
	LIST_HEAD(list);

	spin_lock_irqsave(&bad.lock, flags);
	list_for_each_entry_safe(s, next, &bad.swallowed, node) {
		if (!qp || s->qp == qp)
			list_move_tail(&s->node, &list);
	}
	spin_unlock_irqrestore(&bad.lock, flags);
	list_for_each_entry_safe(s, next, &list, node) {
		if (qp)
			flush(qp, s);
		kfree(s);
	}
}

static void hold(struct ib_cq *cq)
{
	int i;

	guard(spinlock_irqsave)(&bad.lock);
	for (i = 0; i < HELD_MAX; i++) {
		if (!bad.held[i] || bad.held[i] == cq) {
			bad.held[i] = cq;
			break;
		}
	}
}

/* Completions are served again: the users of the queues look once more */
static void release_held(void)
{
	struct ib_cq *held[HELD_MAX];
	unsigned long flags;

	spin_lock_irqsave(&bad.lock, flags);
	memcpy(held, bad.held, sizeof(held));
	memset(bad.held, 0, sizeof(bad.held));
	spin_unlock_irqrestore(&bad.lock, flags);
	for (int i = 0; i < HELD_MAX && held[i]; i++)
		held[i]->comp_handler(held[i], held[i]->cq_context);
}

static void set_rule(const struct rule *rule)
{
	scoped_guard(spinlock_irqsave, &bad.lock) {
		bad.rule = *rule;
		bad.seen = bad.hits = bad.stops = 0;
		WRITE_ONCE(bad.rules, bad.rules + 1);
	}
	wake_up_var(&bad.rules);
	release_held();
}

/* What is flushed cannot be held back. */
static void end_hold(void)
{
	scoped_guard(spinlock_irqsave, &bad.lock) {
		bad.stops++;
		if (bad.rule.verb == VERB_poll_cq && bad.rule.action == DO_hold)
			bad.rule.verb = VERB_NONE;
	}
	release_held();
}

/* The verbs: bad_NAME() is called in place of bad.orig->NAME() */

static int bad_post_send(struct ib_qp *qp, const struct ib_send_wr *first,
			 const struct ib_send_wr **bad_wr)
{
	const struct ib_send_wr *wr = first;
	struct ib_send_wr *before = NULL;
	struct rule rule;
	bool stuck;
	int rc = 0;

	atomic_inc(&bad.inside);
	stuck = !is_stopped(qp) && is_stuck(qp);
	while (wr && !stuck && (is_stopped(qp) ||
				!hit(VERB_post_send, WR_OP(wr), &rule))) {
		before = (struct ib_send_wr *)wr;
		wr = wr->next;
	}
	if (!wr) {
		rc = bad.orig->post_send(qp, first, bad_wr);
	} else if (stuck || rule.action == DO_swallow) {
		for (wr = first; wr && !rc; wr = wr->next)
			rc = swallow(qp, wr->wr_cqe, false);
	} else {
		if (before) {
			before->next = NULL;
			rc = bad.orig->post_send(qp, first, bad_wr);
			before->next = (struct ib_send_wr *)wr;
		}
		if (!rc) {
			*bad_wr = wr;
			rc = -rule.arg;
		}
	}
	atomic_dec(&bad.inside);
	return rc;
}

static int bad_post_recv(struct ib_qp *qp, const struct ib_recv_wr *first,
			 const struct ib_recv_wr **bad_wr)
{
	const struct ib_recv_wr *wr = first;
	struct ib_recv_wr *before = NULL;
	struct rule rule;
	int rc = 0;

	atomic_inc(&bad.inside);
	while (wr && (is_stopped(qp) || !hit(VERB_post_recv, OP_ANY, &rule))) {
		before = (struct ib_recv_wr *)wr;
		wr = wr->next;
	}
	if (READ_ONCE(bad.mute) == qp) {
		rc = 0;
	} else if (!wr) {
		rc = bad.orig->post_recv(qp, first, bad_wr);
	} else if (rule.action == DO_swallow) {
		for (wr = first; wr && !rc; wr = wr->next)
			rc = swallow(qp, wr->wr_cqe, true);
	} else {
		if (before) {
			before->next = NULL;
			rc = bad.orig->post_recv(qp, first, bad_wr);
			before->next = (struct ib_recv_wr *)wr;
		}
		if (!rc) {
			*bad_wr = wr;
			rc = -rule.arg;
		}
	}
	atomic_dec(&bad.inside);
	return rc;
}

static int poll_status(struct ib_cq *cq, int num, struct ib_wc *wc)
{
	int n = bad.orig->poll_cq(cq, num, wc);
	struct rule rule;

	for (int i = 0; i < n; i++) {
		if (wc[i].status == IB_WC_SUCCESS &&
		    hit(VERB_poll_cq, wc[i].opcode, &rule))
			wc[i].status = rule.arg;
	}
	return n;
}

static int bad_poll_cq(struct ib_cq *cq, int num, struct ib_wc *wc)
{
	struct rule rule;
	int rc;

	atomic_inc(&bad.inside);
	if (READ_ONCE(bad.rule.action) == DO_status) {
		rc = poll_status(cq, num, wc);
	} else if (!hit(VERB_poll_cq, OP_ANY, &rule)) {
		rc = bad.orig->poll_cq(cq, num, wc);
	} else if (rule.action == DO_hold) {
		hold(cq);
		rc = 0;
	} else {
		rc = -rule.arg;
	}
	atomic_dec(&bad.inside);
	return rc;
}

/* What was missed while completions are held back is no reason to ask again. */
static int bad_req_notify_cq(struct ib_cq *cq, enum ib_cq_notify_flags flags)
{
	int rc;

	atomic_inc(&bad.inside);
	rc = bad.orig->req_notify_cq(cq, flags);
	if (rc > 0 && READ_ONCE(bad.rule.verb) == VERB_poll_cq &&
	    READ_ONCE(bad.rule.action) == DO_hold)
		rc = 0;
	atomic_dec(&bad.inside);
	return rc;
}

static int bad_create_qp(struct ib_qp *qp, struct ib_qp_init_attr *attr,
			 struct ib_udata *udata)
{
	int rc;

	atomic_inc(&bad.inside);
	if (attr->cap.max_recv_sge > bad.dev->attrs.max_recv_sge)
		rc = -EINVAL;
	else if (!fails(VERB_create_qp, OP_ANY, &rc))
		rc = bad.orig->create_qp(qp, attr, udata);
	if (rc) {
		/* some drivers leave what they had come to */
		attr->cap = (struct ib_qp_cap){};
	} else {
		guard(mutex)(&bad.qp_lock);
		bad.last_qp = qp;
	}
	atomic_dec(&bad.inside);
	return rc;
}

static int bad_destroy_qp(struct ib_qp *qp, struct ib_udata *udata)
{
	int rc;

	atomic_inc(&bad.inside);
	scoped_guard(mutex, &bad.qp_lock)
		bad.last_qp = bad.last_qp == qp ? NULL : bad.last_qp;
	cmpxchg(&bad.mute, qp, NULL);
	xa_erase_irq(&bad.stopped, qp->qp_num);
	rc = bad.orig->destroy_qp(qp, udata);
	atomic_dec(&bad.inside);
	return rc;
}

static void stopped(struct ib_qp *qp)
{
	xa_store_irq(&bad.stopped, qp->qp_num, qp, GFP_KERNEL);
	end_hold();
	flush_all(qp);
}

static int bad_modify_qp(struct ib_qp *qp, struct ib_qp_attr *attr, int mask,
			 struct ib_udata *udata)
{
	int state = mask & IB_QP_STATE ? attr->qp_state : OP_ANY;
	bool stops = state <= IB_QPS_RESET || state == IB_QPS_ERR;
	int rc;

	atomic_inc(&bad.inside);
	if ((stops && READ_ONCE(bad.rule.op) == OP_ANY) ||
	    !fails(VERB_modify_qp, state, &rc))
		rc = mask & IB_QP_PKEY_INDEX &&
		     attr->pkey_index != READ_ONCE(bad.pkey_at) ? -EINVAL :
		     bad.orig->modify_qp(qp, attr, mask, udata);
	else if (READ_ONCE(bad.rule.action) == DO_swallow)
		WRITE_ONCE(bad.mute, qp);
	if (!rc && state == IB_QPS_ERR)
		stopped(qp);
	atomic_dec(&bad.inside);
	return rc;
}

/* Those that fail, and nothing else */
#define SIMPLE(name, params, args)					\
static int bad_##name params						\
{									\
	int rc;								\
									\
	atomic_inc(&bad.inside);					\
	if (!fails(VERB_##name, OP_ANY, &rc))				\
		rc = bad.orig->name args;				\
	atomic_dec(&bad.inside);					\
	return rc;							\
}

SIMPLE(create_cq, (struct ib_cq *cq, const struct ib_cq_init_attr *attr,
		   struct uverbs_attr_bundle *attrs), (cq, attr, attrs))
SIMPLE(alloc_pd, (struct ib_pd *pd, struct ib_udata *udata), (pd, udata))
SIMPLE(map_mr_sg, (struct ib_mr *mr, struct scatterlist *sg, int nents,
		   unsigned int *offset), (mr, sg, nents, offset))
SIMPLE(dereg_mr, (struct ib_mr *mr, struct ib_udata *udata), (mr, udata))

static struct ib_mr *bad_alloc_mr(struct ib_pd *pd, enum ib_mr_type type,
				  u32 max_num_sg)
{
	struct ib_mr *mr;
	int rc;

	atomic_inc(&bad.inside);
	if (fails(VERB_alloc_mr, OP_ANY, &rc))
		mr = ERR_PTR(rc);
	else
		mr = bad.orig->alloc_mr(pd, type, max_num_sg);
	atomic_dec(&bad.inside);
	return mr;
}

static int bad_query_port(struct ib_device *ibdev, u32 port,
			  struct ib_port_attr *attr)
{
	unsigned int rules = READ_ONCE(bad.rules);
	struct rule rule;
	bool hits;
	int rc;

	atomic_inc(&bad.inside);
	hits = hit(VERB_query_port, OP_ANY, &rule);
	rc = hits && rule.action == DO_fail ? -rule.arg :
	     bad.orig->query_port(ibdev, port, attr);
	if (!rc && READ_ONCE(bad.port_down))
		attr->state = IB_PORT_DOWN;
	if (!rc && READ_ONCE(bad.pkey_at))
		attr->pkey_tbl_len = PKEYS;
	if (hits && rule.action == DO_hold)
		await_rule(rules);
	atomic_dec(&bad.inside);
	return rc;
}

static int bad_query_pkey(struct ib_device *ibdev, u32 port, u16 index,
			  u16 *pkey)
{
	atomic_inc(&bad.inside);
	*pkey = index == READ_ONCE(bad.pkey_at) ? IB_DEFAULT_PKEY_FULL :
						  PKEY_OTHER;
	atomic_dec(&bad.inside);
	return 0;
}

/* Parameters */

static int word_op(enum verb verb, const char *word)
{
	for (int i = 0; i < ARRAY_SIZE(ops); i++)
		if (ops[i].verb == verb && !strcmp(ops[i].name, word))
			return ops[i].op;
	return -EINVAL;
}

static int parse_option(struct rule *rule, char *word)
{
	char *value = strchr(word, '=');

	if (!value)
		return -EINVAL;
	*value++ = '\0';
	if (!strcmp(word, "nth"))
		return kstrtouint(value, 0, &rule->nth);
	if (!strcmp(word, "count"))
		return kstrtouint(value, 0, &rule->count);
	if (!strcmp(word, "arg"))
		return kstrtoint(value, 0, &rule->arg);
	if (strcmp(word, "op"))
		return -EINVAL;
	rule->op = word_op(rule->verb, value);
	return rule->op < 0 ? rule->op : 0;
}

static int parse(struct rule *rule, char *text)
{
	char *word = strsep(&text, " ");
	int rc;

	if (!strcmp(word, "off"))
		return 0;
	rc = match_string(verb_names, VERB_NONE, word);
	if (rc < 0 || !text)
		return -EINVAL;
	rule->verb = rc;
	rc = match_string(action_names, DO_NUM, strsep(&text, " "));
	if (rc < 0)
		return rc;
	rule->action = rc;
	while ((word = strsep(&text, " "))) {
		rc = parse_option(rule, word);
		if (rc)
			return rc;
	}
	return 0;
}

static int rule_set(const char *val, const struct kernel_param *kp)
{
	struct rule rule = {
		.verb = VERB_NONE,
		.nth = 1,
		.count = 1,
		.op = OP_ANY,
		.arg = ENOMEM,
	};
	char *text = kstrdup(val, GFP_KERNEL);
	int rc;

	if (!text)
		return -ENOMEM;
	rc = parse(&rule, strim(text));
	if (!rc)
		set_rule(&rule);
	kfree(text);
	return rc;
}

static int port_event(enum ib_event_type type)
{
	const struct ib_event event = {
		.device = bad.dev,
		.event = type,
		.element.port_num = 1,
	};

	ib_dispatch_event(&event);
	return 0;
}

/* Some drivers tell it so. */
static void in_hard_interrupt(struct irq_work *work)
{
	struct ib_event event = {
		.device = bad.dev,
		.event = IB_EVENT_QP_FATAL,
		.element.qp = bad.last_qp,
	};

	bad.last_qp->event_handler(&event, bad.last_qp->qp_context);
}

static struct irq_work queue_event_work = IRQ_WORK_INIT_HARD(in_hard_interrupt);

static int queue_event(void)
{
	guard(mutex)(&bad.qp_lock);
	if (!bad.last_qp)
		return -ENOENT;
	irq_work_queue(&queue_event_work);
	irq_work_sync(&queue_event_work);
	return 0;
}

/* What port 1 says it can do. */
static int set_v1(bool on)
{
	struct ib_port_immutable *port = &bad.dev->port_data[1].immutable;

	if (on)
		port->core_cap_flags |= RDMA_CORE_CAP_PROT_ROCE;
	else
		port->core_cap_flags &= ~RDMA_CORE_CAP_PROT_ROCE;
	return 0;
}

static int event_set(const char *val, const struct kernel_param *kp)
{
	bool down = sysfs_streq(val, "port_down");
	bool quiet = sysfs_streq(val, "quiet_up");

	if (!bad.dev)
		return -ENODEV;
	if (sysfs_streq(val, "queue"))
		return queue_event();
	if (sysfs_streq(val, "fatal"))
		return port_event(IB_EVENT_DEVICE_FATAL);
	if (sysfs_streq(val, "v1_on") || sysfs_streq(val, "v1_off"))
		return set_v1(sysfs_streq(val, "v1_on"));
	if (!down && !quiet && !sysfs_streq(val, "port_up"))
		return -EINVAL;
	WRITE_ONCE(bad.port_down, down);
	if (quiet)
		return 0;
	return port_event(down ? IB_EVENT_PORT_ERR : IB_EVENT_PORT_ACTIVE);
}

static int pkey_set(const char *val, const struct kernel_param *kp)
{
	int rc = param_set_ushort(val, kp);

	if (!rc && bad.dev)
		port_event(IB_EVENT_PKEY_CHANGE);
	return rc;
}

static const struct kernel_param_ops rule_ops = { .set = rule_set };
static const struct kernel_param_ops event_ops = { .set = event_set };
static const struct kernel_param_ops pkey_ops = { .set = pkey_set };
module_param_cb(rule, &rule_ops, NULL, 0200);
module_param_cb(event, &event_ops, NULL, 0200);
module_param_cb(pkey, &pkey_ops, &bad.pkey_at, 0200);

#define USE(name) \
	WRITE_ONCE(bad.dev->ops.name, ours ? bad_##name : bad.orig->name)

static void use_ops(bool ours)
{
	USE(post_send);
	USE(post_recv);
	USE(poll_cq);
	USE(req_notify_cq);
	USE(create_qp);
	USE(modify_qp);
	USE(destroy_qp);
	USE(create_cq);
	USE(alloc_pd);
	USE(alloc_mr);
	USE(map_mr_sg);
	USE(dereg_mr);
	USE(query_port);
	USE(query_pkey);
}

static int __init badverbs_init(void)
{
	bad.dev = ib_device_get_by_name(dev, RDMA_DRIVER_UNKNOWN);
	if (!bad.dev)
		return -ENODEV;
	bad.orig = kmemdup(&bad.dev->ops, sizeof(bad.dev->ops), GFP_KERNEL);
	if (!bad.orig) {
		ib_device_put(bad.dev);
		return -ENOMEM;
	}
	if (recv_sge)
		swap(recv_sge, bad.dev->attrs.max_recv_sge);
	use_ops(true);
	return 0;
}

static void __exit badverbs_exit(void)
{
	static const struct rule off = { .verb = VERB_NONE };

	set_rule(&off);
	use_ops(false);
	if (recv_sge)
		swap(recv_sge, bad.dev->attrs.max_recv_sge);
	/* A call that has just come in is not yet counted. */
	synchronize_rcu();
	msleep(20);
	while (atomic_read(&bad.inside))
		msleep(20);
	synchronize_rcu();
	flush_all(NULL);
	xa_destroy(&bad.stopped);
	kfree(bad.orig);
	ib_device_put(bad.dev);
}

module_init(badverbs_init);
module_exit(badverbs_exit);

MODULE_DESCRIPTION("An RDMA device that fails as it is told");
MODULE_LICENSE("GPL");
