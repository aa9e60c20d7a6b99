#include "config.h"

#include "rebalance/coordination/coordination.h"
#include "rebalance/member/member_parts.h"

#include "src/base/clock.h"

#include <string.h>

#define LIMIT_MS 5000

/* ---- its thread ---- */

static bool read_state(struct member *m, struct cluster_survey *s, struct err *err)
{
    struct buf text = {0};
    int32_t version = COORDINATION_ABSENT;
    const bool ok = coordination_read_value(m->c, MEMBER_STATE, &text, &version, err) &&
                    cluster_state_parse(&s->state, buf_str(&text), err);

    s->view.state_version = version;
    buf_free(&text);
    return ok;
}

/* A node that goes meanwhile is left out. */
static bool read_nodes(struct member *m, const struct name_set *ids, struct cluster_survey *s,
                       struct err *err)
{
    for (size_t i = 0; i < ids->n; i++) {
        struct coordination_node node = {0};
        bool found = false;

        if (!coordination_read_node(m->c, ids->list[i], &node, &found, err))
            return false;
        if (found)
            cluster_survey_add(s, ids->list[i], node.data);
    }
    return true;
}

static void publish(struct member *m, uint64_t asked, struct cluster_survey *s,
                    const struct err *err)
{
    lock_acquire(&m->lock);
    cluster_survey_free(&m->survey);
    m->survey = *s;
    m->no_survey = *err;
    m->surveyed = asked;
    pthread_cond_broadcast(&m->answered_cond);
    lock_release(&m->lock);
}

void member_take_survey(struct member *m)
{
    struct cluster_survey s = {0};
    struct err err = {0};
    uint64_t asked;
    bool is_due;

    lock_acquire(&m->lock);
    asked = m->survey_asked;
    is_due = asked != m->surveyed;
    if (is_due)
        cluster_view_copy(&s.view, &m->view);
    lock_release(&m->lock);
    if (!is_due)
        return;
    if (s.view.is_connected)
        (void)(read_state(m, &s, &err) && read_nodes(m, &s.view.live, &s, &err));
    else
        err_set(&err, ERR_RETRY, "%s", s.view.trouble.msg);
    publish(m, asked, &s, &err);
}

/* ---- others ---- */

/* Asks for a survey, and waits. Returns false if there is none until then. */
static bool ask_survey(struct member *m, int64_t until_ms) NEEDS(m->lock)
{
    const uint64_t mine = ++m->survey_asked;

    lock_release(&m->lock);
    stop_nudge(&m->stop);
    lock_acquire(&m->lock);
    while (m->surveyed < mine && lock_wait_until(&m->lock, &m->answered_cond, until_ms))
        ;
    return m->surveyed >= mine;
}

bool member_survey(struct member *m, struct cluster_survey *out, struct err *err)
{
    struct err why = {.kind = ERR_RETRY};

    lock_acquire(&m->lock);
    if (ask_survey(m, clock_mono_ms() + LIMIT_MS)) {
        why = m->no_survey;
        if (why.kind == ERR_NONE)
            cluster_survey_copy(out, &m->survey);
    }
    lock_release(&m->lock);
    if (strstr(why.msg, "; fix: ") != NULL)
        return err_set(err, ERR_RETRY, "%s", why.msg);
    return why.kind == ERR_NONE ||
           err_set(err, ERR_RETRY,
                   "the coordination does not answer%s%s; fix: see that the ZooKeeper servers "
                   "of `coordination` run and can be reached",
                   why.msg[0] != '\0' ? ": " : "", why.msg);
}

/* What nodes have changes only in a rebalance, which changes the state, or as a node goes. */
static bool is_current(const struct member *m) NEEDS(m->lock)
{
    const struct cluster_view *then = &m->survey.view, *now = &m->view;

    return m->surveyed > 0 && m->no_survey.kind == ERR_NONE && then->is_normal &&
           now->is_normal && then->state_version == now->state_version &&
           then->session == now->session && name_set_equal(&then->live, &now->live);
}

bool member_known(struct member *m, int64_t wait_ms, struct cluster_survey *out)
{
    bool ok;

    lock_acquire(&m->lock);
    ok = is_current(m) || (m->view.is_connected && ask_survey(m, clock_mono_ms() + wait_ms) &&
                           m->no_survey.kind == ERR_NONE);
    if (ok)
        cluster_survey_copy(out, &m->survey);
    lock_release(&m->lock);
    return ok;
}
