#include "config.h"

#include "tests/unit/unit.h"

#include "rebalance/build/tally.h"

static bool agrees(uint64_t rows, uint64_t documents, uint64_t dead, uint64_t moved)
{
    return tally_agrees(
        &(struct tally){.rows = rows, .documents = documents, .dead = dead, .moved = moved});
}

static void as_many_documents_as_rows_agree(void **state)
{
    (void)state;
    assert_true(agrees(0, 0, 0, 0));
    assert_true(agrees(2000, 2000, 0, 0));
}

static void one_document_too_few_or_too_many_does_not(void **state)
{
    (void)state;
    assert_false(agrees(2000, 1999, 0, 0));
    assert_false(agrees(2000, 2001, 0, 0));
    assert_false(agrees(1, 0, 0, 0));
    assert_false(agrees(0, 1, 0, 0));
}

static void a_dead_letter_may_have_an_older_document_or_none(void **state)
{
    (void)state;
    assert_true(agrees(10, 10, 3, 0));
    assert_true(agrees(10, 7, 3, 0));
    assert_false(agrees(10, 6, 3, 0));
    assert_false(agrees(10, 11, 3, 0));
}

static void what_moved_between_the_counts_blurs_them(void **state)
{
    (void)state;
    assert_true(agrees(10, 12, 0, 2));
    assert_true(agrees(10, 8, 0, 2));
    assert_false(agrees(10, 13, 0, 2));
    assert_false(agrees(10, 7, 0, 2));
    assert_true(agrees(10, 7, 1, 2));
    assert_false(tally_agrees_exactly(&(struct tally){10, 8, 0, 2, 0}));
    assert_true(tally_agrees_exactly(&(struct tally){10, 10, 0, 2, 0}));
}

static void what_a_pipeline_dropped_has_no_document(void **state)
{
    (void)state;
    assert_true(tally_agrees_exactly(&(struct tally){10, 6, 1, 0, 3}));
    assert_true(tally_agrees_exactly(&(struct tally){10, 8, 0, 0, 3})); /* dropped, then not */
    assert_true(tally_agrees_exactly(&(struct tally){10, 0, 0, 0, UINT64_MAX}));
    assert_false(tally_agrees(&(struct tally){10, 6, 0, 0, 3}));
    assert_false(tally_agrees(&(struct tally){10, 11, 0, 0, UINT64_MAX}));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(as_many_documents_as_rows_agree),
        cmocka_unit_test(one_document_too_few_or_too_many_does_not),
        cmocka_unit_test(a_dead_letter_may_have_an_older_document_or_none),
        cmocka_unit_test(what_moved_between_the_counts_blurs_them),
        cmocka_unit_test(what_a_pipeline_dropped_has_no_document),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
