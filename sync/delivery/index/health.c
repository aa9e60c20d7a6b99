#include "config.h"

#include "sync/delivery/index/health.h"

/*
 * How long after the last document that failed alone an index counts as healthy again.  What
 * was purged of it is tried one by one, and each waits for its shard.
 */
#define PARTLY_QUIET_MS 5000

/* hold is NULL: the index takes documents again.  A pause hides whatever else holds it. */
static void tell(struct index_health *s, struct index_queue *o, enum delivery_event what,
                 const struct delivery_hold *hold)
{
    const struct gate *g = index_queue_gate(o);
    const struct delivery_hold paused = {CURE_RESUME, hold != NULL ? hold->since_ms : 0,
                                         g->pause_why};

    if (g->is_paused)
        hold = &paused;
    index_queue_set_told(o, hold != NULL ? hold->cure : CURE_NONE);
    if (s->opt->held != NULL)
        s->opt->held(s->opt->ctx, index_queue_target(o), hold);
    if (s->opt->event != NULL)
        s->opt->event(s->opt->ctx, what, index_queue_target(o), 0,
                      hold != NULL ? &hold->why : NULL);
}

static void tell_partly(struct index_health *s, struct index_queue *o)
{
    const struct index_queue_partly *p = index_queue_partly(o);
    struct delivery_hold hold = {.cure = CURE_SHARDS, .since_ms = p->since_ms};

    err_set_code(&hold.why, ERR_RETRY, "part", p->why.code,
                 "the engine refuses some of its documents (%zu wait), the others continue: %s",
                 index_queue_level(o).lost, p->why.msg);
    tell(s, o, DELIVERY_HELD, &hold);
}

/* Note since when documents fail while others go through. */
static void look_at_lost(const struct index_health *s, struct index_queue *o)
{
    struct index_queue_partly *p = index_queue_partly(o);

    if (index_queue_level(o).lost > 0) {
        p->since_ms = p->since_ms != 0 ? p->since_ms : s->now_ms;
        p->last_ms = s->now_ms;
    } else if (s->now_ms - p->last_ms >= (index_queue_is_told(o) ? PARTLY_QUIET_MS : 0)) {
        p->since_ms = 0;
    }
}

/* An index that takes nothing, or not all, but does not refuse is still tried, and reported. */
void index_health_look(struct index_health *s, struct index_queue *o)
{
    const struct gate *g = index_queue_gate(o);
    const struct index_queue_partly *p = index_queue_partly(o);

    look_at_lost(s, o);
    if (index_queue_is_gone(o) || gate_is_blown(g))
        return;
    if (!g->failing && p->since_ms == 0 && index_queue_is_told(o))
        tell(s, o, DELIVERY_RELEASED, NULL);
    else if (g->failing && !index_queue_is_told(o) &&
             s->now_ms - g->failing_since_ms >= s->opt->failing_ms)
        tell(s, o, DELIVERY_HELD,
             &(struct delivery_hold){CURE_ENGINE, g->failing_since_ms, g->why});
    else if (p->since_ms != 0 && index_queue_told(o) != CURE_SHARDS &&
             !(g->failing && index_queue_is_told(o)) &&
             s->now_ms - p->since_ms >= s->opt->failing_ms)
        tell_partly(s, o);
}

void index_health_note_fuse(struct index_health *s, struct index_queue *o,
                            enum fuse_change change, const struct err *why)
{
    switch (change) {
    case FUSE_SAME: return;
    case FUSE_BLEW:
        delivery_metric_count(s->metric, COUNT_BLOWN, 1);
        tell(s, o, DELIVERY_BLOWN,
             &(struct delivery_hold){CURE_ENGINE, index_queue_gate(o)->failing_since_ms, *why});
        return;
    case FUSE_HEALED:
        delivery_metric_count(s->metric, COUNT_HEALED, 1);
        tell(s, o, DELIVERY_HEALED, NULL);
        return;
    }
}

/* How the index is held until then. */
static enum hold hold_for(enum cure cure)
{
    static const enum hold holds[N_CURES] = {
        [CURE_MAPPING] = HOLD_GUARD, [CURE_REQUESTS] = HOLD_GUARD, [CURE_VERSION] = HOLD_STOP,
        [CURE_LETTERS] = HOLD_STOP,  [CURE_RENAMED] = HOLD_STOP,   [CURE_ALIAS] = HOLD_ASTRAY,
    };

    return holds[cure] != HOLD_NONE ? holds[cure] : HOLD_BLOCK;
}

void index_health_hold(struct index_health *s, struct index_queue *o, enum cure cure,
                       const struct err *why)
{
    const enum hold how = hold_for(cure);
    struct gate *gate = index_queue_gate(o);

    if (index_queue_is_gone(o))
        return;
    index_health_note_fuse(s, o, fuse_close(&gate->fuse, s->now_ms), NULL);
    const bool is_news = gate_hold(gate, how, why, s->now_ms);
    const bool is_other = gate->hold == how && gate->cure != cure;

    if (gate->hold == how)
        gate->cure = cure;
    if (is_news || is_other)
        tell(s, o, DELIVERY_HELD, &(struct delivery_hold){cure, s->now_ms, *why});
}

void index_health_release(struct index_health *s, struct index_queue *o)
{
    if (gate_release(index_queue_gate(o)))
        tell(s, o, DELIVERY_RELEASED, NULL);
}

void index_health_pause(struct index_health *s, struct index_queue *o, const struct err *why)
{
    gate_pause(index_queue_gate(o), why);
    tell(s, o, DELIVERY_HELD, &(struct delivery_hold){CURE_RESUME, s->now_ms, *why});
}

void index_health_unpause(struct index_health *s, struct index_queue *o)
{
    struct gate *g = index_queue_gate(o);

    if (!g->is_paused)
        return;
    gate_unpause(g);
    if (gate_is_blown(g))
        tell(s, o, g->hold != HOLD_NONE ? DELIVERY_HELD : DELIVERY_BLOWN,
             &(struct delivery_hold){g->hold != HOLD_NONE ? g->cure : CURE_ENGINE, s->now_ms,
                                     g->why});
    else
        tell(s, o, DELIVERY_RELEASED, NULL);
}

void index_health_end_hold(struct index_health *s, struct index_queue *o)
{
    struct gate *g = index_queue_gate(o);

    gate_end_hold(g, s->now_ms);
    index_queue_partly(o)->since_ms = 0;
    if (g->is_paused || !index_queue_is_told(o))
        return;
    index_queue_set_told(o, CURE_NONE);
    if (s->opt->held != NULL)
        s->opt->held(s->opt->ctx, index_queue_target(o), NULL);
}

void index_health_drop(struct index_health *s, struct index_queue *o)
{
    if (index_queue_is_told(o))
        tell(s, o, DELIVERY_RELEASED, NULL);
    gate_drop(index_queue_gate(o), s->now_ms);
}
