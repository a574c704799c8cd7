/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Names of newer kernels for older ones.
 *
 * Included before every source file.  The code uses the newest name of a
 * thing; this file maps it to what the kernel at hand has.  Kbuild asks the
 * kernel's headers what is there and defines SMC_HAVE_x.  To drop an old
 * kernel, delete entries; there is no test of a version number anywhere.
 */
#ifndef SMC_COMPAT_H
#define SMC_COMPAT_H

/*
 * v6.19: bind() and connect() take struct sockaddr_unsized, a sockaddr whose
 * data has no fixed length; before, struct sockaddr.
 */
#ifndef SMC_HAVE_SOCKADDR_UNSIZED
#define sockaddr_unsized sockaddr
#endif

/* v6.17: sk_uid() reads the field; before, sock_i_uid() takes a lock. */
#ifndef SMC_HAVE_SK_UID
#define sk_uid(sk) sock_i_uid(sk)
#endif

/*
 * v6.16: data may be in a device's memory.  The variable arguments let the
 * macro match the header's declaration with three parameters, too.
 */
#ifdef SMC_HAVE_ZEROCOPY_DEVMEM
#define SMC_CMSG_DEVMEM(cookie) ((cookie)->dmabuf_id)
#else
#define SMC_CMSG_DEVMEM(cookie) 0
#define msg_zerocopy_realloc(sk, size, uarg, ...) \
	msg_zerocopy_realloc(sk, size, uarg)
#endif

/* v6.16: from_timer() got a better name. */
#ifndef SMC_HAVE_TIMER_CONTAINER_OF
#define timer_container_of(var, timer, field) from_timer(var, timer, field)
#endif

/* v6.15: a ULP knows whether an administrator asks; for functions of ulp.c. */
#ifndef SMC_HAVE_ULP_NET_ADMIN
#define ulp_get_info(sk, skb, net_admin) ulp_get_info(sk, skb)
#define ulp_get_info_size(sk, net_admin) ulp_get_info_size(sk)
#endif

/* v6.11: the handler of a sysctl may not write to its entry. */
#ifdef SMC_HAVE_CONST_CTL_TABLE
#define SMC_CTL_CONST const
#else
#define SMC_CTL_CONST
#endif

/*
 * v6.11: data of a CPU under disabled soft interrupts; before, PREEMPT_RT let no
 * other soft interrupt run on the CPU.
 */
#ifndef SMC_HAVE_LOCAL_LOCK_NESTED_BH
#define local_lock_nested_bh(lock) do { } while (0)
#define local_unlock_nested_bh(lock) do { } while (0)
#endif

/* v6.11: the number has a name, and the kernel's own SMC serves it. */
#ifndef SMC_HAVE_IPPROTO_SMC
#define IPPROTO_SMC 256
#endif

/* v6.10: accept() takes a struct; before, accept/net/inet_common.h. */
#ifndef SMC_ACCEPT_OP
#define SMC_ACCEPT_OP(function) (function)
#endif

/*
 * v6.10: __assign_str() takes the source from __string(), and its length.  Before
 * it is strcpy(), but the name of a device may be longer by now.
 */
#ifdef SMC_HAVE_ASSIGN_STR_1
#define SMC_ASSIGN_STR(dst, src) __assign_str(dst)
#else
#define SMC_ASSIGN_STR(dst, src) \
	strscpy(__get_str(dst), src, __get_dynamic_array_len(dst))
#endif

/*
 * v6.9 (and recent 6.1): a request holds the handler's module; before,
 * sock_diag_unregister() waits for requests.
 */
#ifdef SMC_HAVE_SOCK_DIAG_OWNER
#define SMC_SOCK_DIAG_OWNER .owner = THIS_MODULE,
#else
#define SMC_SOCK_DIAG_OWNER
#endif

/* v6.7: the options of TCP-AO. */
#ifndef SMC_HAVE_TCP_AO
#define TCP_AO_ADD_KEY 38
#define TCP_AO_INFO 40
#endif

/* v6.6: the size is a parameter; before, an empty entry ends the table. */
#ifndef SMC_HAVE_NET_SYSCTL_SZ
#define register_net_sysctl_sz(net, path, table, size) \
	register_net_sysctl(net, path, table)
#endif

/*
 * v6.5: sendfile() calls sendmsg(); before, sendpage(), and sendmsg() where a
 * socket has none.
 */
#ifdef SMC_HAVE_SENDPAGE
#define SMC_NO_SENDPAGE(ops) \
	((ops)->sendpage = NULL, (ops)->sendpage_locked = NULL)
#else
#define SMC_NO_SENDPAGE(ops) ((void)(ops))
#endif

/*
 * v6.5: soft-RoCE has a worker for what completes; before, a tasklet, which may run
 * when its completion queue has gone.  No header says so; sendpage() went with the
 * same release.
 */
#ifdef SMC_HAVE_SENDPAGE
#define SMC_RXE_HAS_WORKER 0
#else
#define SMC_RXE_HAS_WORKER 1
#endif

/* v6.3 */
#ifndef SMC_HAVE_MEM_CGROUP_TRYGET
#ifdef CONFIG_MEMCG
#define mem_cgroup_tryget(memcg) ((memcg) ? css_tryget(&(memcg)->css) : true)
#else
/* no comma: a caller may have no use for the value */
#define mem_cgroup_tryget(memcg) ({ (void)(memcg); true; })
#endif
#endif

/*
 * v6.2: options of SOL_SOCKET come to a socket with this bit; before, they
 * never do (deviations.rst), and the bit has no other use.
 */
#ifndef SMC_HAVE_CUSTOM_SOCKOPT
#define SOCK_CUSTOM_SOCKOPT 6
#endif

/* v6.2: TCP_INFO has the receive window. */
#ifdef SMC_HAVE_TCPI_RCV_WND
#define SMC_SET_RCV_WND(info, bytes) ((info)->tcpi_rcv_wnd = (bytes))
#else
#define SMC_SET_RCV_WND(info, bytes) ((void)(info), (void)(bytes))
#endif

#endif /* SMC_COMPAT_H */
