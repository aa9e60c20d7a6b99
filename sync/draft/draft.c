#include "config.h"

#include "sync/draft/draft.h"

#include "src/base/arena.h"
#include "src/base/buf.h"
#include "src/base/map.h"
#include "src/format/yaml_name.h"
#include "src/mysql/mysql.h"
#include "sync/check/columns_generate.h"
#include "sync/draft/draft_name.h"
#include "sync/draft/draft_relations.h"
#include "sync/draft/survey.h"

#define FIELDS_MAX 900 /* above this the index needs a higher limit than the engines' 1,000 */

struct drafting {
    const struct draft_request *r;
    struct draft_graph graph;
    struct map *indexes; /* names given */
    struct buf *yaml;
    struct draft_counts counts;
};

/* ---- the server ---- */

static void append_pair(struct buf *yaml, const char *name, struct str value)
{
    if (value.len == 0)
        return;
    buf_printf(yaml, "    %s: ", name);
    yaml_append_name(yaml, value);
    buf_append_char(yaml, '\n');
}

static void append_server(const struct draft_request *r, struct buf *yaml)
{
    const struct server_definition *s = r->server;

    buf_append(yaml, STR("topics:\n  - name: "));
    yaml_append_name(yaml, r->name);
    buf_append_char(yaml, '\n');
    append_pair(yaml, "address", s->address);
    append_pair(yaml, "user", s->user);
    append_pair(yaml, "password_file", s->password_file);
    if (s->tls.given && s->tls.ca_file.len > 0) {
        buf_append(yaml, STR("    tls: {ca_file: "));
        yaml_append_name(yaml, s->tls.ca_file);
        buf_append(yaml, STR("}\n"));
    } else if (s->tls.given) {
        buf_append(yaml, STR("    tls: {}\n"));
    }
    buf_append(yaml, STR("databases:\n  - {name: "));
    yaml_append_name(yaml, r->name);
    buf_append(yaml, STR(", topic: "));
    yaml_append_name(yaml, r->name);
    if (!str_equal(r->name, r->survey->schema)) {
        buf_append(yaml, STR(", schema: "));
        yaml_append_name(yaml, r->survey->schema);
    }
    buf_append(yaml, STR("}\n"));
}

/* ---- the tables ---- */

static void append_key(const struct table_facts *f, struct buf *yaml)
{
    const struct catalog_index *key = columns_other_key(f);

    if (key == NULL)
        return;
    buf_append(yaml, STR("    key: "));
    yaml_append_names(yaml, key->columns, key->n_columns);
    buf_append(yaml, STR("  # there is no primary key; the index "));
    yaml_append_comment(yaml, key->name);
    buf_append(yaml, STR(" is unique and has no NULLs\n"));
}

/* The types as comments; as an active list where a name is not valid in a document. */
static void append_columns(const struct drafting *x, const struct table_facts *f)
{
    struct buf renamed = {0};

    draft_append_renamed(f->schema, &renamed);
    if (renamed.len > 0)
        buf_append(x->yaml, STR("    # Listed, because a name is not valid in documents; a new "
                                "column shows once it is listed.\n"));
    columns_append_list(f, &x->r->engine, renamed.len > 0 ? "    " : "    # ", x->yaml);
    if (f->schema->n_columns > FIELDS_MAX)
        buf_printf(x->yaml, "    settings: {mapping.total_fields.limit: %zu}\n",
                   f->schema->n_columns * 2);
    buf_free(&renamed);
}

static void append_table(struct drafting *x, size_t at)
{
    const struct survey_table *t = &x->r->survey->tables[at];
    struct buf name = {0};

    buf_printf(&name, "%" STR_FMT ".%" STR_FMT, STR_ARG(x->r->name), STR_ARG(t->name));
    buf_append(x->yaml, STR("  - table: "));
    yaml_append_name(x->yaml, buf_str(&name));
    buf_append(x->yaml, STR("\n    index: "));
    buf_clear(&name);
    draft_append_index(&name, x->indexes, t->name);
    yaml_append_name(x->yaml, buf_str(&name));
    buf_append_char(x->yaml, '\n');
    append_key(t->facts, x->yaml);
    append_columns(x, t->facts);
    draft_append_relations(&x->graph, at, x->yaml);
    buf_free(&name);
}

static void append_without_key(const struct drafting *x, struct str table)
{
    struct buf name = {0};

    mysql_quote_name(&name, x->r->survey->schema);
    buf_append_char(&name, '.');
    mysql_quote_name(&name, table);
    buf_append(x->yaml, STR("  # Left out: "));
    yaml_append_comment(x->yaml, table);
    buf_append(x->yaml, STR(" has no primary key, and no unique key without NULLs, to name its "
                            "documents.\n  #   ALTER TABLE "));
    yaml_append_comment(x->yaml, buf_str(&name));
    buf_append(x->yaml,
               STR(" ADD COLUMN id BIGINT UNSIGNED NOT NULL AUTO_INCREMENT PRIMARY KEY "
                   "FIRST\n"));
    buf_free(&name);
}

static void append_any(struct drafting *x, size_t at)
{
    const struct survey_table *t = &x->r->survey->tables[at];

    if (t->facts->schema == NULL)
        return;
    if (t->is_denied) {
        x->counts.n_denied++;
        buf_append(x->yaml, STR("  # Left out: the user may not read all of "));
        yaml_append_comment(x->yaml, t->name);
        buf_append(x->yaml, STR(".\n"));
    } else if (t->facts->schema->n_key == 0 && columns_other_key(t->facts) == NULL) {
        x->counts.n_without_key++;
        append_without_key(x, t->name);
    } else {
        if (x->counts.n_tables++ == 0)
            x->counts.first = at;
        append_table(x, at);
    }
}

static void append_views(const struct survey *s, struct buf *yaml)
{
    if (s->n_views == 0)
        return;
    buf_append(yaml, STR("  # Left out: views and sequences, whose changes the binlog does not "
                         "have (docs/definitions.md says what a view needs):\n"));
    for (size_t i = 0; i < s->n_views; i++) {
        buf_append(yaml, STR("  #   "));
        yaml_append_comment(yaml, s->views[i]);
        buf_append_char(yaml, '\n');
    }
}

struct draft_counts draft_append_yaml(const struct draft_request *r, struct buf *yaml)
{
    const struct survey *s = r->survey;
    struct arena *a = arena_new();
    struct buf tables = {0};
    struct drafting x = {.r = r, .indexes = map_new(), .yaml = &tables};

    x.counts.first = s->n_tables;
    draft_graph_init(&x.graph, s, r->name, a);
    for (size_t i = 0; i < s->n_tables; i++)
        if (r->wanted == NULL || r->wanted[i])
            append_any(&x, i);
    if (r->wanted == NULL)
        append_views(s, &tables);
    buf_append(yaml, STR("# Written by millrace init.  A document shows the columns that are "
                         "listed, without a list all of them.\n"
                         "# To show related rows too, remove the # before `relations:` and "
                         "before each relation wanted.\n"));
    append_server(r, yaml);
    buf_append(yaml, x.counts.n_tables > 0 ? STR("tables:\n") : STR("tables: []\n"));
    buf_append(yaml, tables.len > 0 ? buf_str(&tables) : STR(""));
    buf_free(&tables);
    map_free(x.indexes, NULL);
    arena_free(a);
    return x.counts;
}
