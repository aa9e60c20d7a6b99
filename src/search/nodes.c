#include "config.h"

#include "src/search/nodes.h"

#include "src/base/buf.h"
#include "src/base/mem.h"
#include "src/format/json.h"

#include <fnmatch.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

/* data, data_hot, data_content ...: every role that holds documents begins like this. */
static bool takes_documents(struct str role)
{
    return json_string_equal(role, STR("ingest")) || str_has_prefix(role, STR("data"));
}

static bool read_roles(struct json_reader *r)
{
    struct str role;
    bool is_of_use = false, has_role = false;

    if (!json_enter_array(r))
        return false;
    while (json_next_element(r)) {
        has_role = true;
        if (json_read_string(r, &role))
            is_of_use |= takes_documents(role);
    }
    return is_of_use || !has_role;
}

static void read_http(struct json_reader *r, struct buf *address)
{
    struct str key;

    if (!json_enter_object(r))
        return;
    while (json_next_member(r, &key))
        if (json_string_equal(key, STR("publish_address")))
            json_read_text(r, address);
}

/* The host comes from outside: allow nothing that could lead a URL astray. */
static bool is_plain(struct str host)
{
    static const char allowed[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
                                  "0123456789-._:[]%";

    for (size_t i = 0; i < host.len; i++)
        if (host.ptr[i] == '\0' || strchr(allowed, host.ptr[i]) == NULL)
            return false;
    return host.len > 0;
}

static bool is_port(struct str text)
{
    unsigned long port = 0;

    for (size_t i = 0; i < text.len; i++) {
        if (text.ptr[i] < '0' || text.ptr[i] > '9' || port > 65535)
            return false;
        port = port * 10 + (unsigned long)(text.ptr[i] - '0');
    }
    return text.len > 0 && port > 0 && port <= 65535;
}

static size_t find_last(struct str text, char c)
{
    for (size_t i = text.len; i-- > 0;)
        if (text.ptr[i] == c)
            return i;
    return text.len;
}

/* An IPv6 address stands in brackets; a name or an IPv4 address has no colon. */
static bool is_host(struct str host)
{
    const bool has_colon = memchr(host.ptr, ':', host.len) != NULL;

    if (!is_plain(host))
        return false;
    if (host.ptr[0] == '[')
        return host.len > 2 && host.ptr[host.len - 1] == ']';
    return !has_colon;
}

/*
 * Splits "10.0.0.1:9200", "[::1]:9200" or "name/10.0.0.1:9200" into host and port. Prefers the
 * name, because certificates are issued to names.
 */
static bool split_address(struct str address, struct str *host, struct str *port)
{
    const size_t slash = find_last(address, '/');
    const size_t colon = find_last(address, ':');

    if (colon == address.len || (slash < address.len && slash > colon))
        return false;
    *port = (struct str){address.ptr + colon + 1, address.len - colon - 1};
    *host = (struct str){address.ptr, slash > 0 && slash < colon ? slash : colon};
    if (slash == 0)
        *host = (struct str){address.ptr + 1, colon - 1};
    return is_host(*host) && is_port(*port);
}

/* Returns "https://user:password@" of "https://user:password@host:9200/path". */
static struct str beginning_of(const char *like)
{
    const char *host = strstr(like, "://");

    if (host == NULL)
        return STR("http://");
    host += strlen("://");

    const struct str authority = {host, strcspn(host, "/?#")};
    const size_t at = find_last(authority, '@');

    return (struct str){like, (size_t)(host - like) + (at < authority.len ? at + 1 : 0)};
}

static void take(struct search_nodes *nodes, struct str address, const char *like)
{
    struct str host, port;
    struct buf url = {0};

    if (nodes->n == SEARCH_NODES_MAX || !split_address(address, &host, &port))
        return;
    buf_append(&url, beginning_of(like));
    buf_append(&url, host);
    buf_append(&url, STR(":"));
    buf_append(&url, port);
    nodes->urls[nodes->n++] = mem_copy(url.ptr);
    buf_free(&url);
}

static void read_node(struct search_nodes *nodes, struct json_reader *r, const char *like)
{
    struct buf address = {0};
    struct str key;
    bool is_of_use = true; /* the filter leaves out an empty list of roles */

    if (!json_enter_object(r))
        return;
    while (json_next_member(r, &key)) {
        if (json_string_equal(key, STR("roles")))
            is_of_use = read_roles(r);
        else if (json_string_equal(key, STR("http")))
            read_http(r, &address);
    }
    if (is_of_use && address.len > 0)
        take(nodes, buf_str(&address), like);
    buf_free(&address);
}

static void read_nodes(struct search_nodes *nodes, struct json_reader *r, const char *like)
{
    struct str key;

    if (!json_enter_object(r))
        return;
    while (json_next_member(r, &key))
        read_node(nodes, r, like);
}

bool search_nodes_read(struct search_nodes *nodes, struct str answer, const char *like,
                       struct err *err)
{
    struct json_reader r;
    struct str key;

    json_reader_init(&r, answer);
    if (json_enter_object(&r))
        while (json_next_member(&r, &key))
            if (json_string_equal(key, STR("nodes")))
                read_nodes(nodes, &r, like);
    if (!json_reader_finish(&r, err)) {
        search_nodes_free(nodes);
        return false;
    }
    if (nodes->n == 0)
        return err_set(err, ERR_REJECT,
                       "the engine's list of nodes has no node that takes documents");
    return true;
}

static bool matches(const char *url, const char *const *patterns, size_t n)
{
    const size_t begin = beginning_of(url).len;
    const struct str rest = str_from(url + begin);
    char *host = mem_copy(url + begin);
    bool found = false;

    host[find_last(rest, ':')] = '\0';
    for (size_t i = 0; i < n && !found; i++)
        found = strcasecmp(patterns[i], host) == 0 || /* brackets of an IPv6 address */
                fnmatch(patterns[i], host, FNM_CASEFOLD | FNM_NOESCAPE) == 0;
    free(host);
    return found;
}

size_t search_nodes_keep(struct search_nodes *nodes, const char *const *patterns, size_t n)
{
    const size_t before = nodes->n;
    size_t kept = 0;

    for (size_t i = 0; i < before; i++)
        if (n == 0 || matches(nodes->urls[i], patterns, n))
            nodes->urls[kept++] = nodes->urls[i];
        else
            free(nodes->urls[i]);
    nodes->n = kept;
    return before - kept;
}

void search_nodes_free(struct search_nodes *nodes)
{
    for (size_t i = 0; i < nodes->n; i++)
        free(nodes->urls[i]);
    nodes->n = 0;
}
