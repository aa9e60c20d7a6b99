#include "config.h"

#include "rebalance/look.h"
#include "rebalance/node.h"

#include "rebalance/doctor.h"
#include "rebalance/asked.h"
#include "rebalance/doctor_mysql.h"
#include "src/base/mem.h"
#include "src/mysql.h"
#include "sync/cascade_review.h"
#include "sync/model/definition_check.h"
#include "sync/server_access.h"

#include <stdio.h>
#include <stdlib.h>

#define DISK_WARN_PERCENT 80

/* ---- the search engine ---- */

static void check_disk(struct doctor_list *l, struct str health)
{
    uint64_t percent;
    char text[96];

    if (!json_find_u64(health, "/disk_percent", &percent))
        return;
    snprintf(text, sizeof(text), "the fullest node's disk is %llu %% full",
             (unsigned long long)percent);
    doctor_add(l, &(struct doctor_check){
                      .id = STR("search.disk"),
                      .group = STR("search engine"),
                      .message = str_from(text),
                      .status = percent < DISK_WARN_PERCENT ? DOCTOR_OK : DOCTOR_WARN,
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

        doctor_add(
            l,
            &(struct doctor_check){
                .id = STR("search.health"),
                .group = STR("search engine"),
                .message = buf_str(&color),
                .status = red ? DOCTOR_FAIL : DOCTOR_OK,
                .why = STR("documents of red shards cannot be written"),
                .fix = STR("GET _cluster/allocation/explain tells why a shard is not there")});
        check_disk(l, buf_str(&health));
    } else {
        doctor_add(l,
                   &(struct doctor_check){
                       .id = STR("search.health"),
                       .group = STR("search engine"),
                       .message = str_from(err.msg),
                       .status = DOCTOR_FAIL,
                       .why = STR("nothing can be indexed; changes wait and nothing is lost"),
                       .fix = STR("mend the cluster, or search.url in the configuration")});
    }
    buf_free(&health);
    buf_free(&color);
}

static void check_search(struct coordinator *co, struct doctor_list *l)
{
    struct err err = {0};
    char text[160];

    if (!search_detect(co->opt.search, &err)) {
        doctor_add(l,
                   &(struct doctor_check){
                       .id = STR("search.reach"),
                       .group = STR("search engine"),
                       .status = DOCTOR_FAIL,
                       .message = str_from(err.msg),
                       .why = STR("nothing can be indexed; changes wait and nothing is lost"),
                       .fix = STR("start it, or correct search.url, search.user and "
                                  "search.password_file in the configuration")});
        return;
    }

    const struct engine engine = search_engine(co->opt.search);
    const bool is_new = engine_is_new(&engine);

    snprintf(text, sizeof(text), "%s %s%s", engine_name(&engine),
             search_version_text(co->opt.search),
             is_new ? ", newer than all that this release of Millrace knows" : "");
    doctor_add(
        l, &(struct doctor_check){
               .id = STR("search.reach"),
               .group = STR("search engine"),
               .status = is_new ? DOCTOR_WARN : DOCTOR_OK,
               .message = str_from(text),
               .why = is_new ? STR("it is treated like the newest that is known") : STR(""),
               .fix = is_new ? STR("try it with a copy first, or use a newer Millrace")
                             : STR("")});
    check_health(co, l);
}

/* An alias must not be the name of somebody's index. */
static void check_aliases(struct coordinator *co, const struct definitions *d,
                          struct doctor_list *l)
{
    for (size_t i = 0; i < d->n_tables; i++) {
        const struct str alias = table_index(&d->tables[i]);
        struct err ignored = {0};
        bool exists, is_alias;
        char text[512];

        if (!search_index_exists(co->opt.search, alias, &exists, &is_alias, &ignored) ||
            !exists || is_alias)
            continue;
        snprintf(text, sizeof(text),
                 "%" STR_FMT " is an index, and table %" STR_FMT " wants it as its alias",
                 STR_ARG(alias), STR_ARG(table_name(&d->tables[i])));
        doctor_add(
            l,
            &(struct doctor_check){
                .id = STR("search.alias"),
                .group = STR("search engine"),
                .status = DOCTOR_FAIL,
                .message = str_from(text),
                .why =
                    STR("a name cannot be an index and an alias, so the table cannot be built"),
                .fix = STR("give the table another `index:`, or delete or rename that index")});
    }
}

/* ---- the store ---- */

static void check_store(struct coordinator *co, struct doctor_list *l)
{
    struct err err = {0};
    const bool ok = store_put_value(co->opt.store, STR("doctor"), STR("was here"), &err);

    doctor_add(
        l, &(struct doctor_check){
               .id = STR("store.write"),
               .group = STR("store"),
               .status = ok ? DOCTOR_OK : DOCTOR_FAIL,
               .message = ok ? str_from(store_kind(co->opt.store)) : str_from(err.msg),
               .why = STR("positions cannot be stored, so after a restart work is repeated"),
               .fix = STR("free the disk, or mend the store's server")});
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
    list->tables[list->n++] = (struct doctor_table){
        .schema = at.schema,
        .table = at.name,
        .has_key = t == NULL || t->n_key + t->n_unique_keys > 0,
        .synced = t != NULL && t->sync_every_s > 0};
}

static bool status_of(struct coordinator *co, struct str name, struct pipeline_status *s)
{
    pthread_mutex_lock(&co->lock);

    const struct topic *t = node_topic(co, name);
    const bool runs = t != NULL && t->pipeline != NULL;

    if (runs)
        pipeline_status(t->pipeline, s);
    pthread_mutex_unlock(&co->lock);
    return runs;
}

static void check_prepared(struct coordinator *co, const struct topic_definition *topic,
                           struct str group, struct doctor_list *l)
{
    struct pipeline_status s;
    char text[1024];

    if (!status_of(co, topic->name, &s))
        return;
    if (node_prepared_long(&s, text, sizeof(text)))
        doctor_add(l, &(struct doctor_check){
                          .id = STR("mysql.xa_prepared"),
                          .group = group,
                          .status = DOCTOR_WARN,
                          .message = str_from(text),
                          .why = STR("after a restart the log is read again from there, and "
                                     "once the server purges it, it cannot be"),
                          .fix = STR("XA COMMIT or XA ROLLBACK it on the server")});
    free(s.gtids);
}

static void check_runs(struct coordinator *co, const struct topic_definition *topic,
                       struct str group, struct doctor_list *l)
{
    struct pipeline_status s;

    if (!status_of(co, topic->name, &s))
        return;
    if (s.source.state == SOURCE_FAILED || s.source.state == SOURCE_WAITING)
        doctor_add(l, &(struct doctor_check){
                          .id = STR("topic.runs"),
                          .group = group,
                          .status = s.source.state == SOURCE_FAILED ? DOCTOR_FAIL : DOCTOR_WARN,
                          .message = str_from(s.source.why.msg),
                          .why = STR("nothing of this server is followed meanwhile"),
                          .fix = str_from(s.source.fix)});
    free(s.gtids);
}

/* ---- what foreign keys change by themselves ---- */

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

static void check_cascades(struct coordinator *co, const struct definitions *d,
                           const struct topic_definition *topic,
                           const struct server_access *server, struct str group,
                           struct doctor_list *l)
{
    struct asked others;
    struct cascade_review review = {.definitions = d,
                                    .topic = topic->name,
                                    .others = asked_find,
                                    .others_ctx = &others,
                                    .engine = search_engine(co->opt.search)};
    struct cascade_note *notes;
    struct err ignored = {0}; /* that it cannot be reached is said already */
    size_t n;

    if (!mysql_conn_open(&review.conn, &server->options, &ignored))
        return;
    asked_init(&others, d, co->opt.data_dir);
    if (cascade_review(&review, l->arena, &notes, &n, &ignored))
        for (size_t i = 0; i < n; i++)
            add_cascade(l, group, &notes[i]);
    asked_fini(&others);
    mysql_conn_close(review.conn);
}

static void check_marks(struct coordinator *co, const struct definitions *d,
                        struct doctor_list *l)
{
    struct catalogue *c = node_catalogue(co);

    for (size_t i = 0; i < d->n_tables; i++) {
        struct buf reason = {0}, message = {0}, fix = {0};

        node_mark_of(co, c, table_index(&d->tables[i]), &reason);
        buf_printf(&message, "documents of %" STR_FMT " may be stale",
                   STR_ARG(table_name(&d->tables[i])));
        buf_append(&fix, STR("put right what is named there, then millrace index create "));
        buf_append_word(&fix, table_name(&d->tables[i]));
        if (reason.len > 0)
            doctor_add(l, &(struct doctor_check){.id = STR("table.verify"),
                                                 .group = STR("tables"),
                                                 .status = DOCTOR_WARN,
                                                 .message = buf_str(&message),
                                                 .why = buf_str(&reason),
                                                 .fix = buf_str(&fix)});
        buf_free(&reason);
        buf_free(&message);
        buf_free(&fix);
    }
    node_catalogue_free(c);
}

/* ---- definitions against their tables ---- */

static void add_problem(struct doctor_list *l, struct str table, const struct problem *p)
{
    struct buf group = {0};
    const bool error = p->severity == SEVERITY_ERROR;

    buf_printf(&group, "table %" STR_FMT, STR_ARG(table));
    doctor_add(l, &(struct doctor_check){
                      .id = STR("table.definition"),
                      .group = buf_str(&group),
                      .status = error ? DOCTOR_FAIL : DOCTOR_WARN,
                      .message = p->message,
                      .why = error ? STR("its index cannot be kept equal to it")
                                   : STR("it works, and may be slow"),
                      .fix = p->fix});
    buf_free(&group);
}

/* What `apply` would say of the tables today: missing indexes, columns that went. */
static void check_definitions(struct coordinator *co, const struct definitions *d,
                              const struct topic_definition *topic, struct doctor_list *l)
{
    struct asked asked;
    const struct check_servers servers = {&asked, asked_open};
    struct err ignored = {0}; /* that it cannot be reached is said already */

    asked_init(&asked, d, co->opt.data_dir);

    const bool is_there = asked_open(&asked, topic->name, &ignored) != NULL;

    for (size_t i = 0; is_there && i < d->n_tables; i++) {
        const struct table_definition *t = &d->tables[i];
        struct problems *problems = problems_new();

        if (definitions_topic_of(d, t->table) == topic &&
            definition_check_table(&servers, d, t, problems, &ignored)) {
            node_review_areas(co, d, t, &asked, problems);
            for (size_t k = 0; k < problems_n(problems); k++)
                add_problem(l, t->table, problems_get(problems, k));
        }
        problems_free(problems);
    }
    asked_fini(&asked);
}

/* The tables that it names now; that these cannot be listed is told where the server is asked. */
static void add_pattern(struct coordinator *co, const struct table_definition *t,
                        struct arena *a, struct table_list *list)
{
    const struct table_definition **members;
    struct err ignored = {0};
    struct look look;
    size_t n;

    if (look_open(co, list->d, t, &look, &ignored) &&
        definition_members(list->d, t, look_list, &look, a, &members, &n))
        for (size_t i = 0; i < n; i++)
            add_table(list, members[i]->table);
    look_close(&look);
}

static void check_topic(struct coordinator *co, const struct definitions *d,
                        const struct topic_definition *topic, struct doctor_list *l)
{
    struct replica_identity replica = {0};
    struct table_list list = {.d = d, .topic = topic};
    struct server_access *server = NULL;
    struct buf group = {0};
    struct err err = {0};

    buf_printf(&group, "topic %" STR_FMT, STR_ARG(topic->name));
    for (size_t i = 0; i < d->n_tables; i++) {
        table_visit(&d->tables[i], add_table, &list);
        if (d->tables[i].pattern.len > 0 && definition_topic(d, &d->tables[i]) == topic)
            add_pattern(co, &d->tables[i], l->arena, &list);
    }
    if (node_replica_identity(co, topic, &replica, &err) &&
        server_access_new(&server, topic, NULL, co->opt.data_dir, &err))
        doctor_mysql(l, &(struct doctor_mysql_options){.group = buf_str(&group),
                                                       .server = &server->options,
                                                       .follows_log = true,
                                                       .server_id = replica.server_id,
                                                       .tables = list.tables,
                                                       .n_tables = list.n});
    else
        doctor_add(l, &(struct doctor_check){
                          .id = STR("mysql.secret"),
                          .group = buf_str(&group),
                          .status = DOCTOR_FAIL,
                          .message = str_from(err.msg),
                          .why = STR("the server cannot be logged in to"),
                          .fix = STR("correct password_file or password_env of the topic")});
    check_runs(co, topic, buf_str(&group), l);
    if (server != NULL) {
        check_cascades(co, d, topic, server, buf_str(&group), l);
        check_definitions(co, d, topic, l);
    }
    check_prepared(co, topic, buf_str(&group), l);
    server_access_unref(server);
    free(list.tables);
    buf_free(&group);
}

/* ---- the tables ---- */

static void check_table(struct coordinator *co, const struct catalogue *c,
                        const struct table_definition *t, struct doctor_list *l)
{
    const struct stored_stop *stop = catalogue_stop(c, table_name(t));
    const struct stored_rebuild *rebuild = catalogue_rebuild(c, table_name(t));
    struct buf group = {0}, fix = {0};

    if (stop == NULL && rebuild == NULL)
        return;
    pthread_mutex_lock(&co->lock);
    if (rebuild != NULL)
        node_append_rebuild_fix(co, c, t, &fix);
    else
        buf_append(&fix, stop->way_out);
    pthread_mutex_unlock(&co->lock);
    buf_printf(&group, "table %" STR_FMT, STR_ARG(table_name(t)));
    doctor_add(l, &(struct doctor_check){
                      .id = stop != NULL ? STR("table.runs") : STR("table.current"),
                      .group = buf_str(&group),
                      .status = stop != NULL ? DOCTOR_FAIL : DOCTOR_WARN,
                      .message = stop != NULL ? stop->reason : rebuild->reason,
                      .why = stop != NULL
                                 ? STR("its documents are as they were when it stopped")
                                 : STR("documents that were not written since say what they said "
                                       "before"),
                      .fix = buf_str(&fix)});
    buf_free(&group);
    buf_free(&fix);
}

static void check_tables(struct coordinator *co, const struct definitions *d,
                         struct doctor_list *l)
{
    struct catalogue *c = node_catalogue(co);

    for (size_t i = 0; i < d->n_tables; i++)
        check_table(co, c, &d->tables[i], l);
    node_catalogue_free(c);
}

bool coordinator_doctor(struct coordinator *co, struct buf *json, struct err *err)
{
    struct definitions *d = node_definitions(co);
    struct arena *a = arena_new();
    struct doctor_list l;
    struct json_writer w = {.out = json};

    (void)err;
    doctor_init(&l, a);
    check_store(co, &l);
    check_search(co, &l);
    check_aliases(co, d, &l);
    for (size_t i = 0; i < d->n_topics; i++)
        check_topic(co, d, &d->topics[i], &l);
    check_tables(co, d, &l);
    check_marks(co, d, &l);
    node_check_dead_letters(co, &l);
    node_check_scripts(co, d, &l);
    json_open_object(&w);
    json_put_cstr(&w, STR("schema"), "millrace/doctor/1");
    json_put_bool(&w, STR("ok"), doctor_worst(&l) != DOCTOR_FAIL);
    json_write_key(&w, STR("items"));
    doctor_write(&l, &w);
    json_close_object(&w);
    doctor_fini(&l);
    arena_free(a);
    definitions_unref(d);
    return true;
}
