#include "config.h"

#include "rebalance/delayed/parts.h"

#include "rebalance/build/stored_deletes.h"
#include "rebalance/dead_letter/letters.h"
#include "rebalance/dead_letter/replay.h"
#include "rebalance/fill/bucket.h"
#include "rebalance/fill/part.h"
#include "rebalance/state/pauses.h"
#include "sync/definition/delayed.h"

#include "src/base/clock.h"
#include "src/base/failpoint.h"
#include "src/store/store.h"
#include "sync/delivery/delivery.h"
#include "sync/routing/routing.h"

#define DELETES_MS 10000 /* until more deletes of a version are taken */

/* Of this run: a topic has one. */
static bool is_part(const struct delayed_run *r, const struct stored_job *job)
{
    struct buf topic = {0};
    const bool is = str_equal(job->kind, STR(JOB_PART)) &&
                    json_find_text(job->parameters, "/part/note/topic", &topic) &&
                    str_equal(buf_str(&topic), r->owner.topic);

    buf_free(&topic);
    return is;
}

bool parts_is_needless(const struct catalogue *c, const struct stored_job *job)
{
    const struct stored_version *v = catalogue_number(c, job->index, job->version);

    if (v == NULL)
        return false;
    return !catalogue_is_live(v) ||
           (str_equal(v->state, STR("available")) ? catalogue_stop(c, job->table) != NULL
                                                  : catalogue_is_coming(v) && v->error.len > 0);
}

/* Of those of a version that are done, only the oldest says something that is still needed. */
static bool is_told_by(const struct stored_job *job, const struct stored_job *other)
{
    return other != job && str_equal(other->kind, STR(JOB_PART)) &&
           str_equal(other->state, STR(BUCKET_DONE)) && other->version == job->version &&
           str_equal(other->index, job->index) &&
           (part_start(other) < part_start(job) ||
            (part_start(other) == part_start(job) && other->id < job->id));
}

static bool is_told(const struct stored_job *job, const struct stored_job *list, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (is_told_by(job, &list[i]))
            return true;
    return false;
}

/* Whether it asks a top relation that is gone. */
static bool is_lost(const struct delayed_run *r, const struct stored_job *job,
                    struct fill_part *part)
{
    struct top_relation ignored;
    struct str text;

    *part = (struct fill_part){.place = 0};
    return !str_equal(job->state, STR(BUCKET_DONE)) &&
           json_find(job->parameters, "/part", &text) && part_read(text, part) &&
           part->by_level && !coordinator_find_top(r->co, part, r->arena, &ignored);
}

/* Put what the relations lead to instead, and then forget it: twice does no harm. */
static bool replace(const struct delayed_run *r, const struct stored_job *job,
                    const struct fill_part *part, struct err *err)
{
    const struct stored_snapshot page = {.table = buf_str(&part->table),
                                         .version = part->note.own.version};
    const struct stored_fan_out lead = {.topic = r->owner.topic,
                                        .index = job->index,
                                        .version = job->version,
                                        .member = job->table};
    struct snapshot_run at = r->at;
    const struct spread *s;
    struct parts parts;
    bool ok;

    at.from_id = at.after_id;
    parts_init(&parts, r, &page, 1);
    parts.n_nodes =
        parts.n_nodes < 2 ? 2 : parts.n_nodes; /* a node left alone takes parts as well */
    ok = parts_find(&parts, &lead, &s, err);
    if (ok && s != NULL) {
        parts_add_otherwise(&parts, s, part);
        parts_finish(&parts);

        const struct snapshot_release what = {.parts = parts.list, .n_parts = parts.n};

        ok = store_release_snapshots(r->co->opt.store, &r->owner, &at, &what, err) &&
             store_forget_part(r->co->opt.store, &r->owner, job->id, err);
    }
    parts_fini(&parts);
    return ok;
}

static bool see(const struct delayed_run *r, const struct stored_job *job, struct err *err)
{
    struct fill_part part;
    const bool ok = !is_lost(r, job, &part) ||
                    (store_load_part_keys(r->co->opt.store, job->id, &part.keys, err) &&
                     replace(r, job, &part, err));

    part_fini(&part);
    return ok;
}

static void count(struct parts_state *s, const struct catalogue *c,
                  const struct stored_job *job)
{
    const bool is_done = str_equal(job->state, STR(BUCKET_DONE));

    s->n_done += is_done;
    s->n_open += !is_done;
    if (!is_done && job->error.len > 0)
        s->why = job->error;
    if (!is_done && catalogue_pause(c, PAUSE_INDEX, job->index) != NULL)
        s->why = STR("its index is paused; fix: millrace index resume");
}

bool parts_look(const struct delayed_run *r, struct parts_state *out, struct err *err)
{
    struct catalogue *c = coordinator_catalogue(r->co);
    struct stored_job *list;
    size_t n = 0;
    bool ok = store_load_jobs(r->co->opt.store, r->arena, &list, &n, err);

    *out = (struct parts_state){.why = STR("")};
    for (size_t i = 0; ok && i < n; i++) {
        const bool is_done = str_equal(list[i].state, STR(BUCKET_DONE));

        if (!is_part(r, &list[i]))
            continue;
        if (parts_is_needless(c, &list[i]) || (is_done && is_told(&list[i], list, n)))
            ok = store_forget_part(r->co->opt.store, &r->owner, list[i].id, err);
        else if (see(r, &list[i], err))
            count(out, c, &list[i]);
        else
            ok = false;
    }
    catalogue_unref(c);
    return ok;
}

/* ---- the end ---- */

/*
 * Delivery here knew nothing of the dead letters of other nodes when it wrote their documents
 * later, nor they of ours.
 */
static bool replay_letters(const struct delayed_run *r, const char *index, struct err *err)
{
    return coordinator_note_letters(r->co, r->owner.topic, err) &&
           coordinator_want_replay(r->co, str_from(index), err);
}

static bool end_version(const struct delayed_run *r, const struct stored_job *job,
                        struct err *err)
{
    struct buf index = {0};
    struct stored_deletes *d;
    struct target *t;
    bool ok;

    coordinator_index_name(&index, job->index, job->version);
    t = pipeline_target(r->pipeline, buf_str(&index), job->table);
    d = stored_deletes_new(r->co->opt.store, r->co->delivery, index.ptr, part_start(job));
    ok = t == NULL ? err_set(err, ERR_RETRY,
                             "index %s is not followed now; fix: millrace status", index.ptr)
                   : stored_deletes_repeat(d, t, &r->co->stop, DELETES_MS, err) &&
                         replay_letters(r, t->index, err);
    target_unref(t);
    stored_deletes_free(d);
    buf_free(&index);
    return ok;
}

bool parts_end(const struct delayed_run *r, struct err *err)
{
    struct catalogue *c = coordinator_catalogue(r->co);
    struct stored_job *list;
    size_t n = 0;
    bool ok = store_load_jobs(r->co->opt.store, r->arena, &list, &n, err);

    FAILPOINT(parts_done);
    for (size_t i = 0; ok && i < n; i++)
        if (is_part(r, &list[i]) && !parts_is_needless(c, &list[i]) &&
            !is_told(&list[i], list, n))
            ok = end_version(r, &list[i], err);
    catalogue_unref(c);
    return ok;
}
