// SPDX-License-Identifier: GPL-2.0
/*
 * smc_stats - counters of SMC for programs.
 *
 * The counters of /proc/net/smc_stat, which is a file of this module, and
 * those of the kernel's netlink family, by transport and reason, which the
 * kernel's own smc module has too.  --prometheus prints all in the text
 * format node_exporter reads from its textfile directory; without the file,
 * which the kernel's own module does not have, what there is.
 *
 * Tests: tools/tests/tools.sh.
 */
#include <ctype.h>
#include <errno.h>
#include <getopt.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/genl.h"
#include "lib/json.h"
#include "lib/procstat.h"
#include "lib/reason.h"
#include "lib/stats.h"
#include "lib/tool.h"

static const char usage_text[] =
"Usage: smc_stats [OPTION]...\n"
"Print the counters of SMC in this network namespace.\n"
"\n"
"  -P, --prometheus  in the text format of Prometheus, with the counters by\n"
"                    transport and the reasons for TCP\n"
"  -d, --details     say what each one counts\n"
"  -j, --json        print JSON\n"
"  -p, --pretty      JSON on several lines\n"
"  -v, -V, --version\n"
"  -h, --help\n"
"\n"
"Exit status: 0, or 1 if something went wrong.\n";

static const struct option long_options[] = {
	{ "prometheus",	no_argument, NULL, 'P' },
	{ "details",	no_argument, NULL, 'd' },
	{ "json",	no_argument, NULL, 'j' },
	{ "pretty",	no_argument, NULL, 'p' },
	{ "version",	no_argument, NULL, 'v' },
	{ "help",	no_argument, NULL, 'h' },
	{ NULL, 0, NULL, 0 }
};

static const struct {
	const char *name;
	const char *text;
} known[] = {
#include "lib/counters.h"
};

/* A counter of one transport has its name in front. */
static bool of_transport(const char *name)
{
	return !strncmp(name, "Smcr", 4) || !strncmp(name, "Smcd", 4);
}

/* What it counts; its name for one this program is too old for. */
static const char *text_of(const char *name)
{
	size_t i;

	if (of_transport(name))
		name += 4;
	for (i = 0; i < sizeof(known) / sizeof(known[0]); i++)
		if (!strcmp(known[i].name, name))
			return known[i].text;
	return name;
}

/* What is in use now goes up and down. */
static bool is_gauge(const char *name)
{
	return of_transport(name) && strstr(name, "BufBytes");
}

/* TxBytes becomes smc_tx_bytes_total */
static void metric_name(char *out, size_t size, const char *name)
{
	const char *end = is_gauge(name) ? "" : "_total";
	size_t len = snprintf(out, size, "smc");

	for (; *name && len < size - 8; name++) {
		if (isupper((unsigned char)*name))
			out[len++] = '_';
		out[len++] = isalnum((unsigned char)*name) ?
			     tolower((unsigned char)*name) : '_';
	}
	snprintf(out + len, size - len, "%s", end);
}

static void metric_type(const char *name, const char *text, const char *type)
{
	printf("# HELP %s %s\n# TYPE %s %s\n", name, text, name, type);
}

static void metric_head(const char *name, const char *text)
{
	metric_type(name, text, "counter");
}

static void metrics_of_file(const struct procstat *c, int num)
{
	char name[128];
	int i;

	for (i = 0; i < num; i++) {
		metric_name(name, sizeof(name), c[i].name);
		metric_type(name, text_of(c[i].name),
			    is_gauge(c[i].name) ? "gauge" : "counter");
		printf("%s %" PRIu64 "\n", name, c[i].value);
	}
}

static void by_side(const char *name, const char *text, const uint64_t *v)
{
	metric_head(name, text);
	printf("%s{side=\"client\"} %" PRIu64 "\n", name, v[STATS_CLIENT]);
	printf("%s{side=\"server\"} %" PRIu64 "\n", name, v[STATS_SERVER]);
}

/* A pair of each transport: what came in, what went out. */
static void by_transport(const char *name, const char *text,
			 const struct stats *st, int rx, int tx)
{
	int i;

	metric_head(name, text);
	for (i = 0; i < 4; i++)
		printf("%s{transport=\"%s\",direction=\"%s\"} %" PRIu64 "\n",
		       name, i < 2 ? "smcr" : "smcd", i & 1 ? "tx" : "rx",
		       (i < 2 ? st->smcr : st->smcd)[i & 1 ? tx : rx]);
}

static void connections(const struct stats *st)
{
	static const char name[] = "smc_connections_total";
	static const struct {
		const char *side;
		int version;
		int value;
	} kinds[] = {
		{ "client", 1, STATS_CLNT_V1 }, { "client", 2, STATS_CLNT_V2 },
		{ "server", 1, STATS_SRV_V1 }, { "server", 2, STATS_SRV_V2 },
	};
	int i;

	metric_head(name, "connections that use SMC");
	for (i = 0; i < 8; i++)
		printf("%s{transport=\"%s\",side=\"%s\",version=\"%d\"} %" PRIu64 "\n",
		       name, i < 4 ? "smcr" : "smcd", kinds[i % 4].side,
		       kinds[i % 4].version,
		       (i < 4 ? st->smcr : st->smcd)[kinds[i % 4].value]);
}

static void reasons(const struct stats *st)
{
	static const char name[] = "smc_fallback_reasons_total";
	unsigned int i;

	metric_head(name, "connections that became TCP, by reason");
	for (i = 0; i < st->num; i++) {
		const struct stats_reason *r = &st->reasons[i];
		const struct reason_text *why = reason_find(r->code);

		printf("%s{side=\"%s\",code=\"0x%08x\",reason=\"%s\"} %" PRIu64 "\n",
		       name, r->server ? "server" : "client", r->code,
		       why ? why->label : "", r->count);
	}
}

static void metrics_of_netlink(const struct stats *st)
{
	connections(st);
	by_transport("smc_bytes_total", "bytes of programs", st,
		     STATS_RX_BYTES, STATS_TX_BYTES);
	by_transport("smc_requests_total", "send and receive calls", st,
		     STATS_RX_CNT, STATS_TX_CNT);
	by_transport("smc_buffer_full_total", "times a ring was full", st,
		     STATS_RX_RING + RING_FULL, STATS_TX_RING + RING_FULL);
	by_side("smc_handshake_errors_total", "handshakes that failed",
		st->hs_err);
	by_side("smc_fallbacks_total", "connections that became TCP",
		st->fback);
	if (st->num)
		reasons(st);
}

static void print_text(const struct procstat *c, int num)
{
	int i;

	for (i = 0; i < num; i++)
		if (tool_opt.details)
			printf("%-20s %20" PRIu64 "  %s\n", c[i].name,
			       c[i].value, text_of(c[i].name));
		else
			printf("%-20s %20" PRIu64 "\n", c[i].name, c[i].value);
}

static void print_json(const struct procstat *c, int num)
{
	int i;

	json_begin(tool_opt.pretty);
	json_array(NULL);
	json_object(NULL);
	for (i = 0; i < num; i++)
		json_uint(c[i].name, c[i].value);
	json_end();
}

static void file_missing(int err)
{
	tool_say(PROCSTAT_FILE ": %s (is the module smc loaded?)",
		 strerror(-err));
}

/* What can be had is printed; what cannot, is said: series do not just vanish. */
static int print_prometheus(const struct procstat *c, int num)
{
	struct stats st;
	int rc = stats_read(&st);

	metrics_of_file(c, num);
	if (!rc)
		metrics_of_netlink(&st);
	/* the kernel's own smc does not have the file */
	if (num < 0 && (rc || num != -ENOENT)) {
		file_missing(num);
		return EXIT_FAILURE;
	}
	return genl_complain(rc, "read the counters by transport");
}

static int run(bool prometheus)
{
	struct procstat *c = calloc(PROCSTAT_MAX, sizeof(*c));
	int num, rc = EXIT_SUCCESS;

	num = c ? procstat_read(c) : -ENOMEM;
	if (prometheus) {
		rc = print_prometheus(c, num);
	} else if (num < 0) {
		file_missing(num);
		rc = EXIT_FAILURE;
	} else if (tool_opt.json) {
		print_json(c, num);
	} else {
		print_text(c, num);
	}
	free(c);
	return rc;
}

int main(int argc, char **argv)
{
	bool prometheus = false;
	int c;

	tool_name("smc_stats");
	while ((c = getopt_long(argc, argv, "PdjpvVh", long_options,
				NULL)) != -1) {
		switch (c) {
		case 'P':
			prometheus = true;
			break;
		case 'd':
			tool_opt.details++;
			break;
		case 'j':
			tool_opt.json = true;
			break;
		case 'p':
			tool_opt.pretty = true;
			break;
		case 'v':
		case 'V':
			tool_print_and_exit("smc_stats " TOOLS_VERSION "\n");
		case 'h':
			tool_print_and_exit(usage_text);
		default:
			tool_usage_error(NULL);
		}
	}
	if (optind < argc)
		tool_usage_error("there is an argument too many");
	if (prometheus && tool_opt.json)
		tool_usage_error("--prometheus and --json exclude each other");
	return tool_flush(run(prometheus)) ? EXIT_FAILURE : EXIT_SUCCESS;
}
