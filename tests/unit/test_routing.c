#include "config.h"

#include "tests/unit/unit.h"

#include "src/base/mem.h"
#include "sync/document/plan.h"
#include "sync/routing/routing.h"
#include "tests/unit/document_fixture.h"

static struct schema *find(void *ctx, struct str topic, struct str database, struct str table)
{
    (void)topic;
    (void)database;
    (void)table;
    return ctx;
}

/* One index over one table, which its server calls so. */
static struct routing *route(struct str database, struct str table, bool any_case)
{
    struct table_definition t = {.table = STR("db.t"), .all_columns = true};
    struct definitions *d = make_definitions(&t, 1);
    struct schema *s = schema_new(database, table);
    struct column id = {.name = STR("id"), .type_text = STR("int"), .type = COLUMN_INT};
    struct err err = {0};

    s->any_case = any_case;
    s->columns = &id;
    s->n_columns = s->n_key = 1;
    s->key = &(size_t){0};

    struct target *target = target_new(STR("t_v1"), STR("t_write"), STR("db.t"), STR("shop"));
    struct reading *reading = mem_alloc(1, sizeof(*reading));

    reading->plan = plan_compile(d, &t, find, s, &err);
    assert_non_null(reading->plan);
    target->plan = reading;
    target->plan_free = reading_free;

    struct routing *r = routing_new(plan_topic(reading->plan, 0), &target, 1);

    target_unref(target);
    definitions_unref(d);
    schema_unref(s);
    return r;
}

static void names_are_told_apart_by_case_where_the_server_does(void **state)
{
    struct routing *r = route(STR("Shop"), STR("Orders"), false);

    (void)state;
    assert_non_null(routing_find(r, STR("Shop"), STR("Orders")));
    assert_null(routing_find(r, STR("Shop"), STR("orders")));
    assert_null(routing_find(r, STR("shop"), STR("Orders")));
    routing_unref(r);
}

static void the_log_may_have_names_in_another_case_where_the_server_does_not_mind(void **state)
{
    struct routing *r = route(STR("Shop"), STR("Orders"), true);

    (void)state;
    assert_non_null(routing_find(r, STR("shop"), STR("orders")));
    assert_ptr_equal(routing_find(r, STR("SHOP"), STR("orders")),
                     routing_find(r, STR("Shop"), STR("Orders")));
    assert_null(routing_find(r, STR("shop"), STR("order")));
    routing_unref(r);
}

/* 64 characters of three bytes each. */
static void the_longest_names_are_found(void **state)
{
    char name[193];

    (void)state;
    for (size_t i = 0; i < 64; i++)
        memcpy(name + 3 * i, "注", 3);
    name[192] = '\0';

    struct routing *r = route(str_from(name), str_from(name), false);

    assert_non_null(routing_find(r, str_from(name), str_from(name)));
    routing_unref(r);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(names_are_told_apart_by_case_where_the_server_does),
        cmocka_unit_test(the_log_may_have_names_in_another_case_where_the_server_does_not_mind),
        cmocka_unit_test(the_longest_names_are_found),
    };
    return cmocka_run_group_tests_name("routing", tests, NULL, NULL);
}
