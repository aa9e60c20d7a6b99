#include "config.h"

#include "rebalance/admin/node_list.h"

#include "rebalance/admin/nodes.h"
#include "rebalance/fill/bucket.h"
#include "rebalance/state/owned.h"
#include "rebalance/state/parts.h"
#include "rebalance/topic/things.h"
#include "rebalance/view/away.h"
#include "rebalance/view/cluster.h"
#include "rebalance/watch/store_watch.h"

#include "src/base/mem.h"
#include "src/store/told.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define ID_LEAST 8 /* digits of an id that stand for it */

/* ---- gathering ---- */

static struct node_entry *find(const struct node_list *l, struct str id)
{
    for (size_t i = 0; i < l->n; i++)
        if (str_equal(l->list[i].id, id))
            return &l->list[i];
    return NULL;
}

/* Adds a node that is gone, unless it is there. */
static struct node_entry *have(struct node_list *l, struct str id)
{
    struct node_entry *e = find(l, id);

    if (e != NULL)
        return e;
    l->list = mem_resize(l->list, l->n + 1, sizeof(*l->list));
    e = &l->list[l->n++];
    *e = (struct node_entry){
        .id = id, .name = id, .version = STR(""), .state = cluster_survey_word(&l->survey, id)};
    return e;
}

static void add_living(struct node_list *l)
{
    for (size_t i = 0; i < l->survey.n; i++) {
        const struct node_data *d = &l->survey.nodes[i];
        struct node_entry *e = have(l, buf_str(&d->id));

        e->name = d->name.len > 0 ? buf_str(&d->name) : e->id;
        e->version = buf_str(&d->version);
        e->lives = true;
        e->things = &d->jobs;
        e->data = d;
        e->started_ms = (int64_t)d->started_ms;
    }
}

struct told_read {
    struct store *store;
    struct stored_told_node *list;
    size_t n;
};

static bool read_told(struct errand *e, struct err *err)
{
    struct told_read *r = e->ctx;

    return store_load_told_nodes(r->store, e->arena, &r->list, &r->n, err);
}

static void add_told(struct coordinator *co, struct node_list *l)
{
    struct told_read *r;

    l->asked = errand_new("the store", sizeof(*r));
    r = l->asked->ctx;
    r->store = co->opt.store;
    if (!coordinator_ask_store(co, l->asked, read_told, &l->untold))
        return;
    for (size_t i = 0; i < r->n; i++) {
        const bool is_new = find(l, r->list[i].node) == NULL;
        struct node_entry *e = have(l, r->list[i].node);

        e->told_ms = r->list[i].at_ms;
        if (!e->lives && away_is_shut_down(&r->list[i]))
            e->state = "shut down";
        if (is_new) {
            e->name = r->list[i].node_name;
            e->version = r->list[i].program;
        }
    }
}

static void add_evacuated(struct node_list *l)
{
    for (size_t i = 0; i < l->survey.state.evacuated.n; i++)
        (void)have(l, l->survey.state.evacuated.list[i]);
}

/* The node that has its store alone. */
static void add_self(struct coordinator *co, struct node_list *l)
{
    struct definitions *d = coordinator_definitions(co);
    struct node_entry *e = have(l, str_from(co->identity.uuid));

    for (size_t i = 0; i < d->n_topics; i++) {
        struct buf thing = {0};

        buf_printf(&thing, "topic/%" STR_FMT, STR_ARG(d->topics[i].name));
        (void)name_set_add(&l->own, buf_str(&thing));
        buf_free(&thing);
    }
    definitions_unref(d);
    e->name = str_from(co->identity.name);
    e->version = STR(PACKAGE_VERSION);
    e->lives = true;
    e->state = "normal";
    e->things = &l->own;
    e->started_ms = co->started_ms;
}

static int order_of_entries(const void *a, const void *b)
{
    const struct node_entry *x = a, *y = b;
    const int order = str_order(x->name, y->name);

    return order != 0 ? order : str_order(x->id, y->id);
}

bool node_list_load(struct coordinator *co, struct node_list *l, struct err *err)
{
    if (!coordinator_is_daemon(co, "a list of nodes", err))
        return false;
    if (!coordinator_is_shared(co)) {
        add_self(co, l);
        return true;
    }
    if (!cluster_survey(co->cluster, &l->survey, err))
        return false;
    add_living(l);
    add_told(co, l);
    add_evacuated(l);
    if (l->n > 0)
        qsort(l->list, l->n, sizeof(*l->list), order_of_entries);
    return true;
}

void node_list_free(struct node_list *l)
{
    if (l->asked != NULL)
        errand_leave(l->asked);
    cluster_survey_free(&l->survey);
    name_set_free(&l->own);
    free(l->list);
    *l = (struct node_list){0};
}

/* ---- one of them ---- */

static bool is_start_of(struct str id, struct str text)
{
    return text.len >= ID_LEAST && text.len <= id.len &&
           memcmp(id.ptr, text.ptr, text.len) == 0;
}

static const struct node_entry *refuse_name(struct err *err, struct str name, size_t n)
{
    if (n == 0)
        (void)refuse(err, 404, "there is no node %" STR_FMT "; fix: see millrace node list",
                     STR_ARG(name));
    else
        (void)refuse(err, 409,
                     "%zu nodes are called %" STR_FMT "; fix: give the id that millrace node "
                     "list shows",
                     n, STR_ARG(name));
    return NULL;
}

/* Finds among those that live, or that do not. */
static const struct node_entry *pick(const struct node_list *l, struct str name, bool lives,
                                     size_t *n)
{
    const struct node_entry *found = NULL;

    *n = 0;
    for (size_t i = 0; i < l->n; i++)
        if (l->list[i].lives == lives &&
            (str_equal(l->list[i].name, name) || is_start_of(l->list[i].id, name))) {
            found = &l->list[i];
            ++*n;
        }
    return found;
}

static const struct node_entry *find_first(const struct node_list *l, struct str name,
                                           bool lives, struct err *err)
{
    const struct node_entry *found = find(l, name);
    size_t n;

    if (found != NULL)
        return found;
    found = pick(l, name, lives, &n);
    if (n == 0)
        found = pick(l, name, !lives, &n);
    return n == 1 ? found : refuse_name(err, name, n);
}

const struct node_entry *node_list_find(const struct node_list *l, struct str name,
                                        struct err *err)
{
    return find_first(l, name, true, err);
}

const struct node_entry *node_list_find_gone(const struct node_list *l, struct str name,
                                             struct err *err)
{
    return find_first(l, name, false, err);
}

/* ---- the answer ---- */

static void put_topic(struct json_writer *w, struct str thing)
{
    const struct str prefix = STR("topic/");

    if (thing.len > prefix.len && memcmp(thing.ptr, prefix.ptr, prefix.len) == 0)
        json_write_string(w, (struct str){thing.ptr + prefix.len, thing.len - prefix.len});
}

static void put_topics(struct json_writer *w, const struct name_set *things)
{
    json_write_key(w, STR("topics"));
    json_open_array(w);
    for (size_t i = 0; things != NULL && i < things->n; i++)
        put_topic(w, things->list[i]);
    json_close_array(w);
}

/* Those that a person moved here. */
static void put_wished(struct json_writer *w, const struct cluster_state *s, struct str id)
{
    struct str thing;

    json_write_key(w, STR("moved_here"));
    json_open_array(w);
    for (size_t i = 0; (thing = cluster_state_wished(s, id, i)).len > 0; i++)
        put_topic(w, thing);
    json_close_array(w);
}

/* Its part in the last rebalance. */
static void put_part(struct json_writer *w, const struct node_data *d)
{
    if (d == NULL) {
        json_put_null(w, STR("session"));
        json_put_null(w, STR("cloud_status"));
        json_put_null(w, STR("node_status"));
        return;
    }
    json_put_u64(w, STR("session"), d->session);
    json_put_cstr(w, STR("cloud_status"), d->cloud == CLOUD_NORMAL ? "NORMAL" : "REBALANCING");
    json_put_string(w, STR("node_status"), node_status_name(d->status));
}

static void put_job(struct json_writer *w, const struct stored_job *j, bool is_part)
{
    char id[24];

    snprintf(id, sizeof(id), "%" PRIu64, j->id);
    json_open_object(w);
    json_put_cstr(w, STR("id"), id);
    json_put_string(w, STR("kind"), j->kind);
    json_put_string(w, STR("table"), j->table);
    json_put_string(w, STR("index"), j->index);
    json_put_u64(w, STR("version"), j->version);
    json_put_u64(w, STR("bucket"), j->bucket + !is_part);
    json_put_u64(w, STR("buckets"), j->buckets);
    json_close_object(w);
}

/* The buckets of builds, and the parts of delayed runs, that it fills. */
static void put_jobs(struct json_writer *w, const struct store_copy *stored, struct str id)
{
    json_write_key(w, STR("jobs"));
    json_open_array(w);
    for (size_t i = 0; stored != NULL && i < stored->n_jobs; i++) {
        const struct stored_job *j = &stored->jobs[i];
        struct fill_bucket b;

        if (!str_equal(j->state, STR(BUCKET_RUNNING)))
            continue;
        if (bucket_read(j->parameters, &b) && str_equal(buf_str(&b.node), id))
            put_job(w, j, b.part.len > 0);
        bucket_fini(&b);
    }
    json_close_array(w);
}

static void put_entry(struct json_writer *w, const struct node_list *l,
                      const struct store_copy *stored, const struct node_entry *e)
{
    json_open_object(w);
    json_put_string(w, STR("name"), e->name);
    json_put_string(w, STR("id"), e->id);
    json_put_cstr(w, STR("state"), e->state);
    json_put_bool(w, STR("evacuated"), name_set_has(&l->survey.state.evacuated, e->id));
    json_put_string(w, STR("version"), e->version);
    put_part(w, e->data);
    put_topics(w, e->things);
    put_jobs(w, stored, e->id);
    put_wished(w, &l->survey.state, e->id);
    coordinator_put_time(w, STR("since"), e->started_ms);
    coordinator_put_time(w, STR("told"), e->told_ms);
    json_close_object(w);
}

bool coordinator_nodes(struct coordinator *co, struct str name, struct buf *json,
                       struct err *err)
{
    struct node_list l = {0};
    const struct node_entry *one = NULL;
    struct store_copy *stored = NULL;
    struct json_writer w = {.out = json};
    bool ok = node_list_load(co, &l, err);

    if (ok) {
        stored = store_watch_copy(co->store_watch);
        store_watch_want(co->store_watch);
    }
    if (ok && name.len > 0) {
        one = node_list_find(&l, name, err);
        ok = one != NULL;
    }
    if (ok) {
        json_open_object(&w);
        json_put_cstr(&w, STR("schema"), "millrace/node/1");
        coordinator_put_cluster(&w, coordinator_is_shared(co) ? &l.survey.view : NULL);
        json_write_key(&w, STR("items"));
        json_open_array(&w);
        for (size_t i = 0; i < l.n; i++)
            if (one == NULL || one == &l.list[i])
                put_entry(&w, &l, stored, &l.list[i]);
        json_close_array(&w);
        json_close_object(&w);
    }
    if (stored != NULL)
        store_copy_unref(stored);
    node_list_free(&l);
    return ok;
}
