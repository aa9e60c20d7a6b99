#include "config.h"

#include "web/edge/listen.h"

#include "src/base/buf.h"
#include "src/net/unix_path.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#define BACKLOG SOMAXCONN /* a burst of connections keeps nobody out */

union address {
    struct sockaddr any;
    struct sockaddr_in v4;
    struct sockaddr_in6 v6;
    struct sockaddr_un local;
};

/* ---- TCP ---- */

static const struct port_form {
    const char *setting, *example;
    bool is_for_loopback;
} ports[] = {
    [LISTEN_PAGE] = {"listen", "127.0.0.1:7700", true},
    [LISTEN_PAGE_TLS] = {"listen", "127.0.0.1:7700", false},
    [LISTEN_METRICS] = {"metrics.listen", "0.0.0.0:7701", false},
    [LISTEN_WORDS] = {"words.listen", "0.0.0.0:7702", false},
};

/* Split "host:port"; drops the brackets of an IPv6 host. */
static bool split(const char *where, char host[64], uint16_t *port)
{
    const char *colon = strrchr(where, ':');
    char *end = NULL;

    if (colon == NULL || colon == where)
        return false;

    const char *start = where[0] == '[' ? where + 1 : where;
    const char *stop = where[0] == '[' ? colon - 1 : colon;

    if (where[0] == '[' && (stop <= start || *stop != ']'))
        return false;
    if ((size_t)(stop - start) >= 64 || colon[1] < '0' || colon[1] > '9')
        return false;
    memcpy(host, start, (size_t)(stop - start));
    host[stop - start] = '\0';

    unsigned long n = strtoul(colon + 1, &end, 10);

    *port = (uint16_t)n;
    return *end == '\0' && n <= UINT16_MAX;
}

static bool refuse_form(const struct port_form *f, const char *where, struct err *err)
{
    return err_set(err, ERR_REJECT,
                   "%s: \"%.100s\" is neither localhost nor the number of an address, with a "
                   "port; fix: write it as %s",
                   f->setting, where, f->example);
}

static bool parse(union address *a, const struct port_form *f, const char *where,
                  struct err *err)
{
    char host[64];
    uint16_t port;

    memset(a, 0, sizeof(*a));
    if (!split(where, host, &port))
        return refuse_form(f, where, err);
    if (strcmp(host, "localhost") == 0)
        memcpy(host, "127.0.0.1", sizeof("127.0.0.1"));
    if (inet_pton(AF_INET, host, &a->v4.sin_addr) == 1) {
        a->v4.sin_family = AF_INET;
        a->v4.sin_port = htons(port);
        return true;
    }
    if (inet_pton(AF_INET6, host, &a->v6.sin6_addr) == 1) {
        a->v6.sin6_family = AF_INET6;
        a->v6.sin6_port = htons(port);
        return true;
    }
    return refuse_form(f, where, err);
}

static bool is_loopback(const union address *a)
{
    if (a->any.sa_family == AF_INET)
        return ntohl(a->v4.sin_addr.s_addr) >> 24 == 127;
    return IN6_IS_ADDR_LOOPBACK(&a->v6.sin6_addr) != 0;
}

static void format(struct buf *out, const union address *a)
{
    char host[INET6_ADDRSTRLEN];

    if (a->any.sa_family == AF_INET) {
        inet_ntop(AF_INET, &a->v4.sin_addr, host, sizeof(host));
        buf_printf(out, "%s:%u", host, ntohs(a->v4.sin_port));
    } else {
        inet_ntop(AF_INET6, &a->v6.sin6_addr, host, sizeof(host));
        buf_printf(out, "[%s]:%u", host, ntohs(a->v6.sin6_port));
    }
}

static bool tcp_trouble(struct err *err, int number, const struct port_form *f,
                        const char *where)
{
    if (number == EADDRINUSE)
        return err_set_code(err, ERR_REJECT, "errno", number,
                            "%s: %s is taken (ss -ltnp shows by whom); fix: choose another "
                            "port with %s in the configuration",
                            f->setting, where, f->setting);
    return err_set_code(err, ERR_REJECT, "errno", number,
                        "%s: cannot listen on %s: %s; fix: change %s in the configuration",
                        f->setting, where, strerror(number), f->setting);
}

static bool bind_tcp(int fd, union address *a, const struct port_form *f, const char *where,
                     struct err *err)
{
    socklen_t len = a->any.sa_family == AF_INET ? sizeof(a->v4) : sizeof(a->v6);
    int on = 1;

    if (setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on)) == -1 ||
        bind(fd, &a->any, len) == -1 || listen(fd, BACKLOG) == -1 ||
        getsockname(fd, &a->any, &len) == -1)
        return tcp_trouble(err, errno, f, where);
    return true;
}

/* Parse the address, and refuse one that we may not listen on. */
static bool choose(union address *a, const struct port_form *f, const char *where,
                   struct err *err)
{
    if (!parse(a, f, where, err))
        return false;
    if (!f->is_for_loopback || is_loopback(a))
        return true;
    return err_set(
        err, ERR_REJECT,
        "%s: %s can be reached from other machines, and passwords and tokens would "
        "cross the network as they are; fix: set web_tls.cert_file and web_tls.key_file, and "
        "add an admin with `millrace user add NAME --role admin`; or listen on 127.0.0.1, "
        "with a reverse proxy in front; metrics.listen takes any address, for metrics and "
        "health alone",
        f->setting, where);
}

bool listen_is_off(const char *where)
{
    return where == NULL || where[0] == '\0' || strcmp(where, "off") == 0;
}

bool listen_is_loopback(const char *where)
{
    union address a;
    struct err ignored;

    return listen_is_off(where) ||
           (parse(&a, &ports[LISTEN_PAGE], where, &ignored) && is_loopback(&a));
}

bool listen_check(enum listen_port port, const char *where, struct err *err)
{
    union address a;

    return listen_is_off(where) || choose(&a, &ports[port], where, err);
}

bool listen_tcp(int *fd, struct buf *address, enum listen_port port, const char *where,
                struct err *err)
{
    const struct port_form *f = &ports[port];
    union address a;

    if (!choose(&a, f, where, err))
        return false;
    *fd = socket(a.any.sa_family, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (*fd == -1)
        return tcp_trouble(err, errno, f, where);
    if (!bind_tcp(*fd, &a, f, where, err)) {
        close(*fd);
        return false;
    }
    format(address, &a);
    return true;
}

/* ---- unix ---- */

static bool answers(const union address *a)
{
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    bool ok = fd != -1 && connect(fd, &a->any, sizeof(a->local)) == 0;

    if (fd != -1)
        close(fd);
    return ok;
}

/* Remove a socket that an earlier daemon left behind. */
static bool remove_stale(const union address *a, const char *path, struct err *err)
{
    struct stat st;

    if (lstat(a->local.sun_path, &st) == -1)
        return true;
    if (!S_ISSOCK(st.st_mode))
        return err_set(err, ERR_REJECT,
                       "socket: %.300s exists and is not a socket; fix: remove it, or set "
                       "another socket:",
                       path);
    if (answers(a))
        return err_set(err, ERR_REJECT, "another program answers on %.300s", path);
    if (unlink(a->local.sun_path) == -1)
        return err_set_code(err, ERR_REJECT, "errno", errno, "socket %.300s: %s", path,
                            strerror(errno));
    return true;
}

static bool bind_unix(int fd, const union address *a, const char *path, struct err *err)
{
    if (bind(fd, &a->any, sizeof(a->local)) == -1 ||
        chmod(a->local.sun_path, S_IRUSR | S_IWUSR | S_IRGRP | S_IWGRP) == -1 ||
        listen(fd, BACKLOG) == -1)
        return err_set_code(err, ERR_REJECT, "errno", errno, "cannot listen on %.300s: %s",
                            path, strerror(errno));
    return true;
}

bool listen_unix(int *fd, const char *path, struct err *err)
{
    struct unix_path short_path;
    union address a = {.local = {.sun_family = AF_UNIX}};

    if (!unix_path_open(&short_path, path, err))
        return err_wrap(err, "socket");
    memcpy(a.local.sun_path, short_path.text, sizeof(short_path.text));
    *fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

    bool ok = remove_stale(&a, path, err) && bind_unix(*fd, &a, path, err);

    if (!ok && *fd != -1)
        close(*fd);
    unix_path_close(&short_path);
    return ok;
}

void listen_remove(const char *path)
{
    struct unix_path short_path;
    struct err err;

    if (!unix_path_open(&short_path, path, &err))
        return;
    unlink(short_path.text);
    unix_path_close(&short_path);
}
