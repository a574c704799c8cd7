/* SPDX-License-Identifier: GPL-2.0 */
/* Just enough of io_uring to submit one request and to take one completion. */
#ifndef SMC_SELFTEST_URING_H
#define SMC_SELFTEST_URING_H

#include <stdbool.h>
#include <linux/io_uring.h>

struct uring {
	int fd;
	unsigned int *sq_tail, *sq_mask, *sq_array;
	unsigned int *cq_head, *cq_tail, *cq_mask;
	struct io_uring_sqe *sqes;
	struct io_uring_cqe *cqes;
};

int uring_open(struct uring *u, unsigned int flags);
int uring_submit(struct uring *u, const struct io_uring_sqe *sqe);
bool uring_reap(struct uring *u, struct io_uring_cqe *cqe, int ms);
struct io_uring_sqe uring_sqe(int op, int fd, const void *addr,
			      unsigned int len);
int uring_do(struct uring *u, struct io_uring_sqe sqe, int ms);

#endif /* SMC_SELFTEST_URING_H */
