#include "config.h"

#include "tests/unit/fake_catalog.h"

#include "src/base/buf.h"
#include "sync/check/check.h"
#include "sync/check/checked_table.h"
#include "sync/definition/parse.h"

#include <stdio.h>

#define HEAD                                                         \
    "topics: [{name: t, address: '127.0.0.1:3306'}]\n"               \
    "databases: [{name: shop, topic: t}, {name: empty, topic: t}]\n" \
    "tables:\n"

static struct fake_catalog catalog;
static struct buf report;
static uint64_t n_of_customer = 50;

static bool each_table(void *ctx, struct str topic, struct str schema,
                       void (*offer)(void *to, struct str name), void *to)
{
    const struct fake_catalog *f = ctx;

    (void)topic;
    for (size_t i = 0; i < f->n && str_equal(schema, STR("shop")); i++)
        offer(to, f->facts[i].schema->table);
    return str_equal(schema, STR("shop"));
}

static bool try_clause(void *ctx, struct str topic, const struct catalog_name *table,
                       enum catalog_clause clause, struct str text, struct err *err)
{
    (void)ctx;
    (void)topic;
    (void)table;
    (void)clause;
    return memmem(text.ptr, text.len, "nothing", 7) == NULL ||
           err_set(err, ERR_REJECT, "Unknown column 'nothing'");
}

/* Two of item's rows have one order; fifty of orders' rows have one customer, three on
 * average. */
static bool count_shares(void *ctx, struct str topic, const struct shares_wanted *wanted,
                         struct catalog_shares *out)
{
    const bool item = str_equal(wanted->name.table, STR("item"));

    (void)ctx;
    (void)topic;
    *out = item ? (struct catalog_shares){2, 10, 20, true}
                : (struct catalog_shares){n_of_customer, 100, 250, n_of_customer < 5000};
    return !str_equal(wanted->name.table, STR("bare"));
}

static struct table_facts *items;

static int set_up(void **state)
{
    (void)state;
    catalog = (struct fake_catalog){.arena = arena_new()};
    fake_table(&catalog, "orders",
               "id int NOT NULL; customer_id int; status varchar(20); created datetime; total "
               "decimal(10,2); items int",
               "PRIMARY=id; c=customer_id");
    fake_table(&catalog, "customer",
               "id int NOT NULL; name varchar(50); mail varchar(50) NOT NULL",
               "PRIMARY=id; UNIQUE mail=mail");
    items = fake_table(&catalog, "item",
                       "id int NOT NULL; order_id int; product varchar(20); at time; doc json",
                       "PRIMARY=id");
    fake_table(&catalog, "nokey", "a int NOT NULL; b int; c int NOT NULL",
               "UNIQUE ab=a,b; UNIQUE c=c");
    fake_table(&catalog, "bare", "a int", "");
    fake_table(&catalog, "aged",
               "id int NOT NULL; made date; n int; twice int AS(`n` * 2); age int "
               "AS(to_days(curdate()) - to_days(`made`)); old int AS(`age` > 10)",
               "PRIMARY=id");
    fake_table(&catalog, "odd", "id int NOT NULL; _id int; a.b int; hidden.x int INVISIBLE",
               "PRIMARY=id");
    fake_table(&catalog, "seen", "id int", "")->schema->is_view = true;

    fake_table(&catalog, "cut",
               "id int NOT NULL; part int NOT NULL; at datetime; day date; n int; v varchar(9)",
               "PRIMARY=part,id; at=at; back=day,id,part; n=n,v; whole=n,part,id")
        ->schema->engine = STR("InnoDB");

    struct column *word =
        fake_table(&catalog, "old", "id int NOT NULL; word varchar(20); same varchar(20)",
                   "PRIMARY=id; word=word; same=same")
            ->schema->columns +
        1;

    word->charset = STR("latin1");
    word->collation = STR("latin1_swedish_ci");
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    fake_catalog_fini(&catalog);
    buf_free(&report);
    return 0;
}

static void append_account(void *ctx, struct str topic, struct buf *out)
{
    (void)ctx;
    (void)topic;
    buf_append(out, STR("'mill'@'10.%'"));
}

/* What the check of the only table in the file says. */
static const char *check(const char *table)
{
    const struct check_source source = {&catalog,   fake_find,    each_table,
                                        try_clause, count_shares, append_account};
    struct problems *problems = problems_new();
    struct buf text = {0};

    buf_printf(&text, HEAD "  - %s\n", table);

    const struct definition_file file = {STR("f"), buf_str(&text), STR(""), NULL};
    struct definitions *d = definition_apply(NULL, &file, 1, false, problems);

    buf_clear(&report);
    buf_append(&report, STR(""));
    if (d != NULL)
        definition_check_facts(d, &d->tables[0], &source, problems);
    else
        buf_append(&report, STR("not parsed: "));
    problems_append_text(problems, &report);
    definitions_unref(d);
    problems_free(problems);
    buf_free(&text);
    return report.ptr;
}

static void assert_says(const char *table, const char *what)
{
    const char *said = check(table);

    if (what == NULL ? said[0] != '\0' : strstr(said, what) == NULL)
        fail_msg("%s: %s", table, said);
}

static void what_is_right_is_passed_over(void **state)
{
    (void)state;
    assert_says("{table: shop.customer}", NULL);
    assert_says("{table: shop.customer, key: [mail], columns: ['*', {name: name, type: text}]}",
                NULL);
    assert_says("{table: shop.orders, columns: [id, STATUS], relations: [{from: customer_id, "
                "table: shop.customer, to: id, where: name like 'a%'}]}",
                NULL);
}

static void an_unknown_table_is_named_with_its_place_and_the_nearest(void **state)
{
    (void)state;
    assert_says("{table: shop.oders}",
                "f:4:13: error: there is no table `oders` in `shop`; did you mean `orders`?");
    assert_says(
        "{table: shop.orders, relations: [{from: customer_id, table: shop.custmer, to: id}]}",
        "f:4:65: error: there is no table `custmer` in `shop`; did you mean `customer`?");
    assert_says("{table: empty.x}", "error: the server has no schema `empty`");
    assert_says("{table: empty.x}", "fix: GRANT SELECT ON `empty`.* TO 'mill'@'10.%'\n");
}

static void an_unknown_column_is_named_with_its_place_and_the_nearest(void **state)
{
    (void)state;
    assert_says(
        "{table: shop.orders, columns: [id, statsu]}",
        "f:4:40: error: table `shop.orders` has no column `statsu`; did you mean `status`?");
    assert_says("{table: shop.orders, daily_check_column: x}", "has no column `x`");
    assert_says("{table: shop.orders, bucket_column: x}", "has no column `x`");
    assert_says("{table: shop.orders, key: [x]}", "has no column `x`");
    assert_says(
        "{table: shop.orders, relations: [{from: customer, table: shop.customer, to: id}]}",
        "table `shop.orders` has no column `customer`");
    assert_says(
        "{table: shop.orders, relations: [{from: customer_id, table: shop.customer, to: "
        "idd}]}",
        "f:4:84: error: table `shop.customer` has no column `idd`; did you mean `id`?");
    assert_says(
        "{table: shop.orders, relations: [{from: customer_id, table: shop.customer, to: id, "
        "columns: [namee]}]}",
        "did you mean `name`");
}

static void a_bucket_column_needs_numbers_or_times_and_should_have_an_index(void **state)
{
    (void)state;
    assert_says("{table: shop.cut, bucket_column: at}", NULL);
    assert_says("{table: shop.cut, bucket_column: n}", NULL);
    assert_says("{table: shop.cut, bucket_column: Part}", NULL);
    assert_says(
        "{table: shop.cut, bucket_column: id}",
        "warning: shop.cut has no index with its rows in the order of (id, part), so a "
        "build cannot cut it into buckets by `bucket_column`, but only by mod: then the "
        "server reads all of its 1000 rows for each bucket");
    assert_says("{table: shop.cut, bucket_column: day}", "in the order of (day, part, id)");
    assert_says("{table: shop.cut, bucket_column: day}",
                "fix: CREATE INDEX `cut_day_part_id` ON `shop`.`cut` (`day`, `part`, `id`);");
    assert_says("{table: shop.cut, key: [id, part], bucket_column: day}", NULL);
    assert_says("{table: shop.cut, key: [id, part], bucket_column: at}", "warning: shop.cut");
    assert_says("{table: shop.cut, bucket_column: v}",
                "error: a `bucket_column` has numbers or times, but `v` is varchar(9)");
    assert_says("{table: shop.cut, bucket_column: v}", "fix: leave `bucket_column` out");
    assert_says("{table: shop.orders, bucket_column: created}",
                "in the order of (created, id)");
}

static void a_key_must_be_there_unique_and_never_null(void **state)
{
    (void)state;
    assert_says("{table: shop.bare}", "has no primary key");
    assert_says("{table: shop.bare}", "ADD PRIMARY KEY");
    assert_says("{table: shop.nokey}", "fix: key: [c], which is unique and never NULL");
    assert_says("{table: shop.nokey, key: [a]}", "the key is not unique");
    assert_says("{table: shop.nokey, key: [a, b]}", "key column `b` may be NULL");
    assert_says("{table: shop.nokey, key: [c]}", NULL);
    assert_says("{table: shop.nokey, key: [a, c]}", NULL);
}

static void unique_keys_are_what_the_server_has(void **state)
{
    (void)state;
    assert_says("{table: shop.customer, unique_keys: [[mail]]}", NULL);
    assert_says("{table: shop.customer, unique_keys: [[id]]}", NULL);
    assert_says("{table: shop.nokey, unique_keys: [[b, a], [c]]}", NULL);
    assert_says("{table: shop.nokey, unique_keys: [[a, b]]}", "has no primary key");
    assert_says("{table: shop.customer, unique_keys: [[name]]}",
                "`shop.customer` has no unique index on exactly these columns");
    assert_says("{table: shop.customer, unique_keys: [[name, mail]]}",
                "fix: ALTER TABLE `shop`.`customer` ADD UNIQUE KEY (`name`, `mail`);");
    assert_says("{table: shop.customer, unique_keys: [[mial]]}", "did you mean `mail`?");
}

static void a_view_is_refused_where_its_changes_would_matter(void **state)
{
    (void)state;
    assert_says("{table: shop.seen}", "`shop.seen` is a view");
    assert_says("{table: shop.orders, relations: [{from: id, table: shop.seen, to: id}]}",
                "`shop.seen` is a view");
    assert_says(
        "{table: shop.orders, relations: [{from: id, table: shop.seen, to: id, refresh: "
        "none}]}",
        NULL);
}

static void generated_columns_that_change_by_themselves_are_told(void **state)
{
    (void)state;
    assert_says("{table: shop.aged, columns: [id, n, twice], filter: twice > 1}", NULL);
    assert_says("{table: shop.aged}",
                "warning: column `age` of shop.aged is generated by `curdate`");
    assert_says("{table: shop.aged}",
                "warning: column `old` of shop.aged is generated by `curdate`");
    assert_says(
        "{table: shop.aged, columns: ['*', {name: age, skip: true}, {name: old, skip: true}]}",
        NULL);
    assert_says("{table: shop.aged, columns: [id, Old]}", "warning: column `old`");
    assert_says("{table: shop.aged, columns: [id], filter: old = 1}",
                "error: column `old` of shop.aged is generated by `curdate`");
    assert_says(
        "{table: shop.item, columns: [id], relations: [{from: id, table: shop.aged, to: id, "
        "columns: [id], order_by: age DESC}]}",
        "error: column `age` of shop.aged");
    assert_says(
        "{table: shop.item, columns: [id], relations: [{from: id, table: shop.aged, to: id, "
        "columns: [id], where: twice > 2}]}",
        NULL);
}

static void a_missing_index_is_a_warning_with_its_statement(void **state)
{
    static const char table[] =
        "{table: shop.orders, columns: [id], relations: [{from: id, table: "
        "shop.item, to: order_id, many: true, columns: [id]}]}";

    (void)state;
    assert_says(
        table,
        "warning: shop.item has no index on (order_id), by which Millrace finds its rows: "
        "each time the server reads all of its 1000 rows");
    assert_says(table, "fix: CREATE INDEX `item_order_id` ON `shop`.`item` (`order_id`);");
    assert_says(
        "{table: shop.item, columns: [id], relations: [{from: [product, at], table: shop.item, "
        "to: [product, at], refresh: none, max_depth: 1}]}",
        "CREATE INDEX `item_product_at` ON `shop`.`item` (`product`, `at`);");
    assert_says(
        "{table: shop.item, columns: [id], relations: [{from: order_id, table: shop.orders, "
        "to: id}]}",
        "by which Millrace finds the documents of a changed related row");
    assert_says(
        "{table: shop.item, columns: [id], relations: [{from: order_id, table: shop.orders, "
        "to: id, refresh: none}]}",
        NULL);
}

static void what_is_found_by_its_parents_wants_an_index_by_them(void **state)
{
    static const char above[] =
        "\n  - {table: shop.orders, index: x, join: {name: order}}"
        "\n  - {table: shop.item, index: x, join: {name: item, parent: shop.orders, "
        "parent_column: order_id}}";
    char text[600];

    (void)state;
    snprintf(text, sizeof(text),
             "{table: shop.customer, index: x, root_column: id, join: {name: customer, "
             "parent: shop.item, parent_column: name}}%s",
             above);
    assert_says(
        text,
        "warning: shop.customer has no index on (name), by which Millrace finds the children "
        "of a changed parent");
    /* The second level says itself where it lies. */
    snprintf(text, sizeof(text),
             "{table: shop.customer, index: x, join: {name: customer, parent: shop.orders, "
             "parent_column: name}}%s",
             above);
    assert_says(text, NULL);
}

static void a_row_that_is_in_very_many_documents_is_a_warning_with_their_number(void **state)
{
    static const char table[] =
        "{table: shop.orders, columns: [id], relations: [{from: customer_id, table: "
        "shop.customer, to: id, columns: [name]}]}";

    (void)state;
    assert_says(table, NULL);
    n_of_customer = 9999;
    assert_says(table, NULL);
    n_of_customer = 12000;
    assert_says(table,
                "warning: a change of one row of shop.customer can rebuild at least 12,000 "
                "documents, 3 on average");
    /* Twice as many where each order is in two documents. */
    n_of_customer = 5000;
    items->n_rows = 20000;
    assert_says(
        "{table: shop.item, columns: [id], relations: [{from: order_id, table: shop.orders, "
        "to: "
        "id, columns: [id], relations: [{from: customer_id, table: shop.customer, to: id, "
        "columns: [name]}]}]}",
        "row of shop.customer can rebuild at least 10,000 documents, 6 on average");
    n_of_customer = 50;
    assert_says(
        "{table: shop.item, columns: [id], relations: [{from: order_id, table: "
        "shop.orders, to: id}]}",
        "related row (one row is in 2 documents, 2 on average): each time the server reads "
        "all");
}

static void a_link_table_is_checked_on_both_its_sides(void **state)
{
    static const char through[] =
        "{table: shop.orders, columns: [id], relations: [{from: id, through: {table: %s, from: "
        "%s, to: %s}, table: shop.customer, to: id, many: true, refresh: %s}]}";
    static const struct {
        const char *table, *from, *to, *refresh, *says;
    } cases[] = {
        {"shop.item", "order_id", "id", "none", "shop.item has no index on (order_id)"},
        {"shop.item", "id", "order_id", "none", NULL},
        {"shop.item", "id", "order_id", "parent", "documents of a changed related row"},
        {"shop.item", "product", "id", "none", "cannot be joined"},
        {"shop.item", "id", "product", "none", "cannot be joined"},
        {"shop.item", "ordr_id", "id", "none", "did you mean `order_id`"},
        {"shop.itm", "id", "id", "none", "did you mean `item`"},
        {"shop.seen", "id", "id", "parent", "is a view"},
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct buf b = {0};

        buf_printf(&b, through, cases[i].table, cases[i].from, cases[i].to, cases[i].refresh);
        assert_says(b.ptr, cases[i].says);
        buf_free(&b);
    }
}

static void one_row_of_several_is_shown_with_a_warning(void **state)
{
    static const struct {
        const char *relation, *says;
    } cases[] = {
        {"from: c, table: shop.old, to: word", "only the first by key"},
        {"from: c, table: shop.old, to: word, many: true", NULL},
        {"from: c, table: shop.old, to: word, order_by: id DESC", NULL},
        {"from: c, table: shop.old, to: word, where: id > 7", NULL},
        {"from: c, table: shop.old, to: id", NULL},
        {"from: c, through: {table: shop.old, from: id, to: same}, table: shop.customer, to: "
         "mail",
         NULL},
        {"from: c, through: {table: shop.old, from: word, to: same}, table: shop.customer, to: "
         "mail",
         "several of shop.customer, but the document shows only the first"},
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        const bool is_warned = cases[i].says != NULL;
        struct buf b = {0};

        buf_printf(
            &b, "{table: shop.nokey, key: c, columns: [c], relations: [{%s, refresh: none}]}",
            cases[i].relation);
        if (is_warned != (strstr(check(b.ptr), "only the first") != NULL) ||
            (is_warned && strstr(report.ptr, cases[i].says) == NULL))
            fail_msg("%s: %s", b.ptr, report.ptr);
        buf_free(&b);
    }
}

static void columns_that_cannot_be_joined_are_refused(void **state)
{
    (void)state;
    assert_says(
        "{table: shop.orders, columns: [id], relations: [{from: id, table: shop.item, to: "
        "product}]}",
        "`id` (int) and `product` (varchar(20)) cannot be joined");
    assert_says(
        "{table: shop.orders, columns: [id], relations: [{from: created, table: shop.item, "
        "to: doc}]}",
        "cannot be joined");
}

static void texts_of_two_collations_are_joined_with_a_warning(void **state)
{
    (void)state;
    assert_says(
        "{table: shop.customer, columns: [id], relations: [{from: mail, table: shop.old, "
        "to: word, many: true}]}",
        "`mail` has collation utf8mb4_general_ci and the related table's `word` has "
        "latin1_swedish_ci");
    assert_says(
        "{table: shop.customer, columns: [id], relations: [{from: mail, table: shop.old, "
        "to: same, many: true}]}",
        NULL);
}

static void names_of_unlisted_columns_must_be_possible(void **state)
{
    (void)state;
    assert_says("{table: shop.odd}", "column `_id` of shop.odd");
    assert_says("{table: shop.odd}", "column `a.b` of shop.odd");
    assert_says("{table: shop.odd, columns: [id]}", NULL);
    assert_says(
        "{table: shop.odd, columns: ['*', {name: _id, skip: true}, {name: a.b, as: ab}]}",
        NULL);
    assert_says(
        "{table: shop.orders, relations: [{from: id, table: shop.item, to: id, as: items}]}",
        "column `items` of shop.orders: the name is also the name of a relation");
}

static void types_and_conditions_are_tried(void **state)
{
    (void)state;
    assert_says("{table: shop.orders, columns: [{name: id, type: lnog}]}",
                "f:4:53: error: there is no field type `lnog`; did you mean `long`?");
    assert_says("{table: shop.orders, columns: [{name: total, type: geo_point}]}",
                "cannot take what column `total` (decimal(10,2)) holds");
    assert_says("{table: shop.orders, columns: [{name: status, analyzer: x}]}",
                "needs a text field");
    assert_says("{table: shop.orders, settings: {index: {gc_deletes: 1s}}}", "cannot be set");
    assert_says("{table: shop.orders, settings: {index.default_pipeline: tidy}}",
                "warning: `default_pipeline` names an ingest pipeline that Millrace does not");
    assert_says("{table: shop.orders, settings: {index: {final_pipeline: tidy}}}",
                "as `pipeline` of the table");
    assert_says(
        "{table: shop.customer, relations: [{from: id, table: shop.orders, to: customer_id, "
        "where: nothing = 1}]}",
        "refuses this condition: Unknown column 'nothing'");
    assert_says("{table: shop.customer, filter: nothing = 1}",
                "refuses this condition: Unknown column 'nothing'");
    assert_says("{table: shop.customer, columns: [{name: x, transform: [{kind: join, columns: "
                "[name, mali]}]}]}",
                "has no column `mali`; did you mean `mail`?");
    assert_says("{table: shop.customer, columns: [{name: x, transform: [{kind: trim}]}]}",
                "has no column `x`");
    assert_says("{table: shop.customer, columns: [{name: x, value: 1}]}", NULL);
    assert_says("{table: shop.customer, soft_delete: {column: gone, deleted: 1}}",
                "has no column `gone`");
    assert_says("{table: shop.customer, relations: [{from: id, table: shop.orders, to: "
                "customer_id, many: true, order_by: nothing DESC}]}",
                "refuses this order: Unknown column 'nothing'");
    assert_says("{table: shop.customer, relations: [{from: id, table: shop.orders, to: "
                "customer_id, many: true, values: nothing}]}",
                "has no column `nothing`");
}

static void a_change_reaches_no_more_documents_than_there_are(void **state)
{
    const struct catalog_shares shares = {
        .largest = 400, .n_values = 10, .n_rows = 1000, .complete = true};
    struct reach reach = reach_below(reach_root(900), &shares);

    (void)state;
    assert_int_equal(reach.largest, 400);
    reach = reach_below(reach, &shares);
    assert_int_equal(reach.largest, 1000); /* 160,000 rows that join lead to them */
    assert_int_equal(reach.usual, 1000);
    assert_int_equal(reach_below(reach_below(reach_root(0), &shares), &shares).largest, 160000);
}

int main(void)
{
#define TEST(f) cmocka_unit_test_setup_teardown(f, set_up, tear_down)
    const struct CMUnitTest tests[] = {
        TEST(what_is_right_is_passed_over),
        TEST(a_change_reaches_no_more_documents_than_there_are),
        TEST(an_unknown_table_is_named_with_its_place_and_the_nearest),
        TEST(an_unknown_column_is_named_with_its_place_and_the_nearest),
        TEST(a_bucket_column_needs_numbers_or_times_and_should_have_an_index),
        TEST(a_key_must_be_there_unique_and_never_null),
        TEST(unique_keys_are_what_the_server_has),
        TEST(a_view_is_refused_where_its_changes_would_matter),
        TEST(generated_columns_that_change_by_themselves_are_told),
        TEST(a_missing_index_is_a_warning_with_its_statement),
        TEST(what_is_found_by_its_parents_wants_an_index_by_them),
        TEST(a_row_that_is_in_very_many_documents_is_a_warning_with_their_number),
        TEST(a_link_table_is_checked_on_both_its_sides),
        TEST(one_row_of_several_is_shown_with_a_warning),
        TEST(columns_that_cannot_be_joined_are_refused),
        TEST(texts_of_two_collations_are_joined_with_a_warning),
        TEST(names_of_unlisted_columns_must_be_possible),
        TEST(types_and_conditions_are_tried),
    };
    return cmocka_run_group_tests_name("definition_check", tests, NULL, NULL);
}
