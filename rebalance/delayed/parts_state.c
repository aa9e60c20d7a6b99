#include "config.h"

#include "rebalance/delayed/parts.h"

#include "rebalance/build/stored_deletes.h"
#include "rebalance/dead_letter/letters.h"
#include "rebalance/dead_letter/replay.h"
#include "rebalance/fill/bucket.h"
#include "rebalance/fill/part.h"
#include "rebalance/state/pauses.h"

#include "src/base/clock.h"
#include "src/base/failpoint.h"
#include "src/store/store.h"
#include "sync/delivery/delivery.h"
#include "sync/routing/routing.h"

#define POLL_MS    20
#define DELETES_MS 10000 /* for the deletes of one version */

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

/* Nobody writes to the version any more, or the table is stopped and will be built again. */
static bool is_needless(const struct catalogue *c, const struct stored_job *job)
{
    for (size_t i = 0; i < c->n_versions; i++)
        if (c->versions[i].number == job->version &&
            str_equal(c->versions[i].index, job->index) && !catalogue_is_live(&c->versions[i]))
            return true;
    return catalogue_stop(c, job->table) != NULL;
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
        if (is_needless(c, &list[i]) || (is_done && is_told(&list[i], list, n)))
            ok = store_delete_job(r->co->opt.store, list[i].id, err);
        else
            count(out, c, &list[i]);
    }
    catalogue_unref(c);
    return ok;
}

/* ---- the end ---- */

static bool repeat(const struct delayed_run *r, struct stored_deletes *d, struct target *t,
                   struct err *err)
{
    const int64_t until_ms = clock_mono_ms() + DELETES_MS;

    do {
        if (!stored_deletes_go_on(d, t, &r->co->stop, err))
            return false;
        if (stored_deletes_are_done(d))
            return true;
    } while (clock_mono_ms() < until_ms && !stop_wait(&r->co->stop, POLL_MS));
    return err_set(err, ERR_RETRY, "index %s does not take deletes now; fix: millrace status",
                   t->index);
}

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
                   : repeat(r, d, t, err) && replay_letters(r, t->index, err);
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
        if (is_part(r, &list[i]) && !is_needless(c, &list[i]) && !is_told(&list[i], list, n))
            ok = end_version(r, &list[i], err);
    catalogue_unref(c);
    return ok;
}
