/*
 * Where a topic's log was at each midnight of its zone: the start of the first transaction of
 * the day (sync/checkpoint/midnights.h).
 *
 * @thread any (locked inside; calls may block)
 */
#ifndef SRC_STORE_LATER_MIDNIGHT_H
#define SRC_STORE_LATER_MIDNIGHT_H

#include "src/base/base.h"
#include "src/base/err.h"
#include "src/base/str.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct arena;
struct store;

#define MIDNIGHT_DAYS_MAX 31 /* so many are kept */

struct stored_midnight {
    int64_t day;    /* since 1970-01-01 */
    uint64_t epoch; /* of which log the position is */
    struct str file;
    uint64_t offset;
};

/* The owner of the topic, and the zone whose midnights they are ("Europe/Berlin"). */
struct midnight_owner {
    struct str topic, zone;
    uint64_t term;
};

/*
 * Store all, newest last, and forget those of the zone that are older than MIDNIGHT_DAYS_MAX.
 * One that is stored already is replaced.  ERR_STOP if the term is no longer the latest.
 */
bool store_put_midnights(struct store *s, const struct midnight_owner *owner,
                         const struct stored_midnight *m, size_t n, struct err *err) MUST_CHECK;
/* Load those of the topic and zone, by day. */
bool store_load_midnights(struct store *s, struct arena *a, struct str topic, struct str zone,
                          struct stored_midnight **out, size_t *n, struct err *err) MUST_CHECK;

#endif
