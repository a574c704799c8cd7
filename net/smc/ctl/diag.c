// SPDX-License-Identifier: GPL-2.0
/*
 * smc_diag.ko: list SMC sockets over sock_diag, for smcss.
 *
 * A request of family AF_SMC with any bit of NLM_F_DUMP set lists the sockets
 * of the requester's network namespace; the addresses and states in it are no
 * filters.  Any other request is accepted and answered with nothing, as
 * programs are used to.  A dump goes on where the previous message ended by
 * counting sockets; sockets that come and go meanwhile may be missed or shown
 * twice, which is what every dump of sockets does.
 *
 * Each socket is shown from a snapshot of plain values, never from the live
 * object.  Who holds a token can name a connection to the peer, so tokens are
 * shown to CAP_NET_ADMIN of the namespace's owner only, and are 0 for others.
 *
 * Structures sent are cleared first and have sizes that are checked here.
 *
 * Context: process, no lock held.  Tests: selftests/unit/unit_smcss.c reads
 * such messages, selftests/smc lists live sockets.
 */
#include <linux/inet_diag.h>
#include <linux/kernel.h>
#include <linux/module.h>
#include <linux/slab.h>
#include <linux/smc_diag.h>
#include <linux/sock_diag.h>
#include <net/netlink.h>
#include <net/sock.h>

#include "sock.h"

static_assert(sizeof(struct smc_diag_req) == 52);
static_assert(sizeof(struct smc_diag_msg) == 64);
static_assert(sizeof(struct smc_diag_conninfo) == 76);
static_assert(sizeof(struct smc_diag_lgrinfo) == 147);
static_assert(sizeof(struct smcd_diag_dmbinfo) == 56);
static_assert(sizeof(struct smc_diag_fallback) == 8);

/**
 * struct diag_dump - one call of the dump function
 * @skb: message being filled
 * @cb: the dump as netlink knows it
 * @snap: of the socket at hand; too large for the stack
 * @user_ns: of the requester, for user ids
 * @ext: attributes asked for, 1 << (attribute - 1)
 * @admin: requester may see tokens
 * @next: number of the first socket that is not in @skb
 */
struct diag_dump {
	struct sk_buff *skb;
	struct netlink_callback *cb;
	struct smc_sock_snapshot *snap;
	struct user_namespace *user_ns;
	u8 ext;
	bool admin;
	unsigned int next;
};

static bool wants(const struct diag_dump *d, int attr)
{
	return d->ext & (1 << (attr - 1));
}

static void fill_msg(const struct diag_dump *d, struct smc_diag_msg *msg)
{
	const struct smc_sock_snapshot *snap = d->snap;

	memset(msg, 0, sizeof(*msg));
	msg->diag_family = snap->family;
	msg->diag_state = snap->state;
	msg->diag_mode = snap->mode;
	msg->id.idiag_sport = snap->sport;
	msg->id.idiag_dport = snap->dport;
	/* IPv4: one word, the others stay 0, by which readers tell it */
	memcpy(msg->id.idiag_src, &snap->saddr, sizeof(msg->id.idiag_src));
	memcpy(msg->id.idiag_dst, &snap->daddr, sizeof(msg->id.idiag_dst));
	msg->id.idiag_if = snap->bound_if;
	msg->id.idiag_cookie[0] = (u32)snap->cookie;
	msg->id.idiag_cookie[1] = (u32)(snap->cookie >> 32);
	msg->diag_uid = from_kuid_munged(d->user_ns, snap->uid);
	msg->diag_inode = snap->inode;
}

static void fill_cursor(struct smc_diag_cursor *out,
			const struct smc_cursor *cur)
{
	out->wrap = cur->wrap;
	out->count = cur->count;
}

static int put_conninfo(const struct diag_dump *d)
{
	const struct smc_sock_snapshot *snap = d->snap;
	struct smc_diag_conninfo info;

	memset(&info, 0, sizeof(info));
	info.token = d->admin ? snap->token : 0;
	info.sndbuf_size = snap->sndbuf_size;
	info.rmbe_size = snap->rmbe_size;
	info.peer_rmbe_size = snap->peer_rmbe_size;
	fill_cursor(&info.rx_prod, &snap->rx_prod);
	fill_cursor(&info.rx_cons, &snap->rx_cons);
	fill_cursor(&info.tx_prod, &snap->tx_prod);
	fill_cursor(&info.tx_cons, &snap->tx_cons);
	info.rx_prod_flags = snap->rx_prod_flags;
	info.rx_conn_state_flags = snap->rx_conn_flags;
	info.tx_prod_flags = snap->tx_prod_flags;
	info.tx_conn_state_flags = snap->tx_conn_flags;
	fill_cursor(&info.tx_prep, &snap->tx_prep);
	fill_cursor(&info.tx_sent, &snap->tx_sent);
	fill_cursor(&info.tx_fin, &snap->tx_fin);
	return nla_put(d->skb, SMC_DIAG_CONNINFO, sizeof(info), &info);
}

static int put_lgrinfo(const struct diag_dump *d)
{
	const struct smc_sock_snapshot *snap = d->snap;
	struct smc_diag_lgrinfo info;

	memset(&info, 0, sizeof(info));
	info.lnk[0].link_id = snap->info.link_id;
	strscpy((char *)info.lnk[0].ibname, snap->info.dev,
		sizeof(info.lnk[0].ibname));
	info.lnk[0].ibport = snap->info.port;
	snprintf((char *)info.lnk[0].gid, sizeof(info.lnk[0].gid), "%pI6",
		 snap->info.gid);
	snprintf((char *)info.lnk[0].peer_gid, sizeof(info.lnk[0].peer_gid),
		 "%pI6", snap->info.peer_gid);
	info.role = snap->role;
	return nla_put(d->skb, SMC_DIAG_LGRINFO, sizeof(info), &info);
}

static int put_dmbinfo(const struct diag_dump *d)
{
	const struct smc_sock_snapshot *snap = d->snap;
	struct smcd_diag_dmbinfo info;

	memset(&info, 0, sizeof(info));
	info.linkid = snap->lgr_id;
	info.peer_gid = snap->info.peer_ism_gid;
	info.my_gid = snap->info.ism_gid;
	if (d->admin) {
		info.token = snap->info.token;
		info.peer_token = snap->info.peer_token;
	}
	info.peer_gid_ext = snap->info.peer_ism_gid_ext;
	info.my_gid_ext = snap->info.ism_gid_ext;
	return nla_put(d->skb, SMC_DIAG_DMBINFO, sizeof(info), &info);
}

static int put_attrs(const struct diag_dump *d)
{
	const struct smc_sock_snapshot *snap = d->snap;
	struct smc_diag_fallback fallback = {
		.reason = snap->reason,
		.peer_diagnosis = snap->peer_diagnosis,
	};
	int rc;

	rc = nla_put_u8(d->skb, SMC_DIAG_SHUTDOWN, snap->shutdown);
	if (!rc)
		rc = nla_put(d->skb, SMC_DIAG_FALLBACK, sizeof(fallback),
			     &fallback);
	if (!rc && snap->has_conn && wants(d, SMC_DIAG_CONNINFO))
		rc = put_conninfo(d);
	if (!rc && snap->has_lgr && snap->mode == SMC_DIAG_MODE_SMCR &&
	    wants(d, SMC_DIAG_LGRINFO))
		rc = put_lgrinfo(d);
	if (!rc && snap->has_lgr && snap->mode == SMC_DIAG_MODE_SMCD &&
	    wants(d, SMC_DIAG_DMBINFO))
		rc = put_dmbinfo(d);
	return rc;
}

/* smc_sock_walk() calls this for each socket; the end is a full message. */
static int dump_sock(struct sock *sk, unsigned int nr, void *arg)
{
	struct diag_dump *d = arg;
	struct nlmsghdr *nlh;

	smc_sock_snapshot(sk, d->snap);
	nlh = nlmsg_put(d->skb, NETLINK_CB(d->cb->skb).portid,
			d->cb->nlh->nlmsg_seq, SOCK_DIAG_BY_FAMILY,
			sizeof(struct smc_diag_msg), NLM_F_MULTI);
	if (!nlh)
		return -EMSGSIZE;
	fill_msg(d, nlmsg_data(nlh));
	if (put_attrs(d)) {
		nlmsg_cancel(d->skb, nlh);
		return -EMSGSIZE;
	}
	nlmsg_end(d->skb, nlh);
	d->next = nr + 1;
	return 0;
}

static int diag_dump(struct sk_buff *skb, struct netlink_callback *cb)
{
	const struct smc_diag_req *req = nlmsg_data(cb->nlh);
	struct diag_dump d = {
		.skb = skb,
		.cb = cb,
		.user_ns = sk_user_ns(NETLINK_CB(cb->skb).sk),
		.ext = req->diag_ext,
		.admin = netlink_net_capable(cb->skb, CAP_NET_ADMIN),
		.next = cb->args[0],
	};

	d.snap = kmalloc(sizeof(*d.snap), GFP_KERNEL);
	if (!d.snap)
		return -ENOMEM;
	smc_sock_walk(sock_net(skb->sk), cb->args[0], dump_sock, &d);
	kfree(d.snap);
	cb->args[0] = d.next;
	return skb->len;
}

static int diag_request(struct sk_buff *skb, struct nlmsghdr *nlh)
{
	struct netlink_dump_control control = { .dump = diag_dump };
	struct net *net = sock_net(skb->sk);

	if (!(nlh->nlmsg_flags & NLM_F_DUMP))
		return 0;
	/* the id at the end of the request is not looked at */
	if (nlmsg_len(nlh) < offsetof(struct smc_diag_req, id))
		return -EINVAL;
	return netlink_dump_start(net->diag_nlsk, skb, nlh, &control);
}

static const struct sock_diag_handler smc_diag_handler = {
	.owner = THIS_MODULE,
	.family = AF_SMC,
	.dump = diag_request,
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
MODULE_ALIAS_NET_PF_PROTO_TYPE(PF_NETLINK, NETLINK_SOCK_DIAG, 43 /* AF_SMC */);
