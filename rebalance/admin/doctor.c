#include "config.h"

#include "rebalance/check/areas.h"
#include "rebalance/check/look.h"
#include "rebalance/check/pipelines.h"
#include "rebalance/dead_letter/dead.h"
#include "rebalance/engine/engine.h"
#include "rebalance/state/parts.h"
#include "rebalance/task/task.h"
#include "rebalance/view/known.h"
#include "rebalance/view/view.h"

#include "rebalance/admin/questions.h"
#include "rebalance/check/asked.h"
#include "rebalance/doctor/doctor.h"
#include "rebalance/doctor/mysql.h"
#include "src/base/mem.h"
#include "src/mysql/mysql.h"
#include "sync/check/check_live.h"
#include "sync/routing/cascade_review.h"
#include "sync/server/server_access.h"

#include <stdio.h>
#include <stdlib.h>

#define DISK_WARN_PERCENT 80

/* ---- the search engine ---- */

static void check_disk(struct doctor_list *l, struct str health)
{
    uint64_t percent;
    char text[96];

    if (!json_find_u64(health, "/disk_used_percent", &percent))
        return;
    snprintf(text, sizeof(text), "the fullest node's disk is %llu %% full",
             (unsigned long long)percent);
    doctor_add(l, &(struct doctor_check){
                      .id = STR("search.disk"),
                      .group = STR("search engine"),
                      .message = str_from(text),
                      .status = percent < DISK_WARN_PERCENT ? DOCTOR_OK : DOCTOR_WARN,
                      .values = {{"percent", .number = (double)percent}},
                      .why = STR("at 95 % the engine refuses every write until space is free"),
                      .fix = STR("free space or add a node before that")});
}

static void check_health(struct coordinator *co, struct doctor_list *l)
{
    struct buf health = {0}, color = {0};
    struct err err = {0};

    if (search_health(co->opt.search, &health, &err) &&
        json_find_text(buf_str(&health), "/status", &color)) {
        const bool red = str_equal(buf_str(&color), STR("red"));

        doctor_add(l, &(struct doctor_check){.id = STR("search.health"),
                                             .group = STR("search engine"),
                                             .message = buf_str(&color),
                                             .values = {{"health", .text = buf_str(&color)}},
                                             .status = red ? DOCTOR_FAIL : DOCTOR_OK,
                                             .why = STR(DOCTOR_WHY_RED),
                                             .fix = STR(DOCTOR_FIX_RED)});
        check_disk(l, buf_str(&health));
    } else {
        doctor_add(l, &(struct doctor_check){
                          .id = STR("search.health"),
                          .code = STR("search.health.unknown"),
                          .group = STR("search engine"),
                          .message = str_from(err.msg),
                          .status = DOCTOR_FAIL,
                          .why = STR(DOCTOR_WHY_SEARCH),
                          .fix = STR("repair the cluster, or correct search.url in the "
                                     "configuration")});
    }
    buf_free(&health);
    buf_free(&color);
}

/* Returns false if the engine does not answer. */
static bool check_search(struct coordinator *co, struct doctor_list *l)
{
    struct err err = {0};
    char text[160];

    if (!search_detect(co->opt.search, &err)) {
        doctor_add(l, &(struct doctor_check){.id = STR("search.reach"),
                                             .group = STR("search engine"),
                                             .status = DOCTOR_FAIL,
                                             .message = str_from(err.msg),
                                             .why = STR(DOCTOR_WHY_SEARCH),
                                             .fix = STR(DOCTOR_FIX_SEARCH)});
        return false;
    }

    const struct engine engine = search_engine(co->opt.search);
    const bool is_new = engine_is_new(&engine);

    snprintf(text, sizeof(text), "%s %s%s", engine_name(&engine),
             search_version_text(co->opt.search),
             is_new ? ", newer than any that this release of Millrace knows" : "");
    doctor_add(
        l,
        &(struct doctor_check){
            .id = STR("search.reach"),
            .code = is_new ? STR("search.reach.new") : STR(""),
            .values = {{"engine", .text = str_from(engine_name(&engine))},
                       {"version", .text = str_from(search_version_text(co->opt.search))}},
            .group = STR("search engine"),
            .status = is_new ? DOCTOR_WARN : DOCTOR_OK,
            .message = str_from(text),
            .why =
                is_new ? STR("Millrace treats it like the newest one that it knows") : STR(""),
            .fix = is_new ? STR("test with a copy first, or use a newer Millrace") : STR("")});
    check_health(co, l);
    return true;
}

/* ---- the store ---- */

static void check_store(struct coordinator *co, struct doctor_list *l)
{
    struct err err = {0};
    const bool ok = store_put_value(co->opt.store, STR("doctor"), STR("was here"), &err);

    doctor_add(l, &(struct doctor_check){.id = STR("store.write"),
                                         .group = STR("store"),
                                         .status = ok ? DOCTOR_OK : DOCTOR_FAIL,
                                         .message = ok ? str_from(store_kind(co->opt.store))
                                                       : str_from(err.msg),
                                         .why = STR(DOCTOR_WHY_STORE),
                                         .fix = STR(DOCTOR_FIX_STORE)});
}

/* ---- the topics ---- */

struct table_list {
    const struct definitions *d;
    const struct topic_definition *topic;
    struct doctor_table *tables;
    size_t n;
};

static void add_table(void *ctx, struct str table)
{
    struct table_list *list = ctx;
    struct table_location at;
    const struct table_definition *t = definitions_table(list->d, table);

    if (definitions_topic_of(list->d, table) != list->topic ||
        !definitions_locate(list->d, table, &at))
        return;
    for (size_t i = 0; i < list->n; i++)
        if (str_equal(list->tables[i].schema, at.schema) &&
            str_equal(list->tables[i].table, at.name))
            return;
    list->tables = mem_resize(list->tables, list->n + 1, sizeof(*list->tables));
    list->tables[list->n++] =
        (struct doctor_table){.schema = at.schema,
                              .table = at.name,
                              .has_key = t == NULL || t->n_key + t->n_unique_keys > 0,
                              .synced = t != NULL && t->sync_every_s > 0};
}

/* ---- cascades of foreign keys ---- */

static void add_cascade(struct doctor_list *l, struct str group, const struct cascade_note *n)
{
    struct buf message = {0};

    buf_printf(&message,
               "the foreign key `%" STR_FMT "` changes rows of %" STR_FMT
               " by itself; for the documents of %" STR_FMT " they are %s",
               STR_ARG(n->key), STR_ARG(n->child), STR_ARG(n->table),
               n->why.len == 0 ? "looked up"
               : n->partly     ? "looked up by texts as they are written"
                               : "not found");
    doctor_add(l, &(struct doctor_check){.id = STR("mysql.table_cascade"),
                                         .group = group,
                                         .status = n->why.len == 0 ? DOCTOR_OK : DOCTOR_WARN,
                                         .message = buf_str(&message),
                                         .why = n->why,
                                         .fix = n->fix});
    buf_free(&message);
}

static void check_cascades(struct coordinator *co, struct asked *asked,
                           const struct topic_definition *topic, struct str group,
                           struct doctor_list *l)
{
    struct err ignored = {0}; /* another check reports an unreachable server */
    struct cascade_review review = {.conn = asked_open(asked, topic->name, &ignored),
                                    .definitions = asked->d,
                                    .topic = topic->name,
                                    .schemas = asked_schemas(asked, topic->name),
                                    .engine = search_engine(co->opt.search)};
    struct cascade_note *notes;
    size_t n;

    if (review.conn == NULL || !cascade_review(&review, l->arena, &notes, &n, &ignored))
        return;
    for (size_t i = 0; i < n; i++)
        add_cascade(l, group, &notes[i]);
}

/* ---- definitions against their tables ---- */

/* Report what `apply` would say of the tables today: missing indexes, dropped columns. */
static void check_definitions(struct coordinator *co, struct asked *asked,
                              const struct topic_definition *topic, struct doctor_list *l)
{
    const struct definitions *d = asked->d;
    struct err ignored = {0}; /* another check reports an unreachable server */
    const bool is_there = asked_open(asked, topic->name, &ignored) != NULL;
    struct check_live *live = check_live_new(&(struct check_servers){asked, asked_open}, d);

    for (size_t i = 0; is_there && i < d->n_tables; i++)
        if (definitions_topic_of(d, d->tables[i].table) == topic)
            check_live_expect(live, &d->tables[i]);
    for (size_t i = 0; is_there && i < d->n_tables; i++) {
        const struct table_definition *t = &d->tables[i];
        struct problems *problems = problems_new();

        if (definitions_topic_of(d, t->table) == topic &&
            check_live_table(live, t, problems, &ignored)) {
            coordinator_review_areas(co, d, t, asked, problems);
            for (size_t k = 0; k < problems_n(problems); k++)
                doctor_add_problem(l, t->table, problems_get(problems, k));
        }
        problems_free(problems);
    }
    check_live_free(live);
}

/*
 * Add the tables that match the pattern now.  If they cannot be listed, the check of the server
 * reports why.
 */
static void add_pattern(struct coordinator *co, struct errand *e,
                        const struct table_definition *t, struct table_list *list)
{
    const struct table_definition **members;
    struct err ignored = {0};
    struct look look = {.asking = e->asking};
    size_t n;

    if (look_open(&look, co, list->d, t, &ignored) &&
        definition_members(list->d, t, look_list, &look, e->arena, &members, &n))
        for (size_t i = 0; i < n; i++)
            add_table(list, members[i]->table);
    look_close(&look);
}

/* The server id that the topic last used.  Asks the store only if there is none. */
static bool find_server_id(struct coordinator *co, const struct topic_definition *topic,
                           uint32_t *id, struct err *err)
{
    struct replica_identity replica = {0};

    lock_acquire(&co->topics->lock);

    const struct topic *t = topics_find(co->topics, topic->name);

    *id = t != NULL ? t->server_id : 0;
    lock_release(&co->topics->lock);
    if (topic->server_id == 0 && *id != 0)
        return true;

    const bool ok = coordinator_replica_identity(co, topic, &replica, err);

    *id = replica.server_id;
    return ok;
}

/* ---- errands ---- */

/* One errand: the store, the search engine, or a topic's server. */
struct part {
    struct coordinator *co;
    struct str topic, group;
    struct doctor_list list;
};

/* From where the topic goes on after a start or a pause. */
static void find_place(struct part *p, const struct topic_definition *topic,
                       struct doctor_mysql_options *opt)
{
    struct stored_checkpoint stored;
    struct err ignored = {0}; /* on failure, that the log is kept is not checked */
    bool found;

    /* Who waits for the store must not say that the topic's server is silent. */
    if (store_watch_heard(p->co->store_watch).is_away ||
        !store_load_checkpoint(p->co->opt.store, p->list.arena, topic->name, &stored, &found,
                               &ignored) ||
        !found)
        return;
    opt->file = stored.file;
    opt->offset = stored.offset;
}

static void check_server(struct errand *e, const struct definitions *d,
                         const struct topic_definition *topic,
                         const struct server_access *server)
{
    struct part *p = e->ctx;
    struct mysql_options limited = server->options;
    struct table_list list = {.d = d, .topic = topic};
    struct doctor_mysql_options opt = {
        .group = p->group, .server = &limited, .asking = e->asking, .follows_log = true};
    struct asked asked;
    struct err ignored = {0}; /* on failure, the server id is not checked */

    limited.connect_timeout_s = limited.read_timeout_s = ERRAND_CONN_S;
    for (size_t i = 0; i < d->n_tables; i++) {
        table_visit(&d->tables[i], add_table, &list);
        if (d->tables[i].pattern.len > 0 && definition_topic(d, &d->tables[i]) == topic)
            add_pattern(p->co, e, &d->tables[i], &list);
    }
    (void)find_server_id(p->co, topic, &opt.server_id, &ignored);
    find_place(p, topic, &opt);
    opt.tables = list.tables;
    opt.n_tables = list.n;
    asked_init(&asked, d, p->co->opt.data_dir, e->asking);
    if (doctor_mysql(&p->list, &opt)) {
        check_cascades(p->co, &asked, topic, p->group, &p->list);
        check_definitions(p->co, &asked, topic, &p->list);
    }
    asked_fini(&asked);
    free(list.tables);
}

static bool ask_server(struct errand *e, struct err *err)
{
    struct part *p = e->ctx;
    struct definitions *d = coordinator_definitions(p->co);
    const struct topic_definition *topic = definitions_topic(d, p->topic);
    struct server_access *server = NULL;

    if (topic != NULL && server_access_new(&server, topic, NULL, p->co->opt.data_dir, err))
        check_server(e, d, topic, server);
    else if (topic != NULL)
        doctor_add(&p->list,
                   &(struct doctor_check){
                       .id = STR("mysql.secret"),
                       .group = p->group,
                       .status = DOCTOR_FAIL,
                       .message = str_from(err->msg),
                       .why = STR("Millrace cannot log in to the server"),
                       .fix = STR("correct password_file or password_env of the topic")});
    server_access_unref(server);
    definitions_unref(d);
    *err = (struct err){0};
    return true;
}

static bool ask_engine(struct errand *e, struct err *err)
{
    struct part *p = e->ctx;
    struct definitions *d = coordinator_definitions(p->co);

    (void)err;
    if (p->co->delivery == NULL)
        coordinator_look_once(p->co);
    if (check_search(p->co, &p->list)) {
        errand_live(e);
        coordinator_check_scripts(p->co, d, &p->list);
        coordinator_doctor_pipelines(p->co, d, &p->list);
    }
    definitions_unref(d);
    return true;
}

static bool ask_store(struct errand *e, struct err *err)
{
    struct part *p = e->ctx;

    (void)err;
    check_store(p->co, &p->list);
    errand_live(e);
    coordinator_check_dead_letters(p->co, &p->list);
    return true;
}

/* What to report if one of them does not answer. */
static const struct asked_kind {
    errand_fn run;
    const char *id, *code, *why, *fix;
} kinds[] = {
    {ask_store, "store.write", "store.write.silent", DOCTOR_WHY_STORE, DOCTOR_FIX_STORE_HANGS},
    {ask_engine, "search.reach", "search.reach.silent", DOCTOR_WHY_SEARCH,
     DOCTOR_FIX_SEARCH_HANGS},
    {ask_server, "mysql.reach", "mysql.reach.silent",
     "nothing else can be checked or done until it answers",
     "find out why the server hangs, or correct the topic's address"},
};

/* The first topic's number: the store and the engine come before the topics. */
#define FIRST_TOPIC 2

static const struct asked_kind *kind_of(size_t i)
{
    return &kinds[i < FIRST_TOPIC ? i : FIRST_TOPIC];
}

static struct errand *send(struct coordinator *co, const struct definitions *d, size_t i)
{
    static const char *const fixed[FIRST_TOPIC] = {"the store", "the search engine"};
    const struct topic_definition *topic = i < FIRST_TOPIC ? NULL : &d->topics[i - FIRST_TOPIC];
    struct buf who = {0}, group = {0};

    if (topic == NULL) {
        buf_append(&who, str_from(fixed[i]));
        buf_append(&group, str_from(fixed[i] + strlen("the ")));
    } else {
        buf_printf(&who, "the server of topic %" STR_FMT ", %" STR_FMT ",",
                   STR_ARG(topic->name), STR_ARG(topic->server.address));
        buf_printf(&group, "topic %" STR_FMT, STR_ARG(topic->name));
    }

    struct errand *e = errand_new(who.ptr, sizeof(struct part));
    struct part *p = e->ctx;

    *p = (struct part){.co = co, .group = arena_copy(e->arena, buf_str(&group))};
    p->topic = arena_copy(e->arena, topic != NULL ? topic->name : STR(""));
    doctor_init(&p->list, e->arena);
    errand_send(co->errands, e, kind_of(i)->run);
    buf_free(&who);
    buf_free(&group);
    return e;
}

static void take(struct doctor_list *l, struct errand *e, const struct asked_kind *kind)
{
    const struct part *p = e->ctx;
    struct err err = {0};

    if (errand_is_done(e, &err))
        for (size_t i = 0; i < p->list.n; i++)
            doctor_add(l, &p->list.checks[i]);
    else
        doctor_add(l, &(struct doctor_check){.id = str_from(kind->id),
                                             .code = str_from(kind->code),
                                             .group = p->group,
                                             .status = DOCTOR_FAIL,
                                             .message = str_from(err.msg),
                                             .why = str_from(kind->why),
                                             .fix = str_from(kind->fix)});
    errand_leave(e);
}

static void check_known(struct coordinator *co, struct doctor_list *l)
{
    struct coordinator_view *v = coordinator_view_new(co);

    coordinator_check_known(v, l);
    coordinator_check_alarms(co, l);
    coordinator_view_free(v);
}

/*
 * Ask all at once.  The node's own checks come first in the list, but run last: they may
 * include what the others found.
 */
static void ask_all(struct coordinator *co, const struct definitions *d, struct doctor_list *l)
{
    const size_t n = FIRST_TOPIC + d->n_topics;
    struct errand **list = arena_alloc(l->arena, n, sizeof(struct errand *));

    for (size_t i = 0; i < n; i++)
        list[i] = send(co, d, i);
    errand_wait(list, n);
    check_known(co, l);
    for (size_t i = 0; i < n; i++)
        take(l, list[i], kind_of(i));
}

bool coordinator_doctor(struct coordinator *co, struct buf *json, struct err *err)
{
    struct definitions *d = coordinator_definitions(co);
    struct arena *a = arena_new();
    struct doctor_list l;
    struct json_writer w = {.out = json};

    (void)err;
    doctor_init(&l, a);
    ask_all(co, d, &l);
    json_open_object(&w);
    json_put_cstr(&w, STR("schema"), "millrace/doctor/1");
    json_put_bool(&w, STR("ok"), doctor_worst(&l) != DOCTOR_FAIL);
    json_write_key(&w, STR("items"));
    doctor_write(&l, &w);
    json_close_object(&w);
    arena_free(a);
    definitions_unref(d);
    return true;
}

static bool doctor(struct coordinator *co, const void *order, struct buf *json, struct err *err)
{
    (void)order;
    return coordinator_doctor(co, json, err);
}

bool coordinator_start_doctor(struct coordinator *co, struct buf *json, struct err *err)
{
    const struct task_order o = {.kind = "doctor", .run = doctor};

    return coordinator_is_daemon(co, "a task", err) &&
           tasks_start(co->tasks, co, &o, json, err);
}
