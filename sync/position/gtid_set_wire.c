#include "config.h"

#include "sync/position/gtid_set.h"

#include "src/base/buf.h"
#include "src/base/cursor.h"
#include "sync/position/gtid_origin.h"

#include <string.h>

/* The format of rpl_gtid_set.cc in MySQL. */

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
        const struct gtid_origin *o = &s->origins[i];

        buf_append(b, (struct str){(const char *)o->uuid, sizeof(o->uuid)});
        if (tagged) {
            buf_append_char(b, (char)(strlen(o->tag) << 1));
            buf_append(b, str_from(o->tag));
        }
        append_le64(b, o->intervals.n);
        for (size_t k = 0; k < o->intervals.n; k++) {
            append_le64(b, o->intervals.list[k].start);
            append_le64(b, o->intervals.list[k].end);
        }
    }
}

static bool decode_origin(struct cursor *c, bool tagged, struct gtid_set *s)
{
    struct gtid_origin key = {0};
    const uint8_t *uuid = cursor_take(c, sizeof(key.uuid));

    if (uuid == NULL)
        return false;
    memcpy(key.uuid, uuid, sizeof(key.uuid));
    if (tagged) {
        /* A length up to 32, in the one-byte form of MySQL's serialization library. */
        const uint8_t len = cursor_u8(c);
        struct gtid_text t;

        if ((len & 1) != 0)
            return false;

        const struct str tag = cursor_str(c, len >> 1);

        t = gtid_text_of(tag);
        if (tag.len > 0 && (!gtid_text_tag(&t, key.tag) || t.p != t.end))
            return false;
    }

    const uint64_t n = cursor_le(c, 8);

    if (c->failed || n > cursor_left(c) / 16)
        return false;
    if (n == 0)
        return true;

    struct gtid_origin *o = gtid_origin_need(s, &key);
    uint64_t last = 0;

    for (uint64_t i = 0; i < n; i++) {
        const struct interval v = {cursor_le(c, 8), cursor_le(c, 8)};

        if (v.start <= last || v.end <= v.start || v.end > INT64_MAX)
            return false;
        intervals_add(&o->intervals, v);
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
    bool ok = !c.failed && (!tagged || (head & 0xff) == 1) && n <= GTID_ORIGINS_MAX;

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
