#include "config.h"

#include "tests/unit/unit.h"

#include "src/base/buf.h"
#include "sync/delivery/index/metric.h"

#include <stdio.h>
#include <string.h>

#define NOW_MS 1000000

/* Counters of METRIC_INDEXES_MAX indexes i0, i1, ... and of three more. */
static struct delivery_metric *make_many(void)
{
    struct delivery_metric *m = delivery_metric_new(NULL);

    for (int i = 0; i < METRIC_INDEXES_MAX + 3; i++) {
        char name[16];

        snprintf(name, sizeof(name), "i%d", i);
        index_metric_done(delivery_metric_index(m, STR("shop"), str_from(name)), METRIC_INDEX,
                          RESULT_OK, NOW_MS);
    }
    return m;
}

static void indexes_beyond_a_bound_share_the_series_of_their_topic(void **state)
{
    struct delivery_metric *m = make_many();
    struct buf out = {0};

    (void)state;
    delivery_metric_put(m, &out);
    assert_non_null(strstr(out.ptr, "index=\"i999\",op=\"index\",result=\"ok\"} 1\n"));
    assert_non_null(
        strstr(out.ptr, "{topic=\"shop\",index=\"other\",op=\"index\",result=\"ok\"} 3\n"));
    assert_null(strstr(out.ptr, "index=\"i1000\""));
    buf_free(&out);
    delivery_metric_free(m);
}

static void note(void *ctx, const char *index, const struct index_counts *c)
{
    struct index_counts *found = ctx;

    if (strcmp(index, "i1001") == 0)
        *found = *c;
}

static void each_index_is_told_with_what_was_done_in_the_last_minute(void **state)
{
    struct delivery_metric *m = make_many();
    struct index_metric *x = delivery_metric_index(m, STR("shop"), STR("i1001"));
    struct index_counts c = {0};

    (void)state;
    index_metric_done(x, METRIC_DELETE, RESULT_OK, NOW_MS + 30000);
    index_metric_done(x, METRIC_UPDATE, RESULT_OK, NOW_MS + 30000);
    index_metric_done(x, METRIC_INDEX, RESULT_DROPPED, NOW_MS + 30000);
    index_metric_count(x, METRIC_INDEX, RESULT_DEAD);
    index_metric_count(x, METRIC_INDEX, RESULT_STALE);
    delivery_metric_each(m, NOW_MS + 30000, note, &c);
    assert_int_equal(c.written, 2);
    assert_int_equal(c.deleted, 1);
    assert_int_equal(c.failed, 1);
    assert_int_equal(c.dropped, 1);
    assert_int_equal(c.lately, 4);
    delivery_metric_each(m, NOW_MS + 70000, note, &c);
    assert_int_equal(c.lately, 3);
    delivery_metric_free(m);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(indexes_beyond_a_bound_share_the_series_of_their_topic),
        cmocka_unit_test(each_index_is_told_with_what_was_done_in_the_last_minute),
    };

    return cmocka_run_group_tests_name("index_metric", tests, NULL, NULL);
}
