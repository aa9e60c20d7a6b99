#include "config.h"

#include "sync/pipeline.h"

#include "src/base/arena.h"
#include "src/base/buf.h"
#include "src/base/clock.h"
#include "src/base/log.h"
#include "src/base/map.h"
#include "src/base/mem.h"
#include "src/base/thread.h"
#include "src/mysql.h"
#include "src/store.h"
#include "sync/binlog/schema.h"
#include "sync/binlog/gtid.h"
#include "sync/binlog/position.h"
#include "sync/binlog/transport.h"
#include "sync/fingerprint.h"
#include "sync/handoff.h"
#include "sync/progress.h"
#include "sync/read_position.h"
#include "sync/read_view.h"
#include "sync/routing.h"
#include "sync/saver.h"
#include "sync/schemas.h"
#include "sync/server_access.h"
#include "sync/server_info.h"
#include "sync/shapes.h"
#include "sync/standstill.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define HANDOFF_BYTES (4 << 20)
#define RATE_MS       2000
#define SCHEMA_MS     10000
#define STAND_MS      10000

struct pipeline {
    struct pipeline *next; /* in a list of retired ones */
    struct pipeline_options opt;
    char *topic, *start_at, *uuid;
    uint64_t epoch;
    struct handoff *handoff;
    struct progress *progress;
    struct standstill *standstill;
    struct read_position *reader;
    struct reread *reread;
    struct builder *builder;
    struct saver *saver;
    struct source *source;
    struct schemas *schemas; /* builder thread */
    struct shapes *shapes;   /* builder thread, after the start */
    struct mysql_conn *meta; /* builder thread: the connection schemas are read by */
    struct mark start;       /* where the store, or the first connect, says to start */
    char start_file[256];
    struct gtid_set *start_executed;
    bool known_start;
    uint64_t log_end;  /* atomic: as a version, at the last connect; 0: never */
    bool builder_done; /* atomic */
    bool quiesced, started;
    struct stop stop;

    pthread_mutex_t lock;
    pthread_cond_t answered;

    /* All guarded by lock. */
    struct version_spec **specs;
    size_t n_specs;
    uint64_t wanted, applied; /* generations of specs */
    uint64_t applied_at;
    char identity[96];
    bool gtid;
    bool ordered; /* the server commits in the order of its log */
    struct routing *routing; /* the builder's, for pipeline_target */
    int64_t rate_ms;
    uint64_t rate_changes;
    double rate;
};

/* ---- what the store knows ---- */

static uint64_t mark_version(const struct pipeline *p, const struct mark *m)
{
    return p->epoch << 53 | (uint64_t)m->file_number << 33 | m->offset;
}

static void adopt(struct pipeline *p, const struct stored_checkpoint *cp, uint64_t file_number)
{
    p->known_start = true;
    p->epoch = cp->epoch;
    p->start.file_number = (uint32_t)file_number;
    p->start.offset = cp->offset;
    p->start.event_ms = cp->event_ms;
    snprintf(p->start_file, sizeof(p->start_file), "%" STR_FMT, STR_ARG(cp->file));
    fingerprint_parse(cp->fingerprint, p->identity, sizeof(p->identity), &p->start);
}

/* Without them they are learned again, with more doubt. */
static void load_shapes(struct pipeline *p)
{
    struct buf name = {0}, json = {0};
    struct err err = {0};
    bool found = false;

    p->shapes = shapes_new();
    buf_printf(&name, "shapes/%s", p->topic);
    if (!store_get_value(p->opt.store, buf_str(&name), &json, &found, &err) ||
        (found && !shapes_parse(p->shapes, buf_str(&json), mark_version(p, &p->start), &err)))
        log_failure(LOG_WARN, &err, "the shapes of tables are read from the server again",
                    KV("topic", (const char *)p->topic));
    buf_free(&name);
    buf_free(&json);
}

static bool load_start(struct pipeline *p, struct err *err)
{
    struct arena *a = arena_new();
    struct stored_checkpoint cp;
    uint64_t file_number;
    bool found = false;
    bool ok = store_load_checkpoint(p->opt.store, a, str_from(p->topic), &cp, &found, err);

    if (ok && found) {
        ok = gtid_set_parse(cp.gtid, &p->start_executed, err);
        if (ok && !position_file_number(cp.file, &file_number))
            ok = err_set(err, ERR_FATAL,
                         "the stored position of topic %s has no file number: %" STR_FMT,
                         p->topic, STR_ARG(cp.file));
        if (ok)
            adopt(p, &cp, file_number);
    }
    if (p->start_executed == NULL)
        p->start_executed = gtid_set_new();
    arena_free(a);
    return ok;
}

/* ---- schemas and routings, on the builder thread ---- */

static void close_meta(struct pipeline *p)
{
    schemas_use(p->schemas, NULL);
    mysql_conn_close(p->meta);
    p->meta = NULL;
}

static struct version_spec **copy_specs(struct pipeline *p, size_t *n, uint64_t *generation)
{
    pthread_mutex_lock(&p->lock);

    struct version_spec **copy =
        mem_alloc(p->n_specs == 0 ? 1 : p->n_specs, sizeof(struct version_spec *));

    *n = p->n_specs;
    *generation = p->wanted;
    for (size_t i = 0; i < p->n_specs; i++)
        copy[i] = version_spec_copy(p->specs[i]);
    pthread_mutex_unlock(&p->lock);
    return copy;
}

static void free_specs(struct version_spec **specs, size_t n)
{
    for (size_t i = 0; i < n; i++)
        version_spec_free(specs[i]);
    free(specs);
}

static void publish(struct pipeline *p, struct routing *routing, uint64_t generation)
{
    builder_set_routing(p->builder, routing);
    pthread_mutex_lock(&p->lock);
    routing_unref(p->routing);
    p->routing = routing;
    p->applied = generation;
    p->applied_at = read_position_version(p->reader);
    pthread_cond_broadcast(&p->answered);
    pthread_mutex_unlock(&p->lock);
}

/* A stopped version stays out when schemas are read again. */
static void on_stop(void *ctx, struct target *target, const char *reason, const char *way_out)
{
    struct pipeline *p = ctx;

    pthread_mutex_lock(&p->lock);
    for (size_t i = 0; i < p->n_specs; i++)
        if (strcmp(p->specs[i]->index, target->index) == 0)
            p->specs[i]->stopped = true;
    pthread_mutex_unlock(&p->lock);
    p->opt.stop_table(p->opt.ctx, target, reason, way_out);
}

static void on_dead(void *ctx, const struct dead_letter_note *note)
{
    struct pipeline *p = ctx;

    p->opt.dead(p->opt.ctx, note);
}

/* Schemas are read at a moment that includes all DDL read so far. */
static bool open_schemas(struct pipeline *p, struct err *err)
{
    const struct read_view_options view = {.reader = p->reader,
                                           .gtid = pipeline_has_gtid(p),
                                           .at_least = read_position_version(p->reader),
                                           .timeout_ms = SCHEMA_MS,
                                           .stop = &p->stop};
    uint64_t stamp;

    if (p->meta == NULL && !mysql_conn_open(&p->meta, &p->opt.server->options, err))
        return false;
    schemas_use(p->schemas, p->meta);
    return read_view_open(p->meta, &view, &stamp, err);
}

/* Where the log ended after the schemas were read. */
static bool settle_shapes(struct pipeline *p, struct err *err)
{
    struct log_end end;
    uint64_t version;

    if (!server_log_end(p->meta, &end, err))
        return false;
    free(end.gtids);
    if (!position_version((struct position){str_from(end.file), end.offset}, p->epoch, &version,
                          err))
        return false;
    shapes_settle(p->shapes, version);
    return true;
}

static bool save_shapes(struct pipeline *p, struct err *err)
{
    struct buf name = {0}, json = {0};

    shapes_format(p->shapes, &json);
    buf_printf(&name, "shapes/%s", p->topic);

    const bool ok = store_put_value(p->opt.store, buf_str(&name), buf_str(&json), err);

    buf_free(&name);
    buf_free(&json);
    return ok;
}

static bool is_followed(void *ctx, const struct schema *s)
{
    return routing_find(ctx, s->database, s->table) != NULL;
}

/* Rows are read by the shapes that their tables have where the log is read; ddl: just met. */
static bool set_shapes(struct pipeline *p, struct routing *routing, const struct ddl *ddl,
                       struct err *err)
{
    const uint64_t at = read_position_version(p->reader);
    struct str key;
    void *value;

    for (size_t i = 0; map_next(routing->by_name, &i, &key, &value);) {
        struct watched *w = value;
        struct shape *s = shapes_find(p->shapes, w->database, w->table, at);

        if (w->schema == NULL)
            continue;
        if (s == NULL ||
            (ddl != NULL && s->from != at && ddl_concerns(ddl, w->database, w->table)))
            s = shapes_learn(p->shapes, w->schema, at);
        watched_set_shape(w, s);
    }

    const bool fewer = shapes_retain(p->shapes, is_followed, routing);
    const bool more = shapes_are_new(p->shapes);

    if ((!more || settle_shapes(p, err)) && ((!more && !fewer) || save_shapes(p, err)))
        return true;
    shapes_abandon(p->shapes);
    return err_wrap(err, "keeping the shapes of the tables of topic %s", p->topic);
}

/* The specs of now against the schemas of now; keeps the routing there was on failure. */
static bool reroute(struct pipeline *p, const struct ddl *ddl, struct err *err)
{
    struct routing *routing = NULL;
    uint64_t generation = 0;
    size_t n;

    if (open_schemas(p, err)) {
        struct version_spec **specs = copy_specs(p, &n, &generation);

        routing = routing_compile(p->topic, specs, n, p->schemas, on_stop, p, err);
        free_specs(specs, n);
    }
    if (routing != NULL &&
        (!set_shapes(p, routing, ddl, err) || !read_view_close(p->meta, err))) {
        routing_unref(routing);
        routing = NULL;
    }
    if (routing == NULL) {
        close_meta(p);
        return false;
    }
    publish(p, routing, generation);
    return true;
}

static bool stale(struct pipeline *p)
{
    pthread_mutex_lock(&p->lock);

    const bool is = p->applied != p->wanted || p->routing == NULL;

    pthread_mutex_unlock(&p->lock);
    return is;
}

static void on_fault(void *ctx, const struct err *why)
{
    struct pipeline *p = ctx;

    source_fault(p->source, mark_version(p, builder_mark(p->builder)), why);
}

/* Command: take new specs.  Before the first dump there is nothing to lose: then they wait for
 * it. */
static void take_specs(void *ctx)
{
    struct pipeline *p = ctx;
    struct err err = {0};

    if (!stale(p))
        return;
    if (reroute(p, NULL, &err))
        return;
    log_failure(LOG_WARN, &err, "the new index versions are not written to yet",
                KV("topic", (const char *)p->topic));
    builder_pause(p->builder, &err);
}

static void on_ddl(void *ctx, const struct ddl *ddl)
{
    struct pipeline *p = ctx;
    struct err err = {0};

    schemas_forget(p->schemas);
    pthread_mutex_lock(&p->lock);
    p->wanted++;
    pthread_mutex_unlock(&p->lock);
    if (!reroute(p, ddl, &err))
        builder_pause(p->builder, &err);
}

/* ---- the source's questions, on the reader thread ---- */

/* A question to the builder, answered in its place in the stream. */
struct question {
    struct pipeline *p;
    struct source_start start;
    bool answered, abandoned; /* guarded by the pipeline's lock */
};

static void free_question(struct question *q)
{
    free(q->start.gtids);
    free(q);
}

/* Fills start with the answer; false: stopping. */
static bool ask(struct pipeline *p, void (*run)(void *ctx), struct source_start *start)
{
    struct question *q = mem_alloc(1, sizeof(*q));

    q->p = p;
    q->start = *start;
    q->start.gtids = start->gtids == NULL ? NULL : mem_copy(start->gtids);
    if (!handoff_put_command(p->handoff, run, q)) {
        free_question(q);
        return false;
    }
    pthread_mutex_lock(&p->lock);
    while (!q->answered && !stop_is_set(&p->stop))
        pthread_cond_wait(&p->answered, &p->lock);

    const bool ok = q->answered;

    q->abandoned = !ok;
    pthread_mutex_unlock(&p->lock);
    if (ok) {
        free(start->gtids);
        *start = q->start;
        free(q);
    }
    return ok;
}

static void answer(struct question *q)
{
    struct pipeline *p = q->p;

    pthread_mutex_lock(&p->lock);
    q->answered = true;

    const bool abandoned = q->abandoned;

    pthread_cond_broadcast(&p->answered);
    pthread_mutex_unlock(&p->lock);
    if (abandoned)
        free_question(q);
}

/*
 * A dump that breaks inside a large transaction begins at its start again; what of it was
 * submitted before is on its way.  That holds if the log is the same, which a known transaction
 * shows.
 */
static uint64_t skip_to(const struct pipeline *p, const struct mark *m)
{
    const uint64_t known = mark_version(p, m), handled = builder_handled(p->builder);

    return m->gtid_start != 0 && handled > known ? handled : known;
}

/* Start at the last known transaction itself: that it stands there shows that the log is the
 * same. */
static void start_at_mark(struct pipeline *p, struct source_start *start, const struct mark *m,
                          const char *file, const struct gtid_set *executed)
{
    struct buf gtids = {0};

    snprintf(start->file, sizeof(start->file), "%s", file);
    start->offset = m->gtid_start != 0 ? m->gtid_start : m->offset;
    gtid_set_format(&gtids, executed);
    start->gtids = gtids.ptr != NULL ? gtids.ptr : mem_copy("");
    builder_expect(p->builder, m);
    builder_skip_to(p->builder, skip_to(p, m));
}

static void initial_start(struct pipeline *p, struct source_start *start)
{
    struct position at;
    struct err err = {0};
    const struct str text = str_from(p->start_at);

    start->now = text.len == 0 || str_equal(text, STR("now"));
    if (start->now)
        return;
    if (position_parse(text, &at, &err) && at.offset >= 4) {
        snprintf(start->file, sizeof(start->file), "%" STR_FMT, STR_ARG(at.file));
        start->offset = at.offset;
    } else {
        start->use_gtids = true;
        start->gtids = mem_copy(p->start_at);
    }
}

static void say_where(void *ctx)
{
    struct question *q = ctx;
    struct pipeline *p = q->p;
    const struct mark *m = builder_mark(p->builder);

    if (m->file_number != 0)
        start_at_mark(p, &q->start, m, builder_mark_file(p->builder),
                      builder_executed(p->builder));
    else if (p->known_start)
        start_at_mark(p, &q->start, &p->start, p->start_file, p->start_executed);
    else
        initial_start(p, &q->start);
    answer(q);
}

static bool where(void *ctx, struct source_start *out)
{
    struct pipeline *p = ctx;

    return ask(p, say_where, out);
}

static bool recognise(void *ctx, const struct server_info *info, struct err *err)
{
    struct pipeline *p = ctx;
    bool same;

    pthread_mutex_lock(&p->lock);
    same = p->identity[0] == '\0' || strcmp(p->identity, info->identity) == 0;
    if (same)
        snprintf(p->identity, sizeof(p->identity), "%s", info->identity);
    else
        transport_fail(err, TRANSPORT_DIVERGED,
                       "another server is behind the address: it is %s and was %s, so "
                       "positions cannot be compared",
                       info->identity, p->identity);
    p->gtid = info->gtid;
    p->ordered = info->commits_in_order;
    pthread_mutex_unlock(&p->lock);
    reread_set_gtid(p->reread, info->gtid);
    return same;
}

/* The first start is stored at once: a crash must not move it. */
static void remember_start(struct pipeline *p, const struct source_start *start,
                           const struct gtid_set *executed)
{
    uint64_t file_number;
    struct err err = {0};

    saver_set_log(p->saver, position_file_base(str_from(start->file)), p->identity);
    if (p->known_start || start->file[0] == '\0' ||
        !position_file_number(str_from(start->file), &file_number))
        return;
    p->known_start = true;
    p->start = (struct mark){.file_number = (uint32_t)file_number,
                             .offset = start->offset,
                             .event_ms = clock_wall_ms()};
    snprintf(p->start_file, sizeof(p->start_file), "%s", start->file);
    gtid_set_free(p->start_executed);
    p->start_executed = gtid_set_copy(executed);
    saver_set_executed(p->saver, executed);
    progress_commit(p->progress, &p->start);
    read_position_set(p->reader, mark_version(p, &p->start), 0);
    if (!saver_save(p->saver, &err))
        log_failure(LOG_ERROR, &err, "the start position could not be stored",
                    KV("topic", (const char *)p->topic));
}

static void note_log_end(struct pipeline *p, const struct source_start *start)
{
    const struct position end = {str_from(start->end_file), start->end_offset};
    struct err ignored = {0};
    uint64_t version;

    if (position_version(end, p->epoch, &version, &ignored))
        __atomic_store_n(&p->log_end, version, __ATOMIC_RELAXED);
}

static bool wants_witnesses(struct pipeline *p)
{
    pthread_mutex_lock(&p->lock);

    const bool wanted = !p->gtid && p->ordered;

    pthread_mutex_unlock(&p->lock);
    return wanted;
}

static void take_begin(void *ctx)
{
    struct question *q = ctx;
    struct pipeline *p = q->p;
    const struct source_start *start = &q->start;
    const struct position at = {str_from(start->file), start->offset == 0 ? 4 : start->offset};
    struct gtid_set *executed = NULL;
    struct err err = {0};

    if (!gtid_set_parse(str_from(start->gtids != NULL ? start->gtids : ""), &executed, &err))
        executed = gtid_set_new();
    note_log_end(p, start);
    remember_start(p, start, executed);
    read_position_set_gtids(p->reader, executed);
    builder_want_witnesses(p->builder, wants_witnesses(p));
    builder_begin(p->builder, &at, executed);
    gtid_set_free(executed);
    schemas_forget(p->schemas);
    if (!reroute(p, NULL, &err))
        builder_pause(p->builder, &err);
    answer(q);
}

static bool begins(void *ctx, const struct source_start *start)
{
    struct pipeline *p = ctx;
    struct source_start copy = *start;

    copy.gtids = start->gtids == NULL ? NULL : mem_copy(start->gtids);

    const bool ok = ask(p, take_begin, &copy);

    free(copy.gtids);
    return ok;
}

/* ---- life ---- */

static bool connected(void *ctx)
{
    struct pipeline *p = ctx;

    return source_status(p->source).state == SOURCE_RUNNING;
}

static bool waits(void *ctx)
{
    struct pipeline *p = ctx;

    return builder_waits(p->builder);
}

static void stuck(void *ctx, const char *why)
{
    struct pipeline *p = ctx;
    struct err err = {0};

    err_set(&err, ERR_RETRY, "%s; connecting again", why);
    source_fault(p->source, read_position_version(p->reader), &err);
}

static void fenced(void *ctx, const struct err *why)
{
    struct pipeline *p = ctx;

    log_failure(LOG_ERROR, why, "another node owns this source now: nothing is stored any more",
                KV("topic", (const char *)p->topic));
    pipeline_discard(p);
}

static void on_builder_done(void *ctx)
{
    struct pipeline *p = ctx;

    close_meta(p);
    pthread_mutex_lock(&p->lock);
    __atomic_store_n(&p->builder_done, true, __ATOMIC_RELEASE);
    pthread_cond_broadcast(&p->answered);
    pthread_mutex_unlock(&p->lock);
}

static void make_parts(struct pipeline *p)
{
    const struct pipeline_options *o = &p->opt;

    p->handoff = handoff_new(HANDOFF_BYTES);
    p->progress = progress_new(&p->start);
    p->standstill = standstill_new(&progress_counters(p->progress)->read, STAND_MS);
    p->reader = read_position_new(mark_version(p, &p->start));
    read_position_set_gtids(p->reader, p->start_executed);
    p->schemas = schemas_new();
    p->reread = reread_new(&(struct reread_options){
        .topic = p->topic, .delivery = o->delivery, .reader = p->reader});
    p->builder = builder_new(&(struct builder_options){.topic = p->topic,
                                                       .epoch = p->epoch,
                                                       .event_max = o->event_max,
                                                       .handoff = p->handoff,
                                                       .delivery = o->delivery,
                                                       .progress = p->progress,
                                                       .reader = p->reader,
                                                       .reread = p->reread,
                                                       .standstill = p->standstill,
                                                       .ctx = p,
                                                       .stop_table = on_stop,
                                                       .dead = on_dead,
                                                       .on_ddl = on_ddl,
                                                       .fault = on_fault,
                                                       .on_done = on_builder_done});
    p->saver = saver_new(&(struct saver_options){.topic = p->topic,
                                                 .store = o->store,
                                                 .progress = p->progress,
                                                 .reader = p->reader,
                                                 .server = o->server,
                                                 .term = o->term,
                                                 .epoch = p->epoch,
                                                 .ctx = p,
                                                 .stuck = stuck,
                                                 .connected = connected,
                                                 .waits = waits,
                                                 .fenced = fenced});
    saver_set_executed(p->saver, p->start_executed);
    if (p->known_start)
        saver_set_log(p->saver, position_file_base(str_from(p->start_file)), p->identity);
    p->source = source_new(&(struct source_options){.topic = p->topic,
                                                    .server = o->server,
                                                    .server_id = o->server_id,
                                                    .uuid = p->uuid,
                                                    .event_max = o->event_max,
                                                    .handoff = p->handoff,
                                                    .ctx = p,
                                                    .where = where,
                                                    .recognise = recognise,
                                                    .begins = begins});
}

bool pipeline_new(struct pipeline **out, const struct pipeline_options *opt, struct err *err)
{
    struct pipeline *p = mem_alloc(1, sizeof(*p));
    pthread_condattr_t attr;

    p->opt = *opt;
    p->topic = mem_copy(opt->topic);
    p->start_at = mem_copy(opt->start_at != NULL ? opt->start_at : "");
    p->uuid = mem_copy(opt->uuid);
    p->epoch = opt->epoch;
    server_access_ref(opt->server);
    stop_init(&p->stop);
    pthread_mutex_init(&p->lock, NULL);
    pthread_condattr_init(&attr);
    pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
    pthread_cond_init(&p->answered, &attr);
    pthread_condattr_destroy(&attr);
    if (!load_start(p, err)) {
        pipeline_free(p);
        return err_wrap(err, "topic %s", opt->topic);
    }
    load_shapes(p);
    make_parts(p);
    *out = p;
    return true;
}

void pipeline_start(struct pipeline *p)
{
    p->started = true;
    reread_start(p->reread);
    builder_start(p->builder);
    saver_start(p->saver);
    source_start(p->source);
}

void pipeline_quiesce(struct pipeline *p)
{
    if (p->quiesced)
        return;
    p->quiesced = true;
    pthread_mutex_lock(&p->lock);
    stop_set(&p->stop);
    pthread_cond_broadcast(&p->answered);
    pthread_mutex_unlock(&p->lock);
    standstill_close(p->standstill);
    handoff_close(p->handoff);
    if (p->started)
        source_stop(p->source);
}

bool pipeline_idle(struct pipeline *p)
{
    return __atomic_load_n(&p->builder_done, __ATOMIC_ACQUIRE) &&
           reread_pending(p->reread) == 0 && progress_idle(p->progress);
}

bool pipeline_save(struct pipeline *p, struct err *err)
{
    return saver_save(p->saver, err);
}

void pipeline_discard(struct pipeline *p)
{
    saver_freeze(p->saver);
    builder_discard(p->builder);
    standstill_close(p->standstill);
}

void pipeline_join(struct pipeline *p)
{
    pipeline_quiesce(p);
    if (!p->started)
        return;
    p->started = false;
    reread_stop(p->reread);
    builder_join(p->builder);
    saver_stop(p->saver);
}

void pipeline_free(struct pipeline *p)
{
    if (p == NULL)
        return;
    source_free(p->source);
    saver_free(p->saver);
    builder_free(p->builder);
    reread_free(p->reread);
    schemas_free(p->schemas);
    shapes_free(p->shapes);
    handoff_free(p->handoff);
    standstill_free(p->standstill);
    progress_free(p->progress);
    read_position_free(p->reader);
    routing_unref(p->routing);
    free_specs(p->specs, p->n_specs);
    gtid_set_free(p->start_executed);
    server_access_unref(p->opt.server);
    pthread_cond_destroy(&p->answered);
    pthread_mutex_destroy(&p->lock);
    stop_fini(&p->stop);
    free(p->topic);
    free(p->start_at);
    free(p->uuid);
    free(p);
}

void pipeline_forget(struct pipeline *p)
{
    pthread_mutex_lock(&p->lock);

    struct routing *r = p->routing == NULL ? NULL : routing_ref(p->routing);

    pthread_mutex_unlock(&p->lock);
    for (size_t i = 0; r != NULL && i < r->n_targets; i++)
        delivery_forget(p->opt.delivery, r->targets[i], OUTCOME_DEFERRED);
    routing_unref(r);
}

void pipeline_retire(struct pipeline *p, struct pipeline **list)
{
    p->next = *list;
    *list = p;
}

struct pipeline *pipeline_unretire(struct pipeline **list)
{
    struct pipeline *p = *list;

    *list = p->next;
    return p;
}

void pipeline_retry(struct pipeline *p)
{
    source_retry(p->source);
}

/* ---- what others ask ---- */

static uint64_t set_specs(struct pipeline *p, const struct version_spec *const *specs, size_t n)
{
    struct version_spec **copy = mem_alloc(n == 0 ? 1 : n, sizeof(struct version_spec *));

    for (size_t i = 0; i < n; i++)
        copy[i] = version_spec_copy(specs[i]);
    pthread_mutex_lock(&p->lock);
    free_specs(p->specs, p->n_specs);
    p->specs = copy;
    p->n_specs = n;

    const uint64_t generation = ++p->wanted;

    pthread_mutex_unlock(&p->lock);
    return generation;
}

bool pipeline_set_versions(struct pipeline *p, const struct version_spec *const *specs,
                           size_t n, int64_t timeout_ms, uint64_t *from, struct err *err)
{
    const uint64_t generation = set_specs(p, specs, n);
    const int64_t until_ns = clock_mono_ns() + timeout_ms * 1000000;
    const struct timespec until = {.tv_sec = until_ns / 1000000000,
                                   .tv_nsec = until_ns % 1000000000};
    bool waited = false;

    if (!p->started) {
        *from = read_position_version(p->reader);
        return true;
    }
    if (!handoff_put_command(p->handoff, take_specs, p))
        return err_set(err, ERR_STOP, "stopping");
    pthread_mutex_lock(&p->lock);
    while (p->applied < generation && !waited)
        waited = pthread_cond_timedwait(&p->answered, &p->lock, &until) != 0;
    *from = p->applied_at;

    const bool ok = p->applied >= generation;

    pthread_mutex_unlock(&p->lock);
    return ok ||
           err_set(err, ERR_RETRY,
                   "topic %s is not connected, or busy: the change takes effect when it is",
                   p->topic);
}

void pipeline_load(struct pipeline *p, struct load_batch *batch)
{
    reread_load(p->reread, batch);
}

struct target *pipeline_target(struct pipeline *p, struct str index)
{
    struct target *found = NULL;

    pthread_mutex_lock(&p->lock);
    for (size_t i = 0; p->routing != NULL && i < p->routing->n_targets && found == NULL; i++)
        if (str_equal(str_from(p->routing->targets[i]->index), index))
            found = target_ref(p->routing->targets[i]);
    pthread_mutex_unlock(&p->lock);
    return found;
}

bool pipeline_is_settled(struct pipeline *p)
{
    return !stale(p);
}

struct read_position *pipeline_read_position(struct pipeline *p)
{
    return p->reader;
}

uint64_t pipeline_epoch(const struct pipeline *p)
{
    return p->epoch;
}

uint64_t pipeline_stamp_max(struct pipeline *p)
{
    const uint64_t end = __atomic_load_n(&p->log_end, __ATOMIC_RELAXED);
    const uint64_t read = read_position_version(p->reader);

    return end == 0 ? UINT64_MAX : (read > end ? read : end) + READ_POSITION_GAP;
}

uint64_t pipeline_safe_version(struct pipeline *p)
{
    return saver_safe_version(p->saver);
}

bool pipeline_done_up_to(struct pipeline *p, uint64_t version)
{
    return pipeline_safe_version(p) >= version ||
           (read_position_version(p->reader) >= version && reread_pending(p->reread) == 0 &&
            progress_idle(p->progress));
}

static void stand_here(void *ctx)
{
    struct pipeline *p = ctx;

    standstill_here(p->standstill, read_position_version(p->reader));
}

bool pipeline_stand(struct pipeline *p)
{
    uint64_t ignored;

    if (!standstill_begin(p->standstill))
        return false;
    if (handoff_put_command(p->handoff, stand_here, p))
        return true;
    (void)standstill_end(p->standstill, &ignored);
    return false;
}

bool pipeline_stands_here(struct pipeline *p)
{
    return standstill_is_frozen(p->standstill) || standstill_is_lost(p->standstill);
}

void pipeline_stand_at(struct pipeline *p, uint64_t low, uint64_t high)
{
    standstill_go_to(p->standstill, low, high);
}

bool pipeline_stands_there(struct pipeline *p)
{
    return standstill_is_lost(p->standstill) ||
           (standstill_is_there(p->standstill) && reread_pending(p->reread) == 0 &&
            progress_idle(p->progress));
}

bool pipeline_go_on(struct pipeline *p, uint64_t *between)
{
    return standstill_end(p->standstill, between);
}

uint64_t pipeline_changes(struct pipeline *p)
{
    return __atomic_load_n(&progress_counters(p->progress)->read, __ATOMIC_RELAXED);
}

struct server_access *pipeline_server(struct pipeline *p)
{
    return p->opt.server;
}

bool pipeline_has_gtid(struct pipeline *p)
{
    pthread_mutex_lock(&p->lock);

    const bool gtid = p->gtid;

    pthread_mutex_unlock(&p->lock);
    return gtid;
}

bool pipeline_identity(struct pipeline *p, char *out, size_t cap)
{
    pthread_mutex_lock(&p->lock);
    snprintf(out, cap, "%s", p->identity);
    pthread_mutex_unlock(&p->lock);
    return out[0] != '\0';
}

static double rate_of(struct pipeline *p, const struct builder_status *b)
{
    const int64_t now = clock_mono_ms();
    const uint64_t changes = b->inserts + b->updates + b->deletes;

    pthread_mutex_lock(&p->lock);
    if (now - p->rate_ms >= RATE_MS) {
        p->rate = p->rate_ms == 0
                      ? 0
                      : (double)(changes - p->rate_changes) * 1000 / (double)(now - p->rate_ms);
        p->rate_ms = now;
        p->rate_changes = changes;
    }

    const double rate = p->rate;

    pthread_mutex_unlock(&p->lock);
    return rate;
}

void pipeline_status(struct pipeline *p, struct pipeline_status *out)
{
    struct saver_status saved;
    const struct ticket_counters *c = progress_counters(p->progress);

    saver_status(p->saver, &saved);
    *out = (struct pipeline_status){
        .source = source_status(p->source),
        .builder = builder_status(p->builder),
        .reread = reread_status(p->reread),
        .epoch = p->epoch,
        .offset = saved.offset,
        .gtids = saved.gtids,
        .event_ms = read_position_event_ms(p->reader),
        .lag_s = saved.lag_s,
        .lag_bytes = saved.lag_bytes,
        .lag_known = saved.lag_known,
        .queue_bytes = handoff_level(p->handoff),
        .resolving = reread_pending(p->reread),
        .changes_read = __atomic_load_n(&c->read, __ATOMIC_RELAXED),
        .save_error = saved.error,
    };
    memcpy(out->file, saved.file, sizeof(out->file));
    for (size_t i = 0; i < N_OUTCOMES; i++)
        out->changes_done[i] = __atomic_load_n(&c->done[i], __ATOMIC_RELAXED);
    out->rate = rate_of(p, &out->builder);
}
