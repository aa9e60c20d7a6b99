/* Snapshots of delayed tables, as the store keeps them. */
#include "config.h"

#include "tests/component/store_parts.h"

#include "src/store/retired.h"
#include "src/store/snapshot.h"

#include <stdio.h>
#include <string.h>

#define DAY_MS INT64_C(86400000)
#define LABEL  STR("shop.label")

static struct snapshot_owner owner;

/* A live version of `orders`, and the topic's term. */
static void begin(void)
{
    struct stored_version v = {.index = STR("orders"), .topic = STR("shop")};

    owner.topic = STR("shop");
    ok(store_take_term(f.s, STR("topic/shop"), &owner.term, &f.err));
    ok(store_new_version(f.s, &v, &f.err));
}

static struct snapshot_change a_change(const char *op, const char *id, const char *key)
{
    return (struct snapshot_change){.row = {.op = str_from(op), .row_id = str_from(id)},
                                    .lead = {.topic = STR("shop"),
                                             .index = STR("orders"),
                                             .version = 1,
                                             .member = STR("shop.orders"),
                                             .place = 1,
                                             .key = str_from(key),
                                             .at_least = 7}};
}

static void put_at(const struct snapshot_change *c, size_t n, int64_t now_ms)
{
    const struct snapshot_put p = {owner, LABEL, now_ms};

    ok(store_put_snapshots(f.s, &p, c, n, &f.err));
}

static void put(const char *op, const char *id, const char *key)
{
    const struct snapshot_change c = a_change(op, id, key);

    put_at(&c, 1, DAY_MS);
}

static struct stored_snapshot *load(struct snapshot_filter which, size_t n_expected)
{
    struct stored_snapshot *out;
    size_t n;

    if (which.limit == 0)
        which.limit = 10000;
    ok(store_load_snapshots(f.s, f.a, &which, &out, &n, &f.err));
    assert_int_equal(n, n_expected);
    return out;
}

static struct snapshot_lead *leads(size_t n_expected)
{
    struct snapshot_lead *out;
    size_t n;

    ok(store_load_leads(f.s, f.a, 0, 1 << 30, &out, &n, &f.err));
    assert_int_equal(n, n_expected);
    return out;
}

static void take(const char *table, uint64_t run)
{
    ok(store_take_snapshots(f.s, &owner, str_from(table), run, 2 * DAY_MS, &f.err));
}

static void end(uint64_t run)
{
    ok(store_end_snapshots(f.s, &owner, run, 2 * DAY_MS, &f.err));
}

static void release(uint64_t run, const struct stored_fan_out *jobs, size_t n)
{
    const struct snapshot_page page = {run, 0, 1 << 30};

    ok(store_release_snapshots(f.s, &owner, &page, jobs, n, &f.err));
}

static uint64_t released(const char *table)
{
    uint64_t n;

    ok(store_count_released(f.s, owner.topic, str_from(table), DAY_MS, &n, &f.err));
    return n;
}

static void a_snapshot_comes_back_whole_with_what_it_leads_to(void **state)
{
    struct snapshot_change c = a_change("delete", "7", "k");

    (void)state;
    begin();
    c.row.row_json = STR("{\"id\":7}");
    c.row.was = true;
    put_at(&c, 1, 3 * DAY_MS + 5);

    const struct stored_snapshot *s = load((struct snapshot_filter){0}, 1);
    const struct snapshot_lead *l = leads(1);

    assert_true(str_equal(s->topic, owner.topic) && str_equal(s->table, LABEL));
    assert_true(str_equal(s->op, STR("delete")) && str_equal(s->row_id, STR("7")));
    assert_true(str_equal(s->day, STR("1970-01-04")) && str_equal(s->status, STR("init")));
    assert_true(str_equal(s->row_json, STR("{\"id\":7}")));
    assert_int_equal(s->created_ms, 3 * DAY_MS + 5);
    assert_int_equal(l->snapshot, s->id);
    assert_true(l->was && str_equal(l->job.key, STR("k")));
    assert_true(str_equal(l->job.member, STR("shop.orders")) && l->job.at_least == 7);
}

static void a_later_change_overwrites_but_forgets_nothing_that_the_row_led_to(void **state)
{
    struct snapshot_change c = a_change("update", "7", "second");

    (void)state;
    begin();
    put("update", "7", "first");
    c.row.row_json = STR("new");
    put_at(&c, 1, DAY_MS + 1);
    put_at(&c, 1, DAY_MS + 2);
    assert_true(str_equal(load((struct snapshot_filter){0}, 1)->row_json, STR("new")));
    (void)leads(2);
    put("insert", "7", "first"); /* another operation */
    put("update", "8", "first"); /* another row */
    put_at(&c, 1, 5 * DAY_MS);   /* another day */
    (void)load((struct snapshot_filter){0}, 4);
    (void)load((struct snapshot_filter){.op = STR("update"), .row_id = STR("7")}, 2);
    (void)load((struct snapshot_filter){.day = STR("1970-01-06")}, 1);
    (void)load((struct snapshot_filter){.table = STR("shop.other")}, 0);
}

static void many_changes_at_once_are_each_kept(void **state)
{
    struct snapshot_change c[350];
    char ids[350][8];

    (void)state;
    begin();
    for (size_t i = 0; i < 350; i++) {
        snprintf(ids[i], sizeof(ids[i]), "%zu", i % 175);
        c[i] = a_change("update", ids[i], i < 175 ? "old" : "new");
    }
    put_at(c, 350, DAY_MS);
    (void)load((struct snapshot_filter){0}, 175);
    (void)leads(350);

    const struct stored_snapshot *page = load((struct snapshot_filter){.limit = 100}, 100);

    (void)load((struct snapshot_filter){.after_id = page[99].id}, 75);
}

static void what_comes_during_a_run_belongs_to_the_next(void **state)
{
    (void)state;
    begin();
    put("update", "7", "k");
    take("", 1);
    put("update", "7", "k");
    (void)load((struct snapshot_filter){.run = 1, .status = STR("running")}, 1);
    (void)load((struct snapshot_filter){.status = STR("init")}, 1);
    end(1);
    (void)load((struct snapshot_filter){.status = STR("done")}, 1);
    take("", 2);
    end(2); /* what was done before gives way */
    assert_int_equal(load((struct snapshot_filter){.status = STR("done")}, 1)->run, 2);
    (void)load((struct snapshot_filter){0}, 1);
}

static void a_run_takes_the_snapshots_of_its_table(void **state)
{
    (void)state;
    begin();
    put("update", "7", "k");
    take("shop.other", 1);
    (void)load((struct snapshot_filter){.status = STR("init")}, 1);
    take("shop.label", 1);
    (void)load((struct snapshot_filter){.status = STR("init")}, 0);
}

static void what_is_released_is_put_once_and_its_leads_are_forgotten(void **state)
{
    struct stored_fan_out job;

    (void)state;
    begin();
    put("update", "7", "k");
    job = leads(1)->job;
    job.source = owner.topic;
    job.table = LABEL;
    take("", 1);
    release(0, &job, 1); /* one alone: it stays as it is */
    (void)leads(1);
    release(1, &job, 1);
    release(1, &job, 1);
    (void)leads(0);
    assert_int_equal(released("shop.label"), 1);
    assert_int_equal(released(""), 1);
    assert_int_equal(released("shop.other"), 0);
    put("update", "7", "k");
    release(1, &job, 1); /* those of the next run stay */
    (void)leads(1);
}

static void one_that_is_marked_as_done_leads_nowhere_and_goes_after_its_time(void **state)
{
    bool found;
    uint64_t id;

    (void)state;
    begin();
    put("update", "7", "k");
    id = load((struct snapshot_filter){0}, 1)->id;
    ok(store_mark_snapshot(f.s, owner.topic, id, 2 * DAY_MS, &found, &f.err));
    assert_true(found);
    (void)leads(0);
    ok(store_mark_snapshot(f.s, owner.topic, id, 2 * DAY_MS, &found, &f.err));
    assert_false(found);
    put("update", "7", "k");
    ok(store_mark_snapshot(f.s, owner.topic,
                           load((struct snapshot_filter){.status = STR("init")}, 1)->id,
                           3 * DAY_MS, &found, &f.err));
    assert_true(found);
    ok(store_prune_snapshots(f.s, 3 * DAY_MS, &f.err));
    (void)load((struct snapshot_filter){0}, 1);
    ok(store_prune_snapshots(f.s, 3 * DAY_MS + 1, &f.err));
    (void)load((struct snapshot_filter){0}, 0);
}

static void leads_go_with_their_version(void **state)
{
    const struct version_name v = {STR("orders"), 1};
    struct snapshot_place *places;
    struct snapshot_count *counts;
    size_t n;

    (void)state;
    begin();
    put("update", "7", "k");
    put("update", "8", "l");
    ok(store_load_snapshot_places(f.s, f.a, STR("orders"), 1, &places, &n, &f.err));
    assert_int_equal(n, 1);
    assert_true(str_equal(places[0].member, STR("shop.orders")) && places[0].place == 1);
    ok(store_drop_versions(f.s, &v, 1, &f.err));
    (void)leads(0);
    ok(store_load_snapshot_places(f.s, f.a, STR("orders"), 1, &places, &n, &f.err));
    assert_int_equal(n, 0);
    ok(store_count_snapshots(f.s, f.a, &counts, &n, &f.err));
    assert_int_equal(n, 1);
    assert_int_equal(counts[0].n, 2);
}

static void an_earlier_owner_puts_and_takes_nothing(void **state)
{
    struct snapshot_put p;
    const struct snapshot_change c = a_change("update", "7", "k");
    uint64_t term;

    (void)state;
    begin();
    p = (struct snapshot_put){owner, LABEL, 1};
    ok(store_take_term(f.s, STR("topic/shop"), &term, &f.err));
    refused(store_put_snapshots(f.s, &p, &c, 1, &f.err), ERR_STOP);
    refused(store_take_snapshots(f.s, &owner, STR(""), 1, 1, &f.err), ERR_STOP);
    refused(store_end_snapshots(f.s, &owner, 1, 1, &f.err), ERR_STOP);
    (void)load((struct snapshot_filter){0}, 0);
}

static const struct CMUnitTest tests[] = {
    STORE_TEST(a_snapshot_comes_back_whole_with_what_it_leads_to),
    STORE_TEST(a_later_change_overwrites_but_forgets_nothing_that_the_row_led_to),
    STORE_TEST(many_changes_at_once_are_each_kept),
    STORE_TEST(what_comes_during_a_run_belongs_to_the_next),
    STORE_TEST(a_run_takes_the_snapshots_of_its_table),
    STORE_TEST(what_is_released_is_put_once_and_its_leads_are_forgotten),
    STORE_TEST(one_that_is_marked_as_done_leads_nowhere_and_goes_after_its_time),
    STORE_TEST(leads_go_with_their_version),
    STORE_TEST(an_earlier_owner_puts_and_takes_nothing),
};

const struct test_part store_snapshots = {tests, ARRAY_LEN(tests)};
