// SPDX-License-Identifier: GPL-2.0
/*
 * Turns sockets of TCP into ones of SMC, for all programs or those of a cgroup,
 * however they are linked.  smc_activate.c loads it.
 *
 * The kernel asks turn() which protocol socket() means, before anything else:
 * the program, and what filters its system calls, see a socket of TCP.  The
 * module asks decide() before connect() and listen(), where the addresses are
 * known that a rule may be about.  decide() being attached keeps the module
 * loaded, so that there always is what turn() asks for.
 *
 * The names of structures and members are looked up in the running kernel
 * (CO-RE); there is no header of a kernel here.
 */
#include <stdbool.h>

#include <linux/bpf.h>
#include <linux/smc.h>
#include <bpf/bpf_helpers.h>
#include <bpf/bpf_core_read.h>
#include <bpf/bpf_endian.h>
#include <bpf/bpf_tracing.h>

#include "lib/activate.h"

#define AF_INET		2
#define AF_INET6	10
#define SOCK_STREAM	1
#define TYPE_MASK	0xf	/* what SOCK_NONBLOCK etc. leave */
#define PROTO_TCP	6
#define PROTO_SMC	256
#define PROTO_MPTCP	262	/* what Go's listeners ask for by default */
#define DEPTH_MAX	64	/* of cgroups */

/* The members that are read; their places are the running kernel's. */
#pragma clang attribute push(__attribute__((preserve_access_index)), \
			     apply_to = record)
struct qstr {
	const unsigned char *name;
};

struct dentry {
	struct qstr d_name;
};

struct path {
	struct dentry *dentry;
};

struct file {
	struct path f_path;
};

struct mm_struct {
	struct file *exe_file;
};

struct task_struct {
	struct task_struct *group_leader;
	struct mm_struct *mm;
	char comm[16];
};
#pragma clang attribute pop

char gpl[] SEC("license") = "GPL";

/* Constant for the kernel.  Filled in by the loader: so not for the compiler. */
struct activate_scope scope SEC(".rodata.scope");

/* sockets turned */
__u64 turned;

static bool in_scope(void)
{
	__u64 id;
	int i;

	if (!scope.cgroup)
		return true;
	for (i = 0; i < DEPTH_MAX; i++) {
		id = bpf_get_current_ancestor_cgroup_id(i);
		if (id == scope.cgroup)
			return true;
		if (!id)
			break;
	}
	return false;
}

struct name {
	char text[ACTIVATE_NAME_LEN];
};

/* A call of connect() or listen() */
struct call {
	__u32 addr[4];
	__u64 names;
	__u16 family;
	__u16 port;
	__u32 op;
};

/*
 * This function and the two for rules are not static, so that the verifier looks
 * at each of them once, and not at every pattern and rule in every way that leads
 * there.
 */
__attribute__((noinline))
int fits_name(const struct name *name, __u32 nr)
{
	if (!name || nr >= ACTIVATE_NAMES)
		return 0;
	return activate_fits(&scope.names[nr], name->text);
}

/*
 * The names that fit the program: the one that ps(1) shows, which a script gives
 * its interpreter, and that of the file.
 */
static __u64 our_names(void)
{
	struct task_struct *task = (void *)bpf_get_current_task();
	struct name comm = {}, file = {};
	const unsigned char *text;
	__u64 names = 0;
	__u32 i;

	if (!scope.num_names)
		return 0;
	BPF_CORE_READ_STR_INTO(&comm.text, task, group_leader, comm);
	text = BPF_CORE_READ(task, mm, exe_file, f_path.dentry, d_name.name);
	bpf_probe_read_kernel_str(file.text, sizeof(file.text), text);
	for (i = 0; i < ACTIVATE_NAMES && i < scope.num_names; i++)
		if (fits_name(&comm, i) || fits_name(&file, i))
			names |= 1ULL << i;
	return names;
}

static bool is_for(const struct activate_rule *rule, __u64 names)
{
	return !rule->programs || rule->programs & names;
}

#define ALLOWS	4	/* beside ACTIVATE_CONNECT and ACTIVATE_LISTEN */

/* The calls that a rule denies to a program in all cases, or ALLOWS. */
__attribute__((noinline))
int says_of_all(__u64 names, __u32 nr)
{
	const struct activate_rule *rule;

	if (nr >= ACTIVATE_RULES)
		return 0;
	rule = &scope.rules[nr];
	if (!is_for(rule, names))
		return 0;
	if (!rule->deny)
		return ALLOWS;
	return !rule->family && !rule->low && rule->high == 65535 ?
		rule->ops : 0;
}

/* Is there nothing that would use SMC?  As policy_denies_all(). */
static bool denies_all(__u64 names)
{
	__u32 i, says, left = ACTIVATE_BOTH;

	for (i = 0; i < ACTIVATE_RULES && i < scope.num_rules; i++) {
		says = says_of_all(names, i);
		if (says & ALLOWS)
			return false;
		left &= ~says;
		if (!left)
			return true;
	}
	return false;
}

SEC("fmod_ret/update_socket_protocol")
int BPF_PROG(turn, int family, int type, int protocol)
{
	if ((type & TYPE_MASK) != SOCK_STREAM ||
	    (protocol && protocol != PROTO_TCP && protocol != PROTO_MPTCP))
		return 0;
	if (!(family == AF_INET && scope.families & 1) &&
	    !(family == AF_INET6 && scope.families & 2))
		return 0;
	if (!in_scope() || (scope.num_rules && denies_all(our_names())))
		return 0;
	__sync_fetch_and_add(&turned, 1);
	return PROTO_SMC;
}

__attribute__((noinline))
int fits_rule(const struct call *call, __u32 nr)
{
	const struct activate_rule *rule;

	if (!call || nr >= ACTIVATE_RULES)
		return 0;
	rule = &scope.rules[nr];
	return is_for(rule, call->names) && rule->ops & call->op &&
	       call->port >= rule->low && call->port <= rule->high &&
	       (!rule->family || rule->family == call->family) &&
	       !((rule->addr[0] ^ call->addr[0]) & rule->mask[0]) &&
	       !((rule->addr[1] ^ call->addr[1]) & rule->mask[1]) &&
	       !((rule->addr[2] ^ call->addr[2]) & rule->mask[2]) &&
	       !((rule->addr[3] ^ call->addr[3]) & rule->mask[3]);
}

/* Does the first rule that fits deny?  As policy_match(). */
static bool is_denied(const struct call *call)
{
	__u32 i;

	for (i = 0; i < ACTIVATE_RULES && i < scope.num_rules; i++)
		if (fits_rule(call, i))
			return scope.rules[i].deny;
	return false;
}

SEC("raw_tp.w/smc_policy")
int decide(struct bpf_raw_tracepoint_args *ctx)
{
	struct smc_policy *policy = (void *)ctx->args[0];
	struct call call = {};

	if (!scope.num_rules || !in_scope())
		return 0;
	call.op = policy->listens ? ACTIVATE_LISTEN : ACTIVATE_CONNECT;
	call.port = bpf_ntohs(policy->port);
	call.family = policy->family;
	call.addr[0] = policy->addr[0];
	call.addr[1] = policy->addr[1];
	call.addr[2] = policy->addr[2];
	call.addr[3] = policy->addr[3];
	/* IPv4 in an IPv6 socket counts as IPv4 */
	if (!call.addr[0] && !call.addr[1] &&
	    call.addr[2] == bpf_htonl(0xffff)) {
		call.family = AF_INET;
		call.addr[0] = call.addr[3];
	}
	call.names = our_names();
	if (!is_denied(&call))
		return 0;
	/* read again: the verifier does not know the pointer from the stack */
	barrier_var(ctx);
	policy = (void *)ctx->args[0];
	policy->plain = 1;
	return 0;
}
