#include "config.h"

#include "rebalance/verify/job.h"

#include "rebalance/verify/part/changed_state.h"
#include "rebalance/verify/part/sample_state.h"

#include "src/base/clock.h"
#include "src/base/mem.h"
#include "sync/delivery/delivery.h"
#include "sync/read/stall_watchdog.h"

#include <stdlib.h>

#define QUEUE_MS 100 /* between looks at a full queue */

/* A text of the job's parameters; empty without one. */
static struct str text_of(struct verify_job *j, const char *pointer)
{
    struct buf text = {0};

    (void)json_find_text(j->job.parameters, pointer, &text);

    const struct str copy = arena_copy(j->arena, buf_str(&text));

    buf_free(&text);
    return copy;
}

/* As a person has named it, if only that one is compared. */
static struct str table_of(const struct verify_job *j)
{
    return j->of.len > 0 ? j->of : j->job.table;
}

struct verify_job *verify_job_new(struct coordinator *co, const struct stored_job *stored,
                                  uint64_t term)
{
    struct verify_job *j = mem_alloc(1, sizeof(*j));
    const struct str p = stored->parameters;
    struct buf since = {0};
    struct str keys;
    uint64_t sample = 0;

    j->magic = MAGIC_verify_job;
    j->co = co;
    j->term = term;
    j->arena = arena_new();
    j->job = (struct stored_job){.id = stored->id,
                                 .kind = arena_copy(j->arena, stored->kind),
                                 .index = arena_copy(j->arena, stored->index),
                                 .table = arena_copy(j->arena, stored->table),
                                 .version = stored->version,
                                 .buckets = 1,
                                 .parameters = arena_copy(j->arena, p),
                                 .error = STR(""),
                                 .created_ms = stored->created_ms};
    (void)json_find_bool(p, "/repair", &j->repair);
    (void)json_find_bool(p, "/yes", &j->yes);
    (void)json_find_bool(p, "/values", &j->values);
    (void)json_find_u64(p, "/rate", &j->rate);
    j->rewrites = str_equal(stored->kind, STR(JOB_REFRESH));
    if (json_find(p, "/keys", &keys))
        j->keys = arena_copy(j->arena, keys);
    (void)json_find_bool(p, "/for_trees", &j->for_trees);
    j->exchange = str_equal(stored->kind, STR(JOB_EXCHANGE));
    j->by_itself = j->exchange || str_equal(stored->kind, STR(JOB_COMPARE));
    if (json_find_u64(p, "/sample", &sample) && sample > 0)
        j->sample = verify_sample_new(sample);
    j->where = text_of(j, "/where");
    j->of = text_of(j, "/of");
    if (json_find_text(p, "/since", &since))
        j->changed = verify_changed_new(buf_str(&since));
    buf_free(&since);
    j->stop = &co->stop;
    buf_append(&j->cursor, stored->cursor);
    j->seen.remaining_s = -1;
    return j;
}

void verify_exchange_clear(struct verify_job *j)
{
    verify_result_free(&j->unequal);
    j->unequal = (struct verify_result){0};
    j->is_exchanged = false;
    key_set_fini(&j->hashed);
    j->hashed = (struct key_set){0};
    free(j->is_named);
    j->is_named = NULL;
    j->n_named = j->n_lost = j->n_found = 0;
}

void verify_job_free(struct verify_job *j)
{
    read_links_fini(&j->links);
    stall_watchdog_free(j->watchdog);
    pipeline_unref(j->links_of);
    verify_sample_free(j->sample);
    verify_changed_free(j->changed);
    verify_result_free(&j->result);
    verify_result_free(&j->open);
    verify_result_free(&j->wrong);
    verify_exchange_clear(j);
    key_set_fini(&j->noted);
    buf_free(&j->at.table);
    buf_free(&j->at.after);
    buf_free(&j->cursor);
    arena_free(j->arena);
    MAGIC_END(verify_job, j);
    free(j);
}

bool verify_job_open(struct verify_job *j, struct verify_run *run, struct arena *a,
                     struct err *err)
{
    *run = (struct verify_run){.co = j->co,
                               .stop = j->stop,
                               .arena = a,
                               .links = j->links,
                               .links_of = j->links_of,
                               .group = j->group};
    j->links = (struct read_links){0};
    j->links_of = NULL;
    run->of_build = j->of_build;
    if (!verify_run_begin(run, table_of(j), j->job.version, err))
        return false;
    run->links.own.opt.watchdog = j->watchdog;
    return true;
}

void verify_job_close(struct verify_job *j, struct verify_run *run)
{
    if (run->n_targets > 0)
        verify_report_of_run(&j->report, run);
    j->report.table = table_of(j);
    j->report.where = j->where;
    j->report.index = j->job.index;
    j->at.looks = run->n_looks > j->at.looks ? run->n_looks : j->at.looks;
    j->group = run->group;
    j->links = run->links;
    j->links_of = run->links_of;
    run->links = (struct read_links){0};
    run->links_of = NULL;
    verify_run_end(run);
}

/* What is above half of its mark; NULL: nothing. */
static const char *find_full(const struct verify_job *j)
{
    const struct delivery_settings most = delivery_get(j->co->delivery);
    const struct delivery_status now = delivery_status(j->co->delivery);

    if (now.bytes_held > most.bytes_max / 2)
        return "delivery.bytes";
    /* A mark of 0 has each caller wait, also the repair. */
    if (most.high_water_mark > 0 && now.backlog > most.high_water_mark / 2)
        return "delivery.high_water_mark";
    return NULL;
}

/* Repairs give way to the stream. That is no failure, however long it takes. */
static bool wait_for_queue(struct verify_job *j, struct err *err)
{
    struct err why = {0};

    for (const char *full; (full = find_full(j)) != NULL;) {
        err_set(&why, ERR_RETRY,
                "the repair waits until delivery holds no more than half of %s", full);
        j->show(j, &why);
        if (verify_job_makes_way(j))
            return err_set(err, ERR_RETRY, "another one is to run");
        if (stop_wait(j->stop, QUEUE_MS))
            return err_set(err, ERR_STOP, "stopping");
    }
    if (why.kind != ERR_NONE)
        j->show(j, NULL);
    return true;
}

/* A paused or held index takes nothing. That is no failure either. */
static bool wait_for_index(struct verify_job *j, const struct verify_run *run, struct err *err)
{
    struct err why = {0};
    struct hold hold;

    while (holds_find(j->co->holds, run->index, &hold) && hold.is.cure != CURE_SHARDS) {
        err_set(&why, ERR_RETRY,
                "index %" STR_FMT " takes nothing now: %s; fix: millrace status",
                STR_ARG(run->index), hold.is.why.msg);
        j->show(j, &why);
        if (verify_job_makes_way(j))
            return err_set(err, ERR_RETRY, "it is to end");
        if (stop_wait(j->stop, QUEUE_MS))
            return err_set(err, ERR_STOP, "stopping");
    }
    if (why.kind != ERR_NONE)
        j->show(j, NULL);
    return true;
}

/* Of the run's keys. */
static bool rewrite(struct verify_job *j, struct verify_run *run, struct err *err)
{
    return wait_for_queue(j, err) && wait_for_index(j, run, err) &&
           verify_run_rewrite(run, &j->result.rewritten, err);
}

bool verify_job_rewrite(struct verify_job *j, struct verify_run *run, struct verify_key *keys,
                        size_t n, struct err *err)
{
    bool ok = true;

    if (n == 0)
        return true;
    run->keys = keys;
    run->n_keys = n;
    ok = rewrite(j, run, err);
    run->keys = NULL;
    run->n_keys = 0;
    return ok;
}

static bool settle_group(struct verify_run *run, void *ctx, struct err *err)
{
    const struct verify_settling *how = ctx;

    if ((how->job->rewrites && !wait_for_index(how->job, run, err)) ||
        !verify_run_settle(run, err))
        return false;
    if (how->repair && verify_run_has_repairs(run) &&
        (!wait_for_queue(how->job, err) || !verify_run_repair(run, err)))
        return false;
    if (how->job->rewrites && !rewrite(how->job, run, err))
        return false;
    verify_trees_note_run(how->job, run);
    how->add(how->job, run->keys, run->n_keys);
    return true;
}

bool verify_job_settle(struct verify_settling how, struct verify_run *run,
                       struct verify_key *keys, size_t n, struct err *err)
{
    return verify_run_each_group(run, keys, n, settle_group, &how, err);
}

void verify_job_add(struct verify_job *j, const struct verify_key *keys, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        const bool is_open = keys[i].state != VERIFY_EQUAL && !keys[i].is_refused;

        verify_result_add(is_open ? &j->open : &j->result, &keys[i], j->values);
        if (is_open)
            verify_result_list_id(&j->open, keys[i].id);
    }
}
