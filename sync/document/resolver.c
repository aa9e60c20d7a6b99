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

/* Keys of one statement, and their bytes in all: far below every max_allowed_packet. */
#define KEYS_MAX       500
#define KEYS_BYTES_MAX (256 << 10)

static_assert(RESOLVER_FEW < RESOLVER_SOME, "a key that fills a statement's answer is crowded");

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

size_t resolver_keys_max(const struct str *keys, size_t n)
{
    size_t bytes = 0, i = 0;

    for (; i < n && i < KEYS_MAX; i++) {
        bytes += keys[i].len;
        if (i > 0 && bytes > KEYS_BYTES_MAX)
            break;
    }
    return i;
}

/* A root document of a key. */
struct pair {
    size_t row;     /* the number of its key in the statement */
    size_t at, len; /* the root's key in the answer's bytes */
};

/* One statement and its answer. */
struct find {
    struct mysql_conn *conn;
    const struct branch *root;
    struct query_roots query;
    const struct resolver_sink *sink;
    struct buf sql, id;
    struct buf bytes; /* root keys of the pairs, one behind the other */
    struct pair *pairs;
    size_t n_pairs, n_rows; /* a root without a whole key is no pair */
};

static void find_init(struct find *f, struct mysql_conn *c, const struct resolver_rows *rows,
                      const struct resolver_sink *sink, size_t limit)
{
    const struct branch *branch = rows->plan->branches[rows->place];

    assert(rows->place > 0 && (!rows->by_row || branch->by_row != NULL));
    *f = (struct find){.conn = c,
                       .root = rows->plan->branches[0],
                       .query = {.flavor = mysql_conn_flavor(c),
                                 .branch = rows->by_row ? branch->by_row : branch,
                                 .limit = limit},
                       .sink = sink,
                       .pairs = mem_alloc(limit, sizeof(*f->pairs))};
}

static void find_fini(struct find *f)
{
    buf_free(&f->sql);
    buf_free(&f->id);
    buf_free(&f->bytes);
    free(f->pairs);
}

static struct str root_key(const struct find *f, size_t i)
{
    return (struct str){f->bytes.ptr + f->pairs[i].at, f->pairs[i].len};
}

static void take_pair(struct find *f, const struct str *cells)
{
    struct pair *pair = &f->pairs[f->n_pairs];
    struct err err = {0};

    pair->row = cells[0].ptr == NULL ? 0 : strtoull(cells[0].ptr, NULL, 10);
    pair->at = f->bytes.len;
    for (size_t i = 0; i < f->root->n_joins; i++) {
        const struct column *c = f->root->joins[i].inner;
        struct value v = cell_value(c, cells[i + 1]);

        if (!key_append(&f->bytes, c, &v, &err)) {
            f->bytes.len = pair->at;
            return;
        }
    }
    pair->len = f->bytes.len - pair->at;
    f->n_pairs++;
}

static bool ask(struct find *f, struct err *err)
{
    struct mysql_result *r;
    struct mysql_row row;
    int got;

    buf_clear(&f->sql);
    query_roots(&f->sql, &f->query);
    buf_clear(&f->bytes);
    f->n_pairs = f->n_rows = 0;
    if (!mysql_conn_query(f->conn, buf_str(&f->sql), &r, err))
        return err_wrap(err, "roots of %" STR_FMT, STR_ARG(f->query.branch->from));
    while ((got = mysql_result_next(r, &row, err)) > 0) {
        assert(f->n_rows < f->query.limit);
        f->n_rows++;
        take_pair(f, row.cells);
    }
    mysql_result_close(r);
    return got == 0 || err_wrap(err, "roots of %" STR_FMT, STR_ARG(f->query.branch->from));
}

static bool is_full(const struct find *f)
{
    return f->n_rows == f->query.limit;
}

static bool stopped(struct err *err)
{
    return err_set(err, ERR_STOP, "stopped");
}

/* numbers: of the statement's keys; NULL: there is one. */
static bool tell_found(struct find *f, size_t i, const size_t *numbers, struct err *err)
{
    struct err unfit = {0};

    buf_clear(&f->id);
    /* A key that makes no _id has no document either. */
    if (!row_document_id(f->root, root_key(f, i), &f->id, &unfit))
        return true;
    return f->sink->found(f->sink->ctx, numbers == NULL ? 0 : numbers[f->pairs[i].row],
                          buf_str(&f->id), root_key(f, i), STR("")) ||
           stopped(err);
}

/* Keys that are asked for together; those that were answered are taken out. */
struct asking {
    struct str keys[KEYS_MAX];
    size_t numbers[KEYS_MAX]; /* as the caller counts them */
    size_t n_roots[KEYS_MAX];
    size_t n;
};

static void count_roots(const struct find *f, struct asking *a)
{
    for (size_t i = 0; i < a->n; i++)
        a->n_roots[i] = 0;
    for (size_t i = 0; i < f->n_pairs; i++)
        a->n_roots[f->pairs[i].row]++;
}

/* Of a full answer that no key stands out of, all keys are. */
static bool any_stands_out(const struct asking *a)
{
    for (size_t i = 0; i < a->n; i++)
        if (a->n_roots[i] > RESOLVER_FEW)
            return true;
    return false;
}

static bool tell_crowded(struct find *f, struct asking *a, bool all, struct err *err)
{
    size_t n = 0;

    for (size_t i = 0; i < a->n; i++) {
        if (!all && a->n_roots[i] <= RESOLVER_FEW) {
            a->keys[n] = a->keys[i];
            a->numbers[n++] = a->numbers[i];
        } else if (!f->sink->crowded(f->sink->ctx, a->numbers[i])) {
            return stopped(err);
        }
    }
    a->n = n;
    return true;
}

/* A whole answer: its pairs, but those of crowded keys. */
static bool take_answer(struct find *f, struct asking *a, struct err *err)
{
    for (size_t i = 0; i < f->n_pairs; i++)
        if (a->n_roots[f->pairs[i].row] <= RESOLVER_FEW && !tell_found(f, i, a->numbers, err))
            return false;
    if (!tell_crowded(f, a, false, err))
        return false;
    a->n = 0;
    return true;
}

static bool find_together(struct find *f, struct asking *a, struct err *err)
{
    while (a->n > 0) {
        f->query.keys = a->keys;
        f->query.n = a->n;
        if (!ask(f, err))
            return false;
        count_roots(f, a);
        if (is_full(f) ? !tell_crowded(f, a, !any_stands_out(a), err) : !take_answer(f, a, err))
            return false;
    }
    return true;
}

bool resolver_find(struct mysql_conn *c, const struct resolver_rows *rows,
                   const struct resolver_sink *sink, struct err *err)
{
    struct asking *a = mem_alloc(1, sizeof(*a));
    struct find f;
    bool ok = true;

    find_init(&f, c, rows, sink, RESOLVER_SOME);
    for (size_t from = 0; ok && from < rows->n;) {
        const size_t n = resolver_keys_max(rows->keys + from, rows->n - from);

        for (a->n = 0; a->n < n; a->n++) {
            a->keys[a->n] = rows->keys[from + a->n];
            a->numbers[a->n] = from + a->n;
        }
        ok = find_together(&f, a, err);
        from += n;
    }
    find_fini(&f);
    free(a);
    return ok;
}

bool resolver_page(struct mysql_conn *c, const struct resolver_rows *rows, size_t limit,
                   struct buf *after, const struct resolver_sink *sink, bool *end,
                   struct err *err)
{
    struct find f;

    assert(rows->n == resolver_keys_max(rows->keys, rows->n));
    find_init(&f, c, rows, sink, limit);
    f.query.in_order = true;
    f.query.keys = rows->keys;
    f.query.n = rows->n;
    f.query.after = buf_str(after);

    bool ok = ask(&f, err);

    if (ok && is_full(&f) && f.n_pairs == 0)
        ok = err_set(err, ERR_FATAL, "%" STR_FMT " has %zu rows without a usable key",
                     STR_ARG(f.root->from), limit);
    for (size_t i = 0; ok && i < f.n_pairs; i++)
        ok = tell_found(&f, i, NULL, err);
    if (ok) {
        *end = !is_full(&f);
        if (f.n_pairs > 0) {
            buf_clear(after);
            buf_append(after, root_key(&f, f.n_pairs - 1));
        }
    }
    find_fini(&f);
    return ok;
}
