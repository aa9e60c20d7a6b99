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
    buf_free(&n->node);
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
    json_put_string(&w, STR("node"), buf_str(&n->node));
    json_close_object(&w);
}

bool fill_note_read(struct str json, struct fill_note *n)
{
    *n = (struct fill_note){0};
    (void)json_find_text(json, "/why", &n->why);
    (void)json_find_text(json, "/node", &n->node);
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

/* Everything that was read up to the start, or later; whether other nodes can wait for it. */
static bool take_position(struct pipeline *p, uint64_t start, struct fill_note *n,
                          struct err *err)
{
    bool complete;
    const uint64_t read = read_position_get(pipeline_read_position(p), &n->gtids, &complete);

    n->gtid = pipeline_has_gtid(p);
    if (!n->gtid || !complete || n->gtids.len == 0)
        say(n, STR("its server's transactions have no GTIDs for other nodes to wait for"));
    return read + READ_POSITION_GAP >= start ||
           err_set(err, ERR_RETRY,
                   "the stream has not reached the position from which the build reads");
}

bool fill_note_take(struct pipeline *p, const char *index, uint64_t start, const char *node,
                    struct fill_note *n, struct err *err)
{
    char identity[IDENTITY_CAP] = "";
    size_t n_targets;
    struct target **list = version_targets(p, index, &n_targets, err);

    *n = (struct fill_note){.anywhere = true};
    for (size_t i = 0; i < n_targets; i++)
        if (plan_n_topics(((const struct reading *)list[i]->plan)->plan) > 1)
            say(n, STR("its documents show tables of several topics"));
    if (pipeline_has_cascades(p, str_from(index)))
        say(n, STR("foreign keys change its rows, and the binlog does not say so"));
    buf_append(&n->node, str_from(node));
    (void)pipeline_identity(p, identity, sizeof(identity));
    buf_append(&n->identity, str_from(identity));
    version_targets_free(list, n_targets);
    return n_targets > 0 && take_position(p, start, n, err);
}
