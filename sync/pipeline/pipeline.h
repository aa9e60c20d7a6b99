/*
 * struct pipeline: everything that follows one source: reader, builder, loaders, saver.
 *
 * Starts where the store says, writes to the index versions that it is given, and stores the
 * position before which every change is done.
 *
 * Reference-counted: after its end whoever still has a reference may ask, but gets no more
 * news. Writes in flight may outlive it.
 *
 * @thread pipeline_load, pipeline_gone and the status functions: any; the others: the
 * coordinator's callers, one at a time
 */
#ifndef SYNC_PIPELINE_PIPELINE_H
#define SYNC_PIPELINE_PIPELINE_H

#include "src/base/base.h"
#include "src/base/err.h"
#include "src/base/str.h"
#include "sync/change/builder.h"
#include "sync/checkpoint/lag.h"
#include "sync/delivery/delivery.h"
#include "sync/load/reread.h"
#include "sync/read/links.h"
#include "sync/related/fan_out/fan_out.h"
#include "sync/routing/compile.h"
#include "sync/source/source.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct mysql_conn;
struct source_registry;
struct pipeline;
struct read_position;
struct routing;
struct search;
struct server_access;
struct store;
struct dirty_set;
struct grace_period;

struct pipeline_options {
    const char *topic;
    const char *start_at; /* now, FILE:OFFSET or GTIDs: used if the store has no position */
    struct server_access *server;
    uint32_t server_id;
    const char *uuid;
    const char *day_zone; /* of its days (topic_day_zone()) */
    uint64_t epoch;       /* of a fresh start; otherwise the checkpoint's epoch counts */
    uint64_t term;
    bool is_shared; /* other nodes may fill its versions */
    size_t event_max;
    const char *spill_folder; /* as in struct builder_options */
    int64_t read_window_ms;   /* as in struct delivery_options */
    unsigned loads;           /* likewise */
    unsigned fan_out_share;   /* likewise */
    struct store *store;
    struct delivery *delivery;
    struct search *search;
    struct source_registry *registry; /* the node's */
    void *ctx;
    /*
     * As in struct builder_options.  Returning false means that the record is not durable and
     * never will be: the pipeline then stores nothing more, and its position stays before it.
     */
    bool (*stop_table)(void *ctx, struct target *target, const char *reason,
                       const char *way_out);
    /* As a table_put_off_fn, which sets *is; topic: the pipeline's. */
    bool (*put_off_table)(void *ctx, struct str topic, const struct table_put_off *what,
                          bool *is);
    bool (*dead)(void *ctx, const struct dead_letter_note *note);
    version_fit_fn fit; /* this and kept: on the builder's thread; may block */
    version_kept_fn kept;
    /* Called after DDL: whatever waits for tables may continue.  On the builder's thread. */
    void (*tables_changed)(void *ctx);
    /* As in struct cascades_options; false as above. */
    bool (*mark)(void *ctx, const struct target *target, const char *reason);
    void (*saves)(void *ctx); /* as in struct saver_options */
};

/* Loads the checkpoint, and returns one reference.  Blocks on the store. */
bool pipeline_new(struct pipeline **out, const struct pipeline_options *opt,
                  struct err *err) MUST_CHECK;
struct pipeline *
pipeline_ref(struct pipeline *p) RETURNS_NONNULL; /* this and unref: any thread */
/* The last one frees it, which must not be started or has been joined.  NULL is allowed. */
void pipeline_unref(struct pipeline *p);
void pipeline_start(struct pipeline *p);
/* Change what struct pipeline_options set.  @thread any */
void pipeline_set_reads(struct pipeline *p, unsigned loads, int64_t read_window_ms);
void pipeline_set_fan_out_share(struct pipeline *p, unsigned percent);

/*
 * Write to these index versions from now on (copied).  *from is the position after which every
 * change goes to them.  Waits for the builder, at most timeout_ms; ERR_RETRY means that it will
 * happen later.
 */
bool pipeline_set_versions(struct pipeline *p, const struct version_spec *const *specs,
                           size_t n, int64_t timeout_ms, uint64_t *from,
                           struct err *err) MUST_CHECK;

/* Tell whether it writes to the index version already; *from is then as above.  @thread any */
bool pipeline_has_version(struct pipeline *p, struct str index, uint64_t *from) MUST_CHECK;

/*
 * Adopt the same versions again: another topic reported something about its tables that changes
 * plans.  @thread any
 */
void pipeline_renew(struct pipeline *p);

/* Take a batch to re-read for one of its targets. */
void pipeline_load(struct pipeline *p, struct load_batch *batch);
/* Keep a document of one of its targets, whose row is gone. */
void pipeline_gone(struct pipeline *p, const struct gone_row *row);

/*
 * Returns a reference to the builder's target for a table (empty: any) of a concrete index;
 * NULL if it has none, or none yet.
 */
struct target *pipeline_target(struct pipeline *p, struct str index, struct str table);
/*
 * Returns the targets of all tables of the index, parents first, each with a reference.  The
 * caller owns the list.
 */
struct target **pipeline_targets(struct pipeline *p, struct str index,
                                 size_t *n) RETURNS_NONNULL MUST_CHECK;
/* Returns the turnstile for everything read for an index until it is written; borrowed. */
struct grace_period *pipeline_grace_period(struct pipeline *p,
                                           struct str index) RETURNS_NONNULL;
/* See cascades_wait_for(). */
bool pipeline_cascades_wait_for(struct pipeline *p, struct str index);
/* See cascades_stay(), cascades_may_stay(), cascades_oldest_ms() and cascades_touch(). */
size_t pipeline_gone_stay(struct pipeline *p, struct str index);
bool pipeline_gone_may_stay(struct pipeline *p);
int64_t pipeline_gone_oldest_ms(struct pipeline *p, struct str alias);
void pipeline_touch_gone(struct pipeline *p, struct str index, struct dirty_set *t);
/* Somebody else has stored fan-out jobs for the topic: look now. */
void pipeline_wake_fan_out(struct pipeline *p);
struct fan_out_progress pipeline_fan_out(struct pipeline *p, struct str alias, uint64_t number);
/* See access_denied_has_tables(); pipeline_renew() looks again. */
bool pipeline_is_denied_tables(struct pipeline *p, struct str index) MUST_CHECK;
/* See access_denied_find(). */
bool pipeline_is_denied(struct pipeline *p, struct str index, struct err *why) MUST_CHECK;
/* See fan_out_oldest_ms(). */
int64_t pipeline_fan_out_oldest_ms(struct pipeline *p, struct str index);
/* The routing in effect, a reference; NULL: none yet.  @thread any */
struct routing *pipeline_routing(struct pipeline *p) MUST_CHECK;
/* Tell whether the builder has adopted the versions set last. */
bool pipeline_is_settled(struct pipeline *p);

struct read_position *pipeline_read_position(struct pipeline *p);
uint64_t pipeline_epoch(const struct pipeline *p);
/*
 * Returns a version that no document version given out in this epoch exceeds: the read position
 * or the log's end at the last connect, as an earlier run may have read on after its last
 * checkpoint.  UINT64_MAX before the first connect.
 */
uint64_t pipeline_stamp_max(struct pipeline *p);
/*
 * See delivery_options.area_floor: for ten minutes after the start, the highest version that an
 * earlier daemon can have given out, UINT64_MAX before the first connect; 0 after that.
 */
uint64_t pipeline_area_floor(struct pipeline *p);
/* After pipeline_quiesce(): tell whether delivery has everything that was read. */
bool pipeline_is_handed_over(struct pipeline *p);
/* Tell whether everything read up to version is done. */
bool pipeline_done_up_to(struct pipeline *p, uint64_t version);
/*
 * Ask the stream to stop where it is; pipeline_stands() tells when it has, and everything read
 * is done.  Returns false if another caller has stopped it, or it is ending.  The stream
 * continues by itself after 10 seconds, but pipeline_stands() still returns true.
 */
bool pipeline_stand(struct pipeline *p) MUST_CHECK;
bool pipeline_stands(struct pipeline *p);
/* Call once for each successful pipeline_stand(). */
void pipeline_go_on(struct pipeline *p);
bool pipeline_has_gtid(struct pipeline *p);
/*
 * Open a connection to the followed server.  An answer counts as lost after read_timeout_s
 * seconds (0: the usual time).  Blocks.
 */
bool pipeline_connect(struct pipeline *p, unsigned read_timeout_s, struct mysql_conn **out,
                      struct err *err) MUST_CHECK;
/* Links for reading documents, for a thread of the caller's. */
struct read_links pipeline_links(struct pipeline *p, struct stop *stop, int64_t timeout_ms);
/*
 * Returns the identity of another server that answers at the address and has everything we
 * read; NULL if there is none.  This pipeline then reads no more; one with a checkpoint of
 * start_point_move() continues.
 */
const char *pipeline_moved_to(const struct pipeline *p);
/*
 * A number that differs once rows were read or done, or the source's state has changed.  Wakes
 * nobody.
 */
uint64_t pipeline_mark(struct pipeline *p);
/* Has its source failed?  Wakes nobody, unlike pipeline_status(). */
bool pipeline_has_failed(struct pipeline *p);
/*
 * Returns false if an earlier daemon, or pipeline, may have read more of this server than this
 * one has.
 */
bool pipeline_has_caught_up(struct pipeline *p);
/* Get what the server identified as at the last connect; false if never connected. */
bool pipeline_identity(struct pipeline *p, char *out, size_t cap);

/* Read no more.  What was read is still worked off. */
void pipeline_quiesce(struct pipeline *p);
/* After quiesce: tell whether nothing is left to do. */
bool pipeline_idle(struct pipeline *p);
/* Store the present position once more. */
bool pipeline_save(struct pipeline *p, struct err *err) MUST_CHECK;
/* See saver_final_version() and saver_deletes_are_repeated().  @thread any */
uint64_t pipeline_final_version(struct pipeline *p);
void pipeline_deletes_are_repeated(struct pipeline *p);
/* Store nothing more, and throw away what is read: before a stop that must not wait. */
void pipeline_discard(struct pipeline *p);
/* Whether it does: a caller said so, or it met what cannot be stored.  @thread any */
bool pipeline_is_discarded(const struct pipeline *p) MUST_CHECK;
/*
 * Wait for the threads, after quiesce. delivery must not hold them up: it is stopped, or has
 * forgotten the targets.
 */
void pipeline_join(struct pipeline *p);
/* Throw away what delivery has queued for the pipeline. */
void pipeline_forget(struct pipeline *p);

/* Try again after a failure that waits for an operator. */
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
    int64_t event_ms; /* commit time of the last transaction read */
    struct lag lag;   /* of the log; what the store holds instead does not count */
    uint64_t lag_bytes;
    bool bytes_known;
    int64_t asked_ms; /* wall time at which the server last reported its log's end; 0: never */
    int64_t
        asking_ms; /* wall time: since when a question to the server has no answer; 0: none */
    double rate;   /* row changes per second, recently */
    uint64_t queue_bytes;
    size_t resolving;
    size_t gone_stay; /* see cascades_stay() */
    uint64_t changes_read, changes_done[N_OUTCOMES];
    uint64_t rows_unrooted; /* left out of a join: no known parent or root */
    struct err save_error;  /* ERR_NONE if the last save worked */
    int64_t save_failed_ms; /* wall time: since when none worked; 0: the last one did */
    struct err no_days;     /* why its midnights are not kept; ERR_NONE: they are */
};
void pipeline_status(struct pipeline *p, struct pipeline_status *out);
/* The same for who looks by itself, and wakes nobody: see saver_glance(). */
void pipeline_glance(struct pipeline *p, struct pipeline_status *out);

#endif
