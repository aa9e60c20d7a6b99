#include "config.h"

#include "sync/delivery/bulk/bulk.h"

#include "src/base/buf.h"
#include "sync/delivery/document/area.h"
#include "sync/delivery/document/target.h"

#include <assert.h>
#include <ctype.h>
#include <string.h>

/*
 * How long an engine may hold back a whole request because one document's shard is away.  By
 * default it is a minute, during which all the others would wait.
 */
#define SHARD_WAIT "2s"

/* The parts of the answer that we need to match each item to its action and to judge it. */
#define FILTER_PATH \
    "errors,items.*._index,items.*._id,items.*.status,items.*.result,items.*.error"

static void append_url_part(struct buf *out, struct str s)
{
    for (size_t i = 0; i < s.len; i++) {
        unsigned char c = (unsigned char)s.ptr[i];

        if (isalnum(c) || c == '-' || c == '_' || c == '.' || c == '~')
            buf_append_char(out, (char)c);
        else
            buf_printf(out, "%%%02X", c);
    }
}

void bulk_path(struct buf *out, struct str write_alias)
{
    buf_append_char(out, '/');
    append_url_part(out, write_alias);
    buf_append(
        out, STR("/_bulk?require_alias=true&timeout=" SHARD_WAIT "&filter_path=" FILTER_PATH));
}

void bulk_get_path(struct buf *out, struct str write_alias, const struct write *w)
{
    buf_append_char(out, '/');
    append_url_part(out, write_alias);
    buf_append(out, STR("/_doc/"));
    append_url_part(out, write_id(w));
    buf_append(out, STR("?_source=false"));
    if (w->routing_len > 0) {
        buf_append(out, STR("&routing="));
        append_url_part(out, write_routing(w));
    }
}

struct str bulk_action(const struct write *w)
{
    static const char *const names[] = {
        [DOC_INDEX] = "index", [DOC_DELETE] = "delete", [DOC_UPDATE] = "update"};

    assert(w->op != DOC_REFRESH);
    return str_from(names[w->op]);
}

/* If an update conflicts with another one, the engine retries it at once. */
static void append_version(struct buf *out, const struct write *w)
{
    if (w->op == DOC_UPDATE) {
        buf_append(out, STR(",\"retry_on_conflict\":3}}\n"));
        return;
    }
    buf_append(out, STR(",\"version\":"));
    buf_append_u64(out, w->version);
    if (w->strict)
        buf_append(out, STR(",\"version_type\":\"external\"}}\n"));
    else
        buf_append(out, STR(",\"version_type\":\"external_gte\"}}\n"));
}

static void append_action(struct buf *out, const struct write *w)
{
    buf_append(out, STR("{\""));
    buf_append(out, bulk_action(w));
    buf_append(out, STR("\":{\"_id\":"));
    buf_append_json(out, write_id(w));
    if (w->routing_len > 0) {
        buf_append(out, STR(",\"routing\":"));
        buf_append_json(out, write_routing(w));
    }
    if (w->op == DOC_INDEX && w->target->pipeline != NULL) {
        buf_append(out, STR(",\"pipeline\":"));
        buf_append_json(out, str_from(w->target->pipeline));
    }
    append_version(out, w);
}

static void append_body(struct buf *out, const struct write *w, uint64_t floor)
{
    const size_t start = out->len;

    if (w->op == DOC_UPDATE)
        area_append_update(out, w, floor);
    else if (w->target->n_areas > 0)
        area_append_whole(out, w, write_body(w));
    else
        buf_append(out, write_body(w));
    for (char *at = out->ptr + start, *end = out->ptr + out->len;
         (at = memchr(at, '\n', (size_t)(end - at))) != NULL;)
        *at++ = ' ';
    buf_append_char(out, '\n');
}

void bulk_append(struct buf *out, const struct write *w, uint64_t floor)
{
    assert(w->op != DOC_REFRESH && w->version <= INT64_MAX);
    append_action(out, w);
    if (w->op != DOC_DELETE)
        append_body(out, w, floor);
}

/* If a document with this id does exist, an empty update does not change it either. */
void bulk_append_guard(struct buf *out)
{
    buf_append(out, STR("{\"update\":{\"_id\":\"" BULK_GUARD_ID "\"}}\n{\"doc\":{}}\n"));
}

size_t bulk_size(const struct write *w)
{
    const char *pipeline = w->target->pipeline;
    const size_t ours = w->op == DOC_UPDATE      ? 900
                        : w->target->n_areas > 0 ? 50
                        : pipeline != NULL       ? strlen(pipeline) + 15
                                                 : 0;

    return 90 + ours + w->id_len + w->routing_len + w->body_len;
}
