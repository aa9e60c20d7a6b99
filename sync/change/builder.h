/*
 * struct builder: the thread that decodes: raw events in, document writes out.
 *
 * Takes what the reader collected, decodes the rows of watched tables, and passes each change
 * to delivery: as a document from the row image, a re-read by key, or a lookup of the documents
 * that hold a related row.  All that depends on the place in the stream happens here:
 * transactions and their tickets, DDL, new routings.
 *
 * @thread its own; commands put into the handoff run on it
 */
#ifndef SYNC_CHANGE_BUILDER_H
#define SYNC_CHANGE_BUILDER_H

#include "src/base/base.h"
#include "src/base/err.h"
#include "src/base/str.h"
#include "sync/change/xa/prepared.h"
#include "sync/checkpoint/progress.h"
#include "sync/decode/ddl.h"
#include "sync/delivery/delivery.h"
#include "sync/routing/compile.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct builder;
struct cascades;
struct fan_out;
struct gtid_set;
struct handoff;
struct midnights;
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
    struct midnights *midnights; /* NULL: nobody asks where days begin */
    struct read_position *reader;
    struct reread *reread;
    struct cascades *cascades;
    struct fan_out *fan_out;
    void *ctx;
    /* Stop a table; durable on return.  On the builder thread. */
    void (*stop_table)(void *ctx, struct target *target, const char *reason,
                       const char *way_out); /* a table_stop_fn */
    table_put_off_fn put_off_table;          /* on the builder thread */
    /* Record that a row makes no document; durable on return. */
    void (*dead)(void *ctx, const struct dead_letter_note *note);
    /*
     * Handle DDL; may set a new routing with builder_set_routing() before it returns.  Returns
     * false with err on failure; the DDL comes again with the next dump.
     */
    bool (*on_ddl)(void *ctx, const struct ddl *ddl, struct err *err);
    /*
     * Wait until the change of the row is committed (sync/read/commit_wait.h); for empty
     * wait_sql, until it probably is.  Returns false with err if nobody can tell; the event
     * comes again with the next dump.
     */
    bool (*wait_committed)(void *ctx, struct str wait_sql, struct err *err);
    /* Called if the input cannot be processed. */
    void (*fault)(void *ctx, const struct err *why);
    /* Called after builder_handled() moved, and then while the builder waits. */
    void (*on_moved)(void *ctx);
    /* Called when the thread ends, having processed all input. */
    void (*on_done)(void *ctx);
};

struct builder *builder_new(const struct builder_options *opt) RETURNS_NONNULL MUST_CHECK;
void builder_start(struct builder *b);
/* After the handoff was closed: wait until its content is processed. */
void builder_join(struct builder *b);
void builder_free(struct builder *b);

/* Discard all input from now on.  @thread any */
void builder_discard(struct builder *b);

/* Tell whether the builder is idle, waiting for the next event.  @thread any */
bool builder_waits(struct builder *b);

/*
 * The functions below run on the builder thread (handoff commands, callbacks), or before start.
 */

/* A dump begins at start: forget the current transaction.  Copies executed. */
void builder_begin(struct builder *b, const struct position *start,
                   const struct gtid_set *executed);

/*
 * Record in the read position, for each transaction, the statement that waits for its commit:
 * for servers that have no GTIDs to wait for, but commit in log order.
 */
void builder_want_commit_waits(struct builder *b, bool wanted);

/* Read rows up to this version without processing: they were delivered or submitted before. */
void builder_skip_to(struct builder *b, uint64_t version);
/* All events up to this version were processed in this run; may be inside a transaction. */
uint64_t builder_handled(const struct builder *b);

/* Expect the log's last known transaction where the dump begins (docs/rules.md, rule 3). */
void builder_expect(struct builder *b, const struct commit_position *known);

/* Process nothing more until the next dump: a prerequisite failed with why. */
void builder_pause(struct builder *b, const struct err *why);

/* Takes a reference. */
void builder_set_routing(struct builder *b, struct routing *routing);

/* The end of the last complete transaction, and its file's name; borrowed. */
const struct commit_position *builder_position(const struct builder *b);
const char *builder_position_file(const struct builder *b);
const struct gtid_set *builder_executed(const struct builder *b);

/* XA transactions prepared and not yet ended.  @thread any */
struct prepared_status builder_prepared(struct builder *b);

struct builder_status { /* counters */
    uint64_t inserts, updates, deletes, statements, events, transactions;
};
struct builder_status builder_status(struct builder *b);

#endif
