/*
 * struct ddl_reading: a statement being read, for the parts of ddl_parse() alone.
 */
#ifndef SYNC_BINLOG_DDL_READING_H
#define SYNC_BINLOG_DDL_READING_H

#include "sync/binlog/ddl.h"

struct ddl_reading {
    struct sql_lexer lex;
    struct str database; /* the session's */
    struct arena *a;
    struct ddl *out;
    size_t tables_cap, columns_cap;
    bool inner; /* behind SET STATEMENT ... FOR */
};

/* Whether the token is this word, in capitals; accept: and moves on if it is. */
bool ddl_is(const struct ddl_reading *r, const char *word);
bool ddl_accept(struct ddl_reading *r, const char *word);
/* Passes over any of these words, in any order; NULL ends them. */
void ddl_accept_any(struct ddl_reading *r, const char *const *words);
/* IF [NOT] EXISTS */
void ddl_accept_if_exists(struct ddl_reading *r);

bool ddl_read_identifier(struct ddl_reading *r, struct str *out);
/* [database.]table */
bool ddl_read_name(struct ddl_reading *r, struct str *database, struct str *table);

struct ddl_table *ddl_add_table(struct ddl_reading *r);
/* [IF EXISTS] [database.]table becomes one of the tables; kind, or DDL_UNKNOWN. */
enum ddl_kind ddl_read_table(struct ddl_reading *r, enum ddl_kind kind);

/* What follows ALTER TABLE name. */
void ddl_read_alterations(struct ddl_reading *r);

#endif
