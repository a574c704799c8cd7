/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Ring buffers and the pool of idle ones that each link group keeps.
 */
#ifndef SMC_BUF_H
#define SMC_BUF_H

#include "lgr.h"

/*
 * For what a connection needs that is charged to the program's control group.
 * Where there is no room it is plain TCP: no process is killed for it, also not
 * for single pages (as which kvmalloc() may get a ring).
 */
#define SMC_BUF_GFP	(GFP_KERNEL_ACCOUNT | __GFP_NOWARN | __GFP_NORETRY)

/**
 * struct smc_buf - memory of one ring
 * @node: in the group's pool while idle
 * @lru: in the list of all idle ones
 * @lgr: the group in whose pool it is
 * @dir: send or receive
 * @size: bytes of memory
 * @cpu: kernel address of the memory
 * @used: highest ring offset that may be non-zero (for zeroing before reuse)
 * @peer_may_write: the peer has not said that it is done with the ring, or has
 *	it mapped
 * @memcg: cgroup the memory is charged to, a reference; or NULL
 * @account: the peer's, which the memory is charged to, a reference
 * @user: account of the user whose connection has it, a reference; NULL while
 *	idle, or if the user has no limit
 */
struct smc_buf {
	struct list_head node;
	struct list_head lru;
	struct smc_lgr *lgr;
	enum smc_buf_dir dir;
	u32 size;
	u8 *cpu;
	u32 used;
	bool peer_may_write;
	struct mem_cgroup *memcg;
	struct smc_account *account;
	struct smc_account *user;
};

struct smc_buf *smc_buf_get(const struct smc_conn *conn, enum smc_buf_dir dir,
			    u32 size);
void smc_buf_put(struct smc_lgr *lgr, struct smc_buf *buf);
void smc_buf_pool_drain(struct smc_lgr *lgr);
void smc_buf_free_shed(struct smc_lgr *lgr);
int smc_buf_init(void);
void smc_buf_exit(void);

#endif /* SMC_BUF_H */
