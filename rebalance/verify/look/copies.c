#include "config.h"

#include "rebalance/verify/look/copies.h"

#include "src/base/arena.h"
#include "src/base/buf.h"
#include "src/search/documents.h"

#include <string.h>

bool copies_find_shards(struct search *s, struct str index, struct arena *a, struct str **out,
                        size_t *n, struct err *err)
{
    struct buf list = {0};

    *n = 0;
    if (!search_shard_routings(s, index, &list, err)) {
        buf_free(&list);
        err->kind = err->kind == ERR_REJECT ? ERR_RETRY : err->kind;
        return false;
    }
    *out = arena_alloc(a, list.len / 2 + 1, sizeof(**out));
    for (size_t at = 0; at < list.len;) {
        const char *end = memchr(list.ptr + at, ' ', list.len - at);
        const size_t len = end == NULL ? list.len - at : (size_t)(end - list.ptr) - at;

        (*out)[(*n)++] = arena_copy(a, (struct str){list.ptr + at, len});
        at += len + 1;
    }
    buf_free(&list);
    return true;
}

struct verify_copy *copies_take(const struct search_document *answers, size_t n_shards,
                                struct arena *a, size_t *n)
{
    struct verify_copy *copies = arena_alloc(a, n_shards, sizeof(*copies));

    *n = 0;
    for (size_t s = 0; s < n_shards; s++)
        if (answers[s].found)
            copies[(*n)++] =
                (struct verify_copy){answers[s].routing, answers[s].version, answers[s].source};
    return copies;
}

bool copies_get(struct search *s, struct str index, struct str id, struct arena *a,
                const struct verify_copy **out, size_t *n, struct err *err)
{
    struct str *shards;
    size_t n_shards;

    if (!copies_find_shards(s, index, a, &shards, &n_shards, err))
        return false;

    struct search_wish *wishes = arena_alloc(a, n_shards, sizeof(*wishes));
    struct search_document *answers = arena_alloc(a, n_shards, sizeof(*answers));

    for (size_t i = 0; i < n_shards; i++)
        wishes[i] = (struct search_wish){.id = id, .routing = shards[i], .source = true};
    if (!search_get_documents(s, index, wishes, n_shards, a, answers, err))
        return false;
    *out = copies_take(answers, n_shards, a, n);
    return true;
}
