/* Which parts of a document are written alone, and when none is. */
#include "config.h"

#include "tests/unit/unit.h"

#include "sync/document/plan.h"
#include "sync/document/plan_node.h"
#include "tests/unit/shop_fixture.h"

#include <string.h>

/* orders(id, customer, note) with buyer(id, name) and item(id, order_id) > maker(id, name). */
struct area_shop {
    struct shop shop;
    struct relation_definition below[1];
    struct column_definition made[1];
};

static int set_up(void **state)
{
    static struct str order_id[] = {STR("order_id")}, id[] = {STR("id")};
    struct area_shop *s = calloc(1, sizeof(*s));

    shop_init(&s->shop);
    add_column(s->shop.orders, "note", COLUMN_VARCHAR);
    s->shop.table.all_columns = true;
    s->shop.table.n_relations = 2;
    s->below[0] = (struct relation_definition){.from = order_id,
                                               .n_from = 1,
                                               .table = STR("db.customer"),
                                               .to = id,
                                               .n_to = 1,
                                               .as = STR("maker"),
                                               .all_columns = true};
    s->shop.relations[1].relations = s->below;
    s->shop.relations[1].n_relations = 1;
    *state = s;
    return 0;
}

static int tear_down(void **state)
{
    struct area_shop *s = *state;

    shop_fini(&s->shop);
    free(s);
    return 0;
}

static struct plan *compile(struct area_shop *s)
{
    struct err err = {0};
    struct plan *p = plan_compile(s->shop.defs, &s->shop.table, shop_find, &s->shop, &err);

    assert_string_equal(err.msg, "");
    return p;
}

static void check_areas(struct area_shop *s, size_t n, const char *why_not)
{
    struct plan *p = compile(s);
    struct str why;
    size_t has;

    (void)plan_areas(p, &has, &why);
    assert_int_equal(has, n);
    assert_true(str_equal(why, str_from(why_not)));
    for (size_t i = 0; n == 0 && i < plan_n_places(p); i++)
        assert_int_equal(plan_area_of(p, i), 0);
    plan_free(p);
}

static void nobody_has_areas_who_does_not_want_them(void **state)
{
    struct area_shop *s = *state;

    check_areas(s, 0, "");
    s->shop.relations[0].refresh = REFRESH_NONE;
    check_areas(s, 0, "");
}

static void the_part_is_the_member_of_the_document_that_the_relation_is_in(void **state)
{
    struct area_shop *s = *state;
    const struct str *names;
    struct plan *p;
    size_t n;

    s->below[0].refresh = REFRESH_AREA;
    p = compile(s);
    names = plan_areas(p, &n, NULL);
    assert_int_equal(n, 1);
    assert_true(str_equal(names[0], STR("item")));
    assert_int_equal(plan_area_of(p, 0), 0); /* orders */
    assert_int_equal(plan_area_of(p, 1), 0); /* buyer */
    assert_int_equal(plan_area_of(p, 2), 0); /* item: its own rows change the whole */
    assert_int_equal(plan_area_of(p, 3), 1); /* maker */
    plan_free(p);

    s->shop.relations[0].refresh = REFRESH_AREA;
    s->shop.relations[0].as = STR("buy \"er\"");
    p = compile(s);
    names = plan_areas(p, &n, NULL);
    assert_int_equal(n, 2);
    assert_true(str_equal(names[0], STR("buy \"er\"")));
    assert_int_equal(plan_area_of(p, 1), 1);
    assert_int_equal(plan_area_of(p, 3), 2);
    plan_free(p);
}

static void a_link_that_is_made_or_moved_changes_the_part_that_it_leads_to(void **state)
{
    static struct str order_id[] = {STR("order_id")}, id[] = {STR("id")};
    struct area_shop *s = *state;
    struct relation_definition *r = &s->shop.relations[1];
    struct plan *p;

    *r = (struct relation_definition){.from = id,
                                      .n_from = 1,
                                      .table = STR("db.customer"),
                                      .to = id,
                                      .n_to = 1,
                                      .as = STR("friends"),
                                      .many = true,
                                      .refresh = REFRESH_AREA,
                                      .all_columns = true,
                                      .through = {.given = true,
                                                  .table = STR("db.item"),
                                                  .from = order_id,
                                                  .n_from = 1,
                                                  .to = id,
                                                  .n_to = 1}};
    p = compile(s);
    assert_int_equal(plan_area_of(p, 1), 0); /* buyer */
    assert_int_equal(plan_area_of(p, 2), 1); /* the link */
    assert_int_equal(plan_area_of(p, 3), 1); /* customer */
    plan_free(p);
}

static void of_the_row_itself_only_its_key_and_what_the_part_is_joined_by_is_read(void **state)
{
    struct area_shop *s = *state;
    struct plan *p;

    s->shop.relations[0].refresh = s->shop.relations[1].refresh = REFRESH_AREA;
    p = compile(s);
    assert_true(str_equal(p->nodes[0]->select,
                          STR("`orders`.`id`,`orders`.`customer`,`orders`.`note`")));
    assert_true(str_equal(p->areas[0]->select, STR("`orders`.`id`,`orders`.`customer`,NULL")));
    assert_true(str_equal(p->areas[1]->select, STR("`orders`.`id`,NULL,NULL")));
    assert_false(p->areas[0]->by_key_alone); /* orders.customer leads to buyer */
    assert_true(p->areas[1]->by_key_alone);  /* orders.id leads to item */
    plan_free(p);
}

static void no_part_of_a_document_with_rows_of_another_server_is_written_alone(void **state)
{
    static struct topic_definition topics[2];
    static struct database_definition databases[2];
    struct area_shop *s = *state;
    struct plan *p;
    size_t n;

    topics[0] = (struct topic_definition){.name = STR("shop")};
    topics[1] = (struct topic_definition){.name = STR("far")};
    databases[0] = (struct database_definition){.name = STR("db"), .topic = STR("shop")};
    databases[1] = (struct database_definition){
        .name = STR("away"), .topic = STR("far"), .schema = STR("db")};
    s->shop.defs->topics = topics;
    s->shop.defs->n_topics = 2;
    s->shop.defs->databases = databases;
    s->shop.defs->n_databases = 2;
    s->below[0].table = STR("away.customer");
    s->shop.relations[0].refresh = s->shop.relations[1].refresh = REFRESH_AREA;
    p = compile(s);
    (void)plan_areas(p, &n, NULL);
    assert_int_equal(n, 0);
    assert_int_equal(plan_area_of(p, 2), 0);
    plan_free(p);
}

static void numbers_that_an_engine_would_round_keep_documents_whole(void **state)
{
    struct area_shop *s = *state;
    struct column *c = add_column(s->shop.customer, "amount", COLUMN_DECIMAL);

    s->shop.relations[1].refresh = REFRESH_AREA;
    c->precision = 15;
    check_areas(s, 1, "");
    c->precision = 16;
    check_areas(s, 0, "\"amount\" of table customer: its numbers may have more than 15 digits");
    c->precision = 19; /* a text, where columns say nothing else */
    check_areas(s, 1, "");
    c->type = COLUMN_JSON;
    check_areas(s, 0,
                "\"amount\" of table customer: its numbers may have any number of digits");
    c->type = COLUMN_VECTOR;
    check_areas(s, 0,
                "\"amount\" of table customer: engines keep vectors outside of documents");
    c->type = COLUMN_DOUBLE;
    check_areas(s, 1, "");
}

static void made_values_that_an_engine_would_round_keep_documents_whole(void **state)
{
    static const struct {
        struct column_definition column;
        bool whole;
    } cases[] = {
        {{.has_value = true,
          .value_json = STR("{\"a\":[123456789012345,\"1234567890123456\"]}")},
         false},
        {{.has_value = true, .value_json = STR("{\"a\":1234567890123456}")}, true},
        {{.has_value = true, .value_json = STR("123456789.0123456")}, true},
        {{.has_value = true, .value_json = STR("1e400")}, true},
        {{.has_value = true, .value_json = STR("\"a \\\" 1234567890123456\"")}, false},
        {{.has_default = true, .default_json = STR("0.1234567890123456")}, true},
        {{.transform_json = STR("[{\"kind\":\"number\"}]")}, true},
        {{.transform_json = STR("[{\"kind\":\"json\"}]")}, true},
        {{.transform_json = STR("[{\"kind\":\"trim\"}]")}, false},
    };
    struct area_shop *s = *state;

    s->shop.relations[1].refresh = REFRESH_AREA;
    s->shop.table.all_columns = false;
    s->shop.table.n_columns = 1;
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct plan *p;
        size_t n;

        s->shop.columns[0] = cases[i].column;
        s->shop.columns[0].name = STR("note");
        p = compile(s);
        (void)plan_areas(p, &n, NULL);
        assert_int_equal(n, cases[i].whole ? 0 : 1);
        plan_free(p);
    }
}

static void documents_that_engines_do_not_keep_as_they_are_stay_whole(void **state)
{
    struct area_shop *s = *state;

    s->shop.relations[1].refresh = REFRESH_AREA;
    s->shop.table.mapping_json = STR("{\"_source\":{\"excludes\":[\"note\"]}}");
    check_areas(s, 0,
                "its `mapping` sets which parts of a document the engine keeps (`_source`)");
    s->shop.table.mapping_json = STR("{\"properties\":{\"note\":{\"type\":\"text\"}}}");
    check_areas(s, 1, "");
}

static void documents_that_pass_a_pipeline_stay_whole(void **state)
{
    struct area_shop *s = *state;

    s->shop.relations[1].refresh = REFRESH_AREA;
    s->shop.table.pipeline = STR("embed");
    check_areas(s, 0, "updates of a part do not pass the pipeline");
}

#define CASE(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        CASE(nobody_has_areas_who_does_not_want_them),
        CASE(the_part_is_the_member_of_the_document_that_the_relation_is_in),
        CASE(a_link_that_is_made_or_moved_changes_the_part_that_it_leads_to),
        CASE(of_the_row_itself_only_its_key_and_what_the_part_is_joined_by_is_read),
        CASE(no_part_of_a_document_with_rows_of_another_server_is_written_alone),
        CASE(numbers_that_an_engine_would_round_keep_documents_whole),
        CASE(made_values_that_an_engine_would_round_keep_documents_whole),
        CASE(documents_that_engines_do_not_keep_as_they_are_stay_whole),
        CASE(documents_that_pass_a_pipeline_stay_whole),
    };

    return cmocka_run_group_tests_name("plan_areas", tests, NULL, NULL);
}
