#include "config.h"

#include "rebalance/words/usage.h"

#include "rebalance/state/parts.h"

#include <string.h>

#define PREFIX  "ik_"
#define SETTING "\"" PREFIX /* where a JSON text names one */

static bool is_ik(struct str analyzer)
{
    return str_has_prefix(analyzer, STR(PREFIX));
}

static bool columns_use_it(const struct column_definition *columns, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (is_ik(columns[i].analyzer) || is_ik(columns[i].search_analyzer))
            return true;
    return false;
}

static bool relations_use_it(const struct relation_definition *relations, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (columns_use_it(relations[i].columns, relations[i].n_columns) ||
            relations_use_it(relations[i].relations, relations[i].n_relations))
            return true;
    return false;
}

static bool json_names_it(struct str json)
{
    return json.len > 0 && memmem(json.ptr, json.len, SETTING, strlen(SETTING)) != NULL;
}

static bool table_uses_it(const struct table_definition *t)
{
    return columns_use_it(t->columns, t->n_columns) ||
           relations_use_it(t->relations, t->n_relations) || json_names_it(t->settings_json) ||
           json_names_it(t->mapping_json);
}

static void write_table(struct json_writer *w, const struct table_definition *t,
                        const struct catalogue *c, int64_t changed_ms)
{
    const struct stored_version *v = catalogue_version(c, table_index(t), STR("available"));

    json_open_object(w);
    json_put_string(w, STR("table"), table_name(t));
    json_put_string(w, STR("index"), table_index(t));
    if (v == NULL) {
        json_put_null(w, STR("version"));
        json_put_null(w, STR("built"));
    } else {
        json_put_u64(w, STR("version"), v->number);
        coordinator_put_time(w, STR("built"), v->created_ms);
    }
    json_put_bool(w, STR("older_than_words"), v != NULL && v->created_ms < changed_ms);
    json_close_object(w);
}

void word_usage_write(struct coordinator *co, struct json_writer *w, int64_t changed_ms)
{
    struct definitions *d = coordinator_definitions(co);
    struct catalogue *c = coordinator_catalogue(co);

    json_write_key(w, STR("tables"));
    json_open_array(w);
    for (size_t i = 0; i < d->n_tables; i++)
        if (table_uses_it(&d->tables[i]))
            write_table(w, &d->tables[i], c, changed_ms);
    json_close_array(w);
    catalogue_unref(c);
    definitions_unref(d);
}
