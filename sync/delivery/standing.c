#include "config.h"

#include "sync/delivery/standing.h"

/* So long after the last document that failed alone an index takes all again: what was purged
 * of it is tried one by one, each as long as a shard is waited for. */
#define PARTLY_QUIET_MS 5000

/* why is NULL: it takes what it is sent again. */
static void tell(struct standing *s, struct outlet *o, enum delivery_event what, int64_t since_ms,
                 const struct err *why)
{
    outlet_set_told(o, why != NULL);
    outlet_partly(o)->is_told = false;
    if (s->opt->held != NULL)
        s->opt->held(s->opt->ctx, outlet_target(o), why != NULL, since_ms, why);
    if (s->opt->event != NULL)
        s->opt->event(s->opt->ctx, what, outlet_target(o), 0, why);
}

static void tell_partly(struct standing *s, struct outlet *o)
{
    const struct outlet_partly *p = outlet_partly(o);
    struct err why;

    err_set_code(&why, ERR_RETRY, DELIVERY_PARTLY, p->why.code,
                 "a part of its documents is not taken (%zu of them wait), the others go on: %s",
                 outlet_level(o).lost, p->why.msg);
    tell(s, o, DELIVERY_HELD, p->since_ms, &why);
    outlet_partly(o)->is_told = true;
}

/* Since when are there documents that fail while others go through? */
static void look_at_lost(const struct standing *s, struct outlet *o)
{
    struct outlet_partly *p = outlet_partly(o);

    if (outlet_level(o).lost > 0) {
        p->since_ms = p->since_ms != 0 ? p->since_ms : s->now_ms;
        p->last_ms = s->now_ms;
    } else if (s->now_ms - p->last_ms >= (outlet_is_told(o) ? PARTLY_QUIET_MS : 0)) {
        p->since_ms = 0;
    }
}

/* An index that does not say no but takes nothing either, or not all, is tried on, and told of. */
void standing_look(struct standing *s, struct outlet *o)
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

void standing_note_fuse(struct standing *s, struct outlet *o, enum fuse_change change,
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

void standing_hold(struct standing *s, struct outlet *o, enum hold how, const struct err *why)
{
    struct gate *gate = outlet_gate(o);

    if (outlet_is_gone(o))
        return;
    standing_note_fuse(s, o, fuse_close(&gate->fuse, s->now_ms), NULL);
    if (gate_hold(gate, how, why, s->now_ms))
        tell(s, o, DELIVERY_HELD, s->now_ms, why);
}

void standing_release(struct standing *s, struct outlet *o)
{
    if (gate_release(outlet_gate(o)))
        tell(s, o, DELIVERY_RELEASED, 0, NULL);
}

void standing_end_astray(struct standing *s, struct outlet *o)
{
    if (gate_end_astray(outlet_gate(o)))
        tell(s, o, DELIVERY_RELEASED, 0, NULL);
}

void standing_drop(struct standing *s, struct outlet *o)
{
    if (outlet_is_told(o))
        tell(s, o, DELIVERY_RELEASED, 0, NULL);
    gate_drop(outlet_gate(o), s->now_ms);
}
