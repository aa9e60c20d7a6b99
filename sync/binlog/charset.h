/*
 * Character sets of the servers, and their conversion to UTF-8.
 *
 * Single-byte sets go through tables, Unicode ones through own code, the East Asian ones
 * through iconv(3).  Bytes that are not valid in their set are never replaced here: conversion
 * fails, and the caller keeps the raw bytes, so nothing is lost.
 */
#ifndef SYNC_BINLOG_CHARSET_H
#define SYNC_BINLOG_CHARSET_H

#include "src/base/base.h"
#include "src/base/str.h"

#include <stdbool.h>
#include <stdint.h>

struct arena;
struct charset;

/* By the server's name ("latin1", "utf8mb3", "UTF8MB4"); NULL: unknown. */
const struct charset *charset_find(struct str name);

/* Of a collation id, also MariaDB's nopad and uca1400 ones; NULL: unknown. */
const struct charset *charset_of_collation(uint32_t id);

/* "utf8mb4", static. */
struct str charset_name(const struct charset *cs);
bool charset_is_binary(const struct charset *cs);
/* Its bytes are UTF-8 already, if valid. */
bool charset_is_utf8_based(const struct charset *cs);

/* Tables that are built from iconv at first use.  @thread one at a time */
struct charset_converter;

struct charset_converter *charset_converter_new(void) RETURNS_NONNULL MUST_CHECK;
void charset_converter_free(struct charset_converter *c); /* NULL is fine */

/*
 * in as UTF-8: in itself when nothing has to change, else bytes in a.  False: in is not valid
 * in cs (or iconv does not know cs), *out is untouched.
 */
bool charset_to_utf8(struct charset_converter *c, const struct charset *cs, struct str in,
                     struct arena *a, struct str *out) MUST_CHECK;

#endif
