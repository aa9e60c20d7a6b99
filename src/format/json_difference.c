#include "config.h"

#include "src/format/json_difference.h"

#include "src/base/arena.h"
#include "src/base/buf.h"
#include "src/base/mem.h"
#include "src/format/json.h"
#include "src/format/json_number.h"

#include <stdlib.h>

const char *json_difference_word(enum json_difference_kind kind)
{
    switch (kind) {
    case JSON_MISSING: return "missing";
    case JSON_EXTRA: return "extra";
    case JSON_DIFFERENT: return "different";
    }
    return "";
}

/* ---- the members of one object ---- */

struct named_value {
    struct str name;  /* unescaped */
    struct str value; /* JSON */
    size_t number;    /* its place in the object */
};

struct object_members {
    struct named_value *list;
    size_t n, cap;
    struct arena *names; /* of those with escapes, or NULL */
};

static void members_free(struct object_members *m)
{
    free(m->list);
    arena_free(m->names);
}

static struct str unescaped(struct object_members *m, struct str raw)
{
    struct buf name = {0};

    if (raw.len == 0 || memchr(raw.ptr, '\\', raw.len) == NULL)
        return raw;
    if (m->names == NULL)
        m->names = arena_new();
    json_unescape(&name, raw);
    raw = arena_copy(m->names, buf_str(&name));
    buf_free(&name);
    return raw;
}

static bool is_ignored(const struct json_comparison *c, struct str name)
{
    for (size_t i = 0; i < c->n_ignored; i++)
        if (str_equal(c->ignored[i], name))
            return true;
    return false;
}

static int by_name(const void *a, const void *b)
{
    const struct named_value *x = a, *y = b;
    const int order = str_order(x->name, y->name);

    return order != 0 ? order : (x->number > y->number) - (x->number < y->number);
}

/* Sorts by name, and keeps the last of each name. */
static void members_sort(struct object_members *m)
{
    size_t n = 0;

    if (m->n == 0)
        return;
    qsort(m->list, m->n, sizeof(*m->list), by_name);
    for (size_t i = 0; i < m->n; i++)
        if (i + 1 == m->n || !str_equal(m->list[i].name, m->list[i + 1].name))
            m->list[n++] = m->list[i];
    m->n = n;
}

static void members_read(struct object_members *m, struct str object,
                         const struct json_comparison *top)
{
    struct json_reader r;
    struct str raw, value;

    json_reader_init(&r, object);
    json_enter_object(&r);
    while (json_next_member(&r, &raw) && json_read_raw(&r, &value)) {
        const struct str name = unescaped(m, raw);

        if (top != NULL && is_ignored(top, name))
            continue;
        if (m->n == m->cap) {
            m->cap = m->cap == 0 ? 16 : 2 * m->cap;
            m->list = mem_resize(m->list, m->cap, sizeof(*m->list));
        }
        m->list[m->n] = (struct named_value){name, value, m->n};
        m->n++;
    }
    members_sort(m);
}

/* ---- a path ---- */

static bool is_plain(struct str name)
{
    for (size_t i = 0; i < name.len; i++)
        if (memchr(".[]\"\\ ", name.ptr[i], 6) != NULL || (unsigned char)name.ptr[i] < ' ')
            return false;
    return name.len > 0;
}

static void append_member(struct buf *path, struct str name)
{
    if (is_plain(name)) {
        buf_append(path, path->len > 0 ? STR(".") : STR(""));
        buf_append(path, name);
        return;
    }
    buf_append_char(path, '[');
    buf_append_json(path, name);
    buf_append_char(path, ']');
}

static void cut(struct buf *path, size_t len)
{
    path->len = len;
    if (path->ptr != NULL)
        path->ptr[len] = '\0';
}

/* ---- values ---- */

static void note(struct json_comparison *c, enum json_difference_kind kind,
                 const struct buf *path, struct str wanted, struct str found)
{
    c->n_all++;
    if (c->n < c->max)
        c->list[c->n++] =
            (struct json_difference){kind, arena_copy(c->arena, buf_str(path)), wanted, found};
}

static const struct str nothing = {NULL, 0};

static void compare(struct json_comparison *c, struct buf *path, struct str wanted,
                    struct str found);

/* Both are sorted: each step takes the smaller name, or both if they are equal. */
static void compare_members(struct json_comparison *c, struct buf *path,
                            const struct object_members *wanted,
                            const struct object_members *found)
{
    static const struct named_value none;
    const size_t len = path->len;

    for (size_t i = 0, k = 0; i < wanted->n || k < found->n; cut(path, len)) {
        const struct named_value w = i < wanted->n ? wanted->list[i] : none,
                                 f = k < found->n ? found->list[k] : none;
        const int order = i == wanted->n ? 1 : k == found->n ? -1 : str_order(w.name, f.name);

        append_member(path, order <= 0 ? w.name : f.name);
        if (order == 0)
            compare(c, path, w.value, f.value);
        else if (order < 0)
            note(c, JSON_MISSING, path, w.value, nothing);
        else if (!c->allows_extra)
            note(c, JSON_EXTRA, path, nothing, f.value);
        i += order <= 0;
        k += order >= 0;
    }
}

static void compare_objects(struct json_comparison *c, struct buf *path, struct str wanted,
                            struct str found)
{
    const struct json_comparison *top = path->len == 0 ? c : NULL;
    struct object_members w = {0}, f = {0};

    members_read(&w, wanted, top);
    members_read(&f, found, top);
    compare_members(c, path, &w, &f);
    members_free(&w);
    members_free(&f);
}

static bool next(struct json_reader *r, bool *is_in, struct str *element)
{
    *is_in = *is_in && json_next_element(r) && json_read_raw(r, element);
    if (!*is_in)
        *element = nothing;
    return *is_in;
}

static void compare_arrays(struct json_comparison *c, struct buf *path, struct str wanted,
                           struct str found)
{
    struct json_reader w, f;
    struct str a, b;
    const size_t len = path->len;

    json_reader_init(&w, wanted);
    json_reader_init(&f, found);

    bool in_w = json_enter_array(&w), in_f = json_enter_array(&f);

    for (size_t i = 0; (int)next(&w, &in_w, &a) | (int)next(&f, &in_f, &b); i++) {
        buf_printf(path, "[%zu]", i);
        if (in_w && in_f)
            compare(c, path, a, b);
        else
            note(c, in_w ? JSON_MISSING : JSON_EXTRA, path, a, b);
        cut(path, len);
    }
}

static bool strings_equal(struct str wanted, struct str found)
{
    const struct str w = {wanted.ptr + 1, wanted.len - 2}, f = {found.ptr + 1, found.len - 2};
    struct buf meant = {0};

    json_unescape(&meant, w);

    const bool equal = json_string_equal(f, buf_str(&meant));

    buf_free(&meant);
    return equal;
}

static bool numbers_equal(const struct json_comparison *c, struct str wanted, struct str found)
{
    return json_number_equal(wanted, found) ||
           (c->as_doubles && json_number_is_same_double(wanted, found));
}

static enum json_type type_of(struct str value)
{
    struct json_reader r;

    json_reader_init(&r, value);
    return json_peek(&r);
}

/* The texts have no white space around them, so that equal bytes are found before all else. */
static void compare(struct json_comparison *c, struct buf *path, struct str wanted,
                    struct str found)
{
    const enum json_type type = type_of(wanted);
    bool equal = str_equal(wanted, found);

    if (!equal && type == type_of(found))
        switch (type) {
        case JSON_OBJECT: compare_objects(c, path, wanted, found); return;
        case JSON_ARRAY: compare_arrays(c, path, wanted, found); return;
        case JSON_NUMBER: equal = numbers_equal(c, wanted, found); break;
        case JSON_STRING: equal = strings_equal(wanted, found); break;
        case JSON_BOOL:
        case JSON_NULL:
        case JSON_NONE: break;
        }
    if (!equal)
        note(c, JSON_DIFFERENT, path, wanted, found);
}

/* Checks the text and takes the white space around it away. */
static bool trim(struct str *text, const char *which, struct err *err)
{
    if (!json_valid(*text, err))
        return err_wrap(err, "the %s document", which);
    return json_find(*text, "", text);
}

bool json_compare(struct json_comparison *c, struct str wanted, struct str found,
                  struct err *err)
{
    struct buf path = {0};

    c->n = 0;
    c->n_all = 0;
    if (!trim(&wanted, "wanted", err) || !trim(&found, "found", err))
        return false;
    compare(c, &path, wanted, found);
    buf_free(&path);
    return true;
}
