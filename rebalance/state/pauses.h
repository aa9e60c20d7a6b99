/*
 * What a person paused: topics that read nothing and indexes that get nothing, until the person
 * lets them go on.  The store keeps each as the value "pause/topic/NAME" or
 * "pause/index/ALIAS"; an empty value is a pause that has ended.
 *
 * @thread any; load and store block on the store
 */
#ifndef REBALANCE_STATE_PAUSES_H
#define REBALANCE_STATE_PAUSES_H

#include "src/base/base.h"
#include "src/base/err.h"
#include "src/base/str.h"
#include "src/store/store.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct arena;
struct buf;

#define PAUSE_TOPIC "topic"
#define PAUSE_INDEX "index"

struct pause {
    struct str kind, name;
    struct str reason;    /* the person's words; or empty */
    int64_t at_ms;        /* wall time */
    uint64_t retention_s; /* of a topic: how long its server kept its log then; 0: not known */
    int64_t needs_ms; /* of a topic: wall time of the oldest change not delivered then; 0: it
                         had none, or that is not known */
};

bool pauses_load(struct store *store, struct arena *a, struct pause **out, size_t *n,
                 struct err *err) MUST_CHECK;
bool pause_store(struct store *store, const struct pause *p, struct err *err) MUST_CHECK;
bool pause_end(struct store *store, struct str kind, struct str name,
               struct err *err) MUST_CHECK;
/* Returns NULL if it is not paused. */
const struct pause *pauses_find(const struct pause *list, size_t n, const char *kind,
                                struct str name);
/* Append "a person paused it at 2026-11-25 03:04:05 UTC: REASON". */
void pause_append(struct buf *b, const struct pause *p);

#endif
