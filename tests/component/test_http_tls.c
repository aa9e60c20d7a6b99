#include "config.h"

#include "tests/unit/unit.h"

#include "src/base/buf.h"
#include "src/net/http_client.h"

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

/* The server that wants a certificate; ours is NAME.pem (NULL: none). */
static bool call_strict(const char *name, struct http_result *result)
{
    struct buf url = {0}, ca_file = {0}, cert_file = {0}, key_file = {0};
    struct err err = {0};

    buf_printf(&url, "https://127.0.0.1:%s", getenv("TLS_TEST_STRICT_PORT"));
    buf_printf(&ca_file, "%s/ca.pem", getenv("TLS_TEST_DIR"));
    buf_printf(&cert_file, "%s/%s.pem", getenv("TLS_TEST_DIR"), name != NULL ? name : "");
    buf_printf(&key_file, "%s/%s.key", getenv("TLS_TEST_DIR"), name != NULL ? name : "");

    const char *urls[] = {url.ptr};
    struct http_client *c =
        http_client_new(&(struct http_options){.urls = urls,
                                               .n_urls = 1,
                                               .ca_file = ca_file.ptr,
                                               .cert_file = name != NULL ? cert_file.ptr : NULL,
                                               .key_file = name != NULL ? key_file.ptr : NULL,
                                               .verify = true});
    const bool ok = http_client_call(
        c, &(struct http_request){.method = "GET", .path = STR("/")}, result, NULL, &err);

    http_client_free(c);
    buf_free(&url);
    buf_free(&ca_file);
    buf_free(&cert_file);
    buf_free(&key_file);
    return ok;
}

static void a_server_that_wants_our_certificate_gets_it(void **state)
{
    struct http_result result;

    (void)state;
    assert_true(call_strict("client", &result));
    assert_int_equal(result.status, 200);
}

static void without_one_or_with_a_foreign_one_it_refuses(void **state)
{
    struct http_result result;

    (void)state;
    assert_false(call_strict(NULL, &result));
    assert_non_null(strstr(result.err.msg, "search.cert_file"));
    assert_false(call_strict("other", &result));
    assert_non_null(strstr(result.err.msg, "search.cert_file"));
}

static void a_certificate_of_ours_that_is_missing_is_named(void **state)
{
    struct http_result result;

    (void)state;
    assert_false(call_strict("no-such-file", &result));
    assert_int_equal(result.outcome, HTTP_NOT_SENT);
    assert_non_null(strstr(result.err.msg, "check the client certificate and its key"));
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
        cmocka_unit_test(a_server_that_wants_our_certificate_gets_it),
        cmocka_unit_test(without_one_or_with_a_foreign_one_it_refuses),
        cmocka_unit_test(a_certificate_of_ours_that_is_missing_is_named),
    };

    signal(SIGPIPE, SIG_IGN);
    return cmocka_run_group_tests_name("http_tls", tests, NULL, NULL);
}
