/*
 * What decoding holds while it works: not more for a larger event, not more for a larger
 * transaction, whether it is packed or not, and not more for more tables that nobody wants.
 */
#include "config.h"

#include "tests/unit/memory_log.h"

#include "sync/decode/transaction.h"
#include "sync/inspect/decode.h"

#include <malloc.h>
#include <zstd.h>

/* How much the large cases may take more than the small ones, which are a tenth as large. */
#define SPARE ((size_t)128 * 1024)

/* What all tables that nobody wants may take together. */
#define UNWANTED_BYTES ((size_t)1024 * 1024)

struct peak {
    size_t before;
    size_t most;
};

static size_t allocated(void)
{
    const struct mallinfo2 m = mallinfo2();

    return m.uordblks + m.hblkhd;
}

static bool look(void *ctx, struct str bytes, struct err *err)
{
    struct peak *p = ctx;
    const size_t now = allocated() - p->before;

    (void)bytes;
    (void)err;
    p->most = now > p->most ? now : p->most;
    return true;
}

/* The most that is held while the log is decoded; it has so many rows. */
static size_t peak_of(const struct test_log *log, uint64_t rows)
{
    struct memory_transport m = {.base.ops = &memory_ops, .log = log};
    struct peak peak = {.before = allocated()};
    const struct decode_options opt = {
        .excerpt.file = STR("bin.000001"), .write = look, .ctx = &peak};
    struct decode_counts counts;
    struct err err = {0};

    assert_true(decode_run(&m.base, &opt, &counts, &err));
    assert_int_equal(counts.inserts, rows);
    return peak.most;
}

/* The body of an event that inserts so many rows (1, 'a') into table 5. */
static void put_rows(struct buf *b, size_t n, bool last)
{
    buf_clear(b);
    put_le(b, 5, 6);
    put_le(b, last, 2);
    put_le(b, 2, 2);
    put_le(b, 2, 1);
    put_le(b, 0xff, 1);
    for (size_t i = 0; i < n; i++) {
        put_le(b, 0, 1);
        put_le(b, i, 4);
        buf_append(b, STR("\x01"
                          "a"));
    }
}

static size_t peak_of_event(size_t n_rows)
{
    struct test_log log;
    struct buf body = {0};

    log_start(&log, "8.0.40", true);
    log_gtid(&log, 1);
    log_query(&log, "d", "BEGIN");
    log_table_map(&log, 5, "t", COLUMN_NAMES);
    put_rows(&body, n_rows, true);
    log_event(&log, EVENT_WRITE_ROWS, buf_str(&body));
    log_xid(&log);
    buf_free(&body);

    const size_t peak = peak_of(&log, n_rows);

    log_free(&log);
    return peak;
}

/* A transaction of so many events of 1,000 rows in a payload. */
static size_t peak_of_payload(size_t n_events)
{
    struct test_log log, inner;
    struct buf rows = {0}, body = {0};

    log_start(&inner, "8.0.40", false);
    inner.no_log_pos = true;
    log_query(&inner, "d", "BEGIN");
    log_table_map(&inner, 5, "t", COLUMN_NAMES);
    for (size_t i = 0; i < n_events; i++) {
        put_rows(&rows, 1000, i + 1 == n_events);
        put_event(&inner.file, EVENT_WRITE_ROWS, 0, 1700000000, 0, false, buf_str(&rows));
    }

    const struct str plain = {inner.file.ptr + inner.starts[1],
                              inner.file.len - inner.starts[1]};

    put_le(&body, 0x000102, 3); /* zstd */
    put_le(&body, 0, 1);
    buf_reserve(&body, ZSTD_compressBound(plain.len));
    body.len += ZSTD_compress(body.ptr + body.len, ZSTD_compressBound(plain.len), plain.ptr,
                              plain.len, 3);
    log_start(&log, "8.0.40", true);
    log_gtid(&log, 1);
    log_event(&log, EVENT_TRANSACTION_PAYLOAD, buf_str(&body));
    buf_free(&rows);
    buf_free(&body);
    log_free(&inner);

    const size_t peak = peak_of(&log, 1000 * n_events);

    log_free(&log);
    return peak;
}

static bool want_none(void *ctx, struct str database, struct str table, struct schema **schema)
{
    (void)ctx;
    (void)database;
    (void)table;
    (void)schema;
    return false;
}

/* Read the log.  Returns how many of its steps have rows that nobody wants. */
static size_t read_unwanted(struct log_reader *reader, const struct test_log *log)
{
    size_t found = 0;

    for (size_t i = 0; i < log->n; i++) {
        struct step step;
        struct err err;
        int got;

        assert_true(log_reader_feed(reader, log_raw(log, i), &err));
        while ((got = log_reader_next(reader, &step, &err)) == 1)
            found += step.kind == STEP_ROWS_UNWANTED;
        assert_int_equal(got, 0);
    }
    return found;
}

/* A transaction on one of many tables. */
static void log_change_of(struct test_log *log, unsigned number)
{
    char name[16];

    log->n = 0;
    buf_clear(&log->file);
    snprintf(name, sizeof(name), "table_%u", number);
    log_mariadb_gtid(log, number + 1, 0);
    log_table_map(log, number, name, COLUMN_NAMES);
    log_rows(log, EVENT_WRITE_ROWS_V1, number, true, "ff00010000000161");
    log_xid(log);
}

/* The most that is held while so many tables that nobody wants change, one after the other. */
static size_t peak_of_unwanted(unsigned n_tables)
{
    struct log_reader *reader = log_reader_new(
        &(struct log_reader_options){.want = want_none, .start = {STR("bin.000001"), 4}});
    struct peak peak = {0};
    struct test_log log;

    log_start(&log, "11.8.6-MariaDB", true);
    log.no_log_pos = true;
    read_unwanted(reader, &log);
    log_change_of(&log, 0);
    peak.before = allocated();
    for (unsigned i = 0; i < n_tables; i++) {
        log_change_of(&log, i);
        assert_int_equal(read_unwanted(reader, &log), 1);
        look(&peak, STR(""), NULL);
    }
    log_free(&log);
    log_reader_free(reader);
    return peak.most;
}

static void a_larger_event_takes_no_more_memory(void **state)
{
    (void)state;
    assert_in_range(peak_of_event(500000), 0, peak_of_event(50000) + SPARE);
}

static void a_larger_packed_transaction_takes_no_more_memory(void **state)
{
    (void)state;
    /* The small one fills the window of the compression. */
    assert_in_range(peak_of_payload(6000), 0, peak_of_payload(600) + SPARE);
}

static void more_tables_that_nobody_wants_take_no_more_memory(void **state)
{
    const size_t many = peak_of_unwanted(100000);

    (void)state;
    print_message("# 100,000 tables that nobody wants: %zu bytes\n", many);
    assert_in_range(many, 0, UNWANTED_BYTES);
    assert_in_range(many, 0, peak_of_unwanted(10000) + SPARE);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_larger_event_takes_no_more_memory),
        cmocka_unit_test(a_larger_packed_transaction_takes_no_more_memory),
        cmocka_unit_test(more_tables_that_nobody_wants_take_no_more_memory),
    };
    return cmocka_run_group_tests_name("decode memory", tests, NULL, NULL);
}
