#include "config.h"

#include "src/store/later/snapshot.h"

#include "src/base/arena.h"
#include "src/base/buf.h"
#include "src/store/core.h"
#include "src/store/later/whole_table.h"
#include "src/store/store.h"

#include <assert.h>
#include <time.h>
#include <xxhash.h>

#define ROWS_AT_ONCE 100
#define IDS_AT_ONCE  10000
#define BINDS_BY_IDS 6
#define COLUMNS      9
#define LEAD_COLUMNS 11

static const char put_rows[] =
    "INSERT INTO snapshot (topic, table_name, op, row_id, day, status, run, version, row_json,"
    " created_ms, updated_ms) VALUES (?, ?, ?, ?, ?, 'init', 0, ?, ?, ?, ?)"
    " ON CONFLICT (topic, table_name, op, row_id, day, status) DO UPDATE SET"
    " version = CASE WHEN excluded.version > version THEN excluded.version ELSE version END,"
    " row_json = excluded.row_json, updated_ms = excluded.updated_ms";
static const char put_leads[] =
    "INSERT INTO snapshot_lead (snapshot, topic, index_name, version, member, place, by_row,"
    " was, key_hash, key_bytes, at_least) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"
    " ON CONFLICT (snapshot, index_name, version, place, by_row, was, key_hash) DO UPDATE SET"
    " at_least = CASE WHEN excluded.at_least > at_least THEN excluded.at_least"
    " ELSE at_least END";

struct day {
    char text[sizeof("2026-11-27")];
};

static struct day day_of(int64_t now_ms)
{
    const time_t now = (time_t)(now_ms / 1000);
    struct day d;
    struct tm tm;

    gmtime_r(&now, &tm);
    strftime(d.text, sizeof(d.text), "%Y-%m-%d", &tm);
    return d;
}

/* Members share places only in what tells them apart; bound numbers are below 2^63. */
static uint64_t hash_of(const struct stored_fan_out *job)
{
    return XXH64(job->key.ptr, job->key.len, XXH64(job->member.ptr, job->member.len, 0)) >> 1;
}

static bool put_chunk(struct store *s, const struct snapshot_put *p, struct str day,
                      const struct snapshot_change *c, size_t n, struct err *err)
{
    struct bind binds[ROWS_AT_ONCE * COLUMNS];
    size_t k = 0;

    for (size_t i = 0; i < n; i++) {
        const struct bind row[COLUMNS] = {
            TEXT(p->owner.topic),    TEXT(p->table),    TEXT(c[i].row.op),
            TEXT(c[i].row.row_id),   TEXT(day),         NUMBER(c[i].lead.at_least),
            TEXT(c[i].row.row_json), NUMBER(p->now_ms), NUMBER(p->now_ms)};

        for (size_t column = 0; column < COLUMNS; column++)
            binds[k++] = row[column];
    }
    return store_run_rows(s, put_rows, (struct binds){binds, k}, n, err);
}

struct id_of_row {
    struct str op, row_id;
    uint64_t id;
};

static void fill_id(struct arena *a, const struct str *cells, void *element)
{
    *(struct id_of_row *)element = (struct id_of_row){
        arena_copy(a, cells[1]), arena_copy(a, cells[2]), row_number(cells[0])};
}

#define TEN           "?, ?, ?, ?, ?, ?, ?, ?, ?, ?"
#define TEN_AND(more) TEN ", " more
#define ROWS_ASKED \
    TEN_AND(TEN_AND(TEN_AND(TEN_AND(TEN_AND(TEN_AND(TEN_AND(TEN_AND(TEN_AND(TEN)))))))))

/*
 * The ids of the waiting snapshots of n rows; the last one stands for those up to a hundred.
 * Naming the operations has the unique index lead there, however many snapshots there are.
 */
static bool find_ids(struct store *s, struct arena *a, const struct snapshot_put *p,
                     struct str day, const struct snapshot_change *c, size_t n,
                     struct id_of_row **out, size_t *n_out, struct err *err)
{
    static const char sql[] =
        "SELECT id, op, row_id FROM snapshot WHERE topic = ? AND table_name = ?"
        " AND op IN ('insert', 'update', 'delete', '" WHOLE_TABLE_OP "') AND day = ?"
        " AND status = 'init'"
        " AND row_id IN (" ROWS_ASKED "){lock}";
    struct row_list list = ROW_LIST(a, struct id_of_row, fill_id);
    struct bind binds[3 + ROWS_AT_ONCE] = {TEXT(p->owner.topic), TEXT(p->table), TEXT(day)};

    for (size_t i = 0; i < ROWS_AT_ONCE; i++)
        binds[3 + i] = TEXT(c[i < n ? i : n - 1].row.row_id);

    const bool ok =
        store_select(s, sql, (struct binds){binds, ARRAY_LEN(binds)}, &list.sink, err);

    *out = row_list_finish(&list, n_out);
    return ok;
}

static uint64_t id_of(const struct id_of_row *ids, size_t n, const struct snapshot_change *c)
{
    for (size_t i = 0; i < n; i++)
        if (str_equal(ids[i].op, c->row.op) && str_equal(ids[i].row_id, c->row.row_id))
            return ids[i].id;
    return 0;
}

static bool put_leads_of(struct store *s, const struct id_of_row *ids, size_t n_ids,
                         const struct snapshot_change *c, size_t n, struct err *err)
{
    struct bind binds[ROWS_AT_ONCE * LEAD_COLUMNS];
    size_t k = 0;

    for (size_t i = 0; i < n; i++) {
        const struct stored_fan_out *j = &c[i].lead;
        const struct bind row[LEAD_COLUMNS] = {NUMBER(id_of(ids, n_ids, &c[i])),
                                               TEXT(j->topic),
                                               TEXT(j->index),
                                               NUMBER(j->version),
                                               TEXT(j->member),
                                               NUMBER(j->place),
                                               NUMBER(j->by),
                                               NUMBER(c[i].row.was),
                                               NUMBER(hash_of(j)),
                                               TEXT(j->key),
                                               NUMBER(j->at_least)};

        for (size_t column = 0; column < LEAD_COLUMNS; column++)
            binds[k++] = row[column];
    }
    return store_run_rows(s, put_leads, (struct binds){binds, k}, n, err);
}

bool store_put_snapshots(struct store *s, const struct snapshot_put *p,
                         const struct snapshot_change *c, size_t n, struct err *err)
{
    const struct day day = day_of(p->now_ms);
    struct arena *a;
    bool ok = true;

    if (n == 0)
        return true;
    if (!store_begin_as(s, p->owner.topic, p->owner.term, err))
        return false;
    a = arena_new();
    for (size_t i = 0; ok && i < n; i += ROWS_AT_ONCE) {
        const size_t rows = n - i < ROWS_AT_ONCE ? n - i : ROWS_AT_ONCE;
        struct id_of_row *ids;
        size_t n_ids;

        ok = put_chunk(s, p, str_from(day.text), c + i, rows, err) &&
             find_ids(s, a, p, str_from(day.text), c + i, rows, &ids, &n_ids, err) &&
             put_leads_of(s, ids, n_ids, c + i, rows, err);
    }
    arena_free(a);
    return store_end(s, ok, err);
}

/* ---- a run ---- */

static void fill_run(struct arena *a, const struct str *cells, void *element)
{
    *(struct snapshot_run *)element = (struct snapshot_run){
        .id = row_number(cells[0]),
        .topic = arena_copy(a, cells[1]),
        .table = arena_copy(a, cells[2]),
        .one = row_number(cells[3]),
        .after_id = row_number(cells[4]),
        .level = row_number(cells[5]),
        .level_after = arena_copy(a, cells[6]),
        .n_all = row_number(cells[7]),
        .n_done = row_number(cells[8]),
        .created_ms = (int64_t)row_number(cells[9]),
        .updated_ms = (int64_t)row_number(cells[10]),
        .builds = row_number(cells[11]),
        .builds_after = row_number(cells[12]),
    };
}

static bool select_runs(struct store *s, struct arena *a, struct str topic,
                        struct snapshot_run **out, size_t *n, struct err *err)
{
    static const char sql[] =
        "SELECT id, topic, table_name, one, after_id, level, level_after, n_all, n_done,"
        " created_ms, updated_ms, builds, builds_after FROM snapshot_run"
        " WHERE ? = '' OR topic = ? ORDER BY id";
    struct row_list list = ROW_LIST(a, struct snapshot_run, fill_run);
    const bool ok = store_select(s, sql, BINDS(TEXT(topic), TEXT(topic)), &list.sink, err);

    *out = row_list_finish(&list, n);
    return ok;
}

bool store_load_snapshot_runs(struct store *s, struct arena *a, struct str topic,
                              struct snapshot_run **out, size_t *n, struct err *err)
{
    return store_begin(s, err) && store_end(s, select_runs(s, a, topic, out, n, err), err);
}

/* Sets r->n_all. */
static bool count_taken(struct store *s, struct snapshot_run *r, struct err *err)
{
    static const char one[] = "SELECT COUNT(*) FROM snapshot WHERE id = ? AND topic = ?",
                      all[] = "SELECT COUNT(*) FROM snapshot WHERE run = ? AND topic = ?";

    if (!store_select_number(s, r->one != 0 ? one : all,
                             BINDS(NUMBER(r->one != 0 ? r->one : r->id), TEXT(r->topic)),
                             &r->n_all, NULL, err))
        return false;
    if (r->one == 0 || r->n_all > 0)
        return store_run(s, "UPDATE snapshot_run SET n_all = ? WHERE id = ?",
                         BINDS(NUMBER(r->n_all), NUMBER(r->id)), err);
    err_set(err, ERR_REJECT, "there is no snapshot %llu", (unsigned long long)r->one);
    err->code = 404;
    return false;
}

/* Some ids at a time: SQLite keeps in memory what a statement changes, until it ends. */
struct id_range {
    uint64_t first, last;
};

struct range_sink {
    struct row_sink sink;
    struct id_range range;
};

static void take_range(struct row_sink *sink, const struct str *cells)
{
    struct range_sink *r = CONTAINER_OF(sink, struct range_sink, sink);

    r->range = (struct id_range){row_number(cells[0]), row_number(cells[1])};
}

/* sql: of the least and the greatest id; NULLs if there is none, as for an empty range. */
static bool find_range(struct store *s, const char *sql, struct binds binds,
                       struct id_range *out, struct err *err)
{
    struct range_sink sink = {.sink = {take_range}};
    const bool ok = store_select(s, sql, binds, &sink.sink, err);

    *out = sink.range;
    return ok;
}

/* sql: its last two parameters are the id before the first one, and the last one. */
static bool run_by_ids(struct store *s, const char *sql, struct binds binds,
                       const struct id_range *ids, struct err *err)
{
    struct bind all[BINDS_BY_IDS + 2];
    bool ok = true;

    assert(binds.n <= BINDS_BY_IDS);
    for (size_t i = 0; i < binds.n; i++)
        all[i] = binds.items[i];
    for (uint64_t at = ids->first; ok && at != 0 && at <= ids->last; at += IDS_AT_ONCE) {
        all[binds.n] = NUMBER(at - 1);
        all[binds.n + 1] = NUMBER(at - 1 + IDS_AT_ONCE);
        ok = store_run(s, sql, (struct binds){all, binds.n + 2}, err);
    }
    return ok;
}

/* Take what waits, up to r->up_to. */
static bool take(struct store *s, const struct snapshot_run *r, struct err *err)
{
    static const char range[] = "SELECT MIN(id), MAX(id) FROM snapshot WHERE topic = ?"
                                " AND status = 'init' AND id <= ?";
    static const char sql[] =
        "UPDATE snapshot SET status = 'running', run = ?, updated_ms = ? WHERE topic = ?"
        " AND status = 'init' AND id <= ? AND (? = '' OR table_name = ?) AND id > ?"
        " AND id <= ?";
    struct id_range ids;

    return find_range(s, range, BINDS(TEXT(r->topic), NUMBER(r->up_to)), &ids, err) &&
           run_by_ids(s, sql,
                      BINDS(NUMBER(r->id), NUMBER(r->created_ms), TEXT(r->topic),
                            NUMBER(r->up_to), TEXT(r->table), TEXT(r->table)),
                      &ids, err);
}

static bool begin_run(struct store *s, struct snapshot_run *r, struct err *err)
{
    static const char insert[] =
        "INSERT INTO snapshot_run (topic, table_name, one, after_id, level, level_after, n_all,"
        " n_done, created_ms, updated_ms) VALUES (?, ?, ?, 0, 0, '', 0, 0, ?, ?)";

    return store_run(s, insert,
                     BINDS(TEXT(r->topic), TEXT(r->table), NUMBER(r->one),
                           NUMBER(r->created_ms), NUMBER(r->created_ms)),
                     err) &&
           store_select_number(s, "SELECT id FROM snapshot_run WHERE topic = ?",
                               BINDS(TEXT(r->topic)), &r->id, NULL, err) &&
           (r->one != 0 || take(s, r, err)) && count_taken(s, r, err);
}

struct newest_sink {
    struct row_sink sink;
    uint64_t id, version;
};

static void take_newest(struct row_sink *sink, const struct str *cells)
{
    struct newest_sink *n = CONTAINER_OF(sink, struct newest_sink, sink);

    n->id = row_number(cells[0]);
    n->version = row_number(cells[1]);
}

bool store_newest_snapshot(struct store *s, struct str topic, struct str table, uint64_t *id,
                           uint64_t *version, struct err *err)
{
    static const char sql[] = "SELECT MAX(id), MAX(version) FROM snapshot WHERE topic = ?"
                              " AND status = 'init' AND (? = '' OR table_name = ?)";
    struct newest_sink newest = {.sink = {take_newest}};

    if (!store_begin(s, err))
        return false;

    const bool ok =
        store_select(s, sql, BINDS(TEXT(topic), TEXT(table), TEXT(table)), &newest.sink, err);

    *id = newest.id;
    *version = newest.version;
    return store_end(s, ok, err);
}

bool store_begin_snapshot_run(struct store *s, struct arena *a,
                              const struct snapshot_owner *owner, int64_t now_ms,
                              struct snapshot_run *run, bool *busy, struct err *err)
{
    struct snapshot_run *there;
    size_t n = 0;

    *busy = false;
    if (!store_begin_as(s, owner->topic, owner->term, err))
        return false;
    run->topic = owner->topic;
    run->created_ms = run->updated_ms = now_ms;

    bool ok = select_runs(s, a, owner->topic, &there, &n, err);

    *busy = ok && n > 0;
    if (*busy)
        *run = there[0];
    else
        ok = ok && begin_run(s, run, err);
    return store_end(s, ok, err);
}

static void fill_lead(struct arena *a, const struct str *cells, void *element)
{
    *(struct snapshot_lead *)element = (struct snapshot_lead){
        .snapshot = row_number(cells[0]),
        .was = row_number(cells[7]) != 0,
        .job = {.topic = arena_copy(a, cells[1]),
                .index = arena_copy(a, cells[2]),
                .version = row_number(cells[3]),
                .member = arena_copy(a, cells[4]),
                .place = (uint32_t)row_number(cells[5]),
                .by = (unsigned)row_number(cells[6]),
                .key = arena_copy(a, cells[8]),
                .at_least = row_number(cells[9])},
    };
}

bool store_load_leads(struct store *s, struct arena *a, uint64_t first, uint64_t last,
                      struct snapshot_lead **out, size_t *n, struct err *err)
{
    static const char sql[] =
        "SELECT snapshot, topic, index_name, version, member, place, by_row, was, key_bytes,"
        " at_least FROM snapshot_lead WHERE snapshot >= ? AND snapshot <= ?"
        " ORDER BY snapshot, id";
    struct row_list list = ROW_LIST(a, struct snapshot_lead, fill_lead);

    if (!store_load(s, sql, BINDS(NUMBER(first), NUMBER(last)), &list, err))
        return false;
    *out = row_list_finish(&list, n);
    return true;
}

static bool save_run(struct store *s, const struct snapshot_run *r, struct err *err)
{
    static const char sql[] =
        "UPDATE snapshot_run SET after_id = ?, level = ?, level_after = ?,"
        " n_done = ?, updated_ms = ? WHERE id = ?";

    return store_run(s, sql,
                     BINDS(NUMBER(r->after_id), NUMBER(r->level), TEXT(r->level_after),
                           NUMBER(r->n_done), NUMBER(r->updated_ms), NUMBER(r->id)),
                     err);
}

static bool is_there(struct store *s, uint64_t run, struct err *err)
{
    uint64_t ignored;
    bool found;

    if (!store_select_number(s, "SELECT id FROM snapshot_run WHERE id = ?{lock}",
                             BINDS(NUMBER(run)), &ignored, &found, err))
        return false;
    return found ||
           err_set(err, ERR_STOP, "delayed run %llu has ended", (unsigned long long)run);
}

bool store_release_snapshots(struct store *s, const struct snapshot_owner *owner,
                             const struct snapshot_run *at, const struct snapshot_release *what,
                             struct err *err)
{
    static const char forget[] =
        "DELETE FROM snapshot_lead WHERE snapshot > ? AND snapshot <= ? AND place <> 0"
        " AND snapshot IN"
        " (SELECT id FROM snapshot WHERE run = ? AND status = 'running' AND id > ?"
        " AND id <= ?)";

    if (!store_begin_as(s, owner->topic, owner->term, err))
        return false;

    const bool ok = is_there(s, at->id, err) &&
                    store_write_fan_outs(s, what->jobs, what->n_jobs, err) &&
                    store_write_parts(s, what->parts, what->n_parts, err) &&
                    store_run(s, forget,
                              BINDS(NUMBER(at->from_id), NUMBER(at->after_id), NUMBER(at->id),
                                    NUMBER(at->from_id), NUMBER(at->after_id)),
                              err) &&
                    save_run(s, at, err);

    return store_end(s, ok, err);
}

bool store_count_released(struct store *s, struct str topic, struct str table, int64_t now_ms,
                          uint64_t *n, struct err *err)
{
    static const char sql[] =
        "SELECT COUNT(*) FROM fan_out WHERE source = ? AND (mark = 0 OR created_ms <= ?)"
        " AND (table_name = ? OR (? = '' AND EXISTS (SELECT 1 FROM snapshot s"
        " WHERE s.topic = fan_out.source AND s.table_name = fan_out.table_name)))";

    if (!store_begin(s, err))
        return false;

    const bool ok = store_select_number(
        s, sql, BINDS(TEXT(topic), NUMBER(now_ms), TEXT(table), TEXT(table)), n, NULL, err);

    return store_end(s, ok, err);
}

/* ---- the end ---- */

/* What was done earlier on the same day gives way; then both statuses are unique. */
#define MAKE_WAY(which)                                                                       \
    "DELETE FROM snapshot WHERE status = 'done' AND id IN (SELECT id FROM (SELECT d.id AS id" \
    " FROM snapshot d JOIN snapshot r ON d.topic = r.topic AND d.table_name = r.table_name"   \
    " AND d.op = r.op AND d.row_id = r.row_id AND d.day = r.day AND d.id <> r.id"             \
    " WHERE d.status = 'done' AND " which ") x)"

static bool end_run(struct store *s, uint64_t run, int64_t now_ms, struct err *err)
{
    static const char range[] = "SELECT MIN(id), MAX(id) FROM snapshot WHERE run = ?"
                                " AND status = 'running'";
    static const char way[] =
        MAKE_WAY("r.status = 'running' AND r.run = ? AND r.id > ? AND r.id <= ?");
    static const char done[] = "UPDATE snapshot SET status = 'done', updated_ms = ?"
                               " WHERE run = ? AND status = 'running' AND id > ? AND id <= ?";
    struct id_range ids;

    return store_write_unbuilt(s, run, now_ms, err) &&
           find_range(s, range, BINDS(NUMBER(run)), &ids, err) &&
           run_by_ids(s, way, BINDS(NUMBER(run)), &ids, err) &&
           run_by_ids(s, done, BINDS(NUMBER(now_ms), NUMBER(run)), &ids, err) &&
           store_run(s, "DELETE FROM snapshot_run WHERE id = ?", BINDS(NUMBER(run)), err);
}

/* A part, and its term, which nobody asks for any more. */
static bool forget_part(struct store *s, uint64_t job, struct err *err)
{
    static const char forget[] = "DELETE FROM job WHERE id = ? AND kind = '" JOB_PART "'",
                      term[] = "DELETE FROM term WHERE thing = ? AND NOT EXISTS"
                               " (SELECT 1 FROM job WHERE id = ?)";
    struct buf thing = {0};

    buf_printf(&thing, "job/%llu", (unsigned long long)job);

    const bool ok = store_run(s, forget, BINDS(NUMBER(job)), err) &&
                    store_run(s, term, BINDS(TEXT(buf_str(&thing)), NUMBER(job)), err);

    buf_free(&thing);
    return ok;
}

static void fill_number(struct arena *a, const struct str *cells, void *element)
{
    (void)a;
    *(uint64_t *)element = row_number(cells[0]);
}

/* A topic has one run, and its parts write documents of the topic. */
static bool forget_parts(struct store *s, struct str topic, struct err *err)
{
    static const char sql[] =
        "SELECT j.id FROM job j JOIN index_version v ON v.index_name = j.index_name"
        " AND v.number = j.version WHERE j.kind = '" JOB_PART "' AND v.topic = ?";
    struct arena *a = arena_new();
    struct row_list list = ROW_LIST(a, uint64_t, fill_number);
    bool ok = store_select(s, sql, BINDS(TEXT(topic)), &list.sink, err);
    size_t n;
    const uint64_t *ids = row_list_finish(&list, &n);

    for (size_t i = 0; ok && i < n; i++)
        ok = forget_part(s, ids[i], err);
    arena_free(a);
    return ok;
}

bool store_forget_part(struct store *s, const struct snapshot_owner *owner, uint64_t job,
                       struct err *err)
{
    return store_begin_as(s, owner->topic, owner->term, err) &&
           store_end(s, forget_part(s, job, err), err);
}

bool store_end_snapshot_run(struct store *s, const struct snapshot_owner *owner, uint64_t run,
                            int64_t now_ms, struct err *err)
{
    if (!store_begin_as(s, owner->topic, owner->term, err))
        return false;
    return store_end(s, end_run(s, run, now_ms, err) && forget_parts(s, owner->topic, err),
                     err);
}

static bool mark(struct store *s, uint64_t id, int64_t now_ms, struct err *err)
{
    static const char done[] =
        "UPDATE snapshot SET status = 'done', updated_ms = ? WHERE id = ?";

    return store_run(s, MAKE_WAY("r.id = ?"), BINDS(NUMBER(id)), err) &&
           store_run(s, "DELETE FROM snapshot_lead WHERE snapshot = ?", BINDS(NUMBER(id)),
                     err) &&
           store_run(s, done, BINDS(NUMBER(now_ms), NUMBER(id)), err);
}

bool store_mark_snapshot(struct store *s, struct str topic, uint64_t id, int64_t now_ms,
                         bool dry_run, bool *found, struct err *err)
{
    static const char waits[] =
        "SELECT id FROM snapshot WHERE id = ? AND topic = ? AND status = 'init'{lock}";
    uint64_t ignored;

    *found = false;
    if (!store_begin_write(s, OF_TOPIC(topic), err))
        return false;

    const bool ok =
        store_select_number(s, waits, BINDS(NUMBER(id), TEXT(topic)), &ignored, found, err) &&
        (!*found || dry_run || mark(s, id, now_ms, err));

    return store_end(s, ok, err);
}

static bool prune(struct store *s, int64_t before_ms, struct err *err)
{
    static const char range[] = "SELECT MIN(id), MAX(id) FROM snapshot WHERE status = 'done'"
                                " AND updated_ms < ?";
    static const char sql[] = "DELETE FROM snapshot WHERE status = 'done' AND updated_ms < ?"
                              " AND id > ? AND id <= ?";
    struct id_range ids;

    return find_range(s, range, BINDS(NUMBER(before_ms)), &ids, err) &&
           run_by_ids(s, sql, BINDS(NUMBER(before_ms)), &ids, err);
}

bool store_prune_snapshots(struct store *s, int64_t before_ms, struct err *err)
{
    return store_begin_write(s, OF_NOBODY, err) && store_end(s, prune(s, before_ms, err), err);
}
