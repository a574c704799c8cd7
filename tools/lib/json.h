/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Writing of JSON to standard output.
 *
 * Objects and arrays are opened and closed; commas, line ends and indentation
 * come by themselves.  A key of NULL is for the members of an array.  One
 * document at a time.
 */
#ifndef TOOLS_JSON_H
#define TOOLS_JSON_H

#include <stdbool.h>
#include <stdint.h>

#include "format.h"

void json_begin(bool pretty);
void json_list(bool pretty);
void json_object(const char *key);
void json_array(const char *key);
void json_close(void);
void json_end(void);

void json_str(const char *key, const char *text);
void json_uint(const char *key, uint64_t value);
void json_bool(const char *key, bool value);
void json_fmt(const char *key, const char *format, ...)
	__printf(2, 3);

#endif /* TOOLS_JSON_H */
