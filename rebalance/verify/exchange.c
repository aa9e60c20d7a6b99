#include "config.h"

#include "rebalance/verify/job.h"

#include "rebalance/trees/tree_compare.h"
#include "rebalance/trees/trees.h"

#include "sync/checkpoint/read_position.h"
#include "sync/delivery/delivery.h"

#define DRAIN_MS 10000

/* What the comparison of two trees has found. */
struct tree_answer {
    struct verify_job *j;
    bool is_hashed; /* of a document that differs nobody knows the id */
};

static bool list_one(void *ctx, enum tree_difference what, const struct tree_id *id,
                     struct err *err)
{
    struct tree_answer *f = ctx;
    struct verify_result *open = &f->j->open;
    struct buf text = {0};

    (void)err;
    if (what != TREE_UNREAD)
        open->differing++;
    if (!tree_id_unpack(id, &text))
        f->is_hashed = true;
    else if (open->n_ids < VERIFY_CHANGED_MAX)
        verify_result_list_id(open, buf_str(&text));
    buf_free(&text);
    return true;
}

/*
 * The index's snapshot is taken once it must have all that the source's has. Then only what
 * was lost, or came meanwhile, differs.
 */
static bool compare(struct verify_job *j, struct str index, struct tree_answer *f,
                    struct err *err)
{
    struct trees *trees = j->co->trees;
    struct trees_snapshot source = {0}, engine = {0};
    bool ok = trees_snapshot(trees, index, TREE_SOURCE, &source, err);

    if (ok) {
        const enum drain_end end =
            delivery_drain_partition(j->co->delivery, DRAIN_ALL, DRAIN_MS);

        ok = end == DRAIN_DONE ||
             err_set(err, ERR_REJECT,
                     "not all that the source has could be delivered (%s), so its tree cannot "
                     "be compared now; fix: millrace status says what waits",
                     drain_end_name(end));
    }
    ok = ok && trees_snapshot(trees, index, TREE_INDEX, &engine, err);

    const bool is_whole = !ok || tree_compare(source.tree, engine.tree, list_one, f, err);

    trees_snapshot_close(&engine);
    trees_snapshot_close(&source);
    if (!is_whole && err->kind == ERR_REJECT)
        trees_end(trees, index); /* damaged */
    return ok && is_whole;
}

/* What is not listed is equal. */
static void count_equal(struct verify_job *j, uint64_t entries)
{
    j->at.total = entries;
    j->result.documents = j->result.equal =
        entries > j->open.n_ids ? entries - j->open.n_ids : 0;
}

bool verify_exchange_step(struct verify_job *j, struct err *err)
{
    struct arena *a = arena_new();
    struct verify_run run;
    struct tree_answer f = {.j = j};
    struct buf index = {0};
    bool ok = j->co->trees != NULL ||
              err_set(err, ERR_REJECT, "index.trees is off, so there is nothing to compare");

    coordinator_index_name(&index, j->job.index, j->job.version);
    if (ok) {
        ok = verify_job_open(j, &run, a, err);
        if (ok) {
            j->at.from = read_position_version(pipeline_read_position(run.pipeline));
            ok = compare(j, buf_str(&index), &f, err);
        }
        verify_job_close(j, &run);
    }
    if (ok) {
        count_equal(j, trees_look(j->co->trees, buf_str(&index)).entries);
        j->at.pass = VERIFY_LISTED;
    }
    if (ok && f.is_hashed) /* a comparison of all finds it, and makes new trees */
        trees_end(j->co->trees, buf_str(&index));
    buf_free(&index);
    arena_free(a);
    return ok;
}
