#include "config.h"

#include "sync/schemas.h"

#include "src/base/buf.h"
#include "src/base/map.h"
#include "src/base/mem.h"
#include "sync/binlog/schema.h"
#include "sync/model/catalog.h"
#include "sync/model/foreign_keys.h"

#include <stdlib.h>
#include <string.h>

struct schemas {
    char *topic;
    plan_schema_fn others;
    void *others_ctx;
    struct mysql_conn *conn;
    struct map *known; /* "database\0table" -> struct schema */
    struct err failed;
};

struct schemas *schemas_new(struct str topic)
{
    struct schemas *s = mem_alloc(1, sizeof(*s));

    s->topic = strndup(topic.len == 0 ? "" : topic.ptr, topic.len);
    s->known = map_new();
    return s;
}

static void drop(void *schema)
{
    schema_unref(schema);
}

void schemas_free(struct schemas *s)
{
    if (s == NULL)
        return;
    map_free(s->known, drop);
    free(s->topic);
    free(s);
}

void schemas_use(struct schemas *s, struct mysql_conn *c)
{
    s->conn = c;
    s->failed = (struct err){0};
}

void schemas_forget(struct schemas *s)
{
    map_free(s->known, drop);
    s->known = map_new();
}

void schemas_set_others(struct schemas *s, plan_schema_fn find, void *ctx)
{
    s->others = find;
    s->others_ctx = ctx;
}

const struct err *schemas_failed(const struct schemas *s)
{
    return &s->failed;
}

struct schema *schemas_find(void *ctx, struct str topic, struct str database, struct str table)
{
    struct schemas *s = ctx;
    const struct catalog_name name = {database, table};
    struct buf key = {0};
    struct schema *found;

    if (!str_equal(topic, str_from(s->topic)))
        return s->others == NULL ? NULL : s->others(s->others_ctx, topic, database, table);
    buf_append(&key, database);
    buf_append_char(&key, '\0');
    buf_append(&key, table);
    found = map_find(s->known, buf_str(&key));
    if (found == NULL && s->failed.kind == ERR_NONE) {
        if (s->conn == NULL)
            err_set(&s->failed, ERR_RETRY, "the server is not connected");
        else if (catalog_load(s->conn, &name, 1, &found, &s->failed) && found != NULL)
            map_put(s->known, buf_str(&key), found);
    }
    buf_free(&key);
    return found;
}

bool schemas_list(void *ctx, struct str topic, struct str schema, struct arena *a,
                  struct str **out, size_t *n)
{
    struct schemas *s = ctx;

    (void)topic; /* its own: tables of one index are on one */

    if (s->failed.kind == ERR_NONE && s->conn == NULL)
        err_set(&s->failed, ERR_RETRY, "the server is not connected");
    return s->failed.kind == ERR_NONE &&
           catalog_list_base_tables(s->conn, schema, a, out, n, &s->failed);
}

bool schemas_foreign_keys(void *ctx, struct str database, struct str table, struct arena *a,
                          struct foreign_key **keys, size_t *n, struct err *err)
{
    struct schemas *s = ctx;
    const struct catalog_name name = {database, table};

    if (s->conn == NULL)
        return err_set(err, ERR_RETRY, "the server is not connected");
    return foreign_keys_load(s->conn, &name, a, keys, n, err);
}
