// SPDX-License-Identifier: GPL-2.0
/*
 * A page that comes when the test says so: a system call that reads or writes it
 * lasts as long.  Tested by its users.
 */
#include "page.h"
#include "util.h"

#include <fcntl.h>
#include <stdint.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>
#include <linux/userfaultfd.h>

#define SIZE	4096

void page_make(struct page *p)
{
	struct uffdio_register reg = { .mode = UFFDIO_REGISTER_MODE_MISSING };
	struct uffdio_api api = { .api = UFFD_API };

	p->uffd = syscall(SYS_userfaultfd, O_CLOEXEC | O_NONBLOCK);
	if (p->uffd < 0 || ioctl(p->uffd, UFFDIO_API, &api))
		die("userfaultfd");
	p->at = mmap(NULL, SIZE, PROT_READ | PROT_WRITE,
		     MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (p->at == MAP_FAILED)
		die("mmap");
	reg.range.start = (uintptr_t)p->at;
	reg.range.len = SIZE;
	if (ioctl(p->uffd, UFFDIO_REGISTER, &reg))
		die("UFFDIO_REGISTER");
}

/* it comes, with zeroes */
void page_serve(struct page *p)
{
	struct uffdio_zeropage zero = {
		.range = { .start = (uintptr_t)p->at, .len = SIZE },
	};

	if (ioctl(p->uffd, UFFDIO_ZEROPAGE, &zero))
		die("UFFDIO_ZEROPAGE");
	close(p->uffd);
}
