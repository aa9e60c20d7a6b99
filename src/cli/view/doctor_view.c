#include "config.h"

#include "src/cli/view/doctor_view.h"

#include "src/base/base.h"
#include "src/base/buf.h"
#include "src/format/json.h"

/* Append a label and a text, if the check has it. */
static void put_part(struct buf *out, struct str check, const char *label, const char *pointer,
                     const char *end)
{
    struct buf value = {0};

    render_value(&value, (struct render_style){0}, check, pointer, RENDER_TEXT);
    if (value.len > 0)
        buf_printf(out, "%s%s%s", label, value.ptr, end);
    buf_free(&value);
}

static bool is_ok(struct str check)
{
    struct buf status = {0};
    const bool ok =
        json_find_text(check, "/status", &status) && str_equal(buf_str(&status), STR("ok"));

    buf_free(&status);
    return ok;
}

static void view_check(struct buf *out, struct render_style style, struct str check, bool ok)
{
    render_value(out, style, check, "/status", RENDER_STATE);
    buf_append(out, STR("  "));
    put_part(out, check, "", "/group", "");
    put_part(out, check, " ", "/subject", "");
    put_part(out, check, ": ", "/message", "\n");
    if (ok)
        return;
    put_part(out, check, "      since: ", "/since", "\n");
    put_part(out, check, "      why: ", "/why", "\n");
    put_part(out, check, "      fix: ", "/fix", "\n");
}

bool doctor_view_checks(struct buf *out, struct render_style style, struct str json,
                        const char *list, bool all)
{
    struct json_reader r;
    struct str items, check;
    bool warned = false;

    if (!json_find(json, list, &items))
        return false;
    json_reader_init(&r, items);
    if (json_enter_array(&r))
        while (json_next_element(&r) && json_read_raw(&r, &check)) {
            const bool ok = is_ok(check);

            warned = warned || !ok;
            if (all || !ok)
                view_check(out, style, check, ok);
        }
    return warned;
}

void doctor_view_verdict(struct buf *out, struct str json, bool warned)
{
    bool ok = false;

    if (!json_find_bool(json, "/ok", &ok))
        buf_append(out,
                   STR("Not known yet: the search engine or the store has never answered.\n"));
    else
        buf_append(out, !ok      ? STR("Something needs fixing.\n")
                        : warned ? STR("Millrace works; look at the warnings.\n")
                                 : STR("All is well.\n"));
}
