#include "config.h"

#include "tests/unit/unit.h"

#include "src/base/thread.h"
#include "sync/source/handoff.h"

#include <stdlib.h>
#include <string.h>

#define EVENTS 20000

static void *put_all(void *arg)
{
    for (uint32_t i = 0; i < EVENTS; i++)
        assert_true(handoff_put_event(arg, (struct str){(const char *)&i, sizeof(i)}));
    handoff_close(arg);
    return NULL;
}

static void events_come_out_in_order_and_once(void **state)
{
    struct handoff *h = handoff_new(64);
    pthread_t reader = thread_start("reader", put_all, h);
    uint32_t next = 0;
    bool closed = false;

    (void)state;
    for (;;) {
        struct chunk *c = handoff_take(h, 1000, &closed);

        for (struct handoff_item *i = c == NULL ? NULL : c->first; i != NULL; i = i->next) {
            uint32_t n;

            memcpy(&n, i->event.ptr, sizeof(n));
            assert_int_equal(n, next++);
        }
        if (c == NULL && closed)
            break;
        if (c != NULL)
            assert_in_range(c->bytes, 0, 64);
        chunk_free(c);
    }
    assert_int_equal(next, EVENTS);
    pthread_join(reader, NULL);
    handoff_free(h);
}

static void mark(void *ctx)
{
    *(bool *)ctx = true;
}

static void a_command_keeps_its_place_and_never_waits(void **state)
{
    struct handoff *h = handoff_new(4);
    bool ran = false, closed;

    (void)state;
    assert_true(handoff_put_event(h, STR("full")));
    assert_true(handoff_put_command(h, mark, &ran));

    struct chunk *c = handoff_take(h, 0, &closed);

    assert_true(str_equal(c->first->event, STR("full")));
    assert_null(c->first->next->event.ptr);
    c->first->next->run(c->first->next->ctx);
    assert_true(ran);
    chunk_free(c);
    handoff_close(h);
    assert_false(handoff_put_command(h, mark, &ran));
    assert_false(handoff_put_event(h, STR("late")));
    handoff_free(h);
}

static void an_event_dearer_than_the_bound_gets_through_alone(void **state)
{
    struct handoff *h = handoff_new(4);
    bool closed;

    (void)state;
    assert_true(handoff_put_event(h, STR("larger than the bound")));

    struct chunk *c = handoff_take(h, 0, &closed);

    assert_true(str_equal(c->first->event, STR("larger than the bound")));
    assert_null(c->first->next);
    chunk_free(c);
    handoff_free(h);
}

static void *put_a_block_alone(void *arg)
{
    char *block = strdup("xlarge");

    assert_true(handoff_put_block(arg, (struct str){block + 1, 5}, block));
    return NULL;
}

static void *put_a_block(void *arg)
{
    (void)put_a_block_alone(arg);
    assert_true(handoff_put_event(arg, STR("next")));
    return NULL;
}

static void a_large_event_is_let_go_of_before_the_next_one_is_read(void **state)
{
    struct handoff *h = handoff_new(1000);
    pthread_t reader = thread_start("reader", put_a_block, h);
    bool closed;
    struct chunk *c = NULL;

    (void)state;
    while (c == NULL)
        c = handoff_take(h, 1000, &closed);
    assert_true(str_equal(c->first->event, STR("large")));
    assert_null(c->first->next);
    assert_null(handoff_take(h, 20, &closed));
    handoff_let_go(h, c->first);
    handoff_let_go(h, c->first);
    chunk_free(c);
    for (c = NULL; c == NULL;)
        c = handoff_take(h, 1000, &closed);
    assert_true(str_equal(c->first->event, STR("next")));
    chunk_free(c);
    pthread_join(reader, NULL);
    handoff_free(h);
}

static void who_hands_a_large_event_over_ends_when_the_handoff_does(void **state)
{
    struct handoff *h = handoff_new(1000);
    pthread_t reader = thread_start("reader", put_a_block_alone, h);
    bool closed = false;
    struct chunk *c = NULL;

    (void)state;
    while (c == NULL)
        c = handoff_take(h, 1000, &closed);
    handoff_close(h);
    pthread_join(reader, NULL);
    assert_true(str_equal(c->first->event, STR("large")));
    chunk_free(c);
    assert_false(handoff_put_block(h, STR(""), strdup("late")));
    handoff_free(h);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(events_come_out_in_order_and_once),
        cmocka_unit_test(a_command_keeps_its_place_and_never_waits),
        cmocka_unit_test(an_event_dearer_than_the_bound_gets_through_alone),
        cmocka_unit_test(a_large_event_is_let_go_of_before_the_next_one_is_read),
        cmocka_unit_test(who_hands_a_large_event_over_ends_when_the_handoff_does),
    };
    return cmocka_run_group_tests_name("handoff", tests, NULL, NULL);
}
