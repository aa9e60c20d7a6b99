#include "config.h"

#include "sync/definition/index_settings.h"

#include "src/base/arena.h"
#include "src/base/buf.h"
#include "src/format/yaml.h"

#include <string.h>

/* Dynamic index settings of both engines; a trailing dot makes it a prefix. */
static const char *const live[] = {
    "analyze.max_token_count",
    "auto_expand_replicas",
    "blocks.",
    "default_pipeline",
    "final_pipeline",
    "gc_deletes",
    "hidden",
    "highlight.max_analyzed_offset",
    "indexing.slowlog.",
    "mapping.depth.limit",
    "mapping.dimension_fields.limit",
    "mapping.field_name_length.limit",
    "mapping.nested_fields.limit",
    "mapping.nested_objects.limit",
    "mapping.total_fields.limit",
    "max_docvalue_fields_search",
    "max_inner_result_window",
    "max_ngram_diff",
    "max_refresh_listeners",
    "max_regex_length",
    "max_rescore_window",
    "max_result_window",
    "max_script_fields",
    "max_shingle_diff",
    "max_slices_per_scroll",
    "max_terms_count",
    "merge.policy.",
    "merge.scheduler.",
    "number_of_replicas",
    "priority",
    "query.default_field",
    "refresh_interval",
    "requests.cache.enable",
    "routing.allocation.",
    "routing.rebalance.",
    "search.idle.after",
    "search.slowlog.",
    "search.throttled",
    "translog.durability",
    "translog.flush_threshold_size",
    "translog.sync_interval",
    "unassigned.node_left.delayed_timeout",
    "write.wait_for_active_shards",
};

static struct str without_index(struct str name)
{
    if (name.len > 6 && memcmp(name.ptr, "index.", 6) == 0)
        return (struct str){name.ptr + 6, name.len - 6};
    return name;
}

static void flatten(struct arena *a, const struct yaml_node *from, struct str prefix,
                    struct yaml_node *into)
{
    for (size_t i = 0; i < from->n; i++) {
        struct buf name = {0};

        buf_append(&name, prefix);
        if (prefix.len > 0)
            buf_append_char(&name, '.');
        buf_append(&name, from->names[i]->text);
        if (from->items[i]->kind == YAML_MAP)
            flatten(a, from->items[i], buf_str(&name), into);
        else
            yaml_put(a, into, without_index(buf_str(&name)), from->items[i]);
        buf_free(&name);
    }
}

struct yaml_node *index_settings_flatten(struct arena *a, const struct yaml_node *settings)
{
    struct yaml_node *flat = yaml_new(a, YAML_MAP);

    flatten(a, settings, STR(""), flat);
    return flat;
}

bool index_setting_is_live(struct str name)
{
    for (size_t i = 0; i < ARRAY_LEN(live); i++) {
        size_t len = strlen(live[i]);
        bool all = live[i][len - 1] == '.';

        if (all ? name.len > len && memcmp(name.ptr, live[i], len) == 0
                : str_equal(name, (struct str){live[i], len}))
            return true;
    }
    return false;
}

bool index_setting_names_pipeline(struct str name)
{
    return str_equal(name, STR("default_pipeline")) || str_equal(name, STR("final_pipeline"));
}

const char *index_setting_is_ours(struct str name)
{
    if (str_equal(name, STR("gc_deletes")))
        return "Millrace sets it to 1h: deleted documents must not come back";
    return NULL;
}
