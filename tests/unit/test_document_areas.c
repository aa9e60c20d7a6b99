/*
 * What becomes of two operations of one document, where at least one concerns an area of it.
 */
#include "config.h"

#include "tests/unit/unit.h"
#include "tests/unit/writes.h"

#include "sync/delivery/document/document_table.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct fixture {
    struct document_table *table;
    struct target *target;
    struct ticket_counters tickets;
    struct write_ends ends;
    struct document *doc;
};

static const struct str areas[] = {{"items", 5}, {"customer", 8}};

static struct target *target_with_areas(void)
{
    struct target *t = a_target("orders_v2");

    t->areas = areas;
    t->n_areas = ARRAY_LEN(areas);
    return t;
}

static int set_up(void **state)
{
    static struct fixture f;

    f = (struct fixture){.table = document_table_new(), .target = target_with_areas()};
    *state = &f;
    return 0;
}

static int tear_down(void **state)
{
    struct fixture *f = *state;

    document_table_free(f->table, &f->ends);
    target_unref(f->target);
    return 0;
}

/*
 * Operations as texts: "a10" a read of the first area at 10 or later, "b10" of the second,
 * "r10" of all, "d10" a delete.  What is there: the same, and "A10" an update of the first area
 * read at 10, "B10", "i10" a whole document of then, "-" nothing.
 */
static struct write *write_of(struct fixture *f, struct target *t, const char *text)
{
    struct doc_write in = {.target = target_ref(t),
                           .op = text[0] == 'd' ? DOC_DELETE : DOC_REFRESH,
                           .area = text[0] == 'a'   ? 1
                                   : text[0] == 'b' ? 2
                                                    : 0,
                           .version = strtoull(text + 1, NULL, 10),
                           .id = STR("1"),
                           .key = STR("1")};

    return counted(write_new(&in), &f->tickets);
}

static void arrive_for(struct fixture *f, struct target *t, const char *text)
{
    bool to_place;

    f->doc = document_table_arrive(f->table, NULL, write_of(f, t, text), &f->ends, &to_place);
}

static void arrive(struct fixture *f, const char *text)
{
    arrive_for(f, f->target, text);
}

static void name(const struct write *w, char *out, size_t cap)
{
    static const char letters[] = {
        [DOC_INDEX] = 'i', [DOC_DELETE] = 'd', [DOC_REFRESH] = 'r', [DOC_UPDATE] = '?'};
    char letter;

    if (w == NULL) {
        snprintf(out, cap, "-");
        return;
    }
    letter = w->area > 0 ? "ab"[w->area - 1] : letters[w->op];
    if (w->op == DOC_UPDATE)
        letter = (char)toupper(letter);
    snprintf(out, cap, "%c%d", letter, (int)w->version);
}

static void check(const struct fixture *f, const char *now, const char *later)
{
    char is[32];

    name(f->doc->now, is, sizeof(is));
    assert_string_equal(is, now);
    name(f->doc->later, is, sizeof(is));
    assert_string_equal(is, later);
}

/* The read of 20 has come. */
static void load(struct fixture *f)
{
    document_take(f->doc);
    document_loaded(f->doc, 20, STR("{}"), &f->ends);
}

static void send(struct fixture *f)
{
    load(f);
    document_take(f->doc);
}

static void forget(struct fixture *f)
{
    document_table_free(f->table, &f->ends);
    f->table = document_table_new();
    f->doc = NULL;
}

struct row {
    const char *first, *second, *now, *later;
};

static void check_rows(struct fixture *f, void (*between)(struct fixture *f),
                       const struct row *rows, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        arrive(f, rows[i].first);
        if (between != NULL)
            between(f);
        arrive(f, rows[i].second);
        check(f, rows[i].now, rows[i].later);
        forget(f);
    }
}

static void what_waits_to_be_read_coalesces_with_the_same_area_and_is_whole_else(void **state)
{
    static const struct row rows[] = {
        {"a10", "a12", "a12", "-"}, {"a12", "a10", "a12", "-"},   {"a10", "b12", "r12", "-"},
        {"b12", "a10", "r12", "-"}, {"a10", "r12", "r12", "-"},   {"a12", "r10", "r12", "-"},
        {"r12", "a10", "r12", "-"}, {"r10", "a12", "r12", "-"},   {"a10", "d12", "d12", "-"},
        {"a12", "d10", "r12", "-"}, {"d10", "a12", "d10", "a12"}, {"d12", "a10", "d12", "-"},
    };

    check_rows(*state, NULL, rows, ARRAY_LEN(rows));
}

static void take(struct fixture *f)
{
    document_take(f->doc);
}

static void what_comes_during_the_read_of_an_area_waits_unless_it_is_of_that_area(void **state)
{
    static const struct row rows[] = {
        {"a10", "a10", "a10", "-"},   {"a10", "a12", "a10", "a12"}, {"a10", "b8", "a10", "b8"},
        {"a10", "r8", "a10", "r8"},   {"a10", "d8", "a10", "d8"},   {"r10", "a8", "r10", "-"},
        {"r10", "a12", "r10", "a12"},
    };

    check_rows(*state, take, rows, ARRAY_LEN(rows));
}

static void an_update_that_is_ready_stands_for_its_area_up_to_its_read(void **state)
{
    static const struct row rows[] = {
        {"a10", "a20", "A20", "-"},   {"a10", "a21", "A20", "a21"},
        {"a10", "b15", "A20", "b15"}, {"a10", "r15", "A20", "r15"},
        {"a10", "d25", "d25", "-"},   {"a10", "d15", "A20", "d15"},
        {"r10", "a20", "i20", "-"},   {"r10", "a21", "i20", "a21"},
    };

    check_rows(*state, load, rows, ARRAY_LEN(rows));
}

static void an_update_in_flight_is_replaced_by_nothing(void **state)
{
    static const struct row rows[] = {
        {"a10", "a20", "A20", "-"},   {"a10", "a21", "A20", "a21"},
        {"a10", "b15", "A20", "b15"}, {"a10", "r15", "A20", "r15"},
        {"a10", "d25", "A20", "d25"},
    };

    check_rows(*state, send, rows, ARRAY_LEN(rows));
}

static void of_what_waits_behind_another_areas_become_the_whole_document(void **state)
{
    static const char *const rows[][3] = {
        {"a30", "a32", "a32"}, {"a30", "b32", "r32"}, {"b32", "a30", "r32"},
        {"a30", "r32", "r32"}, {"r32", "a30", "r32"}, {"a30", "d32", "d32"},
        {"a32", "d30", "r32"}, {"d30", "a32", "r32"},
    };
    struct fixture *f = *state;

    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        arrive(f, "r10");
        send(f);
        arrive(f, rows[i][0]);
        arrive(f, rows[i][1]);
        check(f, "i20", rows[i][2]);
        forget(f);
    }
}

static void an_area_of_another_compiled_plan_is_another_area(void **state)
{
    struct fixture *f = *state;
    struct target *other = target_with_areas();

    arrive(f, "a10");
    arrive_for(f, other, "a12");
    check(f, "r12", "-");
    target_unref(other);
}

static void an_area_that_cannot_be_read_or_written_alone_is_read_whole(void **state)
{
    struct fixture *f = *state;

    arrive(f, "a10");
    document_take(f->doc);
    document_widen(f->doc, &f->ends);
    assert_int_equal(f->doc->state, DOCUMENT_LOAD_WAIT);
    check(f, "r10", "-");
    forget(f);

    arrive(f, "a10");
    send(f);
    arrive(f, "b12");
    document_widen(f->doc, &f->ends);
    assert_int_equal(f->doc->state, DOCUMENT_LOAD_WAIT);
    check(f, "r20", "-");
}

static void an_update_whose_answer_was_lost_is_sent_again_as_it_was(void **state)
{
    struct fixture *f = *state;

    arrive(f, "a10");
    send(f);
    document_lost_answer(f->doc);
    arrive(f, "r30");
    arrive(f, "a40");
    assert_int_equal(f->doc->state, DOCUMENT_UNKNOWN);
    check(f, "A20", "r40");
    document_take(f->doc);
    assert_true(document_end(f->doc, OUTCOME_DELIVERED, &f->ends));
    check(f, "r40", "-");
}

static void a_whole_document_after_an_update_is_read_after_it(void **state)
{
    struct fixture *f = *state;

    arrive(f, "a10");
    send(f);
    arrive(f, "r15");
    assert_true(document_end(f->doc, OUTCOME_DELIVERED, &f->ends));
    check(f, "r20", "-");
}

static void nobody_waits_in_vain_for_an_area(void **state)
{
    struct fixture *f = *state;

    arrive(f, "a10");
    arrive(f, "b11");
    arrive(f, "a12");
    arrive(f, "d13");
    document_take(f->doc);
    assert_false(document_end(f->doc, OUTCOME_DELIVERED, &f->ends));
    document_table_remove(f->table, f->doc);
    assert_int_equal(f->tickets.read, 4);
    assert_int_equal(f->tickets.done[OUTCOME_DELIVERED], 4);
}

#define CASE(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        CASE(what_waits_to_be_read_coalesces_with_the_same_area_and_is_whole_else),
        CASE(what_comes_during_the_read_of_an_area_waits_unless_it_is_of_that_area),
        CASE(an_update_that_is_ready_stands_for_its_area_up_to_its_read),
        CASE(an_update_in_flight_is_replaced_by_nothing),
        CASE(of_what_waits_behind_another_areas_become_the_whole_document),
        CASE(an_area_of_another_compiled_plan_is_another_area),
        CASE(an_area_that_cannot_be_read_or_written_alone_is_read_whole),
        CASE(an_update_whose_answer_was_lost_is_sent_again_as_it_was),
        CASE(a_whole_document_after_an_update_is_read_after_it),
        CASE(nobody_waits_in_vain_for_an_area),
    };

    return cmocka_run_group_tests_name("document_areas", tests, NULL, NULL);
}
