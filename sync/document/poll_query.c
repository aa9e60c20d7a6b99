#include "config.h"

#include "sync/document/poll_query.h"

#include "src/base/arena.h"
#include "src/base/buf.h"
#include "src/mysql/mysql.h"
#include "sync/document/cell.h"
#include "sync/document/key.h"
#include "sync/document/plan_node.h"
#include "sync/document/query.h"
#include "sync/document/row_document.h"
#include "sync/value/schema.h"
#include "sync/value/value.h"

#include <assert.h>

static const struct column *check_column(const struct plan *p, struct str name, struct err *err)
{
    const struct schema *s = p->nodes[0]->schema;
    const size_t at = schema_find(s, name);

    if (at != SIZE_MAX)
        return &s->columns[at];
    err_set(err, ERR_REJECT, "table %" STR_FMT ".%" STR_FMT " has no column `%" STR_FMT "`",
            STR_ARG(s->database), STR_ARG(s->table), STR_ARG(name));
    return NULL;
}

/* Returns false for a row without a key. */
static bool take_row(const struct plan_node *root, const struct str *cells, struct arena *a,
                     struct poll_row *out)
{
    struct buf key = {0}, id = {0};
    struct err unfit = {0};
    bool fine = true;

    for (size_t i = 0; fine && i < root->n_joins; i++) {
        const struct value v = cell_value(root->joins[i].inner, cells[i]);

        fine = key_append(&key, root->joins[i].inner, &v, &unfit);
    }
    if (fine) {
        /* A key too long for an _id becomes a dead letter under its text. */
        if (!row_document_id(root, buf_str(&key), &id, &unfit) && id.len <= KEY_ID_MAX)
            buf_clear(&id);
        *out = (struct poll_row){arena_copy(a, buf_str(&id)), arena_copy(a, buf_str(&key)),
                                 arena_copy(a, cells[root->n_joins])};
    }
    buf_free(&key);
    buf_free(&id);
    return fine;
}

bool poll_load(struct mysql_conn *c, const struct poll_page *page, struct arena *a,
               struct poll_row **rows, size_t *n, bool *end, struct err *err)
{
    const struct plan_node *root = page->plan->nodes[0];
    struct query_changed q = {.root = root,
                              .check = check_column(page->plan, page->check, err),
                              .since = page->since,
                              .overlap_s = page->overlap_s,
                              .limit = page->limit};
    struct buf sql = {0};
    struct mysql_result *r;
    struct mysql_row row;
    size_t n_seen = 0;
    int got;

    *n = 0;
    *rows = arena_alloc(a, page->limit, sizeof(**rows));
    if (q.check == NULL)
        return false;
    if (page->last != NULL) {
        q.at = page->last->value;
        q.after = page->last->key;
    }
    query_changed(&sql, &q);

    const bool sent = mysql_conn_query(c, buf_str(&sql), &r, err);

    buf_free(&sql);
    if (!sent)
        return err_wrap(err, "%" STR_FMT, STR_ARG(root->from));
    while ((got = mysql_result_next(r, &row, err)) > 0) {
        assert(n_seen < page->limit);
        n_seen++;
        if (take_row(root, row.cells, a, &(*rows)[*n]))
            (*n)++;
    }
    mysql_result_close(r);
    *end = n_seen < page->limit;
    if (got == 0 && *n == 0 && !*end)
        return err_set(err, ERR_RETRY, "%" STR_FMT " has %zu rows without a usable key",
                       STR_ARG(root->from), n_seen);
    return got == 0;
}

bool poll_latest(struct mysql_conn *c, const struct plan *p, struct str check,
                 struct buf *value, struct err *err)
{
    const struct plan_node *root = p->nodes[0];
    const struct column *column = check_column(p, check, err);
    struct buf sql = {0};

    if (column == NULL)
        return false;
    buf_append(&sql, STR("SELECT CAST(MAX("));
    mysql_quote_name(&sql, column->name);
    buf_printf(&sql, ") AS CHAR) FROM %" STR_FMT, STR_ARG(root->from));

    const bool fine = mysql_conn_scalar(c, buf_str(&sql), value, err);

    buf_free(&sql);
    return fine;
}
