#include "config.h"

#include "rebalance/doctor/doctor.h"

#include "src/base/arena.h"
#include "src/base/buf.h"
#include "src/format/json.h"
#include "src/format/problem.h"

#include <string.h>

void doctor_init(struct doctor_list *l, struct arena *a)
{
    *l = (struct doctor_list){.arena = a};
}

static struct str code_of(struct arena *a, const struct doctor_check *c)
{
    struct buf code = {0};
    struct str copy;

    if (c->code.len > 0)
        return arena_copy(a, c->code);
    buf_append(&code, c->id);
    if (c->status == DOCTOR_OK)
        buf_append(&code, STR(".ok"));
    copy = arena_copy(a, buf_str(&code));
    buf_free(&code);
    return copy;
}

void doctor_add(struct doctor_list *l, const struct doctor_check *c)
{
    struct doctor_check *added;

    if (l->n == l->cap) {
        const struct doctor_check *before = l->checks;

        l->cap = l->cap == 0 ? 32 : l->cap * 2;
        l->checks = arena_alloc(l->arena, l->cap, sizeof(*l->checks));
        if (l->n > 0)
            memcpy(l->checks, before, l->n * sizeof(*before));
    }
    added = &l->checks[l->n++];
    *added = (struct doctor_check){
        .id = arena_copy(l->arena, c->id),
        .code = code_of(l->arena, c),
        .group = arena_copy(l->arena, c->group),
        .status = c->status,
        .message = arena_copy(l->arena, c->message),
        .why = arena_copy(l->arena, c->why),
        .fix = arena_copy(l->arena, c->fix),
        .since = arena_copy(l->arena, c->since),
    };
    for (size_t i = 0; i < DOCTOR_VALUES && c->values[i].name != NULL; i++) {
        added->values[i] = c->values[i];
        if (c->values[i].text.ptr != NULL)
            added->values[i].text = arena_copy(l->arena, c->values[i].text);
    }
}

void doctor_add_problem(struct doctor_list *l, struct str table, const struct problem *p)
{
    struct buf group = {0};
    const bool error = p->severity == SEVERITY_ERROR;

    buf_printf(&group, "table %" STR_FMT, STR_ARG(table));
    doctor_add(l, &(struct doctor_check){.id = STR("table.definition"),
                                         .code = error ? STR("table.definition.refused")
                                                       : STR("table.definition.slow"),
                                         .group = buf_str(&group),
                                         .status = error ? DOCTOR_FAIL : DOCTOR_WARN,
                                         .message = p->message,
                                         .why = error ? STR("Millrace cannot keep its index "
                                                            "equal to it")
                                                      : STR("it works, but may be slow"),
                                         .fix = p->fix});
    buf_free(&group);
}

enum doctor_status doctor_worst(const struct doctor_list *l)
{
    enum doctor_status worst = DOCTOR_OK;

    for (size_t i = 0; i < l->n; i++)
        if (l->checks[i].status > worst)
            worst = l->checks[i].status;
    return worst;
}

const char *doctor_status_name(enum doctor_status status)
{
    switch (status) {
    case DOCTOR_OK: return "ok";
    case DOCTOR_WARN: return "warn";
    case DOCTOR_FAIL: return "fail";
    }
    return "unknown";
}

static void write_values(const struct doctor_check *c, struct json_writer *w)
{
    json_write_key(w, STR("values"));
    json_open_object(w);
    for (size_t i = 0; i < DOCTOR_VALUES && c->values[i].name != NULL; i++) {
        const struct doctor_value *v = &c->values[i];

        if (v->text.ptr != NULL)
            json_put_string(w, str_from(v->name), v->text);
        else
            json_put_double(w, str_from(v->name), v->number);
    }
    json_close_object(w);
}

void doctor_write(const struct doctor_list *l, struct json_writer *w)
{
    json_open_array(w);
    for (size_t i = 0; i < l->n; i++) {
        const struct doctor_check *c = &l->checks[i];

        json_open_object(w);
        json_put_string(w, STR("id"), c->id);
        json_put_string(w, STR("code"), c->code);
        write_values(c, w);
        json_put_string(w, STR("group"), c->group);
        json_put_cstr(w, STR("status"), doctor_status_name(c->status));
        json_put_string(w, STR("message"), c->message);
        if (c->status != DOCTOR_OK) {
            json_put_string(w, STR("why"), c->why);
            json_put_string(w, STR("fix"), c->fix);
            if (c->since.len > 0)
                json_put_string(w, STR("since"), c->since);
            else
                json_put_null(w, STR("since"));
        }
        json_close_object(w);
    }
    json_close_array(w);
}
