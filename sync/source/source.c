#include "config.h"

#include "sync/source/source.h"

#include "src/base/backoff.h"
#include "src/base/buf.h"
#include "src/base/clock.h"
#include "src/base/failpoint.h"
#include "src/base/lock.h"
#include "src/base/log.h"
#include "src/base/magic.h"
#include "src/base/mem.h"
#include "src/base/random.h"
#include "src/base/thread.h"
#include "src/mysql/account.h"
#include "src/mysql/mysql.h"
#include "sync/decode/event.h"
#include "sync/server/server_access.h"
#include "sync/source/handoff.h"
#include "sync/source/transport/transport.h"

#include <assert.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define TYPE_AT          4     /* in the header of an event */
#define COMMITTED_MS     30000 /* how long a semi-synchronous commit waits for its replica */
#define REFUSED_MS       10000 /* a user may fix it meanwhile: privileges, format, password */
#define FAULTS_MAX       3     /* failures at one place before giving up */
#define BACKOFF_FIRST_MS 100
#define REBUILD          "millrace topic reset TOPIC, then millrace index create for its tables"
#define BACKOFF_MAX_MS   15000
#define BLOCK_MIN        ((size_t)4 << 20)

struct source {
    enum magic magic;
    struct source_options opt;
    struct stop stop;
    pthread_t thread;
    bool started;
    struct random random;
    struct backoff backoff;
    struct buf account;                 /* ours, as the server said last */
    uint64_t events, bytes, reconnects; /* atomic */

    struct lock lock;
    pthread_cond_t retried;

    /* All guarded by lock. */
    struct source_status status;
    struct transport *transport;
    bool retry;
    struct err fault; /* from the builder, ERR_NONE: none */
    uint64_t fault_at;
    unsigned faults;
};

struct source *source_new(const struct source_options *opt)
{
    struct source *s = mem_alloc(1, sizeof(*s));

    s->magic = MAGIC_source;
    s->opt = *opt;
    stop_init(&s->stop);
    random_init_system(&s->random);
    s->backoff = (struct backoff){.base_ms = BACKOFF_FIRST_MS, .max_ms = BACKOFF_MAX_MS};
    lock_init(&s->lock, LOCK_private);
    lock_init_cond(&s->retried);
    return s;
}

void source_free(struct source *s)
{
    if (s == NULL)
        return;
    pthread_cond_destroy(&s->retried);
    lock_fini(&s->lock);
    stop_fini(&s->stop);
    buf_free(&s->account);
    MAGIC_END(source, s);
    free(s);
}

const char *source_state_name(enum source_state state)
{
    static const char *const name[] = {
        [SOURCE_CREATED] = "created", [SOURCE_CONNECTING] = "connecting",
        [SOURCE_RUNNING] = "running", [SOURCE_WAITING] = "connecting",
        [SOURCE_FAILED] = "fail",
    };

    return name[state];
}

struct source_status source_status(struct source *s)
{
    lock_acquire(&s->lock);

    struct source_status copy = s->status;

    lock_release(&s->lock);
    copy.events = __atomic_load_n(&s->events, __ATOMIC_RELAXED);
    copy.bytes = __atomic_load_n(&s->bytes, __ATOMIC_RELAXED);
    copy.reconnects = __atomic_load_n(&s->reconnects, __ATOMIC_RELAXED);
    return copy;
}

static void change_state(struct source *s, enum source_state state) NEEDS(s->lock)
{
    s->status.state = state;
    if (state == SOURCE_RUNNING)
        s->status.since_ms = 0;
    else if (s->status.since_ms == 0)
        s->status.since_ms = clock_wall_ms();
}

/* A try that hangs says nothing: until it ends, people see why the last one failed. */
static void set_connecting(struct source *s)
{
    lock_acquire(&s->lock);
    if (s->status.state != SOURCE_WAITING) {
        s->status.why = (struct err){0};
        s->status.fix[0] = '\0';
    }
    change_state(s, SOURCE_CONNECTING);
    lock_release(&s->lock);
}

static void set_state(struct source *s, enum source_state state, const struct err *why,
                      const char *fix)
{
    lock_acquire(&s->lock);
    change_state(s, state);
    s->status.why = why != NULL ? *why : (struct err){0};
    snprintf(s->status.fix, sizeof(s->status.fix), "%s", fix != NULL ? fix : "");
    lock_release(&s->lock);
}

void source_fault(struct source *s, uint64_t at, const struct err *why)
{
    lock_acquire(&s->lock);
    s->faults = s->faults > 0 && s->fault_at == at ? s->faults + 1 : 1;
    s->fault_at = at;
    s->fault = *why;
    if (s->transport != NULL)
        transport_interrupt(s->transport);
    lock_release(&s->lock);
}

void source_note(struct source *s, const struct err *why)
{
    lock_acquire(&s->lock);
    if (s->status.state == SOURCE_RUNNING)
        s->status.why = why != NULL ? *why : (struct err){0};
    lock_release(&s->lock);
}

void source_retry(struct source *s)
{
    lock_acquire(&s->lock);
    s->retry = true;
    s->faults = 0;
    pthread_cond_broadcast(&s->retried);
    lock_release(&s->lock);
}

/* The remedy for each reason of failure; TOPIC stands for the topic's name. */
static const struct advice {
    enum transport_reason reason;
    const char *fix;
} advice[] = {
    {TRANSPORT_AUTH, "correct user, password file or TLS of topic TOPIC, then apply it again"},
    {TRANSPORT_PRIVILEGE, "GRANT REPLICATION SLAVE, REPLICATION CLIENT ON *.* TO "},
    {TRANSPORT_NO_BINLOG,
     "start the server with --log-bin; topic TOPIC then continues by itself"},
    {TRANSPORT_PURGED, REBUILD},
    {TRANSPORT_BEYOND, REBUILD},
    {TRANSPORT_GTID_PURGED, REBUILD},
    {TRANSPORT_BEHIND,
     "let its replication catch up; if these transactions were lost with the server "
     "before: " REBUILD},
    {TRANSPORT_DIVERGED,
     "if the address leads to the wrong server: correct it, then millrace topic resume TOPIC; "
     "otherwise: " REBUILD},
    {TRANSPORT_DUPLICATE_ID,
     "nothing if another node has just taken topic TOPIC; otherwise give it a server_id of its "
     "own (or stop the other client), then millrace topic resume TOPIC"},
    {TRANSPORT_MAX_PACKET, REBUILD},
};

static void append_advice(struct buf *b, const char *text, const char *topic)
{
    for (const char *at; (at = strstr(text, "TOPIC")) != NULL; text = at + strlen("TOPIC")) {
        buf_append(b, (struct str){text, (size_t)(at - text)});
        buf_append(b, str_from(topic));
    }
    buf_append(b, str_from(text));
}

static void describe_fix(const struct source *s, const struct err *why, char *out, size_t cap)
{
    const enum transport_reason reason =
        mysql_err_is_denial(why) ? TRANSPORT_PRIVILEGE : transport_reason_of(why);
    const char *text = why->kind == ERR_FATAL ? REBUILD : NULL;
    struct buf b = {0};

    for (size_t i = 0; i < ARRAY_LEN(advice); i++)
        if (advice[i].reason == reason)
            text = advice[i].fix;
    if (text != NULL)
        append_advice(&b, text, s->opt.topic);
    if (reason == TRANSPORT_PRIVILEGE)
        buf_append(&b, s->account.len > 0 ? buf_str(&s->account) : STR("the topic's user"));
    snprintf(out, cap, "%s", b.ptr != NULL ? b.ptr : "");
    buf_free(&b);
}

static bool connect_and_look(struct source *s, struct mysql_conn **c, struct server_info *info,
                             struct err *err)
{
    if (!mysql_conn_open(c, &s->opt.server->options, err))
        return false;
    buf_clear(&s->account);
    mysql_account_append_known(*c, &s->account);
    if (!server_info_load(*c, info, err) || !server_info_check(info, err))
        return false;
    lock_acquire(&s->lock);
    s->status.server = *info;
    s->status.server_known = true;
    lock_release(&s->lock);
    if (info->server_id == s->opt.server_id)
        return transport_fail(err, TRANSPORT_DUPLICATE_ID,
                              "the server itself has server_id %u, which topic %s uses too",
                              info->server_id, s->opt.topic);
    return s->opt.recognise(s->opt.ctx, *c, info, err);
}

/* Find the log's present end, which is also the start if no start is known. */
static bool find_end(struct source *s, struct mysql_conn *c, struct source_start *start,
                     struct err *err)
{
    struct log_end end;

    if (start->now ? !server_log_end_committed(c, COMMITTED_MS, &s->stop, &end, err)
                   : !server_log_end(c, &end, err))
        return false;
    memcpy(start->end_file, end.file, sizeof(start->end_file));
    start->end_offset = end.offset;
    if (!start->now) {
        free(end.gtids);
        return true;
    }
    memcpy(start->file, end.file, sizeof(start->file));
    start->offset = end.offset;
    free(start->gtids);
    start->gtids = end.gtids;
    return true;
}

/*
 * Check before the dump: it would fail, too, but only on some servers and with vague messages.
 * A log that ends within the last transaction that was read is another one: a read that
 * includes that transaction would wait for ever.
 */
static bool log_has(struct mysql_conn *c, const struct source_start *start, struct err *err)
{
    const uint64_t end = start->read_to > start->offset ? start->read_to : start->offset;
    struct log_backlog backlog;

    if (start->use_gtids)
        return true;
    if (!server_log_backlog(c, str_from(start->file), end, &backlog, err))
        return false;
    return backlog.found || transport_fail(err, TRANSPORT_PURGED,
                                           "the server's log does not hold %s:%llu any more "
                                           "(purged, reset, restored, or lost in a crash)",
                                           start->file, (unsigned long long)end);
}

/* Check for transactions that the server has lost: a read would wait for them for ever. */
static bool has_history(struct mysql_conn *c, const struct source_start *start, struct err *err)
{
    bool known;

    if (start->now || start->gtids == NULL)
        return true;
    if (!server_knows_gtids(c, str_from(start->gtids), &known, err))
        return false;
    return known ||
           transport_fail(err, TRANSPORT_DIVERGED,
                          "the server has not executed all transactions that Millrace read "
                          "from its log: it is not the one that was read before (reset, "
                          "restored, or lost in a crash)");
}

/* A start without a place would skip log silently. */
static bool has_place(const struct source_start *start)
{
    return start->use_gtids || (start->file[0] != '\0' && start->offset >= 4);
}

static bool open_dump(struct source *s, const struct source_start *start,
                      const struct server_info *info, struct transport **t, struct err *err)
{
    assert(has_place(start));

    const struct transport_options opt = {
        .server_id = s->opt.server_id,
        .uuid = s->opt.uuid,
        .identity = info->identity,
        .use_gtid = start->use_gtids,
        .gtid = str_from(start->gtids != NULL ? start->gtids : ""),
        .file = str_from(start->file),
        .offset = start->offset,
        .event_max = s->opt.event_max,
    };

    return transport_open_server(t, &s->opt.server->options, &opt, err);
}

static void set_transport(struct source *s, struct transport *t)
{
    lock_acquire(&s->lock);
    s->transport = t;
    if (t != NULL && (s->fault.kind != ERR_NONE || stop_is_set(&s->stop)))
        transport_interrupt(t);
    lock_release(&s->lock);
}

/* Hand a large event over without a copy. */
static bool hand_over(struct source *s, struct transport *t, struct str event)
{
    char *block = event.len < BLOCK_MIN ? NULL : transport_take(t);

    return block != NULL ? handoff_put_block(s->opt.handoff, event, block)
                         : handoff_put_event(s->opt.handoff, event);
}

/* A heartbeat like the one before tells the builder nothing. */
static bool is_repeated(struct str event, struct buf *heartbeat)
{
    const uint8_t type = event.len < EVENT_HEADER_LEN ? 0 : (uint8_t)event.ptr[TYPE_AT];

    if (type != EVENT_HEARTBEAT && type != EVENT_HEARTBEAT_V2) {
        buf_clear(heartbeat);
        return false;
    }
    if (str_equal(event, buf_str(heartbeat)))
        return true;
    buf_clear(heartbeat);
    buf_append(heartbeat, event);
    return false;
}

static bool pump(struct source *s, struct transport *t, struct err *err)
{
    struct buf heartbeat = {0}; /* the last event, if it was one */
    struct str event;
    bool ok = true;
    int got;

    while (ok && (got = transport_next(t, &event, err)) == 1) {
        __atomic_add_fetch(&s->events, 1, __ATOMIC_RELAXED);
        __atomic_add_fetch(&s->bytes, event.len, __ATOMIC_RELAXED);
        FAILPOINT(event_received);
        ok = is_repeated(event, &heartbeat) || hand_over(s, t, event);
    }
    buf_free(&heartbeat);
    if (!ok)
        return err_set(err, ERR_STOP, "stopping");
    return got == 0 && transport_fail(err, TRANSPORT_LOST, "the server ended the dump");
}

static bool follow(struct source *s, struct source_start *start, struct err *err)
{
    struct mysql_conn *c = NULL;
    struct server_info info;
    struct transport *t = NULL;
    bool ok = connect_and_look(s, &c, &info, err) && find_end(s, c, start, err) &&
              log_has(c, start, err) && has_history(c, start, err);

    mysql_conn_close(c);
    if (!ok || !open_dump(s, start, &info, &t, err))
        return false;
    if (s->opt.begins(s->opt.ctx, start)) {
        log_info("following the binlog", KV("topic", s->opt.topic),
                 KV("server", info.version_text), KV("file", (const char *)start->file),
                 KV("offset", start->offset));
        set_state(s, SOURCE_RUNNING, NULL, NULL);
        set_transport(s, t);
        ok = pump(s, t, err);
        set_transport(s, NULL);
    } else {
        ok = err_set(err, ERR_STOP, "stopping");
    }
    transport_close(t);
    return ok;
}

/*
 * A complaint of the builder outranks the interrupted dump.  *again: the builder repeats its
 * complaint about the same place.
 */
static bool take_fault(struct source *s, struct err *err, bool *again)
{
    lock_acquire(&s->lock);

    const bool faulty = s->fault.kind != ERR_NONE;

    *again = faulty && s->faults > 1;
    if (faulty) {
        *err = s->fault;
        if (err->kind != ERR_RETRY)
            err->kind = s->faults >= FAULTS_MAX ? ERR_FATAL : ERR_RETRY;
        s->fault = (struct err){0};
    }
    lock_release(&s->lock);
    return faulty;
}

/*
 * Give the builder time to reach what it will complain about, and prefer its complaint: at a
 * place inside an event of another log, the server misreads what follows.
 */
static void wait_for_builder(struct source *s)
{
    struct source_start ignored = {0};

    (void)s->opt.where(s->opt.ctx, &ignored);
    free(ignored.gtids);
}

static void wait_for_a_person(struct source *s)
{
    lock_acquire(&s->lock);
    while (!s->retry && !stop_is_set(&s->stop))
        lock_wait(&s->lock, &s->retried);
    s->retry = false;
    lock_release(&s->lock);
}

static void give_up(struct source *s, const struct err *err)
{
    char fix[sizeof(s->status.fix)];

    describe_fix(s, err, fix, sizeof(fix));
    log_failure(LOG_ERROR, err, "the source is stopped", KV("topic", s->opt.topic),
                KV("fix", (const char *)fix));
    set_state(s, SOURCE_FAILED, err, fix);
    wait_for_a_person(s);
}

static void wait_and_retry(struct source *s, const struct err *err)
{
    char fix[sizeof(s->status.fix)];
    const bool refused = err->kind == ERR_REJECT;
    const int64_t ms = refused ? REFUSED_MS : backoff_next_ms(&s->backoff, &s->random);

    describe_fix(s, err, fix, sizeof(fix));
    log_failure(refused ? LOG_ERROR : LOG_WARN, err, "cannot follow the source, trying again",
                KV("topic", s->opt.topic), KV("in_ms", ms));
    set_state(s, SOURCE_WAITING, err, fix);
    stop_wait(&s->stop, ms);
}

static void *source_main(void *arg)
{
    struct source *s = MAGIC_CAST(source, arg);
    while (!stop_is_set(&s->stop)) {
        struct source_start start = {0};
        struct err err = {0};
        bool again;

        if (!s->opt.where(s->opt.ctx, &start))
            break;
        set_connecting(s);

        const uint64_t before = s->events;
        const bool ended = follow(s, &start, &err);

        free(start.gtids);
        if (!ended && err.kind == ERR_FATAL)
            wait_for_builder(s);
        if (!take_fault(s, &err, &again) && (ended || err.kind == ERR_STOP))
            break;
        if (s->events > before + 2 && !again)
            backoff_reset(&s->backoff);
        __atomic_add_fetch(&s->reconnects, 1, __ATOMIC_RELAXED);
        if (err.kind == ERR_FATAL) {
            give_up(s, &err);
        } else if (transport_reason_of(&err) != TRANSPORT_CUT) {
            wait_and_retry(s, &err);
        }
    }
    return NULL;
}

void source_start(struct source *s)
{
    s->started = true;
    s->thread = thread_start("reader", source_main, s);
}

void source_stop(struct source *s)
{
    stop_set(&s->stop);
    lock_acquire(&s->lock);
    if (s->transport != NULL)
        transport_interrupt(s->transport);
    pthread_cond_broadcast(&s->retried);
    lock_release(&s->lock);
    if (s->started)
        pthread_join(s->thread, NULL);
    s->started = false;
}
