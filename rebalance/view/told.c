#include "config.h"

#include "rebalance/view/told.h"

#include "rebalance/doctor/doctor.h"
#include "rebalance/state/parts.h"
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

/* NULL if there is none.  Owners tell in the order of the definitions: begin behind the last.
 */
static struct table_view *find_table(const struct coordinator_view *v, struct str name,
                                     size_t *from)
{
    const size_t n = v->definitions->n_tables;

    for (size_t i = 0; i < n; i++) {
        struct table_view *t = &v->tables[(*from + i) % n];

        if (!str_equal(table_name(t->d), name))
            continue;
        *from = (*from + i + 1) % n;
        return t;
    }
    return NULL;
}

static void look_at_tables(const struct coordinator_view *v, struct str list)
{
    struct json_reader r;
    struct str item;
    size_t from = 0;

    json_reader_init(&r, list);
    if (!json_enter_array(&r))
        return;
    while (json_next_element(&r) && json_read_raw(&r, &item)) {
        struct buf name = {0};
        struct table_view *t =
            json_find_text(item, "/table", &name) ? find_table(v, buf_str(&name), &from) : NULL;

        if (t != NULL && t->told.is_others)
            t->told.json = item;
        buf_free(&name);
    }
}

/* Whether the node that told of a topic cannot have it any more. */
static bool is_left(const struct coordinator *co, const struct cluster_view *cluster,
                    const struct stored_told *told)
{
    return str_equal(told->node, str_from(co->identity.uuid)) ||
           (cluster->is_connected && cluster->live.n > 0 &&
            !name_set_has(&cluster->live, told->node));
}

static void look_at_topic(const struct coordinator *co, const struct cluster_view *cluster,
                          const struct coordinator_view *v, struct topic_view *t)
{
    const struct stored_told *told =
        v->stored == NULL ? NULL : store_copy_told(v->stored, t->d->name);
    struct str json = STR("");

    t->told = (struct told_topic){.is_others = true, .is_old = true, .node = STR("")};
    if (told != NULL) {
        t->told.node = told->node_name;
        t->told.at_ms = told->at_ms;
        t->told.body = told->body;
        t->told.is_left = is_left(co, cluster, told);
        t->told.is_old = t->told.is_left || told_age_ms(&t->told, v->now_ms) > TOLD_OLD_MS;
        (void)json_find(told->body, "/topic", &json);
    }
    t->is = condition_of(v->arena, json, &t->told);
}

static void look_at_others(const struct coordinator *co, const struct cluster_view *cluster,
                           const struct coordinator_view *v, struct topic_view *t)
{
    const size_t n = v->definitions->n_tables;
    struct str list;

    look_at_topic(co, cluster, v, t);
    for (size_t i = 0; i < n; i++)
        v->tables[i].told.is_others =
            v->tables[i].told.is_others || str_equal(v->tables[i].topic, t->d->name);
    if (json_find(t->told.body, "/tables", &list))
        look_at_tables(v, list);
    for (size_t i = 0; i < n; i++)
        if (str_equal(v->tables[i].topic, t->d->name))
            v->tables[i].is = condition_of(v->arena, v->tables[i].told.json, &t->told);
}

void coordinator_look_at_told(struct coordinator *co, struct coordinator_view *v)
{
    struct cluster_view cluster = {0};

    cluster_look(co->cluster, &cluster);
    for (size_t i = 0; i < v->definitions->n_topics; i++)
        if (v->topics[i].told.is_others)
            look_at_others(co, &cluster, v, &v->topics[i]);
    cluster_view_free(&cluster);
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
    buf_printf(message, "%s, node %" STR_FMT ", last told of it ",
               told->is_left ? "no node has it now; its last owner" : "its owner",
               STR_ARG(told->node));
    human_seconds(message, (double)told_age_ms(told, v->now_ms) / 1000);
    buf_append(message, STR(" ago"));
}

void coordinator_check_told(const struct coordinator_view *v, const struct topic_view *t,
                            struct doctor_list *l)
{
    struct buf message = {0}, group = {0};

    add_checks(t->told.body, l);
    append_age(v, &t->told, &message);
    buf_printf(&group, "topic %" STR_FMT, STR_ARG(t->d->name));
    doctor_add(l,
               &(struct doctor_check){
                   .id = STR("topic.told"),
                   .group = buf_str(&group),
                   .status = t->told.is_old ? DOCTOR_FAIL : DOCTOR_OK,
                   .message = buf_str(&message),
                   .why = STR("perhaps no node follows this server, and what is shown of its "
                              "tables may be wrong"),
                   .fix = STR("see whether the nodes that millrace status lists run, and what "
                              "their logs say")});
    buf_free(&message);
    buf_free(&group);
}
