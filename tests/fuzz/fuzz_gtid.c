/*
 * GTID sets as text and as bytes: what is read is printed and read again as the same set.
 */
#include "config.h"

#include "tests/fuzz/fuzz.h"

#include "src/base/buf.h"
#include "sync/position/gtid_set.h"
#include "sync/position/position.h"

#include <assert.h>

static void check_text(const struct gtid_set *s)
{
    struct gtid_set *again, *left;
    struct buf text = {0};
    struct err err;

    buf_append(&text, STR(""));
    gtid_set_format(&text, s);
    if (gtid_set_parse(buf_str(&text), &again, &err)) {
        assert(gtid_set_equal(s, again));
        assert(gtid_set_includes(s, again));
        left = gtid_set_minus(s, again);
        assert(gtid_set_is_empty(left));
        gtid_set_merge(left, s);
        assert(gtid_set_equal(left, s));
        gtid_set_free(left);
        gtid_set_free(again);
    } else {
        assert(!"what was printed is not read");
    }
    buf_free(&text);
}

static void check_bytes(const struct gtid_set *s)
{
    struct gtid_set *again = NULL;
    struct buf bytes = {0};
    struct err err;

    gtid_set_encode(&bytes, s);
    assert(gtid_set_decode(buf_str(&bytes), &again, &err));
    assert(gtid_set_family(s) == GTID_MARIADB || gtid_set_equal(s, again));
    gtid_set_free(again);
    buf_free(&bytes);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t len)
{
    const struct str s = {(const char *)bytes, len};
    struct gtid_set *set;
    struct position p;
    struct gtid g;
    struct err err;

    if (gtid_set_parse(s, &set, &err)) {
        check_text(set);
        check_bytes(set);
        gtid_set_free(set);
    }
    if (gtid_set_decode(s, &set, &err)) {
        check_text(set);
        check_bytes(set);
        gtid_set_free(set);
    }
    if (gtid_parse(s, &g, &err)) {
        set = gtid_set_new();
        gtid_set_add(set, &g);
        assert(gtid_set_contains(set, &g));
        gtid_set_free(set);
    }
    if (position_parse(s, &p, &err)) {
        uint64_t version;

        assert(position_compare(p, p) == 0);
        if (position_version(p, 1, &version, &err))
            assert(position_fields(version).offset == p.offset);
    }
    return 0;
}
