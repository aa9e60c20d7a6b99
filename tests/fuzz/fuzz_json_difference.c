/* Two texts, with a byte 0xff between them, which no JSON has. */
#include "config.h"

#include "tests/fuzz/fuzz.h"

#include "src/base/arena.h"
#include "src/base/buf.h"
#include "src/format/json.h"
#include "src/format/json_difference.h"

#include <assert.h>
#include <string.h>

#define MAX 3

/* Returns the differences, or -1 if one of them is not JSON. */
static int64_t count(struct str wanted, struct str found, bool as_doubles)
{
    struct json_difference list[MAX];
    struct json_comparison c = {
        .arena = arena_new(), .as_doubles = as_doubles, .list = list, .max = MAX};
    struct err err = {0};
    const bool ok = json_compare(&c, wanted, found, &err);

    assert(ok == (json_valid(wanted, &err) && json_valid(found, &err)));
    assert(c.n <= MAX && c.n <= c.n_all);
    for (size_t i = 0; i < c.n; i++) {
        assert((list[i].kind == JSON_EXTRA) == (list[i].wanted.ptr == NULL));
        assert((list[i].kind == JSON_MISSING) == (list[i].found.ptr == NULL));
    }
    arena_free(c.arena);
    return ok ? (int64_t)c.n_all : -1;
}

/*
 * Each text equals itself and its compact form, and each side sees as many differences; as
 * doubles no more.
 */
int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t len)
{
    const uint8_t *split = len > 0 ? memchr(bytes, 0xff, len) : NULL;
    const size_t n = split == NULL ? len : (size_t)(split - bytes);
    const struct str a = {(const char *)bytes, n};
    const struct str b = {(const char *)bytes + n + (split != NULL), len - n - (split != NULL)};
    struct buf compact = {0};

    assert(count(a, b, false) == count(b, a, false));
    assert(count(a, b, true) == count(b, a, true));
    assert(count(a, b, true) <= count(a, b, false));
    if (json_compact(&compact, a))
        assert(count(a, buf_str(&compact), false) == 0);
    buf_free(&compact);
    return 0;
}
