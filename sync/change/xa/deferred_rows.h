/*
 * struct deferred_rows: logged rows that take effect later, or never.
 *
 * There are two kinds.  An XA transaction logs its rows at XA PREPARE, and they count at its XA
 * COMMIT, if one comes: until then they are kept (sync/change/xa/prepared.h), and the
 * checkpoint stays before them.  And a transaction may, after logging rows, end with ROLLBACK,
 * return to a savepoint, or be cut off by a crash.  Its rows of tables without rollback stand,
 * the others never took effect, and the log does not say which: so all its rows are re-read by
 * key.  A short transaction is kept while it is read; a long one is read from the log a second
 * time.
 *
 * Rows that take effect late are always re-read by key: their images are older than the commit.
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

/* How the rows passed on count. */
struct rows_when {
    uint64_t version;
    int64_t commit_ms;
    bool doubtful; /* trust only which rows they are: re-read them by key */
};

struct deferred_rows_options {
    const char *folder; /* for what exceeds memory; copied */
    uint64_t event_max;
    struct progress *progress;
    table_map_want_fn want; /* called with ctx, like the callbacks below */
    void *ctx;
    const struct watched *(*find)(void *ctx, struct str database, struct str table);
    void (*on_rows)(void *ctx, const struct step *step, const struct rows_when *when);
    /*
     * Rows that count at version are about to come.  If wait_sql is not NULL, first wait until
     * the change of the row it names is committed (sync/read/commit_wait.h; empty: nothing can
     * tell).  Returns false with err if that is impossible.
     */
    bool (*ready)(void *ctx, const struct str *wait_sql, uint64_t version, struct err *err);
    /*
     * Called for a committed transaction whose changes to this table are unknown; NULL for any
     * table.
     */
    void (*lost)(void *ctx, const struct watched *w, struct str xid);
};

struct deferred_rows *
deferred_rows_new(const struct deferred_rows_options *opt) RETURNS_NONNULL MUST_CHECK;
void deferred_rows_free(struct deferred_rows *l);

/* A dump begins: what was read of the current transaction comes again. */
void deferred_rows_begin(struct deferred_rows *l);

/* Set the raw event whose steps come next; borrowed until they are done. */
void deferred_rows_feed(struct deferred_rows *l, struct str raw,
                        const struct event_format *format);
/*
 * Keep a step of it that ends at version; call before any other processing.  Rows of a
 * transaction that prepares are for later.
 */
bool deferred_rows_keep(struct deferred_rows *l, const struct step *step, uint64_t version,
                        struct err *err) MUST_CHECK;

/*
 * The step that ends at version cuts the current transaction off (struct step): re-read its
 * rows by key. known and errors as in deferred_rows_settle().
 */
bool deferred_rows_break(struct deferred_rows *l, const struct step *step, uint64_t version,
                         bool known, struct err *err) MUST_CHECK;

/* Tell whether the current transaction certainly did not take effect as its rows say. */
bool deferred_rows_doubts(const struct deferred_rows *l);

/*
 * Tell whether the next dump must begin before the current transaction and skip nothing of it.
 */
bool deferred_rows_wants_again(const struct deferred_rows *l);

/*
 * Finish the same step after its rows were processed. version is its end; known: everything up
 * to there was processed before.  ERR_RETRY if the log must be read again from the
 * transaction's start, or the disk fails.
 */
bool deferred_rows_settle(struct deferred_rows *l, const struct step *step, uint64_t version,
                          bool known, struct err *err) MUST_CHECK;

struct prepared_status deferred_rows_status(struct deferred_rows *l);

#endif
