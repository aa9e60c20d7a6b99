#include "config.h"

#include "rebalance/build/stored_deletes.h"

#include "src/base/arena.h"
#include "src/base/buf.h"
#include "src/base/clock.h"
#include "src/base/magic.h"
#include "src/base/mem.h"
#include "src/base/thread.h"
#include "src/store/store.h"
#include "sync/delivery/delivery.h"
#include "sync/delivery/document/target.h"

#include <stdlib.h>

#define PAGE      1000
#define PAGES_MAX 4 /* in flight */
#define POLL_MS   20

/* The state of pages in flight; shared with their tickets. */
struct pages {
    enum magic magic;
    unsigned refs; /* atomic: one per open ticket, one for the stored_deletes */
    bool undone;   /* atomic: some deletes were given up */
};

struct stored_deletes {
    struct store *store;
    struct delivery *delivery;
    char *index;
    uint64_t version_min;
    struct buf after;
    uint64_t n;   /* handed over */
    bool is_read; /* the last page was read */
    struct pages *pages;
};

static struct pages *pages_new(void)
{
    struct pages *p = mem_alloc(1, sizeof(*p));

    p->magic = MAGIC_pages;
    p->refs = 1;
    return p;
}

static void unref(struct pages *p)
{
    if (__atomic_sub_fetch(&p->refs, 1, __ATOMIC_ACQ_REL) > 0)
        return;
    MAGIC_END(pages, p);
    free(p);
}

static void on_abandon(void *ctx)
{
    struct pages *p = MAGIC_CAST(pages, ctx);

    __atomic_store_n(&p->undone, true, __ATOMIC_RELEASE);
    unref(p);
}

static void on_done(void *ctx, enum outcome worst)
{
    if (worst == OUTCOME_DEFERRED)
        on_abandon(ctx);
    else
        unref(MAGIC_CAST(pages, ctx));
}

static unsigned n_out(const struct pages *p)
{
    return __atomic_load_n(&p->refs, __ATOMIC_ACQUIRE) - 1;
}

static bool is_undone(const struct pages *p)
{
    return __atomic_load_n(&p->undone, __ATOMIC_ACQUIRE);
}

struct stored_deletes *stored_deletes_new(struct store *store, struct delivery *delivery,
                                          const char *index, uint64_t version_min)
{
    struct stored_deletes *d = mem_alloc(1, sizeof(*d));

    d->store = store;
    d->delivery = delivery;
    d->index = mem_copy(index);
    d->version_min = version_min;
    d->pages = pages_new();
    return d;
}

void stored_deletes_free(struct stored_deletes *d)
{
    if (d == NULL)
        return;
    unref(d->pages);
    buf_free(&d->after);
    free(d->index);
    free(d);
}

static struct ticket *ticket_of(struct pages *p)
{
    struct ticket *t = ticket_new_cb(on_done, p);

    ticket_on_abandon(t, on_abandon);
    __atomic_add_fetch(&p->refs, 1, __ATOMIC_RELAXED);
    return t;
}

static bool submit(struct stored_deletes *d, struct target *t, struct stop *stop,
                   const struct stored_tombstone *tombstones, size_t n, struct err *err)
{
    struct ticket *ticket = ticket_of(d->pages);
    struct doc_write *writes = mem_alloc(n, sizeof(*writes));

    for (size_t i = 0; i < n; i++)
        writes[i] = (struct doc_write){.target = target_ref(t),
                                       .ticket = ticket_ref(ticket),
                                       .op = DOC_DELETE,
                                       .strict = true,
                                       .gathered = true,
                                       .version = tombstones[i].version,
                                       .id = tombstones[i].id,
                                       .routing = tombstones[i].routing};

    const bool ok = delivery_submit_until(d->delivery, stop, writes, n, err);

    for (size_t i = 0; !ok && i < n; i++) {
        ticket_abandon(writes[i].ticket);
        target_unref(writes[i].target);
    }
    ticket_done(ticket, OUTCOME_DELIVERED);
    free(writes);
    return ok;
}

static bool next_page(struct stored_deletes *d, struct target *t, struct stop *stop,
                      struct err *err)
{
    const struct tombstone_filter which = {.index = str_from(d->index),
                                           .version_min = d->version_min,
                                           .after_id = buf_str(&d->after)};
    struct arena *a = arena_new();
    struct stored_tombstone *tombstones;
    size_t n = 0;
    bool ok = store_load_tombstones(d->store, a, which, PAGE, &tombstones, &n, err);

    if (ok && n > 0)
        ok = submit(d, t, stop, tombstones, n, err);
    if (ok && n > 0) {
        buf_clear(&d->after);
        buf_append(&d->after, tombstones[n - 1].id);
        d->n += n;
    }
    d->is_read = ok && n < PAGE;
    arena_free(a);
    return ok;
}

static void begin_anew(struct stored_deletes *d)
{
    unref(d->pages);
    d->pages = pages_new();
    buf_clear(&d->after);
    d->is_read = false;
    d->n = 0;
}

bool stored_deletes_go_on(struct stored_deletes *d, struct target *t, struct stop *stop,
                          struct err *err)
{
    bool ok = true;

    if (is_undone(d->pages)) {
        begin_anew(d);
        return err_set(err, ERR_RETRY, "repeated deletes were abandoned");
    }
    while (ok && !d->is_read && n_out(d->pages) < PAGES_MAX)
        ok = next_page(d, t, stop, err);
    return ok;
}

bool stored_deletes_are_done(const struct stored_deletes *d)
{
    return d->is_read && n_out(d->pages) == 0 && !is_undone(d->pages);
}

bool stored_deletes_repeat(struct stored_deletes *d, struct target *t, struct stop *stop,
                           int64_t idle_ms, struct err *err)
{
    int64_t until_ms = clock_mono_ms() + idle_ms;
    uint64_t n = 0;

    do {
        if (!stored_deletes_go_on(d, t, stop, err))
            return false;
        if (stored_deletes_are_done(d))
            return true;
        if (d->n != n)
            until_ms = clock_mono_ms() + idle_ms;
        n = d->n;
    } while (clock_mono_ms() < until_ms && !stop_wait(stop, POLL_MS));
    return err_set(err, ERR_RETRY, "index %s does not take deletes now; fix: millrace status",
                   t->index);
}
