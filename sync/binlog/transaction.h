/*
 * struct log_reader: raw events in, the steps of transactions out.
 *
 * Verifies length and checksum, counts 64-bit positions itself (log_pos has 32 bits, and is 0
 * on newer MariaDB), unpacks payloads, keeps table maps, and tells where transactions begin and
 * end. Whatever could carry rows and is not understood is ERR_FATAL and names the event;
 * nothing is skipped silently.
 *
 *     while (transport_next(t, &raw, err) == 1) {
 *         if (!log_reader_feed(r, raw, err)) ...
 *         while ((got = log_reader_next(r, &step, err)) == 1)
 *             ...
 *     }
 *
 * Pure: no I/O, no clock.  @thread one at a time
 */
#ifndef SYNC_BINLOG_TRANSACTION_H
#define SYNC_BINLOG_TRANSACTION_H

#include "src/base/base.h"
#include "src/base/err.h"
#include "src/base/str.h"
#include "sync/binlog/ddl.h"
#include "sync/binlog/event.h"
#include "sync/binlog/gtid.h"
#include "sync/binlog/position.h"
#include "sync/binlog/table_map.h"

#include <stdbool.h>
#include <stdint.h>

struct gtid_set;

enum step_kind {
    STEP_NOTHING = 0, /* no meaning for a follower; the position moves */
    STEP_HEARTBEAT,   /* the source is alive and has nothing more */
    STEP_FORMAT,      /* a FORMAT_DESCRIPTION: log_reader_format() is new */
    STEP_ROTATE,      /* the next event is in another file (or the same: fake ones repeat) */
    STEP_GTIDS,       /* PREVIOUS_GTIDS or GTID_LIST: step.event has it */
    STEP_BEGIN,       /* a transaction starts; its id is step.gtid */
    STEP_ROWS,        /* rows of a wanted table: step.rows, step.map */
    STEP_ROWS_UNWANTED,
    STEP_COMMIT,    /* ends */
    STEP_ROLLBACK,  /* ends; its rows of transactional tables never were: re-read them by key */
    STEP_SAVEPOINT, /* SAVEPOINT; step.ddl */
    STEP_ROLLBACK_TO, /* rows since that savepoint never were, as for STEP_ROLLBACK */
    STEP_STATEMENT,   /* DDL and everything else in words: step.query, step.ddl */
    STEP_XA_PREPARE,  /* ends; its rows take effect at a later STEP_XA_COMMIT of the same xid */
    STEP_XA_COMMIT,   /* ends */
    STEP_XA_ROLLBACK, /* ends */
};

/* Everything borrowed is valid until the next call of feed or next. */
struct step {
    enum step_kind kind;
    bool begins; /* the first step of a transaction (STEP_BEGIN, or a statement by itself) */
    bool prepares; /* of an XA transaction that ends with STEP_XA_PREPARE, or in one phase with
                      STEP_COMMIT */
    bool packed; /* in a compressed transaction, whose events all end where it does */
    bool ends;   /* event.end is a safe place to start again from: outside every transaction */
    struct event event;
    struct gtid gtid;         /* of the transaction it belongs to */
    uint64_t begin;           /* offset where that transaction starts, in event.file */
    struct event_rows rows;   /* STEP_ROWS, STEP_ROWS_UNWANTED */
    struct table_map *map;    /* STEP_ROWS, STEP_ROWS_UNWANTED; borrowed */
    struct str xid;           /* XA steps: canonical "X'67',X'62',1" */
    /* Of Query events; not set for others. */
    struct event_query query;
    struct ddl ddl;
};

/* Zero is a fit default for all but want. */
struct log_reader_options {
    table_map_want_fn want; /* NULL: every table */
    void *want_ctx;
    bool file;    /* start.file is all there is: ROTATE does not move, log_pos is ignored */
    bool lenient; /* statement DML, INCIDENT, LOAD DATA are STEP_NOTHING or
                     STEP_STATEMENT instead of errors: for printing logs */
    uint64_t event_max;              /* bytes; 0: 1 GiB.  Also bounds what unpacking gives */
    struct position start;           /* where reading starts; copied */
    const struct event_format *format; /* of the log there; copied; NULL: it comes first */
    const struct gtid_set *executed; /* what was executed before that; copied; NULL: empty */
};

struct log_reader;

struct log_reader *
log_reader_new(const struct log_reader_options *opt) RETURNS_NONNULL MUST_CHECK;
void log_reader_free(struct log_reader *r); /* NULL is fine */

/* One raw event, complete with header; borrowed until log_reader_next() has returned 0. */
bool log_reader_feed(struct log_reader *r, struct str raw, struct err *err) MUST_CHECK;

/* The next step of what was fed: 1, no more: 0, err: -1. */
int log_reader_next(struct log_reader *r, struct step *out, struct err *err) MUST_CHECK;

/* The log's format; borrowed, changes with STEP_FORMAT. */
const struct event_format *log_reader_format(const struct log_reader *r);

/* Where reading stands: the end of the last event; file borrowed until the next feed. */
struct position log_reader_position(const struct log_reader *r);

/* What is executed up to the last step that ended a transaction. */
const struct gtid_set *log_reader_executed(const struct log_reader *r);

/* Plans made before are not used any more: after DDL, or when want() would answer differently.
 */
void log_reader_forget_tables(struct log_reader *r);

#endif
