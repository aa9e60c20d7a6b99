#include "config.h"

#include "sync/binlog/row_fill.h"

#include "src/base/mem.h"
#include "sync/binlog/row.h"
#include "sync/binlog/value.h"

#include <stdlib.h>

void row_fill_fini(struct row_fill *f)
{
    free(f->after);
    *f = (struct row_fill){0};
}

void row_fill(struct row_fill *f, struct row_change *change, const bool *generated, size_t n)
{
    if (!change->partial || change->before == NULL || change->after == NULL)
        return;
    if (f->cap < n) {
        free(f->after);
        f->after = mem_alloc(n, sizeof(*f->after));
        f->cap = n;
    }
    for (size_t i = 0; i < n; i++) {
        const bool old = change->after[i].kind == VALUE_ABSENT && !generated[i];

        f->after[i] = old ? change->before[i] : change->after[i];
    }
    change->after = f->after;
}
