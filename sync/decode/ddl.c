#include "config.h"

#include "sync/decode/ddl.h"

const char *ddl_kind_name(enum ddl_kind kind)
{
    static const char *const names[] = {
        [DDL_UNKNOWN] = "unknown statement",
        [DDL_NONE] = "statement",
        [DDL_BEGIN] = "begin",
        [DDL_COMMIT] = "commit",
        [DDL_ROLLBACK] = "rollback",
        [DDL_SAVEPOINT] = "savepoint",
        [DDL_ROLLBACK_TO] = "rollback to savepoint",
        [DDL_XA_START] = "xa start",
        [DDL_XA_END] = "xa end",
        [DDL_XA_PREPARE] = "xa prepare",
        [DDL_XA_COMMIT] = "xa commit",
        [DDL_XA_ROLLBACK] = "xa rollback",
        [DDL_CREATE_TABLE] = "create table",
        [DDL_ALTER_TABLE] = "alter table",
        [DDL_DROP_TABLE] = "drop table",
        [DDL_RENAME_TABLE] = "rename table",
        [DDL_TRUNCATE_TABLE] = "truncate table",
        [DDL_CREATE_DATABASE] = "create database",
        [DDL_ALTER_DATABASE] = "alter database",
        [DDL_DROP_DATABASE] = "drop database",
        [DDL_DML] = "data change",
    };

    return names[kind];
}

static bool names_table(const struct ddl_table *t, struct str database, struct str table)
{
    return str_equal_any_case(t->database, database) &&
           (t->table.len == 0 || str_equal_any_case(t->table, table));
}

/* Indexes, comments and the like leave columns alone. */
static bool keeps_columns(const struct ddl *ddl)
{
    return ddl->kind == DDL_ALTER_TABLE && !ddl->changes_values && !ddl->changes_rows &&
           !ddl->changes_checks;
}

bool ddl_concerns(const struct ddl *ddl, struct str database, struct str table)
{
    bool named = false;

    if (ddl->temporary || ddl->kind == DDL_NONE)
        return false;
    for (size_t i = 0; i < ddl->n_tables; i++) {
        const struct ddl_table *t = &ddl->tables[i];

        named = named || (!keeps_columns(ddl) && names_table(t, database, table)) ||
                (t->new_table.ptr != NULL && str_equal_any_case(t->new_database, database) &&
                 str_equal_any_case(t->new_table, table));
    }
    return named || ddl->n_tables == 0;
}

bool ddl_takes_away(const struct ddl *ddl, struct str database, struct str table)
{
    const bool drops = ddl->kind == DDL_DROP_TABLE || ddl->kind == DDL_DROP_DATABASE;
    bool named = false;

    for (size_t i = 0; i < ddl->n_tables && !ddl->temporary; i++) {
        const struct ddl_table *t = &ddl->tables[i];

        named =
            named || ((drops || t->new_table.ptr != NULL) && names_table(t, database, table));
    }
    return named;
}

bool ddl_alters(const struct ddl *ddl, struct str database, struct str table)
{
    return ddl->kind == DDL_ALTER_TABLE && !ddl->temporary &&
           names_table(&ddl->tables[0], database, table);
}
