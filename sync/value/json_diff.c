#include "config.h"

#include "sync/value/json_diff.h"

#include "src/base/buf.h"
#include "src/base/cursor.h"
#include "src/format/json.h"
#include "sync/value/jsonb.h"

#include <string.h>

/* Limits the bytes that the changes of one cell may scan; only malicious damage needs more. */
#define WORK_MAX ((uint64_t)1 << 32)

enum operation { OPERATION_REPLACE = 0, OPERATION_INSERT, OPERATION_REMOVE };

/* One leg of a path: a member's name or an element's number. */
struct leg {
    bool is_member;
    struct buf name;
    size_t index;
    bool from_end; /* the index counts back from the last element: [last], [last-1] */
};

/* Where a leg leads within its object or array. */
struct json_place {
    const char
        *item; /* the member (at its name) or element; if not found, where to insert it */
    const char *value; /* its value */
    const char *end;   /* past the value; if not found, equals item */
    bool found;
    bool first; /* first in its container */
    bool last;  /* last in its container */
};

/* Skip the string that begins at p.  Returns end if the string is not closed. */
static const char *skip_string(const char *p, const char *end)
{
    for (p++; p < end && *p != '"'; p++)
        if (*p == '\\')
            p++;
    return p < end ? p + 1 : end;
}

/* Skip the value that begins at p. */
static const char *skip_value(const char *p, const char *end)
{
    size_t depth = 0;

    while (p < end) {
        if (*p == '"') {
            p = skip_string(p, end);
        } else if (*p == '{' || *p == '[') {
            depth++;
            p++;
        } else if (*p == '}' || *p == ']') {
            if (depth == 0)
                return p;
            depth--;
            p++;
        } else if (*p == ',' && depth == 0) {
            return p;
        } else {
            p++;
            continue;
        }
        if (depth == 0)
            return p;
    }
    return p;
}

/* The server's order of members: by length, then by bytes. */
static int compare_names(struct str a, struct str b)
{
    if (a.len != b.len)
        return a.len < b.len ? -1 : 1;
    return a.len > 0 ? memcmp(a.ptr, b.ptr, a.len) : 0;
}

/* text spans an object including both braces. */
static void find_member(struct str text, struct str name, struct json_place *out)
{
    const char *p = text.ptr + 1, *const end = text.ptr + text.len - 1;
    struct buf raw = {0};

    *out = (struct json_place){.first = true, .last = true};
    while (p < end && !out->found && out->item == NULL) {
        const char *colon = skip_string(p, end);

        if (colon >= end || colon - p < 2)
            break; /* no member: damage */

        const char *value_end = skip_value(colon + 1, end);

        buf_clear(&raw);
        json_unescape(&raw, (struct str){p + 1, (size_t)(colon - p) - 2});

        const int order = compare_names(buf_str(&raw), name);

        if (order >= 0) {
            out->found = order == 0;
            out->item = p;
            out->value = colon + 1;
            out->end = out->found ? value_end : p;
            out->last = out->found && value_end == end;
            break;
        }
        out->first = false;
        p = value_end < end ? value_end + 1 : end;
    }
    if (out->item == NULL)
        out->item = out->end = end;
    buf_free(&raw);
}

static size_t count_elements(struct str text)
{
    const char *p = text.ptr + 1, *const end = text.ptr + text.len - 1;
    size_t n = 0;

    for (; p < end; n++) {
        p = skip_value(p, end);
        p += p < end;
    }
    return n;
}

/* text is an array.  An index past its end gives a place at the end. */
static void find_element(struct str text, const struct leg *leg, struct json_place *out)
{
    const char *p = text.ptr + 1, *const end = text.ptr + text.len - 1;
    size_t index = leg->index;

    if (leg->from_end) {
        const size_t n = count_elements(text);

        index = index < n ? n - 1 - index : n;
    }
    *out = (struct json_place){.first = true, .last = true};
    for (size_t i = 0; p < end; i++) {
        const char *value_end = skip_value(p, end);

        if (i == index) {
            *out = (struct json_place){p, p, value_end, true, i == 0, value_end == end};
            return;
        }
        out->first = false;
        p = value_end < end ? value_end + 1 : end;
    }
    out->item = out->end = end;
}

/* "3]", "last]" or "last-3]" */
static bool read_index(struct cursor *path, struct leg *leg)
{
    const char *p = (const char *)path->p, *const end = (const char *)path->end;
    const char *const start = p;
    size_t digits = 0;

    leg->index = 0;
    leg->from_end = end - p >= 4 && memcmp(p, "last", 4) == 0;
    p += leg->from_end ? 4 : 0;
    if (leg->from_end && p < end && *p == '-')
        p++;
    for (; p < end && *p >= '0' && *p <= '9' && digits < 10; p++, digits++)
        leg->index = leg->index * 10 + (size_t)(*p - '0');
    cursor_take(path, (size_t)(p - start));
    return (digits > 0 || leg->from_end) && cursor_u8(path) == ']';
}

/* Read the next leg of a path.  Returns false if it is malformed. */
static bool read_leg(struct cursor *path, struct leg *leg)
{
    const uint8_t mark = cursor_u8(path);
    const char *p = (const char *)path->p, *const end = (const char *)path->end;
    size_t n = 0;

    buf_clear(&leg->name);
    leg->is_member = mark == '.';
    if (mark == '[')
        return read_index(path, leg);
    if (mark != '.' || path->failed)
        return false;
    if (p < end && *p == '"') {
        for (n = 1; p + n < end && p[n] != '"'; n++)
            n += p[n] == '\\' && p + n + 1 < end;
        cursor_take(path, n + 1);
        if (!path->failed)
            json_unescape(&leg->name, (struct str){p + 1, n - 1});
    } else {
        while (p + n < end && p[n] != '.' && p[n] != '[')
            n++;
        buf_append(&leg->name, cursor_str(path, n));
    }
    return !path->failed;
}

/* Follow path through json to the place of its last leg.  Returns false if it leads nowhere. */
static bool follow(struct str json, struct str path, struct leg *leg, struct json_place *out)
{
    struct cursor c = cursor_of(path);
    struct str here = json;

    if (cursor_u8(&c) != '$')
        return false;
    *out = (struct json_place){json.ptr, json.ptr, json.ptr + json.len, true, true, true};
    while (cursor_left(&c) > 0) {
        if (!out->found || !read_leg(&c, leg))
            return false;
        here = (struct str){out->value, (size_t)(out->end - out->value)};
        if (leg->is_member && here.ptr[0] == '{')
            find_member(here, buf_str(&leg->name), out);
        else if (!leg->is_member && here.ptr[0] == '[')
            find_element(here, leg, out);
        else if (leg->is_member || leg->index != 0)
            return false; /* index 0 of a value that is no array is the value itself */
    }
    return true;
}

static void append_range(struct buf *b, const char *from, const char *to)
{
    buf_append(b, (struct str){from, (size_t)(to - from)});
}

/* Append the member or element for the place, with the comma it needs. */
static void append_inserted(struct buf *b, const struct leg *leg, const struct json_place *at,
                            struct str value, bool at_end)
{
    if (at_end && !at->first)
        buf_append_char(b, ',');
    if (leg->is_member) {
        buf_append_json(b, buf_str(&leg->name));
        buf_append_char(b, ':');
    }
    buf_append(b, value);
    if (!at_end)
        buf_append_char(b, ',');
}

/* Write json with one change applied to out. */
static bool change(struct buf *out, struct str json, enum operation op, struct str path,
                   struct str value)
{
    const char *const end = json.ptr + json.len;
    struct leg leg = {0};
    struct json_place at = {0};
    bool ok = follow(json, path, &leg, &at);

    buf_clear(out);
    if (ok && op == OPERATION_REPLACE && at.found) {
        append_range(out, json.ptr, at.value);
        buf_append(out, value);
        append_range(out, at.end, end);
    } else if (ok && op == OPERATION_REMOVE && at.found && path.len > 1) {
        append_range(out, json.ptr, at.item - (at.last && !at.first));
        append_range(out, at.end + !at.last, end);
    } else if (ok && op == OPERATION_INSERT && path.len > 1 && !(leg.is_member && at.found)) {
        append_range(out, json.ptr, at.item);
        append_inserted(out, &leg, &at, value, *at.item == '}' || *at.item == ']');
        append_range(out, at.item, end);
    } else {
        ok = false;
    }
    buf_free(&leg.name);
    return ok;
}

bool json_diff_apply(struct buf *out, struct str json, struct str changes)
{
    struct cursor c = cursor_of(changes);
    struct buf now = {0}, then = {0}, value = {0};
    uint64_t work = 0;
    bool ok = true;

    buf_append(&now, json);
    while (ok && cursor_left(&c) > 0) {
        const uint8_t op = cursor_u8(&c);
        const struct str path = cursor_str(&c, cursor_lenenc(&c));

        buf_clear(&value);
        work += now.len;
        ok = op <= OPERATION_REMOVE && !c.failed && work <= WORK_MAX;
        if (ok && op != OPERATION_REMOVE) {
            const struct str binary = cursor_str(&c, cursor_lenenc(&c));

            ok = !c.failed && jsonb_append(&value, binary);
        }
        ok = ok && change(&then, buf_str(&now), (enum operation)op, path, buf_str(&value));

        const struct buf swapped = now;

        now = then;
        then = swapped;
    }
    if (ok)
        buf_append(out, buf_str(&now));
    buf_free(&now);
    buf_free(&then);
    buf_free(&value);
    return ok;
}
