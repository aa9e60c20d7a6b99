/*
 * struct pipeline: everything that follows one source: reader, builder, loaders, saver.
 *
 * Starts at what the store says, writes to the index versions it is given, and stores how far
 * every change before it is done.
 *
 * @thread pipeline_load, pipeline_gone and the status functions: any; the others: the coordinator's callers,
 * one at a time
 */
#ifndef SYNC_PIPELINE_H
#define SYNC_PIPELINE_H

#include "src/base/base.h"
#include "src/base/err.h"
#include "src/base/str.h"
#include "sync/builder.h"
#include "sync/delivery/delivery.h"
#include "sync/fan_out.h"
#include "sync/read_links.h"
#include "sync/reread.h"
#include "sync/routing_compile.h"
#include "sync/source.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct mysql_conn;
struct peers;
struct pipeline;
struct read_position;
struct search;
struct server_access;
struct store;
struct turnstile;

struct pipeline_options {
    const char *topic;
    const char *start_at; /* now, FILE:OFFSET or GTIDs: when the store knows no position */
    struct server_access *server;
    uint32_t server_id;
    const char *uuid;
    uint64_t epoch; /* of a fresh start; the checkpoint's counts otherwise */
    uint64_t term;
    size_t event_max;
    const char *spill_folder; /* as in struct builder_options */
    int64_t read_window_ms; /* as of struct delivery_options */
    unsigned loads;         /* likewise */
    struct store *store;
    struct delivery *delivery;
    struct search *search;
    struct peers *peers; /* of the node */
    void *ctx;
    /* As in struct builder_options.  False: it could not be made durable, nor will be; then nothing
     * is stored any more: the position stays before it. */
    bool (*stop_table)(void *ctx, struct target *target, const char *reason,
                       const char *way_out);
    bool (*dead)(void *ctx, const struct dead_letter_note *note);
    version_fit_fn fit; /* these two on the builder's thread; block */
    version_kept_fn kept;
    /* DDL was taken up: what waits for tables may go on.  On the builder's thread. */
    void (*tables_changed)(void *ctx);
    /* As in struct cascades_options; false: as above. */
    bool (*mark)(void *ctx, const struct target *target, const char *reason);
};

/* Loads the checkpoint. */
bool pipeline_new(struct pipeline **out, const struct pipeline_options *opt,
                  struct err *err) MUST_CHECK;
void pipeline_start(struct pipeline *p);
/* As of struct pipeline_options, from now on.  @thread any */
void pipeline_set_reads(struct pipeline *p, unsigned loads, int64_t read_window_ms);

/*
 * From now on write to these index versions (copied).  *from is the position after which every
 * change goes to them.  Waits for the builder, at most timeout_ms: ERR_RETRY, and it happens
 * later.
 */
bool pipeline_set_versions(struct pipeline *p, const struct version_spec *const *specs,
                           size_t n, int64_t timeout_ms, uint64_t *from,
                           struct err *err) MUST_CHECK;

/* It writes to the index version already; *from is then as above.  @thread any */
bool pipeline_has_version(struct pipeline *p, struct str index, uint64_t *from) MUST_CHECK;

/* It writes to the index version already; *from is then as above.  @thread any */
bool pipeline_has_version(struct pipeline *p, struct str index, uint64_t *from) MUST_CHECK;

/* What another topic told of its tables changes plans: the versions are taken anew.  @thread any */
void pipeline_renew(struct pipeline *p);

/* Take a re-read batch of one of its targets. */
void pipeline_load(struct pipeline *p, struct load_batch *batch);
/* A document of one stays, as its row is gone. */
void pipeline_gone(struct pipeline *p, const struct gone_row *row);

/* The builder's target for a table (empty: any) of a concrete index with a reference, NULL when
 * it has none (yet). */
struct target *pipeline_target(struct pipeline *p, struct str index, struct str table);
/* Those of all tables of the index, parents first, each with a reference; the list is the
 * caller's. */
struct target **pipeline_targets(struct pipeline *p, struct str index,
                                 size_t *n) RETURNS_NONNULL MUST_CHECK;
/* That what is read for an index passes until it is written; borrowed. */
struct turnstile *pipeline_turnstile(struct pipeline *p, struct str index) RETURNS_NONNULL;
/* As cascades_wait_for(). */
bool pipeline_cascades_wait_for(struct pipeline *p, struct str index);
struct fan_out_progress pipeline_fan_out(struct pipeline *p, struct str alias, uint64_t number);
/* As denied_find(). */
bool pipeline_is_denied(struct pipeline *p, struct str index, struct err *why) MUST_CHECK;
/* As fan_out_oldest_ms(). */
int64_t pipeline_fan_out_oldest_ms(struct pipeline *p, struct str index);
/* The builder has taken the versions that it was given last. */
bool pipeline_is_settled(struct pipeline *p);

struct read_position *pipeline_read_position(struct pipeline *p);
uint64_t pipeline_epoch(const struct pipeline *p);
/*
 * No document version above this was ever given out in this epoch: what was read, or, as an
 * earlier run may have read on after its last checkpoint, where the log ended at the last
 * connect.  UINT64_MAX before the first connect.
 */
uint64_t pipeline_stamp_max(struct pipeline *p);
/* As delivery_options.area_floor: for ten minutes the highest version that an earlier daemon
 * can have given out. */
uint64_t pipeline_area_floor(struct pipeline *p);
/* After pipeline_quiesce(): all that was read is with delivery. */
bool pipeline_is_handed_over(struct pipeline *p);
/* Everything that was read up to version is done. */
bool pipeline_done_up_to(struct pipeline *p, uint64_t version);
/*
 * Stop reading on where it is, with everything that was read done.  False: somebody else has
 * it, or it ends.  It goes on by itself after some seconds: then it seems to stand.
 */
bool pipeline_stand(struct pipeline *p) MUST_CHECK;
bool pipeline_stands(struct pipeline *p);
/* After every pipeline_stand(). */
void pipeline_go_on(struct pipeline *p);
bool pipeline_has_gtid(struct pipeline *p);
/* A connection to the server that is followed, which takes an answer to be lost after so many
 * seconds (0: the usual time).  Blocks. */
bool pipeline_connect(struct pipeline *p, unsigned read_timeout_s, struct mysql_conn **out,
                      struct err *err) MUST_CHECK;
/* For reads of documents, by a thread of its own. */
struct read_links pipeline_links(struct pipeline *p, struct stop *stop, int64_t timeout_ms);
/*
 * The identity of another server, that answers at the address and has all that was read: this
 * pipeline reads no more, and one with a checkpoint of start_point_move() goes on.  NULL: none.
 */
const char *pipeline_moved_to(const struct pipeline *p);
/* What the server said of itself at the last connect; false: never connected. */
bool pipeline_identity(struct pipeline *p, char *out, size_t cap);

/* Read no more; what was read is still worked off. */
void pipeline_quiesce(struct pipeline *p);
/* After quiesce: nothing is left to do. */
bool pipeline_idle(struct pipeline *p);
/* Store the position as it is now, once more. */
bool pipeline_save(struct pipeline *p, struct err *err) MUST_CHECK;
/* Store nothing any more; throw away what is read: before a stop that must not wait. */
void pipeline_discard(struct pipeline *p);
/* After quiesce: waits for the threads.  delivery must not hold them up (stopped, or forgotten
 * targets). */
void pipeline_join(struct pipeline *p);
/* Throw away what delivery has queued for it. */
void pipeline_forget(struct pipeline *p);
void pipeline_free(struct pipeline *p);

/* A list of joined pipelines that may be freed only when delivery is gone. */
void pipeline_retire(struct pipeline *p, struct pipeline **list);
struct pipeline *pipeline_unretire(struct pipeline **list);

/* Try again after a failure that waits for a person. */
void pipeline_retry(struct pipeline *p);

struct pipeline_status {
    struct source_status source;
    struct builder_status builder;
    struct prepared_status prepared;
    struct reread_status reread;
    struct fan_out_status fan_out;
    uint64_t epoch;
    char file[256]; /* of the safe position */
    uint64_t offset;
    char *gtids;      /* free() it */
    int64_t event_ms; /* commit of the last transaction that was read */
    double lag_s;
    uint64_t lag_bytes;
    bool lag_known;
    double rate; /* row changes a second over the last seconds */
    uint64_t queue_bytes;
    size_t resolving;
    uint64_t changes_read, changes_done[N_OUTCOMES];
    uint64_t rows_unrooted; /* left out of a join: no parent or root is known */
    struct err save_error; /* ERR_NONE: the last save worked */
};
void pipeline_status(struct pipeline *p, struct pipeline_status *out);

#endif
