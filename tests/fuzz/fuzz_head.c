#include "config.h"

#include "tests/fuzz/fuzz.h"

#include "web/head.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

static void check_inside(struct str part, struct str raw)
{
    if (part.ptr == NULL)
        return;
    assert(part.ptr >= raw.ptr && part.ptr + part.len <= raw.ptr + raw.len);
    for (size_t i = 0; i < part.len; i++)
        assert(strchr("\r\n", part.ptr[i]) == NULL); /* and no NUL, which this finds too */
}

/*
 * A head that is complete, or bad, stays so whatever follows, and no shorter part of it was
 * judged otherwise.  What it gives lies inside.
 */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    enum head_state before = HEAD_MORE;
    struct head h;
    struct err err = {0};
    char *copy = malloc(size > 0 ? size : 1);

    memcpy(copy, data, size);
    for (size_t n = 0; n <= size && n < 512; n++) {
        const enum head_state state = head_parse(&h, (struct str){copy, n}, &err);

        assert(before == HEAD_MORE || state == before);
        before = state;
    }

    const struct str raw = {copy, size};
    const enum head_state state = head_parse(&h, raw, &err);

    assert(before == HEAD_MORE || state == before);
    assert(state != HEAD_BAD || (err.code >= 400 && err.code <= 499));
    assert(state != HEAD_DONE || (h.method.len > 0 && h.target.len > 0));
    if (state == HEAD_DONE) {
        check_inside(h.method, raw);
        check_inside(h.target, raw);
        check_inside(h.host, raw);
        check_inside(h.content_type, raw);
        check_inside(h.if_match, raw);
        check_inside(h.if_none_match, raw);
        check_inside(h.accept_encoding, raw);
        check_inside(h.idempotency_key, raw);
    }
    free(copy);
    return 0;
}
