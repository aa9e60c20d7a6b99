/*
 * Why a row makes no document.
 *
 * @thread one at a time; blocks on the row's server
 */
#ifndef REBALANCE_CHECK_ROW_STATE_H
#define REBALANCE_CHECK_ROW_STATE_H

#include "src/base/base.h"
#include "src/base/err.h"
#include "sync/document/loader.h"
#include "sync/document/plan.h"

#include <stdbool.h>

struct definitions;
struct table_definition;

/* A row, for the caller's functions. */
struct row_question {
    const struct definitions *d;
    const struct table_definition *table; /* as its document's plan has it */
    plan_schema_fn find;
    void *find_ctx;
    /* Load the row by this plan, whose only table is the row's own or one that leads to it. */
    bool (*load)(void *ctx, const struct plan *p, struct loaded *out, struct err *err);
    void *ctx;
};

/*
 * Of a row that makes no document, though its parents are known.  *state becomes "absent"
 * (there is no such row), "filtered" or "soft_deleted"; static.
 */
bool row_state_find(const struct row_question *q, const char **state,
                    struct err *err) MUST_CHECK;

#endif
