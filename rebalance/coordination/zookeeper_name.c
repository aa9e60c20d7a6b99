#include "config.h"

#include "rebalance/coordination/zookeeper_name.h"

#include "rebalance/coordination/coordination_ops.h"
#include "src/base/buf.h"

#include <string.h>

#define NAME_MAX_BYTES 200
#define PATH_MAX_BYTES 500
#define DEFAULT_ROOT   "/search-center"
#define DEFAULT_PORT   "2181"
#define DIGITS         10

static bool is_plain(struct str name)
{
    for (size_t i = 0; i < name.len; i++)
        if (name.ptr[i] <= ' ' || name.ptr[i] > '~' || name.ptr[i] == '/')
            return false;
    return name.len > 0 && !str_equal(name, STR(".")) && !str_equal(name, STR(".."));
}

bool zookeeper_name_check(struct str name, struct err *err)
{
    if (name.len > NAME_MAX_BYTES)
        return err_set(err, ERR_REJECT, "a name of %zu bytes is longer than %d", name.len,
                       NAME_MAX_BYTES);
    if (!is_plain(name))
        return err_set(err, ERR_REJECT,
                       "a name in ZooKeeper has printable ASCII characters only, without \"/\" "
                       "and spaces, and is not \".\" or \"..\"");
    return true;
}

bool zookeeper_name_check_data(struct str data, struct err *err)
{
    return data.len <= COORDINATION_DATA_MAX ||
           err_set(err, ERR_REJECT, "%zu bytes are too much for ZooKeeper: at most %d",
                   data.len, COORDINATION_DATA_MAX);
}

static struct str take_until(struct str *rest, char end)
{
    const char *at = rest->len > 0 ? memchr(rest->ptr, end, rest->len) : NULL;
    const size_t n = at != NULL ? (size_t)(at - rest->ptr) : rest->len;
    const struct str taken = {rest->ptr, n};
    const size_t gone = at != NULL ? n + 1 : n;

    *rest = (struct str){rest->ptr + gone, rest->len - gone};
    return taken;
}

static bool is_port(struct str text)
{
    unsigned port = 0;

    for (size_t i = 0; i < text.len; i++) {
        if (text.ptr[i] < '0' || text.ptr[i] > '9' || text.len > 5)
            return false;
        port = port * 10 + (unsigned)(text.ptr[i] - '0');
    }
    return port > 0 && port <= 65535;
}

/* The client of 3.8 takes no IPv6 address, so a host has no colon. */
static bool add_server(struct str server, struct buf *servers, struct err *err)
{
    struct str port = server;
    const struct str host = take_until(&port, ':');

    if (!is_plain(host) || (host.len < server.len && !is_port(port)))
        return err_set(err, ERR_REJECT,
                       "coordination names the ZooKeeper server \"%" STR_FMT
                       "\"; fix: write host:port, several with commas between them",
                       STR_ARG(server));
    if (servers->len > 0)
        buf_append_char(servers, ',');
    buf_append(servers, server);
    if (host.len == server.len)
        buf_append(servers, STR(":" DEFAULT_PORT));
    return true;
}

static bool check_root(struct str path, struct err *err)
{
    if (path.len > PATH_MAX_BYTES)
        return err_set(err, ERR_REJECT, "coordination has a path of more than %d bytes",
                       PATH_MAX_BYTES);
    for (struct str rest = {path.ptr + 1, path.len - 1}; rest.len > 0;)
        if (!is_plain(take_until(&rest, '/')))
            return err_set(err, ERR_REJECT,
                           "coordination has the path \"%" STR_FMT
                           "\"; fix: write /name or /name/name, as ZooKeeper has it",
                           STR_ARG(path));
    return path.ptr[path.len - 1] != '/' ||
           err_set(err, ERR_REJECT,
                   "coordination has a path that ends in \"/\"; fix: take it away");
}

bool zookeeper_name_address(struct str text, struct buf *servers, struct buf *root,
                            struct err *err)
{
    struct str path = text;
    struct str hosts = take_until(&path, '/');
    const bool has_path = hosts.len + 1 < text.len;

    buf_clear(servers);
    buf_clear(root);
    do
        if (!add_server(take_until(&hosts, ','), servers, err))
            return false;
    while (hosts.len > 0);
    buf_append(root, has_path ? (struct str){path.ptr - 1, path.len + 1} : STR(DEFAULT_ROOT));
    return check_root(buf_str(root), err);
}

bool zookeeper_name_sequence(struct str waiter, int32_t *sequence)
{
    if (waiter.len < DIGITS + 1)
        return false;

    const char *digits = waiter.ptr + waiter.len - DIGITS;
    const bool is_negative = digits[-1] == '-' && waiter.len > DIGITS + 1 && digits[-2] == '-';
    int64_t n = 0;

    for (size_t i = 0; i < DIGITS; i++) {
        if (digits[i] < '0' || digits[i] > '9')
            return false;
        n = n * 10 + (digits[i] - '0');
    }
    n = is_negative ? -n : n;
    *sequence = (int32_t)n;
    return n >= INT32_MIN && n <= INT32_MAX;
}

bool zookeeper_name_before(int32_t a, int32_t b)
{
    return (int32_t)((uint32_t)a - (uint32_t)b) < 0;
}
