/* Why a dump is refused or ends, and that each reason is told apart. */
#include "config.h"

#include "tests/component/transport_rig.h"

#include "src/base/clock.h"

#include <signal.h>

static void a_second_client_with_our_server_id_is_recognised(void **state)
{
    struct mysql_conn *c = server_connect();
    struct buf file = {0};
    struct str event;
    struct err err = {0};

    (void)state;
    new_log(c, &file);
    struct transport_options opt = from_start(file.ptr);

    opt.non_block = false;
    opt.heartbeat_ms = 500;
    struct transport *older = open_dump(&opt);

    for (int i = 0; i < 2; i++)
        assert_int_equal(transport_next(older, &event, &err), 1);
    struct transport *newer = open_dump(&opt);

    while (transport_next(older, &event, &err) > 0)
        ;
    if (transport_reason_of(&err) != TRANSPORT_DUPLICATE_ID)
        fail_msg("%s: %s", transport_reason_name(transport_reason_of(&err)), err.msg);
    assert_int_equal(transport_next(newer, &event, &err), 1);
    transport_close(older);
    transport_close(newer);
    mysql_conn_close(c);
    buf_free(&file);
}

static void a_position_that_is_not_in_the_log_is_recognised(void **state)
{
    struct mysql_conn *c = server_connect();
    struct buf file = {0};

    (void)state;
    new_log(c, &file);
    server_exec(c, "INSERT INTO t.t (a) VALUES ('a')");
    struct transport_options opt = from_start(file.ptr);

    opt.offset = 1 << 30;
    refuse(&opt, TRANSPORT_BEYOND);
    uint64_t end = log_end(c);

    for (uint64_t back = 3; back < 60; back += 11) {
        opt.offset = end - back;
        refuse(&opt, TRANSPORT_BEYOND);
    }
    opt.offset = (uint64_t)1 << 32;
    refuse(&opt, TRANSPORT_REFUSED);
    opt = from_start("binlog.999999");
    refuse(&opt, TRANSPORT_PURGED);

    char old[64];

    snprintf(old, sizeof(old), "%s", file.ptr);
    new_log(c, &file);
    purge_before(c, &file);
    opt = from_start(old);
    refuse(&opt, TRANSPORT_PURGED);
    mysql_conn_close(c);
    buf_free(&file);
}

static void gtids_that_are_not_in_the_log_are_recognised(void **state)
{
    struct mysql_conn *c = server_connect();
    struct buf file = {0}, early = {0}, unknown = {0};
    struct transport_options opt = from_start("");

    (void)state;
    server_needs_gtids(c);
    new_log(c, &file);
    executed_gtids(c, &early);
    server_exec(c, "INSERT INTO t.t (a) VALUES ('a')");
    opt.use_gtid = true;
    if (is_mariadb(c))
        buf_append(&unknown, STR("0-1-99999999"));
    else
        server_scalar(c, "SELECT CONCAT(@@server_uuid, ':1-99999999')", &unknown);
    opt.gtid = buf_str(&unknown);
    refuse(&opt, TRANSPORT_DIVERGED);

    new_log(c, &file);
    purge_before(c, &file);
    opt.gtid = buf_str(&early);
    refuse(&opt, TRANSPORT_GTID_PURGED);
    mysql_conn_close(c);
    buf_free(&file);
    buf_free(&early);
    buf_free(&unknown);
}

static void missing_rights_are_recognised(void **state)
{
    struct mysql_conn *c = server_connect();
    struct mysql_options server = server_options();
    struct buf file = {0};

    (void)state;
    new_log(c, &file);
    server_user(c, "BY 'secret'");
    struct transport_options opt = from_start(file.ptr);

    server.user = "mill";
    server.password = "secret";
    refuse_at(&server, &opt, TRANSPORT_PRIVILEGE);
    server_exec(c, "GRANT REPLICATION SLAVE ON *.* TO mill@'127.0.0.1'");
    struct transport *t = NULL;
    struct err err;

    assert_true(transport_open_server(&t, &server, &opt, &err));
    compare_with_file(t, file.ptr);
    transport_close(t);
    server.password = "wrong";
    refuse_at(&server, &opt, TRANSPORT_AUTH);
    server.port = 1;
    refuse_at(&server, &opt, TRANSPORT_LOST);
    server_exec(c, "DROP USER mill@'127.0.0.1'");
    mysql_conn_close(c);
    buf_free(&file);
}

static pid_t server_pid(void)
{
    return (pid_t)strtol(server_env("MYSQL_TEST_PID"), NULL, 10);
}

static void a_server_that_is_silent_is_lost(void **state)
{
    struct mysql_conn *c = server_connect();
    struct buf file = {0};
    struct str event;
    struct err err = {0};

    (void)state;
    new_log(c, &file);
    struct transport_options opt = from_start(file.ptr);

    opt.non_block = false;
    opt.heartbeat_ms = 300;
    struct transport *t = open_dump(&opt);

    assert_int_equal(transport_next(t, &event, &err), 1);
    kill(server_pid(), SIGSTOP);
    int64_t start = clock_mono_ms();

    while (transport_next(t, &event, &err) > 0)
        ;
    kill(server_pid(), SIGCONT);
    assert_in_range(clock_mono_ms() - start, 800, 5000);
    assert_int_equal(transport_reason_of(&err), TRANSPORT_LOST);
    assert_int_equal(err.kind, ERR_RETRY);
    transport_close(t);
    mysql_conn_close(c);
    buf_free(&file);
}

static void a_server_that_gave_up_on_a_slow_reader_is_no_failure(void **state)
{
    struct mysql_conn *c = server_connect();
    struct buf file = {0};
    struct str event;
    struct err err = {0};

    (void)state;
    new_log(c, &file);
    for (int i = 0; i < 4; i++)
        server_exec(c, "INSERT INTO t.t (a) VALUES (REPEAT('x', 16 << 20))");
    struct transport_options opt = from_start(file.ptr);

    opt.non_block = false;
    opt.write_timeout_s = 1;
    opt.heartbeat_ms = 1000;
    struct transport *t = open_dump(&opt);

    assert_int_equal(transport_next(t, &event, &err), 1);
    usleep(3500000);
    int64_t start = clock_mono_ms();

    while (transport_next(t, &event, &err) > 0)
        ;
    assert_in_range(clock_mono_ms() - start, 0, 2500);
    if (transport_reason_of(&err) != TRANSPORT_CUT)
        fail_msg("%s: %s", transport_reason_name(transport_reason_of(&err)), err.msg);
    assert_int_equal(err.kind, ERR_RETRY);
    transport_close(t);
    mysql_conn_close(c);
    buf_free(&file);
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(a_second_client_with_our_server_id_is_recognised),
    cmocka_unit_test(a_position_that_is_not_in_the_log_is_recognised),
    cmocka_unit_test(gtids_that_are_not_in_the_log_are_recognised),
    cmocka_unit_test(missing_rights_are_recognised),
    cmocka_unit_test(a_server_that_is_silent_is_lost),
    cmocka_unit_test(a_server_that_gave_up_on_a_slow_reader_is_no_failure),
};
const struct test_part transport_trouble = {tests, ARRAY_LEN(tests)};
