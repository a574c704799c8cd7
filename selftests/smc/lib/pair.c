// SPDX-License-Identifier: GPL-2.0
/*
 * A listener and both ends of a connection in one process.  Tested by its
 * users.
 */
#include "pair.h"

/* 0, or -1 with errno; @ring is not 0: that is what buffers are asked for */
int pair_listen_at(struct pair *p, enum kind kind, const char *host, int ring)
{
	p->len = parse_addr(host, "0", &p->addr);
	p->client = -1;
	p->server = -1;
	p->ring = ring;
	p->listener = open_listener(kind, &p->addr, p->len, 512, ring, ring);
	p->len = sizeof(p->addr);
	return getsockname(p->listener, (struct sockaddr *)&p->addr, &p->len);
}

/* on SMC_HOST, which is for a run over an RDMA port, or on loopback */
int pair_listen(struct pair *p, enum kind kind)
{
	return pair_listen_at(p, kind, getenv("SMC_HOST") ?: "127.0.0.1", 0);
}

int pair_connect(struct pair *p, enum kind kind)
{
	p->client = open_socket(kind, p->addr.ss_family, 0);
	if (p->ring) {
		must_set(p->client, SOL_SOCKET, SO_SNDBUF, p->ring);
		must_set(p->client, SOL_SOCKET, SO_RCVBUF, p->ring);
	}
	if (connect(p->client, (struct sockaddr *)&p->addr, p->len))
		return -1;
	p->server = accept(p->listener, NULL, NULL);
	return p->server < 0 ? -1 : 0;
}

void pair_close(struct pair *p)
{
	close_fd(&p->client);
	close_fd(&p->server);
	close_fd(&p->listener);
}

/* TCP's buffers grow no more: what is full stays full. */
void fix_buffers(int from, int to)
{
	must_set(from, SOL_SOCKET, SO_SNDBUF, 16 * RING);
	must_set(to, SOL_SOCKET, SO_RCVBUF, 16 * RING);
}
