#include "config.h"

#include "tests/unit/unit.h"

#include "src/base/buf.h"
#include "src/config/configuration.h"
#include "src/config/setting.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static char path[] = "/tmp/test_configuration_XXXXXX";

static void write_file(const char *text, mode_t mode)
{
    const int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC, mode);

    assert_true(fd >= 0);
    assert_int_equal(write(fd, text, strlen(text)), (ssize_t)strlen(text));
    assert_int_equal(fchmod(fd, mode), 0);
    close(fd);
}

static struct configuration *load(const char *text, char **environment, const char *set,
                                  struct buf *problems_text)
{
    const struct configuration_source source = {
        .file = path, .sets = &set, .n_sets = set != NULL, .environment = environment};
    struct problems *problems = problems_new();

    write_file(text, 0600);

    struct configuration *c = configuration_load(&source, problems);

    if (problems_text != NULL)
        problems_append_text(problems, problems_text);
    assert_int_equal(c == NULL, problems_count(problems, SEVERITY_ERROR) > 0);
    problems_free(problems);
    return c;
}

static void a_store_on_another_machine_without_checked_tls_is_warned_of(void **state)
{
    static const struct {
        const char *text, *warning;
        bool tls;
    } cases[] = {
        {"store: sqlite\n", "", false},
        {"store: mysql://m@127.0.0.1:3306/millrace\n", "", false},
        {"store: mysql://m@db:3306/millrace\n", "not encrypted", false},
        {"store: mysql://m@db/millrace\nstore_tls: {verify: true}\n", "", true},
        {"store: mysql://m@db/millrace\nstore_tls: {ca_file: /ca.pem}\n", "", true},
        {"store: mysql://m@db/millrace\nstore_tls: {verify: false}\n", "nobody checks", true},
        {"store: mysql://m@localhost/millrace\nstore_tls: {verify: false}\n", "", true},
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct buf problems = {0};
        struct configuration *c = load(cases[i].text, NULL, NULL, &problems);

        buf_append(&problems, STR(""));
        if (cases[i].warning[0] == '\0')
            assert_string_equal(problems.ptr, "");
        else
            assert_non_null(strstr(problems.ptr, cases[i].warning));
        assert_int_equal(configuration_gives(c, "store_tls."), cases[i].tls);
        configuration_free(c);
        buf_free(&problems);
    }
}

static void each_source_wins_over_the_ones_below_it(void **state)
{
    char variable[] = "MILLRACE_DELIVERY__WORKERS=7";
    char *environment[] = {variable, NULL};
    struct configuration *c = load("delivery: {workers: 5}\n", NULL, NULL, NULL);

    (void)state;
    assert_int_equal(configuration_settings(c)->delivery.workers, 5);
    assert_int_equal(configuration_settings(c)->delivery.helpers, 10);
    configuration_free(c);
    c = load("delivery: {workers: 5}\n", environment, NULL, NULL);
    assert_int_equal(configuration_settings(c)->delivery.workers, 7);
    configuration_free(c);
    c = load("delivery: {workers: 5}\n", environment, "delivery.workers=9", NULL);
    assert_int_equal(configuration_settings(c)->delivery.workers, 9);
    configuration_free(c);
}

static void values_are_read_with_their_units(void **state)
{
    struct configuration *c =
        load("delivery:\n  batch_bytes: 4MiB\n  flush_interval: 250ms\nsearch:\n  url: "
             "[http://a:1, http://b:2]\n  verify: false\n",
             NULL, NULL, NULL);

    (void)state;
    assert_int_equal(configuration_settings(c)->delivery.batch_bytes, 4 << 20);
    assert_int_equal(configuration_settings(c)->delivery.flush_ms, 250);
    assert_false(configuration_settings(c)->search.tls.verify);
    assert_string_equal(configuration_settings(c)->search.urls.items[1], "http://b:2");
    assert_int_equal(configuration_settings(c)->search.urls.n, 2);
    configuration_free(c);
}

static void every_setting_has_a_field_of_its_own_that_holds_its_default(void **state)
{
    static bool taken[sizeof(struct settings)];
    struct configuration *c = configuration_new();

    (void)state;
    for (size_t i = 0; i < n_settings; i++) {
        const struct setting *s = &settings[i];
        const bool is_text = s->kind == SETTING_TEXT || s->kind == SETTING_PATH;
        struct err err;

        for (size_t at = s->offset; at < s->offset + s->size; at++) {
            if (taken[at])
                fail_msg("%s has the field of another setting", s->name);
            taken[at] = true;
        }
        assert_int_equal(s->form == FIELD_TEXTS, s->kind == SETTING_LIST);
        assert_true(!is_text || s->form == FIELD_TEXT);
        if (s->preset != NULL && !setting_check(s, str_from(s->preset), &err))
            fail_msg("%s", err.msg);
        if (s->preset != NULL)
            assert_string_equal(configuration_text(c, s->name), s->preset);
    }
    assert_string_equal(configuration_settings(c)->data, "/var/lib/millrace");
    assert_true(configuration_settings(c)->search.tls.verify);
    assert_int_equal(configuration_settings(c)->search.timeout_ms, 30000);
    assert_int_equal(configuration_settings(c)->dead_letters_old_after_ms, 168 * 3600000);
    assert_int_equal(configuration_settings(c)->index_retire_after_ms, 0);
    assert_null(configuration_settings(c)->socket);
    configuration_free(c);
}

static void paths_are_relative_to_the_file(void **state)
{
    struct configuration *c = load("data: here\n", NULL, NULL, NULL);

    (void)state;
    assert_string_equal(configuration_text(c, "data"), "/tmp/here");
    configuration_free(c);
}

static void refused(const char *text, const char *part)
{
    struct buf said = {0};
    struct configuration *c = load(text, NULL, NULL, &said);

    assert_null(c);
    if (strstr(said.ptr, part) == NULL)
        fail_msg("`%s` is not in: %s", part, said.ptr);
    buf_free(&said);
}

static void what_is_wrong_is_named_with_its_place(void **state)
{
    (void)state;
    refused("delivery:\n  wokers: 3\n", ":2:3");
    refused("delivery:\n  wokers: 3\n", "delivery.workers");
    refused("delivery:\n\tworkers: 3\n", ":2:");
    refused("delivery:\n  workers: many\n", "expected a whole number, got `many`");
    refused("delivery:\n  workers: 0\n", "out of range");
    refused("coordination_timeout: 1s\n", "out of range, 2s to 2m");
    refused("coordination_timeout: 10\n", "expected a time like 500ms, 5s, 2m or 1h");
    refused("delivery:\n  batch_bytes: 5XB\n", "a size like");
    refused("web_tls: {min_version: 1.1}\n", "one of 1.2 1.3");
    refused("delivery: {failures: 101}\n", "out of range");
    refused("log: {level: loud}\n", "debug info warn error");
    refused("search: {user: }\n", "expected one value, got nothing");
    refused("delivery: {batch_min: 9, batch_max: 5}\n", "is less than delivery.batch_min, 9");
    refused("search: {url: 'ftp://a:9200'}\n", "got `ftp://a:9200`");
    refused("search: {url: ['http://a:9200', 'b:9200']}\n", "got `b:9200`");
    refused("- a\n", "expected settings");
    refused("serach: {url: 'http://a:9200'}\n", "did you mean `search`?");
    refused("search: http://a:9200\n", ":1:9: error: search: expected settings in a map, got");
}

static void a_password_in_a_file_that_others_may_read_is_refused(void **state)
{
    const struct configuration_source source = {.file = path};
    struct problems *problems = problems_new();
    struct buf said = {0};

    (void)state;
    write_file("search: {password: tiger}\n", 0644);
    assert_null(configuration_load(&source, problems));
    problems_append_text(problems, &said);
    assert_non_null(strstr(said.ptr, "chmod 600"));
    assert_null(strstr(said.ptr, "tiger"));
    buf_free(&said);
    problems_free(problems);
}

static void a_secret_is_never_shown(void **state)
{
    struct configuration *c = load("search: {password: tiger}\n", NULL, NULL, NULL);
    struct buf shown = {0};
    struct err err = {0};
    char *secret;

    (void)state;
    configuration_append_yaml(c, true, &shown);
    configuration_append_json(c, &shown);
    assert_null(strstr(shown.ptr, "tiger"));
    assert_non_null(strstr(shown.ptr, "***"));
    assert_true(configuration_secret(c, "search.password", &secret, &err));
    assert_string_equal(secret, "tiger");
    free(secret);
    buf_free(&shown);
    configuration_free(c);
}

static void a_password_in_an_address_is_refused_and_not_shown(void **state)
{
    static const char *const texts[] = {
        "search: {url: 'http://me:tiger@a:9200'}\n",
        "search: {url: [http://a:9200, 'http://me:tiger@b:9200']}\n",
        "store: mysql://me:tiger@db:3306/store\n",
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(texts); i++) {
        struct buf said = {0};

        assert_null(load(texts[i], NULL, NULL, &said));
        assert_non_null(strstr(said.ptr, "a password does not belong in an address"));
        assert_non_null(strstr(said.ptr, "password_file"));
        assert_null(strstr(said.ptr, "tiger"));
        buf_free(&said);
    }
}

static void variables_that_are_not_ours_are_warned_of(void **state)
{
    char variable[] = "MILLRACE_PORT=tcp://10.0.0.1:7700";
    char *environment[] = {variable, NULL};
    struct buf said = {0};
    struct configuration *c = load("listen: 127.0.0.1:7701\n", environment, NULL, &said);

    (void)state;
    assert_non_null(c);
    assert_non_null(strstr(said.ptr, "MILLRACE_PORT: warning: unknown setting `port`"));
    configuration_free(c);
    buf_free(&said);
}

static void a_password_file_that_others_may_read_is_refused(void **state)
{
    struct buf said = {0}, text = {0};

    (void)state;
    buf_printf(&text, "search: {password_file: %s}\n", path);

    struct configuration *c = load(text.ptr, NULL, NULL, NULL);

    assert_non_null(c);
    configuration_free(c);
    assert_int_equal(chmod(path, 0644), 0);

    struct problems *problems = problems_new();
    const struct configuration_source source = {.file = path};

    c = configuration_load(&source, problems);
    problems_append_text(problems, &said);
    assert_null(c);
    assert_non_null(strstr(said.ptr, "search.password_file: others may read or change"));
    problems_free(problems);
    buf_free(&said);
    buf_free(&text);
}

static void an_empty_log_in_is_refused(void **state)
{
    struct buf said = {0}, text = {0};
    char login[sizeof(path) + 8];
    struct configuration *c;
    FILE *f;

    (void)state;
    snprintf(login, sizeof(login), "%s.login", path);
    buf_printf(&text, "coordination_auth_file: %s\n", login);
    for (int i = 0; i < 2; i++) {
        f = fopen(login, "w");
        assert_non_null(f);
        assert_int_equal(fchmod(fileno(f), 0600), 0);
        fputs(i == 0 ? "\n" : "mill:secret\n", f);
        assert_int_equal(fclose(f), 0);
        buf_clear(&said);
        c = load(text.ptr, NULL, NULL, &said);
        if (i == 0) {
            assert_null(c);
            assert_non_null(strstr(said.ptr, path)); /* the place */
            assert_non_null(strstr(said.ptr, "coordination_auth_file: "));
            assert_non_null(strstr(said.ptr, " holds no log-in"));
            assert_non_null(strstr(said.ptr, "user:password"));
        } else {
            assert_non_null(c);
        }
        configuration_free(c);
    }
    unlink(login);
    buf_free(&said);
    buf_free(&text);
}

static void settings_take_variables_of_the_environment(void **state)
{
    char workers[] = "WORKERS=6", host[] = "MILLRACE_HOST=db", password[] = "PASSWORD=null";
    char *environment[] = {workers, host, password, NULL};
    struct buf said = {0}, shown = {0};
    struct configuration *c =
        load("delivery: {workers: '${WORKERS}', helpers: \"${MISSING:-4}\"}\n"
             "search: {url: ['http://${MILLRACE_HOST}:9200'], user: me, password: "
             "\"${PASSWORD}\"}\n",
             environment, NULL, &said);

    (void)state;
    assert_non_null(c);
    assert_null(said.ptr); /* MILLRACE_HOST is the file's, and so no unknown setting */
    assert_int_equal(configuration_settings(c)->delivery.workers, 6);
    assert_int_equal(configuration_settings(c)->delivery.helpers, 4);
    assert_string_equal(configuration_settings(c)->search.urls.items[0], "http://db:9200");
    assert_string_equal(configuration_settings(c)->search.password, "null");
    configuration_append_yaml(c, true, &shown);
    assert_non_null(strstr(shown.ptr, "workers: \"6\"  # /tmp/test_configuration_"));
    assert_non_null(strstr(shown.ptr, ":1, environment WORKERS\n"));
    assert_non_null(strstr(shown.ptr, ":2, environment MILLRACE_HOST\n"));
    assert_non_null(strstr(shown.ptr, ":1\n")); /* a default is the file's */
    configuration_free(c);
    buf_free(&said);
    buf_free(&shown);
}

static void every_value_says_where_it_comes_from(void **state)
{
    char variable[] = "MILLRACE_DELIVERY__WORKERS=7";
    char *environment[] = {variable, NULL};
    static const char *const lines[] = {
        "  workers: \"7\"  # environment MILLRACE_DELIVERY__WORKERS\n",
        "  helpers: \"9\"  # --set\n", ":1\n", "  loads: \"2\"  # default\n",
        "socket: null  # not set\n"};
    struct configuration *c = load("delivery: {workers: 5, load_batch: 3}\n", environment,
                                   "delivery.helpers=9", NULL);
    struct buf shown = {0};

    (void)state;
    configuration_append_yaml(c, true, &shown);
    for (size_t i = 0; i < ARRAY_LEN(lines); i++)
        if (strstr(shown.ptr, lines[i]) == NULL)
            fail_msg("`%s` is not in: %s", lines[i], shown.ptr);
    buf_free(&shown);
    configuration_free(c);
}

static void a_missing_variable_is_named_with_its_place(void **state)
{
    (void)state;
    refused("search: {user: me,\n  password: '${PW}'}\n",
            ":2:13: error: `${PW}`: the variable PW is not set in the environment\n");
    refused("delivery: {workers: '${N:-many}'}\n", "expected a whole number, got `many`");
}

static void a_password_of_the_environment_may_be_named_in_a_file_that_others_read(void **state)
{
    char password[] = "PASSWORD=tiger";
    char *environment[] = {password, NULL};
    struct buf said = {0};
    struct configuration_source source = {.file = path, .environment = environment};
    struct problems *problems = problems_new();

    (void)state;
    write_file("search: {user: me, password: '${PASSWORD}'}\n", 0644);

    struct configuration *c = configuration_load(&source, problems);

    assert_non_null(c);
    configuration_free(c);
    source.environment = NULL;
    write_file("search: {user: me, password: '${PASSWORD:-tiger}'}\n", 0644);
    assert_null(configuration_load(&source, problems));
    problems_append_text(problems, &said);
    assert_non_null(strstr(said.ptr, "others may read this file"));
    assert_null(strstr(said.ptr, "tiger"));
    problems_free(problems);
    buf_free(&said);
}

static void only_what_leads_to_the_daemon_is_needed_to_find_it(void **state)
{
    const struct configuration_source source = {.file = path, .to_connect = true};
    struct problems *problems = problems_new();

    (void)state;
    write_file("data: here\nsearch: {user: me, password: '${PASSWORD}'}\n", 0600);

    struct configuration *c = configuration_load(&source, problems);

    assert_non_null(c);
    assert_true(configuration_lacks_variables(c));
    assert_string_equal(configuration_settings(c)->data, "/tmp/here");
    configuration_free(c);
    write_file("data: '${PLACE}'\n", 0600);
    assert_null(configuration_load(&source, problems));
    problems_free(problems);
}

static int set_up(void **state)
{
    const int fd = mkstemp(path);

    (void)state;
    return fd < 0 ? -1 : close(fd);
}

static int tear_down(void **state)
{
    (void)state;
    return unlink(path);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_source_wins_over_the_ones_below_it),
        cmocka_unit_test(a_store_on_another_machine_without_checked_tls_is_warned_of),
        cmocka_unit_test(values_are_read_with_their_units),
        cmocka_unit_test(every_setting_has_a_field_of_its_own_that_holds_its_default),
        cmocka_unit_test(paths_are_relative_to_the_file),
        cmocka_unit_test(what_is_wrong_is_named_with_its_place),
        cmocka_unit_test(a_password_in_a_file_that_others_may_read_is_refused),
        cmocka_unit_test(a_secret_is_never_shown),
        cmocka_unit_test(a_password_in_an_address_is_refused_and_not_shown),
        cmocka_unit_test(variables_that_are_not_ours_are_warned_of),
        cmocka_unit_test(a_password_file_that_others_may_read_is_refused),
        cmocka_unit_test(an_empty_log_in_is_refused),
        cmocka_unit_test(settings_take_variables_of_the_environment),
        cmocka_unit_test(every_value_says_where_it_comes_from),
        cmocka_unit_test(a_missing_variable_is_named_with_its_place),
        cmocka_unit_test(a_password_of_the_environment_may_be_named_in_a_file_that_others_read),
        cmocka_unit_test(only_what_leads_to_the_daemon_is_needed_to_find_it),
    };
    return cmocka_run_group_tests_name("config", tests, set_up, tear_down);
}
