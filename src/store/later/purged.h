/*
 * Purged changes, by the keys of their documents.
 *
 * Once a change purged from delivery is stored here, it is done as far as its transaction is
 * concerned.  Each document is stored once, however often it was purged; `times` counts the
 * purges.  A document leaves when it has been read and written again and was not purged
 * meanwhile, or when its index goes.
 *
 * @thread any (locked inside; calls may block)
 */
#ifndef SRC_STORE_LATER_PURGED_H
#define SRC_STORE_LATER_PURGED_H

#include "src/base/base.h"
#include "src/base/err.h"
#include "src/base/str.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct arena;
struct store;

struct stored_purged {
    uint64_t id;                    /* assigned by the store */
    struct str topic, table, index; /* index: concrete, "orders_v2" */
    struct str doc_id, routing;     /* at most 512 bytes each */
    struct str key;                 /* reads its row */
    uint64_t version;               /* the newest that was purged */
    /* A request was sent without an answer and may still be applied at that version. */
    bool unanswered;
    uint64_t times; /* changes, added up */
    int64_t at_ms;  /* steady time of the last purge */
    uint64_t term;  /* for store_end_purged(): of its topic, when it was written again */
};

/* Store all or none. */
bool store_put_purged(struct store *s, const struct stored_purged *p, size_t n,
                      struct err *err) MUST_CHECK;

/*
 * Load the index's documents after after_id, by id: oldest entries first.  Unanswered ones are
 * loaded only if last purged before settled_ms, or after ahead_ms: their time is from a clock
 * that was set back since.
 */
struct purged_filter {
    uint64_t after_id; /* 0: from the first */
    int64_t settled_ms, ahead_ms;
    struct str doc_id; /* empty: any */
};
bool store_load_purged(struct store *s, struct arena *a, struct str index,
                       struct purged_filter which, size_t limit, struct stored_purged **out,
                       size_t *n, struct err *err) MUST_CHECK;

/*
 * Remove documents that were written again, except those purged again since they were loaded.
 * *changes: how many changes the removed ones stood for.  ERR_STOP, and none is removed, unless
 * each was written under its topic's latest term: what the engine refused while the topic was
 * lost has no dead letter.
 */
bool store_end_purged(struct store *s, const struct stored_purged *p, size_t n,
                      uint64_t *changes, struct err *err) MUST_CHECK;
bool store_delete_purged_index(struct store *s, struct str index, struct err *err) MUST_CHECK;

/* Counts per index of a topic; empty: of all. */
struct purged_count {
    struct str topic, index;
    uint64_t documents, changes;
    int64_t oldest_ms; /* the least at_ms */
};
bool store_count_purged(struct store *s, struct arena *a, struct str topic,
                        struct purged_count **out, size_t *n, struct err *err) MUST_CHECK;

#endif
