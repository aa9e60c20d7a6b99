#include "config.h"

#include "sync/document/bucket/mod.h"

#include "src/base/arena.h"
#include "src/base/buf.h"
#include "sync/catalog/catalog.h"
#include "sync/document/key.h"
#include "sync/document/plan_node.h"
#include "sync/document/query_part.h"
#include "sync/value/schema.h"

#include <inttypes.h>

static bool is_time(const struct column *c)
{
    return key_class_of(c) == KEY_DATE || key_class_of(c) == KEY_DATETIME;
}

bool mod_append(struct buf *where, const struct plan *p, struct str column, uint32_t n,
                uint32_t i, struct err *err)
{
    const struct plan_node *root = p->nodes[0];
    struct query_order o;

    if (!query_order_find(&o, root, column, err))
        return false;
    if (o.by == NULL || !is_time(o.by))
        return err_set(err, ERR_REJECT,
                       "%" STR_FMT ": buckets by mod need a `bucket_column` of type DATE, "
                       "DATETIME or TIMESTAMP; leave mod out, so that ranges make the buckets",
                       STR_ARG(root->from));
    buf_append(where, STR("FLOOR(COALESCE(UNIX_TIMESTAMP("));
    query_part_column(where, root->schema->table, o.by->name);
    buf_printf(where, "),0)) MOD %" PRIu32 " = %" PRIu32, n, i);
    return true;
}

bool mod_rows_examined(struct mysql_conn *c, const struct plan *p, uint32_t n, uint64_t *rows,
                       struct err *err)
{
    const struct schema *s = p->nodes[0]->schema;
    const struct catalog_name name = {s->database, s->table};
    struct arena *a = arena_new();
    struct table_facts facts;
    const bool fine = catalog_load_facts(c, &name, 1, a, &facts, err);

    *rows = 0;
    if (fine) {
        *rows = facts.n_rows < UINT64_MAX / n ? facts.n_rows * n : UINT64_MAX;
        table_facts_fini(&facts, 1);
    }
    arena_free(a);
    return fine || err_wrap(err, "%" STR_FMT, STR_ARG(p->nodes[0]->from));
}
