/* Values of the last day, in steps. */
#include "config.h"

#include "tests/unit/unit.h"

#include "src/base/mem.h"
#include "src/base/random.h"
#include "src/metric/timeline.h"

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>

#define STEPS 12000 /* more than are kept: 33 hours */

static const double nothing[TIMELINE_COLUMNS] = {NAN, NAN, NAN, NAN, NAN};

static struct timeline *make(void)
{
    struct timeline *t = mem_alloc(1, sizeof(*t));

    t->rules[1] = TIMELINE_MOST;
    return t;
}

static bool is_about(double a, double b)
{
    return (isnan(a) && isnan(b)) || fabs(a - b) <= 1e-4 * (1 + fabs(b));
}

static void what_was_not_put_is_unknown(void **state)
{
    struct timeline *t = make();
    double v[TIMELINE_COLUMNS] = {4, 4, NAN, 0, -1};

    (void)state;
    assert_true(isnan(timeline_fine(t, 0, 0)) && isnan(timeline_coarse(t, 0, 0)));
    timeline_put(t, 7, v);
    timeline_put(t, 8, nothing);
    assert_true(timeline_fine(t, 7, 0) == 4 && timeline_fine(t, 7, 3) == 0);
    assert_true(isnan(timeline_fine(t, 7, 2)) && isnan(timeline_coarse(t, 0, 2)));
    assert_true(isnan(timeline_fine(t, 6, 0)) && isnan(timeline_fine(t, 8, 0)));
    assert_true(isnan(timeline_fine(t, -1, 0)) && isnan(timeline_coarse(t, -1, 0)));
    assert_true(timeline_coarse(t, 0, 4) == -1); /* the step without values counts nothing */
    free(t);
}

static void a_step_before_those_that_are_kept_changes_nothing(void **state)
{
    struct timeline *t = make();
    double one[TIMELINE_COLUMNS] = {1}, two[TIMELINE_COLUMNS] = {2};

    (void)state;
    timeline_put(t, 5 + TIMELINE_FINE, one);
    timeline_put(t, 5, two);
    assert_true(timeline_fine(t, 5 + TIMELINE_FINE, 0) == 1);
    assert_true(isnan(timeline_fine(t, 5, 0)));
    free(t);
}

/* ---- against a naive one ---- */

static double (*samples)[TIMELINE_COLUMNS]; /* of each step */

static double mean_or_most(const struct timeline *t, int64_t from, int64_t n, size_t column)
{
    double sum = 0, most = (double)NAN;
    int known = 0;

    for (int64_t i = from; i < from + n; i++) {
        const double v = samples[i][column];

        if (isnan(v))
            continue;
        sum += v;
        most = known++ == 0 || v > most ? v : most;
    }
    if (known == 0)
        return (double)NAN;
    return t->rules[column] == TIMELINE_MOST ? most : sum / known;
}

static void assert_all_equal(const struct timeline *t, int64_t last)
{
    for (size_t c = 0; c < TIMELINE_COLUMNS; c++) {
        for (int64_t i = last - TIMELINE_FINE + 1; i <= last; i++)
            if (!is_about(timeline_fine(t, i, c), i < 0 ? (double)NAN : samples[i][c]))
                fail_msg("step %d of %d", (int)i, (int)last);
        for (int64_t i = 0; i <= last / TIMELINE_WIDE; i++) {
            const bool is_kept = i > last / TIMELINE_WIDE - TIMELINE_COARSE;
            const double expected =
                is_kept ? mean_or_most(t, i * TIMELINE_WIDE, TIMELINE_WIDE, c) : (double)NAN;

            if (is_kept && !is_about(timeline_coarse(t, i, c), expected))
                fail_msg("wide step %d of %d", (int)i, (int)(last / TIMELINE_WIDE));
        }
    }
}

/* With gaps in time, and values that are not known. */
static void each_step_has_what_a_list_of_all_samples_says(void **state)
{
    struct timeline *t = make();
    struct random r;
    int64_t step = -1;

    (void)state;
    random_init(&r, 24);
    samples = mem_alloc(2 * STEPS, sizeof(*samples));
    for (size_t i = 0; i < 2 * STEPS; i++)
        for (size_t c = 0; c < TIMELINE_COLUMNS; c++)
            samples[i][c] = (double)NAN;
    while (step < STEPS) {
        step += random_below(&r, 50) == 0 ? 1 + (int64_t)random_below(&r, 500) : 1;
        for (size_t c = 0; c < TIMELINE_COLUMNS; c++)
            if (random_below(&r, 4) > 0)
                samples[step][c] = (double)random_below(&r, 100000) / 100;
        timeline_put(t, step, samples[step]);
        if (random_below(&r, 400) == 0)
            assert_all_equal(t, step);
    }
    assert_all_equal(t, step);
    free(samples);
    free(t);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_was_not_put_is_unknown),
        cmocka_unit_test(a_step_before_those_that_are_kept_changes_nothing),
        cmocka_unit_test(each_step_has_what_a_list_of_all_samples_says),
    };

    return cmocka_run_group_tests_name("timeline", tests, NULL, NULL);
}
