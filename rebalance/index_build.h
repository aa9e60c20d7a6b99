/*
 * struct index_build: fills a new index version from its table, then moves the alias.
 *
 * Reads the table in key order by chunks, in reads that include the position from which live
 * changes go to the new version too; each document carries that position, strictly, so that it
 * loses to every live write.  The cursor is stored as far as every chunk before it is
 * acknowledged, so a build goes on where it was cut off.  At the end the rows are counted
 * against the table, deletes that came meanwhile are repeated, and the alias moves in one call
 * (design part 7, rules 6 and 8).
 *
 * @thread its own; status, set_rate, stop: any
 */
#ifndef REBALANCE_INDEX_BUILD_H
#define REBALANCE_INDEX_BUILD_H

#include "src/base/base.h"
#include "src/base/err.h"
#include "src/base/str.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct dead_letter_note;
struct delivery;
struct index_build;
struct pipeline;
struct search;
struct store;
struct stored_job;
struct target;

struct index_build_options {
    struct store *store;
    struct search *search;
    struct delivery *delivery;
    struct pipeline *pipeline;
    const char *alias;          /* "orders" */
    const char *index;          /* "orders_v2" */
    const char *final_settings; /* JSON put before the alias moves */
    uint64_t number;            /* of the version */
    uint64_t start;             /* version (position) that the fills carry */
    uint64_t term;
    size_t chunk; /* rows a statement at most, 0: 5000 */
    bool synced; /* by time: rows and documents are not counted, as rows change unseen */
    void *ctx;
    /* A document cannot be made from its row; durable when it returns. */
    /* Keep it durably; may wait for that.  False: stopping, it is not kept. */
    bool (*dead)(void *ctx, const struct dead_letter_note *note);
    /* Called on the build's thread when it is over: err NULL, the version is searched; else why
     * not. */
    void (*done)(void *ctx, struct index_build *b, const struct err *err);
};

/* job is copied: its id, cursor and counts go on from there. */
struct index_build *index_build_new(const struct index_build_options *opt,
                                    const struct stored_job *job) RETURNS_NONNULL MUST_CHECK;
void index_build_start(struct index_build *b);
void index_build_set_rate(struct index_build *b, uint64_t rows_per_second);
void index_build_ask_to_stop(struct index_build *b); /* does not wait */
/* Stop without finishing; the cursor is kept.  Joins the thread. */
void index_build_stop(struct index_build *b);
void index_build_free(struct index_build *b);

const char *index_build_alias(const struct index_build *b);
struct pipeline *index_build_pipeline(const struct index_build *b);
uint64_t index_build_number(const struct index_build *b);

struct index_build_status {
    uint64_t job_id, number;
    uint64_t rows_done, rows_total, dead;
    double rate;
    int64_t remaining_s; /* -1: not known */
    uint64_t rate_limit;
    const char *phase; /* "waiting", "filling", "finishing" */
    struct err why;    /* what it waits for; ERR_NONE */
};
struct index_build_status index_build_status(struct index_build *b);

#endif
