#include "config.h"

#include "tests/unit/unit.h"

#include "sync/server/known_server.h"

#include <stdio.h>
#include <string.h>

static struct server_info server(const char *identity)
{
    struct server_info info = {.gtid = true};

    snprintf(info.identity, sizeof(info.identity), "%s", identity);
    return info;
}

static void the_first_server_that_answers_is_the_known_one(void **state)
{
    struct known_server *k = known_server_new("");
    const struct server_info one = server("one");
    char identity[IDENTITY_CAP];

    (void)state;
    assert_false(known_server_identity(k, identity, sizeof(identity)));
    assert_true(known_server_meet(k, &one));
    assert_true(known_server_meet(k, &one));
    assert_true(known_server_identity(k, identity, sizeof(identity)));
    assert_string_equal(identity, "one");
    assert_true(known_server_has_gtid(k));
    known_server_free(k);
}

static void another_server_than_that_of_the_checkpoint_changes_nothing(void **state)
{
    struct known_server *k = known_server_new("one");
    const struct server_info other = server("other");
    char identity[IDENTITY_CAP];

    (void)state;
    assert_false(known_server_meet(k, &other));
    assert_false(known_server_has_gtid(k));
    assert_true(known_server_identity(k, identity, sizeof(identity)));
    assert_string_equal(identity, "one");
    known_server_free(k);
}

static void only_a_server_without_gtids_that_commits_in_order_needs_witnesses(void **state)
{
    struct known_server *k = known_server_new("");
    struct server_info info = server("one");

    (void)state;
    info.commits_in_order = true;
    assert_true(known_server_meet(k, &info));
    assert_false(known_server_needs_commit_waits(k));
    info.gtid = false;
    assert_true(known_server_meet(k, &info));
    assert_true(known_server_needs_commit_waits(k));
    info.commits_in_order = false;
    assert_true(known_server_meet(k, &info));
    assert_false(known_server_needs_commit_waits(k));
    known_server_free(k);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_first_server_that_answers_is_the_known_one),
        cmocka_unit_test(another_server_than_that_of_the_checkpoint_changes_nothing),
        cmocka_unit_test(only_a_server_without_gtids_that_commits_in_order_needs_witnesses),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
