#include "config.h"

#include "tests/component/server.h"

#include "src/base/arena.h"
#include "src/base/buf.h"
#include "src/base/clock.h"
#include "src/store.h"

#include <pthread.h>
#include <signal.h>
#include <sqlite3.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

/* test_store sqlite|mysql: the same tests on both. */

static bool on_mysql;
static char folder[] = "/tmp/millrace-store.XXXXXX";
static char path[64];

static struct mysql_options store_options(void)
{
    struct mysql_options opt = server_options();

    opt.database = "millrace";
    return opt;
}

static bool open_store(struct store **s, struct err *err)
{
    struct mysql_options opt;

    if (!on_mysql)
        return store_open_sqlite(s, path, err);
    opt = store_options();
    return store_open_mysql(s, &opt, err);
}

/* Run SQL beside the store, which is closed where it is SQLite's. */
static void sql_beside(const char *sql)
{
    if (on_mysql) {
        struct mysql_conn *c = server_connect();

        server_exec(c, "USE millrace");
        server_exec(c, sql);
        mysql_conn_close(c);
        return;
    }
    sqlite3 *db;

    assert_int_equal(sqlite3_open(path, &db), SQLITE_OK);
    if (sqlite3_exec(db, sql, NULL, NULL, NULL) != SQLITE_OK)
        fail_msg("%s: %s", sql, sqlite3_errmsg(db));
    sqlite3_close(db);
}

static void remove_store(void)
{
    static const char *const suffixes[] = {"", "-wal", "-shm", ".lock"};
    char name[96];

    if (on_mysql) {
        struct mysql_conn *c = server_connect();

        server_exec(c, "DROP DATABASE IF EXISTS millrace");
        server_exec(c, "CREATE DATABASE millrace CHARACTER SET latin1");
        mysql_conn_close(c);
        return;
    }
    for (size_t i = 0; i < ARRAY_LEN(suffixes); i++) {
        snprintf(name, sizeof(name), "%s%s", path, suffixes[i]);
        unlink(name);
    }
}

struct fixture {
    struct store *s;
    struct arena *a;
    struct err err;
};

static struct fixture f;

static int set_up(void **state)
{
    (void)state;
    remove_store();
    f = (struct fixture){.a = arena_new()};
    if (!open_store(&f.s, &f.err))
        fail_msg("%s", f.err.msg);
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    store_close(f.s);
    arena_free(f.a);
    return 0;
}

static void reopen(void)
{
    store_close(f.s);
    f.s = NULL;
    if (!open_store(&f.s, &f.err))
        fail_msg("%s", f.err.msg);
}

static void ok(bool done)
{
    if (!done)
        fail_msg("%s: %s", err_kind_name(f.err.kind), f.err.msg);
}

static void refused(bool done, enum err_kind kind)
{
    assert_false(done);
    if (f.err.kind != kind)
        fail_msg("%s, not %s: %s", err_kind_name(f.err.kind), err_kind_name(kind), f.err.msg);
}

static void same(struct str a, struct str b)
{
    if (!str_equal(a, b))
        fail_msg("\"%.*s\" is not \"%.*s\"", STR_ARG(a), STR_ARG(b));
}

/* Bytes that a careless layer would lose: quotes, NUL, bad UTF-8, spaces at the end. */
#define ODD STR("it's \\ \"odd\" \0 \xff \xf0\x9f\x90\xac  ")

static struct stored_checkpoint some_checkpoint(uint64_t offset)
{
    return (struct stored_checkpoint){
        .topic = STR("shop"),
        .file = STR("binlog.000007"),
        .offset = offset,
        .gtid = STR("0-1-100"),
        .epoch = 3,
        .fingerprint = ODD,
        .event_ms = 1700000000123,
        .state = STR("running"),
        .reason = STR(""),
    };
}

static void terms_rise_and_the_value_is_kept(void **state)
{
    uint64_t term;

    (void)state;
    for (uint64_t i = 1; i <= 3; i++) {
        ok(store_take_term(f.s, STR("topic/shop"), &term, &f.err));
        assert_int_equal(term, i);
    }
    reopen();
    ok(store_take_term(f.s, STR("topic/shop"), &term, &f.err));
    assert_int_equal(term, 4);
    /* Neither case nor a space at the end makes two things one. */
    ok(store_take_term(f.s, STR("topic/Shop"), &term, &f.err));
    assert_int_equal(term, 1);
    ok(store_take_term(f.s, STR("topic/shop "), &term, &f.err));
    assert_int_equal(term, 1);
}

static void values_come_back_byte_for_byte(void **state)
{
    struct buf b = {0};
    bool found;

    (void)state;
    ok(store_get_value(f.s, STR("instance"), &b, &found, &f.err));
    assert_false(found);
    ok(store_put_value(f.s, STR("instance"), STR("first"), &f.err));
    ok(store_put_value(f.s, STR("instance"), ODD, &f.err));
    reopen();
    ok(store_get_value(f.s, STR("instance"), &b, &found, &f.err));
    assert_true(found);
    same(buf_str(&b), ODD);
    buf_free(&b);
}

static void definitions_change_only_from_the_revision_they_were_read_at(void **state)
{
    const struct stored_definition defs[] = {
        {STR("topic"), STR("shop"), ODD},
        {STR("table"), STR("shop.orders"), STR("{\"table\":\"shop.orders\"}")},
    };
    struct stored_definition *out;
    uint64_t revision;
    size_t n;

    (void)state;
    ok(store_load_definitions(f.s, f.a, &out, &n, &revision, &f.err));
    assert_int_equal(n, 0);
    assert_int_equal(revision, 0);
    ok(store_save_definitions(f.s, 0, defs, 2, &f.err));
    refused(store_save_definitions(f.s, 0, defs, 1, &f.err), ERR_RETRY);
    ok(store_load_definitions(f.s, f.a, &out, &n, &revision, &f.err));
    assert_int_equal(n, 2);
    assert_int_equal(revision, 1);
    same(out[0].kind, STR("table"));
    same(out[1].body, ODD);
    ok(store_save_definitions(f.s, 1, defs, 1, &f.err));
    ok(store_load_definitions(f.s, f.a, &out, &n, &revision, &f.err));
    assert_int_equal(n, 1);
    assert_int_equal(revision, 2);
}

static void a_checkpoint_comes_back_whole(void **state)
{
    const struct stored_checkpoint cp = some_checkpoint(UINT64_C(0x1fffffffe));
    struct stored_checkpoint got;
    uint64_t term;
    bool found;

    (void)state;
    ok(store_load_checkpoint(f.s, f.a, cp.topic, &got, &found, &f.err));
    assert_false(found);
    ok(store_take_term(f.s, STR("topic/shop"), &term, &f.err));
    ok(store_save_checkpoint(f.s, term, &cp, NULL, 0, &f.err));
    reopen();
    ok(store_load_checkpoint(f.s, f.a, cp.topic, &got, &found, &f.err));
    assert_true(found);
    same(got.file, cp.file);
    assert_int_equal(got.offset, cp.offset);
    same(got.gtid, cp.gtid);
    assert_int_equal(got.epoch, 3);
    same(got.fingerprint, ODD);
    assert_int_equal(got.event_ms, cp.event_ms);
    same(got.state, cp.state);
    ok(store_delete_checkpoint(f.s, cp.topic, &f.err));
    ok(store_load_checkpoint(f.s, f.a, cp.topic, &got, &found, &f.err));
    assert_false(found);
}

static size_t count_tombstones(void)
{
    struct stored_tombstone *out;
    size_t n;

    ok(store_load_tombstones(f.s, f.a, STR("orders_v1"), STR(""), 1000000, &out, &n, &f.err));
    return n;
}

static void an_older_term_writes_nothing(void **state)
{
    struct stored_checkpoint cp = some_checkpoint(100), got;
    const struct stored_tombstone t = {STR("orders_v1"), STR("1"), STR(""), 5, 6};
    uint64_t old, new;
    bool found;

    (void)state;
    refused(store_save_checkpoint(f.s, 1, &cp, &t, 1, &f.err), ERR_STOP);
    ok(store_take_term(f.s, STR("topic/shop"), &old, &f.err));
    ok(store_save_checkpoint(f.s, old, &cp, NULL, 0, &f.err));
    ok(store_take_term(f.s, STR("topic/shop"), &new, &f.err));
    cp.offset = 200;
    refused(store_save_checkpoint(f.s, old, &cp, &t, 1, &f.err), ERR_STOP);
    ok(store_load_checkpoint(f.s, f.a, cp.topic, &got, &found, &f.err));
    assert_int_equal(got.offset, 100);
    assert_int_equal(count_tombstones(), 0);
    ok(store_save_checkpoint(f.s, new, &cp, &t, 1, &f.err));
    assert_int_equal(count_tombstones(), 1);
}

static void save_tombstones(const struct stored_tombstone *t, size_t n)
{
    const struct stored_checkpoint cp = some_checkpoint(1);
    uint64_t term;

    ok(store_take_term(f.s, STR("topic/shop"), &term, &f.err));
    ok(store_save_checkpoint(f.s, term, &cp, t, n, &f.err));
}

static void a_tombstone_keeps_the_highest_version(void **state)
{
    const struct stored_tombstone t[] = {
        {STR("orders_v1"), ODD, STR("r"), 10, 1000},
        {STR("orders_v1"), ODD, STR("r"), 12, 1200},
        {STR("orders_v1"), ODD, STR("r"), 11, 1100},
        {STR("orders_v1"), ODD, STR("other"), 1, 900},
        {STR("orders_v2"), ODD, STR("r"), 1, 900},
    };
    struct stored_tombstone *out;
    size_t n;

    (void)state;
    save_tombstones(t, ARRAY_LEN(t));
    ok(store_load_tombstones(f.s, f.a, STR("orders_v1"), STR(""), 10, &out, &n, &f.err));
    assert_int_equal(n, 2);
    same(out[0].routing, STR("other"));
    same(out[1].id, ODD);
    assert_int_equal(out[1].version, 12);
    assert_int_equal(out[1].at_ms, 1200);
    ok(store_drop_tombstones(f.s, 1200, &f.err));
    ok(store_load_tombstones(f.s, f.a, STR("orders_v1"), STR(""), 10, &out, &n, &f.err));
    assert_int_equal(n, 1);
}

static void an_id_that_no_index_can_have_needs_no_tombstone(void **state)
{
    static char text[600];
    const struct stored_tombstone t = {STR("orders_v1"), {text, sizeof(text)}, STR(""), 1, 1};

    (void)state;
    memset(text, 'x', sizeof(text));
    save_tombstones(&t, 1);
    assert_int_equal(count_tombstones(), 0);
}

static void tombstones_are_paged_without_a_gap(void **state)
{
    static char ids[1000][8];
    static struct stored_tombstone t[2000];
    struct stored_tombstone *out;
    struct str after = STR("");
    size_t total = 0, n;

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(t); i++) {
        snprintf(ids[i / 2], sizeof(ids[0]), "%zu", i / 2);
        t[i] = (struct stored_tombstone){STR("orders_v1"), str_from(ids[i / 2]),
                                         i % 2 == 0 ? STR("a") : STR("b"), i, 1};
    }
    save_tombstones(t, ARRAY_LEN(t));
    do {
        ok(store_load_tombstones(f.s, f.a, STR("orders_v1"), after, 33, &out, &n, &f.err));
        total += n;
        if (n > 0)
            after = out[n - 1].id;
    } while (n >= 33);
    assert_int_equal(total, ARRAY_LEN(t));
}

static void many_tombstones_are_cheap(void **state)
{
    enum { N = 100000 };
    struct stored_tombstone *t = calloc(N, sizeof(*t));
    char(*ids)[24] = calloc(N, sizeof(*ids));
    int64_t start;

    (void)state;
    for (unsigned i = 0; i < N; i++) {
        snprintf(ids[i], sizeof(ids[i]), "%u", i * 2654435761U);
        t[i] = (struct stored_tombstone){STR("orders_v1"), str_from(ids[i]), STR(""), i, i};
    }
    start = clock_mono_ms();
    save_tombstones(t, N);
    int64_t took = clock_mono_ms() - start;

    print_message("# %d tombstones in %lld ms\n", N, (long long)took);
    assert_int_equal(count_tombstones(), N);
    assert_in_range(took, 0, 10000);
    start = clock_mono_ms();
    ok(store_drop_tombstones(f.s, N, &f.err));
    print_message("# dropped in %lld ms\n", (long long)(clock_mono_ms() - start));
    assert_int_equal(count_tombstones(), 0);
    free(t);
    free(ids);
}

static struct stored_version some_version(void)
{
    return (struct stored_version){.index = STR("orders"),
                                   .topic = STR("shop"),
                                   .epoch = 2,
                                   .start = UINT64_C(1) << 62,
                                   .definition = ODD,
                                   .created_ms = 1};
}

static void version_numbers_are_never_used_again(void **state)
{
    struct stored_version v = some_version();

    (void)state;
    for (uint64_t i = 1; i <= 3; i++) {
        ok(store_new_version(f.s, &v, &f.err));
        assert_int_equal(v.number, i);
        ok(store_delete_version(f.s, v.index, v.number, &f.err));
    }
    reopen();
    ok(store_new_version(f.s, &v, &f.err));
    assert_int_equal(v.number, 4);
    same(v.state, STR("changing"));
    ok(store_delete_version(f.s, v.index, v.number, &f.err));
    v.number = 9; /* what the engine has of it, though the store was lost */
    ok(store_new_version(f.s, &v, &f.err));
    assert_int_equal(v.number, 9);
    ok(store_delete_version(f.s, v.index, v.number, &f.err));
    ok(store_new_version(f.s, &v, &f.err));
    assert_int_equal(v.number, 10);
}

static void one_version_of_an_index_is_built_at_a_time(void **state)
{
    struct stored_version v = some_version(), other = some_version();

    (void)state;
    ok(store_new_version(f.s, &v, &f.err));
    refused(store_new_version(f.s, &v, &f.err), ERR_REJECT);
    other.index = STR("customers");
    ok(store_new_version(f.s, &other, &f.err));
    v.state = STR("failed");
    v.error = STR("why");
    ok(store_save_version(f.s, &v, &f.err));
    v.index = STR("orders");
    ok(store_new_version(f.s, &v, &f.err));
    assert_int_equal(v.number, 2);
}

static void promoting_a_version_retires_the_one_before(void **state)
{
    struct stored_version v = some_version(), *out;
    size_t n;

    (void)state;
    ok(store_new_version(f.s, &v, &f.err));
    ok(store_promote_version(f.s, v.index, 1, 77, &f.err));
    ok(store_new_version(f.s, &v, &f.err));
    ok(store_promote_version(f.s, v.index, 2, 88, &f.err));
    refused(store_promote_version(f.s, v.index, 9, 99, &f.err), ERR_REJECT);
    ok(store_load_versions(f.s, f.a, STR(""), &out, &n, &f.err));
    assert_int_equal(n, 2);
    same(out[0].state, STR("history"));
    same(out[1].state, STR("available"));
    assert_int_equal(out[1].finished_ms, 88);
    assert_int_equal(out[1].start, UINT64_C(1) << 62);
    same(out[1].definition, ODD);
    ok(store_load_versions(f.s, f.a, STR("nothing"), &out, &n, &f.err));
    assert_int_equal(n, 0);
}

static void a_stopped_table_keeps_its_place_and_its_way_out(void **state)
{
    struct stored_stop stop = {STR("shop.orders"),
                               STR("TRUNCATE"),
                               STR("build it again"),
                               STR("binlog.000001"),
                               4711,
                               12};
    struct stored_stop *out;
    size_t n;

    (void)state;
    ok(store_put_stop(f.s, &stop, &f.err));
    stop.reason = ODD;
    ok(store_put_stop(f.s, &stop, &f.err));
    ok(store_load_stops(f.s, f.a, &out, &n, &f.err));
    assert_int_equal(n, 1);
    same(out[0].reason, ODD);
    same(out[0].way_out, stop.way_out);
    assert_int_equal(out[0].offset, 4711);
    ok(store_delete_stop(f.s, stop.table, &f.err));
    ok(store_load_stops(f.s, f.a, &out, &n, &f.err));
    assert_int_equal(n, 0);
}

static struct stored_job some_job(uint32_t bucket)
{
    return (struct stored_job){.kind = STR("index"),
                               .index = STR("orders"),
                               .table = STR("shop.orders"),
                               .version = 2,
                               .bucket = bucket,
                               .buckets = 4,
                               .state = STR("init"),
                               .parameters = STR("{}"),
                               .created_ms = 1};
}

static void a_job_is_made_once_and_saved_by_its_owner(void **state)
{
    struct stored_job job = some_job(0), again = some_job(0), second = some_job(1), *out;
    struct str thing;
    uint64_t term, newer;
    char text[32];
    size_t n;

    (void)state;
    ok(store_new_job(f.s, &job, &f.err));
    ok(store_new_job(f.s, &again, &f.err));
    assert_int_equal(job.id, again.id);
    ok(store_new_job(f.s, &second, &f.err));
    assert_int_not_equal(job.id, second.id);

    snprintf(text, sizeof(text), "job/%llu", (unsigned long long)job.id);
    thing = str_from(text);
    refused(store_save_job(f.s, 1, &job, &f.err), ERR_STOP);
    ok(store_take_term(f.s, thing, &term, &f.err));
    job.state = STR("running");
    job.cursor = ODD;
    job.rows_done = 12345678901;
    ok(store_save_job(f.s, term, &job, &f.err));
    ok(store_take_term(f.s, thing, &newer, &f.err));
    job.rows_done = 1;
    refused(store_save_job(f.s, term, &job, &f.err), ERR_STOP);
    ok(store_load_jobs(f.s, f.a, &out, &n, &f.err));
    assert_int_equal(n, 2);
    same(out[0].cursor, ODD);
    assert_int_equal(out[0].rows_done, 12345678901);
    ok(store_delete_jobs(f.s, STR("orders"), 2, &f.err));
    refused(store_save_job(f.s, newer, &job, &f.err), ERR_STOP);
    ok(store_load_jobs(f.s, f.a, &out, &n, &f.err));
    assert_int_equal(n, 0);
}

static struct stored_dead_letter some_letter(const char *id)
{
    return (struct stored_dead_letter){.topic = STR("shop"),
                                       .table = STR("shop.orders"),
                                       .index = STR("orders"),
                                       .doc_id = str_from(id),
                                       .routing = STR(""),
                                       .key = STR("7"),
                                       .op = STR("index"),
                                       .reason = STR("mapper_parsing_exception: bad date"),
                                       .body = ODD,
                                       .version = 99,
                                       .status = 400,
                                       .attempts = 2,
                                       .first_ms = 10,
                                       .last_ms = 20};
}

static void a_document_has_one_dead_letter(void **state)
{
    struct stored_dead_letter d = some_letter("7"), *out;
    struct dead_letter_filter all = {0};
    struct dead_letter_count *counts;
    uint64_t id, deleted;
    size_t n;

    (void)state;
    ok(store_put_dead_letter(f.s, &d, &f.err));
    ok(store_load_dead_letters(f.s, f.a, &all, &out, &n, &f.err));
    id = out[0].id;
    d.first_ms = 30;
    d.last_ms = 40;
    d.reason = STR("other");
    ok(store_put_dead_letter(f.s, &d, &f.err));
    ok(store_load_dead_letters(f.s, f.a, &all, &out, &n, &f.err));
    assert_int_equal(n, 1);
    assert_int_equal(out[0].id, id);
    assert_int_equal(out[0].attempts, 4);
    assert_int_equal(out[0].first_ms, 10);
    assert_int_equal(out[0].last_ms, 40);
    assert_int_equal(out[0].status, 400);
    same(out[0].reason, STR("other"));
    same(out[0].body, ODD);

    /* The same id under another routing is another document. */
    d.routing = STR("r");
    ok(store_put_dead_letter(f.s, &d, &f.err));
    ok(store_count_dead_letters(f.s, f.a, &counts, &n, &f.err));
    assert_int_equal(n, 1);
    assert_int_equal(counts[0].count, 2);
    ok(store_delete_dead_letter_of(f.s, d.index, d.routing, d.doc_id, d.version - 1, &f.err));
    ok(store_count_dead_letters(f.s, f.a, &counts, &n, &f.err));
    assert_int_equal(counts[0].count, 2); /* what was written is older than the letter */
    ok(store_delete_dead_letter_of(f.s, d.index, d.routing, d.doc_id, d.version, &f.err));
    ok(store_load_dead_letters(f.s, f.a, &all, &out, &n, &f.err));
    assert_int_equal(n, 1);
    same(out[0].routing, STR(""));
    ok(store_delete_dead_letters(f.s, &all, &deleted, &f.err));
    assert_int_equal(deleted, 1);
}

static void many_dead_letters_are_one_transaction(void **state)
{
    enum { N = 2000 };
    static struct stored_dead_letter d[N];
    static char ids[N][8];
    struct dead_letter_count *counts;
    size_t n;

    (void)state;
    for (size_t i = 0; i < N; i++) {
        snprintf(ids[i], sizeof(ids[0]), "%zu", i);
        d[i] = some_letter(ids[i]);
    }
    int64_t start = clock_mono_ms();

    ok(store_put_dead_letters(f.s, d, N, &f.err));
    print_message("# %d dead letters in %lld ms\n", N, (long long)(clock_mono_ms() - start));
    ok(store_count_dead_letters(f.s, f.a, &counts, &n, &f.err));
    assert_int_equal(counts[0].count, N);
}

static void dead_letters_are_filtered_and_paged(void **state)
{
    struct dead_letter_filter filter = {.limit = 10};
    struct stored_dead_letter *out;
    uint64_t deleted;
    size_t n, total = 0;
    char id[16];

    (void)state;
    for (int i = 0; i < 35; i++) {
        snprintf(id, sizeof(id), "%d", i);
        struct stored_dead_letter d = some_letter(id);

        if (i % 5 == 0)
            d.table = STR("shop.customer");
        if (i % 7 == 0)
            d.reason = STR("100% 'odd'");
        ok(store_put_dead_letter(f.s, &d, &f.err));
    }
    do {
        ok(store_load_dead_letters(f.s, f.a, &filter, &out, &n, &f.err));
        total += n;
        if (n > 0)
            filter.after_id = out[n - 1].id;
    } while (n == filter.limit);
    assert_int_equal(total, 35);

    filter = (struct dead_letter_filter){.table = STR("shop.customer"), .limit = 100};
    ok(store_load_dead_letters(f.s, f.a, &filter, &out, &n, &f.err));
    assert_int_equal(n, 7);
    filter.reason_like = STR("% 'odd'");
    ok(store_load_dead_letters(f.s, f.a, &filter, &out, &n, &f.err));
    assert_int_equal(n, 1);
    filter = (struct dead_letter_filter){.id = out[0].id};
    ok(store_load_dead_letters(f.s, f.a, &filter, &out, &n, &f.err));
    assert_int_equal(n, 1);
    same(out[0].doc_id, STR("0"));
    filter = (struct dead_letter_filter){.topic = STR("nothing")};
    ok(store_delete_dead_letters(f.s, &filter, &deleted, &f.err));
    assert_int_equal(deleted, 0);
    filter = (struct dead_letter_filter){.reason_like = STR("mapper"), .limit = 1};
    ok(store_delete_dead_letters(f.s, &filter, &deleted, &f.err));
    assert_int_equal(deleted, 30);
}

static void a_letter_is_kept_whatever_its_size(void **state)
{
    static char id[20000];
    struct stored_dead_letter d = some_letter(""), *out;
    struct dead_letter_filter all = {0};
    const size_t body_len = (size_t)80 << 20;
    char *body = malloc(body_len);
    size_t n;

    (void)state;
    memset(id, 'k', sizeof(id));
    memset(body, '"', body_len);
    d.doc_id = (struct str){id, sizeof(id)};
    d.body = (struct str){body, body_len};
    ok(store_put_dead_letter(f.s, &d, &f.err));
    id[sizeof(id) - 1] = 'x';
    ok(store_put_dead_letter(f.s, &d, &f.err));
    ok(store_load_dead_letters(f.s, f.a, &all, &out, &n, &f.err));
    assert_int_equal(n, 2);
    if (out[0].body.len != body_len) {
        assert_int_equal(out[0].body.len, 0);
        assert_non_null(strstr(out[0].reason.ptr, "too large for the store"));
    }
    ok(store_delete_dead_letter_of(f.s, d.index, d.routing, d.doc_id, d.version, &f.err));
    ok(store_load_dead_letters(f.s, f.a, &all, &out, &n, &f.err));
    assert_int_equal(n, 1);
    free(body);
}

static void the_log_gives_the_newest_first(void **state)
{
    struct stored_log l = {.table = STR("shop.orders"), .index = STR("orders"), .detail = ODD};
    struct stored_log *out;
    size_t n;

    (void)state;
    for (int i = 1; i <= 5; i++) {
        l.at_ms = i;
        l.event = i % 2 == 0 ? STR("even") : STR("odd");
        ok(store_add_log(f.s, &l, &f.err));
    }
    l.table = STR("shop.customer");
    ok(store_add_log(f.s, &l, &f.err));
    ok(store_load_log(f.s, f.a, STR("shop.orders"), 3, &out, &n, &f.err));
    assert_int_equal(n, 3);
    assert_int_equal(out[0].at_ms, 5);
    assert_int_equal(out[2].at_ms, 3);
    same(out[0].event, STR("odd"));
    same(out[0].detail, ODD);
    ok(store_load_log(f.s, f.a, STR(""), 100, &out, &n, &f.err));
    assert_int_equal(n, 6);
}

/* Versions. */

static void a_newer_store_is_refused_with_both_numbers(void **state)
{
    (void)state;
    store_close(f.s);
    f.s = NULL;
    sql_beside("INSERT INTO millrace_migration VALUES (7777, 'from the future', 0)");
    refused(open_store(&f.s, &f.err), ERR_FATAL);
    assert_non_null(strstr(f.err.msg, "7777"));
    assert_non_null(strstr(f.err.msg, "up to 2"));
}

static void a_database_of_something_else_is_refused(void **state)
{
    (void)state;
    store_close(f.s);
    f.s = NULL;
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
    store_close(f.s);
    f.s = NULL;
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

    ok(store_put_dead_letter(f.s, &d, &f.err));
    /* And once more: nothing is left to do. */
    reopen();
    ok(store_load_versions(f.s, f.a, STR("orders"), &versions, &n, &f.err));
    assert_int_equal(n, 1);
}

/* A migration that was cut off in the middle is finished: in MySQL its first statements stay.
 */
static void a_migration_that_was_cut_off_is_finished(void **state)
{
    struct stored_dead_letter d = some_letter("1");

    (void)state;
    store_close(f.s);
    f.s = NULL;
    remove_store();
    load_fixture();
    if (on_mysql)
        sql_beside("CREATE TABLE table_stop (table_name VARBINARY(255) NOT NULL PRIMARY KEY,"
                   " reason LONGBLOB NOT NULL, way_out LONGBLOB NOT NULL,"
                   " log_file LONGBLOB NOT NULL, log_offset BIGINT NOT NULL,"
                   " at_ms BIGINT NOT NULL)");
    reopen();
    ok(store_put_dead_letter(f.s, &d, &f.err));
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

    assert_int_equal(stat(path, &st), 0);
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

/* The child writes checkpoints and says which were acknowledged. */
static void write_until_killed(int fd)
{
    struct store *s;
    struct err err;
    uint64_t term;

    if (!store_open_sqlite(&s, path, &err) ||
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

        store_close(f.s);
        f.s = NULL;
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
    store_close(f.s);
    f.s = NULL;
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

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
#define TESTS_OF_BOTH                                                                          \
    TEST(terms_rise_and_the_value_is_kept), TEST(values_come_back_byte_for_byte),              \
        TEST(definitions_change_only_from_the_revision_they_were_read_at),                     \
        TEST(a_checkpoint_comes_back_whole), TEST(an_older_term_writes_nothing),               \
        TEST(a_tombstone_keeps_the_highest_version),                                           \
        TEST(an_id_that_no_index_can_have_needs_no_tombstone),                                 \
        TEST(tombstones_are_paged_without_a_gap), TEST(many_tombstones_are_cheap),             \
        TEST(version_numbers_are_never_used_again),                                            \
        TEST(one_version_of_an_index_is_built_at_a_time),                                      \
        TEST(promoting_a_version_retires_the_one_before),                                      \
        TEST(a_stopped_table_keeps_its_place_and_its_way_out),                                 \
        TEST(a_job_is_made_once_and_saved_by_its_owner), TEST(a_document_has_one_dead_letter), \
        TEST(many_dead_letters_are_one_transaction),                                           \
        TEST(dead_letters_are_filtered_and_paged), TEST(a_letter_is_kept_whatever_its_size),   \
        TEST(the_log_gives_the_newest_first),                                                  \
        TEST(a_newer_store_is_refused_with_both_numbers),                                      \
        TEST(a_database_of_something_else_is_refused),                                         \
        TEST(a_store_of_version_one_is_migrated_with_all_it_holds),                            \
        TEST(a_migration_that_was_cut_off_is_finished)

int main(int argc, char **argv)
{
    const struct CMUnitTest sqlite_tests[] = {
        TESTS_OF_BOTH,
        TEST(a_second_process_is_refused_with_the_pid_of_the_first),
        TEST(a_full_disk_loses_nothing),
        TEST(kill_nine_loses_no_acknowledged_write),
    };
    const struct CMUnitTest mysql_tests[] = {
        TESTS_OF_BOTH,
        TEST(an_idle_connection_that_was_lost_is_opened_again),
        TEST(a_connection_lost_in_the_middle_writes_nothing),
        TEST(nodes_that_start_together_get_different_terms),
    };

    on_mysql = argc > 1 && strcmp(argv[1], "mysql") == 0;
    if (mkdtemp(folder) == NULL)
        return 1;
    snprintf(path, sizeof(path), "%s/millrace.db", folder);
    int failed = on_mysql
                     ? cmocka_run_group_tests_name("store_mysql", mysql_tests, NULL, NULL)
                     : cmocka_run_group_tests_name("store_sqlite", sqlite_tests, NULL, NULL);

    if (!on_mysql)
        remove_store();
    rmdir(folder);
    return failed;
}
