#include "config.h"

#include "sync/table_stops.h"

#include "src/base/map.h"
#include "sync/binlog/ddl.h"
#include "sync/change_writer.h"
#include "sync/routing.h"

#include <stdio.h>

#define REBUILD "millrace index create"

void table_stops_one(const struct table_stops *s, const struct watched *w, const char *reason)
{
    for (size_t i = 0; i < w->n_uses; i++)
        change_writer_stop(s->writer, w->uses[i].target, reason, REBUILD);
}

void table_stops_all(const struct table_stops *s, const char *reason)
{
    struct str key;
    void *value;

    for (size_t i = 0; s->routing != NULL && map_next(s->routing->by_name, &i, &key, &value);)
        table_stops_one(s, value, reason);
}

static const struct watched *find_watched(const struct table_stops *s, struct str database,
                                          struct str table)
{
    return s->routing == NULL || table.ptr == NULL ? NULL
                                                   : routing_find(s->routing, database, table);
}

static void stop_named(const struct table_stops *s, const struct ddl_table *t, const char *what)
{
    char reason[640];
    const struct watched *w = find_watched(s, t->database, t->table);
    const struct watched *renamed = find_watched(s, t->new_database, t->new_table);

    snprintf(reason, sizeof(reason), "%s of %" STR_FMT ".%" STR_FMT " at %s", what,
             STR_ARG(t->database), STR_ARG(t->table), s->file);
    if (w != NULL)
        table_stops_one(s, w, reason);
    if (renamed != NULL)
        table_stops_one(s, renamed, reason);
}

static void stop_database(const struct table_stops *s, struct str database)
{
    char reason[640];
    struct str key;
    void *value;

    snprintf(reason, sizeof(reason), "drop database %" STR_FMT " at %s", STR_ARG(database),
             s->file);
    for (size_t i = 0; s->routing != NULL && map_next(s->routing->by_name, &i, &key, &value);)
        if (str_equal(((struct watched *)value)->database, database))
            table_stops_one(s, value, reason);
}

/* Rows were read by a shape that the table, as it turns out, has had only since now. */
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
                 "%" STR_FMT ".%" STR_FMT " changed its shape at %s, and the log names no "
                 "columns of the rows before; set binlog_row_metadata=FULL on the server, so "
                 "that it does",
                 STR_ARG(w->database), STR_ARG(w->table), s->file);
        table_stops_one(s, w, reason);
    }
}

/* A change that the log has as a statement: its rows are not there. */
static void stop_changed(const struct table_stops *s, const struct ddl_table *t)
{
    char reason[640];
    const struct watched *w = find_watched(s, t->database, t->table);

    snprintf(reason, sizeof(reason),
             "a change of %" STR_FMT ".%" STR_FMT " is logged as a statement, not as rows, at "
             "%s; set binlog_format=ROW on the server and in its sessions",
             STR_ARG(t->database), STR_ARG(t->table), s->file);
    if (w != NULL)
        table_stops_one(s, w, reason);
}

/* What empties, drops or swaps rows stops the table; every other change of shape is read again.
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
            stop_named(s, t, ddl_kind_name(ddl->kind));
        if (ddl->kind == DDL_DROP_DATABASE)
            stop_database(s, t->database);
    }
}
