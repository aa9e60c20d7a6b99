#include "config.h"

#include "tests/unit/document_fixture.h"
#include "tests/unit/unit.h"

#include "src/mysql/account.h"
#include "sync/catalog/catalog.h"
#include "sync/server/schemas.h"
#include "sync/value/schema_json.h"

/* What the server shows of a table, NULL: nothing, and what it says when it is asked for the
 * rest. */
static struct schema *shown;
static struct err says;
static size_t n_asked;
static size_t n_loads, n_names; /* calls of catalog_load(), and names in them */
static bool fails_at_many;

bool catalog_load(struct mysql_conn *c, const struct catalog_name *names, size_t n,
                  struct schema **out, struct err *err)
{
    (void)c, (void)names;
    n_loads++;
    n_names += n;
    if (n > 1 && fails_at_many)
        return err_set(err, ERR_RETRY, "tables change all the time");
    for (size_t i = 0; i < n; i++)
        out[i] = shown == NULL ? NULL : schema_ref(shown);
    return true;
}

bool catalog_is_denied(struct mysql_conn *c, const struct catalog_name *name,
                       const struct str *columns, size_t n_columns, struct err *err)
{
    (void)c, (void)name, (void)columns, (void)n_columns;
    n_asked++;
    *err = says;
    return says.kind == ERR_REJECT;
}

bool catalog_list_base_tables(struct mysql_conn *c, struct str schema, struct arena *a,
                              struct str **out, size_t *n, struct err *err)
{
    (void)c, (void)schema, (void)a, (void)out, (void)n, (void)err;
    return false;
}

void mysql_account_append_known(struct mysql_conn *c, struct buf *out)
{
    (void)c;
    buf_append(out, STR("'millrace'@'%'"));
}

static struct schemas *s;

static int set_up(void **state)
{
    (void)state;
    n_asked = n_loads = n_names = 0;
    fails_at_many = false;
    says = (struct err){0};
    s = schemas_new(STR("shop"));
    schemas_use(s, (struct mysql_conn *)s); /* nobody looks at it */
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    schemas_free(s);
    schema_unref(shown);
    shown = NULL;
    return 0;
}

static struct schema *table(size_t n_columns)
{
    static const char *const names[] = {"id", "a", "b"};
    struct schema *t = make_schema("t", 1);

    for (size_t i = 0; i < n_columns; i++)
        add_column(t, names[i], COLUMN_INT);
    return t;
}

/* A version that has seen the table with so many columns. */
static void remember(struct schema_list *before, size_t n_columns)
{
    struct schema *t = table(n_columns);

    *before = (struct schema_list){0};
    schema_list_add(before, STR("shop"), t);
    schema_unref(t);
    schemas_remember(s, before, NULL);
}

static struct schema *find_named(const char *name)
{
    return schemas_find(s, STR("shop"), STR("db"), str_from(name));
}

static struct schema *find(void)
{
    return find_named("t");
}

static void a_table_that_is_denied_is_for_each_version_as_that_has_seen_it(void **state)
{
    struct schema_list first, second;

    (void)state;
    says = (struct err){.kind = ERR_REJECT};
    remember(&first, 2);
    assert_int_equal(find()->n_columns, 2);
    assert_int_equal(find()->n_columns, 2);
    assert_int_equal(n_asked, 1);
    remember(&second, 3);
    assert_int_equal(find()->n_columns, 3);
    schemas_remember(s, NULL, NULL);
    assert_null(find());
    assert_int_equal(schemas_denied(s)->kind, ERR_REJECT);
    assert_non_null(strstr(schemas_denied(s)->msg, "TO 'millrace'@'%')"));
    schema_list_fini(&first);
    schema_list_fini(&second);
}

static void a_table_whose_right_comes_while_it_is_looked_at_is_not_taken_for_what_is_left_of_it(
    void **state)
{
    struct schema_list before;

    (void)state;
    says = (struct err){.kind = ERR_RETRY};
    shown = table(1);
    remember(&before, 2);
    assert_null(find());
    assert_int_equal(schemas_failed(s)->kind, ERR_RETRY);
    schemas_remember(s, NULL, NULL);
    schema_list_fini(&before);
}

/* As the router does when DDL comes. */
static void look_anew(void)
{
    schemas_forget(s);
    schemas_use(s, (struct mysql_conn *)s);
    n_loads = n_names = 0;
}

static void tables_that_were_used_are_read_at_once_after_ddl(void **state)
{
    (void)state;
    shown = table(2);
    find_named("a");
    find_named("b");
    find_named("c");
    assert_int_equal(n_loads, 3);
    look_anew();
    assert_non_null(find_named("b"));
    assert_non_null(find_named("a"));
    assert_int_equal(n_loads, 1);
    assert_int_equal(n_names, 3);
    look_anew(); /* nobody used c meanwhile */
    assert_non_null(find_named("a"));
    assert_int_equal(n_names, 2);
    assert_non_null(find_named("c"));
    assert_int_equal(n_loads, 2);
}

static void tables_that_are_announced_are_read_at_once(void **state)
{
    (void)state;
    shown = table(2);
    schemas_expect(s, STR("db"), STR("a"));
    schemas_expect(s, STR("db"), STR("b"));
    schemas_expect(s, STR("db"), STR("a"));
    assert_int_equal(n_loads, 0);
    assert_non_null(find_named("b"));
    assert_non_null(find_named("a"));
    assert_int_equal(n_loads, 1);
    assert_int_equal(n_names, 2);
}

static void an_announced_table_that_is_missing_is_not_looked_for_again(void **state)
{
    (void)state;
    schemas_expect(s, STR("db"), STR("a"));
    schemas_expect(s, STR("db"), STR("b"));
    assert_null(find_named("a"));
    assert_null(find_named("b"));
    assert_int_equal(n_loads, 1);
    assert_int_equal(schemas_failed(s)->kind, ERR_NONE);
}

static void tables_that_cannot_be_read_at_once_are_read_alone(void **state)
{
    (void)state;
    shown = table(2);
    find_named("a");
    find_named("b");
    look_anew();
    fails_at_many = true;
    assert_non_null(find_named("a"));
    assert_non_null(find_named("b"));
    assert_int_equal(schemas_failed(s)->kind, ERR_NONE);
    assert_int_equal(n_loads, 3);
}

static void what_is_read_ahead_is_judged_by_the_version_that_asks(void **state)
{
    struct schema_list before;

    (void)state;
    shown = table(2);
    find_named("other");
    find();
    look_anew();
    schemas_remember(s, NULL, NULL);
    find_named("other");
    schema_unref(shown);
    shown = NULL;
    says = (struct err){.kind = ERR_REJECT};
    remember(&before, 3); /* it knows a column that is hidden now */
    assert_int_equal(find()->n_columns, 3);
    assert_int_equal(schemas_denied(s)->kind, ERR_REJECT);
    schemas_remember(s, NULL, NULL);
    schema_list_fini(&before);
}

#define CASE(f) cmocka_unit_test_setup_teardown(f, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        CASE(tables_that_were_used_are_read_at_once_after_ddl),
        CASE(tables_that_are_announced_are_read_at_once),
        CASE(an_announced_table_that_is_missing_is_not_looked_for_again),
        CASE(tables_that_cannot_be_read_at_once_are_read_alone),
        CASE(what_is_read_ahead_is_judged_by_the_version_that_asks),
        CASE(a_table_that_is_denied_is_for_each_version_as_that_has_seen_it),
        CASE(
            a_table_whose_right_comes_while_it_is_looked_at_is_not_taken_for_what_is_left_of_it),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
