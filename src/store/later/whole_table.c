#include "config.h"

#include "src/store/later/whole_table.h"

#include "src/base/arena.h"
#include "src/store/core.h"

static void fill_lead(struct arena *a, const struct str *cells, void *element)
{
    *(struct whole_lead *)element = (struct whole_lead){
        .snapshot = row_number(cells[0]),
        .table = arena_copy(a, cells[1]),
        .row_json = arena_copy(a, cells[2]),
        .version = {arena_copy(a, cells[3]), row_number(cells[4])},
    };
}

/* There are few such leads, so both servers begin with them, whatever else waits. */
bool store_load_whole_leads(struct store *s, struct arena *a, const struct snapshot_run *run,
                            struct whole_lead **out, size_t *n, struct err *err)
{
    static const char one[] =
        "SELECT s.id, s.table_name, s.row_json, l.index_name, l.version FROM snapshot_lead l"
        " CROSS JOIN snapshot s ON s.id = l.snapshot WHERE l.place = 0 AND s.id = ?"
        " ORDER BY l.index_name, l.version, s.id";
    static const char all[] =
        "SELECT s.id, s.table_name, s.row_json, l.index_name, l.version FROM snapshot_lead l"
        " CROSS JOIN snapshot s ON s.id = l.snapshot WHERE l.place = 0 AND s.run = ?"
        " AND s.status = 'running' ORDER BY l.index_name, l.version, s.id";
    struct row_list list = ROW_LIST(a, struct whole_lead, fill_lead);

    if (!store_load(s, run->one != 0 ? one : all,
                    BINDS(NUMBER(run->one != 0 ? run->one : run->id)), &list, err))
        return false;
    *out = row_list_finish(&list, n);
    return true;
}

/* ---- a run ---- */

static bool save(struct store *s, struct snapshot_run *run, enum run_builds builds,
                 int64_t now_ms, struct err *err)
{
    static const char sql[] = "UPDATE snapshot_run SET builds = ?, updated_ms = ? WHERE id = ?";
    static const char there[] = "SELECT id FROM snapshot_run WHERE id = ?{lock}";
    uint64_t ignored;
    bool found;

    if (!store_select_number(s, there, BINDS(NUMBER(run->id)), &ignored, &found, err))
        return false;
    if (!found)
        return err_set(err, ERR_STOP, "delayed run %llu has ended",
                       (unsigned long long)run->id);
    run->builds = builds;
    run->updated_ms = now_ms;
    return store_run(s, sql, BINDS(NUMBER(builds), NUMBER(now_ms), NUMBER(run->id)), err);
}

/* Whatever is logged later was begun after the statements. */
static bool note_builds(struct store *s, struct snapshot_run *run, struct err *err)
{
    static const char sql[] = "UPDATE snapshot_run SET builds_after = ? WHERE id = ?";

    return store_select_number(s, "SELECT MAX(id) FROM build_log", NO_BINDS, &run->builds_after,
                               NULL, err) &&
           store_run(s, sql, BINDS(NUMBER(run->builds_after), NUMBER(run->id)), err);
}

static bool ask(struct store *s, const struct stored_rebuild *build, struct err *err)
{
    static const char sql[] = "SELECT at_ms FROM rebuild WHERE table_name = ?{lock}";
    uint64_t ignored;
    bool found;

    return store_select_number(s, sql, BINDS(TEXT(build->table)), &ignored, &found, err) &&
           (found || store_write_rebuild(s, build, err));
}

bool store_ask_builds(struct store *s, const struct snapshot_owner *owner,
                      struct snapshot_run *run, const struct stored_rebuild *builds, size_t n,
                      struct err *err)
{
    const int64_t now_ms = n > 0 ? builds[0].at_ms : run->updated_ms;
    bool ok;

    if (!store_begin_as(s, owner->topic, owner->term, err))
        return false;
    ok = save(s, run, n > 0 ? RUN_BUILDS_ASKED : RUN_BUILDS_ENDED, now_ms, err) &&
         note_builds(s, run, err);
    for (size_t i = 0; ok && i < n; i++)
        ok = ask(s, &builds[i], err);
    return store_end(s, ok, err);
}

bool store_end_builds(struct store *s, const struct snapshot_owner *owner,
                      struct snapshot_run *run, const struct builds_end *end, struct err *err)
{
    static const char withdraw[] = "DELETE FROM rebuild WHERE table_name = ? AND reason = ?";
    static const char tell[] = "UPDATE snapshot SET row_json = ? WHERE id = ?";
    bool ok;

    if (!store_begin_as(s, owner->topic, owner->term, err))
        return false;
    ok = save(s, run, RUN_BUILDS_ENDED, end->now_ms, err);
    for (size_t i = 0; ok && i < end->n_withdrawn; i++)
        ok = store_run(s, withdraw,
                       BINDS(TEXT(end->withdrawn[i].table), TEXT(end->withdrawn[i].reason)),
                       err);
    for (size_t i = 0; ok && i < end->n_failed; i++)
        ok = store_run(s, tell,
                       BINDS(TEXT(end->failed[i].row_json), NUMBER(end->failed[i].snapshot)),
                       err);
    return store_end(s, ok, err);
}

/* ---- its end ---- */

struct unbuilt {
    uint64_t id;
    bool comes_again; /* a later statement of the day waits, which has leads of its own */
};

static void fill_unbuilt(struct arena *a, const struct str *cells, void *element)
{
    (void)a;
    *(struct unbuilt *)element =
        (struct unbuilt){row_number(cells[0]), row_number(cells[1]) != 0};
}

static bool put_back(struct store *s, const struct unbuilt *u, int64_t now_ms, struct err *err)
{
    static const char wait[] =
        "UPDATE snapshot SET status = 'init', run = 0, updated_ms = ? WHERE id = ?";
    static const char forget[] = "DELETE FROM snapshot_lead WHERE snapshot = ?";

    return u->comes_again ? store_run(s, forget, BINDS(NUMBER(u->id)), err)
                          : store_run(s, wait, BINDS(NUMBER(now_ms), NUMBER(u->id)), err);
}

bool store_write_unbuilt(struct store *s, uint64_t run, int64_t now_ms, struct err *err)
{
    static const char sql[] =
        "SELECT s.id, MAX(o.id) FROM snapshot_lead l CROSS JOIN snapshot s ON s.id = l.snapshot"
        " LEFT JOIN snapshot o ON o.topic = s.topic AND o.table_name = s.table_name"
        " AND o.op = s.op AND o.row_id = s.row_id AND o.day = s.day AND o.status = 'init'"
        " WHERE l.place = 0 AND s.run = ? AND s.status = 'running' GROUP BY s.id";
    struct arena *a = arena_new();
    struct row_list list = ROW_LIST(a, struct unbuilt, fill_unbuilt);
    bool ok = store_select(s, sql, BINDS(NUMBER(run)), &list.sink, err);
    const struct unbuilt *found;
    size_t n;

    found = row_list_finish(&list, &n);
    for (size_t i = 0; ok && i < n; i++)
        ok = put_back(s, &found[i], now_ms, err);
    arena_free(a);
    return ok;
}
