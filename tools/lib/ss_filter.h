/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Which sockets: by address, port, state and mode.
 */
#ifndef TOOLS_SS_FILTER_H
#define TOOLS_SS_FILTER_H

#include <stdbool.h>
#include <stdint.h>

#include "diag.h"

/**
 * struct ss_end - addresses and ports of one end
 * @bits: how many bits of @addr count, 0 for any address
 * @v6: @addr is one of IPv6
 * @addr: in network byte order
 * @port: 0 for any
 */
struct ss_end {
	unsigned int bits;
	bool v6;
	uint8_t addr[16];
	uint16_t port;
};

/**
 * struct ss_filter - what a socket must be like
 * @local: its address
 * @peer: the address of the other end
 * @port: of either end, 0 for any
 * @states: 1 << state of each one wanted, 0 for any
 * @modes: 1 << mode of each one wanted, 0 for any
 */
struct ss_filter {
	struct ss_end local;
	struct ss_end peer;
	uint16_t port;
	uint64_t states;
	unsigned int modes;
};

bool ss_filter_end(struct ss_end *end, const char *text);
bool ss_filter_port(struct ss_filter *f, const char *text);
bool ss_filter_states(struct ss_filter *f, const char *list);
bool ss_filter_modes(struct ss_filter *f, const char *list);
bool ss_filter_match(const struct ss_filter *f, const struct diag_row *row);

#endif /* TOOLS_SS_FILTER_H */
