#include "config.h"

#include "sync/checkpoint/read_position.h"

#include "src/base/buf.h"
#include "src/base/lock.h"
#include "src/base/mem.h"
#include "sync/position/gtid_set.h"
#include "sync/server/recent_gtids.h"

#include <stdlib.h>

struct read_position {
    uint64_t late; /* atomic */

    struct lock lock;

    /* All guarded by lock. */
    uint64_t version;
    int64_t event_ms;
    struct gtid_set *gtids;
    struct recent_gtids *recent;
    bool anonymous; /* the last transaction has no GTID */
    struct buf wait_sql;
};

struct read_position *read_position_new(uint64_t version)
{
    struct read_position *p = mem_alloc(1, sizeof(*p));

    lock_init(&p->lock, LOCK_private);
    p->version = version;
    p->gtids = gtid_set_new();
    p->recent = recent_gtids_new();
    return p;
}

void read_position_free(struct read_position *p)
{
    if (p == NULL)
        return;
    gtid_set_free(p->gtids);
    recent_gtids_free(p->recent);
    buf_free(&p->wait_sql);
    lock_fini(&p->lock);
    free(p);
}

void read_position_set(struct read_position *p, uint64_t version, int64_t event_ms)
{
    lock_acquire(&p->lock);
    if (version > p->version)
        p->version = version;
    if (event_ms != 0)
        p->event_ms = event_ms;
    lock_release(&p->lock);
}

void read_position_set_gtids(struct read_position *p, const struct gtid_set *all)
{
    lock_acquire(&p->lock);
    gtid_set_free(p->gtids);
    p->gtids = gtid_set_copy(all);
    p->anonymous = false;
    lock_release(&p->lock);
}

void read_position_add_gtid(struct read_position *p, const struct gtid *g, uint64_t version)
{
    lock_acquire(&p->lock);
    recent_gtids_add(p->recent, version, g);
    p->anonymous = g->family == GTID_NONE;
    if (!p->anonymous)
        gtid_set_add(p->gtids, g);
    lock_release(&p->lock);
}

void read_position_gtid_at(struct read_position *p, uint64_t version, struct buf *out)
{
    lock_acquire(&p->lock);

    const struct gtid *g = recent_gtids_find(p->recent, version);

    if (g != NULL)
        gtid_format(out, g);
    lock_release(&p->lock);
}

void read_position_set_commit_wait(struct read_position *p, struct str sql)
{
    lock_acquire(&p->lock);
    buf_clear(&p->wait_sql);
    buf_append(&p->wait_sql, sql);
    lock_release(&p->lock);
}

uint64_t read_position_get_commit_wait(struct read_position *p, struct buf *sql)
{
    lock_acquire(&p->lock);

    const uint64_t version = p->version;

    buf_append(sql, buf_str(&p->wait_sql));
    lock_release(&p->lock);
    return version;
}

void read_position_note_late(struct read_position *p)
{
    __atomic_add_fetch(&p->late, 1, __ATOMIC_RELEASE);
}

uint64_t read_position_late(struct read_position *p)
{
    return __atomic_load_n(&p->late, __ATOMIC_ACQUIRE);
}

uint64_t read_position_version(struct read_position *p)
{
    lock_acquire(&p->lock);

    const uint64_t version = p->version;

    lock_release(&p->lock);
    return version;
}

int64_t read_position_event_ms(struct read_position *p)
{
    lock_acquire(&p->lock);

    const int64_t ms = p->event_ms;

    lock_release(&p->lock);
    return ms;
}

uint64_t read_position_get(struct read_position *p, struct buf *gtids, bool *complete)
{
    lock_acquire(&p->lock);

    const uint64_t version = p->version;

    gtid_set_format(gtids, p->gtids);
    *complete = !p->anonymous;
    lock_release(&p->lock);
    return version;
}
