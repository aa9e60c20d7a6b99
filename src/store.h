/*
 * The store: everything Millrace must remember, in SQLite (a single node) or MySQL (a cluster).
 *
 * One interface, two implementations (store_sqlite, store_mysql), one test suite.  Every write
 * of a position or a cursor carries the term of its owner; an older term is refused with
 * ERR_STOP and nothing is written.  Each call is one transaction.  A lost connection or a full
 * disk is ERR_RETRY and changes nothing, with one exception that MySQL brings: where the
 * connection is lost at the commit, the change may have been made; every call can be made again
 * then, though store_new_version and store_save_definitions may say that it was done already.
 *
 * @thread any (locked inside; calls may block)
 */
#ifndef SRC_STORE_H
#define SRC_STORE_H

#include "src/base/base.h"
#include "src/base/err.h"
#include "src/base/str.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct arena;
struct buf;
struct mysql_options;
struct store;

/*
 * Opens and migrates.  Of a newer version, or not a store: ERR_FATAL.  The SQLite store is for
 * one process: while another has it, ERR_RETRY with its pid.  The folder of path must be there.
 */
bool store_open_sqlite(struct store **out, const char *path, struct err *err) MUST_CHECK;
bool store_open_mysql(struct store **out, const struct mysql_options *opt,
                      struct err *err) MUST_CHECK;
void store_close(struct store *s);             /* NULL is fine */
const char *store_kind(const struct store *s); /* "sqlite" or "mysql" */

/* Terms: raise and return the term of an owned thing ("topic/shop", "job/12"); the first is 1.
 */
bool store_take_term(struct store *s, struct str thing, uint64_t *term,
                     struct err *err) MUST_CHECK;

/* Small named values: "server_id", "instance", "definitions/revision" ... */
bool store_get_value(struct store *s, struct str name, struct buf *out, bool *found,
                     struct err *err) MUST_CHECK;
bool store_put_value(struct store *s, struct str name, struct str value,
                     struct err *err) MUST_CHECK;

/* Definitions: kind "topic", "database", "table"; body is canonical JSON. */
struct stored_definition {
    struct str kind, name, body;
};
bool store_load_definitions(struct store *s, struct arena *a, struct stored_definition **out,
                            size_t *n, uint64_t *revision, struct err *err) MUST_CHECK;
/* Replace all definitions if the stored revision still is `revision` (ERR_RETRY otherwise). */
bool store_save_definitions(struct store *s, uint64_t revision,
                            const struct stored_definition *defs, size_t n,
                            struct err *err) MUST_CHECK;

/* Checkpoints, with the tombstones that must be durable before them, in one transaction. */
struct stored_checkpoint {
    struct str topic;
    struct str file;
    uint64_t offset;
    struct str gtid; /* set text, empty without GTIDs */
    uint64_t epoch;
    struct str fingerprint; /* opaque text of the pipeline */
    int64_t event_ms;       /* wall time of the last transaction */
    struct str state;       /* "running", "fail" */
    struct str reason;      /* why it failed, and the way out */
};
struct stored_tombstone {
    struct str index, id, routing;
    uint64_t version;
    int64_t at_ms; /* steady time */
};
bool store_load_checkpoint(struct store *s, struct arena *a, struct str topic,
                           struct stored_checkpoint *out, bool *found,
                           struct err *err) MUST_CHECK;
bool store_save_checkpoint(struct store *s, uint64_t term, const struct stored_checkpoint *cp,
                           const struct stored_tombstone *tombstones, size_t n,
                           struct err *err) MUST_CHECK;
bool store_delete_checkpoint(struct store *s, struct str topic, struct err *err) MUST_CHECK;
/*
 * One a document (index, routing, id), the one of the highest version.  Loaded in order of id,
 * after after_id, about limit at a time (all of one id come together); fewer than limit: the
 * end.  Dropped are those from before before_ms.
 */
bool store_load_tombstones(struct store *s, struct arena *a, struct str index,
                           struct str after_id, size_t limit, struct stored_tombstone **out,
                           size_t *n, struct err *err) MUST_CHECK;
bool store_drop_tombstones(struct store *s, int64_t before_ms, struct err *err) MUST_CHECK;

/* Table state and index versions.  States: unavailable changing available history stopped. */
struct stored_version {
    struct str index; /* alias: "orders" */
    uint64_t number;  /* 2 in orders_v2 */
    struct str state; /* changing, available, history, failed */
    struct str topic;
    uint64_t epoch;
    uint64_t start;        /* version (position) from which changes go to it, 0: not yet */
    struct str definition; /* canonical JSON of the member tables it was built with */
    int64_t created_ms, finished_ms;
    struct str error;
};
/*
 * The next number, v->number at least (what the engine remembers when the store was lost), put
 * into v and never reused, with a record in state changing.  ERR_REJECT when one is changing
 * already.
 */
bool store_new_version(struct store *s, struct stored_version *v, struct err *err) MUST_CHECK;
bool store_save_version(struct store *s, const struct stored_version *v,
                        struct err *err) MUST_CHECK;
/*
 * One transaction: `number` available, the version that was available history; the
 * tables of its jobs are not stopped any more, nor to be built again; fan-out jobs
 * (src/store_fan_out.h) of other versions are gone.  ERR_REJECT when it failed.
 */
bool store_promote_version(struct store *s, struct str index, uint64_t number,
                           int64_t finished_ms, struct err *err) MUST_CHECK;
/* Small values of one version, under these names with its index behind ("sync/orders_v3"). */
#define STORE_SYNC   "sync/"   /* how far a sync by time is */
#define STORE_VERIFY "verify/" /* why its documents are to be verified */
#define STORE_SHARDS "shards/" /* routings that lead to each of its shards */
#define STORE_REPLAY "replay/" /* its dead letters are to be replayed, unless it is empty */
/* With its shapes, fan-out jobs and small values. */
bool store_delete_version(struct store *s, struct str index, uint64_t number,
                          struct err *err) MUST_CHECK;
/* The same, and its index is remembered, to be deleted in the engine, until that is done. */
bool store_drop_version(struct store *s, struct str index, uint64_t number,
                        struct err *err) MUST_CHECK;
struct dropped_version {
    struct str index;
    uint64_t number;
};
bool store_load_dropped(struct store *s, struct arena *a, struct dropped_version **out,
                        size_t *n, struct err *err) MUST_CHECK;
bool store_end_dropped(struct store *s, struct str index, uint64_t number,
                       struct err *err) MUST_CHECK;
/* index empty: of all indexes, by index and number. */
bool store_load_versions(struct store *s, struct arena *a, struct str index,
                         struct stored_version **out, size_t *n, struct err *err) MUST_CHECK;

/* A stopped table: its reason and way out, and the position it stopped at. */
struct stored_stop {
    struct str table; /* "shop.orders" */
    struct str reason, way_out, file;
    uint64_t offset;
    int64_t at_ms;
};
bool store_put_stop(struct store *s, const struct stored_stop *stop,
                    struct err *err) MUST_CHECK;
bool store_delete_stop(struct store *s, struct str table, struct err *err) MUST_CHECK;
bool store_load_stops(struct store *s, struct arena *a, struct stored_stop **out, size_t *n,
                      struct err *err) MUST_CHECK;

/*
 * What the tables of an index version looked like when its documents were made (an opaque text),
 * and the tables whose index is to be built again by itself.  A rebuild goes when a version is
 * promoted that has a job for its table.
 */
struct stored_rebuild {
    struct str table; /* "shop.orders" */
    struct str reason;
    int64_t at_ms;
};
/* One that is there for the same reason stays as it is. */
bool store_put_rebuild(struct store *s, const struct stored_rebuild *r,
                       struct err *err) MUST_CHECK;
bool store_delete_rebuild(struct store *s, struct str table, struct err *err) MUST_CHECK;
bool store_load_rebuilds(struct store *s, struct arena *a, struct stored_rebuild **out,
                         size_t *n, struct err *err) MUST_CHECK;
/* Both in one transaction; rebuild NULL: none is needed.  Of a version whose place another one
 * has taken none is. */
bool store_put_shapes(struct store *s, struct str index, uint64_t number, struct str shapes,
                      const struct stored_rebuild *rebuild, struct err *err) MUST_CHECK;
/* Appends to out. */
bool store_load_shapes(struct store *s, struct str index, uint64_t number, struct buf *out,
                       bool *found, struct err *err) MUST_CHECK;

/* An index version that cannot go on. */
struct version_stop {
    struct str index;
    uint64_t number;
    struct stored_stop stop;               /* of its table; the reason counts for a build, too */
    const struct stored_rebuild *rebuild; /* NULL: it is not to be built again by itself */
};
enum version_stopped {
    VERSION_GONE,  /* another one has taken its place: nothing is stored */
    VERSION_BUILD, /* it was being built, and is never promoted */
    VERSION_TABLE, /* searches use it: its table is stopped */
};
/* One transaction: a version that is promoted meanwhile is so before all of it, or after. */
bool store_stop_version(struct store *s, const struct version_stop *v,
                        enum version_stopped *how, struct err *err) MUST_CHECK;

/* Jobs: one record a bucket, with a cursor. */
struct stored_job {
    uint64_t id;      /* given by store_new_job */
    struct str kind;  /* "index" */
    struct str index; /* alias */
    struct str table; /* "shop.orders" */
    uint64_t version; /* index version number */
    uint32_t bucket, buckets;
    struct str state;  /* init running error done */
    struct str cursor; /* opaque, empty at the start */
    uint64_t rows_done, rows_total;
    struct str parameters; /* JSON: rate and so on */
    struct str error;
    int64_t created_ms, updated_ms;
};
/* Gives job->id; a job of this kind, index, version, table and bucket that is there stays as it
 * is. */
bool store_new_job(struct store *s, struct stored_job *job, struct err *err) MUST_CHECK;
/* A job that was deleted is no longer owned: ERR_STOP. */
bool store_save_job(struct store *s, uint64_t term, const struct stored_job *job,
                    struct err *err) MUST_CHECK;
bool store_delete_jobs(struct store *s, struct str index, uint64_t version,
                       struct err *err) MUST_CHECK;
bool store_load_jobs(struct store *s, struct arena *a, struct stored_job **out, size_t *n,
                     struct err *err) MUST_CHECK;

/*
 * Dead letters, one a document (index, routing, id): a new one replaces the old and keeps its
 * id and first_ms, attempts add up.  A body that the store cannot take (MySQL:
 * max_allowed_packet) is left out, which the reason then says.
 */
struct stored_dead_letter {
    uint64_t id; /* given by the store */
    struct str topic, table, index, doc_id, routing, key, op, reason, body;
    uint64_t version;
    struct str gtid; /* of the transaction that version is in; empty: not known, or it has none */
    int status;
    uint32_t attempts;
    int64_t first_ms, last_ms;
};
struct dead_letter_filter {
    struct str topic, table, index; /* empty: any */
    struct str
        reason_like;   /* contained in the reason, upper and lower case differ; empty: any */
    uint64_t after_id; /* paging: from the next on */
    uint64_t until_id; /* up to that one; 0: all */
    size_t limit;      /* of one page, 0: 100; deleting knows no limit */
    uint64_t id;       /* 0: any */
    bool bodies;       /* load them too, which can be large; else they are empty */
};
/* All in one transaction: a commit to the disk costs about a millisecond, a letter some 10 us. */
bool store_put_dead_letters(struct store *s, const struct stored_dead_letter *d, size_t n,
                            struct err *err) MUST_CHECK;
bool store_load_dead_letters(struct store *s, struct arena *a,
                             const struct dead_letter_filter *f,
                             struct stored_dead_letter **out, size_t *n,
                             struct err *err) MUST_CHECK;
bool store_delete_dead_letters(struct store *s, const struct dead_letter_filter *f, uint64_t *n,
                               struct err *err) MUST_CHECK;
/* Gone when its document was written at version after all, unless it is of something newer. */
bool store_delete_dead_letter_of(struct store *s, struct str index, struct str routing,
                                 struct str doc_id, uint64_t version,
                                 struct err *err) MUST_CHECK;
/* Of one index, or all (empty). */
bool store_n_dead_letters(struct store *s, struct str index, uint64_t *n,
                          struct err *err) MUST_CHECK;
/* All of them, and when the first of those that are there was; 0: there is none.  Reads all. */
bool store_dead_letter_level(struct store *s, uint64_t *n, int64_t *oldest_ms,
                             struct err *err) MUST_CHECK;
/* (table, count) for status. */
struct dead_letter_count {
    struct str table;
    uint64_t count;
};
bool store_count_dead_letters(struct store *s, struct arena *a, struct dead_letter_count **out,
                              size_t *n, struct err *err) MUST_CHECK;

/* Sync log of a table: what was built, changed, stopped, and why. */
struct stored_log {
    uint64_t id;
    int64_t at_ms;
    struct str table, index, event, detail; /* detail is JSON */
    uint64_t version;
};
bool store_add_log(struct store *s, const struct stored_log *l, struct err *err) MUST_CHECK;
bool store_load_log(struct store *s, struct arena *a, struct str table, size_t limit,
                    struct stored_log **out, size_t *n, struct err *err) MUST_CHECK;

#endif
