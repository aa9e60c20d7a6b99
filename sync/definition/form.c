#include "config.h"

#include "sync/definition/form.h"

#include "sync/definition/definition.h"
#include "sync/definition/expression.h"

#include <stddef.h>

#define AT(type, member)   .at = offsetof(struct type, member)
#define LIST(type, member) AT(type, member), .count_at = offsetof(struct type, n_##member)

/* ---- how to reach a server, of topics and databases ---- */

static const struct form_field tls_fields[] = {
    {"ca_file", FORM_TEXT, FORM_PATH, AT(tls_definition, ca_file),
     .help = "PEM file with the trusted certificate authorities; default: the system's."},
    {"cert_file", FORM_TEXT, FORM_PATH, AT(tls_definition, cert_file),
     .help = "Millrace's own certificate, for a server that asks for one."},
    {"key_file", FORM_TEXT, FORM_PATH, AT(tls_definition, key_file),
     .help = "The key of `cert_file`."},
    {"verify", FORM_BOOL, 0, AT(tls_definition, verify), .preset = "true",
     .help = "Check the server's certificate and host name."},
};
static const struct form form_tls = {
    .noun = "tls",
    .size = sizeof(struct tls_definition),
    .place_at = FORM_NONE,
    .fields = tls_fields,
    .n_fields = ARRAY_LEN(tls_fields),
};

#define SERVER_FIELDS(type, required)                                                          \
    {"address",                                                                                \
     FORM_TEXT,                                                                                \
     (required),                                                                               \
     AT(type, server.address),                                                                 \
     .rule = rule_address,                                                                     \
     .help = "host, host:port (port 3306 if left out) or the path of a unix socket."},         \
        {"user", FORM_TEXT, 0, AT(type, server.user), .help = "The user that logs in."},       \
        {"password_file", FORM_TEXT, FORM_PATH, AT(type, server.password_file),                \
         .help =                                                                               \
             "File with the password in its first line; relative to the definition file."},    \
        {"password_env",                                                                       \
         FORM_TEXT,                                                                            \
         0,                                                                                    \
         AT(type, server.password_env),                                                        \
         .rule = rule_environment,                                                             \
         .help = "Environment variable of the daemon that holds the password."},               \
        {"password", FORM_TEXT, FORM_SECRET, AT(type, server.password),                        \
         .help =                                                                               \
             "The password itself: accepted with a warning, never shown or exported. `***` "   \
             "and no password at all keep the one that is stored; an empty text removes it."}, \
        {"server_public_key_file", FORM_TEXT, FORM_PATH,                                       \
         AT(type, server.server_public_key_file),                                              \
         .help = "The server's RSA key (PEM), for caching_sha2_password and sha256_password "  \
                 "without TLS."},                                                              \
    {                                                                                          \
        "tls", FORM_OBJECT, 0, AT(type, server.tls),                                           \
            .given_at = offsetof(struct type, server.tls.given), .object = &form_tls,          \
            .help = "Encrypt; `{}` is enough if the system trusts the server's certificate."   \
    }

static const char *const zero_dates[] = {"null", "text", "dead_letter", NULL};
static const char *const on_gaps[] = {"stop", "rebuild", NULL};

static const struct form_field topic_fields[] = {
    {"name", FORM_TEXT, FORM_REQUIRED, AT(topic_definition, name), .rule = rule_name,
     .help = "The topic's name."},
    SERVER_FIELDS(topic_definition, FORM_REQUIRED),
    {"server_id", FORM_COUNT, 0, AT(topic_definition, server_id),
     .help =
         "Millrace's id among the server's replicas; default: Millrace chooses one and keeps "
         "it."},
    {"start", FORM_TEXT, 0, AT(topic_definition, start), .preset = "now", .rule = rule_start,
     .help =
         "Where a topic without a stored position starts: `now`, FILE:POSITION or a GTID set."},
    {"group", FORM_TEXT, 0, AT(topic_definition, group),
     .help = "One node runs all topics of a group. On a single node it has no effect."},
    {"time_zone", FORM_TEXT, FORM_REBUILD, AT(topic_definition, time_zone),
     .rule = rule_time_zone,
     .help = "Time zone of DATETIME values: UTC or an offset like +08:00; default: they are "
             "written without one."},
    {"day_zone", FORM_TEXT, 0, AT(topic_definition, day_zone), .rule = rule_day_zone,
     .help = "The zone of the days that `millrace replay` reads again: UTC, an offset or a "
             "name of the daemon's zone data (Europe/Berlin); default: `time_zone`, else UTC."},
    {"zero_date", FORM_CHOICE, FORM_REBUILD, AT(topic_definition, zero_date),
     .choices = zero_dates, .preset = "null", .help = "What a zero or partial date becomes."},
    {"on_gap", FORM_CHOICE, 0, AT(topic_definition, on_gap), .choices = on_gaps,
     .preset = "stop",
     .help =
         "What to do when the server no longer has the binlog that comes next: `stop` stops "
         "the topic; "
         "`rebuild` starts it anew and builds all its tables again."},
    {"description", FORM_TEXT, 0, AT(topic_definition, description),
     .help = "A note for people; Millrace ignores it."},
};
const struct form form_topic = {
    .noun = "topic",
    .size = sizeof(struct topic_definition),
    .place_at = offsetof(struct topic_definition, place),
    .fields = topic_fields,
    .n_fields = ARRAY_LEN(topic_fields),
};

static const struct form_field database_fields[] = {
    {"name", FORM_TEXT, FORM_REQUIRED, AT(database_definition, name), .rule = rule_database,
     .help = "The name that tables use: the part before the dot."},
    {"topic", FORM_TEXT, FORM_REQUIRED | FORM_REBUILD, AT(database_definition, topic),
     .rule = rule_name, .help = "The topic whose server has the database."},
    {"schema", FORM_TEXT, FORM_REBUILD, AT(database_definition, schema),
     .help = "Its name on the server; default: `name`."},
    SERVER_FIELDS(database_definition, 0),
};

static void settle_database(void *object)
{
    struct database_definition *d = object;
    const struct server_definition *s = &d->server;

    if (str_equal(d->schema, d->name))
        d->schema = (struct str){NULL, 0};
    d->own_server = s->address.len > 0 || s->user.len > 0 || s->password_file.len > 0 ||
                    s->password_env.len > 0 || s->password.len > 0 ||
                    s->server_public_key_file.len > 0 || s->tls.given;
}

const struct form form_database = {
    .noun = "database",
    .size = sizeof(struct database_definition),
    .place_at = offsetof(struct database_definition, place),
    .fields = database_fields,
    .n_fields = ARRAY_LEN(database_fields),
    .settle = settle_database,
};

/* ---- columns ---- */

static const struct form_field transform_fields[] = {
    {"kind", FORM_TEXT, FORM_REQUIRED, 0,
     .help =
         "What the step does with the value, as [listed above](#values-that-are-made); some "
         "kinds "
         "also take `by`, `format`, `columns` or `salt`."},
};
static const struct form form_transform = {
    .noun = "transform",
    .size = sizeof(struct str),
    .place_at = FORM_NONE,
    .fields = transform_fields,
    .n_fields = ARRAY_LEN(transform_fields),
    .open = true,
};

#define COLUMN_TEXT(member, ...)                                                     \
    {                                                                                \
#member, FORM_TEXT, FORM_REBUILD, AT(column_definition, member), __VA_ARGS__ \
    }

static const struct form_field column_fields[] = {
    {"name", FORM_TEXT, FORM_REQUIRED | FORM_REBUILD, AT(column_definition, name),
     .help = "The column; `*` stands for every column that is not listed."},
    COLUMN_TEXT(as, .rule = rule_field, .help = "Its name in the document; default: its name."),
    COLUMN_TEXT(type, .help = "Field type in the index; default: from the column's type."),
    COLUMN_TEXT(analyzer, .help = "Analyzer of a text field."),
    COLUMN_TEXT(search_analyzer, .help = "Analyzer of searches, if it is another one."),
    COLUMN_TEXT(format,
                .help = "Date format that searches and values may use besides ISO 8601."),
    {"keyword", FORM_BOOL, FORM_REBUILD, AT(column_definition, keyword), .preset = "false",
     .help = "Add a sub-field `keyword` for exact searches and sorting."},
    {"copy_to", FORM_TEXTS, FORM_REBUILD | FORM_LIST, LIST(column_definition, copy_to),
     .rule = rule_field, .help = "Fields whose searches also find this column's text."},
    {"skip", FORM_BOOL, FORM_REBUILD, AT(column_definition, skip), .preset = "false",
     .help = "Leave it out of the document."},
    {"transform", FORM_JSON_OBJECTS, FORM_REBUILD, AT(column_definition, transform_json),
     .object = &form_transform, .help = "Steps that change the value, in order."},
    {"default", FORM_JSON, FORM_REBUILD, AT(column_definition, default_json),
     .given_at = offsetof(struct column_definition, has_default),
     .help = "The value that the document has instead of null."},
    {"value", FORM_JSON, FORM_REBUILD, AT(column_definition, value_json),
     .given_at = offsetof(struct column_definition, has_value),
     .help = "A constant for every document; Millrace reads no column."},
};

static void settle_column(void *object)
{
    struct column_definition *c = object;

    if (str_equal(c->as, c->name))
        c->as = (struct str){NULL, 0};
}

const struct form form_column = {
    .noun = "column",
    .size = sizeof(struct column_definition),
    .place_at = offsetof(struct column_definition, place),
    .fields = column_fields,
    .n_fields = ARRAY_LEN(column_fields),
    .settle = settle_column,
};

/* ---- relations ---- */

static const struct form_field through_fields[] = {
    {"table", FORM_TEXT, FORM_REQUIRED | FORM_REBUILD, AT(through_definition, table),
     .rule = rule_table, .help = "The link table."},
    {"from", FORM_TEXTS, FORM_REQUIRED | FORM_REBUILD, LIST(through_definition, from),
     .help = "Its columns that hold the outer table's `from`."},
    {"to", FORM_TEXTS, FORM_REQUIRED | FORM_REBUILD, LIST(through_definition, to),
     .help = "Its columns that hold the related table's `to`."},
};
static const struct form form_through = {
    .noun = "through",
    .size = sizeof(struct through_definition),
    .place_at = FORM_NONE,
    .fields = through_fields,
    .n_fields = ARRAY_LEN(through_fields),
};

static const char *const refreshes[] = {"parent", "area", "none", NULL};

#define RELATION_BOOL(member, ...)                                                            \
    {                                                                                         \
#member, FORM_BOOL, FORM_REBUILD, AT(relation_definition, member), .preset = "false", \
                                                                           __VA_ARGS__        \
    }

static const struct form_field relation_fields[] = {
    {"from", FORM_TEXTS, FORM_REQUIRED | FORM_REBUILD, LIST(relation_definition, from),
     .help = "Columns of the outer table that the relation starts from."},
    {"through", FORM_OBJECT, FORM_REBUILD, AT(relation_definition, through),
     .given_at = offsetof(struct relation_definition, through.given), .object = &form_through,
     .help = "Many-to-many: the link table; the document does not show it."},
    {"table", FORM_TEXT, FORM_REQUIRED | FORM_REBUILD, AT(relation_definition, table),
     .rule = rule_table, .help = "The related table, DATABASE.TABLE."},
    {"to", FORM_TEXTS, FORM_REQUIRED | FORM_REBUILD, LIST(relation_definition, to),
     .help = "Its columns that equal those of `from`, in the same order."},
    {"as", FORM_TEXT, FORM_REBUILD, AT(relation_definition, as), .rule = rule_field,
     .help = "Name in the document; default: the table's name."},
    RELATION_BOOL(many,
                  .help = "One-to-many: the document shows all related rows, as an array."),
    RELATION_BOOL(nested, .help = "Field type `nested` instead of an object."),
    RELATION_BOOL(flattened,
                  .help =
                      "One field of type `flat_object` or `flattened` for the whole object."),
    {"where", FORM_TEXT, FORM_REBUILD, AT(relation_definition, where),
     .rule = expression_find_fault, .help = "SQL condition on the related table's rows."},
    RELATION_BOOL(distinct, .help = "Show equal elements only once."),
    {"order_by", FORM_TEXT, FORM_REBUILD, AT(relation_definition, order_by),
     .rule = expression_find_fault,
     .help = "SQL order of the rows, such as `price DESC`; rows that it ranks equal are in key "
             "order."},
    {"limit", FORM_COUNT, FORM_REBUILD, AT(relation_definition, limit),
     .help = "At most so many elements, after `distinct`."},
    {"max_depth", FORM_COUNT, FORM_REBUILD, AT(relation_definition, max_depth),
     .help = "How often Millrace follows a table that refers to itself; 10 at most."},
    {"values", FORM_TEXT, FORM_REBUILD, AT(relation_definition, values),
     .help = "This column's value instead of an object; with `many` an array of them."},
    {"refresh", FORM_CHOICE, FORM_REBUILD, AT(relation_definition, refresh),
     .choices = refreshes, .preset = "parent",
     .help = "What a change of a related row does: `parent` writes the documents that show it "
             "again, "
             "`area` writes only the part of them that shows it, `none` does nothing."},
    {"columns", FORM_COLUMNS, FORM_REBUILD, LIST(relation_definition, columns),
     .given_at = offsetof(struct relation_definition, all_columns), .object = &form_column,
     .help = "Columns of the related row that the document shows; default: all."},
    {"relations", FORM_OBJECTS, FORM_REBUILD, LIST(relation_definition, relations),
     .object = &form_relation, .help = "Relations of the related table."},
};

static struct str last_name(struct str table)
{
    struct str database, name;

    return definition_split_table(table, &database, &name) ? name : table;
}

static void settle_relation(void *object)
{
    struct relation_definition *r = object;

    if (str_equal(r->as, last_name(r->table)))
        r->as = (struct str){NULL, 0};
}

const struct form form_relation = {
    .noun = "relation",
    .size = sizeof(struct relation_definition),
    .place_at = offsetof(struct relation_definition, place),
    .fields = relation_fields,
    .n_fields = ARRAY_LEN(relation_fields),
    .settle = settle_relation,
};

/* ---- tables ---- */

static const struct form_field soft_delete_fields[] = {
    {"column", FORM_TEXT, FORM_REQUIRED | FORM_REBUILD,
     AT(table_definition, soft_delete_column), .help = "The column that marks deleted rows."},
    {"deleted", FORM_JSON, FORM_REQUIRED | FORM_REBUILD, AT(table_definition, soft_delete_json),
     .help = "The value that means deleted: a number, a text, true, false or null."},
};
static const char *const compare_trees[] = {"default", "keep", "none", NULL};

static const struct form_field compare_fields[] = {
    {"trees", FORM_CHOICE, 0, AT(table_definition, compare.trees), .choices = compare_trees,
     .preset = "default",
     .help = "Whether Millrace keeps anti-entropy trees of the index: `keep`, `none`, or as "
             "`index.trees` says."},
    {"exchange_every", FORM_DURATION, 0, AT(table_definition, compare.exchange_every_s),
     .help = "How often Millrace compares the trees; default: `index.exchange_every`."},
    {"every", FORM_DURATION, 0, AT(table_definition, compare.every_s),
     .help = "How often Millrace compares the whole index with its rows; default: "
             "`index.verify_every`."},
    {"rate", FORM_COUNT, 0, AT(table_definition, compare.rate),
     .help = "Rows and ids a second that the next such comparison reads; default: "
             "`index.verify_rate`."},
};
static const struct form form_compare = {
    .noun = "compare",
    .size = sizeof(struct table_definition),
    .place_at = FORM_NONE,
    .fields = compare_fields,
    .n_fields = ARRAY_LEN(compare_fields),
};

static const struct form form_soft_delete = {
    .noun = "soft_delete",
    .size = sizeof(struct table_definition),
    .place_at = FORM_NONE,
    .fields = soft_delete_fields,
    .n_fields = ARRAY_LEN(soft_delete_fields),
};

static const struct form_field join_fields[] = {
    {"name", FORM_TEXT, FORM_REQUIRED | FORM_REBUILD, AT(join_definition, name),
     .rule = rule_field, .help = "The name of this table's documents in the join field."},
    {"field", FORM_TEXT, FORM_REBUILD, AT(join_definition, field), .preset = "join",
     .rule = rule_field, .help = "The join field."},
    {"parent", FORM_TEXT, FORM_REBUILD, AT(join_definition, parent), .rule = rule_table,
     .help = "The parent's table; default: none, this table is the root."},
    {"parent_column", FORM_TEXTS, FORM_REBUILD, LIST(join_definition, parent_columns),
     .help = "Columns that hold the parent's key."},
};
static const struct form form_join = {
    .noun = "join",
    .size = sizeof(struct join_definition),
    .place_at = FORM_NONE,
    .fields = join_fields,
    .n_fields = ARRAY_LEN(join_fields),
};

/* Kept as JSON text, so the offsets are unused. */
static const struct form_field top_relation_fields[] = {
    {"table", FORM_TEXT, FORM_REQUIRED, 0, .rule = rule_table,
     .help = "The table whose documents are written again."},
    {"column", FORM_TEXT, FORM_REQUIRED, 0,
     .help = "The key column of that table, which `target_key` matches."},
    {"level_sql", FORM_TEXT, FORM_REQUIRED, 0,
     .help = "SELECT that leads from the delayed table's rows to those of that table."},
    {"business_id", FORM_TEXT, FORM_REQUIRED, 0,
     .help = "Its output column with the delayed table's key."},
    {"target_key", FORM_TEXT, FORM_REQUIRED, 0,
     .help = "Its output column with that table's key."},
};
static const struct form form_top_relation = {
    .noun = "top_relation",
    .size = sizeof(struct str),
    .place_at = FORM_NONE,
    .fields = top_relation_fields,
    .n_fields = ARRAY_LEN(top_relation_fields),
};

static const char *const schema_changes[] = {"follow", "stop", NULL};

static const struct form_field table_fields[] = {
    {"table", FORM_TEXT, FORM_REBUILD, AT(table_definition, table), .rule = rule_table,
     .help = "DATABASE.TABLE; a table needs this or `pattern`."},
    {"pattern", FORM_TEXT, FORM_REBUILD, AT(table_definition, pattern),
     .help = "Regular expression for DATABASE.TABLE: all tables that match share one index."},
    {"source_field", FORM_TEXT, FORM_REBUILD, AT(table_definition, source_field),
     .rule = rule_field, .help = "Field that names the table a document came from."},
    {"index", FORM_TEXT, FORM_REBUILD, AT(table_definition, index), .rule = rule_index,
     .help = "The alias that searches use; default: the table's name."},
    {"key", FORM_TEXTS, FORM_REBUILD | FORM_LIST, LIST(table_definition, key),
     .help = "Columns that make the document's id; default: the primary key."},
    {"unique_keys", FORM_TEXT_LISTS, FORM_REBUILD, LIST(table_definition, unique_keys),
     .help =
         "Unique keys besides the primary key; `apply` checks that they are unique. Without a "
         "primary key and `key`, the first one without NULLs makes the document's id."},
    {"bucket_column", FORM_TEXT, 0, AT(table_definition, bucket_column),
     .help =
         "The column of numbers or times, most often `created_at`, by whose ranges a build in "
         "several buckets splits the table; NULLs come first. It needs an index; "
         "default: the key."},
    {"daily_check_column", FORM_TEXT, 0, AT(table_definition, daily_check_column),
     .help = "The row's modification time, for `sync_every` and the daily check."},
    {"copy_to", FORM_TEXTS, FORM_REBUILD | FORM_LIST, LIST(table_definition, copy_to),
     .rule = rule_field,
     .help = "Fields whose searches also find the text of all its `text` and `keyword` "
             "columns."},
    {"settings", FORM_JSON_MAP, FORM_SETTINGS, AT(table_definition, settings_json),
     .help =
         "Settings of the index. Those that the engine accepts on an open index take effect "
         "at once."},
    {"mapping", FORM_JSON_MAP, FORM_REBUILD, AT(table_definition, mapping_json),
     .help = "Mapping that Millrace merges over its own; it wins."},
    {"pipeline", FORM_TEXT, FORM_REBUILD, AT(table_definition, pipeline), .rule = rule_pipeline,
     .help = "Ingest pipeline of the search engine that every document passes; `apply` checks "
             "that it exists. Relations then use `refresh: parent`."},
    {"schema_changes", FORM_CHOICE, 0, AT(table_definition, schema_changes),
     .choices = schema_changes, .preset = "follow",
     .help = "What Millrace does after DDL on its tables: `follow` adds new columns to the "
             "index, and builds it "
             "again if rows changed; `stop` stops the table until somebody builds it."},
    {"compare", FORM_OBJECT, 0, .at = 0,
     .given_at = offsetof(struct table_definition, compare.given), .object = &form_compare,
     .help =
         "How Millrace compares the index by itself. Of several tables of an index the first "
         "one with `compare` counts."},
    {"delayed", FORM_BOOL, 0, AT(table_definition, delayed), .preset = "false",
     .help = "Documents of other tables that show its rows are written again by "
             "`millrace delayed run`, not at once."},
    {"filter", FORM_TEXT, FORM_REBUILD, AT(table_definition, filter),
     .rule = expression_find_fault, .help = "SQL condition of the rows that have a document."},
    {"soft_delete", FORM_OBJECT, FORM_REBUILD, .at = 0,
     .given_at = offsetof(struct table_definition, soft_delete_given),
     .object = &form_soft_delete,
     .help = "How rows are marked as deleted; such a row has no document."},
    {"sync_every", FORM_DURATION, 0, AT(table_definition, sync_every_s),
     .help =
         "How often Millrace reads rows with a newer `daily_check_column` again: for views and "
         "tables whose changes are not in the binlog."},
    {"root_column", FORM_TEXTS, FORM_REBUILD, LIST(table_definition, root_columns),
     .help =
         "Columns of a grandchild that hold its root's key, for when its parents do not tell "
         "it."},
    {"top_relations", FORM_JSON_OBJECTS, 0, AT(table_definition, top_relations_json),
     .object = &form_top_relation,
     .help = "How a run finds the documents that show a delayed table's rows; default: by the "
             "relations that lead to it."},
    {"columns", FORM_COLUMNS, FORM_REBUILD, LIST(table_definition, columns),
     .given_at = offsetof(struct table_definition, all_columns), .object = &form_column,
     .help = "Columns of the row that the document shows; default: all."},
    {"relations", FORM_OBJECTS, FORM_REBUILD, LIST(table_definition, relations),
     .object = &form_relation, .help = "Rows of other tables inside the document."},
    {"join", FORM_OBJECT, FORM_REBUILD, AT(table_definition, join),
     .given_at = offsetof(struct table_definition, join.given), .object = &form_join,
     .help = "Parent-child: several tables in one index."},
};

static void settle_table(void *object)
{
    struct table_definition *t = object;

    if (str_equal(t->index, last_name(t->table)))
        t->index = (struct str){NULL, 0};
}

const struct form form_table = {
    .noun = "table",
    .size = sizeof(struct table_definition),
    .place_at = offsetof(struct table_definition, place),
    .fields = table_fields,
    .n_fields = ARRAY_LEN(table_fields),
    .settle = settle_table,
};

const struct form *const forms[] = {&form_topic,    &form_database, &form_tls,
                                    &form_table,    &form_column,   &form_transform,
                                    &form_relation, &form_through,  &form_soft_delete,
                                    &form_compare,  &form_join,     &form_top_relation};
const size_t n_forms = ARRAY_LEN(forms);

const struct form_field *form_find(const struct form *f, struct str name)
{
    for (size_t i = 0; i < f->n_fields; i++)
        if (str_equal(name, str_from(f->fields[i].name)))
            return &f->fields[i];
    return NULL;
}

const char *form_type_name(const struct form_field *f)
{
    switch (f->type) {
    case FORM_TEXT: return "text";
    case FORM_TEXTS: return "text or list of texts";
    case FORM_TEXT_LISTS: return "list of lists of texts";
    case FORM_BOOL: return "true or false";
    case FORM_COUNT: return "number from 1";
    case FORM_DURATION: return "duration (60s, 5m, 2h, 1d)";
    case FORM_CHOICE: return "one of a few words";
    case FORM_JSON: return "anything";
    case FORM_JSON_MAP: return "map";
    case FORM_OBJECT: return "map";
    case FORM_OBJECTS: return "list of maps";
    case FORM_COLUMNS: return "list of names or maps";
    case FORM_JSON_OBJECTS: return "list of maps";
    }
    return "";
}
