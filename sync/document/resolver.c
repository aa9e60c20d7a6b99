#include "config.h"

#include "sync/document/resolver.h"

#include "src/base/buf.h"
#include "src/base/mem.h"
#include "src/mysql.h"
#include "sync/binlog/value.h"
#include "sync/document/branch.h"
#include "sync/document/cell.h"
#include "sync/document/key.h"
#include "sync/document/plan.h"
#include "sync/document/query.h"
#include "sync/document/row_document.h"

#include <assert.h>
#include <stdlib.h>

/* Join keys of one statement, and pairs (join key, root) that one page of it holds. */
#define KEYS_MAX 500
#define PAGE_MAX 10000

/* Of all join keys of one statement, in bytes: far below every max_allowed_packet. */
#define KEYS_BYTES_MAX (256 << 10)

static_assert(PAGE_MAX > 2 * KEYS_MAX, "a page holds all pairs of a root and goes on");

bool resolver_join_key(const struct plan *p, size_t place, const struct binding *b,
                       const struct value *row, struct buf *join_key)
{
    struct err err = {0};

    assert(p->branches[place] == b->branch);
    return row_document_key(b->branch, b->map, row, join_key, &err);
}

bool resolver_row_key(const struct plan *p, size_t place, const struct binding *b,
                      const struct value *row, struct buf *row_key)
{
    const struct branch *by_row = p->branches[place]->by_row;
    struct err err = {0};

    if (b->key == NULL)
        return false;
    for (size_t i = 0; i < by_row->n_joins; i++)
        if (!key_append(row_key, by_row->joins[i].inner, &row[b->key[i]], &err))
            return false;
    return true;
}

/* The part of join key that is the root's key column; false when none is. */
static bool find_part(const struct branch *b, const struct column *column, struct str join_key,
                      struct str *part)
{
    for (size_t i = 0; i < b->n_joins; i++) {
        if (!key_next(&join_key, part))
            return false;
        if (b->joins[i].outer == column && key_is_integer(column) &&
            key_is_integer(b->joins[i].inner))
            return true;
    }
    return false;
}

bool resolver_direct(const struct plan *p, size_t place, struct str join_key, struct buf *id,
                     struct buf *key, struct buf *routing)
{
    const struct branch *b = p->branches[place], *root = p->branches[0];
    const size_t start = key->len;
    struct err err = {0};

    (void)routing; /* a table of its own index needs none */
    if (b->parent != root || b->n_joins != root->n_joins)
        return false;
    for (size_t i = 0; i < root->n_joins; i++) {
        struct str part;

        if (!find_part(b, root->joins[i].inner, join_key, &part)) {
            key->len = start;
            return false;
        }
        key_append_part(key, part);
    }
    return row_document_id(root, (struct str){key->ptr + start, key->len - start}, id, &err);
}

/* A root document of a join key. */
struct pair {
    size_t join_key; /* its number in the statement */
    size_t at, len;  /* the root's key in the page's bytes */
};

struct find {
    struct mysql_conn *conn;
    const struct branch *root;
    struct query_roots query;
    const struct str *join_keys; /* all of them */
    resolver_found_fn found;
    void *ctx;
    struct buf sql, id, after;
    struct buf keys; /* of the pairs, one behind the other */
    struct pair *pairs;
    size_t n_pairs, n_rows; /* of the page; a root without a whole key is no pair */
};

static struct str key_of_pair(const struct find *f, size_t i)
{
    return (struct str){f->keys.ptr + f->pairs[i].at, f->pairs[i].len};
}

static void take_pair(struct find *f, const struct str *cells)
{
    struct pair *pair = &f->pairs[f->n_pairs];
    struct err err = {0};

    pair->join_key = strtoull(cells[0].ptr, NULL, 10);
    pair->at = f->keys.len;
    for (size_t i = 0; i < f->root->n_joins; i++) {
        const struct column *c = f->root->joins[i].inner;
        struct value v = cell_value(c, cells[i + 1]);

        if (!key_append(&f->keys, c, &v, &err)) {
            f->keys.len = pair->at;
            return;
        }
    }
    pair->len = f->keys.len - pair->at;
    f->n_pairs++;
}

static bool read_page(struct find *f, struct err *err)
{
    struct mysql_result *r;
    struct mysql_row row;
    int got;

    f->query.after = buf_str(&f->after);
    buf_clear(&f->sql);
    query_roots(&f->sql, &f->query);
    buf_clear(&f->keys);
    f->n_pairs = f->n_rows = 0;
    if (!mysql_conn_query(f->conn, buf_str(&f->sql), &r, err))
        return false;
    while ((got = mysql_result_next(r, &row, err)) > 0) {
        assert(f->n_rows < PAGE_MAX);
        f->n_rows++;
        take_pair(f, row.cells);
    }
    mysql_result_close(r);
    return got == 0;
}

/* A full page may have cut the pairs of its last root short: they come again with the next. */
static size_t whole_pairs(const struct find *f)
{
    size_t n = f->n_pairs;

    if (f->n_rows < PAGE_MAX || n == 0)
        return n;
    struct str last = key_of_pair(f, --n);

    while (n > 0 && str_equal(key_of_pair(f, n - 1), last))
        n--;
    return n;
}

static bool hand_over(struct find *f, size_t n, struct err *err)
{
    const size_t base = (size_t)(f->query.keys - f->join_keys);

    for (size_t i = 0; i < n; i++) {
        struct str key = key_of_pair(f, i);
        struct err unfit = {0};

        buf_clear(&f->id);
        /* A key that makes no _id has no document either. */
        if (!row_document_id(f->root, key, &f->id, &unfit))
            continue;
        if (!f->found(f->ctx, base + f->pairs[i].join_key, buf_str(&f->id), key, STR("")))
            return err_set(err, ERR_STOP, "stopped");
    }
    return true;
}

/* All pages of the statement's join keys. */
static bool find_pages(struct find *f, struct err *err)
{
    buf_clear(&f->after);
    do {
        if (!read_page(f, err))
            return err_wrap(err, "roots of %" STR_FMT, STR_ARG(f->query.branch->from));
        size_t n = whole_pairs(f);

        if (n == 0 && f->n_rows == PAGE_MAX)
            return err_set(err, ERR_FATAL, "%" STR_FMT " has %d rows without a usable key",
                           STR_ARG(f->root->from), PAGE_MAX);
        if (!hand_over(f, n, err))
            return false;
        if (n > 0) {
            buf_clear(&f->after);
            buf_append(&f->after, key_of_pair(f, n - 1));
        }
    } while (f->n_rows == PAGE_MAX);
    return true;
}

/* How many of n keys make one statement: at least one. */
static size_t chunk_size(const struct str *keys, size_t n)
{
    size_t bytes = 0, i = 0;

    for (; i < n && i < KEYS_MAX; i++) {
        bytes += keys[i].len;
        if (i > 0 && bytes > KEYS_BYTES_MAX)
            break;
    }
    return i;
}

static bool find_roots(struct find *f, const struct plan *p, const struct branch *branch,
                       size_t n, struct err *err)
{
    bool done = true;

    f->root = p->branches[0];
    f->query = (struct query_roots){.flavor = mysql_conn_flavor(f->conn),
                                    .branch = branch,
                                    .limit = PAGE_MAX};
    f->pairs = mem_alloc(PAGE_MAX, sizeof(*f->pairs));
    for (size_t from = 0; done && from < n; from += f->query.n) {
        f->query.keys = f->join_keys + from;
        f->query.n = chunk_size(f->query.keys, n - from);
        done = find_pages(f, err);
    }
    buf_free(&f->sql);
    buf_free(&f->id);
    buf_free(&f->after);
    buf_free(&f->keys);
    free(f->pairs);
    return done;
}

bool resolver_find(struct mysql_conn *c, const struct plan *p, size_t place,
                   const struct str *join_keys, size_t n, resolver_found_fn found, void *ctx,
                   struct err *err)
{
    struct find f = {.conn = c, .join_keys = join_keys, .found = found, .ctx = ctx};

    assert(place > 0);
    return find_roots(&f, p, p->branches[place], n, err);
}

bool resolver_find_of_rows(struct mysql_conn *c, const struct plan *p, size_t place,
                           const struct str *row_keys, size_t n, resolver_found_fn found,
                           void *ctx, struct err *err)
{
    struct find f = {.conn = c, .join_keys = row_keys, .found = found, .ctx = ctx};

    assert(place > 0 && p->branches[place]->by_row != NULL);
    return find_roots(&f, p, p->branches[place]->by_row, n, err);
}
