#include "config.h"

#include "sync/document/bucket/sections.h"

#include "src/base/mem.h"

#include <stdlib.h>
#include <string.h>

/* A split that leaves all but one row of so many together was none; after so many of these in a
 * row, the section is taken as it is. */
#define FEW       20
#define TRIES_MAX 24

void sections_init(struct sections *s)
{
    *s = (struct sections){.n = 1, .cap = 16};
    s->list = mem_alloc(s->cap, sizeof(*s->list));
    s->list[0] = (struct row_section){.rows = UINT64_MAX};
}

void sections_fini(struct sections *s)
{
    free(s->list);
}

uint64_t sections_rows(const struct sections *s)
{
    uint64_t rows = 0;

    for (size_t i = 0; i < s->n; i++)
        rows += s->list[i].rows;
    return rows;
}

struct str sections_after(const struct sections *s, size_t at)
{
    return at == 0 ? STR("") : s->list[at - 1].until;
}

size_t sections_largest(const struct sections *s, uint64_t rows)
{
    size_t largest = SIZE_MAX;

    for (size_t i = 0; i < s->n; i++)
        if (!s->list[i].is_whole && s->list[i].rows > rows) {
            largest = i;
            rows = s->list[i].rows;
        }
    return largest;
}

/* Whether nearly all rows are in one part. */
static void count_try(struct row_section *part, const struct row_section *whole, uint64_t rows)
{
    const bool same = part->rows >= rows - rows / FEW;

    part->tries = same ? whole->tries + 1 : 0;
    part->is_whole = part->rows <= 1 || part->tries > TRIES_MAX;
}

void sections_split(struct sections *s, size_t at, const struct row_section *parts, size_t n)
{
    const struct row_section whole = s->list[at];
    uint64_t rows = 0;

    while (s->n + n > s->cap)
        s->cap *= 2;
    s->list = mem_resize(s->list, s->cap, sizeof(*s->list));
    memmove(s->list + at + n, s->list + at + 1, (s->n - at - 1) * sizeof(*s->list));
    memcpy(s->list + at, parts, n * sizeof(*parts));
    s->n += n - 1;
    s->list[at + n - 1].until = whole.until;
    for (size_t i = 0; i < n; i++)
        rows += parts[i].rows;
    for (size_t i = at; i < at + n; i++)
        count_try(&s->list[i], &whole, rows);
}

static double distance(double x, double y)
{
    return x < y ? y - x : x - y;
}

size_t sections_cut(const struct sections *s, size_t n, struct str *out)
{
    const double all = (double)sections_rows(s);
    double before = 0; /* rows before section i */
    size_t i = 0, found = 0;

    for (size_t k = 1; k < n; k++) {
        const double wanted = all / (double)n * (double)k;
        bool moved = false;

        while (i + 1 < s->n &&
               distance(before + (double)s->list[i].rows, wanted) <= distance(before, wanted)) {
            moved = moved || s->list[i].rows > 0;
            before += (double)s->list[i++].rows;
        }
        if (moved)
            out[found++] = s->list[i - 1].until;
    }
    return found;
}

void sections_sum(const struct sections *s, const struct str *places, size_t n, uint64_t *sizes)
{
    size_t k = 0;

    for (size_t i = 0; i <= n; i++)
        sizes[i] = 0;
    for (size_t i = 0; i < s->n; i++) {
        sizes[k] += s->list[i].rows;
        k += k < n && str_equal(s->list[i].until, places[k]);
    }
}
