#include "config.h"

#include "rebalance/build/refusals.h"

#include "src/base/buf.h"
#include "src/base/human.h"
#include "src/base/map.h"
#include "src/base/mem.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#define KIND_MAX  200  /* bytes of a reason */
#define KINDS_MAX 1000 /* count any more as one kind */

struct refusal {
    uint64_t now, before;
    struct buf text; /* table and reason */
};

struct refusals {
    struct map *kinds;
    uint64_t all;
};

struct refusals *refusals_new(void)
{
    struct refusals *r = mem_alloc(1, sizeof(*r));

    r->kinds = map_new();
    return r;
}

static void free_refusal(void *value)
{
    struct refusal *one = value;

    buf_free(&one->text);
    free(one);
}

void refusals_free(struct refusals *r)
{
    if (r == NULL)
        return;
    map_free(r->kinds, free_refusal);
    free(r);
}

/* ---- kinds ---- */

/* From one of these on, a reason concerns one document only. */
static const char *const tails[] = {" in document with id '", ". Preview of field's value: ",
                                    ". The prefix of the first immense term"};

struct str refusals_without_document(struct str reason)
{
    for (size_t i = 0; i < ARRAY_LEN(tails); i++) {
        const char *at = memmem(reason.ptr, reason.len, tails[i], strlen(tails[i]));

        if (at != NULL)
            reason.len = (size_t)(at - reason.ptr);
    }
    return reason;
}

static bool is_of_name(struct str s, size_t i)
{
    const unsigned char c = i < s.len ? (unsigned char)s.ptr[i] : 0;

    return isalpha(c) || c == '_' || c >= 0x80;
}

/* Returns the position behind the quoted text that begins at `at`, or `at` if none does. */
static size_t end_of_quoted(struct str s, size_t at)
{
    const char *end;

    if ((s.ptr[at] != '\'' && s.ptr[at] != '"') || (at > 0 && is_of_name(s, at - 1)))
        return at;
    end = memchr(s.ptr + at + 1, s.ptr[at], s.len - at - 1);
    return end == NULL ? s.len : (size_t)(end - s.ptr) + 1;
}

/* The same for a number that is not part of a name. */
static size_t end_of_number(struct str s, size_t at)
{
    size_t i = at;

    while (i < s.len && isdigit((unsigned char)s.ptr[i]))
        i++;
    return is_of_name(s, i) || (at > 0 && is_of_name(s, at - 1)) ? at : i;
}

/* Returns the end of the name at `at`, digits included; at least one byte further. */
static size_t end_of_name(struct str s, size_t at)
{
    size_t i = at;

    while (i < s.len && (is_of_name(s, i) || isdigit((unsigned char)s.ptr[i])))
        i++;
    return i > at ? i : at + 1;
}

void refusals_append_kind(struct str reason, struct buf *kind)
{
    const size_t from = kind->len;
    const struct str s = refusals_without_document(reason);

    for (size_t i = 0; i < s.len && kind->len - from < KIND_MAX;) {
        const size_t quoted = end_of_quoted(s, i), number = end_of_number(s, i);

        if (quoted > i || number > i) {
            buf_append(kind, quoted > i ? STR("'...'") : STR("N"));
            i = quoted > i ? quoted : number;
        } else {
            const size_t end = end_of_name(s, i);

            buf_append(kind, (struct str){s.ptr + i, end - i});
            i = end;
        }
    }
}

static struct refusal *find(struct refusals *r, struct str text)
{
    struct refusal *one = map_find(r->kinds, text);

    if (one == NULL && map_count(r->kinds) >= KINDS_MAX) {
        text = STR("other reasons");
        one = map_find(r->kinds, text);
    }
    if (one != NULL)
        return one;
    one = mem_alloc(1, sizeof(*one));
    buf_append(&one->text, text);
    map_put(r->kinds, text, one);
    return one;
}

void refusals_add(struct refusals *r, bool is_new, struct str table, struct str reason)
{
    struct buf text = {0};
    struct refusal *one;

    buf_append(&text, table);
    buf_append(&text, STR(": "));
    refusals_append_kind(reason, &text);
    one = find(r, buf_str(&text));
    if (is_new)
        one->now++;
    else
        one->before++;
    r->all += is_new;
    buf_free(&text);
}

/* ---- the judgement ---- */

uint64_t refusals_all(const struct refusals *r)
{
    return r->all;
}

static uint64_t lost(const struct refusal *one)
{
    return one->now > one->before ? one->now - one->before : 0;
}

uint64_t refusals_lost(const struct refusals *r)
{
    uint64_t sum = 0;
    struct str key;
    void *value;

    for (size_t i = 0; map_next(r->kinds, &i, &key, &value);)
        sum += lost(value);
    return sum;
}

uint64_t refusals_allowed(uint64_t rows)
{
    const uint64_t part = rows / 1000 > 1 ? rows / 1000 : 1;

    return rows == 0 || part < rows ? part : rows - 1;
}

static int by_lost(const void *a, const void *b)
{
    const uint64_t x = lost(*(struct refusal *const *)a), y = lost(*(struct refusal *const *)b);

    return x < y ? 1 : -(x > y);
}

void refusals_append(const struct refusals *r, unsigned n_max, struct buf *text)
{
    const size_t n = map_count(r->kinds);
    struct refusal **list = mem_alloc(n + 1, sizeof(struct refusal *));
    size_t n_listed = 0;
    struct str key;
    void *value;

    for (size_t i = 0; map_next(r->kinds, &i, &key, &value);)
        if (lost(value) > 0)
            list[n_listed++] = value;
    qsort(list, n_listed, sizeof(struct refusal *), by_lost);
    for (size_t i = 0; i < n_listed && i < n_max; i++) {
        buf_append(text, i > 0 ? STR("; ") : STR(""));
        human_count(text, lost(list[i]));
        buf_append(text, STR(" of "));
        buf_append(text, buf_str(&list[i]->text));
    }
    if (n_listed > n_max)
        buf_append(text, STR("; and others"));
    free(list);
}
