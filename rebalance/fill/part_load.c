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

/*
 * A place in a part: among the documents of some rows.  With `level_sql`, these are its keys
 * behind `above` up to `until`, also when it is asked again; empty: up to as many as a page
 * has.
 */
struct part_place {
    struct str above, until, roots;
};

static struct part_place place_of(struct str after)
{
    struct part_place p = {.above = STR(""), .until = STR(""), .roots = STR("")};

    if (!key_next(&after, &p.above) || !key_next(&after, &p.until) ||
        !key_next(&after, &p.roots))
        p = (struct part_place){.above = STR(""), .until = STR(""), .roots = STR("")};
    return p;
}

static struct str text_of(const struct part_place *p, struct arena *a)
{
    struct buf text = {0};

    key_append_part(&text, p->above);
    key_append_part(&text, p->until);
    key_append_part(&text, p->roots);

    const struct str copy = arena_copy(a, buf_str(&text));

    buf_free(&text);
    return copy;
}

/* ---- which rows ---- */

/* Rows at a place of the plan. */
struct part_rows {
    struct resolver_rows rows;
    struct str until; /* the last of them, by `level_sql` */
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

static const struct plan *plan_of(const struct part_reading *from)
{
    return ((const struct reading *)from->target->plan)->plan;
}

static bool ask_level(struct mysql_conn *conn, const struct part_reading *from,
                      const struct part_place *at, struct arena *a, struct level_page *found,
                      struct err *err)
{
    const struct fill_part *p = from->part;
    struct level_query q = {
        .top = from->top, .plan = plan_of(from), .after = at->above, .until = at->until};
    struct buf where = {0};
    bool ok =
        p->bucket_column.len == 0 ||
        mod_append(&where, plan_of(from), buf_str(&p->bucket_column), p->mod, p->rest, err);

    q.ids = list_keys(p, a, &q.n_ids);
    q.where = buf_str(&where);
    ok = ok && level_find_keys(conn, &q, from->known, a, found, err);
    buf_free(&where);
    return ok;
}

static bool find_by_level(struct mysql_conn *conn, const struct part_reading *from,
                          const struct part_place *at, struct arena *a, struct part_rows *out,
                          struct err *err)
{
    struct level_page found = {.n = 0};

    if (!ask_level(conn, from, at, a, &found, err))
        return false;

    const size_t n = found.n == 0 ? 0 : resolver_keys_max(found.keys, found.n);

    out->rows.by = found.by;
    out->rows.keys = found.keys;
    out->rows.n = n;
    out->is_end = found.is_last && n == found.n;
    out->until = n == found.n && at->until.len > 0 ? at->until
                 : n == 0                          ? at->above
                                                   : found.texts[n - 1];
    return true;
}

static bool find_rows(struct mysql_conn *conn, const struct part_reading *from,
                      const struct part_place *at, struct arena *a, struct part_rows *out,
                      struct err *err)
{
    const struct fill_part *p = from->part;

    *out = (struct part_rows){.until = STR(""), .is_end = true};
    out->rows = (struct resolver_rows){.plan = plan_of(from), .place = p->place, .by = p->by};
    if (p->by_level)
        return find_by_level(conn, from, at, a, out, err);
    out->rows.keys = list_keys(p, a, &out->rows.n);
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

/* As many of them as the page may have. */
static bool load(struct mysql_conn *const *of, const struct plan *plan, const struct roots *r,
                 struct loader_page *page, struct arena *a, struct err *err)
{
    const size_t n = r->n < page->rows_max ? r->n : page->rows_max;
    struct str *keys = arena_alloc(a, n, sizeof(*keys));
    struct loader_keys k = {.keys = keys, .n = n, .bytes_max = page->bytes_max};
    struct loaded *docs = arena_alloc(a, n, sizeof(*docs));

    for (size_t i = 0; i < n; i++)
        keys[i] = r->list[i].key;
    page->docs = docs;
    page->n = n;
    if (!loader_load(of, plan, &k, a, docs, err))
        return err->kind == ERR_REJECT && n == 1 && take_refused(&r->list[0], a, docs, err);
    for (page->n = 0; page->n < n && !docs[page->n].left;)
        page->n++;
    return true;
}

/* Where the next page begins. */
static struct str place_behind(const struct part_place *at, const struct part_rows *rows,
                               const struct resolver_cursor *c, struct arena *a)
{
    const struct part_place next =
        c->end ? (struct part_place){rows->until, STR(""), STR("")}
               : (struct part_place){at->above, rows->until, buf_str(&c->after)};

    return text_of(&next, a);
}

bool part_load(struct mysql_conn *const *of, const struct part_reading *from,
               struct loader_page *page, struct arena *a, struct err *err)
{
    const struct fill_part *p = from->part;
    const struct part_place at = place_of(page->after);
    const size_t most = page->rows_max * (p->bucket_column.len > 0 ? 1 : p->mod);
    struct resolver_cursor c = {.end = true};
    struct roots r = {.part = p, .a = a};
    const struct resolver_sink sink = {.found = on_root, .ctx = &r};
    struct part_rows rows;
    bool ok = find_rows(of[0], from, &at, a, &rows, err);

    buf_append(&c.after, at.roots);
    if (ok && rows.rows.n > 0)
        ok = resolver_page(of, &rows.rows, most < KEYS_MAX ? most : KEYS_MAX, &c, &sink, err);
    ok = ok && (r.n == 0 || load(of, rows.rows.plan, &r, page, a, err));
    if (ok && page->n < r.n) {
        c.end = false;
        buf_clear(&c.after);
        resolver_after(&c, r.list[page->n - 1].key, &c.after);
    }
    if (ok) {
        page->next = place_behind(&at, &rows, &c, a);
        page->is_end = c.end && rows.is_end;
    }
    buf_free(&c.after);
    buf_free(&c.behind);
    free(r.list);
    return ok;
}
