// SPDX-License-Identifier: GPL-2.0
/*
 * smc_diag.ko: list SMC sockets over sock_diag, for smcss, and end them.
 *
 * A request of family AF_SMC with any bit of NLM_F_DUMP set lists the sockets
 * of the requester's network namespace; the addresses in it are no filters,
 * as programs are used to, but attributes that follow it are.  Any other
 * request is accepted and answered with nothing.  A dump goes on where the
 * previous message ended, by the sockets' numbers: one that lives all the time
 * is shown once, one that is made meanwhile may be shown.
 *
 * Each socket is shown from a snapshot of plain values, never from the live
 * object.  A token is enough to name a connection to the peer, so tokens are
 * shown to CAP_NET_ADMIN of the namespace's owner only, and are 0 for others.
 *
 * SOCK_DESTROY takes the id of one socket as a dump shows it (close.c has
 * what happens then).
 *
 * Structures sent are cleared first and have sizes that are checked here.
 *
 * Context: process, no lock held.  Tests: selftests/unit/unit_smcss.c reads
 * such messages, selftests/smc/diag.py and destroy.py have live sockets.
 */
#include <linux/inet_diag.h>
#include <linux/kernel.h>
#include <linux/module.h>
#include <linux/slab.h>
#include <linux/smc_diag.h>
#include <linux/sock_diag.h>
#include <linux/stringify.h>
#include <net/ipv6.h>
#include <net/netlink.h>
#include <net/sock.h>

#include "sock/sock.h"

static_assert(sizeof(struct smc_diag_req) == 52);
static_assert(sizeof(struct smc_diag_msg) == 64);
static_assert(sizeof(struct smc_diag_conninfo) == 76);
static_assert(sizeof(struct smc_diag_lgrinfo) == 147);
static_assert(sizeof(struct smcd_diag_dmbinfo) == 56);
static_assert(sizeof(struct smc_diag_fallback) == 8);
static_assert(sizeof(struct smc_diag_prefix) == 20);
static_assert(sizeof(struct smc_diag_ports) == 4);

/**
 * struct diag_end - what one end of a connection has to be like
 * @addr: address, IPv4 mapped
 * @bits: how many bits of @addr count
 * @any: there is no @addr
 * @ports: first and last port
 */
struct diag_end {
	struct in6_addr addr;
	unsigned int bits;
	bool any;
	struct smc_diag_ports ports;
};

/**
 * struct diag_filter - which sockets are wanted
 * @states: 1 << state
 * @modes: 1 << mode
 * @local: our end
 * @peer: the other end
 */
struct diag_filter {
	u32 states;
	u32 modes;
	struct diag_end local;
	struct diag_end peer;
};

/**
 * struct diag_dump - one call of the dump function
 * @skb: message being filled
 * @cb: the dump as netlink knows it
 * @si: of the socket at hand; too large for the stack
 * @user_ns: of the requester, for user ids
 * @filter: which sockets to show
 * @ext: attributes asked for, 1 << (attribute - 1)
 * @admin: requester may see tokens
 * @last: number of the last socket shown, 0 before the first
 */
struct diag_dump {
	struct sk_buff *skb;
	struct netlink_callback *cb;
	struct smc_sock_info *si;
	struct user_namespace *user_ns;
	struct diag_filter filter;
	u8 ext;
	bool admin;
	u64 last;
};

static const struct nla_policy filter_policy[SMC_DIAG_REQ_MAX + 1] = {
	[SMC_DIAG_REQ_STATES]	= { .type = NLA_U32 },
	[SMC_DIAG_REQ_MODES]	= { .type = NLA_U32 },
	[SMC_DIAG_REQ_SRC]	=
		NLA_POLICY_EXACT_LEN(sizeof(struct smc_diag_prefix)),
	[SMC_DIAG_REQ_DST]	=
		NLA_POLICY_EXACT_LEN(sizeof(struct smc_diag_prefix)),
	[SMC_DIAG_REQ_SPORT]	=
		NLA_POLICY_EXACT_LEN(sizeof(struct smc_diag_ports)),
	[SMC_DIAG_REQ_DPORT]	=
		NLA_POLICY_EXACT_LEN(sizeof(struct smc_diag_ports)),
};

static int parse_end(struct diag_end *end, const struct nlattr *prefix,
		     const struct nlattr *ports)
{
	struct smc_diag_prefix p;

	end->any = !prefix;
	end->ports.last = U16_MAX;
	if (ports)
		memcpy(&end->ports, nla_data(ports), sizeof(end->ports));
	if (end->ports.first > end->ports.last)
		return -EINVAL;
	if (!prefix)
		return 0;
	memcpy(&p, nla_data(prefix), sizeof(p));
	end->bits = p.len;
	if (p.pad[0] || p.pad[1])
		return -EINVAL;
	if (p.family == AF_INET) {
		ipv6_addr_set_v4mapped(p.addr[0], &end->addr);
		end->bits += 96;
	} else if (p.family == AF_INET6) {
		memcpy(&end->addr, p.addr, sizeof(end->addr));
	} else {
		return -EINVAL;
	}
	return end->bits > 128 ? -EINVAL : 0;
}

static u32 get_mask(const struct nlattr *attr)
{
	return attr ? nla_get_u32(attr) : U32_MAX;
}

/*
 * Attributes after the request.  One that is not known is an error: to leave
 * it out would show too much.
 */
static int parse_filter(const struct nlmsghdr *nlh, struct diag_filter *filter)
{
	struct nlattr *tb[SMC_DIAG_REQ_MAX + 1] = {};
	int rc;

	memset(filter, 0, sizeof(*filter));
	if (nlmsg_len(nlh) > (int)sizeof(struct smc_diag_req)) {
		rc = nlmsg_parse(nlh, sizeof(struct smc_diag_req), tb,
				 SMC_DIAG_REQ_MAX, filter_policy, NULL);
		if (rc)
			return rc;
	}
	filter->states = get_mask(tb[SMC_DIAG_REQ_STATES]);
	filter->modes = get_mask(tb[SMC_DIAG_REQ_MODES]);
	rc = parse_end(&filter->local, tb[SMC_DIAG_REQ_SRC],
		       tb[SMC_DIAG_REQ_SPORT]);
	return rc ?: parse_end(&filter->peer, tb[SMC_DIAG_REQ_DST],
			       tb[SMC_DIAG_REQ_DPORT]);
}

static bool end_matches(const struct diag_end *end, bool v6,
			const struct in6_addr *addr, __be16 port)
{
	u16 nr = ntohs(port);
	struct in6_addr full;

	if (nr < end->ports.first || nr > end->ports.last)
		return false;
	if (end->any)
		return true;
	full = *addr;
	if (!v6)
		ipv6_addr_set_v4mapped(addr->s6_addr32[0], &full);
	return ipv6_prefix_equal(&full, &end->addr, end->bits);
}

static bool row_matches(const struct diag_filter *filter,
			const struct smc_sock_info *si)
{
	return filter->states & (1U << si->state) &&
	       filter->modes & (1U << si->mode) &&
	       end_matches(&filter->local, si->v6, &si->saddr,
			   si->sport) &&
	       end_matches(&filter->peer, si->v6, &si->daddr, si->dport);
}

static bool wants(const struct diag_dump *d, int attr)
{
	return d->ext & (1 << (attr - 1));
}

static void fill_msg(const struct diag_dump *d, struct smc_diag_msg *msg)
{
	const struct smc_sock_info *si = d->si;

	memset(msg, 0, sizeof(*msg));
	msg->diag_family = si->family;
	msg->diag_state = si->state;
	msg->diag_mode = si->mode;
	msg->id.idiag_sport = si->sport;
	msg->id.idiag_dport = si->dport;
	/* IPv4: one word, the others stay 0, by which readers tell it */
	memcpy(msg->id.idiag_src, &si->saddr, sizeof(msg->id.idiag_src));
	memcpy(msg->id.idiag_dst, &si->daddr, sizeof(msg->id.idiag_dst));
	msg->id.idiag_if = si->bound_if;
	msg->diag_uid = from_kuid_munged(d->user_ns, si->uid);
	msg->diag_inode = si->inode;
}

static void fill_cursor(struct smc_diag_cursor *out,
			const struct smc_cursor *cur)
{
	out->wrap = cur->wrap;
	out->count = cur->count;
}

static int put_conninfo(const struct diag_dump *d)
{
	const struct smc_sock_info *si = d->si;
	struct smc_diag_conninfo info;

	memset(&info, 0, sizeof(info));
	info.token = d->admin ? si->token : 0;
	info.sndbuf_size = si->sndbuf_size;
	info.rmbe_size = si->rmbe_size;
	info.peer_rmbe_size = si->peer_rmbe_size;
	fill_cursor(&info.rx_prod, &si->rx_prod);
	fill_cursor(&info.rx_cons, &si->rx_cons);
	fill_cursor(&info.tx_prod, &si->tx_prod);
	fill_cursor(&info.tx_cons, &si->tx_cons);
	info.rx_prod_flags = si->rx_prod_flags;
	info.rx_conn_state_flags = si->rx_conn_flags;
	info.tx_prod_flags = si->tx_prod_flags;
	info.tx_conn_state_flags = si->tx_conn_flags;
	fill_cursor(&info.tx_prep, &si->tx_prep);
	fill_cursor(&info.tx_sent, &si->tx_sent);
	fill_cursor(&info.tx_fin, &si->tx_fin);
	return nla_put(d->skb, SMC_DIAG_CONNINFO, sizeof(info), &info);
}

static int put_lgrinfo(const struct diag_dump *d)
{
	const struct smc_sock_info *si = d->si;
	struct smc_diag_lgrinfo info;

	memset(&info, 0, sizeof(info));
	info.lnk[0].link_id = si->info.link_id;
	strscpy((char *)info.lnk[0].ibname, si->info.dev,
		sizeof(info.lnk[0].ibname));
	info.lnk[0].ibport = si->info.port;
	snprintf((char *)info.lnk[0].gid, sizeof(info.lnk[0].gid), "%pI6",
		 si->info.gid);
	snprintf((char *)info.lnk[0].peer_gid, sizeof(info.lnk[0].peer_gid),
		 "%pI6", si->info.peer_gid);
	info.role = si->role;
	return nla_put(d->skb, SMC_DIAG_LGRINFO, sizeof(info), &info);
}

static int put_dmbinfo(const struct diag_dump *d)
{
	const struct smc_sock_info *si = d->si;
	struct smcd_diag_dmbinfo info;

	memset(&info, 0, sizeof(info));
	info.linkid = si->lgr_id;
	info.peer_gid = si->info.peer_ism_gid;
	info.my_gid = si->info.ism_gid;
	if (d->admin) {
		info.token = si->info.token;
		info.peer_token = si->info.peer_token;
	}
	info.peer_gid_ext = si->info.peer_ism_gid_ext;
	info.my_gid_ext = si->info.ism_gid_ext;
	return nla_put(d->skb, SMC_DIAG_DMBINFO, sizeof(info), &info);
}

static int put_attrs(const struct diag_dump *d)
{
	const struct smc_sock_info *si = d->si;
	struct smc_diag_fallback fallback = {
		.reason = si->reason,
		.peer_diagnosis = si->peer_diagnosis,
	};
	int rc;

	rc = nla_put_u8(d->skb, SMC_DIAG_SHUTDOWN, si->shutdown) ?:
	     nla_put(d->skb, SMC_DIAG_FALLBACK, sizeof(fallback), &fallback);
	if (rc || !si->has_conn)
		return rc;
	if (wants(d, SMC_DIAG_CONNINFO))
		rc = put_conninfo(d);
	if (!rc && si->mode == SMC_DIAG_MODE_SMCR && wants(d, SMC_DIAG_LGRINFO))
		rc = put_lgrinfo(d);
	if (!rc && si->mode == SMC_DIAG_MODE_SMCD && wants(d, SMC_DIAG_DMBINFO))
		rc = put_dmbinfo(d);
	return rc;
}

/* smc_sock_walk() calls this for each socket; the end is a full message. */
static int dump_sock(const struct smc_row *row, void *arg)
{
	struct sock *sk = row->sk;
	struct diag_dump *d = arg;
	struct smc_diag_msg *msg;
	struct nlmsghdr *nlh;

	smc_sock_info(row, d->si);
	if (!row_matches(&d->filter, d->si))
		return 0;
	nlh = nlmsg_put(d->skb, NETLINK_CB(d->cb->skb).portid,
			d->cb->nlh->nlmsg_seq, SOCK_DIAG_BY_FAMILY,
			sizeof(struct smc_diag_msg), NLM_F_MULTI);
	if (!nlh)
		return -EMSGSIZE;
	msg = nlmsg_data(nlh);
	fill_msg(d, msg);
	sock_diag_save_cookie(sk, msg->id.idiag_cookie);
	if (put_attrs(d)) {
		nlmsg_cancel(d->skb, nlh);
		return -EMSGSIZE;
	}
	nlmsg_end(d->skb, nlh);
	d->last = row->nr;
	return 0;
}

static int diag_dump(struct sk_buff *skb, struct netlink_callback *cb)
{
	const struct smc_diag_req *req = nlmsg_data(cb->nlh);
	/* kept for the next message of this dump */
	u64 *last = (u64 *)cb->ctx;
	struct diag_dump d = {
		.skb = skb,
		.cb = cb,
		.user_ns = sk_user_ns(NETLINK_CB(cb->skb).sk),
		.ext = req->diag_ext,
		.admin = netlink_net_capable(cb->skb, CAP_NET_ADMIN),
		.last = *last,
	};
	int rc;

	rc = parse_filter(cb->nlh, &d.filter);
	if (rc)
		return rc;

	d.si = kmalloc(sizeof(*d.si), GFP_KERNEL);
	if (!d.si)
		return -ENOMEM;
	smc_sock_walk(sock_net(skb->sk), d.last, dump_sock, &d);
	kfree(d.si);
	*last = d.last;
	return skb->len;
}

static int diag_request(struct sk_buff *skb, struct nlmsghdr *nlh)
{
	struct netlink_dump_control control = { .dump = diag_dump };
	struct net *net = sock_net(skb->sk);
	struct diag_filter filter;
	int rc;

	if (!(nlh->nlmsg_flags & NLM_F_DUMP))
		return 0;
	/* the id at the end of the request is not looked at */
	if (nlmsg_len(nlh) < offsetof(struct smc_diag_req, id))
		return -EINVAL;
	/* for an error instead of the end of an empty dump */
	rc = parse_filter(nlh, &filter);
	return rc ?: netlink_dump_start(net->diag_nlsk, skb, nlh, &control);
}

/**
 * struct diag_find - which socket is to be found
 * @id: as a dump shows it
 * @si: room for a snapshot
 * @found: the socket, with a reference
 */
struct diag_find {
	const struct inet_diag_sockid *id;
	struct smc_sock_info *si;
	struct sock *found;
};

/* smc_sock_walk() calls this for each socket; 1: this is it. */
static int diag_find_sock(const struct smc_row *row, void *arg)
{
	struct diag_find *f = arg;
	const struct inet_diag_sockid *id = f->id;
	const struct inet_sock *inet = inet_sk(row->sk);
	struct smc_sock_info *si = f->si;

	/* what costs nothing; while a program binds the socket it is not found */
	if (READ_ONCE(inet->inet_sport) != id->idiag_sport ||
	    READ_ONCE(inet->inet_dport) != id->idiag_dport)
		return 0;
	smc_sock_info(row, si);
	if (si->state == SMC_CLOSED || si->sport != id->idiag_sport ||
	    si->dport != id->idiag_dport ||
	    memcmp(&si->saddr, id->idiag_src, sizeof(id->idiag_src)) ||
	    memcmp(&si->daddr, id->idiag_dst, sizeof(id->idiag_dst)) ||
	    (id->idiag_if && id->idiag_if != si->bound_if) ||
	    sock_diag_check_cookie(row->sk, id->idiag_cookie))
		return 0;
	sock_hold(row->sk);
	f->found = row->sk;
	return 1;
}

/* SOCK_DESTROY */
static int diag_destroy(struct sk_buff *skb, struct nlmsghdr *nlh)
{
	const struct smc_diag_req *req = nlmsg_data(nlh);
	struct diag_find f = { .id = &req->id };
	int rc;

	if (nlmsg_len(nlh) < (int)sizeof(*req))
		return -EINVAL;
	if (!netlink_net_capable(skb, CAP_NET_ADMIN))
		return -EPERM;
	f.si = kmalloc(sizeof(*f.si), GFP_KERNEL);
	if (!f.si)
		return -ENOMEM;
	smc_sock_walk(sock_net(skb->sk), 0, diag_find_sock, &f);
	kfree(f.si);
	if (!f.found)
		return -ENOENT;
	rc = smc_sock_abort(f.found);
	if (rc == -ENOENT)
		rc = sock_diag_destroy(f.found, ECONNABORTED);
	sock_put(f.found);
	return rc;
}

static const struct sock_diag_handler smc_diag_handler = {
	SMC_SOCK_DIAG_OWNER
	.family = AF_SMC,
	.dump = diag_request,
	.destroy = diag_destroy,
};

static int __init smc_diag_init(void)
{
	return sock_diag_register(&smc_diag_handler);
}

static void __exit smc_diag_exit(void)
{
	sock_diag_unregister(&smc_diag_handler);
}

module_init(smc_diag_init);
module_exit(smc_diag_exit);
MODULE_DESCRIPTION("SMC: sock_diag");
MODULE_LICENSE("GPL");
MODULE_VERSION(__stringify(SMC_MODULE_VERSION));
MODULE_ALIAS_NET_PF_PROTO_TYPE(PF_NETLINK, NETLINK_SOCK_DIAG, 43 /* AF_SMC */);
