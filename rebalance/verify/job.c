#include "config.h"

#include "rebalance/verify/job.h"

#include "rebalance/state/owned.h"
#include "rebalance/trees/trees.h"
#include "rebalance/verify/changed.h"
#include "rebalance/verify/compared.h"
#include "rebalance/verify/part/changed_state.h"
#include "rebalance/verify/part/sample_state.h"
#include "rebalance/verify/reports.h"
#include "rebalance/version/marks.h"
#include "rebalance/version/trees.h"

#include "src/base/clock.h"
#include "src/base/failpoint.h"
#include "src/base/log.h"
#include "sync/read/stall_watchdog.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define SAVE_MS    1000
#define RETRY_MS   1000
#define WAY_MS     200   /* between looks whether the job must make way */
#define GIVE_UP_MS 30000 /* without a step that was done */

/* ---- what others see ---- */

static uint64_t count_done(const struct verify_job *j)
{
    return j->at.rows + j->at.hits + j->slice_hits;
}

/* Both sides are read; of a large index, a sample reads a half of each. */
static uint64_t count_all(const struct verify_job *j)
{
    const uint64_t asked = verify_sample_asked(j->sample);

    if (j->where.len > 0 || j->keys.len > 0 || j->exchange)
        return j->at.total;
    return asked > 0 && asked < j->at.total ? asked : j->at.total * 2;
}

static void show(struct verify_job *j, const struct err *why)
{
    const uint64_t total = count_all(j);
    const uint64_t done = j->keys.len > 0 ? j->at.slice : count_done(j);
    struct verify_progress seen = {.pass = j->at.pass, .done = done};

    job_pace_update(&j->pace, done, clock_mono_ms());
    seen.total = total > done ? total : done;
    seen.rate = j->pace.rate;
    seen.remaining_s = job_remaining_s(&j->pace, done, seen.total);
    seen.why = why != NULL ? *why : (struct err){0};
    verify_jobs_show(j->co->verifies, j, &seen);
}

/* ---- the cursor ---- */

static bool save(struct verify_job *j, struct err *err)
{
    struct stored_job job = j->job;

    if (j->feeds)
        trees_flush(j->co->trees);
    job.cursor = buf_str(&j->cursor);
    job.state = STR("running");
    job.rows_done = j->at.rows + j->at.hits;
    job.rows_total = count_all(j);
    job.updated_ms = clock_wall_ms();
    j->saved_ms = clock_mono_ms();
    return store_save_job(j->co->opt.store, j->term, &job, err);
}

/*
 * Whether a job that begins again here would find and count the same: not within a slice, nor a
 * sample, which is taken anew.
 */
static bool is_safe_place(const struct verify_job *j)
{
    return !j->pages_open && j->at.pass != VERIFY_SAMPLE && j->at.pass != VERIFY_EXCHANGE;
}

static bool note_step(struct verify_job *j, struct err *err)
{
    const uint64_t far = count_done(j) + j->at.slice;

    /* What is done again after a failure is no progress. */
    if (far > j->far || j->at.pass != j->far_pass) {
        j->failing_ms = 0;
        j->far = far;
        j->far_pass = j->at.pass;
    }
    show(j, NULL);
    if (!is_safe_place(j))
        return true;
    verify_cursor_write(j);
    if (j->of_build || clock_mono_ms() - j->saved_ms < SAVE_MS)
        return true;

    const bool ok = save(j, err);

    FAILPOINT(verify_saved);
    return ok;
}

/* ---- steps ---- */

/* What is repaired is told also by who goes on after a kill, and finds it equal. */
static bool store_before_repair(struct verify_job *j, struct err *err)
{
    if (j->at.pass == VERIFY_REPAIR && !j->repair_is_stored && !j->of_build)
        j->repair_is_stored = save(j, err);
    return j->at.pass != VERIFY_REPAIR || j->repair_is_stored || j->of_build;
}

/* A page may take hours where few rows meet a condition, but not at a server that hangs. */
static bool watched(struct verify_job *j, bool (*work)(struct verify_job *j, struct err *err),
                    struct err *err)
{
    if (j->watchdog == NULL)
        return work(j, err);
    stall_watchdog_begin(j->watchdog);

    const bool ok = work(j, err);

    if (!stall_watchdog_end(j->watchdog))
        return ok;
    read_links_close(&j->links);
    return ok || err_set(err, ERR_RETRY,
                         "a server that rows of %" STR_FMT " are read from does not answer; "
                         "fix: millrace status says which",
                         STR_ARG(j->job.table));
}

static bool step(struct verify_job *j, struct err *err)
{
    static bool (*const steps[N_VERIFY_PASSES])(struct verify_job * j, struct err * err) = {
        [VERIFY_ROWS] = verify_rows_step,       [VERIFY_DOCUMENTS] = verify_documents_step,
        [VERIFY_LISTED] = verify_listed_step,   [VERIFY_SAMPLE] = verify_sample_step,
        [VERIFY_CHANGED] = verify_changed_step, [VERIFY_EXCHANGE] = verify_exchange_step,
        [VERIFY_REPAIR] = verify_listed_step,
    };

    if (!verify_trees_begin_step(j, err) || !store_before_repair(j, err))
        return false;

    const bool ok = watched(j, steps[j->at.pass], err);

    verify_trees_end_step(j);
    j->has_stepped = j->has_stepped || ok;
    return ok && note_step(j, err);
}

/* What it has repaired is told all the same. */
static bool has_made_way(const struct verify_job *j)
{
    return j->made_way && j->result.repaired == 0;
}

/* Wait until the rate allows what the last step has read. */
static void pay(struct verify_job *j, uint64_t before)
{
    const int64_t now_ms = clock_mono_ms();
    const int64_t until_ms =
        now_ms + job_limit_take(&j->limit, j->rate, count_done(j) - before, now_ms);

    for (int64_t ms; (ms = until_ms - clock_mono_ms()) > 0 && !verify_job_makes_way(j);)
        if (stop_wait(j->stop, ms < WAY_MS ? ms : WAY_MS))
            return;
}

/* Begin again from the last cursor after a while. Returns false if that is of no use. */
static bool survive(struct verify_job *j, const struct err *err)
{
    verify_documents_close(j);
    read_links_close(&j->links); /* the server may have ended them */
    sample_clear(j->sample);
    verify_cursor_read(j);
    if (j->at.pass == VERIFY_EXCHANGE)
        verify_exchange_clear(j);
    show(j, err);
    if (verify_job_makes_way(j)) /* its read was interrupted */
        return true;
    if (j->failing_ms == 0)
        j->failing_ms = clock_mono_ms();
    if (err->kind == ERR_STOP || err->kind == ERR_REJECT || err->kind == ERR_FATAL ||
        clock_mono_ms() - j->failing_ms > GIVE_UP_MS)
        return false;
    return !stop_wait(j->stop, RETRY_MS);
}

static bool is_ours(const struct verify_job *j, struct err *err)
{
    return coordinator_owns_version(j->co, j->job.index, j->job.version) ||
           err_set(err, ERR_STOP, "another node has taken its topic");
}

static void run_steps(struct verify_job *j, struct err *err)
{
    while (j->at.pass != VERIFY_OVER && !stop_is_set(j->stop)) {
        const uint64_t before = count_done(j);

        *err = (struct err){0};
        if (!is_ours(j, err))
            return;
        if (verify_job_is_cancelled(j)) {
            err_set(err, ERR_REJECT, "a person has cancelled it");
            return;
        }
        if (verify_job_makes_way(j)) {
            j->made_way = true;
            err_set(err, ERR_RETRY, "a person has asked for a verification of this index");
            return;
        }
        if (step(j, err))
            pay(j, before);
        else if (!survive(j, err))
            return;
    }
}

/* ---- the end ---- */

/* A repair that was not begun says why, and what to do. */
static void say_why_not_repaired(const struct verify_job *j, struct buf *why)
{
    if (j->is_refused && j->result.differing > j->result.counts[VERIFY_LINEAGE])
        buf_printf(why,
                   "%" PRIu64 " of %" PRIu64 " documents differ, which is more than 5 %% or "
                   "%d, so none of them was changed; fix: if the rows are as they should be, "
                   "millrace verify %" STR_FMT " --repair --yes",
                   j->result.differing, j->result.documents, VERIFY_CHANGED_MAX,
                   STR_ARG(j->job.table));
}

/* What was compared to its end, and as a whole, is the index's last comparison. */
static bool keep_compared(struct verify_job *j, struct err *err)
{
    struct buf name = {0}, json = {0};

    if (j->at.pass != VERIFY_OVER || verify_job_is_partial(j))
        return true;
    buf_append(&name, STR(STORE_COMPARED));
    coordinator_index_name(&name, j->job.index, j->job.version);
    compared_append(&j->result, clock_wall_ms(), &json);

    const bool ok = store_put_value(j->co->opt.store, buf_str(&name), buf_str(&json), err);

    buf_free(&name);
    buf_free(&json);
    return ok;
}

/* A check that found all equal, or made it so, is where the next one begins. */
static bool keep_checked(struct verify_job *j, struct err *err)
{
    return j->changed == NULL || j->at.pass != VERIFY_OVER ||
           strcmp(verify_result_verdict(&j->result), "equal") != 0 ||
           (verify_changed_keep(j, err) &&
            coordinator_note_run(j->co, RUN_CHECK, j->job.table, err));
}

/* Only trees were wanted, and there can be none: nothing was compared. */
static bool is_for_nothing(const struct verify_job *j)
{
    return j->for_trees && j->lacks_trees && j->at.pass != VERIFY_OVER &&
           j->result.repaired == 0;
}

/* An exchange that has found nothing is one of very many; what made way found nothing yet. */
static bool is_told(const struct verify_job *j)
{
    if (has_made_way(j) || is_for_nothing(j))
        return false;
    return !j->exchange ||
           (j->at.pass == VERIFY_OVER && (j->result.differing > 0 || j->result.repaired > 0));
}

static bool end_well(struct verify_job *j, struct str report, struct err *err)
{
    if (!keep_compared(j, err) || !keep_checked(j, err) ||
        (is_told(j) && !verify_reports_keep(j->co, j->job.id, report, err)))
        return false;
    FAILPOINT(verify_reported);
    return store_delete_job(j->co->opt.store, j->job.id, err);
}

/* The mark of an index is taken away by what compares all of it and finds it equal. */
static void end_mark(struct verify_job *j)
{
    const bool is_equal = j->at.pass == VERIFY_OVER && !verify_job_is_partial(j) &&
                          strcmp(verify_result_verdict(&j->result), "equal") == 0;
    struct buf index = {0};
    struct err err = {0};

    coordinator_index_name(&index, j->job.index, j->job.version);
    if (!coordinator_end_mark(j->co, buf_str(&index), j->job.id, is_equal, &err))
        log_failure(LOG_WARN, &err, "the mark of a verified index stays",
                    KV("index", j->job.index));
    buf_free(&index);
}

/* Whoever may not change as much as differs leaves that to a person. */
static void mark_many(struct verify_job *j)
{
    struct buf index = {0}, table = {0}, reason = {0};
    struct err err = {0};

    coordinator_index_name(&index, j->job.index, j->job.version);
    buf_append(&table, j->job.table);
    buf_printf(&reason,
               "%s found %" PRIu64 " of %" PRIu64 " %s different, which is more than it may "
               "repair",
               j->changed != NULL ? "a check"
               : j->exchange      ? "an exchange of trees"
                                  : "a comparison",
               j->result.differing, j->result.documents,
               j->changed != NULL ? "changed rows" : "documents");

    struct target t = {.index = index.ptr, .table = table.ptr};

    if (!coordinator_mark_index(j->co, &t, reason.ptr, &err))
        log_failure(LOG_WARN, &err, "could not mark the index that was found different",
                    KV("index", j->job.index));
    buf_free(&index);
    buf_free(&table);
    buf_free(&reason);
}

/* What differs in a version that is gone may be why: its table has another shape. */
static bool is_version_gone(const struct verify_job *j)
{
    struct catalogue *c = coordinator_catalogue(j->co);
    const struct stored_version *v = catalogue_number(c, j->job.index, j->job.version);
    const bool is_gone =
        !j->of_build &&
        (v == NULL || (!str_equal(v->state, STR("available")) && !catalogue_is_kept(v)));

    catalogue_unref(c);
    return is_gone;
}

/* Of a list that was looked at in part, the rest may have changed since. */
static void take_open(struct verify_job *j)
{
    const uint64_t n_left = j->open.n_ids > j->at.slice ? j->open.n_ids - j->at.slice : 0;

    verify_result_merge(&j->result, &j->wrong);
    if (j->at.pass == VERIFY_LISTED && j->at.slice > 0) {
        j->result.documents += n_left;
        j->result.apart[VERIFY_CHANGING] += n_left;
    } else {
        verify_result_merge(&j->result, &j->open);
    }
}

void verify_job_report(struct verify_job *j, const struct err *failure, struct buf *why,
                       struct buf *report)
{
    if (j->at.pass != VERIFY_OVER)
        buf_append(why, str_from(failure->msg));
    else
        say_why_not_repaired(j, why);
    if (j->at.pass != VERIFY_OVER && !is_version_gone(j))
        take_open(j);
    j->report.why = buf_str(why);
    j->report.job = j->job.id;
    j->report.sample = verify_sample_asked(j->sample);
    if (j->changed != NULL)
        j->report.checked = buf_str(&j->changed->tables);
    j->report.from = j->at.from;
    j->report.began_ms = j->at.began_ms;
    j->report.looks = (unsigned)j->at.looks;
    verify_report_append(&j->report, &j->result, report);
}

/* What was read for trees that were lost is not read again before as much time has passed. */
static void put_off(const struct verify_job *j, struct str index)
{
    struct definitions *d = coordinator_definitions(j->co);
    const struct compare_settings s = coordinator_compare_settings(j->co, d, j->job.index);
    const int64_t ran_ms = j->lacks_trees ? clock_mono_ms() - j->started_ms : 0;
    const int64_t ms = verify_jobs_again_ms(j->exchange ? s.exchange_every_ms : s.every_ms);

    verify_jobs_put_off(j->co->verifies, index, ms > ran_ms ? ms : ran_ms);
    definitions_unref(d);
}

/* When the next one comes by itself, and whether the index can have trees. */
static void note_end(struct verify_job *j, bool is_marked, const struct err *failure)
{
    const bool has_trees = verify_trees_finish(j), is_over = j->at.pass == VERIFY_OVER;
    struct buf index = {0};
    struct err why = j->no_trees;

    coordinator_index_name(&index, j->job.index, j->job.version);
    if (is_marked)
        err_set(&why, ERR_REJECT,
                "too many documents differ; fix: if the rows are as they should be, "
                "millrace verify %" STR_FMT " --repair --yes",
                STR_ARG(j->job.table));
    else if (!has_trees && why.kind == ERR_NONE)
        err_set(&why, ERR_REJECT,
                "they were lost while a comparison filled them; fix: millrace verify %" STR_FMT
                " makes them",
                STR_ARG(j->job.table));
    if (is_marked || (!verify_job_is_partial(j) && (is_over || !has_trees)))
        verify_jobs_note_whole(j->co->verifies, buf_str(&index),
                               has_trees && !is_marked ? NULL : &why);
    else if (!is_over && !verify_job_is_partial(j) && !has_made_way(j))
        verify_jobs_note_ended(j->co->verifies, buf_str(&index), failure);
    if (!has_trees || (j->by_itself && !is_over && !has_made_way(j)))
        put_off(j, buf_str(&index));
    buf_free(&index);
}

static void note_exchange(const struct verify_job *j, const struct err *failure)
{
    const bool is_over = j->at.pass == VERIFY_OVER;
    struct buf index = {0};

    coordinator_index_name(&index, j->job.index, j->job.version);
    verify_jobs_note_exchange(j->co->verifies, buf_str(&index), is_over ? &j->result : NULL,
                              j->at.lost, failure);
    if (!is_over)
        log_failure(LOG_WARN, failure, "an exchange of trees is put off",
                    KV("table", j->job.table), KV("index", j->job.index));
    buf_free(&index);
}

static void note_repairs(const struct verify_job *j)
{
    struct buf index = {0};

    if (!j->exchange && j->changed == NULL)
        return;
    coordinator_index_name(&index, j->job.index, j->job.version);
    verify_jobs_note_repairs(j->co->verifies, buf_str(&index),
                             j->exchange ? REPAIRER_EXCHANGE : REPAIRER_CHECK, &j->result);
    buf_free(&index);
}

static void finish(struct verify_job *j, const struct err *failure)
{
    struct buf report = {0}, why = {0};
    struct err err = {0};

    if (j->exchange)
        FAILPOINT(exchange_ended);
    verify_job_report(j, failure, &why, &report);
    end_mark(j);

    const bool is_marked = j->at.pass == VERIFY_OVER && why.len > 0;

    if (is_marked)
        mark_many(j);
    note_repairs(j);
    while (!end_well(j, buf_str(&report), &err) && err.kind == ERR_RETRY)
        if (stop_wait(j->stop, RETRY_MS))
            break;
    if (j->exchange && !has_made_way(j))
        note_exchange(j, failure);
    note_end(j, is_marked, failure);
    log_info("a verification has ended", KV("table", j->job.table), KV("job", j->job.id),
             KV("differing", j->result.differing), KV("repaired", j->result.repaired));
    if (is_told(j))
        coordinator_log(j->co, j->job.table, j->job.index, j->job.version,
                        j->rewrites ? "refreshed" : "verified",
                        why.len > 0 ? why.ptr : verify_result_verdict(&j->result));
    store_watch_read(j->co->store_watch);
    buf_free(&report);
    buf_free(&why);
}

/* They go through the looks at once, as what was not found equal does at the end. */
static void list_keys(struct verify_job *j)
{
    struct json_reader r;

    json_reader_init(&r, j->keys);
    if (j->keys.len == 0 || !json_enter_array(&r))
        return;
    while (json_next_element(&r)) {
        struct buf id = {0};

        if (json_read_text(&r, &id))
            verify_result_list_id(&j->open, buf_str(&id));
        buf_free(&id);
    }
    j->at.total = j->open.n_ids;
}

static enum verify_pass first_pass(const struct verify_job *j)
{
    if (j->keys.len > 0)
        return VERIFY_LISTED;
    if (j->changed != NULL)
        return VERIFY_CHANGED;
    if (j->exchange)
        return VERIFY_EXCHANGE;
    return j->sample != NULL ? VERIFY_SAMPLE : VERIFY_ROWS;
}

void verify_job_run(struct verify_job *j, struct err *err)
{
    if (j->cursor.len == 0) {
        j->at.began_ms = clock_wall_ms();
        j->at.pass = first_pass(j);
        list_keys(j);
        verify_cursor_write(j);
    } else {
        verify_cursor_read(j);
    }
    j->started_ms = clock_mono_ms();
    j->show = show;
    run_steps(j, err);
    verify_documents_close(j);
}

void *verify_job_main(void *arg)
{
    struct verify_job *j = MAGIC_CAST(verify_job, arg);
    struct coordinator *co = j->co;
    struct err err = {0};

    verify_job_run(j, &err);

    /* Whoever has its topic goes on with it. */
    const bool is_others = !is_ours(j, &err) || (err.kind == ERR_STOP && !is_version_gone(j));

    if (!is_others && !stop_is_set(j->stop))
        finish(j, &err);
    verify_jobs_end(co->verifies, j);
    if (is_others)
        __atomic_store_n(&co->verifies_run, false, __ATOMIC_RELEASE);
    stop_nudge(&co->stop);
    return NULL;
}
