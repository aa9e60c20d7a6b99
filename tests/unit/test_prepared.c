#include "config.h"

#include "tests/unit/unit.h"

#include "src/base/mem.h"
#include "src/base/random.h"
#include "sync/change/xa/prepared.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static const struct event_format format = {.version = 4};

static char *new_folder(void)
{
    char *path = mem_copy("/tmp/millrace-test.XXXXXX");

    assert_non_null(mkdtemp(path));
    return path;
}

static void remove_folder(char *path)
{
    struct buf spill = {0};

    buf_printf(&spill, "%s/spill", path);
    (void)rmdir(spill.ptr);
    assert_int_equal(rmdir(path), 0); /* so nothing is left in it */
    buf_free(&spill);
    free(path);
}

static struct prepared *new_prepared(const char *folder, size_t memory, uint64_t disk)
{
    struct buf spill = {0};

    buf_printf(&spill, "%s/spill", folder);

    struct prepared *p = prepared_new(&(struct prepared_options){
        .folder = spill.ptr, .memory_max = memory, .disk_max = disk});

    buf_free(&spill);
    return p;
}

static void keep(struct prepared *p, struct str raw)
{
    const struct event at = {.file = STR("bin.000007"), .start = 1234};
    struct err err = {0};

    assert_true(prepared_keep(p, &format, &at, raw, &err));
}

/* All events in one text, a comma behind each. */
static void read_back(const struct transaction_buffer *h, struct buf *out)
{
    struct transaction_cursor c = {0};
    struct str raw;
    struct err err = {0};
    int got;

    buf_clear(out);
    buf_append(out, STR(""));
    while ((got = transaction_buffer_next(h, &c, &raw, &err)) == 1) {
        buf_append(out, raw);
        buf_append_char(out, ',');
    }
    assert_int_equal(got, 0);
    transaction_cursor_fini(&c);
}

static void events_come_again_from_where_they_were(void **state)
{
    char *folder = new_folder();
    struct prepared *p = new_prepared(folder, 4096, 0);
    struct buf text = {0};

    (void)state;
    keep(p, STR("one"));
    keep(p, STR("two"));
    assert_int_equal(prepared_add(p, STR("x"), 7, 99), 0);

    const struct prepared_xa *xa = prepared_find(p, STR("x"));

    read_back(&xa->events, &text);
    assert_string_equal(text.ptr, "one,two,");
    assert_int_equal(xa->events.start, 1234);
    assert_true(str_equal(buf_str(&xa->events.file), STR("bin.000007")));
    assert_int_equal(xa->hold, 7);
    assert_null(prepared_find(p, STR("y")));
    prepared_remove(p, STR("x"));
    assert_null(prepared_find(p, STR("x")));
    assert_int_equal(prepared_status(p).memory, 0);
    buf_free(&text);
    prepared_free(p);
    remove_folder(folder);
}

static void what_is_too_much_for_memory_waits_on_disk(void **state)
{
    char *folder = new_folder();
    struct prepared *p = new_prepared(folder, 16, 1024);
    struct buf text = {0};

    (void)state;
    keep(p, STR("memory"));
    keep(p, STR("more than memory"));
    keep(p, STR("s"));
    (void)prepared_add(p, STR("x"), 1, 1);
    assert_int_equal(prepared_status(p).disk, 8 + 16 + 8 + 1);
    read_back(&prepared_find(p, STR("x"))->events, &text);
    assert_string_equal(text.ptr, "memory,more than memory,s,");
    prepared_remove(p, STR("x"));
    assert_int_equal(prepared_status(p).disk, 0);
    buf_free(&text);
    prepared_free(p);
    remove_folder(folder);
}

/* Flip a bit of the file that has no name. */
static void flip(const char *folder, off_t at, unsigned bit)
{
    char link[64], path[512];
    ssize_t n = 0;
    int fd, i;
    uint8_t byte;

    for (i = 3; i < 100; i++) {
        snprintf(link, sizeof(link), "/proc/self/fd/%d", i);
        n = readlink(link, path, sizeof(path) - 1);
        if (n > 0 && (size_t)n > strlen(folder) && memcmp(path, folder, strlen(folder)) == 0)
            break;
    }
    assert_true(i < 100);
    fd = open(link, O_RDWR);
    assert_true(fd >= 0);
    assert_int_equal(pread(fd, &byte, 1, at), 1);
    byte ^= (uint8_t)(1u << bit);
    assert_int_equal(pwrite(fd, &byte, 1, at), 1);
    close(fd);
}

static void f58_a_flipped_bit_of_what_waits_on_disk_is_noticed_wherever_it_is(void **state)
{
    char *folder = new_folder();
    struct prepared *p = new_prepared(folder, 0, 1024);
    struct buf text = {0};

    (void)state;
    keep(p, STR("first"));
    keep(p, STR("second"));
    (void)prepared_add(p, STR("x"), 1, 1);

    const struct transaction_buffer *h = &prepared_find(p, STR("x"))->events;

    for (unsigned i = 0; i < 8 * (8 + 5 + 8 + 6); i++) {
        struct transaction_cursor c = {0};
        struct err err = {0};
        struct str raw;
        int got;

        flip(folder, i / 8, i % 8);
        while ((got = transaction_buffer_next(h, &c, &raw, &err)) == 1)
            ;
        assert_int_equal(got, -1);
        assert_non_null(strstr(err.msg, folder));
        assert_non_null(strstr(err.msg, "fix: "));
        transaction_cursor_fini(&c);
        flip(folder, i / 8, i % 8);
    }
    read_back(h, &text);
    assert_string_equal(text.ptr, "first,second,");
    buf_free(&text);
    prepared_free(p);
    remove_folder(folder);
}

static void beyond_the_limit_of_the_disk_only_the_tables_are_known(void **state)
{
    char *folder = new_folder();
    struct prepared *p = new_prepared(folder, 8, 40);
    struct str database, table;
    size_t at = 0;

    (void)state;
    prepared_touch(p, STR("shop"), STR("orders"));
    keep(p, STR("0123456789012345678901234567"));
    prepared_touch(p, STR("shop"), STR("orders"));
    prepared_touch(p, STR("shop"), STR("item"));
    keep(p, STR("0123456789012345678901234567"));
    keep(p, STR("x"));
    (void)prepared_add(p, STR("x"), 1, 1);

    const struct prepared_xa *xa = prepared_find(p, STR("x"));

    assert_true(xa->events.cut);
    assert_int_equal(prepared_status(p).disk, 0);
    assert_true(prepared_next_table(xa, &at, &database, &table));
    assert_true(str_equal(table, STR("orders")));
    assert_true(prepared_next_table(xa, &at, &database, &table));
    assert_true(str_equal(database, STR("shop")) && str_equal(table, STR("item")));
    assert_false(prepared_next_table(xa, &at, &database, &table));
    prepared_free(p);
    remove_folder(folder);
}

/* A server that lost one in a crash may give its id to another. */
static void the_same_id_again_gives_up_the_first(void **state)
{
    char *folder = new_folder();
    struct prepared *p = new_prepared(folder, 4096, 0);
    struct buf text = {0};

    (void)state;
    keep(p, STR("first"));
    (void)prepared_add(p, STR("x"), 1, 100);
    keep(p, STR("dropped"));
    prepared_drop(p);
    keep(p, STR("second"));
    assert_int_equal(prepared_add(p, STR("x"), 2, 200), 1);
    read_back(&prepared_find(p, STR("x"))->events, &text);
    assert_string_equal(text.ptr, "second,");
    assert_int_equal(prepared_status(p).n, 1);
    assert_string_equal(prepared_status(p).oldest, "x");
    buf_free(&text);
    prepared_free(p);
    remove_folder(folder);
}

static void a_folder_that_cannot_be_made_is_named(void **state)
{
    struct prepared *p = prepared_new(&(struct prepared_options){
        .folder = "/dev/null/spill", .memory_max = 0, .disk_max = 100});
    const struct event at = {.file = STR("bin.000007")};
    struct err err = {0};

    (void)state;
    assert_false(prepared_keep(p, &format, &at, STR("event"), &err));
    assert_int_equal(err.kind, ERR_RETRY);
    assert_non_null(strstr(err.msg, "/dev/null/spill"));
    prepared_free(p);
}

/* ---- against a model ---- */

#define OPEN_MAX 8

static void append_event(struct random *r, struct prepared *p, struct buf *expected)
{
    struct buf raw = {0};

    buf_printf(&raw, "%llu", (unsigned long long)random_next(r));
    for (uint64_t n = random_below(r, 40); n > 0; n--)
        buf_append_char(&raw, 'x');
    keep(p, buf_str(&raw));
    buf_append(expected, buf_str(&raw));
    buf_append_char(expected, ',');
    buf_free(&raw);
}

static void prepare_one(struct random *r, struct prepared *p, unsigned xid,
                        struct buf *expected)
{
    char name[16];

    snprintf(name, sizeof(name), "x%u", xid);
    if (random_below(r, 6) == 0) { /* one that never was */
        struct buf ignored = {0};

        append_event(r, p, &ignored);
        prepared_drop(p);
        buf_free(&ignored);
    }
    buf_clear(expected);
    buf_append(expected, STR(""));
    for (uint64_t n = random_below(r, 12); n > 0; n--)
        append_event(r, p, expected);
    (void)prepared_add(p, str_from(name), xid + 1, 0);
}

static void any_transactions_in_any_order_come_back_whole(void **state)
{
    char *folder = new_folder();

    (void)state;
    for (uint64_t seed = 1; seed <= 100; seed++) {
        struct prepared *p = new_prepared(folder, 4096 + seed * 16, UINT64_C(1) << 20);
        struct buf expected[OPEN_MAX] = {{0}}, text = {0};
        bool open[OPEN_MAX] = {false};
        struct random r;

        random_init(&r, seed);
        for (int i = 0; i < 200; i++) {
            const unsigned xid = (unsigned)random_below(&r, OPEN_MAX);
            char name[16];

            snprintf(name, sizeof(name), "x%u", xid);
            if (!open[xid]) {
                prepare_one(&r, p, xid, &expected[xid]);
                open[xid] = true;
                continue;
            }
            read_back(&prepared_find(p, str_from(name))->events, &text);
            assert_string_equal(text.ptr, expected[xid].ptr);
            prepared_remove(p, str_from(name));
            open[xid] = false;
        }
        for (size_t i = 0; i < OPEN_MAX; i++)
            buf_free(&expected[i]);
        buf_free(&text);
        prepared_free(p);
    }
    remove_folder(folder);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(events_come_again_from_where_they_were),
        cmocka_unit_test(what_is_too_much_for_memory_waits_on_disk),
        cmocka_unit_test(f58_a_flipped_bit_of_what_waits_on_disk_is_noticed_wherever_it_is),
        cmocka_unit_test(beyond_the_limit_of_the_disk_only_the_tables_are_known),
        cmocka_unit_test(the_same_id_again_gives_up_the_first),
        cmocka_unit_test(a_folder_that_cannot_be_made_is_named),
        cmocka_unit_test(any_transactions_in_any_order_come_back_whole),
    };
    return cmocka_run_group_tests_name("prepared", tests, NULL, NULL);
}
