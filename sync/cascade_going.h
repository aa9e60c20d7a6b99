/*
 * struct going: documents of one index whose rows a read did not find, and who waits for them.
 *
 * They stay in the index until what went along with their rows was found by them: then they are
 * deleted, at the stamp of that read.
 *
 * @thread one at a time
 */
#ifndef SYNC_CASCADE_GOING_H
#define SYNC_CASCADE_GOING_H

#include "src/base/base.h"
#include "src/base/str.h"
#include "sync/delivery/operation.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct arena;

/* So many documents at most. */
#define GOING_MAX 500

struct going_document {
    struct str id, routing, key;
};

struct going {
    struct going *next;    /* for whoever queues it */
    void *owner;           /* for them too */
    struct target *target; /* a reference */
    uint64_t stamp, log_end;
    uint8_t depth;
    struct arena *arena;
    struct going_document *docs;
    size_t n, cap;
    struct ticket **tickets; /* held */
    size_t n_tickets, tickets_cap;
};

/* With no document yet. */
struct going *going_new(const struct gone_row *row) RETURNS_NONNULL MUST_CHECK;
/* Whether one more may be added, of the same read. */
bool going_takes(const struct going *g, const struct gone_row *row);
/* Takes its tickets over. */
void going_add(struct going *g, const struct gone_row *row);

/* Those who wait are told, and it is freed. */
void going_end(struct going *g, enum outcome how);
void going_abandon(struct going *g);

#endif
