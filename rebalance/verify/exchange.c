#include "config.h"

#include "rebalance/verify/job.h"

#include "rebalance/trees/tree_compare.h"
#include "rebalance/trees/tree_id.h"
#include "rebalance/trees/trees.h"
#include "rebalance/trees/trees_exchange.h"

#include "src/base/failpoint.h"
#include "src/base/mem.h"
#include "sync/checkpoint/read_position.h"
#include "sync/delivery/delivery.h"

#include <stdlib.h>

#define DRAIN_MS 10000

/* ---- the trees ---- */

/* What the comparison of two trees finds. */
struct tree_answer {
    struct verify_job *j;
    struct str index;
    bool unread;       /* which are listed now: those to be read again, or those that differ */
    uint64_t n;        /* of both */
    uint64_t n_differ; /* of these, those that differ */
};

static struct str packed(const struct tree_id *id)
{
    return (struct str){(const char *)id->bytes, sizeof(id->bytes)};
}

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
    if (!tree_id_unpack(id, &text) && !trees_name(j->co->trees, answer->index, id, &text)) {
        if (j->hashed.n < VERIFY_CHANGED_MAX)
            key_set_add(&j->hashed, packed(id));
    } else if (j->unequal.n_ids < VERIFY_CHANGED_MAX)
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
    answer->j->n_lost = answer->j->hashed.n;
    answer->n_differ = answer->n;
    answer->unread = true;
    return tree_compare(source->tree, engine->tree, list_one, answer, err);
}

static bool drain(struct verify_job *j, struct str index, struct err *err)
{
    FAILPOINT(exchange_begun);
    if (stop_is_set(j->stop))
        return err_set(err, ERR_STOP, "stopping");

    const enum drain_end end = delivery_drain_index(j->co->delivery, index, DRAIN_MS);

    FAILPOINT(exchange_drained);
    return end == DRAIN_DONE ||
           err_set(err, end == DRAIN_BLOCKED || end == DRAIN_TIMED_OUT ? ERR_REJECT : ERR_RETRY,
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

    if (are_taken)
        FAILPOINT(exchange_taken);

    const bool ok = are_taken && compare(&source, &engine, answer, err);

    trees_snapshot_close(&engine);
    trees_snapshot_close(&source);
    if (are_taken && !ok && err->kind == ERR_REJECT)
        trees_end(trees, index); /* damaged */
    return ok;
}

/* What neither differs nor must be read again is equal. */
static void begin_looks(struct verify_job *j, struct str index,
                        const struct tree_answer *answer)
{
    const uint64_t n_unequal = answer->n;

    j->at.total = trees_look(j->co->trees, index).entries;
    j->result.documents = j->result.equal =
        j->at.total > n_unequal ? j->at.total - n_unequal : 0;
    j->is_exchanged = true;
    j->n_differ = answer->n_differ;
    /* What the last pass could not name is not looked for again. */
    if (j->hashed.n > trees_look(j->co->trees, index).n_unnamed)
        j->is_named = mem_alloc(j->hashed.n, sizeof(*j->is_named));
}

static bool compare_trees(struct verify_job *j, struct verify_run *run, struct err *err)
{
    struct tree_answer answer = {.j = j, .index = run->index};

    j->at.from = read_position_version(pipeline_read_position(run->pipeline));
    if (!exchange(j, run->index, &answer, err))
        return false;
    begin_looks(j, run->index, &answer);
    FAILPOINT(exchange_compared);
    return true;
}

/* ---- ids of which the trees have only a hash ---- */

static void name_hit(struct verify_job *j, struct str id)
{
    struct tree_id as_packed;

    tree_id_pack(&as_packed, id);

    const uint32_t number = key_set_find(&j->hashed, packed(&as_packed));

    if (number == KEY_SET_NONE || j->is_named[number])
        return;
    j->is_named[number] = true;
    j->n_named++;
    j->n_found += number < j->n_lost;
    if (j->unequal.n_ids < VERIFY_CHANGED_MAX)
        verify_result_list_id(&j->unequal, id);
}

/* What the index lacks stays without a name. */
static bool name_some(struct verify_job *j, struct verify_run *run, struct err *err)
{
    struct search_hit *hits = NULL;
    size_t n = 0;

    if (!verify_read_hits(j, run, &hits, &n, err))
        return false;
    for (size_t i = 0; i < n; i++)
        name_hit(j, hits[i].id);

    const bool is_all = j->n_named == j->hashed.n;

    if ((n == 0 || is_all) && (verify_end_slice(j) || is_all)) {
        j->at.slice = 0;
        free(j->is_named);
        j->is_named = NULL;
    }
    return true;
}

/* ---- the pass ---- */

static bool look(struct verify_job *j, struct verify_run *run, struct err *err)
{
    const size_t n = verify_take_listed(j, run, &j->unequal);

    if (n == 0) {
        j->at.pass = VERIFY_LISTED;
        j->at.slice = 0;
        j->at.lost = j->n_lost - j->n_found;
        j->at.unnamed = j->hashed.n - j->n_named;
        return true;
    }
    j->at.slice += n;
    return verify_settle_all(j, run, run->keys, n, err);
}

bool verify_exchange_step(struct verify_job *j, struct err *err)
{
    if (j->co->trees == NULL)
        return err_set(err, ERR_REJECT, "no trees are kept, so there is nothing to compare");

    struct arena *a = arena_new();
    struct verify_run run;
    bool ok = verify_job_open(j, &run, a, err);

    if (ok && !j->is_exchanged)
        ok = compare_trees(j, &run, err);
    else if (ok)
        ok = j->is_named != NULL ? name_some(j, &run, err) : look(j, &run, err);
    verify_job_close(j, &run);
    arena_free(a);
    return ok;
}
