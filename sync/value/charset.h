/*
 * Character sets of the servers, and conversion to UTF-8.
 *
 * Tables convert single-byte sets, code of our own the Unicode ones, iconv(3) the East Asian
 * ones.  Conversion fails on bytes that are invalid in their set and never replaces them; the
 * caller keeps the raw bytes, so nothing is lost.
 */
#ifndef SYNC_VALUE_CHARSET_H
#define SYNC_VALUE_CHARSET_H

#include "src/base/base.h"
#include "src/base/str.h"

#include <stdbool.h>
#include <stdint.h>

struct arena;
struct charset;

/* Find by the server's name ("latin1", "utf8mb3", "UTF8MB4").  Returns NULL if unknown. */
const struct charset *charset_find(struct str name);

/*
 * Find by collation id, including MariaDB's nopad and uca1400 ones.  Returns NULL if unknown.
 */
const struct charset *charset_of_collation(uint32_t id);

/* Returns static text, for example "utf8mb4". */
struct str charset_name(const struct charset *cs);
bool charset_is_binary(const struct charset *cs);
/* Tell whether valid text of this set is UTF-8 already. */
bool charset_is_utf8_based(const struct charset *cs);

/* Holds the tables, built from iconv at first use.  @thread one at a time */
struct charset_converter;

struct charset_converter *charset_converter_new(void) RETURNS_NONNULL MUST_CHECK;
void charset_converter_free(struct charset_converter *c); /* NULL is allowed */

/*
 * Convert in to UTF-8.  *out borrows in if the text is UTF-8 already, else a owns it.  Returns
 * false and leaves *out alone if in is invalid in cs or iconv does not know cs.
 */
bool charset_to_utf8(struct charset_converter *c, const struct charset *cs, struct str in,
                     struct arena *a, struct str *out) MUST_CHECK;

#endif
