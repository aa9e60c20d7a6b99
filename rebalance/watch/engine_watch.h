/*
 * struct engine_watch: the last known health of the search engine and the document counts of
 * its indexes.
 *
 * Its own thread asks, one question at a time, so that people who look never wait for an engine
 * that hangs.
 *
 * @thread any (locked inside)
 */
#ifndef REBALANCE_WATCH_ENGINE_WATCH_H
#define REBALANCE_WATCH_ENGINE_WATCH_H

#include "rebalance/watch/watch.h"
#include "src/base/base.h"
#include "src/base/str.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct arena;
struct engine_watch;
struct search;
struct stop;

struct engine_watch_options { /* all borrowed */
    struct search *search;
    struct stop *stop; /* ends the thread */
    void *ctx;
    /* Lists the indexes whose documents to count, in the arena. */
    void (*indexes)(void *ctx, struct arena *a, struct str **names, size_t *n);
};

struct engine_watch *
engine_watch_new(const struct engine_watch_options *opt) RETURNS_NONNULL MUST_CHECK;
void engine_watch_start(struct engine_watch *w);
void engine_watch_join(struct engine_watch *w);
void engine_watch_free(struct engine_watch *w); /* NULL is fine */

/* Call this when somebody looks: the thread soon asks again for what is old. */
void engine_watch_want(struct engine_watch *w);

struct engine_heard {
    struct heard is;
    bool
        is_unreachable; /* away because nobody answers, or to nobody: it takes nothing either */
    char health[24];    /* the last health, "green"; empty: never answered */
};
struct engine_heard engine_watch_heard(struct engine_watch *w);

/* The number of documents that searches find, without nested ones. */
struct document_count {
    uint64_t n;
    int64_t at_ms;  /* wall time of the count; 0: never */
    struct err why; /* why a later count was refused; ERR_NONE: none was */
};
struct document_count engine_watch_count(struct engine_watch *w, struct str index);
/*
 * Count the index now. Blocks. The thread counts again soon in any case, so a failure needs no
 * handling.
 */
void engine_watch_count_now(struct engine_watch *w, struct str index);

#endif
