#include "config.h"

#include "rebalance/admin/live_check.h"

#include "rebalance/check/areas.h"
#include "rebalance/check/asked.h"
#include "rebalance/check/replica.h"
#include "rebalance/check/sharing.h"
#include "rebalance/check/taken.h"
#include "rebalance/doctor/doctor.h"
#include "rebalance/state/parts.h"
#include "rebalance/watch/asking.h"

#include "src/base/mem.h"
#include "src/mysql/account.h"
#include "src/mysql/mysql.h"
#include "sync/check/check_live.h"
#include "sync/definition/diff.h"
#include "sync/routing/cascade_review.h"
#include "sync/server/server_access.h"
#include "sync/server/server_info.h"
#include "sync/source/transport/transport.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* Whether the table, or any table that its documents show, is on a changed topic. */
struct touch {
    const struct definitions *d;
    const struct definition_diff *diff;
    bool found;
};

static void note_touched(void *ctx, struct str table)
{
    struct touch *touch = ctx;
    const struct topic_definition *t = definitions_topic_of(touch->d, table);

    touch->found =
        touch->found || (t != NULL && definition_diff_touches(touch->diff, "topic", t->name));
}

static bool table_touched(const struct definitions *d, const struct definition_diff *diff,
                          const struct table_definition *t)
{
    struct touch touch = {d, diff, definition_diff_touches(diff, "table", table_name(t))};

    table_visit(t, note_touched, &touch);
    return touch.found;
}

/* Whether a table of the index changed. */
static bool index_touched(const struct definitions *d, const struct definition_diff *diff,
                          const struct table_definition *lead)
{
    for (size_t i = 0; i < d->n_tables; i++)
        if (str_equal(table_index(&d->tables[i]), table_index(lead)) &&
            definition_diff_touches(diff, "table", table_name(&d->tables[i])))
            return true;
    return false;
}

static bool topic_touched(const struct definitions *d, const struct definition_diff *diff,
                          struct str topic)
{
    if (definition_diff_touches(diff, "topic", topic))
        return true;
    for (size_t i = 0; i < d->n_tables; i++) {
        const struct topic_definition *t = definition_topic(d, &d->tables[i]);

        if (t != NULL && str_equal(t->name, topic) && table_touched(d, diff, &d->tables[i]))
            return true;
    }
    return false;
}

#define ACCESS_DENIED 1045
#define ENGINE_MS     2000

static void report(struct problems *problems, const struct topic_definition *topic,
                   const struct err *err, const char *fix)
{
    problems_add(problems, SEVERITY_ERROR, topic->place, "topic %" STR_FMT ": %s",
                 STR_ARG(topic->name), err->msg);
    if (fix != NULL)
        problems_fix(problems, "%s", fix);
}

static void report_denied(struct problems *problems, const struct topic_definition *topic,
                          struct mysql_conn *conn, const struct err *why)
{
    struct buf fix = {0};

    buf_append(&fix, STR("GRANT REPLICATION SLAVE, REPLICATION CLIENT ON *.* TO "));
    mysql_account_append_known(conn, &fix);
    report(problems, topic, why, fix.ptr);
    buf_free(&fix);
}

static bool has_relations(const struct definitions *d, const struct topic_definition *topic)
{
    for (size_t i = 0; i < d->n_tables; i++)
        if (d->tables[i].n_relations > 0 && definition_topic(d, &d->tables[i]) == topic)
            return true;
    return false;
}

/* With partial row images, the log may lack what leads from a related row to its documents. */
static void warn_of_images(const struct server_info *info, const struct definitions *d,
                           const struct topic_definition *topic, struct problems *problems)
{
    if (server_info_whole_rows(info) || !has_relations(d, topic))
        return;
    problems_add(problems, SEVERITY_WARNING, topic->place,
                 "topic %" STR_FMT ": binlog_row_image is %s: a table with relations stops "
                 "when the log lacks the old value of a column that joins a changed row",
                 STR_ARG(topic->name), info->row_image);
    problems_fix(
        problems,
        "SET %s binlog_row_image = 'FULL'; and put it into the server's configuration; open "
        "sessions keep the old setting",
        info->mariadb ? "GLOBAL" : "PERSIST");
}

/* Check the login, the log's format, and the right to follow the log. */
static struct mysql_conn *check_server(struct asking *asking,
                                       const struct server_access *server,
                                       const struct definitions *d,
                                       const struct topic_definition *topic,
                                       struct problems *problems)
{
    struct mysql_conn *conn = NULL;
    struct server_info info;
    struct log_end end = {0};
    struct err err = {0};

    if (!asking_open(asking, &server->options, &conn, &err))
        report(problems, topic, &err,
               err.code == ACCESS_DENIED ? "correct user and password_file (or password_env) "
                                           "of the topic, or the account on the server"
                                         : NULL);
    else if (!server_info_load(conn, &info, &err) || !server_info_check(&info, &err))
        report(problems, topic, &err, NULL);
    else if (!server_log_end(conn, &end, &err) ||
             !transport_try_server(&server->options, 0, &err))
        report_denied(problems, topic, conn, &err);
    else
        warn_of_images(&info, d, topic, problems);
    free(end.gtids);
    return conn;
}

static bool is_hidden_alike(const struct cascade_note *a, const struct cascade_note *b)
{
    return str_equal(a->table, b->table) && a->on_update == b->on_update && b->column.len > 0;
}

/*
 * Warn once of all notes of one table with the same fix: the first, and those among the n after
 * it.
 */
static void warn_of_hidden(const struct cascade_note *first, size_t n, struct place place,
                           struct problems *problems)
{
    struct buf columns = {0};

    for (size_t i = 0; i < n; i++)
        if (is_hidden_alike(first, &first[i]))
            buf_printf(&columns, "%s`%" STR_FMT "` of %" STR_FMT " (%" STR_FMT ")",
                       columns.len > 0 ? ", " : "", STR_ARG(first[i].column),
                       STR_ARG(first[i].child), STR_ARG(first[i].key));
    problems_add(
        problems, SEVERITY_WARNING, place,
        "when the key of a row is %s, foreign keys change other rows of these documents, "
        "which the server does not log; Millrace cannot find the documents by %" STR_FMT,
        first->on_update ? "updated" : "deleted or updated", STR_ARG(buf_str(&columns)));
    problems_fix(problems,
                 "%sname such a column in `columns`, with a type that matches whole values (a "
                 "number or keyword)",
                 first->on_update ? "none needed where such keys never change; otherwise "
                                  : "");
    buf_free(&columns);
}

static void warn_of_note(const struct cascade_note *n, struct place place,
                         struct problems *problems)
{
    if (n->partly)
        problems_add(problems, SEVERITY_WARNING, place,
                     "the foreign key `%" STR_FMT "` changes rows of %" STR_FMT ", which the "
                     "server does not log: %" STR_FMT,
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

/* Warn of tables whose documents go stale when foreign keys change rows. */
static void warn_of_cascades(struct coordinator *co, const struct definitions *d,
                             const struct definition_diff *diff,
                             const struct topic_definition *topic, struct asked *asked,
                             struct problems *problems)
{
    struct err err = {0};
    const struct cascade_review review = {.conn = asked_open(asked, topic->name, &err),
                                          .definitions = d,
                                          .topic = topic->name,
                                          .schemas = asked_schemas(asked, topic->name),
                                          .engine = search_engine(co->opt.search)};
    struct arena *a = arena_new();
    struct cascade_note *notes;
    size_t n;

    if (!cascade_review(&review, a, &notes, &n, &err))
        problems_add(problems, SEVERITY_ERROR, topic->place, "%s", err.msg);
    for (size_t i = 0; i < n; i++) {
        const struct table_definition *t = definitions_table(d, notes[i].table);

        if (notes[i].why.len == 0 || !definition_diff_touches(diff, "table", notes[i].table) ||
            is_said(notes, i))
            continue;
        if (notes[i].column.len > 0)
            warn_of_hidden(&notes[i], n - i, t->place, problems);
        else
            warn_of_note(&notes[i], t->place, problems);
    }
    arena_free(a);
}

/* Check that tables sharing an index fit together. */
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
            coordinator_check_sharing(co, d, t, asked, problems);
    }
}

/* Ask the engine about the changed indexes, of all topics, until it cannot be asked. */
static void check_taken(struct coordinator *co, const struct definitions *d,
                        const struct definition_diff *diff, struct asked *asked,
                        struct problems *problems)
{
    for (size_t i = 0; i < d->n_tables; i++)
        if (definition_lead(d, &d->tables[i]) == &d->tables[i] &&
            index_touched(d, diff, &d->tables[i]) &&
            !coordinator_check_taken(co, d, &d->tables[i], asked, problems))
            return;
}

/* Check the changed tables of the topic. */
static void check_tables(struct coordinator *co, const struct definitions *d,
                         const struct definition_diff *diff,
                         const struct topic_definition *topic, struct asked *asked,
                         struct problems *problems)
{
    const struct table_definition **tables = mem_alloc(d->n_tables + 1, sizeof(*tables));
    struct check_live *live = check_live_new(&(struct check_servers){asked, asked_open}, d);
    size_t n = 0;

    for (size_t i = 0; i < d->n_tables; i++)
        if (definition_topic(d, &d->tables[i]) == topic &&
            table_touched(d, diff, &d->tables[i]))
            tables[n++] = &d->tables[i];
    for (size_t i = 0; i < n; i++)
        if (tables[i]->pattern.len == 0)
            check_live_expect(live, tables[i]);
    for (size_t i = 0; i < n; i++) {
        coordinator_check_tables(live, asked, d, tables[i], problems);
        coordinator_review_areas(co, d, tables[i], asked, problems);
    }
    check_live_free(live);
    free(tables);
}

/*
 * Check the changed tables of one topic, over one connection to each server that they are on.
 */
static void check_topic(struct coordinator *co, const struct definitions *d,
                        const struct definition_diff *diff,
                        const struct topic_definition *topic, struct asked *asked,
                        struct problems *problems)
{
    struct server_access *server = NULL;
    struct mysql_conn *conn = NULL;
    struct err err = {0};

    if (server_access_new(&server, topic, NULL, co->opt.data_dir, &err))
        conn = check_server(co->asking, server, d, topic, problems);
    else
        report(problems, topic, &err, NULL);
    asked_put(asked, topic->name, conn);
    if (conn != NULL)
        check_tables(co, d, diff, topic, asked, problems);
    if (conn != NULL)
        check_shared(co, d, diff, topic, asked, problems);
    if (conn != NULL && problems_count(problems, SEVERITY_ERROR) == 0)
        warn_of_cascades(co, d, diff, topic, asked, problems);
    server_access_unref(server);
}

static void check_topics(struct coordinator *co, const struct definitions *d,
                         const struct definition_diff *diff, struct problems *problems)
{
    struct asked asked;

    asked_init(&asked, d, co->opt.data_dir, co->asking);
    for (size_t i = 0; i < d->n_topics; i++)
        if (topic_touched(d, diff, d->topics[i].name))
            check_topic(co, d, diff, &d->topics[i], &asked, problems);
    if (problems_count(problems, SEVERITY_ERROR) == 0)
        check_taken(co, d, diff, &asked, problems);
    asked_fini(&asked);
}

/*
 * Say what a build would meet.  This is only a warning: definitions can be stored while the
 * engine is away.
 */
static void warn_of_engine(struct coordinator *co, struct problems *problems)
{
    struct err err = {0};

    if (search_detect_within(co->opt.search, ENGINE_MS, &err))
        return;
    problems_add(problems, SEVERITY_WARNING, (struct place){0}, "search engine: %s", err.msg);
    problems_fix(problems, DOCTOR_FIX_SEARCH);
}

void coordinator_check_live(struct coordinator *co, const struct definitions *d,
                            const struct definition_diff *diff, struct problems *problems)
{
    warn_of_engine(co, problems);
    check_topics(co, d, diff, problems);
    for (size_t i = 0; i < d->n_databases; i++) {
        const struct database_definition *db = &d->databases[i];
        const struct topic_definition *topic = definitions_topic(d, db->topic);

        if (db->own_server && topic != NULL &&
            (definition_diff_touches(diff, "database", db->name) ||
             definition_diff_touches(diff, "topic", topic->name)))
            coordinator_check_replica(co, topic, db, problems);
    }
}
