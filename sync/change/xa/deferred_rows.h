/*
 * struct deferred_rows: logged rows that take effect later, or never.
 *
 * XA.  The log has the rows of an XA transaction at XA PREPARE.  They take effect at XA COMMIT,
 * if one comes.  Until then Millrace keeps them (sync/change/xa/prepared.h), and the checkpoint
 * stays before them.  Millrace then re-reads them by key, because other transactions may have
 * changed the rows since they were logged.
 *
 * Rollback.  A transaction that has logged rows may end with ROLLBACK, return to a savepoint,
 * or be cut off by a crash.  Its rows in tables without rollback stand, the others never took
 * effect, and the log does not say which.  So Millrace re-reads all its rows by key.  It keeps
 * the rows of a short transaction while it reads them; it reads a long one from the log a
 * second time.
 *
 * @thread builder; deferred_rows_status: any
 */
#ifndef SYNC_CHANGE_XA_DEFERRED_ROWS_H
#define SYNC_CHANGE_XA_DEFERRED_ROWS_H

#include "src/base/base.h"
#include "src/base/err.h"
#include "src/base/str.h"
#include "sync/change/xa/prepared.h"
#include "sync/decode/transaction.h"

#include <stdbool.h>
#include <stdint.h>

struct deferred_rows;
struct progress;
struct watched;

/* When the rows that on_rows() gets took effect. */
struct rows_when {
    uint64_t version;
    int64_t commit_ms; /* Unix time of the step that made them count */
    bool doubtful;     /* trust only their keys: re-read the rows */
};

struct deferred_rows_options {
    const char *folder; /* for prepared rows that exceed memory; copied */
    uint64_t event_max;
    struct progress *progress;
    table_map_want_fn want; /* called with ctx, like the callbacks below */
    void *ctx;
    const struct watched *(*find)(void *ctx, struct str database, struct str table);
    void (*on_rows)(void *ctx, const struct step *step, const struct rows_when *when);
    /*
     * Called before on_rows() gets rows that count at version.  If wait_sql is not NULL, it
     * waits until the change of the row that wait_sql names is committed
     * (sync/read/commit_wait.h; an empty one cannot tell).  Returns false with err if it cannot
     * wait.
     */
    bool (*ready)(void *ctx, const struct str *wait_sql, uint64_t version, struct err *err);
    /*
     * Called for a committed XA transaction whose changes to table w are unknown.  w is NULL if
     * the tables are unknown, too.
     */
    void (*lost)(void *ctx, const struct watched *w, struct str xid);
};

struct deferred_rows *
deferred_rows_new(const struct deferred_rows_options *opt) RETURNS_NONNULL MUST_CHECK;
void deferred_rows_free(struct deferred_rows *l);

/* A dump begins: forget the current transaction, whose events come again. */
void deferred_rows_begin(struct deferred_rows *l);

/* Set the raw event whose steps come next.  Borrowed until the next call. */
void deferred_rows_feed(struct deferred_rows *l, struct str raw,
                        const struct event_format *format);
/*
 * Keep a step of that event, which ends at version.  Call this before anything else handles
 * the step.  The caller does not handle rows of a transaction that prepares (step->prepares):
 * they come later, with on_rows().  ERR_RETRY if the disk fails.
 */
bool deferred_rows_keep(struct deferred_rows *l, const struct step *step, uint64_t version,
                        struct err *err) MUST_CHECK;

/*
 * Handle a step, ending at version, that cuts the current transaction off (struct step):
 * re-read the transaction's rows by key.  known and errors as in deferred_rows_settle().
 */
bool deferred_rows_break(struct deferred_rows *l, const struct step *step, uint64_t version,
                         bool known, struct err *err) MUST_CHECK;

/* Tell whether the current transaction is read again because it was rolled back in part. */
bool deferred_rows_doubts(const struct deferred_rows *l);

/*
 * Tell whether the next dump must begin before a rolled back transaction and skip none of it.
 */
bool deferred_rows_wants_again(const struct deferred_rows *l);

/*
 * Finish the step that deferred_rows_keep() got, after its rows were handled.  version is where
 * it ends; known says that everything up to there was handled before, and the log is read
 * again.  ERR_RETRY if the log must be read again from the transaction's start, or the disk
 * fails.
 */
bool deferred_rows_settle(struct deferred_rows *l, const struct step *step, uint64_t version,
                          bool known, struct err *err) MUST_CHECK;

struct prepared_status deferred_rows_status(struct deferred_rows *l);

#endif
