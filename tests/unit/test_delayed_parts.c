/* Which parts of a delayed run nobody needs any more. */
#include "config.h"

#include "tests/unit/unit.h"

#include "rebalance/delayed/parts.h"
#include "rebalance/state/catalogue.h"

static bool is_needless(const char *state, const char *error, bool is_stopped)
{
    const struct stored_version v = {
        .index = STR("goods"), .number = 3, .state = str_from(state), .error = str_from(error)};
    const struct stored_stop stop = {.table = STR("shop.goods")};
    const struct catalogue c = {
        .versions = &v, .n_versions = 1, .stops = &stop, .n_stops = is_stopped};

    return parts_is_needless(&c, &(struct stored_job){.kind = STR(JOB_PART),
                                                      .index = STR("goods"),
                                                      .table = STR("shop.goods"),
                                                      .version = 3});
}

/* A stop is of the version that searches use: its table will be built again. */
static void a_stop_ends_only_the_parts_of_the_version_that_searches_use(void **state)
{
    (void)state;
    assert_true(is_needless("available", "", true));
    assert_false(is_needless("available", "", false));
    assert_false(is_needless("kept", "", true));
    assert_false(is_needless("returning", "", true));
    assert_false(is_needless("changing", "", true));
    assert_false(is_needless("waiting", "", true));
}

static void parts_of_a_version_whose_build_has_failed_are_needless(void **state)
{
    (void)state;
    assert_true(is_needless("changing", "a bucket cannot be read", false));
    assert_true(is_needless("waiting", "a bucket cannot be read", false));
    assert_false(is_needless("kept", "of long ago", false));
}

static void parts_are_needless_when_nothing_is_written_to_their_version(void **state)
{
    (void)state;
    assert_true(is_needless("history", "", false));
    assert_true(is_needless("error", "", false));
}

/* Another node has made it: the catalogue here is read again soon. */
static void a_version_that_nobody_knows_here_is_needed(void **state)
{
    const struct stored_stop stop = {.table = STR("shop.goods")};
    const struct catalogue c = {.stops = &stop, .n_stops = 1};

    (void)state;
    assert_false(parts_is_needless(&c, &(struct stored_job){.kind = STR(JOB_PART),
                                                            .index = STR("goods"),
                                                            .table = STR("shop.goods"),
                                                            .version = 4}));
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_stop_ends_only_the_parts_of_the_version_that_searches_use),
        cmocka_unit_test(parts_of_a_version_whose_build_has_failed_are_needless),
        cmocka_unit_test(parts_are_needless_when_nothing_is_written_to_their_version),
        cmocka_unit_test(a_version_that_nobody_knows_here_is_needed),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
