#include "config.h"

#include "rebalance/fill/fill.h"

#include "src/base/clock.h"
#include "src/base/failpoint.h"
#include "src/base/magic.h"
#include "src/base/mem.h"
#include "sync/checkpoint/grace_period.h"
#include "sync/delivery/delivery.h"
#include "sync/document/key.h"
#include "sync/document/loader.h"

#include <stdlib.h>

/* One statement's documents in flight; shared with the ticket that waits for them. */
struct chunk_note {
    enum magic magic;
    struct chunk_note *next;
    struct buf cursor; /* table and key of the chunk's last row */
    uint64_t rows, dead;
    bool is_part;  /* of a run: what is not written is not done */
    bool done;     /* atomic */
    unsigned refs; /* atomic */
};

static void unref_note(struct chunk_note *n)
{
    if (__atomic_sub_fetch(&n->refs, 1, __ATOMIC_ACQ_REL) > 0)
        return;
    buf_free(&n->cursor);
    MAGIC_END(chunk_note, n);
    free(n);
}

static void on_chunk_done(void *ctx, enum outcome worst)
{
    struct chunk_note *n = MAGIC_CAST(chunk_note, ctx);

    /* A refused document is a dead letter; a newer one replaces ours. */
    if (worst != OUTCOME_DEFERRED || !n->is_part)
        __atomic_store_n(&n->done, true, __ATOMIC_RELEASE);
    unref_note(n);
}

static void on_chunk_abandoned(void *ctx)
{
    unref_note(MAGIC_CAST(chunk_note, ctx));
}

void fill_collect(struct index_fill *f)
{
    struct chunk_note *n;

    while ((n = f->open_first) != NULL && __atomic_load_n(&n->done, __ATOMIC_ACQUIRE)) {
        buf_clear(&f->cursor);
        buf_append(&f->cursor, buf_str(&n->cursor));
        f->job.rows_done += n->rows;
        __atomic_add_fetch(&f->progress, n->rows, __ATOMIC_RELAXED);
        f->bucket.dead += n->dead;
        f->open_first = n->next;
        if (f->open_first == NULL)
            f->open_last = &f->open_first;
        f->n_open--;
        unref_note(n);
    }
}

static struct chunk_note *note_chunk(struct index_fill *f, const struct loader_page *page)
{
    struct chunk_note *note = mem_alloc(1, sizeof(*note));

    note->magic = MAGIC_chunk_note;
    note->refs = 2;
    note->rows = page->n;
    note->is_part = f->is_part;
    key_append_part(&note->cursor, str_from(f->tables[f->at_table]));
    buf_append(&note->cursor, page->next);
    buf_clear(&f->after);
    buf_append(&f->after, page->next);
    *f->open_last = note;
    f->open_last = &note->next;
    f->n_open++;
    return note;
}

/*
 * Returns false if the daemon stops before the dead letter is kept: the cursor must not pass
 * its row.
 */
static bool bury(struct index_fill *f, struct target *t, const struct loaded *d)
{
    return f->opt.dead(f->opt.ctx,
                       &(struct dead_letter_note){.target = t,
                                                  .id = d->id,
                                                  .routing = d->routing,
                                                  .key = d->key,
                                                  .version = f->opt.start,
                                                  .op = DOC_INDEX,
                                                  .reason = str_from(d->err->msg),
                                                  .attempts = 1},
                       &f->stop);
}

bool fill_submit(struct index_fill *f, struct target *t, const struct loader_page *page,
                 const struct pass *pass, struct err *err)
{
    const struct loaded *docs = page->docs;
    const size_t n = page->n;
    struct chunk_note *note = note_chunk(f, page);
    struct ticket *ticket = ticket_new_cb(on_chunk_done, note);
    struct doc_write *writes = mem_alloc(n, sizeof(*writes));
    size_t n_writes = 0;
    bool ok = true;

    ticket_on_abandon(ticket, on_chunk_abandoned);
    ticket_pass(ticket, pass->grace_period, pass->side);
    for (size_t i = 0; ok && i < n; i++) {
        if (docs[i].err != NULL) {
            ok = bury(f, t, &docs[i]) || err_set(err, ERR_STOP, "stopping");
            note->dead++;
            continue;
        }
        if (docs[i].body.ptr == NULL)
            continue;
        writes[n_writes++] = (struct doc_write){.target = target_ref(t),
                                                .ticket = ticket_ref(ticket),
                                                .op = DOC_INDEX,
                                                .strict = true,
                                                .gathered = true,
                                                .version = f->opt.start,
                                                .id = docs[i].id,
                                                .routing = docs[i].routing,
                                                .key = docs[i].key,
                                                .body = docs[i].body};
    }

    ok = ok && (n_writes == 0 ||
                delivery_submit_until(f->opt.delivery, &f->stop, writes, n_writes, err));
    for (size_t i = 0; !ok && i < n_writes; i++) {
        ticket_abandon(writes[i].ticket);
        target_unref(writes[i].target);
    }
    free(writes);
    if (ok)
        ticket_done(ticket, OUTCOME_DELIVERED);
    else
        ticket_abandon(ticket);
    return ok;
}

void fill_forget_chunks(struct index_fill *f)
{
    for (struct chunk_note *n = f->open_first, *next; n != NULL; n = next) {
        next = n->next;
        unref_note(n);
    }
    f->open_first = NULL;
    f->open_last = &f->open_first;
    f->n_open = 0;
}
