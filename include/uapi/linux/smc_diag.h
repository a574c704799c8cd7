/* SPDX-License-Identifier: GPL-2.0 WITH Linux-syscall-note */
/*
 * sock_diag of SMC sockets: NETLINK_SOCK_DIAG, SOCK_DIAG_BY_FAMILY, family
 * AF_SMC (43).
 *
 * A dump lists the SMC sockets of the requester's network namespace: one
 * struct smc_diag_msg each, followed by attributes.  Everything is in host
 * byte order except ports and addresses.  IPv4 addresses use the first word of
 * the address fields and leave the others zero.
 *
 * Attributes SMC_DIAG_REQ_* after the request choose among the sockets; all of
 * them have to hold.
 *
 * SOCK_DESTROY with a struct smc_diag_req, for CAP_NET_ADMIN, ends the socket
 * that a dump shows with this id: its program gets ECONNABORTED, the peer a
 * reset.  A cookie of INET_DIAG_NOCOOKIE twice is any, an interface 0 is any.
 *
 * The layout is that of Linux since 4.11; structures grow only at their end,
 * so a reader has to accept attributes shorter and longer than it knows.
 */
#ifndef _UAPI_SMC_DIAG_H_
#define _UAPI_SMC_DIAG_H_

#include <linux/types.h>
#include <linux/inet_diag.h>

#define SMC_DIAG_IB_NAME_LEN	64	/* IB_DEVICE_NAME_MAX */
#define SMC_DIAG_GID_LEN	40	/* 8 groups of 4 hex digits, NUL */

/* The request; id is not a filter, but SOCK_DESTROY's. */
struct smc_diag_req {
	__u8	diag_family;		/* AF_SMC */
	__u8	pad[2];
	__u8	diag_ext;		/* 1 << (attribute - 1) */
	struct inet_diag_sockid	id;
};

/* Attributes of a request; ours, the kernel's own SMC ignores them. */
enum {
	SMC_DIAG_REQ_UNSPEC,
	SMC_DIAG_REQ_STATES,		/* __u32: 1 << diag_state */
	SMC_DIAG_REQ_MODES,		/* __u32: 1 << diag_mode */
	SMC_DIAG_REQ_SRC,		/* struct smc_diag_prefix */
	SMC_DIAG_REQ_DST,		/* struct smc_diag_prefix */
	SMC_DIAG_REQ_SPORT,		/* struct smc_diag_ports */
	SMC_DIAG_REQ_DPORT,		/* struct smc_diag_ports */
	__SMC_DIAG_REQ_MAX,
};

#define SMC_DIAG_REQ_MAX	(__SMC_DIAG_REQ_MAX - 1)

/* Addresses; an IPv4 one also means its IPv4-mapped form. */
struct smc_diag_prefix {
	__u8	family;			/* AF_INET, AF_INET6 */
	__u8	len;			/* bits that count */
	__u8	pad[2];			/* 0 */
	__be32	addr[4];
};

/* In host byte order, both included. */
struct smc_diag_ports {
	__u16	first;
	__u16	last;
};

/* Start of every answer. */
struct smc_diag_msg {
	__u8	diag_family;		/* AF_SMC; AF_INET(6): IPPROTO_SMC */
	__u8	diag_state;		/* 1 ACTIVE, 2 INIT, 7 CLOSED, .. */
	__u8	diag_mode;		/* SMC_DIAG_MODE_* */
	__u8	diag_shutdown;		/* 0; see SMC_DIAG_SHUTDOWN */
	struct inet_diag_sockid	id;
	__u32	diag_uid;
	__aligned_u64	diag_inode;
};

/* diag_mode; a socket that is not yet connected says SMCR. */
enum {
	SMC_DIAG_MODE_SMCR,
	SMC_DIAG_MODE_FALLBACK_TCP,
	SMC_DIAG_MODE_SMCD,
};

/* Attributes */
enum {
	SMC_DIAG_NONE,
	SMC_DIAG_CONNINFO,		/* struct smc_diag_conninfo */
	SMC_DIAG_LGRINFO,		/* struct smc_diag_lgrinfo */
	SMC_DIAG_SHUTDOWN,		/* __u8: 1 receive, 2 send; always */
	SMC_DIAG_DMBINFO,		/* struct smcd_diag_dmbinfo */
	SMC_DIAG_FALLBACK,		/* struct smc_diag_fallback; always */
	__SMC_DIAG_MAX,
};

#define SMC_DIAG_MAX	(__SMC_DIAG_MAX - 1)

/* A position in a ring as it is on the wire. */
struct smc_diag_cursor {
	__u16	reserved;
	__u16	wrap;
	__u32	count;
};

struct smc_diag_conninfo {
	__u32	token;			/* ours */
	__u32	sndbuf_size;
	__u32	rmbe_size;		/* our receive ring */
	__u32	peer_rmbe_size;
	/* last received from the peer */
	struct smc_diag_cursor	rx_prod;
	struct smc_diag_cursor	rx_cons;
	/* last sent to the peer */
	struct smc_diag_cursor	tx_prod;
	struct smc_diag_cursor	tx_cons;
	__u8	rx_prod_flags;		/* SMC_DIAG_PROD_* */
	__u8	rx_conn_state_flags;	/* SMC_DIAG_CONN_* */
	__u8	tx_prod_flags;
	__u8	tx_conn_state_flags;
	/* in the send ring: filled, written to the peer, may be reused */
	struct smc_diag_cursor	tx_prep;
	struct smc_diag_cursor	tx_sent;
	struct smc_diag_cursor	tx_fin;
};

/* Producer flags of struct smc_diag_conninfo */
#define SMC_DIAG_PROD_BLOCKED		0x80	/* waits for the reader */
#define SMC_DIAG_PROD_URG_PENDING	0x40
#define SMC_DIAG_PROD_URG_PRESENT	0x20
#define SMC_DIAG_PROD_CONS_REQ		0x10
#define SMC_DIAG_PROD_FAILOVER		0x08

/* Connection state flags of struct smc_diag_conninfo */
#define SMC_DIAG_CONN_DONE		0x80	/* sends no more */
#define SMC_DIAG_CONN_CLOSED		0x40
#define SMC_DIAG_CONN_ABORT		0x20

/* One RDMA link; GIDs are text. */
struct smc_diag_linkinfo {
	__u8	link_id;
	__u8	ibname[SMC_DIAG_IB_NAME_LEN];
	__u8	ibport;
	__u8	gid[SMC_DIAG_GID_LEN];
	__u8	peer_gid[SMC_DIAG_GID_LEN];
};

struct smc_diag_lgrinfo {
	struct smc_diag_linkinfo	lnk[1];
	__u8	role;			/* 0 client, 1 server */
};

/* A Shared Memory link: the last two members came with Linux 6.8. */
struct smcd_diag_dmbinfo {
	__u32	linkid;
	__aligned_u64	peer_gid;
	__aligned_u64	my_gid;
	__aligned_u64	token;
	__aligned_u64	peer_token;
	__aligned_u64	peer_gid_ext;
	__aligned_u64	my_gid_ext;
};

/* Why a socket is plain TCP: codes of <linux/smc_reason.h>. */
struct smc_diag_fallback {
	__u32	reason;
	__u32	peer_diagnosis;
};

/*
 * What sock_diag of TCP sockets says of one with an SMC connection: an
 * attribute in INET_DIAG_ULP_INFO, whose INET_ULP_INFO_NAME is "smc".
 */
#define SMC_ULP_INFO		299	/* far from the kernel's own numbers */

/* Attributes in SMC_ULP_INFO */
enum {
	SMC_ULP_INFO_UNSPEC,
	SMC_ULP_INFO_MODE,		/* u8 as smc_diag_msg.diag_mode */
	SMC_ULP_INFO_LGR,		/* u32: link group */
	__SMC_ULP_INFO_MAX,
};

#define SMC_ULP_INFO_MAX	(__SMC_ULP_INFO_MAX - 1)

#endif /* _UAPI_SMC_DIAG_H_ */
