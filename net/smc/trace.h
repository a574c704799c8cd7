/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Trace events of the system "smc".
 *
 * The first four are those of the Linux kernel's own SMC, with their fields
 * and formats.  The others show the internals: every one carries the cookie of
 * the network namespace and the connection's token (or the group and link), so
 * that the lines of a sender and of a receiver can be joined.  An event takes
 * values only, but for the one that BPF programs answer: this header knows no
 * structure of the module and can be included anywhere.
 *
 * States and reasons are printed by name; names come from the lists in state.h
 * and <linux/smc_reason.h>.
 */
#undef TRACE_SYSTEM
#define TRACE_SYSTEM smc

#if !defined(SMC_TRACE_H) || defined(TRACE_HEADER_MULTI_READ)
#define SMC_TRACE_H

#include <linux/types.h>
#include <linux/tracepoint.h>
#include <linux/smc.h>
#include <linux/smc_reason.h>
#include "sock/state.h"

#ifndef SMC_TRACE_NAMES
#define SMC_TRACE_NAMES
#define SMC_TRACE_STATE(sym, nr, name)	{ nr, name },
#define smc_trace_state(val) \
	__print_symbolic(val, SMC_STATE_LIST(SMC_TRACE_STATE) { 0, "-" })
#define SMC_TRACE_REASON(sym, code, label, text, hint, err)	{ code, label },
#define smc_trace_reason(val) \
	__print_symbolic(val, SMC_REASON_LIST(SMC_TRACE_REASON) { 0, "OK" })
#endif

TRACE_EVENT(smc_switch_to_fallback,
	TP_PROTO(const void *sk, const void *clcsk, u64 net_cookie,
		 int fallback_rsn),
	TP_ARGS(sk, clcsk, net_cookie, fallback_rsn),

	TP_STRUCT__entry(
		__field(const void *, sk)
		__field(const void *, clcsk)
		__field(u64, net_cookie)
		__field(int, fallback_rsn)
	),
	TP_fast_assign(
		__entry->sk = sk;
		__entry->clcsk = clcsk;
		__entry->net_cookie = net_cookie;
		__entry->fallback_rsn = fallback_rsn;
	),
	TP_printk("sk=%p clcsk=%p net=%llu fallback_rsn=%d",
		  __entry->sk, __entry->clcsk, __entry->net_cookie,
		  __entry->fallback_rsn)
);

DECLARE_EVENT_CLASS(smc_msg_event,
	TP_PROTO(const void *smc, u64 net_cookie, size_t len,
		 const char *name),
	TP_ARGS(smc, net_cookie, len, name),

	TP_STRUCT__entry(
		__field(const void *, smc)
		__field(u64, net_cookie)
		__field(size_t, len)
		__string(name, name)
	),
	TP_fast_assign(
		__entry->smc = smc;
		__entry->net_cookie = net_cookie;
		__entry->len = len;
		SMC_ASSIGN_STR(name, name);
	),
	TP_printk("smc=%p net=%llu len=%zu dev=%s",
		  __entry->smc, __entry->net_cookie, __entry->len,
		  __get_str(name))
);

DEFINE_EVENT(smc_msg_event, smc_tx_sendmsg,
	TP_PROTO(const void *smc, u64 net_cookie, size_t len,
		 const char *name),
	TP_ARGS(smc, net_cookie, len, name)
);

DEFINE_EVENT(smc_msg_event, smc_rx_recvmsg,
	TP_PROTO(const void *smc, u64 net_cookie, size_t len,
		 const char *name),
	TP_ARGS(smc, net_cookie, len, name)
);

TRACE_EVENT(smcr_link_down,
	TP_PROTO(const void *lnk, const void *lgr, u64 net_cookie, int state,
		 const char *name, void *location),
	TP_ARGS(lnk, lgr, net_cookie, state, name, location),

	TP_STRUCT__entry(
		__field(const void *, lnk)
		__field(const void *, lgr)
		__field(u64, net_cookie)
		__field(int, state)
		__string(name, name)
		__field(void *, location)
	),
	TP_fast_assign(
		__entry->lnk = lnk;
		__entry->lgr = lgr;
		__entry->net_cookie = net_cookie;
		__entry->state = state;
		SMC_ASSIGN_STR(name, name);
		__entry->location = location;
	),
	TP_printk("lnk=%p lgr=%p net=%llu state=%d dev=%s location=%pS",
		  __entry->lnk, __entry->lgr, __entry->net_cookie,
		  __entry->state, __get_str(name), __entry->location)
);

/*
 * A connection's state changed, or an event left it as it was.  @why: what ended
 * the connection, OK before that and if it was its program.
 */
TRACE_EVENT(smc_state,
	TP_PROTO(u64 net_cookie, u32 token, u8 old, const char *event, u8 next,
		 u16 actions, u32 why),
	TP_ARGS(net_cookie, token, old, event, next, actions, why),

	TP_STRUCT__entry(
		__field(u64, net_cookie)
		__field(u32, token)
		__field(u32, why)
		__field(u8, old)
		__field(u8, next)
		__field(u16, actions)
		__string(event, event)
	),
	TP_fast_assign(
		__entry->net_cookie = net_cookie;
		__entry->token = token;
		__entry->old = old;
		__entry->next = next;
		__entry->actions = actions;
		__entry->why = why;
		SMC_ASSIGN_STR(event, event);
	),
	TP_printk("net=%llu token=%08x event=%s %s -> %s actions=%#x why=%#x %s",
		  __entry->net_cookie, __entry->token, __get_str(event),
		  smc_trace_state(__entry->old),
		  smc_trace_state(__entry->next), __entry->actions,
		  __entry->why, smc_trace_reason(__entry->why))
);

/*
 * A step of a handshake has run.  @token is 0 as long as the connection has
 * none, @step names what it waited for, @why is the step's result.
 */
TRACE_EVENT(smc_hs_step,
	TP_PROTO(u64 net_cookie, u32 token, const void *hs, bool server,
		 const char *step, u32 why),
	TP_ARGS(net_cookie, token, hs, server, step, why),

	TP_STRUCT__entry(
		__field(u64, net_cookie)
		__field(u32, token)
		__field(u32, why)
		__field(const void *, hs)
		__field(bool, server)
		__string(step, step)
	),
	TP_fast_assign(
		__entry->net_cookie = net_cookie;
		__entry->token = token;
		__entry->why = why;
		__entry->hs = hs;
		__entry->server = server;
		SMC_ASSIGN_STR(step, step);
	),
	TP_printk("net=%llu token=%08x hs=%p role=%s step=%s why=%#x %s",
		  __entry->net_cookie, __entry->token, __entry->hs,
		  __entry->server ? "server" : "client", __get_str(step),
		  __entry->why, smc_trace_reason(__entry->why))
);

/*
 * One push: @len bytes up to @end_pos, then an update.  @peer: the receiver's
 * token, which its smc_rx shows.  @err: the transport's.
 */
TRACE_EVENT(smc_push,
	TP_PROTO(u64 net_cookie, u32 token, u32 peer, u32 len, u64 end_pos,
		 u64 read_pos, u8 prod_flags, u8 conn_flags, int err),
	TP_ARGS(net_cookie, token, peer, len, end_pos, read_pos, prod_flags,
		conn_flags, err),

	TP_STRUCT__entry(
		__field(u64, net_cookie)
		__field(u64, end_pos)
		__field(u64, read_pos)
		__field(u32, token)
		__field(u32, peer)
		__field(u32, len)
		__field(int, err)
		__field(u8, prod_flags)
		__field(u8, conn_flags)
	),
	TP_fast_assign(
		__entry->net_cookie = net_cookie;
		__entry->token = token;
		__entry->peer = peer;
		__entry->len = len;
		__entry->end_pos = end_pos;
		__entry->read_pos = read_pos;
		__entry->prod_flags = prod_flags;
		__entry->conn_flags = conn_flags;
		__entry->err = err;
	),
	TP_printk("net=%llu token=%08x peer=%08x len=%u end=%llu read=%llu flags=%02x:%02x err=%d",
		  __entry->net_cookie, __entry->token, __entry->peer,
		  __entry->len, __entry->end_pos, __entry->read_pos,
		  __entry->prod_flags, __entry->conn_flags, __entry->err)
);

/* An update arrived for the connection @token; positions after it. */
TRACE_EVENT(smc_rx,
	TP_PROTO(u64 net_cookie, u32 token, u64 rcvd_pos, u64 peer_read_pos,
		 u8 prod_flags, u8 conn_flags, int err),
	TP_ARGS(net_cookie, token, rcvd_pos, peer_read_pos, prod_flags,
		conn_flags, err),

	TP_STRUCT__entry(
		__field(u64, net_cookie)
		__field(u64, rcvd_pos)
		__field(u64, peer_read_pos)
		__field(u32, token)
		__field(int, err)
		__field(u8, prod_flags)
		__field(u8, conn_flags)
	),
	TP_fast_assign(
		__entry->net_cookie = net_cookie;
		__entry->token = token;
		__entry->rcvd_pos = rcvd_pos;
		__entry->peer_read_pos = peer_read_pos;
		__entry->prod_flags = prod_flags;
		__entry->conn_flags = conn_flags;
		__entry->err = err;
	),
	TP_printk("net=%llu token=%08x rcvd=%llu peer_read=%llu flags=%02x:%02x err=%d",
		  __entry->net_cookie, __entry->token, __entry->rcvd_pos,
		  __entry->peer_read_pos, __entry->prod_flags,
		  __entry->conn_flags, __entry->err)
);

/* An RDMA link of group @lgr_id goes from one state to another. */
TRACE_EVENT(smc_link_state,
	TP_PROTO(u64 net_cookie, u32 lgr_id, u8 link_id, const char *dev,
		 const char *old, const char *next, u32 why),
	TP_ARGS(net_cookie, lgr_id, link_id, dev, old, next, why),

	TP_STRUCT__entry(
		__field(u64, net_cookie)
		__field(u32, lgr_id)
		__field(u32, why)
		__field(u8, link_id)
		__string(dev, dev)
		__string(old, old)
		__string(next, next)
	),
	TP_fast_assign(
		__entry->net_cookie = net_cookie;
		__entry->lgr_id = lgr_id;
		__entry->why = why;
		__entry->link_id = link_id;
		SMC_ASSIGN_STR(dev, dev);
		SMC_ASSIGN_STR(old, old);
		SMC_ASSIGN_STR(next, next);
	),
	TP_printk("net=%llu lgr=%08x link=%u dev=%s %s -> %s why=%#x %s",
		  __entry->net_cookie, __entry->lgr_id, __entry->link_id,
		  __get_str(dev), __get_str(old), __get_str(next),
		  __entry->why, smc_trace_reason(__entry->why))
);

/* A connect() or listen() is about to use SMC; a BPF program may set @plain. */
DECLARE_EVENT_CLASS(smc_policy_event,
	TP_PROTO(struct smc_policy *policy),
	TP_ARGS(policy),

	TP_STRUCT__entry(
		__field(u16, family)
		__field(u16, port)
		__field(u8, listens)
		__field(u8, plain)
		__array(u8, addr, 16)
	),
	TP_fast_assign(
		__entry->family = policy->family;
		__entry->port = be16_to_cpu(policy->port);
		__entry->listens = policy->listens;
		__entry->plain = policy->plain;
		memcpy(__entry->addr, policy->addr, sizeof(__entry->addr));
	),
	TP_printk("%s family=%u addr=%pI6c port=%u plain=%u",
		  __entry->listens ? "listen" : "connect", __entry->family,
		  __entry->addr, __entry->port, __entry->plain)
);

/* Only BPF writes, and only a kernel with BPF has the macro. */
#undef SMC_EVENT_WRITABLE
#ifdef DEFINE_EVENT_WRITABLE
#define SMC_EVENT_WRITABLE(template, call, proto, args, size)		\
	DEFINE_EVENT_WRITABLE(template, call, PARAMS(proto),		\
			      PARAMS(args), size)
#else
#define SMC_EVENT_WRITABLE(template, call, proto, args, size)		\
	DEFINE_EVENT(template, call, PARAMS(proto), PARAMS(args))
#endif

SMC_EVENT_WRITABLE(smc_policy_event, smc_policy,
	TP_PROTO(struct smc_policy *policy),
	TP_ARGS(policy),
	sizeof(struct smc_policy)
);

#endif /* SMC_TRACE_H */

#undef TRACE_INCLUDE_PATH
#define TRACE_INCLUDE_PATH .
#undef TRACE_INCLUDE_FILE
#define TRACE_INCLUDE_FILE trace
#include <trace/define_trace.h>
