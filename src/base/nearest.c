#include "config.h"

#include "src/base/nearest.h"

#include <ctype.h>

#define NAME_MAX_LEN 64 /* longer names get no suggestion */

struct nearest nearest_to(struct str name)
{
    /* A third of the letters may differ, but always at least one. */
    return (struct nearest){.name = name, .distance = name.len / 3 + 2};
}

static size_t min3(size_t a, size_t b, size_t c)
{
    size_t m = a < b ? a : b;

    return m < c ? m : c;
}

static bool same(char a, char b)
{
    return tolower((unsigned char)a) == tolower((unsigned char)b);
}

/* Returns the edit distance of a and b; swapped neighbours count as one edit. */
static size_t edits(struct str a, struct str b)
{
    size_t rows[3][NAME_MAX_LEN + 1];
    size_t *before = rows[0], *last = rows[1], *now = rows[2];

    for (size_t j = 0; j <= b.len; j++)
        last[j] = j;
    for (size_t i = 1; i <= a.len; i++) {
        now[0] = i;
        for (size_t j = 1; j <= b.len; j++) {
            size_t change = last[j - 1] + (same(a.ptr[i - 1], b.ptr[j - 1]) ? 0 : 1);

            now[j] = min3(change, last[j] + 1, now[j - 1] + 1);
            if (i > 1 && j > 1 && same(a.ptr[i - 1], b.ptr[j - 2]) &&
                same(a.ptr[i - 2], b.ptr[j - 1]) && before[j - 2] + 1 < now[j])
                now[j] = before[j - 2] + 1;
        }

        size_t *free_row = before;

        before = last;
        last = now;
        now = free_row;
    }
    return last[b.len];
}

void nearest_offer(struct nearest *n, struct str known)
{
    if (n->name.len == 0 || n->name.len > NAME_MAX_LEN || known.len > NAME_MAX_LEN)
        return;

    size_t distance = edits(n->name, known);

    /* If every letter differs, the names are not alike. */
    if (distance >= n->distance || distance >= n->name.len)
        return;
    n->distance = distance;
    n->best = known;
}
