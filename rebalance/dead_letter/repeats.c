/*
 * Repeat deletes some time after their topic began to be followed.
 *
 * An earlier daemon that was killed or lost the topic may have left writes in flight.  The
 * engine may apply them late, after it has forgotten the deletes that follow them.  Only that
 * daemon knew which writes had no answer.  So once no such copy can arrive any more, repeat all
 * deletes that are not final: those that the earlier daemon still had to repeat, and those
 * written since.
 *
 * @thread replay
 */
#include "config.h"

#include "rebalance/dead_letter/repeats.h"

#include "rebalance/state/parts.h"

#include "rebalance/build/stored_deletes.h"
#include "src/base/clock.h"
#include "src/base/log.h"
#include "src/base/mem.h"
#include "sync/delivery/delivery.h"
#include "sync/routing/routing.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#define AGAIN_MS 1000

struct repeated_index {
    struct repeated_index *next;
    struct stored_deletes *deletes; /* NULL: done */
    char index[];
};

struct repeated_topic {
    struct repeated_topic *next;
    struct pipeline *pipeline; /* a reference */
    char *topic;
    int64_t since_ms; /* monotonic: when it began to be followed */
    int64_t again_ms; /* monotonic: idle until then */
    struct repeated_index *indexes;
    bool is_begun, is_over;
    bool is_seen; /* the topic still has this pipeline */
};

struct repeats {
    struct repeated_topic *first;
};

/* ---- the list ---- */

static void free_topic(struct repeated_topic *r)
{
    while (r->indexes != NULL) {
        struct repeated_index *x = r->indexes;

        r->indexes = x->next;
        stored_deletes_free(x->deletes);
        free(x);
    }
    pipeline_unref(r->pipeline);
    free(r->topic);
    free(r);
}

static void drop_unseen(struct repeats *all)
{
    for (struct repeated_topic **at = &all->first; *at != NULL;) {
        struct repeated_topic *r = *at;

        if (r->is_seen) {
            r->is_seen = false;
            at = &r->next;
            continue;
        }
        *at = r->next;
        free_topic(r);
    }
}

struct repeats *repeats_new(void)
{
    return mem_alloc(1, sizeof(struct repeats));
}

void repeats_free(struct repeats *all)
{
    if (all == NULL)
        return;
    drop_unseen(all);
    assert(all->first == NULL);
    free(all);
}

static struct repeated_topic *find_or_add(struct coordinator *co, const struct topic *t)
{
    struct repeated_topic *r = co->repeats->first;

    while (r != NULL && r->pipeline != t->pipeline)
        r = r->next;
    if (r != NULL)
        return r;
    r = mem_alloc(1, sizeof(*r));
    r->pipeline = pipeline_ref(t->pipeline);
    r->topic = mem_copy(t->name);
    r->since_ms = clock_mono_ms();
    r->next = co->repeats->first;
    co->repeats->first = r;
    return r;
}

static void see_pipelines(struct coordinator *co)
{
    lock_acquire(&co->topics->lock);
    for (const struct topic *t = co->topics->first; t != NULL; t = t->next)
        if (t->pipeline != NULL)
            find_or_add(co, t)->is_seen = true;
    lock_release(&co->topics->lock);
}

/* ---- one topic ---- */

static void add_index(struct coordinator *co, struct repeated_topic *r,
                      const struct stored_version *v)
{
    struct buf name = {0};
    struct repeated_index *x;

    coordinator_index_name(&name, v->index, v->number);
    x = mem_alloc(1, sizeof(*x) + name.len + 1);
    memcpy(x->index, name.ptr, name.len);
    x->deletes = stored_deletes_new(co->opt.store, co->delivery, x->index,
                                    pipeline_final_version(r->pipeline) + 1);
    x->next = r->indexes;
    r->indexes = x;
    buf_free(&name);
}

/* Save the position first, so that all deletes so far are in the store. */
static bool begin(struct coordinator *co, struct repeated_topic *r, struct err *err)
{
    struct catalogue *c;

    if (!pipeline_save(r->pipeline, err))
        return false;
    c = coordinator_catalogue(co);
    for (size_t i = 0; i < c->n_versions; i++)
        if (catalogue_is_live(&c->versions[i]) &&
            str_equal(c->versions[i].topic, str_from(r->topic)))
            add_index(co, r, &c->versions[i]);
    catalogue_unref(c);
    r->is_begun = true;
    return true;
}

static bool is_live(struct coordinator *co, const char *index)
{
    struct catalogue *c = coordinator_catalogue(co);
    const struct stored_version *v = NULL;
    struct str alias;
    uint64_t number;

    if (coordinator_split_index_name(index, &alias, &number))
        v = catalogue_number(c, alias, number);

    const bool live = v != NULL && catalogue_is_live(v);

    catalogue_unref(c);
    return live;
}

/* If the table is stopped, repeating does not help: only a build corrects all its documents. */
static bool go_on(struct coordinator *co, const struct repeated_topic *r,
                  struct repeated_index *x, struct err *err)
{
    struct target *t = pipeline_target(r->pipeline, str_from(x->index), STR(""));
    bool is_over, ok = true;

    if (t == NULL) {
        is_over = !is_live(co, x->index);
        ok = is_over || err_set(err, ERR_RETRY, "its topic is not running now");
    } else if (__atomic_load_n(&((struct reading *)t->plan)->stopped, __ATOMIC_RELAXED)) {
        is_over = true;
    } else {
        ok = stored_deletes_go_on(x->deletes, t, &co->stop, err);
        is_over = ok && stored_deletes_are_done(x->deletes);
    }
    target_unref(t);
    if (is_over) {
        stored_deletes_free(x->deletes);
        x->deletes = NULL;
    }
    return ok;
}

static void look(struct coordinator *co, struct repeated_topic *r)
{
    struct err err = {0};
    bool ok = r->is_begun || begin(co, r, &err);
    bool is_over = ok;

    for (struct repeated_index *x = r->indexes; x != NULL; x = x->next) {
        ok = (x->deletes == NULL || go_on(co, r, x, &err)) && ok;
        is_over = is_over && x->deletes == NULL;
    }
    if (!ok) {
        log_debug("deletes wait to be repeated", KV("topic", (const char *)r->topic),
                  KV("why", (const char *)err.msg));
        r->again_ms = clock_mono_ms() + AGAIN_MS;
    }
    if (is_over)
        pipeline_deletes_are_repeated(r->pipeline);
    r->is_over = is_over;
}

/* 0: now; INT64_MAX: never. */
static int64_t due_in_ms(const struct coordinator *co, const struct repeated_topic *r)
{
    const int64_t timeout_ms = delivery_get(co->delivery).request_timeout_ms;
    const int64_t settled_ms = r->since_ms + DELIVERY_COPY_TIMEOUTS * timeout_ms;
    const int64_t at_ms = settled_ms > r->again_ms ? settled_ms : r->again_ms;
    const int64_t now_ms = clock_mono_ms();

    return r->is_over ? INT64_MAX : at_ms < now_ms ? 0 : at_ms - now_ms;
}

int64_t coordinator_repeats_due_in_ms(const struct coordinator *co)
{
    int64_t ms = INT64_MAX;

    for (const struct repeated_topic *r = co->repeats->first; r != NULL; r = r->next) {
        const int64_t due_ms = due_in_ms(co, r);

        ms = due_ms < ms ? due_ms : ms;
    }
    return ms;
}

void coordinator_repeat_deletes(struct coordinator *co)
{
    see_pipelines(co);
    for (struct repeated_topic *r = co->repeats->first; r != NULL && !stop_is_set(&co->stop);
         r = r->next)
        if (r->is_seen && due_in_ms(co, r) == 0)
            look(co, r);
    drop_unseen(co->repeats);
}
