// SPDX-License-Identifier: GPL-2.0
/*
 * Fetching of sock_diag messages with libnl.
 *
 * One dump request, answered in as many datagrams as the kernel needs.  The
 * receive buffer is large, because a dump of many sockets comes in 32 KiB
 * pieces and printing is slower than the kernel.  Under SMC_TOOLS_REPLAY the
 * messages come from a file (replay.c).
 */
#include <errno.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include <linux/netlink.h>
#include <linux/sock_diag.h>

#include <netlink/msg.h>
#include <netlink/netlink.h>
#include <netlink/socket.h>

#include "diag.h"
#include "module.h"
#include "replay.h"
#include "tool.h"

#ifndef AF_SMC
#define AF_SMC		43
#endif

#define RCVBUF_SIZE	(4 << 20)
#define MSG_SIZE	(64 << 10)

/**
 * struct dump - a dump in progress
 * @fn: called for each socket
 * @arg: for @fn
 * @ret: what @fn returned last
 * @err: errno of the kernel's error message, 0 if there was none
 * @done: the last message was seen
 */
struct dump {
	diag_fn fn;
	void *arg;
	int ret;
	int err;
	int done;
};

static int on_valid(struct nl_msg *msg, void *arg)
{
	struct nlmsghdr *nlh = nlmsg_hdr(msg);
	struct diag_row row;
	struct dump *d = arg;

	if (nlh->nlmsg_type != SOCK_DIAG_BY_FAMILY)
		return NL_SKIP;
	if (diag_parse(nlmsg_data(nlh), nlmsg_datalen(nlh), &row))
		return NL_SKIP;
	d->ret = d->fn(&row, d->arg);
	return d->ret ? NL_STOP : NL_OK;
}

static int on_finish(struct nl_msg *msg, void *arg)
{
	struct nlmsghdr *nlh = nlmsg_hdr(msg);
	struct dump *d = arg;
	int err = 0;

	if (nlmsg_datalen(nlh) >= (int)sizeof(err))
		memcpy(&err, nlmsg_data(nlh), sizeof(err));
	d->err = err < 0 ? -err : 0;
	d->done = 1;
	return NL_STOP;
}

static int on_error(struct sockaddr_nl *nla, struct nlmsgerr *err, void *arg)
{
	struct dump *d = arg;

	(void)nla;
	d->err = -err->error;
	d->done = 1;
	return NL_STOP;
}

static int send_request(struct nl_sock *nl, unsigned int ext)
{
	struct smc_diag_req req = {
		.diag_family = AF_SMC,
		.diag_ext = ext,
	};

	return nl_send_simple(nl, SOCK_DIAG_BY_FAMILY, NLM_F_DUMP, &req,
			      sizeof(req));
}

static int run_dump(struct nl_sock *nl, unsigned int ext, struct dump *d)
{
	int rc;

	rc = nl_connect(nl, NETLINK_SOCK_DIAG);
	if (rc < 0)
		return -EPROTONOSUPPORT;
	/* best effort: without the right to it we get what is allowed */
	nl_socket_set_buffer_size(nl, RCVBUF_SIZE, 0);
	nl_socket_set_msg_buf_size(nl, MSG_SIZE);
	nl_socket_disable_seq_check(nl);
	nl_socket_modify_cb(nl, NL_CB_VALID, NL_CB_CUSTOM, on_valid, d);
	nl_socket_modify_cb(nl, NL_CB_FINISH, NL_CB_CUSTOM, on_finish, d);
	nl_socket_modify_err_cb(nl, NL_CB_CUSTOM, on_error, d);

	rc = send_request(nl, ext);
	while (rc >= 0 && !d->done && !d->ret)
		rc = nl_recvmsgs_default(nl);
	if (d->err)
		return -d->err;
	if (rc < 0) {
		tool_say("netlink: %s", nl_geterror(rc));
		return -EIO;
	}
	return d->ret;
}

static int dump_once(unsigned int ext, struct dump *d)
{
	struct nl_sock *nl = nl_socket_alloc();
	int rc;

	if (!nl)
		return -ENOMEM;
	rc = run_dump(nl, ext, d);
	nl_socket_free(nl);
	return rc;
}

static int on_replay(const struct nlmsghdr *nlh, void *arg)
{
	const struct nlmsgerr *e = NLMSG_DATA(nlh);
	struct dump *d = arg;
	struct diag_row row;

	if (nlh->nlmsg_type == NLMSG_ERROR || nlh->nlmsg_type == NLMSG_DONE)
		return e->error;
	if (diag_parse(e, nlh->nlmsg_len - NLMSG_HDRLEN, &row))
		return 0;
	return d->fn(&row, d->arg);
}

/**
 * diag_dump() - list the SMC sockets of this network namespace
 * @ext: DIAG_EXT() bits of the attributes wanted
 * @fn: called for each socket; a result other than 0 ends the list
 * @arg: handed to @fn
 *
 * Return: 0; what @fn returned; or a negative errno, of which -ENOENT means
 * that the kernel has no handler (module smc_diag is missing).
 */
int diag_dump(unsigned int ext, diag_fn fn, void *arg)
{
	struct dump d = { .fn = fn, .arg = arg };
	int rc, fd;

	if (replay_active())
		return replay_request(REPLAY_DIAG_NAME, "dump",
				      SOCK_DIAG_BY_FAMILY, NULL, 0, on_replay,
				      &d);
	rc = dump_once(ext, &d);
	if (rc != -ENOENT)
		return rc;
	/* the kernel looks for smc_diag where there is smc, which a socket loads */
	fd = socket(AF_SMC, SOCK_STREAM | SOCK_CLOEXEC, 0);
	if (fd < 0)
		return rc;
	close(fd);
	d.err = 0;
	d.done = 0;
	return dump_once(ext, &d);
}

/**
 * diag_complain() - say why diag_dump() failed
 * @rc: its result, 0 for success
 *
 * Return: exit status of the program.
 */
int diag_complain(int rc)
{
	if (!rc)
		return TOOL_OK;
	if (rc == -ENOENT)
		module_missing("smc_diag");
	else
		tool_say("cannot list the sockets: %s", strerror(-rc));
	return TOOL_FAILED;
}
