#include "config.h"

#include "sync/document/level.h"

#include "src/base/mem.h"
#include "src/mysql/mysql.h"
#include "sync/document/cell.h"
#include "sync/document/key.h"
#include "sync/document/plan_node.h"
#include "sync/document/query.h"
#include "sync/document/row_document.h"
#include "sync/value/schema.h"

#include <assert.h>
#include <stdlib.h>

/*
 * Keys per statement.  From 1000 values on, MariaDB turns an IN list into a join with a
 * temporary table, which is slower and loses the index order.
 */
#define KEYS_MAX 900

/* Bytes of keys per statement: far below any max_allowed_packet, even as hex. */
#define KEYS_BYTES_MAX (256 << 10)

#define ROWS_MIN 64

/* The memory of a row besides its members, and per place below it. */
#define ROW_COST   (sizeof(struct level_row) + 2 * sizeof(uint32_t))
#define BELOW_COST 64

void level_init(struct level *l, const struct plan_node *b, struct level_room *room)
{
    *l = (struct level){.node = b, .room = room};
    l->values = mem_alloc(b->n_read, sizeof(*l->values));
    l->children = mem_alloc(b->n_children, sizeof(*l->children));
    for (size_t i = 0; i < b->n_children; i++)
        level_init(&l->children[i], b->children[i], room);
}

void level_fini(struct level *l)
{
    for (size_t i = 0; i < l->node->n_children; i++)
        level_fini(&l->children[i]);
    key_set_fini(&l->keys);
    buf_free(&l->json);
    buf_free(&l->routings);
    buf_free(&l->scratch);
    buf_free(&l->beside);
    free(l->rows);
    free(l->order);
    free(l->first);
    free(l->links);
    free(l->fails);
    free(l->values);
    free(l->children);
}

static bool no_room(struct level_room *room, struct err *err)
{
    room->full = true;
    return err_set(err, ERR_REJECT, "a document or its rows need more than %d MiB of memory",
                   LEVEL_ROOM_MIB / 2);
}

static void take_room(struct level_room *room, size_t bytes)
{
    room->full = room->full || bytes > room->left;
    room->taken += bytes;
    room->left -= bytes < room->left ? bytes : room->left;
}

static void reserve_row(struct level *l)
{
    if (l->n_rows < l->cap)
        return;
    assert(l->cap < KEY_SET_NONE / 4);
    l->cap = l->cap == 0 ? ROWS_MIN : l->cap * 2;
    l->rows = mem_resize(l->rows, l->cap, sizeof(*l->rows));
    l->links = mem_resize(l->links, l->cap * l->node->n_children, sizeof(*l->links));
}

static uint32_t add_fail(struct level *l, const struct err *err)
{
    l->fails = mem_resize(l->fails, l->n_fails + 1, sizeof(*l->fails));
    l->fails[l->n_fails] = *err;
    return l->n_fails++;
}

static bool joins_null(const struct level *l, const struct plan_node *entry)
{
    for (size_t i = 0; i < entry->n_joins; i++)
        if (l->values[entry->joins[i].outer_at].kind == VALUE_NULL)
            return true;
    return false;
}

/* Register the keys that the row needs in the levels below. */
static bool link_row(struct level *l, uint32_t *links, struct err *err)
{
    for (size_t i = 0; i < l->node->n_children; i++) {
        struct level *child = &l->children[i];
        const struct plan_node *entry = plan_node_entry(child->node);

        links[i] = KEY_SET_NONE;
        if (joins_null(l, entry))
            continue;
        buf_clear(&l->scratch);
        if (!row_document_outer_key(entry, l->values, &l->scratch, err))
            return false;
        links[i] = key_set_add(&child->keys, buf_str(&l->scratch));
    }
    return true;
}

/*
 * Set the routing of the root's row.  A row without a place gets its own _id, where no document
 * lies.
 */
static bool route_row(struct level *l, struct level_row *row, struct err *err)
{
    const struct plan_node *b = l->node;
    bool placed;

    row->rooted = row_document_is_rooted(b, NULL, l->values);
    row->rootless = !row->rooted && row_document_has_parent(b, NULL, l->values);
    row->routing_at = l->routings.len;
    if (b->membership == NULL || !row->rooted)
        return true;
    buf_clear(&l->scratch);
    if (!row_document_id(b, key_set_get(&l->keys, row->key), &l->scratch, err))
        return false;
    placed = row_document_routing(b, NULL, l->values, buf_str(&l->scratch), &l->routings, err);
    if (!placed) {
        l->routings.len = row->routing_at;
        buf_append(&l->routings, buf_str(&l->scratch));
    }
    row->routing_len = l->routings.len - row->routing_at;
    return placed;
}

/* Take the row in l->values, found by the key of that number. */
static void take_row(struct level *l, uint32_t key)
{
    struct err err = {0};

    reserve_row(l);
    struct level_row *row = &l->rows[l->n_rows];
    uint32_t *links = &l->links[l->n_rows * l->node->n_children];

    *row = (struct level_row){.at = l->json.len, .key = key, .fail = KEY_SET_NONE};
    if (!route_row(l, row, &err) ||
        (row->rooted && !row_document_members(l->node, NULL, l->values, &l->json, &err)) ||
        !link_row(l, links, &err)) {
        row->fail = add_fail(l, &err);
        l->json.len = row->at;
    }
    row->len = l->json.len - row->at;
    l->n_rows++;
    take_room(l->room, row->len + ROW_COST + l->node->n_children * BELOW_COST);
}

static void take_cells(struct level *l, const struct str *cells)
{
    for (size_t i = 0; i < l->node->n_read; i++)
        l->values[i] = cell_value(l->node->read[i], cells[i]);
}

/* Make the row's own key in l->scratch. */
static bool own_key(struct level *l, struct err *err)
{
    buf_clear(&l->scratch);
    return row_document_key(l->node, NULL, l->values, &l->scratch, err);
}

/*
 * The row belongs to its own key.  A root row whose key equals the wanted one only by collation
 * is another document.
 */
static void take_by_own_key(struct level *l, const struct str *cells)
{
    struct err err = {0};

    take_cells(l, cells);
    uint32_t key =
        own_key(l, &err) ? key_set_find(&l->keys, buf_str(&l->scratch)) : KEY_SET_NONE;

    if (key != KEY_SET_NONE)
        take_row(l, key);
}

/* The first cell is the key's number in the statement, which starts at key `from`. */
static void take_by_number(struct level *l, const struct str *cells, uint32_t from)
{
    uint32_t number = 0;

    for (size_t i = 0; i < cells[0].len; i++)
        number = number * 10 + (uint32_t)(cells[0].ptr[i] - '0');
    assert(number < l->keys.n - from);
    take_cells(l, cells + 1);
    take_row(l, from + number);
}

/* Count the rows per key, then place each row: keeps the order within a key. */
static void group_rows(struct level *l)
{
    const uint32_t n_keys = l->keys.n;

    l->first = mem_resize(l->first, n_keys + 1, sizeof(*l->first));
    l->order = mem_resize(l->order, l->n_rows, sizeof(*l->order));
    memset(l->first, 0, (n_keys + 1) * sizeof(*l->first));
    for (uint32_t i = 0; i < l->n_rows; i++)
        l->first[l->rows[i].key]++;
    for (uint32_t key = 1; key <= n_keys; key++)
        l->first[key] += l->first[key - 1];
    for (uint32_t i = l->n_rows; i-- > 0;)
        l->order[--l->first[l->rows[i].key]] = i;
}

bool level_read_below(struct level *l, struct mysql_conn *const *of, struct buf *sql,
                      struct err *err)
{
    for (size_t i = 0; i < l->node->n_children; i++)
        if (!level_read(&l->children[i], of, sql, err))
            return false;
    return true;
}

static bool has_own_key(const struct plan_node *b)
{
    return b->parent == NULL || b->by_integer;
}

static size_t cells_size(const struct level *l, const struct str *cells)
{
    size_t bytes = 0;

    for (size_t i = 0; i < l->node->n_read; i++)
        bytes += cells[i].len;
    return bytes;
}

/* Count the cells of the next row.  Returns false, with is_cut, if they do not fit. */
static bool fits(struct level *l, const struct str *cells)
{
    if (l->bytes_max == 0)
        return true;

    const size_t bytes = l->bytes + cells_size(l, cells);

    l->is_cut = l->n_rows > 0 && bytes > l->bytes_max;
    if (!l->is_cut)
        l->bytes = bytes;
    return !l->is_cut;
}

/* Read keys from..from+n. */
static bool read_chunk(struct level *l, struct mysql_conn *c, struct buf *sql, uint32_t from,
                       uint32_t n, struct err *err)
{
    const struct plan_node *b = l->node;
    const size_t skip = b->by_integer ? 0 : 1; /* the key's number */
    struct str keys[KEYS_MAX];
    struct mysql_result *r;
    struct mysql_row row;
    int got;

    for (uint32_t i = 0; i < n; i++)
        keys[i] = key_set_get(&l->keys, from + i);
    buf_clear(sql);
    if (b->by_integer)
        query_by_integers(sql, b, keys, n);
    else
        query_by_list(sql, mysql_conn_flavor(c), b, keys, n);
    if (!mysql_conn_query(c, buf_str(sql), &r, err))
        return false;
    while ((got = mysql_result_next(r, &row, err)) > 0 && fits(l, row.cells + skip)) {
        if (has_own_key(b))
            take_by_own_key(l, row.cells + skip);
        else
            take_by_number(l, row.cells, from);
        if (l->room->full)
            break;
    }
    mysql_result_close(r);
    return l->room->full ? no_room(l->room, err) : got >= 0;
}

/* How many keys from there on fit into one statement: at least one. */
static uint32_t chunk_size(const struct key_set *keys, uint32_t from)
{
    size_t bytes = 0;
    uint32_t n = 0;

    while (n < KEYS_MAX && from + n < keys->n) {
        bytes += key_set_get(keys, from + n).len;
        if (n > 0 && bytes > KEYS_BYTES_MAX)
            break;
        n++;
    }
    return n;
}

/* Make rows from the keys, if nothing but the keys is needed. */
static void take_keys(struct level *l)
{
    const struct plan_node *b = l->node;

    for (uint32_t i = 0; i < l->keys.n; i++) {
        struct str key = key_set_get(&l->keys, i), part;

        for (size_t k = 0; k < b->n_read; k++)
            l->values[k] = (struct value){.kind = VALUE_NULL};
        for (size_t k = 0; k < b->n_joins && key_next(&key, &part); k++)
            l->values[b->joins[k].inner_at] = cell_value(b->joins[k].inner, part);
        take_row(l, i);
    }
}

static bool read_rows(struct level *l, struct mysql_conn *c, struct buf *sql, struct err *err)
{
    for (uint32_t from = 0, n; from < l->keys.n && !l->is_cut; from += n) {
        n = chunk_size(&l->keys, from);
        if (!read_chunk(l, c, sql, from, n, err))
            return err_wrap(err, "%" STR_FMT, STR_ARG(l->node->from));
        l->n_whole = l->is_cut ? from : from + n;
    }
    return true;
}

bool level_read(struct level *l, struct mysql_conn *const *of, struct buf *sql, struct err *err)
{
    return level_read_alone(l, of[l->node->topic], sql, err) &&
           level_read_below(l, of, sql, err);
}

bool level_read_alone(struct level *l, struct mysql_conn *c, struct buf *sql, struct err *err)
{
    if (l->node->by_key_alone)
        take_keys(l);
    else if (!read_rows(l, c, sql, err))
        return false;
    group_rows(l);
    return true;
}

static void take_beside(struct level *l, struct str cell)
{
    buf_clear(&l->beside);
    l->is_beside_null = cell.ptr == NULL;
    if (!l->is_beside_null)
        buf_append(&l->beside, cell);
}

/* Take a row of the range, found by its own key.  Returns false if that is not possible. */
static bool take_of_range(struct level *l, const struct str *cells, struct err *err)
{
    take_cells(l, cells);
    if (!own_key(l, err))
        return false;
    take_row(l, key_set_add(&l->keys, buf_str(&l->scratch)));
    if (l->has_beside)
        take_beside(l, cells[l->node->n_read]);
    return !l->room->full || no_room(l->room, err);
}

bool level_read_root(struct level *l, struct mysql_conn *c, struct str sql, struct err *err)
{
    struct mysql_result *r;
    struct mysql_row row;
    int got;

    if (!mysql_conn_query(c, sql, &r, err))
        return err_wrap(err, "%" STR_FMT, STR_ARG(l->node->from));
    while ((got = mysql_result_next(r, &row, err)) > 0 && fits(l, row.cells)) {
        if (!take_of_range(l, row.cells, err)) {
            got = -1;
            break;
        }
    }
    mysql_result_close(r);
    return got >= 0;
}

struct str level_routing(const struct level *l, uint32_t row)
{
    const struct level_row *r = &l->rows[row];

    return r->routing_len == 0 ? STR("")
                               : (struct str){l->routings.ptr + r->routing_at, r->routing_len};
}

/* Append one element after those that out has since `start`; may leave out a duplicate. */
static bool append_element(const struct level *l, uint32_t row, struct key_set *known,
                           size_t start, struct buf *out, struct err *err)
{
    const size_t before = out->len;

    if (before > start)
        buf_append_char(out, ',');

    const size_t at = out->len;

    if (!level_append_object(l, row, out, err))
        return false;
    if (out->len > l->room->left)
        return no_room(l->room, err);
    if (l->node->distinct) {
        const struct str element = {out->ptr + at, out->len - at};
        const uint32_t n = known->n;

        if (key_set_add(known, element) < n)
            out->len = before;
    }
    return true;
}

static bool append_array(const struct level *l, uint32_t at, uint32_t end, struct buf *out,
                         struct err *err)
{
    const uint32_t limit = l->node->limit == 0 ? UINT32_MAX : l->node->limit;
    struct key_set known = {0};
    uint32_t n = 0;
    bool fine = true;

    buf_append_char(out, '[');

    const size_t start = out->len;

    for (uint32_t i = at; fine && i < end && n < limit; i++) {
        const size_t before = out->len;

        fine = append_element(l, l->order[i], &known, start, out, err);
        n += out->len > before;
    }
    key_set_fini(&known);
    buf_append_char(out, ']');
    return fine;
}

static bool append_below(const struct level *l, uint32_t key, struct buf *out, struct err *err)
{
    uint32_t at = key == KEY_SET_NONE ? 0 : l->first[key];
    uint32_t end = key == KEY_SET_NONE ? 0 : l->first[key + 1];

    if (l->node->many)
        return append_array(l, at, end, out, err);
    if (at < end)
        return level_append_object(l, l->order[at], out, err);
    buf_append(out, STR("null"));
    return true;
}

bool level_append_object(const struct level *l, uint32_t row, struct buf *out, struct err *err)
{
    const struct level_row *r = &l->rows[row];
    const size_t n = l->node->n_children;

    if (r->fail != KEY_SET_NONE) {
        *err = l->fails[r->fail];
        return false;
    }
    if (l->node->values) {
        buf_append(out, (struct str){l->json.ptr + r->at, r->len});
        return true;
    }
    buf_append_char(out, '{');
    buf_append(out, (struct str){l->json.ptr + r->at, r->len});
    for (size_t i = 0; i < n; i++) {
        if (i > 0 || r->len > 0)
            buf_append_char(out, ',');
        buf_append(out, l->node->children[i]->member);
        if (!append_below(&l->children[i], l->links[row * n + i], out, err))
            return false;
    }
    buf_append_char(out, '}');
    return true;
}
