#include "config.h"

#include "tests/unit/memory_log.h"

#include "src/format/json.h"
#include "sync/inspect/inspect.h"

static bool inspect(const struct test_log *log, struct log_filter filter, bool fails,
                    struct buf *out, struct err *err)
{
    struct memory_transport m = {.base.ops = &memory_ops, .log = log, .fails = fails};
    struct json_writer w = {.out = out};
    const struct log_excerpt excerpt = {.filter = filter, .file = STR("bin.000001")};

    buf_clear(out);
    json_open_array(&w);

    const bool ok = inspect_run(&m.base, &excerpt, &w, err);

    json_close_array(&w);
    return ok;
}

static void assert_has(const struct buf *json, const char *pointer, const char *expected)
{
    struct str raw;

    if (!json_find(buf_str(json), pointer, &raw))
        fail_msg("nothing at %s in %s", pointer, json->ptr);
    assert_int_equal(raw.len, strlen(expected));
    assert_memory_equal(raw.ptr, expected, raw.len);
}

static void assert_lacks(const struct buf *json, const char *pointer)
{
    struct str raw;

    assert_false(json_find(buf_str(json), pointer, &raw));
}

/* The map of table 5, and n times two rows for it. */
static void log_inserts(struct test_log *log, unsigned n)
{
    log_table_map(log, 5, "t", COLUMN_NAMES);
    while (n-- > 0)
        log_insert(log, n == 0);
}

/* A statement, a transaction of four rows, and one of two in another second. */
static void make_log(struct test_log *log)
{
    log_start(log, "8.0.40", true);
    log_gtid(log, 6);
    log_query(log, "d", "CREATE TABLE t (id INT)");
    log_gtid(log, 7);
    log_query(log, "d", "BEGIN");
    log_inserts(log, 2);
    log_xid(log);
    log->time = 1700000060;
    log_gtid(log, 8);
    log_query(log, "d", "BEGIN");
    log_table_map(log, 5, "t", COLUMN_NAMES);
    log_update(log, false);
    log_delete(log, true);
    log_xid(log);
}

static void a_log_is_told_in_figures(void **state)
{
    struct test_log log;
    struct buf out = {0};
    struct err err = {0};
    char pos[24];

    (void)state;
    make_log(&log);
    assert_true(inspect(&log, (struct log_filter){0}, false, &out, &err));
    assert_has(&out, "/0/file", "\"bin.000001\"");
    assert_has(&out, "/0/server", "\"8.0.40\"");
    assert_has(&out, "/0/checksum", "\"crc32\"");
    assert_has(&out, "/0/format", "\"row\"");
    assert_has(&out, "/0/first_time", "\"2023-11-14T22:13:20Z\"");
    assert_has(&out, "/0/last_time", "\"2023-11-14T22:14:20Z\"");
    assert_has(&out, "/0/pos", "4");
    snprintf(pos, sizeof(pos), "%zu", log.file.len);
    assert_has(&out, "/0/end_pos", pos);
    snprintf(pos, sizeof(pos), "%zu", log.n);
    assert_has(&out, "/0/events", pos);
    assert_has(&out, "/0/closed", "\"not closed\"");
    assert_has(&out, "/0/transactions", "3");
    assert_has(&out, "/0/gtids/first", "\"00000000-0000-0000-0000-000000000000:6\"");
    assert_has(&out, "/0/gtids/last", "\"00000000-0000-0000-0000-000000000000:8\"");
    assert_has(&out, "/0/gtids/after", "\"00000000-0000-0000-0000-000000000000:6-8\"");
    assert_has(&out, "/0/largest_transaction/rows", "4");
    snprintf(pos, sizeof(pos), "%zu", log.starts[3]);
    assert_has(&out, "/0/largest_transaction/pos", pos);
    assert_has(&out, "/0/types/0/event", "\"Query\"");
    assert_has(&out, "/0/types/0/count", "3");
    assert_has(&out, "/0/tables/0/table", "\"t\"");
    assert_has(&out, "/0/tables/0/inserts", "4");
    assert_has(&out, "/0/tables/0/updates", "1");
    assert_has(&out, "/0/tables/0/deletes", "1");
    assert_has(&out, "/0/tables/0/metadata", "\"full\"");
    assert_has(&out, "/0/statements/0/kind", "\"create table\"");
    assert_has(&out, "/0/statements/0/sql", "\"CREATE TABLE t (id INT)\"");
    assert_lacks(&out, "/0/unfinished_transaction");
    assert_lacks(&out, "/0/damage");
    assert_lacks(&out, "/1");
    buf_free(&out);
    log_free(&log);
}

static void a_transaction_without_an_end_is_one_that_was_rolled_back(void **state)
{
    struct test_log log;
    struct buf out = {0};
    struct err err = {0};

    (void)state;
    log_start(&log, "8.0.40", true);
    log_gtid(&log, 6);
    log_query(&log, "d", "BEGIN");
    log_inserts(&log, 2);
    log_gtid(&log, 6);
    log_query(&log, "d", "BEGIN");
    log_inserts(&log, 1);
    log_xid(&log);
    assert_true(inspect(&log, (struct log_filter){0}, false, &out, &err));
    assert_has(&out, "/0/transactions", "1");
    assert_has(&out, "/0/rolled_back", "1");
    assert_has(&out, "/0/largest_transaction/rows", "2");
    assert_has(&out, "/0/tables/0/inserts", "6");
    assert_lacks(&out, "/0/unfinished_transaction");
    buf_free(&out);
    log_free(&log);
}

static void damage_is_told_with_what_is_before_it(void **state)
{
    struct test_log log;
    struct buf out = {0};
    struct err err = {0};
    char pos[24];

    (void)state;
    make_log(&log);
    log.file.ptr[log.starts[13] + 30] ^= 1; /* the delete */
    assert_false(inspect(&log, (struct log_filter){0}, false, &out, &err));
    snprintf(pos, sizeof(pos), "%zu", log.starts[13]);
    assert_has(&out, "/0/damage/pos", pos);
    assert_non_null(strstr(out.ptr, "wrong checksum"));
    assert_has(&out, "/0/tables/0/updates", "1");
    assert_has(&out, "/0/tables/0/deletes", "0");
    assert_has(&out, "/0/transactions", "2");
    snprintf(pos, sizeof(pos), "%zu", log.starts[9]);
    assert_has(&out, "/0/unfinished_transaction/pos", pos);
    buf_free(&out);
    log_free(&log);
}

static void a_file_without_any_event_is_told_too(void **state)
{
    struct test_log log = {0};
    struct buf out = {0};
    struct err err = {0};

    (void)state;
    assert_false(inspect(&log, (struct log_filter){0}, true, &out, &err));
    assert_has(&out, "/0/file", "\"bin.000001\"");
    assert_has(&out, "/0/damage/pos", "4");
    assert_has(&out, "/0/damage/reason", "\"cut\"");
    buf_free(&out);
}

static void a_table_that_cannot_be_decoded_is_no_damage_of_the_log(void **state)
{
    struct test_log log;
    struct buf out = {0};
    struct err err = {0};

    (void)state;
    log_start(&log, "8.0.40", true);
    log_query(&log, "d", "BEGIN");
    log_inserts(&log, 1);
    log_table_map(&log, 6, "u", COLUMN_NAMES);
    log_rows(&log, EVENT_WRITE_ROWS, 6, true, "ff00010000");
    log_xid(&log);
    assert_false(inspect(&log, (struct log_filter){0}, false, &out, &err));
    assert_non_null(strstr(err.msg, "d.u"));
    assert_has(&out, "/0/transactions", "1");
    assert_lacks(&out, "/0/damage");
    assert_has(&out, "/0/tables/0/inserts", "2");
    assert_lacks(&out, "/0/tables/0/fault");
    assert_has(&out, "/0/tables/1/table", "\"u\"");
    assert_has(&out, "/0/tables/1/inserts", "0");
    assert_non_null(strstr(out.ptr, "\"fault\":\"bin.000001:"));
    buf_free(&out);
    log_free(&log);
}

static void figures_are_of_the_part_that_was_asked_for(void **state)
{
    struct test_log log;
    struct buf out = {0};
    struct err err = {0};

    (void)state;
    make_log(&log);
    assert_true(inspect(&log, (struct log_filter){.from_time = 1700000060}, false, &out, &err));
    assert_has(&out, "/0/server", "\"8.0.40\"");
    assert_has(&out, "/0/transactions", "1");
    assert_has(&out, "/0/tables/0/inserts", "0");
    assert_has(&out, "/0/tables/0/updates", "1");
    buf_free(&out);
    log_free(&log);
}

static void each_file_of_a_dump_is_told_by_itself(void **state)
{
    const struct log_excerpt excerpt = {.start = {STR("bin.000001"), 4}};
    struct test_log first, second;
    struct memory_transport m = {.base.ops = &memory_ops, .log = &first, .then = &second};
    struct buf out = {0};
    struct json_writer w = {.out = &out};
    struct err err = {0};

    (void)state;
    make_log(&first);
    log_hex(&first, EVENT_ROTATE, "040000000000000062696e2e303030303032");
    log_start(&second, "8.4.3", false);
    log_gtid(&second, 9);
    log_query(&second, "d", "DROP TABLE t");
    json_open_array(&w);
    assert_true(inspect_run(&m.base, &excerpt, &w, &err));
    json_close_array(&w);
    assert_has(&out, "/0/file", "\"bin.000001\"");
    assert_has(&out, "/0/server", "\"8.0.40\"");
    assert_has(&out, "/0/closed", "\"rotate\"");
    assert_has(&out, "/0/next_file", "\"bin.000002\"");
    assert_has(&out, "/0/transactions", "3");
    assert_has(&out, "/0/gtids/after", "\"00000000-0000-0000-0000-000000000000:6-8\"");
    assert_has(&out, "/1/file", "\"bin.000002\"");
    assert_has(&out, "/1/server", "\"8.4.3\"");
    assert_has(&out, "/1/checksum", "\"none\"");
    assert_has(&out, "/1/transactions", "1");
    assert_has(&out, "/1/gtids/first", "\"00000000-0000-0000-0000-000000000000:9\"");
    assert_has(&out, "/1/statements/0/kind", "\"drop table\"");
    assert_has(&out, "/1/tables", "[]");
    assert_lacks(&out, "/2");
    buf_free(&out);
    log_free(&first);
    log_free(&second);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_log_is_told_in_figures),
        cmocka_unit_test(a_transaction_without_an_end_is_one_that_was_rolled_back),
        cmocka_unit_test(damage_is_told_with_what_is_before_it),
        cmocka_unit_test(a_file_without_any_event_is_told_too),
        cmocka_unit_test(a_table_that_cannot_be_decoded_is_no_damage_of_the_log),
        cmocka_unit_test(figures_are_of_the_part_that_was_asked_for),
        cmocka_unit_test(each_file_of_a_dump_is_told_by_itself),
    };
    return cmocka_run_group_tests_name("inspect", tests, NULL, NULL);
}
