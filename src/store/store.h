/*
 * The store: everything Millrace must remember, in SQLite (a single node) or MySQL (a cluster).
 *
 * One interface, two backends (sqlite.c, mysql.c), one test suite.  Each call is one
 * transaction.  Whatever follows from owning a topic is written only by the owner; others get
 * ERR_STOP and write nothing (src/store/owned.h).  A lost connection or a full disk is
 * ERR_RETRY and changes nothing, with one exception: if MySQL loses the connection during the
 * commit, the change may have been made.  Every call may then be repeated, though
 * store_new_version() and store_save_definitions() may report that it was already done.
 *
 * @thread any (locked inside; calls may block)
 */
#ifndef SRC_STORE_STORE_H
#define SRC_STORE_STORE_H

#include "src/base/base.h"
#include "src/base/err.h"
#include "src/base/str.h"
#include "src/store/owned.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct arena;
struct buf;
struct mysql_options;
struct store;

/*
 * Open the store and migrate it.  ERR_FATAL: a newer version has it, or it is not a store.
 * ERR_RETRY: another process has the SQLite file, which serves one process at a time; the
 * message names its pid.  The folder of path must exist.
 */
bool store_open_sqlite(struct store **out, const char *path, struct err *err) MUST_CHECK;
/*
 * place (node_file.h): the store is this one's alone; NULL: it is shared (mysql_alone.h).  who
 * is the name of this program's run that others give to people.
 */
bool store_open_mysql(struct store **out, const struct mysql_options *opt, const char *place,
                      const char *who, struct err *err) MUST_CHECK;
/*
 * A newer program may change a store that others share so that this one may not use it any more
 * (migrate.h).  Each call then fails with ERR_FATAL, and the first tells `refused`, which may
 * hold no lock.  @thread whoever opened s, before others use it
 */
void store_watch_refusal(struct store *s, void (*refused)(const struct err *why));
/*
 * The nodes that share a store on a server meet at this path of their coordination.  ERR_RETRY
 * if others share it that meet at another one; the message has the fix.
 */
bool store_keep_path(struct store *s, struct str path, struct err *err) MUST_CHECK;
void store_close(struct store *s);             /* NULL is fine */
const char *store_kind(const struct store *s); /* "sqlite" or "mysql" */

/*
 * From now on, seal the passwords of definitions; passwords stored in clear text are sealed at
 * once.  seal is borrowed while s is open.  @thread whoever opened s, before others use it
 */
struct seal;
bool store_set_seal(struct store *s, const struct seal *seal, struct err *err) MUST_CHECK;

/* Small named values: "server_id", "instance", "definitions/revision" ... */
bool store_get_value(struct store *s, struct str name, struct buf *out, bool *found,
                     struct err *err) MUST_CHECK;
struct stored_value {
    struct str name, content;
};
/* Load the values whose names begin with prefix, which ends with a slash. */
bool store_load_values(struct store *s, struct arena *a, struct str prefix,
                       struct stored_value **out, size_t *n, struct err *err) MUST_CHECK;
bool store_put_value(struct store *s, struct str name, struct str value,
                     struct err *err) MUST_CHECK;
/* Delete the value, if it has this content; NULL: any. */
bool store_delete_value(struct store *s, struct str name, const struct str *content,
                        struct err *err) MUST_CHECK;
/*
 * Append the stored value to out.  If there is none, store this one first; every caller gets
 * the same.
 */
bool store_keep_value(struct store *s, struct str name, struct str value, struct buf *out,
                      struct err *err) MUST_CHECK;
/*
 * Store the value in place of `before`; ptr NULL: in place of none.  *is_done: it was so, and
 * so of several callers who know the same value, at whatever nodes, one succeeds.
 */
bool store_exchange_value(struct store *s, struct str name, struct str before, struct str value,
                          bool *is_done, struct err *err) MUST_CHECK;
/*
 * Store the value if none has a name that begins with prefix, which ends with a slash.  Of
 * several callers at the same moment, at whatever nodes, one succeeds.  is_first: whether.
 */
bool store_put_first_value(struct store *s, struct str prefix, struct str name,
                           struct str value, bool *is_first, struct err *err) MUST_CHECK;

/*
 * Definitions: kind is "topic", "database" or "table"; body is canonical JSON.  Its password is
 * in clear text, or sealed if it was sealed with another key (src/file/seal.h).
 */
struct stored_definition {
    struct str kind, name, body;
};
bool store_load_definitions(struct store *s, struct arena *a, struct stored_definition **out,
                            size_t *n, uint64_t *revision, struct err *err) MUST_CHECK;

/* Checkpoints and the tombstones that must be durable before them, in one transaction. */
struct stored_checkpoint {
    struct str topic;
    struct str file;
    uint64_t offset;
    struct str gtid; /* GTID set text; empty without GTIDs */
    uint64_t epoch;
    struct str fingerprint; /* opaque text of the pipeline */
    int64_t event_ms;       /* wall time of the last transaction */
    struct str state;       /* "running", "fail" */
    struct str reason;      /* why the topic failed, and the way out */
    uint64_t final_version; /* deletes up to there need no repeating */
};
struct stored_tombstone {
    struct str index, id, routing;
    uint64_t version;
    int64_t at_ms; /* steady time */
};
bool store_load_checkpoint(struct store *s, struct arena *a, struct str topic,
                           struct stored_checkpoint *out, bool *found,
                           struct err *err) MUST_CHECK;
/* The checkpoints of all topics. */
bool store_load_checkpoints(struct store *s, struct arena *a, struct stored_checkpoint **out,
                            size_t *n, struct err *err) MUST_CHECK;
bool store_save_checkpoint(struct store *s, uint64_t term, const struct stored_checkpoint *cp,
                           const struct stored_tombstone *tombstones, size_t n,
                           struct err *err) MUST_CHECK;
/*
 * The store keeps one tombstone per document (index, routing, id), that of the highest version.
 * Loads in order of id, after after_id, about `limit` at a time; all tombstones of one id come
 * together.  Fewer than `limit` is the end.  Dropping removes those older than before_ms.
 */
struct tombstone_filter {
    struct str index;
    uint64_t version_min;
    struct str after_id;
    struct str id; /* only this one, without limit; empty: all */
};
bool store_load_tombstones(struct store *s, struct arena *a, struct tombstone_filter which,
                           size_t limit, struct stored_tombstone **out, size_t *n,
                           struct err *err) MUST_CHECK;
bool store_drop_tombstones(struct store *s, int64_t before_ms, struct err *err) MUST_CHECK;

/*
 * How many commits have failed so far.  Each may have been stored all the same, because only
 * the answer may have been lost.
 */
uint64_t store_doubts(struct store *s) MUST_CHECK;

/* Index versions. */
struct stored_version {
    struct str index; /* alias: "orders" */
    uint64_t number;  /* 2 in orders_v2 */
    struct str state; /* changing, waiting, available, kept, returning, history, retired */
    struct str topic;
    uint64_t epoch;
    uint64_t start;        /* changes from this version (position) on go to it; 0: none yet */
    struct str definition; /* canonical JSON of the member tables it was built with */
    int64_t created_ms, finished_ms;
    struct str error;
    int64_t retired_ms;    /* steady time: since when nothing is written to it; 0: written */
    int64_t kept_until_ms; /* steady time; 0: it was never kept */
};
/* Names one version. */
struct version_name {
    struct str index; /* alias: "orders" */
    uint64_t number;
};
/*
 * Assign the next number, at least v->number (which the engine may remember after the store was
 * lost), and store v in state changing.  Puts the number, which is never reused, into v.
 * ERR_REJECT if a version of this index is changing or waiting already (src/store/waiting.h).
 */
bool store_new_version(struct store *s, struct stored_version *v, struct err *err) MUST_CHECK;
/*
 * Change only this column; others may have changed the rest meanwhile.  ERR_REJECT, HTTP status
 * 404: no such version.
 */
bool store_set_version_start(struct store *s, const struct version_name *v, uint64_t start,
                             struct err *err) MUST_CHECK;
bool store_set_version_definition(struct store *s, const struct version_name *v,
                                  struct str definition, struct err *err) MUST_CHECK;
/*
 * Small values of one version, stored as this prefix and the name of its index
 * ("sync/orders_v3").
 */
#define STORE_SYNC   "sync/"   /* how far a sync by time has come */
#define STORE_VERIFY "verify/" /* why its documents must be verified */
#define STORE_COMPARED                                                                     \
    "compared/"                  /* its last full comparison (rebalance/verify/compared.h) \
                                  */
#define STORE_CHECKED "checked/" /* its last good check (rebalance/verify/changed.h) */
#define STORE_SUCCESS "success/" /* of KIND/TABLE: when such a run last was good */
#define STORE_SHARDS  "shards/"  /* for each shard, routings that lead to it */
#define STORE_REPLAY  "replay/"  /* its dead letters must be replayed; empty: done */
#define STORE_FILL    "fill/"    /* what other nodes must know to fill it */
/* Reports of verifications, by the job's number with leading zeros. */
#define STORE_REPORT "report/"
/* Loads by index and number; an empty index means all. */
bool store_load_versions(struct store *s, struct arena *a, struct str index,
                         struct stored_version **out, size_t *n, struct err *err) MUST_CHECK;

/* A stopped table: why, the way out, and the position where it stopped. */
struct stored_stop {
    struct str table; /* "shop.orders" */
    struct str reason, way_out, file;
    uint64_t offset;
    int64_t at_ms;
};
bool store_put_stop(struct store *s, const struct stored_stop *stop,
                    struct err *err) MUST_CHECK;
bool store_load_stops(struct store *s, struct arena *a, struct stored_stop **out, size_t *n,
                      struct err *err) MUST_CHECK;

/*
 * Shapes: what the tables of an index version looked like when its documents were made (opaque
 * text).  Rebuilds: tables whose index must be built again automatically.  Promoting a version
 * removes the rebuilds of the tables that it has jobs for.
 */
struct stored_rebuild {
    struct str table; /* "shop.orders" */
    struct str reason;
    int64_t at_ms;
};
/* A stored rebuild with the same reason stays unchanged, including its time. */
bool store_put_rebuild(struct store *s, const struct stored_rebuild *r,
                       struct err *err) MUST_CHECK;
bool store_delete_rebuild(struct store *s, struct str table, struct err *err) MUST_CHECK;
bool store_load_rebuilds(struct store *s, struct arena *a, struct stored_rebuild **out,
                         size_t *n, struct err *err) MUST_CHECK;
/*
 * Store both in one transaction.  rebuild may be NULL; it is left out if the version is no
 * longer being built, waiting or searched.
 */
bool store_put_shapes(struct store *s, struct str index, uint64_t number, struct str shapes,
                      const struct stored_rebuild *rebuild, struct err *err) MUST_CHECK;
/* Appends to out. */
bool store_load_shapes(struct store *s, struct str index, uint64_t number, struct buf *out,
                       bool *found, struct err *err) MUST_CHECK;

/* An index version that cannot continue. */
struct version_stop {
    struct str index;
    uint64_t number;
    struct stored_stop stop;              /* of its table; others take only the reason */
    const struct stored_rebuild *rebuild; /* NULL: do not rebuild automatically */
    int64_t at_ms;                        /* steady time */
};
enum version_stopped {
    VERSION_GONE,  /* another version has replaced it: nothing is stored */
    VERSION_BUILD, /* it was being built, or waited, and is never promoted */
    VERSION_TABLE, /* searches use it: its table is stopped */
    VERSION_KEPT,  /* it was kept beside the searched one, and is no longer current */
};
/* Runs in one transaction, so a concurrent promotion comes entirely before it or after it. */
bool store_stop_version(struct store *s, const struct version_stop *v,
                        enum version_stopped *how, struct err *err) MUST_CHECK;

/* Jobs: what goes on after a restart, with a cursor. */
#define JOB_INDEX    "index"  /* builds a version */
#define JOB_BUCKET   "bucket" /* fills a part of it */
#define JOB_PART     "part" /* writes documents of a delayed run (src/store/later/snapshot.h) */
#define JOB_VERIFY   "verify"   /* compares a version with its rows */
#define JOB_COMPARE  "compare"  /* the same, and nobody asked for it */
#define JOB_EXCHANGE "exchange" /* compares a version's trees */
#define JOB_REFRESH  "refresh"  /* writes documents of a version again */
#define JOB_REPLAY   "replay"   /* reads and writes again what changed on a day */
struct stored_job {
    uint64_t id;      /* assigned by store_new_job() */
    struct str kind;  /* JOB_INDEX, ... */
    struct str index; /* alias */
    struct str table; /* "shop.orders" */
    uint64_t version; /* index version number */
    uint32_t bucket, buckets;
    struct str state;  /* init running waiting complete; of a bucket: init running done error */
    struct str cursor; /* opaque; empty at the start */
    uint64_t rows_done, rows_total;
    struct str parameters; /* JSON: rate and so on */
    struct str
        keys; /* of a part: which rows; stored once, and read by store_load_part_keys() */
    struct str error;
    int64_t created_ms, updated_ms;
};
/*
 * Store a job and set job->id.  If a job with the same kind, index, version, table and bucket
 * exists, it stays unchanged and job->id is its id.
 */
bool store_new_job(struct store *s, struct stored_job *job, struct err *err) MUST_CHECK;
/* Save the job.  ERR_STOP if it was deleted, or it or its topic has another owner now. */
bool store_save_job(struct store *s, uint64_t term, const struct stored_job *job,
                    struct err *err) MUST_CHECK;
/*
 * Store the buckets of a build, and build->buckets, in one transaction: n, of the kind
 * JOB_BUCKET and with the build's index, version and table.  Sets their ids.  If the build has
 * buckets already, it keeps these, and the ids are 0.  ERR_STOP as of store_save_job() for the
 * build.
 */
bool store_new_buckets(struct store *s, uint64_t term, const struct stored_job *build,
                       struct stored_job *buckets, size_t n, struct err *err) MUST_CHECK;
/*
 * Begin to fill a bucket, or a part, on whichever node: raise and return its term, and set
 * `parameters`.  *taken is false, and nothing is done, if it is not as `seen`, so that another
 * node may have taken it, or its version is not being built any more, or is not live.
 */
bool store_take_bucket(struct store *s, const struct stored_job *seen, struct str parameters,
                       uint64_t *term, bool *taken, struct err *err) MUST_CHECK;
/* Delete the jobs that build a version, and the searches kept for its end. */
bool store_delete_jobs(struct store *s, struct str index, uint64_t version,
                       struct err *err) MUST_CHECK;
/* Delete one job. None of this id is success. */
bool store_delete_job(struct store *s, uint64_t id, struct err *err) MUST_CHECK;
/* All, without the keys of parts, which are up to 64 KiB each. */
bool store_load_jobs(struct store *s, struct arena *a, struct stored_job **out, size_t *n,
                     struct err *err) MUST_CHECK;
/* Append the keys of a part.  ERR_STOP if it was deleted. */
bool store_load_part_keys(struct store *s, uint64_t id, struct buf *out,
                          struct err *err) MUST_CHECK;

/*
 * Dead letters, one per document (index, routing, id).  A new one replaces the old one but
 * keeps its id and first_ms; attempts add up.  A body too large for the store (MySQL:
 * max_allowed_packet) is left out, and the reason says so.
 */
struct stored_dead_letter {
    uint64_t id; /* assigned by the store */
    struct str topic, table, index, doc_id, routing, key, op, reason, body;
    uint64_t version;
    struct str gtid; /* of version's transaction; empty: unknown, or it has none */
    int status;
    uint32_t attempts;
    int64_t first_ms, last_ms;
};
struct dead_letter_filter {
    struct str topic, table, index; /* empty: any */
    struct str reason_like;         /* text within the reason, case-sensitive; empty: any */
    uint64_t after_id;              /* paging: start after this id */
    uint64_t until_id;              /* up to and including this id; 0: all */
    size_t limit;                   /* of one page; 0: 100; ignored by deletes */
    uint64_t id;                    /* 0: any */
    bool bodies;       /* load the bodies, which can be large; else they are empty */
    struct str doc_id; /* empty: any */
};
/*
 * Store all in one transaction: a commit to disk costs about a millisecond, a letter about 10
 * us.
 */
bool store_put_dead_letters(struct store *s, const struct stored_dead_letter *d, size_t n,
                            struct err *err) MUST_CHECK;
bool store_load_dead_letters(struct store *s, struct arena *a,
                             const struct dead_letter_filter *f,
                             struct stored_dead_letter **out, size_t *n,
                             struct err *err) MUST_CHECK;
bool store_delete_dead_letters(struct store *s, const struct dead_letter_filter *f, uint64_t *n,
                               struct err *err) MUST_CHECK;
/*
 * Delete the document's dead letter, now that the document was written at `version`; a letter
 * with a higher version stays.
 */
bool store_delete_dead_letter_of(struct store *s, struct str index, struct str routing,
                                 struct str doc_id, uint64_t version,
                                 struct err *err) MUST_CHECK;
/* Count the letters of one index; an empty index means all. */
bool store_n_dead_letters(struct store *s, struct str index, uint64_t *n,
                          struct err *err) MUST_CHECK;
/*
 * Count all letters and find the earliest first_ms; 0 if there are none.  Reads the whole
 * table.
 */
bool store_dead_letter_level(struct store *s, uint64_t *n, int64_t *oldest_ms,
                             struct err *err) MUST_CHECK;
/* Letters per table, for the status. */
struct dead_letter_count {
    struct str table;
    uint64_t count;
};
bool store_count_dead_letters(struct store *s, struct arena *a, struct dead_letter_count **out,
                              size_t *n, struct err *err) MUST_CHECK;

/* Sync log of a table: what was built, changed or stopped, and why. */
struct stored_log {
    uint64_t id;
    int64_t at_ms;
    struct str table, index, event, detail; /* detail is JSON */
    uint64_t version;
};
bool store_add_log(struct store *s, const struct stored_log *l, struct err *err) MUST_CHECK;
struct stored_log_filter {
    struct str table;   /* empty: any */
    uint64_t before_id; /* 0: from the newest on */
    size_t limit;
};
/* The newest first. */
bool store_load_log(struct store *s, struct arena *a, const struct stored_log_filter *f,
                    struct stored_log **out, size_t *n, struct err *err) MUST_CHECK;
/* Load one entry: *n is 1, or 0 if it is unknown. */
bool store_load_log_entry(struct store *s, struct arena *a, uint64_t id,
                          struct stored_log **out, size_t *n, struct err *err) MUST_CHECK;

#endif
