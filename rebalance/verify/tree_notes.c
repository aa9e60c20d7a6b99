#include "config.h"

#include "rebalance/verify/job.h"

#include "rebalance/trees/trees.h"
#include "rebalance/trees/trees_exchange.h"
#include "rebalance/version/trees.h"

#include "src/base/failpoint.h"
#include "src/base/log.h"
#include "sync/delivery/delivery.h"
#include "sync/delivery/document/dirty_set.h"

#define DIRTY_MAX 4096 /* of one step; more make all of it suspect */

static void name_index(const struct verify_job *j, struct buf *out)
{
    buf_clear(out);
    coordinator_index_name(out, j->job.index, j->job.version);
}

/* ---- which comparisons feed trees ---- */

/* A comparison of all of a version that searches use, and that is to have trees now. */
static bool should_feed(const struct verify_job *j, const struct verify_run *run)
{
    struct catalogue *c = coordinator_catalogue(j->co);
    struct definitions *d = coordinator_definitions(j->co);
    const struct stored_version *v =
        catalogue_version(c, table_index(run->lead), STR("available"));
    const bool should = j->co->trees != NULL && !j->of_build && !verify_job_is_partial(j) &&
                        v != NULL && v->number == run->number &&
                        coordinator_wants_trees(j->co, d, v);

    definitions_unref(d);
    catalogue_unref(c);
    return should;
}

/* The version itself must have values as they were sent. */
static bool can_feed(const struct verify_run *run)
{
    return run->rules.compares_values && run->lead->sync_every_s == 0;
}

static uint64_t term_of(const struct verify_run *run)
{
    lock_acquire(&run->co->topics->lock);

    const struct topic *t = topics_find(run->co->topics, run->topic);
    const uint64_t term = t != NULL ? t->term : 0;

    lock_release(&run->co->topics->lock);
    return term;
}

static bool begin(const struct verify_job *j, const struct verify_run *run, struct err *err)
{
    if (!can_feed(run))
        return err_set(err, ERR_REJECT,
                       "the version was built by a definition whose documents cannot be "
                       "compared as values; fix: millrace index create %" STR_FMT,
                       STR_ARG(j->job.table));
    return trees_begin(j->co->trees, run->index, term_of(run), j->at.total, err);
}

bool verify_trees_begin(struct verify_job *j, const struct verify_run *run, struct err *err)
{
    struct err why = {0};

    if (!should_feed(j, run))
        return true;
    j->feeds = begin(j, run, &why);
    FAILPOINT(trees_begun);
    j->lacks_trees = !j->feeds;
    if (j->feeds)
        return true;
    j->no_trees = why;
    log_failure(LOG_WARN, &why, "anti-entropy trees cannot be made", KV("index", run->index));
    return !j->for_trees ||
           err_set(err, ERR_REJECT, "anti-entropy trees cannot be made: %s", why.msg);
}

/* Its topic, and so its pair, may have begun only after the job. */
static void go_on(struct verify_job *j, enum trees_state state)
{
    if (j->exchange)
        j->feeds = state == TREES_COMPLETE;
    else
        j->feeds = state == TREES_BUILDING && !j->of_build && !verify_job_is_partial(j) &&
                   (j->at.pass != VERIFY_ROWS || j->at.table.len > 0);
}

bool verify_trees_finish(struct verify_job *j)
{
    const bool is_over = j->at.pass == VERIFY_OVER;
    struct buf index = {0};

    if (!j->feeds)
        return !j->lacks_trees;
    FAILPOINT(trees_filled);
    name_index(j, &index);
    if (j->exchange && is_over)
        trees_exchanged(j->co->trees, buf_str(&index), j->at.unnamed);
    else if (!j->exchange && is_over)
        j->lacks_trees = !trees_complete(j->co->trees, buf_str(&index));
    else if (!j->exchange)
        trees_end(j->co->trees, buf_str(&index));
    buf_free(&index);
    return !j->lacks_trees;
}

/* ---- what they tell ---- */

/* It is only for trees, and nothing was found yet that is worth telling. */
static bool has_lost_trees(const struct verify_job *j, enum trees_state state)
{
    return j->for_trees && j->has_stepped && (!j->feeds || state == TREES_NONE) &&
           j->open.n_ids == 0 && j->result.repaired == 0;
}

bool verify_trees_begin_step(struct verify_job *j, struct err *err)
{
    struct buf index = {0};

    name_index(j, &index);

    const enum trees_state state = trees_look(j->co->trees, buf_str(&index)).state;

    if (!j->has_stepped)
        go_on(j, state);
    if (has_lost_trees(j, state)) {
        j->lacks_trees = true;
        err_set(err, ERR_REJECT, "the trees that this comparison fills were lost");
    } else if (j->feeds && (j->at.pass != VERIFY_EXCHANGE || j->is_exchanged)) {
        j->dirty = dirty_set_new(index.ptr, DIRTY_MAX);
        delivery_watch(j->co->delivery, j->dirty);
    }
    buf_free(&index);
    return err->kind == ERR_NONE;
}

/*
 * What was submitted during the step may be newer than what the step has told, and may have
 * been told before it.
 */
void verify_trees_end_step(struct verify_job *j)
{
    struct buf index = {0};

    if (j->dirty == NULL)
        return;
    delivery_unwatch(j->co->delivery, j->dirty);
    dirty_set_close(j->dirty);
    name_index(j, &index);

    const struct key_set *ids = dirty_set_ids(j->dirty);
    const bool is_all = dirty_set_more(j->dirty) > 0;

    for (uint32_t i = 0; i < j->noted.n; i++) {
        const struct str id = key_set_get(&j->noted, i);

        if (is_all || key_set_find(ids, id) != KEY_SET_NONE)
            trees_note_both(j->co->trees, buf_str(&index), false, TREE_READ_AGAIN, id);
    }
    key_set_fini(&j->noted);
    j->noted = (struct key_set){0};
    dirty_set_free(j->dirty);
    j->dirty = NULL;
    buf_free(&index);
}

static void note(struct verify_job *j, bool is_gone, uint64_t hash, struct str id)
{
    struct buf index = {0};

    if (j->dirty == NULL)
        return;
    name_index(j, &index);
    key_set_add(&j->noted, id);
    trees_note_both(j->co->trees, buf_str(&index), is_gone, hash, id);
    buf_free(&index);
}

void verify_trees_note_equal(struct verify_job *j, struct str id, struct str routing,
                             struct str body)
{
    struct buf index = {0};

    if (j->dirty == NULL)
        return;
    name_index(j, &index);
    note(j, false, trees_value(j->co->trees, buf_str(&index), routing, body), id);
    buf_free(&index);
}

void verify_trees_note_suspect(struct verify_job *j, struct str id)
{
    note(j, false, TREE_READ_AGAIN, id);
}

static void note_key(struct verify_job *j, const struct verify_key *k)
{
    const struct verify_look *look = &k->look;
    /* Where nobody follows what differs, what the engine has is as good as the row. */
    const bool is_old =
        k->state == VERIFY_APART && k->reason == VERIFY_NOT_FOLLOWED && look->n_copies == 1;

    if (is_old)
        verify_trees_note_equal(j, k->id, look->copies[0].routing, look->copies[0].source);
    else if (k->state != VERIFY_EQUAL)
        verify_trees_note_suspect(j, k->id);
    else if (look->is_wanted)
        verify_trees_note_equal(j, k->id, look->routing, look->body);
    else
        note(j, true, TREE_READ_AGAIN, k->id);
}

void verify_trees_note_run(struct verify_job *j, const struct verify_run *run)
{
    for (size_t i = 0; j->dirty != NULL && i < run->n_keys; i++)
        note_key(j, &run->keys[i]);
}
