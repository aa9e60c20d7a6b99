#include "config.h"

#include "sync/change/table_stops.h"

#include "src/base/map.h"
#include "sync/change/writer.h"
#include "sync/decode/ddl.h"
#include "sync/decode/ddl_swap.h"
#include "sync/routing/routing.h"

#include <stdio.h>
#include <string.h>

#define REBUILD "millrace index create"

static void stop_uses(const struct table_stops *s, const struct watched *w, const char *reason,
                      const char *way_out)
{
    for (size_t i = 0; i < w->n_uses; i++)
        change_writer_stop(s->writer, w->uses[i].target, reason, way_out);
}

void table_stops_one(const struct table_stops *s, const struct watched *w, const char *reason)
{
    stop_uses(s, w, reason, REBUILD);
}

void table_stops_all(const struct table_stops *s, const char *reason)
{
    struct str key;
    void *value;

    for (size_t i = 0; s->routing != NULL && map_next(s->routing->by_name, &i, &key, &value);)
        table_stops_one(s, value, reason);
}

/* ---- delayed tables ---- */

/* What is built again for the table's own documents shows its rows anew, too. */
static bool is_own(const struct watched *w, const struct target *target)
{
    for (size_t i = 0; i < w->n_uses; i++)
        if (w->uses[i].delayed.len == 0 && strcmp(w->uses[i].target->index, target->index) == 0)
            return true;
    return false;
}

/* A version that is stopped is built again anyway. */
static bool put_off(const struct table_stops *s, const struct watched *w, const struct use *u,
                    const char *reason)
{
    const struct reading *reading = u->target->plan;

    return u->delayed.len > 0 && !is_own(w, u->target) &&
           !__atomic_load_n(&reading->stopped, __ATOMIC_RELAXED) &&
           s->put_off(s->ctx,
                      &(struct table_put_off){u->target, u->delayed, reason, s->version});
}

/* The table's rows have changed: documents that show a delayed one wait for a run. */
static void renew_uses(const struct table_stops *s, const struct watched *w, const char *reason)
{
    for (size_t i = 0; i < w->n_uses; i++)
        if (!put_off(s, w, &w->uses[i], reason))
            change_writer_stop(s->writer, w->uses[i].target, reason, NULL);
}

static const struct watched *find_watched(const struct table_stops *s, struct str database,
                                          struct str table)
{
    return s->routing == NULL || table.ptr == NULL ? NULL
                                                   : routing_find(s->routing, database, table);
}

static void remember(struct table_away *away, const struct watched *w)
{
    snprintf(away->database, sizeof(away->database), "%" STR_FMT, STR_ARG(w->database));
    snprintf(away->table, sizeof(away->table), "%" STR_FMT, STR_ARG(w->table));
}

static bool is_away(const struct table_away *away, const struct watched *w)
{
    return str_equal(str_from(away->database), w->database) &&
           str_equal(str_from(away->table), w->table);
}

/* A copy with the same rows replaces the table. */
static bool is_swapped(const struct table_stops *s, const struct ddl *ddl,
                       const struct watched *w)
{
    const bool was_away = is_away(s->away, w);

    switch (ddl_find_swap(ddl, w->database, w->table)) {
    case DDL_SWAP_NONE: return false;
    case DDL_SWAP_WHOLE: return true;
    case DDL_SWAP_AWAY: remember(s->away, w); return true;
    case DDL_SWAP_BACK: *s->away = (struct table_away){0}; return was_away;
    }
    return false;
}

/* Of a table that is there, under its name; a new routing follows a change of its shape. */
static bool only_changes_rows(const struct ddl *ddl, const struct ddl_table *t)
{
    return t->new_table.ptr == NULL &&
           (ddl->kind == DDL_TRUNCATE_TABLE || ddl->kind == DDL_ALTER_TABLE ||
            ddl->kind == DDL_CREATE_TABLE);
}

static void stop_named(const struct table_stops *s, const struct ddl *ddl,
                       const struct ddl_table *t)
{
    const char *what = ddl_kind_name(ddl->kind);
    char reason[640];
    const struct watched *w = find_watched(s, t->database, t->table);
    const struct watched *renamed = find_watched(s, t->new_database, t->new_table);

    snprintf(reason, sizeof(reason), "%s of %" STR_FMT ".%" STR_FMT " at %s", what,
             STR_ARG(t->database), STR_ARG(t->table), s->file);
    if (w != NULL && only_changes_rows(ddl, t))
        renew_uses(s, w, reason);
    else if (w != NULL && !is_swapped(s, ddl, w))
        stop_uses(s, w, reason, NULL);
    if (renamed != NULL && !is_swapped(s, ddl, renamed))
        stop_uses(s, renamed, reason, NULL);
}

static void stop_database(const struct table_stops *s, struct str database)
{
    char reason[640];
    struct str key;
    void *value;

    snprintf(reason, sizeof(reason), "drop database %" STR_FMT " at %s", STR_ARG(database),
             s->file);
    for (size_t i = 0; s->routing != NULL && map_next(s->routing->by_name, &i, &key, &value);)
        if (routing_same_name(s->routing, ((struct watched *)value)->database, database))
            stop_uses(s, value, reason, NULL);
}

/*
 * Stop tables whose rows were read with a shape that, it turns out, they only have from now on.
 */
static void stop_mistaken(const struct table_stops *s, const struct ddl *ddl)
{
    char reason[640];
    struct str key;
    void *value;

    for (size_t i = 0; s->routing != NULL && map_next(s->routing->by_name, &i, &key, &value);) {
        const struct watched *w = value;

        if (w->shape == NULL || !w->shape->used || s->version > w->shape->doubt_to ||
            !ddl_concerns(ddl, w->database, w->table))
            continue;
        snprintf(reason, sizeof(reason),
                 "%" STR_FMT ".%" STR_FMT " changed its shape at %s, and the log does not "
                 "name the columns of earlier rows; set binlog_row_metadata=FULL on the "
                 "server, so that it does",
                 STR_ARG(w->database), STR_ARG(w->table), s->file);
        stop_uses(s, w, reason, NULL);
    }
}

/* Stop a table changed by a logged statement, whose rows the log lacks. */
static void stop_changed(const struct table_stops *s, const struct ddl_table *t)
{
    char reason[640];
    const struct watched *w = find_watched(s, t->database, t->table);

    snprintf(reason, sizeof(reason),
             "a change of %" STR_FMT ".%" STR_FMT " was logged as a statement, not as rows, "
             "at %s; set binlog_format=ROW on the server and in its sessions",
             STR_ARG(t->database), STR_ARG(t->table), s->file);
    if (w != NULL)
        table_stops_one(s, w, reason);
}

/*
 * DDL that empties, drops or swaps rows stops the table, or what shows it waits for a run.
 * Comparing shapes finds all other effects of a shape change (version_fit_fn).
 */
void table_stops_by_ddl(const struct table_stops *s, const struct ddl *ddl)
{
    if (ddl->kind == DDL_DML) {
        stop_changed(s, &ddl->tables[0]);
        return;
    }
    stop_mistaken(s, ddl);
    for (size_t i = 0; i < ddl->n_tables; i++) {
        const struct ddl_table *t = &ddl->tables[i];

        if (ddl->kind == DDL_DROP_TABLE || ddl->kind == DDL_TRUNCATE_TABLE ||
            ddl->kind == DDL_RENAME_TABLE || ddl->changes_rows || t->new_table.ptr != NULL)
            stop_named(s, ddl, t);
        if (ddl->kind == DDL_DROP_DATABASE)
            stop_database(s, t->database);
    }
}
