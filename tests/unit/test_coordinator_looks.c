#include "config.h"

#include "tests/unit/unit.h"

#include "rebalance/admin/delivery_set.h"
#include "rebalance/state/parts.h"
#include "rebalance/view/known.h"

#include "rebalance/admin/questions.h"
#include "rebalance/admin/settings.h"
#include "rebalance/admin/table_metrics.h"
#include "rebalance/dead_letter/orders.h"
#include "rebalance/doctor/doctor.h"
#include "rebalance/trees/trees.h"
#include "rebalance/verify/jobs.h"
#include "rebalance/version/marks.h"
#include "rebalance/view/view.h"
#include "src/base/clock.h"
#include "src/search/search.h"
#include "src/store/turn.h"
#include "sync/document/key_set.h"
#include "tests/fakes/tiny_http.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define TABLES 500

/* What people see of a node with many tables while its engine hangs. */
struct fixture {
    char path[40];
    struct tiny_http *engine;
    struct coordinator_options opt;
    struct coordinator *co;
};

static void store_tables(struct fixture *f)
{
    static char names[TABLES][32], bodies[TABLES + 2][160], indexes[TABLES][16];
    struct stored_definition defs[TABLES + 2] = {
        {STR("topic"), STR("shop"),
         STR("{\"name\":\"shop\",\"address\":\"127.0.0.1:1\",\"user\":\"mill\"}")},
        {STR("database"), STR("shop"), STR("{\"name\":\"shop\",\"topic\":\"shop\"}")}};
    struct err err = {0};

    for (size_t i = 0; i < TABLES; i++) {
        snprintf(names[i], sizeof(names[i]), "shop.t%zu", i);
        snprintf(indexes[i], sizeof(indexes[i]), "t%zu", i);
        snprintf(bodies[i], sizeof(bodies[i]), "{\"table\":\"shop.t%zu\",\"index\":\"t%zu\"}",
                 i, i);
        defs[i + 2] =
            (struct stored_definition){STR("table"), str_from(names[i]), str_from(bodies[i])};
    }
    assert_true(store_save_definitions(f->opt.store, 0, defs, TABLES + 2,
                                       &(struct definition_effects){0}, &err));
    for (size_t i = 0; i < TABLES; i++) {
        struct stored_version v = {.index = str_from(indexes[i]),
                                   .topic = STR("shop"),
                                   .definition = str_from(bodies[i])};

        assert_true(store_new_version(f->opt.store, &v, &err));
        assert_true(store_promote_version(
            f->opt.store,
            &(struct promotion){.index = v.index, .number = v.number, .finished_ms = 1}, &err));
    }
}

static bool list_of(struct coordinator *co, struct str noun, int64_t *revision, struct buf *out,
                    struct err *err)
{
    return coordinator_list(co, &(struct list_order){.noun = noun, .name = STR("")}, revision,
                            out, err);
}

static int set_up(void **state)
{
    static const struct tiny_step silent[] = {{.act = TINY_SILENT}};
    static struct fixture f;
    struct err err = {0};

    f = (struct fixture){.path = "/tmp/millrace-test.XXXXXX"};

    const int fd = mkstemp(f.path);

    assert_true(fd >= 0);
    close(fd);
    f.engine = tiny_http_start(silent, 1);

    const char *url = tiny_http_url(f.engine);

    f.opt.search = search_new(&(struct search_options){.urls = &url, .n_urls = 1});
    assert_true(store_open_sqlite(&f.opt.store, f.path, &err));
    store_tables(&f);
    assert_true(coordinator_open(&f.co, &f.opt, &err));
    engine_watch_start(f.co->engine_watch);
    store_watch_start(f.co->store_watch);
    *state = &f;
    return 0;
}

static int tear_down(void **state)
{
    struct fixture *f = *state;
    char lock[sizeof(f->path) + 5];

    stop_set(&f->co->stop);
    engine_watch_join(f->co->engine_watch);
    store_watch_join(f->co->store_watch);
    coordinator_close(f->co);
    search_free(f->opt.search);
    store_close(f->opt.store);
    tiny_http_stop(f->engine);
    snprintf(lock, sizeof(lock), "%s.lock", f->path);
    unlink(lock);
    unlink(f->path);
    return 0;
}

static void wait_asked(struct fixture *f)
{
    const int64_t until_ms = clock_mono_ms() + 20000;

    while (tiny_http_count(f->engine) == 0) {
        assert_true(clock_mono_ms() < until_ms);
        usleep(1000);
    }
}

static void nobody_who_looks_asks_an_engine_that_hangs(void **state)
{
    struct fixture *f = *state;
    struct buf out = {0};
    struct err err = {0};
    int64_t ignored;

    wait_asked(f);

    const int64_t began_ms = clock_mono_ms();

    for (int i = 0; i < 3; i++) {
        buf_clear(&out);
        assert_true(coordinator_status(f->co, &out, &err));
        coordinator_metrics(f->co, &out);
        assert_true(list_of(f->co, STR("job"), &ignored, &out, &err));
        assert_true(list_of(f->co, STR("table"), &ignored, &out, &err));
    }
    if (getenv("MILLRACE_TIMES") != NULL)
        printf("all of it took %.1f ms\n", (double)(clock_mono_ms() - began_ms) / 3);
    /* Each question would have waited 30 s. */
    assert_true(clock_mono_ms() - began_ms < 10000);
    assert_int_equal(tiny_http_count(f->engine), 1);
    buf_free(&out);
}

static void who_waits_for_the_store_keeps_nobody_who_looks(void **state)
{
    struct fixture *f = *state;
    struct buf out = {0};
    struct err err = {0};
    int64_t ignored;

    wait_asked(f);
    lock_acquire(&f->co->admin_lock);
    lock_acquire(&f->co->settings->changes);
    lock_acquire(&f->co->shape_lock);
    lock_acquire(&f->co->stored->reading);
    assert_true(coordinator_status(f->co, &out, &err));
    coordinator_metrics(f->co, &out);
    assert_true(list_of(f->co, STR("job"), &ignored, &out, &err));
    assert_true(coordinator_delivery_settings(f->co, STR(""), &out, &err));
    lock_release(&f->co->stored->reading);
    lock_release(&f->co->shape_lock);
    lock_release(&f->co->settings->changes);
    lock_release(&f->co->admin_lock);
    buf_free(&out);
}

static void what_the_store_says_is_shown_and_follows_who_changes_it(void **state)
{
    struct fixture *f = *state;
    const struct stored_dead_letter letter = {.topic = STR("shop"),
                                              .table = STR("shop.t7"),
                                              .index = STR("t7_v1"),
                                              .doc_id = STR("1"),
                                              .reason = STR("a reason")};
    struct buf out = {0};
    struct err err = {0};

    assert_true(store_put_dead_letters(f->opt.store, &letter, 1, &err));
    assert_true(store_put_value(f->opt.store, STR(STORE_VERIFY "t8_v1"), STR("look"), &err));
    assert_true(store_put_value(f->opt.store, STR("pending/shop.t9"), STR("1"), &err));
    store_watch_read(f->co->store_watch);

    struct coordinator_view *v = coordinator_view_new(f->co);

    for (size_t i = 0; i < TABLES; i++) {
        const struct table_view *t = &v->tables[i];
        const struct str name = table_name(t->d);

        assert_int_equal(t->dead, str_equal(name, STR("shop.t7")));
        assert_int_equal(t->verify.len > 0, str_equal(name, STR("shop.t8")));
        assert_int_equal(t->is_pending, str_equal(name, STR("shop.t9")));
    }
    coordinator_view_free(v);
    assert_true(coordinator_dead_letter_discard(
        f->co, &(struct dead_letter_filter){.table = STR("shop.t7")}, false, &out, &err));
    v = coordinator_view_new(f->co);
    for (size_t i = 0; i < TABLES; i++)
        assert_int_equal(v->tables[i].dead, 0);
    coordinator_view_free(v);
    buf_free(&out);
}

/* What the store has as the mark of t8's index; empty: nothing. */
static void expect_mark(struct fixture *f, const char *expected)
{
    struct buf mark = {0};
    struct err err = {0};
    bool found = false;

    assert_true(store_get_value(f->opt.store, STR(STORE_VERIFY "t8_v1"), &mark, &found, &err));
    assert_int_equal(found, expected[0] != '\0');
    assert_true(str_equal(buf_str(&mark), str_from(expected)));
    buf_free(&mark);
}

static void a_mark_ends_with_a_run_that_found_all_equal_and_began_after_it(void **state)
{
    struct fixture *f = *state;
    char index[] = "t8_v1", table[] = "shop.t8";
    const struct target t = {.index = index, .table = table};
    const struct str name = STR("t8_v1");
    struct err err = {0};

    assert_true(coordinator_begin_mark(f->co, name, 6, &err));
    assert_true(coordinator_end_mark(f->co, name, 6, true, &err));
    expect_mark(f, "");
    assert_true(coordinator_mark_index(f->co, &t, "a child is lost", &err));
    assert_true(coordinator_begin_mark(f->co, name, 7, &err));
    expect_mark(f, "a child is lost; job 7 verifies it");
    assert_true(coordinator_end_mark(f->co, name, 7, false, &err));
    expect_mark(f, "a child is lost");
    assert_true(coordinator_begin_mark(f->co, name, 8, &err));
    assert_true(coordinator_mark_index(f->co, &t, "another one", &err));
    expect_mark(f, "a child is lost");
    assert_true(coordinator_end_mark(f->co, name, 8, true, &err));
    expect_mark(f, "a child is lost");
    assert_true(coordinator_begin_mark(f->co, name, 9, &err));
    assert_true(coordinator_end_mark(f->co, name, 8, true, &err));
    expect_mark(f, "a child is lost; job 9 verifies it");
    assert_true(coordinator_end_mark(f->co, name, 9, true, &err));
    expect_mark(f, "");
}

/* What the doctor says of what the node knows that has this id. */
static struct doctor_check find_check(struct coordinator *co, struct arena *a, const char *id)
{
    struct doctor_list l;
    struct doctor_check found = {0};

    struct coordinator_view *v = coordinator_view_new(co);

    doctor_init(&l, a);
    coordinator_check_known(v, &l);
    coordinator_view_free(v);
    for (size_t i = 0; i < l.n; i++)
        if (str_equal(l.checks[i].id, str_from(id)))
            found = l.checks[i];
    return found;
}

static void keep_compared(struct fixture *f, int64_t at_ms)
{
    const struct verify_result found = {.documents = 12,
                                        .equal = 9,
                                        .differing = 1,
                                        .repaired = 2,
                                        .counts = {[VERIFY_MISSING] = 2, [VERIFY_ROUTING] = 1}};
    struct buf json = {0};
    struct err err = {0};

    compared_append(&found, at_ms, &json);
    assert_true(
        store_put_value(f->opt.store, STR(STORE_COMPARED "t5_v1"), buf_str(&json), &err));
    store_watch_read(f->co->store_watch);
    buf_free(&json);
}

static void expect_in(const char *text, const char *wanted)
{
    if (strstr(text, wanted) == NULL)
        fail_msg("no %s in %.2000s", wanted, text);
}

static void the_last_comparison_of_an_index_is_in_status_and_metrics(void **state)
{
    struct fixture *f = *state;
    struct buf json = {0}, samples = {0};
    struct err err = {0};

    keep_compared(f, 1700000000000);
    assert_true(coordinator_status(f->co, &json, &err));
    expect_in(json.ptr,
              "\"compared\":{\"at\":\"2023-11-14T22:13:20Z\",\"verdict\":\"different\","
              "\"documents\":12,\"equal\":9,\"differing\":1,\"repaired\":2,"
              "\"counts\":{\"missing\":2,\"extra\":0,\"different\":0,"
              "\"wrong_routing\":1,");
    expect_in(json.ptr, "\"compared\":null,\"verify_due\":null,\"trees\":null,\"repairs\":{");
    coordinator_metrics(f->co, &samples);
    expect_in(samples.ptr,
              "millrace_table_compared_timestamp_seconds{table=\"shop.t5\"} 1700000000\n");
    expect_in(samples.ptr,
              "millrace_table_differences{table=\"shop.t5\",kind=\"wrong_routing\"} 1\n");
    expect_in(samples.ptr, "millrace_table_repaired{table=\"shop.t5\"} 2\n");
    assert_null(strstr(samples.ptr, "millrace_table_repaired{table=\"shop.t6\"}"));
    buf_free(&json);
    buf_free(&samples);
}

/* How many tables the doctor says this of. */
static size_t count_checks(struct coordinator *co, const char *id)
{
    struct arena *a = arena_new();
    struct coordinator_view *v = coordinator_view_new(co);
    struct doctor_list l;
    size_t n = 0;

    doctor_init(&l, a);
    coordinator_check_known(v, &l);
    for (size_t i = 0; i < l.n; i++)
        n += str_equal(l.checks[i].id, str_from(id));
    coordinator_view_free(v);
    arena_free(a);
    return n;
}

static void what_nobody_compares_for_longer_than_is_wished_is_a_warning(void **state)
{
    struct fixture *f = *state;
    struct arena *a = arena_new();
    struct doctor_check c;

    keep_compared(f, clock_wall_ms() - 7200000);
    assert_int_equal(count_checks(f->co, "table.compared"), 0); /* nothing is wished */
    f->co->opt.verify_within_ms = 3 * 3600000;
    assert_int_equal(count_checks(f->co, "table.compared"), TABLES - 1);
    c = find_check(f->co, a, "table.compared");
    assert_int_equal(c.status, DOCTOR_WARN);
    expect_in(c.message.ptr, "its index was never verified, and was built ");
    expect_in(c.fix.ptr, "millrace verify shop.t");
    f->co->opt.verify_within_ms = 3600000;
    assert_int_equal(count_checks(f->co, "table.compared"), TABLES);
    keep_compared(f, clock_wall_ms() - 1000);
    assert_int_equal(count_checks(f->co, "table.compared"), TABLES - 1);
    arena_free(a);
}

#define HOUR INT64_C(3600000)

/* A run of the kind for shop.t5 was good so long ago. */
static void keep_success(struct fixture *f, const char *name, int64_t ago_ms)
{
    struct buf ms = {0};
    struct err err = {0};

    buf_append_u64(&ms, (uint64_t)(clock_wall_ms() - ago_ms));
    assert_true(store_put_value(f->opt.store, str_from(name), buf_str(&ms), &err));
    store_watch_read(f->co->store_watch);
    buf_free(&ms);
}

static void a_run_that_is_overdue_is_a_warning_with_the_command(void **state)
{
    struct fixture *f = *state;
    struct arena *a = arena_new();
    struct buf json = {0}, samples = {0};
    struct doctor_check c;
    struct err err = {0};

    keep_success(f, STORE_SUCCESS "replay/shop.t5", 2 * HOUR);
    assert_int_equal(count_checks(f->co, "table.runs"), 0); /* nothing is expected */
    f->co->opt.expect_ms[RUN_REPLAY] = 3 * HOUR;
    assert_int_equal(count_checks(f->co, "table.runs"), TABLES - 1);
    c = find_check(f->co, a, "table.runs");
    assert_int_equal(c.status, DOCTOR_WARN);
    expect_in(c.message.ptr, "no replay of it was good since it was built, ");
    expect_in(c.why.ptr, "replay.expect_every asks for one every 3 h");
    expect_in(c.fix.ptr, "millrace replay shop.t");
    expect_in(c.fix.ptr, "systemctl status millrace-replay.timer");
    f->co->opt.expect_ms[RUN_REPLAY] = HOUR;
    assert_int_equal(count_checks(f->co, "table.runs"), TABLES);
    assert_true(coordinator_status(f->co, &json, &err));
    expect_in(json.ptr, "\"runs\":{\"replay\":{\"last_success\":null,\"overdue\":true}}");
    coordinator_metrics(f->co, &samples);
    expect_in(samples.ptr, "millrace_table_run_overdue{table=\"shop.t5\",kind=\"replay\"} 1\n");
    expect_in(samples.ptr, "millrace_table_run_timestamp_seconds{table=\"shop.t5\",kind=");
    assert_null(strstr(samples.ptr, "kind=\"check\"} 1")); /* no table has a column for it */
    keep_success(f, STORE_SUCCESS "replay/shop.t5", 1000);
    assert_int_equal(count_checks(f->co, "table.runs"), TABLES - 1);
    buf_free(&json);
    buf_free(&samples);
    arena_free(a);
}

/* A node that keeps trees. */
static void keep_trees(struct fixture *f, char *folder)
{
    struct err err = {0};

    assert_non_null(mkdtemp(folder));
    assert_true(trees_new(&f->co->trees, folder, STR("a store"), &err));
    f->co->opt.trees = true;
    f->co->opt.data_dir = folder;
    f->co->opt.exchange_every_ms = HOUR;
    store_watch_read(f->co->store_watch);
}

static void make_trees(struct fixture *f, bool are_complete)
{
    struct err err = {0};

    assert_true(trees_begin(f->co->trees, STR("t5_v1"), 1, 10, &err));
    trees_note_both(f->co->trees, STR("t5_v1"), false, 17, STR("1"));
    assert_true(!are_complete || trees_complete(f->co->trees, STR("t5_v1")));
}

static void drop_trees(struct fixture *f, const char *folder)
{
    trees_keep(f->co->trees, &(struct key_set){0});
    trees_free(f->co->trees);
    f->co->trees = NULL;
    assert_int_equal(rmdir(folder), 0);
    f->co->opt.data_dir = NULL;
}

/* What the doctor says of t5 so much later; NULL: nothing. */
static void expect_later(struct fixture *f, int64_t ms, const char *message, const char *fix)
{
    struct arena *a = arena_new();
    struct coordinator_view *v = coordinator_view_new(f->co);
    struct doctor_list l;
    size_t n = 0;

    doctor_init(&l, a);
    v->now_ms += ms;
    coordinator_check_known(v, &l);
    coordinator_view_free(v);
    for (size_t i = 0; i < l.n; i++)
        if (str_equal(l.checks[i].group, STR("table shop.t5"))) {
            n++;
            assert_true(str_equal(l.checks[i].id, STR("table.trees")));
            assert_int_equal(l.checks[i].status, DOCTOR_WARN);
            assert_non_null(message);
            expect_in(l.checks[i].message.ptr, message);
            assert_string_equal(l.checks[i].fix.ptr, fix);
        }
    assert_int_equal(n, message != NULL);
    arena_free(a);
}

static void trees_that_nobody_compares_for_too_long_are_a_warning(void **state)
{
    struct fixture *f = *state;
    char folder[] = "/tmp/millrace-test.XXXXXX";
    const struct verify_result equal = {.equal = 1}, different = {.differing = 2};
    struct err why = {0};

    expect_later(f, 4 * HOUR, NULL, NULL);
    keep_trees(f, folder);
    expect_later(f, 2 * HOUR, NULL, NULL);
    expect_later(f, 4 * HOUR, "trees of its index for 4 h 0 min, and has none now",
                 "millrace verify shop.t5 makes them");
    f->co->started_ms -= 2 * HOUR;
    expect_later(f, 2 * HOUR, "for 4 h 0 min, and has none now",
                 "millrace verify shop.t5 makes them");
    make_trees(f, false);
    expect_later(f, 2 * HOUR, "a comparison of the whole index still makes them",
                 "wait for its end; index.verify_rate sets its pace");
    make_trees(f, true);
    expect_later(f, 2 * HOUR, NULL, NULL);
    expect_later(f, 4 * HOUR, "for 4 h 0 min", "millrace status says what waits");
    err_set(&why, ERR_REJECT, "much waits; fix: let t6 go on");
    verify_jobs_note_exchange(f->co->verifies, STR("t5_v1"), NULL, 0, &why);
    expect_later(f, 2 * HOUR, NULL, NULL);
    expect_later(f, 4 * HOUR, "for 4 h 0 min; the last exchange was put off: much waits",
                 "let t6 go on");
    expect_later(f, 3 * HOUR - 60000, NULL, NULL);
    trees_end(f->co->trees, STR("t5_v1"));
    expect_later(f, 2 * HOUR, "for 4 h 0 min, and has none now",
                 "millrace verify shop.t5 makes them");
    err_set(&why, ERR_REJECT, "no room; fix: make some");
    verify_jobs_note_whole(f->co->verifies, STR("t5_v1"), &why);
    expect_later(f, 2 * HOUR, "and has none now, as none can be made: no room", "make some");
    verify_jobs_note_whole(f->co->verifies, STR("t5_v1"), NULL);
    expect_later(f, 2 * HOUR, "and has none now", "millrace verify shop.t5 makes them");
    verify_jobs_note_exchange(f->co->verifies, STR("t5_v1"), &equal, 0, NULL);
    expect_later(f, 2 * HOUR, NULL, NULL);
    verify_jobs_note_exchange(f->co->verifies, STR("t5_v1"), &different, 0, NULL);
    expect_later(f, 0,
                 "the last exchange of anti-entropy trees left 2 of its documents different",
                 "millrace report list names the report of it");
    drop_trees(f, folder);
    expect_later(f, 4 * HOUR, NULL, NULL);
}

static void what_exchanges_did_is_in_status_and_metrics(void **state)
{
    struct fixture *f = *state;
    char folder[] = "/tmp/millrace-test.XXXXXX";
    const struct verify_result repaired = {.repaired = 1};
    struct buf json = {0}, samples = {0};
    struct err err = {0};

    keep_trees(f, folder);
    make_trees(f, true);
    verify_jobs_note_exchange(f->co->verifies, STR("t5_v1"), &repaired, 0, NULL);
    assert_true(coordinator_status(f->co, &json, &err));
    expect_in(json.ptr, "\"exchanges\":1,\"differing\":0,\"put_off\":0,"
                        "\"put_off_reason\":null,\"missing_reason\":null}");
    err_set(&err, ERR_REJECT, "much waits");
    verify_jobs_note_exchange(f->co->verifies, STR("t5_v1"), NULL, 0, &err);
    buf_clear(&json);
    assert_true(coordinator_status(f->co, &json, &err));
    expect_in(json.ptr, "\"exchanges\":1,\"differing\":0,\"put_off\":1,"
                        "\"put_off_reason\":\"much waits\",\"missing_reason\":null}");
    coordinator_metrics(f->co, &samples);
    expect_in(samples.ptr,
              "millrace_table_trees_state{table=\"shop.t5\",state=\"complete\"} 1\n");
    expect_in(samples.ptr,
              "millrace_table_trees_state{table=\"shop.t6\",state=\"missing\"} 1\n");
    expect_in(samples.ptr, "millrace_table_trees_entries{table=\"shop.t5\"} 1\n");
    expect_in(samples.ptr, "millrace_table_trees_bytes{table=\"shop.t5\"} ");
    expect_in(samples.ptr, "millrace_table_trees_built_timestamp_seconds{table=\"shop.t5\"} ");
    expect_in(samples.ptr, "millrace_table_exchanged_timestamp_seconds{table=\"shop.t5\"} ");
    expect_in(samples.ptr,
              "millrace_table_exchanges_total{table=\"shop.t5\",result=\"repaired\"} 1\n");
    expect_in(samples.ptr,
              "millrace_table_exchanges_total{table=\"shop.t5\",result=\"put_off\"} 1\n");
    assert_null(strstr(samples.ptr, "exchanged_timestamp_seconds{table=\"shop.t6\"}"));
    drop_trees(f, folder);
    buf_free(&json);
    buf_free(&samples);
}

/* When Millrace says that it compares t5. */
static int64_t due_of_t5(struct fixture *f)
{
    struct coordinator_view *v = coordinator_view_new(f->co);
    int64_t ms = -1;

    for (size_t i = 0; i < TABLES; i++)
        if (str_equal(table_name(v->tables[i].d), STR("shop.t5")))
            ms = v->tables[i].verify_due_ms;
    coordinator_view_free(v);
    return ms;
}

static void missing_trees_make_a_comparison_due_soon(void **state)
{
    struct fixture *f = *state;
    char folder[] = "/tmp/millrace-test.XXXXXX";
    char index[] = "t5_v1", table[] = "shop.t5";
    const struct target t = {.index = index, .table = table};
    struct err err = {0};

    keep_trees(f, folder);
    assert_in_range(due_of_t5(f), 5000, 5001);
    make_trees(f, true);
    assert_int_equal(due_of_t5(f), 0);
    f->co->opt.verify_every_ms = HOUR;
    assert_in_range(due_of_t5(f), HOUR / 2, HOUR + 1);
    trees_end(f->co->trees, STR("t5_v1"));
    assert_in_range(due_of_t5(f), 5000, 5001);
    assert_true(coordinator_mark_index(f->co, &t, "a child is lost", &err));
    store_watch_read(f->co->store_watch);
    assert_in_range(due_of_t5(f), HOUR / 2, HOUR + 1); /* a person decides first */
    drop_trees(f, folder);
    assert_in_range(due_of_t5(f), HOUR / 2, HOUR + 1);
}

static void a_build_whose_topic_is_away_is_not_said_to_be_built(void **state)
{
    struct fixture *f = *state;
    char shop[] = "shop";
    struct topic topic = {.name = shop};
    struct stored_version v = {.index = STR("t3"),
                               .topic = STR("shop"),
                               .definition = STR("{\"table\":\"shop.t3\",\"index\":\"t3\"}")};
    struct arena *a = arena_new();
    struct delivery_hold held = {.cure = CURE_OTHER};
    struct err err = {0};

    err_set(&topic.why, ERR_REJECT, "its password file is gone");
    err_set(&held.why, ERR_RETRY, "the engine takes nothing");
    assert_true(store_new_version(f->opt.store, &v, &err));
    assert_true(coordinator_refresh(f->co, &err));
    f->co->topics->first = &topic;

    struct doctor_check c = find_check(f->co, a, "table.build");

    assert_string_equal(c.message.ptr, "the build of version 2 of its index waits: topic "
                                       "shop is not running: its password file is gone");
    assert_string_equal(c.fix.ptr, "it continues by itself once that is over");
    holds_note(f->co->holds, "t3_v2", &held);
    c = find_check(f->co, a, "table.build");
    assert_non_null(strstr(c.message.ptr, "waits: the engine takes nothing"));
    assert_non_null(strstr(c.fix.ptr, "or millrace index reset"));
    c = find_check(f->co, a, "table.runs");
    assert_non_null(strstr(c.fix.ptr, "or millrace index reset"));
    f->co->topics->first = NULL;
    arena_free(a);
}

/* What status says of the whole: "true", "false", "null". */
static void assert_judged(struct coordinator *co, const char *ok, const char *check)
{
    struct buf json = {0};
    struct err err = {0};
    struct str found = {0};

    assert_true(coordinator_status(co, &json, &err));
    assert_true(json_find(buf_str(&json), "/ok", &found));
    assert_true(str_equal(found, str_from(ok)));
    assert_true(json_find(buf_str(&json), "/checks", &found));
    if (check != NULL)
        assert_non_null(strstr(found.ptr, check));
    buf_free(&json);
}

static void status_judges_as_the_doctor_does_and_says_when_nobody_can(void **state)
{
    struct fixture *f = *state;
    struct delivery_hold held = {0};

    assert_judged(f->co, "null", NULL); /* nobody has asked the engine yet */
    err_set(&held.why, ERR_RETRY, "the engine takes nothing");
    holds_note(f->co->holds, "t3_v1", &held);
    assert_judged(f->co, "false",
                  "\"id\":\"table.runs\",\"code\":\"table.runs.held\",\"values\":{},"
                  "\"group\":\"table shop.t3\",\"status\":\"fail\"");
}

static size_t count_text(struct str text, const char *part)
{
    size_t n = 0;

    for (const char *at = text.ptr; (at = strstr(at, part)) != NULL; at++)
        n++;
    return n;
}

static void tables_beyond_a_bound_share_one_label(void **state)
{
    struct fixture *f = *state;
    struct coordinator_view *v = coordinator_view_new(f->co);
    struct buf out = {0};

    v->tables[0].counts.written = 7;
    for (size_t i = 2; i < TABLES; i++) {
        v->tables[i].counts.written = 3;
        v->tables[i].counts.deleted = 1;
    }
    coordinator_put_tables(&out, v, 2);
    assert_int_equal(count_text(buf_str(&out), "millrace_table_state{"), 2);
    assert_int_equal(count_text(buf_str(&out), "result=\"written\"}"), 3);
    assert_int_equal(count_text(buf_str(&out), "{table=\"shop.t0\",result=\"written\"} 7\n"),
                     1);
    assert_int_equal(count_text(buf_str(&out), "{table=\"other\",result=\"written\"} 1494\n"),
                     1);
    assert_int_equal(count_text(buf_str(&out), "{table=\"other\",result=\"deleted\"} 498\n"),
                     1);
    coordinator_view_free(v);
    buf_free(&out);
}

static void the_metrics_say_what_status_judges(void **state)
{
    struct fixture *f = *state;
    struct delivery_hold held = {0};
    struct buf out = {0};

    coordinator_metrics(f->co, &out);
    assert_int_equal(count_text(buf_str(&out), "millrace_ok"), 0);
    err_set(&held.why, ERR_RETRY, "the engine takes nothing");
    holds_note(f->co->holds, "t3_v1", &held);
    holds_note(f->co->holds, "t4_v1", &held);
    buf_clear(&out);
    coordinator_metrics(f->co, &out);
    assert_int_equal(count_text(buf_str(&out), "millrace_ok 0\n"), 1);
    assert_int_equal(
        count_text(buf_str(&out), "millrace_checks{check=\"table.runs\",status=\"fail\"} 2\n"),
        1);
    assert_int_equal(
        count_text(buf_str(&out), "millrace_table_state{table=\"shop.t3\",state=\"held\"} 1\n"),
        1);
    buf_free(&out);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(nobody_who_looks_asks_an_engine_that_hangs, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(who_waits_for_the_store_keeps_nobody_who_looks, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(what_the_store_says_is_shown_and_follows_who_changes_it,
                                        set_up, tear_down),
        cmocka_unit_test_setup_teardown(
            a_mark_ends_with_a_run_that_found_all_equal_and_began_after_it, set_up, tear_down),
        cmocka_unit_test_setup_teardown(
            the_last_comparison_of_an_index_is_in_status_and_metrics, set_up, tear_down),
        cmocka_unit_test_setup_teardown(
            what_nobody_compares_for_longer_than_is_wished_is_a_warning, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_run_that_is_overdue_is_a_warning_with_the_command,
                                        set_up, tear_down),
        cmocka_unit_test_setup_teardown(trees_that_nobody_compares_for_too_long_are_a_warning,
                                        set_up, tear_down),
        cmocka_unit_test_setup_teardown(what_exchanges_did_is_in_status_and_metrics, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(missing_trees_make_a_comparison_due_soon, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(a_build_whose_topic_is_away_is_not_said_to_be_built,
                                        set_up, tear_down),
        cmocka_unit_test_setup_teardown(
            status_judges_as_the_doctor_does_and_says_when_nobody_can, set_up, tear_down),
        cmocka_unit_test_setup_teardown(tables_beyond_a_bound_share_one_label, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(the_metrics_say_what_status_judges, set_up, tear_down),
    };

    return cmocka_run_group_tests_name("coordinator_looks", tests, NULL, NULL);
}
