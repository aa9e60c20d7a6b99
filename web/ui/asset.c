#include "config.h"

#include "web/ui/asset.h"

#include <stdlib.h>
#include <string.h>
#define ZLIB_CONST
#include <zlib.h>

static int compare(const void *key, const void *item)
{
    const struct str *name = key;
    const struct page_asset *a = item;
    const int order = strncmp(name->ptr, a->name, name->len);

    return order != 0 ? order : a->name[name->len] != '\0' ? -1 : 0;
}

const struct page_asset *page_asset_find(struct str name)
{
    return name.len > 0 && n_page_assets > 0
               ? bsearch(&name, page_assets, n_page_assets, sizeof(page_assets[0]), compare)
               : NULL;
}

bool page_asset_inflate(const struct page_asset *a, struct buf *out)
{
    const size_t before = out->len;
    z_stream z = {.next_in = a->gzip, .avail_in = (uInt)a->n_gzip};

    if (inflateInit2(&z, MAX_WBITS + 16) != Z_OK)
        return false;
    buf_reserve(out, a->n_bytes);
    z.next_out = (unsigned char *)out->ptr + before;
    z.avail_out = (uInt)a->n_bytes;

    const bool whole = inflate(&z, Z_FINISH) == Z_STREAM_END && z.avail_out == 0;

    inflateEnd(&z);
    if (whole)
        out->len += a->n_bytes;
    out->ptr[out->len] = '\0';
    return whole;
}

/* ---- lists in fields of a request ---- */

static struct str trim(struct str s)
{
    while (s.len > 0 && (s.ptr[0] == ' ' || s.ptr[0] == '\t'))
        s = (struct str){s.ptr + 1, s.len - 1};
    while (s.len > 0 && (s.ptr[s.len - 1] == ' ' || s.ptr[s.len - 1] == '\t'))
        s.len--;
    return s;
}

/* Take what is before the next c of *rest, without the space around it. */
static struct str next(struct str *rest, char c)
{
    const char *end = memchr(rest->ptr, c, rest->len);
    const size_t n = end != NULL ? (size_t)(end - rest->ptr) : rest->len;
    const struct str part = trim((struct str){rest->ptr, n});

    *rest = end != NULL ? (struct str){end + 1, rest->len - n - 1} : (struct str){rest->ptr, 0};
    return part;
}

/* "q=0" and "q=0.00" say that the client does not want it. */
static bool is_refused(struct str weight)
{
    if (weight.len < 3 || (weight.ptr[0] | 0x20) != 'q' || weight.ptr[1] != '=')
        return false;
    for (size_t i = 2; i < weight.len; i++)
        if (weight.ptr[i] != '0' && weight.ptr[i] != '.')
            return false;
    return true;
}

bool page_asset_takes_gzip(struct str accept_encoding)
{
    bool any = false;

    while (accept_encoding.len > 0) {
        struct str item = next(&accept_encoding, ',');

        if (item.len == 0)
            continue;

        const struct str coding = next(&item, ';');
        const bool wanted = !is_refused(trim(item));

        if (str_equal_any_case(coding, STR("gzip")) ||
            str_equal_any_case(coding, STR("x-gzip")))
            return wanted;
        any = any || (str_equal(coding, STR("*")) && wanted);
    }
    return any;
}

static struct str without_weakness(struct str tag)
{
    return tag.len > 2 && memcmp(tag.ptr, "W/", 2) == 0 ? (struct str){tag.ptr + 2, tag.len - 2}
                                                        : tag;
}

bool page_asset_is_known(const struct page_asset *a, struct str if_none_match)
{
    const struct str ours = without_weakness(str_from(a->etag));

    while (if_none_match.len > 0) {
        const struct str tag = next(&if_none_match, ',');

        if (str_equal(tag, STR("*")) || str_equal(without_weakness(tag), ours))
            return true;
    }
    return false;
}
