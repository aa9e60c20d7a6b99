/*
 * struct prepared: XA transactions with rows in the log but not yet in their tables.
 *
 * The log has the rows of an XA transaction at XA PREPARE.  They take effect at an XA COMMIT
 * that may come much later, from another session, after other transactions and server restarts,
 * or never.  Until then they are kept by id in their logged form: in memory, above a limit on
 * disk, and above the disk's limit only the names of their tables.
 *
 * @thread builder; prepared_status: any
 */
#ifndef SYNC_CHANGE_XA_PREPARED_H
#define SYNC_CHANGE_XA_PREPARED_H

#include "src/base/base.h"
#include "src/base/err.h"
#include "src/base/str.h"
#include "sync/change/xa/transaction_buffer.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define PREPARED_XID_MAX 320 /* format, and twice 64 bytes in hexadecimal */

struct prepared;

struct prepared_options {
    const char *folder; /* for what exceeds memory; created on demand; copied */
    size_t memory_max;  /* bytes */
    uint64_t disk_max;  /* bytes */
};

struct prepared_xa {
    struct transaction_buffer events;
    uint64_t hold;     /* from progress_hold() */
    int64_t at_ms;     /* when it was prepared */
    struct buf tables; /* tables with rows in it: "database", NUL, "table", NUL, each once */
    char *xid;
};

struct prepared *prepared_new(const struct prepared_options *opt) RETURNS_NONNULL MUST_CHECK;
void prepared_free(struct prepared *p);

/* Keep the next event of the transaction being read.  ERR_RETRY if the disk fails. */
bool prepared_keep(struct prepared *p, const struct event_format *format,
                   const struct event *at, struct str raw, struct err *err) MUST_CHECK;
/* Record that it has rows of this table. */
void prepared_touch(struct prepared *p, struct str database, struct str table);
/* The transaction being read, as kept so far; borrowed. */
const struct prepared_xa *prepared_current(const struct prepared *p);
/* Drop it: it did not take effect, or is about to be read again. */
void prepared_drop(struct prepared *p);

/*
 * End it as prepared.  Returns the hold of an earlier one with the same id, which nothing else
 * will end; otherwise 0.
 */
uint64_t prepared_add(struct prepared *p, struct str xid, uint64_t hold, int64_t at_ms);
/* Borrowed until removed.  NULL if its XA PREPARE was not read. */
const struct prepared_xa *prepared_find(const struct prepared *p, struct str xid);
void prepared_remove(struct prepared *p, struct str xid);

/* Get the next table after *at, which starts at 0. */
bool prepared_next_table(const struct prepared_xa *xa, size_t *at, struct str *database,
                         struct str *table);

struct prepared_status {
    size_t n;
    char oldest[PREPARED_XID_MAX]; /* "" if there is none */
    int64_t oldest_ms;
    uint64_t memory, disk; /* bytes */
};
struct prepared_status prepared_status(struct prepared *p);

#endif
