#include "config.h"

#include "rebalance/build/page_wait.h"

#include "src/base/magic.h"
#include "src/base/mem.h"
#include "src/base/thread.h"
#include "sync/checkpoint/ticket.h"

#include <stdlib.h>

#define POLL_MS 20

/* Shared with the ticket; reference-counted. */
struct page_wait {
    enum magic magic;
    bool done, lost; /* atomic */
    unsigned refs;   /* atomic */
};

static void unref(struct page_wait *w)
{
    if (__atomic_sub_fetch(&w->refs, 1, __ATOMIC_ACQ_REL) > 0)
        return;
    MAGIC_END(page_wait, w);
    free(w);
}

static void lose(void *ctx)
{
    struct page_wait *w = MAGIC_CAST(page_wait, ctx);

    __atomic_store_n(&w->lost, true, __ATOMIC_RELEASE);
    unref(w);
}

/*
 * Refused documents are dead letters, and the store has the keys of purged ones. Only documents
 * that were given up must be read again.
 */
static void on_done(void *ctx, enum outcome worst)
{
    struct page_wait *w = MAGIC_CAST(page_wait, ctx);

    if (worst == OUTCOME_DEFERRED) {
        lose(w);
        return;
    }
    __atomic_store_n(&w->done, true, __ATOMIC_RELEASE);
    unref(w);
}

struct page_wait *page_wait_new(struct ticket **ticket)
{
    struct page_wait *w = mem_alloc(1, sizeof(*w));

    w->magic = MAGIC_page_wait;
    w->refs = 2;
    *ticket = ticket_new_cb(on_done, w);
    ticket_on_abandon(*ticket, lose);
    return w;
}

bool page_wait_end(struct page_wait *w, struct stop *stop, struct err *err)
{
    while (!__atomic_load_n(&w->done, __ATOMIC_ACQUIRE)) {
        if (__atomic_load_n(&w->lost, __ATOMIC_ACQUIRE))
            return err_set(err, ERR_RETRY, "its index was dropped meanwhile");
        if (stop_wait(stop, POLL_MS))
            return err_set(err, ERR_STOP, "stopping");
    }
    return true;
}

void page_wait_free(struct page_wait *w)
{
    unref(w);
}
