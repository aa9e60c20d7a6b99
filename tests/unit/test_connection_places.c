/* How many connections there may be, and who sends one. */
#include "config.h"

#include "tests/unit/unit.h"

#include "web/edge/address.h"
#include "web/edge/places.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <string.h>
#include <sys/un.h>

#define LISTENERS 4
#define STREAMS   128

static void a_thousand_fit_on_each_listener_of_a_service(void **state)
{
    const struct places p = places_choose(65536, LISTENERS, STREAMS); /* as the unit has */

    (void)state;
    assert_int_equal(p.guests, PLACES_MAX);
    assert_int_equal(p.streams, STREAMS);
    assert_true(places_choose(20000, LISTENERS, STREAMS).guests >= 1000);
}

static void all_of_them_need_half_of_the_files_at_most(void **state)
{
    (void)state;
    for (uint64_t files = 400; files < 200000; files += 100) {
        const struct places p = places_choose(files, LISTENERS, STREAMS);

        assert_true(2 * (LISTENERS * p.guests + p.streams) <= files / 2);
        assert_true(p.guests >= PLACES_MIN && p.streams >= 8);
    }
    assert_int_equal(places_choose(0, 2, STREAMS).guests, PLACES_MIN);
}

static struct sockaddr_storage make(const char *text)
{
    struct sockaddr_storage s = {.ss_family = AF_UNIX};
    struct sockaddr_in v4 = {.sin_family = AF_INET};
    struct sockaddr_in6 v6 = {.sin6_family = AF_INET6};

    if (inet_pton(AF_INET, text, &v4.sin_addr) == 1)
        memcpy(&s, &v4, sizeof(v4));
    else if (inet_pton(AF_INET6, text, &v6.sin6_addr) == 1)
        memcpy(&s, &v6, sizeof(v6));
    return s;
}

static void whoever_is_on_this_machine_is_one_sender(void **state)
{
    static const char *const here[] = {"a socket", "127.0.0.1", "127.3.2.1", "::1",
                                       "::ffff:127.0.0.1"};
    static const char *const there[] = {"192.0.2.1", "2001:db8::1"};

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(here); i++) {
        const struct sockaddr_storage s = make(here[i]);

        assert_int_equal(address_sender(&s), 0);
    }
    for (size_t i = 0; i < ARRAY_LEN(there); i++) {
        const struct sockaddr_storage s = make(there[i]);

        assert_int_not_equal(address_sender(&s), 0);
        assert_int_equal(address_sender(&s), address_number(-1, &s));
    }
}

static void a_network_of_ipv6_is_one_sender_and_two_are_two(void **state)
{
    const struct sockaddr_storage a = make("2001:db8:0:1::1"), b = make("2001:db8:0:1:ffff::2"),
                                  c = make("2001:db8:0:2::1"), d = make("::ffff:192.0.2.1"),
                                  e = make("192.0.2.1");

    (void)state;
    assert_int_equal(address_number(-1, &a), address_number(-1, &b));
    assert_int_not_equal(address_number(-1, &a), address_number(-1, &c));
    assert_int_equal(address_number(-1, &d), address_number(-1, &e));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_thousand_fit_on_each_listener_of_a_service),
        cmocka_unit_test(all_of_them_need_half_of_the_files_at_most),
        cmocka_unit_test(whoever_is_on_this_machine_is_one_sender),
        cmocka_unit_test(a_network_of_ipv6_is_one_sender_and_two_are_two),
    };

    return cmocka_run_group_tests_name("connection_places", tests, NULL, NULL);
}
