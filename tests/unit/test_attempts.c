/* How often somebody may guess a password. */
#include "config.h"

#include "tests/unit/unit.h"

#include "web/access/attempts.h"

#define HERE STR("192.0.2.1")

static int64_t try_it(struct attempts *a, const char *name, int64_t now_ms)
{
    return attempts_begin(a, str_from(name), HERE, now_ms);
}

static void the_first_guesses_are_free_and_then_each_costs_twice_as_long(void **state)
{
    struct attempts *a = attempts_new();
    int64_t now_ms = 1000, pause_ms = 1000;

    (void)state;
    for (int i = 0; i < ATTEMPTS_FREE; i++)
        assert_int_equal(try_it(a, "anna", now_ms), 0);
    for (int i = 0; i < 10; i++) {
        assert_int_equal(try_it(a, "anna", now_ms), pause_ms);
        assert_int_equal(try_it(a, "anna", now_ms + pause_ms - 1),
                         1); /* asking costs nothing */
        now_ms += pause_ms;
        assert_int_equal(try_it(a, "anna", now_ms), 0);
        pause_ms = 2 * pause_ms < ATTEMPTS_PAUSE_MAX_S * 1000 ? 2 * pause_ms
                                                              : ATTEMPTS_PAUSE_MAX_S * 1000;
    }
    attempts_free(a);
}

/* How many of ten others here, and of this one at ten other places.  Two may meet by their
 * hash, which differs with each run: hardly ever more than one does. */
static int n_waiting(struct attempts *a)
{
    int n = 0;

    for (char c = '0'; c <= '9'; c++) {
        const char name[] = {'b', c, '\0'},
                   address[] = {'1', '9', '2', '.', '0', '.', '2', '.', '1', c, '\0'};

        n += try_it(a, name, 1000) > 0;
        n += attempts_begin(a, STR("anna"), str_from(address), 1000) > 0;
    }
    return n;
}

static void others_and_other_addresses_do_not_wait(void **state)
{
    struct attempts *a = attempts_new();

    (void)state;
    for (int i = 0; i < ATTEMPTS_FREE; i++)
        assert_int_equal(try_it(a, "anna", 1000), 0);
    assert_true(try_it(a, "anna", 1000) > 0);
    assert_true(n_waiting(a) <= 1);
    attempts_free(a);
}

static void whoever_tries_many_names_waits_too(void **state)
{
    struct attempts *a = attempts_new();

    (void)state;
    for (int i = 0; i < ATTEMPTS_FREE_AN_ADDRESS; i++) {
        const char name[3] = {'n', (char)('a' + i), '\0'};

        assert_int_equal(try_it(a, name, 1000), 0);
    }
    assert_true(try_it(a, "another", 1000) > 0);
    attempts_free(a);
}

static void whoever_always_has_the_right_password_never_waits(void **state)
{
    struct attempts *a = attempts_new();

    (void)state;
    for (int i = 0; i < 100; i++) {
        assert_int_equal(try_it(a, "anna", 1000), 0);
        attempts_forgive(a, STR("anna"), HERE);
    }
    attempts_free(a);
}

static void the_right_password_and_a_quarter_of_an_hour_forgive(void **state)
{
    struct attempts *a = attempts_new();

    (void)state;
    for (int i = 0; i < ATTEMPTS_FREE; i++)
        assert_int_equal(try_it(a, "anna", 1000), 0);
    attempts_forgive(a, STR("anna"), HERE);
    for (int i = 0; i < ATTEMPTS_FREE; i++)
        assert_int_equal(try_it(a, "anna", 1000), 0);
    assert_true(try_it(a, "anna", 1000) > 0);
    for (int i = 0; i < ATTEMPTS_FREE; i++)
        assert_int_equal(try_it(a, "anna", 1000 + 900000), 0);
    attempts_free(a);
}

static void where_nobody_logs_in_nobody_waits(void **state)
{
    (void)state;
    attempts_forgive(NULL, STR("anna"), HERE);
    assert_int_equal(attempts_begin(NULL, STR("anna"), HERE, 1000), 0);
    attempts_free(NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_first_guesses_are_free_and_then_each_costs_twice_as_long),
        cmocka_unit_test(others_and_other_addresses_do_not_wait),
        cmocka_unit_test(whoever_tries_many_names_waits_too),
        cmocka_unit_test(whoever_always_has_the_right_password_never_waits),
        cmocka_unit_test(the_right_password_and_a_quarter_of_an_hour_forgive),
        cmocka_unit_test(where_nobody_logs_in_nobody_waits),
    };

    return cmocka_run_group_tests_name("attempts", tests, NULL, NULL);
}
