#include "config.h"

#include "sync/binlog/gtid.h"

#include "src/base/buf.h"
#include "src/base/mem.h"
#include "sync/binlog/cursor.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* More is damage; the sorted array would be slow. */
#define ORIGINS_MAX 16384

/* Numbers [start, end). */
struct interval {
    uint64_t start, end;
};

/* The ids of one UUID and tag (MySQL), or the last one of a domain (MariaDB). */
struct origin {
    uint8_t uuid[16];
    char tag[GTID_TAG_MAX + 1];
    struct interval *intervals; /* sorted, not touching */
    size_t n_intervals;
    uint32_t domain;
    uint32_t server;
    uint64_t number;
};

struct gtid_set {
    enum gtid_family family;
    struct origin *origins; /* sorted by UUID and tag, or by domain */
    size_t n_origins;
};

struct gtid_set *gtid_set_new(void)
{
    return mem_alloc(1, sizeof(struct gtid_set));
}

void gtid_set_free(struct gtid_set *s)
{
    if (s == NULL)
        return;
    for (size_t i = 0; i < s->n_origins; i++)
        free(s->origins[i].intervals);
    free(s->origins);
    free(s);
}

/* The interval array of an origin holds a power of two. */
static size_t capacity(size_t n)
{
    size_t cap = 1;

    while (cap < n)
        cap *= 2;
    return cap;
}

struct gtid_set *gtid_set_copy(const struct gtid_set *s)
{
    struct gtid_set *copy = gtid_set_new();

    copy->family = s->family;
    copy->n_origins = s->n_origins;
    copy->origins = mem_alloc(s->n_origins, sizeof(*s->origins));
    for (size_t i = 0; i < s->n_origins; i++) {
        const struct origin *from = &s->origins[i];
        struct origin *to = &copy->origins[i];

        *to = *from;
        to->intervals = mem_alloc(capacity(from->n_intervals), sizeof(*from->intervals));
        if (from->n_intervals > 0)
            memcpy(to->intervals, from->intervals,
                   from->n_intervals * sizeof(*from->intervals));
    }
    return copy;
}

static int compare_origins(enum gtid_family family, const struct origin *a,
                           const struct origin *b)
{
    if (family == GTID_MARIADB)
        return (a->domain > b->domain) - (a->domain < b->domain);

    const int order = memcmp(a->uuid, b->uuid, sizeof(a->uuid));

    return order != 0 ? order : strcmp(a->tag, b->tag);
}

/* Where key is, or would be put. */
static size_t origin_index(const struct gtid_set *s, const struct origin *key, bool *found)
{
    size_t low = 0, high = s->n_origins;

    while (low < high) {
        const size_t mid = low + (high - low) / 2;
        const int order = compare_origins(s->family, &s->origins[mid], key);

        if (order == 0) {
            *found = true;
            return mid;
        }
        if (order < 0)
            low = mid + 1;
        else
            high = mid;
    }
    *found = false;
    return low;
}

static const struct origin *find_origin(const struct gtid_set *s, const struct origin *key)
{
    bool found;
    const size_t i = origin_index(s, key, &found);

    return found ? &s->origins[i] : NULL;
}

static struct origin *need_origin(struct gtid_set *s, const struct origin *key)
{
    bool found;
    const size_t i = origin_index(s, key, &found);

    if (found)
        return &s->origins[i];
    s->origins = mem_resize(s->origins, s->n_origins + 1, sizeof(*s->origins));
    memmove(&s->origins[i + 1], &s->origins[i], (s->n_origins - i) * sizeof(*s->origins));
    s->n_origins++;
    s->origins[i] = *key;
    s->origins[i].intervals = NULL;
    s->origins[i].n_intervals = 0;
    s->origins[i].number = 0;
    return &s->origins[i];
}

/* The first interval that ends at or after n, so that n touches it or lies before it. */
static size_t interval_index(const struct origin *o, uint64_t n)
{
    size_t low = 0, high = o->n_intervals;

    /* New ids nearly always follow the last one. */
    if (high > 0 && o->intervals[high - 1].start <= n)
        return o->intervals[high - 1].end >= n ? high - 1 : high;
    while (low < high) {
        const size_t mid = low + (high - low) / 2;

        if (o->intervals[mid].end < n)
            low = mid + 1;
        else
            high = mid;
    }
    return low;
}

static void add_interval(struct origin *o, struct interval add)
{
    const size_t first = interval_index(o, add.start);
    size_t after = first;

    while (after < o->n_intervals && o->intervals[after].start <= add.end) {
        if (o->intervals[after].start < add.start)
            add.start = o->intervals[after].start;
        if (o->intervals[after].end > add.end)
            add.end = o->intervals[after].end;
        after++;
    }
    if (after == first && (o->n_intervals == 0 || capacity(o->n_intervals) == o->n_intervals))
        o->intervals =
            mem_resize(o->intervals, capacity(o->n_intervals + 1), sizeof(*o->intervals));

    const size_t tail = o->n_intervals - after;

    if (tail > 0 && after != first + 1)
        memmove(&o->intervals[first + 1], &o->intervals[after], tail * sizeof(*o->intervals));
    o->intervals[first] = add;
    o->n_intervals = first + 1 + tail;
}

static struct origin origin_of(const struct gtid *g)
{
    struct origin o = {.domain = g->domain, .server = g->server, .number = g->number};

    memcpy(o.uuid, g->uuid, sizeof(o.uuid));
    memcpy(o.tag, g->tag, sizeof(o.tag));
    return o;
}

enum gtid_family gtid_set_family(const struct gtid_set *s)
{
    return s->family;
}

bool gtid_set_is_empty(const struct gtid_set *s)
{
    return s->n_origins == 0;
}

/* False when s already is of another family. */
static bool join_family(struct gtid_set *s, enum gtid_family family)
{
    if (s->n_origins == 0)
        s->family = family;
    return s->family == family && family != GTID_NONE;
}

void gtid_set_add(struct gtid_set *s, const struct gtid *g)
{
    if (!join_family(s, g->family))
        return;

    const struct origin key = origin_of(g);
    struct origin *o = need_origin(s, &key);

    if (g->family == GTID_MYSQL) {
        add_interval(o, (struct interval){g->number, g->number + 1});
    } else {
        o->server = g->server;
        o->number = g->number;
    }
}

void gtid_set_merge(struct gtid_set *s, const struct gtid_set *other)
{
    if (!join_family(s, other->family))
        return;
    for (size_t i = 0; i < other->n_origins; i++) {
        const struct origin *from = &other->origins[i];
        struct origin *to = need_origin(s, from);

        for (size_t k = 0; k < from->n_intervals; k++)
            add_interval(to, from->intervals[k]);
        if (from->number > to->number) {
            to->server = from->server;
            to->number = from->number;
        }
    }
}

static bool has_interval(const struct origin *o, struct interval v)
{
    const size_t i = interval_index(o, v.start + 1);

    return i < o->n_intervals && o->intervals[i].start <= v.start &&
           o->intervals[i].end >= v.end;
}

bool gtid_set_contains(const struct gtid_set *s, const struct gtid *g)
{
    if (s->family != g->family)
        return false;

    const struct origin key = origin_of(g);
    const struct origin *o = find_origin(s, &key);

    if (o == NULL)
        return false;
    if (s->family == GTID_MARIADB)
        return o->number >= g->number;
    return has_interval(o, (struct interval){g->number, g->number + 1});
}

bool gtid_set_includes(const struct gtid_set *s, const struct gtid_set *other)
{
    struct gtid_set *left = gtid_set_minus(other, s);
    const bool empty = gtid_set_is_empty(left);

    gtid_set_free(left);
    return empty;
}

/* What of v is not in o, added to out. */
static void add_missing(struct origin *out, struct interval v, const struct origin *o)
{
    for (size_t i = interval_index(o, v.start); v.start < v.end && i < o->n_intervals; i++) {
        const struct interval have = o->intervals[i];

        if (have.start >= v.end)
            break;
        if (have.start > v.start)
            add_interval(out, (struct interval){v.start, have.start});
        if (have.end > v.start)
            v.start = have.end;
    }
    if (v.start < v.end)
        add_interval(out, v);
}

struct gtid_set *gtid_set_minus(const struct gtid_set *a, const struct gtid_set *b)
{
    static const struct origin none;
    struct gtid_set *out = gtid_set_new();

    out->family = a->family;
    for (size_t i = 0; i < a->n_origins; i++) {
        const struct origin *from = &a->origins[i];
        const struct origin *other = a->family == b->family ? find_origin(b, from) : NULL;
        struct origin left = *from;

        left.intervals = NULL;
        left.n_intervals = 0;
        for (size_t k = 0; k < from->n_intervals; k++)
            add_missing(&left, from->intervals[k], other != NULL ? other : &none);
        if (a->family == GTID_MYSQL ? left.n_intervals == 0
                                    : other != NULL && other->number >= from->number)
            continue;

        struct origin *to = need_origin(out, from);

        *to = left;
    }
    return out;
}

bool gtid_set_equal(const struct gtid_set *a, const struct gtid_set *b)
{
    if (a->n_origins != b->n_origins || (a->n_origins > 0 && a->family != b->family))
        return false;
    for (size_t i = 0; i < a->n_origins; i++) {
        const struct origin *x = &a->origins[i], *y = &b->origins[i];

        if (compare_origins(a->family, x, y) != 0 || x->n_intervals != y->n_intervals ||
            x->number != y->number || (a->family == GTID_MARIADB && x->server != y->server))
            return false;
        if (x->n_intervals > 0 &&
            memcmp(x->intervals, y->intervals, x->n_intervals * sizeof(*x->intervals)) != 0)
            return false;
    }
    return true;
}

/* Text */

static void append_uuid(struct buf *b, const uint8_t uuid[16])
{
    static const char hex[] = "0123456789abcdef";
    char text[36];
    size_t n = 0;

    for (size_t i = 0; i < 16; i++) {
        if (i == 4 || i == 6 || i == 8 || i == 10)
            text[n++] = '-';
        text[n++] = hex[uuid[i] >> 4];
        text[n++] = hex[uuid[i] & 15];
    }
    buf_append(b, (struct str){text, n});
}

void gtid_format(struct buf *b, const struct gtid *g)
{
    if (g->family == GTID_MARIADB) {
        buf_printf(b, "%" PRIu32 "-%" PRIu32 "-%" PRIu64, g->domain, g->server, g->number);
    } else if (g->family == GTID_MYSQL) {
        append_uuid(b, g->uuid);
        if (g->tag[0] != '\0')
            buf_printf(b, ":%s", g->tag);
        buf_printf(b, ":%" PRIu64, g->number);
    }
}

static void format_mysql(struct buf *b, const struct gtid_set *s)
{
    for (size_t i = 0; i < s->n_origins; i++) {
        const struct origin *o = &s->origins[i];
        const bool same_uuid = i > 0 && memcmp(o->uuid, o[-1].uuid, sizeof(o->uuid)) == 0;

        if (!same_uuid) {
            if (i > 0)
                buf_append_char(b, ',');
            append_uuid(b, o->uuid);
        }
        if (o->tag[0] != '\0')
            buf_printf(b, ":%s", o->tag);
        for (size_t k = 0; k < o->n_intervals; k++) {
            const struct interval v = o->intervals[k];

            buf_printf(b, ":%" PRIu64, v.start);
            if (v.end - v.start > 1)
                buf_printf(b, "-%" PRIu64, v.end - 1);
        }
    }
}

void gtid_set_format(struct buf *b, const struct gtid_set *s)
{
    if (s->family == GTID_MYSQL)
        format_mysql(b, s);
    else
        for (size_t i = 0; i < s->n_origins; i++) {
            const struct origin *o = &s->origins[i];

            buf_printf(b, "%s%" PRIu32 "-%" PRIu32 "-%" PRIu64, i > 0 ? "," : "", o->domain,
                       o->server, o->number);
        }
}

/* Text being read; p moves on. */
struct text {
    const char *p, *end;
};

static void skip_space(struct text *t)
{
    while (t->p < t->end && isspace((unsigned char)*t->p))
        t->p++;
}

static bool skip_char(struct text *t, char c)
{
    skip_space(t);
    if (t->p == t->end || *t->p != c)
        return false;
    t->p++;
    return true;
}

static bool read_number(struct text *t, uint64_t max, uint64_t *out)
{
    uint64_t n = 0;

    skip_space(t);

    const char *start = t->p;

    for (; t->p < t->end && isdigit((unsigned char)*t->p); t->p++) {
        const unsigned digit = (unsigned)(*t->p - '0');

        if (n > (max - digit) / 10)
            return false;
        n = n * 10 + digit;
    }
    *out = n;
    return t->p > start;
}

static int hex_digit(char c)
{
    if (c >= '0' && c <= '9')
        return c - '0';
    c = (char)(c | 0x20);
    return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

/* With or without its dashes. */
static bool read_uuid(struct text *t, uint8_t uuid[16])
{
    skip_space(t);
    for (size_t i = 0; i < 16; i++) {
        if ((i == 4 || i == 6 || i == 8 || i == 10) && t->p < t->end && *t->p == '-')
            t->p++;
        if (t->end - t->p < 2)
            return false;

        const int high = hex_digit(t->p[0]), low = hex_digit(t->p[1]);

        if (high < 0 || low < 0)
            return false;
        uuid[i] = (uint8_t)(high << 4 | low);
        t->p += 2;
    }
    return true;
}

static bool is_tag_char(char c, bool first)
{
    return c == '_' || isalpha((unsigned char)c) || (!first && isdigit((unsigned char)c));
}

static bool read_tag(struct text *t, char tag[GTID_TAG_MAX + 1])
{
    size_t n = 0;

    skip_space(t);
    for (; t->p < t->end && is_tag_char(*t->p, n == 0); t->p++) {
        if (n == GTID_TAG_MAX)
            return false;
        tag[n++] = (char)tolower((unsigned char)*t->p);
    }
    tag[n] = '\0';
    return n > 0;
}

/* "5", "5-9" */
static bool read_interval(struct text *t, struct interval *out)
{
    if (!read_number(t, INT64_MAX - 1, &out->start))
        return false;
    out->end = out->start;
    if (skip_char(t, '-') && !read_number(t, INT64_MAX - 1, &out->end))
        return false;
    if (out->start == 0 || out->end < out->start)
        return false;
    out->end++;
    return true;
}

/* uuid[:tag]:interval[:interval]…[:tag:interval…] */
static bool read_mysql(struct text *t, struct gtid_set *s)
{
    struct origin key = {0};
    bool any = false;

    if (!read_uuid(t, key.uuid))
        return false;
    while (skip_char(t, ':')) {
        struct interval v;

        skip_space(t);
        if (t->p < t->end && is_tag_char(*t->p, true)) {
            if (!read_tag(t, key.tag))
                return false;
            any = false;
            continue;
        }
        if (!read_interval(t, &v))
            return false;
        add_interval(need_origin(s, &key), v);
        any = true;
    }
    return any;
}

static bool read_mariadb(struct text *t, struct gtid *g)
{
    uint64_t domain, server;

    if (!read_number(t, UINT32_MAX, &domain) || !skip_char(t, '-') ||
        !read_number(t, UINT32_MAX, &server) || !skip_char(t, '-') ||
        !read_number(t, UINT64_MAX, &g->number))
        return false;
    g->family = GTID_MARIADB;
    g->domain = (uint32_t)domain;
    g->server = (uint32_t)server;
    return true;
}

/* Two dashes between numbers and no colon: MariaDB's. */
static enum gtid_family guess_family(struct str text)
{
    for (size_t i = 0; i < text.len; i++)
        if (text.ptr[i] == ':')
            return GTID_MYSQL;
    return GTID_MARIADB;
}

static bool read_element(struct text *t, struct gtid_set *s)
{
    struct gtid g = {0};

    if (s->family == GTID_MYSQL)
        return read_mysql(t, s);
    if (!read_mariadb(t, &g))
        return false;
    gtid_set_add(s, &g);
    return true;
}

bool gtid_set_parse(struct str text, struct gtid_set **out, struct err *err)
{
    struct text t = {text.ptr, text.ptr + text.len};
    struct gtid_set *s = gtid_set_new();

    s->family = guess_family(text);
    for (skip_space(&t); t.p < t.end; skip_space(&t)) {
        if (skip_char(&t, ','))
            continue; /* servers accept empty elements */
        if (s->n_origins > ORIGINS_MAX || !read_element(&t, s) ||
            (skip_space(&t), t.p < t.end && *t.p != ',')) {
            gtid_set_free(s);
            return err_set(err, ERR_REJECT, "'%" STR_FMT "' is not a GTID set",
                           STR_ARG(text));
        }
    }
    *out = s;
    return true;
}

bool gtid_parse(struct str text, struct gtid *out, struct err *err)
{
    struct text t = {text.ptr, text.ptr + text.len};
    bool ok;

    *out = (struct gtid){0};
    if (guess_family(text) == GTID_MARIADB) {
        ok = read_mariadb(&t, out);
    } else {
        out->family = GTID_MYSQL;
        ok = read_uuid(&t, out->uuid) && skip_char(&t, ':');
        skip_space(&t);
        if (ok && t.p < t.end && is_tag_char(*t.p, true))
            ok = read_tag(&t, out->tag) && skip_char(&t, ':');
        ok = ok && read_number(&t, INT64_MAX - 1, &out->number) && out->number > 0;
    }
    skip_space(&t);
    if (!ok || t.p < t.end)
        return err_set(err, ERR_REJECT, "'%" STR_FMT "' is not a GTID", STR_ARG(text));
    return true;
}

/* The wire form: rpl_gtid_set.cc in MySQL. */

static void append_le64(struct buf *b, uint64_t v)
{
    char bytes[8];

    for (size_t i = 0; i < 8; i++)
        bytes[i] = (char)(v >> (8 * i));
    buf_append(b, (struct str){bytes, 8});
}

static bool has_tags(const struct gtid_set *s)
{
    for (size_t i = 0; i < s->n_origins; i++)
        if (s->origins[i].tag[0] != '\0')
            return true;
    return false;
}

void gtid_set_encode(struct buf *b, const struct gtid_set *s)
{
    const uint64_t n = s->family == GTID_MYSQL ? s->n_origins : 0;
    const bool tagged = n > 0 && has_tags(s);

    append_le64(b, tagged ? UINT64_C(1) << 56 | n << 8 | 1 : n);
    for (size_t i = 0; i < n; i++) {
        const struct origin *o = &s->origins[i];

        buf_append(b, (struct str){(const char *)o->uuid, sizeof(o->uuid)});
        if (tagged) {
            buf_append_char(b, (char)(strlen(o->tag) << 1));
            buf_append(b, str_from(o->tag));
        }
        append_le64(b, o->n_intervals);
        for (size_t k = 0; k < o->n_intervals; k++) {
            append_le64(b, o->intervals[k].start);
            append_le64(b, o->intervals[k].end);
        }
    }
}

static bool decode_origin(struct cursor *c, bool tagged, struct gtid_set *s)
{
    struct origin key = {0};
    const uint8_t *uuid = cursor_take(c, sizeof(key.uuid));

    if (uuid == NULL)
        return false;
    memcpy(key.uuid, uuid, sizeof(key.uuid));
    if (tagged) {
        /* A length of up to 32 in the serialization library's one-byte form. */
        const uint8_t len = cursor_u8(c);
        struct text t;

        if ((len & 1) != 0)
            return false;

        const struct str tag = cursor_str(c, len >> 1);

        t = (struct text){tag.ptr, tag.ptr + tag.len};
        if (tag.len > 0 && (!read_tag(&t, key.tag) || t.p != t.end))
            return false;
    }

    const uint64_t n = cursor_le(c, 8);

    if (c->failed || n > cursor_left(c) / 16)
        return false;
    if (n == 0)
        return true;

    struct origin *o = need_origin(s, &key);
    uint64_t last = 0;

    for (uint64_t i = 0; i < n; i++) {
        const struct interval v = {cursor_le(c, 8), cursor_le(c, 8)};

        if (v.start <= last || v.end <= v.start || v.end > INT64_MAX)
            return false;
        add_interval(o, v);
        last = v.end;
    }
    return true;
}

bool gtid_set_decode(struct str bytes, struct gtid_set **out, struct err *err)
{
    struct cursor c = cursor_of(bytes);
    const uint64_t head = cursor_le(&c, 8);
    const bool tagged = head >> 56 == 1;
    const uint64_t n = tagged ? head >> 8 & UINT64_C(0xffffffffffff) : head;
    struct gtid_set *s = gtid_set_new();
    bool ok = !c.failed && (!tagged || (head & 0xff) == 1) && n <= ORIGINS_MAX;

    s->family = GTID_MYSQL;
    for (uint64_t i = 0; ok && i < n; i++)
        ok = decode_origin(&c, tagged, s);
    if (!ok || cursor_left(&c) > 0) {
        gtid_set_free(s);
        return err_set(err, ERR_REJECT, "damaged GTID set of %zu bytes", bytes.len);
    }
    *out = s;
    return true;
}
