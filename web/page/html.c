#include "config.h"

#include "web/page/html.h"

#include "src/base/utf8.h"

#include <string.h>

/* What to write for the n-byte character at s; n 0: it is not valid UTF-8. */
static struct str escaped(struct str s, size_t n)
{
    if (n == 0)
        return STR(UTF8_REPLACEMENT);
    switch (s.ptr[0]) {
    case '&': return STR("&amp;");
    case '<': return STR("&lt;");
    case '>': return STR("&gt;");
    case '"': return STR("&quot;");
    case '\'': return STR("&#39;");
    case '\0': return STR(UTF8_REPLACEMENT);
    default: return (struct str){s.ptr, n};
    }
}

void html_text(struct buf *b, struct str s)
{
    while (s.len > 0) {
        size_t n = utf8_char_len(s);
        size_t skip = n > 0 ? n : utf8_bad_len(s);

        buf_append(b, escaped(s, n));
        s = (struct str){s.ptr + skip, s.len - skip};
    }
}

void html_element(struct buf *b, const char *tag, struct str text)
{
    buf_printf(b, "<%s>", tag);
    html_text(b, text);
    buf_printf(b, "</%.*s>", (int)strcspn(tag, " "), tag);
}
