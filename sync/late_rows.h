/*
 * struct late_rows: rows in the log that take effect later than they are logged, or never.
 *
 * Two kinds.  The rows of an XA transaction are logged at XA PREPARE and count at its XA
 * COMMIT, if one comes: until then they are kept (sync/prepared.h), and the checkpoint stays
 * before them.  And a transaction may end with ROLLBACK, or go back to a savepoint, after its
 * rows were logged: those of tables that cannot be rolled back stand, the others never were,
 * and nothing says which; so all rows of such a transaction are read again by key.  A short one
 * is kept while it is read; a long one is read from the log a second time.
 *
 * What took effect late is always read again by key: its row images are older than the commit.
 *
 * @thread builder; late_rows_status: any
 */
#ifndef SYNC_LATE_ROWS_H
#define SYNC_LATE_ROWS_H

#include "src/base/base.h"
#include "src/base/err.h"
#include "src/base/str.h"
#include "sync/binlog/transaction.h"
#include "sync/prepared.h"

#include <stdbool.h>
#include <stdint.h>

struct late_rows;
struct progress;
struct watched;

/* How rows that are given out count. */
struct rows_when {
    uint64_t version;
    int64_t commit_ms;
    bool doubtful; /* only which rows they are is believed: they are read again by key */
};

struct late_rows_options {
    const char *folder; /* for what is too much for memory; copied */
    uint64_t event_max;
    struct progress *progress;
    table_map_want_fn want; /* with ctx, as the next ones */
    void *ctx;
    const struct watched *(*find)(void *ctx, struct str database, struct str table);
    void (*on_rows)(void *ctx, const struct step *step, const struct rows_when *when);
    /* Rows come that count at version.  witness, where not NULL: only once what changed the row
     * that it names (sync/witness.h; empty: none can tell) is committed.  False (err): that could
     * not be waited for. */
    bool (*ready)(void *ctx, const struct str *witness, uint64_t version, struct err *err);
    /* It was committed, and what it changed in this table is not known; NULL: in any. */
    void (*lost)(void *ctx, const struct watched *w, struct str xid);
};

struct late_rows *late_rows_new(const struct late_rows_options *opt) RETURNS_NONNULL MUST_CHECK;
void late_rows_free(struct late_rows *l);

/* A dump begins: what was read of the running transaction comes again. */
void late_rows_begin(struct late_rows *l);

/* The raw event whose steps come next; borrowed until they were given. */
void late_rows_feed(struct late_rows *l, struct str raw, const struct event_format *format);
/* A step of it that ends at version, before anything else is done with it.  Rows of a
 * transaction that prepares are for later. */
bool late_rows_keep(struct late_rows *l, const struct step *step, uint64_t version,
                    struct err *err) MUST_CHECK;

/* The running transaction is known not to have come about as its rows say. */
bool late_rows_doubts(const struct late_rows *l);

/* The next dump must begin before the running transaction, and skip nothing of it. */
bool late_rows_wants_again(const struct late_rows *l);

/*
 * The same step, after its rows were dealt with; version: its end, known: up to there all was
 * dealt with before.  ERR_RETRY: the log must be read from the transaction's start again,
 * or the disk fails.
 */
bool late_rows_settle(struct late_rows *l, const struct step *step, uint64_t version,
                      bool known, struct err *err) MUST_CHECK;

struct prepared_status late_rows_status(struct late_rows *l);

#endif
