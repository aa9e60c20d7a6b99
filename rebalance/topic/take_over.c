#include "config.h"

#include "rebalance/topic/take_over.h"

#include "rebalance/dead_letter/letters.h"
#include "rebalance/dead_letter/purged.h"
#include "rebalance/dead_letter/replay.h"
#include "rebalance/state/owned.h"
#include "rebalance/version/settings.h"
#include "rebalance/version/version_drop.h"

#include "src/base/log.h"
#include "sync/delivery/delivery.h"

#include <stdlib.h>
#include <string.h>

bool coordinator_take_over(struct coordinator *co, struct str topic, struct err *err)
{
    coordinator_end_promoted(co, topic);
    coordinator_end_drops_soon(co);
    coordinator_settings_due(co);
    coordinator_look_for_replays(co);
    __atomic_store_n(&co->verifies_run, false, __ATOMIC_RELEASE);
    __atomic_store_n(&co->days_due, true, __ATOMIC_RELEASE);
    if (co->delivery != NULL)
        delivery_probe(co->delivery); /* a hold may rest on what we knew as a former owner */
    return coordinator_note_letters(co, topic, err) && coordinator_load_purged(co, topic, err);
}

/* What the last owner stored; the catalogue may be of before the topic was lost. */
static bool take_over(struct coordinator *co, struct topic *t, struct err *err)
    NEEDS(co->admin_lock)
{
    if (!t->needs_take_over)
        return true;
    t->needs_take_over =
        !coordinator_refresh(co, err) || !coordinator_take_over(co, str_from(t->name), err);
    return !t->needs_take_over;
}

bool coordinator_own_topic(struct coordinator *co, struct topic *t, struct err *err)
{
    struct buf thing = {0};

    if (!coordinator_owns(co, str_from(t->name))) {
        t->term_is_fresh = false;
        t->needs_take_over = true;
        t->next_epoch = 0; /* the other node may have used it */
    }
    buf_printf(&thing, "topic/%s", t->name);
    t->term_is_fresh =
        t->term_is_fresh || cluster_own(co->cluster, buf_str(&thing), &t->term, err);
    buf_free(&thing);
    return t->term_is_fresh && take_over(co, t, err);
}

static void own_idle(struct coordinator *co, struct topic *t) NEEDS(co->admin_lock)
{
    struct err err = {0};

    if (coordinator_own_topic(co, t, &err))
        log_info("this node has the topic now", KV("topic", (const char *)t->name));
    else
        log_debug("will try again to take a topic", KV("topic", (const char *)t->name),
                  KV("why", (const char *)err.msg));
}

static void own_deleted(struct coordinator *co, struct str name) NEEDS(co->admin_lock)
{
    struct topic t = {.name = strndup(name.ptr, name.len)};

    own_idle(co, &t);
    if (t.term != 0 && t.needs_take_over) { /* so that it is tried again */
        struct buf thing = {0};

        buf_printf(&thing, "topic/%s", t.name);
        store_lose_term(co->opt.store, buf_str(&thing));
        buf_free(&thing);
    }
    free(t.name);
}

void coordinator_own_idle(struct coordinator *co, const struct catalogue *c)
{
    for (struct topic *t = co->topics->first; t != NULL; t = t->next)
        if (t->pipeline == NULL && coordinator_shall_own(co, str_from(t->name)) &&
            (t->needs_take_over || !coordinator_owns(co, str_from(t->name))))
            own_idle(co, t);
    for (size_t i = 0; i < c->n_versions; i++)
        if (topics_find(co->topics, c->versions[i].topic) == NULL &&
            coordinator_shall_own(co, c->versions[i].topic) &&
            !coordinator_owns(co, c->versions[i].topic))
            own_deleted(co, c->versions[i].topic);
}
