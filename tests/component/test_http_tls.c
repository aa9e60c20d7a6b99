#include "config.h"

#include "tests/unit/unit.h"

#include "src/base/buf.h"
#include "src/http_client.h"

#include <signal.h>
#include <stdlib.h>
#include <string.h>

/* One GET of the test server at host, over scheme, trusting the authority NAME.pem. */
static bool call(const char *scheme, const char *host, const char *authority, bool verify,
                 struct http_result *result)
{
    struct buf url = {0}, ca_file = {0};
    struct err err = {0};

    buf_printf(&url, "%s://%s:%s", scheme, host, getenv("TLS_TEST_PORT"));
    buf_printf(&ca_file, "%s/%s.pem", getenv("TLS_TEST_DIR"), authority);

    const char *urls[] = {url.ptr};
    struct http_client *c = http_client_new(&(struct http_options){
        .urls = urls, .n_urls = 1, .ca_file = ca_file.ptr, .verify = verify});
    bool ok = http_client_call(c, &(struct http_request){.method = "GET", .path = STR("/")},
                               result, NULL, &err);

    http_client_free(c);
    buf_free(&url);
    buf_free(&ca_file);
    return ok;
}

static void a_certificate_of_the_given_authority_is_trusted(void **state)
{
    struct http_result result;

    (void)state;
    assert_true(call("https", "127.0.0.1", "ca", true, &result));
    assert_int_equal(result.status, 200);
}

static void a_foreign_certificate_is_refused_before_anything_is_sent(void **state)
{
    struct http_result result;

    (void)state;
    assert_false(call("https", "127.0.0.1", "other", true, &result));
    assert_int_equal(result.outcome, HTTP_NOT_SENT);
    assert_non_null(strstr(result.err.msg, "set search.ca_file"));
}

static void a_certificate_for_another_name_is_refused(void **state)
{
    struct http_result result;

    (void)state;
    assert_false(call("https", "localhost", "ca", true, &result));
    assert_int_equal(result.outcome, HTTP_NOT_SENT);
    assert_non_null(strstr(result.err.msg, "search.ca_file"));
}

static void verification_can_be_switched_off(void **state)
{
    struct http_result result;

    (void)state;
    assert_true(call("https", "localhost", "other", false, &result));
    assert_int_equal(result.status, 200);
}

static void a_missing_authority_file_is_named(void **state)
{
    struct http_result result;

    (void)state;
    assert_false(call("https", "127.0.0.1", "no-such-file", true, &result));
    assert_int_equal(result.outcome, HTTP_NOT_SENT);
    assert_non_null(strstr(result.err.msg, "search.ca_file cannot be read"));
}

static void plain_http_to_a_tls_port_says_so(void **state)
{
    struct http_result result;

    (void)state;
    assert_false(call("http", "127.0.0.1", "ca", true, &result));
    assert_non_null(strstr(result.err.msg, "https://"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_certificate_of_the_given_authority_is_trusted),
        cmocka_unit_test(a_foreign_certificate_is_refused_before_anything_is_sent),
        cmocka_unit_test(a_certificate_for_another_name_is_refused),
        cmocka_unit_test(verification_can_be_switched_off),
        cmocka_unit_test(a_missing_authority_file_is_named),
        cmocka_unit_test(plain_http_to_a_tls_port_says_so),
    };

    signal(SIGPIPE, SIG_IGN);
    return cmocka_run_group_tests_name("http_tls", tests, NULL, NULL);
}
