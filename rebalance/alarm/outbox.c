#include "config.h"

#include "rebalance/alarm/outbox.h"

#include "rebalance/alarm/body.h"
#include "rebalance/doctor/doctor.h"
#include "src/base/backoff.h"
#include "src/base/buf.h"
#include "src/base/clock.h"
#include "src/base/fix.h"
#include "src/base/human.h"
#include "src/base/lock.h"
#include "src/base/log.h"
#include "src/base/mem.h"
#include "src/base/thread.h"
#include "src/format/json.h"
#include "src/metric/metric.h"
#include "src/net/hook.h"

#include <inttypes.h>
#include <stdlib.h>

#define PAUSE_FIRST_MS 1000
#define PAUSE_MAX_MS   300000

struct alarm_receiver {
    struct hook *hook;
    /* The sending thread's. */
    struct buf queue[ALARM_QUEUE_MAX]; /* a ring */
    size_t first, n;
    struct backoff backoff;
    int64_t due_ms;
    /* All guarded by the outbox's lock. */
    size_t n_waiting;
    uint64_t n_lost;  /* dropped since it took the last message */
    int64_t since_ms; /* wall: since when it takes none; 0: it took the last one */
    struct err why;   /* of that */
};

struct alarm_outbox {
    struct alarm_receiver *receivers;
    size_t n;
    const struct stop *stop;
    struct random random;
    struct lock lock;
    uint64_t n_sent, n_failed; /* guarded by lock */
};

struct alarm_outbox *alarm_outbox_new(struct hook *const *hooks, size_t n,
                                      const struct stop *stop)
{
    struct alarm_outbox *o = mem_alloc(1, sizeof(*o));

    lock_init(&o->lock, LOCK_private);
    random_init_system(&o->random);
    o->stop = stop;
    o->receivers = mem_alloc(n, sizeof(*o->receivers));
    o->n = n;
    for (size_t i = 0; i < n; i++) {
        o->receivers[i].hook = hooks[i];
        o->receivers[i].backoff =
            (struct backoff){.base_ms = PAUSE_FIRST_MS, .max_ms = PAUSE_MAX_MS};
    }
    return o;
}

void alarm_outbox_free(struct alarm_outbox *o)
{
    if (o == NULL)
        return;
    for (size_t i = 0; i < o->n; i++) {
        hook_close(o->receivers[i].hook);
        for (size_t k = 0; k < ALARM_QUEUE_MAX; k++)
            buf_free(&o->receivers[i].queue[k]);
    }
    free(o->receivers);
    lock_fini(&o->lock);
    free(o);
}

/* ---- the queues ---- */

static void drop_first(struct alarm_receiver *r)
{
    buf_clear(&r->queue[r->first]);
    r->first = (r->first + 1) % ALARM_QUEUE_MAX;
    r->n--;
}

static void put(struct alarm_outbox *o, struct alarm_receiver *r, struct str body)
{
    const bool is_full = r->n == ALARM_QUEUE_MAX;

    if (is_full)
        drop_first(r);
    buf_append(&r->queue[(r->first + r->n++) % ALARM_QUEUE_MAX], body);
    lock_acquire(&o->lock);
    r->n_waiting = r->n;
    r->n_lost += is_full;
    lock_release(&o->lock);
}

void alarm_outbox_put(struct alarm_outbox *o, struct str body)
{
    for (size_t i = 0; i < o->n; i++)
        put(o, &o->receivers[i], body);
}

int64_t alarm_outbox_due_ms(const struct alarm_outbox *o)
{
    int64_t due_ms = INT64_MAX;

    for (size_t i = 0; i < o->n; i++)
        if (o->receivers[i].n > 0 && o->receivers[i].due_ms < due_ms)
            due_ms = o->receivers[i].due_ms;
    return due_ms;
}

bool alarm_outbox_is_told(const struct alarm_outbox *o)
{
    for (size_t i = 0; i < o->n; i++)
        if (o->receivers[i].n == 0)
            return true;
    return false;
}

size_t alarm_outbox_n(const struct alarm_outbox *o)
{
    return o->n;
}

/* ---- sending ---- */

/* err: why not; ERR_NONE: it was taken. */
static void note(struct alarm_outbox *o, struct alarm_receiver *r, const struct err *err)
{
    const bool is_ok = err->kind == ERR_NONE, is_refused = err->kind == ERR_REJECT;

    lock_acquire(&o->lock);

    const bool was_ok = r->since_ms == 0;

    o->n_sent += is_ok;
    o->n_failed += !is_ok;
    r->n_waiting = r->n;
    r->n_lost = is_ok ? 0 : r->n_lost + is_refused;
    r->why = *err;
    r->since_ms = is_ok ? 0 : was_ok ? clock_wall_ms() : r->since_ms;
    lock_release(&o->lock);
    if (!is_ok && was_ok)
        log_failure(LOG_WARN, err, "an alarm could not be sent",
                    KV("receiver", hook_name(r->hook)));
    else if (is_ok && !was_ok)
        log_info("alarms can be sent again", KV("receiver", hook_name(r->hook)));
}

/* Returns false if the receiver is to be tried again later. */
static bool send_first(struct alarm_outbox *o, struct alarm_receiver *r)
{
    const int64_t wall_ms = clock_wall_ms();
    struct hook_answer answer;
    struct err err = {0};
    struct buf body = {0};

    buf_append(&body, buf_str(&r->queue[r->first]));
    alarm_body_end(&body, wall_ms);

    const bool ok = hook_post(r->hook, buf_str(&body), wall_ms / 1000, &answer, &err);
    const bool is_over = ok || err.kind == ERR_REJECT;

    buf_free(&body);
    if (stop_is_set(o->stop) && !ok)
        return false;
    if (is_over)
        drop_first(r);
    note(o, r, &err);
    if (is_over)
        backoff_reset(&r->backoff);
    else
        r->due_ms = clock_mono_ms() + backoff_next_ms(&r->backoff, &o->random);
    return is_over;
}

void alarm_outbox_send(struct alarm_outbox *o, int64_t now_ms)
{
    for (size_t i = 0; i < o->n; i++) {
        struct alarm_receiver *r = &o->receivers[i];

        if (r->due_ms > now_ms)
            continue;
        while (r->n > 0 && !stop_is_set(o->stop) && send_first(o, r))
            continue;
    }
}

/* ---- a test ---- */

static bool test(const struct alarm_receiver *r, struct str body, struct json_writer *w)
{
    struct hook_answer answer;
    struct err err = {0};
    const bool ok = hook_post(r->hook, body, clock_wall_ms() / 1000, &answer, &err);

    json_open_object(w);
    json_put_cstr(w, STR("receiver"), hook_name(r->hook));
    json_put_bool(w, STR("ok"), ok);
    if (answer.status == 0)
        json_put_null(w, STR("status"));
    else
        json_put_i64(w, STR("status"), answer.status);
    json_put_cstr(w, STR("answer"), answer.text);
    json_put_cstr(w, STR("reason"), err.msg);
    json_close_object(w);
    return ok;
}

void alarm_outbox_test(const struct alarm_outbox *o, struct str body, struct buf *json)
{
    struct buf items = {0};
    struct json_writer list = {.out = &items}, w = {.out = json};
    bool ok = true;

    json_open_array(&list);
    for (size_t i = 0; i < o->n; i++)
        ok = test(&o->receivers[i], body, &list) && ok;
    json_close_array(&list);
    json_open_object(&w);
    json_put_cstr(&w, STR("schema"), "millrace/alarm-test/1");
    json_put_bool(&w, STR("ok"), ok);
    json_put_raw(&w, STR("items"), buf_str(&items));
    json_close_object(&w);
    buf_free(&items);
}

/* ---- what people see ---- */

static void check(const struct alarm_receiver *r, struct doctor_list *l)
{
    struct str why = str_from(r->why.msg);
    const struct str fix = fix_split(&why);
    struct buf message = {0};

    buf_append(&message, STR("no alarm could be sent since "));
    human_time(&message, r->since_ms);
    buf_printf(&message, ": %" STR_FMT "; %zu wait", STR_ARG(why), r->n_waiting);
    if (r->n_lost > 0)
        buf_printf(&message, ", and %" PRIu64 " are lost", r->n_lost);
    doctor_add(l, &(struct doctor_check){
                      .id = STR("alarms.receiver"),
                      .group = STR(ALARM_OBJECT),
                      .status = DOCTOR_WARN,
                      .message = buf_str(&message),
                      .why = STR("nobody hears of what goes wrong meanwhile"),
                      .fix = fix.len > 0 ? fix
                                         : STR("millrace alarm test says what the receiver "
                                               "answers; correct it, or alarms.url")});
    buf_free(&message);
}

void alarm_outbox_check(struct alarm_outbox *o, struct doctor_list *l)
{
    lock_acquire(&o->lock);
    for (size_t i = 0; i < o->n; i++)
        if (o->receivers[i].since_ms != 0)
            check(&o->receivers[i], l);
    lock_release(&o->lock);
}

void alarm_outbox_metrics(struct alarm_outbox *o, struct buf *samples)
{
    lock_acquire(&o->lock);
    metric_put_u64(samples, METRIC_ALARMS_SENT, o->n_sent);
    metric_put_u64(samples, METRIC_ALARMS_FAILED, o->n_failed);
    lock_release(&o->lock);
}
