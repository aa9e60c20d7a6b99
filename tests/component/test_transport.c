/* What a dump gives. */
#include "config.h"

#include "tests/component/transport_rig.h"

#include "src/base/bytes.h"
#include "src/base/clock.h"
#include "sync/decode/event.h"

#include <pthread.h>
#include <stdlib.h>

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

    opt.event_max = largest;
    t = open_dump(&opt);
    compare_with_file(t, file.ptr);
    transport_close(t);
    mysql_conn_close(c);
    buf_free(&file);
}

static void of_rows_above_the_limit_the_beginning_comes_and_then_the_next_event(void **state)
{
    struct mysql_conn *c = server_connect();
    struct buf file = {0};
    struct str event = {0};
    struct err err;
    unsigned cut = 0, behind = 0;

    (void)state;
    new_log(c, &file);
    for (unsigned i = 0; i < 3; i++)
        server_exec(c, "INSERT INTO t.t (a) VALUES (REPEAT('x', 20 << 20))");
    struct transport_options opt = from_start(file.ptr);

    opt.event_max = 16 << 20;
    struct transport *t = open_dump(&opt);

    while (transport_next(t, &event, &err) > 0) {
        const uint32_t len = load_le32(event.ptr + 9);

        behind += cut > 0 && len == event.len;
        cut += len > event.len;
        assert_true(len == event.len || (event.len == EVENT_CUT_LEN && len > opt.event_max));
    }
    assert_int_equal(cut, 3);
    assert_true(behind > 3);
    transport_close(t);
    mysql_conn_close(c);
    buf_free(&file);
}

static void a_large_event_may_be_taken_and_outlives_the_dump(void **state)
{
    struct mysql_conn *c = server_connect();
    struct buf file = {0};
    struct str event = {0}, large = {0};
    struct err err;
    char *block = NULL;

    (void)state;
    new_log(c, &file);
    server_exec(c, "INSERT INTO t.t (a) VALUES (REPEAT('x', 20 << 20)), ('behind it')");
    struct transport_options opt = from_start(file.ptr);
    struct transport *t = open_dump(&opt);

    while (transport_next(t, &event, &err) > 0)
        if (event.len > 20 << 20 && block == NULL) {
            large = event;
            block = transport_take(t);
        }
    transport_close(t);
    if (block != NULL) { /* one of the libraries keeps its memory */
        assert_int_equal(load_le32(large.ptr + 9), large.len);
        assert_int_equal(large.ptr[large.len / 2], 'x');
    }
    free(block);
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

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_dump_is_the_file_byte_for_byte),
        cmocka_unit_test(checksums_come_along),
        cmocka_unit_test(a_dump_starts_in_the_middle_of_a_file),
        cmocka_unit_test(a_dump_starts_after_gtids),
        cmocka_unit_test(an_event_of_many_packets_is_one_event),
        cmocka_unit_test(of_rows_above_the_limit_the_beginning_comes_and_then_the_next_event),
        cmocka_unit_test(a_large_event_may_be_taken_and_outlives_the_dump),
        cmocka_unit_test(an_idle_log_gives_heartbeats),
        cmocka_unit_test(an_interrupt_wakes_a_waiting_reader),
#ifdef HAVE_LIBMARIADB
        cmocka_unit_test(the_server_lists_us_among_its_replicas),
#endif
    };
    static const struct test_part own = {tests, ARRAY_LEN(tests)};
    const struct test_part *const parts[] = {&own, &transport_trouble};

    return run_parts("transport", parts, ARRAY_LEN(parts), NULL, NULL);
}
