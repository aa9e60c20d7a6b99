#include "config.h"

#include "tests/unit/unit.h"

#include "rebalance/trace/code.h"
#include "src/base/buf.h"

static const struct trace_names names = {.table = STR("shop.orders"),
                                         .id = STR("it's 5"),
                                         .index = STR("orders_v2"),
                                         .why = STR("somebody did that"),
                                         .fix = STR("undo it")};

static void each_fact_alone_is_its_code(void **state)
{
    (void)state;
    for (int i = 0; i < N_TRACE_CODES; i++)
        assert_int_equal(trace_choose(TRACE_FACT(i)), i);
}

static void of_two_facts_the_first_code_is_told(void **state)
{
    (void)state;
    for (int i = 0; i < N_TRACE_CODES; i++)
        for (int k = i; k < N_TRACE_CODES; k++)
            assert_int_equal(trace_choose(TRACE_FACT(i) | TRACE_FACT(k)), i);
}

static void without_a_fact_nothing_is_judged(void **state)
{
    (void)state;
    assert_string_equal(trace_verdict(trace_choose(0)), "unknown");
}

/* Whatever may still end the difference comes before it. */
static void a_difference_is_told_only_if_nothing_is_on_its_way(void **state)
{
    static const enum trace_code ways[] = {
        TRACE_STOPPED,      TRACE_NOT_RUNNING,  TRACE_ENGINE_AWAY,   TRACE_SERVER_AWAY,
        TRACE_PAUSED,       TRACE_HELD,         TRACE_SENT,          TRACE_READING,
        TRACE_QUEUED,       TRACE_APART,        TRACE_UNSTORED,      TRACE_DEAD_LETTER,
        TRACE_PURGED,       TRACE_FAN_OUT,      TRACE_CASCADE,       TRACE_BY_TIME,
        TRACE_CHANGING,     TRACE_TOPIC_PAUSED, TRACE_NOT_DELIVERED, TRACE_ASTRAY,
        TRACE_INDEX_ABSENT, TRACE_INDEX_CLOSED,
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(ways); i++)
        for (int d = TRACE_LINEAGE; d <= TRACE_DIFFERENT; d++) {
            const enum trace_code code = trace_choose(TRACE_FACT(d) | TRACE_FACT(ways[i]));

            assert_string_equal(trace_verdict((enum trace_code)d), "different");
            assert_string_equal(trace_verdict(code), "unknown");
        }
}

/* A change that is on its way does not make an equal document less equal. */
static void an_equal_document_is_equal_whatever_is_on_its_way(void **state)
{
    (void)state;
    for (int i = TRACE_PAUSED; i <= TRACE_CHANGING; i++)
        assert_string_equal(
            trace_verdict(trace_choose(TRACE_FACT(TRACE_EQUAL) | TRACE_FACT(i))), "equal");
}

static void each_code_has_a_word_of_its_own_and_a_whole_sentence(void **state)
{
    (void)state;
    for (int i = 0; i < N_TRACE_CODES; i++) {
        const enum trace_code code = (enum trace_code)i;
        struct buf sentence = {0}, next = {0};

        trace_append_sentence(&sentence, code, &names);
        trace_append_next(&next, code, &names);
        buf_append(&next, STR(""));
        assert_true(sentence.len > 0);
        assert_null(strchr(sentence.ptr, '{'));
        assert_null(strchr(next.ptr, '{'));
        /* Who finds all equal has nothing to do, and everybody else has. */
        assert_int_equal(strcmp(trace_verdict(code), "equal") == 0, next.len == 0);
        for (int k = 0; k < i; k++)
            assert_string_not_equal(trace_word(code), trace_word((enum trace_code)k));
        buf_free(&sentence);
        buf_free(&next);
    }
}

static void a_command_takes_its_names_as_a_shell_does(void **state)
{
    struct buf next = {0}, sentence = {0};

    (void)state;
    trace_append_next(&next, TRACE_MISSING, &names);
    assert_string_equal(next.ptr, "millrace verify shop.orders --key 'it'\\''s 5' --repair");
    trace_append_sentence(&sentence, TRACE_DEAD_LETTER, &names);
    assert_string_equal(sentence.ptr, "document it's 5 is a dead letter: somebody did that");
    buf_free(&next);
    buf_free(&sentence);
}

static void without_a_fix_the_status_is_the_next_step(void **state)
{
    struct trace_names bare = names;
    struct buf next = {0};

    (void)state;
    bare.fix = STR("");
    trace_append_next(&next, TRACE_STOPPED, &bare);
    assert_string_equal(next.ptr, "millrace status says more");
    buf_free(&next);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_fact_alone_is_its_code),
        cmocka_unit_test(of_two_facts_the_first_code_is_told),
        cmocka_unit_test(without_a_fact_nothing_is_judged),
        cmocka_unit_test(a_difference_is_told_only_if_nothing_is_on_its_way),
        cmocka_unit_test(an_equal_document_is_equal_whatever_is_on_its_way),
        cmocka_unit_test(each_code_has_a_word_of_its_own_and_a_whole_sentence),
        cmocka_unit_test(a_command_takes_its_names_as_a_shell_does),
        cmocka_unit_test(without_a_fix_the_status_is_the_next_step),
    };
    return cmocka_run_group_tests_name("trace code", tests, NULL, NULL);
}
