#include "config.h"

#include "sync/change/xa/prepared.h"

#include "src/base/lock.h"
#include "src/base/map.h"
#include "src/base/mem.h"
#include "sync/change/xa/spill.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct prepared {
    size_t memory_max;
    struct spill *spill;
    struct map *by_xid;          /* struct prepared_xa */
    struct prepared_xa *current; /* being read */
    size_t memory;               /* of those in the map */

    struct lock lock;

    /* All guarded by lock. */
    struct prepared_status status;
};

static struct prepared_xa *xa_new(void)
{
    return mem_alloc(1, sizeof(struct prepared_xa));
}

static void xa_free(void *value)
{
    struct prepared_xa *xa = value;

    transaction_buffer_fini(&xa->events);
    buf_free(&xa->tables);
    free(xa->xid);
    free(xa);
}

struct prepared *prepared_new(const struct prepared_options *opt)
{
    struct prepared *p = mem_alloc(1, sizeof(*p));

    p->memory_max = opt->memory_max;
    p->spill = spill_new(opt->folder, opt->disk_max);
    p->by_xid = map_new();
    p->current = xa_new();
    transaction_buffer_begin(&p->current->events, p->spill);
    lock_init(&p->lock, LOCK_private);
    return p;
}

void prepared_free(struct prepared *p)
{
    if (p == NULL)
        return;
    map_free(p->by_xid, xa_free);
    xa_free(p->current);
    spill_free(p->spill);
    lock_fini(&p->lock);
    free(p);
}

/* Send a larger transaction to disk, so that many can be open at once. */
static size_t memory_left(const struct prepared *p)
{
    return p->memory < p->memory_max ? p->memory_max - p->memory : 0;
}

bool prepared_keep(struct prepared *p, const struct event_format *format,
                   const struct event *at, struct str raw, struct err *err)
{
    return transaction_buffer_keep(&p->current->events, format, at, raw, memory_left(p), err);
}

static void append_name(struct buf *b, struct str name)
{
    buf_append(b, name);
    buf_append_char(b, '\0');
}

void prepared_touch(struct prepared *p, struct str database, struct str table)
{
    struct str d, t;

    for (size_t at = 0; prepared_next_table(p->current, &at, &d, &t);)
        if (str_equal(d, database) && str_equal(t, table))
            return;
    append_name(&p->current->tables, database);
    append_name(&p->current->tables, table);
}

static struct str name_at(const struct buf *b, size_t *at)
{
    const struct str s = str_from(b->ptr + *at);

    *at += s.len + 1;
    return s;
}

bool prepared_next_table(const struct prepared_xa *xa, size_t *at, struct str *database,
                         struct str *table)
{
    if (*at >= xa->tables.len)
        return false;
    *database = name_at(&xa->tables, at);
    *table = name_at(&xa->tables, at);
    return true;
}

const struct prepared_xa *prepared_current(const struct prepared *p)
{
    return p->current;
}

void prepared_drop(struct prepared *p)
{
    transaction_buffer_begin(&p->current->events, p->spill);
    buf_clear(&p->current->tables);
}

static void describe(struct prepared *p)
{
    struct prepared_status s = {.n = map_count(p->by_xid), .memory = p->memory};
    struct str key;
    void *value;
    size_t i = 0;

    if (map_next(p->by_xid, &i, &key, &value)) { /* the order is that of insertion */
        const struct prepared_xa *xa = value;

        s.oldest_ms = xa->at_ms;
        snprintf(s.oldest, sizeof(s.oldest), "%s", xa->xid);
    }
    lock_acquire(&p->lock);
    p->status = s;
    lock_release(&p->lock);
}

/* The memory that a transaction takes. */
static size_t weight(const struct prepared_xa *xa)
{
    return sizeof(*xa) + xa->events.memory.cap + xa->tables.cap;
}

static uint64_t forget(struct prepared *p, struct prepared_xa *xa)
{
    const uint64_t hold = xa->hold;

    p->memory -= weight(xa);
    xa_free(xa);
    return hold;
}

uint64_t prepared_add(struct prepared *p, struct str xid, uint64_t hold, int64_t at_ms)
{
    struct prepared_xa *xa = p->current;

    xa->hold = hold;
    xa->at_ms = at_ms;
    xa->xid = mem_alloc(xid.len + 1, 1);
    memcpy(xa->xid, xid.ptr, xid.len);
    p->memory += weight(xa);

    struct prepared_xa *old = map_put(p->by_xid, xid, xa);
    const uint64_t old_hold = old == NULL ? 0 : forget(p, old);

    p->current = xa_new();
    transaction_buffer_begin(&p->current->events, p->spill);
    describe(p);
    return old_hold;
}

const struct prepared_xa *prepared_find(const struct prepared *p, struct str xid)
{
    return map_find(p->by_xid, xid);
}

void prepared_remove(struct prepared *p, struct str xid)
{
    struct prepared_xa *xa = map_remove(p->by_xid, xid);

    if (xa == NULL)
        return;
    (void)forget(p, xa);
    describe(p);
}

struct prepared_status prepared_status(struct prepared *p)
{
    lock_acquire(&p->lock);

    struct prepared_status copy = p->status;

    lock_release(&p->lock);
    copy.disk = spill_used(p->spill);
    return copy;
}
