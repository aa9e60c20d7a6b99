/* Which alarms begin, last and are over; and that a simple model says the same. */
#include "config.h"

#include "tests/unit/unit.h"

#include "rebalance/alarm/body.h"
#include "rebalance/alarm/book.h"
#include "rebalance/alarm/book_text.h"
#include "rebalance/alarm/budget.h"
#include "src/base/buf.h"
#include "src/base/mem.h"
#include "src/base/random.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define WALL_MS INT64_C(1700000000000)

static const struct alarm_limits usual = {.after_ms = 60000,
                                          .after_warning_ms = 600000,
                                          .repeat_ms = 14400000,
                                          .open_max = 100,
                                          .minute_max = 20};

/* ---- what was said, a line a message: "begins code object n" ---- */

struct rig {
    struct alarm_book *book;
    struct buf said;
    struct alarm_finding found[40];
    size_t n;
};

static void take(void *ctx, const struct alarm_message *m)
{
    static const char *const words[] = {"begins", "lasts", "over"};
    struct rig *r = ctx;

    buf_printf(&r->said, "%s %" STR_FMT " %" STR_FMT " %zu\n", words[m->state],
               STR_ARG(m->code), STR_ARG(m->object), m->n);
}

static struct rig *rig_new(const struct alarm_limits *limits)
{
    struct rig *r = mem_alloc(1, sizeof(*r));

    r->book = alarm_book_new(limits);
    return r;
}

static void rig_free(struct rig *r)
{
    alarm_book_free(r->book);
    buf_free(&r->said);
    free(r);
}

static void find(struct rig *r, const char *code, const char *object, bool is_failure)
{
    r->found[r->n++] = (struct alarm_finding){.code = str_from(code),
                                              .object = str_from(object),
                                              .text = STR("text"),
                                              .fix = STR("fix"),
                                              .is_failure = is_failure,
                                              .is_others = false};
}

/* Looks at what was found, and forgets it. */
static const char *look(struct rig *r, int64_t now_ms)
{
    buf_clear(&r->said);
    alarm_book_look(r->book, &(struct alarm_look){.findings = r->found,
                                                  .n = r->n,
                                                  .now_ms = now_ms,
                                                  .wall_ms = WALL_MS + now_ms,
                                                  .say = take,
                                                  .ctx = r});
    r->n = 0;
    return r->said.len == 0 ? "" : r->said.ptr;
}

static const char *look_at_one(struct rig *r, int64_t now_ms)
{
    find(r, "a", "x", true);
    return look(r, now_ms);
}

static void an_alarm_begins_once_it_has_lasted_is_repeated_and_ends(void **state)
{
    struct rig *r = rig_new(&usual);

    (void)state;
    assert_string_equal(look_at_one(r, 0), "");
    assert_string_equal(look_at_one(r, 59999), "");
    assert_string_equal(look_at_one(r, 60000), "begins a x 1\n");
    assert_string_equal(look_at_one(r, 14459999), "");
    assert_string_equal(look_at_one(r, 14460000), "lasts a x 1\n");
    assert_string_equal(look(r, 14519999), "");
    assert_int_equal(alarm_book_n_open(r->book), 1);
    assert_string_equal(look(r, 14520000), "over a x 1\n");
    assert_string_equal(look(r, 99999999), "");
    assert_int_equal(alarm_book_n_open(r->book), 0);
    rig_free(r);
}

static void what_is_gone_before_it_has_lasted_is_no_alarm(void **state)
{
    struct rig *r = rig_new(&usual);

    (void)state;
    look_at_one(r, 0);
    assert_string_equal(look(r, 50000), "");
    assert_string_equal(look_at_one(r, 70000), "");
    assert_string_equal(look_at_one(r, 129999), "");
    rig_free(r);
}

static void what_comes_back_soon_neither_ends_nor_begins(void **state)
{
    struct rig *r = rig_new(&usual);

    (void)state;
    look_at_one(r, 0);
    look_at_one(r, 60000);
    assert_string_equal(look(r, 100000), "");
    assert_string_equal(look_at_one(r, 110000), "");
    assert_string_equal(look(r, 169999), "");
    assert_string_equal(look(r, 170000), "over a x 1\n");
    rig_free(r);
}

static void a_warning_waits_longer_than_a_failure(void **state)
{
    struct rig *r = rig_new(&usual);

    (void)state;
    find(r, "a", "x", false);
    look(r, 0);
    find(r, "a", "x", false);
    assert_string_equal(look(r, 599999), "");
    find(r, "a", "x", false);
    assert_string_equal(look(r, 600000), "begins a x 1\n");
    rig_free(r);
}

static void what_grows_worse_is_said_at_once_and_what_grows_better_is_not(void **state)
{
    struct rig *r = rig_new(&usual);

    (void)state;
    find(r, "a", "x", false);
    look(r, 0);
    find(r, "a", "x", false);
    look(r, 600000);
    find(r, "a", "x", false);
    find(r, "a", "x", false);
    assert_string_equal(look(r, 600001), "lasts a x 2\n");
    find(r, "a", "x", false);
    assert_string_equal(look(r, 600002), "");
    find(r, "a", "x", false);
    find(r, "a", "x", false);
    assert_string_equal(look(r, 600003), ""); /* two were said */
    find(r, "a", "x", true);
    assert_string_equal(look(r, 600004), "lasts a x 1\n");
    rig_free(r);
}

static void an_alarm_of_which_another_node_tells_ends_without_a_word(void **state)
{
    struct rig *r = rig_new(&usual);

    (void)state;
    look_at_one(r, 0);
    look_at_one(r, 60000);
    find(r, "a", "x", true);
    r->found[0].is_others = true;
    assert_string_equal(look(r, 70000), "");
    assert_int_equal(alarm_book_n_open(r->book), 0);
    assert_string_equal(look(r, 999999), "");
    rig_free(r);
}

static void failures_come_first_and_the_rest_is_summed_up(void **state)
{
    struct alarm_limits limits = usual;
    struct rig *r;

    (void)state;
    limits.minute_max = 2;
    limits.after_warning_ms = limits.after_ms;
    r = rig_new(&limits);
    for (int64_t at_ms = 0; at_ms <= 60000; at_ms += 60000) {
        find(r, "w", "1", false);
        find(r, "w", "2", false);
        find(r, "f", "3", true);
        find(r, "f", "4", true);
        look(r, at_ms);
    }
    assert_string_equal(r->said.ptr, "begins f 3 1\nbegins f 4 1\n");
    assert_string_equal(look(r, 119999), "");
    /* The sum is one of the two messages of this minute. */
    assert_string_equal(look(r, 120000), "lasts alarms.sum alarms 2\nover f 4 1\n");
    assert_string_equal(look(r, 180000), "lasts alarms.sum alarms 3\n");
    rig_free(r);
}

static void beyond_the_limit_one_alarm_stands_for_the_others(void **state)
{
    struct alarm_limits limits = usual;
    struct rig *r;

    (void)state;
    limits.open_max = 2;
    r = rig_new(&limits);
    for (int64_t at_ms = 0; at_ms <= 60000; at_ms += 60000) {
        find(r, "a", "1", true);
        find(r, "a", "2", true);
        find(r, "a", "3", true);
        find(r, "a", "4", true);
        look(r, at_ms);
    }
    assert_string_equal(r->said.ptr,
                        "begins a 1 1\nbegins a 2 1\nbegins alarms.more alarms 2\n");
    find(r, "a", "1", true);
    find(r, "a", "2", true);
    look(r, 60001);
    find(r, "a", "1", true);
    find(r, "a", "2", true);
    assert_string_equal(look(r, 120000), "over alarms.more alarms 2\n");
    rig_free(r);
}

static void a_budget_is_never_exceeded_in_any_minute(void **state)
{
    struct alarm_budget b = {.max = 3};
    int64_t times[1000] = {0}, now_ms = 0;
    size_t n = 0;
    struct random random;

    (void)state;
    random_init(&random, 7);
    for (size_t i = 0; i < 1000; i++) {
        now_ms += (int64_t)random_below(&random, 30000);

        const bool may = n < 3 || now_ms - times[n - 3] >= ALARM_MINUTE_MS;

        assert_int_equal(alarm_budget_take(&b, now_ms), may);
        if (may)
            times[n++] = now_ms;
    }
}

/* ---- the file ---- */

static void open_alarms_go_on_after_a_restart(void **state)
{
    struct rig *r = rig_new(&usual), *next = rig_new(&usual);
    struct buf json = {0};
    struct err err = {0};

    (void)state;
    find(r, "a", "x", true);
    find(r, "b", "y \"z\"", true);
    find(r, "c", "waits", false);
    look(r, 0);
    find(r, "a", "x", true);
    find(r, "b", "y \"z\"", true);
    find(r, "c", "waits", false);
    look(r, 60000);
    alarm_book_append(r->book, &json);
    assert_true(alarm_book_load(next->book, buf_str(&json), 5000, &err));
    assert_int_equal(alarm_book_n_open(next->book), 2);
    assert_string_equal(look_at_one(next, 6000), "");
    assert_string_equal(look_at_one(next, 65000), "over b y \"z\" 1\n");
    assert_string_equal(look_at_one(next, 5000 + usual.repeat_ms), "lasts a x 1\n");
    buf_free(&json);
    rig_free(r);
    rig_free(next);
}

static void a_damaged_file_is_refused(void **state)
{
    static const char *const texts[] = {"", "{", "[]", "{\"items\":7}", "{\"items\":[{]}"};
    struct rig *r = rig_new(&usual);

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(texts); i++) {
        struct err err = {0};

        assert_false(alarm_book_load(r->book, str_from(texts[i]), 0, &err));
        assert_int_equal(err.kind, ERR_REJECT);
    }
    assert_int_equal(alarm_book_n_open(r->book), 0);
    rig_free(r);
}

/* ---- what is posted ---- */

static void expect_body(const struct alarm_message *m, const char *text)
{
    const struct alarm_sender from = {STR("db1"), STR("owner")};
    struct buf json = {0};

    alarm_body_begin(&json, &from, m, WALL_MS + 180000);
    alarm_body_end(&json, WALL_MS + 181000);
    if (strstr(json.ptr, text) == NULL)
        fail_msg("no %s in %s", text, json.ptr);
    buf_free(&json);
}

static void the_text_says_all_and_the_id_stays(void **state)
{
    struct alarm_message m = {.state = ALARM_BEGINS,
                              .code = STR("table.runs"),
                              .object = STR("table shop.orders"),
                              .text = STR("is held"),
                              .fix = STR("free space"),
                              .is_failure = true,
                              .n = 1,
                              .since_ms = WALL_MS};

    (void)state;
    expect_body(&m,
                "\"text\":\"Millrace on db1: table shop.orders: is held. Fix: free space\"");
    expect_body(&m, "\"severity\":\"critical\"");
    expect_body(&m, "\"since\":\"2023-11-14T22:13:20Z\",\"sent\":\"2023-11-14T22:16:21Z\"}");
    expect_body(&m, "\"id\":\"e1f5bb15a8a3000bc801c794176aa641\",\"state\":\"begins\"");
    m.state = ALARM_LASTS;
    m.n = 2;
    expect_body(&m, "Millrace on db1: still, for 3 min 0 s: table shop.orders: is held (2 of "
                    "this kind). Fix: free space\"");
    m.state = ALARM_OVER;
    m.n = 1;
    m.is_failure = false;
    expect_body(&m, "Millrace on db1: over after 3 min 0 s: table shop.orders: is held\"");
    expect_body(&m, "\"id\":\"e1f5bb15a8a3000bc801c794176aa641\",\"state\":\"over\"");
    expect_body(&m, "\"severity\":\"warning\"");
    expect_body(NULL, "\"state\":\"test\"");
}

static void a_long_text_is_cut(void **state)
{
    struct buf text = {0}, json = {0};
    const struct alarm_sender from = {STR("db1"), STR("owner")};

    (void)state;
    for (size_t i = 0; i < 5000; i++)
        buf_append(&text, STR("ж"));

    const struct alarm_message m = {.code = STR("a"),
                                    .object = STR("x"),
                                    .text = buf_str(&text),
                                    .fix = buf_str(&text),
                                    .n = 1,
                                    .since_ms = WALL_MS};

    alarm_body_begin(&json, &from, &m, WALL_MS);
    assert_in_range(json.len, 4000, 4500);
    buf_free(&text);
    buf_free(&json);
}

/* ---- against a simple model ---- */

#define KEYS  6
#define TURNS 4000

struct model_alarm {
    bool is_known, is_open, is_failure, failure_said;
    size_t n, n_said;
    int64_t first_ms, seen_ms, said_ms;
};

struct model {
    struct alarm_limits limits;
    struct model_alarm alarms[KEYS];
    int order[KEYS], n_order; /* by when they were seen first */
    int64_t times[TURNS * KEYS];
    size_t n_times, rest;
    struct buf said;
};

static bool model_may_say(struct model *m, int64_t now_ms)
{
    size_t n = 0;

    for (size_t i = 0; i < m->n_times; i++)
        n += now_ms - m->times[i] < 60000;
    if (n >= m->limits.minute_max)
        return false;
    m->times[m->n_times++] = now_ms;
    return true;
}

static void model_say(struct model *m, int k, const char *word, int64_t now_ms)
{
    struct model_alarm *a = &m->alarms[k];

    a->said_ms = now_ms;
    a->n_said = a->n;
    a->failure_said = a->is_failure;
    if (model_may_say(m, now_ms))
        buf_printf(&m->said, "%s k %d %zu\n", word, k, a->n);
    else
        m->rest++;
}

static void model_turn(struct model *m, int k, bool of_failures, int64_t now_ms)
{
    struct model_alarm *a = &m->alarms[k];
    const int64_t wait_ms = a->is_failure ? m->limits.after_ms : m->limits.after_warning_ms;

    if (a->seen_ms != now_ms || a->is_failure != of_failures)
        return;
    if (!a->is_open && now_ms - a->first_ms >= wait_ms) {
        a->is_open = true;
        model_say(m, k, "begins", now_ms);
    } else if (a->is_open && (a->n > a->n_said || (a->is_failure && !a->failure_said) ||
                              now_ms - a->said_ms >= m->limits.repeat_ms)) {
        model_say(m, k, "lasts", now_ms);
    }
}

static void model_forget(struct model *m, int k)
{
    int n = 0;

    for (int i = 0; i < m->n_order; i++)
        if (m->order[i] != k)
            m->order[n++] = m->order[i];
    m->n_order = n;
    m->alarms[k] = (struct model_alarm){.is_known = false};
}

/* counts, failures: what is found of each key. */
static void model_look(struct model *m, const size_t *counts, const bool *failures,
                       int64_t now_ms)
{
    if (m->rest > 0 && model_may_say(m, now_ms)) {
        buf_printf(&m->said, "lasts alarms.sum alarms %zu\n", m->rest);
        m->rest = 0;
    }
    for (int k = 0; k < KEYS; k++) {
        struct model_alarm *a = &m->alarms[k];

        if (counts[k] == 0)
            continue;
        if (!a->is_known) {
            *a = (struct model_alarm){.is_known = true, .first_ms = now_ms};
            m->order[m->n_order++] = k;
        }
        a->n = counts[k];
        a->is_failure = failures[k];
        a->seen_ms = now_ms;
    }
    for (int turn = 0; turn < 2; turn++)
        for (int i = 0; i < m->n_order; i++)
            model_turn(m, m->order[i], turn == 0, now_ms);
    for (int i = m->n_order; i-- > 0;) {
        const int k = m->order[i];
        const struct model_alarm *a = &m->alarms[k];

        if (a->seen_ms == now_ms)
            continue;
        if (a->is_open && now_ms - a->seen_ms >= m->limits.after_ms)
            model_say(m, k, "over", now_ms);
        if (!a->is_open || now_ms - a->seen_ms >= m->limits.after_ms)
            model_forget(m, k);
    }
}

static void a_simple_model_says_the_same(void **state)
{
    static const char *const names[KEYS] = {"0", "1", "2", "3", "4", "5"};
    const struct alarm_limits limits = {.after_ms = 3000,
                                        .after_warning_ms = 9000,
                                        .repeat_ms = 40000,
                                        .open_max = KEYS,
                                        .minute_max = 5};
    struct rig *r = rig_new(&limits);
    struct model *m = mem_alloc(1, sizeof(*m));
    struct random random;
    bool is_there[KEYS] = {false};
    int64_t now_ms = 1;
    size_t n_said = 0;

    (void)state;
    m->limits = limits;
    random_init(&random, 21);
    for (int turn = 0; turn < TURNS; turn++) {
        size_t counts[KEYS] = {0};
        bool failures[KEYS] = {false};

        now_ms += 1 + (int64_t)random_below(&random, 2500);
        for (int k = 0; k < KEYS; k++) {
            is_there[k] ^= random_below(&random, 8) == 0;
            counts[k] = is_there[k] ? 1 + random_below(&random, 2) : 0;
            for (size_t i = 0; i < counts[k]; i++) {
                const bool is_failure = random_below(&random, 4) == 0;

                failures[k] |= is_failure;
                find(r, "k", names[k], is_failure);
            }
        }
        buf_clear(&m->said);
        model_look(m, counts, failures, now_ms);
        assert_string_equal(look(r, now_ms), m->said.len == 0 ? "" : m->said.ptr);
        n_said += m->said.len > 0;
    }
    assert_in_range(n_said, 100, TURNS);
    buf_free(&m->said);
    free(m);
    rig_free(r);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_alarm_begins_once_it_has_lasted_is_repeated_and_ends),
        cmocka_unit_test(what_is_gone_before_it_has_lasted_is_no_alarm),
        cmocka_unit_test(what_comes_back_soon_neither_ends_nor_begins),
        cmocka_unit_test(a_warning_waits_longer_than_a_failure),
        cmocka_unit_test(what_grows_worse_is_said_at_once_and_what_grows_better_is_not),
        cmocka_unit_test(an_alarm_of_which_another_node_tells_ends_without_a_word),
        cmocka_unit_test(failures_come_first_and_the_rest_is_summed_up),
        cmocka_unit_test(beyond_the_limit_one_alarm_stands_for_the_others),
        cmocka_unit_test(a_budget_is_never_exceeded_in_any_minute),
        cmocka_unit_test(open_alarms_go_on_after_a_restart),
        cmocka_unit_test(a_damaged_file_is_refused),
        cmocka_unit_test(the_text_says_all_and_the_id_stays),
        cmocka_unit_test(a_long_text_is_cut),
        cmocka_unit_test(a_simple_model_says_the_same),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
