#include "config.h"

#include "rebalance/fill/part_load.h"

#include "rebalance/fill/level.h"
#include "rebalance/fill/part.h"
#include "src/base/arena.h"
#include "src/base/mem.h"
#include "sync/delivery/document/target.h"
#include "sync/document/bucket/mod.h"
#include "sync/document/key.h"
#include "sync/document/loader.h"
#include "sync/document/resolver.h"
#include "sync/routing/routing.h"

#include <stdlib.h>

#include <xxhash.h>

#define KEYS_MAX 10000 /* of documents, found by one statement */

/* A place in a part: behind a key of `level_sql`, and among the documents of the next keys. */
struct part_place {
    struct str level, roots;
};

static struct part_place place_of(struct str after)
{
    struct part_place p = {.level = STR("")};

    if (!key_next(&after, &p.level) || !key_next(&after, &p.roots))
        return (struct part_place){.level = STR("")};
    return p;
}

static struct str text_of(const struct part_place *p, struct arena *a)
{
    struct buf text = {0};

    key_append_part(&text, p->level);
    key_append_part(&text, p->roots);

    const struct str copy = arena_copy(a, buf_str(&text));

    buf_free(&text);
    return copy;
}

/* ---- which rows ---- */

/* Rows at a place of the plan. */
struct part_rows {
    struct resolver_rows rows;
    struct str level; /* of the last of them */
    bool is_end;      /* no further rows */
};

static struct str *list_keys(const struct fill_part *p, struct arena *a, size_t *n)
{
    struct str rest = buf_str(&p->keys), part;
    struct str *list;

    for (*n = 0; key_next(&rest, &part);)
        ++*n;
    list = arena_alloc(a, *n + 1, sizeof(*list));
    rest = buf_str(&p->keys);
    for (size_t i = 0; key_next(&rest, &part); i++)
        list[i] = part;
    return list;
}

static bool append_remainder(struct buf *where, const struct fill_part *p,
                             const struct target *t, struct err *err)
{
    return p->bucket_column.len == 0 ||
           mod_append(where, ((const struct reading *)t->plan)->plan,
                      buf_str(&p->bucket_column), p->mod, p->rest, err);
}

static bool ask_level(struct mysql_conn *conn, const struct target *t,
                      const struct fill_part *p, struct str after, struct arena *a,
                      struct level_page *found, struct err *err)
{
    const struct top_relation top = {.table = buf_str(&p->member),
                                     .column = buf_str(&p->column),
                                     .level_sql = buf_str(&p->level_sql),
                                     .business_id = buf_str(&p->business_id),
                                     .target_key = buf_str(&p->target_key)};
    struct level_query q = {.top = &top, .target = t, .after = after};
    struct buf where = {0};
    bool ok = append_remainder(&where, p, t, err);

    q.ids = list_keys(p, a, &q.n_ids);
    q.where = buf_str(&where);
    ok = ok && level_find_keys(conn, &q, a, found, err);
    buf_free(&where);
    return ok;
}

static bool find_rows(struct mysql_conn *conn, const struct target *t,
                      const struct fill_part *p, struct str after, struct arena *a,
                      struct part_rows *out, struct err *err)
{
    struct level_page found = {.by = p->by};
    size_t n;

    *out = (struct part_rows){.level = after, .is_end = true};
    if (p->level_sql.len == 0) {
        found.keys = list_keys(p, a, &n);
    } else {
        if (!ask_level(conn, t, p, after, a, &found, err))
            return false;
        n = found.n == 0 ? 0 : resolver_keys_max(found.keys, found.n);
        out->is_end = found.n < LEVEL_KEYS && n == found.n;
        out->level = n == 0 ? after : found.texts[n - 1];
    }
    out->rows = (struct resolver_rows){.plan = ((const struct reading *)t->plan)->plan,
                                       .place = p->place,
                                       .by = found.by,
                                       .keys = found.keys,
                                       .n = n};
    return true;
}

/* ---- their documents ---- */

struct root {
    struct str id, key, routing;
};
struct roots {
    const struct fill_part *part;
    struct arena *a;
    struct root *list; /* owned */
    size_t n, cap;
};

static bool is_ours(const struct fill_part *p, struct str root_key)
{
    return p->bucket_column.len > 0 || XXH64(root_key.ptr, root_key.len, 0) % p->mod == p->rest;
}

static bool on_root(void *ctx, size_t key, struct str id, struct str root_key,
                    struct str routing)
{
    struct roots *r = ctx;

    (void)key;
    if (!is_ours(r->part, root_key))
        return true;
    if (r->n == r->cap) {
        r->cap = r->cap == 0 ? 1024 : r->cap * 2;
        r->list = mem_resize(r->list, r->cap, sizeof(*r->list));
    }
    r->list[r->n++] = (struct root){.id = arena_copy(r->a, id),
                                    .key = arena_copy(r->a, root_key),
                                    .routing = arena_copy(r->a, routing)};
    return true;
}

/* A single document that the server refuses, or that no memory holds, is none. */
static bool take_refused(const struct root *root, struct arena *a, struct loaded *out,
                         const struct err *why)
{
    struct err *kept = arena_alloc(a, 1, sizeof(*kept));

    *kept = *why;
    *out = (struct loaded){
        .id = root->id, .routing = root->routing, .key = root->key, .err = kept};
    return true;
}

static bool load(struct mysql_conn *const *of, const struct plan *plan, const struct roots *r,
                 struct loader_page *page, struct arena *a, struct err *err)
{
    struct str *keys = arena_alloc(a, r->n, sizeof(*keys));
    struct loader_keys k = {.keys = keys, .n = r->n, .bytes_max = page->bytes_max};
    struct loaded *docs = arena_alloc(a, r->n, sizeof(*docs));

    for (size_t i = 0; i < r->n; i++)
        keys[i] = r->list[i].key;
    page->docs = docs;
    page->n = r->n;
    if (!loader_load(of, plan, &k, a, docs, err))
        return err->kind == ERR_REJECT && r->n == 1 && take_refused(&r->list[0], a, docs, err);
    for (page->n = 0; page->n < r->n && !docs[page->n].left;)
        page->n++;
    return true;
}

bool part_load(struct mysql_conn *const *of, const struct target *t, const struct fill_part *p,
               struct loader_page *page, struct arena *a, struct err *err)
{
    struct part_place at = place_of(page->after);
    struct resolver_cursor c = {.end = true};
    struct roots r = {.part = p, .a = a};
    const struct resolver_sink sink = {.found = on_root, .ctx = &r};
    const size_t most = page->rows_max * (p->bucket_column.len > 0 ? 1 : p->mod);
    struct part_rows rows;
    bool ok = find_rows(of[0], t, p, at.level, a, &rows, err);

    buf_append(&c.after, at.roots);
    if (ok && rows.rows.n > 0)
        ok = resolver_page(of, &rows.rows, most < KEYS_MAX ? most : KEYS_MAX, &c, &sink, err);
    ok = ok && (r.n == 0 || load(of, rows.rows.plan, &r, page, a, err));
    if (ok && page->n < r.n) {
        c.end = false;
        buf_clear(&c.after);
        resolver_after(&c, r.list[page->n - 1].key, &c.after);
    }
    at.roots = c.end ? STR("") : buf_str(&c.after);
    at.level = c.end ? rows.level : at.level;
    page->next = text_of(&at, a);
    page->is_end = c.end && rows.is_end;
    buf_free(&c.after);
    buf_free(&c.behind);
    free(r.list);
    return ok;
}
