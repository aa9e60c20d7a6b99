/*
 * The calls about the versions of one index: build, delete, reset, publish, return, set,
 * pause.
 * rebalance/state/coordinator.h has the rules of all calls.
 *
 * @thread any (locked inside; blocks)
 */
#ifndef REBALANCE_VERSION_INDEX_H
#define REBALANCE_VERSION_INDEX_H

#include "rebalance/fill/parameters.h"
#include "src/base/base.h"
#include "src/base/err.h"
#include "src/base/str.h"
#include "src/config/settings.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct buf;
struct coordinator;

struct index_create_options {
    uint64_t rate;    /* rows per second, 0: no limit */
    size_t chunk;     /* rows per statement, 0: default */
    uint64_t buckets; /* parts that are filled apart, 0: default */
    enum buckets_by by;
    uint64_t nodes;  /* that fill it at most; 0: all */
    bool take_index; /* take the alias from another store of Millrace */
    bool take_alias; /* take it from an index that Millrace did not make */
    bool hold;       /* let the version wait until a person publishes it */
    bool keeps;      /* keep is given; else index.keep_versions holds */
    uint64_t keep;   /* how many older versions stay current */
    bool checks;     /* check is given; else index.verify_builds holds */
    enum build_check check;
    bool by_itself; /* nobody asked for it */
    bool dry_run;   /* only check whether it can begin, and say what it costs */
};
/*
 * Start a build. The answer has the job's id; follow it with list job.  With buckets by mod,
 * and of a dry run, it has the cost (rebalance/build/cost.h).
 */
bool coordinator_index_create(struct coordinator *co, struct str table,
                              const struct index_create_options *opt, struct buf *json,
                              struct err *err) MUST_CHECK;
/*
 * Of this and the next three, dry_run: check and answer only.
 *
 * Delete all the chosen versions or none. number 0: every version that is history or retired.
 * table may also name an index that no definition names any more.
 */
bool coordinator_index_delete(struct coordinator *co, struct str table, uint64_t number,
                              bool dry_run, struct buf *json, struct err *err) MUST_CHECK;
/*
 * Stop a running build, drop its jobs and its index. This is the manual way out of any bad
 * state.
 */
bool coordinator_index_reset(struct coordinator *co, struct str table, bool dry_run,
                             struct buf *json, struct err *err) MUST_CHECK;
/*
 * Publish the version that waits. accepted: how many dead letters it may have; 0: keep the
 * number accepted before. Answers like index create.
 */
bool coordinator_index_cutover(struct coordinator *co, struct str table, uint64_t accepted,
                               bool dry_run, struct buf *json, struct err *err) MUST_CHECK;
/*
 * Return to the version, or, if number is 0, to the newest kept one before the present.  The
 * present one is kept instead.  Blocks on the engine; if that does not answer (ERR_RETRY), the
 * return follows by itself.
 */
bool coordinator_index_rollback(struct coordinator *co, struct str table, uint64_t number,
                                bool dry_run, struct buf *json, struct err *err) MUST_CHECK;
/*
 * Write nothing to the index until coordinator_index_resume(): it counts as held, and the keys
 * of its changes are stored.  Survives a restart.  reason: the person's words, or empty.
 */
bool coordinator_index_pause(struct coordinator *co, struct str table, struct str reason,
                             bool dry_run, struct buf *json, struct err *err) MUST_CHECK;
/* End a pause, if there is one, and try again whatever is held. */
bool coordinator_index_resume(struct coordinator *co, struct str table, bool dry_run,
                              struct buf *json, struct err *err) MUST_CHECK;
/* Change a running build; dry_run: only say whether one runs. */
bool coordinator_index_set(struct coordinator *co, struct str table, const struct job_change *c,
                           bool dry_run, struct buf *json, struct err *err) MUST_CHECK;

#endif
