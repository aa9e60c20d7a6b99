/* When the cursor of a bucket, or of a part, passes what was written, against an engine in
 * memory. */
#include "config.h"

#include "tests/unit/unit.h"

#include "rebalance/fill/fill.h"
#include "sync/checkpoint/grace_period.h"
#include "sync/document/loader.h"
#include "tests/component/delivery_rig.h"

#define SETTLE_MS 20000

static struct index_fill fill_of(struct rig *r, bool is_part)
{
    static char table[] = "shop.orders", *tables[] = {table};

    return (struct index_fill){.opt = {.delivery = r->delivery, .start = 5},
                               .is_part = is_part,
                               .tables = tables,
                               .n_tables = 1};
}

/* One document, as the only one of its chunk. */
static void submit(struct rig *r, struct index_fill *f)
{
    struct loaded doc = {.id = STR("1"), .key = STR("k"), .body = STR("{\"text\":\"new\"}")};
    const struct loader_page page = {.docs = &doc, .n = 1, .next = STR("place")};
    struct grace_period *passes = grace_period_new();
    const struct pass pass = {passes, grace_period_enter(passes)};
    struct err err = {0};

    stop_init(&f->stop);
    f->open_last = &f->open_first;
    assert_true(fill_submit(f, r->target, &page, &pass, &err));
    grace_period_unref(passes);
}

static bool has_documents(struct rig *r)
{
    const struct delivery_status s = delivery_status(r->delivery);

    return s.queued + s.in_flight > 0;
}

/* Whatever delivery does with it has been done when a later document is written. */
static void settle(struct rig *r, bool is_given_up)
{
    rig_wait_requests(r, 1);
    for (int ms = 0; has_documents(r); ms++) {
        assert_true(ms < SETTLE_MS);
        if (is_given_up)
            delivery_forget(r->delivery, r->target, OUTCOME_DEFERRED);
        rig_sleep(1);
    }
    fake_search_clear_rules(r->fake);
    rig_index(r, 2, 6, "later");
    rig_wait_done(r);
}

static void end(struct index_fill *f, size_t n_open)
{
    fill_collect(f);
    assert_int_equal(f->n_open, n_open);
    assert_int_equal(f->job.rows_done, 1 - n_open);
    assert_int_equal(f->cursor.len > 0, n_open == 0);
    fill_forget_chunks(f);
    buf_free(&f->cursor);
    buf_free(&f->after);
    stop_fini(&f->stop);
}

/* The topic was stopped before they were written. */
static void give_up(struct rig *r, struct index_fill *f)
{
    fake_search_add_rule(r->fake, &(struct fake_rule){.act = FAKE_STATUS, .status = 503});
    submit(r, f);
    settle(r, true);
}

static void the_cursor_of_a_part_passes_documents_that_are_written(void **state)
{
    struct rig *r = *state;
    struct index_fill f;

    rig_start(r, NULL);
    f = fill_of(r, true);
    submit(r, &f);
    settle(r, false);
    rig_check(r, 1, 5, "new");
    end(&f, 0);
}

/* They are nobody's later: the version goes on, and the run would have ended. */
static void the_cursor_of_a_part_passes_no_document_that_was_given_up(void **state)
{
    struct rig *r = *state;
    struct index_fill f;

    rig_start(r, NULL);
    f = fill_of(r, true);
    give_up(r, &f);
    end(&f, 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        RIG_TEST(the_cursor_of_a_part_passes_documents_that_are_written),
        RIG_TEST(the_cursor_of_a_part_passes_no_document_that_was_given_up),
    };

    return cmocka_run_group_tests_name("fill_chunk", tests, NULL, NULL);
}
