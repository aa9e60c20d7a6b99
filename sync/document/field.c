#include "config.h"

#include "sync/document/field.h"

#include "src/base/buf.h"
#include "sync/definition/field_type.h"
#include "sync/value/schema.h"
#include "sync/value/value.h"
#include "sync/value/value_json.h"

static bool is_string_type(struct str type)
{
    static const struct str strings[] = {STR("keyword"), STR("text"), STR("wildcard"),
                                         STR("match_only_text"), STR("constant_keyword")};

    for (size_t i = 0; i < ARRAY_LEN(strings); i++)
        if (str_equal(strings[i], type))
            return true;
    return false;
}

static struct str zone_of(const struct topic_definition *topic)
{
    struct str zone = topic->time_zone;

    if (str_equal(zone, STR("UTC")) || str_equal(zone, STR("+00:00")))
        return STR("Z");
    return zone;
}

struct field field_make(const struct column *c, struct str member, struct str type,
                        const struct topic_definition *topic)
{
    /* The form of values does not depend on the engine. */
    const struct engine any = {0};
    struct str is = type.len > 0 ? type : str_from(field_default_type(c, &any));

    return (struct field){
        .column = c,
        .member = member,
        .as_boolean = str_equal(is, STR("boolean")),
        .as_string = is_string_type(is),
        .zero_date = topic->zero_date,
        .zone = c->type == COLUMN_DATETIME ? zone_of(topic) : STR(""),
    };
}

static bool refuse(const struct field *f, const char *why, struct str text, struct err *err)
{
    return err_set(err, ERR_REJECT, "column `%" STR_FMT "` %s%.*s", STR_ARG(f->column->name),
                   why, text.len < 64 ? (int)text.len : 64, text.ptr);
}

static bool is_incomplete(struct str date)
{
    return date.len >= 10 &&
           (memcmp(date.ptr, "0000", 4) == 0 || memcmp(date.ptr + 5, "00", 2) == 0 ||
            memcmp(date.ptr + 8, "00", 2) == 0);
}

void field_append_null(const struct field *f, struct buf *b)
{
    buf_append(b, f->if_null.len > 0 ? f->if_null : STR("null"));
}

static void append_quoted(struct buf *b, struct str plain)
{
    buf_append_char(b, '"');
    buf_append(b, plain);
    buf_append_char(b, '"');
}

/* text is YYYY-MM-DD, perhaps followed by ' ' or 'T' and a time. */
static bool append_date(const struct field *f, struct str text, struct str zone, struct buf *b,
                        struct err *err)
{
    bool incomplete = is_incomplete(text);

    if (incomplete && f->zero_date == ZERO_DATE_NULL) {
        field_append_null(f, b);
        return true;
    }
    if (incomplete && f->zero_date == ZERO_DATE_DEAD_LETTER)
        return refuse(f, "is not a complete date: ", text, err);
    buf_append_char(b, '"');
    size_t start = b->len;

    buf_append(b, text);
    if (text.len > 10)
        b->ptr[start + 10] = 'T';
    /* An incomplete date gets no offset; TIMESTAMP is always in UTC. */
    if (!incomplete || f->column->type == COLUMN_TIMESTAMP)
        buf_append(b, zone);
    buf_append_char(b, '"');
    return true;
}

static void append_bool(struct buf *b, bool is)
{
    buf_append(b, is ? STR("true") : STR("false"));
}

static bool append_enum(const struct field *f, const struct value *v, struct buf *b,
                        struct err *err)
{
    struct str label = v->s;

    if (label.ptr == NULL && v->u == 0)
        label = STR("");
    else if (label.ptr == NULL && v->u <= f->column->n_labels)
        label = f->column->labels[v->u - 1];
    if (label.ptr == NULL)
        return refuse(f, "has a number without a label", STR(""), err);
    buf_append_json(b, label);
    return true;
}

static bool append_set(const struct field *f, const struct value *v, struct buf *b,
                       struct err *err)
{
    bool first = true;

    if (v->s.ptr != NULL) {
        value_append_labels(b, v->s);
        return true;
    }
    if (f->column->n_labels < 64 && v->u >> f->column->n_labels != 0)
        return refuse(f, "has a member without a label", STR(""), err);
    buf_append_char(b, '[');
    for (size_t i = 0; i < f->column->n_labels; i++) {
        if ((v->u >> i & 1) == 0)
            continue;
        if (!first)
            buf_append_char(b, ',');
        buf_append_json(b, f->column->labels[i]);
        first = false;
    }
    buf_append_char(b, ']');
    return true;
}

/* Also for text that is invalid in its character set. */
static void append_bytes(const struct field *f, struct str bytes, struct buf *b)
{
    const enum column_type type = f->column->type;

    if (type == COLUMN_CHAR || type == COLUMN_VARCHAR || type == COLUMN_TEXT)
        buf_append_json(b, bytes);
    else
        value_append_base64(b, bytes);
}

static void append_signed(const struct field *f, int64_t i, struct buf *b)
{
    if (f->as_boolean)
        append_bool(b, i != 0);
    else
        buf_append_i64(b, i);
}

static void append_unsigned(const struct field *f, uint64_t u, struct buf *b)
{
    if (f->as_boolean)
        append_bool(b, u != 0);
    else
        buf_append_u64(b, u);
}

bool field_append(const struct field *f, const struct value *v, struct buf *b, struct err *err)
{
    switch (v->kind) {
    case VALUE_ABSENT: return refuse(f, "is not in the row image", STR(""), err);
    case VALUE_NULL: field_append_null(f, b); return true;
    case VALUE_INT: append_signed(f, v->i, b); return true;
    case VALUE_UINT:
    case VALUE_YEAR:
    case VALUE_BIT: append_unsigned(f, v->u, b); return true;
    case VALUE_FLOAT: value_append_float(b, (float)v->d); return true;
    case VALUE_DOUBLE: value_append_double(b, v->d); return true;
    case VALUE_DECIMAL:
        if (f->as_string)
            append_quoted(b, v->s);
        else
            buf_append(b, v->s);
        return true;
    case VALUE_TEXT: buf_append_json(b, v->s); return true;
    case VALUE_BYTES: append_bytes(f, v->s, b); return true;
    case VALUE_DATE: return append_date(f, v->s, STR(""), b, err);
    case VALUE_DATETIME: return append_date(f, v->s, f->zone, b, err);
    case VALUE_TIMESTAMP: return append_date(f, v->s, STR("Z"), b, err);
    case VALUE_TIME: append_quoted(b, v->s); return true;
    case VALUE_ENUM: return append_enum(f, v, b, err);
    case VALUE_SET: return append_set(f, v, b, err);
    case VALUE_JSON:
        return value_append_compact_json(b, v->s) || refuse(f, "is not JSON", STR(""), err);
    case VALUE_GEOMETRY:
        return value_append_geojson(b, v->s) || refuse(f, "is not a geometry", STR(""), err);
    case VALUE_VECTOR: value_append_vector(b, v->s); return true;
    }
    return refuse(f, "has no known kind", STR(""), err);
}
