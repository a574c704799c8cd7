/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What smc_activate and its BPF program (activate.bpf.c) have in common.
 */
#ifndef SMC_TOOLS_ACTIVATE_H
#define SMC_TOOLS_ACTIVATE_H

#include <linux/types.h>

#define ACTIVATE_RULES		256	/* of a file, as POLICY_MAX */
#define ACTIVATE_NAMES		64	/* bits of activate_rule.programs */
#define ACTIVATE_NAME_LEN	64	/* of a program, with the final NUL */
#define ACTIVATE_CONNECT	1	/* as POLICY_CONNECT */
#define ACTIVATE_LISTEN		2
#define ACTIVATE_BOTH		(ACTIVATE_CONNECT | ACTIVATE_LISTEN)

/**
 * struct activate_rule - a rule, in the form in which it is looked at
 * @programs: bits of activate_scope.names, 0 is for all programs
 * @addr: as struct smc_policy has it
 * @mask: the bits of @addr that count
 * @family: AF_INET, AF_INET6; 0 is any address
 * @low: first port
 * @high: last port
 * @deny: plain TCP; otherwise SMC
 * @ops: ACTIVATE_CONNECT, ACTIVATE_LISTEN or both
 */
struct activate_rule {
	__u64 programs;
	__u32 addr[4];
	__u32 mask[4];
	__u16 family;
	__u16 low, high;
	__u8 deny;
	__u8 ops;
};

/**
 * struct activate_name - a pattern as a machine whose states are bits
 * @next: for each byte the states from which it leads to the next state
 * @stay: the states that every byte leaves as they are: a '*'
 * @end: the state in which a name has to end
 */
struct activate_name {
	__u64 next[256];
	__u64 stay;
	__u64 end;
};

/* Room for paths, which are for people */
#define ACTIVATE_PATH	512

/**
 * struct activate_scope - what a program is told when it is loaded
 * @cgroup: processes in and below this one; 0 is all
 * @families: bit 0: AF_INET, bit 1: AF_INET6 have IPPROTO_SMC
 * @num_rules: entries of @rules
 * @num_names: entries of @names
 * @path: of the cgroup
 * @file: where the rules are from
 */
struct activate_scope {
	__u64 cgroup;
	__u32 families;
	__u32 num_rules;
	__u32 num_names;
	__u32 pad;
	struct activate_rule rules[ACTIVATE_RULES];
	struct activate_name names[ACTIVATE_NAMES];
	char path[ACTIVATE_PATH];
	char file[ACTIVATE_PATH];
};

/**
 * activate_fits() - is this a name that the pattern means?
 * @p: pattern
 * @name: ACTIVATE_NAME_LEN bytes, of which the last is 0
 */
static inline int activate_fits(const struct activate_name *p,
				const char *name)
{
	__u64 states = 1;
	__u8 c;
	int i;

	for (i = 0; i < ACTIVATE_NAME_LEN - 1; i++) {
		c = name[i];
		if (!c)
			break;
		states = (states & p->next[c]) << 1 | (states & p->stay);
	}
	return !!(states & p->end);
}

/* activate.bpf.o, which is in smc_activate */
extern const char activate_object[];
extern const char activate_object_end[];

/* lib/activate.c */
int activate_compile(struct activate_name *p, const char *pattern);

#endif
