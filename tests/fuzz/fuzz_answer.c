#include "config.h"

#include "tests/fuzz/fuzz.h"

#include "src/cli/view/render.h"
#include "src/format/json.h"
#include "web/page/page.h"

#include <assert.h>
#include <string.h>

static const struct render_column columns[] = {
    {"A", "/name", RENDER_TEXT},           {"B", "/state", RENDER_STATE},
    {"C", "/position", RENDER_COUNT},      {"D", "/lag_bytes", RENDER_BYTES},
    {"E", "/lag_seconds", RENDER_SECONDS}, {"F", "/pending", RENDER_YES},
};

/* What goes to a terminal holds no control character but line ends. */
static void assert_tame(struct str text)
{
    for (size_t i = 0; i < text.len; i++)
        assert((unsigned char)text.ptr[i] >= 0x20 || text.ptr[i] == '\n');
}

/* An answer, whoever made it: shown as a table and as a page it steers neither. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct str json = {(const char *)data, size}, items;
    struct buf out = {0};
    struct err err;

    page_render(&out, json, "0");
    buf_append_char(&out, '\0');
    assert(strstr(out.ptr, "<script") == NULL && strstr(out.ptr, "</html>") != NULL);
    buf_clear(&out);
    if (json_find(json, "/topics", &items))
        render_table(&out, (struct render_style){0}, items, columns, ARRAY_LEN(columns));
    assert_tame(buf_str(&out));
    buf_clear(&out);
    if (json_valid(json, &err)) {
        render_json(&out, json);
        assert(json_valid(buf_str(&out), &err));
        buf_clear(&out);
        render_yaml(&out, json);
    }
    buf_free(&out);
    return 0;
}
