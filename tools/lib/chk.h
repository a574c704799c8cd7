/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The steps of smc_chk.
 */
#ifndef TOOLS_CHK_H
#define TOOLS_CHK_H

#include <stdbool.h>

#include "diag.h"
#include "format.h"

/**
 * struct chk_options - what the user asked for
 * @host: host to try
 * @port: its port
 * @iface: network interface to use, or NULL
 * @server: wait for connections
 * @ipv6: use IPv6
 * @only_static: no connection
 * @only_live: nothing but the connection
 * @debug: say more
 */
struct chk_options {
	const char *host;
	const char *port;
	const char *iface;
	bool server;
	bool ipv6;
	bool only_static;
	bool only_live;
	bool debug;
};

int chk_run(const struct chk_options *opt);
int chk_connect(const struct chk_options *opt);
int chk_serve(const struct chk_options *opt);

int chk_verdict(const struct chk_options *opt, const struct diag_row *row);
int chk_find(int fd, struct diag_row *row);
void chk_step(const char *what, const char *format, ...) __printf(2, 3);
void chk_advice(const char *format, ...) __printf(1, 2);
int chk_no_smc(int err);
int chk_socket(int family);

#endif /* TOOLS_CHK_H */
