#include "config.h"

#include "rebalance/build/build.h"

#include "rebalance/build/judgement.h"
#include "src/base/arena.h"
#include "src/base/clock.h"
#include "src/base/failpoint.h"
#include "src/base/log.h"
#include "src/search/search.h"
#include "src/store/turn.h"
#include "src/store/waiting.h"

#include <inttypes.h>

/* What a wait of the version has left, if it waited already. */
struct earlier_wait {
    uint64_t accepted; /* dead letters that a person accepted */
    bool ended;        /* there was one, and it is over */
};

static bool load_wait(struct index_build *b, struct earlier_wait *out, struct err *err)
{
    struct arena *a = arena_new();
    struct stored_wait *waits;
    size_t n = 0;
    const bool ok = store_load_waits(b->opt.store, a, &waits, &n, err);

    *out = (struct earlier_wait){0};
    for (size_t i = 0; ok && i < n; i++)
        if (str_equal(waits[i].index, str_from(b->alias)) && waits[i].number == b->opt.number) {
            out->accepted = waits[i].accepted;
            out->ended = true;
        }
    arena_free(a);
    return ok;
}

/* Give the index its final settings and refresh it. */
static bool make_ready(struct index_build *b, struct err *err)
{
    return search_put_settings(b->opt.search, str_from(b->index), str_from(b->final_settings),
                               err) &&
           search_refresh(b->opt.search, str_from(b->index), err);
}

static bool publish(struct index_build *b, struct err *err)
{
    if (!make_ready(b, err) || !b->opt.may_publish(b->opt.ctx, b->alias, &b->opt.take, err) ||
        !search_move_alias(b->opt.search, str_from(b->alias), str_from(b->index), err))
        return false;
    FAILPOINT(alias_moved);

    const struct promotion p = {.index = str_from(b->alias),
                                .number = b->opt.number,
                                .finished_ms = clock_wall_ms(),
                                .at_ms = clock_steady_ms(),
                                .keep = b->opt.keep};
    const bool ok = store_promote_version(b->opt.store, &p, err);

    FAILPOINT(version_promoted);
    return ok;
}

/* A version whose documents differ from their rows waits once, until a person has looked. */
static void doubt(struct judgement *j, const struct buf *differs)
{
    struct buf why = {0};

    buf_append(&why, buf_str(differs));
    if (j->reason != NULL)
        buf_printf(&why, "; %s", j->detail.ptr);
    buf_free(&j->detail);
    j->detail = why;
    j->reason = WAIT_DIFFERS;
}

/* Move the alias back if an earlier run was killed after it had moved it here. */
static bool restore_alias(struct index_build *b, uint64_t searched, struct err *err)
{
    struct buf index = {0};
    bool leads;

    buf_printf(&index, "%s_v%" PRIu64, b->alias, searched);

    const bool ok =
        search_alias_leads_to(b->opt.search, str_from(b->alias), str_from(b->index), &leads,
                              err) &&
        (!leads ||
         (searched == 0
              ? search_remove_alias(b->opt.search, str_from(b->alias), str_from(b->index), err)
              : search_move_alias(b->opt.search, str_from(b->alias), buf_str(&index), err)));

    buf_free(&index);
    return ok;
}

/* A build that a person holds waits once, whatever else it would wait for. */
static void hold(struct judgement *j)
{
    struct buf why = {0};

    buf_append(&why, STR("it was built with --hold"));
    if (j->reason != NULL)
        buf_printf(&why, "; %s", j->detail.ptr);
    buf_free(&j->detail);
    j->detail = why;
    j->reason = WAIT_PERSON;
}

static bool park(struct index_build *b, const struct judgement *j, struct err *err)
{
    lock_acquire(&b->lock);

    struct stored_job job = b->job;

    lock_release(&b->lock);
    job.rows_done = job.rows_total = b->rows;
    job.updated_ms = clock_wall_ms();

    const struct stored_wait w = {.index = str_from(b->alias),
                                  .number = b->opt.number,
                                  .reason = str_from(j->reason),
                                  .detail = buf_str(&j->detail),
                                  .letters = j->letters,
                                  .rows = b->rows,
                                  .since_ms = clock_wall_ms()};

    if (!make_ready(b, err) || !restore_alias(b, j->searched, err))
        return false;
    FAILPOINT(build_judged);

    const bool ok = store_park_version(b->opt.store, b->opt.term, &job, &w, err);

    FAILPOINT(version_parked);
    return ok;
}

static bool try_to_publish(struct index_build *b, struct err *err)
{
    struct judged v = {.index = str_from(b->alias), .number = b->opt.number, .rows = b->rows};
    struct judgement j = {0};
    struct earlier_wait earlier;
    bool ok = load_wait(b, &earlier, err);

    v.accepted = earlier.accepted;
    ok = ok && judgement_make(&j, b->opt.store, &v, err);
    if (ok && b->differs.len > 0 && !earlier.ended)
        doubt(&j, &b->differs);
    if (ok && b->opt.hold && !earlier.ended)
        hold(&j);
    ok = ok && (j.reason == NULL ? publish(b, err) : park(b, &j, err));
    judgement_fini(&j);
    return ok;
}

bool build_publish(struct index_build *b, struct err *err)
{
    while (!try_to_publish(b, err))
        if (!build_survive(b, err))
            return false;
    return true;
}
