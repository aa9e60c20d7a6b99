#include "config.h"

#include "rebalance/verify/changed.h"

#include "rebalance/verify/part/changed_state.h"

#include "rebalance/verify/job.h"

#include "src/base/clock.h"
#include "sync/document/poll_query.h"
#include "sync/routing/routing.h"

#define PAGE_ROWS 500
#define OVERLAP_S 60 /* a transaction commits at most so long after it wrote */

struct changed_table {
    struct target *target; /* of the step */
    struct str column, since;
};

struct str verify_changed_column(const struct definitions *d, struct str table)
{
    for (size_t i = 0; i < d->n_tables; i++)
        if (definition_names(&d->tables[i], table))
            return d->tables[i].daily_check_column;
    return STR("");
}

/* ---- what the store keeps: the tables of the last good check ---- */

static void name_checked(struct buf *name, const struct verify_job *j)
{
    buf_append(name, STR(STORE_CHECKED));
    coordinator_index_name(name, j->job.index, j->job.version);
}

bool verify_changed_keep(const struct verify_job *j, struct err *err)
{
    struct buf name = {0};

    name_checked(&name, j);

    const bool ok =
        store_put_value(j->co->opt.store, buf_str(&name), buf_str(&j->changed->tables), err);

    buf_free(&name);
    return ok;
}

/* The member of the table's element in a list of tables, as a copy; empty: there is none. */
static struct str find_of(struct arena *a, struct str tables, const char *table,
                          const char *pointer)
{
    struct str found = STR(""), one;
    struct json_reader r;

    json_reader_init(&r, tables);
    if (tables.len == 0 || !json_enter_array(&r))
        return found;
    while (json_next_element(&r) && json_read_raw(&r, &one)) {
        struct buf name = {0}, value = {0};

        if (json_find_text(one, "/table", &name) &&
            str_equal(buf_str(&name), str_from(table)) && json_find_text(one, pointer, &value))
            found = arena_copy(a, buf_str(&value));
        buf_free(&name);
        buf_free(&value);
    }
    return found;
}

/* ---- the beginning ---- */

static bool find_latest(struct verify_run *run, const struct target *t, struct str column,
                        struct buf *latest, struct err *err)
{
    const struct plan *plan = ((struct reading *)t->plan)->plan;
    struct err ignored = {0};
    uint64_t stamp;

    if (!read_links_open(&run->links, t->plan, 0, &stamp, err))
        return false;

    const bool ok = poll_latest(run->links.conns[0], plan, column, latest, err);

    return read_links_end(&run->links, ok ? err : &ignored) && ok;
}

static bool put_table(struct verify_job *j, struct verify_run *run, const struct target *t,
                      const struct str ask[2], struct json_writer *w, struct err *err)
{
    struct buf latest = {0};
    const bool ok = find_latest(run, t, ask[0], &latest, err);

    json_open_object(w);
    json_put_cstr(w, STR("table"), t->table);
    json_put_string(w, STR("column"), ask[0]);
    json_put_string(w, STR("since"),
                    j->changed->wished.len > 0 ? buf_str(&j->changed->wished) : ask[1]);
    json_put_string(w, STR("seen"), latest.len > 0 ? buf_str(&latest) : ask[1]);
    json_close_object(w);
    buf_free(&latest);
    return ok;
}

/* Note of each table where to begin, and the latest value now: the next check begins there. */
static bool list_tables(struct verify_job *j, struct verify_run *run, struct str checked,
                        size_t *n, struct err *err)
{
    struct definitions *d = coordinator_definitions(j->co);
    struct json_writer w = {.out = &j->changed->tables};
    bool ok = true;

    json_open_array(&w);
    for (const struct target *t = verify_next_table(j, run, ""); ok && t != NULL;
         t = verify_next_table(j, run, t->table)) {
        const struct str column = verify_changed_column(d, str_from(t->table));

        if (column.len == 0)
            continue;
        ok = put_table(j, run, t,
                       (struct str[]){column, find_of(run->arena, checked, t->table, "/seen")},
                       &w, err);
        (*n)++;
    }
    json_close_array(&w);
    definitions_unref(d);
    return ok;
}

static bool begin(struct verify_job *j, struct verify_run *run, struct err *err)
{
    struct buf name = {0}, checked = {0};
    bool found;
    size_t n = 0;

    name_checked(&name, j);

    bool ok = verify_count(j, run, err) &&
              store_get_value(j->co->opt.store, buf_str(&name), &checked, &found, err) &&
              list_tables(j, run, found ? buf_str(&checked) : STR(""), &n, err);

    if (ok && n == 0)
        ok = err_set(err, ERR_REJECT,
                     "no table of %" STR_FMT " has a daily_check_column any more; fix: name "
                     "one in its definition, or compare all: millrace verify %" STR_FMT,
                     STR_ARG(j->job.index), STR_ARG(j->job.table));
    if (!ok)
        buf_clear(&j->changed->tables);
    buf_free(&name);
    buf_free(&checked);
    return ok;
}

/* ---- a page ---- */

static bool load(struct verify_job *j, struct verify_run *run, const struct changed_table *t,
                 struct poll_row **rows, size_t *n, bool *end, struct err *err)
{
    struct verify_changed *c = j->changed;
    const struct poll_page page = {.plan = ((struct reading *)t->target->plan)->plan,
                                   .check = t->column,
                                   .since = t->since,
                                   .overlap_s = OVERLAP_S,
                                   .last = c->has_last ? &c->last : NULL,
                                   .limit = job_limit_rows(j->rate, PAGE_ROWS)};
    struct err ignored = {0};
    uint64_t stamp;

    if (!read_links_open(&run->links, t->target->plan, 0, &stamp, err))
        return false;

    const bool ok = poll_load(run->links.conns[0], &page, run->arena, rows, n, end, err);

    return read_links_end(&run->links, ok ? err : &ignored) && ok;
}

static bool compare(struct verify_job *j, struct verify_run *run, struct target *target,
                    const struct poll_row *rows, size_t n, struct err *err)
{
    struct verify_key *keys = arena_alloc(run->arena, n + 1, sizeof(*keys));
    size_t n_keys = 0;

    for (size_t i = 0; i < n; i++)
        if (rows[i].id.len > 0)
            keys[n_keys++] =
                (struct verify_key){.id = rows[i].id, .key = rows[i].key, .target = target};
    return verify_settle_all(j, run, keys, n_keys, err);
}

/* at.table: the table; its next page, or the next table. */
static bool read_page(struct verify_job *j, struct verify_run *run, struct err *err)
{
    struct target *t = verify_next_table(j, run, j->at.table.len > 0 ? j->at.table.ptr : "");
    const struct str tables = buf_str(&j->changed->tables);
    struct poll_row *rows;
    bool end = true;
    size_t n = 0;

    if (t == NULL) {
        j->at.pass = VERIFY_LISTED;
        return true;
    }

    const struct changed_table ask = {t, find_of(run->arena, tables, t->table, "/column"),
                                      find_of(run->arena, tables, t->table, "/since")};

    if (ask.column.len > 0 &&
        (!load(j, run, &ask, &rows, &n, &end, err) || !compare(j, run, t, rows, n, err)))
        return false;
    j->at.rows += n;
    if (n > 0)
        verify_changed_keep_last(j->changed, &rows[n - 1]);
    if (end) {
        buf_clear(&j->at.table);
        buf_append(&j->at.table, str_from(t->table));
        j->changed->has_last = false;
    }
    return true;
}

bool verify_changed_step(struct verify_job *j, struct err *err)
{
    struct arena *a = arena_new();
    struct verify_run run;
    bool ok = verify_job_open(j, &run, a, err);

    if (ok && j->changed->tables.len == 0)
        ok = begin(j, &run, err);
    else if (ok)
        ok = read_page(j, &run, err);
    verify_job_close(j, &run);
    arena_free(a);
    return ok;
}
