#include "config.h"

#include "tests/component/server.h"

#include "src/base/buf.h"
#include "src/mysql/group.h"

#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

static void assert_contains(const char *text, const char *part)
{
    if (strstr(text, part) == NULL)
        fail_msg("\"%s\" does not contain \"%s\"", text, part);
}

static void refuse(const struct mysql_options *opt, enum err_kind kind, const char *part)
{
    struct mysql_conn *c = NULL;
    struct err err = {0};
    char where[64];

    assert_false(mysql_conn_open(&c, opt, &err));
    assert_null(c);
    assert_contains(err.msg, part);
    assert_string_equal(err_kind_name(err.kind), err_kind_name(kind));
    snprintf(where, sizeof(where), "%s:%u", opt->host, (unsigned)opt->port);
    assert_contains(err.msg, where);
}

static void the_session_is_set_whatever_the_server_says(void **state)
{
    struct mysql_conn *root = server_connect();
    struct buf b = {0};

    (void)state;
    server_exec(
        root,
        "SET GLOBAL sql_mode = 'ANSI_QUOTES,NO_BACKSLASH_ESCAPES,PAD_CHAR_TO_FULL_LENGTH'");
    server_exec(root, "SET GLOBAL time_zone = '+05:00', GLOBAL completion_type = 2, "
                      "GLOBAL sql_quote_show_create = 0, GLOBAL max_sort_length = 64, "
                      "GLOBAL lc_time_names = 'de_DE', GLOBAL default_week_format = 3, "
                      "GLOBAL div_precision_increment = 0");
    struct mysql_conn *c = server_connect();

    server_scalar(c,
                  "SELECT CONCAT(@@completion_type, ' ', @@sql_quote_show_create + 0, ' ', "
                  "@@max_sort_length)",
                  &b);
    assert_string_equal(b.ptr, "NO_CHAIN 1 1024");
    server_scalar(c, "SELECT @@sql_mode", &b);
    assert_string_equal(b.ptr, "STRICT_TRANS_TABLES,NO_ENGINE_SUBSTITUTION");
    server_scalar(c,
                  "SELECT CONCAT(@@time_zone, ' ', @@character_set_client, ' ', "
                  "@@character_set_results, ' ', @@autocommit + 0)",
                  &b);
    assert_string_equal(b.ptr, "+00:00 utf8mb4 utf8mb4 1");
    server_scalar(
        c, "SELECT CONCAT(DAYNAME('2024-01-01'), ' ', WEEK('2024-01-01'), ' ', 1 / 3)", &b);
    assert_string_equal(b.ptr, "Monday 0 0.3333");
    server_scalar(c, "SELECT \"text\"", &b);
    assert_string_equal(b.ptr, "text");
    server_exec(root, "SET GLOBAL sql_mode = DEFAULT");
    server_exec(root,
                "SET GLOBAL time_zone = DEFAULT, GLOBAL completion_type = DEFAULT, "
                "GLOBAL sql_quote_show_create = DEFAULT, GLOBAL max_sort_length = DEFAULT, "
                "GLOBAL lc_time_names = DEFAULT, GLOBAL default_week_format = DEFAULT, "
                "GLOBAL div_precision_increment = DEFAULT");
    bool mariadb = strstr(mysql_conn_version_text(c), "MariaDB") != NULL;

    assert_true(mysql_conn_flavor(c) == (mariadb ? FLAVOR_MARIADB : FLAVOR_MYSQL));
    assert_in_range(mysql_conn_version(c), 50700, 130000);
    mysql_conn_close(c);
    mysql_conn_close(root);
    buf_free(&b);
}

/* An answer from before a commit may outlast it there; the server of the test has it on. */
static void answers_do_not_come_from_the_servers_cache(void **state)
{
    struct mysql_conn *c = server_connect();
    struct buf b = {0};

    (void)state;
    if (mysql_conn_flavor(c) == FLAVOR_MARIADB) { /* MySQL 8 has none */
        server_scalar(c, "SELECT CONCAT(@@global.query_cache_type, ' ', @@query_cache_type)",
                      &b);
        assert_string_equal(b.ptr, "ON OFF");
    }
    mysql_conn_close(c);
    buf_free(&b);
}

/* Also where an outer row before it has a text that is equal but for case and trailing
 * spaces. */
static void a_subquery_that_asks_byte_by_byte_is_asked_for_each_row(void **state)
{
    struct mysql_conn *c = server_connect();
    struct buf b = {0};

    (void)state;
    server_exec(c, "CREATE DATABASE folded");
    server_exec(c, "CREATE TABLE folded.above (k VARCHAR(20) CHARACTER SET utf8mb4 COLLATE "
                   "utf8mb4_general_ci PRIMARY KEY)");
    server_exec(c, "CREATE TABLE folded.below (id INT PRIMARY KEY, k VARCHAR(20) CHARACTER SET "
                   "utf8mb4 COLLATE utf8mb4_general_ci)");
    server_exec(c, "INSERT INTO folded.above VALUES ('B ')");
    server_exec(c, "INSERT INTO folded.below VALUES (1, 'b'), (2, 'B '), (3, 'b'), (4, 'B ')");
    server_scalar(
        c,
        "SELECT GROUP_CONCAT(found ORDER BY id) FROM (SELECT id, COALESCE((SELECT 'yes' "
        "FROM folded.above a WHERE a.k = o.k AND CAST(a.k AS BINARY) = "
        "CAST(o.k AS BINARY) LIMIT 1), 'no') AS found FROM folded.below o ORDER BY id "
        "LIMIT 10) AS x",
        &b);
    assert_string_equal(b.ptr, "no,yes,no,yes");
    server_exec(c, "DROP DATABASE folded");
    mysql_conn_close(c);
    buf_free(&b);
}

static void rows_stream_with_nulls_and_zero_bytes(void **state)
{
    struct mysql_conn *c = server_connect();
    struct mysql_result *r;
    struct mysql_row row;
    struct err err = {0};
    uint64_t n = 0;

    (void)state;
    assert_true(mysql_conn_query(c,
                                 STR("SELECT seq, NULL AS nothing, x'610062' AS bytes, '' AS "
                                     "void FROM numbers.n"),
                                 &r, &err));
    assert_true(str_equal(mysql_result_name(r, 1), STR("nothing")));
    while (mysql_result_next(r, &row, &err) == 1) {
        n++;
        assert_int_equal(row.n_cells, 4);
        assert_null(row.cells[1].ptr);
        assert_true(str_equal(row.cells[2], STR("a\0b")));
        assert_non_null(row.cells[3].ptr);
        assert_int_equal(row.cells[3].len, 0);
    }
    assert_int_equal(err.kind, ERR_NONE);
    assert_int_equal(n, 1 << 16);
    mysql_result_close(r);
    mysql_conn_close(c);
}

static void a_result_can_be_closed_early(void **state)
{
    struct mysql_conn *c = server_connect();
    struct mysql_result *r;
    struct mysql_row row;
    struct err err = {0};
    struct buf b = {0};

    (void)state;
    assert_true(mysql_conn_query(c, STR("SELECT seq FROM numbers.n"), &r, &err));
    assert_int_equal(mysql_result_next(r, &row, &err), 1);
    mysql_result_close(r);
    server_scalar(c, "SELECT 7", &b);
    assert_string_equal(b.ptr, "7");
    /* And a connection with most of a result unread closes without reading it. */
    assert_true(mysql_conn_query(c, STR("SELECT seq, SLEEP(0.01) FROM numbers.n"), &r, &err));
    mysql_conn_close(c);
    buf_free(&b);
}

static void a_scalar_without_a_row_is_no_error(void **state)
{
    struct mysql_conn *c = server_connect();
    struct err err = {.kind = ERR_FATAL};
    struct buf b = {0};

    (void)state;
    assert_false(mysql_conn_scalar(c, STR("SELECT 1 FROM DUAL WHERE FALSE"), &b, &err));
    assert_int_equal(err.kind, ERR_NONE);
    assert_int_equal(b.len, 0);
    mysql_conn_close(c);
}

static void a_wrong_statement_is_rejected_and_the_session_lives_on(void **state)
{
    struct mysql_conn *c = server_connect();
    struct err err = {0};
    struct buf b = {0};

    (void)state;
    assert_false(mysql_conn_exec(c, STR("SELEKT 1"), &err));
    assert_int_equal(err.kind, ERR_REJECT);
    assert_int_equal(err.code, 1064);
    assert_false(mysql_conn_exec(c, STR("SELECT 1; SELECT 2"), &err));
    assert_int_equal(err.code, 1064);
    /* The error comes after rows have been read. */
    assert_false(mysql_conn_exec(
        c, STR("SELECT seq, IF(seq = 900, (SELECT 1 UNION SELECT 2), 0) FROM numbers.n"),
        &err));
    assert_int_equal(err.code, 1242);
    server_scalar(c, "SELECT 1", &b);
    assert_string_equal(b.ptr, "1");
    mysql_conn_close(c);
    buf_free(&b);
}

static void a_client_file_is_never_sent(void **state)
{
    struct mysql_conn *c = server_connect();
    struct err err = {0};

    (void)state;
    server_database(c, "loading");
    server_exec(c, "CREATE TABLE loading.t (a TEXT)");
    assert_false(mysql_conn_exec(
        c, STR("LOAD DATA LOCAL INFILE '/etc/hostname' INTO TABLE loading.t"), &err));
    server_exec(c, "DROP DATABASE loading");
    mysql_conn_close(c);
}

static void procedures_with_several_results_work(void **state)
{
    struct mysql_conn *c = server_connect();
    struct buf b = {0};

    (void)state;
    server_database(c, "proc");
    server_exec(c, "CREATE TABLE proc.t (a INT PRIMARY KEY)");
    server_exec(c, "INSERT INTO proc.t VALUES (1), (2), (3)");
    server_exec(c, "CREATE PROCEDURE proc.p() BEGIN SELECT 1; SELECT a FROM proc.t; END");
    server_exec(c, "CALL proc.p()");
    server_scalar(c, "SELECT COUNT(*) FROM proc.t", &b);
    assert_string_equal(b.ptr, "3");
    server_exec(c, "DROP DATABASE proc");
    mysql_conn_close(c);
    buf_free(&b);
}

static void lock_waits_and_deadlocks_are_to_be_tried_again(void **state)
{
    struct mysql_conn *a = server_connect();
    struct mysql_conn *b = server_connect();
    struct err err = {0};

    (void)state;
    server_database(a, "locks");
    server_exec(a, "CREATE TABLE locks.t (a INT PRIMARY KEY) ENGINE=InnoDB");
    server_exec(a, "INSERT INTO locks.t VALUES (1)");
    server_exec(a, "START TRANSACTION");
    server_exec(a, "SELECT * FROM locks.t FOR UPDATE");
    server_exec(b, "SET SESSION innodb_lock_wait_timeout = 1");
    assert_false(mysql_conn_exec(b, STR("DELETE FROM locks.t"), &err));
    assert_int_equal(err.code, 1205);
    assert_int_equal(err.kind, ERR_RETRY);
    server_exec(a, "ROLLBACK");
    server_exec(a, "DROP DATABASE locks");
    mysql_conn_close(a);
    mysql_conn_close(b);
}

static void a_killed_session_is_to_be_tried_again_and_stays_closed(void **state)
{
    struct mysql_conn *c = server_connect();
    struct mysql_conn *killer = server_connect();
    struct err err = {0};
    struct buf b = {0}, kill = {0};

    (void)state;
    server_scalar(c, "SELECT CONNECTION_ID()", &b);
    buf_printf(&kill, "KILL %s", b.ptr);
    server_exec(killer, kill.ptr);
    for (int i = 0; i < 2; i++) {
        assert_false(mysql_conn_exec(c, STR("SELECT 1"), &err));
        assert_int_equal(err.kind, ERR_RETRY);
    }
    mysql_conn_close(c);
    mysql_conn_close(killer);
    buf_free(&b);
    buf_free(&kill);
}

static void *interrupt_soon(void *arg)
{
    nanosleep(&(struct timespec){.tv_nsec = 200000000}, NULL);
    mysql_conn_interrupt(arg);
    return NULL;
}

static void an_interrupt_wakes_a_waiting_statement(void **state)
{
    struct mysql_conn *c = server_connect();
    struct err err = {0};
    pthread_t thread;

    (void)state;
    assert_int_equal(pthread_create(&thread, NULL, interrupt_soon, c), 0);
    assert_false(mysql_conn_exec(c, STR("SELECT SLEEP(30)"), &err));
    assert_int_equal(err.kind, ERR_STOP);
    pthread_join(thread, NULL);
    assert_false(mysql_conn_exec(c, STR("SELECT 1"), &err));
    assert_int_equal(err.kind, ERR_STOP);
    mysql_conn_close(c);
}

static void *end_soon(void *arg)
{
    nanosleep(&(struct timespec){.tv_nsec = 200000000}, NULL);
    mysql_group_end(arg);
    return NULL;
}

static struct mysql_conn *open_in(struct mysql_group *g)
{
    struct mysql_options opt = server_options();
    struct mysql_conn *c = NULL;
    struct err err = {0};

    opt.group = g;
    if (!mysql_conn_open(&c, &opt, &err))
        assert_int_equal(err.kind, ERR_STOP);
    return c;
}

static void the_end_of_a_group_wakes_all_that_wait_in_it_and_lets_no_other_one_in(void **state)
{
    struct mysql_group *g = mysql_group_new();
    struct mysql_conn *gone = open_in(g), *waits = open_in(g), *idle = open_in(g),
                      *apart = open_in(NULL);
    struct err err = {0};
    pthread_t thread;

    (void)state;
    mysql_conn_close(gone);
    assert_int_equal(pthread_create(&thread, NULL, end_soon, g), 0);
    assert_false(mysql_conn_exec(waits, STR("SELECT SLEEP(30)"), &err));
    assert_int_equal(err.kind, ERR_STOP);
    pthread_join(thread, NULL);
    assert_false(mysql_conn_exec(idle, STR("SELECT 1"), &err));
    assert_int_equal(err.kind, ERR_STOP);
    assert_true(mysql_conn_exec(apart, STR("SELECT 1"), &err));
    assert_null(open_in(g));
    mysql_conn_close(waits);
    mysql_conn_close(idle);
    mysql_conn_close(apart);
    mysql_group_free(g);
}

static void silence_ends_at_the_read_timeout(void **state)
{
    struct mysql_options opt = server_options();
    struct mysql_conn *c = NULL;
    struct err err = {0};

    (void)state;
    opt.read_timeout_s = 1;
    assert_true(mysql_conn_open(&c, &opt, &err));
    assert_false(mysql_conn_exec(c, STR("SELECT SLEEP(30)"), &err));
    assert_int_equal(err.kind, ERR_RETRY);
    mysql_conn_close(c);
}

static void a_refused_login_says_where_and_what_to_do(void **state)
{
    struct mysql_conn *root = server_connect();
    struct mysql_options opt = server_options();

    (void)state;
    server_user(root, "BY 'right'");
    opt.user = "mill";
    opt.password = "wrong";
    refuse(&opt, ERR_REJECT, "check user and password");
    opt.password = "right";
    opt.database = "nowhere";
    refuse(&opt, ERR_REJECT, "as 'mill'");
    opt = server_options();
    opt.database = "nowhere";
    refuse(&opt, ERR_REJECT, "create the database");
    opt = server_options();
    opt.port = 1;
    refuse(&opt, ERR_RETRY, "check that the server runs");
    opt = server_options();
    opt.host = "no-such-host.invalid";
    refuse(&opt, ERR_RETRY, "check the host name");
    server_exec(root, "DROP USER mill@'127.0.0.1'");
    mysql_conn_close(root);
}

static void tls_is_verified(void **state)
{
    struct mysql_options opt = server_options();
    struct mysql_conn *c = NULL;
    struct err err = {0};
    struct buf ca = {0}, b = {0};

    (void)state;
    buf_printf(&ca, "%s/ca.pem", server_env("MYSQL_TEST_DIR"));
    opt.tls = (struct mysql_tls){.enabled = true, .verify = true, .ca_file = ca.ptr};
    if (!mysql_conn_open(&c, &opt, &err))
        fail_msg("%s", err.msg);
    struct mysql_result *r;
    struct mysql_row row;

    assert_true(mysql_conn_query(c, STR("SHOW STATUS LIKE 'Ssl_cipher'"), &r, &err));
    assert_int_equal(mysql_result_next(r, &row, &err), 1);
    assert_true(row.cells[1].len > 0);
    mysql_result_close(r);
    mysql_conn_close(c);

    /* A certificate that does not name the host, and one of an authority we do not know. */
    opt.host = "127.0.0.2";
    refuse(&opt, ERR_REJECT, "ca_file");
    opt = server_options();
    opt.tls = (struct mysql_tls){.enabled = true, .verify = true};
    refuse(&opt, ERR_REJECT, "ca_file");
    opt.tls.verify = false;
    assert_true(mysql_conn_open(&c, &opt, &err));
    mysql_conn_close(c);
    buf_free(&ca);
    buf_free(&b);
}

/* Each text comes back as it was, whatever the sql_mode. */
/* Over TCP without TLS (where caching_sha2_password encrypts by itself), with TLS, and
 * again. */
static void log_in(struct mysql_conn *root, const char *how)
{
    struct mysql_options opt = server_options();
    struct mysql_conn *c = NULL;
    struct err err;

    server_user(root, how);
    opt.user = "mill";
    opt.password = "se'cret";
    for (int i = 0; i < 4; i++) {
        opt.tls.enabled = i % 2 == 1;
        if (!mysql_conn_open(&c, &opt, &err))
            fail_msg("IDENTIFIED %s, TLS %d: %s", how, opt.tls.enabled, err.msg);
        mysql_conn_close(c);
    }
    server_exec(root, "DROP USER mill@'127.0.0.1'");
}

static void every_way_to_log_in_works(void **state)
{
    struct mysql_conn *root = server_connect();
    bool mariadb = mysql_conn_flavor(root) == FLAVOR_MARIADB;
    struct err err;

    (void)state;
    (void)err;
    if (mariadb) {
        log_in(root, "VIA mysql_native_password USING PASSWORD('se''cret')");
#ifdef HAVE_LIBMARIADB
        /* A plugin of the server that not every installation has; the other library has no
         * such. */
        if (mysql_conn_exec(root, STR("INSTALL SONAME 'auth_ed25519'"), &err))
            log_in(root, "VIA ed25519 USING PASSWORD('se''cret')");
        else if (getenv("MYSQL_TEST_ED25519") != NULL)
            fail_msg("%s", err.msg);
#endif
    } else {
        log_in(root, "WITH caching_sha2_password BY 'se''cret'");
        log_in(root, "WITH sha256_password BY 'se''cret'");
        if (mysql_conn_version(root) < 80400)
            log_in(root, "WITH mysql_native_password BY 'se''cret'");
    }
    mysql_conn_close(root);
}

static void quoted_texts_come_back_as_they_were(void **state)
{
    static const struct str texts[] = {
        STR(""),
        STR("plain"),
        STR("it's"),
        STR("''"),
        STR("back\\slash"),
        STR("\\' OR 1=1 -- "),
        STR("\0\n\r\x1a"),
        STR("caf\xc3\xa9 \xf0\x9f\x90\xac"),
        STR("\xff\xfe'"),
        STR("'"),
        STR("\xed\xa0\x80"),
    };
    static const char *modes[] = {"", "NO_BACKSLASH_ESCAPES", "ANSI_QUOTES"};
    struct mysql_conn *c = server_connect();
    struct err err = {0};
    struct buf sql = {0}, b = {0};

    (void)state;
    for (size_t m = 0; m < ARRAY_LEN(modes); m++) {
        buf_clear(&sql);
        buf_printf(&sql, "SET SESSION sql_mode = '%s'", modes[m]);
        server_exec(c, sql.ptr);
        for (size_t i = 0; i < ARRAY_LEN(texts); i++) {
            buf_clear(&sql);
            buf_append(&sql, STR("SELECT "));
            mysql_quote_text(&sql, texts[i]);
            buf_clear(&b);
            if (!mysql_conn_scalar(c, buf_str(&sql), &b, &err))
                fail_msg("%s: %s", sql.ptr, err.msg);
            assert_true(str_equal(buf_str(&b), texts[i]));
        }
    }
    mysql_conn_close(c);
    buf_free(&sql);
    buf_free(&b);
}

static void quoted_names_and_bytes_are_taken_as_such(void **state)
{
    struct mysql_conn *c = server_connect();
    struct err err = {0};
    struct buf sql = {0};
    struct mysql_result *r;

    (void)state;
    buf_append(&sql, STR("SELECT "));
    mysql_quote_bytes(&sql, STR("\0\xff"));
    buf_append(&sql, STR(" AS "));
    mysql_quote_name(&sql, STR("a`b"));
    assert_string_equal(sql.ptr, "SELECT x'00ff' AS `a``b`");
    assert_true(mysql_conn_query(c, buf_str(&sql), &r, &err));
    assert_true(str_equal(mysql_result_name(r, 0), STR("a`b")));
    mysql_result_close(r);
    mysql_conn_close(c);
    buf_free(&sql);
}

/* An odd text that is compared with a column stays a text: the index is used, case is
 * ignored. */
static void an_odd_text_still_compares_as_text(void **state)
{
    struct mysql_conn *c = server_connect();
    struct err err = {0};
    struct buf sql = {0}, b = {0};

    (void)state;
    server_database(c, "odd");
    server_exec(c, "CREATE TABLE odd.t (a VARCHAR(20) COLLATE utf8mb4_general_ci PRIMARY KEY)");
    server_exec(c, "INSERT INTO odd.t VALUES ('A\\\\B'), ('c')");
    buf_append(&sql, STR("SELECT a FROM odd.t WHERE a = "));
    mysql_quote_text(&sql, STR("a\\b"));
    assert_true(mysql_conn_scalar(c, buf_str(&sql), &b, &err));
    assert_string_equal(b.ptr, "A\\B");
    server_exec(c, "DROP DATABASE odd");
    mysql_conn_close(c);
    buf_free(&sql);
    buf_free(&b);
}

static int make_numbers(void **state)
{
    struct mysql_conn *c = server_connect();

    (void)state;
    server_database(c, "numbers");
    server_numbers(c, "numbers.n", 16);
    mysql_conn_close(c);
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_session_is_set_whatever_the_server_says),
        cmocka_unit_test(answers_do_not_come_from_the_servers_cache),
        cmocka_unit_test(a_subquery_that_asks_byte_by_byte_is_asked_for_each_row),
        cmocka_unit_test(rows_stream_with_nulls_and_zero_bytes),
        cmocka_unit_test(a_result_can_be_closed_early),
        cmocka_unit_test(a_scalar_without_a_row_is_no_error),
        cmocka_unit_test(a_wrong_statement_is_rejected_and_the_session_lives_on),
        cmocka_unit_test(a_client_file_is_never_sent),
        cmocka_unit_test(procedures_with_several_results_work),
        cmocka_unit_test(lock_waits_and_deadlocks_are_to_be_tried_again),
        cmocka_unit_test(a_killed_session_is_to_be_tried_again_and_stays_closed),
        cmocka_unit_test(an_interrupt_wakes_a_waiting_statement),
        cmocka_unit_test(the_end_of_a_group_wakes_all_that_wait_in_it_and_lets_no_other_one_in),
        cmocka_unit_test(silence_ends_at_the_read_timeout),
        cmocka_unit_test(a_refused_login_says_where_and_what_to_do),
        cmocka_unit_test(tls_is_verified),
        cmocka_unit_test(every_way_to_log_in_works),
        cmocka_unit_test(quoted_texts_come_back_as_they_were),
        cmocka_unit_test(quoted_names_and_bytes_are_taken_as_such),
        cmocka_unit_test(an_odd_text_still_compares_as_text),
    };
    return cmocka_run_group_tests_name("mysql", tests, make_numbers, NULL);
}
