/*
 * struct sql_lexer: split a statement into words, well enough to classify statements.
 *
 * Skips comments, but reads executable ones (slash-star-bang to star-slash) like the text
 * around them: before it logs a statement, a server turns those that it did not execute into
 * plain comments.
 */
#ifndef SYNC_DECODE_SQL_LEXER_H
#define SYNC_DECODE_SQL_LEXER_H

#include "src/base/base.h"
#include "src/base/str.h"

#include <stdbool.h>

struct arena;

/* How the statement's session parses text. */
struct sql_dialect {
    bool mariadb; /* slash-star-M-bang comments are executable, too */
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
    struct str text; /* as written, with quotes */
    bool escapes;    /* SQL_STRING: backslash escapes */
};

struct sql_lexer {
    const char *p, *end;
    struct sql_dialect dialect;
    bool in_comment;        /* inside an executable comment */
    bool cut;               /* the text ended within quotes or a comment */
    struct sql_token token; /* the current token */
};

void sql_lexer_init(struct sql_lexer *l, struct str sql, struct sql_dialect dialect);
/* Advance to the next token. */
void sql_lexer_next(struct sql_lexer *l);

/* Compare the token with a keyword in capitals, or a character. */
bool sql_lexer_is(const struct sql_lexer *l, const char *word);
bool sql_lexer_is_char(const struct sql_lexer *l, char c);
/* Compare likewise, and consume a match. */
bool sql_lexer_accept(struct sql_lexer *l, const char *word);
bool sql_lexer_accept_char(struct sql_lexer *l, char c);

/* The meaning of a word, name or string without its quotes; allocated in a. */
struct str sql_token_text(const struct sql_token *t, struct arena *a);

/* Tell whether an expression may use this column: one of its words is the name. */
bool sql_may_name(struct str sql, struct str column);

#endif
