#include "config.h"

#include "sync/model/expression.h"

#include <ctype.h>

#define OTHER_ROWS                                                                          \
    "reads other rows by a subquery, and nothing tells this one when they change: make a " \
    "relation, or a column, of what it says"
#define NOT_OF_THE_ROW                                                                        \
    "changes while its row stays as it is (the time, a random number, the session), and "    \
    "nothing tells when: let searches compare with it"

/* How a word must go on to be what is refused; otherwise it may be a column's name. */
enum use { ALONE, CALLED, CALLED_WITH_NOTHING };

static const struct word {
    const char *name;
    enum use use;
    const char *fault;
} words[] = {
    {"select", ALONE, OTHER_ROWS},
    {"connection_id", CALLED, NOT_OF_THE_ROW},
    {"curdate", CALLED, NOT_OF_THE_ROW},
    {"current_date", ALONE, NOT_OF_THE_ROW},
    {"current_role", ALONE, NOT_OF_THE_ROW},
    {"current_time", ALONE, NOT_OF_THE_ROW},
    {"current_timestamp", ALONE, NOT_OF_THE_ROW},
    {"current_user", ALONE, NOT_OF_THE_ROW},
    {"curtime", CALLED, NOT_OF_THE_ROW},
    {"database", CALLED, NOT_OF_THE_ROW},
    {"found_rows", CALLED, NOT_OF_THE_ROW},
    {"get_lock", CALLED, NOT_OF_THE_ROW},
    {"last_insert_id", CALLED, NOT_OF_THE_ROW},
    {"localtime", ALONE, NOT_OF_THE_ROW},
    {"localtimestamp", ALONE, NOT_OF_THE_ROW},
    {"now", CALLED, NOT_OF_THE_ROW},
    {"rand", CALLED, NOT_OF_THE_ROW},
    {"random_bytes", CALLED, NOT_OF_THE_ROW},
    {"row_count", CALLED, NOT_OF_THE_ROW},
    {"session_user", CALLED, NOT_OF_THE_ROW},
    {"sleep", CALLED, NOT_OF_THE_ROW},
    {"sysdate", CALLED, NOT_OF_THE_ROW},
    {"system_user", CALLED, NOT_OF_THE_ROW},
    {"unix_timestamp", CALLED_WITH_NOTHING, NOT_OF_THE_ROW},
    {"user", CALLED, NOT_OF_THE_ROW},
    {"utc_date", ALONE, NOT_OF_THE_ROW},
    {"utc_time", ALONE, NOT_OF_THE_ROW},
    {"utc_timestamp", ALONE, NOT_OF_THE_ROW},
    {"uuid", CALLED, NOT_OF_THE_ROW},
    {"uuid_short", CALLED, NOT_OF_THE_ROW},
};

/* The byte after the quoted run that starts at i, or 0 when it does not end. */
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

/* Of a name without quotes; bytes above 127 are letters to the server. */
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

static bool is_used(struct str s, size_t end, enum use use)
{
    const size_t open = skip_blanks(s, end);

    if (use == ALONE)
        return true;
    if (open == s.len || s.ptr[open] != '(')
        return false;

    const size_t first = skip_blanks(s, open + 1);

    return use == CALLED || (first < s.len && s.ptr[first] == ')');
}

/* Of the word from i to end; NULL: none. */
static const char *fault_of_word(struct str s, size_t i, size_t end)
{
    const struct str name = {s.ptr + i, end - i};

    if (i > 0 && s.ptr[i - 1] == '.') /* a column behind its table */
        return NULL;
    for (size_t k = 0; k < ARRAY_LEN(words); k++)
        if (str_equal_any_case(name, str_from(words[k].name)) && is_used(s, end, words[k].use))
            return words[k].fault;
    return NULL;
}

static const char *fault_of_char(struct str s, size_t i, size_t *open)
{
    switch (s.ptr[i]) {
    case '\0': return "is no SQL expression: a NUL character";
    case ';': return "is no single SQL expression: `;` ends a statement";
    case '@': return NOT_OF_THE_ROW;
    case '(': ++*open; return NULL;
    case ')': return (*open)-- == 0 ? "is no SQL expression: `)` without `(`" : NULL;
    default:
        return starts_comment(s, i) ? "is no SQL expression: comments are not read here" : NULL;
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
            fault = "is no SQL expression: a quote is not closed";
        while (!quoted && is_of_word(c) && end < text.len && is_of_word(text.ptr[end]))
            end++;
        if (fault == NULL && !quoted && is_of_word(c))
            fault = fault_of_word(text, i, end);
        if (fault != NULL)
            return fault;
    }
    if (open > 0)
        return "is no SQL expression: `(` without `)`";
    return skip_blanks(text, 0) == text.len ? "is no SQL expression: it is empty" : NULL;
}
