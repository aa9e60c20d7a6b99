#include "config.h"

#include "rebalance/replay/parts.h"
#include "rebalance/replay/span.h"

#include "rebalance/verify/changed.h"

#include "src/file/zone_file.h"
#include "src/format/zone.h"
#include "sync/document/poll_query.h"
#include "sync/value/schema.h"
#include "sync/value/temporal.h"

#include <string.h>

#define PAGE_ROWS 500
#define FRACTION  ".999999" /* the last instant of a second, as columns have it */

/* The day as the column has it: after `after`, up to but without `end`. */
struct bounds {
    char after[TEMPORAL_MAX + sizeof(FRACTION)], end[TEMPORAL_MAX + 1];
};

/* A local time, or UTC; "2026-11-26 00:00:00".  Returns its length. */
static size_t format(char *out, int64_t seconds)
{
    const size_t len = temporal_epoch(out, (uint64_t)(seconds < 0 ? 0 : seconds));
    char *t = memchr(out, 'T', len);

    if (t != NULL)
        *t = ' ';
    out[len] = '\0';
    return len;
}

static bool find_bounds(const struct replay_span *span, const struct column *c,
                        const struct zone *zone, struct bounds *out)
{
    const bool is_local = c->type == COLUMN_DATETIME || c->type == COLUMN_DATE;
    const int64_t begin = span->begins_s + (is_local ? zone_offset(zone, span->begins_s) : 0);
    const int64_t end = span->ends_s + (is_local ? zone_offset(zone, span->ends_s) : 0);

    if (!is_local && c->type != COLUMN_TIMESTAMP)
        return false;
    memcpy(out->after + format(out->after, begin - 1), FRACTION, sizeof(FRACTION));
    (void)format(out->end, end);
    return true;
}

/* ---- a table ---- */

static bool add(struct replay *r, const struct target *t, const struct poll_row *row,
                struct err *err)
{
    const struct replay_document d = {
        .member = str_from(t->table), .doc_id = row->id, .routing = STR(""), .key = row->key};

    return row->id.len == 0 || replay_keys_add(r->keys, &d, err);
}

static bool load_page(struct replay *r, const struct target *t, const struct poll_page *page,
                      struct arena *a, struct poll_row **rows, size_t *n, bool *end,
                      struct err *err)
{
    struct err ignored = {0};
    uint64_t stamp;

    if (!read_links_open(&r->run.links, t->plan, 0, &stamp, err))
        return false;

    const bool ok = poll_load(r->run.links.conns[0], page, a, rows, n, end, err);

    return read_links_end(&r->run.links, ok ? err : &ignored) && ok;
}

/* The rows come in the order of the column; *end: the rest is of later days. */
static bool add_page(struct replay *r, const struct target *t, const struct bounds *day,
                     const struct poll_row *rows, size_t n, bool *end, struct err *err)
{
    for (size_t i = 0; i < n; i++) {
        if (str_order(rows[i].value, str_from(day->end)) >= 0) {
            *end = true;
            return true;
        }
        if (!add(r, t, &rows[i], err))
            return false;
    }
    return true;
}

static bool read_table(struct replay *r, const struct target *t, struct str column,
                       const struct bounds *day, struct err *err)
{
    struct arena *a = arena_new(), *before = NULL;
    struct poll_page page = {.plan = replay_plan(t),
                             .check = column,
                             .since = str_from(day->after),
                             .limit = PAGE_ROWS};
    struct poll_row *rows;
    bool ok = true, end = false;
    size_t n;

    while (ok && !end) {
        struct arena *mine = arena_new();

        ok = load_page(r, t, &page, mine, &rows, &n, &end, err) &&
             add_page(r, t, day, rows, n, &end, err);
        page.last = ok && n > 0 ? &rows[n - 1] : NULL;
        arena_free(before);
        before = mine;
        ok = ok && replay_save(r, err) && replay_may_go_on(r, err);
    }
    arena_free(before);
    arena_free(a);
    return ok;
}

/* ---- the phase ---- */

static void leave_out(struct replay *r, const struct target *t, const char *why)
{
    replay_note(r,
                "%s was not replayed, as %s; fix: millrace verify %s --repair compares it all",
                t->table, why, t->table);
}

static bool read_member(struct replay *r, const struct replay_span *span,
                        const struct zone *zone, const struct target *t, struct err *err)
{
    struct definitions *d = coordinator_definitions(r->co);
    const struct plan *plan = replay_plan(t);
    const struct schema *s = plan_place_schema(plan, 0);
    const struct str column =
        arena_copy(r->run.arena, verify_changed_column(d, str_from(t->table)));
    const size_t at = column.len == 0 ? SIZE_MAX : schema_find(s, column);
    struct bounds day;

    definitions_unref(d);
    if (at == SIZE_MAX)
        leave_out(r, t, "it has no daily_check_column, which would tell the rows of that day");
    else if (!find_bounds(span, &s->columns[at], zone, &day))
        leave_out(r, t, "its daily_check_column is no TIMESTAMP, DATETIME or DATE");
    else if (plan_is_routed(plan))
        leave_out(r, t, "only the log tells where its documents lie (join)");
    else
        return replay_keys_put_number(r->keys, "by_time", 1, err) &&
               read_table(r, t, column, &day, err);
    return true;
}

static bool read_members(struct replay *r, const struct replay_span *span, struct err *err)
{
    struct zone *zone = NULL;
    bool ok = zone_open(span->zone, &zone, err);

    for (size_t i = 0; ok && i < r->run.n_targets; i++)
        ok = read_member(r, span, zone, r->run.targets[i], err);
    zone_free(zone);
    return ok;
}

bool replay_by_time(struct replay *r, struct err *err)
{
    struct buf gone = {0};
    struct replay_span span;
    bool ok = replay_keys_get(r->keys, "gone", &gone, err);

    if (ok && gone.len > 0)
        ok = replay_find_span(r, r->run.topic, r->run.arena, &span, err) &&
             read_members(r, &span, err) && replay_save(r, err);
    if (!ok)
        replay_keys_undo(r->keys);
    buf_free(&gone);
    return ok;
}
