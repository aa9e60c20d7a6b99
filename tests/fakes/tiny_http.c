#include "config.h"

#include "tests/fakes/tiny_http.h"

#include "src/base/buf.h"
#include "src/base/mem.h"
#include "src/base/thread.h"

#include <arpa/inet.h>
#include <assert.h>
#include <netinet/in.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#define MAX_REQUESTS    1000
#define MAX_CONNECTIONS 1000

struct connection {
    struct tiny_http *server;
    int fd;
    pthread_t thread;
};

struct tiny_http {
    int listener;
    uint16_t port;
    char url[64];
    pthread_t thread;
    const struct tiny_step *steps;
    size_t n_steps;

    pthread_mutex_t lock;
    /* All guarded by lock. */
    struct tiny_request requests[MAX_REQUESTS];
    size_t n_requests;
    struct connection connections[MAX_CONNECTIONS];
    size_t n_connections;
};

/* Read more into b; false at the end of the stream. */
static bool read_more(int fd, struct buf *b)
{
    buf_reserve(b, 65536);

    ssize_t n = recv(fd, b->ptr + b->len, 65536, 0);

    if (n <= 0)
        return false;
    b->len += (size_t)n;
    b->ptr[b->len] = '\0';
    return true;
}

static size_t content_length(const char *head)
{
    const char *field = strcasestr(head, "\r\ncontent-length:");

    return field != NULL ? strtoul(field + strlen("\r\ncontent-length:"), NULL, 10) : 0;
}

static char *copy(const char *bytes, size_t len)
{
    char *text = mem_alloc(len + 1, 1);

    if (len > 0)
        memcpy(text, bytes, len);
    return text;
}

static const struct tiny_step *next_step(struct tiny_http *s, struct tiny_request request)
{
    pthread_mutex_lock(&s->lock);
    assert(s->n_requests < MAX_REQUESTS);

    size_t i = s->n_requests++;

    s->requests[i] = request;
    pthread_mutex_unlock(&s->lock);
    return &s->steps[i < s->n_steps ? i : s->n_steps - 1];
}

static bool will_reset(struct tiny_http *s)
{
    pthread_mutex_lock(&s->lock);

    size_t i = s->n_requests;

    pthread_mutex_unlock(&s->lock);
    return s->steps[i < s->n_steps ? i : s->n_steps - 1].act == TINY_RESET;
}

/* The next request of the connection, out of b, where the beginning of the next may stay. */
static bool take_request(struct tiny_http *s, int fd, struct buf *b,
                         struct tiny_request *request)
{
    char *end;

    while (b->len == 0 || (end = strstr(b->ptr, "\r\n\r\n")) == NULL)
        if (!read_more(fd, b))
            return false;

    size_t head_len = (size_t)(end - b->ptr) + 4;

    request->head = copy(b->ptr, head_len);
    request->body_len = content_length(request->head);
    if (will_reset(s)) {
        while (request->body_len > 0 && b->len == head_len)
            if (!read_more(fd, b))
                break;
        request->body_len = 0;
        request->body = copy("", 0);
        return true;
    }
    while (b->len < head_len + request->body_len) {
        if (!read_more(fd, b)) {
            free(request->head);
            return false;
        }
    }
    request->body = copy(b->ptr + head_len, request->body_len);
    buf_drop(b, head_len + request->body_len);
    return true;
}

static void send_answer(int fd, const struct tiny_step *step,
                        const struct tiny_request *request)
{
    const char *body = step->body != NULL ? step->body : "";
    size_t len = strlen(body);
    bool head_only = strncmp(request->head, "HEAD ", 5) == 0;
    struct buf b = {0};

    buf_printf(&b, "HTTP/1.1 %d Because\r\nContent-Length: %zu\r\n%s\r\n",
               step->status != 0 ? step->status : 200,
               len + (step->act == TINY_PARTIAL ? 10 : 0),
               step->headers != NULL ? step->headers : "");
    if (!head_only)
        buf_append(&b, str_from(body));
    for (size_t sent = 0; sent < b.len;) {
        ssize_t n = send(fd, b.ptr + sent, b.len - sent, MSG_NOSIGNAL);

        if (n <= 0)
            break;
        sent += (size_t)n;
    }
    buf_free(&b);
}

/* Play one step; false: the connection ends. */
static bool play(int fd, const struct tiny_step *step, const struct tiny_request *request)
{
    char byte;

    switch (step->act) {
    case TINY_ANSWER: send_answer(fd, step, request); return true;
    case TINY_CUT: return false;
    case TINY_PARTIAL: send_answer(fd, step, request); return false;
    case TINY_FOREIGN:
        (void)!send(fd,
                    "\x4a\0\0\0\x0a"
                    "8.0.31\0",
                    12, MSG_NOSIGNAL);
        return false;
    case TINY_SILENT:
        while (recv(fd, &byte, 1, 0) > 0)
            ;
        return false;
    case TINY_RESET:
        setsockopt(fd, SOL_SOCKET, SO_LINGER, &(struct linger){1, 0}, sizeof(struct linger));
        return false;
    }
    return false;
}

static void *serve(void *arg)
{
    struct connection *connection = arg;
    struct tiny_http *s = connection->server;
    struct tiny_request request;
    struct buf b = {0};

    while (take_request(s, connection->fd, &b, &request) &&
           play(connection->fd, next_step(s, request), &request))
        ;
    buf_free(&b);

    pthread_mutex_lock(&s->lock);
    close(connection->fd);
    connection->fd = -1;
    pthread_mutex_unlock(&s->lock);
    return NULL;
}

static void *listen_on(void *arg)
{
    struct tiny_http *s = arg;

    for (int fd; (fd = accept(s->listener, NULL, NULL)) >= 0;) {
        pthread_mutex_lock(&s->lock);
        assert(s->n_connections < MAX_CONNECTIONS);

        struct connection *connection = &s->connections[s->n_connections++];

        *connection = (struct connection){s, fd, 0};
        connection->thread = thread_start("tiny-conn", serve, connection);
        pthread_mutex_unlock(&s->lock);
    }
    return NULL;
}

static int bind_any(uint16_t *port)
{
    struct sockaddr_in address = {.sin_family = AF_INET,
                                  .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t len = sizeof(address);
    int fd = socket(AF_INET, SOCK_STREAM, 0);

    if (fd < 0 || bind(fd, (struct sockaddr *)&address, len) != 0 ||
        getsockname(fd, (struct sockaddr *)&address, &len) != 0) {
        perror("tiny_http");
        abort();
    }
    *port = ntohs(address.sin_port);
    return fd;
}

struct tiny_http *tiny_http_start(const struct tiny_step *steps, size_t n)
{
    struct tiny_http *s = mem_alloc(1, sizeof(*s));

    s->steps = steps;
    s->n_steps = n;
    pthread_mutex_init(&s->lock, NULL);
    s->listener = bind_any(&s->port);
    if (listen(s->listener, 100) != 0)
        abort();
    snprintf(s->url, sizeof(s->url), "http://127.0.0.1:%u", s->port);
    s->thread = thread_start("tiny-http", listen_on, s);
    return s;
}

void tiny_http_stop(struct tiny_http *s)
{
    shutdown(s->listener, SHUT_RDWR);
    pthread_join(s->thread, NULL);
    close(s->listener);
    for (size_t i = 0; i < s->n_connections; i++) {
        pthread_mutex_lock(&s->lock);
        if (s->connections[i].fd >= 0)
            shutdown(s->connections[i].fd, SHUT_RDWR);
        pthread_mutex_unlock(&s->lock);
        pthread_join(s->connections[i].thread, NULL);
    }
    for (size_t i = 0; i < s->n_requests; i++) {
        free(s->requests[i].head);
        free(s->requests[i].body);
    }
    pthread_mutex_destroy(&s->lock);
    free(s);
}

uint16_t tiny_http_port(const struct tiny_http *s)
{
    return s->port;
}

const char *tiny_http_url(const struct tiny_http *s)
{
    return s->url;
}

size_t tiny_http_count(struct tiny_http *s)
{
    pthread_mutex_lock(&s->lock);

    size_t n = s->n_requests;

    pthread_mutex_unlock(&s->lock);
    return n;
}

const struct tiny_request *tiny_http_request(struct tiny_http *s, size_t i)
{
    assert(i < tiny_http_count(s));
    return &s->requests[i];
}

size_t tiny_http_connections(struct tiny_http *s)
{
    pthread_mutex_lock(&s->lock);

    size_t n = s->n_connections;

    pthread_mutex_unlock(&s->lock);
    return n;
}

uint16_t tiny_http_unused_port(void)
{
    uint16_t port;

    close(bind_any(&port));
    return port;
}
