/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Colours of what is printed.
 */
#ifndef TOOLS_PAINT_H
#define TOOLS_PAINT_H

#include <stdbool.h>

enum paint {
	PAINT_NONE,		/* back to normal */
	PAINT_PLAIN,		/* as it is */
	PAINT_GOOD,
	PAINT_WARN,
	PAINT_BAD,
	PAINT_HEAD,
};

bool paint_option(const char *when);
void paint_start(void);
bool paint_wanted(void);
const char *paint(enum paint how);

#endif /* TOOLS_PAINT_H */
