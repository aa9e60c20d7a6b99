#include "config.h"

#include "sync/router.h"

#include "src/base/clock.h"
#include "src/base/log.h"
#include "src/base/map.h"
#include "src/base/mem.h"
#include "src/base/thread.h"
#include "src/mysql.h"
#include "sync/assignment.h"
#include "sync/binlog/ddl.h"
#include "sync/binlog/position.h"
#include "sync/binlog/schema.h"
#include "sync/builder.h"
#include "sync/known_server.h"
#include "sync/read_position.h"
#include "sync/read_view.h"
#include "sync/routing.h"
#include "sync/schemas.h"
#include "sync/server_access.h"
#include "sync/server_info.h"
#include "sync/shapes.h"
#include "sync/shapes_store.h"

#include <stdlib.h>

#define SCHEMA_MS    10000
#define COMMITTED_MS 30000 /* after which the dump begins anew, so that others come in between */

struct router {
    struct router_options opt;
    struct mysql_conn *meta; /* by which schemas are read; NULL: none open */
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
    return r->meta != NULL ||
           known_server_open(r->opt.known, &r->opt.server->options, &r->meta, err);
}

/* A connection that was idle for long may be closed: one more is tried. */
static enum witness_answer ask(struct router *r, struct str witness, struct err *err)
{
    enum witness_answer answer = WITNESS_MUTE;

    for (int i = 0; i < 2; i++) {
        answer = connect(r, err) ? read_view_ask(r->meta, witness, err) : WITNESS_MUTE;
        if (answer != WITNESS_MUTE || err->kind != ERR_RETRY)
            return answer;
        router_disconnect(r);
    }
    return answer;
}

static bool is_locked(struct err *err)
{
    return err_set(err, ERR_RETRY,
                   "an XA COMMIT is in the log, and a row that it changed is still locked: the "
                   "server waits for a semi-synchronous replica, or another transaction has the "
                   "row; fix: let the replica go on, or end that transaction");
}

bool router_wait_committed(struct router *r, struct str witness, struct err *err)
{
    const int64_t until = clock_mono_ms() + COMMITTED_MS;
    enum witness_answer answer = witness.len == 0 ? WITNESS_MUTE : ask(r, witness, err);

    while (answer == WITNESS_LOCKED && clock_mono_ms() < until && !stop_is_set(r->opt.stop)) {
        (void)is_locked(err);
        r->opt.waits(r->opt.hooks.ctx, err);
        answer = ask(r, witness, err);
    }
    if (answer == WITNESS_LOCKED)
        return is_locked(err);
    r->opt.waits(r->opt.hooks.ctx, NULL);
    if (answer == WITNESS_COMMITTED)
        return true;
    if (err->kind == ERR_RETRY)
        return false;
    *err = (struct err){0};
    return read_view_settle(r->opt.stop) || err_set(err, ERR_STOP, "stopping");
}

/* Schemas are read at a moment that includes all DDL read so far. */
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

/* Where the log ended after the schemas were read. */
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

/* ddl, just met, may have given the table another shape than s. */
static bool is_reshaped(const struct watched *w, const struct shape *s, const struct ddl *ddl)
{
    return ddl_concerns(ddl, w->database, w->table) ||
           (ddl_alters(ddl, w->database, w->table) &&
            schema_n_hashes(w->schema) != schema_n_hashes(s->schema));
}

/* Rows are read by the shapes that their tables have where the log is read; ddl: just met. */
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
    return err_wrap(err, "keeping the shapes of the tables of topic %s", r->opt.topic);
}

/* Its table changed twice before anybody looked. */
static bool is_hidden(const struct router *r, const struct ddl *ddl)
{
    const uint64_t at = read_position_version(r->opt.reader);

    return ddl != NULL && ddl->n_tables > 0 &&
           shape_hides(shapes_find(r->shapes, ddl->tables[0].database, ddl->tables[0].table, at),
                       ddl, at);
}

/* ---- routings ---- */

static struct routing *make_routing(struct router *r, const struct ddl *ddl,
                                    uint64_t *generation, struct err *err)
{
    struct routing *routing = NULL;
    size_t n;

    if (open_schemas(r, err)) {
        struct version_spec **specs = assignment_specs(r->opt.assignment, &n, generation);
        const struct tables_now now = {str_from(r->opt.topic), schemas_find, schemas_list, r->schemas, ddl,
                                       is_hidden(r, ddl)};

        routing =
            routing_compile(r->opt.topic, specs, n, r->schemas, &now, &r->opt.hooks, err);
        version_specs_free(specs, n);
    }
    if (routing != NULL &&
        (!set_shapes(r, routing, ddl, err) || !read_view_close(r->meta, err))) {
        routing_unref(routing);
        routing = NULL;
    }
    return routing;
}

/* What is wanted now against the schemas of now; keeps the routing there was on failure. */
static bool reroute(struct router *r, const struct ddl *ddl, struct err *err)
{
    uint64_t generation = 0;
    struct routing *routing = make_routing(r, ddl, &generation, err);

    if (routing == NULL) {
        router_disconnect(r);
        return false;
    }
    builder_set_routing(r->opt.builder, routing);
    assignment_take(r->opt.assignment, routing, generation,
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
    assignment_renew(r->opt.assignment);
    return reroute(r, ddl, err) ||
           err_wrap(err, "looking at tables after a change of their shape");
}

/* Before the first dump there is nothing to lose: then they wait for it. */
void router_take(struct router *r)
{
    struct err err = {0};

    if (assignment_is_taken(r->opt.assignment))
        return;
    schemas_forget(r->schemas); /* what changed them may not be in the log */
    if (reroute(r, NULL, &err))
        return;
    log_failure(LOG_WARN, &err, "the new index versions are not written to yet",
                KV("topic", r->opt.topic));
    builder_pause(r->opt.builder, &err);
}
