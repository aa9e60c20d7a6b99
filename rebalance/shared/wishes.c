#include "config.h"

#include "rebalance/shared/wishes.h"

#include "rebalance/shared/wish_send.h"
#include "rebalance/state/owned.h"
#include "rebalance/state/parts.h"

#include "src/base/clock.h"
#include "src/base/human.h"
#include "src/base/log.h"
#include "src/file/node_file.h"
#include "src/store/told.h"

#include <inttypes.h>

#define TAKE_MS 30000 /* nodes notice that one died, and share its topics anew, within this */
/* While ZooKeeper is away here, the owner may be gone likewise: whoever asks must not wait
 * long. */
#define CUT_OFF_MS 2000
#define END_MS     600000 /* the slowest request reads a log */
#define KEPT_MS    3600000

/* ---- the node that was asked ---- */

/* Append who owns the topic, as far as it was told. */
static void append_owner(struct coordinator *co, struct str topic, struct buf *b)
{
    struct store_copy *c = store_watch_copy(co->store_watch);
    const struct stored_told *t = c == NULL ? NULL : store_copy_told(c, topic);

    if (t == NULL) {
        buf_printf(b, "the node that owns topic %" STR_FMT, STR_ARG(topic));
    } else {
        buf_printf(b, "node %" STR_FMT ", which owned topic %" STR_FMT " ",
                   STR_ARG(t->node_name), STR_ARG(topic));
        human_seconds(b, (double)(clock_wall_ms() - t->at_ms) / 1000);
        buf_append(b, STR(" ago,"));
    }
    store_copy_unref(c);
}

static bool refuse_nobody(struct str owner, int64_t take_ms, struct err *err)
{
    return refuse(err, 503,
                  "%" STR_FMT " has not taken the command within %" PRId64 " s, so nothing was "
                  "done; fix: see in millrace status whether %s; once a node owns the "
                  "topic, send the command again",
                  STR_ARG(owner), take_ms / 1000,
                  take_ms == TAKE_MS ? "that node runs" : "ZooKeeper answers");
}

static int64_t take_ms(struct coordinator *co)
{
    struct cluster_view v = {0};

    cluster_look(co->cluster, &v);

    const int64_t ms = v.is_connected ? TAKE_MS : CUT_OFF_MS;

    cluster_view_free(&v);
    return ms;
}

static bool refuse_late(struct str owner, struct err *err)
{
    return refuse(err, 503,
                  "%" STR_FMT " has taken the command, but did not answer within %d min; fix: "
                  "look whether the command took effect, and send it again if it did not",
                  STR_ARG(owner), END_MS / 60000);
}

/* The wish has ended: what its owner answered, or why it could not. */
static bool read_answer(const struct stored_wish *w, int *status, struct buf *answer,
                        struct err *err)
{
    if (w->error.len > 0 && w->status == 503)
        return refuse(err, 503, "%" STR_FMT, STR_ARG(w->error));
    if (w->error.len > 0)
        return err_set(err, ERR_FATAL, "%" STR_FMT, STR_ARG(w->error));
    *status = w->status;
    buf_append(answer, w->answer);
    return true;
}

/* Whoever asked sees the effect in the next answer of this node. */
static void see_effect(struct coordinator *co, struct str method)
{
    struct err err = {0};

    if (str_equal(method, STR("GET")))
        return;
    if (!coordinator_refresh(co, &err))
        log_debug("the effect of a request shows later", KV("why", (const char *)err.msg));
    store_watch_read(co->store_watch); /* which has the jobs */
}

bool coordinator_pass_on(struct coordinator *co, const struct wish_request *r, int *status,
                         struct buf *answer, bool *nobody, struct err *err)
{
    const struct wish_limits limits = {take_ms(co), END_MS};
    char guid[37];
    struct arena *a = arena_new();
    struct buf owner = {0};
    struct stored_wish w = {.topic = r->topic,
                            .node = str_from(co->identity.uuid),
                            .user = r->user,
                            .method = r->method,
                            .target = r->target,
                            .body = r->body,
                            .repeatable = r->repeatable,
                            .at_ms = clock_wall_ms()};
    enum wish_end end;

    node_uuid_make(guid);
    w.guid = str_from(guid);
    append_owner(co, r->topic, &owner);
    log_info("a request waits for a topic's owner", KV("topic", r->topic),
             KV("method", r->method), KV("target", r->target), KV("owner", buf_str(&owner)));

    bool ok = wish_send(co->opt.store, &co->stop, a, &w, &limits, &end, err);

    *nobody = ok && end == WISH_NOBODY;
    if (ok && end != WISH_ANSWERED && stop_is_set(&co->stop))
        ok = refuse(err, 503, "the daemon is stopping");
    else if (ok && end == WISH_NOBODY)
        ok = refuse_nobody(buf_str(&owner), limits.take_ms, err);
    else if (ok && end == WISH_LATE)
        ok = refuse_late(buf_str(&owner), err);
    else
        ok = ok && read_answer(&w, status, answer, err);
    if (ok)
        see_effect(co, r->method);
    buf_free(&owner);
    arena_free(a);
    return ok;
}

/* ---- the owner ---- */

static void add_owned(struct coordinator *co, struct arena *a, struct str topic,
                      struct open_wish *owned, size_t *n)
{
    for (size_t i = 0; i < *n; i++)
        if (str_equal(owned[i].topic, topic))
            return;
    if (coordinator_owns(co, topic) && coordinator_find_term(co, topic, &owned[*n].term))
        owned[(*n)++].topic = arena_copy(a, topic);
}

/*
 * The topics that this node owns, and its term of each: also those that are deleted and still
 * have index versions.
 */
static struct open_wish *list_owned(struct coordinator *co, struct arena *a, size_t *n)
{
    struct definitions *d = coordinator_definitions(co);
    struct catalogue *c = coordinator_catalogue(co);
    struct open_wish *owned = arena_alloc(a, d->n_topics + c->n_versions + 1, sizeof(*owned));

    *n = 0;
    for (size_t i = 0; i < d->n_topics; i++)
        add_owned(co, a, d->topics[i].name, owned, n);
    for (size_t i = 0; i < c->n_versions; i++)
        if (definitions_topic(d, c->versions[i].topic) == NULL)
            add_owned(co, a, c->versions[i].topic, owned, n);
    catalogue_unref(c);
    definitions_unref(d);
    return owned;
}

bool coordinator_load_wishes(struct coordinator *co, struct arena *a, struct open_wish **out,
                             size_t *n, struct err *err)
{
    size_t n_owned, n_list = 0;
    const struct open_wish *owned = list_owned(co, a, &n_owned);
    struct str *topics = arena_alloc(a, n_owned + 1, sizeof(*topics));
    struct stored_wish *list = NULL;

    *n = 0;
    for (size_t i = 0; i < n_owned; i++)
        topics[i] = owned[i].topic;
    if (n_owned == 0 || stop_is_set(&co->stop))
        return true; /* whoever owns them next carries them out */
    if (!store_load_open_wishes(co->opt.store, a, topics, n_owned, &list, &n_list, err))
        return false;
    *out = arena_alloc(a, n_list + 1, sizeof(**out));
    for (size_t i = 0; i < n_list; i++)
        for (size_t k = 0; k < n_owned; k++)
            if (str_equal(list[i].topic, topics[k]))
                (*out)[(*n)++] = (struct open_wish){list[i].id, topics[k], owned[k].term};
    return true;
}

static struct wish_owner owner_of(const struct open_wish *o)
{
    return (struct wish_owner){o->topic, o->term, clock_wall_ms()};
}

bool coordinator_take_wish(struct coordinator *co, struct arena *a, const struct open_wish *o,
                           struct stored_wish *w, bool *run, struct err *err)
{
    const struct wish_owner owner = owner_of(o);
    enum wish_take how = TAKE_OVER;

    *run = false;
    if (!store_take_wish(co->opt.store, a, &owner, o->id, w, &how, err))
        return false;
    *run = how == TAKE_WON || how == TAKE_RUNS;
    return true;
}

/* The command may have started its topic again, which gave it a new term. */
bool coordinator_end_wish(struct coordinator *co, const struct open_wish *o,
                          const struct wish_answer *answer, struct err *err)
{
    struct wish_owner owner = owner_of(o);
    uint64_t term;

    if (coordinator_find_term(co, o->topic, &term))
        owner.term = term;
    return store_end_wish(co->opt.store, &owner, o->id, answer, err);
}

bool coordinator_prune_wishes(struct coordinator *co, struct err *err)
{
    return store_prune_wishes(co->opt.store, clock_wall_ms() - KEPT_MS, err);
}
