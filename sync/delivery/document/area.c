#include "config.h"

#include "sync/delivery/document/area.h"

#include "src/base/buf.h"
#include "sync/delivery/document/target.h"

#include <assert.h>
#include <string.h>

#define TEXT(x)  TEXT_(x)
#define TEXT_(x) #x

#define UPDATES_MAX TEXT(AREA_UPDATES_MAX)

/* The same text for all areas and documents, so the engine compiles it once. */
#define SCRIPT                                                             \
    "def m = ctx._source." AREA_FIELD ";"                                  \
    "if (m == null) { throw new IllegalArgumentException(params.whole); }" \
    "long whole = m.version;"                                              \
    "def part = m.areas == null ? null : m.areas[params.area];"            \
    "long known = part == null ? whole : part;"                            \
    "if (known >= params.version) { ctx.op = 'none'; return; }"            \
    "if (ctx._version - whole >= " UPDATES_MAX                             \
    " || ctx._version >= params.version || ctx._version < params.floor)"   \
    " { throw new IllegalArgumentException(params.whole); }"               \
    "if (m.areas == null) { m.areas = [:]; }"                              \
    "m.areas[params.area] = params.version;"                               \
    "ctx._source[params.area] = params.value;"

void area_append_update(struct buf *out, const struct write *w, uint64_t floor)
{
    assert(w->op == DOC_UPDATE && w->area > 0 && w->area <= w->target->n_areas);
    buf_append(out, STR("{\"script\":{\"lang\":\"painless\",\"source\":\"" SCRIPT
                        "\",\"params\":{\"whole\":\"" AREA_WHOLE "\",\"area\":"));
    buf_append_json(out, w->target->areas[w->area - 1]);
    buf_append(out, STR(",\"version\":"));
    buf_append_u64(out, w->version);
    buf_append(out, STR(",\"floor\":"));
    buf_append_u64(out, floor < INT64_MAX ? floor : INT64_MAX);
    buf_append(out, STR(",\"value\":"));
    buf_append(out, write_body(w));
    buf_append(out, STR("}}}"));
}

void area_append_whole(struct buf *out, const struct write *w, struct str body)
{
    assert(body.len >= 2 && body.ptr[0] == '{');
    buf_append(out, STR("{\"" AREA_FIELD "\":{\"version\":"));
    buf_append_u64(out, w->version);
    buf_append_char(out, '}');
    if (body.len > 2)
        buf_append_char(out, ',');
    buf_append(out, (struct str){body.ptr + 1, body.len - 1});
}

static bool has(struct str s, const char *what)
{
    return memmem(s.ptr, s.len, what, strlen(what)) != NULL;
}

/*
 * Matches "failed to execute script", "cannot execute [inline] scripts", "compile error" and
 * similar errors.
 */
bool area_is_script_trouble(struct str type, struct str reason)
{
    return (has(type, "illegal_argument") || has(type, "script")) && has(reason, "script") &&
           !has(reason, AREA_WHOLE);
}
