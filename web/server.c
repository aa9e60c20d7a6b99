#include "config.h"

#include "web/server.h"

#include "rebalance/admin/questions.h"
#include "src/base/arena.h"
#include "src/base/buf.h"
#include "src/base/log.h"
#include "src/base/magic.h"
#include "src/base/mem.h"
#include "src/base/thread.h"
#include "web/access/attempts.h"
#include "web/caller.h"
#include "web/door.h"
#include "web/edge/address.h"
#include "web/edge/listen.h"
#include "web/edge/places.h"
#include "web/edge/pool.h"
#include "web/request.h"
#include "web/routes.h"
#include "web/stream/streams.h"
#include "web/wishes.h"

#include <assert.h>
#include <errno.h>
#include <microhttpd.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

#define PLACES_OF_TLS     2 /* a connection of TLS has as many files as three others */
#define MEMORY_MAX        (2 * HEAD_BYTES_MAX + 16384) /* per connection, in the library */
#define LEAVING_MAX       16 /* connections that the library counts after reporting their end */
#define TIMEOUT_DEFAULT_S 15

/* Calls wait only for others of their lane: each lane has its own threads. */
enum lane {
    LANE_CALLS = 0, /* of the API, at the unix socket */
    LANE_PORT,      /* of the API, at the port: nobody there keeps the socket waiting */
    LANE_LOG_INS,   /* they compute, and wait for the store */
    LANE_PAGE,
    LANE_PROBES, /* /livez, /readyz, /metrics */
    LANE_WORDS,
    N_LANES,
};

struct listener {
    enum listener_kind kind;
    struct server *server;
    struct door *door;
    struct MHD_Daemon *daemon;
    struct buf address; /* of a port */
    bool is_open;       /* other machines reach it */
    bool is_tls;
};

struct server {
    struct api api;
    const char *const *hosts; /* borrowed */
    size_t n_hosts;
    bool is_read_only;
    struct listener listeners[N_LISTENERS];
    struct pool *lanes[N_LANES];
    struct streams *streams;
    struct wishes *wishes; /* NULL: nobody else has the store */
    struct stop stop;      /* set: calls that have not begun are refused */
    struct buf socket_path;
};

/*
 * One request, from its head to the end of its answer.
 *
 * @thread the library's, of its listener; a lane's from pool_push() to MHD_resume_connection()
 */
struct exchange {
    enum magic magic;
    struct server *server;
    struct guest *guest;
    struct MHD_Connection *connection;
    struct arena *arena;
    const struct route *route;
    struct request req;
    struct response res;
    struct buf body;
    const char *method, *target; /* as received, for the log */
    const struct listener *listener;
    struct stream *stream; /* NULL: none */
    bool refused;          /* res was ready before the body was read */
    bool answered;         /* res is ready */
};

/* ---- connections ---- */

static bool on_enter(void *cls, int fd, const struct sockaddr *address, socklen_t len)
{
    const struct listener *l = cls;

    return MHD_add_connection(l->daemon, fd, address, len) == MHD_YES;
}

static void on_connection(void *cls, struct MHD_Connection *connection, void **socket_context,
                          enum MHD_ConnectionNotificationCode what)
{
    const struct listener *l = cls;
    const union MHD_ConnectionInfo *info;

    if (what == MHD_CONNECTION_NOTIFY_CLOSED) {
        if (*socket_context != NULL)
            guest_leave(*socket_context);
        *socket_context = NULL;
        return;
    }
    info = MHD_get_connection_info(connection, MHD_CONNECTION_INFO_CONNECTION_FD);
    *socket_context = info != NULL ? door_find(l->door, info->connect_fd) : NULL;
}

static struct exchange *exchange_new(const struct listener *l,
                                     struct MHD_Connection *connection)
{
    const union MHD_ConnectionInfo *info =
        MHD_get_connection_info(connection, MHD_CONNECTION_INFO_SOCKET_CONTEXT);

    if (info == NULL || info->socket_context == NULL)
        return NULL;

    struct exchange *x = mem_alloc(1, sizeof(*x));
    const struct head *head = guest_head(info->socket_context);

    *x = (struct exchange){.magic = MAGIC_exchange,
                           .server = l->server,
                           .guest = info->socket_context,
                           .connection = connection,
                           .listener = l,
                           .arena = arena_new()};
    x->req.method = request_method_parse(head->method);
    x->req.is_head = str_equal(head->method, STR("HEAD"));
    x->req.content_type = head->content_type;
    x->req.if_match = head->if_match;
    x->req.if_none_match = head->if_none_match;
    x->req.accept_encoding = head->accept_encoding;
    x->req.idempotency_key = head->idempotency_key;
    x->req.is_tls = l->is_tls;
    x->req.is_read_only = l->kind == LISTENER_PAGE && l->server->is_read_only;
    x->res.is_strict = x->req.is_tls && !request_host_allowed(head->host, STR(""));
    x->method = arena_copy(x->arena, head->method).ptr;
    x->target = arena_copy(x->arena, head->target).ptr;
    return x;
}

static void on_completed(void *cls, struct MHD_Connection *connection, void **con_cls,
                         enum MHD_RequestTerminationCode how)
{
    (void)cls;
    (void)connection;
    (void)how;
    if (*con_cls == NULL)
        return;

    struct exchange *x = MAGIC_CAST(exchange, *con_cls);

    stream_leave(x->stream);
    arena_free(x->arena);
    buf_free(&x->body);
    buf_free(&x->res.body);
    MAGIC_END(exchange, x);
    free(x);
    *con_cls = NULL;
}

/* ---- before the body ---- */

static bool refuse(struct exchange *x, const struct response_problem *p)
{
    response_set_problem(&x->res, p);
    return false;
}

/* Find the route, and check that it takes a body of the announced length. */
static bool check_route(struct exchange *x, uint64_t length)
{
    struct str args[2];

    x->route = routes_find(&x->req, args, &x->res);
    if (x->route == NULL)
        return false;
    if (length > x->route->body_max)
        return refuse(
            x, &(struct response_problem){.status = 413,
                                          .detail = x->route->body_max == 0
                                                        ? STR("this address takes no body")
                                                        : STR("the body is too large")});
    return true;
}

/* What the caller shows; its texts live in a. */
static struct caller_facts facts_of(const struct exchange *x, struct arena *a)
{
    const struct server *s = x->server;
    struct buf from = {0};
    struct caller_facts f = {.kind = x->listener->kind,
                             .listen_address = buf_str(&x->listener->address),
                             .hosts = s->hosts,
                             .n_hosts = s->n_hosts,
                             .is_open = x->listener->is_open,
                             .is_tls = x->req.is_tls,
                             .uid =
                                 x->listener->kind == LISTENER_SOCKET ? guest_uid(x->guest) : 0,
                             .peer = guest_peer(x->guest),
                             .words = s->api.words,
                             .head = guest_head(x->guest),
                             .coordinator = s->api.coordinator,
                             .arena = a};

    guest_append_address(x->guest, &from);
    f.from = arena_copy(a, buf_str(&from));
    buf_free(&from);
    return f;
}

static bool admit(struct exchange *x)
{
    const struct caller_facts facts = facts_of(x, x->arena);
    const bool is_page = x->listener->kind == LISTENER_PAGE;
    struct str target = str_from(x->target);
    struct err err = {0};

    if (!caller_check(&x->req, &x->res, &facts) ||
        (is_page && !caller_enter(&target, &x->res, x->server->api.prefix)))
        return false;
    if (!request_target_parse(&x->req.target, x->arena, target, &err)) {
        response_set_err(&x->res, &err, STR(""));
        return false;
    }
    return check_route(x, facts.head->content_length);
}

/* ---- the call ---- */

static bool render_status(void *cls, struct buf *json, struct err *err)
{
    return coordinator_status(cls, json, err);
}

/* Whether the caller still is who it was, and may still use the route. */
static bool may_stay(void *cls)
{
    const struct exchange *x = MAGIC_CAST(exchange, cls);
    struct arena *a = arena_new();
    const struct caller_facts facts = facts_of(x, a);
    struct request req = {.method = METHOD_GET};
    struct response res = {0};
    const bool yes = caller_check(&req, &res, &facts) && req.role >= x->route->role &&
                     str_equal(req.user, x->req.user);

    buf_free(&res.body);
    arena_free(a);
    return yes;
}

/* The answer is a stream: begin it. */
static void join_stream(struct exchange *x)
{
    const struct stream_reader reader = {.connection = x->connection,
                                         .fd = guest_fd(x->guest),
                                         .sender = address_sender(guest_peer(x->guest)),
                                         .has = guest_head(x->guest)->last_event_id,
                                         .may_stay = may_stay,
                                         .cls = x};
    struct err err = {0};

    x->stream = streams_join(x->server->streams, &reader, &err);
    if (x->stream == NULL)
        response_set_err(&x->res, &err, STR(""));
}

/* Runs on a lane's thread. */
static void run_call(void *item)
{
    struct exchange *x = MAGIC_CAST(exchange, item);

    x->req.body = buf_str(&x->body);
    if (stop_is_set(&x->server->stop))
        refuse(x, &(struct response_problem){.status = 503,
                                             .detail = STR("the daemon is about to stop")});
    else
        routes_handle(&x->server->api, &x->req, &x->res);
    if (x->res.is_stream && x->res.status == 200 && !x->req.is_head)
        join_stream(x);
    x->answered = true;
    MHD_resume_connection(x->connection);
}

static enum lane lane_of(const struct exchange *x)
{
    if (x->route->role == ROLE_WORDS)
        return LANE_WORDS;
    if (x->route->role == ROLE_PROBE)
        return LANE_PROBES;
    if (x->route->role == ROLE_PAGE)
        return x->route->method == METHOD_GET ? LANE_PAGE : LANE_LOG_INS;
    return x->listener->kind == LISTENER_SOCKET ? LANE_CALLS : LANE_PORT;
}

/* The body is complete: queue the call. */
static enum MHD_Result call(struct exchange *x)
{
    guest_turn(x->guest, GUEST_CALL);
    MHD_suspend_connection(x->connection);
    if (pool_push(x->server->lanes[lane_of(x)], x))
        return MHD_YES;
    refuse(x, &(struct response_problem){.status = 503,
                                         .detail = STR("too many calls run or wait already")});
    x->answered = true;
    MHD_resume_connection(x->connection);
    return MHD_YES;
}

/* ---- the answer ---- */

static void add_header(void *cls, const char *name, const char *value)
{
    MHD_add_response_header(cls, name, value);
}

static enum MHD_Result send_answer(struct exchange *x)
{
    struct response *res = &x->res;
    struct MHD_Response *r = x->stream != NULL
                                 ? stream_answer(x->stream)
                                 : MHD_create_response_from_buffer(
                                       res->body.len, res->body.len > 0 ? res->body.ptr : NULL,
                                       MHD_RESPMEM_MUST_COPY);

    if (r == NULL)
        return MHD_NO;
    response_each_header(res, add_header, r);

    enum MHD_Result result = MHD_queue_response(x->connection, (unsigned)res->status, r);

    MHD_destroy_response(r);
    return result;
}

/* A path with a token is not for the log. */
static void note(const struct exchange *x)
{
    if (x->listener->kind == LISTENER_WORDS)
        log_debug("request for words", KV("method", x->method), KV("address", x->req.from),
                  KV("status", x->res.status));
    else if (x->req.method == METHOD_GET)
        log_debug("request", KV("method", x->method), KV("target", x->target),
                  KV("status", x->res.status));
    else if (x->listener->kind == LISTENER_SOCKET)
        log_info("request", KV("method", x->method), KV("target", x->target),
                 KV("status", x->res.status), KV("uid", guest_uid(x->guest)));
    else
        log_info("request", KV("method", x->method), KV("target", x->target),
                 KV("status", x->res.status), KV("who", x->req.user));
}

static enum MHD_Result finish(struct exchange *x)
{
    guest_turn(x->guest, x->stream != NULL ? GUEST_STREAM : GUEST_ANSWER);
    note(x);
    return send_answer(x);
}

/* ---- what the library calls ---- */

/* Called with the head, with each piece of the body, at the body's end, and after the call. */
static enum MHD_Result on_request(void *cls, struct MHD_Connection *connection, const char *url,
                                  const char *method, const char *http_version,
                                  const char *upload, size_t *upload_len, void **con_cls)
{
    const struct listener *l = cls;
    struct exchange *x;

    (void)url;
    (void)method;
    (void)http_version;
    if (*con_cls == NULL) {
        *con_cls = x = exchange_new(l, connection);
        if (x == NULL)
            return MHD_NO;
        x->refused = !admit(x);
        return x->refused ? finish(x) : MHD_YES;
    }
    x = MAGIC_CAST(exchange, *con_cls);
    if (*upload_len > 0) {
        if (!x->refused) /* its length was checked with the head */
            buf_append(&x->body, (struct str){upload, *upload_len});
        *upload_len = 0;
        return MHD_YES;
    }
    return x->refused || x->answered ? finish(x) : call(x);
}

static void on_trouble(void *cls, const char *fmt, va_list ap) PRINTF_LIKE(2, 0);

static void on_trouble(void *cls, const char *fmt, va_list ap)
{
    char text[256];

    (void)cls;
    vsnprintf(text, sizeof(text), fmt, ap);
    text[strcspn(text, "\r\n")] = '\0';
    log_debug("http library", KV("text", text));
}

/* ---- starting and stopping ---- */

/* How many connections there may be. */
static struct places choose_places(const struct server_options *opt)
{
    const unsigned listeners = 2U + !listen_is_off(opt->metrics_listen) +
                               !listen_is_off(opt->words_listen) +
                               (opt->keys != NULL ? PLACES_OF_TLS : 0U);
    struct places p = places_choose(places_files(), listeners, STREAMS_MAX);

    if (opt->places > 0)
        p.guests = opt->places;
    return p;
}

/*
 * Give the library a connection limit that is never reached: at its limit, version 0.9.75 keeps
 * a lock and loses the connection it was given.
 */
static bool start_loop(struct listener *l, unsigned inside_max, struct err *err)
{
    const unsigned flags = MHD_USE_EPOLL_INTERNAL_THREAD | MHD_USE_NO_LISTEN_SOCKET |
                           MHD_ALLOW_SUSPEND_RESUME | MHD_USE_ITC | MHD_USE_ERROR_LOG;

    l->daemon = MHD_start_daemon(
        flags, 0, NULL, NULL, on_request, l, MHD_OPTION_EXTERNAL_LOGGER, on_trouble, NULL,
        MHD_OPTION_NOTIFY_COMPLETED, on_completed, NULL, MHD_OPTION_NOTIFY_CONNECTION,
        on_connection, l, MHD_OPTION_CONNECTION_LIMIT, inside_max + LEAVING_MAX,
        MHD_OPTION_CONNECTION_MEMORY_LIMIT, (size_t)MEMORY_MAX, MHD_OPTION_STRICT_FOR_CLIENT, 1,
        MHD_OPTION_END);
    if (l->daemon != NULL)
        return true;
    return err_set(err, ERR_REJECT,
                   "the web server does not start: %s; fix: raise the limits of "
                   "threads and open files",
                   strerror(errno));
}

static bool start(struct listener *l, struct server *s, int fd,
                  const struct server_options *opt, struct err *err)
{
    const struct places places = choose_places(opt);
    const struct door_options door = {
        .fd = fd,
        .keys = l->is_tls ? opt->keys : NULL,
        .timeout_s = opt->timeout_s > 0 ? opt->timeout_s : TIMEOUT_DEFAULT_S,
        .places = places.guests,
        .inside_max = 2 * places.guests + places.streams,
        .enter = on_enter,
        .cls = l,
    };

    l->server = s;
    if (start_loop(l, door.inside_max, err))
        return door_start(&l->door, &door, err);
    close(fd);
    return false;
}

static bool start_port(struct server *s, const struct server_options *opt,
                       enum listener_kind kind, struct err *err)
{
    static const enum listen_port ports[N_LISTENERS] = {[LISTENER_PAGE] = LISTEN_PAGE,
                                                        [LISTENER_METRICS] = LISTEN_METRICS,
                                                        [LISTENER_WORDS] = LISTEN_WORDS};
    const char *const where[N_LISTENERS] = {[LISTENER_PAGE] = opt->listen,
                                            [LISTENER_METRICS] = opt->metrics_listen,
                                            [LISTENER_WORDS] = opt->words_listen};
    struct listener *l = &s->listeners[kind];
    int fd;

    if (listen_is_off(where[kind]))
        return true;
    l->is_tls = kind == LISTENER_PAGE && opt->keys != NULL;
    l->is_open = !listen_is_loopback(where[kind]);
    return listen_tcp(&fd, &l->address, l->is_tls ? LISTEN_PAGE_TLS : ports[kind], where[kind],
                      err) &&
           start(l, s, fd, opt, err);
}

static bool start_socket(struct server *s, const struct server_options *opt, struct err *err)
{
    int fd;

    if (!listen_unix(&fd, opt->socket, err))
        return false;
    buf_append(&s->socket_path, str_from(opt->socket));
    return start(&s->listeners[LISTENER_SOCKET], s, fd, opt, err);
}

static void start_lanes(struct server *s)
{
    static const struct pool_options lanes[N_LANES] = {
        [LANE_CALLS] = {"web call", 16, 64, run_call},
        [LANE_PORT] = {"web port", 8, 64, run_call},
        [LANE_LOG_INS] = {"web log-in", 2, 16, run_call},
        [LANE_PAGE] = {"web page", 4, 64, run_call},
        [LANE_PROBES] = {"web probe", 2, 64, run_call},
        [LANE_WORDS] = {"web words", 2, 64, run_call},
    };

    stop_init(&s->stop);
    for (int i = 0; i < N_LANES; i++)
        s->lanes[i] = pool_start(&lanes[i]);
}

bool server_start(struct server **out, const struct server_options *opt, struct err *err)
{
    struct server *s = mem_alloc(1, sizeof(*s));

    s->api = opt->api;
    s->hosts = opt->hosts;
    s->n_hosts = opt->n_hosts;
    s->is_read_only = opt->is_read_only;
    s->api.attempts = attempts_new();
    s->streams = streams_start(&(struct streams_options){choose_places(opt).streams,
                                                         render_status, opt->api.coordinator});
    for (int i = 0; i < N_LISTENERS; i++)
        s->listeners[i].kind = (enum listener_kind)i;
    start_lanes(s);
    assert(listen_is_off(opt->words_listen) || opt->api.words != NULL);
    if (!start_socket(s, opt, err) || !start_port(s, opt, LISTENER_PAGE, err) ||
        !start_port(s, opt, LISTENER_METRICS, err) ||
        !start_port(s, opt, LISTENER_WORDS, err)) {
        server_stop(s);
        return false;
    }
    s->wishes = wishes_start(&s->api);
    *out = s;
    return true;
}

/*
 * Stop accepting first and end the streams, then wait for every call, then let the library
 * leave its connections.
 */
void server_stop(struct server *s)
{
    if (s == NULL)
        return;
    for (int i = 0; i < N_LISTENERS; i++)
        door_stop(s->listeners[i].door);
    stop_set(&s->stop);
    streams_stop(s->streams);
    wishes_stop(s->wishes);
    for (int i = 0; i < N_LANES; i++)
        pool_stop(s->lanes[i]);
    for (int i = 0; i < N_LISTENERS; i++) {
        if (s->listeners[i].daemon != NULL)
            MHD_stop_daemon(s->listeners[i].daemon);
        door_free(s->listeners[i].door);
        buf_free(&s->listeners[i].address);
    }
    for (int i = 0; i < N_LANES; i++)
        pool_free(s->lanes[i]);
    if (s->socket_path.len > 0)
        listen_remove(s->socket_path.ptr);
    streams_free(s->streams);
    attempts_free(s->api.attempts);
    stop_fini(&s->stop);
    buf_free(&s->socket_path);
    free(s);
}

void server_use_keys(struct server *s, struct tls_keys *keys)
{
    door_use_keys(s->listeners[LISTENER_PAGE].door, keys);
}

static const char *address_of(const struct listener *l)
{
    return l->address.len > 0 ? l->address.ptr : "";
}

const char *server_address(const struct server *s)
{
    return address_of(&s->listeners[LISTENER_PAGE]);
}

const char *server_metrics_address(const struct server *s)
{
    return address_of(&s->listeners[LISTENER_METRICS]);
}

const char *server_words_address(const struct server *s)
{
    return address_of(&s->listeners[LISTENER_WORDS]);
}
