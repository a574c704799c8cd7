// SPDX-License-Identifier: GPL-2.0
/*
 * difftest - a socket of ours gives the answers TCP gives
 *
 * Random scripts of socket calls, each made from a seed, run on TCP sockets
 * and on sockets of another kind; return values, errno, bytes, poll masks and
 * SIGPIPE of each call are compared.  A script that shows a difference is
 * made as short as possible and printed as text which -r runs again.
 *
 *	difftest_script.c	scripts and their text
 *	difftest_gen.c		their generator
 *	difftest_model.c	what is known about a connection, waiting
 *	difftest_run.c		data calls
 *	difftest_calls.c	other calls, the run of a script
 *	difftest_rules.c	deviations that are documented
 *
 * With -k tcp TCP is compared with TCP, which shows that the tester itself is
 * deterministic.  Which way SMC connections go is the caller's to choose
 * (net.smc.transports); -t makes sure that they went that way.
 */
#include "difftest.h"

#include "kselftest.h"

static struct run runs[2];
static bool verbose;

static void on_sigpipe(int sig)
{
	sigpipes++;
}

static void on_alarm(int sig)
{
}

static void signals_init(void)
{
	struct sigaction sa = { .sa_handler = on_sigpipe };

	sigaction(SIGPIPE, &sa, NULL);
	sa.sa_handler = on_alarm;
	sigaction(SIGALRM, &sa, NULL);
}

/* A listener for each size of ring and kind, made when it is needed. */
static int listener_for(struct run *run, int which)
{
	static int fds[2][NUM_RINGS];
	unsigned int i = 0;

	while (ring_sizes[i] != run->ring)
		if (++i == NUM_RINGS)
			die("no rings of %d bytes", run->ring);
	if (!fds[which][i])
		fds[which][i] = make_listener(run);
	return fds[which][i];
}

/*
 * Runs a script on both.  Returns the first call answered differently, -1 if
 * there is none; *rule is the deviation that explains it, if one does.
 */
static int compare(const struct script *sc, const struct rule **rule)
{
	int i, lines = sc->n + NUM_SLOTS;

	for (i = 0; i < 2; i++) {
		runs[i].ring = sc->ring;
		runs[i].listener = listener_for(&runs[i], i);
		script_run(&runs[i], sc);
	}
	*rule = NULL;
	for (i = 0; i < lines; i++) {
		if (!strcmp(runs[0].trace[i], runs[1].trace[i]))
			continue;
		*rule = rule_find(sc, i, runs[0].trace[i], runs[1].trace[i]);
		return i;
	}
	return -1;
}

static void show(const struct script *sc)
{
	int i;

	for (i = 0; i < sc->n + NUM_SLOTS; i++) {
		const char *a = runs[0].trace[i], *b = runs[1].trace[i];

		if (i >= sc->n && !strcmp(a, b) && *a == '-')
			continue;
		printf("# %s ", strcmp(a, b) ? "->" : "  ");
		if (i < sc->n)
			op_print(stdout, &sc->op[i]);
		else
			printf("end %c", SLOT_NAMES[i - sc->n]);
		if (strcmp(a, b))
			printf(": TCP '%s', here '%s'\n", a, b);
		else
			printf(": %s\n", a);
	}
}

static bool still_fails(const struct script *sc)
{
	const struct rule *rule;

	return compare(sc, &rule) >= 0 && !rule;
}

static bool shrink_ops(struct script *sc)
{
	bool changed = false;
	struct script t;
	int len, i;

	for (len = sc->n / 2; len; len /= 2)
		for (i = 0; i + len <= sc->n; ) {
			t = *sc;
			memmove(t.op + i, t.op + i + len,
				(t.n - i - len) * sizeof(*t.op));
			t.n -= len;
			if (still_fails(&t)) {
				*sc = t;
				changed = true;
			} else {
				i++;
			}
		}
	return changed;
}

/* One simplification of one call; false when there are no more. */
static bool simpler(struct op *op, int how)
{
	if (how < 2) {
		int *num = &op->num[how];

		if (op_info[op->code].nums <= how || *num < 2)
			return true;
		*num = op->code == OP_XFER && how ? 65536 : *num / 2;
		if (op->hole >= op->num[0])
			op->hole = -1;
		return true;
	}
	switch (how) {
	case 2: case 3:
		if (op_info[op->code].nums > how - 2 && op->num[how - 2] > 1)
			op->num[how - 2]--;
		return true;
	case 4:
		op->iov = 0;
		return true;
	case 5:
		op->hole = -1;
		return true;
	}
	how -= 6;
	if (how >= NUM_FLAG_WORDS)
		return false;
	op->flags &= ~flag_words[how].flag;
	return true;
}

static bool shrink_op(struct script *sc, int i)
{
	bool changed = false;
	struct script t;
	int how;

	for (how = 0; ; how++) {
		t = *sc;
		if (!simpler(&t.op[i], how))
			return changed;
		if (!memcmp(&t, sc, sizeof(t)) || !still_fails(&t))
			continue;
		*sc = t;
		changed = true;
		/* halves again; single steps are for small numbers */
		if (how < 2 || (how < 4 && t.op[i].num[how - 2] < 20))
			how--;
	}
}

static void shrink(struct script *sc)
{
	uint64_t end = now_ns() + 60000000000ULL;
	bool changed;
	int i;

	do {
		changed = shrink_ops(sc);
		for (i = 0; i < sc->n; i++)
			changed |= shrink_op(sc, i);
	} while (changed && now_ns() < end);
}

/* one line */
static void report_first(const struct script *sc, int i)
{
	printf("# seed %u, call %d, ", sc->seed, i);
	if (i < sc->n)
		op_print(stdout, &sc->op[i]);
	else
		printf("end %c", SLOT_NAMES[i - sc->n]);
	printf(": TCP '%s', here '%s'\n", runs[0].trace[i], runs[1].trace[i]);
	fflush(stdout);
}

static void report(struct script *sc)
{
	int fails = 0, i;

	/* it may never come again, and what follows takes a while */
	show(sc);
	fflush(stdout);
	for (i = 0; i < 5; i++)
		fails += still_fails(sc);
	printf("# seed %u: a difference, %d of 5 times again\n", sc->seed,
	       fails);
	if (fails) {
		shrink(sc);
		for (i = 0; i < 100 && !still_fails(sc); i++)
			;
		script_print(stdout, sc);
		show(sc);
	}
	fflush(stdout);
}

static const struct transport {
	const char *name, *counter;
} transports[] = {
	{ "smcd", "HsServerSmcd" }, { "smcr", "HsServerSmcr" },
	{ "fallback", "HsClientTcp" }, { "tcp", "SockCreated" },
};

static const struct transport *transport_find(const char *name)
{
	unsigned int i;

	for (i = 0; i < ARRAY_LEN(transports); i++)
		if (!strcmp(name, transports[i].name))
			return &transports[i];
	errno = 0;
	die("no transport '%s'", name);
}

static void usage(void)
{
	fprintf(stderr,
		"difftest [-k KIND] [-t TRANSPORT] [-a ADDRESS] [-s SEED] [-n SCRIPTS]\n"
		"         [-m MAX] [-i US] [-w MS] [-v] [-p] [-x] [-r FILE...]\n"
		"  -k  " KIND_HELP "\n"
		"  -t  what it has to be: smcd, smcr, fallback or tcp\n"
		"  -a  address of both ends, 127.0.0.1\n"
		"  -s  first seed, 1; -n  number of scripts, 2000\n"
		"  -m  stop after MAX differences, 10\n"
		"  -i  interrupt blocking calls after US, 3000\n"
		"  -w  wait at most MS (scaled) for what must arrive, 5000\n"
		"  -v  show all answers; -p  print the scripts only\n"
		"  -x  only one line for each difference\n"
		"  -r  run these files instead of random scripts\n");
	exit(2);
}

struct todo {
	unsigned int seed;
	int scripts, max;
	char **files;
	bool small, print;
	const struct transport *tr;
};

static int scripts_run, excused;

/* Runs one script, of a file or random; true if it shows a difference. */
static bool differs(const struct todo *todo, struct script *sc)
{
	const struct rule *rule;
	int first;

	first = compare(sc, &rule);
	scripts_run++;
	if (first < 0) {
		if (verbose) {
			printf("# seed %u\n", sc->seed);
			show(sc);
		}
		return false;
	}
	if (verbose || (todo->files && !rule))
		show(sc);
	if (rule) {
		excused++;
		rule_count(rule);
		return false;
	}
	if (!todo->files && todo->small)
		report(sc);
	else if (!todo->files)
		report_first(sc, first);
	return true;
}

static void run_files(const struct todo *todo)
{
	static struct script sc;
	int i;

	for (i = 0; i < todo->scripts; i++) {
		script_read(&sc, todo->files[i]);
		ksft_test_result(!differs(todo, &sc), "%s\n", todo->files[i]);
	}
}

static void run_random(const struct todo *todo)
{
	static struct script sc;
	int i, bad = 0;

	for (i = 0; i < todo->scripts && bad < todo->max; i++) {
		script_make(&sc, todo->seed + i);
		bad += differs(todo, &sc);
	}
	ksft_print_msg("%d scripts, %d with a difference, %d more by documented deviations\n",
		       i, bad, excused);
	ksft_test_result(!bad, "%d scripts from seed %u on\n", todo->scripts,
			 todo->seed);
}

/* One test for each file or for all random scripts, and what goes for all. */
static void run_all(const struct todo *todo)
{
	const struct transport *tr = todo->tr;
	long before = tr ? smc_counter(tr->counter) : 0, rose;

	ksft_print_header();
	ksft_set_plan((todo->files ? todo->scripts : 1) + rules_on + !!tr);
	if (todo->files)
		run_files(todo);
	else
		run_random(todo);
	if (rules_on)
		ksft_test_result(!rule_report(scripts_run),
				 "no deviation explains too much\n");
	if (!tr)
		return;
	rose = smc_counter(tr->counter) - before;
	ksft_print_msg("%s rose by %ld\n", tr->counter, rose);
	ksft_test_result(strcmp(tr->name, "tcp") ? rose >= scripts_run : !rose,
			 "this was %s\n", tr->name);
}

static void print_all(const struct todo *todo)
{
	static struct script sc;
	int i;

	for (i = 0; i < todo->scripts; i++) {
		if (todo->files)
			script_read(&sc, todo->files[i]);
		else
			script_make(&sc, todo->seed + i);
		script_print(stdout, &sc);
	}
}

static void parse_options(int argc, char **argv, struct todo *todo)
{
	int c;

	while ((c = getopt(argc, argv, "k:t:a:s:n:m:i:w:vpxr")) != -1) {
		switch (c) {
		case 'k':
			config.kind = parse_kind(optarg);
			break;
		case 't':
			todo->tr = transport_find(optarg);
			break;
		case 'a':
			config.host = optarg;
			break;
		case 's':
			todo->seed = strtoul(optarg, NULL, 0);
			break;
		case 'n':
			todo->scripts = atoi(optarg);
			break;
		case 'm':
			todo->max = atoi(optarg);
			break;
		case 'i':
			config.tick_us = atoi(optarg);
			break;
		case 'w':
			config.wait_ms = atoi(optarg);
			break;
		case 'v':
			verbose = true;
			break;
		case 'p':
			todo->print = true;
			break;
		case 'x':
			todo->small = false;
			break;
		case 'r':
			todo->files = argv;
			break;
		default:
			usage();
		}
	}
	if (todo->files) {
		todo->files = argv + optind;
		todo->scripts = argc - optind;
	}
	/* with none there is no difference */
	if (todo->scripts < 1 || todo->max < 1)
		usage();
}

int main(int argc, char **argv)
{
	struct todo todo = { .seed = 1, .scripts = 2000, .max = 10,
			     .small = true };

	parse_options(argc, argv, &todo);
	if (todo.print) {
		print_all(&todo);
		return 0;
	}
	config.wait_ms = limit_ms(config.wait_ms);
	config.smc = todo.tr && !strncmp(todo.tr->name, "smc", 3);
	runs[0].kind = KIND_TCP;
	runs[1].kind = config.kind;
	runs[1].smc = config.smc;
	rules_on = config.smc;
	rules_tcp = &runs[0];
	rules_rdma = todo.tr && !strcmp(todo.tr->name, "smcr");
	memory_init();
	signals_init();
	run_all(&todo);
	ksft_finished();
}
