#include "config.h"

#include "web/door.h"

#include "src/base/arena.h"
#include "src/base/buf.h"
#include "src/base/clock.h"
#include "src/base/list.h"
#include "src/base/lock.h"
#include "src/base/log.h"
#include "src/base/magic.h"
#include "src/base/mem.h"
#include "src/base/thread.h"
#include "web/edge/address.h"
#include "web/request.h"
#include "web/tls/tls_relay.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#define EVENTS_MAX  64
#define ACCEPTS_MAX 64  /* per turn, so that present guests get theirs */
#define TICK_MS     100 /* precision of the time limits */
#define CROWD       "too many connections are waiting"

/* One connection. */
struct guest {
    struct link link;
    struct door *door;
    int fd;           /* our own descriptor, closed by us */
    int library_fd;   /* the library's, for the same connection; -1: at the door */
    uint64_t address; /* of the peer: its IPv4 address or its user id */
    struct sockaddr_storage peer;
    socklen_t peer_len;
    enum guest_phase phase;
    int64_t since_ms; /* start of the phase */
    bool gone;        /* was shut down: the library will leave it soon */
    struct arena *arena;
    struct head head;
};

struct door {
    enum magic magic;
    struct door_options opt;
    struct tls_relay *relay; /* NULL: guests do not encrypt */
    int epoll, wake;
    pthread_t thread;
    bool running;
    char *raw; /* HEAD_BYTES_MAX bytes; used by the thread only */
    bool deaf; /* out of descriptors; used by the thread only */
    int64_t swept_ms;

    /* All guarded by lock. */
    struct lock lock;
    struct link guests; /* oldest first */
    unsigned n_guests;  /* those that hold a place */
    unsigned n_inside;  /* guests the library has, including those that are gone */
    bool stop;
};

static struct guest *guest_of(struct link *l)
{
    return (struct guest *)((char *)l - offsetof(struct guest, link));
}

/* ---- leaving ---- */

/* g is in no list. */
static void dispose(struct guest *g)
{
    close(g->fd);
    if (g->arena != NULL)
        arena_free(g->arena);
    free(g);
}

/* Streams are counted elsewhere (web/stream/streams.h). */
static bool holds_place(const struct guest *g)
{
    return !g->gone && g->phase != GUEST_STREAM;
}

static void unlist(struct door *d, struct guest *g) NEEDS(d->lock)
{
    list_remove(&g->link);
    if (holds_place(g))
        d->n_guests--;
    if (g->library_fd != -1)
        d->n_inside--;
}

static void forget(struct guest *g)
{
    struct door *d = g->door;

    lock_acquire(&d->lock);
    unlist(d, g);
    lock_release(&d->lock);
    dispose(g);
}

/*
 * Free g's place.  A guest at the door moves to `leaving`, and the caller
 * turns it away after unlocking.  For a guest inside, the library sees the connection end and
 * leaves it.
 */
static void free_place(struct door *d, struct guest *g, struct link *leaving) NEEDS(d->lock)
{
    if (g->phase == GUEST_HEAD) {
        unlist(d, g);
        list_push_back(leaving, &g->link);
        return;
    }
    g->gone = true;
    d->n_guests--;
    shutdown(g->fd, SHUT_RDWR);
}

/*
 * Send an answer.  Read pending bytes first: closing a socket with unread bytes would discard
 * the answer.
 */
static void say(int fd, const struct response *res)
{
    struct buf text = {0};
    char unread[4096];

    response_format(&text, res);
    for (int i = 0; i < 64 && recv(fd, unread, sizeof(unread), MSG_DONTWAIT) > 0; i++)
        ;
    if (send(fd, text.ptr, text.len, MSG_DONTWAIT | MSG_NOSIGNAL) > 0)
        shutdown(fd, SHUT_WR);
    buf_free(&text);
}

/* g is in no list. */
static void turn_away(struct guest *g, const struct err *why)
{
    struct response res = {0};

    response_set_err(&res, why, STR(""));
    say(g->fd, &res);
    log_debug("request refused at the door", KV("status", res.status), KV("reason", why->msg));
    buf_free(&res.body);
    dispose(g);
}

static void turn_away_all(struct link *leaving, int status, const char *why)
{
    struct err err = {0};

    err_set_code(&err, status < 500 ? ERR_REJECT : ERR_RETRY, "http", status, "%s", why);
    while (!list_is_empty(leaving)) {
        struct guest *g = guest_of(leaving->next);

        list_remove(&g->link);
        turn_away(g, &err);
    }
}

static void turn_away_crowd(struct link *leaving)
{
    turn_away_all(leaving, 503, CROWD);
}

/* ---- places ---- */

/*
 * Free the place of the oldest guest whose call is not running; address NULL:
 * of any address.  Returns false if there is none.
 */
static bool displace(struct door *d, const uint64_t *address, struct link *leaving)
    NEEDS(d->lock)
{
    for (struct link *l = d->guests.next; l != &d->guests; l = l->next) {
        struct guest *g = guest_of(l);

        if (!holds_place(g) || g->phase == GUEST_CALL ||
            (address != NULL && g->address != *address))
            continue;
        free_place(d, g, leaving);
        return true;
    }
    return false;
}

static unsigned count_of(struct door *d, uint64_t address) NEEDS(d->lock)
{
    unsigned n = 0;

    for (struct link *l = d->guests.next; l != &d->guests; l = l->next)
        n += holds_place(guest_of(l)) && guest_of(l)->address == address;
    return n;
}

/* Make room for one more from address.  Returns false if that is impossible. */
static bool make_room(struct door *d, uint64_t address, struct link *leaving) NEEDS(d->lock)
{
    const unsigned share = d->opt.places / 2;

    if (d->n_guests < share)
        return true; /* so every address is below its share */
    if (d->n_guests >= d->opt.places)
        return displace(d, NULL, leaving);
    return count_of(d, address) < share || displace(d, &address, leaving);
}

/* ---- coming ---- */

static void seat(struct door *d, struct guest *g)
{
    struct epoll_event event = {.events = EPOLLIN | EPOLLRDHUP | EPOLLET, .data.ptr = g};
    struct link leaving;

    list_init(&leaving);
    lock_acquire(&d->lock);
    if (make_room(d, g->address, &leaving) &&
        epoll_ctl(d->epoll, EPOLL_CTL_ADD, g->fd, &event) == 0) {
        list_push_back(&d->guests, &g->link);
        d->n_guests++;
    } else {
        list_push_back(&leaving, &g->link);
    }
    lock_release(&d->lock);
    turn_away_crowd(&leaving);
}

static struct guest *welcome(struct door *d, int fd, const struct sockaddr_storage *peer,
                             socklen_t len)
{
    struct guest *g = mem_alloc(1, sizeof(*g));

    *g = (struct guest){.door = d,
                        .fd = fd,
                        .library_fd = -1,
                        .address = address_number(fd, peer),
                        .peer = *peer,
                        .peer_len = len,
                        .since_ms = clock_mono_ms()};
    return g;
}

static void listen_again(struct door *d, bool yes)
{
    struct epoll_event event = {.events = yes ? EPOLLIN : 0, .data.ptr = d};

    d->deaf = !yes;
    epoll_ctl(d->epoll, EPOLL_CTL_MOD, d->opt.fd, &event);
}

/* Out of descriptors: the oldest guest gives up its own, and the listener pauses a moment. */
static void lack_files(struct door *d)
{
    struct link leaving;

    list_init(&leaving);
    lock_acquire(&d->lock);
    displace(d, NULL, &leaving);
    lock_release(&d->lock);
    turn_away_crowd(&leaving);
    listen_again(d, false);
}

static void let_in(struct door *d)
{
    for (int i = 0; i < ACCEPTS_MAX; i++) {
        struct sockaddr_storage peer = {0};
        socklen_t len = sizeof(peer);
        int fd =
            accept4(d->opt.fd, (struct sockaddr *)&peer, &len, SOCK_CLOEXEC | SOCK_NONBLOCK);

        if (fd != -1)
            fd = tls_relay_take(d->relay, fd);
        if (fd != -1)
            seat(d, welcome(d, fd, &peer, len));
        else if (errno == EMFILE || errno == ENFILE || errno == ENOBUFS || errno == ENOMEM)
            return lack_files(d);
        else if (errno != ECONNABORTED && errno != EINTR)
            return;
    }
}

/* ---- the head ---- */

/* Only the door's thread lets guests in, so free room stays free. */
static bool is_full_inside(struct door *d)
{
    lock_acquire(&d->lock);

    const bool full = d->n_inside >= d->opt.inside_max;

    lock_release(&d->lock);
    return full;
}

/* Mark the connection as the library's from now on; `own` is our descriptor for it. */
static void pass(struct guest *g, const struct head *h, int own)
{
    g->arena = arena_new();
    g->head = head_copy(h, g->arena);
    lock_acquire(&g->door->lock);
    g->library_fd = g->fd;
    g->fd = own;
    g->phase = GUEST_BODY;
    g->since_ms = clock_mono_ms();
    g->door->n_inside++;
    lock_release(&g->door->lock);
}

/* The head is valid: hand the connection to the library. */
static void enter(struct guest *g, const struct head *h)
{
    const struct door_options *opt = &g->door->opt;
    /* g may be freed before enter() returns; what is decrypted comes by a unix socket. */
    const struct sockaddr_storage unix_peer = {.ss_family = AF_UNIX};
    const bool by_relay = g->door->relay != NULL;
    const struct sockaddr_storage peer = by_relay ? unix_peer : g->peer;
    const socklen_t len = by_relay ? sizeof(sa_family_t) : g->peer_len;
    const int fd = g->fd, own = fcntl(fd, F_DUPFD_CLOEXEC, 0);

    if (own == -1) {
        forget(g);
        return;
    }
    epoll_ctl(g->door->epoll, EPOLL_CTL_DEL, fd, NULL);
    pass(g, h, own);
    if (!opt->enter(opt->cls, fd, (const struct sockaddr *)&peer, len))
        forget(g);
}

static void refuse(struct guest *g, const struct err *why)
{
    struct door *d = g->door;

    lock_acquire(&d->lock);
    unlist(d, g);
    lock_release(&d->lock);
    turn_away(g, why);
}

/* The library has not yet left enough of the connections that are gone. */
static void refuse_crowd(struct guest *g)
{
    struct err err = {0};

    err_set_code(&err, ERR_RETRY, "http", 503, CROWD);
    refuse(g, &err);
}

/* Look at what g has sent so far.  ended: no more will come. */
static void look(struct guest *g, bool ended)
{
    ssize_t n = recv(g->fd, g->door->raw, HEAD_BYTES_MAX, MSG_PEEK | MSG_DONTWAIT);
    const bool failed = n == -1 && errno != EAGAIN && errno != EINTR;
    enum head_state state = HEAD_MORE;
    struct head head;
    struct err err = {0};

    if (n > 0)
        state = head_parse(&head, (struct str){g->door->raw, (size_t)n}, &err);
    if (state == HEAD_DONE && is_full_inside(g->door))
        refuse_crowd(g);
    else if (state == HEAD_DONE)
        enter(g, &head);
    else if (state == HEAD_BAD)
        refuse(g, &err);
    else if (ended || n == 0 || failed)
        forget(g);
}

/* ---- the thread ---- */

/* Remove guests whose time is over. */
static void sweep(struct door *d)
{
    const int64_t now_ms = clock_mono_ms();
    struct link leaving;

    if (now_ms - d->swept_ms < TICK_MS)
        return;
    d->swept_ms = now_ms;
    list_init(&leaving);
    lock_acquire(&d->lock);
    for (struct link *l = d->guests.next, *next; l != &d->guests; l = next) {
        struct guest *g = guest_of(l);

        next = l->next;
        if (holds_place(g) && g->phase != GUEST_CALL &&
            now_ms - g->since_ms >= (int64_t)d->opt.timeout_s * 1000)
            free_place(d, g, &leaving);
    }
    lock_release(&d->lock);
    turn_away_all(&leaving, 408, "the request's head did not come in time");
}

static bool goes_on(struct door *d, int *wait_ms)
{
    lock_acquire(&d->lock);

    const bool yes = !d->stop;

    *wait_ms = d->deaf || !list_is_empty(&d->guests) ? TICK_MS : -1;
    lock_release(&d->lock);
    return yes;
}

/*
 * Handle present guests before newcomers: until then, only a guest's own event can end it, so
 * the pointers in `events` stay valid.
 */
static void turn(struct door *d, const struct epoll_event *events, int n)
{
    bool knock = false;

    for (int i = 0; i < n; i++) {
        if (events[i].data.ptr == d)
            knock = true;
        else if (events[i].data.ptr != NULL)
            look(events[i].data.ptr, (events[i].events & (EPOLLRDHUP | EPOLLERR)) != 0);
    }
    if (knock)
        let_in(d);
    sweep(d);
}

static void *watch(void *arg)
{
    struct door *d = MAGIC_CAST(door, arg);
    struct epoll_event events[EVENTS_MAX];
    int wait_ms;

    while (goes_on(d, &wait_ms)) {
        const int n = epoll_wait(d->epoll, events, EVENTS_MAX, wait_ms);

        if (d->deaf)
            listen_again(d, true);
        turn(d, events, n);
    }
    return NULL;
}

/* ---- starting and stopping ---- */

static bool prepare(struct door *d, struct err *err)
{
    struct epoll_event knock = {.events = EPOLLIN, .data.ptr = d}, wake = {.events = EPOLLIN};

    d->epoll = epoll_create1(EPOLL_CLOEXEC);
    d->wake = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    if (d->epoll != -1 && d->wake != -1 &&
        fcntl(d->opt.fd, F_SETFL, fcntl(d->opt.fd, F_GETFL) | O_NONBLOCK) == 0 &&
        epoll_ctl(d->epoll, EPOLL_CTL_ADD, d->opt.fd, &knock) == 0 &&
        epoll_ctl(d->epoll, EPOLL_CTL_ADD, d->wake, &wake) == 0)
        return true;
    return err_set_code(err, ERR_REJECT, "errno", errno,
                        "the web server does not start: %s; fix: raise the limit of open files",
                        strerror(errno));
}

bool door_start(struct door **out, const struct door_options *opt, struct err *err)
{
    const struct tls_relay_options relay = {opt->keys, opt->timeout_s, opt->places};
    struct door *d = mem_alloc(1, sizeof(*d));

    *d = (struct door){.magic = MAGIC_door, .opt = *opt, .raw = mem_alloc(HEAD_BYTES_MAX, 1)};
    lock_init(&d->lock, LOCK_private);
    list_init(&d->guests);
    if (!prepare(d, err) || !tls_relay_start(&d->relay, &relay, err)) {
        door_free(d);
        return false;
    }
    *out = d; /* first: guests may come before this returns */
    d->running = true;
    d->thread = thread_start("web door", watch, d);
    return true;
}

/* The thread has ended. */
static void forget_all(struct door *d, bool at_door_only)
{
    struct link leaving;

    list_init(&leaving);
    lock_acquire(&d->lock);
    for (struct link *l = d->guests.next, *next; l != &d->guests; l = next) {
        next = l->next;
        if (at_door_only && guest_of(l)->phase != GUEST_HEAD)
            continue;
        unlist(d, guest_of(l));
        list_push_back(&leaving, l);
    }
    lock_release(&d->lock);
    while (!list_is_empty(&leaving)) {
        struct guest *g = guest_of(leaving.next);

        list_remove(&g->link);
        dispose(g);
    }
}

void door_stop(struct door *d)
{
    const uint64_t one = 1;

    if (d == NULL || !d->running)
        return;
    lock_acquire(&d->lock);
    d->stop = true;
    lock_release(&d->lock);
    while (write(d->wake, &one, sizeof(one)) == -1 && errno == EINTR)
        ;
    pthread_join(d->thread, NULL);
    d->running = false;
    shutdown(d->opt.fd, SHUT_RDWR);
    forget_all(d, true);
}

void door_free(struct door *d)
{
    if (d == NULL)
        return;
    forget_all(d, false);
    tls_relay_stop(d->relay);
    close(d->opt.fd);
    if (d->epoll != -1)
        close(d->epoll);
    if (d->wake != -1)
        close(d->wake);
    lock_fini(&d->lock);
    free(d->raw);
    MAGIC_END(door, d);
    free(d);
}

void door_use_keys(struct door *d, struct tls_keys *keys)
{
    tls_relay_use(d->relay, keys);
}

/* ---- guests that the library has ---- */

struct guest *door_find(struct door *d, int fd)
{
    struct guest *found = NULL;

    lock_acquire(&d->lock);
    for (struct link *l = d->guests.prev; l != &d->guests && found == NULL; l = l->prev)
        if (guest_of(l)->library_fd == fd)
            found = guest_of(l);
    lock_release(&d->lock);
    return found;
}

const struct head *guest_head(const struct guest *g)
{
    return &g->head;
}

uid_t guest_uid(const struct guest *g)
{
    return (uid_t)g->address;
}

const struct sockaddr_storage *guest_peer(const struct guest *g)
{
    return &g->peer;
}

void guest_append_address(const struct guest *g, struct buf *out)
{
    address_append(out, &g->peer);
}

int guest_fd(const struct guest *g)
{
    return g->fd;
}

void guest_turn(struct guest *g, enum guest_phase phase)
{
    lock_acquire(&g->door->lock);
    if (phase == GUEST_STREAM && holds_place(g))
        g->door->n_guests--;
    g->phase = phase;
    g->since_ms = clock_mono_ms();
    lock_release(&g->door->lock);
}

void guest_leave(struct guest *g)
{
    forget(g);
}
