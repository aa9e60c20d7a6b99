#include "config.h"

#include "sync/draft/database_url.h"

#include "src/base/arena.h"
#include "src/base/buf.h"
#include "sync/definition/rule.h"

#include <string.h>

static bool refuse(struct err *err, const char *what)
{
    return err_set(err, ERR_REJECT,
                   "the database's address %s; write mysql://USER@HOST:PORT/DATABASE, or "
                   "mysql://USER@/DATABASE?socket=PATH",
                   what);
}

static int digit_of(char c)
{
    static const char digits[] = "0123456789abcdef";
    const char *at = c == '\0' ? NULL : strchr(digits, c >= 'A' && c <= 'F' ? c | 32 : c);

    return at == NULL ? -1 : (int)(at - digits);
}

/* Undo %XX.  Returns false for a broken one and for %00. */
static bool take(struct str part, struct arena *a, struct str *out)
{
    char *p = arena_alloc(a, part.len + 1, 1);
    size_t n = 0;

    for (size_t i = 0; i < part.len; i++) {
        if (part.ptr[i] != '%') {
            p[n++] = part.ptr[i];
            continue;
        }

        const int high = i + 2 < part.len ? digit_of(part.ptr[i + 1]) : -1;
        const int low = i + 2 < part.len ? digit_of(part.ptr[i + 2]) : -1;

        if (high < 0 || low < 0 || high + low == 0)
            return false;
        p[n++] = (char)(high * 16 + low);
        i += 2;
    }
    *out = (struct str){p, n};
    return true;
}

/* Cut s at the first c: the part before it is returned, s is what comes after. */
static bool cut(struct str *s, char c, struct str *before)
{
    const char *at = s->len == 0 ? NULL : memchr(s->ptr, c, s->len);

    if (at == NULL)
        return false;
    *before = (struct str){s->ptr, (size_t)(at - s->ptr)};
    *s = (struct str){at + 1, s->len - before->len - 1};
    return true;
}

static bool cut_scheme(const char **text)
{
    static const char *const schemes[] = {"mysql://", "mariadb://"};

    for (size_t i = 0; i < ARRAY_LEN(schemes); i++)
        if (strncmp(*text, schemes[i], strlen(schemes[i])) == 0) {
            *text += strlen(schemes[i]);
            return true;
        }
    return false;
}

/* "[::1]" and "host" get the usual port, so that the file states it. */
static struct str with_port(struct str host, struct arena *a)
{
    const char *colon = memrchr(host.ptr, ':', host.len);
    const char *bracket = memrchr(host.ptr, ']', host.len);
    struct buf b = {0};
    struct str out;

    if (colon != NULL && (bracket == NULL || colon > bracket))
        return host;
    buf_printf(&b, "%" STR_FMT ":3306", STR_ARG(host));
    out = arena_copy(a, buf_str(&b));
    buf_free(&b);
    return out;
}

static bool take_address(struct str host, struct str query, struct arena *a,
                         struct database_url *out, struct err *err)
{
    static const struct str socket = STR("socket=");
    const char *wrong;

    if (query.len > 0) {
        if (host.len > 0 && !str_equal(host, STR("localhost")))
            return refuse(err, "has a host and a socket");
        if (query.len <= socket.len || memcmp(query.ptr, socket.ptr, socket.len) != 0 ||
            !take((struct str){query.ptr + socket.len, query.len - socket.len}, a,
                  &out->address) ||
            out->address.ptr[0] != '/')
            return refuse(err, "has something after the ? that is not socket=/PATH");
        return true;
    }
    if (host.len == 0 || !take(host, a, &host) || host.len == 0)
        return refuse(err, "has no host");
    out->address = host.ptr[0] == '/' ? host : with_port(host, a);
    wrong = rule_address(out->address);
    return wrong == NULL ||
           err_set(err, ERR_REJECT, "`%" STR_FMT "` %s", STR_ARG(out->address), wrong);
}

bool database_url_parse(const char *text, struct arena *a, struct database_url *out,
                        struct err *err)
{
    struct str rest, log_in, host, path, user, query = {0};

    *out = (struct database_url){0};
    if (!cut_scheme(&text))
        return refuse(err, "does not begin with mysql://");
    rest = str_from(text);
    if (!cut(&rest, '@', &log_in))
        return refuse(err, "has no user before an @ (an @ of a password is %40)");
    if (!cut(&rest, '/', &host))
        return refuse(err, "has no database after a /");
    if (!cut(&rest, '?', &path))
        path = rest;
    else
        query = rest;
    out->has_password = cut(&log_in, ':', &user);
    if (!out->has_password)
        user = log_in;
    else if (!take(log_in, a, &out->password) ||
             memchr(out->password.ptr, '\n', out->password.len) != NULL)
        return refuse(err, "has a password with a broken % or a line end");
    if (!take(user, a, &out->user) || out->user.len == 0)
        return refuse(err, "has no user");
    if (!take(path, a, &out->database) || out->database.len == 0)
        return refuse(err, "has no database after the /");
    if (memchr(path.ptr, '/', path.len) != NULL)
        return refuse(err, "has more than a database after the / (a slash of its name is %2F)");
    return take_address(host, query, a, out, err);
}
