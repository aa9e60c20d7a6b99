#include "config.h"

#include "tests/unit/unit.h"

#include "src/base/buf.h"
#include "sync/checkpoint/read_position.h"
#include "sync/position/gtid.h"

static void what_was_read_does_not_become_less(void **state)
{
    struct read_position *p = read_position_new(100);

    (void)state;
    read_position_set(p, 200, 1000);
    read_position_set(p, 150, 0); /* a dump begins again further back */
    assert_int_equal(read_position_version(p), 200);
    assert_int_equal(read_position_event_ms(p), 1000);
    read_position_free(p);
}

static bool is_complete(struct read_position *p)
{
    struct buf gtids = {0};
    bool complete;

    (void)read_position_get(p, &gtids, &complete);
    buf_free(&gtids);
    return complete;
}

static void gtids_are_complete_unless_the_last_transaction_has_none(void **state)
{
    const struct gtid some = {.family = GTID_MARIADB, .server = 1, .number = 7};
    const struct gtid none = {.family = GTID_NONE};
    struct read_position *p = read_position_new(100);

    (void)state;
    assert_true(is_complete(p));
    read_position_add_gtid(p, &none, 110);
    assert_false(is_complete(p));
    read_position_add_gtid(p, &some, 120);
    assert_true(is_complete(p));
    read_position_free(p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_was_read_does_not_become_less),
        cmocka_unit_test(gtids_are_complete_unless_the_last_transaction_has_none),
    };
    return cmocka_run_group_tests_name("read_position", tests, NULL, NULL);
}
