#include "config.h"

#include "sync/draft/draft_name.h"

#include "src/base/base.h"
#include "src/base/buf.h"
#include "src/base/map.h"
#include "sync/definition/rule.h"

#include <ctype.h>
#include <string.h>

#define STEM_MAX     200 /* bytes, less than fields and indexes may have */
#define DATABASE_MAX 64

static bool is_ascii_word(char c)
{
    return isalnum((unsigned char)c) || c == '_' || c == '-';
}

void draft_append_database(struct buf *out, struct str schema)
{
    const size_t start = out->len;

    for (size_t i = 0; i < schema.len && out->len - start < DATABASE_MAX; i++)
        buf_append_char(out, is_ascii_word(schema.ptr[i]) && (i > 0 || schema.ptr[i] != '-')
                                 ? schema.ptr[i]
                                 : '_');
}

/* The start of s, at most max bytes, with whole characters. */
static struct str cut(struct str s, size_t max)
{
    if (s.len <= max)
        return s;
    while (max > 0 && ((unsigned char)s.ptr[max] & 0xc0) == 0x80)
        max--;
    return (struct str){s.ptr, max};
}

/*
 * Append `base` if nobody has it and it follows the rule, else base_2, base_3 ...  The number
 * also repairs names that end like a version.
 */
static void append_free(struct buf *out, struct map *taken, struct str base, rule_fn rule)
{
    const size_t start = out->len;

    for (unsigned i = 1;; i++) {
        out->len = start;
        buf_append(out, base);
        if (i > 1)
            buf_printf(out, "_%u", i);

        const struct str name = {out->ptr + start, out->len - start};

        if (map_find(taken, name) == NULL && rule(name) == NULL) {
            map_put(taken, name, taken);
            return;
        }
    }
}

/*
 * Characters of two bytes are those of scripts with capitals, which only engines know to lower;
 * like what an index may not contain, they become `_`.
 */
static void append_lower(struct buf *out, struct str table)
{
    for (size_t i = 0; i < table.len; i++) {
        const unsigned char c = (unsigned char)table.ptr[i];

        if ((c & 0xe0) == 0xc0) {
            buf_append_char(out, '_');
            i++;
        } else if (c <= ' ' || c == 0x7f || strchr("\\/*?\"<>|,#:", c) != NULL) {
            buf_append_char(out, '_');
        } else {
            buf_append_char(out, c < 0x80 ? (char)tolower(c) : (char)c);
        }
    }
}

void draft_append_index(struct buf *out, struct map *taken, struct str table)
{
    struct buf lower = {0};

    append_lower(&lower, cut(table, STEM_MAX));

    struct str base = lower.len > 0 ? buf_str(&lower) : STR("");

    while (base.len > 0 && strchr("-_+.", base.ptr[0]) != NULL)
        base = (struct str){base.ptr + 1, base.len - 1};
    append_free(out, taken, base.len > 0 ? base : STR("table"), rule_index);
    buf_free(&lower);
}

/* Append a text as the name of a field, without what none may contain. */
static void append_field(struct buf *out, struct str text)
{
    text = cut(text, STEM_MAX);
    while (text.len > 0 && text.ptr[0] == '_')
        text = (struct str){text.ptr + 1, text.len - 1};
    for (size_t i = 0; i < text.len; i++)
        buf_append_char(
            out, text.ptr[i] == '.' || (unsigned char)text.ptr[i] < 0x20 ? '_' : text.ptr[i]);
    if (text.len == 0)
        buf_append(out, STR("related"));
}

void draft_append_relation(struct buf *out, struct map *taken, struct str wanted,
                           struct str other)
{
    struct buf first = {0}, second = {0};

    append_field(&first, wanted);
    append_field(&second, other);

    const bool free = map_find(taken, buf_str(&first)) == NULL;

    append_free(out, taken, free ? buf_str(&first) : buf_str(&second), rule_field);
    buf_free(&first);
    buf_free(&second);
}

struct str draft_stem(struct str column)
{
    static const struct str ends[] = {STR("_id"), STR("_ID"), STR("_Id"), STR("Id"), STR("ID")};

    for (size_t i = 0; i < ARRAY_LEN(ends); i++) {
        const struct str end = ends[i];

        if (column.len > end.len &&
            memcmp(column.ptr + column.len - end.len, end.ptr, end.len) == 0)
            return (struct str){column.ptr, column.len - end.len};
    }
    return (struct str){0};
}
