/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What smcss prints: which sockets, which columns.
 */
#ifndef TOOLS_SS_H
#define TOOLS_SS_H

#include <stdbool.h>
#include <stdio.h>

#include "diag.h"

/**
 * struct ss_options - what the user asked for
 * @all: also sockets which listen or are not connected
 * @listening: only sockets which listen
 * @details: columns of the connection's state
 * @smcr: only SMC-R, with the columns of its link
 * @smcd: only SMC-D, with the columns of its buffers
 * @wide: do not cut long addresses
 */
struct ss_options {
	bool all;
	bool listening;
	bool details;
	bool smcr;
	bool smcd;
	bool wide;
};

unsigned int ss_ext(const struct ss_options *opt);
bool ss_wanted(const struct ss_options *opt, const struct diag_row *row);
void ss_print_header(FILE *out, const struct ss_options *opt);
void ss_print_row(FILE *out, const struct ss_options *opt,
		  const struct diag_row *row);

#endif /* TOOLS_SS_H */
