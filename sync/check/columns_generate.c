#include "config.h"

#include "sync/check/columns_generate.h"

#include "src/base/buf.h"
#include "src/format/json.h"
#include "src/format/yaml_name.h"
#include "sync/catalog/catalog.h"
#include "sync/catalog/foreign_keys.h"
#include "sync/definition/rule.h"
#include "sync/value/schema.h"

#include <string.h>

/* ---- what searches do not see ---- */

static const char *note_of_decimal(const struct column *c)
{
    return c->precision > 18   ? "more digits than a number field holds: text, which sorts as "
                                 "text"
           : c->precision > 15 ? "exact in the document; searches and sums see about 15 "
                                 "digits"
                               : "";
}

static const char *note_of_time(const struct column *c)
{
    return c->fsp > 3 ? "searches see milliseconds; `type: date_nanos` keeps more" : "";
}

/* Empty if nothing is lost. */
static const char *note_of(const struct column *c)
{
    switch (c->type) {
    case COLUMN_DECIMAL: return note_of_decimal(c);
    case COLUMN_DATETIME:
    case COLUMN_TIMESTAMP: return note_of_time(c);
    case COLUMN_TIME: return "a text; it sorts as text";
    case COLUMN_TEXT: return "found by its words; keyword: true finds and sorts whole values";
    case COLUMN_VARCHAR:
        return c->length > FIELD_TERM_MAX
                   ? "longer values are not found; type: text finds words"
                   : "";
    case COLUMN_BINARY:
    case COLUMN_VARBINARY:
    case COLUMN_BLOB: return "base64, which cannot be searched; skip: true leaves it out";
    case COLUMN_JSON:
        return "objects only, their values found as keywords; lists and single values want a "
               "type";
    case COLUMN_POINT:
    case COLUMN_GEOMETRY: return "GeoJSON; the SRID is not kept";
    case COLUMN_UNKNOWN: return "a type that Millrace does not know: its text";
    case COLUMN_TINYINT:
    case COLUMN_SMALLINT:
    case COLUMN_MEDIUMINT:
    case COLUMN_INT:
    case COLUMN_BIGINT:
    case COLUMN_FLOAT:
    case COLUMN_DOUBLE:
    case COLUMN_BIT:
    case COLUMN_YEAR:
    case COLUMN_DATE:
    case COLUMN_CHAR:
    case COLUMN_ENUM:
    case COLUMN_SET:
    case COLUMN_UUID:
    case COLUMN_INET4:
    case COLUMN_INET6:
    case COLUMN_VECTOR: break;
    }
    return "";
}

/* ---- names ---- */

void columns_append_as(struct buf *as, const struct schema *s, size_t at)
{
    const struct str name = s->columns[at].name;
    const size_t start = as->len;

    if (rule_field(name) == NULL)
        return;
    for (size_t i = 0; i < name.len && as->len - start < 200; i++)
        if (as->len > start || name.ptr[i] != '_')
            buf_append_char(as, name.ptr[i] == '.' || (unsigned char)name.ptr[i] < 0x20
                                    ? '_'
                                    : name.ptr[i]);
    if (schema_find(s, (struct str){as->ptr + start, as->len - start}) == SIZE_MAX &&
        as->len > start)
        return;
    as->len = start;
    buf_printf(as, "column_%zu", at + 1);
}

static bool is_key(const struct schema *s, size_t column)
{
    for (size_t i = 0; i < s->n_key; i++)
        if (s->key[i] == column)
            return true;
    return false;
}

const struct catalog_index *columns_other_key(const struct table_facts *f)
{
    for (size_t i = 0; f->schema->n_key == 0 && i < f->n_indexes; i++) {
        const struct catalog_index *index = &f->indexes[i];
        bool fits = index->is_unique && !index->has_prefix;

        for (size_t k = 0; fits && k < index->n_columns; k++) {
            const size_t at = schema_find(f->schema, index->columns[k]);

            fits = at != SIZE_MAX && !f->schema->columns[at].nullable;
        }
        if (fits)
            return index;
    }
    return NULL;
}

/* ---- YAML ---- */

static void append_column(const struct table_facts *f, const struct engine *e, size_t at,
                          struct buf *yaml)
{
    const struct schema *s = f->schema;
    const struct column *c = &s->columns[at];
    struct buf as = {0};

    columns_append_as(&as, s, at);
    buf_append(yaml, STR("  - {name: "));
    yaml_append_name(yaml, c->name);
    if (as.len > 0) {
        buf_append(yaml, STR(", as: "));
        yaml_append_name(yaml, buf_str(&as));
    }
    buf_printf(yaml, ", type: %s}  # ", field_default_type(c, e));
    yaml_append_comment(yaml, c->type_text);
    buf_append(yaml, is_key(s, at) ? STR(", primary key") : STR(""));
    buf_append(yaml, c->generated ? STR(", computed by the server") : STR(""));
    if (note_of(c)[0] != '\0')
        buf_printf(yaml, ": %s", note_of(c));
    buf_append_char(yaml, '\n');
    buf_free(&as);
}

void columns_append_list(const struct table_facts *f, const struct engine *e,
                         const char *indent, struct buf *yaml)
{
    const struct schema *s = f->schema;

    buf_printf(yaml, "%scolumns:\n", indent);
    for (size_t i = 0; i < s->n_columns; i++)
        if (!s->columns[i].invisible) {
            buf_append(yaml, str_from(indent));
            append_column(f, e, i, yaml);
        }
    for (size_t i = 0; i < s->n_columns; i++)
        if (s->columns[i].invisible) {
            buf_printf(yaml, "%s  # ", indent);
            yaml_append_comment(yaml, s->columns[i].name);
            buf_append(yaml, STR(" is invisible: shown only where it is listed\n"));
        }
}

/* The definition's database for a schema of the same topic; NULL if there is none. */
static const struct database_definition *database_of(const struct columns_request *r,
                                                     struct str schema)
{
    const struct topic_definition *topic = definitions_topic_of(r->definitions, r->table);

    for (size_t i = 0; i < r->definitions->n_databases; i++) {
        const struct database_definition *db = &r->definitions->databases[i];

        if (str_equal(database_schema(db), schema) && topic != NULL &&
            str_equal(db->topic, topic->name))
            return db;
    }
    return NULL;
}

static void append_relations(const struct columns_request *r, struct buf *yaml)
{
    bool first = true;

    for (size_t i = 0; i < r->n_keys; i++) {
        const struct foreign_key *k = &r->keys[i];
        const struct database_definition *db = database_of(r, k->parent_schema);
        struct buf name = {0};

        if (db == NULL)
            continue;
        if (first)
            buf_append(yaml, STR("    # By its foreign keys; show what searches need:\n"
                                 "    # relations:\n"));
        first = false;
        buf_append(yaml, STR("    #   - {from: "));
        yaml_append_names(yaml, k->columns, k->n_columns);
        buf_printf(&name, "%" STR_FMT ".%" STR_FMT, STR_ARG(db->name),
                   STR_ARG(k->parent_table));
        buf_append(yaml, STR(", table: "));
        buf_append_json(yaml, buf_str(&name));
        buf_append(yaml, STR(", to: "));
        yaml_append_names(yaml, k->parent_columns, k->n_columns);
        buf_append(yaml, STR("}\n"));
        buf_free(&name);
    }
}

void columns_append_yaml(const struct columns_request *r, struct buf *yaml)
{
    const struct schema *s = r->facts->schema;
    const struct catalog_index *key = columns_other_key(r->facts);

    buf_append(yaml, STR("tables:\n  - table: "));
    buf_append_json(yaml, r->table);
    buf_append_char(yaml, '\n');
    if (key != NULL) {
        buf_append(yaml, STR("    key: ["));
        for (size_t i = 0; i < key->n_columns; i++) {
            buf_append(yaml, i > 0 ? STR(", ") : STR(""));
            yaml_append_name(yaml, key->columns[i]);
        }
        buf_append(yaml, STR("]  # there is no primary key\n"));
    } else if (s->n_key == 0)
        buf_append(yaml, STR("    # key: [...]  # there is no primary key, and no unique key "
                             "without NULLs\n"));
    columns_append_list(r->facts, &r->engine, "    ", yaml);
    append_relations(r, yaml);
}

/* ---- JSON ---- */

void columns_write_json(const struct columns_request *r, struct json_writer *w)
{
    const struct schema *s = r->facts->schema;
    const struct catalog_index *key = columns_other_key(r->facts);
    struct buf as = {0};

    json_write_key(w, STR("key"));
    json_open_array(w);
    for (size_t i = 0; i < s->n_key; i++)
        json_write_string(w, s->columns[s->key[i]].name);
    for (size_t i = 0; key != NULL && i < key->n_columns; i++)
        json_write_string(w, key->columns[i]);
    json_close_array(w);
    json_write_key(w, STR("items"));
    json_open_array(w);
    for (size_t i = 0; i < s->n_columns; i++) {
        const struct column *c = &s->columns[i];

        buf_clear(&as);
        columns_append_as(&as, s, i);
        json_open_object(w);
        json_put_string(w, STR("name"), c->name);
        json_put_string(w, STR("as"), as.len > 0 ? buf_str(&as) : c->name);
        json_put_string(w, STR("column_type"), c->type_text);
        json_put_cstr(w, STR("type"), field_default_type(c, &r->engine));
        json_put_bool(w, STR("nullable"), c->nullable);
        json_put_bool(w, STR("invisible"), c->invisible);
        json_put_cstr(w, STR("note"), note_of(c));
        json_close_object(w);
    }
    json_close_array(w);
    buf_free(&as);
}
