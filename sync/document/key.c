#include "config.h"

#include "sync/document/key.h"

#include "src/base/buf.h"
#include "src/base/bytes.h"
#include "src/base/hex.h"
#include "src/base/utf8.h"
#include "src/mysql/mysql.h"
#include "sync/value/schema.h"
#include "sync/value/value.h"
#include "sync/value/value_json.h"

#include <assert.h>
#include <stdint.h>
#include <stdlib.h>

#define LENGTH_SIZE 4

enum key_class key_class_of(const struct column *c)
{
    switch (c->type) {
    case COLUMN_TINYINT:
    case COLUMN_SMALLINT:
    case COLUMN_MEDIUMINT:
    case COLUMN_INT:
    case COLUMN_BIGINT:
    case COLUMN_DECIMAL:
    case COLUMN_BIT: return KEY_NUMBER;
    case COLUMN_FLOAT:
    case COLUMN_DOUBLE: return KEY_REAL;
    case COLUMN_YEAR: return KEY_YEAR;
    case COLUMN_DATE: return KEY_DATE;
    case COLUMN_TIME: return KEY_TIME;
    case COLUMN_DATETIME:
    case COLUMN_TIMESTAMP: return KEY_DATETIME;
    case COLUMN_CHAR:
    case COLUMN_VARCHAR:
    case COLUMN_TEXT:
    case COLUMN_ENUM:
    case COLUMN_SET: return KEY_TEXT;
    case COLUMN_BINARY:
    case COLUMN_VARBINARY:
    case COLUMN_BLOB: return KEY_BYTES;
    case COLUMN_UUID: return KEY_UUID;
    case COLUMN_INET4: return KEY_INET4;
    case COLUMN_INET6: return KEY_INET6;
    case COLUMN_UNKNOWN:
    case COLUMN_JSON:
    case COLUMN_POINT:
    case COLUMN_GEOMETRY:
    case COLUMN_VECTOR: return KEY_NONE;
    }
    return KEY_NONE;
}

bool key_is_integer(const struct column *c)
{
    return c->type >= COLUMN_TINYINT && c->type <= COLUMN_BIGINT;
}

static bool is_number(struct str text)
{
    for (size_t i = 0; i < text.len; i++)
        if (memchr("0123456789+-.eE", text.ptr[i], 15) == NULL)
            return false;
    return text.len > 0;
}

static bool append_text(struct buf *key, const struct column *c, struct str text,
                        struct err *err)
{
    enum key_class class = key_class_of(c);

    if (class == KEY_NUMBER || class == KEY_REAL || class == KEY_YEAR) {
        if (!is_number(text))
            return err_set(err, ERR_REJECT, "`%" STR_FMT "` is no longer a number",
                           STR_ARG(c->name));
    } else if (!utf8_valid(text)) {
        return err_set(err, ERR_REJECT, "`%" STR_FMT "` is part of a key and not valid text",
                       STR_ARG(c->name));
    }
    buf_append(key, text);
    return true;
}

static bool append_datetime(struct buf *key, struct str text)
{
    size_t at = key->len;

    buf_append(key, text);
    if (text.len > 10)
        key->ptr[at + 10] = 'T';
    return true;
}

static struct str label_of(const struct column *c, uint64_t number)
{
    return number >= 1 && number <= c->n_labels ? c->labels[number - 1] : STR("");
}

static void append_members(struct buf *key, const struct column *c, uint64_t members)
{
    bool first = true;

    for (size_t i = 0; i < c->n_labels && i < 64; i++) {
        if ((members >> i & 1) == 0)
            continue;
        if (!first)
            buf_append_char(key, ',');
        buf_append(key, c->labels[i]);
        first = false;
    }
}

/* The server treats -0 as 0: one row, shown as either. */
static double without_sign_of_zero(double d)
{
    return d == 0 ? 0 : d;
}

static bool append_value(struct buf *key, const struct column *c, const struct value *v,
                         struct err *err)
{
    switch (v->kind) {
    case VALUE_INT: value_append_int(key, v->i); return true;
    case VALUE_UINT:
    case VALUE_YEAR:
    case VALUE_BIT: value_append_uint(key, v->u); return true;
    case VALUE_FLOAT: value_append_float(key, (float)without_sign_of_zero(v->d)); return true;
    case VALUE_DOUBLE: value_append_double(key, without_sign_of_zero(v->d)); return true;
    case VALUE_DECIMAL:
    case VALUE_TEXT:
    case VALUE_DATE:
    case VALUE_TIME: return append_text(key, c, v->s, err);
    case VALUE_DATETIME:
    case VALUE_TIMESTAMP: return append_datetime(key, v->s);
    case VALUE_ENUM:
        return append_text(key, c, v->s.ptr != NULL ? v->s : label_of(c, v->u), err);
    case VALUE_SET:
        if (v->s.ptr != NULL)
            return append_text(key, c, v->s, err);
        append_members(key, c, v->u);
        return true;
    case VALUE_BYTES:
        if (key_class_of(c) != KEY_BYTES)
            return append_text(key, c, v->s, err);
        buf_append(key, v->s);
        return true;
    case VALUE_ABSENT:
    case VALUE_NULL:
    case VALUE_JSON:
    case VALUE_GEOMETRY:
    case VALUE_VECTOR: break;
    }
    return err_set(err, ERR_REJECT, "`%" STR_FMT "` is part of a key and %s", STR_ARG(c->name),
                   v->kind == VALUE_NULL     ? "NULL"
                   : v->kind == VALUE_ABSENT ? "not in the row image"
                                             : "of a type that cannot be one");
}

bool key_append(struct buf *key, const struct column *c, const struct value *v, struct err *err)
{
    size_t start = key->len;

    buf_append(key, (struct str){"\0\0\0", LENGTH_SIZE});
    if (!append_value(key, c, v, err)) {
        key->len = start;
        return false;
    }
    store_le32(key->ptr + start, (uint32_t)(key->len - start - LENGTH_SIZE));
    return true;
}

void key_append_part(struct buf *key, struct str part)
{
    char len[LENGTH_SIZE];

    store_le32(len, (uint32_t)part.len);
    buf_append(key, (struct str){len, sizeof(len)});
    buf_append(key, part);
}

bool key_next(struct str *key, struct str *part)
{
    if (key->len < LENGTH_SIZE)
        return false;
    size_t len = load_le32(key->ptr);

    if (len > key->len - LENGTH_SIZE)
        return false;
    *part = (struct str){key->ptr + LENGTH_SIZE, len};
    key->ptr += LENGTH_SIZE + len;
    key->len -= LENGTH_SIZE + len;
    return true;
}

/* Escape ',' and '%' in one key part. */
static void append_percent(struct buf *id, struct str part)
{
    for (size_t i = 0; i < part.len; i++) {
        if (part.ptr[i] == '%')
            buf_append(id, STR("%25"));
        else if (part.ptr[i] == ',')
            buf_append(id, STR("%2C"));
        else
            buf_append_char(id, part.ptr[i]);
    }
}

static void append_id_part(struct buf *id, const struct column *c, bool composite,
                           struct str part)
{
    if (key_class_of(c) == KEY_BYTES)
        buf_append_hex(id, part);
    else if (composite)
        append_percent(id, part);
    else
        buf_append(id, part);
    if (c->type == COLUMN_TIMESTAMP)
        buf_append_char(id, 'Z');
}

bool key_append_id(struct buf *id, const struct column *const *columns, size_t n,
                   struct str key, struct err *err)
{
    size_t start = id->len;
    struct str part;

    for (size_t i = 0; i < n; i++) {
        if (!key_next(&key, &part))
            return err_set(err, ERR_REJECT, "not a key of %zu columns", n);
        if (i > 0)
            buf_append_char(id, ',');
        append_id_part(id, columns[i], n > 1, part);
    }
    if (id->len == start)
        return err_set(err, ERR_REJECT, "the key is empty: search engines refuse an empty _id");
    if (id->len - start > KEY_ID_MAX)
        return err_set(err, ERR_REJECT,
                       "the key makes an _id of %zu bytes, but the search engine takes at "
                       "most %d",
                       id->len - start, KEY_ID_MAX);
    return true;
}

static bool append_from_hex(struct buf *key, struct str text)
{
    for (size_t i = 0; i < text.len; i += 2) {
        int byte = hex_byte(text, i);

        if (byte < 0)
            return false;
        buf_append_char(key, (char)byte);
    }
    return true;
}

static bool append_from_percent(struct buf *key, struct str text)
{
    for (size_t i = 0; i < text.len; i++) {
        int byte = text.ptr[i] == '%' ? hex_byte(text, i + 1) : (unsigned char)text.ptr[i];

        if (byte < 0)
            return false;
        if (text.ptr[i] == '%')
            i += 2;
        buf_append_char(key, (char)byte);
    }
    return true;
}

bool key_part_fits(const struct column *c, struct str part)
{
    const enum key_class class = key_class_of(c);

    if (class == KEY_NUMBER || class == KEY_REAL || class == KEY_YEAR)
        return is_number(part);
    return class == KEY_BYTES || (class != KEY_NONE && utf8_valid(part));
}

static bool parse_part(struct buf *key, const struct column *c, bool composite, struct str text)
{
    size_t start = key->len;
    bool fine = true;

    if (c->type == COLUMN_TIMESTAMP && text.len > 0 && text.ptr[text.len - 1] == 'Z')
        text.len--;
    buf_append(key, (struct str){"\0\0\0", LENGTH_SIZE});
    if (key_class_of(c) == KEY_BYTES)
        fine = append_from_hex(key, text);
    else if (composite)
        fine = append_from_percent(key, text);
    else
        buf_append(key, text);
    struct str part = {key->ptr + start + LENGTH_SIZE, key->len - start - LENGTH_SIZE};

    fine = fine && key_part_fits(c, part);
    store_le32(key->ptr + start, (uint32_t)part.len);
    return fine;
}

bool key_parse_id(struct buf *key, const struct column *const *columns, size_t n, struct str id,
                  struct err *err)
{
    struct str rest = id;

    for (size_t i = 0; i < n; i++) {
        const char *comma = n > 1 ? memchr(rest.ptr, ',', rest.len) : NULL;
        struct str text = {rest.ptr, comma != NULL ? (size_t)(comma - rest.ptr) : rest.len};

        if ((comma == NULL) != (i + 1 == n) || !parse_part(key, columns[i], n > 1, text))
            return err_set(err, ERR_REJECT, "`%" STR_FMT "` is not a key of this table",
                           STR_ARG(id));
        rest.ptr += text.len + (comma != NULL ? 1 : 0);
        rest.len -= text.len + (comma != NULL ? 1 : 0);
    }
    return true;
}

/*
 * The shortest text of a 32-bit float differs from it in 64 bits, in which the server compares.
 */
static void append_real(struct buf *sql, const struct column *c, struct str part)
{
    char text[64];
    size_t len = part.len < sizeof(text) - 1 ? part.len : sizeof(text) - 1;

    memcpy(text, part.ptr, len);
    text[len] = '\0';
    double d = c->type == COLUMN_FLOAT ? (double)strtof(text, NULL) : strtod(text, NULL);

    buf_printf(sql, "%.16e", d);
}

void key_append_literal(struct buf *sql, const struct column *c, struct str part)
{
    switch (key_class_of(c)) {
    case KEY_NUMBER:
    case KEY_YEAR: buf_append(sql, part); return;
    case KEY_REAL: append_real(sql, c, part); return;
    case KEY_BYTES: mysql_quote_bytes(sql, part); return;
    case KEY_TEXT:
    case KEY_DATE:
    case KEY_DATETIME:
    case KEY_TIME:
    case KEY_UUID:
    case KEY_INET4:
    case KEY_INET6: mysql_quote_text(sql, part); return;
    case KEY_NONE: break;
    }
    assert(!"a column that cannot be a key");
}

bool key_sorts_by_number(const struct column *c)
{
    return c->type == COLUMN_ENUM || c->type == COLUMN_SET;
}

static uint64_t number_of_label(const struct column *c, struct str label)
{
    for (size_t i = 0; i < c->n_labels; i++)
        if (str_equal(c->labels[i], label))
            return i + 1;
    return 0;
}

static uint64_t members_of_labels(const struct column *c, struct str labels)
{
    uint64_t members = 0;

    for (;;) {
        const char *comma = labels.len > 0 ? memchr(labels.ptr, ',', labels.len) : NULL;
        size_t len = comma != NULL ? (size_t)(comma - labels.ptr) : labels.len;
        uint64_t number = number_of_label(c, (struct str){labels.ptr, len});

        if (number >= 1 && number <= 64)
            members |= UINT64_C(1) << (number - 1);
        if (comma == NULL)
            return members;
        labels.ptr += len + 1;
        labels.len -= len + 1;
    }
}

uint64_t key_sort_number(const struct column *c, struct str part)
{
    return c->type == COLUMN_ENUM ? number_of_label(c, part) : members_of_labels(c, part);
}

uint64_t key_listed_max(const struct column *c)
{
    return c->type == COLUMN_ENUM && c->n_labels <= KEY_LISTED_MAX ? c->n_labels : 0;
}
