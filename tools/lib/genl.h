/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Requests to the generic netlink families SMC_GEN_NETLINK and SMC_PNETID.
 */
#ifndef TOOLS_GENL_H
#define TOOLS_GENL_H

#include <stddef.h>
#include <stdint.h>

#include <linux/netlink.h>
#include <linux/smc.h>

/**
 * struct genl_attrs - attributes of a message or a nest, by number
 * @at: address of the attribute, NULL if it did not come
 *
 * Room for all numbers in use, those of this module from 256 on included;
 * larger ones are skipped.
 */
#define GENL_ATTRS	272
struct genl_attrs {
	const struct nlattr *at[GENL_ATTRS];
};

/**
 * struct genl_arg - an attribute of a request
 * @type: number
 * @data: payload
 * @len: its length in bytes
 */
struct genl_arg {
	int type;
	const void *data;
	size_t len;
};

/**
 * typedef genl_fn - called for each message of an answer
 * @cmd: command in its header
 * @attrs: its top level
 * @arg: as given
 *
 * Return: 0, anything else ends the request with that result.
 */
typedef int (*genl_fn)(int cmd, const struct genl_attrs *attrs, void *arg);

int genl_dump(const char *family, int cmd, genl_fn fn, void *arg);
int genl_do(const char *family, int cmd, const struct genl_arg *args,
	    size_t num);
int genl_complain(int rc, const char *what);
int genl_explain(int rc, const char *what, const char *why);

void genl_nest(struct genl_attrs *attrs, const struct genl_attrs *outer,
	       int type);
uint64_t genl_uint(const struct genl_attrs *attrs, int type);
const char *genl_str(const struct genl_attrs *attrs, int type);
const char *genl_devname(uint64_t ifindex);

#endif /* TOOLS_GENL_H */
