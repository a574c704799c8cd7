// SPDX-License-Identifier: GPL-2.0
/*
 * A control group for one test, and BPF programs, in it or not.  The programs
 * are written as instructions, so that no compiler or library is needed.
 */
#include "cgroup.h"
#include "util.h"

#include <fcntl.h>
#include <mntent.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>
#include <linux/bpf.h>

/* writes text to a file of a group; 0 or -1 with errno */
static int cgroup_write(const char *dir, const char *file, const char *text)
{
	char path[256];
	int fd, rc;

	snprintf(path, sizeof(path), "%s/%s", dir, file);
	fd = open(path, O_WRONLY | O_CLOEXEC);
	if (fd < 0)
		return -1;
	rc = write(fd, text, strlen(text)) < 0 ? -1 : 0;
	close(fd);
	return rc;
}

/* the number in a file of the group, -1 if there is none */
long cgroup_number(const struct cgroup *g, const char *file)
{
	char path[256];
	long n = -1;
	FILE *f;

	snprintf(path, sizeof(path), "%s/%s", g->path, file);
	f = fopen(path, "re");
	if (!f)
		return -1;
	if (fscanf(f, "%ld", &n) != 1)
		n = -1;
	fclose(f);
	return n;
}

/* a new group, with this process in it; 0, or -1 where there is no cgroup2 */
int cgroup_enter(struct cgroup *g)
{
	FILE *f = setmntent("/proc/mounts", "re");
	struct mntent *m;

	g->fd = -1;
	g->root[0] = 0;
	while (f && (m = getmntent(f)))
		if (!strcmp(m->mnt_type, "cgroup2"))
			snprintf(g->root, sizeof(g->root), "%s", m->mnt_dir);
	if (f)
		endmntent(f);
	if (!g->root[0])
		return -1;
	/* not everywhere; the test that needs it looks */
	cgroup_write(g->root, "cgroup.subtree_control", "+memory");
	snprintf(g->path, sizeof(g->path), "%s/smctest.%d", g->root, getpid());
	if (mkdir(g->path, 0755) || cgroup_write(g->path, "cgroup.procs", "0"))
		return -1;
	g->fd = open(g->path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	return g->fd < 0 ? -1 : 0;
}

void cgroup_leave(struct cgroup *g)
{
	if (g->fd < 0)
		return;
	close(g->fd);
	cgroup_write(g->root, "cgroup.procs", "0");
	rmdir(g->path);
}

static int sys_bpf(int cmd, union bpf_attr *attr)
{
	return syscall(__NR_bpf, cmd, attr, sizeof(*attr));
}

#define INSN(c, d, s, o, i)						\
	((struct bpf_insn){ .code = (c), .dst_reg = (d), .src_reg = (s),	\
			    .off = (o), .imm = (i) })
#define MOV_IMM(d, i)	INSN(BPF_ALU64 | BPF_MOV | BPF_K, d, 0, 0, i)
#define MOV_REG(d, s)	INSN(BPF_ALU64 | BPF_MOV | BPF_X, d, s, 0, 0)
#define ADD_IMM(d, i)	INSN(BPF_ALU64 | BPF_ADD | BPF_K, d, 0, 0, i)
#define LOAD_W(d, s, o)	INSN(BPF_LDX | BPF_MEM | BPF_W, d, s, o, 0)
#define STORE_W(d, o, s) INSN(BPF_STX | BPF_MEM | BPF_W, d, s, o, 0)
#define STORE_DW(d, o, s) INSN(BPF_STX | BPF_MEM | BPF_DW, d, s, o, 0)
#define ATOMIC_ADD(d, o, s) INSN(BPF_STX | BPF_ATOMIC | BPF_DW, d, s, o, BPF_ADD)
#define CALL(f)		INSN(BPF_JMP | BPF_CALL, 0, 0, 0, f)
#define SKIP_UNLESS(d, i, o) INSN(BPF_JMP | BPF_JNE | BPF_K, d, 0, o, i)
#define SKIP_IF_0(d, o)	INSN(BPF_JMP | BPF_JEQ | BPF_K, d, 0, o, 0)
#define EXIT()		INSN(BPF_JMP | BPF_EXIT, 0, 0, 0, 0)

/* a program's descriptor, or -1 with errno */
static int bpf_load(int type, int where, const struct bpf_insn *insns, int num)
{
	static char log[16384];
	union bpf_attr load = {
		.prog_type = type,
		.expected_attach_type = where,
		.insns = (unsigned long)insns,
		.insn_cnt = num,
		.license = (unsigned long)"GPL",
		.log_buf = (unsigned long)log,
		.log_size = sizeof(log),
		.log_level = 1,
	};
	int fd = sys_bpf(BPF_PROG_LOAD, &load);

	if (fd < 0)
		fprintf(stderr, "# %s\n", log);
	return fd;
}

/* loads a program and attaches it to the group; 0 or -1 with errno */
static int bpf_attach(const struct cgroup *g, int type, int where,
		      const struct bpf_insn *insns, int num)
{
	union bpf_attr attach = {
		.target_fd = g->fd,
		.attach_type = where,
	};
	int fd = bpf_load(type, where, insns, num), rc;

	if (fd < 0)
		return -1;
	attach.attach_bpf_fd = fd;
	rc = sys_bpf(BPF_PROG_ATTACH, &attach);
	close(fd);
	return rc;
}

/* a filter for sockets that says 0; its descriptor or -1 */
int bpf_filter(void)
{
	const struct bpf_insn zero[] = { MOV_IMM(BPF_REG_0, 0), EXIT() };

	return bpf_load(BPF_PROG_TYPE_SOCKET_FILTER, 0, zero, 2);
}

/* a program that says no to everything */
int bpf_refuse(const struct cgroup *g, int type, int where)
{
	const struct bpf_insn no[] = { MOV_IMM(BPF_REG_0, 0), EXIT() };

	return bpf_attach(g, type, where, no, 2);
}

/* connect() goes to this port (network order), whatever the program wants */
int bpf_redirect(const struct cgroup *g, int where, int port)
{
	const struct bpf_insn insns[] = {
		MOV_IMM(BPF_REG_2, port),
		STORE_W(BPF_REG_1, offsetof(struct bpf_sock_addr, user_port),
			BPF_REG_2),
		MOV_IMM(BPF_REG_0, 1),
		EXIT(),
	};

	return bpf_attach(g, BPF_PROG_TYPE_CGROUP_SOCK_ADDR, where, insns, 4);
}

/* counts sockops' calls by operation; the map's descriptor or -1 */
int bpf_watch(const struct cgroup *g)
{
	union bpf_attr map = {
		.map_type = BPF_MAP_TYPE_ARRAY,
		.key_size = 4,
		.value_size = sizeof(struct seen),
		.max_entries = 32,
	};
	int fd = sys_bpf(BPF_MAP_CREATE, &map);
	const struct bpf_insn insns[] = {
		MOV_REG(BPF_REG_6, BPF_REG_1),
		LOAD_W(BPF_REG_2, BPF_REG_1, offsetof(struct bpf_sock_ops, op)),
		STORE_W(BPF_REG_10, -4, BPF_REG_2),
		INSN(BPF_LD | BPF_IMM | BPF_DW, BPF_REG_1, BPF_PSEUDO_MAP_FD, 0,
		     fd),
		INSN(0, 0, 0, 0, 0),
		MOV_REG(BPF_REG_2, BPF_REG_10),
		ADD_IMM(BPF_REG_2, -4),
		CALL(BPF_FUNC_map_lookup_elem),
		SKIP_IF_0(BPF_REG_0, 6),
		MOV_REG(BPF_REG_7, BPF_REG_0),
		MOV_IMM(BPF_REG_1, 1),
		ATOMIC_ADD(BPF_REG_7, 0, BPF_REG_1),
		MOV_REG(BPF_REG_1, BPF_REG_6),
		CALL(BPF_FUNC_get_socket_cookie),
		STORE_DW(BPF_REG_7, offsetof(struct seen, cookie), BPF_REG_0),
		MOV_IMM(BPF_REG_0, 1),
		EXIT(),
	};

	if (fd < 0 || bpf_attach(g, BPF_PROG_TYPE_SOCK_OPS, BPF_CGROUP_SOCK_OPS,
				 insns, sizeof(insns) / sizeof(insns[0])))
		return -1;
	return fd;
}

struct seen bpf_seen(int map, uint32_t op)
{
	struct seen seen = {};
	union bpf_attr attr = {
		.map_fd = map,
		.key = (unsigned long)&op,
		.value = (unsigned long)&seen,
	};

	if (sys_bpf(BPF_MAP_LOOKUP_ELEM, &attr))
		die("map lookup");
	return seen;
}

/* sets an option of SOL_SOCKET of each child that TCP makes; 0 or -1 */
int bpf_set_children(const struct cgroup *g, int option, int value)
{
	const struct bpf_insn insns[] = {
		LOAD_W(BPF_REG_2, BPF_REG_1, offsetof(struct bpf_sock_ops, op)),
		SKIP_UNLESS(BPF_REG_2, BPF_SOCK_OPS_PASSIVE_ESTABLISHED_CB, 8),
		MOV_IMM(BPF_REG_2, value),
		STORE_W(BPF_REG_10, -4, BPF_REG_2),
		MOV_IMM(BPF_REG_2, SOL_SOCKET),
		MOV_IMM(BPF_REG_3, option),
		MOV_REG(BPF_REG_4, BPF_REG_10),
		ADD_IMM(BPF_REG_4, -4),
		MOV_IMM(BPF_REG_5, 4),
		CALL(BPF_FUNC_setsockopt),
		MOV_IMM(BPF_REG_0, 1),
		EXIT(),
	};

	return bpf_attach(g, BPF_PROG_TYPE_SOCK_OPS, BPF_CGROUP_SOCK_OPS, insns,
			  sizeof(insns) / sizeof(insns[0]));
}
