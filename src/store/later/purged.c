#include "config.h"

#include "src/store/later/purged.h"

#include "src/base/arena.h"
#include "src/base/mem.h"
#include "src/store/core.h"
#include "src/store/store.h"

#include <stdlib.h>

#define COLUMNS      10
#define ROWS_AT_ONCE 100

static const char put[] =
    "INSERT INTO purged (topic, table_name, index_name, doc_id, routing, key_bytes, version,"
    " unanswered, times, at_ms) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"
    " ON CONFLICT (index_name, doc_id, routing) DO UPDATE SET topic = excluded.topic,"
    " table_name = excluded.table_name, key_bytes = excluded.key_bytes,"
    " version = CASE WHEN excluded.version > version THEN excluded.version ELSE version END,"
    " unanswered = CASE WHEN excluded.unanswered > unanswered THEN excluded.unanswered"
    " ELSE unanswered END, times = times + excluded.times, at_ms = excluded.at_ms";

static void bind_row(const struct stored_purged *p, struct bind *b)
{
    const struct bind row[COLUMNS] = {
        TEXT(p->topic),   TEXT(p->table),   TEXT(p->index),     TEXT(p->doc_id),
        TEXT(p->routing), TEXT(p->key),     NUMBER(p->version), NUMBER(p->unanswered),
        NUMBER(p->times), NUMBER(p->at_ms),
    };

    for (size_t i = 0; i < COLUMNS; i++)
        b[i] = row[i];
}

/* They mostly are of one index. */
static bool is_of_next(const struct stored_purged *p, size_t i)
{
    return i == 0 || !str_equal(p[i].topic, p[i - 1].topic) ||
           !str_equal(p[i].index, p[i - 1].index);
}

/* What they are for. */
static bool fence_all(struct store *s, const struct stored_purged *p, size_t n, struct err *err)
{
    bool ok = true;

    for (size_t i = 0; ok && i < n; i++)
        if (is_of_next(p, i))
            ok = store_fence_filler(s, p[i].topic, p[i].index, err);
    return ok;
}

bool store_put_purged(struct store *s, const struct stored_purged *p, size_t n, struct err *err)
{
    struct bind *binds;
    bool ok;

    if (!store_begin_write(s, OF_NOBODY, err))
        return false;
    ok = fence_all(s, p, n, err);
    binds = mem_alloc(ROWS_AT_ONCE * COLUMNS, sizeof(*binds));
    for (size_t i = 0; ok && i < n;) {
        size_t rows = 0;

        while (i < n && rows < ROWS_AT_ONCE)
            bind_row(&p[i++], binds + rows++ * COLUMNS);
        ok = store_run_rows(s, put, (struct binds){binds, rows * COLUMNS}, rows, err);
    }
    free(binds);
    return store_end(s, ok, err);
}

static void fill(struct arena *a, const struct str *cells, void *element)
{
    *(struct stored_purged *)element = (struct stored_purged){
        .id = row_number(cells[0]),
        .topic = arena_copy(a, cells[1]),
        .table = arena_copy(a, cells[2]),
        .index = arena_copy(a, cells[3]),
        .doc_id = arena_copy(a, cells[4]),
        .routing = arena_copy(a, cells[5]),
        .key = arena_copy(a, cells[6]),
        .version = row_number(cells[7]),
        .unanswered = row_number(cells[8]) != 0,
        .times = row_number(cells[9]),
        .at_ms = (int64_t)row_number(cells[10]),
    };
}

bool store_load_purged(struct store *s, struct arena *a, struct str index,
                       struct purged_filter which, size_t limit, struct stored_purged **out,
                       size_t *n, struct err *err)
{
    static const char sql[] =
        "SELECT id, topic, table_name, index_name, doc_id, routing, key_bytes, version,"
        " unanswered, times, at_ms FROM purged"
        " WHERE index_name = ? AND id > ? AND (unanswered = 0 OR at_ms < ? OR at_ms > ?)"
        " AND (? = '' OR doc_id = ?) ORDER BY id LIMIT ?";
    struct row_list list = ROW_LIST(a, struct stored_purged, fill);

    if (!store_load(s, sql,
                    BINDS(TEXT(index), NUMBER(which.after_id),
                          NUMBER(which.settled_ms < 0 ? 0 : which.settled_ms),
                          NUMBER(which.ahead_ms), TEXT(which.doc_id), TEXT(which.doc_id),
                          NUMBER(limit)),
                    &list, err))
        return false;
    *out = row_list_finish(&list, n);
    return true;
}

static bool end_one(struct store *s, const struct stored_purged *p, uint64_t *changes,
                    struct err *err)
{
    static const char same[] = "SELECT times FROM purged WHERE id = ? AND times = ?{lock}";
    uint64_t times;
    bool found;

    if (!store_select_number(s, same, BINDS(NUMBER(p->id), NUMBER(p->times)), &times, &found,
                             err))
        return false;
    if (!found)
        return true;
    *changes += times;
    return store_run(s, "DELETE FROM purged WHERE id = ?", BINDS(NUMBER(p->id)), err);
}

bool store_end_purged(struct store *s, const struct stored_purged *p, size_t n,
                      uint64_t *changes, struct err *err)
{
    uint64_t gone = 0;
    bool ok = true;

    *changes = 0;
    if (!store_begin_write(s, OF_NOBODY, err))
        return false;
    for (size_t i = 0; ok && i < n; i++)
        ok = (!is_of_next(p, i) || store_fence_as(s, p[i].topic, p[i].term, err)) &&
             end_one(s, &p[i], &gone, err);
    if (!store_end(s, ok, err))
        return false;
    *changes = gone;
    return true;
}

bool store_delete_purged_index(struct store *s, struct str index, struct err *err)
{
    return store_run_alone(s, OF_VERSION(index), "DELETE FROM purged WHERE index_name = ?",
                           BINDS(TEXT(index)), err);
}

static void fill_count(struct arena *a, const struct str *cells, void *element)
{
    *(struct purged_count *)element = (struct purged_count){
        arena_copy(a, cells[0]), arena_copy(a, cells[1]), row_number(cells[2]),
        row_number(cells[3]), (int64_t)row_number(cells[4])};
}

bool store_count_purged(struct store *s, struct arena *a, struct str topic,
                        struct purged_count **out, size_t *n, struct err *err)
{
    static const char sql[] = "SELECT MAX(topic), index_name, COUNT(*), SUM(times), MIN(at_ms)"
                              " FROM purged WHERE ? = '' OR topic = ?"
                              " GROUP BY index_name ORDER BY index_name";
    struct row_list list = ROW_LIST(a, struct purged_count, fill_count);

    if (!store_load(s, sql, BINDS(TEXT(topic), TEXT(topic)), &list, err))
        return false;
    *out = row_list_finish(&list, n);
    return true;
}
