#include "config.h"

#include "tests/unit/unit.h"

#include "src/base/buf.h"
#include "sync/mapping/added.h"

static void assert_added(const char *before, const char *after, const char *body)
{
    struct buf json = {0};
    const bool any = mapping_added(str_from(before), str_from(after), &json);

    assert_string_equal(json.ptr == NULL ? "" : json.ptr, body);
    assert_int_equal(any, body[0] != '\0');
    buf_free(&json);
}

#define OLD                                                                  \
    "{\"dynamic\":\"strict\",\"properties\":{\"id\":{\"type\":\"integer\"}," \
    "\"items\":{\"type\":\"nested\",\"properties\":{\"qty\":{\"type\":\"long\"}}}}}"

static void nothing_is_added_to_the_same(void **state)
{
    (void)state;
    assert_added(OLD, OLD, "");
    assert_added("{}", "{}", "");
    assert_added(OLD, "{\"properties\":{\"id\":{\"type\":\"long\"}}}", "");
}

static void only_new_fields_are_added_at_every_depth(void **state)
{
    (void)state;
    assert_added(
        OLD,
        "{\"dynamic\":\"strict\",\"properties\":{\"id\":{\"type\":\"long\"},"
        "\"t\":{\"type\":\"text\",\"fields\":{\"keyword\":{\"type\":\"keyword\"}}},"
        "\"items\":{\"type\":\"nested\",\"properties\":{\"qty\":{\"type\":\"long\"},"
        "\"n\":{\"type\":\"byte\"}}}}}",
        "{\"properties\":{\"t\":{\"type\":\"text\",\"fields\":{\"keyword\":{\"type\":"
        "\"keyword\"}}},\"items\":{\"type\":\"nested\",\"properties\":{\"n\":{\"type\":"
        "\"byte\"}}}}}");
}

static void a_new_object_is_added_whole(void **state)
{
    (void)state;
    assert_added("", "{\"properties\":{\"o\":{\"properties\":{\"a\":{\"type\":\"byte\"}}}}}",
                 "{\"properties\":{\"o\":{\"properties\":{\"a\":{\"type\":\"byte\"}}}}}");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(nothing_is_added_to_the_same),
        cmocka_unit_test(only_new_fields_are_added_at_every_depth),
        cmocka_unit_test(a_new_object_is_added_whole),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
