#include "config.h"

#include "rebalance/version/buckets.h"

#include "rebalance/dead_letter/letters.h"
#include "rebalance/fill/bucket.h"
#include "rebalance/fill/fills.h"
#include "rebalance/fill/index_fill.h"
#include "rebalance/fill/parameters.h"
#include "rebalance/fill/part.h"
#include "rebalance/fill/share.h"
#include "rebalance/fill/source.h"
#include "rebalance/state/owned.h"
#include "rebalance/state/pauses.h"
#include "rebalance/version/builds.h"
#include "rebalance/version/routes.h"
#include "rebalance/version/shape.h"

#include "src/base/clock.h"
#include "src/base/failpoint.h"
#include "src/base/log.h"
#include "src/base/magic.h"
#include "src/store/build_log.h"
#include "sync/server/server_access.h"

#include <inttypes.h>

#define FOR_EACH_NODE 4 /* buckets, so that a node that is gone leaves little to do again */

/* ---- the fills' calls, on their threads ---- */

static void on_fill_done(void *ctx, struct index_fill *f)
{
    struct coordinator *co = MAGIC_CAST(coordinator, ctx);

    builds_nudge(co->builds, str_from(index_fill_alias(f)), index_fill_number(f));
    fills_note_end(co->fills, f);
    stop_nudge(&co->stop);
}

static bool on_fill_dead(void *ctx, const struct dead_letter_note *note, struct stop *stop)
{
    struct coordinator *co = MAGIC_CAST(coordinator, ctx);
    struct err err = {0};

    while (!coordinator_keep_dead_letters(co, note, 1, &err)) {
        if (err.kind == ERR_STOP) /* another node has the bucket */
            return false;
        log_failure(LOG_ERROR, &err, "could not store a dead letter, trying again");
        if (stop_wait(stop, 500))
            return false;
    }
    delivery_note_dead(co->delivery, str_from(note->target->index), note->routing, note->id,
                       note->version);
    return true;
}

void coordinator_on_divided(void *ctx)
{
    struct coordinator *co = MAGIC_CAST(coordinator, ctx);

    fills_look_again(co->fills);
    stop_nudge(&co->stop);
}

/* ---- a look at all buckets ---- */

struct round {
    struct arena *arena;
    struct catalogue *catalogue;
    struct stored_job *jobs;
    size_t n_jobs;
    struct cluster_view view;
    size_t n_nodes; /* that may fill; this one is among them */
    struct str self;
};

/* A version whose buckets are looked at, or parts of a delayed run. */
struct filled {
    const struct stored_version *v;
    const char *kind;               /* JOB_BUCKET, JOB_PART */
    const struct stored_job *build; /* NULL: a run's */
    struct pipeline *pipeline;      /* of its build, or topic, if it runs here; else NULL */
    uint64_t start;                 /* reads must include this position */
    struct fill_note note;
    size_t n_open;
    size_t sharers;             /* fills that may share its limit of rows, on all nodes */
    struct fill_source *source; /* once a bucket was to be filled here ... */
    struct buf shapes;          /* ... and what it was made of, if we do not follow the topic */
};

static bool is_of(const struct stored_job *job, const struct stored_version *v,
                  const char *kind)
{
    return str_equal(job->kind, str_from(kind)) && job->version == v->number &&
           str_equal(job->index, v->index);
}

/* Whether nobody works on it, as far as is known: its node is gone, or is this one. */
static bool is_free(struct coordinator *co, const struct round *r, const struct stored_job *job)
{
    struct fill_bucket b;
    bool is = str_equal(job->state, STR(BUCKET_INIT));

    if (fills_has(co->fills, job->id))
        return false;
    if (!is) {
        const bool known = bucket_read(job->parameters, &b);

        is = !known || !coordinator_is_shared(co) || str_equal(buf_str(&b.node), r->self) ||
             !name_set_has(&r->view.live, buf_str(&b.node));
        bucket_fini(&b);
    }
    return is;
}

/* ---- start ---- */

/* The servers of the other topics whose tables the documents show. */
static bool add_others(struct coordinator *co, const struct fill_note *note,
                       struct fill_source *s, struct err *err)
{
    struct definitions *d = coordinator_definitions(co);
    bool ok = true;

    for (size_t i = 0; ok && i < note->n_others; i++) {
        const struct str name = buf_str(&note->others[i].topic);
        const struct topic_definition *topic = definitions_topic(d, name);
        struct server_access *server = NULL;

        ok = (topic != NULL ||
              err_set(err, ERR_RETRY, "topic %" STR_FMT " is not defined", STR_ARG(name))) &&
             server_access_new(&server, topic, NULL, co->opt.data_dir, err) &&
             fill_source_add_topic(s, &note->others[i], server, err);
        server_access_unref(server);
    }
    definitions_unref(d);
    return ok;
}

/* What a node reads with that does not follow the topic. Appends what it was made of. */
static bool open_away(struct coordinator *co, const struct filled *f, struct buf *shapes,
                      struct fill_source **out, struct err *err)
{
    struct version_spec *spec = NULL;
    struct schema_list tables = {0};
    bool found = false;
    const bool ok =
        store_load_shapes(co->opt.store, f->v->index, f->v->number, shapes, &found, err) &&
        coordinator_spec_of(co, f->v, &spec, err) &&
        coordinator_kept_tables(co, spec, &tables, err) &&
        fill_source_away(spec, &tables, &f->note, f->start, out, err) &&
        add_others(co, &f->note, *out, err);

    if (!ok) {
        fill_source_unref(*out);
        *out = NULL;
    }
    schema_list_fini(&tables);
    version_spec_free(spec);
    return ok;
}

/* What this node reads the version with. If it cannot, others may. */
static bool open_source(struct coordinator *co, struct filled *f) NEEDS(co->admin_lock)
{
    struct buf index = {0};
    struct err err = {0};

    if (f->source != NULL)
        return true;
    if (f->pipeline == NULL) {
        if (open_away(co, f, &f->shapes, &f->source, &err))
            return true;
        fills_avoid(co->fills, f->v->index, f->v->number);
        log_failure(LOG_WARN, &err, "this node cannot fill a version for now",
                    KV("index", f->v->index), KV("version", f->v->number));
        return false;
    }
    coordinator_index_name(&index, f->v->index, f->v->number);
    f->source = fill_source_here(f->pipeline, index.ptr);
    buf_free(&index);
    return true;
}

/* This node takes part.  The log only tells people, so no build waits for it. */
static void note_node(struct coordinator *co, const struct stored_version *v)
{
    const struct version_name name = {v->index, v->number};
    struct err err = {0};

    if (!store_add_build_node(co->opt.store, &name, str_from(co->identity.uuid),
                              str_from(co->identity.name), &err))
        log_failure(LOG_WARN, &err, "could not log that this node takes part in a build",
                    KV("index", v->index), KV("version", v->number));
}

static struct job_parameters parameters_of(const struct filled *f)
{
    return f->build == NULL ? (struct job_parameters){.rate = 0}
                            : job_parameters_read(f->build->parameters);
}

static void run_fill(struct coordinator *co, const struct filled *f,
                     const struct stored_job *job, uint64_t term) NEEDS(co->admin_lock)
{
    const struct job_parameters p = parameters_of(f);
    struct buf index = {0}, alias = {0};
    struct index_fill *fill;

    coordinator_index_name(&index, f->v->index, f->v->number);
    buf_append(&alias, f->v->index);
    fill = index_fill_new(
        &(struct index_fill_options){.store = co->opt.store,
                                     .delivery = co->delivery,
                                     .source = f->source,
                                     .node = str_from(co->identity.uuid),
                                     .shapes = buf_str(&f->shapes),
                                     .alias = alias.ptr,
                                     .index = index.ptr,
                                     .start = f->build == NULL ? part_start(job) : f->v->start,
                                     .term = term,
                                     .chunk = p.chunk,
                                     .rate = p.rate,
                                     .sharers = f->sharers,
                                     .ctx = co,
                                     .dead = on_fill_dead,
                                     .done = on_fill_done},
        job);
    fills_add(co->fills, fill);
    index_fill_start(fill);
    if (f->build != NULL)
        note_node(co, f->v);
    buf_free(&index);
    buf_free(&alias);
}

/* Take the bucket in this node's name. *taken is false if another one was first. */
static bool take(struct coordinator *co, const struct round *r, struct stored_job *job,
                 uint64_t *term, bool *taken, struct err *err)
{
    struct fill_bucket b;
    struct buf parameters = {0};

    if (!bucket_read(job->parameters, &b)) { /* the fill says so in its job */
        bucket_fini(&b);
        return store_take_bucket(co->opt.store, job, job->parameters, term, taken, err);
    }
    buf_clear(&b.node);
    buf_append(&b.node, r->self);
    b.rate = 0;
    if (str_equal(job->state, STR(BUCKET_RUNNING)))
        b.lost_ms = (uint64_t)clock_wall_ms();
    bucket_append(&parameters, &b);

    const bool ok =
        store_take_bucket(co->opt.store, job, buf_str(&parameters), term, taken, err);

    job->parameters = arena_copy(r->arena, buf_str(&parameters));
    bucket_fini(&b);
    buf_free(&parameters);
    return ok;
}

/* Returns whether this node fills it now. */
static bool start_fill(struct coordinator *co, const struct round *r, const struct filled *f,
                       struct stored_job *job) NEEDS(co->admin_lock)
{
    struct err err = {0};
    bool taken = false;
    uint64_t term;
    const bool ok = take(co, r, job, &term, &taken, &err);

    if (taken)
        FAILPOINT(bucket_taken);
    if (ok && taken)
        run_fill(co, f, job, term);
    if (!ok)
        log_failure(LOG_WARN, &err, "a bucket cannot be filled here yet",
                    KV("index", f->v->index), KV("bucket", (uint64_t)job->bucket));
    return ok && taken;
}

/* ---- stop ---- */

struct selection {
    const struct stored_version *v;
    const struct pipeline *pipeline; /* with v NULL: that use it; NULL too: all */
    struct str shapes;               /* of an away source: made of others; empty: any */
    bool away;                       /* only those that do not use the topic's pipeline */
    size_t n;                        /* how many at most */
};

static bool is_selected(void *ctx, const struct index_fill *f)
{
    struct selection *s = ctx;

    if (s->n == 0 ||
        (s->v == NULL && s->pipeline != NULL && index_fill_pipeline(f) != s->pipeline))
        return false;
    if (s->v != NULL && (!str_equal(str_from(index_fill_alias(f)), s->v->index) ||
                         index_fill_number(f) != s->v->number))
        return false;
    if (s->shapes.len > 0 &&
        (index_fill_pipeline(f) != NULL || index_fill_has_shapes(f, s->shapes)))
        return false;
    if (s->away && index_fill_pipeline(f) != NULL)
        return false;
    s->n--;
    return true;
}

void coordinator_stop_fills(struct coordinator *co, struct str alias, uint64_t number)
{
    const struct stored_version v = {.index = alias, .number = number};

    fills_remove(co->fills, is_selected, &(struct selection){.v = &v, .n = SIZE_MAX});
}

void coordinator_pause_fills(struct coordinator *co, const struct pipeline *p)
{
    fills_remove(co->fills, is_selected, &(struct selection){.pipeline = p, .n = SIZE_MAX});
}

static void ask_to_stop(void *ctx, struct index_fill *f)
{
    (void)ctx;
    index_fill_ask_to_stop(f);
}

void coordinator_ask_fills_to_stop(struct coordinator *co)
{
    fills_each(co->fills, ask_to_stop, NULL);
}

/* ---- each version ---- */

/*
 * A change of the tables makes other plans: whoever does not follow the topic begins again. So
 * does who has taken the topic over since, and knows more by its pipeline.
 */
static void stop_outdated(struct coordinator *co, const struct filled *f) NEEDS(co->admin_lock)
{
    struct selection which = {.v = f->v, .away = true, .n = SIZE_MAX};
    struct buf shapes = {0};
    struct err err = {0};
    bool found = false;

    if (f->pipeline == NULL) {
        if (!store_load_shapes(co->opt.store, f->v->index, f->v->number, &shapes, &found,
                               &err) ||
            !found || shapes.len == 0)
            return;
        which.shapes = buf_str(&shapes);
    }
    fills_remove(co->fills, is_selected, &which);
    buf_free(&shapes);
}

struct sharing {
    const struct stored_version *v;
    uint64_t rate;
    size_t sharers;
};

static void set_share(void *ctx, struct index_fill *f)
{
    const struct sharing *s = ctx;

    if (str_equal(str_from(index_fill_alias(f)), s->v->index) &&
        index_fill_number(f) == s->v->number) {
        if (index_fill_pipeline(f) == NULL) /* else share_rate() knows it sooner */
            index_fill_set_rate(f, s->rate);
        index_fill_set_sharers(f, s->sharers);
    }
}

static bool may_fill(struct coordinator *co, const struct round *r, const struct filled *f)
{
    return catalogue_pause(r->catalogue, PAUSE_TOPIC, f->v->topic) == NULL && r->n_nodes > 0 &&
           !fills_avoids(co->fills, f->v->index, f->v->number);
}

static bool load_note(struct coordinator *co, struct filled *f)
{
    struct buf name = {0}, text = {0};
    struct err err = {0};
    bool found = false;

    buf_append(&name, STR(STORE_FILL));
    coordinator_index_name(&name, f->v->index, f->v->number);

    const bool known = store_get_value(co->opt.store, buf_str(&name), &text, &found, &err) &&
                       found && fill_note_read(buf_str(&text), &f->note);

    buf_free(&name);
    buf_free(&text);
    return known;
}

/* Returns whether this node may fill it. */
static bool look_at_build(struct coordinator *co, const struct round *r, struct filled *f)
    NEEDS(co->admin_lock)
{
    const struct stored_version *v = f->v;
    struct index_build *b = builds_find(co->builds, v->index, v->number);

    for (size_t i = 0; i < r->n_jobs; i++)
        if (is_of(&r->jobs[i], v, JOB_INDEX))
            f->build = &r->jobs[i];
    if (b != NULL && !builds_is_over(co->builds, b))
        f->pipeline = pipeline_ref(index_build_pipeline(b));
    f->start = v->start;
    if (f->build == NULL || f->n_open == 0 || v->start == 0)
        return false;

    const bool known = load_note(co, f),
               is_free = catalogue_pause(r->catalogue, PAUSE_TOPIC, v->topic) == NULL;

    if (f->pipeline == NULL && known && !(f->note.anywhere && is_free))
        fills_remove(co->fills, is_selected,
                     &(struct selection){.v = v, .away = true, .n = SIZE_MAX});
    return f->pipeline != NULL || (known && f->note.anywhere && may_fill(co, r, f));
}

/* As above.  Whoever follows the topic has a stream that writes to the version, too. */
static bool look_at_run(struct coordinator *co, const struct round *r, struct filled *f)
    NEEDS(co->admin_lock)
{
    const struct topic *t;

    if (f->n_open == 0)
        return false;
    lock_acquire(&co->topics->lock);
    t = topics_find(co->topics, f->v->topic);
    f->pipeline = t == NULL || t->pipeline == NULL ? NULL : pipeline_ref(t->pipeline);
    lock_release(&co->topics->lock);
    if (may_fill(co, r, f) && catalogue_pause(r->catalogue, PAUSE_INDEX, f->v->index) == NULL)
        return part_newest_note(r->jobs, r->n_jobs,
                                &(struct version_name){f->v->index, f->v->number}, &f->note,
                                &f->start);
    coordinator_stop_fills(co, f->v->index, f->v->number);
    return false;
}

static bool look_at(struct coordinator *co, const struct round *r,
                    const struct stored_version *v, struct filled *f) NEEDS(co->admin_lock)
{
    const bool is_built = str_equal(v->state, STR("changing"));

    *f = (struct filled){.v = v, .kind = is_built ? JOB_BUCKET : JOB_PART};
    if ((is_built && v->error.len > 0) || !catalogue_is_live(v))
        return false;
    for (size_t i = 0; i < r->n_jobs; i++)
        f->n_open += is_of(&r->jobs[i], v, f->kind) && bucket_is_open(&r->jobs[i]);
    return is_built ? look_at_build(co, r, f) : look_at_run(co, r, f);
}

static void filled_fini(struct filled *f)
{
    fill_note_fini(&f->note);
    fill_source_unref(f->source);
    if (f->pipeline != NULL)
        pipeline_unref(f->pipeline);
    buf_free(&f->shapes);
}

static void fill_version(struct coordinator *co, const struct round *r, struct filled *f)
    NEEDS(co->admin_lock)
{
    const struct job_parameters p = parameters_of(f);
    const bool shares = coordinator_is_shared(co) && f->note.anywhere && r->n_nodes > 0;
    const struct fill_nodes nodes = {.live = shares ? &r->view.live : NULL,
                                     .evacuated = &r->view.evacuated,
                                     .self = r->self,
                                     .owner =
                                         f->pipeline != NULL ? r->self : buf_str(&f->note.node),
                                     .max = p.nodes};
    const struct fill_share share = fill_share(&nodes, f->n_open);
    const size_t most = share.most;
    size_t n;

    f->sharers = share.sharers;
    stop_outdated(co, f);
    n = fills_n(co->fills, f->v->index, f->v->number);
    if (n > most)
        fills_remove(co->fills, is_selected, &(struct selection){.v = f->v, .n = n - most});
    for (size_t i = 0; i < r->n_jobs && n < most; i++)
        if (is_of(&r->jobs[i], f->v, f->kind) && bucket_is_open(&r->jobs[i]) &&
            is_free(co, r, &r->jobs[i]) && open_source(co, f))
            n += start_fill(co, r, f, &r->jobs[i]);
    fills_each(co->fills, set_share, &(struct sharing){f->v, p.rate, f->sharers});
}

/* Those that the cluster counts on, if this node is one of them. */
static size_t count_nodes(struct coordinator *co, const struct round *r)
{
    size_t n = 0;

    if (!coordinator_is_shared(co))
        return 1;
    if (!r->view.is_connected || !name_set_has(&r->view.live, r->self) ||
        name_set_has(&r->view.evacuated, r->self))
        return 0;
    for (size_t i = 0; i < r->view.live.n; i++)
        n += !name_set_has(&r->view.evacuated, r->view.live.list[i]);
    return n;
}

size_t coordinator_fill_nodes(struct coordinator *co)
{
    struct round r = {.self = str_from(co->identity.uuid)};
    size_t n;

    if (!coordinator_is_shared(co))
        return 1;
    cluster_look(co->cluster, &r.view);
    n = count_nodes(co, &r);
    cluster_view_free(&r.view);
    return n;
}

size_t coordinator_buckets(struct coordinator *co, uint64_t nodes)
{
    size_t n = coordinator_fill_nodes(co);

    if (!coordinator_is_shared(co))
        return 1;
    n = (nodes > 0 && nodes < n ? (size_t)nodes : n) * FOR_EACH_NODE;
    return n == 0 ? 1 : n < BUCKETS_MAX ? n : BUCKETS_MAX;
}

static bool is_away(void *ctx, const struct index_fill *f)
{
    (void)ctx;
    return index_fill_pipeline(f) == NULL;
}

static bool any_is_built(const struct catalogue *c)
{
    bool any = false;

    for (size_t i = 0; i < c->n_versions; i++)
        any = any || str_equal(c->versions[i].state, STR("changing"));
    return any;
}

static void look(struct coordinator *co, struct catalogue *c) NEEDS(co->admin_lock)
{
    struct round r = {
        .arena = arena_new(), .catalogue = c, .self = str_from(co->identity.uuid)};
    struct err err = {0};

    cluster_look(co->cluster, &r.view);
    r.n_nodes = count_nodes(co, &r);
    if (r.n_nodes == 0)
        fills_remove(co->fills, is_away, NULL);
    if (!store_load_jobs(co->opt.store, r.arena, &r.jobs, &r.n_jobs, &err))
        log_failure(LOG_WARN, &err, "could not load the buckets of the builds");
    for (size_t i = 0; i < c->n_versions; i++) {
        struct filled f;

        if (look_at(co, &r, &c->versions[i], &f))
            fill_version(co, &r, &f);
        filled_fini(&f);
    }
    cluster_view_free(&r.view);
    arena_free(r.arena);
}

/* A limit that is set here takes effect at once. */
static void share_rate(void *ctx, struct index_fill *f)
{
    struct coordinator *co = MAGIC_CAST(coordinator, ctx);
    const struct str alias = str_from(index_fill_alias(f));
    struct index_build_status s;

    if (builds_status(co->builds, alias, index_fill_number(f), &s))
        index_fill_set_rate(f, s.rate_limit);
}

void coordinator_fill_buckets(struct coordinator *co)
{
    struct catalogue *c;

    fills_reap(co->fills);
    fills_each(co->fills, share_rate, co);
    if (!fills_is_due(co->fills))
        return;
    fills_remove_stalled(co->fills);
    c = coordinator_catalogue(co);
    if (any_is_built(c) || fills_have_run(co->fills))
        look(co, c);
    catalogue_unref(c);
}
