/*
 * Documents whose rows are gone but that stay in their index for now: the search for what
 * foreign keys deleted along with those rows still needs them
 * (sync/related/cascade/cascades.h).
 *
 * Once such a document is stored here, the change that led to it is done as far as its
 * transaction is concerned.  After a start the rows are read again by key, and the work
 * continues.
 *
 * @thread any (locked inside; calls may block)
 */
#ifndef SRC_STORE_LATER_GONE_H
#define SRC_STORE_LATER_GONE_H

#include "src/base/base.h"
#include "src/base/err.h"
#include "src/base/str.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct arena;
struct store;

struct stored_gone {
    uint64_t id;                /* assigned by the store */
    struct str index;           /* alias */
    uint64_t version;           /* index version number */
    struct str member;          /* the table its row was in: "shop.orders" */
    struct str doc_id, routing; /* at most 512 bytes each */
    struct str key;             /* reads its row */
};

/* The owner of the topic; ERR_STOP if the term is no longer the latest. */
struct gone_owner {
    struct str topic;
    uint64_t term;
};

/*
 * Store all documents or none; one that is already stored keeps its id.  Leaves out documents
 * of versions that are no longer written to.
 */
bool store_put_gone(struct store *s, const struct gone_owner *owner,
                    const struct stored_gone *docs, size_t n, struct err *err) MUST_CHECK;
/* Load the topic's first `limit` documents after after_id, by id. */
bool store_load_gone(struct store *s, struct arena *a, struct str topic, uint64_t after_id,
                     size_t limit, struct stored_gone **out, size_t *n,
                     struct err *err) MUST_CHECK;
/*
 * Remove these, found by index, version, doc_id and routing: the engine has deleted them, or
 * their rows exist again.
 */
bool store_end_gone(struct store *s, const struct gone_owner *owner,
                    const struct stored_gone *docs, size_t n, struct err *err) MUST_CHECK;

#endif
