#include "config.h"

#include "sync/set_off.h"

#include "src/base/err.h"
#include "src/base/mem.h"
#include "sync/binlog/event.h"
#include "sync/cascade_parent.h"
#include "sync/cascades.h"
#include "sync/delivery/turnstile.h"
#include "sync/progress.h"
#include "sync/routing.h"
#include "sync/rows_at.h"

#include <stdio.h>
#include <stdlib.h>

struct set_off {
    struct cascades *cascades;
    struct progress *progress;

    /* Of the change at hand. */
    const struct rows_at *at;
    struct cascade_set_off what;
    bool any;
    struct cascade_hold *holds; /* for each step of the effect */
    size_t holds_cap;
};

struct set_off *set_off_new(struct cascades *cascades, struct progress *progress)
{
    struct set_off *s = mem_alloc(1, sizeof(*s));

    s->cascades = cascades;
    s->progress = progress;
    return s;
}

void set_off_free(struct set_off *s)
{
    free(s->holds);
    free(s);
}

struct ticket *set_off_ticket(struct set_off *s, const struct target *target)
{
    struct turnstile *t = ((const struct reading *)target->plan)->turnstile;
    struct ticket *ticket = progress_ticket(s->progress);

    ticket_pass(ticket, t, turnstile_enter(t));
    return ticket;
}

static void clear_holds(struct set_off *s, size_t n)
{
    if (n > s->holds_cap) {
        s->holds = mem_resize(s->holds, n, sizeof(*s->holds));
        s->holds_cap = n;
    }
    for (size_t i = 0; i < n; i++)
        s->holds[i] = (struct cascade_hold){0};
}

/* The server of the source does it by itself, without writing it into the log. */
static bool is_silent(const struct rows_at *at)
{
    return (at->rows->flags & (ROWS_NO_FK_CHECKS | ROWS_USE_SQL_FK)) == 0;
}

void set_off_begin(struct set_off *s, const struct rows_at *at, struct cascade_parent *parent,
                   const struct row_change *change)
{
    s->at = at;
    s->any = parent != NULL && is_silent(at) && cascade_parent_look(parent, change, &s->what);
    if (s->any)
        clear_holds(s, s->what.effect->n_steps);
}

static const struct target *target_of(const struct rows_at *at,
                                      const struct cascade_effect *effect, size_t step)
{
    return at->routing->targets[effect->steps[step].target];
}

struct cascade_hold *set_off_hold(struct set_off *s, const struct target *target)
{
    for (size_t i = 0; s->any && i < s->what.effect->n_steps; i++)
        if (target_of(s->at, s->what.effect, i) == target &&
            cascade_step_counts(&s->what.effect->steps[i], s->what.keys))
            return &s->holds[i];
    return NULL;
}

/* Index versions that have no place for the changed row itself. */
static void take_other_holds(struct set_off *s)
{
    for (size_t i = 0; i < s->what.effect->n_steps; i++) {
        if (s->holds[i].ticket != NULL ||
            !cascade_step_counts(&s->what.effect->steps[i], s->what.keys))
            continue;

        struct ticket *ticket = set_off_ticket(s, target_of(s->at, s->what.effect, i));

        s->holds[i] = (struct cascade_hold){ticket_hold(ticket), OUTCOME_FILTERED};
        ticket_done(ticket, OUTCOME_DELIVERED);
    }
}

/* unknown: for each key; NULL: all of them. */
static void mark(struct set_off *s, const struct rows_at *at,
                 const struct cascade_effect *effect, const bool *unknown, const char *reason)
{
    for (size_t i = 0; i < effect->n_steps; i++)
        for (size_t l = 0; l < effect->steps[i].n_looks; l++)
            if (unknown == NULL || unknown[effect->steps[i].looks[l].key])
                cascades_mark(s->cascades, target_of(at, effect, i), reason);
}

static void mark_unknown(struct set_off *s)
{
    char reason[ERR_MSG_MAX];

    snprintf(reason, sizeof(reason),
             "foreign keys change rows along with those of %" STR_FMT ".%" STR_FMT
             ", and the log lacks the values that they refer to; fix: set binlog_row_image to "
             "FULL in the server's configuration and in open sessions",
             STR_ARG(s->at->watched->database), STR_ARG(s->at->watched->table));
    mark(s, s->at, s->what.effect, s->what.unknown, reason);
}

void set_off_follow(struct set_off *s)
{
    if (!s->any)
        return;

    const struct cascade_origin from = {
        .routing = s->at->routing,
        .table = s->at->watched->cascade,
        .cause = s->what.cause,
        .at_least = s->at->version + 1, /* as a re-read for the event itself */
        .commit_ms = s->at->commit_ms,
    };

    mark_unknown(s);
    take_other_holds(s);
    cascades_add(s->cascades, &from, s->what.keys, s->holds);
}

void set_off_lose(struct set_off *s, const struct rows_at *at, const char *why)
{
    const struct cascade_table *t = at->watched->cascade;

    for (int cause = 0; t != NULL && cause < N_CASCADE_CAUSES; cause++)
        mark(s, at, &t->on[cause], NULL, why);
}
