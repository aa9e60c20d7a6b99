#include "config.h"

#include "tests/unit/unit.h"

#include "rebalance/watch/errand.h"

#include "rebalance/watch/asking.h"
#include "src/base/buf.h"
#include "src/base/clock.h"

#include <pthread.h>
#include <string.h>

#define WAIT_MS 1000

/* What hangs until somebody lets it go. */
struct gate {
    struct stop open;
    int n_begun; /* atomic */
};

struct told {
    struct gate *gate;
};

static bool wait_at_gate(struct errand *e, struct err *err)
{
    struct told *t = e->ctx;

    (void)err;
    __atomic_add_fetch(&t->gate->n_begun, 1, __ATOMIC_RELAXED);
    while (!stop_wait(&t->gate->open, 1000))
        ;
    return true;
}

/* One answer after the other, which take longer together than one may. */
static bool answer_slowly(struct errand *e, struct err *err)
{
    struct told *t = e->ctx;

    (void)err;
    for (int i = 0; i < 3; i++) {
        (void)stop_wait(&t->gate->open, WAIT_MS * 2 / 5);
        errand_live(e);
    }
    buf_append(&e->text, STR("all of it"));
    return true;
}

static bool refuse(struct errand *e, struct err *err)
{
    (void)e;
    return err_set_code(err, ERR_REJECT, "http", 404, "there is no such table");
}

static struct errand *errand_to(const char *who, struct gate *gate)
{
    struct errand *e = errand_new(who, sizeof(struct told));

    ((struct told *)e->ctx)->gate = gate;
    return e;
}

static int set_up(void **state)
{
    static struct gate gate;

    gate = (struct gate){0};
    stop_init(&gate.open);
    *state = &gate;
    return 0;
}

static int tear_down(void **state)
{
    stop_fini(&((struct gate *)*state)->open);
    return 0;
}

static void who_hangs_is_waited_for_a_while_by_one_and_by_nobody_after_him(void **state)
{
    struct gate *gate = *state;
    struct errands *all = errands_new(WAIT_MS);
    struct errand *list[] = {errand_to("the store", gate), errand_to("topic a", gate),
                             errand_to("topic b", gate), errand_to("the engine", gate)};
    const int64_t began_ms = clock_mono_ms();
    struct err err = {0};

    for (size_t i = 0; i < ARRAY_LEN(list); i++)
        errand_send(all, list[i], wait_at_gate);
    errand_wait(list, ARRAY_LEN(list)); /* all at the same time */
    assert_in_range(clock_mono_ms() - began_ms, WAIT_MS, 4 * WAIT_MS - 100);
    for (size_t i = 0; i < ARRAY_LEN(list); i++) {
        assert_false(errand_is_done(list[i], &err));
        assert_int_equal(err.kind, ERR_RETRY);
        errand_leave(list[i]);
    }
    assert_string_equal(err.msg, "the engine did not answer within 1 s");

    const int64_t again_ms = clock_mono_ms();
    struct errand *again = errand_to("the store", gate);

    assert_false(errand_run(all, again, wait_at_gate, &err));
    assert_string_equal(err.msg, "the store has not answered for 1 s");
    assert_true(clock_mono_ms() - again_ms < WAIT_MS);
    assert_int_equal(__atomic_load_n(&gate->n_begun, __ATOMIC_RELAXED), 4);
    errand_leave(again);
    stop_set(&gate->open);
    errands_free(all);
}

static void who_is_back_is_asked_again(void **state)
{
    struct gate *gate = *state;
    struct errands *all = errands_new(WAIT_MS);
    struct errand *e = errand_to("the store", gate);
    struct err err = {0};
    bool ok = false;

    errand_send(all, e, wait_at_gate);
    errand_leave(e); /* as by somebody who went away */
    stop_set(&gate->open);
    for (const int64_t until_ms = clock_mono_ms() + 20000; !ok;) {
        assert_true(clock_mono_ms() < until_ms);
        e = errand_to("the store", gate);
        ok = errand_run(all, e, wait_at_gate, &err);
        errand_leave(e);
    }
    errands_free(all);
}

static void who_goes_on_answering_is_waited_for(void **state)
{
    struct errands *all = errands_new(WAIT_MS);
    struct errand *e = errand_to("the store", *state);
    struct err err = {0};

    assert_true(errand_run(all, e, answer_slowly, &err));
    assert_string_equal(e->text.ptr, "all of it");
    errand_leave(e);
    errands_free(all);
}

static void what_is_refused_is_told_as_it_was(void **state)
{
    struct errands *all = errands_new(WAIT_MS);
    struct errand *e = errand_to("the store", *state);
    struct err err = {0};

    assert_false(errand_run(all, e, refuse, &err));
    assert_int_equal(err.code, 404);
    errand_leave(e);
    errands_end(all);
    e = errand_to("the store", *state);
    assert_false(errand_run(all, e, refuse, &err));
    assert_int_equal(err.kind, ERR_STOP);
    errand_leave(e);
    errands_free(all);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(
            who_hangs_is_waited_for_a_while_by_one_and_by_nobody_after_him, set_up, tear_down),
        cmocka_unit_test_setup_teardown(who_is_back_is_asked_again, set_up, tear_down),
        cmocka_unit_test_setup_teardown(who_goes_on_answering_is_waited_for, set_up, tear_down),
        cmocka_unit_test_setup_teardown(what_is_refused_is_told_as_it_was, set_up, tear_down),
    };

    return cmocka_run_group_tests_name("errand", tests, NULL, NULL);
}
