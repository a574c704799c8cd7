// SPDX-License-Identifier: GPL-2.0
/*
 * heldcall - an ioctl() waits for memory while its socket becomes TCP's
 *
 *	heldcall FILE
 *
 * The page that ioctl(FIONREAD) writes to does not come (userfaultfd).
 * Meanwhile connect(AF_UNSPEC) takes the connection from the socket,
 * sendto(MSG_FASTOPEN) makes a TCP socket of it, and all others are closed: then
 * FILE is made.  When FILE is gone the page comes, and the call returns.
 */
#include <sys/ioctl.h>

#include "lib/page.h"
#include "lib/pair.h"
#include "lib/task.h"
#include "lib/wait.h"

#define BYTES	"abc"

static struct page page;

static void *ask(void *arg)
{
	if (ioctl(*(int *)arg, FIONREAD, page.at))
		die("FIONREAD");
	return NULL;
}

int main(int argc, char **argv)
{
	static const struct sockaddr none = { .sa_family = AF_UNSPEC };
	struct pair p;
	struct task t;

	if (argc != 2)
		die("usage: heldcall FILE");
	page_make(&page);
	if (pair_listen(&p, KIND_IPPROTO) || pair_connect(&p, KIND_IPPROTO))
		die("no connection");
	if (send(p.server, BYTES, strlen(BYTES), 0) != strlen(BYTES) ||
	    !wait_queued(p.client, strlen(BYTES)))
		die("no bytes");
	task_start(&t, ask, &p.client);
	if (!task_sleeps(&t))
		die("the page came");
	close_fd(&p.listener);
	if (connect(p.client, &none, sizeof(none)))
		die("AF_UNSPEC");
	if (sendto(p.client, "x", 1, MSG_FASTOPEN | MSG_NOSIGNAL,
		   (struct sockaddr *)&p.addr, p.len) >= 0)
		die("sent to a listener that is closed");
	close_fd(&p.server);
	touch(argv[1]);
	while (!access(argv[1], F_OK))
		usleep(50000);
	page_serve(&page);
	task_join(&t);
	if (*(int *)page.at != strlen(BYTES))
		die("FIONREAD: %d", *(int *)page.at);
	pair_close(&p);
	return 0;
}
