#include "config.h"

#include "sync/definition/expression.h"

#include "sync/definition/expression_functions.h"

#include <ctype.h>

/* The index after the quoted run that starts at i, or 0 if it does not end. */
static size_t end_of_quote(struct str s, size_t i)
{
    char quote = s.ptr[i++];

    while (i < s.len) {
        if (s.ptr[i] == '\\' && quote != '`')
            i++;
        else if (s.ptr[i] == quote && i + 1 < s.len && s.ptr[i + 1] == quote)
            i++;
        else if (s.ptr[i] == quote)
            return i + 1;
        i++;
    }
    return 0;
}

static bool starts_comment(struct str s, size_t i)
{
    char next = i + 1 < s.len ? s.ptr[i + 1] : '\0';

    return s.ptr[i] == '#' || (s.ptr[i] == '/' && next == '*') ||
           (s.ptr[i] == '-' && next == '-' &&
            (i + 2 == s.len || (unsigned char)s.ptr[i + 2] <= ' '));
}

/* Matches in unquoted names; to the server, bytes above 127 are letters. */
static bool is_of_word(char c)
{
    return isalnum((unsigned char)c) || c == '_' || c == '$' || (unsigned char)c > 127;
}

static size_t skip_blanks(struct str s, size_t i)
{
    while (i < s.len && isspace((unsigned char)s.ptr[i]))
        i++;
    return i;
}

static const char *fault_of_char(struct str s, size_t i, size_t *open)
{
    switch (s.ptr[i]) {
    case '\0': return "is not an SQL expression: it has a NUL character";
    case ';': return "is not a single SQL expression: `;` ends a statement";
    case '(': ++*open; return NULL;
    case ')': return (*open)-- == 0 ? "is not an SQL expression: `)` without `(`" : NULL;
    default:
        return starts_comment(s, i) ? "is not an SQL expression: Millrace does not read "
                                      "comments here"
                                    : NULL;
    }
}

const char *expression_find_fault(struct str text)
{
    size_t open = 0, i = 0, end;

    for (; i < text.len; i = end) {
        const char c = text.ptr[i];
        const bool quoted = c == '\'' || c == '"' || c == '`';
        const char *fault = fault_of_char(text, i, &open);

        end = quoted ? end_of_quote(text, i) : i + 1;
        if (fault == NULL && end == 0)
            fault = "is not an SQL expression: a quote is not closed";
        if (fault != NULL)
            return fault;
    }
    if (open > 0)
        return "is not an SQL expression: `(` without `)`";
    return skip_blanks(text, 0) == text.len ? "is not an SQL expression: it is empty" : NULL;
}

/* ---- what does not depend on the row alone ---- */

#define NOTHING_TELLS "and nothing tells Millrace when its value changes"

static const char
    other_rows[] = "reads other rows, and nothing tells Millrace when they change",
    other_rows_fix[] = "make its value a relation or a column",
    not_of_the_row[] = "changes while its row stays the same, and nothing tells Millrace when",
    not_of_the_row_fix[] = "let searches compare with it",
    stored[] = "is a stored function, which may read other rows, the time or anything "
               "else, " NOTHING_TELLS,
    unknown[] =
        "is not known to give the same value while its row stays the same, " NOTHING_TELLS,
    function_fix[] =
        "use one of the functions listed in docs/definitions.md, or store its value in a "
        "column";

/* Words that, unquoted, are not columns. */
static const struct {
    const char *name, *why, *fix;
} words[] = {
    {"select", other_rows, other_rows_fix},
    {"table", other_rows, other_rows_fix},
    {"current_date", not_of_the_row, not_of_the_row_fix},
    {"current_role", not_of_the_row, not_of_the_row_fix},
    {"current_time", not_of_the_row, not_of_the_row_fix},
    {"current_timestamp", not_of_the_row, not_of_the_row_fix},
    {"current_user", not_of_the_row, not_of_the_row_fix},
    {"localtime", not_of_the_row, not_of_the_row_fix},
    {"localtimestamp", not_of_the_row, not_of_the_row_fix},
    {"utc_date", not_of_the_row, not_of_the_row_fix},
    {"utc_time", not_of_the_row, not_of_the_row_fix},
    {"utc_timestamp", not_of_the_row, not_of_the_row_fix},
};

/* Words that let a SELECT do more than read. */
static const char writes[] = "makes the statement more than a SELECT that reads",
                  writes_fix[] = "leave it out";
static const char *const no_reads[] = {"for", "into", "lock", "procedure"};

/* Words before `(` in a statement that call nothing. */
static const char *const clauses[] = {
    "as",        "by",    "count", "distinct", "except", "group_concat", "having",
    "intersect", "join",  "max",   "min",      "on",     "select",       "straight_join",
    "sum",       "union", "using", "values",   "where",
};

/* Words before `(` that call nothing: operators, and types of CAST. */
static const char *const no_calls[] = {
    "all",      "and",     "any",    "between", "binary",  "both",   "case",   "char",
    "datetime", "div",     "double", "decimal", "else",    "escape", "exists", "float",
    "for",      "from",    "in",     "is",      "leading", "like",   "mod",    "nchar",
    "not",      "of",      "or",     "regexp",  "rlike",   "row",    "some",   "then",
    "trailing", "varchar", "when",   "xor",
};

/* One piece of an expression: a word, a quoted run, a character. */
struct piece {
    struct str text;
    bool is_word, is_name; /* a name: quoted, as those of columns and functions may be */
};

/* Take the next piece after *at and blanks; empty at the end. */
static struct piece next_piece(struct str s, size_t *at)
{
    const size_t i = skip_blanks(s, *at);
    struct piece p = {.text = {s.ptr + i, 0}};
    size_t end = i + 1;

    if (i == s.len) {
        *at = i;
        return p;
    }
    if (s.ptr[i] == '\'' || s.ptr[i] == '"' || s.ptr[i] == '`') {
        p.is_name = s.ptr[i] != '\'';
        end = end_of_quote(s, i);
        end = end == 0 ? s.len : end;
    } else if (is_of_word(s.ptr[i])) {
        p.is_word = true;
        while (end < s.len && is_of_word(s.ptr[end]))
            end++;
    }
    p.text.len = end - i;
    *at = end;
    return p;
}

static bool is_char(const struct piece *p, char c)
{
    return p->text.len == 1 && p->text.ptr[0] == c;
}

static bool is_word(const struct piece *p, const char *word)
{
    return p->is_word && str_equal_any_case(p->text, str_from(word));
}

static bool doubt(struct expression_doubt *out, struct str what, const char *why,
                  const char *fix)
{
    *out = (struct expression_doubt){what, why, fix};
    return true;
}

/* Check a word or name before `(`; first is the piece after that. */
static bool doubt_call(const struct piece *p, const struct piece *first,
                       struct expression_doubt *out)
{
    for (size_t i = 0; p->is_word && i < ARRAY_LEN(no_calls); i++)
        if (is_word(p, no_calls[i]))
            return false;
    if (!p->is_word)
        return doubt(out, p->text, stored, function_fix);
    if (is_word(p, "unix_timestamp") && is_char(first, ')'))
        return doubt(out, p->text, not_of_the_row, not_of_the_row_fix);
    return !expression_function_is_steady(p->text) &&
           doubt(out, p->text, unknown, function_fix);
}

static bool doubt_word(const struct piece *p, const struct piece *next,
                       struct expression_doubt *out)
{
    for (size_t i = 0; i < ARRAY_LEN(words); i++)
        if (is_word(p, words[i].name))
            return doubt(out, p->text, words[i].why, words[i].fix);
    if ((is_word(p, "next") || is_word(p, "previous")) && is_word(next, "value"))
        return doubt(out, p->text, not_of_the_row, not_of_the_row_fix); /* of a sequence */
    return false;
}

/* Join the parts of DATABASE.FUNCTION. */
static struct str with_what_it_is_of(struct str first, struct str last)
{
    return (struct str){first.ptr, (size_t)(last.ptr + last.len - first.ptr)};
}

static bool is_among(const struct piece *p, const char *const *list, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (is_word(p, list[i]))
            return true;
    return false;
}

/* What a statement may have, beyond an expression. */
static bool is_of_statement(const struct piece *p)
{
    return is_among(p, clauses, ARRAY_LEN(clauses));
}

static bool doubt_piece(const struct piece *p, const struct piece *next,
                        const struct piece *behind, struct expression_doubt *out)
{
    return doubt_word(p, next, out) || (is_char(next, '(') && doubt_call(p, behind, out));
}

static bool find_doubt(struct str text, bool statement, struct expression_doubt *out)
{
    struct piece p, before = {0}, first = {0};
    size_t at = 0;

    for (p = next_piece(text, &at); p.text.len > 0; before = p, p = next_piece(text, &at)) {
        size_t ahead = at;
        const struct piece next = next_piece(text, &ahead), behind = next_piece(text, &ahead);
        const bool of = is_char(&before, '.'), called = is_char(&next, '(');

        if (!of && !is_char(&p, '.'))
            first = p; /* the first part of a dotted name */
        if (is_char(&p, '@'))
            return doubt(out, p.text, not_of_the_row, not_of_the_row_fix);
        if (!p.is_word && !p.is_name)
            continue;
        if (of && called)
            return doubt(out, with_what_it_is_of(first.text, p.text), stored, function_fix);
        if (statement && !of && is_among(&p, no_reads, ARRAY_LEN(no_reads)))
            return doubt(out, p.text, writes, writes_fix);
        if (statement && is_of_statement(&p))
            continue;
        if (!of && doubt_piece(&p, &next, &behind, out))
            return true;
    }
    return false;
}

bool expression_find_doubt(struct str text, struct expression_doubt *out)
{
    return find_doubt(text, false, out);
}

const char *statement_find_fault(struct str text)
{
    const char *fault = expression_find_fault(text);
    size_t at = 0;

    if (fault != NULL)
        return fault;

    const struct piece first = next_piece(text, &at);

    return is_word(&first, "select") ? NULL : "is not a SELECT statement: it does not begin so";
}

bool statement_find_doubt(struct str text, struct expression_doubt *out)
{
    return find_doubt(text, true, out);
}
