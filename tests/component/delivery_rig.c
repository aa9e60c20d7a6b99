#include "config.h"

#include "tests/unit/unit.h"

#include "tests/component/delivery_rig.h"

#include "src/base/arena.h"
#include "src/base/buf.h"
#include "src/base/clock.h"
#include "src/base/mem.h"
#include "src/base/thread.h"
#include "src/json.h"
#include "src/search.h"
#include "src/metric.h"
#include "sync/delivery/fuse.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define WAIT_MS 20000

void rig_sleep(int64_t ms)
{
    const struct timespec t = {.tv_sec = ms / 1000, .tv_nsec = ms % 1000 * 1000000};

    nanosleep(&t, NULL);
}

/* --- what delivery calls --- */

static void keep(char *to, size_t size, struct str s)
{
    snprintf(to, size, "%.*s", STR_ARG(s));
}

static uint64_t all_done(struct rig *r)
{
    uint64_t n = 0;

    for (unsigned i = 0; i < N_OUTCOMES; i++)
        n += rig_done(r, (enum outcome)i);
    return n;
}

static bool on_dead(void *ctx, const struct dead_letter_note *notes, size_t n, struct err *err)
{
    const struct dead_letter_note *note = &notes[n - 1];
    struct rig *r = ctx;
    bool ok = true;

    pthread_mutex_lock(&r->lock);
    if (r->dead_fails > 0) {
        r->dead_fails--;
        ok = err_set(err, ERR_RETRY, "the store is away");
    } else if (r->is_full && !note->again) {
        ok = err_set(err, ERR_REJECT, "no more dead letters are kept");
    } else {
        r->n_dead += n;
        keep(r->last_dead_id, sizeof(r->last_dead_id), note->id);
        keep(r->last_dead_reason, sizeof(r->last_dead_reason), note->reason);
        r->last_dead_status = note->status;
        r->last_dead_attempts = note->attempts;
        r->done_when_stored = all_done(r);
    }
    pthread_mutex_unlock(&r->lock);
    return ok;
}

static bool on_purged(void *ctx, const struct purged_note *notes, size_t n, struct err *err)
{
    struct rig *r = ctx;
    bool ok = true;

    pthread_mutex_lock(&r->lock);
    if (r->purge_fails > 0) {
        r->purge_fails--;
        ok = err_set(err, ERR_RETRY, "the store is away");
    }
    for (size_t i = 0; ok && i < n; i++) {
        char name[16];

        assert_true(r->n_purged < RIG_PURGED_MAX && notes[i].key.len > 0);
        keep(name, sizeof(name), notes[i].id);
        keep(r->purged_at[r->n_purged], sizeof(r->purged_at[0]), notes[i].routing);
        r->purged[r->n_purged++] = (int)strtol(name, NULL, 10);
        r->n_unanswered += notes[i].unanswered;
    }
    r->done_when_purged = all_done(r);
    pthread_mutex_unlock(&r->lock);
    return ok;
}

static void on_event(void *ctx, enum delivery_event what, const struct target *target,
                     uint64_t n, const struct err *why)
{
    struct rig *r = ctx;

    (void)target;
    (void)why;
    pthread_mutex_lock(&r->lock);
    r->n_events[what]++;
    if (what == DELIVERY_PURGED)
        r->n_purges_told += n;
    pthread_mutex_unlock(&r->lock);
}

static bool on_cleared(void *ctx, const struct target *target, struct str routing,
                       struct str id, uint64_t version, struct err *err)
{
    struct rig *r = ctx;
    bool ok = true;

    (void)target;
    (void)routing;
    (void)id;
    (void)version;
    pthread_mutex_lock(&r->lock);
    if (r->clear_fails > 0) {
        r->clear_fails--;
        ok = err_set(err, ERR_RETRY, "the store is away");
    } else {
        r->n_cleared++;
    }
    pthread_mutex_unlock(&r->lock);
    return ok;
}

static uint64_t on_area_floor(void *ctx, const struct target *target)
{
    struct rig *r = ctx;

    (void)target;
    pthread_mutex_lock(&r->lock);

    const uint64_t floor = r->area_floor;

    pthread_mutex_unlock(&r->lock);
    return floor;
}

static uint64_t on_stamp_max(void *ctx, const struct target *target)
{
    struct rig *r = ctx;

    (void)target;
    pthread_mutex_lock(&r->lock);

    uint64_t max = r->stamp_max == 0 ? UINT64_MAX : r->stamp_max;

    pthread_mutex_unlock(&r->lock);
    return max;
}

static void on_held(void *ctx, const struct target *target, bool held, int64_t since_ms,
                    const struct err *why)
{
    struct rig *r = ctx;

    (void)target;
    (void)since_ms;
    pthread_mutex_lock(&r->lock);
    r->is_held = held;
    if (held)
        keep(r->last_why, sizeof(r->last_why), str_from(why->msg));
    pthread_mutex_unlock(&r->lock);
}

static void on_gone(void *ctx, const struct gone_row *row)
{
    struct rig *r = ctx;

    pthread_mutex_lock(&r->lock);
    assert_true(r->n_gone_tickets + row->n_tickets <= 8);
    for (size_t i = 0; i < row->n_tickets; i++)
        r->gone_tickets[r->n_gone_tickets++] = row->tickets[i];
    r->gone_stamp = row->stamp;
    r->n_gone++;
    pthread_mutex_unlock(&r->lock);
}

static void on_load(void *ctx, struct load_batch *batch)
{
    struct rig *r = ctx;

    if (!queue_push(r->loads, batch, 1))
        abort();
}

/* --- the loader --- */

static void append_part(struct rig *r, struct str key, struct buf *body)
{
    const char *part = map_find(r->parts, key);

    if (part == NULL)
        buf_append(body, STR("null"));
    else
        buf_append_json(body, str_from(part));
}

static void append_document(struct rig *r, const struct load_batch *batch, struct str key,
                            const char *text, struct buf *body)
{
    if (batch->area > 0) {
        append_part(r, key, body);
        return;
    }
    buf_append(body, STR("{\"text\":"));
    buf_append_json(body, str_from(text));
    if (r->target->n_areas > 0) {
        buf_append(body, STR(",\"part\":"));
        append_part(r, key, body);
    }
    buf_append_char(body, '}');
}

static void read_row(struct rig *r, struct load_batch *batch, struct load_item *item)
{
    const char *text = map_find(r->rows, item->key);
    struct buf body = {0};

    item->stamp = item->at_least;
    if (r->reach > 0 && item->at_least > r->reach) {
        item->ahead = item->failed = true;
        err_set(&item->err, ERR_RETRY, "the stream has not come so far");
        return;
    }
    if (r->load_fails > 0) {
        r->load_fails--;
        item->failed = true;
        err_set(&item->err, ERR_RETRY, "the database is away");
        return;
    }
    item->stays = text == NULL && r->stays;
    if (text == NULL)
        return;
    if (strcmp(text, "reject") == 0) {
        item->failed = true;
        err_set(&item->err, ERR_REJECT, "no document can be made of this row");
        return;
    }
    const char *place = map_find(r->places, item->key);

    append_document(r, batch, item->key, text, &body);
    item->elsewhere = place != NULL && !str_equal(str_from(place), item->routing);
    if (item->elsewhere) {
        item->other = arena_copy(batch->arena, str_from(place));
        buf_free(&body);
        return;
    }
    item->found = true;
    item->body = arena_copy(batch->arena, buf_str(&body));
    buf_free(&body);
}

static void *load(void *arg)
{
    struct rig *r = arg;
    struct load_batch *batch;

    while ((batch = queue_pop(r->loads)) != NULL) {
        pthread_mutex_lock(&r->lock);
        r->n_loads++;
        r->n_area_loads += batch->area > 0;
        for (size_t i = 0; i < batch->n_items; i++)
            read_row(r, batch, &batch->items[i]);
        pthread_mutex_unlock(&r->lock);
        delivery_loaded(r->delivery, batch);
    }
    return NULL;
}

/* --- the rig --- */

struct rig *rig_new(void)
{
    struct rig *r = mem_alloc(1, sizeof(*r));

    pthread_mutex_init(&r->lock, NULL);
    r->fake = fake_search_start(0);
    fake_search_create(r->fake, "orders_v2", "orders_v2_write");
    r->target =
        target_new(STR("orders_v2"), STR("orders_v2_write"), STR("shop.orders"), STR("shop"));
    r->rows = map_new();
    r->parts = map_new();
    r->places = map_new();
    r->loads = queue_new(1000, 1000);
    return r;
}

static void start(struct rig *r, const struct delivery_options *opt,
                  const struct search_options *access, const char *const *urls, size_t n_urls)
{
    struct search_options search = *access;
    struct delivery_options o = {0};

    if (opt != NULL)
        o = *opt;
    o.ctx = r;
    o.load = on_load;
    o.gone = on_gone;
    o.dead = on_dead;
    o.cleared = on_cleared;
    o.stamp_max = on_stamp_max;
    o.area_floor = on_area_floor;
    o.held = on_held;
    o.purged = on_purged;
    o.event = on_event;
    o.failures = o.failures == 0 ? FUSE_FAILURES_MAX : o.failures;
    o.reset_after_ms = o.reset_after_ms == 0 ? 100 : o.reset_after_ms;
    search.urls = urls;
    search.n_urls = n_urls;
    r->search = search_new(&search);
    r->delivery = delivery_new(r->search, &o);
    r->loader = thread_start("loader", load, r);
    delivery_start(r->delivery);
}

void rig_start(struct rig *r, const struct delivery_options *opt)
{
    rig_start_as(r, opt, &(struct search_options){0});
}

void rig_start_as(struct rig *r, const struct delivery_options *opt,
                  const struct search_options *access)
{
    const char *url = fake_search_url(r->fake);

    start(r, opt, access, &url, 1);
}

void rig_start_with_dead_address(struct rig *r, const struct delivery_options *opt)
{
    struct fake_search *dead = fake_search_start(0);
    char dead_url[64];
    const char *urls[2] = {dead_url, fake_search_url(r->fake)};

    snprintf(dead_url, sizeof(dead_url), "%s", fake_search_url(dead));
    fake_search_stop(dead);
    start(r, opt, &(struct search_options){0}, urls, 2);
}

void rig_free(struct rig *r)
{
    if (r->delivery != NULL)
        delivery_stop(r->delivery);
    queue_close(r->loads);
    if (r->search != NULL)
        pthread_join(r->loader, NULL);
    delivery_free(r->delivery);
    search_free(r->search);
    queue_free(r->loads, NULL);
    map_free(r->rows, free);
    map_free(r->parts, free);
    map_free(r->places, free);
    target_unref(r->target);
    fake_search_stop(r->fake);
    pthread_mutex_destroy(&r->lock);
    free(r);
}

int rig_set_up(void **state)
{
    *state = rig_new();
    return 0;
}

int rig_tear_down(void **state)
{
    rig_free(*state);
    return 0;
}

void rig_submit(struct rig *r, const struct doc_write *w)
{
    struct err err;

    if (!delivery_submit(r->delivery, w, 1, &err))
        fail_msg("%s", err.msg);
}

static size_t purged(struct rig *r)
{
    pthread_mutex_lock(&r->lock);

    const size_t n = r->n_purged;

    pthread_mutex_unlock(&r->lock);
    return n;
}

static void submit_to(struct rig *r, struct target *t, int id, struct doc_write *w,
                      const char *text)
{
    char name[16];
    struct buf body = {0};

    snprintf(name, sizeof(name), "%d", id);
    if (text != NULL) {
        buf_append(&body, STR("{\"text\":"));
        buf_append_json(&body, str_from(text));
        buf_append_char(&body, '}');
    }
    w->target = target_ref(t);
    w->ticket = ticket_new(NULL, 0, &r->tickets);
    w->id = w->key = str_from(name);
    w->body = buf_str(&body);
    w->commit_ms = clock_wall_ms();
    rig_submit(r, w);
    buf_free(&body);
}

static void submit(struct rig *r, int id, struct doc_write *w, const char *text)
{
    submit_to(r, r->target, id, w, text);
}

void rig_index_to(struct rig *r, struct target *t, int id, uint64_t version, const char *text)
{
    submit_to(r, t, id, &(struct doc_write){.op = DOC_INDEX, .version = version}, text);
}

void rig_repair(struct rig *r, uint64_t version)
{
    const size_t n = purged(r);

    for (size_t i = 0; i < n; i++)
        submit(r, r->purged[i],
               &(struct doc_write){.op = DOC_REFRESH,
                                   .version = version,
                                   .fresh = true,
                                   .routing = str_from(r->purged_at[i])},
               NULL);
    pthread_mutex_lock(&r->lock);
    r->n_purged = 0;
    pthread_mutex_unlock(&r->lock);
}

void rig_index(struct rig *r, int id, uint64_t version, const char *text)
{
    submit(r, id, &(struct doc_write){.op = DOC_INDEX, .version = version}, text);
}

void rig_fill(struct rig *r, int id, uint64_t version, const char *text)
{
    submit(r, id, &(struct doc_write){.op = DOC_INDEX, .version = version, .strict = true},
           text);
}

void rig_delete(struct rig *r, int id, uint64_t version)
{
    submit(r, id, &(struct doc_write){.op = DOC_DELETE, .version = version}, NULL);
}

void rig_refresh(struct rig *r, int id, uint64_t at_least)
{
    submit(r, id, &(struct doc_write){.op = DOC_REFRESH, .version = at_least}, NULL);
}

void rig_refresh_fresh(struct rig *r, int id, uint64_t at_least)
{
    submit(r, id, &(struct doc_write){.op = DOC_REFRESH, .version = at_least, .fresh = true},
           NULL);
}

void rig_index_many(struct rig *r, int id, int n, uint64_t version, const char *text)
{
    struct doc_write *writes = mem_alloc((size_t)n, sizeof(*writes));
    char(*names)[16] = mem_alloc((size_t)n, sizeof(*names));
    struct buf body = {0};
    struct err err;

    buf_append(&body, STR("{\"text\":"));
    buf_append_json(&body, str_from(text));
    buf_append_char(&body, '}');
    for (int i = 0; i < n; i++) {
        snprintf(names[i], sizeof(names[i]), "%d", id + i);
        writes[i] = (struct doc_write){.target = target_ref(r->target),
                                       .ticket = ticket_new(NULL, 0, &r->tickets),
                                       .op = DOC_INDEX,
                                       .version = version + (uint64_t)i,
                                       .id = str_from(names[i]),
                                       .body = buf_str(&body)};
    }
    if (!delivery_submit(r->delivery, writes, (size_t)n, &err))
        fail_msg("%s", err.msg);
    buf_free(&body);
    free(names);
    free(writes);
}

void rig_set_row(struct rig *r, int id, const char *text)
{
    char name[16];

    snprintf(name, sizeof(name), "%d", id);
    pthread_mutex_lock(&r->lock);
    free(text == NULL ? map_remove(r->rows, str_from(name))
                      : map_put(r->rows, str_from(name), mem_copy(text)));
    pthread_mutex_unlock(&r->lock);
}

void rig_set_place(struct rig *r, int id, const char *routing)
{
    char name[16];

    snprintf(name, sizeof(name), "%d", id);
    pthread_mutex_lock(&r->lock);
    free(map_put(r->places, str_from(name), mem_copy(routing)));
    pthread_mutex_unlock(&r->lock);
}

void rig_refresh_at(struct rig *r, int id, uint64_t at_least, const char *routing)
{
    submit(r, id,
           &(struct doc_write){
               .op = DOC_REFRESH, .version = at_least, .routing = str_from(routing)},
           NULL);
}

void rig_leave(struct rig *r, int id, uint64_t version, const char *routing)
{
    submit(r, id,
           &(struct doc_write){.op = DOC_DELETE,
                               .strict = true,
                               .version = version,
                               .routing = str_from(routing)},
           NULL);
}

void rig_use_area(struct rig *r)
{
    static const struct str areas[] = {{"part", 4}};

    r->target->areas = areas;
    r->target->n_areas = 1;
}

void rig_set_part(struct rig *r, int id, const char *text)
{
    char name[16];

    snprintf(name, sizeof(name), "%d", id);
    pthread_mutex_lock(&r->lock);
    free(map_put(r->parts, str_from(name), mem_copy(text)));
    pthread_mutex_unlock(&r->lock);
}

void rig_refresh_area(struct rig *r, int id, uint64_t at_least)
{
    submit(r, id, &(struct doc_write){.op = DOC_REFRESH, .area = 1, .version = at_least}, NULL);
}

static void *push(void *arg)
{
    struct rig_pusher *p = arg;

    for (int i = 0; i < p->n; i++) {
        if (p->text == NULL)
            rig_refresh(p->rig, i, p->at_least);
        else
            rig_index(p->rig, i, 1, p->text);
        __atomic_fetch_add(&p->n_pushed, 1, __ATOMIC_RELAXED);
    }
    return NULL;
}

void rig_push(struct rig *r, struct rig_pusher *p, int n, const char *text)
{
    *p = (struct rig_pusher){.rig = r, .n = n, .text = text};
    p->thread = thread_start("pusher", push, p);
}

void rig_push_refreshes(struct rig *r, struct rig_pusher *p, int n, uint64_t at_least)
{
    *p = (struct rig_pusher){.rig = r, .n = n, .at_least = at_least};
    p->thread = thread_start("pusher", push, p);
}

int rig_pushed(struct rig_pusher *p)
{
    return __atomic_load_n(&p->n_pushed, __ATOMIC_RELAXED);
}

/* --- waiting --- */

uint64_t rig_done(struct rig *r, enum outcome how)
{
    return __atomic_load_n(&r->tickets.done[how], __ATOMIC_RELAXED);
}

#define WAIT_UNTIL(condition)                                \
    do {                                                     \
        const int64_t until_ms_ = clock_mono_ms() + WAIT_MS; \
        while (!(condition)) {                               \
            if (clock_mono_ms() > until_ms_)                 \
                fail_msg("waited in vain: " #condition);     \
            rig_sleep(1);                                    \
        }                                                    \
    } while (0)

void rig_wait_pushed(struct rig_pusher *p)
{
    WAIT_UNTIL(rig_pushed(p) == p->n);
    pthread_join(p->thread, NULL);
}

void rig_set_reach(struct rig *r, uint64_t reach)
{
    pthread_mutex_lock(&r->lock);
    r->reach = reach;
    pthread_mutex_unlock(&r->lock);
}

void rig_wait_done(struct rig *r)
{
    WAIT_UNTIL(all_done(r) == __atomic_load_n(&r->tickets.read, __ATOMIC_RELAXED));
    rig_is_held(r); /* whatever was told under the lock can be looked at now */
}

bool rig_is_held(struct rig *r)
{
    pthread_mutex_lock(&r->lock);

    bool held = r->is_held;

    pthread_mutex_unlock(&r->lock);
    return held;
}

void rig_wait_held(struct rig *r, bool held)
{
    WAIT_UNTIL(rig_is_held(r) == held);
}

void rig_wait_requests(struct rig *r, uint64_t n)
{
    WAIT_UNTIL(fake_search_requests(r->fake) >= n);
}

static size_t cleared(struct rig *r)
{
    pthread_mutex_lock(&r->lock);

    size_t n = r->n_cleared;

    pthread_mutex_unlock(&r->lock);
    return n;
}

void rig_wait_cleared(struct rig *r, size_t n)
{
    WAIT_UNTIL(cleared(r) >= n);
}

static size_t gone(struct rig *r)
{
    pthread_mutex_lock(&r->lock);

    const size_t n = r->n_gone;

    pthread_mutex_unlock(&r->lock);
    return n;
}

void rig_wait_gone(struct rig *r, size_t n)
{
    WAIT_UNTIL(gone(r) >= n);
}

void rig_wait_purged(struct rig *r, size_t n)
{
    WAIT_UNTIL(purged(r) >= n);
}

void rig_wait_queued(struct rig *r, uint64_t n)
{
    WAIT_UNTIL(delivery_status(r->delivery).queued >= n);
}

void rig_wait_blocked(struct rig *r, size_t n_callers)
{
    WAIT_UNTIL(delivery_status(r->delivery).blocked == n_callers);
}

void rig_wait_count(struct rig *r, const char *index, size_t n)
{
    WAIT_UNTIL(fake_search_count(r->fake, index) == n);
}

void rig_check(struct rig *r, int id, uint64_t version, const char *text)
{
    char name[16];
    struct buf found = {0};

    snprintf(name, sizeof(name), "%d", id);

    struct fake_document doc = fake_search_get(r->fake, "orders_v2", name);

    assert_true(doc.found);
    if (version != 0)
        assert_int_equal(doc.version, version);
    if (text != NULL) {
        assert_true(json_find_text(buf_str(&doc.body), "/text", &found));
        assert_string_equal(found.ptr, text);
    }
    buf_free(&found);
    buf_free(&doc.body);
}

void rig_check_parts(struct rig *r, int id, uint64_t version, const char *text,
                     const char *part)
{
    char name[16];
    struct buf found = {0};

    rig_check(r, id, version, text);
    snprintf(name, sizeof(name), "%d", id);

    struct fake_document doc = fake_search_get(r->fake, "orders_v2", name);

    assert_true(json_find_text(buf_str(&doc.body), "/part", &found));
    assert_string_equal(found.ptr, part);
    buf_free(&found);
    buf_free(&doc.body);
}

void rig_check_gone(struct rig *r, int id)
{
    char name[16];

    snprintf(name, sizeof(name), "%d", id);
    assert_false(fake_search_get(r->fake, "orders_v2", name).found);
}

double rig_metric(struct rig *r, const char *series)
{
    struct buf samples = {0}, page = {0};
    const char *at;
    double value;

    delivery_metrics(r->delivery, &samples);
    metric_render(&page, buf_str(&samples));
    at = strstr(page.ptr, series);
    if (at == NULL)
        fail_msg("not in the metrics: %s\n%s", series, page.ptr);
    value = strtod(at + strlen(series), NULL);
    buf_free(&samples);
    buf_free(&page);
    return value;
}

size_t rig_events(struct rig *r, enum delivery_event what)
{
    pthread_mutex_lock(&r->lock);

    const size_t n = r->n_events[what];

    pthread_mutex_unlock(&r->lock);
    return n;
}
