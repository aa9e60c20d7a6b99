#include "config.h"

#include "rebalance/dead_letter/purged_slice.h"
#include "rebalance/replay/parts.h"

#include "src/base/clock.h"
#include "src/base/failpoint.h"
#include "src/base/mem.h"
#include "sync/checkpoint/read_position.h"
#include "sync/delivery/delivery.h"

#include <stdlib.h>

#define PAGE_DOCUMENTS 500
#define WAIT_MS        20000 /* for a page to be written */
#define POLL_MS        5
#define QUEUE_MS       100

/* ---- giving way ---- */

static const char *find_full(const struct replay *r)
{
    const struct delivery_settings most = delivery_get(r->co->delivery);
    const struct delivery_status now = delivery_status(r->co->delivery);

    if (now.bytes_held > most.bytes_max / 2)
        return "delivery.bytes";
    if (most.high_water_mark > 0 && now.backlog > most.high_water_mark / 2)
        return "delivery.high_water_mark";
    return NULL;
}

/* A replay gives way to the stream. That is no failure, however long it takes. */
static bool wait_for_queue(struct replay *r, struct err *err)
{
    struct err why = {0};

    for (const char *full; (full = find_full(r)) != NULL;) {
        err_set(&why, ERR_RETRY,
                "the replay waits until delivery holds no more than half of %s", full);
        if (!replay_show(r, &why, false, err) || !replay_may_go_on(r, err))
            return false;
        (void)stop_wait(&r->co->stop, QUEUE_MS);
    }
    return true;
}

/* ---- a page ---- */

struct replay_page {
    struct doc_write *writes;
    size_t n;
    struct purged_slice *slice;
};

/* A table that has left the index meanwhile has no documents in it. */
static void add(const struct replay *r, struct replay_page *p, const struct replay_document *d)
{
    struct target *target = pipeline_target(r->run.pipeline, r->run.index, d->member);

    if (target == NULL)
        return;
    p->writes[p->n] = (struct doc_write){
        .target = target,
        .ticket = purged_slice_ticket(p->slice, p->n),
        .op = DOC_REFRESH,
        .fresh = true,
        .gathered = true,
        .version = read_position_version(pipeline_read_position(r->run.pipeline)) + 1,
        .id = d->doc_id,
        .routing = d->routing,
        .key = d->key,
    };
    p->n++;
}

static bool submit(const struct replay *r, const struct replay_page *p, struct err *err)
{
    if (p->n == 0 || delivery_submit_until(r->co->delivery, &r->co->stop, p->writes, p->n, err))
        return true;
    for (size_t i = 0; i < p->n; i++) {
        ticket_abandon(p->writes[i].ticket);
        target_unref(p->writes[i].target);
    }
    return false;
}

/* ERR_RETRY, and all of the page is written once more. */
static bool wait_for(const struct replay *r, const struct replay_page *p, struct err *err)
{
    const int64_t until_ms = clock_mono_ms() + WAIT_MS;

    while (!purged_slice_is_over(p->slice)) {
        if (!replay_may_go_on(r, err))
            return false;
        if (clock_mono_ms() > until_ms)
            return err_set(err, ERR_RETRY,
                           "index %" STR_FMT " has not taken documents for %d seconds",
                           STR_ARG(r->run.index), WAIT_MS / 1000);
        (void)stop_wait(&r->co->stop, POLL_MS);
    }
    for (size_t i = 0; i < p->n; i++)
        if (purged_slice_state(p->slice, i) != PURGED_WRITTEN)
            return err_set(err, ERR_RETRY, "index %" STR_FMT " takes no documents now",
                           STR_ARG(r->run.index));
    return true;
}

static bool write_page(struct replay *r, const struct replay_document *docs, size_t n,
                       struct err *err)
{
    struct replay_page p = {.writes = mem_alloc(n, sizeof(*p.writes)),
                            .slice = purged_slice_new(n)};

    for (size_t i = 0; i < n; i++)
        add(r, &p, &docs[i]);

    const bool ok = submit(r, &p, err) && wait_for(r, &p, err);

    purged_slice_leave(p.slice);
    free(p.writes);
    return ok;
}

static bool take_page(struct replay *r, int64_t after, size_t *n, struct err *err)
{
    const size_t most = job_limit_rows(r->rate, PAGE_DOCUMENTS);
    struct arena *a = arena_new();
    struct replay_document *docs;
    bool ok =
        wait_for_queue(r, err) && replay_keys_next(r->keys, after, most, a, &docs, n, err);

    if (ok && *n > 0) {
        ok = write_page(r, docs, *n, err) &&
             replay_keys_put_number(r->keys, "write", docs[*n - 1].id, err) &&
             replay_save(r, err);
        FAILPOINT(replay_written);
    }
    r->written += ok ? *n : 0;
    ok = ok && replay_show(r, NULL, false, err) && replay_pay(r, *n, err);
    arena_free(a);
    return ok;
}

bool replay_write(struct replay *r, struct err *err)
{
    int64_t after;
    size_t n = 1;

    if (!replay_keys_get_number(r->keys, "write", &after, err) ||
        !replay_keys_count(r->keys, INT64_MAX, &r->documents, err) ||
        !replay_keys_count(r->keys, after, &r->written, err))
        return false;
    while (n > 0)
        if (!replay_may_go_on(r, err) ||
            !replay_keys_get_number(r->keys, "write", &after, err) ||
            !take_page(r, after, &n, err))
            return false;
    return true;
}
