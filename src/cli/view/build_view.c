#include "config.h"

#include "src/cli/view/build_view.h"

#include "src/base/buf.h"
#include "src/base/human.h"
#include "src/format/json.h"

void view_building(struct buf *out, struct render_style style, struct str json)
{
    (void)style;
    buf_append(out, STR("building "));
    render_value(out, (struct render_style){0}, json, "/index", RENDER_TEXT);
    buf_append(out, STR(" version "));
    render_value(out, (struct render_style){0}, json, "/version", RENDER_COUNT);
    buf_append(out, STR(": millrace job list shows how far it is\n"));
}

void view_built(struct buf *out, struct render_style style, struct str json)
{
    (void)style;
    struct str wait;

    buf_append(out, STR("built "));
    render_value(out, (struct render_style){0}, json, "/items/0/index", RENDER_TEXT);
    buf_append(out, STR(" version "));
    render_value(out, (struct render_style){0}, json, "/items/0/version", RENDER_COUNT);
    if (json_find(json, "/items/0/wait/fix", &wait)) {
        buf_append(out, STR(": "));
        render_value(out, (struct render_style){0}, json, "/items/0/wait/fix", RENDER_TEXT);
        buf_append_char(out, '\n');
    } else {
        buf_append(out, STR(": searches use it now\n"));
    }
}

void view_build_cost(struct buf *out, struct render_style style, struct str json)
{
    const struct render_style plain = {0};
    uint64_t rows = 0, examined = 0;

    (void)style;
    json_find_u64(json, "/rows", &rows);
    json_find_u64(json, "/rows_examined", &examined);
    render_value(out, plain, json, "/index", RENDER_TEXT);
    buf_append(out, STR(" in "));
    render_value(out, plain, json, "/buckets", RENDER_COUNT);
    buf_append(out, STR(" buckets by "));
    render_value(out, plain, json, "/buckets_by", RENDER_TEXT);
    buf_append(out, STR(": the server will read "));
    if (rows == 0) {
        buf_append(out, STR("a number of rows that it cannot guess\n"));
        return;
    }
    buf_append(out, STR("about "));
    human_count(out, examined);
    buf_append(out, STR(" rows to find the "));
    human_count(out, rows);
    buf_append(out, STR(" that there are\n"));
}
