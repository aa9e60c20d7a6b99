#include "config.h"

#include "sync/related/fan_out/parts.h"

#include "src/base/arena.h"
#include "src/base/buf.h"
#include "src/base/clock.h"
#include "src/base/failpoint.h"
#include "src/store/later/snapshot.h"
#include "sync/read/source_registry.h"
#include "sync/routing/routing.h"
#include "sync/server/server_access.h"

static void note_put(struct fan_out *f, const struct target *t, int64_t now_ms)
{
    lock_acquire(&f->lock);

    struct version *v = fan_out_version(f, t);

    fan_out_enter(&v->waiting, t);
    v->puts++;
    if (v->oldest_ms > now_ms)
        v->oldest_ms = now_ms;
    lock_release(&f->lock);
    bell_ring(f->bell);
}

static struct str place_name(struct arena *a, const struct plan *p, size_t place)
{
    struct buf name = {0};
    struct str database, table;
    bool refresh;

    plan_place(p, place, &database, &table, &refresh);
    buf_printf(&name, "%" STR_FMT ".%" STR_FMT, STR_ARG(database), STR_ARG(table));

    const struct str copy = arena_copy(a, buf_str(&name));

    buf_free(&name);
    return copy;
}

void fan_out_wake(struct fan_out *f)
{
    lock_acquire(&f->lock);
    for (struct version *v = f->versions; v != NULL; v = v->next)
        v->puts++;
    lock_release(&f->lock);
    bell_ring(f->bell);
}

/* Wake the topic's fan-out if it runs here.  Elsewhere it looks by itself after a while. */
static void wake_owner(struct fan_out *f, const struct target *t)
{
    struct registered_source owner;

    if (!source_registry_find(f->opt.registry, str_from(t->topic), &owner))
        return;
    fan_out_wake(owner.fan_out);
    registered_source_release(&owner);
}

static struct stored_fan_out job_of(const struct fan_out *f, const struct fan_out_rows *rows,
                                    size_t i)
{
    const struct reading *reading = rows->target->plan;

    return (struct stored_fan_out){.topic = str_from(rows->target->topic),
                                   .index = str_from(reading->alias),
                                   .version = reading->number,
                                   .member = str_from(rows->target->table),
                                   .place = (uint32_t)rows->place,
                                   .by = rows->by,
                                   .key = rows->keys[i],
                                   .source = f->owner.topic,
                                   .at_least = rows->at_least};
}

bool fan_out_put_off(struct fan_out *f, struct str table, const struct fan_out_rows *rows,
                     const struct snapshot_row *of, struct err *err)
{
    const struct snapshot_put put = {{f->owner.topic, f->owner.term}, table, clock_wall_ms()};
    struct arena *a = arena_new();
    struct snapshot_change *changes = arena_alloc(a, rows->n, sizeof(*changes));

    for (size_t i = 0; i < rows->n; i++)
        changes[i] = (struct snapshot_change){of[i], job_of(f, rows, i)};

    const bool ok = store_put_snapshots(f->opt.store, &put, changes, rows->n, err);

    FAILPOINT(snapshot_stored);
    arena_free(a);
    return ok ||
           err_wrap(err, "storing changes of %" STR_FMT " for a later run", STR_ARG(table));
}

bool fan_out_put(struct fan_out *f, const struct fan_out_rows *rows, struct err *err)
{
    const struct reading *reading = rows->target->plan;
    const int64_t now_ms = clock_wall_ms();
    struct arena *a = arena_new();
    struct stored_fan_out *jobs = arena_alloc(a, rows->n, sizeof(*jobs));
    const struct str table = place_name(a, reading->plan, rows->place);

    for (size_t i = 0; i < rows->n; i++) {
        jobs[i] = job_of(f, rows, i);
        jobs[i].table = table;
        jobs[i].created_ms = now_ms;
    }

    FAILPOINT(fan_out_found);

    const bool ok = store_put_fan_outs(f->opt.store, f->owner.term, jobs, rows->n, err);

    arena_free(a);
    FAILPOINT(fan_out_stored);
    if (!ok)
        return err_wrap(err, "storing the fan-out jobs of %s", rows->target->table);
    fan_out_count(&f->status.put, rows->n);
    if (str_equal(str_from(rows->target->topic), f->owner.topic))
        note_put(f, rows->target, now_ms);
    else
        wake_owner(f, rows->target);
    return true;
}
