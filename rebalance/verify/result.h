/*
 * What many runs of one verification found together: counts, and lists with a bound. It is part
 * of a job's cursor, so that it survives a restart, and of every report.
 *
 * @thread one at a time
 */
#ifndef REBALANCE_VERIFY_RESULT_H
#define REBALANCE_VERIFY_RESULT_H

#include "rebalance/verify/run.h"
#include "src/base/base.h"
#include "src/base/buf.h"
#include "src/base/str.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct json_writer;

#define VERIFY_LISTED_MAX   1000      /* differences of each kind, aparts of each reason */
#define VERIFY_LISTED_BYTES (2 << 20) /* of both lists together */
#define VERIFY_CHANGED_MAX  10000     /* ids on the list; documents changed without --yes */

/* Zero-initialise; end with verify_result_free(). */
struct verify_result {
    uint64_t documents, equal, repaired;
    uint64_t rewritten; /* though they were equal */
    uint64_t differing; /* and not repaired */
    uint64_t counts[N_VERIFY_KINDS], apart[N_VERIFY_REASONS];
    uint64_t repaired_counts[N_VERIFY_KINDS]; /* of counts */
    struct buf differences, aparts;           /* elements of a JSON array each */
    uint64_t n_listed[N_VERIFY_KINDS], n_aparts_listed[N_VERIFY_REASONS];
    bool is_cut;    /* one of the two lists lacks what was counted */
    struct buf ids; /* JSON texts; empty beyond VERIFY_CHANGED_MAX */
    uint64_t n_ids; /* so many were put on the list */
};

void verify_result_free(struct verify_result *r);

/* Add what a run says of one key, with the values that differ if they are wished for. */
void verify_result_add(struct verify_result *r, const struct verify_key *k, bool values);
/* Add a child without parent. Its document is equal to its row, and counted as such elsewhere.
 */
void verify_result_add_orphan(struct verify_result *r, struct str id, struct str routing);
/* The keys were added as ones that differ: note which of them a repair has made equal. */
void verify_result_end_repair(struct verify_result *r, const struct verify_key *keys, size_t n);
/* Put an id on the list. */
void verify_result_list_id(struct verify_result *r, struct str id);
/* Add all that `more` has, but for its ids. */
void verify_result_merge(struct verify_result *r, const struct verify_result *more);

/* Whether so little differs, of so many documents, that it may be repaired without a person's
 * word. n_entries: so many entries of trees differ, of which VERIFY_CHANGED_MAX are listed;
 * what was found of these stands for all. */
bool verify_result_is_little(const struct verify_result *r, uint64_t all, uint64_t n_entries);

/* "equal", "different" or "unknown". */
const char *verify_result_verdict(const struct verify_result *r);

/* Write a member for each kind. */
void verify_result_put_kinds(struct json_writer *w, struct str name,
                             const uint64_t counts[N_VERIFY_KINDS]);
/* Write how many documents there are, are equal, and by kind how many differ and were
 * repaired. */
void verify_result_put_counts(const struct verify_result *r, struct json_writer *w);
/* Write the members that a report has, and the list, which only a cursor needs. */
void verify_result_put(const struct verify_result *r, struct json_writer *w);
void verify_result_put_ids(const struct verify_result *r, struct json_writer *w);
/* Read both from a cursor. r is zeroed. */
void verify_result_read(struct verify_result *r, struct str json);

#endif
