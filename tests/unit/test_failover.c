#include "config.h"

#include "tests/unit/unit.h"

#include "sync/server/server_info.h"
#include "sync/source/failover.h"
#include "sync/source/transport/transport.h"

#include <stdio.h>
#include <string.h>

#define A "3e11fa47-71ca-11e1-9e33-c80aa9429562"
#define B "4e11fa47-71ca-11e1-9e33-c80aa9429562"

/* A judgement as a reason; NONE: it can be followed on. */
static enum transport_reason mysql(const char *read, const char *stored, const char *executed,
                                   const char *purged, struct err *err)
{
    const struct failover_from from = {
        .identity = A, .read = str_from(read), .stored = str_from(stored)};

    *err = (struct err){0};
    return failover_judge_mysql(&from, B, str_from(executed), str_from(purged), err)
               ? TRANSPORT_NONE
               : transport_reason_of(err);
}

static enum transport_reason mariadb(const char *read, const char *state, bool strict,
                                     struct err *err)
{
    const struct failover_from from = {
        .identity = "id 1", .read = str_from(read), .stored = str_from(read)};

    *err = (struct err){0};
    return failover_judge_mariadb(&from, "id 2", str_from(state), strict, err)
               ? TRANSPORT_NONE
               : transport_reason_of(err);
}

static void a_mysql_server_that_has_all_that_was_read_is_followed(void **state)
{
    struct err err;

    (void)state;
    assert_int_equal(mysql(A ":1-9", A ":1-9", A ":1-9", "", &err), TRANSPORT_NONE);
    assert_int_equal(mysql(A ":1-9", A ":1-7", A ":1-20," B ":1-5", A ":1-7", &err),
                     TRANSPORT_NONE);
    assert_int_equal(mysql(A ":1-9:tag:1-2", A ":1-9", A ":1-9:tag:1-3", "", &err),
                     TRANSPORT_NONE);
}

static void a_mysql_server_that_lacks_something_is_waited_for_by_name(void **state)
{
    struct err err;

    (void)state;
    assert_int_equal(mysql(A ":1-9", A ":1-5", A ":1-6," B ":1-50", "", &err),
                     TRANSPORT_BEHIND);
    assert_int_equal(err.kind, ERR_RETRY);
    assert_non_null(strstr(err.msg, A ":7-9,"));
    assert_int_equal(mysql(A ":1-9:tag:1-2", A ":1-9", A ":1-9", "", &err), TRANSPORT_BEHIND);
    assert_non_null(strstr(err.msg, A ":tag:1-2"));
}

static void what_was_read_and_not_stored_may_not_be_purged(void **state)
{
    struct err err;

    (void)state;
    assert_int_equal(mysql(A ":1-9", A ":1-5", A ":1-9", A ":1-6", &err),
                     TRANSPORT_GTID_PURGED);
    assert_int_equal(err.kind, ERR_FATAL);
    assert_non_null(strstr(err.msg, A ":6 "));
    assert_int_equal(mysql(A ":1-9", A ":1-9", A ":1-9," B ":1-4", B ":1-2", &err),
                     TRANSPORT_GTID_PURGED);
}

static void a_mariadb_server_is_compared_domain_by_domain(void **state)
{
    struct err err;

    (void)state;
    assert_int_equal(mariadb("0-1-100", "0-1-100", true, &err), TRANSPORT_NONE);
    assert_int_equal(mariadb("0-1-100,5-1-3", "0-1-120,0-2-121,5-1-3", true, &err),
                     TRANSPORT_NONE);
    assert_int_equal(mariadb("0-1-100,5-1-3", "0-1-100,0-2-900", true, &err), TRANSPORT_BEHIND);
    assert_non_null(strstr(err.msg, "5-1-3"));
    assert_null(strstr(err.msg, "0-1-100"));
    assert_int_equal(mariadb("0-1-100", "0-1-99,7-2-500", true, &err), TRANSPORT_BEHIND);
    assert_int_equal(mariadb("0-1-100", "", true, &err), TRANSPORT_BEHIND);
}

static void a_higher_number_of_another_server_tells_only_in_strict_mode(void **state)
{
    struct err err;

    (void)state;
    assert_int_equal(mariadb("0-1-100", "0-1-99,0-2-100", true, &err), TRANSPORT_DIVERGED);
    assert_int_equal(err.kind, ERR_FATAL);
    assert_int_equal(mariadb("0-1-100", "0-1-99,0-2-100", false, &err), TRANSPORT_BEHIND);
    /* In any domain. */
    assert_int_equal(mariadb("0-1-100,5-1-3", "0-1-99,0-2-100", true, &err),
                     TRANSPORT_DIVERGED);
}

/* Before it is asked anything. */
static void a_server_that_cannot_be_compared_is_not_followed(void **state)
{
    const struct server_info info = {.mariadb = true, .gtid = true, .identity = "id 2"};
    const struct failover_from anonymous = {.identity = "id 1",
                                            .read = STR("0-1-1"),
                                            .anonymous = true},
                               other = {.identity = A, .read = STR(A ":1-3")};
    struct err err = {0};

    (void)state;
    assert_false(failover_check(NULL, &info, &anonymous, &err));
    assert_non_null(strstr(err.msg, "had no GTIDs"));
    assert_false(failover_check(NULL, &info, &other, &err));
    assert_non_null(strstr(err.msg, "GTIDs cannot be compared"));
}

static void a_state_that_is_none_is_refused(void **state)
{
    const struct failover_from from = {.identity = "id 1", .read = STR("0-1-1")};
    struct err err = {0};

    (void)state;
    assert_false(failover_judge_mariadb(&from, "id 2", STR("0-1-1,what"), true, &err));
    assert_int_equal(err.kind, ERR_REJECT);
}

static void a_long_list_is_cut_in_the_message(void **state)
{
    char read[1200] = A ":1";
    struct err err;

    (void)state;
    for (int i = 3; i < 300; i += 2)
        snprintf(read + strlen(read), sizeof(read) - strlen(read), ":%d", i);
    assert_int_equal(mysql(read, "", "", "", &err), TRANSPORT_BEHIND);
    assert_non_null(strstr(err.msg, "..., which were read before"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_mysql_server_that_has_all_that_was_read_is_followed),
        cmocka_unit_test(a_mysql_server_that_lacks_something_is_waited_for_by_name),
        cmocka_unit_test(what_was_read_and_not_stored_may_not_be_purged),
        cmocka_unit_test(a_mariadb_server_is_compared_domain_by_domain),
        cmocka_unit_test(a_higher_number_of_another_server_tells_only_in_strict_mode),
        cmocka_unit_test(a_server_that_cannot_be_compared_is_not_followed),
        cmocka_unit_test(a_state_that_is_none_is_refused),
        cmocka_unit_test(a_long_list_is_cut_in_the_message),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
