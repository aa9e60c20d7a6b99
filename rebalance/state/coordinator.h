/*
 * The coordinator: decides what runs on this node and answers requests.
 *
 * It owns the pipelines (one per topic), the builds and the one delivery, and applies
 * definitions at run time. Each call below serves an API route or a command. Answers are JSON:
 * one object, whose "schema" member names the versioned form (docs/api.md). A refusal is
 * ERR_REJECT with the HTTP status in err.code (400, 404, 409, 422); temporary trouble is
 * ERR_RETRY (503).
 *
 * A coordinator that is open but not started serves the commands that work without a daemon
 * (apply, export, explain, mapping, doctor, list).
 *
 * @thread any (locked inside; calls may block on MySQL, the engine or the store)
 */
#ifndef REBALANCE_STATE_COORDINATOR_H
#define REBALANCE_STATE_COORDINATOR_H

#include "src/base/base.h"
#include "src/base/err.h"
#include "src/base/str.h"
#include "src/store/store.h"
#include "sync/delivery/delivery.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct buf;
struct configuration;
struct coordinator;
struct search;

struct coordinator_options {
    struct store *store;   /* borrowed */
    struct search *search; /* borrowed */
    const char *data_dir;  /* borrowed; for spill files and relative paths of secrets */
    struct delivery_options delivery; /* the coordinator fills in its callbacks */
    size_t event_max;                 /* source.event_max, bytes */
    /* Copied. Its delivery settings override those in `delivery`. NULL: the defaults. */
    const struct configuration *configuration;
    size_t dead_letters_max;     /* beyond this, store none and hold the index concerned */
    int64_t dead_letters_old_ms; /* age at which a letter causes a warning */
    int64_t retire_after_ms;     /* age at which retired indexes are deleted; 0: never */
    int64_t check_every_ms;      /* how often to compare the engine with the store */
};

bool coordinator_open(struct coordinator **out, const struct coordinator_options *opt,
                      struct err *err) MUST_CHECK;
/* Start delivery, a pipeline for each topic, and the builds that were cut off. */
bool coordinator_start(struct coordinator *co, struct err *err) MUST_CHECK;
/* Drain within the deadline, save positions, stop every thread. */
void coordinator_stop(struct coordinator *co);
void coordinator_close(struct coordinator *co);

/*
 * One definition file: its name for messages, its text, and the folder that paths of password
 * files are relative to.
 */
struct apply_file {
    struct str name, text, folder;
};
struct apply_request {
    const struct apply_file *files;
    size_t n;
    bool dry_run, prune;
    bool take_alias; /* a table may take an alias of an index that Millrace did not make */
};
/*
 * Answers what would change, or has changed, with warnings. A refusal lists every error with
 * its place and a caret.
 */
bool coordinator_apply(struct coordinator *co, const struct apply_request *r, struct buf *json,
                       struct err *err) MUST_CHECK;
bool coordinator_export(struct coordinator *co, struct buf *yaml, struct err *err) MUST_CHECK;

/*
 * noun: topic database table relation version index job log. name empty: all; 404 if it is
 * unknown.
 */
bool coordinator_list(struct coordinator *co, struct str noun, struct str name,
                      struct buf *json, struct err *err) MUST_CHECK;
bool coordinator_delete(struct coordinator *co, struct str noun, struct str name,
                        struct buf *json, struct err *err) MUST_CHECK;
bool coordinator_status(struct coordinator *co, struct buf *json, struct err *err) MUST_CHECK;

struct index_create_options {
    uint64_t rate;   /* rows per second, 0: no limit */
    size_t chunk;    /* rows per statement, 0: default */
    bool take_index; /* take the alias from another store of Millrace */
    bool take_alias; /* take it from an index that Millrace did not make */
};
/* Start a build. The answer has the job's id; follow it with list job. */
bool coordinator_index_create(struct coordinator *co, struct str table,
                              const struct index_create_options *opt, struct buf *json,
                              struct err *err) MUST_CHECK;
/*
 * Delete all the chosen versions or none. number 0: every version that is history or retired.
 * table may also name an index that no definition names any more.
 */
bool coordinator_index_delete(struct coordinator *co, struct str table, uint64_t number,
                              struct buf *json, struct err *err) MUST_CHECK;
/*
 * Stop a running build, drop its jobs and its index. This is the manual way out of any bad
 * state.
 */
bool coordinator_index_reset(struct coordinator *co, struct str table, struct buf *json,
                             struct err *err) MUST_CHECK;
/*
 * Publish the version that waits. accepted: how many dead letters it may have; 0: keep the
 * number accepted before. Answers like index create.
 */
bool coordinator_index_cutover(struct coordinator *co, struct str table, uint64_t accepted,
                               struct buf *json, struct err *err) MUST_CHECK;
/* Change the rate of a running build, in rows per second; 0: no limit. */
bool coordinator_index_set(struct coordinator *co, struct str table, uint64_t rate,
                           struct buf *json, struct err *err) MUST_CHECK;

/*
 * Let a topic that stopped (purged log, changed server) go on from the server's current
 * position. Marks its tables for a rebuild.
 */
bool coordinator_topic_reset(struct coordinator *co, struct str topic, struct buf *json,
                             struct err *err) MUST_CHECK;

/* Retry now what waits for a person to repair a privilege, password or setting. */
bool coordinator_topic_resume(struct coordinator *co, struct str topic, struct buf *json,
                              struct err *err) MUST_CHECK;

bool coordinator_explain(struct coordinator *co, struct str table, struct str key,
                         struct buf *json, struct err *err) MUST_CHECK;
bool coordinator_mapping(struct coordinator *co, struct str table, struct buf *json,
                         struct err *err) MUST_CHECK;
/* Answers a definition with every column of a table. Only its database must be defined. */
bool coordinator_generate_columns(struct coordinator *co, struct str table, struct buf *json,
                                  struct err *err) MUST_CHECK;
bool coordinator_doctor(struct coordinator *co, struct buf *json, struct err *err) MUST_CHECK;

bool coordinator_dead_letters(struct coordinator *co, const struct dead_letter_filter *f,
                              struct buf *json, struct err *err) MUST_CHECK;
bool coordinator_dead_letter_replay(struct coordinator *co, const struct dead_letter_filter *f,
                                    struct buf *json, struct err *err) MUST_CHECK;
bool coordinator_dead_letter_discard(struct coordinator *co, const struct dead_letter_filter *f,
                                     struct buf *json, struct err *err) MUST_CHECK;

/* One delivery setting ("workers"). value.ptr NULL: back to the configured value. */
struct setting_change {
    struct str name, value;
};
/*
 * Answers the settings in force and where each comes from. name empty: all; 404 if it is
 * unknown.
 */
bool coordinator_delivery_settings(struct coordinator *co, struct str name, struct buf *json,
                                   struct err *err) MUST_CHECK;
/*
 * Set all n or none, and store them. n 0: everything back to its configured value. Answers the
 * previous values.
 */
bool coordinator_delivery_set(struct coordinator *co, const struct setting_change *c, size_t n,
                              struct buf *json, struct err *err) MUST_CHECK;
/* Answers the whole configuration in force and where each value comes from. */
void coordinator_configuration(struct coordinator *co, struct buf *json);
/* Apply a configuration that was read again. Keeps what was set at run time. */
bool coordinator_configure(struct coordinator *co, const struct configuration *c,
                           struct err *err) MUST_CHECK;

/* Deliver the queue while the stream goes on (sync/delivery/index/drain.h). */
#define DRAIN_TIMEOUT_MAX_MS 3600000
struct drain_request {
    bool all;
    unsigned worker;    /* unless all */
    int64_t timeout_ms; /* negative: delivery.drain_timeout */
};
/* Blocks until the drain ends. Answers how it ended. */
bool coordinator_drain(struct coordinator *co, const struct drain_request *r, struct buf *json,
                       struct err *err) MUST_CHECK;
/* Cancel a running drain: it ends once every request in flight is answered. */
bool coordinator_drain_cancel(struct coordinator *co, struct buf *json,
                              struct err *err) MUST_CHECK;

/* Returns how long coordinator_stop() may spend on delivering what is in flight. */
int64_t coordinator_stop_ms(struct coordinator *co);

/*
 * Append samples of all metrics, in any order (src/metric/metric.h). The web server renders
 * them.
 */
void coordinator_metrics(struct coordinator *co, struct buf *out);
/*
 * Returns true once the store is open, the definitions are loaded and the coordinator has
 * started. json lists the checks.
 */
bool coordinator_ready(struct coordinator *co, struct buf *json);

#endif
