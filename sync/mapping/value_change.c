#include "config.h"

#include "sync/mapping/value_change.h"

#include "sync/value/schema.h"

#include <string.h>
#include <strings.h>

#define UTF8_BYTES_MAX 4

enum family { OTHER = 0, INTEGER, TEXT, BYTES, LABELS };

static enum family family_of(enum column_type t)
{
    switch (t) {
    case COLUMN_TINYINT:
    case COLUMN_SMALLINT:
    case COLUMN_MEDIUMINT:
    case COLUMN_INT:
    case COLUMN_BIGINT: return INTEGER;
    case COLUMN_CHAR:
    case COLUMN_VARCHAR:
    case COLUMN_TEXT: return TEXT;
    case COLUMN_BINARY:
    case COLUMN_VARBINARY:
    case COLUMN_BLOB: return BYTES;
    case COLUMN_ENUM:
    case COLUMN_SET: return LABELS;
    case COLUMN_UNKNOWN:
    case COLUMN_DECIMAL:
    case COLUMN_FLOAT:
    case COLUMN_DOUBLE:
    case COLUMN_BIT:
    case COLUMN_YEAR:
    case COLUMN_DATE:
    case COLUMN_TIME:
    case COLUMN_DATETIME:
    case COLUMN_TIMESTAMP:
    case COLUMN_JSON:
    case COLUMN_POINT:
    case COLUMN_GEOMETRY:
    case COLUMN_UUID:
    case COLUMN_INET4:
    case COLUMN_INET6:
    case COLUMN_VECTOR: return OTHER;
    }
    return OTHER;
}

/* The types are sorted by size. */
static bool integer_holds(const struct column *is, const struct column *was)
{
    if (is->is_unsigned == was->is_unsigned)
        return is->type >= was->type;
    return was->is_unsigned && is->type > was->type;
}

/* Newer servers print utf8 as utf8mb3. */
static struct str charset_of(const struct column *c)
{
    return str_equal_any_case(c->charset, STR("utf8")) ? STR("utf8mb3") : c->charset;
}

static bool charset_holds(const struct column *is, const struct column *was)
{
    return str_equal_any_case(charset_of(is), charset_of(was)) ||
           str_equal_any_case(is->charset, STR("utf8mb4")) ||
           str_equal_any_case(was->charset, STR("ascii"));
}

/*
 * TEXT counts its length in bytes, CHAR and VARCHAR in characters; CHAR loses trailing blanks.
 */
static bool text_holds(const struct column *is, const struct column *was)
{
    const uint64_t each =
        is->type == COLUMN_TEXT && was->type != COLUMN_TEXT ? UTF8_BYTES_MAX : 1;

    return charset_holds(is, was) && (is->type != COLUMN_CHAR || was->type == COLUMN_CHAR) &&
           (was->type != COLUMN_TEXT || is->type == COLUMN_TEXT) &&
           is->length >= was->length * each;
}

/* BINARY is padded with zeros. */
static bool bytes_hold(const struct column *is, const struct column *was)
{
    if (is->type == COLUMN_BINARY)
        return was->type == COLUMN_BINARY && is->length == was->length;
    return is->length >= was->length;
}

static bool labels_hold(const struct column *is, const struct column *was)
{
    if (is->type != was->type || is->n_labels < was->n_labels)
        return false;
    for (size_t i = 0; i < was->n_labels; i++)
        if (!str_equal(is->labels[i], was->labels[i]))
            return false;
    return true;
}

static bool other_holds(const struct column *is, const struct column *was)
{
    if (is->type != was->type)
        return false;
    switch (is->type) {
    case COLUMN_DECIMAL:
        return is->scale == was->scale && is->precision >= was->precision &&
               (was->is_unsigned || !is->is_unsigned);
    case COLUMN_TIME:
    case COLUMN_DATETIME:
    case COLUMN_TIMESTAMP: return is->fsp == was->fsp;
    case COLUMN_BIT: return is->length >= was->length;
    case COLUMN_JSON: return true;
    case COLUMN_UNKNOWN:
    case COLUMN_TINYINT:
    case COLUMN_SMALLINT:
    case COLUMN_MEDIUMINT:
    case COLUMN_INT:
    case COLUMN_BIGINT:
    case COLUMN_FLOAT:
    case COLUMN_DOUBLE:
    case COLUMN_YEAR:
    case COLUMN_DATE:
    case COLUMN_CHAR:
    case COLUMN_VARCHAR:
    case COLUMN_BINARY:
    case COLUMN_VARBINARY:
    case COLUMN_TEXT:
    case COLUMN_BLOB:
    case COLUMN_ENUM:
    case COLUMN_SET:
    case COLUMN_POINT:
    case COLUMN_GEOMETRY:
    case COLUMN_UUID:
    case COLUMN_INET4:
    case COLUMN_INET6:
    case COLUMN_VECTOR: return str_equal_any_case(is->type_text, was->type_text);
    }
    return false;
}

static bool type_holds(const struct column *is, const struct column *was)
{
    const enum family f = family_of(is->type);

    if (f != family_of(was->type))
        return false;
    switch (f) {
    case INTEGER: return integer_holds(is, was);
    case TEXT: return text_holds(is, was);
    case BYTES: return bytes_hold(is, was);
    case LABELS: return labels_hold(is, was);
    case OTHER: return other_holds(is, was);
    }
    return false;
}

/* NOT NULL turns NULLs into something else, unless the server refused. */
bool value_change_keeps_text(const struct column *was, const struct column *is)
{
    return type_holds(is, was) && (is->nullable || !was->nullable) &&
           is->generated == was->generated && str_equal(is->expression, was->expression);
}

/* The collation with utf8 under its newer name, utf8mb3. */
static struct str collation_of(const struct column *c)
{
    static const struct str olds[] = {STR("utf8_"), STR("utf8mb3_")};
    const struct str s = c->collation;

    for (size_t i = 0; i < ARRAY_LEN(olds); i++)
        if (s.len > olds[i].len && strncasecmp(s.ptr, olds[i].ptr, olds[i].len) == 0)
            return (struct str){s.ptr + olds[i].len, s.len - olds[i].len};
    return s;
}

bool value_change_keeps_collation(const struct column *was, const struct column *is)
{
    return str_equal_any_case(collation_of(was), collation_of(is));
}

static bool is_filled(const struct column *c)
{
    return c->type == COLUMN_BIT ||
           memmem(c->type_text.ptr, c->type_text.len, "zerofill", strlen("zerofill")) != NULL;
}

/* In a NOT NULL column, `IS NULL` matches zero dates. */
static bool may_be_zero(const struct column *c)
{
    return c->type == COLUMN_DATE || c->type == COLUMN_DATETIME;
}

/* Unsigned integers subtract differently, and zero-filled ones print longer. */
bool value_change_keeps_meaning(const struct column *was, const struct column *is)
{
    return value_change_keeps_text(was, is) && value_change_keeps_collation(was, is) &&
           is->is_unsigned == was->is_unsigned &&
           (!may_be_zero(is) || is->nullable == was->nullable) &&
           ((!is_filled(was) && !is_filled(is)) ||
            str_equal_any_case(is->type_text, was->type_text));
}

bool value_change_adds_null(const struct column *added)
{
    return added->nullable && !added->has_default && !added->generated;
}
