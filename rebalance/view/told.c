#include "config.h"

#include "rebalance/view/told.h"

#include "rebalance/cluster/cluster_survey.h"
#include "rebalance/doctor/doctor.h"
#include "rebalance/state/parts.h"
#include "rebalance/view/look.h"
#include "rebalance/view/view.h"

#include "src/base/clock.h"
#include "src/base/human.h"
#include "src/store/told.h"

#include <stdlib.h>
#include <string.h>

#define PLAN_WAIT_MS 1000
#define MOVE_LONG_MS 60000 /* as long as nodes may take to stop and to start */
#define MOVE_LOST_MS 120000

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
                           .fix = text_of(a, json, "/fix"),
                           .since = text_of(a, json, "/since")};
    const struct str state = text_of(a, json, "/state");

    if (told->moves)
        return (struct condition){.state = "moving", .reason = STR(""), .fix = STR("")};
    is.state = told->is_old || state.len == 0 ? "unknown" : state.ptr;
    if (told->is_old)
        is.since = coordinator_time(a, told->at_ms);
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

/* ---- who owns it ---- */

/* What is known of the cluster. */
struct told_look {
    struct coordinator *co;
    struct coordinator_view *v;
    const struct cluster_view *cluster;
    const struct cluster_survey *plan; /* NULL: not known */
};

/* Whether the node that told of a topic cannot have it any more. */
static bool is_left(const struct told_look *l, const struct stored_told *told)
{
    return str_equal(told->node, str_from(l->co->identity.uuid)) ||
           (l->cluster->is_connected && l->cluster->live.n > 0 &&
            !name_set_has(&l->cluster->live, told->node));
}

/* Whether the owner told it, and not before it was started again. */
static bool is_owners(const struct told_look *l, const struct node_data *owner,
                      const struct stored_told *told)
{
    uint64_t started_ms;

    if (told == NULL || !str_equal(told->node, buf_str(&owner->id)) ||
        str_equal(told->node, str_from(l->co->identity.uuid)))
        return false;
    return !json_find_u64(told->body, "/started_ms", &started_ms) ||
           started_ms == owner->started_ms;
}

static struct str name_of(const struct cluster_survey *plan, struct str id)
{
    for (size_t i = 0; i < plan->n; i++)
        if (str_equal(buf_str(&plan->nodes[i].id), id))
            return plan->nodes[i].name.len > 0 ? buf_str(&plan->nodes[i].name) : id;
    return id;
}

/* Empty: nobody knows where it goes. */
static struct str destination_of(const struct cluster_survey *plan,
                                 const struct node_data *owner, struct str thing)
{
    const struct str id =
        owner != NULL ? buf_str(&owner->id) : cluster_state_wish(&plan->state, thing);

    return id.len == 0 ? STR("") : name_of(plan, id);
}

/* If whoever has the topic by the plan has not told of it, then it moves, but not for ever. */
static void look_at_plan(const struct told_look *l, const struct stored_told *told,
                         struct topic_view *t)
{
    struct buf thing = {0};
    const struct node_data *owner;

    buf_printf(&thing, "topic/%" STR_FMT, STR_ARG(t->d->name));
    owner = cluster_survey_owner(l->plan, buf_str(&thing));
    t->told.owner = arena_copy(l->v->arena, destination_of(l->plan, owner, buf_str(&thing)));
    buf_free(&thing);
    if (owner != NULL && is_owners(l, owner, told))
        return;
    t->told.moved_ms = l->v->now_ms - (clock_mono_ms() - l->cluster->normal_ms);
    t->told.moves = l->v->now_ms - t->told.moved_ms < MOVE_LOST_MS;
    t->told.is_left = owner == NULL && !t->told.moves;
    t->told.is_old = true;
}

static void put_move(const struct coordinator_view *v, const struct told_topic *told,
                     struct buf *out)
{
    const struct str to = told->owner.len > 0 ? told->owner : STR("another node");

    buf_printf(out, "it has been moving to %" STR_FMT " for ", STR_ARG(to));
    human_seconds(out, (double)(v->now_ms - told->moved_ms) / 1000);
}

static struct str reason_of_move(const struct coordinator_view *v,
                                 const struct told_topic *told)
{
    struct buf reason = {0};
    struct str copy;

    put_move(v, told, &reason);
    copy = arena_copy(v->arena, buf_str(&reason));
    buf_free(&reason);
    return copy;
}

static void look_at_topic(const struct told_look *l, struct topic_view *t)
{
    const struct coordinator_view *v = l->v;
    const struct stored_told *told =
        v->stored == NULL ? NULL : store_copy_told(v->stored, t->d->name);
    struct str json = STR("");

    t->told = (struct told_topic){
        .is_others = true, .is_old = told == NULL, .node = STR(""), .owner = STR("")};
    if (told != NULL) {
        t->told.node = t->told.owner = told->node_name;
        t->told.at_ms = told->at_ms;
        t->told.body = told->body;
        t->told.is_left = l->plan == NULL && is_left(l, told);
        t->told.is_old = t->told.is_left || told_age_ms(&t->told, v->now_ms) > TOLD_OLD_MS;
        (void)json_find(told->body, "/topic", &json);
    }
    if (l->plan != NULL)
        look_at_plan(l, told, t);
    t->is = condition_of(v->arena, json, &t->told);
    if (t->told.moves)
        t->is.reason = reason_of_move(v, &t->told);
    (void)coordinator_look_at_pause(v, t); /* it counts, whoever has the topic */
}

static void look_at_others(const struct told_look *l, struct topic_view *t)
{
    const struct coordinator_view *v = l->v;
    const size_t n = v->definitions->n_tables;
    struct str list;

    look_at_topic(l, t);
    for (size_t i = 0; i < n; i++)
        if (str_equal(v->tables[i].topic, t->d->name))
            v->tables[i].told =
                (struct told_table){.is_others = true, .is_old = t->told.is_old};
    if (json_find(t->told.body, "/tables", &list))
        look_at_tables(v, list);
    for (size_t i = 0; i < n; i++)
        if (str_equal(v->tables[i].topic, t->d->name))
            v->tables[i].is = condition_of(v->arena, v->tables[i].told.json, &t->told);
}

static bool has_others(const struct coordinator_view *v)
{
    for (size_t i = 0; i < v->definitions->n_topics; i++)
        if (v->topics[i].told.is_others)
            return true;
    return false;
}

void coordinator_look_at_told(struct coordinator *co, struct coordinator_view *v, bool asks)
{
    struct cluster_survey plan = {0};
    struct cluster_view cluster = {0};
    const bool is_known =
        asks && has_others(v) && cluster_known(co->cluster, PLAN_WAIT_MS, &plan);
    const struct told_look l = {co, v, &cluster, is_known ? &plan : NULL};

    cluster_look(co->cluster, &cluster);
    for (size_t i = 0; i < v->definitions->n_topics; i++)
        if (v->topics[i].told.is_others)
            look_at_others(&l, &v->topics[i]);
    cluster_view_free(&cluster);
    cluster_survey_free(&plan);
}

/* ---- what its owner found ---- */

static enum doctor_status status_of(struct str word)
{
    for (int s = DOCTOR_OK; s < DOCTOR_FAIL; s++)
        if (str_equal(word, str_from(doctor_status_name((enum doctor_status)s))))
            return (enum doctor_status)s;
    return DOCTOR_FAIL;
}

static void read_values(struct arena *a, struct str check, struct doctor_value *out)
{
    struct json_reader r;
    struct str raw, name;

    if (!json_find(check, "/values", &raw))
        return;
    json_reader_init(&r, raw);
    for (size_t i = 0, in = json_enter_object(&r); in && i < DOCTOR_VALUES; i++) {
        struct buf text = {0};

        if (!json_next_member(&r, &name))
            return;
        out[i].name = arena_copy(a, name).ptr;
        if (json_peek(&r) == JSON_STRING && json_read_text(&r, &text))
            out[i].text = arena_copy(a, buf_str(&text));
        else if (json_read_raw(&r, &raw))
            out[i].number = strtod(arena_copy(a, raw).ptr, NULL);
        buf_free(&text);
    }
}

static void add_check(struct str c, struct doctor_list *l)
{
    struct doctor_check check = {.id = text_of(l->arena, c, "/id"),
                                 .code = text_of(l->arena, c, "/code"),
                                 .group = text_of(l->arena, c, "/group"),
                                 .status = status_of(text_of(l->arena, c, "/status")),
                                 .message = text_of(l->arena, c, "/message"),
                                 .why = text_of(l->arena, c, "/why"),
                                 .fix = text_of(l->arena, c, "/fix"),
                                 .since = text_of(l->arena, c, "/since")};

    read_values(l->arena, c, check.values);
    doctor_add(l, &check);
}

/* Of old news, what was well is not known to be well. */
static void add_checks(struct str body, bool is_old, struct doctor_list *l)
{
    struct json_reader r;
    struct str list, c;

    if (!json_find(body, "/checks", &list))
        return;
    json_reader_init(&r, list);
    if (json_enter_array(&r))
        while (json_next_element(&r) && json_read_raw(&r, &c))
            if (!is_old || status_of(text_of(l->arena, c, "/status")) != DOCTOR_OK)
                add_check(c, l);
}

/* Who has it, and when somebody told of it. */
static void put_news(const struct coordinator_view *v, const struct told_topic *told,
                     struct buf *message)
{
    if (told->at_ms == 0 && told->owner.len == 0) {
        buf_append(message, STR("no node has told of this topic yet"));
        return;
    }
    if (told->at_ms == 0 || (told->moved_ms != 0 && !told->is_left)) {
        buf_printf(message, "its owner, %" STR_FMT ", has told nothing of it yet, for ",
                   STR_ARG(told->owner));
        human_seconds(message, (double)(v->now_ms - told->moved_ms) / 1000);
        return;
    }
    buf_printf(message, "%s, %" STR_FMT ", last told of it ",
               told->is_left ? "no node has it now; its last owner" : "its owner",
               STR_ARG(told->node));
    human_seconds(message, (double)told_age_ms(told, v->now_ms) / 1000);
    buf_append(message, STR(" ago"));
}

static enum doctor_status status_of_news(const struct coordinator_view *v,
                                         const struct told_topic *told)
{
    if (told->moves)
        return v->now_ms - told->moved_ms < MOVE_LONG_MS ? DOCTOR_OK : DOCTOR_WARN;
    return told->is_old ? DOCTOR_FAIL : DOCTOR_OK;
}

void coordinator_check_told(const struct coordinator_view *v, const struct topic_view *t,
                            struct doctor_list *l)
{
    struct buf message = {0}, group = {0};

    if (t->told.moves) {
        put_move(v, &t->told, &message);
    } else {
        add_checks(t->told.body, t->told.is_old, l);
        put_news(v, &t->told, &message);
    }
    buf_printf(&group, "topic %" STR_FMT, STR_ARG(t->d->name));
    doctor_add(
        l, &(struct doctor_check){
               .id = STR("topic.told"),
               .code = t->told.moves ? STR("topic.told.moves") : STR(""),
               .values = {{"node", .text = t->told.owner}},
               .group = buf_str(&group),
               .status = status_of_news(v, &t->told),
               .message = buf_str(&message),
               .why = STR("perhaps no node follows this server, and what is shown of its "
                          "tables may be wrong"),
               .fix = STR("see whether the nodes that millrace node list lists run, and what "
                          "their logs say")});
    buf_free(&message);
    buf_free(&group);
}
