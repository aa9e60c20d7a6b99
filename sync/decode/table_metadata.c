#include "config.h"

#include "sync/decode/table_metadata.h"

#include "src/base/arena.h"
#include "src/base/cursor.h"
#include "sync/value/charset.h"

#include <stdlib.h>

enum field {
    FIELD_SIGNEDNESS = 1,
    FIELD_DEFAULT_CHARSET,
    FIELD_COLUMN_CHARSET,
    FIELD_COLUMN_NAME,
    FIELD_SET_LABELS,
    FIELD_ENUM_LABELS,
    FIELD_GEOMETRY_TYPE,
    FIELD_SIMPLE_KEY,
    FIELD_KEY_WITH_PREFIX,
    FIELD_ENUM_SET_DEFAULT_CHARSET,
    FIELD_ENUM_SET_COLUMN_CHARSET,
    FIELD_VISIBILITY,
    FIELD_VECTOR_DIMENSIONS,
};

enum { LABELS_MAX = 65535 };

/* Tells which columns a field has an entry for. */
typedef bool (*counts_fn)(const struct wire_column *w, bool mariadb);

static bool counts_numeric(const struct wire_column *w, bool mariadb)
{
    (void)mariadb;
    return wire_is_numeric(w);
}

static bool counts_enum(const struct wire_column *w, bool mariadb)
{
    (void)mariadb;
    return w->type == WIRE_ENUM;
}

static bool counts_set(const struct wire_column *w, bool mariadb)
{
    (void)mariadb;
    return w->type == WIRE_SET;
}

static bool counts_enum_or_set(const struct wire_column *w, bool mariadb)
{
    return counts_enum(w, mariadb) || counts_set(w, mariadb);
}

static bool counts_geometry(const struct wire_column *w, bool mariadb)
{
    (void)mariadb;
    return w->type == WIRE_GEOMETRY;
}

static bool counts_vector(const struct wire_column *w, bool mariadb)
{
    (void)mariadb;
    return w->type == WIRE_VECTOR;
}

static bool counts_all(const struct wire_column *w, bool mariadb)
{
    (void)w;
    (void)mariadb;
    return true;
}

/* Iterates over the columns that a field counts. */
struct walk {
    struct table_metadata *m;
    bool mariadb;
    counts_fn counts;
    size_t i; /* the next column to consider */
};

static struct column_metadata *next_column(struct walk *w)
{
    while (w->i < w->m->n_columns) {
        const size_t i = w->i++;

        if (w->counts(&w->m->wire[i], w->mariadb))
            return &w->m->columns[i];
    }
    return NULL;
}

static void read_bits(struct walk w, struct cursor *c, enum field field)
{
    size_t bit = 0;
    uint8_t byte = 0;

    for (struct column_metadata *col; (col = next_column(&w)) != NULL; bit++) {
        /* MariaDB never omits trailing zero bytes; a short field is damage. */
        if (bit % 8 == 0)
            byte = cursor_u8(c);

        const bool set = (byte >> (7 - bit % 8) & 1) != 0;

        if (field == FIELD_VISIBILITY)
            col->invisible = !set;
        else
            col->is_unsigned = set;
    }
}

/* Read the default, then pairs of column (counted) and collation. */
static void read_default_charset(struct walk w, struct cursor *c)
{
    const struct walk start = w;
    const uint32_t usual = (uint32_t)cursor_lenenc(c);

    for (struct column_metadata *col; (col = next_column(&w)) != NULL;)
        col->collation = usual;
    w = start;
    for (uint64_t at = 0; cursor_left(c) > 0 && !c->failed;) {
        const uint64_t number = cursor_lenenc(c);
        const uint32_t collation = (uint32_t)cursor_lenenc(c);
        struct column_metadata *col = NULL;

        /* Numbers ascend, so one pass suffices. */
        for (; at <= number && !c->failed; at++) {
            col = next_column(&w);
            c->failed = c->failed || col == NULL;
        }
        if (col == NULL)
            c->failed = true;
        else
            col->collation = collation;
    }
}

static void read_names(struct walk w, struct cursor *c)
{
    for (struct column_metadata *col; (col = next_column(&w)) != NULL;)
        col->name = cursor_str(c, cursor_lenenc(c));
    w.m->has_names = !c->failed;
}

/* Read a count and as many strings for each column. */
static void read_labels(struct walk w, struct cursor *c)
{
    for (struct column_metadata *col; (col = next_column(&w)) != NULL && !c->failed;) {
        const uint64_t n = cursor_lenenc(c);
        const uint8_t *start = c->p;

        if (n > LABELS_MAX || n > cursor_left(c)) {
            c->failed = true;
            return;
        }
        for (uint64_t i = 0; i < n && !c->failed; i++)
            cursor_str(c, cursor_lenenc(c));
        col->labels = (struct str){(const char *)start, (size_t)(c->p - start)};
        col->n_labels = (uint32_t)n;
    }
}

static void read_numbers(struct walk w, struct cursor *c, enum field field)
{
    for (struct column_metadata *col; (col = next_column(&w)) != NULL;) {
        const uint32_t v = (uint32_t)cursor_lenenc(c);

        if (field == FIELD_GEOMETRY_TYPE)
            col->geometry = v;
        else if (field == FIELD_VECTOR_DIMENSIONS)
            col->dimensions = v;
        else
            col->collation = v;
    }
}

static void read_field(struct table_metadata *m, bool mariadb, uint8_t field, struct cursor *c)
{
    static const counts_fn counts[] = {
        [FIELD_SIGNEDNESS] = counts_numeric,
        [FIELD_DEFAULT_CHARSET] = wire_has_charset,
        [FIELD_COLUMN_CHARSET] = wire_has_charset,
        [FIELD_COLUMN_NAME] = counts_all,
        [FIELD_SET_LABELS] = counts_set,
        [FIELD_ENUM_LABELS] = counts_enum,
        [FIELD_GEOMETRY_TYPE] = counts_geometry,
        [FIELD_ENUM_SET_DEFAULT_CHARSET] = counts_enum_or_set,
        [FIELD_ENUM_SET_COLUMN_CHARSET] = counts_enum_or_set,
        [FIELD_VISIBILITY] = counts_all,
        [FIELD_VECTOR_DIMENSIONS] = counts_vector,
    };
    struct walk w = {.m = m, .mariadb = mariadb};

    if (field < ARRAY_LEN(counts))
        w.counts = counts[field];
    switch (field) {
    case FIELD_SIGNEDNESS:
    case FIELD_VISIBILITY: read_bits(w, c, (enum field)field); break;
    case FIELD_DEFAULT_CHARSET:
    case FIELD_ENUM_SET_DEFAULT_CHARSET: read_default_charset(w, c); break;
    case FIELD_COLUMN_NAME: read_names(w, c); break;
    case FIELD_SET_LABELS:
    case FIELD_ENUM_LABELS: read_labels(w, c); break;
    case FIELD_COLUMN_CHARSET:
    case FIELD_ENUM_SET_COLUMN_CHARSET:
    case FIELD_GEOMETRY_TYPE:
    case FIELD_VECTOR_DIMENSIONS: read_numbers(w, c, (enum field)field); break;
    case FIELD_SIMPLE_KEY:
    case FIELD_KEY_WITH_PREFIX:
        m->key = cursor_rest(c);
        m->key_has_prefixes = field == FIELD_KEY_WITH_PREFIX;
        break;
    default: break; /* of a later version */
    }
}

bool table_metadata_parse(struct table_metadata *m, struct str fields, bool mariadb,
                          struct err *err)
{
    struct cursor c = cursor_of(fields);

    while (cursor_left(&c) > 0 && !c.failed) {
        const uint8_t field = cursor_u8(&c);
        struct cursor value = cursor_of(cursor_str(&c, cursor_lenenc(&c)));

        if (c.failed)
            break;
        read_field(m, mariadb, field, &value);
        if (value.failed)
            return err_set(err, ERR_REJECT, "damaged Table_map event: metadata field %u",
                           field);
    }
    if (c.failed)
        return err_set(err, ERR_REJECT, "damaged Table_map event: metadata");
    return true;
}

void table_metadata_fini(struct table_metadata *m)
{
    free(m->columns);
    m->columns = NULL;
    charset_converter_free(m->converter);
    m->converter = NULL;
}

/*
 * Convert labels to UTF-8.  If one cannot be converted, drop all: they then print as numbers.
 */
static void copy_labels(struct table_metadata *m, const struct column_metadata *from,
                        struct arena *a, struct column *out)
{
    const struct charset *cs = charset_of_collation(from->collation);
    struct cursor c = cursor_of(from->labels);

    if (cs == NULL)
        cs = charset_find(STR("utf8mb4"));
    if (m->converter == NULL)
        m->converter = charset_converter_new();
    out->labels = arena_alloc(a, from->n_labels, sizeof(*out->labels));
    for (uint32_t i = 0; i < from->n_labels; i++) {
        const struct str raw = cursor_str(&c, cursor_lenenc(&c));
        struct str label;

        if (!charset_to_utf8(m->converter, cs, raw, a, &label)) {
            out->labels = NULL;
            return;
        }
        out->labels[i] = arena_copy(a, label);
    }
    out->n_labels = from->n_labels;
}

void table_metadata_column(struct table_metadata *m, size_t i, struct arena *a,
                           struct column *out)
{
    const struct column_metadata *from = &m->columns[i];

    wire_column_guess(&m->wire[i], from->collation, a, out);
    out->nullable = from->nullable;
    out->is_unsigned = from->is_unsigned;
    out->invisible = from->invisible;
    if (from->name.ptr != NULL)
        out->name = arena_copy(a, from->name);
    if (from->labels.ptr != NULL)
        copy_labels(m, from, a, out);
    if (from->geometry == 1)
        out->type = COLUMN_POINT;
    if (from->dimensions > 0)
        out->length = from->dimensions;
}

void table_metadata_key(const struct table_metadata *m, struct schema *s)
{
    struct cursor c = cursor_of(m->key);

    if (m->key.ptr == NULL)
        return;
    s->key = arena_alloc(s->arena, s->n_columns, sizeof(*s->key));
    while (cursor_left(&c) > 0 && s->n_key < s->n_columns) {
        const uint64_t column = cursor_lenenc(&c);

        if (m->key_has_prefixes)
            cursor_lenenc(&c);
        if (c.failed || column >= s->n_columns) {
            s->n_key = 0;
            return;
        }
        s->key[s->n_key++] = column;
    }
}
