/*
 * What delivery calls: each call is noted, or fails as the test wants it.
 */
#include "config.h"

#include "tests/unit/unit.h"

#include "tests/component/delivery_rig_calls.h"

#include "tests/component/delivery_rig_parts.h"

#include "src/base/queue.h"

#include <stdio.h>
#include <stdlib.h>

static void keep(char *to, size_t size, struct str s)
{
    snprintf(to, size, "%.*s", STR_ARG(s));
}

/* Whether a call fails; counts down how many of the next ones do. */
static bool fails(unsigned *n, struct err *err)
{
    if (*n == 0)
        return false;
    (*n)--;
    err_set(err, ERR_RETRY, "the store is away");
    return true;
}

static bool bury(struct rig_dead *dead, const struct dead_letter_note *notes, size_t n,
                 struct err *err)
{
    const struct dead_letter_note *last = &notes[n - 1];

    if (fails(&dead->fails, err))
        return false;
    if (dead->is_full && !last->again)
        return err_set(err, ERR_REJECT, "no more dead letters are kept");
    dead->n += n;
    keep(dead->last_id, sizeof(dead->last_id), last->id);
    keep(dead->last_reason, sizeof(dead->last_reason), last->reason);
    dead->last_status = last->status;
    dead->last_attempts = last->attempts;
    return true;
}

static bool on_dead(void *ctx, const struct dead_letter_note *notes, size_t n, struct err *err)
{
    struct rig *r = ctx;

    __atomic_store_n(&r->dead.is_burying, true, __ATOMIC_RELAXED);
    pthread_mutex_lock(&r->lock);

    const bool ok = bury(&r->dead, notes, n, err);

    if (ok)
        r->dead.done_when_stored = rig_all_done(r);
    pthread_mutex_unlock(&r->lock);
    return ok;
}

static bool store_purged(struct rig_purged *purged, const struct purged_note *notes, size_t n,
                         struct err *err)
{
    if (fails(&purged->fails, err))
        return false;
    for (size_t i = 0; i < n; i++) {
        char name[16];

        assert_true(purged->n < RIG_PURGED_MAX && notes[i].key.len > 0);
        keep(name, sizeof(name), notes[i].id);
        keep(purged->routings[purged->n], sizeof(purged->routings[0]), notes[i].routing);
        purged->ids[purged->n++] = (int)strtol(name, NULL, 10);
        purged->n_unanswered += notes[i].unanswered;
    }
    return true;
}

static bool on_purged(void *ctx, const struct purged_note *notes, size_t n, struct err *err)
{
    struct rig *r = ctx;

    pthread_mutex_lock(&r->lock);

    const bool ok = store_purged(&r->purged, notes, n, err);

    r->purged.done_when_stored = rig_all_done(r);
    pthread_mutex_unlock(&r->lock);
    return ok;
}

static void count_event(struct rig_reports *reports, enum delivery_event what)
{
    reports->n_events[what]++;
    reports->is_held = reports->next_held;
    reports->is_partly = reports->next_partly;
}

static void on_event(void *ctx, enum delivery_event what, const struct target *target,
                     uint64_t n, const struct err *why)
{
    struct rig *r = ctx;

    (void)target;
    (void)why;
    pthread_mutex_lock(&r->lock);
    count_event(&r->reports, what);
    if (what == DELIVERY_PURGED)
        r->purged.n_told += n;
    pthread_mutex_unlock(&r->lock);
}

static bool clear(struct rig_dead *dead, struct err *err)
{
    if (fails(&dead->clear_fails, err))
        return false;
    dead->n_cleared++;
    return true;
}

static bool on_cleared(void *ctx, const struct target *target, struct str routing,
                       struct str id, uint64_t version, struct err *err)
{
    struct rig *r = ctx;

    (void)target;
    (void)routing;
    (void)id;
    (void)version;
    pthread_mutex_lock(&r->lock);

    const bool ok = clear(&r->dead, err);

    pthread_mutex_unlock(&r->lock);
    return ok;
}

static uint64_t on_area_floor(void *ctx, const struct target *target)
{
    struct rig *r = ctx;

    (void)target;
    pthread_mutex_lock(&r->lock);

    const uint64_t floor = r->versions.area_floor;

    pthread_mutex_unlock(&r->lock);
    return floor;
}

static uint64_t on_stamp_max(void *ctx, const struct target *target)
{
    struct rig *r = ctx;

    (void)target;
    pthread_mutex_lock(&r->lock);

    uint64_t max = r->versions.stamp_max == 0 ? UINT64_MAX : r->versions.stamp_max;

    pthread_mutex_unlock(&r->lock);
    return max;
}

static void note_held(struct rig_reports *reports, const struct delivery_hold *hold)
{
    reports->next_held = hold != NULL;
    reports->next_partly = hold != NULL && hold->cure == CURE_SHARDS;
    if (hold != NULL) {
        reports->last_cure = hold->cure;
        keep(reports->last_why, sizeof(reports->last_why), str_from(hold->why.msg));
    }
}

static void on_held(void *ctx, const struct target *target, const struct delivery_hold *hold)
{
    struct rig *r = ctx;

    (void)target;
    pthread_mutex_lock(&r->lock);
    note_held(&r->reports, hold);
    pthread_mutex_unlock(&r->lock);
}

static void note_gone(struct rig_gone *gone, const struct gone_row *row)
{
    assert_true(gone->n_tickets + row->n_tickets <= ARRAY_LEN(gone->tickets));
    for (size_t i = 0; i < row->n_tickets; i++)
        gone->tickets[gone->n_tickets++] = row->tickets[i];
    gone->stamp = row->stamp;
    gone->n++;
}

static void on_gone(void *ctx, const struct gone_row *row)
{
    struct rig *r = ctx;

    pthread_mutex_lock(&r->lock);
    note_gone(&r->gone, row);
    pthread_mutex_unlock(&r->lock);
}

static void on_load(void *ctx, struct load_batch *batch)
{
    struct rig *r = ctx;

    if (!queue_push(r->reads.queue, batch, 1))
        abort();
}

void rig_hand_calls(struct rig *r, struct delivery_options *o)
{
    o->ctx = r;
    o->load = on_load;
    o->gone = on_gone;
    o->dead = on_dead;
    o->cleared = on_cleared;
    o->stamp_max = on_stamp_max;
    o->area_floor = on_area_floor;
    o->held = on_held;
    o->purged = on_purged;
    o->event = on_event;
}
