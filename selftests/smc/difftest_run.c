// SPDX-License-Identifier: GPL-2.0
/*
 * The executor of the differential tester: runs a script on sockets of one
 * kind and writes one line for each call, which is the same for two kinds if
 * they behave the same.
 *
 * Where TCP's own answer depends on its buffers, the line says less:
 *  - a buffer with a hole: EFAULT and any short count that does not reach the
 *    hole are both "fault"; the bytes before the hole are then moved by a
 *    plain call.
 *  - fill, drain and xfer say how they ended, not in which pieces.
 *  - while a flow is full, POLLOUT of its writer and the amounts are left out.
 * A call that makes no sense, or whose outcome would depend on time, is "-".
 */
#include "difftest.h"

#include <poll.h>

/* -- sockets -- */

int new_socket(struct run *run)
{
	int fd = open_socket(run->kind, AF_INET, SOCK_CLOEXEC);
	int size = run->smc ? run->ring : TCP_BUF;

	must_set(fd, SOL_SOCKET, SO_SNDBUF, size);
	must_set(fd, SOL_SOCKET, SO_RCVBUF, size);
	must_set(fd, SOL_TCP, TCP_NODELAY, 1);
	return fd;
}

struct sockaddr_in host_addr(int port)
{
	struct sockaddr_in sin = {
		.sin_family = AF_INET, .sin_port = htons(port),
	};

	inet_pton(AF_INET, config.host, &sin.sin_addr);
	return sin;
}

struct flow *new_flow(struct run *run)
{
	struct flow *f = &run->flow[run->nflows];

	*f = (struct flow){ .mark = NO_MARK, .key = run->nflows++ };
	return f;
}

void set_blocking(int fd, bool on)
{
	int fl = fcntl(fd, F_GETFL);

	fcntl(fd, F_SETFL, on ? fl & ~O_NONBLOCK : fl | O_NONBLOCK);
}

/* -- ends of connections, in the model -- */

/* The reader of @f gets a reset, unless the connection is over. */
void reset_reader(struct slot *s)
{
	if (s->out->fin && s->in->fin)
		return;
	s->out->rst = true;
	s->out->lossy = s->out->lossy || s->out->full;
}

void drop_listener(struct slot *s)
{
	int i;

	for (i = 0; i < s->npend; i++) {
		s->pend[i].out->rst = true;
		s->pend[i].in->rx_gone = true;
	}
	s->npend = 0;
	s->listening = false;
}

/* The other end takes no bytes any more and answers them with a reset. */
static bool without_reader(const struct slot *s)
{
	return s->out->rx_gone || (s->out->rx_shut && s->in->fin);
}

/* Bytes were sent: a peer that takes none any more resets both sides. */
static bool sent_to_nobody(struct slot *s)
{
	struct flow *f = s->out;

	if (!without_reader(s))
		return false;
	s->in->rst = true;
	s->in->lossy = s->in->full;
	f->rst = true;
	return true;
}

/*
 * The last byte is the new urgent one.  An old one that is next to be read is
 * dropped, one further away becomes data.
 */
static void set_mark(struct run *run, struct flow *f)
{
	const struct slot *r = reader_of(run, f);

	if (f->mark == f->rd && !(r && r->inl))
		f->rd++;
	f->mark = f->wr - 1;
	f->urg_new = true;
}

/* -- calls -- */

void op_send(struct run *run, struct slot *s, const struct op *op, char *out)
{
	int len = op->num[0], hole = op->hole, flags = op->flags, n, i, m, sum;
	struct flow none = { .mark = NO_MARK }, *f = s->out ?: &none;
	struct iovec iov[8];
	struct msghdr msg = { .msg_iov = iov };
	long slept;

	/* the last one: it depends on how much its buffers took of the other */
	if (f->full || on_way(f) + len > LIMIT ||
	    (f->rx_gone && s->in->full)) {
		SAY("-");
		return;
	}
	/*
	 * How much of what is before a hole goes out by itself depends on where
	 * TCP's page ends, and with it what comes after the reset.
	 */
	if (hole >= len ||
	    (hole > 0 && s->out && !f->rst && without_reader(s)))
		hole = -1;
	if (hole >= 0)
		flags &= ~MSG_OOB;
	m = memory_layout(iov, len, op->iov, hole);
	msg.msg_iovlen = m;
	for (i = sum = 0; i < m && sum < (hole < 0 ? len : hole); i++) {
		int part = hole >= 0 ? hole : (int)iov[i].iov_len;

		memcpy(iov[i].iov_base, flow_bytes(f, f->wr + sum), part);
		sum += part;
	}
	tick(true);
	do {
		slept = sleeps();
		n = sendmsg(s->fd, &msg, flags);
	} while (too_early(n, slept));
	tick(false);
	i = errno;
	if (n > 0)
		f->wr += n;
	if (hole >= 0 && (n >= 0 || i == EFAULT) && n <= hole) {
		SAY("fault");
		if (n < 0)
			n = 0;
		if (hole > n) {
			sum = send(s->fd, area + AREA - hole + n, hole - n,
				   flags | MSG_NOSIGNAL);
			if (sum != hole - n)
				SAY("fault, then %d %s", sum,
				    sum < 0 ? strerrorname_np(errno) : "");
			if (sum > 0)
				f->wr += sum;
			n = hole;
		}
	} else if (n < 0) {
		SAY("%s", strerrorname_np(i));
	} else {
		SAY("%d", n);
	}
	if (n <= 0)
		return;
	f->more = (s->cork || flags & MSG_MORE) && !(flags & MSG_OOB);
	if (s->out && sent_to_nobody(s)) {
		f->wr -= n;
		return;
	}
	if (flags & MSG_OOB)
		set_mark(run, f);
}

/* what an in-band read can give before it has to stop or wait */
static uint64_t readable(const struct slot *s)
{
	const struct flow *f = s->in;
	uint64_t from = f->rd;

	if (f->mark == NO_MARK || f->mark < from)
		return f->wr - from;
	if (f->mark > from)
		return f->mark - from;
	return f->wr - from - !s->inl;
}

static void recv_urgent(struct slot *s, const struct op *op, char *out)
{
	unsigned char c = 0;
	int n;

	n = recv(s->fd, &c, op->num[0] ? 1 : 0, op->flags);
	if (n < 0)
		SAY("%s", strerrorname_np(errno));
	else
		SAY("%d%s", n, n && !(op->flags & MSG_TRUNC) && s->in &&
		    (s->in->mark == NO_MARK ||
		     c != *flow_bytes(s->in, s->in->mark)) ? " BAD" : "");
}

/* Compare what is in the pieces with the flow. */
static bool pieces_right(const struct flow *f, uint64_t pos,
			 const struct iovec *iov, int n)
{
	int part;

	for (; n > 0; iov++) {
		part = n < (int)iov->iov_len ? n : (int)iov->iov_len;
		if (!bytes_right(f, pos, iov->iov_base, part))
			return false;
		pos += part;
		n -= part;
	}
	return true;
}

/* The bytes before a hole, of which @n have been read. */
static void recv_rest(struct slot *s, int n, int hole, char *out)
{
	int rc = 0;

	SAY("fault");
	while (n < hole && (rc = read_some(s, hole - n)) > 0)
		n += rc;
	if (n < hole)
		SAY("fault, then %d of %d", n, hole);
	if (rc == -2)
		SAY("fault, then BAD");
}

void op_recv(struct slot *s, const struct op *op, char *out)
{
	int len = op->num[0], hole = op->hole, flags = op->flags, n, err;
	struct flow *f = s->in;
	struct iovec iov[8];
	struct msghdr msg = { .msg_iov = iov };
	bool faults;
	long slept;

	if (flags & MSG_OOB) {
		recv_urgent(s, op, out);
		return;
	}
	if (f && f->full && len > LIMIT / 2)
		len = LIMIT / 2;
	if (flags & MSG_TRUNC || hole >= len)
		hole = -1;
	faults = f && hole >= 0 && readable(s) > hole;
	msg.msg_iovlen = memory_layout(iov, len, op->iov, hole);
	tick(!(flags & MSG_DONTWAIT) && !s->timeo_rcv);
	do {
		slept = sleeps();
		n = recvmsg(s->fd, &msg, flags);
		err = errno;
	} while (too_early(n, slept));
	tick(false);
	if (n < 0)
		SAY("%s", strerrorname_np(err));
	else
		SAY("%d%s%s", n, msg.msg_flags & MSG_OOB ? " oob" : "",
		    msg.msg_flags & MSG_TRUNC ? " trunc" : "");
	if (!f || flags & MSG_ERRQUEUE || !len)
		return;
	if (flags & MSG_PEEK) {
		uint64_t pos = f->rd + (!s->inl && f->mark == f->rd);

		if (n > 0 && !(flags & MSG_TRUNC) &&
		    !pieces_right(f, pos, iov, n))
			SAY("%d BAD", n);
		if (faults && n <= hole && (n >= 0 || err == EFAULT))
			SAY("fault");
		return;
	}
	skip_mark(s);
	if (n > 0 && !(flags & MSG_TRUNC) && !pieces_right(f, f->rd, iov, n))
		SAY("%d BAD", n);
	if (n > 0)
		advance(f, n);
	if (faults && n <= hole && (n >= 0 || err == EFAULT))
		recv_rest(s, n < 0 ? 0 : n, hole, out);
}

/* Both directions are as they were in the beginning. */
static bool healthy(struct run *run, const struct slot *s)
{
	const struct flow *i = s->in, *o = s->out;

	return i && o && !i->fin && !o->fin && !i->rst && !o->rst &&
	       !o->full && !o->rx_shut && !i->rx_shut && reader_of(run, o);
}

static int send_some(struct slot *s, int len, const struct op *op, bool last)
{
	int flags = MSG_DONTWAIT | MSG_NOSIGNAL | (last ? 0 : op->flags);
	struct iovec iov[8];
	struct msghdr msg = { .msg_iov = iov };
	struct flow *f = s->out;
	int n;

	if (len > AREA / 2)
		len = AREA / 2;
	msg.msg_iovlen = memory_layout(iov, len, op->iov, -1);
	memcpy(area, flow_bytes(f, f->wr), len);
	n = sendmsg(s->fd, &msg, flags);
	if (n > 0)
		f->wr += n;
	return n;
}

/* Send and receive until all that was sent has been read. */
void op_xfer(struct run *run, struct slot *s, const struct op *op, char *out)
{
	uint64_t target, end = now_ns() + config.wait_ms * 1000000ULL;
	struct flow *f = s->out;
	int chunk = op->num[1] > 0 ? op->num[1] : 1, n, left;
	struct slot *r;
	bool moved;

	if (!healthy(run, s)) {
		SAY("-");
		return;
	}
	r = reader_of(run, f);
	settle(r);
	target = f->wr + op->num[0];
	f->more = true;
	do {
		moved = false;
		left = target - f->wr;
		if (left) {
			if (left > chunk)
				left = chunk;
			n = send_some(s, left, op, f->wr + left == target);
			if (n < 0 && errno != EAGAIN) {
				SAY("send %s", strerrorname_np(errno));
				return;
			}
			moved = n > 0;
		} else {
			push_held(s);
		}
		if (moved && f->wr != target && f->wr - f->rd < 2 * chunk)
			continue;
		n = read_some(r, chunk);
		if (n > 0 || moved)
			continue;
		if (n == 0 || n == -2 || errno != EAGAIN) {
			SAY("recv %s", !n ? "0" : n == -2 ? "BAD" :
			    strerrorname_np(errno));
			return;
		}
		if (now_ns() > end) {
			SAY("stuck");
			return;
		}
		if (on_way(f))
			usleep(20);
	} while (f->wr != target || on_way(f));
	f->more = f->more && s->cork;
	SAY("moved");
}

void op_fill(struct run *run, struct slot *s, char *out)
{
	static const struct op plain = { .hole = -1 };
	int n, flags = MSG_NOSIGNAL | (s->timeo_snd ? 0 : MSG_DONTWAIT);
	struct flow *f = s->out;

	if (!healthy(run, s)) {
		SAY("-");
		return;
	}
	/* SO_SNDTIMEO ends what MSG_DONTWAIT would */
	while ((n = send_some(s, 8192, &plain, true)) > 0)
		;
	if (!(flags & MSG_DONTWAIT)) {
		memcpy(area, flow_bytes(f, f->wr), AREA / 2);
		while ((n = send(s->fd, area, AREA / 2, flags)) > 0) {
			f->wr += n;
			memcpy(area, flow_bytes(f, f->wr), AREA / 2);
		}
	}
	SAY("%s", strerrorname_np(errno));
	f->full = true;
}

/* Read everything, and the end of file or the error if one has to come. */
void op_drain(struct run *run, struct slot *s, char *out)
{
	uint64_t end = now_ns() + config.wait_ms * 1000000ULL;
	struct flow *f = s->in;
	int n = 1;

	if (!f) {
		SAY("-");
		return;
	}
	while (on_way(f) || f->fin || f->rst) {
		n = read_some(s, 8192);
		/* after SHUT_RD it is the end whenever nothing is there */
		if (!n && f->rx_shut && !f->fin && !f->rst && on_way(f) &&
		    now_ns() < end) {
			usleep(20);
			continue;
		}
		if (n == 0 || n == -2 || (n < 0 && errno != EAGAIN))
			break;
		if (n < 0 && now_ns() > end)
			break;
		if (n < 0)
			usleep(20);
		if (n > 0 && !on_way(f) && f->full) {
			f->full = false;
			settle(s);
		}
	}
	f->full = false;
	SAY("%s, %s", on_way(f) && !f->lossy ? "bytes missing" : "drained",
	    n == -2 ? "BAD" : n >= 0 ? n ? "" : "0" : strerrorname_np(errno));
	if (f->lossy) {
		f->wr = f->rd;
		f->counted = false;
	}
}

void op_poll(struct slot *s, char *out)
{
	static const struct { int bit; const char *name; } names[] = {
		{ POLLIN, "in" }, { POLLOUT, "out" }, { POLLPRI, "pri" },
		{ POLLRDHUP, "rdhup" }, { POLLHUP, "hup" },
		{ POLLERR, "err" }, { POLLNVAL, "nval" },
		{ POLLRDNORM, "rdnorm" }, { POLLWRNORM, "wrnorm" },
		{ POLLRDBAND, "rdband" }, { POLLWRBAND, "wrband" },
	};
	int ev = events_now(s->fd), len = 0;
	unsigned int i;

	if (s->out && s->out->full)
		ev &= ~(POLLOUT | POLLWRNORM | POLLWRBAND);
	if (s->in && (s->in->full || s->in->lossy))
		ev &= ~(POLLRDHUP | POLLHUP);
	if (s->in && s->in->lossy)
		ev &= ~(POLLIN | POLLRDNORM);
	SAY("none");
	for (i = 0; i < ARRAY_LEN(names); i++)
		if (ev & names[i].bit)
			len += snprintf(out + len, TRACE_LEN - len, "%s%s",
					len ? " " : "", names[i].name);
}
