/*
 * The signatures that the published test suite of signature version 4 gives for its requests
 * (key AKIDEXAMPLE, region us-east-1, service "service", 2015-08-30 12:36:00), and that of the
 * example of the General Reference.
 */
#include "config.h"

#include "tests/unit/unit.h"

#include "src/base/buf.h"
#include "src/net/sigv4.h"

#include <string.h>

#define DATE       "20150830T123600Z"
#define UNRESERVED "-._~0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
#define TOKEN                                                                                  \
    "AQoDYXdzEPT//////////wEXAMPLEtc764bNrC9SAPBSM22wDOk4x4HIZ8j4FZTwdQWLWsKWHGBuFqwAeMicRXmx" \
    "fpSPfIeoIYRqTflfKD8YUuwthAx7mSEI/qkPpKPi/kMcGdQrmGdeehM4IC1NtBmUpp2wUE8phUZampKsburEDy0K" \
    "PkyQDYwT7WZ0wq5VSXDvp75YU9HFvlRd8Tx6q6fE8YQcHNVXAkiY9q6d+xo0rKwT38xVqr7ZD0u0iPPkUL64lIZb" \
    "qBAz+scqKmlzm8FDrypNC9Yjc8fPOLn9FX9KSYvKTr4rvx3iSIlTJabIQwj2ICCR/oLxBA=="

static const struct sigv4_key example = {.region = "us-east-1",
                                         .service = "service",
                                         .id = "AKIDEXAMPLE",
                                         .secret = "wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY"};

/* further: headers beside host and date, as "name:value" each. */
struct vector {
    const char *name, *method, *path, *query, *further[4], *body, *signature;
};

static const struct vector vectors[] = {
    {"get-vanilla",
     "GET",
     "/",
     "",
     {0},
     "",
     "5fa00fa31553b73ebf1942676e86291e8372ff2a2260956d9b8aae1d763fbf31"},
    {"get-vanilla-query",
     "GET",
     "/",
     "",
     {0},
     "",
     "5fa00fa31553b73ebf1942676e86291e8372ff2a2260956d9b8aae1d763fbf31"},
    {"get-vanilla-empty-query-key",
     "GET",
     "/",
     "Param1=value1",
     {0},
     "",
     "a67d582fa61cc504c4bae71f336f98b97f1ea3c7a6bfe1b6e45aec72011b9aeb"},
    {"get-vanilla-query-order-key-case",
     "GET",
     "/",
     "Param2=value2&Param1=value1",
     {0},
     "",
     "b97d918cfa904a5beff61c982a1b6f458b799221646efd99d3219ec94cdf2500"},
    {"get-vanilla-query-unreserved",
     "GET",
     "/",
     UNRESERVED "=" UNRESERVED,
     {0},
     "",
     "9c3e54bfcdf0b19771a7f523ee5669cdf59bc7cc0884027167c21bb143a40197"},
    {"get-vanilla-utf8-query",
     "GET",
     "/",
     "\xe1\x88\xb4=bar",
     {0},
     "",
     "2cdec8eed098649ff3a119c94853b13c643bcf08f8b0a1d91e12c9027818dd04"},
    {"get-utf8",
     "GET",
     "/\xe1\x88\xb4",
     "",
     {0},
     "",
     "8318018e0b0f223aa2bbf98705b62bb787dc9c0e678f255a891fd03141be5d85"},
    {"get-space",
     "GET",
     "/example space/",
     "",
     {0},
     "",
     "652487583200325589f1fba4c7e578f72c47cb61beeca81406b39ddec1366741"},
    {"get-unreserved",
     "GET",
     "/" UNRESERVED,
     "",
     {0},
     "",
     "07ef7494c76fa4850883e2b006601f940f8a34d404d0cfa977f52a65bbf5f24f"},
    {"get-relative",
     "GET",
     "/example/..",
     "",
     {0},
     "",
     "5fa00fa31553b73ebf1942676e86291e8372ff2a2260956d9b8aae1d763fbf31"},
    {"get-relative-relative",
     "GET",
     "/example1/example2/../..",
     "",
     {0},
     "",
     "5fa00fa31553b73ebf1942676e86291e8372ff2a2260956d9b8aae1d763fbf31"},
    {"get-slash",
     "GET",
     "//",
     "",
     {0},
     "",
     "5fa00fa31553b73ebf1942676e86291e8372ff2a2260956d9b8aae1d763fbf31"},
    {"get-slash-dot-slash",
     "GET",
     "/./",
     "",
     {0},
     "",
     "5fa00fa31553b73ebf1942676e86291e8372ff2a2260956d9b8aae1d763fbf31"},
    {"get-slash-pointless-dot",
     "GET",
     "/./example",
     "",
     {0},
     "",
     "ef75d96142cf21edca26f06005da7988e4f8dc83a165a80865db7089db637ec5"},
    {"get-header-key-duplicate",
     "GET",
     "/",
     "",
     {"My-Header1:value2", "My-Header1:value2", "My-Header1:value1"},
     "",
     "c9d5ea9f3f72853aea855b47ea873832890dbdd183b4468f858259531a5138ea"},
    {"get-header-value-order",
     "GET",
     "/",
     "",
     {"My-Header1:value4", "My-Header1:value1", "My-Header1:value3", "My-Header1:value2"},
     "",
     "08c7e5a9acfcfeb3ab6b2185e75ce8b1deb5e634ec47601a50643f830c755c01"},
    {"get-header-value-trim",
     "GET",
     "/",
     "",
     {"My-Header1: value1", "My-Header2: \"a   b   c\""},
     "",
     "acc3ed3afb60bb290fc8d2dd0098b9911fcaa05412b367055dee359757a9c736"},
    {"post-vanilla",
     "POST",
     "/",
     "",
     {0},
     "",
     "5da7c1a2acd57cee7505fc6676e4e544621c30862966e37dddb68e92efbe5d6b"},
    {"post-vanilla-query",
     "POST",
     "/",
     "Param1=value1",
     {0},
     "",
     "28038455d6de14eafc1f9222cf5aa6f1a96197d7deb8263271d420d138af7f11"},
    {"post-header-key-sort",
     "POST",
     "/",
     "",
     {"My-Header1:value1"},
     "",
     "c5410059b04c1ee005303aed430f6e6645f61f4dc9e1461ec8f8916fdf18852c"},
    {"post-header-value-case",
     "POST",
     "/",
     "",
     {"My-Header1:VALUE1"},
     "",
     "cdbc9802e29d2942e5e10b5bccfdd67c5f22c7c4e8ae67b53629efa58b974b7d"},
    {"post-x-www-form-urlencoded",
     "POST",
     "/",
     "",
     {"Content-Type:application/x-www-form-urlencoded"},
     "Param1=value1",
     "ff11897932ad3f4e8b18135d722051e5ac45fc38421b1da7b9d196a0fe09473a"},
    {"post-x-www-form-urlencoded-parameters",
     "POST",
     "/",
     "",
     {"Content-Type:application/x-www-form-urlencoded; charset=utf8"},
     "Param1=value1",
     "1a72ec8f64bd914b0e42e42607c7fbce7fb2c7465f63e3092b3b0d39fa77a6fe"},
    {"post-sts-header-before",
     "POST",
     "/",
     "",
     {"X-Amz-Security-Token:" TOKEN},
     "",
     "85d96828115b5dc0cfc3bd16ad9e210dd772bbebba041836c64533a82be05ead"},
};

/* The signature, and the canonical request where asked for. */
static void sign(const struct sigv4_key *key, const struct vector *v, const char *host,
                 struct buf *signature, struct buf *canonical)
{
    struct sigv4_header headers[6] = {{STR("Host"), str_from(host)},
                                      {STR("X-Amz-Date"), STR(DATE)}};
    char payload[SIGV4_HASH_LEN + 1];
    struct buf value = {0};
    struct sigv4_request r = {.method = str_from(v->method),
                              .path = str_from(v->path),
                              .query = str_from(v->query),
                              .headers = headers,
                              .n_headers = 2,
                              .payload = payload};

    for (size_t i = 0; i < ARRAY_LEN(v->further) && v->further[i] != NULL; i++) {
        const char *colon = strchr(v->further[i], ':');

        headers[r.n_headers++] = (struct sigv4_header){
            {v->further[i], (size_t)(colon - v->further[i])}, str_from(colon + 1)};
    }
    sigv4_hash(str_from(v->body), payload);
    sigv4_authorize(key, &r, DATE, &value);
    buf_append(signature, buf_str(&value));
    if (canonical != NULL)
        sigv4_canonical(&r, canonical);
    buf_free(&value);
}

static void the_published_requests_have_their_published_signatures(void **state)
{
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(vectors); i++) {
        struct buf value = {0};
        const char *at;

        sign(&example, &vectors[i], "example.amazonaws.com", &value, NULL);
        at = strstr(value.ptr, "Signature=");
        assert_non_null(at);
        if (strcmp(at + strlen("Signature="), vectors[i].signature) != 0)
            fail_msg("%s: %s", vectors[i].name, value.ptr);
        buf_free(&value);
    }
}

static void the_value_names_the_key_its_scope_and_what_is_signed(void **state)
{
    static const struct vector list_users = {
        "ListUsers",
        "GET",
        "/",
        "Action=ListUsers&Version=2010-05-08",
        {"Content-Type:application/x-www-form-urlencoded; charset=utf-8"},
        "",
        ""};
    struct sigv4_key key = example;
    struct buf value = {0};

    (void)state;
    key.service = "iam";
    sign(&key, &list_users, "iam.amazonaws.com", &value, NULL);
    assert_string_equal(
        value.ptr,
        "AWS4-HMAC-SHA256 Credential=AKIDEXAMPLE/20150830/us-east-1/iam/aws4_request, "
        "SignedHeaders=content-type;host;x-amz-date, "
        "Signature=5d672d79c15b13162d9279b0855cfba6789a8edb4c82c400e06b5924a6f2b5d7");
    assert_null(strstr(value.ptr, example.secret));
    buf_free(&value);
}

/* As Millrace asks engines: encoded parts of paths, a query of stars and commas. */
static void what_is_encoded_in_a_path_is_encoded_again_and_in_a_query_is_not(void **state)
{
    static const struct vector ours = {"ours",
                                       "POST",
                                       "/o_write/_doc/a%2Fb%20c",
                                       "b=x%2cy&a&filter_path=items.*._id,errors",
                                       {0},
                                       "",
                                       ""};
    struct buf value = {0}, canonical = {0};

    (void)state;
    sign(&example, &ours, "h", &value, &canonical);
    assert_int_equal(strncmp(canonical.ptr,
                             "POST\n/o_write/_doc/a%252Fb%2520c\n"
                             "a=&b=x%2Cy&filter_path=items.%2A._id%2Cerrors\nhost:h\n",
                             strlen("POST\n/o_write/_doc/a%252Fb%2520c\n"
                                    "a=&b=x%2Cy&filter_path=items.%2A._id%2Cerrors\nhost:h\n")),
                     0);
    buf_free(&value);
    buf_free(&canonical);
}

static void a_date_is_that_of_greenwich(void **state)
{
    char date[SIGV4_DATE_LEN + 1];

    (void)state;
    sigv4_date(1440938160999, date);
    assert_string_equal(date, DATE);
    sigv4_date(0, date);
    assert_string_equal(date, "19700101T000000Z");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_published_requests_have_their_published_signatures),
        cmocka_unit_test(the_value_names_the_key_its_scope_and_what_is_signed),
        cmocka_unit_test(what_is_encoded_in_a_path_is_encoded_again_and_in_a_query_is_not),
        cmocka_unit_test(a_date_is_that_of_greenwich),
    };

    return cmocka_run_group_tests_name("sigv4", tests, NULL, NULL);
}
