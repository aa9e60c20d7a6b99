/*
 * What the files of struct cascades share.  Only they include this; all others use cascades.h.
 *
 * intake.c    takes rows in and queues them
 * look.c      finds documents
 * lead.c      which documents lead on, and which targets are given up
 * store.c     takes in documents whose rows are gone, and stores them
 * sweep.c     follows these documents, then deletes them
 * restore.c   takes them up again after a start
 * thread.c    decides which rows to look for, and when
 */
#ifndef SYNC_RELATED_CASCADE_PARTS_H
#define SYNC_RELATED_CASCADE_PARTS_H

#include "src/base/base.h"
#include "src/base/buf.h"
#include "src/base/err.h"
#include "src/base/lock.h"
#include "src/base/magic.h"
#include "src/base/thread.h"
#include "sync/checkpoint/grace_period.h"
#include "sync/related/cascade/cascades.h"
#include "sync/related/cascade/gone.h"

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define CASCADE_POLL_MS 5

struct cascade_found;
struct map;

/* The rows being followed in one index. */
struct following {
    char *index;
    struct grace_period *grace_period;

    /* All guarded by the lock. */
    struct following *next;
    struct cascade_rows *first, **last;
    size_t waiting; /* bytes of the rows, with the batch */
    size_t n_swept; /* how many of them belong to the sweep */
    bool marked;

    /* The thread's own. */
    struct cascade_rows *batch; /* waits until all work begun before it is over */
    bool turned;                /* the turnstile has turned for the batch */
    struct buf mapping;
    int64_t retry_ms; /* do nothing before then */
};

/*
 * Reads and deletes of sweeps that are under way.  Each has a reference: the engine may answer
 * it after the cascades have ended.
 */
struct sweep_work {
    enum magic magic;
    unsigned refs; /* atomic */
    size_t n;      /* atomic: tickets */
    bool lost;     /* atomic: one was abandoned */
};

/*
 * Documents that are worked off together.  Each of them leads on, level after level, and the
 * sweep takes in the documents found that are gone as well.  When no more are found, it deletes
 * all.  A document is in it once, so it is read once, however many lead to it.
 */
struct sweep {
    struct gone_document **docs;
    size_t n, cap;
    bool leaves; /* the documents are being deleted */
    struct sweep_work *out;
    size_t n_rows; /* its waiting struct cascade_rows; guarded by the lock */
};

struct cascades {
    enum magic magic;
    struct cascades_options opt;
    struct stop stop;
    pthread_t thread;
    bool started;

    struct lock lock;
    pthread_cond_t added, freed;

    /* All guarded by lock. */
    bool is_woken;                /* something came since the thread's last rest */
    struct routing *routing;      /* NULL before the first */
    struct map *indexes;          /* name -> struct following; these stay */
    struct following *all;        /* the same, as a list */
    size_t waiting;               /* bytes of rows; atomic for readers */
    struct gone_set gone;         /* documents that stay */
    struct gone_document *coming; /* the list of those to store */
    uint64_t next_due; /* position that the stream must reach before a sweep can begin */
    size_t pending;    /* struct cascade_rows of the stream, and documents to store */
    uint64_t routings; /* count of the routings set */
    uint64_t restored; /* the count for which the stored documents are taken up */

    /* The thread's own. */
    bool resting; /* atomic: begin nothing new */
    bool fenced;  /* another node owns the topic */
    struct sweep sweep;
    uint64_t stream;                  /* its position at the last look */
    int64_t stream_ms;                /* since when it has been there, monotonic */
    int64_t looked_ms;                /* the last look at it, monotonic */
    bool rests;                       /* no more of the log will come */
    uint64_t restores, restore_after; /* count of routings; the last stored document taken */
    int64_t retry_ms;                 /* do not ask the store before then */
};

/* ---- sync/related/cascade/intake.c ---- */
/* Returns a reference to the present routing; NULL before the first. */
struct routing *cascades_routing(struct cascades *c);
/* Release rows that have ended, in any way. */
void cascades_drop(struct cascades *c, struct following *f, struct cascade_rows *r);

/* ---- sync/related/cascade/look.c ---- */
/* Find the documents that change with the rows, and request their re-reads. */
bool cascades_run_rows(struct cascades *c, struct following *f, struct cascade_rows *r,
                       struct err *err) MUST_CHECK;

/*
 * If the rows' index is being built, store what cascades_run_rows() will search it for
 * (src/store/later/kept_search.h).
 */
bool cascades_keep_rows(struct cascades *c, struct following *f, struct cascade_rows *r,
                        struct err *err) MUST_CHECK;

/* ---- sync/related/cascade/lead.c ---- */
/* Returns the root's table if foreign keys delete its rows, and others with them; else NULL. */
const struct cascade_table *cascades_leading_root(const struct routing *routing,
                                                  const struct target *target);
/* Tell whether the target receives no more writes. */
bool cascades_is_given_up(struct cascades *c, const struct target *target);
/*
 * Mark the index versions below the target, as its documents will not tell which rows went with
 * theirs.
 */
void cascades_mark_below(struct cascades *c, const struct target *target);

/* ---- sync/related/cascade/store.c ---- */
/* Store the documents that came, and release their waiters. */
bool cascades_store(struct cascades *c, struct err *err) MUST_CHECK;
/* Delete stored documents that need not be taken up again. */
bool cascades_unstore(struct cascades *c, struct gone_document *const *docs, size_t n,
                      struct err *err) MUST_CHECK;

/* ---- sync/related/cascade/restore.c ---- */
/*
 * Begin a sweep with documents stored before the start, or for versions that are written to
 * again: re-read their rows.
 */
bool cascades_restore(struct cascades *c, struct err *err) MUST_CHECK;

/* ---- sync/related/cascade/sweep.c ---- */
/* Do one step for all documents that stay.  Sets *waits if more is to be waited for. */
bool cascades_sweep(struct cascades *c, bool *waits, struct err *err) MUST_CHECK;
/* Take the document into the sweep. */
void cascades_sweep_take(struct cascades *c, struct gone_document *d) NEEDS(c->lock);
struct sweep_work *sweep_work_new(void) RETURNS_NONNULL MUST_CHECK;
void sweep_work_unref(struct sweep_work *w);
/*
 * Tell whether to read a found document.  False: its row is known to be gone, and the search
 * for what it leads to has begun. swept: a sweep found it, and takes it in if it leads on.
 */
bool cascades_is_to_be_read(struct cascades *c, const struct cascade_found *f, bool swept);
/*
 * Make a ticket for work that the sweep waits for; it may end on any thread.  After one is
 * abandoned, the sweep does not continue.
 */
struct ticket *cascades_sweep_ticket(struct cascades *c) RETURNS_NONNULL MUST_CHECK;

/* Something came for the thread. */
void cascades_wake(struct cascades *c) NEEDS(c->lock);

#endif
