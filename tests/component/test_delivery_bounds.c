/*
 * Delivery, with real threads and real sockets, against a search engine in memory.
 *
 * One bad answer does not cost more than itself: for each fault that an engine can show, a
 * bound of the documents that are sent, of the bytes that are held, and of the lines of the
 * log.  A fault lasts for a number of requests, whenever these come, and then is over.  (An
 * engine that names another index: test_delivery_held.c.)
 */
#include "config.h"

#include "tests/unit/unit.h"

#include "src/base/clock.h"
#include "src/base/log.h"
#include "src/base/mem.h"
#include "sync/delivery/delivery.h"
#include "tests/component/delivery_rig.h"
#include "tests/component/delivery_rig_parts.h"
#include "tests/fakes/fake_search.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define DOCUMENTS 5000
#define TIMES     20     /* requests for which a fault lasts, unless its row says more */
#define EVER      100000 /* it does not end */
#define SMALL     100    /* documents, at most, of a request that goes after a failure */
#define LINES     4      /* of the log, and events: it began, it is over, and two more */
#define LIMIT_MS  60000
#define WORKERS   3
#define ANSWER    ((size_t)64 << 20)  /* the client reads no more of an answer */
#define ROOM      ((size_t)256 << 10) /* a tenth of what is to be sent */

#define WHOLE(...)                      \
    {                                   \
        .act = FAKE_STATUS, __VA_ARGS__ \
    }
#define ITEMS(...)  \
    {               \
        __VA_ARGS__ \
    }
#define PRESSURE(operation)                                                             \
    "rejected execution of " operation " operation [coordinating_and_primary_bytes=0, " \
    "replica_bytes=0, all_bytes=0, " operation                                          \
    "_operation_bytes=300, max_coordinating_and_primary_bytes=200]"
#define FIELDS                                           \
    .status = 400, .type = "illegal_argument_exception", \
    .reason = "Limit of total fields [1000] has been exceeded"

/*
 * Each document may be sent `factor` times on average, beside the small requests that try
 * whether the fault is over.
 */
static struct fault {
    const char *name;
    struct fake_rule rule;
    unsigned n_ids;     /* it concerns so many documents, evenly spread; 0: all */
    unsigned batch_max; /* documents of a request; 0: no limit */
    unsigned failures;  /* that blow a fuse; 0: 3 */
    double factor;      /* 0: 2 */
    size_t n_dead;      /* dead letters, at most */
} faults[] = {
    /* 2: once before the index is held, once when it is held no more. */
    {.name = "302, again and again", .rule = WHOLE(.status = 302)},
    {.name = "401", .rule = WHOLE(.status = 401, .type = "security_exception")},
    {.name = "403", .rule = WHOLE(.status = 403, .type = "security_exception")},
    {.name = "404", .rule = WHOLE(.status = 404, .type = "index_not_found_exception")},
    {.name = "418", .rule = WHOLE(.status = 418)},
    {.name = "a closed index", .rule = WHOLE(.status = 400, .type = "index_closed_exception")},
    {.name = "another version's media type",
     .rule = WHOLE(.status = 400, .type = "media_type_header_exception")},
    {.name = "a full disk", .rule = WHOLE(.status = 429, .type = "cluster_block_exception")},

    /* 2: once to see that it fails, once when it is over. */
    {.name = "408", .rule = WHOLE(.status = 408)},
    {.name = "500", .rule = WHOLE(.status = 500)},
    {.name = "502", .rule = WHOLE(.status = 502, .page = "<html>Bad Gateway</html>")},
    {.name = "503", .rule = WHOLE(.status = 503)},
    {.name = "504", .rule = WHOLE(.status = 504)},
    {.name = "the connection is reset", .rule = {.act = FAKE_RESET}},
    {.name = "the connection is reset when all is applied",
     .rule = {.act = FAKE_RESET, .applied = true}},
    {.name = "the answer is cut", .rule = {.act = FAKE_CUT, .applied = true}},
    {.name = "no answer", .rule = {.act = FAKE_SILENT, .times = 4}},
    {.name = "a late answer", .rule = {.delay_ms = 100}, .factor = 1},
    {.name = "half of the JSON", .rule = {.act = FAKE_TRUNCATED}},
    {.name = "an item less", .rule = {.act = FAKE_ITEM_LESS}},
    {.name = "an item more", .rule = {.act = FAKE_ITEM_MORE}},
    {.name = "items of other documents", .rule = {.act = FAKE_ITEMS_MIXED}},
    {.name = "200 with no JSON", .rule = WHOLE(.status = 200, .page = "<html>Welcome</html>")},
    {.name = "200 with no items", .rule = WHOLE(.status = 200, .page = "{}")},
    {.name = "200 with nothing", .rule = WHOLE(.status = 200, .page = "")},
    {.name = "an answer above the limit", .rule = WHOLE(.status = 200, .times = 2)},
    /* Until the limit is small, what is in flight already fails as well. */
    {.name = "429",
     .rule = WHOLE(.status = 429, .type = "rejected_execution_exception"),
     .factor = 3},
    {.name = "429 with Retry-After",
     .rule = WHOLE(.status = 429, .retry_after_s = 1, .times = 3),
     .factor = 3},
    {.name = "429 of a proxy",
     .rule = WHOLE(.status = 429, .page = "<html>Too Many Requests</html>"),
     .factor = 3},
    /* 3: what is sent for nothing is no more than what was taken just before, and half of it is
     * sent for the first time. */
    {.name = "503 to every second request",
     .rule = WHOLE(.status = 503, .times = EVER, .every = 2),
     .batch_max = 50,
     .failures = DELIVERY_FAILURES_MAX,
     .factor = 3},

    /* 3: all of it, a half, a quarter ... are two; then what fits. */
    {.name = "413 above 100 kB",
     .rule = WHOLE(.status = 413, .times = EVER, .body_max = 100000),
     .factor = 3},
    {.name = "413 above 10 kB",
     .rule = WHOLE(.status = 413, .times = EVER, .body_max = 10000),
     .factor = 3},
    {.name = "too large for the memory of a node",
     .rule = WHOLE(.status = 429, .times = EVER, .body_max = 10000,
                   .type = "rejected_execution_exception", .reason = PRESSURE("coordinating")),
     .factor = 3},

    /* 3: all of it, its halves until the search is hopeless, and once when it is over.  What
     * was refused alone just before that is a dead letter, in the search of each lane. */
    {.name = "400 to everything",
     .rule = WHOLE(.status = 400, .times = 100),
     .factor = 3,
     .n_dead = 19 * WORKERS},
    /* 3: all of it, both halves, both halves of one half ... */
    {.name = "400 for one document",
     .rule = WHOLE(.status = 400, .times = EVER),
     .n_ids = 1,
     .factor = 3,
     .n_dead = 1},
    /* 6: the same for each of eight, once all parts of three halvings were sent. */
    {.name = "400 for some documents",
     .rule = WHOLE(.status = 400, .times = EVER),
     .n_ids = 8,
     .factor = 6,
     .n_dead = 8},

    /* Items.  2, as with whole requests. */
    {.name = "a mapping that fits nothing",
     .rule = ITEMS(.status = 400, .type = "mapper_parsing_exception"),
     .n_dead = 19}, /* it is not blamed for less */
    {.name = "a mapping that fits all but a few",
     .rule = ITEMS(.status = 400, .times = EVER, .type = "mapper_parsing_exception"),
     .n_ids = 8,
     .factor = 1,
     .n_dead = 8},
    {.name = "too many fields", .rule = ITEMS(FIELDS)},
    {.name = "too many fields of a document", .rule = ITEMS(FIELDS), .n_ids = 1},
    {.name = "items of a read-only index",
     .rule = ITEMS(.status = 403, .type = "cluster_block_exception")},
    {.name = "items of a full disk",
     .rule = ITEMS(.status = 429, .type = "cluster_block_exception")},
    {.name = "items of a closed index",
     .rule = ITEMS(.status = 400, .type = "index_closed_exception")},
    {.name = "items of an index that is gone",
     .rule = ITEMS(.status = 404, .type = "index_not_found_exception")},
    {.name = "newer versions",
     .rule = ITEMS(.status = 409, .times = EVER, .type = "version_conflict_engine_exception",
                   .reason = "current version [9000] is higher"),
     .factor = 1},
    {.name = "too large for the memory of a shard",
     .rule = ITEMS(.status = 429, .times = EVER, .body_max = 1000,
                   .type = "rejected_execution_exception", .reason = PRESSURE("primary"))},
    {.name = "busy items",
     .rule = ITEMS(.status = 429, .times = 4, .type = "es_rejected_execution_exception")},
    {.name = "items of a circuit breaker",
     .rule = ITEMS(.status = 429, .times = 4, .type = "circuit_breaking_exception")},
    {.name = "a busy item",
     .rule = ITEMS(.status = 429, .times = 4, .type = "es_rejected_execution_exception"),
     .n_ids = 1,
     .factor = 1},
    {.name = "no shards",
     .rule = ITEMS(.status = 503, .times = 6, .type = "unavailable_shards_exception")},
    {.name = "a shard less",
     .rule = ITEMS(.status = 503, .times = 4, .type = "unavailable_shards_exception"),
     .n_ids = 8,
     .factor = 1},
    {.name = "items without a reason",
     .rule = ITEMS(.status = 500, .times = 4, .type = "strange_exception")},
    {.name = "an item without a reason",
     .rule = ITEMS(.status = 500, .type = "strange_exception"),
     .n_ids = 1,
     .factor = 1,
     .n_dead = 1},
};

struct run {
    struct fault *fault;
    struct rig *rig;
    off_t log_from;
    size_t peak; /* bytes */
};

static FILE *log_file;

static int set_up(void **state)
{
    struct run *t = mem_alloc(1, sizeof(*t));

    t->fault = *state;
    t->rig = rig_new();
    t->log_from = lseek(fileno(log_file), 0, SEEK_END);
    *state = t;
    return 0;
}

static int tear_down(void **state)
{
    struct run *t = *state;

    rig_free(t->rig);
    free(t);
    return 0;
}

static void break_engine(const struct run *t)
{
    const struct fault *f = t->fault;
    struct fake_rule rule = f->rule;
    char id[16];

    rule.times = rule.times == 0 ? TIMES : rule.times;
    for (unsigned i = 0; i < f->n_ids; i++) {
        snprintf(id, sizeof(id), "%u", (2 * i + 1) * DOCUMENTS / f->n_ids / 2);
        rule.id = id;
        fake_search_add_rule(t->rig->fake, &rule);
    }
    if (f->n_ids == 0)
        fake_search_add_rule(t->rig->fake, &rule);
}

static void start(const struct run *t, size_t bytes_max)
{
    const struct fault *f = t->fault;
    const bool is_silent = f->rule.act == FAKE_SILENT;
    const struct delivery_settings settings = {.workers = WORKERS,
                                               .failures = f->failures == 0 ? 3 : f->failures,
                                               .request_timeout_ms = is_silent ? 1000 : 0,
                                               .batch_max = f->batch_max,
                                               .bytes_max = bytes_max,
                                               .purge = PURGE_OFF};

    rig_start(t->rig, &(struct delivery_options){.settings = settings});
}

/* The index is tried at once, whenever it takes nothing. */
static void live_through(struct run *t)
{
    const int64_t begin_ms = clock_mono_ms();

    while (rig_all_done(t->rig) < DOCUMENTS) {
        const size_t held = delivery_status(t->rig->delivery).bytes_held;

        if (held > t->peak)
            t->peak = held;
        assert_true(clock_mono_ms() - begin_ms < LIMIT_MS);
        delivery_probe(t->rig->delivery);
        rig_sleep(2);
    }
}

static void at_most(const char *what, size_t n, size_t max)
{
    if (n > max)
        fail_msg("%zu %s, at most %zu are allowed", n, what, max);
}

static void check_all_accounted(const struct run *t)
{
    size_t n_dead;

    pthread_mutex_lock(&t->rig->lock);
    n_dead = t->rig->dead.n;
    pthread_mutex_unlock(&t->rig->lock);
    at_most("dead letters", n_dead, t->fault->n_dead);
    assert_int_equal(rig_done(t->rig, OUTCOME_DEAD), n_dead);
    assert_int_equal(rig_done(t->rig, OUTCOME_DELIVERED) + rig_done(t->rig, OUTCOME_SUPERSEDED),
                     DOCUMENTS - n_dead);
}

static void sends_and_lines_are_bounded(void **state)
{
    struct run *t = *state;
    const double factor = t->fault->factor == 0 ? 2 : t->fault->factor;
    const size_t n_tries = t->fault->rule.times == EVER ? 0 : TIMES;

    break_engine(t);
    start(t, 0);
    rig_index_many(t->rig, 0, DOCUMENTS, 100, "body");
    live_through(t);
    check_all_accounted(t);
    at_most("documents sent", fake_search_items(t->rig->fake),
            (size_t)(factor * DOCUMENTS) + n_tries * SMALL);
    at_most("lines", rig_lines(t->rig, fileno(log_file), t->log_from), LINES);
}

/* What is submitted and what is sent share the room; one request may go without. */
static void bytes_held_are_bounded(void **state)
{
    struct run *t = *state;
    struct rig_pusher pusher;
    char text[501];

    memset(text, 'x', sizeof(text) - 1);
    text[sizeof(text) - 1] = '\0';
    break_engine(t);
    start(t, ROOM);
    rig_push(t->rig, &pusher, DOCUMENTS, text);
    live_through(t);
    rig_wait_pushed(&pusher);
    check_all_accounted(t);
    at_most("bytes held", t->peak, 2 * ROOM);
}

static struct CMUnitTest test_of(struct fault *f, const char *what, CMUnitTestFunction test)
{
    static char names[2 * ARRAY_LEN(faults)][80];
    static size_t n;

    snprintf(names[n], sizeof(names[n]), "%s: %s", f->name, what);
    return (struct CMUnitTest){names[n++], test, set_up, tear_down, f};
}

static void make_long(struct fault *f, char *page)
{
    memset(page, ' ', ANSWER + 1);
    f->rule.page = page;
}

int main(void)
{
    static struct CMUnitTest tests[2 * ARRAY_LEN(faults)];
    char *page = mem_alloc(ANSWER + 2, 1);
    int n_failed;

    log_file = tmpfile();
    if (log_file == NULL)
        return 1;
    log_set_fd(fileno(log_file));
    for (size_t i = 0; i < ARRAY_LEN(faults); i++) {
        if (faults[i].rule.status == 200 && faults[i].rule.page == NULL)
            make_long(&faults[i], page);
        tests[2 * i] = test_of(&faults[i], "sends and lines", sends_and_lines_are_bounded);
        tests[2 * i + 1] = test_of(&faults[i], "bytes", bytes_held_are_bounded);
    }
    n_failed = cmocka_run_group_tests_name("delivery_bounds", tests, NULL, NULL);
    free(page);
    fclose(log_file);
    return n_failed;
}
