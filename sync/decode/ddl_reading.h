/*
 * struct ddl_reading: the state of ddl_parse(), for its parts only.
 */
#ifndef SYNC_DECODE_DDL_READING_H
#define SYNC_DECODE_DDL_READING_H

#include "sync/decode/ddl.h"

struct ddl_reading {
    struct sql_lexer lex;
    struct str database; /* the session's database */
    struct arena *a;
    struct ddl *out;
    size_t tables_cap, columns_cap;
    bool inner; /* after SET STATEMENT ... FOR */
};

/* Compare the token with a word in capitals. ddl_accept() also consumes a match. */
bool ddl_is(const struct ddl_reading *r, const char *word);
bool ddl_accept(struct ddl_reading *r, const char *word);
/* Skip any of these words in any order.  NULL ends the list. */
void ddl_accept_any(struct ddl_reading *r, const char *const *words);
/* Skip IF [NOT] EXISTS. */
void ddl_accept_if_exists(struct ddl_reading *r);

bool ddl_read_identifier(struct ddl_reading *r, struct str *out);
/* Read [database.]table. */
bool ddl_read_name(struct ddl_reading *r, struct str *database, struct str *table);

struct ddl_table *ddl_add_table(struct ddl_reading *r);
/*
 * Read [IF EXISTS] [database.]table and add the table.  Returns kind, or DDL_UNKNOWN on
 * failure.
 */
enum ddl_kind ddl_read_table(struct ddl_reading *r, enum ddl_kind kind);

/* Read the clauses after ALTER TABLE name. */
void ddl_read_alterations(struct ddl_reading *r);

#endif
