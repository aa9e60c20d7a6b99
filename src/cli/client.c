#include "config.h"

#include "src/cli/client.h"

#include "src/base/arena.h"
#include "src/base/mem.h"
#include "src/net/unix_path.h"
#include "web/routes.h"

#include <curl/curl.h>
#include <errno.h>
#include <inttypes.h>
#include <pwd.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#define ANSWER_MAX ((size_t)256 << 20)

struct client {
    const struct api *api; /* without a daemon; else NULL */
    struct unix_path socket;
    CURL *curl;
    unsigned limit_s;  /* of an answer; 0: none */
    char if_match[40]; /* a header's value; empty: none */
};

/* ---- over the socket ---- */

static bool no_entry(const struct unix_path *path, const char *socket, struct err *err)
{
    struct stat st;
    const struct passwd *owner = NULL;

    if (stat(path->text, &st) == 0)
        owner = getpwuid(st.st_uid); /* safe: one thread, and used at once */
    return err_set_code(
        err, ERR_REJECT, "errno", EACCES,
        "permission denied on %.300s: it belongs to the daemon's user%s%s; fix: run "
        "the command as that user or with sudo",
        socket, owner != NULL ? " " : "", owner != NULL ? owner->pw_name : "");
}

/* Try the socket once, to learn why it does not work. */
static bool probe(const struct unix_path *path, const char *socket_path, struct err *err)
{
    struct sockaddr_un a = {.sun_family = AF_UNIX};
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

    memcpy(a.sun_path, path->text, sizeof(a.sun_path));

    bool ok = fd != -1 && connect(fd, (const struct sockaddr *)&a, sizeof(a)) == 0;
    int why = errno;

    if (fd != -1)
        close(fd);
    if (ok)
        return true;
    if (why == EACCES || why == EPERM)
        return no_entry(path, socket_path, err);
    if (why == ENOENT || why == ECONNREFUSED || why == ENOTDIR)
        return err_set_code(err, ERR_STOP, "errno", why, "no daemon listens on %.300s",
                            socket_path);
    return err_set_code(err, ERR_RETRY, "errno", why, "%.300s: %s", socket_path, strerror(why));
}

bool client_connect(struct client **out, const char *socket, struct err *err)
{
    struct client *c = mem_alloc(1, sizeof(*c));

    c->socket.folder_fd = -1;
    if (!unix_path_open(&c->socket, socket, err)) {
        /* If the folder is missing, no daemon can be there. */
        if (err->code == ENOENT)
            err->kind = ERR_STOP;
        client_close(c);
        return false;
    }
    if (!probe(&c->socket, socket, err)) {
        client_close(c);
        return false;
    }
    c->curl = curl_easy_init();
    if (c->curl == NULL) {
        client_close(c);
        return err_set(err, ERR_FATAL, "libcurl does not start");
    }
    *out = c;
    return true;
}

static size_t on_body(char *piece, size_t size, size_t n, void *arg)
{
    struct buf *body = arg;

    if (size * n > ANSWER_MAX - body->len)
        return 0;
    buf_append(body, (struct str){piece, size * n});
    return size * n;
}

static void set_up(struct client *c, enum request_method method, const char *url,
                   struct str body, struct client_answer *answer)
{
    curl_easy_reset(c->curl);
    curl_easy_setopt(c->curl, CURLOPT_UNIX_SOCKET_PATH, c->socket.text);
    curl_easy_setopt(c->curl, CURLOPT_URL, url);
    curl_easy_setopt(c->curl, CURLOPT_CUSTOMREQUEST, request_method_name(method));
    curl_easy_setopt(c->curl, CURLOPT_NOSIGNAL, 1L);
    curl_easy_setopt(c->curl, CURLOPT_CONNECTTIMEOUT, 10L);
    curl_easy_setopt(c->curl, CURLOPT_PROXY, "");
    curl_easy_setopt(c->curl, CURLOPT_PATH_AS_IS, 1L);
    curl_easy_setopt(c->curl, CURLOPT_WRITEFUNCTION, on_body);
    curl_easy_setopt(c->curl, CURLOPT_WRITEDATA, &answer->body);
    curl_easy_setopt(c->curl, CURLOPT_TIMEOUT, (long)c->limit_s);
    if (body.len > 0) {
        curl_easy_setopt(c->curl, CURLOPT_POSTFIELDSIZE_LARGE, (curl_off_t)body.len);
        curl_easy_setopt(c->curl, CURLOPT_POSTFIELDS, body.ptr);
    }
}

static bool call_daemon(struct client *c, enum request_method method, struct str target,
                        struct str body, struct client_answer *answer, struct err *err)
{
    struct curl_slist *headers = curl_slist_append(NULL, "Content-Type: application/json");
    struct buf url = {0};
    long status = 0;

    headers = curl_slist_append(headers, "Expect:");
    if (c->if_match[0] != '\0') {
        char line[64];

        snprintf(line, sizeof(line), "If-Match: %s", c->if_match);
        headers = curl_slist_append(headers, line);
    }
    buf_append(&url, STR("http://localhost"));
    buf_append(&url, target);
    set_up(c, method, url.ptr, body, answer);
    curl_easy_setopt(c->curl, CURLOPT_HTTPHEADER, headers);

    CURLcode code = curl_easy_perform(c->curl);

    curl_easy_getinfo(c->curl, CURLINFO_RESPONSE_CODE, &status);
    answer->status = (int)status;
    curl_slist_free_all(headers);
    buf_free(&url);
    return code == CURLE_OK ||
           err_set_code(err, ERR_RETRY, "curl", (int)code, "the daemon gave no answer: %s",
                        curl_easy_strerror(code));
}

/* ---- without a daemon ---- */

struct client *client_local(const struct api *api)
{
    struct client *c = mem_alloc(1, sizeof(*c));

    c->api = api;
    c->socket.folder_fd = -1;
    return c;
}

static bool call_here(struct client *c, enum request_method method, struct str target,
                      struct str body, struct client_answer *answer, struct err *err)
{
    struct arena *a = arena_new();
    struct request req = {.method = method,
                          .role = ROLE_ADMIN,
                          .content_type = STR("application/json"),
                          .if_match = str_from(c->if_match),
                          .body = body};
    struct response res = {0};
    bool ok = request_target_parse(&req.target, a, target, err);

    if (ok)
        routes_handle(c->api, &req, &res);
    answer->status = res.status;
    answer->body = res.body;
    arena_free(a);
    return ok;
}

/* ---- both ---- */

void client_close(struct client *c)
{
    if (c == NULL)
        return;
    if (c->curl != NULL)
        curl_easy_cleanup(c->curl);
    unix_path_close(&c->socket);
    free(c);
}

void client_limit(struct client *c, unsigned seconds)
{
    c->limit_s = seconds;
}

void client_require(struct client *c, uint64_t revision)
{
    snprintf(c->if_match, sizeof(c->if_match), "\"%" PRIu64 "\"", revision);
}

bool client_call(struct client *c, enum request_method method, struct str target,
                 struct str body, struct client_answer *answer, struct err *err)
{
    *answer = (struct client_answer){0};
    if (c->api != NULL)
        return call_here(c, method, target, body, answer, err);
    return call_daemon(c, method, target, body, answer, err);
}

void client_encode(struct buf *target, struct str text)
{
    static const char plain[] =
        "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-._~";

    for (size_t i = 0; i < text.len; i++) {
        char c = text.ptr[i];

        if (c != '\0' && strchr(plain, c) != NULL)
            buf_append_char(target, c);
        else
            buf_printf(target, "%%%02X", (unsigned char)c);
    }
}
