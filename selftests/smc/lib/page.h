/* SPDX-License-Identifier: GPL-2.0 */
/* A page that comes when the test says so (userfaultfd). */
#ifndef SMC_SELFTEST_PAGE_H
#define SMC_SELFTEST_PAGE_H

struct page {
	int uffd;
	void *at;	/* what touches it waits for page_serve() */
};

void page_make(struct page *p);
void page_serve(struct page *p);

#endif /* SMC_SELFTEST_PAGE_H */
