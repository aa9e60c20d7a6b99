#include "config.h"

#include "sync/definition/pattern_size.h"

#include <stdbool.h>
#include <string.h>

#define DEPTH_MAX 30

struct counter {
    struct str rest;
    size_t sizes[DEPTH_MAX + 1]; /* the size of each open group so far */
    size_t depth;
    size_t last; /* the size of the atom that a repetition would repeat */
};

static size_t bounded(size_t n)
{
    return n < PATTERN_SIZE_MAX ? n : PATTERN_SIZE_MAX + 1;
}

static void take(struct counter *c, size_t n)
{
    c->rest = (struct str){c->rest.ptr + n, c->rest.len - n};
}

static void add_atom(struct counter *c, size_t size)
{
    c->last = size;
    c->sizes[c->depth] = bounded(c->sizes[c->depth] + size);
}

/* "[^]a-z[:alpha:]]": a leading bracket is literal, and classes contain brackets. */
static size_t set_len(struct str s)
{
    size_t i = 1;

    i += i < s.len && s.ptr[i] == '^';
    i += i < s.len && s.ptr[i] == ']';
    while (i < s.len && s.ptr[i] != ']') {
        const char kind = i + 1 < s.len && s.ptr[i] == '[' ? s.ptr[i + 1] : '\0';

        if (kind != '\0' && strchr(":.=", kind) != NULL) {
            const char end[] = {kind, ']'};
            const char *at = memmem(s.ptr + i + 2, s.len - i - 2, end, 2);

            i = at == NULL ? s.len : (size_t)(at - s.ptr) + 2;
        } else {
            i++;
        }
    }
    return i < s.len ? i + 1 : s.len;
}

/* The larger number of "{m,n}", or m + 1 for "{m,}", and its length. 0 if there is no bound. */
static size_t read_bound(struct str s, size_t *len)
{
    size_t n[2] = {0, 0}, k = 0, i = 1;
    bool has_digits = false;

    for (; i < s.len && s.ptr[i] != '}'; i++) {
        if (s.ptr[i] == ',' && k == 0) {
            k = 1;
            has_digits = false;
        } else if (s.ptr[i] >= '0' && s.ptr[i] <= '9') {
            n[k] = bounded(n[k] * 10 + (size_t)(s.ptr[i] - '0'));
            has_digits = true;
        } else {
            return 0;
        }
    }
    if (i == s.len)
        return 0;
    *len = i + 1;
    if (k == 1 && !has_digits)
        return n[0] + 1;
    return n[1] > n[0] ? n[1] : n[0];
}

/* Count the last atom so many times. */
static void repeat(struct counter *c, size_t times)
{
    const size_t size = bounded(c->last * (times > 1 ? times : 1));

    c->sizes[c->depth] = bounded(c->sizes[c->depth] - c->last + size);
    c->last = size;
}

static const char *open_group(struct counter *c)
{
    if (c->depth == DEPTH_MAX)
        return "its groups are nested too deep";
    c->sizes[++c->depth] = 0;
    c->last = 0;
    take(c, 1);
    return NULL;
}

static void close_group(struct counter *c)
{
    take(c, 1);
    if (c->depth > 0) {
        c->depth--;
        add_atom(c, c->sizes[c->depth + 1] + 1);
    }
}

static const char *step(struct counter *c)
{
    const char *p = c->rest.ptr;
    size_t len = 1, times;

    if (*p == '(')
        return open_group(c);
    if (*p == ')') {
        close_group(c);
        return NULL;
    }
    if (*p == '\\' && c->rest.len > 1) {
        if (p[1] >= '1' && p[1] <= '9')
            return "it refers back to a group";
        add_atom(c, 1);
        take(c, 2);
        return NULL;
    }
    if (*p == '{' && (times = read_bound(c->rest, &len)) > 0)
        repeat(c, times);
    else if (strchr("*+?", *p) != NULL && *p != '\0')
        repeat(c, 2);
    else
        add_atom(c, 1);
    take(c, *p == '[' ? set_len(c->rest) : len);
    return NULL;
}

const char *pattern_size_wrong(struct str pattern)
{
    struct counter c = {.rest = pattern};
    const char *wrong = NULL;

    while (wrong == NULL && c.rest.len > 0) {
        wrong = step(&c);
        if (wrong == NULL && c.sizes[c.depth] > PATTERN_SIZE_MAX)
            wrong = "its repetitions make it too large";
    }
    return wrong;
}
