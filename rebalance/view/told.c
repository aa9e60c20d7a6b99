#include "config.h"

#include "rebalance/view/told.h"

#include "rebalance/doctor/doctor.h"
#include "rebalance/view/view.h"

#include "src/base/human.h"
#include "src/store/told.h"

#include <string.h>

int64_t told_age_ms(const struct told_topic *t, int64_t now_ms)
{
    return now_ms > t->at_ms ? now_ms - t->at_ms : 0;
}

/* ---- reading what was told ---- */

static struct str text_of(struct arena *a, struct str json, const char *pointer)
{
    struct buf text = {0};
    const struct str copy =
        json_find_text(json, pointer, &text) ? arena_copy(a, buf_str(&text)) : STR("");

    buf_free(&text);
    return copy;
}

/* Old news says nothing of the state today. */
static struct condition condition_of(struct arena *a, struct str json,
                                     const struct told_topic *told)
{
    struct condition is = {.reason = text_of(a, json, "/reason"),
                           .fix = text_of(a, json, "/fix")};
    const struct str state = text_of(a, json, "/state");

    is.state = told->is_old || state.len == 0 ? "unknown" : state.ptr;
    return is;
}

static struct str find_table(struct str body, struct str table)
{
    struct str list, item = {NULL, 0};
    struct json_reader r;
    bool found = false;

    if (!json_find(body, "/tables", &list))
        return STR("");
    json_reader_init(&r, list);
    if (json_enter_array(&r))
        while (!found && json_next_element(&r) && json_read_raw(&r, &item)) {
            struct buf name = {0};

            found = json_find_text(item, "/table", &name) && str_equal(buf_str(&name), table);
            buf_free(&name);
        }
    return found ? item : STR("");
}

static void look_at_topic(const struct coordinator_view *v, struct topic_view *t)
{
    const struct stored_told *told =
        v->stored == NULL ? NULL : store_copy_told(v->stored, t->d->name);
    struct str json = STR("");

    t->told = (struct told_topic){.is_others = true, .is_old = true, .node = STR("")};
    if (told != NULL) {
        t->told.node = told->node_name;
        t->told.at_ms = told->at_ms;
        t->told.body = told->body;
        t->told.is_old = told_age_ms(&t->told, v->now_ms) > TOLD_OLD_MS;
        (void)json_find(told->body, "/topic", &json);
    }
    t->is = condition_of(v->arena, json, &t->told);
}

void coordinator_look_at_told(struct coordinator_view *v)
{
    for (size_t i = 0; i < v->definitions->n_topics; i++) {
        struct topic_view *t = &v->topics[i];

        if (!t->told.is_others)
            continue;
        look_at_topic(v, t);
        for (size_t k = 0; k < v->definitions->n_tables; k++) {
            struct table_view *of = &v->tables[k];

            if (!str_equal(of->topic, t->d->name))
                continue;
            of->told.is_others = true;
            of->told.json = find_table(t->told.body, table_name(of->d));
            of->is = condition_of(v->arena, of->told.json, &t->told);
        }
    }
}

/* ---- what its owner found ---- */

static enum doctor_status status_of(struct str word)
{
    for (int s = DOCTOR_OK; s < DOCTOR_FAIL; s++)
        if (str_equal(word, str_from(doctor_status_name((enum doctor_status)s))))
            return (enum doctor_status)s;
    return DOCTOR_FAIL;
}

static void add_checks(struct str body, struct doctor_list *l)
{
    struct json_reader r;
    struct str list, c;

    if (!json_find(body, "/checks", &list))
        return;
    json_reader_init(&r, list);
    if (json_enter_array(&r))
        while (json_next_element(&r) && json_read_raw(&r, &c))
            doctor_add(
                l, &(struct doctor_check){.id = text_of(l->arena, c, "/id"),
                                          .group = text_of(l->arena, c, "/group"),
                                          .status = status_of(text_of(l->arena, c, "/status")),
                                          .message = text_of(l->arena, c, "/message"),
                                          .why = text_of(l->arena, c, "/why"),
                                          .fix = text_of(l->arena, c, "/fix")});
}

static void append_age(const struct coordinator_view *v, const struct told_topic *told,
                       struct buf *message)
{
    if (told->at_ms == 0) {
        buf_append(message, STR("no node has told of this topic yet"));
        return;
    }
    buf_printf(message, "its owner, node %" STR_FMT ", last told of it ", STR_ARG(told->node));
    human_seconds(message, (double)told_age_ms(told, v->now_ms) / 1000);
    buf_append(message, STR(" ago"));
}

void coordinator_check_told(const struct coordinator_view *v, const struct topic_view *t,
                            struct doctor_list *l)
{
    struct buf message = {0}, group = {0};

    add_checks(t->told.body, l);
    if (t->told.is_old) {
        append_age(v, &t->told, &message);
        buf_printf(&group, "topic %" STR_FMT, STR_ARG(t->d->name));
        doctor_add(l,
                   &(struct doctor_check){
                       .id = STR("topic.told"),
                       .group = buf_str(&group),
                       .status = DOCTOR_FAIL,
                       .message = buf_str(&message),
                       .why = STR("perhaps no node follows this server, and what is shown of "
                                  "its tables may be wrong"),
                       .fix = STR("see whether the nodes that millrace status lists run, and "
                                  "what their logs say")});
    }
    buf_free(&message);
    buf_free(&group);
}
