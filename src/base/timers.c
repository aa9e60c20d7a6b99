#include "config.h"

#include "src/base/timers.h"

#include "src/base/mem.h"

#include <assert.h>
#include <stdlib.h>

#define NO_SLOT UINT32_MAX

struct entry {
    int64_t due_ms;
    uint64_t seq; /* order among equals; also makes ids unique */
    uint32_t slot;
};

/* Where a timer stands in the heap, found by the low half of its id. */
struct slot {
    void *cookie;
    uint32_t generation; /* high half of the id */
    uint32_t place;      /* in the heap, or the next free slot */
};

struct timers {
    struct entry *heap;
    struct slot *slots;
    size_t n;
    size_t cap;
    size_t n_slots;
    uint32_t free_slot;
    uint64_t next_seq;
};

struct timers *timers_new(void)
{
    struct timers *t = mem_alloc(1, sizeof(*t));

    t->free_slot = NO_SLOT;
    return t;
}

void timers_free(struct timers *t)
{
    if (t == NULL)
        return;
    free(t->heap);
    free(t->slots);
    free(t);
}

static bool earlier(const struct entry *a, const struct entry *b)
{
    if (a->due_ms != b->due_ms)
        return a->due_ms < b->due_ms;
    return a->seq < b->seq;
}

static void put(struct timers *t, size_t place, struct entry e)
{
    t->heap[place] = e;
    t->slots[e.slot].place = (uint32_t)place;
}

static void sift_up(struct timers *t, size_t place, struct entry e)
{
    while (place > 0) {
        size_t parent = (place - 1) / 2;

        if (!earlier(&e, &t->heap[parent]))
            break;
        put(t, place, t->heap[parent]);
        place = parent;
    }
    put(t, place, e);
}

static void sift_down(struct timers *t, size_t place, struct entry e)
{
    for (;;) {
        size_t child = 2 * place + 1;

        if (child >= t->n)
            break;
        if (child + 1 < t->n && earlier(&t->heap[child + 1], &t->heap[child]))
            child++;
        if (!earlier(&t->heap[child], &e))
            break;
        put(t, place, t->heap[child]);
        place = child;
    }
    put(t, place, e);
}

static uint32_t take_slot(struct timers *t)
{
    if (t->free_slot == NO_SLOT) {
        assert(t->n_slots < NO_SLOT);
        if (t->n_slots == t->cap) {
            t->cap = t->cap > 0 ? t->cap * 2 : 16;
            t->slots = mem_resize(t->slots, t->cap, sizeof(*t->slots));
            t->heap = mem_resize(t->heap, t->cap, sizeof(*t->heap));
        }
        t->slots[t->n_slots] = (struct slot){.generation = 1};
        return (uint32_t)t->n_slots++;
    }

    uint32_t slot = t->free_slot;

    t->free_slot = t->slots[slot].place;
    return slot;
}

static void give_slot_back(struct timers *t, uint32_t slot)
{
    t->slots[slot].generation++;
    t->slots[slot].place = t->free_slot;
    t->free_slot = slot;
}

timer_id timers_add(struct timers *t, int64_t due_ms, void *cookie)
{
    uint32_t slot = take_slot(t);

    t->slots[slot].cookie = cookie;
    sift_up(t, t->n++, (struct entry){due_ms, t->next_seq++, slot});
    return (uint64_t)t->slots[slot].generation << 32 | slot;
}

static void remove_at(struct timers *t, size_t place)
{
    uint32_t slot = t->heap[place].slot;
    struct entry last = t->heap[--t->n];

    if (place < t->n) {
        if (place > 0 && earlier(&last, &t->heap[(place - 1) / 2]))
            sift_up(t, place, last);
        else
            sift_down(t, place, last);
    }
    give_slot_back(t, slot);
}

bool timers_cancel(struct timers *t, timer_id id)
{
    uint32_t slot = (uint32_t)id;

    /* A free slot's generation has not been given out yet. */
    if (slot >= t->n_slots || t->slots[slot].generation != id >> 32)
        return false;
    remove_at(t, t->slots[slot].place);
    return true;
}

bool timers_pop(struct timers *t, int64_t now_ms, void **cookie)
{
    if (t->n == 0 || t->heap[0].due_ms > now_ms)
        return false;
    *cookie = t->slots[t->heap[0].slot].cookie;
    remove_at(t, 0);
    return true;
}

int64_t timers_wait_ms(const struct timers *t, int64_t now_ms, int64_t max_ms)
{
    if (t->n == 0)
        return max_ms;
    if (t->heap[0].due_ms <= now_ms)
        return 0;

    int64_t wait = t->heap[0].due_ms - now_ms;

    return wait < max_ms ? wait : max_ms;
}

size_t timers_count(const struct timers *t)
{
    return t->n;
}
