#include "config.h"

#include "sync/delivery/index/health.h"

/*
 * How long after the last document that failed alone an index counts as healthy again.  What
 * was purged of it is tried one by one, and each waits for its shard.
 */
#define PARTLY_QUIET_MS 5000

/* why is NULL: the index takes documents again. */
static void tell(struct index_health *s, struct outlet *o, enum delivery_event what,
                 int64_t since_ms, const struct err *why)
{
    outlet_set_told(o, why != NULL);
    outlet_partly(o)->is_told = false;
    if (s->opt->held != NULL)
        s->opt->held(s->opt->ctx, outlet_target(o), why != NULL, since_ms, why);
    if (s->opt->event != NULL)
        s->opt->event(s->opt->ctx, what, outlet_target(o), 0, why);
}

static void tell_partly(struct index_health *s, struct outlet *o)
{
    const struct outlet_partly *p = outlet_partly(o);
    struct err why;

    err_set_code(&why, ERR_RETRY, DELIVERY_PARTLY, p->why.code,
                 "the engine refuses some of its documents (%zu wait), the others continue: %s",
                 outlet_level(o).lost, p->why.msg);
    tell(s, o, DELIVERY_HELD, p->since_ms, &why);
    outlet_partly(o)->is_told = true;
}

/* Note since when documents fail while others go through. */
static void look_at_lost(const struct index_health *s, struct outlet *o)
{
    struct outlet_partly *p = outlet_partly(o);

    if (outlet_level(o).lost > 0) {
        p->since_ms = p->since_ms != 0 ? p->since_ms : s->now_ms;
        p->last_ms = s->now_ms;
    } else if (s->now_ms - p->last_ms >= (outlet_is_told(o) ? PARTLY_QUIET_MS : 0)) {
        p->since_ms = 0;
    }
}

/* An index that takes nothing, or not all, but does not refuse is still tried, and reported. */
void index_health_look(struct index_health *s, struct outlet *o)
{
    const struct gate *g = outlet_gate(o);
    const struct outlet_partly *p = outlet_partly(o);

    look_at_lost(s, o);
    if (outlet_is_gone(o) || gate_is_blown(g))
        return;
    if (!g->failing && p->since_ms == 0 && outlet_is_told(o))
        tell(s, o, DELIVERY_RELEASED, 0, NULL);
    else if (g->failing && !outlet_is_told(o) &&
             s->now_ms - g->failing_since_ms >= s->opt->failing_ms)
        tell(s, o, DELIVERY_HELD, g->failing_since_ms, &g->why);
    else if (p->since_ms != 0 && !p->is_told && !(g->failing && outlet_is_told(o)) &&
             s->now_ms - p->since_ms >= s->opt->failing_ms)
        tell_partly(s, o);
}

void index_health_note_fuse(struct index_health *s, struct outlet *o, enum fuse_change change,
                            const struct err *why)
{
    switch (change) {
    case FUSE_SAME: return;
    case FUSE_BLEW:
        delivery_metric_count(s->metric, COUNT_BLOWN, 1);
        tell(s, o, DELIVERY_BLOWN, outlet_gate(o)->failing_since_ms, why);
        return;
    case FUSE_HEALED:
        delivery_metric_count(s->metric, COUNT_HEALED, 1);
        tell(s, o, DELIVERY_HEALED, 0, NULL);
        return;
    }
}

void index_health_hold(struct index_health *s, struct outlet *o, enum hold how,
                       const struct err *why)
{
    struct gate *gate = outlet_gate(o);

    if (outlet_is_gone(o))
        return;
    index_health_note_fuse(s, o, fuse_close(&gate->fuse, s->now_ms), NULL);
    if (gate_hold(gate, how, why, s->now_ms))
        tell(s, o, DELIVERY_HELD, s->now_ms, why);
}

void index_health_release(struct index_health *s, struct outlet *o)
{
    if (gate_release(outlet_gate(o)))
        tell(s, o, DELIVERY_RELEASED, 0, NULL);
}

void index_health_end_astray(struct index_health *s, struct outlet *o)
{
    if (gate_end_astray(outlet_gate(o)))
        tell(s, o, DELIVERY_RELEASED, 0, NULL);
}

void index_health_drop(struct index_health *s, struct outlet *o)
{
    if (outlet_is_told(o))
        tell(s, o, DELIVERY_RELEASED, 0, NULL);
    gate_drop(outlet_gate(o), s->now_ms);
}
