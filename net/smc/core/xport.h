/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The interface between the core and a transport.
 *
 * A transport moves bytes from a local ring into the peer's ring and then
 * publishes how far both rings are: over RDMA, by one CDC message, or by what the
 * WRITE of the bytes carries with it.  It is a const table of down-calls; the core
 * does not depend on which one it has.  A transport does not use struct sock and
 * exports no other header: it reports everything by the up-calls at the end of
 * this file, whose kernel-doc is in the .c files.
 *
 * Every down-call is mandatory unless its description says "optional".
 */
#ifndef SMC_XPORT_H
#define SMC_XPORT_H

#include <linux/types.h>
#include <linux/in6.h>
#include <linux/list.h>
#include <linux/refcount.h>
#include <linux/socket.h>
#include <linux/completion.h>
#include <linux/smc_reason.h>
#include "wire/cdc.h"
#include "wire/clc.h"

struct net;
struct net_device;
struct smc_conn;
struct smc_lgr;
struct smc_buf;
struct smc_xport;

/* Index of a transport in statistics, in netlink and on the wire. */
enum smc_xport_id {
	SMC_XPORT_R,		/* RDMA: CLC path bits 0 */
	SMC_XPORT_D,		/* shared memory: CLC path bits 1 */
	SMC_XPORT_NUM,
};

/* Names of devices and of what they stand on, with NUL */
#define SMC_DEV_NAME_LEN	64

/**
 * struct smc_dev - a device a transport can use, as the core sees it
 * @node: in the registry of xport.c
 * @xport: the transport that owns the device
 * @refs: one for the registry, one for each path and link group
 * @gone: completed by the last put; smc_dev_del() waits for it
 * @removing: no new user may take a reference
 * @queues: completion vectors: so many groups with a peer can be served at once;
 *	set by the transport before smc_dev_add(), 0 without links
 * @seq: grows from device to device in the registry
 * @name: for traces, netlink and smcss ("rxe0", "lo"); see smc_dev_name()
 * @parent: name of the device it stands on, a PCI function mostly, or "";
 *	set by the transport before smc_dev_add()
 */
struct smc_dev {
	struct list_head node;
	const struct smc_xport *xport;
	refcount_t refs;
	struct completion gone;
	bool removing;
	unsigned int queues;
	u64 seq;
	char name[SMC_DEV_NAME_LEN];
	char parent[SMC_DEV_NAME_LEN];
};

/* Ports that netlink can show, numbers 1 and 2. */
#define SMC_DEV_PORTS	2

/**
 * struct smc_dev_info - what netlink shows of a device
 * @is_pci: the next two are valid, and smc_dev.parent is a PCI address
 * @pci_vendor: PCI vendor id
 * @pci_device: PCI device id
 * @chid: SMC-D channel id
 * @port: RDMA ports 1 and 2
 * @port.valid: there is such a port and SMC can use its kind
 * @port.active: it is up
 * @port.ifindex: its network device, 0 if in another namespace
 */
struct smc_dev_info {
	bool is_pci;
	u16 pci_vendor;
	u16 pci_device;
	u16 chid;
	struct {
		bool valid;
		bool active;
		int ifindex;
	} port[SMC_DEV_PORTS];
};

/**
 * struct smc_egress - by what packets leave
 * @ndev: device; held by the caller for the call
 * @addr: own address there, v4-mapped for IPv4
 * @vlan_id: VLAN of @ndev or the first below it, 0 = none
 * @tclass: TOS or traffic class of the packets, without ECN bits
 * @priority: theirs
 */
struct smc_egress {
	struct net_device *ndev;
	struct in6_addr addr;
	u16 vlan_id;
	u8 tclass;
	u32 priority;
};

/**
 * struct smc_route - what the TCP connection tells about the way to the peer
 * @net: the network namespace of the socket
 * @own: how the packets leave that: the socket's device, address and priority
 * @lent: how they leave this host, if by a device of another namespace, or above
 *	one, that lends its RoCE ports (smc_net_lends()); its device is NULL if
 *	there is none, the traffic class of a tunnel 0
 * @family: AF_INET or AF_INET6 (v4-mapped addresses count as AF_INET)
 * @daddr: peer address, v4-mapped for AF_INET
 * @gid_family: with AF_INET6: take RoCE v2 GIDs of this family alone; 0: any
 * @sport: local TCP port, host order
 * @dport: peer TCP port, host order
 * @mtu: what the route allows if that is less than its device does, else 0
 * @secured: IPsec or MACsec protects the packets, here or on the way: RDMA would
 *	bypass it (RFC 7609 section 5.5)
 * @rtt_us: TCP's round-trip time in microseconds, 0 = not known
 */
struct smc_route {
	struct net *net;
	struct smc_egress own;
	struct smc_egress lent;
	sa_family_t family;
	struct in6_addr daddr;
	sa_family_t gid_family;
	u16 sport;
	u16 dport;
	u32 mtu;
	bool secured;
	u32 rtt_us;
};

/**
 * struct smc_path - one way a transport can serve a route
 * @dev: the device, referenced; smc_path_put() drops it
 * @id: names the way of a link: another one for another device, port or
 *	address, and after an event that may have repaired it; 0: no links
 * @port: RDMA port number, 0 for shared memory
 * @gid_index: index of @gid in the port's GID table
 * @v1: usable for SMC-R version 1 (@gid_v1 is valid)
 * @v2: usable for version 2
 * @write_imm: SMC-R: immediate data arrives as it was sent
 * @gid: RoCE v2 GID for SMC-R, an IPv6 address or a mapped one of IPv4
 * @gid_v1: RoCE v1 GID
 * @gid_v1_index: index of @gid_v1
 * @gid_net: cookie of the namespace of the GIDs' network device, one for both:
 *	an index may be another device's by the time it is used
 * @gid_ifindex: that device
 * @mac: its MAC address
 * @ifindex: network device of the GID; the route's if that one is in another
 *	namespace
 * @mtu_code: MTU of RDMA packets as a CLC MTU code (1..5)
 * @ism_gid: SMC-D GID
 * @ism_gid_ext: SMC-D GID extension of an emulated device
 * @chid: SMC-D channel id
 * @vlan_id: VLAN used
 * @tclass: as struct smc_egress says
 * @sl: SMC-R: service level
 * @rtt_us: as the route says
 */
struct smc_path {
	struct smc_dev *dev;
	u64 id;
	u8 port;
	u16 gid_index;
	u16 gid_v1_index;
	bool v1;
	bool v2;
	bool write_imm;
	u8 gid[SMC_GID_LEN];
	u8 gid_v1[SMC_GID_LEN];
	u64 gid_net;
	int gid_ifindex;
	u8 mac[SMC_MAC_LEN];
	int ifindex;
	u8 mtu_code;
	u64 ism_gid;
	u64 ism_gid_ext;
	u16 chid;
	u16 vlan_id;
	u8 tclass;
	u8 sl;
	u32 rtt_us;
};

/**
 * struct smc_update - what one end of a connection tells the other
 * @prod_pos: how far it has written into the other's ring
 * @cons_pos: how far it has read its own
 * @prod_flags: enum smc_cdc_prod_flags
 * @conn_flags: enum smc_cdc_conn_flags
 *
 * A CDC message without what only the wire needs.
 */
struct smc_update {
	u64 prod_pos;
	u64 cons_pos;
	u8 prod_flags;
	u8 conn_flags;
};

/**
 * struct smc_push - one step of a connection's data: write, then publish
 * @up: the state to publish after the bytes; its @prod_pos is handed back in
 *	smc_conn_tx_done() when they may be overwritten
 * @len: bytes before @up.prod_pos to be written into the peer's ring; 0: none.
 *	They are there already if rings are merged
 * @bare: the bytes and SMC_CDC_WRITE_BLOCKED are all that is new, and the bytes
 *	are one piece in both rings.  Only in groups with smc_lgr.write_imm
 * @may_wait: a little data and nothing else
 * @last: nothing may follow for a while (close, abort, a full ring): the
 *        transport must ask for a completion
 */
struct smc_push {
	struct smc_update up;
	u32 len;
	bool bare;
	bool may_wait;
	bool last;
};

enum smc_buf_dir {
	SMC_BUF_SND,		/* send ring: read by the local device only */
	SMC_BUF_RCV,		/* receive ring: written by the peer */
	SMC_BUF_DIRS,
};

/**
 * struct smc_xport_info - what diag and netlink show of a connection or group
 * @dev: device name
 * @port: RDMA port
 * @link_id: link id on the wire
 * @link_state: SMC-R: 0 none, 1 stalled (struct smc_lgr), 2 being set up, 3
 *	usable
 * @link_uid: SMC-R: number of the link on the whole host
 * @peer_link_uid: the peer's, 0 as long as it has not told
 * @gid: own GID (R: 16 bytes)
 * @peer_gid: the peer's GID
 * @token: SMC-D: own buffer token
 * @peer_token: SMC-D: the peer's buffer token
 * @ism_gid: own SMC-D GID
 * @ism_gid_ext: its extension
 * @peer_ism_gid: the peer's SMC-D GID
 * @peer_ism_gid_ext: its extension
 */
struct smc_xport_info {
	char dev[SMC_DEV_NAME_LEN];
	u8 port;
	u8 link_id;
	u8 link_state;
	u32 link_uid;
	u32 peer_link_uid;
	u8 gid[SMC_GID_LEN];
	u8 peer_gid[SMC_GID_LEN];
	u64 token;
	u64 peer_token;
	u64 ism_gid;
	u64 ism_gid_ext;
	u64 peer_ism_gid;
	u64 peer_ism_gid_ext;
};

/**
 * struct smc_xport - down-calls, core to transport
 *
 * A transport without links has none of lgr_up, lgr_match, lgr_connect,
 * lgr_confirm and lgr_down.  Then a group has nothing of its own: a namespace has
 * one for each role and EID, ACTIVE from the start, for connections with all
 * peers.
 *
 * @id: index for statistics and the CLC path bits
 * @lgr_size: size of the transport's group object, which starts with a
 *	struct smc_lgr; the core allocates it zeroed
 * @buf_size: the same for buffers (starts with a struct smc_buf)
 * @conn_size: size of the private area the core allocates zeroed for every
 *	connection (conn->xp)
 * @merges: the send ring is the peer's receive ring, mapped by conn_attach;
 *	no send buffer is allocated
 * @max_size_code: largest receive-buffer size code (SMC-R 15, SMC-D 6)
 *
 * @find_path: Can this route be served, and how?  Fills @path (with a device
 *	reference) and returns SMC_REASON_OK, or the reason why not.
 *	Context: process, may sleep.
 * @path_net: optional; the namespace in which the packets of a path are routed:
 *	that of its network device, with a reference, or NULL if it is going.
 *	Context: process.
 * @gid_is_own: optional; is this the GID of a port of namespace @net?  For
 *	version 1, whose GIDs no route knows.  Context: process.
 * @lgr_up: Create the local resources of a group in state CONNECTING from
 *	lgr->path (R: PD, CQ, QP in RESET).  Does not wait for the peer.
 *	Context: process.  0 or -errno; a failure has undone everything.
 * @lgr_match: Is this ACTIVE or CONNECTING group the one to use towards the
 *	peer described?  The server passes the Proposal (@acc NULL), the
 *	client the Accept (@prop NULL).  The group is in the namespace's table
 *	and not dead; the core has compared transport, role and VLAN already.
 *	Context: spinlock held, must not sleep.
 * @lgr_connect: The peer's Accept (client) or Confirm (server) of the first
 *	contact has arrived: bring the link up to the point where the peer may
 *	send (R, client: INIT, RTR, receives posted; server: also RTS).  @prop
 *	is the Proposal, for the server only (GID and MAC are taken from
 *	there).  Neither this nor lgr_confirm runs beside or after lgr_down.
 *	Context: process.
 * @lgr_confirm: Start the confirmation of the first link without waiting
 *	(R: server sends CONFIRM LINK, client waits for it).  The outcome is
 *	reported by smc_lgr_changed().  Context: process.
 * @lgr_test: optional; find out whether the peer still has the link.  May run
 *	beside or after lgr_down.  Context: process, does not wait.
 * @lgr_down: Terminate: tell the peer if possible, stop the link, free it.
 *	After it returns no up-call for any connection of the group happens,
 *	nothing refers to the device any more, and the memory of the buffers
 *	still in use (a program may have unread data) is plain memory: keys
 *	revoked, mappings gone; buf_free comes later for each of them.
 *	Called exactly once for each successful lgr_up.  Context: process.
 * @buf_alloc: Fill in the buffer object @buf (core-allocated, zeroed) with
 *	zeroed memory of buf->size bytes for buf->dir; -ENOMEM makes the core
 *	try the next smaller size.  Context: process.
 * @buf_free: Give the memory back.  For a receive buffer whose peer may still
 *	write (buf->peer_may_write) the key is invalidated first, or the memory
 *	is kept until it is harmless.  Also frees the object (kfree(buf)), now
 *	or later, after smc_buf_freed().  Context: process.
 * @describe: Put into @acc what the peer must know to write to this
 *	connection: identity of the link, key/address/token, size, alert token.
 *	The receive buffer is registered first: -EINPROGRESS, and the caller
 *	asks again after smc_conn_described().
 *	After it returns early CDC messages must find the connection.
 *	Context: process, does not wait.  0 or -errno.
 * @conn_attach: Learn the peer's ring from its Accept or Confirm; sets
 *	conn->peer_size, and for merged rings conn->snd_base, snd_size, merged.
 *	-EPROTO refuses nonsense.  Context: process.
 * @conn_detach: Begin to forget the connection.  It is over when no up-call for
 *	it happens any more and no work request refers to its send buffer.
 *	True: that is so.  False: smc_conn_detached() is called once when it is,
 *	and until then this is called again every SMC_DETACH_LOOK_MS: a group
 *	that makes no progress is to be given up then, so that lgr_down ends
 *	it.  For merged rings conn->rmb->peer_may_write then says whether the
 *	peer still has the ring mapped.  Context: process, does not wait; no
 *	lock held.
 * @writer_gone: optional; the program will not write any more.  What it has
 *	written is still pushed.  Context: process.
 * @push: Copy and publish, all or nothing: 0, or 1 if @pushed has to follow.
 *	-EAGAIN: no room now, and -EINPROGRESS: it waits for earlier ones
 *	(smc_push.may_wait): smc_conn_push() will be called; any other error:
 *	the link is dead and smc_lgr_lost() has been or will be called.
 *	Context: conn->tx_lock held, BH disabled.
 * @pushed: optional, if @push never returns 1; called after tx_lock has been
 *	dropped, for what must not be done under it.  Context: any.
 * @fill_info: For sock_diag and netlink; @info is zeroed.  Context: process or
 *	BH, no sleep.
 * @fill_dev: For netlink; @info is zeroed.  False: the device cannot be used
 *	from namespace @net and is not shown there.  Context: process, registry
 *	locked, may sleep.
 */
struct smc_xport {
	enum smc_xport_id id;
	u32 lgr_size;
	u32 buf_size;
	u32 conn_size;
	bool merges;
	u8 max_size_code;

	enum smc_reason (*find_path)(const struct smc_route *route,
				     struct smc_path *path);
	struct net *(*path_net)(const struct smc_path *path);
	bool (*gid_is_own)(const struct net *net, const u8 *gid);
	int (*lgr_up)(struct smc_lgr *lgr);
	bool (*lgr_match)(const struct smc_lgr *lgr,
			  const struct smc_path *path,
			  const struct smc_clc_proposal *prop,
			  const struct smc_clc_accept *acc);
	int (*lgr_connect)(struct smc_lgr *lgr,
			   const struct smc_clc_proposal *prop,
			   const struct smc_clc_accept *peer);
	int (*lgr_confirm)(struct smc_lgr *lgr);
	void (*lgr_test)(struct smc_lgr *lgr);
	void (*lgr_down)(struct smc_lgr *lgr);
	int (*buf_alloc)(struct smc_lgr *lgr, struct smc_buf *buf);
	void (*buf_free)(struct smc_lgr *lgr, struct smc_buf *buf);
	int (*describe)(struct smc_conn *conn, struct smc_clc_accept *acc);
	int (*conn_attach)(struct smc_conn *conn,
			   const struct smc_clc_accept *peer);
	bool (*conn_detach)(struct smc_conn *conn);
	void (*writer_gone)(struct smc_conn *conn);
	int (*push)(struct smc_conn *conn, const struct smc_push *p);
	void (*pushed)(struct smc_conn *conn);
	void (*fill_info)(const struct smc_lgr *lgr,
			  const struct smc_conn *conn,
			  struct smc_xport_info *info);
	bool (*fill_dev)(struct smc_dev *dev, struct net *net,
			 struct smc_dev_info *info);
};

#define SMC_DETACH_LOOK_MS	1000

/* Registry (xport.c) */
void smc_xport_register(const struct smc_xport *xport);
const struct smc_xport *smc_xport_get(enum smc_xport_id id);
bool smc_dev_get(struct smc_dev *dev);
void smc_dev_name(const struct smc_dev *dev, char name[SMC_DEV_NAME_LEN]);
void smc_path_put(struct smc_path *path);
int smc_dev_walk(const struct smc_xport *xport,
		 int (*fn)(struct smc_dev *dev, void *arg), void *arg);
void smc_lgr_kill_dev(struct smc_dev *dev);	/* lgr.c, for xport.c */

/* Up-calls, transport to core */
void smc_dev_add(struct smc_dev *dev, const struct smc_xport *xport,
		 const char *name);
void smc_dev_rename(struct smc_dev *dev, const char *name);
void smc_dev_del(struct smc_dev *dev);
struct smc_conn *smc_lgr_conn_find(struct smc_lgr *lgr, u32 token);
void smc_lgr_each_user(const struct smc_dev *dev,
		       void (*fn)(struct smc_lgr *lgr, void *arg), void *arg);
bool smc_lgr_lost(struct smc_lgr *lgr, enum smc_reason why);
void smc_lgr_changed(struct smc_lgr *lgr, enum smc_reason why);
void smc_lgr_list(struct smc_lgr *lgr);
bool smc_conn_rx(struct smc_conn *conn, const struct smc_update *up);
bool smc_conn_rx_cdc(struct smc_conn *conn, const struct smc_cdc *cdc);
bool smc_conn_rx_bare(struct smc_conn *conn, u32 len, u8 prod_flags);
void smc_conn_to_cdc(const struct smc_conn *conn, const struct smc_update *up,
		     struct smc_cdc *cdc);
void smc_conn_push(struct smc_conn *conn);
void smc_conn_push_rcu(struct smc_conn *conn);
void smc_conn_tx_done(struct smc_conn *conn, u64 end_pos);
void smc_conn_described(struct smc_conn *conn);
void smc_conn_detached(struct smc_conn *conn);
void smc_buf_freed(struct smc_buf *buf);
void smc_conn_peer_error(struct smc_conn *conn, enum smc_reason why);

/* Does each group of this transport have one peer and a link? */
static inline bool smc_xport_has_links(const struct smc_xport *xport)
{
	return xport->lgr_up;
}

#endif /* SMC_XPORT_H */
