#include "config.h"

#include "rebalance/state/holds.h"

#include "src/base/arena.h"
#include "src/base/buf.h"
#include "src/base/lock.h"
#include "src/base/mem.h"

#include <stdlib.h>
#include <string.h>

struct held_index {
    char *index;
    struct delivery_hold hold;
    struct held_index *next;
};

struct holds {
    struct lock lock;
    struct held_index *first; /* guarded by lock */
};

struct holds *holds_new(void)
{
    struct holds *h = mem_alloc(1, sizeof(*h));

    lock_init(&h->lock, LOCK_private);
    return h;
}

/* Needs the lock, or to be alone. */
static void drop(struct held_index **at)
{
    struct held_index *gone = *at;

    *at = gone->next;
    free(gone->index);
    free(gone);
}

void holds_free(struct holds *h)
{
    if (h == NULL)
        return;
    while (h->first != NULL)
        drop(&h->first);
    lock_fini(&h->lock);
    free(h);
}

/* Returns where the index stands, or the end of the list. */
static struct held_index **find(struct holds *h, struct str index) NEEDS(h->lock)
{
    struct held_index **at = &h->first;

    while (*at != NULL && !str_equal(str_from((*at)->index), index))
        at = &(*at)->next;
    return at;
}

void holds_note(struct holds *h, const char *index, const struct delivery_hold *hold)
{
    lock_acquire(&h->lock);

    struct held_index **at = find(h, str_from(index));

    if (*at != NULL)
        drop(at);
    if (hold != NULL) {
        struct held_index *x = mem_alloc(1, sizeof(*x));

        *x = (struct held_index){.index = mem_copy(index), .hold = *hold, .next = h->first};
        h->first = x;
    }
    lock_release(&h->lock);
}

bool holds_find(struct holds *h, struct str index, struct hold *out)
{
    lock_acquire(&h->lock);

    const struct held_index *x = *find(h, index);
    const bool found = x != NULL;

    if (found)
        *out = (struct hold){index, x->hold};
    lock_release(&h->lock);
    return found;
}

static size_t count(const struct holds *h) NEEDS(h->lock)
{
    size_t n = 0;

    for (const struct held_index *x = h->first; x != NULL; x = x->next)
        n++;
    return n;
}

size_t holds_n(struct holds *h)
{
    lock_acquire(&h->lock);

    const size_t n = count(h);

    lock_release(&h->lock);
    return n;
}

size_t holds_all(struct holds *h, struct arena *a, struct hold **list)
{
    size_t n;

    lock_acquire(&h->lock);
    n = count(h);
    *list = arena_alloc(a, n + 1, sizeof(**list));
    n = 0;
    for (const struct held_index *x = h->first; x != NULL; x = x->next)
        (*list)[n++] = (struct hold){arena_copy(a, str_from(x->index)), x->hold};
    lock_release(&h->lock);
    return n;
}

/* The same advice fits every reason: the reason itself already has the engine's message. */
void hold_append_fix(struct buf *b, const char *way_out)
{
    buf_printf(
        b,
        "let the engine take writes again (disk space, a right, a write block), Millrace "
        "retries by itself; or %s",
        way_out);
}
