/* Requests for a topic of another node, and those of other nodes. */
#include "config.h"

#include "tests/component/web_rig.h"

#include "src/base/clock.h"

#include <time.h>

static int set_up_shared(void **state)
{
    set_up(state);

    struct fixture *f = *state;
    struct server_options opt = options(f);
    struct err err = {0};

    server_stop(f->server);
    fake_coordinator.is_shared = true;
    fake_coordinator.others = "far";
    fake_coordinator.others_status = 202;
    fake_coordinator.answer = "{\"schema\":\"x/1\",\"count\":3}";
    if (!server_start(&f->server, &opt, &err))
        fail_msg("%s", err.msg);
    return 0;
}

static void asks(const struct fixture *f, const char *head, const char *body, int status,
                 const char *call)
{
    struct buf answer = {0};

    fake_coordinator.call[0] = '\0';
    assert_int_equal(ask_socket(f, head, body, &answer), status);
    assert_string_equal(fake_coordinator.call, call);
    buf_free(&answer);
}

static void a_request_goes_to_the_owner_of_what_its_route_concerns(void **state)
{
    static const struct {
        const char *head, *body, *call;
        int status;
    } cases[] = {
        {"POST /api/v1/topics/far/reset", NULL,
         "pass on far POST /api/v1/topics/far/reset '' repeat=0", 202},
        {"POST /api/v1/topics/near/reset", NULL, "topic reset near", 200},
        {"POST /api/v1/tables/far.a%20b/index", "{\"rate\":7}",
         "pass on far POST /api/v1/tables/far.a%20b/index '{\"rate\":7}' repeat=0", 202},
        {"GET /api/v1/tables/far.a/trace?key=4%2C2", NULL,
         "pass on far GET /api/v1/tables/far.a/trace?key=4%2C2 '' repeat=1", 202},
        {"DELETE /api/v1/tables/far.a/versions/3", NULL,
         "pass on far DELETE /api/v1/tables/far.a/versions/3 '' repeat=0", 202},
        {"POST /api/v1/tables/near.a/index", NULL,
         "index create near.a rate=0 chunk=0 buckets=0/column nodes=0"
         " take=00 hold=0 keep=-1 verify=-",
         202},
        {"GET /api/v1/tables/far.a/mapping", NULL, "mapping far.a", 200},
        {"GET /api/v1/status", NULL, "status", 200},
    };

    for (size_t i = 0; i < ARRAY_LEN(cases); i++)
        asks(*state, cases[i].head, cases[i].body, cases[i].status, cases[i].call);
}

static void what_the_owner_answered_comes_through_unchanged(void **state)
{
    struct buf answer = {0};

    fake_coordinator.others_status = 409;
    fake_coordinator.answer = "{\"status\":409,\"detail\":\"as the owner says\"}";
    assert_int_equal(ask_socket(*state, "POST /api/v1/topics/far/reset", NULL, &answer), 409);
    assert_has(answer, fake_coordinator.answer);
    assert_has(answer, "Content-Type: application/problem+json");
    buf_free(&answer);
}

/* What would be lost on the way is refused, also by the owner. */
static void a_condition_that_no_other_node_would_hear_of_is_refused(void **state)
{
    static const char if_match[] = " HTTP/1.1\r\nIf-Match: \"7\"\r\nX-Rest:";
    static const char *const tables[] = {"far.a", "near.a"};
    char head[200];

    for (size_t i = 0; i < ARRAY_LEN(tables); i++) {
        snprintf(head, sizeof(head), "POST /api/v1/tables/%s/delete%s", tables[i], if_match);
        asks(*state, head, "{}", 400, "");
    }
    snprintf(head, sizeof(head), "DELETE /api/v1/topics/far%s", if_match);
    asks(*state, head, NULL, 200, "delete topic far of revision 7");
}

static void a_request_that_makes_no_sense_is_passed_to_nobody(void **state)
{
    asks(*state, "POST /api/v1/topics/far/reset", "[", 400, "");
    asks(*state, "POST /api/v1/dead-letters/replay", "{}", 400, "");
}

static void nothing_is_passed_on_if_nobody_else_has_the_store(void **state)
{
    fake_coordinator.is_shared = false;
    asks(*state, "POST /api/v1/topics/far/reset", NULL, 200, "topic reset far");
}

static void what_needs_no_owner_is_done_here_if_none_takes_it(void **state)
{
    struct buf answer = {0};

    fake_coordinator.others_status = 0;
    asks(*state, "POST /api/v1/topics/far/pause", NULL, 200, "topic pause far ");
    assert_int_equal(ask_socket(*state, "POST /api/v1/topics/far/reset", NULL, &answer), 503);
    assert_has(answer, "nobody took it");
    assert_has(answer, "\"fix\":\"wait\"");
    buf_free(&answer);
}

static void dead_letters_of_several_nodes_go_to_each_owner(void **state)
{
    struct buf answer = {0};

    fake_coordinator.others_status = 200;
    assert_int_equal(
        ask_socket(*state, "POST /api/v1/dead-letters/replay", "{\"all\":true}", &answer), 200);
    assert_has(answer, "{\"schema\":\"x/1\",\"count\":6}");
    assert_string_equal(fake_coordinator.call, "pass on far POST /api/v1/dead-letters/replay "
                                               "'{\"all\":true,\"topic\":\"far\"}' repeat=0");
    fake_coordinator.answer = "{\"schema\":\"x/1\",\"count\":3,\"jobs\":[\"delayed-7\"]}";
    assert_int_equal(ask_socket(*state, "POST /api/v1/delayed/run", "{\"all\":true}", &answer),
                     200);
    assert_has(answer, "\"count\":6,\"jobs\":[\"delayed-7\",\"delayed-7\"]}");
    asks(*state, "POST /api/v1/delayed/run", "{\"all\":true,\"topic\":\"far\"}", 200,
         "pass on far POST /api/v1/delayed/run '{\"all\":true,\"topic\":\"far\"}' repeat=0");
    asks(*state, "POST /api/v1/delayed/run", "{\"all\":true,\"dry_run\":true}", 200,
         "delayed cost topic= table= ids=0");
    asks(*state, "POST /api/v1/dead-letters/discard", "{\"topic\":\"far\"}", 200,
         "pass on far POST /api/v1/dead-letters/discard '{\"topic\":\"far\"}' repeat=0");
    fake_coordinator.others_status = 409;
    assert_int_equal(
        ask_socket(*state, "POST /api/v1/dead-letters/replay", "{\"all\":true}", &answer), 409);
    buf_free(&answer);
}

/* The wish of another node; returns the status that it ended with. */
static int carry_out(const char *wish, int64_t at_ms)
{
    const int64_t until_ms = clock_mono_ms() + 10000;
    struct fake_coordinator *f = &fake_coordinator;

    f->wish = wish;
    f->wish_ms = at_ms;
    f->call[0] = '\0';
    __atomic_store_n(&f->wish_is_open, true, __ATOMIC_RELEASE);
    while (__atomic_load_n(&f->wish_is_open, __ATOMIC_ACQUIRE)) {
        assert_true(clock_mono_ms() < until_ms);
        nanosleep(&(struct timespec){.tv_nsec = 10000000}, NULL);
    }
    return f->wish_status;
}

static void the_wish_of_another_node_is_a_request_like_any_other(void **state)
{
    (void)state;
    assert_int_equal(
        carry_out("POST /api/v1/tables/shop.a%20b/index {\"rate\":7}", clock_wall_ms()), 202);
    assert_string_equal(fake_coordinator.call,
                        "index create shop.a b rate=7 chunk=0 buckets=0/column nodes=0"
                        " take=00 hold=0 keep=-1 verify=-");
    assert_string_equal(fake_coordinator.wish_answer, fake_coordinator.answer);
    assert_int_equal(carry_out("POST /api/v1/tables/shop.a/index {\"x\":7}", clock_wall_ms()),
                     400);
    assert_non_null(strstr(fake_coordinator.wish_answer, "unknown member"));
    assert_int_equal(carry_out("POST /nowhere {}", clock_wall_ms()), 404);
}

static void a_wish_is_never_passed_on_again(void **state)
{
    (void)state;
    assert_int_equal(carry_out("POST /api/v1/topics/far/reset {}", clock_wall_ms()), 200);
    assert_string_equal(fake_coordinator.call, "topic reset far");
}

static void a_wish_whose_requester_gave_up_long_ago_is_not_carried_out(void **state)
{
    (void)state;
    assert_int_equal(carry_out("POST /api/v1/topics/shop/reset {}", clock_wall_ms() - 600000),
                     503);
    assert_non_null(strstr(fake_coordinator.wish_answer, "too late"));
    assert_string_equal(fake_coordinator.call, "");
}

int main(void)
{
#define SHARED(name) cmocka_unit_test_setup_teardown(name, set_up_shared, tear_down)
    const struct CMUnitTest tests[] = {
        SHARED(a_request_goes_to_the_owner_of_what_its_route_concerns),
        SHARED(what_the_owner_answered_comes_through_unchanged),
        SHARED(a_condition_that_no_other_node_would_hear_of_is_refused),
        SHARED(a_request_that_makes_no_sense_is_passed_to_nobody),
        SHARED(nothing_is_passed_on_if_nobody_else_has_the_store),
        SHARED(what_needs_no_owner_is_done_here_if_none_takes_it),
        SHARED(dead_letters_of_several_nodes_go_to_each_owner),
        SHARED(the_wish_of_another_node_is_a_request_like_any_other),
        SHARED(a_wish_is_never_passed_on_again),
        SHARED(a_wish_whose_requester_gave_up_long_ago_is_not_carried_out),
    };

    log_set_level(LOG_ERROR);
    return cmocka_run_group_tests_name("web_shared", tests, NULL, NULL);
}
