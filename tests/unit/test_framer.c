#include "config.h"

#include "tests/unit/events.h"

#include "sync/decode/framer.h"

static void start_stream(struct framer *f, const char *file, uint64_t offset)
{
    framer_init(f, (struct position){str_from(file), offset}, false, 1 << 20);
}

static struct event read_ok(struct framer *f, struct str raw)
{
    struct event e;
    struct err err = {0};

    if (!framer_read(f, raw, &e, &err))
        fail_msg("%s", err.msg);
    return e;
}

static void refuse(struct framer *f, struct str raw, const char *word)
{
    struct event e;
    struct err err = {0};

    assert_false(framer_read(f, raw, &e, &err));
    assert_int_equal(err.kind, ERR_FATAL);
    if (strstr(err.msg, word) == NULL)
        fail_msg("%s does not say %s", err.msg, word);
}

/* The ROTATE that a server makes up at the start of a dump. */
static struct str fake_rotate(struct buf *b, const char *file, uint64_t offset, bool checksum)
{
    struct buf body = {0};

    put_le(&body, offset, 8);
    buf_append(&body, str_from(file));
    buf_clear(b);
    put_event(b, EVENT_ROTATE, EVENT_FLAG_ARTIFICIAL, 0, 0, checksum, buf_str(&body));
    buf_free(&body);
    return buf_str(b);
}

static void a_dump_is_counted_from_its_start(void **state)
{
    struct test_log log;
    struct framer f;
    struct buf rotate = {0};

    (void)state;
    log_start(&log, "8.0.40", true);
    log_query(&log, "d", "BEGIN");
    log_xid(&log);
    start_stream(&f, "", 0);
    read_ok(&f, fake_rotate(&rotate, "bin.000007", 4, false));
    for (size_t i = 0; i < log.n; i++) {
        const struct event e = read_ok(&f, log_raw(&log, i));

        assert_true(str_equal(e.file, STR("bin.000007")));
        assert_int_equal(e.start, log.starts[i]);
        assert_int_equal(e.end, log.starts[i + 1]);
    }
    assert_int_equal(f.offset, log.file.len);
    framer_fini(&f);
    buf_free(&rotate);
    log_free(&log);
}

static void the_checksum_of_a_made_up_rotate_is_seen_by_itself(void **state)
{
    (void)state;
    for (int checksum = 0; checksum < 2; checksum++) {
        struct framer f;
        struct buf rotate = {0};
        struct event e;

        start_stream(&f, "", 0);
        e = read_ok(&f, fake_rotate(&rotate, "bin.000007", 1234, checksum));
        assert_true(str_equal(e.file, STR("bin.000007")));
        assert_int_equal(e.start, 1234);
        assert_int_equal(e.end, 1234);
        framer_fini(&f);
        buf_free(&rotate);
    }
}

static void a_format_event_sent_again_takes_no_room(void **state)
{
    struct test_log log;
    struct framer f;
    struct buf rotate = {0};
    struct event e;

    (void)state;
    log_start(&log, "8.0.40", true);
    log_query(&log, "d", "BEGIN");
    log_xid(&log);
    start_stream(&f, "bin.000007", log.starts[2]);
    read_ok(&f, fake_rotate(&rotate, "bin.000007", log.starts[2], true));
    e = read_ok(&f, log_raw(&log, 0));
    assert_int_equal(e.start, log.starts[2]);
    assert_int_equal(e.end, log.starts[2]);
    e = read_ok(&f, log_raw(&log, 2));
    assert_int_equal(e.end, log.starts[3]);
    framer_fini(&f);
    buf_free(&rotate);
    log_free(&log);
}

/* What MariaDB sends of an encrypted log: in its place, or again, then without a position. */
static void the_start_of_encryption_sent_again_takes_no_room(void **state)
{
    struct test_log log;
    struct framer f;
    struct buf rotate = {0}, again = {0};
    struct event e;

    (void)state;
    log_start(&log, "10.11.6-MariaDB", true);
    log_hex(&log, EVENT_START_ENCRYPTION, "01010000000102030405060708090a0b0c");
    log_xid(&log);
    log_xid(&log);
    start_stream(&f, "bin.000007", 4);
    read_ok(&f, fake_rotate(&rotate, "bin.000007", 4, true));
    read_ok(&f, log_raw(&log, 0));
    e = read_ok(&f, log_raw(&log, 1));
    assert_int_equal(e.start, log.starts[1]);
    assert_int_equal(e.end, log.starts[2]);
    framer_fini(&f);

    start_stream(&f, "bin.000007", log.starts[3]);
    read_ok(&f, fake_rotate(&rotate, "bin.000007", log.starts[3], true));
    read_ok(&f, log_raw(&log, 0));
    put_event(&again, EVENT_START_ENCRYPTION, 0, log.time, 0, true, STR("12345"));
    e = read_ok(&f, buf_str(&again));
    assert_int_equal(e.start, log.starts[3]);
    assert_int_equal(e.end, log.starts[3]);
    e = read_ok(&f, log_raw(&log, 3));
    assert_int_equal(e.end, log.starts[4]);
    framer_fini(&f);
    buf_free(&rotate);
    buf_free(&again);
    log_free(&log);
}

static void positions_go_on_beyond_4_gib(void **state)
{
    struct test_log log;
    struct framer f;
    struct buf raw = {0};
    const uint64_t at = UINT64_C(0x1fffffff0);
    struct event e;

    (void)state;
    log_start(&log, "8.0.40", false);
    start_stream(&f, "bin.000007", at);
    read_ok(&f, log_raw(&log, 0));
    put_event(&raw, EVENT_XID, 0, 0, (uint32_t)(at + 27), false, STR("12345678"));
    e = read_ok(&f, buf_str(&raw));
    assert_int_equal(e.start, at);
    assert_int_equal(e.end, at + 27);
    framer_fini(&f);
    buf_free(&raw);
    log_free(&log);
}

static void events_without_log_pos_are_counted(void **state)
{
    struct test_log log;
    struct framer f;

    (void)state;
    log_start(&log, "11.8.6-MariaDB", true);
    log.no_log_pos = true;
    log_query(&log, "d", "BEGIN");
    log_xid(&log);
    start_stream(&f, "bin.000007", 4);
    for (size_t i = 0; i < log.n; i++)
        assert_int_equal(read_ok(&f, log_raw(&log, i)).end, log.starts[i + 1]);
    framer_fini(&f);
    log_free(&log);
}

/* Transactions that GTID resume leaves out, ANNOTATE_ROWS that was not asked for. */
static void what_the_server_leaves_out_is_passed_over(void **state)
{
    struct test_log log;
    struct framer f;
    struct event e;

    (void)state;
    log_start(&log, "8.0.40", true);
    log_query(&log, "d", "BEGIN");
    log_xid(&log);
    log_xid(&log);
    start_stream(&f, "bin.000007", 4);
    read_ok(&f, log_raw(&log, 0));
    e = read_ok(&f, log_raw(&log, 2));
    assert_int_equal(e.start, log.starts[2]);
    assert_int_equal(e.end, log.starts[3]);
    refuse(&f, log_raw(&log, 1), "counted");
    framer_fini(&f);
    log_free(&log);
}

static void a_heartbeat_tells_where_reading_stands(void **state)
{
    struct test_log log;
    struct framer f;
    struct buf raw = {0};

    (void)state;
    log_start(&log, "8.0.40", true);
    start_stream(&f, "bin.000007", 4);
    read_ok(&f, log_raw(&log, 0));
    put_event(&raw, EVENT_HEARTBEAT, 0, 0, 5000, true, STR("bin.000007"));
    assert_int_equal(read_ok(&f, buf_str(&raw)).end, 5000);
    assert_int_equal(f.offset, 5000);
    framer_fini(&f);
    buf_free(&raw);
    log_free(&log);
}

static void a_real_rotate_belongs_to_the_old_file(void **state)
{
    struct test_log log;
    struct framer f;
    struct buf body = {0}, rotate = {0};
    struct event e;

    (void)state;
    log_start(&log, "8.0.40", true);
    put_le(&body, 4, 8);
    buf_append(&body, STR("bin.000008"));
    log_event(&log, EVENT_ROTATE, buf_str(&body));
    start_stream(&f, "bin.000007", 4);
    read_ok(&f, log_raw(&log, 0));
    e = read_ok(&f, log_raw(&log, 1));
    assert_true(str_equal(e.file, STR("bin.000007")));
    assert_int_equal(e.end, log.file.len);
    e = read_ok(&f, fake_rotate(&rotate, "bin.000008", 4, false));
    assert_true(str_equal(e.file, STR("bin.000008")));
    e = read_ok(&f, log_raw(&log, 0));
    assert_true(str_equal(e.file, STR("bin.000008")));
    assert_int_equal(e.start, 4);
    framer_fini(&f);
    buf_free(&body);
    buf_free(&rotate);
    log_free(&log);
}

static void damage_is_seen(void **state)
{
    struct test_log log;
    struct framer f;
    struct str raw;

    (void)state;
    log_start(&log, "8.0.40", true);
    log_query(&log, "d", "INSERT INTO t VALUES (1)");
    start_stream(&f, "bin.000007", 4);
    read_ok(&f, log_raw(&log, 0));
    raw = log_raw(&log, 1);
    refuse(&f, (struct str){raw.ptr, raw.len - 1}, "length");
    refuse(&f, (struct str){raw.ptr, 18}, "19 bytes");
    for (size_t i = 13; i < raw.len; i++) {
        if (i >= 17 && i < 19)
            continue;
        log.file.ptr[log.starts[1] + i] ^= 4;
        refuse(&f, raw, "checksum");
        log.file.ptr[log.starts[1] + i] ^= 4;
    }
    f.event_max = 20; /* which is for events that can be passed over */
    refuse(&f, (struct str){raw.ptr, raw.len - 1}, "length");
    read_ok(&f, raw);
    framer_fini(&f);
    log_free(&log);
}

static void of_rows_above_the_limit_the_beginning_is_enough(void **state)
{
    struct test_log log;
    struct framer f;
    struct event e;
    struct str raw;

    (void)state;
    log_start(&log, "8.0.40", true);
    log_rows(&log, EVENT_WRITE_ROWS, 5, true, "ff00010000000161");
    log_xid(&log);
    start_stream(&f, "bin.000007", 4);
    read_ok(&f, log_raw(&log, 0));
    raw = log_raw(&log, 1);
    refuse(&f, (struct str){raw.ptr, raw.len - 6}, "length");
    f.event_max = raw.len - 1;
    refuse(&f, (struct str){raw.ptr, raw.len + 1}, "length");
    e = read_ok(&f, (struct str){raw.ptr, raw.len - 6});
    assert_int_equal(e.cut, raw.len);
    assert_int_equal(e.end, log.starts[2]);
    e = read_ok(&f, log_raw(&log, 2));
    assert_int_equal(e.cut, 0);
    framer_fini(&f);
    log_free(&log);
}

static void rows_that_just_reach_the_limit_are_whole(void **state)
{
    struct test_log log;
    struct framer f;

    (void)state;
    log_start(&log, "8.0.40", true);
    log_rows(&log, EVENT_WRITE_ROWS, 5, true, "ff00010000000161");
    start_stream(&f, "bin.000007", 4);
    f.event_max = log_raw(&log, 1).len;
    read_ok(&f, log_raw(&log, 0));
    assert_int_equal(read_ok(&f, log_raw(&log, 1)).cut, 0);
    framer_fini(&f);
    log_free(&log);
}

static void damage_of_the_format_event_is_seen(void **state)
{
    struct test_log log;
    struct framer f;

    (void)state;
    log_start(&log, "8.0.40", true);
    log.file.ptr[log.starts[0] + EVENT_HEADER_LEN + 10] ^= 4; /* in the server's name */
    start_stream(&f, "bin.000007", 4);
    refuse(&f, log_raw(&log, 0), "checksum");
    framer_fini(&f);
    log_free(&log);
}

/* A file in use is marked so after its checksum was made. */
static void the_mark_of_a_file_in_use_is_not_damage(void **state)
{
    struct test_log log;
    struct framer f;

    (void)state;
    log_start(&log, "8.0.40", true);
    log.file.ptr[4 + 17] |= 1;
    start_stream(&f, "bin.000007", 4);
    read_ok(&f, log_raw(&log, 0));
    framer_fini(&f);
    log_free(&log);
}

static bool all_unwanted(void *ctx, uint8_t type, struct str body)
{
    (void)ctx;
    (void)type;
    return body.len > 0;
}

static void rows_that_nobody_wants_are_not_checksummed(void **state)
{
    struct test_log log;
    struct framer f;
    struct str raw;

    (void)state;
    log_start(&log, "8.0.40", true);
    log_rows(&log, EVENT_WRITE_ROWS, 5, true, "ff00");
    log_xid(&log);
    start_stream(&f, "bin.000007", 4);
    f.unwanted = all_unwanted;
    read_ok(&f, log_raw(&log, 0));
    raw = log_raw(&log, 1);
    log.file.ptr[log.starts[1] + raw.len - 1] ^= 1;
    assert_true(read_ok(&f, raw).skipped);
    raw = log_raw(&log, 2);
    log.file.ptr[log.starts[2] + raw.len - 1] ^= 1;
    refuse(&f, raw, "checksum");
    framer_fini(&f);
    log_free(&log);
}

/* Relay logs have positions and ROTATE events of another server. */
static void a_file_is_counted_by_its_bytes_alone(void **state)
{
    struct test_log log;
    struct framer f;
    struct buf body = {0};

    (void)state;
    log_start(&log, "8.0.40", false);
    put_le(&body, 777, 8);
    buf_append(&body, STR("master.000123"));
    log_event(&log, EVENT_ROTATE, buf_str(&body));
    log.no_log_pos = true;
    buf_clear(&body);
    format_body(&body, "5.7.44", false); /* of the other server */
    log_event(&log, EVENT_FORMAT_DESCRIPTION, buf_str(&body));
    log_xid(&log);
    framer_init(&f, (struct position){STR("relay.000001"), 4}, true, 1 << 20);
    for (size_t i = 0; i < log.n; i++) {
        const struct event e = read_ok(&f, log_raw(&log, i));

        assert_true(str_equal(e.file, STR("relay.000001")));
        assert_int_equal(e.start, log.starts[i]);
        assert_int_equal(e.end, log.starts[i + 1]);
    }
    framer_fini(&f);
    buf_free(&body);
    log_free(&log);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_dump_is_counted_from_its_start),
        cmocka_unit_test(the_checksum_of_a_made_up_rotate_is_seen_by_itself),
        cmocka_unit_test(a_format_event_sent_again_takes_no_room),
        cmocka_unit_test(the_start_of_encryption_sent_again_takes_no_room),
        cmocka_unit_test(positions_go_on_beyond_4_gib),
        cmocka_unit_test(events_without_log_pos_are_counted),
        cmocka_unit_test(what_the_server_leaves_out_is_passed_over),
        cmocka_unit_test(a_heartbeat_tells_where_reading_stands),
        cmocka_unit_test(a_real_rotate_belongs_to_the_old_file),
        cmocka_unit_test(damage_is_seen),
        cmocka_unit_test(of_rows_above_the_limit_the_beginning_is_enough),
        cmocka_unit_test(rows_that_just_reach_the_limit_are_whole),
        cmocka_unit_test(damage_of_the_format_event_is_seen),
        cmocka_unit_test(the_mark_of_a_file_in_use_is_not_damage),
        cmocka_unit_test(rows_that_nobody_wants_are_not_checksummed),
        cmocka_unit_test(a_file_is_counted_by_its_bytes_alone),
    };
    return cmocka_run_group_tests_name("framer", tests, NULL, NULL);
}
