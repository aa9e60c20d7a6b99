/* What the store keeps, the same on both kinds: terms, positions, tombstones, the log. */
#include "config.h"

#include "tests/component/store_parts.h"

#include "src/file/seal.h"
#include "src/store/retired.h"

#include "src/base/buf.h"
#include "src/base/clock.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

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

/* Daemons that share a store and start at once agree. */
static void a_value_that_is_kept_is_that_of_whoever_came_first(void **state)
{
    struct buf first = {0}, second = {0};

    (void)state;
    ok(store_keep_value(f.s, STR("owner"), ODD, &first, &f.err));
    same(buf_str(&first), ODD);
    reopen();
    ok(store_keep_value(f.s, STR("owner"), STR("late"), &second, &f.err));
    same(buf_str(&second), ODD);
    buf_free(&first);
    buf_free(&second);
}

static bool exchange(struct str before, const char *value)
{
    bool is_done = false;

    ok(store_exchange_value(f.s, STR("exchanged"), before, str_from(value), &is_done, &f.err));
    return is_done;
}

static void a_value_is_exchanged_for_the_one_that_is_known_only(void **state)
{
    struct buf is = {0};
    bool found;

    (void)state;
    assert_false(exchange(STR("one"), "two"));
    assert_true(exchange((struct str){0}, "one"));
    assert_false(exchange((struct str){0}, "other"));
    assert_false(exchange(STR("two"), "three"));
    assert_true(exchange(STR("one"), "two"));
    assert_false(exchange(STR("one"), "three"));
    reopen();
    ok(store_get_value(f.s, STR("exchanged"), &is, &found, &f.err));
    same(buf_str(&is), STR("two"));
    ok(store_delete_value(f.s, STR("exchanged"), NULL, &f.err));
    assert_false(exchange(STR("two"), "three"));
    buf_free(&is);
}

static bool is_first(const char *prefix, const char *name, const char *value)
{
    bool is = false;

    ok(store_put_first_value(f.s, str_from(prefix), str_from(name), str_from(value), &is,
                             &f.err));
    return is;
}

static void a_value_is_the_first_of_its_prefix_once(void **state)
{
    struct stored_value *all;
    size_t n;

    (void)state;
    ok(store_put_value(f.s, STR("first"), STR("x"), &f.err));
    ok(store_put_value(f.s, STR("first0"), STR("x"), &f.err));
    assert_true(is_first("first/", "first/anna", "1"));
    reopen();
    assert_false(is_first("first/", "first/anna", "2"));
    assert_false(is_first("first/", "first/bert", "1"));
    ok(store_load_values(f.s, f.a, STR("first/"), &all, &n, &f.err));
    assert_int_equal(n, 1);
    same(all[0].name, STR("first/anna"));
    same(all[0].content, STR("1"));
    ok(store_delete_value(f.s, STR("first/anna"), NULL, &f.err));
    assert_true(is_first("first/", "first/bert", "3"));
    ok(store_delete_value(f.s, STR("first/bert"), NULL, &f.err));
    ok(store_delete_value(f.s, STR("first0"), NULL, &f.err));
}

static void definitions_change_only_from_the_revision_they_were_read_at(void **state)
{
    const struct stored_definition defs[] = {
        {STR("topic"), STR("shop"), ODD},
        {STR("table"), STR("shop.orders"), STR("{\"table\":\"shop.orders\"}")},
    };
    const struct definition_effects none = {0};
    struct stored_definition *out;
    uint64_t revision;
    size_t n;

    (void)state;
    ok(store_load_definitions(f.s, f.a, &out, &n, &revision, &f.err));
    assert_int_equal(n, 0);
    assert_int_equal(revision, 0);
    ok(store_save_definitions(f.s, 0, defs, 2, &none, &f.err));
    refused(store_save_definitions(f.s, 0, defs, 1, &none, &f.err), ERR_RETRY);
    ok(store_load_definitions(f.s, f.a, &out, &n, &revision, &f.err));
    assert_int_equal(n, 2);
    assert_int_equal(revision, 1);
    same(out[0].kind, STR("table"));
    same(out[1].body, ODD);
    ok(store_save_definitions(f.s, 1, defs, 1, &none, &f.err));
    ok(store_load_definitions(f.s, f.a, &out, &n, &revision, &f.err));
    assert_int_equal(n, 1);
    assert_int_equal(revision, 2);
}

/* The topic's server is at `at`, and its database is there too, or where `own` says. */
static void save_servers(const char *at, const char *own)
{
    struct buf topic = {0}, database = {0};
    const struct definition_effects none = {0};
    struct stored_definition *was;
    uint64_t revision;
    size_t n;

    buf_printf(&topic, "{\"name\":\"shop\",\"address\":\"%s\",\"password\":\"s3cret\"}", at);
    buf_printf(&database, "{\"name\":\"db\",\"topic\":\"shop\"%s}", own);

    const struct stored_definition defs[] = {{STR("topic"), STR("shop"), buf_str(&topic)},
                                             {STR("database"), STR("db"), buf_str(&database)}};

    ok(store_load_definitions(f.s, f.a, &was, &n, &revision, &f.err));
    ok(store_save_definitions(f.s, revision, defs, 2, &none, &f.err));
    buf_free(&topic);
    buf_free(&database);
}

static bool password_opens(void)
{
    struct stored_definition *out;
    uint64_t revision;
    size_t n;
    bool opens = false;

    ok(store_load_definitions(f.s, f.a, &out, &n, &revision, &f.err));
    for (size_t i = 0; i < n; i++)
        opens = opens || seal_body_is_open(out[i].body);
    return opens;
}

static void write_beside(const struct seal *seal, const char *sql)
{
    close_store();
    sql_beside(sql);
    ok(open_store(&f.s, &f.err));
    ok(store_set_seal(f.s, seal, &f.err));
}

static void a_password_opens_only_for_the_servers_that_it_was_sealed_for(void **state)
{
    char key[] = "/tmp/test_store_key_XXXXXX";
    struct seal *seal;

    (void)state;
    assert_non_null(mkdtemp(key));

    struct buf path = {0};

    buf_printf(&path, "%s/key", key);
    ok(seal_open(&seal, path.ptr, &f.err));
    ok(store_set_seal(f.s, seal, &f.err));
    save_servers("db1:3306", "");
    assert_true(password_opens());
    write_beside(seal, "UPDATE definition SET body = REPLACE(body, 'db1', 'db2')");
    assert_false(password_opens());
    save_servers("db2:3306", "");
    assert_true(password_opens());
    write_beside(seal, "UPDATE definition SET body = REPLACE(body, '\"topic\":\"shop\"', "
                       "'\"topic\":\"shop\",\"address\":\"db1\"') WHERE kind = 'database'");
    assert_false(password_opens());
    save_servers("db2:3306", ",\"address\":\"db1\"");
    assert_true(password_opens());
    ok(store_set_seal(f.s, NULL, &f.err));
    seal_close(seal);
    assert_int_equal(unlink(path.ptr), 0);
    assert_int_equal(rmdir(key), 0);
    buf_free(&path);
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
    assert_true(got.final_version == cp.final_version);
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
    ok(store_load_tombstones(f.s, f.a, all_of(STR("orders_v1")), 10, &out, &n, &f.err));
    assert_int_equal(n, 2);
    same(out[0].routing, STR("other"));
    same(out[1].id, ODD);
    assert_int_equal(out[1].version, 12);
    assert_int_equal(out[1].at_ms, 1200);
    ok(store_load_tombstones(f.s, f.a,
                             (struct tombstone_filter){.index = STR("orders_v1"), .id = ODD}, 1,
                             &out, &n, &f.err));
    assert_int_equal(n, 2); /* both routings, whatever the limit */
    ok(store_load_tombstones(
        f.s, f.a, (struct tombstone_filter){.index = STR("orders_v1"), .id = STR("1")}, 1, &out,
        &n, &f.err));
    assert_int_equal(n, 0);
    ok(store_drop_tombstones(f.s, 1200, &f.err));
    ok(store_load_tombstones(f.s, f.a, all_of(STR("orders_v1")), 10, &out, &n, &f.err));
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
        const struct tombstone_filter which = {.index = STR("orders_v1"), .after_id = after};

        ok(store_load_tombstones(f.s, f.a, which, 33, &out, &n, &f.err));
        total += n;
        if (n > 0)
            after = out[n - 1].id;
    } while (n >= 33);
    assert_int_equal(total, ARRAY_LEN(t));
}

/* Also those of the last id of a page, of which the page had no room. */
static void tombstones_are_found_from_a_version_on(void **state)
{
    const struct stored_tombstone t[] = {
        {STR("orders_v1"), STR("1"), STR("a"), 10, 1},
        {STR("orders_v1"), STR("1"), STR("b"), 9, 1},
        {STR("orders_v1"), STR("1"), STR("c"), 10, 1},
        {STR("orders_v1"), STR("2"), STR(""), 9, 1},
        {STR("orders_v1"), STR("3"), STR(""), 11, 1},
    };
    struct tombstone_filter which = {.index = STR("orders_v1"), .version_min = 10};
    struct stored_tombstone *out;
    size_t n;

    (void)state;
    save_tombstones(t, ARRAY_LEN(t));
    ok(store_load_tombstones(f.s, f.a, which, 1, &out, &n, &f.err));
    assert_int_equal(n, 2);
    same(out[1].routing, STR("c"));
    which.after_id = STR("1");
    ok(store_load_tombstones(f.s, f.a, which, 10, &out, &n, &f.err));
    assert_int_equal(n, 1);
    same(out[0].id, STR("3"));
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
    ok(store_load_log(f.s, f.a, &(struct stored_log_filter){STR("shop.orders"), 0, 3}, &out, &n,
                      &f.err));
    assert_int_equal(n, 3);
    assert_int_equal(out[0].at_ms, 5);
    assert_int_equal(out[2].at_ms, 3);
    same(out[0].event, STR("odd"));
    same(out[0].detail, ODD);
    ok(store_load_log(f.s, f.a, &(struct stored_log_filter){STR("shop.orders"), out[2].id, 3},
                      &out, &n, &f.err));
    assert_int_equal(n, 2);
    assert_int_equal(out[0].at_ms, 2);
    ok(store_load_log(f.s, f.a, &(struct stored_log_filter){.limit = 100}, &out, &n, &f.err));
    assert_int_equal(n, 6);
}

int main(int argc, char **argv)
{
    static const struct CMUnitTest tests[] = {
        STORE_TEST(terms_rise_and_the_value_is_kept),
        STORE_TEST(values_come_back_byte_for_byte),
        STORE_TEST(a_value_that_is_kept_is_that_of_whoever_came_first),
        STORE_TEST(a_value_is_exchanged_for_the_one_that_is_known_only),
        STORE_TEST(a_value_is_the_first_of_its_prefix_once),
        STORE_TEST(definitions_change_only_from_the_revision_they_were_read_at),
        STORE_TEST(a_password_opens_only_for_the_servers_that_it_was_sealed_for),
        STORE_TEST(a_checkpoint_comes_back_whole),
        STORE_TEST(an_older_term_writes_nothing),
        STORE_TEST(a_tombstone_keeps_the_highest_version),
        STORE_TEST(an_id_that_no_index_can_have_needs_no_tombstone),
        STORE_TEST(tombstones_are_paged_without_a_gap),
        STORE_TEST(tombstones_are_found_from_a_version_on),
        STORE_TEST(a_tombstone_among_many_costs_less_than_one_alone),
        STORE_TEST(the_log_gives_the_newest_first),
    };
    static const struct test_part own = {tests, ARRAY_LEN(tests)};
    const struct test_part *const parts[] = {&own,
                                             &store_midnights,
                                             &store_audit,
                                             &store_snapshots,
                                             &store_whole_tables,
                                             &store_build_log,
                                             &store_builds,
                                             &store_retired,
                                             &store_turns,
                                             &store_fan_outs,
                                             &store_gone,
                                             &store_kept_searches,
                                             &store_letters,
                                             &store_owned,
                                             &store_purged,
                                             &store_wishes,
                                             &store_words,
                                             &store_told,
                                             &store_followed};
    size_t n;
    struct CMUnitTest *all = join_parts(parts, ARRAY_LEN(parts), &n);
    const int failed = store_rig_run(argc, argv, all, n, all, n);

    free(all);
    return failed;
}
