#include "config.h"

#include "rebalance/node.h"

#include "rebalance/look.h"
#include "src/base/log.h"
#include "src/base/mem.h"
#include "sync/model/definition_diff.h"
#include "sync/model/mapping.h"

#include <string.h>

/*
 * Changes of a definition that only add to the mapping: the index that searches use takes them as
 * it is.  What documents say stays the same, so that each new field is filled when its document is
 * written next, and of all of them by the next build, for which `apply` asks.
 */

static bool ends_with(struct str text, const char *end)
{
    const size_t len = strlen(end);

    return text.len >= len && memcmp(text.ptr + text.len - len, end, len) == 0;
}

/* It says how a field is searched, not what stands in a document. */
static bool is_of_mapping(const struct field_change *f)
{
    return str_equal(f->path, STR("mapping")) || ends_with(f->path, ".keyword") ||
           ends_with(f->path, ".copy_to");
}

/* All that differs and wants a build is of the mapping. */
static bool only_mapping_differs(const struct definitions *then, const struct definitions *now,
                                 struct str table)
{
    struct definition_diff diff = {0};
    bool any = false, only = true;

    definition_diff_make(then, now, &diff);
    for (size_t i = 0; i < diff.n; i++) {
        const struct definition_change *c = &diff.changes[i];

        if (strcmp(c->kind, "table") != 0 || !str_equal(c->name, table))
            continue;
        for (size_t k = 0; k < c->n_fields; k++) {
            any = any || is_of_mapping(&c->fields[k]);
            only = only && (is_of_mapping(&c->fields[k]) || !c->fields[k].needs_build);
        }
        only = only && c->change == CHANGE_CHANGE;
    }
    definition_diff_free(&diff);
    return any && only;
}

static bool make_mapping(struct coordinator *co, const struct definitions *d,
                         const struct table_definition *t, struct buf *json, struct err *err)
{
    struct look l = {0};
    bool ok = search_detect(co->opt.search, err) && look_open(co, d, t, &l, err) &&
              mapping_body(&(struct mapping_request){.definitions = d,
                                                     .table = t,
                                                     .find = look_find,
                                                     .list = look_list,
                                                     .ctx = &l,
                                                     .engine = search_engine(co->opt.search)},
                           json, err);

    if (look_failed(&l)->kind != ERR_NONE) {
        *err = *look_failed(&l);
        ok = false;
    }
    look_close(&l);
    return ok;
}

/* The version is known by the definition that its mapping has now. */
static bool remember(struct coordinator *co, const struct stored_version *v,
                     const struct definitions *d, const struct table_definition *t,
                     struct err *err)
{
    struct stored_version changed = *v;
    struct buf json = {0};

    node_append_version_json(d, definition_lead(d, t), NULL, &json);
    changed.definition = buf_str(&json);

    const bool ok = store_save_version(co->opt.store, &changed, err) && node_refresh(co, err);

    buf_free(&json);
    return ok;
}

bool node_bring_fields(struct coordinator *co, const struct stored_version *v,
                       const struct definitions *then, const struct definitions *now,
                       const struct table_definition *t, struct err *err)
{
    struct buf index = {0}, json = {0};

    if (t->join.given || t->pattern.len > 0 || !only_mapping_differs(then, now, t->table))
        return true;
    node_index_name(&index, v->index, v->number);

    bool ok = make_mapping(co, now, t, &json, err) &&
              search_put_mapping(co->opt.search, buf_str(&index), buf_str(&json), err) &&
              node_want_replay(co, buf_str(&index), err) && remember(co, v, now, t, err);

    if (ok) {
        log_info("fields were added to an index", KV("index", buf_str(&index)));
        node_log(co, t->table, v->index, v->number, "fields", "its definition adds to the mapping");
    } else if (err->kind == ERR_REJECT) { /* not by adding: the next version has it */
        log_failure(LOG_INFO, err, "the mapping takes effect with the next build",
                    KV("index", buf_str(&index)));
        ok = true;
    }
    buf_free(&index);
    buf_free(&json);
    return ok;
}
