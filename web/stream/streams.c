#include "config.h"

#include "web/stream/streams.h"

#include "src/base/buf.h"
#include "src/base/clock.h"
#include "src/base/list.h"
#include "src/base/lock.h"
#include "src/base/log.h"
#include "src/base/magic.h"
#include "src/base/mem.h"
#include "src/base/random.h"
#include "src/base/thread.h"
#include "web/stream/feed.h"

#include <microhttpd.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>

#define IDLE_MS     3600000 /* without streams; a new one nudges */
#define BLOCK_BYTES 16384   /* that the library asks for at once */
#define SEND_BYTES  65536   /* that wait in the kernel: old states for a slow reader */

struct stream {
    enum magic magic;
    struct link link;
    struct streams *streams;
    struct stream_reader reader;
    struct feed feed;
    bool paused;      /* the library waits for us */
    bool ended;       /* no more bytes */
    bool cut;         /* the connection was shut down */
    int64_t taken_ms; /* when the connection last took something */
};

struct streams {
    enum magic magic;
    struct streams_options opt;
    struct stop stop; /* nudged by a newcomer */
    pthread_t thread;
    struct str origin; /* begins each id */
    char origin_text[17];

    /* All guarded by lock. */
    struct lock lock;
    struct link list;
    unsigned n;
    bool closed;
    struct feed_state *latest; /* kept when nobody reads: whoever comes back may have it */
    int64_t rendered_ms;       /* INT64_MIN: never */
};

/* ---- the state ---- */

/* The state, unless it is from a time when nobody read. */
static struct feed_state *fresh(struct streams *s, int64_t now_ms) NEEDS(s->lock)
{
    return s->rendered_ms != INT64_MIN && now_ms - s->rendered_ms < 2 * STREAMS_TICK_MS
               ? s->latest
               : NULL;
}

static void keep(struct streams *s, struct str json, int64_t now_ms) NEEDS(s->lock)
{
    struct feed_state *before = s->latest;

    s->rendered_ms = now_ms;
    if (before != NULL && str_equal(feed_state_json(before), json))
        return;
    s->latest = feed_state_new(s->origin, before != NULL ? before->number + 1 : 1, json);
    feed_state_unref(before);
}

/* ---- one stream ---- */

/* The other end has closed, or has said that it sends nothing more. */
static bool is_gone(const struct stream *st)
{
    struct pollfd p = {.fd = st->reader.fd, .events = POLLRDHUP};

    return poll(&p, 1, 0) == 1 && (p.revents & (POLLRDHUP | POLLHUP | POLLERR)) != 0;
}

static void wake(struct streams *s, struct stream *st) NEEDS(s->lock)
{
    (void)s; /* its lock */
    if (!st->paused)
        return;
    st->paused = false;
    st->taken_ms = clock_mono_ms();
    MHD_resume_connection(st->reader.connection);
}

static void look_at(struct streams *s, struct stream *st, int64_t now_ms) NEEDS(s->lock)
{
    if (!st->ended)
        st->ended = is_gone(st) || !st->reader.may_stay(st->reader.cls);

    const int64_t limit_ms = st->ended ? STREAMS_LEAVING_MS : STREAMS_STUCK_MS;

    if (st->ended || feed_has_more(&st->feed, fresh(s, now_ms), now_ms))
        wake(s, st);
    if (st->paused || st->cut || now_ms - st->taken_ms < limit_ms)
        return;
    st->cut = true;
    shutdown(st->reader.fd, SHUT_RDWR);
    log_debug("a stream of status takes nothing any more");
}

/* The connection takes at most max bytes.  @thread the library's */
static ssize_t on_read(void *cls, uint64_t pos, char *out, size_t max)
{
    struct stream *st = MAGIC_CAST(stream, cls);
    struct streams *s = st->streams;
    const int64_t now_ms = clock_mono_ms();
    ssize_t n;

    (void)pos;
    lock_acquire(&s->lock);
    st->taken_ms = now_ms;
    if (st->ended) {
        n = MHD_CONTENT_READER_END_OF_STREAM;
    } else {
        n = (ssize_t)feed_take(&st->feed, fresh(s, now_ms), now_ms, out, max);
        st->paused = n == 0;
        if (st->paused)
            MHD_suspend_connection(st->reader.connection);
    }
    lock_release(&s->lock);
    return n;
}

struct MHD_Response *stream_answer(struct stream *st)
{
    return MHD_create_response_from_callback(MHD_SIZE_UNKNOWN, BLOCK_BYTES, on_read, st, NULL);
}

/* ---- the thread ---- */

/* Render once, and look at each stream. */
static void turn(struct streams *s)
{
    struct buf json = {0};
    struct err err = {0};
    const bool ok = s->opt.render(s->opt.cls, &json, &err);
    const int64_t now_ms = clock_mono_ms();

    if (!ok)
        log_failure(LOG_DEBUG, &err, "the status for the streams is not known");
    lock_acquire(&s->lock);
    if (ok)
        keep(s, buf_str(&json), now_ms);
    LIST_EACH(l, &s->list)
    look_at(s, LIST_ITEM(l, struct stream, link), now_ms);
    lock_release(&s->lock);
    buf_free(&json);
}

/* When the next turn is due. */
static int64_t wait_ms(struct streams *s, int64_t turned_ms)
{
    lock_acquire(&s->lock);

    const bool is_idle = s->n == 0;

    lock_release(&s->lock);
    return is_idle ? IDLE_MS : turned_ms + STREAMS_TICK_MS - clock_mono_ms();
}

static void *watch(void *arg)
{
    struct streams *s = MAGIC_CAST(streams, arg);
    int64_t turned_ms = clock_mono_ms() - STREAMS_TICK_MS, ms;
    uint64_t seen = 0;

    for (;;) {
        while ((ms = wait_ms(s, turned_ms)) > 0)
            if (stop_rest(&s->stop, ms, &seen))
                return NULL;
        if (stop_is_set(&s->stop))
            return NULL;
        turned_ms = clock_mono_ms();
        turn(s);
    }
}

/* ---- who reads ---- */

static unsigned count_of(const struct streams *s, uint64_t sender) NEEDS(s->lock)
{
    unsigned n = 0;

    for (struct link *l = s->list.next; l != &s->list; l = l->next)
        n += LIST_ITEM(l, struct stream, link)->reader.sender == sender;
    return n;
}

static bool has_room(const struct streams *s, uint64_t sender, struct err *err) NEEDS(s->lock)
{
    if (s->closed)
        return err_set_code(err, ERR_RETRY, "http", 503, "the daemon is about to stop");
    if (s->n >= s->opt.max)
        return err_set_code(err, ERR_RETRY, "http", 503,
                            "%u streams of events are open, and there may be no more; fix: "
                            "close pages that nobody looks at",
                            s->n);
    if (count_of(s, sender) < STREAMS_OF_SENDER)
        return true;
    return err_set_code(err, ERR_RETRY, "http", 503,
                        "your address has %d streams of events, and may have no more; fix: "
                        "close pages that nobody looks at",
                        STREAMS_OF_SENDER);
}

struct stream *streams_join(struct streams *s, const struct stream_reader *r, struct err *err)
{
    struct stream *st = mem_alloc(1, sizeof(*st));
    const int64_t now_ms = clock_mono_ms();
    const int send_bytes = SEND_BYTES;

    *st =
        (struct stream){.magic = MAGIC_stream, .streams = s, .reader = *r, .taken_ms = now_ms};
    (void)setsockopt(r->fd, SOL_SOCKET, SO_SNDBUF, &send_bytes, sizeof(send_bytes));
    lock_acquire(&s->lock);

    const bool ok = has_room(s, r->sender, err);
    const bool has_latest = s->latest != NULL && feed_state_is(s->latest, r->has);

    feed_init(&st->feed, has_latest ? s->latest->number : 0, now_ms);
    if (ok) {
        list_push_back(&s->list, &st->link);
        s->n++;
    }
    lock_release(&s->lock);
    if (ok) {
        stop_nudge(&s->stop);
        return st;
    }
    free(st);
    return NULL;
}

void stream_leave(struct stream *st)
{
    if (st == NULL)
        return;

    struct streams *s = st->streams;

    lock_acquire(&s->lock);
    list_remove(&st->link);
    s->n--;
    feed_fini(&st->feed);
    lock_release(&s->lock);
    MAGIC_END(stream, st);
    free(st);
}

/* ---- starting and stopping ---- */

struct streams *streams_start(const struct streams_options *opt)
{
    struct streams *s = mem_alloc(1, sizeof(*s));
    unsigned char origin[8];

    *s = (struct streams){.magic = MAGIC_streams, .opt = *opt, .rendered_ms = INT64_MIN};
    if (s->opt.max == 0)
        s->opt.max = STREAMS_MAX;
    random_bytes(origin, sizeof(origin));
    for (size_t i = 0; i < sizeof(origin); i++)
        snprintf(s->origin_text + 2 * i, 3, "%02x", origin[i]);
    s->origin = str_from(s->origin_text);
    lock_init(&s->lock, LOCK_streams_lock);
    list_init(&s->list);
    stop_init(&s->stop);
    s->thread = thread_start("web stream", watch, s);
    return s;
}

void streams_stop(struct streams *s)
{
    if (s == NULL)
        return;
    stop_set(&s->stop);
    pthread_join(s->thread, NULL);
    lock_acquire(&s->lock);
    s->closed = true;
    LIST_EACH(l, &s->list)
    {
        struct stream *st = LIST_ITEM(l, struct stream, link);

        st->ended = true;
        wake(s, st);
    }
    lock_release(&s->lock);
}

void streams_free(struct streams *s)
{
    if (s == NULL)
        return;
    feed_state_unref(s->latest);
    stop_fini(&s->stop);
    lock_fini(&s->lock);
    MAGIC_END(streams, s);
    free(s);
}
