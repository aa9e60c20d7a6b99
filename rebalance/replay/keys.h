/*
 * struct replay_keys: what a replay has found, each once, in a file of the data folder, so that
 * a day of any size fits into bounded memory.  And how far the replay is, which is durable with
 * the keys that it stands for.
 *
 * What is added or put is durable after replay_keys_save().  A file that is damaged or another
 * job's is begun anew.
 *
 * @thread its owner's; blocks on the disk
 */
#ifndef REBALANCE_REPLAY_KEYS_H
#define REBALANCE_REPLAY_KEYS_H

#include "src/base/base.h"
#include "src/base/buf.h"
#include "src/base/err.h"
#include "src/base/str.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct arena;
struct replay_keys;

/* folder/JOB.keys; makes both. */
bool replay_keys_open(const char *folder, uint64_t job, struct replay_keys **out,
                      struct err *err) MUST_CHECK;
/* The file stays.  NULL is allowed. */
void replay_keys_close(struct replay_keys *k);
/* Remove the files of all jobs but these. */
void replay_keys_sweep(const char *folder, const uint64_t *jobs, size_t n);

/* A document, of the table `member` of the index ("shop.orders"). */
struct replay_document {
    int64_t id; /* assigned here, from 1 */
    struct str member, doc_id, routing, key;
};
bool replay_keys_add(struct replay_keys *k, const struct replay_document *d,
                     struct err *err) MUST_CHECK;
/* The next ones after this id, at most limit. */
bool replay_keys_next(struct replay_keys *k, int64_t after, size_t limit, struct arena *a,
                      struct replay_document **out, size_t *n, struct err *err) MUST_CHECK;

/* A row that documents show, by what finds them (RESOLVER_BY, sync/document/resolver.h). */
struct replay_row {
    int64_t id;
    struct str member; /* of the documents */
    uint32_t place;    /* in its plan */
    unsigned by;
    struct str key;
};
bool replay_keys_add_row(struct replay_keys *k, const struct replay_row *r,
                         struct err *err) MUST_CHECK;
bool replay_keys_next_rows(struct replay_keys *k, int64_t after, size_t limit, struct arena *a,
                           struct replay_row **out, size_t *n, struct err *err) MUST_CHECK;

/* Documents with an id up to this one; INT64_MAX: all. */
bool replay_keys_count(struct replay_keys *k, int64_t up_to, uint64_t *n,
                       struct err *err) MUST_CHECK;

/* Small values by name; empty if there is none.  Clears out first. */
bool replay_keys_get(struct replay_keys *k, const char *name, struct buf *out,
                     struct err *err) MUST_CHECK;
bool replay_keys_put(struct replay_keys *k, const char *name, struct str value,
                     struct err *err) MUST_CHECK;
/* 0 if there is none. */
bool replay_keys_get_number(struct replay_keys *k, const char *name, int64_t *out,
                            struct err *err) MUST_CHECK;
bool replay_keys_put_number(struct replay_keys *k, const char *name, int64_t value,
                            struct err *err) MUST_CHECK;

bool replay_keys_save(struct replay_keys *k, struct err *err) MUST_CHECK;
/* Forget what was added since the last save. */
void replay_keys_undo(struct replay_keys *k);

#endif
