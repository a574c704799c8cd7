/* SPDX-License-Identifier: GPL-2.0 */
/*
 * v6.7: shrinkers are allocated.  Before, the owner provided the memory.  Here
 * a shrinker that cannot be registered does nothing.
 */
#ifndef SMC_COMPAT_SHRINKER_H
#define SMC_COMPAT_SHRINKER_H

#include_next <linux/shrinker.h>
#include <linux/slab.h>

static inline struct shrinker *shrinker_alloc(unsigned int flags,
					      const char *name)
{
	struct shrinker *s = kzalloc(sizeof(*s), GFP_KERNEL);

	if (s) {
		s->flags = flags;
		s->seeks = DEFAULT_SEEKS;
	}
	return s;
}

#define shrinker_register(s) ((void)!register_shrinker(s, "smc"))

static inline void shrinker_free(struct shrinker *s)
{
	unregister_shrinker(s);
	kfree(s);
}

#endif /* SMC_COMPAT_SHRINKER_H */
