/* Dead letters, as the store keeps them. */
#include "config.h"

#include "tests/component/store_parts.h"

#include "src/base/clock.h"
#include "src/base/thread.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void a_document_has_one_dead_letter(void **state)
{
    struct stored_dead_letter d = some_letter("7"), *out;
    struct dead_letter_filter all = {.bodies = true};
    struct dead_letter_count *counts;
    uint64_t id, deleted, n_of_index;
    size_t n;

    (void)state;
    ok(store_put_dead_letters(f.s, &d, 1, &f.err));
    ok(store_load_dead_letters(f.s, f.a, &all, &out, &n, &f.err));
    id = out[0].id;
    d.first_ms = 30;
    d.last_ms = 40;
    d.reason = STR("other");
    ok(store_put_dead_letters(f.s, &d, 1, &f.err));
    ok(store_load_dead_letters(f.s, f.a, &all, &out, &n, &f.err));
    assert_int_equal(n, 1);
    assert_int_equal(out[0].id, id);
    assert_int_equal(out[0].attempts, 4);
    assert_int_equal(out[0].first_ms, 10);
    assert_int_equal(out[0].last_ms, 40);
    assert_int_equal(out[0].status, 400);
    same(out[0].reason, STR("other"));
    same(out[0].gtid, STR("0-1-17"));
    same(out[0].body, ODD);
    all.bodies = false;
    ok(store_load_dead_letters(f.s, f.a, &all, &out, &n, &f.err));
    assert_int_equal(n, 1);
    assert_int_equal(out[0].body.len, 0);
    ok(store_n_dead_letters(f.s, d.index, &n_of_index, &f.err));
    assert_int_equal(n_of_index, 1);
    ok(store_n_dead_letters(f.s, STR("another"), &n_of_index, &f.err));
    assert_int_equal(n_of_index, 0);

    /* The same id under another routing is another document. */
    d.routing = STR("r");
    ok(store_put_dead_letters(f.s, &d, 1, &f.err));
    ok(store_count_dead_letters(f.s, f.a, &counts, &n, &f.err));
    assert_int_equal(n, 1);
    assert_int_equal(counts[0].count, 2);
    ok(store_load_dead_letters(f.s, f.a, &(struct dead_letter_filter){.doc_id = d.doc_id}, &out,
                               &n, &f.err));
    assert_int_equal(n, 2);
    ok(store_load_dead_letters(f.s, f.a, &(struct dead_letter_filter){.doc_id = STR("77")},
                               &out, &n, &f.err));
    assert_int_equal(n, 0);
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

static void *ask_for_level(void *done)
{
    uint64_t n;
    int64_t oldest;
    struct err err = {0};

    while (!__atomic_load_n((bool *)done, __ATOMIC_RELAXED))
        if (!store_dead_letter_level(f.s, &n, &oldest, &err))
            fail_msg("%s", err.msg);
    return NULL;
}

/* One connection is of one thread at a time: what one writes while another reads is kept. */
static void dead_letters_can_be_counted_while_others_write(void **state)
{
    enum { N = 500 };
    bool done = false;
    char id[8];
    uint64_t n;
    int64_t oldest;

    (void)state;

    pthread_t thread = thread_start("asks", ask_for_level, &done);

    for (size_t i = 0; i < N; i++) {
        snprintf(id, sizeof(id), "%zu", i);

        const struct stored_dead_letter d = some_letter(id);

        ok(store_put_dead_letters(f.s, &d, 1, &f.err));
    }
    __atomic_store_n(&done, true, __ATOMIC_RELAXED);
    pthread_join(thread, NULL);
    ok(store_dead_letter_level(f.s, &n, &oldest, &f.err));
    assert_int_equal(n, N);
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
        ok(store_put_dead_letters(f.s, &d, 1, &f.err));
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
    struct dead_letter_filter all = {.bodies = true};
    const size_t body_len = (size_t)80 << 20;
    char *body = malloc(body_len);
    size_t n;

    (void)state;
    memset(id, 'k', sizeof(id));
    memset(body, '"', body_len);
    d.doc_id = (struct str){id, sizeof(id)};
    d.body = (struct str){body, body_len};
    ok(store_put_dead_letters(f.s, &d, 1, &f.err));
    id[sizeof(id) - 1] = 'x';
    ok(store_put_dead_letters(f.s, &d, 1, &f.err));
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

static const struct CMUnitTest tests[] = {
    STORE_TEST(a_document_has_one_dead_letter),
    STORE_TEST(many_dead_letters_are_one_transaction),
    STORE_TEST(dead_letters_can_be_counted_while_others_write),
    STORE_TEST(dead_letters_are_filtered_and_paged),
    STORE_TEST(a_letter_is_kept_whatever_its_size),
};
const struct test_part store_letters = {tests, ARRAY_LEN(tests)};
