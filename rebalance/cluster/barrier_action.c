#include "config.h"

#include "rebalance/cluster/barrier_parts.h"
#include "src/base/arena.h"
#include "src/base/mem.h"

#include <stdlib.h>

struct barrier_action *barrier_add(struct barrier *b, enum barrier_action_kind kind)
{
    struct barrier_actions *out = b->out;

    if (out->n == out->cap) {
        out->cap = out->cap == 0 ? 16 : out->cap * 2;
        out->list = mem_resize(out->list, out->cap, sizeof(*out->list));
    }
    out->list[out->n] = (struct barrier_action){.kind = kind};
    return &out->list[out->n++];
}

struct str barrier_text(struct barrier *b, struct str text)
{
    if (b->out->texts == NULL)
        b->out->texts = arena_new();
    return arena_copy(b->out->texts, text);
}

void barrier_actions_free(struct barrier_actions *a)
{
    free(a->list);
    arena_free(a->texts);
    *a = (struct barrier_actions){0};
}
