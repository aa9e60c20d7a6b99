#include "config.h"

#include "src/base/buf.h"
#include "src/base/utf8.h"
#include "src/mysql/mysql.h"

void mysql_quote_name(struct buf *b, struct str name)
{
    buf_append_char(b, '`');
    for (size_t i = 0; i < name.len; i++) {
        if (name.ptr[i] == '`')
            buf_append_char(b, '`');
        buf_append_char(b, name.ptr[i]);
    }
    buf_append_char(b, '`');
}

void mysql_quote_bytes(struct buf *b, struct str bytes)
{
    buf_append(b, STR("x'"));
    buf_append_hex(b, bytes);
    buf_append_char(b, '\'');
}

enum text_form { TEXT_PLAIN = 0, TEXT_ODD, TEXT_NOT_UTF8 };

/* Unusual bytes: a server, a log or a terminal could misread them. */
static enum text_form examine(struct str text)
{
    if (!utf8_valid(text))
        return TEXT_NOT_UTF8;
    for (size_t i = 0; i < text.len; i++) {
        unsigned char byte = (unsigned char)text.ptr[i];

        if (byte < 0x20 || byte == 0x7f || byte == '\\')
            return TEXT_ODD;
    }
    return TEXT_PLAIN;
}

static void append_doubled(struct buf *b, struct str text)
{
    buf_append_char(b, '\'');
    while (text.len > 0) {
        const char *quote = memchr(text.ptr, '\'', text.len);
        size_t run = quote != NULL ? (size_t)(quote - text.ptr) + 1 : text.len;

        buf_append(b, (struct str){text.ptr, run});
        if (quote != NULL)
            buf_append_char(b, '\'');
        text.ptr += run;
        text.len -= run;
    }
    buf_append_char(b, '\'');
}

void mysql_quote_text(struct buf *b, struct str text)
{
    switch (examine(text)) {
    case TEXT_PLAIN: append_doubled(b, text); return;
    case TEXT_ODD:
        /* The introducer keeps the literal a text: a bare x'..' would compare by bytes and miss
         * indexes. */
        buf_append(b, STR("_utf8mb4 "));
        mysql_quote_bytes(b, text);
        return;
    case TEXT_NOT_UTF8: mysql_quote_bytes(b, text); return;
    }
}
