/* How versions end, what goes with definitions, and a topic's reset: as a whole, or not at
 * all. */
#include "config.h"

#include "tests/component/store_parts.h"

#include "src/base/buf.h"
#include "src/store/later/fan_out.h"
#include "src/store/later/purged.h"
#include "src/store/reset.h"
#include "src/store/retired.h"
#include "src/store/turn.h"

#define ORDERS STR("orders")

static const struct version_name names[] = {{ORDERS, 1}, {ORDERS, 2}, {ORDERS, 3}};

/* One that is history, one that searches use, one that is being built. */
static void make_versions(void)
{
    struct stored_version v = {.index = ORDERS, .topic = STR("shop"), .definition = STR("{}")};

    for (int64_t i = 1; i <= 3; i++) {
        ok(store_new_version(f.s, &v, &f.err));
        if (i < 3)
            ok(store_promote_version(
                f.s, &(struct promotion){.index = ORDERS, .number = v.number, .finished_ms = i},
                &f.err));
    }
}

static void make_work(void)
{
    struct stored_job job = {.kind = STR("index"),
                             .index = ORDERS,
                             .table = STR("shop.orders"),
                             .version = 3,
                             .buckets = 1,
                             .state = STR("init")};
    const struct stored_stop stop = {.table = STR("shop.orders"), .reason = STR("why")};
    const struct stored_rebuild wish = {STR("shop.orders"), STR("why"), 1};
    const struct stored_purged purged = {.topic = STR("shop"),
                                         .table = STR("shop.orders"),
                                         .index = STR("orders_v2"),
                                         .doc_id = STR("1"),
                                         .key = STR("1"),
                                         .version = 5,
                                         .times = 1};
    struct stored_dead_letter letter = some_letter("1");

    letter.index = STR("orders_v2");
    ok(store_new_job(f.s, &job, &f.err));
    ok(store_put_stop(f.s, &stop, &f.err));
    ok(store_put_rebuild(f.s, &wish, &f.err));
    ok(store_put_purged(f.s, &purged, 1, &f.err));
    ok(store_put_dead_letters(f.s, &letter, 1, &f.err));
    ok(store_put_value(f.s, STR(STORE_SYNC "orders_v2"), STR("here"), &f.err));
    ok(store_put_value(f.s, STR("pending/shop.orders"), STR("2"), &f.err));
}

struct counts {
    size_t versions, dropped, jobs, stops, rebuilds, purged, letters, values;
};

static size_t has_value(const char *name)
{
    struct buf value = {0};
    bool found;

    ok(store_get_value(f.s, str_from(name), &value, &found, &f.err));
    buf_free(&value);
    return found;
}

static struct counts count(void)
{
    struct counts c;
    struct stored_version *versions;
    struct version_name *dropped;
    struct stored_job *jobs;
    struct stored_stop *stops;
    struct stored_rebuild *rebuilds;
    struct purged_count *purged;
    uint64_t letters;

    ok(store_load_versions(f.s, f.a, STR(""), &versions, &c.versions, &f.err));
    ok(store_load_dropped(f.s, f.a, &dropped, &c.dropped, &f.err));
    ok(store_load_jobs(f.s, f.a, &jobs, &c.jobs, &f.err));
    ok(store_load_stops(f.s, f.a, &stops, &c.stops, &f.err));
    ok(store_load_rebuilds(f.s, f.a, &rebuilds, &c.rebuilds, &f.err));
    ok(store_count_purged(f.s, f.a, STR(""), &purged, &c.purged, &f.err));
    ok(store_n_dead_letters(f.s, STR(""), &letters, &f.err));
    c.letters = letters;
    c.values = has_value(STORE_SYNC "orders_v2") + has_value("pending/shop.orders");
    return c;
}

static void assert_counts(struct counts c)
{
    const struct counts is = count();

    assert_memory_equal(&is, &c, sizeof(c));
}

static const struct counts all = {3, 0, 1, 1, 1, 1, 1, 2};

static void assert_states(const char *first, const char *second)
{
    struct stored_version *out;
    size_t n;

    ok(store_load_versions(f.s, f.a, STR(""), &out, &n, &f.err));
    assert_true(n >= 2);
    same(out[0].state, str_from(first));
    same(out[1].state, str_from(second));
}

/* The last version cannot be dropped, as it seems to be dropped already. */
static void break_version_three(void)
{
    close_store();
    sql_beside("INSERT INTO dropped_version VALUES ('orders', 3)");
    reopen();
}

static void mend_version_three(void)
{
    close_store();
    sql_beside("DELETE FROM dropped_version");
    reopen();
    f.err = (struct err){0};
}

static const struct counts broken = {3, 1, 1, 1, 1, 1, 1, 2};

static void definitions_come_with_all_that_goes_with_them_or_without_any_of_it(void **state)
{
    const struct stored_definition defs[] = {{STR("table"), STR("shop.other"), STR("{}")}};
    const struct str tables[] = {STR("shop.orders")};
    const struct stored_value values[] = {{STR("pending/shop.orders"), STR("")}};
    const struct definition_effects e = {.unnamed = names,
                                         .n_unnamed = ARRAY_LEN(names),
                                         .tables = tables,
                                         .n_tables = 1,
                                         .values = values,
                                         .n_values = 1,
                                         .at_ms = 4711};
    struct stored_definition *stored;
    struct stored_version *out;
    uint64_t revision;
    size_t n;

    (void)state;
    make_versions();
    make_work();
    refused(store_save_definitions(f.s, 7, defs, 1, &e, &f.err), ERR_RETRY);
    assert_counts(all);
    break_version_three();
    assert_false(store_save_definitions(f.s, 0, defs, 1, &e, &f.err));
    assert_counts(broken);
    assert_states("history", "available");
    ok(store_load_definitions(f.s, f.a, &stored, &n, &revision, &f.err));
    assert_int_equal(n, 0);
    mend_version_three();
    ok(store_save_definitions(f.s, 0, defs, 1, &e, &f.err));
    reopen();
    assert_counts((struct counts){.versions = 2, .dropped = 1});
    assert_states("retired", "retired");
    ok(store_load_versions(f.s, f.a, STR(""), &out, &n, &f.err));
    assert_int_equal(out[1].retired_ms, 4711);
    assert_int_equal(out[1].finished_ms, 2);
}

static void an_index_that_is_retired_twice_keeps_its_time(void **state)
{
    struct definition_effects e = {.unnamed = names, .n_unnamed = 2, .at_ms = 5};
    struct stored_version *out;
    size_t n;

    (void)state;
    make_versions();
    ok(store_save_effects(f.s, 0, &e, &f.err));
    e.at_ms = 9;
    ok(store_save_effects(f.s, 0, &e, &f.err));
    ok(store_load_versions(f.s, f.a, STR(""), &out, &n, &f.err));
    assert_int_equal(out[0].retired_ms, 5);
}

static void an_index_that_is_named_again_is_history_until_it_is_built(void **state)
{
    const struct definition_effects gone = {.unnamed = names, .n_unnamed = 3, .at_ms = 5},
                                    back = {.renamed = names, .n_renamed = 2, .at_ms = 6};
    struct stored_version v = {.index = ORDERS, .topic = STR("shop"), .definition = STR("{}")};

    (void)state;
    make_versions();
    ok(store_save_effects(f.s, 0, &gone, &f.err));
    ok(store_save_effects(f.s, 0, &back, &f.err));
    assert_states("history", "history");
    ok(store_new_version(f.s, &v, &f.err));
    assert_int_equal(v.number, 4);
}

static void versions_are_dropped_together_or_not_at_all(void **state)
{
    const struct version_name two[] = {{ORDERS, 1}, {ORDERS, 3}};

    (void)state;
    make_versions();
    make_work();
    break_version_three();
    assert_false(store_drop_versions(f.s, two, 2, &f.err));
    assert_counts(broken);
    mend_version_three();
    ok(store_drop_versions(f.s, two, 2, &f.err));
    assert_counts((struct counts){1, 2, 0, 1, 1, 1, 1, 2});
    ok(store_drop_versions(f.s, two, 2, &f.err)); /* the answer to the commit was lost */
    assert_counts((struct counts){1, 2, 0, 1, 1, 1, 1, 2});
}

static void what_is_kept_by_the_name_of_an_index_goes_when_that_is_deleted(void **state)
{
    (void)state;
    make_versions();
    make_work();
    ok(store_drop_versions(f.s, &names[1], 1, &f.err));
    assert_counts((struct counts){2, 1, 1, 1, 1, 1, 1, 1});
    ok(store_end_dropped(f.s, ORDERS, 1, &f.err));
    assert_counts((struct counts){2, 1, 1, 1, 1, 1, 1, 1});
    ok(store_end_dropped(f.s, ORDERS, 2, &f.err));
    assert_counts((struct counts){2, 0, 1, 1, 1, 0, 0, 1});
}

static bool has_checkpoint(void)
{
    struct stored_checkpoint got;
    bool found;

    ok(store_load_checkpoint(f.s, f.a, STR("shop"), &got, &found, &f.err));
    return found;
}

static void a_topic_is_reset_as_a_whole_or_not_at_all(void **state)
{
    const struct stored_checkpoint cp = some_checkpoint(100);
    const struct stored_stop stops[] = {{.table = STR("shop.one"), .reason = STR("reset")},
                                        {.table = STR("shop.two"), .reason = STR("reset")}};
    const struct stored_rebuild again[] = {{STR("shop.one"), STR("reset"), 1}};
    const struct version_name two[] = {{ORDERS, 9}, {ORDERS, 3}};
    struct topic_reset r = {.topic = STR("shop"),
                            .stops = stops,
                            .n_stops = 2,
                            .rebuilds = again,
                            .n_rebuilds = 1,
                            .builds = two,
                            .n_builds = 2,
                            .start = {STR("start/shop"), STR("now")}};
    uint64_t term;

    (void)state;
    make_versions();
    make_work();
    ok(store_take_term(f.s, STR("topic/shop"), &term, &f.err));
    ok(store_save_checkpoint(f.s, term, &cp, NULL, 0, &f.err));
    break_version_three();
    assert_false(store_reset_topic(f.s, &r, &f.err));
    assert_counts(broken);
    assert_true(has_checkpoint());
    assert_false(has_value("start/shop"));
    mend_version_three();
    ok(store_take_term(f.s, STR("topic/shop"), &term, &f.err)); /* the store was opened again */
    ok(store_reset_topic(f.s, &r, &f.err));
    assert_counts((struct counts){2, 1, 0, 3, 2, 1, 1, 2});
    assert_false(has_checkpoint());
    assert_true(has_value("start/shop"));
}

static const struct CMUnitTest tests[] = {
    STORE_TEST(definitions_come_with_all_that_goes_with_them_or_without_any_of_it),
    STORE_TEST(an_index_that_is_retired_twice_keeps_its_time),
    STORE_TEST(an_index_that_is_named_again_is_history_until_it_is_built),
    STORE_TEST(versions_are_dropped_together_or_not_at_all),
    STORE_TEST(what_is_kept_by_the_name_of_an_index_goes_when_that_is_deleted),
    STORE_TEST(a_topic_is_reset_as_a_whole_or_not_at_all),
};
const struct test_part store_retired = {tests, ARRAY_LEN(tests)};
