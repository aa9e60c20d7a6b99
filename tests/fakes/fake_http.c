#include "config.h"

#include "tests/fakes/fake_http.h"

#include "src/base/mem.h"
#include "src/base/thread.h"

#include <arpa/inet.h>
#include <assert.h>
#include <ctype.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/socket.h>
#include <unistd.h>
#include <zlib.h>

#define HEAD_MAX 65536

struct connection {
    struct connection *next;
    struct fake_http *server;
    int fd;
    struct buf in; /* read and not yet used */
};

struct fake_http {
    fake_http_fn handle;
    void *ctx;
    int listen_fd;
    uint16_t port;
    pthread_t acceptor;
    struct stop stop;

    pthread_mutex_t lock;
    pthread_cond_t ended;

    /* All guarded by lock. */
    struct connection *connections;
};

static _Noreturn void die(const char *what)
{
    perror(what);
    abort();
}

/* Read more; false: the other side is gone. */
static bool read_more(struct connection *c)
{
    buf_reserve(&c->in, 256 * 1024);

    ssize_t n = recv(c->fd, c->in.ptr + c->in.len, 256 * 1024, 0);

    if (n <= 0)
        return false;
    c->in.len += (size_t)n;
    return true;
}

static bool send_all(int fd, struct str s)
{
    while (s.len > 0) {
        ssize_t n = send(fd, s.ptr, s.len, MSG_NOSIGNAL);

        if (n <= 0)
            return false;
        s.ptr += n;
        s.len -= (size_t)n;
    }
    return true;
}

/* The value of a header, empty if there is none. */
static struct str header(struct str head, const char *name)
{
    const char *line = memchr(head.ptr, '\n', head.len);

    while (line != NULL) {
        const char *end;

        line++;
        end = memchr(line, '\r', head.len - (size_t)(line - head.ptr));
        if (end == NULL)
            break;
        if ((size_t)(end - line) > strlen(name) && line[strlen(name)] == ':' &&
            strncasecmp(line, name, strlen(name)) == 0) {
            line += strlen(name) + 1;
            while (*line == ' ')
                line++;
            return (struct str){line, (size_t)(end - line)};
        }
        line = end + 1;
    }
    return STR("");
}

static void decode_path(struct buf *out, struct str raw)
{
    for (size_t i = 0; i < raw.len; i++) {
        unsigned c;

        if (raw.ptr[i] == '%' && i + 2 < raw.len && sscanf(raw.ptr + i + 1, "%2x", &c) == 1) {
            buf_append_char(out, (char)c);
            i += 2;
        } else {
            buf_append_char(out, raw.ptr[i]);
        }
    }
}

static void gunzip(struct buf *out, struct str in)
{
    z_stream z = {.next_in = (Bytef *)(uintptr_t)in.ptr, .avail_in = (uInt)in.len};
    int rc = inflateInit2(&z, 15 + 16);

    while (rc == Z_OK) {
        buf_reserve(out, 1 << 20);
        z.next_out = (Bytef *)(out->ptr + out->len);
        z.avail_out = 1 << 20;
        rc = inflate(&z, Z_NO_FLUSH);
        out->len += (1 << 20) - z.avail_out;
    }
    inflateEnd(&z);
}

static const char *reason_of(int status)
{
    return status < 300 ? "OK" : "Refused";
}

/* False: the connection is to be closed. */
static bool send_answer(struct connection *c, const struct fake_http_answer *answer)
{
    const struct linger at_once = {.l_onoff = 1};
    struct buf out = {0};
    size_t len = answer->body.len;
    bool ok;

    switch (answer->end) {
    case FAKE_HTTP_SILENT:
        while (read_more(c))
            buf_clear(&c->in);
        return false;
    case FAKE_HTTP_RESET:
        setsockopt(c->fd, SOL_SOCKET, SO_LINGER, &at_once, sizeof(at_once));
        return false;
    case FAKE_HTTP_CUT: len /= 2; break;
    case FAKE_HTTP_ANSWER: break;
    }
    buf_printf(&out,
               "HTTP/1.1 %d %s\r\nContent-Type: application/json\r\nContent-Length: %zu\r\n",
               answer->status, reason_of(answer->status), answer->body.len);
    buf_append(&out, buf_str(&answer->headers));
    buf_append(&out, STR("\r\n"));
    buf_append(&out, (struct str){answer->body.ptr, len});
    ok = send_all(c->fd, buf_str(&out));
    buf_free(&out);
    return ok && answer->end == FAKE_HTTP_ANSWER;
}

/* Up to the space or the end. */
static struct str word(struct str *s)
{
    const char *space = memchr(s->ptr, ' ', s->len);
    const size_t len = space == NULL ? s->len : (size_t)(space - s->ptr);
    const struct str w = {s->ptr, len};

    s->ptr += len < s->len ? len + 1 : len;
    s->len -= len < s->len ? len + 1 : len;
    return w;
}

static bool answer_one(struct connection *c, struct str head, struct str body)
{
    struct str line = {head.ptr, (size_t)((char *)memchr(head.ptr, '\r', head.len) - head.ptr)};
    struct fake_http_request req = {
        .head = head, .body = body, .sent = body, .method = word(&line)};
    struct fake_http_answer answer = {.status = 200};
    struct str target = word(&line);
    const char *mark = memchr(target.ptr, '?', target.len);
    struct buf path = {0}, plain = {0};
    bool go_on;

    req.query = STR("");
    if (mark != NULL) {
        req.query = (struct str){mark + 1, target.len - (size_t)(mark + 1 - target.ptr)};
        target.len = (size_t)(mark - target.ptr);
    }
    decode_path(&path, target);
    req.path = buf_str(&path);
    if (str_equal(header(head, "Content-Encoding"), STR("gzip"))) {
        gunzip(&plain, body);
        req.body = buf_str(&plain);
    }
    c->server->handle(c->server->ctx, &req, &answer);
    if (str_equal(req.method, STR("HEAD")))
        buf_clear(&answer.body);
    go_on = send_answer(c, &answer);
    buf_free(&path);
    buf_free(&plain);
    buf_free(&answer.headers);
    buf_free(&answer.body);
    return go_on;
}

/* One request and its answer. */
static bool serve(struct connection *c)
{
    const char *end;
    size_t head_len, body_len;

    while ((end = c->in.len == 0 ? NULL : memmem(c->in.ptr, c->in.len, "\r\n\r\n", 4)) == NULL)
        if (c->in.len > HEAD_MAX || !read_more(c))
            return false;
    head_len = (size_t)(end - c->in.ptr) + 4;

    struct str length = header((struct str){c->in.ptr, head_len}, "Content-Length");

    body_len = length.len == 0 ? 0 : strtoul(length.ptr, NULL, 10);
    while (c->in.len < head_len + body_len)
        if (!read_more(c))
            return false;
    if (!answer_one(c, (struct str){c->in.ptr, head_len},
                    (struct str){c->in.ptr + head_len, body_len}))
        return false;
    buf_drop(&c->in, head_len + body_len);
    return true;
}

static void leave(struct connection *c)
{
    struct fake_http *h = c->server;

    pthread_mutex_lock(&h->lock);
    for (struct connection **at = &h->connections; *at != NULL; at = &(*at)->next)
        if (*at == c) {
            *at = c->next;
            break;
        }
    close(c->fd);
    pthread_cond_broadcast(&h->ended);
    pthread_mutex_unlock(&h->lock);
    buf_free(&c->in);
    free(c);
}

static void *run_connection(void *arg)
{
    struct connection *c = arg;

    while (!stop_is_set(&c->server->stop) && serve(c))
        ;
    leave(c);
    return NULL;
}

static void *accept_all(void *arg)
{
    struct fake_http *h = arg;
    const int on = 1;

    for (;;) {
        int fd = accept4(h->listen_fd, NULL, NULL, SOCK_CLOEXEC);

        if (stop_is_set(&h->stop)) {
            if (fd >= 0)
                close(fd);
            return NULL;
        }
        if (fd < 0)
            continue;
        setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));

        struct connection *c = mem_alloc(1, sizeof(*c));

        c->server = h;
        c->fd = fd;
        pthread_mutex_lock(&h->lock);
        c->next = h->connections;
        h->connections = c;
        pthread_mutex_unlock(&h->lock);
        pthread_detach(thread_start("fake_conn", run_connection, c));
    }
}

struct fake_http *fake_http_start(uint16_t port, fake_http_fn handle, void *ctx)
{
    struct fake_http *h = mem_alloc(1, sizeof(*h));
    struct sockaddr_in a = {.sin_family = AF_INET, .sin_port = htons(port)};
    socklen_t len = sizeof(a);
    const int on = 1;

    h->handle = handle;
    h->ctx = ctx;
    stop_init(&h->stop);
    pthread_mutex_init(&h->lock, NULL);
    pthread_cond_init(&h->ended, NULL);
    a.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    h->listen_fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    setsockopt(h->listen_fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on));
    if (h->listen_fd < 0 || bind(h->listen_fd, (struct sockaddr *)&a, sizeof(a)) != 0 ||
        listen(h->listen_fd, 64) != 0 ||
        getsockname(h->listen_fd, (struct sockaddr *)&a, &len) != 0)
        die("fake_http");
    h->port = ntohs(a.sin_port);
    h->acceptor = thread_start("fake_accept", accept_all, h);
    return h;
}

uint16_t fake_http_port(const struct fake_http *h)
{
    return h->port;
}

void fake_http_stop(struct fake_http *h)
{
    stop_set(&h->stop);
    shutdown(h->listen_fd, SHUT_RDWR);
    pthread_join(h->acceptor, NULL);
    pthread_mutex_lock(&h->lock);
    for (struct connection *c = h->connections; c != NULL; c = c->next)
        shutdown(c->fd, SHUT_RDWR);
    while (h->connections != NULL)
        pthread_cond_wait(&h->ended, &h->lock);
    pthread_mutex_unlock(&h->lock);
    close(h->listen_fd);
    stop_fini(&h->stop);
    pthread_cond_destroy(&h->ended);
    pthread_mutex_destroy(&h->lock);
    free(h);
}

bool fake_http_sleep(struct fake_http *h, int64_t ms)
{
    return !stop_wait(&h->stop, ms);
}
