/*
 * struct gtid_set: the global transaction ids that a source has executed.  Pure.
 *
 * MySQL: a set of intervals for each UUID and tag ("3e11fa47-…:1-5:11,…:tag:7").  MariaDB: the
 * last id of each domain ("0-1-100,1-2-5").  The first id added fixes the family of a set.
 * Sets of different families have no ids in common.
 */
#ifndef SYNC_POSITION_GTID_SET_H
#define SYNC_POSITION_GTID_SET_H

#include "src/base/base.h"
#include "src/base/err.h"
#include "src/base/str.h"
#include "sync/position/gtid.h"

#include <stdbool.h>

struct buf;
struct gtid_set;

struct gtid_set *gtid_set_new(void) RETURNS_NONNULL MUST_CHECK;
struct gtid_set *gtid_set_copy(const struct gtid_set *s) RETURNS_NONNULL MUST_CHECK;
void gtid_set_free(struct gtid_set *s); /* NULL is allowed */

/* ---- gtid_set_text.c ---- */
/* Parse a set of either family.  Accepts white space between the parts, as servers print it. */
bool gtid_set_parse(struct str text, struct gtid_set **out, struct err *err) MUST_CHECK;
/* Print the origins sorted, the intervals joined, in lower case: equal sets give equal text. */
void gtid_set_format(struct buf *b, const struct gtid_set *s);

enum gtid_family gtid_set_family(const struct gtid_set *s);
bool gtid_set_is_empty(const struct gtid_set *s);
bool gtid_set_equal(const struct gtid_set *a, const struct gtid_set *b);

/*
 * MySQL: add one id.  MariaDB: make g the last id of its domain, even if g has a lower number.
 */
void gtid_set_add(struct gtid_set *s, const struct gtid *g);
/* MySQL: form the union.  MariaDB: keep the higher number of each domain. */
void gtid_set_merge(struct gtid_set *s, const struct gtid_set *other);

/* MySQL: tell whether g is in s.  MariaDB: tell whether its domain has reached g's number. */
bool gtid_set_contains(const struct gtid_set *s, const struct gtid *g);
/* Tell whether s contains every id of other. */
bool gtid_set_includes(const struct gtid_set *s, const struct gtid_set *other);
/* Return the ids of a that b does not contain. */
struct gtid_set *gtid_set_minus(const struct gtid_set *a,
                                const struct gtid_set *b) RETURNS_NONNULL MUST_CHECK;

/* ---- gtid_set_wire.c ---- */
/* MySQL only: the format in PREVIOUS_GTIDS and COM_BINLOG_DUMP_GTID, tagged or untagged. */
bool gtid_set_decode(struct str bytes, struct gtid_set **out, struct err *err) MUST_CHECK;
void gtid_set_encode(struct buf *b, const struct gtid_set *s);

#endif
