#include "config.h"

#include "rebalance/build/reads.h"

#include "rebalance/build/build.h"
#include "rebalance/fill/targets.h"
#include "src/base/mem.h"
#include "src/mysql/mysql.h"
#include "sync/document/loader.h"
#include "sync/pipeline/pipeline.h"
#include "sync/read/view.h"
#include "sync/routing/routing.h"

#include <stdlib.h>

/* Counting a very large table returns no row for a long time; the server need not hang. */
#define COUNT_TIMEOUT_S 7200

/* Publish the connection so that index_build_ask_to_stop() can interrupt a long wait on it. */
static void set_connection(struct index_build *b, struct mysql_conn *conn)
{
    lock_acquire(&b->lock);
    b->conn = conn;
    if (conn != NULL && stop_is_set(&b->stop))
        mysql_conn_interrupt(conn);
    lock_release(&b->lock);
}

bool build_connect(struct index_build *b, struct err *err)
{
    struct mysql_conn *conn;

    if (!pipeline_connect(b->opt.pipeline, COUNT_TIMEOUT_S, &conn, err))
        return false;
    set_connection(b, conn);
    return true;
}

void build_disconnect(struct index_build *b)
{
    struct mysql_conn *conn = b->conn;

    set_connection(b, NULL);
    mysql_conn_close(conn);
}

bool build_open_read(struct index_build *b, uint64_t at_least, struct err *err)
{
    const struct read_view_options view = {
        .reader = pipeline_read_position(b->opt.pipeline),
        .gtid = pipeline_has_gtid(b->opt.pipeline),
        .at_least = at_least,
        .timeout_ms = BUILD_VIEW_MS,
        .stop = &b->stop,
    };

    uint64_t stamp;

    if (b->conn == NULL && !build_connect(b, err))
        return false;
    return read_view_open(b->conn, &view, &stamp, err);
}

bool build_count_tables(struct index_build *b, uint64_t *rows, struct err *err)
{
    size_t n;
    struct target **list = version_targets(b->opt.pipeline, b->index, &n, err);
    bool ok = n > 0;

    *rows = 0;
    for (size_t i = 0; ok && i < n; i++) {
        uint64_t of_table = 0;

        ok = loader_count(b->conn, ((struct reading *)list[i]->plan)->plan, &of_table, err);
        *rows += of_table;
    }
    version_targets_free(list, n);
    return ok;
}
