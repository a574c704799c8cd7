// SPDX-License-Identifier: GPL-2.0
/*
 * The rules of smc_run(8): read once, when the preload library is loaded,
 * then only looked at.
 *
 *	[redis-server memcached]	what follows is for these programs
 *	deny connect 10.1.0.0/16	these are plain TCP
 *	allow port 6379-6381		these use SMC
 *	deny any
 *
 * The first rule that fits decides, and SMC is used where none does.  Lines
 * before the first heading are for all programs.
 *
 * A file with a mistake in it is not half obeyed: all of the program's
 * connections are then plain TCP, which is what the program asked for, and
 * each mistake is named on standard error.  The program itself goes on.
 *
 * What is attached by BPF (smc_activate.c) takes the whole file, since it decides
 * for all programs, and nothing is attached if there is a mistake.
 *
 * policy_match() allocates nothing, takes no lock and changes nothing: it may
 * run in a signal handler.  Tests: tools/tests/policy.sh.
 */
#include <arpa/inet.h>
#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <fnmatch.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "policy.h"

#define MAX_SAID	10	/* mistakes named; the rest are as clear */
#define BLANK		" \t"

struct reader {
	struct policy *p;
	const char *path;
	const char *const *names;
	struct policy_names *all;	/* NULL: rules for @names alone */
	uint64_t programs;		/* names of the heading */
	unsigned int line;
	unsigned int mistakes;
	bool ours;		/* the lines are for this program */
};

/* @word: quoted after the text, NULL for none */
static void mistake(struct reader *r, const char *what, const char *word)
{
	r->p->broken = true;
	if (r->mistakes++ >= MAX_SAID)
		return;
	dprintf(STDERR_FILENO, "smc_run: %s:%u: %s%s%.60s%s\n", r->path,
		r->line, what, word ? " '" : "", word ? word : "",
		word ? "'" : "");
}

/* Decimal digits and nothing else, up to @max; false for all others. */
static bool parse_number(const char *text, unsigned long max,
			 unsigned long *val)
{
	char *end;

	if (!isdigit((unsigned char)*text))
		return false;
	errno = 0;
	*val = strtoul(text, &end, 10);
	return !errno && !*end && *val <= max;
}

/* "80" or "80-90" */
static bool parse_ports(struct policy_rule *rule, char *text)
{
	char *dash = strchr(text, '-');
	unsigned long low, high;

	if (dash)
		*dash++ = 0;
	if (!parse_number(text, 65535, &low))
		return false;
	high = low;
	if (dash && !parse_number(dash, 65535, &high))
		return false;
	rule->low = low;
	rule->high = high;
	return low <= high;
}

static bool has_host_bits(const struct policy_rule *rule, unsigned int bits)
{
	unsigned int i;

	for (i = rule->prefix; i < bits; i++)
		if (rule->addr[i / 8] & 0x80 >> i % 8)
			return true;
	return false;
}

/* Takes "[CIDR]:PORTS" or "CIDR:PORTS" apart; the ports or NULL. */
static char *split_ports(char **text)
{
	char *colon = strchr(*text, ':');
	char *end;

	if (**text == '[') {
		end = strchr(*text, ']');
		if (!end || (end[1] && end[1] != ':'))
			return NULL;
		(*text)++;
		*end = 0;
		return end[1] ? end + 2 : NULL;
	}
	/* more than one: IPv6 without ports */
	if (!colon || strchr(colon + 1, ':'))
		return NULL;
	*colon = 0;
	return colon + 1;
}

static bool parse_cidr(struct reader *r, struct policy_rule *rule, char *text)
{
	char *ports = split_ports(&text), *slash = strchr(text, '/');
	unsigned long prefix;
	unsigned int bits;

	if (slash)
		*slash++ = 0;
	rule->family = strchr(text, ':') ? AF_INET6 : AF_INET;
	bits = rule->family == AF_INET ? 32 : 128;
	if (inet_pton(rule->family, text, rule->addr) != 1) {
		mistake(r, "not an address:", text);
		return false;
	}
	prefix = bits;
	if (slash && !parse_number(slash, bits, &prefix)) {
		mistake(r, "not a prefix length:", slash);
		return false;
	}
	if (rule->family == AF_INET6 && prefix >= 96 &&
	    IN6_IS_ADDR_V4MAPPED((struct in6_addr *)rule->addr)) {
		mistake(r, "IPv4 addresses are written as such:", text);
		return false;
	}
	rule->prefix = prefix;
	if (has_host_bits(rule, bits)) {
		mistake(r, "the address has bits beyond its prefix:", text);
		return false;
	}
	if (ports && !parse_ports(rule, ports)) {
		mistake(r, "not a port or a range of ports:", ports);
		return false;
	}
	return true;
}

/* What comes after "allow" or "deny" */
static bool parse_what(struct reader *r, struct policy_rule *rule, char **save)
{
	char *word = strtok_r(NULL, BLANK, save);

	if (word && !strcmp(word, "connect"))
		rule->ops = POLICY_CONNECT;
	else if (word && !strcmp(word, "listen"))
		rule->ops = POLICY_LISTEN;
	if (rule->ops != POLICY_BOTH)
		word = strtok_r(NULL, BLANK, save);
	if (!word) {
		mistake(r, "expected an address, 'port' or 'any'", NULL);
		return false;
	}
	if (!strcmp(word, "any"))
		return true;
	if (strcmp(word, "port"))
		return parse_cidr(r, rule, word);
	word = strtok_r(NULL, BLANK, save);
	if (!word || !parse_ports(rule, word)) {
		mistake(r, "not a port or a range of ports:", word ? word : "");
		return false;
	}
	return true;
}

static void parse_rule(struct reader *r, char *text)
{
	struct policy_rule rule = {
		.ops = POLICY_BOTH, .high = 65535, .line = r->line,
		.programs = r->programs,
	};
	char *save, *word = strtok_r(text, BLANK, &save);

	if (!strcmp(word, "deny")) {
		rule.deny = true;
	} else if (strcmp(word, "allow")) {
		mistake(r, "expected 'allow', 'deny' or '[PROGRAM]':", word);
		return;
	}
	if (!parse_what(r, &rule, &save))
		return;
	word = strtok_r(NULL, BLANK, &save);
	if (word) {
		mistake(r, "too much in this line:", word);
		return;
	}
	if (!r->ours)
		return;
	if (r->p->num == POLICY_MAX)
		mistake(r, r->all ? "too many rules" :
				    "too many rules for one program", NULL);
	else
		r->p->rules[r->p->num++] = rule;
}

static void add_name(struct reader *r, const char *word)
{
	struct policy_names *all = r->all;
	unsigned int i;

	for (i = 0; i < all->num && strcmp(all->name[i], word); i++)
		;
	if (strlen(word) >= sizeof(all->name[0])) {
		mistake(r, "the name of a program is too long:", word);
	} else if (i == POLICY_NAMES) {
		mistake(r, "too many names of programs:", word);
	} else {
		if (i == all->num)
			strcpy(all->name[all->num++], word);
		r->programs |= 1ULL << i;
	}
}

/* "[NAME ...]", where each is a pattern as the shell has it for files */
static void parse_heading(struct reader *r, char *text)
{
	char *end = strrchr(text, ']');
	const char *const *name;
	char *save, *word;

	r->ours = r->all;
	r->programs = 0;
	if (!end || strspn(end + 1, BLANK) != strlen(end + 1)) {
		mistake(r, "a heading is '[PROGRAM ...]':", text);
		return;
	}
	*end = 0;
	word = strtok_r(text + 1, BLANK, &save);
	if (!word)
		mistake(r, "a heading needs the name of a program", NULL);
	for (; word; word = strtok_r(NULL, BLANK, &save)) {
		if (strchr(word, '/'))
			mistake(r, "the name of a program has no directory:",
				word);
		if (r->all)
			add_name(r, word);
		for (name = r->names; name && *name; name++)
			r->ours |= !fnmatch(word, *name, 0);
	}
}

static void parse_line(struct reader *r, char *text)
{
	char *c;

	text[strcspn(text, "#\r\n")] = 0;
	/* what is quoted may go to a terminal */
	for (c = text; *c; c++)
		if (!isprint((unsigned char)*c) && !strchr(BLANK, *c))
			*c = '?';
	text += strspn(text, BLANK);
	if (*text == '[')
		parse_heading(r, text);
	else if (*text)
		parse_rule(r, text);
}

static void load(struct reader *r, bool may_lack)
{
	const char *so = r->all ? "nothing is attached" :
				  "all connections are plain TCP";
	FILE *file = NULL;
	char text[1024];
	int fd;

	/* A pipe without a writer is an empty file. */
	fd = open(r->path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	if (fd >= 0)
		file = fdopen(fd, "r");
	if (!file) {
		if (may_lack && (errno == ENOENT || errno == ENOTDIR))
			return;
		r->p->broken = true;
		dprintf(STDERR_FILENO, "smc_run: %s: %s; %s\n", r->path,
			strerror(errno), so);
		if (fd >= 0)
			close(fd);
		return;
	}
	while (fgets(text, sizeof(text), file)) {
		r->line++;
		if (!strchr(text, '\n') && !feof(file)) {
			mistake(r, "not a line of text, or too long", NULL);
			break;
		}
		parse_line(r, text);
	}
	if (ferror(file)) {
		r->line++;
		mistake(r, strerror(errno), NULL);
	}
	if (r->mistakes)
		dprintf(STDERR_FILENO, "smc_run: %s: not used; %s\n", r->path,
			so);
	fclose(file);
}

/**
 * policy_load() - read the rules for this program
 * @p: filled in; what is wrong with the file is said on standard error
 * @path: the file
 * @may_lack: it is no mistake if there is no such file
 * @names: names of this program, ended by NULL
 */
void policy_load(struct policy *p, const char *path, bool may_lack,
		 const char *const *names)
{
	struct reader r = {
		.p = p, .path = path, .names = names, .ours = true,
	};

	load(&r, may_lack);
}

/**
 * policy_load_all() - read the rules for all programs
 * @p: filled in; what is wrong with the file is said on standard error
 * @path: the file
 * @may_lack: it is no mistake if there is no such file
 * @all: filled in with the names that the rules refer to
 */
void policy_load_all(struct policy *p, const char *path, bool may_lack,
		     struct policy_names *all)
{
	struct reader r = {
		.p = p, .path = path, .all = all, .ours = true,
	};

	load(&r, may_lack);
}

static bool same_bits(const uint8_t *a, const uint8_t *b, unsigned int bits)
{
	unsigned int bytes = bits / 8;
	unsigned int rest = bits % 8;

	if (memcmp(a, b, bytes))
		return false;
	return !rest || !((a[bytes] ^ b[bytes]) >> (8 - rest));
}

/**
 * policy_match() - the rule that decides
 * @p: rules
 * @op: POLICY_CONNECT with the peer's address, POLICY_LISTEN with ours
 * @sa: address; its memory need not be aligned
 * @len: bytes at @sa
 *
 * IPv4 in IPv6 addresses counts as IPv4.
 *
 * Return: the first rule that fits; NULL: none does.
 */
const struct policy_rule *policy_match(const struct policy *p, int op,
				       const struct sockaddr *sa,
				       socklen_t len)
{
	const struct policy_rule *rule;
	struct sockaddr_storage ss;
	const struct sockaddr_in6 *in6 = (struct sockaddr_in6 *)&ss;
	const struct sockaddr_in *in = (struct sockaddr_in *)&ss;
	const uint8_t *addr;
	int family;
	uint16_t port;

	if (len > sizeof(ss))
		return NULL;
	memset(&ss, 0, sizeof(ss));
	memcpy(&ss, sa, len);
	family = ss.ss_family;
	if (family == AF_INET && len >= sizeof(*in)) {
		addr = (const uint8_t *)&in->sin_addr;
		port = ntohs(in->sin_port);
	} else if (family == AF_INET6 && len >= 24) { /* without a scope */
		addr = in6->sin6_addr.s6_addr;
		port = ntohs(in6->sin6_port);
		if (IN6_IS_ADDR_V4MAPPED(&in6->sin6_addr)) {
			family = AF_INET;
			addr += 12;
		}
	} else {
		return NULL;
	}
	for (rule = p->rules; rule < p->rules + p->num; rule++)
		if (rule->ops & op && port >= rule->low && port <= rule->high &&
		    (!rule->family || rule->family == family) &&
		    same_bits(rule->addr, addr, rule->prefix))
			return rule;
	return NULL;
}

/**
 * policy_denies_all() - is there nothing that would use SMC?
 * @p: rules
 *
 * Return: true if so, and the program can have TCP sockets at once.
 */
bool policy_denies_all(const struct policy *p)
{
	const struct policy_rule *rule;
	int left = POLICY_BOTH;

	if (p->broken)
		return true;
	for (rule = p->rules; rule < p->rules + p->num && rule->deny; rule++) {
		if (!rule->family && !rule->low && rule->high == 65535)
			left &= ~rule->ops;
		if (!left)
			return true;
	}
	return false;
}
