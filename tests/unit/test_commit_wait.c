#include "config.h"

#include "tests/unit/unit.h"

#include "src/base/buf.h"
#include "sync/decode/table_map.h"
#include "sync/read/commit_wait.h"
#include "sync/value/schema.h"
#include "sync/value/value.h"

/* A table of up to three columns; the first n_key of them are its key. */
static struct schema *table(const char *engine, const struct column *columns, size_t n,
                            size_t n_key)
{
    struct schema *s = schema_new(STR("a`db"), STR("t"));

    s->engine = str_from(engine);
    s->columns = arena_alloc(s->arena, n, sizeof(*columns));
    memcpy(s->columns, columns, n * sizeof(*columns));
    s->n_columns = n;
    s->key = arena_alloc(s->arena, n, sizeof(*s->key));
    for (size_t i = 0; i < n_key; i++)
        s->key[i] = i;
    s->n_key = n_key;
    return s;
}

static const struct column id = {.name = STR("id"), .type = COLUMN_BIGINT};
static const struct column code = {
    .name = STR("code"), .type = COLUMN_VARCHAR, .charset = STR("latin1")};
static const struct column bytes = {.name = STR("b"), .type = COLUMN_VARBINARY};
static const struct column label = {.name = STR("e"), .type = COLUMN_ENUM};
static const struct column real = {.name = STR("r"), .type = COLUMN_DOUBLE};

/* The statement for a row of the log whose columns stand as logged says; checks and frees. */
static void check(struct schema *known, struct schema *logged, const struct value *row,
                  const char *expected)
{
    const struct table_map map = {.schema = logged};
    struct buf sql = {0};

    buf_append(&sql, STR("> "));
    commit_wait_format(&sql, known, &map, row);
    assert_string_equal(sql.ptr + 2, expected);
    buf_free(&sql);
    schema_unref(known);
    schema_unref(logged);
}

static void a_row_is_locked_by_its_whole_key(void **state)
{
    const struct column columns[] = {id, code, bytes};
    const struct value row[] = {{.kind = VALUE_INT, .i = -7},
                                {.kind = VALUE_TEXT, .s = STR("it's")},
                                {.kind = VALUE_BYTES, .s = STR("\x01z")}};

    (void)state;
    check(table("InnoDB", columns, 3, 3), table("", columns, 3, 0), row,
          "SELECT 1 FROM `a``db`.`t` WHERE `id` = -7 AND `code` = 'it''s' AND `b` = x'017a' "
          "LOCK IN SHARE MODE");
}

static void columns_are_found_by_their_names_in_the_log(void **state)
{
    const struct column now[] = {id, code}, then[] = {code, id};
    const struct value row[] = {{.kind = VALUE_TEXT, .s = STR("x")},
                                {.kind = VALUE_UINT, .u = 9}};

    (void)state;
    check(table("InnoDB", now, 2, 1), table("", then, 2, 0), row,
          "SELECT 1 FROM `a``db`.`t` WHERE `id` = 9 LOCK IN SHARE MODE");
}

static void what_would_lock_more_than_the_row_is_not_asked(void **state)
{
    const struct column columns[] = {id, label, real};
    const struct value row[] = {{.kind = VALUE_INT, .i = 1},
                                {.kind = VALUE_ENUM, .u = 1, .s = STR("one")},
                                {.kind = VALUE_DOUBLE, .d = 1}};
    const struct column other[] = {code};

    (void)state;
    check(table("InnoDB", columns, 3, 0), table("", columns, 3, 0), row, "");
    check(table("InnoDB", columns, 2, 2), table("", columns, 3, 0), row, "");
    check(table("InnoDB", columns, 3, 3), table("", columns, 3, 0), row, "");
    check(table("InnoDB", columns, 1, 1), table("", other, 1, 0), row, "");
}

static void tables_without_row_locks_are_not_asked(void **state)
{
    const struct column columns[] = {id};
    const struct value row[] = {{.kind = VALUE_INT, .i = 1}};

    (void)state;
    check(table("MyISAM", columns, 1, 1), table("", columns, 1, 0), row, "");
    check(table("", columns, 1, 1), table("", columns, 1, 0), row, "");
}

static void a_table_that_is_gone_is_not_asked(void **state)
{
    const struct table_map map = {0};
    struct buf sql = {0};

    (void)state;
    commit_wait_format(&sql, NULL, &map, NULL);
    assert_int_equal(sql.len, 0);
    buf_free(&sql);
}

static void ddl_is_waited_for_by_a_read_of_the_table_that_finds_nothing(void **state)
{
    struct buf sql = {0};

    (void)state;
    commit_wait_format_table(&sql, STR("shop"), STR("a`b"));
    assert_string_equal(
        sql.ptr, "SELECT /*+ MAX_EXECUTION_TIME(10000) */ 1 FROM `shop`.`a``b` WHERE FALSE");
    buf_free(&sql);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_row_is_locked_by_its_whole_key),
        cmocka_unit_test(columns_are_found_by_their_names_in_the_log),
        cmocka_unit_test(what_would_lock_more_than_the_row_is_not_asked),
        cmocka_unit_test(tables_without_row_locks_are_not_asked),
        cmocka_unit_test(a_table_that_is_gone_is_not_asked),
        cmocka_unit_test(ddl_is_waited_for_by_a_read_of_the_table_that_finds_nothing),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
