// SPDX-License-Identifier: GPL-2.0
/*
 * Just enough of io_uring, by its system calls, to submit one request and to
 * take one completion.
 */
#include "uring.h"

#include <errno.h>
#include <poll.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

/*
 * With IORING_SETUP_* as @flags.  0, or -1 with errno: ENOSYS or EPERM where it
 * is not to be had.
 */
int uring_open(struct uring *u, unsigned int flags)
{
	struct io_uring_params p = { .flags = flags };
	size_t len;
	char *ring;

	u->fd = syscall(__NR_io_uring_setup, 16, &p);
	if (u->fd < 0)
		return -1;
	/* since 5.4 both rings are in one mapping */
	len = p.cq_off.cqes + p.cq_entries * sizeof(struct io_uring_cqe);
	if (len < p.sq_off.array + p.sq_entries * sizeof(unsigned int))
		len = p.sq_off.array + p.sq_entries * sizeof(unsigned int);
	ring = mmap(NULL, len, PROT_READ | PROT_WRITE, MAP_SHARED, u->fd,
		    IORING_OFF_SQ_RING);
	u->sqes = mmap(NULL, p.sq_entries * sizeof(struct io_uring_sqe),
		       PROT_READ | PROT_WRITE, MAP_SHARED, u->fd,
		       IORING_OFF_SQES);
	if (ring == MAP_FAILED || u->sqes == MAP_FAILED)
		return -1;
	u->sq_tail = (void *)(ring + p.sq_off.tail);
	u->sq_mask = (void *)(ring + p.sq_off.ring_mask);
	u->sq_array = (void *)(ring + p.sq_off.array);
	u->cq_head = (void *)(ring + p.cq_off.head);
	u->cq_tail = (void *)(ring + p.cq_off.tail);
	u->cq_mask = (void *)(ring + p.cq_off.ring_mask);
	u->cqes = (void *)(ring + p.cq_off.cqes);
	return 0;
}

/* submits a copy of sqe; 1, or -1 with errno */
int uring_submit(struct uring *u, const struct io_uring_sqe *sqe)
{
	unsigned int tail = *u->sq_tail, i = tail & *u->sq_mask;

	u->sqes[i] = *sqe;
	u->sq_array[i] = i;
	__atomic_store_n(u->sq_tail, tail + 1, __ATOMIC_RELEASE);
	return syscall(__NR_io_uring_enter, u->fd, 1, 0, 0, NULL, 0);
}

/* the next completion within ms; false if there is none */
bool uring_reap(struct uring *u, struct io_uring_cqe *cqe, int ms)
{
	struct pollfd p = { .fd = u->fd, .events = POLLIN };
	unsigned int head = *u->cq_head;

	while (head == __atomic_load_n(u->cq_tail, __ATOMIC_ACQUIRE)) {
		/* completions may need the task to enter the kernel */
		syscall(__NR_io_uring_enter, u->fd, 0, 0,
			IORING_ENTER_GETEVENTS, NULL, 0);
		if (head != __atomic_load_n(u->cq_tail, __ATOMIC_ACQUIRE))
			break;
		if (poll(&p, 1, ms) <= 0)
			return false;
	}
	*cqe = u->cqes[head & *u->cq_mask];
	__atomic_store_n(u->cq_head, head + 1, __ATOMIC_RELEASE);
	return true;
}

/* a request without data of its own, user_data is the opcode */
struct io_uring_sqe uring_sqe(int op, int fd, const void *addr,
			      unsigned int len)
{
	struct io_uring_sqe sqe = {
		.opcode = op,
		.fd = fd,
		.addr = (unsigned long)addr,
		.len = len,
		.user_data = op,
	};

	return sqe;
}

/* submits and waits for its completion; the result, -ETIME after ms */
int uring_do(struct uring *u, struct io_uring_sqe sqe, int ms)
{
	struct io_uring_cqe cqe;

	if (uring_submit(u, &sqe) != 1)
		return -errno;
	return uring_reap(u, &cqe, ms) ? cqe.res : -ETIME;
}
