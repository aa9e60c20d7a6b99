#include "config.h"

#include "sync/decode/row_fill.h"

#include "src/base/mem.h"
#include "sync/decode/row.h"
#include "sync/decode/sql_lexer.h"
#include "sync/value/schema.h"
#include "sync/value/value.h"

#include <stdlib.h>

void row_fill_fini(struct row_fill *f)
{
    free(f->after);
    *f = (struct row_fill){0};
}

struct filling {
    const struct row_change *change;
    const struct schema *schema;
    const struct str *generated;
    const struct value *after; /* filled so far */
};

/* A generated column may use earlier generated ones, even ones that nobody reads. */
static bool has_changed(const struct filling *g, size_t base, size_t column)
{
    const struct value *was = &g->change->before[base], *is = &g->change->after[base];

    if (is->kind != VALUE_ABSENT)
        return was->kind == VALUE_ABSENT || !value_same(was, is);
    if (g->generated[base].ptr == NULL)
        return g->schema->columns[base].generated;
    return base > column || g->after[base].kind == VALUE_ABSENT;
}

static bool keeps_value(const struct filling *g, size_t column)
{
    const struct str expression = g->generated[column];

    if (expression.ptr == NULL)
        return true;
    for (size_t i = 0; i < g->schema->n_columns; i++)
        if (i != column && has_changed(g, i, column) &&
            sql_may_name(expression, g->schema->columns[i].name))
            return false;
    return expression.len > 0;
}

void row_fill(struct row_fill *f, struct row_change *change, const struct schema *schema,
              const struct str *generated)
{
    const size_t n = schema->n_columns;

    if (!change->partial || change->before == NULL || change->after == NULL)
        return;
    if (f->cap < n) {
        free(f->after);
        f->after = mem_alloc(n, sizeof(*f->after));
        f->cap = n;
    }

    const struct filling g = {change, schema, generated, f->after};

    for (size_t i = 0; i < n; i++) {
        const bool old = change->after[i].kind == VALUE_ABSENT && keeps_value(&g, i);

        f->after[i] = old ? change->before[i] : change->after[i];
    }
    change->after = f->after;
}
