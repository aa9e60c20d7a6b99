/*
 * struct fill_part: which documents a bucket of a delayed run reads again: those that rows of
 * a delayed table lead to.
 *
 * It says what a node needs that does not follow the topic: keys of the rows at a place of the
 * documents' plan, or the ids that a top relation's `level_sql` turns into keys; and what reads
 * must include. The statement is that of the definitions as they are now. A run with few rows
 * has several parts for the same rows, each of which leaves the others' documents out: those
 * whose key's hash, or whose bucket column, leaves another remainder.
 *
 * Its documents carry the position in the note as their version, and are written strictly.
 * That is behind each change that the run takes, so whatever is newer has these changes, too.
 *
 * @thread any (pure)
 */
#ifndef REBALANCE_FILL_PART_H
#define REBALANCE_FILL_PART_H

#include "rebalance/fill/source.h"
#include "src/base/base.h"
#include "src/base/buf.h"
#include "src/base/str.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define PARTS_MAX 4096 /* of the same rows */

struct fill_part {
    struct buf table;  /* the delayed one */
    struct buf member; /* the documents' own */
    uint32_t place;    /* of the rows in the plan */
    unsigned by;       /* how keys name rows: RESOLVER_BY (sync/document/resolver.h) */
    struct buf keys;   /* of the rows, each a key's part; by a top relation: ids as text.
                          They are beside the text (src/store/store.h) */
    bool by_level;     /* what `level_sql` makes of them, of this top relation of `table` */
    uint32_t level;
    struct buf bucket_column; /* whose time makes the remainder; empty: the hash does */
    uint32_t mod, rest;       /* of so many parts of these rows, the one with this remainder */
    struct fill_note note;    /* what reads must include */
};

void part_fini(struct fill_part *p);
void part_append(struct buf *json, const struct fill_part *p);
/* Leaves its keys empty. Returns false if it is no part. End with part_fini() then, too. */
bool part_read(struct str json, struct fill_part *p) MUST_CHECK;

struct stored_job;
struct version_name;
/* The version of its documents; 0: it is no part. */
uint64_t part_start(const struct stored_job *part);
/*
 * What reads must include for each open part of the version, and as a position: what the
 * newest one says.  Returns false if there is none.
 */
bool part_newest_note(const struct stored_job *jobs, size_t n, const struct version_name *v,
                      struct fill_note *note, uint64_t *start) MUST_CHECK;

#endif
