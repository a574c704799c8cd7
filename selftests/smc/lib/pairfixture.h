/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The fixture of sockapi, sockclose and sockready: a listener and both ends of
 * a connection in one process.  The program adds its variants; TCP is one of
 * them, so that a test that is wrong fails there.  SMC_ADDR in the environment
 * names another IPv4 address for sockets of ours: over SMC-R it has to be one
 * that an RDMA port stands on.
 */
#ifndef SMC_SELFTEST_PAIRFIXTURE_H
#define SMC_SELFTEST_PAIRFIXTURE_H

#include "harness.h"
#include "pair.h"

FIXTURE(pair) {
	struct sockaddr_storage addr;
	socklen_t len;
	int listener, client, server;
};

FIXTURE_VARIANT(pair) {
	enum kind kind;
	const char *host;
	int ring;	/* 0: as the system has it */
};

FIXTURE_SETUP(pair)
{
	const char *host = variant->kind == KIND_TCP ? NULL :
						       getenv("SMC_ADDR");
	struct pair p;

	ASSERT_EQ(0, pair_listen_at(&p, variant->kind, host ?: variant->host,
				    variant->ring));
	ASSERT_EQ(0, pair_connect(&p, variant->kind)) {
		TH_LOG("connect: %s", strerror(errno));
	}
	self->addr = p.addr;
	self->len = p.len;
	self->listener = p.listener;
	self->client = p.client;
	self->server = p.server;
}

FIXTURE_TEARDOWN(pair)
{
	close_fd(&self->client);
	close_fd(&self->server);
	close_fd(&self->listener);
}

#endif /* SMC_SELFTEST_PAIRFIXTURE_H */
