#include "config.h"

#include "rebalance/state/owned.h"
#include "rebalance/state/parts.h"
#include "rebalance/state/pauses.h"
#include "rebalance/topic/orders.h"
#include "rebalance/topic/topics.h"

#include "src/base/clock.h"
#include "src/base/failpoint.h"

#include <stdlib.h>

/* tables: as after a reset, always 0 here. */
static void answer(struct buf *json, const char *schema, struct str topic, bool dry_run)
{
    struct json_writer w = {.out = json};

    json_open_object(&w);
    json_put_cstr(&w, STR("schema"), schema);
    json_put_string(&w, STR("topic"), topic);
    json_put_u64(&w, STR("tables"), 0);
    if (dry_run)
        json_put_bool(&w, STR("dry_run"), true);
    json_close_object(&w);
}

/* Leaves what is not known. */
static void note_log(struct coordinator *co, struct pause *p)
{
    struct pipeline_status s = {0};

    lock_acquire(&co->topics->lock);

    const struct topic *t = topics_find(co->topics, p->name);

    if (t != NULL && t->pipeline != NULL)
        pipeline_status(t->pipeline, &s);
    lock_release(&co->topics->lock);
    free(s.gtids);
    if (s.source.server_known)
        p->retention_s = s.source.server.retention_s;
    if (s.lag.since_ms < p->at_ms)
        p->needs_ms = s.lag.since_ms;
}

/* Whoever pauses what is paused gives another reason: the log is needed from the same place. */
static struct pause make_pause(struct coordinator *co, struct str topic, struct str reason)
{
    struct catalogue *c = coordinator_catalogue(co);
    const struct pause *old = catalogue_pause(c, PAUSE_TOPIC, topic);
    struct pause p = {.at_ms = clock_wall_ms()};

    if (old != NULL)
        p = *old;
    p.kind = STR(PAUSE_TOPIC);
    p.name = topic;
    p.reason = reason;
    if (old == NULL)
        note_log(co, &p);
    catalogue_unref(c);
    return p;
}

/* reason: NULL ends the pause. */
static bool set(struct coordinator *co, struct str topic, const struct str *reason,
                bool dry_run, struct err *err)
{
    if (!coordinator_begin(co, err))
        return false;

    struct definitions *d = coordinator_definitions(co);
    bool ok =
        definitions_topic(d, topic) != NULL ||
        refuse(err, 404, "there is no topic %" STR_FMT "; millrace topic list shows all topics",
               STR_ARG(topic));

    if (ok && !dry_run && reason != NULL) {
        const struct pause p = make_pause(co, topic, *reason);

        ok = pause_store(co->opt.store, &p, err);
    } else if (ok && !dry_run) {
        ok = pause_end(co->opt.store, STR(PAUSE_TOPIC), topic, err);
    }
    FAILPOINT(pause_stored);
    ok = ok && coordinator_refresh(co, err);
    if (ok && !dry_run && co->delivery != NULL)
        coordinator_sync_topics(co);
    definitions_unref(d);
    lock_release(&co->admin_lock);
    return ok;
}

bool coordinator_topic_pause(struct coordinator *co, struct str topic, struct str reason,
                             bool dry_run, struct buf *json, struct err *err)
{
    if (!set(co, topic, &reason, dry_run, err))
        return false;
    answer(json, "millrace/topic-pause/1", topic, dry_run);
    return true;
}

/*
 * A topic that begins now needs no retry; the owner of another node's topic follows what is
 * stored.
 */
bool coordinator_topic_resume(struct coordinator *co, struct str topic, bool dry_run,
                              struct buf *json, struct err *err)
{
    if (!set(co, topic, NULL, dry_run, err))
        return false;
    if (dry_run || (coordinator_is_shared(co) && !coordinator_owns(co, topic))) {
        answer(json, "millrace/topic-resume/1", topic, dry_run);
        return true;
    }
    lock_acquire(&co->topics->lock);

    struct topic *t = topics_find(co->topics, topic);
    const bool ok = t != NULL && t->pipeline != NULL;

    if (ok)
        pipeline_retry(t->pipeline);
    lock_release(&co->topics->lock);
    if (!ok)
        return refuse(err, 404,
                      "topic %" STR_FMT " is not running; fix: millrace status says why, "
                      "millrace topic list shows all topics",
                      STR_ARG(topic));
    if (co->delivery != NULL)
        delivery_probe(co->delivery);
    answer(json, "millrace/topic-resume/1", topic, false);
    return true;
}
