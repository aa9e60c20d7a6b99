/*
 * struct sql_lexer: the words of a statement, as far as telling statements apart needs.
 *
 * Comments are passed over, but executable ones (between slash-star-bang and star-slash) are
 * read like the text around them: a server makes those that it did not run plain ones before
 * it logs the statement.
 */
#ifndef SYNC_BINLOG_SQL_LEXER_H
#define SYNC_BINLOG_SQL_LEXER_H

#include "src/base/base.h"
#include "src/base/str.h"

#include <stdbool.h>

struct arena;

/* How the session that ran the statement reads text. */
struct sql_dialect {
    bool mariadb; /* slash-star-M-bang is executable too */
    bool ansi_quotes;
    bool no_backslash_escapes;
};

enum sql_token_kind {
    SQL_END = 0,
    SQL_WORD,   /* keyword, name or number */
    SQL_QUOTED, /* `name`, or "name" under ANSI_QUOTES */
    SQL_STRING, /* 'text' or "text" */
    SQL_PUNCTUATION,
};

struct sql_token {
    enum sql_token_kind kind;
    struct str text; /* as it stands, with its quotes */
    bool escapes;    /* SQL_STRING: a backslash is one */
};

struct sql_lexer {
    const char *p, *end;
    struct sql_dialect dialect;
    bool in_comment;        /* an executable one */
    bool cut;               /* the text ended within quotes or a comment */
    struct sql_token token; /* the one to look at */
};

void sql_lexer_init(struct sql_lexer *l, struct str sql, struct sql_dialect dialect);
/* Look at the next token. */
void sql_lexer_next(struct sql_lexer *l);

/* Whether the token is this keyword (in capitals), or this character. */
bool sql_lexer_is(const struct sql_lexer *l, const char *word);
bool sql_lexer_is_char(const struct sql_lexer *l, char c);
/* The same, and moves on if it is. */
bool sql_lexer_accept(struct sql_lexer *l, const char *word);
bool sql_lexer_accept_char(struct sql_lexer *l, char c);

/* What a word, a name or a string means, without quotes; in a. */
struct str sql_token_text(const struct sql_token *t, struct arena *a);

/* Whether an expression may mean this column: its name is one of the words. */
bool sql_may_name(struct str sql, struct str column);

#endif
