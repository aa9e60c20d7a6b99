/* Which addresses are inside, and how what is posted is signed. */
#include "config.h"

#include "tests/unit/unit.h"

#include "src/net/hook.h"
#include "src/net/reach.h"

#include <arpa/inet.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>

static const char *inside(const char *text)
{
    struct sockaddr_in four = {.sin_family = AF_INET};
    struct sockaddr_in6 six = {.sin6_family = AF_INET6};

    if (inet_pton(AF_INET, text, &four.sin_addr) == 1)
        return reach_inside((const struct sockaddr *)&four);
    assert_int_equal(inet_pton(AF_INET6, text, &six.sin6_addr), 1);
    return reach_inside((const struct sockaddr *)&six);
}

static void each_special_network_is_inside_from_its_first_address_to_its_last(void **state)
{
    static const struct {
        const char *first, *last, *before, *behind, *kind; /* before, behind: public; or NULL */
    } nets[] = {
        {"0.0.0.0", "0.255.255.255", NULL, "1.0.0.0", "this network"},
        {"10.0.0.0", "10.255.255.255", "9.255.255.255", "11.0.0.0", "private"},
        {"100.64.0.0", "100.127.255.255", "100.63.255.255", "100.128.0.0",
         "shared by a carrier"},
        {"127.0.0.0", "127.255.255.255", "126.255.255.255", "128.0.0.0", "loopback"},
        {"169.254.0.0", "169.254.255.255", "169.253.255.255", "169.255.0.0", "link-local"},
        {"172.16.0.0", "172.31.255.255", "172.15.255.255", "172.32.0.0", "private"},
        {"192.0.0.0", "192.0.0.255", "191.255.255.255", "192.0.1.0", "reserved"},
        {"192.0.2.0", "192.0.2.255", "192.0.1.255", "192.0.3.0", "for documentation"},
        {"192.88.99.0", "192.88.99.255", "192.88.98.255", "192.88.100.0", "reserved"},
        {"192.168.0.0", "192.168.255.255", "192.167.255.255", "192.169.0.0", "private"},
        {"198.18.0.0", "198.19.255.255", "198.17.255.255", "198.20.0.0", "for benchmarks"},
        {"198.51.100.0", "198.51.100.255", "198.51.99.255", "198.51.101.0",
         "for documentation"},
        {"203.0.113.0", "203.0.113.255", "203.0.112.255", "203.0.114.0", "for documentation"},
        {"224.0.0.0", "239.255.255.255", "223.255.255.255", NULL, "multicast"},
        {"240.0.0.0", "255.255.255.255", NULL, NULL, "reserved"},
        {"::", "::", NULL, NULL, "unspecified"},
        {"::1", "::1", NULL, NULL, "loopback"},
        {"::2", "::ffff:ffff", NULL, NULL, "an IPv4 address inside IPv6"},
        {"::ffff:0.0.0.0", "::ffff:255.255.255.255", NULL, NULL, "an IPv4 address inside IPv6"},
        {"::ffff:8.8.8.8", "::ffff:127.0.0.1", NULL, NULL, "an IPv4 address inside IPv6"},
        {"64:ff9b:1::", "64:ff9b:1:ffff:ffff:ffff:ffff:ffff", NULL, NULL, "reserved"},
        {"100::", "100::ffff:ffff:ffff:ffff", NULL, NULL, "reserved"},
        {"2001::", "2001:1ff:ffff:ffff:ffff:ffff:ffff:ffff",
         "2000:ffff:ffff:ffff:ffff:ffff:ffff:ffff", "2001:200::", "reserved"},
        {"2001:db8::", "2001:db8:ffff:ffff:ffff:ffff:ffff:ffff",
         "2001:db7:ffff:ffff:ffff:ffff:ffff:ffff", "2001:db9::", "for documentation"},
        {"2002::", "2002:ffff:ffff:ffff:ffff:ffff:ffff:ffff",
         "2001:ffff:ffff:ffff:ffff:ffff:ffff:ffff", "2003::", "an IPv4 address inside IPv6"},
        {"3fff::", "3fff:fff:ffff:ffff:ffff:ffff:ffff:ffff",
         "3ffe:ffff:ffff:ffff:ffff:ffff:ffff:ffff", "3fff:1000::", "for documentation"},
        {"4000::", "5f00::1", "3fff:ffff:ffff:ffff:ffff:ffff:ffff:ffff", NULL, "reserved"},
        {"fc00::", "fdff:ffff:ffff:ffff:ffff:ffff:ffff:ffff", NULL, NULL, "unique-local"},
        {"fe80::", "febf:ffff:ffff:ffff:ffff:ffff:ffff:ffff", NULL, NULL, "link-local"},
        {"fec0::", "feff:ffff:ffff:ffff:ffff:ffff:ffff:ffff", NULL, NULL, "site-local"},
        {"ff00::", "ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff", NULL, NULL, "multicast"},
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(nets); i++) {
        assert_string_equal(inside(nets[i].first), nets[i].kind);
        assert_string_equal(inside(nets[i].last), nets[i].kind);
        if (nets[i].before != NULL)
            assert_null(inside(nets[i].before));
        if (nets[i].behind != NULL)
            assert_null(inside(nets[i].behind));
    }
}

static void public_addresses_are_not_inside(void **state)
{
    static const char *const list[] = {"1.1.1.1",   "8.8.8.8",         "100.63.255.255",
                                       "192.0.1.1", "223.255.255.255", "2606:4700:4700::1111",
                                       "2a00::1",   "2000::1"};

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(list); i++)
        assert_null(inside(list[i]));
}

static void behind_nat64_the_address_inside_counts(void **state)
{
    (void)state;
    assert_null(inside("64:ff9b::8.8.8.8"));
    assert_string_equal(inside("64:ff9b::127.0.0.1"), "loopback");
    assert_string_equal(inside("64:ff9b::169.254.169.254"), "link-local");
}

static void what_is_no_ip_address_is_inside(void **state)
{
    const struct sockaddr_un path = {.sun_family = AF_UNIX};

    (void)state;
    assert_non_null(reach_inside((const struct sockaddr *)&path));
}

/* ---- hooks ---- */

#define NAME_MAX_ 200

static bool opens(const struct hook_options *opt, char *name, char *why)
{
    struct hook *h = NULL;
    struct err err = {0};
    const bool ok = hook_open(&h, opt, &err);

    snprintf(why, ERR_MSG_MAX, "%s", err.msg);
    if (ok)
        snprintf(name, NAME_MAX_, "%s", hook_name(h));
    hook_close(h);
    return ok;
}

static void only_the_host_of_an_address_is_shown(void **state)
{
    static const struct {
        const char *url, *name;
    } good[] = {
        {"https://hooks.example.org/services/T0/B0/secret", "https://hooks.example.org"},
        {"https://user:password@example.org:8443/x?key=y", "https://example.org:8443"},
        {"HTTPS://example.org?key=y", "HTTPS://example.org"},
        {"https://[2001:db8::1]:1/x", "https://[2001:db8::1]:1"},
    };
    char name[NAME_MAX_], why[ERR_MSG_MAX];

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(good); i++) {
        const struct hook_options opt = {.section = "alarms", .url = good[i].url};

        assert_true(opens(&opt, name, why));
        assert_string_equal(name, good[i].name);
    }
}

static void what_is_no_address_of_a_receiver_is_refused_without_showing_it(void **state)
{
    static const char *const bad[] = {"",
                                      "example.org/secret",
                                      "ftp://example.org/secret",
                                      "file:///etc/secret",
                                      "https:///secret",
                                      "https://user@/secret",
                                      "https://:443/secret",
                                      "https://example.org/secret\r\nX: y",
                                      "https://example.org/a secret",
                                      "http://example.org/secret"};
    char name[NAME_MAX_], why[ERR_MSG_MAX];

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(bad); i++) {
        const struct hook_options opt = {.section = "alarms", .url = bad[i]};

        assert_false(opens(&opt, name, why));
        assert_null(strstr(why, "secret"));
        assert_non_null(strstr(why, "; fix: "));
    }
}

static void http_and_short_secrets_need_to_be_allowed(void **state)
{
    struct hook_options opt = {.section = "alarms", .url = "http://example.org/"};
    char name[NAME_MAX_], why[ERR_MSG_MAX];

    (void)state;
    assert_false(opens(&opt, name, why));
    assert_non_null(strstr(why, "alarms.allow_http"));
    opt.allow_http = true;
    assert_true(opens(&opt, name, why));
    opt.allow_http = false;
    opt.allow_private = true;
    assert_true(opens(&opt, name, why));
    opt.secret = "fifteen bytes..";
    assert_false(opens(&opt, name, why));
    opt.secret = "sixteen bytes...";
    assert_true(opens(&opt, name, why));
}

/* As printf '1700000000.{"a":1}' | openssl dgst -sha256 -hmac 0123456789abcdef says. */
static void the_signature_is_that_of_time_and_body(void **state)
{
    char mac[65];

    (void)state;
    hook_sign(STR("0123456789abcdef"), 1700000000, STR("{\"a\":1}"), mac);
    assert_string_equal(mac,
                        "9eb18f493f8ec135d9eb2dad817c369bb4e9cbfa818657897a7437c1cd8c3a23");
}

static void a_hook_posts_to_no_address_inside(void **state)
{
    static const char *const urls[] = {"http://127.0.0.1:9/",          "http://[::1]:9/",
                                       "http://localhost:9/",          "http://0x7f000001:9/",
                                       "http://[::ffff:127.0.0.1]:9/", "http://0:9/"};

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(urls); i++) {
        const struct hook_options opt = {
            .section = "alarms", .url = urls[i], .allow_http = true};
        struct hook_answer answer;
        struct hook *h = NULL;
        struct err err = {0};

        assert_true(hook_open(&h, &opt, &err));
        assert_false(hook_post(h, STR("{}"), 1, &answer, &err));
        assert_int_equal(err.kind, ERR_RETRY);
        assert_int_equal(answer.status, 0);
        assert_non_null(strstr(err.msg, "leads to an address that is "));
        assert_non_null(strstr(err.msg, "; fix: "));
        hook_close(h);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_special_network_is_inside_from_its_first_address_to_its_last),
        cmocka_unit_test(public_addresses_are_not_inside),
        cmocka_unit_test(behind_nat64_the_address_inside_counts),
        cmocka_unit_test(what_is_no_ip_address_is_inside),
        cmocka_unit_test(only_the_host_of_an_address_is_shown),
        cmocka_unit_test(what_is_no_address_of_a_receiver_is_refused_without_showing_it),
        cmocka_unit_test(http_and_short_secrets_need_to_be_allowed),
        cmocka_unit_test(the_signature_is_that_of_time_and_body),
        cmocka_unit_test(a_hook_posts_to_no_address_inside),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
