#include "config.h"

#include "rebalance/trace/parts.h"

#include "rebalance/verify/look/copies.h"
#include "src/search/documents.h"

#include <string.h>

/* The errors of a document and of a request name the cause in the same words. */
enum trace_code trace_engine_trouble(const struct err *err)
{
    if (strstr(err->msg, "index_closed_exception") != NULL)
        return TRACE_INDEX_CLOSED;
    if (strstr(err->msg, "index_not_found_exception") != NULL)
        return TRACE_INDEX_ABSENT;
    if (strstr(err->msg, "search engine") != NULL ||
        (err->origin != NULL && strcmp(err->origin, "http") == 0))
        return TRACE_ENGINE_AWAY;
    return TRACE_SERVER_AWAY;
}

static void find_lineage(const struct trace *t, struct trace_version *v)
{
    struct target *target =
        t->run.pipeline == NULL ? NULL : pipeline_target(t->run.pipeline, v->name, STR(""));

    if (target == NULL)
        return;
    v->version_min = target->version_min;
    v->version_max = pipeline_stamp_max(t->run.pipeline);
    target_unref(target);
}

/* Of a closed index, the engine says only in answer to some questions why it has no shards. */
static void ask_why(struct trace *t, struct str index, struct err *err)
{
    struct search_wish wish = {.id = t->id};
    struct search_document ignored;
    struct err why = {0};

    if (!search_get_documents(t->co->opt.search, index, &wish, 1, t->arena, &ignored, &why) &&
        trace_engine_trouble(&why) == TRACE_INDEX_CLOSED)
        *err = why;
}

static void fail(struct trace_version *v, struct arena *a, const struct err *err)
{
    v->is = trace_engine_trouble(err);
    if (v->is == TRACE_SERVER_AWAY)
        v->is = TRACE_ENGINE_AWAY;
    v->why = arena_copy(a, str_from(err->msg));
}

static void look_at(struct trace *t, const struct engine_facts *f, struct trace_version *v)
{
    const struct engine_index *found = engine_facts_find(f, v->name);
    struct err err = {0};

    find_lineage(t, v);
    v->is = TRACE_EQUAL;
    if (found == NULL) {
        v->is = TRACE_INDEX_ABSENT;
        return;
    }
    v->mark = found->mark;
    errand_live(t->errand);
    if (copies_get(t->co->opt.search, v->name, t->id, t->arena, &v->copies, &v->n_copies, &err))
        return;
    ask_why(t, v->name, &err);
    fail(v, t->arena, &err);
}

static struct str *list_versions(struct trace *t)
{
    const struct catalogue *c = t->catalogue;
    struct str *names = arena_alloc(t->arena, c->n_versions + 1, sizeof(*names));

    t->versions = arena_alloc(t->arena, c->n_versions + 1, sizeof(*t->versions));
    for (size_t i = 0; i < c->n_versions; i++) {
        const struct stored_version *v = &c->versions[i];
        struct buf name = {0};

        if (!str_equal(v->index, table_index(t->lead)) || !catalogue_is_live(v))
            continue;
        coordinator_index_name(&name, v->index, v->number);
        names[t->n_versions] = arena_copy(t->arena, buf_str(&name));
        t->versions[t->n_versions] =
            (struct trace_version){.v = v, .name = names[t->n_versions]};
        t->n_versions++;
        buf_free(&name);
    }
    return names;
}

void trace_look_at_versions(struct trace *t)
{
    const struct str *names = list_versions(t);
    struct engine_facts f = {0};
    struct err err = {0};
    const bool ok = t->n_versions == 0 || engine_facts_ask(&f, t->arena, t->co->opt.search,
                                                           names, t->n_versions, &err);

    for (size_t i = 0; i < t->n_versions; i++) {
        struct trace_version *v = &t->versions[i];

        if (ok)
            look_at(t, &f, v);
        else
            fail(v, t->arena, &err);
        if (v->v == t->available && v->is != TRACE_EQUAL)
            trace_note(t, v->is, v->why, STR(""));
    }
}
