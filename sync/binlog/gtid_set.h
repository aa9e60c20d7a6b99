/*
 * struct gtid_set: the global transaction ids that a source has executed.
 *
 * MySQL: sets of intervals per UUID and tag ("3e11fa47-…:1-5:11,…:tag:7").  MariaDB: the last
 * id of each domain ("0-1-100,1-2-5").  A set takes its family from what is put in first;
 * operations on sets of different families find nothing in common.  Pure.
 */
#ifndef SYNC_BINLOG_GTID_SET_H
#define SYNC_BINLOG_GTID_SET_H

#include "src/base/base.h"
#include "src/base/err.h"
#include "src/base/str.h"
#include "sync/binlog/gtid.h"

#include <stdbool.h>

struct buf;
struct gtid_set;

struct gtid_set *gtid_set_new(void) RETURNS_NONNULL MUST_CHECK;
struct gtid_set *gtid_set_copy(const struct gtid_set *s) RETURNS_NONNULL MUST_CHECK;
void gtid_set_free(struct gtid_set *s); /* NULL is fine */

/* ---- gtid_set_text.c ---- */
/* Of either family; white space anywhere between the parts, as servers print them. */
bool gtid_set_parse(struct str text, struct gtid_set **out, struct err *err) MUST_CHECK;
/* Sorted, intervals joined, lower case: equal sets give equal text. */
void gtid_set_format(struct buf *b, const struct gtid_set *s);

enum gtid_family gtid_set_family(const struct gtid_set *s);
bool gtid_set_is_empty(const struct gtid_set *s);
bool gtid_set_equal(const struct gtid_set *a, const struct gtid_set *b);

/* MySQL: one more id.  MariaDB: the new last id of its domain, whatever was there. */
void gtid_set_add(struct gtid_set *s, const struct gtid *g);
/* MySQL: union.  MariaDB: the higher number of each domain. */
void gtid_set_merge(struct gtid_set *s, const struct gtid_set *other);

/* MySQL: g is in s.  MariaDB: the domain has reached g's number. */
bool gtid_set_contains(const struct gtid_set *s, const struct gtid *g);
/* Every id of other is contained in s. */
bool gtid_set_includes(const struct gtid_set *s, const struct gtid_set *other);
/* What of a is not contained in b. */
struct gtid_set *gtid_set_minus(const struct gtid_set *a,
                                const struct gtid_set *b) RETURNS_NONNULL MUST_CHECK;

/* ---- gtid_set_wire.c ---- */
/* MySQL: the body of PREVIOUS_GTIDS and of COM_BINLOG_DUMP_GTID, tagged or not. */
bool gtid_set_decode(struct str bytes, struct gtid_set **out, struct err *err) MUST_CHECK;
void gtid_set_encode(struct buf *b, const struct gtid_set *s);

#endif
