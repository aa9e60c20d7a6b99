#include "config.h"

#include "web/tls/tls_relay.h"

#include "src/base/clock.h"
#include "src/base/list.h"
#include "src/base/lock.h"
#include "src/base/magic.h"
#include "src/base/mem.h"
#include "src/base/thread.h"
#include "web/tls/tls_keys.h"
#include "web/tls/tls_pipe.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/sockios.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

#define EVENTS_MAX 64
#define TICK_MS    100  /* precision of the time limits */
#define STOP_MS    1000 /* for the rest of the answers */

struct tls_relay {
    enum magic magic;
    unsigned linger_ms, linger_max;
    int epoll, wake;
    pthread_t thread;
    bool running;

    /* Used by the thread only. */
    char *scratch;
    struct link pipes;  /* all of them */
    struct link ending; /* those whose server has ended, the oldest first */
    unsigned n_ending;
    struct link over; /* freed after the turn: its events may still name them */

    /* All guarded by lock. */
    struct lock lock;
    struct tls_keys *keys;
    struct link newcomers;
    bool stop;
};

static struct tls_pipe *pipe_of(struct link *l)
{
    return LIST_ITEM(l, struct tls_pipe, link);
}

static void wake_up(struct tls_relay *r)
{
    const uint64_t one = 1;

    while (write(r->wake, &one, sizeof(one)) == -1 && errno == EINTR)
        ;
}

/* ---- one pipe ---- */

static void end_pipe(struct tls_relay *r, struct tls_pipe *p)
{
    p->phase = TLS_OVER;
    if (link_is_listed(&p->ending)) {
        list_remove(&p->ending);
        r->n_ending--;
    }
    list_remove(&p->link);
    list_push_back(&r->over, &p->link);
}

/* Returns false if the system refuses. */
static bool watch_end(struct tls_relay *r, struct tls_end *e, uint32_t wanted)
{
    struct epoll_event event = {.events = wanted, .data.ptr = e};
    const int how = e->watched == 0 ? EPOLL_CTL_ADD
                    : wanted == 0   ? EPOLL_CTL_DEL
                                    : EPOLL_CTL_MOD;

    if (e->fd == -1 || wanted == e->watched)
        return true;
    e->watched = wanted;
    return epoll_ctl(r->epoll, how, e->fd, &event) == 0;
}

/* That the server ends is always of interest, even while nothing of it has room. */
static bool watch_pipe(struct tls_relay *r, struct tls_pipe *p)
{
    return watch_end(r, &p->client, tls_pipe_awaits_client(p)) &&
           watch_end(r, &p->server,
                     tls_pipe_awaits_server(p) |
                         (link_is_listed(&p->ending) ? 0U : (uint32_t)EPOLLRDHUP));
}

static void note_ending(struct tls_relay *r, struct tls_pipe *p)
{
    if (link_is_listed(&p->ending))
        return;
    p->ended_ms = clock_mono_ms();
    list_push_back(&r->ending, &p->ending);
    r->n_ending++;
}

static void move(struct tls_relay *r, struct tls_pipe *p)
{
    tls_pipe_move(p, r->scratch);
    if (p->server.fd == -1)
        note_ending(r, p);
    if (p->phase == TLS_OVER || !watch_pipe(r, p))
        end_pipe(r, p);
}

static void handle(struct tls_relay *r, const struct epoll_event *event)
{
    struct tls_end *e = event->data.ptr;
    struct tls_pipe *p = e->pipe;

    if (p->phase == TLS_OVER) /* since this turn */
        return;
    if (e == &p->server && (event->events & (EPOLLRDHUP | EPOLLHUP | EPOLLERR)) != 0)
        note_ending(r, p);
    move(r, p);
}

/* ---- the thread ---- */

static void let_in(struct tls_relay *r)
{
    struct link newcomers;
    uint64_t ignored;

    while (read(r->wake, &ignored, sizeof(ignored)) == -1 && errno == EINTR)
        ;
    list_init(&newcomers);
    lock_acquire(&r->lock);
    LIST_EACH(l, &r->newcomers)
    {
        list_remove(l);
        list_push_back(&newcomers, l);
    }
    lock_release(&r->lock);
    LIST_EACH(l, &newcomers)
    {
        list_remove(l);
        list_push_back(&r->pipes, l);
        move(r, pipe_of(l));
    }
}

/* The socket has taken what the client has not, be it only our end. */
static bool has_unsent(int fd)
{
    int n = 0;

    return ioctl(fd, SIOCOUTQ, &n) == 0 && n > 0;
}

/* What the client has not taken would stay in the kernel, and the client would not hear. */
static void reset_client(const struct tls_pipe *p)
{
    const struct linger now = {.l_onoff = 1};

    if (p->phase == TLS_OPEN || p->phase == TLS_FAREWELL || has_unsent(p->client.fd))
        setsockopt(p->client.fd, SOL_SOCKET, SO_LINGER, &now, sizeof(now));
}

static void sweep(struct tls_relay *r)
{
    const int64_t now_ms = clock_mono_ms();

    LIST_EACH(l, &r->ending)
    {
        struct tls_pipe *p = LIST_ITEM(l, struct tls_pipe, ending);

        if (r->n_ending <= r->linger_max && now_ms - p->ended_ms < r->linger_ms)
            break;
        reset_client(p);
        end_pipe(r, p);
    }
    LIST_EACH(l, &r->over)
    {
        list_remove(l);
        tls_pipe_free(pipe_of(l));
    }
}

/* Whether somebody has not taken a whole answer. */
static bool owes(struct tls_relay *r)
{
    bool some = false;

    LIST_EACH(l, &r->pipes)
    some = some || pipe_of(l)->phase == TLS_OPEN || pipe_of(l)->phase == TLS_FAREWELL;
    return some;
}

static bool is_stopped(struct tls_relay *r)
{
    lock_acquire(&r->lock);

    const bool stopped = r->stop;

    lock_release(&r->lock);
    return stopped;
}

static void turn(struct tls_relay *r, const struct epoll_event *events, int n)
{
    bool knock = false;

    for (int i = 0; i < n; i++) {
        if (events[i].data.ptr == NULL)
            knock = true;
        else
            handle(r, &events[i]);
    }
    if (knock)
        let_in(r);
    sweep(r);
}

static void *work(void *arg)
{
    struct tls_relay *r = MAGIC_CAST(tls_relay, arg);
    struct epoll_event events[EVENTS_MAX];
    int64_t until_ms = 0; /* 0: not stopped */

    while (until_ms == 0 || (owes(r) && clock_mono_ms() < until_ms)) {
        const bool has_limit = until_ms != 0 || !list_is_empty(&r->ending);

        turn(r, events, epoll_wait(r->epoll, events, EVENTS_MAX, has_limit ? TICK_MS : -1));
        if (until_ms == 0 && is_stopped(r))
            until_ms = clock_mono_ms() + STOP_MS;
    }
    return NULL;
}

/* ---- starting and stopping ---- */

static bool prepare(struct tls_relay *r, struct err *err)
{
    struct epoll_event wake = {.events = EPOLLIN};

    r->epoll = epoll_create1(EPOLL_CLOEXEC);
    r->wake = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    if (r->epoll != -1 && r->wake != -1 &&
        epoll_ctl(r->epoll, EPOLL_CTL_ADD, r->wake, &wake) == 0)
        return true;
    return err_set_code(err, ERR_REJECT, "errno", errno,
                        "the web server does not start: %s; fix: raise the limit of open files",
                        strerror(errno));
}

bool tls_relay_start(struct tls_relay **out, const struct tls_relay_options *opt,
                     struct err *err)
{
    struct tls_relay *r;

    *out = NULL;
    if (opt->keys == NULL)
        return true;
    r = mem_alloc(1, sizeof(*r));
    *r = (struct tls_relay){.magic = MAGIC_tls_relay,
                            .linger_ms = opt->linger_s * 1000,
                            .linger_max = opt->linger_max,
                            .scratch = mem_alloc(TLS_PIECE_MAX, 1),
                            .keys = tls_keys_ref(opt->keys)};
    lock_init(&r->lock, LOCK_private);
    list_init(&r->pipes);
    list_init(&r->ending);
    list_init(&r->over);
    list_init(&r->newcomers);
    if (!prepare(r, err)) {
        tls_relay_stop(r);
        return false;
    }
    r->running = true;
    r->thread = thread_start("web tls", work, r);
    *out = r;
    return true;
}

static void free_all(struct link *pipes)
{
    LIST_EACH(l, pipes)
    {
        list_remove(l);
        tls_pipe_free(pipe_of(l));
    }
}

void tls_relay_stop(struct tls_relay *r)
{
    if (r == NULL)
        return;
    lock_acquire(&r->lock);
    r->stop = true;
    lock_release(&r->lock);
    if (r->running) {
        wake_up(r);
        pthread_join(r->thread, NULL);
    }
    free_all(&r->newcomers);
    free_all(&r->pipes);
    free_all(&r->over);
    if (r->epoll != -1)
        close(r->epoll);
    if (r->wake != -1)
        close(r->wake);
    tls_keys_unref(r->keys);
    lock_fini(&r->lock);
    free(r->scratch);
    MAGIC_END(tls_relay, r);
    free(r);
}

/* ---- for the door ---- */

int tls_relay_take(struct tls_relay *r, int fd)
{
    int ends[2];

    if (r == NULL)
        return fd;
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, ends) == -1) {
        const int why = errno;

        close(fd);
        errno = why;
        return -1;
    }
    lock_acquire(&r->lock);
    list_push_back(&r->newcomers, &tls_pipe_new(fd, ends[0], tls_keys_ref(r->keys))->link);
    lock_release(&r->lock);
    wake_up(r);
    return ends[1];
}

void tls_relay_use(struct tls_relay *r, struct tls_keys *keys)
{
    lock_acquire(&r->lock);

    struct tls_keys *before = r->keys;

    r->keys = tls_keys_ref(keys);
    lock_release(&r->lock);
    tls_keys_unref(before);
}
