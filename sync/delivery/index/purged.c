#include "config.h"

#include "sync/delivery/index/purged.h"

#include "src/base/backoff.h"
#include "src/base/list.h"
#include "src/base/log.h"
#include "src/base/mem.h"
#include "src/base/random.h"

#include <assert.h>
#include <stdlib.h>

#define STORE_BASE_MS 100
#define STORE_MAX_MS  10000
#define STORE_MAX     500 /* documents per call: it blocks the delivery thread */

struct purged {
    const struct delivery_options *opt;
    struct random random;
    struct link waiting; /* documents */
    size_t n_waiting;
    size_t n_stored; /* this many at the front are durable */
    struct backoff store;
    int64_t store_ms; /* no attempt before */
};

struct purged *purged_new(const struct delivery_options *opt, uint64_t seed)
{
    struct purged *p = mem_alloc(1, sizeof(*p));

    p->opt = opt;
    random_init(&p->random, seed);
    list_init(&p->waiting);
    p->store = (struct backoff){.base_ms = STORE_BASE_MS, .max_ms = STORE_MAX_MS};
    return p;
}

void purged_free(struct purged *p)
{
    free(p); /* the table owns the documents */
}

void purged_add(struct purged *p, struct document *doc)
{
    assert(doc->state == DOCUMENT_REFUSED);
    list_push_back(&p->waiting, &doc->link);
    p->n_waiting++;
}

static struct purged_note note_of(const struct document *doc)
{
    const struct write *w = doc->now;

    return (struct purged_note){
        .target = w->target,
        .id = write_id(w),
        .routing = write_routing(w),
        .key = write_key(w),
        .version = w->version,
        .unanswered = w->ambiguous,
    };
}

static bool store(struct purged *p, struct err *err)
{
    struct purged_note *notes = mem_alloc(STORE_MAX, sizeof(*notes));
    size_t n = 0;

    LIST_EACH(l, &p->waiting)
    {
        if (n == STORE_MAX)
            break;
        notes[n++] = note_of(LIST_ITEM(l, struct document, link));
    }

    const bool ok = p->opt->purged(p->opt->ctx, notes, n, err);

    free(notes);
    p->n_stored = ok ? n : 0;
    return ok;
}

void purged_turn(struct purged *p, int64_t now_ms)
{
    struct err err = {0};

    if (p->n_waiting == 0 || p->n_stored > 0 || now_ms < p->store_ms)
        return;
    if (store(p, &err)) {
        backoff_reset(&p->store);
        return;
    }
    p->store_ms = now_ms + backoff_next_ms(&p->store, &p->random);
    log_failure(LOG_WARN, &err, "could not store purged changes, trying again",
                KV("documents", p->n_waiting));
}

struct document *purged_next(struct purged *p)
{
    struct link *first = list_first(&p->waiting);

    if (first == NULL || p->n_stored == 0)
        return NULL;
    list_remove(first);
    p->n_stored--;
    p->n_waiting--;
    return LIST_ITEM(first, struct document, link);
}

int64_t purged_wait_ms(const struct purged *p, int64_t now_ms, int64_t max_ms)
{
    if (p->n_waiting == 0)
        return max_ms;
    if (p->store_ms <= now_ms)
        return 0;
    return p->store_ms - now_ms < max_ms ? p->store_ms - now_ms : max_ms;
}
