#include "config.h"

#include "rebalance/verify/reports.h"

#include "rebalance/shared/others.h"
#include "rebalance/state/parts.h"
#include "rebalance/task/task.h"
#include "rebalance/verify/job.h"
#include "rebalance/verify/jobs.h"
#include "rebalance/verify/progress.h"
#include "rebalance/verify/verify.h"

#include <inttypes.h>

static void name_report(struct buf *name, uint64_t job)
{
    buf_printf(name, STORE_REPORT "%020" PRIu64, job);
}

bool verify_reports_keep(struct coordinator *co, uint64_t job, struct str report,
                         struct err *err)
{
    struct arena *a = arena_new();
    struct buf name = {0};
    struct stored_value *list = NULL;
    size_t n = 0;

    name_report(&name, job);

    bool ok = store_put_value(co->opt.store, buf_str(&name), report, err) &&
              store_load_values(co->opt.store, a, STR(STORE_REPORT), &list, &n, err);

    for (size_t i = 0; ok && i + REPORTS_KEPT < n; i++)
        ok = store_delete_value(co->opt.store, list[i].name, NULL, err);
    buf_free(&name);
    arena_free(a);
    return ok;
}

static bool is_of(struct str report, struct str index, uint64_t version)
{
    struct buf of = {0};
    uint64_t number = 0;
    const bool is = json_find_text(report, "/index", &of) && str_equal(buf_str(&of), index) &&
                    json_find_u64(report, "/version", &number) && number == version;

    buf_free(&of);
    return is;
}

bool verify_reports_have(struct coordinator *co, struct str index, uint64_t version, bool *have,
                         struct err *err)
{
    struct arena *a = arena_new();
    struct stored_value *list = NULL;
    size_t n = 0;
    const bool ok = store_load_values(co->opt.store, a, STR(STORE_REPORT), &list, &n, err);

    *have = false;
    for (size_t i = 0; ok && i < n; i++)
        *have = *have || is_of(list[i].content, index, version);
    arena_free(a);
    return ok;
}

/* ---- for people ---- */

static void copy_members(struct json_writer *w, struct str report)
{
    static const char *const members[] = {"job",       "table", "index",     "version",
                                          "verdict",   "why",   "began",     "seconds",
                                          "documents", "equal", "differing", "repaired"};

    json_open_object(w);
    for (size_t i = 0; i < ARRAY_LEN(members); i++) {
        struct buf pointer = {0};
        struct str value;

        buf_printf(&pointer, "/%s", members[i]);
        if (json_find(report, pointer.ptr, &value))
            json_put_raw(w, str_from(members[i]), value);
        buf_free(&pointer);
    }
    json_close_object(w);
}

/* The newest first. */
static bool list_reports(struct errand *e, struct err *err)
{
    struct table_question *q = e->ctx;
    struct json_writer w = {.out = &e->text};
    struct stored_value *list = NULL;
    size_t n = 0;

    if (!store_load_values(q->co->opt.store, e->arena, STR(STORE_REPORT), &list, &n, err))
        return false;
    json_open_object(&w);
    json_put_cstr(&w, STR("schema"), "millrace/report/1");
    json_write_key(&w, STR("items"));
    json_open_array(&w);
    while (n > 0)
        copy_members(&w, list[--n].content);
    json_close_array(&w);
    json_close_object(&w);
    return true;
}

/* Returns 0 if this is no number. */
static uint64_t number_of(struct str text)
{
    uint64_t n = 0;

    for (size_t i = 0; i < text.len; i++) {
        if (text.ptr[i] < '0' || text.ptr[i] > '9' || n > UINT64_MAX / 100)
            return 0;
        n = n * 10 + (uint64_t)(text.ptr[i] - '0');
    }
    return n;
}

static void put_progress(struct json_writer *w, struct str id, const struct verify_progress *p)
{
    json_open_object(w);
    json_put_cstr(w, STR("schema"), "millrace/verify-progress/1");
    json_put_string(w, STR("job"), id);
    verify_progress_put(w, p);
    json_close_object(w);
}

/*
 * Sets *found if a job of the store has not begun again since the daemon started, or runs on
 * another node.
 */
static bool find_waiting(struct errand *e, uint64_t id, struct verify_progress *p, bool *found,
                         struct err *err)
{
    const struct table_question *q = e->ctx;
    struct stored_job *list = NULL;
    size_t n = 0;

    *found = false;
    if (!store_load_jobs(q->co->opt.store, e->arena, &list, &n, err))
        return false;
    for (size_t i = 0; i < n && !*found; i++) {
        const bool is_replay = str_equal(list[i].kind, STR(JOB_REPLAY));

        *found = list[i].id == id && (is_replay || verify_jobs_have_kind(list[i].kind));
        *p = (struct verify_progress){
            .done = list[i].rows_done, .total = list[i].rows_total, .remaining_s = -1};
        if (is_replay) /* it stores what it waits for */
            err_set(&p->why, ERR_RETRY, "%" STR_FMT, STR_ARG(list[i].error));
        else if (!coordinator_is_others_version(q->co, list[i].index, list[i].version))
            err_set(
                &p->why, ERR_RETRY,
                "the daemon has just started, and goes on with the jobs of its store one by "
                "one");
    }
    return true;
}

/* Look for the job first: one that ends in between has its report. */
static bool get_report(struct errand *e, struct err *err)
{
    struct table_question *q = e->ctx;
    const uint64_t id = number_of(q->key);
    struct verify_progress p = {0};
    struct buf name = {0};
    bool found = false, waits = false;

    if (!find_waiting(e, id, &p, &waits, err))
        return false;
    if (waits) {
        put_progress(&(struct json_writer){.out = &e->text}, q->key, &p);
        return true;
    }
    name_report(&name, id);

    const bool ok =
        store_get_value(q->co->opt.store, buf_str(&name), &e->text, &found, err) &&
        (found || refuse(err, 404,
                         "there is no report of job %" STR_FMT "; fix: millrace report list "
                         "shows those that are kept, the newest %d",
                         STR_ARG(q->key), REPORTS_KEPT));

    buf_free(&name);
    return ok;
}

static bool ask(struct coordinator *co, errand_fn run, struct str id, struct buf *json,
                struct err *err)
{
    struct errand *e = errand_new("the store", sizeof(struct table_question));
    struct table_question *q = e->ctx;

    *q = (struct table_question){.co = co, .key = arena_copy(e->arena, id)};

    const bool ok = coordinator_ask_store(co, e, run, err);

    if (ok)
        buf_append(json, buf_str(&e->text));
    errand_leave(e);
    return ok;
}

bool coordinator_list_reports(struct coordinator *co, struct buf *json, struct err *err)
{
    return ask(co, list_reports, STR(""), json, err);
}

/* In this order: a job that ends in between has its report. */
bool coordinator_get_report(struct coordinator *co, struct str id, struct buf *json,
                            struct err *err)
{
    struct json_writer w = {.out = json};
    struct verify_progress p;
    bool found;
    const bool ok = tasks_report(co->tasks, id, json, &found, err);

    if (found)
        return ok;
    if (!verify_jobs_find(co->verifies, number_of(id), &p))
        return ask(co, get_report, id, json, err);
    put_progress(&w, id, &p);
    return true;
}
