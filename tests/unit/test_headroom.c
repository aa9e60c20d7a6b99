#include "config.h"

#include "tests/unit/unit.h"

#include "src/base/random.h"
#include "sync/delivery/index/headroom.h"

static void nothing_taken_is_no_room(void **state)
{
    struct headroom h = {0};

    (void)state;
    assert_int_equal(headroom_since(&h, headroom_mark(&h)), 0);
    headroom_take(&h, 100);
    assert_int_equal(headroom_since(&h, headroom_mark(&h)), 0);
}

static void the_largest_since_a_mark_is_told(void **state)
{
    struct headroom h = {0};
    uint16_t first, second;

    (void)state;
    first = headroom_mark(&h);
    headroom_take(&h, 500);
    second = headroom_mark(&h);
    headroom_take(&h, 100);
    headroom_take(&h, 200);
    headroom_take(&h, 50);
    assert_int_equal(headroom_since(&h, first), 500);
    assert_int_equal(headroom_since(&h, second), 200);
}

/* Never less than what was taken, and nothing where nothing was. */
static void of_many_it_is_told_not_to_be_smaller_than_it_was(void **state)
{
    enum { N = 100000 };
    static size_t sizes[N];
    struct headroom h = {0};
    struct random random;

    (void)state;
    random_init(&random, 7);
    for (size_t i = 0; i < N; i++) {
        const size_t ago = random_below(&random, (i < 40 ? i : 40) + 1);
        size_t largest = 0;

        for (size_t k = i - ago; k < i; k++)
            largest = sizes[k] > largest ? sizes[k] : largest;

        const size_t told = headroom_since(&h, (uint16_t)(i - ago));

        assert_true(ago == 0 ? told == 0 : told >= largest);
        /* Mostly falling, so that more are to be kept than are. */
        sizes[i] = 1 + (1000 - i % 1000) + random_below(&random, 20);
        headroom_take(&h, sizes[i]);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(nothing_taken_is_no_room),
        cmocka_unit_test(the_largest_since_a_mark_is_told),
        cmocka_unit_test(of_many_it_is_told_not_to_be_smaller_than_it_was),
    };

    return cmocka_run_group_tests_name("headroom", tests, NULL, NULL);
}
