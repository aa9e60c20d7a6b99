#include "config.h"

#include "src/format/json.h"

#include "src/base/utf8.h"

#include <stdlib.h>

static uint32_t hex_digit(char c)
{
    if (c >= '0' && c <= '9')
        return (uint32_t)(c - '0');
    return (uint32_t)((c | 0x20) - 'a' + 10);
}

/* Decodes the \uXXXX at the start of s. Returns false if there is none. */
static bool code_unit(struct str s, uint32_t *unit)
{
    if (s.len < 6 || s.ptr[0] != '\\' || s.ptr[1] != 'u')
        return false;
    *unit = 0;
    for (size_t i = 2; i < 6; i++)
        *unit = *unit << 4 | (hex_digit(s.ptr[i]) & 0xf);
    return true;
}

static bool is_high_surrogate(uint32_t unit)
{
    return unit >= 0xd800 && unit < 0xdc00;
}

static bool is_low_surrogate(uint32_t unit)
{
    return unit >= 0xdc00 && unit < 0xe000;
}

/* Appends the character of the \uXXXX at the start of s, or of a surrogate pair. */
static size_t unescape_unicode(struct buf *out, struct str s)
{
    uint32_t unit = 0, low = 0;
    char utf8[4];
    size_t n = 6;

    if (!code_unit(s, &unit))
        return s.len;
    if (is_high_surrogate(unit) && code_unit((struct str){s.ptr + 6, s.len - 6}, &low) &&
        is_low_surrogate(low)) {
        unit = 0x10000 + ((unit - 0xd800) << 10) + (low - 0xdc00);
        n = 12;
    } else if (is_high_surrogate(unit) || is_low_surrogate(unit)) {
        unit = 0xfffd;
    }
    buf_append(out, (struct str){utf8, utf8_encode(utf8, unit)});
    return n;
}

/* Appends the meaning of the escape at the start of s. Returns the escape's length. */
static size_t unescape_one(struct buf *out, struct str s)
{
    char c = s.len > 1 ? s.ptr[1] : '\\';

    switch (c) {
    case 'b': buf_append_char(out, '\b'); break;
    case 'f': buf_append_char(out, '\f'); break;
    case 'n': buf_append_char(out, '\n'); break;
    case 'r': buf_append_char(out, '\r'); break;
    case 't': buf_append_char(out, '\t'); break;
    case 'u': return unescape_unicode(out, s);
    default: buf_append_char(out, c); break;
    }
    return s.len > 1 ? 2 : s.len;
}

void json_unescape(struct buf *out, struct str raw)
{
    while (raw.len > 0) {
        const char *backslash = memchr(raw.ptr, '\\', raw.len);
        size_t n = backslash != NULL ? (size_t)(backslash - raw.ptr) : raw.len;

        buf_append(out, (struct str){raw.ptr, n});
        raw = (struct str){raw.ptr + n, raw.len - n};
        if (raw.len > 0) {
            n = unescape_one(out, raw);
            raw = (struct str){raw.ptr + n, raw.len - n};
        }
    }
}

/* An escape is longer than what it means, so only longer strings need a closer look. */
bool json_string_equal(struct str raw, struct str plain)
{
    if (raw.len < plain.len)
        return false;
    if (raw.len == 0)
        return true;
    if (raw.len == plain.len)
        return memcmp(raw.ptr, plain.ptr, raw.len) == 0 &&
               memchr(raw.ptr, '\\', raw.len) == NULL;
    if (memchr(raw.ptr, '\\', raw.len) == NULL)
        return false;

    struct buf meant = {0};

    json_unescape(&meant, raw);

    bool equal = str_equal(buf_str(&meant), plain);

    buf_free(&meant);
    return equal;
}

/* Takes one step of a pointer, up to the next slash: "~1" means "/", "~0" means "~". */
static const char *take_step(const char *pointer, struct buf *step)
{
    buf_clear(step);
    buf_append(step, STR(""));
    while (*pointer != '\0' && *pointer != '/') {
        if (pointer[0] == '~' && (pointer[1] == '0' || pointer[1] == '1')) {
            buf_append_char(step, pointer[1] == '0' ? '~' : '/');
            pointer += 2;
        } else {
            buf_append_char(step, *pointer++);
        }
    }
    return pointer;
}

static bool enter_member(struct json_reader *r, struct str name)
{
    struct str key;

    if (!json_enter_object(r))
        return false;
    while (json_next_member(r, &key))
        if (json_string_equal(key, name))
            return true;
    return false;
}

static bool enter_element(struct json_reader *r, const char *number)
{
    char *end;
    unsigned long i = strtoul(number, &end, 10);

    if (*number < '0' || *number > '9' || *end != '\0' || !json_enter_array(r))
        return false;
    while (json_next_element(r))
        if (i-- == 0)
            return true;
    return false;
}

/* Moves r to the value. */
static bool seek(struct json_reader *r, const char *pointer)
{
    struct buf step = {0};
    bool found = true;

    while (found && *pointer == '/') {
        pointer = take_step(pointer + 1, &step);
        if (json_peek(r) == JSON_OBJECT)
            found = enter_member(r, buf_str(&step));
        else
            found = json_peek(r) == JSON_ARRAY && enter_element(r, step.ptr);
    }
    buf_free(&step);
    return found && *pointer == '\0';
}

bool json_find(struct str text, const char *pointer, struct str *raw)
{
    struct json_reader r;

    json_reader_init(&r, text);
    return seek(&r, pointer) && json_read_raw(&r, raw);
}

bool json_find_text(struct str text, const char *pointer, struct buf *out)
{
    struct json_reader r;

    json_reader_init(&r, text);
    return seek(&r, pointer) && json_read_text(&r, out);
}

bool json_find_u64(struct str text, const char *pointer, uint64_t *v)
{
    struct json_reader r;

    json_reader_init(&r, text);
    return seek(&r, pointer) && json_read_u64(&r, v);
}

bool json_find_bool(struct str text, const char *pointer, bool *v)
{
    struct json_reader r;

    json_reader_init(&r, text);
    return seek(&r, pointer) && json_read_bool(&r, v);
}

/* Returns the length of the string, with quotes, at the start of valid JSON. */
static size_t string_len(struct str s)
{
    size_t i = 1;

    while (s.ptr[i] != '"')
        i += s.ptr[i] == '\\' ? 2 : 1;
    return i + 1;
}

bool json_compact(struct buf *out, struct str text)
{
    struct err ignored;

    if (!json_valid(text, &ignored))
        return false;
    buf_reserve(out, text.len);
    for (size_t i = 0; i < text.len;) {
        const char c = text.ptr[i];
        const struct str rest = {text.ptr + i, text.len - i};
        const size_t n = c == '"' ? string_len(rest) : 1;

        if (c != ' ' && c != '\n' && c != '\r' && c != '\t')
            buf_append(out, (struct str){rest.ptr, n});
        i += n;
    }
    return true;
}
