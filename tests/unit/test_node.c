#include "config.h"

#include "tests/unit/unit.h"

#include "rebalance/node.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

/* A version that is stored is not taken for a foreign one while its topic starts anew. */
static void without_a_pipeline_no_stored_version_is_beyond_what_was_given_out(void **state)
{
    char path[] = "/tmp/millrace-test.XXXXXX", lock[sizeof(path) + 5];
    const int fd = mkstemp(path);
    struct target *t =
        target_new(STR("orders_v2"), STR("orders_v2_write"), STR("shop.orders"), STR("shop"));
    struct coordinator_options opt = {0};
    struct coordinator *co = NULL;
    struct err err = {0};

    (void)state;
    assert_true(fd >= 0);
    close(fd);
    assert_true(store_open_sqlite(&opt.store, path, &err));
    assert_true(coordinator_open(&co, &opt, &err));

    const struct delivery_options o = node_delivery_options(co);

    assert_true(o.stamp_max(o.ctx, t) == UINT64_MAX);
    coordinator_close(co);
    store_close(opt.store);
    target_unref(t);
    snprintf(lock, sizeof(lock), "%s.lock", path);
    unlink(lock);
    unlink(path);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(without_a_pipeline_no_stored_version_is_beyond_what_was_given_out),
    };
    return cmocka_run_group_tests_name("node", tests, NULL, NULL);
}
