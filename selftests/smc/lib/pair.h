/* SPDX-License-Identifier: GPL-2.0 */
/* A listener and both ends of a connection in one process. */
#ifndef SMC_SELFTEST_PAIR_H
#define SMC_SELFTEST_PAIR_H

#include "util.h"

#define RING	16384	/* the smallest ring, about */

struct pair {
	struct sockaddr_storage addr;
	socklen_t len;
	int listener, client, server;
	int ring;	/* SO_SNDBUF and SO_RCVBUF, 0: as they are */
};

int pair_listen(struct pair *p, enum kind kind);
int pair_listen_at(struct pair *p, enum kind kind, const char *host, int ring);
int pair_connect(struct pair *p, enum kind kind);
void pair_close(struct pair *p);
void fix_buffers(int from, int to);

#endif /* SMC_SELFTEST_PAIR_H */
