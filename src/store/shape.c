#include "config.h"

#include "src/base/arena.h"
#include "src/base/buf.h"
#include "src/store/core.h"
#include "src/store/store.h"

/*
 * Shapes of the tables that index versions were made from; stopped tables; tables to be
 * rebuilt.
 */

/* A stored rebuild with the same reason keeps its time. */
bool store_write_rebuild(struct store *s, const struct stored_rebuild *r, struct err *err)
{
    static const char find[] =
        "SELECT at_ms FROM rebuild WHERE table_name = ? AND reason = ?{lock}";
    static const char sql[] =
        "INSERT INTO rebuild (table_name, reason, at_ms) VALUES (?, ?, ?)"
        " ON CONFLICT (table_name) DO UPDATE SET reason = excluded.reason,"
        " at_ms = excluded.at_ms";
    uint64_t ignored;
    bool found;

    return store_select_number(s, find, BINDS(TEXT(r->table), TEXT(r->reason)), &ignored,
                               &found, err) &&
           (found ||
            store_run(s, sql, BINDS(TEXT(r->table), TEXT(r->reason), NUMBER(r->at_ms)), err));
}

bool store_put_rebuild(struct store *s, const struct stored_rebuild *r, struct err *err)
{
    return store_begin_write(s, OF_TABLE(r->table), err) &&
           store_end(s, store_write_rebuild(s, r, err), err);
}

bool store_delete_rebuild(struct store *s, struct str table, struct err *err)
{
    return store_run_alone(s, OF_TABLE(table), "DELETE FROM rebuild WHERE table_name = ?",
                           BINDS(TEXT(table)), err);
}

static void fill_rebuild(struct arena *a, const struct str *cells, void *element)
{
    struct stored_rebuild *r = element;

    r->table = arena_copy(a, cells[0]);
    r->reason = arena_copy(a, cells[1]);
    r->at_ms = (int64_t)row_number(cells[2]);
}

bool store_load_rebuilds(struct store *s, struct arena *a, struct stored_rebuild **out,
                         size_t *n, struct err *err)
{
    static const char sql[] =
        "SELECT table_name, reason, at_ms FROM rebuild ORDER BY table_name";
    struct row_list list = ROW_LIST(a, struct stored_rebuild, fill_rebuild);

    if (!store_load(s, sql, NO_BINDS, &list, err))
        return false;
    *out = row_list_finish(&list, n);
    return true;
}

bool store_put_shapes(struct store *s, struct str index, uint64_t number, struct str shapes,
                      const struct stored_rebuild *rebuild, struct err *err)
{
    static const char sql[] =
        "INSERT INTO version_shape (index_name, number, shapes) VALUES (?, ?, ?)"
        " ON CONFLICT (index_name, number) DO UPDATE SET shapes = excluded.shapes";

    if (!store_begin_write(s, OF_INDEX(index, number), err))
        return false;

    bool live = false;
    const bool ok = store_run(s, sql, BINDS(TEXT(index), NUMBER(number), TEXT(shapes)), err) &&
                    (rebuild == NULL || (store_version_is_live(s, index, number, &live, err) &&
                                         (!live || store_write_rebuild(s, rebuild, err))));

    return store_end(s, ok, err);
}

struct text_sink {
    struct row_sink sink;
    struct buf *out;
    bool found;
};

static void take_text(struct row_sink *sink, const struct str *cells)
{
    struct text_sink *t = CONTAINER_OF(sink, struct text_sink, sink);

    buf_append(t->out, cells[0]);
    t->found = true;
}

bool store_load_shapes(struct store *s, struct str index, uint64_t number, struct buf *out,
                       bool *found, struct err *err)
{
    static const char sql[] =
        "SELECT shapes FROM version_shape WHERE index_name = ? AND number = ?";
    struct text_sink sink = {.sink = {take_text}, .out = out};

    *found = false;
    if (!store_begin(s, err))
        return false;

    const bool ok = store_select(s, sql, BINDS(TEXT(index), NUMBER(number)), &sink.sink, err);

    *found = sink.found;
    return store_end(s, ok, err);
}

/* ---- stopped tables ---- */

bool store_write_stop(struct store *s, const struct stored_stop *stop, struct err *err)
{
    static const char sql[] =
        "INSERT INTO table_stop (table_name, reason, way_out, log_file, log_offset, at_ms)"
        " VALUES (?, ?, ?, ?, ?, ?)"
        " ON CONFLICT (table_name) DO UPDATE SET reason = excluded.reason,"
        " way_out = excluded.way_out, log_file = excluded.log_file,"
        " log_offset = excluded.log_offset, at_ms = excluded.at_ms";

    return store_run(s, sql,
                     BINDS(TEXT(stop->table), TEXT(stop->reason), TEXT(stop->way_out),
                           TEXT(stop->file), NUMBER(stop->offset), NUMBER(stop->at_ms)),
                     err);
}

bool store_put_stop(struct store *s, const struct stored_stop *stop, struct err *err)
{
    return store_begin_write(s, OF_TABLE(stop->table), err) &&
           store_end(s, store_write_stop(s, stop, err), err);
}

static void fill_stop(struct arena *a, const struct str *cells, void *element)
{
    struct stored_stop *stop = element;

    stop->table = arena_copy(a, cells[0]);
    stop->reason = arena_copy(a, cells[1]);
    stop->way_out = arena_copy(a, cells[2]);
    stop->file = arena_copy(a, cells[3]);
    stop->offset = row_number(cells[4]);
    stop->at_ms = (int64_t)row_number(cells[5]);
}

bool store_load_stops(struct store *s, struct arena *a, struct stored_stop **out, size_t *n,
                      struct err *err)
{
    static const char sql[] = "SELECT table_name, reason, way_out, log_file, log_offset, at_ms"
                              " FROM table_stop ORDER BY table_name";
    struct row_list list = ROW_LIST(a, struct stored_stop, fill_stop);

    if (!store_load(s, sql, NO_BINDS, &list, err))
        return false;
    *out = row_list_finish(&list, n);
    return true;
}

/* Inside a transaction. */
static bool stop_version(struct store *s, const struct version_stop *v,
                         enum version_stopped *how, struct err *err)
{
    static const char fail[] =
        "UPDATE index_version SET error = ? WHERE index_name = ? AND number = ?";
    const struct version_name name = {v->index, v->number};
    bool changing, waiting, available, kept, returning;

    *how = VERSION_GONE;
    if (!store_is_in_state(s, &name, "changing", &changing, err) ||
        !store_is_in_state(s, &name, "waiting", &waiting, err) ||
        !store_is_in_state(s, &name, "available", &available, err) ||
        !store_is_in_state(s, &name, "kept", &kept, err) ||
        !store_is_in_state(s, &name, "returning", &returning, err))
        return false;
    if (kept) {
        *how = VERSION_KEPT;
        return store_write_history(s, &name, v->stop.reason, v->at_ms, err);
    }
    if (!changing && !waiting && !available && !returning)
        return true;
    *how = available ? VERSION_TABLE : returning ? VERSION_KEPT : VERSION_BUILD;
    return (available
                ? store_write_stop(s, &v->stop, err)
                : store_run(s, fail,
                            BINDS(TEXT(v->stop.reason), TEXT(v->index), NUMBER(v->number)),
                            err)) &&
           (v->rebuild == NULL || returning || store_write_rebuild(s, v->rebuild, err));
}

bool store_stop_version(struct store *s, const struct version_stop *v,
                        enum version_stopped *how, struct err *err)
{
    return store_begin_write(s, OF_INDEX(v->index, v->number), err) &&
           store_end(s, stop_version(s, v, how, err), err);
}
