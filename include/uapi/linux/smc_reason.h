/* SPDX-License-Identifier: GPL-2.0 WITH Linux-syscall-note */
/*
 * Every outcome of an SMC negotiation, in one list.
 *
 * X(symbol, code, label, sentence, hint, err)
 *
 *   symbol    SMC_REASON_<symbol> is the enum member
 *   code      32-bit value shown by sock_diag and, below 0x0a000000, carried
 *             by CLC Decline messages
 *   label     short upper-case name for statistics
 *   sentence  what happened, for an operator
 *   hint      what to do about it; "" when there is nothing to do
 *   err       0 when the connection carries on over TCP, otherwise the errno
 *             that describes the failure. A program sees ETIMEDOUT if its
 *             link group ended for a reason with that value, and
 *             ECONNABORTED after another one; otherwise its errors are
 *             those that TCP has in the same case
 *
 * Codes below 0x0a000000 are those of the Linux kernel's own SMC and of RFC
 * 7609. Codes from 0x0a000000 on are local to this module: they are shown but
 * never sent, smc_reason_wire() names the code that is sent in their place.
 *   0x0a01.... .. 0x0a0f....  handshake
 *   0x0a10.... .. 0x0a17....  end of an established connection
 *   0x0a18....                end of an RDMA link
 *
 * The list is expanded by reason.c, by the trace events and by the tools;
 * a file that expands the last column includes <errno.h> first.
 */
#ifndef _UAPI_LINUX_SMC_REASON_H
#define _UAPI_LINUX_SMC_REASON_H

#define SMC_REASON_LIST_WIRE(X)						\
	X(MEM, 0x01010000, "MEMORY",					\
	  "not enough memory for the buffers of the connection",	\
	  "lower net.smc.rmem and wmem, free memory, or raise the control group's limit", \
	  0)								\
	X(TIMEOUT_CL, 0x02010000, "TIMEOUT_CL",				\
	  "the new RDMA link was not confirmed in time",		\
	  "check that RDMA traffic (UDP port 4791) passes in both directions", \
	  0)								\
	X(TIMEOUT_AL, 0x02020000, "TIMEOUT_AL",				\
	  "a second RDMA link was not added in time", "", 0)		\
	X(CNFERR, 0x03000000, "CNF_ERR",				\
	  "the interface has no usable IP prefix",			\
	  "give the interface of the route an address", 0)		\
	X(PEERNOSMC, 0x03010000, "PEER_NO_SMC",				\
	  "the peer's TCP did not offer SMC",				\
	  "run the peer under smc_run; no firewall may remove TCP option 254", \
	  0)								\
	X(IPSEC, 0x03020000, "IPSEC",					\
	  "IPsec or MACsec protects this connection, and SMC would bypass it", \
	  "", 0)							\
	X(NOSMCDEV, 0x03030000, "NOSMCDEV",				\
	  "no RDMA port and no ISM device for this route",		\
	  "check that an RDMA device is on the interface of the route (rdma link)", \
	  0)								\
	X(NOSMCDDEV, 0x03030001, "NOSMCDDEV",				\
	  "no ISM device reaches the peer", "", 0)			\
	X(NOSMCRDEV, 0x03030002, "NOSMCRDEV",				\
	  "no RDMA port for this route",				\
	  "check that an RDMA device is on the interface of the route (rdma link)", \
	  0)								\
	X(NOISM2SUPP, 0x03030003, "NOISM2SUPP",				\
	  "the server cannot do SMC-D version 2", "", 0)		\
	X(NOV2EXT, 0x03030004, "NOV2EXT",				\
	  "the proposal has no version 2 part", "", 0)			\
	X(NOV2DEXT, 0x03030005, "NOV2DEXT",				\
	  "the proposal has no SMC-D version 2 part", "", 0)		\
	X(NOSEID, 0x03030006, "NOSEID",					\
	  "the peer sent no system EID", "", 0)				\
	X(NOSMCD2DEV, 0x03030007, "NOSMCD2DEV",				\
	  "none of the offered ISM devices can be reached", "", 0)	\
	X(NOUEID, 0x03030008, "NOUEID",					\
	  "the two hosts share no EID",					\
	  "add the same UEID on both hosts (smcr ueid add)", 0)		\
	X(RELEASEERR, 0x03030009, "RELEASEERR",				\
	  "the release number changed during the handshake",		\
	  "report the peer's software version", 0)			\
	X(MAXCONNERR, 0x0303000a, "MAXCONNERR",				\
	  "no agreement on the number of connections per link group",	\
	  "compare net.smc.smcr_max_conns_per_lgr on both hosts", 0)	\
	X(MAXLINKERR, 0x0303000b, "MAXLINKERR",				\
	  "no agreement on the number of links per link group",		\
	  "report the peer's software version", 0)	\
	X(MODEUNSUPP, 0x03040000, "MODEUNSUPP",				\
	  "the server chose a variant or version that was not offered",	\
	  "report the peer's software version", 0)			\
	X(RMBE_EC, 0x03050000, "RMBE_EC",				\
	  "the peer keeps eye catchers in its buffers", "", 0)		\
	X(OPTUNSUPP, 0x03060000, "OPTUNSUPP",				\
	  "the program uses TCP Fast Open",				\
	  "switch Fast Open off in the program to use SMC", 0)		\
	X(DIFFPREFIX, 0x03070000, "DIFFPREFIX",				\
	  "the two hosts are in different IP subnets",			\
	  "SMC version 1 needs one subnet; add a UEID to use version 2", 0) \
	X(GETVLANERR, 0x03080000, "GETVLANERR",				\
	  "the VLAN of the route could not be found", "", 0)		\
	X(ISMVLANERR, 0x03090000, "ISMVLANERR",				\
	  "the VLAN could not be registered with the ISM device", "", 0) \
	X(NOACTLINK, 0x030a0000, "NOACTLINK",				\
	  "the link group lost its last link",				\
	  "check the RDMA ports of both hosts (rdma link)", 0)		\
	X(NOSRVLINK, 0x030b0000, "NOSRVLINK",				\
	  "the link named by the server is not known here", "", 0)	\
	X(VERSMISMAT, 0x030c0000, "VERSMISMAT",				\
	  "the SMC versions do not match", "", 0)			\
	X(MAX_DMB, 0x030d0000, "MAX_DMB",				\
	  "no SMC-D buffer is left",					\
	  "close connections or use smaller buffers", 0)		\
	X(NOROUTE, 0x030e0000, "NOROUTE",				\
	  "no route to the address of the peer's RDMA port",		\
	  "check routing to the peer's RDMA address (ip route get)", 0)	\
	X(NOINDIRECT, 0x030f0000, "NOINDIRECT",				\
	  "the peer uses a gateway to reach us but we reach it directly", \
	  "make the routes of both hosts agree", 0)			\
	X(SYNCERR, 0x04000000, "SYNCERR",				\
	  "the server used a link group that no longer exists here", "", 0) \
	X(PEERDECL, 0x05000000, "PEERDECL",				\
	  "the peer declined",						\
	  "see the peer's diagnosis code", 0)				\
	X(INTERR, 0x09990000, "INTERR",					\
	  "internal error", "see the kernel log", 0)			\
	X(ERR_RTOK, 0x09990001, "ERR_RTOK",				\
	  "the link group cannot hold one more memory key", "", 0)	\
	X(ERR_RDYLNK, 0x09990002, "ERR_RDYLNK",				\
	  "the queue pair could not be connected",			\
	  "check the RDMA ports and their GIDs on both hosts", 0)	\
	X(ERR_REGBUF, 0x09990003, "ERR_REGBUF",				\
	  "the buffers could not be registered for RDMA", "", 0)

#define SMC_REASON_LIST_LOCAL(X)					\
	X(SILENT, 0x0a010000, "SILENT",					\
	  "the peer's TCP offered SMC but no CLC message came in time",	\
	  "something on the path may echo or alter TCP option 254", \
	  0)								\
	X(NOTCLC, 0x0a020000, "NOTCLC",					\
	  "the peer's first bytes were data, not a CLC message",	\
	  "something on the path echoes or removes TCP option 254", 0)	\
	X(HSRESET, 0x0a030000, "HSRESET",				\
	  "the peer reset or closed the connection before it accepted SMC", \
	  "something on the path may echo TCP option 254", \
	  0)								\
	X(REMEMBERED, 0x0a040000, "REMEMBERED",				\
	  "SMC failed with this peer a short while ago, so it was not tried", \
	  "net.smc.fallback_memory_s sets how long this is remembered", 0) \
	X(MALFORMED, 0x0a050000, "MALFORMED",				\
	  "the peer sent a CLC message that breaks the protocol",	\
	  "report the peer's software version", EPROTO)			\
	X(WRONGMSG, 0x0a060000, "WRONGMSG",				\
	  "the peer sent a CLC message that has no place at this point", \
	  "report the peer's software version", EPROTO)			\
	X(MISMATCH, 0x0a070000, "MISMATCH",				\
	  "the peer's CLC message contradicts what was agreed before",	\
	  "report the peer's software version", EPROTO)			\
	X(NOCONFIRM, 0x0a080000, "NOCONFIRM",				\
	  "the client fell silent after it was accepted", "", ETIMEDOUT) \
	X(LOSTPEER, 0x0a090000, "LOSTPEER",				\
	  "the peer reset or closed the connection within the handshake", \
	  "see what the peer says", ECONNRESET)			\
	X(HSLIMIT, 0x0a0a0000, "HSLIMIT",				\
	  "too many handshakes ran at once, or the listener's queue was nearly full", \
	  "see max_handshakes in af_smc(7); a server: accept() sooner, or a larger backlog", \
	  0)								\
	X(DISABLED, 0x0a0b0000, "DISABLED",				\
	  "SMC is switched off by policy",				\
	  "see net.smc.transports", 0)					\
	X(LGRLIMIT, 0x0a0c0000, "LGRLIMIT",				\
	  "the peer, the namespace or the host has too many link groups", \
	  "see max_groups and host_max_groups in af_smc(7)", \
	  0)								\
	X(DEVGONE, 0x0a0d0000, "DEVGONE",				\
	  "the RDMA device went away during the handshake", "", 0)	\
	X(LATECLC, 0x0a0f0000, "LATECLC",				\
	  "the proposal came after the connection was given to the program", \
	  "", 0)							\
	X(GOING, 0x0a0f0001, "GOING",					\
	  "the socket, the link group or the module was going away", "", 0) \
	X(APPTCP, 0x0a0f0002, "APPTCP",					\
	  "the program asked for plain TCP",				\
	  "rules of smc_run deny SMC here, or the program does", 0)	\
	X(OTHERHOST, 0x0a0f0004, "OTHERHOST",				\
	  "the server named a link group that another host has made",	\
	  "connect to the same address as the first time", 0)		\
	X(BADPORT, 0x0a0f0005, "BADPORT",				\
	  "the peer named an RDMA port that cannot be its own",		\
	  "check GID and MAC address of the peer's RDMA port", 0)	\
	X(RINGLIMIT, 0x0a0f0006, "RINGLIMIT",				\
	  "the peer, the user, the namespace or the host has too much memory in rings", \
	  "see max_ring_kbytes and host_max_ring_kbytes in af_smc(7)", \
	  0)								\
	X(NOLINK, 0x0a0f0007, "NOLINK",					\
	  "an RDMA link to this peer failed a short while ago, so SMC-R was not tried", \
	  "check that RDMA traffic (UDP port 4791) passes in both directions", \
	  0)								\
	X(NOSYNOPT, 0x0a0f0010, "NOSYNOPT",				\
	  "nothing here writes the TCP option that offers SMC",	\
	  "load smc.ko without syn_option=none; it may need CONFIG_NETFILTER", \
	  0)								\
	X(BADCURSOR, 0x0a100000, "BADCURSOR",				\
	  "the peer sent a cursor outside its ring",			\
	  "report the peer's software version", ECONNRESET)		\
	X(PEERABORT, 0x0a110000, "PEERABORT",				\
	  "the peer aborted the connection", "", ECONNRESET)		\
	X(ORPHANED, 0x0a140000, "ORPHANED",				\
	  "a closed connection with data waited too long, or too many did", \
	  "see orphan_timeout_s and max_orphans in af_smc(7)", ETIMEDOUT) \
	X(PEERPROTO, 0x0a150000, "PEERPROTO",				\
	  "the peer broke the protocol of the established connection",	\
	  "report the peer's software version", ECONNRESET)		\
	X(PEERSILENT, 0x0a170000, "PEERSILENT",				\
	  "the peer did not answer in time (TCP_USER_TIMEOUT, SO_KEEPALIVE)", \
	  "check that RDMA traffic (UDP port 4791) passes in both directions", \
	  ETIMEDOUT)

/*
 * What ended an RDMA link, and with it every connection of its group.  Each has
 * a counter of the same name (LinkDown... in /proc/net/smc_stat).
 */
#define SMC_REASON_LIST_LINK(X)						\
	X(LINK_RETRY, 0x0a180001, "LINK_RETRY",				\
	  "the RDMA device gave up: the peer's did not acknowledge a message", \
	  "check that RDMA traffic (UDP port 4791) passes in both directions", \
	  ETIMEDOUT)							\
	X(LINK_STUCK, 0x0a180002, "LINK_STUCK",				\
	  "the peer's RDMA device took no message for too long", \
	  "check that RDMA traffic (UDP port 4791) passes in both directions", \
	  ETIMEDOUT)							\
	X(LINK_TEST, 0x0a180003, "LINK_TEST",				\
	  "the peer's RDMA device took TEST LINK, but no answer came", \
	  "see whether the peer still runs", ETIMEDOUT)			\
	X(LINK_DETACH, 0x0a180004, "LINK_DETACH",			\
	  "the last messages of a closed connection were not taken",	\
	  "check that RDMA traffic (UDP port 4791) passes in both directions", \
	  ETIMEDOUT)							\
	X(LINK_REG, 0x0a180005, "LINK_REG",				\
	  "the RDMA device did not finish the registration of a buffer", \
	  "see the kernel log", ECONNABORTED)				\
	X(LINK_KEYS, 0x0a180006, "LINK_KEYS",				\
	  "the peer does not confirm that it has forgotten memory keys", \
	  "report the peer's software version", ECONNABORTED)		\
	X(LINK_SEND, 0x0a180007, "LINK_SEND",				\
	  "the RDMA device reported an error for a message or a write",	\
	  "see the kernel logs of both hosts", ECONNABORTED)		\
	X(LINK_QUEUE, 0x0a180008, "LINK_QUEUE",				\
	  "the RDMA device stopped the queue pair of the link",		\
	  "see the kernel logs of both hosts", ECONNABORTED)		\
	X(LINK_POST, 0x0a180009, "LINK_POST",				\
	  "the RDMA device did not accept a work request",		\
	  "see the kernel log", ECONNABORTED)				\
	X(LINK_GID, 0x0a18000b, "LINK_GID",				\
	  "the RDMA port lost the address of the link",			\
	  "", ECONNABORTED)						\
	X(LINK_FATAL, 0x0a18000c, "LINK_FATAL",				\
	  "the RDMA device failed altogether",				\
	  "see the kernel log", ECONNABORTED)				\
	X(LINK_PEER, 0x0a18000d, "LINK_PEER",				\
	  "the peer ended the link",					\
	  "see the peer's reason (LinkDown in its /proc/net/smc_stat)",	\
	  ECONNABORTED)

#define SMC_REASON_LIST(X)						\
	SMC_REASON_LIST_WIRE(X)						\
	SMC_REASON_LIST_LOCAL(X)					\
	SMC_REASON_LIST_LINK(X)

#define SMC_REASON_ENUM(symbol, code, label, sentence, hint, err)	\
	SMC_REASON_##symbol = code,

enum smc_reason {
	SMC_REASON_OK = 0,
	SMC_REASON_LIST(SMC_REASON_ENUM)
};

#undef SMC_REASON_ENUM

/* First code that never appears on the wire. */
#define SMC_REASON_LOCAL_MIN	0x0a000000

/* The codes of SMC_REASON_LIST_LINK. */
#define SMC_REASON_IS_LINK(code)	((code) >> 16 == 0x0a18)

#endif /* _UAPI_LINUX_SMC_REASON_H */
