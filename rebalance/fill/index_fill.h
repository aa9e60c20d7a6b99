/*
 * struct index_fill: reads one bucket of a build's rows, and writes them to the new version.
 *
 * It reads each table in key order, in chunks. Every read includes the position from which live
 * changes go to the new version, too. Each document carries that position as its version and is
 * written strictly, so that it loses to every live write. The stored cursor never passes a
 * chunk whose documents are not acknowledged, so a fill that is interrupted goes on where it
 * was cut off, whoever takes its job (docs/rules.md, rules 8 and 9).
 *
 * Its job says how it ended: BUCKET_DONE, BUCKET_ERROR, or BUCKET_RUNNING if somebody else is
 * to go on.
 *
 * @thread its own; set_rate, ask_to_stop, stop: any
 */
#ifndef REBALANCE_FILL_INDEX_FILL_H
#define REBALANCE_FILL_INDEX_FILL_H

#include "src/base/base.h"
#include "src/base/str.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct arena;
struct dead_letter_note;
struct delivery;
struct err;
struct fill_part;
struct fill_source;
struct index_fill;
struct pipeline;
struct stop;
struct store;
struct stored_job;
struct top_relation;

struct index_fill_options {
    struct store *store;
    struct delivery *delivery;
    struct fill_source *source;
    struct str node;   /* this node's id */
    struct str shapes; /* the stored text that an away source was made of; else empty */
    const char *alias; /* "orders" */
    const char *index; /* "orders_v2" */
    uint64_t start;    /* version (position) of the documents that it writes */
    uint64_t term;     /* of its job */
    size_t chunk;      /* rows per statement at most; 0: 5000 */
    uint64_t rate;     /* rows per second of all fills of the version; 0: no limit */
    size_t sharers;    /* how many fills share that */
    void *ctx;
    /*
     * Finds the top relation of a part as the definitions are now, in the arena. ERR_RETRY:
     * there is none any more.
     */
    bool (*top)(void *ctx, const struct fill_part *part, struct arena *a,
                struct top_relation *out, struct err *err);
    /*
     * Keeps a dead letter for a row that makes no document. Blocks until it is durable. Returns
     * false if the token is set first: then it is not kept.
     */
    bool (*dead)(void *ctx, const struct dead_letter_note *note, struct stop *stop);
    /* Called on the fill's thread when it has ended by itself. */
    void (*done)(void *ctx, struct index_fill *f);
};

/* Copies job and goes on from its id, cursor and counts. */
struct index_fill *index_fill_new(const struct index_fill_options *opt,
                                  const struct stored_job *job) RETURNS_NONNULL MUST_CHECK;
void index_fill_start(struct index_fill *f);
void index_fill_set_rate(struct index_fill *f, uint64_t rows_per_second);
/* sharers: the fills that share the limit of rows; nodes: that take part, for the next call. */
void index_fill_set_share(struct index_fill *f, size_t sharers, size_t nodes);
size_t index_fill_nodes(const struct index_fill *f); /* as set by the last one; else 0 */
void index_fill_ask_to_stop(struct index_fill *f);   /* does not block */
/* Stop without finishing and keep the cursor. Joins the thread. */
void index_fill_stop(struct index_fill *f);
void index_fill_free(struct index_fill *f);

uint64_t index_fill_job(const struct index_fill *f);
const char *index_fill_alias(const struct index_fill *f);
uint64_t index_fill_number(const struct index_fill *f); /* of the version */
/* NULL: another node follows the topic. */
const struct pipeline *index_fill_pipeline(const struct index_fill *f);
/* Whether its source was made of this text. */
bool index_fill_has_shapes(const struct index_fill *f, struct str shapes) MUST_CHECK;
uint64_t index_fill_progress(const struct index_fill *f); /* differs once rows were written */
/*
 * Whether it ended because this node could not go on for long, while others may.  After it has
 * ended.
 */
bool index_fill_gave_up(const struct index_fill *f) MUST_CHECK;

#endif
