#include "config.h"

#include "tests/unit/unit.h"
#include "tests/unit/writes.h"

#include "src/base/log.h"
#include "sync/delivery/letters.h"

struct store {
    bool full; /* no more than there are */
    unsigned n_stored, n_calls, n_cleared, fails;
    int status;
    uint64_t cleared_at; /* version */
};

static bool put(void *ctx, const struct dead_letter_note *notes, size_t n, struct err *err)
{
    struct store *s = ctx;

    if (s->fails > 0) {
        s->fails--;
        return err_set(err, ERR_RETRY, "the store is away");
    }
    for (size_t i = 0; i < n && s->full; i++)
        if (!notes[i].again)
            return err_set(err, ERR_REJECT, "no more are kept");
    s->n_calls++;
    s->n_stored += n;
    for (size_t i = 0; i < n; i++) {
        s->status = notes[i].status;
        assert_true(str_equal(notes[i].reason, STR("no date")));
    }
    return true;
}

static bool clear(void *ctx, const struct target *target, struct str routing, struct str id,
                  uint64_t version, struct err *err)
{
    struct store *s = ctx;

    (void)target;
    assert_int_equal(routing.len, 0);
    assert_int_equal(id.len, 1);
    if (s->fails > 0) {
        s->fails--;
        return err_set(err, ERR_RETRY, "the store is away");
    }
    s->n_cleared++;
    s->cleared_at = version;
    return true;
}

static void a_letter_that_is_not_durable_is_tried_again(void **state)
{
    struct store store = {.fails = 2};
    const struct delivery_options opt = {.ctx = &store, .dead = put, .cleared = clear};
    struct letters *l = letters_new(&opt, 1);
    struct target *t = a_target("orders_v2");
    struct write_ends ends = {0};
    struct document doc = {0};
    int64_t now_ms = 1000;

    (void)state;
    document_begin(&doc, a_write(t, DOC_INDEX, "1", 1, "{}"));
    document_take(&doc);
    document_refuse(&doc);
    letters_refuse(l, &doc, 400, STR("no date"));
    assert_null(letters_next(l, now_ms));
    assert_null(letters_next(l, now_ms));
    assert_int_equal(store.fails, 1); /* not at once again */
    now_ms += letters_wait_ms(l, now_ms, 100000);
    assert_null(letters_next(l, now_ms));
    now_ms += letters_wait_ms(l, now_ms, 100000);
    assert_ptr_equal(letters_next(l, now_ms), &doc);
    assert_int_equal(store.status, 400);
    assert_null(letters_next(l, now_ms));
    assert_int_equal(letters_wait_ms(l, now_ms, 555), 555);
    assert_false(document_end(&doc, OUTCOME_DEAD, &ends));
    letters_free(l);
    target_unref(t);
}

static void many_letters_are_stored_in_a_few_calls(void **state)
{
    struct store store = {.fails = 1};
    const struct delivery_options opt = {.ctx = &store, .dead = put, .cleared = clear};
    struct letters *l = letters_new(&opt, 1);
    struct target *t = a_target("orders_v2");
    struct write_ends ends = {0};
    static struct document docs[250];
    int64_t now_ms = 1000;

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(docs); i++) {
        document_begin(&docs[i], a_write(t, DOC_INDEX, "1", 1, "{}"));
        document_take(&docs[i]);
        document_refuse(&docs[i]);
        letters_refuse(l, &docs[i], 400, STR("no date"));
    }
    assert_null(letters_next(l, now_ms));
    now_ms += letters_wait_ms(l, now_ms, 100000);
    for (size_t i = 0; i < ARRAY_LEN(docs); i++) {
        assert_ptr_equal(letters_next(l, now_ms), &docs[i]);
        assert_true(store.n_stored > i); /* none is done before it is durable */
        assert_false(document_end(&docs[i], OUTCOME_DEAD, &ends));
    }
    assert_null(letters_next(l, now_ms));
    assert_int_equal(store.n_stored, 250);
    assert_in_range(store.n_calls, 1, 5);
    letters_free(l);
    target_unref(t);
}

static void a_written_document_has_its_letter_taken_back_once(void **state)
{
    struct store store = {.fails = 1};
    const struct delivery_options opt = {.ctx = &store, .dead = put, .cleared = clear};
    struct letters *l = letters_new(&opt, 1);
    struct target *t = a_target("orders_v2");
    struct write *one = a_write(t, DOC_INDEX, "1", 1, "{}");
    struct write *two = a_write(t, DOC_INDEX, "2", 1, "{}");
    struct write_ends ends = {0};
    int64_t now_ms = 1000;

    (void)state;
    letters_written(l, one, now_ms);
    letters_note(l, STR("orders_v2"), STR(""), STR("1"), 1);
    letters_note(l, STR("orders_v"), STR("2"), STR("2"), 1);
    letters_written(l, one, now_ms);
    letters_written(l, two, now_ms);
    assert_int_equal(store.n_cleared, 0);
    now_ms += letters_wait_ms(l, now_ms, 100000);
    letters_turn(l, now_ms);
    letters_turn(l, now_ms);
    letters_written(l, one, now_ms);
    assert_int_equal(store.n_cleared, 1);
    write_end(one, OUTCOME_DELIVERED, &ends);
    write_end(two, OUTCOME_DELIVERED, &ends);
    letters_free(l);
    target_unref(t);
}

/* A fill that comes late, or what was sent before: the row as it was refused is not there. */
static void a_letter_of_something_newer_than_what_was_written_stays(void **state)
{
    struct store store = {0};
    const struct delivery_options opt = {.ctx = &store, .dead = put, .cleared = clear};
    struct letters *l = letters_new(&opt, 1);
    struct target *t = a_target("orders_v2");
    struct write *old = a_write(t, DOC_INDEX, "1", 8, "{}");
    struct write *same = a_write(t, DOC_INDEX, "1", 9, "{}");
    struct write_ends ends = {0};

    (void)state;
    letters_note(l, STR("orders_v2"), STR(""), STR("1"), 9);
    letters_note(l, STR("orders_v2"), STR(""), STR("1"), 5);
    letters_written(l, old, 1000);
    assert_int_equal(store.n_cleared, 0);
    letters_written(l, same, 1000);
    assert_int_equal(store.n_cleared, 1);
    assert_int_equal(store.cleared_at, 9);
    write_end(old, OUTCOME_DELIVERED, &ends);
    write_end(same, OUTCOME_DELIVERED, &ends);
    letters_free(l);
    target_unref(t);
}

static void
a_letter_that_waits_to_be_taken_back_stays_when_its_document_is_refused_again(void **state)
{
    struct store store = {.fails = 1};
    const struct delivery_options opt = {.ctx = &store, .dead = put, .cleared = clear};
    struct letters *l = letters_new(&opt, 1);
    struct target *t = a_target("orders_v2");
    struct write *good = a_write(t, DOC_INDEX, "1", 10, "{}");
    struct write_ends ends = {0};
    struct document doc = {0};
    int64_t now_ms = 1000;

    (void)state;
    letters_note(l, STR("orders_v2"), STR(""), STR("1"), 9);
    letters_written(l, good, now_ms); /* the store is away */
    document_begin(&doc, a_write(t, DOC_INDEX, "1", 11, "{}"));
    document_take(&doc);
    document_refuse(&doc);
    letters_refuse(l, &doc, 400, STR("no date"));
    assert_ptr_equal(letters_next(l, now_ms), &doc);
    letters_turn(l, now_ms + 100000);
    assert_int_equal(store.n_stored, 1);
    assert_int_equal(store.n_cleared, 0);
    write_end(good, OUTCOME_DELIVERED, &ends);
    assert_false(document_end(&doc, OUTCOME_DEAD, &ends));
    letters_free(l);
    target_unref(t);
}

static void refuse(struct letters *l, struct document *doc, struct target *t, const char *id)
{
    document_begin(doc, a_write(t, DOC_INDEX, id, 5, "{}"));
    document_take(doc);
    document_refuse(doc);
    letters_refuse(l, doc, 400, STR("no date"));
}

static void a_letter_that_takes_the_place_of_another_needs_no_room(void **state)
{
    struct store store = {.full = true};
    const struct delivery_options opt = {.ctx = &store, .dead = put, .cleared = clear};
    struct letters *l = letters_new(&opt, 1);
    struct target *t = a_target("orders_v2");
    struct write_ends ends = {0};
    struct document docs[3] = {0};
    const int64_t now_ms = 1000;

    (void)state;
    letters_note(l, STR("orders_v2"), STR(""), STR("1"), 4);
    letters_note(l, STR("orders_v2"), STR(""), STR("2"), 4);
    refuse(l, &docs[0], t, "0");
    refuse(l, &docs[1], t, "1");
    assert_ptr_equal(letters_next(l, now_ms), &docs[1]);
    assert_null(letters_next(l, now_ms));
    assert_non_null(letters_are_full(l));
    assert_int_equal(letters_kept_back(l, NULL, NULL), 1);
    refuse(l, &docs[2], t, "2");
    assert_ptr_equal(letters_next(l, now_ms), &docs[2]); /* nor does it wait with the other */
    assert_non_null(letters_are_full(l));
    assert_int_equal(store.n_stored, 2);
    for (size_t i = 0; i < ARRAY_LEN(docs); i++)
        assert_false(document_end(&docs[i], OUTCOME_DEAD, &ends));
    letters_free(l);
    target_unref(t);
}

static void a_letter_that_was_discarded_is_known_no_more(void **state)
{
    struct store store = {0};
    const struct delivery_options opt = {.ctx = &store, .dead = put, .cleared = clear};
    struct letters *l = letters_new(&opt, 1);
    struct target *t = a_target("orders_v2");
    struct write *w = a_write(t, DOC_INDEX, "1", 10, "{}");
    struct write_ends ends = {0};

    (void)state;
    letters_note(l, STR("orders_v2"), STR(""), STR("1"), 9);
    letters_discard(l, STR("orders_v2"), STR(""), STR("1"), 8); /* another one has come since */
    assert_true(letters_know(l, w));
    letters_discard(l, STR("orders_v2"), STR(""), STR("1"), 9);
    assert_false(letters_know(l, w));
    letters_written(l, w, 1000);
    assert_int_equal(store.n_cleared, 0);
    write_end(w, OUTCOME_DELIVERED, &ends);
    letters_free(l);
    target_unref(t);
}

static void an_index_that_is_gone_takes_what_is_known_of_its_letters_along(void **state)
{
    struct store store = {0};
    const struct delivery_options opt = {.ctx = &store, .dead = put, .cleared = clear};
    struct letters *l = letters_new(&opt, 1);
    struct target *gone = a_target("orders_v2"), *other = a_target("orders_v3");
    struct write *w[] = {a_write(gone, DOC_INDEX, "1", 10, "{}"),
                         a_write(other, DOC_INDEX, "1", 10, "{}")};
    struct write_ends ends = {0};

    (void)state;
    letters_note(l, STR("orders_v2"), STR(""), STR("1"), 9);
    letters_note(l, STR("orders_v3"), STR(""), STR("1"), 9);
    letters_drop(l, STR("orders_v2"));
    assert_false(letters_know(l, w[0]));
    assert_true(letters_know(l, w[1]));
    for (size_t i = 0; i < ARRAY_LEN(w); i++)
        write_end(w[i], OUTCOME_DELIVERED, &ends);
    letters_free(l);
    target_unref(gone);
    target_unref(other);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_letter_that_is_not_durable_is_tried_again),
        cmocka_unit_test(many_letters_are_stored_in_a_few_calls),
        cmocka_unit_test(a_written_document_has_its_letter_taken_back_once),
        cmocka_unit_test(a_letter_of_something_newer_than_what_was_written_stays),
        cmocka_unit_test(
            a_letter_that_waits_to_be_taken_back_stays_when_its_document_is_refused_again),
        cmocka_unit_test(a_letter_that_takes_the_place_of_another_needs_no_room),
        cmocka_unit_test(a_letter_that_was_discarded_is_known_no_more),
        cmocka_unit_test(an_index_that_is_gone_takes_what_is_known_of_its_letters_along),
    };

    log_set_level(LOG_ERROR);
    return cmocka_run_group_tests_name("letters", tests, NULL, NULL);
}
