#include "config.h"

#include "sync/document/resolver.h"

#include "src/base/buf.h"
#include "src/base/mem.h"
#include "src/mysql.h"
#include "sync/binlog/value.h"
#include "sync/document/branch.h"
#include "sync/document/cell.h"
#include "sync/document/key.h"
#include "sync/document/key_set.h"
#include "sync/document/membership.h"
#include "sync/document/plan.h"
#include "sync/document/query_roots.h"
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

/* Its documents are routed by another one, which only the row tells. */
static bool lies_elsewhere(const struct branch *root)
{
    return root->membership != NULL && root->membership->root.n > 0;
}

bool resolver_direct(const struct plan *p, size_t place, struct str join_key, struct buf *id,
                     struct buf *key, struct buf *routing)
{
    const struct branch *b = p->branches[place], *root = p->branches[0];
    const size_t start = key->len, id_at = id->len;
    struct err err = {0};

    if (b->parent != root || b->n_joins != root->n_joins || lies_elsewhere(root))
        return false;
    for (size_t i = 0; i < root->n_joins; i++) {
        struct str part;

        if (!find_part(b, root->joins[i].inner, join_key, &part)) {
            key->len = start;
            return false;
        }
        key_append_part(key, part);
    }
    if (!row_document_id(root, (struct str){key->ptr + start, key->len - start}, id, &err))
        return false;
    if (root->membership != NULL && root->membership->routed)
        buf_append(routing, (struct str){id->ptr + id_at, id->len - id_at});
    return true;
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

/* A root document of a key, or what leads on to it on another server. */
struct pair {
    size_t row;     /* the number of its key in the statement */
    size_t at, len; /* the root's key, or the top's join key, in the answer's bytes */
    size_t routing_len; /* behind it: the columns that the root is routed by, as a key */
};

/* One statement and its answer. */
struct find {
    struct mysql_conn *const *of;
    const struct branch *top; /* query_roots_top() of the statement's branch */
    struct query_roots query;
    const struct resolver_sink *sink;
    struct buf sql, id, routing;
    struct buf bytes; /* keys of the pairs, one behind the other */
    struct pair *pairs;
    size_t n_pairs, n_rows; /* a row without a whole key is no pair */
};

static const struct branch *branch_of(const struct resolver_rows *rows)
{
    const struct branch *branch = rows->plan->branches[rows->place];

    assert(rows->place > 0 && (!rows->by_row || branch->by_row != NULL));
    return rows->by_row ? branch->by_row : branch;
}

static void find_init(struct find *f, struct mysql_conn *const *of, const struct branch *branch,
                      const struct resolver_sink *sink, size_t limit)
{
    *f = (struct find){.of = of, .top = query_roots_top(branch), .sink = sink};
    f->query = (struct query_roots){
        .flavor = mysql_conn_flavor(of[f->top->topic]), .branch = branch, .limit = limit};
    f->pairs = mem_alloc(limit, sizeof(*f->pairs));
}

static void find_fini(struct find *f)
{
    buf_free(&f->sql);
    buf_free(&f->id);
    buf_free(&f->routing);
    buf_free(&f->bytes);
    free(f->pairs);
}

static bool leads_on(const struct find *f)
{
    return f->top->parent != NULL;
}

static struct str key_of(const struct find *f, size_t i)
{
    return (struct str){f->bytes.ptr + f->pairs[i].at, f->pairs[i].len};
}

/* False: the document is known to lie nowhere. */
static bool take_routing(struct find *f, const struct str *cells)
{
    const struct membership *m = f->top->membership;
    struct err err = {0};

    for (size_t i = 0; m != NULL && i < m->root.n; i++) {
        struct value v = cell_value(m->root.columns[i], cells[i]);

        if (!key_append(&f->bytes, m->root.columns[i], &v, &err))
            return false;
    }
    return true;
}

/* The routing of a pair's document, whose _id is in f->id. */
static bool append_routing(struct find *f, const struct pair *p, struct err *err)
{
    const struct membership *m = f->top->membership;

    if (m == NULL || !m->routed)
        return true;
    if (m->root.n > 0) {
        buf_append(&f->routing, m->root.prefix);
        return key_append_id(&f->routing, m->root.columns, m->root.n,
                             (struct str){f->bytes.ptr + p->at + p->len, p->routing_len}, err);
    }
    buf_append(&f->routing, buf_str(&f->id));
    return true;
}

static void take_pair(struct find *f, const struct str *cells)
{
    struct pair *pair = &f->pairs[f->n_pairs];
    struct err err = {0};

    pair->row = cells[0].ptr == NULL ? 0 : strtoull(cells[0].ptr, NULL, 10);
    pair->at = f->bytes.len;
    for (size_t i = 0; i < f->top->n_joins; i++) {
        const struct column *c = f->top->joins[i].inner;
        struct value v = cell_value(c, cells[i + 1]);

        if (!key_append(&f->bytes, c, &v, &err)) {
            f->bytes.len = pair->at;
            return;
        }
    }
    pair->len = f->bytes.len - pair->at;
    if (!take_routing(f, cells + 1 + f->top->n_joins)) {
        f->bytes.len = pair->at;
        return;
    }
    pair->routing_len = f->bytes.len - pair->at - pair->len;
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
    if (!mysql_conn_query(f->of[f->top->topic], buf_str(&f->sql), &r, err))
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
    buf_clear(&f->routing);
    /* A key that makes no _id has no document either. */
    if (!row_document_id(f->top, key_of(f, i), &f->id, &unfit) ||
        !append_routing(f, &f->pairs[i], &unfit))
        return true;
    return f->sink->found(f->sink->ctx, numbers == NULL ? 0 : numbers[f->pairs[i].row],
                          buf_str(&f->id), key_of(f, i), buf_str(&f->routing)) ||
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

static bool find_from(struct mysql_conn *const *of, const struct branch *branch,
                      const struct str *keys, size_t n, const struct resolver_sink *sink,
                      struct err *err);

/* ---- from one server to the next ---- */

/* What a statement's keys lead to on the next server: keys, each with those that led to it. */
struct way_on {
    const struct find *find;
    const struct asking *asking;
    struct key_set set;
    struct str *keys;
    uint32_t *first; /* of each key in order, and the end */
    uint32_t *order; /* pairs by their key */
    bool told[KEYS_MAX]; /* which of the statement's keys are crowded */
};

static void way_on_init(struct way_on *w, const struct find *f, const struct asking *a)
{
    uint32_t *numbers = mem_alloc(f->n_pairs + 1, sizeof(*numbers));

    *w = (struct way_on){.find = f, .asking = a};
    for (size_t i = 0; i < f->n_pairs; i++)
        numbers[i] = key_set_add(&w->set, key_of(f, i));
    w->keys = mem_alloc(w->set.n + 1, sizeof(*w->keys));
    w->first = mem_alloc(w->set.n + 1, sizeof(*w->first));
    w->order = mem_alloc(f->n_pairs + 1, sizeof(*w->order));
    for (uint32_t key = 0; key < w->set.n; key++)
        w->keys[key] = key_set_get(&w->set, key);
    for (size_t i = 0; i < f->n_pairs; i++)
        w->first[numbers[i]]++;
    for (uint32_t key = 1; key <= w->set.n; key++)
        w->first[key] += w->first[key - 1];
    for (size_t i = f->n_pairs; i-- > 0;)
        w->order[--w->first[numbers[i]]] = (uint32_t)i;
    free(numbers);
}

static void way_on_fini(struct way_on *w)
{
    key_set_fini(&w->set);
    free(w->keys);
    free(w->first);
    free(w->order);
}

static bool on_found(void *ctx, size_t key, struct str id, struct str root, struct str routing)
{
    const struct way_on *w = ctx;
    const struct resolver_sink *sink = w->find->sink;

    for (uint32_t i = w->first[key]; i < w->first[key + 1]; i++)
        if (!sink->found(sink->ctx, w->asking->numbers[w->find->pairs[w->order[i]].row], id, root,
                         routing))
            return false;
    return true;
}

static bool tell_once(struct way_on *w, size_t row)
{
    const struct resolver_sink *sink = w->find->sink;

    if (w->told[row])
        return true;
    w->told[row] = true;
    return sink->crowded(sink->ctx, w->asking->numbers[row]);
}

static bool on_crowded(void *ctx, size_t key)
{
    struct way_on *w = ctx;

    for (uint32_t i = w->first[key]; i < w->first[key + 1]; i++)
        if (!tell_once(w, w->find->pairs[w->order[i]].row))
            return false;
    return true;
}

/* The statement's keys lead to rows of a table that is joined on another server. */
static bool find_over(struct find *f, struct asking *a, struct err *err)
{
    struct way_on *w;
    bool ok;

    f->query.keys = a->keys;
    f->query.n = a->n;
    if (!ask(f, err))
        return false;
    if (is_full(f)) {
        count_roots(f, a);
        return tell_crowded(f, a, true, err);
    }
    w = mem_alloc(1, sizeof(*w));
    way_on_init(w, f, a);

    const struct resolver_sink sink = {on_found, on_crowded, w};

    ok = find_from(f->of, f->top, w->keys, w->set.n, &sink, err);
    way_on_fini(w);
    free(w);
    return ok;
}

static bool find_from(struct mysql_conn *const *of, const struct branch *branch,
                      const struct str *keys, size_t n_keys, const struct resolver_sink *sink,
                      struct err *err)
{
    struct asking *a = mem_alloc(1, sizeof(*a));
    struct find f;
    bool ok = true;

    find_init(&f, of, branch, sink, RESOLVER_SOME);
    for (size_t from = 0; ok && from < n_keys;) {
        const size_t n = resolver_keys_max(keys + from, n_keys - from);

        for (a->n = 0; a->n < n; a->n++) {
            a->keys[a->n] = keys[from + a->n];
            a->numbers[a->n] = from + a->n;
        }
        ok = leads_on(&f) ? find_over(&f, a, err) : find_together(&f, a, err);
        from += n;
    }
    find_fini(&f);
    free(a);
    return ok;
}

bool resolver_find(struct mysql_conn *const *of, const struct resolver_rows *rows,
                   const struct resolver_sink *sink, struct err *err)
{
    return find_from(of, branch_of(rows), rows->keys, rows->n, sink, err);
}

/* ---- page by page ---- */

/*
 * A cursor has a part for each server on the way but the last, each behind the next: the key
 * behind which the rows that are worked on there begin.  Then comes the root's key.
 */
static struct str take_cursor(struct str *after)
{
    struct str part = STR("");

    if (after->len > 0)
        (void)key_next(after, &part);
    return part;
}

static bool page_from(struct mysql_conn *const *of, const struct branch *branch,
                      const struct str *keys, size_t n, struct find *last, struct str after,
                      struct buf *next, bool *end, struct err *err);

/* The rows of the page, and how far that goes in next. */
static bool page_of_roots(struct find *f, struct buf *next, bool *end, struct err *err)
{
    bool ok = true;

    if (is_full(f) && f->n_pairs == 0)
        return err_set(err, ERR_FATAL, "%" STR_FMT " has %zu rows without a usable key",
                       STR_ARG(f->top->from), f->n_rows);
    for (size_t i = 0; ok && i < f->n_pairs; i++)
        ok = tell_found(f, i, NULL, err);
    *end = !is_full(f);
    buf_append(next, f->n_pairs > 0 ? key_of(f, f->n_pairs - 1) : f->query.after);
    return ok;
}

/* The next rows that lead on to another server, until all that they lead to was told. */
static bool page_over(struct find *f, struct find *last, struct str below, struct buf *next,
                      bool *end, struct err *err)
{
    struct str *keys = mem_alloc(f->n_pairs + 1, sizeof(*keys));
    struct buf rest = {0};
    bool sub_end = true, ok = true;

    for (size_t i = 0; i < f->n_pairs; i++)
        keys[i] = key_of(f, i);

    const size_t n = f->n_pairs == 0 ? 0 : resolver_keys_max(keys, f->n_pairs);

    if (n > 0)
        ok = page_from(f->of, f->top, keys, n, last, below, &rest, &sub_end, err);
    key_append_part(next, sub_end && n > 0 ? keys[n - 1] : f->query.after);
    if (!sub_end)
        buf_append(next, buf_str(&rest));
    *end = sub_end && n == f->n_pairs && !is_full(f);
    buf_free(&rest);
    free(keys);
    return ok;
}

/* last: of the statement that finds roots, for its sink and limit. */
static bool page_from(struct mysql_conn *const *of, const struct branch *branch,
                      const struct str *keys, size_t n, struct find *last, struct str after,
                      struct buf *next, bool *end, struct err *err)
{
    const bool over = query_roots_top(branch)->parent != NULL;
    const struct str own = over ? take_cursor(&after) : after;
    struct find f;

    find_init(&f, of, branch, last->sink, over ? KEYS_MAX : last->query.limit);
    f.query.in_order = true;
    f.query.keys = keys;
    f.query.n = n;
    f.query.after = own;

    const bool ok = ask(&f, err) && (over ? page_over(&f, last, after, next, end, err)
                                          : page_of_roots(&f, next, end, err));

    find_fini(&f);
    return ok;
}

bool resolver_page(struct mysql_conn *const *of, const struct resolver_rows *rows, size_t limit,
                   struct buf *after, const struct resolver_sink *sink, bool *end,
                   struct err *err)
{
    struct find last = {.sink = sink, .query.limit = limit};
    struct buf next = {0};

    assert(rows->n == resolver_keys_max(rows->keys, rows->n));

    const bool ok = page_from(of, branch_of(rows), rows->keys, rows->n, &last, buf_str(after),
                              &next, end, err);

    if (ok) {
        buf_clear(after);
        buf_append(after, buf_str(&next));
    }
    buf_free(&next);
    return ok;
}

void resolver_after(const struct resolver_rows *rows, struct str before, struct str root_key,
                    struct buf *after)
{
    const struct branch *top = query_roots_top(branch_of(rows));

    for (; top->parent != NULL; top = query_roots_top(top))
        key_append_part(after, take_cursor(&before));
    buf_append(after, root_key);
}
