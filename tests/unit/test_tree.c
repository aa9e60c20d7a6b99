#include "config.h"

#include "tests/unit/tree_fixture.h"

#include "rebalance/trees/tree_header.h"

#include <signal.h>
#include <sys/resource.h>

static void a_put_is_found_until_it_is_removed(void **state)
{
    struct tree *t = tree_make("t", &tree_source, 10);

    (void)state;
    assert_int_equal(tree_must_find(t, 1), 0);
    tree_must_put(t, 1, 11);
    tree_must_put(t, 2, 22);
    assert_int_equal(tree_must_find(t, 1), 11);
    tree_must_put(t, 1, 12);
    assert_int_equal(tree_must_find(t, 1), 12);
    assert_int_equal(tree_count(t), 2);
    tree_must_remove(t, 1);
    assert_int_equal(tree_must_find(t, 1), 0);
    assert_int_equal(tree_must_find(t, 2), 22);
    assert_int_equal(tree_count(t), 1);
    tree_end(t, true);
}

static void a_replay_changes_nothing(void **state)
{
    struct tree *t = tree_make("t", &tree_source, 10);
    struct buf before = {0}, after = {0};

    (void)state;
    for (uint64_t k = 0; k < 100; k++)
        tree_must_put(t, k, tree_value(k));
    tree_must_remove(t, 50);
    tree_file_bytes("t", &before);
    for (uint64_t k = 0; k < 100; k++)
        if (k != 50)
            tree_must_put(t, k, tree_value(k));
    tree_must_remove(t, 50);
    tree_file_bytes("t", &after);
    assert_true(str_equal(buf_str(&before), buf_str(&after)));
    tree_end(t, true);
    buf_free(&before);
    buf_free(&after);
}

static void a_tree_that_was_closed_has_all_again(void **state)
{
    struct tree *t = tree_make("t", &tree_source, 1000);

    (void)state;
    for (uint64_t k = 0; k < 1000; k++)
        tree_must_put(t, k, tree_value(k));
    tree_must_note(t, 123456789012, 1700000000000);
    tree_end(t, true);
    t = tree_reopen("t", &tree_source);
    for (uint64_t k = 0; k < 1000; k++)
        assert_int_equal(tree_must_find(t, k), tree_value(k));
    assert_int_equal(tree_count(t), 1000);
    assert_int_equal(tree_note(t).position, 123456789012);
    assert_int_equal(tree_note(t).built_ms, 1700000000000);
    tree_end(t, true);
    assert_int_equal(tree_folder_files(), 1);
}

static void a_tree_grows_with_its_entries_and_keeps_its_note(void **state)
{
    struct tree *t = tree_make("t", &tree_source, 0);

    (void)state;
    assert_int_equal(tree_n_buckets(t), 1);
    tree_must_note(t, 5, 6);
    for (uint64_t k = 0; k < 50000; k++)
        tree_must_put(t, k, tree_value(k));
    assert_in_range(tree_n_buckets(t), 50000 / 147, 50000 / 147 * 2);
    for (uint64_t k = 0; k < 50000; k++)
        assert_int_equal(tree_must_find(t, k), tree_value(k));
    assert_int_equal(tree_count(t), 50000);
    assert_int_equal(tree_note(t).position, 5);
    assert_int_equal(tree_folder_files(), 1);
    tree_end(t, true);
    t = tree_reopen("t", &tree_source);
    assert_int_equal(tree_must_find(t, 49999), tree_value(49999));
    tree_end(t, false);
}

static void a_tree_takes_32_bytes_for_each_document_it_was_built_for(void **state)
{
    const uint64_t n = 300000;
    struct tree *t = tree_make("t", &tree_source, n);
    struct stat st;

    (void)state;
    for (uint64_t k = 0; k < n; k++)
        tree_must_put(t, k, tree_value(k));
    assert_int_equal(stat(tree_path("t"), &st), 0);
    assert_in_range((uint64_t)st.st_size, n * 25, n * 32);
    assert_in_range((uint64_t)st.st_blocks * 512, n * 25, n * 32);
    tree_end(t, true);
}

static void many_entries_in_one_bucket_have_further_pages(void **state)
{
    struct tree *t = tree_make("t", &tree_source, 130 * 40);
    uint64_t k = 0, n = 0;

    (void)state;
    /* Only those of one bucket of 40: three pages of them. */
    for (; n < 400; k++) {
        struct tree_id id;

        tree_id_pack(&id, tree_text(k));
        if (tree_bucket_of(id.bytes, 40) != 7)
            continue;
        tree_must_put(t, k, tree_value(k));
        n++;
    }
    assert_int_equal(tree_n_buckets(t), 40);
    tree_end(t, false);
    t = tree_reopen("t", &tree_source);
    for (uint64_t i = 0; i < k; i++) {
        const uint64_t found = tree_must_find(t, i);

        assert_true(found == 0 || found == tree_value(i));
        n -= found != 0;
        tree_must_remove(t, i);
    }
    assert_int_equal(n, 0);
    assert_int_equal(tree_count(t), 0);
    tree_must_put(t, 1, 2);
    assert_int_equal(tree_must_find(t, 1), 2);
    tree_end(t, true);
}

/* ---- what is refused ---- */

static void assert_refused(const struct tree_identity *identity, enum err_kind kind,
                           const char *why)
{
    struct err err = {0};
    struct tree *t = NULL;

    assert_false(tree_open(&t, tree_path("t"), identity, &err));
    assert_int_equal(err.kind, kind);
    assert_non_null(strstr(err.msg, tree_path("t")));
    if (strstr(err.msg, why) == NULL)
        fail_msg("\"%s\" says not \"%s\"", err.msg, why);
}

static void make_small(bool closed)
{
    struct tree *t = tree_make("t", &tree_source, 10);

    for (uint64_t k = 0; k < 10; k++)
        tree_must_put(t, k, tree_value(k));
    tree_end(t, closed);
}

static void a_file_of_something_else_is_refused(void **state)
{
    struct tree_identity other = tree_source;

    (void)state;
    assert_refused(&tree_source, ERR_REJECT, "does not exist");
    make_small(true);
    other.index = STR("shop_items");
    assert_refused(&other, ERR_REJECT, "it is the source tree of shop_orders version 3");
    other = tree_source;
    other.version = 4;
    assert_refused(&other, ERR_REJECT, "version 3");
    other = tree_source;
    other.definition = 78;
    assert_refused(&other, ERR_REJECT, "another definition");
    assert_refused(&tree_index, ERR_REJECT, "it is the source tree");
    tree_file_write("t", STR("This is a text, and no tree."));
    assert_refused(&tree_source, ERR_REJECT, "too short");
    unlink(tree_path("t"));
    assert_int_equal(mkdir(tree_path("t"), 0700), 0);
    assert_refused(&tree_source, ERR_RETRY, "cannot open");
    assert_int_equal(rmdir(tree_path("t")), 0);
    assert_int_equal(symlink("elsewhere", tree_path("t")), 0);
    assert_refused(&tree_source, ERR_RETRY, "cannot open");
    unlink(tree_path("t"));
}

static void other_bytes_are_no_tree(void **state)
{
    struct buf bytes = {0};

    (void)state;
    make_small(true);
    tree_file_bytes("t", &bytes);
    bytes.ptr[0] ^= 1;
    tree_file_write("t", buf_str(&bytes));
    assert_refused(&tree_source, ERR_REJECT, "it is not a tree");
    bytes.ptr[0] ^= 1;
    bytes.ptr[6] = 9;
    tree_file_write("t", buf_str(&bytes));
    assert_refused(&tree_source, ERR_REJECT, "format 9");
    buf_free(&bytes);
}

static void a_tree_that_is_open_is_not_opened_again(void **state)
{
    struct tree *t = tree_make("t", &tree_source, 10);

    (void)state;
    assert_refused(&tree_source, ERR_RETRY, "another one uses it");
    tree_end(t, true);
    tree_end(tree_reopen("t", &tree_source), true);
}

/* Writes the file as another boot of the machine would have left it. */
static void change_boot(void)
{
    struct buf bytes = {0};
    struct tree_state header;
    struct tree_shape shape = tree_shape_of(1);
    struct err err = {0};

    tree_file_bytes("t", &bytes);
    assert_true(tree_state_parse((uint8_t *)bytes.ptr + TREE_STATE_AT, &shape, &header, &err));
    header.boot[0] = header.boot[0] == 'a' ? 'b' : 'a';
    tree_state_format((uint8_t *)bytes.ptr + TREE_STATE_AT, &header);
    tree_file_write("t", buf_str(&bytes));
    buf_free(&bytes);
}

static void after_a_power_cut_only_a_closed_tree_is_believed(void **state)
{
    (void)state;
    make_small(true);
    change_boot();
    tree_end(tree_reopen("t", &tree_source), false);
    change_boot();
    assert_refused(&tree_source, ERR_REJECT, "the machine stopped");
}

static void a_new_tree_replaces_what_was_there(void **state)
{
    struct tree *t;

    (void)state;
    tree_file_write("t", STR("what was there"));
    tree_file_write("t.new", STR("what was begun"));
    t = tree_make("t", &tree_source, 10);
    assert_int_equal(tree_count(t), 0);
    tree_end(t, true);
    assert_int_equal(tree_folder_files(), 1);
}

static void what_a_kill_left_beside_a_tree_goes(void **state)
{
    (void)state;
    make_small(false);
    tree_file_write("t.new", STR("what was begun"));
    tree_end(tree_reopen("t", &tree_source), true);
    assert_int_equal(tree_folder_files(), 1);
    tree_file_write("t.new", STR("what was begun"));
    tree_file_write("t.kept", STR("what was kept"));
    tree_delete(tree_path("t"));
    assert_int_equal(tree_folder_files(), 0);
    tree_delete(tree_path("t"));
}

/* ---- a full disk ---- */

static void limit_file_size(uint64_t bytes)
{
    const struct rlimit limit = {.rlim_cur = bytes, .rlim_max = RLIM_INFINITY};

    signal(SIGXFSZ, SIG_IGN);
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &limit), 0);
}

static void a_full_disk_refuses_a_new_tree(void **state)
{
    struct tree *t = NULL;
    struct err err = {0};

    (void)state;
    limit_file_size(100000);
    assert_false(tree_create(&t, tree_path("t"), &tree_source, 10000, &err));
    limit_file_size(RLIM_INFINITY);
    assert_int_equal(err.kind, ERR_RETRY);
    assert_int_equal(tree_folder_files(), 0);
}

/* The tree fills the pages that it has, then refuses; nothing is lost, and later it goes on. */
/* Returns the next id from k on that is in the last bucket of 40. */
static uint64_t next_of_last(uint64_t k)
{
    struct tree_id id;

    for (;; k++) {
        tree_id_pack(&id, tree_text(k));
        if (tree_bucket_of(id.bytes, 40) == 39)
            return k;
    }
}

static void a_page_that_cannot_be_written_changes_nothing(void **state)
{
    struct tree *t = tree_make("t", &tree_source, 130 * 40);
    struct err err = {0};
    uint64_t k = 0;

    (void)state;
    for (size_t n = 0; n < TREE_PAGE_ENTRIES; n++, k++) {
        k = next_of_last(k);
        tree_must_put(t, k, tree_value(k));
    }
    limit_file_size((uint64_t)tree_shape_of(40).first_more * TREE_PAGE_SIZE);
    k = next_of_last(k);
    assert_false(tree_put(t, tree_text(k), 1, &err)); /* would begin a page */
    limit_file_size(RLIM_INFINITY);
    assert_int_equal(err.kind, ERR_RETRY);
    for (uint64_t i = next_of_last(0); i < k; i = next_of_last(i + 1))
        assert_int_equal(tree_must_find(t, i), tree_value(i));
    assert_int_equal(tree_count(t), TREE_PAGE_ENTRIES);
    tree_must_put(t, k, 1);
    assert_int_equal(tree_must_find(t, k), 1);
    tree_end(t, false);
}

static void a_full_disk_refuses_puts_and_loses_none(void **state)
{
    struct tree *t = tree_make("t", &tree_source, 0);
    struct err err = {0};
    struct stat st;
    uint64_t k = 0;

    (void)state;
    assert_int_equal(stat(tree_path("t"), &st), 0);
    limit_file_size((uint64_t)st.st_size);
    while (tree_put(t, tree_text(k), tree_value(k), &err))
        k++;
    limit_file_size(RLIM_INFINITY);
    assert_int_equal(err.kind, ERR_RETRY);
    assert_in_range(k, 2 * 163, 2 * 163 + 1); /* the bucket's page, and the spare one */
    assert_int_equal(tree_count(t), k);
    for (uint64_t i = 0; i < 5000; i++)
        tree_must_put(t, i, tree_value(i));
    assert_in_range(tree_n_buckets(t), 5000 / 163, 5000);
    tree_end(t, false);
    t = tree_reopen("t", &tree_source);
    for (uint64_t i = 0; i < 5000; i++)
        assert_int_equal(tree_must_find(t, i), tree_value(i));
    tree_end(t, true);
    assert_int_equal(tree_folder_files(), 1);
}

int main(void)
{
#define IN_FOLDER(f) cmocka_unit_test_setup_teardown(f, tree_folder_make, tree_folder_remove)
    const struct CMUnitTest tests[] = {
        IN_FOLDER(a_put_is_found_until_it_is_removed),
        IN_FOLDER(a_replay_changes_nothing),
        IN_FOLDER(a_tree_that_was_closed_has_all_again),
        IN_FOLDER(a_tree_grows_with_its_entries_and_keeps_its_note),
        IN_FOLDER(a_tree_takes_32_bytes_for_each_document_it_was_built_for),
        IN_FOLDER(many_entries_in_one_bucket_have_further_pages),
        IN_FOLDER(a_file_of_something_else_is_refused),
        IN_FOLDER(other_bytes_are_no_tree),
        IN_FOLDER(a_tree_that_is_open_is_not_opened_again),
        IN_FOLDER(after_a_power_cut_only_a_closed_tree_is_believed),
        IN_FOLDER(a_new_tree_replaces_what_was_there),
        IN_FOLDER(what_a_kill_left_beside_a_tree_goes),
        IN_FOLDER(a_full_disk_refuses_a_new_tree),
        IN_FOLDER(a_page_that_cannot_be_written_changes_nothing),
        IN_FOLDER(a_full_disk_refuses_puts_and_loses_none),
    };

    return cmocka_run_group_tests_name("tree", tests, NULL, NULL);
}
