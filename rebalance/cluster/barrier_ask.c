#include "config.h"

#include "rebalance/cluster/barrier_parts.h"
#include "rebalance/cluster/cluster_change.h"

#include <stdlib.h>

#define ASK_LIMIT_MS 10000

static void answer(struct barrier *b, uint64_t token, bool is_done, struct str text)
{
    const struct str copy = barrier_text(b, text);
    struct barrier_action *a = barrier_add(b, BARRIER_ANSWER);

    a->token = token;
    a->is_done = is_done;
    a->text = copy;
}

void barrier_ask(struct barrier *b, const struct barrier_event *e)
{
    struct barrier_wish *w = &b->wish;

    if (w->is_open) {
        answer(b, e->token, false, STR("another request is being written: try again"));
        return;
    }
    w->is_open = true;
    w->is_written = false;
    w->ask = e->ask;
    w->token = e->token;
    w->until_ms = b->now_ms + ASK_LIMIT_MS;
    buf_clear(&w->node);
    buf_append(&w->node, e->node);
    buf_clear(&w->thing);
    buf_append(&w->thing, e->thing);
}

static void write_wish(struct barrier *b)
{
    const struct barrier_wish *w = &b->wish;
    struct barrier_thing *things = barrier_things(b);
    struct cluster_state next = {0};

    cluster_state_copy(&next, &b->state);
    cluster_change_make(&(struct cluster_change){.ask = w->ask,
                                                 .node = buf_str(&w->node),
                                                 .thing = buf_str(&w->thing),
                                                 .things = things,
                                                 .n_things = b->n_things},
                        &next);
    barrier_write_state(b, &next);
    cluster_state_free(&next);
    free(things);
}

/* A wish whose answer was lost is written once more: it says the same. */
void barrier_ask_advance(struct barrier *b)
{
    struct barrier_wish *w = &b->wish;

    if (!w->is_open)
        return;
    if (w->is_written && b->has_state && !b->is_state_writing) {
        w->is_open = false;
        answer(b, w->token, true, STR("the cluster's state has the request"));
    } else if (b->now_ms >= w->until_ms) {
        w->is_open = false;
        answer(b, w->token, false, STR("the coordination did not take the request in time"));
    } else if (b->link == LINK_CONNECTED && b->has_state && !b->is_state_writing) {
        write_wish(b);
        w->is_written = true;
    }
}
