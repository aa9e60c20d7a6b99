#include "config.h"

#include "rebalance/cluster/cluster_survey.h"

#include "src/base/mem.h"

#include <stdlib.h>

void cluster_survey_add(struct cluster_survey *s, struct str id, struct str text)
{
    struct node_data *d;
    struct err ignored;

    s->nodes = mem_resize(s->nodes, s->n + 1, sizeof(*s->nodes));
    d = &s->nodes[s->n++];
    *d = (struct node_data){0};
    if (node_data_parse(d, text, &ignored) && str_equal(buf_str(&d->id), id))
        return;
    node_data_free(d);
    buf_append(&d->id, id);
}

void cluster_survey_copy(struct cluster_survey *to, const struct cluster_survey *from)
{
    cluster_survey_free(to);
    cluster_state_copy(&to->state, &from->state);
    cluster_view_copy(&to->view, &from->view);
    to->n = from->n;
    to->nodes = mem_alloc(from->n + 1, sizeof(*to->nodes));
    for (size_t i = 0; i < from->n; i++)
        node_data_copy(&to->nodes[i], &from->nodes[i]);
}

void cluster_survey_free(struct cluster_survey *s)
{
    for (size_t i = 0; i < s->n; i++)
        node_data_free(&s->nodes[i]);
    free(s->nodes);
    cluster_state_free(&s->state);
    cluster_view_free(&s->view);
    *s = (struct cluster_survey){0};
}

static const struct node_data *find(const struct cluster_survey *s, struct str id)
{
    for (size_t i = 0; i < s->n; i++)
        if (str_equal(buf_str(&s->nodes[i].id), id))
            return &s->nodes[i];
    return NULL;
}

const struct node_data *cluster_survey_owner(const struct cluster_survey *s, struct str thing)
{
    const struct node_data *owner = NULL;

    for (size_t i = 0; i < s->n; i++) {
        const struct node_data *d = &s->nodes[i];

        if (name_set_has(&d->jobs, thing) &&
            !name_set_has(&s->state.left_out, buf_str(&d->id)) &&
            (owner == NULL || d->session > owner->session))
            owner = d;
    }
    return owner;
}

/* CLEAN names what the node may keep: until it answers it may still work on more. */
static bool is_empty(const struct node_data *d)
{
    return d->jobs.n == 0 && d->status != NODE_CLEAN;
}

const char *cluster_survey_word(const struct cluster_survey *s, struct str id)
{
    static const char *const words[] = {
        [NODE_CLEAN] = "rebalancing", [NODE_CLEAN_OK] = "waiting", [NODE_INIT] = "rebalancing",
        [NODE_FINISH] = "normal",     [NODE_NORMAL] = "normal",
    };
    const struct node_data *d = find(s, id);

    if (d == NULL)
        return "gone";
    if (name_set_has(&s->state.left_out, id))
        return "left out";
    if (name_set_has(&s->state.evacuated, id))
        return is_empty(d) ? "evacuated" : "evacuating";
    if (!name_set_has(&s->state.members, id))
        return "starting";
    return d->session == s->state.session ? words[d->status] : "rebalancing";
}
