#include "config.h"

#include "rebalance/view/cluster.h"

#include "rebalance/state/parts.h"

#include "rebalance/doctor/doctor.h"
#include "src/base/clock.h"
#include "src/base/fix.h"
#include "src/base/human.h"

static int64_t wall_of(int64_t mono_ms)
{
    return mono_ms == 0 ? 0 : clock_wall_ms() - (clock_mono_ms() - mono_ms);
}

void coordinator_put_cluster(struct json_writer *w, const struct cluster_view *v)
{
    json_write_key(w, STR("cluster"));
    if (v == NULL) {
        json_write_null(w);
        return;
    }
    json_open_object(w);
    json_put_bool(w, STR("normal"), v->is_normal);
    json_put_u64(w, STR("nodes"), v->live.n);
    json_put_string(w, STR("waits_for"), buf_str(&v->waits));
    json_put_u64(w, STR("session"), v->session);
    json_put_bool(w, STR("connected"), v->is_connected);
    coordinator_put_time(w, STR("since"), wall_of(v->since_ms));
    json_put_cstr(w, STR("reason"), v->trouble.msg);
    json_put_bool(w, STR("open_to_all"), v->is_open_to_all);
    json_close_object(w);
}

/* fix: unless the message has one. */
static void add(const struct cluster_view *v, struct doctor_list *l, struct doctor_check c,
                const char *fix)
{
    const struct str own = fix_split(&c.message);

    c.group = STR("cluster");
    if (str_equal(c.id, STR("cluster.reach")))
        c.since = coordinator_time(l->arena, wall_of(v->since_ms));
    c.fix = own.len > 0 ? own : str_from(fix);
    doctor_add(l, &c);
}

static void check_reach(const struct cluster_view *v, struct doctor_list *l)
{
    const char *trouble = v->trouble.msg;

    if (!v->is_connected)
        add(v, l,
            (struct doctor_check){
                .id = STR("cluster.reach"),
                .status = DOCTOR_FAIL,
                .message = trouble[0] != '\0' ? str_from(trouble)
                                              : STR("ZooKeeper has not answered yet"),
                .why = STR("this node works on no topic until the coordination answers")},
            "start the ZooKeeper servers of `coordination`, or correct the setting");
    else if (trouble[0] != '\0')
        add(v, l,
            (struct doctor_check){
                .id = STR("cluster.reach"),
                .code = STR("cluster.reach.refused"),
                .status = DOCTOR_FAIL,
                .message = str_from(trouble),
                .why = STR("nodes may not learn of each other, nor share topics")},
            "give the log-in of coordination_auth_file the rights to read and write there");
}

/* Topics without an owner have one again only if a person acts. */
static void check_normal(const struct cluster_view *v, struct doctor_list *l)
{
    struct buf message = {0};

    if (v->is_normal && v->waits.len == 0) {
        buf_append(&message, STR("normal, "));
        human_count(&message, v->live.n);
        buf_append(&message, v->live.n == 1 ? STR(" node") : STR(" nodes"));
        add(v, l,
            (struct doctor_check){.id = STR("cluster.normal"),
                                  .message = buf_str(&message),
                                  .values = {{"nodes", .number = (double)v->live.n}}},
            "");
    } else if (v->is_connected) {
        buf_append(&message, v->waits.len > 0 ? buf_str(&v->waits) : STR("is not normal yet"));
        add(v, l,
            (struct doctor_check){
                .id = STR("cluster.normal"),
                .code = v->is_normal ? STR("cluster.normal.nobody") : STR(""),
                .status = v->is_normal ? DOCTOR_FAIL : DOCTOR_WARN,
                .message = buf_str(&message),
                .why = v->is_normal ? STR("nobody follows the topics")
                                    : STR("topics that move are not followed meanwhile")},
            v->is_normal ? "millrace node list, then millrace node admit NAME"
                         : "it ends by itself; millrace node list says who is waited for");
    }
    buf_free(&message);
}

static void check_rights(const struct cluster_view *v, struct doctor_list *l)
{
    if (v->is_open_to_all)
        add(v, l,
            (struct doctor_check){
                .id = STR("cluster.rights"),
                .status = DOCTOR_WARN,
                .message = STR("whoever reaches ZooKeeper can change everything there"),
                .why = STR("anybody in its network can take this node's topics away")},
            "set coordination_auth_file at all nodes");
}

static void check_timeout(const struct cluster_view *v, struct doctor_list *l)
{
    struct buf message = {0};

    if (v->timeout_ms == 0 || v->timeout_ms == v->asked_ms)
        return;
    buf_append(&message, STR("the ZooKeeper servers granted a session of "));
    human_seconds(&message, v->timeout_ms / 1000.0);
    buf_append(&message, STR(", and coordination_timeout is "));
    human_seconds(&message, v->asked_ms / 1000.0);
    add(v, l,
        (struct doctor_check){
            .id = STR("cluster.timeout"),
            .values = {{"granted_seconds", .number = v->timeout_ms / 1000.0},
                       {"asked_seconds", .number = v->asked_ms / 1000.0}},
            .status = DOCTOR_WARN,
            .message = buf_str(&message),
            .why = STR(
                "other nodes take over from one that dies after the time that was granted")},
        "set coordination_timeout to that, or minSessionTimeout and maxSessionTimeout of the "
        "servers");
    buf_free(&message);
}

void coordinator_check_cluster(const struct cluster_view *v, struct doctor_list *l)
{
    check_reach(v, l);
    check_normal(v, l);
    check_rights(v, l);
    check_timeout(v, l);
}
