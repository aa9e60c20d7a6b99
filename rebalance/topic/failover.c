#include "config.h"

#include "rebalance/topic/failover.h"

#include "rebalance/state/parts.h"
#include "rebalance/topic/topics.h"
#include "rebalance/version/build.h"
#include "rebalance/version/lineage.h"
#include "rebalance/version/trees.h"

#include "src/base/clock.h"
#include "src/base/failpoint.h"
#include "src/base/log.h"
#include "sync/source/start_point.h"

#include <stdio.h>

#define AGAIN_MS 2000

/*
 * Mark the indexes before the first write in the epoch, so that no epoch is used twice, even if
 * the store is lost.
 */
static bool mark_indexes(struct coordinator *co, struct str topic, uint64_t epoch,
                         const char *identity, struct err *err)
{
    const struct lineage now = {epoch, str_from(identity)};
    struct catalogue *c = coordinator_catalogue(co);
    bool ok = true;

    for (size_t i = 0; ok && i < c->n_versions; i++)
        if (catalogue_is_live(&c->versions[i]) && str_equal(c->versions[i].topic, topic))
            ok = coordinator_mark_lineage(co, &c->versions[i], &now, err);
    catalogue_unref(c);
    return ok;
}

/*
 * No checkpoint is stored if reading began at GTIDs and saw no transaction: it then begins
 * there again.
 */
static bool move_checkpoint(struct coordinator *co, const struct topic *t, const char *identity,
                            struct err *err)
{
    struct arena *a = arena_new();
    struct buf fingerprint = {0};
    struct stored_checkpoint cp;
    bool found = false;
    bool ok = store_load_checkpoint(co->opt.store, a, str_from(t->name), &cp, &found, err);

    if (ok && found) {
        cp = start_point_move(&cp, identity, t->next_epoch, &fingerprint);
        ok = store_save_checkpoint(co->opt.store, t->term, &cp, NULL, 0, err);
    }
    buf_free(&fingerprint);
    arena_free(a);
    return ok;
}

/*
 * Documents may be of transactions that an earlier daemon read, that the new server lacks, and
 * of which nothing was stored.  Both sides of a tree have these.
 */
static void doubt_trees(struct coordinator *co, const struct topic *t)
{
    if (co->trees == NULL || pipeline_has_caught_up(t->pipeline))
        return;
    log_info("another server follows before all of the earlier one was read: the topic's "
             "indexes get new anti-entropy trees, if they have any",
             KV("topic", (const char *)t->name));
    coordinator_end_trees(co, str_from(t->name));
}

/*
 * Each step may run twice.  If a step is not stored, the next pipeline finds the moved server
 * again.
 */
static bool follow_on(struct coordinator *co, struct topic *t, const char *moved_to,
                      struct err *err) NEEDS(co->admin_lock)
{
    const struct str name = str_from(t->name);
    char identity[IDENTITY_CAP];

    snprintf(identity, sizeof(identity), "%s", moved_to);
    if (t->next_epoch == 0 && !coordinator_new_epoch(co, name, &t->next_epoch, err))
        return false;
    if (!mark_indexes(co, name, t->next_epoch, identity, err))
        return false;
    FAILPOINT(lineage_marked);
    doubt_trees(co, t);
    coordinator_stop_topic(co, t);
    if (!move_checkpoint(co, t, identity, err))
        return false;
    log_info("following another server by GTIDs", KV("topic", (const char *)t->name),
             KV("server", (const char *)identity), KV("epoch", t->next_epoch));
    t->next_epoch = 0;
    return true;
}

void coordinator_follow_moved(struct coordinator *co)
{
    bool any = false;

    for (struct topic *t = co->topics->first; t != NULL; t = t->next) {
        const char *to = t->pipeline == NULL ? NULL : pipeline_moved_to(t->pipeline);
        struct err err = {0};

        if (to == NULL || clock_mono_ms() < t->move_again_ms)
            continue;
        any = true;
        if (follow_on(co, t, to, &err))
            continue;
        t->move_again_ms = clock_mono_ms() + AGAIN_MS;
        err_wrap(&err,
                 "the address leads to another server, which Millrace follows once this works");
        lock_acquire(&co->topics->lock);
        t->move_why = err;
        lock_release(&co->topics->lock);
        log_failure(LOG_WARN, &err, "cannot follow another server yet, trying again",
                    KV("topic", (const char *)t->name));
    }
    if (!any)
        return;
    coordinator_sync_topics(co);
    coordinator_resume_builds(co);
}
