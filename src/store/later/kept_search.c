#include "config.h"

#include "src/store/later/kept_search.h"

#include "src/base/arena.h"
#include "src/store/core.h"
#include "src/store/store.h"

bool store_keep_searches(struct store *s, const struct kept_search_owner *owner,
                         const struct kept_search *list, size_t n, struct err *err)
{
    static const char sql[] =
        "INSERT INTO kept_search (topic, index_name, version, member, down, query)"
        " VALUES (?, ?, ?, ?, ?, ?)";
    bool ok = true, live;

    if (!store_begin_as(s, owner->topic, owner->term, err))
        return false;
    for (size_t i = 0; ok && i < n; i++) {
        ok = store_version_is_live(s, list[i].index, list[i].version, &live, err);
        if (ok && live)
            ok = store_run(s, sql,
                           BINDS(TEXT(owner->topic), TEXT(list[i].index),
                                 NUMBER(list[i].version), TEXT(list[i].member),
                                 NUMBER(list[i].down), TEXT(list[i].query)),
                           err);
    }
    return store_end(s, ok, err);
}

static void fill(struct arena *a, const struct str *cells, void *element)
{
    *(struct kept_search *)element = (struct kept_search){
        .id = row_number(cells[0]),
        .index = arena_copy(a, cells[1]),
        .version = row_number(cells[2]),
        .member = arena_copy(a, cells[3]),
        .down = row_number(cells[4]) != 0,
        .query = arena_copy(a, cells[5]),
    };
}

bool store_load_searches(struct store *s, struct arena *a, const struct version_name *v,
                         uint64_t after_id, size_t limit, struct kept_search **out, size_t *n,
                         struct err *err)
{
    static const char sql[] =
        "SELECT id, index_name, version, member, down, query FROM kept_search"
        " WHERE index_name = ? AND version = ? AND id > ? ORDER BY id LIMIT ?";
    struct row_list list = ROW_LIST(a, struct kept_search, fill);

    if (!store_load(s, sql,
                    BINDS(TEXT(v->index), NUMBER(v->number), NUMBER(after_id), NUMBER(limit)),
                    &list, err))
        return false;
    *out = row_list_finish(&list, n);
    return true;
}
