#include "config.h"

#include "tests/unit/unit.h"

#include "src/base/clock.h"
#include "src/base/log.h"
#include "src/net/address_set.h"
#include "src/net/http_client.h"
#include "src/search/search.h"
#include "src/search/sniff.h"
#include "tests/fakes/tiny_http.h"

#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#define HOUR_MS  3600000
#define LIMIT_MS 30000

static const struct tiny_step fine[] = {{.body = "{}"}};

static void nap(void)
{
    nanosleep(&(struct timespec){.tv_nsec = 10 * 1000 * 1000}, NULL);
}

/* Requests of the server that begin so. */
static size_t count(struct tiny_http *s, const char *line)
{
    size_t n = 0;

    for (size_t i = 0; i < tiny_http_count(s); i++)
        n += strncmp(tiny_http_request(s, i)->head, line, strlen(line)) == 0;
    return n;
}

static void wait_for(struct tiny_http *s, const char *line, size_t n)
{
    const int64_t end_ms = clock_mono_ms() + LIMIT_MS;

    while (count(s, line) < n) {
        assert_true(clock_mono_ms() < end_ms);
        nap();
    }
}

static void get(struct search *s)
{
    struct err err = {0};
    int status;

    assert_true(search_request(s, "GET", STR("/it"), STR(""), &status, NULL, &err));
    assert_int_equal(status, 200);
}

/* Requests until one came to the server, while questions are asked as delivery does. */
static void get_until_at(struct search *search, struct tiny_http *s)
{
    struct http_client *asks = search_new_client(search);
    const int64_t end_ms = clock_mono_ms() + LIMIT_MS;

    for (const size_t before = count(s, "GET /it"); count(s, "GET /it") == before; nap()) {
        assert_true(clock_mono_ms() < end_ms);
        http_client_ask(asks);
        http_client_poll(asks, 0);
        get(search);
    }
    http_client_free(asks);
}

static struct search *search_among(const char *url, const char *host)
{
    return search_new(&(struct search_options){.urls = &url,
                                               .n_urls = 1,
                                               .sniff_hosts = &host,
                                               .n_sniff_hosts = host != NULL,
                                               .user = "me",
                                               .password = "secret",
                                               .verify = true});
}

static struct search *search_at(const char *url)
{
    return search_among(url, NULL);
}

/* A list with that port as a node, and one that is no use. */
static void print_list(char *out, size_t size, unsigned port)
{
    snprintf(out, size,
             "{\"nodes\":{\"a\":{\"roles\":[\"data\"],\"http\":{\"publish_address\":"
             "\"localhost/127.0.0.1:%u\"}},\"b\":{\"roles\":[\"cluster_manager\"],\"http\":{"
             "\"publish_address\":\"127.0.0.1:%u\"}}}}",
             port, tiny_http_unused_port());
}

static void
nodes_that_are_told_are_used_with_our_rights_and_the_seed_when_they_are_gone(void **state)
{
    char list[400];
    struct tiny_http *node = tiny_http_start(fine, 1);

    (void)state;
    print_list(list, sizeof(list), tiny_http_port(node));

    const struct tiny_step steps[] = {{.body = list}};
    struct tiny_http *seed = tiny_http_start(steps, 1);
    struct search *search = search_at(tiny_http_url(seed));
    struct search_sniff *sniff = search_sniff_start(search, HOUR_MS);

    get_until_at(search, node);
    assert_non_null(
        strstr(tiny_http_request(node, 0)->head, "Authorization: Basic bWU6c2VjcmV0"));

    /* The seed is not asked while the node is there. */
    const size_t at_seed = tiny_http_count(seed);

    for (int i = 0; i < 10; i++)
        get(search);
    assert_int_equal(tiny_http_count(seed), at_seed);
    assert_int_equal(address_set_healthy(search_addresses(search)), 2);

    /* The node goes away: the seed helps out, and is asked again for the list. */
    tiny_http_stop(node);
    get(search);
    wait_for(seed, "GET /_nodes/http", 2);
    get(search);
    search_sniff_stop(sniff);
    search_free(search);
    tiny_http_stop(seed);
}

static void the_list_is_asked_for_again_and_again(void **state)
{
    char first_list[400], second_list[400];
    struct tiny_http *second = tiny_http_start(fine, 1);

    (void)state;
    print_list(second_list, sizeof(second_list), tiny_http_port(second));

    const struct tiny_step first_steps[] = {{.body = second_list}};
    struct tiny_http *first = tiny_http_start(first_steps, 1);

    print_list(first_list, sizeof(first_list), tiny_http_port(first));

    const struct tiny_step seed_steps[] = {{.body = first_list}};
    struct tiny_http *seed = tiny_http_start(seed_steps, 1);
    struct search *search = search_at(tiny_http_url(seed));
    struct search_sniff *sniff = search_sniff_start(search, 1000);

    /* The seed tells of the first, and that one of the second. */
    get_until_at(search, second);

    const size_t at_first = tiny_http_count(first);

    /* The second tells nothing that is a list: what is known stays. */
    wait_for(second, "GET /_nodes/http", 2);
    for (int i = 0; i < 10; i++)
        get(search);
    assert_int_equal(tiny_http_count(first), at_first);
    search_sniff_stop(sniff);
    search_free(search);
    tiny_http_stop(seed);
    tiny_http_stop(first);
    tiny_http_stop(second);
}

static void an_engine_that_tells_nothing_is_reached_at_its_seed(void **state)
{
    static const struct tiny_step steps[] = {{.status = 403, .body = "{}"}, {.body = "{}"}};
    struct tiny_http *seed = tiny_http_start(steps, 2);
    struct search *search = search_at(tiny_http_url(seed));
    struct search_sniff *sniff = search_sniff_start(search, 1000);

    (void)state;
    wait_for(seed, "GET /_nodes/http", 2);
    get(search);
    search_sniff_stop(sniff);
    search_free(search);
    tiny_http_stop(seed);
}

static void a_node_that_no_pattern_names_is_sent_nothing(void **state)
{
    char list[400];
    struct tiny_http *node = tiny_http_start(fine, 1);

    (void)state;
    print_list(list, sizeof(list), tiny_http_port(node));

    const struct tiny_step steps[] = {{.body = list}};
    struct tiny_http *seed = tiny_http_start(steps, 1);
    struct search *search = search_among(tiny_http_url(seed), "search-*.example.org");
    struct search_sniff *sniff = search_sniff_start(search, 1000);

    /* The second list is asked for when the first was judged. */
    wait_for(seed, "GET /_nodes/http", 2);
    assert_int_equal(address_set_count(search_addresses(search)), 1);
    assert_int_equal(tiny_http_count(node), 0);
    search_sniff_stop(sniff);
    search_free(search);
    tiny_http_stop(seed);
    tiny_http_stop(node);
}

static void its_end_does_not_wait_for_an_answer(void **state)
{
    static const struct tiny_step steps[] = {{.act = TINY_SILENT}};
    struct tiny_http *seed = tiny_http_start(steps, 1);
    struct search *search = search_at(tiny_http_url(seed));
    struct search_sniff *sniff = search_sniff_start(search, HOUR_MS);

    (void)state;
    wait_for(seed, "GET /_nodes/http", 1);
    search_sniff_stop(sniff);
    /* Nobody said that the address failed: its question was given up. */
    assert_int_equal(address_set_failures(search_addresses(search)), 0);
    search_free(search);
    tiny_http_stop(seed);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(
            nodes_that_are_told_are_used_with_our_rights_and_the_seed_when_they_are_gone),
        cmocka_unit_test(the_list_is_asked_for_again_and_again),
        cmocka_unit_test(an_engine_that_tells_nothing_is_reached_at_its_seed),
        cmocka_unit_test(a_node_that_no_pattern_names_is_sent_nothing),
        cmocka_unit_test(its_end_does_not_wait_for_an_answer),
    };
    const int nowhere = open("/dev/null", O_WRONLY | O_CLOEXEC);

    signal(SIGPIPE, SIG_IGN);
    log_set_fd(nowhere);
    return cmocka_run_group_tests_name("search_sniff", tests, NULL, NULL);
}
