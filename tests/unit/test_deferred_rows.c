#include "config.h"

#include "tests/unit/events.h"

#include "src/base/mem.h"
#include "src/base/random.h"
#include "sync/change/xa/deferred_rows.h"
#include "sync/checkpoint/progress.h"
#include "sync/decode/transaction.h"
#include "sync/routing/routing.h"

#include <inttypes.h>
#include <stdarg.h>

/* A log is read as the builder reads it; what is given out is written down. */
struct follower {
    struct test_log log;
    struct log_reader *reader;
    struct deferred_rows *deferred;
    struct progress *progress;
    struct buf told; /* R rows at once, L late and doubtful, l late at their own place, w waits,
                        ! lost; each with the version's offset */
    uint64_t known;
    struct err err;
};

static bool want(void *ctx, struct str database, struct str table, struct schema **schema)
{
    (void)ctx;
    (void)database;
    (void)schema;
    return !str_equal(table, STR("unwanted"));
}

static const struct watched *find(void *ctx, struct str database, struct str table)
{
    static const struct watched any;

    return want(ctx, database, table, NULL) ? &any : NULL;
}

static void on_rows(void *ctx, const struct step *step, const struct rows_when *when)
{
    struct follower *g = ctx;

    (void)step;
    buf_printf(&g->told, "%c%" PRIu64 " ", when->doubtful ? 'L' : 'l', when->version);
}

static bool on_ready(void *ctx, const struct str *wait_sql, uint64_t version, struct err *err)
{
    struct follower *g = ctx;

    (void)version;
    (void)err;
    if (wait_sql != NULL)
        buf_append(&g->told, STR("w "));
    return true;
}

static void on_lost(void *ctx, const struct watched *w, struct str xid)
{
    struct follower *g = ctx;

    buf_printf(&g->told, "%s%" STR_FMT " ", w == NULL ? "!" : "!one ", STR_ARG(xid));
}

static void begin_dump(struct follower *g)
{
    const struct log_reader_options opt = {
        .want = want, .want_ctx = g, .start = {STR("bin.000001"), 4}};

    log_reader_free(g->reader);
    g->reader = log_reader_new(&opt);
    deferred_rows_begin(g->deferred);
    progress_abandon(g->progress);
}

static void start(struct follower *g)
{
    const struct commit_position at = {.file_number = 1, .offset = 4};

    *g = (struct follower){.progress = progress_new(&at)};
    g->deferred = deferred_rows_new(&(struct deferred_rows_options){.folder = "/dev/null/spill",
                                                                    .event_max = 1 << 20,
                                                                    .progress = g->progress,
                                                                    .want = want,
                                                                    .ctx = g,
                                                                    .find = find,
                                                                    .on_rows = on_rows,
                                                                    .ready = on_ready,
                                                                    .lost = on_lost});
    buf_append(&g->told, STR(""));
    begin_dump(g);
}

static void finish(struct follower *g)
{
    log_reader_free(g->reader);
    deferred_rows_free(g->deferred);
    progress_free(g->progress);
    buf_free(&g->told);
}

/* A log of MySQL whose first transaction has begun. */
static void start_in_transaction(struct follower *g)
{
    log_start(&g->log, "8.0.40", true);
    log_gtid(&g->log, 1);
    log_query(&g->log, "d", "BEGIN");
}

static int begin(void **state)
{
    struct follower *g = mem_alloc(1, sizeof(*g));

    start(g);
    *state = g;
    return 0;
}

static int end(void **state)
{
    struct follower *g = *state;

    log_free(&g->log);
    finish(g);
    free(g);
    return 0;
}

static bool on_step(struct follower *g, const struct step *s)
{
    const uint64_t version = s->event.end;
    const struct commit_position end = {.file_number = 1, .offset = s->event.end};

    if (s->breaks &&
        !deferred_rows_break(g->deferred, s, version, version <= g->known, &g->err))
        return false;
    if (!deferred_rows_keep(g->deferred, s, version, &g->err))
        return false;
    if (s->kind == STEP_ROWS && !s->prepares && version > g->known)
        buf_printf(&g->told, "%c%" PRIu64 " ", deferred_rows_doubts(g->deferred) ? 'L' : 'R',
                   version);
    if (!deferred_rows_settle(g->deferred, s, version, version <= g->known, &g->err))
        return false;
    if (s->ends)
        progress_commit(g->progress, &end);
    return true;
}

static bool feed(struct follower *g, struct str raw)
{
    struct step s;
    int got;

    if (!log_reader_feed(g->reader, raw, &g->err))
        return false;
    deferred_rows_feed(g->deferred, raw, log_reader_format(g->reader));
    while ((got = log_reader_next(g->reader, &s, &g->err)) == 1)
        if (!on_step(g, &s))
            return false;
    return got == 0;
}

static void feed_all(struct follower *g, const struct test_log *log)
{
    for (size_t i = 0; i < log->n; i++)
        assert_true(feed(g, log_raw(log, i)));
}

static uint64_t safe(struct follower *g)
{
    struct gtid_set *executed = gtid_set_new();
    struct commit_position m;

    (void)progress_safe(g->progress, &m, executed);
    gtid_set_free(executed);
    return m.offset;
}

static uint64_t end_of(const struct test_log *log)
{
    return log->starts[log->n];
}

static uint64_t log_change(struct test_log *log, const char *table)
{
    log_table_map(log, 5, table, "");
    log_rows(log, EVENT_WRITE_ROWS, 5, true, "ff0201000000");
    return end_of(log);
}

static void log_prepared(struct test_log *log, const char *xid, bool one_phase)
{
    struct buf body = {0};

    put_le(&body, one_phase, 1);
    put_le(&body, 1, 4);
    put_le(&body, strlen(xid), 4);
    put_le(&body, 0, 4);
    buf_append(&body, str_from(xid));
    log_event(log, EVENT_XA_PREPARE, buf_str(&body));
    buf_free(&body);
}

/* Where its rows end. */
static uint64_t log_xa(struct test_log *log, const char *table, bool one_phase)
{
    log_query(log, "d", "XA START X'67',X'',1");

    const uint64_t rows = log_change(log, table);

    log_query(log, "d", "XA END X'67',X'',1");
    log_prepared(log, "g", one_phase);
    return rows;
}

static void assert_told(const struct follower *g, const char *fmt, ...) PRINTF_LIKE(2, 3);
static void assert_told(const struct follower *g, const char *fmt, ...)
{
    struct buf expected = {0};
    va_list ap;

    buf_append(&expected, STR(""));
    va_start(ap, fmt);
    buf_vprintf(&expected, fmt, ap);
    va_end(ap);
    assert_string_equal(g->told.ptr, expected.ptr);
    buf_free(&expected);
}

static void rows_of_a_prepared_transaction_count_at_its_commit(void **state)
{
    struct follower *g = *state;

    log_start(&g->log, "8.0.40", true);
    log_gtid(&g->log, 1);
    (void)log_xa(&g->log, "t", false);
    log_gtid(&g->log, 2);
    log_query(&g->log, "d", "BEGIN");

    const uint64_t between = log_change(&g->log, "t");

    log_xid(&g->log);
    log_gtid(&g->log, 3);
    log_query(&g->log, "d", "XA COMMIT X'67',X'',1");
    feed_all(g, &g->log);
    assert_told(g, "R%" PRIu64 " w L%" PRIu64 " ", between, end_of(&g->log));
}

static void mariadb_says_in_the_gtid_that_a_transaction_is_prepared(void **state)
{
    struct follower *g = *state;

    log_start(&g->log, "10.11.6-MariaDB", true);
    log_hex(&g->log, EVENT_MARIADB_GTID,
            "01000000000000000000000044010000000100"
            "67");
    (void)log_change(&g->log, "t");
    log_query(&g->log, "d", "XA END X'67',X'',1");
    log_prepared(&g->log, "g", false);
    log_hex(&g->log, EVENT_MARIADB_GTID,
            "02000000000000000000000084010000000100"
            "67");
    log_query(&g->log, "d", "XA COMMIT X'67',X'',1");
    feed_all(g, &g->log);
    assert_told(g, "w L%" PRIu64 " ", end_of(&g->log));
}

static void a_prepared_transaction_that_is_rolled_back_gives_nothing(void **state)
{
    struct follower *g = *state;

    log_start(&g->log, "8.0.40", true);
    log_gtid(&g->log, 1);
    (void)log_xa(&g->log, "t", false);
    log_gtid(&g->log, 2);
    log_query(&g->log, "d", "XA ROLLBACK X'67',X'',1");
    feed_all(g, &g->log);
    assert_true(g->told.len == 0);
    assert_int_equal(deferred_rows_status(g->deferred).n, 0);
    assert_int_equal(safe(g), end_of(&g->log));
}

static void the_position_stays_before_a_prepared_transaction(void **state)
{
    struct follower *g = *state;

    start_in_transaction(g);
    log_xid(&g->log);

    const uint64_t before = end_of(&g->log);

    log_gtid(&g->log, 2);
    (void)log_xa(&g->log, "t", false);
    log_gtid(&g->log, 3);
    log_query(&g->log, "d", "BEGIN");
    log_xid(&g->log);
    feed_all(g, &g->log);
    assert_int_equal(safe(g), before);
    assert_int_equal(deferred_rows_status(g->deferred).n, 1);
    assert_string_equal(deferred_rows_status(g->deferred).oldest, "X'67',X'',1");
}

static void a_commit_in_one_phase_gives_rows_at_their_own_place(void **state)
{
    struct follower *g = *state;

    log_start(&g->log, "8.0.40", true);
    log_gtid(&g->log, 1);

    const uint64_t rows = log_xa(&g->log, "t", true);

    feed_all(g, &g->log);
    assert_told(g, "l%" PRIu64 " ", rows);
}

/* Events of it were read before the dump was cut, but none of its rows was given. */
static void a_commit_in_one_phase_that_a_dump_cut_gives_all_rows(void **state)
{
    struct follower *g = *state;

    log_start(&g->log, "8.0.40", true);
    log_gtid(&g->log, 1);

    const uint64_t rows = log_xa(&g->log, "t", true);

    g->known = rows;
    feed_all(g, &g->log);
    assert_told(g, "l%" PRIu64 " ", rows);
}

/* As a statement, which says so of a transaction that was never prepared. */
static void nor_does_a_statement_that_commits_in_one_phase_lack_a_prepare(void **state)
{
    struct follower *g = *state;
    uint64_t rows;

    log_start(&g->log, "8.0.40", true);
    log_gtid(&g->log, 1);
    log_query(&g->log, "d", "XA START X'67',X'',1");
    rows = log_change(&g->log, "t");
    log_query(&g->log, "d", "XA END X'67',X'',1");
    log_query(&g->log, "d", "XA COMMIT X'67',X'',1 ONE PHASE");
    feed_all(g, &g->log);
    assert_told(g, "l%" PRIu64 " ", rows);
}

static void what_is_prepared_again_by_the_same_name_holds_the_position_once(void **state)
{
    struct follower *g = *state;

    log_start(&g->log, "8.0.40", true);
    log_gtid(&g->log, 1);
    (void)log_xa(&g->log, "t", false);
    log_gtid(&g->log, 2);
    (void)log_xa(&g->log, "t", false);
    log_gtid(&g->log, 3);
    log_query(&g->log, "d", "XA COMMIT X'67',X'',1");
    feed_all(g, &g->log);
    assert_int_equal(safe(g), end_of(&g->log));
}

static void a_commit_whose_prepare_was_not_read_is_told(void **state)
{
    struct follower *g = *state;

    log_start(&g->log, "8.0.40", true);
    log_gtid(&g->log, 1);
    log_query(&g->log, "d", "XA ROLLBACK X'66',X'',1");
    log_gtid(&g->log, 2);
    log_query(&g->log, "d", "XA COMMIT X'67',X'',1");
    feed_all(g, &g->log);
    assert_told(g, "!X'67',X'',1 ");
}

/* A dump that breaks begins again at the last transaction, which is known. */
static void what_is_known_from_before_is_neither_prepared_nor_committed_again(void **state)
{
    struct follower *g = *state;

    log_start(&g->log, "8.0.40", true);
    log_gtid(&g->log, 1);
    (void)log_xa(&g->log, "t", false);
    log_gtid(&g->log, 2);
    log_query(&g->log, "d", "XA COMMIT X'67',X'',1");
    g->known = end_of(&g->log);
    feed_all(g, &g->log);
    assert_true(g->told.len == 0);
    assert_int_equal(deferred_rows_status(g->deferred).n, 0);
    assert_int_equal(safe(g), end_of(&g->log));
}

static void a_prepared_transaction_that_a_dump_cut_is_kept_once(void **state)
{
    struct follower *g = *state;

    log_start(&g->log, "8.0.40", true);
    log_gtid(&g->log, 1);
    (void)log_xa(&g->log, "t", false);
    for (size_t i = 0; i + 1 < g->log.n; i++)
        assert_true(feed(g, log_raw(&g->log, i)));
    begin_dump(g);
    log_gtid(&g->log, 2);
    log_query(&g->log, "d", "XA COMMIT X'67',X'',1");
    feed_all(g, &g->log);
    assert_told(g, "w L%" PRIu64 " ", end_of(&g->log));
}

static void rows_of_a_transaction_that_is_rolled_back_are_given_again(void **state)
{
    struct follower *g = *state;

    start_in_transaction(g);

    const uint64_t rows = log_change(&g->log, "t");

    (void)log_change(&g->log, "unwanted");
    log_query(&g->log, "d", "ROLLBACK");
    feed_all(g, &g->log);
    assert_told(g, "R%" PRIu64 " L%" PRIu64 " ", rows, end_of(&g->log));
}

static void going_back_to_a_savepoint_gives_rows_again_at_the_end(void **state)
{
    struct follower *g = *state;

    start_in_transaction(g);
    log_query(&g->log, "d", "SAVEPOINT `s`");

    const uint64_t rows = log_change(&g->log, "t");

    log_query(&g->log, "d", "ROLLBACK TO `s`");
    log_xid(&g->log);
    feed_all(g, &g->log);
    assert_told(g, "R%" PRIu64 " L%" PRIu64 " ", rows, end_of(&g->log));
}

/* The rows were known when the dump began again, going back was not. */
static void rows_before_a_cut_are_given_again_too(void **state)
{
    struct follower *g = *state;

    start_in_transaction(g);
    log_query(&g->log, "d", "SAVEPOINT `s`");
    (void)log_change(&g->log, "t");
    log_query(&g->log, "d", "ROLLBACK TO `s`");
    g->known = end_of(&g->log);
    log_xid(&g->log);
    feed_all(g, &g->log);
    assert_told(g, "L%" PRIu64 " ", end_of(&g->log));
}

static void log_long_change(struct test_log *log)
{
    struct buf hex = {0};

    for (int i = 0; i < 40000; i++)
        buf_append(&hex, STR("0201000000"));
    log_table_map(log, 5, "t", "");

    struct buf rows = {0};

    buf_append(&rows, STR("ff"));
    buf_append(&rows, buf_str(&hex));
    for (int i = 0; i < 8; i++)
        log_rows(log, EVENT_WRITE_ROWS, 5, i == 7, rows.ptr);
    buf_free(&rows);
    buf_free(&hex);
}

static void a_long_transaction_that_is_rolled_back_is_read_once_more(void **state)
{
    struct follower *g = *state;
    size_t i;

    start_in_transaction(g);
    log_long_change(&g->log);
    log_query(&g->log, "d", "ROLLBACK");
    for (i = 0; i + 1 < g->log.n; i++)
        assert_true(feed(g, log_raw(&g->log, i)));
    assert_false(feed(g, log_raw(&g->log, i)));
    assert_int_equal(g->err.kind, ERR_RETRY);
    assert_true(deferred_rows_wants_again(g->deferred));
    assert_null(strchr(g->told.ptr, 'L'));
    buf_clear(&g->told);
    begin_dump(g);
    feed_all(g, &g->log);
    assert_null(strchr(g->told.ptr, 'R'));
    assert_non_null(strchr(g->told.ptr, 'L'));
    assert_false(deferred_rows_wants_again(g->deferred));
}

/* ---- broken off ---- */

static void rows_of_a_transaction_without_an_end_are_given_again(void **state)
{
    struct follower *g = *state;

    start_in_transaction(g);

    const uint64_t rows = log_change(&g->log, "t");

    log_gtid(&g->log, 2);

    const uint64_t shown = end_of(&g->log);

    log_query(&g->log, "d", "BEGIN");

    const uint64_t next = log_change(&g->log, "t");

    log_xid(&g->log);
    feed_all(g, &g->log);
    assert_told(g, "R%" PRIu64 " L%" PRIu64 " R%" PRIu64 " ", rows, shown, next);
    assert_int_equal(safe(g), end_of(&g->log));
}

static void prepared_rows_without_an_end_are_never_given(void **state)
{
    struct follower *g = *state;

    log_start(&g->log, "8.0.40", true);
    log_gtid(&g->log, 1);
    log_query(&g->log, "d", "XA START X'67',X'',1");
    (void)log_change(&g->log, "t");
    log_gtid(&g->log, 2);

    const uint64_t rows = log_xa(&g->log, "t", true);

    feed_all(g, &g->log);
    assert_told(g, "l%" PRIu64 " ", rows);
    assert_int_equal(deferred_rows_status(g->deferred).n, 0);
    assert_int_equal(deferred_rows_status(g->deferred).memory, 0);
}

static void a_long_transaction_without_an_end_is_read_once_more(void **state)
{
    struct follower *g = *state;
    size_t i;

    start_in_transaction(g);
    log_long_change(&g->log);
    log_gtid(&g->log, 2);
    for (i = 0; i + 1 < g->log.n; i++)
        assert_true(feed(g, log_raw(&g->log, i)));
    assert_false(feed(g, log_raw(&g->log, i)));
    assert_int_equal(g->err.kind, ERR_RETRY);
    assert_true(deferred_rows_wants_again(g->deferred));
    buf_clear(&g->told);
    begin_dump(g);
    log_query(&g->log, "d", "BEGIN");

    const uint64_t next = log_change(&g->log, "t");

    log_xid(&g->log);
    feed_all(g, &g->log);

    const char *once = strchr(g->told.ptr, 'R');

    assert_int_equal(g->told.ptr[0], 'L');
    assert_non_null(once);
    assert_int_equal(strtoull(once + 1, NULL, 10), next);
    assert_false(deferred_rows_wants_again(g->deferred));
}

/* ---- against a model ---- */

struct open_xa {
    bool open;
    unsigned rows;
};

static void log_random_xa(struct test_log *log, struct random *r, unsigned n,
                          struct open_xa *xa)
{
    char sql[64], name[2] = {(char)('a' + n), '\0'};

    snprintf(sql, sizeof(sql), "XA START X'%02x',X'',1", 'a' + n);
    log_query(log, "d", sql);
    *xa = (struct open_xa){.open = true, .rows = (unsigned)random_below(r, 3)};
    for (unsigned i = 0; i < xa->rows; i++)
        (void)log_change(log, "t");
    log_prepared(log, name, false);
}

static void log_random_end(struct test_log *log, struct random *r, unsigned n,
                           struct open_xa *xa, struct buf *expected)
{
    const bool commits = random_below(r, 2) == 0;
    char sql[64];

    snprintf(sql, sizeof(sql), "XA %s X'%02x',X'',1", commits ? "COMMIT" : "ROLLBACK", 'a' + n);
    log_query(log, "d", sql);
    if (commits && xa->rows > 0)
        buf_append(expected, STR("w "));
    for (unsigned i = 0; commits && i < xa->rows; i++)
        buf_printf(expected, "L%" PRIu64 " ", end_of(log));
    xa->open = false;
}

static void every_committed_row_is_given_once_in_any_order_of_ends(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= 300; seed++) {
        struct open_xa xa[4] = {{0}};
        struct buf expected = {0};
        struct test_log log;
        struct follower g;
        struct random r;

        random_init(&r, seed);
        start(&g);
        log_start(&log, "8.0.40", seed % 2 == 0);
        buf_append(&expected, STR(""));
        while (log.n + 8 < EVENTS_MAX) {
            const unsigned n = (unsigned)random_below(&r, 4);

            if (xa[n].open)
                log_random_end(&log, &r, n, &xa[n], &expected);
            else
                log_random_xa(&log, &r, n, &xa[n]);
        }
        feed_all(&g, &log);
        assert_string_equal(g.told.ptr, expected.ptr);
        assert_int_equal(deferred_rows_status(g.deferred).n,
                         xa[0].open + xa[1].open + xa[2].open + xa[3].open);
        buf_free(&expected);
        log_free(&log);
        finish(&g);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(rows_of_a_prepared_transaction_count_at_its_commit,
                                        begin, end),
        cmocka_unit_test_setup_teardown(mariadb_says_in_the_gtid_that_a_transaction_is_prepared,
                                        begin, end),
        cmocka_unit_test_setup_teardown(
            a_prepared_transaction_that_is_rolled_back_gives_nothing, begin, end),
        cmocka_unit_test_setup_teardown(the_position_stays_before_a_prepared_transaction, begin,
                                        end),
        cmocka_unit_test_setup_teardown(a_commit_in_one_phase_gives_rows_at_their_own_place,
                                        begin, end),
        cmocka_unit_test_setup_teardown(a_commit_in_one_phase_that_a_dump_cut_gives_all_rows,
                                        begin, end),
        cmocka_unit_test_setup_teardown(
            nor_does_a_statement_that_commits_in_one_phase_lack_a_prepare, begin, end),
        cmocka_unit_test_setup_teardown(
            what_is_prepared_again_by_the_same_name_holds_the_position_once, begin, end),
        cmocka_unit_test_setup_teardown(a_commit_whose_prepare_was_not_read_is_told, begin,
                                        end),
        cmocka_unit_test_setup_teardown(
            what_is_known_from_before_is_neither_prepared_nor_committed_again, begin, end),
        cmocka_unit_test_setup_teardown(a_prepared_transaction_that_a_dump_cut_is_kept_once,
                                        begin, end),
        cmocka_unit_test_setup_teardown(
            rows_of_a_transaction_that_is_rolled_back_are_given_again, begin, end),
        cmocka_unit_test_setup_teardown(going_back_to_a_savepoint_gives_rows_again_at_the_end,
                                        begin, end),
        cmocka_unit_test_setup_teardown(rows_before_a_cut_are_given_again_too, begin, end),
        cmocka_unit_test_setup_teardown(
            a_long_transaction_that_is_rolled_back_is_read_once_more, begin, end),
        cmocka_unit_test_setup_teardown(rows_of_a_transaction_without_an_end_are_given_again,
                                        begin, end),
        cmocka_unit_test_setup_teardown(prepared_rows_without_an_end_are_never_given, begin,
                                        end),
        cmocka_unit_test_setup_teardown(a_long_transaction_without_an_end_is_read_once_more,
                                        begin, end),
        cmocka_unit_test(every_committed_row_is_given_once_in_any_order_of_ends),
    };
    return cmocka_run_group_tests_name("deferred_rows", tests, NULL, NULL);
}
