#include "config.h"

#include "src/format/json.h"

#include "src/base/utf8.h"

#include <assert.h>

void json_reader_init(struct json_reader *r, struct str text)
{
    *r = (struct json_reader){.text = text, .pending = true};
}

static COLD bool fail_at(struct json_reader *r, size_t pos, const char *reason)
{
    if (r->fault == NULL) {
        r->fault = reason;
        r->fault_pos = pos;
    }
    return false;
}

static bool fail(struct json_reader *r, const char *reason)
{
    return fail_at(r, r->pos, reason);
}

bool json_reader_ok(const struct json_reader *r)
{
    return r->fault == NULL;
}

static void skip_spaces(struct json_reader *r)
{
    while (r->pos < r->text.len) {
        char c = r->text.ptr[r->pos];

        if (c != ' ' && c != '\n' && c != '\r' && c != '\t')
            return;
        r->pos++;
    }
}

/* Most texts hold none. */
static inline void skip_space(struct json_reader *r)
{
    if (r->pos < r->text.len && (unsigned char)r->text.ptr[r->pos] <= ' ')
        skip_spaces(r);
}

/*
 * Returns the next character that is not white space; '\0' at the end, since JSON has no NUL.
 */
static inline char next_char(struct json_reader *r)
{
    skip_space(r);
    return r->pos < r->text.len ? r->text.ptr[r->pos] : '\0';
}

void json_reader_fail(struct json_reader *r, const char *reason)
{
    skip_space(r);
    fail(r, reason);
}

static bool innermost_is_object(const struct json_reader *r)
{
    unsigned level = r->depth - 1;

    return (r->is_object[level / 64] >> level % 64 & 1) != 0;
}

static bool push_level(struct json_reader *r, bool object)
{
    unsigned level = r->depth;

    if (level == JSON_DEPTH_MAX)
        return fail(r, "nested too deeply");

    uint64_t bit = UINT64_C(1) << level % 64;

    r->is_object[level / 64] =
        object ? r->is_object[level / 64] | bit : r->is_object[level / 64] & ~bit;
    r->depth++;
    r->pos++;
    r->first = true;
    return true;
}

static bool pop_level(struct json_reader *r)
{
    r->depth--;
    r->pos++;
    r->first = false;
    return false;
}

/* Steps to the announced value. */
static bool begin_value(struct json_reader *r)
{
    if (r->fault != NULL)
        return false;
    if (!r->pending)
        return fail(r, "no value is due here");
    r->pending = false;
    skip_space(r);
    return true;
}

enum json_type json_peek(struct json_reader *r)
{
    static const uint8_t types[UINT8_MAX + 1] = {
        ['{'] = JSON_OBJECT, ['['] = JSON_ARRAY,  ['"'] = JSON_STRING, ['n'] = JSON_NULL,
        ['t'] = JSON_BOOL,   ['f'] = JSON_BOOL,   ['-'] = JSON_NUMBER, ['0'] = JSON_NUMBER,
        ['1'] = JSON_NUMBER, ['2'] = JSON_NUMBER, ['3'] = JSON_NUMBER, ['4'] = JSON_NUMBER,
        ['5'] = JSON_NUMBER, ['6'] = JSON_NUMBER, ['7'] = JSON_NUMBER, ['8'] = JSON_NUMBER,
        ['9'] = JSON_NUMBER,
    };

    if (r->fault != NULL || !r->pending)
        return JSON_NONE;
    return types[(uint8_t)next_char(r)];
}

static bool is_hex(char c)
{
    return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F');
}

/* Returns the length of the escape at i, or 0 if it is not an escape. */
static size_t escape_len(struct str s, size_t i)
{
    if (i + 1 >= s.len)
        return 0;
    switch (s.ptr[i + 1]) {
    case '"':
    case '\\':
    case '/':
    case 'b':
    case 'f':
    case 'n':
    case 'r':
    case 't': return 2;
    case 'u': break;
    default: return 0;
    }
    for (size_t k = i + 2; k < i + 6; k++)
        if (k >= s.len || !is_hex(s.ptr[k]))
            return 0;
    return 6;
}

/* Passes a string with both quotes; raw is the text between them. */
static inline bool scan_string(struct json_reader *r, struct str *raw)
{
    struct str s = r->text;
    size_t i = r->pos + 1;

    r->has_escape = false;
    for (;;) {
        i += utf8_literal_len((struct str){s.ptr + i, s.len - i});
        if (i == s.len)
            return fail(r, "a string without an end");
        if (s.ptr[i] == '"')
            break;
        if (s.ptr[i] != '\\')
            return fail_at(r, i,
                           (unsigned char)s.ptr[i] < 0x20 ? "a control character in a string"
                                                          : "bytes that are not UTF-8");

        size_t n = escape_len(s, i);

        if (n == 0)
            return fail_at(r, i, "an escape that JSON does not know");
        r->has_escape = true;
        i += n;
    }
    *raw = (struct str){s.ptr + r->pos + 1, i - r->pos - 1};
    r->pos = i + 1;
    return true;
}

static size_t count_digits(struct str s, size_t i)
{
    size_t from = i;

    while (i < s.len && s.ptr[i] >= '0' && s.ptr[i] <= '9')
        i++;
    return i - from;
}

/* Returns the length of the number at the start of s, or 0 if there is none. */
static size_t number_len(struct str s)
{
    size_t i = s.len > 0 && s.ptr[0] == '-' ? 1 : 0;
    size_t n = count_digits(s, i);

    if (n == 0 || (n > 1 && s.ptr[i] == '0'))
        return 0;
    i += n;
    if (i < s.len && s.ptr[i] == '.') {
        n = count_digits(s, i + 1);
        if (n == 0)
            return 0;
        i += 1 + n;
    }
    if (i < s.len && (s.ptr[i] == 'e' || s.ptr[i] == 'E')) {
        i++;
        if (i < s.len && (s.ptr[i] == '+' || s.ptr[i] == '-'))
            i++;
        n = count_digits(s, i);
        if (n == 0)
            return 0;
        i += n;
    }
    return i;
}

static bool scan_number(struct json_reader *r, struct str *text)
{
    struct str rest = {r->text.ptr + r->pos, r->text.len - r->pos};
    size_t n = number_len(rest);

    if (n == 0)
        return fail(r, "not a number");
    *text = (struct str){rest.ptr, n};
    r->pos += n;
    return true;
}

static bool scan_word(struct json_reader *r, struct str word)
{
    struct str rest = {r->text.ptr + r->pos, r->text.len - r->pos};

    if (!str_has_prefix(rest, word))
        return false;
    r->pos += word.len;
    return true;
}

bool json_enter_object(struct json_reader *r)
{
    if (!begin_value(r))
        return false;
    if (next_char(r) != '{')
        return fail(r, "not an object");
    return push_level(r, true);
}

bool json_enter_array(struct json_reader *r)
{
    if (!begin_value(r))
        return false;
    if (next_char(r) != '[')
        return fail(r, "not an array");
    return push_level(r, false);
}

/*
 * Steps past the comma to the next member or element of the innermost level. At the closing
 * bracket, leaves the level and returns false.
 */
static inline bool step(struct json_reader *r, char close)
{
    if (r->pending && !json_skip(r))
        return false;

    char c = next_char(r);

    if (c == close)
        return pop_level(r);
    if (!r->first) {
        if (c != ',')
            return fail(r,
                        close == '}' ? "a comma or } is missing" : "a comma or ] is missing");
        r->pos++;
    }
    r->first = false;
    return true;
}

bool json_next_member(struct json_reader *r, struct str *raw_key)
{
    if (r->fault != NULL)
        return false;
    assert(r->depth > 0 && innermost_is_object(r));
    if (!step(r, '}'))
        return false;
    if (next_char(r) != '"')
        return fail(r, "a key is missing");
    if (!scan_string(r, raw_key))
        return false;
    if (next_char(r) != ':')
        return fail(r, "a colon is missing");
    r->pos++;
    r->pending = true;
    return true;
}

bool json_next_element(struct json_reader *r)
{
    if (r->fault != NULL)
        return false;
    assert(r->depth > 0 && !innermost_is_object(r));
    if (!step(r, ']'))
        return false;
    r->pending = true;
    return true;
}

static bool next_of_either(struct json_reader *r)
{
    struct str key;

    return innermost_is_object(r) ? json_next_member(r, &key) : json_next_element(r);
}

bool json_leave(struct json_reader *r)
{
    unsigned outside = r->depth - 1;

    assert(r->fault != NULL || r->depth > 0);
    while (r->fault == NULL && r->depth > outside)
        next_of_either(r);
    return r->fault == NULL;
}

/* Passes a scalar, or enters an object or array. */
static bool pass(struct json_reader *r)
{
    struct str ignored;
    bool flag;

    switch (json_peek(r)) {
    case JSON_OBJECT: return json_enter_object(r);
    case JSON_ARRAY: return json_enter_array(r);
    case JSON_STRING: return json_read_string(r, &ignored);
    case JSON_NUMBER: return json_read_number(r, &ignored);
    case JSON_BOOL: return json_read_bool(r, &flag);
    case JSON_NULL: return json_read_null(r);
    case JSON_NONE: break;
    }
    return fail(r, "a value is missing");
}

bool json_skip(struct json_reader *r)
{
    unsigned outside = r->depth;

    if (r->fault != NULL)
        return false;
    do {
        pass(r);
        while (r->fault == NULL && r->depth > outside && !next_of_either(r))
            ;
    } while (r->fault == NULL && r->depth > outside);
    return r->fault == NULL;
}

bool json_read_raw(struct json_reader *r, struct str *raw)
{
    skip_space(r);

    size_t start = r->pos;

    if (!json_skip(r))
        return false;
    *raw = (struct str){r->text.ptr + start, r->pos - start};
    return true;
}

bool json_read_string(struct json_reader *r, struct str *raw)
{
    if (!begin_value(r))
        return false;
    if (next_char(r) != '"')
        return fail(r, "not a string");
    return scan_string(r, raw);
}

bool json_read_number(struct json_reader *r, struct str *text)
{
    return begin_value(r) && scan_number(r, text);
}

/* Parses the decimal digits of s as a number up to max. */
static bool parse_digits(struct str s, uint64_t max, uint64_t *v)
{
    uint64_t n = 0;

    for (size_t i = 0; i < s.len; i++) {
        unsigned digit = (unsigned)(s.ptr[i] - '0');

        if (digit > 9 || n > (max - digit) / 10)
            return false;
        n = n * 10 + digit;
    }
    *v = n;
    return s.len > 0;
}

bool json_read_u64(struct json_reader *r, uint64_t *v)
{
    struct str text;
    size_t start = r->pos;

    if (!json_read_number(r, &text))
        return false;
    return parse_digits(text, UINT64_MAX, v) ||
           fail_at(r, start, "not an integer from 0 to 2^64-1");
}

bool json_read_bool(struct json_reader *r, bool *v)
{
    if (!begin_value(r))
        return false;
    *v = scan_word(r, STR("true"));
    return *v || scan_word(r, STR("false")) || fail(r, "not true or false");
}

bool json_read_null(struct json_reader *r)
{
    if (!begin_value(r))
        return false;
    return scan_word(r, STR("null")) || fail(r, "not null");
}

bool json_read_text(struct json_reader *r, struct buf *out)
{
    struct str raw;

    if (!json_read_string(r, &raw))
        return false;
    json_unescape(out, raw);
    return true;
}

bool json_reader_finish(struct json_reader *r, struct err *err)
{
    if (r->fault == NULL && r->pending)
        json_skip(r);
    while (r->fault == NULL && r->depth > 0)
        json_leave(r);
    if (r->fault == NULL && next_char(r) != '\0')
        fail(r, "something follows the end");
    if (r->fault == NULL && r->pos < r->text.len)
        fail(r, "a NUL byte follows the end");
    if (r->fault == NULL)
        return true;
    return err_set(err, ERR_REJECT, "not JSON at byte %zu: %s", r->fault_pos, r->fault);
}

bool json_valid(struct str text, struct err *err)
{
    struct json_reader r;

    json_reader_init(&r, text);
    return json_reader_finish(&r, err);
}

size_t json_count_elements(struct str text)
{
    struct json_reader r;
    size_t n = 0;

    json_reader_init(&r, text);
    if (json_peek(&r) == JSON_ARRAY && json_enter_array(&r))
        while (json_next_element(&r) && json_skip(&r))
            n++;
    return n;
}
