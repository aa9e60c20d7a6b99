#include "config.h"

#include "rebalance/member/notes.h"

#include "src/base/arena.h"
#include "src/base/lock.h"
#include "src/base/mem.h"

#include <assert.h>
#include <stdlib.h>

struct notes {
    struct lock lock;
    /* All guarded by lock. */
    struct member_note *first, **end;
};

struct notes *notes_new(void)
{
    struct notes *all = mem_alloc(1, sizeof(*all));

    lock_init(&all->lock, LOCK_private);
    all->end = &all->first;
    return all;
}

void member_note_free(struct member_note *n)
{
    arena_free(n->texts);
    free(n);
}

void notes_free(struct notes *all)
{
    struct member_note *n;

    if (all == NULL)
        return;
    while ((n = notes_take(all, INT64_MAX)) != NULL)
        member_note_free(n);
    lock_fini(&all->lock);
    free(all);
}

static const struct barrier_thing *copy_things(struct arena *a, const struct barrier_event *e)
{
    struct barrier_thing *things = arena_alloc(a, e->n + 1, sizeof(*things));

    for (size_t i = 0; i < e->n; i++)
        things[i] = (struct barrier_thing){.name = arena_copy(a, e->things[i].name),
                                           .group = arena_copy(a, e->things[i].group),
                                           .is_interrupted = e->things[i].is_interrupted};
    return things;
}

static struct member_note *copy(const struct barrier_event *e)
{
    struct member_note *n = mem_alloc(1, sizeof(*n));

    assert(e->list == NULL);
    n->event = *e;
    n->texts = arena_new();
    n->event.node = arena_copy(n->texts, e->node);
    n->event.thing = arena_copy(n->texts, e->thing);
    n->event.text = arena_copy(n->texts, e->text);
    n->event.things = e->things == NULL ? NULL : copy_things(n->texts, e);
    return n;
}

void notes_put(struct notes *all, const struct barrier_event *e, int64_t due_ms)
{
    struct member_note *n = copy(e);

    n->due_ms = due_ms;
    lock_acquire(&all->lock);
    *all->end = n;
    all->end = &n->next;
    lock_release(&all->lock);
}

struct member_note *notes_take(struct notes *all, int64_t now_ms)
{
    lock_acquire(&all->lock);

    struct member_note *n = all->first;

    if (n != NULL && n->due_ms > now_ms)
        n = NULL;
    if (n != NULL) {
        all->first = n->next;
        if (all->first == NULL)
            all->end = &all->first;
    }
    lock_release(&all->lock);
    return n;
}
