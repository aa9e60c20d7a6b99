/*
 * Schemas as JSON, for the store: sync/routing/shapes keeps them, and so does the record of
 * what an index version was built from.
 *
 * @thread any (pure)
 */
#ifndef SYNC_VALUE_SCHEMA_JSON_H
#define SYNC_VALUE_SCHEMA_JSON_H

#include "src/base/base.h"
#include "src/base/str.h"

#include <stdbool.h>
#include <stddef.h>

struct arena;
struct buf;
struct json_writer;
struct schema;

/* Write the schema as members of the open object. */
void schema_format(struct json_writer *w, const struct schema *s);
/* Parse such an object; ignores other members.  Returns NULL if it holds no schema. */
struct schema *schema_parse(struct str json) MUST_CHECK;

/* Schemas of tables of one or more topics.  Zero-initialise for an empty list. */
struct schema_list {
    struct schema **list; /* one reference each */
    struct str *topics;   /* parallel to list; owned; "" in records older than several topics */
    size_t n;
};
void schema_list_add(struct schema_list *l, struct str topic,
                     struct schema *s); /* takes a reference */
void schema_list_fini(struct schema_list *l);
/* ctx is a struct schema_list.  Returns a borrowed schema, or NULL if the list lacks it. */
struct schema *schema_list_find(void *ctx, struct str topic, struct str database,
                                struct str table);
/*
 * List the tables of a database; the arena owns the names. ctx as above.  Always returns true.
 */
bool schema_list_tables(void *ctx, struct str topic, struct str database, struct arena *a,
                        struct str **out, size_t *n);
void schema_list_format(const struct schema_list *l, struct buf *json);
/* Returns false if json is damaged; the list then holds what came before the damage. */
bool schema_list_parse(struct schema_list *l, struct str json) MUST_CHECK;

#endif
