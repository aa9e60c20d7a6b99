#include "config.h"

#include "web/server.h"

#include "src/base/arena.h"
#include "src/base/buf.h"
#include "src/base/log.h"
#include "src/base/magic.h"
#include "src/base/mem.h"
#include "src/base/thread.h"
#include "src/net/unix_path.h"
#include "web/door.h"
#include "web/listen.h"
#include "web/pool.h"
#include "web/request.h"
#include "web/routes.h"
#include "web/wishes.h"

#include <assert.h>
#include <errno.h>
#include <microhttpd.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#define PLACES_MAX        2048
#define PLACES_MIN        16
#define FILES_A_PLACE     2                            /* of each listener */
#define MEMORY_MAX        (2 * HEAD_BYTES_MAX + 16384) /* per connection, in the library */
#define LEAVING_MAX       16 /* connections that the library counts after reporting their end */
#define TIMEOUT_DEFAULT_S 15

/* Calls wait only for others of their lane: each lane has its own threads. */
enum lane {
    LANE_CALLS = 0, /* of the API */
    LANE_PAGE,
    LANE_PROBES, /* /livez, /readyz, /metrics */
    N_LANES,
};

enum listener_kind {
    LISTENER_SOCKET = 0,
    LISTENER_PAGE,
    LISTENER_METRICS,
    N_LISTENERS,
};

struct listener {
    enum listener_kind kind;
    struct server *server;
    struct door *door;
    struct MHD_Daemon *daemon;
    struct buf address; /* of a port */
};

struct server {
    struct api api;
    struct listener listeners[N_LISTENERS];
    struct pool *lanes[N_LANES];
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
    bool refused;  /* res was ready before the body was read */
    bool answered; /* res is ready */
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
    x->req.content_type = head->content_type;
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

static struct str name_user(struct exchange *x, uid_t uid)
{
    char text[32];

    snprintf(text, sizeof(text), "uid %u", (unsigned)uid);
    return arena_copy(x->arena, str_from(text));
}

/* Set the role by the user at the other end of the unix socket. */
static bool check_peer(struct exchange *x)
{
    const uid_t uid = guest_uid(x->guest);

    if (uid == 0 || uid == geteuid()) {
        x->req.role = ROLE_ADMIN;
        x->req.user = name_user(x, uid);
        return true;
    }
    return refuse(x, &(struct response_problem){
                         .status = 403,
                         .code = "not-your-daemon",
                         .detail = STR("this daemon runs as another user, and only that "
                                       "user and root may use its socket"),
                         .fix = STR("run the command with sudo, or as that user")});
}

static bool check_host(struct exchange *x, struct str host)
{
    struct str name = buf_str(&x->listener->address);
    const char *colon = strrchr(name.ptr, ':');

    name.len = (size_t)(colon - name.ptr);
    if (request_host_allowed(host, name))
        return true;
    return refuse(
        x,
        &(struct response_problem){
            .status = 421,
            .detail = STR("this address is served as localhost only"),
            .fix = STR("open it as http://localhost or http://127.0.0.1; a reverse proxy has "
                       "to send one of them as Host")});
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

/*
 * Set the role.  Whatever name an orchestrator uses for the listener of the metrics, Host says
 * nothing there.
 */
static bool check_caller(struct exchange *x, struct str host)
{
    switch (x->listener->kind) {
    case LISTENER_SOCKET: return check_peer(x);
    case LISTENER_PAGE: x->req.role = ROLE_PAGE; return check_host(x, host);
    case LISTENER_METRICS:
    case N_LISTENERS: break;
    }
    x->req.role = ROLE_PROBE;
    return true;
}

static bool admit(struct exchange *x)
{
    const struct head *head = guest_head(x->guest);
    struct err err = {0};

    if (!check_caller(x, head->host))
        return false;
    if (!request_target_parse(&x->req.target, x->arena, str_from(x->target), &err)) {
        response_set_err(&x->res, &err, STR(""));
        return false;
    }
    return check_route(x, head->content_length);
}

/* ---- the call ---- */

static void refuse_busy(struct exchange *x, struct str detail)
{
    refuse(x, &(struct response_problem){.status = 503, .detail = detail});
}

/* Runs on a lane's thread. */
static void run_call(void *item)
{
    struct exchange *x = MAGIC_CAST(exchange, item);

    x->req.body = buf_str(&x->body);
    if (stop_is_set(&x->server->stop))
        refuse_busy(x, STR("the daemon is about to stop"));
    else
        routes_handle(&x->server->api, &x->req, &x->res);
    x->answered = true;
    MHD_resume_connection(x->connection);
}

static struct pool *lane_of(const struct exchange *x)
{
    const enum request_role role = x->route->role;

    return x->server->lanes[role == ROLE_PROBE  ? LANE_PROBES
                            : role == ROLE_PAGE ? LANE_PAGE
                                                : LANE_CALLS];
}

/* The body is complete: queue the call. */
static enum MHD_Result call(struct exchange *x)
{
    guest_turn(x->guest, GUEST_CALL);
    MHD_suspend_connection(x->connection);
    if (pool_push(lane_of(x), x))
        return MHD_YES;
    refuse_busy(x, STR("too many calls run or wait already"));
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
    struct MHD_Response *r = MHD_create_response_from_buffer(
        res->body.len, res->body.len > 0 ? res->body.ptr : NULL, MHD_RESPMEM_MUST_COPY);

    if (r == NULL)
        return MHD_NO;
    response_each_header(res, add_header, r);

    enum MHD_Result result = MHD_queue_response(x->connection, (unsigned)res->status, r);

    MHD_destroy_response(r);
    return result;
}

static void note(const struct exchange *x)
{
    if (x->req.method == METHOD_GET)
        log_debug("request", KV("method", x->method), KV("target", x->target),
                  KV("status", x->res.status));
    else if (x->listener->kind == LISTENER_SOCKET)
        log_info("request", KV("method", x->method), KV("target", x->target),
                 KV("status", x->res.status), KV("uid", guest_uid(x->guest)));
    else
        log_info("request", KV("method", x->method), KV("target", x->target),
                 KV("status", x->res.status));
}

static enum MHD_Result finish(struct exchange *x)
{
    guest_turn(x->guest, GUEST_ANSWER);
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

/* How many connections each listener may have, by the limit of open files. */
static unsigned choose_places(const struct server_options *opt)
{
    struct rlimit files = {0};

    if (opt->places > 0)
        return opt->places;
    getrlimit(RLIMIT_NOFILE, &files);

    const unsigned listeners = listen_is_off(opt->metrics_listen) ? 2 : 3;
    const rlim_t n = files.rlim_cur / 2 / (FILES_A_PLACE * listeners);

    return n < PLACES_MIN ? PLACES_MIN : n < PLACES_MAX ? (unsigned)n : PLACES_MAX;
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
    const unsigned places = choose_places(opt);
    const struct door_options door = {
        .fd = fd,
        .timeout_s = opt->timeout_s > 0 ? opt->timeout_s : TIMEOUT_DEFAULT_S,
        .places = places,
        .inside_max = 2 * places,
        .enter = on_enter,
        .cls = l,
    };

    l->server = s;
    if (start_loop(l, door.inside_max, err))
        return door_start(&l->door, &door, err);
    close(fd);
    return false;
}

static bool start_page(struct server *s, const struct server_options *opt, struct err *err)
{
    struct listener *l = &s->listeners[LISTENER_PAGE];
    int fd;

    return listen_is_off(opt->listen) ||
           (listen_tcp(&fd, &l->address, LISTEN_PAGE, opt->listen, err) &&
            start(l, s, fd, opt, err));
}

static bool start_metrics(struct server *s, const struct server_options *opt, struct err *err)
{
    struct listener *l = &s->listeners[LISTENER_METRICS];
    int fd;

    return listen_is_off(opt->metrics_listen) ||
           (listen_tcp(&fd, &l->address, LISTEN_METRICS, opt->metrics_listen, err) &&
            start(l, s, fd, opt, err));
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
        [LANE_PAGE] = {"web page", 4, 64, run_call},
        [LANE_PROBES] = {"web probe", 2, 64, run_call},
    };

    stop_init(&s->stop);
    for (int i = 0; i < N_LANES; i++)
        s->lanes[i] = pool_start(&lanes[i]);
}

bool server_start(struct server **out, const struct server_options *opt, struct err *err)
{
    struct server *s = mem_alloc(1, sizeof(*s));

    s->api = opt->api;
    for (int i = 0; i < N_LISTENERS; i++)
        s->listeners[i].kind = (enum listener_kind)i;
    start_lanes(s);
    if (!start_socket(s, opt, err) || !start_page(s, opt, err) || !start_metrics(s, opt, err)) {
        server_stop(s);
        return false;
    }
    s->wishes = wishes_start(&s->api);
    *out = s;
    return true;
}

static void remove_socket(const char *path)
{
    struct unix_path short_path;
    struct err err;

    if (!unix_path_open(&short_path, path, &err))
        return;
    unlink(short_path.text);
    unix_path_close(&short_path);
}

/*
 * Stop accepting first, then wait for every call, then let the library leave its connections.
 */
void server_stop(struct server *s)
{
    if (s == NULL)
        return;
    for (int i = 0; i < N_LISTENERS; i++)
        door_stop(s->listeners[i].door);
    stop_set(&s->stop);
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
        remove_socket(s->socket_path.ptr);
    stop_fini(&s->stop);
    buf_free(&s->socket_path);
    free(s);
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
