/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The fixture of sockconn and socklisten: a listener and a socket of each kind
 * and family.  TCP is one of the kinds, so that a case that is wrong fails
 * there.  Tested by its users.
 */
#ifndef SMC_SELFTEST_CONNFIXTURE_H
#define SMC_SELFTEST_CONNFIXTURE_H

#include "harness.h"
#include "sockcase.h"

FIXTURE(conn) {
	struct where at;
	int listener, fd, srv;
};

KIND_VARIANTS(conn);

FIXTURE_SETUP(conn)
{
	self->listener = listen_any(variant->kind, variant->family, 8,
				    &self->at);
	self->fd = open_socket(variant->kind, variant->family, 0);
	self->srv = -1;
}

FIXTURE_TEARDOWN(conn)
{
	close(self->fd);
	close(self->srv);
	close(self->listener);
}

#define PAIR() do {							\
	ASSERT_EQ(0, CONNECT(self->fd, &self->at));			\
	self->srv = accept(self->listener, NULL, NULL);			\
	ASSERT_LE(0, self->srv);					\
} while (0)

#endif /* SMC_SELFTEST_CONNFIXTURE_H */
