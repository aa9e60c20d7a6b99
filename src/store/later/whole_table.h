/*
 * Snapshots that stand for a whole table: a statement has changed rows of a delayed table, and
 * the log has no events of them.
 *
 * Each has a lead for each index version that shows the table as it was.  It goes with its
 * version; a later one is built after the statement.  So a run reads no documents for it, but
 * asks for builds, before all else, and waits until they have ended:
 *
 *     not asked ──ask──► asked ──end──► ended
 *
 * @thread any (locked inside; calls may block)
 */
#ifndef SRC_STORE_LATER_WHOLE_TABLE_H
#define SRC_STORE_LATER_WHOLE_TABLE_H

#include "src/base/base.h"
#include "src/base/err.h"
#include "src/base/str.h"
#include "src/store/later/snapshot.h"
#include "src/store/store.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define WHOLE_TABLE_OP  "table" /* of the snapshot */
#define WHOLE_TABLE_ROW "*"
#define WHOLE_TABLE_PLACE \
    0 /* of a lead, whose member is the table; changes at a root never wait */

enum run_builds {
    RUN_BUILDS_NOT_ASKED = 0,
    RUN_BUILDS_ASKED,
    RUN_BUILDS_ENDED,
};

/* A version that shows a whole table as it was. */
struct whole_lead {
    uint64_t snapshot;
    struct str table;
    struct str row_json; /* of the snapshot */
    struct version_name version;
};
/* Those of the snapshots that the run took, or of its only one. */
bool store_load_whole_leads(struct store *s, struct arena *a, const struct snapshot_run *run,
                            struct whole_lead **out, size_t *n, struct err *err) MUST_CHECK;
/*
 * The run asks for builds, now: those of tables that are to be built already stay as they are.
 * None: they have ended.  ERR_STOP: the run has ended, or the topic has another owner.
 */
bool store_ask_builds(struct store *s, const struct snapshot_owner *owner,
                      struct snapshot_run *run, const struct stored_rebuild *builds, size_t n,
                      struct err *err) MUST_CHECK;

struct builds_end {
    const struct stored_rebuild *withdrawn; /* unless their reason is another one by now */
    size_t n_withdrawn;
    const struct whole_lead *failed; /* with what their snapshots say from now on */
    size_t n_failed;
    int64_t now_ms;
};
/* The run goes on.  Errors as above. */
bool store_end_builds(struct store *s, const struct snapshot_owner *owner,
                      struct snapshot_run *run, const struct builds_end *end,
                      struct err *err) MUST_CHECK;

#endif
