#include "config.h"

#include "tests/unit/unit.h"

#include "rebalance/task/task.h"

#include "src/base/buf.h"
#include "src/base/clock.h"
#include "src/base/thread.h"
#include "src/format/json.h"

#include <string.h>

#define SOON_MS 5000

/* What a task waits for, and what it says then. */
struct gate_order {
    struct stop *open;
    bool fails;
};

static bool pass_gate(struct coordinator *co, const void *order, struct buf *json,
                      struct err *err)
{
    const struct gate_order *g = order;

    (void)co;
    while (!stop_wait(g->open, 1000))
        ;
    if (g->fails)
        return err_set(err, ERR_REJECT, "it had to fail");
    buf_append(json, STR("{\"schema\":\"millrace/gate/1\"}"));
    return true;
}

static struct str job_of(struct buf *json, struct buf *job)
{
    assert_true(json_find_text(buf_str(json), "/job", job));
    buf_free(json);
    return buf_str(job);
}

static void start(struct tasks *all, const struct gate_order *g, struct buf *job)
{
    const struct task_order o = {"gate", pass_gate, g, sizeof(*g)};
    struct buf json = {0};
    struct err err = {0};

    buf_clear(job);
    assert_true(tasks_start(all, NULL, &o, &json, &err));
    assert_non_null(strstr(json.ptr, "\"millrace/gate-start/1\""));
    (void)job_of(&json, job);
}

/* Returns false if the task failed. */
static bool report(struct tasks *all, struct str job, struct buf *json, struct err *err)
{
    bool found;

    buf_clear(json);

    const bool ok = tasks_report(all, job, json, &found, err);

    assert_true(found);
    return ok;
}

static bool is_over(struct tasks *all, struct str job)
{
    struct buf json = {0};
    struct err err = {0};
    struct str phase;
    const bool over =
        !report(all, job, &json, &err) || !json_find(buf_str(&json), "/phase", &phase);

    buf_free(&json);
    return over;
}

static void wait_for(struct tasks *all, struct str job)
{
    const int64_t until_ms = clock_mono_ms() + SOON_MS;

    while (!is_over(all, job) && clock_mono_ms() < until_ms)
        ;
    assert_true(is_over(all, job));
}

static size_t listed(struct tasks *all, struct str name, struct buf *json)
{
    struct json_writer w = {.out = json};
    size_t n = 0;

    buf_clear(json);
    json_open_array(&w);
    tasks_list(all, name, &w, &n);
    json_close_array(&w);
    return n;
}

static void a_task_is_listed_while_it_runs_and_its_answer_stays(void **state)
{
    struct tasks *all = tasks_new();
    struct buf job = {0}, json = {0};
    struct stop open;
    struct err err = {0};

    (void)state;
    stop_init(&open);
    start(all, &(struct gate_order){&open, false}, &job);
    assert_int_equal(listed(all, STR(""), &json), 1);
    assert_non_null(strstr(json.ptr, "\"running\""));
    assert_true(report(all, buf_str(&job), &json, &err));
    assert_non_null(strstr(json.ptr, "\"phase\":\"\""));

    stop_set(&open);
    wait_for(all, buf_str(&job));
    assert_true(report(all, buf_str(&job), &json, &err));
    assert_string_equal(json.ptr, "{\"schema\":\"millrace/gate/1\"}");
    assert_int_equal(listed(all, STR(""), &json), 0);
    assert_int_equal(listed(all, buf_str(&job), &json), 1);
    assert_non_null(strstr(json.ptr, "\"done\""));
    tasks_join(all);
    tasks_free(all);
    stop_fini(&open);
    buf_free(&job);
    buf_free(&json);
}

static void a_task_that_fails_says_why_and_no_other_has_its_name(void **state)
{
    struct tasks *all = tasks_new();
    struct buf job = {0}, json = {0};
    struct stop open;
    struct err err = {0};
    bool found;

    (void)state;
    stop_init(&open);
    stop_set(&open);
    start(all, &(struct gate_order){&open, true}, &job);
    wait_for(all, buf_str(&job));
    assert_false(report(all, buf_str(&job), &json, &err));
    assert_string_equal(err.msg, "it had to fail");
    assert_int_equal(listed(all, buf_str(&job), &json), 1);
    assert_non_null(strstr(json.ptr, "\"failed\""));
    buf_clear(&json);
    assert_true(tasks_report(all, STR("gate-1"), &json, &found, &err));
    assert_false(found);
    assert_int_equal(json.len, 0);
    tasks_join(all);
    tasks_free(all);
    stop_fini(&open);
    buf_free(&job);
    buf_free(&json);
}

static void no_more_run_or_are_kept_than_there_may_be(void **state)
{
    struct tasks *all = tasks_new();
    struct buf first = {0}, job = {0}, json = {0};
    struct stop open, opened;
    struct gate_order g = {&open, false};
    const struct task_order o = {"gate", pass_gate, &g, sizeof(g)};
    struct err err = {0};
    bool found;

    (void)state;
    stop_init(&open);
    stop_init(&opened);
    stop_set(&opened);
    for (int i = 0; i < TASKS_MAX; i++)
        start(all, &g, i == 0 ? &first : &job);
    assert_false(tasks_start(all, NULL, &o, &json, &err));
    assert_int_equal(err.kind, ERR_RETRY);

    stop_set(&open);
    wait_for(all, buf_str(&first));
    for (int i = 0; i < TASKS_KEPT + TASKS_MAX; i++) {
        start(all, &(struct gate_order){&opened, false}, &job);
        wait_for(all, buf_str(&job));
    }
    assert_true(tasks_report(all, buf_str(&first), &json, &found, &err));
    assert_false(found);

    tasks_join(all);
    err = (struct err){0};
    assert_false(tasks_start(all, NULL, &o, &json, &err));
    assert_int_equal(err.kind, ERR_RETRY);
    tasks_free(all);
    stop_fini(&open);
    stop_fini(&opened);
    buf_free(&first);
    buf_free(&job);
    buf_free(&json);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_task_is_listed_while_it_runs_and_its_answer_stays),
        cmocka_unit_test(a_task_that_fails_says_why_and_no_other_has_its_name),
        cmocka_unit_test(no_more_run_or_are_kept_than_there_may_be),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
