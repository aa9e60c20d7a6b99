#include "config.h"

#include "tests/unit/unit.h"

#include "src/base/buf.h"
#include "sync/checkpoint/fingerprint.h"

#include <string.h>

static void what_was_formatted_is_parsed_again(void **state)
{
    struct commit_position m = {.gtid_start = 4711}, back = {0};
    struct buf text = {0};
    char identity[96];

    (void)state;
    for (size_t i = 0; i < COMMIT_GTID_BYTES; i++)
        m.gtid_event[i] = (uint8_t)(i * 11 + 200);
    fingerprint_format(&text, "3e11fa47-71ca-11e1-9e33-c80aa9429562", &m);
    fingerprint_parse(buf_str(&text), identity, sizeof(identity), &back);
    assert_string_equal(identity, "3e11fa47-71ca-11e1-9e33-c80aa9429562");
    assert_int_equal(back.gtid_start, 4711);
    assert_memory_equal(back.gtid_event, m.gtid_event, COMMIT_GTID_BYTES);
    buf_free(&text);
}

static void a_text_that_is_no_fingerprint_gives_nothing(void **state)
{
    static const char *const texts[] = {"", ";;;", "server=", "gtid_start=12;gtid_event=zz",
                                        "gtid_event=00"};
    char identity[8];

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(texts); i++) {
        struct commit_position m = {0};

        fingerprint_parse(str_from(texts[i]), identity, sizeof(identity), &m);
        assert_string_equal(identity, "");
        assert_int_equal(m.gtid_start, 0);
    }
}

static void a_long_identity_is_cut_not_overrun(void **state)
{
    struct commit_position m = {0};
    char identity[8];

    (void)state;
    fingerprint_parse(STR("server=0123456789;gtid_start=0;gtid_event="), identity,
                      sizeof(identity), &m);
    assert_string_equal(identity, "0123456");
}

static void a_move_to_another_server_keeps_the_place_before_it(void **state)
{
    struct commit_position m = {0};
    struct buf text = {0};
    char identity[96];

    (void)state;
    fingerprint_format_after(&text, "id 2", UINT64_C(9007199254741993));
    fingerprint_parse(buf_str(&text), identity, sizeof(identity), &m);
    assert_string_equal(identity, "id 2");
    assert_int_equal(m.gtid_start, 0);
    assert_int_equal(fingerprint_after(buf_str(&text)), UINT64_C(9007199254741993));
    buf_clear(&text);
    fingerprint_format(&text, "id 2", &m);
    assert_int_equal(fingerprint_after(buf_str(&text)), 0);
    buf_free(&text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_was_formatted_is_parsed_again),
        cmocka_unit_test(a_text_that_is_no_fingerprint_gives_nothing),
        cmocka_unit_test(a_move_to_another_server_keeps_the_place_before_it),
        cmocka_unit_test(a_long_identity_is_cut_not_overrun),
    };
    return cmocka_run_group_tests_name("fingerprint", tests, NULL, NULL);
}
