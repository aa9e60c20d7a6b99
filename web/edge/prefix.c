#include "config.h"

#include "web/edge/prefix.h"

#include <string.h>

#define LETTERS "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._~-"

/* "." and ".." are no names: browsers and proxies take them out of a path. */
static bool is_segment(const char *text, size_t n)
{
    return n > 0 && strspn(text, LETTERS) >= n && strspn(text, ".") < n;
}

static bool is_prefix(const char *text)
{
    if (text[0] != '/' || strlen(text) > PREFIX_MAX)
        return false;
    while (*text == '/') {
        const size_t n = strcspn(++text, "/");

        if (!is_segment(text, n))
            return false;
        text += n;
    }
    return true;
}

bool prefix_check(const char *prefix, struct err *err)
{
    return prefix == NULL || prefix[0] == '\0' || is_prefix(prefix) ||
           err_set(err, ERR_REJECT,
                   "web.prefix: \"%.100s\" is no path; fix: write it as /millrace: a slash "
                   "before each name and none at the end, names of letters, digits, . _ ~ and "
                   "-, %d bytes in all",
                   prefix, PREFIX_MAX);
}

static bool begins_with(struct str s, struct str start)
{
    return s.len >= start.len && memcmp(s.ptr, start.ptr, start.len) == 0;
}

static struct str path_of(struct str target)
{
    const char *end = target.len > 0 ? memchr(target.ptr, '?', target.len) : NULL;

    return end == NULL ? target : (struct str){target.ptr, (size_t)(end - target.ptr)};
}

static bool is_for_probes(struct str path)
{
    return str_equal(path, STR("/livez")) || str_equal(path, STR("/readyz")) ||
           str_equal(path, STR("/metrics"));
}

enum prefix_fit prefix_cut(struct str *target, struct str prefix)
{
    const struct str path = path_of(*target);

    if (prefix.len == 0 || is_for_probes(path))
        return PREFIX_FITS;
    if (!begins_with(path, prefix))
        return PREFIX_OTHER;
    if (path.len == prefix.len)
        return PREFIX_BARE;
    if (path.ptr[prefix.len] != '/')
        return PREFIX_OTHER;
    *target = (struct str){target->ptr + prefix.len, target->len - prefix.len};
    return PREFIX_FITS;
}
