/*
 * What the files of struct change_writer share.  Others include sync/change/writer.h.
 *
 *   change_rows      matches rows with the plans that use them
 *   change_unit      one row change for one index version: what it may emit
 *   change_root      changes of a row that has a document
 *   change_related   changes of a row that documents hold, and of rows moved along with it
 *   change_put_off   the same of a delayed table, kept for a run
 */
#ifndef SYNC_CHANGE_PARTS_H
#define SYNC_CHANGE_PARTS_H

#include "src/base/base.h"
#include "src/base/buf.h"
#include "sync/change/writer.h"
#include "sync/decode/row.h"
#include "sync/decode/row_fill.h"
#include "sync/delivery/document/write.h"
#include "sync/routing/routing.h"
#include "sync/routing/rows_at.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define CHANGE_BOUND_MAX 64 /* table maps with cached bindings */
#define CHANGE_TASKS_MAX 64
#define CHANGE_REBUILD   "millrace index create" /* the remedy for a stop */

struct binding;
struct cascade_parent;
struct resolve_task;
struct cascade_trigger;
struct write_gather;

/* How the rows of one table map fit the plans that use the table. */
struct bound {
    struct table_map *map; /* a reference */
    const struct watched *watched;
    struct binding **bindings; /* one per use; NULL if its table stopped */
    struct str
        *generated; /* per column of a row, the generating expression; ptr NULL if none */
    struct cascade_parent *parent; /* NULL: nothing else changes with its rows */
};

struct change_writer {
    struct change_writer_options opt;
    struct row_reader *rows;
    struct row_fill fill;
    struct bound bound[CHANGE_BOUND_MAX];
    size_t n_bound;
    struct write_gather *writes;
    struct resolve_task *tasks[CHANGE_TASKS_MAX];
    size_t n_tasks;
    struct buf id, key, routing, body;             /* scratch for the new image */
    struct buf old_id, old_key, old_routing, join; /* scratch for the old image */
    struct buf row_id, row_json;                   /* scratch for what is put off */
    struct cascade_trigger *off;
};

/* One row change for one index version. */
struct change_unit {
    struct change_writer *w;
    const struct rows_at *at;
    const struct row_change *change;
    struct target *target;
    struct ticket *ticket;
    bool any; /* it opened a document */
};

/* ---- change_unit ---- */

/*
 * The version of a write.  A re-read asks for one above its event, where no other write stands
 * (event ends are at least 19 apart): a delete in the same event, of the row that had the key
 * before, must not count as newer.
 */
uint64_t change_version(const struct change_unit *u, enum doc_op op);
/*
 * Fills in target, ticket, version and time.  The unit keeps its ticket: what it emitted may be
 * done before its next document.
 */
void change_emit(struct change_unit *u, const struct doc_write *write);
bool change_matters(const struct change_unit *u, const struct use *use,
                    const struct binding *b);
/*
 * The first column of the root's key, or of the join columns, missing from an image; NULL if
 * complete.
 */
const struct column *change_find_lacking(const struct change_unit *u, const struct use *use,
                                         const struct binding *b);
/*
 * Stop the table: the images do not lead to the row's documents and nothing else can.  Better
 * than leaving a stale document.
 */
void change_stop_unknown(struct change_unit *u, const struct use *use,
                         const struct column *lacks);

/* ---- change_root ---- */

/* The key may make no id before or after the change; the other image counts all the same. */
void change_root(struct change_unit *u, const struct use *use, const struct binding *b);

/* ---- change_put_off ---- */

/*
 * Describe the changed row of a delayed table, in w's scratch: was: as it was before, else as
 * it is.
 */
struct snapshot_row;
struct snapshot_row change_put_off_row(struct change_unit *u, bool was);
/* An update of a row that keeps its key; else it is a delete, an insert, or both. */
bool change_put_off_keeps_key(struct change_unit *u);

/* ---- change_related ---- */

void change_related(struct change_unit *u, const struct use *use, const struct binding *b);
/* Find documents that gain rows moved along by foreign keys. */
void change_moved(struct change_unit *u);
/* Pass on the collected tasks. */
void change_related_flush(struct change_writer *w);

#endif
