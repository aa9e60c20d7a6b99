#include "config.h"

#include "tests/unit/events.h"

#include "sync/binlog/gtid_set.h"
#include "sync/binlog/transaction.h"

#include <zstd.h>

/* A letter for each step: f format, r rotate, g gtid set, B begin, R rows, u unwanted, C
 * commit, X rollback, S savepoint, T rollback to, D statement, P C R with x for XA; . nothing.
 * ( where a transaction begins, ) where it ends. */
static char letter(const struct step *s)
{
    static const char letters[] = {
        [STEP_NOTHING] = '.',     [STEP_HEARTBEAT] = 'h',     [STEP_FORMAT] = 'f',
        [STEP_ROTATE] = 'r',      [STEP_GTIDS] = 'g',         [STEP_BEGIN] = 'B',
        [STEP_ROWS] = 'R',        [STEP_ROWS_UNWANTED] = 'u', [STEP_COMMIT] = 'C',
        [STEP_ROLLBACK] = 'X',    [STEP_SAVEPOINT] = 'S',     [STEP_ROLLBACK_TO] = 'T',
        [STEP_STATEMENT] = 'D',   [STEP_XA_PREPARE] = 'p',    [STEP_XA_COMMIT] = 'c',
        [STEP_XA_ROLLBACK] = 'x',
    };

    return letters[s->kind];
}

static bool want(void *ctx, struct str database, struct str table, struct schema **schema)
{
    (void)ctx;
    (void)database;
    (void)schema;
    return !str_equal(table, STR("unwanted"));
}

struct reading {
    struct log_reader *r;
    struct buf steps;
    struct err err;
};

static void start(struct reading *g, bool lenient)
{
    const struct log_reader_options opt = {
        .want = want, .start = {STR("bin.000001"), 4}, .lenient = lenient};

    *g = (struct reading){.r = log_reader_new(&opt)};
    buf_append(&g->steps, STR(""));
}

static void finish(struct reading *g)
{
    log_reader_free(g->r);
    buf_free(&g->steps);
}

static bool feed(struct reading *g, struct str raw)
{
    struct step s;
    int got;

    if (!log_reader_feed(g->r, raw, &g->err))
        return false;
    while ((got = log_reader_next(g->r, &s, &g->err)) == 1) {
        if (s.begins)
            buf_append_char(&g->steps, '(');
        buf_append_char(&g->steps, letter(&s));
        if (s.ends)
            buf_append_char(&g->steps, ')');
    }
    return got == 0;
}

static bool feed_all(struct reading *g, const struct test_log *log)
{
    for (size_t i = 0; i < log->n; i++)
        if (!feed(g, log_raw(log, i)))
            return false;
    return true;
}

/* The steps of a log; it must be read without error. */
static void check(struct test_log *log, const char *steps, const char *executed)
{
    struct reading g;
    struct buf text = {0};

    start(&g, false);
    if (!feed_all(&g, log))
        fail_msg("%s", g.err.msg);
    assert_string_equal(g.steps.ptr, steps);
    buf_append(&text, STR(""));
    gtid_set_format(&text, log_reader_executed(g.r));
    assert_string_equal(text.ptr, executed);
    assert_int_equal(log_reader_position(g.r).offset, log->file.len);
    buf_free(&text);
    finish(&g);
    log_free(log);
}

static void check_refused(struct test_log *log, const char *word)
{
    struct reading g;

    start(&g, false);
    assert_false(feed_all(&g, log));
    assert_int_equal(g.err.kind, ERR_FATAL);
    if (strstr(g.err.msg, word) == NULL)
        fail_msg("\"%s\" does not say %s", g.err.msg, word);
    finish(&g);
    log_free(log);
}

#define ZERO_UUID "00000000-0000-0000-0000-000000000000"

static void log_change(struct test_log *log, bool last)
{
    log_table_map(log, 5, "t", "");
    log_rows(log, EVENT_WRITE_ROWS, 5, last, "ff00010000000161");
}

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
    check(&log, "f(B.)(BD)", "0-7-2");
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

/* A body of TRANSACTION_PAYLOAD with these events, without checksums. */
static void payload_body(struct buf *out, const struct test_log *inner, bool zstd)
{
    const struct str plain = {inner->file.ptr + inner->starts[1],
                              inner->file.len - inner->starts[1]};
    struct buf data = {0};

    if (zstd) {
        buf_reserve(&data, ZSTD_compressBound(plain.len));
        data.len = ZSTD_compress(data.ptr, data.cap, plain.ptr, plain.len, 3);
        assert_false(ZSTD_isError(data.len));
    } else {
        buf_append(&data, plain);
    }
    put_le(out, 2, 1);
    if (zstd) {
        put_le(out, 1, 1);
        put_le(out, 0, 1);
    } else {
        put_le(out, 3, 1);
        put_le(out, 0xfc, 1);
        put_le(out, 255, 2);
    }
    put_le(out, 0, 1);
    buf_append(out, buf_str(&data));
    buf_free(&data);
}

static void inner_transaction(struct test_log *inner)
{
    log_start(inner, "8.0.40", false);
    inner->no_log_pos = true;
    log_query(inner, "d", "BEGIN");
    log_change(inner, true);
    log_xid(inner);
}

static void events_inside_a_payload_count_as_if_outside(void **state)
{
    (void)state;
    for (int zstd = 0; zstd < 2; zstd++) {
        struct test_log log, inner;
        struct buf body = {0};

        inner_transaction(&inner);
        payload_body(&body, &inner, zstd);
        log_start(&log, "8.0.40", true);
        log_gtid(&log, 1);
        log_event(&log, EVENT_TRANSACTION_PAYLOAD, buf_str(&body));
        check(&log, "f(B...RC)", ZERO_UUID ":1");
        log_free(&inner);
        buf_free(&body);
    }
}

static void a_damaged_payload_is_refused(void **state)
{
    struct test_log inner;
    struct buf body = {0};

    (void)state;
    inner_transaction(&inner);
    payload_body(&body, &inner, true);
    for (size_t n = 0; n < body.len; n += 3) {
        struct test_log log;
        struct reading g;

        log_start(&log, "8.0.40", true);
        log_gtid(&log, 1);
        log_event(&log, EVENT_TRANSACTION_PAYLOAD, (struct str){body.ptr, n});
        start(&g, false);
        if (feed_all(&g, &log) && strchr(g.steps.ptr, 'C') != NULL)
            fail_msg("%zu of %zu bytes give %s", n, body.len, g.steps.ptr);
        finish(&g);
        log_free(&log);
    }
    log_free(&inner);
    buf_free(&body);
}

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

static void what_could_carry_rows_and_is_not_understood_is_refused(void **state)
{
    static const struct {
        uint8_t type;
        const char *hex, *word;
    } cases[] = {
        {EVENT_INCIDENT, "0100046c6f7374", "lost"},
        {EVENT_EXECUTE_LOAD_QUERY, "00", "LOAD DATA"},
        {EVENT_BEGIN_LOAD_QUERY, "00", "LOAD DATA"},
        {EVENT_WRITE_ROWS, "0500000000000100020002ff", "not announced"},
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
    assert_string_equal(g.steps.ptr, "f(B..RX)");
    assert_true(gtid_set_is_empty(log_reader_executed(g.r)));
    assert_true(str_equal(log_reader_position(g.r).file, STR("bin.000002")));
    assert_int_equal(log_reader_position(g.r).offset, 4);
    finish(&g);
    buf_free(&body);
    log_free(&log);
}

static void a_transaction_that_begins_inside_another_is_refused(void **state)
{
    struct test_log log;

    (void)state;
    log_start(&log, "8.0.40", true);
    log_gtid(&log, 1);
    log_query(&log, "d", "BEGIN");
    log_gtid(&log, 2);
    check_refused(&log, "no end");
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

static void text_in_another_character_set_is_read(void **state)
{
    static const char sql[] = "DROP TABLE `\xc4\xe3`";
    struct test_log log;
    struct reading g;
    struct step s;
    struct buf body = {0}, bytes = {0};
    struct err err = {0};

    (void)state;
    log_start(&log, "8.0.40", true);
    buf_append(&body, unhex(&bytes, "0000000000000000"
                                    "01"
                                    "0000"
                                    "0700"
                                    "041c001c001c00"
                                    "6400"));
    buf_append(&body, (struct str){sql, sizeof(sql) - 1});
    log_event(&log, EVENT_QUERY, buf_str(&body));
    start(&g, false);
    assert_true(feed(&g, log_raw(&log, 0)));
    assert_true(log_reader_feed(g.r, log_raw(&log, 1), &err));
    assert_int_equal(log_reader_next(g.r, &s, &err), 1);
    assert_int_equal(s.ddl.n_tables, 1);
    assert_true(str_equal(s.ddl.tables[0].table, STR("你")));
    finish(&g);
    buf_free(&body);
    buf_free(&bytes);
    log_free(&log);
}

static void a_statement_is_read_as_its_session_read_it(void **state)
{
    static const char sql[] = "ALTER TABLE \"t\\\" ADD a INT COMMENT '\\', DROP b";
    struct test_log log;
    struct reading g;
    struct step s;
    struct buf body = {0}, bytes = {0};
    struct err err = {0};

    (void)state;
    log_start(&log, "8.0.40", true);
    buf_append(&body, unhex(&bytes, "0000000000000000"
                                    "01"
                                    "0000"
                                    "0900"
                                    "010400100000000000"
                                    "6400"));
    buf_append(&body, (struct str){sql, sizeof(sql) - 1});
    log_event(&log, EVENT_QUERY, buf_str(&body));
    start(&g, false);
    assert_true(feed(&g, log_raw(&log, 0)));
    assert_true(log_reader_feed(g.r, log_raw(&log, 1), &err));
    assert_int_equal(log_reader_next(g.r, &s, &err), 1);
    assert_true(str_equal(s.ddl.tables[0].table, STR("t\\")));
    assert_int_equal(s.ddl.n_columns, 2);
    assert_false(s.ddl.columns_unclear);
    finish(&g);
    buf_free(&body);
    buf_free(&bytes);
    log_free(&log);
}

/* Rows that end their statement, of a table of two columns: up to the bitmap. */
#define ROWS_V1 "0500000000000100" "02ff"
#define ROWS_V2 "0500000000000100" "0200" "02ff"

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
    [EVENT_SLAVE] = {"00", .refused = "7 is not known"},
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
    [EVENT_QUERY_COMPRESSED] =
        {"010000000000000001000000006400" "8105" "789c737275f7f4030004180166", "(B"},
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
        if (strstr(g.err.msg, m->refused) == NULL || strstr(g.err.msg, event_name(type)) == NULL)
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
        const struct meaning unknown = {"00", .refused = "not marked as one that may be ignored"};

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

/* Nothing of the map but its names is read, and of the rows nothing but the table's number. */
static void a_broken_table_that_is_not_wanted_does_no_harm(void **state)
{
    struct test_log log;

    (void)state;
    log_start(&log, "8.0.40", true);
    log_gtid(&log, 1);
    log_query(&log, "d", "BEGIN");
    /* d.unwanted: a column of type 0x99, and a count of columns without columns */
    log_hex(&log, EVENT_TABLE_MAP, "060000000000" "0100" "016400" "08756e77616e74656400" "0199");
    log_hex(&log, EVENT_TABLE_MAP, "070000000000" "0100" "016400" "08756e77616e74656400" "ff");
    log_table_map(&log, 5, "t", "");
    log_hex(&log, EVENT_WRITE_ROWS, "060000000000" "0000" "0200" "ffff");
    log_hex(&log, EVENT_PARTIAL_UPDATE_ROWS, "070000000000" "0000" "0200");
    log_hex(&log, EVENT_WRITE_ROWS_COMPRESSED_V1, "060000000000" "0000" "01ff" "81");
    log_rows(&log, EVENT_WRITE_ROWS, 5, true, "ff00010000000161");
    log_xid(&log);
    check(&log, "f(B....uuuRC)", ZERO_UUID ":1");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(transactions_of_mysql_have_their_bounds),
        cmocka_unit_test(transactions_without_gtids_begin_with_begin),
        cmocka_unit_test(transactions_of_mariadb_begin_with_their_gtid),
        cmocka_unit_test(the_halves_of_a_two_phase_alter_count_once),
        cmocka_unit_test(rows_of_a_table_that_is_not_wanted_are_told_apart),
        cmocka_unit_test(xa_transactions_end_at_prepare_and_take_effect_later),
        cmocka_unit_test(the_id_of_an_xa_transaction_is_the_same_everywhere),
        cmocka_unit_test(events_inside_a_payload_count_as_if_outside),
        cmocka_unit_test(a_damaged_payload_is_refused),
        cmocka_unit_test(statements_that_change_rows_nobody_knows_where_are_refused),
        cmocka_unit_test(statements_that_change_a_named_table_are_handed_out),
        cmocka_unit_test(what_could_carry_rows_and_is_not_understood_is_refused),
        cmocka_unit_test(an_unknown_event_that_may_be_ignored_is),
        cmocka_unit_test(printing_logs_goes_on_where_following_stops),
        cmocka_unit_test(a_transaction_that_the_log_breaks_off_never_was),
        cmocka_unit_test(a_transaction_that_begins_inside_another_is_refused),
        cmocka_unit_test(a_log_without_its_format_is_refused),
        cmocka_unit_test(text_in_another_character_set_is_read),
        cmocka_unit_test(a_statement_is_read_as_its_session_read_it),
        cmocka_unit_test(every_type_of_event_has_its_meaning),
        cmocka_unit_test(a_file_that_the_server_encrypted_is_refused),
        cmocka_unit_test(checksums_may_begin_and_end_with_a_new_file),
        cmocka_unit_test(a_broken_table_that_is_not_wanted_does_no_harm),
    };
    return cmocka_run_group_tests_name("transaction", tests, NULL, NULL);
}
