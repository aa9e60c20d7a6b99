#include "config.h"

#include "rebalance/build.h"

#include "src/base/mem.h"
#include "sync/delivery/delivery.h"
#include "sync/routing.h"

#include <stdlib.h>

#define GRAVES_PAGE 1000

/* Deletes that are repeated; shared with the ticket that waits for them. */
struct graves_note {
    bool done;     /* atomic */
    unsigned refs; /* atomic */
};

static void unref_graves(struct graves_note *n)
{
    if (__atomic_sub_fetch(&n->refs, 1, __ATOMIC_ACQ_REL) == 0)
        free(n);
}

static void on_graves_done(void *ctx, enum outcome worst)
{
    struct graves_note *n = ctx;

    (void)worst;
    __atomic_store_n(&n->done, true, __ATOMIC_RELEASE);
    unref_graves(n);
}

static bool bury_again(struct index_build *b, struct ticket *ticket,
                       const struct stored_tombstone *graves, size_t n, struct err *err)
{
    struct target *t = build_target(b, STR(""), err);
    struct doc_write *writes;
    size_t n_writes = 0;

    if (t == NULL)
        return false;
    writes = mem_alloc(n, sizeof(*writes));
    for (size_t i = 0; i < n; i++)
        if (graves[i].version >= b->opt.start)
            writes[n_writes++] = (struct doc_write){.target = target_ref(t),
                                                    .ticket = ticket_ref(ticket),
                                                    .op = DOC_DELETE,
                                                    .strict = true,
                                                    .version = graves[i].version,
                                                    .id = graves[i].id,
                                                    .routing = graves[i].routing};

    const bool ok = n_writes == 0 ||
                    delivery_submit_until(b->opt.delivery, &b->stop, writes, n_writes, err);

    for (size_t i = 0; !ok && i < n_writes; i++) {
        ticket_done(writes[i].ticket, OUTCOME_DEFERRED);
        target_unref(writes[i].target);
    }
    free(writes);
    target_unref(t);
    return ok;
}

static bool submit_graves(struct index_build *b, struct ticket *ticket, struct err *err)
{
    struct buf last = {0};
    size_t n = GRAVES_PAGE;
    bool ok = true;

    while (ok && n >= GRAVES_PAGE) {
        struct arena *a = arena_new();
        struct stored_tombstone *graves;

        ok = store_load_tombstones(b->opt.store, a, str_from(b->index), buf_str(&last),
                                   GRAVES_PAGE, &graves, &n, err);
        if (ok && n > 0) {
            buf_clear(&last);
            buf_append(&last, graves[n - 1].id);
            ok = bury_again(b, ticket, graves, n, err);
        }
        arena_free(a);
    }
    buf_free(&last);
    return ok;
}

/*
 * The engine forgets deletes; a fill that was read before one may have come after (rule 6).
 * Strictly: a row that took the key over in the same event has the delete's version.
 */
bool build_repeat_deletes(struct index_build *b, struct err *err)
{
    struct graves_note *note = mem_alloc(1, sizeof(*note));

    note->refs = 2;

    struct ticket *ticket = ticket_new_cb(on_graves_done, note);
    bool ok = submit_graves(b, ticket, err);

    ticket_done(ticket, OUTCOME_DELIVERED);
    while (ok && !__atomic_load_n(&note->done, __ATOMIC_ACQUIRE)) {
        stop_wait(&b->stop, BUILD_POLL_MS);
        ok = !build_is_stopping(b, err);
    }
    unref_graves(note);
    return ok;
}
