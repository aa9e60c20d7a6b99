#include "config.h"

#include "tests/fakes/fake_area.h"

#include "src/base/buf.h"
#include "src/base/err.h"
#include "src/format/json.h"

#include <stdio.h>

#define UPDATES_MAX 18

struct params {
    struct buf area, whole;
    uint64_t version, floor;
    struct str value;
};

/* {"a":1} with name set to value, in its place or at the end. */
static void set_member(struct buf *out, struct str object, struct str name, struct str value)
{
    struct json_writer w = {.out = out};
    struct json_reader j;
    struct str key, raw;
    bool set = false;

    json_reader_init(&j, object);
    json_open_object(&w);
    if (json_enter_object(&j))
        while (json_next_member(&j, &key) && json_read_raw(&j, &raw)) {
            const bool is_it = json_string_equal(key, name);

            json_put_raw(&w, key, is_it ? value : raw);
            set = set || is_it;
        }
    if (!set)
        json_put_raw(&w, name, value);
    json_close_object(&w);
}

static uint64_t known_version(struct str ours, struct str area, uint64_t whole)
{
    char path[128];
    uint64_t known;

    snprintf(path, sizeof(path), "/areas/%.*s", STR_ARG(area));
    return json_find_u64(ours, path, &known) ? known : whole;
}

static void write_area(struct str source, struct str ours, const struct params *p,
                       struct buf *out)
{
    struct buf areas = {0}, next = {0}, with = {0}, number = {0};
    struct str old;

    buf_append_u64(&number, p->version);
    set_member(&areas, json_find(ours, "/areas", &old) ? old : STR("{}"), buf_str(&p->area),
               buf_str(&number));
    set_member(&next, ours, STR("areas"), buf_str(&areas));
    set_member(&with, source, STR("_millrace"), buf_str(&next));
    set_member(out, buf_str(&with), buf_str(&p->area), p->value);
    buf_free(&areas);
    buf_free(&next);
    buf_free(&with);
    buf_free(&number);
}

static enum fake_area judge(struct str source, uint64_t version, const struct params *p,
                            struct buf *out)
{
    struct str ours;
    uint64_t whole;

    if (!json_find(source, "/_millrace", &ours) || !json_find_u64(ours, "/version", &whole))
        return FAKE_AREA_REFUSED;
    if (known_version(ours, buf_str(&p->area), whole) >= p->version)
        return FAKE_AREA_NONE;
    if (version - whole >= UPDATES_MAX || version >= p->version || version < p->floor)
        return FAKE_AREA_REFUSED;
    write_area(source, ours, p, out);
    return FAKE_AREA_WRITTEN;
}

enum fake_area fake_area_update(struct str source, uint64_t version, struct str line,
                                struct buf *out, struct buf *refusal)
{
    struct params p = {0};
    enum fake_area what = FAKE_AREA_REFUSED;

    if (json_find_text(line, "/script/params/area", &p.area) &&
        json_find_text(line, "/script/params/whole", &p.whole) &&
        json_find_u64(line, "/script/params/version", &p.version) &&
        json_find_u64(line, "/script/params/floor", &p.floor) &&
        json_find(line, "/script/params/value", &p.value))
        what = judge(source, version, &p, out);
    if (what == FAKE_AREA_REFUSED)
        buf_printf(refusal, "failed to execute script: runtime error: %.*s",
                   STR_ARG(buf_str(&p.whole)));
    buf_free(&p.area);
    buf_free(&p.whole);
    return what;
}
