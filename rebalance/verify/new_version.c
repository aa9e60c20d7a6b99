#include "config.h"

#include "rebalance/verify/verify.h"

#include "rebalance/verify/job.h"
#include "rebalance/verify/part/sample_state.h"
#include "rebalance/verify/reports.h"

#include "src/base/log.h"

#include <inttypes.h>
#include <stdlib.h>

#define SAMPLE 1000

/* What one look at a new version says. */
struct answer {
    const char *verdict;
    bool is_over; /* else failure says why not */
    uint64_t documents, differing, repaired;
    struct buf why, report;
};

static void append_parameters(struct buf *json, const struct build_question *q, bool repair)
{
    struct json_writer w = {.out = json};

    json_open_object(&w);
    json_put_bool(&w, STR("repair"), repair);
    json_put_bool(&w, STR("yes"), repair); /* nobody uses the version yet */
    if (!q->all)
        json_put_u64(&w, STR("sample"), SAMPLE);
    json_close_object(&w);
}

static void take_answer(struct verify_job *j, const struct err *failure, struct answer *out)
{
    verify_job_report(j, failure, &out->why, &out->report);
    out->is_over = j->at.pass == VERIFY_OVER;
    out->verdict =
        out->is_over || j->result.differing > 0 ? verify_result_verdict(&j->result) : "unknown";
    out->documents = j->result.documents;
    out->differing = j->result.differing;
    out->repaired = j->result.repaired;
}

/* Returns false if the build is stopping, or another node's. */
static bool ask(struct coordinator *co, const struct build_question *q, bool repair,
                struct answer *out, struct err *err)
{
    struct buf parameters = {0};
    struct err failure = {0};

    append_parameters(&parameters, q, repair);

    struct verify_job *j =
        verify_job_new(co,
                       &(struct stored_job){.id = q->job,
                                            .kind = STR(JOB_VERIFY),
                                            .index = q->index,
                                            .table = q->table,
                                            .version = q->number,
                                            .cursor = STR(""),
                                            .parameters = buf_str(&parameters)},
                       0);

    j->of_build = true;
    j->stop = q->stop;
    verify_job_run(j, &failure);

    const bool ok = failure.kind != ERR_STOP && !stop_is_set(q->stop);

    if (ok)
        take_answer(j, &failure, out);
    else
        err_set(err, ERR_STOP, "%s", failure.kind == ERR_STOP ? failure.msg : "stopping");
    verify_job_free(j);
    buf_free(&parameters);
    return ok;
}

static void answer_fini(struct answer *a)
{
    buf_free(&a->why);
    buf_free(&a->report);
    *a = (struct answer){0};
}

static bool is(const struct answer *a, const char *verdict)
{
    return strcmp(a->verdict, verdict) == 0;
}

/* Keep the report of what is not simply equal, and tell of it. */
static void tell(struct coordinator *co, const struct build_question *q, const struct answer *a)
{
    struct buf text = {0};
    struct err err = {0};

    if (!verify_reports_keep(co, q->job, buf_str(&a->report), &err))
        log_failure(LOG_WARN, &err, "the report of a build's sample is not kept",
                    KV("index", q->index));
    buf_printf(&text,
               "%s: %" PRIu64 " of %" PRIu64 " documents differ, %" PRIu64 " were repaired",
               a->verdict, a->differing, a->documents, a->repaired);
    if (is(a, "unknown"))
        buf_append(&text, STR("; not all could be judged, so the counts decide"));
    if (a->why.len > 0)
        buf_printf(&text, ": %s", a->why.ptr);
    buf_printf(&text, "; millrace report get %" PRIu64, q->job);
    log_warn("documents of a new version differed from their rows", KV("index", q->index),
             KV("version", q->number), KV("result", buf_str(&text)));
    coordinator_log(co, q->table, q->index, q->number, "verified", text.ptr);
    buf_free(&text);
}

static void say_differs(const struct build_question *q, const struct answer *a,
                        struct buf *differs)
{
    buf_printf(differs,
               "%" PRIu64 " of %" PRIu64 " documents that were compared differ from their rows"
               "%s: millrace report get %" PRIu64,
               a->differing, a->documents,
               q->all ? "" : ", so others of the index may differ, too", q->job);
}

/* What was repaired of a sample says that others may differ: another sample tells. */
bool verify_new_version(void *ctx, const struct build_question *q, struct buf *differs,
                        struct err *err)
{
    struct coordinator *co = MAGIC_CAST(coordinator, ctx);
    struct answer a = {0};
    bool ok = ask(co, q, true, &a, err);

    if (ok && a.repaired > 0 && is(&a, "equal")) {
        tell(co, q, &a);
        if (!q->all) {
            answer_fini(&a);
            ok = ask(co, q, false, &a, err);
        }
    }
    if (ok)
        log_info("a build has compared documents with their rows", KV("index", q->index),
                 KV("version", q->number), KV("documents", a.documents),
                 KV("verdict", a.verdict));
    if (ok && !is(&a, "equal"))
        tell(co, q, &a);
    if (ok && is(&a, "different"))
        say_differs(q, &a, differs);
    answer_fini(&a);
    return ok;
}
