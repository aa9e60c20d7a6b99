#include "config.h"

#include "rebalance/node.h"

#include "src/base/clock.h"
#include "src/base/failpoint.h"
#include "src/base/log.h"
#include "src/json.h"
#include "sync/start_point.h"

#include <stdio.h>

#define AGAIN_MS 2000

/* {"_meta":...} as it is, with the lineage of now. */
static bool format_lineage(struct str mapping, const struct stored_version *v, uint64_t epoch,
                           const char *identity, struct buf *body)
{
    struct json_writer w = {.out = body};
    struct json_reader r;
    struct str meta, name, member;

    json_open_object(&w);
    json_write_key(&w, STR("_meta"));
    json_open_object(&w);
    if (json_find(mapping, "/_meta", &meta)) {
        json_reader_init(&r, meta);
        if (!json_enter_object(&r))
            return false;
        while (json_next_member(&r, &name) && json_read_raw(&r, &member))
            if (!str_equal(name, STR("_millrace")))
                json_put_raw(&w, name, member);
    }
    node_put_lineage(&w, v, epoch, identity);
    json_close_object(&w);
    json_close_object(&w);
    return true;
}

/* An index that somebody has deleted keeps nothing. */
static bool mark_index(struct coordinator *co, const struct stored_version *v, uint64_t epoch,
                       const char *identity, struct err *err)
{
    struct buf index = {0}, mapping = {0}, body = {0};

    node_index_name(&index, v->index, v->number);

    bool ok = search_get_mapping(co->opt.search, buf_str(&index), &mapping, err) &&
                    (format_lineage(buf_str(&mapping), v, epoch, identity, &body) ||
                     err_set(err, ERR_RETRY, "the mapping of %" STR_FMT " cannot be read",
                             STR_ARG(buf_str(&index)))) &&
                    search_put_mapping(co->opt.search, buf_str(&index), buf_str(&body), err);

    if (!ok && err->code == 404)
        ok = true;
    buf_free(&index);
    buf_free(&mapping);
    buf_free(&body);
    return ok;
}

/* Before the first write in it, so that an epoch is never used twice, also when the store is
 * lost. */
static bool mark_indexes(struct coordinator *co, struct str topic, uint64_t epoch,
                         const char *identity, struct err *err)
{
    struct catalogue *c = node_catalogue(co);
    bool ok = true;

    for (size_t i = 0; ok && i < c->n_versions; i++)
        if (catalogue_is_live(&c->versions[i]) && str_equal(c->versions[i].topic, topic))
            ok = mark_index(co, &c->versions[i], epoch, identity, err);
    node_catalogue_free(c);
    return ok;
}

/* Nothing is stored yet where reading began at GTIDs and met no transaction: it begins so again. */
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

/* Each step may be done twice; what was not stored is met again by the pipeline that starts. */
static bool follow_on(struct coordinator *co, struct topic *t, const char *moved_to,
                      struct err *err)
{
    const struct str name = str_from(t->name);
    char identity[IDENTITY_CAP];

    snprintf(identity, sizeof(identity), "%s", moved_to);
    if (t->next_epoch == 0 && !node_new_epoch(co, name, &t->next_epoch, err))
        return false;
    if (!mark_indexes(co, name, t->next_epoch, identity, err))
        return false;
    FAILPOINT(lineage_marked);
    node_stop_topic(co, t);
    if (!move_checkpoint(co, t, identity, err))
        return false;
    log_info("another server is followed on by GTIDs", KV("topic", (const char *)t->name),
             KV("server", (const char *)identity), KV("epoch", t->next_epoch));
    t->next_epoch = 0;
    return true;
}

void node_follow_moved(struct coordinator *co)
{
    bool any = false;

    for (struct topic *t = co->topics; t != NULL; t = t->next) {
        const char *to = t->pipeline == NULL ? NULL : pipeline_moved_to(t->pipeline);
        struct err err = {0};

        if (to == NULL || clock_mono_ms() < t->move_again_ms)
            continue;
        any = true;
        if (follow_on(co, t, to, &err))
            continue;
        t->move_again_ms = clock_mono_ms() + AGAIN_MS;
        err_wrap(&err, "another server is behind the address, and is followed on once this works");
        pthread_mutex_lock(&co->lock);
        t->move_why = err;
        pthread_mutex_unlock(&co->lock);
        log_failure(LOG_WARN, &err, "another server is not followed yet, trying again",
                    KV("topic", (const char *)t->name));
    }
    if (!any)
        return;
    node_sync_topics(co);
    node_resume_builds(co);
}
