#include "config.h"

#include "rebalance/replay/job.h"

#include "rebalance/replay/parts.h"
#include "rebalance/state/owned.h"
#include "rebalance/verify/reports.h"

#include "src/base/clock.h"
#include "src/base/failpoint.h"
#include "src/base/log.h"
#include "src/format/zone.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#define RETRY_MS   1000
#define GIVE_UP_MS 600000 /* of failures without any progress */

/* ---- the phases ---- */

static bool count(struct replay *r, struct err *err)
{
    int64_t after;

    return replay_keys_get_number(r->keys, "write", &after, err) &&
           replay_keys_count(r->keys, INT64_MAX, &r->documents, err) &&
           replay_keys_count(r->keys, after, &r->written, err);
}

static bool open_keys(struct replay *r, struct err *err)
{
    struct buf folder = {0};
    int64_t phase = 0;

    buf_printf(&folder, "%s/replay", r->co->opt.data_dir);

    const bool ok = replay_keys_open(folder.ptr, r->job.id, &r->keys, err) &&
                    replay_keys_get_number(r->keys, "phase", &phase, err) &&
                    replay_keys_get(r->keys, "notes", &r->notes, err) && count(r, err);

    r->phase = phase < 0 || phase >= N_REPLAY_PHASES ? REPLAY_LOG : (enum replay_phase)phase;
    buf_free(&folder);
    return ok;
}

static bool run_phase(struct replay *r, struct err *err)
{
    static bool (*const phases[N_REPLAY_PHASES])(struct replay * r, struct err * err) = {
        [REPLAY_LOG] = replay_read_logs,
        [REPLAY_BY_TIME] = replay_by_time,
        [REPLAY_FIND] = replay_find,
        [REPLAY_WRITE] = replay_write,
    };
    struct arena *a = arena_new();

    r->run = (struct verify_run){.co = r->co, .stop = &r->co->stop, .arena = a};

    bool ok = verify_run_begin(&r->run, r->job.table, r->job.version, err) &&
              phases[r->phase](r, err);

    verify_run_end(&r->run);
    r->run = (struct verify_run){0};
    arena_free(a);
    if (!ok)
        return false;
    r->phase++;
    ok = replay_keys_put_number(r->keys, "phase", r->phase, err) && replay_save(r, err);
    FAILPOINT(replay_phased);
    return ok && replay_show(r, NULL, true, err);
}

static uint64_t progress_of(const struct replay *r)
{
    return (uint64_t)r->phase + r->documents + r->written;
}

/* After a failure the phase goes on from its keys. Returns false with err once that is of no
 * use. */
static bool run_phases(struct replay *r, struct err *err)
{
    int64_t failing_ms = 0;
    uint64_t far = 0;

    while (r->phase < REPLAY_OVER) {
        struct err ignored;

        *err = (struct err){0};
        if (!replay_may_go_on(r, err))
            return false;
        if (run_phase(r, err))
            continue;
        replay_keys_undo(r->keys);
        if (err->kind != ERR_RETRY)
            return false;
        if (failing_ms == 0 || progress_of(r) > far)
            failing_ms = clock_mono_ms();
        far = progress_of(r);
        if (clock_mono_ms() - failing_ms > GIVE_UP_MS)
            return false;
        (void)!replay_show(r, err, true, &ignored);
        (void)stop_wait(&r->co->stop, RETRY_MS);
    }
    return true;
}

/* ---- the end ---- */

/* "replayed": all that changed on the day. "by_column": as far as a column tells. "partly": but
 * for what the notes say. "not_replayed": nothing, and they say why. "unknown": it failed. */
static const char *verdict_of(const struct replay *r, struct str gone, bool by_time)
{
    if (r->phase != REPLAY_OVER)
        return "unknown";
    if (gone.len > 0 && !by_time)
        return "not_replayed";
    return r->notes.len > 0 ? "partly" : gone.len > 0 ? "by_column" : "replayed";
}

static void put_why(struct json_writer *w, const struct replay *r, struct str gone,
                    bool by_time, const struct err *failure)
{
    struct buf why = {0};

    if (r->phase != REPLAY_OVER)
        buf_printf(&why, "%s", failure->msg);
    else if (gone.len > 0 && by_time)
        buf_printf(&why,
                   "%" STR_FMT ", so only rows were replayed whose daily_check_column is in "
                   "that day: no deleted rows, and no changes of related rows; fix: millrace "
                   "verify %" STR_FMT " --repair compares all",
                   STR_ARG(gone), STR_ARG(r->job.table));
    else
        buf_append(&why, gone);
    if (r->notes.len > 0)
        buf_printf(&why, "%s%s", why.len > 0 ? "; " : "", r->notes.ptr);
    json_put_string(w, STR("why"), buf_str(&why));
    buf_free(&why);
}

static void append_report(const struct replay *r, const struct err *failure, struct buf *out,
                          const char **verdict)
{
    struct json_writer w = {.out = out};
    struct buf gone = {0}, id = {0}, day = {0};
    int64_t by_time = 0;
    struct err ignored;

    (void)!replay_keys_get(r->keys, "gone", &gone, &ignored);
    (void)!replay_keys_get_number(r->keys, "by_time", &by_time, &ignored);
    *verdict = verdict_of(r, buf_str(&gone), by_time != 0);
    buf_append_u64(&id, r->job.id);
    day_append(&day, r->day);
    json_open_object(&w);
    json_put_cstr(&w, STR("schema"), "millrace/replay/1");
    json_put_string(&w, STR("job"), buf_str(&id));
    json_put_string(&w, STR("table"), r->job.table);
    json_put_string(&w, STR("index"), r->job.index);
    json_put_u64(&w, STR("version"), r->job.version);
    json_put_string(&w, STR("day"), buf_str(&day));
    json_put_cstr(&w, STR("verdict"), *verdict);
    put_why(&w, r, buf_str(&gone), by_time != 0, failure);
    coordinator_put_time(&w, STR("began"), r->job.created_ms);
    json_put_double(&w, STR("seconds"), (double)(clock_wall_ms() - r->job.created_ms) / 1000);
    json_put_u64(&w, STR("documents"), r->documents);
    json_put_u64(&w, STR("written"), r->written);
    json_close_object(&w);
    buf_free(&gone);
    buf_free(&id);
    buf_free(&day);
}

static bool finish(struct replay *r, const struct err *failure, struct err *err)
{
    struct buf report = {0};
    const char *verdict;

    append_report(r, failure, &report, &verdict);

    bool ok = verify_reports_keep(r->co, r->job.id, buf_str(&report), err);

    FAILPOINT(replay_reported);
    if (ok && (strcmp(verdict, "replayed") == 0 || strcmp(verdict, "by_column") == 0))
        ok = coordinator_note_run(r->co, RUN_REPLAY, r->job.table, err);
    if (ok) {
        log_info("a replay has ended", KV("table", r->job.table), KV("job", r->job.id),
                 KV("verdict", verdict), KV("written", r->written));
        coordinator_log(r->co, r->job.table, r->job.index, r->job.version, "replayed", verdict);
    }
    buf_free(&report);
    if (!ok || !store_delete_job(r->co->opt.store, r->job.id, err))
        return false;
    store_watch_read(r->co->store_watch);
    return true;
}

/* ---- the job ---- */

static bool take(struct replay *r, struct err *err)
{
    struct buf thing = {0};

    buf_printf(&thing, "job/%" PRIu64, r->job.id);

    const bool ok = store_take_term(r->co->opt.store, buf_str(&thing), &r->term, err);

    buf_free(&thing);
    return ok;
}

static void read_job(struct replay *r, const struct stored_job *stored)
{
    struct buf day = {0};

    r->job = (struct stored_job){.id = stored->id,
                                 .kind = arena_copy(r->arena, stored->kind),
                                 .index = arena_copy(r->arena, stored->index),
                                 .table = arena_copy(r->arena, stored->table),
                                 .version = stored->version,
                                 .buckets = 1,
                                 .parameters = arena_copy(r->arena, stored->parameters),
                                 .created_ms = stored->created_ms};
    (void)json_find_u64(r->job.parameters, "/rate", &r->rate);
    if (!json_find_text(r->job.parameters, "/day", &day) || !day_parse(buf_str(&day), &r->day))
        r->day = 0;
    buf_free(&day);
}

bool replay_job_run(struct coordinator *co, const struct stored_job *stored, struct err *err)
{
    struct replay r = {.co = co, .arena = arena_new()};
    struct err why = {0};

    read_job(&r, stored);

    bool ok = take(&r, err) && open_keys(&r, err);

    if (ok) {
        const bool done = run_phases(&r, &why);
        const bool is_over = done || (why.kind != ERR_STOP && replay_may_go_on(&r, err));

        if (!is_over)
            *err = why;
        ok = is_over && finish(&r, &why, err);
    }
    replay_keys_close(r.keys);
    buf_free(&r.notes);
    arena_free(r.arena);
    return ok;
}
