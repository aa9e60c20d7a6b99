#include "config.h"

#include "rebalance/check/row_state.h"

#include "sync/definition/definition.h"

/* Whether the row makes a document if t decides which rows count. */
static bool row_counts(const struct row_question *q, const struct table_definition *t,
                       bool *counts, struct err *err)
{
    struct plan *p = plan_compile(q->d, t, q->find, q->find_ctx, err);
    struct loaded doc = {0};
    const bool ok = p != NULL && q->load(q->ctx, p, &doc, err);

    *counts = ok && (doc.body.ptr != NULL || doc.err != NULL);
    plan_free(p);
    return ok;
}

bool row_state_find(const struct row_question *q, const char **state, struct err *err)
{
    struct table_definition bare = *q->table;
    bool counts;

    *state = "absent";
    bare.n_relations = 0;
    bare.filter = STR("");
    if (bare.soft_delete_given) {
        if (!row_counts(q, &bare, &counts, err))
            return false;
        *state = counts ? "filtered" : "absent";
        bare.soft_delete_given = false;
        if (counts)
            return true;
        *state = "soft_deleted";
    } else
        *state = "filtered";
    if (!row_counts(q, &bare, &counts, err))
        return false;
    if (!counts)
        *state = "absent";
    return true;
}
