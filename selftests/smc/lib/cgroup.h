/* SPDX-License-Identifier: GPL-2.0 */
/* A control group for one test, and BPF programs, in it or not. */
#ifndef SMC_SELFTEST_CGROUP_H
#define SMC_SELFTEST_CGROUP_H

#include <stdint.h>
#include <linux/bpf.h>

struct cgroup {
	char root[128];	/* where cgroup2 is mounted */
	char path[192];
	int fd;
};

/* what bpf_watch() notes of each operation */
struct seen {
	uint64_t count, cookie;
};

int cgroup_enter(struct cgroup *g);
void cgroup_leave(struct cgroup *g);
long cgroup_number(const struct cgroup *g, const char *file);

int bpf_refuse(const struct cgroup *g, int type, int where);
int bpf_redirect(const struct cgroup *g, int where, int port);
int bpf_watch(const struct cgroup *g);
struct seen bpf_seen(int map, uint32_t op);
int bpf_set_children(const struct cgroup *g, int option, int value);
int bpf_filter(void);

#endif /* SMC_SELFTEST_CGROUP_H */
