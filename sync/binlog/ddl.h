/*
 * What a statement in the log does, as far as a follower of row events must know: its kind and
 * the tables and columns that it names.  Not a parser: it reads the words at the front of the
 * statement and of each clause of ALTER TABLE.
 */
#ifndef SYNC_BINLOG_DDL_H
#define SYNC_BINLOG_DDL_H

#include "src/base/base.h"
#include "src/base/str.h"
#include "sync/binlog/sql_lexer.h"

#include <stdbool.h>
#include <stddef.h>

struct arena;

enum ddl_kind {
    DDL_UNKNOWN = 0, /* not recognised; may do anything */
    DDL_NONE,        /* concerns no table's rows or shape: GRANT, CREATE USER, SET, FLUSH ... */
    DDL_BEGIN,
    DDL_COMMIT,
    DDL_ROLLBACK,
    DDL_SAVEPOINT,
    DDL_ROLLBACK_TO,
    DDL_XA_START,
    DDL_XA_END,
    DDL_XA_PREPARE,
    DDL_XA_COMMIT,
    DDL_XA_ROLLBACK,
    DDL_CREATE_TABLE,
    DDL_ALTER_TABLE, /* also CREATE INDEX and DROP INDEX */
    DDL_DROP_TABLE,
    DDL_RENAME_TABLE,
    DDL_TRUNCATE_TABLE,
    DDL_CREATE_DATABASE,
    DDL_ALTER_DATABASE,
    DDL_DROP_DATABASE,
    DDL_DML, /* INSERT, UPDATE, DELETE, REPLACE, LOAD, CALL ...: its rows are not in the log;
                the table is named where it is plain which one it is */
};

struct ddl_table {
    struct str database;     /* the statement's own or the session's; may be empty */
    struct str table;        /* empty for CREATE, ALTER and DROP DATABASE */
    struct str new_database; /* RENAME TABLE, ALTER TABLE ... RENAME: what it is called now */
    struct str new_table;    /* ptr NULL: not renamed */
};

enum ddl_column_op {
    DDL_COLUMN_ADD,
    DDL_COLUMN_DROP,
    DDL_COLUMN_MODIFY,
    DDL_COLUMN_CHANGE, /* new name and new definition; the names may be equal */
    DDL_COLUMN_RENAME,
};

/* A column that ALTER TABLE names, as written there: case tells no columns apart.  IF [NOT]
 * EXISTS is not told: the column may have been there, or gone, before.
 */
struct ddl_column {
    enum ddl_column_op op;
    struct str name;
    struct str new_name; /* CHANGE and RENAME; ptr NULL: not renamed */
};

struct ddl {
    enum ddl_kind kind;
    bool temporary;      /* a TEMPORARY table: nobody else sees it */
    bool changes_rows;   /* without events for them: partitions dropped, emptied or exchanged,
                            CREATE OR REPLACE, tablespaces imported, ALTER IGNORE, which
                            deletes duplicates */
    bool changes_values; /* rows look different now: columns added, changed, converted, dropped
                          */
    bool changes_checks; /* constraints: one of them makes MariaDB's JSON of a text */
    bool one_phase;      /* XA COMMIT ... ONE PHASE */
    struct str xid;      /* XA: canonical "X'67',X'62',1" */
    struct ddl_table *tables;
    size_t n_tables;
    struct ddl_column *columns; /* ALTER TABLE: of tables[0], in the statement's order */
    size_t n_columns;
    bool columns_unclear; /* columns may have come, gone or changed that are not named: the
                             statement was not understood, or they are hidden ones */
};

/* Everything in out is in a.  Never fails: what is not recognised is DDL_UNKNOWN. */
void ddl_parse(struct str database, struct str sql, struct sql_dialect dialect,
               struct arena *a, struct ddl *out);

/* Whether the shape of the table may be another one behind the statement. */
bool ddl_concerns(const struct ddl *ddl, struct str database, struct str table);

/* Whether it is an ALTER of the table, also one that leaves its columns as they are. */
bool ddl_alters(const struct ddl *ddl, struct str database, struct str table);

/* "create table", "drop table" ... */
const char *ddl_kind_name(enum ddl_kind kind);

#endif
