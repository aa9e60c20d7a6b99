/*
 * struct prepared: XA transactions whose rows are in the log and not yet in their tables.
 *
 * The log has the rows of an XA transaction at XA PREPARE; they take effect at an XA COMMIT
 * that may come much later, from another session, after other transactions and restarts of the
 * server, or never.  So they are kept by id, as they are in the log, until that is read: in
 * memory, above a limit on disk, and above the limit of that only the names of their tables.
 *
 * @thread builder; prepared_status: any
 */
#ifndef SYNC_PREPARED_H
#define SYNC_PREPARED_H

#include "src/base/base.h"
#include "src/base/err.h"
#include "src/base/str.h"
#include "sync/held.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define PREPARED_XID_MAX 320 /* format, and two times 64 bytes in hexadecimal digits */

struct prepared;

struct prepared_options {
    const char *folder; /* for what is too much for memory; made when needed; copied */
    size_t memory_max;  /* bytes */
    uint64_t disk_max;  /* bytes */
};

struct prepared_xa {
    struct held events;
    uint64_t hold; /* of progress_hold() */
    int64_t at_ms; /* when it was prepared */
    struct buf tables; /* with rows in it: "database", NUL, "table", NUL, each once */
    char *xid;
};

struct prepared *prepared_new(const struct prepared_options *opt) RETURNS_NONNULL MUST_CHECK;
void prepared_free(struct prepared *p);

/* The next event of the transaction that is being read.  ERR_RETRY: the disk fails. */
bool prepared_keep(struct prepared *p, const struct event_format *format,
                   const struct event *at, struct str raw, struct err *err) MUST_CHECK;
/* It has rows of this table. */
void prepared_touch(struct prepared *p, struct str database, struct str table);
/* What was gathered of it so far; borrowed. */
const struct prepared_xa *prepared_current(const struct prepared *p);
/* It never was, or is begun to be read again. */
void prepared_drop(struct prepared *p);

/* It ends as prepared.  The hold of one with the same id, which nothing will end; else 0. */
uint64_t prepared_add(struct prepared *p, struct str xid, uint64_t hold, int64_t at_ms);
/* Borrowed until it is removed; NULL: its XA PREPARE was not read. */
const struct prepared_xa *prepared_find(const struct prepared *p, struct str xid);
void prepared_remove(struct prepared *p, struct str xid);

/* The next table after *at, which begins at 0. */
bool prepared_next_table(const struct prepared_xa *xa, size_t *at, struct str *database,
                         struct str *table);

struct prepared_status {
    size_t n;
    char oldest[PREPARED_XID_MAX]; /* "" without one */
    int64_t oldest_ms;
    uint64_t memory, disk; /* bytes */
};
struct prepared_status prepared_status(struct prepared *p);

#endif
