// SPDX-License-Identifier: GPL-2.0
/*
 * The steps of smc_chk: what can be seen on this host, and what became of a
 * connection.
 *
 * Every step is a line "what: result"; what to do about it follows in a line
 * of its own.  The last words are those that scripts look for.
 *
 * Tests: tools/tests/tools.sh, chk.sh.
 */
#include <errno.h>
#include <netinet/in.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <linux/smc_reason.h>

#include "chk.h"
#include "genl.h"
#include "json.h"
#include "module.h"
#include "paint.h"
#include "reason.h"
#include "replay.h"
#include "sysfs.h"
#include "tool.h"

#ifndef IPPROTO_SMC
#define IPPROTO_SMC	256
#endif
#ifndef AF_SMC
#define AF_SMC		43
#endif

/**
 * chk_step() - result of a step
 * @what: the step
 * @format: as for printf(), then its arguments
 */
void chk_step(const char *what, const char *format, ...)
{
	va_list args;

	if (tool_opt.json)
		return;
	printf("%-22s ", what);
	va_start(args, format);
	vprintf(format, args);
	va_end(args);
	putchar('\n');
	fflush(stdout);
}

/**
 * chk_advice() - what to do about the last step
 * @format: as for printf(), then its arguments
 */
void chk_advice(const char *format, ...)
{
	va_list args;

	if (tool_opt.json)
		return;
	printf("%-22s -> ", "");
	va_start(args, format);
	vprintf(format, args);
	va_end(args);
	putchar('\n');
}

/**
 * chk_no_smc() - there is no SMC socket to be had
 * @err: errno of socket()
 *
 * Return: exit status.
 */
int chk_no_smc(int err)
{
	struct module m;

	module_find(&m);
	chk_step("SMC in this kernel", "no: %s", strerror(err));
	chk_advice("on this host: %s", module_remedy(&m) ?:
		   "this program may not use it");
	if (tool_opt.json)
		tool_say("this kernel has no SMC: %s", strerror(err));
	return EXIT_FAILURE;
}

/**
 * chk_socket() - make an SMC socket
 * @family: AF_INET or AF_INET6
 *
 * The kernel's own smc has no IPPROTO_SMC before Linux 6.11.
 *
 * Return: a descriptor, or -1 with the errno of IPPROTO_SMC.
 */
int chk_socket(int family)
{
	int fd = socket(family, SOCK_STREAM | SOCK_CLOEXEC, IPPROTO_SMC);
	int err = errno;

	if (fd >= 0)
		return fd;
	fd = socket(AF_SMC, SOCK_STREAM | SOCK_CLOEXEC,
		    family == AF_INET6 ? SMCPROTO_SMC6 : SMCPROTO_SMC);
	errno = err;
	return fd;
}

static int check_kernel(void)
{
	int fd;

	if (replay_active())
		return EXIT_SUCCESS;
	fd = chk_socket(AF_INET);
	if (fd < 0)
		return chk_no_smc(errno);
	close(fd);
	chk_step("SMC in this kernel", "yes");
	return EXIT_SUCCESS;
}

static void check_module(void)
{
	const char *update;
	struct module m;

	module_find(&m);
	if (m.loaded == MODULE_NONE)
		return;
	if (m.loaded == MODULE_OURS) {
		update = module_update(&m);
		chk_step("Module", "this one, version %s%s", m.version,
			 update ? "; another one is installed" : "");
		if (update)
			chk_advice("on this host: %s", update);
		return;
	}
	chk_step("Module", "the kernel's own");
	chk_advice("for this one, on this host: %s", module_remedy(&m));
}

/* Only our module has this file. */
static int check_syn_option(void)
{
	char text[SYSFS_TEXT];

	if (!sysfs_read(text, SYSFS_SYN_OPTION))
		return EXIT_SUCCESS;
	chk_step("SYN option", "written by: %s",
		 strcmp(text, "own") ? text : "this module");
	if (strcmp(text, "none"))
		return EXIT_SUCCESS;
	chk_advice("on this host: load smc.ko without syn_option=none (a kernel without CONFIG_SMC needs CONFIG_NETFILTER); all is TCP until then");
	return EXIT_FAILURE;
}

static int check_transports(void)
{
	char text[SYSFS_TEXT];
	FILE *f = sysfs_open("/proc/sys/net/smc/transports");

	/* a kernel without this setting always uses both */
	if (!f)
		return EXIT_SUCCESS;
	fclose(f);
	sysfs_read(text, "/proc/sys/net/smc/transports");
	chk_step("Switched on", "%s", *text ? text : "nothing");
	if (*text)
		return EXIT_SUCCESS;
	chk_advice("on this host: sysctl net.smc.transports='smcd smcr'");
	return EXIT_FAILURE;
}

/**
 * struct ports - devices of this host
 * @active: RDMA ports SMC can use
 * @all: all it knows
 */
struct ports {
	unsigned int active;
	unsigned int all;
};

static void take_port(const struct genl_attrs *dev, int type,
		      struct ports *ports)
{
	unsigned int number = type == SMC_NLA_DEV_PORT ? 1 : 2;
	const char *netdev;
	struct genl_attrs p;
	bool active;

	genl_nest(&p, dev, type);
	if (!genl_uint(&p, SMC_NLA_DEV_PORT_VALID))
		return;
	active = genl_uint(&p, SMC_NLA_DEV_PORT_STATE);
	netdev = genl_devname(genl_uint(&p, SMC_NLA_DEV_PORT_NETDEV));
	chk_step("RDMA port", "%s port %u on %s, %s",
		 genl_str(dev, SMC_NLA_DEV_IB_NAME), number,
		 *netdev ? netdev : "no interface of this namespace",
		 active ? "active" : "not active");
	ports->all++;
	if (active)
		ports->active++;
}

static int on_dev(int cmd, const struct genl_attrs *top, void *arg)
{
	struct genl_attrs dev;

	genl_nest(&dev, top, SMC_GEN_DEV_SMCR);
	take_port(&dev, SMC_NLA_DEV_PORT, arg);
	take_port(&dev, SMC_NLA_DEV_PORT2, arg);
	return 0;
}

static int check_devices(void)
{
	struct ports ports = { 0 };

	if (genl_dump(SMC_GENL_FAMILY_NAME, SMC_NETLINK_GET_DEV_SMCR, on_dev,
		      &ports)) {
		chk_step("RDMA ports", "cannot be asked of this kernel");
		return EXIT_FAILURE;
	}
	if (ports.active)
		return EXIT_SUCCESS;
	if (!ports.all)
		chk_step("RDMA port", "none");
	chk_advice("on this host: SMC between hosts needs an active RDMA port (rdma link)");
	return EXIT_FAILURE;
}

/**
 * struct search - a socket that is looked for
 * @inode: its inode, 0 for any connected one
 * @row: where it goes
 * @found: it was there
 */
struct search {
	uint64_t inode;
	struct diag_row *row;
	bool found;
};

static int on_row(const struct diag_row *row, void *arg)
{
	struct search *s = arg;

	if (s->inode && row->msg.diag_inode != s->inode)
		return 0;
	*s->row = *row;
	s->found = true;
	return 1;
}

/**
 * chk_find() - ask what became of a connection
 * @fd: its socket, -1 for the first one that is recorded
 * @row: result
 *
 * Return: 0, or a negative errno: -ENOENT if sock_diag of SMC is missing,
 * -ESRCH if the socket is not listed.
 */
int chk_find(int fd, struct diag_row *row)
{
	struct search s = { .row = row };
	struct stat st;
	int rc;

	if (fd >= 0) {
		if (fstat(fd, &st))
			return -errno;
		s.inode = st.st_ino;
	}
	rc = diag_dump(DIAG_EXT(SMC_DIAG_CONNINFO) |
		       DIAG_EXT(SMC_DIAG_LGRINFO) | DIAG_EXT(SMC_DIAG_DMBINFO),
		       on_row, &s);
	if (rc < 0)
		return rc;
	return s.found ? 0 : -ESRCH;
}

static void print_json(const struct diag_row *row)
{
	json_begin(tool_opt.pretty);
	json_array(NULL);
	json_object(NULL);
	json_str("mode", diag_mode_name(row->msg.diag_mode));
	if (row->msg.diag_mode == SMC_DIAG_MODE_FALLBACK_TCP) {
		reason_json("reason", row->fallback.reason);
		reason_json("peer_reason", row->fallback.peer_diagnosis);
	}
	json_end();
}

static void print_reason(const char *side, uint32_t code)
{
	const struct reason_text *why = reason_find(code);

	printf("  0x%08x  %s: %s\n", code, side,
	       why ? why->sentence : "unknown reason");
}

/* What a code asks for is to be done where it was made. */
static void print_hint(const char *side, uint32_t code)
{
	const struct reason_text *why = reason_find(code);

	if (why && *why->hint)
		printf("              -> %s: %s\n", side, why->hint);
}

static void print_fallback(const struct smc_diag_fallback *fb)
{
	bool declined = fb->reason == SMC_REASON_PEERDECL;

	printf("%sFailed%s  (TCP fallback), reasons:\n", paint(PAINT_BAD),
	       paint(PAINT_NONE));
	print_reason("this host", fb->reason);
	if (!declined)
		print_hint(fb->reason == SMC_REASON_PEERNOSMC ?
			   "on the peer" : "on this host", fb->reason);
	if (fb->peer_diagnosis) {
		print_reason("the peer", fb->peer_diagnosis);
		print_hint("on the peer", fb->peer_diagnosis);
	} else if (declined) {
		puts("              -> on the peer: it did not say why, see smcss there");
	}
}

static void print_details(const struct diag_row *row)
{
	const struct smc_diag_linkinfo *link = &row->lgr.lnk[0];

	if (row->have & DIAG_EXT(SMC_DIAG_LGRINFO)) {
		chk_step("RDMA device", "%s port %u, link %u", link->ibname,
			 link->ibport, link->link_id);
		chk_step("GIDs", "%s to %s", link->gid, link->peer_gid);
	}
	if (row->have & DIAG_EXT(SMC_DIAG_DMBINFO))
		chk_step("GIDs", "%016llx to %016llx",
			 (unsigned long long)row->dmb.my_gid,
			 (unsigned long long)row->dmb.peer_gid);
	if (row->have & DIAG_EXT(SMC_DIAG_CONNINFO))
		chk_step("Buffers", "send %u, receive %u, peer %u bytes",
			 row->conn.sndbuf_size, row->conn.rmbe_size,
			 row->conn.peer_rmbe_size);
}

/**
 * chk_verdict() - say what became of a connection
 * @opt: options
 * @row: what sock_diag says about it
 *
 * Return: exit status.
 */
int chk_verdict(const struct chk_options *opt, const struct diag_row *row)
{
	bool tcp = row->msg.diag_mode == SMC_DIAG_MODE_FALLBACK_TCP;

	if (tool_opt.json) {
		print_json(row);
		/* the server goes on */
		fflush(stdout);
		return tcp ? EXIT_FAILURE : EXIT_SUCCESS;
	}
	if (opt->debug)
		print_details(row);
	if (tcp)
		print_fallback(&row->fallback);
	else
		printf("%sSuccess%s, using %s\n", paint(PAINT_GOOD),
		       paint(PAINT_NONE), diag_mode_name(row->msg.diag_mode));
	fflush(stdout);
	return tcp ? EXIT_FAILURE : EXIT_SUCCESS;
}

/**
 * chk_run() - do what the user asked for
 * @opt: options
 *
 * Return: exit status.
 */
int chk_run(const struct chk_options *opt)
{
	int offers, on, rc;

	if (opt->server)
		return chk_serve(opt);
	if (opt->only_live)
		return chk_connect(opt);
	if (check_kernel())
		return EXIT_FAILURE;
	check_module();
	offers = check_syn_option();
	on = check_transports();
	/* without RDMA there still is this host itself to connect to */
	rc = check_devices();
	return opt->only_static ? rc ?: offers ?: on : chk_connect(opt);
}
