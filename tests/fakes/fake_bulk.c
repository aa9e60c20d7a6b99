#include "config.h"

#include "tests/fakes/fake_bulk.h"

#include "src/base/err.h"
#include "src/format/json.h"

#include <string.h>

/* The engine's own limit: a longer id makes the whole request malformed. */
#define ID_MAX 512

static struct str text_of(struct json_reader *j, struct arena *a)
{
    struct buf b = {0};
    struct str s = {0};

    if (json_read_text(j, &b))
        s = arena_copy(a, buf_str(&b));
    buf_free(&b);
    return s;
}

static enum fake_version_type version_type_of(struct str name)
{
    if (str_equal(name, STR("external")))
        return FAKE_EXTERNAL;
    return str_equal(name, STR("external_gte")) ? FAKE_EXTERNAL_GTE : FAKE_INTERNAL;
}

static void read_meta(struct json_reader *j, struct arena *a, struct fake_bulk_op *out)
{
    struct str key;

    if (!json_enter_object(j))
        return;
    while (json_next_member(j, &key)) {
        if (str_equal(key, STR("_id")))
            out->op.id = text_of(j, a);
        else if (str_equal(key, STR("_index")))
            out->index = text_of(j, a);
        else if (str_equal(key, STR("routing")))
            out->routing = text_of(j, a);
        else if (str_equal(key, STR("version")))
            json_read_u64(j, &out->op.version);
        else if (str_equal(key, STR("version_type")))
            out->op.version_type = version_type_of(text_of(j, a));
        else if (!str_equal(key, STR("require_alias")) &&
                 !(out->is_update && str_equal(key, STR("retry_on_conflict"))))
            json_reader_fail(j, "unknown parameter");
    }
}

static bool read_action(struct str line, struct arena *a, struct fake_bulk_op *out)
{
    struct json_reader j;
    struct err err;
    struct str key;

    *out = (struct fake_bulk_op){.index = STR("")};
    json_reader_init(&j, line);
    if (json_enter_object(&j))
        while (json_next_member(&j, &key)) {
            if (str_equal(key, STR("delete")))
                out->op.is_delete = true;
            else if (str_equal(key, STR("update")))
                out->is_update = true;
            else if (!str_equal(key, STR("index")))
                json_reader_fail(&j, "unknown action");
            read_meta(&j, a, out);
        }
    return json_reader_finish(&j, &err) && out->op.id.len > 0 && out->op.id.len <= ID_MAX &&
           out->op.version <= INT64_MAX;
}

/* False: there is no further whole line. */
static bool next_line(struct str *rest, struct str *line)
{
    const char *end = rest->len == 0 ? NULL : memchr(rest->ptr, '\n', rest->len);

    if (end == NULL)
        return false;
    *line = (struct str){rest->ptr, (size_t)(end - rest->ptr)};
    rest->ptr = end + 1;
    rest->len -= line->len + 1;
    return true;
}

bool fake_bulk_parse(struct str body, struct arena *a, struct fake_bulk *out)
{
    size_t n_lines = 0;
    struct str line;

    for (size_t i = 0; i < body.len; i++)
        n_lines += body.ptr[i] == '\n';
    out->ops = arena_alloc(a, n_lines + 1, sizeof(*out->ops));
    out->n = 0;
    while (next_line(&body, &line)) {
        struct fake_bulk_op *op = &out->ops[out->n++];

        if (!read_action(line, a, op))
            return false;
        if (op->op.is_delete)
            continue;
        if (!next_line(&body, &line))
            return false;
        op->op.body = arena_copy(a, line);
        op->is_scripted = op->is_update && json_find(line, "/script", &line);
    }
    return out->n > 0 && body.len == 0;
}
