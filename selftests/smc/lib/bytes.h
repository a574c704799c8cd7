/* SPDX-License-Identifier: GPL-2.0 */
/* A stream whose bytes follow from their position, so that none is lost unseen. */
#ifndef SMC_SELFTEST_BYTES_H
#define SMC_SELFTEST_BYTES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

unsigned char byte_at(uint64_t pos);
void fill_bytes(void *buf, size_t len, uint64_t pos);
size_t first_wrong(const void *buf, size_t len, uint64_t pos);

bool write_just(int fd, size_t len, uint64_t pos);
bool read_just(int fd, size_t len, uint64_t pos);
size_t fill_from(int fd, uint64_t pos);
ssize_t read_to_end(int fd, uint64_t pos, int *err);

#endif /* SMC_SELFTEST_BYTES_H */
