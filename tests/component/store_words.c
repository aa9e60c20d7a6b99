/* The words of the analyzer's lists, as the store keeps them. */
#include "config.h"

#include "tests/component/store_parts.h"

#include "src/store/words/words.h"

#include <stdio.h>
#include <stdlib.h>

#define EXT  STR("ext")
#define STOP STR("stop")

static struct word_order order_of(struct str list, const struct str *words, size_t n)
{
    return (struct word_order){.list = list, .words = words, .n = n};
}

static struct words_done add(struct str list, const char *word, bool publish)
{
    const struct str w = str_from(word);
    struct word_order o = order_of(list, &w, 1);
    struct words_done done;

    o.publish = publish;
    ok(store_add_words(f.s, &o, &done, &f.err));
    return done;
}

static struct stored_word *load(const struct word_filter *which, size_t n_expected)
{
    struct word_filter filter = *which;
    struct stored_word *out;
    size_t n;

    if (filter.limit == 0)
        filter.limit = 100;
    ok(store_load_words(f.s, f.a, &filter, &out, &n, &f.err));
    assert_int_equal(n, n_expected);
    return out;
}

static struct stored_word_list list_of(struct str list)
{
    struct stored_word_list out;

    ok(store_load_word_list(f.s, list, &out, &f.err));
    return out;
}

static void refused_with(bool done, int status)
{
    refused(done, ERR_REJECT);
    assert_int_equal(f.err.code, status);
}

static void words_are_of_a_list_and_come_in_the_order_of_their_bytes(void **state)
{
    const struct stored_word *out;

    (void)state;
    add(EXT, "zebra", false);
    add(EXT, "\xe9\xbe\x99\xe4\xba\x95", true);
    add(EXT, "Zebra", false);
    add(EXT, "zebra ", false); /* another word, whatever a collation says */
    add(STOP, "zebra", true);
    reopen();
    out = load(&(struct word_filter){0}, 5);
    same(out[0].word, STR("Zebra"));
    same(out[1].word, STR("zebra"));
    same(out[2].word, STR("zebra "));
    same(out[3].word, STR("\xe9\xbe\x99\xe4\xba\x95"));
    same(out[4].list, STOP);
    assert_true(out[0].added_ms > 0);
    assert_int_equal(out[0].published_ms, 0);
    assert_true(out[3].published_ms >= out[3].added_ms);
}

static void words_are_found_by_state_and_by_part_and_page_by_page(void **state)
{
    const struct stored_word *out;

    (void)state;
    add(EXT, "aa", true);
    add(EXT, "ab", false);
    add(EXT, "b", false);
    add(STOP, "aa", false);
    (void)load(&(struct word_filter){.only_new = true}, 3);
    (void)load(&(struct word_filter){.only_published = true}, 1);
    (void)load(&(struct word_filter){.list = EXT, .part = STR("b")}, 2);
    (void)load(&(struct word_filter){.word = STR("aa")}, 2);
    out = load(&(struct word_filter){.limit = 2}, 2);
    out = load(
        &(struct word_filter){.after_list = out[1].list, .after_word = out[1].word, .limit = 9},
        2);
    same(out[0].word, STR("b"));
    same(out[1].list, STOP);
}

static void a_list_changes_only_with_what_is_published_of_it(void **state)
{
    struct stored_word_list was, now;
    struct words_done done;
    const struct str a = STR("a");
    const struct word_order one = order_of(EXT, &a, 1), all = order_of(EXT, NULL, 0);

    (void)state;
    assert_int_equal(list_of(EXT).turn, 0);
    assert_int_equal(list_of(EXT).changed_ms, 0);
    assert_int_equal(add(EXT, "a", false).n_added, 1);
    add(EXT, "b", false);
    assert_int_equal(list_of(EXT).turn, 0);
    ok(store_publish_words(f.s, &one, &done, &f.err));
    assert_int_equal(done.n_published, 1);
    was = list_of(EXT);
    assert_int_equal(was.turn, 1);
    assert_true(was.changed_ms > 0);
    assert_int_equal(was.n_new, 1);
    assert_int_equal(was.n_published, 1);
    ok(store_publish_words(f.s, &one, &done, &f.err)); /* once more */
    assert_int_equal(done.n_published, 0);
    assert_int_equal(list_of(EXT).turn, 1);
    ok(store_publish_words(f.s, &all, &done, &f.err));
    assert_int_equal(done.n_published, 1);
    assert_int_equal(list_of(EXT).turn, 2);
    ok(store_delete_words(f.s, &one, &done, &f.err));
    assert_int_equal(done.n_deleted, 1);
    ok(store_load_word_turn(f.s, EXT, &now, &f.err));
    assert_int_equal(now.turn, 3);
    assert_true(now.changed_ms >= was.changed_ms);
    assert_int_equal(list_of(STOP).turn, 0);
}

static void a_word_that_is_there_is_not_added_again(void **state)
{
    struct words_done done;

    (void)state;
    add(EXT, "a", false);
    done = add(EXT, "a", false);
    assert_int_equal(done.n_added, 0);
    done = add(EXT, "a", true);
    assert_int_equal(done.n_added, 0);
    assert_int_equal(done.n_published, 1);
    done = add(EXT, "a", false); /* which takes nothing back */
    assert_int_equal(list_of(EXT).n_published, 1);
    assert_int_equal(list_of(EXT).turn, 1);
}

static void a_new_word_can_be_changed_and_a_published_one_only_deleted(void **state)
{
    (void)state;
    add(EXT, "a", false);
    add(EXT, "b", true);
    ok(store_change_word(f.s, EXT, STR("a"), STR("c"), false, &f.err));
    same(load(&(struct word_filter){.only_new = true}, 1)->word, STR("c"));
    refused_with(store_change_word(f.s, EXT, STR("a"), STR("d"), false, &f.err), 404);
    refused_with(store_change_word(f.s, EXT, STR("b"), STR("d"), false, &f.err), 409);
    refused_with(store_change_word(f.s, EXT, STR("c"), STR("b"), false, &f.err), 409);
}

static void of_several_words_all_or_none_are_published_or_deleted(void **state)
{
    const struct str words[] = {STR("a"), STR("none")};
    const struct word_order o = order_of(EXT, words, 2);
    struct words_done done;

    (void)state;
    add(EXT, "a", false);
    refused_with(store_publish_words(f.s, &o, &done, &f.err), 404);
    assert_int_equal(list_of(EXT).n_published, 0);
    refused_with(store_delete_words(f.s, &o, &done, &f.err), 404);
    assert_int_equal(list_of(EXT).n_new, 1);
}

static void a_hundred_thousand_words_are_one_change(void **state)
{
    enum { N = 100000 };
    struct str *words = calloc(N, sizeof(*words)), *out;
    char(*texts)[16] = calloc(N, sizeof(*texts));
    struct stored_word_list at;
    struct words_done done;
    size_t n;

    (void)state;
    for (size_t i = 0; i < N; i++) {
        snprintf(texts[i], sizeof(texts[i]), "word%06zu", N - i);
        words[i] = str_from(texts[i]);
    }

    const struct word_order o = {.list = EXT, .words = words, .n = N, .publish = true};

    ok(store_add_words(f.s, &o, &done, &f.err));
    assert_int_equal(done.n_added, N);
    assert_int_equal(done.n_published, N);
    ok(store_load_published(f.s, f.a, EXT, &at, &out, &n, &f.err));
    assert_int_equal(n, N);
    assert_int_equal(at.turn, 1);
    same(out[0], STR("word000001"));
    same(out[N - 1], STR("word100000"));
    free(words);
    free(texts);
}

static const struct CMUnitTest tests[] = {
    STORE_TEST(words_are_of_a_list_and_come_in_the_order_of_their_bytes),
    STORE_TEST(words_are_found_by_state_and_by_part_and_page_by_page),
    STORE_TEST(a_list_changes_only_with_what_is_published_of_it),
    STORE_TEST(a_word_that_is_there_is_not_added_again),
    STORE_TEST(a_new_word_can_be_changed_and_a_published_one_only_deleted),
    STORE_TEST(of_several_words_all_or_none_are_published_or_deleted),
    STORE_TEST(a_hundred_thousand_words_are_one_change),
};
const struct test_part store_words = {tests, ARRAY_LEN(tests)};
