/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What link groups of SMC-R and SMC-D have in common.
 */
#ifndef TOOLS_LGR_H
#define TOOLS_LGR_H

#include <stdbool.h>
#include <stdint.h>

#include "format.h"
#include "genl.h"

/**
 * struct lgr_v2 - what version 2 of the protocol tells about the peer
 * @have: the link group uses version 2
 * @ver: version
 * @rel: release
 * @os: operating system
 * @eid: the EID both have
 * @host: name of the peer
 */
struct lgr_v2 {
	bool have;
	unsigned int ver;
	unsigned int rel;
	unsigned int os;
	char eid[40];
	char host[40];
};

void lgr_parse_v2(struct lgr_v2 *v2, const struct genl_attrs *lgr, int type);
void lgr_print_v2(const struct lgr_v2 *v2, const bool *direct);
void lgr_json_v2(const struct lgr_v2 *v2);
unsigned int lgr_vlan(const struct genl_attrs *lgr, int type);
void lgr_field(const char *name, const char *format, ...)
	__printf(2, 3);

#endif /* TOOLS_LGR_H */
