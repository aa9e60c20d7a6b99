#include "config.h"

#include "sync/document/comparison.h"

#include "src/base/buf.h"
#include "src/mysql/mysql.h"
#include "sync/document/key.h"
#include "sync/value/schema.h"

#include <assert.h>

static bool is_numeric(enum key_class class)
{
    return class == KEY_NUMBER || class == KEY_REAL;
}

/* The column's values can be compared with text; a BIT would be a string of bytes there. */
static bool is_like_text(const struct column *c)
{
    enum key_class class = key_class_of(c);

    return (class == KEY_NUMBER && c->type != COLUMN_BIT) || class == KEY_UUID ||
           class == KEY_INET4 || class == KEY_INET6;
}

bool comparison_can_join(const struct column *outer, const struct column *inner)
{
    enum key_class a = key_class_of(outer), b = key_class_of(inner);

    if (a == KEY_NONE || b == KEY_NONE)
        return false;
    return a == b || (is_numeric(a) && is_numeric(b)) ||
           (a == KEY_TEXT && is_like_text(inner)) || (b == KEY_TEXT && is_like_text(outer));
}

bool comparison_can_join_across(const struct column *outer, const struct column *inner)
{
    enum key_class a = key_class_of(outer), b = key_class_of(inner);

    if (is_numeric(a) && is_numeric(b))
        return true;
    return a != KEY_NONE && a == b &&
           (a != KEY_TEXT || (str_equal(outer->charset, inner->charset) &&
                              str_equal(outer->collation, inner->collation)));
}

bool comparison_is_alike(const struct column *a, const struct column *b)
{
    enum key_class class = key_class_of(a);

    if (class != key_class_of(b))
        return is_numeric(class) && is_numeric(key_class_of(b));
    if (class == KEY_TEXT)
        return str_equal(a->charset, b->charset) && str_equal(a->collation, b->collation);
    return a->fsp == b->fsp;
}

/* Convert a number to its digits, without the zeros of ZEROFILL. */
static void append_convert(struct buf *sql, const struct column *c, const struct column *source,
                           struct str expression)
{
    const char *digits = key_class_of(source) == KEY_NUMBER ? "+0" : "";

    buf_printf(sql, "CONVERT(%" STR_FMT "%s USING %" STR_FMT ") COLLATE %" STR_FMT,
               STR_ARG(expression), digits, STR_ARG(c->charset), STR_ARG(c->collation));
}

static void append_cast(struct buf *sql, struct str expression, const char *type)
{
    buf_printf(sql, "CAST(%" STR_FMT " AS %s)", STR_ARG(expression), type);
}

/* Append the text that a text column has for the number: a DECIMAL keeps its scale. */
static void append_number(struct buf *sql, const struct column *c, struct str expression)
{
    if (c->type == COLUMN_DECIMAL)
        buf_printf(sql, "CAST(%" STR_FMT " AS DECIMAL(65,%u))", STR_ARG(expression),
                   (unsigned)c->scale);
    else
        append_cast(sql, expression, c->is_unsigned ? "UNSIGNED" : "SIGNED");
}

void comparison_append_as(struct buf *sql, const struct column *c, const struct column *source,
                          struct str expression)
{
    switch (key_class_of(c)) {
    case KEY_NUMBER:
        if (key_class_of(source) == KEY_TEXT)
            append_number(sql, c, expression);
        else
            buf_append(sql, expression);
        return;
    case KEY_TEXT: append_convert(sql, c, source, expression); return;
    case KEY_DATE: append_cast(sql, expression, "DATE"); return;
    case KEY_DATETIME:
        buf_printf(sql, "CAST(%" STR_FMT " AS DATETIME(%u))", STR_ARG(expression),
                   (unsigned)c->fsp);
        return;
    case KEY_TIME:
        buf_printf(sql, "CAST(%" STR_FMT " AS TIME(%u))", STR_ARG(expression),
                   (unsigned)c->fsp);
        return;
    case KEY_UUID: append_cast(sql, expression, "UUID"); return;
    case KEY_INET4: append_cast(sql, expression, "INET4"); return;
    case KEY_INET6: append_cast(sql, expression, "INET6"); return;
    case KEY_REAL:
    case KEY_YEAR:
    case KEY_BYTES: buf_append(sql, expression); return;
    case KEY_NONE: break;
    }
    assert(!"a column that cannot be joined");
}

void comparison_append_equal(struct buf *sql, struct str name, const struct column *c,
                             const struct column *source, struct str expression)
{
    buf_append(sql, name);
    buf_append(sql, STR(" = "));
    comparison_append_as(sql, c, source, expression);
}

void comparison_append_value(struct buf *sql, struct str table, const struct column *c)
{
    struct buf name = {0};

    mysql_quote_name(&name, table);
    buf_append_char(&name, '.');
    mysql_quote_name(&name, c->name);
    if (c->type == COLUMN_ENUM || c->type == COLUMN_SET)
        append_convert(sql, c, c, buf_str(&name));
    else
        buf_append(sql, buf_str(&name));
    buf_free(&name);
}
