/* The creation of an index version. */
#ifndef REBALANCE_VERSION_VERSION_CREATE_H
#define REBALANCE_VERSION_VERSION_CREATE_H

#include "rebalance/build/cost.h"
#include "rebalance/state/parts.h"
#include "rebalance/version/index.h"

struct created_version {
    uint64_t job;
    uint64_t number;        /* of the version */
    struct buf taken;       /* as in struct claimed */
    struct build_cost cost; /* of a dry run, or with buckets by mod; else zero */
    bool dry_run;           /* of a cutover: the answer says so */
};
/*
 * Create a new version of the table's index: its number, the index in the engine, and the job
 * that fills it.  A dry run only makes sure that this is possible.
 */
bool coordinator_create_version(struct coordinator *co, const struct definitions *d,
                                const struct table_definition *t,
                                const struct index_create_options *opt,
                                struct created_version *out, struct err *err)
    NEEDS(co->admin_lock) MUST_CHECK;

#endif
