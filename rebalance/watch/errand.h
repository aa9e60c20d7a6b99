/*
 * struct errand: one request of a person to something that may hang: a database, the search
 * engine, the store.
 *
 * It runs on its own thread, and its sender waits at most ERRAND_MS for each sign of life.
 * After that the sender leaves it, and it goes on alone: its database connections are
 * interrupted, its other calls end by their own limits. Until it is over, errand_send() sends
 * no other errand to the same server, so that no threads pile up there.
 *
 * @thread the sender's; run() and its ctx: the errand's own thread; errands lock inside
 */
#ifndef REBALANCE_WATCH_ERRAND_H
#define REBALANCE_WATCH_ERRAND_H

#include "src/base/base.h"
#include "src/base/buf.h"
#include "src/base/err.h"
#include "src/base/magic.h"
#include "src/base/thread.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define ERRAND_MS 5000
/*
 * Limit of its connections, so that an errand that was left ends soon even while it waits for
 * one.
 */
#define ERRAND_CONN_S (ERRAND_MS / 1000 + 1)

struct arena;
struct asking;
struct errand;
struct errands;

typedef bool (*errand_fn)(struct errand *e, struct err *err);

struct errand {
    enum magic magic;
    struct arena *arena;   /* for its arguments and its results */
    struct asking *asking; /* for its database connections; each statement is a sign of life */
    void *ctx; /* arguments and results, in arena; must not point to the sender's memory */
    void (*fini)(void *ctx); /* releases what ctx holds besides the arena; NULL: nothing */
    struct buf text;         /* its result, if that is a text */

    /* Private to errand.c. */
    struct errands *all; /* NULL: it did not start */
    struct errand *next;
    errand_fn run;
    pthread_t thread;
    struct stop over;
    struct err err;
    const char *who;  /* atomic */
    uint64_t signs;   /* atomic */
    uint64_t seen;    /* the value of signs that the sender saw last */
    int64_t lived_ms; /* monotonic: when the sender last saw a new one */
    bool is_left;     /* nobody waits for it; guarded by the errands' lock */
};

/* wait_ms: how long senders wait for a sign of life; ERRAND_MS except in tests. */
struct errands *errands_new(int64_t wait_ms) RETURNS_NONNULL MUST_CHECK;
/* Start no more errands, and interrupt the database connections of those that run. */
void errands_end(struct errands *all);
/* End all errands and wait for each. Their senders must have left them. NULL is fine. */
void errands_free(struct errands *all);

/* who: whom it asks first, e.g. "the store"; copied. size: of ctx, which starts zeroed. */
struct errand *errand_new(const char *who, size_t size) RETURNS_NONNULL MUST_CHECK;
/*
 * Start run() on a new thread. The errand fails at once if one that was left still hangs at the
 * same `who`.
 */
void errand_send(struct errands *all, struct errand *e, errand_fn run);
/* Block until each errand is over or has given no sign of life for wait_ms. */
void errand_wait(struct errand *const *list, size_t n);
/* The outcome, after errand_wait(). ERR_RETRY may name who does not answer. */
bool errand_is_done(struct errand *e, struct err *err) MUST_CHECK;
/* Send, wait and return the outcome. */
bool errand_run(struct errands *all, struct errand *e, errand_fn run,
                struct err *err) MUST_CHECK;
/* Release the errand. If it still runs, it is freed later. */
void errand_leave(struct errand *e);

/* On its thread: record a sign of life. */
void errand_live(struct errand *e);

#endif
