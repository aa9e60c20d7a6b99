#include "config.h"

#include "tests/unit/unit.h"

#include "rebalance/verify/look/verdict.h"
#include "src/base/arena.h"
#include "src/base/buf.h"
#include "sync/definition/definition.h"

#define MIN 100
#define MAX 200

static const struct verify_rules rules = {
    .version_min = MIN, .version_max = MAX, .compares_values = true};

/* "kind routing version; ..." of what a look finds. */
static void expect_with(const struct verify_rules *by, const char *body,
                        const struct verify_copy *copies, size_t n, const char *found)
{
    const struct verify_look look = {.is_wanted = body != NULL,
                                     .routing = STR("r"),
                                     .body = str_from(body == NULL ? "" : body),
                                     .copies = copies,
                                     .n_copies = n};
    struct verify_finding findings[4];
    struct arena *a = arena_new();
    struct buf text = {0};
    const size_t n_found = verify_judge(&look, by, a, findings);

    buf_append(&text, STR(""));
    for (size_t i = 0; i < n_found; i++)
        buf_printf(&text, "%s%s %" STR_FMT " %d", i > 0 ? "; " : "",
                   verify_kind_word(findings[i].kind), STR_ARG(findings[i].routing),
                   (int)findings[i].version);
    assert_string_equal(text.ptr, found);
    buf_free(&text);
    arena_free(a);
}

static void expect(const char *body, const struct verify_copy *copies, size_t n,
                   const char *found)
{
    expect_with(&rules, body, copies, n, found);
}

#define COPY(routing, version, source)       \
    {                                        \
        STR(routing), (version), STR(source) \
    }
#define COPIES(...) \
    (const struct verify_copy[]){__VA_ARGS__}, ARRAY_LEN(((struct verify_copy[]){__VA_ARGS__}))

static void equal_sides_have_no_finding(void **state)
{
    (void)state;
    expect("{\"a\":1}", COPIES(COPY("r", 150, "{\"a\":1.0,\"_millrace\":{\"version\":7}}")),
           "");
    expect(NULL, NULL, 0, "");
    expect("{\"a\":1}", COPIES(COPY("r", MIN, "{\"a\":1}")), "");
    expect("{\"a\":1}", COPIES(COPY("r", MAX, "{\"a\":1}")), "");
}

static void each_kind_of_damage_is_found(void **state)
{
    (void)state;
    expect("{\"a\":1}", NULL, 0, "missing r 0");
    expect(NULL, COPIES(COPY("r", 150, "{}")), "extra r 150");
    expect("{\"a\":1}", COPIES(COPY("r", 150, "{\"a\":2}")), "different r 150");
    expect("{\"a\":1}", COPIES(COPY("x", 150, "{\"a\":1}")), "wrong_routing x 150");
    expect("{\"a\":1}", COPIES(COPY("x", 150, "{\"a\":1}"), COPY("r", 151, "{\"a\":1}")),
           "wrong_routing x 150");
    expect("{\"a\":1}", COPIES(COPY("r", 151, "{\"a\":2}"), COPY("x", 150, "{\"a\":1}")),
           "different r 151; wrong_routing x 150");
    expect(NULL, COPIES(COPY("r", 150, "{}"), COPY("x", 151, "{}")),
           "extra r 150; extra x 151");
}

static void a_version_that_nobody_gave_out_is_told_whatever_the_value_is(void **state)
{
    (void)state;
    expect("{\"a\":1}", COPIES(COPY("r", MIN - 1, "{\"a\":1}")), "wrong_lineage r 99");
    expect("{\"a\":1}", COPIES(COPY("r", MAX + 1, "{\"a\":1}")), "wrong_lineage r 201");
    expect("{\"a\":1}", COPIES(COPY("x", 7, "{}")), "wrong_lineage x 7; missing r 0");
}

static void an_index_that_does_not_keep_documents_is_compared_by_what_is_there(void **state)
{
    const struct verify_rules cut = {.version_min = MIN, .version_max = MAX};
    const struct verify_copy none = {STR("r"), 150, {NULL, 0}};

    (void)state;
    expect("{\"a\":1}", &none, 1, "");
    expect_with(&cut, "{\"a\":1}", COPIES(COPY("r", 150, "{}")), "");
    expect_with(&cut, "{\"a\":1}", NULL, 0, "missing r 0");
}

static void doubles_that_the_engine_has_printed_again_are_the_same(void **state)
{
#define WHOLE   ",\"_millrace\":{\"version\":7}}"
#define IN_PART ",\"_millrace\":{\"version\":7,\"areas\":{\"items\":9}}}"
    static const char row[] = "{\"n\":9007199254740993,\"d\":4.751728e21}";

    (void)state;
    expect(row,
           COPIES(COPY("r", 150, "{\"n\":9007199254740993,\"d\":4.751728000000001E21" IN_PART)),
           "");
    expect(row,
           COPIES(COPY("r", 150, "{\"n\":9007199254740993,\"d\":4.751728000000002E21" IN_PART)),
           "different r 150");
    expect(row, COPIES(COPY("r", 150, "{\"n\":9007199254740992,\"d\":4.751728e21" IN_PART)),
           "different r 150");
    expect(row,
           COPIES(COPY("r", 150, "{\"n\":9007199254740993,\"d\":4.751728000000001E21" WHOLE)),
           "different r 150");
    expect(row, COPIES(COPY("r", 150, "{\"n\":9007199254740993,\"d\":4.751728000000001E21}")),
           "different r 150");
#undef WHOLE
#undef IN_PART
}

static void members_of_a_pipeline_are_allowed(void **state)
{
    const struct verify_rules more = {
        .version_min = MIN, .version_max = MAX, .compares_values = true, .allows_extra = true};

    (void)state;
    expect_with(&more, "{\"a\":1}", COPIES(COPY("r", 150, "{\"a\":1,\"b\":2}")), "");
    expect_with(&more, "{\"a\":1}", COPIES(COPY("r", 150, "{\"b\":2}")), "different r 150");
}

static void a_look_is_equal_to_one_that_saw_the_same(void **state)
{
    const struct verify_copy copy = COPY("r", 150, "{\"a\":1}");
    const struct verify_copy others[] = {
        COPY("r", 151, "{\"a\":1}"), COPY("", 150, "{\"a\":1}"), COPY("r", 150, "{\"a\":2}")};
    const struct verify_look look = {true, STR("r"), STR("{}"), &copy, 1};
    struct verify_look other = look;

    (void)state;
    assert_true(verify_look_equal(&look, &other));
    for (size_t i = 0; i < ARRAY_LEN(others); i++) {
        other.copies = &others[i];
        assert_false(verify_look_equal(&look, &other));
    }
    other = look;
    other.n_copies = 0;
    assert_false(verify_look_equal(&look, &other));
    other = look;
    other.body = STR("{\"a\":1}");
    assert_false(verify_look_equal(&look, &other));
    other = look;
    other.is_wanted = false;
    assert_false(verify_look_equal(&look, &other));
}

static void parts_that_are_not_followed_are_known_by_their_path(void **state)
{
    struct relation_definition maker = {.as = STR("maker"), .refresh = REFRESH_NONE};
    struct relation_definition top[] = {
        {.as = STR("items"), .relations = &maker, .n_relations = 1},
        {.as = STR("customer"), .refresh = REFRESH_NONE},
    };
    static const struct {
        const char *path;
        bool is;
    } cases[] = {
        {"customer", true},
        {"customer.name", true},
        {"customers", false},
        {"items[2].maker.name", true},
        {"items[2].price", false},
        {"items", false},
        {"items[2]", false},
        {"maker", false},
        {"", false},
        {"customer[0].x", true},
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(cases); i++)
        if (verify_path_is_unfollowed(str_from(cases[i].path), top, ARRAY_LEN(top)) !=
            cases[i].is)
            fail_msg("%s", cases[i].path);
}

static void a_path_is_known_by_the_tables_that_it_passes(void **state)
{
    static struct relation_definition labels[] = {
        {.table = {"shop.label", 10}, .as = {"label", 5}}};
    static const struct relation_definition top[] = {
        {.table = {"shop.part", 9}, .as = {"parts", 5}, .relations = labels, .n_relations = 1},
        {.table = {"shop.tag", 8},
         .as = {"tags", 4},
         .through = {.given = true, .table = {"shop.goods_tag", 14}}}};
    static const struct {
        const char *path, *table;
        bool is;
    } cases[] = {
        {"parts[2].label.name", "shop.label", true},
        {"parts[2].label", "shop.label", true},
        {"parts[2].note", "shop.label", false},
        {"parts[2].label.name", "shop.part", true},
        {"parts", "shop.part", true},
        {"tags[0].name", "shop.goods_tag", true},
        {"tags[0].name", "shop.tag", true},
        {"tags[0].name", "shop.part", false},
        {"note", "shop.part", false},
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        const struct str name = str_from(cases[i].table);
        const struct verify_tables tables = {&name, 1}, none = {NULL, 0};
        const struct str path = str_from(cases[i].path);

        if (verify_path_shows(path, top, ARRAY_LEN(top), &tables) != cases[i].is)
            fail_msg("%s, %s", cases[i].path, cases[i].table);
        assert_false(verify_path_shows(path, top, ARRAY_LEN(top), &none));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(equal_sides_have_no_finding),
        cmocka_unit_test(each_kind_of_damage_is_found),
        cmocka_unit_test(a_version_that_nobody_gave_out_is_told_whatever_the_value_is),
        cmocka_unit_test(an_index_that_does_not_keep_documents_is_compared_by_what_is_there),
        cmocka_unit_test(doubles_that_the_engine_has_printed_again_are_the_same),
        cmocka_unit_test(members_of_a_pipeline_are_allowed),
        cmocka_unit_test(a_look_is_equal_to_one_that_saw_the_same),
        cmocka_unit_test(parts_that_are_not_followed_are_known_by_their_path),
        cmocka_unit_test(a_path_is_known_by_the_tables_that_it_passes),
    };
    return cmocka_run_group_tests_name("verify verdict", tests, NULL, NULL);
}
