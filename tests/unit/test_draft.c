#include "config.h"

#include "tests/unit/fake_catalog.h"

#include "src/base/buf.h"
#include "src/base/map.h"
#include "sync/definition/parse.h"
#include "sync/draft/draft.h"
#include "sync/draft/draft_name.h"
#include "sync/draft/survey.h"

#include <string.h>

static struct fake_catalog catalog;
static struct survey survey;
static struct survey_table tables[16];
static struct foreign_key keys[64];
static struct str names[64][2];

/* "child.column > parent.column" */
static void key(const char *child, const char *column, const char *parent, const char *to)
{
    struct str *n = names[survey.n_keys];

    n[0] = str_from(column);
    n[1] = str_from(to);
    keys[survey.n_keys++] = (struct foreign_key){.name = STR("k"),
                                                 .schema = STR("shop"),
                                                 .table = str_from(child),
                                                 .parent_schema = STR("shop"),
                                                 .parent_table = str_from(parent),
                                                 .columns = &n[0],
                                                 .parent_columns = &n[1],
                                                 .n_columns = 1};
}

static void set_survey(void)
{
    survey.schema = STR("shop");
    survey.tables = tables;
    survey.keys = keys;
    for (size_t i = 0; i < catalog.n; i++)
        tables[i] = (struct survey_table){.name = catalog.facts[i].schema->table,
                                          .facts = &catalog.facts[i]};
    survey.n_tables = catalog.n;
}

static int set_up(void **state)
{
    (void)state;
    catalog = (struct fake_catalog){.arena = arena_new()};
    survey = (struct survey){0};
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    fake_catalog_fini(&catalog);
    return 0;
}

static struct buf draft(const bool *wanted, struct draft_counts *counts)
{
    static const struct server_definition server = {
        .address = STR("db:3306"), .user = STR("mill"), .password_file = STR("shop.password")};
    const struct draft_request r = {
        .survey = &survey, .name = STR("shop"), .server = &server, .wanted = wanted};
    struct buf yaml = {0};

    *counts = draft_append_yaml(&r, &yaml);
    return yaml;
}

/* The parser reads the text, and finds so many tables. */
static void assert_reads(struct str text, size_t n_tables)
{
    const struct definition_file file = {.name = STR("draft"), .text = text};
    struct problems *p = problems_new();
    struct definitions *d = definition_apply(NULL, &file, 1, false, p);

    if (d == NULL)
        fail_msg("%.*s\nin %.*s", STR_ARG(problems_get(p, 0)->message), STR_ARG(text));
    assert_int_equal(d->n_tables, n_tables);
    definitions_unref(d);
    problems_free(p);
}

static const char *const golden =
    "# Written by millrace init.  A document shows the columns that are listed,"
    " without a list all of them.\n"
    "# To show related rows too, remove the # before `relations:` and before each"
    " relation wanted.\n"
    "topics:\n"
    "  - name: shop\n"
    "    address: \"db:3306\"\n"
    "    user: mill\n"
    "    password_file: shop.password\n"
    "databases:\n"
    "  - {name: shop, topic: shop}\n"
    "tables:\n"
    "  - table: shop.Customer\n"
    "    index: customer\n"
    "    # columns:\n"
    "    #   - {name: id, type: integer}  # int, primary key\n"
    "    #   - {name: name, type: keyword}  # varchar(50)\n"
    "    # relations:\n"
    "    #   - {from: id, table: shop.orders, to: customer_id, as: orders, many:"
    " true, nested: true}\n"
    "  - table: shop.item\n"
    "    index: item\n"
    "    # Listed, because a name is not valid in documents; a new column shows"
    " once it is listed.\n"
    "    columns:\n"
    "      - {name: id, type: integer}  # int, primary key\n"
    "      - {name: order_id, type: integer}  # int\n"
    "      - {name: a.b, as: a_b, type: keyword}  # time: a text; it sorts as text\n"
    "    # relations:\n"
    "    #   - {from: order_id, table: shop.orders, to: id, as: order}\n"
    "  # Left out: log has no primary key, and no unique key without NULLs, to"
    " name its documents.\n"
    "  #   ALTER TABLE `shop`.`log` ADD COLUMN id BIGINT UNSIGNED NOT NULL"
    " AUTO_INCREMENT PRIMARY KEY FIRST\n"
    "  - table: shop.mail\n"
    "    index: mail\n"
    "    key: mail  # there is no primary key; the index by_mail is unique and has"
    " no NULLs\n"
    "    # columns:\n"
    "    #   - {name: mail, type: keyword}  # varchar(50)\n"
    "    #   - {name: order_id, type: integer}  # int\n"
    "    # relations:\n"
    "    #   - {from: order_id, table: shop.orders, to: id, as: order}\n"
    "  - table: shop.order_tag\n"
    "    index: order_tag\n"
    "    # columns:\n"
    "    #   - {name: order_id, type: integer}  # int, primary key\n"
    "    #   - {name: tag_id, type: integer}  # int, primary key\n"
    "    #   - {name: at, type: date}  # datetime\n"
    "    # relations:\n"
    "    #   - {from: order_id, table: shop.orders, to: id, as: order}\n"
    "    #   - {from: tag_id, table: shop.tag, to: id, as: tag}\n"
    "  - table: shop.orders\n"
    "    index: orders\n"
    "    # columns:\n"
    "    #   - {name: id, type: integer}  # int, primary key\n"
    "    #   - {name: customer_id, type: integer}  # int\n"
    "    #   - {name: after, type: integer}  # int\n"
    "    # relations:\n"
    "    #   - {from: customer_id, table: shop.Customer, to: id, as: customer}\n"
    "    #   - {from: after, table: shop.orders, to: id, as: orders, max_depth: 1}\n"
    "    #   - {from: id, table: shop.item, to: order_id, as: item, many: true,"
    " nested: true, columns: ['*', {name: a.b, as: a_b}]}\n"
    "    #   - {from: id, table: shop.mail, to: order_id, as: mail}\n"
    "    #   - {from: id, through: {table: shop.order_tag, from: order_id, to:"
    " tag_id}, table: shop.tag, to: id, as: tag, many: true, nested: true}\n"
    "    #   - {from: id, table: shop.orders, to: after, as: orders_by_after,"
    " many: true, nested: true, max_depth: 1}\n"
    "  # Left out: the user may not read all of secret.\n"
    "  - table: shop.tag\n"
    "    index: tag\n"
    "    # columns:\n"
    "    #   - {name: id, type: integer}  # int, primary key\n"
    "    # relations:\n"
    "    #   - {from: id, through: {table: shop.order_tag, from: tag_id, to:"
    " order_id}, table: shop.orders, to: id, as: orders, many: true, nested: true}\n"
    "  # Left out: views and sequences, whose changes the binlog does not have"
    " (docs/definitions.md says what a view needs):\n"
    "  #   seen\n";

static void a_draft_has_every_table_and_says_relations_and_types_as_comments(void **state)
{
    struct str views[] = {STR("seen")};
    struct draft_counts counts;

    (void)state;
    fake_table(&catalog, "Customer", "id int NOT NULL; name varchar(50)", "PRIMARY=id");
    fake_table(&catalog, "item", "id int NOT NULL; order_id int; a.b time",
               "PRIMARY=id; o=order_id");
    fake_table(&catalog, "log", "at time", "");
    fake_table(&catalog, "mail", "mail varchar(50) NOT NULL; order_id int NOT NULL",
               "UNIQUE by_mail=mail; UNIQUE one=order_id");
    fake_table(&catalog, "order_tag", "order_id int NOT NULL; tag_id int NOT NULL; at datetime",
               "PRIMARY=order_id,tag_id");
    fake_table(&catalog, "orders", "id int NOT NULL; customer_id int; after int",
               "PRIMARY=id; c=customer_id");
    fake_table(&catalog, "secret", "id int NOT NULL", "PRIMARY=id");
    fake_table(&catalog, "tag", "id int NOT NULL", "PRIMARY=id");
    set_survey();
    tables[6].is_denied = true;
    survey.views = views;
    survey.n_views = 1;
    key("item", "order_id", "orders", "id");
    key("mail", "order_id", "orders", "id");
    key("order_tag", "order_id", "orders", "id");
    key("order_tag", "tag_id", "tag", "id");
    key("orders", "customer_id", "Customer", "id");
    key("orders", "after", "orders", "id");
    key("secret", "id", "tag", "id");

    struct buf yaml = draft(NULL, &counts);

    assert_string_equal(yaml.ptr, golden);
    assert_reads(buf_str(&yaml), 6);
    assert_int_equal(counts.n_tables, 6);
    assert_int_equal(counts.n_without_key, 1);
    assert_int_equal(counts.n_denied, 1);
    assert_int_equal(counts.first, 0);
    buf_free(&yaml);
}

static void only_the_wanted_tables_are_drafted_and_none_is_an_empty_list(void **state)
{
    const bool one[] = {false, true}, none[] = {false, false};
    struct draft_counts counts;

    (void)state;
    fake_table(&catalog, "a", "id int NOT NULL", "PRIMARY=id");
    fake_table(&catalog, "b", "id int NOT NULL", "PRIMARY=id");
    set_survey();

    struct buf yaml = draft(one, &counts), empty = draft(none, &counts);

    assert_non_null(strstr(yaml.ptr, "table: shop.b"));
    assert_null(strstr(yaml.ptr, "shop.a"));
    assert_reads(buf_str(&yaml), 1);
    assert_reads(buf_str(&empty), 0);
    assert_int_equal(counts.first, 2);
    buf_free(&yaml);
    buf_free(&empty);
}

static size_t n_of(const char *text, const char *word)
{
    size_t n = 0;

    for (; (text = strstr(text, word)) != NULL; text++)
        n++;
    return n;
}

static void relations_end_before_the_engines_limit_of_nested_fields(void **state)
{
    struct draft_counts counts;

    (void)state;
    fake_table(&catalog, "far", "id int NOT NULL", "PRIMARY=id");
    fake_table(&catalog, "near", "id int NOT NULL; one int; size int", "PRIMARY=id");
    set_survey();
    for (size_t i = 0; i < 42; i++)
        key("near", "one", "far", "id");

    struct buf yaml = draft(NULL, &counts);

    assert_int_equal(n_of(yaml.ptr, "nested: true}"), 40);
    assert_non_null(strstr(yaml.ptr, "would be too many: near, near\n"));
    buf_free(&yaml);
}

static void an_index_has_a_name_that_engines_take_and_no_other_table_has(void **state)
{
    static const struct {
        const char *table, *index;
    } cases[] = {
        {"Album", "album"},
        {"album", "album_2"},
        {"orders_v2", "orders_v2_2"},
        {"a b,c", "a_b_c"},
        {"_x", "x"},
        {"-+.", "table"},
        {"\xc3\x84rger", "rger"},
        {"\xe6\x97\xa5", "\xe6\x97\xa5"},
        {"__", "table_2"},
    };
    struct map *taken = map_new();

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct buf name = {0};

        draft_append_index(&name, taken, str_from(cases[i].table));
        assert_string_equal(name.ptr, cases[i].index);
        buf_free(&name);
    }
    map_free(taken, NULL);
}

static void a_relation_is_named_by_its_column_else_by_its_table_else_by_a_number(void **state)
{
    static const struct {
        const char *wanted, *other, *name;
    } cases[] = {
        {"customer", "customer_by_a", "customer"},
        {"customer", "customer_by_a", "customer_by_a"},
        {"customer", "customer_by_a", "customer_by_a_2"},
        {"_id", "x", "id"},
        {"a.b", "x", "a_b"},
        {"__", "x", "related"},
    };
    struct map *taken = map_new();

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct buf name = {0};

        draft_append_relation(&name, taken, str_from(cases[i].wanted),
                              str_from(cases[i].other));
        assert_string_equal(name.ptr, cases[i].name);
        buf_free(&name);
    }
    assert_true(str_equal(draft_stem(STR("customer_id")), STR("customer")));
    assert_true(str_equal(draft_stem(STR("CustomerId")), STR("Customer")));
    assert_int_equal(draft_stem(STR("reports_to")).len, 0);
    assert_int_equal(draft_stem(STR("_id")).len, 0);
    map_free(taken, NULL);
}

static void a_database_has_a_name_that_definitions_and_files_take(void **state)
{
    static const struct {
        const char *schema, *name;
    } cases[] = {{"shop", "shop"}, {"my.shop", "my_shop"}, {"../x", "___x"}, {"-n", "_n"}};

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct buf name = {0};

        draft_append_database(&name, str_from(cases[i].schema));
        assert_string_equal(name.ptr, cases[i].name);
        buf_free(&name);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(
            a_draft_has_every_table_and_says_relations_and_types_as_comments, set_up,
            tear_down),
        cmocka_unit_test_setup_teardown(
            only_the_wanted_tables_are_drafted_and_none_is_an_empty_list, set_up, tear_down),
        cmocka_unit_test_setup_teardown(relations_end_before_the_engines_limit_of_nested_fields,
                                        set_up, tear_down),
        cmocka_unit_test(an_index_has_a_name_that_engines_take_and_no_other_table_has),
        cmocka_unit_test(a_relation_is_named_by_its_column_else_by_its_table_else_by_a_number),
        cmocka_unit_test(a_database_has_a_name_that_definitions_and_files_take),
    };
    return cmocka_run_group_tests_name("draft", tests, NULL, NULL);
}
