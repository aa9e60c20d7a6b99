/* What the store keeps, the same on both kinds. */
#include "config.h"

#include "tests/component/store_rig.h"

#include "src/base/buf.h"
#include "src/base/clock.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

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

static int64_t timed_tombstones(const struct stored_tombstone *t, size_t n)
{
    const int64_t start = clock_mono_ns();

    save_tombstones(t, n);
    return clock_mono_ns() - start;
}

static void a_tombstone_among_many_costs_less_than_one_alone(void **state)
{
    enum { N = 100000, ALONE = 200 };
    struct stored_tombstone *t = calloc(N, sizeof(*t));
    char(*ids)[24] = calloc(N, sizeof(*ids));
    int64_t alone_ns = 0;

    (void)state;
    for (unsigned i = 0; i < N; i++) {
        snprintf(ids[i], sizeof(ids[i]), "%u", i * 2654435761U);
        t[i] = (struct stored_tombstone){STR("orders_v1"), str_from(ids[i]), STR(""), i, i};
    }
    for (unsigned i = 0; i < ALONE; i++)
        alone_ns += timed_tombstones(&t[i], 1);

    const int64_t among_ns = timed_tombstones(t + ALONE, N - ALONE);

    assert_int_equal(count_tombstones(), N);
    assert_true(among_ns / (N - ALONE) < alone_ns / ALONE);
    ok(store_drop_tombstones(f.s, N, &f.err));
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

static size_t count_rebuilds(struct stored_rebuild **out)
{
    size_t n;

    ok(store_load_rebuilds(f.s, f.a, out, &n, &f.err));
    return n;
}

static void a_rebuild_is_wished_once_and_keeps_its_time(void **state)
{
    struct stored_rebuild wish = {STR("shop.orders"), ODD, 12}, *out;

    (void)state;
    ok(store_put_rebuild(f.s, &wish, &f.err));
    wish.at_ms = 13;
    ok(store_put_rebuild(f.s, &wish, &f.err));
    assert_int_equal(count_rebuilds(&out), 1);
    assert_int_equal(out[0].at_ms, 12);
    wish.reason = STR("another");
    ok(store_put_rebuild(f.s, &wish, &f.err));
    assert_int_equal(count_rebuilds(&out), 1);
    assert_int_equal(out[0].at_ms, 13);
    same(out[0].reason, wish.reason);
    ok(store_delete_rebuild(f.s, wish.table, &f.err));
    assert_int_equal(count_rebuilds(&out), 0);
}

static void shapes_are_kept_with_the_wish_and_go_with_their_version(void **state)
{
    const struct stored_rebuild wish = {STR("shop.orders"), STR("why"), 12};
    struct stored_version v = some_version();
    struct stored_rebuild *out;
    struct buf shapes = {0};
    bool found;

    (void)state;
    ok(store_new_version(f.s, &v, &f.err));
    ok(store_put_shapes(f.s, v.index, 1, STR("old"), NULL, &f.err));
    assert_int_equal(count_rebuilds(&out), 0);
    ok(store_put_shapes(f.s, v.index, 1, ODD, &wish, &f.err));
    assert_int_equal(count_rebuilds(&out), 1);
    reopen();
    ok(store_load_shapes(f.s, v.index, 1, &shapes, &found, &f.err));
    assert_true(found);
    same(buf_str(&shapes), ODD);
    ok(store_load_shapes(f.s, v.index, 2, &shapes, &found, &f.err));
    assert_false(found);
    ok(store_delete_version(f.s, v.index, 1, &f.err));
    ok(store_load_shapes(f.s, v.index, 1, &shapes, &found, &f.err));
    assert_false(found);
    buf_free(&shapes);
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

static void a_version_that_is_promoted_was_the_rebuild(void **state)
{
    struct stored_rebuild wish = {STR("shop.orders"), STR("why"), 12}, *out;
    struct stored_version v = some_version();
    struct stored_job job = some_job(0);
    bool changing;

    (void)state;
    ok(store_new_version(f.s, &v, &f.err));
    job.version = v.number;
    wish.table = job.table;
    ok(store_new_job(f.s, &job, &f.err));
    ok(store_put_rebuild(f.s, &wish, &f.err));
    wish.table = STR("shop.other");
    ok(store_put_rebuild(f.s, &wish, &f.err));
    ok(store_fail_version(f.s, v.index, v.number, STR("DDL"), &changing, &f.err));
    refused(store_promote_version(f.s, v.index, v.number, 77, &f.err), ERR_REJECT);
    assert_int_equal(count_rebuilds(&out), 2);
    ok(store_delete_jobs(f.s, v.index, v.number, &f.err));
    ok(store_delete_version(f.s, v.index, v.number, &f.err));
    ok(store_new_version(f.s, &v, &f.err));
    job.version = v.number;
    ok(store_new_job(f.s, &job, &f.err));
    ok(store_promote_version(f.s, v.index, v.number, 88, &f.err));
    assert_int_equal(count_rebuilds(&out), 1);
    same(out[0].table, STR("shop.other"));
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

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        STORE_TEST(terms_rise_and_the_value_is_kept),
        STORE_TEST(values_come_back_byte_for_byte),
        STORE_TEST(definitions_change_only_from_the_revision_they_were_read_at),
        STORE_TEST(a_checkpoint_comes_back_whole),
        STORE_TEST(an_older_term_writes_nothing),
        STORE_TEST(a_tombstone_keeps_the_highest_version),
        STORE_TEST(an_id_that_no_index_can_have_needs_no_tombstone),
        STORE_TEST(tombstones_are_paged_without_a_gap),
        STORE_TEST(a_tombstone_among_many_costs_less_than_one_alone),
        STORE_TEST(version_numbers_are_never_used_again),
        STORE_TEST(one_version_of_an_index_is_built_at_a_time),
        STORE_TEST(promoting_a_version_retires_the_one_before),
        STORE_TEST(a_stopped_table_keeps_its_place_and_its_way_out),
        STORE_TEST(a_rebuild_is_wished_once_and_keeps_its_time),
        STORE_TEST(shapes_are_kept_with_the_wish_and_go_with_their_version),
        STORE_TEST(a_version_that_is_promoted_was_the_rebuild),
        STORE_TEST(a_job_is_made_once_and_saved_by_its_owner),
        STORE_TEST(a_document_has_one_dead_letter),
        STORE_TEST(many_dead_letters_are_one_transaction),
        STORE_TEST(dead_letters_are_filtered_and_paged),
        STORE_TEST(a_letter_is_kept_whatever_its_size),
        STORE_TEST(the_log_gives_the_newest_first),
    };

    return store_rig_run(argc, argv, tests, ARRAY_LEN(tests), tests, ARRAY_LEN(tests));
}
