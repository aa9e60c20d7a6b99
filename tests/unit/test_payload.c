#include "config.h"

#include "tests/unit/log_steps.h"

#include <zstd.h>

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

/* Two tables, one of which nobody follows, each with a row event above the limit. */
static void rows_above_the_limit_are_passed_over_inside_a_payload(void **state)
{
    (void)state;
    for (int zstd = 0; zstd < 2; zstd++) {
        const struct log_reader_options opt = {
            .want = want, .start = {STR("bin.000001"), 4}, .event_max = 200000};
        struct reading g = {.r = log_reader_new(&opt)};
        struct test_log log, inner;
        struct buf body = {0}, rows = {0};

        buf_append(&rows, STR("ff"));
        for (int i = 0; i < 400000; i++)
            buf_append(&rows, STR("00"));
        log_start(&inner, "8.0.40", false);
        inner.no_log_pos = true;
        log_query(&inner, "d", "BEGIN");
        log_table_map(&inner, 6, "unwanted", "");
        log_rows(&inner, EVENT_WRITE_ROWS, 6, true, rows.ptr);
        log_change(&inner, true);
        log_table_map(&inner, 5, "t", "");
        log_rows(&inner, EVENT_WRITE_ROWS, 5, true, rows.ptr);
        log_xid(&inner);
        payload_body(&body, &inner, zstd);
        log_start(&log, "8.0.40", true);
        log_gtid(&log, 1);
        log_event(&log, EVENT_TRANSACTION_PAYLOAD, buf_str(&body));
        if (!feed_all(&g, &log))
            fail_msg("%s", g.err.msg);
        assert_string_equal(g.steps.ptr, "f(B...u.R.RC)");
        finish(&g);
        log_free(&log);
        log_free(&inner);
        buf_free(&body);
        buf_free(&rows);
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

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(events_inside_a_payload_count_as_if_outside),
        cmocka_unit_test(a_damaged_payload_is_refused),
        cmocka_unit_test(rows_above_the_limit_are_passed_over_inside_a_payload),
    };
    return cmocka_run_group_tests_name("payload", tests, NULL, NULL);
}
