#include "config.h"

#include "rebalance/build.h"

#include "rebalance/tally.h"
#include "src/search.h"
#include "sync/binlog/position.h"
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
#define OPEN_TRIES    8

static bool count_dead(struct index_build *b, uint64_t *dead, struct err *err)
{
    struct dead_letter_filter f = {.index = str_from(b->index), .limit = 1000};
    size_t n;

    *dead = 0;
    do {
        struct arena *a = arena_new();
        struct stored_dead_letter *list;
        const bool ok = store_load_dead_letters(b->opt.store, a, &f, &list, &n, err);

        if (ok && n > 0)
            f.after_id = list[n - 1].id;
        arena_free(a);
        if (!ok)
            return false;
        *dead += n;
    } while (n == f.limit);
    return true;
}

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

/*
 * Open a read that shows everything up to *low and nothing beyond *high.  What stands still is
 * passed by the log meanwhile; only a read that nothing is stamped by may be ahead of it.
 */
static bool open_once(struct index_build *b, bool stands, uint64_t *low, uint64_t *high,
                      struct err *err)
{
    struct read_position *reader = pipeline_read_position(b->opt.pipeline);
    const uint64_t read = read_position_version(reader);

    if (!build_open_read(b, read > b->opt.start ? read : b->opt.start, stands, low, err) ||
        !log_end(b, high, err))
        return false;
    if (*high < *low)
        *high = *low;
    return true;
}

/* Where nothing was committed meanwhile, the snapshot is known to the transaction. */
static bool open_count(struct index_build *b, bool stands, uint64_t *low, uint64_t *high,
                       struct err *err)
{
    bool ok = open_once(b, stands, low, high, err);

    for (unsigned try = 1; ok && *low != *high && try < OPEN_TRIES; try++)
        ok = read_view_close(b->conn, err) && open_once(b, stands, low, high, err);
    return ok;
}

static bool count_documents(struct index_build *b, struct tally *out, struct err *err)
{
    const struct str index = str_from(b->index);

    return search_refresh(b->opt.search, index, err) &&
           search_count(b->opt.search, index, &out->documents, err) &&
           count_dead(b, &out->dead, err);
}

static bool wait_for(struct index_build *b, bool (*is_so)(struct pipeline *p),
                       struct err *err)
{
    while (!is_so(b->opt.pipeline)) {
        stop_wait(&b->stop, STAND_POLL_MS);
        if (build_is_stopping(b, err))
            return false;
    }
    return true;
}

/*
 * Documents that are read again are read as they are at that time: they may show what the
 * stream came to only after it had stood still, with so many changes.
 */
static bool add_seen(struct index_build *b, uint64_t changes, struct tally *out,
                     struct err *err)
{
    struct read_position *reader = pipeline_read_position(b->opt.pipeline);
    size_t n;
    struct target **list = build_targets(b, &n, err);
    const bool known = n > 0;
    bool is_flat = true;
    uint64_t end;

    for (size_t i = 0; i < n; i++)
        is_flat = is_flat && plan_is_flat(((struct reading *)list[i]->plan)->plan);
    build_targets_free(list, n);
    if (!known || is_flat)
        return known;
    if (!log_end(b, &end, err))
        return false;
    while (read_position_version(reader) < end) {
        stop_wait(&b->stop, BUILD_POLL_MS);
        if (build_is_stopping(b, err))
            return false;
    }
    out->moved += pipeline_changes(b->opt.pipeline) - changes;
    return true;
}

/*
 * The stream stands still at the position of one snapshot while rows and documents are counted,
 * so that the two can be compared exactly.
 */
static bool tally_standing(struct index_build *b, struct tally *out, struct err *err)
{
    struct pipeline *p = b->opt.pipeline;
    uint64_t low, high;

    while (!pipeline_stand(p)) {
        stop_wait(&b->stop, BUILD_POLL_MS);
        if (build_is_stopping(b, err))
            return false;
    }

    bool ok = wait_for(b, pipeline_stands_here, err) &&
              open_count(b, true, &low, &high, err);

    if (ok)
        pipeline_stand_at(p, low, high);
    ok = ok && build_count_tables(b, &out->rows, err) && wait_for(b, pipeline_stands_there, err) &&
         count_documents(b, out, err);

    const uint64_t changes = pipeline_changes(p);

    b->is_slow = !pipeline_go_on(p, &out->moved) && ok;
    return ok && (b->is_slow || tally_agrees_exactly(out) || add_seen(b, changes, out, err));
}

/* Counting takes too long for the stream to stand still: what changes meanwhile blurs it. */
static bool tally_running(struct index_build *b, struct tally *out, struct err *err)
{
    const uint64_t before = pipeline_changes(b->opt.pipeline);
    uint64_t low, high;
    const bool ok = open_count(b, false, &low, &high, err) &&
                    build_count_tables(b, &out->rows, err) && build_catch_up(b, high, err) &&
                    count_documents(b, out, err);

    out->moved = pipeline_changes(b->opt.pipeline) - before;
    return ok;
}

static bool take_tally(struct index_build *b, struct tally *out, struct err *err)
{
    if (b->is_slow)
        return tally_running(b, out, err);
    return tally_standing(b, out, err) && (!b->is_slow || tally_running(b, out, err));
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
                   "the table has %" PRIu64 " rows but the index %" PRIu64
                   " documents and %" PRIu64 " dead letters; the alias was not moved",
                   t.rows, t.documents, t.dead);
}
