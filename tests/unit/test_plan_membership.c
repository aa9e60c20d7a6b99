/* Where documents below the second level of a join lie, when their root has a composite key. */
#include "config.h"

#include "tests/unit/unit.h"

#include "sync/document/lookup.h"
#include "sync/document/membership.h"
#include "sync/document/plan.h"
#include "sync/document/plan_node.h"
#include "sync/document/query_roots.h"
#include "sync/document/resolver.h"
#include "tests/unit/document_fixture.h"

#include <string.h>

enum { SITE, AREA, SHELF, BOX, TABLES };

/* site(tenant, code), area below it, shelf below that, box below that. */
struct depot {
    struct schema *schemas[TABLES];
    struct table_definition tables[TABLES];
    struct definitions *defs;
};

static struct str columns_up[] = {STR("up")}, columns_site[] = {STR("tenant"), STR("site")};

static void add_table(struct depot *d, int level, const char *name, const char *table)
{
    struct schema *s = d->schemas[level] = make_schema(name, level == SITE ? 2 : 1);
    struct table_definition *t = &d->tables[level];

    if (level > SITE)
        add_column(s, "id", COLUMN_INT);
    add_column(s, "tenant", COLUMN_VARCHAR)->nullable = level > SITE;
    add_column(s, level == SITE ? "code" : "site", COLUMN_INT)->nullable = level > SITE;
    if (level > AREA)
        add_column(s, "up", COLUMN_INT)->nullable = true;
    *t = (struct table_definition){.table = str_from(table),
                                   .index = STR("depot"),
                                   .place = {"depot.yaml", 3 + (unsigned)level, 5},
                                   .all_columns = true,
                                   .join = {.given = true, .name = str_from(name)}};
    if (level == SITE)
        return;
    t->join.parent = d->tables[level - 1].table;
    t->join.parent_columns = level == AREA ? columns_site : columns_up;
    t->join.n_parent_columns = level == AREA ? 2 : 1;
    t->root_columns = level > AREA ? columns_site : NULL;
    t->n_root_columns = level > AREA ? 2 : 0;
}

static int set_up(void **state)
{
    struct depot *d = calloc(1, sizeof(*d));

    add_table(d, SITE, "site", "db.site");
    add_table(d, AREA, "area", "db.area");
    add_table(d, SHELF, "shelf", "db.shelf");
    add_table(d, BOX, "box", "db.box");
    d->defs = make_definitions(d->tables, TABLES);
    *state = d;
    return 0;
}

static int tear_down(void **state)
{
    struct depot *d = *state;

    for (size_t i = 0; i < TABLES; i++)
        schema_unref(d->schemas[i]);
    definitions_unref(d->defs);
    free(d);
    return 0;
}

static struct schema *find(void *ctx, struct str topic, struct str database, struct str table)
{
    struct depot *d = ctx;

    (void)topic;
    (void)database;
    for (size_t i = 0; i < TABLES; i++)
        if (str_equal(d->schemas[i]->table, table))
            return d->schemas[i];
    return NULL;
}

static struct plan *compile(struct depot *d, int level)
{
    struct err err = {0};
    struct plan *p = plan_compile(d->defs, &d->tables[level], find, d, &err);

    assert_string_equal(err.msg, "");
    return p;
}

static void compile_badly(struct depot *d, int level, const char *message)
{
    struct err err = {0};

    assert_null(plan_compile(d->defs, &d->tables[level], find, d, &err));
    assert_int_equal(err.kind, ERR_REJECT);
    assert_string_equal(err.msg, message);
}

static void assert_place(const struct plan *p, const struct schema *s, const struct value *row,
                         const char *routing_text)
{
    struct buf id = {0}, key = {0}, routing = {0};
    struct err err = {0};
    struct binding *b = plan_bind(p, 0, s, &err);

    assert_non_null(b);
    assert_true(plan_root_id(p, b, row, &id, &key, &routing, &err));
    assert_string_equal(text_of(&routing), routing_text);
    binding_free(b);
    buf_free(&id);
    buf_free(&key);
    buf_free(&routing);
}

static void rows_of_two_roots_never_have_one_routing(void **state)
{
    struct depot *d = *state;
    struct plan *p;

    d->schemas[SHELF]->columns[2].type = COLUMN_VARCHAR; /* site */
    d->schemas[SITE]->columns[1].type = COLUMN_VARCHAR;  /* code */
    d->schemas[AREA]->columns[2].type = COLUMN_VARCHAR;
    p = compile(d, SHELF);
    assert_place(
        p, d->schemas[SHELF],
        (struct value[]){int_value(1), text_value("a"), text_value("b,c"), int_value(2)},
        "site:a,b%2Cc");
    assert_place(
        p, d->schemas[SHELF],
        (struct value[]){int_value(1), text_value("a,b"), text_value("c"), int_value(2)},
        "site:a%2Cb,c");
    plan_free(p);
}

static void half_a_key_names_no_root(void **state)
{
    struct depot *d = *state;
    struct plan *p = compile(d, SHELF);

    assert_place(p, d->schemas[SHELF],
                 (struct value[]){int_value(1), text_value("a"), null_value(), int_value(2)},
                 "");
    assert_place(p, d->schemas[SHELF],
                 (struct value[]){int_value(1), null_value(), int_value(5), int_value(2)}, "");
    plan_free(p);
}

/* All parts come from the same row: the other is NULL where one of them is. */
static void every_part_of_the_roots_key_is_looked_up_over_the_parents(void **state)
{
    struct depot *d = *state;
    struct plan *p = compile(d, BOX);
    const struct plan_node *b = p->nodes[0];
    const struct membership *m = b->membership;

    assert_int_equal(m->n_ancestors, 2);
    assert_int_equal(m->root.n, 2);
    assert_true(m->root.at[0] != m->root.at[1]);
    assert_non_null(strstr(
        b->select.ptr,
        "COALESCE((SELECT COALESCE((SELECT CASE WHEN `_millrace_a1`.`site` IS NOT NULL THEN "
        "`_millrace_a1`.`tenant` END FROM `db`.`area` AS _millrace_a1 WHERE "));
    assert_non_null(strstr(
        b->select.ptr,
        "COALESCE((SELECT COALESCE((SELECT CASE WHEN `_millrace_a1`.`tenant` IS NOT NULL THEN "
        "`_millrace_a1`.`site` END FROM `db`.`area` AS _millrace_a1 WHERE "));
    assert_non_null(strstr(b->select.ptr, ",CASE WHEN `_millrace_a0`.`site` IS NOT NULL THEN "
                                          "`_millrace_a0`.`tenant` END) FROM `db`.`shelf`"));
    assert_non_null(
        strstr(b->select.ptr, ",CASE WHEN `box`.`tenant` IS NOT NULL THEN `box`.`site` END)"));
    plan_free(p);
}

static void a_move_of_any_part_of_the_root_moves_the_document(void **state)
{
    struct depot *d = *state;
    struct plan *p = compile(d, SHELF);
    const struct value was[] = {int_value(1), text_value("a"), int_value(5), int_value(2)},
                       code[] = {int_value(1), text_value("a"), int_value(6), int_value(2)},
                       tenant[] = {int_value(1), text_value("b"), int_value(5), int_value(2)};
    struct err err = {0};
    struct binding *b = plan_bind(p, 0, d->schemas[SHELF], &err);

    assert_false(plan_update_moves(p, b, was, was));
    assert_true(plan_update_moves(p, b, was, code));
    assert_true(plan_update_moves(p, b, was, tenant));
    binding_free(b);
    plan_free(p);
}

static void a_root_column_that_does_not_hold_its_part_of_the_key_is_refused(void **state)
{
    static struct str turned[] = {STR("site"), STR("tenant")},
                      unknown[] = {STR("tenant"), STR("oops")};
    struct depot *d = *state;

    d->tables[SHELF].root_columns = turned;
    compile_badly(
        d, SHELF,
        "depot.yaml:5:5: `site` (a type) cannot hold `tenant` (a type) of db.site: they "
        "make different ids");
    d->tables[SHELF].root_columns = unknown;
    compile_badly(
        d, SHELF,
        "depot.yaml:5:5: table db.shelf has no column `oops`, which the definition names "
        "(was it renamed or dropped?); fix: correct the definition, then millrace apply");
    d->tables[SHELF].n_root_columns = 1;
    compile_badly(d, SHELF,
                  "depot.yaml:5:5: `root_column` has 1 column and the key of db.site 2");
    compile_badly(d, BOX, "depot.yaml:5:5: the key of its root has 2 columns");
}

static void what_is_below_documents_is_looked_up_by_their_ids(void **state)
{
    struct depot *d = *state;
    struct arena *a = arena_new();
    struct plan *p[TABLES];
    struct lookup_term term;

    for (int i = 0; i < TABLES; i++)
        p[i] = compile(d, i);
    assert_true(lookup_children(p[AREA], p[SHELF], a, &term));
    assert_true(str_equal(term.field, STR("join#area")));
    assert_true(lookup_children(p[SHELF], p[BOX], a, &term));
    assert_true(str_equal(term.field, STR("join#shelf")));
    assert_false(lookup_children(p[SITE], p[AREA], a, &term)); /* whose own columns say where */
    assert_false(lookup_children(p[AREA], p[BOX], a, &term));
    assert_true(lookup_places(p[AREA], STR("SITE")));
    assert_true(lookup_places(p[SHELF], STR("up")));
    assert_false(lookup_places(p[AREA], STR("id")));
    for (int i = 0; i < TABLES; i++)
        plan_free(p[i]);
    arena_free(a);
}

/* Boxes hold the whole key of their shelf, but only its row tells the site that routes it. */
static void
a_row_below_a_document_that_lies_elsewhere_does_not_lead_there_without_sql(void **state)
{
    static struct str id[] = {STR("id")};
    static struct relation_definition boxes = {.from = id,
                                               .n_from = 1,
                                               .table = STR("db.box"),
                                               .to = columns_up,
                                               .n_to = 1,
                                               .as = STR("boxes"),
                                               .many = true,
                                               .all_columns = true};
    const struct value row[] = {int_value(1), text_value("a"), int_value(5), int_value(42)};
    struct depot *d = *state;
    struct buf join = {0}, id_buf = {0}, key = {0}, routing = {0};
    struct err err = {0};
    struct plan *p;

    d->tables[SHELF].relations = &boxes;
    d->tables[SHELF].n_relations = 1;
    p = compile(d, SHELF);

    struct binding *b = plan_bind(p, 1, d->schemas[BOX], &err);

    assert_true(resolver_join_key(p, 1, b, row, &join));
    assert_false(resolver_direct(p, 1, buf_str(&join), &id_buf, &key, &routing));
    binding_free(b);
    plan_free(p);
    buf_free(&join);
    buf_free(&id_buf);
    buf_free(&key);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(rows_of_two_roots_never_have_one_routing, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(half_a_key_names_no_root, set_up, tear_down),
        cmocka_unit_test_setup_teardown(
            every_part_of_the_roots_key_is_looked_up_over_the_parents, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_move_of_any_part_of_the_root_moves_the_document,
                                        set_up, tear_down),
        cmocka_unit_test_setup_teardown(
            a_root_column_that_does_not_hold_its_part_of_the_key_is_refused, set_up, tear_down),
        cmocka_unit_test_setup_teardown(what_is_below_documents_is_looked_up_by_their_ids,
                                        set_up, tear_down),
        cmocka_unit_test_setup_teardown(
            a_row_below_a_document_that_lies_elsewhere_does_not_lead_there_without_sql, set_up,
            tear_down),
    };
    return cmocka_run_group_tests_name("plan_membership", tests, NULL, NULL);
}
