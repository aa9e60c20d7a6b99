#include "config.h"

#include "rebalance/member/member.h"

#include "rebalance/member/member_parts.h"

#include "src/base/clock.h"
#include "src/base/mem.h"

#include <stdlib.h>

#define ASK_LIMIT_MS 12000 /* the barrier's own limit is shorter */

/* ---- life ---- */

struct member *member_new(const struct barrier_options *options, struct str store,
                          cluster_changed_fn changed, void *ctx)
{
    struct member *m = mem_alloc(1, sizeof(*m));

    m->magic = MAGIC_member;
    m->changed = changed;
    m->ctx = ctx;
    m->suspend_ms = options->suspend_ms;
    m->barrier = barrier_new(options);
    m->inbox = notes_new();
    m->answers = notes_new();
    m->later = notes_new();
    m->orders = orders_new();
    buf_append(&m->id, options->id);
    buf_append(&m->store, store);
    stop_init(&m->stop);
    lock_init(&m->ask_lock, LOCK_private);
    lock_init(&m->lock, LOCK_private);
    lock_init_cond(&m->answered_cond);
    return m;
}

void member_wake(void *member)
{
    struct member *m = MAGIC_CAST(member, member);

    stop_nudge(&m->stop);
}

void member_start(struct member *m, struct coordination *c)
{
    m->c = c;
    m->thread = thread_start("cluster", member_run, m);
}

void member_stop(struct member *m)
{
    if (m->c == NULL)
        return;
    stop_set(&m->stop);
    pthread_join(m->thread, NULL);
    m->c = NULL;
}

void member_free(struct member *m)
{
    if (m == NULL)
        return;
    barrier_free(m->barrier);
    barrier_actions_free(&m->actions);
    notes_free(m->inbox);
    notes_free(m->answers);
    notes_free(m->later);
    orders_free(m->orders);
    buf_free(&m->id);
    buf_free(&m->store);
    buf_free(&m->registering);
    buf_free(&m->answer);
    cluster_view_free(&m->view);
    cluster_survey_free(&m->survey);
    stop_fini(&m->stop);
    pthread_cond_destroy(&m->answered_cond);
    lock_fini(&m->lock);
    lock_fini(&m->ask_lock);
    MAGIC_END(member, m);
    free(m);
}

/* ---- of other threads ---- */

static void post(struct member *m, struct barrier_event e)
{
    notes_put(m->inbox, &e, 0);
    stop_nudge(&m->stop);
}

void member_set_things(struct member *m, const struct barrier_thing *things, size_t n,
                       uint64_t revision)
{
    post(m, (struct barrier_event){
                .kind = BARRIER_THINGS, .things = things, .n = n, .revision = revision});
}

enum cluster_wish member_wish(struct member *m, struct str thing)
{
    return orders_wish(m->orders, thing);
}

size_t member_orders(struct member *m, struct arena *a, struct cluster_order **out)
{
    return orders_all(m->orders, a, out);
}

void member_has(struct member *m, struct str thing)
{
    post(m, (struct barrier_event){.kind = BARRIER_STARTED, .thing = thing});
}

void member_ended(struct member *m, struct str thing)
{
    if (orders_end(m->orders, thing))
        post(m, (struct barrier_event){.kind = BARRIER_STOPPED, .thing = thing});
}

void member_refused(struct member *m, struct str thing)
{
    if (orders_refuse(m->orders, thing))
        post(m, (struct barrier_event){.kind = BARRIER_REFUSED, .thing = thing});
}

bool member_ask(struct member *m, enum barrier_ask ask, struct str node, struct str thing,
                struct err *err)
{
    const int64_t until_ms = clock_mono_ms() + ASK_LIMIT_MS;
    uint64_t token;
    bool ok;

    lock_acquire(&m->ask_lock);
    token = ++m->asked;
    post(m,
         (struct barrier_event){
             .kind = BARRIER_ASKED, .ask = ask, .node = node, .thing = thing, .token = token});
    lock_acquire(&m->lock);
    while (m->answered < token && lock_wait_until(&m->lock, &m->answered_cond, until_ms))
        ;
    ok = m->answered == token && m->is_done;
    if (!ok)
        err_set(err, ERR_RETRY, "%s; fix: millrace node list says what it waits for",
                m->answered == token ? m->answer.ptr
                                     : "the coordination did not take the request in time");
    lock_release(&m->lock);
    lock_release(&m->ask_lock);
    return ok;
}

void member_look(struct member *m, struct cluster_view *out)
{
    lock_acquire(&m->lock);
    cluster_view_copy(out, &m->view);
    lock_release(&m->lock);
}
