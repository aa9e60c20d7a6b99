/* What the store keeps of a request with an Idempotency-Key. */
#include "config.h"

#include "tests/unit/unit.h"

#include "rebalance/repeat/repeat_record.h"
#include "src/base/arena.h"
#include "src/base/buf.h"

#include <string.h>

#define NOW_MS INT64_C(1795910400000)

static const struct repeat_record runs = {.at_ms = NOW_MS,
                                          .asked = {"abc", 3},
                                          .node = {"node-1", 6},
                                          .program = {"p1", 2},
                                          .claim = {"claim", 5}};

static enum repeat_state state_of(const struct repeat_record *r, const char *asked,
                                  const char *node, const char *program, int64_t later_ms)
{
    return repeat_state_of(r, &(struct repeat_view){.asked = str_from(asked),
                                                    .node = str_from(node),
                                                    .program = str_from(program),
                                                    .now_ms = NOW_MS + later_ms});
}

static void parts_that_are_cut_elsewhere_have_another_hash(void **state)
{
    const struct str one[] = {STR("ab"), STR("c")}, other[] = {STR("a"), STR("bc")};
    char a[REPEAT_HASH + 1], b[REPEAT_HASH + 1], again[REPEAT_HASH + 1];

    (void)state;
    assert_true(repeat_hash(a, one, 2));
    assert_true(repeat_hash(b, other, 2));
    assert_true(repeat_hash(again, one, 2));
    assert_int_equal(strlen(a), REPEAT_HASH);
    assert_string_not_equal(a, b);
    assert_string_equal(a, again);
}

static void a_record_is_read_as_it_was_written(void **state)
{
    struct repeat_record whole = runs, read;
    struct arena *a = arena_new();
    struct buf json = {0};

    (void)state;
    whole.status = 202;
    whole.answer = STR("{\"text\":\"a \\\"quote\\\"\"}");
    repeat_record_write(&json, &whole);
    repeat_record_read(&read, a, buf_str(&json));
    assert_int_equal(read.at_ms, NOW_MS);
    assert_int_equal(read.status, 202);
    assert_false(read.is_long);
    assert_true(str_equal(read.answer, whole.answer));
    assert_true(str_equal(read.asked, whole.asked) && str_equal(read.claim, whole.claim));
    assert_true(str_equal(read.node, whole.node) && str_equal(read.program, whole.program));
    buf_free(&json);
    arena_free(a);
}

static void
one_that_runs_is_lost_with_its_program_or_after_longer_than_any_call_takes(void **state)
{
    (void)state;
    assert_int_equal(state_of(&runs, "abc", "node-1", "p1", 1000), REPEAT_RUNS);
    assert_int_equal(state_of(&runs, "abc", "node-2", "p2", 1000), REPEAT_RUNS);
    assert_int_equal(state_of(&runs, "abc", "node-1", "p2", 1000), REPEAT_LOST);
    assert_int_equal(state_of(&runs, "abc", "node-2", "p2", REPEAT_RUNS_MS), REPEAT_LOST);
    assert_int_equal(state_of(&runs, "abc", "node-1", "p1", -5000), REPEAT_RUNS);
    /* The longest drain. */
    assert_int_equal(state_of(&runs, "abc", "node-2", "p2", 3600000 + 60000), REPEAT_RUNS);
}

static void an_answer_is_given_for_a_day_and_to_the_same_request_alone(void **state)
{
    struct repeat_record ended = runs;

    (void)state;
    ended.status = 202;
    assert_int_equal(state_of(&ended, "abc", "node-1", "p2", 1000), REPEAT_ANSWERED);
    assert_int_equal(state_of(&ended, "abd", "node-1", "p1", 1000), REPEAT_OTHER);
    assert_int_equal(state_of(&runs, "abd", "node-1", "p1", 1000), REPEAT_OTHER);
    assert_int_equal(state_of(&ended, "abc", "node-2", "p2", REPEAT_KEPT_MS - 1),
                     REPEAT_ANSWERED);
    assert_int_equal(state_of(&ended, "abc", "node-1", "p1", REPEAT_KEPT_MS), REPEAT_OLD);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(parts_that_are_cut_elsewhere_have_another_hash),
        cmocka_unit_test(a_record_is_read_as_it_was_written),
        cmocka_unit_test(
            one_that_runs_is_lost_with_its_program_or_after_longer_than_any_call_takes),
        cmocka_unit_test(an_answer_is_given_for_a_day_and_to_the_same_request_alone),
    };
    return cmocka_run_group_tests_name("requests that come again", tests, NULL, NULL);
}
