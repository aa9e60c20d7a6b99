#include "config.h"

#include "tests/unit/events.h"

#include "sync/source/transport/transport.h"

#include <unistd.h>

struct fixture {
    struct test_log log;
    char path[64];
};

static void write_file(const struct fixture *f, struct str bytes)
{
    FILE *out = fopen(f->path, "wb");

    assert_non_null(out);
    assert_int_equal(fwrite(bytes.ptr, 1, bytes.len, out), bytes.len);
    fclose(out);
}

static int set_up(void **state)
{
    struct fixture *f = calloc(1, sizeof(*f));

    snprintf(f->path, sizeof(f->path), "test_transport_file.%d.tmp", (int)getpid());
    log_start(&f->log, "8.0.40", true);
    log_query(&f->log, "d", "BEGIN");
    log_xid(&f->log);
    write_file(f, buf_str(&f->log.file));
    *state = f;
    return 0;
}

static int tear_down(void **state)
{
    struct fixture *f = *state;

    unlink(f->path);
    log_free(&f->log);
    free(f);
    return 0;
}

/* How many events come; the end in *got. */
static size_t count(const struct fixture *f, uint64_t offset, size_t event_max, int *got,
                    struct err *err)
{
    struct transport *t = NULL;
    struct str event;
    size_t n = 0;

    *err = (struct err){0};
    *got = -1;
    if (!transport_open_file(&t, f->path, offset, event_max, err))
        return 0;
    while ((*got = transport_next(t, &event, err)) == 1) {
        const size_t i = offset > 4 && n > 0 ? n + 1 : n;

        assert_true(str_equal(event, log_raw(&f->log, i)));
        n++;
    }
    transport_close(t);
    return n;
}

static void every_event_comes_as_it_stands(void **state)
{
    struct fixture *f = *state;
    struct err err;
    int got;

    assert_int_equal(count(f, 4, 0, &got, &err), 3);
    assert_int_equal(got, 0);
}

static void reading_further_on_begins_with_the_format(void **state)
{
    struct fixture *f = *state;
    struct err err;
    int got;

    assert_int_equal(count(f, f->log.starts[2], 0, &got, &err), 2);
    assert_int_equal(got, 0);
}

static void a_cut_file_gives_all_before_the_cut_and_says_where(void **state)
{
    struct fixture *f = *state;
    struct err err;
    char where[100];
    int got;

    for (size_t n = f->log.starts[2] + 1; n < f->log.file.len; n++) {
        write_file(f, (struct str){f->log.file.ptr, n});
        assert_int_equal(count(f, 4, 0, &got, &err), 2);
        assert_int_equal(got, -1);
        assert_int_equal(transport_reason_of(&err), TRANSPORT_DAMAGED);
        snprintf(where, sizeof(where), "%s:%zu: the file ends inside", f->path,
                 f->log.starts[2]);
        assert_non_null(strstr(err.msg, where));
    }
}

static void what_is_no_log_is_refused(void **state)
{
    static const struct {
        struct str bytes;
        enum transport_reason reason;
    } cases[] = {
        {STR(""), TRANSPORT_DAMAGED},
        {STR("\xfe"
             "bi"),
         TRANSPORT_DAMAGED},
        {STR("\x1f\x8b\x08\x00"), TRANSPORT_DAMAGED},
        {STR("\xfd"
             "bin123"),
         TRANSPORT_REFUSED},
        {STR("\xfe"
             "bin0123456789abcdefghijk"),
         TRANSPORT_MAX_PACKET},
        {STR("\xfe"
             "bin012345678\1\0\0\0defghijk"),
         TRANSPORT_DAMAGED},
    };
    struct fixture *f = *state;

    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct err err;
        int got;

        write_file(f, cases[i].bytes);
        assert_int_equal(count(f, 4, 0, &got, &err), 0);
        assert_int_equal(got, -1);
        if (transport_reason_of(&err) != cases[i].reason)
            fail_msg("case %zu: %s", i, err.msg);
    }
    unlink(f->path);

    struct err err;
    int got;

    count(f, 4, 0, &got, &err);
    assert_int_equal(err.kind, ERR_REJECT);
}

static void an_encrypted_file_says_so_wherever_reading_starts(void **state)
{
    struct fixture *f = *state;
    struct transport *t = NULL;
    struct test_log log;
    struct str event;
    struct err err;

    log_start(&log, "10.11.6-MariaDB", true);
    log_hex(&log, EVENT_START_ENCRYPTION, "01010000000000");
    log_hex(&log, EVENT_IGNORABLE, "00");
    write_file(f, buf_str(&log.file));
    assert_true(transport_open_file(&t, f->path, log.starts[2], 0, &err));
    assert_int_equal(transport_next(t, &event, &err), 1);
    assert_int_equal(transport_next(t, &event, &err), 1);
    assert_true(str_equal(event, log_raw(&log, 1)));
    transport_close(t);
    log_free(&log);
}

static void an_event_above_the_limit_is_refused(void **state)
{
    struct fixture *f = *state;
    struct err err;
    int got;

    assert_int_equal(count(f, 4, 100, &got, &err), 0);
    assert_int_equal(transport_reason_of(&err), TRANSPORT_MAX_PACKET);
}

static void an_event_larger_than_the_buffer_is_read(void **state)
{
    struct fixture *f = *state;
    struct buf big = {0};
    struct err err;
    int got;

    for (int i = 0; i < 3000000; i++)
        buf_append_char(&big, (char)i);
    log_event(&f->log, EVENT_ROWS_QUERY, buf_str(&big));
    log_xid(&f->log);
    write_file(f, buf_str(&f->log.file));
    assert_int_equal(count(f, 4, 0, &got, &err), 5);
    assert_int_equal(got, 0);
    buf_free(&big);
}

static void of_rows_above_the_limit_the_beginning_is_read(void **state)
{
    struct fixture *f = *state;
    struct transport *t = NULL;
    struct buf big = {0};
    struct str event;
    struct err err;

    for (int i = 0; i < 3000000; i++)
        buf_append_char(&big, (char)i);
    log_event(&f->log, EVENT_WRITE_ROWS, buf_str(&big));
    log_xid(&f->log);
    write_file(f, buf_str(&f->log.file));
    assert_true(transport_open_file(&t, f->path, 4, 1000000, &err));
    for (size_t i = 0; i < f->log.n; i++) {
        const struct str raw = log_raw(&f->log, i);

        assert_int_equal(transport_next(t, &event, &err), 1);
        assert_true(str_equal(
            event, (struct str){raw.ptr, raw.len < 1000000 ? raw.len : EVENT_CUT_LEN}));
    }
    assert_int_equal(transport_next(t, &event, &err), 0);
    transport_close(t);
    f->log.file.len -= f->log.file.len - f->log.starts[4] + 1;
    write_file(f, buf_str(&f->log.file));
    assert_true(transport_open_file(&t, f->path, 4, 1000000, &err));
    for (size_t i = 0; i < 4; i++)
        assert_int_equal(transport_next(t, &event, &err), 1);
    assert_int_equal(transport_next(t, &event, &err), -1);
    assert_int_equal(transport_reason_of(&err), TRANSPORT_DAMAGED);
    transport_close(t);
    buf_free(&big);
}

static void an_interrupted_reader_stops(void **state)
{
    struct fixture *f = *state;
    struct transport *t = NULL;
    struct str event;
    struct err err;

    assert_true(transport_open_file(&t, f->path, 4, 0, &err));
    assert_int_equal(transport_next(t, &event, &err), 1);
    transport_interrupt(t);
    assert_int_equal(transport_next(t, &event, &err), -1);
    assert_int_equal(err.kind, ERR_STOP);
    transport_close(t);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(every_event_comes_as_it_stands, set_up, tear_down),
        cmocka_unit_test_setup_teardown(reading_further_on_begins_with_the_format, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(a_cut_file_gives_all_before_the_cut_and_says_where,
                                        set_up, tear_down),
        cmocka_unit_test_setup_teardown(what_is_no_log_is_refused, set_up, tear_down),
        cmocka_unit_test_setup_teardown(an_encrypted_file_says_so_wherever_reading_starts,
                                        set_up, tear_down),
        cmocka_unit_test_setup_teardown(an_event_above_the_limit_is_refused, set_up, tear_down),
        cmocka_unit_test_setup_teardown(of_rows_above_the_limit_the_beginning_is_read, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(an_event_larger_than_the_buffer_is_read, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(an_interrupted_reader_stops, set_up, tear_down),
    };
    return cmocka_run_group_tests_name("transport_file", tests, NULL, NULL);
}
