#include "config.h"

#include "rebalance/poll/table_sync.h"

#include "rebalance/build/page_wait.h"
#include "src/base/arena.h"
#include "src/base/buf.h"
#include "src/base/clock.h"
#include "src/base/mem.h"
#include "src/base/thread.h"
#include "src/format/json.h"
#include "src/mysql/mysql.h"
#include "src/store/store.h"
#include "sync/checkpoint/read_position.h"
#include "sync/delivery/delivery.h"
#include "sync/document/poll_query.h"
#include "sync/pipeline/pipeline.h"
#include "sync/position/position.h"
#include "sync/server/server_info.h"

#include <stdlib.h>

#define PAGE_ROWS 500
#define POLL_MS   20
#define BEHIND_MS 10000 /* a run gives up if the stream needs longer to catch up */

/* ---- the cursor ---- */

struct poll_cursor {
    struct buf seen;       /* the latest value of the check column; empty: none yet */
    int64_t advanced_ms;   /* steady: when it was seen first */
    int64_t overlapped_ms; /* steady: start of the last run with an overlap */
    bool settled;          /* no transaction can still commit an earlier value */
};

static void name_cursor(struct buf *name, struct str index)
{
    buf_printf(name, STORE_SYNC "%" STR_FMT, STR_ARG(index));
}

static bool save_cursor(struct store *store, struct str index, const struct poll_cursor *c,
                        struct err *err)
{
    struct buf name = {0}, value = {0};
    struct json_writer w = {.out = &value};

    name_cursor(&name, index);
    json_open_object(&w);
    json_put_string(&w, STR("seen"), buf_str(&c->seen));
    json_put_i64(&w, STR("advanced_ms"), c->advanced_ms);
    json_put_i64(&w, STR("overlapped_ms"), c->overlapped_ms);
    json_put_bool(&w, STR("settled"), c->settled);
    json_close_object(&w);

    const bool ok = store_put_value(store, buf_str(&name), buf_str(&value), err);

    buf_free(&name);
    buf_free(&value);
    return ok;
}

/* A version that was built without syncs has no cursor: then all rows are read again. */
static bool load_cursor(struct store *store, struct str index, struct poll_cursor *c,
                        struct err *err)
{
    struct buf name = {0}, value = {0};
    uint64_t advanced_ms = 0, overlapped_ms = 0;
    bool found;

    name_cursor(&name, index);

    const bool ok = store_get_value(store, buf_str(&name), &value, &found, err);

    if (ok && found) {
        (void)json_find_text(buf_str(&value), "/seen", &c->seen);
        (void)json_find_u64(buf_str(&value), "/advanced_ms", &advanced_ms);
        (void)json_find_u64(buf_str(&value), "/overlapped_ms", &overlapped_ms);
        (void)json_find_bool(buf_str(&value), "/settled", &c->settled);
        c->advanced_ms = (int64_t)advanced_ms;
        c->overlapped_ms = (int64_t)overlapped_ms;
    }
    buf_free(&name);
    buf_free(&value);
    return ok;
}

bool table_sync_begin(struct store *store, struct mysql_conn *conn, const struct plan *plan,
                      struct str check, struct str index, struct err *err)
{
    struct poll_cursor c = {.advanced_ms = clock_steady_ms()};
    const bool ok =
        poll_latest(conn, plan, check, &c.seen, err) && save_cursor(store, index, &c, err);

    buf_free(&c.seen);
    return ok;
}

/* ---- a page in flight ---- */

static bool hand_over(const struct table_sync *s, const struct poll_row *rows, size_t n,
                      struct err *err)
{
    const uint64_t read = read_position_version(pipeline_read_position(s->pipeline));
    struct doc_write *writes = mem_alloc(n, sizeof(*writes));
    struct ticket *ticket;
    struct page_wait *wait = page_wait_new(&ticket);
    size_t n_writes = 0;

    for (size_t i = 0; i < n; i++)
        if (rows[i].id.len > 0)
            writes[n_writes++] = (struct doc_write){.target = target_ref(s->target),
                                                    .ticket = ticket_ref(ticket),
                                                    .op = DOC_REFRESH,
                                                    .fresh = true,
                                                    .version = read + 1,
                                                    .id = rows[i].id,
                                                    .key = rows[i].key};

    const bool taken =
        n_writes == 0 || delivery_submit_until(s->delivery, s->stop, writes, n_writes, err);

    for (size_t i = 0; !taken && i < n_writes; i++) {
        ticket_abandon(writes[i].ticket);
        target_unref(writes[i].target);
    }
    free(writes);
    ticket_done(ticket, OUTCOME_DELIVERED);

    const bool done = taken && page_wait_end(wait, s->stop, err);

    page_wait_free(wait);
    return done;
}

/* ---- a run ---- */

/*
 * Wait until the stream has read the log's present end: all earlier writes, also those before a
 * restart, have versions below it.
 */
static bool wait_for_stream(const struct table_sync *s, struct mysql_conn *conn,
                            struct err *err)
{
    struct read_position *reader = pipeline_read_position(s->pipeline);
    const int64_t until = clock_mono_ms() + BEHIND_MS;
    struct log_end end = {0};
    uint64_t version;

    if (!server_log_end(conn, &end, err))
        return false;
    free(end.gtids);
    if (!position_version((struct position){str_from(end.file), end.offset},
                          pipeline_epoch(s->pipeline), &version, err))
        return false;
    while (read_position_version(reader) < version) {
        if (clock_mono_ms() > until)
            return err_set(err, ERR_RETRY, "the stream has not reached the end of the log yet");
        if (stop_wait(s->stop, POLL_MS))
            return err_set(err, ERR_STOP, "stopping");
    }
    return true;
}

static void advance(struct poll_cursor *c, struct str value)
{
    const struct str seen = buf_str(&c->seen);

    /* Values of one column have equal lengths and sort as text. */
    if (seen.len > 0 && (value.len < seen.len || memcmp(value.ptr, seen.ptr, seen.len) <= 0))
        return;
    buf_clear(&c->seen);
    buf_append(&c->seen, value);
    c->advanced_ms = clock_steady_ms();
    c->settled = false;
}

/* Read all pages from the cursor on. */
static bool read_pages(const struct table_sync *s, struct mysql_conn *conn,
                       struct poll_cursor *c, bool overlap, uint64_t *rows, struct err *err)
{
    struct arena *a = arena_new(), *before = NULL;
    struct poll_page page = {.plan = s->plan,
                             .check = s->check,
                             .since = arena_copy(a, buf_str(&c->seen)),
                             .overlap_s = overlap ? s->overlap_s : 0,
                             .limit = PAGE_ROWS};
    size_t n;
    bool ok = true, end = false;

    while (ok && !end) {
        struct arena *mine = arena_new();
        struct poll_row *found;

        ok = poll_load(conn, &page, mine, &found, &n, &end, err) &&
             (n == 0 || hand_over(s, found, n, err));
        if (ok && n > 0) {
            *rows += n;
            advance(c, found[n - 1].value);
            page.last = &found[n - 1];
            ok = save_cursor(s->store, str_from(s->target->index), c, err);
        }
        arena_free(before);
        before = mine;
    }
    arena_free(before);
    arena_free(a);
    return ok;
}

bool table_sync_run(const struct table_sync *s, uint64_t *rows, struct err *err)
{
    const int64_t began_ms = clock_steady_ms(), overlap_ms = (int64_t)s->overlap_s * 1000;
    const struct str index = str_from(s->target->index);
    struct mysql_conn *conn = NULL;
    struct poll_cursor c = {0};

    *rows = 0;

    bool ok = load_cursor(s->store, index, &c, err);
    /* A time ahead of now: somebody has set the clock back. */
    const bool is_long_ago =
        began_ms < c.overlapped_ms || began_ms - c.overlapped_ms >= overlap_ms / 2;
    const bool overlap = !c.settled && is_long_ago;

    ok = ok && pipeline_connect(s->pipeline, 0, &conn, err) && wait_for_stream(s, conn, err) &&
         read_pages(s, conn, &c, overlap, rows, err);
    if (ok && overlap) {
        c.overlapped_ms = began_ms;
        c.settled = began_ms >= c.advanced_ms + overlap_ms;
        ok = save_cursor(s->store, index, &c, err);
    }
    mysql_conn_close(conn);
    buf_free(&c.seen);
    return ok;
}
