/*
 * struct verify_sample: what a sample has taken so far. Only sample.c and the job's own files
 * include this.
 *
 * It lives in memory only: a sample that is interrupted is taken anew.
 */
#ifndef REBALANCE_VERIFY_PART_SAMPLE_STATE_H
#define REBALANCE_VERIFY_PART_SAMPLE_STATE_H

#include "rebalance/verify/part/places.h"
#include "src/base/base.h"
#include "src/base/buf.h"
#include "src/base/random.h"
#include "src/base/str.h"
#include "sync/document/key_set.h"

#include <stdbool.h>
#include <stdint.h>

enum sample_part {
    SAMPLE_BEGIN = 0,
    SAMPLE_DOCUMENTS, /* that the engine takes at random */
    SAMPLE_PLACES,    /* rows of at.table, in runs */
    SAMPLE_NEWEST,    /* its last rows */
    N_SAMPLE_PARTS,
};

struct verify_sample {
    uint64_t asked;
    struct random random;
    enum sample_part part;
    struct sample_sizes sizes;
    struct key_set seen;   /* hashes of the ids that were compared */
    struct key_set met;    /* ids of documents: places of tables without numbers for keys */
    struct key_set places; /* of at.table */
    uint32_t at;           /* the place */
    struct buf after;      /* its last key that was read */
    uint64_t left;         /* rows of its run */
    bool is_read;          /* at.table was read to its end, from its beginning */
    uint64_t n_hits;
};

struct verify_sample *verify_sample_new(uint64_t asked) RETURNS_NONNULL MUST_CHECK;
void verify_sample_free(struct verify_sample *s);            /* NULL is fine */
uint64_t verify_sample_asked(const struct verify_sample *s); /* NULL: 0 */

/* Forget what was taken: the sample begins anew. NULL is fine. */
void sample_clear(struct verify_sample *s);
/* Note that a document is compared. Returns false if it was before. */
bool sample_note(struct verify_sample *s, struct str id);

#endif
