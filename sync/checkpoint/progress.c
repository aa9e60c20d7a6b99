#include "config.h"

#include "sync/checkpoint/progress.h"

#include "src/base/arena.h"
#include "src/base/clock.h"
#include "src/base/lock.h"
#include "src/base/mem.h"
#include "src/store/store.h"
#include "sync/checkpoint/checkpoint.h"
#include "sync/position/gtid_set.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#define INITIAL_LINE 64
#define LINE_MAX     16384 /* beyond it, new transactions become safe together */

struct progress_entry {
    uint64_t seq;
    struct commit_position end;
    int64_t since_ms;        /* commit time of its first transaction */
    struct gtid_set *merged; /* GTIDs of its transactions but the last; NULL: it has only one */
};

struct pending_tombstone {
    uint64_t version;
    int64_t at_ms;
    char *index, *id, *routing;
    size_t id_len, routing_len;
};

struct progress {
    struct checkpoint *cp;
    uint64_t unrooted;           /* atomic */
    uint64_t running;            /* builder only: the open transaction, 0 none */
    uint64_t opened;             /* builder only: the last one opened, 0 none */
    struct commit_position last; /* builder only: the last commit */
    uint64_t *released;          /* builder only: holds to end with the running transaction */
    size_t n_released, released_cap;
    bool apart;    /* builder only: do not merge the next transaction into the last */
    bool concerns; /* builder only: the running transaction concerns a definition, with or
                      without a ticket */

    struct lock lock;

    /* All guarded by lock. */
    struct progress_entry *line; /* ring of transactions not known to be safe */
    size_t line_cap, line_first, line_len;
    struct safe_point *safe;
    bool changed; /* what concerns a definition became safe since the mark last moved */
    struct pending_tombstone *tombstones;
    size_t n_tombstones, tombstones_cap;
};

struct progress *progress_new(const struct commit_position *start)
{
    struct progress *p = mem_alloc(1, sizeof(*p));

    lock_init(&p->lock, LOCK_private);
    p->cp = checkpoint_new();
    p->safe = safe_point_new(start);
    p->last = *start;
    p->line_cap = INITIAL_LINE;
    p->line = mem_alloc(p->line_cap, sizeof(*p->line));
    return p;
}

static void free_tombstone(struct pending_tombstone *g)
{
    free(g->index);
    free(g->id);
    free(g->routing);
}

void progress_free(struct progress *p)
{
    if (p == NULL)
        return;
    for (size_t i = 0; i < p->n_tombstones; i++)
        free_tombstone(&p->tombstones[i]);
    free(p->tombstones);
    for (size_t i = 0; i < p->line_len; i++)
        gtid_set_free(p->line[(p->line_first + i) % p->line_cap].merged);
    safe_point_free(p->safe);
    free(p->released);
    free(p->line);
    checkpoint_unref(p->cp);
    lock_fini(&p->lock);
    free(p);
}

static bool is_full(struct progress *p)
{
    lock_acquire(&p->lock);

    const bool full = p->line_len >= LINE_MAX;

    lock_release(&p->lock);
    return full;
}

/* Open a transaction.  If too many wait, it joins the one before it. */
static uint64_t open_transaction(struct progress *p)
{
    if (!is_full(p) || !checkpoint_reopen(p->cp, p->opened))
        p->opened = checkpoint_open(p->cp);
    return p->opened;
}

struct ticket *progress_ticket(struct progress *p)
{
    if (p->running == 0)
        p->running = open_transaction(p);
    return ticket_new(p->cp, p->running, checkpoint_counters(p->cp));
}

static void widen_line(struct progress *p) NEEDS(p->lock)
{
    struct progress_entry *wider = mem_alloc(p->line_cap * 2, sizeof(*wider));

    for (size_t i = 0; i < p->line_len; i++)
        wider[i] = p->line[(p->line_first + i) % p->line_cap];
    free(p->line);
    p->line = wider;
    p->line_first = 0;
    p->line_cap *= 2;
}

static struct progress_entry *last_entry(struct progress *p) NEEDS(p->lock)
{
    return &p->line[(p->line_first + p->line_len - 1) % p->line_cap];
}

/* Merge a transaction that opened nothing into the last one, which then ends later. */
static void extend_last(struct progress *p, const struct commit_position *end) NEEDS(p->lock)
{
    struct progress_entry *last = last_entry(p);

    if (last->merged == NULL)
        last->merged = gtid_set_new();
    if (last->end.gtid.family != GTID_NONE)
        gtid_set_add(last->merged, &last->end.gtid);
    last->end = *end;
}

static void append_to_line(struct progress *p, uint64_t seq, const struct commit_position *end)
    NEEDS(p->lock)
{
    if (p->line_len == p->line_cap)
        widen_line(p);
    p->line[(p->line_first + p->line_len++) % p->line_cap] =
        (struct progress_entry){.seq = seq, .end = *end, .since_ms = end->event_ms};
}

static void release_all(struct progress *p, const struct commit_position *end) NEEDS(p->lock)
{
    for (size_t i = 0; i < p->n_released; i++)
        safe_point_release(p->safe, p->released[i], end);
    p->changed = p->changed || p->n_released > 0;
    p->n_released = 0;
}

static void settle(struct progress *p, const struct commit_position *end,
                   const struct gtid_set *merged, bool concerns) NEEDS(p->lock)
{
    safe_point_done(p->safe, end, merged);
    p->changed = p->changed || concerns;
}

/* The end is safe once everything opened so far is done, abandoned parts as well. */
void progress_commit(struct progress *p, const struct commit_position *end)
{
    lock_acquire(&p->lock);
    release_all(p, end);
    if (p->line_len > 0 && last_entry(p)->seq == p->opened && !p->apart)
        extend_last(p, end);
    else if (p->line_len == 0 && checkpoint_safe(p->cp) >= p->opened)
        settle(p, end, NULL, p->concerns);
    else
        append_to_line(p, p->opened, end);
    lock_release(&p->lock);
    p->apart = false;
    p->last = *end;
    progress_abandon(p);
}

uint64_t progress_hold(struct progress *p)
{
    lock_acquire(&p->lock);

    const uint64_t hold = safe_point_hold(p->safe, &p->last);

    lock_release(&p->lock);
    p->apart = true;
    return hold;
}

void progress_concern(struct progress *p)
{
    p->concerns = true;
}

void progress_release(struct progress *p, uint64_t hold)
{
    if (p->n_released == p->released_cap) {
        p->released_cap = p->released_cap == 0 ? 4 : p->released_cap * 2;
        p->released = mem_resize(p->released, p->released_cap, sizeof(*p->released));
    }
    p->released[p->n_released++] = hold;
}

bool progress_held(struct progress *p, struct commit_position *out)
{
    lock_acquire(&p->lock);

    const bool is_held = safe_point_held(p->safe, out);

    lock_release(&p->lock);
    return is_held;
}

void progress_abandon(struct progress *p)
{
    if (p->running != 0)
        checkpoint_close(p->cp, p->running);
    p->running = 0;
    p->concerns = false;
}

static char *copy_bytes(struct str s)
{
    char *copy = mem_alloc(s.len + 1, 1);

    if (s.len > 0)
        memcpy(copy, s.ptr, s.len);
    return copy;
}

static void add_tombstone(struct progress *p, const struct stored_tombstone *t) NEEDS(p->lock)
{
    if (p->n_tombstones == p->tombstones_cap) {
        p->tombstones_cap = p->tombstones_cap == 0 ? 256 : p->tombstones_cap * 2;
        p->tombstones = mem_resize(p->tombstones, p->tombstones_cap, sizeof(*p->tombstones));
    }
    p->tombstones[p->n_tombstones++] = (struct pending_tombstone){
        .version = t->version,
        .at_ms = t->at_ms,
        .index = copy_bytes(t->index),
        .id = copy_bytes(t->id),
        .routing = copy_bytes(t->routing),
        .id_len = t->id.len,
        .routing_len = t->routing.len,
    };
}

void progress_tombstone(struct progress *p, struct str index, struct str id, struct str routing,
                        uint64_t version)
{
    const struct stored_tombstone t = {.index = index,
                                       .id = id,
                                       .routing = routing,
                                       .version = version,
                                       .at_ms = clock_steady_ms()};

    lock_acquire(&p->lock);
    add_tombstone(p, &t);
    lock_release(&p->lock);
}

/* Remove the done entries from the front of the line. */
static void shorten_line(struct progress *p, uint64_t safe) NEEDS(p->lock)
{
    while (p->line_len > 0 && p->line[p->line_first].seq <= safe) {
        struct progress_entry *first = &p->line[p->line_first];

        /* An entry counts as a change, whatever was merged into it. */
        settle(p, &first->end, first->merged, true);
        gtid_set_free(first->merged);
        p->line_first = (p->line_first + 1) % p->line_cap;
        p->line_len--;
    }
}

enum progress_move progress_safe(struct progress *p, struct commit_position *out,
                                 struct gtid_set *executed)
{
    const uint64_t safe = checkpoint_safe(p->cp);
    enum progress_move move = PROGRESS_STAYS;

    lock_acquire(&p->lock);
    shorten_line(p, safe);

    if (safe_point_take(p->safe, out, executed)) {
        move = p->changed ? PROGRESS_CHANGES : PROGRESS_ASIDE;
        p->changed = false;
    }
    lock_release(&p->lock);
    return move;
}

struct commit_position progress_done(struct progress *p)
{
    const uint64_t safe = checkpoint_safe(p->cp);

    lock_acquire(&p->lock);
    shorten_line(p, safe);

    const struct commit_position done = *safe_point_end(p->safe);

    lock_release(&p->lock);
    return done;
}

int64_t progress_undone_ms(struct progress *p)
{
    const uint64_t safe = checkpoint_safe(p->cp);

    lock_acquire(&p->lock);
    shorten_line(p, safe);

    const int64_t since_ms = p->line_len == 0 ? 0 : p->line[p->line_first].since_ms;

    lock_release(&p->lock);
    return since_ms;
}

size_t progress_take_tombstones(struct progress *p, struct arena *a,
                                struct stored_tombstone **out)
{
    lock_acquire(&p->lock);

    const size_t n = p->n_tombstones;

    *out = arena_alloc(a, n == 0 ? 1 : n, sizeof(**out));
    for (size_t i = 0; i < n; i++) {
        struct pending_tombstone *g = &p->tombstones[i];

        (*out)[i] = (struct stored_tombstone){
            .index = arena_copy(a, str_from(g->index)),
            .id = arena_copy(a, (struct str){g->id, g->id_len}),
            .routing = arena_copy(a, (struct str){g->routing, g->routing_len}),
            .version = g->version,
            .at_ms = g->at_ms,
        };
        free_tombstone(g);
    }
    p->n_tombstones = 0;
    lock_release(&p->lock);
    return n;
}

size_t progress_tombstones(struct progress *p)
{
    lock_acquire(&p->lock);

    const size_t n = p->n_tombstones;

    lock_release(&p->lock);
    return n;
}

void progress_return_tombstones(struct progress *p, const struct stored_tombstone *t, size_t n)
{
    lock_acquire(&p->lock);
    for (size_t i = 0; i < n; i++)
        add_tombstone(p, &t[i]);
    lock_release(&p->lock);
}

void progress_count_unrooted(struct progress *p)
{
    __atomic_add_fetch(&p->unrooted, 1, __ATOMIC_RELAXED);
}

uint64_t progress_unrooted(struct progress *p)
{
    return __atomic_load_n(&p->unrooted, __ATOMIC_RELAXED);
}

struct ticket_counters *progress_counters(struct progress *p)
{
    return checkpoint_counters(p->cp);
}

bool progress_idle(struct progress *p)
{
    const uint64_t safe = checkpoint_safe(p->cp);

    lock_acquire(&p->lock);

    bool idle = true;

    for (size_t i = 0; i < p->line_len && idle; i++)
        idle = p->line[(p->line_first + i) % p->line_cap].seq <= safe;
    lock_release(&p->lock);
    return idle;
}
