/*
 * The coordinator: decides what runs on this node, and answers whoever asks.
 *
 * Owns the pipelines (one a topic), the builds and the one delivery; applies definitions at run
 * time.  Every call below is what an API route or a command does; answers are JSON (one object,
 * its "schema" member naming the versioned form, see docs/api.md).  A refusal is ERR_REJECT
 * with err.code the HTTP status that fits (400, 404, 409, 422), trouble that passes is
 * ERR_RETRY (503).
 *
 * Opened and not started it serves the commands that work without a daemon (apply, export,
 * explain, mapping, doctor, list).
 *
 * @thread any (locked inside; calls may block on MySQL, the engine or the store)
 */
#ifndef REBALANCE_COORDINATOR_H
#define REBALANCE_COORDINATOR_H

#include "src/base/base.h"
#include "src/base/err.h"
#include "src/base/str.h"
#include "src/store.h"
#include "sync/delivery/delivery.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct buf;
struct coordinator;
struct delivery_values;
struct search;

struct coordinator_options {
    struct store *store;              /* borrowed */
    struct search *search;            /* borrowed */
    const char *data_dir;             /* borrowed; spill, secrets given relative to it */
    struct delivery_options delivery; /* its callbacks are filled in by the coordinator */
    size_t event_max;                 /* source.event_max, bytes */
    /* The settings of delivery as configured, which win over those in `delivery`; borrowed.
     * NULL: the defaults. */
    const struct delivery_values *values;
    size_t dead_letters_max;          /* more are not stored, and who brings them is held */
    int64_t dead_letters_old_ms;      /* when one is warned of */
};

bool coordinator_open(struct coordinator **out, const struct coordinator_options *opt,
                      struct err *err) MUST_CHECK;
/* Start delivery, a pipeline for each topic, and the builds that were cut off. */
bool coordinator_start(struct coordinator *co, struct err *err) MUST_CHECK;
/* Drain within the deadline, save positions, stop every thread. */
void coordinator_stop(struct coordinator *co);
void coordinator_close(struct coordinator *co);

/* One definition file: its name for messages, its text, and the folder that password files are
 * relative to. */
struct apply_file {
    struct str name, text, folder;
};
/* What would change, or did, with warnings; refusals list every error with place and caret. */
bool coordinator_apply(struct coordinator *co, const struct apply_file *files, size_t n,
                       bool dry_run, bool prune, struct buf *json, struct err *err) MUST_CHECK;
bool coordinator_export(struct coordinator *co, struct buf *yaml, struct err *err) MUST_CHECK;

/* noun: topic database table relation version job log; name empty: all; get of an unknown name
 * is 404. */
bool coordinator_list(struct coordinator *co, struct str noun, struct str name,
                      struct buf *json, struct err *err) MUST_CHECK;
bool coordinator_delete(struct coordinator *co, struct str noun, struct str name,
                        struct buf *json, struct err *err) MUST_CHECK;
bool coordinator_status(struct coordinator *co, struct buf *json, struct err *err) MUST_CHECK;

struct index_create_options {
    uint64_t rate; /* rows a second, 0: no limit */
    size_t chunk;  /* rows a statement, 0: default */
};
/* Starts a build; the answer has the job's id, to be followed with list job. */
bool coordinator_index_create(struct coordinator *co, struct str table,
                              const struct index_create_options *opt, struct buf *json,
                              struct err *err) MUST_CHECK;
/* number 0: every version that searches do not use (history, failed). */
bool coordinator_index_delete(struct coordinator *co, struct str table, uint64_t number,
                              struct buf *json, struct err *err) MUST_CHECK;
/* Stop a running build, drop its jobs and its index: the manual way out of any bad state. */
bool coordinator_index_reset(struct coordinator *co, struct str table, struct buf *json,
                             struct err *err) MUST_CHECK;
/* Change a running build: rate in rows a second, 0 no limit. */
bool coordinator_index_set(struct coordinator *co, struct str table, uint64_t rate,
                           struct buf *json, struct err *err) MUST_CHECK;

/* A topic that stopped (purged log, changed server): go on from the server's current position;
 * its tables are marked to be rebuilt. */
bool coordinator_topic_reset(struct coordinator *co, struct str topic, struct buf *json,
                             struct err *err) MUST_CHECK;

/* Try again now what waits for a person: a mended right, password or setting. */
bool coordinator_topic_resume(struct coordinator *co, struct str topic, struct buf *json,
                              struct err *err) MUST_CHECK;

bool coordinator_explain(struct coordinator *co, struct str table, struct str key,
                         struct buf *json, struct err *err) MUST_CHECK;
bool coordinator_mapping(struct coordinator *co, struct str table, struct buf *json,
                         struct err *err) MUST_CHECK;
/* A definition with every column of a table, which need not be defined, only its database. */
bool coordinator_generate_columns(struct coordinator *co, struct str table, struct buf *json,
                                  struct err *err) MUST_CHECK;
bool coordinator_doctor(struct coordinator *co, struct buf *json, struct err *err) MUST_CHECK;

bool coordinator_dead_letters(struct coordinator *co, const struct dead_letter_filter *f,
                              struct buf *json, struct err *err) MUST_CHECK;
bool coordinator_dead_letter_replay(struct coordinator *co, const struct dead_letter_filter *f,
                                    struct buf *json, struct err *err) MUST_CHECK;
bool coordinator_dead_letter_discard(struct coordinator *co, const struct dead_letter_filter *f,
                                     struct buf *json, struct err *err) MUST_CHECK;

/* One of the settings of delivery ("workers"); value.ptr NULL: as configured. */
struct setting_change {
    struct str name, value;
};
/* What is in force, with where it comes from; name empty: all, of an unknown one 404. */
bool coordinator_delivery_settings(struct coordinator *co, struct str name, struct buf *json,
                                   struct err *err) MUST_CHECK;
/* All n or none, kept in the store; n 0: all are as configured.  The answer has what was there
 * before. */
bool coordinator_delivery_set(struct coordinator *co, const struct setting_change *c, size_t n,
                              struct buf *json, struct err *err) MUST_CHECK;
/* The configuration was read again; what was set at run time stays. */
bool coordinator_configure(struct coordinator *co, const struct delivery_values *values,
                           struct err *err) MUST_CHECK;

/* Deliver what is queued, while the stream goes on (sync/delivery/drain.h). */
#define DRAIN_TIMEOUT_MAX_MS 3600000
struct drain_request {
    bool all;
    unsigned worker;    /* unless all */
    int64_t timeout_ms; /* below 0: delivery.drain_timeout */
};
/* The answer says how it ended.  Blocks until then. */
bool coordinator_drain(struct coordinator *co, const struct drain_request *r, struct buf *json,
                       struct err *err) MUST_CHECK;
/* A drain that goes ends once what is in flight is answered. */
bool coordinator_drain_cancel(struct coordinator *co, struct buf *json,
                              struct err *err) MUST_CHECK;

/* How long coordinator_stop() may deliver what is under way. */
int64_t coordinator_stop_ms(struct coordinator *co);

/* Append samples of everything, in any order (src/metric.h); the web renders them. */
void coordinator_metrics(struct coordinator *co, struct buf *out);
/* Ready: store open, definitions loaded, started.  json lists the checks. */
bool coordinator_ready(struct coordinator *co, struct buf *json);

#endif
