#include "config.h"

#include "tests/unit/log_steps.h"

static void what_could_carry_rows_and_is_not_understood_is_refused(void **state)
{
    static const struct {
        uint8_t type;
        const char *hex, *word;
    } cases[] = {
        {EVENT_INCIDENT, "0100046c6f7374", "lost"},
        {EVENT_EXECUTE_LOAD_QUERY, "00", "LOAD DATA"},
        {EVENT_BEGIN_LOAD_QUERY, "00", "LOAD DATA"},
        {EVENT_WRITE_ROWS, "0500000000000100020002ff", "no Table_map event announced"},
        {99, "00", "99"},
        {EVENT_START_V3, "00", "5.0"},
        {EVENT_XA_PREPARE, "0001", "XA_prepare"},
        {EVENT_TRANSACTION_PAYLOAD, "0201050000", "compression 5"},
        {EVENT_TABLE_MAP, "05", "Table_map"},
        {EVENT_GTID, "05", "Gtid"},
        {EVENT_QUERY, "05", "Query"},
        {EVENT_PREVIOUS_GTIDS, "05", "Previous_gtids"},
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct test_log log;

        log_start(&log, "8.0.40", true);
        log_hex(&log, cases[i].type, cases[i].hex);
        check_refused(&log, cases[i].word);
    }
}

static void an_unknown_event_that_may_be_ignored_is(void **state)
{
    struct test_log log;

    (void)state;
    log_start(&log, "8.0.40", true);
    log.flags = EVENT_FLAG_IGNORABLE;
    log_hex(&log, 100, "00");
    log_hex(&log, EVENT_ROWS_QUERY, "00");
    check(&log, "f..", "");
}

static void printing_logs_goes_on_where_following_stops(void **state)
{
    struct test_log log;
    struct reading g;

    (void)state;
    log_start(&log, "8.0.40", true);
    log_query(&log, "d", "BEGIN");
    log_query(&log, "d", "UPDATE t SET a = 1");
    log_hex(&log, EVENT_INCIDENT, "0100046c6f7374");
    log_hex(&log, EVENT_EXECUTE_LOAD_QUERY, "00");
    log_xid(&log);
    start(&g, true);
    assert_true(feed_all(&g, &log));
    assert_string_equal(g.steps.ptr, "f(BD..C)");
    finish(&g);
    log_free(&log);
}

static void a_log_without_its_format_is_refused(void **state)
{
    struct test_log log;
    struct reading g;

    (void)state;
    log_start(&log, "8.0.40", true);
    log_xid(&log);
    start(&g, false);
    assert_false(feed(&g, log_raw(&log, 1)));
    assert_non_null(strstr(g.err.msg, "Format_desc"));
    finish(&g);
    log_free(&log);
}

/* Rows that end their statement, of a table of two columns: up to the bitmap. */
#define ROWS_V1        \
    "0500000000000100" \
    "02ff"
#define ROWS_V2        \
    "0500000000000100" \
    "0200"             \
    "02ff"

/* What a follower makes of each type of event: the steps, or a word of why it is refused. */
static const struct meaning {
    const char *hex, *steps, *refused;
} meanings[256] = {
    [EVENT_START_V3] = {"00", .refused = "before 5.0"},
    [EVENT_QUERY] = {"010000000000000001000000006400424547494e", "(B"},
    [EVENT_STOP] = {"", "."},
    [EVENT_ROTATE] = {"040000000000000062696e2e303030303032", "r"},
    [EVENT_INTVAR] = {"020100000000000000", "."},
    [EVENT_LOAD] = {"00", .refused = "LOAD DATA"},
    [EVENT_SLAVE] = {"00", .refused = "unknown event type 7"},
    [EVENT_CREATE_FILE] = {"00", .refused = "LOAD DATA"},
    [EVENT_APPEND_BLOCK] = {"00", .refused = "LOAD DATA"},
    [EVENT_EXEC_LOAD] = {"00", .refused = "LOAD DATA"},
    [EVENT_DELETE_FILE] = {"00", .refused = "LOAD DATA"},
    [EVENT_NEW_LOAD] = {"00", .refused = "LOAD DATA"},
    [EVENT_RAND] = {"00000000000000000000000000000000", "."},
    [EVENT_USER_VAR] = {"01000000610101", "."},
    [EVENT_FORMAT_DESCRIPTION] = {NULL, ""}, /* each log begins with one */
    [EVENT_XID] = {"6300000000000000", "C)"},
    [EVENT_BEGIN_LOAD_QUERY] = {"00", .refused = "LOAD DATA"},
    [EVENT_EXECUTE_LOAD_QUERY] = {"00", .refused = "LOAD DATA"},
    [EVENT_TABLE_MAP] = {"05000000000001000164000174000103000000", "."},
    [EVENT_PRE_GA_WRITE_ROWS] = {ROWS_V1, "(R)"},
    [EVENT_PRE_GA_UPDATE_ROWS] = {ROWS_V1 "ff", "(R)"},
    [EVENT_PRE_GA_DELETE_ROWS] = {ROWS_V1, "(R)"},
    [EVENT_WRITE_ROWS_V1] = {ROWS_V1, "(R)"},
    [EVENT_UPDATE_ROWS_V1] = {ROWS_V1 "ff", "(R)"},
    [EVENT_DELETE_ROWS_V1] = {ROWS_V1, "(R)"},
    [EVENT_INCIDENT] = {"0100046c6f7374", .refused = "lost"},
    [EVENT_HEARTBEAT] = {"62696e2e303030303031", "h"},
    [EVENT_IGNORABLE] = {"00", "."},
    [EVENT_ROWS_QUERY] = {"0153454c454354", "."},
    [EVENT_WRITE_ROWS] = {ROWS_V2, "(R)"},
    [EVENT_UPDATE_ROWS] = {ROWS_V2 "ff", "(R)"},
    [EVENT_DELETE_ROWS] = {ROWS_V2, "(R)"},
    [EVENT_GTID] = {"003e11fa4771ca11e19e33c80aa94295620500000000000000", "(B"},
    [EVENT_ANONYMOUS_GTID] = {"00000000000000000000000000000000000000000000000000", "(B"},
    [EVENT_PREVIOUS_GTIDS] = {"0000000000000000", "g"},
    [EVENT_TRANSACTION_CONTEXT] = {"00", "."},
    [EVENT_VIEW_CHANGE] = {"00", "."},
    [EVENT_XA_PREPARE] = {"0001000000010000000000000067", "p)"},
    [EVENT_PARTIAL_UPDATE_ROWS] = {ROWS_V2 "ff", "(R)"},
    [EVENT_TRANSACTION_PAYLOAD] = {"0203fcff0000", "."}, /* nothing in it */
    [EVENT_HEARTBEAT_V2] = {"00", "h"},
    [EVENT_GTID_TAGGED] =
        {"027800000002aaee25020804650222c503c502e1029cc10311035502dead03040c060a6d7974616708"
         "000a040c7f1cf3b814244a0610a10412430f0b",
         "(B"},
    [EVENT_ANNOTATE_ROWS] = {"53454c454354", "."},
    [EVENT_BINLOG_CHECKPOINT] = {"0a00000062696e2e303030303031", "."},
    [EVENT_MARIADB_GTID] = {"64000000000000000300000000000000000000", "(B"},
    [EVENT_GTID_LIST] = {"00000000", "g"},
    [EVENT_START_ENCRYPTION] = {"01010000000000", "."}, /* a dump is decrypted */
    [EVENT_QUERY_COMPRESSED] = {"010000000000000001000000006400"
                                "8105"
                                "789c737275f7f4030004180166",
                                "(B"},
    [EVENT_WRITE_ROWS_COMPRESSED_V1] = {ROWS_V1, "(R)"},
    [EVENT_UPDATE_ROWS_COMPRESSED_V1] = {ROWS_V1 "ff", "(R)"},
    [EVENT_DELETE_ROWS_COMPRESSED_V1] = {ROWS_V1, "(R)"},
    [EVENT_WRITE_ROWS_COMPRESSED] = {ROWS_V2, "(R)"},
    [EVENT_UPDATE_ROWS_COMPRESSED] = {ROWS_V2 "ff", "(R)"},
    [EVENT_DELETE_ROWS_COMPRESSED] = {ROWS_V2, "(R)"},
};

static void check_meaning(uint8_t type, const struct meaning *m)
{
    struct test_log log;
    struct reading g;

    log_start(&log, "8.0.40", true);
    log_table_map(&log, 5, "t", "");
    log_hex(&log, type, m->hex);
    start(&g, false);

    const bool ok = feed_all(&g, &log);

    if (m->refused != NULL) {
        assert_false(ok);
        assert_int_equal(g.err.kind, ERR_FATAL);
        if (strstr(g.err.msg, m->refused) == NULL ||
            strstr(g.err.msg, event_name(type)) == NULL)
            fail_msg("%s: \"%s\"", event_name(type), g.err.msg);
    } else if (!ok || strncmp(g.steps.ptr, "f.", 2) != 0 ||
               strcmp(g.steps.ptr + 2, m->steps) != 0) {
        fail_msg("%s: %s %s", event_name(type), g.steps.ptr, g.err.msg);
    }
    finish(&g);
    log_free(&log);
}

static void every_type_of_event_has_its_meaning(void **state)
{
#define TYPE(name, number, text) number,
    static const uint8_t types[] = {EVENT_TYPES(TYPE)};
#undef TYPE

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(types); i++) {
        const struct meaning *m = &meanings[types[i]];

        if (m->steps == NULL && m->refused == NULL)
            fail_msg("nothing is said of %s", event_name(types[i]));
        if (m->hex != NULL)
            check_meaning(types[i], m);
    }
    for (unsigned type = 0; type < 256; type++) {
        const struct meaning unknown = {"00",
                                        .refused = "without the mark that it may be ignored"};

        if (meanings[type].steps == NULL && meanings[type].refused == NULL)
            check_meaning((uint8_t)type, &unknown);
    }
}

static void a_file_that_the_server_encrypted_is_refused(void **state)
{
    const struct log_reader_options opt = {.file = true, .start = {STR("bin.000001"), 4}};
    struct test_log log;
    struct reading g = {.r = log_reader_new(&opt)};

    (void)state;
    log_start(&log, "10.11.6-MariaDB", true);
    log_hex(&log, EVENT_START_ENCRYPTION, "01010000000000");
    assert_false(feed_all(&g, &log));
    assert_non_null(strstr(g.err.msg, "encrypted"));
    assert_non_null(strstr(g.err.msg, "--topic"));
    finish(&g);
    log_free(&log);
}

/* Nothing of the map but its names is read, and of the rows nothing but the table's number. */
static void a_broken_table_that_is_not_wanted_does_no_harm(void **state)
{
    struct test_log log;

    (void)state;
    log_start(&log, "8.0.40", true);
    log_gtid(&log, 1);
    log_query(&log, "d", "BEGIN");
    /* d.unwanted: a column of type 0x99, and a count of columns without columns */
    log_hex(&log, EVENT_TABLE_MAP,
            "060000000000"
            "0100"
            "016400"
            "08756e77616e74656400"
            "0199");
    log_hex(&log, EVENT_TABLE_MAP,
            "070000000000"
            "0100"
            "016400"
            "08756e77616e74656400"
            "ff");
    log_table_map(&log, 5, "t", "");
    log_hex(&log, EVENT_WRITE_ROWS,
            "060000000000"
            "0000"
            "0200"
            "ffff");
    log_hex(&log, EVENT_PARTIAL_UPDATE_ROWS,
            "070000000000"
            "0000"
            "0200");
    log_hex(&log, EVENT_WRITE_ROWS_COMPRESSED_V1,
            "060000000000"
            "0000"
            "01ff"
            "81");
    log_rows(&log, EVENT_WRITE_ROWS, 5, true, "ff00010000000161");
    log_xid(&log);
    check(&log, "f(B....uuuRC)", ZERO_UUID ":1");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_could_carry_rows_and_is_not_understood_is_refused),
        cmocka_unit_test(an_unknown_event_that_may_be_ignored_is),
        cmocka_unit_test(printing_logs_goes_on_where_following_stops),
        cmocka_unit_test(a_log_without_its_format_is_refused),
        cmocka_unit_test(every_type_of_event_has_its_meaning),
        cmocka_unit_test(a_file_that_the_server_encrypted_is_refused),
        cmocka_unit_test(a_broken_table_that_is_not_wanted_does_no_harm),
    };
    return cmocka_run_group_tests_name("event_meaning", tests, NULL, NULL);
}
