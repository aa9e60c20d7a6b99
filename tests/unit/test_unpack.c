#include "config.h"

#include "tests/unit/vectors.h"

#include "src/base/arena.h"
#include "sync/decode/unpack.h"

#include <zlib.h>

struct fixture {
    struct unpacker *u;
    struct arena *a;
};

static int set_up(void **state)
{
    struct fixture *f = calloc(1, sizeof(*f));

    f->u = unpacker_new();
    f->a = arena_new();
    *state = f;
    return 0;
}

static int tear_down(void **state)
{
    struct fixture *f = *state;

    unpacker_free(f->u);
    arena_free(f->a);
    free(f);
    return 0;
}

/* head, then text compressed with or without zlib's own header. */
static void pack(struct buf *out, const char *head_hex, bool raw, struct str text)
{
    z_stream z = {0};
    struct buf head = {0};

    buf_clear(out);
    buf_append(out, unhex(&head, head_hex));
    buf_reserve(out, text.len + 100);
    assert_int_equal(deflateInit2(&z, 6, Z_DEFLATED, raw ? -15 : 15, 8, 0), Z_OK);
    z.next_in = (Bytef *)(uintptr_t)text.ptr;
    z.avail_in = (uInt)text.len;
    z.next_out = (Bytef *)out->ptr + out->len;
    z.avail_out = (uInt)(text.len + 100);
    assert_int_equal(deflate(&z, Z_FINISH), Z_STREAM_END);
    out->len += text.len + 100 - z.avail_out;
    deflateEnd(&z);
    buf_free(&head);
}

static void events_and_columns_are_unpacked_by_one_unpacker(void **state)
{
    struct fixture *f = *state;
    struct buf packed = {0};
    struct err err;
    struct str out;

    for (int i = 0; i < 3; i++) {
        pack(&packed, "8103", false, STR("abc"));
        assert_true(unpack_event(f->u, buf_str(&packed), 100, &out, &err));
        assert_true(str_equal(out, STR("abc")));
        pack(&packed, "8a0005", true, STR("abcde"));
        assert_true(unpack_column(f->u, buf_str(&packed), 100, f->a, &out));
        assert_true(str_equal(out, STR("abcde")));
        pack(&packed, "8105", false, STR("abcde"));
        assert_true(unpack_column(f->u, buf_str(&packed), 100, f->a, &out));
        assert_true(str_equal(out, STR("abcde")));
    }
    assert_true(unpack_column(f->u, STR("\0abc"), 100, f->a, &out));
    assert_true(str_equal(out, STR("abc")));
    assert_true(unpack_column(f->u, STR(""), 100, f->a, &out));
    assert_int_equal(out.len, 0);
    buf_free(&packed);
}

static void wrong_lengths_and_damage_are_refused(void **state)
{
    static const char *const heads[] = {"8102", "8104",       "0103",      "9103",
                                        "80",   "8500000003", "84ffffffff"};
    struct fixture *f = *state;
    struct buf packed = {0};
    struct err err;
    struct str out;

    for (size_t i = 0; i < ARRAY_LEN(heads); i++) {
        pack(&packed, heads[i], false, STR("abc"));
        assert_false(unpack_event(f->u, buf_str(&packed), 1 << 20, &out, &err));
        assert_false(unpack_column(f->u, buf_str(&packed), 1 << 20, f->a, &out));
    }
    pack(&packed, "8103", false, STR("abc"));
    assert_false(unpack_event(f->u, buf_str(&packed), 2, &out, &err));
    for (size_t n = 0; n < packed.len; n++)
        assert_false(unpack_event(f->u, (struct str){packed.ptr, n}, 100, &out, &err));
    assert_true(arena_size(f->a) < 1 << 20);
    buf_free(&packed);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(events_and_columns_are_unpacked_by_one_unpacker, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(wrong_lengths_and_damage_are_refused, set_up,
                                        tear_down),
    };
    return cmocka_run_group_tests_name("unpack", tests, NULL, NULL);
}
