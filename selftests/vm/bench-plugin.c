// SPDX-License-Identifier: GPL-2.0
/*
 * bench-plugin - where the instructions are that a guest executes (bench.sh)
 *
 *	-plugin FILE.so,out=PATH
 *
 * A plugin of QEMU's TCG, compiled by bench.sh.  Between the two marks of a
 * program in the guest (smc/lib/mark.h) it counts instructions by their address;
 * the end mark writes PATH anew: lines ADDRESS COUNT, both hexadecimal.  The
 * address is that of a block of code, rounded down to 16 bytes, where the kernel's
 * functions begin; 0 is all of user space.  For one CPU.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../smc/lib/mark.h"
#include "qemu-plugin.h"

#define BITS		20
#define SLOTS		(1u << BITS)
#define USER_END	(1ull << 47)

QEMU_PLUGIN_EXPORT int qemu_plugin_version = 4;

/* the address that each counter is for; the first one is user space's */
static uint64_t where[SLOTS];
static unsigned int used;
static struct qemu_plugin_scoreboard *counters;
static const char *path;

static void stop(const char *what)
{
	fprintf(stderr, "bench-plugin: %s\n", what);
	exit(1);
}

/* A counter stays with its address, as often as the code is translated. */
static unsigned int slot_of(uint64_t addr)
{
	unsigned int i;

	if (addr < USER_END)
		return 0;
	addr &= ~15ull;
	i = addr * 0x9e3779b97f4a7c15ull >> (64 - BITS);
	while (!i || (where[i] && where[i] != addr))
		i = (i + 1) % SLOTS;
	if (!where[i]) {
		if (++used > SLOTS / 2)
			stop("too many addresses");
		where[i] = addr;
	}
	return i;
}

static void begin(unsigned int cpu, void *data)
{
	memset(qemu_plugin_scoreboard_find(counters, cpu), 0,
	       SLOTS * sizeof(uint64_t));
}

static void end(unsigned int cpu, void *data)
{
	const uint64_t *count = qemu_plugin_scoreboard_find(counters, cpu);
	FILE *out = fopen(path, "w");
	unsigned int i;

	if (!out)
		stop("the file cannot be made");
	for (i = 0; i < SLOTS; i++)
		if (count[i])
			fprintf(out, "%llx %llx\n", (unsigned long long)where[i],
				(unsigned long long)count[i]);
	if (fclose(out))
		stop("the file cannot be written");
}

/* 0 if the instruction is no mark */
static uint32_t mark_of(const struct qemu_plugin_insn *insn)
{
	uint32_t which;
	char bytes[8];

	if (qemu_plugin_insn_size(insn) != sizeof(bytes) ||
	    qemu_plugin_insn_data(insn, bytes, sizeof(bytes)) != sizeof(bytes) ||
	    memcmp(bytes, MARK_NOP, 4))
		return 0;
	memcpy(&which, bytes + 4, sizeof(which));
	return which;
}

static void translated(uint64_t id, struct qemu_plugin_tb *tb)
{
	unsigned int slot = slot_of(qemu_plugin_tb_vaddr(tb));
	struct qemu_plugin_u64 to = { counters, slot * sizeof(uint64_t) };
	size_t n = qemu_plugin_tb_n_insns(tb), i;
	qemu_plugin_exec_cb cb;

	qemu_plugin_register_vcpu_tb_exec_inline_per_vcpu(tb,
							  QEMU_PLUGIN_INLINE_ADD_U64,
							  to, n);
	for (i = 0; i < n; i++) {
		struct qemu_plugin_insn *insn = qemu_plugin_tb_get_insn(tb, i);

		switch (mark_of(insn)) {
		case MARK_BEGIN:
			cb = begin;
			break;
		case MARK_END:
			cb = end;
			break;
		default:
			continue;
		}
		qemu_plugin_register_vcpu_insn_exec_cb(insn, cb,
						       QEMU_PLUGIN_CB_NO_REGS,
						       NULL);
	}
}

QEMU_PLUGIN_EXPORT int qemu_plugin_install(uint64_t id, const void *info,
					   int argc, char **argv)
{
	if (argc != 1 || strncmp(argv[0], "out=", 4))
		return -1;
	path = strdup(argv[0] + 4);
	counters = qemu_plugin_scoreboard_new(SLOTS * sizeof(uint64_t));
	qemu_plugin_register_vcpu_tb_trans_cb(id, translated);
	return 0;
}
