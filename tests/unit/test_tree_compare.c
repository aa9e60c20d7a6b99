#include "config.h"

#include "tests/unit/tree_compared.h"

#include "src/base/random.h"
#include "src/base/thread.h"

#define N 3000

static struct tree *source, *indexed;

static void make_both(uint64_t n_source, uint64_t n_index)
{
    source = tree_make("source", &tree_source, n_source);
    indexed = tree_make("index", &tree_index, n_index);
    for (uint64_t k = 0; k < N; k++) {
        tree_must_put(source, k, tree_value(k));
        tree_must_put(indexed, N - 1 - k, tree_value(N - 1 - k));
    }
}

static void end_both(void)
{
    tree_end(source, true);
    tree_end(indexed, true);
    assert_int_equal(tree_folder_files(), 2);
}

/* Takes snapshots and compares them. */
static void compare(struct tree_named *named)
{
    struct tree_snapshot *s = tree_must_take(source), *i = tree_must_take(indexed);
    struct err err = {0};

    if (!tree_compare(s, i, tree_name, named, &err))
        fail_msg("%s", err.msg);
    tree_snapshot_close(source, s);
    tree_snapshot_close(indexed, i);
    assert_int_equal(named->n_unknown, 0);
}

static void change_some(void)
{
    tree_must_remove(indexed, 10);
    tree_must_remove(source, 11);
    tree_must_put(indexed, 12, 5);
    tree_must_put(source, 13, TREE_READ_AGAIN);
    tree_must_put(indexed, 14, TREE_READ_AGAIN);
    tree_must_put(source, 15, TREE_READ_AGAIN);
    tree_must_put(indexed, 15, TREE_READ_AGAIN);
    tree_must_put(source, 16, TREE_READ_AGAIN);
    tree_must_remove(indexed, 16);
}

static void assert_some_named(const struct tree_named *named)
{
    static const uint8_t expected[] = {TREE_EQUAL,     TREE_MISSING, TREE_EXTRA,
                                       TREE_DIFFERENT, TREE_UNREAD,  TREE_UNREAD,
                                       TREE_UNREAD,    TREE_MISSING, TREE_EQUAL};

    for (uint64_t i = 0; i < ARRAY_LEN(expected); i++)
        assert_int_equal(named->what[9 + i], expected[i]);
    assert_int_equal(named->n, 7);
}

static void equal_trees_have_no_difference(void **state)
{
    struct tree_named named;

    (void)state;
    make_both(N, N);
    assert_int_equal(tree_n_buckets(source), tree_n_buckets(indexed));
    tree_named_init(&named, N);
    compare(&named);
    assert_int_equal(named.n, 0);
    tree_named_fini(&named);
    end_both();
}

static void what_differs_is_named_and_nothing_else(void **state)
{
    struct tree_named named;

    (void)state;
    make_both(N, N);
    change_some();
    tree_named_init(&named, N);
    compare(&named);
    assert_some_named(&named);
    tree_named_fini(&named);
    end_both();
}

static void trees_of_other_sizes_are_compared_entry_by_entry(void **state)
{
    static const uint64_t sizes[][2] = {{N, 4 * N}, {7 * N, N}, {N, N + 400}, {N, 500 * N}};

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(sizes); i++) {
        struct tree_named named;

        make_both(sizes[i][0], sizes[i][1]);
        assert_int_not_equal(tree_n_buckets(source), tree_n_buckets(indexed));
        tree_named_init(&named, N);
        compare(&named);
        assert_int_equal(named.n, 0);
        change_some();
        compare(&named);
        assert_some_named(&named);
        tree_named_fini(&named);
        end_both();
    }
}

static void a_resized_tree_is_the_same(void **state)
{
    struct tree_named named;
    struct err err = {0};

    (void)state;
    make_both(N, 3 * N);
    assert_true(tree_resize(source, tree_n_buckets(indexed), &err));
    assert_int_equal(tree_n_buckets(source), tree_n_buckets(indexed));
    change_some();
    tree_named_init(&named, N);
    compare(&named);
    assert_some_named(&named);
    tree_named_fini(&named);
    end_both();
}

static void a_hashed_id_is_found_by_a_pass(void **state)
{
    struct tree_named named;
    struct buf text = {0};

    (void)state;
    make_both(N, N);
    tree_must_remove(indexed, 5); /* "a longer name ..." */
    tree_named_init(&named, N);
    compare(&named);
    assert_int_equal(named.what[5], TREE_MISSING);
    assert_false(tree_id_unpack(&named.ids[5], &text));
    for (uint64_t k = 0; k < N; k++)
        assert_int_equal(tree_id_is_of(&named.ids[5], tree_text(k)), k == 5);
    tree_named_fini(&named);
    buf_free(&text);
    end_both();
}

/* ---- snapshots ---- */

static void a_snapshot_does_not_see_what_comes_after_it(void **state)
{
    struct tree_snapshot *s, *i;
    struct tree_named named;
    struct err err = {0};

    (void)state;
    make_both(N, N);
    change_some();
    s = tree_must_take(source);
    for (uint64_t k = 0; k < 4 * N; k += 2) { /* and it grows */
        tree_must_put(source, k, 1);
        tree_must_remove(source, k + 1);
    }
    i = tree_must_take(indexed);
    for (uint64_t k = 0; k < N; k++)
        tree_must_remove(indexed, k);
    tree_named_init(&named, N);
    assert_true(tree_compare(s, i, tree_name, &named, &err));
    assert_some_named(&named);
    assert_int_equal(named.n_unknown, 0);
    tree_snapshot_close(indexed, i);
    tree_snapshot_close(source, s);
    tree_named_fini(&named);
    end_both();
}

static void a_tree_has_one_snapshot_at_a_time(void **state)
{
    struct tree_snapshot *s, *second = NULL;
    struct err err = {0};

    (void)state;
    make_both(N, N);
    s = tree_must_take(source);
    assert_false(tree_snapshot_take(source, &second, &err));
    assert_int_equal(err.kind, ERR_RETRY);
    tree_snapshot_close(source, s);
    tree_snapshot_close(source, NULL);
    s = tree_must_take(source);
    tree_snapshot_close(source, s);
    end_both();
}

struct compare_call {
    struct tree_snapshot *source, *index;
    struct tree_named named;
    struct err err;
    bool ok, is_over; /* is_over: atomic */
};

static void *run_compare(void *arg)
{
    struct compare_call *call = arg;

    call->ok = tree_compare(call->source, call->index, tree_name, &call->named, &call->err);
    __atomic_store_n(&call->is_over, true, __ATOMIC_RELEASE);
    return NULL;
}

static void puts_go_on_while_another_thread_compares(void **state)
{
    struct random r;

    (void)state;
    print_message("seed 11\n");
    random_init(&r, 11);
    make_both(N, N);
    change_some();
    for (int round = 0; round < 50; round++) {
        struct compare_call call = {.source = tree_must_take(source),
                                    .index = tree_must_take(indexed)};
        pthread_t thread;

        tree_named_init(&call.named, N);
        thread = thread_start("compare", run_compare, &call);
        while (!__atomic_load_n(&call.is_over, __ATOMIC_ACQUIRE)) {
            const uint64_t k = random_below(&r, N);

            tree_must_put(source, k, random_next(&r));
            tree_must_remove(indexed, k);
        }
        pthread_join(thread, NULL);
        if (!call.ok)
            fail_msg("%s", call.err.msg);
        assert_some_named(&call.named);
        tree_snapshot_close(source, call.source);
        tree_snapshot_close(indexed, call.index);
        tree_named_fini(&call.named);
        for (uint64_t k = 0; k < N; k++) {
            tree_must_put(source, k, tree_value(k));
            tree_must_put(indexed, k, tree_value(k));
        }
        change_some();
    }
    end_both();
}

/* Takes a snapshot whose changed buckets go to a disk that is full. */
static struct tree_snapshot *take_without_room(void)
{
    const int full = open("/dev/full", O_RDWR | O_CLOEXEC);
    const int next = dup(full); /* the lowest that is free: the snapshot's file gets it */
    struct tree_snapshot *s;

    assert_true(full >= 0 && next >= 0);
    close(next);
    s = tree_must_take(source);
    assert_int_equal(dup2(full, next), next);
    close(full);
    return s;
}

static void a_full_disk_loses_the_snapshot_and_no_put(void **state)
{
    struct tree_snapshot *s, *i;
    struct tree_named named;
    struct err err = {0};

    (void)state;
    make_both(N, N);
    change_some();
    s = take_without_room();
    i = tree_must_take(indexed);
    for (uint64_t k = 0; k < N; k++)
        tree_must_put(source, k, 1);
    tree_must_put(indexed, 0, 2);
    tree_named_init(&named, N);
    assert_false(tree_compare(s, i, tree_name, &named, &err));
    assert_int_equal(err.kind, ERR_RETRY);
    tree_snapshot_close(source, s);
    tree_snapshot_close(indexed, i);
    for (uint64_t k = 0; k < N; k++)
        assert_int_equal(tree_must_find(source, k), 1);
    tree_named_fini(&named);
    end_both();
}

/* ---- what is refused ---- */

static void a_comparison_ends_when_its_caller_says_so(void **state)
{
    struct tree_snapshot *s, *i;
    struct tree_named named;
    struct err err = {0};

    (void)state;
    make_both(N, N);
    change_some();
    s = tree_must_take(source);
    i = tree_must_take(indexed);
    tree_named_init(&named, N);
    named.stop_after = 3;
    assert_false(tree_compare(s, i, tree_name, &named, &err));
    assert_int_equal(err.kind, ERR_STOP);
    assert_int_equal(named.n, 3);
    tree_snapshot_close(source, s);
    tree_snapshot_close(indexed, i);
    tree_named_fini(&named);
    end_both();
}

static void only_the_two_sides_of_one_version_are_compared(void **state)
{
    struct tree_identity next = tree_index;
    struct tree_snapshot *s, *i, *o;
    struct tree *other;
    struct tree_named named;
    struct err err = {0};

    (void)state;
    next.version++;
    make_both(N, N);
    other = tree_make("other", &next, N);
    s = tree_must_take(source);
    i = tree_must_take(indexed);
    o = tree_must_take(other);
    tree_named_init(&named, N);
    assert_false(tree_compare(s, o, tree_name, &named, &err));
    assert_int_equal(err.kind, ERR_REJECT);
    assert_false(tree_compare(i, s, tree_name, &named, &err));
    assert_false(tree_compare(s, s, tree_name, &named, &err));
    assert_int_equal(named.n, 0);
    tree_snapshot_close(source, s);
    tree_snapshot_close(indexed, i);
    tree_snapshot_close(other, o);
    tree_end(other, false);
    unlink(tree_path("other"));
    tree_named_fini(&named);
    end_both();
}

int main(void)
{
#define IN_FOLDER(f) cmocka_unit_test_setup_teardown(f, tree_folder_make, tree_folder_remove)
    const struct CMUnitTest tests[] = {
        IN_FOLDER(equal_trees_have_no_difference),
        IN_FOLDER(what_differs_is_named_and_nothing_else),
        IN_FOLDER(trees_of_other_sizes_are_compared_entry_by_entry),
        IN_FOLDER(a_resized_tree_is_the_same),
        IN_FOLDER(a_hashed_id_is_found_by_a_pass),
        IN_FOLDER(a_snapshot_does_not_see_what_comes_after_it),
        IN_FOLDER(a_tree_has_one_snapshot_at_a_time),
        IN_FOLDER(puts_go_on_while_another_thread_compares),
        IN_FOLDER(a_full_disk_loses_the_snapshot_and_no_put),
        IN_FOLDER(a_comparison_ends_when_its_caller_says_so),
        IN_FOLDER(only_the_two_sides_of_one_version_are_compared),
    };

    return cmocka_run_group_tests_name("tree_compare", tests, NULL, NULL);
}
