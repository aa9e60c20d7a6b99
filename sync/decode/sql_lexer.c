#include "config.h"

#include "sync/decode/sql_lexer.h"

#include "src/base/arena.h"

#include <ctype.h>
#include <string.h>
#include <strings.h>

static bool starts_with(const struct sql_lexer *l, const char *text)
{
    const size_t n = strlen(text);

    return (size_t)(l->end - l->p) >= n && memcmp(l->p, text, n) == 0;
}

static void skip_line(struct sql_lexer *l)
{
    const char *newline = memchr(l->p, '\n', (size_t)(l->end - l->p));

    l->p = newline != NULL ? newline + 1 : l->end;
}

static void skip_block(struct sql_lexer *l)
{
    for (l->p += 2; l->p < l->end; l->p++)
        if (starts_with(l, "*/")) {
            l->p += 2;
            return;
        }
    l->cut = true;
}

/* Skip white space, comments and the marks of executable comments. */
static void skip_space(struct sql_lexer *l)
{
    while (l->p < l->end) {
        if (isspace((unsigned char)*l->p) || *l->p == '\0') {
            l->p++;
        } else if (*l->p == '#' || (starts_with(l, "--") &&
                                    (l->end - l->p == 2 || (unsigned char)l->p[2] <= ' '))) {
            skip_line(l);
        } else if (starts_with(l, "/*!") || (l->dialect.mariadb && starts_with(l, "/*M!"))) {
            l->p += l->p[2] == '!' ? 3 : 4;
            while (l->p < l->end && isdigit((unsigned char)*l->p))
                l->p++;
            l->in_comment = true;
        } else if (starts_with(l, "/*")) {
            skip_block(l);
        } else if (l->in_comment && starts_with(l, "*/")) {
            l->p += 2;
            l->in_comment = false;
        } else {
            return;
        }
    }
}

static bool is_word_char(char c)
{
    return isalnum((unsigned char)c) || c == '_' || c == '$' || c == '@' ||
           (unsigned char)c >= 0x80;
}

/*
 * Skip to after the closing quote.  A doubled or backslash-escaped quote belongs to the text.
 */
static void skip_quoted(struct sql_lexer *l, bool escapes)
{
    const char quote = *l->p++;

    while (l->p < l->end) {
        const char c = *l->p++;

        if (c == '\\' && escapes && l->p < l->end)
            l->p++;
        else if (c == quote && (l->p == l->end || *l->p != quote))
            return;
        else if (c == quote)
            l->p++;
    }
    l->cut = true;
}

void sql_lexer_next(struct sql_lexer *l)
{
    skip_space(l);

    const char *const start = l->p;

    l->token = (struct sql_token){SQL_END, {l->end, 0}, false};
    if (l->p == l->end)
        return;
    if (*l->p == '`' || (*l->p == '"' && l->dialect.ansi_quotes)) {
        l->token.kind = SQL_QUOTED;
        skip_quoted(l, false);
    } else if (*l->p == '\'' || *l->p == '"') {
        l->token.kind = SQL_STRING;
        l->token.escapes = !l->dialect.no_backslash_escapes;
        skip_quoted(l, l->token.escapes);
    } else if (is_word_char(*l->p)) {
        l->token.kind = SQL_WORD;
        while (l->p < l->end && is_word_char(*l->p))
            l->p++;
    } else {
        l->token.kind = SQL_PUNCTUATION;
        l->p++;
    }
    l->token.text = (struct str){start, (size_t)(l->p - start)};
}

void sql_lexer_init(struct sql_lexer *l, struct str sql, struct sql_dialect dialect)
{
    *l = (struct sql_lexer){.p = sql.ptr != NULL ? sql.ptr : "", .dialect = dialect};
    l->end = l->p + sql.len;
    sql_lexer_next(l);
}

bool sql_lexer_is(const struct sql_lexer *l, const char *word)
{
    return l->token.kind == SQL_WORD && str_equal_any_case(l->token.text, str_from(word));
}

bool sql_lexer_is_char(const struct sql_lexer *l, char c)
{
    return l->token.kind == SQL_PUNCTUATION && l->token.text.ptr[0] == c;
}

bool sql_lexer_accept(struct sql_lexer *l, const char *word)
{
    if (!sql_lexer_is(l, word))
        return false;
    sql_lexer_next(l);
    return true;
}

bool sql_lexer_accept_char(struct sql_lexer *l, char c)
{
    if (!sql_lexer_is_char(l, c))
        return false;
    sql_lexer_next(l);
    return true;
}

static char unescaped(char c)
{
    switch (c) {
    case '0': return '\0';
    case 'b': return '\b';
    case 'n': return '\n';
    case 'r': return '\r';
    case 't': return '\t';
    case 'Z': return '\x1a';
    default: return c;
    }
}

struct str sql_token_text(const struct sql_token *t, struct arena *a)
{
    char *const text = arena_bytes(a, t->text.len);
    const char *p = t->text.ptr, *end = p + t->text.len;
    size_t n = 0;

    if (t->kind != SQL_QUOTED && t->kind != SQL_STRING)
        return arena_copy(a, t->text);

    const char quote = *p++;

    while (p < end) {
        char c = *p++;

        if (c == quote) {
            if (p == end || *p != quote)
                break;
            p++;
        } else if (c == '\\' && t->escapes && p < end) {
            c = unescaped(*p++);
        }
        text[n++] = c;
    }
    return (struct str){text, n};
}

/* A backtick in a name is written twice, and letters outside ASCII have capitals, too. */
static bool has_other_forms(struct str column)
{
    for (size_t i = 0; i < column.len; i++)
        if (column.ptr[i] == '`' || (unsigned char)column.ptr[i] >= 0x80)
            return true;
    return false;
}

bool sql_may_name(struct str sql, struct str column)
{
    if (has_other_forms(column))
        return sql.len > 0;
    for (size_t i = 0; i + column.len <= sql.len; i++)
        if (strncasecmp(sql.ptr + i, column.ptr, column.len) == 0 &&
            (i == 0 || !is_word_char(sql.ptr[i - 1])) &&
            (i + column.len == sql.len || !is_word_char(sql.ptr[i + column.len])))
            return true;
    return false;
}
