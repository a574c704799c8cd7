/* SPDX-License-Identifier: GPL-2.0 */
/*
 * "all", "LG-ID", "netdev NAME", "ibdev NAME" on the command line.
 */
#ifndef TOOLS_FILTER_H
#define TOOLS_FILTER_H

#include <stdbool.h>
#include <stdint.h>

enum {				/* what a command may be narrowed by */
	FILTER_ID	= 1,
	FILTER_DEV	= 2,
};

/**
 * struct filter - what to show
 * @have_id: only link group @id
 * @id: its number
 * @netdev: only this network interface, NULL for all
 * @ibdev: only this RDMA device, NULL for all
 */
struct filter {
	bool have_id;
	uint32_t id;
	const char *netdev;
	const char *ibdev;
};

int filter_parse(struct filter *f, int may, int argc, char **argv);
bool filter_dev(const struct filter *f, const char *netdev, const char *ibdev);

#endif /* TOOLS_FILTER_H */
