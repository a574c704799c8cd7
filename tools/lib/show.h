/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The objects of smcr and smcd.
 *
 * Each function runs one command: it takes what follows the command and
 * returns the exit status.
 */
#ifndef TOOLS_SHOW_H
#define TOOLS_SHOW_H

#include <stdint.h>

#include "genl.h"
#include "tool.h"

/* the commands of objects that both programs have */
extern const struct tool_command info_commands[];
extern const struct tool_command ueid_commands[];

int show_lgr_r(int argc, char **argv);
int show_link_r(int argc, char **argv);
int show_lgr_d(int argc, char **argv);

int show_dev_r(int argc, char **argv);
int show_dev_d(int argc, char **argv);
const char *dev_type_name(uint64_t pci_device);

int stats_show_r(int argc, char **argv);
int stats_reset_r(int argc, char **argv);
int stats_json_r(int argc, char **argv);
int stats_show_d(int argc, char **argv);
int stats_reset_d(int argc, char **argv);
int stats_json_d(int argc, char **argv);

int seid_show(int argc, char **argv);
int seid_enable(int argc, char **argv);
int seid_disable(int argc, char **argv);

#endif /* TOOLS_SHOW_H */
