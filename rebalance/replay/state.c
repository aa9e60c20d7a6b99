#include "config.h"

#include "rebalance/replay/parts.h"
#include "rebalance/state/owned.h"

#include "src/base/clock.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#define SHOW_MS   1000
#define NOTES_MAX 2000

bool replay_may_go_on(const struct replay *r, struct err *err)
{
    if (stop_is_set(&r->co->stop))
        return err_set(err, ERR_STOP, "stopping");
    return coordinator_owns_version(r->co, r->job.index, r->job.version) ||
           err_set(err, ERR_STOP, "another node has taken its topic");
}

bool replay_show(struct replay *r, const struct err *why, bool always, struct err *err)
{
    struct stored_job job = r->job;

    if (!always && clock_mono_ms() - r->saved_ms < SHOW_MS)
        return true;
    r->saved_ms = clock_mono_ms();
    job.state = STR("running");
    job.cursor = STR("");
    job.rows_done = r->written;
    job.rows_total = r->documents > r->written ? r->documents : r->written;
    job.error = why == NULL ? STR("") : str_from(why->msg);
    job.updated_ms = clock_wall_ms();
    return store_save_job(r->co->opt.store, r->term, &job, err);
}

void replay_note(struct replay *r, const char *fmt, ...)
{
    char text[ERR_MSG_MAX];
    va_list args;

    va_start(args, fmt);
    vsnprintf(text, sizeof(text), fmt, args);
    va_end(args);
    if (r->notes.len + sizeof(text) > NOTES_MAX ||
        (r->notes.len > 0 && strstr(r->notes.ptr, text) != NULL))
        return;
    if (r->notes.len > 0)
        buf_append(&r->notes, STR("; "));
    buf_append(&r->notes, str_from(text));
}

bool replay_save(struct replay *r, struct err *err)
{
    return replay_keys_put(r->keys, "notes", buf_str(&r->notes), err) &&
           replay_keys_save(r->keys, err);
}

bool replay_pay(struct replay *r, size_t n, struct err *err)
{
    const int64_t ms = job_limit_take(&r->limit, r->rate, n, clock_mono_ms());

    return ms <= 0 || !stop_wait(&r->co->stop, ms) || err_set(err, ERR_STOP, "stopping");
}
