#include "config.h"

#include "tests/unit/unit.h"

#include "src/base/buf.h"
#include "src/config/configuration.h"
#include "src/search/access.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* In a folder of its own, so that the files that cases name do not exist. */
static char folder[] = "/tmp/test_search_access_XXXXXX";
static char path[sizeof(folder) + sizeof("/millrace.yaml")];

static struct configuration *load(const char *search)
{
    const struct configuration_source source = {.file = path};
    struct problems *problems = problems_new();
    struct configuration *c;
    FILE *file = fopen(path, "w");

    assert_non_null(file);
    fprintf(file, "search: {%s}\n", search);
    assert_int_equal(fclose(file), 0);
    c = configuration_load(&source, problems);
    assert_non_null(c);
    problems_free(problems);
    return c;
}

static void forget_environment(void)
{
    unsetenv("AWS_ACCESS_KEY_ID");
    unsetenv("AWS_SECRET_ACCESS_KEY");
    unsetenv("AWS_SESSION_TOKEN");
}

static void two_ways_to_log_in_and_half_of_one_are_refused(void **state)
{
    static const struct {
        const char *search, *says; /* NULL: it is taken */
    } cases[] = {
        {"", NULL},
        {"user: a, password: b", NULL},
        {"user: a, api_key_file: x", "search.user and search.api_key_file are two ways"},
        {"api_key_env: X, aws_region: eu-central-1",
         "search.api_key_env and search.aws_region are two ways"},
        {"password: b", "search.password needs search.user"},
        {"aws_key_id: AK", "search.aws_key_id needs search.aws_region"},
        {"aws_credentials_file: x", "search.aws_credentials_file needs search.aws_region"},
        {"aws_region: eu-central-1, aws_secret: x",
         "search.aws_secret needs search.aws_key_id"},
        {"aws_region: eu-central-1, sniff: true",
         "search.sniff does not work with search.aws_region"},
        {"user: a, sniff: true", "search.sniff would send the credentials of search.user"},
        {"user: a, sniff: true, sniff_hosts: s1.example.org", NULL},
        {"user: a, sniff: true, url: [https://s], ca_file: ca.pem", NULL},
        {"user: a, sniff: true, url: [https://s]", "search.sniff would send"},
        {"user: a, sniff: true, url: [http://s], ca_file: ca.pem", "search.sniff would send"},
        {"user: a, sniff: true, url: [https://s], ca_file: ca.pem, verify: false",
         "search.sniff would send"},
        {"sniff: true", NULL},
        {"cert_file: x", "search.cert_file needs search.key_file"},
        {"user: a, cert_file: x, key_file: y", NULL},
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct configuration *c = load(cases[i].search);
        struct err err = {0};

        assert_int_equal(search_access_check(c, &err), cases[i].says == NULL);
        if (cases[i].says != NULL)
            assert_non_null(strstr(err.msg, cases[i].says));
        configuration_free(c);
    }
}

static void a_key_for_aws_is_that_of_the_configuration(void **state)
{
    struct configuration *c =
        load("aws_region: eu-central-1, aws_key_id: AKID, aws_secret: tiger");
    struct search_access a;
    struct err err = {0};

    (void)state;
    setenv("AWS_ACCESS_KEY_ID", "other", 1);
    setenv("AWS_SESSION_TOKEN", "of the other", 1);
    assert_true(search_access_open(&a, c, &err));
    assert_non_null(a.options.aws);
    assert_string_equal(a.options.aws->region, "eu-central-1");
    assert_string_equal(a.options.aws->service, "es");
    assert_string_equal(a.options.aws->id, "AKID");
    assert_string_equal(a.options.aws->secret, "tiger");
    assert_null(a.options.aws->token);
    search_access_close(&a);
    configuration_free(c);
    forget_environment();
}

static void without_one_it_is_that_of_the_environment(void **state)
{
    struct configuration *c = load("aws_region: eu-central-1, aws_service: aoss");
    struct search_access a;
    struct err err = {0};

    (void)state;
    setenv("AWS_ACCESS_KEY_ID", "AKENV", 1);
    setenv("AWS_SECRET_ACCESS_KEY", "lion", 1);
    setenv("AWS_SESSION_TOKEN", "for an hour", 1);
    assert_true(search_access_open(&a, c, &err));
    assert_string_equal(a.options.aws->service, "aoss");
    assert_string_equal(a.options.aws->id, "AKENV");
    assert_string_equal(a.options.aws->secret, "lion");
    assert_string_equal(a.options.aws->token, "for an hour");
    search_access_close(&a);
    forget_environment();
    assert_false(search_access_open(&a, c, &err));
    assert_non_null(strstr(err.msg, "AWS_ACCESS_KEY_ID"));
    search_access_close(&a);
    configuration_free(c);
}

static void a_region_is_no_way_to_log_in_without_a_secret(void **state)
{
    struct configuration *c = load("aws_region: eu-central-1, aws_key_id: AKID");
    struct search_access a;
    struct err err = {0};

    (void)state;
    assert_false(search_access_open(&a, c, &err));
    assert_int_equal(err.kind, ERR_REJECT);
    assert_non_null(strstr(err.msg, "search.aws_secret_file"));
    search_access_close(&a);
    configuration_free(c);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(two_ways_to_log_in_and_half_of_one_are_refused),
        cmocka_unit_test(a_key_for_aws_is_that_of_the_configuration),
        cmocka_unit_test(without_one_it_is_that_of_the_environment),
        cmocka_unit_test(a_region_is_no_way_to_log_in_without_a_secret),
    };
    int failed;

    forget_environment();
    if (mkdtemp(folder) == NULL)
        return 1;
    umask(077); /* the file has passwords */
    snprintf(path, sizeof(path), "%s/millrace.yaml", folder);
    failed = cmocka_run_group_tests_name("search_access", tests, NULL, NULL);
    unlink(path);
    rmdir(folder);
    return failed;
}
