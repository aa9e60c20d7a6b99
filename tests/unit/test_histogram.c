#include "config.h"

#include "tests/unit/unit.h"

#include "src/base/histogram.h"
#include "src/base/random.h"
#include "src/base/thread.h"

static void an_empty_histogram_has_only_zeros(void **state)
{
    struct histogram h = {0};

    (void)state;
    assert_int_equal(histogram_count(&h), 0);
    assert_int_equal(histogram_quantile(&h, 0.5), 0);
    assert_int_equal(histogram_min(&h), 0);
    assert_int_equal(histogram_max(&h), 0);
    assert_true(histogram_mean(&h) == 0);
    assert_int_equal(histogram_count_to(&h, UINT64_C(1) << 63), 0);
}

static void extremes_and_mean_are_exact(void **state)
{
    struct histogram h = {0};

    (void)state;
    histogram_add(&h, 7);
    histogram_add(&h, 1000003);
    histogram_add(&h, 500);
    assert_int_equal(histogram_count(&h), 3);
    assert_int_equal(histogram_min(&h), 7);
    assert_int_equal(histogram_max(&h), 1000003);
    assert_true(histogram_mean(&h) == (7 + 1000003 + 500) / 3.0);
    assert_int_equal(histogram_quantile(&h, 0), 7);
    assert_int_equal(histogram_quantile(&h, 1), 1000003);
    histogram_add(&h, 0);
    histogram_add(&h, UINT64_MAX);
    assert_int_equal(histogram_min(&h), 0);
    assert_int_equal(histogram_max(&h), UINT64_MAX);
}

static void quantiles_are_right_within_a_quarter(void **state)
{
    struct histogram h = {0};
    static const double fractions[] = {0.5, 0.9, 0.95, 0.99, 0.999};

    (void)state;
    for (uint64_t v = 1; v <= 100000; v++)
        histogram_add(&h, v);
    for (size_t i = 0; i < ARRAY_LEN(fractions); i++) {
        double exact = fractions[i] * 100000;
        double got = (double)histogram_quantile(&h, fractions[i]);

        assert_true(got >= exact && got <= exact * 1.25);
    }
}

static void counts_to_a_power_of_two_are_exact(void **state)
{
    struct histogram h = {0};
    uint64_t n_below[64] = {0};
    struct random r;

    (void)state;
    random_init(&r, 17);
    for (int i = 0; i < 20000; i++) {
        uint64_t v = random_next(&r) >> random_below(&r, 64);

        /* Also the bounds themselves. */
        if (i % 4 == 0)
            v = UINT64_C(1) << random_below(&r, 64);
        histogram_add(&h, v);
        for (unsigned k = 0; k < 64; k++)
            n_below[k] += v <= UINT64_C(1) << k;
    }
    for (unsigned k = 0; k < 64; k++)
        assert_int_equal(histogram_count_to(&h, UINT64_C(1) << k), n_below[k]);
}

static void merged_histograms_are_one(void **state)
{
    struct histogram a = {0}, b = {0}, both = {0};

    (void)state;
    for (uint64_t v = 5; v < 5000; v += 7) {
        histogram_add(v % 2 == 0 ? &a : &b, v);
        histogram_add(&both, v);
    }
    histogram_merge(&a, &b);
    assert_memory_equal(&a, &both, sizeof(a));
    histogram_merge(&a, &(struct histogram){0});
    assert_memory_equal(&a, &both, sizeof(a));
}

static void *add_many(void *arg)
{
    for (uint64_t v = 0; v < 20000; v++)
        histogram_add(arg, v);
    return NULL;
}

static void nothing_is_lost_when_threads_add(void **state)
{
    static struct histogram h;
    struct histogram snapshot;
    pthread_t threads[4];

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(threads); i++)
        threads[i] = thread_start("adder", add_many, &h);
    histogram_snapshot(&h, &snapshot);
    assert_true(histogram_count(&snapshot) <= 80000);
    for (size_t i = 0; i < ARRAY_LEN(threads); i++)
        pthread_join(threads[i], NULL);
    histogram_snapshot(&h, &snapshot);
    assert_int_equal(histogram_count(&snapshot), 80000);
    assert_true(snapshot.sum == UINT64_C(4) * 19999 * 20000 / 2);
    assert_int_equal(histogram_max(&snapshot), 19999);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_empty_histogram_has_only_zeros),
        cmocka_unit_test(extremes_and_mean_are_exact),
        cmocka_unit_test(quantiles_are_right_within_a_quarter),
        cmocka_unit_test(counts_to_a_power_of_two_are_exact),
        cmocka_unit_test(merged_histograms_are_one),
        cmocka_unit_test(nothing_is_lost_when_threads_add),
    };
    return cmocka_run_group_tests_name("histogram", tests, NULL, NULL);
}
