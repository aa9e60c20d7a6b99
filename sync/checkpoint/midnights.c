#include "config.h"

#include "sync/checkpoint/midnights.h"

#include "src/base/lock.h"
#include "src/base/mem.h"
#include "src/format/zone.h"

#include <stdlib.h>
#include <string.h>

struct midnights {
    struct zone *zone; /* NULL: none is noted */
    int64_t last;      /* the builder's; INT64_MIN: unknown */
    int64_t next_at;   /* the builder's: when the day after the last begins */
    struct lock lock;

    /* All guarded by lock. */
    struct midnight waiting[MIDNIGHTS_MAX];
    size_t n;
};

static void set_last(struct midnights *m, int64_t day)
{
    m->last = day;
    m->next_at = zone_midnight(m->zone, day + 1);
}

struct midnights *midnights_new(struct zone *zone, int64_t last)
{
    struct midnights *m = mem_alloc(1, sizeof(*m));

    m->zone = zone;
    m->last = last;
    lock_init(&m->lock, LOCK_private);
    if (zone != NULL && last != INT64_MIN)
        set_last(m, last);
    return m;
}

void midnights_free(struct midnights *m)
{
    if (m == NULL)
        return;
    zone_free(m->zone);
    lock_fini(&m->lock);
    free(m);
}

/* Those that nobody stores in time are forgotten: a month later nobody asks. */
static void add(struct midnights *m, const struct midnight *day) NEEDS(m->lock)
{
    if (m->n == MIDNIGHTS_MAX)
        memmove(m->waiting, m->waiting + 1, --m->n * sizeof(*m->waiting));
    m->waiting[m->n++] = *day;
}

static void note(struct midnights *m, int64_t today, const struct midnight_passing *p)
{
    int64_t day = m->last + 1;

    if (day < today - MIDNIGHTS_MAX + 1)
        day = today - MIDNIGHTS_MAX + 1;
    if (day < 0)
        day = 0;
    lock_acquire(&m->lock);
    for (; day <= today; day++)
        add(m, &(struct midnight){day, p->file_number, p->offset});
    lock_release(&m->lock);
}

void midnights_pass(struct midnights *m, const struct midnight_passing *p)
{
    const int64_t time = p->time > p->now + MIDNIGHT_AHEAD_S ? p->now : p->time;

    if (m->zone == NULL || (m->last != INT64_MIN && time < m->next_at))
        return;

    const int64_t today = zone_day(m->zone, time);

    if (m->last != INT64_MIN)
        note(m, today, p);
    set_last(m, today);
}

size_t midnights_take(struct midnights *m, struct midnight *out)
{
    lock_acquire(&m->lock);

    const size_t n = m->n;

    memcpy(out, m->waiting, n * sizeof(*out));
    lock_release(&m->lock);
    return n;
}

void midnights_forget(struct midnights *m, int64_t day)
{
    size_t n = 0;

    lock_acquire(&m->lock);
    while (n < m->n && m->waiting[n].day <= day)
        n++;
    m->n -= n;
    memmove(m->waiting, m->waiting + n, m->n * sizeof(*m->waiting));
    lock_release(&m->lock);
}
