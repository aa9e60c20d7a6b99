#include "config.h"

#include "rebalance/build/build.h"
#include "rebalance/build/reads.h"
#include "rebalance/build/tally.h"
#include "rebalance/fill/targets.h"

#include "src/base/mem.h"
#include "src/search/search.h"
#include "sync/checkpoint/read_position.h"
#include "sync/delivery/delivery.h"
#include "sync/delivery/document/dirty_set.h"
#include "sync/document/loader.h"
#include "sync/pipeline/pipeline.h"
#include "sync/position/position.h"
#include "sync/read/view.h"
#include "sync/routing/routing.h"
#include "sync/server/server_info.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define STAND_POLL_MS 2
#define COUNT_TRIES   4
#define STRIKES       2 /* so many tallies must find something missing */
#define TOUCHED_MAX   50000

bool build_log_end(struct index_build *b, uint64_t *version, struct err *err)
{
    struct log_end end = {0};

    if (!server_log_end(b->conn, &end, err))
        return false;
    free(end.gtids);
    return position_version((struct position){str_from(end.file), end.offset},
                            pipeline_epoch(b->opt.pipeline), version, err);
}

static bool stand(struct index_build *b, struct err *err)
{
    while (!pipeline_stand(b->opt.pipeline))
        if (!build_wait(b, err))
            return false;
    while (!pipeline_stands(b->opt.pipeline)) {
        stop_wait(&b->stop, STAND_POLL_MS);
        if (build_is_stopping(b, err)) {
            pipeline_go_on(b->opt.pipeline);
            return false;
        }
    }
    return true;
}

/* Count the documents that were not touched. */
static bool count_documents(struct index_build *b, const struct dirty_set *t,
                            uint64_t *documents, struct err *err)
{
    const struct str index = str_from(b->index);
    const struct key_set *ids = dirty_set_ids(t);
    struct str *list = mem_alloc(ids->n + 1, sizeof(*list));

    for (uint32_t i = 0; i < ids->n; i++)
        list[i] = key_set_get(ids, i);

    const bool ok = search_refresh(b->opt.search, index, err) &&
                    search_count_others(b->opt.search, index, list, ids->n, documents, err);

    free(list);
    return ok;
}

/* Count the rows of touched documents that the open read shows. */
static bool count_touched_rows(struct index_build *b, const struct dirty_set *t, uint64_t *rows,
                               struct err *err)
{
    size_t n;
    struct target **list = version_targets(b->opt.pipeline, b->index, &n, err);
    bool ok = n > 0;

    *rows = 0;
    for (size_t i = 0; ok && i < n; i++) {
        uint64_t of_table = 0;

        ok = loader_count_keys(b->conn, ((struct reading *)list[i]->plan)->plan,
                               dirty_set_keys(t, list[i]->table), &of_table, err);
        *rows += of_table;
    }
    version_targets_free(list, n);
    return ok;
}

struct dropped_count {
    const char *index;
    uint64_t n;
};

static void add_dropped(void *ctx, const char *index, const struct index_counts *c)
{
    struct dropped_count *count = ctx;

    if (strcmp(index, count->index) == 0)
        count->n += c->dropped;
}

/* Nobody knows how many were dropped before a restart, or elsewhere. */
static uint64_t count_dropped(struct index_build *b)
{
    struct dropped_count count = {.index = b->index};

    if (b->opt.piped && (b->resumed || b->shared))
        return UINT64_MAX;
    delivery_each_index(b->opt.delivery, add_dropped, &count);
    return count.n;
}

/*
 * Count rows in a snapshot, and documents later, while the stream stands still. Leave out of
 * both counts what was touched from before the snapshot until then: everything else is the same
 * in both.
 */
static bool tally_others(struct index_build *b, struct dirty_set *t, struct tally *out,
                         struct err *err)
{
    const uint64_t read = read_position_version(pipeline_read_position(b->opt.pipeline));
    uint64_t end, touched_rows;

    /* The log up to end has everything that the snapshot shows. */
    if (!build_catch_up(b, read, err) ||
        !build_open_read(b, read > b->opt.start ? read : b->opt.start, err) ||
        !build_log_end(b, &end, err) || !build_count_tables(b, &out->rows, err) ||
        !build_catch_up(b, end, err) || !stand(b, err))
        return false;
    pipeline_touch_gone(b->opt.pipeline, str_from(b->index), t); /* outlive their rows */
    dirty_set_close(t);
    b->rows = out->rows;

    const bool ok = count_documents(b, t, &out->documents, err) &&
                    store_n_dead_letters(b->opt.store, str_from(b->index), &out->dead, err);

    out->moved = dirty_set_more(t);
    out->dropped = count_dropped(b);
    pipeline_go_on(b->opt.pipeline);
    if (!ok || !count_touched_rows(b, t, &touched_rows, err))
        return false;
    out->rows -= touched_rows;
    return read_view_close(b->conn, err);
}

static bool take_tally(struct index_build *b, struct tally *out, struct err *err)
{
    struct dirty_set *t = dirty_set_new(b->index, TOUCHED_MAX);

    delivery_watch(b->opt.delivery, t);

    const bool ok = tally_others(b, t, out, err);

    delivery_unwatch(b->opt.delivery, t);
    dirty_set_free(t);
    return ok;
}

/* Count again if the counts agree only with the allowance for what moved between them. */
bool build_count_rows(struct index_build *b, struct err *err)
{
    struct tally t = {0};
    unsigned strikes = 0;

    for (unsigned try = 0; try < COUNT_TRIES && strikes < STRIKES; try++) {
        while (!take_tally(b, &t, err))
            if (!build_survive(b, err))
                return false;
        if (tally_agrees_exactly(&t))
            return true;
        strikes += !tally_agrees(&t);
        stop_wait(&b->stop, BUILD_POLL_MS * (int64_t)(try + 1));
        if (build_is_stopping(b, err))
            return false;
    }
    return strikes < STRIKES ||
           err_set(
               err, ERR_REJECT,
               "apart from changes during the count, the table has %" PRIu64 " rows but the "
               "index %" PRIu64 " documents and %" PRIu64 " dead letters%s; the alias was not "
               "moved; fix: make sure that no two rows have the same key and that nobody else "
               "writes to the index, then millrace index create",
               t.rows, t.documents, t.dead,
               t.dropped > 0 ? ", also without those that a pipeline dropped" : "");
}
