/* The fake coordinator, as others see it that share its store. */
#include "config.h"

#include "tests/fakes/fake_coordinator.h"

#include "rebalance/delayed/orders.h"
#include "rebalance/shared/others.h"
#include "rebalance/shared/wishes.h"
#include "rebalance/state/owned.h"
#include "src/base/arena.h"
#include "src/base/buf.h"
#include "src/store/store.h"

#include <stdio.h>
#include <string.h>

/* Here, so that the linker takes this file along with the other. */
struct fake_coordinator fake_coordinator;

bool coordinator_is_shared(const struct coordinator *co)
{
    (void)co;
    return fake_coordinator.is_shared;
}

bool coordinator_is_others(struct coordinator *co, struct str topic)
{
    (void)co;
    return fake_coordinator.others != NULL &&
           str_equal(topic, str_from(fake_coordinator.others));
}

bool coordinator_topic_of(struct coordinator *co, struct str table, struct buf *topic)
{
    const char *dot = memchr(table.ptr, '.', table.len);

    (void)co;
    if (dot != NULL)
        buf_append(topic, (struct str){table.ptr, (size_t)(dot - table.ptr)});
    return dot != NULL;
}

/* All topics have some. */
bool coordinator_topics_of_letters(struct coordinator *co, const struct dead_letter_filter *f,
                                   struct arena *a, struct str **topics, size_t *n,
                                   struct err *err)
{
    (void)co, (void)err;
    *topics = arena_alloc(a, 2, sizeof(**topics));
    if (f->topic.len > 0) {
        (*topics)[(*n)++] = arena_copy(a, f->topic);
        return true;
    }
    (*topics)[(*n)++] = STR("shop");
    if (fake_coordinator.others != NULL)
        (*topics)[(*n)++] = str_from(fake_coordinator.others);
    return true;
}

/* As with letters. */
bool coordinator_topics_of_delayed(struct coordinator *co, const struct delayed_order *o,
                                   struct arena *a, struct str **topics, size_t *n,
                                   struct err *err)
{
    const struct dead_letter_filter f = {.topic = o->topic};

    return coordinator_topics_of_letters(co, &f, a, topics, n, err);
}

bool coordinator_pass_on(struct coordinator *co, const struct wish_request *r, int *status,
                         struct buf *answer, bool *nobody, struct err *err)
{
    struct fake_coordinator *f = &fake_coordinator;

    (void)co;
    snprintf(f->call, sizeof(f->call), "pass on %.*s %.*s %.*s '%.*s' repeat=%d",
             (int)r->topic.len, r->topic.ptr, (int)r->method.len, r->method.ptr,
             (int)r->target.len, r->target.ptr, (int)r->body.len,
             r->body.len > 0 ? r->body.ptr : "", r->repeatable);
    *nobody = f->others_status == 0;
    if (*nobody)
        return err_set_code(err, ERR_REJECT, "http", 503, "nobody took it; fix: wait");
    *status = f->others_status;
    buf_append(answer, str_from(f->answer));
    return true;
}

bool coordinator_load_wishes(struct coordinator *co, struct arena *a, struct open_wish **out,
                             size_t *n, struct err *err)
{
    (void)co, (void)err;
    *n = 0;
    if (!__atomic_load_n(&fake_coordinator.wish_is_open, __ATOMIC_ACQUIRE))
        return true;
    *out = arena_alloc(a, 1, sizeof(**out));
    (*out)[(*n)++] = (struct open_wish){1, STR("shop"), 7};
    return true;
}

bool coordinator_take_wish(struct coordinator *co, struct arena *a, const struct open_wish *o,
                           struct stored_wish *w, bool *run, struct err *err)
{
    const char *target = strchr(fake_coordinator.wish, ' ') + 1;
    const char *body = strchr(target, ' ') + 1;

    (void)co, (void)a, (void)err;
    *w = (struct stored_wish){
        .id = o->id,
        .topic = o->topic,
        .node = STR("b"),
        .user = STR("uid 1"),
        .method = {fake_coordinator.wish, (size_t)(target - 1 - fake_coordinator.wish)},
        .target = {target, (size_t)(body - 1 - target)},
        .body = str_from(body),
        .at_ms = fake_coordinator.wish_ms};
    *run = true;
    return true;
}

bool coordinator_end_wish(struct coordinator *co, const struct open_wish *o,
                          const struct wish_answer *answer, struct err *err)
{
    struct fake_coordinator *f = &fake_coordinator;

    (void)co, (void)o, (void)err;
    snprintf(f->wish_answer, sizeof(f->wish_answer), "%.*s", (int)answer->body.len,
             answer->body.len > 0 ? answer->body.ptr : "");
    f->wish_status = answer->status;
    __atomic_store_n(&f->wish_is_open, false, __ATOMIC_RELEASE);
    return true;
}

bool coordinator_prune_wishes(struct coordinator *co, struct err *err)
{
    (void)co, (void)err;
    return true;
}
