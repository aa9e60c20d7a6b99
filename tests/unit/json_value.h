/*
 * Random values of JSON, printed in random ways: members in any order and with earlier ones of
 * the same name, numbers and characters in any spelling, with white space.
 */
#ifndef TESTS_UNIT_JSON_VALUE_H
#define TESTS_UNIT_JSON_VALUE_H

#include "tests/unit/unit.h"

#include "src/base/arena.h"
#include "src/base/buf.h"
#include "src/base/random.h"
#include "src/base/utf8.h"

#include <stdbool.h>

enum json_value_kind { VALUE_WORD, VALUE_NUMBER, VALUE_STRING, VALUE_ARRAY, VALUE_OBJECT };

#define JSON_VALUE_PARTS 6 /* elements, members, characters */

struct json_value {
    enum json_value_kind kind;
    const char *word;
    bool negative;
    struct str digits; /* the first one is not 0; "0" is 0 */
    int power;         /* of ten, of the last digit */
    size_t n;
    uint32_t characters[JSON_VALUE_PARTS];
    const char *names[JSON_VALUE_PARTS]; /* all different */
    struct json_value *parts[JSON_VALUE_PARTS];
};

static inline bool json_value_chance(struct random *r, unsigned one_in)
{
    return random_below(r, one_in) == 0;
}

/* ---- making ---- */

static inline uint32_t json_value_character(struct random *r)
{
    static const uint32_t characters[] = {'a',  'b',    '"',    '\\',    '/', '\n',
                                          0xe9, 0x4e2d, 0xfffd, 0x1f600, 0,   '\t'};

    return characters[random_below(r, ARRAY_LEN(characters))];
}

static inline const char *json_value_name(struct random *r)
{
    static const char *const names[] = {"a",        "b",    "id", "caf\xc3\xa9",      "",
                                        "x y",      "\"\\", "_",  "\xf0\x9f\x98\x80", "price",
                                        "_millrace"};

    return names[random_below(r, ARRAY_LEN(names))];
}

static inline void json_value_make_number(struct arena *arena, struct random *r,
                                          struct json_value *v)
{
    struct buf digits = {0};
    const size_t n = json_value_chance(r, 4) ? random_below(r, 60) : random_below(r, 4);

    for (size_t i = 0; i <= n; i++) /* many zeros, so that they stand anywhere */
        buf_append_char(&digits, json_value_chance(r, 2) && i > 0
                                     ? '0'
                                     : (char)('1' + (char)random_below(r, 9)));
    v->kind = VALUE_NUMBER;
    v->negative = json_value_chance(r, 3);
    v->power = (int)random_below(r, 13) - 6;
    v->digits = json_value_chance(r, 8) ? STR("0") : arena_copy(arena, buf_str(&digits));
    buf_free(&digits);
}

static inline bool json_value_has(const struct json_value *v, const char *name)
{
    for (size_t i = 0; i < v->n; i++)
        if (strcmp(v->names[i], name) == 0)
            return true;
    return false;
}

static inline struct json_value *json_value_random(struct arena *arena, struct random *r,
                                                   unsigned depth)
{
    static const char *const words[] = {"true", "false", "null", "1e99999999999999999999"};
    struct json_value *v = arena_alloc(arena, 1, sizeof(*v));
    const size_t n = random_below(r, JSON_VALUE_PARTS);

    v->kind = (enum json_value_kind)random_below(r, depth > 0 ? VALUE_OBJECT + 1 : VALUE_ARRAY);
    if (depth == 4 && !json_value_chance(r, 5))
        v->kind = VALUE_OBJECT;
    if (v->kind == VALUE_WORD)
        v->word = words[random_below(r, ARRAY_LEN(words))];
    if (v->kind == VALUE_NUMBER)
        json_value_make_number(arena, r, v);
    for (size_t i = 0; v->kind >= VALUE_STRING && i < n; i++) {
        const char *name = json_value_name(r);

        if (v->kind == VALUE_OBJECT && json_value_has(v, name))
            continue;
        v->names[v->n] = name;
        v->characters[v->n] = json_value_character(r);
        if (v->kind != VALUE_STRING)
            v->parts[v->n] = json_value_random(arena, r, depth - 1);
        v->n++;
    }
    return v;
}

/* ---- printing ---- */

static inline void json_value_space(struct random *r, struct buf *out)
{
    static const char *const spaces[] = {"", "", "", "", " ", "\n\t", "\r "};

    buf_append(out, str_from(spaces[random_below(r, ARRAY_LEN(spaces))]));
}

static inline void json_value_print_escape(struct random *r, uint32_t c, struct buf *out)
{
    /* A lone surrogate means U+FFFD; one that ends pairs is alone behind whatever is here. */
    if (c == 0xfffd && json_value_chance(r, 2))
        c = 0xdfff;
    if (c == '\n' && json_value_chance(r, 2))
        buf_append(out, STR("\\n"));
    else if ((c == '"' || c == '\\' || c == '/') && json_value_chance(r, 2))
        buf_printf(out, "\\%c", (int)c);
    else if (c >= 0x10000)
        buf_printf(out, json_value_chance(r, 2) ? "\\u%04x\\u%04X" : "\\u%04X\\u%04x",
                   0xd800 + ((c - 0x10000) >> 10), 0xdc00 + ((c - 0x10000) & 0x3ff));
    else
        buf_printf(out, json_value_chance(r, 2) ? "\\u%04x" : "\\u%04X", c);
}

static inline void json_value_print_character(struct random *r, uint32_t c, struct buf *out)
{
    char utf8[4];

    if (c < ' ' || c == '"' || c == '\\' || json_value_chance(r, 4))
        json_value_print_escape(r, c, out);
    else
        buf_append(out, (struct str){utf8, utf8_encode(utf8, c)});
}

/* Names have no character that is foreign here but é and one of four bytes. */
static inline void json_value_print_name(struct random *r, const char *name, struct buf *out)
{
    buf_append_char(out, '"');
    for (; *name != '\0'; name++) {
        if ((unsigned char)*name == 0xc3) {
            json_value_print_character(r, 0xe9, out);
            name += 1;
        } else if ((unsigned char)*name == 0xf0) {
            json_value_print_character(r, 0x1f600, out);
            name += 3;
        } else {
            json_value_print_character(r, (uint32_t)*name, out);
        }
    }
    buf_append_char(out, '"');
    json_value_space(r, out);
    buf_append_char(out, ':');
}

static inline void json_value_print_zeros(struct buf *out, size_t n)
{
    while (n-- > 0)
        buf_append_char(out, '0');
}

/* With a point before the last `behind` digits, and zeros before them where they are too few.
 */
static inline void json_value_print_point(struct str digits, size_t behind, struct buf *out)
{
    const size_t before = digits.len > behind ? digits.len - behind : 0;

    buf_append(out, before > 0 ? (struct str){digits.ptr, before} : STR("0"));
    buf_append_char(out, '.');
    json_value_print_zeros(out, behind - (digits.len - before));
    buf_append(out, (struct str){digits.ptr + before, digits.len - before});
}

static inline void json_value_print_number(const struct json_value *v, struct random *r,
                                           struct buf *out)
{
    const struct str digits = v->digits;
    const bool is_zero = digits.ptr[0] == '0';
    const size_t behind = 1 + random_below(r, 30), zeros = random_below(r, 3);
    const size_t form = random_below(r, 3);

    buf_append(out, (is_zero ? json_value_chance(r, 2) : v->negative) ? STR("-") : STR(""));
    if (form == 0 && (is_zero || (v->power <= 0 && v->power > -30))) {
        if (is_zero || v->power == 0) { /* 12, 12.00 */
            buf_append(out, digits);
            if (zeros > 0)
                buf_append_char(out, '.');
        } else { /* 1.2, 0.0012 */
            json_value_print_point(digits, (size_t)-v->power, out);
        }
        json_value_print_zeros(out, zeros);
    } else if (form == 0) { /* 1200, 12000e-1 */
        buf_append(out, digits);
        if (v->power > 0)
            json_value_print_zeros(out, (size_t)v->power);
        else
            buf_printf(out, "e%d", v->power);
    } else if (form == 1) { /* 12E+2 */
        buf_append(out, digits);
        if (!is_zero)
            json_value_print_zeros(out, zeros);
        buf_printf(out, json_value_chance(r, 2) ? "E%+d" : "e%03d", v->power - (int)zeros);
    } else { /* 0.012e5 */
        json_value_print_point(digits, behind, out);
        json_value_print_zeros(out, zeros);
        buf_printf(out, "e%d", v->power + (int)behind);
    }
}

static inline void json_value_print(const struct json_value *v, struct random *r,
                                    struct buf *out);

static inline void json_value_print_member(const struct json_value *v, size_t i,
                                           struct random *r, struct buf *out)
{
    json_value_print_name(r, v->names[i], out);
    json_value_space(r, out);
    json_value_print(v->parts[i], r, out);
}

static inline void json_value_print_members(const struct json_value *v, struct random *r,
                                            struct buf *out)
{
    size_t order[JSON_VALUE_PARTS];

    for (size_t i = 0; i < v->n; i++) { /* Fisher and Yates, from inside out */
        const size_t k = random_below(r, i + 1);

        order[i] = order[k];
        order[k] = i;
    }
    for (size_t i = 0; i < v->n; i++) {
        if (json_value_chance(r, 6)) { /* an earlier one of a name that follows */
            json_value_print_name(r, v->names[order[i + random_below(r, v->n - i)]], out);
            buf_append(out, json_value_chance(r, 2) ? STR("[{\"a\":1}],") : STR("0,"));
        }
        json_value_print_member(v, order[i], r, out);
        buf_append(out, i + 1 < v->n ? STR(",") : STR(""));
        json_value_space(r, out);
    }
}

static inline void json_value_print_elements(const struct json_value *v, struct random *r,
                                             struct buf *out)
{
    for (size_t i = 0; i < v->n; i++) {
        json_value_print(v->parts[i], r, out);
        json_value_space(r, out);
        buf_append(out, i + 1 < v->n ? STR(",") : STR(""));
    }
}

static inline void json_value_print(const struct json_value *v, struct random *r,
                                    struct buf *out)
{
    json_value_space(r, out);
    switch (v->kind) {
    case VALUE_WORD: buf_append(out, str_from(v->word)); break;
    case VALUE_NUMBER: json_value_print_number(v, r, out); break;
    case VALUE_STRING:
        buf_append_char(out, '"');
        for (size_t i = 0; i < v->n; i++)
            json_value_print_character(r, v->characters[i], out);
        buf_append_char(out, '"');
        break;
    case VALUE_ARRAY:
        buf_append_char(out, '[');
        json_value_print_elements(v, r, out);
        buf_append_char(out, ']');
        break;
    case VALUE_OBJECT:
        buf_append_char(out, '{');
        json_value_print_members(v, r, out);
        buf_append_char(out, '}');
        break;
    }
    json_value_space(r, out);
}

/* ---- changing ---- */

static inline void json_value_change_number(struct arena *arena, struct random *r,
                                            struct json_value *v)
{
    const size_t i = random_below(r, v->digits.len);
    char *digits = arena_bytes(arena, v->digits.len);

    memcpy(digits, v->digits.ptr, v->digits.len);
    digits[i] = (char)('1' + random_below(r, 9));
    switch (random_below(r, 3)) {
    case 0: v->negative = !v->negative; break;
    case 1: v->power += (int)random_below(r, 3) - 1; break;
    case 2: v->digits.ptr = digits; break;
    }
}

/* Changes one value at a random depth; now and then into one that is equal. */
static inline void json_value_change(struct arena *arena, struct random *r,
                                     struct json_value *v)
{
    while (v->kind >= VALUE_ARRAY && v->n > 0 && !json_value_chance(r, 4))
        v = v->parts[random_below(r, v->n)];

    const size_t i = v->n > 0 ? random_below(r, v->n) : 0;

    if (v->kind == VALUE_NUMBER && !json_value_chance(r, 4)) {
        json_value_change_number(arena, r, v);
    } else if (v->kind == VALUE_STRING && v->n > 0 && !json_value_chance(r, 4)) {
        v->characters[i] = json_value_character(r);
    } else if (v->kind >= VALUE_ARRAY && v->n > 1 && json_value_chance(r, 2)) {
        struct json_value *part = v->parts[i]; /* exchanged with the first, or dropped */

        v->parts[i] = json_value_chance(r, 2) ? v->parts[0] : v->parts[--v->n];
        v->parts[0] = i == 0 ? v->parts[0] : part;
    } else {
        *v = *json_value_random(arena, r, 1);
    }
}

#endif
