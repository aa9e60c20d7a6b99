#include "config.h"

#include "tests/unit/unit.h"

#include "src/base/arena.h"
#include "sync/decode/ddl.h"
#include "sync/decode/ddl_swap.h"

#include <string.h>

static enum ddl_swap swap_of(const char *table, const char *sql)
{
    const struct sql_dialect dialect = {0};
    struct arena *a = arena_new();
    struct ddl ddl;

    ddl_parse(STR("shop"), str_from(sql), dialect, a, &ddl);

    const enum ddl_swap found = ddl_find_swap(&ddl, STR("shop"), str_from(table));

    arena_free(a);
    return found;
}

#define SIXTY "a23456789_b23456789_c23456789_d23456789_e23456789_f23456789_"

static void the_tools_swaps_are_known_by_their_names(void **state)
{
    static const struct {
        const char *sql;
        enum ddl_swap swap;
    } cases[] = {
        {"RENAME TABLE t TO _t_del, _t_gho TO t", DDL_SWAP_WHOLE},
        {"rename /* gh-ost */ table `shop`.`t` to `shop`.`_t_del`, `shop`.`_t_gho` to "
         "`shop`.`t`",
         DDL_SWAP_WHOLE},
        {"RENAME TABLE t TO _t_20260131235959_del, _t_gho TO t", DDL_SWAP_WHOLE},
        {"RENAME TABLE shop.t TO shop._t_old, shop._t_new TO shop.t", DDL_SWAP_WHOLE},
        {"RENAME TABLE t TO __t_old, ___t_new TO t", DDL_SWAP_WHOLE},
        {"RENAME TABLE x TO y, t TO _t_old, _t_new TO t", DDL_SWAP_WHOLE},
        {"RENAME TABLE t TO _t_del", DDL_SWAP_AWAY},
        {"RENAME TABLE _t_gho TO t", DDL_SWAP_BACK},
        {"RENAME TABLE t TO _t_old", DDL_SWAP_NONE},
        {"RENAME TABLE _t_new TO t", DDL_SWAP_NONE},
        {"RENAME TABLE t TO t_old, t_new TO t", DDL_SWAP_NONE},
        {"RENAME TABLE t TO _t_old, _t_gho TO t", DDL_SWAP_NONE},
        {"RENAME TABLE t TO _t_old, _u_new TO t", DDL_SWAP_NONE},
        {"RENAME TABLE t TO _t_old, other._t_new TO t", DDL_SWAP_NONE},
        {"RENAME TABLE t TO _t_2026_del, _t_gho TO t", DDL_SWAP_NONE},
        {"RENAME TABLE u TO _u_old, _u_new TO u", DDL_SWAP_NONE},
        {"ALTER TABLE t RENAME TO _t_del", DDL_SWAP_NONE},
        {"DROP TABLE t", DDL_SWAP_NONE},
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(cases); i++)
        if (swap_of("t", cases[i].sql) != cases[i].swap)
            fail_msg("%s is %d", cases[i].sql, (int)swap_of("t", cases[i].sql));
}

static void names_of_tables_may_begin_with_underscores(void **state)
{
    (void)state;
    assert_int_equal(swap_of("_t", "RENAME TABLE _t TO __t_del, __t_gho TO _t"),
                     DDL_SWAP_WHOLE);
    assert_int_equal(swap_of("_t", "RENAME TABLE _t TO _t_del, _t_gho TO _t"), DDL_SWAP_NONE);
}

static void names_that_are_cut_are_known_by_their_beginning(void **state)
{
    (void)state;
    assert_int_equal(swap_of(SIXTY "xyz", "RENAME TABLE " SIXTY "xyz TO _" SIXTY "_old, _" SIXTY
                                          "_new TO " SIXTY "xyz"),
                     DDL_SWAP_WHOLE);
    assert_int_equal(swap_of("tt", "RENAME TABLE tt TO _t_old, _t_new TO tt"), DDL_SWAP_NONE);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_tools_swaps_are_known_by_their_names),
        cmocka_unit_test(names_of_tables_may_begin_with_underscores),
        cmocka_unit_test(names_that_are_cut_are_known_by_their_beginning),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
