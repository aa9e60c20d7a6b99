#include "config.h"

#include "rebalance/state/coordinator.h"

#include "rebalance/access/first_admin.h"
#include "rebalance/admin/apply.h"
#include "rebalance/admin/delivery.h"
#include "rebalance/admin/delivery_set.h"
#include "rebalance/admin/follow.h"
#include "rebalance/alarm/outbox.h"
#include "rebalance/dead_letter/dead.h"
#include "rebalance/dead_letter/purged.h"
#include "rebalance/dead_letter/repeats.h"
#include "rebalance/dead_letter/replay.h"
#include "rebalance/delayed/runs.h"
#include "rebalance/engine/engine.h"
#include "rebalance/fill/fills.h"
#include "rebalance/history/history.h"
#include "rebalance/member/cluster_zookeeper.h"
#include "rebalance/poll/sync.h"
#include "rebalance/replay/replay.h"
#include "rebalance/state/owned.h"
#include "rebalance/state/parts.h"
#include "rebalance/task/task.h"
#include "rebalance/tell/alarms.h"
#include "rebalance/tell/tell.h"
#include "rebalance/topic/failover.h"
#include "rebalance/topic/gap.h"
#include "rebalance/topic/give_back.h"
#include "rebalance/topic/lost.h"
#include "rebalance/topic/take_over.h"
#include "rebalance/topic/topics.h"
#include "rebalance/trees/trees.h"
#include "rebalance/verify/jobs.h"
#include "rebalance/verify/schedule.h"
#include "rebalance/verify/verify.h"
#include "rebalance/version/buckets.h"
#include "rebalance/version/build.h"
#include "rebalance/version/builds.h"
#include "rebalance/version/cross_topic.h"
#include "rebalance/version/held.h"
#include "rebalance/version/pause.h"
#include "rebalance/version/rebuild.h"
#include "rebalance/version/retire.h"
#include "rebalance/version/retired.h"
#include "rebalance/version/routes.h"
#include "rebalance/version/settings.h"
#include "rebalance/version/trees.h"
#include "rebalance/version/version_drop.h"
#include "rebalance/version/waiting.h"
#include "rebalance/watch/asking.h"
#include "rebalance/watch/findings.h"
#include "rebalance/words/content.h"

#include "src/base/clock.h"
#include "src/base/log.h"
#include "src/base/magic.h"
#include "src/base/mem.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

#define TICK_MS        50   /* between turns while something is under way */
#define REST_MS        2000 /* and while nothing is */
#define SHARED_REST_MS 500
#define CHANGES_MS     250   /* between looks at what other nodes changed */
#define ANSWER_MS      3000  /* that the engine gets for what is asked when the daemon stops */
#define TOPICS_MS      2000  /* before topics that could not start are tried again */
#define WAITING_MS     1000  /* before versions that wait are judged again */
#define RIGHTS_MS      10000 /* before tables that may not be read are tried again */
#define VERIFY_MS      2000  /* before comparisons that are due are looked for again */
#define PRUNE_MS       600000
#define STUCK_MS       1000 /* between drains while they are blocked */
#define POLL_MS        10
#define LOAD_MS        500 /* before the store is read again after a failure */

/* The indexes that searches use, or can return to. */
static void list_counted(void *ctx, struct arena *a, struct str **names, size_t *n)
{
    struct catalogue *c = coordinator_catalogue(MAGIC_CAST(coordinator, ctx));

    *names = arena_alloc(a, c->n_versions + 1, sizeof(**names));
    *n = 0;
    for (size_t i = 0; i < c->n_versions; i++) {
        struct buf name = {0};

        if (!str_equal(c->versions[i].state, STR("available")) &&
            !catalogue_is_kept(&c->versions[i]))
            continue;
        coordinator_index_name(&name, c->versions[i].index, c->versions[i].number);
        (*names)[(*n)++] = arena_copy(a, buf_str(&name));
        buf_free(&name);
    }
    catalogue_unref(c);
}

static void open_cluster(struct coordinator *co, const struct zookeeper_options *by)
{
    const struct cluster_node node = {str_from(co->identity.uuid), str_from(co->identity.name),
                                      STR(PACKAGE_VERSION), str_from(co->identity.owner),
                                      co->started_ms};

    co->cluster = by == NULL
                      ? cluster_embedded(co->opt.store)
                      : cluster_zookeeper(co->opt.store, &node, by, coordinator_on_order, co);
    co->opt.coordination = NULL; /* was borrowed */
}

/* What people see of the store and the engine. */
static void make_watches(struct coordinator *co)
{
    co->store_watch = store_watch_new(co->opt.store, &co->stop);
    if (coordinator_is_shared(co))
        store_watch_share(co->store_watch);
    co->engine_watch = engine_watch_new(
        &(struct engine_watch_options){co->opt.search, &co->stop, co, list_counted});
    co->findings = findings_new();
}

static bool open_alarms(struct coordinator *co, struct err *err)
{
    const struct alarm_options *opt = co->opt.alarms;

    co->opt.alarms = NULL; /* was borrowed */
    return opt == NULL || coordinator_open_alarms(co, opt, err);
}

static bool load_all(struct coordinator *co, struct err *err) NEEDS(co->admin_lock)
{
    return coordinator_load_identity(co, err) && coordinator_load(co, err) &&
           coordinator_retire_unnamed(co, err) && coordinator_load_settings(co, err) &&
           open_alarms(co, err);
}

static void init_locks(struct coordinator *co)
{
    lock_init(&co->apply_lock, LOCK_apply_lock);
    lock_init(&co->admin_lock, LOCK_admin_lock);
    lock_init(&co->shape_lock, LOCK_shape_lock);
    lock_init(&co->marks_lock, LOCK_marks_lock);
    stop_init(&co->stop);
    stop_init(&co->drained);
}

bool coordinator_open(struct coordinator **out, const struct coordinator_options *opt,
                      struct err *err)
{
    struct coordinator *co = mem_alloc(1, sizeof(*co));

    co->magic = MAGIC_coordinator;
    co->opt = *opt;
    co->errands = errands_new(ERRAND_MS);
    co->tasks = tasks_new();
    co->asking = asking_new(0, NULL);
    init_locks(co);
    co->holds = holds_new();
    co->builds = builds_new();
    co->fills = fills_new();
    co->kept = kept_indexes_new();
    co->rebuilds = rebuilds_new();
    co->syncs = syncs_new();
    co->purged = purged_indexes_new();
    co->delayed = delayed_runs_new();
    co->repeats = repeats_new();
    co->replays = replays_new();
    co->drops = drops_new();
    co->route_retry = route_retry_new();
    co->settings_sync = settings_sync_new();
    co->verifies = verify_jobs_new();
    co->day_replays = day_replays_new();
    co->words = words_new();
    co->first_admin = first_admin_new();
    co->compare_version = verify_new_version;
    co->settings = live_settings_new(opt->configuration);
    co->opt.configuration = NULL; /* was borrowed */
    co->stored = stored_state_new();
    co->telling = telling_new();
    co->history = history_new();
    co->topics = topics_new();
    make_watches(co);
    co->started_ms = clock_steady_ms();
    coordinator_watch_loss(co);
    lock_acquire(&co->admin_lock);

    const bool ok = load_all(co, err);

    if (ok) {
        open_cluster(co, opt->coordination);
        coordinator_open_trees(co);
    }
    lock_release(&co->admin_lock);
    if (!ok) {
        coordinator_close(co);
        return false;
    }
    *out = co;
    return true;
}

void coordinator_close(struct coordinator *co)
{
    if (co == NULL)
        return;
    if (co->opt.search != NULL)
        search_end(co->opt.search); /* only errands may still ask it */
    coordinator_end_first_admin(co, true);
    tasks_free(co->tasks);
    errands_free(co->errands);
    delivery_free(co->delivery);
    topics_free(co->topics);
    telling_free(co->telling);
    alarms_free(co->alarms);
    alarm_outbox_free(co->outbox);
    history_free(co->history);
    findings_free(co->findings);
    holds_free(co->holds);
    builds_free(co->builds);
    fills_free(co->fills);
    rebuilds_free(co->rebuilds);
    syncs_free(co->syncs);
    purged_indexes_free(co->purged);
    delayed_runs_free(co->delayed);
    repeats_free(co->repeats);
    replays_free(co->replays);
    drops_free(co->drops);
    route_retry_free(co->route_retry);
    settings_sync_free(co->settings_sync);
    verify_jobs_free(co->verifies);
    day_replays_free(co->day_replays);
    words_free(co->words);
    first_admin_free(co->first_admin);
    trees_free(co->trees);
    live_settings_free(co->settings);
    stored_state_free(co->stored);
    kept_indexes_free(co->kept);
    engine_watch_free(co->engine_watch);
    store_watch_free(co->store_watch);
    cluster_close(co->cluster);
    coordinator_unwatch_loss(co);
    stop_fini(&co->stop);
    stop_fini(&co->drained);
    lock_fini(&co->marks_lock);
    lock_fini(&co->shape_lock);
    lock_fini(&co->admin_lock);
    lock_fini(&co->apply_lock);
    asking_free(co->asking);
    MAGIC_END(coordinator, co);
    free(co);
}

/* Returns false if what we know may differ from the store. */
static bool is_up_to_date(struct coordinator *co, int64_t *load_ms) NEEDS(co->admin_lock)
{
    struct err err = {0};

    if (!coordinator_is_load_due(co)) {
        coordinator_follow_changes(co);
        return true;
    }
    if (clock_mono_ms() < *load_ms)
        return false;
    *load_ms = clock_mono_ms() + LOAD_MS;
    if (coordinator_take_stored(co, &err)) {
        coordinator_follow_changes(co);
        return true;
    }
    log_debug("the stored definitions are not in effect yet", KV("why", (const char *)err.msg));
    return false;
}

static void look_at_queue(struct coordinator *co)
{
    const struct delivery_status s = delivery_status(co->delivery);

    queue_watch_look(&co->queue, s.blocked, s.bytes_held, delivery_get(co->delivery).bytes_max,
                     clock_mono_ms());
}

static void sync_settings(struct coordinator *co) NEEDS(co->admin_lock)
{
    coordinator_sync_settings(co, NULL);
}

/* What the coordinator's thread does, in this order. */
static const struct {
    void (*run)(struct coordinator *co);
    int64_t every_ms; /* 0: in each turn */
} tasks[] = {
    {coordinator_tell_things, 0},
    {coordinator_take_ordered, 0},
    {coordinator_ask_failed, TOPICS_MS},
    {coordinator_finish_builds, 0},
    {coordinator_sync_topics, TOPICS_MS},
    {coordinator_resume_builds, TOPICS_MS},
    {coordinator_fill_buckets, 0},
    {coordinator_resume_verifies, TOPICS_MS},
    {sync_settings, TOPICS_MS},
    {coordinator_follow_moved, 0},
    {coordinator_close_gaps, 0},
    {coordinator_route_again, 0},
    {coordinator_rebuild_tables, 0},
    {coordinator_forget_gone, 0},
    {look_at_queue, 0},
    {coordinator_stop_held, 0},
    {coordinator_look_at_waiting, WAITING_MS},
    {coordinator_look_at_rights, RIGHTS_MS},
    {coordinator_stop_unread, 0},
    {coordinator_drop_tombstones, PRUNE_MS},
    {coordinator_warn_of_dead_letters, PRUNE_MS},
    {coordinator_drop_trees, VERIFY_MS},
    {coordinator_verify_due, VERIFY_MS},
    {coordinator_verify_next, 0},
};

static void run_tasks(struct coordinator *co, int64_t due_ms[ARRAY_LEN(tasks)])
{
    for (size_t i = 0; i < ARRAY_LEN(tasks); i++) {
        if (clock_mono_ms() < due_ms[i])
            continue;
        due_ms[i] = clock_mono_ms() + tasks[i].every_ms;
        tasks[i].run(co);
    }
}

/* Nothing is under way that a turn could bring on. Whoever begins something nudges co->stop. */
static bool is_at_rest(struct coordinator *co)
{
    const struct delivery_status s = delivery_status(co->delivery);

    struct catalogue *c = coordinator_catalogue(co);
    const bool waits = c->n_rebuilds + c->n_waits > 0;

    catalogue_unref(c);
    return !waits && s.queued + s.loading + s.in_flight + s.blocked == 0 &&
           !coordinator_has_held(co) && builds_n(co->builds) == 0 &&
           fills_n(co->fills, STR(""), 0) == 0 && !coordinator_is_route_due(co) &&
           !coordinator_is_load_due(co) && !coordinator_is_giving_back(co);
}

/* What other nodes change must take effect within a second. */
static int64_t rest_ms(const struct coordinator *co)
{
    return co->opt.is_shared ? SHARED_REST_MS : REST_MS;
}

/* Decide nothing on state that may be outdated. */
static void *coordinator_main(void *arg)
{
    struct coordinator *co = MAGIC_CAST(coordinator, arg);
    int64_t due_ms[ARRAY_LEN(tasks)] = {0}, load_ms = 0, look_ms = 0;
    uint64_t seen = 0;

    while (!stop_rest(&co->stop, is_at_rest(co) ? rest_ms(co) : TICK_MS, &seen)) {
        if (clock_mono_ms() >= look_ms) { /* it asks the store, and turns may be many */
            look_ms = clock_mono_ms() + CHANGES_MS;
            coordinator_look_for_changes(co);
        }
        lock_acquire(&co->admin_lock);
        coordinator_give_back(co); /* this and the next need to know nothing new */
        coordinator_leave_lost(co);
        if (is_up_to_date(co, &load_ms))
            run_tasks(co, due_ms);
        lock_release(&co->admin_lock);
        coordinator_end_first_admin(co, false);
    }
    return NULL;
}

bool coordinator_start(struct coordinator *co, struct err *err)
{
    const struct delivery_options o = coordinator_delivery_options(co);

    co->delivery = delivery_new(co->opt.search, &o);
    lock_acquire(&co->admin_lock);

    /* With others, each topic is taken over when it comes. */
    const bool ok = co->opt.is_shared || coordinator_take_over(co, STR(""), err);

    lock_release(&co->admin_lock);
    if (!ok)
        return false;
    delivery_start(co->delivery);
    coordinator_put_pauses(co);
    lock_acquire(&co->admin_lock);
    coordinator_sync_topics(co);
    lock_release(&co->admin_lock);
    if (!cluster_start(co->cluster, err))
        return false;
    co->thread = thread_start("coordinator", coordinator_main, co);
    coordinator_start_syncs(co);
    coordinator_start_replays(co);
    coordinator_start_day_replays(co);
    coordinator_start_delayed(co);
    engine_watch_start(co->engine_watch);
    store_watch_start(co->store_watch);
    coordinator_start_telling(co);
    coordinator_start_alarms(co);
    coordinator_start_history(co);
    coordinator_start_looks(co);
    __atomic_store_n(&co->started, true, __ATOMIC_RELEASE);
    return true;
}

static bool all_are(struct coordinator *co, bool (*state)(struct pipeline *p))
{
    bool all = true;

    lock_acquire(&co->topics->lock);
    for (struct topic *t = co->topics->first; t != NULL; t = t->next)
        all = all && (t->pipeline == NULL || state(t->pipeline));
    lock_release(&co->topics->lock);
    return all;
}

static void nap(int64_t ms)
{
    nanosleep(&(struct timespec){.tv_sec = ms / 1000, .tv_nsec = ms % 1000 * 1000000}, NULL);
}

static uint64_t count_queued(struct coordinator *co)
{
    const struct delivery_status s = delivery_status(co->delivery);

    return s.queued + s.loading + s.in_flight;
}

/*
 * Repeat drains, because readers of finished rows hand over more.  A blocked drain ends the
 * loop if all is handed over, or if nothing can be because blocked changes fill the queue.
 */
static enum drain_end drain_pipelines(struct coordinator *co, int64_t timeout_ms)
{
    const int64_t until = clock_mono_ms() + timeout_ms;
    uint64_t blocked = UINT64_MAX; /* changes left when the last drain was blocked */

    while (!all_are(co, pipeline_idle)) {
        const int64_t left_ms = until - clock_mono_ms();
        const uint64_t queued = count_queued(co);
        const bool handed_over = all_are(
            co,
            pipeline_is_handed_over); /* read before the drain: what comes during it follows */
        enum drain_end end = DRAIN_DONE;

        if (left_ms <= 0)
            return DRAIN_TIMED_OUT;
        if (queued > 0)
            end = delivery_drain_partition(co->delivery, DRAIN_ALL, left_ms);
        if (end == DRAIN_IN_PROGRESS) { /* an operator's drain: ours covers everything and
                                           replaces it */
            delivery_drain_cancel(co->delivery);
            nap(POLL_MS);
            continue;
        }
        if (end == DRAIN_BLOCKED && (handed_over || queued == blocked))
            return end;
        if (end != DRAIN_DONE && end != DRAIN_BLOCKED)
            return end;
        blocked = end == DRAIN_BLOCKED ? queued : UINT64_MAX;
        nap(end == DRAIN_BLOCKED ? STUCK_MS : POLL_MS);
    }
    return DRAIN_DONE;
}

static void quiesce(struct coordinator *co) NEEDS(co->admin_lock)
{
    for (struct topic *t = co->topics->first; t != NULL; t = t->next)
        if (t->pipeline != NULL)
            pipeline_quiesce(t->pipeline);
}

/* Deliver what was read, within the deadline.  The rest is read again after the next start. */
static void drain(struct coordinator *co)
{
    const struct delivery_settings settings = delivery_get(co->delivery);

    if (!settings.drain)
        log_info("not drained: delivery.drain is false");
    else
        log_info("drained",
                 KV("end", drain_end_name(drain_pipelines(co, settings.drain_timeout_ms))),
                 KV("complete", all_are(co, pipeline_idle)));
}

static void save(struct coordinator *co) NEEDS(co->admin_lock)
{
    for (struct topic *t = co->topics->first; t != NULL; t = t->next) {
        struct err err = {0};

        if (t->pipeline != NULL && !pipeline_save(t->pipeline, &err))
            log_failure(LOG_ERROR, &err, "could not store the last position",
                        KV("topic", (const char *)t->name));
        if (t->pipeline != NULL)
            pipeline_discard(t->pipeline);
    }
}

/* While a daemon stops, which may take long, no other node waits for it to give a topic back.
 */
static void *leaving_main(void *arg)
{
    struct coordinator *co = MAGIC_CAST(coordinator, arg);

    do {
        lock_acquire(&co->admin_lock);
        coordinator_give_back(co);
        lock_release(&co->admin_lock);
    } while (!stop_wait(&co->drained, TICK_MS));
    return NULL;
}

/* They hear of the end with the next answer of the engine.  If none comes, it hangs. */
static void end_verifies(struct coordinator *co)
{
    const int64_t until_ms = clock_mono_ms() + ANSWER_MS;

    verify_jobs_interrupt(co->verifies);
    delivery_drain_cancel(co->delivery); /* an exchange's */
    while (verify_jobs_any(co->verifies) && clock_mono_ms() < until_ms)
        nap(POLL_MS);
    if (verify_jobs_any(co->verifies))
        search_end(co->opt.search);
    verify_jobs_join(co->verifies);
}

static void end_threads(struct coordinator *co)
{
    coordinator_join_syncs(co);
    coordinator_join_day_replays(co);
    coordinator_join_replays(co);
    coordinator_join_delayed(co);
    engine_watch_join(co->engine_watch);
    store_watch_join(co->store_watch);
    coordinator_join_telling(co);
    coordinator_join_alarms(co);
    coordinator_join_history(co);
    coordinator_join_looks(co);
    end_verifies(co);
}

void coordinator_stop(struct coordinator *co)
{
    pthread_t leaving;

    if (co->delivery == NULL)
        return;
    stop_set(&co->stop);
    asking_end(co->asking);
    errands_end(co->errands);
    tasks_refuse(co->tasks);
    if (co->started)
        pthread_join(co->thread, NULL);
    leaving = thread_start("coordinator", leaving_main, co);
    if (co->started)
        end_threads(co);
    __atomic_store_n(&co->started, false, __ATOMIC_RELEASE);
    lock_acquire(&co->admin_lock);
    coordinator_ask_builds_to_stop(co); /* a build that waits for delivery ends with it */
    quiesce(co);
    lock_release(&co->admin_lock);
    drain(co);
    stop_set(&co->drained);
    pthread_join(leaving, NULL);
    lock_acquire(&co->admin_lock);
    save(co);
    delivery_stop(co->delivery);
    coordinator_stop_builds(co);
    for (struct topic *t = co->topics->first; t != NULL; t = t->next)
        if (t->pipeline != NULL)
            pipeline_join(t->pipeline);
    lock_release(&co->admin_lock);
    tasks_join(co->tasks);
    cluster_leave(co->cluster);
}
