/*
 * What a follower makes of a log made by a test: its steps, a letter for each.
 */
#ifndef TESTS_UNIT_LOG_STEPS_H
#define TESTS_UNIT_LOG_STEPS_H

#include "tests/unit/events.h"

#include "sync/decode/transaction.h"
#include "sync/position/gtid_set.h"

/* A letter for each step: f format, r rotate, g gtid set, B begin, R rows, u unwanted, C
 * commit, X rollback, S savepoint, T rollback to, D statement, P C R with x for XA; . nothing.
 * ( where a transaction begins, ) where it ends, ! before what breaks one off. */
static inline char letter(const struct step *s)
{
    static const char letters[] = {
        [STEP_NOTHING] = '.',     [STEP_HEARTBEAT] = 'h',     [STEP_FORMAT] = 'f',
        [STEP_ROTATE] = 'r',      [STEP_GTIDS] = 'g',         [STEP_BEGIN] = 'B',
        [STEP_ROWS] = 'R',        [STEP_ROWS_UNWANTED] = 'u', [STEP_COMMIT] = 'C',
        [STEP_ROLLBACK] = 'X',    [STEP_SAVEPOINT] = 'S',     [STEP_ROLLBACK_TO] = 'T',
        [STEP_STATEMENT] = 'D',   [STEP_XA_PREPARE] = 'p',    [STEP_XA_COMMIT] = 'c',
        [STEP_XA_ROLLBACK] = 'x',
    };

    return letters[s->kind];
}

static inline bool want(void *ctx, struct str database, struct str table,
                        struct schema **schema)
{
    (void)ctx;
    (void)database;
    (void)schema;
    return !str_equal(table, STR("unwanted"));
}

struct reading {
    struct log_reader *r;
    struct buf steps;
    struct err err;
};

static inline void start(struct reading *g, bool lenient)
{
    const struct log_reader_options opt = {
        .want = want, .start = {STR("bin.000001"), 4}, .lenient = lenient};

    *g = (struct reading){.r = log_reader_new(&opt)};
    buf_append(&g->steps, STR(""));
}

static inline void finish(struct reading *g)
{
    log_reader_free(g->r);
    buf_free(&g->steps);
}

static inline bool feed(struct reading *g, struct str raw)
{
    struct step s;
    int got;

    if (!log_reader_feed(g->r, raw, &g->err))
        return false;
    while ((got = log_reader_next(g->r, &s, &g->err)) == 1) {
        if (s.breaks)
            buf_append_char(&g->steps, '!');
        if (s.begins)
            buf_append_char(&g->steps, '(');
        buf_append_char(&g->steps, letter(&s));
        if (s.ends)
            buf_append_char(&g->steps, ')');
    }
    return got == 0;
}

static inline bool feed_all(struct reading *g, const struct test_log *log)
{
    for (size_t i = 0; i < log->n; i++)
        if (!feed(g, log_raw(log, i)))
            return false;
    return true;
}

/* The steps of a log; it must be read without error. */
static inline void check(struct test_log *log, const char *steps, const char *executed)
{
    struct reading g;
    struct buf text = {0};

    start(&g, false);
    if (!feed_all(&g, log))
        fail_msg("%s", g.err.msg);
    assert_string_equal(g.steps.ptr, steps);
    buf_append(&text, STR(""));
    gtid_set_format(&text, log_reader_executed(g.r));
    assert_string_equal(text.ptr, executed);
    assert_int_equal(log_reader_position(g.r).offset, log->file.len);
    buf_free(&text);
    finish(&g);
    log_free(log);
}

static inline void check_refused(struct test_log *log, const char *word)
{
    struct reading g;

    start(&g, false);
    assert_false(feed_all(&g, log));
    assert_int_equal(g.err.kind, ERR_FATAL);
    if (strstr(g.err.msg, word) == NULL)
        fail_msg("\"%s\" does not say %s", g.err.msg, word);
    finish(&g);
    log_free(log);
}

#define ZERO_UUID "00000000-0000-0000-0000-000000000000"

static inline void log_change(struct test_log *log, bool last)
{
    log_table_map(log, 5, "t", "");
    log_rows(log, EVENT_WRITE_ROWS, 5, last, "ff00010000000161");
}

#endif
