#include "config.h"

#include "sync/check/check_bucket.h"

#include "src/base/buf.h"
#include "src/base/mem.h"
#include "sync/catalog/table_indexes.h"
#include "sync/catalog/table_key.h"
#include "sync/check/check_join.h"
#include "sync/check/checked_table.h"

#include <inttypes.h>
#include <stdlib.h>

/* The column, then what else is in the key.  The caller frees them. */
static struct str *order_of(const struct checked_table *s, const struct table_definition *t,
                            struct str by, size_t *n)
{
    const struct schema *schema = s->facts->schema;
    const struct table_key key = table_key_named(t, schema);
    const size_t n_key = key.n > 0 ? key.n : schema->n_key;
    struct str *columns = mem_alloc(n_key + 1, sizeof(*columns));

    columns[0] = by;
    *n = 1;
    for (size_t i = 0; i < n_key; i++) {
        columns[*n] = key.n > 0 ? key.columns[i] : schema->columns[schema->key[i]].name;
        *n += !str_equal_any_case(columns[*n], by);
    }
    return columns;
}

static void check_order(struct checker *c, const struct checked_table *s,
                        const struct table_definition *t, struct str by, struct place place)
{
    struct buf names = {0};
    size_t n;
    struct str *columns = order_of(s, t, by, &n);

    if (table_indexes_in_order(s->facts, columns, n) == NULL) {
        table_indexes_append(&names, columns, n, false);
        problems_add(c->problems, SEVERITY_WARNING, place,
                     "%" STR_FMT " has no index with its rows in the order of (%" STR_FMT
                     "), so a build cannot cut it into buckets by `bucket_column`, but only by "
                     "mod: then the server reads all of its %" PRIu64 " rows for each bucket",
                     STR_ARG(s->table), STR_ARG(buf_str(&names)), s->facts->n_rows);
        definition_fix_index(c, s, columns, n);
        buf_free(&names);
    }
    free(columns);
}

void definition_check_bucket(struct checker *c, const struct checked_table *s,
                             const struct table_definition *t)
{
    const struct place place = checked_table_place(c, t->bucket_column, t->place);
    const struct column *col = t->bucket_column.len > 0
                                   ? checked_table_column(c, s, t->bucket_column, t->place)
                                   : NULL;

    if (col == NULL)
        return;
    if (column_is_scalar(col)) {
        if (!s->facts->schema->is_view)
            check_order(c, s, t, col->name, place);
        return;
    }
    problems_add(c->problems, SEVERITY_ERROR, place,
                 "a `bucket_column` has numbers or times, but `%" STR_FMT "` is %" STR_FMT,
                 STR_ARG(col->name), STR_ARG(col->type_text));
    problems_fix(c->problems,
                 "leave `bucket_column` out: the key cuts the table, whatever its type");
}
