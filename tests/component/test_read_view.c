#include "config.h"

#include "tests/component/server.h"

#include "src/base/buf.h"
#include "src/base/thread.h"
#include "sync/catalog/catalog.h"
#include "sync/checkpoint/read_position.h"
#include "sync/decode/row.h"
#include "sync/decode/transaction.h"
#include "sync/position/gtid_set.h"
#include "sync/position/position.h"
#include "sync/read/commit_wait.h"
#include "sync/read/view.h"
#include "sync/server/server_info.h"
#include "sync/source/transport/transport.h"

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

    assert_true(position_version((struct position){buf_str(&file), offset}, 0, &version, &err));
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

static void
test_a_view_holds_all_that_its_stamp_says_while_others_ask_for_the_status(void **state)
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
    struct buf wait_sql = {0};
    uint64_t version;
    struct err err = {0};

    assert_true(row_reader_open(f->rows, &step->rows, step->map, &err));
    assert_int_equal(row_reader_next(f->rows, NULL, &change, &err), 1);
    commit_wait_format(&wait_sql, f->known, step->map, change.after);
    assert_true(wait_sql.len > 0);

    const size_t n = (size_t)change.after[1].i;

    assert_true(position_version(end, 0, &version, &err));
    __atomic_store_n(&f->ends[n], version, __ATOMIC_RELEASE);
    read_position_set_commit_wait(f->reader, buf_str(&wait_sql));
    read_position_set(f->reader, version, 0);
    __atomic_store_n(&f->n_read, n, __ATOMIC_RELEASE);
    buf_free(&wait_sql);
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

    *f = (struct follower){
        .log = log_reader_new(&opt), .rows = row_reader_new(), .reader = read_position_new(0)};
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

static void
test_a_view_holds_what_was_read_from_the_log_before_its_commit_was_visible(void **state)
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
static void
test_the_end_of_the_log_comes_with_the_gtids_of_all_that_stands_before_it(void **state)
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

/* Around a change of the file one answer may have the file of one session and the offset of
 * another, whichever comes first. */
static void test_of_two_answers_the_smaller_is_the_position(void **state)
{
    static const char *const shown[] = {
        "SELECT 'binlog.000002', '900' UNION ALL SELECT 'binlog.000001', '1200'",
        "SELECT 'binlog.000001', '1200' UNION ALL SELECT 'binlog.000002', '900'",
        "SELECT 'binlog.000001', '1200' UNION ALL SELECT 'binlog.000001', '1300'",
    };
    struct mysql_conn *c = server_connect();
    struct err err = {0};
    uint64_t smaller, version;

    (void)state;
    assert_true(
        position_version((struct position){STR("binlog.000001"), 1200}, 3, &smaller, &err));
    for (size_t i = 0; i < ARRAY_LEN(shown); i++) {
        assert_true(read_view_shown(c, str_from(shown[i]), 3, &version, &err));
        assert_true(version == smaller);
    }
    mysql_conn_close(c);
}

/* What the server has committed beyond that is read, but another may write it again. */
static void test_a_stamp_is_never_above_what_the_reader_has_read(void **state)
{
    struct mysql_conn *c = server_connect();
    struct read_position *reader;
    struct err err = {0};
    struct stop stop;
    uint64_t read, stamp;

    (void)state;
    stop_init(&stop);
    server_database(c, "view");
    read = end_of_log(c);
    server_exec(c, "CREATE TABLE view.counter (v INT)");
    reader = read_position_new(read);

    const struct read_view_options opt = {.reader = reader, .timeout_ms = 10000, .stop = &stop};

    assert_true(end_of_log(c) > read);
    assert_true(read_view_open(c, &opt, &stamp, &err));
    assert_true(read_view_close(c, &err));
    assert_true(stamp == read);
    server_exec(c, "DROP DATABASE view");
    read_position_free(reader);
    mysql_conn_close(c);
    stop_fini(&stop);
}

static void test_gtids_that_are_not_all_known_or_came_late_are_not_enough(void **state)
{
    (void)state;
    assert_false(read_view_must_settle(true, false));
    assert_true(read_view_must_settle(false, false));
    assert_true(read_view_must_settle(true, true));
    assert_true(read_view_must_settle(false, true));
}

/* Nobody can be asked for what has no GTID; that it waits is seen by that it can be stopped. */
static void test_a_read_waits_a_moment_where_not_all_gtids_are_known(void **state)
{
    struct mysql_conn *c = server_connect();
    struct err err = {0};
    struct stop stop;
    uint64_t stamp;

    (void)state;
    if (mysql_conn_flavor(c) == FLAVOR_MARIADB) {
        print_message("MariaDB is asked otherwise\n");
        mysql_conn_close(c);
        skip();
    }

    struct read_position *reader = read_position_new(1000);
    struct gtid_set *all = gtid_set_new();
    const struct read_view_options opt = {
        .reader = reader, .gtid = true, .timeout_ms = 10000, .stop = &stop};

    stop_init(&stop);
    stop_set(&stop);
    read_position_set_gtids(reader, all);
    assert_true(read_view_open(c, &opt, &stamp, &err));
    assert_true(read_view_close(c, &err));
    read_position_add_gtid(reader, &(struct gtid){.family = GTID_NONE}, 2000);
    assert_false(read_view_open(c, &opt, &stamp, &err));
    assert_int_equal(err.kind, ERR_STOP);
    gtid_set_free(all);
    read_position_free(reader);
    mysql_conn_close(c);
    stop_fini(&stop);
}

/* ---- what a view is asked for, and what it says, on MariaDB ---- */

struct asked_view {
    struct mysql_conn *c;
    struct stop stop;
    struct read_position *reader;
    struct read_view_options opt;
    uint64_t stamp;
    struct err err;
};

static void ask_begin(struct asked_view *a, uint64_t read, int64_t timeout_ms)
{
    *a = (struct asked_view){.c = server_connect(), .reader = read_position_new(read)};
    stop_init(&a->stop);
    a->opt = (struct read_view_options){
        .reader = a->reader, .timeout_ms = timeout_ms, .stop = &a->stop};
}

static void ask_end(struct asked_view *a)
{
    read_position_free(a->reader);
    stop_fini(&a->stop);
    mysql_conn_close(a->c);
}

static void opens(struct asked_view *a)
{
    struct err err = {0};

    if (!read_view_open(a->c, &a->opt, &a->stamp, &a->err))
        fail_msg("%s", a->err.msg);
    assert_true(read_view_close(a->c, &err));
}

static void does_not_open(struct asked_view *a, enum err_kind kind, const char *word)
{
    assert_false(read_view_open(a->c, &a->opt, &a->stamp, &a->err));
    assert_int_equal(a->err.kind, kind);
    if (strstr(a->err.msg, word) == NULL)
        fail_msg("\"%s\" does not say %s", a->err.msg, word);
}

static void skip_unless_mariadb(void)
{
    struct mysql_conn *c = server_connect();
    const bool mariadb = mysql_conn_flavor(c) == FLAVOR_MARIADB;

    mysql_conn_close(c);
    if (!mariadb)
        skip();
}

static void
test_a_view_that_lacks_less_than_an_event_includes_what_it_is_asked_for(void **state)
{
    struct asked_view a;

    (void)state;
    skip_unless_mariadb();
    ask_begin(&a, 1ull << 52, 10000);
    a.opt.at_least = end_of_log(a.c) + READ_POSITION_GAP;
    opens(&a);
    assert_int_equal(a.stamp, a.opt.at_least);
    ask_end(&a);
}

static void test_what_is_not_committed_in_time_is_told(void **state)
{
    struct asked_view a;

    (void)state;
    skip_unless_mariadb();
    ask_begin(&a, 1ull << 52, 50);
    a.opt.at_least = end_of_log(a.c) + READ_POSITION_GAP + 1;
    does_not_open(&a, ERR_RETRY, "not visible");
    ask_end(&a);
}

static void test_a_replica_is_asked_only_for_gtids_that_it_has(void **state)
{
    const struct gtid none = {.family = GTID_NONE},
                      far = {.family = GTID_MARIADB, .domain = 77, .server = 1, .number = 5};
    struct asked_view a;

    (void)state;
    skip_unless_mariadb();
    ask_begin(&a, 100, 1);
    a.opt.replica = true;
    does_not_open(&a, ERR_RETRY, "no GTIDs");
    read_position_add_gtid(a.reader, &far, 100);
    does_not_open(&a, ERR_RETRY, "not applied");
    read_position_add_gtid(a.reader, &none,
                           110); /* it has none, and those before say nothing of it */
    does_not_open(&a, ERR_RETRY, "no GTIDs");
    ask_end(&a);
}

/* The server says that it is applied before it is seen. */
static void test_what_is_committed_late_is_waited_for_once(void **state)
{
    const struct gtid there = {.family = GTID_MARIADB, .domain = 78, .server = 1, .number = 5};
    struct asked_view a;
    uint64_t late = 0;

    (void)state;
    skip_unless_mariadb();
    ask_begin(&a, 100, 1000);
    server_exec(a.c, "SET GLOBAL gtid_slave_pos = '78-1-5'");
    a.opt.replica = true;
    a.opt.late = &late;
    read_position_add_gtid(a.reader, &there, 100);
    opens(&a);
    read_position_note_late(a.reader);
    stop_set(&a.stop); /* who waits sees it */
    does_not_open(&a, ERR_STOP, "stopping");
    opens(&a);
    server_exec(a.c, "SET GLOBAL gtid_slave_pos = ''");
    ask_end(&a);
}

static void test_a_row_that_another_has_locked_is_no_witness_of_a_commit(void **state)
{
    struct mysql_conn *c = server_connect(), *other = server_connect();
    struct err err;

    (void)state;
    server_database(c, "view");
    server_exec(c, "CREATE TABLE view.slow (id INT PRIMARY KEY) ENGINE=InnoDB");
    server_exec(c, "INSERT INTO view.slow VALUES (1)");
    server_exec(other, "BEGIN");
    server_exec(other, "UPDATE view.slow SET id = 1");
    server_exec(other, "SELECT * FROM view.slow FOR UPDATE");
    assert_int_equal(
        read_view_ask(c, STR("SELECT 1 FROM view.slow WHERE id = 1 LOCK IN SHARE MODE"), &err),
        COMMIT_WAIT_LOCKED);
    server_exec(other, "ROLLBACK");
    assert_int_equal(
        read_view_ask(c, STR("SELECT 1 FROM view.slow WHERE id = 1 LOCK IN SHARE MODE"), &err),
        COMMIT_WAIT_COMMITTED);
    assert_int_equal(read_view_ask(c, STR(""), &err), COMMIT_WAIT_MUTE);
    server_exec(c, "DROP DATABASE view");
    mysql_conn_close(c);
    mysql_conn_close(other);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(
            test_a_view_that_lacks_less_than_an_event_includes_what_it_is_asked_for),
        cmocka_unit_test(test_what_is_not_committed_in_time_is_told),
        cmocka_unit_test(test_a_replica_is_asked_only_for_gtids_that_it_has),
        cmocka_unit_test(test_what_is_committed_late_is_waited_for_once),
        cmocka_unit_test(test_a_row_that_another_has_locked_is_no_witness_of_a_commit),
        cmocka_unit_test(
            test_a_view_holds_all_that_its_stamp_says_while_others_ask_for_the_status),
        cmocka_unit_test(test_of_two_answers_the_smaller_is_the_position),
        cmocka_unit_test(test_a_stamp_is_never_above_what_the_reader_has_read),
        cmocka_unit_test(test_gtids_that_are_not_all_known_or_came_late_are_not_enough),
        cmocka_unit_test(test_a_read_waits_a_moment_where_not_all_gtids_are_known),
        cmocka_unit_test(
            test_a_view_holds_what_was_read_from_the_log_before_its_commit_was_visible),
        cmocka_unit_test(
            test_the_end_of_the_log_comes_with_the_gtids_of_all_that_stands_before_it),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
