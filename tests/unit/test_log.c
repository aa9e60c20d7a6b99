#include "config.h"

#include "tests/unit/unit.h"

#include "src/base/buf.h"
#include "src/base/log.h"
#include "src/base/log_text.h"

#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

static void a_line_is_one_json_object(void **state)
{
    int fds[2];
    char line[1024];
    struct err err = {0};
    bool again = true; /* a bare true is an int in C11 */

    (void)state;
    assert_int_equal(pipe(fds), 0);
    log_set_fd(fds[1]);
    err_set_code(&err, ERR_RETRY, "http", 429, "too many requests");
    log_failure(LOG_WARN, &err, "bulk refused", KV("lane", 3), KV("docs", (size_t)500),
                KV("index", "orders\"1"), KV("again", again));
    log_debug("hidden");

    ssize_t n = read(fds[0], line, sizeof(line) - 1);

    assert_true(n > 0);
    line[n] = '\0';
    assert_non_null(strstr(line, "\"level\":\"warn\",\"msg\":\"bulk refused\",\"lane\":3,"
                                 "\"docs\":500,\"index\":\"orders\\\"1\",\"again\":true,"
                                 "\"kind\":\"retry\",\"origin\":\"http\",\"code\":429,"
                                 "\"cause\":\"too many requests\""));
    assert_null(strstr(line, "hidden"));
    assert_ptr_equal(strchr(line, '\n'), line + n - 1);
    close(fds[0]);
    close(fds[1]);
}

static void a_line_for_people_cannot_move_the_cursor(void **state)
{
    const struct log_kv kv[] = {KV("index", "orders"), KV("rows", 3), KV("table", "a b"),
                                KV("name", "x\x1b[2J\x7f\xc2\x9b\xc3\xa9"), KV("empty", "")};
    struct err err = {0};
    const struct log_event e = {.at = {1700000000, 5000000},
                                .level = LOG_WARN,
                                .file = "f.c",
                                .msg = "bulk refused",
                                .err = &err,
                                .kv = kv,
                                .n_kv = ARRAY_LEN(kv)};
    struct buf text = {0}, coloured = {0};

    (void)state;
    err_set_code(&err, ERR_RETRY, "http", 429, "too many requests");
    log_text_append(&text, &e, false);
    assert_string_equal(text.ptr, "2023-11-14T22:13:20.005Z WARN  bulk refused  index=orders "
                                  "rows=3 table=\"a b\" "
                                  "name=\"x\\u001b[2J\\u007f\\u009b\xc3\xa9\" empty=\"\" "
                                  "kind=retry http=429 cause=\"too many requests\"\n");
    log_text_append(&coloured, &e, true);
    assert_non_null(strstr(coloured.ptr, "\x1b[33mWARN \x1b[0m bulk refused"));
    buf_free(&text);
    buf_free(&coloured);
}

static void lines_have_the_form_that_was_set(void **state)
{
    char line[1024];
    int fds[2];

    (void)state;
    assert_int_equal(pipe(fds), 0);
    log_set_fd(fds[1]);
    log_set_format(LOG_TEXT);
    log_info("shown", KV("n", 1));
    log_set_format(LOG_JSON);
    log_set_fd(STDERR_FILENO);

    ssize_t n = read(fds[0], line, sizeof(line) - 1);

    assert_true(n > 0);
    line[n] = '\0';
    assert_string_equal(line + strlen("2023-11-14T22:13:20.005Z"), " INFO  shown  n=1\n");
    close(fds[0]);
    close(fds[1]);
}

static void every_level_is_found_by_its_name(void **state)
{
    enum log_level level;

    (void)state;
    for (int i = LOG_DEBUG; i <= LOG_ERROR; i++) {
        assert_true(log_level_parse(str_from(log_level_name((enum log_level)i)), &level));
        assert_int_equal(level, i);
    }
    assert_false(log_level_parse(STR("loud"), &level));
}

static void nothing_below_the_level_is_written(void **state)
{
    char line[1024];
    int fds[2];

    (void)state;
    assert_int_equal(pipe(fds), 0);
    log_set_fd(fds[1]);
    log_set_level(LOG_WARN);
    log_info("hidden");
    log_warn("shown", KV("n", 1));
    log_set_level(LOG_INFO);

    ssize_t n = read(fds[0], line, sizeof(line) - 1);

    assert_true(n > 0);
    line[n] = '\0';
    assert_null(strstr(line, "hidden"));
    assert_non_null(strstr(line, "\"msg\":\"shown\",\"n\":1"));
    log_set_fd(STDERR_FILENO);
    close(fds[0]);
    close(fds[1]);
}

/* A file that may have so many bytes, as if the disk were full then. */
static void let_files_have(size_t n)
{
    struct rlimit limit;

    assert_int_equal(getrlimit(RLIMIT_FSIZE, &limit), 0);
    limit.rlim_cur = n == 0 ? limit.rlim_max : n;
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &limit), 0);
}

static void what_a_full_disk_does_not_take_is_counted_and_told_when_there_is_room(void **state)
{
    static const char torn[] = "{\"ts\":";
    FILE *f = tmpfile();
    char text[4096];
    const uint64_t lost = log_lost();

    (void)state;
    assert_non_null(f);
    signal(SIGXFSZ, SIG_IGN);
    log_set_fd(fileno(f));
    let_files_have(sizeof(torn) - 1);
    log_info("first");
    log_info("second");
    log_info("third");
    assert_int_equal(log_lost() - lost, 3);
    let_files_have(0);
    log_info("fourth");
    log_info("fifth");
    assert_int_equal(log_lost() - lost, 3);
    log_set_fd(STDERR_FILENO);

    const ssize_t n = pread(fileno(f), text, sizeof(text) - 1, 0);

    assert_true(n > 0);
    text[n] = '\0';
    fclose(f);

    /* Each line by itself, behind what there is of the first. */
    const char *told = strstr(text, "\n{");

    assert_ptr_equal(told, text + strlen(torn));
    assert_non_null(strstr(told, "are lost\",\"lines\":3,\"cause\":\"File too large\""));

    const char *fourth = strstr(told + 1, "\n{"), *fifth = strstr(fourth + 1, "\n{");

    assert_non_null(strstr(fourth, "\"msg\":\"fourth\""));
    assert_non_null(strstr(fifth, "\"msg\":\"fifth\""));
    assert_null(strstr(text, "third"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_line_is_one_json_object),
        cmocka_unit_test(a_line_for_people_cannot_move_the_cursor),
        cmocka_unit_test(lines_have_the_form_that_was_set),
        cmocka_unit_test(every_level_is_found_by_its_name),
        cmocka_unit_test(nothing_below_the_level_is_written),
        cmocka_unit_test(what_a_full_disk_does_not_take_is_counted_and_told_when_there_is_room),
    };
    return cmocka_run_group_tests_name("log", tests, NULL, NULL);
}
