/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Deviations from TCP that are documented in
 * Documentation/networking/smc/deviations.rst, as the tester knows them.  A
 * script that shows one is not looked at beyond that call: what follows from
 * it would differ, too.
 */
#ifndef SMC_DIFFTEST_RULES_H
#define SMC_DIFFTEST_RULES_H

#include "difftest_calls.h"

struct rule {
	const char *name;
	/* is this what makes the answers of the call differ? */
	bool (*explains)(const struct script *sc, int call, const char *tcp,
			 const char *smc);
};

static const struct rule rules[] = {
	{ NULL, NULL },
};

static bool rules_on;
static int rule_counts[sizeof(rules) / sizeof(*rules)];

static inline const struct rule *rule_find(const struct script *sc, int call,
					   const char *tcp, const char *smc)
{
	const struct rule *r;

	for (r = rules; rules_on && r->name; r++)
		if (r->explains(sc, call, tcp, smc))
			return r;
	return NULL;
}

static inline void rule_count(const struct rule *r)
{
	rule_counts[r - rules]++;
}

static inline void rule_report(void)
{
	const struct rule *r;

	for (r = rules; r->name; r++)
		if (rule_counts[r - rules])
			printf("# deviation '%s': %d scripts\n", r->name,
			       rule_counts[r - rules]);
}

#endif /* SMC_DIFFTEST_RULES_H */
