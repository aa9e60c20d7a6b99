#include "config.h"

#include "rebalance/version/fields.h"

#include "rebalance/dead_letter/replay.h"
#include "rebalance/state/parts.h"

#include "rebalance/check/look.h"
#include "src/base/log.h"
#include "src/base/mem.h"
#include "sync/definition/diff.h"
#include "sync/mapping/mapping.h"

#include <string.h>

static bool ends_with(struct str text, const char *end)
{
    const size_t len = strlen(end);

    return text.len >= len && memcmp(text.ptr + text.len - len, end, len) == 0;
}

/* Whether the change affects how a field is searched, not what documents contain. */
static bool is_of_mapping(const struct field_change *f)
{
    return str_equal(f->path, STR("mapping")) || ends_with(f->path, ".keyword") ||
           ends_with(f->path, ".copy_to");
}

/* Whether all changes that need a build are in the mapping. */
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
    bool ok = search_detect(co->opt.search, err) && look_open(&l, co, d, t, err) &&
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

/* Store the definition that the version's mapping has now. */
static bool remember(struct coordinator *co, const struct stored_version *v,
                     const struct definitions *d, const struct table_definition *t,
                     struct err *err)
{
    struct buf json = {0};

    coordinator_append_version_json(d, definition_lead(d, t), NULL, &json);

    const struct version_name name = {v->index, v->number};
    const bool ok = store_set_version_definition(co->opt.store, &name, buf_str(&json), err) &&
                    coordinator_refresh(co, err);

    buf_free(&json);
    return ok;
}

bool coordinator_bring_fields(struct coordinator *co, const struct stored_version *v,
                              const struct definitions *then, const struct definitions *now,
                              const struct table_definition *t, struct err *err)
{
    struct buf index = {0}, json = {0};

    if (t->join.given || t->pattern.len > 0 || !only_mapping_differs(then, now, t->table))
        return true;
    coordinator_index_name(&index, v->index, v->number);

    bool ok = make_mapping(co, now, t, &json, err) &&
              search_put_mapping(co->opt.search, buf_str(&index), buf_str(&json), err) &&
              coordinator_want_replay(co, buf_str(&index), err) && remember(co, v, now, t, err);

    if (ok) {
        log_info("fields added to an index", KV("index", buf_str(&index)));
        coordinator_log(co, t->table, v->index, v->number, "fields",
                        "its definition has more fields");
    } else if (err->kind == ERR_REJECT) { /* not a mere addition: the next version gets it */
        log_failure(LOG_INFO, err, "the new mapping takes effect with the next build",
                    KV("index", buf_str(&index)));
        ok = true;
    }
    buf_free(&index);
    buf_free(&json);
    return ok;
}
