#include "config.h"

#include "tests/component/server.h"

#include "src/base/buf.h"
#include "src/base/thread.h"
#include "sync/binlog/position.h"
#include "sync/read_position.h"
#include "sync/read_view.h"

#include <pthread.h>

#define N_COMMITS 3000
#define N_ASKING  3

/* counter.v is n, once the n-th commit, which ends at ends[n], is visible. */
static uint64_t ends[N_COMMITS + 1];
static size_t n_ends; /* atomic */
static bool finished; /* atomic */

static uint64_t end_of_log(struct mysql_conn *c)
{
    struct buf file = {0};
    struct err err = {0};
    uint64_t version;
    const uint64_t offset = server_log_end(c, &file);

    assert_true(
        position_version((struct position){buf_str(&file), offset}, 0, &version, &err));
    buf_free(&file);
    return version;
}

static void *commit(void *ctx)
{
    struct mysql_conn *c = server_connect();

    (void)ctx;
    for (size_t i = 1; i <= N_COMMITS; i++) {
        server_exec(c, "UPDATE view.counter SET v = v + 1");
        ends[i] = end_of_log(c);
        __atomic_store_n(&n_ends, i, __ATOMIC_RELEASE);
    }
    __atomic_store_n(&finished, true, __ATOMIC_RELEASE);
    mysql_conn_close(c);
    return NULL;
}

static void *ask_for_status(void *ctx)
{
    struct mysql_conn *c = server_connect();

    (void)ctx;
    while (!__atomic_load_n(&finished, __ATOMIC_ACQUIRE))
        server_exec(c, "SHOW STATUS LIKE 'binlog_snapshot_%'");
    mysql_conn_close(c);
    return NULL;
}

static uint64_t counter(struct mysql_conn *c)
{
    struct buf v = {0};
    uint64_t n = 0;

    server_scalar(c, "SELECT v FROM view.counter", &v);
    for (size_t i = 0; i < v.len; i++)
        n = n * 10 + (uint64_t)(v.ptr[i] - '0');
    buf_free(&v);
    return n;
}

/* One read, which is asked to include the last commit that is known of. */
static void read_once(struct mysql_conn *c, struct stop *stop)
{
    const size_t known = __atomic_load_n(&n_ends, __ATOMIC_ACQUIRE);
    struct read_position *far = read_position_new(1ull << 52);
    const struct read_view_options opt = {
        .reader = far, .at_least = ends[known], .timeout_ms = 10000, .stop = stop};
    struct err err = {0};
    uint64_t stamp;

    assert_true(read_view_open(c, &opt, &stamp, &err));

    const uint64_t seen = counter(c);

    assert_true(read_view_close(c, &err));
    read_position_free(far);
    assert_true(stamp >= ends[known]);
    if (seen < N_COMMITS) {
        while (__atomic_load_n(&n_ends, __ATOMIC_ACQUIRE) <= seen)
            (void)stop_wait(stop, 1);
        /* The first commit that it does not include ends behind its stamp. */
        assert_true(stamp < ends[seen + 1]);
    }
}

static void test_a_view_holds_all_that_its_stamp_says_while_others_ask_for_the_status(
    void **state)
{
    struct mysql_conn *c = server_connect();
    pthread_t writer, asking[N_ASKING];
    struct stop stop;

    (void)state;
    stop_init(&stop);
    server_database(c, "view");
    server_exec(c, "CREATE TABLE view.counter (v INT)");
    server_exec(c, "INSERT INTO view.counter VALUES (0)");
    ends[0] = end_of_log(c);
    for (size_t i = 0; i < N_ASKING; i++)
        asking[i] = thread_start("status", ask_for_status, NULL);
    writer = thread_start("writer", commit, NULL);
    while (!__atomic_load_n(&finished, __ATOMIC_ACQUIRE))
        read_once(c, &stop);
    pthread_join(writer, NULL);
    for (size_t i = 0; i < N_ASKING; i++)
        pthread_join(asking[i], NULL);
    read_once(c, &stop);
    server_exec(c, "DROP DATABASE view");
    mysql_conn_close(c);
    stop_fini(&stop);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(
            test_a_view_holds_all_that_its_stamp_says_while_others_ask_for_the_status),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
