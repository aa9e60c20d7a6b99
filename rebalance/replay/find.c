#include "config.h"

#include "rebalance/replay/parts.h"

#include "sync/document/resolver.h"
#include "sync/routing/routing.h"

#include <string.h>

#define ROWS_AT_ONCE RESOLVER_KEYS_MAX
#define PAGE_ROOTS   1000

/* Rows of one place that are looked up together. */
struct row_batch {
    struct replay *replay;
    struct target *target;
    struct seek seek;
    struct str *keys;
    size_t n;
    const struct replay_row *first, *last;
    struct err err; /* of on_found() */
};

static struct target *find_target(const struct replay *r, struct str member)
{
    for (size_t i = 0; i < r->run.n_targets; i++)
        if (str_equal(str_from(r->run.targets[i]->table), member))
            return r->run.targets[i];
    return NULL;
}

static bool is_same_place(const struct replay_row *a, const struct replay_row *b)
{
    return str_equal(a->member, b->member) && a->place == b->place && a->by == b->by;
}

/* The first rows of one place, as many as fit into one statement. */
static struct row_batch take_batch(struct replay *r, const struct replay_row *rows, size_t n,
                                   struct arena *a)
{
    struct row_batch b = {
        .replay = r, .first = rows, .keys = arena_alloc(a, n, sizeof(*b.keys))};

    while (b.n < n && is_same_place(&rows[0], &rows[b.n])) {
        b.keys[b.n] = rows[b.n].key;
        b.n++;
    }
    b.n = resolver_keys_max(b.keys, b.n);
    b.last = &rows[b.n - 1];
    b.target = find_target(r, rows[0].member);
    if (b.target != NULL)
        b.seek = seek_from(b.target, rows[0].place);
    return b;
}

static bool on_found(void *ctx, size_t key, struct str id, struct str root_key,
                     struct str routing)
{
    struct row_batch *b = ctx;
    bool ok = true;

    (void)key;
    for (size_t i = 0; ok && i < seek_count(&b->seek, routing); i++) {
        const struct replay_document d = {.member = b->first->member,
                                          .doc_id = id,
                                          .routing = seek_at(&b->seek, routing, i),
                                          .key = root_key};

        ok = replay_keys_add(b->replay->keys, &d, &b->err);
    }
    return ok;
}

static bool read_page(struct row_batch *b, struct resolver_cursor *cursor, struct err *err)
{
    struct replay *r = b->replay;
    const struct resolver_rows rows = {.plan = replay_plan(b->target),
                                       .place = b->first->place,
                                       .by = b->first->by,
                                       .keys = b->keys,
                                       .n = b->n};
    const struct resolver_sink sink = {.found = on_found, .ctx = b};
    uint64_t stamp;

    if (read_links_open(&r->run.links, b->target->plan, 0, &stamp, err) &&
        resolver_page(r->run.links.conns, &rows, PAGE_ROOTS, cursor, &sink, err) &&
        read_links_end(&r->run.links, err))
        return true;
    read_links_close(&r->run.links);
    if (b->err.kind != ERR_NONE)
        *err = b->err;
    return false;
}

static bool show(struct replay *r, struct err *err)
{
    return replay_keys_count(r->keys, INT64_MAX, &r->documents, err) &&
           replay_may_go_on(r, err) && replay_show(r, NULL, false, err);
}

/* A page is durable with the place behind it. */
static bool find_batch(struct row_batch *b, struct err *err)
{
    struct replay *r = b->replay;
    struct resolver_cursor cursor = {0};
    bool ok = b->target == NULL || b->first->place >= plan_n_places(replay_plan(b->target)) ||
              replay_keys_get(r->keys, "find_after", &cursor.after, err);

    cursor.end = b->target == NULL || b->first->place >= plan_n_places(replay_plan(b->target));
    while (ok && !cursor.end) {
        buf_clear(&cursor.behind);
        ok = read_page(b, &cursor, err) &&
             replay_keys_put(r->keys, "find_after", buf_str(&cursor.after), err) &&
             replay_save(r, err) && show(r, err);
    }
    ok = ok && replay_keys_put(r->keys, "find_after", STR(""), err) &&
         replay_keys_put_number(r->keys, "find", b->last->id, err) && replay_save(r, err);
    buf_free(&cursor.after);
    buf_free(&cursor.behind);
    return ok;
}

bool replay_find(struct replay *r, struct err *err)
{
    struct replay_row *rows;
    int64_t after;
    size_t n = 1;
    bool ok = true;

    while (ok && n > 0) {
        struct arena *a = arena_new();

        ok = replay_keys_get_number(r->keys, "find", &after, err) &&
             replay_keys_next_rows(r->keys, after, ROWS_AT_ONCE, a, &rows, &n, err);
        if (ok && n > 0) {
            struct row_batch b = take_batch(r, rows, n, a);

            ok = find_batch(&b, err);
        }
        arena_free(a);
    }
    if (!ok)
        replay_keys_undo(r->keys);
    return ok;
}
