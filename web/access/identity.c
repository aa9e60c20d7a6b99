#include "config.h"

#include "web/access/identity.h"

#include "rebalance/access/access.h"

#include <string.h>

static struct str after(struct str s, size_t n)
{
    return (struct str){s.ptr + n, s.len - n};
}

static struct str trim(struct str s)
{
    while (s.len > 0 && (s.ptr[0] == ' ' || s.ptr[0] == '\t'))
        s = after(s, 1);
    while (s.len > 0 && (s.ptr[s.len - 1] == ' ' || s.ptr[s.len - 1] == '\t'))
        s.len--;
    return s;
}

struct str cookie_find(struct str header, struct str name)
{
    while (header.len > 0) {
        const char *end = memchr(header.ptr, ';', header.len);
        const size_t len = end != NULL ? (size_t)(end - header.ptr) : header.len;
        const struct str pair = trim((struct str){header.ptr, len});

        if (pair.len > name.len && memcmp(pair.ptr, name.ptr, name.len) == 0 &&
            pair.ptr[name.len] == '=')
            return after(pair, name.len + 1);
        header = end != NULL ? after(header, len + 1) : (struct str){NULL, 0};
    }
    return (struct str){NULL, 0};
}

bool origin_is_of(struct str origin, struct str host, bool is_tls)
{
    static const struct str schemes[] = {{"http://", 7}, {"https://", 8}};

    for (size_t i = is_tls ? 1 : 0; i < ARRAY_LEN(schemes); i++)
        if (origin.len > schemes[i].len &&
            memcmp(origin.ptr, schemes[i].ptr, schemes[i].len) == 0 &&
            str_equal_any_case(after(origin, schemes[i].len), host))
            return true;
    return false;
}

/* The token of "Bearer TOKEN"; ptr NULL: another scheme, which a proxy may have wanted. */
static struct str bearer(struct str authorization)
{
    static const struct str scheme = {"Bearer", 6};

    if (authorization.len < scheme.len ||
        !str_equal_any_case((struct str){authorization.ptr, scheme.len}, scheme))
        return (struct str){NULL, 0};
    return trim(after(authorization, scheme.len));
}

static enum identity_verdict by_token(struct port_caller *out, struct coordinator *co,
                                      struct arena *a, struct str token)
{
    struct recognised who;

    if (!coordinator_recognise(co, token, a, &who))
        return IDENTITY_UNKNOWN;
    out->role = who.role;
    out->who = who.who;
    out->user = who.user;
    out->sees_rows = who.sees_rows;
    return IDENTITY_FINE;
}

enum identity_verdict identity_find(struct port_caller *out, struct coordinator *co,
                                    struct arena *a, const struct credentials *c)
{
    const struct str session = cookie_find(c->cookie, STR(SESSION_COOKIE));
    const struct str token = bearer(c->authorization);

    *out = (struct port_caller){.role = ROLE_PAGE};
    if (token.ptr != NULL)
        return by_token(out, co, a, token);
    if (c->changes && c->origin.ptr != NULL && !origin_is_of(c->origin, c->host, c->is_tls))
        return IDENTITY_CROSS_SITE;
    if (session.ptr == NULL || by_token(out, co, a, session) != IDENTITY_FINE)
        return IDENTITY_FINE; /* a log-in that has ended is none */
    out->session = session;
    return c->changes && c->origin.ptr == NULL ? IDENTITY_CROSS_SITE : IDENTITY_FINE;
}
