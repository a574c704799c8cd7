/* SPDX-License-Identifier: GPL-2.0 */
/* The kselftest harness and what tests in it have in common. */
#ifndef SMC_SELFTEST_HARNESS_H
#define SMC_SELFTEST_HARNESS_H

#include "util.h"
#include "wait.h"

#include "kselftest_harness.h"

/* The harness ends a test after 30 s, or as long as TEST_F_TIMEOUT() says. */
static inline int scaled_run(int argc, char **argv)
{
	struct __fixture_metadata *f;
	struct __test_metadata *t;

	for (f = __fixture_list; f; f = f->next)
		for (t = f->tests; t; t = t->next)
			t->timeout = limit_s(t->timeout);
	return test_harness_run(argc, argv);
}

#undef TEST_HARNESS_MAIN
#define TEST_HARNESS_MAIN						\
	int main(int argc, char **argv)					\
	{								\
		exit(scaled_run(argc, argv));				\
	}

#define ASSERT_ERR(err, call) do {					\
	errno = 0;							\
	ASSERT_EQ(-1, call);						\
	ASSERT_EQ(err, errno);						\
} while (0)

#define EXPECT_ERR(err, call) do {					\
	errno = 0;							\
	EXPECT_EQ(-1, call);						\
	EXPECT_EQ(err, errno);						\
} while (0)

/* what a fixture is run on: each kind and family, as "variant" */
#define KIND_VARIANTS(name)						\
	FIXTURE_VARIANT(name) { enum kind kind; int family; };		\
	FIXTURE_VARIANT_ADD(name, tcp) { KIND_TCP, AF_INET };		\
	FIXTURE_VARIANT_ADD(name, tcp6) { KIND_TCP, AF_INET6 };		\
	FIXTURE_VARIANT_ADD(name, ipproto) { KIND_IPPROTO, AF_INET };	\
	FIXTURE_VARIANT_ADD(name, ipproto6) { KIND_IPPROTO, AF_INET6 };	\
	FIXTURE_VARIANT_ADD(name, afsmc) { KIND_AFSMC, AF_INET };	\
	FIXTURE_VARIANT_ADD(name, afsmc6) { KIND_AFSMC, AF_INET6 }

#define NEW(flags)	open_socket(variant->kind, variant->family, flags)
#define CONNECT(fd, w)	connect(fd, sa(w), (w)->len)

#endif /* SMC_SELFTEST_HARNESS_H */
