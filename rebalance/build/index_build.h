/*
 * struct index_build: fills a new index version from its tables, then moves the alias.
 *
 * It divides the rows into buckets, which others fill (rebalance/fill/index_fill.h), and waits
 * until the store says that all are done. Then it compares the number of rows and documents,
 * repeats deletes that came meanwhile, compares a sample of documents with their rows (ADR 46),
 * and moves the alias in one call (docs/rules.md, rules 6 and 8). Only the owner of the topic
 * builds, as only its pipeline knows when the version has every change (ADR 53).
 *
 * @thread its own; status, set, nudge, ask_to_stop, stop: any
 */
#ifndef REBALANCE_BUILD_INDEX_BUILD_H
#define REBALANCE_BUILD_INDEX_BUILD_H

#include "rebalance/build/question.h"
#include "rebalance/watch/whose.h"
#include "src/base/base.h"
#include "src/base/err.h"
#include "src/base/str.h"
#include "src/config/settings.h"
#include "src/store/turn.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct delivery;
struct index_build;
struct job_change;
struct pipeline;
struct search;
struct store;
struct stored_job;

struct index_build_options {
    struct store *store;
    struct search *search;
    struct delivery *delivery;
    struct pipeline *pipeline;
    const char *alias;          /* "orders" */
    const char *index;          /* "orders_v2" */
    const char *final_settings; /* JSON; index settings to apply before the alias moves */
    uint64_t number;            /* the version's number */
    uint64_t start;             /* version (position) of the documents that the fill writes */
    uint64_t term;
    const char *node;          /* this node's id */
    size_t buckets;            /* into how many its rows are divided, at least 1 */
    bool asked_buckets;        /* a person asked for so many */
    const char *bucket_column; /* by whose order; empty: the key's */
    bool by_mod;               /* not by its order, but by what it leaves */
    struct take take; /* whose indexes the alias may be taken from, beside this store's */
    bool piped;       /* documents of some table pass a pipeline, which may drop them */
    bool synced;      /* read by time: rows change unseen, so do not count them */
    struct keeping keep;
    bool hold; /* park the version when it is complete, until a person publishes it */
    enum build_check check;
    void *ctx;
    build_compare_fn *compare; /* NULL: compare nothing */
    /* Tells whether the alias may move now; ERR_RETRY: not yet. */
    bool (*may_publish)(void *ctx, const char *alias, const struct take *take, struct err *err);
    /* The version's buckets are stored: they can be filled. On the build's thread. */
    void (*divided)(void *ctx);
    /* Other nodes have stored dead letters of the alias. On the build's thread; blocks. */
    bool (*filled_elsewhere)(void *ctx, const char *alias, struct err *err);
    /* It is over: err is NULL if searches use the version, else why not. On the build's thread.
     */
    void (*done)(void *ctx, struct index_build *b, const struct err *err);
};

/* Copies job and goes on from its id and counts. */
struct index_build *index_build_new(const struct index_build_options *opt,
                                    const struct stored_job *job) RETURNS_NONNULL MUST_CHECK;
void index_build_start(struct index_build *b);
void index_build_set(struct index_build *b, const struct job_change *c);
void index_build_nudge(struct index_build *b);       /* a bucket has ended */
void index_build_ask_to_stop(struct index_build *b); /* does not block */
/* Stop without finishing. Joins the thread. */
void index_build_stop(struct index_build *b);
void index_build_free(struct index_build *b);

const char *index_build_alias(const struct index_build *b);
struct pipeline *index_build_pipeline(const struct index_build *b);
uint64_t index_build_number(const struct index_build *b);

struct index_build_status {
    uint64_t job_id, number;
    uint64_t rows_done, rows_total, dead;
    double rate;
    int64_t remaining_s; /* -1: unknown, or it never ends like this */
    uint64_t rate_limit;
    uint64_t growth;   /* rows per second that its tables grow by */
    bool slow;         /* and it reads no faster */
    const char *phase; /* "waiting", "filling", "finishing" */
    const char *step;  /* the usual step that it waits for, or NULL */
    struct err why;    /* the trouble that it waits for; ERR_NONE: none */
};
struct index_build_status index_build_status(struct index_build *b);

#endif
