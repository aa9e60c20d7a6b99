/* Pages of lists. */
#include "config.h"

#include "tests/unit/unit.h"

#include "src/base/buf.h"
#include "src/format/json.h"
#include "web/list/list_page.h"
#include "web/operation/operation.h"
#include "web/routes.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define ROWS 200 /* that a list may have, by number */

/* A small generator, so that each run does the same. */
static unsigned random_number(unsigned n)
{
    static uint64_t state = 20261129;

    state = state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (unsigned)(state >> 33) % n;
}

/* The answer that has the rows, in an order of its own. */
static void write_list(struct buf *out, const char *schema, const bool rows[ROWS])
{
    struct json_writer w = {.out = out};
    const size_t begin = random_number(ROWS);

    json_open_object(&w);
    json_put_cstr(&w, STR("schema"), schema);
    json_write_key(&w, STR("items"));
    json_open_array(&w);
    for (size_t k = 0; k < ROWS; k++) {
        const size_t i = (begin + k) % ROWS;
        char name[32];

        if (!rows[i])
            continue;
        snprintf(name, sizeof(name), "orders\"%zu", i / 20);
        json_open_object(&w);
        json_put_string(&w, STR("name"), str_from(name));
        json_put_string(&w, STR("index"), str_from(name));
        json_put_u64(&w, STR("version"), i);
        json_put_u64(&w, STR("id"), i);
        json_close_object(&w);
    }
    json_close_array(&w);
    json_put_u64(&w, STR("revision"), 7);
    json_close_object(&w);
}

/* Note what a page has, and read the name of the next one. */
static void read_page(struct str json, unsigned seen[ROWS], size_t *n, struct buf *next)
{
    struct json_reader r;
    struct str array, item;
    uint64_t id = 0;

    assert_true(json_valid(json, &(struct err){0}));
    assert_true(json_find(json, "/items", &array));
    json_reader_init(&r, array);
    *n = 0;
    if (json_enter_array(&r))
        while (json_next_element(&r) && json_read_raw(&r, &item)) {
            assert_true(json_find_u64(item, "/id", &id) && id < ROWS);
            seen[id]++;
            ++*n;
        }
    assert_true(json_find_u64(json, "/revision", &id));
    assert_int_equal(id, 7);
    buf_clear(next);
    (void)json_find_text(json, "/next", next);
}

static void change_rows(bool rows[ROWS], bool stays[ROWS])
{
    for (int i = 0; i < 20; i++) {
        const unsigned row = random_number(ROWS);

        if (rows[row])
            stays[row] = false;
        rows[row] = !rows[row];
    }
}

/* Turn all pages; changes: rows come and go between them. */
static void turn_pages(const char *schema, bool changes)
{
    bool rows[ROWS], stays[ROWS];
    unsigned seen[ROWS] = {0};
    struct buf next = {0};
    size_t n_pages = 0, n;

    for (size_t i = 0; i < ROWS; i++)
        rows[i] = stays[i] = random_number(3) > 0;
    do {
        const struct list_want want = {.limit = 1 + random_number(30), .after = buf_str(&next)};
        struct buf json = {0};
        struct err err = {0};

        write_list(&json, schema, rows);
        assert_true(list_page(&json, &want, &err));
        read_page(buf_str(&json), seen, &n, &next);
        assert_true(n <= want.limit && (n == want.limit || next.len == 0));
        buf_free(&json);
        if (changes)
            change_rows(rows, stays);
        assert_true(++n_pages <= 2 * ROWS);
    } while (next.len > 0);
    for (size_t i = 0; i < ROWS; i++) {
        assert_true(seen[i] <= 1);
        assert_true(!stays[i] || seen[i] == 1);
        assert_true(changes || rows[i] == (seen[i] == 1));
    }
    buf_free(&next);
}

static const char *const schemas[] = {"millrace/version/1", "millrace/index/1"};

static void all_pages_together_are_the_list(void **state)
{
    (void)state;
    for (int i = 0; i < 50; i++)
        turn_pages(schemas[i % 2], false);
}

static void what_stays_while_pages_are_turned_is_on_one_of_them(void **state)
{
    (void)state;
    for (int i = 0; i < 200; i++)
        turn_pages(schemas[i % 2], true);
}

/* As many topics of one name, which nothing else tells apart. */
static void items_that_are_alike_are_each_on_a_page(void **state)
{
    static const char list[] =
        "{\"schema\":\"millrace/topic/1\",\"items\":[{\"name\":\"a\"},{\"name\":\"a\"},"
        "{\"name\":\"a\"},{\"name\":\"b\"},{\"name\":\"a\"}]}";
    struct buf next = {0};
    size_t n = 0;

    (void)state;
    do {
        struct buf json = {0};
        struct err err = {0};
        struct str array;

        buf_append(&json, str_from(list));
        assert_true(list_page(&json, &(struct list_want){2, buf_str(&next)}, &err));
        assert_true(json_find(buf_str(&json), "/items", &array));
        n += json_count_elements(array);
        buf_clear(&next);
        (void)json_find_text(buf_str(&json), "/next", &next);
        buf_free(&json);
    } while (next.len > 0);
    assert_int_equal(n, 5);
    buf_free(&next);
}

static void expect(const char *before, struct list_want want, const char *after)
{
    struct buf json = {0};
    struct err err = {0};

    buf_append(&json, str_from(before));
    assert_true(list_page(&json, &want, &err));
    assert_string_equal(json.ptr, after);
    buf_free(&json);
}

static void an_answer_that_is_no_page_stays_as_it_was(void **state)
{
    (void)state;
    expect("{\"schema\":\"millrace/user/1\",\"items\":[{\"name\":\"b\"},{\"name\":\"a\"}]}",
           (struct list_want){0, STR("")},
           "{\"schema\":\"millrace/user/1\",\"items\":[{\"name\":\"b\"},{\"name\":\"a\"}],"
           "\"next\":null}");
    expect("{\"schema\":\"millrace/user/1\",\"items\":[]}", (struct list_want){5, STR("61")},
           "{\"schema\":\"millrace/user/1\",\"items\":[],\"next\":null}");
    expect("{\"call\":\"of another form\"}", (struct list_want){1, STR("")},
           "{\"call\":\"of another form\"}");
}

static void a_page_of_the_store_s_names_the_next_one_in_the_same_way(void **state)
{
    (void)state;
    expect("{\"schema\":\"millrace/dead-letter/1\",\"items\":[{\"id\":3}],\"more_after\":3}",
           (struct list_want){1, STR("2")},
           "{\"schema\":\"millrace/dead-letter/1\",\"items\":[{\"id\":3}],\"more_after\":3,"
           "\"next\":\"3\"}");
    expect("{\"schema\":\"millrace/word/1\",\"items\":[{\"word\":\"a\"}],\"more_after\":\"a\"}",
           (struct list_want){1, STR("")},
           "{\"schema\":\"millrace/word/1\",\"items\":[{\"word\":\"a\"}],\"more_after\":\"a\","
           "\"next\":\"a\"}");
    expect("{\"schema\":\"millrace/audit/1\",\"items\":[]}", (struct list_want){1, STR("")},
           "{\"schema\":\"millrace/audit/1\",\"items\":[],\"next\":null}");
}

static void what_no_page_has_said_is_refused(void **state)
{
    static const char *const wrong[] = {"x", "6", "6g", "-1", "616"};

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(wrong); i++) {
        struct buf json = {0};
        struct err err = {0};

        buf_append(&json, STR("{\"schema\":\"millrace/user/1\",\"items\":[]}"));
        assert_false(list_page(&json, &(struct list_want){1, str_from(wrong[i])}, &err));
        assert_int_equal(err.code, 400);
        buf_free(&json);
    }
}

static void no_answer_has_more_than_the_most_items(void **state)
{
    struct buf json = {0};
    struct err err = {0};
    struct str array;

    (void)state;
    buf_append(&json, STR("{\"schema\":\"millrace/user/1\",\"items\":["));
    for (int i = 0; i <= LIST_PAGE_MAX; i++)
        buf_printf(&json, "%s{\"name\":\"%d\"}", i > 0 ? "," : "", i);
    buf_append(&json, STR("]}"));
    assert_true(list_page(&json, &(struct list_want){UINT64_MAX, STR("")}, &err));
    assert_true(json_find(buf_str(&json), "/items", &array));
    assert_int_equal(json_count_elements(array), LIST_PAGE_MAX);
    assert_true(json_find(buf_str(&json), "/next", &array));
    assert_int_equal(array.ptr[0], '"');
    buf_free(&json);
}

/* One that the table lacks would come whole, and without "next". */
static void each_route_that_says_that_it_has_pages_has_them(void **state)
{
    size_t n, n_lists = 0;
    const struct route *table = routes_table(&n);

    (void)state;
    for (size_t i = 0; i < n; i++) {
        struct buf schema = {0};

        if (!table[i].op->is_list)
            continue;
        buf_printf(&schema, "millrace/%s",
                   table[i].op->answers[0].forms != NULL ? table[i].op->answers[0].forms
                                                         : table[i].noun);
        if (table[i].op->answers[0].forms == NULL)
            buf_append(&schema, STR("/1"));
        assert_true(list_has_pages(buf_str(&schema)));
        buf_free(&schema);
        n_lists++;
    }
    assert_true(n_lists > 20);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(all_pages_together_are_the_list),
        cmocka_unit_test(what_stays_while_pages_are_turned_is_on_one_of_them),
        cmocka_unit_test(items_that_are_alike_are_each_on_a_page),
        cmocka_unit_test(an_answer_that_is_no_page_stays_as_it_was),
        cmocka_unit_test(a_page_of_the_store_s_names_the_next_one_in_the_same_way),
        cmocka_unit_test(what_no_page_has_said_is_refused),
        cmocka_unit_test(no_answer_has_more_than_the_most_items),
        cmocka_unit_test(each_route_that_says_that_it_has_pages_has_them),
    };
    return cmocka_run_group_tests_name("pages of lists", tests, NULL, NULL);
}
