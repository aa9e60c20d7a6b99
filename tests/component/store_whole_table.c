/* Snapshots of whole tables, and the builds that a run asks for. */
#include "config.h"

#include "tests/component/store_parts.h"

#include "src/store/build_log.h"
#include "src/store/later/whole_table.h"
#include "src/store/turn.h"

#include <string.h>

#define DAY_MS INT64_C(86400000)
#define LABEL  STR("shop.label")
#define ORDERS STR("orders")
#define TABLE  STR("shop.orders")

static struct snapshot_owner owner;

/* Another version of `orders`, which searches use. */
static uint64_t build(uint64_t keep)
{
    struct stored_version v = {.index = ORDERS, .topic = STR("shop"), .definition = STR("{}")};
    struct stored_job job = {.kind = STR("index"),
                             .index = ORDERS,
                             .table = TABLE,
                             .buckets = 1,
                             .state = STR("init")};

    ok(store_new_version(f.s, &v, &f.err));
    job.version = v.number;
    ok(store_new_job(f.s, &job, &f.err));

    const struct promotion p = {.index = ORDERS,
                                .number = v.number,
                                .finished_ms = 1,
                                .at_ms = 1,
                                .keep = {keep, 1000}};

    ok(store_promote_version(f.s, &p, &f.err));
    return v.number;
}

static void begin(void)
{
    owner.topic = STR("shop");
    ok(store_take_term(f.s, STR("topic/shop"), &owner.term, &f.err));
    assert_int_equal(build(0), 1);
}

static void put(const char *op, const char *row, uint32_t place, uint64_t version)
{
    const struct snapshot_put p = {owner, LABEL, DAY_MS};
    const struct snapshot_change c = {.row = {.op = str_from(op), .row_id = str_from(row)},
                                      .lead = {.topic = STR("shop"),
                                               .index = ORDERS,
                                               .version = version,
                                               .member = LABEL,
                                               .place = place,
                                               .at_least = 7}};

    ok(store_put_snapshots(f.s, &p, &c, 1, &f.err));
}

static void put_whole(void)
{
    put(WHOLE_TABLE_OP, WHOLE_TABLE_ROW, WHOLE_TABLE_PLACE, 1);
}

static struct snapshot_run take(uint64_t one)
{
    struct snapshot_run r = {.one = one, .up_to = UINT64_MAX >> 1};
    bool busy;

    ok(store_begin_snapshot_run(f.s, f.a, &owner, DAY_MS, &r, &busy, &f.err));
    assert_false(busy);
    return r;
}

static struct snapshot_run stored_run(void)
{
    struct snapshot_run *list;
    size_t n;

    ok(store_load_snapshot_runs(f.s, f.a, STR(""), &list, &n, &f.err));
    assert_int_equal(n, 1);
    return list[0];
}

static struct whole_lead *whole(const struct snapshot_run *r, size_t n_expected)
{
    struct whole_lead *list;
    size_t n;

    ok(store_load_whole_leads(f.s, f.a, r, &list, &n, &f.err));
    assert_int_equal(n, n_expected);
    return list;
}

static struct stored_snapshot *load(const char *status, size_t n_expected)
{
    const struct snapshot_filter all = {.status = str_from(status), .limit = 100};
    struct stored_snapshot *list;
    size_t n;

    ok(store_load_snapshots(f.s, f.a, &all, &list, &n, &f.err));
    assert_int_equal(n, n_expected);
    return list;
}

static void rebuild_is(const char *reason)
{
    struct stored_rebuild *list;
    size_t n;

    ok(store_load_rebuilds(f.s, f.a, &list, &n, &f.err));
    assert_int_equal(n, reason[0] != '\0');
    assert_true(n == 0 || str_equal(list[0].reason, str_from(reason)));
}

static void end(const struct snapshot_run *r)
{
    ok(store_end_snapshot_run(f.s, &owner, r->id, 2 * DAY_MS, &f.err));
}

static void a_run_knows_which_versions_show_its_whole_tables(void **state)
{
    struct snapshot_run r;
    const struct whole_lead *l;

    (void)state;
    begin();
    put_whole();
    put_whole(); /* the statement is read again, or another one follows */
    put("update", "7", 1, 1);
    r = take(0);
    l = whole(&r, 1);
    assert_true(str_equal(l->table, LABEL) && str_equal(l->version.index, ORDERS));
    assert_int_equal(l->version.number, 1);
    assert_true(str_equal(load("running", 2)[0].op, STR(WHOLE_TABLE_OP)));
    put_whole(); /* of the next run */
    (void)whole(&r, 1);
    end(&r);
    r = take(load("init", 1)->id); /* alone */
    (void)whole(&r, 1);
}

static void
builds_that_are_asked_for_are_withdrawn_unless_they_have_another_reason(void **state)
{
    const struct stored_rebuild ours = {TABLE, STR("ours"), 5}, other = {TABLE, STR("x"), 6};
    struct snapshot_run r;

    (void)state;
    begin();
    put_whole();
    r = take(0);
    assert_int_equal(r.builds, RUN_BUILDS_NOT_ASKED);
    ok(store_ask_builds(f.s, &owner, &r, &ours, 1, &f.err));
    rebuild_is("ours");
    assert_int_equal(stored_run().builds, RUN_BUILDS_ASKED);
    assert_int_equal(stored_run().updated_ms, 5);
    ok(store_end_builds(f.s, &owner, &r, &(struct builds_end){&ours, 1, NULL, 0, 9}, &f.err));
    rebuild_is("");
    assert_int_equal(stored_run().builds, RUN_BUILDS_ENDED);
    ok(store_put_rebuild(f.s, &other, &f.err));
    ok(store_ask_builds(f.s, &owner, &r, &ours, 1, &f.err));
    rebuild_is("x");
    ok(store_end_builds(f.s, &owner, &r, &(struct builds_end){&ours, 1, NULL, 0, 9}, &f.err));
    rebuild_is("x");
    ok(store_ask_builds(f.s, &owner, &r, NULL, 0, &f.err));
    assert_int_equal(stored_run().builds, RUN_BUILDS_ENDED);
    end(&r);
    refused(store_ask_builds(f.s, &owner, &r, &ours, 1, &f.err), ERR_STOP);
}

static void a_run_tells_builds_that_were_logged_before_it_asked_from_later_ones(void **state)
{
    const struct stored_rebuild ours = {TABLE, STR("ours"), 5};
    struct stored_build b = {.version = {ORDERS, 1}, .table = TABLE, .kind = STR("rebuild")};
    struct stored_build *list;
    struct snapshot_run r;
    size_t n;

    (void)state;
    begin();
    put_whole();
    ok(store_begin_build(f.s, &b, &f.err));
    r = take(0);
    ok(store_ask_builds(f.s, &owner, &r, &ours, 1, &f.err));
    ok(store_load_builds(f.s, f.a, TABLE, 1, &list, &n, &f.err));
    assert_true(n == 1 && list[0].id == stored_run().builds_after);
    b.version.number = build(0);
    ok(store_begin_build(f.s, &b, &f.err));
    ok(store_load_builds(f.s, f.a, TABLE, 1, &list, &n, &f.err));
    assert_true(list[0].id > stored_run().builds_after);
}

static void a_whole_table_that_is_not_built_waits_again_and_says_why(void **state)
{
    const struct snapshot_release nothing = {.n_jobs = 0};
    struct whole_lead *l;
    struct snapshot_run r;

    (void)state;
    begin();
    put_whole();
    put("update", "7", 1, 1);
    r = take(0);
    l = whole(&r, 1);
    l->row_json = STR("why");
    ok(store_end_builds(f.s, &owner, &r, &(struct builds_end){NULL, 0, l, 1, 9}, &f.err));
    r.after_id = 1 << 20;
    ok(store_release_snapshots(f.s, &owner, &r, &nothing, &f.err));
    (void)whole(&r, 1); /* only rows' leads are forgotten */
    end(&r);
    assert_true(str_equal(load("init", 1)->row_json, STR("why")));
    assert_true(str_equal(load("done", 1)->op, STR("update")));
    r = take(0);
    (void)whole(&r, 1);
    put_whole(); /* a later statement of the day stands for both */
    end(&r);
    (void)load("init", 1);
    (void)load("done", 2);
    r = take(0);
    (void)whole(&r, 1);
}

static void a_version_that_shows_a_whole_table_as_it_was_is_not_kept(void **state)
{
    struct stored_version *versions;
    struct snapshot_run r;
    size_t n;

    (void)state;
    begin();
    put_whole();
    (void)build(1);
    ok(store_load_versions(f.s, f.a, ORDERS, &versions, &n, &f.err));
    for (size_t i = 0; i < n; i++)
        assert_true(str_equal(versions[i].state,
                              versions[i].number == 1 ? STR("history") : STR("available")));
    r = take(0);
    (void)whole(&r, 0);
    end(&r);
    (void)load("done", 1);
}

static const struct CMUnitTest tests[] = {
    STORE_TEST(a_run_knows_which_versions_show_its_whole_tables),
    STORE_TEST(builds_that_are_asked_for_are_withdrawn_unless_they_have_another_reason),
    STORE_TEST(a_run_tells_builds_that_were_logged_before_it_asked_from_later_ones),
    STORE_TEST(a_whole_table_that_is_not_built_waits_again_and_says_why),
    STORE_TEST(a_version_that_shows_a_whole_table_as_it_was_is_not_kept),
};

const struct test_part store_whole_tables = {tests, ARRAY_LEN(tests)};
