/*
 * struct cascade_find: finds documents of an index version by what they show, and requests that
 * they be read again.
 *
 * @thread one at a time; blocks on the engine, and while delivery has no room
 */
#ifndef SYNC_RELATED_CASCADE_FIND_H
#define SYNC_RELATED_CASCADE_FIND_H

#include "src/base/base.h"
#include "src/base/err.h"
#include "src/base/str.h"

#include <stdbool.h>
#include <stdint.h>

struct delivery;
struct routing;
struct search;
struct stop;
struct target;
struct ticket;

/* A document that was found by what it shows. */
struct cascade_found {
    struct target *target;
    struct str id, routing, key;
    uint64_t version; /* the version in the index */
};

struct cascade_find { /* all borrowed */
    struct search *search;
    struct delivery *delivery;
    struct stop *stop;
    const struct routing *routing;
    struct target *target; /* search its documents */
    bool down;             /* documents below them in their join move, too */
    uint64_t at_least;     /* re-reads must include it, as in struct doc_write */
    int64_t commit_ms;
    void *ctx;
    /* Makes a ticket for the documents of one answer. */
    struct ticket *(*ticket)(void *ctx);
    /* Tells whether to read a found document; NULL: all are read. */
    bool (*is_to_be_read)(void *ctx, const struct cascade_found *f);
};

/* ERR_STOP if delivery stops. What was requested before a failure stays so. */
bool cascade_find_all(const struct cascade_find *f, struct str query,
                      struct err *err) MUST_CHECK;

#endif
