/*
 * struct seek: at which routings a document is asked for that a changed row leads to.
 *
 * At the one that the same statement told, mostly.  A row by which documents find their root moves
 * them, and where they lay before, only rows told that may have changed since: so these are asked
 * for in every shard as well.  Where such a read finds that a document belongs elsewhere, it is
 * deleted there and asked for at its place (sync/delivery/operation.h).
 *
 * @thread any (pure)
 */
#ifndef SYNC_SEEK_H
#define SYNC_SEEK_H

#include "src/base/base.h"
#include "src/base/str.h"

#include <stdbool.h>
#include <stddef.h>

struct target;

struct seek {
    const struct str *shards; /* the target's */
    size_t n_shards;          /* 0: where it was told alone */
    bool by_path;             /* a document without a routing lies nowhere now */
};

/* For documents that rows of that place of the target's plan lead to. */
struct seek seek_from(const struct target *t, size_t place);

/* How many routings, for a document of which a statement told this one; and which they are. */
size_t seek_count(const struct seek *s, struct str told);
struct str seek_at(const struct seek *s, struct str told, size_t i);

#endif
