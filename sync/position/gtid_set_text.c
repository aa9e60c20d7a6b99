#include "config.h"

#include "sync/position/gtid_set.h"

#include "src/base/buf.h"
#include "sync/position/gtid_origin.h"

#include <inttypes.h>
#include <string.h>

static void format_mysql(struct buf *b, const struct gtid_set *s)
{
    for (size_t i = 0; i < s->n_origins; i++) {
        const struct gtid_origin *o = &s->origins[i];
        const bool same_uuid = i > 0 && memcmp(o->uuid, o[-1].uuid, sizeof(o->uuid)) == 0;

        if (!same_uuid) {
            if (i > 0)
                buf_append_char(b, ',');
            gtid_text_append_uuid(b, o->uuid);
        }
        if (o->tag[0] != '\0')
            buf_printf(b, ":%s", o->tag);
        for (size_t k = 0; k < o->intervals.n; k++) {
            const struct interval v = o->intervals.list[k];

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
            const struct gtid_origin *o = &s->origins[i];

            buf_printf(b, "%s%" PRIu32 "-%" PRIu32 "-%" PRIu64, i > 0 ? "," : "", o->domain,
                       o->server, o->number);
        }
}

/* "5", "5-9" */
static bool read_interval(struct gtid_text *t, struct interval *out)
{
    if (!gtid_text_number(t, INT64_MAX - 1, &out->start))
        return false;
    out->end = out->start;
    if (gtid_text_skip_char(t, '-') && !gtid_text_number(t, INT64_MAX - 1, &out->end))
        return false;
    if (out->start == 0 || out->end < out->start)
        return false;
    out->end++;
    return true;
}

/* uuid[:tag]:interval[:interval]…[:tag:interval…] */
static bool read_mysql(struct gtid_text *t, struct gtid_set *s)
{
    struct gtid_origin key = {0};
    bool any = false;

    if (!gtid_text_uuid(t, key.uuid))
        return false;
    while (gtid_text_skip_char(t, ':')) {
        struct interval v;

        if (gtid_text_is_at_tag(t)) {
            if (!gtid_text_tag(t, key.tag))
                return false;
            any = false;
            continue;
        }
        if (!read_interval(t, &v))
            return false;
        intervals_add(&gtid_origin_need(s, &key)->intervals, v);
        any = true;
    }
    return any;
}

static bool read_element(struct gtid_text *t, struct gtid_set *s)
{
    struct gtid g = {0};

    if (s->family == GTID_MYSQL)
        return read_mysql(t, s);
    if (!gtid_parse_mariadb(t, &g))
        return false;
    gtid_set_add(s, &g);
    return true;
}

bool gtid_set_parse(struct str text, struct gtid_set **out, struct err *err)
{
    struct gtid_text t = gtid_text_of(text);
    struct gtid_set *s = gtid_set_new();

    s->family = gtid_family_of(text);
    for (gtid_text_skip_space(&t); t.p < t.end; gtid_text_skip_space(&t)) {
        if (gtid_text_skip_char(&t, ','))
            continue; /* servers accept empty elements */
        if (s->n_origins > GTID_ORIGINS_MAX || !read_element(&t, s) ||
            (gtid_text_skip_space(&t), t.p < t.end && *t.p != ',')) {
            gtid_set_free(s);
            return err_set(err, ERR_REJECT, "'%" STR_FMT "' is not a GTID set", STR_ARG(text));
        }
    }
    *out = s;
    return true;
}
