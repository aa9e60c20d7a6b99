#include "config.h"

#include "tests/component/zookeeper_rig.h"

#include "src/base/mem.h"

#include <stdlib.h>

#define WAITERS  20 /* at one lock; ZOOKEEPER_TEST_WAITERS says another number */
#define RELEASES 100
#define LONG_MS  40000 /* a session's time-out, as it takes long until all wait */

static const struct seat_options plainly = {0};

static void unlock(struct seat *s, const char *name)
{
    struct err err = {0};

    if (!coordination_unlock(s->c, str_from(name), &err))
        fail_msg("%s", err.msg);
}

static void one_who_asks_alone_is_granted(void **state)
{
    struct seat a;

    (void)state;
    take_seat(&a, &plainly);
    lock(&a, "plan");
    wait_for_event(&a, COORDINATION_GRANTED, "plan");
    assert_true(holds(&a, "plan"));
    lock(&a, "plan");
    assert_int_equal(plain_count("/locks/plan"), 1);
    unlock(&a, "plan");
    assert_false(holds(&a, "plan"));
    unlock(&a, "plan");
    assert_int_equal(plain_count("/locks/plan"), 0);
    leave_seat(&a);
}

static void two_locks_do_not_wait_for_one_another(void **state)
{
    struct seat a, b;

    (void)state;
    take_seat(&a, &plainly);
    take_seat(&b, &plainly);
    lock(&a, "x");
    lock(&b, "y");
    wait_for_event(&a, COORDINATION_GRANTED, "x");
    wait_for_event(&b, COORDINATION_GRANTED, "y");
    leave_seat(&a);
    leave_seat(&b);
}

/* Whoever runs this says how many; each has two threads. */
static unsigned count_waiters(void)
{
    const char *n = getenv("ZOOKEEPER_TEST_WAITERS");

    return n != NULL ? (unsigned)strtoul(n, NULL, 10) : WAITERS;
}

static void note_wakes(struct seat *s, unsigned n, unsigned *wakes)
{
    for (unsigned i = 0; i < n; i++)
        wakes[i] = wakes_of(&s[i]);
}

/* Of all who still wait. */
static void expect_one_wake(struct seat *s, unsigned n, const unsigned *before, unsigned next)
{
    for (unsigned i = next; i < n; i++)
        assert_int_equal(wakes_of(&s[i]), before[i] + (i == next ? 1 : 0));
}

static void f53_many_are_granted_in_order_with_one_wake_a_release(void **state)
{
    const unsigned n = count_waiters(), releases = n - 1 < RELEASES ? n - 1 : RELEASES;
    struct seat *s = mem_alloc(n, sizeof(*s));
    unsigned *before = mem_alloc(n, sizeof(*before));

    (void)state;
    for (unsigned i = 0; i < n; i++) {
        take_seat(&s[i], &(struct seat_options){.timeout_ms = LONG_MS});
        lock(&s[i], "plan");
        settle_seat(&s[i]);
        assert_int_equal(holds(&s[i], "plan"), i == 0);
    }
    for (unsigned i = 0; i < releases; i++) {
        note_wakes(s, n, before);
        unlock(&s[i], "plan");
        wait_for_event(&s[i + 1], COORDINATION_GRANTED, "plan");
        expect_one_wake(s, n, before, i + 1);
        assert_true(holds(&s[i + 1], "plan"));
    }
    assert_int_equal(plain_count("/locks/plan"), n - releases);
    for (unsigned i = 0; i < n; i++)
        leave_seat(&s[i]);
    free(before);
    free(s);
}

static void who_dies_in_the_middle_of_the_queue_grants_nobody(void **state)
{
    struct seat a, b, c;

    (void)state;
    take_seat(&a, &plainly);
    take_seat(&b, &plainly);
    take_seat(&c, &plainly);
    lock(&a, "plan");
    lock(&b, "plan");
    lock(&c, "plan");
    leave_seat(&b);
    settle_seat(&c);
    assert_false(holds(&c, "plan"));
    assert_int_equal(c.n_events[COORDINATION_GRANTED], 0);
    unlock(&a, "plan");
    wait_for_event(&c, COORDINATION_GRANTED, "plan");
    assert_true(holds(&c, "plan"));
    leave_seat(&a);
    leave_seat(&c);
}

static void who_dies_with_the_lock_leaves_it_to_the_next(void **state)
{
    struct seat a, b;

    (void)state;
    take_seat(&a, &plainly);
    take_seat(&b, &plainly);
    lock(&a, "plan");
    lock(&b, "plan");
    leave_seat(&a);
    wait_for_event(&b, COORDINATION_GRANTED, "plan");
    leave_seat(&b);
}

/* The folder of the lock is there, so that the answer which is lost is that of the place. */
static void a_place_whose_answer_was_lost_is_found_again(void **state)
{
    struct proxy *p = proxy_start(server_port());
    struct seat a;

    (void)state;
    take_seat(&a, &(struct seat_options){.port = proxy_port(p)});
    plain_create("/locks/plan", "", NULL, ZOO_PERSISTENT);
    proxy_lose_answer(p);
    lock(&a, "plan");
    assert_false(holds(&a, "plan"));
    proxy_set(p, PROXY_PASS);
    wait_for_event(&a, COORDINATION_GRANTED, "plan");
    assert_int_equal(plain_count("/locks/plan"), 1);
    leave_seat(&a);
    proxy_stop(p);
}

static void a_place_that_is_given_up_while_its_answer_is_lost_does_not_stay(void **state)
{
    struct proxy *p = proxy_start(server_port());
    struct seat a, b;
    struct err err = {0};

    (void)state;
    take_seat(&a, &(struct seat_options){.port = proxy_port(p)});
    take_seat(&b, &plainly);
    plain_create("/locks/plan", "", NULL, ZOO_PERSISTENT);
    proxy_lose_answer(p);
    lock(&a, "plan");
    assert_false(coordination_unlock(a.c, STR("plan"), &err));
    assert_int_equal(err.kind, ERR_RETRY);
    lock(&b, "plan");
    proxy_set(p, PROXY_PASS);
    wait_for_status(&a, COORDINATION_CONNECTED);
    take_all_events(&a);
    wait_for_event(&b, COORDINATION_GRANTED, "plan");
    assert_int_equal(a.n_events[COORDINATION_GRANTED], 0);
    leave_seat(&a);
    leave_seat(&b);
    proxy_stop(p);
}

static void a_release_whose_answer_was_lost_is_done_later(void **state)
{
    struct proxy *p = proxy_start(server_port());
    struct seat a;
    struct err err = {0};

    (void)state;
    take_seat(&a, &(struct seat_options){.port = proxy_port(p)});
    lock(&a, "plan");
    wait_for_event(&a, COORDINATION_GRANTED, "plan");
    proxy_lose_answer(p);
    assert_false(coordination_unlock(a.c, STR("plan"), &err));
    assert_false(holds(&a, "plan"));
    proxy_set(p, PROXY_PASS);
    wait_for_status(&a, COORDINATION_CONNECTED);
    lock(&a, "plan");
    wait_for_event(&a, COORDINATION_GRANTED, "plan");
    assert_int_equal(plain_count("/locks/plan"), 1);
    assert_int_equal(a.n_events[COORDINATION_TAKEN], 0);
    leave_seat(&a);
    proxy_stop(p);
}

static void a_lock_that_is_given_back_is_neither_granted_nor_taken_later(void **state)
{
    struct proxy *p = proxy_start(server_port());
    struct seat a;
    struct err err = {0};

    (void)state;
    take_seat(&a, &(struct seat_options){.port = proxy_port(p)});
    lock(&a, "x");
    lock(&a, "y");
    unlock(&a, "x");
    proxy_lose_answer(p);
    assert_false(coordination_unlock(a.c, STR("y"), &err));
    proxy_set(p, PROXY_PASS);
    wait_for_status(&a, COORDINATION_CONNECTED);
    settle_seat(&a);
    assert_int_equal(a.n_events[COORDINATION_GRANTED], 0);
    lock(&a, "x");
    wait_for_event(&a, COORDINATION_GRANTED, "x");
    assert_int_equal(a.n_events[COORDINATION_TAKEN], 0);
    leave_seat(&a);
    proxy_stop(p);
}

static void change_all_places(const char *lock_name, void (*change)(const char *path))
{
    struct String_vector places = {0};

    assert_int_equal(zoo_get_children(plain(), below_root(lock_name), 0, &places), ZOK);
    for (int32_t i = 0; i < places.count; i++) {
        char path[256];

        snprintf(path, sizeof(path), "%s/%s", lock_name, places.data[i]);
        change(path);
    }
    deallocate_String_vector(&places);
}

static void write_place(const char *path)
{
    plain_set(path, "foreign");
}

static void a_lock_whose_place_somebody_writes_is_granted_once(void **state)
{
    struct seat a;

    (void)state;
    take_seat(&a, &plainly);
    lock(&a, "plan");
    wait_for_event(&a, COORDINATION_GRANTED, "plan");
    change_all_places("/locks/plan", write_place);
    settle_seat(&a);
    take_all_events(&a);
    assert_true(holds(&a, "plan"));
    assert_int_equal(a.n_events[COORDINATION_GRANTED], 1);
    leave_seat(&a);
}

static void a_lock_whose_place_somebody_deletes_is_taken(void **state)
{
    struct seat a;

    (void)state;
    take_seat(&a, &plainly);
    lock(&a, "plan");
    wait_for_event(&a, COORDINATION_GRANTED, "plan");
    change_all_places("/locks/plan", plain_delete);
    wait_for_event(&a, COORDINATION_TAKEN, "plan");
    assert_false(holds(&a, "plan"));
    lock(&a, "plan");
    wait_for_event(&a, COORDINATION_GRANTED, "plan");
    leave_seat(&a);
}

static void foreign_names_in_a_queue_hold_nobody_up(void **state)
{
    struct seat a;

    (void)state;
    take_seat(&a, &plainly);
    plain_create("/locks/plan", "", NULL, ZOO_PERSISTENT);
    plain_create("/locks/plan/x", "", NULL, ZOO_PERSISTENT);
    plain_create("/locks/plan/not-99999999999999", "", NULL, ZOO_PERSISTENT);
    plain_create("/locks/plan/a-000000000z", "", NULL, ZOO_PERSISTENT);
    lock(&a, "plan");
    wait_for_event(&a, COORDINATION_GRANTED, "plan");
    leave_seat(&a);
}

static void a_lock_is_not_held_while_suspended(void **state)
{
    struct proxy *p = proxy_start(server_port());
    struct seat a;

    (void)state;
    take_seat(&a, &(struct seat_options){.port = proxy_port(p)});
    lock(&a, "plan");
    wait_for_event(&a, COORDINATION_GRANTED, "plan");
    proxy_set(p, PROXY_CUT);
    wait_for_status(&a, COORDINATION_SUSPENDED);
    assert_false(holds(&a, "plan"));
    proxy_set(p, PROXY_PASS);
    wait_for_status(&a, COORDINATION_CONNECTED);
    assert_true(holds(&a, "plan"));
    leave_seat(&a);
    proxy_stop(p);
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test_setup(one_who_asks_alone_is_granted, new_root),
    cmocka_unit_test_setup(two_locks_do_not_wait_for_one_another, new_root),
    cmocka_unit_test_setup(f53_many_are_granted_in_order_with_one_wake_a_release, new_root),
    cmocka_unit_test_setup(who_dies_in_the_middle_of_the_queue_grants_nobody, new_root),
    cmocka_unit_test_setup(who_dies_with_the_lock_leaves_it_to_the_next, new_root),
    cmocka_unit_test_setup(a_place_whose_answer_was_lost_is_found_again, new_root),
    cmocka_unit_test_setup(a_place_that_is_given_up_while_its_answer_is_lost_does_not_stay,
                           new_root),
    cmocka_unit_test_setup(a_release_whose_answer_was_lost_is_done_later, new_root),
    cmocka_unit_test_setup(a_lock_that_is_given_back_is_neither_granted_nor_taken_later,
                           new_root),
    cmocka_unit_test_setup(a_lock_whose_place_somebody_writes_is_granted_once, new_root),
    cmocka_unit_test_setup(a_lock_whose_place_somebody_deletes_is_taken, new_root),
    cmocka_unit_test_setup(foreign_names_in_a_queue_hold_nobody_up, new_root),
    cmocka_unit_test_setup(a_lock_is_not_held_while_suspended, new_root),
};

const struct test_part locks_part = {tests, ARRAY_LEN(tests)};
