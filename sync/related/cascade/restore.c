#include "config.h"

#include "sync/related/cascade/parts.h"

#include "src/base/arena.h"
#include "src/base/mem.h"
#include "src/store/later/gone.h"
#include "sync/checkpoint/read_position.h"
#include "sync/delivery/delivery.h"

#include <stdlib.h>
#include <string.h>

#define AT_ONCE 2000 /* documents per sweep */
#define SLICE   250  /* documents submitted at a time */

/* Returns NULL if its version receives no writes now. */
static struct target *target_of(const struct routing *routing, const struct stored_gone *row)
{
    for (size_t i = 0; i < routing->n_targets; i++) {
        struct target *t = routing->targets[i];
        const struct reading *reading = t->plan;

        if (reading->number == row->version &&
            str_equal(str_from(reading->alias), row->index) &&
            str_equal(str_from(t->table), row->member))
            return t;
    }
    return NULL;
}

/* Take a document into the sweep, unless it is known already. */
static void take(struct cascades *c, struct target *t, const struct stored_gone *row)
{
    const struct gone_row gone = {
        .target = t, .id = row->doc_id, .routing = row->routing, .key = row->key};

    if (t == NULL)
        return;
    lock_acquire(&c->lock);
    if (gone_set_find(&c->gone, t, row->routing, row->doc_id) == NULL) {
        struct gone_document *d = gone_set_add(&c->gone, &gone, 0);

        d->stored = true;
        cascades_sweep_take(c, d);
    }
    lock_release(&c->lock);
}

/* Re-read the rows: their present state counts, whatever the log said before the start. */
static bool read_again(struct cascades *c, struct gone_document *const *docs, size_t n,
                       struct err *err)
{
    struct ticket *ticket = cascades_sweep_ticket(c);
    struct doc_write writes[SLICE];

    for (size_t i = 0; i < n; i++)
        writes[i] = (struct doc_write){.target = target_ref(docs[i]->target),
                                       .ticket = ticket_ref(ticket),
                                       .op = DOC_REFRESH,
                                       .fresh = true,
                                       .gathered = true,
                                       .version = read_position_version(c->opt.reader) + 1,
                                       .id = docs[i]->id,
                                       .routing = docs[i]->routing,
                                       .key = docs[i]->key};

    const bool ok = delivery_submit_until(c->opt.delivery, &c->stop, writes, n, err);

    for (size_t i = 0; !ok && i < n; i++) {
        ticket_abandon(writes[i].ticket);
        target_unref(writes[i].target);
    }
    ticket_done(ticket, OUTCOME_DELIVERED);
    return ok;
}

static bool submit(struct cascades *c, struct err *err)
{
    bool ok = true;

    for (size_t i = 0; ok && i < c->sweep.n; i += SLICE)
        ok = read_again(c, c->sweep.docs + i, c->sweep.n - i < SLICE ? c->sweep.n - i : SLICE,
                        err);
    return ok;
}

static uint64_t routings(struct cascades *c)
{
    lock_acquire(&c->lock);

    const uint64_t n = c->routings;

    lock_release(&c->lock);
    return n;
}

/* Begin a sweep with the next stored documents. */
static void take_rows(struct cascades *c, const struct stored_gone *rows, size_t n)
{
    struct routing *routing = cascades_routing(c);

    for (size_t i = 0; i < n; i++)
        take(c, target_of(routing, &rows[i]), &rows[i]);
    routing_unref(routing);
    c->restore_after = n == AT_ONCE ? rows[n - 1].id : 0;
    if (n == AT_ONCE)
        return;
    lock_acquire(&c->lock);
    c->restored = c->restores;
    lock_release(&c->lock);
}

bool cascades_restore(struct cascades *c, struct err *err)
{
    struct stored_gone *rows;
    size_t n;

    if (c->sweep.n > 0 || routings(c) == c->restored)
        return true;
    if (c->restore_after == 0)
        c->restores = routings(c);

    struct arena *a = arena_new();
    bool ok = store_load_gone(c->opt.store, a, str_from(c->opt.topic), c->restore_after,
                              AT_ONCE, &rows, &n, err);

    if (ok)
        take_rows(c, rows, n);
    arena_free(a);
    if (!ok)
        return err_wrap(err, "loading the documents kept for deleted rows");
    return submit(c, err);
}
