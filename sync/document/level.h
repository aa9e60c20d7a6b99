/*
 * struct level: the rows of one branch for a batch of documents, with the levels below it.
 *
 * Read with few statements; then each row's object is put together from its own members and the
 * rows below that join to it.  Lives for one batch.
 *
 * @thread one at a time; level_read blocks on the server
 */
#ifndef SYNC_DOCUMENT_LEVEL_H
#define SYNC_DOCUMENT_LEVEL_H

#include "src/base/base.h"
#include "src/base/buf.h"
#include "src/base/err.h"
#include "src/base/str.h"
#include "sync/binlog/value.h"
#include "sync/document/key_set.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct branch;
struct mysql_conn;

struct level_row {
    size_t at; /* its members in json */
    size_t len;
    uint32_t key;  /* the number in keys that it was found by */
    uint32_t fail; /* what is wrong with it: number in fails, or KEY_SET_NONE */
    size_t routing_at, routing_len; /* of the root: in routings */
    bool rooted;                    /* of the root: it has a document */
    bool rootless;                  /* of the root: it has a parent's key, and no known root */
};

#define LEVEL_ROOM_MIB   256 /* rows and what is made of them: twice what engines take, and more */
#define LEVEL_ROOM_BYTES ((size_t)LEVEL_ROOM_MIB << 20)

/* How much a batch may still take of memory; of all its levels together. */
struct level_room {
    size_t left; /* bytes */
    bool full;   /* more was wanted: what was read or put together is not whole */
};

struct level {
    const struct branch *branch;
    struct level_room *room; /* borrowed */
    struct key_set keys; /* wanted: values of the joins' outer columns */
    struct level_row *rows;
    uint32_t n_rows, cap;
    uint32_t *order;   /* row numbers by their key, in the order of arrays within one */
    uint32_t *first;   /* of each key in order, and the end: keys.n + 1 numbers */
    uint32_t *links;   /* for each row and child: the number in the child's keys */
    struct buf json;   /* members of all rows */
    struct buf routings; /* of the root's rows */
    struct err *fails; /* rows that no document can be made of */
    uint32_t n_fails;
    struct value *values;   /* of one row */
    struct buf scratch;     /* a key */
    struct level *children; /* as many as the branch has */
};

void level_init(struct level *l, const struct branch *b, struct level_room *room);
void level_fini(struct level *l);

/* Read the rows of l->keys, and of all levels below.  of: a connection for each topic of the
 * plan.  ERR_REJECT with room->full: they need more. */
bool level_read(struct level *l, struct mysql_conn *const *of, struct buf *sql,
                struct err *err) MUST_CHECK;

/* The same of this level only, whose rows then have nothing below. */
bool level_read_alone(struct level *l, struct mysql_conn *c, struct buf *sql,
                      struct err *err) MUST_CHECK;

/*
 * Run sql, whose cells are the columns that a root branch reads, and all levels below.  The
 * rows' keys are added to l->keys.
 */
bool level_read_root(struct level *l, struct mysql_conn *const *of, struct buf *sql,
                     struct err *err) MUST_CHECK;

/* The routing of the root's row, which is rooted; of one that has no place, its own _id.  Borrowed. */
struct str level_routing(const struct level *l, uint32_t row);

/* Append the object of a row.  False: what is wrong with it, or with a row below; room->full: it
 * would be longer than what is left. */
bool level_append_object(const struct level *l, uint32_t row, struct buf *out,
                         struct err *err) MUST_CHECK;

#endif
