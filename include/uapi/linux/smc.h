/* SPDX-License-Identifier: GPL-2.0 WITH Linux-syscall-note */
/*
 * Shared Memory Communications: socket constants and generic netlink.
 *
 * Two generic netlink families are served.  SMC_PNETID is the table which
 * says which interfaces and RDMA ports share a physical network.
 * SMC_GEN_NETLINK shows link groups, links, devices, statistics and the
 * enterprise ids.  Numbers and types are those of Linux 4.11 to 7.2.
 */
#ifndef _UAPI_LINUX_SMC_H
#define _UAPI_LINUX_SMC_H

#include <linux/types.h>

/*
 * socket(AF_SMC, SOCK_STREAM, ..); the other way is the protocol IPPROTO_SMC
 * (256) of AF_INET and AF_INET6, which <linux/in.h> has since Linux 6.11.
 */
#define SMCPROTO_SMC		0	/* over IPv4 */
#define SMCPROTO_SMC6		1	/* over IPv6 */

/* Options of level SOL_SMC (286) */
#define SMC_LIMIT_HS		1	/* int: kept, has no effect */
/* Ours alone, far above the kernel's own */
#define SMC_PLAIN_TCP		256	/* int: connections from now on without SMC */

/*
 * What the trace event smc:smc_policy passes, before a connect() offers SMC
 * and before a listen().  It is writable: a BPF program (raw_tp.w) that sets
 * @plain makes this call plain TCP.
 */
struct smc_policy {
	__u8	plain;			/* 0 */
	__u8	listens;		/* 1: @addr is own; 0: the peer's */
	__u16	family;			/* AF_INET or AF_INET6 */
	__be16	port;
	__u16	pad;
	__be32	addr[4];		/* IPv6; IPv4 addresses are mapped */
};

/* ---- family SMC_PNETID ------------------------------------------------ */

#define SMCR_GENL_FAMILY_NAME		"SMC_PNETID"
#define SMCR_GENL_FAMILY_VERSION	1

enum {					/* attributes */
	SMC_PNETID_UNSPEC,
	SMC_PNETID_NAME,		/* string, up to 16 */
	SMC_PNETID_ETHNAME,		/* string, up to 15; "n/a" */
	SMC_PNETID_IBNAME,		/* string, up to 63; "n/a" */
	SMC_PNETID_IBPORT,		/* u8, 255 for none */
	__SMC_PNETID_MAX,
	SMC_PNETID_MAX = __SMC_PNETID_MAX - 1
};

enum {					/* commands */
	SMC_PNETID_GET = 1,
	SMC_PNETID_ADD,
	SMC_PNETID_DEL,
	SMC_PNETID_FLUSH
};

/* ---- family SMC_GEN_NETLINK ------------------------------------------- */

#define SMC_GENL_FAMILY_NAME		"SMC_GEN_NETLINK"
#define SMC_GENL_FAMILY_VERSION		1

#define SMC_PCI_ID_STR_LEN		16	/* with NUL */
#define SMC_MAX_HOSTNAME_LEN		32	/* blank padded */
#define SMC_MAX_UEID			4	/* rows of the table */
#define SMC_MAX_EID_LEN			32	/* blank padded */

enum {					/* commands */
	SMC_NETLINK_GET_SYS_INFO = 1,
	SMC_NETLINK_GET_LGR_SMCR,
	SMC_NETLINK_GET_LINK_SMCR,
	SMC_NETLINK_GET_LGR_SMCD,
	SMC_NETLINK_GET_DEV_SMCD,
	SMC_NETLINK_GET_DEV_SMCR,
	SMC_NETLINK_GET_STATS,
	SMC_NETLINK_GET_FBACK_STATS,
	SMC_NETLINK_DUMP_UEID,
	SMC_NETLINK_ADD_UEID,
	SMC_NETLINK_REMOVE_UEID,
	SMC_NETLINK_FLUSH_UEID,
	SMC_NETLINK_DUMP_SEID,
	SMC_NETLINK_ENABLE_SEID,
	SMC_NETLINK_DISABLE_SEID,
	SMC_NETLINK_DUMP_HS_LIMITATION,
	SMC_NETLINK_ENABLE_HS_LIMITATION,
	SMC_NETLINK_DISABLE_HS_LIMITATION,
};

enum {					/* top level, each a nest */
	SMC_GEN_UNSPEC,
	SMC_GEN_SYS_INFO,		/* SMC_NLA_SYS_* */
	SMC_GEN_LGR_SMCR,		/* SMC_NLA_LGR_R_* */
	SMC_GEN_LINK_SMCR,		/* SMC_NLA_LINK_* */
	SMC_GEN_LGR_SMCD,		/* SMC_NLA_LGR_D_* */
	SMC_GEN_DEV_SMCD,		/* SMC_NLA_DEV_* */
	SMC_GEN_DEV_SMCR,		/* SMC_NLA_DEV_* */
	SMC_GEN_STATS,			/* SMC_NLA_STATS_* */
	SMC_GEN_FBACK_STATS,		/* SMC_NLA_FBACK_STATS_* */
	__SMC_GEN_MAX,
	SMC_GEN_MAX = __SMC_GEN_MAX - 1
};

enum {					/* SMC_GEN_SYS_INFO */
	SMC_NLA_SYS_UNSPEC,
	SMC_NLA_SYS_VER,		/* u8 */
	SMC_NLA_SYS_REL,		/* u8 */
	SMC_NLA_SYS_IS_ISM_V2,		/* u8 */
	SMC_NLA_SYS_LOCAL_HOST,		/* string */
	SMC_NLA_SYS_SEID,		/* string */
	SMC_NLA_SYS_IS_SMCR_V2,		/* u8 */
	__SMC_NLA_SYS_MAX,
	SMC_NLA_SYS_MAX = __SMC_NLA_SYS_MAX - 1
};

enum {			/* SMC_NLA_LGR_R_V2_COMMON, SMC_NLA_LGR_D_V2_COMMON */
	SMC_NLA_LGR_V2_VER,		/* u8; really number 0 */
	SMC_NLA_LGR_V2_REL,		/* u8 */
	SMC_NLA_LGR_V2_OS,		/* u8: 1 z/OS, 2 Linux, 3 AIX */
	SMC_NLA_LGR_V2_NEG_EID,		/* string */
	SMC_NLA_LGR_V2_PEER_HOST,	/* string */
	__SMC_NLA_LGR_V2_MAX,
	SMC_NLA_LGR_V2_MAX = __SMC_NLA_LGR_V2_MAX - 1
};

enum {					/* SMC_NLA_LGR_R_V2 */
	SMC_NLA_LGR_R_V2_UNSPEC,
	SMC_NLA_LGR_R_V2_DIRECT,	/* u8 */
	SMC_NLA_LGR_R_V2_MAX_CONNS,	/* u8 */
	SMC_NLA_LGR_R_V2_MAX_LINKS,	/* u8 */
	__SMC_NLA_LGR_R_V2_MAX,
	SMC_NLA_LGR_R_V2_MAX = __SMC_NLA_LGR_R_V2_MAX - 1
};

enum {					/* SMC_GEN_LGR_SMCR */
	SMC_NLA_LGR_R_UNSPEC,
	SMC_NLA_LGR_R_ID,		/* u32, multiple of 256 */
	SMC_NLA_LGR_R_ROLE,		/* u8: 0 client, 1 server */
	SMC_NLA_LGR_R_TYPE,		/* u8: 0 none, 1 single, 2 sym, .. */
	SMC_NLA_LGR_R_PNETID,		/* string */
	SMC_NLA_LGR_R_VLAN_ID,		/* u8 */
	SMC_NLA_LGR_R_CONNS_NUM,	/* u32 */
	SMC_NLA_LGR_R_V2_COMMON,	/* nest SMC_NLA_LGR_V2_* */
	SMC_NLA_LGR_R_V2,		/* nest SMC_NLA_LGR_R_V2_* */
	SMC_NLA_LGR_R_NET_COOKIE,	/* u64 */
	SMC_NLA_LGR_R_PAD,
	SMC_NLA_LGR_R_BUF_TYPE,		/* u8: 0 phys, 1 virt, 2 mixed */
	SMC_NLA_LGR_R_SNDBUF_ALLOC,	/* uint */
	SMC_NLA_LGR_R_RMB_ALLOC,	/* uint */
	__SMC_NLA_LGR_R_MAX,
	SMC_NLA_LGR_R_MAX = __SMC_NLA_LGR_R_MAX - 1
};

enum {					/* SMC_GEN_LINK_SMCR */
	SMC_NLA_LINK_UNSPEC,
	SMC_NLA_LINK_ID,		/* u8 */
	SMC_NLA_LINK_IB_DEV,		/* string */
	SMC_NLA_LINK_IB_PORT,		/* u8 */
	SMC_NLA_LINK_GID,		/* string */
	SMC_NLA_LINK_PEER_GID,		/* string */
	SMC_NLA_LINK_CONN_CNT,		/* u32 */
	SMC_NLA_LINK_NET_DEV,		/* u32 ifindex */
	SMC_NLA_LINK_UID,		/* u32, big endian */
	SMC_NLA_LINK_PEER_UID,		/* u32, big endian */
	SMC_NLA_LINK_STATE,		/* u32: 0 unused .. 3 active */
	__SMC_NLA_LINK_MAX,
	SMC_NLA_LINK_MAX = __SMC_NLA_LINK_MAX - 1
};

enum {					/* SMC_GEN_LGR_SMCD */
	SMC_NLA_LGR_D_UNSPEC,
	SMC_NLA_LGR_D_ID,		/* u32 */
	SMC_NLA_LGR_D_GID,		/* u64 */
	SMC_NLA_LGR_D_PEER_GID,		/* u64 */
	SMC_NLA_LGR_D_VLAN_ID,		/* u8 */
	SMC_NLA_LGR_D_CONNS_NUM,	/* u32 */
	SMC_NLA_LGR_D_PNETID,		/* string */
	SMC_NLA_LGR_D_CHID,		/* u32 in practice */
	SMC_NLA_LGR_D_PAD,
	SMC_NLA_LGR_D_V2_COMMON,	/* nest SMC_NLA_LGR_V2_* */
	SMC_NLA_LGR_D_EXT_GID,		/* u64 */
	SMC_NLA_LGR_D_PEER_EXT_GID,	/* u64 */
	SMC_NLA_LGR_D_SNDBUF_ALLOC,	/* uint */
	SMC_NLA_LGR_D_DMB_ALLOC,	/* uint */
	__SMC_NLA_LGR_D_MAX,
	SMC_NLA_LGR_D_MAX = __SMC_NLA_LGR_D_MAX - 1
};

enum {					/* SMC_NLA_DEV_PORT, _PORT2 */
	SMC_NLA_DEV_PORT_UNSPEC,
	SMC_NLA_DEV_PORT_PNET_USR,	/* u8 */
	SMC_NLA_DEV_PORT_PNETID,	/* string */
	SMC_NLA_DEV_PORT_NETDEV,	/* u32 ifindex */
	SMC_NLA_DEV_PORT_STATE,		/* u8: 1 active */
	SMC_NLA_DEV_PORT_VALID,		/* u8 */
	SMC_NLA_DEV_PORT_LNK_CNT,	/* u32 */
	__SMC_NLA_DEV_PORT_MAX,
	SMC_NLA_DEV_PORT_MAX = __SMC_NLA_DEV_PORT_MAX - 1
};

enum {				/* SMC_GEN_DEV_SMCD, SMC_GEN_DEV_SMCR */
	SMC_NLA_DEV_UNSPEC,
	SMC_NLA_DEV_USE_CNT,		/* u32 */
	SMC_NLA_DEV_IS_CRIT,		/* u8 */
	SMC_NLA_DEV_PCI_FID,		/* u32 */
	SMC_NLA_DEV_PCI_CHID,		/* u16 */
	SMC_NLA_DEV_PCI_VENDOR,		/* u16 */
	SMC_NLA_DEV_PCI_DEVICE,		/* u16 */
	SMC_NLA_DEV_PCI_ID,		/* string */
	SMC_NLA_DEV_PORT,		/* nest SMC_NLA_DEV_PORT_* */
	SMC_NLA_DEV_PORT2,		/* nest SMC_NLA_DEV_PORT_* */
	SMC_NLA_DEV_IB_NAME,		/* string */
	__SMC_NLA_DEV_MAX,
	SMC_NLA_DEV_MAX = __SMC_NLA_DEV_MAX - 1
};

enum {	/* SMC_NLA_STATS_T_*_SIZE: calls or buffers by size, u64 each */
	SMC_NLA_STATS_PLOAD_PAD,
	SMC_NLA_STATS_PLOAD_8K,
	SMC_NLA_STATS_PLOAD_16K,
	SMC_NLA_STATS_PLOAD_32K,
	SMC_NLA_STATS_PLOAD_64K,
	SMC_NLA_STATS_PLOAD_128K,
	SMC_NLA_STATS_PLOAD_256K,
	SMC_NLA_STATS_PLOAD_512K,
	SMC_NLA_STATS_PLOAD_1024K,
	SMC_NLA_STATS_PLOAD_G_1024K,	/* larger */
	__SMC_NLA_STATS_PLOAD_MAX,
	SMC_NLA_STATS_PLOAD_MAX = __SMC_NLA_STATS_PLOAD_MAX - 1
};

enum {			/* SMC_NLA_STATS_T_*_RMB_STATS, u64 each */
	SMC_NLA_STATS_RMB_PAD,
	SMC_NLA_STATS_RMB_SIZE_SM_PEER_CNT,
	SMC_NLA_STATS_RMB_SIZE_SM_CNT,
	SMC_NLA_STATS_RMB_FULL_PEER_CNT,
	SMC_NLA_STATS_RMB_FULL_CNT,
	SMC_NLA_STATS_RMB_REUSE_CNT,
	SMC_NLA_STATS_RMB_ALLOC_CNT,
	SMC_NLA_STATS_RMB_DGRADE_CNT,
	__SMC_NLA_STATS_RMB_MAX,
	SMC_NLA_STATS_RMB_MAX = __SMC_NLA_STATS_RMB_MAX - 1
};

enum {			/* SMC_NLA_STATS_SMCD_TECH, _SMCR_TECH */
	SMC_NLA_STATS_T_PAD,
	SMC_NLA_STATS_T_TX_RMB_SIZE,	/* nest SMC_NLA_STATS_PLOAD_* */
	SMC_NLA_STATS_T_RX_RMB_SIZE,	/* nest SMC_NLA_STATS_PLOAD_* */
	SMC_NLA_STATS_T_TXPLOAD_SIZE,	/* nest SMC_NLA_STATS_PLOAD_* */
	SMC_NLA_STATS_T_RXPLOAD_SIZE,	/* nest SMC_NLA_STATS_PLOAD_* */
	SMC_NLA_STATS_T_TX_RMB_STATS,	/* nest SMC_NLA_STATS_RMB_* */
	SMC_NLA_STATS_T_RX_RMB_STATS,	/* nest SMC_NLA_STATS_RMB_* */
	SMC_NLA_STATS_T_CLNT_V1_SUCC,	/* u64 */
	SMC_NLA_STATS_T_CLNT_V2_SUCC,	/* u64 */
	SMC_NLA_STATS_T_SRV_V1_SUCC,	/* u64 */
	SMC_NLA_STATS_T_SRV_V2_SUCC,	/* u64 */
	SMC_NLA_STATS_T_SENDPAGE_CNT,	/* u64 */
	SMC_NLA_STATS_T_SPLICE_CNT,	/* u64 */
	SMC_NLA_STATS_T_CORK_CNT,	/* u64 */
	SMC_NLA_STATS_T_NDLY_CNT,	/* u64 */
	SMC_NLA_STATS_T_URG_DATA_CNT,	/* u64 */
	SMC_NLA_STATS_T_RX_BYTES,	/* u64 */
	SMC_NLA_STATS_T_TX_BYTES,	/* u64 */
	SMC_NLA_STATS_T_RX_CNT,		/* u64 */
	SMC_NLA_STATS_T_TX_CNT,		/* u64 */
	SMC_NLA_STATS_T_RX_RMB_USAGE,	/* uint */
	SMC_NLA_STATS_T_TX_RMB_USAGE,	/* uint */
	__SMC_NLA_STATS_T_MAX,
	SMC_NLA_STATS_T_MAX = __SMC_NLA_STATS_T_MAX - 1
};

enum {					/* SMC_GEN_STATS */
	SMC_NLA_STATS_PAD,
	SMC_NLA_STATS_SMCD_TECH,	/* nest SMC_NLA_STATS_T_* */
	SMC_NLA_STATS_SMCR_TECH,	/* nest SMC_NLA_STATS_T_* */
	SMC_NLA_STATS_CLNT_HS_ERR_CNT,	/* u64 */
	SMC_NLA_STATS_SRV_HS_ERR_CNT,	/* u64 */
	__SMC_NLA_STATS_MAX,
	SMC_NLA_STATS_MAX = __SMC_NLA_STATS_MAX - 1
};

enum {					/* SMC_GEN_FBACK_STATS */
	SMC_NLA_FBACK_STATS_PAD,
	SMC_NLA_FBACK_STATS_TYPE,	/* u8: 1 server, 0 client */
	SMC_NLA_FBACK_STATS_SRV_CNT,	/* u64 */
	SMC_NLA_FBACK_STATS_CLNT_CNT,	/* u64 */
	SMC_NLA_FBACK_STATS_RSN_CODE,	/* u32 */
	SMC_NLA_FBACK_STATS_RSN_CNT,	/* u16 */
	__SMC_NLA_FBACK_STATS_MAX,
	SMC_NLA_FBACK_STATS_MAX = __SMC_NLA_FBACK_STATS_MAX - 1
};

/* These three come without a nest around them. */
enum {					/* .._UEID */
	SMC_NLA_EID_TABLE_UNSPEC,
	SMC_NLA_EID_TABLE_ENTRY,	/* string: 32 blank padded, NUL */
	__SMC_NLA_EID_TABLE_MAX,
	SMC_NLA_EID_TABLE_MAX = __SMC_NLA_EID_TABLE_MAX - 1
};

enum {					/* .._SEID */
	SMC_NLA_SEID_UNSPEC,
	SMC_NLA_SEID_ENTRY,		/* string */
	SMC_NLA_SEID_ENABLED,		/* u8 */
	__SMC_NLA_SEID_TABLE_MAX,
	SMC_NLA_SEID_TABLE_MAX = __SMC_NLA_SEID_TABLE_MAX - 1
};

enum {					/* .._HS_LIMITATION */
	SMC_NLA_HS_LIMITATION_UNSPEC,
	SMC_NLA_HS_LIMITATION_ENABLED,	/* u8 */
	__SMC_NLA_HS_LIMITATION_MAX,
	SMC_NLA_HS_LIMITATION_MAX = __SMC_NLA_HS_LIMITATION_MAX - 1
};

/*
 * Attributes of this module alone: they identify it, or repeat an attribute
 * that is too narrow.  Their numbers are far above those in use, so that
 * parsers skip them.
 */
enum {			/* in SMC_GEN_SYS_INFO */
	SMC_NLA_SYS_MODULE_VERSION = 256,	/* string: MODULE_VERSION */
};

enum {			/* in SMC_GEN_LGR_SMCR and SMC_GEN_LGR_SMCD */
	SMC_NLA_LGR_FULL_VLAN_ID = 256,	/* u16 */
};

enum {			/* in SMC_GEN_FBACK_STATS */
	SMC_NLA_FBACK_STATS_FULL_CNT = 256,	/* u64, of RSN_CODE */
};

#endif /* _UAPI_LINUX_SMC_H */
