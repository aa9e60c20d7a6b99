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

/* ---- what helps ---- */

static const struct remedy {
    const char *code;    /* the doctor's, of the hold */
    const char *release; /* makes this index take documents; NULL: nothing does */
    bool helps_rebuild;  /* a new version would take them ... */
    const char *before;  /* ... once this is done; NULL: at once */
} remedies[N_CURES] = {
    [CURE_ENGINE] = {"table.runs.held.engine",
                     "see that the engine answers and is not overloaded", false, NULL},
    [CURE_SHARDS] =
        {"table.runs.held.shards",
         "bring the engine's missing shards back (GET _cluster/health?level=shards)", true,
         NULL},
    [CURE_ACCESS] = {"table.runs.held.access",
                     "let Millrace log in and write to this index, as the reason says", false,
                     NULL},
    [CURE_DISK] = {"table.runs.held.disk", "make room on the engine's disks", false, NULL},
    [CURE_BLOCK] = {"table.runs.held.block",
                    "remove the block (index.blocks of the index, or cluster.blocks)", true,
                    NULL},
    [CURE_CLOSED] = {"table.runs.held.closed", "open the index (POST /INDEX/_open)", true,
                     NULL},
    [CURE_MISSING] = {"table.runs.held.missing", NULL, true, NULL},
    [CURE_ALIAS] = {"table.runs.held.alias",
                    "let the write alias lead to the index again (POST /_aliases)", true, NULL},
    [CURE_PIPELINE] = {"table.runs.held.pipeline", "create the ingest pipeline again", true,
                       "take the pipeline out of the definition"},
    [CURE_RENAMED] = {"table.runs.held.renamed", NULL, true,
                      "let the pipeline leave `_id` and `_index` as they are"},
    [CURE_FIELDS] = {"table.runs.held.fields", "raise the limit (PUT /INDEX/_settings)", true,
                     "raise it in the definition's settings, or show fewer columns"},
    [CURE_DOCUMENTS] = {"table.runs.held.documents", NULL, true,
                        "raise number_of_shards in the definition's settings"},
    [CURE_MAPPING] = {"table.runs.held.mapping", "correct the rows that the reason names", true,
                      "correct the definition"},
    [CURE_REQUESTS] = {"table.runs.held.requests",
                       "see that search.url leads to the engine, and that no proxy between "
                       "changes requests",
                       false, NULL},
    [CURE_VERSION] = {"table.runs.held.version", NULL, true,
                      "end whoever else writes to this index"},
    [CURE_LETTERS] = {"table.runs.held.letters",
                      "make room by millrace dead-letter replay or discard", false, NULL},
    [CURE_RESUME] = {"table.runs.held.resume", "millrace index resume", false, NULL},
    [CURE_OTHER] = {"table.runs.held.other", "correct what the reason names", true, NULL},
};

const char *hold_code(enum cure cure)
{
    return remedies[cure].code != NULL ? remedies[cure].code : "table.runs.held";
}

static void append_rebuild(struct buf *b, const struct remedy *r, const char *rebuild)
{
    buf_printf(b, "%s%s%s", r->before != NULL ? r->before : "",
               r->before != NULL ? ", then " : "", rebuild);
}

void hold_append_fix(struct buf *b, enum cure cure, const char *rebuild)
{
    const struct remedy *r = &remedies[cure];

    if (r->release != NULL)
        buf_printf(b, "%s, then Millrace continues by itself%s", r->release,
                   r->helps_rebuild ? "; or " : "");
    if (r->helps_rebuild)
        append_rebuild(b, r, rebuild);
}

void hold_append_stop_fix(struct buf *b, enum cure cure, const char *rebuild)
{
    const struct remedy *r = &remedies[cure];

    if (r->helps_rebuild)
        append_rebuild(b, r, rebuild);
    else
        buf_printf(b, "%s, then %s", r->release, rebuild);
}
