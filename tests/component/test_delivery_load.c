/*
 * Delivery, with real threads and real sockets, against a search engine in memory.
 *
 * More than it can take: F13, an engine that is busy, F21, bodies that are too large, and F60,
 * a document that changes all the time.
 */
#include "config.h"

#include "tests/unit/unit.h"

#include "src/base/log.h"
#include "src/base/thread.h"
#include "sync/delivery/delivery.h"
#include "tests/component/delivery_rig.h"
#include "tests/fakes/fake_search.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define INDEX     "orders_v2"
#define N_CALLERS 3
#define WORKERS   8
#define HIGH      1000  /* of each worker */
#define N_IDS     20000 /* of each caller: more than it can have open, so that nothing joins */

/* Hands documents over one by one until it is told to end, and at least so many. */
struct caller {
    struct rig *rig;
    pthread_t thread;
    const char *text;
    int first_id, n_ids, n_least;
    int n;       /* that it has handed over */
    bool is_end; /* atomic */
};

static void *hand_over(void *arg)
{
    struct caller *c = arg;

    while (c->n < c->n_least || !__atomic_load_n(&c->is_end, __ATOMIC_RELAXED)) {
        rig_index(c->rig, c->first_id + c->n % c->n_ids, (uint64_t)c->n + 1, c->text);
        c->n++;
    }
    return NULL;
}

static void end_caller(struct caller *c)
{
    __atomic_store_n(&c->is_end, true, __ATOMIC_RELAXED);
    pthread_join(c->thread, NULL);
}

/* The i-th item from the end. */
static struct fake_item last_item(struct rig *r, size_t i)
{
    return fake_search_item(r->fake, fake_search_items(r->fake) - 1 - i);
}

/* The most items of one request after the first `after`. */
static size_t most_items(struct rig *r, uint64_t after)
{
    const size_t n_items = fake_search_items(r->fake);
    size_t most = 0, n = 0;
    uint64_t request = 0;

    for (size_t i = n_items; i-- > 0;) {
        const struct fake_item item = fake_search_item(r->fake, i);

        if (item.request <= after)
            continue;
        n = item.request == request ? n + 1 : 1;
        request = item.request;
        most = n > most ? n : most;
    }
    return most;
}

/* How the engine is from now on; the number of requests that it has had. */
static uint64_t become(struct rig *r, int status)
{
    fake_search_clear_rules(r->fake);
    fake_search_add_rule(r->fake,
                         &(struct fake_rule){.act = status == 0 ? FAKE_ANSWER : FAKE_STATUS,
                                             .status = status,
                                             .delay_ms = 50});
    fake_search_count_anew(r->fake);
    return fake_search_requests(r->fake);
}

/* Requests are large, and several at a time. */
static void wait_for_width(struct rig *r, uint64_t after)
{
    for (int i = 0; i < 4000; i++) {
        if (fake_search_most_at_once(r->fake) >= 3 && most_items(r, after) >= 400)
            return;
        rig_sleep(5);
    }
    fail_msg("not wide: %u requests at a time, %zu documents",
             fake_search_most_at_once(r->fake), most_items(r, after));
}

static uint64_t n_open(struct rig *r)
{
    uint64_t n = __atomic_load_n(&r->tickets.read, __ATOMIC_RELAXED);

    for (unsigned i = 0; i < N_OUTCOMES; i++)
        n -= rig_done(r, (enum outcome)i);
    return n;
}

/* F13: requests become few and small, and wide again after it; nothing melts or gets lost, and
 * what waits is bounded. */
static void a_busy_engine_gets_less_to_do_and_more_again_when_it_has_time(void **state)
{
    static char text[1000];
    struct rig *r = *state;
    struct caller callers[N_CALLERS];
    uint64_t begin, n_blocked, n_narrow;
    unsigned at_once, at_first;
    size_t most;

    memset(text, 'x', sizeof(text) - 1);
    become(r, 0);
    rig_start(r, &(struct delivery_options){.settings = {.workers = WORKERS,
                                                         .high_water_mark = HIGH,
                                                         .batch_bytes = 512 * 1024,
                                                         .failures = 3}});
    for (int i = 0; i < N_CALLERS; i++) {
        callers[i] =
            (struct caller){.rig = r, .text = text, .first_id = i * N_IDS, .n_ids = N_IDS};
        callers[i].thread = thread_start("caller", hand_over, &callers[i]);
    }
    wait_for_width(r, 0);

    begin = become(r, 429);
    rig_wait_requests(r, begin + 10); /* each of them halves */
    fake_search_count_anew(r->fake);
    begin = fake_search_requests(r->fake);
    rig_wait_blocked(r, N_CALLERS);
    n_blocked = n_open(r);
    rig_wait_requests(r, begin + 2);
    n_narrow = n_open(r);
    at_once = fake_search_most_at_once(r->fake);
    most = most_items(r, begin);

    begin = become(r, 0);
    rig_wait_requests(r, begin + 6); /* they were many at a time before, and become so slowly */
    at_first = fake_search_most_at_once(r->fake);
    wait_for_width(r, begin);
    for (int i = 0; i < N_CALLERS; i++)
        end_caller(&callers[i]);
    rig_wait_done(r);
    assert_int_equal(at_once, 1);
    assert_int_equal(at_first, 1);
    assert_in_range(most, 1, 65536 / sizeof(text));
    assert_in_range(n_blocked, HIGH, WORKERS * HIGH + N_CALLERS);
    assert_in_range(n_narrow, HIGH, WORKERS * HIGH + N_CALLERS);
    for (int i = 0; i < N_CALLERS; i++)
        for (int k = 0; k < N_IDS && k < callers[i].n; k += 100)
            rig_check(r, callers[i].first_id + k, 0, text);
    assert_int_equal(rig_events(r, DELIVERY_BLOWN), 0);
    assert_int_equal(r->purged.n + r->dead.n, 0);
    assert_int_equal(rig_done(r, OUTCOME_DELIVERED), r->tickets.read);
}

/* The request that brought this document, which comes soon. */
static uint64_t request_of(struct rig *r, int id)
{
    char name[16];

    snprintf(name, sizeof(name), "%d", id);
    for (int i = 0; i < 20000; i++) {
        for (size_t k = 0; k < fake_search_items(r->fake) && k < 100; k++)
            if (strcmp(last_item(r, k).id, name) == 0)
                return last_item(r, k).request;
        rig_sleep(1);
    }
    fail_msg("document %d does not come", id);
    return 0;
}

/* F60.  Others wait for no more requests than without it: the next is theirs as well. */
static void a_hot_document_coalesces_and_keeps_no_other_waiting(void **state)
{
    enum { N_HOT = 100000, N_OTHERS = 100 };
    struct rig *r = *state;
    struct caller hot = {.rig = r, .text = "hot", .first_id = 1, .n_ids = 1, .n_least = N_HOT};
    size_t n_hot = 0, n_late = 0, n_held_up = 0;

    fake_search_add_rule(r->fake, &(struct fake_rule){.delay_ms = 5});
    rig_start(r, NULL);
    hot.thread = thread_start("hot", hand_over, &hot);
    rig_wait_requests(r, 1);
    for (int i = 0; i < N_OTHERS; i++) {
        const uint64_t before = fake_search_requests(r->fake);

        rig_index(r, 100 + i, 1, "other");

        const uint64_t handed = fake_search_requests(r->fake);

        n_held_up += handed > before + 2;
        n_late += request_of(r, 100 + i) > handed + 2;
    }
    end_caller(&hot);
    rig_wait_done(r);
    rig_check(r, 1, (uint64_t)hot.n, "hot");
    for (size_t i = 0; i < fake_search_items(r->fake); i++)
        n_hot += strcmp(fake_search_item(r->fake, i).id, "1") == 0;
    assert_in_range(n_hot, 2, (size_t)hot.n / 10);
    assert_in_range(n_late, 0, N_OTHERS / 100);
    assert_in_range(n_held_up, 0, N_OTHERS / 10); /* a busy machine may hold up some */
    assert_int_equal(rig_done(r, OUTCOME_DELIVERED), hot.n + N_OTHERS);
}

/* F21 */
static void what_is_too_large_is_split_in_bounded_memory(void **state)
{
    enum { BOUND = 400000, BODY = 100000, N = 4000 };
    static char text[1000];
    struct rig *r = *state;
    struct rig_pusher p;
    size_t most = 0;

    memset(text, 'x', sizeof(text) - 1);
    fake_search_add_rule(
        r->fake, &(struct fake_rule){
                     .act = FAKE_STATUS, .body_max = 20000, .status = 413, .delay_ms = 5});
    rig_start(
        r, &(struct delivery_options){.settings = {.bytes_max = BOUND, .batch_bytes = BODY}});
    rig_push(r, &p, N, text);
    while (rig_pushed(&p) < N) {
        const size_t held = delivery_status(r->delivery).bytes_held;

        most = held > most ? held : most;
        rig_sleep(1);
    }
    rig_wait_pushed(&p);
    rig_wait_done(r);
    /* The callers may be over it with one piece, delivery with the bodies of one turn: two
     * halves of one request, and the next. */
    assert_in_range(most, BOUND / 2, BOUND + 2 * BODY + 2 * sizeof(text));
    assert_true(delivery_status(r->delivery).splits > 0);
    assert_int_equal(fake_search_count(r->fake, INDEX), N);
    assert_int_equal(r->dead.n + r->purged.n, 0);
}

/* All of it is read and waits for the engine, which takes nothing yet. */
static void behind_a_backlog_of_its_own_index_a_job_has_its_share(void **state)
{
    enum { N = 2000, N_OF_JOB = 100, SHARE = 25, BATCH = 20 };
    struct rig *r = *state;
    size_t last = 0;

    for (int i = 0; i < N + N_OF_JOB; i++)
        rig_set_row(r, i, "row");
    fake_search_add_rule(r->fake, &(struct fake_rule){.until_cleared = true});
    rig_start(r, &(struct delivery_options){.settings = {.workers = 1,
                                                         .helpers = 1,
                                                         .batch_max = BATCH,
                                                         .load_batch_max = BATCH,
                                                         .fan_out_share = SHARE}});
    for (int i = 0; i < N; i++)
        rig_refresh(r, i, 1);
    for (int i = 0; i < N_OF_JOB; i++)
        rig_refresh_gathered(r, N + i, 1);
    rig_wait_read(&r->reads, N + N_OF_JOB);
    fake_search_clear_rules(r->fake);
    rig_wait_done(r);
    assert_int_equal(fake_search_items(r->fake), N + N_OF_JOB);
    for (size_t i = 0; i < N + N_OF_JOB; i++)
        if (strtol(fake_search_item(r->fake, i).id, NULL, 10) >= N)
            last = i;
    /* Before them went what was sent when they came. */
    assert_in_range(last, N_OF_JOB, N_OF_JOB * 100 / SHARE + BATCH);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        RIG_TEST(a_busy_engine_gets_less_to_do_and_more_again_when_it_has_time),
        RIG_TEST(a_hot_document_coalesces_and_keeps_no_other_waiting),
        RIG_TEST(what_is_too_large_is_split_in_bounded_memory),
        RIG_TEST(behind_a_backlog_of_its_own_index_a_job_has_its_share),
    };

    log_set_level(LOG_ERROR + 1);
    return cmocka_run_group_tests_name("delivery_load", tests, NULL, NULL);
}
