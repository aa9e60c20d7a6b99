#include "config.h"

#include "sync/pipeline/router.h"

#include "src/base/clock.h"
#include "src/base/log.h"
#include "src/base/map.h"
#include "src/base/mem.h"
#include "src/base/thread.h"
#include "src/mysql/mysql.h"
#include "sync/change/builder.h"
#include "sync/checkpoint/read_position.h"
#include "sync/decode/ddl.h"
#include "sync/position/position.h"
#include "sync/read/view.h"
#include "sync/routing/routing.h"
#include "sync/routing/shapes.h"
#include "sync/routing/shapes_store.h"
#include "sync/routing/wanted_versions.h"
#include "sync/server/known_server.h"
#include "sync/server/schemas.h"
#include "sync/server/server_access.h"
#include "sync/server/server_info.h"
#include "sync/value/schema.h"

#include <stdlib.h>

#define SCHEMA_MS    10000
#define COMMITTED_MS 30000 /* then the dump begins again, to let others in between */

struct router {
    struct router_options opt;
    struct mysql_conn *meta; /* reads schemas; NULL: not open */
    struct schemas *schemas;
    struct shapes *shapes;
};

struct router *router_new(const struct router_options *opt)
{
    struct router *r = mem_alloc(1, sizeof(*r));

    r->opt = *opt;
    r->schemas = schemas_new(str_from(opt->topic));
    r->shapes = shapes_store_load(opt->store, opt->topic, opt->start, opt->before);
    return r;
}

void router_free(struct router *r)
{
    if (r == NULL)
        return;
    schemas_free(r->schemas);
    shapes_free(r->shapes);
    free(r);
}

void router_disconnect(struct router *r)
{
    schemas_use(r->schemas, NULL);
    mysql_conn_close(r->meta);
    r->meta = NULL;
}

static bool connect(struct router *r, struct err *err)
{
    struct mysql_options at = r->opt.server->options;

    at.group = r->opt.group;
    return r->meta != NULL || known_server_open(r->opt.known, &at, &r->meta, err);
}

/* Ask twice: a connection that was idle for long may be closed. */
static enum commit_wait_answer ask(struct router *r, struct str wait_sql, struct err *err)
{
    enum commit_wait_answer answer = COMMIT_WAIT_MUTE;

    for (int i = 0; i < 2; i++) {
        answer = connect(r, err) ? read_view_ask(r->meta, wait_sql, err) : COMMIT_WAIT_MUTE;
        if (answer != COMMIT_WAIT_MUTE || err->kind != ERR_RETRY)
            return answer;
        router_disconnect(r);
    }
    return answer;
}

static bool is_locked(struct err *err)
{
    return err_set(
        err, ERR_RETRY,
        "the log has an XA COMMIT, but a row that it changed is still locked: the server "
        "waits for a semi-synchronous replica, or another transaction has the row; fix: let "
        "the replica go on, or end that transaction");
}

bool router_wait_committed(struct router *r, struct str wait_sql, struct err *err)
{
    const int64_t until = clock_mono_ms() + COMMITTED_MS;
    enum commit_wait_answer answer =
        wait_sql.len == 0 ? COMMIT_WAIT_MUTE : ask(r, wait_sql, err);

    while (answer == COMMIT_WAIT_LOCKED && clock_mono_ms() < until &&
           !stop_is_set(r->opt.stop)) {
        (void)is_locked(err);
        r->opt.waits(r->opt.hooks.ctx, err);
        answer = ask(r, wait_sql, err);
    }
    if (answer == COMMIT_WAIT_LOCKED)
        return is_locked(err);
    r->opt.waits(r->opt.hooks.ctx, NULL);
    if (answer == COMMIT_WAIT_COMMITTED)
        return true;
    if (err->kind == ERR_RETRY)
        return false;
    *err = (struct err){0};
    return read_view_settle(r->opt.stop) || err_set(err, ERR_STOP, "stopping");
}

/* Read schemas at a moment that includes all DDL read so far. */
static bool open_schemas(struct router *r, struct err *err)
{
    const struct read_view_options view = {.reader = r->opt.reader,
                                           .gtid = known_server_has_gtid(r->opt.known),
                                           .at_least = read_position_version(r->opt.reader),
                                           .timeout_ms = SCHEMA_MS,
                                           .stop = r->opt.stop};
    uint64_t stamp;

    if (!connect(r, err))
        return false;
    schemas_use(r->schemas, r->meta);
    return read_view_open(r->meta, &view, &stamp, err);
}

/* ---- shapes ---- */

/* Note where the log ended after the schemas were read. */
static bool settle_shapes(struct router *r, struct err *err)
{
    struct log_end end;
    uint64_t version;

    if (!server_log_end(r->meta, &end, err))
        return false;
    free(end.gtids);
    if (!position_version((struct position){str_from(end.file), end.offset}, r->opt.epoch,
                          &version, err))
        return false;
    shapes_settle(r->shapes, version);
    return true;
}

static bool is_followed(void *ctx, const struct schema *s)
{
    return routing_find(ctx, s->database, s->table) != NULL;
}

/* Tell whether ddl, just met, may have given the table another shape than s. */
static bool is_reshaped(const struct watched *w, const struct shape *s, const struct ddl *ddl)
{
    return ddl_concerns(ddl, w->database, w->table) ||
           (ddl_alters(ddl, w->database, w->table) &&
            schema_n_hashes(w->schema) != schema_n_hashes(s->schema));
}

/*
 * Decode each table's rows by the shape that the table has where the log is read. ddl: just
 * met, or NULL.
 */
static bool set_shapes(struct router *r, struct routing *routing, const struct ddl *ddl,
                       struct err *err)
{
    const uint64_t at = read_position_version(r->opt.reader);
    struct str key;
    void *value;

    for (size_t i = 0; map_next(routing->by_name, &i, &key, &value);) {
        struct watched *w = value;
        struct shape *s = shapes_find(r->shapes, w->database, w->table, at);

        if (w->schema == NULL)
            continue;
        if (s == NULL || s->refuted ||
            (ddl != NULL && s->from != at && is_reshaped(w, s, ddl))) {
            struct shape *learned = shapes_learn(r->shapes, w->schema, at);

            if (ddl != NULL)
                shape_note_ddl(learned, s, ddl, at);
            s = learned;
        }
        watched_set_shape(w, s);
    }

    const bool fewer = shapes_retain(r->shapes, is_followed, routing);
    const bool more = shapes_are_new(r->shapes);

    if ((!more || settle_shapes(r, err)) &&
        ((!more && !fewer) || shapes_store_save(r->opt.store, r->opt.topic, r->shapes, err)))
        return true;
    shapes_abandon(r->shapes);
    return err_wrap(err, "storing the table shapes of topic %s", r->opt.topic);
}

/* Tell whether the statement's table changed twice before anybody looked. */
static bool is_hidden(const struct router *r, const struct ddl *ddl)
{
    const uint64_t at = read_position_version(r->opt.reader);

    return ddl != NULL && ddl->n_tables > 0 &&
           shape_hides(
               shapes_find(r->shapes, ddl->tables[0].database, ddl->tables[0].table, at), ddl,
               at);
}

/* ---- routings ---- */

static struct routing *make_routing(struct router *r, const struct ddl *ddl,
                                    uint64_t *generation, struct err *err)
{
    struct routing *routing = NULL;
    size_t n;

    if (open_schemas(r, err)) {
        struct version_spec **specs = wanted_versions_specs(r->opt.wanted, &n, generation);
        const struct tables_now now = {
            str_from(r->opt.topic), schemas_find, schemas_list, r->schemas, ddl,
            is_hidden(r, ddl)};

        routing = routing_compile(r->opt.topic, specs, n, r->schemas, &now, &r->opt.hooks, err);
        version_specs_free(specs, n);
    }
    if (routing != NULL &&
        (!set_shapes(r, routing, ddl, err) || !read_view_close(r->meta, err))) {
        routing_unref(routing);
        routing = NULL;
    }
    return routing;
}

/*
 * Make a routing of the wanted versions and present schemas.  On failure, keep the present
 * routing.
 */
static bool reroute(struct router *r, const struct ddl *ddl, struct err *err)
{
    uint64_t generation = 0;
    struct routing *routing = make_routing(r, ddl, &generation, err);

    if (routing == NULL) {
        router_disconnect(r);
        return false;
    }
    builder_set_routing(r->opt.builder, routing);
    wanted_versions_take(r->opt.wanted, routing, generation,
                         read_position_version(r->opt.reader));
    return true;
}

void router_begin(struct router *r)
{
    struct err err = {0};

    schemas_forget(r->schemas);
    if (!reroute(r, NULL, &err))
        builder_pause(r->opt.builder, &err);
}

bool router_on_ddl(struct router *r, const struct ddl *ddl, struct err *err)
{
    schemas_forget(r->schemas);
    wanted_versions_renew(r->opt.wanted);
    return reroute(r, ddl, err) ||
           err_wrap(err, "reading tables after a change of their shape");
}

/* Before the first dump there is nothing to lose: the versions then wait for it. */
void router_take(struct router *r)
{
    struct err err = {0};

    if (wanted_versions_is_taken(r->opt.wanted))
        return;
    schemas_forget(r->schemas); /* the log may lack what changed them */
    if (reroute(r, NULL, &err))
        return;
    log_failure(LOG_WARN, &err, "not writing to the new index versions yet",
                KV("topic", r->opt.topic));
    builder_pause(r->opt.builder, &err);
}
