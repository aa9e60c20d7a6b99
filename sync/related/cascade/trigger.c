#include "config.h"

#include "sync/related/cascade/trigger.h"

#include "src/base/buf.h"
#include "src/base/err.h"
#include "src/base/mem.h"
#include "sync/checkpoint/grace_period.h"
#include "sync/checkpoint/progress.h"
#include "sync/decode/event.h"
#include "sync/document/key.h"
#include "sync/related/cascade/cascades.h"
#include "sync/related/cascade/parent.h"
#include "sync/routing/routing.h"
#include "sync/routing/rows_at.h"

#include <stdio.h>
#include <stdlib.h>

struct cascade_trigger {
    struct cascades *cascades;
    struct progress *progress;

    /* The current change. */
    const struct rows_at *at;
    struct cascade_triggered what;
    bool any;
    struct cascade_hold *holds; /* for each step of the effect */
    size_t holds_cap;
    struct buf moved; /* scratch */
};

struct cascade_trigger *cascade_trigger_new(struct cascades *cascades,
                                            struct progress *progress)
{
    struct cascade_trigger *s = mem_alloc(1, sizeof(*s));

    s->cascades = cascades;
    s->progress = progress;
    return s;
}

void cascade_trigger_free(struct cascade_trigger *s)
{
    buf_free(&s->moved);
    free(s->holds);
    free(s);
}

struct ticket *cascade_trigger_ticket(struct cascade_trigger *s, const struct target *target)
{
    struct grace_period *t = ((const struct reading *)target->plan)->grace_period;
    struct ticket *ticket = progress_ticket(s->progress);

    ticket_pass(ticket, t, grace_period_enter(t));
    return ticket;
}

static void clear_holds(struct cascade_trigger *s, size_t n)
{
    if (n > s->holds_cap) {
        s->holds = mem_resize(s->holds, n, sizeof(*s->holds));
        s->holds_cap = n;
    }
    for (size_t i = 0; i < n; i++)
        s->holds[i] = (struct cascade_hold){0};
}

/* Tell whether the source's server applies the keys by itself, without logging the rows. */
static bool is_silent(const struct rows_at *at)
{
    return (at->rows->flags & (ROWS_NO_FK_CHECKS | ROWS_USE_SQL_FK)) == 0;
}

void cascade_trigger_begin(struct cascade_trigger *s, const struct rows_at *at,
                           struct cascade_parent *parent, const struct row_change *change)
{
    s->at = at;
    s->any = parent != NULL && is_silent(at) && cascade_parent_look(parent, change, &s->what);
    if (s->any)
        clear_holds(s, s->what.effect->n_steps);
}

static struct target *target_of(const struct rows_at *at, const struct cascade_effect *effect,
                                size_t step)
{
    return at->routing->targets[effect->steps[step].target];
}

struct cascade_hold *cascade_trigger_hold(struct cascade_trigger *s,
                                          const struct target *target)
{
    for (size_t i = 0; s->any && i < s->what.effect->n_steps; i++)
        if (target_of(s->at, s->what.effect, i) == target &&
            cascade_step_counts(&s->what.effect->steps[i], s->what.keys))
            return &s->holds[i];
    return NULL;
}

struct cascade_hold *cascade_trigger_next_hold(struct cascade_trigger *s,
                                               struct target **target)
{
    for (size_t i = 0; s->any && i < s->what.effect->n_steps; i++)
        if (s->holds[i].ticket == NULL &&
            cascade_step_counts(&s->what.effect->steps[i], s->what.keys)) {
            *target = target_of(s->at, s->what.effect, i);
            return &s->holds[i];
        }
    return NULL;
}

/* ---- rows that move ---- */

static const struct cascade_step *step_of(const struct cascade_trigger *s,
                                          const struct target *target)
{
    for (size_t i = 0; s->any && i < s->what.effect->n_steps; i++)
        if (target_of(s->at, s->what.effect, i) == target)
            return &s->what.effect->steps[i];
    return NULL;
}

static struct str part_of(struct str key, size_t at)
{
    struct str part = {0};

    for (size_t i = 0; i <= at; i++)
        (void)key_next(&key, &part);
    return part;
}

bool cascade_trigger_next_moved(struct cascade_trigger *s, const struct target *target,
                                size_t *i, struct cascade_trigger_moved *out)
{
    const struct cascade_step *step = step_of(s, target);

    while (step != NULL && *i < step->n_looks) {
        const struct cascade_look *look = &step->looks[(*i)++];
        const struct str now = s->what.now[look->key];

        if (look->by == 0 || now.len == 0)
            continue;
        buf_clear(&s->moved);
        for (size_t part = 0; part < look->n_parts; part++)
            key_append_part(&s->moved, part_of(now, look->parts[part]));
        *out = (struct cascade_trigger_moved){look->place, look->by, buf_str(&s->moved)};
        return true;
    }
    return false;
}

/* unknown: for each key; NULL: all keys. */
static void mark(struct cascade_trigger *s, const struct rows_at *at,
                 const struct cascade_effect *effect, const bool *unknown, const char *reason)
{
    for (size_t i = 0; i < effect->n_steps; i++)
        for (size_t l = 0; l < effect->steps[i].n_looks; l++)
            if (unknown == NULL || unknown[effect->steps[i].looks[l].key])
                cascades_mark(s->cascades, target_of(at, effect, i), reason);
}

static void mark_unknown(struct cascade_trigger *s)
{
    char reason[ERR_MSG_MAX];

    snprintf(reason, sizeof(reason),
             "foreign keys change rows along with those of %" STR_FMT ".%" STR_FMT
             ", and the log lacks the values that they refer to; fix: set binlog_row_image to "
             "FULL in the server's configuration and in open sessions",
             STR_ARG(s->at->watched->database), STR_ARG(s->at->watched->table));
    mark(s, s->at, s->what.effect, s->what.unknown, reason);
}

void cascade_trigger_follow(struct cascade_trigger *s)
{
    if (!s->any)
        return;

    const struct cascade_origin from = {
        .routing = s->at->routing,
        .table = s->at->watched->cascade,
        .cause = s->what.cause,
        .at_least = s->at->version + 1, /* as for a re-read for the event itself */
        .commit_ms = s->at->commit_ms,
    };

    mark_unknown(s);
    cascades_add(s->cascades, &from, s->what.keys, s->holds);
}

void cascade_trigger_lose(struct cascade_trigger *s, const struct rows_at *at, const char *why)
{
    const struct cascade_table *t = at->watched->cascade;

    for (int cause = 0; t != NULL && cause < N_CASCADE_CAUSES; cause++)
        mark(s, at, &t->on[cause], NULL, why);
}
