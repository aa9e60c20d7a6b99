/*
 * Are documents equal to their rows? Looks at both sides of some keys, and repairs what differs
 * if that is wished.
 *
 * While changes go on, a document may differ from its row because the change is on its way. So
 * what differs is looked at again, once everything that the first look can have seen is
 * delivered; only what three looks in a row saw alike is a difference.
 */
#ifndef REBALANCE_VERIFY_VERIFY_H
#define REBALANCE_VERIFY_VERIFY_H

#include "rebalance/build/question.h"
#include "src/base/base.h"
#include "src/base/err.h"
#include "src/base/str.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct buf;
struct coordinator;

#define VERIFY_KEYS_MAX 100

struct verify_request {
    struct str table;
    const struct str *keys; /* `_id`s; of a table that shares its index, also without prefix */
    size_t n_keys;          /* 1 to VERIFY_KEYS_MAX */
    bool repair;            /* read again what differs */
    bool values;            /* the answer shows the values that differ */
};

/*
 * Verify the documents of some keys in the index that searches use, by the definition that it
 * was built with. Writes nothing without `repair`. ERR_RETRY if a side cannot be asked now.
 * @thread any (locked inside; blocks, a server and the engine as people's requests do, and up
 * to half a minute for changes that are on their way)
 */
bool coordinator_verify(struct coordinator *co, const struct verify_request *r,
                        struct buf *json, struct err *err) MUST_CHECK;

/* What to compare of a whole index, and how. */
struct verify_order {
    struct str table;
    uint64_t version;       /* 0: the one that searches use */
    bool repair, values;    /* as above */
    bool yes;               /* repair however much differs; needs a report of this version */
    uint64_t rate;          /* documents per second; 0: no limit */
    bool samples;           /* compare `sample` documents only, and the newest rows */
    uint64_t sample;        /* 1 to 1,000,000 */
    struct str where;       /* compare only rows of this table that meet it; empty: all */
    bool changed;           /* compare only rows that have changed (changed.h) */
    struct str since;       /* from this time on; empty: since the last good check */
    bool exchange;          /* compare only what its trees say differs (exchange.c) */
    bool by_itself;         /* nobody asked for it: it ends where somebody does */
    bool for_trees;         /* and only because trees are missing: of no use without them */
    bool rewrites;          /* write again also what is equal; repair and yes are set then, */
    const struct str *keys; /* and either `where` is given, or these `_id`s, */
    size_t n_keys;          /* at most VERIFY_KEYS_MAX */
    bool dry_run;           /* only say whether it may begin; the answer has no job */
};

/*
 * Start a job that compares all documents of an index with their rows, or a sample of them (a
 * verdict on a sample is one on no other document), or the rows that meet a condition
 * (documents without a row are not looked for then), and answer its id. It goes on after a
 * restart, and keeps a report at its end. ERR_RETRY if one runs already.
 * @thread any (locked inside; blocks on the store)
 */
bool coordinator_verify_all(struct coordinator *co, const struct verify_order *o,
                            struct buf *json, struct err *err) MUST_CHECK;
/*
 * The same, for whoever has checked the order and has admin_lock.
 */
bool coordinator_order_verify(struct coordinator *co, const struct verify_order *o,
                              struct buf *json, struct err *err) MUST_CHECK;
/*
 * Compare a sample of a version that a build has completed, or all of it; have what differs
 * read again, and look once more: at another sample, as what was repaired may stand for more.
 * Of index_build_options; ctx is the coordinator. Keeps a report under the build's job unless
 * all is equal at once. What could not be judged is not different: then the counts alone
 * decide.
 * @thread the build's (blocks, not under any lock)
 */
bool verify_new_version(void *ctx, const struct build_question *q, struct buf *differs,
                        struct err *err) MUST_CHECK;
/* End the refresh of the table's index, and wait until it has ended; dry_run: only count. */
bool coordinator_cancel_refresh(struct coordinator *co, struct str table, bool dry_run,
                                struct buf *json, struct err *err) MUST_CHECK;
/* The reports that are kept, the newest first. Blocks on the store. */
bool coordinator_list_reports(struct coordinator *co, struct buf *json,
                              struct err *err) MUST_CHECK;
/* The report of a job, or how far it is. Blocks on the store. */
bool coordinator_get_report(struct coordinator *co, struct str id, struct buf *json,
                            struct err *err) MUST_CHECK;

#endif
