/* What is written above a copy that may still come, and which deletes are repeated. */
#include "config.h"

#include "tests/unit/unit.h"
#include "tests/unit/writes.h"

#include "sync/delivery/document/delete_repeater.h"

#define UNTIL_MS 1000

struct bench {
    struct target *target;
    struct delete_repeater *repeater;
    struct write_ends ends;
};

static struct bench begin(void)
{
    return (struct bench){.target = a_target("orders_v2"), .repeater = delete_repeater_new()};
}

static void end(struct bench *b)
{
    delete_repeater_free(b->repeater);
    target_unref(b->target);
}

static void lose(struct bench *b, enum doc_op op, const char *id, uint64_t version,
                 int64_t now_ms, int64_t until_ms)
{
    struct write *w = a_write(b->target, op, id, version, "{}");

    delete_repeater_note(b->repeater, w, now_ms, until_ms);
    write_abandon(w, &b->ends);
}

/* The version that what another source asks for at `version` is to be written at. */
static uint64_t raised(struct bench *b, const char *id, uint64_t version, int64_t now_ms)
{
    struct write *w = a_write(b->target, DOC_REFRESH, id, version, "");
    uint64_t v;

    w->fresh = true;
    delete_repeater_raise(b->repeater, w, now_ms);
    assert_int_equal(w->op, DOC_REFRESH);
    v = w->version;
    write_abandon(w, &b->ends);
    return v;
}

static void what_another_source_asks_for_goes_above_a_copy_until_none_can_come(void **state)
{
    struct bench b = begin();

    (void)state;
    assert_true(raised(&b, "1", 101, 0) == 101);
    lose(&b, DOC_INDEX, "1", 101, 0, UNTIL_MS);
    assert_true(raised(&b, "1", 101, 1) == 102);
    assert_true(raised(&b, "1", 101, UNTIL_MS - 1) == 102);
    assert_true(raised(&b, "1", 102, 1) == 102);
    assert_true(raised(&b, "1", 101, UNTIL_MS) == 101);
    end(&b);
}

static void the_highest_of_several_copies_counts(void **state)
{
    struct bench b = begin();

    (void)state;
    lose(&b, DOC_INDEX, "1", 101, 0, UNTIL_MS);
    lose(&b, DOC_INDEX, "1", 102, 1, UNTIL_MS + 1);
    lose(&b, DOC_INDEX, "1", 101, 2, UNTIL_MS + 2); /* repeated, and lost again */
    assert_true(raised(&b, "1", 101, 3) == 103);
    lose(&b, DOC_INDEX, "1", 50, UNTIL_MS + 2, 2 * UNTIL_MS); /* the others cannot come now */
    assert_true(raised(&b, "1", 50, UNTIL_MS + 3) == 51);
    end(&b);
}

static void there_is_room_left_above_a_position(void **state)
{
    struct bench b = begin();

    (void)state;
    lose(&b, DOC_INDEX, "1", 101 + FRESH_RISE_MAX, 0, UNTIL_MS);
    assert_true(raised(&b, "1", 101, 1) == 101 + FRESH_RISE_MAX);
    end(&b);
}

static void a_lost_delete_is_written_above_and_never_the_reason_to_repeat_one(void **state)
{
    struct bench b = begin();
    struct write *w = a_write(b.target, DOC_DELETE, "1", 200, "");

    (void)state;
    lose(&b, DOC_DELETE, "1", 101, 0, UNTIL_MS);
    assert_true(raised(&b, "1", 101, 1) == 102);
    assert_false(delete_repeater_may_come(b.repeater, w, 1));
    lose(&b, DOC_INDEX, "1", 102, 2, UNTIL_MS);
    assert_true(delete_repeater_may_come(b.repeater, w, 3));
    write_abandon(w, &b.ends);
    end(&b);
}

/* Of one compressed transaction. */
static void a_second_change_at_the_version_of_a_copy_is_read_again_above_it(void **state)
{
    struct bench b = begin();
    struct write *w = a_write(b.target, DOC_INDEX, "1", 100, "{}");

    (void)state;
    lose(&b, DOC_INDEX, "1", 100, 0, UNTIL_MS);
    delete_repeater_raise(b.repeater, w, 1);
    assert_int_equal(w->op, DOC_REFRESH);
    assert_true(w->version == 101);
    write_abandon(w, &b.ends);
    w = a_write(b.target, DOC_INDEX, "1", 105, "{}");
    delete_repeater_raise(b.repeater, w, 1);
    assert_int_equal(w->op, DOC_INDEX);
    assert_true(w->version == 105);
    write_abandon(w, &b.ends);
    end(&b);
}

/* It could not be read above the copy. */
static void what_has_no_key_is_written_at_the_version_that_it_has(void **state)
{
    struct bench b = begin();
    struct write *w = write_new(&(struct doc_write){.target = target_ref(b.target),
                                                    .op = DOC_INDEX,
                                                    .version = 100,
                                                    .id = STR("1"),
                                                    .body = STR("{}")});

    (void)state;
    lose(&b, DOC_INDEX, "1", 100, 0, UNTIL_MS);
    delete_repeater_raise(b.repeater, w, 1);
    assert_int_equal(w->op, DOC_INDEX);
    assert_true(w->version == 100);
    write_abandon(w, &b.ends);
    end(&b);
}

/* Two documents that share a place: only one copy is known by its version. */
static void a_copy_that_was_put_out_of_its_place_is_reckoned_with(void **state)
{
    struct bench b = begin();
    struct write *other = a_write(b.target, DOC_INDEX, "other", 900, "{}");
    struct write *w = a_write(b.target, DOC_REFRESH, "1", 101, "");

    (void)state;
    other->hash = w->hash + (1u << 20);
    w->fresh = true;
    lose(&b, DOC_INDEX, "1", 101, 0, UNTIL_MS);
    delete_repeater_note(b.repeater, other, 0, UNTIL_MS);
    delete_repeater_raise(b.repeater, w, 1);
    assert_true(w->version == 102);
    write_abandon(other, &b.ends);
    write_abandon(w, &b.ends);
    end(&b);
}

static void repeat(struct bench *b, const char *id, int64_t due_ms)
{
    struct write *w = a_write(b->target, DOC_DELETE, id, 100, "");

    delete_repeater_repeat(b->repeater, w, due_ms, &b->ends);
    write_abandon(w, &b->ends);
}

static void assert_next(struct bench *b, int64_t now_ms, const char *id)
{
    struct write *w = delete_repeater_next(b->repeater, now_ms);

    assert_int_equal(w != NULL, id != NULL);
    if (w == NULL)
        return;
    assert_true(str_equal(write_id(w), str_from(id)));
    write_abandon(w, &b->ends);
}

static void deletes_are_repeated_when_they_are_due_and_in_that_order(void **state)
{
    struct bench b = begin();

    (void)state;
    repeat(&b, "late", 100);
    repeat(&b, "early", 50); /* the timeout has become shorter */
    repeat(&b, "early too", 50);
    assert_next(&b, 49, NULL);
    assert_next(&b, 50, "early");
    assert_next(&b, 50, "early too");
    assert_next(&b, 50, NULL);
    assert_next(&b, 100, "late");
    end(&b);
}

/* Until then no position makes its delete final. */
static void one_that_is_repeated_counts_until_it_is_written(void **state)
{
    struct bench b = begin();
    struct write *w;

    (void)state;
    repeat(&b, "1", 50);
    repeat(&b, "2", 50);
    assert_int_equal(delete_repeater_repeats(b.repeater), 2);
    w = delete_repeater_next(b.repeater, 50);
    assert_int_equal(delete_repeater_repeats(b.repeater), 2);
    write_end(w, OUTCOME_DELIVERED, &b.ends);
    assert_int_equal(delete_repeater_repeats(b.repeater), 1);
    end(&b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(one_that_is_repeated_counts_until_it_is_written),
        cmocka_unit_test(deletes_are_repeated_when_they_are_due_and_in_that_order),
        cmocka_unit_test(what_another_source_asks_for_goes_above_a_copy_until_none_can_come),
        cmocka_unit_test(the_highest_of_several_copies_counts),
        cmocka_unit_test(there_is_room_left_above_a_position),
        cmocka_unit_test(a_lost_delete_is_written_above_and_never_the_reason_to_repeat_one),
        cmocka_unit_test(a_second_change_at_the_version_of_a_copy_is_read_again_above_it),
        cmocka_unit_test(what_has_no_key_is_written_at_the_version_that_it_has),
        cmocka_unit_test(a_copy_that_was_put_out_of_its_place_is_reckoned_with),
    };

    return cmocka_run_group_tests_name("delete_repeater", tests, NULL, NULL);
}
