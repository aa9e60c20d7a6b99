#include "config.h"

#include "sync/document/provenance.h"

#include "src/base/arena.h"
#include "src/base/buf.h"
#include "src/format/json.h"
#include "src/mysql/mysql.h"
#include "sync/document/cell.h"
#include "sync/document/key.h"
#include "sync/document/level.h"
#include "sync/document/plan_node.h"
#include "sync/document/query.h"
#include "sync/document/query_roots.h"
#include "sync/document/resolver.h"
#include "sync/value/schema.h"
#include "sync/value/value.h"

/* Keys per statement. */
#define KEYS_MAX 500

/* As many pairs as one query of the resolver returns. */
#define PAGE_MAX 10000

struct origins {
    struct mysql_conn *const *of;
    const struct plan *plan;
    struct arena *arena;
    struct json_writer w;
    struct buf sql, scratch;
    struct err *err;
};

static bool is_root(const struct plan_node *b)
{
    return b->parent == NULL;
}

/* ---- what of a row matters ---- */

/* "items.product": the members down the tree; a link table takes the name of its target. */
static void append_path(struct buf *path, const struct plan_node *b)
{
    if (is_root(b))
        return;
    append_path(path, b->parent);
    if (b->member.len == 0)
        return;
    if (path->len > 0)
        buf_append_char(path, '.');
    buf_append(path, (struct str){b->member.ptr + 1, b->member.len - 3});
}

static void put_path(struct origins *o, const struct plan_node *b,
                     const struct plan_node *shown)
{
    buf_clear(&o->scratch);
    append_path(&o->scratch, shown);
    json_put_string(&o->w, STR("path"), buf_str(&o->scratch));
    buf_clear(&o->scratch);
    buf_printf(&o->scratch, "%" STR_FMT ".%" STR_FMT, STR_ARG(b->database),
               STR_ARG(b->schema->table));
    json_put_string(&o->w, STR("table"), buf_str(&o->scratch));
    json_put_bool(&o->w, STR("link"), b != shown);
}

/* An SQL condition or order may use any column. */
static void put_columns(struct origins *o, const struct plan_node *b)
{
    json_put_bool(&o->w, STR("any_column"), b->where.len > 0 || b->order_by.len > 0);
    json_write_key(&o->w, STR("columns"));
    json_open_array(&o->w);
    for (size_t i = 0; i < b->n_read; i++)
        json_write_string(&o->w, b->read[i]->name);
    json_close_array(&o->w);
}

/* ---- how a changed row leads to documents ---- */

/* Tell whether the join columns are always the document's key. */
static bool is_direct(const struct plan *p, const struct plan_node *b)
{
    struct buf join_key = {0}, id = {0}, key = {0}, routing = {0};

    for (size_t i = 0; i < b->n_joins; i++)
        key_append_part(&join_key, STR("0"));

    const bool direct = resolver_direct(p, b->number, buf_str(&join_key), &id, &key, &routing);

    buf_free(&join_key);
    buf_free(&id);
    buf_free(&key);
    buf_free(&routing);
    return direct;
}

/* sample is the join value of the place's first row; empty if there is none. */
static void put_way(struct origins *o, const struct plan_node *b, struct str sample)
{
    const bool direct = !is_root(b) && is_direct(o->plan, b);
    const char *way = is_root(b) ? "row" : !b->refresh ? "none" : direct ? "key" : "sql";

    json_put_cstr(&o->w, STR("way"), way);
    json_write_key(&o->w, STR("by"));
    json_open_array(&o->w);
    for (size_t i = 0; i < b->n_joins; i++)
        json_write_string(&o->w, b->joins[i].inner->name);
    json_close_array(&o->w);
    if (is_root(b) || !b->refresh || direct || sample.len == 0) {
        json_put_null(&o->w, STR("sql"));
        return;
    }
    buf_clear(&o->sql);
    query_roots(&o->sql,
                &(struct query_roots){.flavor = mysql_conn_flavor(o->of[b->parent->topic]),
                                      .node = b,
                                      .keys = &sample,
                                      .n = 1,
                                      .limit = PAGE_MAX});
    json_put_string(&o->w, STR("sql"), buf_str(&o->sql));
}

/* ---- the rows of this document ---- */

/* Rows of a place by their table's key, with their join values. */
struct place_rows {
    struct plan_node own; /* reads the key's columns, then the joins' inner ones */
    size_t n_key;
    struct key_set known;
    struct buf sample; /* the join value of the first row */
};

static void place_rows_init(struct place_rows *p, struct arena *a, const struct plan_node *b)
{
    const struct schema *s = b->schema;
    const size_t n = is_root(b) ? b->n_order : s->n_key;

    *p = (struct place_rows){.own = *b, .n_key = n};
    p->own.read = arena_alloc(a, n + b->n_joins, sizeof(*p->own.read));
    p->own.n_read = n + b->n_joins;
    for (size_t i = 0; i < n; i++)
        p->own.read[i] = is_root(b) ? b->order[i] : &s->columns[s->key[i]];
    for (size_t i = 0; i < b->n_joins; i++)
        p->own.read[n + i] = b->joins[i].inner;
    query_prepare(&p->own, a);
}

static void place_rows_fini(struct place_rows *p)
{
    key_set_fini(&p->known);
    buf_free(&p->sample);
}

static bool append_key(struct buf *key, const struct column *const *columns,
                       const struct str *cells, size_t n, struct err *err)
{
    for (size_t i = 0; i < n; i++) {
        const struct value v = cell_value(columns[i], cells[i]);

        if (!key_append(key, columns[i], &v, err))
            return false;
    }
    return true;
}

/* Write the would-be `_id` of the row, or why its key makes none. */
static void write_row(struct origins *o, struct place_rows *p, const struct str *cells)
{
    const struct plan_node *own = &p->own;
    const uint32_t before = p->known.n;
    struct buf key = {0};
    struct err unfit = {0};

    if (p->sample.len == 0 &&
        !append_key(&p->sample, own->read + p->n_key, cells + p->n_key, own->n_joins, &unfit))
        buf_clear(&p->sample);
    buf_clear(&o->scratch);

    const bool fits = append_key(&key, own->read, cells, p->n_key, &unfit) &&
                      key_append_id(&o->scratch, own->read, p->n_key, buf_str(&key), &unfit);
    const struct str text = fits ? buf_str(&o->scratch) : str_from(unfit.msg);

    if (p->n_key > 0 && key_set_add(&p->known, text) == before)
        json_write_string(&o->w, text);
    buf_free(&key);
}

static bool write_chunk(struct origins *o, struct place_rows *p, const struct str *keys,
                        size_t n)
{
    const size_t skip = p->own.by_integer ? 0 : 1;
    struct mysql_conn *conn = o->of[p->own.topic];
    struct mysql_result *r;
    struct mysql_row row;
    int got;

    buf_clear(&o->sql);
    if (p->own.by_integer)
        query_by_integers(&o->sql, &p->own, keys, n);
    else
        query_by_list(&o->sql, mysql_conn_flavor(conn), &p->own, keys, n);
    if (!mysql_conn_query(conn, buf_str(&o->sql), &r, o->err))
        return false;
    while ((got = mysql_result_next(r, &row, o->err)) > 0)
        write_row(o, p, row.cells + skip);
    mysql_result_close(r);
    return got == 0;
}

/* Write all rows that these keys find, each once. */
static bool put_rows(struct origins *o, struct place_rows *p, const struct key_set *keys)
{
    struct str wanted[KEYS_MAX];
    bool fine = true;

    json_write_key(&o->w, STR("key"));
    json_open_array(&o->w);
    for (size_t i = 0; i < p->n_key; i++)
        json_write_string(&o->w, p->own.read[i]->name);
    json_close_array(&o->w);
    json_write_key(&o->w, STR("rows"));
    json_open_array(&o->w);
    for (uint32_t from = 0, n; fine && from < keys->n; from += n) {
        for (n = 0; n < KEYS_MAX && from + n < keys->n; n++)
            wanted[n] = key_set_get(keys, from + n);
        fine = write_chunk(o, p, wanted, n);
    }
    json_close_array(&o->w);
    return fine || err_wrap(o->err, "%" STR_FMT, STR_ARG(p->own.from));
}

/* ---- the whole ---- */

static bool append_place(struct origins *o, const struct plan_node *b,
                         const struct plan_node *shown, const struct key_set *keys)
{
    struct place_rows p;

    place_rows_init(&p, o->arena, b);
    json_open_object(&o->w);
    put_path(o, b, shown);
    put_columns(o, b);

    const bool fine = put_rows(o, &p, keys);

    put_way(o, b, buf_str(&p.sample));
    json_close_object(&o->w);
    place_rows_fini(&p);
    return fine;
}

static bool append_level(struct origins *o, const struct level *l)
{
    const struct plan_node *b = l->node;

    if (b->link != NULL && !append_place(o, b->link, b, &l->keys))
        return false;
    if (!append_place(o, b, b, &l->keys))
        return false;
    for (size_t i = 0; i < b->n_children; i++)
        if (!append_level(o, &l->children[i]))
            return false;
    return true;
}

bool provenance_append(struct mysql_conn *const *of, const struct plan *p, struct str key,
                       struct buf *json, struct err *err)
{
    struct origins o = {
        .of = of, .plan = p, .arena = arena_new(), .w = {.out = json}, .err = err};
    struct level_room room = {.left = LEVEL_ROOM_BYTES};
    struct level root;

    level_init(&root, p->nodes[0], &room);
    (void)key_set_add(&root.keys, key);
    json_open_array(&o.w);

    const bool ok = level_read(&root, of, &o.sql, err) && append_level(&o, &root);

    json_close_array(&o.w);
    level_fini(&root);
    buf_free(&o.sql);
    buf_free(&o.scratch);
    arena_free(o.arena);
    return ok;
}
