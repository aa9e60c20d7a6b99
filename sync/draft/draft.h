/*
 * A draft of a definition file: one topic, one database, and every table of a survey with its
 * key, an index of its name, and its columns and relations as comments.
 *
 * `apply` accepts it as it is, and with any of its relations taken in.
 *
 * @thread any (pure)
 */
#ifndef SYNC_DRAFT_DRAFT_H
#define SYNC_DRAFT_DRAFT_H

#include "src/base/str.h"
#include "src/search/engine.h"
#include "sync/definition/definition.h"

#include <stdbool.h>
#include <stddef.h>

struct buf;
struct survey;

/* Borrows everything for the call. */
struct draft_request {
    const struct survey *survey;
    struct str name; /* of the topic, and of the database in the file */
    const struct server_definition *server;
    const bool *wanted; /* of each of the survey's tables; NULL: all */
    struct engine engine;
};

struct draft_counts {
    size_t n_tables; /* defined */
    size_t n_without_key, n_denied;
    size_t first; /* the first one that is defined; n_tables of the survey if none */
};

struct draft_counts draft_append_yaml(const struct draft_request *r, struct buf *yaml);

#endif
