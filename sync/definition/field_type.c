#include "config.h"

#include "sync/definition/field_type.h"

#include "src/base/arena.h"
#include "src/base/nearest.h"
#include "src/format/yaml.h"
#include "sync/value/schema.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define DECIMAL_NUMBER_MAX 18 /* digits of a decimal that a scaled_float holds exactly */

/* What Millrace writes for a column, as far as it decides which fields accept it. */
enum {
    IS_INTEGER = 1,
    IS_DECIMAL = 2,
    IS_FLOAT = 4,
    IS_STRING = 8,
    IS_DATE = 16,
    IS_BYTES = 32,
    IS_JSON = 64,
    IS_POINT = 128,
    IS_SHAPE = 256,
    IS_IP = 512,
    IS_VECTOR = 1024,
};
#define IS_NUMBER (IS_INTEGER | IS_DECIMAL | IS_FLOAT)
/* A JSON column may hold single values or lists of them. */
#define IS_WORD   (IS_STRING | IS_JSON)
#define IS_SCALAR (IS_NUMBER | IS_WORD | IS_DATE | IS_BYTES | IS_IP)
#define IS_GEO    (IS_POINT | IS_SHAPE)

static unsigned class_of(enum column_type t)
{
    switch (t) {
    case COLUMN_TINYINT:
    case COLUMN_SMALLINT:
    case COLUMN_MEDIUMINT:
    case COLUMN_INT:
    case COLUMN_BIGINT:
    case COLUMN_BIT:
    case COLUMN_YEAR: return IS_INTEGER;
    case COLUMN_DECIMAL: return IS_DECIMAL;
    case COLUMN_FLOAT:
    case COLUMN_DOUBLE: return IS_FLOAT;
    case COLUMN_DATE:
    case COLUMN_DATETIME:
    case COLUMN_TIMESTAMP: return IS_DATE;
    case COLUMN_CHAR:
    case COLUMN_VARCHAR:
    case COLUMN_TEXT:
    case COLUMN_ENUM:
    case COLUMN_SET:
    case COLUMN_UUID:
    case COLUMN_TIME:
    case COLUMN_UNKNOWN: return IS_STRING;
    case COLUMN_BINARY:
    case COLUMN_VARBINARY:
    case COLUMN_BLOB: return IS_BYTES;
    case COLUMN_JSON: return IS_JSON;
    case COLUMN_POINT: return IS_POINT;
    case COLUMN_GEOMETRY: return IS_SHAPE;
    case COLUMN_INET4:
    case COLUMN_INET6: return IS_IP;
    case COLUMN_VECTOR: return IS_VECTOR;
    }
    return IS_STRING;
}

/* Further capabilities of a field type. */
enum {
    HAS_ANALYZER = 1,
    HAS_FORMAT = 2,
    HAS_FIELDS = 4, /* sub-fields and copy_to */
};

static const struct type_row {
    const char *name;
    unsigned takes;
    unsigned has;
    const char *opensearch, *elasticsearch; /* the engine's name; NULL if it is the same */
} rows[] = {
    {"byte", IS_NUMBER | IS_WORD, HAS_FIELDS, NULL, NULL},
    {"short", IS_NUMBER | IS_WORD, HAS_FIELDS, NULL, NULL},
    {"integer", IS_NUMBER | IS_WORD, HAS_FIELDS, NULL, NULL},
    {"long", IS_NUMBER | IS_WORD, HAS_FIELDS, NULL, NULL},
    {"unsigned_long", IS_NUMBER | IS_WORD, HAS_FIELDS, NULL, NULL},
    {"float", IS_NUMBER | IS_WORD, HAS_FIELDS, NULL, NULL},
    {"half_float", IS_NUMBER | IS_WORD, HAS_FIELDS, NULL, NULL},
    {"double", IS_NUMBER | IS_WORD, HAS_FIELDS, NULL, NULL},
    {"scaled_float", IS_NUMBER | IS_WORD, HAS_FIELDS, NULL, NULL},
    {"rank_feature", IS_NUMBER | IS_WORD, 0, NULL, NULL},
    {"boolean", IS_INTEGER | IS_WORD, HAS_FIELDS, NULL, NULL},
    {"keyword", IS_SCALAR, HAS_FIELDS, NULL, NULL},
    {"wildcard", IS_SCALAR, HAS_FIELDS, NULL, NULL},
    {"constant_keyword", IS_SCALAR, HAS_FIELDS, NULL, NULL},
    {"version", IS_SCALAR, HAS_FIELDS, NULL, NULL},
    {"icu_collation_keyword", IS_SCALAR, HAS_FIELDS, NULL, NULL},
    {"text", IS_SCALAR, HAS_FIELDS | HAS_ANALYZER, NULL, NULL},
    {"match_only_text", IS_SCALAR, HAS_FIELDS | HAS_ANALYZER, NULL, NULL},
    {"annotated_text", IS_SCALAR, HAS_FIELDS | HAS_ANALYZER, NULL, NULL},
    {"search_as_you_type", IS_SCALAR, HAS_FIELDS | HAS_ANALYZER, NULL, NULL},
    {"semantic_text", IS_SCALAR, 0, NULL, NULL},
    {"completion", IS_SCALAR, HAS_ANALYZER, NULL, NULL},
    {"token_count", IS_SCALAR, HAS_FIELDS | HAS_ANALYZER, NULL, NULL},
    {"murmur3", IS_SCALAR, HAS_FIELDS, NULL, NULL},
    {"date", IS_DATE | IS_INTEGER | IS_WORD, HAS_FIELDS | HAS_FORMAT, NULL, NULL},
    {"date_nanos", IS_DATE | IS_INTEGER | IS_WORD, HAS_FIELDS | HAS_FORMAT, NULL, NULL},
    {"ip", IS_IP | IS_WORD, HAS_FIELDS, NULL, NULL},
    {"binary", IS_BYTES | IS_STRING, 0, NULL, NULL},
    {"flat_object", IS_JSON, 0, NULL, "flattened"},
    {"flattened", IS_JSON, 0, "flat_object", NULL},
    {"object", IS_JSON, 0, NULL, NULL},
    {"nested", IS_JSON, 0, NULL, NULL},
    {"percolator", IS_JSON, 0, NULL, NULL},
    {"rank_features", IS_JSON, 0, NULL, NULL},
    {"integer_range", IS_JSON, 0, NULL, NULL},
    {"float_range", IS_JSON, 0, NULL, NULL},
    {"long_range", IS_JSON, 0, NULL, NULL},
    {"double_range", IS_JSON, 0, NULL, NULL},
    {"date_range", IS_JSON, HAS_FORMAT, NULL, NULL},
    {"ip_range", IS_WORD, 0, NULL, NULL},
    {"geo_point", IS_POINT | IS_WORD, HAS_FIELDS, NULL, NULL},
    {"geo_shape", IS_GEO | IS_WORD, 0, NULL, NULL},
    {"xy_point", IS_POINT | IS_WORD, 0, NULL, "point"},
    {"xy_shape", IS_GEO | IS_WORD, 0, NULL, "shape"},
    {"point", IS_POINT | IS_WORD, 0, "xy_point", NULL},
    {"shape", IS_GEO | IS_WORD, 0, "xy_shape", NULL},
    {"knn_vector", IS_VECTOR | IS_JSON, 0, NULL, "dense_vector"},
    {"dense_vector", IS_VECTOR | IS_JSON, 0, "knn_vector", NULL},
};

static const struct type_row *find_row(struct str type)
{
    for (size_t i = 0; i < ARRAY_LEN(rows); i++)
        if (str_equal(type, str_from(rows[i].name)))
            return &rows[i];
    return NULL;
}

/* This engine's name of a default or given type; NULL if neither engine knows it. */
static const char *engine_type(struct str type, const struct engine *e)
{
    const struct type_row *row = find_row(type);
    const char *other;

    if (row == NULL)
        return NULL;
    other = e->flavor == SEARCH_ELASTICSEARCH ? row->elasticsearch : row->opensearch;
    return other != NULL ? other : row->name;
}

/* A keyword keeps every digit if the engine lacks a number type that large. */
static const char *big_type(const struct engine *e)
{
    return engine_has(e, ENGINE_UNSIGNED_LONG) ? "unsigned_long" : "keyword";
}

static const char *integer_type(const struct column *c, const struct engine *e)
{
    static const char *const types[] = {"byte", "short", "integer", "integer", "long"};
    size_t i = (size_t)(c->type - COLUMN_TINYINT);

    if (!c->is_unsigned)
        return types[i];
    if (c->type == COLUMN_MEDIUMINT)
        return "integer";
    if (c->type != COLUMN_BIGINT)
        return c->type == COLUMN_INT ? "long" : types[i + 1];
    return big_type(e);
}

static const char *json_type(const struct engine *e)
{
    if (!engine_has(e, ENGINE_FLAT_JSON))
        return "object";
    return e->flavor == SEARCH_ELASTICSEARCH ? "flattened" : "flat_object";
}

const char *field_default_type(const struct column *c, const struct engine *e)
{
    switch (c->type) {
    case COLUMN_TINYINT:
    case COLUMN_SMALLINT:
    case COLUMN_MEDIUMINT:
    case COLUMN_INT:
    case COLUMN_BIGINT: return integer_type(c, e);
    case COLUMN_DECIMAL: return c->precision <= DECIMAL_NUMBER_MAX ? "scaled_float" : "keyword";
    case COLUMN_FLOAT: return "float";
    case COLUMN_DOUBLE: return "double";
    case COLUMN_BIT: return c->length > 63 ? big_type(e) : "long";
    case COLUMN_YEAR: return "short";
    case COLUMN_DATE:
    case COLUMN_DATETIME:
    case COLUMN_TIMESTAMP: return "date";
    case COLUMN_CHAR:
    case COLUMN_VARCHAR:
    case COLUMN_ENUM:
    case COLUMN_SET:
    case COLUMN_UUID:
    case COLUMN_TIME: return "keyword";
    case COLUMN_TEXT: return "text";
    case COLUMN_BINARY:
    case COLUMN_VARBINARY:
    case COLUMN_BLOB: return "binary";
    case COLUMN_JSON: return json_type(e);
    case COLUMN_POINT: return "geo_point";
    case COLUMN_GEOMETRY: return "geo_shape";
    case COLUMN_INET4:
    case COLUMN_INET6: return "ip";
    case COLUMN_VECTOR:
        return e->flavor == SEARCH_ELASTICSEARCH ? "dense_vector" : "knn_vector";
    case COLUMN_UNKNOWN: break;
    }
    return "keyword";
}

/* A geometry column may hold points only. */
static bool may_be_point(const struct column *c)
{
    return c->type == COLUMN_GEOMETRY && str_equal_any_case(c->type_text, STR("geometry"));
}

bool field_type_fits(const struct column *c, const char *type)
{
    const struct type_row *row = find_row(str_from(type));

    return row != NULL &&
           (row->takes & (class_of(c->type) | (may_be_point(c) ? IS_POINT : 0u))) != 0;
}

/* ---- the mapping of a field ---- */

struct type_maker {
    struct arena *a;
    const struct column *c;
    const struct column_definition *d; /* never NULL */
    struct yaml_node *map;
};

static void put_text(struct type_maker *m, const char *name, struct str text)
{
    if (text.len > 0)
        yaml_put(m->a, m->map, str_from(name), yaml_new_text(m->a, text));
}

static void put_plain(struct type_maker *m, const char *name, const char *plain)
{
    yaml_put(m->a, m->map, str_from(name), yaml_new_plain(m->a, str_from(plain)));
}

static void put_number(struct type_maker *m, const char *name, uint64_t n)
{
    char text[24];

    snprintf(text, sizeof(text), "%" PRIu64, n);
    put_plain(m, name, text);
}

static uint64_t scaling_factor(const struct column *c)
{
    uint64_t factor = 1;

    for (unsigned i = 0; c->type == COLUMN_DECIMAL && i < c->scale && i < DECIMAL_NUMBER_MAX;
         i++)
        factor *= 10;
    return factor;
}

/*
 * The engine would refuse the whole document for one overlong term: leave such values
 * unindexed.
 */
static bool may_exceed_term(const struct column *c)
{
    return c->type == COLUMN_TEXT || c->type == COLUMN_BLOB ||
           ((c->type == COLUMN_VARCHAR || c->type == COLUMN_VARBINARY) &&
            c->length > FIELD_TERM_MAX);
}

static bool is(const char *type, const char *other)
{
    return strcmp(type, other) == 0;
}

/* Add the parameters that a type requires. */
static void put_parameters(struct type_maker *m, const char *type, bool zero_text)
{
    bool from_date = class_of(m->c->type) == IS_DATE;

    if (is(type, "scaled_float"))
        put_number(m, "scaling_factor", scaling_factor(m->c));
    if (is(type, "flattened") || (is(type, "keyword") && may_exceed_term(m->c)))
        put_number(m, "ignore_above", FIELD_TERM_MAX);
    if (is(type, "knn_vector") && m->c->type == COLUMN_VECTOR)
        put_number(m, "dimension", m->c->length);
    if (is(type, "dense_vector") && m->c->type == COLUMN_VECTOR)
        put_number(m, "dims", m->c->length);
    /* Documents may add members here; the rest of the mapping is strict. */
    if (is(type, "object") || is(type, "nested"))
        put_plain(m, "dynamic", "true");
    if (from_date && zero_text && (is(type, "date") || is(type, "date_nanos")))
        put_plain(m, "ignore_malformed", "true");
}

/* Whatever format searches use, the field must also parse what Millrace writes. */
static void put_format(struct type_maker *m)
{
    char format[512];

    if (class_of(m->c->type) != IS_DATE) {
        put_text(m, "format", m->d->format);
        return;
    }
    snprintf(format, sizeof(format), "%" STR_FMT "||strict_date_optional_time",
             STR_ARG(m->d->format));
    put_text(m, "format", str_from(format));
}

static void put_keyword(struct type_maker *m)
{
    struct yaml_node *fields = yaml_new(m->a, YAML_MAP);
    struct type_maker sub = {m->a, m->c, m->d, yaml_new(m->a, YAML_MAP)};

    put_text(&sub, "type", STR("keyword"));
    put_number(&sub, "ignore_above", FIELD_TERM_MAX);
    yaml_put(m->a, fields, STR("keyword"), sub.map);
    yaml_put(m->a, m->map, STR("fields"), fields);
}

static void put_copy_to(struct type_maker *m)
{
    struct yaml_node *list = yaml_new(m->a, YAML_LIST);

    for (size_t i = 0; i < m->d->n_copy_to; i++)
        yaml_push(m->a, list, yaml_new_text(m->a, m->d->copy_to[i]));
    yaml_put(m->a, m->map, STR("copy_to"), list);
}

static bool unknown_type(struct str type, struct err *err)
{
    struct nearest near = nearest_to(type);

    for (size_t i = 0; i < ARRAY_LEN(rows); i++)
        nearest_offer(&near, str_from(rows[i].name));
    return err_set(err, ERR_REJECT, "there is no field type `%" STR_FMT "`%s%" STR_FMT "%s",
                   STR_ARG(type), near.best.len > 0 ? "; did you mean `" : "",
                   STR_ARG(near.best), near.best.len > 0 ? "`?" : "");
}

/*
 * Find the first ENUM label that the engines do not accept as a boolean.  Returns NULL if there
 * is none.
 */
static const struct str *find_no_boolean(const struct column *c, const char *type)
{
    static const struct str taken[] = {STR("true"), STR("false"), STR("")};

    if (c->type != COLUMN_ENUM || strcmp(type, "boolean") != 0)
        return NULL;
    for (size_t i = 0; i < c->n_labels; i++) {
        bool fits = false;

        for (size_t t = 0; t < ARRAY_LEN(taken); t++)
            fits = fits || str_equal(c->labels[i], taken[t]);
        if (!fits)
            return &c->labels[i];
    }
    return NULL;
}

static bool check(const struct column *c, const struct column_definition *d, const char *type,
                  struct err *err)
{
    unsigned has = find_row(str_from(type))->has;
    const struct str *label = find_no_boolean(c, type);

    if (label != NULL)
        return err_set(err, ERR_REJECT,
                       "a field of type boolean takes `true` and `false`, but column `%" STR_FMT
                       "` may hold `%" STR_FMT "`: add `transform: [{kind: boolean}]`",
                       STR_ARG(c->name), STR_ARG(*label));
    if (!field_type_fits(c, type))
        return err_set(err, ERR_REJECT,
                       "a field of type %s cannot take what column `%" STR_FMT "` (%" STR_FMT
                       ") holds",
                       type, STR_ARG(c->name), STR_ARG(c->type_text));
    if ((has & HAS_ANALYZER) == 0 && d->analyzer.len > 0)
        return err_set(err, ERR_REJECT,
                       "`analyzer` needs a text field, this one is %s: add `type: text`", type);
    if ((has & HAS_FORMAT) == 0 && d->format.len > 0)
        return err_set(err, ERR_REJECT,
                       "`format` needs a date field, this one is %s: add `type: date`", type);
    if ((has & HAS_FIELDS) == 0 && (d->keyword || d->n_copy_to > 0))
        return err_set(err, ERR_REJECT, "a field of type %s has no %s", type,
                       d->keyword ? "sub-field `keyword`" : "`copy_to`");
    if (d->format.len > 400)
        return err_set(err, ERR_REJECT, "`format` is too long");
    return true;
}

bool field_mapping(struct arena *a, const struct column *c, const struct column_definition *d,
                   const struct engine *e, bool zero_text, struct yaml_node **out,
                   struct err *err)
{
    static const struct column_definition nothing;
    struct type_maker m = {a, c, d == NULL ? &nothing : d, yaml_new(a, YAML_MAP)};
    const char *type = m.d->type.len > 0 ? engine_type(m.d->type, e) : field_default_type(c, e);

    if (type == NULL)
        return unknown_type(m.d->type, err);
    if (!check(c, m.d, type, err))
        return false;
    put_text(&m, "type", str_from(type));
    put_parameters(&m, type, zero_text);
    put_text(&m, "analyzer", m.d->analyzer);
    put_text(&m, "search_analyzer", m.d->search_analyzer);
    if (m.d->format.len > 0)
        put_format(&m);
    if (m.d->keyword)
        put_keyword(&m);
    if (m.d->n_copy_to > 0)
        put_copy_to(&m);
    *out = m.map;
    return true;
}
