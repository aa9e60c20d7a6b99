#include "config.h"

#include "rebalance/check/areas.h"

#include "rebalance/check/asked.h"
#include "rebalance/doctor/doctor.h"
#include "rebalance/state/parts.h"

#include "sync/document/plan.h"

/* ---- definitions ---- */

static bool is_read_from_replica(struct coordinator *co, const struct definitions *d,
                                 const struct table_definition *t)
{
    struct str database, table;
    struct server_access *server = NULL;
    struct err ignored = {0};
    const struct database_definition *db = definition_split_table(t->table, &database, &table)
                                               ? definitions_database(d, database)
                                               : NULL;
    const bool is = db != NULL &&
                    server_access_new(&server, definitions_topic(d, db->topic), db,
                                      co->opt.data_dir, &ignored) &&
                    server->replica;

    server_access_unref(server);
    return is;
}

static void warn(struct problems *problems, const struct table_definition *t, struct str why)
{
    problems_add(problems, SEVERITY_WARNING, t->place,
                 "`refresh: area` has no effect, documents are written whole: %" STR_FMT,
                 STR_ARG(why));
    problems_fix(problems, "write `refresh: parent`, which is what happens");
}

void coordinator_review_areas(struct coordinator *co, const struct definitions *d,
                              const struct table_definition *t, struct asked *asked,
                              struct problems *problems)
{
    struct plan *plan;
    struct err ignored = {0}; /* another check reports a table without a plan */
    struct str why = STR("");
    size_t n = 0;

    if (!relations_want_areas(t->relations, t->n_relations))
        return;
    plan = plan_compile(d, t, asked_find, asked, &ignored);
    if (plan != NULL)
        (void)plan_areas(plan, &n, &why);
    if (why.len > 0)
        warn(problems, t, why);
    else if (plan != NULL && n == 0)
        warn(problems, t,
             STR("rows of the part are on a different server from the document's"));
    else if (plan != NULL && is_read_from_replica(co, d, t))
        warn(problems, t, STR("documents are read from a replica"));
    plan_free(plan);
}

/* ---- the search engine ---- */

/* Find an existing index of a table that uses areas. */
static bool find_index(struct coordinator *co, const struct definitions *d, struct str *alias)
{
    for (size_t i = 0; i < d->n_tables; i++) {
        const struct table_definition *t = &d->tables[i];
        struct err ignored = {0};
        bool exists, is_alias;

        *alias = table_index(t);
        if (relations_want_areas(t->relations, t->n_relations) &&
            search_index_exists(co->opt.search, *alias, &exists, &is_alias, &ignored) && exists)
            return true;
    }
    return false;
}

void coordinator_check_scripts(struct coordinator *co, const struct definitions *d,
                               struct doctor_list *l)
{
    struct err err = {0};
    struct str alias;

    if (!find_index(co, d, &alias))
        return;

    const bool runs = search_try_script(co->opt.search, alias, &err);

    if (!runs && err.kind != ERR_REJECT)
        return; /* another check reports an engine that does not answer */
    doctor_add(l,
               &(struct doctor_check){
                   .id = STR("search.scripts"),
                   .group = STR("search engine"),
                   .status = runs ? DOCTOR_OK : DOCTOR_WARN,
                   .message = runs ? STR("updates of areas run as scripts") : str_from(err.msg),
                   .why = STR("`refresh: area` updates parts of documents by a script; "
                              "without it Millrace writes whole documents"),
                   .fix = STR("allow painless scripts in updates (script.allowed_types and "
                              "script.allowed_contexts of the engine), or `refresh: parent`")});
}
