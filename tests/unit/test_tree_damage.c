/*
 * A file with any byte changed, cut anywhere or longer is refused, or has the same content.
 */
#include "config.h"

#include "tests/unit/tree_compared.h"

#include "rebalance/trees/tree_header.h"
#include "src/base/random.h"

#define KEYS 60

static struct tree *other; /* the index's, with the same content */
static struct buf whole;   /* the source's file */

static void make_source(bool closed)
{
    struct tree *t = tree_make("t", &tree_source, 1);

    for (uint64_t k = 0; k < KEYS + 10; k++)
        tree_must_put(t, k, tree_value(k));
    for (uint64_t k = KEYS; k < KEYS + 10; k++)
        tree_must_remove(t, k);
    tree_end(t, closed);
    tree_file_bytes("t", &whole);
}

static int set_up(void **state)
{
    (void)tree_folder_make(state);
    other = tree_make("other", &tree_index, 1);
    for (uint64_t k = 0; k < KEYS; k++)
        tree_must_put(other, k, tree_value(k));
    return 0;
}

static int tear_down(void **state)
{
    tree_end(other, false);
    buf_free(&whole);
    return tree_folder_remove(state);
}

/* Finds each entry, or is refused. Returns how often it was refused. */
static uint64_t look_at_all(struct tree *t, const char *how)
{
    uint64_t n_refused = 0;

    for (uint64_t k = 0; k < KEYS + 10; k++) {
        struct err err = {0};
        uint64_t hash = 0;
        bool found;

        if (!tree_find(t, tree_text(k), &found, &hash, &err)) {
            assert_int_equal(err.kind, ERR_REJECT);
            n_refused++;
        } else if (found != (k < KEYS) || (found && hash != tree_value(k))) {
            fail_msg("%s: another content was not refused", how);
        }
    }
    return n_refused;
}

/* Compares it with the other side: no difference, or refused. */
static void compare_with_other(struct tree *t, const char *how)
{
    struct tree_snapshot *s = tree_must_take(t), *i = tree_must_take(other);
    struct tree_named named;
    struct err err = {0};

    tree_named_init(&named, KEYS);
    if (!tree_compare(s, i, tree_name, &named, &err))
        assert_int_equal(err.kind, ERR_REJECT);
    if (named.n != 0)
        fail_msg("%s: a damaged file has a difference", how);
    tree_named_fini(&named);
    tree_snapshot_close(t, s);
    tree_snapshot_close(other, i);
}

/* Returns false if the bytes were refused as a whole. */
static bool try_bytes(struct str bytes, const char *how)
{
    struct tree *t = NULL;
    struct err err = {0};

    tree_file_write("t", bytes);
    if (!tree_open(&t, tree_path("t"), &tree_source, &err)) {
        assert_int_equal(err.kind, ERR_REJECT);
        return false;
    }
    compare_with_other(t, how);
    if (look_at_all(t, how) == 0) {
        assert_int_equal(tree_count(t), KEYS);
        tree_must_put(t, KEYS + 100, 1);
        assert_int_equal(tree_must_find(t, KEYS + 100), 1);
        assert_int_equal(look_at_all(t, how), 0);
    }
    tree_end(t, false);
    return true;
}

static void flip_each_byte(bool closed)
{
    struct random r;
    char how[40];

    make_source(closed);
    random_init(&r, 3);
    assert_true(try_bytes(buf_str(&whole), "whole"));
    for (size_t i = 0; i < whole.len; i++) {
        const char old = whole.ptr[i];

        if (old == 0 && i % 512 > 64 && random_below(&r, 20) != 0)
            continue; /* most of these are unused */
        whole.ptr[i] = (char)(old ^ (int)(1 + random_below(&r, 255)));
        snprintf(how, sizeof(how), "byte %zu", i);
        (void)try_bytes(buf_str(&whole), how);
        whole.ptr[i] = old;
    }
}

static void any_changed_byte_of_a_closed_file_is_seen_or_means_nothing(void **state)
{
    (void)state;
    flip_each_byte(true);
}

static void any_changed_byte_after_a_kill_is_seen_or_means_nothing(void **state)
{
    (void)state;
    flip_each_byte(false);
}

static void a_file_that_was_cut_is_refused(void **state)
{
    (void)state;
    for (int closed = 0; closed < 2; closed++) {
        make_source(closed == 1);
        for (size_t len = 0; len < whole.len; len += len % 512 == 511 ? 1 : 511)
            assert_false(try_bytes((struct str){whole.ptr, len}, "cut"));
        assert_false(try_bytes((struct str){whole.ptr, whole.len - 1}, "cut"));
    }
}

static void a_closed_file_that_became_longer_is_refused(void **state)
{
    (void)state;
    make_source(true);
    buf_append_char(&whole, '\0');
    assert_false(try_bytes(buf_str(&whole), "longer"));
    whole.ptr[whole.len - 1] = 'x';
    assert_false(try_bytes(buf_str(&whole), "longer"));
}

static void pages_of_zeros_are_no_empty_pages(void **state)
{
    (void)state;
    for (int closed = 0; closed < 2; closed++) {
        make_source(closed == 1);
        memset(whole.ptr + 2 * TREE_PAGE_SIZE, 0, TREE_PAGE_SIZE);
        tree_file_write("t", buf_str(&whole));

        struct tree *t = NULL;
        struct err err = {0};

        if (tree_open(&t, tree_path("t"), &tree_source, &err)) {
            assert_int_equal(look_at_all(t, "zeros"), KEYS + 10);
            assert_false(tree_put(t, tree_text(1), 1, &err));
            assert_int_equal(err.kind, ERR_REJECT);
            assert_false(tree_resize(t, 5, &err));
            tree_end(t, true);
        }
        assert_int_equal(err.kind, ERR_REJECT);
    }
}

static void a_changed_sum_of_a_closed_file_is_seen_at_once(void **state)
{
    (void)state;
    make_source(true);
    whole.ptr[tree_sum_at(0)] ^= 1;
    assert_false(try_bytes(buf_str(&whole), "sum"));
}

static void
after_a_kill_the_pages_and_not_the_header_say_how_many_entries_there_are(void **state)
{
    const struct tree_shape shape = tree_shape_of(1);
    struct tree_state header;
    struct err err = {0};

    (void)state;
    make_source(false);
    assert_true(tree_state_parse((uint8_t *)whole.ptr + TREE_STATE_AT, &shape, &header, &err));
    header.count = 7;
    tree_state_format((uint8_t *)whole.ptr + TREE_STATE_AT, &header);
    assert_true(try_bytes(buf_str(&whole), "count"));
}

static void a_page_of_an_earlier_time_is_refused(void **state)
{
    struct buf page = {0};
    struct err err = {0};
    struct tree *t;

    (void)state;
    make_source(true);
    buf_append(&page, (struct str){whole.ptr + 2 * TREE_PAGE_SIZE, TREE_PAGE_SIZE});
    t = tree_reopen("t", &tree_source);
    tree_must_put(t, KEYS, 1);
    tree_end(t, true);
    tree_file_bytes("t", &whole);
    memcpy(whole.ptr + 2 * TREE_PAGE_SIZE, page.ptr, TREE_PAGE_SIZE);
    tree_file_write("t", buf_str(&whole));
    buf_free(&page);
    t = tree_reopen("t", &tree_source);
    assert_false(tree_put(t, tree_text(1), 1, &err));
    assert_int_equal(err.kind, ERR_REJECT);
    tree_end(t, false);
}

/* An emptied page adds nothing to a sum, but two buckets must not share it. */
static void a_bucket_that_leads_to_the_page_of_another_is_refused(void **state)
{
    const struct tree_shape shape = tree_shape_of(20);
    struct tree *t = tree_make("t", &tree_source, 20 * 130);
    uint64_t k = 0;

    (void)state;
    assert_int_equal(tree_n_buckets(t), 20);
    for (uint64_t n = 0; n < TREE_PAGE_ENTRIES + 1; k++) {
        struct tree_id id;

        tree_id_pack(&id, tree_text(k));
        if (tree_bucket_of(id.bytes, 20) != 7)
            continue;
        tree_must_put(t, k, 1);
        n++;
    }
    tree_must_remove(t, k - 1); /* the only entry of its second page */
    tree_end(t, false);
    tree_file_bytes("t", &whole);
    store_le32(whole.ptr + (size_t)(shape.first_bucket + 8) * TREE_PAGE_SIZE + 8,
               shape.first_more);
    assert_false(try_bytes(buf_str(&whole), "next page"));
}

int main(void)
{
#define IN_FOLDER(f) cmocka_unit_test_setup_teardown(f, set_up, tear_down)
    const struct CMUnitTest tests[] = {
        IN_FOLDER(any_changed_byte_of_a_closed_file_is_seen_or_means_nothing),
        IN_FOLDER(any_changed_byte_after_a_kill_is_seen_or_means_nothing),
        IN_FOLDER(a_file_that_was_cut_is_refused),
        IN_FOLDER(a_closed_file_that_became_longer_is_refused),
        IN_FOLDER(pages_of_zeros_are_no_empty_pages),
        IN_FOLDER(a_changed_sum_of_a_closed_file_is_seen_at_once),
        IN_FOLDER(after_a_kill_the_pages_and_not_the_header_say_how_many_entries_there_are),
        IN_FOLDER(a_page_of_an_earlier_time_is_refused),
        IN_FOLDER(a_bucket_that_leads_to_the_page_of_another_is_refused),
    };

    return cmocka_run_group_tests_name("tree_damage", tests, NULL, NULL);
}
