/*
 * What the files of struct cascades share.  Nobody else includes this; cascades.h is for all
 * others.
 *
 * cascade_intake  rows come, and wait
 * cascade_look    documents are found
 * cascade_leave   documents whose rows are gone wait, lead on, and go
 * cascade_thread  which rows are looked for, and when
 */
#ifndef SYNC_CASCADE_PARTS_H
#define SYNC_CASCADE_PARTS_H

#include "src/base/base.h"
#include "src/base/buf.h"
#include "src/base/err.h"
#include "src/base/thread.h"
#include "sync/cascade_going.h"
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
    size_t waiting; /* bytes of them, and of the batch */
    size_t n_below; /* of these, so many have documents of a level above wait for them */
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
    size_t waiting;          /* bytes of rows; atomic for readers */
    struct going *ahead;     /* the stream has not come to where they were read */
    struct going *followed;  /* can be deleted */
    size_t pending;          /* struct cascade_rows, and what was followed */

    /* The thread's own. */
    uint64_t stream;   /* where it was */
    int64_t stream_ms; /* since when */
};

/* ---- cascade_intake.c ---- */
/* The routing of now, a reference; NULL: none yet. */
struct routing *cascades_routing(struct cascades *c);
/* A batch has ended, in any way. */
void cascades_drop(struct cascades *c, struct following *f, struct cascade_rows *r);

/* ---- cascade_look.c ---- */
/* Find what changes with the rows, and have it read again. */
bool cascades_run_rows(struct cascades *c, struct following *f, struct cascade_rows *r,
                       struct err *err) MUST_CHECK;

/* ---- cascade_leave.c ---- */
/* Nothing is written to the target any more. */
bool cascades_is_given_up(struct cascades *c, const struct target *target);
/* Its documents will not tell what goes with their rows: whoever shows that is marked. */
void cascades_mark_below(struct cascades *c, const struct target *target);
/* Follow what the stream has come to, delete what was followed.  True: there is more to wait
 * for. */
bool cascades_leave(struct cascades *c) MUST_CHECK;

#endif
