#include "config.h"

#include "tests/unit/unit.h"

#include "sync/checkpoint/save_due.h"

static void a_position_that_stays_is_never_saved(void **state)
{
    struct save_due d = {.file_number = 1};

    (void)state;
    save_due_note(&d, PROGRESS_STAYS, true, 1000);
    assert_false(save_due_is(&d, 1, 1000 + 10 * SAVE_ASIDE_MS));
}

static void a_change_is_saved_at_once(void **state)
{
    struct save_due d = {.file_number = 1};

    (void)state;
    save_due_note(&d, PROGRESS_CHANGES, true, 1000);
    assert_true(save_due_is(&d, 1, 1000));
    save_due_note(&d, PROGRESS_STAYS, true, 1100);
    save_due_note(&d, PROGRESS_ASIDE, true, 1200);
    assert_true(save_due_is(&d, 1, 1200)); /* it was not saved yet */
    save_due_saved(&d, 1);
    assert_false(save_due_is(&d, 1, 1300));
}

static void moves_over_what_concerns_nothing_are_saved_with_the_next_change(void **state)
{
    struct save_due d = {.file_number = 1};

    (void)state;
    save_due_note(&d, PROGRESS_ASIDE, true, 1000);
    assert_false(save_due_is(&d, 1, 1000));
    save_due_note(&d, PROGRESS_CHANGES, true, 2000);
    assert_true(save_due_is(&d, 1, 2000));
}

/* Each save is itself a move: one transaction a minute, and not one a look. */
static void a_store_that_moves_the_position_itself_is_written_once_a_minute(void **state)
{
    struct save_due d = {.file_number = 1};
    unsigned saves = 0;

    (void)state;
    save_due_note(&d, PROGRESS_ASIDE, true, 0);
    for (int64_t ms = 100; ms <= 10 * SAVE_ASIDE_MS; ms += 100)
        if (save_due_is(&d, 1, ms)) {
            saves++;
            save_due_saved(&d, 1);
            save_due_note(&d, PROGRESS_ASIDE, true, ms);
        }
    assert_int_equal(saves, 10);
}

static void the_minute_counts_from_the_first_move(void **state)
{
    struct save_due d = {.file_number = 1};

    (void)state;
    save_due_note(&d, PROGRESS_STAYS, true, 0);
    save_due_note(&d, PROGRESS_ASIDE, true, 5000);
    save_due_note(&d, PROGRESS_ASIDE, true, 5000 + SAVE_ASIDE_MS - 1);
    assert_false(save_due_is(&d, 1, 5000 + SAVE_ASIDE_MS - 1));
    assert_true(save_due_is(&d, 1, 5000 + SAVE_ASIDE_MS));
}

/* The file before may be purged then. */
static void a_position_in_another_file_is_saved_at_once(void **state)
{
    struct save_due d = {.file_number = 1};

    (void)state;
    save_due_note(&d, PROGRESS_ASIDE, true, 1000);
    assert_false(save_due_is(&d, 1, 1000));
    assert_true(save_due_is(&d, 2, 1000));
    save_due_saved(&d, 2);
    save_due_note(&d, PROGRESS_ASIDE, true, 1100);
    assert_false(save_due_is(&d, 2, 1100));
}

/* What was under way may be done by now, and only another look shows how far. */
static void a_look_while_changes_are_under_way_is_not_the_last(void **state)
{
    struct save_due d = {.file_number = 1};

    (void)state;
    save_due_note(&d, PROGRESS_STAYS, false, 1000);
    assert_int_equal(save_due_in_ms(&d, 1000), 0);
    save_due_note(&d, PROGRESS_CHANGES, true, 1100);
    assert_int_equal(save_due_in_ms(&d, 1100), 0);
    save_due_saved(&d, 1);
    assert_true(save_due_in_ms(&d, 1100) == INT64_MAX);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_position_that_stays_is_never_saved),
        cmocka_unit_test(a_change_is_saved_at_once),
        cmocka_unit_test(moves_over_what_concerns_nothing_are_saved_with_the_next_change),
        cmocka_unit_test(a_store_that_moves_the_position_itself_is_written_once_a_minute),
        cmocka_unit_test(the_minute_counts_from_the_first_move),
        cmocka_unit_test(a_position_in_another_file_is_saved_at_once),
        cmocka_unit_test(a_look_while_changes_are_under_way_is_not_the_last),
    };

    return cmocka_run_group_tests_name("save_due", tests, NULL, NULL);
}
