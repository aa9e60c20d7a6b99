/*
 * A process that is killed loses no put that returned: a child that is killed at any moment,
 * and files as a kill between any two writes of a change would leave them.
 */
#include "config.h"

#include "tests/unit/tree_fixture.h"

#include "rebalance/trees/tree_header.h"
#include "src/base/random.h"

#include <sched.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/wait.h>

/* ---- a child ---- */

#define ROUNDS 30
#define BEFORE 2000 /* the most puts of a child before it is killed */

/* Puts from k on, and says so after each, until it is killed. Every tenth one before is
 * removed. */
static void put_for_ever(uint64_t k, uint64_t *n_done)
{
    struct tree *t = tree_reopen("t", &tree_source);

    for (;; k++) {
        tree_must_put(t, k, tree_value(k));
        if (k % 10 == 9)
            tree_must_remove(t, k - 9);
        __atomic_store_n(n_done, k + 1, __ATOMIC_RELEASE);
    }
}

/* Starts the child, and kills it once it has put enough. */
static void kill_child_after(uint64_t *n_done, uint64_t enough)
{
    const uint64_t start = *n_done;
    const pid_t pid = fork();
    int status;

    assert_true(pid >= 0);
    if (pid == 0) {
        put_for_ever(start, n_done);
        _exit(1);
    }
    while (__atomic_load_n(n_done, __ATOMIC_ACQUIRE) < start + enough) {
        assert_int_equal(waitpid(pid, &status, WNOHANG), 0);
        sched_yield();
    }
    kill(pid, SIGKILL);
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_true(WIFSIGNALED(status));
}

static void assert_has_all(uint64_t n_done)
{
    struct tree *t = tree_reopen("t", &tree_source);
    uint64_t n_later = 0;

    for (uint64_t k = 0; k < n_done; k++) {
        const bool is_removed = k % 10 == 0 && k + 9 < n_done;
        const uint64_t found = tree_must_find(t, k);

        /* The last removal may be done though its call has not returned. */
        if (k % 10 == 0 && k + 9 == n_done)
            assert_true(found == 0 || found == tree_value(k));
        else
            assert_int_equal(found, is_removed ? 0 : tree_value(k));
    }
    for (uint64_t k = n_done; k < n_done + 5; k++)
        n_later += tree_must_find(t, k) != 0;
    assert_in_range(n_later, 0, 1);
    tree_end(t, false);
}

static void a_killed_process_loses_no_put_that_returned(void **state)
{
    uint64_t *n_done =
        mmap(NULL, sizeof(*n_done), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    const uint64_t seed = 5;
    struct random r;

    (void)state;
    assert_true(n_done != MAP_FAILED);
    print_message("seed %d\n", (int)seed);
    random_init(&r, seed);
    tree_end(tree_make("t", &tree_source, 0), false);
    for (int round = 0; round < ROUNDS; round++) {
        kill_child_after(n_done, 1 + random_below(&r, BEFORE));
        assert_has_all(*n_done);
    }
    munmap(n_done, sizeof(*n_done));
}

/* ---- between any two writes ---- */

#define KEYS 700

/* Of one bucket of two, so that pages fill without the tree growing. */
static uint64_t ks[KEYS];

static void choose_keys(void)
{
    size_t n = 0;

    for (uint64_t k = 0; n < KEYS; k++) {
        struct tree_id id;

        tree_id_pack(&id, tree_text(k));
        if (tree_bucket_of(id.bytes, 2) == 1)
            ks[n++] = k;
    }
}

struct content {
    uint64_t count, position;
    uint64_t hashes[KEYS];
};

static void read_content(struct content *out)
{
    struct tree *t = tree_reopen("t", &tree_source);

    out->count = tree_count(t);
    out->position = tree_note(t).position;
    for (size_t i = 0; i < KEYS; i++)
        out->hashes[i] = tree_must_find(t, ks[i]);
    tree_end(t, false);
}

static void assert_content(struct str bytes, const struct content *expected)
{
    struct content found;

    tree_file_write("t", bytes);
    read_content(&found);
    if (memcmp(&found, expected, sizeof(found)) != 0)
        fail_msg("a kill between two writes left something else");
}

static void make_change(struct tree *t, int which)
{
    switch (which) {
    case 0: tree_must_put(t, ks[0], 1234); break; /* replaces */
    case 1: tree_must_put(t, ks[200], 5); break;  /* inserts */
    case 2: tree_must_remove(t, ks[3]); break;    /* moves the last one */
    case 3: tree_must_note(t, 99, 1); break;
    case 4: tree_must_put(t, ks[200], TREE_READ_AGAIN + 7); break;
    }
}

static bool differs(const struct buf *before, const struct buf *after, size_t at)
{
    return memcmp(before->ptr + at, after->ptr + at, TREE_PAGE_SIZE) != 0;
}

/*
 * Writes the changed pages one by one as a change does, the last page of the file first. Only
 * the last one written makes the change. Returns how many there were.
 */
static size_t cut_change(const struct buf *before, const struct buf *after)
{
    struct content old, new;
    struct buf mixed = {0};
    size_t n = 0, n_left = 0;

    tree_file_write("t", buf_str(before));
    read_content(&old);
    tree_file_write("t", buf_str(after));
    read_content(&new);
    buf_append(&mixed, buf_str(before));
    for (size_t at = 0; at < before->len; at += TREE_PAGE_SIZE)
        n_left += differs(before, after, at);
    for (size_t at = before->len; at > 0; at -= TREE_PAGE_SIZE) {
        if (!differs(before, after, at - TREE_PAGE_SIZE))
            continue;
        memcpy(mixed.ptr + at - TREE_PAGE_SIZE, after->ptr + at - TREE_PAGE_SIZE,
               TREE_PAGE_SIZE);
        assert_content(buf_str(&mixed), ++n == n_left ? &new : &old);
    }
    buf_free(&mixed);
    return n;
}

/* n: puts before the change. Returns how many writes it has. */
static size_t cut(uint64_t n, int which)
{
    struct tree *t = tree_make("t", &tree_source, 200);
    struct buf before = {0}, after = {0};

    assert_int_equal(tree_n_buckets(t), 2);
    for (size_t i = 0; i < n; i++)
        tree_must_put(t, ks[i], tree_value(ks[i]));
    tree_file_bytes("t", &before);
    make_change(t, which);
    tree_file_bytes("t", &after);
    assert_int_equal(tree_n_buckets(t), 2);
    tree_end(t, false);
    assert_int_equal(before.len, after.len);

    const size_t n_writes = cut_change(&before, &after);

    buf_free(&before);
    buf_free(&after);
    return n_writes;
}

static void a_change_is_whole_wherever_it_was_cut(void **state)
{
    (void)state;
    choose_keys();
    for (int which = 0; which < 5; which++)
        assert_int_equal(cut(100, which), 1);
    assert_int_equal(cut(163, 1), 2); /* begins a page */
    assert_int_equal(cut(170, 2), 1); /* of a full page */
}

static void a_file_that_was_being_extended_is_as_before(void **state)
{
    struct content old, new;
    struct buf bytes = {0};
    struct tree *t = tree_make("t", &tree_source, 200);

    (void)state;
    choose_keys();
    for (size_t i = 0; i < 100; i++)
        tree_must_put(t, ks[i], tree_value(ks[i]));
    tree_file_bytes("t", &bytes);
    tree_end(t, false);
    read_content(&old);
    for (size_t i = 0; i < 3 * TREE_PAGE_SIZE + 7; i++)
        buf_append_char(&bytes, i < TREE_PAGE_SIZE ? 'x' : '\0');
    tree_file_write("t", buf_str(&bytes));
    read_content(&new);
    assert_memory_equal(&old, &new, sizeof(old));
    tree_end(tree_reopen("t", &tree_source), true);
    read_content(&new); /* it is not too long either */
    assert_memory_equal(&old, &new, sizeof(old));
    buf_free(&bytes);
}

int main(void)
{
#define IN_FOLDER(f) cmocka_unit_test_setup_teardown(f, tree_folder_make, tree_folder_remove)
    const struct CMUnitTest tests[] = {
        IN_FOLDER(a_killed_process_loses_no_put_that_returned),
        IN_FOLDER(a_change_is_whole_wherever_it_was_cut),
        IN_FOLDER(a_file_that_was_being_extended_is_as_before),
    };

    return cmocka_run_group_tests_name("tree_kill", tests, NULL, NULL);
}
