/* What is written above a copy that may still come, and which deletes are repeated. */
#include "config.h"

#include "tests/unit/unit.h"
#include "tests/unit/writes.h"

#include "sync/delivery/late.h"

#define UNTIL_MS 1000

struct bench {
    struct target *target;
    struct late *late;
    struct write_ends ends;
};

static struct bench begin(void)
{
    return (struct bench){.target = a_target("orders_v2"), .late = late_new()};
}

static void end(struct bench *b)
{
    late_free(b->late);
    target_unref(b->target);
}

static void lose(struct bench *b, enum doc_op op, const char *id, uint64_t version, int64_t now_ms,
                 int64_t until_ms)
{
    struct write *w = a_write(b->target, op, id, version, "{}");

    late_note(b->late, w, now_ms, until_ms);
    write_abandon(w, &b->ends);
}

/* The version that what another source asks for at `version` is to be written at. */
static uint64_t raised(struct bench *b, const char *id, uint64_t version, int64_t now_ms)
{
    struct write *w = a_write(b->target, DOC_REFRESH, id, version, "");
    uint64_t v;

    w->fresh = true;
    late_raise(b->late, w, now_ms);
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
    assert_false(late_may_come(b.late, w, 1));
    lose(&b, DOC_INDEX, "1", 102, 2, UNTIL_MS);
    assert_true(late_may_come(b.late, w, 3));
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
    late_raise(b.late, w, 1);
    assert_int_equal(w->op, DOC_REFRESH);
    assert_true(w->version == 101);
    write_abandon(w, &b.ends);
    w = a_write(b.target, DOC_INDEX, "1", 105, "{}");
    late_raise(b.late, w, 1);
    assert_int_equal(w->op, DOC_INDEX);
    assert_true(w->version == 105);
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
    late_note(b.late, other, 0, UNTIL_MS);
    late_raise(b.late, w, 1);
    assert_true(w->version == 102);
    write_abandon(other, &b.ends);
    write_abandon(w, &b.ends);
    end(&b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_another_source_asks_for_goes_above_a_copy_until_none_can_come),
        cmocka_unit_test(the_highest_of_several_copies_counts),
        cmocka_unit_test(there_is_room_left_above_a_position),
        cmocka_unit_test(a_lost_delete_is_written_above_and_never_the_reason_to_repeat_one),
        cmocka_unit_test(a_second_change_at_the_version_of_a_copy_is_read_again_above_it),
        cmocka_unit_test(a_copy_that_was_put_out_of_its_place_is_reckoned_with),
    };

    return cmocka_run_group_tests_name("late", tests, NULL, NULL);
}
