// SPDX-License-Identifier: GPL-2.0
/*
 * The executor of the differential tester, second part: calls that are not
 * about data, and the run of a whole script.
 */
#include "difftest.h"

#include <linux/sockios.h>
#include <poll.h>
#include <sys/ioctl.h>

static void say_rc(char *out, int rc)
{
	if (rc < 0)
		SAY("%s", strerrorname_np(errno));
	else
		SAY("%d", rc);
}

/*
 * With TCP a FIN behind more than the window has not arrived yet; with SMC it
 * may have.  This matters to a side that shuts down, too, or resets.
 */
static bool end_waits(const struct flow *f)
{
	return f->full && f->fin;
}

/* The same if both ends come: the second one would, or would not, be last. */
static bool end_would_wait(const struct slot *s)
{
	return s->out->full && s->in->fin;
}

static void op_shutdown(struct slot *s, int how, char *out)
{
	int rc;

	/* what is on the way would be cut somewhere */
	if (s->in && ((s->in->full && how != SHUT_WR) ||
		      end_waits(s->in) ||
		      (end_would_wait(s) && how != SHUT_RD) ||
		      ((s->in->full || s->out->full) &&
		       (how != SHUT_WR || s->in->rx_shut) &&
		       (how != SHUT_RD || s->out->fin)))) {
		SAY("-");
		return;
	}
	rc = shutdown(s->fd, how);
	say_rc(out, rc);
	if (s->listening && !rc && how != SHUT_WR)
		drop_listener(s);
	if (!s->out || rc)
		return;
	if (how != SHUT_WR)
		s->in->rx_shut = true;
	if (how != SHUT_RD)
		s->out->fin = true;
}

/*
 * A reset drops what has not been sent.  The peer has read, so there is room
 * for it, but SMC hears of that a little later than TCP does on one host.
 */
static void before_reset(struct run *run, struct slot *s)
{
	struct slot *reader = s->out ? reader_of(run, s->out) : NULL;

	if (reader)
		settle(reader);
}

static void op_close(struct run *run, struct slot *s, char *out)
{
	bool reset;

	/* would take seconds */
	if (s->out && s->out->full && s->linger > 0) {
		SAY("-");
		return;
	}
	reset = !s->linger || on_way(s->in);
	if (s->out && (end_would_wait(s) ||
		       (reset && (end_waits(s->in) || end_waits(s->out))))) {
		SAY("-");
		return;
	}
	if (reset)
		before_reset(run, s);
	say_rc(out, close(s->fd));
	if (s->listening)
		drop_listener(s);
	s->fd = -1;
	if (!s->out)
		return;
	if (reset)
		reset_reader(s);
	s->out->fin = true;
	s->out->more = false;
	s->in->rx_gone = true;
	s->in = s->out = NULL;
}

static void op_linger(struct slot *s, const struct op *op, char *out)
{
	struct linger l = { op->num[0], op->num[1] };
	int rc;

	rc = setsockopt(s->fd, SOL_SOCKET, SO_LINGER, &l, sizeof(l));
	say_rc(out, rc);
	if (!rc)
		s->linger = l.l_onoff ? l.l_linger : -1;
}

static void op_timeo(struct slot *s, const struct op *op, char *out)
{
	struct timeval tv = { 0, op->num[0] * 1000 };
	bool rcv = op->code == OP_RCVTIMEO;
	int rc;

	rc = setsockopt(s->fd, SOL_SOCKET, rcv ? SO_RCVTIMEO : SO_SNDTIMEO,
			&tv, sizeof(tv));
	say_rc(out, rc);
	*(rcv ? &s->timeo_rcv : &s->timeo_snd) = op->num[0];
}

static void op_int_option(struct slot *s, const struct op *op, char *out)
{
	int val = op->num[0], rc, back = -1;
	socklen_t len = sizeof(back);

	switch (op->code) {
	case OP_LOWAT:
		rc = setsockopt(s->fd, SOL_SOCKET, SO_RCVLOWAT, &val,
				sizeof(val));
		getsockopt(s->fd, SOL_SOCKET, SO_RCVLOWAT, &back, &len);
		break;
	case OP_OOBINLINE:
		rc = setsockopt(s->fd, SOL_SOCKET, SO_OOBINLINE, &val,
				sizeof(val));
		getsockopt(s->fd, SOL_SOCKET, SO_OOBINLINE, &back, &len);
		s->inl = val;
		break;
	default:
		rc = setsockopt(s->fd, SOL_TCP, TCP_CORK, &val, sizeof(val));
		getsockopt(s->fd, SOL_TCP, TCP_CORK, &back, &len);
		s->cork = val;
		if (val && s->out)
			s->out->more = true;
	}
	if (rc)
		say_rc(out, rc);
	else
		SAY("0, now %d", back);
}

static void op_soerror(struct slot *s, char *out)
{
	socklen_t len = sizeof(int);
	int err = -1;

	if (getsockopt(s->fd, SOL_SOCKET, SO_ERROR, &err, &len))
		say_rc(out, -1);
	else
		SAY("%s", err ? strerrorname_np(err) : "0");
}

static void op_name(struct slot *s, bool peer, char *out)
{
	struct sockaddr_in sin = {};
	socklen_t len = sizeof(sin);
	int rc;

	rc = (peer ? getpeername : getsockname)(s->fd, (struct sockaddr *)&sin,
						&len);
	if (rc)
		say_rc(out, rc);
	else
		SAY("family %d %s %s len %d", sin.sin_family,
		    sin.sin_addr.s_addr ? "address" : "any",
		    sin.sin_port ? "port" : "no port", len);
}

static void op_ioctl(struct slot *s, const struct op *op, char *out)
{
	uint64_t end = now_ns() + config.wait_ms * 1000000ULL;
	int val = -1, rc;

	if (op->code == OP_OUTQ) {
		/* after a reset it is what the last ACK left */
		if (s->out && (on_way(s->out) || s->out->full || s->in->rst)) {
			SAY("-");
			return;
		}
		/* an ACK may be delayed */
		while (!(rc = ioctl(s->fd, SIOCOUTQ, &val)) && val && s->out &&
		       now_ns() < end)
			usleep(200);
		if (!s->out)
			val = 0;
	} else {
		if (s->in && s->in->full) {
			SAY("-");
			return;
		}
		rc = ioctl(s->fd, op->code == OP_INQ ? SIOCINQ : SIOCATMARK,
			   &val);
	}
	say_rc(out, rc < 0 ? rc : val);
}

static void op_bind(struct slot *s, char *out)
{
	struct sockaddr_in sin = host_addr(0);

	say_rc(out, bind(s->fd, (struct sockaddr *)&sin, sizeof(sin)));
}

static void op_listen(struct run *run, struct slot *s, int backlog, char *out)
{
	int rc = listen(s->fd, backlog);

	say_rc(out, rc);
	if (rc)
		return;
	s->listening = true;
	decline_if_asked(s->fd, run->kind);
}

static bool connected_now(struct slot *s)
{
	struct pollfd p = { .fd = s->fd, .events = POLLOUT };

	poll(&p, 1, config.wait_ms);
	return p.revents == POLLOUT;
}

static void op_connect(struct run *run, struct slot *s, struct slot *t,
		       const struct op *op, char *out)
{
	struct sockaddr_in sin = host_addr(local_port(t->fd) ?: 1);
	struct pollfd there = { .fd = t->fd, .events = POLLIN };
	bool fresh = !s->out;
	int rc, err;

	if (s == t || s->timeo_snd || t->npend == MAX_PEND) {
		SAY("-");
		return;
	}
	set_blocking(s->fd, !(op->flags & MSG_DONTWAIT));
	rc = connect(s->fd, (struct sockaddr *)&sin, sizeof(sin));
	err = errno;
	say_rc(out, rc);
	set_blocking(s->fd, true);
	if (!fresh || (rc && err != EINPROGRESS))
		return;
	/* one that was shut down before does not look it, and is accepted */
	if (!connected_now(s)) {
		if (t->listening)
			poll(&there, 1, config.wait_ms / 100);
		return;
	}
	if (!t->listening)
		return;
	s->in = new_flow(run);
	s->out = new_flow(run);
	t->pend[t->npend++] = (struct pend){ s->out, s->in };
}

static void op_unconnect(struct run *run, struct slot *s, char *out)
{
	struct sockaddr sa = { .sa_family = AF_UNSPEC };
	int rc;

	if (s->out && (end_waits(s->in) || end_waits(s->out))) {
		SAY("-");
		return;
	}
	before_reset(run, s);
	rc = connect(s->fd, &sa, sizeof(sa));
	say_rc(out, rc);
	if (rc)
		return;
	if (s->listening)
		drop_listener(s);
	if (!s->out)
		return;
	reset_reader(s);
	s->out->fin = true;
	s->in->rx_gone = true;
	s->in = s->out = NULL;
}

static void op_accept(struct slot *l, struct slot *s, const struct op *op,
		      char *out)
{
	struct sockaddr_in sin = {};
	socklen_t len = sizeof(sin);
	long slept;
	int fd;

	if (s->fd >= 0 || s == l) {
		SAY("-");
		return;
	}
	set_blocking(l->fd, !(op->flags & MSG_DONTWAIT));
	tick(!(op->flags & MSG_DONTWAIT) && !l->timeo_rcv);
	do {
		slept = sleeps();
		fd = accept4(l->fd, (struct sockaddr *)&sin, &len, SOCK_CLOEXEC);
	} while (too_early(fd, slept));
	tick(false);
	if (fd < 0) {
		say_rc(out, fd);
		set_blocking(l->fd, true);
		return;
	}
	set_blocking(l->fd, true);
	SAY("accepted, family %d", sin.sin_family);
	*s = (struct slot){ .fd = fd, .linger = -1, .timeo_rcv = l->timeo_rcv,
			    .timeo_snd = l->timeo_snd, .inl = l->inl,
			    .cork = l->cork };
	if (l->linger >= 0)
		s->linger = l->linger;
	must_set(fd, SOL_TCP, TCP_NODELAY, 1);
	if (!l->npend)
		return;
	s->in = l->pend[0].in;
	s->out = l->pend[0].out;
	memmove(l->pend, l->pend + 1, --l->npend * sizeof(*l->pend));
}

/* -- scripts -- */

static void call(struct run *run, struct slot *s, const struct op *op,
		 char *out)
{
	struct slot *t = &run->slot[op->slot[1]];

	switch (op->code) {
	case OP_SEND:
		op_send(run, s, op, out);
		break;
	case OP_RECV:
		op_recv(s, op, out);
		break;
	case OP_XFER:
		op_xfer(run, s, op, out);
		break;
	case OP_FILL:
		op_fill(run, s, out);
		break;
	case OP_DRAIN:
		op_drain(run, s, out);
		break;
	case OP_POLL:
		op_poll(s, out);
		break;
	case OP_INQ: case OP_OUTQ: case OP_ATMARK:
		op_ioctl(s, op, out);
		break;
	case OP_SHUT:
		op_shutdown(s, op->num[0], out);
		break;
	case OP_CLOSE:
		op_close(run, s, out);
		break;
	case OP_LINGER:
		op_linger(s, op, out);
		break;
	case OP_RCVTIMEO: case OP_SNDTIMEO:
		op_timeo(s, op, out);
		break;
	case OP_LOWAT: case OP_OOBINLINE: case OP_CORK:
		op_int_option(s, op, out);
		break;
	case OP_SOERR:
		op_soerror(s, out);
		break;
	case OP_SOCKNAME:
		op_name(s, false, out);
		break;
	case OP_PEERNAME:
		op_name(s, true, out);
		break;
	case OP_BIND:
		op_bind(s, out);
		break;
	case OP_LISTEN:
		op_listen(run, s, op->num[0], out);
		break;
	case OP_CONNECT:
		op_connect(run, s, t, op, out);
		break;
	case OP_UNCONNECT:
		op_unconnect(run, s, out);
		break;
	case OP_ACCEPT:
		op_accept(s, t, op, out);
		break;
	default:
		SAY("-");
	}
}

/* One call with what has to come before and after it. */
static void run_op(struct run *run, const struct op *op, char *out)
{
	struct slot *s = &run->slot[op->slot[0]];
	bool ok;
	int i;

	if (op->code == OP_NEW && s->fd < 0) {
		*s = (struct slot){ .fd = new_socket(run), .linger = -1 };
		SAY("0");
		return;
	}
	if (op->code == OP_NEW || s->fd < 0) {
		SAY("-");
		return;
	}
	for (i = 0; i < NUM_SLOTS; i++)
		if (&run->slot[i] != s || op->code != OP_SEND ||
		    (s->in && s->in->rst))
			push_held(&run->slot[i]);
	ok = settle(s);
	sigpipes = 0;
	call(run, s, op, out);
	if (sigpipes)
		snprintf(out + strlen(out), TRACE_LEN - strlen(out),
			 ", SIGPIPE");
	if (!ok)
		snprintf(out + strlen(out), TRACE_LEN - strlen(out),
			 ", not settled");
}

/*
 * The other end of @c.  A script that connected to the port of s has left a
 * connection here, which the next one must not take for its own.
 */
static int accept_peer(struct run *run, int c)
{
	int s, port = local_port(c);
	struct sockaddr_in sin;
	socklen_t len;

	do {
		len = sizeof(sin);
		s = accept4(run->listener, (struct sockaddr *)&sin, &len,
			    SOCK_CLOEXEC);
		if (s < 0)
			die("accept");
		if (ntohs(sin.sin_port) == port)
			return s;
		close(s);
	} while (true);
}

static void pair_up(struct run *run)
{
	struct sockaddr_in sin = host_addr(local_port(run->listener));
	int c, s, i;

	c = new_socket(run);
	if (connect(c, (struct sockaddr *)&sin, sizeof(sin)))
		die("connect");
	s = accept_peer(run, c);
	must_set(s, SOL_TCP, TCP_NODELAY, 1);
	run->slot[0].fd = c;
	run->slot[1].fd = s;
	run->slot[0].in = run->slot[1].out = new_flow(run);
	run->slot[0].out = run->slot[1].in = new_flow(run);
	for (i = 0; i < 2; i++) {
		run->slot[i].in->before = info_of(run->slot[i].fd).bytes_received;
		run->slot[i].in->counted = true;
	}
}

int make_listener(struct run *run)
{
	struct sockaddr_in sin = host_addr(0);
	int fd = new_socket(run);

	if (bind(fd, (struct sockaddr *)&sin, sizeof(sin)) || listen(fd, 16))
		die("listen on %s", config.host);
	decline_if_asked(fd, run->kind);
	return fd;
}

/* Everything still open: drain, look, get rid of it without TIME_WAIT. */
static void epilogue(struct run *run, int n)
{
	static const struct op poll_op = { .code = OP_POLL };
	struct linger l = { 1, 0 };
	struct slot *s;
	int i;

	for (i = 0; i < NUM_SLOTS; i++) {
		char *out = run->trace[n + i];
		struct op op = { .code = OP_DRAIN, .slot = { i } };

		run_op(run, &op, out);
		out += strlen(out);
		*out++ = ';';
		*out++ = ' ';
		op = poll_op;
		op.slot[0] = i;
		run_op(run, &op, out);
	}
	for (i = 0; i < NUM_SLOTS; i++) {
		s = &run->slot[i];
		if (s->fd < 0)
			continue;
		setsockopt(s->fd, SOL_SOCKET, SO_LINGER, &l, sizeof(l));
		close(s->fd);
	}
}

/* Runs on sockets of run->kind; the answers are in run->trace. */
void script_run(struct run *run, const struct script *sc)
{
	int i;

	run->ring = sc->ring;
	run->nflows = 0;
	for (i = 0; i < NUM_SLOTS; i++)
		run->slot[i] = (struct slot){ .fd = -1, .linger = -1 };
	pair_up(run);
	for (i = 0; i < sc->n; i++)
		run_op(run, &sc->op[i], run->trace[i]);
	epilogue(run, sc->n);
}
