/*
 * struct fan_out: re-reads the many documents that one changed row leads to, beside the stream.
 *
 * The builder stores such a row as jobs (src/store/later/fan_out.h).  Then the change is done,
 * and the stream goes on.  One thread works the jobs off, separately for each index version: it
 * reads the root keys in pages, in key order, by a read that includes the change, and hands
 * them to delivery in slices, to be re-read.  It sends a slice only after the previous one was
 * acknowledged, and then saves the cursor.  So few documents are in flight, the stream's
 * changes overtake them, and a kill costs one slice.  Behind a backlog, a slice is as large as
 * the jobs' share of all writes, and delivery takes documents by that share from their index's
 * queue (sync/delivery/index/lines.h).
 *
 * While a version has jobs, changes by foreign keys wait for them
 * (sync/checkpoint/grace_period.h): those are found by what documents show.
 *
 * @thread as each function says
 */
#ifndef SYNC_RELATED_FAN_OUT_FAN_OUT_H
#define SYNC_RELATED_FAN_OUT_FAN_OUT_H

#include "src/base/base.h"
#include "src/base/err.h"
#include "src/base/str.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct delivery;
struct access_denied;
struct fan_out;
struct known_server;
struct source_registry;
struct read_position;
struct routing;
struct server_access;
struct store;
struct target;

struct fan_out_options { /* all borrowed */
    const char *topic;
    uint64_t term;
    struct store *store;
    struct delivery *delivery;
    struct read_position *reader;
    struct server_access *server; /* the one that the topic follows */
    struct known_server *known;
    struct source_registry *registry; /* the node's */
    struct access_denied *denied;     /* reports refused reads here */
    /*
     * Whether the builder has adopted the requested versions.  Their plans then contain what
     * other topics reported about their tables; until then, jobs of other topics wait.
     */
    bool (*is_settled)(void *ctx);
    void (*saves)(void *ctx); /* a cursor is about to be stored; NULL: nobody asks */
    void *ctx;
    size_t page;    /* root keys per statement; 0: 10000 */
    size_t slice;   /* most documents in flight per version; 0: a page */
    unsigned share; /* see fan_out_set_share(); 0: 20 */
};

struct fan_out *fan_out_new(const struct fan_out_options *opt) RETURNS_NONNULL MUST_CHECK;
void fan_out_start(struct fan_out *f);
/*
 * Set the share of jobs: of 100 documents written behind a backlog, this many belong to jobs.
 * Below 100.  @thread any
 */
void fan_out_set_share(struct fan_out *f, unsigned percent);
/* Begin nothing new; what is in flight still ends.  @thread any */
void fan_out_rest(struct fan_out *f);
void fan_out_stop(struct fan_out *f);
/* What is in flight may still end after it.  NULL is allowed. */
void fan_out_free(struct fan_out *f);

/*
 * Work for these versions from now on; takes a reference.  @thread builder, before it reads on
 */
void fan_out_set_routing(struct fan_out *f, struct routing *routing);

/* Changed rows of one place of a version's documents. */
struct fan_out_rows {
    const struct target *target;
    size_t place;
    unsigned by; /* how keys name rows: RESOLVER_BY (sync/document/resolver.h) */
    const struct str *keys;
    size_t n;
    uint64_t at_least; /* position of the change, as a document version */
};
/* Store the rows as jobs; durable when it returns true.  Blocks on the store.  @thread any */
bool fan_out_put(struct fan_out *f, const struct fan_out_rows *rows,
                 struct err *err) MUST_CHECK;

/* Look for jobs now: somebody else stored some for the topic.  @thread any */
void fan_out_wake(struct fan_out *f);

/*
 * Keep the rows, of a delayed table, for its next run: what is needed to put them as jobs then
 * (src/store/later/snapshot.h).  As many as there are keys.  Durable when it returns true.
 * Blocks on the store.  @thread any
 */
struct snapshot_row;
bool fan_out_put_off(struct fan_out *f, struct str table, const struct fan_out_rows *rows,
                     const struct snapshot_row *of, struct err *err) MUST_CHECK;

/*
 * Returns when the oldest job of an index ("orders_v2") was stored, in wall time: all jobs
 * stored earlier are done.  INT64_MAX: the index has no jobs; 0: not known yet.  @thread any
 */
int64_t fan_out_oldest_ms(struct fan_out *f, struct str index);

struct fan_out_status {
    uint64_t put;       /* rows stored */
    uint64_t runs;      /* runs ended */
    uint64_t documents; /* acknowledged */
    uint64_t waiting;   /* jobs in the store at the last look */
    uint64_t failures;
    uint64_t statements; /* statements that find documents */
};
struct fan_out_status fan_out_status(struct fan_out *f);

/* The progress of an index version.  @thread any */
struct fan_out_progress {
    uint64_t rows;      /* rows with very many documents not done yet, at the last look */
    uint64_t run;       /* number of the current run in the store; 0: none */
    uint64_t documents; /* acknowledged */
    uint64_t known;     /* further documents found */
    bool all_known;     /* no more will be found */
};
struct fan_out_progress fan_out_progress(struct fan_out *f, struct str alias, uint64_t number);

#endif
