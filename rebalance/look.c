#include "config.h"

#include "rebalance/look.h"

#include "rebalance/node.h"
#include "src/mysql.h"
#include "sync/schemas.h"
#include "sync/server_access.h"

void look_close(struct look *l)
{
    schemas_free(l->schemas);
    mysql_conn_close(l->conn);
    server_access_unref(l->server);
    *l = (struct look){0};
}

bool look_open(struct coordinator *co, const struct definitions *d,
               const struct table_definition *t, struct look *l, struct err *err)
{
    struct str database, name;
    const struct topic_definition *topic = definitions_topic_of(d, t->table);

    *l = (struct look){.schemas = schemas_new()};
    if (topic == NULL || !definition_split_table(t->table, &database, &name))
        return refuse(err, 422, "table %" STR_FMT " has no topic", STR_ARG(t->table));
    if (!server_access_new(&l->server, topic, definitions_database(d, database),
                           co->opt.data_dir, err))
        return false;
    if (l->server->replica) { /* whose tables may be those of before */
        server_access_unref(l->server);
        l->server = NULL;
    }
    if ((l->server == NULL &&
         !server_access_new(&l->server, topic, NULL, co->opt.data_dir, err)) ||
        !mysql_conn_open(&l->conn, &l->server->options, err))
        return false;
    schemas_use(l->schemas, l->conn);
    return true;
}
