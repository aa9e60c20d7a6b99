#include "config.h"

#include "src/base/arena.h"
#include "src/store/core.h"
#include "src/store/later/snapshot.h"
#include "src/store/store.h"

static void fill(struct arena *a, const struct str *cells, void *element)
{
    *(struct stored_snapshot *)element = (struct stored_snapshot){
        .id = row_number(cells[0]),
        .topic = arena_copy(a, cells[1]),
        .table = arena_copy(a, cells[2]),
        .op = arena_copy(a, cells[3]),
        .row_id = arena_copy(a, cells[4]),
        .day = arena_copy(a, cells[5]),
        .status = arena_copy(a, cells[6]),
        .run = row_number(cells[7]),
        .version = row_number(cells[8]),
        .row_json = arena_copy(a, cells[9]),
        .created_ms = (int64_t)row_number(cells[10]),
        .updated_ms = (int64_t)row_number(cells[11]),
    };
}

bool store_load_snapshots(struct store *s, struct arena *a, const struct snapshot_filter *f,
                          struct stored_snapshot **out, size_t *n, struct err *err)
{
    static const char sql[] =
        "SELECT id, topic, table_name, op, row_id, day, status, run, version, row_json,"
        " created_ms, updated_ms FROM snapshot"
        " WHERE id > ? AND (? = 0 OR id = ?) AND (? = 0 OR run = ?)"
        " AND (? = '' OR topic = ?) AND (? = '' OR table_name = ?) AND (? = '' OR op = ?)"
        " AND (? = '' OR status = ?) AND (? = '' OR day = ?) AND (? = '' OR row_id = ?)"
        " ORDER BY id LIMIT ?";
    struct row_list list = ROW_LIST(a, struct stored_snapshot, fill);

    if (!store_load(s, sql,
                    BINDS(NUMBER(f->after_id), NUMBER(f->id), NUMBER(f->id), NUMBER(f->run),
                          NUMBER(f->run), TEXT(f->topic), TEXT(f->topic), TEXT(f->table),
                          TEXT(f->table), TEXT(f->op), TEXT(f->op), TEXT(f->status),
                          TEXT(f->status), TEXT(f->day), TEXT(f->day), TEXT(f->row_id),
                          TEXT(f->row_id), NUMBER(f->limit)),
                    &list, err))
        return false;
    *out = row_list_finish(&list, n);
    return true;
}

static void fill_count(struct arena *a, const struct str *cells, void *element)
{
    *(struct snapshot_count *)element = (struct snapshot_count){
        arena_copy(a, cells[0]), arena_copy(a, cells[1]), row_number(cells[2]),
        row_number(cells[3]), (int64_t)row_number(cells[4])};
}

/*
 * The unique index gives the rows in the order of the groups.  If the status were one of the
 * columns to group by, SQLite would sort all snapshots in memory, 120 bytes for each.
 */
bool store_count_snapshots(struct store *s, struct arena *a, struct snapshot_count **out,
                           size_t *n, struct err *err)
{
    static const char sql[] =
        "SELECT topic, table_name, SUM(status = 'init'), SUM(status = 'running'),"
        " MIN(CASE WHEN status = 'init' THEN created_ms END)"
        " FROM snapshot WHERE status <> 'done'"
        " GROUP BY topic, table_name ORDER BY topic, table_name";
    struct row_list list = ROW_LIST(a, struct snapshot_count, fill_count);

    if (!store_load(s, sql, NO_BINDS, &list, err))
        return false;
    *out = row_list_finish(&list, n);
    return true;
}

static void fill_place(struct arena *a, const struct str *cells, void *element)
{
    *(struct snapshot_place *)element =
        (struct snapshot_place){arena_copy(a, cells[0]), (uint32_t)row_number(cells[1])};
}

bool store_load_snapshot_places(struct store *s, struct arena *a, struct str index,
                                uint64_t version, struct snapshot_place **out, size_t *n,
                                struct err *err)
{
    static const char sql[] = "SELECT DISTINCT member, place FROM snapshot_lead"
                              " WHERE index_name = ? AND version = ? ORDER BY member, place";
    struct row_list list = ROW_LIST(a, struct snapshot_place, fill_place);

    if (!store_load(s, sql, BINDS(TEXT(index), NUMBER(version)), &list, err))
        return false;
    *out = row_list_finish(&list, n);
    return true;
}
