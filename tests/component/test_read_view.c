#include "config.h"

#include "tests/component/server.h"

#include "src/base/buf.h"
#include "src/base/thread.h"
#include "sync/binlog/gtid_set.h"
#include "sync/binlog/position.h"
#include "sync/binlog/row.h"
#include "sync/binlog/transaction.h"
#include "sync/binlog/transport.h"
#include "sync/model/catalog.h"
#include "sync/read_position.h"
#include "sync/read_view.h"
#include "sync/server_info.h"
#include "sync/witness.h"

#include <pthread.h>

#define N_COMMITS 3000
#define N_ASKING  3
#define N_SLOW    10
#define SLOW_US   "400000" /* from the log to the commit; far above any settle delay */

/* counter.v is n, once the n-th commit, which ends at ends[n], is visible. */
static uint64_t ends[N_COMMITS + 1];
static size_t n_ends; /* atomic */
static bool finished; /* atomic */

static uint64_t end_of_log(struct mysql_conn *c)
{
    struct buf file = {0};
    struct err err = {0};
    uint64_t version;
    const uint64_t offset = log_end_of_server(c, &file);

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
    if (mysql_conn_flavor(c) != FLAVOR_MARIADB) {
        mysql_conn_close(c);
        print_message("only MariaDB has binlog_snapshot_*, which others could ask for\n");
        skip();
    }
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

/* ---- commits that the log shows long before SELECT does ---- */

/* Reads the log as a pipeline does; slow.v is n once the n-th commit is visible. */
struct follower {
    struct transport *transport;
    struct log_reader *log;
    struct row_reader *rows;
    struct schema *known; /* view.slow as information_schema has it */
    struct read_position *reader;
    uint64_t ends[N_SLOW + 1]; /* of the n-th rows event */
    size_t n_read;             /* atomic */
};

static void note_rows(struct follower *f, const struct step *step)
{
    const struct position end = {step->event.file, step->event.end};
    struct row_change change;
    struct buf witness = {0};
    uint64_t version;
    struct err err = {0};

    assert_true(row_reader_open(f->rows, &step->rows, step->map, &err));
    assert_int_equal(row_reader_next(f->rows, NULL, &change, &err), 1);
    witness_format(&witness, f->known, step->map, change.after);
    assert_true(witness.len > 0);

    const size_t n = (size_t)change.after[1].i;

    assert_true(position_version(end, 0, &version, &err));
    __atomic_store_n(&f->ends[n], version, __ATOMIC_RELEASE);
    read_position_set_witness(f->reader, buf_str(&witness));
    read_position_set(f->reader, version, 0);
    __atomic_store_n(&f->n_read, n, __ATOMIC_RELEASE);
    buf_free(&witness);
}

static void *follow(void *ctx)
{
    struct follower *f = ctx;
    struct step step;
    struct str raw;
    struct err err = {0};

    while (__atomic_load_n(&f->n_read, __ATOMIC_RELAXED) < N_SLOW) {
        if (transport_next(f->transport, &raw, &err) != 1 ||
            !log_reader_feed(f->log, raw, &err))
            fail_msg("%s", err.msg);
        while (log_reader_next(f->log, &step, &err) == 1) {
            if (step.begins)
                read_position_add_gtid(f->reader, &step.gtid, 0);
            if (step.kind == STEP_ROWS && str_equal(step.map->table, STR("slow")))
                note_rows(f, &step);
        }
    }
    return NULL;
}

/* What follows has GTIDs with a tag, where the server knows tags. */
static void use_tag(struct mysql_conn *c)
{
    if (mysql_conn_flavor(c) == FLAVOR_MYSQL && mysql_conn_version(c) >= 80400 &&
        server_has_gtids(c))
        server_exec(c, "SET SESSION gtid_next = 'AUTOMATIC:a_tag'");
}

static void *commit_slowly(void *ctx)
{
    struct mysql_conn *c = server_connect();

    (void)ctx;
    for (size_t i = 1; i <= N_SLOW; i++) {
        if (i == N_SLOW / 2)
            use_tag(c);
        server_exec(c, "UPDATE view.slow SET v = v + 1 WHERE id = 'a row'");
    }
    mysql_conn_close(c);
    return NULL;
}

static void follower_open(struct follower *f, struct mysql_conn *c)
{
    const struct mysql_options server = server_options();
    const struct catalog_name name = {STR("view"), STR("slow")};
    struct buf file = {0};
    struct err err = {0};
    const uint64_t end = log_end_of_server(c, &file);
    const struct transport_options from = {.server_id = 4713,
                                           .uuid = "11111111-2222-3333-4444-555555555557",
                                           .file = buf_str(&file),
                                           .offset = end};
    const struct log_reader_options opt = {.start = {buf_str(&file), end}};

    *f = (struct follower){.log = log_reader_new(&opt),
                           .rows = row_reader_new(),
                           .reader = read_position_new(0)};
    if (!catalog_load(c, &name, 1, &f->known, &err) ||
        !transport_open_server(&f->transport, &server, &from, &err))
        fail_msg("%s", err.msg);
    buf_free(&file);
}

static void follower_close(struct follower *f)
{
    transport_close(f->transport);
    log_reader_free(f->log);
    row_reader_free(f->rows);
    schema_unref(f->known);
    read_position_free(f->reader);
}

/* A read that must include what was just read from the log. */
static size_t read_after(struct mysql_conn *c, struct follower *f, size_t n, struct stop *stop)
{
    const struct read_view_options opt = {.reader = f->reader,
                                          .gtid = server_has_gtids(c),
                                          .at_least = f->ends[n],
                                          .timeout_ms = 10000,
                                          .stop = stop};
    struct buf v = {0};
    struct err err = {0};
    uint64_t stamp;

    if (!read_view_open(c, &opt, &stamp, &err))
        fail_msg("%s", err.msg);
    server_scalar(c, "SELECT v FROM view.slow WHERE id = 'a row'", &v);
    assert_true(read_view_close(c, &err));

    const size_t seen = strtoul(v.ptr, NULL, 10);

    buf_free(&v);
    for (uint64_t end; n < N_SLOW; n++) {
        end = __atomic_load_n(&f->ends[n + 1], __ATOMIC_ACQUIRE);
        if (end == 0 || end > stamp)
            break;
    }
    assert_true(seen >= n);
    return seen;
}

/* MySQL sends an event on before it syncs the log; MariaDB has no such delay to set. */
static void delay_commits(struct mysql_conn *c, const char *us)
{
    char sql[100];

    if (mysql_conn_flavor(c) == FLAVOR_MARIADB)
        return;
    snprintf(sql, sizeof(sql), "SET GLOBAL binlog_group_commit_sync_delay = %s", us);
    server_exec(c, sql);
}

static void test_a_view_holds_what_was_read_from_the_log_before_its_commit_was_visible(
    void **state)
{
    struct mysql_conn *c = server_connect();
    pthread_t writer, reader;
    struct follower f;
    struct stop stop;

    (void)state;
    stop_init(&stop);
    server_database(c, "view");
    server_exec(c, "CREATE TABLE view.slow (id VARCHAR(20) PRIMARY KEY, v INT) ENGINE=InnoDB");
    server_exec(c, "INSERT INTO view.slow VALUES ('a row', 0), ('another', 0)");
    follower_open(&f, c);
    delay_commits(c, SLOW_US);
    reader = thread_start("follower", follow, &f);
    writer = thread_start("writer", commit_slowly, NULL);
    for (size_t seen = 0; seen < N_SLOW;) {
        const size_t n = __atomic_load_n(&f.n_read, __ATOMIC_ACQUIRE);

        if (n > seen)
            seen = read_after(c, &f, n, &stop);
        else
            (void)stop_wait(&stop, 1);
    }
    pthread_join(writer, NULL);
    pthread_join(reader, NULL);
    delay_commits(c, "0");
    server_exec(c, "DROP DATABASE view");
    follower_close(&f);
    mysql_conn_close(c);
    stop_fini(&stop);
}

static void *commit_once(void *ctx)
{
    struct mysql_conn *c = server_connect();

    (void)ctx;
    use_tag(c);
    server_exec(c, "INSERT INTO view.slow VALUES ('a row', 1)");
    mysql_conn_close(c);
    return NULL;
}

static void executed_gtids(struct mysql_conn *c, struct buf *out)
{
    struct gtid_set *set = NULL;
    struct buf text = {0};
    struct err err = {0};

    server_scalar(c,
                  mysql_conn_flavor(c) == FLAVOR_MARIADB ? "SELECT @@GLOBAL.gtid_binlog_pos"
                                                         : "SELECT @@GLOBAL.gtid_executed",
                  &text);
    assert_true(gtid_set_parse(buf_str(&text), &set, &err));
    gtid_set_format(out, set);
    gtid_set_free(set);
    buf_free(&text);
}

/* Where a new topic starts: its builds wait for these GTIDs, and the stream begins behind. */
static void test_the_end_of_the_log_comes_with_the_gtids_of_all_that_stands_before_it(
    void **state)
{
    struct mysql_conn *c = server_connect();
    struct buf before = {0}, after = {0}, got = {0};
    struct gtid_set *set = NULL;
    struct log_end end;
    struct stop stop;
    struct err err = {0};
    pthread_t writer;

    (void)state;
    server_needs_gtids(c);
    stop_init(&stop);
    server_database(c, "view");
    server_exec(c, "CREATE TABLE view.slow (id VARCHAR(20) PRIMARY KEY, v INT) ENGINE=InnoDB");
    executed_gtids(c, &before);
    delay_commits(c, "1000000");

    const uint64_t start = log_end_of_server(c, NULL);

    writer = thread_start("writer", commit_once, NULL);
    while (log_end_of_server(c, NULL) == start)
        (void)stop_wait(&stop, 1);
    if (!server_log_end_committed(c, 10000, &stop, &end, &err))
        fail_msg("%s", err.msg);
    pthread_join(writer, NULL);
    delay_commits(c, "0");
    executed_gtids(c, &after);
    assert_string_not_equal(before.ptr, after.ptr);
    assert_true(end.offset > start);
    assert_true(gtid_set_parse(str_from(end.gtids), &set, &err));
    gtid_set_format(&got, set);
    assert_string_equal(got.ptr, after.ptr);
    server_exec(c, "DROP DATABASE view");
    gtid_set_free(set);
    free(end.gtids);
    buf_free(&before);
    buf_free(&after);
    buf_free(&got);
    mysql_conn_close(c);
    stop_fini(&stop);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(
            test_a_view_holds_all_that_its_stamp_says_while_others_ask_for_the_status),
        cmocka_unit_test(
            test_a_view_holds_what_was_read_from_the_log_before_its_commit_was_visible),
        cmocka_unit_test(
            test_the_end_of_the_log_comes_with_the_gtids_of_all_that_stands_before_it),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
