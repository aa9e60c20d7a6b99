#include "config.h"

#include "tests/unit/log_steps.h"

#include "sync/decode/row.h"

static void transactions_of_mysql_have_their_bounds(void **state)
{
    struct test_log log;

    (void)state;
    log_start(&log, "8.0.40", true);
    log_gtid(&log, 1);
    log_query(&log, "d", "BEGIN");
    log_change(&log, true);
    log_xid(&log);
    log_gtid(&log, 2);
    log_query(&log, "d", "CREATE TABLE x (a int)");
    log_gtid(&log, 4);
    log_query(&log, "d", "BEGIN");
    log_query(&log, "d", "SAVEPOINT s");
    log_change(&log, false);
    log_rows(&log, EVENT_WRITE_ROWS, 5, true, "ff00020000000161");
    log_query(&log, "d", "ROLLBACK TO s");
    log_query(&log, "d", "COMMIT");
    check(&log, "f(B..RC)(BD)(B.S.RRTC)", ZERO_UUID ":1-2:4");
}

static void transactions_without_gtids_begin_with_begin(void **state)
{
    struct test_log log;

    (void)state;
    log_start(&log, "5.5.27", false);
    log_query(&log, "d", "BEGIN");
    log_change(&log, true);
    log_query(&log, "d", "COMMIT");
    log_query(&log, "d", "DROP TABLE t");
    log_query(&log, "d", "BEGIN");
    log_change(&log, true);
    log_query(&log, "d", "ROLLBACK");
    log_change(&log, true); /* MySQL 5.1: MyISAM */
    check(&log, "f(B.RC)(D)(B.RX).(R)", "");
}

static void transactions_of_mariadb_begin_with_their_gtid(void **state)
{
    struct test_log log;

    (void)state;
    log_start(&log, "10.11.6-MariaDB", true);
    log_hex(&log, EVENT_GTID_LIST,
            "01000000"
            "00000000"
            "07000000"
            "0400000000000000");
    log_hex(&log, EVENT_BINLOG_CHECKPOINT, "0300000062696e");
    log_mariadb_gtid(&log, 5, 0);
    log_hex(&log, EVENT_ANNOTATE_ROWS, "41");
    log_table_map(&log, 5, "t", "");
    log_rows(&log, EVENT_WRITE_ROWS_V1, 5, true, "ff00010000000161");
    log_xid(&log);
    log_mariadb_gtid(&log, 6, 0x21);
    log_query(&log, "d", "DROP TABLE t");
    log_mariadb_gtid(&log, 7, 0);
    log_query(&log, "d", "CREATE TABLE t (a int)"); /* CREATE TABLE ... SELECT */
    log_table_map(&log, 6, "t", "");
    log_rows(&log, EVENT_WRITE_ROWS_V1, 6, true, "ff00010000000161");
    log_query(&log, "d", "COMMIT");
    check(&log, "fg.(B..RC)(BD)(BD.RC)", "0-7-7");
}

static void the_halves_of_a_two_phase_alter_count_once(void **state)
{
    struct test_log log;

    (void)state;
    log_start(&log, "10.11.6-MariaDB", true);
    log_hex(&log, EVENT_MARIADB_GTID,
            "0100000000000000"
            "00000000"
            "21"
            "02"
            "0000000000");
    log_query(&log, "d", "ALTER TABLE t ADD a INT");
    log_hex(&log, EVENT_MARIADB_GTID,
            "0200000000000000"
            "00000000"
            "21"
            "04"
            "0100000000000000");
    log_query(&log, "d", "ALTER TABLE t ADD a INT");
    log_hex(&log, EVENT_MARIADB_GTID, /* a second one that failed: it was rolled back */
            "0300000000000000"
            "00000000"
            "21"
            "08"
            "0100000000000000");
    log_query(&log, "d", "ALTER TABLE t ADD a INT");
    check(&log, "f(B.)(BD)(B.)", "0-7-3");
}

static void rows_of_a_table_that_is_not_wanted_are_told_apart(void **state)
{
    struct test_log log;

    (void)state;
    log_start(&log, "8.0.40", true);
    log_gtid(&log, 1);
    log_query(&log, "d", "BEGIN");
    log_table_map(&log, 5, "t", "");
    log_table_map(&log, 6, "unwanted", "");
    log_rows(&log, EVENT_WRITE_ROWS, 6, false, "ff00010000000161");
    log_rows(&log, EVENT_WRITE_ROWS, 5, true, "ff00010000000161");
    log_xid(&log);
    log.file.ptr[log.starts[6] - 1] ^= 1; /* and their checksum is not looked at */
    check(&log, "f(B...uRC)", ZERO_UUID ":1");
}

static void xa_transactions_end_at_prepare_and_take_effect_later(void **state)
{
    struct test_log log;

    (void)state;
    log_start(&log, "8.0.40", true);
    log_gtid(&log, 1);
    log_query(&log, "d", "XA START X'67',X'',1");
    log_change(&log, true);
    log_query(&log, "d", "XA END X'67',X'',1");
    log_hex(&log, EVENT_XA_PREPARE,
            "00"
            "01000000"
            "01000000"
            "00000000"
            "67");
    log_gtid(&log, 2);
    log_query(&log, "d", "XA COMMIT X'67',X'',1");
    log_gtid(&log, 3);
    log_query(&log, "d", "XA START X'68',X'',1");
    log_query(&log, "d", "XA END X'68',X'',1");
    log_hex(&log, EVENT_XA_PREPARE,
            "01"
            "01000000"
            "01000000"
            "00000000"
            "68");
    log_gtid(&log, 4);
    log_query(&log, "d", "XA ROLLBACK X'69',X'',1");
    check(&log, "f(B..R.p)(Bc)(B..C)(Bx)", ZERO_UUID ":1-4");
}

static void the_id_of_an_xa_transaction_is_the_same_everywhere(void **state)
{
    struct test_log log;
    struct reading g;
    struct step s;
    struct err err = {0};

    (void)state;
    log_start(&log, "8.0.40", true);
    log_hex(&log, EVENT_XA_PREPARE,
            "00"
            "01000000"
            "02000000"
            "01000000"
            "67ff62");
    log_query(&log, "d", "XA COMMIT X'67FF',X'62',1");
    start(&g, false);
    assert_true(feed(&g, log_raw(&log, 0)));
    for (size_t i = 1; i < 3; i++) {
        assert_true(log_reader_feed(g.r, log_raw(&log, i), &err));
        assert_int_equal(log_reader_next(g.r, &s, &err), 1);
        assert_true(str_equal(s.xid, STR("X'67ff',X'62',1")));
        assert_int_equal(log_reader_next(g.r, &s, &err), 0);
    }
    finish(&g);
    log_free(&log);
}

static void a_transaction_that_the_log_breaks_off_never_was(void **state)
{
    struct test_log log;
    struct reading g;
    struct buf body = {0};

    (void)state;
    log_start(&log, "8.0.40", true);
    log_gtid(&log, 1);
    log_query(&log, "d", "BEGIN");
    log_change(&log, true);
    put_le(&body, 4, 8);
    buf_append(&body, STR("bin.000002"));
    log_event(&log, EVENT_ROTATE, buf_str(&body));
    start(&g, false);
    assert_true(feed_all(&g, &log));
    assert_string_equal(g.steps.ptr, "f(B..R!r");
    assert_true(gtid_set_is_empty(log_reader_executed(g.r)));
    assert_true(str_equal(log_reader_position(g.r).file, STR("bin.000002")));
    assert_int_equal(log_reader_position(g.r).offset, 4);
    finish(&g);
    buf_free(&body);
    log_free(&log);
}

static void a_transaction_that_a_gtid_breaks_off_never_was(void **state)
{
    struct test_log log;

    (void)state;
    log_start(&log, "8.0.40", true);
    log_gtid(&log, 1);
    log_query(&log, "d", "BEGIN");
    log_change(&log, false);
    log_gtid(&log, 2);
    log_query(&log, "d", "BEGIN");
    log_change(&log, true);
    log_xid(&log);
    check(&log, "f(B..R!(B..RC)", ZERO_UUID ":2");
}

/* The server gives the number of what was cut off to another transaction. */
static void a_gtid_whose_transaction_was_cut_off_may_come_again(void **state)
{
    struct test_log log;

    (void)state;
    log_start(&log, "8.0.40", true);
    log_gtid(&log, 1);
    log_gtid(&log, 1);
    log_query(&log, "d", "BEGIN");
    log_xid(&log);
    check(&log, "f(B!(B.C)", ZERO_UUID ":1");
    log_start(&log, "10.11.6-MariaDB", true);
    log_mariadb_gtid(&log, 1, 0);
    log_change(&log, true);
    log_mariadb_gtid(&log, 1, 0);
    log_change(&log, true);
    log_xid(&log);
    check(&log, "f(B.R!(B.RC)", "0-7-1");
}

static void without_gtids_a_begin_breaks_off_rows_without_an_end(void **state)
{
    struct test_log log;

    (void)state;
    log_start(&log, "5.6.40", true);
    log_query(&log, "d", "BEGIN");
    log_change(&log, true);
    log_query(&log, "d", "BEGIN");
    log_change(&log, true);
    log_xid(&log);
    log_query(&log, "d", "BEGIN");
    log_query(&log, "d", "BEGIN");
    log_xid(&log);
    check(&log, "f(B.R!(B.RC)(B.C)", "");
}

static void rows_above_the_limit_are_those_of_their_table_and_cannot_be_read(void **state)
{
    const struct log_reader_options opt = {
        .want = want, .start = {STR("bin.000001"), 4}, .event_max = 100};
    struct reading g = {.r = log_reader_new(&opt)};
    struct row_reader *rows = row_reader_new();
    struct test_log log;
    struct buf hex = {0};
    struct step s = {0};

    (void)state;
    buf_append(&hex, STR("ff"));
    for (int i = 0; i < 100; i++)
        buf_append(&hex, STR("00010000000161"));
    log_start(&log, "8.0.40", true);
    log_query(&log, "d", "BEGIN");
    log_table_map(&log, 5, "t", "");
    log_rows(&log, EVENT_WRITE_ROWS, 5, true, hex.ptr);
    for (size_t i = 0; i < log.n; i++) {
        const struct str raw = log_raw(&log, i);

        assert_true(log_reader_feed(g.r, (struct str){raw.ptr, i == 3 ? 60 : raw.len}, &g.err));
        assert_int_equal(log_reader_next(g.r, &s, &g.err), 1);
    }
    assert_int_equal(s.kind, STEP_ROWS);
    assert_int_equal(s.event.end, log.file.len);
    assert_false(row_reader_open(rows, &s.rows, s.map, &g.err));
    assert_non_null(strstr(g.err.msg, "source.event_max"));
    assert_int_equal(g.err.kind, ERR_REJECT);
    row_reader_free(rows);
    finish(&g);
    buf_free(&hex);
    log_free(&log);
}

static void what_breaks_an_xa_transaction_off_is_none(void **state)
{
    struct test_log log;
    struct reading g;
    struct step s;

    (void)state;
    log_start(&log, "8.0.40", true);
    log_gtid(&log, 1);
    log_query(&log, "d", "XA START X'67',X'62',1");
    log_change(&log, true);
    log_gtid(&log, 2);
    log_query(&log, "d", "BEGIN");
    start(&g, false);
    for (size_t i = 0; i < log.n; i++) {
        assert_true(log_reader_feed(g.r, log_raw(&log, i), &g.err));
        assert_int_equal(log_reader_next(g.r, &s, &g.err), 1);
        assert_int_equal(s.prepares, i >= 2 && i <= 4);
        assert_int_equal(s.breaks, i == 5);
        assert_int_equal(log_reader_next(g.r, &s, &g.err), 0);
    }
    finish(&g);
    log_free(&log);
}

static void checksums_may_begin_and_end_with_a_new_file(void **state)
{
    struct test_log first, second;
    struct reading g;

    (void)state;
    log_start(&first, "8.0.40", true);
    log_hex(&first, EVENT_ROTATE, "040000000000000062696e2e303030303032");
    log_start(&second, "8.0.40", false);
    log_query(&second, "d", "BEGIN");
    log_xid(&second);
    log_hex(&second, EVENT_ROTATE, "040000000000000062696e2e303030303033");
    start(&g, false);
    assert_true(feed_all(&g, &first));
    assert_true(feed_all(&g, &second));
    log_free(&first);
    log_start(&first, "8.0.40", true);
    log_query(&first, "d", "BEGIN");
    log_xid(&first);
    assert_true(feed_all(&g, &first));
    assert_string_equal(g.steps.ptr, "frf(BC)rf(BC)");
    finish(&g);
    log_free(&first);
    log_free(&second);
}

static void a_list_of_gtids_that_the_server_makes_up_is_not_what_was_executed(void **state)
{
    struct test_log log;
    struct reading g;

    (void)state;
    log_start(&log, "10.11.6-MariaDB", true);
    log.flags = EVENT_FLAG_ARTIFICIAL;
    log.no_log_pos = true;
    log_hex(&log, EVENT_GTID_LIST,
            "01000000"
            "00000000"
            "07000000"
            "0400000000000000");
    start(&g, false);
    assert_true(feed_all(&g, &log));
    assert_true(gtid_set_is_empty(log_reader_executed(g.r)));
    finish(&g);
    log_free(&log);
}

/* Without GTIDs nothing but its end tells that the next one is of another kind. */
static void a_transaction_after_one_of_xa_prepares_nothing(void **state)
{
    struct test_log log;
    struct reading g;
    struct step s;

    (void)state;
    log_start(&log, "5.7.44", true);
    log_query(&log, "d", "XA START X'67',X'62',1");
    log_change(&log, true);
    log_query(&log, "d", "XA END X'67',X'62',1");
    log_hex(&log, EVENT_XA_PREPARE,
            "00"
            "01000000"
            "01000000"
            "00000000"
            "67");
    log_query(&log, "d", "BEGIN");
    log_change(&log, true);
    log_xid(&log);
    start(&g, false);
    for (size_t i = 0; i < log.n; i++) {
        assert_true(log_reader_feed(g.r, log_raw(&log, i), &g.err));
        assert_int_equal(log_reader_next(g.r, &s, &g.err), 1);
        assert_int_equal(s.prepares, i >= 1 && i <= 5);
        assert_int_equal(log_reader_next(g.r, &s, &g.err), 0);
    }
    finish(&g);
    log_free(&log);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_list_of_gtids_that_the_server_makes_up_is_not_what_was_executed),
        cmocka_unit_test(a_transaction_after_one_of_xa_prepares_nothing),
        cmocka_unit_test(transactions_of_mysql_have_their_bounds),
        cmocka_unit_test(transactions_without_gtids_begin_with_begin),
        cmocka_unit_test(transactions_of_mariadb_begin_with_their_gtid),
        cmocka_unit_test(the_halves_of_a_two_phase_alter_count_once),
        cmocka_unit_test(rows_of_a_table_that_is_not_wanted_are_told_apart),
        cmocka_unit_test(xa_transactions_end_at_prepare_and_take_effect_later),
        cmocka_unit_test(the_id_of_an_xa_transaction_is_the_same_everywhere),
        cmocka_unit_test(a_transaction_that_the_log_breaks_off_never_was),
        cmocka_unit_test(a_transaction_that_a_gtid_breaks_off_never_was),
        cmocka_unit_test(a_gtid_whose_transaction_was_cut_off_may_come_again),
        cmocka_unit_test(without_gtids_a_begin_breaks_off_rows_without_an_end),
        cmocka_unit_test(what_breaks_an_xa_transaction_off_is_none),
        cmocka_unit_test(rows_above_the_limit_are_those_of_their_table_and_cannot_be_read),
        cmocka_unit_test(checksums_may_begin_and_end_with_a_new_file),
    };
    return cmocka_run_group_tests_name("transaction", tests, NULL, NULL);
}
