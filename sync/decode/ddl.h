/*
 * What a logged statement does, as far as a follower of row events must know: its kind, and the
 * tables and columns it names.
 *
 * Not a parser: it reads the first words of the statement and of each clause of ALTER TABLE.
 */
#ifndef SYNC_DECODE_DDL_H
#define SYNC_DECODE_DDL_H

#include "src/base/base.h"
#include "src/base/str.h"
#include "sync/decode/sql_lexer.h"

#include <stdbool.h>
#include <stddef.h>

struct arena;

enum ddl_kind {
    DDL_UNKNOWN = 0, /* not recognised; may do anything */
    DDL_NONE,        /* affects no table's rows or shape: GRANT, CREATE USER, SET, FLUSH ... */
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
    DDL_DML, /* INSERT, UPDATE, DELETE, REPLACE, LOAD, CALL ...: the log lacks its rows; names
                the table only if it is obvious */
};

struct ddl_table {
    struct str database;     /* from the statement or else the session; may be empty */
    struct str table;        /* empty for CREATE, ALTER and DROP DATABASE */
    struct str new_database; /* the new name, for RENAME TABLE and ALTER TABLE ... RENAME */
    struct str new_table;    /* ptr NULL if not renamed */
};

enum ddl_column_op {
    DDL_COLUMN_ADD,
    DDL_COLUMN_DROP,
    DDL_COLUMN_MODIFY,
    DDL_COLUMN_CHANGE, /* new name and new definition; both names may be equal */
    DDL_COLUMN_RENAME,
};

/*
 * A column that ALTER TABLE names, spelled as there; column names compare without case.  Does
 * not record IF [NOT] EXISTS: an added column may have existed, a dropped one may not.
 */
struct ddl_column {
    enum ddl_column_op op;
    struct str name;
    struct str new_name; /* CHANGE and RENAME; ptr NULL if not renamed */
};

struct ddl {
    enum ddl_kind kind;
    bool temporary;      /* a TEMPORARY table, which only its session sees */
    bool changes_rows;   /* without row events: drops, empties or exchanges partitions, imports
                            a tablespace, CREATE OR REPLACE, or ALTER IGNORE, which deletes
                            duplicates */
    bool changes_values; /* rows look different: adds, changes, converts or drops columns */
    bool changes_checks; /* changes constraints; one makes a text column JSON in MariaDB */
    bool one_phase;      /* XA COMMIT ... ONE PHASE */
    struct str xid;      /* XA: canonical form "X'67',X'62',1" */
    struct ddl_table *tables;
    size_t n_tables;
    struct ddl_column *columns; /* ALTER TABLE of tables[0], in statement order */
    size_t n_columns;
    bool columns_unclear; /* other columns may have been added, dropped or changed: the
                             statement was not understood, or the columns are hidden */
};

/* Allocates all of out in a.  Never fails: unrecognised statements are DDL_UNKNOWN. */
void ddl_parse(struct str database, struct str sql, struct sql_dialect dialect, struct arena *a,
               struct ddl *out);

/* Tell whether the statement may change the shape of the table. */
bool ddl_concerns(const struct ddl *ddl, struct str database, struct str table);

/*
 * Tell whether the statement takes this name away from its table: another one may get the name,
 * but none exists under it right after.
 */
bool ddl_takes_away(const struct ddl *ddl, struct str database, struct str table);

/* Tell whether this is an ALTER of the table, even one that leaves its columns alone. */
bool ddl_alters(const struct ddl *ddl, struct str database, struct str table);

/* "create table", "drop table" ... */
const char *ddl_kind_name(enum ddl_kind kind);

#endif
