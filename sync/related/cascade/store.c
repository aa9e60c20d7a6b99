#include "config.h"

#include "sync/related/cascade/parts.h"

#include "src/base/arena.h"
#include "src/base/clock.h"
#include "src/base/failpoint.h"
#include "src/base/mem.h"
#include "src/store/later/gone.h"
#include "sync/delivery/document/dirty_set.h"

#include <stdlib.h>
#include <string.h>

#define AT_ONCE 500 /* documents per transaction */

static struct gone_owner owner(const struct cascades *c)
{
    return (struct gone_owner){str_from(c->opt.topic), c->opt.term};
}

static struct stored_gone row_of(const struct gone_document *d)
{
    const struct reading *reading = d->target->plan;

    return (struct stored_gone){.index = str_from(reading->alias),
                                .version = reading->number,
                                .member = str_from(d->target->table),
                                .doc_id = d->id,
                                .routing = d->routing,
                                .key = d->key};
}

/* ---- taking in ---- */

/*
 * Note a read that did not find the row.  Returns true if the document is stored already, so
 * that nobody needs to wait.
 */
static bool note(struct cascades *c, const struct gone_row *row) NEEDS(c->lock)
{
    struct gone_document *d = gone_set_find(&c->gone, row->target, row->routing, row->id);

    if (d == NULL || d->state == GONE_LEAVING)
        d = gone_set_add(&c->gone, row, clock_wall_ms());
    gone_document_note(d, row);
    if (d->log_end < c->next_due)
        c->next_due = d->log_end;
    if (d->stored)
        return true;
    if (!d->coming) {
        d->coming = true;
        d->next = c->coming;
        c->coming = d;
        c->pending++;
    }
    gone_document_wait(d, row->tickets, row->n_tickets);
    return false;
}

void cascades_gone(struct cascades *c, const struct gone_row *row)
{
    lock_acquire(&c->lock);

    const bool is_stored = note(c, row);

    cascades_wake(c);
    lock_release(&c->lock);
    for (size_t i = 0; is_stored && i < row->n_tickets; i++)
        ticket_release(row->tickets[i], OUTCOME_DELIVERED);
}

/* ---- storing ---- */

/* Documents leave the list only after they are stored. */
static size_t first_coming(struct cascades *c, struct gone_document **out)
{
    size_t n = 0;

    lock_acquire(&c->lock);
    for (struct gone_document *d = c->coming; d != NULL && n < AT_ONCE; d = d->next)
        out[n++] = d;
    lock_release(&c->lock);
    return n;
}

static void end_wait(struct cascades *c, struct gone_document *d)
{
    struct ticket **tickets;
    size_t n;

    lock_acquire(&c->lock);
    tickets = d->tickets;
    n = d->n_tickets;
    d->tickets = NULL;
    d->n_tickets = 0;
    d->stored = true;
    d->coming = false;
    c->pending--;
    lock_release(&c->lock);
    for (size_t i = 0; i < n; i++)
        ticket_release(tickets[i], OUTCOME_DELIVERED);
    free(tickets);
}

/* New documents only come in front of these. */
static void take_out(struct cascades *c, struct gone_document *const *docs, size_t n)
{
    struct gone_document **at = &c->coming;

    lock_acquire(&c->lock);
    while (*at != docs[0])
        at = &(*at)->next;
    *at = docs[n - 1]->next;
    lock_release(&c->lock);
}

bool cascades_store(struct cascades *c, struct err *err)
{
    const struct gone_owner o = owner(c);
    struct gone_document *docs[AT_ONCE];
    struct stored_gone rows[AT_ONCE];
    size_t n;

    while (!stop_is_set(&c->stop) && (n = first_coming(c, docs)) > 0) {
        for (size_t i = 0; i < n; i++)
            rows[i] = row_of(docs[i]);
        FAILPOINT(gone_found);
        if (!store_put_gone(c->opt.store, &o, rows, n, err))
            return err_wrap(err, "storing the documents kept for deleted rows");
        FAILPOINT(gone_stored);
        take_out(c, docs, n);
        for (size_t i = 0; i < n; i++)
            end_wait(c, docs[i]);
    }
    return true;
}

/* ---- deleting stored documents ---- */

/* If a later read has put another document in its place, the stored row belongs to that one. */
static bool is_own(const struct cascades *c, const struct gone_document *d) NEEDS(c->lock)
{
    return gone_set_find(&c->gone, d->target, d->routing, d->id) == d;
}

/*
 * The document was deleted, or its row exists.  If the row went once more, the document stays
 * stored.
 */
static bool is_over(const struct gone_document *d)
{
    return d->state == GONE_LEAVING || d->state == GONE_ASKED;
}

static size_t own_rows(struct cascades *c, struct gone_document *const *docs, size_t n,
                       struct stored_gone *rows)
{
    size_t n_rows = 0;

    lock_acquire(&c->lock);
    for (size_t i = 0; i < n; i++)
        if (docs[i]->stored && is_over(docs[i]) && is_own(c, docs[i])) {
            docs[i]->stored = docs[i]->state == GONE_LEAVING;
            rows[n_rows++] = row_of(docs[i]);
        }
    lock_release(&c->lock);
    return n_rows;
}

bool cascades_unstore(struct cascades *c, struct gone_document *const *docs, size_t n,
                      struct err *err)
{
    const struct gone_owner o = owner(c);
    struct stored_gone rows[AT_ONCE];
    bool ok = true;

    for (size_t i = 0; ok && i < n; i += AT_ONCE) {
        const size_t n_rows = own_rows(c, docs + i, n - i < AT_ONCE ? n - i : AT_ONCE, rows);

        ok = n_rows == 0 || store_end_gone(c->opt.store, &o, rows, n_rows, err);
    }
    return ok || err_wrap(err, "storing the documents kept for deleted rows");
}

/* ---- status ---- */

size_t cascades_stay(struct cascades *c, struct str index)
{
    lock_acquire(&c->lock);

    const size_t n =
        index.len == 0 ? gone_set_count(&c->gone) : gone_set_count_of(&c->gone, index);

    lock_release(&c->lock);
    return n;
}

bool cascades_may_stay(struct cascades *c)
{
    lock_acquire(&c->lock);

    const bool may = c->restored == 0 || gone_set_count(&c->gone) > 0;

    lock_release(&c->lock);
    return may;
}

int64_t cascades_oldest_ms(struct cascades *c, struct str alias)
{
    lock_acquire(&c->lock);

    const int64_t oldest_ms =
        c->restored == c->routings ? gone_set_oldest_ms(&c->gone, alias) : 0;

    lock_release(&c->lock);
    return oldest_ms;
}

void cascades_touch(struct cascades *c, struct str index, struct dirty_set *t)
{
    struct arena *a = arena_new();
    struct gone_document *d;
    struct doc_write *writes;
    size_t n = 0;

    lock_acquire(&c->lock);
    writes = arena_alloc(a, gone_set_count(&c->gone) + 1, sizeof(*writes));
    for (size_t i = 0; (d = gone_set_next(&c->gone, &i)) != NULL;)
        if (str_equal(str_from(d->target->index), index))
            writes[n++] = (struct doc_write){.target = target_ref(d->target),
                                             .id = arena_copy(a, d->id),
                                             .key = arena_copy(a, d->key)};
    lock_release(&c->lock);
    dirty_set_add(t, writes, n);
    for (size_t i = 0; i < n; i++)
        target_unref(writes[i].target);
    arena_free(a);
}
