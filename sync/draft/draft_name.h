/*
 * Names that a draft gives: to a database, to indexes, to relations.  Each follows the rules of
 * its kind (sync/definition/rule.h) and differs from those given before.
 *
 * @thread any (pure)
 */
#ifndef SYNC_DRAFT_DRAFT_NAME_H
#define SYNC_DRAFT_DRAFT_NAME_H

#include "src/base/str.h"

struct buf;
struct map;

/* Append the name of a topic, a database and their file for a schema of a server. */
void draft_append_database(struct buf *out, struct str schema);

/* Append the name of a table's index.  `taken` holds every name given so far. */
void draft_append_index(struct buf *out, struct map *taken, struct str table);

/* Append the name of a relation: `wanted`, or if it is taken `other`, or that with a number. */
void draft_append_relation(struct buf *out, struct map *taken, struct str wanted,
                           struct str other);

/* The part of a foreign key's column that names what it leads to, "customer" of customer_id. */
struct str draft_stem(struct str column);

#endif
