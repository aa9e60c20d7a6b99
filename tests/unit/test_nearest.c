#include "config.h"

#include "tests/unit/unit.h"

#include "src/base/nearest.h"

static struct str nearest_of(const char *name)
{
    static const char *const known[] = {"columns", "relations", "table", "index", "as", "type"};
    struct nearest near = nearest_to(str_from(name));

    for (size_t i = 0; i < ARRAY_LEN(known); i++)
        nearest_offer(&near, str_from(known[i]));
    return near.best;
}

static void assert_nearest(const char *name, const char *best)
{
    struct str found = nearest_of(name);

    assert_true(str_equal(found, str_from(best)));
}

static void a_slip_of_the_fingers_finds_the_name(void **state)
{
    (void)state;
    assert_nearest("colums", "columns");
    assert_nearest("columsn", "columns");
    assert_nearest("Columns", "columns");
    assert_nearest("realtion", "relations");
    assert_nearest("tabel", "table");
    assert_nearest("indx", "index");
    assert_nearest("typ", "type");
}

static void something_else_finds_nothing(void **state)
{
    char endless[200] = "columns";

    (void)state;
    assert_nearest("zebra", "");
    assert_nearest("", "");
    assert_nearest("x", "");
    assert_nearest("columnar_storage", "");
    for (size_t i = 0; i < sizeof(endless) - 1; i++)
        endless[i] = 'c';
    assert_nearest(endless, "");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_slip_of_the_fingers_finds_the_name),
        cmocka_unit_test(something_else_finds_nothing),
    };
    return cmocka_run_group_tests_name("nearest", tests, NULL, NULL);
}
