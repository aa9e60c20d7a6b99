#include "config.h"

#include "sync/delivery/late.h"

#include "src/base/mem.h"
#include "sync/delivery/target.h"
#include "sync/delivery/write.h"

#include <stdlib.h>

#define PLACES      (1u << 16)
#define REPEATS_MAX 10000 /* they hold memory that others wait for */

struct repeat {
    struct repeat *next;
    struct write *write;
    int64_t due_ms;
};

/* Of documents whose answers were lost. */
struct place {
    int64_t until_ms;       /* a copy of what is no delete may come */
    int64_t any_until_ms;   /* or of a delete */
    uint64_t hash, version; /* of the one that was lost last: its highest version */
};

struct late {
    struct place places[PLACES]; /* by hash */
    struct repeat *first, **last;
    int64_t last_due_ms;
    size_t n;
};

struct late *late_new(void)
{
    struct late *l = mem_alloc(1, sizeof(*l));

    l->last = &l->first;
    return l;
}

static struct write *take_first(struct late *l)
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

void late_free(struct late *l)
{
    struct write_ends nobody = {0}; /* waits for them */

    if (l == NULL)
        return;
    while (l->first != NULL)
        write_abandon(take_first(l), &nobody);
    free(l);
}

void late_note(struct late *l, const struct write *w, int64_t now_ms, int64_t until_ms)
{
    struct place *p = &l->places[w->hash % PLACES];

    if (p->hash != w->hash || p->any_until_ms <= now_ms || w->version > p->version)
        p->version = w->version;
    p->hash = w->hash;
    p->any_until_ms = until_ms;
    if (w->op != DOC_DELETE)
        p->until_ms = until_ms;
}

void late_raise(const struct late *l, struct write *w, int64_t now_ms)
{
    const struct place *p = &l->places[w->hash % PLACES];

    if (p->any_until_ms <= now_ms)
        return;
    if (p->hash == w->hash && w->key_len > 0)
        write_rise_above(w, p->version);
    else if (w->fresh)
        write_rise_above(w, w->version);
}

static struct write *copy(const struct write *w, struct write_ends *ends)
{
    struct write *again = write_new(&(struct doc_write){.target = target_ref(w->target),
                                                        .op = DOC_DELETE,
                                                        .strict = w->strict,
                                                        .version = w->version,
                                                        .id = write_id(w),
                                                        .routing = write_routing(w),
                                                        .key = write_key(w)});

    ends->taken += again->cost;
    return again;
}

bool late_may_come(const struct late *l, const struct write *w, int64_t now_ms)
{
    return l->places[w->hash % PLACES].until_ms > now_ms;
}

/* Where it belongs by its time; behind all, unless the timeout has become shorter. */
static struct repeat **place_of(struct late *l, int64_t due_ms)
{
    struct repeat **at = &l->first;

    if (l->first == NULL || l->last_due_ms <= due_ms)
        return l->last;
    while (*at != NULL && (*at)->due_ms <= due_ms)
        at = &(*at)->next;
    return at;
}

void late_repeat(struct late *l, const struct write *w, int64_t due_ms, struct write_ends *ends)
{
    struct repeat *r, **at;

    r = mem_alloc(1, sizeof(*r));
    at = place_of(l, due_ms);
    r->write = copy(w, ends);
    r->due_ms = due_ms;
    r->next = *at;
    *at = r;
    if (r->next == NULL) {
        l->last = &r->next;
        l->last_due_ms = due_ms;
    }
    l->n++;
}

bool late_is_full(const struct late *l)
{
    return l->n >= REPEATS_MAX;
}

struct write *late_next(struct late *l, int64_t now_ms)
{
    return l->first == NULL || l->first->due_ms > now_ms ? NULL : take_first(l);
}

int64_t late_wait_ms(const struct late *l, int64_t now_ms, int64_t max_ms)
{
    if (l->first == NULL || l->first->due_ms - now_ms >= max_ms)
        return max_ms;
    return l->first->due_ms > now_ms ? l->first->due_ms - now_ms : 0;
}
