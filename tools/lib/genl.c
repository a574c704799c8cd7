// SPDX-License-Identifier: GPL-2.0
/*
 * Requests to the generic netlink families of SMC, with libnl.
 *
 * A request is sent, and each message of the answer is taken apart and handed
 * to the caller until the kernel says that it was the last.  Attributes are
 * read by their length, not by what a header says their type is: kernels
 * differ (the CHID of a link group is 16 bits in the header and 32 in the
 * message), and what is missing, too short or longer than 64 bits reads as
 * zero.  Unknown attributes are skipped, and the first one of a number counts.
 *
 * Under SMC_TOOLS_REPLAY the answers come from a file (replay.c).
 *
 * Tests: tools/tests/tools.sh.
 */
#include <errno.h>
#include <net/if.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#include <linux/genetlink.h>

#include <netlink/genl/ctrl.h>
#include <netlink/genl/genl.h>
#include <netlink/msg.h>
#include <netlink/netlink.h>
#include <netlink/socket.h>

#include "genl.h"
#include "module.h"
#include "replay.h"
#include "tool.h"

#define RCVBUF_SIZE	(1 << 20)
#define MSG_SIZE	(64 << 10)

/* What the kernel said about the last request that failed. */
static char said[256];

/**
 * struct answer - an answer being read
 * @fn: called for each message, or NULL
 * @arg: for @fn
 * @done: the last message was seen
 * @torn: the kernel says that what it listed has changed meanwhile
 */
struct answer {
	genl_fn fn;
	void *arg;
	bool done;
	bool torn;
};

/* Sort attributes by number; @data is aligned to 4 bytes, @attrs point into it. */
static void parse(struct genl_attrs *attrs, const void *data, size_t len)
{
	const char *p = data;

	memset(attrs, 0, sizeof(*attrs));
	while (len >= NLA_HDRLEN) {
		const struct nlattr *a = (const void *)p;
		unsigned int type = a->nla_type & NLA_TYPE_MASK;
		size_t step = NLA_ALIGN(a->nla_len);

		if (a->nla_len < NLA_HDRLEN || a->nla_len > len)
			break;
		if (type < GENL_ATTRS && !attrs->at[type])
			attrs->at[type] = a;
		if (step >= len)
			break;
		p += step;
		len -= step;
	}
}

static const void *payload(const struct genl_attrs *attrs, int type,
			   size_t *len)
{
	const struct nlattr *a = attrs->at[type];

	*len = a ? a->nla_len - NLA_HDRLEN : 0;
	return a ? (const char *)a + NLA_HDRLEN : NULL;
}

/**
 * genl_nest() - sort the attributes of a nest
 * @attrs: result, empty if the nest did not come
 * @outer: where the nest is
 * @type: its number
 */
void genl_nest(struct genl_attrs *attrs, const struct genl_attrs *outer,
	       int type)
{
	const void *data;
	size_t len;

	data = payload(outer, type, &len);
	parse(attrs, data, len);
}

/**
 * genl_uint() - number in an attribute of 1, 2, 4 or 8 bytes
 * @attrs: where it is
 * @type: its number
 *
 * Return: the value; 0 if it did not come or has another length.
 */
uint64_t genl_uint(const struct genl_attrs *attrs, int type)
{
	const void *data;
	uint64_t u64;
	uint32_t u32;
	uint16_t u16;
	size_t len;

	data = payload(attrs, type, &len);
	switch (len) {
	case 1:
		return *(const uint8_t *)data;
	case 2:
		memcpy(&u16, data, sizeof(u16));
		return u16;
	case 4:
		memcpy(&u32, data, sizeof(u32));
		return u32;
	case 8:
		memcpy(&u64, data, sizeof(u64));
		return u64;
	default:
		return 0;
	}
}

/**
 * genl_str() - text in an attribute, without blanks at its end
 * @attrs: where it is
 * @type: its number
 *
 * Characters a terminal might obey become question marks.
 *
 * Return: the text, valid until the 8th call after this; "" if it did not come.
 */
const char *genl_str(const struct genl_attrs *attrs, int type)
{
	static char ring[8][128];
	static unsigned int turn;
	char *text = ring[turn++ % 8];
	const char *data;
	size_t len, i;

	data = payload(attrs, type, &len);
	for (i = 0; i < len && i < sizeof(ring[0]) - 1 && data[i]; i++)
		text[i] = data[i] < 0x20 || data[i] > 0x7e ? '?' : data[i];
	while (i && text[i - 1] == ' ')
		i--;
	text[i] = 0;
	return text;
}

/**
 * genl_devname() - name of a network interface
 * @ifindex: its number
 *
 * Return: the name, valid until the next call; "" for 0 and for interfaces of
 * other namespaces.
 */
const char *genl_devname(uint64_t ifindex)
{
	static char name[IF_NAMESIZE + 16];

	if (!ifindex)
		return "";
	if (replay_active())
		snprintf(name, sizeof(name), "net%u", (unsigned int)ifindex);
	else if (!if_indextoname(ifindex, name))
		return "";
	return name;
}

/* The sentence the kernel adds to an error, after the fixed part. */
static void take_sentence(const struct nlmsghdr *nlh, size_t fixed)
{
	struct genl_attrs attrs;
	size_t len = nlh->nlmsg_len - NLMSG_HDRLEN;

	said[0] = 0;
	fixed = NLMSG_ALIGN(fixed);
	if (!(nlh->nlmsg_flags & NLM_F_ACK_TLVS) || len <= fixed)
		return;
	parse(&attrs, (const char *)nlh + NLMSG_HDRLEN + fixed,
	      len - fixed);
	snprintf(said, sizeof(said), "%s", genl_str(&attrs, NLMSGERR_ATTR_MSG));
}

/* The end of an answer, an error or success: both begin with the errno. */
static int on_end(const struct nlmsghdr *nlh, struct answer *reply)
{
	size_t fixed = sizeof(int);
	size_t len = nlh->nlmsg_len - NLMSG_HDRLEN;
	int err = 0;

	reply->done = true;
	if (len >= sizeof(err))
		memcpy(&err, (const char *)nlh + NLMSG_HDRLEN, sizeof(err));
	if (nlh->nlmsg_type == NLMSG_ERROR) {
		fixed = sizeof(struct nlmsgerr);
		if (len >= fixed && !(nlh->nlmsg_flags & NLM_F_CAPPED)) {
			const struct nlmsgerr *e = NLMSG_DATA(nlh);

			fixed += e->msg.nlmsg_len - NLMSG_HDRLEN;
		}
	}
	if (err >= 0)
		return 0;
	take_sentence(nlh, fixed);
	return err;
}

static int on_message(const struct nlmsghdr *nlh, void *arg)
{
	const char *data = (const char *)nlh + NLMSG_HDRLEN;
	size_t len = nlh->nlmsg_len - NLMSG_HDRLEN;
	struct genl_attrs attrs;
	struct answer *reply = arg;
	struct genlmsghdr genl;

	if (nlh->nlmsg_flags & NLM_F_DUMP_INTR)
		reply->torn = true;
	if (nlh->nlmsg_type == NLMSG_DONE || nlh->nlmsg_type == NLMSG_ERROR)
		return on_end(nlh, reply);
	if (nlh->nlmsg_type < NLMSG_MIN_TYPE || len < GENL_HDRLEN || !reply->fn)
		return 0;
	memcpy(&genl, data, sizeof(genl));
	parse(&attrs, data + GENL_HDRLEN, len - GENL_HDRLEN);
	return reply->fn(genl.cmd, &attrs, reply->arg);
}

/* One datagram of the answer to request @seq. */
static int read_some(struct nl_sock *nl, unsigned int seq, struct answer *reply)
{
	struct sockaddr_nl from;
	struct nlmsghdr *nlh;
	unsigned char *buf;
	int len, rc = 0;

	len = nl_recv(nl, &from, &buf, NULL);
	if (len <= 0)
		return len == -NLE_NOMEM ? -ENOBUFS : -EIO;
	for (nlh = (struct nlmsghdr *)buf; nlmsg_ok(nlh, len) && !rc;
	     nlh = nlmsg_next(nlh, &len))
		if (nlh->nlmsg_seq == seq && !reply->done)
			rc = on_message(nlh, reply);
	free(buf);
	return rc;
}

static int exchange(struct nl_sock *nl, const char *family,
		    struct nl_msg *msg, struct answer *reply)
{
	struct nlmsghdr *nlh = nlmsg_hdr(msg);
	int on = 1;
	int rc;

	if (genl_connect(nl) < 0)
		return -EPROTONOSUPPORT;
	rc = genl_ctrl_resolve(nl, family);
	if (rc < 0)
		return -EPROTONOSUPPORT;
	nlh->nlmsg_type = rc;
	setsockopt(nl_socket_get_fd(nl), SOL_NETLINK, NETLINK_EXT_ACK, &on,
		   sizeof(on));
	/* best effort: without the right to it we get what is allowed */
	nl_socket_set_buffer_size(nl, RCVBUF_SIZE, 0);
	nl_socket_set_msg_buf_size(nl, MSG_SIZE);

	rc = nl_send_auto(nl, msg);
	if (rc < 0)
		return -EIO;
	rc = 0;
	while (!rc && !reply->done)
		rc = read_some(nl, nlh->nlmsg_seq, reply);
	return rc;
}

static int talk(const char *family, struct nl_msg *msg, struct answer *reply)
{
	struct nlmsghdr *nlh = nlmsg_hdr(msg);
	struct genlmsghdr *genl = nlmsg_data(nlh);
	struct nl_sock *nl;
	int rc;

	said[0] = 0;
	if (replay_active())
		return replay_request(family, nlh->nlmsg_flags & NLM_F_DUMP ?
				      "dump" : "do", genl->cmd,
				      (char *)genl + GENL_HDRLEN,
				      nlmsg_datalen(nlh) - GENL_HDRLEN,
				      on_message, reply);
	nl = nl_socket_alloc();
	if (!nl)
		return -ENOMEM;
	rc = exchange(nl, family, msg, reply);
	nl_socket_free(nl);
	return rc;
}

static struct nl_msg *new_request(int cmd, int flags)
{
	struct nl_msg *msg = nlmsg_alloc();

	/* the family is filled in when it is known */
	if (msg && !genlmsg_put(msg, NL_AUTO_PORT, NL_AUTO_SEQ, 0, 0, flags,
				cmd, 1)) {
		nlmsg_free(msg);
		msg = NULL;
	}
	return msg;
}

/**
 * genl_dump() - ask for a list
 * @family: name of the family
 * @cmd: command
 * @fn: called for each message; a result other than 0 ends the list
 * @arg: handed to @fn
 *
 * Return: 0; what @fn returned; or a negative errno for genl_complain().
 */
int genl_dump(const char *family, int cmd, genl_fn fn, void *arg)
{
	struct answer reply = { .fn = fn, .arg = arg };
	struct nl_msg *msg = new_request(cmd, NLM_F_DUMP);
	int rc;

	if (!msg)
		return -ENOMEM;
	rc = talk(family, msg, &reply);
	nlmsg_free(msg);
	if (!rc && reply.torn)
		tool_say("the list changed while it was read, some may be missing");
	return rc;
}

/**
 * genl_do() - ask for a change
 * @family: name of the family
 * @cmd: command
 * @args: attributes of the request
 * @num: how many
 *
 * Return: 0 or a negative errno for genl_complain().
 */
int genl_do(const char *family, int cmd, const struct genl_arg *args,
	    size_t num)
{
	struct answer reply = { .fn = NULL };
	struct nl_msg *msg = new_request(cmd, NLM_F_ACK);
	int rc = msg ? 0 : -ENOMEM;
	size_t i;

	for (i = 0; i < num && !rc; i++)
		if (nla_put(msg, args[i].type, args[i].len, args[i].data))
			rc = -ENOMEM;
	if (!rc)
		rc = talk(family, msg, &reply);
	nlmsg_free(msg);
	return rc;
}

/**
 * genl_explain() - say why a request failed
 * @rc: its result, 0 for success
 * @what: what was tried, to follow "cannot"
 * @why: what @rc means here, for kernels that do not say it themselves; NULL
 *	if there is no more to say
 *
 * Return: exit status of the program.
 */
int genl_explain(int rc, const char *what, const char *why)
{
	if (!rc)
		return TOOL_OK;
	if (said[0])
		why = said;
	if (rc == -EPROTONOSUPPORT)
		module_missing("smc");
	else if (why)
		tool_say("cannot %s: %s (%s)", what, why, strerror(-rc));
	else if (rc == -EOPNOTSUPP)
		tool_say("cannot %s: this kernel does not know how", what);
	else
		tool_say("cannot %s: %s", what, strerror(-rc));
	return TOOL_FAILED;
}

/**
 * genl_complain() - genl_explain() with nothing more to say
 * @rc: result of the request, 0 for success
 * @what: what was tried, to follow "cannot"
 *
 * Return: exit status of the program.
 */
int genl_complain(int rc, const char *what)
{
	return genl_explain(rc, what, NULL);
}
