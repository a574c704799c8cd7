// SPDX-License-Identifier: GPL-2.0
/*
 * Which sockets: by address, port, state and mode.
 *
 * The program looks, not the kernel: so it works with every kernel.
 *
 * Tests: tools/tests/tools.sh, selftests/unit/unit_smcss.c.
 */
#include <arpa/inet.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "ss.h"

#define STATES		64	/* a bit for each */

static bool take_number(const char *text, unsigned long max, unsigned long *n)
{
	char *end;

	*n = strtoul(text, &end, 10);
	return *text >= '0' && *text <= '9' && !*end && *n <= max;
}

static bool take_port(uint16_t *port, const char *text)
{
	unsigned long n;

	if (!take_number(text, 65535, &n) || !n)
		return false;
	*port = n;
	return true;
}

/* ADDRESS[/BITS] */
static bool take_addr(struct ss_end *end, char *text)
{
	char *slash = strchr(text, '/');
	unsigned long bits;

	if (slash)
		*slash++ = 0;
	end->v6 = strchr(text, ':');
	bits = end->v6 ? 128 : 32;
	if (inet_pton(end->v6 ? AF_INET6 : AF_INET, text, end->addr) != 1)
		return false;
	if (slash && !take_number(slash, bits, &bits))
		return false;
	end->bits = bits;
	return true;
}

/**
 * ss_filter_end() - read the addresses and ports of one end
 * @end: result, cleared by the caller
 * @text: ADDRESS[/BITS][:PORT], [IPV6[/BITS]]:PORT, IPV6[/BITS] or :PORT; "*"
 *	is any address
 *
 * Return: does it make sense?
 */
bool ss_filter_end(struct ss_end *end, const char *text)
{
	char copy[80], *addr = copy, *port = NULL, *close;

	if (strlen(text) >= sizeof(copy))
		return false;
	strcpy(copy, text);
	close = strchr(copy, ']');
	if (*copy == '[' && close) {
		addr++;
		*close++ = 0;
		/* the bits may stand behind the bracket too */
		if (*close == '/') {
			memmove(close - 1, close, strlen(close) + 1);
			close--;
		}
		port = strchr(close, ':');
		if (*close && *close != '/' && port != close)
			return false;
	} else if (strchr(copy, ':') == strrchr(copy, ':')) {
		port = strchr(copy, ':');
	}
	if (port) {
		*port++ = 0;
		if (!take_port(&end->port, port))
			return false;
	}
	if (!*addr || !strcmp(addr, "*"))
		return port || *addr;
	return take_addr(end, addr);
}

/**
 * ss_filter_port() - read the port of either end
 * @f: result
 * @text: number
 *
 * Return: does it make sense?
 */
bool ss_filter_port(struct ss_filter *f, const char *text)
{
	return take_port(&f->port, text);
}

static bool take_state(struct ss_filter *f, const char *word)
{
	unsigned int i;

	for (i = 0; i < STATES; i++) {
		const char *name = ss_state_name(i);

		if (name && !strcasecmp(name, word)) {
			f->states |= 1ULL << i;
			return true;
		}
	}
	return false;
}

static bool take_mode(struct ss_filter *f, const char *word)
{
	static const struct {
		const char *name;
		int mode;
	} modes[] = {
		{ "smcr", SMC_DIAG_MODE_SMCR }, { "smc-r", SMC_DIAG_MODE_SMCR },
		{ "smcd", SMC_DIAG_MODE_SMCD }, { "smc-d", SMC_DIAG_MODE_SMCD },
		{ "tcp", SMC_DIAG_MODE_FALLBACK_TCP },
	};
	size_t i;

	for (i = 0; i < sizeof(modes) / sizeof(modes[0]); i++) {
		if (!strcasecmp(modes[i].name, word)) {
			f->modes |= 1U << modes[i].mode;
			return true;
		}
	}
	return false;
}

/* Words with commas between them. */
static bool take_list(struct ss_filter *f, const char *list,
		      bool (*take)(struct ss_filter *f, const char *word))
{
	char *copy = strdup(list), *rest = copy, *word;
	bool good = copy;

	while (good && (word = strsep(&rest, ",")))
		good = take(f, word);
	free(copy);
	return good;
}

/**
 * ss_filter_states() - read names of states
 * @f: result
 * @list: names as smcss prints them, of any case, with commas between
 *
 * Return: does it make sense?
 */
bool ss_filter_states(struct ss_filter *f, const char *list)
{
	return take_list(f, list, take_state);
}

/**
 * ss_filter_modes() - read names of modes
 * @f: result
 * @list: smcr, smcd, tcp, of any case, with commas between
 *
 * Return: does it make sense?
 */
bool ss_filter_modes(struct ss_filter *f, const char *list)
{
	return take_list(f, list, take_mode);
}

static bool same_bits(const uint8_t *a, const uint8_t *b, unsigned int bits)
{
	unsigned int rest = bits % 8;

	if (memcmp(a, b, bits / 8))
		return false;
	a += bits / 8;
	b += bits / 8;
	return !rest || !((*a ^ *b) >> (8 - rest));
}

/* An IPv4 address in an IPv6 socket counts as what it is. */
static bool match_end(const struct ss_end *end, const struct diag_row *row,
		      const __be32 *addr, __be16 port)
{
	static const uint8_t mapped[12] = { [10] = 0xff, [11] = 0xff };
	const uint8_t *bytes = (const uint8_t *)addr;
	bool v6 = !diag_is_v4(row, addr);

	if (end->port && end->port != ntohs(port))
		return false;
	if (!end->bits)
		return true;
	if (v6 && !end->v6 && !memcmp(bytes, mapped, sizeof(mapped))) {
		bytes += sizeof(mapped);
		v6 = false;
	}
	return v6 == end->v6 && same_bits(bytes, end->addr, end->bits);
}

/**
 * ss_filter_match() - is a socket as the filter wants it?
 * @f: filter
 * @row: the socket
 *
 * A socket that is not connected has no mode.
 */
bool ss_filter_match(const struct ss_filter *f, const struct diag_row *row)
{
	const struct inet_diag_sockid *id = &row->msg.id;
	unsigned int state = row->msg.diag_state;

	if (f->states && (state >= STATES || !(f->states >> state & 1)))
		return false;
	if (f->modes && (!ss_has_mode(row) ||
			 !(f->modes >> row->msg.diag_mode & 1)))
		return false;
	if (f->port && f->port != ntohs(id->idiag_sport) &&
	    f->port != ntohs(id->idiag_dport))
		return false;
	return match_end(&f->local, row, id->idiag_src, id->idiag_sport) &&
	       match_end(&f->peer, row, id->idiag_dst, id->idiag_dport);
}
