#include "config.h"

#include "sync/checkpoint/safe_point.h"

#include "src/base/mem.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

/* `after` has the GTIDs done after `at` and before the next hold. */
struct point_hold {
    uint64_t number;
    struct commit_position at;
    bool released;
    struct commit_position end; /* once released: drop the hold when this is done */
    struct gtid_set *after;
};

struct safe_point {
    struct commit_position done;
    struct point_hold *holds; /* in the order of the log */
    size_t n_holds, holds_cap;
    uint64_t last_number;
    struct gtid_set *passed; /* before the place, not taken yet */
    struct commit_position taken;
    bool moved;
};

uint64_t commit_position_version(const struct commit_position *m, uint64_t epoch)
{
    return epoch << 53 | (uint64_t)m->file_number << 33 | m->offset;
}

static bool is_before(const struct commit_position *a, const struct commit_position *b)
{
    return a->file_number != b->file_number ? a->file_number < b->file_number
                                            : a->offset < b->offset;
}

struct safe_point *safe_point_new(const struct commit_position *start)
{
    struct safe_point *s = mem_alloc(1, sizeof(*s));

    s->done = *start;
    s->taken = *start;
    s->passed = gtid_set_new();
    return s;
}

void safe_point_free(struct safe_point *s)
{
    if (s == NULL)
        return;
    for (size_t i = 0; i < s->n_holds; i++)
        gtid_set_free(s->holds[i].after);
    free(s->holds);
    gtid_set_free(s->passed);
    free(s);
}

uint64_t safe_point_hold(struct safe_point *s, const struct commit_position *at)
{
    assert(!is_before(at, &s->done));
    if (s->n_holds == s->holds_cap) {
        s->holds_cap = s->holds_cap == 0 ? 8 : s->holds_cap * 2;
        s->holds = mem_resize(s->holds, s->holds_cap, sizeof(*s->holds));
    }
    s->holds[s->n_holds++] =
        (struct point_hold){.number = ++s->last_number, .at = *at, .after = gtid_set_new()};
    return s->last_number;
}

static void drop(struct safe_point *s, size_t i)
{
    struct gtid_set *before = i == 0 ? s->passed : s->holds[i - 1].after;

    gtid_set_merge(before, s->holds[i].after);
    gtid_set_free(s->holds[i].after);
    memmove(&s->holds[i], &s->holds[i + 1], (s->n_holds - i - 1) * sizeof(*s->holds));
    s->n_holds--;
    s->moved = true;
}

/* Tell whether another hold's place is between the two ends of this one. */
static bool has_inside(const struct safe_point *s, size_t hold)
{
    const struct point_hold *h = &s->holds[hold];

    for (size_t i = hold + 1; i < s->n_holds; i++)
        if (is_before(&h->at, &s->holds[i].at))
            return is_before(&s->holds[i].at, &h->end);
    return false;
}

static void drop_ended(struct safe_point *s)
{
    for (size_t i = s->n_holds; i-- > 0;)
        if (s->holds[i].released && !is_before(&s->done, &s->holds[i].end) && !has_inside(s, i))
            drop(s, i);
}

/* Returns the last place that is done and between the ends of no hold. */
static const struct commit_position *place(const struct safe_point *s)
{
    const struct commit_position *at = &s->done;

    for (size_t i = s->n_holds; i-- > 0;) {
        const struct point_hold *h = &s->holds[i];

        if (is_before(&h->at, at) && (!h->released || is_before(at, &h->end)))
            at = &h->at;
    }
    return at;
}

void safe_point_release(struct safe_point *s, uint64_t hold, const struct commit_position *end)
{
    for (size_t i = 0; i < s->n_holds; i++)
        if (s->holds[i].number == hold) {
            s->holds[i].released = true;
            s->holds[i].end = *end;
        }
    drop_ended(s);
}

/* Returns the set that keeps the GTIDs of transactions ending at `to`. */
static struct gtid_set *set_for(struct safe_point *s, const struct commit_position *to)
{
    struct gtid_set *set = s->passed;

    for (size_t i = 0; i < s->n_holds && is_before(&s->holds[i].at, to); i++)
        set = s->holds[i].after;
    return set;
}

void safe_point_done(struct safe_point *s, const struct commit_position *to,
                     const struct gtid_set *merged)
{
    struct gtid_set *set = set_for(s, to);

    if (merged != NULL)
        gtid_set_merge(set, merged);
    if (to->gtid.family != GTID_NONE)
        gtid_set_add(set, &to->gtid);
    s->done = *to;
    s->moved = true;
    drop_ended(s);
}

const struct commit_position *safe_point_end(const struct safe_point *s)
{
    return &s->done;
}

bool safe_point_take(struct safe_point *s, struct commit_position *out,
                     struct gtid_set *executed)
{
    const struct commit_position *at = place(s);
    const bool held = at != &s->done;
    const bool moved = s->moved && (!held || is_before(&s->taken, at));

    *out = s->taken = *at;
    s->moved = false;
    if (!gtid_set_is_empty(s->passed)) {
        gtid_set_merge(executed, s->passed);
        gtid_set_free(s->passed);
        s->passed = gtid_set_new();
    }
    return moved;
}

size_t safe_point_holds(const struct safe_point *s)
{
    return s->n_holds;
}

bool safe_point_held(const struct safe_point *s, struct commit_position *out)
{
    for (size_t i = 0; i < s->n_holds; i++)
        if (!s->holds[i].released) {
            *out = s->holds[i].at;
            return true;
        }
    return false;
}
