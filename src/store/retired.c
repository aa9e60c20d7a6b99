#include "config.h"

#include "src/store/retired.h"

#include "src/base/arena.h"
#include "src/base/buf.h"
#include "src/base/failpoint.h"
#include "src/store/core.h"

#include <inttypes.h>

/* Everything but the calls at the end runs inside a transaction. */

struct statement {
    const char *sql;
    bool by_name; /* binds "orders_v2"; else "orders" and 2 */
};

static bool run_all(struct store *s, const struct statement *list, size_t n,
                    const struct version_name *v, struct err *err)
{
    struct buf name = {0};
    bool ok = true;

    buf_printf(&name, "%" STR_FMT "_v%" PRIu64, STR_ARG(v->index), v->number);
    for (size_t i = 0; ok && i < n; i++)
        ok = list[i].by_name
                 ? store_run(s, list[i].sql, BINDS(TEXT(buf_str(&name))), err)
                 : store_run(s, list[i].sql, BINDS(TEXT(v->index), NUMBER(v->number)), err);
    buf_free(&name);
    return ok;
}

/* Pending work of a version that nothing is written to any more. */
static const struct statement work[] = {
    {"DELETE FROM fan_out WHERE index_name = ? AND version = ?", false},
    {"DELETE FROM gone WHERE index_name = ? AND version = ?", false},
    {"DELETE FROM kept_search WHERE index_name = ? AND version = ?", false},
    {"DELETE FROM snapshot_lead WHERE index_name = ? AND version = ?", false},
    {"DELETE FROM purged WHERE index_name = ?", true},
    {"DELETE FROM dead_letter WHERE index_name = ?", true},
};

static const struct statement record[] = {
    {"DELETE FROM job WHERE index_name = ? AND version = ?", false},
    {"DELETE FROM version_shape WHERE index_name = ? AND number = ?", false},
    {"DELETE FROM version_wait WHERE index_name = ? AND number = ?", false},
    {"DELETE FROM fan_out WHERE index_name = ? AND version = ?", false},
    {"DELETE FROM gone WHERE index_name = ? AND version = ?", false},
    {"DELETE FROM kept_search WHERE index_name = ? AND version = ?", false},
    {"DELETE FROM snapshot_lead WHERE index_name = ? AND version = ?", false},
    {"DELETE FROM index_version WHERE index_name = ? AND number = ?", false},
};

static bool delete_values(struct store *s, const struct version_name *v, struct err *err)
{
    static const char *const kinds[] = {STORE_SYNC,    STORE_VERIFY, STORE_COMPARED,
                                        STORE_CHECKED, STORE_SHARDS, STORE_REPLAY,
                                        STORE_FILL};
    struct buf name = {0};
    bool ok = true;

    for (size_t i = 0; ok && i < ARRAY_LEN(kinds); i++) {
        buf_clear(&name);
        buf_printf(&name, "%s%" STR_FMT "_v%" PRIu64, kinds[i], STR_ARG(v->index), v->number);
        ok = store_run(s, "DELETE FROM setting WHERE name = ?", BINDS(TEXT(buf_str(&name))),
                       err);
    }
    buf_free(&name);
    return ok;
}

static bool delete_record(struct store *s, const struct version_name *v, struct err *err)
{
    return run_all(s, record, ARRAY_LEN(record), v, err) && delete_values(s, v, err);
}

/* finished_ms may be NULL. */
static bool find_version(struct store *s, const struct version_name *v, uint64_t *finished_ms,
                         bool *found, struct err *err)
{
    static const char sql[] = "SELECT finished_ms FROM index_version WHERE index_name = ?"
                              " AND number = ?{lock}";
    uint64_t at_ms;
    const bool ok = store_select_number(s, sql, BINDS(TEXT(v->index), NUMBER(v->number)),
                                        &at_ms, found, err);

    if (ok && finished_ms != NULL)
        *finished_ms = at_ms;
    return ok;
}

bool store_write_drop(struct store *s, const struct version_name *v, struct err *err)
{
    static const char note[] = "INSERT INTO dropped_version (index_name, number) VALUES (?, ?)";
    bool found;

    if (!find_version(s, v, NULL, &found, err))
        return false;
    if (!found) /* an earlier drop was committed, but its answer was lost */
        return true;
    return store_write_build_dropped(s, v, err) && delete_record(s, v, err) &&
           store_run(s, note, BINDS(TEXT(v->index), NUMBER(v->number)), err);
}

/* ---- retiring ---- */

static bool retire(struct store *s, const struct version_name *v,
                   const struct definition_effects *e, struct err *err)
{
    static const char sql[] = "UPDATE index_version SET state = 'retired', retired_ms = ?"
                              " WHERE index_name = ? AND number = ? AND state <> 'retired'";
    uint64_t finished_ms;
    bool found;

    if (!find_version(s, v, &finished_ms, &found, err))
        return false;
    if (!found)
        return true;
    if (finished_ms == 0 || e->drops) /* 0: searches never used it */
        return store_write_drop(s, v, err);
    return run_all(s, work, ARRAY_LEN(work), v, err) && delete_values(s, v, err) &&
           store_run(s, sql, BINDS(NUMBER(e->at_ms), TEXT(v->index), NUMBER(v->number)), err);
}

static bool name_again(struct store *s, const struct version_name *v, int64_t at_ms,
                       struct err *err)
{
    static const char sql[] = "UPDATE index_version SET state = 'history', retired_ms = ?"
                              " WHERE index_name = ? AND number = ? AND state = 'retired'";

    return store_run(s, sql, BINDS(NUMBER(at_ms), TEXT(v->index), NUMBER(v->number)), err);
}

bool store_is_in_state(struct store *s, const struct version_name *v, const char *state,
                       bool *is, struct err *err)
{
    static const char sql[] = "SELECT number FROM index_version WHERE index_name = ?"
                              " AND number = ? AND state = ?{lock}";
    uint64_t ignored;

    return store_select_number(s, sql,
                               BINDS(TEXT(v->index), NUMBER(v->number), TEXT(str_from(state))),
                               &ignored, is, err);
}

bool store_write_history(struct store *s, const struct version_name *v, struct str reason,
                         int64_t at_ms, struct err *err)
{
    static const char sql[] = "UPDATE index_version SET state = 'history', error = ?,"
                              " retired_ms = ? WHERE index_name = ? AND number = ?";

    return run_all(s, work, ARRAY_LEN(work), v, err) &&
           store_run(s, sql,
                     BINDS(TEXT(reason), NUMBER(at_ms), TEXT(v->index), NUMBER(v->number)),
                     err);
}

bool store_forget_table(struct store *s, struct str table, struct err *err)
{
    return store_run(s, "DELETE FROM table_stop WHERE table_name = ?", BINDS(TEXT(table)),
                     err) &&
           store_run(s, "DELETE FROM rebuild WHERE table_name = ?", BINDS(TEXT(table)), err);
}

static bool put_value(struct store *s, const struct stored_value *v, struct err *err)
{
    return v->content.len > 0
               ? store_write_value(s, v->name, v->content, err)
               : store_run(s, "DELETE FROM setting WHERE name = ?", BINDS(TEXT(v->name)), err);
}

bool store_write_effects(struct store *s, const struct definition_effects *e, struct err *err)
{
    bool ok = true;

    for (size_t i = 0; ok && i < e->n_unnamed; i++)
        ok = retire(s, &e->unnamed[i], e, err);
    for (size_t i = 0; ok && i < e->n_renamed; i++)
        ok = name_again(s, &e->renamed[i], e->at_ms, err);
    for (size_t i = 0; ok && i < e->n_tables; i++)
        ok = store_forget_table(s, e->tables[i], err);
    for (size_t i = 0; ok && i < e->n_values; i++)
        ok = put_value(s, &e->values[i], err);
    return ok;
}

/* ---- the calls ---- */

bool store_delete_version(struct store *s, struct str index, uint64_t number, struct err *err)
{
    const struct version_name v = {index, number};

    return store_begin_write(s, OF_INDEX(index, number), err) &&
           store_end(s, delete_record(s, &v, err), err);
}

bool store_drop_versions(struct store *s, const struct version_name *list, size_t n,
                         struct err *err)
{
    bool ok = true;

    if (!store_begin_write(s, OF_NOBODY, err))
        return false;
    for (size_t i = 0; ok && i < n; i++) {
        ok = store_fence(s, OF_INDEX(list[i].index, list[i].number), err) &&
             store_write_drop(s, &list[i], err);
        FAILPOINT(version_dropped);
    }
    return store_end(s, ok, err);
}

static void fill_dropped(struct arena *a, const struct str *cells, void *element)
{
    *(struct version_name *)element =
        (struct version_name){arena_copy(a, cells[0]), row_number(cells[1])};
}

bool store_load_dropped(struct store *s, struct arena *a, struct version_name **out, size_t *n,
                        struct err *err)
{
    static const char sql[] =
        "SELECT index_name, number FROM dropped_version ORDER BY index_name, number";
    struct row_list list = ROW_LIST(a, struct version_name, fill_dropped);

    if (!store_load(s, sql, NO_BINDS, &list, err))
        return false;
    *out = row_list_finish(&list, n);
    return true;
}

bool store_end_dropped(struct store *s, struct str index, uint64_t number, struct err *err)
{
    static const struct statement note = {
        "DELETE FROM dropped_version WHERE index_name = ? AND number = ?", false};
    const struct version_name v = {index, number};

    if (!store_begin_write(s, OF_INDEX(index, number), err))
        return false;

    const bool ok = run_all(s, work, ARRAY_LEN(work), &v, err) && run_all(s, &note, 1, &v, err);

    return store_end(s, ok, err);
}
