// SPDX-License-Identifier: GPL-2.0
/*
 * Threads and processes that have to be asleep before a test goes on.  The
 * kernel says whether they are: /proc/self/task/TID/stat, /proc/PID/stat.
 * Tested by its users.
 */
#include "task.h"
#include "util.h"
#include "wait.h"

#include <sys/mman.h>
#include <sys/wait.h>

static void *task_main(void *arg)
{
	struct task *t = arg;

	__atomic_store_n(&t->tid, gettid(), __ATOMIC_RELEASE);
	return t->fn(t->arg);
}

void task_start(struct task *t, void *(*fn)(void *arg), void *arg)
{
	t->tid = 0;
	t->fn = fn;
	t->arg = arg;
	errno = pthread_create(&t->thread, NULL, task_main, t);
	if (errno)
		die("pthread_create");
}

void *task_join(struct task *t)
{
	void *res;

	errno = pthread_join(t->thread, &res);
	if (errno)
		die("pthread_join");
	return res;
}

/* the letter of a stat file, 0 if there is none any more */
static char state_of(const char *path)
{
	char line[512];
	const char *end;

	/* the name before the state may contain anything */
	end = strrchr(first_line(path, line, sizeof(line)), ')');
	return end && end[1] ? end[2] : 0;
}

static bool asleep(char state)
{
	return state == 'S' || state == 'D';
}

/*
 * Waits until a task sleeps; false if it ends instead, or does not within
 * WAIT_MS.  On its way to where it will sleep it may do so for a moment, so it
 * has to be found asleep five times in a row.
 */
static bool sleeps(const char *path)
{
	uint64_t end = now_ns() + WAIT_MS * 1000000ULL;
	int found = 0;
	char state;

	while (found < 5) {
		state = state_of(path);
		if (!state || strchr("ZXx", state) || now_ns() > end)
			return false;
		found = asleep(state) ? found + 1 : 0;
		usleep(1000);
	}
	return true;
}

bool task_sleeps(struct task *t)
{
	char path[64];

	if (!wait_flag(&t->tid))
		return false;
	snprintf(path, sizeof(path), "/proc/self/task/%d/stat", t->tid);
	return sleeps(path);
}

bool process_sleeps(pid_t pid)
{
	char path[64];

	snprintf(path, sizeof(path), "/proc/%d/stat", pid);
	return sleeps(path);
}

/* Is it asleep at this moment? */
bool process_asleep(pid_t pid)
{
	char path[64];

	snprintf(path, sizeof(path), "/proc/%d/stat", pid);
	return asleep(state_of(path));
}

/* ended, and said 0 */
bool child_ok(pid_t pid)
{
	int status;

	return waitpid(pid, &status, 0) == pid && !status;
}

/* zeroes that children see, too */
void *shared_memory(size_t len)
{
	void *p = mmap(NULL, len, PROT_READ | PROT_WRITE,
		       MAP_SHARED | MAP_ANONYMOUS, -1, 0);

	if (p == MAP_FAILED)
		die("mmap");
	return p;
}
