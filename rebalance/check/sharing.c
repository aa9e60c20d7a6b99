#include "config.h"

#include "rebalance/check/sharing.h"

#include "rebalance/check/asked.h"
#include "rebalance/state/parts.h"

#include "src/base/arena.h"
#include "src/base/buf.h"
#include "src/mysql/account.h"
#include "sync/check/check_live.h"
#include "sync/document/plan.h"
#include "sync/mapping/mapping.h"

#define PATTERN_CHECKS_MAX 20 /* of a pattern, check so many tables at most */

/* The tables of a pattern, found over this connection. */
struct members {
    const struct table_definition *t, **tables;
    size_t n;
    struct mysql_conn *conn;
    struct problems *problems;
};

/*
 * The server hides tables that the user may not read: without this warning nobody would notice.
 */
static void check_database(void *ctx, const struct database_definition *db)
{
    const struct members *of = ctx;
    struct str database, name;
    struct buf account = {0};

    for (size_t i = 0; i < of->n; i++)
        if (definition_split_table(of->tables[i]->table, &database, &name) &&
            str_equal(database, db->name))
            return;
    problems_add(of->problems, SEVERITY_WARNING, of->t->place,
                 "database %" STR_FMT " has no table matching `%" STR_FMT "` that the topic's "
                 "user may see",
                 STR_ARG(db->name), STR_ARG(of->t->pattern));
    mysql_account_append_known(of->conn, &account);
    problems_fix(of->problems, "GRANT SELECT ON `%" STR_FMT "`.* TO %s, if it should have one",
                 STR_ARG(database_schema(db)), account.ptr);
    buf_free(&account);
}

static void check_members(const struct definitions *d, struct members *of)
{
    struct buf account = {0};

    if (of->n > 0) {
        definition_pattern_databases(d, of->t, check_database, of);
        return;
    }
    mysql_account_append_known(of->conn, &account);
    problems_add(of->problems, SEVERITY_ERROR,
                 definitions_place(d, of->t->pattern, of->t->place),
                 "no table has a name that matches `%" STR_FMT "`", STR_ARG(of->t->pattern));
    problems_fix(of->problems,
                 "create the first, or GRANT SELECT on it TO %s; in a regular expression `.*` "
                 "matches anything",
                 account.ptr);
    buf_free(&account);
}

/* The connection to the server of all of its tables; NULL if there is none. */
static struct mysql_conn *conn_of(const struct definitions *d, const struct table_definition *t,
                                  struct asked *asked)
{
    const struct topic_definition *topic = definition_topic(d, t);
    struct err ignored = {0};

    return topic == NULL ? NULL : asked_open(asked, topic->name, &ignored);
}

void coordinator_check_tables(struct check_live *live, struct asked *asked,
                              const struct definitions *d, const struct table_definition *t,
                              struct problems *problems)
{
    struct arena *a = arena_new();
    const struct table_definition *single[] = {t}, **tables = single;
    struct err err = {0};
    size_t n = 1;

    if (t->pattern.len > 0 && !definition_members(d, t, asked_list, asked, a, &tables, &n)) {
        err_set(&err, ERR_RETRY, "cannot list the tables of `%" STR_FMT "`",
                STR_ARG(t->pattern));
        n = 0;
    } else if (t->pattern.len > 0) {
        check_members(d, &(struct members){t, tables, n, conn_of(d, t, asked), problems});
    }
    for (size_t i = 0; i < n && i < PATTERN_CHECKS_MAX; i++)
        check_live_expect(live, tables[i]);
    for (size_t i = 0; err.kind == ERR_NONE && i < n && i < PATTERN_CHECKS_MAX &&
                       (i == 0 || problems_count(problems, SEVERITY_ERROR) == 0);
         i++)
        if (!check_live_table(live, tables[i], problems, &err))
            break;
    if (err.kind != ERR_NONE)
        problems_add(problems, SEVERITY_ERROR, t->place, "%s", err.msg);
    arena_free(a);
}

/* A column that holds a parent's or root's key must have a type that fits that key. */
static void check_plans(const struct definitions *d, const struct table_definition *lead,
                        struct asked *asked, struct problems *problems)
{
    const struct table_definition **members;
    struct arena *a = arena_new();
    size_t n;

    if (definition_members(d, lead, asked_list, asked, a, &members, &n))
        for (size_t i = 0; i < n && i < PATTERN_CHECKS_MAX; i++) {
            struct table_definition t = *members[i];
            struct err err = {0};

            t.place = (struct place){0}; /* problems_add() gives the place already */

            struct plan *plan = plan_compile(d, &t, asked_find, asked, &err);

            if (plan == NULL)
                problems_add(problems, SEVERITY_ERROR, members[i]->place, "%s", err.msg);
            plan_free(plan);
        }
    arena_free(a);
}

void coordinator_check_sharing(struct coordinator *co, const struct definitions *d,
                               const struct table_definition *lead, struct asked *asked,
                               struct problems *problems)
{
    check_plans(d, lead, asked, problems);
    if (problems_count(problems, SEVERITY_ERROR) == 0)
        mapping_check(&(struct mapping_request){.definitions = d,
                                                .table = lead,
                                                .find = asked_find,
                                                .list = asked_list,
                                                .ctx = asked,
                                                .engine = search_engine(co->opt.search)},
                      problems);
}
