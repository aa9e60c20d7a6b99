#include "config.h"

#include "rebalance/admin/node_list.h"
#include "rebalance/admin/nodes.h"
#include "rebalance/state/owned.h"
#include "rebalance/state/parts.h"

#include "src/base/log.h"
#include "src/store/told.h"

static bool has_wishes(const struct cluster_state *s, struct str id)
{
    return name_set_has(&s->evacuated, id) || cluster_state_wished(s, id, 0).len > 0;
}

static const struct node_entry *find_gone(const struct node_list *l, struct str name,
                                          struct err *err)
{
    const struct node_entry *e = node_list_find_gone(l, name, err);

    if (e == NULL && l->untold.kind != ERR_NONE)
        *err = l->untold; /* it may be one of those that are not in the list */
    if (e == NULL || !e->lives)
        return e;
    (void)refuse(err, 409,
                 "node %" STR_FMT " lives; fix: millrace node evacuate %" STR_FMT
                 ", stop it for good, then forget it",
                 STR_ARG(e->name), STR_ARG(e->name));
    return NULL;
}

static bool forget(struct coordinator *co, const struct node_list *l,
                   const struct node_entry *e, struct err *err)
{
    return (!has_wishes(&l->survey.state, e->id) ||
            cluster_ask(co->cluster, BARRIER_ASK_FORGET, e->id, STR(""), err)) &&
           store_delete_told_node(co->opt.store, e->id, err);
}

static void answer(const struct node_entry *e, bool dry_run, struct buf *json)
{
    struct json_writer w = {.out = json};

    json_open_object(&w);
    json_put_cstr(&w, STR("schema"), "millrace/node-forget/1");
    json_put_string(&w, STR("node"), e->name);
    json_put_string(&w, STR("id"), e->id);
    if (dry_run)
        json_put_bool(&w, STR("dry_run"), true);
    json_close_object(&w);
}

bool coordinator_forget_node(struct coordinator *co, struct str name, bool dry_run,
                             struct buf *json, struct err *err)
{
    const struct node_entry *e = NULL;
    struct node_list l = {0};
    bool ok;

    if (!coordinator_is_daemon(co, "forgetting a node", err))
        return false;
    if (!coordinator_is_shared(co)) /* which is refused */
        return cluster_ask(co->cluster, BARRIER_ASK_FORGET, name, STR(""), err);
    ok = node_list_load(co, &l, err) && (e = find_gone(&l, name, err)) != NULL &&
         (dry_run || forget(co, &l, e, err));
    if (ok && !dry_run) {
        log_info("a person had a node forgotten", KV("node", e->id), KV("name", e->name));
        store_watch_read(co->store_watch);
    }
    if (ok)
        answer(e, dry_run, json);
    node_list_free(&l);
    return ok;
}
