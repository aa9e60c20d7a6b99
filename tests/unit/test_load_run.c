#include "config.h"

#include "tests/unit/unit.h"

#include "sync/checkpoint/read_position.h"
#include "sync/load/load_run.h"

#define READ 1000

/* So much fits above a position that is read. */
static void only_what_the_stream_has_not_come_to_is_put_off(void **state)
{
    static const struct {
        uint64_t at_least;
        bool ahead;
    } cases[] = {
        {0, false},
        {READ, false},
        {READ + READ_POSITION_GAP, false},
        {READ + READ_POSITION_GAP + 1, true},
        {READ * 10, true},
        {1, false},
    };
    struct load_item items[ARRAY_LEN(cases)] = {0};
    struct load_batch b = {.items = items, .n_items = ARRAY_LEN(cases)};

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(cases); i++)
        items[i].at_least = cases[i].at_least;
    assert_int_equal(load_run_put_off(&b, READ), 2);
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        assert_int_equal(items[i].ahead, cases[i].ahead);
        assert_int_equal(items[i].failed, cases[i].ahead);
        assert_int_equal(items[i].err.kind, cases[i].ahead ? ERR_RETRY : ERR_NONE);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(only_what_the_stream_has_not_come_to_is_put_off),
    };
    return cmocka_run_group_tests_name("load_run", tests, NULL, NULL);
}
