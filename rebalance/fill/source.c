#include "config.h"

#include "rebalance/fill/source.h"

#include "rebalance/fill/targets.h"
#include "src/base/mem.h"
#include "sync/checkpoint/grace_period.h"
#include "sync/checkpoint/read_position.h"
#include "sync/delivery/document/target.h"
#include "sync/pipeline/pipeline.h"
#include "sync/position/gtid_set.h"
#include "sync/routing/compile.h"
#include "sync/server/known_server.h"
#include "sync/server/server_access.h"

#include <stdio.h>
#include <stdlib.h>

struct fill_source {
    unsigned refs; /* atomic */
    char *index;
    struct pipeline *pipeline; /* a reference; NULL: all below is set */

    char *topic;
    struct target **targets;
    size_t n_targets;
    struct server_access *server;
    struct known_server *known;
    struct read_position *position;
    struct grace_period *gate;
};

struct fill_source *fill_source_here(struct pipeline *p, const char *index)
{
    struct fill_source *s = mem_alloc(1, sizeof(*s));

    *s = (struct fill_source){.refs = 1, .index = mem_copy(index), .pipeline = pipeline_ref(p)};
    return s;
}

static bool set_position(struct fill_source *s, const struct fill_note *note, uint64_t start,
                         struct err *err)
{
    struct gtid_set *gtids = NULL;

    s->position = read_position_new(start);
    if (note->gtids.len == 0)
        return true;
    if (!gtid_set_parse(buf_str(&note->gtids), &gtids, err))
        return err_wrap(err, "the GTIDs stored for other nodes");
    read_position_set_gtids(s->position, gtids);
    gtid_set_free(gtids);
    return true;
}

static bool set_server(struct fill_source *s, const struct version_spec *v,
                       const struct fill_note *note, struct err *err)
{
    struct server_info info = {.gtid = note->gtid};

    snprintf(info.identity, sizeof(info.identity), "%.*s", (int)note->identity.len,
             note->identity.len > 0 ? note->identity.ptr : "");
    s->server = server_access_ref(v->server);
    s->known = known_server_new("");
    return known_server_meet(s->known, &info) || /* the first that it meets */
           err_set(err, ERR_RETRY, "the server of topic %s is another one", s->topic);
}

bool fill_source_away(const struct version_spec *v, const struct schema_list *tables,
                      const struct fill_note *note, uint64_t start, struct fill_source **out,
                      struct err *err)
{
    struct fill_source *s = mem_alloc(1, sizeof(*s));

    *s = (struct fill_source){.refs = 1,
                              .index = mem_copy(v->index),
                              .topic = mem_copy(v->topic),
                              .gate = grace_period_new()};

    const bool ok = set_server(s, v, note, err) && set_position(s, note, start, err) &&
                    version_kept_targets(v, tables, &s->targets, &s->n_targets, err);

    *out = ok ? s : NULL;
    if (!ok)
        fill_source_unref(s);
    return ok;
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
    server_access_unref(s->server);
    known_server_free(s->known);
    read_position_free(s->position);
    grace_period_unref(s->gate);
    pipeline_unref(s->pipeline);
    free(s->topic);
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
    return (struct read_links){.own.opt = {.topic = s->topic,
                                           .primary = s->server,
                                           .known = s->known,
                                           .reader = s->position,
                                           .stop = stop,
                                           .timeout_ms = timeout_ms}};
}

struct grace_period *fill_source_gate(struct fill_source *s)
{
    return s->pipeline != NULL ? pipeline_grace_period(s->pipeline, str_from(s->index))
                               : s->gate;
}
