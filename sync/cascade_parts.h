/*
 * What the files of struct cascades share.  Nobody else includes this; cascades.h is for all
 * others.
 *
 * cascade_intake  rows come, and wait
 * cascade_look    documents are found, the lowest level first
 * cascade_thread  which rows are looked for, and when
 */
#ifndef SYNC_CASCADE_PARTS_H
#define SYNC_CASCADE_PARTS_H

#include "src/base/base.h"
#include "src/base/buf.h"
#include "src/base/err.h"
#include "src/base/thread.h"
#include "sync/cascades.h"
#include "sync/delivery/turnstile.h"

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define CASCADE_POLL_MS 5

struct map;

/* What is followed in one index. */
struct following {
    char *index;
    struct turnstile turnstile;

    /* All guarded by the lock. */
    struct following *next;
    struct cascade_rows *first, **last;
    struct cascade_rows *later; /* the stream has not come there yet */
    bool marked;

    /* The thread's own. */
    struct cascade_rows *batch; /* waits until what was begun before it is over */
    bool turned;                /* the turnstile, for the batch */
    struct buf mapping;
    int64_t retry_ms; /* not before then */
};

struct cascades {
    struct cascades_options opt;
    struct stop stop;
    pthread_t thread;
    bool started;

    pthread_mutex_t lock;
    pthread_cond_t added, freed;

    /* All guarded by lock. */
    struct routing *routing; /* NULL: none yet */
    struct map *indexes;     /* name -> struct following, which stays */
    struct following *all;   /* the same */
    size_t waiting;          /* bytes; atomic for readers */
    size_t pending;          /* struct cascade_rows */

    /* The thread's own. */
    uint64_t stream; /* where it was */
    int64_t stream_ms; /* since when */
};

/* ---- cascade_intake.c ---- */
/* What is followed in the index; made when it is new.  Under the lock. */
struct following *cascades_following(struct cascades *c, struct str index);
/* At the end of those that wait.  Under the lock. */
void cascades_append(struct following *f, struct cascade_rows *r);
/* More bytes wait, and less.  Under the lock. */
void cascades_count(struct cascades *c, size_t more, size_t less);
/* What cannot be found of what such rows set off. */
void cascades_mark_blind(struct cascades *c, const struct cascade_origin *from);
/* What the effect's keys have of the row that has this key as a root; in the arena. */
struct str *cascades_root_keys(const struct cascade_effect *effect, const struct plan *plan,
                               struct str key, struct arena *a);
/* The root's table, if its rows go by keys, and others with them; else NULL. */
const struct cascade_table *cascades_leading_root(const struct routing *routing,
                                                  const struct plan *plan);

/* ---- cascade_look.c ---- */
/* Find what changes with the rows, and have it read again. */
bool cascades_run_rows(struct cascades *c, struct following *f, struct cascade_rows *r,
                       struct err *err) MUST_CHECK;

/* ---- cascade_thread.c ---- */
/* Rows of a level below, which are freed, while those above wait.  False: stopping. */
bool cascades_follow_now(struct cascades *c, struct cascade_rows *r) MUST_CHECK;
void cascades_drop(struct cascades *c, struct cascade_rows *r);

#endif
