#include "config.h"

#include "tests/unit/unit.h"
#include "tests/unit/writes.h"

#include "sync/checkpoint/ticket.h"
#include "sync/related/resolve_task.h"

static unsigned n_done;

static void on_done(void *ctx, enum outcome worst)
{
    (void)ctx;
    (void)worst;
    n_done++;
}

static void add(struct resolve_task *t, struct str key)
{
    resolve_task_add(t, key, ticket_new_cb(on_done, NULL));
}

static void end(struct resolve_task *t)
{
    for (size_t i = 0; i < t->n; i++)
        ticket_done(t->tickets[i], OUTCOME_DELIVERED);
    resolve_task_free(t);
}

static void a_row_that_changed_often_is_asked_for_once(void **state)
{
    struct target *target = a_target("orders_v1");
    struct resolve_task *t = resolve_task_new(target, 2, 0, false);
    struct resolve_keys k;

    (void)state;
    add(t, STR("a"));
    add(t, STR("b"));
    add(t, STR("a"));
    add(t, STR("a"));
    k = resolve_task_keys(t);
    assert_int_equal(k.n, 2);
    assert_true(str_equal(k.keys[0], STR("a")) && str_equal(k.keys[1], STR("b")));
    assert_int_equal(k.first[0], 0);
    assert_int_equal(k.next[0], 2);
    assert_int_equal(k.next[2], 3);
    assert_int_equal(k.next[3], 3);
    assert_int_equal(k.next[k.first[1]], 1);
    n_done = 0;
    end(t);
    assert_int_equal(n_done, 4);
}

static void tasks_of_one_place_become_one_that_includes_both(void **state)
{
    struct target *target = a_target("orders_v1");
    struct resolve_task *t = resolve_task_new(target_ref(target), 2, 0, false);
    struct resolve_task *more = resolve_task_new(target_ref(target), 2, 0, false);
    struct resolve_task *others[] = {resolve_task_new(target_ref(target), 3, 0, false),
                                     resolve_task_new(target_ref(target), 2, 1, false),
                                     resolve_task_new(target_ref(target), 2, 0, true),
                                     resolve_task_new(a_target("orders_v2"), 2, 0, false)};

    (void)state;
    t->at_least = 7;
    more->at_least = 9;
    add(t, STR("a"));
    add(more, STR("b"));
    assert_true(resolve_task_take(t, more));
    assert_int_equal(t->n, 2);
    assert_int_equal(t->at_least, 9);
    assert_int_equal(t->n_tasks, 2);
    for (size_t i = 0; i < ARRAY_LEN(others); i++) {
        assert_false(resolve_task_take(t, others[i]));
        end(others[i]);
    }
    end(t);
    target_unref(target);
}

static void a_task_has_a_bound(void **state)
{
    struct target *target = a_target("orders_v1");
    struct resolve_task *t = resolve_task_new(target_ref(target), 2, 0, false);
    struct resolve_task *more = resolve_task_new(target_ref(target), 2, 0, false);

    (void)state;
    for (size_t i = 0; i < RESOLVE_MAX; i++)
        add(t, STR("a"));
    add(more, STR("a"));
    assert_false(resolve_task_take(t, more));
    end(more);
    end(t);
    target_unref(target);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_row_that_changed_often_is_asked_for_once),
        cmocka_unit_test(tasks_of_one_place_become_one_that_includes_both),
        cmocka_unit_test(a_task_has_a_bound),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
