#include "config.h"

#include "tests/unit/unit.h"

#include "sync/decode/row.h"
#include "sync/document/key.h"
#include "sync/document/plan.h"
#include "sync/document/resolver.h"
#include "sync/related/cascade/parent.h"
#include "sync/routing/cascade_plan.h"
#include "tests/unit/document_fixture.h"

#define TABLES 3

/* p is in no definition; c(id, p), g(id, c, p) are, each as an index of its own. */
struct family {
    struct schema *schemas[TABLES]; /* p, c, g */
    struct table_definition tables[2];
    struct definitions *defs;
    struct plan *plans[2];
    struct foreign_key keys[TABLES][2];
    size_t n_keys[TABLES];
    struct cascade_plan *cascades;
};

static struct str col_id[] = {STR("id")}, col_p[] = {STR("p")}, col_c[] = {STR("c")},
                  col_both[] = {STR("p"), STR("c")}, col_p_id[] = {STR("p"), STR("id")};

static const char *const names[TABLES] = {"p", "c", "g"};

static size_t number_of(struct str table)
{
    for (size_t i = 0; i < TABLES; i++)
        if (str_equal(table, str_from(names[i])))
            return i;
    fail();
    return 0;
}

static struct schema *find(void *ctx, struct str topic, struct str database, struct str table)
{
    (void)topic;
    (void)database;
    return ((struct family *)ctx)->schemas[number_of(table)];
}

static bool find_keys(void *ctx, const struct catalog_name *tables, size_t n, struct arena *a,
                      struct foreign_keys *out, struct err *err)
{
    struct family *f = ctx;

    (void)a;
    (void)err;
    for (size_t i = 0; i < n; i++) {
        const size_t table = number_of(tables[i].table);

        out[i] = (struct foreign_keys){f->keys[table], f->n_keys[table]};
    }
    return true;
}

static void add_key(struct family *f, const char *child, const char *parent,
                    struct str *columns, struct str *parent_columns, size_t n,
                    const char *on_delete, const char *on_update)
{
    const size_t i = number_of(str_from(child));

    f->keys[i][f->n_keys[i]++] = (struct foreign_key){.name = STR("fk"),
                                                      .schema = STR("db"),
                                                      .table = str_from(child),
                                                      .parent_schema = STR("db"),
                                                      .parent_table = str_from(parent),
                                                      .columns = columns,
                                                      .parent_columns = parent_columns,
                                                      .n_columns = n,
                                                      .on_delete = str_from(on_delete),
                                                      .on_update = str_from(on_update)};
}

static int set_up(void **state)
{
    struct family *f = calloc(1, sizeof(*f));

    for (size_t i = 0; i < TABLES; i++) {
        f->schemas[i] = make_schema(names[i], 1);
        add_column(f->schemas[i], "id", COLUMN_INT);
        add_column(f->schemas[i], "p", COLUMN_INT);
        add_column(f->schemas[i], "c", COLUMN_INT);
    }
    f->tables[0] = (struct table_definition){.table = STR("db.c"), .all_columns = true};
    f->tables[1] = (struct table_definition){.table = STR("db.g"), .all_columns = true};
    f->defs = make_definitions(f->tables, 2);
    *state = f;
    return 0;
}

static int tear_down(void **state)
{
    struct family *f = *state;

    cascade_plan_free(f->cascades);
    for (size_t i = 0; i < 2; i++)
        plan_free(f->plans[i]);
    for (size_t i = 0; i < TABLES; i++)
        schema_unref(f->schemas[i]);
    definitions_unref(f->defs);
    free(f);
    return 0;
}

/* Plans of the tables from `first` to c (0) and g (1). */
static const struct cascade_table *compile(struct family *f, size_t first, const char *parent)
{
    struct err err = {0};

    for (size_t i = first; i < 2; i++) {
        f->plans[i] = plan_compile(f->defs, &f->tables[i], find, f, &err);
        assert_non_null(f->plans[i]);
    }
    f->cascades = cascade_plan_compile(f->plans + first, 2 - first, find_keys, f, &err);
    assert_non_null(f->cascades);
    return cascade_plan_find(f->cascades, STR("db"), str_from(parent));
}

static void a_key_without_an_action_changes_nothing(void **state)
{
    struct family *f = *state;

    add_key(f, "c", "p", col_p, col_id, 1, "RESTRICT", "NO ACTION");
    assert_null(compile(f, 0, "p"));
}

static void a_parent_in_no_definition_leads_to_its_children(void **state)
{
    struct family *f = *state;

    add_key(f, "c", "p", col_p, col_id, 1, "CASCADE", "RESTRICT");

    const struct cascade_table *p = compile(f, 0, "p");

    assert_non_null(p);
    assert_int_equal(p->on[CASCADE_DELETE].n_steps, 1);
    assert_int_equal(p->on[CASCADE_DELETE].steps[0].target, 0);
    assert_true(p->on[CASCADE_DELETE].keys[0].deletes);
    assert_int_equal(p->on[CASCADE_UPDATE].n_steps, 0);
    assert_true(p->on[CASCADE_DELETE].keys[0].child->goes);
}

static void the_next_level_is_found_by_the_keys_of_an_index_between(void **state)
{
    struct family *f = *state;

    add_key(f, "c", "p", col_p, col_id, 1, "CASCADE", "RESTRICT");
    add_key(f, "g", "c", col_c, col_id, 1, "SET NULL", "RESTRICT");

    const struct cascade_table *p = compile(f, 0, "p");
    const struct cascade_table *c = cascade_plan_find(f->cascades, STR("db"), STR("c"));

    assert_int_equal(p->on[CASCADE_DELETE].n_steps, 1);
    assert_int_equal(p->on[CASCADE_DELETE].n_blind, 0);
    assert_int_equal(c->on[CASCADE_DELETE].n_steps, 1);
    assert_int_equal(c->on[CASCADE_DELETE].steps[0].target, 1);
    assert_false(c->on[CASCADE_DELETE].keys[0].deletes);
}

static void without_an_index_between_the_next_level_is_blind(void **state)
{
    struct family *f = *state;

    add_key(f, "c", "p", col_p, col_id, 1, "CASCADE", "RESTRICT");
    add_key(f, "g", "c", col_c, col_id, 1, "CASCADE", "RESTRICT");

    const struct cascade_table *p = compile(f, 1, "p");

    assert_non_null(p);
    assert_int_equal(p->on[CASCADE_DELETE].n_steps, 0);
    assert_int_equal(p->on[CASCADE_DELETE].n_blind, 1);
    assert_int_equal(p->on[CASCADE_DELETE].blind[0].target, 0);
    assert_non_null(strstr(p->on[CASCADE_DELETE].blind[0].reason.ptr, "such a table for db.c"));
}

static void an_index_between_that_leaves_rows_out_tells_nothing(void **state)
{
    struct family *f = *state;

    f->tables[0].filter = STR("c > 0");
    add_key(f, "c", "p", col_p, col_id, 1, "CASCADE", "RESTRICT");
    add_key(f, "g", "c", col_c, col_id, 1, "CASCADE", "RESTRICT");

    const struct cascade_table *p = compile(f, 0, "p");

    assert_non_null(p);
    assert_int_equal(p->on[CASCADE_DELETE].n_blind, 1);
    assert_int_equal(p->on[CASCADE_DELETE].blind[0].target, 1);
    assert_non_null(
        strstr(p->on[CASCADE_DELETE].blind[0].reason.ptr, "no index without a filter"));
}

static void values_that_go_through_need_no_index_between(void **state)
{
    struct family *f = *state;

    add_key(f, "c", "p", col_p, col_id, 1, "CASCADE", "CASCADE");
    add_key(f, "g", "c", col_p, col_p, 1, "CASCADE", "CASCADE");

    const struct cascade_table *p = compile(f, 1, "p");

    for (int cause = 0; cause < N_CASCADE_CAUSES; cause++) {
        assert_int_equal(p->on[cause].n_blind, 0);
        assert_int_equal(p->on[cause].n_steps, 1);
        assert_int_equal(p->on[cause].steps[0].n_looks, 1);

        const struct cascade_key *k = &p->on[cause].keys[p->on[cause].steps[0].looks[0].key];

        assert_string_equal(k->child->table.ptr, "g");
        assert_string_equal(k->columns[0].ptr, "p");
        assert_string_equal(k->parent_columns[0].ptr, "id");
    }
}

static void an_update_that_fills_part_of_a_longer_key_finds_by_that_part(void **state)
{
    struct family *f = *state;

    add_key(f, "c", "p", col_p, col_id, 1, "RESTRICT", "CASCADE");
    add_key(f, "g", "c", col_both, col_p_id, 2, "RESTRICT", "CASCADE");

    const struct cascade_effect *effect = &compile(f, 0, "p")->on[CASCADE_UPDATE];

    assert_int_equal(effect->n_steps, 2);
    assert_int_equal(effect->n_blind, 0);
    assert_int_equal(effect->steps[1].target, 1);

    const struct cascade_key *k = &effect->keys[effect->steps[1].looks[0].key];

    assert_int_equal(k->n_columns, 1);
    assert_string_equal(k->columns[0].ptr, "p");
    assert_string_equal(k->parent_columns[0].ptr, "id");
}

/* The document keys of c and g are (id, p): p is the parent's. */
static void share_keys(struct family *f)
{
    for (size_t i = 1; i < TABLES; i++) {
        struct schema *s = f->schemas[i];

        s->n_key = 2;
        s->key = arena_alloc(s->arena, s->n_key, sizeof(*s->key));
        s->key[1] = 1;
    }
}

static void rows_whose_own_key_changes_are_found_by_the_new_one_on_every_level(void **state)
{
    struct family *f = *state;

    share_keys(f);
    add_key(f, "c", "p", col_both, col_p_id, 2, "CASCADE", "CASCADE");
    add_key(f, "g", "c", col_p, col_p, 1, "CASCADE", "CASCADE");

    const struct cascade_table *p = compile(f, 0, "p");
    const struct cascade_effect *effect = &p->on[CASCADE_UPDATE];

    assert_int_equal(effect->n_blind, 0);
    assert_int_equal(effect->n_steps, 2);
    for (size_t i = 0; i < effect->n_steps; i++) {
        const struct cascade_look *look = &effect->steps[i].looks[0];

        assert_int_equal(look->by, RESOLVER_BY(1));
        assert_int_equal(look->n_parts, 1);
        assert_string_equal(effect->keys[look->key].columns[look->parts[0]].ptr, "p");
        assert_int_equal(p->on[CASCADE_DELETE].steps[i].looks[0].by, 0);
    }
}

static void rows_that_get_no_value_are_not_found_by_the_new_one(void **state)
{
    struct family *f = *state;

    share_keys(f);
    add_key(f, "c", "p", col_p, col_id, 1, "RESTRICT", "SET NULL");
    assert_int_equal(compile(f, 0, "p")->on[CASCADE_UPDATE].steps[0].looks[0].by, 0);
}

static void a_key_that_changes_what_no_document_reads_leads_nowhere(void **state)
{
    struct family *f = *state;
    struct column_definition id = {.name = STR("id")};

    f->tables[0].all_columns = false;
    f->tables[0].columns = &id;
    f->tables[0].n_columns = 1;
    add_key(f, "c", "p", col_p, col_id, 1, "CASCADE", "CASCADE");
    add_key(f, "c", "g", col_c, col_id, 1, "SET NULL", "CASCADE");

    const struct cascade_table *p = compile(f, 0, "p");

    assert_int_equal(p->on[CASCADE_DELETE].n_steps, 1);
    assert_int_equal(p->on[CASCADE_UPDATE].n_steps, 0);
    assert_null(cascade_plan_find(f->cascades, STR("db"), STR("g")));
}

static void a_condition_or_an_order_reads_the_columns_that_it_names(void **state)
{
    struct family *f = *state;
    struct column_definition id = {.name = STR("id")};

    f->tables[0].all_columns = false;
    f->tables[0].columns = &id;
    f->tables[0].n_columns = 1;
    f->tables[0].filter = STR("`P` > 1");
    add_key(f, "c", "p", col_p, col_id, 1, "RESTRICT", "CASCADE");
    add_key(f, "c", "g", col_c, col_id, 1, "RESTRICT", "CASCADE");
    assert_int_equal(compile(f, 0, "p")->on[CASCADE_UPDATE].n_steps, 1);
    assert_null(cascade_plan_find(f->cascades, STR("db"), STR("g")));
}

static void what_the_server_computes_may_be_computed_of_what_a_key_changes(void **state)
{
    struct family *f = *state;
    struct column_definition shown[] = {{.name = STR("id")}, {.name = STR("sum")}};

    add_column(f->schemas[1], "sum", COLUMN_INT)->generated = true;
    f->tables[0].all_columns = false;
    f->tables[0].columns = shown;
    f->tables[0].n_columns = ARRAY_LEN(shown);
    add_key(f, "c", "p", col_p, col_id, 1, "RESTRICT", "CASCADE");
    assert_int_equal(compile(f, 0, "p")->on[CASCADE_UPDATE].n_steps, 1);
}

static void a_table_that_refers_to_itself_leads_to_itself(void **state)
{
    struct family *f = *state;

    add_key(f, "c", "c", col_c, col_id, 1, "CASCADE", "RESTRICT");

    const struct cascade_table *c = compile(f, 0, "c");

    assert_int_equal(c->on[CASCADE_DELETE].n_keys, 1);
    assert_int_equal(c->on[CASCADE_DELETE].n_steps, 1);
    assert_int_equal(c->on[CASCADE_DELETE].n_blind, 0);
}

static void a_key_that_leads_round_in_a_circle_is_followed_once(void **state)
{
    struct family *f = *state;

    add_key(f, "c", "p", col_p, col_id, 1, "CASCADE", "RESTRICT");
    add_key(f, "c", "c", col_p, col_p, 1, "CASCADE", "RESTRICT");
    assert_int_equal(compile(f, 0, "p")->on[CASCADE_DELETE].n_keys, 1);
}

static void what_is_blind_and_refers_to_itself_is_told_once(void **state)
{
    struct family *f = *state;

    add_key(f, "c", "p", col_p, col_id, 1, "CASCADE", "RESTRICT");
    add_key(f, "g", "c", col_c, col_id, 1, "CASCADE", "RESTRICT");
    add_key(f, "g", "g", col_p, col_id, 1, "CASCADE", "RESTRICT");
    assert_int_equal(compile(f, 1, "p")->on[CASCADE_DELETE].n_blind, 1);
}

/* ---- rows ---- */

static struct value absent_value(void)
{
    return (struct value){.kind = VALUE_ABSENT};
}

static void assert_key(struct str key, const char *text)
{
    struct str part;

    assert_true(key_next(&key, &part));
    assert_int_equal(part.len, strlen(text));
    assert_memory_equal(part.ptr, text, part.len);
}

static void rows_set_off_what_their_old_values_are_referred_to_by(void **state)
{
    struct family *f = *state;
    struct cascade_triggered off;
    struct value old[] = {int_value(7), int_value(8), null_value()};
    struct value new[] = {int_value(7), int_value(9), null_value()};

    add_key(f, "c", "p", col_p, col_id, 1, "CASCADE", "CASCADE");
    add_key(f, "g", "p", col_p, col_p, 1, "SET NULL", "CASCADE");

    struct cascade_parent *parent = cascade_parent_new(compile(f, 0, "p"), f->schemas[0]);

    assert_false(cascade_parent_look(parent, &(struct row_change){.after = new}, &off));
    assert_true(cascade_parent_look(parent, &(struct row_change){.before = old}, &off));
    assert_int_equal(off.cause, CASCADE_DELETE);
    assert_key(off.keys[0], "7");
    assert_key(off.keys[1], "8");
    assert_true(
        cascade_parent_look(parent, &(struct row_change){.before = old, .after = new}, &off));
    assert_int_equal(off.cause, CASCADE_UPDATE);
    assert_int_equal(off.keys[0].len, 0);
    assert_key(off.keys[1], "8");
    assert_int_equal(off.now[0].len, 0);
    assert_key(off.now[1], "9");
    new[1] = null_value();
    assert_true(
        cascade_parent_look(parent, &(struct row_change){.before = old, .after = new}, &off));
    assert_int_equal(off.now[1].len, 0);
    old[1] = null_value();
    assert_false(
        cascade_parent_look(parent, &(struct row_change){.before = old, .after = new}, &off));
    cascade_parent_free(parent);
}

static void what_the_new_image_lacks_is_as_it_was(void **state)
{
    struct family *f = *state;
    struct cascade_triggered off;
    struct value old[] = {int_value(7), int_value(8), null_value()};
    struct value new[] = {absent_value(), int_value(9), absent_value()};

    add_key(f, "c", "p", col_both, col_p_id, 2, "CASCADE", "CASCADE");

    struct cascade_parent *parent = cascade_parent_new(compile(f, 0, "p"), f->schemas[0]);
    struct str now, part;

    assert_true(
        cascade_parent_look(parent, &(struct row_change){.before = old, .after = new}, &off));
    now = off.now[0];
    assert_key(now, "9");
    assert_true(key_next(&now, &part));
    assert_key(now, "7");
    cascade_parent_free(parent);
}

static void what_the_images_lack_is_unknown_only_where_it_counts(void **state)
{
    struct family *f = *state;
    struct cascade_triggered off;
    struct value old[] = {int_value(7), absent_value(), absent_value()};
    struct value new[] = {absent_value(), absent_value(), int_value(3)};

    add_key(f, "c", "p", col_p, col_id, 1, "CASCADE", "CASCADE");
    add_key(f, "g", "p", col_p, col_p, 1, "SET NULL", "CASCADE");

    struct cascade_parent *parent = cascade_parent_new(compile(f, 0, "p"), f->schemas[0]);

    assert_true(cascade_parent_look(parent, &(struct row_change){.before = old}, &off));
    assert_key(off.keys[0], "7");
    assert_false(off.unknown[0]);
    assert_true(off.unknown[1]);
    assert_false(
        cascade_parent_look(parent, &(struct row_change){.before = old, .after = new}, &off));
    new[1] = int_value(4);
    assert_true(
        cascade_parent_look(parent, &(struct row_change){.before = old, .after = new}, &off));
    assert_false(off.unknown[0]);
    assert_true(off.unknown[1]);
    cascade_parent_free(parent);
}

int main(void)
{
#define TEST(f) cmocka_unit_test_setup_teardown(f, set_up, tear_down)
    const struct CMUnitTest tests[] = {
        TEST(a_key_without_an_action_changes_nothing),
        TEST(a_parent_in_no_definition_leads_to_its_children),
        TEST(the_next_level_is_found_by_the_keys_of_an_index_between),
        TEST(without_an_index_between_the_next_level_is_blind),
        TEST(an_index_between_that_leaves_rows_out_tells_nothing),
        TEST(values_that_go_through_need_no_index_between),
        TEST(rows_whose_own_key_changes_are_found_by_the_new_one_on_every_level),
        TEST(rows_that_get_no_value_are_not_found_by_the_new_one),
        TEST(a_key_that_changes_what_no_document_reads_leads_nowhere),
        TEST(a_condition_or_an_order_reads_the_columns_that_it_names),
        TEST(what_the_server_computes_may_be_computed_of_what_a_key_changes),
        TEST(an_update_that_fills_part_of_a_longer_key_finds_by_that_part),
        TEST(a_table_that_refers_to_itself_leads_to_itself),
        TEST(a_key_that_leads_round_in_a_circle_is_followed_once),
        TEST(what_is_blind_and_refers_to_itself_is_told_once),
        TEST(rows_set_off_what_their_old_values_are_referred_to_by),
        TEST(what_the_new_image_lacks_is_as_it_was),
        TEST(what_the_images_lack_is_unknown_only_where_it_counts),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
