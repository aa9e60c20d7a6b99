#include "config.h"

#include "rebalance/fill/source.h"

#include "rebalance/fill/targets.h"
#include "src/format/json.h"
#include "sync/checkpoint/read_position.h"
#include "sync/document/plan.h"
#include "sync/pipeline/pipeline.h"
#include "sync/routing/routing.h"
#include "sync/server/server_info.h"

void fill_note_fini(struct fill_note *n)
{
    buf_free(&n->why);
    buf_free(&n->identity);
    buf_free(&n->gtids);
}

void fill_note_append(struct buf *json, const struct fill_note *n)
{
    struct json_writer w = {.out = json};

    json_open_object(&w);
    json_put_bool(&w, STR("anywhere"), n->anywhere);
    json_put_string(&w, STR("why"), buf_str(&n->why));
    json_put_string(&w, STR("identity"), buf_str(&n->identity));
    json_put_string(&w, STR("gtids"), buf_str(&n->gtids));
    json_put_bool(&w, STR("gtid"), n->gtid);
    json_close_object(&w);
}

bool fill_note_read(struct str json, struct fill_note *n)
{
    *n = (struct fill_note){0};
    (void)json_find_text(json, "/why", &n->why);
    return json_find_bool(json, "/anywhere", &n->anywhere) &&
           json_find_bool(json, "/gtid", &n->gtid) &&
           json_find_text(json, "/identity", &n->identity) &&
           json_find_text(json, "/gtids", &n->gtids);
}

static void say(struct fill_note *n, struct str why)
{
    n->anywhere = false;
    buf_clear(&n->why);
    buf_append(&n->why, why);
}

bool fill_note_take(struct pipeline *p, const char *index, struct fill_note *n, struct err *err)
{
    char identity[IDENTITY_CAP] = "";
    size_t n_targets;
    struct target **list = version_targets(p, index, &n_targets, err);
    const bool ok = n_targets > 0;
    bool complete;

    *n = (struct fill_note){.anywhere = true, .gtid = pipeline_has_gtid(p)};
    for (size_t i = 0; i < n_targets; i++)
        if (plan_n_topics(((const struct reading *)list[i]->plan)->plan) > 1)
            say(n, STR("its documents show tables of several topics"));
    if (pipeline_has_cascades(p, str_from(index)))
        say(n, STR("foreign keys change its rows, and the binlog does not say so"));
    (void)pipeline_identity(p, identity, sizeof(identity));
    buf_append(&n->identity, str_from(identity));
    (void)read_position_get(pipeline_read_position(p), &n->gtids, &complete);
    version_targets_free(list, n_targets);
    return ok;
}
