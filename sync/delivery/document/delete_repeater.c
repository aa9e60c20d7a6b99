#include "config.h"

#include "sync/delivery/document/delete_repeater.h"

#include "src/base/magic.h"
#include "src/base/mem.h"
#include "sync/checkpoint/ticket.h"
#include "sync/delivery/document/target.h"
#include "sync/delivery/document/write.h"

#include <stdlib.h>

#define PLACES      (1u << 16)
#define REPEATS_MAX 10000 /* they hold memory that others wait for */

struct repeat {
    struct repeat *next;
    struct write *write;
    int64_t due_ms;
};

/* One slot for documents whose answers were lost. */
struct late_copies {
    int64_t until_ms;       /* a copy of a write other than a delete may come until then */
    int64_t any_until_ms;   /* a copy of any write may come until then */
    uint64_t hash, version; /* of the document lost last: its highest version */
};

struct delete_repeater {
    enum magic magic;
    struct late_copies places[PLACES]; /* indexed by hash */
    struct repeat *first, **last;
    int64_t last_due_ms;
    size_t n;
    size_t n_out; /* atomic; n, plus those taken that have not ended */
};

struct delete_repeater *delete_repeater_new(void)
{
    struct delete_repeater *l = mem_alloc(1, sizeof(*l));

    l->magic = MAGIC_delete_repeater;
    l->last = &l->first;
    return l;
}

static struct write *take_first(struct delete_repeater *l)
{
    struct repeat *r = l->first;
    struct write *w = r->write;

    l->n--;
    l->first = r->next;
    if (l->first == NULL)
        l->last = &l->first;
    free(r);
    return w;
}

void delete_repeater_free(struct delete_repeater *l)
{
    struct write_ends nobody = {0}; /* nobody waits for them */

    if (l == NULL)
        return;
    while (l->first != NULL)
        write_abandon(take_first(l), &nobody);
    MAGIC_END(delete_repeater, l);
    free(l);
}

void delete_repeater_note(struct delete_repeater *l, const struct write *w, int64_t now_ms,
                          int64_t until_ms)
{
    struct late_copies *p = &l->places[w->hash % PLACES];

    if (p->hash != w->hash || p->any_until_ms <= now_ms || w->version > p->version)
        p->version = w->version;
    p->hash = w->hash;
    p->any_until_ms = until_ms;
    if (w->op != DOC_DELETE)
        p->until_ms = until_ms;
}

void delete_repeater_raise(const struct delete_repeater *l, struct write *w, int64_t now_ms)
{
    const struct late_copies *p = &l->places[w->hash % PLACES];

    if (p->any_until_ms <= now_ms)
        return;
    if (p->hash == w->hash && w->key_len > 0)
        write_rise_above(w, p->version);
    else if (w->fresh)
        write_rise_above(w, w->version);
}

static void on_abandon(void *ctx)
{
    struct delete_repeater *l = MAGIC_CAST(delete_repeater, ctx);

    __atomic_sub_fetch(&l->n_out, 1, __ATOMIC_RELEASE);
}

static void on_done(void *ctx, enum outcome worst)
{
    (void)worst;
    on_abandon(ctx);
}

static struct ticket *count_out(struct delete_repeater *l)
{
    struct ticket *t = ticket_new_cb(on_done, l);

    ticket_on_abandon(t, on_abandon);
    __atomic_add_fetch(&l->n_out, 1, __ATOMIC_RELEASE);
    return t;
}

static struct write *copy(struct delete_repeater *l, const struct write *w,
                          struct write_ends *ends)
{
    struct write *again = write_new(&(struct doc_write){.target = target_ref(w->target),
                                                        .ticket = count_out(l),
                                                        .op = DOC_DELETE,
                                                        .strict = w->strict,
                                                        .version = w->version,
                                                        .id = write_id(w),
                                                        .routing = write_routing(w),
                                                        .key = write_key(w)});

    write_count_for(again, w->allowance);
    write_ends_take(ends, write_account(again), again->cost);
    return again;
}

bool delete_repeater_may_come(const struct delete_repeater *l, const struct write *w,
                              int64_t now_ms)
{
    return l->places[w->hash % PLACES].until_ms > now_ms;
}

/* Find the place by due time: at the end, unless the timeout was shortened. */
static struct repeat **place_of(struct delete_repeater *l, int64_t due_ms)
{
    struct repeat **at = &l->first;

    if (l->first == NULL || l->last_due_ms <= due_ms)
        return l->last;
    while (*at != NULL && (*at)->due_ms <= due_ms)
        at = &(*at)->next;
    return at;
}

void delete_repeater_repeat(struct delete_repeater *l, const struct write *w, int64_t due_ms,
                            struct write_ends *ends)
{
    struct repeat *r, **at;

    r = mem_alloc(1, sizeof(*r));
    at = place_of(l, due_ms);
    r->write = copy(l, w, ends);
    r->due_ms = due_ms;
    r->next = *at;
    *at = r;
    if (r->next == NULL) {
        l->last = &r->next;
        l->last_due_ms = due_ms;
    }
    l->n++;
}

size_t delete_repeater_repeats(const struct delete_repeater *l)
{
    return __atomic_load_n(&l->n_out, __ATOMIC_ACQUIRE);
}

bool delete_repeater_is_full(const struct delete_repeater *l)
{
    return l->n >= REPEATS_MAX;
}

struct write *delete_repeater_next(struct delete_repeater *l, int64_t now_ms)
{
    return l->first == NULL || l->first->due_ms > now_ms ? NULL : take_first(l);
}

int64_t delete_repeater_wait_ms(const struct delete_repeater *l, int64_t now_ms, int64_t max_ms)
{
    if (l->first == NULL || l->first->due_ms - now_ms >= max_ms)
        return max_ms;
    return l->first->due_ms > now_ms ? l->first->due_ms - now_ms : 0;
}
