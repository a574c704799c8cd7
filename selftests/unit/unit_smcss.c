// SPDX-License-Identifier: GPL-2.0
/*
 * Unit tests of what smcss reads and prints (tools/lib/diag.c, ss.c,
 * reason.c), from sock_diag messages as a kernel sends them: put together
 * here byte by byte, as old kernels send them, and damaged.
 */
#include <arpa/inet.h>
#include <string.h>

#include <linux/types.h>
#include <linux/rtnetlink.h>

#include "lib/diag.h"
#include "lib/reason.h"
#include "lib/ss.h"
#include "unit.h"

/* A message under construction. */
struct canned {
	u8 buf[1024];
	size_t len;
};

static void put(struct canned *c, size_t off, const void *data, size_t len)
{
	memcpy(c->buf + off, data, len);
}

static void put32(struct canned *c, size_t off, u32 value)
{
	put(c, off, &value, sizeof(value));
}

static void put64(struct canned *c, size_t off, u64 value)
{
	put(c, off, &value, sizeof(value));
}

/* The fixed part, offsets as the ABI has them. */
static void start(struct canned *c, u8 family, u8 state, u8 mode)
{
	memset(c, 0, sizeof(*c));
	c->buf[0] = family;
	c->buf[1] = state;
	c->buf[2] = mode;
	put32(c, 52, 1000);
	put64(c, 56, 4711);
	c->len = 64;
}

static void addresses(struct canned *c, const char *src, u16 sport,
		      const char *dst, u16 dport)
{
	int family = strchr(src, ':') ? AF_INET6 : AF_INET;
	u16 be;

	be = htons(sport);
	put(c, 4, &be, 2);
	be = htons(dport);
	put(c, 6, &be, 2);
	assert_int_equal(inet_pton(family, src, c->buf + 8), 1);
	assert_int_equal(inet_pton(family, dst, c->buf + 24), 1);
}

/* Append an attribute; returns the offset of its payload. */
static size_t attr(struct canned *c, u16 type, u16 len)
{
	u16 rta_len = len + 4;
	size_t off = c->len + 4;

	put(c, c->len, &rta_len, 2);
	put(c, c->len + 2, &type, 2);
	c->len += (rta_len + 3) & ~3;
	assert_true(c->len <= sizeof(c->buf));
	return off;
}

static void attr_fallback(struct canned *c, u32 reason, u32 peer)
{
	size_t off = attr(c, SMC_DIAG_FALLBACK, 8);

	put32(c, off, reason);
	put32(c, off + 4, peer);
}

static void attr_shutdown(struct canned *c, u8 value)
{
	size_t off = attr(c, SMC_DIAG_SHUTDOWN, 1);

	c->buf[off] = value;
}

static void put_cursor(struct canned *c, size_t off, u16 wrap, u32 count)
{
	put(c, off + 2, &wrap, 2);
	put32(c, off + 4, count);
}

static void attr_conninfo(struct canned *c)
{
	size_t off = attr(c, SMC_DIAG_CONNINFO, 76);

	put32(c, off, 0xabcd);
	put32(c, off + 4, 65536);
	put32(c, off + 8, 0x20000);
	put32(c, off + 12, 0x40000);
	put_cursor(c, off + 16, 1, 0x11);
	put_cursor(c, off + 24, 2, 0x22);
	put_cursor(c, off + 32, 3, 0x33);
	put_cursor(c, off + 40, 4, 0x44);
	c->buf[off + 48] = 0x80;
	c->buf[off + 49] = 0x40;
	c->buf[off + 50] = 0x20;
	c->buf[off + 51] = 0x10;
	put_cursor(c, off + 52, 5, 0x55);
	put_cursor(c, off + 60, 6, 0x66);
	put_cursor(c, off + 68, 0xffff, 0xffff);
}

static void attr_lgrinfo(struct canned *c)
{
	size_t off = attr(c, SMC_DIAG_LGRINFO, 147);

	c->buf[off] = 1;
	put(c, off + 1, "rxe0", 4);
	c->buf[off + 65] = 2;
	put(c, off + 66, "0000:0000:0000:0000:0000:ffff:0a00:0001", 39);
	put(c, off + 106, "0000:0000:0000:0000:0000:ffff:0a00:0002", 39);
	c->buf[off + 146] = 1;
}

static void attr_dmbinfo(struct canned *c, u16 len)
{
	size_t off = attr(c, SMC_DIAG_DMBINFO, len);

	put32(c, off, 0x100);
	put64(c, off + 8, 0x1111);
	put64(c, off + 16, 0x2222);
	put64(c, off + 24, 0x3333);
	put64(c, off + 32, 0x4444);
	if (len > 40) {
		put64(c, off + 40, 0x5555);
		put64(c, off + 48, 0x6666);
	}
}

static struct diag_row parsed(const struct canned *c)
{
	u8 *p = exact(c->buf, c->len);
	struct diag_row row;

	assert_int_equal(diag_parse(p, c->len, &row), 0);
	free(p);
	return row;
}

/* The line smcss prints for a message. */
static void prints(const struct canned *c, const struct ss_options *opt,
		   const char *line)
{
	struct diag_row row = parsed(c);
	char *text = NULL;
	size_t len = 0;
	FILE *out;

	out = open_memstream(&text, &len);
	assert_non_null(out);
	ss_print_row(out, opt, &row);
	fclose(out);
	assert_string_equal(text, line);
	free(text);
}

static void header(const struct ss_options *opt, const char *line)
{
	char *text = NULL;
	size_t len = 0;
	FILE *out;

	out = open_memstream(&text, &len);
	assert_non_null(out);
	ss_print_header(out, opt);
	fclose(out);
	assert_string_equal(text, line);
	free(text);
}

static const struct ss_options plain;
static const struct ss_options details = { .details = true };
static const struct ss_options smcr = { .smcr = true };
static const struct ss_options smcd = { .smcd = true };

static void diag_parse__layouts(void **state)
{
	struct diag_row row;
	struct canned c;

	start(&c, 43, 1, 0);
	addresses(&c, "10.0.0.1", 6379, "10.0.0.2", 40000);
	put32(&c, 40, 7);
	attr_shutdown(&c, 2);
	attr_fallback(&c, 0x05000000, 0x03030000);
	attr_conninfo(&c);
	attr_lgrinfo(&c);
	attr_dmbinfo(&c, 56);
	row = parsed(&c);
	assert_int_equal(row.have, 0x1f);
	assert_int_equal(row.msg.diag_uid, 1000);
	assert_int_equal(row.msg.diag_inode, 4711);
	assert_int_equal(row.msg.id.idiag_if, 7);
	assert_int_equal(ntohs(row.msg.id.idiag_sport), 6379);
	assert_int_equal(row.shutdown, 2);
	assert_int_equal(row.fallback.peer_diagnosis, 0x03030000);
	assert_int_equal(row.conn.token, 0xabcd);
	assert_int_equal(row.conn.tx_fin.wrap, 0xffff);
	assert_int_equal(row.conn.tx_conn_state_flags, 0x10);
	assert_string_equal(row.lgr.lnk[0].ibname, "rxe0");
	assert_int_equal(row.lgr.role, 1);
	assert_int_equal(row.dmb.my_gid, 0x2222);
	assert_int_equal(row.dmb.my_gid_ext, 0x6666);
}

static void diag_parse__old_and_new_sizes(void **state)
{
	struct diag_row row;
	struct canned c;
	size_t off;

	/* before 6.8 the DMB attribute had 40 bytes */
	start(&c, 43, 1, 2);
	attr_dmbinfo(&c, 40);
	attr_shutdown(&c, 1);
	row = parsed(&c);
	assert_int_equal(row.have, DIAG_EXT(SMC_DIAG_DMBINFO) |
			 DIAG_EXT(SMC_DIAG_SHUTDOWN));
	assert_int_equal(row.dmb.peer_token, 0x4444);
	assert_int_equal(row.dmb.my_gid_ext, 0);
	assert_int_equal(row.shutdown, 1);

	/* a kernel to come may append to it, and add attributes */
	start(&c, 43, 1, 2);
	off = attr(&c, 77, 5);
	memset(c.buf + off, 0xff, 5);
	attr_dmbinfo(&c, 64);
	attr_fallback(&c, 9, 8);
	row = parsed(&c);
	assert_int_equal(row.dmb.my_gid_ext, 0x6666);
	assert_int_equal(row.fallback.reason, 9);

	/* too short to mean anything: not there */
	start(&c, 43, 1, 0);
	attr(&c, SMC_DIAG_CONNINFO, 75);
	attr(&c, SMC_DIAG_DMBINFO, 36);
	row = parsed(&c);
	assert_int_equal(row.have, 0);
}

static void diag_parse__first_of_two_counts(void **state)
{
	struct diag_row row;
	struct canned c;

	start(&c, 43, 1, 1);
	attr_fallback(&c, 1, 2);
	attr_fallback(&c, 3, 4);
	row = parsed(&c);
	assert_int_equal(row.fallback.reason, 1);
}

static void diag_parse__unterminated_strings(void **state)
{
	struct diag_row row;
	struct canned c;
	size_t off;

	start(&c, 43, 1, 0);
	off = attr(&c, SMC_DIAG_LGRINFO, 147);
	memset(c.buf + off, 'x', 147);
	row = parsed(&c);
	assert_int_equal(strlen((char *)row.lgr.lnk[0].ibname), 63);
	assert_int_equal(strlen((char *)row.lgr.lnk[0].gid), 39);
	assert_int_equal(strlen((char *)row.lgr.lnk[0].peer_gid), 39);
}

/* Cut anywhere, with any byte changed: no access outside, no endless loop. */
static void diag_parse__damaged(void **state)
{
	struct diag_row row;
	struct canned c;
	size_t len, i;
	u8 *p;

	start(&c, 43, 1, 0);
	attr_conninfo(&c);
	attr_shutdown(&c, 1);
	attr_lgrinfo(&c);
	attr_dmbinfo(&c, 56);
	attr_fallback(&c, 1, 2);
	for (len = 0; len <= c.len; len++) {
		p = exact(c.buf, len);
		assert_int_equal(diag_parse(p, len, &row),
				 len < 64 ? -EBADMSG : 0);
		free(p);
	}
	rnd_seed(5);
	for (i = 0; i < 50000; i++) {
		struct canned d = c;

		d.buf[64 + rnd() % (c.len - 64)] = rnd();
		d.buf[64 + rnd() % (c.len - 64)] = rnd();
		parsed(&d);
	}
}

static void ss_print_header__as_ibm(void **state)
{
	header(&plain,
	       "State          UID   Inode   Local Address           Peer Address            Intf Mode \n");
	header(&details,
	       "State          UID   Inode   Local Address           Peer Address            Intf Mode Shutd Token    Sndbuf   Rcvbuf   Peerbuf  rxprod-Cursor rxcons-Cursor rxFlags txprod-Cursor txcons-Cursor txFlags txprep-Cursor txsent-Cursor txfin-Cursor  \n");
	header(&smcr,
	       "State          UID   Inode   Local Address           Peer Address            Intf Mode Role IB-device       Port Linkid GID                                      Peer-GID\n");
	header(&smcd,
	       "State          UID   Inode   Local Address           Peer Address            Intf Mode GID              Token            Peer-GID         Peer-Token       Linkid\n");
}

static void ss_print_row__modes(void **state)
{
	struct canned c;

	start(&c, 43, 1, 0);
	addresses(&c, "10.0.0.1", 6379, "10.0.0.2", 40000);
	put32(&c, 40, 3);
	attr_shutdown(&c, 0);
	attr_fallback(&c, 0, 0);
	prints(&c, &plain,
	       "ACTIVE         01000 0004711 10.0.0.1:6379           10.0.0.2:40000          0003 SMCR \n");
	c.buf[2] = 2;
	prints(&c, &plain,
	       "ACTIVE         01000 0004711 10.0.0.1:6379           10.0.0.2:40000          0003 SMCD \n");
}

static void ss_print_row__reason_in_words(void **state)
{
	struct canned c;

	start(&c, 43, 1, 1);
	addresses(&c, "10.0.0.1", 6379, "10.0.0.2", 40000);
	attr_fallback(&c, 0x03010000, 0);
	prints(&c, &plain,
	       "ACTIVE         01000 0004711 10.0.0.1:6379           10.0.0.2:40000          0000 TCP 0x03010000  the peer's TCP did not offer SMC\n");

	start(&c, 43, 1, 1);
	addresses(&c, "10.0.0.1", 6379, "10.0.0.2", 40000);
	attr_fallback(&c, 0x05000000, 0x03030002);
	prints(&c, &details,
	       "ACTIVE         01000 0004711 10.0.0.1:6379           10.0.0.2:40000          0000 TCP 0x05000000/0x03030002  the peer declined; peer: no RDMA port for this route\n");

	/* codes from the future stay codes */
	start(&c, 43, 1, 1);
	addresses(&c, "10.0.0.1", 6379, "10.0.0.2", 40000);
	attr_fallback(&c, 0x07770000, 0x08880000);
	prints(&c, &plain,
	       "ACTIVE         01000 0004711 10.0.0.1:6379           10.0.0.2:40000          0000 TCP 0x07770000/0x08880000\n");
}

static void ss_print_row__unconnected_stop_early(void **state)
{
	struct canned c;

	start(&c, 43, 2, 0);
	prints(&c, &plain, "INIT           01000 0004711 \n");
	start(&c, 43, 10, 0);
	addresses(&c, "0.0.0.0", 80, "0.0.0.0", 0);
	prints(&c, &plain,
	       "LISTEN         01000 0004711 0.0.0.0:80              \n");
	start(&c, 43, 7, 0);
	addresses(&c, "10.0.0.1", 80, "10.0.0.2", 81);
	prints(&c, &plain,
	       "CLOSED         01000 0004711 10.0.0.1:80             10.0.0.2:81             0000 \n");
}

static void ss_print_row__states(void **state)
{
	static const struct {
		u8 nr;
		const char *name;
	} names[] = {
		{ 20, "PEERCLOSEWAIT1 " }, { 21, "PEERCLOSEWAIT2 " },
		{ 22, "APPCLOSEWAIT1  " }, { 23, "APPCLOSEWAIT2  " },
		{ 24, "APPFINCLOSEWAIT1 " }, { 25, "PEERFINCLOSEWAIT " },
		{ 26, "PEERABORTWAIT  " }, { 27, "PROCESSABORT   " },
		{ 3, "0x3?           " }, { 200, "0xc8?          " },
	};
	char line[200];
	struct canned c;
	size_t i;

	for (i = 0; i < ARRAY_SIZE(names); i++) {
		start(&c, 43, names[i].nr, 0);
		addresses(&c, "1.2.3.4", 1, "5.6.7.8", 65535);
		snprintf(line, sizeof(line),
			 "%s01000 0004711 1.2.3.4:1               5.6.7.8:65535           0000 SMCR \n",
			 names[i].name);
		prints(&c, &plain, line);
	}
}

static void ss_print_row__long_addresses(void **state)
{
	static const struct ss_options wide = { .wide = true };
	struct canned c;

	start(&c, 10, 1, 0);
	addresses(&c, "fe80::1", 6379, "2001:db8:1:2:3:4:5:6", 40000);
	prints(&c, &plain,
	       "ACTIVE         01000 0004711 fe80::1:6379            2001:db8:1:2:3:..:40000 0000 SMCR \n");
	prints(&c, &wide,
	       "ACTIVE         01000 0004711 fe80::1:6379            2001:db8:1:2:3:4:5:6:40000 0000 SMCR \n");
	/* 23 characters fit */
	start(&c, 10, 1, 0);
	addresses(&c, "2001:db8:1:2::3:45", 6379, "2001:db8:1:2::3:4567", 637);
	prints(&c, &plain,
	       "ACTIVE         01000 0004711 2001:db8:1:2::3:45:6379 2001:db8:1:2::3:4..:637 0000 SMCR \n");
	/* an IPPROTO_SMC socket says that it is IPv6, AF_SMC does not */
	start(&c, 10, 10, 0);
	prints(&c, &plain,
	       "LISTEN         01000 0004711 :::0                    \n");
	start(&c, 43, 10, 0);
	prints(&c, &plain,
	       "LISTEN         01000 0004711 0.0.0.0:0               \n");
}

static void ss_print_row__details(void **state)
{
	static const char tail[] =
		"0000abcd 00010000 00020000 00040000 0001:00000011 0002:00000022 80:40   0003:00000033 0004:00000044 20:10   0005:00000055 0006:00000066 ffff:0000ffff \n";
	static const char * const shutd[] = {
		"<R-W> ", " R-W> ", "<R-W  ", " R-W  ",
	};
	char line[400];
	struct canned c;
	int i;

	for (i = 0; i < 4; i++) {
		start(&c, 43, 1, 0);
		addresses(&c, "10.0.0.1", 1, "10.0.0.2", 2);
		attr_shutdown(&c, i);
		attr_conninfo(&c);
		snprintf(line, sizeof(line),
			 "ACTIVE         01000 0004711 10.0.0.1:1              10.0.0.2:2              0000 SMCR %s%s",
			 shutd[i], tail);
		prints(&c, &details, line);
	}
}

static void ss_print_row__transports(void **state)
{
	struct canned c;

	start(&c, 43, 1, 0);
	addresses(&c, "10.0.0.1", 1, "10.0.0.2", 2);
	attr_lgrinfo(&c);
	prints(&c, &smcr,
	       "ACTIVE         01000 0004711 10.0.0.1:1              10.0.0.2:2              0000 SMCR SERV rxe0            02   01     0000:0000:0000:0000:0000:ffff:0a00:0001  0000:0000:0000:0000:0000:ffff:0a00:0002\n");
	start(&c, 43, 1, 2);
	addresses(&c, "10.0.0.1", 1, "10.0.0.2", 2);
	attr_dmbinfo(&c, 40);
	prints(&c, &smcd,
	       "ACTIVE         01000 0004711 10.0.0.1:1              10.0.0.2:2              0000 SMCD 0000000000002222 0000000000003333 0000000000001111 0000000000004444 00000100\n");
}

static void ss_wanted__filters(void **state)
{
	static const struct ss_options all = { .all = true };
	static const struct ss_options lst = { .listening = true };
	static const struct ss_options all_r = { .all = true, .smcr = true };
	struct diag_row row = { 0 };
	int nr, mode;

	for (nr = 0; nr < 30; nr++)
		for (mode = 0; mode < 3; mode++) {
			int open = nr != 2 && nr != 10;

			row.msg.diag_state = nr;
			row.msg.diag_mode = mode;
			assert_int_equal(ss_wanted(&plain, &row), open);
			assert_int_equal(ss_wanted(&all, &row), 1);
			assert_int_equal(ss_wanted(&lst, &row), nr == 10);
			assert_int_equal(ss_wanted(&smcr, &row),
					 open && mode == 0);
			assert_int_equal(ss_wanted(&smcd, &row),
					 open && mode == 2);
			assert_int_equal(ss_wanted(&all_r, &row), mode == 0);
		}
	assert_int_equal(ss_ext(&plain), 0);
	assert_int_equal(ss_ext(&details), 1);
	assert_int_equal(ss_ext(&smcr), 2);
	assert_int_equal(ss_ext(&smcd), 8);
}

static void reason_find__codes(void **state)
{
	assert_null(reason_find(0));
	assert_null(reason_find(0xffffffff));
	assert_string_equal(reason_find(0x05000000)->label, "PEERDECL");
	assert_true(strlen(reason_find(0x03010000)->hint) > 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(diag_parse__layouts),
		cmocka_unit_test(diag_parse__old_and_new_sizes),
		cmocka_unit_test(diag_parse__first_of_two_counts),
		cmocka_unit_test(diag_parse__unterminated_strings),
		cmocka_unit_test(diag_parse__damaged),
		cmocka_unit_test(ss_print_header__as_ibm),
		cmocka_unit_test(ss_print_row__modes),
		cmocka_unit_test(ss_print_row__reason_in_words),
		cmocka_unit_test(ss_print_row__unconnected_stop_early),
		cmocka_unit_test(ss_print_row__states),
		cmocka_unit_test(ss_print_row__long_addresses),
		cmocka_unit_test(ss_print_row__details),
		cmocka_unit_test(ss_print_row__transports),
		cmocka_unit_test(ss_wanted__filters),
		cmocka_unit_test(reason_find__codes),
	};

	return cmocka_run_group_tests_name("smcss", tests, NULL, NULL);
}
