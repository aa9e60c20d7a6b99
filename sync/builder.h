/*
 * struct builder: raw events in, document writes out; the thread that decodes.
 *
 * Takes what the reader gathered, decodes the rows of watched tables, and hands each change to
 * delivery: a document from the row image, a re-read by key, or the documents that hold a
 * related row.  Everything that has a place in the stream happens here: transactions and their
 * tickets, DDL, new routings.
 *
 * @thread its own; commands given to the handoff run on it
 */
#ifndef SYNC_BUILDER_H
#define SYNC_BUILDER_H

#include "src/base/base.h"
#include "src/base/err.h"
#include "src/base/str.h"
#include "sync/binlog/ddl.h"
#include "sync/delivery/delivery.h"
#include "sync/prepared.h"
#include "sync/progress.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct builder;
struct cascades;
struct fan_out;
struct gtid_set;
struct handoff;
struct position;
struct read_position;
struct reread;
struct routing;

struct builder_options {
    const char *topic;
    uint64_t epoch;
    size_t event_max;
    const char *spill_folder; /* for rows that take effect late; copied */
    struct handoff *handoff;
    struct delivery *delivery;
    struct progress *progress;
    struct read_position *reader;
    struct reread *reread;
    struct cascades *cascades;
    struct fan_out *fan_out;
    void *ctx;
    /* A table cannot go on; durable when it returns.  On the builder thread. */
    void (*stop_table)(void *ctx, struct target *target, const char *reason,
                       const char *way_out); /* as table_stop_fn */
    /* A document cannot be made from its row; durable when it returns. */
    void (*dead)(void *ctx, const struct dead_letter_note *note);
    /* DDL was met; a new routing may be set with builder_set_routing before it returns.  False
     * (err): it could not be taken up, so it is met again when the dump begins again. */
    bool (*on_ddl)(void *ctx, const struct ddl *ddl, struct err *err);
    /* Returns when what changed the row is committed (sync/witness.h), empty: probably.  False
     * (err): nobody could tell, so it is met again when the dump begins again. */
    bool (*wait_committed)(void *ctx, struct str witness, struct err *err);
    /* What was handed over cannot be understood. */
    void (*fault)(void *ctx, const struct err *why);
    /* The thread ends: everything handed over was worked off. */
    void (*on_done)(void *ctx);
};

struct builder *builder_new(const struct builder_options *opt) RETURNS_NONNULL MUST_CHECK;
void builder_start(struct builder *b);
/* After the handoff was closed: waits until what is inside is worked off. */
void builder_join(struct builder *b);
void builder_free(struct builder *b);

/* Throw away what is read from now on.  @thread any */
void builder_discard(struct builder *b);

/* Nothing that was handed over is at hand: the next event is waited for.  @thread any */
bool builder_waits(struct builder *b);

/* The functions below run on the builder thread (handoff commands, callbacks), or before start.
 */

/* A dump begins at start: forget the running transaction.  executed is copied. */
void builder_begin(struct builder *b, const struct position *start,
                   const struct gtid_set *executed);

/*
 * Note in the read position, for each transaction, the statement that waits for its commit:
 * the server has no GTIDs to wait for, and commits in the log's order.
 */
void builder_want_witnesses(struct builder *b, bool wanted);

/* Rows up to this version were delivered, or submitted, before: they are read and no more. */
void builder_skip_to(struct builder *b, uint64_t version);
/* Everything up to this version was worked off in this run; also inside a transaction. */
uint64_t builder_handled(const struct builder *b);

/* The log's last known transaction, to be met again where the dump begins (design part 7, rule
 * 3). */
void builder_expect(struct builder *b, const struct mark *known);

/* Read nothing more until a dump begins again: what is needed for it failed with why. */
void builder_pause(struct builder *b, const struct err *why);

/* Takes a reference. */
void builder_set_routing(struct builder *b, struct routing *routing);

/* The end of the last whole transaction, and its file's name; borrowed. */
const struct mark *builder_mark(const struct builder *b);
const char *builder_mark_file(const struct builder *b);
const struct gtid_set *builder_executed(const struct builder *b);

/* XA transactions that were prepared and not ended yet.  @thread any */
struct prepared_status builder_prepared(struct builder *b);

struct builder_status { /* counters */
    uint64_t inserts, updates, deletes, statements, events, transactions;
};
struct builder_status builder_status(struct builder *b);

#endif
