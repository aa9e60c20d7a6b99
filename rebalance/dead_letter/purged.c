/*
 * Purged changes: the store has their keys, and the replay thread reads their rows again once
 * their index accepts writes.
 *
 * The replay thread takes one slice of an index's keys at a time and hands them to delivery as
 * reads of a source other than the log.  When the engine has acknowledged a document, the
 * thread deletes its key from the store, unless the document was purged again meanwhile.  After
 * the last slice it starts over.  A key that cannot be read or written now (a red shard, an
 * unreachable source) is put back, so that it delays no other key.
 *
 * For an index that accepts nothing, the thread hands over one key at a time: if no other
 * change waits, its write shows when the index accepts writes again.  For an index that a
 * person paused, it hands over none: delivery would purge it again at once.
 */
#include "config.h"

#include "rebalance/dead_letter/purged.h"

#include "rebalance/dead_letter/purged_slice.h"
#include "rebalance/dead_letter/repeats.h"
#include "rebalance/dead_letter/replay.h"
#include "rebalance/state/owned.h"
#include "rebalance/state/parts.h"
#include "rebalance/state/pauses.h"
#include "rebalance/trees/trees.h"

#include "src/base/clock.h"
#include "src/base/failpoint.h"
#include "src/base/lock.h"
#include "src/base/log.h"
#include "src/base/mem.h"
#include "src/store/later/purged.h"
#include "sync/checkpoint/read_position.h"
#include "sync/delivery/delivery.h"
#include "sync/routing/routing.h"

#include <stdlib.h>
#include <string.h>

#define TICK_MS     50    /* between turns while something is purged */
#define REST_MS     60000 /* at most, while nothing is */
#define AGAIN_MS    1000  /* after the last slice, or one without a single success */
#define PATIENCE_MS 2000  /* before failed keys of a slice are put back */
#define SLICE_MAX   500
#define LEAVE_PART  4 /* request timeouts after which a slice's unfinished keys are left */

/*
 * An index with purged changes.  The thread that stores the first change adds it; only the
 * replay thread uses what the lock does not guard, and only it removes the index.
 */
struct purged_index {
    char *index, *topic;
    uint64_t changes;           /* in the store; guarded by lock */
    uint64_t puts;              /* how often changes were added; guarded by lock */
    int64_t since_ms;           /* steady: when the oldest was stored; guarded by lock */
    struct purged_slice *slice; /* in flight, or NULL */
    struct arena *arena;        /* owns the rows */
    struct stored_purged *rows; /* of the slice; when it is over: the written ones */
    size_t n_rows;
    uint64_t after_id;   /* rows up to this id have had their turn */
    int64_t again_ms;    /* monotonic: idle until then */
    int64_t began_ms;    /* monotonic: start of the slice, or when its index was last held */
    int64_t put_back_ms; /* monotonic: when failed keys are put back next */
    uint64_t written;    /* changes rewritten since the index was added here */
    struct purged_index *next;
};

struct purged_indexes {
    pthread_t thread;
    struct lock lock;
    struct purged_index *first; /* guarded by lock */
};

/* ---- storing purged changes ---- */

static struct purged_index *find_or_add(struct purged_indexes *all, struct str index,
                                        struct str topic) NEEDS(all->lock)
{
    struct purged_index *p = all->first;

    while (p != NULL && !str_equal(str_from(p->index), index))
        p = p->next;
    if (p != NULL)
        return p;
    p = mem_alloc(1, sizeof(*p));
    p->index = strndup(index.ptr, index.len);
    p->topic = strndup(topic.ptr, topic.len);
    p->next = all->first;
    all->first = p;
    log_warn("changes of an index are purged; their rows are read again once it takes writes",
             KV("index", (const char *)p->index));
    return p;
}

static struct stored_purged row_of(const struct purged_note *note, int64_t now_ms)
{
    return (struct stored_purged){.topic = str_from(note->target->topic),
                                  .table = str_from(note->target->table),
                                  .index = str_from(note->target->index),
                                  .doc_id = note->id,
                                  .routing = note->routing,
                                  .key = note->key,
                                  .version = note->version,
                                  .unanswered = note->unanswered,
                                  .times = 1,
                                  .at_ms = now_ms};
}

bool coordinator_put_purged(void *ctx, const struct purged_note *notes, size_t n,
                            struct err *err)
{
    struct coordinator *co = MAGIC_CAST(coordinator, ctx);
    const int64_t now_ms = clock_steady_ms();
    struct stored_purged *rows = mem_alloc(n, sizeof(*rows));
    size_t n_rows = 0;

    for (size_t i = 0; i < n; i++) /* another node reads changes of its topics again */
        if (coordinator_owns(co, str_from(notes[i].target->topic)))
            rows[n_rows++] = row_of(&notes[i], now_ms);
    FAILPOINT(purge_due);
    const bool ok = n_rows == 0 || store_put_purged(co->opt.store, rows, n_rows, err);

    FAILPOINT(purge_stored);
    lock_acquire(&co->purged->lock);
    for (size_t i = 0; ok && i < n_rows; i++) {
        struct purged_index *p = find_or_add(co->purged, rows[i].index, rows[i].topic);

        if (p->changes++ == 0)
            p->since_ms = now_ms;
        p->puts++;
    }
    lock_release(&co->purged->lock);
    stop_nudge(&co->stop);
    free(rows);
    return ok;
}

/* ---- a slice in flight ---- */

static void forget_slice(struct purged_index *p)
{
    purged_slice_leave(p->slice);
    p->slice = NULL;
    arena_free(p->arena);
    p->arena = NULL;
    p->n_rows = 0;
}

/* Tell whether the index accepts no documents at all. */
static bool is_held(struct coordinator *co, const char *index)
{
    struct hold hold;

    return holds_find(co->holds, str_from(index), &hold) && hold.is.cure != CURE_SHARDS;
}

static bool load_rows(struct coordinator *co, struct purged_index *p, struct err *err)
{
    const int64_t settle_ms =
        (int64_t)delivery_get(co->delivery).request_timeout_ms * DELIVERY_COPY_TIMEOUTS;

    const int64_t now_ms = clock_steady_ms();
    /* The row's clock may be ahead of ours if an earlier process, now ended, stored it. */
    const bool old_is_settled = now_ms - co->started_ms >= settle_ms;

    p->arena = arena_new();
    return store_load_purged(
        co->opt.store, p->arena, str_from(p->index),
        (struct purged_filter){.after_id = p->after_id,
                               .settled_ms = now_ms - settle_ms,
                               .ahead_ms = old_is_settled ? now_ms : INT64_MAX},
        SLICE_MAX, &p->rows, &p->n_rows, err);
}

/* The version must exceed the stored one and that of any copy still in flight. */
static uint64_t version_for(const struct topic *t, const struct stored_purged *row)
{
    const uint64_t read = read_position_version(pipeline_read_position(t->pipeline));
    const uint64_t least = row->version + row->unanswered;

    return least > read + 1 && least <= read + READ_POSITION_GAP ? least : read + 1;
}

/* Returns false if no pipeline follows the row's table now. */
static bool make_write(struct coordinator *co, struct stored_purged *row, struct doc_write *out)
    NEEDS(co->admin_lock)
{
    struct topic *t = topics_find(co->topics, row->topic);
    struct target *target = t == NULL || t->pipeline == NULL
                                ? NULL
                                : pipeline_target(t->pipeline, row->index, row->table);

    if (target == NULL)
        return false;
    if (__atomic_load_n(&((struct reading *)target->plan)->stopped, __ATOMIC_RELAXED)) {
        target_unref(target);
        return false;
    }
    *out = (struct doc_write){.target = target,
                              .op = DOC_REFRESH,
                              .fresh = true,
                              .gathered = true,
                              .stored = true,
                              .version = version_for(t, row),
                              .id = row->doc_id,
                              .routing = row->routing,
                              .key = row->key};
    row->term = t->term;
    return true;
}

/*
 * Make writes of up to max rows whose tables are followed, and drop the other rows from the
 * slice.  ERR_RETRY if no row is left; the next slice then begins after them.
 */
static bool make_writes(struct coordinator *co, struct purged_index *p, size_t max,
                        struct doc_write *writes, struct err *err)
{
    size_t n = 0;

    if (!coordinator_begin(co, err))
        return false;
    for (size_t i = 0; i < p->n_rows && n < max; i++) {
        p->after_id = p->rows[i].id;
        if (!make_write(co, &p->rows[i], &writes[n]))
            continue;
        writes[n].ticket = purged_slice_ticket(p->slice, n);
        p->rows[n++] = p->rows[i];
    }
    lock_release(&co->admin_lock);
    p->n_rows = n;
    return n > 0 || err_set(err, ERR_RETRY, "its topic is not running now");
}

static bool hand_over(struct coordinator *co, struct purged_index *p, struct err *err)
{
    struct doc_write *writes = mem_alloc(p->n_rows, sizeof(*writes));

    p->slice = purged_slice_new(p->n_rows);
    p->began_ms = clock_mono_ms();
    p->put_back_ms = p->began_ms + PATIENCE_MS;

    bool ok = make_writes(co, p, is_held(co, p->index) ? 1 : SLICE_MAX, writes, err);

    if (ok) {
        ok = delivery_submit_until(co->delivery, &co->stop, writes, p->n_rows, err);
        for (size_t i = 0; !ok && i < p->n_rows; i++) {
            ticket_abandon(writes[i].ticket);
            target_unref(writes[i].target);
        }
    }
    free(writes);
    FAILPOINT(purged_submitted);
    return ok;
}

/* Give up the unfinished reads.  Their keys stay in the store for the next round. */
static void put_back(struct coordinator *co, const struct purged_index *p)
{
    for (size_t i = 0; i < p->n_rows; i++)
        if (purged_slice_state(p->slice, i) == PURGED_OUT)
            delivery_put_back(co->delivery, p->rows[i].index, p->rows[i].routing,
                              p->rows[i].doc_id);
}

/*
 * Tell whether the slice is done, or has taken so long that the thread leaves its unfinished
 * keys.  These are still in the store, and handing them over again is harmless.  While the
 * index accepts nothing, the thread keeps waiting for its slice.
 */
static bool is_over(struct coordinator *co, struct purged_index *p)
{
    const int64_t now_ms = clock_mono_ms();

    if (purged_slice_is_over(p->slice))
        return true;
    if (is_held(co, p->index)) {
        p->began_ms = now_ms;
        p->put_back_ms = now_ms + PATIENCE_MS;
        return false;
    }
    if (now_ms >= p->put_back_ms) {
        put_back(co, p);
        p->put_back_ms = now_ms + AGAIN_MS;
    }
    return now_ms - p->began_ms >=
           (int64_t)delivery_get(co->delivery).request_timeout_ms * LEAVE_PART;
}

/* Keep only the rows that were written. */
static void end_slice(struct purged_index *p)
{
    size_t n = 0;

    for (size_t i = 0; i < p->n_rows; i++)
        if (purged_slice_state(p->slice, i) == PURGED_WRITTEN)
            p->rows[n++] = p->rows[i];
    p->n_rows = n;
    purged_slice_leave(p->slice);
    p->slice = NULL;
}

/* ---- an index ---- */

/* Returns the changes that are left. */
static uint64_t count_down(struct coordinator *co, struct purged_index *p, uint64_t changes)
{
    lock_acquire(&co->purged->lock);
    p->changes -= changes < p->changes ? changes : p->changes;

    const uint64_t left = p->changes;

    lock_release(&co->purged->lock);
    return left;
}

static bool count_stored(struct coordinator *co, const struct purged_index *p,
                         uint64_t *changes, struct err *err)
{
    struct arena *a = arena_new();
    struct purged_count *counts;
    size_t n = 0;
    const bool ok = store_count_purged(co->opt.store, a, STR(""), &counts, &n, err);

    *changes = 0;
    for (size_t i = 0; ok && i < n; i++)
        if (str_equal(counts[i].index, str_from(p->index)))
            *changes = counts[i].changes;
    arena_free(a);
    return ok;
}

/*
 * Take the count from the store, because ours is wrong if the answer to a commit was lost.  If
 * another thread added changes meanwhile, the store's count may or may not include them: keep
 * ours, and recount later.
 */
static bool recount(struct coordinator *co, struct purged_index *p, struct err *err)
{
    uint64_t changes;

    lock_acquire(&co->purged->lock);

    const uint64_t puts = p->puts;

    lock_release(&co->purged->lock);

    const bool ok = count_stored(co, p, &changes, err);

    FAILPOINT(purged_counted);
    lock_acquire(&co->purged->lock);
    if (ok && p->puts == puts)
        p->changes = changes;
    lock_release(&co->purged->lock);
    return ok;
}

static bool end_rows(struct coordinator *co, struct purged_index *p, struct err *err)
{
    uint64_t changes;

    FAILPOINT(purged_written);
    trees_flush(co->trees);
    if (!store_end_purged(co->opt.store, p->rows, p->n_rows, &changes, err))
        return false;
    p->written += changes;
    delivery_repaired(co->delivery, changes);
    return count_down(co, p, changes) > 0 || recount(co, p, err);
}

/* Whether a new version has all rows, or the index is gone.  paused: by a person. */
static bool is_replaced(struct coordinator *co, const struct purged_index *p, bool *paused)
{
    struct catalogue *c = coordinator_catalogue(co);
    const struct stored_version *v = NULL;
    struct str alias;
    uint64_t number;

    if (coordinator_split_index_name(p->index, &alias, &number))
        v = catalogue_number(c, alias, number);

    const bool replaced = v == NULL || !catalogue_is_live(v);

    *paused = !replaced && catalogue_pause(c, PAUSE_INDEX, alias) != NULL;
    catalogue_unref(c);
    return replaced;
}

static void drop_index(struct coordinator *co, struct purged_index *p)
{
    struct err err = {0};

    if (store_delete_purged_index(co->opt.store, str_from(p->index), &err) &&
        recount(co, p, &err))
        return;
    log_failure(LOG_WARN, &err, "could not drop the purged changes of a deleted index",
                KV("index", (const char *)p->index));
    p->again_ms = clock_mono_ms() + AGAIN_MS;
}

/* No row follows: start over.  If the index has no row at all, recount. */
static bool end_of_rows(struct coordinator *co, struct purged_index *p, struct err *err)
{
    const bool passed_by = p->after_id > 0;

    p->after_id = 0;
    return passed_by || recount(co, p, err);
}

static void begin(struct coordinator *co, struct purged_index *p)
{
    const uint64_t before = p->after_id;
    struct err err = {0};
    bool paused;

    if (is_replaced(co, p, &paused)) {
        drop_index(co, p);
        return;
    }
    if (!paused && load_rows(co, p, &err) &&
        (p->n_rows > 0 ? hand_over(co, p, &err) : end_of_rows(co, p, &err)) && p->n_rows > 0)
        return;
    if (err.kind != ERR_NONE && err.kind != ERR_STOP)
        log_debug("purged changes wait", KV("index", (const char *)p->index),
                  KV("why", (const char *)err.msg));
    forget_slice(p);
    if (p->after_id <= before)
        p->again_ms = clock_mono_ms() + AGAIN_MS;
}

static void look(struct coordinator *co, struct purged_index *p)
{
    struct err err = {0};

    if (clock_mono_ms() < p->again_ms)
        return;
    if (p->slice != NULL) {
        if (!is_over(co, p))
            return;
        end_slice(p);
        if (p->n_rows == 0)
            p->again_ms = clock_mono_ms() + AGAIN_MS;
    }
    if (p->n_rows == 0) {
        forget_slice(p);
        if (clock_mono_ms() >= p->again_ms && coordinator_owns(co, str_from(p->topic)))
            begin(co, p);
    } else if (end_rows(co, p, &err) || err.kind == ERR_STOP) {
        forget_slice(p); /* ERR_STOP: the topic was lost meanwhile; its rows are read again */
    } else {
        log_failure(LOG_WARN, &err, "could not drop purged changes that are written",
                    KV("index", (const char *)p->index));
        p->again_ms = clock_mono_ms() + AGAIN_MS;
    }
}

static void free_purged(struct purged_index *p)
{
    forget_slice(p);
    free(p->index);
    free(p->topic);
    free(p);
}

/* Remove the indexes that have no purged changes left; those of a lost topic are others'. */
static void drop_done(struct coordinator *co)
{
    lock_acquire(&co->purged->lock);
    for (struct purged_index **at = &co->purged->first; *at != NULL;) {
        struct purged_index *p = *at;

        if ((p->changes > 0 && coordinator_owns(co, str_from(p->topic))) || p->slice != NULL ||
            p->n_rows > 0) {
            at = &p->next;
            continue;
        }
        if (p->changes == 0 && p->written > 0)
            log_info("all purged changes have been written",
                     KV("index", (const char *)p->index), KV("changes", p->written));
        *at = p->next;
        free_purged(p);
    }
    lock_release(&co->purged->lock);
}

/* Whoever purges something, asks for a replay or starts a topic nudges co->stop. */
static int64_t rest_ms(struct coordinator *co)
{
    const int64_t replay_ms = coordinator_replay_due_in_ms(co);
    int64_t ms = coordinator_repeats_due_in_ms(co);

    lock_acquire(&co->purged->lock);
    if (co->purged->first != NULL)
        ms = 0;
    lock_release(&co->purged->lock);
    ms = replay_ms < ms ? replay_ms : ms;
    return ms < TICK_MS ? TICK_MS : ms < REST_MS ? ms : REST_MS;
}

static void *replay_main(void *arg)
{
    struct coordinator *co = MAGIC_CAST(coordinator, arg);
    uint64_t seen = 0;

    while (!stop_rest(&co->stop, rest_ms(co), &seen)) {
        lock_acquire(&co->purged->lock);

        struct purged_index *first = co->purged->first; /* new ones are put in front of it */

        lock_release(&co->purged->lock);
        for (struct purged_index *p = first; p != NULL && !stop_is_set(&co->stop); p = p->next)
            look(co, p);
        drop_done(co);
        coordinator_replay_wanted(co);
        coordinator_repeat_deletes(co);
    }
    return NULL;
}

/* ---- life ---- */

bool coordinator_load_purged(struct coordinator *co, struct str topic, struct err *err)
{
    struct arena *a = arena_new();
    struct purged_count *counts;
    size_t n = 0;
    const bool ok = store_count_purged(co->opt.store, a, topic, &counts, &n, err);

    lock_acquire(&co->purged->lock);
    for (size_t i = 0; ok && i < n; i++) {
        struct purged_index *p = find_or_add(co->purged, counts[i].index, counts[i].topic);

        p->changes = counts[i].changes;
        p->since_ms = counts[i].oldest_ms;
    }
    lock_release(&co->purged->lock);
    arena_free(a);
    return ok || err_wrap(err, "reading the purged changes");
}

void coordinator_start_replays(struct coordinator *co)
{
    co->purged->thread = thread_start("replay", replay_main, co);
}

void coordinator_join_replays(struct coordinator *co)
{
    pthread_join(co->purged->thread, NULL);
}

struct purged_indexes *purged_indexes_new(void)
{
    struct purged_indexes *all = mem_alloc(1, sizeof(*all));

    lock_init(&all->lock, LOCK_private);
    return all;
}

void purged_indexes_free(struct purged_indexes *all)
{
    if (all == NULL)
        return;
    while (all->first != NULL) {
        struct purged_index *p = all->first;

        all->first = p->next;
        free_purged(p);
    }
    lock_fini(&all->lock);
    free(all);
}

int64_t coordinator_purged_since(const struct coordinator *co, struct str index)
{
    int64_t since_ms = LAG_NONE;

    lock_acquire(&co->purged->lock);
    for (const struct purged_index *p = co->purged->first; p != NULL; p = p->next)
        if (p->changes > 0 && str_equal(str_from(p->index), index))
            since_ms = clock_wall_ms() - (clock_steady_ms() - p->since_ms);
    lock_release(&co->purged->lock);
    return since_ms;
}

void coordinator_append_purged(struct coordinator *co, struct json_writer *w)
{
    json_write_key(w, STR("purged"));
    json_open_array(w);
    lock_acquire(&co->purged->lock);
    for (const struct purged_index *p = co->purged->first; p != NULL; p = p->next) {
        if (p->changes == 0)
            continue;
        json_open_object(w);
        json_put_cstr(w, STR("index"), p->index);
        json_put_u64(w, STR("changes"), p->changes);
        json_close_object(w);
    }
    lock_release(&co->purged->lock);
    json_close_array(w);
}
