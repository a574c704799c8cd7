/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Which connections of a program use SMC: the rules of smc_run(8).
 */
#ifndef SMC_TOOLS_POLICY_H
#define SMC_TOOLS_POLICY_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/socket.h>

#define POLICY_MAX	256	/* rules that apply to one program */
#define POLICY_NAMES	64	/* names in the headings of a file */

/* What a rule is about */
#define POLICY_CONNECT	1
#define POLICY_LISTEN	2
#define POLICY_BOTH	(POLICY_CONNECT | POLICY_LISTEN)

/**
 * struct policy_rule - one line of the file
 * @deny: plain TCP; otherwise SMC
 * @ops: POLICY_CONNECT, POLICY_LISTEN or both
 * @family: AF_INET, AF_INET6; 0 is any address
 * @addr: in network byte order
 * @prefix: leading bits of @addr that count
 * @low: first port
 * @high: last port
 * @line: where it is written
 * @programs: bits of struct policy_names: it is for these; 0 is for all
 */
struct policy_rule {
	bool deny;
	uint8_t ops;
	uint16_t family;
	uint8_t addr[16];
	unsigned int prefix;
	uint16_t low, high;
	unsigned int line;
	uint64_t programs;
};

/**
 * struct policy_names - the programs that a file names
 * @num: entries of @name
 * @name: patterns, words of the headings
 */
struct policy_names {
	unsigned int num;
	char name[POLICY_NAMES][64];
};

/**
 * struct policy - the rules for one program, constant once they are read
 * @broken: they could not be read: everything is plain TCP
 * @num: entries of @rules
 * @rules: in the order of the file
 */
struct policy {
	bool broken;
	unsigned int num;
	struct policy_rule rules[POLICY_MAX];
};

void policy_load(struct policy *p, const char *path, bool may_lack,
		 const char *const *names);
void policy_load_all(struct policy *p, const char *path, bool may_lack,
		     struct policy_names *all);
const struct policy_rule *policy_match(const struct policy *p, int op,
				       const struct sockaddr *sa,
				       socklen_t len);
bool policy_denies_all(const struct policy *p);

#endif
