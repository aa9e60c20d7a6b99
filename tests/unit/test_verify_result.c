#include "config.h"

#include "tests/unit/unit.h"

#include "rebalance/verify/job.h"
#include "rebalance/verify/result.h"
#include "src/format/json.h"

#include <string.h>

/* A key in this state; one that differs has one finding. */
static struct verify_key key_of(struct str id, enum verify_state state)
{
    static struct verify_finding missing = {.kind = VERIFY_MISSING};
    struct verify_key k = {.id = id, .state = state};

    if (state == VERIFY_DIFFERS) {
        k.told = &missing;
        k.n_told = 1;
    }
    return k;
}

static void the_verdict_is_open_while_a_later_look_may_tell(void **state)
{
    (void)state;
    struct verify_result r = {0};
    struct verify_key k = key_of(STR("1"), VERIFY_EQUAL);

    verify_result_add(&r, &k, false);
    assert_string_equal(verify_result_verdict(&r), "equal");
    k = key_of(STR("2"), VERIFY_APART);
    k.reason = VERIFY_DEAD_LETTER;
    verify_result_add(&r, &k, false);
    assert_string_equal(verify_result_verdict(&r), "equal");
    k.reason = VERIFY_FAN_OUT;
    verify_result_add(&r, &k, false);
    assert_string_equal(verify_result_verdict(&r), "unknown");
    k = key_of(STR("3"), VERIFY_DIFFERS);
    verify_result_add(&r, &k, false);
    assert_string_equal(verify_result_verdict(&r), "different");
    assert_int_equal(r.documents, 4);
    assert_int_equal(r.counts[VERIFY_MISSING], 1);
    verify_result_free(&r);
}

static void a_child_without_parent_is_counted_and_listed_and_is_no_difference(void **state)
{
    (void)state;
    struct verify_result r = {0};
    const struct verify_key k = key_of(STR("answer:1"), VERIFY_EQUAL);

    verify_result_add(&r, &k, false);
    verify_result_add_orphan(&r, k.id, STR("question:7"));
    assert_string_equal(verify_result_verdict(&r), "equal");
    assert_int_equal(r.documents, 1);
    assert_int_equal(r.equal, 1);
    assert_int_equal(r.differing, 0);
    assert_int_equal(r.counts[VERIFY_ORPHAN], 1);
    assert_int_equal(r.n_listed[VERIFY_ORPHAN], 1);
    assert_non_null(strstr(r.differences.ptr, "\"kind\":\"orphan\""));
    verify_result_free(&r);
}

static size_t n_elements(const struct buf *elements)
{
    struct buf array = {0};

    buf_append_char(&array, '[');
    buf_append(&array, buf_str(elements));
    buf_append_char(&array, ']');

    const size_t n = json_count_elements(buf_str(&array));

    buf_free(&array);
    return n;
}

/* So many keys with one finding of each kind, and so many apart for each reason. */
static void add_of_each(struct verify_result *r, size_t n)
{
    struct verify_finding found = {.kind = VERIFY_MISSING};
    struct verify_key k = {.id = STR("an \"id\""), .told = &found, .n_told = 1};

    for (size_t i = 0; i < n; i++) {
        k.state = VERIFY_DIFFERS;
        for (size_t kind = 0; kind < N_VERIFY_KINDS; kind++) {
            found.kind = (enum verify_kind)kind;
            verify_result_add(r, &k, false);
        }
        k.state = VERIFY_APART;
        for (size_t reason = 0; reason < N_VERIFY_REASONS; reason++) {
            k.reason = (enum verify_reason)reason;
            verify_result_add(r, &k, false);
        }
    }
}

static void a_thousand_of_each_kind_and_reason_are_listed_and_all_are_counted(void **state)
{
    struct verify_result r = {0}, more = {0};

    (void)state;
    add_of_each(&r, VERIFY_LISTED_MAX);
    assert_int_equal(n_elements(&r.differences), N_VERIFY_KINDS * VERIFY_LISTED_MAX);
    assert_int_equal(n_elements(&r.aparts), N_VERIFY_REASONS * VERIFY_LISTED_MAX);
    assert_false(r.is_cut);
    add_of_each(&more, 1);
    verify_result_merge(&more, &r);
    assert_int_equal(n_elements(&more.differences), N_VERIFY_KINDS * VERIFY_LISTED_MAX);
    assert_int_equal(n_elements(&more.aparts), N_VERIFY_REASONS * VERIFY_LISTED_MAX);
    assert_int_equal(more.counts[VERIFY_EXTRA], VERIFY_LISTED_MAX + 1);
    assert_int_equal(more.apart[VERIFY_HELD], VERIFY_LISTED_MAX + 1);
    assert_true(more.is_cut);
    verify_result_free(&r);
    verify_result_free(&more);
}

static void both_lists_have_one_bound_in_bytes_and_say_that_they_are_cut(void **state)
{
    struct buf id = {0};
    struct verify_result r = {0};

    (void)state;
    for (size_t i = 0; i < VERIFY_LISTED_BYTES / 20; i++)
        buf_append_char(&id, 'x');
    for (size_t i = 0; i < 12; i++) {
        struct verify_key k = key_of(buf_str(&id), VERIFY_DIFFERS);

        verify_result_add(&r, &k, false);
        k.state = VERIFY_APART;
        verify_result_add(&r, &k, false);
    }
    assert_true(r.differences.len + r.aparts.len >= VERIFY_LISTED_BYTES);
    assert_true(r.differences.len + r.aparts.len < VERIFY_LISTED_BYTES + 2 * id.len);
    assert_true(r.is_cut);
    assert_int_equal(r.differing, 12);
    assert_int_equal(r.apart[VERIFY_CHANGING], 12);
    verify_result_free(&r);
    buf_free(&id);
}

static void a_list_of_ids_that_is_too_long_is_none(void **state)
{
    struct verify_result r = {0};

    (void)state;
    for (size_t i = 0; i < VERIFY_CHANGED_MAX + 1; i++)
        verify_result_list_id(&r, STR("7"));
    assert_int_equal(r.n_ids, VERIFY_CHANGED_MAX + 1);
    assert_int_equal(r.ids.len, 0);
    verify_result_free(&r);
}

static void repairs_are_counted_by_the_kind_of_what_differed(void **state)
{
    struct verify_finding found[] = {{.kind = VERIFY_EXTRA}, {.kind = VERIFY_ROUTING}};
    struct verify_key k = {
        .id = STR("1"), .told = found, .n_told = 2, .state = VERIFY_EQUAL, .is_repaired = true};
    struct verify_result r = {0}, more = {0}, read = {0};
    struct buf json = {0};
    struct json_writer w = {.out = &json};

    (void)state;
    verify_result_add(&r, &k, false);
    k.is_repaired = false;
    k.state = VERIFY_DIFFERS;
    verify_result_add(&r, &k, false);
    verify_result_merge(&more, &r);
    json_open_object(&w);
    verify_result_put(&more, &w);
    json_close_object(&w);
    verify_result_read(&read, buf_str(&json));
    assert_int_equal(read.counts[VERIFY_ROUTING], 2);
    assert_int_equal(read.repaired_counts[VERIFY_ROUTING], 1);
    assert_int_equal(read.repaired_counts[VERIFY_EXTRA], 1);
    assert_int_equal(read.repaired_counts[VERIFY_MISSING], 0);
    verify_result_free(&r);
    verify_result_free(&more);
    verify_result_free(&read);
    buf_free(&json);
}

static void a_cursor_brings_back_the_place_and_what_was_found(void **state)
{
    (void)state;
    struct verify_job a = {0}, b = {0};
    struct verify_key k = key_of(STR("odd \"id\" \xc3\xa4"), VERIFY_DIFFERS);

    a.at = (struct verify_place){.pass = VERIFY_DOCUMENTS,
                                 .slice = 3,
                                 .rows = 10,
                                 .hits = 7,
                                 .total = 20,
                                 .from = UINT64_C(9007207844682367),
                                 .began_ms = 5,
                                 .looks = 2};
    buf_append(&a.at.table, STR("shop.\"t\""));
    buf_append(&a.at.after, (struct str){"\0\xff\x10z", 4});
    verify_result_add(&a.open, &k, false);
    verify_result_list_id(&a.open, k.id);
    k = key_of(STR("x"), VERIFY_APART);
    k.reason = VERIFY_CASCADE;
    verify_result_add(&a.result, &k, false);
    verify_result_list_id(&a.wrong, STR("4"));
    a.n_differ = 30000;
    a.is_refused = true;
    verify_cursor_write(&a);
    buf_append(&b.cursor, buf_str(&a.cursor));
    verify_cursor_read(&b);
    assert_int_equal(b.at.pass, VERIFY_DOCUMENTS);
    assert_true(str_equal(buf_str(&b.at.after), buf_str(&a.at.after)));
    assert_int_equal(b.open.n_listed[VERIFY_MISSING], 1);
    assert_int_equal(b.result.n_aparts_listed[VERIFY_CASCADE], 1);
    assert_int_equal(b.wrong.n_ids, 1);
    assert_int_equal(b.n_differ, 30000);
    assert_true(b.is_refused);
    assert_int_equal(b.result.apart[VERIFY_CASCADE], 1);
    buf_clear(&a.cursor);
    verify_cursor_write(&b);
    verify_cursor_write(&a);
    assert_true(str_equal(buf_str(&b.cursor), buf_str(&a.cursor)));
    for (size_t i = 0; i < 2; i++) {
        struct verify_job *j = i == 0 ? &a : &b;

        verify_result_free(&j->result);
        verify_result_free(&j->open);
        verify_result_free(&j->wrong);
        buf_free(&j->at.table);
        buf_free(&j->at.after);
        buf_free(&j->cursor);
    }
}

static bool is_little(uint64_t differing, uint64_t all, uint64_t n_entries)
{
    const struct verify_result r = {.differing = differing, .n_ids = differing};

    return verify_result_is_little(&r, all, n_entries);
}

static void much_is_a_twentieth_or_ten_thousand_and_what_a_list_leaves_out_counts(void **state)
{
    const struct verify_result long_list = {.n_ids = VERIFY_CHANGED_MAX + 1};

    (void)state;
    assert_true(is_little(0, 0, 0));
    assert_true(is_little(5, 100, 0));
    assert_false(is_little(6, 100, 0));
    assert_true(is_little(10000, 1000000, 0));
    assert_false(is_little(10001, 1000000, 0));
    assert_false(verify_result_is_little(&long_list, 1000000, 0));
    /* 30,000 entries differ, 10,000 were looked at. */
    assert_true(is_little(3000, 1000000, 30000));
    assert_false(is_little(3400, 1000000, 30000));
    assert_false(is_little(3000, 100000, 30000));
    assert_true(is_little(10000, 1000000, 10000));
}

/* What was told before a repair counts as repaired once it is equal, also after a kill. */
static void the_end_of_a_repair_says_of_each_difference_whether_it_is_repaired(void **state)
{
    (void)state;
    struct verify_result r = {0};
    struct verify_key keys[] = {
        key_of(STR("an \"id\""), VERIFY_DIFFERS), key_of(STR("2"), VERIFY_DIFFERS),
        key_of(STR("3"), VERIFY_DIFFERS), key_of(STR("4"), VERIFY_DIFFERS)};

    for (size_t i = 0; i < ARRAY_LEN(keys); i++)
        verify_result_add(&r, &keys[i], false);
    keys[0].state = VERIFY_EQUAL;
    keys[2].state = keys[3].state = VERIFY_APART;
    keys[2].reason = VERIFY_DEAD_LETTER;
    keys[3].reason = VERIFY_CHANGING;
    verify_result_end_repair(&r, keys, ARRAY_LEN(keys));
    assert_int_equal(r.documents, 4);
    assert_int_equal(r.equal, 1);
    assert_int_equal(r.repaired, 1);
    assert_int_equal(r.differing, 2);
    assert_int_equal(r.apart[VERIFY_CHANGING], 1);
    assert_int_equal(r.apart[VERIFY_DEAD_LETTER], 0);
    assert_int_equal(r.counts[VERIFY_MISSING], 4);

    const char *second = strstr(r.differences.ptr, "\"id\":\"2\"");

    assert_non_null(second);
    assert_ptr_equal(strstr(r.differences.ptr, "true"), strstr(r.differences.ptr, "true ,"));
    assert_true(strstr(r.differences.ptr, "true") < second);
    assert_null(strstr(second, "true"));
    assert_int_equal(r.repaired_counts[VERIFY_MISSING], 1);
    keys[1].state = VERIFY_EQUAL; /* and was it at the first look, as after a kill */
    keys[1].n_told = 0;
    verify_result_end_repair(&r, &keys[1], 1);
    assert_int_equal(r.repaired, 2);
    assert_int_equal(r.repaired_counts[VERIFY_MISSING], 2);
    verify_result_free(&r);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_verdict_is_open_while_a_later_look_may_tell),
        cmocka_unit_test(a_child_without_parent_is_counted_and_listed_and_is_no_difference),
        cmocka_unit_test(the_end_of_a_repair_says_of_each_difference_whether_it_is_repaired),
        cmocka_unit_test(a_thousand_of_each_kind_and_reason_are_listed_and_all_are_counted),
        cmocka_unit_test(both_lists_have_one_bound_in_bytes_and_say_that_they_are_cut),
        cmocka_unit_test(a_list_of_ids_that_is_too_long_is_none),
        cmocka_unit_test(repairs_are_counted_by_the_kind_of_what_differed),
        cmocka_unit_test(a_cursor_brings_back_the_place_and_what_was_found),
        cmocka_unit_test(much_is_a_twentieth_or_ten_thousand_and_what_a_list_leaves_out_counts),
    };

    return cmocka_run_group_tests_name("verify_result", tests, NULL, NULL);
}
