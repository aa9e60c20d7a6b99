#include "config.h"

#include "tests/unit/unit.h"

#include "src/base/buf.h"
#include "sync/decode/ddl.h"
#include "sync/definition/parse.h"
#include "sync/mapping/shape_diff.h"
#include "tests/unit/fake_catalog.h"

#include <string.h>

#define HEAD                                           \
    "topics: [{name: t, address: 'db:3306'}]\n"        \
    "databases: [{name: d, topic: t, schema: shop}]\n" \
    "tables:\n"
#define ORDERS "id int NOT NULL; customer int; title varchar(50); state int"
#define ITEM   "id int NOT NULL; order_id int; qty int"
#define ALL    "table: d.orders"
#define NAMED  "table: d.orders, columns: [id, title]"
#define ITEMS                                                                             \
    "table: d.orders, columns: [id], relations: [{from: id, table: d.item, to: order_id," \
    " as: items, many: true}]"
#define WHERE                                                                             \
    "table: d.orders, columns: [id], relations: [{from: id, table: d.item, to: order_id," \
    " as: items, many: true, columns: [id], where: '`qty` > 0'}]"

struct tables {
    const char *orders, *orders_key, *item, *item_key;
};

static struct tables before = {ORDERS, "PRIMARY=id", ITEM, "PRIMARY=id"};

static void make(struct fake_catalog *c, const struct tables *t)
{
    *c = (struct fake_catalog){.arena = arena_new()};
    fake_table(c, "orders", t->orders, t->orders_key);
    fake_table(c, "item", t->item, t->item_key);
}

/* The text columns of now. */
static void set_collation(struct fake_catalog *c, const char *collation)
{
    for (size_t t = 0; t < c->n; t++)
        for (size_t i = 0; i < c->facts[t].schema->n_columns; i++)
            if (c->facts[t].schema->columns[i].collation.len > 0)
                c->facts[t].schema->columns[i].collation = str_from(collation);
}

static const char *collation_now = "utf8mb4_general_ci";

static struct shape_diff diff_by(const char *table, struct tables is,
                                 const struct shape_event *event)
{
    struct problems *problems = problems_new();
    struct fake_catalog then, now;
    struct buf text = {0};

    is.orders = is.orders == NULL ? before.orders : is.orders;
    is.orders_key = is.orders_key == NULL ? before.orders_key : is.orders_key;
    is.item = is.item == NULL ? before.item : is.item;
    is.item_key = is.item_key == NULL ? before.item_key : is.item_key;
    make(&then, &before);
    make(&now, &is);
    set_collation(&now, collation_now);
    buf_printf(&text, HEAD "  - {%s}\n", table);

    const struct definition_file file = {STR("f"), buf_str(&text), STR(""), NULL};
    struct definitions *d = definition_apply(NULL, &file, 1, false, problems);

    if (d == NULL)
        fail_msg("%s", problems_get(problems, 0)->message.ptr);

    const struct shape_find was = {fake_find_schema, &then}, find = {fake_find_schema, &now};
    struct shape_event by = event == NULL ? (struct shape_event){0} : *event;

    by.now = d;

    const struct shape_diff found = shape_diff_make(d, definitions_table(d, STR("d.orders")),
                                                    &was, &find, event == NULL ? NULL : &by);

    definitions_unref(d);
    problems_free(problems);
    buf_free(&text);
    fake_catalog_fini(&then);
    fake_catalog_fini(&now);
    return found;
}

static struct shape_diff diff(const char *table, struct tables is)
{
    return diff_by(table, is, NULL);
}

/* A statement of the log of a topic. */
static struct shape_diff diff_after_in(const char *topic, const char *table, const char *sql,
                                       bool filling)
{
    const struct sql_dialect dialect = {0};
    struct arena *a = arena_new();
    struct ddl ddl;

    ddl_parse(STR("shop"), str_from(sql), dialect, a, &ddl);

    const struct shape_event event = {
        .ddl = &ddl, .topic = str_from(topic), .filling = filling};
    const struct shape_diff found = diff_by(table, (struct tables){0}, &event);

    arena_free(a);
    return found;
}

static struct shape_diff diff_after(const char *table, const char *sql, bool filling)
{
    return diff_after_in("t", table, sql, filling);
}

static void assert_orders(const char *table, const char *orders, enum shape_change change,
                          const char *column)
{
    const struct shape_diff d = diff(table, (struct tables){.orders = orders});

    if (d.change != change || strstr(d.reason, column) == NULL)
        fail_msg("{%s} with (%s): %d, %s", table, orders, (int)d.change, d.reason);
}

static void assert_item(const char *table, const char *item, enum shape_change change,
                        const char *column)
{
    const struct shape_diff d = diff(table, (struct tables){.item = item});

    if (d.change != change || strstr(d.reason, column) == NULL)
        fail_msg("{%s} with (%s): %d, %s", table, item, (int)d.change, d.reason);
}

/* Of orders, whose delayed items have these columns now. */
static struct shape_diff diff_delayed(const char *item)
{
    static const struct shape_event event = {.ddl = NULL};

    return diff_by(ITEMS "}\n  - {table: d.item, delayed: true", (struct tables){.item = item},
                   &event);
}

static void assert_later(const char *item, const char *reason)
{
    const struct shape_diff d = diff_delayed(item);

    assert_int_equal(d.change, SHAPE_SAME);
    assert_int_equal(d.n_later, 1);
    assert_true(shape_diff_is_later(&d, STR("d.item")));
    assert_false(shape_diff_is_later(&d, STR("d.orders")));
    assert_non_null(strstr(d.later[0].reason, reason));
}

static void what_a_delayed_table_changes_is_later_but_for_other_fields(void **state)
{
    (void)state;
    assert_later(ITEM "; note int DEFAULT", "`note` of d.item");
    assert_later("id int NOT NULL; order_id int", "`qty` of d.item is gone");
    assert_later(ITEM "; a int DEFAULT; b int DEFAULT", "`a`"); /* once */
    assert_int_equal(diff_delayed(ITEM "; note text").change, SHAPE_ADDED);
    assert_int_equal(diff_delayed(ITEM "; note text").n_later, 0);
    assert_int_equal(diff_delayed("id int NOT NULL; order_id int; qty text").change,
                     SHAPE_CHANGED);

    const struct shape_diff own =
        diff_by(ALL ", delayed: true", (struct tables){.orders = ORDERS "; note int DEFAULT"},
                &(struct shape_event){.ddl = NULL});

    assert_true(own.change == SHAPE_CHANGED && own.n_later == 0);
}

static void what_is_as_it_was_asks_for_nothing(void **state)
{
    static const char *const tables[] = {ALL, NAMED, ITEMS, WHERE};

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(tables); i++) {
        const struct shape_diff d = diff(tables[i], (struct tables){0});

        assert_int_equal(d.change, SHAPE_SAME);
        assert_string_equal(d.reason, "");
    }
}

static void a_column_that_comes_is_added_or_changes_rows_by_what_they_have_in_it(void **state)
{
    (void)state;
    assert_orders(ALL, ORDERS "; note text", SHAPE_ADDED, "`note`");
    assert_orders(ALL, ORDERS "; note int DEFAULT", SHAPE_CHANGED, "a default");
    assert_orders(ALL, ORDERS "; note int NOT NULL", SHAPE_CHANGED, "NOT NULL");
    assert_orders(ALL, ORDERS "; note int GENERATED", SHAPE_CHANGED, "generated");
    assert_orders(ALL, ORDERS "; note int INVISIBLE", SHAPE_SAME, "");
    assert_orders(ALL, "note int; " ORDERS, SHAPE_ADDED, "`note`");
    assert_item(ITEMS, ITEM "; note text", SHAPE_ADDED, "`note` of d.item");
    assert_item(ITEMS, ITEM "; note int DEFAULT", SHAPE_CHANGED, "`note` of d.item");
    assert_orders(ALL, ORDERS "; x int; y int DEFAULT", SHAPE_CHANGED, "`y`");
}

static void a_column_that_is_not_shown_may_come_and_change(void **state)
{
    (void)state;
    assert_orders(NAMED, ORDERS "; note int DEFAULT", SHAPE_SAME, "");
    assert_orders(NAMED, "id int NOT NULL; customer text; title varchar(50)", SHAPE_SAME, "");
    assert_item(WHERE, ITEM "; note int DEFAULT", SHAPE_SAME, "");
    assert_item(NAMED, "id text", SHAPE_SAME, "");
}

static void a_column_that_goes_changes_rows_where_all_are_shown(void **state)
{
    (void)state;
    assert_orders(ALL, "id int NOT NULL; customer int; title varchar(50)", SHAPE_CHANGED,
                  "`state` of d.orders is gone");
    assert_orders(ALL, "id int NOT NULL; customer int; title varchar(50); state int INVISIBLE",
                  SHAPE_CHANGED, "`state`");
    assert_orders(NAMED, "id int NOT NULL; title varchar(50)", SHAPE_SAME, "");
    assert_orders(NAMED, "id int NOT NULL", SHAPE_SAME, ""); /* its plan says so */
}

static void a_column_with_a_value_of_its_own_may_have_the_name_of_another(void **state)
{
    static const char valued[] = "table: d.orders, columns: [id, {name: state, value: 7}]";

    (void)state;
    assert_orders(valued, "id int NOT NULL; customer int; title varchar(50); state text",
                  SHAPE_SAME, "");
    assert_orders(valued, "id int NOT NULL; customer int; title varchar(50)", SHAPE_SAME, "");
}

static void another_text_or_field_type_changes_rows(void **state)
{
    (void)state;
    assert_orders(ALL, "id int NOT NULL; customer int; title varchar(10); state int",
                  SHAPE_CHANGED, "`title`");
    assert_orders(ALL, "id int NOT NULL; customer bigint; title varchar(50); state int",
                  SHAPE_CHANGED, "another field type");
    assert_orders(NAMED ", key: [customer]",
                  "id int NOT NULL; customer bigint; title varchar(50); state int", SHAPE_SAME,
                  "");
    assert_orders("table: d.orders, columns: [id, {name: customer, type: keyword}]",
                  "id int NOT NULL; customer bigint; title varchar(50); state int", SHAPE_SAME,
                  "");
    assert_orders(ALL, "id int NOT NULL; customer int; title varchar(60); state int(3)",
                  SHAPE_SAME, "");
}

static void what_rows_are_joined_and_chosen_by_counts(void **state)
{
    (void)state;
    assert_item(WHERE, "id int NOT NULL; order_id varchar(9); qty int", SHAPE_CHANGED,
                "`order_id`");
    assert_item(WHERE, "id int NOT NULL; order_id int; qty decimal(9,2)", SHAPE_CHANGED,
                "`qty`");
    assert_item(WHERE, "id int NOT NULL; order_id int; qty bigint", SHAPE_SAME, "");
}

static void another_collation_counts_where_rows_are_joined_by_it(void **state)
{
    static const char by_title[] =
        "table: d.orders, columns: [id], relations: [{from: title, table: d.item, to: order_id,"
        " as: items, many: true}]";

    (void)state;
    assert_int_equal(diff(by_title, (struct tables){0}).change, SHAPE_SAME);
    collation_now = "utf8mb4_bin";

    const struct shape_diff joined = diff(by_title, (struct tables){0}),
                            shown = diff(ALL, (struct tables){0});

    collation_now = "utf8mb4_general_ci";
    assert_int_equal(joined.change, SHAPE_CHANGED);
    assert_non_null(strstr(joined.reason, "`title`"));
    assert_int_equal(shown.change, SHAPE_SAME);
}

#define MADE "id int NOT NULL; a %s; b %s; g decimal(20,4) AS(`a`*2); h decimal(20,4) AS(`g`+1)"

/* The related table's rows have it as well. */
static void assert_made(const char *table, const char *a, const char *b,
                        enum shape_change change, const char *reason)
{
    struct buf then = {0}, now = {0};

    buf_printf(&then, MADE, "decimal(10,2)", "varchar(20)");
    buf_printf(&now, MADE, a, b);

    const struct tables was = before;

    before.orders = then.ptr;
    before.item = then.ptr;

    const struct shape_diff d =
        diff(table, (struct tables){.orders = now.ptr, .item = now.ptr});

    before = was;
    buf_free(&then);
    buf_free(&now);
    if (d.change != change || strstr(d.reason, reason) == NULL)
        fail_msg("{%s} with %s, %s: %d, %s", table, a, b, (int)d.change, d.reason);
}

static void what_generated_columns_are_made_of_counts_through_all_of_them(void **state)
{
    static const char *const named[] = {
        "table: d.orders, columns: [id, g]",
        "table: d.orders, columns: [id, h]",
        "table: d.orders, columns: [id], filter: 'h > 4'",
        "table: d.orders, columns: [id], filter: 'a > 4'",
        "table: d.orders, columns: [id], soft_delete: {column: h, deleted: 1}",
        "table: d.orders, columns: [id], key: [h]",
        "table: d.orders, columns: [{name: x, transform: [{kind: join, columns: [h]}]}]",
        "table: d.orders, columns: [id], relations: [{from: h, table: d.item, to: id, "
        "columns: [id]}]",
        "table: d.orders, columns: [id], relations: [{from: id, table: d.item, to: h, "
        "columns: [id]}]",
        "table: d.orders, columns: [id], relations: [{from: id, table: d.item, to: id, "
        "columns: [h]}]",
        "table: d.orders, columns: [id], relations: [{from: id, table: d.item, to: id, "
        "values: h}]",
        "table: d.orders, columns: [id], relations: [{from: id, table: d.item, to: id, "
        "columns: [id],"
        " where: 'h > 4'}]",
        "table: d.orders, columns: [id], relations: [{from: id, table: d.item, to: id, "
        "columns: [id],"
        " order_by: 'h DESC'}]",
        "table: d.orders, columns: [id], relations: [{from: id, through: {table: d.item, "
        "from: h,"
        " to: id}, table: d.item, to: id, columns: [id], many: true}]",
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(named); i++) {
        assert_made(named[i], "decimal(10,2)", "varchar(20)", SHAPE_SAME, "");
        assert_made(named[i], "decimal(10,2)", "int", SHAPE_SAME, "");
        assert_made(named[i], "decimal(10,2) unsigned", "varchar(20)", SHAPE_CHANGED,
                    "`a` of d.");
        assert_made(named[i], "decimal(10,0)", "varchar(20)", SHAPE_CHANGED, "`a` of d.");
    }
    assert_made("table: d.orders, columns: [id]", "decimal(10,0)", "int", SHAPE_SAME, "");
}

static void a_key_that_is_not_shown_puts_related_rows_in_order(void **state)
{
#define BY_KEY(more)                                                                           \
    "table: d.orders, columns: [id], relations: [{from: id, table: d.item, to: order_id, as: " \
    "items, columns: [qty]" more "}]"
    static const char *const forms[] = {BY_KEY(", many: true, limit: 1"), BY_KEY(""),
                                        BY_KEY(", many: true, order_by: qty")};
    static const struct {
        const char *item, *key, *collation, *reason;
        enum shape_change change;
    } cases[] = {
        {"code varchar(20); order_id int; qty int", "PRIMARY=code", "utf8mb4_general_ci", "",
         SHAPE_SAME},
        {"code varchar(30); order_id int; qty int", "PRIMARY=code", "utf8mb4_general_ci", "",
         SHAPE_SAME},
        {"code int; order_id int; qty int", "PRIMARY=code", "utf8mb4_general_ci", "`code`",
         SHAPE_CHANGED},
        {"code varchar(20); order_id int; qty int", "PRIMARY=code", "utf8mb4_bin", "`code`",
         SHAPE_CHANGED},
        {"code varchar(20); order_id int; qty int", "PRIMARY=code,order_id",
         "utf8mb4_general_ci", "`order_id`", SHAPE_CHANGED},
        {"code varchar(20); order_id int; qty int", "", "utf8mb4_general_ci", "`code`",
         SHAPE_CHANGED},
    };
    const struct tables was = before;

    (void)state;
    before.item = cases[0].item;
    before.item_key = cases[0].key;
    for (size_t f = 0; f < ARRAY_LEN(forms); f++)
        for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
            collation_now = cases[i].collation;

            const struct shape_diff d = diff(
                forms[f], (struct tables){.item = cases[i].item, .item_key = cases[i].key});

            if (d.change != cases[i].change || strstr(d.reason, cases[i].reason) == NULL)
                fail_msg("{%s} with (%s): %d, %s", forms[f], cases[i].item, (int)d.change,
                         d.reason);
        }
    collation_now = "utf8mb4_general_ci";
    before = was;
}

static void rows_without_a_key_are_in_the_order_of_their_columns(void **state)
{
    const struct tables was = before;

    (void)state;
    before.item = "order_id int; name varchar(20); qty int";
    before.item_key = "";
    assert_item(ITEMS, before.item, SHAPE_SAME, "");
    assert_item(ITEMS, "order_id int; qty int; name varchar(20)", SHAPE_CHANGED, "`name`");
    assert_item(ITEMS, "order_id int; name varchar(20); qty int; more int", SHAPE_ADDED,
                "`more`");
    collation_now = "utf8mb4_bin";
    assert_item(ITEMS, before.item, SHAPE_CHANGED, "`name`");
    collation_now = "utf8mb4_general_ci";
    before = was;
}

static void another_key_names_documents_anew_and_orders_related_rows(void **state)
{
    struct shape_diff d = diff(ALL, (struct tables){.orders_key = "PRIMARY=customer"});

    (void)state;
    assert_int_equal(d.change, SHAPE_KEY);
    d = diff(ALL, (struct tables){.orders_key = "PRIMARY=id,customer"});
    assert_int_equal(d.change, SHAPE_KEY);
    d = diff(ALL ", key: [id]", (struct tables){.orders_key = "PRIMARY=customer"});
    assert_int_equal(d.change, SHAPE_SAME);
    d = diff(ITEMS, (struct tables){.item_key = "PRIMARY=order_id,id"});
    assert_int_equal(d.change, SHAPE_CHANGED);
}

static void a_name_that_goes_to_another_column_changes_rows(void **state)
{
    static const struct {
        const char *sql;
        enum shape_change change;
    } cases[] = {
        {"ALTER TABLE orders DROP COLUMN state, ADD COLUMN state INT", SHAPE_CHANGED},
        {"ALTER TABLE orders CHANGE state customer INT, CHANGE customer state INT",
         SHAPE_CHANGED},
        {"ALTER TABLE orders RENAME COLUMN state TO customer, RENAME COLUMN customer TO state",
         SHAPE_CHANGED},
        {"ALTER TABLE orders CHANGE state state INT", SHAPE_SAME},
        {"ALTER TABLE orders MODIFY state INT AFTER id", SHAPE_SAME},
        {"ALTER TABLE elsewhere DROP COLUMN state, ADD COLUMN state INT", SHAPE_SAME},
        {"RENAME TABLE orders TO _orders_del, _orders_gho TO orders", SHAPE_SAME},
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        const struct shape_diff d = diff_after(ALL, cases[i].sql, false);

        if (d.change != cases[i].change)
            fail_msg("%s: %d, %s", cases[i].sql, (int)d.change, d.reason);
    }
}

static void a_table_of_another_server_may_have_the_same_name(void **state)
{
    static const char sql[] = "ALTER TABLE orders DROP COLUMN state, ADD COLUMN state INT";

    (void)state;
    assert_int_equal(diff_after_in("t", ALL, sql, false).change, SHAPE_CHANGED);
    assert_int_equal(diff_after_in("", ALL, sql, false).change, SHAPE_CHANGED);
    assert_int_equal(diff_after_in("another", ALL, sql, false).change, SHAPE_SAME);
}

static void what_may_change_rows_begins_a_build_anew(void **state)
{
    static const struct {
        const char *sql;
        enum shape_change change;
    } cases[] = {
        {"ALTER TABLE orders MODIFY state INT", SHAPE_CHANGED},
        {"ALTER TABLE orders CONVERT TO CHARACTER SET latin1", SHAPE_CHANGED},
        {"RENAME TABLE orders TO _orders_del, _orders_gho TO orders", SHAPE_CHANGED},
        {"ALTER TABLE orders ADD COLUMN note INT", SHAPE_SAME}, /* the shapes say what it has */
        {"ALTER TABLE orders ADD INDEX (state)", SHAPE_SAME},
        {"ALTER TABLE item MODIFY qty INT", SHAPE_SAME},
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        const struct shape_diff d = diff_after(ALL, cases[i].sql, true);

        if (d.change != cases[i].change)
            fail_msg("%s: %d, %s", cases[i].sql, (int)d.change, d.reason);
    }
    assert_int_equal(diff_after(ITEMS, "ALTER TABLE item MODIFY qty INT", true).change,
                     SHAPE_CHANGED);
}

static void another_unique_key_that_names_documents_builds_again(void **state)
{
    struct fake_catalog then = {.arena = arena_new()}, now = {.arena = arena_new()};
    const struct definition_file file = {
        STR("f"), STR(HEAD "  - {table: d.bare, unique_keys: [[a], [b]]}\n"), STR(""), NULL};
    struct problems *problems = problems_new();
    struct definitions *d = definition_apply(NULL, &file, 1, false, problems);
    const struct shape_find was = {fake_find_schema, &then}, is = {fake_find_schema, &now};

    (void)state;
    fake_table(&then, "bare", "a int; b int NOT NULL", "UNIQUE a=a; UNIQUE b=b");
    fake_table(&now, "bare", "a int NOT NULL; b int NOT NULL", "UNIQUE a=a; UNIQUE b=b");
    assert_int_equal(shape_diff_make(d, &d->tables[0], &was, &was, NULL).change, SHAPE_SAME);
    assert_int_equal(shape_diff_make(d, &d->tables[0], &was, &is, NULL).change, SHAPE_KEY);
    assert_int_equal(shape_diff_make(d, &d->tables[0], &is, &was, NULL).change, SHAPE_KEY);
    definitions_unref(d);
    problems_free(problems);
    fake_catalog_fini(&then);
    fake_catalog_fini(&now);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(another_unique_key_that_names_documents_builds_again),
        cmocka_unit_test(what_is_as_it_was_asks_for_nothing),
        cmocka_unit_test(a_column_that_comes_is_added_or_changes_rows_by_what_they_have_in_it),
        cmocka_unit_test(a_column_that_is_not_shown_may_come_and_change),
        cmocka_unit_test(a_column_that_goes_changes_rows_where_all_are_shown),
        cmocka_unit_test(another_text_or_field_type_changes_rows),
        cmocka_unit_test(a_column_with_a_value_of_its_own_may_have_the_name_of_another),
        cmocka_unit_test(a_table_of_another_server_may_have_the_same_name),
        cmocka_unit_test(what_rows_are_joined_and_chosen_by_counts),
        cmocka_unit_test(another_collation_counts_where_rows_are_joined_by_it),
        cmocka_unit_test(what_generated_columns_are_made_of_counts_through_all_of_them),
        cmocka_unit_test(a_key_that_is_not_shown_puts_related_rows_in_order),
        cmocka_unit_test(rows_without_a_key_are_in_the_order_of_their_columns),
        cmocka_unit_test(another_key_names_documents_anew_and_orders_related_rows),
        cmocka_unit_test(what_a_delayed_table_changes_is_later_but_for_other_fields),
        cmocka_unit_test(a_name_that_goes_to_another_column_changes_rows),
        cmocka_unit_test(what_may_change_rows_begins_a_build_anew),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
