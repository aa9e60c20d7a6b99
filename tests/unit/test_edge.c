/* Where requests come in: the prefix of their paths, and who shares a place. */
#include "config.h"

#include "tests/unit/unit.h"

#include "web/edge/address.h"
#include "web/edge/listen.h"
#include "web/edge/prefix.h"

#include <arpa/inet.h>
#include <netinet/in.h>

/* ---- the prefix ---- */

static void a_prefix_is_a_path_without_tricks(void **state)
{
    static const char *const good[] = {"", "/a", "/millrace", "/tools/mill.race-2_~"};
    static const char *const bad[] = {
        "/",
        "a",
        "/a/",
        "//a",
        "/a//b",
        "/.",
        "/a/.",
        "/..",
        "/a/../b",
        "/a b",
        "/a%20",
        "/a?b",
        "/a;b",
        "/a\"b",
        "/\xc3\xa4",
        "/a\r\nX: y",
        "/0123456789012345678901234567890123456789012345678901234567890123"};
    struct err err;

    (void)state;
    assert_true(prefix_check(NULL, &err));
    for (size_t i = 0; i < ARRAY_LEN(good); i++)
        assert_true(prefix_check(good[i], &err));
    for (size_t i = 0; i < ARRAY_LEN(bad); i++) {
        if (prefix_check(bad[i], &err))
            fail_msg("%s is taken", bad[i]);
        assert_non_null(strstr(err.msg, "web.prefix"));
    }
}

static void only_what_is_below_the_prefix_is_served_and_the_probes(void **state)
{
    static const struct {
        const char *target, *rest; /* NULL: not cut */
        enum prefix_fit fit;
    } cases[] = {
        {"/mill/", "/", PREFIX_FITS},
        {"/mill/api/v1/me?x=/mill", "/api/v1/me?x=/mill", PREFIX_FITS},
        {"/mill/mill/x", "/mill/x", PREFIX_FITS},
        {"/mill//x", "//x", PREFIX_FITS}, /* and refused as such */
        {"/mill/livez", "/livez", PREFIX_FITS},
        {"/livez", "/livez", PREFIX_FITS},
        {"/readyz?x", "/readyz?x", PREFIX_FITS},
        {"/metrics", "/metrics", PREFIX_FITS},
        {"/mill", NULL, PREFIX_BARE},
        {"/mill?x=1", NULL, PREFIX_BARE},
        {"/", NULL, PREFIX_OTHER},
        {"/millx/", NULL, PREFIX_OTHER},
        {"/mil/", NULL, PREFIX_OTHER},
        {"/%6dill/", NULL, PREFIX_OTHER},
        {"/api/v1/me", NULL, PREFIX_OTHER},
        {"/livez/", NULL, PREFIX_OTHER},
        {"*", NULL, PREFIX_OTHER},
        {"", NULL, PREFIX_OTHER},
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct str target = str_from(cases[i].target);

        if (prefix_cut(&target, STR("/mill")) != cases[i].fit)
            fail_msg("%s fits otherwise", cases[i].target);
        assert_true(str_equal(
            target, str_from(cases[i].rest != NULL ? cases[i].rest : cases[i].target)));
        target = str_from(cases[i].target);
        assert_int_equal(prefix_cut(&target, STR("")), PREFIX_FITS);
        assert_true(str_equal(target, str_from(cases[i].target)));
    }
}

/* ---- addresses ---- */

static uint64_t number_of(const char *text)
{
    struct sockaddr_storage peer = {0};
    struct sockaddr_in v4 = {.sin_family = AF_INET};
    struct sockaddr_in6 v6 = {.sin6_family = AF_INET6};

    if (inet_pton(AF_INET, text, &v4.sin_addr) == 1) {
        memcpy(&peer, &v4, sizeof(v4));
    } else {
        assert_int_equal(inet_pton(AF_INET6, text, &v6.sin6_addr), 1);
        memcpy(&peer, &v6, sizeof(v6));
    }
    return address_number(-1, &peer);
}

static void one_half_of_an_ipv6_address_is_one_sender(void **state)
{
    (void)state;
    assert_int_equal(number_of("2001:db8:1:2::1"), number_of("2001:db8:1:2:ffff::7"));
    assert_int_not_equal(number_of("2001:db8:1:2::1"), number_of("2001:db8:1:3::1"));
    assert_int_equal(number_of("::ffff:192.0.2.1"), number_of("192.0.2.1"));
    assert_int_not_equal(number_of("192.0.2.1"), number_of("192.0.2.2"));
    assert_int_equal(number_of("::1"), 0);
}

static void other_machines_reach_what_is_not_loopback(void **state)
{
    static const char *const here[] = {"127.0.0.1:1", "localhost:1", "127.9.9.9:1",
                                       "[::1]:1",     "off",         ""};
    static const char *const elsewhere[] = {"0.0.0.0:1", "192.0.2.1:1", "[::]:1",
                                            "[2001:db8::1]:1", "[::ffff:127.0.0.1]:1"};
    struct err err;

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(here); i++) {
        assert_true(listen_is_loopback(here[i]));
        assert_true(listen_check(LISTEN_PAGE, here[i], &err));
    }
    for (size_t i = 0; i < ARRAY_LEN(elsewhere); i++) {
        assert_false(listen_is_loopback(elsewhere[i]));
        assert_false(listen_check(LISTEN_PAGE, elsewhere[i], &err));
        assert_non_null(strstr(err.msg, "web_tls.cert_file"));
        assert_true(listen_check(LISTEN_PAGE_TLS, elsewhere[i], &err));
        assert_true(listen_check(LISTEN_METRICS, elsewhere[i], &err));
        assert_true(listen_check(LISTEN_WORDS, elsewhere[i], &err));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_prefix_is_a_path_without_tricks),
        cmocka_unit_test(only_what_is_below_the_prefix_is_served_and_the_probes),
        cmocka_unit_test(one_half_of_an_ipv6_address_is_one_sender),
        cmocka_unit_test(other_machines_reach_what_is_not_loopback),
    };

    return cmocka_run_group_tests_name("edge", tests, NULL, NULL);
}
