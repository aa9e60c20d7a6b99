#include "config.h"

#include "src/store/build_log.h"

#include "src/base/arena.h"
#include "src/base/buf.h"
#include "src/base/clock.h"
#include "src/format/json.h"
#include "src/store/core.h"

/* ---- inside a transaction ---- */

static bool end(struct store *s, const struct version_name *v, const char *outcome,
                struct str error, struct err *err)
{
    static const char sql[] = "UPDATE build_log SET outcome = ?, error = ?, ended_ms = ?"
                              " WHERE index_name = ? AND version = ?";

    return store_run(s, sql,
                     BINDS(TEXT(str_from(outcome)), TEXT(error), NUMBER(clock_wall_ms()),
                           TEXT(v->index), NUMBER(v->number)),
                     err);
}

bool store_write_build_succeeded(struct store *s, const struct version_name *v, struct err *err)
{
    return end(s, v, BUILD_SUCCEEDED, STR(""), err);
}

bool store_write_build_dropped(struct store *s, const struct version_name *v, struct err *err)
{
    static const char sql[] = "UPDATE build_log SET outcome = '" BUILD_RESET "', ended_ms = ?"
                              " WHERE index_name = ? AND version = ? AND outcome = ''";

    return store_run(s, sql, BINDS(NUMBER(clock_wall_ms()), TEXT(v->index), NUMBER(v->number)),
                     err);
}

/* Delete all but the newest `keep` of those that the condition selects. */
static bool trim(struct store *s, struct str index, uint64_t keep, struct err *err)
{
    static const char find[] =
        "SELECT id FROM build_log WHERE ? = '' OR index_name = ? ORDER BY id DESC"
        " LIMIT 1 OFFSET ?";
    static const char drop[] =
        "DELETE FROM build_log WHERE (? = '' OR index_name = ?) AND id <= ?";
    uint64_t last;
    bool found;

    if (!store_select_number(s, find, BINDS(TEXT(index), TEXT(index), NUMBER(keep)), &last,
                             &found, err))
        return false;
    return !found || store_run(s, drop, BINDS(TEXT(index), TEXT(index), NUMBER(last)), err);
}

static struct str fitting(struct store *s, struct str text)
{
    return text.len > store_text_max(s) ? STR("") : text;
}

static bool insert(struct store *s, const struct stored_build *b, struct err *err)
{
    static const char sql[] =
        "INSERT INTO build_log (index_name, version, table_name, kind, parameters, mappings,"
        " settings, nodes, outcome, error, begun_ms, ended_ms)"
        " VALUES (?, ?, ?, ?, ?, ?, ?, '[]', '', '', ?, 0)"
        " ON CONFLICT (index_name, version) DO UPDATE SET table_name = excluded.table_name";

    return store_run(s, sql,
                     BINDS(TEXT(b->version.index), NUMBER(b->version.number), TEXT(b->table),
                           TEXT(b->kind), TEXT(b->parameters), TEXT(fitting(s, b->mappings)),
                           TEXT(fitting(s, b->settings)), NUMBER(b->begun_ms)),
                     err);
}

/* ---- reading ---- */

static void fill_build(struct arena *a, const struct str *cells, void *element)
{
    *(struct stored_build *)element = (struct stored_build){
        .version = {arena_copy(a, cells[0]), row_number(cells[1])},
        .table = arena_copy(a, cells[2]),
        .kind = arena_copy(a, cells[3]),
        .parameters = arena_copy(a, cells[4]),
        .nodes = arena_copy(a, cells[5]),
        .outcome = arena_copy(a, cells[6]),
        .error = arena_copy(a, cells[7]),
        .begun_ms = (int64_t)row_number(cells[8]),
        .ended_ms = (int64_t)row_number(cells[9]),
        .mappings = arena_copy(a, cells[10]),
        .settings = arena_copy(a, cells[11]),
        .id = row_number(cells[12]),
    };
}

#define SELECT_BUILD(mappings, settings)                                               \
    "SELECT index_name, version, table_name, kind, parameters, nodes, outcome, error," \
    " begun_ms, ended_ms, " mappings ", " settings ", id FROM build_log"

static bool select_build(struct store *s, struct arena *a, const struct version_name *v,
                         struct stored_build *out, bool *found, struct err *err)
{
    struct row_list list = ROW_LIST(a, struct stored_build, fill_build);
    const bool ok = store_select(s,
                                 SELECT_BUILD("mappings", "settings") " WHERE index_name = ?"
                                                                      " AND version = ?",
                                 BINDS(TEXT(v->index), NUMBER(v->number)), &list.sink, err);
    size_t n;
    const struct stored_build *b = row_list_finish(&list, &n);

    *found = ok && n > 0;
    if (*found)
        *out = *b;
    return ok;
}

/* ---- nodes ---- */

static bool has_node(struct str nodes, struct str id)
{
    struct json_reader r;
    struct str node;
    bool has = false;

    json_reader_init(&r, nodes);
    if (!json_enter_array(&r))
        return false;
    while (!has && json_next_element(&r) && json_read_raw(&r, &node)) {
        struct buf text = {0};

        has = json_find_text(node, "/id", &text) && str_equal(buf_str(&text), id);
        buf_free(&text);
    }
    return has;
}

static void append_with(struct buf *out, struct str nodes, struct str id, struct str name)
{
    struct json_writer w = {.out = out};
    struct json_reader r;
    struct str node;

    json_open_array(&w);
    json_reader_init(&r, nodes);
    if (json_enter_array(&r))
        while (json_next_element(&r) && json_read_raw(&r, &node))
            json_write_raw(&w, node);
    json_open_object(&w);
    json_put_string(&w, STR("id"), id);
    json_put_string(&w, STR("name"), name);
    json_close_object(&w);
    json_close_array(&w);
}

static bool add_node(struct store *s, struct arena *a, const struct version_name *v,
                     struct str id, struct str name, struct err *err)
{
    static const char sql[] =
        "UPDATE build_log SET nodes = ? WHERE index_name = ? AND version = ?";
    struct buf nodes = {0};
    struct stored_build b;
    bool found;

    if (!select_build(s, a, v, &b, &found, err))
        return false;
    if (!found || has_node(b.nodes, id))
        return true;
    append_with(&nodes, b.nodes, id, name);

    const bool ok =
        store_run(s, sql, BINDS(TEXT(buf_str(&nodes)), TEXT(v->index), NUMBER(v->number)), err);

    buf_free(&nodes);
    return ok;
}

/* ---- the calls ---- */

bool store_begin_build(struct store *s, const struct stored_build *b, struct err *err)
{
    return store_begin_write(s, OF_INDEX(b->version.index, b->version.number), err) &&
           store_end(s,
                     insert(s, b, err) && trim(s, b->version.index, BUILDS_KEPT, err) &&
                         trim(s, STR(""), BUILDS_KEPT_ALL, err),
                     err);
}

bool store_add_build_node(struct store *s, const struct version_name *v, struct str id,
                          struct str name, struct err *err)
{
    struct arena *a = arena_new();
    bool ok = store_begin_write(s, OF_NOBODY, err);

    ok = ok && store_end(s, add_node(s, a, v, id, name, err), err);
    arena_free(a);
    return ok;
}

bool store_end_build(struct store *s, const struct version_name *v, const char *outcome,
                     struct str error, struct err *err)
{
    return store_begin_write(s, OF_INDEX(v->index, v->number), err) &&
           store_end(s, end(s, v, outcome, error, err), err);
}

bool store_load_builds(struct store *s, struct arena *a, struct str table, size_t limit,
                       struct stored_build **out, size_t *n, struct err *err)
{
    struct row_list list = ROW_LIST(a, struct stored_build, fill_build);

    if (!store_load(s,
                    SELECT_BUILD("''", "''") " WHERE ? = '' OR table_name = ?"
                                             " ORDER BY id DESC LIMIT ?",
                    BINDS(TEXT(table), TEXT(table), NUMBER(limit)), &list, err))
        return false;
    *out = row_list_finish(&list, n);
    return true;
}

bool store_load_builds_of_log(struct store *s, struct arena *a, uint64_t first, uint64_t last,
                              struct stored_build **out, size_t *n, struct err *err)
{
    static const char sql[] =
        SELECT_BUILD("''", "''") " WHERE (index_name, version) IN"
                                 " (SELECT index_name, version FROM sync_log"
                                 " WHERE id BETWEEN ? AND ?) ORDER BY id DESC";
    struct row_list list = ROW_LIST(a, struct stored_build, fill_build);

    if (!store_load(s, sql, BINDS(NUMBER(first), NUMBER(last)), &list, err))
        return false;
    *out = row_list_finish(&list, n);
    return true;
}

bool store_load_build(struct store *s, struct arena *a, const struct version_name *v,
                      struct stored_build *out, bool *found, struct err *err)
{
    return store_begin(s, err) && store_end(s, select_build(s, a, v, out, found, err), err);
}
