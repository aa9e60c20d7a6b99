/*
 * struct log_reader: raw events in, steps of transactions out.
 *
 * Verifies length and checksum, counts 64-bit positions itself (log_pos has 32 bits, and is 0
 * on newer MariaDB), unpacks payloads, keeps table maps, and finds where transactions begin and
 * end.  Anything that could carry rows and is not understood is ERR_FATAL and names the event:
 * the reader skips nothing silently.
 *
 *   while (transport_next(t, &raw, err) == 1) {
 *       if (!log_reader_feed(r, raw, err)) ...
 *       while ((got = log_reader_next(r, &step, err)) == 1)
 *           ...
 *   }
 *
 * Pure: no I/O, no clock.  @thread one at a time
 */
#ifndef SYNC_DECODE_TRANSACTION_H
#define SYNC_DECODE_TRANSACTION_H

#include "src/base/base.h"
#include "src/base/err.h"
#include "src/base/str.h"
#include "sync/decode/ddl.h"
#include "sync/decode/event.h"
#include "sync/decode/table_map.h"
#include "sync/position/gtid.h"
#include "sync/position/position.h"

#include <stdbool.h>
#include <stdint.h>

struct gtid_set;

enum step_kind {
    STEP_NOTHING = 0, /* means nothing to a follower; the position moves */
    STEP_HEARTBEAT,   /* the source is alive and has nothing more to send */
    STEP_FORMAT,      /* a FORMAT_DESCRIPTION: log_reader_format() has changed */
    STEP_ROTATE, /* the next event is in another file (or the same: servers repeat fake ones) */
    STEP_GTIDS,  /* PREVIOUS_GTIDS or GTID_LIST, in step.event */
    STEP_BEGIN,  /* a transaction starts; its id is in step.gtid */
    STEP_ROWS,   /* rows of a wanted table: step.rows, step.map */
    STEP_ROWS_UNWANTED,
    STEP_COMMIT,    /* ends the transaction */
    STEP_ROLLBACK,  /* ends it; its rows of transactional tables never took effect: re-read them
                       by key */
    STEP_SAVEPOINT, /* SAVEPOINT; step.ddl */
    STEP_ROLLBACK_TO, /* rows since that savepoint never took effect, as for STEP_ROLLBACK */
    STEP_STATEMENT,   /* DDL and any other statement: step.query, step.ddl */
    STEP_XA_PREPARE,  /* ends it; its rows take effect at a later STEP_XA_COMMIT of the same xid
                       */
    STEP_XA_COMMIT,   /* ends the transaction */
    STEP_XA_ROLLBACK, /* ends the transaction */
};

/* Borrowed parts are valid until the next call of feed or next. */
struct step {
    enum step_kind kind;
    bool begins;   /* the first step of a transaction (STEP_BEGIN, or a statement by itself) */
    bool prepares; /* an XA transaction, to end with STEP_XA_PREPARE, or in one phase with
                      STEP_COMMIT */
    bool packed;   /* in a compressed transaction, whose events all end where it does */
    bool ends;     /* a restart may begin at event.end: it is outside every transaction */
    bool breaks; /* handle first: a crash cut off the transaction running before this event, and
                    the log has no end of it; its rows of transactional tables never took effect
                  */
    struct event event;
    struct gtid gtid;       /* of the transaction that the step belongs to */
    uint64_t begin;         /* the offset in event.file where that transaction starts */
    struct event_rows rows; /* STEP_ROWS, STEP_ROWS_UNWANTED */
    struct table_map *map;  /* STEP_ROWS, STEP_ROWS_UNWANTED; borrowed */
    struct str xid;         /* XA steps: canonical form "X'67',X'62',1" */
    /* Set for Query events only. */
    struct event_query query;
    struct ddl ddl;
};

/* Zero is a valid default for all members but want. */
struct log_reader_options {
    table_map_want_fn want; /* NULL for every table */
    void *want_ctx;
    bool file; /* there is no file but start.file: ROTATE does not move, log_pos is ignored */
    bool lenient; /* for printing logs: statement DML, INCIDENT and LOAD DATA are STEP_NOTHING
                     or STEP_STATEMENT instead of errors */
    uint64_t event_max;    /* bytes; 0 for 1 GiB. Also limits what decompression may yield */
    struct position start; /* where to start; copied */
    const struct event_format
        *format; /* the log's format there; copied; NULL if the log sends it first */
    const struct gtid_set *executed; /* the ids executed before start; copied; NULL for none */
};

struct log_reader;

struct log_reader *
log_reader_new(const struct log_reader_options *opt) RETURNS_NONNULL MUST_CHECK;
void log_reader_free(struct log_reader *r); /* NULL is allowed */

/* Feed one raw event including its header.  Borrowed until log_reader_next() has returned 0. */
bool log_reader_feed(struct log_reader *r, struct str raw, struct err *err) MUST_CHECK;

/* Get the next step of the event fed.  Returns 1, 0 if none is left, -1 on error. */
int log_reader_next(struct log_reader *r, struct step *out, struct err *err) MUST_CHECK;

/* The log's format; borrowed; changes at STEP_FORMAT. */
const struct event_format *log_reader_format(const struct log_reader *r);

/*
 * The current position: the end of the last event.  The file is borrowed until the next feed.
 */
struct position log_reader_position(const struct log_reader *r);

/*
 * The ids executed up to the last step that ended a transaction, without transactions that a
 * crash cut off.
 */
const struct gtid_set *log_reader_executed(const struct log_reader *r);

/* Stop using existing plans: after DDL, or when want() would answer differently. */
void log_reader_forget_tables(struct log_reader *r);

#endif
