#include "config.h"

#include "rebalance/fill/source.h"

#include "rebalance/fill/targets.h"
#include "src/base/mem.h"
#include "sync/checkpoint/grace_period.h"
#include "sync/delivery/document/target.h"
#include "sync/pipeline/pipeline.h"
#include "sync/read/source_registry.h"
#include "sync/routing/compile.h"

#include <stdlib.h>
#include <string.h>

struct fill_source {
    unsigned refs; /* atomic */
    char *index;
    struct pipeline *pipeline; /* a reference; NULL: all below is set */

    struct target **targets;
    size_t n_targets;
    struct away own;
    struct away *others;
    size_t n_others;
    struct source_registry *registry; /* has the others */
    struct grace_period *gate;
};

struct fill_source *fill_source_here(struct pipeline *p, const char *index)
{
    struct fill_source *s = mem_alloc(1, sizeof(*s));

    *s = (struct fill_source){.refs = 1, .index = mem_copy(index), .pipeline = pipeline_ref(p)};
    return s;
}

bool fill_source_away(const struct version_spec *v, const struct schema_list *tables,
                      const struct fill_note *note, uint64_t start, struct fill_source **out,
                      struct err *err)
{
    struct fill_source *s = mem_alloc(1, sizeof(*s));

    *s = (struct fill_source){.refs = 1,
                              .index = mem_copy(v->index),
                              .registry = source_registry_new(),
                              .gate = grace_period_new()};

    const bool ok = away_init(&s->own, v->topic, &note->own, start, v->server, err) &&
                    version_kept_targets(v, tables, &s->targets, &s->n_targets, err);

    *out = ok ? s : NULL;
    if (!ok)
        fill_source_unref(s);
    return ok;
}

/* Who reads by the registry has a reference to the source. */
static void count_nothing(void *owner)
{
    (void)owner;
}

bool fill_source_add_topic(struct fill_source *s, const struct fill_point *p,
                           struct server_access *server, struct err *err)
{
    s->others = mem_resize(s->others, s->n_others + 1, sizeof(*s->others));

    struct away *a = &s->others[s->n_others++];
    char *topic = strndup(p->topic.ptr, p->topic.len);
    const bool ok = away_init(a, topic, p, p->version, server, err);

    free(topic);
    if (!ok)
        return false;
    source_registry_put(s->registry, buf_str(&p->topic),
                        &(struct registered_source){.server = a->server,
                                                    .known = a->known,
                                                    .reader = a->position,
                                                    .owner = s,
                                                    .ref = count_nothing,
                                                    .unref = count_nothing});
    return true;
}

struct fill_source *fill_source_ref(struct fill_source *s)
{
    __atomic_add_fetch(&s->refs, 1, __ATOMIC_RELAXED);
    return s;
}

void fill_source_unref(struct fill_source *s)
{
    if (s == NULL || __atomic_sub_fetch(&s->refs, 1, __ATOMIC_ACQ_REL) > 0)
        return;
    version_targets_free(s->targets, s->n_targets);
    source_registry_free(s->registry);
    for (size_t i = 0; i < s->n_others; i++)
        away_fini(&s->others[i]);
    free(s->others);
    away_fini(&s->own);
    grace_period_unref(s->gate);
    pipeline_unref(s->pipeline);
    free(s->index);
    free(s);
}

struct pipeline *fill_source_pipeline(const struct fill_source *s)
{
    return s->pipeline;
}

struct target *fill_source_target(struct fill_source *s, struct str table, struct err *err)
{
    if (s->pipeline != NULL)
        return version_target(s->pipeline, s->index, table, err);
    for (size_t i = 0; i < s->n_targets; i++)
        if (table.len == 0 || str_equal(str_from(s->targets[i]->table), table))
            return target_ref(s->targets[i]);
    err_set(err, ERR_REJECT, "table %" STR_FMT " does not belong to index %s any more",
            STR_ARG(table), s->index);
    return NULL;
}

struct target **fill_source_targets(struct fill_source *s, size_t *n, struct err *err)
{
    struct target **list;

    if (s->pipeline != NULL)
        return version_targets(s->pipeline, s->index, n, err);
    list = mem_alloc(s->n_targets + 1, sizeof(struct target *));
    for (size_t i = 0; i < s->n_targets; i++)
        list[i] = target_ref(s->targets[i]);
    *n = s->n_targets;
    return list;
}

bool fill_source_is_settled(const struct fill_source *s)
{
    return s->pipeline == NULL || pipeline_is_settled(s->pipeline);
}

struct read_links fill_source_links(struct fill_source *s, struct stop *stop,
                                    int64_t timeout_ms)
{
    if (s->pipeline != NULL)
        return pipeline_links(s->pipeline, stop, timeout_ms);
    return (struct read_links){.own.opt = {.topic = s->own.topic,
                                           .primary = s->own.server,
                                           .known = s->own.known,
                                           .reader = s->own.position,
                                           .stop = stop,
                                           .timeout_ms = timeout_ms},
                               .registry = s->registry};
}

struct grace_period *fill_source_gate(struct fill_source *s)
{
    return s->pipeline != NULL ? pipeline_grace_period(s->pipeline, str_from(s->index))
                               : s->gate;
}
