#include "config.h"

#include "tests/unit/index_queue_fixture.h"

#include "sync/delivery/index/guests.h"

static void the_first_document_of_an_idle_index_goes_at_once(void **state)
{
    struct fixture *f = *state;
    struct batch b;

    assert_false(next(f, &b));
    assert_int_equal(index_queue_wait_ms(f->index_queue, f->now_ms, true, 777), 777);
    arrive_many(f, 0, 1, "{}");
    assert_int_equal(index_queue_wait_ms(f->index_queue, f->now_ms, true, 777), 0);
    assert_true(next(f, &b));
    assert_int_equal(b.n, 1);
    deliver(f, &b);
    assert_int_equal(document_table_count(f->table), 0);
}

static void what_comes_while_a_small_request_is_in_flight_gathers(void **state)
{
    struct fixture *f = *state;
    struct batch first, second;

    arrive_many(f, 0, 1, "{}");
    assert_true(next(f, &first));
    arrive_many(f, 10, 20, "{}");
    assert_false(next(f, &second));
    deliver(f, &first);
    assert_true(next(f, &second));
    assert_int_equal(second.n, 20);
    deliver(f, &second);
}

static void what_gathers_does_not_wait_for_ever_for_a_slow_request(void **state)
{
    struct fixture *f = *state;
    struct batch first, second;
    struct document *doc = arrive(f, DOC_INDEX, 0, 1, "{}");
    unsigned id = 1;

    assert_true(next(f, &first));
    while (arrive(f, DOC_INDEX, id, 1, "{}")->hash % 4 == doc->hash % 4)
        id++; /* until one of another worker comes */
    assert_int_equal(index_queue_wait_ms(f->index_queue, f->now_ms, true, 777), 50);
    assert_int_equal(index_queue_wait_ms(f->index_queue, f->now_ms, false, 777), 777);
    f->now_ms += 50;
    assert_true(next(f, &second));
    assert_int_equal(second.n, 1);
    deliver(f, &second);
    deliver(f, &first);
}

static void set(struct fixture *f, unsigned workers, unsigned batch_max)
{
    struct index_queue_options opt = usual;

    opt.workers = workers;
    opt.batch_max = batch_max;
    index_queue_set_options(f->index_queue, &opt);
}

/* All that waits, until there is nothing; at most `max` documents a batch. */
static void deliver_all(struct fixture *f, size_t max)
{
    struct batch b;

    while (document_table_count(f->table) > 0) {
        f->now_ms += 2000;
        assert_true(next(f, &b));
        assert_true(b.n <= max);
        deliver(f, &b);
    }
}

static void with_another_number_of_workers_nothing_is_lost_and_all_goes(void **state)
{
    struct fixture *f = *state;

    for (unsigned workers = 1; workers < 20; workers += 3) {
        struct batch b;

        set(f, 4, 7);
        arrive_many(f, 0, 50, "{}");
        assert_true(next(f, &b));
        set(f, workers, 0);
        assert_int_equal(index_queue_level(f->index_queue).ready, 43);
        assert_int_equal(index_queue_level(f->index_queue).in_flight, 7);
        give_back(f, &b);
        assert_int_equal(index_queue_level(f->index_queue).ready, 50);
        deliver_all(f, 50);
        assert_int_equal(index_queue_level(f->index_queue).ready, 0);
    }
}

static void another_batch_limit_counts_from_the_next_batch_on(void **state)
{
    struct fixture *f = *state;

    arrive_many(f, 0, 50, "{}");
    set(f, 4, 3);
    deliver_all(f, 3);
}

static void what_a_withheld_worker_has_does_not_go(void **state)
{
    struct fixture *f = *state;
    struct batch b;

    arrive_many(f, 0, 50, "{}");
    index_queue_withhold(f->index_queue, INDEX_QUEUE_ALL);
    assert_false(next(f, &b));
    index_queue_withhold(f->index_queue, 2);
    for (f->now_ms += 2000; next(f, &b); f->now_ms += 2000) {
        for (size_t i = 0; i < b.n; i++)
            assert_int_not_equal(b.docs[i]->hash % 4, 2);
        deliver(f, &b);
    }
    assert_true(index_queue_level(f->index_queue).ready > 0);
    index_queue_withhold(f->index_queue, INDEX_QUEUE_NONE);
    deliver_all(f, 50);
}

static void a_worker_has_one_batch_in_flight(void **state)
{
    struct fixture *f = *state;
    struct batch first, second;
    unsigned id = 1;
    struct document *doc = arrive(f, DOC_INDEX, 0, 1, "{}");

    assert_true(next(f, &first));
    while (arrive(f, DOC_INDEX, id, 1, "{}")->hash % 4 != doc->hash % 4)
        id++;
    f->now_ms += 10000;
    if (next(f, &second)) {
        for (size_t i = 0; i < second.n; i++)
            assert_true(second.docs[i]->hash % 4 != doc->hash % 4);
        deliver(f, &second);
    }
    assert_int_equal(index_queue_level(f->index_queue).ready, 1);
    deliver(f, &first);
    assert_true(next(f, &second));
    assert_int_equal(second.n, 1);
    deliver(f, &second);
}

static void a_lot_goes_in_several_requests_at_a_time(void **state)
{
    struct fixture *f = *state;
    char *body = text_of(1000);
    struct batch b[4];

    arrive_many(f, 0, 8000, body); /* 8 MB; a request starts at 1 MiB and takes 2 lanes or 3 */
    for (unsigned i = 0; i < 4; i++) {
        assert_true(next(f, &b[i]));
        assert_in_range(b[i].bytes, 500000, 1 << 20);
    }
    assert_false(next(f, &(struct batch){0})); /* the limiter's width */
    assert_int_equal(index_queue_level(f->index_queue).requests, 4);
    for (unsigned i = 0; i < 4; i++)
        deliver(f, &b[i]);
    free(body);
}

static void a_fixed_maximum_of_documents_is_kept(void **state)
{
    struct fixture *f = *state;
    struct index_queue_options opt = usual;
    struct batch b;
    size_t n = 0;

    opt.batch_max = 7;
    begin(f, &opt);
    arrive_many(f, 0, 100, "{}");
    while (document_table_count(f->table) > 0) {
        assert_true(next(f, &b));
        assert_in_range(b.n, 1, 7);
        n += b.n;
        deliver(f, &b);
    }
    assert_int_equal(n, 100);
}

static void below_the_minimum_a_batch_waits_for_the_flush(void **state)
{
    struct fixture *f = *state;
    struct index_queue_options opt = usual;
    struct batch b;

    opt.batch_min = 4;
    begin(f, &opt);
    arrive_many(f, 0, 3, "{}");
    assert_false(next(f, &b));
    assert_int_equal(index_queue_wait_ms(f->index_queue, f->now_ms, true, 5000), 1000);
    arrive_many(f, 10, 1, "{}");
    assert_true(next(f, &b));
    assert_int_equal(b.n, 4);
    deliver(f, &b);
    arrive_many(f, 20, 3, "{}");
    f->now_ms += 999;
    assert_false(next(f, &b));
    f->now_ms += 1;
    assert_true(next(f, &b));
    assert_int_equal(b.n, 3);
    deliver(f, &b);
    arrive_many(f, 30, 1, "{}");
    assert_true(index_queue_next_batch(f->index_queue, f->now_ms, true, &b)); /* draining */
    deliver(f, &b);
}

static void what_comes_back_keeps_its_order_and_goes_first(void **state)
{
    struct fixture *f = *state;
    struct index_queue_options opt = usual;
    struct document *docs[5];
    struct batch b;

    opt.workers = 1;
    begin(f, &opt);
    for (unsigned i = 0; i < 3; i++)
        docs[i] = arrive(f, DOC_INDEX, i, 1, "{}");
    assert_true(next(f, &b));
    for (unsigned i = 3; i < 5; i++)
        docs[i] = arrive(f, DOC_INDEX, i, 1, "{}");
    give_back(f, &b);
    assert_true(next(f, &b));
    assert_int_equal(b.n, 5);
    for (unsigned i = 0; i < 5; i++)
        assert_ptr_equal(b.docs[i], docs[i]);
    deliver(f, &b);
}

static void a_replaced_write_counts_with_its_new_size(void **state)
{
    struct fixture *f = *state;
    char *large = text_of(100000);
    struct batch b;

    arrive(f, DOC_INDEX, 1, 1, "{}");
    arrive(f, DOC_INDEX, 1, 2, large);
    assert_true(next(f, &b));
    assert_int_equal(b.n, 1);
    assert_true(b.bytes > 100000);
    deliver(f, &b);
    arrive(f, DOC_INDEX, 1, 3, large);
    arrive(f, DOC_DELETE, 1, 4, "");
    assert_true(next(f, &b));
    assert_true(b.bytes < 1000);
    deliver(f, &b);
    free(large);
}

static void what_is_parked_comes_back_when_it_is_due_in_a_batch_of_its_own(void **state)
{
    struct fixture *f = *state;
    struct parking *p;
    struct batch b;

    arrive_many(f, 0, 3, "{}");
    arrive(f, DOC_REFRESH, 10, 5, "");
    assert_true(next(f, &b));
    p = index_queue_open_parking(f->index_queue, f->now_ms + 300);
    for (size_t i = 0; i < b.n; i++) {
        document_lost_answer(b.docs[i]);
        index_queue_park(f->index_queue, p, b.docs[i]);
    }
    index_queue_end_batch(f->index_queue, &b);

    struct document *loading[10];

    assert_int_equal(index_queue_next_load(f->index_queue, 10, loading), 1);
    document_not_loaded(loading[0], &f->ends);
    index_queue_park(f->index_queue, p, loading[0]);
    assert_int_equal(index_queue_level(f->index_queue).parked, 4);
    assert_int_equal(index_queue_wait_ms(f->index_queue, f->now_ms, false, 5000), 300);
    assert_false(next(f, &b));

    f->now_ms += 300;
    arrive_many(f, 20, 5, "{}");
    assert_true(next(f, &b));
    assert_int_equal(b.n, 3);
    assert_int_equal(index_queue_level(f->index_queue).load_wait, 1);
    assert_int_equal(index_queue_level(f->index_queue).parked, 0);
    deliver(f, &b);
    assert_true(next(f, &b));
    assert_int_equal(b.n, 5);
    deliver(f, &b);
}

static void a_split_batch_goes_in_its_parts(void **state)
{
    struct fixture *f = *state;
    struct batch b, part;

    arrive_many(f, 0, 9, "{}");
    assert_true(next(f, &b));
    for (size_t i = 0; i < b.n; i++)
        document_not_applied(b.docs[i], &f->ends);
    index_queue_split(f->index_queue, &b, 0, 4, NULL);
    index_queue_split(f->index_queue, &b, 4, 9, NULL);
    index_queue_end_batch(f->index_queue, &b);
    arrive_many(f, 100, 1, "{}");
    assert_true(next(f, &part));
    assert_int_equal(part.n, 4);
    deliver(f, &part);
    assert_true(next(f, &part));
    assert_int_equal(part.n, 5);
    deliver(f, &part);
    assert_true(next(f, &part));
    assert_int_equal(part.n, 1);
    deliver(f, &part);
}

/* All is refused, and goes again in its halves. */
static void halve(struct fixture *f, struct batch *b)
{
    struct bisect *bisect = b->bisect;
    const size_t n = b->n;

    for (size_t i = 0; i < n; i++)
        document_not_applied(b->docs[i], &f->ends);
    index_queue_split(f->index_queue, b, n / 2, n, bisect_open(bisect));
    index_queue_split(f->index_queue, b, 0, n / 2, bisect_open(bisect));
    index_queue_end_batch(f->index_queue, b);
    assert_false(bisect_close(bisect));
}

static void of_a_bisection_one_part_goes_at_a_time_and_the_halves_of_a_half_first(void **state)
{
    static const size_t expected[] = {2, 2, 4};
    struct fixture *f = *state;
    struct bisect *bisect = bisect_new(8);
    struct batch b, other;

    arrive_many(f, 0, 8, "{}");
    assert_true(next(f, &b));
    b.bisect = bisect;
    halve(f, &b);
    assert_true(next(f, &b));
    assert_int_equal(b.n, 4);
    assert_false(next(f, &other));
    halve(f, &b);
    for (size_t i = 0; i < ARRAY_LEN(expected); i++) {
        assert_true(next(f, &b));
        assert_int_equal(b.n, expected[i]);
        assert_ptr_equal(b.bisect, bisect);
        assert_false(next(f, &other));
        deliver(f, &b);
        assert_true(bisect_close(bisect) == (i == ARRAY_LEN(expected) - 1));
    }
    bisect_free(bisect);
}

static void while_a_part_of_a_bisection_is_out_the_others_go(void **state)
{
    struct fixture *f = *state;
    struct bisect *bisect = bisect_new(8);
    struct batch b, other;

    arrive_many(f, 0, 8, "{}");
    assert_true(next(f, &b));
    b.bisect = bisect;
    halve(f, &b);
    assert_true(next(f, &b));
    arrive_many(f, 100, 1, "{}");
    f->now_ms += 50;
    assert_true(next(f, &other));
    assert_int_equal(other.n, 1);
    assert_null(other.bisect);
    deliver(f, &other);
    deliver(f, &b);
    assert_true(next(f, &b));
    deliver(f, &b);
    bisect_free(bisect);
}

static void removing_works_wherever_a_document_waits(void **state)
{
    struct fixture *f = *state;
    struct batch b;
    struct document *in_lane, *in_parcel, *to_load;

    arrive_many(f, 0, 2, "{}");
    assert_true(next(f, &b));
    for (size_t i = 0; i < b.n; i++)
        document_not_applied(b.docs[i], &f->ends);
    in_parcel = b.docs[1];
    index_queue_split(f->index_queue, &b, 0, 2, NULL);
    index_queue_end_batch(f->index_queue, &b);
    in_lane = arrive(f, DOC_INDEX, 10, 1, "{}");
    to_load = arrive(f, DOC_REFRESH, 11, 1, "");
    index_queue_remove(f->index_queue, in_lane);
    index_queue_remove(f->index_queue, in_parcel);
    index_queue_remove(f->index_queue, to_load);
    assert_int_equal(index_queue_level(f->index_queue).ready, 1);
    assert_int_equal(index_queue_level(f->index_queue).load_wait, 0);
    assert_true(next(f, &b));
    assert_int_equal(b.n, 1);
    deliver(f, &b);
    assert_false(next(f, &b));
}

static void a_load_is_of_one_target(void **state)
{
    struct fixture *f = *state;
    struct target *first = f->target, *second = a_target("orders_v2");
    struct document *docs[10];

    for (unsigned i = 0; i < 6; i++) {
        f->target = i < 4 ? first : second;
        arrive(f, DOC_REFRESH, i, 1, "");
    }
    f->target = first;
    assert_int_equal(index_queue_next_load(f->index_queue, 3, docs), 3);
    assert_int_equal(index_queue_next_load(f->index_queue, 10, docs), 1);
    assert_int_equal(index_queue_next_load(f->index_queue, 10, docs), 2);
    assert_ptr_equal(docs[0]->now->target, second);
    assert_int_equal(index_queue_next_load(f->index_queue, 10, docs), 0);
    target_unref(second);
}

static void a_load_is_of_one_area_or_of_whole_documents(void **state)
{
    struct fixture *f = *state;
    struct document *docs[10];

    for (unsigned i = 0; i < 6; i++)
        arrive(f, DOC_REFRESH, i, 1, "")->now->area = i % 2;
    for (unsigned area = 0; area < 2; area++) {
        assert_int_equal(index_queue_next_load(f->index_queue, 10, docs), 3);
        for (unsigned i = 0; i < 3; i++)
            assert_int_equal(docs[i]->now->area, area);
    }
}

static void beside_a_request_of_a_job_the_stream_does_not_wait_for_more(void **state)
{
    struct fixture *f = *state;
    struct batch of_job, of_stream;

    arrive_as(f, true, DOC_INDEX, 0, 1, "{}");
    assert_true(next(f, &of_job));
    assert_true(of_job.n_jobs > 0 && !of_job.has_stream);
    arrive_many(f, 1, 20, "{}");
    assert_int_equal(index_queue_wait_ms(f->index_queue, f->now_ms, true, 777), 0);
    assert_true(next(f, &of_stream));
    assert_true(of_stream.has_stream && of_stream.n_jobs == 0);
    deliver(f, &of_stream);
    deliver(f, &of_job);
    deliver_all(f, 20);
}

static void while_guests_may_not_go_the_stream_goes_alone(void **state)
{
    struct fixture *f = *state;
    struct guests guests;
    struct batch b;

    guests_init(&guests, &(struct guests_options){true, 4, 1 << 20});
    index_queue_set_guests(f->index_queue, &guests);
    for (unsigned i = 0; i < 20; i++)
        arrive_as(f, true, DOC_INDEX, i, 1, "{}");
    guests_begin(&guests); /* it looks */
    assert_false(guests_may_go(&guests));
    f->now_ms += 10000;
    assert_false(next(f, &b));
    assert_false(index_queue_has_line(f->index_queue, LINE_STREAM));
    assert_int_equal(index_queue_wait_ms(f->index_queue, f->now_ms, true, 777), 777);
    arrive_many(f, 100, 5, "{}");
    assert_true(index_queue_has_line(f->index_queue, LINE_STREAM));
    assert_true(next(f, &b));
    assert_int_equal(b.n, 5);
    assert_int_equal(b.n_jobs, 0);
    deliver(f, &b);
    guests_end(&guests);
    assert_true(next(f, &b));
    assert_int_equal(b.n, 20);
    deliver(f, &b);
}

/* One lane alone fills a request of guests. */
static void each_lane_has_its_turn_in_requests_of_guests(void **state)
{
    struct fixture *f = *state;
    char *body = text_of(10000);
    bool went[4] = {false};
    struct guests guests;
    struct batch b;

    guests_init(&guests, &(struct guests_options){true, 4, 1 << 20});
    index_queue_set_guests(f->index_queue, &guests);
    for (unsigned i = 0; i < 200; i++)
        arrive_as(f, true, DOC_INDEX, i, 1, body);
    for (unsigned n = 0; n < 4; n++) {
        arrive_many(f, 1000, 8, "{}");
        assert_true(next(f, &b));
        assert_true(b.job_bytes <= guests_bytes(&guests) && b.n > 8);
        for (size_t i = 0; i < b.n; i++)
            went[b.docs[i]->hash % 4] |= document_is_for_job(b.docs[i]);
        deliver(f, &b);
    }
    assert_true(went[0] && went[1] && went[2] && went[3]);
    deliver_all(f, 200);
    free(body);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        CASE(the_first_document_of_an_idle_index_goes_at_once),
        CASE(what_comes_while_a_small_request_is_in_flight_gathers),
        CASE(what_gathers_does_not_wait_for_ever_for_a_slow_request),
        CASE(with_another_number_of_workers_nothing_is_lost_and_all_goes),
        CASE(another_batch_limit_counts_from_the_next_batch_on),
        CASE(what_a_withheld_worker_has_does_not_go),
        CASE(a_worker_has_one_batch_in_flight),
        CASE(a_lot_goes_in_several_requests_at_a_time),
        CASE(a_fixed_maximum_of_documents_is_kept),
        CASE(below_the_minimum_a_batch_waits_for_the_flush),
        CASE(what_comes_back_keeps_its_order_and_goes_first),
        CASE(a_replaced_write_counts_with_its_new_size),
        CASE(what_is_parked_comes_back_when_it_is_due_in_a_batch_of_its_own),
        CASE(a_split_batch_goes_in_its_parts),
        CASE(of_a_bisection_one_part_goes_at_a_time_and_the_halves_of_a_half_first),
        CASE(while_a_part_of_a_bisection_is_out_the_others_go),
        CASE(removing_works_wherever_a_document_waits),
        CASE(a_load_is_of_one_target),
        CASE(a_load_is_of_one_area_or_of_whole_documents),
        CASE(beside_a_request_of_a_job_the_stream_does_not_wait_for_more),
        CASE(while_guests_may_not_go_the_stream_goes_alone),
        CASE(each_lane_has_its_turn_in_requests_of_guests),
    };

    return cmocka_run_group_tests_name("index_queue", tests, NULL, NULL);
}
