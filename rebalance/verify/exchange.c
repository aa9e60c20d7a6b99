#include "config.h"

#include "rebalance/verify/job.h"

#include "rebalance/trees/tree_compare.h"
#include "rebalance/trees/trees.h"

#include "sync/checkpoint/read_position.h"
#include "sync/delivery/delivery.h"

#define DRAIN_MS 10000

/* ---- the trees ---- */

/* What the comparison of two trees finds. */
struct tree_answer {
    struct verify_job *j;
    bool unread; /* which are listed now: those to be read again, or those that differ */
    uint64_t n;  /* of both */
};

static bool list_one(void *ctx, enum tree_difference what, const struct tree_id *id,
                     struct err *err)
{
    struct tree_answer *answer = ctx;
    struct verify_job *j = answer->j;
    struct buf text = {0};

    (void)err;
    if ((what == TREE_UNREAD) != answer->unread)
        return true;
    answer->n++;
    if (!tree_id_unpack(id, &text))
        j->n_unnamed++;
    else if (j->unequal.n_ids < VERIFY_CHANGED_MAX)
        verify_result_list_id(&j->unequal, buf_str(&text));
    buf_free(&text);
    return true;
}

/* What differs comes first, as the list has an end. */
static bool compare(const struct trees_snapshot *source, const struct trees_snapshot *engine,
                    struct tree_answer *answer, struct err *err)
{
    answer->unread = false;
    if (!tree_compare(source->tree, engine->tree, list_one, answer, err))
        return false;
    answer->unread = true;
    return tree_compare(source->tree, engine->tree, list_one, answer, err);
}

static bool drain(struct verify_job *j, struct str index, struct err *err)
{
    const enum drain_end end = delivery_drain_index(j->co->delivery, index, DRAIN_MS);

    return end == DRAIN_DONE ||
           err_set(err, ERR_REJECT,
                   "not all that the source has could be delivered (%s); fix: millrace status "
                   "says what waits",
                   drain_end_name(end));
}

/*
 * The index's snapshot is taken once it must have all that the source's has. Then only what
 * was lost, or came meanwhile, differs.
 */
static bool exchange(struct verify_job *j, struct str index, struct tree_answer *answer,
                     struct err *err)
{
    struct trees *trees = j->co->trees;
    struct trees_snapshot source = {0}, engine = {0};
    const bool are_taken = trees_snapshot(trees, index, TREE_SOURCE, &source, err) &&
                           drain(j, index, err) &&
                           trees_snapshot(trees, index, TREE_INDEX, &engine, err);
    const bool ok = are_taken && compare(&source, &engine, answer, err);

    trees_snapshot_close(&engine);
    trees_snapshot_close(&source);
    if (are_taken && !ok && err->kind == ERR_REJECT)
        trees_end(trees, index); /* damaged */
    return ok;
}

/* ---- the pass ---- */

/* What neither differs nor must be read again is equal. */
static void begin_looks(struct verify_job *j, struct str index, uint64_t n_unequal)
{
    j->at.total = trees_look(j->co->trees, index).entries;
    j->result.documents = j->result.equal =
        j->at.total > n_unequal ? j->at.total - n_unequal : 0;
    j->is_exchanged = true;
}

static bool compare_trees(struct verify_job *j, struct verify_run *run, struct err *err)
{
    struct tree_answer answer = {.j = j};

    j->at.from = read_position_version(pipeline_read_position(run->pipeline));
    if (!exchange(j, run->index, &answer, err))
        return false;
    begin_looks(j, run->index, answer.n);
    return true;
}

static bool look(struct verify_job *j, struct verify_run *run, struct err *err)
{
    const size_t n = verify_take_listed(j, run, &j->unequal);

    if (n == 0) {
        j->at.pass = VERIFY_LISTED;
        j->at.slice = 0;
        return true;
    }
    j->at.slice += n;
    return verify_settle_all(j, run, run->keys, n, err);
}

bool verify_exchange_step(struct verify_job *j, struct err *err)
{
    if (j->co->trees == NULL)
        return err_set(err, ERR_REJECT, "index.trees is off, so there is nothing to compare");

    struct arena *a = arena_new();
    struct verify_run run;
    bool ok = verify_job_open(j, &run, a, err);

    if (ok)
        ok = j->is_exchanged ? look(j, &run, err) : compare_trees(j, &run, err);
    verify_job_close(j, &run);
    arena_free(a);
    return ok;
}

void verify_exchange_clear(struct verify_job *j)
{
    verify_result_free(&j->unequal);
    j->unequal = (struct verify_result){0};
    j->is_exchanged = false;
    j->n_unnamed = 0;
}
