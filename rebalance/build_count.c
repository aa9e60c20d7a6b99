#include "config.h"

#include "rebalance/build.h"

#include "rebalance/tally.h"
#include "src/base/mem.h"
#include "src/search.h"
#include "sync/binlog/position.h"
#include "sync/delivery/delivery.h"
#include "sync/delivery/touched.h"
#include "sync/document/loader.h"
#include "sync/pipeline.h"
#include "sync/read_position.h"
#include "sync/read_view.h"
#include "sync/routing.h"
#include "sync/server_info.h"

#include <inttypes.h>
#include <stdlib.h>

#define STAND_POLL_MS 2
#define COUNT_TRIES   4
#define STRIKES       2 /* so many tallies must tell that something is missing */
#define TOUCHED_MAX   50000

/* Where the log ends now, as a version. */
static bool log_end(struct index_build *b, uint64_t *version, struct err *err)
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
    while (!pipeline_stand(b->opt.pipeline)) {
        stop_wait(&b->stop, BUILD_POLL_MS);
        if (build_is_stopping(b, err))
            return false;
    }
    while (!pipeline_stands(b->opt.pipeline)) {
        stop_wait(&b->stop, STAND_POLL_MS);
        if (build_is_stopping(b, err)) {
            pipeline_go_on(b->opt.pipeline);
            return false;
        }
    }
    return true;
}

/* Of documents that were not touched. */
static bool count_documents(struct index_build *b, const struct touched *t, uint64_t *documents,
                            struct err *err)
{
    const struct str index = str_from(b->index);
    const struct key_set *ids = touched_ids(t);
    struct str *list = mem_alloc(ids->n + 1, sizeof(*list));

    for (uint32_t i = 0; i < ids->n; i++)
        list[i] = key_set_get(ids, i);

    const bool ok = search_refresh(b->opt.search, index, err) &&
                    search_count_others(b->opt.search, index, list, ids->n, documents, err);

    free(list);
    return ok;
}

/* Of rows that count, whose documents were touched, as the open read shows them. */
static bool count_touched_rows(struct index_build *b, const struct touched *t, uint64_t *rows,
                               struct err *err)
{
    size_t n;
    struct target **list = build_targets(b, &n, err);
    bool ok = n > 0;

    *rows = 0;
    for (size_t i = 0; ok && i < n; i++) {
        uint64_t of_table = 0;

        ok = loader_count_keys(b->conn, ((struct reading *)list[i]->plan)->plan,
                               touched_keys(t, list[i]->table), &of_table, err);
        *rows += of_table;
    }
    build_targets_free(list, n);
    return ok;
}

/*
 * Rows are counted in a snapshot, documents while the stream stands somewhere behind it.  What
 * was touched from before the one until the other is left out of both; everything else was the
 * same all the time.
 */
static bool tally_others(struct index_build *b, struct touched *t, struct tally *out,
                         struct err *err)
{
    const uint64_t read = read_position_version(pipeline_read_position(b->opt.pipeline));
    uint64_t end, touched_rows;

    /* What the snapshot shows is in the log up to end. */
    if (!build_catch_up(b, read, err) ||
        !build_open_read(b, read > b->opt.start ? read : b->opt.start, err) ||
        !log_end(b, &end, err) || !build_count_tables(b, &out->rows, err) ||
        !build_catch_up(b, end, err) || !stand(b, err))
        return false;
    touched_close(t);

    const bool ok =
        count_documents(b, t, &out->documents, err) && store_n_dead_letters(b->opt.store, str_from(b->index), &out->dead, err);

    out->moved = touched_more(t);
    pipeline_go_on(b->opt.pipeline);
    if (!ok || !count_touched_rows(b, t, &touched_rows, err))
        return false;
    out->rows -= touched_rows;
    return read_view_close(b->conn, err);
}

static bool take_tally(struct index_build *b, struct tally *out, struct err *err)
{
    struct touched *t = touched_new(b->index, TOUCHED_MAX);

    delivery_watch(b->opt.delivery, t);

    const bool ok = tally_others(b, t, out, err);

    delivery_unwatch(b->opt.delivery, t);
    touched_free(t);
    return ok;
}

/* Counts that agree only because something moved between them are taken again. */
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
           err_set(err, ERR_REJECT,
                   "besides what changed while they were counted the table has %" PRIu64
                   " rows but the index %" PRIu64 " documents and %" PRIu64
                   " dead letters; the alias was not moved; fix: see that no two rows have one key "
                   "and that nobody else writes to the index, then millrace index create",
                   t.rows, t.documents, t.dead);
}
