#include "config.h"

#include "rebalance/view/runs.h"

#include "rebalance/doctor/doctor.h"
#include "rebalance/view/view.h"

#include "src/base/human.h"

static bool leads(const struct coordinator_view *v, const struct table_view *t)
{
    return t->available != NULL && definition_lead(v->definitions, t->d) == t->d;
}

/* Some table of the index tells which of its rows have changed. */
static bool can_be_checked(const struct coordinator_view *v, const struct table_view *t)
{
    bool has = false;

    for (size_t i = 0; i < v->definitions->n_tables; i++) {
        const struct table_definition *d = &v->definitions->tables[i];

        has = has ||
              (d->daily_check_column.len > 0 && str_equal(table_index(d), table_index(t->d)));
    }
    return has && leads(v, t);
}

static bool is_delayed(const struct coordinator_view *v, const struct table_view *t)
{
    (void)v;
    return t->d->delayed;
}

static const struct {
    bool (*concerns)(const struct coordinator_view *v, const struct table_view *t);
    const char *name, *setting, *code;
    const char *command, *more; /* of the fix: the table's name comes in between */
} kinds[N_RUN_KINDS] = {
    [RUN_CHECK] = {can_be_checked, "check", "check.expect_every", "table.runs.check",
                   "millrace check ", " --repair"},
    [RUN_DELAYED] = {is_delayed, "delayed run", "delayed.expect_every", "table.runs.delayed",
                     "millrace delayed run --all --wait, for ", ""},
    [RUN_REPLAY] = {leads, "replay", "replay.expect_every", "table.runs.replay",
                    "millrace replay ", ""},
};

struct run_view run_view_of(const struct coordinator_view *v, const struct table_view *t,
                            enum run_kind kind)
{
    struct run_view r = {.concerns = v->stored != NULL && kinds[kind].concerns(v, t)};

    if (!r.concerns)
        return r;
    r.last_ms =
        run_last_ms(v->stored->successes, v->stored->n_successes, kind, table_name(t->d));

    const int64_t built_ms = t->available != NULL ? t->available->finished_ms : 0;
    const int64_t since_ms = r.last_ms > built_ms ? r.last_ms : built_ms;

    /* What was never built nor run is not late yet. */
    r.is_overdue =
        v->expect_ms[kind] > 0 && since_ms > 0 && v->now_ms - since_ms > v->expect_ms[kind];
    return r;
}

void coordinator_put_runs(struct json_writer *w, const struct coordinator_view *v,
                          const struct table_view *t)
{
    json_write_key(w, STR("runs"));
    json_open_object(w);
    for (size_t i = 0; i < N_RUN_KINDS; i++) {
        const struct run_view r = run_view_of(v, t, (enum run_kind)i);

        if (!r.concerns)
            continue;
        json_write_key(w, run_word((enum run_kind)i));
        json_open_object(w);
        coordinator_put_time(w, STR("last_success"), r.last_ms);
        json_put_bool(w, STR("overdue"), r.is_overdue);
        json_close_object(w);
    }
    json_close_object(w);
}

static void warn(const struct coordinator_view *v, const struct table_view *t,
                 enum run_kind kind, int64_t last_ms, struct doctor_list *l)
{
    const struct str word = run_word(kind);
    const int64_t since_ms = last_ms > 0 ? last_ms : t->available->finished_ms;
    struct buf group = {0}, message = {0}, why = {0}, fix = {0};

    buf_printf(&group, "table %" STR_FMT, STR_ARG(table_name(t->d)));
    buf_printf(&message,
               last_ms > 0 ? "the last good %s of it was "
                           : "no %s of it was good since it was built, ",
               kinds[kind].name);
    human_seconds(&message, (double)(v->now_ms - since_ms) / 1000);
    buf_append(&message, STR(" ago"));
    buf_printf(&why, "%s asks for one every ", kinds[kind].setting);
    human_seconds(&why, (double)v->expect_ms[kind] / 1000);
    buf_append(&fix, str_from(kinds[kind].command));
    buf_append_word(&fix, table_name(t->d));
    buf_printf(&fix, "%s; systemctl status millrace-%" STR_FMT ".timer says whether it is on",
               kinds[kind].more, STR_ARG(word));
    doctor_add(l,
               &(struct doctor_check){
                   .id = STR("table.runs"),
                   .code = str_from(kinds[kind].code),
                   .values = {{"seconds", .number = (double)(v->now_ms - since_ms) / 1000},
                              {"every_seconds", .number = (double)v->expect_ms[kind] / 1000}},
                   .group = buf_str(&group),
                   .status = DOCTOR_WARN,
                   .message = buf_str(&message),
                   .why = buf_str(&why),
                   .fix = buf_str(&fix)});
    buf_free(&group);
    buf_free(&message);
    buf_free(&why);
    buf_free(&fix);
}

void coordinator_check_runs(const struct coordinator_view *v, const struct table_view *t,
                            struct doctor_list *l)
{
    for (size_t i = 0; i < N_RUN_KINDS; i++) {
        const struct run_view r = run_view_of(v, t, (enum run_kind)i);

        if (r.is_overdue)
            warn(v, t, (enum run_kind)i, r.last_ms, l);
    }
}
