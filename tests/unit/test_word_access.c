/* Who may have the words of the analyzer. */
#include "config.h"

#include "tests/unit/unit.h"

#include "src/base/buf.h"
#include "web/edge/address.h"
#include "web/words/access.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <string.h>
#include <sys/socket.h>

#define TOKEN "0123456789abcdef"

static struct word_access *open_with(const char *const *allow, size_t n)
{
    struct word_access *a = NULL;
    struct err err = {0};

    if (!word_access_open(&a, TOKEN, allow, n, &err))
        fail_msg("%s", err.msg);
    return a;
}

static void read_address(struct sockaddr_storage *out, const char *text)
{
    struct sockaddr_in v4 = {.sin_family = AF_INET};
    struct sockaddr_in6 v6 = {.sin6_family = AF_INET6};

    memset(out, 0, sizeof(*out));
    if (inet_pton(AF_INET, text, &v4.sin_addr) == 1) {
        memcpy(out, &v4, sizeof(v4));
        return;
    }
    assert_int_equal(inet_pton(AF_INET6, text, &v6.sin6_addr), 1);
    memcpy(out, &v6, sizeof(v6));
}

static bool admits(const struct word_access *a, const char *text)
{
    struct sockaddr_storage peer;

    read_address(&peer, text);
    return word_access_admits(a, (const struct sockaddr *)&peer);
}

static void without_a_list_only_this_machine_is_admitted(void **state)
{
    struct word_access *a = open_with(NULL, 0);

    (void)state;
    assert_true(admits(a, "127.0.0.1"));
    assert_true(admits(a, "127.9.9.9"));
    assert_true(admits(a, "::1"));
    assert_true(admits(a, "::ffff:127.0.0.1"));
    assert_false(admits(a, "10.0.0.1"));
    assert_false(admits(a, "::2"));
    word_access_free(a);
}

static void addresses_and_networks_are_admitted_to_the_bit(void **state)
{
    static const char *const allow[] = {"10.0.0.7", "192.168.4.0/22", "fd00::/9", "0.0.0.0/32"};
    static const struct {
        const char *address;
        bool is_in;
    } cases[] = {
        {"10.0.0.7", true},        {"10.0.0.6", false},
        {"::ffff:10.0.0.7", true}, {"192.168.4.0", true},
        {"192.168.7.255", true},   {"192.168.8.0", false},
        {"192.168.3.255", false},  {"fd00::1", true},
        {"fd7f::1", true},         {"fd80::1", false},
        {"127.0.0.1", false},      {"::1", false},
        {"0.0.0.0", true},         {"::ffff:192.168.5.1", true},
    };
    struct word_access *a = open_with(allow, ARRAY_LEN(allow));

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(cases); i++)
        if (admits(a, cases[i].address) != cases[i].is_in)
            fail_msg("%s", cases[i].address);
    word_access_free(a);
}

static void everybody_can_be_admitted(void **state)
{
    static const char *const allow[] = {"0.0.0.0/0", "::/0"};
    struct word_access *a = open_with(allow, ARRAY_LEN(allow));

    (void)state;
    assert_true(admits(a, "8.8.8.8"));
    assert_true(admits(a, "2001:db8::1"));
    word_access_free(a);
}

static void what_is_no_address_is_refused_with_how_to_write_it(void **state)
{
    static const char *const bad[] = {"db1", "10.0.0.0/33", "10.0.0.0/",    "10.0.0/8",
                                      "",    "fd00::/129",  "10.0.0.0/8x",  "10.0.0.0/-1",
                                      "/8",  "10.0.0.0 ",   "fd00::1::2/4", "*"};

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(bad); i++) {
        struct word_access *a = NULL;
        struct err err = {0};

        assert_false(word_access_open(&a, TOKEN, &bad[i], 1, &err));
        assert_non_null(strstr(err.msg, "fix: write it as 10.0.0.7"));
    }
}

static void only_the_whole_token_is_the_token(void **state)
{
    struct word_access *a = open_with(NULL, 0);

    (void)state;
    assert_true(word_access_is_token(a, STR(TOKEN)));
    assert_false(word_access_is_token(a, STR("")));
    assert_false(word_access_is_token(a, STR(TOKEN "0")));
    assert_false(word_access_is_token(a, STR("0123456789abcde")));
    assert_false(word_access_is_token(a, STR("0123456789abcdeF")));
    word_access_free(a);
}

static void a_short_or_odd_token_is_refused(void **state)
{
    static const char *const bad[] = {NULL, "", "0123456789abcde", "0123456789abcde/",
                                      "0123456789 abcdef"};

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(bad); i++) {
        struct word_access *a = NULL;
        struct err err = {0};

        assert_false(word_access_open(&a, bad[i], NULL, 0, &err));
        assert_non_null(strstr(err.msg, "token"));
    }
}

static void an_address_is_named_without_its_mapping(void **state)
{
    struct sockaddr_storage peer;
    struct buf name = {0};

    (void)state;
    read_address(&peer, "::ffff:10.0.0.7");
    address_append(&name, &peer);
    assert_string_equal(name.ptr, "10.0.0.7");
    buf_clear(&name);
    read_address(&peer, "2001:db8::1");
    address_append(&name, &peer);
    assert_string_equal(name.ptr, "2001:db8::1");
    buf_free(&name);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(without_a_list_only_this_machine_is_admitted),
        cmocka_unit_test(addresses_and_networks_are_admitted_to_the_bit),
        cmocka_unit_test(everybody_can_be_admitted),
        cmocka_unit_test(what_is_no_address_is_refused_with_how_to_write_it),
        cmocka_unit_test(only_the_whole_token_is_the_token),
        cmocka_unit_test(a_short_or_odd_token_is_refused),
        cmocka_unit_test(an_address_is_named_without_its_mapping),
    };

    return cmocka_run_group_tests_name("word_access", tests, NULL, NULL);
}
