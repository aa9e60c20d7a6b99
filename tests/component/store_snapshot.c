/* Snapshots of delayed tables, as the store keeps them. */
#include "config.h"

#include "tests/component/store_parts.h"

#include "src/base/buf.h"
#include "src/store/core.h"
#include "src/store/later/snapshot.h"
#include "src/store/retired.h"
#include "src/store/store.h"

#include <sqlite3.h>
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

static struct snapshot_run begin_run(struct snapshot_run r, bool expect_busy)
{
    bool busy;

    r.up_to = r.up_to == 0 ? UINT64_MAX >> 1 : r.up_to;
    ok(store_begin_snapshot_run(f.s, f.a, &owner, 2 * DAY_MS, &r, &busy, &f.err));
    assert_int_equal(busy, expect_busy);
    return r;
}

static struct snapshot_run take(const char *table)
{
    return begin_run((struct snapshot_run){.table = str_from(table)}, false);
}

static void end(const struct snapshot_run *r)
{
    ok(store_end_snapshot_run(f.s, &owner, r->id, 2 * DAY_MS, &f.err));
}

static void release(struct snapshot_run *r, const struct stored_fan_out *jobs, size_t n)
{
    const struct snapshot_release what = {.jobs = jobs, .n_jobs = n};

    ok(store_release_snapshots(f.s, &owner, r, &what, &f.err));
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
    struct snapshot_run r;

    (void)state;
    begin();
    put("update", "7", "k");
    r = take("");
    assert_int_equal(r.n_all, 1);
    put("update", "7", "k");
    (void)load((struct snapshot_filter){.run = r.id, .status = STR("running")}, 1);
    (void)load((struct snapshot_filter){.status = STR("init")}, 1);
    end(&r);
    (void)load((struct snapshot_filter){.status = STR("done")}, 1);
    r = take("");
    end(&r); /* what was done before gives way */
    assert_int_equal(load((struct snapshot_filter){.status = STR("done")}, 1)->run, r.id);
    (void)load((struct snapshot_filter){0}, 1);
}

static void
a_run_takes_the_snapshots_of_its_table_and_is_the_only_one_of_its_topic(void **state)
{
    struct snapshot_run r, *list;
    size_t n;

    (void)state;
    begin();
    put("update", "7", "k");
    r = take("shop.other");
    assert_int_equal(r.n_all, 0);
    (void)load((struct snapshot_filter){.status = STR("init")}, 1);
    assert_int_equal(begin_run((struct snapshot_run){.table = LABEL}, true).id, r.id);
    end(&r);
    r = take("shop.label");
    assert_int_equal(r.n_all, 1);
    (void)load((struct snapshot_filter){.status = STR("init")}, 0);
    ok(store_load_snapshot_runs(f.s, f.a, STR(""), &list, &n, &f.err));
    assert_int_equal(n, 1);
    assert_true(str_equal(list[0].table, LABEL) && str_equal(list[0].topic, owner.topic));
    ok(store_load_snapshot_runs(f.s, f.a, STR("other"), &list, &n, &f.err));
    assert_int_equal(n, 0);
}

static void a_run_takes_what_waited_when_it_was_ordered(void **state)
{
    struct snapshot_change c = a_change("update", "7", "k");
    uint64_t newest, id;

    (void)state;
    begin();
    c.lead.at_least = 20;
    put_at(&c, 1, DAY_MS);
    c.lead.at_least = 10; /* what is read again after a restart */
    put_at(&c, 1, DAY_MS);
    ok(store_newest_snapshot(f.s, owner.topic, LABEL, &id, &newest, &f.err));
    assert_int_equal(newest, 20);
    put("update", "8", "k");
    put_at(&c, 1, DAY_MS); /* one that changes all the time is taken */
    assert_int_equal(begin_run((struct snapshot_run){.up_to = id}, false).n_all, 1);
    assert_true(
        str_equal(load((struct snapshot_filter){.status = STR("init")}, 1)->row_id, STR("8")));
    ok(store_newest_snapshot(f.s, owner.topic, STR("shop.other"), &id, &newest, &f.err));
    assert_true(id == 0 && newest == 0);
}

static struct stored_fan_out job_of(const struct snapshot_lead *l)
{
    struct stored_fan_out job = l->job;

    job.source = owner.topic;
    job.table = LABEL;
    return job;
}

static void what_is_released_is_put_once_and_its_leads_are_forgotten(void **state)
{
    struct stored_fan_out job;
    struct snapshot_run r, *list;
    size_t n;

    (void)state;
    begin();
    put("update", "7", "k");
    job = job_of(leads(1));
    r = take("");
    r.level = 1;
    r.level_after = STR("x");
    release(&r, &job, 1); /* not yet behind it */
    (void)leads(1);
    r.after_id = load((struct snapshot_filter){0}, 1)->id;
    r.n_done = 1;
    release(&r, &job, 1);
    (void)leads(0);
    ok(store_load_snapshot_runs(f.s, f.a, STR(""), &list, &n, &f.err));
    assert_true(list[0].after_id == r.after_id && list[0].level == 1 && list[0].n_done == 1);
    assert_true(str_equal(list[0].level_after, STR("x")));
    assert_int_equal(released("shop.label"), 1);
    assert_int_equal(released(""), 1);
    assert_int_equal(released("shop.other"), 0);
    put("update", "7", "k");
    r.after_id = 1 << 20;
    release(&r, &job, 1); /* those of the next run stay */
    (void)leads(1);
    end(&r);
    const struct snapshot_release what = {.jobs = &job, .n_jobs = 1};

    refused(store_release_snapshots(f.s, &owner, &r, &what, &f.err), ERR_STOP);
}

static void one_alone_stays_as_it_is(void **state)
{
    struct stored_fan_out job;
    struct snapshot_run r;
    bool busy;

    (void)state;
    begin();
    put("update", "7", "k");
    job = job_of(leads(1));
    r = begin_run((struct snapshot_run){.one = leads(1)->snapshot}, false);
    assert_int_equal(r.n_all, 1);
    r.after_id = r.one;
    release(&r, &job, 1);
    end(&r);
    (void)leads(1);
    (void)load((struct snapshot_filter){.status = STR("init")}, 1);
    r = (struct snapshot_run){.one = 99};
    refused(store_begin_snapshot_run(f.s, f.a, &owner, 1, &r, &busy, &f.err), ERR_REJECT);
}

static void one_that_is_marked_as_done_leads_nowhere_and_goes_after_its_time(void **state)
{
    bool found;
    uint64_t id;

    (void)state;
    begin();
    put("update", "7", "k");
    id = load((struct snapshot_filter){0}, 1)->id;
    ok(store_mark_snapshot(f.s, owner.topic, id, 2 * DAY_MS, false, &found, &f.err));
    assert_true(found);
    (void)leads(0);
    ok(store_mark_snapshot(f.s, owner.topic, id, 2 * DAY_MS, false, &found, &f.err));
    assert_false(found);
    put("update", "7", "k");
    ok(store_mark_snapshot(f.s, owner.topic,
                           load((struct snapshot_filter){.status = STR("init")}, 1)->id,
                           3 * DAY_MS, false, &found, &f.err));
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
    assert_int_equal(counts[0].n_waiting, 2);
}

static void those_that_wait_or_are_run_are_counted_by_table(void **state)
{
    const struct snapshot_change c = a_change("update", "1", "k");
    struct snapshot_put other = {.table = STR("shop.product"), .now_ms = 3 * DAY_MS};
    struct snapshot_count *counts;
    size_t n;

    (void)state;
    begin();
    other.owner = owner;
    put("update", "7", "k");
    put("update", "8", "k");
    (void)take("shop.label");
    put_at(&c, 1, 2 * DAY_MS);
    ok(store_put_snapshots(f.s, &other, &c, 1, &f.err));
    ok(store_count_snapshots(f.s, f.a, &counts, &n, &f.err));
    assert_int_equal(n, 2);
    same(counts[0].topic, STR("shop"));
    same(counts[0].table, LABEL);
    assert_int_equal(counts[0].n_waiting, 1);
    assert_int_equal(counts[0].n_running, 2);
    assert_int_equal(counts[0].oldest_ms, 2 * DAY_MS);
    same(counts[1].table, STR("shop.product"));
    assert_int_equal(counts[1].n_waiting, 1);
    assert_int_equal(counts[1].n_running, 0);
    assert_int_equal(counts[1].oldest_ms, 3 * DAY_MS);
}

/* Three hundred times three hundred. */
static void put_very_many(void)
{
    close_store();
    sql_beside("INSERT INTO snapshot (topic, table_name, op, row_id, day, status, run, version,"
               " row_json, created_ms, updated_ms) WITH RECURSIVE n(i) AS"
               " (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i < 299)"
               " SELECT 'shop', 'shop.label', 'update', x.i * 300 + y.i, '2026-11-27', 'init',"
               " 0, 1, '', 1, 1 FROM n x, n y");
    reopen();
}

/* SQLite's cache may have 2,000 KiB; to sort them all takes 10 MiB. */
static void to_count_very_many_needs_no_memory_for_each(void **state)
{
    struct snapshot_count *counts;
    size_t n;

    (void)state;
    put_very_many();
    (void)sqlite3_memory_highwater(1);

    const sqlite3_int64 before = sqlite3_memory_used();

    ok(store_count_snapshots(f.s, f.a, &counts, &n, &f.err));
    assert_int_equal(n, 1);
    assert_int_equal(counts[0].n_waiting, 90000);
    assert_true(sqlite3_memory_highwater(0) - before < 3 << 20);
}

static void an_earlier_owner_puts_and_takes_nothing(void **state)
{
    struct snapshot_put p;
    const struct snapshot_change c = a_change("update", "7", "k");
    struct snapshot_run r = {.one = 0};
    uint64_t term;
    bool busy;

    (void)state;
    begin();
    p = (struct snapshot_put){owner, LABEL, 1};
    ok(store_take_term(f.s, STR("topic/shop"), &term, &f.err));
    refused(store_put_snapshots(f.s, &p, &c, 1, &f.err), ERR_STOP);
    refused(store_begin_snapshot_run(f.s, f.a, &owner, 1, &r, &busy, &f.err), ERR_STOP);
    refused(store_end_snapshot_run(f.s, &owner, 1, 1, &f.err), ERR_STOP);
    (void)load((struct snapshot_filter){0}, 0);
}

static size_t load_parts(struct stored_job **out)
{
    size_t n;

    ok(store_load_jobs(f.s, f.a, out, &n, &f.err));
    return n;
}

static uint64_t count_terms(void)
{
    static const char sql[] = "SELECT COUNT(*) FROM term WHERE thing LIKE 'job/%'";
    uint64_t n = 0;

    ok(store_begin(f.s, &f.err) &&
       store_end(f.s, store_select_number(f.s, sql, NO_BINDS, &n, NULL, &f.err), &f.err));
    return n;
}

static void parts_are_put_with_the_page_and_go_with_the_run(void **state)
{
    struct stored_job parts[3], *list;
    const struct snapshot_release what = {.parts = parts, .n_parts = 3};
    struct snapshot_run r;
    struct buf keys = {0};
    uint64_t term, id;
    bool taken;

    (void)state;
    begin();
    put("update", "7", "k");
    r = take("");
    for (size_t i = 0; i < 3; i++)
        parts[i] = (struct stored_job){.kind = STR(JOB_PART),
                                       .index = STR("orders"),
                                       .table = STR("shop.orders"),
                                       .version = 1,
                                       .state = STR("init"),
                                       .parameters = STR("{}"),
                                       .keys = ODD};
    parts[1].version = 2; /* there is no such version */
    r.after_id = 1;
    ok(store_release_snapshots(f.s, &owner, &r, &what, &f.err));
    assert_int_equal(load_parts(&list), 2);
    assert_int_equal(list[0].bucket, 1);
    assert_int_equal(list[1].bucket, 2);
    id = list[0].id;
    assert_int_equal(list[0].keys.len, 0); /* each list of jobs would load them */
    ok(store_load_part_keys(f.s, list[0].id, &keys, &f.err));
    same(buf_str(&keys), ODD);
    ok(store_delete_jobs(f.s, STR("orders"), 1, &f.err)); /* of builds */
    ok(store_release_snapshots(f.s, &owner, &r, &what, &f.err));
    assert_int_equal(load_parts(&list), 4);
    ok(store_take_bucket(f.s, &list[2], STR("{\"node\":\"a\"}"), &term, &taken, &f.err));
    assert_true(taken);
    ok(store_take_bucket(f.s, &list[2], STR("{\"node\":\"b\"}"), &term, &taken, &f.err));
    assert_false(taken);
    assert_int_equal(count_terms(), 1);
    end(&r);
    assert_int_equal(load_parts(&list), 0);
    assert_int_equal(count_terms(), 0);
    refused(store_load_part_keys(f.s, id, &keys, &f.err), ERR_STOP);
    buf_free(&keys);
}

static const struct CMUnitTest tests[] = {
    STORE_TEST(parts_are_put_with_the_page_and_go_with_the_run),
    STORE_TEST(a_snapshot_comes_back_whole_with_what_it_leads_to),
    STORE_TEST(a_later_change_overwrites_but_forgets_nothing_that_the_row_led_to),
    STORE_TEST(many_changes_at_once_are_each_kept),
    STORE_TEST(what_comes_during_a_run_belongs_to_the_next),
    STORE_TEST(a_run_takes_the_snapshots_of_its_table_and_is_the_only_one_of_its_topic),
    STORE_TEST(a_run_takes_what_waited_when_it_was_ordered),
    STORE_TEST(what_is_released_is_put_once_and_its_leads_are_forgotten),
    STORE_TEST(one_alone_stays_as_it_is),
    STORE_TEST(one_that_is_marked_as_done_leads_nowhere_and_goes_after_its_time),
    STORE_TEST(leads_go_with_their_version),
    STORE_TEST(those_that_wait_or_are_run_are_counted_by_table),
    STORE_TEST(to_count_very_many_needs_no_memory_for_each),
    STORE_TEST(an_earlier_owner_puts_and_takes_nothing),
};

const struct test_part store_snapshots = {tests, ARRAY_LEN(tests)};
