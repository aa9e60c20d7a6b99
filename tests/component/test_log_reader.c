#include "config.h"

#include "tests/component/server.h"

#include "src/base/mem.h"
#include "sync/decode/transaction.h"
#include "sync/position/gtid_set.h"
#include "sync/source/transport/transport.h"

#include <inttypes.h>
#include <string.h>

#define ENDS_MAX 64

/* What a dump had. */
struct seen {
    size_t rows_events;
    size_t begins;
    size_t ends;
    size_t statements;
    size_t rollbacks;
    size_t xa;
    struct buf last_file;
    uint64_t last_end;
    uint64_t end_at[ENDS_MAX]; /* where transactions ended */
    struct buf executed;
    struct buf tables; /* "t.a t.b " of rows events */
};

static void free_seen(struct seen *s)
{
    buf_free(&s->last_file);
    buf_free(&s->executed);
    buf_free(&s->tables);
}

static void note(struct seen *s, const struct step *step)
{
    s->begins += step->begins;
    if (step->ends && s->ends < ENDS_MAX)
        s->end_at[s->ends] = step->event.end;
    s->ends += step->ends;
    s->statements += step->kind == STEP_STATEMENT;
    s->rollbacks += step->kind == STEP_ROLLBACK;
    s->xa += step->kind == STEP_XA_PREPARE || step->kind == STEP_XA_COMMIT ||
             step->kind == STEP_XA_ROLLBACK;
    if (step->kind != STEP_ROWS)
        return;
    s->rows_events++;
    buf_append(&s->tables, step->map->database);
    buf_append_char(&s->tables, '.');
    buf_append(&s->tables, step->map->table);
    buf_append_char(&s->tables, ' ');
}

/* Read a dump to its end. */
static struct seen read_log(const struct transport_options *opt, const char *executed)
{
    const struct mysql_options server = server_options();
    struct log_reader_options reader = {.start = {opt->file, opt->offset}};
    struct gtid_set *before = NULL;
    struct transport *t = NULL;
    struct seen seen = {0};
    struct err err = {0};
    struct str raw;
    struct step step;
    int got;

    assert_true(gtid_set_parse(str_from(executed), &before, &err));
    reader.executed = before;

    struct log_reader *r = log_reader_new(&reader);

    if (!transport_open_server(&t, &server, opt, &err))
        fail_msg("%s", err.msg);
    while ((got = transport_next(t, &raw, &err)) == 1) {
        if (!log_reader_feed(r, raw, &err))
            fail_msg("%s", err.msg);
        while ((got = log_reader_next(r, &step, &err)) == 1)
            note(&seen, &step);
        if (got < 0)
            fail_msg("%s", err.msg);
    }
    if (got < 0)
        fail_msg("%s", err.msg);
    buf_append(&seen.last_file, log_reader_position(r).file);
    seen.last_end = log_reader_position(r).offset;
    buf_append(&seen.executed, STR(""));
    gtid_set_format(&seen.executed, log_reader_executed(r));
    transport_close(t);
    log_reader_free(r);
    gtid_set_free(before);
    return seen;
}

static struct transport_options from(const struct buf *file, uint64_t offset)
{
    return (struct transport_options){
        .server_id = 4712,
        .uuid = "11111111-2222-3333-4444-555555555556",
        .file = buf_str(file),
        .offset = offset,
        .non_block = true,
    };
}

/* A new log file with one of everything; its name in file. */
static void write_log(struct mysql_conn *c, struct buf *file)
{
    server_database(c, "t");
    server_exec(c, "CREATE TABLE t.a (id INT PRIMARY KEY, v VARCHAR(100)) ENGINE=InnoDB");
    server_exec(c, "CREATE TABLE t.b (id INT PRIMARY KEY, v LONGBLOB) ENGINE=InnoDB");
    server_exec(c, "CREATE TABLE t.m (id INT PRIMARY KEY) ENGINE=MyISAM");
    server_exec(c, "FLUSH BINARY LOGS");
    log_end_of_server(c, file);
    server_exec(c, "INSERT INTO t.a VALUES (1, 'one')"); /* 1 */
    server_exec(c, "BEGIN");
    server_exec(c, "INSERT INTO t.a VALUES (2, 'two'), (3, 'three')");
    server_exec(c, "UPDATE t.a SET v = 'changed' WHERE id < 3");
    server_exec(c, "INSERT INTO t.b VALUES (1, REPEAT('x', 100000))");
    server_exec(c, "COMMIT");                                /* 2 */
    server_exec(c, "ALTER TABLE t.a ADD COLUMN w INT");      /* 3 */
    server_exec(c, "INSERT INTO t.m VALUES (1)");            /* 4 */
    server_exec(c, "DELETE FROM t.a WHERE id = 1");          /* 5 */
    server_exec(c, "CREATE TABLE t.c AS SELECT * FROM t.a"); /* 6, on some servers 7 */
    server_exec(c, "TRUNCATE TABLE t.c");
    server_exec(c, "DROP TABLE t.c");
    server_exec(c, "XA START 'x1'");
    server_exec(c, "INSERT INTO t.a VALUES (10, 'xa', 0)");
    server_exec(c, "XA END 'x1'");
    server_exec(c, "XA PREPARE 'x1'");
    server_exec(c, "XA COMMIT 'x1'");
    server_exec(c, "UPDATE t.a JOIN t.b ON t.a.id = t.b.id + 1 SET t.a.w = 5, t.b.v = 'y'");
}

static void executed_gtids(struct mysql_conn *c, struct buf *out)
{
    server_scalar(c,
                  mysql_conn_flavor(c) == FLAVOR_MARIADB ? "SELECT @@gtid_binlog_pos"
                                                         : "SELECT @@gtid_executed",
                  out);
}

static void positions_counted_from_the_stream_are_those_of_the_server(void **state)
{
    struct mysql_conn *c = server_connect();
    struct buf file = {0}, now = {0}, gtids = {0};
    struct seen seen;

    (void)state;
    write_log(c, &file);

    const uint64_t end = log_end_of_server(c, &now);
    const struct transport_options opt = from(&file, 4);

    seen = read_log(&opt, "");
    assert_string_equal(seen.last_file.ptr, now.ptr);
    assert_int_equal(seen.last_end, end);
    assert_int_equal(seen.begins, seen.ends);
    assert_true(seen.ends >= 11);
    assert_true(seen.statements >= 3);
    assert_true(seen.rows_events >= 9);
    assert_non_null(strstr(seen.tables.ptr, "t.a t.a t.b "));
    assert_non_null(strstr(seen.tables.ptr, "t.m "));

    executed_gtids(c, &gtids);
    if (gtids.len > 0) {
        struct gtid_set *set;
        struct err err;
        struct buf normal = {0};

        assert_true(gtid_set_parse(buf_str(&gtids), &set, &err));
        gtid_set_format(&normal, set);
        assert_string_equal(seen.executed.ptr, normal.ptr);
        gtid_set_free(set);
        buf_free(&normal);
    }
    free_seen(&seen);
    buf_free(&file);
    buf_free(&now);
    buf_free(&gtids);
    mysql_conn_close(c);
}

static void reading_may_begin_where_any_transaction_ended(void **state)
{
    struct mysql_conn *c = server_connect();
    struct buf file = {0};
    struct transport_options opt;
    struct seen all;

    (void)state;
    write_log(c, &file);
    opt = from(&file, 4);
    all = read_log(&opt, "");
    assert_true(all.ends < ENDS_MAX);
    for (size_t i = 0; i < all.ends; i++) {
        struct seen rest;

        opt = from(&file, all.end_at[i]);
        rest = read_log(&opt, "");
        assert_int_equal(rest.ends, all.ends - i - 1);
        assert_int_equal(rest.begins, rest.ends);
        assert_int_equal(rest.last_end, all.last_end);
        for (size_t k = 0; k < rest.ends; k++)
            assert_int_equal(rest.end_at[k], all.end_at[i + 1 + k]);
        free_seen(&rest);
    }
    free_seen(&all);
    buf_free(&file);
    mysql_conn_close(c);
}

static void reading_by_gtid_has_what_is_missing_at_the_same_positions(void **state)
{
    struct mysql_conn *c = server_connect();
    struct buf file = {0}, before = {0};
    struct transport_options opt;
    struct seen all, rest;

    (void)state;
    executed_gtids(c, &before);
    if (before.len == 0) {
        mysql_conn_close(c);
        buf_free(&before);
        skip();
    }
    write_log(c, &file);
    executed_gtids(c, &before);
    server_exec(c, "INSERT INTO t.a VALUES (20, 'new', 0)");
    server_exec(c, "INSERT INTO t.a VALUES (21, 'new', 0)");
    opt = from(&file, 4);
    all = read_log(&opt, "");
    opt.use_gtid = true;
    opt.file = STR("");
    opt.offset = 0;
    opt.gtid = buf_str(&before);
    rest = read_log(&opt, before.ptr);
    assert_int_equal(rest.ends, 2);
    assert_int_equal(rest.end_at[0], all.end_at[all.ends - 2]);
    assert_int_equal(rest.end_at[1], all.end_at[all.ends - 1]);
    assert_string_equal(rest.executed.ptr, all.executed.ptr);
    assert_string_equal(rest.last_file.ptr, file.ptr);
    free_seen(&all);
    free_seen(&rest);
    buf_free(&file);
    buf_free(&before);
    mysql_conn_close(c);
}

static bool has_end(const struct seen *seen, uint64_t end)
{
    for (size_t i = 0; i < seen->ends; i++)
        if (seen->end_at[i] == end)
            return true;
    return false;
}

static void a_log_is_followed_into_the_next_file(void **state)
{
    struct mysql_conn *c = server_connect();
    struct buf file = {0}, now = {0};
    struct transport_options opt;
    struct seen seen;

    (void)state;
    write_log(c, &file);
    server_exec(c, "FLUSH BINARY LOGS");
    server_exec(c, "INSERT INTO t.a VALUES (30, 'next file', 0)");

    const uint64_t end = log_end_of_server(c, &now);

    opt = from(&file, 4);
    seen = read_log(&opt, "");
    assert_string_equal(seen.last_file.ptr, now.ptr);
    assert_string_not_equal(seen.last_file.ptr, file.ptr);
    /* MariaDB may write a checkpoint event behind it a moment later. */
    assert_true(seen.last_end >= end);
    assert_true(has_end(&seen, end));
    free_seen(&seen);
    buf_free(&file);
    buf_free(&now);
    mysql_conn_close(c);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(positions_counted_from_the_stream_are_those_of_the_server),
        cmocka_unit_test(reading_may_begin_where_any_transaction_ended),
        cmocka_unit_test(reading_by_gtid_has_what_is_missing_at_the_same_positions),
        cmocka_unit_test(a_log_is_followed_into_the_next_file),
    };
    return cmocka_run_group_tests_name("log_reader", tests, NULL, NULL);
}
