#include "config.h"

#include "tests/component/zookeeper_rig.h"

static const struct seat_options with_login = {.auth = "mill:secret"};

static void refuse(const struct seat_options *opt, const char *why)
{
    struct seat a;
    struct err err = {0};

    open_seat(&a, opt);
    wait_for_status(&a, COORDINATION_REFUSED);
    if (strstr(state_of(&a).why.msg, why) == NULL)
        fail_msg("not \"%s\": %s", why, state_of(&a).why.msg);
    assert_int_equal(state_of(&a).why.kind, ERR_REJECT);
    assert_false(state_of(&a).is_open_to_all); /* or we would not be refused */
    assert_false(coordination_join(a.c, STR(NODE(1)), STR(""), &err));
    leave_seat(&a);
}

static bool world_may(const char *path)
{
    struct ACL_vector acl = {0};
    struct Stat stat;
    bool may = false;
    const int rc = zoo_get_acl(plain(), below_root(path), &acl, &stat);

    for (int32_t i = 0; i < acl.count; i++)
        may |= strcmp(acl.data[i].id.scheme, "world") == 0;
    deallocate_ACL_vector(&acl);
    return rc != ZNOAUTH || may;
}

static void with_a_login_nobody_else_may_do_anything(void **state)
{
    struct seat a;
    struct buf data = {0};
    struct err err = {0};
    int32_t version;

    (void)state;
    take_seat(&a, &with_login);
    assert_false(state_of(&a).is_open_to_all);
    join(&a, NODE(1), "");
    lock(&a, "plan");
    wait_for_event(&a, COORDINATION_GRANTED, "plan");
    assert_int_equal(
        coordination_write(a.c,
                           &(struct coordination_write){.what = COORDINATION_VALUE,
                                                        .name = STR("cluster"),
                                                        .version = COORDINATION_ABSENT},
                           &err),
        WRITTEN_DONE);
    assert_true(coordination_read_value(a.c, STR("cluster"), &data, &version, &err));
    assert_false(world_may(""));
    assert_false(world_may("/nodes"));
    assert_false(world_may("/locks"));
    assert_false(world_may("/nodes/" NODE(1)));
    assert_false(world_may("/locks/plan"));
    assert_false(world_may("/cluster"));
    buf_free(&data);
    leave_seat(&a);
}

static void two_with_the_same_login_share_a_tree(void **state)
{
    struct seat a, b;

    (void)state;
    take_seat(&a, &with_login);
    take_seat(&b, &with_login);
    join(&a, NODE(1), "");
    assert_int_equal(count_nodes(&b), 1);
    leave_seat(&a);
    leave_seat(&b);
}

static void without_the_login_or_with_another_one_we_are_refused(void **state)
{
    struct seat a;

    (void)state;
    take_seat(&a, &with_login);
    refuse(&(struct seat_options){0}, "coordination_auth_file");
    refuse(&(struct seat_options){.auth = "mill:wrong"}, "coordination_auth_file");
    leave_seat(&a);
}

static void without_any_login_everybody_may_and_we_are_told(void **state)
{
    struct seat a;

    (void)state;
    take_seat(&a, &(struct seat_options){0});
    assert_true(state_of(&a).is_open_to_all);
    leave_seat(&a);
}

static void a_root_that_everybody_may_write_is_refused_with_a_login(void **state)
{
    struct seat a;

    (void)state;
    take_seat(&a, &(struct seat_options){0});
    leave_seat(&a);
    refuse(&with_login, "setAcl -R");
}

/* Of the log-in, as the server keeps it. */
static void give_to_login(const char *path)
{
    struct ACL entry = {ZOO_PERM_ALL,
                        {(char[]){"digest"}, (char[]){"mill:syJRLtpD03QLjGK67oPjDLrut24="}}};

    assert_int_equal(
        zoo_set_acl(plain(), below_root(path), -1, &(struct ACL_vector){1, &entry}), ZOK);
}

/* A root of the log-in, in which somebody made this before there was one. */
static void make_root_with(const char *path)
{
    plain_create("", "", NULL, ZOO_PERSISTENT);
    plain_create("/nodes", "", NULL, ZOO_PERSISTENT);
    plain_create("/locks", "", NULL, ZOO_PERSISTENT);
    plain_create(path, "", NULL, ZOO_PERSISTENT);
    give_to_login("/nodes");
    give_to_login("/locks");
    give_to_login("");
}

static void a_value_that_everybody_may_write_is_refused_with_a_login(void **state)
{
    struct proxy *p = proxy_start(server_port());
    struct seat a;
    struct buf data = {0};
    struct err err = {0};
    int32_t version;

    (void)state;
    make_root_with("/cluster");
    take_seat(&a, &(struct seat_options){.auth = "mill:secret", .port = proxy_port(p)});
    assert_false(coordination_read_value(a.c, STR("cluster"), &data, &version, &err));
    assert_int_equal(err.kind, ERR_REJECT);
    assert_non_null(strstr(err.msg, "setAcl -R"));
    give_to_login("/cluster");
    assert_true(coordination_read_value(a.c, STR("cluster"), &data, &version, &err));

    const unsigned requests = proxy_requests(p);

    assert_true(coordination_read_value(a.c, STR("cluster"), &data, &version, &err));
    assert_int_equal(proxy_requests(p), requests + 1);
    buf_free(&data);
    leave_seat(&a);
    proxy_stop(p);
}

static void a_lock_that_everybody_may_write_is_refused_with_a_login(void **state)
{
    struct seat a;
    struct err err = {0};

    (void)state;
    make_root_with("/locks/plan");
    take_seat(&a, &with_login);
    assert_false(coordination_lock(a.c, STR("plan"), &err));
    assert_int_equal(err.kind, ERR_REJECT);
    assert_non_null(strstr(err.msg, "setAcl -R"));
    give_to_login("/locks/plan");
    lock(&a, "plan");
    wait_for_event(&a, COORDINATION_GRANTED, "plan");
    leave_seat(&a);
}

static void a_lock_that_is_refused_later_is_taken(void **state)
{
    struct proxy *p = proxy_start(server_port());
    struct seat a;

    (void)state;
    make_root_with("/locks/plan");
    take_seat(&a, &(struct seat_options){.auth = "mill:secret", .port = proxy_port(p)});
    proxy_lose_answer(p);
    lock(&a, "plan");
    proxy_set(p, PROXY_PASS);
    wait_for_event(&a, COORDINATION_TAKEN, "plan");
    leave_seat(&a);
    proxy_stop(p);
}

static void a_value_of_another_login_is_refused_with_the_fix(void **state)
{
    struct seat a;
    struct buf data = {0};
    struct err err = {0};
    int32_t version;
    struct ACL entry = {ZOO_PERM_ALL, {(char[]){"digest"}, (char[]){"other:x"}}};

    (void)state;
    take_seat(&a, &(struct seat_options){0});
    plain_create("/cluster", "", &(struct ACL_vector){1, &entry}, ZOO_PERSISTENT);
    assert_false(coordination_read_value(a.c, STR("cluster"), &data, &version, &err));
    assert_int_equal(err.kind, ERR_REJECT);
    assert_non_null(strstr(err.msg, "coordination_auth_file"));
    assert_int_equal(status_of(&a), COORDINATION_CONNECTED);
    buf_free(&data);
    leave_seat(&a);
}

static void a_root_that_is_not_there_is_made_with_all_above_it(void **state)
{
    struct seat a;
    char servers[64];

    (void)state;
    snprintf(servers, sizeof(servers), "127.0.0.1:%u/a/b", server_port());
    take_seat(&a, &(struct seat_options){.servers = servers});
    leave_seat(&a);
}

static void a_root_that_is_there_needs_no_rights_to_what_is_above_it(void **state)
{
    struct seat a;
    char servers[64];
    struct ACL entry = {ZOO_PERM_READ, {(char[]){"world"}, (char[]){"anyone"}}};

    (void)state;
    plain_create("", "", NULL, ZOO_PERSISTENT);
    plain_create("/sub", "", NULL, ZOO_PERSISTENT);
    assert_int_equal(zoo_set_acl(plain(), below_root(""), -1, &(struct ACL_vector){1, &entry}),
                     ZOK);
    snprintf(servers, sizeof(servers), "127.0.0.1:%u%s/sub", server_port(), below_root(""));
    open_seat_at(&a, servers);
    wait_for_status(&a, COORDINATION_CONNECTED);
    leave_seat(&a);
}

static void a_root_that_cannot_be_made_is_refused(void **state)
{
    char servers[64];
    struct ACL entry = {ZOO_PERM_READ, {(char[]){"world"}, (char[]){"anyone"}}};

    (void)state;
    plain_create("", "", &(struct ACL_vector){1, &entry}, ZOO_PERSISTENT);
    snprintf(servers, sizeof(servers), "127.0.0.1:%u%s", server_port(), below_root(""));
    refuse(&(struct seat_options){.servers = servers}, below_root(""));
}

static void a_refusal_ends_with_its_reason(void **state)
{
    struct seat a;
    struct ACL entry = {ZOO_PERM_READ | ZOO_PERM_ADMIN,
                        {(char[]){"world"}, (char[]){"anyone"}}};

    (void)state;
    plain_create("", "", &(struct ACL_vector){1, &entry}, ZOO_PERSISTENT);
    open_seat(&a, &(struct seat_options){0});
    wait_for_status(&a, COORDINATION_REFUSED);
    assert_int_equal(zoo_set_acl(plain(), below_root(""), -1, &ZOO_OPEN_ACL_UNSAFE), ZOK);
    wait_for_status(&a, COORDINATION_CONNECTED);
    join(&a, NODE(1), "");
    leave_seat(&a);
}

static void what_is_no_login_is_refused_at_once(void **state)
{
    static const char *const bad[] = {"mill", "mill:", ":secret", "mill:secret\n"};
    struct coordination *c;
    struct err err = {0};

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(bad); i++) {
        assert_false(zookeeper_open(&(struct zookeeper_options){.servers = STR("127.0.0.1:1"),
                                                                .auth = str_from(bad[i])},
                                    &c, &err));
        assert_int_equal(err.kind, ERR_REJECT);
        assert_non_null(strstr(err.msg, "coordination_auth_file"));
        assert_null(strstr(err.msg, "secret"));
    }
}

static void an_address_that_is_none_is_refused_at_once(void **state)
{
    struct coordination *c;
    struct err err = {0};

    (void)state;
    assert_false(zookeeper_open(&(struct zookeeper_options){.servers = STR("h1:x")}, &c, &err));
    assert_int_equal(err.kind, ERR_REJECT);
}

static void tls_is_refused_where_the_client_has_none(void **state)
{
    struct coordination *c;
    struct err err = {0};

    (void)state;
    if (zookeeper_has_tls())
        skip();
    assert_false(zookeeper_open(
        &(struct zookeeper_options){.servers = STR("127.0.0.1:1"), .tls = STR("ca,cert,key")},
        &c, &err));
    assert_int_equal(err.kind, ERR_FATAL);
    assert_non_null(strstr(err.msg, "stunnel"));
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test_setup(with_a_login_nobody_else_may_do_anything, new_root),
    cmocka_unit_test_setup(two_with_the_same_login_share_a_tree, new_root),
    cmocka_unit_test_setup(without_the_login_or_with_another_one_we_are_refused, new_root),
    cmocka_unit_test_setup(without_any_login_everybody_may_and_we_are_told, new_root),
    cmocka_unit_test_setup(a_root_that_everybody_may_write_is_refused_with_a_login, new_root),
    cmocka_unit_test_setup(a_value_that_everybody_may_write_is_refused_with_a_login, new_root),
    cmocka_unit_test_setup(a_lock_that_everybody_may_write_is_refused_with_a_login, new_root),
    cmocka_unit_test_setup(a_lock_that_is_refused_later_is_taken, new_root),
    cmocka_unit_test_setup(a_value_of_another_login_is_refused_with_the_fix, new_root),
    cmocka_unit_test_setup(a_root_that_is_not_there_is_made_with_all_above_it, new_root),
    cmocka_unit_test_setup(a_root_that_is_there_needs_no_rights_to_what_is_above_it, new_root),
    cmocka_unit_test_setup(a_root_that_cannot_be_made_is_refused, new_root),
    cmocka_unit_test_setup(a_refusal_ends_with_its_reason, new_root),
    cmocka_unit_test(what_is_no_login_is_refused_at_once),
    cmocka_unit_test(an_address_that_is_none_is_refused_at_once),
    cmocka_unit_test(tls_is_refused_where_the_client_has_none),
};

const struct test_part rights_part = {tests, ARRAY_LEN(tests)};
