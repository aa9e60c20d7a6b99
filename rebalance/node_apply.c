#include "config.h"

#include "rebalance/asked.h"
#include "rebalance/node.h"

#include "src/base/arena.h"
#include "src/base/failpoint.h"
#include "src/base/log.h"
#include "src/base/mem.h"
#include "src/mysql.h"
#include "sync/binlog/transport.h"
#include "sync/cascade_review.h"
#include "sync/model/definition_check.h"
#include "sync/model/definition_diff.h"
#include "sync/model/definition_export.h"
#include "sync/model/definition_parse.h"
#include "sync/server_access.h"
#include "sync/server_info.h"

#include <stdlib.h>
#include <inttypes.h>
#include <string.h>

#define ROUTE_MS 5000

/* ---- checks against the live servers ---- */

static bool touches(const struct definition_diff *diff, const char *kind, struct str name)
{
    for (size_t i = 0; i < diff->n; i++)
        if (diff->changes[i].change != CHANGE_REMOVE &&
            str_equal(str_from(diff->changes[i].kind), str_from(kind)) &&
            str_equal(diff->changes[i].name, name))
            return true;
    return false;
}

/* A topic that the table, or what it leads to, is on. */
struct touch {
    const struct definitions *d;
    const struct definition_diff *diff;
    bool found;
};

static void note_touched(void *ctx, struct str table)
{
    struct touch *touch = ctx;
    const struct topic_definition *t = definitions_topic_of(touch->d, table);

    touch->found = touch->found || (t != NULL && touches(touch->diff, "topic", t->name));
}

static bool table_touched(const struct definitions *d, const struct definition_diff *diff,
                          const struct table_definition *t)
{
    struct touch touch = {d, diff, touches(diff, "table", table_name(t))};

    table_visit(t, note_touched, &touch);
    return touch.found;
}

/* One of the tables of the index changed. */
static bool index_touched(const struct definitions *d, const struct definition_diff *diff,
                          const struct table_definition *lead)
{
    for (size_t i = 0; i < d->n_tables; i++)
        if (str_equal(table_index(&d->tables[i]), table_index(lead)) &&
            touches(diff, "table", table_name(&d->tables[i])))
            return true;
    return false;
}

static bool topic_touched(const struct definitions *d, const struct definition_diff *diff,
                          struct str topic)
{
    if (touches(diff, "topic", topic))
        return true;
    for (size_t i = 0; i < d->n_tables; i++) {
        const struct topic_definition *t = definition_topic(d, &d->tables[i]);

        if (t != NULL && str_equal(t->name, topic) && table_touched(d, diff, &d->tables[i]))
            return true;
    }
    return false;
}

#define ACCESS_DENIED 1045

static void report(struct problems *problems, const struct topic_definition *topic,
                   const struct err *err, const char *fix)
{
    problems_add(problems, SEVERITY_ERROR, topic->place, "topic %" STR_FMT ": %s",
                 STR_ARG(topic->name), err->msg);
    if (fix != NULL)
        problems_fix(problems, "%s", fix);
}

static bool has_relations(const struct definitions *d, const struct topic_definition *topic)
{
    for (size_t i = 0; i < d->n_tables; i++)
        if (d->tables[i].n_relations > 0 &&
            definition_topic(d, &d->tables[i]) == topic)
            return true;
    return false;
}

/* Rows that the log has in part do not always lead from a related row to its documents. */
static void warn_of_images(const struct server_info *info, const struct definitions *d,
                           const struct topic_definition *topic, struct problems *problems)
{
    if (server_info_whole_rows(info) || !has_relations(d, topic))
        return;
    problems_add(problems, SEVERITY_WARNING, topic->place,
                 "topic %" STR_FMT ": binlog_row_image is %s: a table with relations stops when "
                 "the log lacks the old value of what a changed row is joined by",
                 STR_ARG(topic->name), info->row_image);
    problems_fix(problems,
                 "SET %s binlog_row_image = 'FULL'; and put it into the server's configuration; "
                 "sessions opened before keep the old one",
                 info->mariadb ? "GLOBAL" : "PERSIST");
}

/* Log-in, the log's form, and the right to follow it. */
static struct mysql_conn *check_server(const struct server_access *server,
                                       const struct definitions *d,
                                       const struct topic_definition *topic,
                                       struct problems *problems)
{
    struct mysql_conn *conn = NULL;
    struct server_info info;
    struct log_end end = {0};
    struct err err = {0};

    if (!mysql_conn_open(&conn, &server->options, &err))
        report(problems, topic, &err,
               err.code == ACCESS_DENIED ? "correct user and password_file (or password_env) "
                                           "of the topic, or the account on the server"
                                         : NULL);
    else if (!server_info_load(conn, &info, &err) || !server_info_check(&info, &err))
        report(problems, topic, &err, NULL);
    else if (!server_log_end(conn, &end, &err) ||
             !transport_try_server(&server->options, 0, &err))
        report(problems, topic, &err,
               "GRANT REPLICATION SLAVE, REPLICATION CLIENT ON *.* TO the user of the topic");
    else
        warn_of_images(&info, d, topic, problems);
    free(end.gtids);
    return conn;
}

static bool is_hidden_alike(const struct cascade_note *a, const struct cascade_note *b)
{
    return str_equal(a->table, b->table) && a->on_update == b->on_update && b->column.len > 0;
}

/* All notes of one table that one fix is for: the first, and the n that come behind it. */
static void warn_of_hidden(const struct cascade_note *first, size_t n, struct place place,
                           struct problems *problems)
{
    struct buf columns = {0};

    for (size_t i = 0; i < n; i++)
        if (is_hidden_alike(first, &first[i]))
            buf_printf(&columns, "%s`%" STR_FMT "` of %" STR_FMT " (%" STR_FMT ")",
                       columns.len > 0 ? ", " : "", STR_ARG(first[i].column),
                       STR_ARG(first[i].child), STR_ARG(first[i].key));
    problems_add(problems, SEVERITY_WARNING, place,
                 "when the key of a row is %s, foreign keys change other rows of these documents "
                 "by themselves, which the server does not log; the documents cannot be found by "
                 "%" STR_FMT,
                 first->on_update ? "updated" : "deleted or updated",
                 STR_ARG(buf_str(&columns)));
    problems_fix(problems,
                 "%sname such a column in `columns`, with a type that finds whole values (a "
                 "number or keyword)",
                 first->on_update ? "nothing, where such keys never change; else " : "");
    buf_free(&columns);
}

static void warn_of_note(const struct cascade_note *n, struct place place,
                         struct problems *problems)
{
    if (n->partly)
        problems_add(problems, SEVERITY_WARNING, place,
                     "the foreign key `%" STR_FMT "` changes rows of %" STR_FMT
                     " by itself, which the server does not log: %" STR_FMT,
                     STR_ARG(n->key), STR_ARG(n->child), STR_ARG(n->why));
    else
        problems_add(problems, SEVERITY_WARNING, place, "the server does not log it: %" STR_FMT,
                     STR_ARG(n->why));
    problems_fix(problems, "%" STR_FMT, STR_ARG(n->fix));
}

static bool is_said(const struct cascade_note *notes, size_t i)
{
    for (size_t j = 0; j < i && notes[i].column.len > 0; j++)
        if (is_hidden_alike(&notes[i], &notes[j]))
            return true;
    return false;
}

/* Tables whose documents go stale by what foreign keys change. */
static void warn_of_cascades(struct coordinator *co, const struct definitions *d,
                             const struct definition_diff *diff,
                             const struct topic_definition *topic, struct asked *asked,
                             struct problems *problems)
{
    struct err err = {0};
    const struct cascade_review review = {.conn = asked_open(asked, topic->name, &err),
                                          .definitions = d,
                                          .topic = topic->name,
                                          .others = asked_find,
                                          .others_ctx = asked,
                                          .engine = search_engine(co->opt.search)};
    struct arena *a = arena_new();
    struct cascade_note *notes;
    size_t n;

    if (!cascade_review(&review, a, &notes, &n, &err))
        problems_add(problems, SEVERITY_ERROR, topic->place, "%s", err.msg);
    for (size_t i = 0; i < n; i++) {
        const struct table_definition *t = definitions_table(d, notes[i].table);

        if (notes[i].why.len == 0 || !touches(diff, "table", notes[i].table) ||
            is_said(notes, i))
            continue;
        if (notes[i].column.len > 0)
            warn_of_hidden(&notes[i], n - i, t->place, problems);
        else
            warn_of_note(&notes[i], t->place, problems);
    }
    arena_free(a);
}

/* Tables that share an index fit together. */
static void check_shared(struct coordinator *co, const struct definitions *d,
                         const struct definition_diff *diff,
                         const struct topic_definition *topic, struct asked *asked,
                         struct problems *problems)
{
    for (size_t i = 0; i < d->n_tables; i++) {
        const struct table_definition *t = &d->tables[i];

        if ((t->join.given || t->pattern.len > 0) && definition_topic(d, t) == topic &&
            definition_lead(d, t) == t && problems_count(problems, SEVERITY_ERROR) == 0 &&
            index_touched(d, diff, t))
            node_check_sharing(co, d, t, asked, problems);
    }
}

/* The tables of one topic that changed, on one connection to each server that they are on. */
static void check_topic(struct coordinator *co, const struct definitions *d,
                        const struct definition_diff *diff,
                        const struct topic_definition *topic, struct asked *asked,
                        struct problems *problems)
{
    const struct check_servers servers = {asked, asked_open};
    struct server_access *server = NULL;
    struct mysql_conn *conn = NULL;
    struct err err = {0};

    if (server_access_new(&server, topic, NULL, co->opt.data_dir, &err))
        conn = check_server(server, d, topic, problems);
    else
        report(problems, topic, &err, NULL);
    asked_put(asked, topic->name, conn);
    for (size_t i = 0; conn != NULL && i < d->n_tables; i++) {
        if (definition_topic(d, &d->tables[i]) != topic ||
            !table_touched(d, diff, &d->tables[i]))
            continue;
        node_check_tables(&servers, asked, d, &d->tables[i], problems);
        node_review_areas(co, d, &d->tables[i], asked, problems);
    }
    if (conn != NULL)
        check_shared(co, d, diff, topic, asked, problems);
    if (conn != NULL)
        warn_of_cascades(co, d, diff, topic, asked, problems);
    server_access_unref(server);
}

static void check_topics(struct coordinator *co, const struct definitions *d,
                         const struct definition_diff *diff, struct problems *problems)
{
    struct asked asked;

    asked_init(&asked, d, co->opt.data_dir);
    for (size_t i = 0; i < d->n_topics; i++)
        if (topic_touched(d, diff, d->topics[i].name))
            check_topic(co, d, diff, &d->topics[i], &asked, problems);
    asked_fini(&asked);
}

static void check_live(struct coordinator *co, const struct definitions *d,
                       const struct definition_diff *diff, struct problems *problems)
{
    check_topics(co, d, diff, problems);
    for (size_t i = 0; i < d->n_databases; i++) {
        const struct database_definition *db = &d->databases[i];
        const struct topic_definition *topic = definitions_topic(d, db->topic);

        if (db->own_server && topic != NULL &&
            (touches(diff, "database", db->name) || touches(diff, "topic", topic->name)))
            node_check_replica(co, topic, db, problems);
    }
}

/* An alias must not be the name of somebody's index.  The engine may be away: a build asks it
 * again. */
static void check_aliases(struct coordinator *co, const struct definitions *d,
                          const struct definition_diff *diff, struct problems *problems)
{
    for (size_t i = 0; i < d->n_tables; i++) {
        const struct table_definition *t = &d->tables[i];
        const struct str alias = table_index(t);
        struct err ignored = {0};
        bool exists, is_alias;

        if (!touches(diff, "table", table_name(t)) ||
            !search_index_exists(co->opt.search, alias, &exists, &is_alias, &ignored) ||
            !exists || is_alias)
            continue;
        problems_add(problems, SEVERITY_ERROR, definitions_place(d, t->index, t->place),
                     "`%" STR_FMT "` is an index of the engine, and cannot become an alias",
                     STR_ARG(alias));
        problems_fix(problems, "another `index`, or delete or rename that index");
    }
}

/* ---- storing ---- */

static bool store(struct coordinator *co, struct definitions *d, struct err *err)
{
    struct arena *a = arena_new();
    struct stored_definition *stored;
    size_t n;

    definitions_to_store(d, a, &stored, &n);

    const bool ok = store_save_definitions(co->opt.store, co->revision, stored, n, err);

    FAILPOINT(definitions_stored);
    arena_free(a);
    return ok && node_load(co, err);
}

static bool needs_build(const struct definitions *d, const struct definition_diff *diff,
                        const struct table_definition *t)
{
    const struct topic_definition *topic = definition_topic(d, t);

    for (size_t i = 0; i < diff->n; i++) {
        const struct definition_change *c = &diff->changes[i];

        const bool joins = c->change == CHANGE_ADD && t->join.given; /* an index that is there */

        if (c->needs_build && (c->change == CHANGE_CHANGE || joins) &&
            (str_equal(c->name, table_name(t)) ||
             (topic != NULL && strcmp(c->kind, "topic") == 0 &&
              str_equal(c->name, topic->name))))
            return true;
    }
    return false;
}

static void pending_name(struct buf *name, struct str table)
{
    buf_printf(name, "pending/%" STR_FMT, STR_ARG(table));
}

/* Versions up to the newest of now are of the definition before. */
static void note_pending(struct coordinator *co, const struct definitions *d,
                         const struct definition_diff *diff)
{
    struct catalogue *c = node_catalogue(co);

    for (size_t i = 0; i < d->n_tables; i++) {
        struct buf name = {0}, value = {0};
        struct err err = {0};
        uint64_t newest = 0;

        if (!needs_build(d, diff, &d->tables[i]))
            continue;
        for (size_t k = 0; k < c->n_versions; k++)
            if (str_equal(c->versions[k].index, table_index(&d->tables[i])) &&
                c->versions[k].number > newest)
                newest = c->versions[k].number;
        pending_name(&name, table_name(&d->tables[i]));
        buf_printf(&value, "%" PRIu64, newest);
        if (!store_put_value(co->opt.store, buf_str(&name), buf_str(&value), &err))
            log_failure(LOG_WARN, &err, "that a build is pending is not shown",
                        KV("table", table_name(&d->tables[i])));
        buf_free(&name);
        buf_free(&value);
    }
    node_catalogue_free(c);
}

bool node_pending_since(struct coordinator *co, struct str table, uint64_t *version,
                        struct err *err)
{
    struct buf name = {0}, value = {0};
    bool found = false;

    pending_name(&name, table);
    if (store_get_value(co->opt.store, buf_str(&name), &value, &found, err) && found)
        *version = strtoull(value.ptr, NULL, 10);
    buf_free(&name);
    buf_free(&value);
    return found;
}

/* A topic whose server, start or rights changed begins anew from its position. */
static void restart_changed(struct coordinator *co, const struct definition_diff *diff)
{
    for (size_t i = 0; i < diff->n; i++) {
        const struct definition_change *c = &diff->changes[i];
        struct topic *t;

        if (strcmp(c->kind, "topic") == 0 && c->change == CHANGE_CHANGE &&
            (t = node_topic(co, c->name)) != NULL)
            node_stop_topic(co, t);
    }
}

/* What took effect: topics run as they are defined, and write where they should. */
static void put_into_effect(struct coordinator *co, const struct definition_diff *diff,
                            struct problems *problems)
{
    if (co->delivery == NULL || diff->n == 0)
        return;
    restart_changed(co, diff);
    node_sync_topics(co);
    for (struct topic *t = co->topics; t != NULL; t = t->next) {
        struct err err = {0};

        if (t->pipeline != NULL && !node_route(co, str_from(t->name), ROUTE_MS, NULL, &err))
            log_failure(LOG_INFO, &err, "the new definitions take effect later",
                        KV("topic", (const char *)t->name));
    }
    node_on_tables_changed(co); /* a table may be built by what is defined now */
    co->settings_due = true;
    node_sync_settings(co, problems);
}

static void append_answer(struct buf *json, bool dry_run, const struct definition_diff *diff,
                          const struct problems *problems)
{
    struct json_writer w = {.out = json};
    struct buf part = {0};

    json_open_object(&w);
    json_put_cstr(&w, STR("schema"), "millrace/apply/1");
    json_put_bool(&w, STR("dry_run"), dry_run);
    definition_diff_append_json(diff, &part);
    json_put_raw(&w, STR("items"), buf_str(&part));
    buf_clear(&part);
    problems_append_json(problems, &part);
    json_put_raw(&w, STR("warnings"), buf_str(&part));
    json_close_object(&w);
    buf_free(&part);
}

static bool refuse_all(const struct problems *problems, struct buf *json, struct err *err)
{
    const size_t n = problems_count(problems, SEVERITY_ERROR);

    problems_append_json(problems, json);
    return refuse(err, 422, "%zu error%s, nothing was stored", n, n == 1 ? "" : "s");
}

bool coordinator_apply(struct coordinator *co, const struct apply_file *files, size_t n,
                       bool dry_run, bool prune, struct buf *json, struct err *err)
{
    struct problems *problems;
    struct definition_file *in;
    struct definition_diff diff = {0};

    if (!node_begin(co, err))
        return false;
    problems = problems_new();
    in = mem_alloc(n == 0 ? 1 : n, sizeof(*in));
    for (size_t i = 0; i < n; i++)
        in[i] = (struct definition_file){files[i].name, files[i].text, files[i].folder};

    struct definitions *now = node_definitions(co);
    struct definitions *then = definition_apply(now, in, n, prune, problems);
    bool ok = then != NULL;

    if (ok) {
        definition_diff_make(now, then, &diff);
        check_live(co, then, &diff, problems);
        check_aliases(co, then, &diff, problems);
    }
    if (!ok || problems_count(problems, SEVERITY_ERROR) > 0) {
        ok = refuse_all(problems, json, err);
    } else {
        if (!dry_run && diff.n > 0)
            ok = store(co, then, err);
        if (ok && !dry_run) {
            note_pending(co, then, &diff);
            put_into_effect(co, &diff, problems);
        }
        if (ok)
            append_answer(json, dry_run, &diff, problems);
    }
    definition_diff_free(&diff);
    definitions_unref(then);
    definitions_unref(now);
    pthread_mutex_unlock(&co->doing);
    problems_free(problems);
    free(in);
    return ok;
}

bool coordinator_export(struct coordinator *co, struct buf *yaml, struct err *err)
{
    struct definitions *d = node_definitions(co);

    (void)err;
    definitions_append_yaml(d, yaml);
    definitions_unref(d);
    return true;
}

/* ---- removing ---- */

/* A table's versions go out of the books; its indexes stay, nothing writes to them any more. */
static bool forget_versions(struct coordinator *co, const struct table_definition *t,
                            struct err *err)
{
    struct catalogue *c = node_catalogue(co);
    bool ok = true;

    for (size_t i = 0; ok && i < c->n_versions; i++) {
        const struct stored_version *v = &c->versions[i];

        if (!str_equal(v->index, table_index(t)))
            continue;
        ok = !str_equal(v->state, STR("changing")) ||
             refuse(err, 409,
                    "index %" STR_FMT " is being built; fix: millrace index reset %" STR_FMT
                    " first",
                    STR_ARG(v->index), STR_ARG(table_name(t)));
        ok = ok && store_delete_version(co->opt.store, v->index, v->number, err);
    }
    node_catalogue_free(c);
    return ok && store_delete_stop(co->opt.store, table_name(t), err) &&
           store_delete_rebuild(co->opt.store, table_name(t), err);
}

bool coordinator_delete(struct coordinator *co, struct str noun, struct str name,
                        struct buf *json, struct err *err)
{
    struct definition_diff diff = {0};

    if (!node_begin(co, err))
        return false;

    struct definitions *now = node_definitions(co);
    const struct table_definition *t =
        str_equal(noun, STR("table")) ? definitions_table(now, name) : NULL;
    struct definitions *then = definition_remove(now, noun, name, err);
    /* The versions of an index that others share stay as they were built. */
    bool ok = then != NULL && (t == NULL || definition_lead(now, t) != t ||
                               forget_versions(co, t, err));

    if (then == NULL && err->code == 0) {
        const struct err why = *err;

        refuse(err, 409, "%s", why.msg);
    }
    if (ok) {
        definition_diff_make(now, then, &diff);
        ok = store(co, then, err);
    }
    if (ok) {
        struct json_writer w = {.out = json};

        put_into_effect(co, &diff, NULL);
        json_open_object(&w);
        json_put_cstr(&w, STR("schema"), "millrace/delete/1");
        json_put_string(&w, STR("kind"), noun);
        json_put_string(&w, STR("name"), name);
        json_close_object(&w);
    }
    definition_diff_free(&diff);
    definitions_unref(then);
    definitions_unref(now);
    pthread_mutex_unlock(&co->doing);
    return ok;
}
