/*
 * Relations that follow from foreign keys, each as a comment of the draft: removing its `#`,
 * and that of `relations:`, takes it in.
 *
 *     a table's own keys     the row that each leads to, as an object
 *     keys that lead to it   the rows that have them, as a nested array; as an object if the
 *                            key is unique
 *     keys of a link table   the rows at its other end (`through`), as a nested array
 *
 * Each relation is one level deep, so circles of foreign keys end.
 *
 * @thread any (pure)
 */
#ifndef SYNC_DRAFT_DRAFT_RELATIONS_H
#define SYNC_DRAFT_DRAFT_RELATIONS_H

#include "src/base/str.h"

#include <stdbool.h>
#include <stddef.h>

struct arena;
struct buf;
struct schema;
struct survey;

/* A table that only joins two others. */
struct draft_link {
    bool is_link;
    size_t keys[2];
};

struct draft_graph {
    const struct survey *survey;
    struct str database;      /* the name of the survey's schema in the file */
    size_t *children;         /* of each key, the table that has it */
    size_t *parents;          /* ... and the one that it leads to; n_tables: none of these */
    struct draft_link *links; /* of each table */
};

/* Everything is borrowed, the arena too. */
void draft_graph_init(struct draft_graph *g, const struct survey *s, struct str database,
                      struct arena *a);

/* Append the relations of a table. */
void draft_append_relations(const struct draft_graph *g, size_t table, struct buf *yaml);

/*
 * Append ", columns: [...]" if documents cannot show the table without a list; otherwise
 * nothing.
 */
void draft_append_renamed(const struct schema *s, struct buf *yaml);

#endif
