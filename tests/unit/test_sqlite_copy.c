#include "config.h"

#include "tests/unit/unit.h"

#include "src/base/arena.h"
#include "src/base/buf.h"
#include "src/base/clock.h"
#include "src/store/migrate.h"
#include "src/store/sqlite_copy.h"
#include "src/store/store.h"

#include <dirent.h>
#include <fcntl.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* Values of this size make a store that takes several steps to copy. */
#define VALUE_LEN 200000
#define N_VALUES  40

static struct fixture {
    char folder[40];
    struct buf from, to;
    struct store *s;
    struct arena *arena;
    struct sqlite_copy copy;
    unsigned n_asked;
    unsigned end_at; /* 0: never */
    bool writes;     /* the first time that it is asked */
} f;

static char value[VALUE_LEN];

static void put(struct store *s, const char *name, char fill)
{
    struct err err = {0};

    memset(value, fill, sizeof(value));
    if (!store_put_value(s, str_from(name), (struct str){value, sizeof(value)}, &err))
        fail_msg("%s", err.msg);
}

static void put_all(char fill)
{
    char name[16];

    for (unsigned i = 0; i < N_VALUES; i++) {
        snprintf(name, sizeof(name), "n%02u", i);
        put(f.s, name, fill);
    }
}

static bool is_interrupted(void *ctx)
{
    (void)ctx;
    f.n_asked++;
    if (f.writes && f.n_asked == 1)
        put_all('b');
    return f.end_at != 0 && f.n_asked >= f.end_at;
}

static void open_copy(void)
{
    f.copy = (struct sqlite_copy){
        .from = f.from.ptr, .to = f.to.ptr, .is_interrupted = is_interrupted, .arena = f.arena};
    f.copy.to_fd = open(f.to.ptr, O_RDWR | O_CREAT | O_EXCL, 0600);
    assert_true(f.copy.to_fd >= 0);
}

static int set_up(void **state)
{
    struct err err = {0};

    (void)state;
    f = (struct fixture){.folder = "/tmp/test_sqlite_copy_XXXXXX", .arena = arena_new()};
    assert_non_null(mkdtemp(f.folder));
    buf_printf(&f.from, "%s/millrace.db", f.folder);
    buf_printf(&f.to, "%s/copy", f.folder);
    if (!store_open_sqlite(&f.s, f.from.ptr, &err))
        fail_msg("%s", err.msg);
    open_copy();
    return 0;
}

static int tear_down(void **state)
{
    char command[64];

    (void)state;
    store_close(f.s);
    close(f.copy.to_fd);
    arena_free(f.arena);
    buf_free(&f.from);
    buf_free(&f.to);
    snprintf(command, sizeof(command), "rm -r %s", f.folder);
    return system(command);
}

static void make(void)
{
    struct err err = {0};

    if (!sqlite_copy_make(&f.copy, &err))
        fail_msg("%s", err.msg);
}

static void expect_refused(enum err_kind kind, const char *words)
{
    struct err err = {0};

    assert_false(sqlite_copy_make(&f.copy, &err));
    assert_int_equal(err.kind, kind);
    if (strstr(err.msg, words) == NULL)
        fail_msg("not \"%s\": %s", words, err.msg);
}

/* All values of the copy, opened as a store, consist of this letter. */
static void expect_values(char fill)
{
    struct store *s = NULL;
    struct buf got = {0};
    struct err err = {0};
    char name[16];
    bool found;

    if (!store_open_sqlite(&s, f.to.ptr, &err))
        fail_msg("%s", err.msg);
    memset(value, fill, sizeof(value));
    for (unsigned i = 0; i < N_VALUES; i++) {
        snprintf(name, sizeof(name), "n%02u", i);
        buf_clear(&got);
        assert_true(store_get_value(s, str_from(name), &got, &found, &err));
        assert_true(found);
        assert_int_equal(got.len, sizeof(value));
        assert_memory_equal(got.ptr, value, sizeof(value));
    }
    buf_free(&got);
    store_close(s);
}

static unsigned n_beside_copy(void)
{
    DIR *dir = opendir(f.folder);
    const struct dirent *entry;
    unsigned n = 0;

    assert_non_null(dir);
    while ((entry = readdir(dir)) != NULL)
        n += strncmp(entry->d_name, "copy", 4) == 0;
    closedir(dir);
    return n - 1;
}

static void a_copy_of_a_store_in_use_has_what_is_only_in_its_log(void **state)
{
    struct stat st;

    (void)state;
    put_all('a');
    make();
    assert_int_equal(n_beside_copy(), 0);
    assert_int_equal(stat(f.to.ptr, &st), 0);
    assert_int_equal(st.st_mode & 07777, 0600);
    assert_in_range(st.st_size, N_VALUES * VALUE_LEN, 3 * N_VALUES * VALUE_LEN);
    assert_int_equal(f.copy.version, n_migrations);
    expect_values('a');
}

static void a_copy_ends_while_all_changes_and_has_the_state_of_its_begin(void **state)
{
    (void)state;
    put_all('a');
    f.writes = true;
    make();
    assert_in_range(f.n_asked, 3, 1000);
    expect_values('a');
}

/*
 * From 1,000 pages on each commit would truncate the log, and waits 5 s if it waits for those
 * who read: that is some 100 s.
 */
static void whoever_writes_does_not_wait_for_a_copy(void **state)
{
    const int64_t begin_ms = clock_mono_ms();

    (void)state;
    put_all('a');
    f.writes = true;
    make();
    assert_in_range(clock_mono_ms() - begin_ms, 0, 40000);
}

static void a_log_that_a_copy_has_held_is_cut_off_after_it(void **state)
{
    struct buf log = {0};
    struct stat st;

    (void)state;
    buf_printf(&log, "%s-wal", f.from.ptr);
    put_all('a');
    f.writes = true;
    make();
    assert_int_equal(stat(log.ptr, &st), 0);
    assert_in_range(st.st_size, N_VALUES * VALUE_LEN, 1L << 40);
    put(f.s, "after", 'x');
    assert_int_equal(stat(log.ptr, &st), 0);
    assert_int_equal(st.st_size, 0);
    buf_free(&log);
}

static void a_store_that_nobody_uses_is_copied_and_left_as_it_was(void **state)
{
    struct buf log = {0};

    (void)state;
    put_all('a');
    store_close(f.s);
    f.s = NULL;
    make();
    buf_printf(&log, "%s-wal", f.from.ptr);
    assert_int_equal(access(log.ptr, F_OK), -1);
    buf_free(&log);
    expect_values('a');
}

static void a_copy_says_where_its_topics_go_on(void **state)
{
    const struct stored_checkpoint cp = {.topic = STR("shop"),
                                         .file = STR("bin.000042"),
                                         .offset = 4711,
                                         .gtid = STR("0-1-7"),
                                         .epoch = 1,
                                         .state = STR("running")};
    struct err err = {0};
    uint64_t term;

    (void)state;
    assert_true(store_take_term(f.s, STR("topic/shop"), &term, &err));
    assert_true(store_save_checkpoint(f.s, term, &cp, NULL, 0, &err));
    make();
    assert_int_equal(f.copy.n_topics, 1);
    assert_true(str_equal(f.copy.topics[0].name, STR("shop")));
    assert_true(str_equal(f.copy.topics[0].file, STR("bin.000042")));
    assert_true(str_equal(f.copy.topics[0].gtid, STR("0-1-7")));
    assert_int_equal(f.copy.topics[0].offset, 4711);
}

static void a_copy_that_is_interrupted_ends_and_leaves_nothing_beside_it(void **state)
{
    (void)state;
    put_all('a');
    f.end_at = 2;
    expect_refused(ERR_STOP, "interrupted");
    assert_int_equal(f.n_asked, 2);
    assert_int_equal(n_beside_copy(), 0);
}

static void flip(long at)
{
    FILE *file = fopen(f.from.ptr, "r+b");

    assert_non_null(file);
    assert_int_equal(fseek(file, at, SEEK_SET), 0);
    const int byte = fgetc(file);

    assert_int_equal(fseek(file, at, SEEK_SET), 0);
    assert_int_equal(fputc(byte ^ 0x10, file), byte ^ 0x10);
    assert_int_equal(fclose(file), 0);
}

static void a_copy_of_a_damaged_store_is_refused(void **state)
{
    struct stat st;

    (void)state;
    put_all('a');
    store_close(f.s);
    f.s = NULL;
    assert_int_equal(stat(f.from.ptr, &st), 0);
    flip(st.st_size / 2); /* in a value */
    expect_refused(ERR_FATAL, "a copy of ");
    assert_int_equal(n_beside_copy(), 0);
}

static void what_is_no_store_is_refused(void **state)
{
    sqlite3 *db = NULL;

    (void)state;
    store_close(f.s);
    f.s = NULL;
    assert_int_equal(unlink(f.from.ptr), 0);
    expect_refused(ERR_REJECT, "there is no store at ");
    assert_int_equal(access(f.from.ptr, F_OK), -1);
    assert_int_equal(sqlite3_open(f.from.ptr, &db), SQLITE_OK);
    assert_int_equal(sqlite3_exec(db, "CREATE TABLE a (b)", NULL, NULL, NULL), SQLITE_OK);
    sqlite3_close(db);
    expect_refused(ERR_FATAL, "is not the store of a Millrace");
    assert_int_equal(truncate(f.from.ptr, 0), 0);
    expect_refused(ERR_FATAL, "is not the store of a Millrace");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
        TEST(a_copy_of_a_store_in_use_has_what_is_only_in_its_log),
        TEST(a_copy_ends_while_all_changes_and_has_the_state_of_its_begin),
        TEST(whoever_writes_does_not_wait_for_a_copy),
        TEST(a_log_that_a_copy_has_held_is_cut_off_after_it),
        TEST(a_store_that_nobody_uses_is_copied_and_left_as_it_was),
        TEST(a_copy_says_where_its_topics_go_on),
        TEST(a_copy_that_is_interrupted_ends_and_leaves_nothing_beside_it),
        TEST(a_copy_of_a_damaged_store_is_refused),
        TEST(what_is_no_store_is_refused),
#undef TEST
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
