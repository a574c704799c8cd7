// SPDX-License-Identifier: GPL-2.0
/*
 * The SYN option where the kernel's TCP does not write it.
 *
 * Nothing is kept about a connection but what TCP keeps for us:
 *
 * - A client's icsk_af_ops is a copy of the kernel's.  Its queue_xmit() adds the
 *   option to the SYN.  Its sk_rx_dst_set(), which TCP calls with the SYN-ACK,
 *   looks for the peer's option, notes it in rx_opt.smc_ok, and restores the
 *   kernel's icsk_af_ops.
 * - A listener's icsk_af_ops is another copy.  Its conn_request() looks at the
 *   SYN, and TCP sends the SYN-ACK before conn_request() returns.  No function
 *   of a socket sees the SYN-ACK, so the option is added in NF_INET_LOCAL_OUT,
 *   before connection tracking.  A request whose SYN-ACK had it is marked:
 *   tcp_rsk(req)->af_specific is a copy with the same content.  So
 *   retransmissions have the option, and a request that was made from a SYN
 *   cookie has no mark.  A child gets the kernel's operations while it is made.
 * - Where an IPv6 socket connects to an IPv4 address, TCP installs operations
 *   of its own and sends at once.  For that one call sk_prot->connect() is
 *   ours.
 *
 * A socket loses its pointers to static objects of this file before it loses
 * its context, which pins the module.  A mark may stay longer, so its memory is
 * not the module's.
 *
 * Segments that are signed, and those without room, go without the option.
 *
 * Context: as struct smc_synopt_ops says, or per function.
 * Test: selftests/vm/tests/synopt.sh
 */
#include <linux/kmemleak.h>
#include <linux/local_lock.h>
#include <linux/netfilter.h>
#include <linux/netfilter_ipv4.h>
#include <linux/netfilter_ipv6.h>
#include <linux/percpu.h>
#include <linux/slab.h>
#include <linux/workqueue.h>
#include <net/checksum.h>
#include <net/inet_connection_sock.h>
#include <net/ip.h>
#include <net/ipv6.h>
#include <net/netns/generic.h>
#include <net/tcp.h>

#include "synopt.h"
#include "wire/tcpopt.h"

#if IS_ENABLED(CONFIG_NETFILTER)

/* Later SYNs go without the option: something on the way may drop them. */
#define TRIES		2

/* How long a namespace without listeners keeps its hook. */
#define UNHOOK_DELAY	(5 * HZ)

#if defined(CONFIG_TCP_MD5SIG) || defined(CONFIG_TCP_AO)
#define SIGNING(sk)	(tcp_sk(sk)->af_specific)
#else
#define SIGNING(sk)	no_signing
static const struct tcp_sock_af_ops *no_signing;
#endif

/*
 * The kernel's operations of a kind of socket, and our copies.  MAPPED: one of
 * IPv6 that is connected to an IPv4 address.
 */
enum { IPV4, IPV6, MAPPED, KINDS };

static struct kind {
	const struct inet_connection_sock_af_ops *kernels;
	struct inet_connection_sock_af_ops client;
	struct inet_connection_sock_af_ops listener;
	const struct tcp_sock_af_ops *signing;
} kinds[KINDS] __ro_after_init;

/* Of IPv6: TCP's, and a copy for one call of connect(). */
static struct proto *prot6 __ro_after_init;
static struct proto prot6_connects __ro_after_init;

/*
 * A mark: what af_specific of a request was, and the copy that takes its place.
 * The first request provides the content of the copy, under mark_lock.
 */
static struct mark {
	const struct tcp_request_sock_ops *kernels;
	struct tcp_request_sock_ops *copy;
} marks[2];
static DEFINE_SPINLOCK(mark_lock);

/* The SYN with the option that this CPU works on; BH disabled. */
struct syn {
	local_lock_t lock;	/* PREEMPT_RT: a softirq can preempt another */
	const struct sock *listener;
	__be16 port;
	u32 seq;
};

static DEFINE_PER_CPU(struct syn, this_syn) = {
	.lock = INIT_LOCAL_LOCK(lock),
};

/* A namespace; @hooked is protected by hook_mutex. */
struct hook {
	struct net *net;
	atomic_t listeners;
	bool hooked;
	struct delayed_work unhook;
};

static unsigned int hook_id;
static DEFINE_MUTEX(hook_mutex);

/* Whose operations are these?  NULL: neither TCP's nor ours. */
static const struct kind *
kind_of(const struct inet_connection_sock_af_ops *ops)
{
	const struct kind *k;

	for (k = kinds; k < kinds + KINDS; k++)
		if (ops == k->kernels || ops == &k->client ||
		    ops == &k->listener)
			return k;
	return NULL;
}

static bool answers(const struct sock *sk)
{
	const struct inet_connection_sock_af_ops *ops =
		READ_ONCE(inet_csk(sk)->icsk_af_ops);
	const struct kind *k = kind_of(ops);

	return k && ops == &k->listener;
}

static bool has_option(const struct sk_buff *skb)
{
	const struct tcphdr *th = tcp_hdr(skb);

	return smc_tcpopt_find((const u8 *)(th + 1),
			       th->doff * 4 - sizeof(*th));
}

/*
 * Add the option; the TCP header is @off bytes from skb->data.  The headers
 * move down: what may follow them (Fast Open) is shared with TCP's queue.
 */
static bool add_option(struct sk_buff *skb, unsigned int off)
{
	const struct tcphdr *th = (const struct tcphdr *)(skb->data + off);
	unsigned int old = skb->len - off, len, grow;
	u8 opts[SMC_TCPOPT_MAX];
	struct tcphdr *to;

	/* TCP leaves every checksum to what comes below */
	if (skb->ip_summed != CHECKSUM_PARTIAL || th->doff * 4 < sizeof(*th))
		return false;
	len = th->doff * 4 - sizeof(*th);
	memcpy(opts, th + 1, len);
	grow = smc_tcpopt_add(opts, len);
	if (!grow)
		return false;
	grow -= len;
	if (skb_cow_head(skb, grow))
		return false;
	skb_push(skb, grow);
	memmove(skb->data, skb->data + grow, off + sizeof(*th));
	skb->transport_header -= grow;
	skb->csum_start -= grow;
	to = (struct tcphdr *)(skb->data + off);
	memcpy(to + 1, opts, len + grow);
	to->doff += grow / 4;
	/* the pseudo header has the length */
	inet_proto_csum_replace2(&to->check, skb, htons(old),
				 htons(old + grow), true);
	return true;
}

/* -- client; TCP has the socket locked -- */

static int client_xmit(struct sock *sk, struct sk_buff *skb, struct flowi *fl)
{
	const struct inet_connection_sock *icsk = inet_csk(sk);
	const struct kind *k = kind_of(icsk->icsk_af_ops);
	const struct tcphdr *th = (const struct tcphdr *)skb->data;

	if (th->syn && !th->ack && icsk->icsk_retransmits < TRIES)
		(void)add_option(skb, 0);
	return k->kernels->queue_xmit(sk, skb, fl);
}

/* Not only with the SYN-ACK: also later, where two SYNs have crossed. */
static void client_rx(struct sock *sk, const struct sk_buff *skb)
{
	struct inet_connection_sock *icsk = inet_csk(sk);
	const struct kind *k = kind_of(icsk->icsk_af_ops);

	tcp_sk(sk)->rx_opt.smc_ok = tcp_hdr(skb)->syn && has_option(skb);
	WRITE_ONCE(icsk->icsk_af_ops, k->kernels);
	k->kernels->sk_rx_dst_set(sk, skb);
}

static bool peer_has(const struct sock *sk)
{
	return tcp_sk(sk)->rx_opt.smc_ok;
}

/* -- connect() of an IPv6 socket to an IPv4 address; it is owned -- */

#if IS_ENABLED(CONFIG_IPV6)
static void use(struct sock *sk, const struct kind *k,
		const struct inet_connection_sock_af_ops *ops,
		const struct proto *prot)
{
	WRITE_ONCE(inet_csk(sk)->icsk_af_ops, ops);
	SIGNING(sk) = k->signing;
	sk->sk_backlog_rcv = prot->backlog_rcv;
}

/* As tcp_v6_connect() does it, with operations that add the option. */
static int connect_mapped(struct sock *sk, const struct sockaddr_in6 *to)
{
	struct sockaddr_in addr = {
		.sin_family = AF_INET,
		.sin_port = to->sin6_port,
		.sin_addr.s_addr = to->sin6_addr.s6_addr32[3],
	};
	u16 ext_hdr_len = inet_csk(sk)->icsk_ext_hdr_len;
	int rc;

	sk->sk_v6_daddr = to->sin6_addr;
	inet6_sk(sk)->flow_label = 0;
	use(sk, &kinds[MAPPED], &kinds[MAPPED].client, &tcp_prot);
	rc = tcp_prot.connect(sk, (struct sockaddr_unsized *)&addr,
			      sizeof(addr));
	if (rc) {
		inet_csk(sk)->icsk_ext_hdr_len = ext_hdr_len;
		use(sk, &kinds[IPV6], kinds[IPV6].kernels, prot6);
	} else {
		inet6_sk(sk)->saddr = sk->sk_v6_rcv_saddr;
	}
	return rc;
}

/* A flow label has to be looked up first: that is left to TCP, without SMC. */
static bool is_mapped(const struct sock *sk, const struct sockaddr_in6 *to,
		      int len)
{
	return kinds[MAPPED].kernels && len >= SIN6_LEN_RFC2133 &&
	       to->sin6_family == AF_INET6 && !to->sin6_flowinfo &&
	       ipv6_addr_v4mapped(&to->sin6_addr) && !ipv6_only_sock(sk);
}

/* A BPF program of the cgroup has had its say about the address. */
static int connect6(struct sock *sk, struct sockaddr_unsized *addr, int len)
{
	const struct sockaddr_in6 *to = (const struct sockaddr_in6 *)addr;

	WRITE_ONCE(sk->sk_prot, prot6);
	if (is_mapped(sk, to, len))
		return connect_mapped(sk, to);
	return prot6->connect(sk, addr, len);
}
#endif

/* -- listener -- */

/* Softirq or process, under RCU, BH disabled; the listener is not locked. */
static int listener_request(struct sock *sk, struct sk_buff *skb)
{
	const struct inet_connection_sock_af_ops *ops =
		READ_ONCE(inet_csk(sk)->icsk_af_ops);
	const struct kind *k = kind_of(ops);
	struct syn *syn;
	int rc;

	local_lock_nested_bh(&this_syn.lock);
	syn = this_cpu_ptr(&this_syn);
	if (has_option(skb)) {
		syn->port = tcp_hdr(skb)->source;
		syn->seq = TCP_SKB_CB(skb)->seq;
		syn->listener = sk;
	}
	/* ours may have been taken from the socket since TCP read them */
	if (k)
		ops = k->kernels;
	rc = ops->conn_request(sk, skb);
	syn->listener = NULL;
	local_unlock_nested_bh(&this_syn.lock);
	return rc;
}

static bool is_marked(const struct request_sock *req)
{
	/* the client may answer while the SYN-ACK is being sent again */
	const struct tcp_request_sock_ops *af =
		READ_ONCE(tcp_rsk(req)->af_specific);

	return af == marks[0].copy || af == marks[1].copy;
}

/* What marks a request of IPv4 or IPv6; NULL: it is not TCP's own. */
static const struct tcp_request_sock_ops *
mark_for(const struct request_sock *req, struct mark *mark)
{
	const struct tcp_request_sock_ops *af = tcp_rsk(req)->af_specific;

	if (unlikely(!smp_load_acquire(&mark->kernels))) {
		spin_lock(&mark_lock);
		if (!mark->kernels) {
			*mark->copy = *af;
			/* pairs with smp_load_acquire() above */
			smp_store_release(&mark->kernels, af);
		}
		spin_unlock(&mark_lock);
	}
	return mark->kernels == af ? mark->copy : NULL;
}

/* Is this the SYN-ACK for the SYN that this CPU works on?  BH disabled. */
static bool answers_this_syn(const struct request_sock *req)
{
	const struct syn *syn = this_cpu_ptr(&this_syn);

	return syn->listener && syn->listener == req->rsk_listener &&
	       syn->port == inet_rsk(req)->ir_rmt_port &&
	       syn->seq == tcp_rsk(req)->rcv_isn;
}

/* Is this the SYN-ACK of the request?  The transport header is TCP's. */
static bool is_synack(const struct sk_buff *skb, const struct request_sock *req)
{
	const struct tcphdr *th = tcp_hdr(skb);

	return th->syn && th->ack && th->doff * 4 >= sizeof(*th) &&
	       th->source == htons(inet_rsk(req)->ir_num) &&
	       th->dest == inet_rsk(req)->ir_rmt_port &&
	       ntohl(th->seq) == tcp_rsk(req)->snt_isn;
}

/*
 * A SYN-ACK of a marked request has the option or is not sent: the child will
 * take what the client says for CLC messages.  With a VRF a packet passes here
 * twice.  @grown: it has become longer.
 */
static unsigned int extend_synack(struct sk_buff *skb, struct request_sock *req,
				  struct mark *mark, bool *grown)
{
	const struct tcp_request_sock_ops *copy;

	*grown = false;
	if (!req->rsk_listener || !is_synack(skb, req) || has_option(skb))
		return NF_ACCEPT;
	if (is_marked(req)) {
		*grown = add_option(skb, skb_transport_offset(skb));
		return *grown ? NF_ACCEPT : NF_DROP;
	}
	/* that of Fast Open may be sent again by a process, with BH enabled */
	if (tcp_rsk(req)->tfo_listener || !answers(req->rsk_listener) ||
	    !answers_this_syn(req))
		return NF_ACCEPT;
	copy = mark_for(req, mark);
	*grown = copy && add_option(skb, skb_transport_offset(skb));
	/* TCP may call it on another CPU at once: its content is there before */
	if (*grown)
		smp_store_release(&tcp_rsk(req)->af_specific, copy);
	return NF_ACCEPT;
}

/*
 * Every packet that a namespace with a listener sends passes here.  The socket
 * of a SYN-ACK is its request.  But a SYN-ACK with a cookie has no socket, and
 * the socket of one that Fast Open sends is the child.
 */
static struct request_sock *request_of(const struct sk_buff *skb)
{
	struct sock *sk = skb->sk;

	/* not locked where a tunnel sends the packet, nor those of UDP */
	if (likely(!sk || READ_ONCE(sk->sk_state) != TCP_NEW_SYN_RECV))
		return NULL;
	return inet_reqsk(sk);
}

/*
 * Does TCP's header follow the IP header of @len bytes?  If the SYN-ACK is in a
 * tunnel, the tunnel's packet has the same socket.
 */
static bool is_tcp(const struct sk_buff *skb, u8 protocol, int len)
{
	int off = skb_transport_offset(skb);

	return protocol == IPPROTO_TCP &&
	       off == skb_network_offset(skb) + len &&
	       skb_headlen(skb) >= off + sizeof(struct tcphdr) &&
	       skb_headlen(skb) >= off + tcp_hdrlen(skb);
}

static unsigned int out4(void *priv, struct sk_buff *skb,
			 const struct nf_hook_state *state)
{
	struct request_sock *req = request_of(skb);
	unsigned int verdict;
	bool grown;

	if (likely(!req) ||
	    !is_tcp(skb, ip_hdr(skb)->protocol, ip_hdrlen(skb)))
		return NF_ACCEPT;
	verdict = extend_synack(skb, req, &marks[0], &grown);
	if (grown) {
		skb_reset_network_header(skb);
		ip_hdr(skb)->tot_len = htons(skb->len);
		ip_send_check(ip_hdr(skb));
	}
	return verdict;
}

static unsigned int out6(void *priv, struct sk_buff *skb,
			 const struct nf_hook_state *state)
{
	struct request_sock *req = request_of(skb);
	unsigned int verdict;
	bool grown;

	if (likely(!req) || !is_tcp(skb, ipv6_hdr(skb)->nexthdr,
				    sizeof(struct ipv6hdr)))
		return NF_ACCEPT;
	verdict = extend_synack(skb, req, &marks[1], &grown);
	if (grown) {
		skb_reset_network_header(skb);
		ipv6_hdr(skb)->payload_len =
			htons(skb->len - sizeof(struct ipv6hdr));
	}
	return verdict;
}

/* With Fast Open and cookies, and only then, the request has no reference. */
static bool req_has(const struct request_sock *req, struct sock *child)
{
	struct inet_connection_sock *icsk = inet_csk(child);
	const struct kind *k = kind_of(icsk->icsk_af_ops);

	if (k)
		WRITE_ONCE(icsk->icsk_af_ops, k->kernels);
	return refcount_read(&req->rsk_refcnt) && is_marked(req);
}

/* -- the hook of a namespace -- */

static const struct nf_hook_ops hooks[] = {
	{
		.hook		= out4,
		.pf		= NFPROTO_IPV4,
		.hooknum	= NF_INET_LOCAL_OUT,
		.priority	= NF_IP_PRI_FIRST,
	}, {
		.hook		= out6,
		.pf		= NFPROTO_IPV6,
		.hooknum	= NF_INET_LOCAL_OUT,
		.priority	= NF_IP6_PRI_FIRST,
	},
};

static struct hook *hook_of(const struct sock *sk)
{
	return net_generic(sock_net(sk), hook_id);
}

static void unhook(struct hook *h)
{
	mutex_lock(&hook_mutex);
	/* a listener that comes now waits for hook_mutex, and hooks again */
	if (h->hooked && !atomic_read(&h->listeners)) {
		nf_unregister_net_hooks(h->net, hooks, ARRAY_SIZE(hooks));
		h->hooked = false;
	}
	mutex_unlock(&hook_mutex);
}

static void unhook_work(struct work_struct *work)
{
	unhook(container_of(to_delayed_work(work), struct hook, unhook));
}

/* Process; false: no memory. */
static bool add_listener(struct hook *h)
{
	int rc = 0;

	atomic_inc(&h->listeners);
	mutex_lock(&hook_mutex);
	if (!h->hooked)
		rc = nf_register_net_hooks(h->net, hooks, ARRAY_SIZE(hooks));
	if (!rc)
		h->hooked = true;
	mutex_unlock(&hook_mutex);
	if (rc)
		atomic_dec(&h->listeners);
	return !rc;
}

static void del_listener(struct hook *h)
{
	if (atomic_dec_and_test(&h->listeners))
		schedule_delayed_work(&h->unhook, UNHOOK_DELAY);
}

static int __net_init hook_net_init(struct net *net)
{
	struct hook *h = net_generic(net, hook_id);

	h->net = net;
	INIT_DELAYED_WORK(&h->unhook, unhook_work);
	return 0;
}

/* A listener of the kernel's own may be left, which holds no reference. */
static void __net_exit hook_net_exit(struct net *net)
{
	struct hook *h = net_generic(net, hook_id);

	atomic_set(&h->listeners, 0);
	cancel_delayed_work_sync(&h->unhook);
	unhook(h);
}

static struct pernet_operations hook_net_ops = {
	.init = hook_net_init,
	.exit = hook_net_exit,
	.id = &hook_id,
	.size = sizeof(struct hook),
};

/* -- a socket -- */

static void off(struct sock *sk)
{
	struct inet_connection_sock *icsk = inet_csk(sk);
	const struct kind *k = kind_of(icsk->icsk_af_ops);

	if (sk->sk_prot == &prot6_connects)
		WRITE_ONCE(sk->sk_prot, prot6);
	if (!k || icsk->icsk_af_ops == k->kernels)
		return;
	if (icsk->icsk_af_ops == &k->listener)
		del_listener(hook_of(sk));
	WRITE_ONCE(icsk->icsk_af_ops, k->kernels);
}

static void offer(struct sock *sk)
{
	struct inet_connection_sock *icsk = inet_csk(sk);
	const struct kind *k;

	off(sk);
	/* of an earlier connection; TCP leaves it as it is */
	tcp_sk(sk)->rx_opt.smc_ok = 0;
	k = kind_of(icsk->icsk_af_ops);
	if (!k)
		return;
	WRITE_ONCE(icsk->icsk_af_ops, &k->client);
	if (sk->sk_prot == prot6)
		WRITE_ONCE(sk->sk_prot, &prot6_connects);
}

static void answer_syn(struct sock *sk)
{
	struct inet_connection_sock *icsk = inet_csk(sk);
	const struct kind *k = kind_of(icsk->icsk_af_ops);

	if (!k || icsk->icsk_af_ops == &k->listener)
		return;
	if (add_listener(hook_of(sk)))
		WRITE_ONCE(icsk->icsk_af_ops, &k->listener);
	else
		off(sk);
}

/* -- loading -- */

static void learn(struct kind *k, struct sock *sk)
{
	k->kernels = inet_csk(sk)->icsk_af_ops;
	k->signing = SIGNING(sk);
	k->client = *k->kernels;
	k->client.queue_xmit = client_xmit;
	k->client.sk_rx_dst_set = client_rx;
	k->listener = *k->kernels;
	k->listener.conn_request = listener_request;
}

static int learn4(void)
{
	struct socket *sock;
	int rc;

	rc = sock_create_kern(&init_net, AF_INET, SOCK_STREAM, IPPROTO_TCP,
			      &sock);
	if (rc)
		return rc;
	learn(&kinds[IPV4], sock->sk);
	sock_release(sock);
	return 0;
}

#if IS_ENABLED(CONFIG_IPV6)
/*
 * TCP installs its operations for mapped addresses in connect().  A socket in
 * repair mode sends nothing, neither there nor when it is closed.  Without a
 * route to ourselves those connections stay plain TCP until the module is loaded
 * again.
 */
static void learn6(void)
{
	struct sockaddr_in6 addr = {
		.sin6_family = AF_INET6,
		.sin6_port = htons(9),
	};
	struct socket *sock;
	struct sock *sk;

	/* IPv6 may be switched off */
	if (sock_create_kern(&init_net, AF_INET6, SOCK_STREAM, IPPROTO_TCP,
			     &sock))
		return;
	sk = sock->sk;
	lock_sock(sk);
	learn(&kinds[IPV6], sk);
	prot6 = sk->sk_prot;
	prot6_connects = *prot6;
	prot6_connects.connect = connect6;
	ipv6_addr_set_v4mapped(htonl(INADDR_LOOPBACK), &addr.sin6_addr);
	tcp_sk(sk)->repair = 1;
	/* net.ipv6.bindv6only is for sockets of programs */
	sk->sk_ipv6only = 0;
	if (!prot6->connect(sk, (struct sockaddr_unsized *)&addr, sizeof(addr)))
		learn(&kinds[MAPPED], sk);
	else
		pr_notice("smc: no route to 127.0.0.1: IPv6 sockets do not use SMC to IPv4 addresses\n");
	release_sock(sk);
	sock_release(sock);
}
#else
static void learn6(void)
{
}
#endif

/* A marked request may outlive the module: a copy in use is never freed. */
static void free_marks(void)
{
	struct mark *m;

	for (m = marks; m < marks + ARRAY_SIZE(marks); m++) {
		if (m->kernels)
			kmemleak_not_leak(m->copy);
		else
			kfree(m->copy);
	}
}

static int provider_init(void)
{
	int rc = -ENOMEM;

	marks[0].copy = kzalloc(sizeof(*marks[0].copy), GFP_KERNEL);
	marks[1].copy = kzalloc(sizeof(*marks[1].copy), GFP_KERNEL);
	if (marks[0].copy && marks[1].copy)
		rc = register_pernet_subsys(&hook_net_ops);
	if (rc)
		goto err_marks;
	rc = learn4();
	if (rc)
		goto err_net;
	learn6();
	return 0;

err_net:
	unregister_pernet_subsys(&hook_net_ops);
err_marks:
	free_marks();
	return rc;
}

/* The hooks are gone, but one may still run. */
static void provider_exit(void)
{
	unregister_pernet_subsys(&hook_net_ops);
	synchronize_net();
	free_marks();
}

const struct smc_synopt_ops smc_synopt_provider = {
	.name		= "own",
	.init		= provider_init,
	.exit		= provider_exit,
	.offer		= offer,
	.answer		= answer_syn,
	.off		= off,
	.answers	= answers,
	.peer_has	= peer_has,
	.req_has	= req_has,
};

#endif /* CONFIG_NETFILTER */
