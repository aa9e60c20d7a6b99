/*
 * Purged changes, by the keys of their documents.
 *
 * A change that is purged from delivery is done for its transaction once it is here.  A
 * document is here once, however often it was purged: `times` counts that.  It goes when it was
 * read and written again, unless it was purged again meanwhile, or with its index.
 *
 * @thread any (locked inside; calls may block)
 */
#ifndef SRC_STORE_PURGED_H
#define SRC_STORE_PURGED_H

#include "src/base/base.h"
#include "src/base/err.h"
#include "src/base/str.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct arena;
struct store;

struct stored_purged {
    uint64_t id;                    /* given by the store */
    struct str topic, table, index; /* index: concrete, "orders_v2" */
    struct str doc_id, routing;     /* of at most 512 bytes each */
    struct str key;                 /* what its row is read by */
    uint64_t version;               /* the newest of what was purged */
    bool unanswered; /* of that, something was sent and may still be applied at that version */
    uint64_t times;  /* changes; added up */
    int64_t at_ms;   /* steady time, of the last */
};

/* All of them, or none. */
bool store_put_purged(struct store *s, const struct stored_purged *p, size_t n,
                      struct err *err) MUST_CHECK;

/*
 * Documents of the index behind after_id, those that came first in front.  What is unanswered
 * comes only when it was purged last before settled_ms, or after ahead_ms: by a clock that was
 * put back since.
 */
struct purged_filter {
    uint64_t after_id; /* 0: from the first */
    int64_t settled_ms, ahead_ms;
};
bool store_load_purged(struct store *s, struct arena *a, struct str index,
                       struct purged_filter which, size_t limit, struct stored_purged **out,
                       size_t *n, struct err *err) MUST_CHECK;

/* These were written again: they go, but for those that were purged again since they were
 * loaded.  *changes: as many changes went with them. */
bool store_end_purged(struct store *s, const struct stored_purged *p, size_t n,
                      uint64_t *changes, struct err *err) MUST_CHECK;
bool store_delete_purged_index(struct store *s, struct str index, struct err *err) MUST_CHECK;

/* What there is, by index. */
struct purged_count {
    struct str topic, index;
    uint64_t documents, changes;
};
bool store_count_purged(struct store *s, struct arena *a, struct purged_count **out, size_t *n,
                        struct err *err) MUST_CHECK;

#endif
