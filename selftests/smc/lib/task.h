/* SPDX-License-Identifier: GPL-2.0 */
/* Threads and processes that have to be asleep before a test goes on. */
#ifndef SMC_SELFTEST_TASK_H
#define SMC_SELFTEST_TASK_H

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

struct task {
	pthread_t thread;
	int tid;		/* 0 until it runs */
	void *(*fn)(void *arg);
	void *arg;
};

void task_start(struct task *t, void *(*fn)(void *arg), void *arg);
void *task_join(struct task *t);
bool task_sleeps(struct task *t);
bool process_sleeps(pid_t pid);
bool process_asleep(pid_t pid);
bool child_ok(pid_t pid);
void *shared_memory(size_t len);

#endif /* SMC_SELFTEST_TASK_H */
