/*
 * struct store_watch: the store as of its last answer, for people who look.
 *
 * Its own thread reads the store, so that nobody who looks waits for a store that hangs. A
 * request that has stored something calls store_watch_read() at once, so that its sender sees
 * the effect.
 *
 * @thread any (locked inside)
 */
#ifndef REBALANCE_WATCH_STORE_WATCH_H
#define REBALANCE_WATCH_STORE_WATCH_H

#include "rebalance/watch/watch.h"
#include "src/base/base.h"
#include "src/base/str.h"
#include "src/store/store.h"

#include <stdbool.h>
#include <stddef.h>

struct arena;
struct fan_out_sum;
struct snapshot_run;
struct stop;
struct store;
struct store_watch;
struct stored_told;
struct stored_told_node;
struct stored_value;
struct version_name;

/* The result of one reading. Immutable, reference-counted. */
struct store_copy {
    unsigned refs; /* atomic */
    struct arena *arena;
    struct dead_letter_count *dead;
    size_t n_dead;
    /* Their names include the prefix. */
    struct stored_value *pending, *verify, *compared, *successes;
    size_t n_pending, n_verify, n_compared, n_successes;
    struct stored_job *jobs;
    size_t n_jobs;
    struct version_name *dropped; /* dropped, but not yet deleted in the engine */
    size_t n_dropped;
    struct fan_out_sum *fan_outs;
    size_t n_fan_outs;
    struct snapshot_run *runs; /* of delayed tables */
    size_t n_runs;
    struct stored_checkpoint *checkpoints;
    size_t n_checkpoints;
    struct stored_told *told; /* none unless other nodes share the store */
    size_t n_told;
    struct stored_told_node *nodes; /* likewise */
    size_t n_nodes;
};

/* Borrows both. The thread ends by `stop`. */
struct store_watch *store_watch_new(struct store *store,
                                    struct stop *stop) RETURNS_NONNULL MUST_CHECK;
/* Other nodes share the store: read what they tell as well.  Call it before all others. */
void store_watch_share(struct store_watch *w);
void store_watch_start(struct store_watch *w);
void store_watch_join(struct store_watch *w);
void store_watch_free(struct store_watch *w); /* NULL is fine */

/*
 * Call this when somebody looks or something was stored: the thread soon reads the store again.
 */
void store_watch_want(struct store_watch *w);
/* Read the store now. Blocks. If that fails, the thread tries again. */
void store_watch_read(struct store_watch *w);

struct heard store_watch_heard(struct store_watch *w);
/* Returns a new reference, or NULL if the store has never answered. */
struct store_copy *store_watch_copy(struct store_watch *w) MUST_CHECK;
void store_copy_unref(struct store_copy *c); /* NULL is fine */

/* What the topic's owner told last; NULL: nothing. */
const struct stored_told *store_copy_told(const struct store_copy *c, struct str topic);
/*
 * Find the content of PREFIX/NAME; prefix ends with the slash. Returns false if there is none.
 */
bool store_copy_find(const struct stored_value *values, size_t n, const char *prefix,
                     struct str name, struct str *content) MUST_CHECK;

#endif
