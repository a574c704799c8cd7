// SPDX-License-Identifier: GPL-2.0
/*
 * smctop on a terminal, with ncurses.
 *
 * Looks every so often and answers keys in between.  Messages of the libraries
 * below go to the last line, as the terminal is not theirs now.
 *
 * Tests: tools/tests/screen.py.
 */
#include <curses.h>
#include <signal.h>
#include <stdatomic.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "replay.h"
#include "tool.h"
#include "top.h"

#define STEP_MS	100		/* the delay changes by this much */
#define KEY_ESC	27

/* At the bottom; also what the manual says. */
static const char keys_text[] =
"q quit  space pause  g links  a TCP  s sort  r reverse  +- delay  arrows";

/**
 * struct screen - what is on it
 * @opt: what the user wants to see
 * @now: the last look
 * @before: the one before
 * @looks: how many there were
 * @skip: rows above the first one shown
 * @paused: no more looks
 * @said: last message
 */
struct screen {
	struct top_options *opt;
	struct top_sample now;
	struct top_sample before;
	unsigned int looks;
	size_t skip;
	bool paused;
	char said[128];
};

static atomic_bool ended;	/* by a signal */

static void on_signal(int sig)
{
	ended = true;
}

static attr_t attr_of(enum paint how)
{
	attr_t attr = how == PAINT_HEAD ? A_REVERSE : A_NORMAL;

	if (has_colors() && paint_wanted() &&
	    (how == PAINT_GOOD || how == PAINT_WARN || how == PAINT_BAD))
		attr |= COLOR_PAIR(how);
	else if (how == PAINT_BAD)
		attr |= A_BOLD;
	return attr;
}

/* Next line, as long as there is room above the last one. */
static void draw_line(enum paint how, const char *text, void *arg)
{
	int *row = arg;

	if (*row >= LINES - 1)
		return;
	attrset(attr_of(how));
	mvaddnstr(*row, 0, text, COLS);
	if (how == PAINT_HEAD)
		hline(' ' | A_REVERSE, COLS);
	attrset(A_NORMAL);
	(*row)++;
}

static void draw(struct screen *sc)
{
	char bottom[256];
	int row = 0;

	erase();
	if (sc->skip >= top_num_rows(sc->opt, &sc->now))
		sc->skip = 0;
	top_print_totals(&sc->now, sc->looks > 1 ? &sc->before : &sc->now,
			 draw_line, &row);
	if (top_print_table(sc->opt, &sc->now, sc->skip, draw_line, &row))
		tool_say("out of memory");
	snprintf(bottom, sizeof(bottom), "%sby %s, every %u.%u s  %.128s",
		 sc->paused ? "paused  " : "", top_sort_name(sc->opt->sort),
		 sc->opt->delay_ms / 1000, sc->opt->delay_ms % 1000 / 100,
		 *sc->said ? sc->said : keys_text);
	attrset(A_BOLD);
	mvaddnstr(LINES - 1, 0, bottom, COLS - 1);
	attrset(A_NORMAL);
	refresh();
}

static int look(struct screen *sc)
{
	struct top_sample older = sc->before;
	int rc;

	sc->said[0] = 0;
	sc->before = sc->now;
	sc->now = older;	/* its memory serves again */
	if (sc->looks)
		replay_step();
	rc = top_sample(&sc->now, sc->opt->delay_ms);
	if (rc)
		return rc;
	top_rates(&sc->now, sc->looks ? &sc->before : NULL);
	sc->looks++;
	return TOOL_OK;
}

static void scroll_by(struct screen *sc, long rows)
{
	size_t num = top_num_rows(sc->opt, &sc->now);

	if (rows < 0 && sc->skip < (size_t)-rows)
		sc->skip = 0;
	else if (sc->skip + rows < num)
		sc->skip += rows;
}

static void change_delay(struct top_options *opt, int by)
{
	int ms = (int)opt->delay_ms + by;

	if (ms >= STEP_MS && ms <= 3600 * 1000)
		opt->delay_ms = ms;
}

/* Return: false for the key that ends all. */
static bool take_key(struct screen *sc, int key)
{
	struct top_options *opt = sc->opt;

	switch (key) {
	case 'q':
	case 'Q':
	case KEY_ESC:
		return false;
	case ' ':
	case 'p':
		sc->paused = !sc->paused;
		break;
	case 'g':
	case '\t':
		opt->groups = !opt->groups;
		sc->skip = 0;
		clear();
		break;
	case 'a':
		opt->all = !opt->all;
		break;
	case 's':
		opt->sort = (opt->sort + 1) % TOP_SORTS;
		break;
	case 'r':
		opt->reverse = !opt->reverse;
		break;
	case '+':
		change_delay(opt, STEP_MS);
		break;
	case '-':
		change_delay(opt, -STEP_MS);
		break;
	case KEY_UP:
		scroll_by(sc, -1);
		break;
	case KEY_DOWN:
		scroll_by(sc, 1);
		break;
	case KEY_PPAGE:
		scroll_by(sc, -(LINES / 2));
		break;
	case KEY_NPAGE:
		scroll_by(sc, LINES / 2);
		break;
	case KEY_HOME:
		sc->skip = 0;
		break;
	case KEY_RESIZE:
		clear();
		break;
	}
	return true;
}

static int64_t now_ms(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

/* Answer keys until it is time to look again; false to leave. */
static bool wait_for_keys(struct screen *sc)
{
	int64_t start = now_ms(), left;
	int key;

	while (!ended) {
		left = start + sc->opt->delay_ms - now_ms();
		if (left <= 0 && !sc->paused)
			return true;
		timeout(sc->paused ? 1000 : (int)left);
		key = getch();
		/* at once and for ever, if the terminal is gone */
		if (key == ERR && !isatty(STDIN_FILENO))
			return false;
		if (key == ERR)
			continue;
		if (!take_key(sc, key))
			return false;
		draw(sc);
	}
	return false;
}

static int run(struct screen *sc)
{
	int rc;

	do {
		rc = look(sc);
		if (rc)
			return rc;
		draw(sc);
	} while (wait_for_keys(sc));
	return TOOL_OK;
}

static void start_colors(void)
{
	if (!has_colors() || !paint_wanted())
		return;
	start_color();
	use_default_colors();
	init_pair(PAINT_GOOD, COLOR_GREEN, -1);
	init_pair(PAINT_WARN, COLOR_YELLOW, -1);
	init_pair(PAINT_BAD, COLOR_RED, -1);
}

/**
 * top_screen() - show what moves until the user has seen enough
 * @opt: what to show at first; keys change it
 *
 * Return: exit status.
 */
int top_screen(struct top_options *opt)
{
	static struct screen sc;
	struct sigaction action = { .sa_handler = on_signal };
	SCREEN *terminal;
	int rc;

	if (!isatty(STDIN_FILENO) || !isatty(STDOUT_FILENO)) {
		tool_say("this is no terminal, use -b");
		return TOOL_FAILED;
	}
	terminal = newterm(NULL, stdout, stdin);
	if (!terminal) {
		tool_say("this terminal is not known, set TERM or use -b");
		return TOOL_FAILED;
	}
	sigaction(SIGINT, &action, NULL);
	sigaction(SIGTERM, &action, NULL);
	cbreak();
	noecho();
	keypad(stdscr, TRUE);
	curs_set(0);
	start_colors();
	sc.opt = opt;
	tool_say_to(sc.said, sizeof(sc.said));
	rc = run(&sc);
	tool_say_to(NULL, 0);
	endwin();
	delscreen(terminal);
	if (rc)
		tool_say("%s", sc.said);
	top_free(&sc.now);
	top_free(&sc.before);
	return rc;
}
