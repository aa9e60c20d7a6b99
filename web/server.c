#include "config.h"

#include "web/server.h"

#include "src/base/arena.h"
#include "src/base/buf.h"
#include "src/base/log.h"
#include "src/base/mem.h"
#include "src/base/unix_path.h"
#include "web/listen.h"
#include "web/request.h"
#include "web/routes.h"

#include <assert.h>
#include <errno.h>
#include <microhttpd.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

#define CONNECTIONS_MAX   64
#define HEADER_BYTES_MAX  ((size_t)16 << 10)
#define TIMEOUT_DEFAULT_S 15

/* One of the two listeners. */
struct listener {
    struct server *server;
    struct MHD_Daemon *daemon;
    bool local; /* the unix socket */
};

struct server {
    struct api api;
    struct listener socket, port;
    struct buf socket_path;
    struct buf address; /* of the port */
};

/* One request, from its first line to the end of its answer. */
struct exchange {
    struct arena *arena;
    struct request req;
    struct response res;
    struct buf body;
    size_t body_max;
    uid_t uid;
    const char *method, *target; /* as they came, for the log */
    bool refused;                /* res is ready before the body was read */
};

/* ---- before the body ---- */

static void *on_target(void *cls, const char *target, struct MHD_Connection *connection)
{
    struct exchange *x = mem_alloc(1, sizeof(*x));

    (void)cls;
    (void)connection;
    x->arena = arena_new();
    x->target = arena_copy(x->arena, str_from(target)).ptr;
    return x;
}

static void on_completed(void *cls, struct MHD_Connection *connection, void **con_cls,
                         enum MHD_RequestTerminationCode how)
{
    struct exchange *x = *con_cls;

    (void)cls;
    (void)connection;
    (void)how;
    if (x == NULL)
        return;
    arena_free(x->arena);
    buf_free(&x->body);
    buf_free(&x->res.body);
    free(x);
    *con_cls = NULL;
}

/* Our own percent decoding comes later, segment by segment. */
static size_t leave_escaped(void *cls, struct MHD_Connection *connection, char *text)
{
    (void)cls;
    (void)connection;
    return strlen(text);
}

static struct str header(struct exchange *x, struct MHD_Connection *connection,
                         const char *name)
{
    const char *value = MHD_lookup_connection_value(connection, MHD_HEADER_KIND, name);

    return value != NULL ? arena_copy(x->arena, str_from(value)) : (struct str){NULL, 0};
}

static bool refuse(struct exchange *x, const struct response_problem *p)
{
    response_set_problem(&x->res, p);
    return false;
}

/* The role of whoever is at the other end of the unix socket. */
static bool check_peer(struct exchange *x, struct MHD_Connection *connection)
{
    const union MHD_ConnectionInfo *info =
        MHD_get_connection_info(connection, MHD_CONNECTION_INFO_CONNECTION_FD);
    struct ucred peer;
    socklen_t len = sizeof(peer);

    if (info == NULL ||
        getsockopt(info->connect_fd, SOL_SOCKET, SO_PEERCRED, &peer, &len) == -1)
        return refuse(x, &(struct response_problem){.status = 500,
                                                    .detail = STR("cannot tell who you are")});
    x->uid = peer.uid;
    if (peer.uid == 0 || peer.uid == geteuid()) {
        x->req.role = ROLE_ADMIN;
        return true;
    }
    return refuse(x, &(struct response_problem){
                         .status = 403,
                         .code = "not-your-daemon",
                         .detail = STR("this daemon runs as another user, and only that "
                                       "user and root may use its socket"),
                         .fix = STR("run the command with sudo, or as that user")});
}

static bool check_host(struct exchange *x, const struct server *s, struct str host)
{
    struct str name = buf_str(&s->address);
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

/* Whether the route can take what is announced. */
static bool check_route(struct exchange *x, struct str length)
{
    struct str args[2];
    const struct route *r = routes_find(&x->req, args, &x->res);

    if (r == NULL)
        return false;
    x->body_max = r->body_max;
    if (length.len > 0 && strtoull(length.ptr, NULL, 10) > r->body_max)
        return refuse(x, &(struct response_problem){
                             .status = 413,
                             .detail = r->body_max == 0 ? STR("this address takes no body")
                                                        : STR("the body is too large")});
    return true;
}

static bool admit(struct exchange *x, const struct listener *l,
                  struct MHD_Connection *connection)
{
    struct err err = {0};

    x->req.method = request_method_parse(str_from(x->method));
    x->req.content_type = header(x, connection, MHD_HTTP_HEADER_CONTENT_TYPE);
    if (l->local ? !check_peer(x, connection)
                 : !check_host(x, l->server, header(x, connection, MHD_HTTP_HEADER_HOST)))
        return false;
    if (!request_target_parse(&x->req.target, x->arena, str_from(x->target), &err)) {
        response_set_err(&x->res, &err, STR(""));
        return false;
    }
    return check_route(x, header(x, connection, MHD_HTTP_HEADER_CONTENT_LENGTH));
}

/* ---- the answer ---- */

static void add_policy(struct MHD_Response *r, const struct response *res)
{
    char policy[256];

    snprintf(policy, sizeof(policy),
             "default-src 'none'; %s%s%sbase-uri 'none'; form-action 'none'; "
             "frame-ancestors 'none'",
             res->nonce[0] != '\0' ? "style-src 'nonce-" : "", res->nonce,
             res->nonce[0] != '\0' ? "'; " : "");
    MHD_add_response_header(r, "Content-Security-Policy", policy);
}

static enum MHD_Result send_answer(struct exchange *x, struct MHD_Connection *connection)
{
    struct response *res = &x->res;
    struct MHD_Response *r = MHD_create_response_from_buffer(
        res->body.len, res->body.len > 0 ? res->body.ptr : NULL, MHD_RESPMEM_MUST_COPY);

    if (r == NULL)
        return MHD_NO;
    MHD_add_response_header(r, "Content-Type", res->type);
    MHD_add_response_header(r, "Cache-Control", "no-store");
    MHD_add_response_header(r, "X-Content-Type-Options", "nosniff");
    MHD_add_response_header(r, "Referrer-Policy", "no-referrer");
    MHD_add_response_header(r, "Cross-Origin-Resource-Policy", "same-origin");
    add_policy(r, res);
    if (res->allow != NULL)
        MHD_add_response_header(r, "Allow", res->allow);
    if (res->status == 503)
        MHD_add_response_header(r, "Retry-After", "1");
    if (x->refused)
        MHD_add_response_header(r, "Connection", "close");

    enum MHD_Result result = MHD_queue_response(connection, (unsigned)res->status, r);

    MHD_destroy_response(r);
    return result;
}

static void note(const struct exchange *x)
{
    if (x->req.method == METHOD_GET)
        log_debug("request", KV("method", x->method), KV("target", x->target),
                  KV("status", x->res.status));
    else
        log_info("request", KV("method", x->method), KV("target", x->target),
                 KV("status", x->res.status), KV("uid", x->uid));
}

static enum MHD_Result finish(struct exchange *x, struct MHD_Connection *connection)
{
    note(x);
    return send_answer(x, connection);
}

/* ---- one call of the library ---- */

static void take_body(struct exchange *x, struct str piece)
{
    if (x->refused)
        return;
    if (piece.len <= x->body_max - x->body.len) {
        buf_append(&x->body, piece);
        return;
    }
    x->refused = true;
    refuse(x,
           &(struct response_problem){.status = 413, .detail = STR("the body is too large")});
}

/* Called with the header, then with each piece of the body, then once more at its end. */
static enum MHD_Result on_request(void *cls, struct MHD_Connection *connection, const char *url,
                                  const char *method, const char *http_version,
                                  const char *upload, size_t *upload_len, void **con_cls)
{
    const struct listener *l = cls;
    struct exchange *x = *con_cls;

    (void)url;
    (void)http_version;
    if (x->method == NULL) {
        x->method = arena_copy(x->arena, str_from(method)).ptr;
        x->refused = !admit(x, l, connection);
        return x->refused ? finish(x, connection) : MHD_YES;
    }
    if (*upload_len > 0) {
        take_body(x, (struct str){upload, *upload_len});
        *upload_len = 0;
        return MHD_YES;
    }
    if (!x->refused) {
        x->req.body = buf_str(&x->body);
        routes_handle(&l->server->api, &x->req, &x->res);
    }
    return finish(x, connection);
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

static bool start(struct listener *l, struct server *s, int fd, unsigned timeout_s,
                  struct err *err)
{
    const unsigned flags = MHD_USE_INTERNAL_POLLING_THREAD | MHD_USE_THREAD_PER_CONNECTION |
                           MHD_USE_POLL | MHD_USE_ITC | MHD_USE_ERROR_LOG;

    l->server = s;
    l->daemon = MHD_start_daemon(
        flags, 0, NULL, NULL, on_request, l, MHD_OPTION_EXTERNAL_LOGGER, on_trouble, NULL,
        MHD_OPTION_LISTEN_SOCKET, fd, MHD_OPTION_URI_LOG_CALLBACK, on_target, NULL,
        MHD_OPTION_NOTIFY_COMPLETED, on_completed, NULL, MHD_OPTION_UNESCAPE_CALLBACK,
        leave_escaped, NULL, MHD_OPTION_CONNECTION_LIMIT, (unsigned)CONNECTIONS_MAX,
        MHD_OPTION_CONNECTION_MEMORY_LIMIT, HEADER_BYTES_MAX, MHD_OPTION_CONNECTION_TIMEOUT,
        timeout_s, MHD_OPTION_STRICT_FOR_CLIENT, 1, MHD_OPTION_END);
    if (l->daemon != NULL)
        return true;

    const int why = errno;

    close(fd);
    return err_set(err, ERR_REJECT, "the web server does not start: %s; fix: raise the limits of "
                   "threads and open files", strerror(why));
}

static bool start_port(struct server *s, const struct server_options *opt, unsigned timeout_s,
                       struct err *err)
{
    int fd;

    if (opt->listen == NULL || opt->listen[0] == '\0' || strcmp(opt->listen, "off") == 0)
        return true;
    return listen_tcp(&fd, &s->address, opt->listen, err) &&
           start(&s->port, s, fd, timeout_s, err);
}

static bool start_socket(struct server *s, const struct server_options *opt, unsigned timeout_s,
                         struct err *err)
{
    int fd;

    if (!listen_unix(&fd, opt->socket, err))
        return false;
    buf_append(&s->socket_path, str_from(opt->socket));
    s->socket.local = true;
    return start(&s->socket, s, fd, timeout_s, err);
}

bool server_start(struct server **out, const struct server_options *opt, struct err *err)
{
    unsigned timeout_s = opt->timeout_s > 0 ? opt->timeout_s : TIMEOUT_DEFAULT_S;
    struct server *s = mem_alloc(1, sizeof(*s));

    s->api = opt->api;
    if (!start_socket(s, opt, timeout_s, err) || !start_port(s, opt, timeout_s, err)) {
        server_stop(s);
        return false;
    }
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

void server_stop(struct server *s)
{
    if (s == NULL)
        return;
    if (s->port.daemon != NULL)
        MHD_stop_daemon(s->port.daemon);
    if (s->socket.daemon != NULL)
        MHD_stop_daemon(s->socket.daemon);
    if (s->socket_path.len > 0)
        remove_socket(s->socket_path.ptr);
    buf_free(&s->socket_path);
    buf_free(&s->address);
    free(s);
}

const char *server_address(const struct server *s)
{
    return s->address.len > 0 ? s->address.ptr : "";
}
