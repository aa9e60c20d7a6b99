#include "config.h"

#include "tests/unit/unit.h"

#include "src/store/later/gone.h"
#include "sync/checkpoint/read_position.h"
#include "sync/delivery/delivery.h"
#include "sync/related/cascade/parts.h"
#include "sync/routing/routing.h"

/* A topic that was started with one stored document whose row is to be read again. */
static struct fixture {
    struct cascades *c;
    struct read_position *reader;
    struct target *target;
    struct reading reading;
    struct routing routing;
    struct ticket *read; /* its document's, while it is being read */
    size_t n_ended;      /* keys that were taken out of the store */
    bool is_at_rest;     /* the stream, as far as it knows */
} f;

/* ---- the store and the engine, as the sweep sees them ---- */

bool store_load_gone(struct store *s, struct arena *a, struct str topic, uint64_t after_id,
                     size_t limit, struct stored_gone **out, size_t *n, struct err *err)
{
    static struct stored_gone row = {.id = 1,
                                     .index = STR("orders"),
                                     .version = 1,
                                     .member = STR("shop.orders"),
                                     .doc_id = STR("1"),
                                     .key = STR("k")};

    (void)s, (void)a, (void)topic, (void)after_id, (void)limit, (void)err;
    *out = &row;
    *n = 1;
    return true;
}

bool store_put_gone(struct store *s, const struct gone_owner *owner,
                    const struct stored_gone *docs, size_t n, struct err *err)
{
    (void)s, (void)owner, (void)docs, (void)n, (void)err;
    return true;
}

bool store_end_gone(struct store *s, const struct gone_owner *owner,
                    const struct stored_gone *docs, size_t n, struct err *err)
{
    (void)s, (void)owner, (void)docs, (void)err;
    f.n_ended += n;
    return true;
}

bool delivery_submit_until(struct delivery *d, const struct stop *stop,
                           const struct doc_write *writes, size_t n, struct err *err)
{
    (void)d, (void)stop, (void)err;
    assert_int_equal(n, 1);
    f.read = writes[0].ticket;
    target_unref(writes[0].target);
    return true;
}

static bool is_at_rest(void *ctx)
{
    (void)ctx;
    return f.is_at_rest;
}

/* ---- a start ---- */

/* Returns true if the thread must not rest yet. */
static bool step(void)
{
    struct err err = {0};
    bool waits;

    assert_true(cascades_sweep(f.c, &waits, &err));
    return waits;
}

static int set_up(void **state)
{
    static char alias[] = "orders";

    (void)state;
    f = (struct fixture){.reader = read_position_new(100),
                         .reading = {.alias = alias, .number = 1},
                         .routing = {.targets = &f.target, .n_targets = 1, .refs = 2}};
    f.target = target_new(STR("orders_v1"), STR("orders_w"), STR("shop.orders"), STR("shop"));
    f.target->plan = &f.reading;
    f.c = cascades_new(&(struct cascades_options){
        .topic = "shop", .reader = f.reader, .is_at_rest = is_at_rest});
    cascades_set_routing(f.c, &f.routing);
    step();
    assert_non_null(f.read);
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    cascades_free(f.c);
    read_position_free(f.reader);
    target_unref(f.target);
    grace_period_unref(f.reading.grace_period);
    return 0;
}

/* ---- what becomes of its key ---- */

static void a_key_whose_row_is_there_is_stored_no_longer(void **state)
{
    (void)state;
    ticket_done(f.read, OUTCOME_DELIVERED);
    step();
    assert_int_equal(f.n_ended, 1);
    assert_int_equal(cascades_stay(f.c, STR("")), 0);
}

/* A comparison takes no document for wrong that such a one may lead to, of whatever index. */
static void
whether_any_stay_from_an_earlier_run_is_not_known_before_they_are_loaded(void **state)
{
    struct cascades *new = cascades_new(&(struct cascades_options){
        .topic = "shop", .reader = f.reader, .is_at_rest = is_at_rest});

    (void)state;
    assert_true(cascades_may_stay(new));
    cascades_free(new);
    assert_true(cascades_may_stay(f.c));
    ticket_done(f.read, OUTCOME_DELIVERED);
    step();
    assert_false(cascades_may_stay(f.c));
}

static void a_key_whose_read_was_given_up_stays_stored(void **state)
{
    (void)state;
    ticket_abandon(f.read);
    step();
    assert_int_equal(f.n_ended, 0);
    assert_int_equal(cascades_stay(f.c, STR("")), 1);
}

static void a_key_whose_row_goes_once_more_while_it_is_dropped_stays_stored(void **state)
{
    struct gone_document *d = f.c->sweep.docs[0];
    struct err err = {0};

    (void)state;
    ticket_done(f.read, OUTCOME_DELIVERED);
    cascades_gone(
        f.c, &(struct gone_row){.target = f.target, .id = d->id, .key = d->key, .stamp = 200});
    assert_true(cascades_unstore(f.c, &d, 1, &err));
    assert_int_equal(f.n_ended, 0);
    assert_true(d->stored);
}

static void a_read_may_end_after_the_topic(void **state)
{
    (void)state;
    cascades_free(f.c);
    f.c = NULL;
    ticket_done(f.read, OUTCOME_DELIVERED);
}

static void a_read_may_be_given_up_after_the_topic(void **state)
{
    (void)state;
    cascades_free(f.c);
    f.c = NULL;
    ticket_abandon(f.read);
}

static void the_thread_does_not_rest_while_a_new_routing_waits_for_the_sweep(void **state)
{
    (void)state;
    f.routing.refs++;
    cascades_set_routing(f.c, &f.routing);
    ticket_done(f.read, OUTCOME_DELIVERED);
    f.read = NULL;
    assert_true(step());
    assert_int_equal(cascades_stay(f.c, STR("")), 0);
    assert_true(step());
    assert_non_null(f.read);
    ticket_done(f.read, OUTCOME_DELIVERED);
    assert_false(step());
}

/* It may have been away meanwhile, and about to bring what was logged then. */
static void a_stream_that_nobody_watched_for_a_while_is_not_known_to_be_idle(void **state)
{
    (void)state;
    f.is_at_rest = true;
    f.c->stream_ms -= 60000;
    step();
    assert_true(f.c->rests);
    f.c->looked_ms -= 60000;
    step();
    assert_false(f.c->rests);
    ticket_done(f.read, OUTCOME_DELIVERED);
}

#define CASE(t) cmocka_unit_test_setup_teardown(t, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        CASE(a_key_whose_row_is_there_is_stored_no_longer),
        CASE(whether_any_stay_from_an_earlier_run_is_not_known_before_they_are_loaded),
        CASE(a_key_whose_read_was_given_up_stays_stored),
        CASE(a_key_whose_row_goes_once_more_while_it_is_dropped_stays_stored),
        CASE(a_read_may_end_after_the_topic),
        CASE(a_read_may_be_given_up_after_the_topic),
        CASE(the_thread_does_not_rest_while_a_new_routing_waits_for_the_sweep),
        CASE(a_stream_that_nobody_watched_for_a_while_is_not_known_to_be_idle),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
