#include "config.h"

#include "rebalance/node.h"

#include "src/base/clock.h"
#include "src/base/log.h"
#include "src/base/mem.h"
#include "sync/binlog/position.h"
#include "sync/routing.h"
#include "sync/server_access.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define ROUTE_MS       5000
#define RETRY_STORE_MS 500

struct topic *node_topic(struct coordinator *co, struct str name)
{
    for (struct topic *t = co->topics; t != NULL; t = t->next)
        if (str_equal(str_from(t->name), name))
            return t;
    return NULL;
}

/* ---- what delivery asks, on its thread ---- */

static void on_load(void *ctx, struct load_batch *batch)
{
    struct coordinator *co = ctx;

    pthread_mutex_lock(&co->lock);

    struct topic *t = node_topic(co, str_from(batch->target->topic));
    struct pipeline *p = t == NULL ? NULL : t->pipeline;

    if (p != NULL)
        pipeline_load(p, batch);
    pthread_mutex_unlock(&co->lock);
    if (p != NULL)
        return;
    for (size_t i = 0; i < batch->n_items; i++) {
        batch->items[i].failed = true;
        err_set(&batch->items[i].err, ERR_RETRY, "topic %s does not run", batch->target->topic);
    }
    delivery_loaded(co->delivery, batch);
}

static void on_gone(void *ctx, const struct gone_row *row)
{
    struct coordinator *co = ctx;

    pthread_mutex_lock(&co->lock);

    struct topic *t = node_topic(co, str_from(row->target->topic));
    struct pipeline *p = t == NULL ? NULL : t->pipeline;

    if (p != NULL)
        pipeline_gone(p, row);
    pthread_mutex_unlock(&co->lock);
    for (size_t i = 0; p == NULL && i < row->n_tickets; i++)
        ticket_release_abandoned(row->tickets[i]);
}

static const char *op_name(enum doc_op op)
{
    static const char *const names[] = {[DOC_INDEX] = "index",
                                        [DOC_DELETE] = "delete",
                                        [DOC_REFRESH] = "refresh",
                                        [DOC_UPDATE] = "update"};

    return names[op];
}

static struct stored_dead_letter letter_of(const struct dead_letter_note *note, int64_t now_ms)
{
    return (struct stored_dead_letter){
        .topic = str_from(note->target->topic),
        .table = str_from(note->target->table),
        .index = str_from(note->target->index),
        .doc_id = note->id,
        .routing = note->routing,
        .key = note->key,
        .op = str_from(op_name(note->op)),
        .reason = note->reason,
        .body = note->body,
        .version = note->version,
        .status = note->status,
        .attempts = note->attempts,
        .first_ms = now_ms,
        .last_ms = now_ms,
    };
}

static enum dead_reason reason_of(int status)
{
    if (status == 0)
        return DEAD_ROW;
    return status == 413 ? DEAD_TOO_LARGE : DEAD_REFUSED;
}

static void count_dead(struct coordinator *co, const struct stored_dead_letter *letters,
                       size_t n)
{
    pthread_mutex_lock(&co->lock);
    for (size_t i = 0; i < n; i++) {
        struct topic *t = node_topic(co, letters[i].topic);

        if (t != NULL)
            t->dead[reason_of((int)letters[i].status)]++;
    }
    pthread_mutex_unlock(&co->lock);
}

static bool on_dead(void *ctx, const struct dead_letter_note *notes, size_t n, struct err *err)
{
    struct coordinator *co = ctx;
    const int64_t now = clock_wall_ms();
    struct stored_dead_letter *letters = mem_alloc(n, sizeof(*letters));

    for (size_t i = 0; i < n; i++)
        letters[i] = letter_of(&notes[i], now);

    const bool ok = store_put_dead_letters(co->opt.store, letters, n, err);

    if (ok)
        count_dead(co, letters, n);
    free(letters);
    return ok;
}

static bool on_cleared(void *ctx, const struct target *target, struct str routing,
                       struct str id, uint64_t version, struct err *err)
{
    struct coordinator *co = ctx;

    return store_delete_dead_letter_of(co->opt.store, str_from(target->index), routing, id,
                                       version, err);
}

static uint64_t on_stamp_max(void *ctx, const struct target *target)
{
    struct coordinator *co = ctx;
    uint64_t max = UINT64_MAX; /* between two pipelines: nothing is stored, and all comes again */

    pthread_mutex_lock(&co->lock);

    const struct topic *t = node_topic(co, str_from(target->topic));

    if (t != NULL && t->pipeline != NULL)
        max = pipeline_stamp_max(t->pipeline);
    pthread_mutex_unlock(&co->lock);
    return max;
}

static uint64_t on_area_floor(void *ctx, const struct target *target)
{
    struct coordinator *co = ctx;
    uint64_t floor = UINT64_MAX;

    pthread_mutex_lock(&co->lock);

    const struct topic *t = node_topic(co, str_from(target->topic));

    if (t != NULL && t->pipeline != NULL)
        floor = pipeline_area_floor(t->pipeline);
    pthread_mutex_unlock(&co->lock);
    return floor;
}

static void drop_held(struct coordinator *co, const char *index)
{
    for (struct held_index **at = &co->held; *at != NULL; at = &(*at)->next)
        if (strcmp((*at)->index, index) == 0) {
            struct held_index *gone = *at;

            *at = gone->next;
            free(gone->index);
            free(gone);
            return;
        }
}

static void on_held(void *ctx, const struct target *target, bool held, int64_t since_ms,
                    const struct err *why)
{
    struct coordinator *co = ctx;

    pthread_mutex_lock(&co->lock);
    drop_held(co, target->index);
    if (held) {
        struct held_index *h = mem_alloc(1, sizeof(*h));

        *h = (struct held_index){.index = mem_copy(target->index),
                                 .why = *why,
                                 .since_ms = since_ms,
                                 .next = co->held};
        co->held = h;
    }
    pthread_mutex_unlock(&co->lock);
    if (held)
        log_failure(LOG_ERROR, why, "the index is held, its changes wait",
                    KV("index", (const char *)target->index));
    else
        log_info("the index goes on", KV("index", (const char *)target->index));
}

struct delivery_options node_delivery_options(struct coordinator *co)
{
    struct delivery_options o = co->opt.delivery;

    o.ctx = co;
    o.load = on_load;
    o.gone = on_gone;
    o.dead = on_dead;
    o.cleared = on_cleared;
    o.stamp_max = on_stamp_max;
    o.area_floor = on_area_floor;
    o.held = on_held;
    return o;
}

/* ---- what the pipelines tell, on their threads ---- */

/* Something could not be made durable before a stop: then the position stays before it. */
static void freeze(struct coordinator *co, const char *name)
{
    pthread_mutex_lock(&co->lock);

    struct topic *t = node_topic(co, str_from(name));

    if (t != NULL && t->pipeline != NULL)
        pipeline_discard(t->pipeline);
    pthread_mutex_unlock(&co->lock);
}

/* Until it is durable: the checkpoint must not pass what only we know. */
static void on_dead_row(void *ctx, const struct dead_letter_note *note)
{
    struct coordinator *co = ctx;
    struct err err = {0};

    while (!on_dead(co, note, 1, &err)) {
        log_failure(LOG_ERROR, &err, "a dead letter could not be stored, trying again");
        if (stop_wait(&co->stop, RETRY_STORE_MS)) {
            freeze(co, note->target->topic);
            return;
        }
    }
    delivery_note_dead(co->delivery, str_from(note->target->index), note->routing, note->id,
                       note->version);
}

static void on_stop_table(void *ctx, struct target *target, const char *reason,
                          const char *way_out)
{
    struct coordinator *co = ctx;
    struct buf fix = {0}, lead = {0};
    struct err err = {0};

    node_lead_name(co, target, &lead);
    buf_printf(&fix, "%s %s", way_out != NULL ? way_out : "millrace index create", lead.ptr);
    while (!node_stop_target(co, target, reason, fix.ptr, &err) ||
           (way_out == NULL && !node_wish_rebuild(co, buf_str(&lead), reason, &err))) {
        log_failure(LOG_ERROR, &err, "a stopped table could not be stored, trying again");
        if (stop_wait(&co->stop, RETRY_STORE_MS)) {
            freeze(co, target->topic);
            break;
        }
    }
    /* Another topic than that of its documents may have met what stops it. */
    __atomic_store_n(&co->routes_due, true, __ATOMIC_RELEASE);
    buf_free(&fix);
    buf_free(&lead);
}

static void on_mark(void *ctx, const struct target *target, const char *reason)
{
    struct coordinator *co = ctx;
    struct err err = {0};

    while (!node_mark_index(co, target, reason, &err)) {
        log_failure(LOG_ERROR, &err, "that a table is to be verified could not be stored, "
                                     "trying again");
        if (stop_wait(&co->stop, RETRY_STORE_MS)) {
            freeze(co, target->topic);
            return;
        }
    }
}

/* ---- versions to specs ---- */

struct specs {
    struct version_spec **list;
    size_t n;
};

static void free_specs(struct specs *s)
{
    for (size_t i = 0; i < s->n; i++)
        version_spec_free(s->list[i]);
    free(s->list);
}

static bool is_live(const struct catalogue *c, const char *index)
{
    bool found = false;

    for (size_t i = 0; i < c->n_versions && !found; i++) {
        struct buf name = {0};

        node_index_name(&name, c->versions[i].index, c->versions[i].number);
        found = catalogue_is_live(&c->versions[i]) && str_equal(buf_str(&name), str_from(index));
        buf_free(&name);
    }
    return found;
}

void node_forget_gone(struct coordinator *co)
{
    pthread_mutex_lock(&co->lock);
    for (const struct held_index *h = co->held; h != NULL; h = h->next)
        if (!is_live(co->catalogue, h->index))
            delivery_drop(co->delivery, str_from(h->index));
    pthread_mutex_unlock(&co->lock);
}

static bool index_leads_to(const struct definitions *d, const struct table_definition *lead,
                           struct str topic);

/* One of another topic only where it shows tables of this one. */
static void add_spec(struct coordinator *co, struct specs *s, const struct stored_version *v,
                     const struct catalogue *c, struct str for_topic)
{
    struct version_spec *spec = mem_alloc(1, sizeof(*spec));
    struct definitions *now = node_definitions(co);
    struct buf name = {0}, write_alias = {0}, alias = {0};
    struct err err = {0};
    struct str database = {0}, table;

    node_index_name(&name, v->index, v->number);
    node_write_alias(&write_alias, v->index, v->number);
    buf_append(&alias, v->index);
    spec->index = name.ptr;
    spec->write_alias = write_alias.ptr;
    spec->alias = alias.ptr;
    spec->number = v->number;
    spec->topic = strndup(v->topic.ptr, v->topic.len);
    spec->version_min = v->epoch << 53;

    const struct topic_definition *topic = definitions_topic(now, v->topic);
    const bool ok = node_version_in_effect(co, v, &spec->definitions, &spec->table, &err) &&
                    topic != NULL &&
                    (spec->table->table.len == 0 ||
                     definition_split_table(spec->table->table, &database, &table)) &&
                    server_access_new(&spec->server, topic, definitions_database(now, database),
                                      co->opt.data_dir, &err);

    definitions_unref(now);
    if (!ok) {
        log_failure(LOG_ERROR, &err, "an index version cannot be followed",
                    KV("index", (const char *)name.ptr));
        version_spec_free(spec);
        return;
    }
    if (!str_equal(v->topic, for_topic) &&
        (spec->table->pattern.len > 0 ||
         !index_leads_to(spec->definitions, spec->table, for_topic))) {
        version_spec_free(spec);
        return;
    }
    spec->filling = str_equal(v->state, STR("changing"));
    spec->stopped =
        str_equal(v->state, STR("available")) && catalogue_stop(c, table_name(spec->table)) != NULL;
    s->list = mem_resize(s->list, s->n + 1, sizeof(struct version_spec *));
    s->list[s->n++] = spec;
}

static void make_specs(struct coordinator *co, struct str topic, struct specs *s)
{
    struct catalogue *c = node_catalogue(co);

    for (size_t i = 0; i < c->n_versions; i++)
        if (catalogue_is_live(&c->versions[i]))
            add_spec(co, s, &c->versions[i], c, topic);
    node_catalogue_free(c);
}

bool node_route(struct coordinator *co, struct str name, int64_t timeout_ms, uint64_t *from,
                struct err *err)
{
    struct topic *t = node_topic(co, name);
    struct specs s = {0};
    uint64_t at;

    if (t == NULL || t->pipeline == NULL)
        return err_set(err, ERR_RETRY, "topic %" STR_FMT " does not run", STR_ARG(name));
    make_specs(co, name, &s);

    const bool ok = pipeline_set_versions(
        t->pipeline, (const struct version_spec *const *)s.list, s.n, timeout_ms, &at, err);

    free_specs(&s);
    if (from != NULL)
        *from = at;
    return ok;
}

/* ---- versions that show tables of several topics ---- */

struct leading {
    const struct definitions *d;
    struct str topic;
    bool found;
};

static void note_topic(void *ctx, struct str table)
{
    struct leading *l = ctx;
    const struct topic_definition *t = definitions_topic_of(l->d, table);

    l->found = l->found || (t != NULL && str_equal(t->name, l->topic));
}

/* A table of the index does. */
static bool index_leads_to(const struct definitions *d, const struct table_definition *lead,
                           struct str topic)
{
    struct leading l = {d, topic, false};
    const struct table_definition **members;
    struct arena *a = arena_new();
    size_t n;

    if (lead->pattern.len > 0 || !definition_members(d, lead, NULL, NULL, a, &members, &n))
        table_visit(lead, note_topic, &l);
    else
        for (size_t i = 0; i < n; i++)
            table_visit(members[i], note_topic, &l);
    arena_free(a);
    return l.found;
}

bool node_shows_topic(const struct definitions *d, const struct table_definition *lead,
                      struct str topic)
{
    const struct topic_definition *of = definition_topic(d, lead);

    return (of != NULL && str_equal(of->name, topic)) || index_leads_to(d, lead, topic);
}

bool node_route_guests(struct coordinator *co, const struct stored_version *v, int64_t timeout_ms,
                       struct err *err)
{
    struct definitions *d;
    const struct table_definition *table;
    bool ok = node_version_definitions(co, v, &d, &table, err);

    for (struct topic *t = co->topics; ok && t != NULL; t = t->next) {
        const struct str name = str_from(t->name);

        if (str_equal(name, v->topic) || !index_leads_to(d, table, name))
            continue;
        ok = node_route(co, name, timeout_ms, NULL, err) ||
             err_wrap(err, "topic %s, which has tables of the documents", t->name);
    }
    if (d != NULL)
        definitions_unref(d);
    return ok;
}

void node_route_again(struct coordinator *co)
{
    struct err ignored = {0};

    if (!__atomic_exchange_n(&co->routes_due, false, __ATOMIC_ACQ_REL))
        return;
    for (struct topic *t = co->topics; t != NULL; t = t->next)
        if (t->pipeline != NULL && !node_route(co, str_from(t->name), 0, NULL, &ignored))
            log_debug("a topic takes its index versions soon");
}

/* ---- epochs ---- */

/* The highest epoch that any index of this topic was written under, by its mapping's _meta. */
static bool epoch_in_engine(struct coordinator *co, struct str topic, uint64_t *epoch,
                            struct err *err)
{
    struct buf answer = {0};
    struct json_reader r;
    struct str index, member;
    int status;

    *epoch = 0;
    if (!search_request(co->opt.search, "GET", STR("/_mapping?filter_path=*.mappings._meta"),
                        STR(""), &status, &answer, err)) {
        buf_free(&answer);
        return false;
    }
    if (status != 200 && status != 404) {
        buf_free(&answer);
        return err_set_code(
            err, ERR_RETRY, "http", status,
            "the search engine answered %d when asked for the lineage of its indexes", status);
    }
    json_reader_init(&r, buf_str(&answer));
    if (status == 200 && json_enter_object(&r)) {
        while (json_next_member(&r, &index)) {
            struct buf of = {0};
            uint64_t found;

            if (!json_read_raw(&r, &member))
                break;
            if (json_find_text(member, "/mappings/_meta/_millrace/topic", &of) &&
                str_equal(buf_str(&of), topic) &&
                json_find_u64(member, "/mappings/_meta/_millrace/epoch", &found) &&
                found > *epoch)
                *epoch = found;
            buf_free(&of);
        }
    }
    buf_free(&answer);
    return true;
}

/* ---- starting and stopping ---- */

bool node_new_epoch(struct coordinator *co, struct str topic, uint64_t *epoch, struct err *err)
{
    struct buf name = {0}, value = {0};
    uint64_t kept = 0;
    bool found = false;

    buf_printf(&name, "epoch/%" STR_FMT, STR_ARG(topic));

    bool ok = store_get_value(co->opt.store, buf_str(&name), &value, &found, err) &&
              epoch_in_engine(co, topic, epoch, err);

    if (ok && found)
        kept = strtoull(value.ptr, NULL, 10);
    *epoch = (kept > *epoch ? kept : *epoch) + 1;
    if (ok && *epoch > POSITION_EPOCH_MAX)
        ok = err_set(err, ERR_FATAL,
                     "the epoch of topic %" STR_FMT
                     " is used up; fix: give the topic another name and build its indexes again",
                     STR_ARG(topic));
    buf_clear(&value);
    buf_printf(&value, "%" PRIu64, *epoch);
    ok = ok && store_put_value(co->opt.store, buf_str(&name), buf_str(&value), err);
    buf_free(&name);
    buf_free(&value);
    return ok;
}

static bool choose_epoch(struct coordinator *co, struct str topic, uint64_t *epoch,
                         struct err *err)
{
    struct arena *a = arena_new();
    struct stored_checkpoint cp;
    bool found = false;
    bool ok = store_load_checkpoint(co->opt.store, a, topic, &cp, &found, err);

    if (ok && found)
        *epoch = cp.epoch;
    else
        ok = ok && node_new_epoch(co, topic, epoch, err);
    arena_free(a);
    return ok;
}

/* Where to start without a position: a reset says now, whatever the definition says. */
static bool choose_start(struct coordinator *co, const struct topic_definition *d,
                         struct buf *start, struct err *err)
{
    struct buf name = {0};
    bool found = false;

    buf_printf(&name, "start/%" STR_FMT, STR_ARG(d->name));

    const bool ok = store_get_value(co->opt.store, buf_str(&name), start, &found, err);

    if (ok && !found)
        buf_append(start, d->start);
    buf_free(&name);
    return ok;
}

static bool start_pipeline(struct coordinator *co, struct topic *t,
                           const struct topic_definition *d, struct err *err)
{
    struct server_access *server = NULL;
    struct buf thing = {0}, start = {0}, spill = {0};
    struct replica_identity replica;
    uint64_t epoch, from;
    struct pipeline *p = NULL;

    buf_printf(&thing, "topic/%s", t->name);
    buf_printf(&spill, "%s/spill", co->opt.data_dir);

    bool ok = choose_start(co, d, &start, err) &&
              server_access_new(&server, d, NULL, co->opt.data_dir, err) &&
              choose_epoch(co, d->name, &epoch, err) &&
              node_replica_identity(co, d, &replica, err) &&
              coordination_own(co->coordination, buf_str(&thing), &t->term, err) &&
              pipeline_new(&p,
                           &(struct pipeline_options){
                               .topic = t->name,
                               .start_at = start.ptr,
                               .server = server,
                               .server_id = replica.server_id,
                               .uuid = replica.uuid,
                               .epoch = epoch,
                               .term = t->term,
                               .event_max = co->opt.event_max,
                               .spill_folder = spill.ptr,
                               .read_window_ms = co->opt.delivery.read_window_ms,
                               .store = co->opt.store,
                               .delivery = co->delivery,
                               .search = co->opt.search,
                               .peers = co->peers,
                               .ctx = co,
                               .stop_table = on_stop_table,
                               .dead = on_dead_row,
                               .fit = node_fit_version,
                               .kept = node_kept_tables,
                               .tables_changed = node_on_tables_changed,
                               .mark = on_mark},
                           err);

    if (ok) {
        pthread_mutex_lock(&co->lock);
        t->pipeline = p;
        t->why = t->move_why = (struct err){0};
        pthread_mutex_unlock(&co->lock);
        /* Before it starts, so that no change is read without its versions. */
        ok = node_route(co, d->name, ROUTE_MS, &from, err);
        pipeline_start(p);
    }
    server_access_unref(server);
    buf_free(&thing);
    buf_free(&start);
    buf_free(&spill);
    return ok;
}

static void try_start(struct coordinator *co, struct topic *t, const struct topic_definition *d)
{
    struct err err = {0};

    if (start_pipeline(co, t, d, &err))
        return;
    pthread_mutex_lock(&co->lock);

    const bool again = t->why.kind == ERR_NONE;

    t->why = err;
    pthread_mutex_unlock(&co->lock);
    if (again)
        log_failure(LOG_ERROR, &err, "the topic cannot start",
                    KV("topic", (const char *)t->name));
}

void node_stop_topic(struct coordinator *co, struct topic *t)
{
    if (t->pipeline != NULL)
        node_pause_builds(co, t->pipeline);
    pthread_mutex_lock(&co->lock);

    struct pipeline *p = t->pipeline;

    t->pipeline = NULL;
    pthread_mutex_unlock(&co->lock);
    if (p == NULL)
        return;
    pipeline_discard(p);
    pipeline_quiesce(p);
    pipeline_forget(p);
    pipeline_join(p);
    pipeline_retire(p, &co->retired); /* what is in flight still refers to it */
}

static void free_topic(struct topic *t)
{
    free(t->name);
    free(t);
}

void node_free_topics(struct coordinator *co)
{
    while (co->topics != NULL) {
        struct topic *t = co->topics;

        co->topics = t->next;
        pipeline_free(t->pipeline);
        free_topic(t);
    }
    while (co->retired != NULL)
        pipeline_free(pipeline_unretire(&co->retired));
    while (co->held != NULL)
        drop_held(co, co->held->index);
}

static void remove_topics(struct coordinator *co, const struct definitions *d)
{
    for (struct topic **at = &co->topics; *at != NULL;) {
        struct topic *t = *at;

        if (definitions_topic(d, str_from(t->name)) != NULL) {
            at = &t->next;
            continue;
        }
        node_stop_topic(co, t);
        pthread_mutex_lock(&co->lock);
        *at = t->next;
        pthread_mutex_unlock(&co->lock);
        free_topic(t);
    }
}

void node_sync_topics(struct coordinator *co)
{
    struct definitions *d = node_definitions(co);

    remove_topics(co, d);
    for (size_t i = 0; i < d->n_topics; i++) {
        struct topic *t = node_topic(co, d->topics[i].name);

        if (t == NULL) {
            t = mem_alloc(1, sizeof(*t));
            t->name = strndup(d->topics[i].name.ptr, d->topics[i].name.len);
            pthread_mutex_lock(&co->lock);
            t->next = co->topics;
            co->topics = t;
            pthread_mutex_unlock(&co->lock);
        }
        if (t->pipeline == NULL)
            try_start(co, t, &d->topics[i]);
    }
    definitions_unref(d);
}
