/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What the test programs share: socket kinds, addresses, sizes with a suffix,
 * files, time, and ends with a message.
 */
#ifndef SMC_SELFTEST_UTIL_H
#define SMC_SELFTEST_UTIL_H

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#ifndef AF_SMC
#define AF_SMC 43
#endif
#ifndef IPPROTO_SMC
#define IPPROTO_SMC 256
#endif

/* how a program asks for its socket */
enum kind { KIND_TCP, KIND_IPPROTO, KIND_AFSMC };

#define KIND_HELP "tcp, ipproto (IPPROTO_SMC) or afsmc (AF_SMC)"

#define ARRAY_LEN(a)	(sizeof(a) / sizeof((a)[0]))

void die(const char *fmt, ...) __attribute__((format(printf, 1, 2), noreturn));
uint64_t now_ns(void);
double seconds_since(uint64_t start_ns);
uint64_t random64(uint64_t *state);

enum kind parse_kind(const char *s);
uint64_t parse_size(const char *s);
socklen_t parse_addr(const char *host, const char *port,
		     struct sockaddr_storage *ss);

int open_socket(enum kind kind, int family, int flags);
void decline(int fd);
void decline_if_asked(int fd, enum kind kind);
int open_listener(enum kind kind, const struct sockaddr_storage *ss,
		  socklen_t len, int backlog, int sndbuf, int rcvbuf);
int unshare_net(void);

int set_int(int fd, int level, int opt, int val);
void must_set(int fd, int level, int opt, int val);
int get_int(int fd, int level, int opt);
int so_error(int fd);
void set_nonblock(int fd);
void close_fd(int *fd);

int env_int(const char *name, int dflt);
int put_text(const char *path, const char *text);
const char *first_line(const char *path, char *line, int size);
void touch(const char *path);
void shrink_slabs(void);

#endif /* SMC_SELFTEST_UTIL_H */
