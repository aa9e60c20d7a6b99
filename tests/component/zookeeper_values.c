#include "config.h"

#include "tests/component/zookeeper_rig.h"

static const struct seat_options plainly = {0};

static void read_value(struct seat *s, struct buf *data, int32_t *version)
{
    struct err err = {0};

    if (!coordination_read_value(s->c, STR("cluster"), data, version, &err))
        fail_msg("%s", err.msg);
}

static enum written write_value(struct seat *s, const char *data, int32_t version)
{
    struct err err = {0};

    return coordination_write(s->c,
                              &(struct coordination_write){.what = COORDINATION_VALUE,
                                                           .name = STR("cluster"),
                                                           .data = str_from(data),
                                                           .version = version},
                              &err);
}

static void a_value_is_made_once_and_replaced_by_who_knows_its_version(void **state)
{
    struct seat a, b;
    struct buf data = {0};
    int32_t version;

    (void)state;
    take_seat(&a, &plainly);
    take_seat(&b, &plainly);
    read_value(&a, &data, &version);
    assert_int_equal(version, COORDINATION_ABSENT);
    assert_int_equal(write_value(&a, "one", COORDINATION_ABSENT), WRITTEN_DONE);
    assert_int_equal(write_value(&b, "other", COORDINATION_ABSENT), WRITTEN_DIFFERS);
    read_value(&b, &data, &version);
    assert_string_equal(data.ptr, "one");
    assert_int_equal(write_value(&b, "two", version), WRITTEN_DONE);
    assert_int_equal(write_value(&a, "three", version), WRITTEN_DIFFERS);
    read_value(&a, &data, &version);
    assert_string_equal(data.ptr, "two");
    buf_free(&data);
    leave_seat(&a);
    leave_seat(&b);
}

static void a_value_that_is_made_changed_or_deleted_is_told(void **state)
{
    struct seat a;
    struct buf data = {0};
    int32_t version;

    (void)state;
    take_seat(&a, &plainly);
    read_value(&a, &data, &version);
    plain_create("/cluster", "one", NULL, ZOO_PERSISTENT);
    wait_for_event(&a, COORDINATION_VALUE, "cluster");
    read_value(&a, &data, &version);
    assert_string_equal(data.ptr, "one");
    plain_set("/cluster", "two");
    wait_for_event(&a, COORDINATION_VALUE, "cluster");
    read_value(&a, &data, &version);
    plain_delete("/cluster");
    wait_for_event(&a, COORDINATION_VALUE, "cluster");
    assert_int_equal(write_value(&a, "late", version), WRITTEN_GONE);
    read_value(&a, &data, &version);
    assert_int_equal(version, COORDINATION_ABSENT);
    buf_free(&data);
    leave_seat(&a);
}

static void a_value_that_is_too_large_is_refused_with_the_fix(void **state)
{
    struct seat a;
    struct buf data = {0};
    struct err err = {0};
    int32_t version;
    char *large = mem_alloc(1, COORDINATION_DATA_MAX + 2);

    (void)state;
    memset(large, 'x', COORDINATION_DATA_MAX + 1);
    take_seat(&a, &plainly);
    assert_int_equal(write_value(&a, large, COORDINATION_ABSENT), WRITTEN_FAILED);
    plain_create("/cluster", large, NULL, ZOO_PERSISTENT);
    assert_false(coordination_read_value(a.c, STR("cluster"), &data, &version, &err));
    assert_int_equal(err.kind, ERR_REJECT);
    assert_non_null(strstr(err.msg, "delete it"));
    buf_free(&data);
    leave_seat(&a);
    free(large);
}

static void folders_are_no_values(void **state)
{
    struct seat a;
    struct buf data = {0};
    struct err err = {0};
    int32_t version;

    (void)state;
    take_seat(&a, &plainly);
    assert_false(coordination_read_value(a.c, STR("nodes"), &data, &version, &err));
    assert_int_equal(err.kind, ERR_REJECT);
    leave_seat(&a);
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test_setup(a_value_is_made_once_and_replaced_by_who_knows_its_version,
                           new_root),
    cmocka_unit_test_setup(a_value_that_is_made_changed_or_deleted_is_told, new_root),
    cmocka_unit_test_setup(a_value_that_is_too_large_is_refused_with_the_fix, new_root),
    cmocka_unit_test_setup(folders_are_no_values, new_root),
};

const struct test_part values_part = {tests, ARRAY_LEN(tests)};
