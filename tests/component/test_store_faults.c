/* Stores of other versions, full, killed, cut off, and shared. */
#include "config.h"

#include "tests/component/store_rig.h"

#include "src/store/migrate.h"

#include "src/base/buf.h"

#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

/* Versions. */

#define NEWER   "INSERT INTO millrace_migration VALUES (7777, 'from the future', 0)"
#define REFUSES "INSERT INTO setting (name, content) VALUES ('migration/least', '7776')"

static void a_store_with_a_newer_migration_that_is_shared_is_used(void **state)
{
    struct stored_dead_letter d = some_letter("1");
    char least[96];
    uint64_t n;

    (void)state;
    close_store();
    sql_beside(NEWER);
    sql_beside("CREATE TABLE census (n BIGINT NOT NULL)");
    sql_beside("ALTER TABLE dead_letter ADD COLUMN counted BIGINT");
    snprintf(least, sizeof(least),
             "INSERT INTO setting (name, content) VALUES ('migration/least', '%zu')",
             n_migrations);
    sql_beside(least);
    reopen();
    ok(store_put_dead_letters(f.s, &d, 1, &f.err));
    reopen();
    ok(store_n_dead_letters(f.s, STR(""), &n, &f.err));
    assert_int_equal(n, 1);
}

static void expect_both_numbers(void)
{
    char ours[32];

    snprintf(ours, sizeof(ours), "up to %zu", n_migrations);
    assert_non_null(strstr(f.err.msg, "7776"));
    assert_non_null(strstr(f.err.msg, ours));
}

static void a_store_with_a_newer_migration_that_is_not_shared_is_refused(void **state)
{
    (void)state;
    close_store();
    sql_beside(NEWER);
    sql_beside(REFUSES);
    refused(open_store(&f.s, &f.err), ERR_FATAL);
    expect_both_numbers();
}

static void a_database_of_something_else_is_refused(void **state)
{
    (void)state;
    close_store();
    remove_store();
    sql_beside("CREATE TABLE job (whatever INT)");
    refused(open_store(&f.s, &f.err), ERR_FATAL);
    sql_beside("INSERT INTO job VALUES (1)");
}

/* A file of version 1, as the program of that time left it. */
static void load_fixture(void)
{
    char name[512], *sql;
    FILE *file;
    long len;

    snprintf(name, sizeof(name), "%s/tests/component/store_v1.%s.sql", server_env("top_srcdir"),
             on_mysql ? "mysql" : "sqlite");
    file = fopen(name, "rb");
    if (file == NULL)
        fail_msg("%s is missing", name);
    fseek(file, 0, SEEK_END);
    len = ftell(file);
    rewind(file);
    sql = calloc(1, (size_t)len + 1);
    assert_int_equal(fread(sql, 1, (size_t)len, file), (size_t)len);
    fclose(file);
    for (char *save, *p = strtok_r(sql, ";", &save); p != NULL; p = strtok_r(NULL, ";", &save))
        if (p[strspn(p, " \n")] != '\0')
            sql_beside(p);
    free(sql);
}

static void a_store_of_version_one_is_migrated_with_all_it_holds(void **state)
{
    struct stored_checkpoint cp;
    struct stored_version *versions;
    struct stored_definition *defs;
    uint64_t term, revision;
    bool found;
    size_t n;

    (void)state;
    close_store();
    remove_store();
    load_fixture();
    reopen();
    ok(store_load_checkpoint(f.s, f.a, STR("shop"), &cp, &found, &f.err));
    assert_true(found);
    assert_int_equal(cp.offset, 4242);
    ok(store_take_term(f.s, STR("topic/shop"), &term, &f.err));
    assert_int_equal(term, 6);
    ok(store_load_versions(f.s, f.a, STR("orders"), &versions, &n, &f.err));
    assert_int_equal(n, 1);
    same(versions[0].error, STR(""));
    ok(store_load_definitions(f.s, f.a, &defs, &n, &revision, &f.err));
    assert_int_equal(n, 1);
    assert_int_equal(revision, 3);
    struct stored_dead_letter d = some_letter("1");

    ok(store_put_dead_letters(f.s, &d, 1, &f.err));
    /* And once more: nothing is left to do. */
    reopen();
    ok(store_load_versions(f.s, f.a, STR("orders"), &versions, &n, &f.err));
    assert_int_equal(n, 1);
}

/* A migration that was cut off in the middle is finished: in MySQL its first statements
 * stay. */
static void a_migration_that_was_cut_off_is_finished(void **state)
{
    struct stored_dead_letter d = some_letter("1");
    uint64_t term;

    (void)state;
    close_store();
    remove_store();
    load_fixture();
    if (on_mysql)
        sql_beside("CREATE TABLE table_stop (table_name VARBINARY(255) NOT NULL PRIMARY KEY,"
                   " reason LONGBLOB NOT NULL, way_out LONGBLOB NOT NULL,"
                   " log_file LONGBLOB NOT NULL, log_offset BIGINT NOT NULL,"
                   " at_ms BIGINT NOT NULL)");
    reopen();
    ok(store_take_term(f.s, STR("topic/shop"), &term, &f.err));
    ok(store_put_dead_letters(f.s, &d, 1, &f.err));
}

/* SQLite: one process, a full disk, kill -9. */

static void a_second_process_is_refused_with_the_pid_of_the_first(void **state)
{
    struct store *second = NULL;
    char pid[24];

    (void)state;
    refused(open_store(&second, &f.err), ERR_RETRY);
    snprintf(pid, sizeof(pid), "process %ld ", (long)getpid());
    assert_non_null(strstr(f.err.msg, pid));
    struct stat st;

    assert_int_equal(stat(store_path, &st), 0);
    assert_int_equal(st.st_mode & 0777, 0600);
}

static void limit_files(rlim_t bytes)
{
    struct rlimit limit;

    getrlimit(RLIMIT_FSIZE, &limit);
    limit.rlim_cur = bytes;
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &limit), 0);
}

/* Some writes find room again (the log is emptied into the file), then none does. */
static void a_full_disk_loses_nothing(void **state)
{
    static char value[30000];
    static bool written[400];
    struct buf got = {0};
    size_t n_refused = 0;
    char name[32];
    bool found;

    (void)state;
    signal(SIGXFSZ, SIG_IGN);
    memset(value, 'v', sizeof(value));
    limit_files(3 << 20);
    for (size_t i = 0; i < ARRAY_LEN(written); i++) {
        snprintf(name, sizeof(name), "n%zu", i);
        written[i] =
            store_put_value(f.s, str_from(name), (struct str){value, sizeof(value)}, &f.err);
        if (!written[i])
            refused(false, ERR_RETRY);
        n_refused += !written[i];
    }
    assert_in_range(n_refused, 10, ARRAY_LEN(written) - 10);
    assert_false(written[ARRAY_LEN(written) - 1]);
    limit_files(RLIM_INFINITY);
    ok(store_put_value(f.s, STR("after"), STR("1"), &f.err));
    reopen();
    for (size_t i = 0; i < ARRAY_LEN(written); i++) {
        snprintf(name, sizeof(name), "n%zu", i);
        buf_clear(&got);
        ok(store_get_value(f.s, str_from(name), &got, &found, &f.err));
        assert_int_equal(found, written[i]);
        assert_true(!found || got.len == sizeof(value));
    }
    buf_free(&got);
}

static void flip(const char *path, long at)
{
    FILE *file = fopen(path, "r+b");
    int byte;

    assert_non_null(file);
    assert_int_equal(fseek(file, at, SEEK_SET), 0);
    byte = fgetc(file);
    assert_int_not_equal(byte, EOF);
    assert_int_equal(fseek(file, at, SEEK_SET), 0);
    assert_int_equal(fputc(byte ^ 0x10, file), byte ^ 0x10);
    assert_int_equal(fclose(file), 0);
}

static long file_size(void)
{
    struct stat file;

    assert_int_equal(stat(store_path, &file), 0);
    return file.st_size;
}

/* Each page says at its start what it is; that of the first stands behind the file's header. */
static void
f58_a_store_with_a_flipped_bit_is_refused_with_its_name_and_the_way_out(void **state)
{
    struct buf got = {0};
    bool found;

    (void)state;
    ok(store_put_value(f.s, STR("name"), STR("value"), &f.err));
    close_store();
    for (long at = 0; at < file_size(); at += 4096) {
        flip(store_path, at == 0 ? 100 : at);
        refused(open_store(&f.s, &f.err), ERR_FATAL);
        assert_non_null(strstr(f.err.msg, store_path));
        assert_non_null(strstr(f.err.msg, "restore it from a backup"));
        flip(store_path, at == 0 ? 100 : at);
    }
    ok(open_store(&f.s, &f.err));
    ok(store_get_value(f.s, STR("name"), &got, &found, &f.err));
    assert_true(found && str_equal(buf_str(&got), STR("value")));
    buf_free(&got);
}

static long find_byte(const char *name, size_t back)
{
    static char bytes[1 << 20];
    FILE *file = fopen(store_path, "rb");
    const size_t n = file == NULL ? 0 : fread(bytes, 1, sizeof(bytes), file);
    const char *found = memmem(bytes, n, name, strlen(name));

    assert_non_null(found);
    fclose(file);
    return found - bytes + (long)strlen(name) - (long)back;
}

static void save_of_42(void)
{
    struct stored_checkpoint cp = some_checkpoint(42);
    const struct stored_tombstone t = {STR("orders_v1"), STR("doc-of-42"), STR(""), 7, 1};
    uint64_t term;

    cp.topic = STR("topic-42");
    cp.file = STR("bin.000042");
    cp.gtid = STR("gtid-of-42");
    ok(store_take_term(f.s, STR("topic/topic-42"), &term, &f.err));
    ok(store_save_checkpoint(f.s, term, &cp, &t, 1, &f.err));
    close_store();
}

static void expect_of_42(void)
{
    struct stored_checkpoint got;
    struct stored_tombstone *list;
    size_t n;
    bool found;

    ok(store_load_checkpoint(f.s, f.a, STR("topic-42"), &got, &found, &f.err));
    assert_true(found);
    assert_true(str_equal(got.file, STR("bin.000042")) && got.offset == 42);
    assert_true(str_equal(got.gtid, STR("gtid-of-42")));
    ok(store_load_tombstones(f.s, f.a, all_of(STR("orders_v1")), 10, &list, &n, &f.err));
    assert_int_equal(n, 1);
    assert_true(str_equal(list[0].id, STR("doc-of-42")) && list[0].version == 7);
}

static void f58_a_flipped_bit_of_a_stored_value_is_noticed(void **state)
{
    static const char *const values[] = {"bin.000042", "gtid-of-42", "doc-of-42", "topic-42"};

    (void)state;
    save_of_42();
    for (size_t i = 0; i < ARRAY_LEN(values); i++) {
        const long at = find_byte(values[i], 1);

        flip(store_path, at);
        refused(open_store(&f.s, &f.err), ERR_FATAL);
        assert_non_null(strstr(f.err.msg, store_path));
        flip(store_path, at);
    }
    ok(open_store(&f.s, &f.err));
    expect_of_42();
}

/* What is refused is most of what is in use; the rest is room that nothing is in. */
static void f58_wherever_a_bit_flips_the_store_is_refused_or_says_what_it_said(void **state)
{
    size_t n_refused = 0;

    (void)state;
    save_of_42();
    for (long at = 0; at < file_size(); at += 211) {
        flip(store_path, at);
        if (open_store(&f.s, &f.err)) {
            expect_of_42();
            close_store();
        } else {
            n_refused++;
        }
        flip(store_path, at);
    }
    assert_in_range(n_refused, 30, 100000);
    ok(open_store(&f.s, &f.err));
    expect_of_42();
}

/* The child writes checkpoints and says which were acknowledged. */
static void write_until_killed(int fd)
{
    struct store *s;
    struct err err;
    uint64_t term;

    if (!store_open_sqlite(&s, store_path, &err) ||
        !store_take_term(s, STR("topic/shop"), &term, &err))
        _exit(1);
    for (uint64_t i = 1;; i++) {
        const struct stored_checkpoint cp = some_checkpoint(i);
        char id[24];

        snprintf(id, sizeof(id), "%llu", (unsigned long long)i);
        const struct stored_tombstone t = {STR("orders_v1"), str_from(id), STR(""), i, 1};

        if (!store_save_checkpoint(s, term, &cp, &t, 1, &err) ||
            write(fd, &i, sizeof(i)) != sizeof(i))
            _exit(1);
    }
}

static void kill_nine_loses_no_acknowledged_write(void **state)
{
    (void)state;
    for (int round = 0; round < 5; round++) {
        struct stored_checkpoint cp;
        uint64_t last = 0, next;
        int fds[2], status;
        bool found;

        close_store();
        remove_store();
        assert_int_equal(pipe(fds), 0);
        pid_t child = fork();

        if (child == 0)
            write_until_killed(fds[1]);
        close(fds[1]);
        usleep(30000 + (useconds_t)round * 17000);
        kill(child, SIGKILL);
        waitpid(child, &status, 0);
        while (read(fds[0], &next, sizeof(next)) == sizeof(next))
            last = next;
        close(fds[0]);
        reopen();
        ok(store_load_checkpoint(f.s, f.a, STR("shop"), &cp, &found, &f.err));
        assert_true(found || last == 0);
        if (found) {
            assert_in_range(cp.offset, last, last + 1);
            assert_int_equal(count_tombstones(), cp.offset);
        }
    }
}

/* MySQL: lost connections, several nodes. */

static void kill_connections_of_the_store(void)
{
    struct mysql_conn *c = server_connect();
    struct buf sql = {0};
    struct err err;

    while (
        mysql_conn_scalar(c,
                          STR("SELECT CONCAT('KILL ', ID) FROM information_schema.PROCESSLIST"
                              " WHERE DB = 'millrace' AND ID <> CONNECTION_ID() LIMIT 1"),
                          &sql, &err)) {
        struct err gone; /* it may have ended by itself */

        if (!mysql_conn_exec(c, buf_str(&sql), &gone))
            assert_int_equal(gone.code, 1094);
        buf_clear(&sql);
        usleep(10000);
    }
    mysql_conn_close(c);
    buf_free(&sql);
}

static void an_idle_connection_that_was_lost_is_opened_again(void **state)
{
    (void)state;
    ok(store_put_value(f.s, STR("a"), STR("1"), &f.err));
    kill_connections_of_the_store();
    ok(store_put_value(f.s, STR("a"), STR("2"), &f.err));
}

static unsigned n_refusals;

static void count_refusal(const struct err *why)
{
    assert_int_equal(why->kind, ERR_FATAL);
    n_refusals++;
}

/* A newer program has changed it meanwhile, which knew nothing of us. */
static void a_store_that_we_may_not_use_any_more_is_refused_when_we_come_back(void **state)
{
    (void)state;
    n_refusals = 0;
    store_watch_refusal(f.s, count_refusal);
    sql_beside(NEWER);
    kill_connections_of_the_store();
    ok(store_put_value(f.s, STR("a"), STR("1"), &f.err));
    sql_beside(REFUSES);
    kill_connections_of_the_store();
    refused(store_put_value(f.s, STR("a"), STR("2"), &f.err), ERR_FATAL);
    expect_both_numbers();
    assert_int_equal(n_refusals, 1);
    sql_beside("DELETE FROM setting WHERE name = 'migration/least'");
    ok(store_put_value(f.s, STR("a"), STR("3"), &f.err));
}

static void *save_blocked(void *arg)
{
    struct stored_checkpoint cp = some_checkpoint(500);
    static char ids[300][8];
    static struct stored_tombstone t[300];
    bool *done = arg;

    for (size_t i = 0; i < ARRAY_LEN(t); i++) {
        snprintf(ids[i], sizeof(ids[0]), "%zu", i);
        t[i] = (struct stored_tombstone){STR("orders_v1"), str_from(ids[i]), STR(""), 1, 1};
    }
    *done = store_save_checkpoint(f.s, 1, &cp, t, ARRAY_LEN(t), &f.err);
    return NULL;
}

static void a_connection_lost_in_the_middle_writes_nothing(void **state)
{
    const struct stored_checkpoint cp = some_checkpoint(100);
    struct stored_checkpoint got;
    struct mysql_conn *c = server_connect();
    pthread_t thread;
    uint64_t term;
    bool found, done = true;

    (void)state;
    ok(store_take_term(f.s, STR("topic/shop"), &term, &f.err));
    ok(store_save_checkpoint(f.s, term, &cp, NULL, 0, &f.err));
    /* The checkpoint's row is locked, so the save waits after it wrote the tombstones. */
    server_exec(c, "START TRANSACTION");
    server_exec(c, "SELECT * FROM millrace.checkpoint FOR UPDATE");
    assert_int_equal(pthread_create(&thread, NULL, save_blocked, &done), 0);
    usleep(300000);
    kill_connections_of_the_store();
    pthread_join(thread, NULL);
    refused(done, ERR_RETRY);
    server_exec(c, "ROLLBACK");
    mysql_conn_close(c);
    ok(store_load_checkpoint(f.s, f.a, cp.topic, &got, &found, &f.err));
    assert_int_equal(got.offset, 100);
    assert_int_equal(count_tombstones(), 0);
    save_blocked(&done);
    ok(done);
    assert_int_equal(count_tombstones(), 300);
}

static uint64_t taken[4][50];

static void *take_terms(void *arg)
{
    uint64_t *terms = arg;
    struct store *s = NULL;
    struct err err;

    while (!open_store(&s, &err))
        if (err.kind != ERR_RETRY)
            fail_msg("%s", err.msg);
    for (size_t i = 0; i < 50;) {
        if (store_take_term(s, STR("topic/shop"), &terms[i], &err))
            i++;
        else if (err.kind != ERR_RETRY)
            fail_msg("%s", err.msg);
    }
    store_close(s);
    return NULL;
}

/* They also all find an empty database and migrate it. */
static void nodes_that_start_together_get_different_terms(void **state)
{
    static bool seen[201];
    pthread_t threads[4];

    (void)state;
    close_store();
    remove_store();
    for (size_t i = 0; i < 4; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, take_terms, taken[i]), 0);
    for (size_t i = 0; i < 4; i++)
        pthread_join(threads[i], NULL);
    for (size_t i = 0; i < 200; i++) {
        uint64_t term = taken[i / 50][i % 50];

        assert_in_range(term, 1, 200);
        assert_false(seen[term]);
        seen[term] = true;
    }
}

#define OF_BOTH                                                                   \
    STORE_TEST(a_store_with_a_newer_migration_that_is_shared_is_used),            \
        STORE_TEST(a_store_with_a_newer_migration_that_is_not_shared_is_refused), \
        STORE_TEST(a_database_of_something_else_is_refused),                      \
        STORE_TEST(a_store_of_version_one_is_migrated_with_all_it_holds),         \
        STORE_TEST(a_migration_that_was_cut_off_is_finished)

int main(int argc, char **argv)
{
    const struct CMUnitTest sqlite[] = {
        OF_BOTH,
        STORE_TEST(a_second_process_is_refused_with_the_pid_of_the_first),
        STORE_TEST(a_full_disk_loses_nothing),
        STORE_TEST(f58_a_store_with_a_flipped_bit_is_refused_with_its_name_and_the_way_out),
        STORE_TEST(f58_a_flipped_bit_of_a_stored_value_is_noticed),
        STORE_TEST(f58_wherever_a_bit_flips_the_store_is_refused_or_says_what_it_said),
        STORE_TEST(kill_nine_loses_no_acknowledged_write),
    };
    const struct CMUnitTest mysql[] = {
        OF_BOTH,
        STORE_TEST(an_idle_connection_that_was_lost_is_opened_again),
        STORE_TEST(a_store_that_we_may_not_use_any_more_is_refused_when_we_come_back),
        STORE_TEST(a_connection_lost_in_the_middle_writes_nothing),
        STORE_TEST(nodes_that_start_together_get_different_terms),
    };

    return store_rig_run(argc, argv, sqlite, ARRAY_LEN(sqlite), mysql, ARRAY_LEN(mysql));
}
