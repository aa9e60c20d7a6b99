/*
 * What an index queue sends while its index is held, or fails.
 */
#include "config.h"

#include "tests/unit/index_queue_fixture.h"

static void a_held_index_sends_one_document_now_and_then(void **state)
{
    struct fixture *f = *state;
    struct gate *gate = index_queue_gate(f->index_queue);
    struct err why;
    struct batch b;

    err_set(&why, ERR_RETRY, "no rights");
    arrive_many(f, 0, 50, "{}");
    assert_true(gate_hold(gate, HOLD_BLOCK, &why, f->now_ms));
    assert_false(next(f, &b));
    f->now_ms += 1001;
    assert_true(next(f, &b));
    assert_int_equal(b.n, 1);
    assert_true(b.probe);
    assert_false(next(f, &(struct batch){0}));
    give_back(f, &b);
    assert_false(gate_hold(gate, HOLD_BLOCK, &why, f->now_ms));
    assert_false(next(f, &b));
    assert_true(index_queue_wait_ms(f->index_queue, f->now_ms, true, 99999) > 0);
    gate_probe(gate, f->now_ms);
    assert_true(next(f, &b));
    deliver(f, &b);
    assert_true(gate_release(gate));
    assert_true(next(f, &b));
    assert_true(b.n > 1);
    assert_false(b.probe);
    deliver(f, &b);
}

/* It takes what the probe holds, and refuses something else. */
static void an_index_that_is_held_again_and_again_is_tried_ever_more_seldom(void **state)
{
    struct fixture *f = *state;
    struct gate *gate = index_queue_gate(f->index_queue);
    int64_t longest_ms = 0;
    struct err why;

    err_set(&why, ERR_RETRY, "too many fields");
    for (unsigned i = 0; i < 40; i++) {
        assert_true(gate_hold(gate, HOLD_BLOCK, &why, f->now_ms));
        if (gate->probe_ms - f->now_ms > longest_ms)
            longest_ms = gate->probe_ms - f->now_ms;
        f->now_ms = gate->probe_ms;
        assert_true(gate_release(gate));
    }
    assert_in_range(longest_ms, 15000, 30000);
    f->now_ms += 30000;
    assert_true(gate_hold(gate, HOLD_BLOCK, &why, f->now_ms));
    assert_in_range(gate->probe_ms, f->now_ms + 1, f->now_ms + 1000);
}

static void a_guarded_index_tries_a_handful(void **state)
{
    struct fixture *f = *state;
    struct err why;
    struct batch b;

    err_set(&why, ERR_RETRY, "all are refused");
    arrive_many(f, 0, 500, "{}");
    gate_hold(index_queue_gate(f->index_queue), HOLD_GUARD, &why, f->now_ms);
    gate_probe(index_queue_gate(f->index_queue), f->now_ms);
    assert_true(next(f, &b));
    assert_int_equal(b.n, 20);
    deliver(f, &b);
}

static void a_stopped_index_waits_for_a_hand(void **state)
{
    struct fixture *f = *state;
    struct gate *gate = index_queue_gate(f->index_queue);
    struct err why;
    struct batch b;

    err_set(&why, ERR_FATAL, "another lineage");
    arrive_many(f, 0, 5, "{}");
    assert_true(gate_hold(gate, HOLD_STOP, &why, f->now_ms));
    assert_false(gate_hold(gate, HOLD_BLOCK, &why, f->now_ms));
    assert_false(gate_release(gate));
    f->now_ms += 1000000;
    assert_false(next(f, &b));
    gate_probe(gate, f->now_ms);
    assert_true(next(f, &b));
    assert_int_equal(b.n, 1);
    deliver(f, &b);
}

/* All documents of the batch had an answer that says nothing of them; they may go again now. */
static void lose(struct fixture *f, struct batch *b)
{
    struct parking *p = index_queue_open_parking(f->index_queue, f->now_ms);

    for (size_t i = 0; i < b->n; i++) {
        document_lost_answer(b->docs[i]);
        index_queue_park(f->index_queue, p, b->docs[i]);
    }
    index_queue_end_batch(f->index_queue, b);
}

/* What a red shard did not take would say nothing of the others. */
static void a_held_index_is_tried_with_what_it_has_to_read_before_lost_documents(void **state)
{
    struct fixture *f = *state;
    struct gate *gate = index_queue_gate(f->index_queue);
    struct document *read;
    struct err why;
    struct batch b;

    err_set(&why, ERR_RETRY, "the disk is full");
    arrive_many(f, 0, 3, "{}");
    assert_true(next(f, &b));
    lose(f, &b);
    gate_hold(gate, HOLD_BLOCK, &why, f->now_ms);
    gate_probe(gate, f->now_ms);
    arrive(f, DOC_REFRESH, 10, 5, "");
    assert_false(next(f, &b));
    assert_true(index_queue_reads_at(f->index_queue) <= f->now_ms);
    assert_int_equal(index_queue_next_load(f->index_queue, 10, &read), 1);
    assert_false(next(f, &b));
    document_loaded(read, 5, STR("{}"), &f->ends);
    index_queue_end_load(f->index_queue, 1);
    index_queue_place(f->index_queue, read, f->now_ms);
    assert_true(next(f, &b));
    assert_ptr_equal(b.docs[0], read);
    deliver(f, &b);
    assert_true(next(f, &b)); /* there is nothing else */
    assert_int_equal(b.n, 1);
    deliver(f, &b);
}

static void after_a_failure_one_request_goes_after_a_while(void **state)
{
    struct fixture *f = *state;
    struct gate *gate = index_queue_gate(f->index_queue);
    char *body = text_of(1000);
    struct batch b[2];

    arrive_many(f, 0, 4000, body);
    assert_true(next(f, &b[0]));
    gate_failed(gate, f->now_ms, f->now_ms, -1);
    give_back(f, &b[0]);
    assert_false(next(f, &b[0]));
    f->now_ms += 51;
    assert_true(next(f, &b[0]));
    assert_false(next(f, &b[1]));
    gate_good(gate, f->now_ms);
    assert_true(next(f, &b[1]));
    deliver(f, &b[0]);
    deliver(f, &b[1]);
    free(body);
}

static void retry_after_is_heeded(void **state)
{
    struct fixture *f = *state;
    struct batch b;

    arrive_many(f, 0, 1, "{}");
    gate_failed(index_queue_gate(f->index_queue), f->now_ms, f->now_ms, 7000);
    f->now_ms += 10;
    gate_good(index_queue_gate(f->index_queue), f->now_ms - 11); /* it was sent before */
    f->now_ms += 6989;
    assert_false(next(f, &b));
    f->now_ms += 1;
    assert_true(next(f, &b));
    deliver(f, &b);
}

static void pauses_grow_and_failures_at_one_time_count_once(void **state)
{
    struct fixture *f = *state;
    struct gate *gate = index_queue_gate(f->index_queue);
    int64_t longest = 0;

    for (unsigned i = 0; i < 5; i++)
        gate_failed(gate, f->now_ms, f->now_ms, -1);
    assert_in_range(gate->paused_until_ms - f->now_ms, 1, 50);
    for (unsigned i = 0; i < 40; i++) {
        f->now_ms = gate->paused_until_ms;
        gate_failed(gate, f->now_ms, f->now_ms, -1);
        if (gate->paused_until_ms - f->now_ms > longest)
            longest = gate->paused_until_ms - f->now_ms;
    }
    assert_in_range(longest, 2500, 5000);
    gate_good(gate, f->now_ms);
    assert_int_equal(gate_opens_at(gate, 0), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        CASE(a_held_index_sends_one_document_now_and_then),
        CASE(an_index_that_is_held_again_and_again_is_tried_ever_more_seldom),
        CASE(a_guarded_index_tries_a_handful),
        CASE(a_stopped_index_waits_for_a_hand),
        CASE(a_held_index_is_tried_with_what_it_has_to_read_before_lost_documents),
        CASE(after_a_failure_one_request_goes_after_a_while),
        CASE(retry_after_is_heeded),
        CASE(pauses_grow_and_failures_at_one_time_count_once),
    };

    return cmocka_run_group_tests_name("index_queue_gate", tests, NULL, NULL);
}
