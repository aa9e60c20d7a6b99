/*
 * Delivery, with real threads and real sockets, against a search engine in memory.
 *
 * Two addresses: one of them hangs (it takes connections, and never says anything), or both
 * answer questions and take nothing.
 */
#include "config.h"

#include "tests/unit/unit.h"

#include "src/base/clock.h"
#include "src/base/log.h"
#include "src/net/address_set.h"
#include "src/search/search.h"
#include "sync/delivery/delivery.h"
#include "tests/component/delivery_rig.h"
#include "tests/fakes/fake_search.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#define LIMIT_MS        30000
#define NEVER_MS        3600000
#define CONNECTIONS_MAX 64

/* An address that hangs: the system takes its connections, nobody answers. */
struct hang {
    int listens;
    uint16_t port;
    char url[64];
    int connections[CONNECTIONS_MAX];
    size_t n;
};

static void hang_begin(struct hang *h)
{
    struct sockaddr_in at = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t size = sizeof(at);
    const int on = 1;

    *h = (struct hang){.listens = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK, 0)};
    assert_true(h->listens >= 0);
    setsockopt(h->listens, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on));
    assert_int_equal(bind(h->listens, (struct sockaddr *)&at, sizeof(at)), 0);
    assert_int_equal(listen(h->listens, CONNECTIONS_MAX), 0);
    assert_int_equal(getsockname(h->listens, (struct sockaddr *)&at, &size), 0);
    h->port = ntohs(at.sin_port);
    snprintf(h->url, sizeof(h->url), "http://127.0.0.1:%u", h->port);
}

/* How many requests came that begin so. */
static size_t hang_count(struct hang *h, const char *begin)
{
    size_t n = 0;

    for (int fd; h->n < CONNECTIONS_MAX && (fd = accept(h->listens, NULL, NULL)) >= 0;)
        h->connections[h->n++] = fd;
    for (size_t i = 0; i < h->n; i++) {
        char head[32] = "";
        const ssize_t got =
            recv(h->connections[i], head, sizeof(head) - 1, MSG_DONTWAIT | MSG_PEEK);

        n += got > 0 && strncmp(head, begin, strlen(begin)) == 0;
    }
    return n;
}

static void hang_end(struct hang *h)
{
    for (size_t i = 0; i < h->n; i++)
        close(h->connections[i]);
    close(h->listens);
}

/* Waits for its end; each has a version of its own. */
static void write_one(struct rig *r)
{
    static uint64_t version;

    version++;
    rig_index(r, (int)(version % 10), version, "body");
    rig_wait_done(r);
}

static struct address_view first_address(struct rig *r)
{
    struct address_view v = {0};

    assert_true(address_set_next(search_addresses(r->search), &(size_t){0}, &v));
    return v;
}

static void
an_address_that_hangs_costs_one_timeout_and_is_used_again_when_it_answers(void **state)
{
    struct rig *r = *state;
    struct hang hang;
    int64_t end_ms = clock_mono_ms() + LIMIT_MS;

    hang_begin(&hang);
    rig_start_behind(r, &(struct delivery_options){.settings = {.request_timeout_ms = 2000}},
                     hang.url);
    while (hang_count(&hang, "GET / ") < 2) {
        assert_true(clock_mono_ms() < end_ms);
        write_one(r);
    }

    /* Only the first document has waited there, once. */
    assert_int_equal(hang_count(&hang, "POST "), 1);
    assert_int_equal(delivery_status(r->delivery).requests_failed, 1);
    assert_int_equal(rig_events(r, DELIVERY_BLOWN), 0);
    assert_false(first_address(r).is_up);
    assert_non_null(strstr(first_address(r).why, hang.url));

    /* Somebody answers there. */
    hang_end(&hang);

    struct fake_search *back = fake_search_start(hang.port);

    fake_search_create(back, "orders_v2", "orders_v2_write");
    for (end_ms = clock_mono_ms() + LIMIT_MS; fake_search_requests(back) < 3;) {
        assert_true(clock_mono_ms() < end_ms);
        write_one(r);
    }
    assert_true(first_address(r).is_up);
    assert_int_equal(delivery_status(r->delivery).requests_failed, 1);
    fake_search_stop(back);
}

/* Does the last that came still wait for an answer? */
static bool hang_is_waited_for(const struct hang *h)
{
    struct pollfd last = {.fd = h->connections[h->n - 1], .events = POLLRDHUP};

    return poll(&last, 1, 0) == 0;
}

/* Else it would be the one that requests wait for. */
static void a_question_takes_no_connection_from_requests(void **state)
{
    struct rig *r = *state;
    struct hang hang;
    const int64_t end_ms = clock_mono_ms() + LIMIT_MS;
    bool is_beside = false;

    hang_begin(&hang);
    rig_start_behind(
        r,
        &(struct delivery_options){.settings = {.request_timeout_ms = 2000, .connections = 1}},
        hang.url);
    while (!is_beside) {
        assert_true(clock_mono_ms() < end_ms);

        const size_t n_before = hang_count(&hang, "GET / ");

        write_one(r);
        is_beside = n_before > 0 && hang_count(&hang, "GET / ") == n_before &&
                    hang_is_waited_for(&hang);
    }
    assert_int_equal(delivery_status(r->delivery).requests_failed, 1);
    hang_end(&hang);
}

/* Both addresses are asked, and answer. */
static void wait_up(struct rig *r)
{
    const int64_t end_ms = clock_mono_ms() + LIMIT_MS;

    while (address_set_healthy(search_addresses(r->search)) < 2) {
        assert_true(clock_mono_ms() < end_ms);
        rig_sleep(1);
    }
}

static void refuse_at(struct fake_search *f)
{
    fake_search_add_rule(f, &(struct fake_rule){.act = FAKE_STATUS, .status = 503});
}

/* GET / is answered everywhere, so there always seems to be another address. */
static void a_blown_fuse_whose_try_fails_at_one_of_two_addresses_is_tried_again(void **state)
{
    struct rig *r = *state;
    struct fake_search *other = fake_search_start(0);
    uint64_t n_tried;

    fake_search_create(other, "orders_v2", "orders_v2_write");
    refuse_at(r->fake);
    refuse_at(other);
    rig_start_behind(
        r, &(struct delivery_options){.settings = {.failures = 3, .reset_after_ms = NEVER_MS}},
        fake_search_url(other));
    rig_index(r, 1, 10, "body");
    rig_wait_held(r, true);
    wait_up(r);
    n_tried = delivery_status(r->delivery).requests_failed;
    delivery_probe(r->delivery);
    while (delivery_status(r->delivery).requests_failed == n_tried)
        rig_sleep(1);
    assert_true(rig_is_held(r));
    fake_search_clear_rules(r->fake);
    fake_search_clear_rules(other);
    delivery_probe(r->delivery);
    rig_wait_done(r);
    rig_wait_held(r, false);
    assert_int_equal(rig_events(r, DELIVERY_HEALED), 1);
    fake_search_stop(other);
}

static void hang_index(struct fake_search *f, const char *index, const char *alias)
{
    fake_search_create(f, index, alias);
    fake_search_add_rule(f, &(struct fake_rule){.index = index, .act = FAKE_SILENT});
}

/* F15, G3: what goes to another index keeps both addresses in use. */
static void an_index_that_hangs_at_every_address_blows_its_fuse(void **state)
{
    struct rig *r = *state;
    struct fake_search *other = fake_search_start(0);
    struct target *sick =
        target_new(STR("sick_v1"), STR("sick_v1_write"), STR("shop.sick"), STR("shop"));
    const int64_t end_ms = clock_mono_ms() + LIMIT_MS;

    fake_search_create(other, "orders_v2", "orders_v2_write");
    hang_index(r->fake, "sick_v1", "sick_v1_write");
    hang_index(other, "sick_v1", "sick_v1_write");
    /* Longer than an address is put aside. */
    rig_start_behind(r,
                     &(struct delivery_options){.settings = {.failures = 3,
                                                             .failure_window_ms = 1,
                                                             .reset_after_ms = NEVER_MS,
                                                             .request_timeout_ms = 1300}},
                     fake_search_url(other));
    rig_submit(r, &(struct doc_write){.target = target_ref(sick),
                                      .op = DOC_INDEX,
                                      .id = STR("1"),
                                      .body = STR("{}"),
                                      .version = 1});
    while (rig_events(r, DELIVERY_BLOWN) == 0) {
        assert_true(clock_mono_ms() < end_ms);
        write_one(r);
        rig_sleep(5);
    }
    assert_true(delivery_status(r->delivery).requests_failed >= 3);
    fake_search_stop(other);
    target_unref(sick);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        RIG_TEST(an_address_that_hangs_costs_one_timeout_and_is_used_again_when_it_answers),
        RIG_TEST(a_question_takes_no_connection_from_requests),
        RIG_TEST(a_blown_fuse_whose_try_fails_at_one_of_two_addresses_is_tried_again),
        RIG_TEST(an_index_that_hangs_at_every_address_blows_its_fuse),
    };

    log_set_level(LOG_ERROR + 1);
    return cmocka_run_group_tests_name("delivery_addresses", tests, NULL, NULL);
}
