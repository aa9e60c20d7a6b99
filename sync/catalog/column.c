#include "config.h"

#include "sync/catalog/column.h"

#include "src/base/arena.h"

#include <string.h>

static const struct {
    const char *name; /* DATA_TYPE */
    enum column_type type;
} types[] = {
    {"tinyint", COLUMN_TINYINT},
    {"smallint", COLUMN_SMALLINT},
    {"mediumint", COLUMN_MEDIUMINT},
    {"int", COLUMN_INT},
    {"bigint", COLUMN_BIGINT},
    {"decimal", COLUMN_DECIMAL},
    {"float", COLUMN_FLOAT},
    {"double", COLUMN_DOUBLE},
    {"bit", COLUMN_BIT},
    {"year", COLUMN_YEAR},
    {"date", COLUMN_DATE},
    {"time", COLUMN_TIME},
    {"datetime", COLUMN_DATETIME},
    {"timestamp", COLUMN_TIMESTAMP},
    {"char", COLUMN_CHAR},
    {"varchar", COLUMN_VARCHAR},
    {"binary", COLUMN_BINARY},
    {"varbinary", COLUMN_VARBINARY},
    {"tinytext", COLUMN_TEXT},
    {"text", COLUMN_TEXT},
    {"mediumtext", COLUMN_TEXT},
    {"longtext", COLUMN_TEXT},
    {"tinyblob", COLUMN_BLOB},
    {"blob", COLUMN_BLOB},
    {"mediumblob", COLUMN_BLOB},
    {"longblob", COLUMN_BLOB},
    {"enum", COLUMN_ENUM},
    {"set", COLUMN_SET},
    {"json", COLUMN_JSON},
    {"point", COLUMN_POINT},
    {"geometry", COLUMN_GEOMETRY},
    {"linestring", COLUMN_GEOMETRY},
    {"polygon", COLUMN_GEOMETRY},
    {"multipoint", COLUMN_GEOMETRY},
    {"multilinestring", COLUMN_GEOMETRY},
    {"multipolygon", COLUMN_GEOMETRY},
    {"geometrycollection", COLUMN_GEOMETRY},
    {"geomcollection", COLUMN_GEOMETRY},
    {"uuid", COLUMN_UUID},
    {"inet4", COLUMN_INET4},
    {"inet6", COLUMN_INET6},
    {"vector", COLUMN_VECTOR},
};

static enum column_type type_of(struct str data_type)
{
    for (size_t i = 0; i < ARRAY_LEN(types); i++)
        if (str_equal_any_case(data_type, str_from(types[i].name)))
            return types[i].type;
    return COLUMN_UNKNOWN;
}

static bool has_word(struct str s, const char *word)
{
    return s.len > 0 && memmem(s.ptr, s.len, word, strlen(word)) != NULL;
}

/* Parse digits, saturating; 0 for NULL. */
static uint32_t number_of(struct str s)
{
    uint64_t n = 0;

    for (size_t i = 0; i < s.len && s.ptr[i] >= '0' && s.ptr[i] <= '9' && n <= UINT32_MAX; i++)
        n = n * 10 + (uint64_t)(s.ptr[i] - '0');
    return n > UINT32_MAX ? UINT32_MAX : (uint32_t)n;
}

/* The dimensions of vector(3). */
static uint32_t in_brackets(struct str column_type)
{
    const char *open =
        column_type.len == 0 ? NULL : memchr(column_type.ptr, '(', column_type.len);

    if (open == NULL)
        return 0;
    return number_of(
        (struct str){open + 1, (size_t)(column_type.ptr + column_type.len - open) - 1});
}

static bool is_numeric(enum column_type t)
{
    return t >= COLUMN_TINYINT && t <= COLUMN_DOUBLE;
}

static bool is_temporal(enum column_type t)
{
    return t == COLUMN_TIME || t == COLUMN_DATETIME || t == COLUMN_TIMESTAMP;
}

static bool is_bytes(enum column_type t)
{
    return t == COLUMN_BINARY || t == COLUMN_VARBINARY || t == COLUMN_BLOB;
}

static uint32_t length_of(const struct catalog_cells *cells, enum column_type t)
{
    if (t == COLUMN_BIT)
        return number_of(cells->precision);
    if (t == COLUMN_VECTOR)
        return in_brackets(cells->column_type);
    return number_of(cells->char_length);
}

/* The character for `\c` in the server's notation of labels. */
static char unescape(char c)
{
    switch (c) {
    case '0': return '\0';
    case 'n': return '\n';
    case 'r': return '\r';
    default: return c;
    }
}

/* Read one label from the quote at *at.  Returns false if there is none. */
static bool next_label(struct str s, size_t *at, char *out, size_t *len)
{
    size_t i = *at;

    *len = 0;
    if (i >= s.len || s.ptr[i] != '\'')
        return false;
    for (i++; i < s.len; i++) {
        char c = s.ptr[i];

        if (c == '\'' && (i + 1 == s.len || s.ptr[i + 1] != '\'')) {
            *at = i + 1;
            return true;
        }
        if (c == '\'' || (c == '\\' && i + 1 < s.len))
            c = c == '\'' ? s.ptr[++i] : unescape(s.ptr[++i]);
        out[(*len)++] = c;
    }
    return false;
}

/* Copy the labels of enum('a','b''c') into a.  Returns the count. */
static size_t read_labels(struct str column_type, struct arena *a, struct str **labels)
{
    const char *open =
        column_type.len == 0 ? NULL : memchr(column_type.ptr, '(', column_type.len);
    size_t n = 0, at = open == NULL ? column_type.len : (size_t)(open - column_type.ptr) + 1;
    char *text = arena_alloc(a, column_type.len + 1, 1);
    size_t len, max = 1;

    for (size_t i = at; i < column_type.len; i++)
        max += column_type.ptr[i] == ',' ? 1 : 0;
    *labels = arena_alloc(a, max, sizeof(**labels));
    while (n < max && next_label(column_type, &at, text, &len)) {
        (*labels)[n++] = arena_copy(a, (struct str){text, len});
        if (at < column_type.len && column_type.ptr[at] == ',')
            at++;
    }
    return n;
}

void catalog_column(const struct catalog_cells *cells, struct arena *a, struct column *out)
{
    const enum column_type t = type_of(cells->data_type);

    *out = (struct column){
        .name = arena_copy(a, cells->name),
        .type_text = arena_copy(a, cells->column_type),
        .type = t,
        .is_unsigned = is_numeric(t) && (has_word(cells->column_type, " unsigned") ||
                                         has_word(cells->column_type, " zerofill")),
        .nullable = str_equal(cells->is_nullable, STR("YES")),
        .has_default = cells->column_default.ptr != NULL,
        .generated = has_word(cells->extra, "VIRTUAL GENERATED") ||
                     has_word(cells->extra, "STORED GENERATED") ||
                     has_word(cells->extra, "PERSISTENT"),
        .invisible = has_word(cells->extra, "INVISIBLE"),
        .compressed =
            t != COLUMN_ENUM && t != COLUMN_SET && has_word(cells->column_type, " COMPRESSED"),
        .fsp = is_temporal(t) ? (uint8_t)number_of(cells->fsp) : 0,
        .precision = t == COLUMN_DECIMAL ? (uint8_t)number_of(cells->precision) : 0,
        .scale = t == COLUMN_DECIMAL ? (uint8_t)number_of(cells->scale) : 0,
        .length = length_of(cells, t),
        .charset = arena_copy(a, is_bytes(t) ? STR("binary") : cells->charset),
        .collation = arena_copy(a, cells->collation),
        .row_end = str_equal(cells->expression, STR("ROW END")),
        .expression = arena_copy(a, cells->expression),
    };
    out->old_temporal = out->fsp > 0 && has_word(cells->column_type, "mariadb-5.3");
    if (t == COLUMN_ENUM || t == COLUMN_SET)
        out->n_labels = read_labels(cells->column_type, a, &out->labels);
}
