/* The keys of a replay, in their file. */
#include "config.h"

#include "tests/unit/unit.h"

#include "rebalance/replay/keys.h"
#include "src/base/arena.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static char folder[64];

static int make_folder(void **state)
{
    (void)state;
    snprintf(folder, sizeof(folder), "/tmp/replay-keys-XXXXXX");
    return mkdtemp(folder) == NULL;
}

static int remove_folder(void **state)
{
    (void)state;
    replay_keys_sweep(folder, NULL, 0);
    return rmdir(folder);
}

static struct replay_keys *open_keys(uint64_t job)
{
    struct replay_keys *k;
    struct err err = {0};

    if (!replay_keys_open(folder, job, &k, &err))
        fail_msg("%s", err.msg);
    return k;
}

static void add(struct replay_keys *k, const char *id, const char *routing)
{
    const struct replay_document d = {
        0, STR("shop.orders"), str_from(id), str_from(routing), {"\0k", 2}};
    struct err err = {0};

    assert_true(replay_keys_add(k, &d, &err));
}

static void save(struct replay_keys *k)
{
    struct err err = {0};

    assert_true(replay_keys_save(k, &err));
}

static uint64_t count(struct replay_keys *k)
{
    struct err err = {0};
    uint64_t n;

    assert_true(replay_keys_count(k, INT64_MAX, &n, &err));
    return n;
}

static void a_document_is_there_once_and_comes_back_whole(void **state)
{
    struct replay_keys *k = open_keys(1);
    struct arena *a = arena_new();
    struct replay_document *out;
    struct err err = {0};
    size_t n;

    (void)state;
    add(k, "1", "");
    add(k, "1", "r");
    add(k, "1", "");
    add(k, "2", "");
    save(k);
    assert_int_equal(count(k), 3);
    assert_true(replay_keys_next(k, 0, 2, a, &out, &n, &err));
    assert_int_equal(n, 2);
    assert_true(str_equal(out[1].routing, STR("r")) && str_equal(out[1].doc_id, STR("1")));
    assert_true(str_equal(out[1].member, STR("shop.orders")));
    assert_int_equal(out[1].key.len, 2);
    assert_memory_equal(out[1].key.ptr, "\0k", 2);
    assert_true(replay_keys_next(k, out[1].id, 2, a, &out, &n, &err));
    assert_int_equal(n, 1);
    assert_true(str_equal(out[0].doc_id, STR("2")));
    arena_free(a);
    replay_keys_close(k);
}

static void what_is_saved_is_there_after_a_reopen_and_the_rest_is_not(void **state)
{
    struct replay_keys *k = open_keys(2);
    struct err err = {0};
    struct buf text = {0};
    int64_t number;

    (void)state;
    add(k, "1", "");
    assert_true(replay_keys_put(k, "file", STR("binlog.000001"), &err));
    assert_true(replay_keys_put_number(k, "offset", INT64_C(1) << 40, &err));
    save(k);
    add(k, "2", "");
    assert_true(replay_keys_put_number(k, "offset", 5, &err));
    replay_keys_close(k);
    k = open_keys(2);
    assert_int_equal(count(k), 1);
    assert_true(replay_keys_get(k, "file", &text, &err));
    assert_string_equal(text.ptr, "binlog.000001");
    assert_true(replay_keys_get_number(k, "offset", &number, &err));
    assert_int_equal(number, INT64_C(1) << 40);
    add(k, "3", "");
    replay_keys_undo(k);
    assert_int_equal(count(k), 1);
    assert_true(replay_keys_get_number(k, "none", &number, &err));
    assert_int_equal(number, 0);
    assert_true(replay_keys_get(k, "none", &text, &err));
    assert_int_equal(text.len, 0);
    buf_free(&text);
    replay_keys_close(k);
}

static void related_rows_are_there_once_by_place_and_way(void **state)
{
    struct replay_keys *k = open_keys(3);
    struct arena *a = arena_new();
    struct replay_row *out, row = {0, STR("shop.orders"), 1, 0, STR("k")};
    struct err err = {0};
    size_t n;

    (void)state;
    for (int i = 0; i < 2; i++) {
        row.place = 1;
        row.by = 0;
        assert_true(replay_keys_add_row(k, &row, &err));
        row.by = 1;
        assert_true(replay_keys_add_row(k, &row, &err));
        row.place = 2;
        assert_true(replay_keys_add_row(k, &row, &err));
    }
    save(k);
    assert_true(replay_keys_next_rows(k, 0, 10, a, &out, &n, &err));
    assert_int_equal(n, 3);
    assert_int_equal(out[2].place, 2);
    assert_int_equal(out[1].by, 1);
    assert_true(str_equal(out[0].key, STR("k")));
    arena_free(a);
    replay_keys_close(k);
}

static void a_damaged_file_is_begun_anew(void **state)
{
    struct replay_keys *k = open_keys(4);
    char path[96];
    FILE *f;

    (void)state;
    add(k, "1", "");
    save(k);
    replay_keys_close(k);
    snprintf(path, sizeof(path), "%s/4.keys", folder);
    f = fopen(path, "w");
    assert_non_null(f);
    for (int i = 0; i < 5000; i++)
        fputs("no database ", f);
    assert_int_equal(fclose(f), 0);
    k = open_keys(4);
    assert_int_equal(count(k), 0);
    add(k, "2", "");
    save(k);
    assert_int_equal(count(k), 1);
    replay_keys_close(k);
}

static void files_of_jobs_that_are_over_are_swept(void **state)
{
    const uint64_t kept = 6;
    struct stat st;
    char path[96];

    (void)state;
    replay_keys_close(open_keys(5));
    replay_keys_close(open_keys(6));
    replay_keys_close(open_keys(66));
    replay_keys_sweep(folder, &kept, 1);
    snprintf(path, sizeof(path), "%s/5.keys", folder);
    assert_int_not_equal(stat(path, &st), 0);
    snprintf(path, sizeof(path), "%s/66.keys", folder);
    assert_int_not_equal(stat(path, &st), 0);
    snprintf(path, sizeof(path), "%s/6.keys", folder);
    assert_int_equal(stat(path, &st), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_document_is_there_once_and_comes_back_whole),
        cmocka_unit_test(what_is_saved_is_there_after_a_reopen_and_the_rest_is_not),
        cmocka_unit_test(related_rows_are_there_once_by_place_and_way),
        cmocka_unit_test(a_damaged_file_is_begun_anew),
        cmocka_unit_test(files_of_jobs_that_are_over_are_swept),
    };

    return cmocka_run_group_tests_name("replay_keys", tests, make_folder, remove_folder);
}
