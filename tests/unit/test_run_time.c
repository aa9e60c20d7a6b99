#include "config.h"

#include "tests/unit/unit.h"

#include "src/base/buf.h"
#include "src/config/configuration.h"
#include "src/config/setting.h"
#include "src/format/json.h"

#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

static void choose(struct configuration *v, const char *name, const char *text)
{
    struct err err = {0};

    if (!configuration_choose(v, str_from(name),
                              text == NULL ? (struct str){0} : str_from(text), &err))
        fail_msg("%s", err.msg);
}

/* Of --set alone. */
static struct configuration *load(const char *const *sets, size_t n)
{
    char empty[64];
    const int fd = memfd_create("empty", MFD_CLOEXEC);
    const struct configuration_source source = {.file = empty, .sets = sets, .n_sets = n};
    struct problems *problems = problems_new();

    snprintf(empty, sizeof(empty), "/proc/self/fd/%d", fd);

    struct configuration *c = configuration_load(&source, problems);

    assert_non_null(c);
    problems_free(problems);
    close(fd);
    return c;
}

static struct delivery_settings settings_of(const struct configuration *v)
{
    struct err err = {0};

    if (!configuration_check(v, &err))
        fail_msg("%s", err.msg);
    return configuration_settings(v)->delivery;
}

static void the_defaults_are_those_of_the_specification(void **state)
{
    struct configuration *v = configuration_new();
    const struct delivery_settings s = settings_of(v);

    (void)state;
    assert_int_equal(s.workers, 10);
    assert_int_equal(s.helpers, 10);
    assert_int_equal(s.batch_min, 1);
    assert_int_equal(s.batch_max, 0);
    assert_int_equal(s.batch_bytes, 8 << 20);
    assert_int_equal(s.flush_ms, 1000);
    assert_int_equal(s.request_timeout_ms, 60000);
    assert_int_equal(s.bytes_max, 64 << 20);
    assert_int_equal(s.load_batch_max, 500);
    assert_int_equal(s.loads_max, 2);
    assert_int_equal(s.read_window_ms, 200);
    assert_int_equal(s.fan_out_share, 20);
    assert_int_equal(s.high_water_mark, 10000);
    assert_int_equal(s.failures, 3);
    assert_int_equal(s.failure_window_ms, 5000);
    assert_int_equal(s.reset_after_ms, 30000);
    assert_int_equal(s.drain_timeout_ms, 60000);
    assert_int_equal(s.drain_cancel_timeout_ms, 5000);
    assert_int_equal(s.connections, 100);
    assert_int_equal(s.purge, PURGE_ONE);
    assert_true(s.drain);
    configuration_free(v);
}

static void every_setting_of_delivery_can_be_set_and_reset(void **state)
{
    struct configuration *v = configuration_new();

    (void)state;
    for (size_t i = 0; i < n_settings; i++) {
        struct buf json = {0};

        if (strncmp(settings[i].name, "delivery.", 9) != 0)
            continue;
        choose(v, settings[i].name, settings[i].preset);
        configuration_append_run_time(v, NULL, str_from(settings[i].name), &json);
        assert_non_null(strstr(json.ptr, "set at run time"));
        choose(v, settings[i].name + 9, NULL);
        buf_clear(&json);
        configuration_append_run_time(v, NULL, str_from(settings[i].name), &json);
        assert_non_null(strstr(json.ptr, "\"origin\":\"default\""));
        buf_free(&json);
    }
    configuration_free(v);
}

static void what_was_set_counts_more_than_what_is_configured(void **state)
{
    const char *const sets[] = {"delivery.workers=5", "delivery.workers=7",
                                "delivery.helpers=4"};
    struct configuration *v = load(sets, 1), *read_again = load(sets + 1, 2);

    (void)state;
    assert_int_equal(settings_of(v).workers, 5);
    choose(v, "workers", "20");
    assert_int_equal(settings_of(v).workers, 20);
    configuration_take_configured(v, read_again);
    assert_int_equal(settings_of(v).workers, 20);
    assert_int_equal(settings_of(v).helpers, 4);
    choose(v, "delivery.workers", NULL);
    assert_int_equal(settings_of(v).workers, 7);
    configuration_free(v);
    configuration_free(read_again);
}

static void the_previous_value_is_what_was_in_force_g1(void **state)
{
    struct configuration *before = configuration_new(), *v;
    struct buf json = {0};

    (void)state;
    choose(before, "workers", "20");
    v = configuration_copy(before);
    choose(v, "workers", "30");
    configuration_append_run_time(v, before, (struct str){0}, &json);
    assert_string_equal(json.ptr, "[{\"name\":\"workers\",\"previous\":\"20\",\"value\":\"30\","
                                  "\"origin\":\"set at run time\",\"configured\":\"10\"}]");
    buf_free(&json);
    configuration_free(v);
    configuration_free(before);
}

static void what_was_set_is_there_after_a_restart(void **state)
{
    struct configuration *v = configuration_new(), *next = configuration_new();
    struct buf json = {0};
    struct err err = {0};

    (void)state;
    choose(v, "batch_max", "500");
    choose(v, "flush_interval", "2s");
    configuration_append_chosen(v, &json);
    assert_true(configuration_load_chosen(next, buf_str(&json), &err));
    assert_int_equal(settings_of(next).batch_max, 500);
    assert_int_equal(settings_of(next).flush_ms, 2000);
    assert_false(configuration_load_chosen(next, STR("{\"colour\":\"red\"}"), &err));
    assert_false(configuration_load_chosen(next, STR("{"), &err));
    buf_free(&json);
    configuration_free(v);
    configuration_free(next);
}

/* Alone, and then together; `part` is in the refusal. */
static void refused(const char *name, const char *text, const char *part)
{
    struct configuration *v = configuration_new();
    struct err err = {0};

    assert_false(configuration_choose(v, str_from(name), str_from(text), &err) &&
                 configuration_check(v, &err));
    assert_int_equal(err.kind, ERR_REJECT);
    if (strstr(err.msg, part) == NULL)
        fail_msg("\"%s\" is not in \"%s\"", part, err.msg);
    if (strstr(part, "unknown") == NULL && strstr(err.msg, name) == NULL)
        fail_msg("the setting is not named: \"%s\"", err.msg);
    configuration_free(v);
}

static void what_makes_no_sense_is_refused_with_the_name_and_the_fix_f64(void **state)
{
    (void)state;
    refused("workers", "0", "out of range, 1 to 1000");
    refused("workers", "many", "a whole number");
    refused("batch_min", "0", "out of range, 1 to");
    refused("batch_min", "-1", "a whole number");
    refused("batch_max", "0", "auto or a whole number from 1");
    refused("batch_bytes", "1KiB", "out of range");
    refused("flush_interval", "-1s", "a time like 500ms");
    refused("flush_interval", "5", "a time like 500ms");
    refused("purge", "purge_two", "one of purge_one purge_index purge_all off");
    refused("drain", "perhaps", "true or false");
    refused("connections", "0", "out of range, 1 to");
    refused("worker", "1", "unknown delivery setting `worker`; fix: did you mean `workers`?");
    refused("", "1", "unknown delivery setting");
}

static void a_minimum_above_the_maximum_is_refused_whichever_is_set_last_f64(void **state)
{
    struct configuration *v = configuration_new();
    struct err err = {0};

    (void)state;
    choose(v, "batch_max", "10");
    choose(v, "batch_min", "11");
    assert_false(configuration_check(v, &err));
    assert_non_null(strstr(err.msg,
                           "delivery.batch_max, 10, is less than delivery.batch_min, 11; "
                           "fix: set batch_max to auto or to 11 at least"));
    choose(v, "batch_max", "auto");
    assert_int_equal(settings_of(v).batch_min, 11);
    configuration_free(v);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_defaults_are_those_of_the_specification),
        cmocka_unit_test(every_setting_of_delivery_can_be_set_and_reset),
        cmocka_unit_test(what_was_set_counts_more_than_what_is_configured),
        cmocka_unit_test(the_previous_value_is_what_was_in_force_g1),
        cmocka_unit_test(what_was_set_is_there_after_a_restart),
        cmocka_unit_test(what_makes_no_sense_is_refused_with_the_name_and_the_fix_f64),
        cmocka_unit_test(a_minimum_above_the_maximum_is_refused_whichever_is_set_last_f64),
    };
    return cmocka_run_group_tests_name("run_time", tests, NULL, NULL);
}
