#include "config.h"

#include "tests/component/zookeeper_proxy.h"

#include "src/base/base.h"
#include "src/base/bytes.h"
#include "src/base/lock.h"
#include "src/base/mem.h"
#include "src/base/thread.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#define PAIRS_MAX  8
#define PACKET_MAX (128 * 1024)
#define HEARTBEAT  (-2)
#define SYNC       9   /* a request to catch up, which is a sign of life, too */
#define PING_MS    200 /* while answers are held */

struct pair {
    int client, server; /* -1: none */
    bool is_answered;   /* the server gave a session */
    int32_t sync;       /* the number of the last request to catch up */
};

struct proxy {
    uint16_t port, server_port;
    int listener, pipe[2];
    pthread_t thread;
    struct pair pairs[PAIRS_MAX];
    struct lock lock;
    /* All guarded by lock */
    enum proxy_mode mode;
    bool stops, loses_answer;
    unsigned requests, syncs;
    int64_t session;
    char password[16];
};

static int loopback(uint16_t port, struct sockaddr_in *a)
{
    *a = (struct sockaddr_in){.sin_family = AF_INET, .sin_port = htons(port)};
    a->sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    return socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
}

static void drop(struct pair *pair)
{
    if (pair->client >= 0) {
        close(pair->client);
        close(pair->server);
    }
    *pair = (struct pair){.client = -1, .server = -1};
}

static void accept_one(struct proxy *p)
{
    const int client = accept(p->listener, NULL, NULL), on = 1;
    struct sockaddr_in to;
    const int server = loopback(p->server_port, &to);

    for (size_t i = 0; i < PAIRS_MAX; i++)
        if (p->pairs[i].client < 0 && p->mode != PROXY_CUT &&
            connect(server, (struct sockaddr *)&to, sizeof(to)) == 0) {
            p->pairs[i] = (struct pair){.client = client, .server = server};
            setsockopt(client, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
            setsockopt(server, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
            return;
        }
    close(client);
    close(server);
}

/* A length, then a request's or answer's number. 0: there is no more, or it is too large. */
static size_t read_packet(int from, char *bytes)
{
    if (recv(from, bytes, 4, MSG_WAITALL) != 4 || load_be32(bytes) > PACKET_MAX - 4)
        return 0;

    const size_t n = load_be32(bytes);

    return recv(from, bytes + 4, n, MSG_WAITALL) == (ssize_t)n ? n + 4 : 0;
}

static int32_t number_of(const char *bytes)
{
    return (int32_t)load_be32(bytes + 4);
}

static void count_request(struct proxy *p, struct pair *pair, const char *bytes)
{
    if (load_be32(bytes + 8) == SYNC) {
        pair->sync = number_of(bytes);
        p->syncs++;
    } else if (number_of(bytes) != HEARTBEAT) {
        p->requests++;
    }
}

static bool pass_request(struct proxy *p, struct pair *pair)
{
    char bytes[PACKET_MAX];
    const size_t n = read_packet(pair->client, bytes);

    if (n >= 12 && pair->is_answered)
        count_request(p, pair, bytes);
    return n > 0 && write(pair->server, bytes, n) == (ssize_t)n;
}

static bool pass_answer(struct proxy *p, struct pair *pair)
{
    char bytes[PACKET_MAX];
    const size_t n = read_packet(pair->server, bytes);

    if (!pair->is_answered && n >= 40) {
        p->session = (int64_t)load_be64(bytes + 12);
        memcpy(p->password, bytes + 24, sizeof(p->password));
    } else if (p->loses_answer && n >= 8 && number_of(bytes) > 0 &&
               number_of(bytes) != pair->sync) {
        p->loses_answer = false;
        p->mode = PROXY_CUT;
        return false;
    }
    pair->is_answered = true;
    return n > 0 && write(pair->client, bytes, n) == (ssize_t)n;
}

static void forward(struct proxy *p, struct pollfd *polled)
{
    for (size_t i = 0; i < PAIRS_MAX; i++) {
        struct pair *pair = &p->pairs[i];
        const bool from_client = (polled[2 * i].revents & ~POLLNVAL) != 0;
        const bool from_server = (polled[2 * i + 1].revents & ~POLLNVAL) != 0;

        if (pair->client < 0 || p->mode == PROXY_FREEZE)
            continue;
        if (p->mode == PROXY_CUT || (from_client && !pass_request(p, pair)) ||
            (from_server && !pass_answer(p, pair)))
            drop(pair);
    }
}

static void wait_for_bytes(struct proxy *p, struct pollfd *polled, enum proxy_mode mode)
{
    for (size_t i = 0; i < PAIRS_MAX; i++) {
        const struct pair *pair = &p->pairs[i];
        const bool is_frozen = mode == PROXY_FREEZE;
        const bool is_held = mode == PROXY_HOLD && pair->is_answered;

        polled[2 * i] = (struct pollfd){is_frozen ? -1 : pair->client, POLLIN, 0};
        polled[2 * i + 1] =
            (struct pollfd){is_frozen || is_held ? -1 : pair->server, POLLIN, 0};
    }
    polled[2 * PAIRS_MAX] = (struct pollfd){p->listener, POLLIN, 0};
    polled[2 * PAIRS_MAX + 1] = (struct pollfd){p->pipe[0], POLLIN, 0};
    poll(polled, 2 * PAIRS_MAX + 2, mode == PROXY_HOLD ? PING_MS : -1);
}

/* In the client's place, which sends none while it waits for an answer. */
static void ping(struct proxy *p)
{
    static const unsigned char packet[] = {0, 0, 0, 8, 0xff, 0xff, 0xff, 0xfe, 0, 0, 0, 11};

    for (size_t i = 0; i < PAIRS_MAX; i++)
        if (p->pairs[i].is_answered &&
            write(p->pairs[i].server, packet, sizeof(packet)) != sizeof(packet))
            drop(&p->pairs[i]);
}

static void *run(void *arg)
{
    struct proxy *p = arg;
    struct pollfd polled[2 * PAIRS_MAX + 2];
    enum proxy_mode mode = PROXY_PASS;
    bool stops = false;
    char byte;

    while (!stops) {
        wait_for_bytes(p, polled, mode);
        lock_acquire(&p->lock);
        if (polled[2 * PAIRS_MAX + 1].revents != 0 && read(p->pipe[0], &byte, 1) != 1)
            abort();
        if (polled[2 * PAIRS_MAX].revents != 0)
            accept_one(p);
        forward(p, polled);
        mode = p->mode;
        if (mode == PROXY_HOLD)
            ping(p);
        stops = p->stops;
        lock_release(&p->lock);
    }
    return NULL;
}

struct proxy *proxy_start(uint16_t server_port)
{
    struct proxy *p = mem_alloc(1, sizeof(*p));
    struct sockaddr_in own;
    socklen_t len = sizeof(own);

    p->server_port = server_port;
    p->listener = loopback(0, &own);
    for (size_t i = 0; i < PAIRS_MAX; i++)
        p->pairs[i] = (struct pair){.client = -1, .server = -1};
    if (bind(p->listener, (struct sockaddr *)&own, len) != 0 || listen(p->listener, 8) != 0 ||
        getsockname(p->listener, (struct sockaddr *)&own, &len) != 0 || pipe(p->pipe) != 0)
        abort();
    p->port = ntohs(own.sin_port);
    lock_init(&p->lock, LOCK_private);
    p->thread = thread_start("proxy", run, p);
    return p;
}

static void nudge(struct proxy *p)
{
    if (write(p->pipe[1], "", 1) != 1)
        abort();
}

void proxy_stop(struct proxy *p)
{
    lock_acquire(&p->lock);
    p->stops = true;
    lock_release(&p->lock);
    nudge(p);
    pthread_join(p->thread, NULL);
    for (size_t i = 0; i < PAIRS_MAX; i++)
        drop(&p->pairs[i]);
    close(p->listener);
    close(p->pipe[0]);
    close(p->pipe[1]);
    lock_fini(&p->lock);
    free(p);
}

uint16_t proxy_port(const struct proxy *p)
{
    return p->port;
}

void proxy_set(struct proxy *p, enum proxy_mode mode)
{
    lock_acquire(&p->lock);
    p->mode = mode;
    lock_release(&p->lock);
    nudge(p);
}

void proxy_lose_answer(struct proxy *p)
{
    lock_acquire(&p->lock);
    p->loses_answer = true;
    lock_release(&p->lock);
}

unsigned proxy_requests(struct proxy *p)
{
    lock_acquire(&p->lock);

    const unsigned n = p->requests;

    lock_release(&p->lock);
    return n;
}

unsigned proxy_syncs(struct proxy *p)
{
    lock_acquire(&p->lock);

    const unsigned n = p->syncs;

    lock_release(&p->lock);
    return n;
}

int64_t proxy_session(struct proxy *p, char *password)
{
    lock_acquire(&p->lock);
    memcpy(password, p->password, sizeof(p->password));

    const int64_t session = p->session;

    lock_release(&p->lock);
    return session;
}
