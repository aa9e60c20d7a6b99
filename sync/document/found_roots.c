#include "config.h"

#include "sync/document/found_roots.h"

#include "src/base/mem.h"
#include "src/mysql/mysql.h"
#include "sync/document/cell.h"
#include "sync/document/key.h"
#include "sync/document/membership.h"
#include "sync/document/plan_node.h"
#include "sync/document/resolver.h"
#include "sync/document/row_document.h"
#include "sync/value/value.h"

#include <assert.h>
#include <stdlib.h>

const struct plan_node *found_roots_node(const struct resolver_rows *rows,
                                         struct found_roots_below *below)
{
    const struct plan_node *b = rows->plan->nodes[rows->place];

    if (rows->by == RESOLVER_BY_JOIN || rows->by == RESOLVER_BY_ROW) {
        assert(rows->place > 0 && (rows->by == RESOLVER_BY_JOIN || b->by_row != NULL));
        return rows->by == RESOLVER_BY_JOIN ? b : b->by_row;
    }
    below->node = (struct plan_node){.number = b->number,
                                     .parent = b,
                                     .topic = b->topic,
                                     .schema = b->schema,
                                     .from = b->from,
                                     .joins = below->joins};
    for (size_t i = 0; i < b->n_joins && i < RESOLVER_COLUMNS_MAX; i++)
        if (rows->by & RESOLVER_BY(i))
            below->joins[below->node.n_joins++] =
                (struct plan_join){.outer = b->joins[i].inner, .inner = b->joins[i].inner};
    return &below->node;
}

void found_roots_init(struct found_roots *f, struct mysql_conn *const *of,
                      const struct plan_node *node, const struct resolver_sink *sink,
                      size_t limit)
{
    *f = (struct found_roots){.of = of, .top = query_roots_top(node), .sink = sink};
    f->query = (struct query_roots){
        .flavor = mysql_conn_flavor(of[f->top->topic]), .node = node, .limit = limit};
    f->pairs = mem_alloc(limit, sizeof(*f->pairs));
}

void found_roots_fini(struct found_roots *f)
{
    buf_free(&f->sql);
    buf_free(&f->id);
    buf_free(&f->routing);
    buf_free(&f->bytes);
    free(f->pairs);
}

bool found_roots_lead_on(const struct found_roots *f)
{
    return f->top->parent != NULL;
}

struct str found_roots_key(const struct found_roots *f, size_t i)
{
    return (struct str){f->bytes.ptr + f->pairs[i].at, f->pairs[i].len};
}

/* Take nothing if the routing is unknown because the parents do not tell it. */
static bool take_routing(struct found_roots *f, const struct str *cells)
{
    const struct membership *m = f->top->membership;
    const size_t start = f->bytes.len;
    struct err err = {0};

    for (size_t i = 0; m != NULL && i < m->root.n; i++) {
        struct value v = cell_value(m->root.columns[i], cells[i]);

        if (key_append(&f->bytes, m->root.columns[i], &v, &err))
            continue;
        f->bytes.len = start;
        return m->n_ancestors > 0;
    }
    return true;
}

/*
 * Append the routing of the pair's document, whose _id is in f->id.  Returns false if it has no
 * place.
 */
static bool append_routing(struct found_roots *f, const struct found_root *p)
{
    const struct membership *m = f->top->membership;
    struct err err = {0};

    if (m == NULL || !m->routed)
        return true;
    if (m->root.n == 0) {
        buf_append(&f->routing, buf_str(&f->id));
        return true;
    }
    buf_append(&f->routing, m->root.prefix);
    if (key_append_id(&f->routing, m->root.columns, m->root.n,
                      (struct str){f->bytes.ptr + p->at + p->len, p->routing_len}, &err))
        return true;
    /* If the parents decide its routing, it may have had a place before. */
    buf_clear(&f->routing);
    return m->n_ancestors > 0;
}

static void take_pair(struct found_roots *f, const struct str *cells)
{
    struct found_root *pair = &f->pairs[f->n_pairs];
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

bool found_roots_ask(struct found_roots *f, struct err *err)
{
    struct mysql_result *r;
    struct mysql_row row;
    int got;

    buf_clear(&f->sql);
    query_roots(&f->sql, &f->query);
    buf_clear(&f->bytes);
    f->n_pairs = f->n_rows = 0;
    if (!mysql_conn_query(f->of[f->top->topic], buf_str(&f->sql), &r, err))
        return err_wrap(err, "roots of %" STR_FMT, STR_ARG(f->query.node->from));
    while ((got = mysql_result_next(r, &row, err)) > 0) {
        assert(f->n_rows < f->query.limit);
        f->n_rows++;
        take_pair(f, row.cells);
    }
    mysql_result_close(r);
    return got == 0 || err_wrap(err, "roots of %" STR_FMT, STR_ARG(f->query.node->from));
}

bool found_roots_is_full(const struct found_roots *f)
{
    return f->n_rows == f->query.limit;
}

bool found_roots_stopped(struct err *err)
{
    return err_set(err, ERR_STOP, "stopped");
}

/* numbers belongs to the query's keys; NULL if there is one key. */
bool found_roots_tell(struct found_roots *f, size_t i, const size_t *numbers, struct err *err)
{
    struct err unfit = {0};

    buf_clear(&f->id);
    buf_clear(&f->routing);
    /* A key that makes no _id has no document. */
    if (!row_document_id(f->top, found_roots_key(f, i), &f->id, &unfit) ||
        !append_routing(f, &f->pairs[i]))
        return true;
    return f->sink->found(f->sink->ctx, numbers == NULL ? 0 : numbers[f->pairs[i].row],
                          buf_str(&f->id), found_roots_key(f, i), buf_str(&f->routing)) ||
           found_roots_stopped(err);
}
