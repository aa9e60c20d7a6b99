#include "config.h"

#include "rebalance/fill/fill.h"

#include "rebalance/fill/source.h"
#include "rebalance/fill/targets.h"
#include "src/base/mem.h"
#include "sync/delivery/document/target.h"
#include "sync/document/key.h"

#include <stdlib.h>
#include <string.h>

/* A cursor's table and key. */
struct cursor_place {
    struct str table, key;
};

static struct cursor_place place_of(struct str cursor)
{
    struct cursor_place p = {.key = cursor};

    if (!key_next(&p.key, &p.table))
        p.key = STR("");
    return p;
}

static bool is_there(struct index_fill *f, const struct cursor_place *p,
                     struct target *const *list, size_t n, size_t *at, struct err *err)
{
    for (size_t i = 0; i < n; i++)
        if (str_equal(p->table, str_from(list[i]->table))) {
            *at = i;
            return true;
        }
    return err_set(err, ERR_REJECT,
                   "table %" STR_FMT " does not belong to the index any more; fix: "
                   "millrace index create %s",
                   STR_ARG(p->table), f->alias);
}

static bool find_range(struct index_fill *f, struct target *const *list, size_t n,
                       struct err *err)
{
    const struct cursor_place from = place_of(buf_str(&f->cursor)),
                              until = place_of(buf_str(&f->bucket.until));
    size_t first = 0, last = n - 1;

    if ((from.table.len > 0 && !is_there(f, &from, list, n, &first, err)) ||
        (until.table.len > 0 && !is_there(f, &until, list, n, &last, err)))
        return false;
    f->until = until.key;

    const size_t end = until.table.len > 0 && until.key.len == 0 ? last : last + 1;

    f->tables = mem_alloc(n, sizeof(char *));
    for (size_t i = first; i < end; i++)
        f->tables[f->n_tables++] = mem_copy(list[i]->table);
    buf_clear(&f->after);
    buf_append(&f->after, from.key);
    return true;
}

/* A part has documents of one table, and places of its own. */
static void take_member(struct index_fill *f)
{
    const struct str member = buf_str(&f->part.member);

    f->tables = mem_alloc(1, sizeof(char *));
    f->tables[f->n_tables++] = strndup(member.ptr, member.len);
    buf_clear(&f->after);
    buf_append(&f->after, place_of(buf_str(&f->cursor)).key);
}

bool fill_find_tables(struct index_fill *f, struct err *err)
{
    size_t n;

    if (f->is_part) {
        take_member(f);
        return true;
    }

    struct target **list = fill_source_targets(f->opt.source, &n, err);
    const bool ok = n > 0 && find_range(f, list, n, err);

    version_targets_free(list, n);
    return ok;
}
