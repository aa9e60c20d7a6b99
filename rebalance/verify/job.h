/*
 * struct verify_job: the verification of a whole index version, as a job with a cursor. Only
 * the files of rebalance/verify include this.
 *
 * Two passes, as no engine gives documents in the order of keys. rows.c reads the rows in key
 * order and fetches their documents; documents.c reads the ids of the index and looks their
 * rows up. What either suspects goes through the looks (looks.c), without waiting long. What is
 * not found equal is on a list, and goes through the looks again at the end. What differs then
 * is repaired, once it is known how much that is (listed.c). A sample (sample.c), or a check of
 * rows that have changed (changed.c), takes the place of both passes.
 *
 * A step adds what it found to the result, or fails and leaves the job to begin again from its
 * last cursor (cursor.c), as after a kill.
 *
 * @thread its own, except for what `seen` says
 */
#ifndef REBALANCE_VERIFY_JOB_H
#define REBALANCE_VERIFY_JOB_H

#include "rebalance/fill/job.h"
#include "rebalance/verify/jobs.h"
#include "rebalance/verify/progress.h"
#include "rebalance/verify/report.h"
#include "rebalance/verify/result.h"
#include "rebalance/verify/run.h"
#include "src/base/base.h"
#include "src/base/buf.h"
#include "src/base/err.h"
#include "src/base/magic.h"
#include "src/search/pages.h"
#include "src/store/store.h"
#include "sync/document/key_set.h"
#include "sync/read/links.h"

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define VERIFY_CHUNK_ROWS  500 /* of one read */
#define VERIFY_CHUNK_BYTES (4 << 20)

/* How far a job is. */
struct verify_place {
    enum verify_pass pass;
    struct buf table;    /* ROWS: its name on the server; empty: the first */
    struct buf after;    /* ROWS: the last key */
    uint64_t slice;      /* DOCUMENTS: the one to read next; LISTED: the id */
    uint64_t rows, hits; /* rows read, ids of the index read in whole slices */
    uint64_t total;      /* documents when it began */
    uint64_t from;       /* what the root's log was read up to when it began */
    int64_t began_ms;    /* wall time */
    uint64_t looks;
    uint64_t lost, unnamed; /* entries that an exchange cannot name: they differ; all */
};

struct dirty_set;
struct loaded;
struct stall_watchdog;
struct verify_changed;
struct verify_sample;

struct verify_job {
    enum magic magic;
    struct coordinator *co;
    struct arena *arena;   /* owns the texts of job */
    struct stored_job job; /* id, index, table, version */
    uint64_t term;
    bool repair, yes, values;
    bool by_itself;               /* nobody asked for it */
    bool for_trees;               /* and only because trees are missing */
    bool makes_way;               /* atomic: somebody has asked for one of his own */
    bool made_way;                /* so it has ended */
    bool is_cancelled;            /* atomic: a person wants it to end */
    bool rewrites;                /* writes again also what is equal */
    struct str keys;              /* a JSON list of `_id`s: only these; empty: all */
    bool of_build;                /* nothing of it is stored: the build is */
    bool exchange;                /* compares trees; of what differs, both sides */
    bool feeds;                   /* tells the trees what it finds: tree_notes.c */
    bool has_stepped;             /* since it began, or goes on */
    bool lacks_trees;             /* they could not be made, */
    struct err no_trees;          /* for this reason, if it is known */
    bool is_exchanged;            /* the trees were compared: `unequal` is the answer */
    struct verify_result unequal; /* only its ids, of the documents that they name */
    struct key_set hashed;        /* ids that they have only a hash of; n_named of these */
    bool *is_named;               /* were found in the index and are listed; NULL: the pass */
    uint32_t n_named;             /* that finds them is over, or was not needed */
    uint32_t n_lost, n_found; /* the first n_lost of them differ; n_found of these are named */
    struct dirty_set *dirty;  /* what was submitted during the step; NULL: not feeding */
    struct key_set noted;     /* what the step has told the trees of */
    uint64_t rate;            /* rows and ids per second; 0: no limit */
    struct stop *stop;        /* borrowed; ends the job */
    struct str where, of;     /* only rows of this table that meet it; empty: all */
    struct verify_sample *sample;   /* NULL: all is compared, or what has changed */
    struct verify_changed *changed; /* NULL: all is compared, or a sample */

    struct verify_place at;
    struct verify_result result;
    struct verify_result open;  /* what is looked at once more at the end */
    struct verify_result wrong; /* of these, what a repair reads again, if it is not too much */
    uint64_t n_differ;          /* entries of the trees that do, whether listed or not */
    bool is_refused;            /* too much differs for a repair without a person's word */
    struct buf cursor;          /* as of the last step that was done */
    struct verify_report report;
    struct read_links links;
    struct stall_watchdog *watchdog; /* of its reads; NULL: each answer may take a minute */
    struct pipeline *links_of;       /* as in struct verify_run */
    struct search_pages pages;
    bool pages_open;
    uint64_t slice_hits; /* ids of this slice read so far */
    size_t n_slices;     /* 0: not known yet */
    size_t chunk;        /* rows for one statement */
    size_t group;        /* keys for the looks; 0: not known yet */
    struct job_limit limit;
    struct job_pace pace;
    enum verify_pass far_pass;    /* how far it came before a failure: the pass, */
    uint64_t far;                 /* and the most that was done of it */
    bool repair_is_stored;        /* what REPAIR is to change is in the store */
    int64_t started_ms, saved_ms; /* monotonic */
    int64_t failing_ms;           /* the first failure since it last came further; 0: none */

    /* Shows people how far it is, and what it waits for; NULL: for nothing. */
    void (*show)(struct verify_job *j, const struct err *why);
    struct verify_progress seen; /* guarded by the lock of the list */
    bool over;                   /* likewise */
    pthread_t thread;            /* of the list, like the next */
    struct verify_job *next;
};

/* Rows of one table, as they were read now. */
struct verify_rows {
    struct target *target;
    const struct loaded *rows;
    const struct str *hits; /* the routings that documents were found with; NULL: a range */
    size_t n;
};

/* One step of a pass. Sets at.pass when the pass is over. Blocks. */
bool verify_rows_step(struct verify_job *j, struct err *err) MUST_CHECK;
bool verify_documents_step(struct verify_job *j, struct err *err) MUST_CHECK;
bool verify_listed_step(struct verify_job *j, struct err *err) MUST_CHECK;
/* Put hits through the looks and count what the rows' side cannot have told: documents.c. */
bool verify_settle_hits(struct verify_job *j, struct verify_run *run, struct verify_key *keys,
                        size_t n, struct err *err) MUST_CHECK;
bool verify_changed_step(struct verify_job *j, struct err *err) MUST_CHECK;
bool verify_sample_step(struct verify_job *j, struct err *err) MUST_CHECK;
bool verify_exchange_step(struct verify_job *j, struct err *err) MUST_CHECK;
/* Forget what the trees said: step.c. */
void verify_exchange_clear(struct verify_job *j);
/* Name the next keys of a list of ids, from number at.slice on; 0 at its end: listed.c. */
size_t verify_take_listed(const struct verify_job *j, struct verify_run *run,
                          const struct verify_result *list) MUST_CHECK;
/* Read the next ids of the index, a slice after the other; *n is 0 at a slice's end:
 * documents.c. */
bool verify_read_hits(struct verify_job *j, struct verify_run *run, struct search_hit **hits,
                      size_t *n, struct err *err) MUST_CHECK;
/* The engine has dropped a scroll: it may be asked again. */
void verify_scroll_failed(struct err *err);
/* The slice was read. Returns true if it was the last one; at.slice is 0 then. */
bool verify_end_slice(struct verify_job *j) MUST_CHECK;
void verify_documents_close(struct verify_job *j);

/* What the passes over rows share: rows.c. */
/*
 * Note where the log is, and about how many rows there are: as many as documents. A COUNT(*) of
 * a large table would take minutes.
 */
bool verify_count(struct verify_job *j, struct verify_run *run, struct err *err) MUST_CHECK;
/* NULL: that was the last one. */
struct target *verify_next_table(const struct verify_job *j, const struct verify_run *run,
                                 const char *after);
/* Returns the table at.table; ERR_REJECT if it is gone. */
struct target *verify_present_table(const struct verify_job *j, const struct verify_run *run,
                                    struct err *err) MUST_CHECK;
/* Set j->chunk by the bytes that reading so many rows took. */
void verify_adapt_chunk(struct verify_job *j, size_t rows, size_t bytes);
/* Returns true if a refused read may be repeated with half the rows, which may fit. */
bool verify_ask_for_fewer(struct verify_job *j, struct verify_run *run,
                          struct err *err) MUST_CHECK;
/* Compare the rows with their documents, and count them. */
bool verify_compare_rows(struct verify_job *j, struct verify_run *run,
                         const struct verify_rows *r, struct err *err) MUST_CHECK;
/* Count children without parent among the rows: orphans.c. */
bool verify_find_orphans(struct verify_job *j, struct verify_run *run,
                         const struct verify_rows *r, struct err *err) MUST_CHECK;
/* Put keys through the looks and count them. */
bool verify_settle_all(struct verify_job *j, struct verify_run *run, struct verify_key *keys,
                       size_t n, struct err *err) MUST_CHECK;

/* Begin and end a run of the job's version, with the job's connections. a: owns its texts. */
bool verify_job_open(struct verify_job *j, struct verify_run *run, struct arena *a,
                     struct err *err) MUST_CHECK;
void verify_job_close(struct verify_job *j, struct verify_run *run);
/* What becomes of keys that go through the looks. */
struct verify_settling {
    struct verify_job *job;
    bool repair; /* what differs is read again */
    /* Counts the keys of a group. */
    void (*add)(struct verify_job *j, const struct verify_key *keys, size_t n);
};
/* Put n keys through the looks, in groups: their texts are gone then. */
bool verify_job_settle(struct verify_settling how, struct verify_run *run,
                       struct verify_key *keys, size_t n, struct err *err) MUST_CHECK;

/* Write keys that are equal again, once the index takes documents. */
bool verify_job_rewrite(struct verify_job *j, struct verify_run *run, struct verify_key *keys,
                        size_t n, struct err *err) MUST_CHECK;

static inline bool verify_job_is_cancelled(const struct verify_job *j)
{
    return __atomic_load_n(&j->is_cancelled, __ATOMIC_RELAXED);
}

/* Whether somebody has asked for a verification that this one makes way for, or for its end. */
static inline bool verify_job_makes_way(const struct verify_job *j)
{
    return __atomic_load_n(&j->makes_way, __ATOMIC_RELAXED) || verify_job_is_cancelled(j);
}

/* Tell whether the verdict is one on a part of the index only. */
static inline bool verify_job_is_partial(const struct verify_job *j)
{
    return j->sample != NULL || j->changed != NULL || j->exchange || j->where.len > 0 ||
           j->keys.len > 0;
}

/* What a comparison tells the trees of its index, if it has any: tree_notes.c. */
/* Begin new trees, which the comparison fills. ERR_REJECT: there can be none, and the
 * comparison is only for them. Blocks on the disk. */
bool verify_trees_begin(struct verify_job *j, const struct verify_run *run,
                        struct err *err) MUST_CHECK;
/* Around each step, as documents may change meanwhile. A job that goes on feeds the trees that
 * its first step finds. ERR_REJECT: it is only for trees, and they are lost. */
bool verify_trees_begin_step(struct verify_job *j, struct err *err) MUST_CHECK;
void verify_trees_end_step(struct verify_job *j);
/* Both sides have this document, or nobody knows what they have. */
void verify_trees_note_equal(struct verify_job *j, struct str id, struct str routing,
                             struct str body);
void verify_trees_note_suspect(struct verify_job *j, struct str id);
/* What the looks at the run's keys have found. */
void verify_trees_note_run(struct verify_job *j, const struct verify_run *run);
/* The comparison is over, or has failed. Returns false if its index lacks trees that it should
 * have now. Blocks on the disk. */
bool verify_trees_finish(struct verify_job *j);

/* Count keys: what is not equal is open, and on the list, unless a later look would find it the
 * same. */
void verify_job_add(struct verify_job *j, const struct verify_key *keys, size_t n);

/* Set j->cursor from the job's place and result, and back. */
void verify_cursor_write(struct verify_job *j);
void verify_cursor_read(struct verify_job *j);

/* term: the job's. The texts of stored are copied. */
struct verify_job *verify_job_new(struct coordinator *co, const struct stored_job *stored,
                                  uint64_t term) RETURNS_NONNULL MUST_CHECK;
void verify_job_free(struct verify_job *j);
/*
 * Take all steps. Afterwards at.pass is VERIFY_OVER, or err says why not. Blocks.
 */
void verify_job_run(struct verify_job *j, struct err *err);
/* Append the report, and to why what it says of itself; failure: what ended the job early. */
void verify_job_report(struct verify_job *j, const struct err *failure, struct buf *why,
                       struct buf *report);
/* The thread's main function; arg is the job. */
void *verify_job_main(void *arg);

#endif
