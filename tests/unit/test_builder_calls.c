#include "config.h"

#include "tests/unit/unit.h"

#include "src/base/mem.h"
#include "src/base/thread.h"
#include "sync/pipeline/builder_calls.h"
#include "sync/source/handoff.h"

#include <stdlib.h>
#include <string.h>

/* A reader that asks one question. */
struct reader {
    struct builder_calls *questions;
    struct source_start start;
    bool answered;
};

static size_t n_answers;

static void answer(void *ctx, struct source_start *start)
{
    start->offset += *(uint64_t *)ctx;
    free(start->gtids);
    start->gtids = mem_copy("0-1-7");
    n_answers++;
}

static uint64_t further = 100;

static void *ask(void *arg)
{
    struct reader *r = arg;

    r->answered = builder_calls_ask(r->questions, answer, &further, &r->start);
    return NULL;
}

/* The command that a question became, as soon as it is there. */
static struct chunk *take(struct handoff *h)
{
    bool closed;
    struct chunk *c = handoff_take(h, 60000, &closed);

    assert_non_null(c);
    assert_null(c->first->event.ptr);
    return c;
}

static void an_answer_comes_back_when_the_builder_gave_it(void **state)
{
    struct handoff *h = handoff_new(1 << 20);
    struct reader r = {.questions = builder_calls_new(h),
                       .start = {.offset = 4, .gtids = mem_copy("")}};
    pthread_t thread = thread_start("reader", ask, &r);
    struct chunk *c = take(h);

    (void)state;
    c->first->run(c->first->ctx);
    pthread_join(thread, NULL);
    assert_true(r.answered);
    assert_int_equal(r.start.offset, 104);
    assert_string_equal(r.start.gtids, "0-1-7");
    chunk_free(c);
    free(r.start.gtids);
    builder_calls_free(r.questions);
    handoff_free(h);
}

static void who_stops_waiting_keeps_his_question_and_the_answer_is_thrown_away(void **state)
{
    struct handoff *h = handoff_new(1 << 20);
    struct reader r = {.questions = builder_calls_new(h),
                       .start = {.offset = 4, .gtids = mem_copy("before")}};
    pthread_t thread = thread_start("reader", ask, &r);
    struct chunk *c = take(h);

    (void)state;
    builder_calls_close(r.questions);
    pthread_join(thread, NULL);
    assert_false(r.answered);
    n_answers = 0;
    c->first->run(c->first->ctx);
    assert_int_equal(n_answers, 1);
    assert_int_equal(r.start.offset, 4);
    assert_string_equal(r.start.gtids, "before");
    chunk_free(c);
    free(r.start.gtids);
    builder_calls_free(r.questions);
    handoff_free(h);
}

static void nothing_is_asked_when_nothing_is_handed_over_any_more(void **state)
{
    struct handoff *h = handoff_new(1 << 20);
    struct builder_calls *qs = builder_calls_new(h);
    struct source_start start = {.offset = 4};

    (void)state;
    handoff_close(h);
    assert_false(builder_calls_ask(qs, answer, &further, &start));
    assert_int_equal(start.offset, 4);
    builder_calls_free(qs);
    handoff_free(h);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_answer_comes_back_when_the_builder_gave_it),
        cmocka_unit_test(who_stops_waiting_keeps_his_question_and_the_answer_is_thrown_away),
        cmocka_unit_test(nothing_is_asked_when_nothing_is_handed_over_any_more),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
