/*
 * Binary JSON, and changes to it: the first two bytes say how much of the rest is the value.
 * What comes out is JSON in its compact form.
 */
#include "config.h"

#include "tests/fuzz/fuzz.h"

#include "src/base/bytes.h"
#include "src/format/json.h"
#include "sync/value/json_diff.h"
#include "sync/value/jsonb.h"

#include <stdlib.h>

static void check_compact(const struct buf *text)
{
    struct buf again = {0};

    /* Deeper than our own reader goes is not checked. */
    if (json_compact(&again, buf_str(text)) && !str_equal(buf_str(&again), buf_str(text)))
        abort();
    buf_free(&again);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t len)
{
    struct buf text = {0}, changed = {0};

    if (len < 2)
        return 0;

    const size_t left = len - 2;
    const size_t n = load_le16(bytes) < left ? load_le16(bytes) : left;
    const char *p = (const char *)bytes + 2;

    if (jsonb_append(&text, (struct str){p, n})) {
        check_compact(&text);
        if (json_diff_apply(&changed, buf_str(&text), (struct str){p + n, left - n}))
            check_compact(&changed);
    }
    buf_free(&text);
    buf_free(&changed);
    return 0;
}
