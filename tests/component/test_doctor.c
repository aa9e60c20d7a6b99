#include "config.h"

#include "tests/component/server.h"

#include "rebalance/doctor/doctor.h"
#include "rebalance/doctor/mysql.h"
#include "src/base/arena.h"
#include "src/format/json.h"
#include "sync/server/server_info.h"

#include <stdlib.h>
#include <string.h>

/* test_doctor [no-log]: with no-log the server writes no binary log. */

static struct mysql_conn *root;
static struct arena *a;
static struct doctor_list list;

static const struct doctor_table orders[] = {{STR("doc"), STR("orders"), false, false}};

static int set_up(void **state)
{
    (void)state;
    root = server_connect();
    a = arena_new();
    doctor_init(&list, a);
    server_database(root, "doc");
    server_exec(root, "CREATE TABLE doc.orders (id INT PRIMARY KEY, a INT) ENGINE=InnoDB");
    server_user(root, "BY 'secret'");
    server_exec(root, "GRANT REPLICATION SLAVE ON *.* TO mill@'127.0.0.1'");
    server_exec(root, "GRANT REPLICATION CLIENT ON *.* TO mill@'127.0.0.1'");
    server_exec(root, "GRANT SELECT ON doc.* TO mill@'127.0.0.1'");
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    server_exec(root, "DROP DATABASE doc");
    server_exec(root, "DROP USER mill@'127.0.0.1'");
    arena_free(a);
    mysql_conn_close(root);
    return 0;
}

static void visit_with(const char *password, const struct doctor_table *tables, size_t n)
{
    struct mysql_options server = server_options();

    server.user = "mill";
    server.password = password;
    doctor_init(&list, a);
    (void)doctor_mysql(&list, &(struct doctor_mysql_options){.group = STR("topic shop"),
                                                             .server = &server,
                                                             .follows_log = true,
                                                             .server_id = 4713,
                                                             .tables = tables,
                                                             .n_tables = n});
}

static void visit(void)
{
    visit_with("secret", orders, 1);
}

static const struct doctor_check *find(const char *id)
{
    for (size_t i = 0; i < list.n; i++)
        if (str_equal(list.checks[i].id, str_from(id)))
            return &list.checks[i];
    fail_msg("no check %s", id);
    return NULL;
}

static void expect(const char *id, enum doctor_status status)
{
    const struct doctor_check *c = find(id);

    if (c->status != status)
        fail_msg("%s is %s: %s; %s; %s", id, doctor_status_name(c->status), c->message.ptr,
                 c->why.ptr, c->fix.ptr);
    if (status != DOCTOR_OK) {
        assert_true(c->message.len > 0);
        assert_true(c->why.len > 0);
        assert_true(c->fix.len > 0);
    }
}

/* All but the named one are well. */
static void only_trouble(const char *id)
{
    for (size_t i = 0; i < list.n; i++)
        if (id == NULL || !str_equal(list.checks[i].id, str_from(id)))
            if (list.checks[i].status != DOCTOR_OK)
                fail_msg("%s: %s", list.checks[i].id.ptr, list.checks[i].message.ptr);
}

/* What the doctor says heals, word for word. */
static void heal(const char *id)
{
    char *fix = strdup(find(id)->fix.ptr);

    for (char *save, *p = strtok_r(fix, ";", &save); p != NULL; p = strtok_r(NULL, ";", &save))
        if (strncmp(p, " then", 5) != 0)
            server_exec(root, p);
    free(fix);
    visit();
    expect(id, DOCTOR_OK);
}

static void a_healthy_server_has_no_findings(void **state)
{
    struct buf b = {0};
    struct json_writer w = {.out = &b};

    (void)state;
    visit();
    only_trouble(NULL);
    assert_int_equal(doctor_worst(&list), DOCTOR_OK);
    assert_true(list.n > 15);
    doctor_write(&list, &w);
    assert_non_null(strstr(b.ptr,
                           "{\"id\":\"mysql.reach\",\"code\":\"mysql.reach.ok\",\"values\":{},"
                           "\"group\":\"topic shop\",\"status\":\"ok\""));
    buf_free(&b);
}

static void a_wrong_password_is_one_clear_finding(void **state)
{
    (void)state;
    visit_with("wrong", orders, 1);
    assert_int_equal(list.n, 1);
    expect("mysql.reach", DOCTOR_FAIL);
    assert_non_null(strstr(find("mysql.reach")->message.ptr, "127.0.0.1:"));
    assert_non_null(strstr(find("mysql.reach")->fix.ptr, "password"));
}

static void missing_rights_come_with_the_grant_that_gives_them(void **state)
{
    (void)state;
    server_exec(root, "REVOKE REPLICATION SLAVE ON *.* FROM mill@'127.0.0.1'");
    visit();
    expect("mysql.grant_dump", DOCTOR_FAIL);
    only_trouble("mysql.grant_dump");
    heal("mysql.grant_dump");

    server_exec(root, "REVOKE REPLICATION CLIENT ON *.* FROM mill@'127.0.0.1'");
    visit();
    expect("mysql.grant_status", DOCTOR_FAIL);
    only_trouble("mysql.grant_status");
    heal("mysql.grant_status");

    server_exec(root, "REVOKE SELECT ON doc.* FROM mill@'127.0.0.1'");
    visit();
    expect("mysql.table_read", DOCTOR_FAIL);
    only_trouble("mysql.table_read");
    heal("mysql.table_read");
}

/* False: this variable is of the other family. */
static bool set_global(const char *variable, const char *value)
{
    char sql[128];
    struct err err;

    snprintf(sql, sizeof(sql), "SET GLOBAL %s = %s", variable, value);
    if (mysql_conn_exec(root, str_from(sql), &err))
        return true;
    assert_int_equal(err.code, 1193);
    return false;
}

static void settings_that_hide_changes_come_with_the_statement_that_mends_them(void **state)
{
    static const struct {
        const char *id, *variable, *value;
        enum doctor_status status;
    } cases[] = {
        {"mysql.binlog_format", "binlog_format", "STATEMENT", DOCTOR_FAIL},
        {"mysql.binlog_format", "binlog_format", "MIXED", DOCTOR_FAIL},
        {"mysql.binlog_row_image", "binlog_row_image", "MINIMAL", DOCTOR_WARN},
        {"mysql.binlog_row_image", "binlog_row_image", "NOBLOB", DOCTOR_WARN},
        {"mysql.binlog_row_metadata", "binlog_row_metadata", "MINIMAL", DOCTOR_WARN},
        {"mysql.retention", "binlog_expire_logs_seconds", "3600", DOCTOR_WARN},
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        if (!set_global(cases[i].variable, cases[i].value))
            continue;
        visit();
        expect(cases[i].id, cases[i].status);
        only_trouble(cases[i].id);
        heal(cases[i].id);
    }
    if (mysql_conn_flavor(root) == FLAVOR_MYSQL)
        server_exec(root, "RESET PERSIST");
    else
        server_exec(root, "SET GLOBAL binlog_expire_logs_seconds = 0");
}

static void settings_of_the_log_that_are_read_are_no_trouble(void **state)
{
    static const struct {
        const char *variable, *value, *otherwise;
    } cases[] = {
        {"binlog_row_value_options", "PARTIAL_JSON", "''"},
        {"binlog_transaction_compression", "ON", "OFF"},
        {"log_bin_compress", "ON", "OFF"},
    };
    size_t tried = 0;

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        if (!set_global(cases[i].variable, cases[i].value))
            continue;
        visit();
        assert_int_equal(doctor_worst(&list), DOCTOR_OK);
        assert_true(set_global(cases[i].variable, cases[i].otherwise));
        tried++;
    }
    assert_true(tried > 0);
}

/* The check of the log from this file on; NULL: none. */
static const struct doctor_check *visit_from(const char *file, uint64_t offset)
{
    struct mysql_options server = server_options();

    doctor_init(&list, a);
    (void)doctor_mysql(&list, &(struct doctor_mysql_options){.group = STR("topic shop"),
                                                             .server = &server,
                                                             .follows_log = true,
                                                             .file = str_from(file),
                                                             .offset = offset});
    for (size_t i = 0; i < list.n; i++)
        if (str_equal(list.checks[i].id, STR("mysql.log_kept")))
            return &list.checks[i];
    return NULL;
}

static void a_log_that_the_server_may_not_keep_is_worth_a_warning(void **state)
{
    struct log_end end;
    struct err err;

    (void)state;
    server_exec(root, "FLUSH BINARY LOGS");
    assert_true(server_log_end(root, &end, &err));
    assert_int_equal(visit_from(end.file, end.offset)->status, DOCTOR_OK);
    assert_int_equal(visit_from(end.file, end.offset + 1000000)->status, DOCTOR_WARN);
    assert_int_equal(visit_from("binlog.999999", 4)->status, DOCTOR_WARN);
    assert_null(visit_from("", 0));
    if (set_global("max_binlog_total_size", "1048576")) {
        server_exec(root, "CREATE TABLE doc.filler AS SELECT REPEAT('x', 700000) AS t");
        assert_int_equal(visit_from(end.file, end.offset)->status, DOCTOR_WARN);
        server_exec(root, "DROP TABLE doc.filler");
        assert_true(set_global("max_binlog_total_size", "0"));
    }
    free(end.gtids);
}

static void missing_gtids_are_worth_a_warning(void **state)
{
    (void)state;
    if (mysql_conn_flavor(root) == FLAVOR_MARIADB)
        return;
    server_exec(root, "SET GLOBAL gtid_mode = ON_PERMISSIVE");
    server_exec(root, "SET GLOBAL gtid_mode = OFF_PERMISSIVE");
    visit();
    expect("mysql.gtid", DOCTOR_WARN);
    only_trouble("mysql.gtid");
    heal("mysql.gtid");
    server_exec(root, "RESET PERSIST");
}

static void a_server_id_that_is_taken_is_found(void **state)
{
    struct mysql_options server = server_options();

    (void)state;
    (void)doctor_mysql(&list, &(struct doctor_mysql_options){.group = STR("topic shop"),
                                                             .server = &server,
                                                             .follows_log = true,
                                                             .server_id = 1});
    expect("mysql.server_id", DOCTOR_FAIL);
}

/* A table that is not as it should be, what is found, and whether the fix can be run here. */
static void a_bad_table(const char *create, const char *id, enum doctor_status status)
{
    server_exec(root, "SET foreign_key_checks = 0");
    server_exec(root, "DROP TABLE doc.orders");
    server_exec(root, "SET foreign_key_checks = 1");
    server_exec(root, create);
    visit();
    expect(id, status);
    only_trouble(id);
}

static void tables_that_cannot_be_followed_come_with_a_way_out(void **state)
{
    (void)state;
    a_bad_table("CREATE TABLE doc.orders (a INT) ENGINE=InnoDB", "mysql.table_key",
                DOCTOR_FAIL);
    heal("mysql.table_key");
    a_bad_table(
        "CREATE TABLE doc.orders (a INT NOT NULL, b INT, c INT NOT NULL, d INT NOT NULL,"
        " UNIQUE (a, b), UNIQUE (c, d)) ENGINE=InnoDB",
        "mysql.table_key", DOCTOR_FAIL);
    assert_non_null(strstr(find("mysql.table_key")->fix.ptr, "key: [c, d]"));
    visit_with("secret", (struct doctor_table[]){{STR("doc"), STR("orders"), true, false}}, 1);
    expect("mysql.table_key", DOCTOR_OK);
    a_bad_table("CREATE TABLE doc.orders (id INT PRIMARY KEY) ENGINE=MyISAM",
                "mysql.table_engine", DOCTOR_WARN);
    heal("mysql.table_engine");
}

static void a_view_and_a_table_that_is_not_there_are_told_apart(void **state)
{
    (void)state;
    server_exec(root, "CREATE VIEW doc.seen AS SELECT * FROM doc.orders");
    visit_with("secret", (struct doctor_table[]){{STR("doc"), STR("seen"), false, false}}, 1);
    expect("mysql.table_engine", DOCTOR_FAIL);
    visit_with("secret", (struct doctor_table[]){{STR("doc"), STR("seen"), true, true}}, 1);
    expect("mysql.table_engine", DOCTOR_OK);
    visit_with("secret", (struct doctor_table[]){{STR("doc"), STR("missing"), false, false}},
               1);
    expect("mysql.table_read", DOCTOR_FAIL);
    assert_non_null(strstr(find("mysql.table_read")->message.ptr, "does not exist"));
}

static void a_server_without_a_log_is_refused(void **state)
{
    (void)state;
    visit();
    expect("mysql.log_bin", DOCTOR_FAIL);
    only_trouble("mysql.log_bin");
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        TEST(a_healthy_server_has_no_findings),
        TEST(a_wrong_password_is_one_clear_finding),
        TEST(missing_rights_come_with_the_grant_that_gives_them),
        TEST(settings_that_hide_changes_come_with_the_statement_that_mends_them),
        TEST(settings_of_the_log_that_are_read_are_no_trouble),
        TEST(a_log_that_the_server_may_not_keep_is_worth_a_warning),
        TEST(missing_gtids_are_worth_a_warning),
        TEST(a_server_id_that_is_taken_is_found),
        TEST(tables_that_cannot_be_followed_come_with_a_way_out),
        TEST(a_view_and_a_table_that_is_not_there_are_told_apart),
    };
    const struct CMUnitTest no_log[] = {
        TEST(a_server_without_a_log_is_refused),
    };

    if (argc > 1 && strcmp(argv[1], "no-log") == 0)
        return cmocka_run_group_tests_name("doctor_no_log", no_log, NULL, NULL);
    return cmocka_run_group_tests_name("doctor", tests, NULL, NULL);
}
