#include "config.h"

#include "tests/unit/memory_log.h"

#include "src/base/mem.h"
#include "sync/inspect/decode.h"

static bool put(void *ctx, struct str bytes, struct err *err)
{
    (void)err;
    buf_append(ctx, bytes);
    return true;
}

/* What is printed of log; false: with an error at the end. */
static bool decode(const struct test_log *log, struct decode_options opt, bool fails,
                   struct buf *out, struct decode_counts *counts, struct err *err)
{
    struct memory_transport m = {.base.ops = &memory_ops, .log = log, .fails = fails};

    buf_clear(out);
    buf_append(out, STR(""));
    opt.excerpt.file = STR("bin.000001");
    opt.write = put;
    opt.ctx = out;
    return decode_run(&m.base, &opt, counts, err);
}

/* A transaction with an insert, an update and a delete. */
static void make_log(struct test_log *log)
{
    log_start(log, "8.0.40", true);
    log_gtid(log, 7);
    log_query(log, "d", "BEGIN");
    log_table_map(log, 5, "t", COLUMN_NAMES "02012d");
    log_insert(log, false);
    log_update(log, false);
    log_delete(log, true);
    log_xid(log);
}

#define HEAD(pos, end)                                                                        \
    "{\"file\":\"bin.000001\",\"pos\":" pos ",\"end_pos\":" end                               \
    ",\"gtid\":\"00000000-0000-0000-0000-000000000000:7\",\"time\":\"2023-11-14T22:13:20Z\"," \
    "\"server_id\":7"
#define ROW(pos, end, op) HEAD(pos, end) ",\"database\":\"d\",\"table\":\"t\",\"op\":\"" op "\""

static void each_change_is_a_line(void **state)
{
    struct test_log log;
    struct decode_counts counts;
    struct buf out = {0};
    struct err err = {0};
    char text[160];

    (void)state;
    make_log(&log);
    assert_true(decode(&log, (struct decode_options){0}, false, &out, &counts, &err));
    /* clang-format off */
    assert_string_equal(
        out.ptr,
        ROW("401", "448", "insert") ",\"after\":{\"id\":1,\"v\":\"a\"}}\n"
        ROW("401", "448", "insert") ",\"after\":{\"id\":2,\"v\":null}}\n"
        ROW("448", "494", "update") ",\"before\":{\"id\":1},\"after\":{\"id\":3}}\n"
        ROW("494", "536", "delete") ",\"before\":{\"id\":-3,\"v\":\"b\"}}\n");
    /* clang-format on */
    decode_counts_format(&counts, text);
    assert_string_equal(text, "ins=2 upd=1 del=1 cells=8 nulls=1 idsum=4\n");
    buf_free(&out);
    log_free(&log);
}

static void every_event_is_a_line_if_asked_for(void **state)
{
    struct test_log log;
    struct decode_counts counts;
    struct buf out = {0};
    struct err err = {0};
    size_t lines = 0;

    (void)state;
    make_log(&log);
    assert_true(
        decode(&log, (struct decode_options){.events = true}, false, &out, &counts, &err));
    for (size_t i = 0; i < out.len; i++)
        lines += out.ptr[i] == '\n';
    assert_int_equal(lines, 8 + 4);
    assert_non_null(
        strstr(out.ptr, ",\"event\":\"Format_desc\",\"version\":4,\"server\":\"8.0.40\""));
    assert_non_null(
        strstr(out.ptr, ",\"event\":\"Query\",\"database\":\"d\",\"sql\":\"BEGIN\""));
    assert_non_null(
        strstr(out.ptr, ",\"event\":\"Table_map\",\"database\":\"d\",\"table\":\"t\""));
    assert_non_null(strstr(out.ptr, ",\"event\":\"Xid\",\"xid\":99}"));
    buf_free(&out);
    log_free(&log);
}

static void what_is_before_an_error_is_printed(void **state)
{
    struct test_log log;
    struct decode_counts counts;
    struct buf out = {0};
    struct err err = {0};

    (void)state;
    make_log(&log);
    assert_false(decode(&log, (struct decode_options){0}, true, &out, &counts, &err));
    assert_string_equal(err.msg, "cut");
    assert_int_equal(counts.deletes, 1);
    assert_non_null(strstr(out.ptr, "\"delete\""));

    log.file.ptr[log.starts[6] + 30] ^= 1;
    assert_false(decode(&log, (struct decode_options){0}, false, &out, &counts, &err));
    assert_non_null(strstr(err.msg, "bin.000001:494"));
    assert_non_null(strstr(out.ptr, "\"update\""));
    assert_null(strstr(out.ptr, "\"delete\""));
    buf_free(&out);
    log_free(&log);
}

static void note(void *ctx, const char *text)
{
    buf_printf(ctx, "%s\n", text);
}

static void rows_without_an_end_are_printed_with_a_warning(void **state)
{
    struct test_log log;
    struct decode_counts counts;
    struct buf out = {0};
    struct err err = {0};

    (void)state;
    make_log(&log);
    log.n--; /* its Xid */
    log.file.len = log.starts[log.n];
    log_gtid(&log, 8);
    log_query(&log, "d", "BEGIN");
    log_table_map(&log, 5, "t", COLUMN_NAMES "02012d");
    log_insert(&log, true);
    log_xid(&log);
    assert_true(
        decode(&log, (struct decode_options){.warn = note}, false, &out, &counts, &err));
    assert_int_equal(counts.inserts, 4);
    assert_int_equal(counts.deletes, 1);

    const char *warning = strstr(out.ptr, "bin.000001:536: ");

    assert_non_null(warning != NULL ? strstr(warning, "no end") : NULL);
    assert_true(decode(&log, (struct decode_options){0}, false, &out, &counts, &err));
    buf_free(&out);
    log_free(&log);
}

static bool put_nowhere(void *ctx, struct str bytes, struct err *err)
{
    (void)ctx;
    (void)bytes;
    return err_set(err, ERR_RETRY, "the disk is full");
}

/* More than is gathered before it is handed over. */
static void output_that_fails_is_not_told_as_trouble_of_the_log(void **state)
{
    const struct decode_options opt = {.excerpt.file = STR("bin.000001"), .write = put_nowhere};
    struct test_log log;
    struct memory_transport m = {.base.ops = &memory_ops, .log = &log};
    struct decode_counts counts;
    struct buf rows = {0};
    struct err err = {0};

    (void)state;
    log_start(&log, "8.0.40", true);
    log_gtid(&log, 7);
    log_query(&log, "d", "BEGIN");
    log_table_map(&log, 5, "t", COLUMN_NAMES "02012d");
    buf_append(&rows, STR("ff"));
    for (int i = 0; i < 1000; i++)
        buf_append(&rows, STR("00010000000161"));
    log_rows(&log, EVENT_WRITE_ROWS, 5, true, rows.ptr);
    assert_false(decode_run(&m.base, &opt, &counts, &err));
    assert_string_equal(err.msg, "the disk is full");
    buf_free(&rows);
    log_free(&log);
}

static void filters_leave_out_what_was_not_asked_for(void **state)
{
    static const struct str other[] = {STR("d.other"), STR("t")}, mine[] = {STR("d.t")};
    static const struct str wild[] = {STR("*"),   STR("?.*t*"), STR("d.?"), STR("d.??"),
                                      STR("d*x"), STR("d."),    STR("*.t?")};
    const struct {
        struct log_filter filter;
        uint64_t changes;
    } cases[] = {
        {{.tables = other, .n_tables = 2}, 0},
        {{.tables = mine, .n_tables = 1}, 4},
        {{.tables = wild, .n_tables = 1}, 4},
        {{.tables = wild + 1, .n_tables = 1}, 4},
        {{.tables = wild + 2, .n_tables = 1}, 4},
        {{.tables = wild + 3, .n_tables = 4}, 0},
        {{.from = {STR("bin.000001"), 448}}, 2},
        {{.to = {STR("bin.000001"), 448}}, 2},
        {{.from = {STR("bin.000002"), 4}}, 0},
        {{.from_time = 1700000001}, 0},
        {{.from_time = 1700000000, .to_time = 1700000001}, 4},
        {{.to_time = 1700000000}, 0},
    };
    struct test_log log;
    struct buf out = {0};

    (void)state;
    make_log(&log);
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct decode_counts counts;
        struct err err = {0};

        assert_true(decode(&log, (struct decode_options){.excerpt.filter = cases[i].filter},
                           false, &out, &counts, &err));
        assert_int_equal(counts.inserts + counts.updates + counts.deletes, cases[i].changes);
    }
    buf_free(&out);
    log_free(&log);
}

/* The changes of log in the transactions that gtids names. */
static uint64_t count_chosen(const struct test_log *log, const char *gtids)
{
    struct gtid_choice c = {0};
    struct decode_options opt = {0};
    struct decode_counts counts;
    struct buf out = {0};
    struct err err = {0};

    assert_true(gtid_choice_parse(&c, str_from(gtids), &err));
    opt.excerpt.filter = (struct log_filter){.gtids = c.gtids, .ids = c.ids, .n_ids = c.n_ids};
    assert_true(decode(log, opt, false, &out, &counts, &err));
    gtid_choice_fini(&c);
    buf_free(&out);
    return counts.inserts + counts.updates + counts.deletes;
}

static void transactions_are_chosen_by_gtid(void **state)
{
    struct test_log log;

    (void)state;
    make_log(&log);
    assert_int_equal(count_chosen(&log, "00000000-0000-0000-0000-000000000000:1-7"), 4);
    assert_int_equal(count_chosen(&log, "00000000-0000-0000-0000-000000000000:1-6:8"), 0);
    assert_int_equal(count_chosen(&log, "0-7-7"), 0);
    log_free(&log);

    log_start(&log, "10.11.6-MariaDB", true);
    for (unsigned n = 5; n <= 8; n++) {
        log_mariadb_gtid(&log, n, 0);
        log_table_map(&log, 5, "t", "");
        log_rows(&log, EVENT_WRITE_ROWS_V1, 5, true, "ff00010000000161");
        log_xid(&log);
    }
    assert_int_equal(count_chosen(&log, "0-7-6"), 1);
    assert_int_equal(count_chosen(&log, "0-7-6,0-7-8,0-9-7,1-7-7"), 2);
    assert_int_equal(count_chosen(&log, "00000000-0000-0000-0000-000000000000:1-9"), 0);
    log_free(&log);
}

static void what_is_no_gtid_is_not_taken_for_a_choice(void **state)
{
    static const char *const wrong[] = {
        "", ",", "7", "0-7", "0-7-6,00000000-0000-0000-0000-000000000000:1", "0-7-6,x"};

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(wrong); i++) {
        struct gtid_choice c = {0};
        struct err err = {0};

        assert_false(gtid_choice_parse(&c, str_from(wrong[i]), &err));
        gtid_choice_fini(&c);
    }
}

static void without_output_everything_is_counted_all_the_same(void **state)
{
    struct test_log log;
    struct decode_counts counts, printed;
    struct buf out = {0};
    struct err err = {0};

    (void)state;
    make_log(&log);
    assert_true(
        decode(&log, (struct decode_options){.no_output = true}, false, &out, &counts, &err));
    assert_int_equal(out.len, 0);
    assert_int_equal(counts.rows.cells, 8);
    assert_true(decode(&log, (struct decode_options){0}, false, &out, &printed, &err));
    assert_memory_equal(&counts, &printed, sizeof(counts));
    buf_free(&out);
    log_free(&log);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_change_is_a_line),
        cmocka_unit_test(every_event_is_a_line_if_asked_for),
        cmocka_unit_test(what_is_before_an_error_is_printed),
        cmocka_unit_test(rows_without_an_end_are_printed_with_a_warning),
        cmocka_unit_test(output_that_fails_is_not_told_as_trouble_of_the_log),
        cmocka_unit_test(filters_leave_out_what_was_not_asked_for),
        cmocka_unit_test(transactions_are_chosen_by_gtid),
        cmocka_unit_test(what_is_no_gtid_is_not_taken_for_a_choice),
        cmocka_unit_test(without_output_everything_is_counted_all_the_same),
    };
    return cmocka_run_group_tests_name("decode", tests, NULL, NULL);
}
