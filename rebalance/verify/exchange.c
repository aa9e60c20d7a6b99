#include "config.h"

#include "rebalance/verify/job.h"

#include "rebalance/trees/tree_compare.h"
#include "rebalance/trees/trees.h"
#include "rebalance/version/trees.h"

#include "src/base/log.h"
#include "sync/checkpoint/read_position.h"
#include "sync/delivery/delivery.h"
#include "sync/delivery/document/dirty_set.h"

#define DRAIN_MS  10000
#define DIRTY_MAX 4096 /* of one step; more make all of it suspect */

static void name_index(const struct verify_job *j, struct buf *out)
{
    buf_clear(out);
    coordinator_index_name(out, j->job.index, j->job.version);
}

/* ---- which comparisons feed trees ---- */

/* A comparison of a version that searches use, of values as they were sent. */
static bool may_feed(const struct verify_job *j, const struct verify_run *run)
{
    struct catalogue *c = coordinator_catalogue(j->co);
    const struct stored_version *v =
        catalogue_version(c, table_index(run->lead), STR("available"));
    const bool may = !j->of_build && !verify_job_is_partial(j) && v != NULL &&
                     v->number == run->number && run->rules.compares_values &&
                     run->lead->sync_every_s == 0 &&
                     coordinator_wants_trees(j->co, run->definitions, v);

    catalogue_unref(c);
    return may;
}

static uint64_t term_of(const struct verify_run *run)
{
    lock_acquire(&run->co->topics->lock);

    const struct topic *t = topics_find(run->co->topics, run->topic);
    const uint64_t term = t != NULL ? t->term : 0;

    lock_release(&run->co->topics->lock);
    return term;
}

void verify_trees_begin(struct verify_job *j, const struct verify_run *run)
{
    struct err err = {0};

    if (!may_feed(j, run))
        return;
    j->feeds = trees_begin(j->co->trees, run->index, term_of(run), j->at.total, &err);
    if (!j->feeds)
        log_failure(LOG_WARN, &err, "anti-entropy trees cannot be made",
                    KV("index", run->index));
}

void verify_trees_go_on(struct verify_job *j)
{
    struct buf index = {0};

    name_index(j, &index);

    const enum trees_state state = trees_look(j->co->trees, buf_str(&index)).state;

    buf_free(&index);
    if (j->exchange)
        j->feeds = state == TREES_COMPLETE;
    else
        j->feeds = state == TREES_BUILDING && !j->of_build && !verify_job_is_partial(j) &&
                   (j->at.pass != VERIFY_ROWS || j->at.table.len > 0);
}

void verify_trees_finish(struct verify_job *j)
{
    struct buf index = {0};

    if (!j->feeds)
        return;
    name_index(j, &index);
    if (j->exchange)
        trees_exchanged(j->co->trees, buf_str(&index));
    else if (j->at.pass != VERIFY_OVER)
        trees_end(j->co->trees, buf_str(&index));
    else if (!trees_complete(j->co->trees, buf_str(&index)))
        log_info("the anti-entropy trees that a comparison filled are gone",
                 KV("index", buf_str(&index)));
    buf_free(&index);
}

/* ---- what they tell ---- */

void verify_trees_begin_step(struct verify_job *j)
{
    struct buf index = {0};

    if (j->feeds && j->at.pass != VERIFY_EXCHANGE) {
        name_index(j, &index);
        j->dirty = dirty_set_new(index.ptr, DIRTY_MAX);
        delivery_watch(j->co->delivery, j->dirty);
    }
    buf_free(&index);
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

/* ---- an exchange ---- */

/* What the comparison of two trees has found. */
struct found {
    struct verify_job *j;
    bool is_hashed; /* of a document that differs nobody knows the id */
};

static bool list_one(void *ctx, enum tree_difference what, const struct tree_id *id,
                     struct err *err)
{
    struct found *f = ctx;
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
static bool compare(struct verify_job *j, struct str index, struct found *f, struct err *err)
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
    struct found f = {.j = j};
    struct buf index = {0};
    bool ok = j->co->trees != NULL ||
              err_set(err, ERR_REJECT, "index.trees is off, so there is nothing to compare");

    name_index(j, &index);
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
