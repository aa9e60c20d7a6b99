#include "config.h"

#include "src/render_line.h"

void render_line(struct buf *out, struct str item, const struct render_part *parts, size_t n)
{
    struct buf value = {0};
    bool any = false;

    for (size_t i = 0; i < n; i++) {
        const struct render_part *part = &parts[i];

        buf_clear(&value);
        render_value(&value, (struct render_style){0}, item, part->pointer, part->kind);
        if (value.len == 0)
            continue;
        buf_append(out, str_from(part->before));
        buf_append(out, buf_str(&value));
        if (part->after != NULL)
            buf_append(out, str_from(part->after));
        any = true;
    }
    if (any)
        buf_append_char(out, '\n');
    buf_free(&value);
}
