#include "config.h"

#include "src/format/yaml.h"

#include "src/base/arena.h"
#include "src/base/buf.h"
#include "src/base/mem.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

/* ---- making nodes ---- */

struct yaml_node *yaml_new(struct arena *a, enum yaml_kind kind)
{
    struct yaml_node *n = arena_alloc(a, 1, sizeof(*n));

    n->kind = kind;
    return n;
}

struct yaml_node *yaml_new_text(struct arena *a, struct str text)
{
    struct yaml_node *n = yaml_new_plain(a, text);

    n->quoted = true;
    return n;
}

struct yaml_node *yaml_new_plain(struct arena *a, struct str plain)
{
    struct yaml_node *n = yaml_new(a, YAML_SCALAR);

    n->text = arena_copy(a, plain);
    return n;
}

/* Makes room for one more in an array of n, whose size is the next power of two. */
static struct yaml_node **grow(struct arena *a, struct yaml_node **old, size_t n)
{
    if (n > 0 && (n & (n - 1)) != 0)
        return old;

    struct yaml_node **wider = arena_alloc(a, n == 0 ? 1 : n * 2, sizeof(struct yaml_node *));

    for (size_t i = 0; i < n; i++)
        wider[i] = old[i];
    return wider;
}

void yaml_push(struct arena *a, struct yaml_node *list, struct yaml_node *item)
{
    list->items = grow(a, list->items, list->n);
    list->items[list->n++] = item;
}

void yaml_push_pair(struct arena *a, struct yaml_node *map, struct yaml_node *name,
                    struct yaml_node *value)
{
    map->names = grow(a, map->names, map->n);
    map->names[map->n] = name;
    yaml_push(a, map, value);
}

static size_t find_index(const struct yaml_node *map, struct str name)
{
    size_t i = 0;

    while (i < map->n && !str_equal(map->names[i]->text, name))
        i++;
    return i;
}

struct yaml_node *yaml_find(const struct yaml_node *map, struct str name)
{
    size_t i = find_index(map, name);

    return i < map->n ? map->items[i] : NULL;
}

void yaml_put(struct arena *a, struct yaml_node *map, struct str name, struct yaml_node *value)
{
    size_t i = find_index(map, name);

    if (i < map->n)
        map->items[i] = value;
    else
        yaml_push_pair(a, map, yaml_new_text(a, name), value);
}

/* ---- what a scalar means ---- */

static size_t skip_digits(struct str s, size_t i)
{
    while (i < s.len && isdigit((unsigned char)s.ptr[i]))
        i++;
    return i;
}

/* Checks JSON's grammar of numbers. */
static bool is_number(struct str s)
{
    size_t i = s.len > 0 && s.ptr[0] == '-' ? 1 : 0;
    size_t start = i;

    i = skip_digits(s, i);
    if (i == start || (s.ptr[start] == '0' && i > start + 1))
        return false;
    if (i < s.len && s.ptr[i] == '.') {
        start = ++i;
        i = skip_digits(s, i);
        if (i == start)
            return false;
    }
    if (i < s.len && (s.ptr[i] == 'e' || s.ptr[i] == 'E')) {
        i++;
        if (i < s.len && (s.ptr[i] == '+' || s.ptr[i] == '-'))
            i++;
        start = i;
        i = skip_digits(s, i);
        if (i == start)
            return false;
    }
    return i == s.len;
}

static bool is_one_of(struct str s, const char *const *words, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (str_equal(s, str_from(words[i])))
            return true;
    return false;
}

static enum yaml_scalar_kind plain_kind(struct str s)
{
    static const char *const nulls[] = {"", "~", "null", "Null", "NULL"};
    static const char *const trues[] = {"true", "True", "TRUE"};
    static const char *const falses[] = {"false", "False", "FALSE"};

    if (is_one_of(s, nulls, ARRAY_LEN(nulls)))
        return YAML_NULL;
    if (is_one_of(s, trues, ARRAY_LEN(trues)))
        return YAML_TRUE;
    if (is_one_of(s, falses, ARRAY_LEN(falses)))
        return YAML_FALSE;
    return is_number(s) ? YAML_NUMBER : YAML_TEXT;
}

enum yaml_scalar_kind yaml_scalar_kind(const struct yaml_node *n)
{
    return n->quoted ? YAML_TEXT : plain_kind(n->text);
}

const char *yaml_kind_name(const struct yaml_node *n)
{
    static const char *const scalars[] = {"a text", "nothing", "true", "false", "a number"};

    if (n->kind == YAML_SCALAR)
        return scalars[yaml_scalar_kind(n)];
    return n->kind == YAML_LIST ? "a list" : "a map";
}

/* ---- JSON out ---- */

struct yaml_pair {
    struct str name;
    const struct yaml_node *value;
};

static int compare_pairs(const void *a, const void *b)
{
    const struct yaml_pair *x = a, *y = b;

    return str_order(x->name, y->name);
}

static struct yaml_pair *pairs_of(const struct yaml_node *map, bool sorted)
{
    struct yaml_pair *pairs = mem_alloc(map->n + 1, sizeof(*pairs));

    for (size_t i = 0; i < map->n; i++)
        pairs[i] = (struct yaml_pair){map->names[i]->text, map->items[i]};
    if (sorted)
        qsort(pairs, map->n, sizeof(*pairs), compare_pairs);
    return pairs;
}

static void append_json_map(struct buf *b, const struct yaml_node *map, bool sorted)
{
    struct yaml_pair *pairs = pairs_of(map, sorted);

    buf_append_char(b, '{');
    for (size_t i = 0; i < map->n; i++) {
        if (i > 0)
            buf_append_char(b, ',');
        buf_append_json(b, pairs[i].name);
        buf_append_char(b, ':');
        yaml_append_json(b, pairs[i].value, sorted);
    }
    buf_append_char(b, '}');
    free(pairs);
}

static void append_json_scalar(struct buf *b, const struct yaml_node *n)
{
    switch (yaml_scalar_kind(n)) {
    case YAML_TEXT: buf_append_json(b, n->text); break;
    case YAML_NULL: buf_append(b, STR("null")); break;
    case YAML_TRUE: buf_append(b, STR("true")); break;
    case YAML_FALSE: buf_append(b, STR("false")); break;
    case YAML_NUMBER: buf_append(b, n->text); break;
    }
}

void yaml_append_json(struct buf *b, const struct yaml_node *n, bool sorted)
{
    switch (n->kind) {
    case YAML_SCALAR: append_json_scalar(b, n); return;
    case YAML_MAP: append_json_map(b, n, sorted); return;
    case YAML_LIST: break;
    }
    buf_append_char(b, '[');
    for (size_t i = 0; i < n->n; i++) {
        if (i > 0)
            buf_append_char(b, ',');
        yaml_append_json(b, n->items[i], sorted);
    }
    buf_append_char(b, ']');
}

bool yaml_equal(const struct yaml_node *a, const struct yaml_node *b)
{
    struct buf x = {0}, y = {0};

    if (a == NULL || b == NULL)
        return a == b;
    yaml_append_json(&x, a, true);
    yaml_append_json(&y, b, true);

    const bool same = str_equal(buf_str(&x), buf_str(&y));

    buf_free(&x);
    buf_free(&y);
    return same;
}

/* ---- YAML out ---- */

#define LINE_MAX_LEN 92 /* longer maps and lists are not put in braces */

/* Returns true for words that some YAML reader takes for something other than a text. */
static bool is_reserved(struct str s)
{
    static const char *const words[] = {"y",   "n",    "yes",   "no",  "on",
                                        "off", "true", "false", "null"};
    char lower[8];

    if (s.len >= sizeof(lower))
        return false;
    for (size_t i = 0; i < s.len; i++)
        lower[i] = (char)tolower((unsigned char)s.ptr[i]);
    return is_one_of((struct str){lower, s.len}, words, ARRAY_LEN(words));
}

/* Returns true for anything that some YAML reader could take for a number, a date or a time. */
static bool looks_numeric(struct str s)
{
    size_t n_dots = 0;

    for (size_t i = 0; i < s.len; i++) {
        if (strchr("0123456789+-.:_eExXoOabcdfABCDFTZ", s.ptr[i]) == NULL)
            return false;
        n_dots += s.ptr[i] == '.' ? 1 : 0;
    }
    return n_dots < 2 && strchr("+-.0123456789", s.ptr[0]) != NULL;
}

/* Returns true if a text can stand without quotes, even inside braces. */
static bool is_plain(struct str s)
{
    if (s.len == 0 || s.len > 200 || is_reserved(s) || looks_numeric(s))
        return false;
    if (!isalnum((unsigned char)s.ptr[0]) && s.ptr[0] != '_' && s.ptr[0] != '/')
        return false;
    for (size_t i = 0; i < s.len; i++) {
        unsigned char c = (unsigned char)s.ptr[i];
        bool last = i + 1 == s.len;

        if (isalnum(c) && c < 0x80)
            continue;
        if (c == ' ' && !last && s.ptr[i + 1] != ' ' && s.ptr[i - 1] != ' ')
            continue;
        if (c == ':' && !last && isalnum((unsigned char)s.ptr[i + 1]))
            continue;
        if (c == '\0' || strchr("_/.@-+=()", c) == NULL)
            return false;
    }
    return true;
}

static void append_scalar(struct buf *b, const struct yaml_node *n)
{
    if (yaml_scalar_kind(n) == YAML_TEXT && !is_plain(n->text))
        buf_append_json(b, n->text);
    else if (yaml_scalar_kind(n) == YAML_TEXT)
        buf_append(b, n->text);
    else
        append_json_scalar(b, n);
}

static void append_flow(struct buf *b, const struct yaml_node *n)
{
    if (n->kind == YAML_SCALAR) {
        append_scalar(b, n);
        return;
    }
    buf_append_char(b, n->kind == YAML_LIST ? '[' : '{');
    for (size_t i = 0; i < n->n; i++) {
        if (i > 0)
            buf_append(b, STR(", "));
        if (n->kind == YAML_MAP) {
            append_scalar(b, n->names[i]);
            buf_append(b, STR(": "));
        }
        append_flow(b, n->items[i]);
    }
    buf_append_char(b, n->kind == YAML_LIST ? ']' : '}');
}

static unsigned depth_of(const struct yaml_node *n)
{
    unsigned deepest = 0;

    for (size_t i = 0; i < n->n; i++) {
        unsigned below = depth_of(n->items[i]);

        deepest = below > deepest ? below : deepest;
    }
    return n->kind == YAML_SCALAR ? 0 : deepest + 1;
}

/* Appends a node in braces if it is short enough to read at a glance and at most max_depth
 * deep. */
static bool append_short(struct buf *b, const struct yaml_node *n, size_t column,
                         unsigned max_depth)
{
    struct buf flow = {0};
    bool fits = n->kind == YAML_SCALAR || n->n == 0;

    if (!fits && depth_of(n) > max_depth)
        return false;
    append_flow(&flow, n);
    fits = fits || column + flow.len <= LINE_MAX_LEN;
    if (fits)
        buf_append(b, buf_str(&flow));
    buf_free(&flow);
    return fits;
}

static void indent_by(struct buf *b, unsigned indent)
{
    for (unsigned i = 0; i < indent; i++)
        buf_append_char(b, ' ');
}

static void append_block(struct buf *b, const struct yaml_node *n, unsigned indent);

/* Appends the items of a map, whose first line is already indented. */
static void append_pairs(struct buf *b, const struct yaml_node *map, unsigned indent)
{
    for (size_t i = 0; i < map->n; i++) {
        const struct yaml_node *value = map->items[i];

        if (i > 0)
            indent_by(b, indent);

        size_t start = b->len;

        append_scalar(b, map->names[i]);
        buf_append_char(b, ':');

        size_t end = b->len;

        buf_append_char(b, ' ');
        if (append_short(b, value, indent + (b->len - start), 1)) {
            buf_append_char(b, '\n');
            continue;
        }
        b->len = end;
        buf_append_char(b, '\n');
        append_block(b, value, indent + 2);
    }
}

static void append_block(struct buf *b, const struct yaml_node *n, unsigned indent)
{
    if (n->kind == YAML_MAP) {
        indent_by(b, indent);
        append_pairs(b, n, indent);
        return;
    }
    for (size_t i = 0; i < n->n; i++) {
        const struct yaml_node *item = n->items[i];

        indent_by(b, indent);
        buf_append(b, STR("- "));
        if (append_short(b, item, indent + 2, 2)) {
            buf_append_char(b, '\n');
        } else if (item->kind == YAML_MAP) {
            append_pairs(b, item, indent + 2);
        } else {
            b->len--;
            buf_append_char(b, '\n');
            append_block(b, item, indent + 2);
        }
    }
}

void yaml_append_yaml(struct buf *b, const struct yaml_node *n)
{
    if (n->kind == YAML_SCALAR || n->n == 0) {
        append_flow(b, n);
        buf_append_char(b, '\n');
    } else {
        append_block(b, n, 0);
    }
}
