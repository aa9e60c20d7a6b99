#include "config.h"

#include "sync/position/gtid_set.h"
#include "tests/unit/events.h"

static struct event_format format_of(const char *server, bool checksums)
{
    struct event_format f;
    struct err err = {0};
    struct buf body = {0};

    format_body(&body, server, checksums);
    put_le(&body, 0, 4);
    if (!event_format_parse(buf_str(&body), &f, &err))
        fail_msg("%s", err.msg);
    buf_free(&body);
    return f;
}

static void a_format_says_who_wrote_the_log_and_how(void **state)
{
    const struct event_format mysql = format_of("8.0.40", true);
    const struct event_format maria = format_of("10.11.6-MariaDB-log", false);

    (void)state;
    assert_false(mysql.mariadb);
    assert_true(mysql.checksums);
    assert_true(maria.mariadb);
    assert_false(maria.checksums);
    assert_string_equal(maria.server, "10.11.6-MariaDB-log");
    assert_int_equal(mysql.n_types, 171);
    assert_int_equal(mysql.post_header_len[EVENT_QUERY - 1], 13);
}

static void a_format_that_cannot_be_followed_is_refused(void **state)
{
    struct event_format f;
    struct buf body = {0};

    (void)state;
    format_body(&body, "8.0.40", true);
    put_le(&body, 0, 4);
    for (size_t n = 0; n < 62; n++) {
        struct err err = {0};

        assert_false(event_format_parse((struct str){body.ptr, n}, &f, &err));
    }

    struct err err = {0};

    body.ptr[0] = 3;
    assert_false(event_format_parse(buf_str(&body), &f, &err));
    assert_non_null(strstr(err.msg, "version 3"));
    body.ptr[0] = 4;
    body.ptr[body.len - 5] = 2;
    assert_false(event_format_parse(buf_str(&body), &f, &err));
    assert_non_null(strstr(err.msg, "checksum"));
    buf_free(&body);
}

static void alphas_of_mysql_5_numbered_their_events_otherwise(void **state)
{
    struct event_format f;
    struct buf body = {0};
    struct err err = {0};
    char name[50] = "5.1.1-a_drop5p3-debug";

    (void)state;
    put_le(&body, 4, 2);
    buf_append(&body, (struct str){name, 50});
    put_le(&body, 0, 4);
    put_le(&body, 19, 1);
    for (unsigned i = 1; i <= 22; i++)
        put_le(&body, i, 1);
    assert_true(event_format_parse(buf_str(&body), &f, &err));
    assert_int_equal(event_format_type(&f, 16), EVENT_TABLE_MAP);
    assert_int_equal(event_format_type(&f, 20), EVENT_XID);
    assert_int_equal(event_format_type(&f, 2), EVENT_QUERY);
    assert_int_equal(f.post_header_len[EVENT_TABLE_MAP - 1], 16);
    buf_free(&body);
}

static void a_query_has_database_text_and_character_set(void **state)
{
    const struct event_format f = format_of("8.0.40", false);
    struct event_query q;
    struct buf body = {0};
    struct err err = {0};
    const struct str b = unhex(&body, "0100000002000000"
                                      "020000"
                                      "1a00"
                                      "0000000000"         /* flags2 */
                                      "010400100000000000" /* sql_mode */
                                      "0603737464"         /* catalog */
                                      "04210021000800"     /* character sets */
                                      "6462"
                                      "00"
                                      "53454c4543542031");

    (void)state;
    assert_true(event_query_parse(&f, b, &q, &err));
    assert_true(str_equal(q.database, STR("db")));
    assert_true(str_equal(q.sql, STR("SELECT 1")));
    assert_int_equal(q.collation, 33);
    assert_int_equal(q.sql_mode, SQL_MODE_ANSI_QUOTES | SQL_MODE_NO_BACKSLASH_ESCAPES);
    for (size_t n = 0; n < 42; n++)
        assert_false(event_query_parse(&f, (struct str){b.ptr, n}, &q, &err));
    buf_free(&body);
}

static void check_gtid(uint8_t type, const char *hex, const char *text, uint64_t commit_us)
{
    struct event e = {.type = type, .server_id = 7};
    struct event_gtid g;
    struct buf body = {0}, out = {0};
    struct err err = {0};

    e.body = unhex(&body, hex);
    if (!event_gtid_parse(&e, &g, &err))
        fail_msg("%s", err.msg);
    buf_append(&out, STR(""));
    gtid_format(&out, &g.gtid);
    assert_string_equal(out.ptr, text);
    assert_int_equal(g.commit_us, commit_us);
    buf_free(&body);
    buf_free(&out);
}

static void gtids_of_all_kinds_are_read(void **state)
{
    (void)state;
    check_gtid(EVENT_GTID,
               "003e11fa4771ca11e19e33c80aa94295620500000000000000"
               "0201000000000000000200000000000000"
               "40420f00000000",
               "3e11fa47-71ca-11e1-9e33-c80aa9429562:5", 1000000);
    check_gtid(EVENT_GTID,
               "003e11fa4771ca11e19e33c80aa94295620500000000000000"
               "0201000000000000000200000000000000"
               "40420f000000802a000000000000",
               "3e11fa47-71ca-11e1-9e33-c80aa9429562:5", 42);
    check_gtid(EVENT_GTID, "003e11fa4771ca11e19e33c80aa94295620500000000000000",
               "3e11fa47-71ca-11e1-9e33-c80aa9429562:5", 0);
    check_gtid(EVENT_ANONYMOUS_GTID, "00000000000000000000000000000000000000000000000000", "",
               0);
    check_gtid(EVENT_MARIADB_GTID,
               "6400000000000000"
               "03000000"
               "00"
               "000000000000",
               "3-7-100", 0);
}

/* From a server 9.6, binlog_transaction_with_GTID_TAG.000001 of rust_mysql_common. */
static void a_tagged_gtid_is_read(void **state)
{
    (void)state;
    check_gtid(
        EVENT_GTID_TAGGED,
        "027800000002aaee25020804650222c503c502e1029cc10311035502dead03040c060a6d7974616708"
        "000a040c7f1cf3b814244a0610a10412430f0b",
        "55778904-0299-11f1-b1b8-4ef0c4956feb:mytag:3", 1770368687207196);
}

static void mariadbs_flags_are_told_apart(void **state)
{
    struct event e = {.type = EVENT_MARIADB_GTID};
    struct event_gtid g;
    struct buf body = {0};
    struct err err = {0};

    (void)state;
    e.body = unhex(&body, "0100000000000000"
                          "00000000"
                          "21"
                          "000000000000");
    assert_true(event_gtid_parse(&e, &g, &err));
    assert_true(g.standalone && g.ddl && !g.xa_prepare);
    /* a group commit id, then an XA id, then flags */
    e.body = unhex(&body, "0100000000000000"
                          "00000000"
                          "42"
                          "0900000000000000"
                          "01000000"
                          "01"
                          "02"
                          "67"
                          "6262"
                          "02");
    assert_true(event_gtid_parse(&e, &g, &err));
    assert_true(g.xa_prepare && !g.standalone && g.start_alter);
    assert_true(str_equal(g.xa.gtrid, STR("g")));
    assert_true(str_equal(g.xa.bqual, STR("bb")));
    e.body.len = 20;
    assert_false(event_gtid_parse(&e, &g, &err));
    buf_free(&body);
}

static void sets_of_gtids_are_read(void **state)
{
    struct event e = {.type = EVENT_GTID_LIST};
    struct gtid_set *set;
    struct buf body = {0}, text = {0};
    struct err err = {0};

    (void)state;
    e.body = unhex(&body, "02000000"
                          "00000000"
                          "01000000"
                          "0500000000000000"
                          "02000000"
                          "03000000"
                          "0700000000000000");
    assert_true(event_gtid_set_parse(&e, &set, &err));
    gtid_set_format(&text, set);
    assert_string_equal(text.ptr, "0-1-5,2-3-7");
    gtid_set_free(set);
    e.body.len--;
    assert_false(event_gtid_set_parse(&e, &set, &err));
    buf_free(&body);
    buf_free(&text);
}

static void xa_incident_and_rotate_are_read(void **state)
{
    struct event_xa xa;
    struct event_incident incident;
    struct event_rotate rotate;
    struct buf body = {0}, text = {0};
    struct err err = {0};

    (void)state;
    assert_true(event_xa_parse(unhex(&body, "0001000000"
                                            "01000000"
                                            "02000000"
                                            "676262"),
                               &xa, &err));
    event_xa_format(&text, &xa);
    assert_string_equal(text.ptr, "X'67',X'6262',1");
    assert_false(event_xa_parse(unhex(&body, "0001000000"
                                             "01000000"
                                             "ffffffff"
                                             "676262"),
                                &xa, &err));
    assert_true(event_incident_parse(unhex(&body, "0100"
                                                  "03"
                                                  "6f6f70"),
                                     &incident, &err));
    assert_int_equal(incident.code, 1);
    assert_true(str_equal(incident.message, STR("oop")));
    assert_true(event_rotate_parse(unhex(&body, "0400000000000000"
                                                "622e31"),
                                   &rotate, &err));
    assert_int_equal(rotate.offset, 4);
    assert_true(str_equal(rotate.file, STR("b.1")));
    assert_false(event_rotate_parse(unhex(&body, "0400000000000000"), &rotate, &err));
    buf_free(&body);
    buf_free(&text);
}

static void the_head_of_a_rows_event_follows_the_format(void **state)
{
    const struct event_format f = format_of("8.0.40", false);
    struct event_rows rows;
    struct buf body = {0};
    struct err err = {0};

    (void)state;
    assert_true(event_rows_parse(&f, EVENT_WRITE_ROWS_V1,
                                 unhex(&body, "2a0000000000"
                                              "0100"
                                              "aabb"),
                                 &rows, &err));
    assert_int_equal(rows.table_id, 42);
    assert_int_equal(rows.flags, ROWS_STMT_END);
    assert_int_equal(rows.rest.len, 2);
    assert_int_equal(rows.op, ROW_INSERT);
    /* extra data of partitions and NDB is passed over */
    assert_true(event_rows_parse(&f, EVENT_UPDATE_ROWS,
                                 unhex(&body, "2a0000000000"
                                              "0000"
                                              "0500"
                                              "010000"
                                              "aabb"),
                                 &rows, &err));
    assert_int_equal(rows.rest.len, 2);
    assert_int_equal(rows.op, ROW_UPDATE);
    assert_false(event_rows_parse(&f, EVENT_UPDATE_ROWS,
                                  unhex(&body, "2a0000000000"
                                               "0000"
                                               "0100"
                                               "aabb"),
                                  &rows, &err));
    assert_false(event_rows_parse(&f, EVENT_UPDATE_ROWS,
                                  unhex(&body, "2a0000000000"
                                               "0000"
                                               "ff00"),
                                  &rows, &err));
    assert_true(event_has_rows(EVENT_DELETE_ROWS_COMPRESSED));
    assert_false(event_has_rows(EVENT_TABLE_MAP));
    assert_string_equal(event_name(200), "Unknown");
    buf_free(&body);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_format_says_who_wrote_the_log_and_how),
        cmocka_unit_test(a_format_that_cannot_be_followed_is_refused),
        cmocka_unit_test(alphas_of_mysql_5_numbered_their_events_otherwise),
        cmocka_unit_test(a_query_has_database_text_and_character_set),
        cmocka_unit_test(gtids_of_all_kinds_are_read),
        cmocka_unit_test(a_tagged_gtid_is_read),
        cmocka_unit_test(mariadbs_flags_are_told_apart),
        cmocka_unit_test(sets_of_gtids_are_read),
        cmocka_unit_test(xa_incident_and_rotate_are_read),
        cmocka_unit_test(the_head_of_a_rows_event_follows_the_format),
    };
    return cmocka_run_group_tests_name("event", tests, NULL, NULL);
}
