#include "config.h"

#include "rebalance/verify/verify.h"

#include "rebalance/verify/report.h"
#include "rebalance/verify/result.h"
#include "rebalance/verify/run.h"

#include "src/base/clock.h"
#include "sync/checkpoint/read_position.h"

/* The ctx of the errand; in its arena. */
struct question {
    struct coordinator *co;
    struct verify_request request;
};

static bool name_keys(struct verify_run *run, const struct verify_request *r,
                      struct verify_key *keys, struct err *err)
{
    for (size_t i = 0; i < r->n_keys; i++)
        if (!verify_run_name_key(run, r->keys[i], &keys[i], err))
            return false;
    return true;
}

struct keys_told {
    const struct verify_request *asked;
    struct verify_result result;
};

static bool settle(struct verify_run *run, void *ctx, struct err *err)
{
    struct keys_told *a = ctx;

    if (!verify_run_settle(run, err) || (a->asked->repair && !verify_run_repair(run, err)))
        return false;
    for (size_t i = 0; i < run->n_keys; i++)
        verify_result_add(&a->result, &run->keys[i], a->asked->values);
    return true;
}

static bool verify(struct errand *e, struct err *err)
{
    const struct question *q = e->ctx;
    const struct verify_request *asked = &q->request;
    struct verify_run run = {.co = q->co,
                             .stop = &q->co->stop,
                             .errand = e,
                             .arena = e->arena,
                             .patience = VERIFY_PATIENT};
    struct verify_report r = {.began_ms = clock_wall_ms()};
    struct verify_key *keys = arena_alloc(e->arena, asked->n_keys, sizeof(*keys));
    struct keys_told a = {.asked = asked};
    bool ok = verify_run_begin(&run, asked->table, 0, err) && name_keys(&run, asked, keys, err);

    if (ok)
        r.from = read_position_version(pipeline_read_position(run.pipeline));
    ok = ok && verify_run_each_group(&run, keys, asked->n_keys, settle, &a, err);
    if (ok) {
        verify_report_of_run(&r, &run);
        r.looks = run.n_looks;
        verify_report_append(&r, &a.result, &e->text);
    }
    verify_result_free(&a.result);
    verify_run_end(&run);
    return ok;
}

/* ---- the call ---- */

static bool check(const struct coordinator *co, const struct verify_request *r, struct err *err)
{
    if (!coordinator_is_daemon(co, "verify", err))
        return false;
    if (r->n_keys == 0 || r->n_keys > VERIFY_KEYS_MAX)
        return refuse(err, 422,
                      "a request names 1 to %d keys, not %zu; fix: name fewer, or compare the "
                      "whole index",
                      VERIFY_KEYS_MAX, r->n_keys);
    return true;
}

/* Copy the request: the errand may outlive its sender. */
static void copy_request(struct errand *e, struct coordinator *co,
                         const struct verify_request *r)
{
    struct question *q = e->ctx;
    struct str *keys = arena_alloc(e->arena, r->n_keys, sizeof(*keys));

    for (size_t i = 0; i < r->n_keys; i++)
        keys[i] = arena_copy(e->arena, r->keys[i]);
    *q = (struct question){co, *r};
    q->request.table = arena_copy(e->arena, r->table);
    q->request.keys = keys;
}

bool coordinator_verify(struct coordinator *co, const struct verify_request *r,
                        struct buf *json, struct err *err)
{
    struct buf who = {0};

    if (!check(co, r, err))
        return false;
    buf_printf(&who, "the engine, the store, or a server with rows of %" STR_FMT,
               STR_ARG(r->table));

    struct errand *e = errand_new(who.ptr, sizeof(struct question));

    copy_request(e, co, r);

    const bool ok = errand_run(co->errands, e, verify, err);

    if (ok)
        buf_append(json, buf_str(&e->text));
    errand_leave(e);
    buf_free(&who);
    return ok;
}
