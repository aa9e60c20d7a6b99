/*
 * What the files of struct change_writer share.  Nobody else includes this; change_writer.h is
 * for all others.
 *
 * change_rows     rows come, and meet the plans that concern them
 * change_unit     one row change for one index version: what it may emit
 * change_root     of a row that has a document
 * change_related  of a row that documents hold
 */
#ifndef SYNC_CHANGE_PARTS_H
#define SYNC_CHANGE_PARTS_H

#include "src/base/base.h"
#include "src/base/buf.h"
#include "sync/binlog/row.h"
#include "sync/binlog/row_fill.h"
#include "sync/change_writer.h"
#include "sync/delivery/write.h"
#include "sync/routing.h"
#include "sync/rows_at.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define CHANGE_BOUND_MAX 64 /* table maps whose bindings are kept */
#define CHANGE_TASKS_MAX 64
#define CHANGE_REBUILD   "millrace index create" /* the way out of a stop */

struct binding;
struct cascade_parent;
struct resolve_task;
struct set_off;
struct write_gather;

/* How the rows of one table map meet the plans of its uses. */
struct bound {
    struct table_map *map; /* a reference */
    const struct watched *watched;
    struct binding **bindings; /* one for each use; NULL: its table stopped */
    struct str
        *generated; /* for each column of a row: what the server computes it of; ptr NULL */
    struct cascade_parent *parent; /* NULL: nothing changes with its rows */
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
    struct buf id, key, routing, body;             /* scratch of the new image */
    struct buf old_id, old_key, old_routing, join; /* scratch of the old one */
    struct set_off *off;
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
 * What must be read again is asked for one above its event, where no other body stands (event
 * ends are at least 19 apart): a delete in the same event, of the row that had the key before,
 * must not stand for it.
 */
uint64_t change_version(const struct change_unit *u, enum doc_op op);
/* Target, ticket, version and time are the unit's.  It keeps its ticket: what it has handed
 * over may be done before its next document. */
void change_emit(struct change_unit *u, const struct doc_write *write);
bool change_matters(const struct change_unit *u, const struct use *use,
                    const struct binding *b);
/* What of the root's key, or of the join columns, an image lacks; NULL: nothing. */
const struct column *change_find_lacking(const struct change_unit *u, const struct use *use,
                                         const struct binding *b);
/*
 * The images of a row do not lead to its documents, and nothing else can: the table stops
 * rather than keep a document that is stale.
 */
void change_stop_unknown(struct change_unit *u, const struct use *use,
                         const struct column *lacks);

/* ---- change_root ---- */

/* A key may make no id, before the change or after it; the other one counts all the same. */
void change_root(struct change_unit *u, const struct use *use, const struct binding *b);

/* ---- change_related ---- */

void change_related(struct change_unit *u, const struct use *use, const struct binding *b);
/* Hand over the tasks that have gathered. */
void change_related_flush(struct change_writer *w);

#endif
