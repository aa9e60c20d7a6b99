#include "config.h"

#include "rebalance/tell/alarms.h"

#include "rebalance/alarm/outbox.h"
#include "rebalance/build/refusals.h"
#include "rebalance/doctor/doctor.h"
#include "rebalance/state/parts.h"
#include "rebalance/view/view.h"

/* Warnings that somebody has chosen, or has seen when the definition was stored. */
static const struct str chosen[] = {
    STR("cluster.rights"), STR("cluster.timeout"),  STR("topic.gtid"),
    STR("table.built"),    STR("table.definition"),
};

static bool is_chosen(const struct doctor_check *c)
{
    for (size_t i = 0; i < ARRAY_LEN(chosen); i++)
        if (str_equal(c->id, chosen[i]))
            return c->status == DOCTOR_WARN;
    return false;
}

/* Sets *name to what follows the word, if the text begins with it. */
static bool is_of(struct str group, struct str word, struct str *name)
{
    if (!str_has_prefix(group, word))
        return false;
    *name = (struct str){group.ptr + word.len, group.len - word.len};
    return true;
}

static bool is_others_topic(const struct coordinator_view *v, struct str name)
{
    for (size_t i = 0; i < v->definitions->n_topics; i++)
        if (str_equal(v->topics[i].d->name, name))
            return v->topics[i].told.is_others;
    return false;
}

static bool is_others_table(const struct coordinator_view *v, struct str name)
{
    for (size_t i = 0; i < v->definitions->n_tables; i++)
        if (str_equal(table_name(v->tables[i].d), name))
            return v->tables[i].told.is_others;
    return false;
}

/* The node that sends what concerns all: of those that live, the one with the least id. */
static bool is_speaker(const struct coordinator *co, const struct cluster_view *v)
{
    return v->is_connected && v->live.n > 0 &&
           str_equal(v->live.list[0], str_from(co->identity.uuid));
}

static bool is_of_all(const struct doctor_check *c)
{
    return str_equal(c->id, STR("topic.told")) || str_equal(c->id, STR("cluster.away")) ||
           str_equal(c->id, STR("cluster.normal"));
}

/* One node may see the engine, the store or ZooKeeper otherwise than the others. */
static struct str seen_from(const struct coordinator *co, struct arena *a, struct str object)
{
    struct buf text = {0};
    struct str out;

    buf_printf(&text, "%" STR_FMT ", seen from %s", STR_ARG(object), co->identity.name);
    out = arena_copy(a, buf_str(&text));
    buf_free(&text);
    return out;
}

static void place(const struct coordinator *co, const struct coordinator_view *v,
                  const struct doctor_check *c, struct alarm_finding *f)
{
    struct str name;

    if (v->cluster == NULL)
        return;
    if (is_of_all(c))
        f->is_others = !is_speaker(co, v->cluster);
    else if (is_of(c->group, STR("topic "), &name))
        f->is_others = is_others_topic(v, name);
    else if (is_of(c->group, STR("table "), &name))
        f->is_others = is_others_table(v, name);
    else
        f->object = seen_from(co, v->arena, c->group);
}

/* That the only receiver takes nothing cannot be sent. */
static bool is_left_out(const struct coordinator *co, const struct doctor_check *c)
{
    return c->status == DOCTOR_OK || is_chosen(c) ||
           (co->outbox != NULL && alarm_outbox_n(co->outbox) == 1 &&
            str_equal(c->id, STR("alarms.receiver")));
}

struct alarm_finding *alarm_findings(const struct coordinator *co, struct coordinator_view *v,
                                     const struct doctor_list *l, size_t *n)
{
    struct alarm_finding *list = arena_alloc(v->arena, l->n + 1, sizeof(*list));

    *n = 0;
    for (size_t i = 0; i < l->n; i++) {
        const struct doctor_check *c = &l->checks[i];

        if (is_left_out(co, c))
            continue;
        list[*n] = (struct alarm_finding){.code = c->id,
                                          .object = c->group,
                                          .text = refusals_without_document(c->message),
                                          .fix = c->fix,
                                          .is_failure = c->status == DOCTOR_FAIL,
                                          .is_others = false};
        place(co, v, c, &list[(*n)++]);
    }
    return list;
}
