#include "config.h"

#include "rebalance/view/away.h"

#include "rebalance/doctor/doctor.h"
#include "src/base/human.h"
#include "src/format/json.h"
#include "src/store/told.h"

#include <string.h>

#define ID_SHOWN 8 /* digits of an id that stand for it */

bool away_is_shut_down(const struct stored_told_node *n)
{
    struct str when;

    return json_find(n->body, "/stopped", &when);
}

const char *away_word(const struct cluster_view *v, const struct stored_told_node *n)
{
    if (!v->is_connected || v->live.n == 0)
        return "unknown";
    if (name_set_has(&v->live, n->node))
        return "lives";
    return away_is_shut_down(n) ? "shut down" : "gone";
}

/* What a command finds the node by: its name, or the start of its id if others have that name.
 */
static struct str handle_of(const struct stored_told_node *nodes, size_t n, size_t which)
{
    const struct stored_told_node *node = &nodes[which];

    for (size_t i = 0; i < n; i++)
        if (i != which && str_equal(nodes[i].node_name, node->node_name))
            return node->node.len > ID_SHOWN ? (struct str){node->node.ptr, ID_SHOWN}
                                             : node->node;
    return node->node_name;
}

static void put_since(struct buf *out, const struct stored_told_node *node, int64_t now_ms)
{
    human_time(out, node->at_ms);
    buf_append(out, STR(" ("));
    human_seconds(out, now_ms > node->at_ms ? (double)(now_ms - node->at_ms) / 1000 : 0);
    buf_append(out, STR(" ago)"));
}

static void warn(const struct stored_told_node *node, struct str handle, int64_t now_ms,
                 struct doctor_list *l)
{
    const bool is_shut_down = away_is_shut_down(node);
    struct buf message = {0}, fix = {0};

    buf_printf(&message, "%" STR_FMT "%s ", STR_ARG(node->node_name),
               is_shut_down ? " was shut down at" : " is gone: it last told of itself at");
    put_since(&message, node, now_ms);
    buf_printf(&fix,
               "%s; if it shall be away for a while: millrace node evacuate %" STR_FMT
               "; if it does not come back: millrace node forget %" STR_FMT,
               is_shut_down
                   ? "start it again"
                   : "start it again, or see in its log why it does not reach ZooKeeper",
               STR_ARG(handle), STR_ARG(handle));
    doctor_add(l,
               &(struct doctor_check){
                   .id = STR("cluster.away"),
                   .code = is_shut_down ? STR("cluster.away.shut_down") : STR(""),
                   .values = {{"node", .text = node->node_name},
                              {"seconds", .number = (double)(now_ms - node->at_ms) / 1000}},
                   .group = STR("cluster"),
                   .status = DOCTOR_WARN,
                   .message = buf_str(&message),
                   .why = STR("the other nodes do its work, and fewer are left to do theirs"),
                   .fix = buf_str(&fix)});
    buf_free(&message);
    buf_free(&fix);
}

void away_check(const struct cluster_view *v, const struct stored_told_node *nodes, size_t n,
                int64_t now_ms, struct doctor_list *l)
{
    for (size_t i = 0; v->is_connected && v->live.n > 0 && i < n; i++)
        if (!name_set_has(&v->live, nodes[i].node) &&
            !name_set_has(&v->evacuated, nodes[i].node))
            warn(&nodes[i], handle_of(nodes, n, i), now_ms, l);
}
