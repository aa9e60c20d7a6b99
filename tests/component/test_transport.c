#include "config.h"

#include "tests/component/server.h"

#include "src/base/buf.h"
#include "src/base/bytes.h"
#include "src/base/clock.h"
#include "sync/binlog/transport.h"

#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define UUID "11111111-2222-3333-4444-555555555555"

enum {
    ROTATE = 4,
    FORMAT_DESCRIPTION = 15,
    WRITE_ROWS_V1 = 23,
    WRITE_ROWS = 30,
    HEARTBEAT = 27
};

static unsigned type_of(struct str event)
{
    return load_u8(event.ptr + 4);
}

static bool is_artificial(struct str event)
{
    return (load_le16(event.ptr + 17) & 0x20) != 0;
}

static struct transport_options from_start(const char *file)
{
    return (struct transport_options){
        .server_id = 4711,
        .uuid = UUID,
        .file = str_from(file),
        .offset = 4,
        .non_block = true,
    };
}

static struct transport *open_dump(const struct transport_options *opt)
{
    struct mysql_options server = server_options();
    struct transport *t = NULL;
    struct err err;

    if (!transport_open_server(&t, &server, opt, &err))
        fail_msg("%s", err.msg);
    return t;
}

/* The dump fails for this reason, while it is opened or later. */
static void refuse_at(const struct mysql_options *server, const struct transport_options *opt,
                      enum transport_reason reason)
{
    struct transport *t = NULL;
    struct str event;
    struct err err = {0};

    if (transport_open_server(&t, server, opt, &err))
        while (transport_next(t, &event, &err) > 0)
            ;
    transport_close(t);
    if (transport_reason_of(&err) != reason)
        fail_msg("%s instead of %s: %s", transport_reason_name(transport_reason_of(&err)),
                 transport_reason_name(reason), err.msg);
}

static void refuse(const struct transport_options *opt, enum transport_reason reason)
{
    struct mysql_options server = server_options();

    refuse_at(&server, opt, reason);
}

static bool is_mariadb(const struct mysql_conn *c)
{
    return mysql_conn_flavor(c) == FLAVOR_MARIADB;
}

static uint64_t log_end(struct mysql_conn *c)
{
    return log_end_of_server(c, NULL);
}

/* A fresh log with nothing in it, its name, and the empty table t.t. */
static void new_log(struct mysql_conn *c, struct buf *file)
{
    server_database(c, "t");
    server_exec(c, "CREATE TABLE t.t (id INT AUTO_INCREMENT PRIMARY KEY, a LONGBLOB)");
    server_exec(c, "FLUSH BINARY LOGS");
    log_end_of_server(c, file);
}

static void executed_gtids(struct mysql_conn *c, struct buf *out)
{
    server_scalar(c,
                  is_mariadb(c) ? "SELECT @@GLOBAL.gtid_binlog_pos"
                                : "SELECT REPLACE(@@GLOBAL.gtid_executed, '\n', '')",
                  out);
}

/* A file that a dump of an earlier test is still reading is not purged, so try again. */
static void purge_before(struct mysql_conn *c, const struct buf *file)
{
    struct buf sql = {0}, first = {0};

    buf_printf(&sql, "PURGE BINARY LOGS TO '%s'", file->ptr);
    do {
        usleep(10000);
        server_exec(c, sql.ptr);
        server_scalar(c, "SHOW BINARY LOGS", &first);
    } while (!str_equal(buf_str(&first), buf_str(file)));
    buf_free(&sql);
    buf_free(&first);
}

static void read_file(const char *name, struct buf *out)
{
    char path[512], chunk[65536];
    size_t n;

    snprintf(path, sizeof(path), "%s/%s", server_env("MYSQL_TEST_DATA"), name);
    FILE *f = fopen(path, "rb");

    assert_non_null(f);
    while ((n = fread(chunk, 1, sizeof(chunk), f)) > 0)
        buf_append(out, (struct str){chunk, n});
    fclose(f);
}

/* What a dump gives is the file, byte for byte. */
static void compare_with_file(struct transport *t, const char *name)
{
    struct buf got = {0}, want = {0};
    struct str event;
    struct err err = {0};
    int more;

    buf_append(&got, STR("\xfe"
                         "bin"));
    while ((more = transport_next(t, &event, &err)) > 0) {
        assert_int_equal(load_le32(event.ptr + 9), event.len);
        if (!is_artificial(event) && type_of(event) != HEARTBEAT)
            buf_append(&got, event);
    }
    if (more < 0)
        fail_msg("%s", err.msg);
    read_file(name, &want);
    /* The flag "in use" of an open file is not sent. */
    assert_true(want.len > 21);
    want.ptr[4 + 17] = 0;
    assert_int_equal(got.len, want.len);
    assert_memory_equal(got.ptr + 4 + 19, want.ptr + 4 + 19, 80);
    size_t after = 4 + load_le32(want.ptr + 4 + 9);

    assert_memory_equal(got.ptr + after, want.ptr + after, want.len - after);
    buf_free(&got);
    buf_free(&want);
}

static void a_dump_is_the_file_byte_for_byte(void **state)
{
    struct mysql_conn *c = server_connect();
    struct buf file = {0}, ca = {0};

    (void)state;
    server_exec(c, "SET GLOBAL binlog_checksum = NONE");
    new_log(c, &file);
    server_numbers(c, "t.n", 14);
    server_exec(c, "INSERT INTO t.t (a) SELECT REPEAT('x', 100) FROM t.n");
    server_exec(c, "UPDATE t.t SET a = 'y' WHERE id % 2 = 0");
    struct transport_options opt = from_start(file.ptr);
    struct transport *t = open_dump(&opt);

    assert_false(t->checksum);
    compare_with_file(t, file.ptr);
    transport_close(t);

    struct mysql_options server = server_options();
    struct err err;

    buf_printf(&ca, "%s/ca.pem", server_env("MYSQL_TEST_DIR"));
    server.tls = (struct mysql_tls){.enabled = true, .verify = true, .ca_file = ca.ptr};
    assert_true(transport_open_server(&t, &server, &opt, &err));
    compare_with_file(t, file.ptr);
    transport_close(t);
    mysql_conn_close(c);
    buf_free(&file);
    buf_free(&ca);
}

static void checksums_come_along(void **state)
{
    struct mysql_conn *c = server_connect();
    struct buf file = {0};

    (void)state;
    server_exec(c, "SET GLOBAL binlog_checksum = CRC32");
    new_log(c, &file);
    server_exec(c, "INSERT INTO t.t (a) VALUES ('a')");
    struct transport_options opt = from_start(file.ptr);
    struct transport *t = open_dump(&opt);

    assert_true(t->checksum);
    compare_with_file(t, file.ptr);
    transport_close(t);
    mysql_conn_close(c);
    buf_free(&file);
}

static void a_dump_starts_in_the_middle_of_a_file(void **state)
{
    struct mysql_conn *c = server_connect();
    struct buf file = {0}, want = {0};
    struct str event;
    struct err err;

    (void)state;
    new_log(c, &file);
    server_exec(c, "INSERT INTO t.t (a) VALUES ('before')");
    uint64_t offset = log_end(c);

    server_exec(c, "INSERT INTO t.t (a) VALUES ('after')");
    struct transport_options opt = from_start(file.ptr);

    opt.offset = offset;
    struct transport *t = open_dump(&opt);

    assert_int_equal(transport_next(t, &event, &err), 1);
    assert_int_equal(type_of(event), ROTATE);
    assert_int_equal(load_le64(event.ptr + 19), offset);
    assert_int_equal(transport_next(t, &event, &err), 1);
    assert_int_equal(type_of(event), FORMAT_DESCRIPTION);
    assert_int_equal(transport_next(t, &event, &err), 1);
    read_file(file.ptr, &want);
    assert_memory_equal(event.ptr, want.ptr + offset, event.len);
    transport_close(t);
    mysql_conn_close(c);
    buf_free(&file);
    buf_free(&want);
}

static void a_dump_starts_after_gtids(void **state)
{
    struct mysql_conn *c = server_connect();
    struct buf file = {0}, gtid = {0};
    struct str event;
    struct err err;
    unsigned rows = 0;
    int got;

    (void)state;
    server_needs_gtids(c);
    new_log(c, &file);
    server_exec(c, "INSERT INTO t.t (a) VALUES ('before')");
    executed_gtids(c, &gtid);
    server_exec(c, "FLUSH BINARY LOGS");
    server_exec(c, "INSERT INTO t.t (a) VALUES ('after')");
    server_exec(c, "INSERT INTO t.t (a) VALUES ('after')");
    struct transport_options opt = from_start("");

    opt.use_gtid = true;
    opt.gtid = buf_str(&gtid);
    struct transport *t = open_dump(&opt);

    while ((got = transport_next(t, &event, &err)) > 0)
        if (type_of(event) == WRITE_ROWS || type_of(event) == WRITE_ROWS_V1) {
            rows++;
            assert_non_null(memmem(event.ptr, event.len, "after", 5));
        }
    assert_int_equal(got, 0);
    assert_int_equal(rows, 2);
    transport_close(t);
    mysql_conn_close(c);
    buf_free(&file);
    buf_free(&gtid);
}

static void an_event_of_many_packets_is_one_event(void **state)
{
    struct mysql_conn *c = server_connect();
    struct buf file = {0};
    struct str event = {0};
    struct err err;
    size_t largest = 0;

    (void)state;
    new_log(c, &file);
    server_exec(c, "INSERT INTO t.t (a) VALUES (REPEAT('x', 40 << 20))");
    struct transport_options opt = from_start(file.ptr);
    struct transport *t = open_dump(&opt);

    while (transport_next(t, &event, &err) > 0)
        if (event.len > largest)
            largest = event.len;
    assert_in_range(largest, 40 << 20, (40 << 20) + 100);
    transport_close(t);

    opt.event_max = 39 << 20;
    refuse(&opt, TRANSPORT_MAX_PACKET);
    opt.event_max = largest - 1;
    refuse(&opt, TRANSPORT_MAX_PACKET);
    opt.event_max = largest;
    t = open_dump(&opt);
    compare_with_file(t, file.ptr);
    transport_close(t);
    mysql_conn_close(c);
    buf_free(&file);
}

static void an_idle_log_gives_heartbeats(void **state)
{
    struct mysql_conn *c = server_connect();
    struct buf file = {0};
    struct str event;
    struct err err;

    (void)state;
    new_log(c, &file);
    struct transport_options opt = from_start(file.ptr);

    opt.offset = log_end(c);
    opt.non_block = false;
    opt.heartbeat_ms = 200;
    struct transport *t = open_dump(&opt);
    int64_t start = clock_mono_ms();

    do
        assert_int_equal(transport_next(t, &event, &err), 1);
    while (type_of(event) != HEARTBEAT);
    assert_in_range(clock_mono_ms() - start, 100, 5000);
    transport_close(t);
    mysql_conn_close(c);
    buf_free(&file);
}

static void *interrupt_soon(void *arg)
{
    usleep(300000);
    transport_interrupt(arg);
    return NULL;
}

static void an_interrupt_wakes_a_waiting_reader(void **state)
{
    struct mysql_conn *c = server_connect();
    struct buf file = {0};
    struct str event;
    struct err err = {0};
    pthread_t thread;

    (void)state;
    new_log(c, &file);
    struct transport_options opt = from_start(file.ptr);

    opt.non_block = false;
    struct transport *t = open_dump(&opt);
    int64_t start = clock_mono_ms();

    assert_int_equal(pthread_create(&thread, NULL, interrupt_soon, t), 0);
    while (transport_next(t, &event, &err) > 0)
        ;
    assert_in_range(clock_mono_ms() - start, 200, 3000);
    pthread_join(thread, NULL);
    assert_int_equal(err.kind, ERR_STOP);
    assert_int_equal(transport_reason_of(&err), TRANSPORT_INTERRUPTED);
    assert_int_equal(transport_next(t, &event, &err), -1);
    assert_int_equal(err.kind, ERR_STOP);
    transport_close(t);
    mysql_conn_close(c);
    buf_free(&file);
}

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

#ifdef HAVE_LIBMARIADB /* the other library cannot say who we are */
static void the_server_lists_us_among_its_replicas(void **state)
{
    struct mysql_conn *c = server_connect();
    struct mysql_result *r;
    struct mysql_row row;
    struct err err;
    struct buf file = {0};
    bool found = false;

    (void)state;
    new_log(c, &file);
    struct transport_options opt = from_start(file.ptr);

    opt.non_block = false;
    opt.server_id = 4712;
    struct transport *t = open_dump(&opt);

    assert_true(mysql_conn_query(
        c, is_mariadb(c) ? STR("SHOW SLAVE HOSTS") : STR("SHOW REPLICAS"), &r, &err));
    while (mysql_result_next(r, &row, &err) > 0)
        if (str_equal(row.cells[0], STR("4712")))
            found = str_equal(row.cells[1], STR("millrace"));
    mysql_result_close(r);
    assert_true(found);
    transport_close(t);
    mysql_conn_close(c);
    buf_free(&file);
}
#endif

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

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_dump_is_the_file_byte_for_byte),
        cmocka_unit_test(checksums_come_along),
        cmocka_unit_test(a_dump_starts_in_the_middle_of_a_file),
        cmocka_unit_test(a_dump_starts_after_gtids),
        cmocka_unit_test(an_event_of_many_packets_is_one_event),
        cmocka_unit_test(an_idle_log_gives_heartbeats),
        cmocka_unit_test(an_interrupt_wakes_a_waiting_reader),
        cmocka_unit_test(a_second_client_with_our_server_id_is_recognised),
#ifdef HAVE_LIBMARIADB
        cmocka_unit_test(the_server_lists_us_among_its_replicas),
#endif
        cmocka_unit_test(a_position_that_is_not_in_the_log_is_recognised),
        cmocka_unit_test(gtids_that_are_not_in_the_log_are_recognised),
        cmocka_unit_test(missing_rights_are_recognised),
        cmocka_unit_test(a_server_that_is_silent_is_lost),
        cmocka_unit_test(a_server_that_gave_up_on_a_slow_reader_is_no_failure),
    };
    return cmocka_run_group_tests_name("transport", tests, NULL, NULL);
}
