#include "config.h"

#include "tests/unit/unit.h"

#include "src/mysql/mysql.h"
#include "sync/document/found_roots.h"
#include "sync/document/key.h"
#include "sync/document/plan.h"
#include "sync/document/plan_node.h"
#include "sync/document/query.h"
#include "sync/document/query_roots.h"
#include "sync/document/resolver.h"
#include "tests/unit/shop_fixture.h"

/* orders(id, customer, note, hidden) with customer(id, name) and item(id, order_id, qty). */
static int set_up(void **state)
{
    struct shop *s = calloc(1, sizeof(*s));

    shop_init(s);
    add_column(s->orders, "note", COLUMN_VARCHAR)->nullable = true;
    add_column(s->orders, "hidden", COLUMN_INT)->invisible = true;
    add_column(s->item, "qty", COLUMN_INT);
    s->relations[1].where = STR("qty > 0");
    s->columns[0] = (struct column_definition){.name = STR("note"), .as = STR("te\"xt")};
    s->columns[1] = (struct column_definition){.name = STR("id")};
    s->table.n_columns = 2;
    *state = s;
    return 0;
}

static int tear_down(void **state)
{
    shop_fini(*state);
    free(*state);
    return 0;
}

static struct plan *compile(struct shop *s, struct err *err)
{
    return plan_compile(s->defs, &s->table, shop_find, s, err);
}

static struct plan *compile_well(struct shop *s)
{
    struct err err = {0};
    struct plan *p = compile(s, &err);

    assert_string_equal(err.msg, "");
    assert_non_null(p);
    return p;
}

static void compile_badly(struct shop *s, const char *message)
{
    struct err err = {0};

    assert_null(compile(s, &err));
    assert_int_equal(err.kind, ERR_REJECT);
    assert_string_equal(err.msg, message);
}

static void expect_document(const struct plan *p, const struct schema *row_schema,
                            const struct value *row, const char *id_text, const char *json)
{
    struct buf id_buf = {0}, key = {0}, routing = {0}, body = {0};
    struct err err = {0};
    struct binding *b = plan_bind(p, 0, row_schema, &err);

    assert_non_null(b);
    assert_true(plan_root_id(p, b, row, &id_buf, &key, &routing, &err));
    assert_string_equal(id_buf.ptr, id_text);
    assert_int_equal(routing.len, 0);
    assert_true(plan_flat_document(p, b, row, &body, &err));
    assert_string_equal(body.ptr, json);
    binding_free(b);
    buf_free(&id_buf);
    buf_free(&key);
    buf_free(&body);
}

static void a_flat_document_is_made_of_the_row_image(void **state)
{
    struct shop *s = *state;
    const struct value row[] = {int_value(7), int_value(1), text_value("hi"), int_value(0)};
    struct plan *p = compile_well(s);

    assert_true(plan_is_flat(p));
    expect_document(p, s->orders, row, "7", "{\"te\\\"xt\":\"hi\",\"id\":7}");
    plan_free(p);
}

static void a_row_of_another_column_order_gives_the_same(void **state)
{
    struct shop *s = *state;
    struct schema *other = make_schema("orders", 1);
    const struct value row[] = {text_value("hi"), null_value(), int_value(7)};
    struct plan *p = compile_well(s);

    add_column(other, "NOTE", COLUMN_VARCHAR);
    add_column(other, "new", COLUMN_INT);
    add_column(other, "Id", COLUMN_INT);
    expect_document(p, other, row, "7", "{\"te\\\"xt\":\"hi\",\"id\":7}");
    plan_free(p);
    schema_unref(other);
}

static void all_columns_are_the_visible_ones(void **state)
{
    struct shop *s = *state;
    const struct value row[] = {int_value(7), int_value(1), null_value(), int_value(0)};
    struct plan *p;

    s->table.all_columns = true;
    s->table.n_columns = 0;
    p = compile_well(s);
    expect_document(p, s->orders, row, "7", "{\"id\":7,\"customer\":1,\"note\":null}");
    plan_free(p);
    s->table.all_columns = false;
    s->table.n_columns = 3;
    s->columns[1] = (struct column_definition){.name = STR("*")};
    s->columns[2] = (struct column_definition){.name = STR("id"), .skip = true};
    p = compile_well(s);
    expect_document(p, s->orders, row, "7", "{\"te\\\"xt\":null,\"customer\":1}");
    plan_free(p);
}

static void a_column_that_rows_lack_is_named_where_they_are_known_by_it(void **state)
{
    struct shop *s = *state;
    struct plan *p = compile_well(s);
    struct err err = {0};

    s->customer->columns[0].name = STR("number");
    assert_null(plan_bind(p, 0, s->customer, &err));
    assert_int_equal(err.kind, ERR_REJECT);
    assert_string_equal(err.msg, "table db.customer has no column `id`");
    plan_free(p);
}

static void assert_absent(const struct plan *p, const struct schema *rows, const char *column)
{
    struct value row[] = {int_value(1), int_value(2), text_value("x"), int_value(3)};
    struct err err = {0};
    struct binding *b = plan_bind(p, 0, rows, &err);

    assert_non_null(b);
    assert_null(plan_find_absent(p, 0, b, row, PLAN_KEY));

    const struct column *absent = plan_find_absent(p, 0, b, row, PLAN_ROW);

    if (column == NULL)
        assert_null(absent);
    else
        assert_true(absent != NULL && str_equal(absent->name, str_from(column)));
    assert_int_equal(plan_update_matters(p, 0, b, row, row), column != NULL);
    binding_free(b);
}

static void a_column_that_rows_lack_or_have_in_another_form_is_absent(void **state)
{
    struct shop *s = *state;
    struct plan *p = compile_well(s);
    struct schema *rows = make_schema("orders", 1);

    add_column(rows, "id", COLUMN_BIGINT);
    assert_absent(p, rows, "note");
    rows->columns[0].type = COLUMN_INT;
    assert_absent(p, rows, "note");
    add_column(rows, "note", COLUMN_TEXT);
    assert_absent(p, rows, "note");
    rows->columns[1].type = COLUMN_VARCHAR;
    assert_absent(p, rows, NULL);
    schema_unref(rows);
    plan_free(p);
}

static void a_key_that_no_unique_index_lies_within_is_refused(void **state)
{
    struct shop *s = *state;
    struct str key[] = {STR("note"), STR("hidden")};
    size_t note[] = {2};
    struct schema_unique unique = {note, 1};

    s->table.key = key;
    s->table.n_key = 2;
    plan_free(compile_well(s)); /* nobody knows */
    s->orders->uniques_known = true;
    s->orders->uniques = &unique;
    s->orders->n_uniques = 1;
    plan_free(compile_well(s));
    note[0] = 0;
    compile_badly(
        s, "table db.orders no longer has a unique index within its key, which "
           "begins with `note`, so rows with the same key would become one document; fix: "
           "ALTER TABLE ... ADD UNIQUE KEY, or another `key`");
    s->orders->is_view = true;
    plan_free(compile_well(s));
    s->orders->is_view = false;
    key[1] = STR("id");
    plan_free(compile_well(s));
}

static void what_does_not_fit_the_database_is_refused_with_its_place(void **state)
{
    struct shop *s = *state;
    const struct place place = {"shop.yaml", 3, 14};

    s->columns[1] = (struct column_definition){.name = STR("oops"), .place = place};
    compile_badly(
        s, "shop.yaml:3:14: table db.orders has no column `oops`, which the definition names "
           "(was it renamed or dropped?); fix: correct the definition, then millrace apply");
    s->columns[1] =
        (struct column_definition){.name = STR("id"), .as = STR("te\"xt"), .place = place};
    compile_badly(s, "shop.yaml:3:14: the name `te\"xt` is given twice");
    s->table.n_columns = 1;
    s->orders->n_key = 0;
    compile_badly(s, "table db.orders has no primary key: name a `key`");
    s->orders->n_key = 1;
    s->table.n_relations = 1;
    s->relations[0].table = STR("db.nowhere");
    compile_badly(s, "there is no table db.nowhere");
    s->relations[0].table = STR("db.customer");
    s->relations[0].place = place;
    s->customer->columns[0].type = COLUMN_DATE;
    compile_badly(s, "shop.yaml:3:14: `customer` (a type) and `id` (a type) cannot be compared "
                     "exactly");
}

static void places_are_the_tables_of_the_tree(void **state)
{
    struct shop *s = *state;
    struct str database, table;
    bool refresh;
    struct plan *p;

    s->table.n_relations = 2;
    s->relations[1].refresh = REFRESH_NONE;
    p = compile_well(s);
    assert_false(plan_is_flat(p));
    assert_int_equal(plan_n_places(p), 3);
    plan_place(p, 1, &database, &table, &refresh);
    assert_true(str_equal(database, STR("db")) && str_equal(table, STR("customer")) && refresh);
    plan_place(p, 2, &database, &table, &refresh);
    assert_true(str_equal(table, STR("item")) && !refresh);
    plan_free(p);
}

static void only_columns_that_are_used_matter(void **state)
{
    struct shop *s = *state;
    struct value old_row[] = {int_value(7), int_value(1), text_value("hi"), int_value(0)};
    struct value new_row[] = {int_value(7), int_value(1), text_value("hi"), int_value(1)};
    struct err err = {0};
    struct plan *p = compile_well(s);
    struct binding *b = plan_bind(p, 0, s->orders, &err);

    assert_false(plan_update_matters(p, 0, b, old_row, new_row));
    new_row[2] = null_value();
    assert_true(plan_update_matters(p, 0, b, old_row, new_row));
    old_row[2] = (struct value){.kind = VALUE_ABSENT};
    assert_true(plan_update_matters(p, 0, b, old_row, new_row));
    binding_free(b);
    plan_free(p);
}

static void any_column_matters_where_a_condition_may_look_at_it(void **state)
{
    struct shop *s = *state;
    const struct value old_row[] = {int_value(7), int_value(1), int_value(5)};
    const struct value new_row[] = {int_value(7), int_value(1), int_value(6)};
    struct column_definition only_id = {.name = STR("id")};
    struct err err = {0};
    struct plan *p;

    s->table.n_relations = 2;
    s->relations[1].all_columns = false;
    s->relations[1].columns = &only_id;
    s->relations[1].n_columns = 1;
    p = compile_well(s);
    struct binding *b = plan_bind(p, 2, s->item, &err);

    assert_true(plan_update_matters(p, 2, b, old_row, new_row));
    binding_free(b);
    plan_free(p);
}

static struct value absent(void)
{
    return (struct value){.kind = VALUE_ABSENT};
}

static void expect_absent(const struct plan *p, size_t place, const struct schema *schema,
                          const struct value *row, const char *of_key, const char *of_row)
{
    const char *const wanted[] = {[PLAN_KEY] = of_key, [PLAN_ROW] = of_row};
    struct err err = {0};
    struct binding *b = plan_bind(p, place, schema, &err);

    for (enum plan_part part = PLAN_KEY; part <= PLAN_ROW; part++) {
        const struct column *c = plan_find_absent(p, place, b, row, part);

        assert_int_equal(c != NULL, wanted[part] != NULL);
        if (c != NULL)
            assert_true(str_equal(c->name, str_from(wanted[part])));
    }
    binding_free(b);
}

static void what_an_image_lacks_is_named(void **state)
{
    struct shop *s = *state;
    const struct value whole[] = {int_value(7), int_value(1), text_value("a"), absent()};
    const struct value no_note[] = {int_value(7), int_value(1), absent(), absent()};
    const struct value no_id[] = {absent(), int_value(1), null_value(), int_value(1)};
    const struct value item[] = {int_value(1), int_value(7), absent()};
    const struct value only_key[] = {int_value(1), absent(), absent()};
    struct plan *p;

    s->table.n_relations = 2;
    p = compile_well(s);
    expect_absent(p, 0, s->orders, whole, NULL, NULL); /* `hidden` is not read */
    expect_absent(p, 0, s->orders, no_note, NULL, "note");
    expect_absent(p, 0, s->orders, no_id, "id", "id");
    expect_absent(p, 2, s->item, item, NULL, "qty");
    expect_absent(p, 2, s->item, only_key, "order_id", "order_id");
    plan_free(p);
}

static bool matters(const struct plan *p, const struct schema *schema, struct value before,
                    struct value after)
{
    const struct value old_row[] = {int_value(7), absent(), before, absent()};
    const struct value new_row[] = {int_value(7), absent(), after, absent()};
    struct err err = {0};
    struct binding *b = plan_bind(p, 0, schema, &err);
    const bool found = plan_update_matters(p, 0, b, old_row, new_row);

    binding_free(b);
    return found;
}

static void a_column_that_both_images_lack_was_not_changed(void **state)
{
    struct shop *s = *state;
    struct plan *p = compile_well(s);

    assert_false(matters(p, s->orders, absent(), absent()));
    assert_true(matters(p, s->orders, absent(), text_value("a")));
    assert_true(matters(p, s->orders, absent(), null_value()));
    assert_false(matters(p, s->orders, text_value("a"), text_value("a")));
    assert_true(matters(p, s->orders, text_value("a"), null_value()));
    plan_free(p);

    /* What the server computes may change without being logged. */
    s->orders->columns[2].generated = true;
    p = compile_well(s);
    assert_true(matters(p, s->orders, absent(), absent()));
    assert_true(matters(p, s->orders, text_value("a"), absent()));
    assert_false(matters(p, s->orders, text_value("a"), text_value("a")));
    plan_free(p);
}

static bool keeps_joins(const struct plan *p, const struct schema *schema, struct value before,
                        struct value after)
{
    const struct value old_row[] = {int_value(1), before, absent()};
    const struct value new_row[] = {int_value(2), after, int_value(5)};
    struct err err = {0};
    struct binding *b = plan_bind(p, 2, schema, &err);
    const bool found = plan_update_keeps_joins(p, 2, b, old_row, new_row);

    binding_free(b);
    return found;
}

static void a_row_is_known_to_stay_where_it_was_by_its_join_columns(void **state)
{
    struct shop *s = *state;
    struct plan *p;

    s->table.n_relations = 2;
    p = compile_well(s);
    assert_true(keeps_joins(p, s->item, absent(), absent()));
    assert_true(keeps_joins(p, s->item, int_value(7), int_value(7)));
    assert_false(keeps_joins(p, s->item, int_value(7), int_value(8)));
    assert_false(keeps_joins(p, s->item, absent(), int_value(7)));
    assert_false(keeps_joins(p, s->item, int_value(7), null_value()));
    plan_free(p);
    s->item->columns[1].generated = true;
    p = compile_well(s);
    assert_false(keeps_joins(p, s->item, absent(), absent()));
    assert_false(keeps_joins(p, s->item, int_value(7), absent()));
    assert_true(keeps_joins(p, s->item, int_value(7), int_value(7)));
    plan_free(p);
}

/* What is looked up by a row's key would not be found under the old one. */
static void a_related_rows_own_key_matters(void **state)
{
    struct shop *s = *state;
    const struct value old_row[] = {int_value(1), int_value(7), int_value(5)};
    const struct value new_row[] = {int_value(2), int_value(7), int_value(5)};
    struct column_definition only_qty = {.name = STR("qty")};
    struct err err = {0};
    struct plan *p;

    s->table.n_relations = 2;
    s->relations[1].all_columns = false;
    s->relations[1].where = STR("");
    s->relations[1].columns = &only_qty;
    s->relations[1].n_columns = 1;
    p = compile_well(s);
    struct binding *b = plan_bind(p, 2, s->item, &err);

    assert_true(plan_update_matters(p, 2, b, old_row, new_row));
    assert_false(plan_update_matters(p, 2, b, old_row, old_row));
    binding_free(b);
    plan_free(p);
}

static void a_row_without_its_joins_leads_up_by_its_own_key(void **state)
{
    struct shop *s = *state;
    const struct value row[] = {int_value(42), absent(), int_value(2)};
    const struct value nothing[] = {absent(), absent(), int_value(2)};
    struct buf key = {0}, sql = {0};
    struct err err = {0};
    struct plan *p;
    struct str keys[1];

    s->table.n_relations = 2;
    p = compile_well(s);
    struct binding *b = plan_bind(p, 2, s->item, &err);

    assert_false(resolver_row_key(p, 2, b, nothing, &key));
    assert_true(resolver_row_key(p, 2, b, row, &key));
    keys[0] = buf_str(&key);
    query_roots(&sql, &(struct query_roots){.flavor = FLAVOR_MARIADB,
                                            .node = p->nodes[2]->by_row,
                                            .keys = keys,
                                            .n = 1,
                                            .limit = 5});
    assert_string_equal(
        sql.ptr,
        "WITH _millrace_k(_millrace_n,_millrace_0) AS (VALUES (0,42)) SELECT DISTINCT "
        "_millrace_n,`_millrace_p0`.`id` FROM _millrace_k STRAIGHT_JOIN `db`.`item` AS "
        "_millrace_p2 ON `_millrace_p2`.`id` = _millrace_0 STRAIGHT_JOIN `db`.`orders` AS "
        "_millrace_p0 ON `_millrace_p0`.`id` = `_millrace_p2`.`order_id` LIMIT 5");
    binding_free(b);
    plan_free(p);
    buf_free(&key);
    buf_free(&sql);
}

/* The columns that a key has at a place, and the statement that leads up from these. */
static void assert_leads_up(const struct plan *p, size_t place, unsigned by, const char *up)
{
    const struct resolver_rows rows = {.plan = p, .place = place, .by = by};
    struct found_roots_below below;
    struct buf sql = {0}, key = {0};
    struct str keys[1];

    key_append_part(&key, STR("42"));
    keys[0] = buf_str(&key);
    query_roots(&sql, &(struct query_roots){.flavor = FLAVOR_MARIADB,
                                            .node = found_roots_node(&rows, &below),
                                            .keys = keys,
                                            .n = 1,
                                            .limit = 5});
    assert_non_null(strstr(sql.ptr, "(VALUES (0,42))"));
    assert_string_equal(strstr(sql.ptr, "STRAIGHT_JOIN"), up);
    buf_free(&key);
    buf_free(&sql);
}

static void rows_are_found_by_some_of_the_columns_that_lead_to_them(void **state)
{
    struct shop *s = *state;
    const struct str names[] = {STR("product_id"), STR("ORDER_ID"), STR("Id")};
    size_t names_of[RESOLVER_COLUMNS_MAX], n;
    struct plan *p;

    s->table.n_relations = 2;
    p = compile_well(s);
    assert_int_equal(resolver_by_columns(p, 2, names, 1, names_of, &n), 0);
    assert_int_equal(n, 0);
    assert_int_equal(resolver_by_columns(p, 2, names, 3, names_of, &n), RESOLVER_BY(0));
    assert_int_equal(n, 1);
    assert_int_equal(names_of[0], 1);
    assert_int_equal(resolver_by_columns(p, 0, names, 3, names_of, &n), RESOLVER_BY(0));
    assert_int_equal(names_of[0], 2);
    assert_leads_up(p, 2, RESOLVER_BY(0),
                    "STRAIGHT_JOIN `db`.`item` AS _millrace_p2 ON "
                    "`_millrace_p2`.`order_id` = _millrace_0 STRAIGHT_JOIN `db`.`orders` AS "
                    "_millrace_p0 ON `_millrace_p0`.`id` = `_millrace_p2`.`order_id` LIMIT 5");
    assert_leads_up(p, 0, RESOLVER_BY(0),
                    "STRAIGHT_JOIN `db`.`orders` AS _millrace_p0 ON "
                    "`_millrace_p0`.`id` = _millrace_0 LIMIT 5");
    plan_free(p);
}

static void an_item_leads_to_its_order_without_sql(void **state)
{
    struct shop *s = *state;
    const struct value row[] = {int_value(1), int_value(42), int_value(2)};
    const struct value orphan[] = {int_value(1), null_value(), int_value(2)};
    struct buf join = {0}, id_buf = {0}, key = {0}, routing = {0};
    struct err err = {0};
    struct plan *p;

    s->table.n_relations = 2;
    p = compile_well(s);
    struct binding *b = plan_bind(p, 2, s->item, &err);

    assert_true(resolver_join_key(p, 2, b, row, &join));
    assert_true(resolver_direct(p, 2, buf_str(&join), &id_buf, &key, &routing));
    assert_string_equal(id_buf.ptr, "42");
    assert_false(resolver_direct(p, 1, buf_str(&join), &id_buf, &key, &routing));
    buf_clear(&join);
    assert_false(resolver_join_key(p, 2, b, orphan, &join));
    binding_free(b);
    plan_free(p);
    buf_free(&join);
    buf_free(&id_buf);
    buf_free(&key);
}

/* 42 is 42.00 to the server, and another `_id`. */
static void
an_item_that_spells_its_order_otherwise_does_not_lead_there_without_sql(void **state)
{
    struct shop *s = *state;
    const struct value row[] = {int_value(1), int_value(42), int_value(2)};
    struct buf join = {0}, id_buf = {0}, key = {0}, routing = {0};
    struct err err = {0};
    struct plan *p;

    s->orders->columns[0].type = COLUMN_DECIMAL;
    s->orders->columns[0].scale = 2;
    s->table.n_relations = 2;
    p = compile_well(s);
    struct binding *b = plan_bind(p, 2, s->item, &err);

    assert_true(resolver_join_key(p, 2, b, row, &join));
    assert_false(resolver_direct(p, 2, buf_str(&join), &id_buf, &key, &routing));
    binding_free(b);
    plan_free(p);
    buf_free(&join);
    buf_free(&id_buf);
    buf_free(&key);
}

static void a_statement_takes_so_many_keys_and_bytes_but_one_of_any_length(void **state)
{
    static char long_key[300 << 10];
    struct str keys[RESOLVER_KEYS_MAX + 1];

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(keys); i++)
        keys[i] = STR("k");
    assert_int_equal(resolver_keys_max(keys, 3), 3);
    assert_int_equal(resolver_keys_max(keys, ARRAY_LEN(keys)), RESOLVER_KEYS_MAX);
    keys[2] = (struct str){long_key, sizeof(long_key)};
    assert_int_equal(resolver_keys_max(keys, 3), 2);
    assert_int_equal(resolver_keys_max(keys + 2, 2), 1);
}

static void statements_take_many_keys(void **state)
{
    struct shop *s = *state;
    const struct str keys[] = {STR("\1\0\0\0007"), STR("\2\0\0\00042")};
    struct buf sql = {0};
    struct plan *p;

    s->table.n_relations = 2;
    p = compile_well(s);
    query_by_integers(&sql, p->nodes[2], keys, 2);
    assert_string_equal(sql.ptr,
                        "SELECT `item`.`id`,`item`.`order_id`,`item`.`qty` FROM "
                        "`db`.`item` WHERE `item`.`order_id` IN (7,42) AND (qty > 0\n) "
                        "ORDER BY `item`.`order_id`,`item`.`id`");
    buf_clear(&sql);
    query_by_list(&sql, FLAVOR_MYSQL, p->nodes[2], keys, 1);
    assert_string_equal(
        sql.ptr, "SELECT _millrace_n,`item`.`id`,`item`.`order_id`,`item`.`qty` FROM "
                 "(VALUES ROW(0,7)) AS _millrace_k(_millrace_n,_millrace_0) "
                 "STRAIGHT_JOIN `db`.`item` ON `item`.`order_id` = _millrace_0 WHERE (qty "
                 "> 0\n) ORDER BY `item`.`id`");
    buf_clear(&sql);
    query_range(&sql,
                &(struct query_range){.root = p->nodes[0], .after = keys[1], .limit = 10});
    assert_string_equal(sql.ptr,
                        "SELECT `orders`.`note`,`orders`.`id`,`orders`.`customer` FROM "
                        "`db`.`orders` WHERE (`orders`.`id` > 42) ORDER BY "
                        "`orders`.`id` LIMIT 10");
    buf_clear(&sql);
    query_range(&sql, &(struct query_range){.root = p->nodes[0], .is_last = true, .limit = 3});
    assert_string_equal(sql.ptr,
                        "SELECT `orders`.`note`,`orders`.`id`,`orders`.`customer` FROM "
                        "`db`.`orders` ORDER BY `orders`.`id` DESC LIMIT 3");
    buf_clear(&sql);
    query_roots(
        &sql,
        &(struct query_roots){
            .flavor = FLAVOR_MARIADB, .node = p->nodes[1], .keys = keys, .n = 2, .limit = 5});
    assert_string_equal(
        sql.ptr,
        "WITH _millrace_k(_millrace_n,_millrace_0) AS (VALUES (0,7),(1,42)) SELECT DISTINCT "
        "_millrace_n,`_millrace_p0`.`id` FROM _millrace_k STRAIGHT_JOIN `db`.`orders` AS "
        "_millrace_p0 ON `_millrace_p0`.`customer` = _millrace_0 LIMIT 5");
    buf_clear(&sql);
    query_roots(&sql, &(struct query_roots){.flavor = FLAVOR_MARIADB,
                                            .node = p->nodes[1],
                                            .keys = keys,
                                            .n = 1,
                                            .in_order = true,
                                            .after = keys[1],
                                            .limit = 5});
    assert_string_equal(
        sql.ptr,
        "WITH _millrace_k(_millrace_n,_millrace_0) AS (VALUES (0,7)) SELECT DISTINCT "
        "NULL,`_millrace_p0`.`id` FROM _millrace_k STRAIGHT_JOIN `db`.`orders` AS "
        "_millrace_p0 ON `_millrace_p0`.`customer` = _millrace_0 WHERE (`_millrace_p0`.`id` > "
        "42)"
        " ORDER BY `_millrace_p0`.`id` LIMIT 5");
    buf_free(&sql);
    plan_free(p);
}

int main(void)
{
#define TEST(f) cmocka_unit_test_setup_teardown(f, set_up, tear_down)
    const struct CMUnitTest tests[] = {
        TEST(a_flat_document_is_made_of_the_row_image),
        TEST(a_row_of_another_column_order_gives_the_same),
        TEST(all_columns_are_the_visible_ones),
        TEST(a_column_that_rows_lack_is_named_where_they_are_known_by_it),
        TEST(a_column_that_rows_lack_or_have_in_another_form_is_absent),
        TEST(a_key_that_no_unique_index_lies_within_is_refused),
        TEST(what_does_not_fit_the_database_is_refused_with_its_place),
        TEST(places_are_the_tables_of_the_tree),
        TEST(only_columns_that_are_used_matter),
        TEST(any_column_matters_where_a_condition_may_look_at_it),
        TEST(what_an_image_lacks_is_named),
        TEST(a_column_that_both_images_lack_was_not_changed),
        TEST(a_row_is_known_to_stay_where_it_was_by_its_join_columns),
        TEST(a_related_rows_own_key_matters),
        TEST(a_row_without_its_joins_leads_up_by_its_own_key),
        TEST(rows_are_found_by_some_of_the_columns_that_lead_to_them),
        TEST(an_item_leads_to_its_order_without_sql),
        TEST(an_item_that_spells_its_order_otherwise_does_not_lead_there_without_sql),
        TEST(a_statement_takes_so_many_keys_and_bytes_but_one_of_any_length),
        TEST(statements_take_many_keys),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
