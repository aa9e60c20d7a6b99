#include "config.h"

#include "rebalance/build/cost.h"

#include "src/base/buf.h"
#include "src/base/err.h"
#include "src/format/json.h"
#include "sync/document/bucket/mod.h"

bool build_cost_add(struct build_cost *cost, struct mysql_conn *c, const struct plan *p,
                    struct str column, struct err *err)
{
    const uint32_t times = cost->by == BUCKETS_BY_MOD ? cost->buckets : 1;
    struct buf where = {0};
    uint64_t examined = 0;
    const bool ok =
        (cost->by != BUCKETS_BY_MOD || mod_append(&where, p, column, times, 0, err)) &&
        mod_rows_examined(c, p, times, &examined, err);

    cost->rows += examined / times;
    cost->examined += examined;
    buf_free(&where);
    return ok;
}

void build_cost_put(struct json_writer *w, const struct build_cost *cost)
{
    json_put_u64(w, STR("buckets"), cost->buckets);
    json_put_cstr(w, STR("buckets_by"), buckets_by_word(cost->by));
    json_put_u64(w, STR("rows"), cost->rows);
    json_put_u64(w, STR("rows_examined"), cost->examined);
}
