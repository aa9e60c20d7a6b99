#include "config.h"

#include "tests/unit/log_steps.h"

static void statements_that_change_rows_nobody_knows_where_are_refused(void **state)
{
    struct test_log log;

    (void)state;
    log_start(&log, "8.0.40", true);
    log_query(&log, "d", "BEGIN");
    log_query(&log, "d", "UPDATE t, u SET t.a = u.a");
    check_refused(&log, "binlog_format=ROW");
}

static void statements_that_change_a_named_table_are_handed_out(void **state)
{
    struct test_log log;

    (void)state;
    log_start(&log, "8.0.40", true);
    log_query(&log, "d", "BEGIN");
    log_query(&log, "d", "REPLACE INTO unwanted VALUES (1)");
    log_query(&log, "d", "UPDATE t SET a = 1");
    log_query(&log, "d", "COMMIT");
    check(&log, "f(BDDC)", "");
}

/* A log of one statement, and what that is read as. */
struct statement {
    struct test_log log;
    struct reading reading;
    struct step step;
};

/* head: what the event has before the text, in hex. */
static void read_statement(struct statement *s, const char *head, const char *sql)
{
    struct buf body = {0}, bytes = {0};
    struct err err = {0};

    log_start(&s->log, "8.0.40", true);
    buf_append(&body, unhex(&bytes, head));
    buf_append(&body, str_from(sql));
    log_event(&s->log, EVENT_QUERY, buf_str(&body));
    start(&s->reading, false);
    assert_true(feed(&s->reading, log_raw(&s->log, 0)));
    assert_true(log_reader_feed(s->reading.r, log_raw(&s->log, 1), &err));
    assert_int_equal(log_reader_next(s->reading.r, &s->step, &err), 1);
    buf_free(&body);
    buf_free(&bytes);
}

static void close_statement(struct statement *s)
{
    finish(&s->reading);
    log_free(&s->log);
}

static void text_in_another_character_set_is_read(void **state)
{
    struct statement s;

    (void)state;
    read_statement(&s,
                   "0000000000000000"
                   "01"
                   "0000"
                   "0700"
                   "041c001c001c00"
                   "6400",
                   "DROP TABLE `\xc4\xe3`");
    assert_int_equal(s.step.ddl.n_tables, 1);
    assert_true(str_equal(s.step.ddl.tables[0].table, STR("你")));
    close_statement(&s);
}

static void a_statement_is_read_as_its_session_read_it(void **state)
{
    struct statement s;

    (void)state;
    read_statement(&s,
                   "0000000000000000"
                   "01"
                   "0000"
                   "0900"
                   "010400100000000000"
                   "6400",
                   "ALTER TABLE \"t\\\" ADD a INT COMMENT '\\', DROP b");
    assert_true(str_equal(s.step.ddl.tables[0].table, STR("t\\")));
    assert_int_equal(s.step.ddl.n_columns, 2);
    assert_false(s.step.ddl.columns_unclear);
    close_statement(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(statements_that_change_rows_nobody_knows_where_are_refused),
        cmocka_unit_test(statements_that_change_a_named_table_are_handed_out),
        cmocka_unit_test(text_in_another_character_set_is_read),
        cmocka_unit_test(a_statement_is_read_as_its_session_read_it),
    };
    return cmocka_run_group_tests_name("statement", tests, NULL, NULL);
}
