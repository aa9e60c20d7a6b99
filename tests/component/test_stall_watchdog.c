#include "config.h"

#include "tests/component/server.h"

#include "src/base/clock.h"
#include "src/base/thread.h"
#include "sync/checkpoint/read_position.h"
#include "sync/read/link.h"
#include "sync/read/stall_watchdog.h"
#include "sync/server/known_server.h"
#include "sync/server/server_access.h"

#include <pthread.h>

#define SOON_MS  100
#define SOME_S   20 /* far less than the statement takes */
#define SLOW     STR("SELECT SLEEP(3)")
#define FOR_EVER STR("SELECT SLEEP(600)")

static struct stall_watchdog *watchdog;
static struct server_access access_to; /* of the server beside the test */
static struct read_link link_to;
static struct known_server *known;
static struct read_position *reader;
static struct stop stop;
static unsigned n_asked; /* atomic */

static bool is_there(const struct server_access *server)
{
    (void)server;
    __atomic_add_fetch(&n_asked, 1, __ATOMIC_RELAXED);
    return true;
}

static bool hangs(const struct server_access *server)
{
    (void)is_there(server);
    return false;
}

static void begin(bool (*answers)(const struct server_access *server))
{
    struct err err = {0};
    uint64_t stamp;

    n_asked = 0;
    access_to = (struct server_access){.options = server_options(), .refs = 1};
    access_to.options.read_timeout_s = 1;
    known = known_server_new("");
    reader = read_position_new(0);
    stop_init(&stop);
    watchdog = stall_watchdog_new(&(struct stall_watchdog_options){SOON_MS, SOON_MS, answers});
    stall_watchdog_start(watchdog);
    link_to = (struct read_link){.opt = {.topic = "t",
                                         .primary = &access_to,
                                         .known = known,
                                         .reader = reader,
                                         .stop = &stop,
                                         .timeout_ms = 10000,
                                         .watchdog = watchdog}};
    if (!read_link_open(&link_to, &access_to, 0, &stamp, &err))
        fail_msg("%s", err.msg);
}

static void end(void)
{
    read_link_fini(&link_to);
    stall_watchdog_stop(watchdog);
    stall_watchdog_free(watchdog);
    read_position_free(reader);
    known_server_free(known);
    stop_fini(&stop);
    assert_int_equal(access_to.refs, 1);
}

/* Longer than the time after which an answer is usually lost. */
static void a_server_that_works_is_waited_for(void **state)
{
    struct err err = {0};

    (void)state;
    begin(is_there);
    stall_watchdog_begin(watchdog);
    if (!mysql_conn_exec(link_to.conn, SLOW, &err))
        fail_msg("%s", err.msg);
    assert_false(stall_watchdog_end(watchdog));
    assert_true(__atomic_load_n(&n_asked, __ATOMIC_RELAXED) > 0);
    end();
}

static void a_server_that_works_is_told_by_a_log_in(void **state)
{
    struct err err = {0};

    (void)state;
    begin(NULL);
    stall_watchdog_begin(watchdog);
    assert_true(mysql_conn_exec(link_to.conn, SLOW, &err));
    assert_false(stall_watchdog_end(watchdog));
    end();
}

static void assert_interrupted(void)
{
    const int64_t since_ms = clock_mono_ms();
    struct err err = {0};

    assert_false(mysql_conn_exec(link_to.conn, FOR_EVER, &err));
    assert_int_equal(err.kind, ERR_STOP);
    assert_true(clock_mono_ms() - since_ms < SOME_S * 1000);
}

static void a_server_that_hangs_is_not_waited_for(void **state)
{
    (void)state;
    begin(hangs);
    stall_watchdog_begin(watchdog);
    assert_interrupted();
    assert_true(stall_watchdog_end(watchdog));
    end();
}

static void a_server_that_nobody_gets_to_is_not_waited_for(void **state)
{
    static struct server_access nowhere = {.refs = 1};

    (void)state;
    begin(NULL);
    nowhere.options = server_options();
    nowhere.options.port = 1;
    read_link_close(&link_to);
    link_to.conn = server_connect();
    stall_watchdog_enter(watchdog, link_to.conn, &nowhere);
    stall_watchdog_begin(watchdog);
    assert_interrupted();
    assert_true(stall_watchdog_end(watchdog));
    end();
}

static void who_does_not_wait_is_left_alone(void **state)
{
    struct err err = {0};

    (void)state;
    begin(hangs);
    read_link_close(&link_to);
    link_to.conn = server_connect();
    stall_watchdog_enter(watchdog, link_to.conn, &access_to);
    assert_true(mysql_conn_exec(link_to.conn, STR("SELECT SLEEP(1)"), &err));
    end();
}

static void *stop_soon(void *ctx)
{
    (void)ctx;
    while (__atomic_load_n(&n_asked, __ATOMIC_RELAXED) == 0)
        stop_wait(&stop, 1);
    stall_watchdog_stop(watchdog);
    return NULL;
}

static void a_stop_ends_what_waits_and_what_would(void **state)
{
    struct mysql_conn *late = server_connect();
    struct err err = {0};
    pthread_t thread;

    (void)state;
    begin(is_there);
    stall_watchdog_begin(watchdog);
    thread = thread_start("stopper", stop_soon, NULL);
    assert_interrupted();
    pthread_join(thread, NULL);
    stall_watchdog_enter(watchdog, late, &access_to);
    assert_false(mysql_conn_exec(late, STR("SELECT 1"), &err));
    stall_watchdog_leave(watchdog, late);
    mysql_conn_close(late);
    assert_false(stall_watchdog_end(watchdog));
    end();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_server_that_works_is_waited_for),
        cmocka_unit_test(a_server_that_works_is_told_by_a_log_in),
        cmocka_unit_test(a_server_that_hangs_is_not_waited_for),
        cmocka_unit_test(a_server_that_nobody_gets_to_is_not_waited_for),
        cmocka_unit_test(who_does_not_wait_is_left_alone),
        cmocka_unit_test(a_stop_ends_what_waits_and_what_would),
    };
    return cmocka_run_group_tests_name("stall_watchdog", tests, NULL, NULL);
}
