#include "config.h"

#include "tests/unit/unit.h"

#include "src/base/buf.h"
#include "sync/position/position.h"

static void a_position_is_read_and_printed(void **state)
{
    struct position p;
    struct err err = {0};
    struct buf b = {0};

    (void)state;
    assert_true(position_parse(STR("mysql-bin.000042:1234"), &p, &err));
    assert_true(str_equal(p.file, STR("mysql-bin.000042")));
    assert_int_equal(p.offset, 1234);
    position_format(&b, p);
    assert_string_equal(b.ptr, "mysql-bin.000042:1234");
    buf_free(&b);
}

static void text_that_is_no_position_is_refused(void **state)
{
    static const char *const bad[] = {
        "", ":", "a", "a:", ":4", "a:-1", "a:1x", "a:99999999999999999999"};
    struct position p;

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(bad); i++) {
        struct err err = {0};

        assert_false(position_parse(str_from(bad[i]), &p, &err));
        assert_int_equal(err.kind, ERR_REJECT);
    }
}

static void positions_compare_by_number_and_not_by_text(void **state)
{
    const struct position nine = {STR("bin.999999"), 9}, ten = {STR("bin.1000000"), 4};

    (void)state;
    assert_true(position_compare(nine, ten) < 0);
    assert_true(position_compare(ten, nine) > 0);
    assert_int_equal(position_compare(nine, nine), 0);
    assert_true(position_compare((struct position){STR("b.1"), 4},
                                 (struct position){STR("b.1"), 5000000000}) < 0);
}

static void a_file_name_without_a_number_has_itself_as_base(void **state)
{
    uint64_t n;

    (void)state;
    assert_true(str_equal(position_file_base(STR("a.b.000007")), STR("a.b")));
    assert_true(str_equal(position_file_base(STR("plain")), STR("plain")));
    assert_false(position_file_number(STR("plain"), &n));
    assert_false(position_file_number(STR("plain."), &n));
}

static void a_version_holds_its_fields(void **state)
{
    struct err err = {0};
    uint64_t v, w;
    const struct position p = {STR("bin.1048575"), POSITION_OFFSET_MAX};

    (void)state;
    assert_true(position_version(p, 1023, &v, &err));
    assert_int_equal(v, (UINT64_C(1) << 63) - 1);

    const struct position_fields f = position_fields(v);

    assert_int_equal(f.epoch, 1023);
    assert_int_equal(f.file, 1048575);
    assert_int_equal(f.offset, POSITION_OFFSET_MAX);

    assert_true(position_version((struct position){STR("bin.1"), 5}, 0, &v, &err));
    assert_true(position_version((struct position){STR("bin.1"), 4}, 1, &w, &err));
    assert_true(w > v);
}

static void a_version_never_wraps(void **state)
{
    static const struct {
        struct position p;
        uint64_t epoch;
    } bad[] = {
        {{STR("bin.1048576"), 4}, 0},
        {{STR("bin.1"), POSITION_OFFSET_MAX + 1}, 0},
        {{STR("bin.1"), 4}, 1024},
        {{STR("bin"), 4}, 0},
    };
    uint64_t v;

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(bad); i++) {
        struct err err = {0};

        assert_false(position_version(bad[i].p, bad[i].epoch, &v, &err));
        assert_int_equal(err.kind, ERR_REJECT);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_position_is_read_and_printed),
        cmocka_unit_test(text_that_is_no_position_is_refused),
        cmocka_unit_test(positions_compare_by_number_and_not_by_text),
        cmocka_unit_test(a_file_name_without_a_number_has_itself_as_base),
        cmocka_unit_test(a_version_holds_its_fields),
        cmocka_unit_test(a_version_never_wraps),
    };
    return cmocka_run_group_tests_name("position", tests, NULL, NULL);
}
