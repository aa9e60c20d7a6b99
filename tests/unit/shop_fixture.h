/*
 * A small shop for the tests of documents: orders(id, customer) with customer(id, name) and
 * item(id, order_id), to which each test adds what it is about.
 */
#ifndef TESTS_UNIT_SHOP_FIXTURE_H
#define TESTS_UNIT_SHOP_FIXTURE_H

#include "tests/unit/document_fixture.h"
#include "tests/unit/unit.h"

struct shop {
    struct schema *orders, *customer, *item;
    struct column_definition columns[3];
    struct relation_definition relations[2]; /* customer as buyer, and item: none counts yet */
    struct table_definition table;
    struct definitions *defs;
};

static inline void shop_init(struct shop *s)
{
    static struct str customer_from[] = {STR("customer")}, id[] = {STR("ID")},
                      order_id[] = {STR("order_id")};

    s->orders = make_schema("orders", 1);
    add_column(s->orders, "id", COLUMN_INT);
    add_column(s->orders, "customer", COLUMN_BIGINT);
    s->customer = make_schema("customer", 1);
    add_column(s->customer, "id", COLUMN_INT)->is_unsigned = true;
    add_column(s->customer, "name", COLUMN_VARCHAR);
    s->item = make_schema("item", 1);
    add_column(s->item, "id", COLUMN_INT);
    add_column(s->item, "order_id", COLUMN_INT);
    s->relations[0] = (struct relation_definition){.from = customer_from,
                                                   .n_from = 1,
                                                   .table = STR("db.customer"),
                                                   .to = id,
                                                   .n_to = 1,
                                                   .as = STR("buyer"),
                                                   .all_columns = true};
    s->relations[1] = (struct relation_definition){.from = id,
                                                   .n_from = 1,
                                                   .table = STR("db.item"),
                                                   .to = order_id,
                                                   .n_to = 1,
                                                   .many = true,
                                                   .all_columns = true};
    s->table = (struct table_definition){
        .table = STR("db.orders"), .columns = s->columns, .relations = s->relations};
    s->defs = make_definitions(&s->table, 1);
}

static inline void shop_fini(struct shop *s)
{
    schema_unref(s->orders);
    schema_unref(s->customer);
    schema_unref(s->item);
    definitions_unref(s->defs);
}

/* For plan_compile; ctx is the shop. */
static inline struct schema *shop_find(void *ctx, struct str topic, struct str database,
                                       struct str table)
{
    struct shop *s = ctx;

    (void)topic;
    assert_true(str_equal(database, STR("db")));
    return str_equal(table, STR("orders"))     ? s->orders
           : str_equal(table, STR("customer")) ? s->customer
           : str_equal(table, STR("item"))     ? s->item
                                               : NULL;
}

#endif
