/*
 * struct level: the rows of one node for a batch of documents, with the levels below it.
 *
 * Few statements read all rows; then each row's object is assembled from its own members and
 * the rows below that join to it.  Lives for one batch.
 *
 * @thread one at a time; level_read() blocks on the server
 */
#ifndef SYNC_DOCUMENT_LEVEL_H
#define SYNC_DOCUMENT_LEVEL_H

#include "src/base/base.h"
#include "src/base/buf.h"
#include "src/base/err.h"
#include "src/base/str.h"
#include "sync/document/key_set.h"
#include "sync/value/value.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct plan_node;
struct mysql_conn;

struct level_row {
    size_t at; /* its members in json */
    size_t len;
    uint32_t key;                   /* the number in keys of the key that found it */
    uint32_t fail;                  /* its error: number in fails, or KEY_SET_NONE */
    size_t routing_at, routing_len; /* root only: in routings */
    bool rooted;                    /* root only: it has a document */
    bool rootless;                  /* root only: it has a parent's key but no known root */
};

/* Rows and results: more than twice what engines accept. */
#define LEVEL_ROOM_MIB   256
#define LEVEL_ROOM_BYTES ((size_t)LEVEL_ROOM_MIB << 20)

/* The memory left for a batch, shared by all its levels. */
struct level_room {
    size_t left;  /* bytes */
    size_t taken; /* bytes, so far */
    bool full;    /* the limit was hit: results are incomplete */
};

struct level {
    const struct plan_node *node;
    struct level_room *room; /* borrowed */
    size_t bytes_max;        /* end before a row that would bring the cells above; the first row
                                always fits; 0: no limit */
    size_t bytes;            /* of the cells so far */
    bool is_cut;             /* ended there */
    uint32_t n_whole;        /* the first so many keys were read wholly */
    struct key_set keys;     /* wanted values of the joins' outer columns */
    struct level_row *rows;
    uint32_t n_rows, cap;
    uint32_t *order;     /* row numbers sorted by key, then in array order */
    uint32_t *first;     /* start in order of each key, then the end: keys.n + 1 numbers */
    uint32_t *links;     /* for each row and child: the number in the child's keys */
    struct buf json;     /* members of all rows */
    struct buf routings; /* of the root's rows */
    struct err *fails;   /* rows that cannot become a document */
    uint32_t n_fails;
    struct value *values;   /* of the current row */
    struct buf scratch;     /* a key */
    struct level *children; /* one per child of the node */
    bool has_beside;        /* root only: one more cell follows those of the columns read ... */
    bool is_beside_null;
    struct buf beside; /* ... and this is it, in the last row taken */
};

void level_init(struct level *l, const struct plan_node *b, struct level_room *room);
void level_fini(struct level *l);

/*
 * Read the rows of l->keys and all levels below. of has a connection per topic of the plan.
 * ERR_REJECT with room->full if they need more memory.
 */
bool level_read(struct level *l, struct mysql_conn *const *of, struct buf *sql,
                struct err *err) MUST_CHECK;

/* Read likewise, but only this level, up to bytes_max; its rows have nothing below yet. */
bool level_read_alone(struct level *l, struct mysql_conn *c, struct buf *sql,
                      struct err *err) MUST_CHECK;

/*
 * Run sql, whose cells are the columns that a root node reads, up to bytes_max.  Adds the rows'
 * keys to l->keys.
 */
bool level_read_root(struct level *l, struct mysql_conn *c, struct str sql,
                     struct err *err) MUST_CHECK;
/* Then read all levels below. */
bool level_read_below(struct level *l, struct mysql_conn *const *of, struct buf *sql,
                      struct err *err) MUST_CHECK;

/* The routing of a rooted row of the root; its own _id if it has no place.  Borrowed. */
struct str level_routing(const struct level *l, uint32_t row);

/*
 * Append the object of a row.  Returns false with the error of the row or one below it, or with
 * room->full if it is too long.
 */
bool level_append_object(const struct level *l, uint32_t row, struct buf *out,
                         struct err *err) MUST_CHECK;

#endif
