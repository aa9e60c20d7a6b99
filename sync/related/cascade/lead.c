#include "config.h"

#include "sync/related/cascade/parts.h"

#include <string.h>

#define LEVELS_MAX 15 /* of tables; InnoDB follows foreign keys as far */

/* ---- whose rows take others along ---- */

static const struct plan *plan_of(const struct target *target)
{
    return ((const struct reading *)target->plan)->plan;
}

const struct cascade_table *cascades_leading_root(const struct routing *routing,
                                                  const struct target *target)
{
    struct str schema, table;
    bool refresh;

    plan_place(plan_of(target), 0, &schema, &table, &refresh);

    const struct cascade_table *t = cascade_plan_find(routing->cascades, schema, table);

    return t != NULL && t->goes &&
                   (t->on[CASCADE_DELETE].n_steps > 0 || t->on[CASCADE_DELETE].n_blind > 0)
               ? t
               : NULL;
}

bool cascades_lead_on(struct cascades *c, const struct target *target)
{
    struct routing *routing = cascades_routing(c);
    const bool leads = routing != NULL && cascades_leading_root(routing, target) != NULL;

    routing_unref(routing);
    return leads;
}

/* ---- targets given up ---- */

static bool is_stopped(const struct target *target)
{
    return __atomic_load_n(&((const struct reading *)target->plan)->stopped, __ATOMIC_RELAXED);
}

static bool is_routed(const struct routing *routing, const struct target *target)
{
    for (size_t i = 0; i < routing->n_targets; i++)
        if (strcmp(routing->targets[i]->index, target->index) == 0)
            return true;
    return false;
}

bool cascades_is_given_up(struct cascades *c, const struct target *target)
{
    struct routing *routing = cascades_routing(c);
    const bool given_up = !is_routed(routing, target) || is_stopped(target);

    routing_unref(routing);
    return given_up;
}

static void mark_steps(struct cascades *c, const struct routing *routing,
                       const struct target *target, const char *reason, unsigned depth)
{
    const struct cascade_table *t = cascades_leading_root(routing, target);

    for (size_t i = 0; t != NULL && i < t->on[CASCADE_DELETE].n_steps; i++) {
        const struct target *below = routing->targets[t->on[CASCADE_DELETE].steps[i].target];

        if (strcmp(below->index, target->index) != 0)
            cascades_mark(c, below, reason);
        if (depth < LEVELS_MAX && below != target)
            mark_steps(c, routing, below, reason, depth + 1);
    }
}

/* Tell whether some version of its index shows all rows. */
static bool is_whole(const struct routing *routing, const struct target *target)
{
    for (size_t i = 0; i < routing->n_targets; i++) {
        const struct target *t = routing->targets[i];

        if (strcmp(t->table, target->table) == 0 && !is_stopped(t) &&
            !((const struct reading *)t->plan)->filling)
            return true;
    }
    return false;
}

void cascades_mark_below(struct cascades *c, const struct target *target)
{
    struct routing *routing = cascades_routing(c);

    if (!is_whole(routing, target)) {
        struct buf reason = {0};

        buf_printf(&reason,
                   "foreign keys changed rows along with those of %s, whose index %s, so its "
                   "documents do not show which",
                   target->table,
                   ((const struct reading *)target->plan)->filling ? "is being built"
                                                                   : "no longer takes writes");
        mark_steps(c, routing, target, reason.ptr, 0);
        buf_free(&reason);
    }
    routing_unref(routing);
}
