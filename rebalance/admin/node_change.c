#include "config.h"

#include "rebalance/admin/node_list.h"
#include "rebalance/admin/nodes.h"
#include "rebalance/cluster/cluster_change.h"
#include "rebalance/state/owned.h"
#include "rebalance/state/parts.h"
#include "rebalance/topic/things.h"

#include "rebalance/state/pauses.h"
#include "src/base/log.h"

#include <string.h>

/* A request, with what it was found to mean. */
struct changing {
    const struct node_request *r;
    struct arena *arena;
    struct node_list nodes;
    const struct node_entry *node; /* NULL: none, or any */
    struct cluster_change change;
    struct buf note; /* why there is nothing to do; empty: there is */
};

static const char *const names[] = {
    [BARRIER_ASK_REBALANCE] = "rebalance", [BARRIER_ASK_EVACUATE] = "evacuate",
    [BARRIER_ASK_ADMIT] = "admit",         [BARRIER_ASK_FORGET] = "forget",
    [BARRIER_ASK_MOVE] = "move",
};

/* ---- refusals ---- */

/* Some node has to take what this one gives away. */
static bool may_evacuate(const struct changing *c, struct err *err)
{
    for (size_t i = 0; i < c->nodes.survey.n; i++) {
        const struct str id = buf_str(&c->nodes.survey.nodes[i].id);

        if (!str_equal(id, c->node->id) && !name_set_has(&c->nodes.survey.state.evacuated, id))
            return true;
    }
    return refuse(err, 409,
                  "no other node could take the topics of %" STR_FMT "; fix: start one, or "
                  "millrace node admit one that is evacuated",
                  STR_ARG(c->node->name));
}

static bool may_move_to(const struct changing *c, struct err *err)
{
    static const struct {
        const char *state, *why;
    } reasons[] = {
        {"left out", "does not answer; fix: choose another node of millrace node list"},
        {"evacuated", "is evacuated and takes nothing; fix: millrace node admit it first"},
        {"evacuating", "is evacuated and takes nothing; fix: millrace node admit it first"},
    };

    if (!c->node->lives)
        return refuse(err, 409,
                      "node %" STR_FMT
                      " does not live; fix: start it, or choose another node of "
                      "millrace node list",
                      STR_ARG(c->node->name));
    for (size_t i = 0; i < ARRAY_LEN(reasons); i++)
        if (strcmp(c->node->state, reasons[i].state) == 0)
            return refuse(err, 409, "node %" STR_FMT " %s", STR_ARG(c->node->name),
                          reasons[i].why);
    return true;
}

/* ---- what it means ---- */

static void find_things(struct coordinator *co, struct changing *c)
{
    struct barrier_thing *things;

    c->change.n_things = coordinator_things(co, c->arena, &things);
    c->change.things = things;
}

static const struct barrier_thing *thing_of(const struct changing *c)
{
    for (size_t i = 0; i < c->change.n_things; i++)
        if (str_equal(c->change.things[i].name, c->change.thing))
            return &c->change.things[i];
    return NULL;
}

static bool find_topic(struct changing *c, struct err *err)
{
    struct buf thing = {0};

    buf_printf(&thing, "topic/%" STR_FMT, STR_ARG(c->r->topic));
    c->change.thing = arena_copy(c->arena, buf_str(&thing));
    buf_free(&thing);
    return thing_of(c) != NULL ||
           refuse(err, 404, "there is no topic %" STR_FMT "; fix: see millrace topic list",
                  STR_ARG(c->r->topic));
}

static bool find_node(struct changing *c, struct err *err)
{
    if (c->r->ask == BARRIER_ASK_REBALANCE ||
        (c->r->ask == BARRIER_ASK_MOVE && str_equal(c->r->node, STR("any"))))
        return true;
    c->node = node_list_find(&c->nodes, c->r->node, err);
    if (c->node == NULL)
        return false;
    c->change.node = c->node->id;
    return c->r->ask == BARRIER_ASK_EVACUATE ? may_evacuate(c, err)
           : c->r->ask == BARRIER_ASK_MOVE   ? may_move_to(c, err)
                                             : true;
}

/* ---- nothing to do ---- */

static bool is_evacuated(const struct changing *c)
{
    return name_set_has(&c->nodes.survey.state.evacuated, c->node->id);
}

static bool is_wished(const struct changing *c, struct str thing)
{
    return cluster_state_wish(&c->nodes.survey.state, thing).len > 0;
}

/* Whether a person moved the thing, or one that goes with it. */
static bool is_any_wished(const struct changing *c)
{
    const struct barrier_thing *t = thing_of(c);

    for (size_t i = 0; t->group.len > 0 && i < c->change.n_things; i++)
        if (str_equal(c->change.things[i].group, t->group) &&
            is_wished(c, c->change.things[i].name))
            return true;
    return is_wished(c, c->change.thing);
}

static void note_move(struct changing *c)
{
    const struct cluster_survey *s = &c->nodes.survey;
    const struct node_data *owner = cluster_survey_owner(s, c->change.thing);

    if (c->node == NULL && !is_any_wished(c))
        buf_printf(&c->note,
                   "nobody has moved topic %" STR_FMT
                   " to a node, so the cluster chooses already; nothing to do",
                   STR_ARG(c->r->topic));
    else if (c->node != NULL && owner != NULL && str_equal(buf_str(&owner->id), c->node->id) &&
             str_equal(cluster_state_wish(&s->state, c->change.thing), c->node->id))
        buf_printf(&c->note,
                   "topic %" STR_FMT " was moved to %" STR_FMT
                   " already, and is there; nothing to do",
                   STR_ARG(c->r->topic), STR_ARG(c->node->name));
}

/* While a rebalance runs, or is due, nobody knows. */
static void note_rebalance(struct changing *c)
{
    struct buf lines = {0};

    if (c->nodes.survey.view.is_normal &&
        cluster_change_list(&lines, &c->change, &c->nodes.survey) == 0)
        buf_append(&c->note, STR("the topics are shared evenly already; nothing to do"));
    buf_free(&lines);
}

static void find_note(struct changing *c)
{
    switch (c->r->ask) {
    case BARRIER_ASK_REBALANCE: note_rebalance(c); break;
    case BARRIER_ASK_MOVE: note_move(c); break;
    case BARRIER_ASK_ADMIT:
        if (!is_evacuated(c))
            buf_printf(&c->note, "%" STR_FMT " takes topics already%s; nothing to do",
                       STR_ARG(c->node->name), c->node->lives ? "" : ", once it lives");
        break;
    case BARRIER_ASK_EVACUATE:
        if (is_evacuated(c) && (!c->node->lives || strcmp(c->node->state, "evacuated") == 0))
            buf_printf(&c->note, "%" STR_FMT " is evacuated already; nothing to do",
                       STR_ARG(c->node->name));
        break;
    case BARRIER_ASK_FORGET: break;
    }
}

/* ---- the answer ---- */

static void put_lines(struct json_writer *w, struct str lines)
{
    json_open_array(w);
    for (size_t at = 0; at < lines.len;) {
        const char *end = memchr(lines.ptr + at, '\n', lines.len - at);
        const size_t len = (size_t)(end - lines.ptr) - at;

        json_write_string(w, (struct str){lines.ptr + at, len});
        at += len + 1;
    }
    json_close_array(w);
}

/* The topics that go with the one that moves. */
static void put_together(struct json_writer *w, const struct changing *c)
{
    const struct barrier_thing *t = thing_of(c);

    json_write_key(w, STR("together"));
    json_open_array(w);
    for (size_t i = 0; t != NULL && t->group.len > 0 && i < c->change.n_things; i++)
        if (str_equal(c->change.things[i].group, t->group))
            json_write_string(w, c->change.things[i].name);
    json_close_array(w);
}

/* Such a topic does not run at its new node. */
static bool is_paused(struct coordinator *co, struct str topic)
{
    struct catalogue *c = coordinator_catalogue(co);
    const bool paused = catalogue_pause(c, PAUSE_TOPIC, topic) != NULL;

    catalogue_unref(c);
    return paused;
}

static void answer(struct coordinator *co, const struct changing *c, struct buf *json)
{
    struct json_writer w = {.out = json};
    struct buf lines = {0};

    (void)cluster_change_list(&lines, &c->change, &c->nodes.survey);
    json_open_object(&w);
    json_put_cstr(&w, STR("schema"), "millrace/node-change/1");
    json_put_cstr(&w, STR("action"), names[c->r->ask]);
    json_put_string(&w, STR("node"), c->node != NULL ? c->node->name : STR(""));
    json_put_string(&w, STR("id"), c->change.node);
    json_put_string(&w, STR("topic"), c->r->topic);
    put_together(&w, c);
    json_put_bool(&w, STR("paused"), is_paused(co, c->r->topic));
    json_put_bool(&w, STR("dry_run"), c->r->dry_run);
    json_write_key(&w, STR("moves"));
    put_lines(&w, buf_str(&lines));
    json_put_string(&w, STR("note"), buf_str(&c->note));
    json_close_object(&w);
    buf_free(&lines);
}

static bool ask(struct coordinator *co, const struct changing *c, struct err *err)
{
    if (c->note.len > 0)
        return true;
    if (!cluster_ask(co->cluster, c->r->ask, c->change.node, c->change.thing, err))
        return false;
    log_info("a person asked the cluster", KV("action", names[c->r->ask]),
             KV("node", c->change.node), KV("thing", c->change.thing));
    return true;
}

bool coordinator_change_nodes(struct coordinator *co, const struct node_request *r,
                              struct buf *json, struct err *err)
{
    struct changing c = {.r = r, .change = {.ask = r->ask, .node = STR(""), .thing = STR("")}};
    bool ok;

    if (!coordinator_is_daemon(co, "moving topics", err))
        return false;
    if (!coordinator_is_shared(co)) /* which is refused */
        return cluster_ask(co->cluster, r->ask, r->node, r->topic, err);
    c.arena = arena_new();
    find_things(co, &c);
    ok = (r->ask != BARRIER_ASK_MOVE || find_topic(&c, err)) &&
         node_list_load(co, &c.nodes, err) && find_node(&c, err);
    if (ok)
        find_note(&c);
    ok = ok && (r->dry_run || ask(co, &c, err));
    if (ok)
        answer(co, &c, json);
    buf_free(&c.note);
    node_list_free(&c.nodes);
    arena_free(c.arena);
    return ok;
}
