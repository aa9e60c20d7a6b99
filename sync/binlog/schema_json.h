/*
 * Schemas as JSON, for what is kept in the store: sync/shapes, and what an index version was
 * made of.
 *
 * @thread any (pure)
 */
#ifndef SYNC_BINLOG_SCHEMA_JSON_H
#define SYNC_BINLOG_SCHEMA_JSON_H

#include "src/base/base.h"
#include "src/base/str.h"

#include <stdbool.h>
#include <stddef.h>

struct arena;
struct buf;
struct json_writer;
struct schema;

/* As members of the object that is open. */
void schema_format(struct json_writer *w, const struct schema *s);
/* From such an object, with other members or without; NULL: it is none. */
struct schema *schema_parse(struct str json) MUST_CHECK;

/* Schemas of several tables, of one or more topics; a zeroed one is empty. */
struct schema_list {
    struct schema **list; /* a reference each */
    struct str *topics;   /* as long; owned; empty of what was kept before there were several */
    size_t n;
};
void schema_list_add(struct schema_list *l, struct str topic, struct schema *s); /* takes a reference */
void schema_list_fini(struct schema_list *l);
/* ctx: a struct schema_list.  Borrowed; NULL: not among them. */
struct schema *schema_list_find(void *ctx, struct str topic, struct str database,
                                struct str table);
/* The names of a database's tables among them, in the arena; ctx as above.  True. */
bool schema_list_tables(void *ctx, struct str topic, struct str database, struct arena *a,
                        struct str **out, size_t *n);
void schema_list_format(const struct schema_list *l, struct buf *json);
/* False: damaged; what was read before is in it. */
bool schema_list_parse(struct schema_list *l, struct str json) MUST_CHECK;

#endif
