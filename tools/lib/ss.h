/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What smcss prints: which sockets, which columns.
 */
#ifndef TOOLS_SS_H
#define TOOLS_SS_H

#include <stdbool.h>
#include <stdio.h>

#include "diag.h"
#include "ss_filter.h"

enum {				/* states with a meaning here */
	SS_INIT		= 2,
	SS_CLOSED	= 7,
	SS_LISTEN	= 10,
};

/**
 * struct ss_options - what the user asked for
 * @all: also sockets which listen or are not connected
 * @listening: only sockets which listen
 * @details: columns of the connection's state
 * @smcr: only SMC-R, with the columns of its link
 * @smcd: only SMC-D, with the columns of its buffers
 * @wide: do not cut long addresses
 * @info: lines with all that is known
 * @json: everything, as JSON
 * @filter: only such sockets
 */
struct ss_options {
	bool all;
	bool listening;
	bool details;
	bool smcr;
	bool smcd;
	bool wide;
	bool info;
	bool json;
	struct ss_filter filter;
};

const char *ss_state_name(unsigned int state);
bool ss_has_mode(const struct diag_row *row);
unsigned int ss_ext(const struct ss_options *opt);
bool ss_wanted(const struct ss_options *opt, const struct diag_row *row);
void ss_print_header(FILE *out, const struct ss_options *opt);
void ss_print_row(FILE *out, const struct ss_options *opt,
		  const struct diag_row *row);
void ss_print_info(FILE *out, const struct diag_row *row);
void ss_print_json(const struct diag_row *row);

#endif /* TOOLS_SS_H */
