#include "config.h"

#include "sync/document/loader.h"

#include "src/base/arena.h"
#include "src/base/buf.h"
#include "src/base/mem.h"
#include "src/mysql/mysql.h"
#include "sync/document/cell.h"
#include "sync/document/key.h"
#include "sync/document/level.h"
#include "sync/document/plan_node.h"
#include "sync/document/query.h"
#include "sync/document/query_part.h"
#include "sync/document/row_document.h"

#include <stdlib.h>
#include <string.h>

#define COUNTED_AT_ONCE 500
#define COUNTED_BYTES   (4 << 20) /* of rows in memory */

/* What the levels below and the documents of a page may take: times its bytes. */
#define SHARES 4

/* The state of one call besides its rows. */
struct load {
    const struct plan *plan;
    struct arena *arena; /* holds the results */
    struct level root;
    struct level_room room;
    struct buf sql, scratch;
};

static void load_init(struct load *l, const struct plan *p, const struct plan_node *root,
                      struct arena *a)
{
    *l = (struct load){.plan = p, .arena = a, .room.left = LEVEL_ROOM_BYTES};
    level_init(&l->root, root, &l->room);
}

static void load_fini(struct load *l)
{
    level_fini(&l->root);
    buf_free(&l->sql);
    buf_free(&l->scratch);
}

static void keep_error(struct load *l, struct loaded *out, const struct err *err)
{
    out->err = arena_alloc(l->arena, 1, sizeof(*out->err));
    *out->err = *err;
}

/* Set key and _id of a document, even an _id that the search engine would refuse. */
static bool name_document(struct load *l, struct str key, struct loaded *out)
{
    struct err err = {0};

    out->key = arena_copy(l->arena, key);
    out->routing = STR("");
    out->rooted = true;
    buf_clear(&l->scratch);
    bool fits = row_document_id(l->plan->nodes[0], key, &l->scratch, &err);

    out->id = arena_copy(l->arena, buf_str(&l->scratch));
    if (!fits)
        keep_error(l, out, &err);
    return fits;
}

static void build_document(struct load *l, uint32_t row, struct loaded *out)
{
    struct err err = {0};

    out->rooted = l->root.rows[row].rooted;
    out->rootless = l->root.rows[row].rootless;
    if (!out->rooted)
        return;
    out->placed = true;
    out->routing = arena_copy(l->arena, level_routing(&l->root, row));
    buf_clear(&l->scratch);
    if (!level_append_object(&l->root, row, &l->scratch, &err)) {
        keep_error(l, out, &err);
        return;
    }
    out->body = arena_copy(l->arena, buf_str(&l->scratch));
    l->room.left -= out->body.len < l->room.left ? out->body.len : l->room.left;
    l->room.taken += out->body.len;
}

/* Fewer documents may fit; one that does not fit alone cannot be built. */
static bool fits(const struct load *l, size_t n, struct err *err)
{
    return !l->room.full || n == 1 ||
           err_set(err, ERR_REJECT, "%zu documents do not fit into memory at once", n);
}

/* The row found by the key; UINT32_MAX if none. */
static uint32_t row_of(const struct load *l, struct str key)
{
    const uint32_t *first = &l->root.first[key_set_find(&l->root.keys, key)];

    return first[0] < first[1] ? l->root.order[first[0]] : UINT32_MAX;
}

/* Let several documents take no more than their share: fewer of them fit into it. */
static void limit_room(struct load *l)
{
    if (l->root.n_rows <= 1 || l->root.bytes_max == 0)
        return;
    if (l->root.bytes_max < l->room.left / SHARES)
        l->room.left = l->root.bytes_max * SHARES;
}

static bool read_keys(struct load *l, struct mysql_conn *const *of, const struct loader_keys *k,
                      struct err *err)
{
    for (size_t i = 0; i < k->n; i++)
        (void)key_set_add(&l->root.keys, k->keys[i]);
    l->root.bytes_max = k->bytes_max;
    if (!level_read_alone(&l->root, of[l->root.node->topic], &l->sql, err))
        return false;
    limit_room(l);
    return level_read_below(&l->root, of, &l->sql, err);
}

static bool is_left(const struct load *l, struct str key)
{
    return l->root.is_cut && key_set_find(&l->root.keys, key) >= l->root.n_whole &&
           row_of(l, key) == UINT32_MAX;
}

static void make_document(struct load *l, struct str key, struct loaded *out)
{
    const uint32_t row = row_of(l, key);

    if (!name_document(l, key, out) && row == UINT32_MAX)
        out->err = NULL; /* no row needs such an _id */
    else if (row != UINT32_MAX && out->err == NULL)
        build_document(l, row, out);
}

/* Strip {"items":[...]} down to the value. */
static struct str only_member(struct str body, struct str member)
{
    return (struct str){body.ptr + member.len + 1, body.len - member.len - 2};
}

static void make_area(struct load *l, struct str key, struct loaded *out)
{
    const uint32_t row = row_of(l, key);

    if (row != UINT32_MAX)
        build_document(l, row, out);
    if (out->body.ptr != NULL)
        out->body = only_member(out->body, l->root.node->children[0]->member);
}

static size_t bytes_taken(const struct load *l)
{
    const size_t all = l->room.taken / SHARES;

    return l->root.bytes > all ? l->root.bytes : all;
}

bool loader_load(struct mysql_conn *const *of, const struct plan *p, struct loader_keys *k,
                 struct arena *a, struct loaded *out, struct err *err)
{
    struct load l;

    load_init(&l, p, k->area > 0 ? p->areas[k->area - 1] : p->nodes[0], a);

    bool read = read_keys(&l, of, k, err);

    for (size_t i = 0; read && i < k->n; i++) {
        out[i] = (struct loaded){.left = is_left(&l, k->keys[i])};
        if (out[i].left)
            continue;
        if (k->area > 0)
            make_area(&l, k->keys[i], &out[i]);
        else
            make_document(&l, k->keys[i], &out[i]);
        read = fits(&l, k->n, err);
    }
    k->bytes = bytes_taken(&l);
    load_fini(&l);
    return read;
}

static bool make_page(struct load *l, struct loader_page *page, bool read, struct err *err)
{
    page->docs = arena_alloc(l->arena, page->n, sizeof(*page->docs));
    for (uint32_t i = 0; i < page->n && fits(l, page->n, err); i++) {
        const struct str key = key_set_get(&l->root.keys, l->root.rows[i].key);

        if (!name_document(l, key, &page->docs[i]))
            continue;
        if (read)
            build_document(l, i, &page->docs[i]);
        else
            keep_error(l, &page->docs[i], err);
    }
    return fits(l, page->n, err);
}

/* The order of the page; ERR_REJECT if there is no such, or a place is none of it. */
static bool find_order(const struct plan *p, const struct loader_page *page,
                       struct query_order *o, struct err *err)
{
    const struct loader_bucket *b = &page->bucket;

    if (!query_order_find(o, p->nodes[0], b->by, err))
        return false;
    return ((page->after.len == 0 || query_order_has(o, page->after)) &&
            (b->until.len == 0 || query_order_has(o, b->until))) ||
           err_set(err, ERR_REJECT, "%" STR_FMT ": a stored place is none of its rows' order",
                   STR_ARG(o->root->from));
}

/* Set the place of the last row that was read. */
static bool find_next(struct load *l, const struct query_order *o, struct loader_page *page,
                      struct err *err)
{
    const struct level *root = &l->root;
    struct value by = {.kind = VALUE_NULL};

    if (page->n == 0)
        return true;
    if (o->by != NULL && !root->is_beside_null)
        by = cell_value(o->by, buf_str(&root->beside));
    buf_clear(&l->scratch);
    if (!query_order_append(&l->scratch, o, &by,
                            key_set_get(&root->keys, root->rows[page->n - 1].key), err))
        return err_wrap(err, "%" STR_FMT, STR_ARG(root->node->from));
    page->next = arena_copy(l->arena, buf_str(&l->scratch));
    return true;
}

static bool read_root(struct load *l, struct mysql_conn *c, const struct query_order *o,
                      struct loader_page *page, struct err *err)
{
    l->root.bytes_max = page->bytes_max;
    l->root.has_beside = o->by != NULL;
    query_range(&l->sql, &(struct query_range){.root = o->root,
                                               .by = o->by,
                                               .index = page->bucket.index,
                                               .after = page->after,
                                               .until = page->bucket.until,
                                               .where = page->where,
                                               .is_last = page->is_last,
                                               .limit = page->rows_max});

    const bool read = level_read_root(&l->root, c, buf_str(&l->sql), err);

    page->n = l->root.n_rows;
    page->is_end = read && !l->root.is_cut && page->n < page->rows_max;
    return find_next(l, o, page, err) && read;
}

bool loader_load_range(struct mysql_conn *const *of, const struct plan *p,
                       struct loader_page *page, struct arena *a, struct err *err)
{
    struct query_order order;
    struct load l;

    page->n = 0;
    page->is_end = false;
    if (!find_order(p, page, &order, err))
        return false;
    load_init(&l, p, p->nodes[0], a);

    bool read = read_root(&l, of[0], &order, page, err);

    limit_room(&l);
    read = read && level_read_below(&l.root, of, &l.sql, err);

    const bool ok = (read || (l.room.full && page->n == 1)) && make_page(&l, page, read, err);

    load_fini(&l);
    return ok;
}

bool loader_count(struct mysql_conn *c, const struct plan *p, uint64_t *count, struct err *err)
{
    struct buf sql = {0}, cell = {0};

    query_count(&sql, p->nodes[0]);
    bool read = mysql_conn_scalar(c, buf_str(&sql), &cell, err);

    if (read)
        *count = strtoull(cell.ptr, NULL, 10);
    else
        err_wrap(err, "%" STR_FMT, STR_ARG(p->nodes[0]->from));
    buf_free(&sql);
    buf_free(&cell);
    return read;
}

bool loader_bounds(struct mysql_conn *c, const struct plan *p, struct buf *least,
                   struct buf *greatest, struct err *err)
{
    const struct plan_node *root = p->nodes[0];
    struct buf sql = {0};
    struct mysql_result *r;
    struct mysql_row row;
    int got;

    if (root->n_joins != 1 || !key_is_integer(root->joins[0].inner))
        return true;
    query_bounds(&sql, root, root->joins[0].inner);

    const bool sent = mysql_conn_query(c, buf_str(&sql), &r, err);

    buf_free(&sql);
    if (!sent)
        return err_wrap(err, "%" STR_FMT, STR_ARG(root->from));
    while ((got = mysql_result_next(r, &row, err)) > 0)
        if (row.cells[0].ptr != NULL) {
            buf_append(least, row.cells[0]);
            buf_append(greatest, row.cells[1]);
        }
    mysql_result_close(r);
    return got == 0;
}

static bool is_there(const struct level *root, uint32_t key)
{
    return root->first[key] < root->first[key + 1] &&
           root->rows[root->order[root->first[key]]].rooted;
}

static bool is_read(const struct level *root, uint32_t key)
{
    return !root->is_cut || key < root->n_whole || root->first[key] < root->first[key + 1];
}

bool loader_find_keys(struct mysql_conn *c, const struct plan *p, struct loader_keys *k,
                      struct loaded *out, struct err *err)
{
    struct level_room room = {.left = SIZE_MAX};
    struct level root;
    struct buf sql = {0};

    level_init(&root, p->nodes[0], &room);
    root.bytes_max = k->bytes_max;
    for (size_t i = 0; i < k->n; i++)
        (void)key_set_add(&root.keys, k->keys[i]);

    const bool read = level_read_alone(&root, c, &sql, err);

    for (size_t i = 0; read && i < k->n; i++) {
        const uint32_t key = key_set_find(&root.keys, k->keys[i]);

        out[i] = (struct loaded){.placed = is_there(&root, key), .left = !is_read(&root, key)};
    }
    k->bytes = root.bytes;
    level_fini(&root);
    buf_free(&sql);
    return read;
}

/* Count some of the n keys, and keep the others in front. Returns how many were judged; 0: the
 * read failed. */
static size_t count_some(struct mysql_conn *c, const struct plan *p, struct str *keys, size_t n,
                         uint64_t *count, struct err *err)
{
    struct loaded out[COUNTED_AT_ONCE];
    struct loader_keys some = {.keys = keys, .n = n, .bytes_max = COUNTED_BYTES};
    size_t n_left = 0;

    if (!loader_find_keys(c, p, &some, out, err))
        return 0;
    for (size_t i = 0; i < n; i++)
        if (out[i].left)
            keys[n_left++] = keys[i];
        else
            *count += out[i].placed;
    return n - n_left;
}

bool loader_count_keys(struct mysql_conn *c, const struct plan *p, const struct key_set *keys,
                       uint64_t *count, struct err *err)
{
    struct str *open = mem_alloc(keys->n + 1, sizeof(*open));
    size_t n = keys->n, some = COUNTED_AT_ONCE, done = 1;

    *count = 0;
    for (uint32_t i = 0; i < keys->n; i++)
        open[i] = key_set_get(keys, i);
    while (n > 0 && done > 0) {
        some = some < n ? some : n;
        done = count_some(c, p, open, some, count, err);
        memmove(&open[some - done], &open[some], (n - some) * sizeof(*open));
        n -= done;
        some = done * 2 < COUNTED_AT_ONCE ? done * 2 : COUNTED_AT_ONCE;
    }
    free(open);
    return done > 0;
}
